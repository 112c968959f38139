"""Argument styles: how the arguments of a tool call are spelled, from one and the same schema.

``json`` is the JSON text itself.  ``deepseek_xml`` has one element per argument::

    <｜DSML｜parameter name="NAME" string="true">raw text</｜DSML｜parameter>⏎
    <｜DSML｜parameter name="NAME" string="false">JSON</｜DSML｜parameter>⏎

``string="true"`` says that the value is a string, written raw: the text itself obeys lengths,
patterns and constants, and cannot hold its own closer.  Every other value is JSON; JSON strings are
not written.  Sources: the encoding and decoding scripts published with DeepSeek V3.2 and V4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structag.errors import FormatError, LimitError, SchemaError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.facts import Goal
from structag.schema.lower import Lowering, lower_schema
from structag.schema.objects import inside
from structag.schema.options import SchemaOptions
from structag.schema.strings import string_language

CLOSER = "</｜DSML｜parameter>"


def lower_arguments(
    schema: dict[str, Any] | bool,
    style: str,
    builder: GrammarBuilder,
    options: SchemaOptions | None = None,
    *,
    pointer: str = "",
    limits: Limits | None = None,
) -> Ref:
    """The argument texts of a tool whose parameters `schema` describes.

    Raises:
        FormatError: `tag-value`, an unknown style.
        SchemaError: `schema-unsatisfiable`, no object satisfies the schema; else as `lower_schema`.
    """
    if style == "json":
        return lower_schema(schema, builder, options, pointer=pointer, limits=limits)
    lower = STYLES.get(style)
    if lower is None:
        raise FormatError(
            f"the argument style `{style[:60]}` is not known",
            code="tag-value",
            pointer=pointer,
            expected="one of json, " + ", ".join(STYLES),
        )
    options, limits = options or SchemaOptions(), limits or Limits()
    try:
        lowering = Lowering(Document(schema, limits, pointer), builder, options, limits)
        return lower(lowering)
    except RecursionError:
        raise LimitError(
            "the schema's applicators are nested too deeply",
            limit="nesting",
            value=limits.max_nesting,
            setting="max_nesting",
            code="nesting-limit",
            pointer=pointer,
        ) from None


class DeepseekXml:
    """Members as elements; the `MemberStyle` of ``deepseek_xml``."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.builder = builder = lowering.builder
        self.expander = lowering.expander
        self.options = lowering.options
        self.comma = builder.epsilon
        self.opener = builder.literal('<｜DSML｜parameter name="'.encode(), marker=True)
        self.closer = builder.literal((CLOSER + "\n").encode(), marker=True)
        self.raw = builder.literal(b'" string="true">', marker=True)
        self.json = builder.literal(b'" string="false">', marker=True)
        self.plain_text = builder.no_occurrence([CLOSER.encode()])
        self.plain_name = builder.no_occurrence([b'"', b"<", b">", b"\n"])

    def lower(self) -> Ref:
        """All arguments of the document's root."""
        root = self.lowering.document.root
        facts = self.expander.goal((root,)).objects
        ref = self.builder.alt(*(inside(self, fact) for fact in facts))
        if not facts:
            raise SchemaError(
                "no object satisfies the schema of the arguments",
                code="schema-unsatisfiable",
                pointer=root.pointer,
                expected="a schema of objects",
            )
        if self.builder.is_nullable(ref):  # no arguments at all: an empty line, or nothing
            ref = self.builder.alt(ref, self.builder.literal(b"\n"))
        return self.lowering.finished(ref)

    def member(self, name: str, goal: Goal) -> Ref:
        """One argument with a fixed name."""
        return self._element(self.builder.literal(name.encode(), marker=True), goal)

    def free_member(self, keys: Ref, goal: Goal) -> Ref:
        """One argument with a name out of `keys`."""
        plain = self.plain_name
        return self._element(
            plain if keys == self.builder.any_text else self.builder.both(keys, plain), goal
        )

    def _element(self, name: Ref, goal: Goal) -> Ref:
        builder = self.builder
        forms = self.expander.goal(goal)
        parts: list[Ref] = []
        if forms.strings:
            text = string_language(self.expander, forms)
            is_free = text == builder.any_text
            text = self.plain_text if is_free else builder.both(text, self.plain_text)
            parts.append(builder.seq(self.raw, text))
        others = self.lowering.forms(forms._replace(strings=()), goal)
        parts.append(builder.seq(self.json, others))
        return builder.seq(self.opener, name, builder.alt(*parts), self.closer)


STYLES: dict[str, Callable[[Lowering], Ref]] = {
    "deepseek_xml": lambda lowering: DeepseekXml(lowering).lower(),
}
