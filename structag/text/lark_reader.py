"""What lark calls while it parses a Lark text: makes the statements and their expressions.

Expressions are the nouns of `structag.text.rules`.  What they lack is an `Operator` whose `combine`
is one of the values below; `TemplateUse` and `JsonText` do not survive `structag.text.lark`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import lark

from structag.errors import GrammarSyntaxError, StructagError, UnsupportedError
from structag.grammar.builder import MAX_COUNT, GrammarBuilder
from structag.grammar.expressions import Ref
from structag.text import charset
from structag.text.regex import lower_regex
from structag.text.regex_python import parse_python
from structag.text.rule_reader import NOWHERE, span_of
from structag.text.rules import (
    Chars,
    Choice,
    Expression,
    Loop,
    Operator,
    Reference,
    Sequence,
    Span,
    Text,
    Token,
)


class Name(NamedTuple):
    """A name with its place."""

    text: str
    span: Span

    @property
    def is_terminal(self) -> bool:
        """Whether it is written in capitals."""
        return self.text.lstrip("_")[:1].isupper()


class Rule(NamedTuple):
    """``name{parameters}.priority: body``, of a rule or a terminal."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expression


class Override(NamedTuple):
    """``%override``: the definition takes the place of an earlier one."""

    rule: Rule


class Extend(NamedTuple):
    """``%extend``: the definition adds alternatives to an earlier one."""

    rule: Rule


class Ignore(NamedTuple):
    """``%ignore``."""

    body: Expression


class Import(NamedTuple):
    """``%import path.name -> alias``, one name of it."""

    path: str
    name: str
    alias: Name
    span: Span


Statement: TypeAlias = Rule | Override | Extend | Ignore | Import


@dataclass(frozen=True)
class RegularText:
    """`combine` of a regular expression with its flags."""

    pattern: str

    def __call__(self, b: GrammarBuilder, refs: Series[Ref]) -> Ref:
        return lower_regex(self.pattern, b, is_part=True, parse=parse_python)


@dataclass(frozen=True)
class Both:
    """`combine` of ``a & b``."""

    def __call__(self, b: GrammarBuilder, refs: Series[Ref]) -> Ref:
        return b.both(*refs)


@dataclass(frozen=True)
class Complement:
    """`combine` of ``~a``."""

    def __call__(self, b: GrammarBuilder, refs: Series[Ref]) -> Ref:
        return b.complement(refs[0])


@dataclass(frozen=True)
class TemplateUse:
    """`combine` of ``name{…}``; the parts are the arguments."""

    name: str

    def __call__(self, b: GrammarBuilder, refs: Series[Ref]) -> Ref:
        raise AssertionError("templates are expanded before")


@dataclass(frozen=True)
class JsonText:
    """`combine` of ``%json``; the text follows in the source."""

    def __call__(self, b: GrammarBuilder, refs: Series[Ref]) -> Ref:
        raise AssertionError("JSON texts are put in before")


_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ESCAPE = re.compile(
    r'\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([nrtf\\"])|(.))', re.DOTALL
)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "\\": "\\", '"': '"'}
_TOKEN_IDS = re.compile(r"<\[(\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*)\]>")
_MOST_IDS = 1_000_000


class LarkReader(lark.Transformer[Any, Any]):
    """The methods are named after the rules and terminals of ``grammars/lark.lark``."""

    # -- statements

    def start(self, children: list[Any]) -> list[Statement]:
        found: list[Statement] = []
        for child in children:
            found.extend(child if isinstance(child, list) else [child])
        return found

    def definition(self, children: list[Any]) -> Rule:
        token, parameters, _, body = children
        shown = str(token)
        start, end = span_of(token)
        name = Name(shown.lstrip("?!"), (start + len(shown) - len(shown.lstrip("?!")), end))
        return Rule(name, tuple(parameters or ()), body)

    def parameters(self, children: list[Name]) -> list[Name]:
        return children

    def override(self, children: list[Any]) -> Override:
        return Override(children[1])

    def extend(self, children: list[Any]) -> Extend:
        return Extend(children[1])

    def ignore(self, children: list[Any]) -> Ignore:
        return Ignore(children[1])

    def import_one(self, children: list[Any]) -> Import:
        _, path, alias = children
        module, _, name = str(path).rpartition(".")
        span = span_of(path)
        return Import(module, name, alias or Name(name, span), span)

    def import_many(self, children: list[Any]) -> list[Import]:
        _, path, *names = children
        return [Import(str(path), name.text, name, name.span) for name in names]

    def declare(self, children: list[Any]) -> Statement:
        raise UnsupportedError(
            "`%declare` names terminals that a program makes",
            code="grammar-feature",
            span=span_of(children[0]),
            hint="define the terminal, or write a token as `<name>`",
        )

    # -- expressions

    def choice(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        return Choice(tuple(children), (children[0].span[0], children[-1].span[1]))

    def alternative(self, children: list[Any]) -> Expression:
        return children[0]  # type: ignore[no-any-return]

    def both(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        return Operator(tuple(children), Both(), (children[0].span[0], children[-1].span[1]))

    def sequence(self, children: list[Expression]) -> Expression:
        if len(children) == 1:
            return children[0]
        span = (children[0].span[0], children[-1].span[1]) if children else NOWHERE
        return Sequence(tuple(children), span)

    def repeated(self, children: list[Any]) -> Expression:
        atom, count = children
        if count is None:
            return atom  # type: ignore[no-any-return]
        least, most = _QUANTIFIERS.get(count) or _counts(count)
        return Loop(atom, least, most, (atom.span[0], span_of(count)[1]))

    def negated(self, children: list[Any]) -> Expression:
        sign, atom = children
        return Operator((atom,), Complement(), (span_of(sign)[0], atom.span[1]))

    def group(self, children: list[Expression]) -> Expression:
        return children[0]

    def maybe(self, children: list[Expression]) -> Expression:
        return Loop(children[0], 0, 1, children[0].span)

    def literal(self, children: list[lark.Token]) -> Expression:
        (token,) = children
        return _string(token) if token.type == "STRING" else _regexp(token)

    def range(self, children: list[lark.Token]) -> Expression:
        low, high = map(_string, children)
        span = (low.span[0], high.span[1])
        if not (
            isinstance(low, Text)
            and isinstance(high, Text)
            and len(low.text) == len(high.text) == 1
            and low.text <= high.text
        ):
            raise _syntax(
                "a range needs two characters, in order", span, 'a range such as `"a".."z"`'
            )
        return Chars(((ord(low.text), ord(high.text)),), span)

    def reference(self, children: list[lark.Token]) -> Expression:
        return Reference(str(children[0]), span_of(children[0]))

    def usage(self, children: list[Any]) -> Expression:
        name, *arguments = children
        span = (span_of(name)[0], arguments[-1].span[1] + 1)
        return Operator(tuple(arguments), TemplateUse(str(name)), span)

    def argument(self, children: list[Expression]) -> Expression:
        return children[0]

    def name(self, children: list[lark.Token]) -> Name:
        return Name(str(children[0]), span_of(children[0]))

    def JSON(self, token: lark.Token) -> Expression:  # noqa: N802
        return Operator((), JsonText(), span_of(token))

    def TOKEN(self, token: lark.Token) -> Expression:  # noqa: N802
        return _token(token)


def _counts(token: lark.Token) -> tuple[int, int]:
    numbers = token[1:].replace(" ", "").replace("\t", "").split("..")
    if any(len(n.lstrip("0")) > 10 or int(n) > MAX_COUNT for n in numbers):
        raise _syntax(f"a repeat count over {MAX_COUNT:,}", span_of(token), "at most 2^31 - 1")
    least, most = int(numbers[0]), int(numbers[-1])
    if most < least:
        raise _syntax(
            f"`{token}` asks for at most {most} and at least {least}",
            span_of(token),
            "the smaller count first",
        )
    return least, most


def _string(token: lark.Token) -> Expression:
    span = span_of(token)
    ignores_case = token.endswith("i")
    start = span[0] + 1

    def unescape(match: re.Match[str]) -> str:
        hexadecimal = match.group(1) or match.group(2) or match.group(3)
        place = (start + match.start(), start + match.end())
        if hexadecimal:
            code = int(hexadecimal, 16)
            if code > charset.TOP or 0xD800 <= code <= 0xDFFF:
                raise _syntax(f"`{match.group()}` is no character", place, "a code point")
            return chr(code)
        if match.group(5):
            raise _syntax(
                f"`{match.group()}` is no escape here",
                place,
                '`\\n`, `\\r`, `\\t`, `\\f`, `\\x41`, `\\u0041`, `\\\\` or `\\"`',
            )
        return _SIMPLE[match.group(4)]

    text = _ESCAPE.sub(unescape, token[1 : -2 if ignores_case else -1])
    if not ignores_case:
        return Text(text, span)
    chars = (Chars(charset.fold_case_python(((ord(char), ord(char)),)), span) for char in text)
    return Sequence(tuple(chars), span)


def _regexp(token: lark.Token) -> Expression:
    span = span_of(token)
    pattern, _, flags = token[1:].rpartition("/")
    for flag in flags:
        if flag not in "imsu" or flags.count(flag) > 1:
            raise UnsupportedError(
                f"the flag `{flag}` of a regular expression",
                code="grammar-feature",
                span=(span[1] - len(flags), span[1]),
                expected="`i`, `m`, `s` or `u`, each once",
            )
    flags = flags.replace("u", "")
    combine = RegularText(f"(?{flags}:{pattern})" if flags else pattern)
    try:  # so that a mistake shows even if nothing uses the terminal
        combine(GrammarBuilder(), ())
    except StructagError as error:
        if error.span is not None:
            shift = span[0] + 1 - (len(flags) + 3 if flags else 0)
            start, end = (max(span[0], min(shift + at, span[1])) for at in error.span)
            error.span, error.excerpt = (start, end), None
        raise
    return Operator((), combine, span)


def _token(token: lark.Token) -> Expression:
    span = span_of(token)
    if not token.startswith("<["):
        return Token((str(token),), False, span)
    match = _TOKEN_IDS.fullmatch(token)
    if match is None:
        raise _syntax(f"`{token}` names no tokens", span, "ids such as `<[1,5-8]>`")
    ids: list[int] = []
    for part in match.group(1).split(","):
        low, _, high = part.partition("-")
        if int(high or low) - int(low) > _MOST_IDS:
            raise _syntax(f"`{token}` names too many tokens", span, f"at most {_MOST_IDS:,}")
        ids.extend(range(int(low), int(high or low) + 1))
    return Token(tuple(ids), False, span)


def _syntax(message: str, span: Span, expected: str) -> GrammarSyntaxError:
    return GrammarSyntaxError(message, code="grammar-syntax", span=span, expected=expected)
