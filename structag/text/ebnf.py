"""EBNF as serving engines use it → the nouns of `structag.text.rules`.

Source: the EBNF of xgrammar (``docs/defining_structures/ebnf_grammar.md``, 0.2.6).  Differences:
``\\xHH`` takes two digits, and a third one is refused because the two readings differ; an
alternative may be empty, as in GBNF.  Options and macros are `structag.text.ebnf_macros`'.
"""

from __future__ import annotations

import re
from typing import Any

import lark

from structag.limits import Limits
from structag.source import Source
from structag.text.characters import Escapes
from structag.text.ebnf_macros import Argument, Value, apply_options, call_macro, read_integer
from structag.text.parsing import Syntax, parse_text
from structag.text.rule_reader import UNFINISHED, WORDS, RuleReader, check_lines, span_of
from structag.text.rules import Definition, Expression, Reference, RuleGrammar, Text


def parse_ebnf(source: Source, limits: Limits, root: str = "root") -> RuleGrammar:
    """The rules of an EBNF text; it starts at `root`.

    Raises:
        GrammarSyntaxError: `grammar-syntax`, with the span.
        UnsupportedError: `grammar-feature`, an option that has no exact meaning here.
        LimitError: see `parse_text`.
    """
    definitions = parse_text(_SYNTAX, source, limits)
    check_lines(definitions, source.text)
    return RuleGrammar(definitions, root, source)


class _Reader(RuleReader):
    escapes = Escapes(
        {
            "n": 10, "r": 13, "t": 9, "b": 8, "f": 12, "a": 7, "v": 11, "0": 0, "e": 27,
            '"': 34, "\\": 92, "/": 47, "'": 39, "?": 63,
        },
        {char: ord(char) for char in "^$.*+?()[]{}|-"},
        True,
    )  # fmt: skip

    def definition(self, children: list[Any]) -> Definition:
        name, options, body = children
        if options is not None:
            body = apply_options(options, body)
        return Definition(str(name), body, span_of(name))

    def options(self, children: list[Any]) -> list[Argument]:
        return children

    def option(self, children: list[Any]) -> Argument:
        name, value = children
        return Argument(str(name), value or Value(None, span_of(name)), span_of(name))

    def macro(self, children: list[Any]) -> Expression:
        name, _, *arguments, closing = children
        given = [argument for argument in arguments if argument is not None]
        return call_macro(str(name), given, (span_of(name)[0], span_of(closing)[1]))

    def argument(self, children: list[Any]) -> Argument:
        name, value = children
        return Argument(None if name is None else str(name), value, value.span)

    def value(self, children: list[Any]) -> Value:
        (item,) = children
        if isinstance(item, Text):
            return Value(item.text, item.span)
        if not isinstance(item, lark.Token):
            return item  # type: ignore[no-any-return]
        span = span_of(item)
        if item.type == "INTEGER":
            return Value(read_integer(item, span), span)
        if item.type == "BOOLEAN":
            return Value(item == "true", span)
        return Value(Reference(str(item), span), span)

    def tuple(self, children: list[Any]) -> Value:
        opening, *items, closing = children
        values = tuple(item for item in items if isinstance(item, Value))
        return Value(values, (span_of(opening)[0], span_of(closing)[1]))


_SYNTAX = Syntax(
    name="EBNF",
    grammar="ebnf.lark",
    transformer=_Reader(),
    words={
        **WORDS,
        "MACRO": "a macro such as `Token(…)`",
        "ARGUMENT_NAME": "a named argument",
        "INTEGER": "an integer",
        "BOOLEAN": "true or false",
        "DECIMAL": "a number",
    },
    unfinished=UNFINISHED,
    skipped=re.compile(
        r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|\[[^\]\\\r\n]*(?:\\.[^\]\\\r\n]*)*\]?'
        r"|#[^\r\n]*|\{[^}\r\n]*\}?"
    ),
)
