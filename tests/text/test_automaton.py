"""`structag.text.automaton`: small automata, whatever the way to them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine import properties

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Node
from structag.text.automaton import Automaton, Derivatives
from structag.text.regex import lower_regex


def automaton(pattern: str) -> Automaton:
    def refuse(node: Node) -> Exception:
        raise AssertionError(node)

    builder = GrammarBuilder()
    return Derivatives(builder, refuse).automaton(lower_regex(pattern, builder))


@pytest.mark.parametrize(
    ("pattern", "states"),
    [("a", 2), ("a|b|[c-z]", 2), ("(a|b)*a(a|b)", 4), ("ab|cb|db", 3), ("a*a*", 1), ("x{3}", 4)],
)
def test_equal_states_are_one(pattern: str, states: int) -> None:
    assert len(automaton(pattern).ends) == states


WORDS = st.lists(st.text("ab", max_size=5), min_size=1, max_size=6)


@properties()
@given(words=WORDS)
def test_a_finite_language_has_one_state_for_each_way_to_go_on(words: list[str]) -> None:
    found = automaton("|".join(f"(?:{word})" for word in words))
    starts = {word[:size] for word in words for size in range(len(word) + 1)}
    rests = {
        frozenset(word[len(start) :] for word in words if word.startswith(start))
        for start in starts
    }

    assert len(found.ends) == len(rests)
    assert found.ends[0] == ("" in words)


@pytest.mark.timing
def test_a_long_chain_takes_time_for_its_length() -> None:
    start = time.perf_counter()

    assert len(automaton("[ab]{1,3000}").ends) == 3001
    assert time.perf_counter() - start < 5
