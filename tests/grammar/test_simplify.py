"""`structag.grammar.simplify`: what it promises, and that it keeps the language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.reference_matcher import accepts
from support.small_languages import RandomGrammar, language
from support.strategies import GrammarSample, byte_strings, grammars

from structag.errors import GrammarError, LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref, Repeat, Rule, Seq
from structag.grammar.simplify import check_preconditions, simplify_grammar

Make = Callable[[GrammarBuilder, list[Ref]], list[Ref]]


def with_rules(names: Sequence[str], bodies: Make) -> Grammar:
    """A grammar of the rules `names`; the first is the root."""
    b = GrammarBuilder()
    rules = [b.rule(name) for name in names]
    for rule, body in zip(rules, bodies(b, rules), strict=True):
        b.define(rule, body)
    return b.build(rules[0])


def assert_kept(grammar: Grammar, length: int = 6) -> Grammar:
    simple = simplify_grammar(grammar)
    check_preconditions(simple)
    assert language(simple, b"ab", length) == language(grammar, b"ab", length)
    return simple


LEFT_RECURSIVE: dict[str, Make] = {
    "direct": lambda b, r: [b.alt(b.seq(r[0], b.literal(b"b")), b.literal(b"a"))],
    "ambiguous": lambda b, r: [b.alt(b.seq(r[0], r[0]), b.literal(b"a"))],
    "nullable and ambiguous": lambda b, r: [b.alt(b.seq(r[0], r[0]), b.literal(b"a"), b.epsilon)],
    "hidden": lambda b, r: [
        b.alt(b.seq(b.optional(b.literal(b"b")), r[0], b.literal(b"a")), b.literal(b"b"))
    ],
    "in a repeat": lambda b, r: [b.alt(b.repeat(r[0], 2, 3), b.literal(b"a"))],
    "in a mark": lambda b, r: [b.alt(b.mark("m", b.seq(r[0], b.literal(b"b"))), b.literal(b"a"))],
    "a cycle of itself": lambda b, r: [b.alt(r[0], b.literal(b"a"))],
    "both ends": lambda b, r: [b.alt(b.seq(r[0], b.literal(b"b"), r[0]), b.literal(b"a"))],
    "in a list": lambda b, r: [
        b.alt(
            b.unordered(
                [(b.seq(r[0], b.literal(b"b")), False), (b.literal(b"ab"), True)], None, b.epsilon
            ),
            b.literal(b"a"),
        )
    ],
    "in a counted list": lambda b, r: [
        b.alt(b.tally([(r[0], 1, 2), (b.literal(b"b"), 0, None)], 1, 3, b.epsilon), b.literal(b"a"))
    ],
}
MUTUAL: dict[str, Make] = {
    "indirect": lambda b, r: [
        b.alt(b.seq(r[1], b.literal(b"a")), b.literal(b"b")),
        b.alt(b.seq(r[0], b.literal(b"b")), b.literal(b"a")),
    ],
    "units": lambda b, r: [b.alt(r[1], b.literal(b"a")), b.alt(r[0], b.seq(r[1], b.literal(b"b")))],
    "nullable prefix rule": lambda b, r: [
        b.alt(b.seq(r[1], r[0], b.literal(b"a")), b.literal(b"b")),
        b.alt(b.seq(r[0], b.literal(b"a")), b.epsilon),
    ],
    "nullable rest": lambda b, r: [
        b.alt(b.seq(r[1], b.optional(b.literal(b"a"))), b.literal(b"b")),
        b.alt(b.seq(r[0], b.repeat(b.literal(b"b"), 0)), b.literal(b"a")),
    ],
}


@pytest.mark.parametrize("shape", LEFT_RECURSIVE)
def test_left_recursion_of_one_rule_goes(shape: str) -> None:
    assert_kept(with_rules("s", LEFT_RECURSIVE[shape]))


@pytest.mark.parametrize("shape", MUTUAL)
def test_left_recursion_of_two_rules_goes(shape: str) -> None:
    assert_kept(with_rules("st", MUTUAL[shape]))


def test_direct_left_recursion_becomes_a_repeat() -> None:
    simple = simplify_grammar(with_rules("s", LEFT_RECURSIVE["direct"]))
    body = simple.nodes[simple.rules[0][1]]

    assert isinstance(body, Seq)
    assert isinstance(simple.nodes[body.parts[1]], Repeat)


@pytest.mark.parametrize("block", range(25))
def test_random_grammars_keep_their_language(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        grammar = RandomGrammar(seed).draw()
        expected = language(grammar, b"ab", 4)
        try:
            simple = simplify_grammar(grammar)
        except GrammarError as error:
            assert error.code == "grammar-empty", f"seed {seed}"
            assert not expected, f"seed {seed}"
            continue
        check_preconditions(simple)
        assert language(simple, b"ab", 4) == expected, f"seed {seed}"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_expression_keeps_its_language(data: st.DataObject) -> None:
    sample: GrammarSample = data.draw(grammars())
    try:
        simple = simplify_grammar(sample.grammar)
    except GrammarError as error:
        assert error.code in ("grammar-empty", "grammar-operand")
        return
    check_preconditions(simple)
    if simple is not sample.grammar:
        for text in data.draw(st.lists(byte_strings(sample, 6), max_size=12)):
            assert accepts(simple, text) == accepts(sample.grammar, text)


@pytest.mark.parametrize("low, high", [(0, None), (2, None), (2, 3), (0, 1)])
def test_a_repeat_of_something_nullable_repeats_what_is_not(low: int, high: int | None) -> None:
    b = GrammarBuilder()
    nullable = [
        b.optional(b.literal(b"ab")),
        b.seq(b.repeat(b.literal(b"a"), 0), b.optional(b.literal(b"b"))),
        b.no_occurrence([b"bb"]),
        b.complement(b.literal(b"a")),
        b.unordered([(b.literal(b"a"), False), (b.literal(b"b"), False)], None, b.epsilon),
        b.tally([(b.literal(b"a"), 0, 2)], 0, None, b.literal(b"b")),
        b.mark("m", b.optional(b.literal(b"a"))),
        b.epsilon,
    ]
    for child in nullable:
        b.define(rule := b.rule("r"), child)
        for operand in (child, rule):
            assert_kept(b.build(b.seq(b.literal(b"a"), b.repeat(operand, low, high))), 5)


def test_a_million_rounds_cost_one_expression() -> None:
    b = GrammarBuilder()
    simple = simplify_grammar(
        b.build(b.repeat(b.alt(b.optional(b.literal(b"a")), b.literal(b"b")), 5, 10**6))
    )

    assert len(simple.nodes) == 4
    assert simple.nodes[simple.root] == Repeat(2, 0, 10**6)


def test_what_has_nothing_to_simplify_is_the_same_object() -> None:
    b = GrammarBuilder()
    value = b.rule("value")
    items = b.repeat(b.seq(b.literal(b","), value), 0)
    b.define(value, b.alt(b.literal(b"1"), b.seq(b.literal(b"["), value, items, b.literal(b"]"))))
    recursive = b.build(value)

    assert simplify_grammar(recursive) is recursive
    b = GrammarBuilder()
    plain = b.seq(b.literal(b"a"), b.repeat(b.alt(b.literal(b"b"), b.any_char), 2, 9))
    regular = b.build(plain)
    assert simplify_grammar(regular) is regular


def test_unreachable_and_unproductive_rules_vanish() -> None:
    simple = simplify_grammar(
        with_rules(
            "suv",
            lambda b, r: [
                b.alt(b.literal(b"a"), b.seq(b.literal(b"b"), r[1])),
                b.seq(b.literal(b"a"), r[1]),
                b.literal(b"b"),
            ],
        )
    )

    assert [name for name, _ in simple.rules] == ["s"]
    assert language(simple, b"ab", 4) == {b"a"}


def test_a_list_without_a_possible_separator_has_one_item_at_most() -> None:
    b = GrammarBuilder()
    b.define(never := b.rule("never"), never)
    a, c = b.literal(b"a"), b.literal(b"b")
    wanted = {
        b.unordered([(a, False), (c, False)], None, never): {b"", b"a", b"b"},
        b.unordered([(a, True), (c, False)], None, never): {b"a"},
        b.tally([(a, 0, 2), (c, 0, None)], 1, None, never): {b"a", b"b"},
    }
    for root, words in wanted.items():
        simple = simplify_grammar(b.build(root))
        assert language(simple, b"ab", 4) == words


@pytest.mark.parametrize(
    "names, bodies, reason",
    [
        ("x", lambda b, r: [r[0]], "rule `x` only refers to itself"),
        ("x", lambda b, r: [b.seq(b.literal(b"a"), r[0])], "rule `x` only refers to itself"),
        (
            "sxy",
            lambda b, r: [b.seq(b.literal(b"a"), r[1]), b.seq(r[2], r[2]), b.alt(r[1], r[2])],
            "the rules `x`, `y` only refer to each other",
        ),
        ("s", lambda b, r: [b.empty], "rule `s` has no alternative that can be completed"),
    ],
)
def test_the_empty_language_is_an_error_that_names_the_rules(
    names: str, bodies: Make, reason: str
) -> None:
    text = f"the grammar derives no string: {reason}; give it an alternative that ends"
    with pytest.raises(GrammarError, match=f"^{re.escape(text)}$") as caught:
        simplify_grammar(with_rules(names, bodies))

    assert caught.value.code == "grammar-empty"


def test_a_member_that_turns_out_nullable_is_refused() -> None:
    def bodies(b: GrammarBuilder, r: list[Ref]) -> list[Ref]:
        members = [(r[1], True)]
        return [b.unordered(members, None, b.literal(b",")), b.optional(b.literal(b"a"))]

    with pytest.raises(GrammarError, match="derives the empty string") as caught:
        simplify_grammar(with_rules("sm", bodies))

    assert caught.value.code == "grammar-operand"


def test_nothing_is_asked_of_what_is_unreachable() -> None:
    def bodies(b: GrammarBuilder, r: list[Ref]) -> list[Ref]:
        maybe = b.optional(b.literal(b"a"))
        again = b.alt(b.seq(r[0], b.literal(b"b")), b.repeat(r[1], 1))
        unreachable = b.repeat(b.alt(r[1], b.literal(b"b")), 1)
        return [again, maybe, b.unordered([(unreachable, True)], None, b.literal(b","))]

    assert_kept(with_rules("smu", bodies))


def test_a_list_of_items_that_differ_is_not_taken_apart() -> None:
    b = GrammarBuilder()
    rule = b.rule("r")
    item = b.seq(b.distinct(None, b.any_char), b.literal(b";"))
    items = b.tally([(item, 0, None), (b.seq(rule, b.literal(b"x")), 0, 1)], 1, None, b.epsilon)
    b.define(rule, b.alt(items, b.literal(b"y")))
    with pytest.raises(
        GrammarError, match="items that differ, in a list that a left-recursive"
    ) as e:
        simplify_grammar(b.build(rule))

    assert e.value.code == "grammar-operand"


def test_assertions_decide_whether_a_pattern_is_nullable() -> None:
    b = GrammarBuilder()
    text = b.transparent(b.any_text)
    word = b.transparent(b.seq(b.literal(b"a"), b.any_text))
    inside = b.seq(b.assertion(0), b.repeat(b.literal(b"a"), 0))
    wrong = b.seq(text, b.assertion(0), b.complement(word))
    looking_at_a = b.erase(1, b.both(inside, b.complement(wrong)))
    grammar = b.build(b.seq(b.repeat(looking_at_a, 1, 2), b.literal(b"b")))
    simple = simplify_grammar(grammar)

    assert simple is grammar  # (?=a)a* is not nullable
    free = b.build(b.repeat(b.erase(1, inside), 1, 2))
    simple = simplify_grammar(free)
    check_preconditions(simple)
    assert [accepts(simple, text) for text in (b"", b"a", b"aaa", b"b")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("rounds", [5_000])
def test_depth_is_no_problem(rounds: int) -> None:
    b = GrammarBuilder()
    rule = b.rule("s")
    left = nullable = rule
    for i in range(rounds):
        left = b.alt(b.seq(left, b.literal(b"b")), b.literal(b"a"))
        nullable = b.optional(b.seq(nullable, b.optional(b.literal(b"%d" % i))))
    b.define(rule, b.alt(left, nullable, b.literal(b"c")))
    simple = simplify_grammar(b.build(b.repeat(rule, 0)))

    check_preconditions(simple)
    assert len(simple.nodes) < 40 * rounds


def test_levels_of_operators_grow_linearly() -> None:
    def size(levels: int) -> int:
        def bodies(b: GrammarBuilder, r: list[Ref]) -> list[Ref]:
            made = [
                b.alt(b.seq(r[i], b.literal(b"+%d" % i), r[i + 1]), r[i + 1]) for i in range(levels)
            ]
            return [*made, b.alt(b.seq(b.literal(b"("), r[0], b.literal(b")")), b.literal(b"x"))]

        names = [f"e{i}" for i in range(levels + 1)]
        simple = simplify_grammar(with_rules(names, bodies))
        check_preconditions(simple)
        return len([node for node in simple.nodes if not isinstance(node, Rule)])

    assert size(40) < 2.2 * size(20)


def test_a_component_that_would_grow_too_much_is_a_limit_error() -> None:
    def bodies(b: GrammarBuilder, r: list[Ref]) -> list[Ref]:
        return [
            b.alt(*(b.seq(rule, rule) for rule in r), b.literal(b"%d" % i)) for i in range(len(r))
        ]

    grammar = with_rules([f"r{i}" for i in range(20)], bodies)
    check_preconditions(simplify_grammar(grammar))
    with pytest.raises(LimitError, match="once left recursion is removed") as caught:
        simplify_grammar(grammar, max_expressions=1_000)

    assert caught.value.setting == "max_expressions"
