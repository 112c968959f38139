"""Runs argument texts through the byte-level vocabulary."""

from __future__ import annotations

from typing import Any

from structag import CompiledGrammar, Compiler, Matcher, Vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.schema.arguments import lower_arguments
from structag.schema.options import SchemaOptions
from structag.schema.styles.element_style import ElementStyle

COMPILER = Compiler(Vocabulary.byte_level())


def compiled(schema: Any, style: str | ElementStyle, **options: Any) -> CompiledGrammar:
    """The grammar of the arguments that `schema` describes."""
    builder = GrammarBuilder()
    ref = lower_arguments(schema, style, builder, SchemaOptions(**options))
    return COMPILER.compile_grammar(builder.build(ref))


def accepts(grammar: CompiledGrammar, text: str) -> bool:
    """Whether `text` is one whole word of the grammar."""
    matcher = Matcher(grammar)
    return matcher.accept_string(text) and matcher.is_completed()


def accepted(schema: Any, style: str, text: str, **options: Any) -> bool:
    """Whether `text` is a whole set of arguments."""
    return accepts(compiled(schema, style, **options), text)
