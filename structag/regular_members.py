"""Members of regular expressions whose parts do not tell what belongs to them: And, Not, …

An expression is intersected with "at most n bytes", and the matcher of that is walked.  A matcher
has no dead ends: every walk comes to an end within n bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from structag.compiled import CompiledGrammar
from structag.compiler import Compiler
from structag.errors import GrammarError, LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Distinct, Encoded, Grammar, Ref
from structag.grammar.least_lengths import NEVER
from structag.grammar.plain_spelling import spell_text
from structag.limits import Limits
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

READABLE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ")
PRINTABLE = frozenset(range(0x20, 0x7F))
LITTLE_WORK, SOME_WORK = 200_000, 3_000_000
_LONGEST = 256  # bytes from which on more of them do not help where work runs out


class RegularMembers:
    """The regular operators of a grammar, whose matchers are asked.

    What is spelled in a codec is found as plain text and then spelled, each character in one way.
    That nothing short belongs to an expression can be hard to see.  So the length of a short
    member counts as the least where a little work does not find a shorter one.
    """

    def __init__(self, builder: GrammarBuilder) -> None:
        self._builder = builder
        self._byte = builder.bytes(range(256))
        vocabulary = Vocabulary.byte_level()
        self._compiler = Compiler(vocabulary)
        self._patient = Compiler(vocabulary, limits=Limits(max_work=SOME_WORK))
        self._hasty = Compiler(vocabulary, limits=Limits(max_work=LITTLE_WORK))
        self._compiled: dict[Ref, CompiledGrammar | None] = {}
        self._shortest: dict[Ref, list[bytes]] = {}
        self._exhausted: set[Ref] = set()

    def least(self, ref: Ref, place: int = 0) -> int:
        """The length that so many of the shortest members known, and one more, do not exceed.

        It is `NEVER` if there are not so many.
        """
        texts = self._shortest_texts(ref, place + 1)
        return NEVER if len(texts) <= place else max(len(self.spell(ref, x)) for x in texts)

    def shortest(self, ref: Ref, used: Sequence[bytes] = ()) -> bytes:
        """The shortest text known that is none of `used`; there has to be one.

        Its member is no longer than `least` says of so many.
        """
        return next(x for x in self._shortest_texts(ref, len(used) + 1) if x not in used)

    def _shortest_texts(self, ref: Ref, count: int) -> list[bytes]:
        """So many of the shortest texts known, or all that there are."""
        texts = self._shortest.setdefault(ref, [])
        while len(texts) < count and ref not in self._exhausted:
            found = self._find_shortest(self._text(ref, texts))
            if found is None:
                self._exhausted.add(ref)
            else:
                texts.append(found)
        return texts[:count]

    def spell(self, ref: Ref, text: bytes) -> bytes:
        """The member that `text` stands for: itself, or its spelling."""
        node = self._builder.node(ref)
        codec = node.codec if isinstance(node, Encoded | Distinct) else None
        return text if codec is None else spell_text(codec, text)

    def _text(self, ref: Ref, used: Sequence[bytes] = ()) -> Ref:
        node = self._builder.node(ref)
        text = node.child if isinstance(node, Encoded | Distinct) else ref
        if not used:
            return text
        others = self._builder.alt(*map(self._builder.literal, used))
        return self._builder.both(text, self._builder.complement(others))

    def _find_shortest(self, ref: Ref) -> bytes | None:
        whole = self._compile(self._compiler, ref)
        if whole is None:
            return None
        if Matcher(whole).is_completed():
            return b""
        size = 16
        while (found := self._first_within(ref, size, self._patient)) is None:
            size *= 4
        too_short, shortest = 0, found
        while len(shortest) - too_short > 1:
            size = (too_short + len(shortest)) // 2
            found = self._first_within(ref, size, self._hasty)
            if found is None:
                too_short = size
            else:
                shortest = found
        return shortest

    def _first_within(self, ref: Ref, max_bytes: int, compiler: Compiler) -> bytes | None:
        """A member of at most `max_bytes` bytes, if the work that `compiler` may do finds one."""
        try:
            compiled = self._bounded(ref, max_bytes, compiler)
            if compiled is None:
                return None
            matcher = Matcher(compiled)
            written = bytearray()
            while not matcher.is_completed():
                written.append(max(matcher.allowed_bytes(), key=_readability))
                matcher.accept_bytes(bytes(written[-1:]))
            return bytes(written)
        except LimitError:
            if max_bytes >= _LONGEST:
                raise
            return None

    def within(
        self, ref: Ref, max_bytes: int, used: Sequence[bytes] = ()
    ) -> CompiledGrammar | None:
        """The texts of at most `max_bytes` bytes that are none of `used`, if there are any."""
        return self._bounded(self._text(ref, used), max_bytes, self._hasty)

    def _bounded(self, ref: Ref, max_bytes: int, compiler: Compiler) -> CompiledGrammar | None:
        short = self._builder.repeat(self._byte, 0, max_bytes)
        return self._compile(compiler, self._builder.both(ref, short))

    def whole(self, ref: Ref) -> CompiledGrammar:
        """All texts, of which there is one."""
        compiled = self._compile(self._compiler, self._text(ref))
        assert compiled is not None
        return compiled

    def _compile(self, compiler: Compiler, ref: Ref) -> CompiledGrammar | None:
        if ref not in self._compiled:
            try:
                grammar = Grammar.from_native(self._builder.snapshot(ref))
                self._compiled[ref] = compiler.compile_grammar(grammar)
            except GrammarError as error:
                if error.code != "grammar-empty":
                    raise
                self._compiled[ref] = None
        return self._compiled[ref]


def _readability(byte: int) -> tuple[bool, bool, int]:
    return byte in READABLE, byte in PRINTABLE, byte
