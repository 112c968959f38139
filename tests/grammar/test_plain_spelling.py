"""What is spelled plainly is a spelling; with one spelling for each text it is all of them."""

from __future__ import annotations

import json

import pytest

structag = pytest.importorskip("structag")

from structag.grammar.builder import CODECS, GrammarBuilder  # noqa: E402
from structag.grammar.plain_spelling import spell_plainly, spell_text  # noqa: E402
from structag.text.regex import lower_regex  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())
PATTERNS = ("[a-c]{2,3}", 'x["\\\\&<\\n]*', "[^a]+(?<!bc)", "(?:é|\"|'){2}|\\u{1F600}", "[\\x00-~]")


def both(codec: str, pattern: str, one_spelling: bool) -> list[structag.CompiledGrammar]:
    builder, copy = GrammarBuilder(), GrammarBuilder()
    grammar = builder.build(builder.encoded(codec, lower_regex(pattern, builder)))
    spelled = spell_plainly(copy, grammar, one_spelling=one_spelling)
    return [BYTES.compile_grammar(grammar), BYTES.compile_grammar(spelled)]


def takes(compiled: structag.CompiledGrammar, text: bytes) -> bool:
    matcher = structag.Matcher(compiled)
    return matcher.accept_bytes(text) and matcher.is_completed()


TEXTS = ("ab", 'x"', "x\n\\", "x<&", "bb", 'é"', "''", "😀", "\t", "\0", "~", "bbc", "x'")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_plain_texts(codec: str, pattern: str) -> None:
    whole, spelled = both(codec, pattern, True)
    _, common = both(codec, pattern, False)
    for text in TEXTS:
        if codec == "xml" and "\0" in text:
            continue
        plain = spell_text(codec, text.encode())

        assert takes(spelled, plain) == takes(whole, plain), text
        assert takes(whole, plain) or not takes(common, plain), text


def test_escapes_are_no_second_spelling() -> None:
    whole, spelled = both("json", "[a-c]{2,3}", True)

    assert takes(whole, b"\\u0061b")
    assert not takes(spelled, b"\\u0061b")
    assert takes(spelled, b"ab")


@pytest.mark.parametrize("text", TEXTS)
def test_spellings_are_read_back(text: str) -> None:
    assert json.loads(f'"{spell_text("json", text.encode()).decode()}"') == text
    assert eval(f"'{spell_text('python_single', text.encode()).decode()}'") == text
    assert eval(f'"{spell_text("python_double", text.encode()).decode()}"') == text
