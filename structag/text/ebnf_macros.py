"""What the macros and rule options of EBNF mean.

Free text before a trigger, and triggers, are those of structural tags: see `Scan`.  Named
arguments that would not be honoured exactly are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from structag.errors import GrammarSyntaxError, StructagError, UnsupportedError
from structag.grammar.builder import MAX_COUNT, GrammarBuilder
from structag.grammar.expressions import Ref
from structag.text.regex import lower_regex
from structag.text.rules import Expression, Operator, Reference, Span, Token

Content: TypeAlias = "str | int | bool | Reference | tuple[Value, ...] | None"


class Value(NamedTuple):
    """A string, integer, boolean, rule or tuple; None for an option without a value."""

    content: Content
    span: Span


class Argument(NamedTuple):
    """An argument or option; positional if `name` is None."""

    name: str | None
    value: Value
    span: Span


def read_integer(digits: str, span: Span) -> int:
    """The value of an integer literal, which has to be a possible token id or count."""
    if len(digits.lstrip("0")) > 10 or int(digits) > MAX_COUNT:
        raise _syntax("the number is too large", span, "at most 2^31 - 1")
    return int(digits)


# -- options of rules


def apply_options(options: Sequence[Argument], body: Expression) -> Expression:
    """`body` under the options of its rule."""
    seen: set[str] = set()
    for option in options:
        name = str(option.name)
        if name in seen:
            raise _syntax(f"the option `{name}` is given twice", option.span, "each option once")
        seen.add(name)
        limit = _OPTIONS.get(name)
        if limit is None:
            raise UnsupportedError(
                f"the rule option `{name}` is not supported",
                code="grammar-feature",
                span=option.span,
                expected=" or ".join(f"`{known}`" for known in _OPTIONS),
            )
        body = Operator((body,), limit(_count(option)), option.span)
    return body


def _count(option: Argument) -> int:
    count = option.value.content
    if isinstance(count, bool) or not isinstance(count, int):
        raise _syntax(f"`{option.name}` needs a count", option.span, f"`{option.name}=512`")
    return count


def _max_tokens(count: int) -> Callable[[GrammarBuilder, Sequence[Ref]], Ref]:
    return lambda b, refs: b.budget(refs[0], count)


def _max_chars(count: int) -> Callable[[GrammarBuilder, Sequence[Ref]], Ref]:
    def combine(b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        if b.is_regular(refs[0]):
            return b.both(refs[0], b.repeat(b.any_char, 0, count))
        raise UnsupportedError(
            "`max_chars` on a rule that is not regular is not supported",
            code="grammar-feature",
            hint="limit the characters of its parts with `{0,n}`",
        )

    return combine


_OPTIONS = {"max_tokens": _max_tokens, "max_chars": _max_chars}


# -- macros


def call_macro(name: str, arguments: Sequence[Argument], span: Span) -> Expression:
    """The expression of a macro call."""
    positional = [argument.value for argument in arguments if argument.name is None]
    named: dict[str, Value] = {}
    for argument in arguments:
        if argument.name is None:
            continue
        if argument.name not in _NAMED[name]:
            known = ", ".join(f"`{word}`" for word in _NAMED[name]) or "no named argument"
            raise _syntax(f"`{name}` has no argument `{argument.name}`", argument.span, known)
        if argument.name in named:
            raise _syntax(f"`{argument.name}` is given twice", argument.span, "each argument once")
        named[argument.name] = argument.value
    return MACROS[name](positional, named, span)


def _token(arguments: Sequence[Value], named: dict[str, Value], span: Span) -> Expression:
    return Token(_ids(arguments, span), False, span)


def _exclude_token(arguments: Sequence[Value], named: dict[str, Value], span: Span) -> Expression:
    return Token(_ids(arguments, span), True, span)


def _ids(arguments: Sequence[Value], span: Span) -> tuple[int, ...]:
    if not arguments:
        raise _syntax("no token is given", span, "one token id or more")
    return tuple(_id(value) for value in arguments)


def _id(value: Value) -> int:
    if isinstance(value.content, bool) or not isinstance(value.content, int):
        raise _syntax("this is no token id", value.span, "an integer")
    return value.content


def _string(value: Value, what: str) -> str:
    if not isinstance(value.content, str):
        raise _syntax(f"this is no {what}", value.span, "a string")
    return value.content


def _marker(value: Value, what: str) -> str:
    if not _string(value, what):
        raise _syntax(f"the {what} is empty", value.span, "a string of one character or more")
    return str(value.content)


def _boolean(value: Value | None, default: bool) -> bool:
    if value is None:
        return default
    if not isinstance(value.content, bool):
        raise _syntax("this is neither true nor false", value.span, "true or false")
    return value.content


def _items(value: Value | None) -> tuple[Value, ...]:
    if value is None:
        return ()
    if not isinstance(value.content, tuple) or isinstance(value.content, Reference):
        raise _syntax("this is no tuple", value.span, "a tuple such as `(1, 2)`")
    return value.content


def _pair(value: Value, first: str) -> tuple[Value, Reference]:
    items = _items(value)
    if len(items) != 2 or not isinstance(items[1].content, Reference):
        raise _syntax("this is no pair", value.span, f"({first}, name of a rule)")
    return items[0], items[1].content


def _regex(arguments: Sequence[Value], named: dict[str, Value], span: Span) -> Expression:
    if len(arguments) != 1:
        raise _syntax("`Regex` takes one pattern", span, '`Regex("…")`')
    pattern = _string(arguments[0], "pattern")
    flags = _string(named["flags"], "string of flags") if "flags" in named else ""
    wrong = sorted(set(flags) - set("ismu"))
    if wrong:
        raise _syntax(f"`{wrong[0]}` is no flag", named["flags"].span, "i, m, s or u")
    kept = "".join(flag for flag in "ims" if flag in flags)
    whole = f"(?{kept}){pattern}" if kept else pattern
    in_json = _boolean(named.get("json_string"), False)

    def combine(b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        try:
            found = lower_regex(whole, b)
        except StructagError as error:
            error.span, error.excerpt = arguments[0].span, None
            raise
        if in_json:
            plain = b.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)])
            found = b.both(found, b.repeat(plain, 0))
        return found

    return Operator((), combine, span)


_LONGEST_RUN = 256  # nested chunks; regular expressions are not nested without bound


def _substring(arguments: Sequence[Value], named: dict[str, Value], span: Span) -> Expression:
    chunks = [chunk for value in arguments if (chunk := _string(value, "chunk").encode())]

    def combine(b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        starts: list[Ref] = [b.epsilon]
        tail = b.epsilon
        for count, chunk in enumerate(reversed(chunks), 1):
            tail = b.seq(b.literal(chunk), b.optional(tail))
            if count % _LONGEST_RUN == 0:
                rule = b.rule("substring")
                b.define(rule, tail)
                tail = rule
            starts.append(tail)
        return b.alt(*starts)

    return Operator((), combine, span)


def _tag_dispatch(arguments: Sequence[Value], named: dict[str, Value], span: Span) -> Expression:
    pairs = [_pair(value, "trigger") for value in arguments]
    triggers = [_marker(trigger, "trigger") for trigger, _ in pairs]
    excludes = [_marker(value, "exclude") for value in _items(named.get("excludes"))]
    loops = _boolean(named.get("loop_after_dispatch"), True)
    for trigger, (value, _) in zip(triggers, pairs, strict=True):
        for exclude in excludes:
            if exclude in trigger:
                message = f"the exclude `{exclude}` occurs in the trigger `{trigger}`"
                raise _syntax(message, value.span, "triggers that can be written")

    def combine(b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        patterns = [text.encode() for text in triggers]
        banned = [text.encode() for text in excludes]
        text = b.no_occurrence([*patterns, *banned])
        scan = b.scan(zip(patterns, refs, strict=True), banned)
        return b.seq(b.repeat(scan, 0), text) if loops else b.alt(scan, text)

    return Operator(tuple(rule for _, rule in pairs), combine, span)


def _token_tag_dispatch(
    arguments: Sequence[Value], named: dict[str, Value], span: Span
) -> Expression:
    pairs = [_pair(value, "token id") for value in arguments]
    triggers = [_id(trigger) for trigger, _ in pairs]
    excludes = [_id(value) for value in _items(named.get("excludes"))]
    begins = [Token((_id(trigger),), False, trigger.span) for trigger, _ in pairs]
    others = Token((*triggers, *excludes), True, named["excludes"].span if excludes else span)
    loops = _boolean(named.get("loop_after_dispatch"), True)
    for trigger, (value, _) in zip(triggers, pairs, strict=True):
        if trigger in excludes:
            raise _syntax(f"token {trigger} is a trigger and excluded", value.span, "one of both")

    def combine(b: GrammarBuilder, refs: Sequence[Ref]) -> Ref:
        text = b.repeat(refs[-1], 0)
        tag = b.seq(text, b.alt(*map(b.seq, refs[: len(pairs)], refs[len(pairs) : -1])))
        return b.seq(b.repeat(tag, 0), text) if loops else b.alt(tag, text)

    return Operator((*begins, *(rule for _, rule in pairs), others), combine, span)


MACROS = {
    "Token": _token,
    "ExcludeToken": _exclude_token,
    "Regex": _regex,
    "Substring": _substring,
    "TagDispatch": _tag_dispatch,
    "TokenTagDispatch": _token_tag_dispatch,
}
_NAMED: dict[str, tuple[str, ...]] = {
    "Token": (),
    "ExcludeToken": (),
    "Regex": ("json_string", "flags"),
    "Substring": (),
    "TagDispatch": ("loop_after_dispatch", "excludes"),
    "TokenTagDispatch": ("loop_after_dispatch", "excludes"),
}


def _syntax(message: str, span: Span, expected: str) -> GrammarSyntaxError:
    return GrammarSyntaxError(message, code="grammar-syntax", span=span, expected=expected)
