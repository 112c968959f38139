"""GBNF, the grammars of llama.cpp → the nouns of `structag.text.rules`.

Source: ``grammars/README.md`` and ``src/llama-grammar.cpp`` of llama.cpp.  Differences, all
towards what the text says: line breaks may stand anywhere, names may have underscores, counts are
exact however large, and a rule that is used must be defined.
"""

from __future__ import annotations

import re
from typing import Any

import lark

from structag.errors import GrammarSyntaxError
from structag.grammar.builder import MAX_COUNT
from structag.limits import Limits
from structag.source import Source
from structag.text import charset
from structag.text.characters import Escapes
from structag.text.parsing import Syntax, parse_text
from structag.text.rule_reader import UNFINISHED, WORDS, RuleReader, check_lines, span_of
from structag.text.rules import Chars, Definition, RuleGrammar, Token

_TOKEN = re.compile(r"(!?)<(?:\[(\d+)\]|([^>]+))>")


def parse_gbnf(source: Source, limits: Limits, root: str = "root") -> RuleGrammar:
    """The rules of a GBNF text; it starts at `root`.

    Raises:
        GrammarSyntaxError: `grammar-syntax`, with the span.
        LimitError: see `parse_text`.
    """
    definitions = parse_text(_SYNTAX, source, limits)
    check_lines(definitions, source.text)
    return RuleGrammar(definitions, root, source)


class _Reader(RuleReader):
    escapes = Escapes(
        {"t": 9, "r": 13, "n": 10, "\\": 92, '"': 34, "[": 91, "]": 93, "-": 45}, {}, False
    )

    def ANY(self, token: lark.Token) -> Chars:  # noqa: N802
        return Chars(charset.ALL, span_of(token))

    def TOKEN(self, token: lark.Token) -> Token:  # noqa: N802
        span = span_of(token)
        match = _TOKEN.fullmatch(token)
        if match is None or (match[2] and int(match[2][:12]) > MAX_COUNT):
            raise GrammarSyntaxError(
                f"`{token[:60]}` is no token",
                code="grammar-syntax",
                span=span,
                expected="`<text of a token>` or `<[id]>`, with `!` in front for any other",
            )
        name = int(match[2]) if match[2] else str(token.removeprefix("!"))
        return Token((name,), bool(match[1]), span)

    def definition(self, children: list[Any]) -> Definition:
        name, body = children
        return Definition(str(name), body, span_of(name))


_SYNTAX = Syntax(
    name="GBNF",
    grammar="gbnf.lark",
    transformer=_Reader(),
    words={**WORDS, "ANY": "`.`", "TOKEN": "a token such as `<[12]>`"},
    unfinished=UNFINISHED,
    skipped=re.compile(
        r'"[^"\\]*(?:\\.[^"\\]*)*"?|\[[^\]\\]*(?:\\.[^\]\\]*)*\]?|#[^\r\n]*|\{[^}]*\}?', re.DOTALL
    ),
)
