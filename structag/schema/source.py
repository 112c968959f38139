"""From what a caller has for a schema to expressions: all that a compiler needs, in one import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.lower import lower_schema
from structag.schema.options import DEFAULTS, SchemaOptions
from structag.schema.read import read_schema


def lower_source(
    source: Any, builder: GrammarBuilder, options: Mapping[str, Any], limits: Limits
) -> Ref:
    """Read a schema, and lower it under `options`, fields of `SchemaOptions`.

    Raises:
        FormatError, LimitError, SchemaError, …: what `read_schema` and `lower_schema` raise.
    """
    parsed = SchemaOptions(**options) if options else DEFAULTS
    return lower_schema(read_schema(source, limits), builder, parsed, limits=limits)
