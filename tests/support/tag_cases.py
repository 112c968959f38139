"""Small structural tags with outputs they must accept and reject; no schema, no pattern.

One table for the reference matcher (`tests/tags/test_lower.py`) and for the engine
(`tests/tags/test_engine.py`).  Names are claims.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class TokenCase(NamedTuple):
    """One structural tag; outputs are tokens of `TOKEN_TABLE` by content, separated by spaces."""

    name: str
    format: dict[str, Any]
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    marker_tokens: tuple[str, ...] = ()


class TagCase(NamedTuple):
    """One structural tag (its `format`) and what it must do."""

    name: str
    format: dict[str, Any]
    accept: tuple[str, ...]
    reject: tuple[str, ...]


def text(*excludes: str, **fields: Any) -> dict[str, Any]:
    listed = {"excludes": list(excludes)} if excludes else {}
    return {"type": "any_text", **listed, **fields}


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


def separated(separator: str, *tags: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tags_with_separator", "separator": separator, "tags": list(tags), **fields}


def dispatch(*rules: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "dispatch", "rules": [list(rule) for rule in rules], **fields}


def token(name: int | str) -> dict[str, Any]:
    return {"type": "token", "token": name}


def no_token(*names: int | str) -> dict[str, Any]:
    return {"type": "exclude_token", "exclude_tokens": list(names)}


def tokens(*names: int | str, **fields: Any) -> dict[str, Any]:
    return {"type": "any_tokens", "exclude_tokens": list(names), **fields}


def token_triggered(triggers: list[Any], tags: list[Any], **fields: Any) -> dict[str, Any]:
    return {"type": "token_triggered_tags", "trigger_tokens": triggers, "tags": tags, **fields}


def token_dispatch(*rules: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "token_dispatch", "rules": [list(rule) for rule in rules], **fields}


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
    TagCase(
        "text_with_a_bound_may_stand_anywhere",
        seq(text(max_chars=2), const("!")),
        ("!", "ä!", "!!", "ab!", "a!!"),
        ("", "abc!", "abc", "!!!!"),
    ),
    TagCase(
        "bounded_text_still_stops_at_the_end",
        tag("(", text(")", max_chars=2), "))"),
        ("())", "(a))", "(ab))"),
        ("(abc))", "(a)b))"),
    ),
    TagCase(
        "bounded_text_repeated_is_bounded_each_time",
        wrap("repeat", tag("<", text(max_chars=1), ">"), min=0, max=2),
        ("", "<>", "<a><b>"),
        ("<ab>", "<a><b><c>"),
    ),
    TagCase(
        "text_stops_where_it_excludes_what_follows",
        seq(text("END"), const("END."), any_of(const("1"), const("2"))),
        ("END.1", "EN D END.2"),
        ("END", "a END b END.1", "1"),
    ),
    TagCase(
        "excluded_text_stops_each_round",
        wrap("star", seq(const("- "), text("- "))),
        ("", "- ", "- a- b", "- a"),
        ("a", "-"),
    ),
    TagCase(
        "separator_stands_between_tags",
        separated(",", A, B),
        ("", "<a>x</a>", "<a>x</a>,<b>y</b>,<a>x</a>"),
        (",", "<a>x</a>,", "<a>x</a><b>y</b>", "<a>x</a>,,<b>y</b>"),
    ),
    TagCase(
        "empty_separator",
        seq(separated("", A, B, at_least_one=True), const("!")),
        ("<a>x</a>!", "<a>x</a><b>y</b>!"),
        ("!", "<a>x</a>,<b>y</b>!"),
    ),
    TagCase(
        "one_tag_at_most",
        seq(separated(",", A, B, stop_after_first=True), const("!")),
        ("!", "<a>x</a>!"),
        ("<a>x</a>,<b>y</b>!", "<a>x</a>,!"),
    ),
    TagCase(
        "just_one_tag",
        separated(",", A, B, **ONCE),
        ("<a>x</a>", "<b>y</b>"),
        ("", "<a>x</a>,<b>y</b>"),
    ),
    TagCase(
        "separator_ends_a_tag_without_end",
        tag("[", separated(";", tag("", text(), "")), "]"),
        ("[]", "[a]", "[a;b;]", "[;]"),
        ("[a", "[a;b]c]"),
    ),
    TagCase(
        "dispatch_goes_on_after_a_rule",
        dispatch(("@", const("a")), ("#", const("1"))),
        ("", "x", "@a", "x@ay#1z", "@a@a"),
        ("@", "@b", "#a", "x@"),
    ),
    TagCase(
        "dispatch_without_loop_is_over_after_a_rule",
        seq(tag("", dispatch(("@", const("a")), loop=False), "."), const("!")),
        (".!", "x.!", "x@a.!"),
        ("x@ay.!", "@a@a.!", "@.!"),
    ),
    TagCase(
        "dispatch_excludes",
        dispatch(("@", const("no")), excludes=["no"]),
        ("", "n@noo", "@no"),
        ("no", "@no no", "no@no"),
    ),
    TagCase(
        "dispatch_stops_where_it_excludes_what_follows",
        seq(dispatch(("@", const("a")), excludes=["END"]), const("END")),
        ("END", "x@aEND", "ENEND"),
        ("x", "@END", "ENDEND"),
    ),
    TagCase(
        "text_after_a_pattern_runs_to_the_end",
        tag("(", dispatch(("@", seq(const("a"), text())), ("#", const("1"))), ")"),
        ("()", "(x#1@a#)", "(@a)"),
        ("(@b)", "(#)", "(@a", "(@a))"),
    ),
)  # fmt: skip

ORDINARY = ("a", "b", "x", "<", "t", ">", "/", "|", "x>", "<t", "</t>")
USER_DEFINED = ("</think>", "<call>")
CONTROL = ("<tool>", "</tool>", "<img>", "<t|a>")
TOKEN_TABLE = (*ORDINARY, *USER_DEFINED, *CONTROL, "<eos>")
"""The contents of a small vocabulary by id; the last one is the stop token."""

TOOL, END_TOOL = token("<tool>"), token("</tool>")
CALL = tag(TOOL, const("x"), END_TOOL)
PIECES = "< / t >"

TOKEN_CASES = (
    TokenCase("token_is_one_token", token("<img>"), ("<img>",), ("", "<img> <img>", "<tool>")),
    TokenCase("token_by_id", token(TOKEN_TABLE.index("<img>")), ("<img>",), ("<tool>", "a")),
    TokenCase("ordinary_token_is_not_its_text", token("</t>"), ("</t>",), (PIECES, "<t")),
    TokenCase("user_defined_token", token("</think>"), ("</think>",), ("<img>", "")),
    TokenCase(
        "any_token_but_some",
        no_token("<img>", "a"),
        ("b", "x>", "<tool>", "</think>"),
        ("a", "<img>", "", "b b"),
    ),
    TokenCase(
        "the_end_is_not_the_one_token_before_it",
        tag(TOOL, no_token(), END_TOOL),
        ("<tool> a </tool>", "<tool> <tool> </tool>"),
        ("<tool> </tool>", "<tool> </tool> </tool>", "<tool> a a </tool>"),
    ),
    TokenCase(
        "any_tokens_stop_at_the_end",
        tag(TOOL, tokens("<img>"), END_TOOL),
        ("<tool> </tool>", "<tool> a <tool> </think> </tool>"),
        ("<tool>", "<tool> <img> </tool>", "<tool> </tool> </tool>", "<tool> a </tool> b"),
    ),
    TokenCase("any_tokens_at_the_end_of_output", tokens("a"), ("", "b <img>"), ("a", "b a")),
    TokenCase(
        "any_tokens_with_a_bound_may_stand_anywhere",
        seq(tokens(max_tokens=2), const("x")),
        ("x", "a x", "<img> x> x", "x x"),
        ("", "a b a x", "a b"),
    ),
    TokenCase(
        "any_tokens_repeated_are_any_tokens",
        tag(TOOL, wrap("star", tokens()), END_TOOL),
        ("<tool> a b </tool>",),
        ("<tool> </tool> </tool>",),
    ),
    TokenCase(
        "any_tokens_stop_at_a_text",
        tag("<", tokens("<img>", "b"), "</t>"),
        ("< </t>", f"< a <tool> {PIECES}", "< a < / </t>", "< t a </t>"),
        ("< </t> a </t>", "< <img> </t>", "< b </t>", "< a < / <t a"),
    ),
    TokenCase(
        "any_tokens_with_a_bound_stop_at_a_text",
        tag("<", tokens(max_tokens=2), "</t>"),
        ("< </t>", "< a <img> </t>", f"< a {PIECES}"),
        ("< a a a </t>", "< a </t> </t>"),
    ),
    TokenCase(
        "tag_of_tokens",
        CALL,
        ("<tool> x </tool>",),
        ("<tool> x", "x </tool>", "<tool> a </tool>", "< t x </tool>"),
    ),
    TokenCase(
        "ends_of_both_kinds",
        tag(TOOL, text(), [END_TOOL, "</t>"]),
        ("<tool> a </tool>", "<tool> a </t>", f"<tool> a {PIECES}", "<tool> < / </t>"),
        ("<tool> a </t> </tool>", "<tool> a <img> </tool>", "<tool> a"),
    ),
    TokenCase(
        "text_does_not_hold_the_text_of_an_end_token",
        tag("<", text(), token("</t>")),
        ("< </t>", "< a < t </t>"),
        ("< </t> </t>", f"< {PIECES} </t>", f"< a {PIECES}"),
    ),
    TokenCase(
        "text_may_spell_a_control_token",
        tag("<", text(), END_TOOL),
        ("< < / t a </tool>", "< </tool>"),
        ("< </tool> </tool>",),
    ),
    TokenCase(
        "text_with_a_bound_of_tokens",
        tag(TOOL, text(max_tokens=2), END_TOOL),
        ("<tool> </tool>", "<tool> x> </t> </tool>", "<tool> a </tool>"),
        ("<tool> a b a </tool>", "<tool> a"),
    ),
    TokenCase(
        "text_with_both_bounds",
        tag(TOOL, text(max_tokens=2, max_chars=3), END_TOOL),
        ("<tool> x> a </tool>", "<tool> a b </tool>"),
        ("<tool> x> x> </tool>", "<tool> a a a </tool>", "<tool> </t> </tool>"),
    ),
    TokenCase(
        "tags_among_tokens",
        token_triggered(["<tool>"], [CALL], exclude_tokens=["<img>"]),
        ("", "a </tool>", "a <tool> x </tool> b <tool> x </tool>", "</think>"),
        ("<tool>", "<tool> a </tool>", "<img>", "<tool> x </tool> <img>"),
    ),
    TokenCase(
        "at_least_one_starts_with_a_tag",
        token_triggered(["<tool>"], [CALL], at_least_one=True),
        ("<tool> x </tool>", "<tool> x </tool> a", "<tool> x </tool> <tool> x </tool>"),
        ("", "a", "a <tool> x </tool>"),
    ),
    TokenCase(
        "stop_after_first",
        token_triggered(["<tool>"], [CALL], stop_after_first=True),
        ("", "a", "a <tool> x </tool>"),
        ("<tool> x </tool> a",),
    ),
    TokenCase(
        "exactly_one",
        token_triggered(["<tool>"], [CALL], **ONCE),
        ("<tool> x </tool>",),
        ("", "a <tool> x </tool>", "<tool> x </tool> a"),
    ),
    TokenCase(
        "tags_among_tokens_stop_at_the_enclosing_end",
        tag("<", token_triggered(["<tool>"], [CALL]), "</t>"),
        ("< </t>", "< a <tool> x </tool> </t>", f"< <img> {PIECES}"),
        ("< </t> </t>", "< <tool> </t>", "< a"),
    ),
    TokenCase(
        "a_tag_among_tokens_without_end_runs_on",
        token_triggered(["<tool>"], [tag(TOOL, text(), "")]),
        ("<img>", "<img> <tool> a b", "<tool>"),
        ("<tool> <img>", "<tool> <tool>"),
    ),
    TokenCase(
        "tokens_lead_to_formats",
        token_dispatch(("<img>", const("a")), ("</think>", const("b")), exclude_tokens=["x"]),
        ("", "<img> a", "b <img> a </think> b <tool>"),
        ("<img>", "<img> b", "</think> a", "x", "<img> a x"),
    ),
    TokenCase(
        "tokens_lead_to_formats_once",
        token_dispatch(("<img>", const("a")), loop=False),
        ("", "b", "b <img> a"),
        ("<img> a b", "<img>"),
    ),
    TokenCase(
        "marker_is_spelled_either_way",
        tag("<tool>", const("x"), "<call>"),
        ("<tool> x <call>",),
        ("<tool> x", "< t x <call>"),
    ),
    TokenCase(
        "marker_is_the_token",
        tag("<call>", const("x"), "</think>a"),
        ("<call> x </think> a",),
        ("<call> x </think>", "<tool> x </think> a"),
        marker_tokens=("<call>", "</think>"),
    ),
    TokenCase(
        "marker_of_no_token_is_text",
        tag("<call>", const("x"), "</t>"),
        ("<call> x </t>", f"<call> x {PIECES}"),
        ("x </t>",),
        marker_tokens=("<call>", "</t>", "<other>"),
    ),
    TokenCase(
        "marker_token_is_not_spelled_in_pieces",
        seq(const("<t|a>"), const("<")),
        ("<t|a> <",),
        ("< t | a > <", "<t|a>"),
        marker_tokens=("<t|a>",),
    ),
    TokenCase(
        "trigger_is_the_token",
        triggered(["<tool>"], [tag("<tool>x", const("a"), "</tool>")]),
        ("a <tool> x a </tool>", "<"),
        ("<tool> a", "<tool> x a", "<img>"),
        marker_tokens=("<tool>", "</tool>"),
    ),
    TokenCase(
        "token_begins_in_the_trigger_and_ends_beyond_it",
        triggered(["<t"], [tag("<t|a>", const("a"), "/"), tag("<t>", const("b"), "/")]),
        ("x <t|a> a /", "<t > b /", "< t > b /", "<t|a> a / <t|a> a / x"),
        ("<t|a> b /", "<t|a>", "<t a", "<tool>"),
    ),
)
