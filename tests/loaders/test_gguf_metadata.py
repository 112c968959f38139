"""`structag/loaders/gguf_metadata.py`: GGUF metadata, hand-made and of a real model."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary

EXPECTED = "expected a GGUF file, version 2 or 3, with a tokenizer"

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

BYTE_LEVEL: dict[str, Any] = {
    "general.name": "x",
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.merges": ["a b", "b c"],
    "tokenizer.ggml.scores": [0.5, 1.5],
    "tokenizer.ggml.tokens": ["Ġa", "<unk>", "<|im_end|>", "<th ink>", "[PAD4]", "</s>", ""],
    "tokenizer.ggml.token_type": [NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, CONTROL, NORMAL],
}


def gguf(values: dict[str, Any], *, order: str = "<", version: int = 3) -> bytes:
    """A GGUF file without tensors: strings, integers (as u32), lists of strings, ints, floats."""

    def text(value: str) -> bytes:
        return struct.pack(order + "Q", len(value.encode())) + value.encode()

    def entry(value: Any) -> bytes:
        if isinstance(value, str):
            return struct.pack(order + "I", 8) + text(value)
        if isinstance(value, int):
            return struct.pack(order + "II", 4, value)
        kind, write = {
            str: (8, text),
            int: (5, lambda item: struct.pack(order + "i", item)),
            float: (6, lambda item: struct.pack(order + "f", item)),
        }[type(value[0])]
        head = struct.pack(order + "IIQ", 9, kind, len(value))
        return head + b"".join(map(write, value))

    head = b"GGUF" + struct.pack(order + "IQQ", version, 0, len(values))
    return head + b"".join(text(key) + entry(value) for key, value in values.items())


def load(folder: Path, data: bytes, **settings: Any) -> Vocabulary:
    (folder / "x.gguf").write_bytes(data)
    return Vocabulary.from_gguf(folder / "x.gguf", **settings)


def test_each_type_of_token_has_its_kind(tmp_path: Path) -> None:
    vocabulary = load(tmp_path, gguf(BYTE_LEVEL))

    assert [vocabulary.token_kind(i).name for i in range(7)] == [
        "ORDINARY",
        "CONTROL",
        "CONTROL",
        "USER_DEFINED",
        "UNUSED",
        "CONTROL",
        "UNUSED",
    ]
    assert vocabulary.token_bytes(0) == b" a"
    assert vocabulary.token_bytes(3) == b"<th ink>"
    assert vocabulary.token_id("<unk>") == 1


def test_byte_order_does_not_matter(tmp_path: Path) -> None:
    little, big = (load(tmp_path, gguf(BYTE_LEVEL, order=order)) for order in "<>")

    assert little == big


@pytest.mark.parametrize(
    ("model", "pre"), [("llama", "default"), ("t5", ""), ("gemma4", ""), ("gpt2", "sarvam-moe")]
)
def test_space_sign_is_a_space(tmp_path: Path, model: str, pre: str) -> None:
    values = {
        "tokenizer.ggml.model": model,
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": ["▁a▁", "<0x0A>", "<0x0B>", "  "],
        "tokenizer.ggml.token_type": [NORMAL, BYTE, NORMAL, USER_DEFINED],
        "tokenizer.ggml.eos_token_id": 3,
    }

    vocabulary = load(tmp_path, gguf(values))
    assert [vocabulary.token_bytes(i) for i in range(4)] == [b" a ", b"\n", b"<0x0B>", b"  "]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (2, 5)),
        ({"tokenizer.ggml.eos_token_id": 0}, (0, 2, 5)),
        ({"tokenizer.ggml.eos_token_id": 5, "tokenizer.ggml.eot_token_id": 1}, (5, 1, 2)),
        ({"tokenizer.ggml.eom_token_id": 3}, (3, 2, 5)),
    ],
)
def test_stop_tokens_are_declared_or_known_by_name(
    tmp_path: Path, changes: dict[str, Any], expected: tuple[int, ...]
) -> None:
    assert load(tmp_path, gguf({**BYTE_LEVEL, **changes})).stop_token_ids == expected


def test_stop_token_known_by_name_is_a_control_token(tmp_path: Path) -> None:
    types = {"tokenizer.ggml.token_type": [NORMAL, NORMAL, USER_DEFINED, *[NORMAL] * 4]}

    vocabulary = load(tmp_path, gguf({**BYTE_LEVEL, **types}))
    assert vocabulary.stop_token_ids == (2,)
    assert vocabulary.token_kind(2) == TokenKind.CONTROL


def test_end_of_a_message_is_no_stop_token_of_harmony(tmp_path: Path) -> None:
    values = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": ["a", "<|end|>", "<|return|>", "<|call|>"],
        "tokenizer.ggml.token_type": [NORMAL, CONTROL, CONTROL, CONTROL],
    }

    assert load(tmp_path, gguf(values)).stop_token_ids == (2, 3)


def test_unknown_stop_token_is_an_error(tmp_path: Path) -> None:
    values = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": ["a"],
        "tokenizer.ggml.token_type": [NORMAL],
    }

    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, gguf(values))
    assert str(caught.value) == (
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids"
    )


@pytest.mark.parametrize("model", ["bert", "rwkv"])
def test_kind_that_spells_no_bytes_is_refused(tmp_path: Path, model: str) -> None:
    reason = ": a WordPiece tokenizer, whose tokens spell no exact text" if model == "bert" else ""

    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, gguf({**BYTE_LEVEL, "tokenizer.ggml.model": model}))
    assert str(caught.value) == (
        f"tokenizer.ggml.model is '{model}'{reason}, expected one of gpt2, hybriddna, whitespace,"
        " llama, t5, gemma4; if you know the bytes of each token, use"
        " `Vocabulary.from_token_bytes`"
    )
    assert caught.value.code == "vocabulary-kind"


NESTED = gguf({"a": ["b"]}).replace(struct.pack("<II", 9, 8), struct.pack("<II", 9, 9))
HUGE = gguf({"a": ["b"]})[: -8 - 8 - 1] + struct.pack("<Q", 1 << 60)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "cannot be read (cannot mmap an empty file)"),
        (b"PK\x03\x04", "cannot be read (it does not begin with `GGUF`)"),
        (gguf({}, version=1), "cannot be read (version 1)"),
        (gguf(BYTE_LEVEL)[:100], "cannot be read (it is cut short)"),
        (gguf({"a": 1})[:-8] + b"\x63\0\0\0\0\0\0\0", "cannot be read (99)"),
        (NESTED, "cannot be read (it holds an array of arrays)"),
        (gguf(BYTE_LEVEL)[:-1], "cannot be read (it is cut short)"),
    ],
    ids=["empty", "other format", "version", "cut in text", "type", "nested", "cut in numbers"],
)
def test_damaged_file_is_an_error(tmp_path: Path, data: bytes, problem: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, data)

    assert str(caught.value) == f"`x.gguf` {problem}, {EXPECTED}"
    assert caught.value.code == "vocabulary-file"


def test_absurd_length_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, HUGE)

    assert caught.value.code == "vocabulary-file"


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer.ggml.tokens": 1},
        {"tokenizer.ggml.token_type": [NORMAL]},
        {"tokenizer.ggml.tokens": [1] * 7},
    ],
    ids=["no list", "lengths differ", "no strings"],
)
def test_file_without_a_tokenizer_is_an_error(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, gguf({**BYTE_LEVEL, **changes}))

    assert caught.value.code == "vocabulary-file"


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_gguf(tmp_path / "x.gguf")

    assert str(caught.value) == (
        f"cannot read `{tmp_path / 'x.gguf'}`: No such file or directory, {EXPECTED};"
        " pass the path of a local file; nothing is downloaded"
    )


def test_smollm_has_its_kinds(smollm_gguf: Path) -> None:
    vocabulary = Vocabulary.from_gguf(smollm_gguf)

    kinds = [vocabulary.token_kind(i) for i in range(vocabulary.size)]
    assert vocabulary.size == 49_152
    assert kinds.count(TokenKind.CONTROL) == 17
    assert kinds.count(TokenKind.ORDINARY) == 49_152 - 17
    assert [vocabulary.token_name(i) for i in sorted(vocabulary.stop_token_ids)] == [
        "<|endoftext|>",
        "<|im_end|>",
    ]
    assert vocabulary.missing_bytes == {
        *(0x04, 0x06, 0x13, 0x14, 0x16, 0x1D),
        *(0xC0, 0xC1, 0xF1, 0xF2),
        *range(0xF5, 0x100),
    }


def test_smollm_spells_what_llama_cpp_says(smollm_gguf: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    model = llama_cpp.Llama(str(smollm_gguf), vocab_only=True, verbose=False)
    vocabulary = Vocabulary.from_gguf(smollm_gguf)

    for token_id in range(vocabulary.size):
        text = vocabulary.token_bytes(token_id)
        if text and len(text) <= 32:  # Its buffer for a single token ends there.
            assert model.detokenize([token_id]) == text
    disagreements = vocabulary.self_test(
        lambda text: model.tokenize(text.encode(), add_bos=False, special=True),
        lambda ids: model.detokenize(ids, special=True).decode(errors="replace"),
    )
    assert disagreements == []
    model.close()
