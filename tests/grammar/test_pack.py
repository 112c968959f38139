"""`structag.grammar.pack`: the exact words, and that unpacking gives the grammar back."""

from __future__ import annotations

from array import array

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar
from structag.grammar.pack import pack_grammar


def read(grammar: Grammar) -> tuple[list[tuple[int, list[int]]], list[int], int, bytes]:
    """Nodes, rule bodies, root and pool of the packed grammar."""
    program, pool = pack_grammar(grammar)
    words = array("i", program).tolist()
    version, node_count, rule_count, root = words[:4]
    assert version == 1
    nodes, place = [], 4
    for _ in range(node_count):
        kind, count = words[place : place + 2]
        nodes.append((kind, words[place + 2 : place + 2 + count]))
        place += 2 + count
    bodies = words[place:]
    assert len(bodies) == rule_count
    return nodes, bodies, root, pool


def test_every_kind_is_written_as_documented() -> None:
    b = GrammarBuilder()
    a, z = b.literal(b"a"), b.literal(b"zz")
    parts = [
        b.bytes([0, 31, 255]),
        b.repeat(a, 2, 5),
        b.repeat(z, 1),
        b.both(a, z),
        b.complement(a),
        b.encoded("xml", a),
        b.no_occurrence([b"zz", b"q"]),
        b.scan([(b"q", a)], [b"a"]),
        b.erase(2, b.seq(b.assertion(1), b.transparent(a))),
        b.tokens([7, 3], negated=True),
        b.budget(b.no_occurrence([b"q", b"zz"]), 9),
        b.unordered([(a, True), (z, False)], a, z),
        b.tally([(a, 1, None), (z, 0, 4)], 2, 8, z),
        b.distinct("xml", a),
        b.distinct(None, a),
    ]
    nodes, bodies, root, pool = read(b.build(b.seq(*parts)))
    at = {(kind, *arguments): i for i, (kind, arguments) in enumerate(nodes)}

    assert bodies == []
    assert pool == b"azzq"
    la, lz = at[3, 0, 1], at[3, 1, 2]
    top = nodes[root]
    written = [nodes[i] for i in top[1]]
    assert top[0] == 5
    assert written == [
        (2, [-(2**31) + 1, 0, 0, 0, 0, 0, 0, -(2**31)]),
        (7, [la, 2, 5]),
        (7, [lz, 1, -1]),
        (9, [la, lz]),
        (10, [la]),
        (11, [1, la]),
        (12, [2, 3, 1, 1, 2]),
        (13, [1, 1, 3, 1, la, 0, 1]),
        (14, [2, at[5, at[15, 1], at[16, la]]]),
        (17, [1, 3, 7]),
        (18, [at[12, 2, 3, 1, 1, 2], 9]),
        (19, [2, la, lz, la, 1, lz, 0]),
        (20, [2, 2, 8, lz, la, 1, -1, lz, 0, 4]),
        (22, [1, la]),
        (22, [-1, la]),
    ]


def test_children_come_first_and_only_what_is_reached_is_written() -> None:
    b = GrammarBuilder()
    b.literal(b"unused")
    lost = b.rule("lost")
    b.define(lost, lost)
    item = b.rule("item")
    b.define(item, b.alt(b.literal(b"x"), b.seq(b.literal(b"("), item, b.literal(b")"))))
    nodes, bodies, root, pool = read(b.build(b.mark("/a", b.seq(item, b.literal(b";")))))

    assert pool == b"x();"
    assert [nodes[i] for i in nodes[root][1]] == [(8, [0]), (3, [3, 1])]
    assert len(bodies) == 1
    assert nodes[bodies[0]][0] == 6
    for i, (kind, arguments) in enumerate(nodes):
        if kind in (5, 6):
            assert all(child < i for child in arguments)


def test_characters_are_spelled_out_with_shared_tails() -> None:
    b = GrammarBuilder()
    nodes, _, root, _ = read(b.build(b.chars([(0x80, 0x7FF), (0x1000, 0xCFFF)])))

    kinds = [kind for kind, _ in nodes]
    assert kinds == [2, 2, 5, 2, 5, 5, 6]
    assert nodes[root] == (6, [2, 5])
    assert nodes[2] == (5, [0, 1])
    assert nodes[4] == (5, [1, 1])
    assert nodes[5] == (5, [3, 4])


def test_a_mark_at_the_root_leaves_no_trace() -> None:
    b = GrammarBuilder()
    with_mark = b.build(b.mark("m", b.literal(b"k")))
    b = GrammarBuilder()

    assert pack_grammar(with_mark) == pack_grammar(b.build(b.literal(b"k")))
