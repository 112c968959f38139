"""`structag/loaders/tokenizer_json.py`: tokenizer.json and the files beside it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary

EXPECTED = "expected a tokenizer.json of Hugging Face tokenizers, or a folder that holds one"

BPE: dict[str, Any] = {
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "Ġb": 1, "": 2, "<unk>": 4}, "unk_token": "<unk>"},
    "added_tokens": [
        {"id": 5, "content": "<think>", "special": False},
        {"id": 7, "content": "</s>", "special": True},
    ],
}


def write(folder: Path, **files: Any) -> Path:
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def test_ids_have_their_kinds(tmp_path: Path) -> None:
    folder = write(tmp_path, tokenizer=BPE)

    vocabulary = Vocabulary.from_tokenizer_json(folder, vocab_size=9, stop_token_ids=7)
    kinds = [vocabulary.token_kind(i).name for i in range(vocabulary.size)]
    assert kinds == [
        "ORDINARY",
        "ORDINARY",
        "UNUSED",
        "UNUSED",
        "CONTROL",
        "USER_DEFINED",
        "UNUSED",
        "CONTROL",
        "UNUSED",
    ]
    assert vocabulary.token_bytes(1) == b" b"
    assert dict(vocabulary.added_tokens) == {"<unk>": 4, "<think>": 5, "</s>": 7}
    assert vocabulary == Vocabulary.from_tokenizer_json(
        tmp_path / "tokenizer.json", vocab_size=9, stop_token_ids=7
    )


def test_unigram_is_a_list(tmp_path: Path) -> None:
    tokenizer = {
        "decoder": {"type": "Metaspace", "replacement": "▁"},
        "model": {
            "type": "Unigram",
            "vocab": [["<unk>", 0], ["▁a", -1.5], ["▁a", -2], ["", -3]],
            "unk_id": 0,
        },
    }
    write(tmp_path, tokenizer=tokenizer)

    vocabulary = Vocabulary.from_tokenizer_json(tmp_path, stop_token_ids=0)
    assert [vocabulary.token_bytes(i) for i in range(4)] == [b"", b" a", b" a", b""]
    assert vocabulary.token_kind(0) == TokenKind.CONTROL
    assert vocabulary.token_kind(3) == TokenKind.UNUSED


STOPS = [
    ("string", {"tokenizer_config": {"eos_token": "</s>"}}, (7,)),
    ("added token", {"tokenizer_config": {"eos_token": {"content": "</s>"}}}, (7,)),
    ("generation", {"generation_config": {"eos_token_id": 5}}, (5,)),
    (
        "both, each once",
        {
            "tokenizer_config": {"eos_token": "</s>"},
            "generation_config": {"eos_token_id": [5, 7]},
            "config": {"eos_token_id": 0},
        },
        (7, 5),
    ),
    ("model", {"tokenizer_config": {}, "config": {"eos_token_id": 7}}, (7,)),
]


@pytest.mark.parametrize(
    ("files", "expected"), [row[1:] for row in STOPS], ids=[row[0] for row in STOPS]
)
def test_stop_tokens_come_from_the_files_beside(
    tmp_path: Path, files: dict[str, Any], expected: tuple[int, ...]
) -> None:
    write(tmp_path, tokenizer=BPE, **files)

    assert Vocabulary.from_tokenizer_json(tmp_path).stop_token_ids == expected
    assert Vocabulary.from_tokenizer_json(tmp_path, stop_token_ids=1).stop_token_ids == (1,)


def test_configuration_marks_and_adds_tokens(tmp_path: Path) -> None:
    decoder = {
        "5": {"content": "<think>", "special": True},
        "7": {"content": "another content", "special": False},
        "8": {"content": "<tool>", "special": False},
        "x": None,
    }
    write(
        tmp_path,
        tokenizer=BPE,
        tokenizer_config={"added_tokens_decoder": decoder, "eos_token": "</s>"},
    )

    vocabulary = Vocabulary.from_tokenizer_json(tmp_path)
    assert vocabulary.token_kind(5) == TokenKind.CONTROL
    assert vocabulary.token_name(7) == "</s>"
    assert vocabulary.token_bytes(8) == b"<tool>"


def broken(**changes: Any) -> str:
    return json.dumps({**BPE, **changes})


DAMAGED = [
    ("not JSON", "{", f"`tokenizer.json` is not JSON at line 1, column 2, {EXPECTED}"),
    (
        "nested too deep",
        "[" * 200_000,
        f"`tokenizer.json` holds a number too long or nests too deep, {EXPECTED}",
    ),
    ("no object", "[]", f"`tokenizer.json` holds no JSON object, {EXPECTED}"),
    (
        "no model",
        json.dumps({"decoder": {"type": "ByteLevel"}}),
        f"`tokenizer.json` is not laid out as expected (KeyError: 'model'), {EXPECTED}",
    ),
    (
        "no vocabulary",
        broken(model={"type": "BPE"}),
        f"`tokenizer.json` is not laid out as expected (KeyError: 'vocab'), {EXPECTED}",
    ),
    (
        "id of the wrong kind",
        broken(model={"type": "BPE", "vocab": {"a": "0"}}),
        "`tokenizer.json` is not laid out as expected (TypeError: `model.vocab` does not map"
        f" strings to integers), {EXPECTED}",
    ),
    (
        "added token without content",
        broken(added_tokens=[{"id": 3}]),
        f"`tokenizer.json` is not laid out as expected (KeyError: 'content'), {EXPECTED}",
    ),
    (
        "lone surrogate",
        broken(model={"type": "BPE", "vocab": {"\ud800": 0}}),
        "token '\\ud800' holds a lone surrogate, expected tokens that are valid Unicode",
    ),
]


@pytest.mark.parametrize(
    ("text", "message"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED]
)
def test_damaged_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer_json(tmp_path)
    assert str(caught.value) == message
    assert caught.value.code == "vocabulary-file"


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer_json(tmp_path)

    assert str(caught.value) == (
        f"cannot read `{tmp_path / 'tokenizer.json'}`: No such file or directory, {EXPECTED};"
        " pass the path of a local file; nothing is downloaded"
    )
    assert caught.value.code == "vocabulary-file"


def test_folder_of_another_kind_names_its_loader(tmp_path: Path) -> None:
    write(tmp_path, tekken={})

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer_json(tmp_path)
    assert str(caught.value) == (
        f"`{tmp_path.name}` holds no tokenizer.json, but `tekken.json`, {EXPECTED};"
        " use `Vocabulary.from_tekken`"
    )


def test_unknown_stop_token_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, tokenizer=BPE)

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer_json(tmp_path)
    assert str(caught.value) == (
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids (the model's generation_config.json names them as `eos_token_id`)"
    )
    assert caught.value.code == "vocabulary-value"


def test_absurd_id_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, tokenizer={**BPE, "model": {"type": "BPE", "vocab": {"a": 1 << 60}}})

    with pytest.raises(VocabularyError, match="is out of range") as caught:
        Vocabulary.from_tokenizer_json(tmp_path)
    assert caught.value.code == "vocabulary-value"


@pytest.mark.timing
def test_deepseek_has_its_markers_as_tokens(deepseek_folder: Path) -> None:
    start = time.process_time()
    vocabulary = Vocabulary.from_tokenizer_json(deepseek_folder)
    seconds = time.process_time() - start

    kinds = [vocabulary.token_kind(i) for i in range(vocabulary.size)]
    assert vocabulary.size == 129_280
    assert kinds.count(TokenKind.ORDINARY) == 127_997
    assert kinds.count(TokenKind.USER_DEFINED) == 53
    assert kinds.count(TokenKind.CONTROL) == 1_230
    for marker in ("<think>", "</think>", "｜DSML｜"):
        token_id = vocabulary.token_id(marker)
        assert token_id is not None
        assert vocabulary.token_kind(token_id) == TokenKind.USER_DEFINED
        assert vocabulary.token_bytes(token_id) == marker.encode()
    assert vocabulary.stop_token_ids == (vocabulary.token_id("<｜end▁of▁sentence｜>"),)
    assert vocabulary.missing_bytes == frozenset()
    assert seconds < 3, "loading takes about 0.4 s; far more means a slow call for each token"


def test_deepseek_spells_what_its_tokenizer_says(deepseek_folder: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(deepseek_folder / "tokenizer.json"))
    vocabulary = Vocabulary.from_tokenizer_json(deepseek_folder)

    disagreements = vocabulary.self_test(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
    )
    assert disagreements == []


def test_padding_of_a_real_vocabulary_is_unused(deepseek_folder: Path) -> None:
    vocabulary = Vocabulary.from_tokenizer_json(deepseek_folder, vocab_size=129_408)

    assert vocabulary.size == 129_408
    assert {vocabulary.token_kind(i) for i in range(129_280, 129_408)} == {TokenKind.UNUSED}
