"""Parses a grammar text with lark and turns what goes wrong into errors that show the place.

A front end is a lark grammar under ``grammars/`` and a `lark.Transformer` that builds
`structag.text.rules` while parsing (LALR), so that no tree is walked and depth costs no Python
frames.  The transformer is shared by all threads: it must not hold state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from lark import Lark, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from structag.errors import FormatError, GrammarSyntaxError, LimitError, nesting_error
from structag.grammars import load_grammar
from structag.limits import Limits
from structag.source import Source


@dataclass(frozen=True)
class Syntax:
    """How one kind of grammar text is parsed.

    Attributes:
        name: what it is called in messages; `grammar` without its ending.
        grammar: the lark grammar's file under ``grammars/``, its start symbol is ``start``.
        transformer: makes the nouns; methods are named after rules and terminals.
        words: terminal -> how messages call it.
        unfinished: character -> what is wrong where it begins a terminal that never ends.
        skipped: strings, classes and comments, in which brackets do not count.
    """

    name: str
    grammar: str
    transformer: Transformer[Any, Any]
    words: Mapping[str, str]
    unfinished: Mapping[str, str]
    skipped: re.Pattern[str]

    @cached_property
    def parser(self) -> Lark:
        """The parser, made once per process."""
        return Lark(
            load_grammar(self.grammar), parser="lalr", transformer=self.transformer, regex=False
        )


def parse_text(syntax: Syntax, source: Source, limits: Limits) -> Any:
    """What the start rule of `syntax` returns for the text of `source`.

    Raises:
        GrammarSyntaxError: `grammar-syntax`, with the span and what was expected.
        FormatError: `text-encoding`, a lone surrogate in the text.
        LimitError: `nesting-limit` for brackets; `limit` over `Limits.max_grammar_bytes`.
    """
    _check_text(source.text, limits)
    _check_nesting(syntax, source.text, limits)
    try:
        return syntax.parser.parse(source.text)
    except UnexpectedInput as error:
        raise _syntax_error(syntax, source.text, error) from None


def _check_text(text: str, limits: Limits) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise FormatError(
            "a lone surrogate in the text",
            code="text-encoding",
            span=(error.start, error.end),
            expected="Unicode text",
        ) from None
    if size > limits.max_grammar_bytes:
        raise LimitError(
            f"a grammar text of {size:,} bytes",
            limit="grammar bytes",
            value=limits.max_grammar_bytes,
            setting="max_grammar_bytes",
        )


_LEVELS = [(chr(code) in "([{") - (chr(code) in ")]}") for code in range(128)]


def _check_nesting(syntax: Syntax, text: str, limits: Limits) -> None:
    if sum(map(text.count, "([{")) <= limits.max_nesting:
        return
    plain = syntax.skipped.sub(lambda match: " " * len(match.group()), text)
    levels = accumulate(map(_LEVELS.__getitem__, plain.encode("ascii", "replace")))
    place = next((at for at, level in enumerate(levels) if level > limits.max_nesting), None)
    if place is not None:
        raise nesting_error(
            f"the grammar text is nested deeper than {limits.max_nesting} levels",
            limits.max_nesting,
            span=(place, place + 1),
        )


def _syntax_error(syntax: Syntax, text: str, error: UnexpectedInput) -> GrammarSyntaxError:
    start = error.pos_in_stream or 0
    problem = None
    if isinstance(error, UnexpectedToken):
        expected = error.accepts or error.expected
        if error.token.type == "$END":
            start, end, found = len(text), len(text), "the end of the text"
        else:
            end, found = start + len(error.token), f"`{_cut(error.token)}`"
            problem = syntax.unfinished.get(error.token)
    else:
        assert isinstance(error, UnexpectedCharacters)
        expected = error.allowed or set()
        end, found = start + 1, f"`{text[start]}`"
        problem = syntax.unfinished.get(text[start])
    words = sorted({syntax.words[name] for name in expected if name in syntax.words})
    if "$END" in expected:
        words.append("the end of the text")
    *others, last = words or [""]
    return GrammarSyntaxError(
        problem or f"{found} cannot stand here",
        code="grammar-syntax",
        span=(start, end),
        expected=None if problem else f"{', '.join(others)} or {last}" if others else last or None,
    )


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
