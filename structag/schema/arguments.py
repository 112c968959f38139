"""Argument styles: how the arguments of a tool call are written, from one and the same schema.

Every style starts from the normal form that JSON is lowered from (`structag.schema.facts`), so
each keyword works in each; only the notation differs.  ``json`` is the JSON text itself.  The
other styles write one element per argument (`styles`), or a list of arguments.  What a style
cannot write is refused at its place in the schema, or, where no name or value is given away by
that, left out: names that the schema does not declare are written only if they are plain.
"""

from __future__ import annotations

from typing import Any

from structag.errors import FormatError, LimitError, SchemaError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.lower import lower_schema
from structag.schema.objects import inside
from structag.schema.options import SchemaOptions
from structag.schema.styles.element_style import ElementStyle
from structag.schema.styles.elements import ElementLowering
from structag.schema.styles.known import ELEMENT_STYLES

STYLES = ("json", *ELEMENT_STYLES)
"""The names of all styles."""


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
        UnsupportedError: `schema-keyword`, the style cannot write a name or a constant.
    """
    if style == "json":
        return lower_schema(schema, builder, options, pointer=pointer, limits=limits)
    elements = ELEMENT_STYLES.get(style)
    if elements is None:
        raise FormatError(
            f"the argument style `{style[:60]}` is not known",
            code="tag-value",
            pointer=pointer,
            expected="one of " + ", ".join(STYLES),
        )
    options, limits = options or SchemaOptions(), limits or Limits()
    try:
        document = Document(schema, limits, pointer)
        return _lower_elements(document, elements, builder, options, limits)
    except RecursionError:
        raise LimitError(
            "the schema's applicators are nested too deeply",
            limit="nesting",
            value=limits.max_nesting,
            setting="max_nesting",
            code="nesting-limit",
            pointer=pointer,
        ) from None


def _lower_elements(
    document: Document,
    style: ElementStyle,
    builder: GrammarBuilder,
    options: SchemaOptions,
    limits: Limits,
) -> Ref:
    lowering = ElementLowering(document, builder, options, limits, style)
    facts = lowering.expander.goal((document.root,)).objects
    if not facts:
        raise SchemaError(
            "no object satisfies the schema of the arguments",
            code="schema-unsatisfiable",
            pointer=document.root.pointer,
            expected="a schema of objects",
        )
    ref = builder.alt(*(inside(lowering, fact) for fact in facts))
    if builder.is_nullable(ref):
        nothing = (builder.literal(text.encode(), marker=True) for text in style.nothing)
        ref = builder.alt(ref, *nothing)
    return lowering.finished(ref)
