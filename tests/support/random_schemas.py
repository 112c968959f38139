"""Random JSON Schemas over a small vocabulary of names and values, and instances near them.

Small on purpose: few names, few values, so that keywords meet each other and instances are valid
about half the time.
"""

from __future__ import annotations

import random
from typing import Any

NAMES = ["a", "b", "ab", "x"]
TEXTS = ["", "a", "b", "ab", "aab", "é", "x1"]
NUMBERS = [0, 1, 2, 3, 5, 10, -1, -4, 0.5, 2.5, -0.25, 100]
PATTERNS = ["^a", "b$", "^a+$", "x|b", "^.{2}$", "^(?!a)", "\\d"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def random_value(rng: random.Random, depth: int = 2) -> Any:
    kind = rng.randrange(7 if depth else 5)
    if kind == 0:
        return None
    if kind == 1:
        return rng.random() < 0.5
    if kind in (2, 3):
        return rng.choice(NUMBERS)
    if kind == 4:
        return rng.choice(TEXTS)
    if kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    names = rng.sample(NAMES, rng.randrange(4))
    return {name: random_value(rng, depth - 1) for name in names}


def random_schema(rng: random.Random, depth: int = 2) -> Any:
    """A schema with one to four keywords; `$ref` goes to ``#/$defs/x``."""
    if rng.random() < 0.08:
        return rng.random() < 0.7
    schema: dict[str, Any] = {}
    if rng.random() < 0.6:
        count = rng.choice((1, 1, 2, 3))
        types = rng.sample(TYPES, count)
        schema["type"] = types[0] if count == 1 else types
    for _ in range(rng.randrange(1, 4)):
        key = rng.choice(FLAT if depth == 0 else FLAT + NESTED)
        schema[key] = _keyword(rng, key, depth)
    if depth == 2 and rng.random() < 0.3:
        schema["$defs"] = {"x": random_schema(rng, 1)}
    return schema


FLAT = [
    "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "pattern", "minItems", "maxItems", "required", "minProperties",
    "maxProperties", "dependentRequired", "uniqueItems", "minContains", "maxContains",
]  # fmt: skip
NESTED = [
    "properties", "additionalProperties", "patternProperties", "propertyNames", "items",
    "prefixItems", "contains", "anyOf", "allOf", "oneOf", "not", "if", "then", "else",
    "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "properties", "items",
    "properties", "anyOf", "allOf",
]  # fmt: skip


def _keyword(rng: random.Random, key: str, depth: int) -> Any:
    def inner() -> Any:
        return random_schema(rng, depth - 1)

    if key == "enum":
        return [random_value(rng, 1) for _ in range(rng.randrange(1, 4))]
    if key == "const":
        return random_value(rng, 1)
    if key == "multipleOf":
        return rng.choice((1, 2, 5, 0.5, 3))
    if "imum" in key:
        return rng.choice(NUMBERS)
    if key == "pattern":
        return rng.choice(PATTERNS)
    if key.startswith(("min", "max")):
        return rng.randrange(4)
    if key == "uniqueItems":
        return rng.random() < 0.7
    if key == "required":
        return rng.sample(NAMES, rng.randrange(3))
    if key == "dependentRequired":
        return {rng.choice(NAMES): rng.sample(NAMES, 1)}
    if key in ("properties", "dependentSchemas"):
        return {name: inner() for name in rng.sample(NAMES, rng.randrange(1, 3))}
    if key == "patternProperties":
        return {rng.choice(PATTERNS): inner() for _ in range(rng.randrange(1, 3))}
    if key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        return [inner() for _ in range(rng.randrange(1, 4))]
    return inner()


def random_counted(rng: random.Random) -> dict[str, Any]:
    """A schema of lists, or of objects, that has to do with counts and with what is there twice."""

    def some(*keys: str) -> dict[str, Any]:
        return {key: _keyword(rng, key, 1) for key in keys if rng.random() < 0.5}

    if rng.random() < 0.4:
        schema = {"type": "object"} | some("minProperties", "maxProperties", "properties")
        schema |= some("required", "patternProperties", "propertyNames")
        if rng.random() < 0.5:
            schema["not"] = some("additionalProperties", "propertyNames", "patternProperties")
        return schema
    scalar = rng.sample(["null", "boolean", "integer", "number", "string"], rng.randrange(1, 4))
    schema = {"type": "array", "uniqueItems": rng.random() < 0.8, "items": {"type": scalar}}
    if "string" in scalar:
        schema["items"] |= some("pattern", "maxLength")
    if not schema["uniqueItems"]:
        schema |= some("prefixItems")
    return schema | some("minItems", "maxItems", "contains", "minContains", "maxContains")


def random_list(rng: random.Random) -> list[Any]:
    """Scalars, some of them twice."""
    values = [None, True, False, *NUMBERS[:6], *TEXTS]
    return [rng.choice(values) for _ in range(rng.randrange(6))]


def random_members(rng: random.Random) -> dict[str, Any]:
    """Up to four members with scalar values."""
    return {name: random_value(rng, 0) for name in rng.sample(NAMES, rng.randrange(5))}


def random_instance(rng: random.Random, schema: Any, depth: int = 4) -> Any:
    """A value made for `schema`, as its keywords have it one by one; often it is valid."""
    if not isinstance(schema, dict) or depth == 0:
        return random_value(rng, min(depth, 2))
    for key in ("allOf", "anyOf", "oneOf"):  # what one of the parts says, too
        if key in schema and rng.random() < 0.8:
            part = rng.choice(schema[key])
            schema = schema | part if isinstance(part, dict) else schema
    for key in ("if", "then", "else"):
        if isinstance(schema.get(key), dict) and rng.random() < 0.4:
            schema = schema | schema[key]
    if "const" in schema and rng.random() < 0.9:
        return schema["const"]
    if "enum" in schema and rng.random() < 0.9:
        return rng.choice(schema["enum"])
    types = schema.get("type", TYPES)
    kind = rng.choice([types] if isinstance(types, str) else types)
    if kind == "object":
        return _instance_object(rng, schema, depth)
    if kind == "array":
        return _instance_list(rng, schema, depth)
    if kind == "string":
        low, high = schema.get("minLength", 0), schema.get("maxLength", 9)
        texts = [text for text in TEXTS if low <= len(text) <= high]
        return rng.choice(texts or TEXTS)
    if kind in ("integer", "number"):
        step = schema.get("multipleOf", 1)
        bounds = [schema[key] for key in schema if "imum" in key]
        numbers = [step * n for n in range(-2, 4)] + [b + d for b in bounds for d in (-1, 0, 1)]
        return _plain(rng.choice(numbers if rng.random() < 0.8 else NUMBERS))
    return None if kind == "null" else rng.random() < 0.5


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number


def _instance_object(rng: random.Random, schema: dict[str, Any], depth: int) -> dict[str, Any]:
    named = schema.get("properties", {})
    names = [name for name in named if rng.random() < 0.7] + schema.get("required", [])
    while len(names) < schema.get("minProperties", 0) or rng.random() < 0.2:
        names.append(rng.choice([*NAMES, "é", "y"]))
    rng.shuffle(names)
    others = [
        schema.get("additionalProperties", True),
        *schema.get("patternProperties", {}).values(),
    ]
    return {
        name: random_instance(rng, named[name] if name in named else rng.choice(others), depth - 1)
        for name in names[: schema.get("maxProperties", 9)]
    }


def _instance_list(rng: random.Random, schema: dict[str, Any], depth: int) -> list[Any]:
    low, high = schema.get("minItems", 0), schema.get("maxItems", 4)
    first = schema.get("prefixItems", [])
    others = [schema[key] for key in ("items", "contains") if key in schema] or [True]
    return [
        random_instance(rng, first[i] if i < len(first) else rng.choice(others), depth - 1)
        for i in range(rng.randint(low, max(low, high)))
    ]


def near_miss(rng: random.Random, value: Any) -> Any:
    """`value` but for one edit somewhere in it."""
    if isinstance(value, dict):
        return _near_object(rng, value)
    if isinstance(value, list):
        return _near_list(rng, value)
    if rng.random() < 0.2:
        return random_value(rng, 1)
    if isinstance(value, str):
        place = rng.randrange(len(value) + 1)
        letter = rng.choice(["", "a", "b", "é", "1"])
        return value[:place] + letter + value[place + rng.randrange(2) :]
    if isinstance(value, bool) or value is None:
        return rng.choice((None, True, False, 0, "", [], {}))
    edited = rng.choice((value + 1, value - 1, -value, value + 0.5))
    return _plain(edited) if rng.random() < 0.9 else str(edited)


def _near_object(rng: random.Random, members: dict[str, Any]) -> dict[str, Any]:
    kept = dict(members)
    kind = rng.randrange(4)
    if not members or kind == 0:
        kept[rng.choice([*NAMES, "é", ""])] = random_value(rng, 1)
        return kept
    name = rng.choice(list(members))
    if kind == 1:
        del kept[name]
    elif kind == 2:
        kept[rng.choice(NAMES)] = kept.pop(name)
    else:
        kept[name] = near_miss(rng, kept[name])
    return kept


def _near_list(rng: random.Random, items: list[Any]) -> list[Any]:
    kept = list(items)
    kind = rng.randrange(4)
    place = rng.randrange(len(items)) if items else 0
    if not items or kind == 0:
        kept.insert(place, random_value(rng, 1))
    elif kind == 1:
        del kept[place]
    elif kind == 2:
        kept.insert(rng.randrange(len(items) + 1), kept[place])
    else:
        kept[place] = near_miss(rng, kept[place])
    return kept
