"""The schemas inside of a JSON Schema, by their places, and how they refer to each other.

A place is a JSON Pointer.  Only pointers and anchors of the document itself are followed, and a
schema with an `$id` of its own is left to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import quote, unquote

from structag.pointer import escaped, unescaped
from structag.schema.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema that is an object, with its pointer; outer ones first."""
    pending = [(pointer, schema)]
    while pending:
        place, value = pending.pop()
        if not isinstance(value, dict):
            continue
        yield place, value
        inner: list[tuple[str, Any]] = []
        for key, part in value.items():
            here = f"{place}/{escaped(key)}"
            if key in SCHEMA_LISTS and isinstance(part, list):
                inner += [(f"{here}/{index}", item) for index, item in enumerate(part)]
            elif key in SCHEMA_MAPS and isinstance(part, dict):
                inner += [(f"{here}/{escaped(name)}", item) for name, item in part.items()]
            elif key in SINGLE_SCHEMAS:
                inner.append((here, part))
        pending += reversed(inner)


def is_object(schema: Mapping[str, Any]) -> bool:
    """Whether a schema says what an object looks like."""
    kind = schema.get("type")
    return (
        kind == "object"
        or (isinstance(kind, list) and "object" in kind)
        or (kind is None and "properties" in schema)
    )


def required_names(schema: Mapping[str, Any]) -> list[str]:
    """The names that have to be there; none where `required` is no list of names."""
    names = schema.get("required")
    return names if isinstance(names, list) else []


def optional_properties(schema: Mapping[str, Any]) -> list[str]:
    """The properties that may be left out."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return []
    names = required_names(schema)
    return [name for name in properties if name not in names]


def around(place: str, places: Mapping[str, Any]) -> list[str]:
    """The places of the schemas around one, and its own; outer ones first."""
    steps = place.split("/")
    outer = ("/".join(steps[: size + 1]) for size in range(len(steps)))
    return [at for at in outer if at in places]


def target_place(reference: Any, schema: Any) -> str | None:
    """The place that a reference in `schema` means; None if it leads elsewhere."""
    if not isinstance(reference, str) or not isinstance(schema, dict):
        return None
    address, _, fragment = reference.partition("#")
    if address and address != str(schema.get("$id", "")).partition("#")[0]:
        return None
    fragment = unquote(fragment)
    if not fragment or fragment.startswith("/"):
        return fragment
    for place, value in subschemas(schema):
        if fragment in (value.get("$anchor"), value.get("$dynamicAnchor")):
            return place
    return None


def schema_at(schema: Any, place: str) -> Any:
    """What stands at a place; KeyError if nothing does."""
    value = schema
    for step in place.split("/")[1:]:
        key = unescaped(step)
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            raise KeyError(place) from None
    return value


def targets(schema: Any) -> dict[str, str]:
    """The places of references into the document → where they lead."""
    found = {}
    for place, value in subschemas(schema):
        target = target_place(value["$ref"], schema) if "$ref" in value else None
        if target is not None:
            found[place] = target
    return found


def recursive_references(schema: Any, *, but_optional: bool = False) -> list[str]:
    """Pointers of the `$ref`s into the document that lead back to a schema around them.

    With `but_optional`, a way through a property that may be left out does not count.
    """
    places = dict(subschemas(schema))
    leads = {place: target for place, target in targets(schema).items() if target in places}
    inside: dict[str, set[str]] = {}  # place of a reference -> the schemas around it
    for place in leads:
        outer = around(place, places)
        start = 0
        for index, (parent, child) in enumerate(pairwise(outer)):
            name = child[len(parent) :].removeprefix("/properties/")
            is_property = child == f"{parent}/properties/{name}" and "/" not in name
            if but_optional and is_property:
                names = map(escaped, optional_properties(places[parent]))
                start = index + 1 if name in names else start
        inside[place] = set(outer[start:])
    found = []
    for place, target in leads.items():
        seen, pending = {target}, [target]
        while pending:
            at = pending.pop()
            for other, following in leads.items():
                if at in inside[other] and following not in seen:
                    seen.add(following)
                    pending.append(following)
        if seen & inside[place]:
            found.append(f"{place}/$ref")
    return found


def is_inside(place: str, places: Iterable[str]) -> bool:
    """Whether a place is one of some, or in one of them."""
    return any(place == one or place.startswith(f"{one}/") for one in places)


def reached(leads: Mapping[str, str], places: Iterable[str]) -> set[str]:
    """Some places, and those to which references in them lead, by whatever way.

    `leads` is what `targets` says of the whole schema.
    """
    found = {*places}
    pending = [*found]
    while pending:
        outer = [pending.pop()]
        new = {target for place, target in leads.items() if is_inside(place, outer)} - found
        found |= new
        pending += new
    return found


def leads_back(leads: Mapping[str, str], place: str) -> bool:
    """Whether the schema at `place` refers to itself, or to one around it, by whatever way.

    `leads` is what `targets` says of the whole schema.
    """
    seen, pending = {place}, [place]
    while pending:
        at = pending.pop()
        for other, following in leads.items():
            if other == at or other.startswith(f"{at}/"):
                if place == following or place.startswith(f"{following}/"):
                    return True
                if following not in seen:
                    seen.add(following)
                    pending.append(following)
    return False


def redirect(schema: Any, old: str, new: str) -> None:
    """Let references to `old`, and into it, lead to `new`: what stood there has moved."""
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
            continue
        if not isinstance(value, dict):
            continue
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            place = unquote(reference[1:])
            if place == old or place.startswith(f"{old}/"):
                value["$ref"] = "#" + quote(new + place[len(old) :], safe="/~!$&'()*+,;=:@")
        pending += [
            part
            for key, part in value.items()
            if key not in ("enum", "const", "default", "examples")
            and not (isinstance(part, dict) and "$id" in part)
        ]
