"""The named limits that keep hostile input cheap; each is reported by `LimitError.setting`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one `Compiler`; the defaults suit untrusted requests on a server.

    Attributes:
        max_source_bytes: size of a source text (tag, schema, pattern) in UTF-8 bytes.
        max_grammar_bytes: size of a grammar text in UTF-8 bytes; reading takes a few µs for each.
        max_nesting: nesting depth of a source document, and of groups in a pattern.
        max_schemas: subschemas of one JSON Schema that take part.
        max_expressions: expressions in one compiled grammar, as lowered.
        max_work: units of work in one native call (a byte stepped, a state visited, a search node).
        max_memory_bytes: bytes that one compiled grammar may hold: states, edges and masks.
        max_generation_bytes: bytes of states and masks after which a compiled grammar starts anew,
            with what its matchers still need; reaching this is no error.
    """

    max_source_bytes: int = 16 * 1024 * 1024
    max_grammar_bytes: int = 1024 * 1024
    max_nesting: int = 512
    max_schemas: int = 20_000
    max_expressions: int = 2_000_000
    max_work: int = 50_000_000
    max_memory_bytes: int = 512 * 1024 * 1024
    max_generation_bytes: int = 8 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise ValueError(f"{name}={value!r}, expected an integer, 0 or more")
