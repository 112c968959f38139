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

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    UNICODE_SCALARS,
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


def spell_plainly(
    builder: GrammarBuilder, grammar: Grammar, *, one_spelling: bool = False
) -> Grammar:
    """A copy of `grammar` in `builder`, every `Encoded` of plain text spelled out.

    With `one_spelling` every text has exactly one: all characters stay, and regular operators are
    restricted to it.
    """
    flags = reachable_nodes(grammar)
    rules = [builder.rule(name) for name, _ in grammar.rules]
    speller = _Speller(builder, grammar, one_spelling)
    places = speller.places
    for node, flag in zip(grammar.nodes, flags, strict=True):
        if not flag:
            places.append(builder.empty)
        elif isinstance(node, Encoded):
            places.append(speller.spell(node))
        else:
            refs = tuple(places[part] for part in children(node))
            places.append(rebuild(builder, node, refs, rules))
    for rule, (_, body) in zip(rules, grammar.rules, strict=True):
        builder.define(rule, places[body])
    return builder.build(places[grammar.root])


def spell_text(codec: str, text: bytes) -> bytes:
    """The plain spelling of `text`, which is UTF-8."""
    return _SPELLINGS[codec](text.decode()).encode()


class _Speller:
    """Spells parts of `grammar`; `places` says where its expressions went."""

    def __init__(self, builder: GrammarBuilder, grammar: Grammar, one_spelling: bool) -> None:
        self.places: list[Ref] = []
        self._builder = builder
        self._grammar = grammar
        self._one_spelling = one_spelling
        self._spelled: dict[tuple[str, Ref], Ref | None] = {}

    def spell(self, encoded: Encoded) -> Ref:
        """The plain spellings of an `Encoded`; all of them if its parts are no texts."""
        codec, spelled = encoded.codec, self._spelled
        pending = [encoded.child]
        while pending:
            ref = pending[-1]
            node = self._grammar.nodes[ref]
            if (codec, ref) in spelled:
                pending.pop()
            elif not isinstance(node, _PARTWISE):
                spelled[codec, ref] = self._leaf(codec, self.places[ref])
            elif missing := [part for part in children(node) if (codec, part) not in spelled]:
                pending += missing
            else:
                parts = [spelled[codec, part] for part in children(node)]
                known = tuple(part for part in parts if part is not None)
                whole = len(known) == len(parts)
                spelled[codec, ref] = rebuild(self._builder, node, known, []) if whole else None
        found = spelled[codec, encoded.child]
        return self._encoded(codec, self.places[encoded.child]) if found is None else found

    def _leaf(self, codec: str, ref: Ref) -> Ref | None:
        builder = self._builder
        if not builder.is_text(ref):  # half a character; its neighbours hold the rest
            return None
        node = builder.node(ref)
        if isinstance(node, Literal):
            return builder.literal(spell_text(codec, node.data))
        if isinstance(node, Chars):
            return self._chars(codec, node.ranges)
        return self._encoded(codec, ref)

    def _encoded(self, codec: str, ref: Ref) -> Ref:
        builder = self._builder
        if not self._one_spelling:
            return builder.encoded(codec, ref)
        text = builder.repeat(self._chars(codec, UNICODE_SCALARS), 0)
        return text if ref == builder.any_text else builder.both(builder.encoded(codec, ref), text)

    def _chars(self, codec: str, ranges: Sequence[tuple[int, int]]) -> Ref:
        builder = self._builder
        escaped: list[int] = []
        pieces: list[tuple[int, int]] = []
        for low, high in ranges:
            start = low
            for first, last in _SPECIAL[codec]:
                if first <= high and last >= start:
                    pieces.append((start, first - 1))
                    escaped += range(max(first, start), min(last, high) + 1)
                    start = last + 1
            pieces.append((start, high))
        plain = [(low, high) for low, high in pieces if low <= high]
        every = self._one_spelling or not plain
        kept = [code for code in escaped if every or code in _COMMON]
        options = [
            builder.literal(spell_text(codec, chr(code).encode()))
            for code in kept
            if code or codec != "xml"  # which cannot spell it
        ]
        return builder.alt(builder.chars(plain), *options)


def _spell_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _spell_xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _spell_python(quote: str) -> Callable[[str], str]:
    def spell(text: str) -> str:
        return "".join(
            f"\\x{ord(char):02x}" if char < " " else f"\\{char}" if char in f"\\{quote}" else char
            for char in text
        )

    return spell


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "json": _spell_json,
    "xml": _spell_xml,
    "python_double": _spell_python('"'),
    "python_single": _spell_python("'"),
}
