"""Running out of a limit, at any moment, leaves the matcher as it was.

The core can be told to fail at the n-th charge of work from now on (`fail_after`).  Every call is
made to fail at every charge it makes, on a cold grammar, and must then behave as if it had never
been made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import compile_or_none, compiler_of, mask_of, observe, properties, vocabulary_of
from support.strategies import ALPHABETS, grammars, texts, vocabularies

from structag._core import fail_after
from structag.compiler import Compiler
from structag.errors import LimitError
from structag.limits import Limits
from structag.matcher import Matcher

MOST_FAULTS = 40
"""How many moments of failure are tried in each example; every one up to here, then powers."""


@contextmanager
def failing_after(charges: int) -> Iterator[None]:
    fail_after(charges)
    try:
        yield
    finally:
        fail_after(None)


def moments(count: int = MOST_FAULTS) -> Iterator[int]:
    """1, 2, 3, …, and after 24 ever larger steps."""
    at = 0
    for _ in range(count):
        at += 1 if at < 24 else at // 3
        yield at


@st.composite
def calls(draw: st.DrawFn, size: int, alphabet: tuple[str, ...]) -> Callable[[Matcher], Any]:
    """A call to a matcher."""
    token = draw(st.integers(0, size - 1))
    ids = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
    string = draw(texts(alphabet, max_size=4))
    choices: list[Callable[[Matcher], Any]] = [
        lambda m: mask_of(m, size),
        lambda m: m.accept_token(token),
        lambda m: m.accept_bytes(string),
        lambda m: m.validate_tokens(ids),
        lambda m: m.find_jump_forward_string(),
        lambda m: m.is_completed(),
    ]
    return choices[draw(st.integers(0, len(choices) - 1))]


@properties()
@given(st.data())
def test_a_call_that_fails_changes_nothing(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    sample = data.draw(vocabularies(alphabet, control=True))
    grammar = data.draw(grammars(alphabet=alphabet, vocabulary=sample)).grammar
    compiler, size = compiler_of(sample), len(sample.contents)
    twin = compile_or_none(compiler, grammar)
    if twin is None:
        return
    walk = data.draw(st.lists(st.integers(0, 20), max_size=3))
    call = data.draw(calls(size, alphabet))
    accepted = walk_of(Matcher(twin), walk, size)
    before = observe(replay(twin, accepted), size)
    result = call(after := replay(twin, accepted))
    afterwards = observe(after, size)
    for fault in moments():
        matcher = replay(compiler.compile_grammar(grammar), accepted)
        try:
            with failing_after(fault):
                found = call(matcher)
        except LimitError as error:
            assert error.code == "limit"
            assert observe(matcher, size) == before
            assert call(matcher) == result
            assert observe(matcher, size) == afterwards
            continue
        assert found == result
        assert observe(matcher, size) == afterwards
        event(f"failed {fault - 1} times" if fault < 24 else "failed many times")
        return


@properties()
@given(st.data())
def test_a_compilation_that_fails_leaves_no_trace(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    sample = data.draw(vocabularies(alphabet))
    grammar = data.draw(grammars(alphabet=alphabet)).grammar
    size = len(sample.contents)
    expected = compile_or_none(compiler_of(sample), grammar)
    compiler = compiler_of(sample)
    for fault in (2**power for power in itertools.count()):
        try:
            with failing_after(fault):
                found = compile_or_none(compiler, grammar)
        except LimitError:
            continue
        assert (found is None) == (expected is None)
        if found is not None:
            assert observe(Matcher(found), size) == observe(Matcher(expected), size)
        return


@properties()
@given(st.data())
def test_a_work_limit_does_not_depend_on_what_ran_before(data: st.DataObject) -> None:
    """Compiling under a tight limit succeeds or fails the same, the first time and the second."""
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    sample = data.draw(vocabularies(alphabet))
    grammar = data.draw(grammars(alphabet=alphabet)).grammar
    limits = Limits(max_work=data.draw(st.integers(1, 400)))
    compiler = Compiler(vocabulary_of(sample), limits=limits)
    outcomes = [first_mask(compiler, grammar, len(sample.contents)) for _ in range(2)]
    outcomes.append(
        first_mask(Compiler(vocabulary_of(sample), limits=limits), grammar, len(sample.contents))
    )

    assert outcomes[0] == outcomes[1] == outcomes[2]


def first_mask(compiler: Compiler, grammar: Any, size: int) -> Any:
    try:
        compiled = compile_or_none(compiler, grammar)
        return None if compiled is None else mask_of(Matcher(compiled), size)
    except LimitError as error:
        return (error.limit, error.value, error.setting)


@pytest.mark.parametrize("setting", ["max_expressions", "max_work", "max_memory_bytes"])
def test_a_limit_error_names_its_setting(setting: str) -> None:
    from structag.grammar.builder import GrammarBuilder
    from structag.vocabulary import Vocabulary

    b = GrammarBuilder()
    rule = b.rule("r")
    parts = [b.literal(bytes(word)) for word in itertools.product(b"abcd", repeat=3)]
    b.define(rule, b.alt(b.seq(rule, rule), *parts))
    compiler = Compiler(Vocabulary.byte_level(), limits=Limits(**{setting: 3}))

    with pytest.raises(LimitError) as caught:
        mask_of(Matcher(compiler.compile_grammar(b.build(rule))), 257)

    assert caught.value.setting == setting
    assert caught.value.value == 3


def walk_of(matcher: Matcher, choices: list[int], size: int) -> list[int]:
    accepted: list[int] = []
    for choice in choices:
        tokens = sorted(mask_of(matcher, size))
        if not tokens:
            break
        accepted.append(tokens[choice % len(tokens)])
        assert matcher.accept_token(accepted[-1])
    return accepted


def replay(compiled: Any, accepted: list[int]) -> Matcher:
    matcher = Matcher(compiled)
    for token in accepted:
        assert matcher.accept_token(token)
    return matcher
