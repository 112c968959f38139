"""Reads the values of keywords, and turns constants into facts.

A value that the standard does not allow is a `schema-value` error that names the keyword.  Numbers
become exact `Decimal`s whatever type they arrive in.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

from structag.errors import LimitError, SchemaError
from structag.schema.document import Node, unsupported, wrong_value
from structag.schema.facts import (
    NONE,
    ArrayFacts,
    Forms,
    Members,
    NumberFacts,
    ObjectFacts,
    StringFacts,
)

MAX_COMPOSITES = 4000
"""Arrays and objects in one `enum`."""
MAX_DIGITS = 2000
MAX_DECIMALS = 200
"""Numbers of more digits before, or behind, the point are refused."""


def count_of(node: Node, keyword: str) -> int:
    """A keyword that is a non-negative integer (also spelled 2.0)."""
    value = node.value[keyword]
    number = exact(value)
    if number is None or number < 0 or number != number.to_integral_value():
        raise wrong_value(node, keyword, "a non-negative integer")
    return int(checked(node, keyword, number))


def number_of(node: Node, keyword: str) -> Decimal:
    """A keyword that is a number."""
    number = exact(node.value[keyword])
    if number is None:
        raise wrong_value(node, keyword, "a number")
    return checked(node, keyword, number)


def checked(node: Node, keyword: str, number: Decimal) -> Decimal:
    """`number`, unless it has too many digits to be spelled out."""
    exponent = number.as_tuple().exponent
    if number.adjusted() > MAX_DIGITS or (isinstance(exponent, int) and exponent < -MAX_DECIMALS):
        raise unsupported(
            node, keyword, f"a number of over {MAX_DIGITS} digits or {MAX_DECIMALS} decimals"
        )
    return number


def exact(value: Any) -> Decimal | None:
    """The number exactly as it is spelled; None if it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def text_of(node: Node, keyword: str) -> str:
    """A keyword that is a string."""
    value = node.value[keyword]
    if not isinstance(value, str):
        raise wrong_value(node, keyword, "a string")
    return value


def values_of(node: Node, keyword: str) -> list[Any]:
    """A keyword that is a list of any values."""
    values = node.value[keyword]
    if not isinstance(values, list):
        raise wrong_value(node, keyword, "an array of values")
    return values


def names_of(node: Node, keyword: str, value: Any) -> tuple[str, ...]:
    """A list of property names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise wrong_value(node, keyword, "an array of strings")
    for name in value:
        check_text(node, keyword, name)
    return tuple(dict.fromkeys(value))


def are_names(keyword: str, needs: Any) -> bool:
    """Whether what a member needs are other members; a schema otherwise."""
    either = keyword == "dependencies"
    return isinstance(needs, list) if either else keyword == "dependentRequired"


def schemas_of(node: Node, keyword: str) -> list[Node]:
    """A keyword that is a list of one or more schemas."""
    value = node.value[keyword]
    if not isinstance(value, list) or not value:
        raise wrong_value(node, keyword, "an array of one or more schemas")
    container = node.child(keyword, value)
    return [schema_in(container, index, item) for index, item in enumerate(value)]


def schema_map_of(node: Node, keyword: str) -> dict[str, Node]:
    """A keyword that is an object of schemas."""
    value = object_of(node, keyword, "an object of schemas")
    container = node.child(keyword, value)
    return {name: schema_in(container, name, item) for name, item in value.items()}


def object_of(node: Node, keyword: str, expected: str = "an object") -> dict[str, Any]:
    """A keyword that is an object; as a Python value it might have names that are no strings."""
    value = node.value[keyword]
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise wrong_value(node, keyword, expected)
    return value


def schema_of(node: Node, keyword: str) -> Node:
    """A keyword that is a schema."""
    return schema_in(node, keyword, node.value[keyword])


def schema_in(container: Node, token: str | int, value: Any) -> Node:
    """The node of a schema, once it is known to be one."""
    if type(value) is not dict and type(value) is not bool:
        place = container.child(token, value)
        raise SchemaError(
            f"a schema is {_kind(value)}",
            code="schema-value",
            pointer=place.pointer,
            expected="an object or a boolean",
        )
    return container.child(token, value)


def _kind(value: Any) -> str:
    names = {type(None): "null", str: "a string", list: "an array", bool: "a boolean"}
    return names.get(type(value), "a number" if exact(value) is not None else "no JSON value")


def check_text(node: Node, keyword: str, text: str) -> None:
    """Refuses a string that no JSON text can hold."""
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise SchemaError(
            f"`{keyword}` holds a lone surrogate",
            code="schema-value",
            pointer=f"{node.pointer}/{keyword}",
            expected="Unicode text",
        )


def constants(node: Node, keyword: str, values: Iterable[Any]) -> Forms:
    """The facts of a finite set of values; `node` is the schema that has them under `keyword`."""
    null, booleans = False, 0
    numbers: list[Decimal] = []
    strings: list[str] = []
    arrays: list[ArrayFacts] = []
    objects: list[ObjectFacts] = []
    for index, value in enumerate(values):
        if type(value) is str:
            if not value.isascii():
                check_text(node, keyword, value)
            strings.append(value)
        elif value is None:
            null = True
        elif value is True or value is False:
            booleans |= 2 if value else 1
        elif isinstance(value, list):
            place = _constant(node, keyword, index, value)
            arrays.append(_array(place, value))
        elif isinstance(value, dict):
            place = _constant(node, keyword, index, value)
            objects.append(_object(place, value))
        else:
            number = exact(value)
            if number is None:
                raise wrong_value(node, keyword, "JSON values")
            numbers.append(checked(node, keyword, number))
    if (arrays or objects) and not node.is_made:
        _check_size(node, keyword)
    if len(arrays) + len(objects) > MAX_COMPOSITES:
        raise unsupported(node, keyword, f"over {MAX_COMPOSITES} arrays and objects")
    return NONE._replace(
        null=null,
        booleans=booleans,
        numbers=(NumberFacts(values=frozenset(numbers)),) if numbers else (),
        strings=(StringFacts(values=frozenset(strings)),) if strings else (),
        arrays=tuple(arrays),
        objects=tuple(objects),
    )


def _check_size(node: Node, keyword: str) -> None:
    """Refuses constants of too many parts: a Python value may hold itself, or one part often."""
    most = node.resource.document.limits.max_expressions
    parts = 0
    todo = [node.value[keyword]]
    while todo:
        part = todo.pop()
        parts += 1
        if isinstance(part, dict):
            todo += part.values()
        elif isinstance(part, list):
            todo += part
        if parts + len(todo) > most:
            raise LimitError(
                f"`{keyword}` has over {most:,} parts, or holds itself",
                limit="expressions",
                value=most,
                setting="max_expressions",
                pointer=f"{node.pointer}/{keyword}",
            )


def _constant(node: Node, keyword: str, index: int, value: Any) -> Node:
    if keyword == "const":
        return node.child("const", value)
    return node.child(keyword, node.value[keyword]).child(index, value)


def _item(place: Node, token: str | int, value: Any) -> tuple[Node, ...]:
    """The goal for a value inside a constant: a schema made up for it, valid in every draft."""
    inner = place.child(token, value)
    made = inner.known("enum")
    if made is None:
        made = inner.child("enum", {"enum": [value]})
        made.is_made = True
    return (made,)


def _array(place: Node, value: list[Any]) -> ArrayFacts:
    prefix = tuple(_item(place, index, item) for index, item in enumerate(value))
    return ArrayFacts(prefix, (), len(value), len(value))


def _object(place: Node, value: dict[str, Any]) -> ObjectFacts:
    for name in value:
        if not isinstance(name, str):
            raise wrong_value(place, name, "property names that are strings")
        check_text(place, name, name)
    properties = {name: _item(place, name, item) for name, item in value.items()}
    false = (place.resource.document.false,)
    return ObjectFacts((Members(properties, (), false, place),), tuple(value))
