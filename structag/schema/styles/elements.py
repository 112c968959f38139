"""Lowers arguments that are written as elements, by the data of an `ElementStyle`."""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.facts import NONE, Forms, Goal, ObjectFacts
from structag.schema.lower import Lowering
from structag.schema.objects import inside
from structag.schema.options import SchemaOptions
from structag.schema.styles.distinguish import distinguish
from structag.schema.styles.element_style import KINDS, NAME, ElementStyle
from structag.schema.styles.names import Names
from structag.schema.styles.raw import StoppedJson, check_constants, raw_text

_FIELDS = tuple(zip(KINDS, Forms._fields, strict=False))
"""The types and where `Forms` has them; its last field is about all of them."""


class ElementLowering(Lowering):
    """The arguments of one schema as elements.

    Strings are raw; what else there is goes to a lowering of JSON, or, in a style that nests, into
    further elements.
    """

    notation: ElementNotation

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        style: ElementStyle,
    ) -> None:
        notation = ElementNotation(document, builder, style)
        super().__init__(document, builder, options, limits, notation)
        self.style = style
        self._json: Lowering | None = None
        if style.item is None:
            self._json = StoppedJson(document, builder, options, limits, style.stops, self.expander)

    @property
    def left_out(self) -> str:
        """What is not generated although the schema allows it."""
        style = self.style
        if NAME in style.closer:
            names = "no names but declared ones"
        else:
            banned = " ".join([*style.not_in_names, *style.entities])
            names = f"names that are not declared hold no whitespace and none of {banned}"
        parts = [f"no value holds {style.stops}", names]
        if style.types is None:
            parts.append("a string beside other types does not look like a value of those")
        return "; ".join(parts)

    def arguments(self, facts: tuple[ObjectFacts, ...]) -> Ref:
        """All arguments, one after the other."""
        builder = self.builder
        ref = builder.alt(*(inside(self, fact) for fact in facts))
        if builder.is_nullable(ref):
            nothing = (builder.literal(text.encode(), marker=True) for text in self.style.nothing)
            ref = builder.alt(ref, *nothing)
        return ref

    def forms(self, forms: Forms, goal: Goal = ()) -> Ref:
        """The marks of types, and the values of each type."""
        style, json = self.style, self._json
        check_constants(self.document, forms, goal, style.stops)
        if style.types is None:
            forms = distinguish(self.builder, forms, is_nested=json is None)
        if json is None:
            return super().forms(forms, goal)
        parts: list[Ref] = []
        for kind, field in _FIELDS:
            facts = getattr(forms, field)
            if not facts:
                continue
            part = NONE._replace(**{field: facts})
            if kind == "string":
                parts.append(super().forms(part, goal))
            else:
                parts.append(self.notation.typed(kind, json.forms(part, goal)))
        return self.builder.alt(*parts)

    def finished(self, ref: Ref) -> Ref:
        ref = super().finished(ref)
        return ref if self._json is None else self._json.finished(ref)


class ElementNotation:
    """The notation of the values in elements, and of the elements around them."""

    def __init__(self, document: Document, builder: GrammarBuilder, style: ElementStyle) -> None:
        self.builder = builder
        self.style = style
        self.names = Names(document, builder, style.not_in_names, style.entities)
        self.comma = builder.epsilon
        types = style.types or dict.fromkeys(KINDS, "")
        self._types = {kind: self._marker(mark) for kind, mark in types.items()}
        self._line_break = self._marker("\n")
        self._behind = self._any_of(style.behind)
        self.null = self.typed("null", builder.literal(b"null"))
        self.false = self.typed("boolean", builder.literal(b"false"))
        self.true = self.typed("boolean", builder.literal(b"true"))

    def typed(self, kind: str, value: Ref) -> Ref:
        """A value of a type that is not written raw."""
        return self.builder.seq(self._types[kind], self._wrapped(value, value))

    def number(self, text: Ref) -> Ref:
        return self.typed("number", text)

    def string(self, text: Ref) -> Ref:
        builder = self.builder
        raw = raw_text(builder, text, self.style.stops)
        bare = raw
        if self.style.is_wrapped:  # else its own line breaks would be taken for the wrapping
            line, some = builder.literal(b"\n"), builder.any_text
            edges = builder.alt(builder.seq(line, some), builder.seq(some, line))
            bare = builder.both(raw, builder.complement(edges))
        return builder.seq(self._types["string"], self._wrapped(raw, bare))

    def distinct_string(self, text: Ref) -> Ref | None:
        return None

    def array(self, items: Ref) -> Ref:
        return self.builder.seq(self._types["array"], items)

    def item(self, value: Ref) -> Ref:
        style = self.style
        opener, closer = self._marker(style.item or ""), self._marker(style.item_closer)
        return self.builder.seq(opener, value, closer, self._behind)

    def object(self, members: Ref) -> Ref:
        return self.builder.seq(self._types["object"], members)

    def member(self, name: str, value: Ref, goal: Goal) -> Ref:
        written = self.names.written(name, goal)
        closer = self.style.closer.replace(NAME, written)
        opener = [self.style.before + written + after for after in self.style.after]
        return self.builder.seq(self._any_of(opener), value, self._marker(closer), self._behind)

    def free_member(self, keys: Ref, value: Ref) -> Ref:
        if NAME in self.style.closer:  # the same name twice: no rule says that of every name
            return self.builder.empty
        return self.builder.seq(
            self._marker(self.style.before),
            self.names.free(keys),
            self._any_of(self.style.after),
            value,
            self._marker(self.style.closer),
            self._behind,
        )

    def distinct_member(self, keys: Ref, value: Ref) -> Ref | None:
        return None

    def _wrapped(self, inner: Ref, bare: Ref) -> Ref:
        """`bare`, or `inner` between line breaks if the style has them."""
        if not self.style.is_wrapped:
            return bare
        wrapped = self.builder.seq(self._line_break, inner, self._line_break)
        return self.builder.alt(bare, wrapped)

    def _any_of(self, texts: tuple[str, ...] | list[str]) -> Ref:
        return self.builder.alt(*map(self._marker, texts))

    def _marker(self, text: str) -> Ref:
        return self.builder.literal(text.encode(), marker=True)
