"""`structag/loaders/agreement.py`: a vocabulary against its tokenizer."""

from __future__ import annotations

import pytest

from structag.loaders.agreement import Disagreement
from structag.vocabulary import Vocabulary

VOCABULARY = Vocabulary.from_token_bytes(
    [bytes([byte]) for byte in range(256)],
    special={256: "<end>"},
    stop_token_ids=256,
    vocab_size=258,
)


def encode(text: str) -> list[int]:
    before, end, after = text.partition("<end>")
    ids = [*before.encode(), 256] if end else list(before.encode())
    return ids + (encode(after) if end else [])


def decode(ids: list[int]) -> str:
    parts = (b"<end>" if i == 256 else bytes([i]) for i in ids)
    return b"".join(parts).decode()


def test_a_vocabulary_agrees_with_its_tokenizer() -> None:
    assert VOCABULARY.self_test(encode, decode) == []


def test_one_space_at_the_start_is_agreement() -> None:
    assert VOCABULARY.self_test(lambda text: encode(" " + text), lambda ids: decode(ids)[1:]) == []


def test_normalised_text_is_agreement() -> None:
    assert VOCABULARY.self_test(lambda text: encode(text.lower()), decode, ["ÄB"]) == []


DISAGREEMENTS = [
    (
        lambda text: [*encode(text[:2]), 257],
        lambda ids: decode(ids[:-1]),
        Disagreement(
            "abc",
            (97, 98, 257),
            b"ab",
            b"ab",
            2,
            257,
            "the tokenizer gives an id that the vocabulary holds to be unused",
        ),
    ),
    (
        lambda text: [999],
        lambda ids: "abc",
        Disagreement(
            "abc",
            (999,),
            b"abc",
            b"",
            0,
            999,
            "the tokenizer gives an id that is not in the vocabulary",
        ),
    ),
    (
        lambda text: encode("abx"),
        lambda ids: "abc",
        Disagreement(
            "abc",
            (97, 98, 120),
            b"abc",
            b"abx",
            2,
            120,
            "the token bytes are not the decoded text",
        ),
    ),
    (
        lambda text: encode("ab"),
        lambda ids: "abc",
        Disagreement(
            "abc",
            (97, 98),
            b"abc",
            b"ab",
            2,
            None,
            "the token bytes are not the decoded text",
        ),
    ),
]


@pytest.mark.parametrize(
    ("encode_", "decode_", "expected"),
    DISAGREEMENTS,
    ids=["unused id", "id past the end", "other byte", "text cut short"],
)
def test_disagreement_tells_the_first_difference(
    encode_: object, decode_: object, expected: Disagreement
) -> None:
    found = VOCABULARY.self_test(encode_, decode_, ["abc"])  # type: ignore[arg-type]

    assert found == [expected]
