"""Lowers string facts: the decoded text as a regular expression, spelled through a codec."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from structag.grammar.builder import MAX_COUNT, GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.facts import Forms, StringFacts
from structag.text.membership import UndecidedError, belongs

if TYPE_CHECKING:
    from structag.schema.expand import Expander


class Quoting(NamedTuple):
    """How a string is written between two quotes."""

    codec: str = "json"
    quote: bytes = b'"'


JSON = Quoting()


def quoted(builder: GrammarBuilder, text: Ref, quoting: Quoting = JSON) -> Ref:
    """The strings whose value is in `text`, in quotes.

    One fixed text in printable ASCII stands for itself: nobody writes a known name with escapes,
    and a model that may do so loses its way.  Everything else may be spelled in any way, since
    writers differ in what they escape.
    """
    return builder.quoted(quoting.codec, quoting.quote, text)


def decoded(builder: GrammarBuilder, facts: StringFacts) -> Ref:
    """The texts that satisfy `facts`."""
    if facts.values is not None:
        return _finite(builder, facts, facts.values)
    parts = list(facts.patterns)
    if facts.low > MAX_COUNT:
        return builder.empty
    if facts.low or facts.high is not None:
        high = None if facts.high is None else min(facts.high, MAX_COUNT)
        parts.append(builder.repeat(builder.any_char, facts.low, high))
    if facts.banned:
        words = (builder.literal(word.encode()) for word in sorted(facts.banned))
        parts.append(builder.complement(builder.alt(*words)))
    return builder.both(*parts) if parts else builder.any_text


def string_language(expander: Expander, forms: Forms) -> Ref:
    """The texts of all strings in `forms`."""
    builder = expander.builder
    return builder.alt(*(decoded(builder, fact) for fact in forms.strings))


def _finite(builder: GrammarBuilder, facts: StringFacts, values: frozenset[str]) -> Ref:
    kept: list[Ref] = []
    undecided: list[Ref] = []
    for value in sorted(values):  # the same order in every process
        if value in facts.banned or len(value) < facts.low:
            continue
        if facts.high is not None and len(value) > facts.high:
            continue
        ref = builder.literal(value.encode())
        try:
            if all(belongs(builder, pattern, value) for pattern in facts.patterns):
                kept.append(ref)
        except UndecidedError:
            undecided.append(ref)
    if undecided:
        kept.append(builder.both(builder.alt(*undecided), *facts.patterns))
    return builder.alt(*kept)
