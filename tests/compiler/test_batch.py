"""`BatchMatcher`: what single calls do, for many matchers; who fails fails alone."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structag import BatchMatcher, Compiler, LimitError, Limits, Matcher, MatcherError, Vocabulary

EOS = 256
PATTERNS = ("a[bc]d?", "(ab)*", "[^a]+", "a")


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level())


@pytest.fixture
def batch() -> BatchMatcher:
    return BatchMatcher(threads=3)


@pytest.fixture
def matchers(compiler: Compiler) -> list[Matcher]:
    return [Matcher(compiler.compile_regex(pattern)) for pattern in PATTERNS]


def row_of(matcher: Matcher) -> list[int]:
    bitmask = np.zeros(9, np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    return bitmask.tolist()


def failing_matcher() -> Matcher:
    """One that reaches its limit on work in its first mask; of another vocabulary, of 677 ids."""
    pairs = [bytes([a, b]) for a in range(97, 123) for b in range(97, 123)]
    vocabulary = Vocabulary.from_token_bytes(pairs, special={676: "<end>"}, stop_token_ids=676)
    return Matcher(Compiler(vocabulary, limits=Limits(max_work=200)).compile_regex("[a-z]{0,90}"))


def test_every_matcher_gets_its_row(batch: BatchMatcher, matchers: list[Matcher]) -> None:
    bitmask = np.full((6, 9), 7, np.int32)

    result = batch.fill_next_token_bitmask(matchers, bitmask, [5, 0, -1, 2])

    assert result.values == [True] * 4 and result.errors == {}
    for row, matcher in ((5, 0), (0, 1), (2, 3)):
        assert bitmask[row].tolist() == row_of(matchers[matcher])
    assert (bitmask[[1, 3, 4]] == 7).all()
    assert batch.fill_next_token_bitmask(matchers, bitmask).errors == {}
    assert bitmask[:4].tolist() == [row_of(matcher) for matcher in matchers]


def test_tokens_are_taken_refused_or_padding(batch: BatchMatcher, matchers: list[Matcher]) -> None:
    result = batch.accept_token(matchers, [ord("a"), ord("b"), -1, 2**70])

    assert result.values == [True, False, True, False] and result.errors == {}
    assert [matcher.history_size for matcher in matchers] == [1, 0, 0, 0]
    tokens = np.array([ord("b"), ord("a"), ord("b"), ord("a")])
    assert batch.accept_token(matchers, tokens).values == [True] * 4
    assert batch.rollback(matchers, [2, 0, 2, 1]).values == [True, True, False, True]
    assert [matcher.history_size for matcher in matchers] == [0, 1, 1, 0]
    assert batch.rollback(matchers).values == [False, True, True, False]


def test_draft_chains_are_those_of_each_matcher(
    batch: BatchMatcher, matchers: list[Matcher]
) -> None:
    drafts = [[ord(c) if c != "-" else -1 for c in text] for text in ("ab-", "aba", "xyz", "b--")]
    bitmask, single = np.zeros((16, 9), np.int32), np.zeros((16, 9), np.int32)

    result = batch.fill_draft_chains(matchers, drafts, bitmask)

    assert result.values == [2, 3, 3, 0] and result.errors == {}
    for i, matcher in enumerate(matchers):
        assert matcher.fill_draft_chain(drafts[i], single, 4 * i) == result.values[i]
        assert matcher.history_size == 0
    assert bitmask.tolist() == single.tolist()
    assert (bitmask[[3, 13, 14, 15]] == -1).all()
    moved = np.zeros((12, 9), np.int32)
    assert batch.fill_draft_chains(matchers, drafts, moved, [8, -1, 4, 0]).values == [2, 0, 3, 0]
    assert moved.tolist() == np.vstack([bitmask[12:], bitmask[8:12], bitmask[:4]]).tolist()


def test_masks_are_numbered(batch: BatchMatcher, matchers: list[Matcher]) -> None:
    again = [matcher.fork() for matcher in matchers]

    result = batch.mask_ids([*matchers, *again])

    assert result.errors == {}
    assert result.values == [matcher.mask_id() for matcher in matchers] * 2
    assert len(set(result.values)) == len({tuple(row_of(matcher)) for matcher in matchers})
    failed = batch.mask_ids([matchers[0], failing_matcher()])
    assert failed.values[0] == matchers[0].mask_id() and list(failed.errors) == [1]


def test_who_fails_fails_alone(batch: BatchMatcher, matchers: list[Matcher]) -> None:
    group = [matchers[0], failing_matcher(), matchers[3]]
    bitmask = np.full((3, 22), 7, np.int32)

    result = batch.fill_next_token_bitmask(group, bitmask)

    assert result.values == [True, False, True] and list(result.errors) == [1]
    assert isinstance(result.errors[1], LimitError) and result.errors[1].setting == "max_work"
    stop_only = [0] * 21 + [1 << 676 % 32]
    assert bitmask[1].tolist() == stop_only  # so that sampling goes on
    assert bitmask[[0, 2], :9].tolist() == [row_of(matchers[0]), row_of(matchers[3])]
    chains = np.zeros((6, 22), np.int32)
    result = batch.fill_draft_chains(group, [[97], [0], [97]], chains)
    assert result.values == [1, 0, 1] and list(result.errors) == [1]
    assert chains[2:4].tolist() == [stop_only] * 2
    assert batch.accept_token(group, [97] * 3).values == [True] * 3


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda b, m: b.accept_token([m[0], m[1], m[0]], [97] * 3), "batch"),
        (lambda b, m: b.fill_next_token_bitmask([m[0], m[0]], np.zeros((2, 9), np.int32)), "batch"),
        (lambda b, m: b.mask_ids([m[2], m[2]]), "batch"),
        (lambda b, m: b.accept_token(m, [97]), "batch"),
        (lambda b, m: b.rollback(m, [0] * 5), "batch"),
        (
            lambda b, m: b.fill_next_token_bitmask(m, np.zeros((4, 9), np.int32), [0, 1, 2, 2]),
            "batch",
        ),
        (lambda b, m: b.fill_next_token_bitmask(m, np.zeros((3, 9), np.int32)), "batch"),
        (lambda b, m: b.fill_next_token_bitmask(m, np.zeros((4, 8), np.int32)), "bitmask-shape"),
        (lambda b, m: b.fill_next_token_bitmask(m, np.zeros((4, 9))), "bitmask-shape"),
        (lambda b, m: b.fill_draft_chains(m, [97] * 4, np.zeros((8, 9), np.int32)), "batch"),
        (lambda b, m: b.fill_draft_chains(m, [[97]] * 4, np.zeros((7, 9), np.int32)), "batch"),
        (lambda b, m: b.fill_draft_chains(m, [[97]] * 3, np.zeros((8, 9), np.int32)), "batch"),
        (lambda b, m: BatchMatcher(threads=0), "batch"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_as_a_whole(
    batch: BatchMatcher, matchers: list[Matcher], call: Any, code: str
) -> None:
    with pytest.raises(MatcherError) as caught:
        call(batch, matchers)

    assert caught.value.code == code
    assert [matcher.history_size for matcher in matchers] == [0] * 4
    assert batch.accept_token(matchers, [97, 97, 98, 97]).values == [True] * 4


@pytest.mark.parametrize("given", [None, 1, "a"])
def test_what_is_no_matcher_is_named(
    batch: BatchMatcher, matchers: list[Matcher], given: Any
) -> None:
    bitmask = np.zeros((2, 9), dtype=np.int32)
    listed = [matchers[0], given]
    message = rf"matchers\[1\] is a `{type(given).__name__}`, expected a `Matcher`"
    for call in (
        lambda: batch.fill_next_token_bitmask(listed, bitmask),
        lambda: batch.accept_token(listed, [1, 1]),
        lambda: batch.rollback(listed),
        lambda: batch.mask_ids(listed),
        lambda: batch.fill_draft_chains(listed, [[1], [1]], bitmask),
    ):
        with pytest.raises(TypeError, match=f"^{message}$"):
            call()


@pytest.mark.parametrize("given", [None, 0.5, "a"])
def test_what_is_no_integer_is_no_bitmask_error(
    batch: BatchMatcher, matchers: list[Matcher], given: Any
) -> None:
    bitmask = np.zeros((2, 9), dtype=np.int32)
    message = f"'{type(given).__name__}' object cannot be interpreted as an integer"
    with pytest.raises(TypeError, match=message):
        batch.fill_next_token_bitmask(matchers[:1], bitmask, [given])
    with pytest.raises(TypeError, match=message):
        batch.accept_token(matchers[:1], [given])


def test_an_empty_batch_is_no_work(batch: BatchMatcher) -> None:
    assert batch.fill_next_token_bitmask([], np.zeros((0, 9), np.int32)) == ([], {})
    assert batch.accept_token([], []) == ([], {})


def test_torch_tensors_are_taken(batch: BatchMatcher, matchers: list[Matcher]) -> None:
    torch = pytest.importorskip("torch")
    bitmask = torch.zeros((4, 9), dtype=torch.int32)
    if torch.cuda.is_available():
        bitmask = bitmask.pin_memory()

    result = batch.fill_next_token_bitmask(matchers, bitmask, torch.tensor([3, 2, 1, 0]))

    assert result.errors == {}
    assert bitmask.tolist() == [row_of(matcher) for matcher in reversed(matchers)]


def test_threads_help_and_several_callers_take_turns() -> None:
    """New grammars in one call, so that it takes long; the same rows as one by one."""
    compiler = Compiler(Vocabulary.byte_level())
    schemas = [
        {"type": "string", "pattern": f"^[a-{chr(99 + k)}]{{2,40}}$", "maxLength": 30 + k}
        for k in range(20)
    ]
    single = [Matcher(Compiler(compiler.vocabulary).compile_json_schema(s)) for s in schemas]
    for matcher in single:
        assert matcher.accept_string('"ab')
    expected = [row_of(matcher) for matcher in single]
    batch = BatchMatcher(threads=4)
    seen: list[list[list[int]]] = []

    def run() -> None:
        matchers = [Matcher(compiler.compile_json_schema(schema)) for schema in schemas]
        bitmask = np.zeros((20, 9), np.int32)
        for token in b'"ab':
            assert batch.accept_token(matchers, [token] * 20).values == [True] * 20
            assert batch.fill_next_token_bitmask(matchers, bitmask).errors == {}
        seen.append(bitmask.tolist())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [expected] * 4


@pytest.mark.forks
def test_a_forked_process_goes_on() -> None:
    """Its parent's helping threads are not there: it starts its own, and ends."""
    program = """if True:
        import os, sys, numpy as np, structag
        compiler = structag.Compiler(structag.Vocabulary.byte_level())
        batch = structag.BatchMatcher(threads=3)

        def use(number):
            sizes = range(9 * number, 9 * number + 9)
            patterns = [f"([a-c]{{1,{n}}}x?[b-z]{{2,40}}){{2,9}}" for n in sizes]
            matchers = [structag.Matcher(compiler.compile_regex("a" + p)) for p in patterns]
            bitmask = np.zeros((9, 9), np.int32)
            for token in b"abbaa":
                assert not batch.fill_next_token_bitmask(matchers, bitmask).errors
                assert all(batch.accept_token(matchers, [token] * 9).values)

        use(1)
        child = os.fork()
        use(2)
        if child:
            sys.exit(os.waitpid(child, 0)[1])
    """
    run = [sys.executable, "-c", program]

    assert subprocess.run(run, cwd=Path(__file__).parent, timeout=120, check=False).returncode == 0
