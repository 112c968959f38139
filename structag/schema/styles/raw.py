"""Raw texts: strings that stand as they are, up to the text that ends them."""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.document import Document, unsupported
from structag.schema.facts import Forms, Goal


def raw_text(builder: GrammarBuilder, text: Ref, stop: str) -> Ref:
    """The texts of `text` in which `stop` does not occur."""
    stopped = builder.no_occurrence([stop.encode()])
    return stopped if text == builder.any_text else builder.both(text, stopped)


def check_constants(document: Document, forms: Forms, goal: Goal, stop: str) -> None:
    """Refuses constants that cannot stand raw before `stop`.

    Raises:
        UnsupportedError: `schema-keyword`.
    """
    for fact in forms.strings:
        for value in fact.values or ():
            if stop in value:
                node = goal[0] if goal else document.root
                has_const = isinstance(node.value, dict) and "const" in node.value
                raise unsupported(
                    node,
                    "const" if has_const else "enum",
                    f"a value cannot hold `{stop}`, which ends it in this argument style",
                )
