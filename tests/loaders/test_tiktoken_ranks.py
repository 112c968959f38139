"""`structag/loaders/tiktoken_ranks.py`: encodings and rank files of tiktoken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary

EXPECTED = "expected a tiktoken rank file: base64 of a token's bytes, a space, its id"


def encoding(ranks: dict[bytes, int], special: dict[str, int]) -> Any:
    return SimpleNamespace(_mergeable_ranks=ranks, _special_tokens=special)


def test_holes_are_unused_and_special_tokens_control() -> None:
    vocabulary = Vocabulary.from_tiktoken(
        encoding({b"a": 0, b"\xff": 2}, {"<|endoftext|>": 4}), vocab_size=6
    )

    assert [vocabulary.token_kind(i).name for i in range(6)] == [
        "ORDINARY",
        "UNUSED",
        "ORDINARY",
        "UNUSED",
        "CONTROL",
        "UNUSED",
    ]
    assert vocabulary.token_bytes(2) == b"\xff"
    assert vocabulary.stop_token_ids == (4,)


def test_special_tokens_come_on_top() -> None:
    vocabulary = Vocabulary.from_tiktoken(
        encoding({b"a": 0}, {"<|endoftext|>": 1}),
        special_tokens={"<|call|>": 3},
        stop_token_ids=[1, 3],
    )

    assert dict(vocabulary.control_tokens) == {"<|endoftext|>": 1, "<|call|>": 3}


def test_rank_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.tiktoken"
    file.write_bytes(b"YQ== 0\n\n/w== 1\r\n")

    vocabulary = Vocabulary.from_tiktoken(str(file), special_tokens={"<eot>": 2}, stop_token_ids=2)
    assert [vocabulary.token_bytes(i) for i in range(3)] == [b"a", b"\xff", b""]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"YQ== 0\nYQ==\n", "cannot be read at line 2"),
        (b"YQ= 0\n", "cannot be read at line 1"),
        (b"YQ== x\n", "cannot be read at line 1"),
        (b"YQ== 0 1\n", "cannot be read at line 1"),
        (b"\n", "is empty"),
    ],
)
def test_damaged_rank_file_is_an_error(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "x.tiktoken"
    file.write_bytes(content)

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tiktoken(file)
    assert str(caught.value) == f"`x.tiktoken` {problem}, {EXPECTED}"
    assert caught.value.code == "vocabulary-file"


def test_missing_rank_file_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tiktoken("cl100k_base")

    assert str(caught.value) == (
        f"cannot read `cl100k_base`: No such file or directory, {EXPECTED};"
        " pass the path of a local file; nothing is downloaded"
    )


def test_something_else_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tiktoken(17)

    assert str(caught.value) == (
        "got int, expected a `tiktoken.Encoding` or the path of a rank file"
    )
    assert caught.value.code == "vocabulary-kind"


def test_unknown_stop_token_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tiktoken(encoding({b"a": 0}, {}))

    assert str(caught.value) == (
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids, and special_tokens for those that the rank file leaves out"
    )


@pytest.mark.parametrize(
    ("name", "size", "hole_count"), [("cl100k_base", 100_277, 16), ("o200k_base", 200_019, 19)]
)
def test_openai_encoding_spells_what_it_says(
    openai_ranks: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int, hole_count: int
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(openai_ranks))
    real = tiktoken.get_encoding(name)

    vocabulary = Vocabulary.from_tiktoken(real)
    kinds = [vocabulary.token_kind(i) for i in range(vocabulary.size)]
    assert (vocabulary.size, kinds.count(TokenKind.UNUSED)) == (size, hole_count)
    assert vocabulary.stop_token_ids == (real.eot_token,)
    assert vocabulary.missing_bytes == frozenset()
    disagreements = vocabulary.self_test(
        lambda text: real.encode(text, allowed_special="all"), real.decode
    )
    assert disagreements == []


def test_qwen_ranks_are_read_with_their_special_tokens(qwen_ranks: Path) -> None:
    special = {"<|endoftext|>": 151_643, "<|im_start|>": 151_644, "<|im_end|>": 151_645}

    vocabulary = Vocabulary.from_tiktoken(
        qwen_ranks, vocab_size=151_936, stop_token_ids=[151_645, 151_643], special_tokens=special
    )
    kinds = [vocabulary.token_kind(i) for i in range(vocabulary.size)]
    assert kinds.count(TokenKind.ORDINARY) == 151_643
    assert kinds.count(TokenKind.CONTROL) == 3
    assert kinds.count(TokenKind.UNUSED) == 151_936 - 151_646
    assert vocabulary.missing_bytes == frozenset()
    assert dict(vocabulary.control_tokens) == special
