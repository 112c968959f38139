"""The engine accepts exactly the language: all short strings, against the reference matcher.

Liveness is checked from both sides.  What the engine refuses has no accepted extension among all
strings up to the length tried; what it lets live has one there, or else the engine can show a
completion, and the reference accepts the whole of it.
"""

from __future__ import annotations

import itertools

from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import (
    LIMITS,
    compile_or_none,
    completion,
    longest,
    prefixes,
    properties,
    words,
)
from support.reference_matcher import ReferenceMatcher
from support.strategies import GrammarSample, byte_strings, grammars, keyed_lists, shapes

from structag.compiler import Compiler
from structag.grammar.builder import CODECS
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

COMPILER = Compiler(Vocabulary.byte_level(), limits=LIMITS)
ESCAPED = ('"', "\\", "n", "é", "a")
WITNESSES = 4
"""How many states without a short continuation are asked for a witness in each example."""


def check_all_words(sample: GrammarSample) -> None:
    reference = ReferenceMatcher(sample.grammar)
    # Each word is a prefix of a longest one.
    whole = itertools.product(sample.bytes, repeat=longest(sample.bytes))
    accepted = {found for word in whole for found in reference.accepted_prefixes(word)}
    compiled = compile_or_none(COMPILER, sample.grammar)
    event("non-empty" if accepted else "empty as far as tried")
    if len(accepted) > 3:
        for shape in shapes(sample):
            event(shape)
    if compiled is None:
        assert not accepted
        return
    viable = prefixes(accepted)
    alive: dict[tuple[int, ...], Matcher] = {(): Matcher(compiled)}
    unproved: list[tuple[int, ...]] = []
    for word in words(sample.bytes):
        matcher = alive.get(word[:-1])
        if matcher is None:
            continue
        if word:
            matcher = matcher.fork()
            if not matcher.accept_bytes(bytes(word[-1:])):
                assert word not in viable
                continue
        alive[word] = matcher
        assert matcher.is_completed() == (word in accepted), bytes(word)
        if word not in viable:
            unproved.append(word)
    for word in unproved[:WITNESSES]:
        check_witness(reference, sample, alive[word], bytes(word))


def check_witness(
    reference: ReferenceMatcher, sample: GrammarSample, matcher: Matcher, word: bytes
) -> None:
    """What lives without a short continuation has a longer one."""
    rest = completion(matcher, sample)
    event("witness found" if rest is not None else "no witness within the budget")
    if rest is not None:
        assert reference.accepts(word + rest), word + rest


@properties()
@given(grammars())
def test_all_short_strings_of_any_grammar(sample: GrammarSample) -> None:
    check_all_words(sample)


@properties()
@given(keyed_lists())
def test_all_short_strings_of_lists_of_items_that_differ(sample: GrammarSample) -> None:
    check_all_words(sample)


@properties()
@given(grammars(regular=True))
def test_all_short_strings_of_regular_expressions(sample: GrammarSample) -> None:
    check_all_words(sample)


@properties()
@given(st.data(), grammars())
def test_longer_strings_with_bytes_from_outside_the_alphabet(
    data: st.DataObject, sample: GrammarSample
) -> None:
    compiled = compile_or_none(COMPILER, sample.grammar)
    reference = ReferenceMatcher(sample.grammar)
    for _ in range(3):
        string = data.draw(byte_strings(sample))
        matcher = Matcher(compiled) if compiled is not None else None
        taken = matcher is not None and matcher.accept_bytes(string) and matcher.is_completed()

        assert taken == reference.accepts(string), string


@st.composite
def spellings(draw: st.DrawFn, codec: str) -> bytes:
    """Mostly right spellings under `codec`, of texts over `ESCAPED` and the XML characters."""
    if codec == "json":
        units = ["a", "n", '\\"', "\\\\", "\\n", "\\u0061", "\\u00e9", "é", "\\u000a", "\\ud83d"]
        units += ["\\uDE00", "\\ud83d\\ude00", "\\", '"', "\\u", "\\/", "/"]
    elif codec.startswith("python"):
        units = [
            "a",
            "n",
            "\\'",
            '\\"',
            "\\\\",
            "\\n",
            "\\x61",
            "\\u0061",
            "\\xe9",
            "\\u00E9",
            "é",
            "'",
        ]
        units += ['"', "\\ud83d", "\\", "\\x", "\\x0a", "\\u", "\\a", "\\v", "/"]
    else:
        units = ["a", "n", "&lt;", "&amp;", "&#97;", "&#x61;", "&#0097;", "é", "&#xe9;", "&#xE9;"]
        units += ["&", "<", ";", "&#0;", "&#xD83D;", "&#x1F600;", "&quot;", "&apos;", "&gt;", '"']
    return "".join(draw(st.lists(st.sampled_from(units), max_size=4))).encode("utf-8")


@properties()
@given(st.data(), st.sampled_from(CODECS), grammars(alphabet=ESCAPED, regular=True))
def test_spellings_under_a_codec(data: st.DataObject, codec: str, sample: GrammarSample) -> None:
    grammar = encoded(codec, sample)
    compiled = compile_or_none(COMPILER, grammar.grammar)
    reference = ReferenceMatcher(grammar.grammar)
    for _ in range(4):
        string = data.draw(spellings(codec))
        matcher = Matcher(compiled) if compiled is not None else None
        taken = matcher is not None and matcher.accept_bytes(string)
        expected = reference.accepts(string)
        event("accepted spelling" if expected else "refused spelling")

        assert (taken and matcher is not None and matcher.is_completed()) == expected, string
        if taken and matcher is not None and not expected:
            check_witness(reference, grammar, matcher, string)


def encoded(codec: str, sample: GrammarSample) -> GrammarSample:
    """The whole of a regular `sample` under `codec`."""
    from structag.grammar.builder import GrammarBuilder
    from structag.grammar.transplant import extend

    builder = GrammarBuilder()
    root = builder.encoded(codec, extend(builder, sample.grammar))
    return GrammarSample(builder.build(root), sample.alphabet)
