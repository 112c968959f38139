"""Notations: how values are written, once it is known which values there may be.

`structag.schema.lower` decides what belongs to a schema; a `Notation` puts the marks around
numbers, strings, arrays, objects and their members.  `JsonNotation` is JSON text; the argument
styles (`structag.schema.arguments`) write the same values in other ways.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.strings import quoted

if TYPE_CHECKING:
    from structag.schema.facts import Goal
    from structag.schema.options import SchemaOptions

MAX_LEVELS = 12
"""Containers inside each other that are laid out on lines of their own."""
_PLAIN_NAME = re.compile(r"[ !#-\[\]-~]*")


class Notation(Protocol):
    """What `Lowering` asks for; every value it makes is non-empty text or ``empty``."""

    comma: Ref
    null: Ref
    false: Ref
    true: Ref

    def number(self, text: Ref) -> Ref:
        """Numbers, from their JSON texts."""

    def string(self, text: Ref) -> Ref:
        """Strings, from their decoded texts."""

    def distinct_string(self, text: Ref) -> Ref | None:
        """Strings that differ (`Distinct`); None if it has several ways to write one."""

    def array(self, items: Ref) -> Ref:
        """An array, from its items and the commas between them."""

    def item(self, value: Ref) -> Ref:
        """An item, from its value."""

    def object(self, members: Ref) -> Ref:
        """An object, from its members and the commas between them."""

    def member(self, name: str, value: Ref, goal: Goal) -> Ref:
        """A member with a fixed name; `goal` is the place to name if that cannot be written."""

    def free_member(self, keys: Ref, value: Ref) -> Ref:
        """A member with any name out of `keys` (decoded) that can be written."""

    def distinct_member(self, keys: Ref, value: Ref) -> Ref | None:
        """Such members with names that differ (`Distinct`); None as for `distinct_string`."""


class JsonNotation:
    """JSON text, with up to `max_whitespace` characters of whitespace between tokens."""

    inner: JsonNotation | None = None
    """How values inside a container are written, if not like the container."""

    def __init__(self, builder: GrammarBuilder, options: SchemaOptions) -> None:
        self.builder = builder
        (
            self.comma,
            self._colon,
            self._open_brace,
            self._close_brace,
            self._open_bracket,
            self._close_bracket,
        ) = builder.json_marks(options.max_whitespace, options.separators)
        self.null = builder.literal(b"null")
        self.false, self.true = builder.literal(b"false"), builder.literal(b"true")
        self._quote = builder.literal(b'"')

    def number(self, text: Ref) -> Ref:
        return text

    def string(self, text: Ref) -> Ref:
        return quoted(self.builder, text)

    def distinct_string(self, text: Ref) -> Ref | None:
        return self.builder.seq(self._quote, self.builder.distinct("json", text), self._quote)

    def array(self, items: Ref) -> Ref:
        return self.builder.seq(self._open_bracket, items, self._close_bracket)

    def item(self, value: Ref) -> Ref:
        return value

    def object(self, members: Ref) -> Ref:
        return self.builder.seq(self._open_brace, members, self._close_brace)

    def member(self, name: str, value: Ref, goal: Goal) -> Ref:
        return self.builder.seq(self.name(name), self._colon, value)

    def name(self, name: str) -> Ref:
        """A fixed name, as `string` writes it."""
        if _PLAIN_NAME.fullmatch(name):
            return self.builder.literal(f'"{name}"'.encode())
        return self.string(self.builder.literal(name.encode()))

    def free_member(self, keys: Ref, value: Ref) -> Ref:
        return self.builder.seq(self.string(keys), self._colon, value)

    def distinct_member(self, keys: Ref, value: Ref) -> Ref | None:
        key = self.distinct_string(keys)
        return None if key is None else self.builder.seq(key, self._colon, value)


class IndentedNotation(JsonNotation):
    """JSON text on lines, as ``json.dumps`` writes it with `indent`, of values `level` deep.

    The members of an object, and the items of an array, are none or some for sure.
    """

    def __init__(self, builder: GrammarBuilder, options: SchemaOptions, level: int = 0) -> None:
        assert options.indent is not None
        separators = options.separators or (",", ": ")
        super().__init__(builder, replace(options, separators=separators))
        indent = options.indent if isinstance(options.indent, str) else " " * options.indent
        line, last = (f"\n{indent * depth}".encode() for depth in (level + 1, level))
        self.comma = builder.literal(separators[0].encode() + line)
        self._open_brace, self._close_brace = (
            builder.literal(b"{" + line),
            builder.literal(last + b"}"),
        )
        self._open_bracket, self._close_bracket = (
            builder.literal(b"[" + line),
            builder.literal(last + b"]"),
        )
        self._no_members, self._no_items = builder.literal(b"{}"), builder.literal(b"[]")
        if level + 1 < MAX_LEVELS:
            self.inner = IndentedNotation(builder, options, level + 1)
        else:
            one_line = options.separators or (", ", ": ")
            self.inner = JsonNotation(builder, replace(options, separators=one_line))

    def array(self, items: Ref) -> Ref:
        return self._no_items if items == self.builder.epsilon else super().array(items)

    def object(self, members: Ref) -> Ref:
        return self._no_members if members == self.builder.epsilon else super().object(members)
