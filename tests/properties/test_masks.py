"""Masks: a bit is set exactly when accept takes the token; nothing viable is missing, no dead end.

Against the reference, on tiny vocabularies, in both directions as in `test_language`: a token that
leads to an accepted sequence among all short ones is offered, and what is offered has a witness.
"""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import (
    LIMITS,
    accepted_one_by_one,
    allowed_bytes_one_by_one,
    compile_or_none,
    compiler_of,
    mask_of,
    prefixes,
    properties,
    token_completion,
    words,
)
from support.reference_matcher import ReferenceMatcher
from support.strategies import (
    ALPHABETS,
    GrammarSample,
    VocabularySample,
    grammars,
    keyed_lists,
    shapes,
    vocabularies,
)

from structag.compiler import Compiler
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

BYTE_LEVEL = Compiler(Vocabulary.byte_level(), limits=LIMITS)
STEPS = 6
SEQUENCES = 400
"""How many token sequences are tried in each example, about."""


class Example:
    """A grammar and a vocabulary that were drawn together."""

    def __init__(self, grammar: GrammarSample, vocabulary: VocabularySample) -> None:
        self.grammar = grammar
        self.vocabulary = vocabulary
        self.size = len(vocabulary.contents)

    def __repr__(self) -> str:
        return f"Example({self.grammar!r}, {self.vocabulary!r})"


@st.composite
def examples(draw: st.DrawFn, *, complete: bool = False, tokens: bool = False) -> Example:
    """`complete`: every byte is a token; `tokens`: the grammar names tokens and has budgets."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    vocabulary = draw(vocabularies(alphabet, complete=complete, control=tokens))
    named = vocabulary if tokens else None
    return Example(draw(grammars(alphabet=alphabet, vocabulary=named)), vocabulary)


@st.composite
def list_examples(draw: st.DrawFn) -> Example:
    alphabet = draw(st.sampled_from(ALPHABETS))
    vocabulary = draw(vocabularies(alphabet, complete=True))
    return Example(draw(keyed_lists(alphabet=alphabet)), vocabulary)


def check_masks_on_a_walk(data: st.DataObject, example: Example, *, safe: bool) -> None:
    compiled = compile_or_none(compiler_of(example.vocabulary), example.grammar.grammar)
    if compiled is None:
        event("nothing to match")
        return
    matcher = Matcher(compiled)
    for step in range(STEPS):
        mask = mask_of(matcher, example.size)

        assert mask == accepted_one_by_one(matcher, range(-1, example.size + 1))
        assert matcher.allowed_bytes() == allowed_bytes_one_by_one(matcher)
        assert mask or not safe
        assert not matcher.is_completed() or example.vocabulary.stop in mask
        tokens = mask - {example.vocabulary.stop}
        if not tokens:
            event(f"ended after {step} tokens")
            return
        assert matcher.accept_token(data.draw(st.sampled_from(sorted(tokens))))
        assert not matcher.is_terminated()
    event("still going")


@properties()
@given(st.data(), examples(complete=True))
def test_mask_is_what_accept_takes_and_is_never_empty(
    data: st.DataObject, example: Example
) -> None:
    check_masks_on_a_walk(data, example, safe=True)


@properties()
@given(st.data(), list_examples())
def test_lists_of_items_that_differ_do_not_run_out_of_items(
    data: st.DataObject, example: Example
) -> None:
    check_masks_on_a_walk(data, example, safe=True)


@properties()
@given(st.data(), examples(complete=True, tokens=True))
def test_mask_is_what_accept_takes_with_token_rules(data: st.DataObject, example: Example) -> None:
    check_masks_on_a_walk(data, example, safe=True)


@properties()
@given(st.data(), examples(tokens=True))
def test_mask_is_what_accept_takes_on_unsafe_vocabularies(
    data: st.DataObject, example: Example
) -> None:
    check_masks_on_a_walk(data, example, safe=False)


def sequence_length(size: int) -> int:
    length = 1
    while size ** (length + 1) <= SEQUENCES and length < 5:
        length += 1
    return length


def check_against_the_reference(example: Example) -> None:
    """All short token sequences, the stop token among them where the grammar names it."""
    reference = ReferenceMatcher(example.grammar.grammar, example.vocabulary.table)
    every = list(words(range(example.size), sequence_length(example.size)))
    accepted = {sequence for sequence in every if reference.accepts_tokens(sequence)}
    viable = prefixes(accepted)
    compiled = compile_or_none(compiler_of(example.vocabulary), example.grammar.grammar)
    event("non-empty" if accepted else "empty as far as tried")
    if len(accepted) > 3:
        for shape in shapes(example.grammar):
            event(shape)
    if compiled is None:
        assert not accepted
        return
    stop = example.vocabulary.stop
    alive: dict[tuple[int, ...], Matcher] = {(): Matcher(compiled)}
    unproved: list[tuple[int, ...]] = []
    for sequence in every:
        matcher = alive.get(sequence[:-1])
        if matcher is None:
            continue
        if sequence:
            was_complete = matcher.is_completed()
            matcher = matcher.fork()
            if not matcher.accept_token(sequence[-1]):
                assert sequence not in viable
                assert not (was_complete and sequence[-1] == stop)
                continue
            if matcher.is_terminated():
                assert sequence[-1] == stop
                assert was_complete or sequence in accepted
                continue
        alive[sequence] = matcher
        assert matcher.is_completed() == (sequence in accepted)
        if sequence not in viable:
            unproved.append(sequence)
    for sequence in unproved[:4]:
        rest = token_completion(alive[sequence], example.size, stop)
        event("witness found" if rest is not None else "no witness within the budget")
        if rest is not None and len(sequence) + len(rest) <= 9:
            assert reference.accepts_tokens(sequence + rest), sequence + rest


@properties()
@given(examples())
def test_all_short_token_sequences(example: Example) -> None:
    check_against_the_reference(example)


@properties()
@given(examples(tokens=True))
def test_all_short_token_sequences_with_token_rules(example: Example) -> None:
    check_against_the_reference(example)


@properties()
@given(st.data(), examples())
def test_unsafe_vocabularies_look_one_token_ahead(data: st.DataObject, example: Example) -> None:
    """A token is offered iff its bytes are viable and then the end or some token's bytes are."""
    compiled = compile_or_none(compiler_of(example.vocabulary), example.grammar.grammar)
    spelled = compile_or_none(BYTE_LEVEL, example.grammar.grammar)
    if compiled is None or spelled is None:
        return
    matcher, bytewise = Matcher(compiled), Matcher(spelled)
    ordinary = example.vocabulary.ordinary
    contents = example.vocabulary.contents
    for _ in range(STEPS):
        mask = mask_of(matcher, example.size) - {example.vocabulary.stop}
        expected = {t for t in ordinary if can_follow(bytewise, contents[t], contents, ordinary)}

        assert mask == expected
        if not mask:
            return
        token = data.draw(st.sampled_from(sorted(mask)))
        assert matcher.accept_token(token)
        assert bytewise.accept_bytes(contents[token])


def can_follow(
    bytewise: Matcher, content: bytes, contents: tuple[bytes, ...], ordinary: list[int]
) -> bool:
    after = bytewise.fork()
    if not after.accept_bytes(content):
        return False
    return after.is_completed() or any(after.fork().accept_bytes(contents[t]) for t in ordinary)
