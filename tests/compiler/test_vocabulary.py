"""`structag/vocabulary.py`: kinds, names, stop tokens, sizes, and the contract of the object."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from structag import Compiler, Matcher, allocate_token_bitmask
from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary

HERE = Path(__file__).parent
"""Where subprocesses start: not in the root, whose sources lack the compiled core."""

PACKAGE_ROOT = Path(sys.modules["structag.vocabulary"].__file__ or "").parents[1]


def small(**changes: Any) -> Vocabulary:
    """Six ids: two texts, one twice, an empty token, a user-defined one and a control one."""
    settings: dict[str, Any] = {
        "special": {5: "<end>"},
        "user_defined": {4: "<think>"},
        "stop_token_ids": 5,
        **changes,
    }
    return Vocabulary.from_token_bytes([b"a", b"\xc3", b"a", b""], **settings)


def test_each_id_has_its_kind_and_bytes() -> None:
    vocabulary = small(vocab_size=8)

    assert vocabulary.size == len(vocabulary) == 8
    assert [vocabulary.token_kind(i) for i in range(8)] == [
        TokenKind.ORDINARY,
        TokenKind.ORDINARY,
        TokenKind.ORDINARY,
        TokenKind.UNUSED,
        TokenKind.USER_DEFINED,
        TokenKind.CONTROL,
        TokenKind.UNUSED,
        TokenKind.UNUSED,
    ]
    assert [vocabulary.token_bytes(i) for i in range(8)] == [
        b"a",
        b"\xc3",
        b"a",
        b"",
        b"<think>",
        b"",
        b"",
        b"",
    ]


def test_names_are_readable() -> None:
    vocabulary = small(vocab_size=7, stop_token_ids=[5, 6])

    names = [vocabulary.token_name(i) for i in range(7)]
    assert names == ["a", "\\xc3", "a", "<unused 3>", "<think>", "<end>", "<control 6>"]
    line_feed = Vocabulary.from_token_bytes([b"\n\t ", b"x"], stop_token_ids=1)
    assert line_feed.token_name(0) == "\\n\\t "


def test_added_tokens_are_found_by_content() -> None:
    vocabulary = small()

    assert dict(vocabulary.added_tokens) == {"<think>": 4, "<end>": 5}
    assert dict(vocabulary.control_tokens) == {"<end>": 5}
    assert vocabulary.token_id("<think>") == 4
    assert vocabulary.token_id("a") is None


def test_of_equal_contents_the_first_id_counts() -> None:
    vocabulary = Vocabulary.from_token_bytes(
        [b"x"], special={1: "<s>", 2: "<s>"}, stop_token_ids=[2]
    )

    assert vocabulary.token_id("<s>") == 1
    assert vocabulary.token_name(2) == "<s>"


def test_special_ids_take_their_bytes_as_content() -> None:
    vocabulary = Vocabulary.from_token_bytes(
        [b"<a>", b"<b>", b"c"], special=[0], user_defined=[1], stop_token_ids=0
    )

    assert dict(vocabulary.added_tokens) == {"<a>": 0, "<b>": 1}
    assert [vocabulary.token_bytes(i) for i in range(3)] == [b"", b"<b>", b"c"]


@pytest.mark.parametrize(
    ("given", "expected"), [(0, (0,)), ([2, 0, 2], (2, 0)), (range(2), (0, 1)), ({1}, (1,))]
)
def test_stop_tokens_are_one_or_several(given: Any, expected: tuple[int, ...]) -> None:
    vocabulary = Vocabulary.from_token_bytes([b"a", b"b", b"c"], stop_token_ids=given)

    assert vocabulary.stop_token_ids == expected


def test_stop_token_without_bytes_becomes_a_control_token() -> None:
    vocabulary = Vocabulary.from_token_bytes([b"a", b""], stop_token_ids=[1, 3], vocab_size=4)

    assert [vocabulary.token_kind(i) for i in range(4)] == [
        TokenKind.ORDINARY,
        TokenKind.CONTROL,
        TokenKind.UNUSED,
        TokenKind.CONTROL,
    ]


def test_byte_level_has_every_byte_and_an_end() -> None:
    vocabulary = Vocabulary.byte_level()

    assert vocabulary.size == 257
    assert [vocabulary.token_bytes(i) for i in range(256)] == [bytes([i]) for i in range(256)]
    assert vocabulary.stop_token_ids == (256,)
    assert vocabulary.token_name(256) == "<eos>"
    assert vocabulary.token_kind(256) == TokenKind.CONTROL
    assert vocabulary.missing_bytes == frozenset()


def test_missing_bytes_are_those_that_are_no_token() -> None:
    assert small().missing_bytes == frozenset(range(256)) - {ord("a"), 0xC3}


def test_resized_pads_and_cuts() -> None:
    vocabulary = small(stop_token_ids=[0, 5])

    assert vocabulary.resized(9).size == 9
    assert vocabulary.resized(9).token_kind(8) == TokenKind.UNUSED
    cut = vocabulary.resized(5)
    assert (cut.size, cut.stop_token_ids, dict(cut.added_tokens)) == (5, (0,), {"<think>": 4})


@pytest.mark.parametrize(
    "other",
    [
        small(vocab_size=9),
        small(stop_token_ids=[5, 0]),
        small(user_defined={4: "<thing>"}),
        small(user_defined={}, special={4: "<think>", 5: "<end>"}),
        Vocabulary.from_token_bytes(
            [b"a\xc3", b"", b"a", b""],
            special={5: "<end>"},
            user_defined={4: "<think>"},
            stop_token_ids=5,
        ),
    ],
    ids=["size", "stop tokens", "content", "kind", "boundaries"],
)
def test_fingerprint_tells_vocabularies_apart(other: Vocabulary) -> None:
    assert small().fingerprint != other.fingerprint
    assert small() != other


def test_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "from structag.vocabulary import Vocabulary;"
        "print(Vocabulary.byte_level().fingerprint, end='')"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "PYTHONHASHSEED": "7"}

    output = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=HERE,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert output == Vocabulary.byte_level().fingerprint


def test_equal_vocabularies_are_one_key() -> None:
    assert small() == small()
    assert len({small(), small()}) == 1
    assert small() != "something else"


def test_pickling_keeps_everything() -> None:
    copy = pickle.loads(pickle.dumps(small()))

    assert copy == small()
    assert dict(copy.added_tokens) == dict(small().added_tokens)


def test_properties_cannot_be_changed() -> None:
    vocabulary = small()

    with pytest.raises(AttributeError):
        vocabulary.size = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        vocabulary.added_tokens["x"] = 1  # type: ignore[index]


def test_repr_is_short() -> None:
    assert repr(small()) == "<Vocabulary of 6 ids, 2 added tokens, stop tokens [5]>"


@pytest.fixture
def native_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, ...]]]:
    calls: list[tuple[Any, ...]] = []

    class NativeVocabulary:
        def __init__(self, *arguments: Any) -> None:
            calls.append(arguments)

    module = types.ModuleType("structag._core")
    module.Vocabulary = NativeVocabulary  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "structag._core", module)
    yield calls


def test_native_form_is_made_once(native_calls: list[tuple[Any, ...]]) -> None:
    vocabulary = small()
    assert native_calls == []

    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(vocabulary.native)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, made))) == 1
    assert native_calls == [
        ([b"a", b"\xc3", b"a", b"", b"<think>", b""], bytes([0, 0, 0, 3, 1, 2]), [5])
    ]


def test_importing_loads_no_tokenizer_package() -> None:
    code = (
        "import sys, structag.vocabulary as v; v.Vocabulary.byte_level();"
        "heavy = {'torch', 'transformers', 'tokenizers', 'tiktoken', 'sentencepiece', 'gguf'};"
        "print(sorted(heavy & set(sys.modules)), end='')"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}

    output = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=HERE,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert output == "[]"


OUT_OF_RANGE = [
    (
        lambda: Vocabulary.from_token_bytes([b"a"]),
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], stop_token_ids=[]),
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], stop_token_ids=1),
        "stop token 1 is not in the vocabulary, expected ids from 0 to 0; pass stop_token_ids,"
        " and the model's logits width as vocab_size",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], stop_token_ids="</s>"),  # type: ignore[arg-type]
        "got str '</s>' as a stop token, expected an integer",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], stop_token_ids=[True]),
        "got bool 'True' as a stop token, expected an integer",
    ),
    (
        lambda: Vocabulary.from_token_bytes([], stop_token_ids=0),
        "the vocabulary has no tokens, expected at least one token",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a", b"b"], stop_token_ids=0, vocab_size=1),
        "vocab_size 1 is smaller than the tokenizer, which has 2 token ids, expected the width of"
        " the model's logits; a tokenizer's own `vocab_size` often leaves out the added tokens;"
        " to cut off ids on purpose, leave vocab_size out and call `Vocabulary.resized`",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], stop_token_ids=0, vocab_size=1 << 40),
        "vocab_size 1099511627776 is out of range, expected a size from 1 to 4194304",
    ),
    (
        lambda: Vocabulary.from_token_bytes(["a"], stop_token_ids=0),  # type: ignore[list-item]
        "token 0 is str, expected bytes; encode text as UTF-8",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], special={1 << 40: "x"}, stop_token_ids=0),
        "token id 1099511627776 is out of range, expected an id from 0 to 4194303",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], special={-1: "x"}, stop_token_ids=0),
        "token id -1 is out of range, expected an id from 0 to 4194303",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], special={"<s>": 1}, stop_token_ids=0),  # type: ignore[dict-item]
        "got str '<s>' as a token id, expected an integer",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], special={1: b"x"}, stop_token_ids=0),
        "the content of token 1 is bytes, expected a string",
    ),
    (
        lambda: Vocabulary.from_token_bytes([b"a"], special=[1], stop_token_ids=0),
        "token 1 has neither bytes nor content, expected an id from 0 to 0;"
        " pass a mapping of id to content",
    ),
    (lambda: small().token_bytes(6), "there is no token 6, expected an id from 0 to 5"),
    (lambda: small().token_kind(-1), "there is no token -1, expected an id from 0 to 5"),
    (lambda: small().token_name(6), "there is no token 6, expected an id from 0 to 5"),
    (
        lambda: small().resized(2),
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " keep at least one stop token",
    ),
    (
        lambda: small().resized(0),
        "vocab_size 0 is out of range, expected a size from 1 to 4194304",
    ),
]


@pytest.mark.parametrize(
    ("call", "message"), OUT_OF_RANGE, ids=[message[:40] for _, message in OUT_OF_RANGE]
)
def test_value_out_of_range_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        call()

    assert str(caught.value) == message
    assert caught.value.code == "vocabulary-value"


def test_what_is_found_out_about_tokens_is_bounded() -> None:
    letters = [bytes([i]) for i in range(256)]
    pairs = [bytes([i, j]) for i in range(97, 123) for j in range(97, 123)]
    vocabulary = Vocabulary.from_token_bytes(
        [*letters, *pairs, b"<end>"], special=[932], stop_token_ids=[932]
    )
    vocabulary.cache_bytes = 1 << 20
    compiler = Compiler(vocabulary, cache_bytes=0)
    row = allocate_token_bitmask(1, vocabulary.size)
    held = []
    for first in range(26):
        for last in range(first, 26):
            low, high = chr(97 + first), chr(97 + last)
            pattern = f"(?:[{low}-{high}]{{2,9}}|{low}x[a-{high}]+){{3}}"
            matcher = Matcher(compiler.compile_regex(pattern))
            for byte in (low + high).encode():
                matcher.fill_next_token_bitmask(row)
                assert matcher.accept_token(byte)
            held.append(vocabulary.native.memory_bytes)

    assert vocabulary.cache_bytes == 1 << 20
    assert max(held) < 4 << 20
    assert any(later < earlier for earlier, later in pairwise(held))


@pytest.mark.parametrize("value", [0, -1, (1 << 20) - 1, 1 << 62])
def test_the_bound_is_checked(value: int) -> None:
    with pytest.raises(ValueError, match="1 MiB"):
        Vocabulary.byte_level().cache_bytes = value
