"""Finds the format that no output can match, once a whole structural tag turned out to be empty.

Only the compiled grammar knows; so this asks about one format after the other, inner ones first.
"""

from __future__ import annotations

from collections.abc import Callable

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Mark
from structag.limits import Limits
from structag.tags.lower import lower_format
from structag.tags.parse import TagSource, parse_document
from structag.tags.tokens import TokenTable

MAX_QUESTIONS = 200
"""Formats asked about; each is compiled for it."""


def find_empty_format(
    source: TagSource,
    vocabulary: TokenTable,
    limits: Limits,
    is_empty: Callable[[Grammar], bool],
) -> str | None:
    """The JSON pointer of the first format in `source` that nothing matches, if it is found."""
    tag, shape = parse_document(source, limits)
    builder = GrammarBuilder()
    whole = builder.build(lower_format(tag, builder, vocabulary, limits))
    marks = [
        (ref, node.label)
        for ref, node in enumerate(whole.nodes)
        if isinstance(node, Mark) and node.label.startswith("/format")
    ]
    for ref, label in marks[:MAX_QUESTIONS]:
        if is_empty(Grammar(whole.nodes, whole.rules, ref, whole.marker_tokens)):
            return shape.place(label)
    return None
