"""Ctrl-C ends long calls of the core soon, and leaves everything usable."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from structag import Compiler, Matcher, Vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar
from structag.limits import Limits

SOON = 0.2 if "STRUCTAG_SANITIZED" not in os.environ else 2.0
"""Seconds of processor time from the signal to the exception."""

LIMITS = Limits(max_work=10**12, max_memory_bytes=1 << 32)
COMPILER = Compiler(Vocabulary.byte_level(), limits=LIMITS)


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def seconds_to_stop(call: Callable[[], object]) -> float:
    """How long `call` goes on after an interrupt, in processor time of this process."""
    sent: list[float] = []

    def interrupt() -> None:
        time.sleep(0.1)
        sent.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    has_ended = False
    stopped = 0.0
    try:
        call()
        has_ended = True
        thread.join()
    except KeyboardInterrupt:
        stopped = time.process_time()
    thread.join()
    assert not has_ended, "the call is too short"
    return stopped - sent[0]


def counted_words(count: int) -> Grammar:
    """Takes long to tell that something can match: words that are counted beside their length."""
    b = GrammarBuilder()
    words = b.repeat(b.alt(b.literal(b"ab"), b.literal(b"abc")), count, count)
    short = b.repeat(b.any_char, 0, 2 * count + 1)
    return b.build(b.both(words, short, b.complement(b.repeat(b.any_char, 0, 2 * count))))


def palindromes() -> Grammar:
    """Around a ``c``: every beginning needs a state of its own."""
    b = GrammarBuilder()
    start = b.rule("start")
    around = [b.seq(b.literal(letter), start, b.literal(letter)) for letter in (b"a", b"b")]
    b.define(start, b.alt(b.literal(b"c"), *around))
    return b.build(start)


def test_compiling() -> None:
    assert seconds_to_stop(lambda: COMPILER.compile_grammar(counted_words(20_000))) < SOON

    assert Matcher(COMPILER.compile_grammar(counted_words(2))).accept_string("abcab")


@pytest.mark.parametrize("pattern", ["[a-z]{1,100000000}", "[a-z]*"], ids=["new", "known"])
def test_accepting_a_text(pattern: str) -> None:
    matcher = Matcher(COMPILER.compile_regex(pattern))
    text = "abcdefgh" * (500_000 if "{" in pattern else 20_000_000)
    assert matcher.accept_string("a")

    def forever() -> None:  # however fast the machine is
        while True:
            assert matcher.fork().accept_string(text)

    assert seconds_to_stop(forever) < SOON

    assert matcher.accept_string("bc") and matcher.is_completed()
    matcher.rollback(1)
    assert not matcher.fork().accept_string("B")


def test_filling_a_mask() -> None:
    chance = random.Random(1)
    texts = {bytes(chance.choices(b"ab", k=40)) for _ in range(30_000)}
    tokens = [b"a", b"b", b"c", *sorted(texts), b"</s>"]
    stop = len(tokens) - 1
    vocabulary = Vocabulary.from_token_bytes(tokens, special=[stop], stop_token_ids=[stop])
    matcher = Matcher(Compiler(vocabulary, limits=LIMITS).compile_grammar(palindromes()))
    bitmask = np.zeros((1, (vocabulary.size + 31) // 32), dtype=np.int32)

    assert seconds_to_stop(lambda: matcher.fill_next_token_bitmask(bitmask)) < SOON

    assert not matcher.is_completed()
    assert matcher.accept_string("abbc") and not matcher.accept_string("a")
    assert all(map(matcher.accept_token, (1, 1, 0))) and matcher.is_completed()


def test_other_signals_are_handled_while_a_call_runs() -> None:
    seen: list[float] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.process_time()))
    try:
        thread = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGUSR1))
        thread.start()
        assert seconds_to_stop(lambda: COMPILER.compile_grammar(counted_words(20_000))) < SOON
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 1


HANDLER_CALLS = """
import signal, structag
from structag.limits import Limits

LIMITS = Limits(max_work=10**12, max_memory_bytes=1 << 32)
compiler = structag.Compiler(structag.Vocabulary.byte_level(), limits=LIMITS)
grammar = compiler.compile_regex(r"(?=(a|b)*a(a|b){14}$)(a|b){0,100000}")
matcher = structag.Matcher(grammar)
bitmask = structag.allocate_token_bitmask(1, grammar.vocabulary.size)
codes = []

def handler(*_):
    for call in (
        lambda: compiler.compile_regex("new"),
        lambda: structag.Matcher(grammar),
        lambda: matcher.fork().accept_string("b"),
        lambda: matcher.fork().fill_next_token_bitmask(bitmask),
        lambda: structag.BatchMatcher(1).fill_next_token_bitmask([matcher.fork()], bitmask),
        lambda: grammar.stats,
    ):
        try:
            call()
            codes.append("answered")
        except structag.StructagError as error:
            codes.append(error.code)

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
while not codes:
    structag.Matcher(grammar).accept_string("abbaabab" * 2_000)
assert set(codes) in ({"reentrant-call"}, {"answered"}), codes
if "answered" in codes:  # the signal came between two calls
    raise SystemExit(3)
assert matcher.accept_string("ab") and compiler.compile_regex("new")
"""


def test_a_handler_cannot_start_a_call_within_another() -> None:
    run = [sys.executable, "-c", HANDLER_CALLS]
    codes = [subprocess.run(run, cwd=Path(__file__).parent, timeout=120).returncode]
    while codes[-1] == 3 and len(codes) < 5:
        codes.append(subprocess.run(run, cwd=Path(__file__).parent, timeout=120).returncode)

    assert codes[-1] == 0


OTHERS_LOOK_ON = """
import random, threading, time
import structag

compiler = structag.Compiler(structag.Vocabulary.byte_level())
grammar = compiler.compile_regex(r"(?=(a|b)*a(a|b){14}$)(a|b){0,100000}")
is_over = threading.Event()

def look_on():
    while not is_over.is_set():
        grammar.stats, grammar.memory_bytes, structag.Matcher(grammar)

other = threading.Thread(target=look_on)
other.start()
draw = random.Random(1)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    structag.Matcher(grammar).accept_string("".join(draw.choice("ab") for _ in range(3000)))
is_over.set()
other.join()
"""


def test_others_may_look_on_at_a_long_call() -> None:
    """A call that asks for signals holds a lock and waits for the GIL; the reverse is forbidden."""
    subprocess.run(
        [sys.executable, "-c", OTHERS_LOOK_ON], cwd=Path(__file__).parent, check=True, timeout=120
    )
