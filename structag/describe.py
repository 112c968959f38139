"""Formats in plain English: `describe_tag`, `describe_schema`, `describe_grammar`.

A description is a `Part`: a line, and parts below it.  It says what the source says, in its order;
what a schema's keyword means in detail is for the documents of the language.  A keyword that has no
words here is quoted, not dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from structag.grammar.expressions import (
    Alt,
    Chars,
    Epsilon,
    Grammar,
    Literal,
    Mark,
    Node,
    Ref,
    Repeat,
    Rule,
    Seq,
    children,
)
from structag.grammar.show import node_label, quote
from structag.pointer import unescaped
from structag.tags.parse import TagSource, parse_format
from structag.words import quoted

MAX_DEPTH = 24
_MOST_VALUES = 8
_TYPES = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
    "null": "null", "array": "a list", "object": "an object",
}  # fmt: skip
_SILENT = frozenset(
    ("$schema", "$id", "$defs", "definitions", "$comment", "title", "description", "default",
     "examples", "deprecated", "readOnly", "writeOnly", "$anchor", "type", "enum", "const", "$ref",
     "required", "properties", "items", "prefixItems", "additionalProperties")
)  # fmt: skip
_UNITED = {
    "anyOf": "one or more of these hold:", "oneOf": "exactly one of these holds:",
    "allOf": "all of these hold:", "not": "this does not hold:",
    "if": "if this holds:", "then": "then this holds:", "else": "else this holds:",
    "contains": "some item is:", "propertyNames": "every name is:",
    "patternProperties": "members by their names:", "dependentSchemas": "if a member is there:",
}  # fmt: skip


class Part(NamedTuple):
    """A line of a description, and what belongs to it."""

    words: str
    parts: tuple[Part, ...] = ()

    def lines(self, depth: int = 0) -> Iterable[tuple[int, str]]:
        """Every line with its depth, top down."""
        yield depth, self.words
        for part in self.parts:
            yield from part.lines(depth + 1)


_DEEPER = Part("… and so on, deeper")


def describe_tag(tag: TagSource) -> Part:
    """A structural tag, in any shape that `compile_structural_tag` takes.

    Raises:
        FormatError: it is none.
    """
    return _format(parse_format(tag).model_dump(mode="json", by_alias=True)["format"], 0)


def _format(format: Mapping[str, Any], depth: int) -> Part:
    if depth > MAX_DEPTH:
        return _DEEPER
    below = depth + 1
    without = _without(format.get("excludes") or format.get("exclude_tokens"))
    match format["type"]:
        case "const_string":
            return Part(f"the text {_value(format['value'])}")
        case "regex":
            return Part(f"text that matches {_value(format['pattern'])}{without}")
        case "grammar":
            lines = format["grammar"].strip().splitlines()
            notation = format.get("syntax", "ebnf")
            return Part(f"text that a grammar derives ({notation})", tuple(map(Part, lines[:20])))
        case "json_schema":
            schema = describe_schema(format["json_schema"], depth=below)
            style = format.get("style", "json")
            if style == "json":
                return schema
            name = f"`{style}`" if isinstance(style, str) else "of its own"
            return Part(f"arguments, written in the style {name}:", (schema,))
        case "any_text" | "any_tokens" as kind:
            most = [
                f"at most {format[key]:,} {unit}"
                for key, unit in (("max_tokens", "tokens"), ("max_chars", "characters"))
                if format.get(key) is not None
            ]
            what = "any text" if kind == "any_text" else "any tokens"
            return Part(what + without + "".join(f", {each}" for each in most))
        case "token":
            return Part(f"the token {_marker(format)}")
        case "exclude_token":
            return Part(f"any one token{without}")
        case "sequence":
            return Part("one after the other:", _formats(format["elements"], below))
        case "or":
            return Part("one of these:", _formats(format["elements"], below))
        case "optional" | "plus" | "star" | "repeat" as kind:
            times = {"optional": (0, 1), "plus": (1, -1), "star": (0, -1)}
            low, high = times.get(kind) or (format["min"], format["max"])
            words = _times(low, None if high < 0 else high)
            return Part(f"{words}:", (_format(format["content"], below),))
        case "tag":
            return _tag(format, below)
        case "tags_with_separator":
            words = f"tags with {_value(format['separator'])} between them{_flags(format)}:"
            return Part(words, _formats(format["tags"], below))
        case "triggered_tags" | "token_triggered_tags":
            triggers = format.get("triggers") or format.get("trigger_tokens", ())
            words = (
                f"free text{without}, in which {_any_of(triggers)} begins a tag{_flags(format)}:"
            )
            return Part(words, _formats(format["tags"], below))
        case _:
            again = "" if format.get("loop", True) else ", once"
            cases = tuple(
                Part(f"after {_value(text)}:", (_format(rule, below + 1),))
                for text, rule in format["rules"]
            )
            return Part(f"free text{without}{again}, and then", cases)


def _tag(format: Mapping[str, Any], depth: int) -> Part:
    content = _format(format["content"], depth)
    end = format["end"]
    ends = [_marker(each) for each in (end if isinstance(end, list | tuple) else [end])]
    begin = _marker(format["begin"])
    closed = [each for each in ends if each]
    words = f"after {begin}" if begin else "from here"
    words += f", until {' or '.join(closed)}" if closed else ""
    return Part(f"{words}:", (content,))


def _formats(formats: Sequence[Mapping[str, Any]], depth: int) -> tuple[Part, ...]:
    return tuple(_format(each, depth) for each in formats)


def _flags(format: Mapping[str, Any]) -> str:
    found = []
    if format.get("at_least_one"):
        found.append("at least one")
    if format.get("stop_after_first"):
        found.append("nothing after the first")
    return "".join(f", {each}" for each in found)


def _marker(marker: Any) -> str:
    if isinstance(marker, Mapping):
        return f"the token {_value(marker['token'])}"
    return _value(marker) if marker else ""


def _without(texts: Sequence[Any] | None) -> str:
    return f" without {_any_of(texts)}" if texts else ""


def _any_of(values: Sequence[Any]) -> str:
    shown = [_value(value) for value in values[:_MOST_VALUES]]
    more = len(values) - len(shown)
    if more:
        shown.append(f"{more:,} others")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def describe_schema(schema: Any, *, depth: int = 0) -> Part:
    """A JSON Schema, as plain data."""
    return _Schema(schema).describe(schema, depth)


class _Schema:
    """Describes the parts of one schema; what is referred to is described where it comes first."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._seen: set[str] = set()

    def describe(self, schema: Any, depth: int) -> Part:
        if depth > MAX_DEPTH:
            return _DEEPER
        if schema is True or schema == {}:
            return Part("any JSON value")
        if not isinstance(schema, Mapping):
            return Part("nothing")
        if "$ref" in schema:
            return self._reference(schema["$ref"], depth)
        parts = [*self._members(schema, depth), *self._items(schema, depth)]
        parts += self._others(schema, depth)
        return Part(self._head(schema) + (":" if parts else ""), tuple(parts))

    def _reference(self, pointer: str, depth: int) -> Part:
        target = self._root
        if pointer in self._seen:
            return Part(f"what {_value(pointer)} is, as above")
        for step in pointer.removeprefix("#").split("/")[1:]:
            target = target.get(unescaped(step)) if isinstance(target, Mapping) else None
        if not pointer.startswith("#") or target is None:
            return Part(f"what {_value(pointer)} is")
        self._seen.add(pointer)
        found = self.describe(target, depth)
        return Part(f"{_value(pointer)}, {found.words}", found.parts)

    def _head(self, schema: Mapping[str, Any]) -> str:
        if "const" in schema:
            return f"exactly {_value(schema['const'])}"
        if "enum" in schema:
            return _any_of(schema["enum"])
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        names = [_TYPES.get(kind, kind) for kind in kinds] or ["a value"]
        words = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        note = schema.get("description")
        return f"{words} ({note})" if isinstance(note, str) and "\n" not in note else words

    def _members(self, schema: Mapping[str, Any], depth: int) -> list[Part]:
        parts = []
        required = schema.get("required", ())
        properties = schema.get("properties", {})
        for name, value in properties.items():
            found = self.describe(value, depth + 1)
            may = "" if name in required else ", optional"
            parts.append(Part(f"{_value(name)}{may}: {found.words}", found.parts))
        missing = [name for name in required if name not in properties]
        if missing:
            parts.append(Part(f"also {', '.join(map(_value, missing))}: any JSON value"))
        others = schema.get("additionalProperties")
        if others is False:
            parts.append(Part("no other members"))
        elif others not in (None, True):
            found = self.describe(others, depth + 1)
            parts.append(Part(f"any other members: {found.words}", found.parts))
        return parts

    def _items(self, schema: Mapping[str, Any], depth: int) -> list[Part]:
        parts = []
        first = schema.get("prefixItems", ())
        for number, value in enumerate(first, 1):
            found = self.describe(value, depth + 1)
            parts.append(Part(f"item {number}: {found.words}", found.parts))
        if isinstance(schema.get("items"), Mapping | bool):
            found = self.describe(schema["items"], depth + 1)
            which = "every further item" if first else "every item"
            parts.append(Part(f"{which}: {found.words}", found.parts))
        return parts

    def _others(self, schema: Mapping[str, Any], depth: int) -> list[Part]:
        parts = []
        for keyword, value in schema.items():
            if keyword in _SILENT:
                continue
            if keyword not in _UNITED:
                parts.append(Part(f"`{keyword}`: {_value(value)}"))
            elif isinstance(value, list):
                found = tuple(self.describe(each, depth + 1) for each in value)
                parts.append(Part(_UNITED[keyword], found))
            elif keyword in ("patternProperties", "dependentSchemas"):
                named = [(_value(name), self.describe(v, depth + 1)) for name, v in value.items()]
                found = tuple(Part(f"{name}: {p.words}", p.parts) for name, p in named)
                parts.append(Part(_UNITED[keyword], found))
            else:
                parts.append(Part(_UNITED[keyword], (self.describe(value, depth + 1),)))
        return parts


def describe_grammar(grammar: Grammar) -> Part:
    """A unified grammar: what a regular expression or a grammar text becomes."""
    return _Rules(grammar).describe(grammar.root, 0)


class _Rules:
    """Describes expressions; a rule where it comes first."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._seen: set[int] = set()

    def describe(self, ref: Ref, depth: int) -> Part:
        if depth > MAX_DEPTH:
            return _DEEPER
        node = self._grammar.nodes[ref]
        match node:
            case Mark(_, child):
                return self.describe(child, depth)
            case Rule(index):
                name, body = self._grammar.rules[index]
                if index in self._seen:
                    return Part(f"`{name}` again")
                self._seen.add(index)
                found = self.describe(body, depth)
                return Part(f"`{name}`, {found.words}", found.parts)
            case Repeat(child, low, high):
                return Part(f"{_times(low, high)}:", (self.describe(child, depth + 1),))
            case Seq(parts):
                return Part("one after the other:", self._each(parts, depth))
            case Alt(parts):
                return Part("one of these:", self._each(parts, depth))
            case _:
                return Part(self._words(ref, node), self._each(children(node), depth))

    def _each(self, refs: Sequence[Ref], depth: int) -> tuple[Part, ...]:
        return tuple(self.describe(ref, depth + 1) for ref in refs)

    def _words(self, ref: Ref, node: Node) -> str:
        match node:
            case Literal(data):
                return f"the text {quote(data)}"
            case Epsilon():
                return "nothing"
            case Chars():
                return f"a character out of {node_label(self._grammar, ref)}"
            case _:
                return node_label(self._grammar, ref)


def _times(low: int, high: int | None) -> str:
    if (low, high) == (0, 1):
        return "perhaps"
    if high is None:
        return {0: "any number of times", 1: "once or more"}.get(low, f"{low:,} times or more")
    return f"{low:,} times" if low == high else f"{low:,} to {high:,} times"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value.encode("utf-8", "replace"))
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text if len(text) <= 60 else text[:59] + '…'}`"
