"""Every code of `structag.errors.CODES` is documented, and something raises it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

structag = pytest.importorskip("structag")

from structag.errors import CODES, MatcherError, StructagError  # noqa: E402
from structag.grammar.builder import GrammarBuilder  # noqa: E402
from structag.limits import Limits  # noqa: E402

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "errors.md"
WORDPIECE = '{"model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}}}'


def compiler(**options: Any) -> Any:
    return structag.Compiler(structag.Vocabulary.byte_level(), **options)


def tag(format: Any) -> Callable[[], object]:
    return lambda: compiler().compile_structural_tag({"type": "structural_tag", "format": format})


def schema(document: Any) -> Callable[[], object]:
    return lambda: compiler().compile_json_schema(document)


def regex(pattern: str) -> Callable[[], object]:
    return lambda: compiler().compile_regex(pattern)


def ebnf(text: str) -> Callable[[], object]:
    return lambda: compiler().compile_ebnf(text)


def written_as_regex(text: str) -> Callable[[], object]:
    from structag.text.grammar_text import write_grammar_text

    return lambda: write_grammar_text(compiler().compile_ebnf(text).grammar, "regex")


def grammar(make: Callable[[GrammarBuilder], int]) -> Callable[[], object]:
    def compile_it() -> object:
        builder = GrammarBuilder()
        return compiler().compile_grammar(builder.build(make(builder)))

    return compile_it


def triggered(triggers: list[str], begin: str, **fields: Any) -> dict[str, Any]:
    content = {"type": "const_string", "value": "x"}
    inner = {"type": "tag", "begin": begin, "content": content, "end": ""}
    return {"type": "triggered_tags", "triggers": triggers, "tags": [inner], **fields}


def endless_rule(builder: GrammarBuilder) -> int:
    rule = builder.rule("again")
    builder.define(rule, builder.seq(builder.literal(b"a"), rule))
    return rule


def unspellable() -> object:
    vocabulary = structag.Vocabulary.from_token_bytes(
        [b"a", b"."], special={2: "<eos>"}, stop_token_ids=2
    )
    return structag.Compiler(vocabulary).compile_regex("b")


def roll_back_too_far() -> object:
    return structag.Matcher(compiler().compile_regex("a")).rollback(1)


def call_a_busy_matcher() -> object:
    slow = compiler().compile_regex(r"(?=(a|b)*a(a|b){14}$)(a|b){0,100000}")
    matcher = structag.Matcher(slow)
    outcomes: list[object] = []

    def accept() -> None:
        try:
            while not outcomes:
                matcher.accept_string("abbaabab" * 500)
        except MatcherError as error:
            outcomes.append(error)

    other = threading.Thread(target=accept)
    other.start()
    try:
        while not outcomes:  # whoever comes second is refused
            matcher.is_completed()
    except MatcherError as error:
        outcomes.append(error)
    other.join()
    raise outcomes[0]  # type: ignore[misc]


def mask_of_wrong_type() -> object:
    logits = np.zeros((1, 64), dtype=np.float32)
    return structag.apply_token_bitmask_inplace(logits, np.zeros((1, 2), dtype=np.int64))


TEXT = {"type": "any_text"}


def compile_too_late() -> object:
    with structag.Deadline(0):
        return compiler().compile_regex("a")


def the_same_matcher_twice() -> object:
    matcher = structag.Matcher(compiler().compile_regex("a"))
    return structag.BatchMatcher().accept_token([matcher, matcher], [97, 97])


def tree_with_a_loop() -> object:
    matcher = structag.Matcher(compiler().compile_regex("aa"))
    arrays = [np.array(numbers, np.int64) for numbers in ([1, 0], [-1, -1], [0, 97])]
    return matcher.traverse_draft_tree(*arrays, np.zeros((2, 9), np.int32))


def load_with_another_vocabulary() -> object:
    saved = compiler().compile_regex("a").to_bytes()
    return structag.load(saved, structag.Vocabulary.byte_level().resized(300))


CASES: list[tuple[str, Callable[[], object]]] = [
    ("json-syntax", lambda: compiler().compile_structural_tag('{"type": tag}')),
    ("json-syntax", lambda: compiler().compile_json_schema('{"type":\x00}')),
    ("text-encoding", lambda: compiler().compile_json_schema(b'"\xff"')),
    ("text-encoding", tag({"type": "const_string", "value": "\ud800"})),
    ("nesting-limit", lambda: compiler().compile_structural_tag("[" * 10_000)),
    ("tag-type", tag({"type": "trigered_tags"})),
    ("tag-field", tag({"type": "tag", "begin": "a", "content": TEXT})),
    ("tag-value", tag({"type": "or", "elements": []})),
    ("trigger-unreachable", tag(triggered(["<a", "<a>"], "<a>"))),
    ("trigger-mismatch", tag(triggered(["<a>"], "<b>"))),
    ("exclude-conflict", tag(triggered(["<tool>"], "<tool>", excludes=["<"]))),
    ("no-way-out", tag({"type": "sequence", "elements": [TEXT, TEXT]})),
    ("token-unknown", tag({"type": "token", "token": "<tool>"})),
    ("token-unknown", tag({"type": "exclude_token", "exclude_tokens": [257]})),
    ("family-unknown", lambda: structag.model_format("qwen4")),
    ("family-value", lambda: structag.register_model_format({"calls": {}})),
    ("tool-value", lambda: structag.model_format("qwen3", tool_choice="always")),
    (
        "reasoning-conflict",
        lambda: structag.model_format("qwen3", reasoning=False, prompt_tail="<think>"),
    ),
    ("schema-value", schema({"minLength": -1})),
    ("schema-reference", schema({"$ref": "#/$defs/none"})),
    ("schema-unsatisfiable", schema({"type": "string", "enum": [1]})),
    ("schema-keyword", schema({"type": "array", "uniqueItems": True})),
    ("regex-syntax", regex("(a")),
    ("regex-feature", regex(r"(a)\1")),
    ("grammar-syntax", ebnf('root ::= "a" (')),
    ("grammar-feature", ebnf('root[lazy] ::= "a"')),
    ("notation", written_as_regex('root ::= root "a" | "b"')),
    ("grammar-undefined", ebnf("root ::= item")),
    ("grammar-undefined", grammar(lambda builder: builder.rule("item"))),
    ("sample-length", lambda: structag.Sampler(compiler().compile_regex("abc")).draw(2)),
    ("grammar-empty", grammar(endless_rule)),
    ("grammar-operand", grammar(lambda builder: builder.complement(builder.rule("item")))),
    ("limit", lambda: compiler(limits=Limits(max_source_bytes=4)).compile_json_schema("[1,2,3]")),
    ("deadline", compile_too_late),
    ("vocabulary-file", lambda: structag.Vocabulary.from_tokenizer_json("no/such/tokenizer.json")),
    ("vocabulary-value", lambda: structag.Vocabulary.byte_level().token_bytes(-1)),
    ("vocabulary-spelling", unspellable),
    ("matcher-state", roll_back_too_far),
    ("matcher-busy", call_a_busy_matcher),
    ("bitmask-shape", mask_of_wrong_type),
    ("batch", the_same_matcher_twice),
    ("draft-tree", tree_with_a_loop),
    ("artefact-file", lambda: structag.load(b"", structag.Vocabulary.byte_level())),
    ("artefact-vocabulary", load_with_another_vocabulary),
    ("source-kind", lambda: compiler().compile(3)),
]
ELSEWHERE = {
    "vocabulary-kind": "needs a file: see the test below",
    "reentrant-call": "needs a signal: see compiler/test_interrupts.py",
}


@pytest.mark.parametrize(
    ("code", "raise_it"), CASES, ids=[f"{code}-{i}" for i, (code, _) in enumerate(CASES)]
)
def test_code_is_raised(code: str, raise_it: Callable[[], object]) -> None:
    with pytest.raises(StructagError) as caught:
        raise_it()

    assert caught.value.code == code
    assert caught.value.to_json()["code"] == code
    assert str(caught.value)


def test_wordpiece_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(WORDPIECE, encoding="utf-8")
    with pytest.raises(StructagError) as caught:
        structag.Vocabulary.from_tokenizer_json(tmp_path)

    assert caught.value.code == "vocabulary-kind"


def test_every_code_has_a_case() -> None:
    assert {code for code, _ in CASES} | ELSEWHERE.keys() == CODES.keys()


def test_every_code_has_one_row_in_the_documentation() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(rows) == sorted(CODES)
