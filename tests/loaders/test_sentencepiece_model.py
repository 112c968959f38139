"""`structag/loaders/sentencepiece_model.py`: SentencePiece models, real and hand-made."""

from __future__ import annotations

from pathlib import Path

import pytest

from structag.errors import VocabularyError
from structag.loaders.sentencepiece_model import table_of_model
from structag.vocabulary import TokenKind, Vocabulary

MODELS = [
    ("tokenizer.model.v1", 32_000, 3, 0),
    ("mistral_instruct_tokenizer_240216.model.v2", 32_768, 771, 0),
    ("mistral_instruct_tokenizer_240323.model.v3", 32_768, 751, 20),
    ("mistral_instruct_tokenizer_241114.model.v7", 32_768, 749, 22),
]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def model(pieces: list[tuple[str, int]], eos_id: int | None = None) -> bytes:
    score = varint(2 << 3 | 5) + b"\0\0\0\0"
    written = [
        field(1, field(1, text.encode()) + score + (field(3, kind) if kind != NORMAL else b""))
        for text, kind in pieces
    ]
    trainer = field(2, b"" if eos_id is None else field(42, eos_id))
    return b"".join(written) + trainer


PIECES = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("</s>", CONTROL),
    ("<0x0A>", BYTE),
    ("▁a▁", NORMAL),
    ("<0x0B>", NORMAL),
    ("▁▁", USER_DEFINED),
    ("old", UNUSED),
]


def test_each_type_of_piece_has_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(model(PIECES))

    vocabulary = Vocabulary.from_sentencepiece(file)
    assert [vocabulary.token_bytes(i) for i in range(8)] == [
        b"",
        b"",
        b"",
        b"\n",
        b" a ",
        b"<0x0B>",
        b"  ",
        b"",
    ]
    assert [vocabulary.token_kind(i) for i in (0, 2, 3, 6, 7)] == [
        TokenKind.CONTROL,
        TokenKind.CONTROL,
        TokenKind.ORDINARY,
        TokenKind.USER_DEFINED,
        TokenKind.UNUSED,
    ]
    assert dict(vocabulary.added_tokens) == {"<unk>": 0, "<s>": 1, "</s>": 2, "  ": 6}


@pytest.mark.parametrize(("eos_id", "expected"), [(None, [2]), (1, [1]), (-1, []), (4, [])])
def test_stop_token_is_the_trainers(eos_id: int | None, expected: list[int]) -> None:
    assert table_of_model(model(PIECES, eos_id), "x").stop_token_ids == expected


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (model(PIECES)[:-3], "is cut short or of another format"),
        (b"\x0a\xff", "is cut short or of another format"),
        (b"\x0a" + b"\xff" * 12, "is cut short or of another format"),
        (b"{}", "is cut short or of another format"),
        (field(1, field(1, b"\xff")), "is cut short or of another format"),
        (b"", "holds no pieces"),
        (field(2, b""), "holds no pieces"),
    ],
    ids=["cut", "no length", "long varint", "JSON", "not UTF-8", "empty", "no pieces"],
)
def test_damaged_model_is_an_error(tmp_path: Path, data: bytes, problem: str) -> None:
    file = tmp_path / "x.model"
    file.write_bytes(data)

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_sentencepiece(file)
    assert str(caught.value) == f"`x.model` {problem}, expected a SentencePiece model"
    assert caught.value.code == "vocabulary-file"


@pytest.mark.parametrize(("name", "size", "control_count", "user_defined_count"), MODELS)
def test_mistral_model_has_its_kinds(
    mistral_folder: Path, name: str, size: int, control_count: int, user_defined_count: int
) -> None:
    vocabulary = Vocabulary.from_sentencepiece(mistral_folder / name)

    kinds = [vocabulary.token_kind(i) for i in range(vocabulary.size)]
    assert vocabulary.size == size
    assert kinds.count(TokenKind.CONTROL) == control_count
    assert kinds.count(TokenKind.USER_DEFINED) == user_defined_count
    assert vocabulary.stop_token_ids == (vocabulary.token_id("</s>"),) == (2,)
    assert vocabulary.missing_bytes == frozenset()


def test_byte_pieces_double_the_pieces_of_ascii(mistral_folder: Path) -> None:
    vocabulary = Vocabulary.from_sentencepiece(mistral_folder / "tokenizer.model.v1")

    ids = [i for i in range(vocabulary.size) if vocabulary.token_bytes(i) == b"a"]
    assert len(ids) == 2


@pytest.mark.parametrize("name", [row[0] for row in MODELS])
def test_mistral_model_spells_what_sentencepiece_says(mistral_folder: Path, name: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(mistral_folder / name))
    vocabulary = Vocabulary.from_sentencepiece(mistral_folder / name)

    assert vocabulary.size == processor.get_piece_size()
    assert vocabulary.self_test(processor.encode, processor.decode) == []
    for token_id in range(vocabulary.size):
        if processor.is_control(token_id) or processor.is_unknown(token_id):
            assert vocabulary.token_kind(token_id) == TokenKind.CONTROL
        elif not processor.is_byte(token_id):
            piece = processor.id_to_piece(token_id)
            assert vocabulary.token_bytes(token_id) == piece.replace("▁", " ").encode()
