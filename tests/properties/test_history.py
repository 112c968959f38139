"""Rollback is replay, forks are independent, reset is new, a refusal changes nothing.

A matcher is driven by random operations next to the plain list of what it accepted; after every
operation it must look exactly like a new matcher that replays that list.
"""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import compile_or_none, compiler_of, mask_of, observe, properties
from support.strategies import ALPHABETS, VocabularySample, grammars, texts, vocabularies

from structag.compiler import CompiledGrammar
from structag.matcher import Matcher

OPERATIONS = ("accept", "accept", "accept", "try", "bytes", "rollback", "fork", "reset", "validate")


class Driven:
    """A matcher, and the list of what it accepted (tokens, or byte strings) beside it."""

    def __init__(self, compiled: CompiledGrammar, vocabulary: VocabularySample) -> None:
        self.compiled = compiled
        self.vocabulary = vocabulary
        self.size = len(vocabulary.contents)
        self.matcher = Matcher(compiled)
        self.accepted: list[int | bytes] = []

    def replay(self) -> Matcher:
        matcher = Matcher(self.compiled)
        for item in self.accepted:
            assert take(matcher, item)
        return matcher

    def check(self) -> None:
        assert self.matcher.history_size == len(self.accepted)
        assert observe(self.matcher, self.size) == observe(self.replay(), self.size)

    def try_to_take(self, item: int | bytes) -> None:
        expected = take(self.replay(), item)

        assert take(self.matcher, item) == expected
        if expected:
            self.accepted.append(item)

    def operate(self, data: st.DataObject, operation: str, alphabet: tuple[str, ...]) -> None:
        tokens = st.integers(0, self.size - 1)
        match operation:
            case "accept":
                allowed = sorted(mask_of(self.matcher, self.size))
                if allowed:
                    self.try_to_take(data.draw(st.sampled_from(allowed)))
            case "try":
                self.try_to_take(data.draw(tokens))
            case "bytes":
                if not self.matcher.is_terminated():
                    self.try_to_take(data.draw(texts(alphabet, max_size=3).filter(bool)))
            case "rollback":
                count = data.draw(st.integers(0, len(self.accepted)))
                self.matcher.rollback(count)
                del self.accepted[len(self.accepted) - count :]
            case "fork":
                other, self.matcher = self.matcher, self.matcher.fork()
                for token in data.draw(st.lists(tokens, max_size=3)):
                    other.accept_token(token)
                if data.draw(st.booleans()):
                    other.reset()
            case "reset":
                self.matcher.reset()
                self.accepted.clear()
            case "validate":
                ids = data.draw(st.lists(tokens, max_size=4))
                assert self.matcher.validate_tokens(ids) == accepted_count(self.replay(), ids)


def take(matcher: Matcher, item: int | bytes) -> bool:
    return matcher.accept_bytes(item) if isinstance(item, bytes) else matcher.accept_token(item)


def accepted_count(matcher: Matcher, token_ids: list[int]) -> int:
    for count, token in enumerate(token_ids):
        if not matcher.accept_token(token):
            return count
    return len(token_ids)


@properties()
@given(st.data(), st.booleans())
def test_any_operations_equal_replaying_what_was_accepted(
    data: st.DataObject, tokens: bool
) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    vocabulary = data.draw(vocabularies(alphabet, control=tokens))
    sample = data.draw(grammars(alphabet=alphabet, vocabulary=vocabulary if tokens else None))
    compiled = compile_or_none(compiler_of(vocabulary), sample.grammar)
    if compiled is None:
        event("nothing to match")
        return
    driven = Driven(compiled, vocabulary)
    for operation in data.draw(st.lists(st.sampled_from(OPERATIONS), min_size=2, max_size=10)):
        driven.operate(data, operation, alphabet)
        driven.check()
    event(f"history of {len(driven.accepted)}")


@properties()
@given(st.data())
def test_no_call_after_the_end_raises(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    vocabulary = data.draw(vocabularies(alphabet))
    sample = data.draw(grammars(alphabet=alphabet))
    compiled = compile_or_none(compiler_of(vocabulary), sample.grammar)
    if compiled is None:
        return
    matcher, size = Matcher(compiled), len(vocabulary.contents)
    for _ in range(8):
        if matcher.is_completed():
            break
        tokens = sorted(mask_of(matcher, size))
        if not tokens:
            return
        assert matcher.accept_token(data.draw(st.sampled_from(tokens)))
    if not matcher.is_completed():
        event("no end within the walk")
        return
    before = observe(matcher, size)
    assert matcher.accept_token(vocabulary.stop)
    for _ in range(2):
        assert matcher.is_terminated()
        assert mask_of(matcher, size) == {vocabulary.stop}
        for token in range(size):
            assert matcher.fork().accept_token(token) == (token == vocabulary.stop)
        assert not matcher.accept_bytes(b"a")
        assert not matcher.accept_string("a")
        assert matcher.find_jump_forward_string() == ""
        assert matcher.validate_tokens([vocabulary.stop, 0]) == (2 if vocabulary.stop == 0 else 1)
        assert matcher.accept_token(vocabulary.stop)
    matcher.rollback(3)

    assert observe(matcher, size) == before
    event("ended")


@properties()
@given(st.data())
def test_bytes_taken_at_once_or_one_by_one(data: st.DataObject) -> None:
    """`accept_bytes` takes all or nothing, and reaches the same state as byte by byte."""
    sample = data.draw(grammars())
    vocabulary = data.draw(vocabularies(sample.alphabet))
    compiled = compile_or_none(compiler_of(vocabulary), sample.grammar)
    if compiled is None:
        return
    whole, single, size = Matcher(compiled), Matcher(compiled), len(vocabulary.contents)
    string = data.draw(texts(sample.alphabet, max_size=6))
    before = observe(whole, size)
    taken = whole.accept_bytes(string)

    assert taken == all(single.accept_bytes(bytes([byte])) for byte in string)
    assert observe(whole, size) == (observe(single, size) if taken else before)


@properties()
@given(st.data())
def test_a_jump_string_is_the_only_way_on(data: st.DataObject) -> None:
    """What `find_jump_forward_string` returns can be taken, and nothing else can."""
    sample = data.draw(grammars())
    vocabulary = data.draw(vocabularies(sample.alphabet, complete=True))
    compiled = compile_or_none(compiler_of(vocabulary), sample.grammar)
    if compiled is None:
        return
    matcher = Matcher(compiled)
    for char in data.draw(st.lists(st.sampled_from(sample.alphabet), max_size=3)):
        if not matcher.accept_string(char):
            break
    jump = matcher.find_jump_forward_string().encode("utf-8")
    event("forced text" if jump else "nothing forced")
    for byte in jump:
        others = [x for x in range(256) if x != byte and matcher.fork().accept_bytes(bytes([x]))]

        assert not matcher.is_completed()
        assert others == []
        assert matcher.accept_bytes(bytes([byte]))
