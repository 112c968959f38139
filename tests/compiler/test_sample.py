"""What is drawn is accepted, is within its bound, and is right by somebody else's reading, too."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest
from hypothesis import given, settings
from support.maskbench import DATA, PARTS, part_of_500
from support.reference_matcher import ReferenceMatcher
from support.small_languages import RandomGrammar, language
from support.strategies import GrammarSample, grammars
from support.tag_cases import CONTROL, ORDINARY, TAG_CASES, TOKEN_CASES, USER_DEFINED

structag = pytest.importorskip("structag")

from support.engine import LIMITS, compile_or_none  # noqa: E402
from support.family_cases import sample_tag, small_vocabulary  # noqa: E402

from structag.errors import GrammarError, LimitError, StructagError  # noqa: E402
from structag.grammar.builder import GrammarBuilder  # noqa: E402
from structag.openai import model_family  # noqa: E402
from structag.sample import Sampler  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())


def draws(sampler: Sampler, *rooms: int) -> list[tuple[bytes | int, ...]]:
    """Members with so much room beyond the shortest, checked."""
    found = []
    for room in rooms:
        bound = sampler.least_bytes + room
        pieces = sampler.draw(bound).pieces

        assert sampler.accepts(pieces), pieces
        assert sum(1 if isinstance(piece, int) else len(piece) for piece in pieces) <= bound
        found.append(pieces)
    return found


def tag_of(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def exact(text: str) -> int | Decimal:
    """A number as validators need it to tell multiples: no float."""
    value = Decimal(text)
    is_small = value.adjusted() < 1000
    return int(value) if is_small and value == value.to_integral_value() else value


@pytest.mark.parametrize("name", structag.model_formats())
def test_every_family(name: str) -> None:
    family = model_family(name)
    tokens = small_vocabulary(tuple(family.tokens), tuple(family.stop), True)
    for sample in family.samples[:4]:
        for compiler in (BYTES, structag.Compiler(tokens)):
            compiled = compiler.compile_structural_tag(sample_tag(family, sample))
            draws(Sampler(compiled), 0, 40, 400)


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_every_format(case: Any) -> None:
    draws(Sampler(BYTES.compile_structural_tag(tag_of(case.format))), 0, 3, 10, 10, 40)


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_formats_that_read_tokens(case: Any) -> None:
    ordinary = [text.encode() for text in (*ORDINARY, *USER_DEFINED, *CONTROL, "<eos>")]
    first = len(ORDINARY)
    own = range(first, first + len(USER_DEFINED))
    vocabulary = structag.Vocabulary.from_token_bytes(
        ordinary,
        user_defined=own,
        special=range(own.stop, len(ordinary)),
        stop_token_ids=len(ordinary) - 1,
    )
    compiler = structag.Compiler(vocabulary)
    try:
        compiled = compiler.compile_structural_tag(tag_of(case.format))
    except StructagError as error:
        assert not case.accept, error
        return
    draws(Sampler(compiled), 0, 3, 10, 10, 40)


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with maskbench")
@pytest.mark.parametrize("part", range(PARTS))
def test_real_schemas(part: int) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing.exceptions import Unresolvable

    refused = 0
    for row in part_of_500(part):
        schema = row["schema"]
        try:
            compiled = BYTES.compile_json_schema(schema)
        except StructagError:
            refused += 1
            continue
        for pieces in draws(Sampler(compiled), 0, 30, 400):
            text = b"".join(map(bytes, pieces))
            judge = validator_for(schema, Draft202012Validator)(schema)
            with contextlib.suppress(
                Unresolvable, InvalidOperation, TypeError
            ):  # more than it can judge
                # Its floats are no good for multiples, and exact numbers equal no float in an enum.
                if not judge.is_valid(json.loads(text)):
                    assert judge.is_valid(json.loads(text, parse_float=exact)), row["id"]

    assert refused <= 3


@settings(max_examples=settings.get_profile("structag").max_examples // 10 or 1)
@given(grammars())
def test_the_definitions_agree(sample: GrammarSample) -> None:
    compiled = compile_or_none(structag.Compiler(BYTES.vocabulary, limits=LIMITS), sample.grammar)
    if compiled is None:
        return
    sampler = Sampler(compiled)
    reference = ReferenceMatcher(sample.grammar)
    for pieces in draws(sampler, 0, 2, 5):
        assert reference.accepts(b"".join(map(bytes, pieces)))


def test_the_shortest_is_found() -> None:
    found = 0
    for seed in range(150):
        grammar = RandomGrammar(seed).draw()
        words = language(grammar, b"ab", 4)
        try:
            compiled = BYTES.compile_grammar(grammar)
        except GrammarError:
            continue
        if words:
            found += 1

            assert Sampler(compiled).least_bytes == min(map(len, words)), seed

    assert found > 50


def test_equal_seeds_draw_equal_members() -> None:
    compiled = BYTES.compile_json_schema(True)
    first, second = Sampler(compiled, 7), Sampler(compiled, 7)
    outputs = [first.draw() for _ in range(20)]

    assert outputs == [second.draw() for _ in range(20)]
    assert len(set(outputs)) > 10


def test_any_room_is_used() -> None:
    sampler = Sampler(BYTES.compile_json_schema({"type": "array"}))
    lengths = {len(sampler.draw(300).data or b"") for _ in range(60)}

    assert min(lengths) < 20
    assert max(lengths) > 60


def test_recursion_without_length_ends() -> None:
    for text in ("root ::= root root | root | ()", 'root ::= (root root root | "x")*'):
        draws(Sampler(BYTES.compile_ebnf(text)), 0, 0, 50)


def test_a_text_before_a_trigger_holds_none() -> None:
    format = {
        "type": "triggered_tags",
        "triggers": ["<a", "a<"],
        "tags": [
            {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"},
            {"type": "tag", "begin": "a<b", "content": {"type": "any_text"}, "end": "!"},
        ],
        "at_least_one": True,
        "stop_after_first": True,
    }
    draws(Sampler(BYTES.compile_structural_tag(tag_of(format))), *range(0, 60, 2))


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}}, '["a","b"]'),
        ({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, '["","a"]'),
        ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, "[0,1]"),
        # Of these alternatives one has a single key.
        ({"type": "array", "uniqueItems": True, "items": {"type": ["null", "string"]}}, '["","a"]'),
    ],
)
def test_items_of_a_list_differ(schema: Any, least: str) -> None:
    sampler = Sampler(BYTES.compile_json_schema({**schema, "minItems": 2}))
    found = draws(sampler, 0, 0, 5, 20, 60)

    assert sampler.least_bytes == len(least)
    for pieces in found:
        items = json.loads(b"".join(map(bytes, pieces)))
        assert len(items) == len({*items}) == 2


def test_each_alternative_has_keys_of_its_own() -> None:
    b = GrammarBuilder()
    ways = [b.distinct(None, b.literal(b"a")), b.seq(b.literal(b"x"), b.distinct(None, b.any_text))]
    grammar = b.build(b.tally([(b.alt(*ways), 3, 3)], 0, None, b.epsilon))
    sampler = Sampler(BYTES.compile_grammar(grammar))

    assert sampler.least_bytes == len("axxa")
    outputs = {b"".join(map(bytes, pieces)) for pieces in draws(sampler, *[4] * 20)}
    assert any(b"a" in output[:1] for output in outputs)


def test_a_member_that_any_other_member_may_equal_is_paid_for() -> None:
    b = GrammarBuilder()
    word = b.literal(b"ab")
    sampler = Sampler(BYTES.compile_grammar(b.build(b.unordered([(word, False)], word, b.epsilon))))
    draws(sampler, *[0, 1, 2, 5] * 5)


def test_a_bound_that_is_too_short() -> None:
    sampler = Sampler(BYTES.compile_regex("[0-9]{4}-[0-9]{2}"))

    with pytest.raises(GrammarError) as caught:
        sampler.draw(3)
    assert str(caught.value) == (
        "the shortest output has 7 bytes, expected at most 3; allow longer outputs"
    )


def test_what_takes_much_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structag.regular_members.SOME_WORK", 1_000)
    monkeypatch.setattr("structag.regular_members.LITTLE_WORK", 1_000)
    compiled = BYTES.compile_regex("(?=.*a)(?=.*b)(?=.*c).{20}")

    with pytest.raises(LimitError, match="work"):
        Sampler(compiled)
