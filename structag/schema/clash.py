"""Says why a schema has no value: which of its keywords clash.

Keywords are left out one after the other, from the outside in, as long as there still is no value.
What is left clashes, and without any one of it there would be a value.  Only what can but widen a
schema is tried: a keyword is dropped, a subschema becomes ``true``.  Alternatives, negations and
what a reference leads to are taken as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from structag.errors import StructagError
from structag.pointer import escaped
from structag.schema.keywords import KEYWORDS

MAX_NODES = 2000
"""Values in a schema that is looked into."""
_MAPS = ("properties", "patternProperties")
_LISTS = ("allOf", "prefixItems")
_SINGLE = ("additionalProperties", "items", "additionalItems", "propertyNames", "then", "else")
_EVALUATING = ("unevaluatedProperties", "unevaluatedItems")
_KEPT = frozenset((*_MAPS, *_LISTS, *_SINGLE, "if"))
Lower: TypeAlias = Callable[[Any], object]


def clashing(schema: Any, lower: Lower, most: int) -> list[str]:
    """Pointers of the keywords that leave no value in `schema`; none if that takes too long.

    `lower` raises `schema-unsatisfiable` for a schema without values; it is called `most` times at
    most, and then the keywords are more than needed.
    """
    if not isinstance(schema, dict) or most < 1:
        return []
    try:
        copy = _copied(schema, [MAX_NODES])
        _Search(copy, lower, most).shrink(copy)
    except (_TooLargeError, RecursionError):  # deep, or a Python value that holds itself
        return []
    return list(_left(copy, ""))


class _TooLargeError(Exception):
    pass


def _copied(value: Any, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise _TooLargeError
    if isinstance(value, dict):
        return {key: _copied(part, budget) for key, part in value.items()}
    return [_copied(part, budget) for part in value] if isinstance(value, list) else value


class _Search:
    """Shrinks a schema in place; it never has a value."""

    def __init__(self, root: dict[str, Any], lower: Lower, most: int) -> None:
        self.root = root
        self.lower = lower
        self.most = most

    def shrink(self, schema: dict[str, Any]) -> None:
        """Leaves out what `schema` can do without."""
        for container, key in _subschemas(schema):
            part = container[key]
            if part is True:
                continue
            container[key] = True
            if not self._is_empty():
                container[key] = part
                if isinstance(part, dict):
                    self.shrink(part)
        if isinstance(schema.get("required"), list):
            for name in list(schema["required"]):
                names = schema["required"]
                schema["required"] = [other for other in names if other != name]
                if not self._is_empty():
                    schema["required"] = names
        for key in sorted(schema, key=lambda key: key == "$ref"):
            if key not in KEYWORDS or key in _KEPT or not _may_drop(schema, key):
                continue
            before = dict(schema)
            del schema[key]
            if not self._is_empty():
                schema.clear()
                schema.update(before)  # in the order there was

    def _is_empty(self) -> bool:
        self.most -= 1
        if self.most < 0:
            return False
        try:
            self.lower(self.root)
        except StructagError as error:
            return error.code == "schema-unsatisfiable"
        return False


def _subschemas(schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The places in `schema` whose schemas all have to hold: a container, and the place in it."""
    for key in _MAPS:
        part = schema.get(key)
        if isinstance(part, dict):
            yield from ((part, name) for name in part)
    for key in (*_LISTS, "items"):
        part = schema.get(key)
        if isinstance(part, list):
            yield from ((part, index) for index in range(len(part)))
    for key in _SINGLE:
        if key in schema and not isinstance(schema[key], list):
            yield schema, key


def _may_drop(schema: dict[str, Any], key: str) -> bool:
    """Whether the schema without `key` allows no less."""
    if key == "$ref":  # older drafts ignore what stands beside it
        return not any(other in KEYWORDS for other in schema if other != key)
    is_applicator = KEYWORDS[key].speaks_of == "schema" and key not in _EVALUATING
    return not (is_applicator and any(other in schema for other in _EVALUATING))


def _left(schema: dict[str, Any], pointer: str) -> Iterator[str]:
    """The keywords that are left, in the order of the schema."""
    for key, value in schema.items():
        place = f"{pointer}/{escaped(key)}"
        if key in _MAPS and isinstance(value, dict):
            for name, part in value.items():
                yield from _left_in(part, f"{place}/{escaped(name)}")
        elif key in (*_LISTS, "items") and isinstance(value, list):
            for index, part in enumerate(value):
                yield from _left_in(part, f"{place}/{index}")
        elif key in _SINGLE:
            yield from _left_in(value, place)
        elif key in KEYWORDS and value != []:
            yield place


def _left_in(schema: Any, pointer: str) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from _left(schema, pointer)
    elif schema is not True:
        yield pointer
