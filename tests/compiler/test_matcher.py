"""`Matcher`: the calls of a generation loop, and what they do at the edges."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from structag import (
    BatchMatcher,
    Compiler,
    Limits,
    Matcher,
    MatcherError,
    Vocabulary,
    VocabularyError,
    load,
)

EOS = 256


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level())


def allowed(matcher: Matcher) -> set[int]:
    bitmask = np.zeros((1, 9), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


def test_a_generation_from_start_to_stop(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("ab?"))

    assert allowed(matcher) == {ord("a")}
    assert not matcher.accept_token(ord("b"))
    assert matcher.accept_token(ord("a"))
    assert allowed(matcher) == {ord("b"), EOS}
    assert matcher.is_completed() and not matcher.is_terminated()
    assert matcher.accept_token(EOS)
    assert matcher.is_terminated() and not matcher.is_completed()
    assert allowed(matcher) == {EOS}
    assert matcher.accept_token(EOS) and not matcher.accept_token(ord("b"))
    assert not matcher.accept_string("b") and matcher.accept_string("")
    matcher.rollback(2)
    assert matcher.accept_token(ord("b"))


@pytest.mark.parametrize("token", [-1, 257, 2**31, -(2**63), 2**80])
def test_ids_outside_the_vocabulary_are_refused(compiler: Compiler, token: int) -> None:
    matcher = Matcher(compiler.compile_regex("a"))

    assert not matcher.accept_token(token)
    assert matcher.validate_tokens([ord("a"), token]) == 1


def test_the_stop_tokens_of_a_matcher_replace_the_vocabularys(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("a+"), stop_token_ids=[ord("!"), ord("a")])

    assert allowed(matcher) == set()  # `a` now stops, so nothing can spell the text
    assert matcher.accept_string("a")
    assert allowed(matcher) == {ord("!"), ord("a")}
    assert not matcher.accept_token(EOS) and matcher.accept_token(ord("!"))
    with pytest.raises(VocabularyError):
        Matcher(compiler.compile_regex("a"), stop_token_ids=[999])


def test_rollback_further_than_the_start_changes_nothing(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("abc"))
    assert matcher.accept_string("a") and matcher.accept_string("b")

    for count in (3, -1, 2**40):
        with pytest.raises(MatcherError) as caught:
            matcher.rollback(count)
        assert caught.value.code == "matcher-state"
    assert matcher.history_size == 2
    assert matcher.accept_string("c")


def test_a_fork_goes_its_own_way_and_outlives_its_source(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("ab|ac"))
    assert matcher.accept_string("a")
    fork = matcher.fork()
    assert matcher.accept_string("b")
    del matcher
    gc.collect()

    assert fork.accept_string("c") and fork.is_completed()
    fork.reset()
    assert fork.history_size == 0 and fork.accept_string("ab")


@pytest.mark.parametrize(
    ("bitmask", "index"),
    [
        (np.zeros((1, 8), np.int32), 0),
        (np.zeros((2, 9), np.int32), 2),
        (np.zeros((2, 9), np.int32), -1),
        (np.zeros((1, 1, 9), np.int32), 0),
        (np.zeros((0, 9), np.int32), 0),
    ],
)
def test_a_bitmask_of_the_wrong_shape_is_refused(
    compiler: Compiler, bitmask: Any, index: int
) -> None:
    with pytest.raises(MatcherError) as caught:
        Matcher(compiler.compile_regex("a")).fill_next_token_bitmask(bitmask, index)

    assert caught.value.code == "bitmask-shape"


def test_words_beyond_the_vocabulary_are_cleared(compiler: Compiler) -> None:
    bitmask = np.full((2, 12), -1, dtype=np.int32)

    assert Matcher(compiler.compile_regex("a")).fill_next_token_bitmask(bitmask, 1)

    assert (bitmask[0] == -1).all() and (bitmask[1, 9:] == 0).all()


def test_nothing_needs_to_be_applied_when_all_is_allowed() -> None:
    vocabulary = Vocabulary.from_token_bytes(
        [b"a", b"b", b"<end>"], special=[2], stop_token_ids=[2]
    )
    matcher = Matcher(Compiler(vocabulary).compile_regex("[ab]*"))

    assert not matcher.fill_next_token_bitmask(np.zeros((1, 1), dtype=np.int32))


def test_the_jump_string_is_forced_and_ends_at_a_character(compiler: Compiler) -> None:
    assert Matcher(compiler.compile_regex("héllo[1-9]")).find_jump_forward_string() == "héllo"
    assert Matcher(compiler.compile_regex("[éè]")).find_jump_forward_string() == ""
    assert Matcher(compiler.compile_regex("(ab)?")).find_jump_forward_string() == ""


def test_allowed_bytes_are_what_may_come_next_as_text(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("a|é"))

    assert matcher.allowed_bytes() == {ord("a"), 0xC3}
    assert matcher.accept_bytes(b"\xc3") and matcher.allowed_bytes() == {0xA9}


def test_matchers_of_one_grammar_run_on_many_threads(compiler: Compiler) -> None:
    compiled = compiler.compile_json_schema(True)
    text = '{"a": [1, 2.5, {"b": "c\\u00e9"}], "d": null}'
    masks: list[list[set[int]]] = []

    def run() -> None:
        matcher = Matcher(compiled)
        seen = []
        for byte in text.encode():
            seen.append(allowed(matcher))
            assert matcher.accept_token(byte)
        masks.append(seen)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(masks) == 8 and all(seen == masks[0] for seen in masks)


@pytest.mark.parametrize(
    "bitmask",
    [
        np.zeros((1, 9), np.int64),
        np.zeros((1, 9), np.float32),
        np.zeros((1, 18), np.int32)[:, ::2],
        np.zeros((9, 2), np.int32).T,
        np.broadcast_to(np.zeros(9, np.int32), (2, 9)),
        [[0] * 9],
        None,
    ],
    ids=["int64", "float32", "strided", "transposed", "read-only", "list", "none"],
)
def test_a_bitmask_that_would_have_to_be_copied_is_refused(
    compiler: Compiler, bitmask: Any
) -> None:
    with pytest.raises(MatcherError) as caught:
        Matcher(compiler.compile_regex("a")).fill_next_token_bitmask(bitmask)

    assert caught.value.code == "bitmask-shape"


def test_rows_with_equal_ids_are_equal(compiler: Compiler) -> None:
    rows: dict[int, frozenset[int]] = {}
    for stops in (None, [EOS, ord("!")], []):
        for pattern in ("a[bc]d?", "[bc]d?|a[bc]", "(a|b)*", "(a|b|c)*", "a[bc]!?"):
            matcher = Matcher(compiler.compile_regex(pattern), stop_token_ids=stops)
            for token in (None, ord("a"), ord("c"), EOS, EOS):
                if token is not None:
                    matcher.accept_token(token)
                row = frozenset(allowed(matcher))
                assert rows.setdefault(matcher.mask_id(), row) == row

    assert len(set(rows.values())) > 5
    twins = [Matcher(compiler.compile_regex(pattern)) for pattern in ("a[bc]", "[ax][bc]d")]
    assert twins[0].mask_id() != twins[1].mask_id()
    assert all(twin.accept_string("a") for twin in twins)
    assert twins[0].mask_id() == twins[1].mask_id() == twins[0].fork().mask_id()


def test_ids_that_are_no_integers_are_a_mistake(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex("a"))

    assert matcher.accept_token(np.int64(ord("a")))
    for token in (97.5, "97", None):
        with pytest.raises(TypeError):
            matcher.accept_token(token)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [3, [97], "a", None])
def test_only_bytes_are_accepted_as_bytes(compiler: Compiler, wrong: Any) -> None:
    matcher = Matcher(compiler.compile_regex(r"\x00*|a"))
    with pytest.raises(TypeError):
        matcher.accept_bytes(wrong)
    assert matcher.accept_bytes(bytearray(b"a")) and matcher.is_completed()


@pytest.mark.parametrize("wrong", [None, "a+"])
def test_a_matcher_is_for_a_compiled_grammar(wrong: Any) -> None:
    with pytest.raises(TypeError, match="CompiledGrammar"):
        Matcher(wrong)


def test_doubled_rules_that_may_be_empty_cost_what_they_show(compiler: Compiler) -> None:
    """Sixty doublings of `"a"?` are 2**60 places for an `a`; each rule is opened once."""
    doublings = [f"r{k} ::= r{k + 1} r{k + 1}" for k in range(60)]
    text = "\n".join(["root ::= r0", *doublings, 'r60 ::= "a"?'])
    limited = Compiler(compiler.vocabulary, limits=Limits(max_work=100_000))
    matcher = Matcher(limited.compile_ebnf(text))

    assert matcher.is_completed()
    assert matcher.allowed_bytes() == {ord("a")}
    assert matcher.accept_string("a" * 50) and matcher.is_completed()


def test_a_matcher_on_many_threads_refuses_calls_and_stays_whole(compiler: Compiler) -> None:
    matcher = Matcher(compiler.compile_regex(r"(?=(a|b)*a(a|b){9}$)(a|b){0,100000}c?"))
    calls: list[Callable[[], object]] = [
        lambda: matcher.accept_string("abbaab" * 20),
        lambda: matcher.accept_token(ord("a")),
        lambda: matcher.rollback(1),
        lambda: matcher.reset(),
        lambda: matcher.fork().accept_string("ab"),
        lambda: allowed(matcher),
        lambda: matcher.is_completed(),
        lambda: BatchMatcher(1).accept_token([matcher], [ord("b")]),
    ]
    codes: set[str | None] = set()
    end = time.monotonic() + 0.5

    def call(seed: int) -> None:
        chance = random.Random(seed)
        while time.monotonic() < end:
            try:
                chance.choice(calls)()
            except MatcherError as error:
                codes.add(error.code)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert codes <= {"matcher-busy", "matcher-state"}
    matcher.reset()
    assert matcher.accept_string("abbabaabab") and not matcher.accept_string("d")


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.accept_string(5),
        lambda m: m.accept_string(None),
        lambda m: m.rollback(None),
        lambda m: m.rollback(1.0),
        lambda m: m.accept_token("a"),
        lambda m: m.grammar.vocabulary.token_bytes("a"),
        lambda m: BatchMatcher("2"),
        lambda m: load(m.grammar.to_bytes(), "deepseek"),
    ],
)
def test_wrong_types_are_named(compiler: Compiler, call: Callable[[Any], object]) -> None:
    matcher = Matcher(compiler.compile_regex("ab"))
    assert matcher.accept_string("a")

    with pytest.raises(TypeError, match=r"int|float|str|NoneType") as caught:
        call(matcher)

    assert "incompatible function arguments" not in str(caught.value)
    assert "supported between" not in str(caught.value)
    assert matcher.accept_string("b")
