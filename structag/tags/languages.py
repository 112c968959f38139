"""Lowers the formats whose language another language describes: patterns, grammars and schemas."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from structag.cache import content_key
from structag.errors import StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.tags.model import GrammarFormat, JSONSchemaFormat, RegexFormat
from structag.tags.tokens import TokenNames
from structag.tags.walk import join_pointer

if TYPE_CHECKING:
    from structag.schema.options import SchemaOptions


def lower_regex_format(
    format: RegexFormat, builder: GrammarBuilder, pointer: str, limits: Limits
) -> Ref:
    """The texts that a regular expression matches."""
    from structag.text.regex import lower_regex

    try:
        ref = lower_regex(format.pattern, builder, search=False, limits=limits)
    except StructagError as error:
        raise error.at(join_pointer(pointer, "pattern")) from None
    if not format.excludes:
        return ref
    excludes = [text.encode() for text in format.excludes]
    return builder.both(ref, builder.no_occurrence(excludes))


def lower_grammar_format(
    format: GrammarFormat,
    builder: GrammarBuilder,
    pointer: str,
    limits: Limits,
    names: TokenNames,
) -> Ref:
    """What a grammar text derives."""
    from structag.text.grammar_text import lower_grammar_text

    try:
        return lower_grammar_text(
            format.grammar,
            format.syntax,
            builder,
            limits=limits,
            token_ids=names.find,
        )
    except StructagError as error:
        raise error.at(join_pointer(pointer, "grammar")) from None


def lower_schema_format(
    format: JSONSchemaFormat, builder: GrammarBuilder, pointer: str, limits: Limits
) -> Ref:
    """The values of a schema, in an argument style; made once for many documents."""
    from structag.schema.arguments import lower_arguments
    from structag.schema.styles.check import check_style
    from structag.schema.styles.element_style import ElementStyle

    options = _schema_options(format.any_order, format.max_whitespace_cnt)
    schema = format.json_schema
    place = join_pointer(pointer, "json_schema")
    style: str | ElementStyle
    if isinstance(format.style, str):
        style, name = format.style, str(format.style)
    else:
        style, name = ElementStyle(**dict(format.style)), format.style.model_dump_json()
        check_style(style, join_pointer(pointer, "style"))
    content = content_key(schema)
    key = None
    if content is not None:
        key = ("schema", name, format.any_order, format.max_whitespace_cnt, content)

    def lower(own: GrammarBuilder) -> Ref:
        return lower_arguments(schema, style, own, options, limits=limits)

    try:
        return builder.fragment(key, lower, place, is_operand=False)
    except StructagError as error:
        raise error.at(place) from None


@lru_cache(maxsize=64)
def _schema_options(any_order: bool, max_whitespace: int | None) -> SchemaOptions:
    from structag.schema.options import SchemaOptions

    options = SchemaOptions(property_order="any" if any_order else "schema")
    return options if max_whitespace is None else replace(options, max_whitespace=max_whitespace)
