"""`structag/loaders/tekken.py`: tekken.json of Mistral, with and without listed special tokens."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary


def document(**changes: Any) -> dict[str, Any]:
    texts = [b"a", b"\xff", b"beyond the size"]
    return {
        "config": {"default_vocab_size": 26, "default_num_special_tokens": 24},
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(text).decode(), "token_str": None}
            for rank, text in enumerate(texts)
        ],
        **changes,
    }


def load(folder: Path, value: Any) -> Vocabulary:
    (folder / "tekken.json").write_text(json.dumps(value), encoding="utf-8")
    return Vocabulary.from_tekken(folder / "tekken.json")


def test_special_tokens_come_first(tmp_path: Path) -> None:
    vocabulary = load(tmp_path, document())

    assert vocabulary.size == 26
    assert [vocabulary.token_bytes(i) for i in (0, 23, 24, 25)] == [b"", b"", b"a", b"\xff"]
    assert vocabulary.token_id("[TOOL_CALLS]") == 9
    assert vocabulary.token_id("<SPECIAL_23>") == 23
    assert vocabulary.stop_token_ids == (2,)
    assert len(vocabulary.control_tokens) == 24


def test_listed_special_tokens_replace_the_fixed_ones(tmp_path: Path) -> None:
    listed = [
        {"rank": 0, "token_str": "<unk>", "is_control": True},
        {"rank": 3, "token_str": "</s>", "is_control": True},
        {"rank": 4, "token_str": "[THINK]", "is_control": False},
    ]

    vocabulary = load(tmp_path, document(special_tokens=listed))
    assert vocabulary.stop_token_ids == (3,)
    assert vocabulary.token_id("[THINK]") == 4
    assert vocabulary.token_kind(4) == TokenKind.CONTROL
    assert vocabulary.token_name(9) == "<SPECIAL_9>"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "is not laid out as expected (KeyError: 'config')"),
        (document(vocab=[{"rank": 0}]), "is not laid out as expected (KeyError: 'token_bytes')"),
        (
            document(vocab=[{"rank": 0, "token_bytes": "YQ="}]),
            "is not laid out as expected (Error: Incorrect padding)",
        ),
        (
            document(config={"default_vocab_size": 9, "default_num_special_tokens": 1 << 60}),
            f"is not laid out as expected (ValueError: {1 << 60} special tokens)",
        ),
        ([], "holds no JSON object"),
    ],
    ids=["no config", "no bytes", "not base64", "absurd count", "no object"],
)
def test_damaged_file_is_an_error(tmp_path: Path, value: Any, problem: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        load(tmp_path, value)

    assert str(caught.value) == f"`tekken.json` {problem}, expected a tekken.json of Mistral"
    assert caught.value.code == "vocabulary-file"


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_mistral_file_spells_what_its_tokenizer_says(mistral_folder: Path, name: str) -> None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    tokenizer = tekken.Tekkenizer.from_file(mistral_folder / name)
    keep = tekken.SpecialTokenPolicy.KEEP

    vocabulary = Vocabulary.from_tekken(mistral_folder / name)
    assert vocabulary.size == tokenizer.n_words == 131_072
    assert len(vocabulary.control_tokens) == 1_000
    assert vocabulary.stop_token_ids == (tokenizer.eos_id,)
    assert vocabulary.missing_bytes == frozenset()
    assert (
        vocabulary.self_test(
            lambda text: tokenizer.encode(text, bos=False, eos=False),
            lambda ids: tokenizer.decode(ids, keep),
        )
        == []
    )
    for token_id in range(vocabulary.size):
        if token_id < 1_000:
            assert vocabulary.token_name(token_id) == tokenizer.id_to_piece(token_id)
        else:
            assert vocabulary.token_bytes(token_id) == tokenizer.id_to_byte_piece(token_id, keep)
