"""Formats that do not fit together are refused at their place, with reason and way out."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.tag_cases import (
    TAG_CASES,
    TagCase,
    any_of,
    const,
    dispatch,
    no_token,
    separated,
    seq,
    tag,
    text,
    token,
    token_dispatch,
    token_triggered,
    tokens,
    triggered,
    wrap,
)

from structag.errors import FormatError, LimitError
from structag.limits import Limits
from structag.tags.check import check_format
from structag.tags.parse import parse_format
from structag.tags.tokens import TokenNames
from structag.vocabulary import Vocabulary

NAMES = TokenNames(Vocabulary.byte_level())
X = tag("<x>", const("1"), "</x>")

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "tokens_before_something",
        seq(tokens(), const("a")),
        "no-way-out",
        "/format/elements/0",
    ),
    (
        "text_that_excludes_only_one_of_two_things_that_follow",
        seq(text("a"), any_of(const("ab"), const("b"))),
        "no-way-out",
        "/format/elements/0",
    ),
    ("dispatch_before_something", seq(dispatch(("@", X)), X), "no-way-out", "/format/elements/0"),
    (
        "tag_without_end_before_another",
        separated("", tag("<", text(), "")),
        "no-way-out",
        "/format/tags/0/content",
    ),
    (
        "pattern_inside_another",
        dispatch(("ab", X), ("a", X)),
        "trigger-unreachable",
        "/format/rules/0/0",
    ),
    (
        "pattern_that_is_excluded",
        dispatch(("ab", X), excludes=["b"]),
        "exclude-conflict",
        "/format/excludes/0",
    ),
    (
        "text_tag_among_tokens",
        token_triggered(["a"], [X]),
        "trigger-mismatch",
        "/format/tags/0/begin",
    ),
    (
        "token_tag_in_text",
        triggered(["a"], [tag(token("a"), text(), "b")]),
        "trigger-mismatch",
        "/format/tags/0/begin",
    ),
    (
        "tag_of_no_trigger_token",
        token_triggered(["a"], [tag(token("b"), text(), "c")]),
        "trigger-mismatch",
        "/format/tags/0/begin/token",
    ),
    (
        "trigger_token_without_tag",
        token_triggered(["a", "b"], [tag(token("a"), text(), "c")]),
        "trigger-mismatch",
        "/format/trigger_tokens/1",
    ),
    (
        "trigger_token_that_is_excluded",
        token_dispatch(("a", X), ("b", X), exclude_tokens=["c", "b"]),
        "exclude-conflict",
        "/format/exclude_tokens/1",
    ),
    (
        "trigger_token_that_is_the_end",
        tag("(", token_dispatch(("a", X)), token("a")),
        "trigger-unreachable",
        "/format/content",
    ),
    ("unknown_token", seq(X, token("<tool>")), "token-unknown", "/format/elements/1/token"),
    ("token_out_of_range", no_token("a", 257), "token-unknown", "/format/exclude_tokens/1"),
    (
        "unknown_end_token",
        tag("(", text(), [")", token("nothing")]),
        "token-unknown",
        "/format/end/1/token",
    ),
    (
        "unknown_rule_token",
        token_dispatch(("a", X), ("nothing", X)),
        "token-unknown",
        "/format/rules/1/0",
    ),
    ("text_before_something", seq(text(), const("a")), "no-way-out", "/format/elements/0"),
    (
        "text_before_an_optional",
        seq(text(), wrap("optional", X)),
        "no-way-out",
        "/format/elements/0",
    ),
    (
        "text_before_something_in_a_tag",
        tag("(", seq(text(), const("a")), ")"),
        "no-way-out",
        "/format/content/elements/0",
    ),
    (
        "tag_without_end_before_something",
        seq(tag("(", text(), ""), const("a")),
        "no-way-out",
        "/format/elements/0/content",
    ),
    (
        "tag_that_may_end_empty",
        seq(tag("(", text(), [")", ""]), const("a")),
        "no-way-out",
        "/format/elements/0/content",
    ),
    (
        "branch_before_something",
        seq(any_of(const("a"), text()), const("a")),
        "no-way-out",
        "/format/elements/0/elements/1",
    ),
    (
        "repeated_text_with_something",
        tag("(", wrap("star", seq(const("-"), text())), ")"),
        "no-way-out",
        "/format/content/content/elements/1",
    ),
    (
        "repeated_triggered_tags",
        wrap("repeat", triggered(["<x>"], [X]), min=0, max=2),
        "no-way-out",
        "/format/content",
    ),
    (
        "triggered_tags_before_something",
        seq(triggered(["<x>"], [X], at_least_one=True), const("a")),
        "no-way-out",
        "/format/elements/0",
    ),
    (
        "open_tag_before_something",
        seq(
            triggered(["<"], [tag("<", text(), "")], at_least_one=True, stop_after_first=True),
            const("a"),
        ),
        "no-way-out",
        "/format/elements/0/tags/0/content",
    ),
    (
        "trigger_inside_a_trigger",
        triggered(["<x>", "x"], [X, tag("x", const("1"), "")]),
        "trigger-unreachable",
        "/format/triggers/0",
    ),
    (
        "trigger_begins_another",
        triggered(["<x>", "<"], [X]),
        "trigger-unreachable",
        "/format/triggers/0",
    ),
    (
        "end_inside_a_trigger",
        tag("", triggered(["<x>"], [X]), ">"),
        "trigger-unreachable",
        "/format/content/triggers/0",
    ),
    (
        "tag_without_trigger",
        triggered(["<a>"], [tag("<b>", text(), "</b>")]),
        "trigger-mismatch",
        "/format/tags/0/begin",
    ),
    (
        "trigger_without_tag",
        triggered(["<x>", "<y>"], [X]),
        "trigger-mismatch",
        "/format/triggers/1",
    ),
    (
        "exclude_in_a_trigger",
        triggered(["<x>"], [X], excludes=["no", "x"]),
        "exclude-conflict",
        "/format/excludes/1",
    ),
    (
        "exclude_in_a_begin",
        triggered(["<"], [X], excludes=["x>"]),
        "exclude-conflict",
        "/format/excludes/0",
    ),
]


def check(format: Any, limits: Limits | None = None) -> None:
    check_format(parse_format({"type": "structural_tag", "format": format}), NAMES, limits)


@pytest.mark.parametrize(
    ("format", "code", "pointer"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_refused(format: Any, code: str, pointer: str) -> None:
    with pytest.raises(FormatError) as caught:
        check(format)

    assert (caught.value.code, caught.value.pointer) == (code, pointer)
    assert caught.value.hint


@pytest.mark.parametrize("case", TAG_CASES, ids=lambda case: case.name)
def test_accepted(case: TagCase) -> None:
    check(case.format)


def test_the_message_says_what_follows() -> None:
    with pytest.raises(FormatError) as caught:
        check(seq(text(), const("a")))

    assert str(caught.value) == (
        "`/format/elements/1` follows the `any_text`, and nothing tells where it stops, expected "
        "a region at the end of a tag or of the document, one with a bound, or one that excludes "
        "the marker that follows - at "
        '`/format/elements/0`; put it into {"type": "tag", "begin": "", "content": …, "end": "…"}'
    )


@pytest.mark.timing
def test_thousands_of_triggers_are_checked_quickly() -> None:
    tags = [tag(f"<tool_{i}>", const("x"), "</>") for i in range(5000)]
    document = parse_format(
        {"type": "structural_tag", "format": triggered([t["begin"] for t in tags], tags)}
    )
    start = time.perf_counter()
    check_format(document, NAMES)

    assert time.perf_counter() - start < 2


def test_comparing_long_texts_is_bounded() -> None:
    triggers = ["x" * length + "y" for length in range(1, 1500)]
    format = triggered(triggers, [tag(trigger, const("1"), "") for trigger in triggers])
    with pytest.raises(LimitError) as caught:
        check(format, Limits(max_work=1_000_000))

    assert caught.value.setting == "max_work"


def test_shared_python_data_that_unfolds_for_ever_is_bounded() -> None:
    format: Any = const("x")
    for _ in range(200):
        format = any_of(format, format)
    with pytest.raises(LimitError) as caught:
        check(format)

    assert caught.value.setting == "max_work"
