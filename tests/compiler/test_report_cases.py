"""What others reported of the interfaces of such libraries, answered as the reports ask for.

The cases are in ``STRUCTAG_DATA/cases/reports.jsonl``, kind ``api``; the inputs come from there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structag import (
    BatchMatcher,
    Compiler,
    FormatError,
    Matcher,
    MatcherError,
    StructagError,
    Vocabulary,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    load,
)

DATA = os.environ.get("STRUCTAG_DATA")


def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level())


def a_grammar_that_does_not_compile_gives_no_matcher(given: Any) -> None:
    """Not at once, not later, and not the second time."""
    one = compiler()
    for _ in range(2):
        with pytest.raises(StructagError):
            one.compile_json_schema(given["json_schema"])
        with pytest.raises(StructagError):
            one.compile_json_schema_async(given["json_schema"]).result(60)
    assert one.counters.compiles == 0


def an_error_says_where(given: Any) -> None:
    with pytest.raises(StructagError) as caught:
        compiler().compile_json_schema(given["json_schema"])

    assert caught.value.pointer == "/properties/a/properties/b/pattern"
    assert "/properties/a/properties/b/pattern" in str(caught.value)
    assert "group" in str(caught.value) or ")" in str(caught.value)


def a_grammar_comes_back_with_the_same_masks_or_not_at_all(given: Any) -> None:
    compiled = compiler().compile_json_schema(given["json_schema"])
    data = compiled.to_bytes()
    pair = [Matcher(compiled), Matcher(load(data, compiled.vocabulary))]
    for token in (*'{"k":"é"}'.encode(), 256):
        rows = [np.zeros(9, np.int32) for _ in pair]
        for matcher, row in zip(pair, rows, strict=True):
            matcher.fill_next_token_bitmask(row)
        assert rows[0].tolist() == rows[1].tolist()
        assert all(matcher.accept_token(token) for matcher in pair)
    edited = data.replace(b"vocabulary", b"vocabulaty")
    for wrong in (data[:-7], edited, data[:8] + b"\x09" + data[9:]):
        with pytest.raises(FormatError):
            load(wrong, compiled.vocabulary)


def masks_and_logits_of_different_heights_are_matched_by_row(given: Any) -> None:
    batch, rows = given["batch"], given["logits_rows"]
    compiled = compiler().compile_regex("a")
    matchers = [Matcher(compiled) for _ in range(batch)]
    logits, bitmask = np.zeros((rows, 257), np.float32), allocate_token_bitmask(rows, 257)
    chosen = list(range(0, rows, 2))[:batch]
    BatchMatcher().fill_next_token_bitmask(matchers, bitmask, chosen)

    apply_token_bitmask_inplace(logits, bitmask, chosen)
    for row in range(rows):
        allowed = np.flatnonzero(np.isfinite(logits[row])).tolist()
        assert allowed == ([ord("a")] if row in chosen else list(range(257)))
    with pytest.raises(MatcherError) as caught:
        apply_token_bitmask_inplace(logits, bitmask[:batch])
    assert str(batch) in str(caught.value) and str(rows) in str(caught.value)
    apply_token_bitmask_inplace(logits[:0], bitmask[:0])
    assert BatchMatcher().fill_next_token_bitmask([], bitmask[:0]) == ([], {})


def every_stop_token_ends_and_a_matcher_may_have_its_own(given: Any) -> None:
    words = [*(bytes([byte]) for byte in range(256)), b"", b""]
    vocabulary = Vocabulary.from_token_bytes(
        words, special={256: "<eos>", 257: "<im_end>"}, stop_token_ids=[256, 257]
    )
    compiled = Compiler(vocabulary).compile_regex(given["regex"])
    for stops in (None, [256], [257, ord("!")]):
        for stop in (256, 257, ord("!")):
            matcher = Matcher(compiled, stop_token_ids=stops)
            assert matcher.accept_string("a")
            assert matcher.accept_token(stop) == (stop in (stops or [256, 257]))


ANSWERS: dict[str, Callable[[Any], None]] = {
    "ap_fail_closed": a_grammar_that_does_not_compile_gives_no_matcher,
    "ap_error_names_path": an_error_says_where,
    "ap_serialize_roundtrip": a_grammar_comes_back_with_the_same_masks_or_not_at_all,
    "ap_bitmask_shapes": masks_and_logits_of_different_heights_are_matched_by_row,
    "ap_multi_stop_override": every_stop_token_ends_and_a_matcher_may_have_its_own,
}


def cases() -> dict[str, Any]:
    path = Path(DATA or "", "cases", "reports.jsonl")
    if not path.is_file():
        pytest.skip("needs STRUCTAG_DATA")
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {row["id"]: row["input"] for row in rows if row["kind"] == "api"}


@pytest.mark.parametrize("name", ANSWERS)
def test_reported_case(name: str) -> None:
    ANSWERS[name](cases()[name])


def test_every_reported_case_is_answered() -> None:
    assert cases().keys() == ANSWERS.keys()


def test_the_outcome_is_the_same_in_every_process() -> None:
    """What is compiled, what is refused, and every mask; engines decide on several machines."""
    program = """if True:
        import hashlib, json, numpy as np, structag
        compiler = structag.Compiler(
            structag.Vocabulary.byte_level(), limits=structag.Limits(max_work=40_000)
        )
        sources = [
            {"type": "object", "properties": {"a": {"enum": ["x", "y", 1]}, "b": {}}},
            {"anyOf": [{"type": "string", "format": "date"}, {"type": "array", "maxItems": 3}]},
            {"type": "string", "pattern": "^(a|b)*c{3,900}$"},
            {"type": "string", "pattern": "(?<=x"},
            {"$ref": "#"},
        ]
        said = []
        for source in sources:
            try:
                grammar = compiler.compile_json_schema(source)
            except structag.StructagError as error:
                said.append(error.to_json())
                continue
            said.append([grammar.fingerprint, hashlib.sha256(grammar.to_bytes()).hexdigest()])
            matcher, row = structag.Matcher(grammar), np.zeros(9, np.int32)
            for byte in b'{"a": "x", "b": [1.5, {"c": "d"}]}':
                try:
                    matcher.fill_next_token_bitmask(row)
                    said.append([row.tolist(), matcher.accept_token(byte)])
                except structag.LimitError as error:
                    said.append(error.to_json())
        print(json.dumps(said))
    """
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert runs[0] == runs[1]
    assert len(json.loads(runs[0])) > 30
