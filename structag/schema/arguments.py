"""Argument styles: how the arguments of a tool call are written, from one and the same schema.

Every style starts from the normal form that JSON is lowered from (`structag.schema.facts`), so
each keyword works in each; only the notation differs.  ``json`` is the JSON text itself.  The
files of `structag.schema.styles` have the others: one element per argument (`elements`, with the
texts in `known`), or one list of them (`pythonic`, `gemma`).  What a style cannot write is
refused at its place in the schema, or, where no declared name or value is lost by that, left out:
names that the schema does not declare are written only if they are plain.
"""

from __future__ import annotations

from typing import Any, Protocol

from structag.errors import FormatError, SchemaError, nesting_error
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document
from structag.schema.expand import Expander
from structag.schema.facts import ObjectFacts
from structag.schema.lower import lower_schema
from structag.schema.options import SchemaOptions
from structag.schema.styles.check import check_style
from structag.schema.styles.element_style import ElementStyle
from structag.schema.styles.elements import ElementLowering
from structag.schema.styles.gemma import QUOTE_MARKS, GemmaLowering
from structag.schema.styles.known import ELEMENT_STYLES
from structag.schema.styles.pythonic import NOTATIONS, KeywordArguments

STYLES = ("json", *ELEMENT_STYLES, *QUOTE_MARKS, *NOTATIONS)
"""The names of all styles."""


class ArgumentLowering(Protocol):
    """What every style but ``json`` is."""

    expander: Expander

    @property
    def left_out(self) -> str:
        """What is not generated although the schema allows it, for the report."""

    def arguments(self, facts: tuple[ObjectFacts, ...]) -> Ref:
        """The arguments that satisfy any of `facts`."""

    def finished(self, ref: Ref) -> Ref:
        """`ref`, once everything put off is lowered."""


def lower_arguments(
    schema: dict[str, Any] | bool,
    style: str | ElementStyle,
    builder: GrammarBuilder,
    options: SchemaOptions | None = None,
    *,
    pointer: str = "",
    limits: Limits | None = None,
) -> Ref:
    """The argument texts of a tool whose parameters `schema` describes.

    `style` is one of `STYLES`, or an element style of the caller's own.

    Raises:
        FormatError: `tag-value`, an unknown style, or one whose texts cannot be told apart.
        SchemaError: `schema-unsatisfiable`, no object satisfies the schema; else as `lower_schema`.
        UnsupportedError: `schema-keyword`, the style cannot write a name or a constant.
    """
    if style == "json":
        return lower_schema(schema, builder, options, pointer=pointer, limits=limits)
    if isinstance(style, ElementStyle):
        check_style(style, pointer)
    elif style not in STYLES:
        raise FormatError(
            f"the argument style `{style[:60]}` is not known",
            code="tag-value",
            pointer=pointer,
            expected="one of " + ", ".join(STYLES),
        )
    options, limits = options or SchemaOptions(), limits or Limits()
    try:
        document = Document(schema, limits, pointer, options.registry)
        lowering = _lowering(style, document, builder, options, limits)
        lowering.expander.report.restrict(document.root, "", lowering.left_out)
        facts = lowering.expander.goal((document.root,)).objects
        if not facts:
            raise SchemaError(
                "no object satisfies the schema of the arguments",
                code="schema-unsatisfiable",
                pointer=pointer,
                expected="a schema of objects",
            )
        return lowering.finished(lowering.arguments(facts))
    except RecursionError:
        raise nesting_error(
            "the schema's applicators are nested too deeply",
            limits.max_nesting,
            pointer=pointer,
        ) from None


def _lowering(
    style: str | ElementStyle,
    document: Document,
    builder: GrammarBuilder,
    options: SchemaOptions,
    limits: Limits,
) -> ArgumentLowering:
    if isinstance(style, ElementStyle):
        return ElementLowering(document, builder, options, limits, style)
    if style in ELEMENT_STYLES:
        return ElementLowering(document, builder, options, limits, ELEMENT_STYLES[style])
    if style in NOTATIONS:
        return KeywordArguments(document, builder, options, limits, style)
    return GemmaLowering(document, builder, options, limits, QUOTE_MARKS[style])
