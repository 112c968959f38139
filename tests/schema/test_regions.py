"""Names split by the patterns that match them."""

from __future__ import annotations

import pytest

from structag.grammar.builder import GrammarBuilder
from structag.schema.regions import split_names
from structag.text.membership import belongs
from structag.text.regex import lower_regex

NAMES = ["", "a", "b", "ab", "ba", "x-1", "x-2", "y", "MD5", "contacts:1:mail", "contacts:2:name"]


@pytest.mark.parametrize(
    ("patterns", "count"),
    [
        ([], 1),
        (["^a"], 2),
        (["^a", "b$"], 4),
        (["^a", "^b", "^x-"], 4),
        (["^(a|b)$", "^(ab|ba)$", "^y$"], 4),
        (["^[a-zA-Z0-9]+$", "^MD5$", "^y$"], 6),
        ([f"^contacts:[0-3]:{word}$" for word in ("mail", "name", "phone", "type")], 5),
        ([f"^word {i}$" for i in range(40)], 41),
    ],
)
def test_every_name_is_in_the_one_region_of_its_patterns(patterns: list[str], count: int) -> None:
    builder = GrammarBuilder()
    refs = [lower_regex(pattern, builder, search=True) for pattern in patterns]
    regions = split_names(builder, refs)

    assert regions is not None
    assert len(regions) == count
    for name in [*NAMES, "word 7"]:
        matched = {ref for ref in refs if belongs(builder, ref, name)}
        assert [r.matched for r in regions if belongs(builder, r.names, name)] == [matched]


def test_too_many_regions() -> None:
    builder = GrammarBuilder()
    refs = [lower_regex(f"{letter}", builder, search=True) for letter in "abcdefgh"]

    assert split_names(builder, refs) is None
