"""Near misses are refused, where they say, for the reason that they give."""

from __future__ import annotations

import pytest

structag = pytest.importorskip("structag")

from support.family_cases import sample_tag  # noqa: E402
from support.maskbench import DATA, PARTS, part_of_500  # noqa: E402

from structag.errors import StructagError  # noqa: E402
from structag.near_miss import NearMiss, near_misses  # noqa: E402
from structag.openai import model_family  # noqa: E402
from structag.sample import Sampler  # noqa: E402

BYTES = structag.Compiler(structag.Vocabulary.byte_level())


def check(compiled: structag.CompiledGrammar, count: int) -> list[NearMiss]:
    sampler = Sampler(compiled)
    found = list(near_misses(sampler, count, sampler.least_bytes + 60))
    for miss in found:
        text = b"".join(map(bytes, miss.pieces))
        matcher = structag.Matcher(compiled)

        assert not (matcher.accept_bytes(text) and matcher.is_completed()), miss
        matcher.reset()
        assert matcher.accept_bytes(text[: miss.accepted])
        assert matcher.allowed_bytes() == miss.allowed
        assert matcher.is_completed() == miss.may_end
        if miss.is_short:
            assert miss.accepted == len(text)
            assert not miss.may_end
        else:
            assert text[miss.accepted] not in miss.allowed
    assert len({miss.pieces for miss in found}) == len(found)
    return found


@pytest.mark.parametrize("name", structag.model_formats())
def test_every_family(name: str) -> None:
    family = model_family(name)
    for sample in family.samples[:3]:
        required = sample.model_copy(update={"tool_choice": "required"})

        assert len(check(BYTES.compile_structural_tag(sample_tag(family, required)), 4)) == 4


@pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with maskbench")
@pytest.mark.parametrize("part", range(PARTS))
def test_real_schemas(part: int) -> None:
    few = 0
    for row in part_of_500(part):
        try:
            compiled = BYTES.compile_json_schema(row["schema"])
        except StructagError:
            continue
        few += len(check(compiled, 3)) < 3

    assert few == 0


def test_the_change_is_named() -> None:
    changes = {miss.change for miss in check(BYTES.compile_regex("ab"), 40)}

    assert {"`ab` left out", "`ab` said twice", "cut short before `b`"} <= changes


def test_what_refuses_nothing_has_none() -> None:
    anything = BYTES.compile_structural_tag(
        {"type": "structural_tag", "format": {"type": "any_text"}}
    )

    assert check(anything, 3) == []
