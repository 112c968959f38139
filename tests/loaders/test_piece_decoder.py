"""`structag/loaders/piece_decoder.py`: what the sections of a tokenizer.json say of its tokens."""

from __future__ import annotations

from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.loaders.piece_decoder import piece_decoder

SPACE_SIGN = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}


def sequence(*steps: dict[str, Any], members: str = "decoders") -> dict[str, Any]:
    return {"type": "Sequence", members: list(steps)}


LLAMA = sequence(SPACE_SIGN, {"type": "ByteFallback"}, {"type": "Fuse"}, STRIP)

SPELLINGS = [
    ("byte level", {"decoder": BYTE_LEVEL}, "Ġaä½", b" a\xe4\xbd"),
    ("byte level has no byte pieces", {"decoder": BYTE_LEVEL}, "<0x0A>", b"<0x0A>"),
    ("byte level in a sequence", {"decoder": sequence(sequence(BYTE_LEVEL))}, "Ċ", b"\n"),
    (
        "replacement before byte level",
        {"decoder": sequence({**SPACE_SIGN, "content": "Ġ"}, BYTE_LEVEL)},
        "▁Ċ",
        b" \n",
    ),
    ("llama keeps the first space", {"decoder": LLAMA}, "▁Hello", b" Hello"),
    ("llama has byte pieces", {"decoder": LLAMA}, "<0xE4>", b"\xe4"),
    ("llama replaces each space sign", {"decoder": LLAMA}, "▁▁a▁", b"  a "),
    ("llama has plain text", {"decoder": LLAMA}, "Ġé", "Ġé".encode()),
    ("not quite a byte piece", {"decoder": LLAMA}, "<0xG0>", b"<0xG0>"),
    ("longer than a byte piece", {"decoder": LLAMA}, "<0x0A>>", b"<0x0A>>"),
    ("metaspace", {"decoder": METASPACE}, "▁a", b" a"),
    (
        "metaspace of another sign",
        {"decoder": {**METASPACE, "replacement": "_"}},
        "_▁",
        " ▁".encode(),
    ),
    ("metaspace without byte fallback", {"decoder": METASPACE}, "<0x0A>", b"<0x0A>"),
    (
        "model with byte fallback",
        {"decoder": METASPACE, "model": {"type": "Unigram", "byte_fallback": True}},
        "<0x0A>",
        b"\n",
    ),
    ("no decoder, byte level before", {"pre_tokenizer": BYTE_LEVEL}, "Ġ", b" "),
    (
        "no decoder, metaspace before",
        {"pre_tokenizer": sequence(METASPACE, members="pretokenizers"), "decoder": None},
        "▁a",
        b" a",
    ),
    (
        "no decoder, normalizer writes the space sign",
        {
            "normalizer": sequence(
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                members="normalizers",
            )
        },
        "▁a",
        b" a",
    ),
    (
        "empty affixes are none",
        {
            "decoder": BYTE_LEVEL,
            "model": {"type": "BPE", "continuing_subword_prefix": "", "end_of_word_suffix": ""},
        },
        "Ġ",
        b" ",
    ),
]


@pytest.mark.parametrize(
    ("sections", "piece", "expected"),
    [row[1:] for row in SPELLINGS],
    ids=[row[0] for row in SPELLINGS],
)
def test_spelling(sections: dict[str, Any], piece: str, expected: bytes) -> None:
    assert piece_decoder(sections).ordinary(piece) == expected


def test_added_tokens_of_byte_level_tokenizers_are_plain_text() -> None:
    assert piece_decoder({"decoder": BYTE_LEVEL}).added("é Ġ") == "é Ġ".encode()


def test_added_tokens_of_other_tokenizers_are_decoded_too() -> None:
    assert piece_decoder({"decoder": LLAMA}).added("▁▁") == b"  "


WORDS = "its tokens leave out the spaces between words, so they spell no exact text"
UNTOLD = "the bytes of its tokens cannot be told from this"

REFUSED = [
    ({"model": {"type": "WordPiece"}}, f"model WordPiece: {WORDS}"),
    ({"model": {"type": "WordLevel"}}, f"model WordLevel: {WORDS}"),
    ({"decoder": {"type": "WordPiece", "prefix": "##"}}, f"decoder WordPiece: {WORDS}"),
    (
        {"model": {"type": "BPE", "end_of_word_suffix": "</w>"}, "decoder": BYTE_LEVEL},
        f"model BPE with end_of_word_suffix '</w>': {WORDS}",
    ),
    (
        {"model": {"type": "BPE", "continuing_subword_prefix": "##"}},
        f"model BPE with continuing_subword_prefix '##': {WORDS}",
    ),
    (
        {"decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
        "decoder BPEDecoder: the bytes of its tokens depend on which token comes last",
    ),
    (
        {"decoder": {"type": "CTC"}},
        "decoder CTC: it drops repeated tokens, so tokens spell no exact text",
    ),
    ({"decoder": {"type": "New"}}, f"decoder New: {UNTOLD}"),
    ({"decoder": sequence(STRIP)}, f"decoder Strip: {UNTOLD}"),
    (
        {"decoder": {"type": "Replace", "pattern": {"Regex": "x+"}, "content": ""}},
        f"decoder Replace with a regular expression: {UNTOLD}",
    ),
    ({}, f"the tokenizer has no decoder: {UNTOLD}"),
    ({"pre_tokenizer": {"type": "Whitespace"}}, f"the tokenizer has no decoder: {UNTOLD}"),
]


@pytest.mark.parametrize(("sections", "message"), REFUSED, ids=[row[1][:50] for row in REFUSED])
def test_kind_that_spells_no_bytes_is_refused(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        piece_decoder(sections)

    assert caught.value.code == "vocabulary-kind"
    assert str(caught.value) == (
        f"{message}, expected a byte-level tokenizer, or a SentencePiece one (BPE or Unigram);"
        " if you know the bytes of each token, use `Vocabulary.from_token_bytes`"
    )
