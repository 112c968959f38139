"""The arguments of Gemma's calls: ``{city:<|"|>Paris<|"|>,days:3}``.

Names stand bare, strings raw between two quote marks, without escapes; arrays and objects nest the
same way, without whitespace.  The chat template of Gemma 4 sorts the names of every object, so the
order of the schema does not count.  FunctionGemma writes the same with another quote mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.facts import NONE, Forms, Goal, ObjectFacts
from structag.schema.lower import Lowering
from structag.schema.options import SchemaOptions
from structag.schema.styles.names import Names
from structag.schema.styles.raw import check_constants, raw_text

QUOTE_MARKS: Mapping[str, str] = {"gemma": '<|"|>', "functiongemma": "<escape>"}
"""The styles of this family, and what their strings stand between."""
NOT_IN_NAMES = ":,{}[]<>|\"'"


class GemmaLowering(Lowering):
    """The arguments of one schema in Gemma's notation."""

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        quote_mark: str,
    ) -> None:
        if options.property_order == "schema":
            options = replace(options, property_order="sorted")
        notation = GemmaNotation(document, builder, quote_mark)
        super().__init__(document, builder, options, limits, notation)
        self._quote_mark = quote_mark

    @property
    def left_out(self) -> str:
        """What is not generated although the schema allows it."""
        banned = " ".join(NOT_IN_NAMES)
        names = f"undeclared names hold no whitespace and none of {banned}"
        return f"no string holds {self._quote_mark}; {names}"

    def arguments(self, facts: tuple[ObjectFacts, ...]) -> Ref:
        """All arguments, in braces."""
        return self.forms(NONE._replace(objects=facts))

    def forms(self, forms: Forms, goal: Goal = ()) -> Ref:
        check_constants(self.document, forms, goal, self._quote_mark)
        return super().forms(forms, goal)


class GemmaNotation:
    """Bare names, raw strings between quote marks."""

    def __init__(self, document: Document, builder: GrammarBuilder, quote_mark: str) -> None:
        self.builder = builder
        self.comma = builder.literal(b",")
        self.null = builder.literal(b"null")
        self.false, self.true = builder.literal(b"false"), builder.literal(b"true")
        self._stop = quote_mark
        self._quote = builder.literal(quote_mark.encode(), marker=True)
        self._names = Names(document, builder, NOT_IN_NAMES)

    def number(self, text: Ref) -> Ref:
        return text

    def string(self, text: Ref) -> Ref:
        raw = raw_text(self.builder, text, self._stop)
        return self.builder.seq(self._quote, raw, self._quote)

    def distinct_string(self, text: Ref) -> Ref | None:
        raw = self.builder.distinct(None, raw_text(self.builder, text, self._stop))
        return self.builder.seq(self._quote, raw, self._quote)

    def array(self, items: Ref) -> Ref:
        return self._between(b"[", items, b"]")

    def item(self, value: Ref) -> Ref:
        return value

    def object(self, members: Ref) -> Ref:
        return self._between(b"{", members, b"}")

    def member(self, name: str, value: Ref, goal: Goal) -> Ref:
        key = self._names.written(name, goal) + ":"
        return self.builder.seq(self.builder.literal(key.encode()), value)

    def free_member(self, keys: Ref, value: Ref) -> Ref:
        return self.builder.seq(self._names.free(keys), self.builder.literal(b":"), value)

    def distinct_member(self, keys: Ref, value: Ref) -> Ref | None:
        name = self.builder.distinct(None, self._names.free(keys))
        return self.builder.seq(name, self.builder.literal(b":"), value)

    def _between(self, opener: bytes, inner: Ref, closer: bytes) -> Ref:
        builder = self.builder
        return builder.seq(builder.literal(opener), inner, builder.literal(closer))
