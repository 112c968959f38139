"""One schema for the values that two schemas both accept, where keywords can say it exactly.

Providers take `allOf` badly, and closing the objects in it would leave nothing.  What has no exact
merger is refused in words, and nothing is approximated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from structag.schema.keywords import KEYWORDS

Resolve = Callable[[dict[str, Any]], "dict[str, Any] | bool"]
"""The schema behind a `$ref`, given the schema that has it; raises `MergeError`."""


class MergeError(Exception):
    """No keywords say what two schemas accept together; the text says why."""


# Keywords that mean something together: if both schemas have some of them, they have to be equal.
_GROUPS = (
    ("contains", "minContains", "maxContains"),
    ("if", "then", "else"),
    ("prefixItems", "items", "additionalItems"),
    ("$dynamicRef", "$recursiveRef"),
)
_OBJECT = ("properties", "patternProperties", "additionalProperties")
_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_EXCLUSIVE = ("exclusiveMinimum", "exclusiveMaximum")
_LONE = ("unevaluatedProperties", "unevaluatedItems")
_IN_WORDS = {
    "pattern": "two patterns", "format": "two formats", "anyOf": "two unions",
    "oneOf": "two unions", "not": "two negations", "multipleOf": "multiples of two numbers",
}  # fmt: skip


def merge(first: Any, second: Any, resolve: Resolve) -> Any:
    """A schema that accepts what `first` and `second` both accept; False if that is nothing.

    Descriptions are joined; of other annotations the first is kept.

    Raises:
        MergeError: no keywords say that.
    """
    if isinstance(first, bool) or isinstance(second, bool):
        return _with_bool(first, second)
    if _same(first, second):
        return first
    for one, other in ((first, second), (second, first)):
        if "$ref" in one:
            if not _asserts(other) and not (other.keys() & one.keys() - {"description", "title"}):
                return _annotated({**other, **one}, first, second)
            rest = {key: value for key, value in one.items() if key != "$ref"}
            one = merge(resolve(one), rest, resolve)
            return merge(one, other, resolve) if "$ref" in first else merge(other, one, resolve)
    for lone in _LONE:
        if lone in first or lone in second:
            raise MergeError(f"`{lone}` depends on what stands beside it")
    if any(type(one.get(key)) is bool for one in (first, second) for key in _EXCLUSIVE):
        raise MergeError("bounds as draft 4 has them")
    merged: dict[str, Any] = {}
    if not (
        _merge_values(merged, first, second) and _merge_objects(merged, first, second, resolve)
    ):
        return False
    _merge_groups(merged, first, second, resolve)
    done = {"type", "enum", "const", "required", *_OBJECT, *(k for g in _GROUPS for k in g)}
    for key in (*first, *(key for key in second if key not in first)):
        if key in done:
            continue
        if key not in first or key not in second:
            merged[key] = first.get(key, second.get(key))
        elif key not in ("description", "title"):
            merged[key] = _merge_keyword(key, first[key], second[key], resolve)
    return _annotated(merged, first, second)


def _with_bool(first: Any, second: Any) -> Any:
    if first is False or second is False:
        return False
    return second if first is True else first


def _asserts(schema: Mapping[str, Any]) -> bool:
    return any(key in KEYWORDS for key in schema)


def _annotated(merged: dict[str, Any], first: Any, second: Any) -> dict[str, Any]:
    said = [one["description"] for one in (first, second) if one.get("description")]
    if said:
        parts = dict.fromkeys(text for text in said if isinstance(text, str))
        merged["description"] = " ".join(parts) if parts else said[0]
    if "title" in first or "title" in second:
        merged["title"] = first.get("title", second.get("title"))
    return merged


def _merge_keyword(key: str, first: Any, second: Any, resolve: Resolve) -> Any:
    if _same(first, second) or key not in KEYWORDS:
        return first
    numbers = all(type(value) in (int, float) for value in (first, second))
    if key in _LEAST and numbers:
        return max(first, second)
    if key in _MOST and numbers:
        return min(first, second)
    if key == "multipleOf" and type(first) is type(second) is int:
        return math.lcm(first, second)
    if key == "uniqueItems":
        return bool(first or second)
    if key == "propertyNames":
        return merge(first, second, resolve)
    raise MergeError(_IN_WORDS.get(key, f"two of `{key}`"))


def _merge_values(merged: dict[str, Any], first: Any, second: Any) -> bool:
    """What the types, enums and constants leave; False if that is nothing."""
    kinds = [_types(one["type"]) for one in (first, second) if "type" in one]
    if kinds:
        both = kinds[0] if len(kinds) == 1 else _common_types(*kinds)
        if not both:
            return False
        merged["type"] = both[0] if len(both) == 1 else both
    allowed = [[one["const"]] for one in (first, second) if "const" in one]
    allowed += [one["enum"] for one in (first, second) if isinstance(one.get("enum"), list)]
    if allowed:
        keys = [{_key(value) for value in values} for values in allowed]
        left = [value for value in allowed[0] if all(_key(value) in one for one in keys)]
        if not left:
            return False
        is_const = "const" in first or "const" in second
        merged["const" if is_const else "enum"] = left[0] if is_const else left
    return True


def _types(kinds: Any) -> list[str]:
    return list(kinds) if isinstance(kinds, list) else [kinds]


def _common_types(first: list[str], second: list[str]) -> list[str]:
    both = [kind for kind in first if kind in second]
    for one, other in ((first, second), (second, first)):
        if "integer" in one and "number" in other and not {"integer", "number"} & {*both}:
            both.append("integer")
    return both


def _merge_objects(merged: dict[str, Any], first: Any, second: Any, resolve: Resolve) -> bool:
    """What is said of members; False if no value is left."""
    required = [*first.get("required", ()), *second.get("required", ())]
    if "required" in first or "required" in second:
        merged["required"] = list(dict.fromkeys(required))
    has_first, has_second = (any(key in one for key in _OBJECT) for one in (first, second))
    if not (has_first and has_second):
        one = first if has_first else second
        merged.update({key: one[key] for key in _OBJECT if key in one})
        return True
    known = (first.get("properties", {}), second.get("properties", {}))
    others = merge(
        first.get("additionalProperties", True), second.get("additionalProperties", True), resolve
    )
    patterns = first.get("patternProperties", {})
    if not _same(patterns, second.get("patternProperties", {})):
        raise MergeError("two sets of `patternProperties`")
    members = {}
    for name in dict.fromkeys((*known[0], *known[1])):
        member = merge(_view(first, name), _view(second, name), resolve)
        if member is False and name in required:
            if merged.get("type") == "object":
                return False
            raise MergeError(f"the property `{name}` is required, and not allowed")
        if member is not False or others is not False:
            members[name] = member
    if members or "properties" in first or "properties" in second:
        merged["properties"] = members
    if patterns:
        merged["patternProperties"] = patterns
    if others is not True:
        merged["additionalProperties"] = others
    return True


def _view(schema: Mapping[str, Any], name: str) -> Any:
    """What a schema says of one property, beside its `patternProperties`."""
    known = schema.get("properties", {})
    if name in known:
        return known[name]
    others = schema.get("additionalProperties", True)
    if others is not True and schema.get("patternProperties"):
        if not all(re.fullmatch(r"\^?[\w-]*\$?", one) for one in schema["patternProperties"]):
            raise MergeError("`patternProperties` beside `additionalProperties`")
        if any(re.search(one, name) for one in schema["patternProperties"]):
            return True
    return others


def _merge_groups(merged: dict[str, Any], first: Any, second: Any, resolve: Resolve) -> None:
    for group in _GROUPS:
        one, other = ({key: part[key] for key in group if key in part} for part in (first, second))
        if one.keys() | other.keys() == {"items"} and not any(
            isinstance(part["items"], list) for part in (one, other) if part
        ):
            merged["items"] = merge(one.get("items", True), other.get("items", True), resolve)
        elif one and other and not _same(one, other):
            raise MergeError(f"two of `{next(iter(one))}`")
        else:
            merged.update(one or other)


def _same(first: Any, second: Any) -> bool:
    return _key(first) == _key(second)


def _key(value: Any) -> str:
    """Equal for what is equal in JSON Schema: 1 is 1.0, and true is not 1."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
