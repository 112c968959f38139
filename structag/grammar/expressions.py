"""The expressions of the unified grammar: what every front end lowers to.

A `Grammar` is an immutable table of expressions.  An expression refers to others by their
index in that table (`Ref`), so that equal expressions are one expression and nothing recurses
in Python's own data model.  `structag.grammar.builder` makes grammars; this module only says
what each expression *means*.

**Alphabet.**  A grammar denotes a set of sequences of symbols.  A symbol is a byte or a token id.
A sequence of tokens belongs to the language if some reading of it does: each token is read either
as its bytes or as its id.  *Text* means a sequence of bytes that is valid UTF-8.  "Regular" below
means: built without `Rule`, `Scan`, `Tokens`, `Budget`, `Unordered` and `Tally`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from structag._core import Grammar as NativeGrammar
from structag._core import Module, grammar_of_bytes, read_grammar

Ref: TypeAlias = int
"""Index of an expression in `Grammar.nodes`."""

MAX_CODE_POINT = 0x10FFFF
UNICODE_SCALARS: tuple[tuple[int, int], ...] = ((0, 0xD7FF), (0xE000, MAX_CODE_POINT))


class Empty(NamedTuple):
    """No sequence at all."""


class Epsilon(NamedTuple):
    """Only the empty sequence."""


class Bytes(NamedTuple):
    """One byte out of a set.  `members` is a 256-bit integer: bit *b* = byte *b* is in the set."""

    members: int


class Literal(NamedTuple):
    """A fixed, non-empty byte string.

    A *marker* (begin, end, trigger, …) may also be spelled with control tokens: wherever the
    content of a control token occurs in `data`, that token's id can stand for it.
    """

    data: bytes
    marker: bool


class Chars(NamedTuple):
    """One Unicode scalar value, spelled in UTF-8.

    `ranges` is sorted and disjoint, and holds no surrogates.
    """

    ranges: tuple[tuple[int, int], ...]


class Seq(NamedTuple):
    """Concatenation; two parts or more, none of them a `Seq`, `Empty` or `Epsilon`."""

    parts: tuple[Ref, ...]


class Alt(NamedTuple):
    """Union.  A set: `parts` is sorted and distinct, two or more, none an `Alt` or `Empty`."""

    parts: tuple[Ref, ...]


class Repeat(NamedTuple):
    """`child` from `min` to `max` times; `max` None = without bound.  One node at any count."""

    child: Ref
    min: int
    max: int | None


class Rule(NamedTuple):
    """What rule number `index` derives; the only way to be recursive."""

    index: int  # type: ignore[assignment]  # hides tuple.index


class And(NamedTuple):
    """Intersection of regular operands."""

    parts: tuple[Ref, ...]


class Not(NamedTuple):
    """The texts (valid UTF-8) that are not in a regular operand.  ``Not(Empty)`` is all text.

    Inside `Erase` a text may have assertion marks between its characters; they are left in place.
    """

    child: Ref


class Encoded(NamedTuple):
    """The spellings, under a codec, of the texts of a regular operand.

    Codecs (deterministic; raw bytes in, decoded text out):

    - ``"json"``: the inside of a JSON string, RFC 8259 §7.  Any character but ``"``, ``\\`` and
      U+0000–U+001F stands for itself; ``\\" \\\\ \\/ \\b \\f \\n \\r \\t`` and ``\\uXXXX``
      (either case; a pair of surrogates is one character; a lone surrogate is refused).
    - ``"xml"``: character data.  Any character but ``<`` and ``&`` stands for itself;
      ``&lt; &gt; &amp; &quot; &apos;``, ``&#D;`` and ``&#xH;`` with any number of digits, for
      Unicode scalar values other than 0.
    - ``"python_double"``, ``"python_single"``: the inside of a Python string between ``"`` or
      ``'``.  Any character but that quote, ``\\`` and U+0000–U+001F stands for itself;
      ``\\" \\' \\\\ \\a \\b \\f \\n \\r \\t \\v``, ``\\xHH`` and ``\\uXXXX`` other than surrogates.
    """

    codec: str
    child: Ref


class NoOccurrence(NamedTuple):
    """Text in which none of `patterns` occurs.  Patterns are non-empty UTF-8 strings."""

    patterns: tuple[bytes, ...]


class Scan(NamedTuple):
    """Free text until a trigger completes, then what belongs to that trigger.

    The language of ``t · x``: *t* is text, has a trigger as suffix, no trigger occurs in it that
    ends earlier, no exclude occurs in it; *x* belongs to the expression of a trigger that is a
    suffix of *t* (of any of them when several complete at that byte).  A trigger may also be
    spelled with control tokens, as in `Literal`; apart from that no token id is free text.
    """

    cases: tuple[tuple[bytes, Ref], ...]
    excludes: tuple[bytes, ...]


class Erase(NamedTuple):
    """The sequences of a regular operand with its assertion marks 0 … `count`-1 left out.

    This is how look-around, word boundaries and inner anchors are said: assertion *i* emits a
    private mark (`Assertion`), the operand intersects with a condition on what surrounds the mark,
    and the mark is erased.
    """

    count: int  # type: ignore[assignment]  # hides tuple.count
    child: Ref


class Assertion(NamedTuple):
    """A private mark: one symbol that is no byte; only inside `Erase`."""

    index: int  # type: ignore[assignment]  # hides tuple.index


class Transparent(NamedTuple):
    """The byte sequences of a regular operand, with any marks anywhere; inside `Erase`."""

    child: Ref


class Tokens(NamedTuple):
    """One whole token by id: one of `ids`, or, negated, any usable token that is none of them.

    The universe of the negated form: every token of the vocabulary that has bytes or is a control
    token, except the stop tokens.
    """

    ids: tuple[int, ...]
    negated: bool


class Budget(NamedTuple):
    """`child`, of which at most `max_tokens` tokens begin inside.

    A token counts if its first symbol lies in the region.  Only operands that can end after every
    character or token are allowed: `NoOccurrence`, `Repeat` from 0 of one character or token, and
    what is made of these.  Input given as text instead of tokens counts nothing.
    """

    child: Ref
    max_tokens: int


class Unordered(NamedTuple):
    """Members in any order, each at most once, those marked required present.

    ``members`` are ``(expression, required)``.  `rest`, if any, may come any number of times, mixed
    with the members.  `separator` stands between two neighbours.  No members at all derive the
    empty sequence (if none is required).  No member, nor `rest`, may derive the empty sequence.
    """

    members: tuple[tuple[Ref, bool], ...]
    rest: Ref | None
    separator: Ref


class Tally(NamedTuple):
    """A list whose items are counted by kind.

    ``kinds`` are ``(expression, min, max or None)``; the whole has `min` to `max` items with
    `separator` between neighbours.  An item that belongs to several kinds counts for one of them.
    No kind may derive the empty sequence.

    A kind, or each of its alternatives, may have a key: a `Distinct` among its parts (the first
    one counts).  Then no two items that take the same alternative have the same key.
    """

    kinds: tuple[tuple[Ref, int, int | None], ...]
    min: int
    max: int | None
    separator: Ref


class Mark(NamedTuple):
    """`child`, labelled with where it comes from (JSON pointer, rule name); matches the same."""

    label: str
    child: Ref


class Distinct(NamedTuple):
    """The key of an item of a `Tally`: another text of a regular operand each time.

    It is spelled under `codec`, see `Encoded`, or as it is (None).  Texts are compared, not their
    spellings.  Anywhere else it is nothing but the spellings of the operand's texts.
    """

    codec: str | None
    child: Ref


class Imported(NamedTuple):
    """What `module` matches: another grammar, referred to instead of copied.

    Builders and the core's form of a grammar have these; `Grammar.nodes` has copies instead.
    """

    module: Module


Node: TypeAlias = (
    Empty | Epsilon | Bytes | Literal | Chars | Seq | Alt | Repeat | Rule | And | Not | Encoded
    | NoOccurrence | Scan | Erase | Assertion | Transparent | Tokens | Budget | Unordered | Tally
    | Mark | Distinct | Imported
)  # fmt: skip


class Grammar:
    """An immutable grammar.

    Args:
        nodes: the expressions; children come before parents (a `Rule` is no child of its body).
        rules: ``(name, body)`` of every rule, by index.
        root: the start expression.

    Attributes:
        native: the core's form, which `structag.grammar.pack` and `simplify` work on; it may refer
            to modules.  A grammar from a builder has only that; ``nodes``, ``rules`` and ``root``,
            in which modules are copied to where they are referred to, are made when asked for.
        marker_tokens: contents of tokens that markers must be spelled with: where one of them
            occurs in a marker and the vocabulary has the token, its bytes will not do.
    """

    __slots__ = ("_inlined", "_native", "_nodes", "_root", "_rules", "marker_tokens")

    def __init__(
        self,
        nodes: tuple[Node, ...],
        rules: tuple[tuple[str, Ref], ...],
        root: Ref,
        marker_tokens: tuple[str, ...] = (),
    ) -> None:
        self._nodes: tuple[Node, ...] | None = nodes
        self._rules: tuple[tuple[str, Ref], ...] | None = rules
        self._native: NativeGrammar | None = None
        self._inlined: NativeGrammar | None = None
        self._root: Ref | None = root
        self.marker_tokens = marker_tokens

    @classmethod
    def from_native(cls, native: NativeGrammar, marker_tokens: tuple[str, ...] = ()) -> Grammar:
        """The grammar that a builder's table holds."""
        grammar = cls.__new__(cls)
        grammar._nodes = grammar._rules = grammar._root = grammar._inlined = None
        grammar._native = native
        grammar.marker_tokens = marker_tokens
        return grammar

    @classmethod
    def from_bytes(
        cls, data: bytes, max_expressions: int, marker_tokens: tuple[str, ...] = ()
    ) -> Grammar:
        """The grammar whose core's form is `data`; `native.to_bytes` writes that.

        Raises:
            FormatError: `artefact-file`, the bytes hold no grammar.
            LimitError: they hold more than `max_expressions`.
        """
        return cls.from_native(grammar_of_bytes(data, max_expressions), marker_tokens)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The expressions."""
        if self._nodes is None:
            self._nodes = self.inlined.nodes
        return self._nodes

    @property
    def rules(self) -> tuple[tuple[str, Ref], ...]:
        """``(name, body)`` of every rule, by index."""
        if self._rules is None:
            self._rules = self.inlined.rules
        return self._rules

    @property
    def root(self) -> Ref:
        """The start expression."""
        if self._root is None:
            self._root = self.inlined.root
        return self._root

    @property
    def inlined(self) -> NativeGrammar:
        """The core's form without modules."""
        if self._inlined is None:
            self._inlined = self.native.inlined
        return self._inlined

    @property
    def native(self) -> NativeGrammar:
        """The core's form."""
        if self._native is None:
            self._native = read_grammar(self.nodes, self.rules, self.root)
        return self._native


def children(node: Node) -> tuple[Ref, ...]:
    """The expressions that `node` is made of, left to right; a `Rule` has none.

    >>> children(Repeat(child=4, min=0, max=None))
    (4,)
    """
    match node:
        case Seq(parts) | Alt(parts) | And(parts):
            return parts
        case (
            Repeat(child) | Not(child) | Encoded(_, child) | Erase(_, child) | Transparent(child)
            | Budget(child) | Mark(_, child) | Distinct(_, child)
        ):  # fmt: skip
            return (child,)
        case Scan(cases):
            return tuple(ref for _, ref in cases)
        case Unordered(members, rest, separator):
            extra = (separator,) if rest is None else (rest, separator)
            return tuple(ref for ref, _ in members) + extra
        case Tally(kinds, _, _, separator):
            return (*(ref for ref, _, _ in kinds), separator)
        case _:
            return ()


def with_children(node: Node, refs: tuple[Ref, ...]) -> Node:
    """`node` with its children replaced by `refs`, in the order of `children`."""
    match node:
        case Seq() | Alt() | And():
            return node._replace(parts=refs)
        case (
            Repeat() | Not() | Encoded() | Erase() | Transparent() | Budget() | Mark() | Distinct()
        ):
            return node._replace(child=refs[0])
        case Scan(cases):
            pairs = tuple((text, ref) for (text, _), ref in zip(cases, refs, strict=True))
            return node._replace(cases=pairs)
        case Unordered(members, rest, _):
            flags = tuple((ref, need) for (_, need), ref in zip(members, refs, strict=False))
            return Unordered(flags, None if rest is None else refs[-2], refs[-1])
        case Tally(kinds):
            counts = tuple((ref, k[1], k[2]) for k, ref in zip(kinds, refs, strict=False))
            return node._replace(kinds=counts, separator=refs[-1])
        case _:
            return node
