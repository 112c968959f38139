"""A rule grammar as its text has it: named rules made of strings, characters and operators.

This is the noun between a grammar text (EBNF, GBNF, Lark) and the unified grammar.  A front end
parses its text with `structag.text.parsing.parse_text` and returns a `RuleGrammar`; then

    lowered = lower_rules(rule_grammar, limits, token_ids)        # structag.text.lower_rules

checks names, warns, and gives a `Grammar` of its own, to be compiled or copied into a builder with
`structag.grammar.transplant.extend`.  What a front end has beyond these expressions it says with
an `Operator`, whose `combine` gets a builder and the lowered operands:

    Operator((left, right), lambda b, refs: b.both(*refs), span)
    Operator((), lambda b, refs: lower_regex(pattern, b, limits=limits), span)

Spans are ``(start, end)`` in characters of the text.  Nothing here recurses: `operands` is for
walks with a stack of one's own.
"""

from __future__ import annotations

from collections import abc
from typing import NamedTuple, TypeAlias

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.source import Source

Span: TypeAlias = tuple[int, int]
TokenIds: TypeAlias = abc.Callable[[int | str], int | None]
"""The id of the token with that content, or with that id; None if there is none."""
JsonSchema: TypeAlias = abc.Callable[[GrammarBuilder, str], Ref]
"""Lowers the text of a JSON Schema; given by whoever knows schemas."""
Combine: TypeAlias = abc.Callable[[GrammarBuilder, abc.Sequence[Ref]], Ref]


class Text(NamedTuple):
    """A fixed string; it may be empty."""

    text: str
    span: Span


class Chars(NamedTuple):
    """One character out of ranges of code points, inclusive."""

    ranges: tuple[tuple[int, int], ...]
    span: Span


class Reference(NamedTuple):
    """What the rule called `name` derives."""

    name: str
    span: Span


class Sequence(NamedTuple):
    """The parts one after the other; no parts = the empty string."""

    parts: tuple[Expression, ...]
    span: Span


class Choice(NamedTuple):
    """Any of the branches, one or more."""

    branches: tuple[Expression, ...]
    span: Span


class Loop(NamedTuple):
    """`part` from `min` to `max` times; None = without bound."""

    part: Expression
    min: int
    max: int | None
    span: Span


class Token(NamedTuple):
    """One whole token: one of `tokens` (ids, or names looked up in the vocabulary), or, negated,
    any usable token that is none of them."""

    tokens: tuple[int | str, ...]
    negated: bool
    span: Span


class Operator(NamedTuple):
    """Anything else: `combine` makes the expression, given a builder and the lowered `parts`."""

    parts: tuple[Expression, ...]
    combine: Combine
    span: Span


Expression: TypeAlias = Text | Chars | Reference | Sequence | Choice | Loop | Token | Operator


class Definition(NamedTuple):
    """``name ::= body``; `span` is that of the name.

    A rule with `inline` stands for its body wherever it is named, so that the body may be an
    operand of what takes regular operands only; it cannot be recursive.
    """

    name: str
    body: Expression
    span: Span
    inline: bool = False


class RuleGrammar(NamedTuple):
    """A parsed grammar text: its rules in order, and the name of the one to start with."""

    definitions: tuple[Definition, ...]
    root: str
    source: Source


class GrammarWarning(NamedTuple):
    """Something that is allowed and probably not meant.

    Kinds: `unused-rule`, `empty-rule` (derives nothing), `dead-alternative` (can never be
    completed), `repeated-alternative` (says the same as an earlier one).
    """

    kind: str
    message: str
    span: Span


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that `expression` is made of, left to right."""
    match expression:
        case Sequence(parts) | Operator(parts):
            return parts
        case Choice(branches):
            return branches
        case Loop(part):
            return (part,)
        case _:
            return ()
