"""Encoded texts spelled plainly: what can be drawn part by part needs no codec any more.

A codec spells a text character by character, so that `Encoded` passes through sequences, unions
and counts down to literals, characters and regular operators.  Of literals and characters one
spelling is kept: the character itself, or its shortest escape.  Of a class of characters that has
both kinds, control characters but tab and newline are left out.  Apart from that and the other
spellings, the language stays the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    Chars,
    Encoded,
    Grammar,
    Literal,
    Mark,
    Ref,
    Repeat,
    Seq,
    children,
)
from structag.grammar.properties import reachable_nodes
from structag.grammar.transplant import rebuild

_SPECIAL = {
    "json": ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)),
    "xml": ((0, 0), (0x26, 0x26), (0x3C, 0x3C)),
    "python_double": ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)),
    "python_single": ((0, 0x1F), (0x27, 0x27), (0x5C, 0x5C)),
}
_COMMON = frozenset({0x09, 0x0A, *range(0x20, 0x7F)})
_PARTWISE = (Seq, Alt, Repeat, Mark)


def spell_plainly(builder: GrammarBuilder, grammar: Grammar) -> Grammar:
    """A copy of `grammar` in `builder`, every `Encoded` of plain text spelled out."""
    flags = reachable_nodes(grammar)
    rules = [builder.rule(name) for name, _ in grammar.rules]
    places: list[Ref] = []
    spelled: dict[tuple[str, Ref], Ref | None] = {}
    for node, flag in zip(grammar.nodes, flags, strict=True):
        place: Ref | None = None if flag else builder.empty
        if isinstance(node, Encoded) and flag:
            place = _spell(builder, grammar, node, places, spelled)
        if place is None:
            refs = tuple(places[part] for part in children(node))
            place = rebuild(builder, node, refs, rules)
        places.append(place)
    for rule, (_, body) in zip(rules, grammar.rules, strict=True):
        builder.define(rule, places[body])
    return builder.build(places[grammar.root])


def spell_text(codec: str, text: bytes) -> bytes:
    """The plain spelling of `text`, which is UTF-8."""
    return _SPELLINGS[codec](text.decode()).encode()


def _spell(
    builder: GrammarBuilder,
    grammar: Grammar,
    encoded: Encoded,
    places: Sequence[Ref],
    spelled: dict[tuple[str, Ref], Ref | None],
) -> Ref | None:
    """The plain spellings of an `Encoded`; None if its parts are no texts.

    `places` says where its operands went.
    """
    codec = encoded.codec
    pending = [encoded.child]
    while pending:
        ref = pending[-1]
        node = grammar.nodes[ref]
        if (codec, ref) in spelled:
            pending.pop()
        elif not isinstance(node, _PARTWISE):
            spelled[codec, ref] = _spell_leaf(builder, codec, places[ref])
        elif missing := [part for part in children(node) if (codec, part) not in spelled]:
            pending += missing
        else:
            parts = [spelled[codec, part] for part in children(node)]
            known = tuple(part for part in parts if part is not None)
            whole = len(known) == len(parts)
            spelled[codec, ref] = rebuild(builder, node, known, []) if whole else None
    return spelled[codec, encoded.child]


def _spell_leaf(builder: GrammarBuilder, codec: str, ref: Ref) -> Ref | None:
    if not builder.is_text(ref):  # half a character; its neighbours hold the rest
        return None
    node = builder.node(ref)
    if isinstance(node, Literal):
        return builder.literal(spell_text(codec, node.data))
    if not isinstance(node, Chars):
        return builder.encoded(codec, ref)
    escaped: list[int] = []
    plain: list[tuple[int, int]] = []
    for low, high in node.ranges:
        start = low
        for first, last in _SPECIAL[codec]:
            if first <= high and last >= start:
                plain.append((start, first - 1))
                escaped += range(max(first, start, 1), min(last, high) + 1)
                start = last + 1
        plain.append((start, high))
    ranges = [(low, high) for low, high in plain if low <= high]
    kept = [code for code in escaped if not ranges or code in _COMMON]
    options = [builder.literal(spell_text(codec, chr(code).encode())) for code in kept]
    return builder.alt(builder.chars(ranges), *options)


def _spell_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _spell_python(quote: str) -> Callable[[str], str]:
    def spell(text: str) -> str:
        return "".join(
            f"\\x{ord(char):02x}" if char < " " else f"\\{char}" if char in f"\\{quote}" else char
            for char in text
        )

    return spell


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "json": _spell_json,
    "xml": escape,
    "python_double": _spell_python('"'),
    "python_single": _spell_python("'"),
}
