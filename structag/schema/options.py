"""The options of lowering a JSON Schema, in one frozen record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from structag.grammar.builder import MAX_COUNT

ORDERS = ("schema", "sorted", "any")
_SEPARATORS = (r"[ \t\n\r]*,[ \t\n\r]*", r"[ \t\n\r]*:[ \t\n\r]*")
FORMATS = ("assert", "annotate")
MAX_INDENT = 100
"""Spaces for one level."""


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """How a schema is read, and which JSON spellings of its values are generated.

    Attributes:
        max_whitespace: whitespace characters allowed in each gap between JSON tokens: after ``{``,
            before ``}``, around ``,`` and so on; 0 = compact, None = any number.  The default, 20,
            has room for a line break and the indentation of a document of usual depth, and keeps a
            model from padding forever.  There is never whitespace around the root value.
        separators: what stands between members or items, and between a name and its value, as in
            ``json.dumps``: ``(", ", ": ")``.  There is no other whitespace then, and
            `max_whitespace` means nothing.
        indent: a line for each member and item, as in ``json.dumps``: so many spaces, or this
            whitespace, for each level; `separators` then default to ``(",", ": ")``.  What lies
            over 12 levels deep stands on one line.
        property_order: ``"schema"`` = members come as in `properties`, then names that are only
            `required`, then all others (what an applicator before `properties` adds, or tells its
            branches apart by, comes first); ``"sorted"`` = the same with the names in alphabetical
            order, capitals and small letters alike; ``"any"`` = in any order.
        formats: ``"assert"`` = `format` must hold; ``"annotate"`` = it is ignored.
        integer_decimals: integers may also be spelled ``1.0`` and ``1e2``, as the standard has it.
        openapi: ``nullable: true`` beside a `type` allows null too, and the format ``byte`` asserts
            base64, as OpenAPI 3.0 has it.
        closed_objects: an object schema that says nothing of other members allows none.
        registry: documents that references may lead to, parsed, by their absolute URIs.  The
            standard's meta-schemas are always there; nothing else is, and nothing is fetched.
    """

    max_whitespace: int | None = 20
    separators: tuple[str, str] | None = None
    indent: int | str | None = None
    property_order: str = "schema"
    formats: str = "assert"
    integer_decimals: bool = False
    openapi: bool = False
    closed_objects: bool = False
    registry: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        for name in ("integer_decimals", "openapi", "closed_objects"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={getattr(self, name)!r}, expected True or False")
        if self.registry is not None and not isinstance(self.registry, Mapping):
            raise ValueError("registry, expected documents by their URIs")
        if self.property_order not in ORDERS:
            raise ValueError(f"property_order={self.property_order!r}, expected one of {ORDERS}")
        if self.formats not in FORMATS:
            raise ValueError(f"formats={self.formats!r}, expected one of {FORMATS}")
        most = self.max_whitespace
        if not (most is None or (type(most) is int and 0 <= most <= MAX_COUNT)):
            raise ValueError(f"max_whitespace={most!r}, expected 0 to {MAX_COUNT:,}, or None")
        if not (self.separators is None or _are_separators(self.separators)):
            raise ValueError(
                f"separators={self.separators!r}, expected a comma and a colon with whitespace"
            )
        if not (self.indent is None or _is_indentation(self.indent)):
            raise ValueError(
                f"indent={self.indent!r}, expected a number of spaces, whitespace, or None"
            )


DEFAULTS = SchemaOptions()


def _are_separators(separators: object) -> bool:
    return (
        isinstance(separators, tuple | list)
        and len(separators) == 2
        and all(isinstance(text, str) for text in separators)
        and all(map(re.fullmatch, _SEPARATORS, separators))
    )


def _is_indentation(indent: object) -> bool:
    if isinstance(indent, str):
        return not indent.strip(" \t\n\r")
    return type(indent) is int and 0 <= indent <= MAX_INDENT
