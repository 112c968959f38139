"""The face of the native matcher: the state of one generation.

A `Matcher` says which tokens may come next, takes the one that was sampled, and can go back.  It
is used by one thread at a time; any number of matchers of one compiled grammar may run on any
threads.  Native calls release the GIL.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from structag._core import Matcher as NativeMatcher
from structag.compiled import CompiledGrammar
from structag.errors import MatcherError, VocabularyError


class Expectation(NamedTuple):
    """One thing that may come next.

    Attributes:
        bytes: the bytes that it may begin with.
        rest: what is left of a fixed string, if it is one.
        token_ids: the tokens that are read by their id here.
        trails: where it stands in the source, from the outside in: labels of formats, schemas and
            rules (see `GrammarBuilder.origin`), for up to eight ways to stand there.  Known if the
            compiler kept origins.
    """

    bytes: frozenset[int]
    rest: builtins.bytes
    token_ids: tuple[int, ...]
    trails: tuple[tuple[str, ...], ...]


class Matcher:
    """The state of one generation under `grammar`.

    Args:
        grammar: what `Compiler.compile_…` returned.
        stop_token_ids: replaces the vocabulary's stop tokens for this matcher.
    """

    __slots__ = ("_native", "grammar", "stop_token_ids")

    def __init__(
        self, grammar: CompiledGrammar, stop_token_ids: Iterable[int] | None = None
    ) -> None:
        if not isinstance(grammar, CompiledGrammar):
            raise TypeError(f"a Matcher is for a CompiledGrammar, not {type(grammar).__name__}")
        stops = grammar.vocabulary.stop_token_ids if stop_token_ids is None else stop_token_ids
        self.grammar = grammar
        self.stop_token_ids: tuple[int, ...] = tuple(sorted(set(stops)))
        for token in self.stop_token_ids:
            if not 0 <= token < grammar.vocabulary.size:
                raise VocabularyError(
                    f"stop token {token} is not in the vocabulary",
                    code="vocabulary-value",
                    expected=f"ids from 0 to {grammar.vocabulary.size - 1}",
                )
        self._native = NativeMatcher(grammar.native, list(self.stop_token_ids))

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Write which tokens may come next into row `index` of `bitmask`.

        `bitmask` is int32[rows, ceil(vocabulary size / 32)] (or one such row), C-contiguous on the
        CPU, of any framework that speaks DLPack or the buffer protocol; bit *i* of word *w* is
        token 32*w + i, 1 = allowed; words beyond the vocabulary are cleared.  Returns False if
        every token is allowed, so that nothing needs to be applied.  A state seen before costs a
        copy.

        Raises:
            MatcherError: `bitmask-shape`.
            LimitError: the mask costs more than the limits allow; the matcher is as it was.
        """
        try:
            return self._native.fill_mask(bitmask, index)
        except TypeError:
            raise bitmask_error(bitmask) from None

    def mask_id(self) -> int:
        """A number for the row that `fill_next_token_bitmask` would write now.

        Under one vocabulary rows with equal numbers are equal, whatever grammars and matchers they
        come from, so that a row which is already somewhere need not be sent there again; numbers
        are of this process, and never used twice.  Equal rows have equal numbers for as long as
        the row is remembered.

        Raises:
            LimitError: as `fill_next_token_bitmask`.
        """
        return self._native.mask_id()

    def accept_token(self, token_id: int) -> bool:
        """Advance by one token and return True; False, and nothing changes, if it is not allowed.

        A stop token is accepted where the grammar may end, and terminates; after that stop tokens
        are accepted without effect.  Ids outside the vocabulary are refused like any other.
        """
        return self._native.accept_token(_clamp(token_id))

    def accept_string(self, text: str | bytes) -> bool:
        """Advance by text, all of it or nothing.  One entry for `rollback`, if it is not empty.

        Text is never read as token ids, and takes nothing from a token budget.
        """
        if isinstance(text, str):
            return self._native.accept_bytes(text.encode("utf-8", "surrogatepass"))
        if not isinstance(text, bytes):
            raise TypeError(f"a text is a str or bytes, not {type(text).__name__}")
        return self._native.accept_bytes(text)

    def accept_bytes(self, data: bytes) -> bool:
        """Advance by bytes, which may end inside a character; otherwise as `accept_string`."""
        return self._native.accept_bytes(bytes(memoryview(data)))

    def validate_tokens(self, token_ids: Sequence[int]) -> int:
        """How many of `token_ids` would be accepted one after the other; changes nothing."""
        return self._native.validate_tokens([_clamp(t) for t in token_ids])

    def fill_draft_chain(self, token_ids: Sequence[int], bitmask: Any, index: int = 0) -> int:
        """Write the masks along a draft; how many of `token_ids` are accepted one after the other.

        Row `index` + *i* of `bitmask` gets the mask after the first *i* tokens, the one after all
        of them included.  Rows behind a token that is refused, or negative, allow everything: no
        output gets there.  The matcher stays where it is.

        Raises:
            MatcherError: `bitmask-shape`, also if there are too few rows.
            LimitError: as `fill_next_token_bitmask`.
        """
        tokens = [_clamp(t) for t in token_ids]
        try:
            return self._native.fill_draft_chain(tokens, bitmask, index)
        except TypeError:
            raise bitmask_error(bitmask) from None

    def traverse_draft_tree(
        self,
        next_token: Any,
        next_sibling: Any,
        tokens: Any,
        bitmask: Any,
        time_budget: float | None = None,
    ) -> bool:
        """Write the mask after each node of a tree of draft tokens; False if time ran out.

        The arguments up to `bitmask` are those of SGLang and xgrammar: int64[nodes] on the CPU,
        `next_token` the first child of each node, `next_sibling` its next sibling, -1 where there
        is none.  Node 0 is the token that was accepted last, so that row 0 is the mask of now.
        Rows of nodes that no output reaches (a token on the way is refused, or they hang on
        nothing) allow everything.  The matcher stays where it is.

        Args:
            time_budget: seconds; the rows that were not made by then allow the stop tokens only.

        Raises:
            MatcherError: `draft-tree`, the arrays make no tree; `bitmask-shape`.
            LimitError: as `fill_next_token_bitmask`.
        """
        try:
            return self._native.fill_draft_tree(
                next_token, next_sibling, tokens, bitmask, time_budget
            )
        except TypeError:
            parts = (next_token, next_sibling, tokens)
            if all(str(getattr(part, "dtype", "")).endswith("int64") for part in parts):
                raise bitmask_error(bitmask) from None
            raise MatcherError(
                "the tree is " + ", ".join(f"`{_layout(part)}`" for part in parts),
                code="draft-tree",
                expected="three C-contiguous int64[nodes] on the CPU",
            ) from None

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted entries, a termination included.

        Far back (over a thousand entries), what comes before is accepted once more, which takes
        as long as it did.

        Raises:
            MatcherError: `matcher-state`, if fewer were accepted.
        """
        count = operator.index(count)
        self._native.rollback(count if -1 <= count < 2**62 else -1)

    def fork(self) -> Matcher:
        """An independent copy, with its own history; cheap, however long that is."""
        copy = object.__new__(Matcher)
        copy.grammar = self.grammar
        copy.stop_token_ids = self.stop_token_ids
        copy._native = self._native.fork()
        return copy

    def reset(self) -> None:
        """Back to the start, as if new."""
        self._native.reset()

    def is_completed(self) -> bool:
        """Whether the output may end here: a stop token would be accepted, none has been yet."""
        return self._native.is_complete()

    def is_terminated(self) -> bool:
        """Whether a stop token has been accepted."""
        return self._native.is_terminated()

    @property
    def history_size(self) -> int:
        """How many entries `rollback` can undo."""
        return self._native.history_size()

    def allowed_bytes(self) -> frozenset[int]:
        """The byte values that may come next, read as text."""
        return frozenset(self._native.allowed_bytes())

    def expectations(self) -> list[Expectation]:
        """What may come next, taken apart by where in the grammar it stands; for explanations.

        Together they allow what `allowed_bytes` says, and the tokens that are read by their id.
        """
        labels = self.grammar.labels
        return [
            Expectation(
                frozenset(allowed),
                rest,
                ids,
                tuple(tuple(labels[number] for number in trail) for trail in trails),
            )
            for allowed, rest, ids, trails in self._native.expectations()
        ]

    def find_jump_forward_string(self) -> str:
        """The text that must come next whatever is sampled; empty if there is a choice.

        Ends at a character boundary, and before a place where the output may end or where a token
        is read by its id.
        """
        return self._native.find_jump_forward().decode("utf-8")

    def forced_tokens(self, tokenizer: Any = None, emitted: Sequence[int] = ()) -> list[int]:
        """The tokens that must come next; changes nothing.

        Without `tokenizer` these are the tokens that masks leave alone.  With one, forced text is
        spelled as it would spell it: tokens that it writes whatever follows (tried with what may
        follow, of every kind of character), and only if it writes those in `emitted`, the output
        so far, as they are.  If that is not sure, there is nothing; sampling goes on as usual.

        Args:
            tokenizer: a `tokenizers.Tokenizer`, or a fast tokenizer of transformers.
            emitted: the tokens of the output so far.
        """
        from structag.forced_tokens import canonical_tokens, single_tokens

        if tokenizer is not None and (forced := canonical_tokens(self, tokenizer, emitted)):
            return forced
        return single_tokens(self)


def bitmask_error(bitmask: Any) -> MatcherError:
    """Why the core could not even take `bitmask` as an array."""
    return MatcherError(
        f"the bitmask is `{type(bitmask).__name__}` of {_layout(bitmask)}",
        code="bitmask-shape",
        expected="a writable, C-contiguous int32 array or tensor on the CPU, an int index",
    )


def _clamp(token_id: int) -> int:
    """Ids beyond 32 bits are as invalid as -1, and fit the native call."""
    value = operator.index(token_id)
    return value if -1 <= value < 2**31 else -1


def _layout(bitmask: Any) -> str:
    shape = getattr(bitmask, "shape", None)
    dtype = getattr(bitmask, "dtype", "unknown type")
    return f"{dtype}" + (f"{list(shape)}" if shape is not None else "")
