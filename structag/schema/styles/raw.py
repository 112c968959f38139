"""Raw texts: values that stand as they are, up to the text that ends them."""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Alt, Literal, Ref
from structag.limits import Limits
from structag.schema.document import Document, unsupported
from structag.schema.expand import Expander
from structag.schema.facts import Forms, Goal
from structag.schema.lower import Lowering
from structag.schema.notation import JsonNotation
from structag.schema.options import SchemaOptions
from structag.schema.styles.names import refused


def raw_text(builder: GrammarBuilder, text: Ref, stop: str) -> Ref:
    """The texts of `text` in which `stop` does not occur; fixed texts stay what they are."""
    stopped = builder.no_occurrence([stop.encode()])
    if text == builder.any_text:
        return stopped
    node = builder.node(text)
    fixed: list[Ref] = []
    open_: list[Ref] = []
    for ref in node.parts if isinstance(node, Alt) else (text,):
        part = builder.node(ref)
        if not isinstance(part, Literal):
            open_.append(ref)
        elif stop.encode() not in part.data:
            fixed.append(ref)
    rest = builder.both(builder.alt(*open_), stopped) if open_ else builder.empty
    return builder.alt(*fixed, rest)


def check_constants(document: Document, forms: Forms, goal: Goal, stop: str) -> None:
    """Refuses constants that cannot stand before `stop`.

    Raises:
        UnsupportedError: `schema-keyword`.
    """
    for fact in forms.strings:
        for value in fact.values or ():
            if stop in value:
                node = goal[0] if goal else document.root
                has_const = isinstance(node.value, dict) and "const" in node.value
                raise unsupported(
                    node,
                    "const" if has_const else "enum",
                    f"a value cannot hold `{stop}`, which ends it in this argument style",
                )


class StoppedJson(Lowering):
    """JSON before `stop`: no string, and no name, has it in its value.

    Only the spelling counts for a reader, so ``<\\u002f…`` would do.  But strings that stand raw
    cannot hold their closer either, and a text that is free of it in every spelling is one plain
    unit, whose masks are shared.
    """

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        stop: str,
        expander: Expander,
    ) -> None:
        notation = _StoppedNotation(document, builder, options, stop)
        super().__init__(document, builder, options, limits, notation, expander)
        self._stop = stop

    def forms(self, forms: Forms, goal: Goal = ()) -> Ref:
        check_constants(self.document, forms, goal, self._stop)
        return super().forms(forms, goal)


class _StoppedNotation(JsonNotation):
    def __init__(
        self, document: Document, builder: GrammarBuilder, options: SchemaOptions, stop: str
    ) -> None:
        super().__init__(builder, options)
        self._document = document
        self._stop = stop

    def string(self, text: Ref) -> Ref:
        return super().string(raw_text(self.builder, text, self._stop))

    def distinct_string(self, text: Ref) -> Ref | None:
        return super().distinct_string(raw_text(self.builder, text, self._stop))

    def member(self, name: str, value: Ref, goal: Goal) -> Ref:
        if self._stop in name:
            raise refused(self._document, name, goal, f"holds `{self._stop}`")
        return super().member(name, value, goal)
