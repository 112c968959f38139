"""The errors themselves: what they carry survives `str`, JSON and pickling."""

from __future__ import annotations

import pickle

import pytest

import structag
from structag.errors import LimitError, StructagError, UnsupportedError

COMPILER = structag.Compiler(structag.Vocabulary.byte_level())


def test_an_error_survives_pickling() -> None:
    unsupported = UnsupportedError(
        "no", code="schema-keyword", pointer="/a", expected="b", hint="mend it"
    )
    limit = LimitError("too far", limit="work", value=3, setting="max_work", pointer="/x")
    for error in (unsupported, limit):
        copy = pickle.loads(pickle.dumps(error))

        assert type(copy) is type(error)
        assert str(copy) == str(error) and copy.__dict__ == error.__dict__


def test_a_lone_surrogate_in_a_pattern_is_a_typed_error() -> None:
    for compile_it in (
        lambda: COMPILER.compile_regex("a\ud800"),
        lambda: COMPILER.compile_json_schema({"type": "string", "pattern": "\ud800"}),
    ):
        with pytest.raises(StructagError) as caught:
            compile_it()
        assert caught.value.code in ("text-encoding", "schema-value")
        str(caught.value).encode()


def test_at_puts_a_pointer_in_front() -> None:
    error = UnsupportedError("no", code="schema-keyword", pointer="/a")

    assert error.at("/format").pointer == "/format/a"
