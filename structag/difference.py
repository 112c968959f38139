"""What one format accepts and another refuses: `find_difference`, with witnesses.

The texts of one format that do not belong to the other are again a regular expression, if both
formats are: the search for a member of it is exact.  Where a format is recursive, a language inside
of it takes its place on one side, and one around it on the other.  Where that costs too much,
strings are compared in one spelling of each text, as most differences show there.  Witnesses are
real in any case; what was not looked at is said.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from structag.compiled import CompiledGrammar
from structag.compiler import Compiler
from structag.errors import GrammarError, LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar
from structag.grammar.plain_spelling import spell_plainly
from structag.grammar.regular_bounds import regular_bounds
from structag.limits import Limits
from structag.sample import Sampler
from structag.vocabulary import Vocabulary

DEPTH = 3
_TRIES = 8
_ROOM = 40
_SAMPLES = 200
_LITTLE_WORK, _SOME_WORK = 300_000, 5_000_000


class Difference(NamedTuple):
    """How the texts of two formats differ.

    Attributes:
        only_first: texts that only the first accepts, a short one first.
        only_second: texts that only the second accepts.
        limits: why a side without witnesses might have some after all; empty if it cannot.
    """

    only_first: tuple[bytes, ...]
    only_second: tuple[bytes, ...]
    limits: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Whether a side without witnesses has none."""
        return not self.limits


def find_difference(
    first: CompiledGrammar, second: CompiledGrammar, *, count: int = 3, depth: int = DEPTH
) -> Difference:
    """Up to `count` texts on either side that the other format refuses.

    Both must be compiled for the same vocabulary.  `depth` is how deep recursive rules are
    followed.
    """
    if first.fingerprint == second.fingerprint:
        return Difference((), (), ())
    searches = [_Search(first, second, depth, one_spelling) for one_spelling in (False, True)]
    judges = Sampler(first), Sampler(second)
    limits: dict[str, None] = {}
    sides = []
    for pair in (judges, judges[::-1]):
        for search in searches:
            try:
                sides.append(search.witnesses(pair, count, is_swapped=pair != judges))
            except LimitError:
                continue
            limits |= dict.fromkeys(search.limits)
            break
        else:
            sides.append(_try_samples(*pair, count))
            limits[f"a search takes too much work on one side: {_SAMPLES} outputs were tried"] = (
                None
            )
    return Difference(sides[0], sides[1], tuple(limits))


class _Search:
    """The search in the regular bounds of both formats."""

    def __init__(
        self, first: CompiledGrammar, second: CompiledGrammar, depth: int, one_spelling: bool
    ) -> None:
        self.limits: list[str] = []
        if one_spelling:
            self.limits.append("strings were compared in one spelling of each text")
        self._builder = GrammarBuilder()
        self._bounds = tuple(
            regular_bounds(self._builder, _spelled(each.grammar, one_spelling), depth)
            for each in (first, second)
        )
        if not all(each.is_exact for each in self._bounds):
            self.limits.append(f"recursion was followed {depth} rules deep")
        if any(each.reads_tokens for each in self._bounds):
            self.limits.append("only texts were compared, no tokens that are read by their ids")
        work = _SOME_WORK if one_spelling else _LITTLE_WORK
        self._compiler = Compiler(Vocabulary.byte_level(), limits=Limits(max_work=work))

    def witnesses(
        self, judges: tuple[Sampler, ...], count: int, *, is_swapped: bool
    ) -> tuple[bytes, ...]:
        """Texts of the inner bound of one format outside of the outer bound of the other."""
        one, other = self._bounds[::-1] if is_swapped else self._bounds
        ref = self._builder.both(one.inner, self._builder.complement(other.outer))
        try:
            sampler = Sampler(self._compiler.compile_grammar(self._builder.build(ref)))
        except GrammarError as error:
            if error.code != "grammar-empty":
                raise
            return ()
        found: dict[bytes, None] = {}
        for attempt in range(1 + _TRIES * (count - 1)):
            text = sampler.draw(sampler.least_bytes + (_ROOM if attempt else 0)).data
            assert text is not None
            assert _is_witness(text, judges)
            found[text if found else _shortened(text, judges)] = None
            if len(found) == count:
                break
        return tuple(found)


def _is_witness(text: bytes, judges: tuple[Sampler, ...]) -> bool:
    return judges[0].accepts([text]) and not judges[1].accepts([text])


def _shortened(text: bytes, judges: tuple[Sampler, ...]) -> bytes:
    """`text` without whatever can be left out of it."""
    for size in (16, 4, 1):
        place = 0
        while place + size <= len(text):
            shorter = text[:place] + text[place + size :]
            if _is_witness(shorter, judges):
                text = shorter
            else:
                place += 1
    return text


def _spelled(grammar: Grammar, one_spelling: bool) -> Grammar:
    return spell_plainly(GrammarBuilder(), grammar, one_spelling=True) if one_spelling else grammar


def _try_samples(one: Sampler, other: Sampler, count: int) -> tuple[bytes, ...]:
    found: set[bytes] = set()
    for attempt in range(_SAMPLES):
        text = one.draw(one.least_bytes + attempt % _ROOM).data
        with suppress(LimitError):  # too hard to tell, so it is no witness
            if text is not None and not other.accepts([text]):
                found.add(text)
    return tuple(sorted(found, key=lambda text: (len(text), text))[:count])
