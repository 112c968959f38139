"""Lark's notation → the nouns of `structag.text.rules`.

There is no lexer here: a terminal is a regular expression over text, and matches whatever part of
it fits; that is what Lark's Earley parser accepts with ``lexer="dynamic_complete"``.  Hence

- ``%ignore``: ignored text may stand before every terminal, and at the end: see `lark_ignored`;
- priorities choose between readings of one text, never which texts are accepted;
- shapes of trees (``?rule``, ``!rule``, ``->``) mean nothing.

Source: Lark's documentation (``docs/grammar.md``, 1.3) for the notation; ``&``, ``~`` before an
expression, ``<token>`` and ``%json`` are llguidance's (``docs/syntax.md``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from structag.errors import FormatError, GrammarError, GrammarSyntaxError, UnsupportedError
from structag.grammars import load_grammar
from structag.limits import Limits
from structag.source import Source, read_json
from structag.text.lark_ignored import Skip
from structag.text.lark_reader import (
    Extend,
    Ignore,
    Import,
    JsonText,
    LarkReader,
    Name,
    Override,
    Rule,
    Statement,
)
from structag.text.lark_rewrite import expand_templates, rewrite
from structag.text.lark_taken import find_taken
from structag.text.lower_rules import walk
from structag.text.parsing import Syntax, parse_text
from structag.text.rules import (
    Chars,
    Choice,
    Definition,
    Expression,
    JsonSchema,
    Operator,
    Reference,
    RuleGrammar,
    Sequence,
    Text,
    Token,
)

IGNORED = "%ignore"
_LIBRARY = "common"
_HIDDEN = "@common"  # ends the names of what imported terminals are made of
_SKIPPED = (
    r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|/(?!/)[^/\\\r\n]*(?:\\.[^/\\\r\n]*)*/|(?://|#)[^\r\n]*'
)
_JSON_START = re.compile(rf"{_SKIPPED}|%json\s*(?P<open>[{{\[]|\w+)")
_JSON_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)


def parse_lark(
    source: Source,
    limits: Limits,
    json_schema: JsonSchema | None = None,
    root: str = "start",
) -> RuleGrammar:
    """The rules of a Lark text; it starts at `root`.

    Raises:
        GrammarSyntaxError: `grammar-syntax`, with the span.
        UnsupportedError: `grammar-feature`, what has no exact meaning here.
        GrammarError: `grammar-operand`, a rule inside a terminal.
        LimitError: see `parse_text`; `limit`, templates without end.
    """
    text, schemas = _cut_out_json(source)
    statements: list[Statement] = parse_text(_SYNTAX, Source(text, source.name), limits)
    rules, ignored = _collect(statements)
    rules += [Rule(Name(f"{IGNORED} {at}", body.span), (), body) for at, body in enumerate(ignored)]
    rules = expand_templates(rules, limits)
    definitions = []
    skip = _skip(rules)
    for name, _, body in rules:
        is_terminal = name.is_terminal or name.text.startswith(IGNORED)
        if is_terminal:
            _check_terminal(body)
        elif skip:
            body = rewrite(body, lambda part: _after_ignored(part, skip), _is_atomic)
            if name.text == root:
                body = Sequence((body, skip(Text("", name.span))), name.span)
        body = rewrite(body, lambda part: _with_json(part, schemas, json_schema, limits))
        definitions.append(Definition(name.text, body, name.span, is_terminal))
    return RuleGrammar(tuple(definitions), root, source)


# -- JSON texts


class _Schemas(NamedTuple):
    """The JSON texts of a source, by where their ``%json`` begins."""

    texts: dict[int, str]


def _cut_out_json(source: Source) -> tuple[str, _Schemas]:
    """The text with blanks for JSON, so that places stay what they are; and the JSON."""
    pieces: list[str] = []
    texts: dict[int, str] = {}
    text = source.text
    at = done = 0
    while match := _JSON_START.search(text, at):
        at = match.end()
        if match.group("open"):
            start = match.start("open")
            at = end = _json_end(text, start)
            texts[match.start()] = text[start:end]
            pieces += (text[done:start], " " * (end - start))
            done = end
    return "".join((*pieces, text[done:])), _Schemas(texts)


def _json_end(text: str, start: int) -> int:
    depth, at = 0, start
    if text[start] not in "{[":  # true or false
        match = re.compile(r"\w+").match(text, start)
        return match.end() if match else start
    while match := _JSON_PART.search(text, at):
        at = match.end()
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match.group(), 0)
        if depth == 0:
            return at
    raise GrammarSyntaxError(
        "the JSON text is not closed",
        code="grammar-syntax",
        span=(start, len(text)),
        expected="as many closing brackets as opening ones",
    )


def _with_json(
    part: Expression, schemas: _Schemas, json_schema: JsonSchema | None, limits: Limits
) -> Expression:
    if not (isinstance(part, Operator) and isinstance(part.combine, JsonText)):
        return part
    text = schemas.texts.get(part.span[0])
    if text is None:
        raise GrammarSyntaxError(
            "`%json` without a JSON Schema",
            code="grammar-syntax",
            span=part.span,
            expected='a schema such as `%json {"type": "string"}`',
        )
    if json_schema is None:
        raise UnsupportedError(
            "`%json` where JSON Schemas are not read",
            code="grammar-feature",
            span=part.span,
            hint="compile the text with `Compiler.compile_lark`",
        )
    lower = json_schema
    try:
        read_json(text, limits)
    except FormatError as error:
        raise GrammarSyntaxError(
            f"the schema is not JSON: {error.message}", code="grammar-syntax", span=part.span
        ) from None
    return Operator((), lambda b, refs: lower(b, text), part.span)


# -- statements


def _collect(statements: list[Statement]) -> tuple[list[Rule], list[Expression]]:
    """All rules and terminals, the imported ones too, and what is ignored."""
    rules: dict[str, Rule] = {}
    again: list[Rule] = []  # left for `lower_rules` to refuse
    ignored: list[Expression] = []
    for statement in statements:
        match statement:
            case Import():
                for rule in _imported(statement):
                    rules.setdefault(rule.name.text, rule)
            case Ignore(body):
                ignored.append(body)
            case Rule():
                if rules.setdefault(statement.name.text, statement) is not statement:
                    again.append(statement)
            case Override(rule) | Extend(rule):
                earlier = rules.get(rule.name.text)
                if earlier is None:
                    raise GrammarError(
                        f"there is no `{rule.name.text}` before this",
                        code="grammar-undefined",
                        span=rule.name.span,
                        hint="define it without `%override` or `%extend`",
                    )
                if isinstance(statement, Extend):
                    body = Choice((earlier.body, rule.body), rule.body.span)
                    rule = earlier._replace(body=body)
                rules[rule.name.text] = rule
    return [*_without_idle(rules, ignored), *again], ignored


def _without_idle(rules: dict[str, Rule], ignored: list[Expression]) -> list[Rule]:
    """The rules but those of the library that nothing refers to any more."""
    needed = {name for name in rules if not name.endswith(_HIDDEN)}
    bodies = [*ignored, *(rules[name].body for name in needed)]
    for body in bodies:  # grows while it is read
        for part in walk(body):
            if isinstance(part, Reference) and part.name in rules and part.name not in needed:
                needed.add(part.name)
                bodies.append(rules[part.name].body)
    return [rule for name, rule in rules.items() if name in needed]


@cache
def _library() -> dict[str, Rule]:
    text = load_grammar("common.lark")
    rules, _ = _collect(parse_text(_SYNTAX, Source(text, "common.lark"), Limits()))
    return {rule.name.text: rule for rule in rules}


def _imported(statement: Import) -> list[Rule]:
    """The terminal, and under hidden names all those that it is made of."""
    library = _library()
    if statement.path != _LIBRARY or statement.name not in library:
        raise UnsupportedError(
            f"`{statement.path}.{statement.name}` cannot be imported",
            code="grammar-feature",
            span=statement.span,
            expected=f"a terminal of `common`: {', '.join(sorted(library))}",
        )
    if not statement.alias.is_terminal:
        raise GrammarSyntaxError(
            f"a terminal is imported as `{statement.alias.text}`",
            code="grammar-syntax",
            span=statement.alias.span,
            expected="a name in capitals",
        )
    needed = [statement.name]
    found: list[Rule] = []
    for name in needed:  # grows while it is read
        body = library[name].body
        needed += {
            part.name for part in walk(body) if isinstance(part, Reference)
        } - set(needed)  # fmt: skip
        alias = statement.alias if name == statement.name else Name(name + _HIDDEN, statement.span)
        found.append(Rule(alias, (), rewrite(body, lambda part: _placed(part, statement.span))))
    return found


def _placed(part: Expression, span: tuple[int, int]) -> Expression:
    """An expression of the library, as if it stood where it is imported."""
    if isinstance(part, Reference):
        return Reference(part.name + _HIDDEN, span)
    return part._replace(span=span)


# -- what a terminal is, and what may come before it


def _check_terminal(body: Expression) -> None:
    for part in walk(body):
        is_json = isinstance(part, Operator) and isinstance(part.combine, JsonText)
        is_rule = isinstance(part, Reference) and not Name(part.name, part.span).is_terminal
        if is_json or is_rule or isinstance(part, Token):
            what = f"the rule `{part.name}`" if isinstance(part, Reference) else "what stands here"
            raise GrammarError(
                f"{what} cannot be part of a terminal",
                code="grammar-operand",
                span=part.span,
                expected="strings, regular expressions and terminals",
                hint="make it a rule: write its name in small letters",
            )


def _is_atomic(part: Expression) -> bool:
    """Whether `part` counts as one terminal, with nothing ignored inside."""
    return isinstance(part, Operator)


def _skip(rules: list[Rule]) -> Callable[[Expression], Expression] | None:
    """What puts ignored text before a terminal; None if nothing is ignored."""
    bodies = {rule.name.text: rule.body for rule in rules}
    names = [rule.name for rule in rules if rule.name.text.startswith(IGNORED)]
    if not names:
        return None
    taken = [find_taken(bodies[name.text], bodies) for name in names]
    combine = Skip(taken, [name.span for name in names])
    pieces = tuple(Reference(name.text, name.span) for name in names)
    return lambda part: Operator((part, *pieces), combine, part.span)


def _after_ignored(part: Expression, skip: Callable[[Expression], Expression]) -> Expression:
    is_terminal = (
        isinstance(part, Text | Chars | Operator | Token)
        or (isinstance(part, Reference) and Name(part.name, part.span).is_terminal)
    )  # fmt: skip
    if not is_terminal or (isinstance(part, Text) and not part.text):
        return part
    return skip(part)


_SYNTAX = Syntax(
    name="Lark",
    grammar="lark.lark",
    transformer=LarkReader(),
    words={
        "RULE_DEFINED": "a rule `name: …`",
        "TERMINAL_DEFINED": "a terminal `NAME: …`",
        "RULE": "the name of a rule",
        "TERMINAL": "the name of a terminal",
        "STRING": "a string in double quotes",
        "REGEXP": "a regular expression",
        "LPAR": "`(`",
        "RPAR": "`)`",
        "LSQB": "`[`",
        "RSQB": "`]`",
        "LBRACE": "`{`",
        "RBRACE": "`}`",
        "VBAR": "`|`",
        "COMMA": "`,`",
        "COLON": "`:`",
        "QUANTIFIER": "`*`, `+` or `?`",
        "COUNT": "a count such as `~ 2..5`",
        "IGNORE": "a statement such as `%ignore`",
        "PATH": "a name such as `common.INT`",
        "TOKEN": "a token such as `<[12]>`",
    },
    unfinished={
        '"': "the string is not closed",
        "/": "the regular expression is not closed",
        "<": "the token is not closed",
    },
    skipped=re.compile(_SKIPPED),
)
