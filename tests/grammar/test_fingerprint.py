"""`structag.grammar.fingerprint`: equal however built, different when the language is."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.small_languages import RandomGrammar, language

from structag.errors import StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Alt, And, Grammar, Node, Ref, Rule, children, with_children
from structag.grammar.fingerprint import fingerprint, structural_hash

HERE = Path(__file__).parent
"""Where subprocesses start: not in the root, whose sources lack the compiled core."""


def shuffled(grammar: Grammar, rng: random.Random) -> Grammar:
    """The same grammar with its nodes and rules in another order and other names."""
    numbers = list(range(len(grammar.rules)))
    rng.shuffle(numbers)
    missing = [len(children(node)) for node in grammar.nodes]
    parents: list[list[Ref]] = [[] for _ in grammar.nodes]
    for ref, node in enumerate(grammar.nodes):
        for child in children(node):
            parents[child].append(ref)
    ready = [ref for ref, count in enumerate(missing) if not count]
    places: dict[Ref, Ref] = {}
    nodes: list[Node] = []
    while ready:
        ref = ready.pop(rng.randrange(len(ready)))
        node = grammar.nodes[ref]
        if isinstance(node, Rule):
            node = Rule(numbers[node.index])
        refs = [places[child] for child in children(node)]
        if isinstance(node, Alt | And):
            refs.sort()
        places[ref] = len(nodes)
        nodes.append(with_children(node, tuple(refs)))
        for parent in parents[ref]:
            missing[parent] -= 1
            if not missing[parent]:
                ready.append(parent)
    rules = [("", 0)] * len(numbers)
    for index, (_, body) in enumerate(grammar.rules):
        rules[numbers[index]] = (f"n{rng.random()}", places[body])
    return Grammar(tuple(nodes), tuple(rules), places[grammar.root])


def test_order_and_names_do_not_matter() -> None:
    rng = random.Random(3)
    for seed in range(400):
        try:
            grammar = RandomGrammar(seed).draw()
        except StructagError:
            continue
        assert fingerprint(shuffled(grammar, rng)) == fingerprint(grammar), f"seed {seed}"


def test_equal_fingerprints_mean_equal_languages() -> None:
    languages: dict[str, frozenset[bytes]] = {}
    for seed in range(1500):
        grammar = RandomGrammar(seed).draw()
        words = language(grammar, b"ab", 3)
        assert languages.setdefault(fingerprint(grammar), words) == words, f"seed {seed}"
    assert len(languages) > 1000


def list_of(ends: list[bytes]) -> Grammar:
    """``r0 → a r1 | end0``, ``r1 → a r2 | end1`` and so on, round."""
    b = GrammarBuilder()
    rules = [b.rule(f"r{i}") for i in range(len(ends))]
    for i, end in enumerate(ends):
        following = rules[(i + 1) % len(rules)]
        b.define(rules[i], b.alt(b.seq(b.literal(b"a"), following), b.literal(end)))
    return b.build(rules[0])


def test_bisimilar_recursive_groups_are_equal() -> None:
    one, two, five = (fingerprint(list_of([b"b"] * count)) for count in (1, 2, 5))

    assert one == two == five
    assert fingerprint(list_of([b"b", b"c"])) == fingerprint(list_of([b"b", b"c"] * 3))
    assert fingerprint(list_of([b"b", b"c"])) != one
    assert fingerprint(list_of([b"b"] * 7 + [b"c"])) != fingerprint(list_of([b"b"] * 8 + [b"c"]))


def test_an_unrolled_rule_and_an_alias_are_the_rule() -> None:
    b = GrammarBuilder()
    inner, outer, alias = b.rule("inner"), b.rule("outer"), b.rule("alias")
    b.define(inner, b.alt(b.seq(b.literal(b"a"), alias), b.literal(b"b")))
    b.define(outer, b.alt(b.seq(b.literal(b"a"), inner), b.literal(b"b")))
    b.define(alias, inner)
    expected = fingerprint(list_of([b"b"]))

    for root in (inner, outer, alias):
        assert fingerprint(b.build(root)) == expected


def test_marks_count_only_on_request() -> None:
    b = GrammarBuilder()
    plain, marked, other = (
        b.literal(b"a"),
        b.mark("x", b.literal(b"a")),
        b.mark("y", b.literal(b"a")),
    )
    grammar = b.build(b.seq(plain, marked, other))
    erased, kept = structural_hash(grammar), structural_hash(grammar, marks=True)

    assert erased[plain] == erased[marked] == erased[other]
    assert len({kept[plain], kept[marked], kept[other]}) == 3


def test_every_field_counts() -> None:
    b = GrammarBuilder()
    a, c, comma = b.literal(b"a"), b.literal(b"c"), b.literal(b",")
    text = b.no_occurrence([b"a"])
    roots = [
        b.empty, b.epsilon, a, c, b.literal(b"a", marker=True), b.bytes([1]), b.bytes([2]),
        b.chars([(1, 2)]), b.chars([(1, 3)]), b.seq(a, c, a), b.seq(c, a, a), b.alt(a, c),
        b.repeat(a, 0, 1), b.repeat(a, 0, 2), b.repeat(a, 0), b.repeat(a, 1), b.both(text, c),
        b.complement(a), b.complement(c), b.encoded("json", a), b.encoded("xml", a), text,
        b.no_occurrence([b"a", b"c"]), b.no_occurrence([b"ac"]), b.no_occurrence(),
        b.scan([(b"a", c)]), b.scan([(b"a", a)]), b.scan([(b"c", c)]), b.scan([(b"a", c)], [b"c"]),
        b.erase(1, a), b.erase(2, a), b.assertion(0), b.assertion(1), b.transparent(a),
        b.tokens([1]), b.tokens([1, 2]), b.tokens([1], negated=True), b.tokens([], negated=True),
        b.budget(text, 1), b.budget(text, 2), b.unordered([(a, True)], None, comma),
        b.unordered([(a, False)], None, comma), b.unordered([(a, True)], c, comma),
        b.unordered([(a, True)], None, c), b.tally([(a, 0, 1)], 0, None, comma),
        b.tally([(a, 0, 2)], 0, None, comma), b.tally([(a, 0, 2)], 1, None, comma),
        b.tally([(a, 0, 2)], 0, 2, comma), b.tally([(a, 0, 2)], 0, None, c),
        b.tally([(a, 0, 2), (c, 0, 2)], 0, None, comma),
        b.distinct("json", a), b.distinct("xml", a), b.distinct(None, a), b.distinct(None, c),
    ]  # fmt: skip

    assert len({fingerprint(b.build(root)) for root in roots}) == len(roots)


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "from structag.grammar.builder import GrammarBuilder as B\n"
        "from structag.grammar.fingerprint import fingerprint\n"
        "b = B()\nprint(fingerprint(b.build(b.seq(b.literal(b'a'), b.any_char))), end='')"
    )
    b = GrammarBuilder()
    here = fingerprint(b.build(b.seq(b.literal(b"a"), b.any_char)))
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True
    )

    assert there.stdout == here == "8e26ed9870a76bfcbe393eda47f2c45b"


def test_long_cycles_are_hashed_in_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structag.grammar.fingerprint.MAX_WORK", 20_000)
    ends = [b"b"] * 1_999 + [b"c"]

    assert fingerprint(list_of(ends)) == fingerprint(list_of(ends))
    assert fingerprint(list_of(ends)) != fingerprint(list_of([*ends[1:], b"b"]))
