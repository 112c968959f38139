"""Draft trees and long histories at their edges; tests/properties/test_drafts.py has the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from structag import Compiler, Matcher, MatcherError, Vocabulary

EOS = 256


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level())


def tree(first: list[int], sibling: list[int], tokens: list[Any]) -> list[np.ndarray]:
    ids = [ord(t) if isinstance(t, str) else t for t in tokens]
    return [np.array(numbers, np.int64) for numbers in (first, sibling, ids)]


def allowed(row: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


def test_a_tree_past_the_end_and_past_a_refusal(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("ab?"))
    # 0 ─ 1 a ─ 2 EOS ─ 3 EOS; 1 ─ 4 x ─ 5 b; node 6 hangs on nothing
    arrays = tree(
        [1, 2, 3, -1, 5, -1, -1], [-1, -1, 4, -1, -1, -1, -1], [0, "a", EOS, EOS, "x", "b", 0]
    )
    bitmask = np.full((7, 9), 7, np.int32)

    assert matcher.traverse_draft_tree(*arrays, bitmask, time_budget=60)

    assert allowed(bitmask[0]) == {ord("a")}
    assert allowed(bitmask[1]) == {ord("b"), EOS}
    assert allowed(bitmask[2]) == allowed(bitmask[3]) == {EOS}
    assert (bitmask[4:] == -1).all()
    assert matcher.history_size == 0 and not matcher.is_terminated()


def test_rows_that_time_did_not_suffice_for_allow_the_end_only(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("a*"))
    size = 4
    arrays = tree([1, 2, 3, -1], [-1] * size, [0, "a", "a", "a"])
    bitmask = np.full((size, 9), 7, np.int32)

    assert not matcher.traverse_draft_tree(*arrays, bitmask, time_budget=0)
    assert [allowed(row) for row in bitmask] == [{EOS}] * size
    assert matcher.history_size == 0


def test_a_draft_longer_than_the_states_that_are_kept(compiler: Compiler) -> None:
    size = 3000
    matcher = Matcher(compiler.compile_regex(f"ba{{{size}}}c?"))
    assert matcher.accept_string("b")
    bitmask = np.full((size + 1, 9), 7, np.int32)

    assert matcher.fill_draft_chain([ord("a")] * size, bitmask) == size

    assert all(allowed(row) == {ord("a")} for row in bitmask[:size])
    assert allowed(bitmask[size]) == {ord("c"), EOS}
    assert matcher.history_size == 1
    assert matcher.accept_string("a" * size + "c") and matcher.is_completed()


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        (tree([1, 0], [-1, -1], [0, "a"]), "draft-tree"),  # a loop
        (tree([1, -1, -1], [-1, 1, -1], [0, "a", "a"]), "draft-tree"),
        (tree([1, -1, -1], [-1, 2, 2], [0, "a", "a"]), "draft-tree"),
        (tree([7, -1], [-1, -1], [0, "a"]), "draft-tree"),  # out of range
        (tree([-2, -1], [-1, -1], [0, "a"]), "draft-tree"),
        (tree([1], [-1, -1], [0, "a"]), "draft-tree"),
        ([np.zeros(2, np.int32)] * 3, "draft-tree"),
        ([[1, -1], [-1, -1], [0, 97]], "draft-tree"),
        (tree([1, 2, 3, -1], [-1] * 4, [0, "a", "a", "a"]), "bitmask-shape"),  # one row too few
    ],
)
def test_arrays_that_make_no_tree_are_refused(
    compiler: Compiler, arrays: list[Any], code: str
) -> None:
    matcher = Matcher(compiler.compile_regex("a*"))
    with pytest.raises(MatcherError) as caught:
        matcher.traverse_draft_tree(*arrays, np.zeros((3, 9), np.int32))

    assert caught.value.code == code
    assert matcher.history_size == 0


def test_a_tree_without_nodes_is_no_work(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("a"))

    assert matcher.traverse_draft_tree(*tree([], [], []), np.zeros((0, 9), np.int32))


def test_a_deep_tree_costs_no_stack(compiler: Compiler) -> None:
    size = 3000
    matcher = Matcher(compiler.compile_regex("a*"))
    arrays = tree([*range(1, size), -1], [-1] * size, ["a"] * size)
    bitmask = np.zeros((size, 9), np.int32)

    assert matcher.traverse_draft_tree(*arrays, bitmask)
    assert {frozenset(allowed(row)) for row in bitmask} == {frozenset({ord("a"), EOS})}
    assert matcher.history_size == 0


def test_a_long_history_can_be_forked_and_rolled_back_anywhere(compiler: Compiler) -> None:
    """Longer than what copies share in one piece; the states tell where one is."""
    length = 3000
    compiled = compiler.compile_regex(f"(?:abc){{{length // 3}}}")
    text = b"abc" * (length // 3)
    matcher = Matcher(compiled)
    forks = []
    for i, token in enumerate(text):
        if i % 500 in (0, 499):
            forks.append((i, matcher.fork()))
        assert matcher.accept_token(token)
    assert matcher.is_completed()

    for i, fork in reversed(forks):
        assert fork.history_size == i and fork.allowed_bytes() == {text[i]}
    for count in (1, 511, 512, 513, 1, 1024, 7):
        matcher.rollback(count)
        at = matcher.history_size
        assert matcher.allowed_bytes() == {text[at]}
        copy = matcher.fork()
        assert copy.validate_tokens(list(text[at:])) == length - at
        copy.rollback(at)
        assert copy.allowed_bytes() == {ord("a")}
        assert all(matcher.accept_token(token) for token in text[at : at + 3])
    matcher.reset()
    assert matcher.history_size == 0 and matcher.validate_tokens(list(text)) == length
