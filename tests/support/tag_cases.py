"""Small structural tags with outputs they must accept and reject; no schema, no pattern.

One table for the reference matcher (`tests/tags/test_lower.py`) and for the engine
(`tests/tags/test_engine.py`).  Names are claims.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class TagCase(NamedTuple):
    """One structural tag (its `format`) and what it must do."""

    name: str
    format: dict[str, Any]
    accept: tuple[str, ...]
    reject: tuple[str, ...]


def text(*excludes: str) -> dict[str, Any]:
    return {"type": "any_text", "excludes": list(excludes)} if excludes else {"type": "any_text"}


def const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def seq(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": list(elements)}


def any_of(*elements: Any) -> dict[str, Any]:
    return {"type": "or", "elements": list(elements)}


def tag(begin: str, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def wrap(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "content": content, **fields}


def triggered(triggers: list[str], tags: list[Any], **fields: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, **fields}


A, B = tag("<a>", const("x"), "</a>"), tag("<b>", const("y"), "</b>")
ONCE = {"at_least_one": True, "stop_after_first": True}

TAG_CASES = (
    TagCase("const_string_is_exact", const("hey"), ("hey",), ("", "he", "heyy", "Hey")),
    TagCase("empty_const_string", const(""), ("",), ("a",)),
    TagCase("sequence_keeps_the_order", seq(const("a"), const("b")), ("ab",), ("ba", "a", "b", "")),
    TagCase("or_takes_any_one", any_of(const("a"), const("b")), ("a", "b"), ("ab", "", "c")),
    TagCase("optional_or_nothing", wrap("optional", const("ab")), ("", "ab"), ("a", "abab")),
    TagCase("plus_once_or_more", wrap("plus", const("ab")), ("ab", "abab"), ("", "aba")),
    TagCase("star_any_number", wrap("star", const("ab")), ("", "ab", "ababab"), ("a", "abb")),
    TagCase(
        "repeat_counts",
        wrap("repeat", const("a"), min=2, max=3),
        ("aa", "aaa"),
        ("", "a", "aaaa"),
    ),
    TagCase(
        "repeat_minus_one_is_unbounded",
        wrap("repeat", const("a"), min=2, max=-1),
        ("aa", "a" * 9),
        ("", "a"),
    ),
    TagCase("repeat_zero_is_nothing", wrap("repeat", const("a"), min=0, max=0), ("",), ("a",)),
    TagCase("free_text_to_the_end_of_output", text(), ("", "anything", "ä\n<x>"), ()),
    TagCase("excluded_text", text("no", "ab"), ("", "n", "n o", "b a"), ("no", "xno", "aab")),
    TagCase("tag_with_text", tag("<", text(), ">"), ("<>", "<a<b>"), ("<", "<a", "<a>b", "<>>")),
    TagCase(
        "end_overlaps_itself",
        tag("(", text(), "aa"),
        ("(aa", "(aaa", "(xaa", "(xaaa"),
        ("(a", "(aaaa", "(aaxaa", "(aax"),
    ),
    TagCase(
        "end_that_needs_failure_links",
        tag("(", text(), "aab"),
        ("(aab", "(aaab", "(xaaaab"),
        ("(aaba", "(aabaab", "(aa", "(ab"),
    ),
    TagCase(
        "exclude_that_begins_the_end_still_ends",
        tag("<t>", text("</"), "</t>"),
        ("<t></t>", "<t>a<</t>", "<t>a</t>"),
        ("<t>a</b></t>", "<t></</t>"),
    ),
    TagCase("exclude_equal_to_the_end", tag("<", text(">"), ">"), ("<>", "<a>"), ("<a>>",)),
    TagCase(
        "any_end_of_a_list",
        tag("[", text(), ["]", "##"]),
        ("[]", "[##", "[a#]", "[a##"),
        ("[a#", "[a##]", "[]]"),
    ),
    TagCase("end_of_a_fixed_content", tag("[", const("a"), ["]", ")"]), ("[a]", "[a)"), ("[a",)),
    TagCase("empty_begin", tag("", text(), "</think>"), ("</think>", "a</think>"), ("a", "")),
    TagCase(
        "empty_end_runs_to_the_end_of_output", tag(">", text("#"), ""), (">", ">a"), ("", ">#")
    ),
    TagCase("empty_end_of_a_fixed_content", seq(tag("<", const("a"), ""), B), ("<a<b>y</b>",), ()),
    TagCase(
        "empty_end_takes_the_next_enclosing_end",
        tag("(", tag("<", text(), ""), ")"),
        ("(<)", "(<a>)"),
        ("(<a", "(<a))", "<a)"),
    ),
    TagCase(
        "empty_end_among_others",
        tag("(", tag("<", text(), ["", ">"]), ")"),
        ("(<a)", "(<a>)", "(<)"),
        ("(<a>b)", "(<a>", "(<a))"),
    ),
    TagCase(
        "nearest_end_counts",
        tag("(", tag("<", text(), ">"), ")"),
        ("(<>)", "(<a)b>)"),
        ("(<a)", "(<a>>)", "(<a>b)"),
    ),
    TagCase(
        "end_is_found_through_sequence_or_and_optional",
        tag("(", seq(const("1"), any_of(wrap("optional", text()), const("9)"))), ")"),
        ("(1)", "(1a)", "(19))"),
        ("(a)", "(1a))", "(1"),
    ),
    TagCase(
        "repeated_text_is_text",
        tag("(", wrap("plus", wrap("star", const("z"))), ")"),
        ("()", "(zz)"),
        ("(a)",),
    ),
    TagCase("star_of_text", tag("(", wrap("star", text()), "ab"), ("(ab", "(aab"), ("(abab",)),
    TagCase(
        "repeat_once_of_text",
        tag("(", wrap("repeat", seq(const("z"), text()), min=0, max=1), ")"),
        ("()", "(z)", "(za)"),
        ("(a)", "(za))"),
    ),
    TagCase(
        "tags_in_free_text",
        triggered(["<a>", "<b>"], [A, B]),
        ("", "hi", "<a>x</a>", "p<a>x</a>q<b>y</b>r", "<a>x</a><a>x</a>", "<<a>x</a>", "<c>"),
        ("<a>", "<a>y</a>", "p<b>x</b>", "<a>x", "<a>x</b>"),
    ),
    TagCase(
        "begin_goes_on_after_the_trigger",
        triggered(["<f="], [tag("<f=a>", const("1"), "."), tag("<f=b>", const("2"), ".")]),
        ("<f", "<f=a>1.", "x<f=b>2.y", "<<f=a>1."),
        ("<f=", "<f=c>", "<f=a>2.", "<f=a"),
    ),
    TagCase(
        "trigger_that_ends_in_another_leads_to_both",
        triggered(["ab", "b"], [tag("ab", const("1"), ""), tag("b", const("2"), "")]),
        ("ab1", "ab2", "b2", "xb2", "a", "ab1b2"),
        ("b1", "ab", "ab3", "xb1"),
    ),
    TagCase(
        "two_tags_of_one_trigger_may_share_a_begin",
        triggered(["<"], [tag("<t>", const("1"), "/"), tag("<t>", const("2"), "/")]),
        ("<t>1/", "<t>2/<t>1/"),
        ("<t>3/", "<t>12/", "<u>"),
    ),
    TagCase(
        "excludes_of_the_text_between",
        triggered(["<a>"], [A], excludes=["no"]),
        ("", "<a>x</a>", "n<a>x</a>o"),
        ("no", "no<a>x</a>", "<a>x</a>no"),
    ),
    TagCase(
        "at_least_one_starts_with_a_tag",
        triggered(["<a>", "<b>"], [A, B], at_least_one=True),
        ("<a>x</a>", "<b>y</b>", "<a>x</a>text", "<a>x</a>t<b>y</b>"),
        ("", "text", "t<a>x</a>", "<a>"),
    ),
    TagCase(
        "stop_after_first_ends_the_output",
        triggered(["<a>"], [A], stop_after_first=True),
        ("", "text", "<a>x</a>", "text<a>x</a>"),
        ("<a>x</a>t", "<a>x</a><a>x</a>", "<a>"),
    ),
    TagCase(
        "exactly_one",
        triggered(["<a>", "<b>"], [A, B], **ONCE),
        ("<a>x</a>", "<b>y</b>"),
        ("", "t", "t<a>x</a>", "<a>x</a> ", "<a>x</a><b>y</b>"),
    ),
    TagCase(
        "exactly_one_may_be_followed",
        seq(triggered(["<a>"], [A], **ONCE), const("!")),
        ("<a>x</a>!",),
        ("<a>x</a>", "!", "t<a>x</a>!"),
    ),
    TagCase(
        "triggered_tags_stop_at_the_enclosing_end",
        tag("(", triggered(["<a>"], [A]), ")"),
        ("()", "(t)", "(t<a>x</a>u)", "(<a>x</a><a>x</a>)"),
        ("(t", "(t))", "(t)<a>x</a>)", "(<a>x)"),
    ),
    TagCase(
        "free_text_in_a_triggered_tag_stops_at_its_own_end",
        triggered(["<a>"], [tag("<a>", text(), "</a>")]),
        ("<a></a>", "<a>b</a>c", "<a><a></a>", "<a>1</a><a>2</a>"),
        ("<a>", "<a>b</a><a>"),
    ),
    TagCase(
        "a_triggered_tag_without_end_runs_to_the_end",
        triggered(["<a>", "<b>"], [tag("<a>", text("#"), ""), B]),
        ("", "t", "<a>", "t<a>u<b>z", "<b>y</b><a>#"[:-1], "<b>y</b>t<a><a>"),
        ("<b>", "<b>y</b><a>#", "<a>#"),
    ),
    TagCase(
        "a_triggered_tag_without_end_stops_at_the_enclosing_end",
        tag("(", triggered(["<a>"], [tag("<a>", text(), "")]), ")"),
        ("()", "(t<a>u)", "(<a>)"),
        ("(<a>", "(<a>))", "(t)<a>u)"),
    ),
    TagCase(
        "only_tag_without_end",
        triggered(["<T>"], [tag("<T>", text("<E>"), "")], **ONCE),
        ("<T>", "<T>body", "<T>a<E b"),
        ("<T>a<E>", "body", "<T><E>x"),
    ),
    TagCase(
        "reasoning_then_one_call",
        seq(tag("", text(), "</think>"), triggered(["<a>"], [A], **ONCE)),
        ("hm</think><a>x</a>", "</think><a>x</a>", "<a> later</think><a>x</a>"),
        ("hm", "<a>x</a>", "a</think>b", "a</think></think><a>x</a>"),
    ),
    TagCase(
        "optional_reasoning",
        seq(wrap("optional", tag("<think>", text("<think>"), "</think>")), const("{}")),
        ("{}", "<think>x</think>{}", "<think></think>{}"),
        ("j<think>x</think>{}", "<think>x{}", "<think>a</think><think>a</think>{}"),
    ),
    TagCase(
        "markers_of_many_bytes",
        tag("｜é", text(), "é｜"),
        ("｜éé｜", "｜éxé｜"),
        ("｜éé", "｜é"),
    ),
)  # fmt: skip
