"""Intervals and multiples of numbers, over many spellings, against exact arithmetic."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

from structag import Compiler, Matcher, Vocabulary
from structag.errors import GrammarError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.facts import NumberFacts, number_fits
from structag.schema.multiples import FactorError
from structag.schema.numbers import Numbers, whole_bounds

COMPILER = Compiler(Vocabulary.byte_level())
BOUNDS = [None, "0", "1", "-1", "5", "12", "120", "-7", "0.5", "2.5", "-0.25", "99", "1000", "0.01"]


def matched(builder: GrammarBuilder, ref: Ref, texts: list[str]) -> list[str]:
    try:
        grammar = COMPILER.compile_grammar(builder.build(ref))
    except GrammarError:
        return []
    kept: list[str] = []
    for text in texts:
        matcher = Matcher(grammar)
        if matcher.accept_string(text) and matcher.is_completed():
            kept.append(text)
    return kept


@pytest.mark.parametrize(("low", "high"), [(0, 0), (-3, 17), (5, 120), (99, 1001), (-250, -98)])
def test_integer_ranges_are_exact(low: int, high: int) -> None:
    builder = GrammarBuilder()
    facts = NumberFacts(Decimal(low), False, Decimal(high), False, True)
    texts = [str(i) for i in range(-1100, 1200)] + ["-0"]
    want = [text for text in texts if low <= int(text) <= high]

    assert matched(builder, Numbers(builder).lower(facts), texts) == want


def test_bounds_of_any_size_stay_small() -> None:
    builder = GrammarBuilder()
    low, high = 10**300 + 7, 3 * 10**400
    facts = NumberFacts(Decimal(low), False, Decimal(high), True, True)
    ref = Numbers(builder).lower(facts)
    near = [low - 1, low, low + 1, high - 1, high, 10**350]

    assert matched(builder, ref, [str(n) for n in near]) == [
        str(n) for n in near if low <= n < high
    ]
    assert len(builder.build(ref).nodes) < 25_000


def test_whole_bounds_round_inwards() -> None:
    facts = NumberFacts(Decimal("-1.5"), True, Decimal(3), True)

    assert whole_bounds(facts) == (-1, 2)
    assert whole_bounds(NumberFacts()) == (None, None)


def spelled(rng: random.Random) -> str:
    sign = rng.choice(("", "-"))
    kind = rng.randrange(3)
    if kind == 0:
        return sign + str(rng.randrange(10 ** rng.randrange(1, 5)))
    whole = rng.choice((0, 1, 2, 3, 5, 7, 12, 25, 99, 100, 120, 1001))
    fraction = rng.choice(("0", "5", "50", "25", "01", "010", "001", "10"))
    if kind == 1:
        return f"{sign}{whole}.{fraction}"
    exponent = rng.choice("eE") + rng.choice(("", "+", "-")) + str(rng.randrange(4))
    return f"{sign}{whole % 10}{rng.choice(('', '.' + fraction))}{exponent}"


@pytest.mark.parametrize("seed", range(3))
def test_random_facts_are_sound_and_complete_over_plain_spellings(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        low, high = (None if b is None else Decimal(b) for b in rng.choices(BOUNDS, k=2))
        factors = rng.sample(
            ["3", "7", "0.5", "0.01", "2", "10", "1.5", "25"], rng.choice((0, 0, 1, 2))
        )
        others = rng.sample(["3", "0.5", "2", "4", "1"], rng.choice((0, 0, 1)))
        facts = NumberFacts(
            low,
            low is not None and rng.random() < 0.3,
            high,
            high is not None and rng.random() < 0.3,
            rng.choice((None, True, False)),
            tuple(map(Decimal, factors)),
            None,
            frozenset(map(Decimal, rng.sample(["0", "3", "2.5"], rng.choice((0, 0, 1))))),
            tuple(map(Decimal, others)),
        )
        builder = GrammarBuilder()
        try:
            ref = Numbers(builder).lower(facts)
        except FactorError:
            continue
        texts = [spelled(rng) for _ in range(30)]
        kept = matched(builder, ref, texts)
        fitting = [text for text in texts if number_fits(Decimal(text), facts)]

        assert [text for text in kept if text not in fitting] == [], facts
        plain = [t for t in fitting if "e" not in t.lower() and not (facts.is_integer and "." in t)]
        assert [text for text in plain if text not in kept] == [], facts


@pytest.mark.parametrize("text", ["1e2", "5.5e0", "2.0E+2", "9e1", "0.5", "-0", "0e5", "1e-7"])
def test_exponents_under_bounds(text: str) -> None:
    for low, high in itertools.product((None, "-1", "0", "5"), (None, "200", "1e-7", "90")):
        facts = NumberFacts(
            low=None if low is None else Decimal(low), high=None if high is None else Decimal(high)
        )
        builder = GrammarBuilder()
        want = [text] if number_fits(Decimal(text), facts) else []

        assert matched(builder, Numbers(builder).lower(facts), [text]) == want, (low, high)
