"""What EBNF and GBNF have in common: the part of their transformers that builds the nouns.

The methods are called by lark while it parses; they are named after the rules and terminals of
``grammars/ebnf.lark`` and ``grammars/gbnf.lark``, and hold no state.
"""

from __future__ import annotations

import re
from collections import abc
from typing import Any

from lark import Token, Transformer

from structag.errors import GrammarSyntaxError
from structag.grammar.builder import MAX_COUNT
from structag.text.characters import Escapes, read_class, read_string
from structag.text.rules import (
    Chars,
    Choice,
    Definition,
    Expression,
    Loop,
    Reference,
    Sequence,
    Span,
    Text,
)

NOWHERE: Span = (0, 0)  # of an alternative without a character
_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT = re.compile(r"\{\s*(\d+)\s*(?:(,)\s*(\d*|-1)\s*)?\}")

WORDS = {
    "RULE_NAME": "a rule `name ::= …`",
    "NAME": "the name of a rule",
    "STRING": "a string in double quotes",
    "CLASS": "a character class",
    "OPEN": "`(`",
    "CLOSE": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "VBAR": "`|`",
    "COMMA": "`,`",
    "EQUAL": "`=`",
    "QUANTIFIER": "`*`, `+` or `?`",
    "COUNT": "a count such as `{2,5}`",
}

UNFINISHED = {
    '"': "the string is not closed",
    "[": "the character class is not closed",
    "{": "the count is not complete",
    "<": "the token is not closed",
}


class RuleReader(Transformer[Any, Any]):
    """Strings, classes, groups, repeats, alternatives and rules.

    `NAME` stays a token where it is no reference: see `repeated`.
    """

    escapes: Escapes

    def STRING(self, token: Token) -> Text:  # noqa: N802
        return read_string(token, _start(token), self.escapes)

    def CLASS(self, token: Token) -> Chars:  # noqa: N802
        return read_class(token, _start(token), self.escapes)

    def QUANTIFIER(self, token: Token) -> tuple[int, int | None, Span]:  # noqa: N802
        return (*_QUANTIFIERS[token], span_of(token))

    def COUNT(self, token: Token) -> tuple[int, int | None, Span]:  # noqa: N802
        match = _COUNT.match(token)
        assert match is not None
        low, comma, high = match.groups()
        least = _count(low, token)
        most = least if not comma else None if high in ("", "-1") else _count(high, token)
        if most is not None and most < least:
            raise GrammarSyntaxError(
                f"`{token}` asks for at most {most} and at least {least}",
                code="grammar-syntax",
                span=span_of(token),
                expected="the smaller count first",
            )
        return least, most, span_of(token)

    def group(self, children: list[Any]) -> Expression:
        opening, content, closing = children
        if content == Sequence((), NOWHERE):
            content = Sequence((), (span_of(opening)[0], span_of(closing)[1]))
        return content  # type: ignore[no-any-return]

    def repeated(self, children: list[Any]) -> Expression:
        atom, *counts = children
        if isinstance(atom, Token):
            atom = Reference(str(atom), span_of(atom))
        for count in counts:
            if count is not None:
                least, most, span = count
                atom = Loop(atom, least, most, (atom.span[0], span[1]))
        return atom  # type: ignore[no-any-return]

    def sequence(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        span = (children[0].span[0], children[-1].span[1]) if children else NOWHERE
        return Sequence(tuple(children), span)

    def choice(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        return Choice(tuple(children), (children[0].span[0], children[-1].span[1]))

    def start(self, children: list[Definition]) -> tuple[Definition, ...]:
        return tuple(children)


def check_lines(definitions: abc.Sequence[Definition], text: str) -> None:
    """Refuse a rule that does not begin its line: ``a ::= b c ::= d`` is more likely a slip."""
    for name, _, (start, end), _ in definitions:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if line.strip():
            raise GrammarSyntaxError(
                f"rule `{name}` begins in the middle of a line",
                code="grammar-syntax",
                span=(start, end),
                expected="a line for each rule",
            )


def span_of(token: Token) -> Span:
    """Where `token` stands in the text."""
    start = _start(token)
    return start, start + len(token)


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


def _count(digits: str, token: Token) -> int:
    if len(digits.lstrip("0")) > 10 or int(digits) > MAX_COUNT:
        raise GrammarSyntaxError(
            f"a repeat count over {MAX_COUNT:,}",
            code="grammar-syntax",
            span=span_of(token),
            expected="at most 2^31 - 1",
        )
    return int(digits)
