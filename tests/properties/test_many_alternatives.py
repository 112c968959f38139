"""Many alternatives that begin with texts: joined in a trie, they stay the same language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.engine import mask_of, properties

from structag import Compiler, Matcher, Vocabulary
from structag.grammar.builder import GrammarBuilder

COMPILER = Compiler(Vocabulary.byte_level())
STOP = 256


@properties()
@given(st.lists(st.text("ab", max_size=6), min_size=8, max_size=40), st.data())
def test_what_may_come_next_after_each_beginning(names: list[str], data: st.DataObject) -> None:
    # What follows a name: brackets, which are no regular language, and its number modulo 3.
    wholes = [f"{name}()" + "012"[i % 3] for i, name in enumerate(names)]
    b = GrammarBuilder()
    brackets = b.rule("brackets")
    inner = b.alt(b.epsilon, brackets)
    b.define(brackets, b.seq(b.literal(b"("), inner, b.literal(b")")))
    parts = [
        b.seq(
            b.literal(name.encode()) if name else b.epsilon,
            brackets,
            b.literal(whole[-1:].encode()),
        )
        for name, whole in zip(names, wholes, strict=True)
    ]
    if data.draw(st.booleans()):  # one that is nothing but a text
        parts.append(b.literal(b"aab"))
        wholes.append("aab")
    compiled = COMPILER.compile_grammar(b.build(b.alt(*parts)))
    matcher = Matcher(compiled)

    read = ""
    while True:
        going_on = [whole for whole in wholes if whole.startswith(read)]
        expected = {ord(whole[len(read)]) for whole in going_on if whole != read}
        if read.endswith("("):
            expected.add(ord("("))
        if read in wholes:
            expected.add(STOP)
        assert mask_of(matcher, 257) == expected
        choices = sorted(expected - {STOP} - ({ord("(")} if read.endswith("(") else set()))
        if not choices:
            return
        chosen = data.draw(st.sampled_from(choices))
        assert matcher.accept_token(chosen)
        read += chr(chosen)
