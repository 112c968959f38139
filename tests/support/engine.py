"""How the property tests drive the engine: vocabularies, masks as sets, walks and witnesses.

`explore` and `completion` look at the engine through its public methods only.  A *witness* is a
string or token sequence that the engine itself accepts to the end; whether it is right to do so is
then for the reference matcher to say.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, event, reject, settings
from support.strategies import GrammarSample, VocabularySample

from structag.compiler import Compiler
from structag.errors import GrammarError, LimitError, VocabularyError
from structag.grammar.expressions import Grammar
from structag.limits import Limits
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

LIMITS = Limits(max_work=2_000_000)
"""Ample for tiny grammars; an engine that needs more for one of them has failed."""

LENGTHS = {1: 8, 2: 6, 3: 4}
"""How long all strings over so many bytes may get; 3 for larger alphabets."""

OTHER_BYTES = tuple(b'z0" \xc3\xa9\xff\x00')


def properties(share: int = 1) -> settings:
    """Settings of a property, which may be slow where the reference matcher is.

    `share`: draw only one in so many of the usual number of examples, for they are dear.
    """
    return settings(
        max_examples=max(1, settings().max_examples // share),
        deadline=None,
        print_blob=True,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
        ],
    )


def vocabulary_of(sample: VocabularySample) -> Vocabulary:
    """`sample` as the engine takes it."""
    return Vocabulary.from_token_bytes(
        list(sample.contents),
        special=sorted(sample.control),
        user_defined=sorted(sample.user_defined),
        stop_token_ids=[sample.stop],
    )


def compiler_of(sample: VocabularySample) -> Compiler:
    """A new compiler for `sample`."""
    return Compiler(vocabulary_of(sample), limits=LIMITS)


def compile_or_none(compiler: Compiler, grammar: Grammar) -> Any:
    """`grammar`, compiled, or None if it derives nothing at all or nothing that can be spelled.

    Limits of the test's own, and faults that it injects, are its own business.
    """
    try:
        return compiler.compile_grammar(grammar)
    except LimitError as error:  # what cannot be decided within the limit is refused, never guessed
        assert error.setting == "max_work"
        if error.value != LIMITS.max_work:
            raise
        event("over the limit on work")
        reject()
    except (GrammarError, VocabularyError) as error:
        if error.code == "grammar-operand":  # a budget in a loop that need not consume
            reject()
        assert error.code in ("grammar-empty", "vocabulary-spelling")
        return None


def mask_of(matcher: Matcher, size: int) -> set[int]:
    """The tokens that the mask allows."""
    bitmask = np.full((1, (size + 31) // 32), -1, dtype=np.int32)
    restricts = matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    assert not bits[size:].any()
    assert restricts == (not bits[:size].all())
    return set(np.flatnonzero(bits).tolist())


def accepted_one_by_one(matcher: Matcher, token_ids: Iterable[int]) -> set[int]:
    """The tokens that a fork takes."""
    return {token for token in token_ids if matcher.fork().accept_token(token)}


def allowed_bytes_one_by_one(matcher: Matcher) -> set[int]:
    """The bytes that a fork takes."""
    return {byte for byte in range(256) if matcher.fork().accept_bytes(bytes([byte]))}


def observe(matcher: Matcher, size: int) -> tuple[Any, ...]:
    """All that can be seen of a matcher without changing it, apart from its history."""
    return (
        matcher.allowed_bytes(),
        frozenset(mask_of(matcher, size)),
        matcher.is_completed(),
        matcher.is_terminated(),
        matcher.find_jump_forward_string(),
    )


def words(alphabet: Sequence[int], length: int | None = None) -> Iterator[tuple[int, ...]]:
    """All strings over `alphabet`, short ones first."""
    most = longest(alphabet) if length is None else length
    for size in range(most + 1):
        yield from itertools.product(alphabet, repeat=size)


def longest(alphabet: Sequence[int]) -> int:
    """How long all strings over `alphabet` may get."""
    return LENGTHS.get(len(alphabet), 3)


def prefixes(strings: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Every prefix of `strings`, the whole ones included."""
    return {string[:size] for string in strings for size in range(len(string) + 1)}


def completion(matcher: Matcher, sample: GrammarSample, budget: int = 400) -> bytes | None:
    """A shortest string that completes `matcher`, over few bytes; None if none was found soon."""
    candidates = tuple(dict.fromkeys((*sample.bytes, *OTHER_BYTES)))
    queue = deque([(matcher, b"")])
    while queue and budget > 0:
        state, done = queue.popleft()
        if state.is_completed():
            return done
        allowed = state.allowed_bytes()
        likely = [byte for byte in candidates if byte in allowed] or sorted(allowed)[:2]
        for byte in likely:
            budget -= 1
            child = state.fork()
            assert child.accept_bytes(bytes([byte]))
            queue.append((child, done + bytes([byte])))
    return None


def token_completion(
    matcher: Matcher, size: int, stop: int, budget: int = 200
) -> tuple[int, ...] | None:
    """A shortest sequence of tokens that completes `matcher`; None if none was found soon."""
    queue: deque[tuple[Matcher, tuple[int, ...]]] = deque([(matcher, ())])
    while queue and budget > 0:
        state, done = queue.popleft()
        if state.is_completed():
            return done
        for token in sorted(mask_of(state, size) - {stop}):
            budget -= 1
            child = state.fork()
            assert child.accept_token(token)
            queue.append((child, (*done, token)))
    return None
