"""Makes a grammar whose marks the native core may keep, so that a matcher can tell where it stands.

What lies under ``&``, ``~``, a codec or look-around is matched as a whole, and has no places of its
own: marks in there are taken away.  A mark around an item that has a key (`Distinct`) goes to the
parts besides the key, which the core finds by the shape of the item.  The language stays the same.
"""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Distinct,
    Encoded,
    Erase,
    Grammar,
    Mark,
    Node,
    Not,
    Ref,
    Seq,
    Tally,
    Transparent,
    children,
)
from structag.grammar.transplant import rebuild

_WHOLES = (And, Not, Encoded, Distinct, Erase, Transparent)


def keep_outer_marks(grammar: Grammar) -> Grammar:
    """`grammar` with marks only where the core can follow them."""
    builder = GrammarBuilder()
    rules = [builder.rule(name) for name, _ in grammar.rules]
    has_keys = any(isinstance(node, Distinct) for node in grammar.nodes)
    kept: list[Ref] = []
    bare: list[Ref] = []  # the same without any mark; of what is no operand, as it is

    def copy(node: Node, parts: list[Ref]) -> Ref:
        refs = [parts[ref] for ref in children(node)]
        if has_keys and isinstance(node, Tally):
            refs[:-1] = [_opened(builder, ref) for ref in refs[:-1]]
        return rebuild(builder, node, tuple(refs), rules)

    for node in grammar.nodes:
        is_whole = isinstance(node, _WHOLES)
        kept.append(copy(node, bare if is_whole else kept))
        if is_whole or not builder.is_regular(kept[-1]):
            bare.append(kept[-1])
        else:
            bare.append(bare[node.child] if isinstance(node, Mark) else copy(node, bare))
    for rule, (_, body) in zip(rules, grammar.rules, strict=True):
        builder.define(rule, kept[body])
    return builder.build(kept[grammar.root])


def _opened(builder: GrammarBuilder, ref: Ref, labels: tuple[str, ...] = ()) -> Ref:
    """`ref` inside of marks with `labels`, put around the parts that are no key."""
    match builder.node(ref):
        case Mark(label, child):
            return _opened(builder, child, (*labels, label))
        case Alt(parts):
            return builder.alt(*(_opened(builder, part, labels) for part in parts))
        case Seq(parts):
            return builder.seq(
                *(
                    _opened(builder, part)
                    if _is_key(builder, part)
                    else _marked(builder, part, labels)
                    for part in parts
                )
            )
        case Distinct():
            return ref
        case _:
            return _marked(builder, ref, labels)


def _is_key(builder: GrammarBuilder, ref: Ref) -> bool:
    node = builder.node(ref)
    while isinstance(node, Mark):
        node = builder.node(node.child)
    return isinstance(node, Distinct)


def _marked(builder: GrammarBuilder, ref: Ref, labels: tuple[str, ...]) -> Ref:
    for label in reversed(labels):
        ref = builder.mark(label, ref)
    return ref
