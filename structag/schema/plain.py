"""Reads the keywords that speak of one type each, and `type`: one schema's own facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from structag.grammar.expressions import Ref
from structag.schema import formats
from structag.schema.document import Node, wrong_value
from structag.schema.facts import (
    ANY,
    NUMBERS,
    STRINGS,
    ArrayFacts,
    Contains,
    Forms,
    Goal,
    Members,
    NumberFacts,
    ObjectFacts,
    StringFacts,
    both_numbers,
    both_strings,
)
from structag.schema.keywords import (
    ARRAY_KEYWORDS,
    NUMBER_KEYWORDS,
    OBJECT_KEYWORDS,
    STRING_KEYWORDS,
    TYPES,
)
from structag.schema.values import (
    check_text,
    count_of,
    names_of,
    number_of,
    schema_map_of,
    schema_of,
    schemas_of,
    text_of,
)
from structag.text.few_texts import few_texts

if TYPE_CHECKING:
    from structag.schema.expand import Expander

MAX_TEXTS = 16
"""Of a pattern that is read as its texts."""


def read_plain(expander: Expander, node: Node, schema: dict[str, Any], present: list[str]) -> Forms:
    """The keywords that speak of one type each, and the types."""
    types = TYPES if "type" not in schema else types_of(node)
    if expander.options.openapi and "nullable" in schema:
        if not isinstance(schema["nullable"], bool):
            raise wrong_value(node, "nullable", "a boolean")
        types |= {"null"} if schema["nullable"] else set()
    if not present:
        return ANY
    if _OF_ONE_TYPE.isdisjoint(present) and not expander.options.closed_objects:
        return all_of_types(types)
    numbers: tuple[NumberFacts, ...] = ()
    if "number" in types or "integer" in types:
        fact = number_facts(expander, node, present)
        if fact is not None:
            if "number" not in types:
                fact = fact._replace(is_integer=True)
            numbers = (fact,) if fact != ANY.numbers[0] else ANY.numbers
    else:
        number_facts(expander, node, present)
    strings = _typed("string" in types, ANY.strings, STRING_KEYWORDS, present,
                     partial(string_facts, expander, node))  # fmt: skip
    arrays = _typed("array" in types, ANY.arrays, ARRAY_KEYWORDS, present,
                    partial(array_facts, expander, node))  # fmt: skip
    objects = _typed("object" in types, ANY.objects, OBJECT_KEYWORDS, present,
                     partial(object_facts, expander, node))  # fmt: skip
    partial_types = 0
    if strings and not all(map(expander.is_exact, strings[0].patterns)):
        partial_types = STRINGS
    if numbers and schema.get("format") in formats.LARGEST_LEFT_OUT:
        partial_types |= NUMBERS
    if expander.options.closed_objects and objects is ANY.objects and "type" in schema:
        objects = (object_facts(expander, node, present),)
    return Forms(
        "null" in types,
        3 * ("boolean" in types),
        numbers,
        strings,
        arrays,
        objects,
        partial_types,
    )


_OF_ONE_TYPE = NUMBER_KEYWORDS | STRING_KEYWORDS | ARRAY_KEYWORDS | OBJECT_KEYWORDS


@cache
def all_of_types(types: frozenset[str]) -> Forms:
    """All values of some types."""
    if types >= TYPES:
        return ANY
    numbers = ANY.numbers
    if "number" not in types:
        numbers = (numbers[0]._replace(is_integer=True),) if "integer" in types else ()
    return Forms(
        "null" in types,
        3 * ("boolean" in types),
        numbers,
        ANY.strings if "string" in types else (),
        ANY.arrays if "array" in types else (),
        ANY.objects if "object" in types else (),
    )


def _typed(
    is_allowed: bool,
    free: tuple[Any, ...],
    keywords: frozenset[str],
    present: list[str],
    read: Callable[[list[str]], Any],
) -> tuple[Any, ...]:
    if keywords.isdisjoint(present):
        return free if is_allowed else ()
    fact = read(present)
    if not is_allowed or fact is None:
        return ()
    return free if fact == free[0] else (fact,)


def number_facts(expander: Expander, node: Node, present: list[str]) -> NumberFacts | None:
    """The bounds, factors and the format in a schema."""
    facts: NumberFacts | None = ANY.numbers[0]
    if NUMBER_KEYWORDS.isdisjoint(present) and "format" not in present:
        return facts
    for key in present:
        if facts is not None and (key in NUMBER_KEYWORDS or key == "format"):
            part = _number_part(expander, node, key)
            facts = facts if part is None else both_numbers(facts, part)
    return facts


def _number_part(expander: Expander, node: Node, key: str) -> NumberFacts | None:
    schema = node.value
    if key == "format":
        name = text_of(node, key)
        part = formats.NUMBER_FORMATS.get(name)
        if part is None or expander.options.formats == "annotate":
            return None
        if name in formats.LARGEST_LEFT_OUT:
            expander.leave_out(node, key, formats.LARGEST_LEFT_OUT[name])
        return part
    if key == "multipleOf":
        factor = number_of(node, key)
        if factor <= 0:
            raise wrong_value(node, key, "a number above 0")
        return NumberFacts(factors=(factor,))
    if isinstance(schema[key], bool) and key.startswith("exclusive"):
        bound = "minimum" if key == "exclusiveMinimum" else "maximum"
        if not schema[key] or bound not in schema:
            return None
        value, is_open = number_of(node, bound), True
    else:
        value, is_open = number_of(node, key), key.startswith("exclusive")
    if key in ("minimum", "exclusiveMinimum"):
        return NumberFacts(low=value, low_open=is_open)
    return NumberFacts(high=value, high_open=is_open)


def string_facts(expander: Expander, node: Node, present: list[str]) -> StringFacts | None:
    """The lengths, the pattern and the format in a schema.

    A pattern of a few texts is read as these, so that it tells branches apart as a `const` does.
    """
    low, high = 0, None
    patterns: list[Ref] = []
    values: frozenset[str] | None = None
    for key in present:
        if key == "minLength":
            low = count_of(node, key)
        elif key == "maxLength":
            high = count_of(node, key)
        elif key == "pattern":
            ref = expander.pattern(node, key, text_of(node, key))
            values = few_texts(expander.builder, ref, MAX_TEXTS)
            if values is None:
                patterns.append(ref)
        elif key == "format":
            name = text_of(node, key)
            found = expander.format(node, name) if expander.is_asserted(node, name) else None
            if found is not None:
                patterns.append(found)
    if values is not None:
        return both_strings(StringFacts(low, high, tuple(patterns)), StringFacts(values=values))
    if high is not None and low > high:
        return None
    return StringFacts(low, high, tuple(patterns))


def array_facts(expander: Expander, node: Node, present: list[str]) -> ArrayFacts | None:
    """The items and their counts in a schema."""
    schema = node.value
    prefix: tuple[Goal, ...] = ()
    items: Goal = ()
    low, high = 0, None
    contains: tuple[Contains, ...] = ()
    unique = None
    for key in present:
        if key == "minItems":
            low = count_of(node, key)
        elif key == "maxItems":
            high = count_of(node, key)
        elif key == "prefixItems" or (key == "items" and isinstance(schema[key], list)):
            prefix = () if schema[key] == [] else tuple(map(goal_of, schemas_of(node, key)))
            if key == "items" and "additionalItems" in present:
                items = goal_of(schema_of(node, "additionalItems"))
        elif key == "items":
            items = goal_of(schema_of(node, key))
        elif key == "contains":
            contains = (_contains(expander, node, present),)
        elif key == "uniqueItems":
            if not isinstance(schema[key], bool):
                raise wrong_value(node, key, "a boolean")
            unique = node if schema[key] else None
    if high is not None and low > high:
        return None
    is_tuple = isinstance(schema.get("items"), list)
    rest = "additionalItems" if is_tuple else "items"
    evaluated = None if rest in present else len(prefix)
    return ArrayFacts(prefix, items, low, high, contains, unique, evaluated)


def _contains(expander: Expander, node: Node, present: list[str]) -> Contains:
    low = count_of(node, "minContains") if "minContains" in present else 1
    high = count_of(node, "maxContains") if "maxContains" in present else None
    evaluates = node.resource.draft >= 9
    return Contains(goal_of(schema_of(node, "contains")), low, high, node, evaluates)


def object_facts(expander: Expander, node: Node, present: list[str]) -> ObjectFacts | None:
    """The members and their counts in a schema."""
    schema = node.value
    properties: dict[str, Goal] = {}
    patterns: list[tuple[Ref, Goal]] = []
    additional: Goal = ()
    required: tuple[str, ...] = ()
    names: tuple[Goal, ...] = ()
    low, high = 0, None
    speaks = False
    for key in present:
        if key == "properties":
            if isinstance(schema[key], dict):
                parts = {id(value) for value in schema[key].values() if type(value) is dict}
                expander.check_count(node, len(parts))
            for name, child in schema_map_of(node, key).items():
                check_text(node, key, name)
                properties[name] = goal_of(child)
        elif key == "patternProperties":
            for text, child in schema_map_of(node, key).items():
                patterns.append((expander.pattern(node, key, text), goal_of(child)))
        elif key == "additionalProperties":
            additional, speaks = goal_of(schema_of(node, key)), True
        elif key == "required":
            if isinstance(schema[key], bool) and node.resource.draft == 4:
                raise wrong_value(node, key, "an array of strings, beside `properties`")
            required = names_of(node, key, schema[key])
        elif key == "propertyNames":
            names = (goal_of(schema_of(node, key)),)
        elif key == "minProperties":
            low = count_of(node, key)
        elif key == "maxProperties":
            high = count_of(node, key)
    if expander.options.closed_objects and not speaks and not patterns:
        additional = (expander.document.false,)
    if high is not None and low > high:
        return None
    if expander.options.property_order != "any":
        count = len(properties.keys() | set(required))
        if count > 1 or (count and not _is_false(additional)):
            note_order(expander, node, "properties" if properties else "required")
    members: tuple[Members, ...] = ()
    if properties or patterns or additional or speaks:
        evaluates = "all" if speaks else "named"
        members = (Members(properties, tuple(patterns), additional, node, evaluates),)
    names = names if names != ((),) else ()
    return ObjectFacts(members, required, low, high, names)


def note_order(expander: Expander, node: Node, keyword: str) -> None:
    """Reports that the members under a keyword come in its order."""
    expander.report.restrict(
        node, keyword, 'members come in this order only; property_order="any" lifts that'
    )


_SINGLE = {name: frozenset((name,)) for name in TYPES}


def types_of(node: Node) -> frozenset[str]:
    """The types of the `type` keyword."""
    value = node.value["type"]
    names = named_types(value)
    if names is not None:
        return names
    if isinstance(value, str) or (value and isinstance(value, list) and _are_texts(value)):
        raise wrong_value(node, "type", "one of " + ", ".join(sorted(TYPES)))
    raise wrong_value(node, "type", "a type, or an array of types")


def named_types(value: Any) -> frozenset[str] | None:
    """The types that a value of `type` names; None if the standard does not allow it."""
    if type(value) is str:
        return _SINGLE.get(value)
    if isinstance(value, list) and value and _are_texts(value):
        names = frozenset(value)
        return names if names <= TYPES else None
    return None


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def goal_of(node: Node) -> Goal:
    """The goal of one node; the empty goal if it allows everything."""
    value = node.value
    return () if (value is True or value == {}) and not node.negative else (node,)


def _is_false(goal: Goal) -> bool:
    return any(node.value is node.negative for node in goal)
