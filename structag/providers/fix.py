"""Rewrites a JSON Schema to what a profile accepts, and says what that changes.

Objects are closed and their properties required, where the profile wants that; what was optional
may then be null.  `allOf` is merged, and a root that is no object becomes a property of one.
Constraints that the profile does not know go into the description, where a model can read them.
What cannot be said otherwise stays, and ``lint_schema`` still finds it.

Whatever the fixed schema accepts, the original accepts too, but for the changes that are named.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from structag.pointer import escaped
from structag.providers.known import Profile
from structag.providers.lint import ASSERTING, accepts, beside_reference
from structag.providers.merge import MergeError, merge
from structag.providers.subschemas import (
    is_inside,
    is_object,
    leads_back,
    optional_properties,
    reached,
    redirect,
    required_names,
    schema_at,
    subschemas,
    target_place,
    targets,
)
from structag.providers.voices import has_several_voices, speaks

_STRUCTURE = frozenset(
    ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "items", "prefixItems", "contains",
     "patternProperties", "propertyNames", "dependentSchemas", "dependencies", "$dynamicRef",
     "$recursiveRef", "$ref", "$id", "$anchor", "unevaluatedProperties", "unevaluatedItems",
     "additionalItems")
)  # fmt: skip
"""Keywords that no sentence in a description can stand for."""
_REWRITTEN = ("oneOf", "allOf")
_HEAD = ("$schema", "$id", "$defs", "definitions", "$comment")
_MOST_PASSES = 10
_MOST_COPIES = 300
_ANCHORS = ("$anchor", "$dynamicAnchor")
_NEGATING = frozenset(("not", "if", "oneOf", "contains"))
"""Keywords that may accept more where the schema in them accepts less."""
_LOGIC = ("anyOf", "oneOf", "allOf", "not", "if")
Make = Callable[[dict[str, Any], Any], dict[str, Any]]
WRAPPED = "value"
"""The property that a root which is no object becomes."""
_NULL = {"type": "null"}


class Change(NamedTuple):
    """What a fixed schema accepts that the original does not, or a wish that it cannot meet.

    Attributes:
        pointer: in the original, or where that has moved by then.
        kind: ``dropped`` (a constraint is left to the description), ``united`` (exactly one has
            become at least one), ``nullable`` (null stands for a property that is left out),
            ``wrapped`` (the root has become a property); ``closed`` (members without a name of
            their own are no longer accepted); ``failed`` (it stays as it was).
        message: in words.
    """

    pointer: str
    kind: str
    message: str


class Fixed(NamedTuple):
    """A schema in the strict form of a profile, and what has changed."""

    schema: Any
    changes: list[Change]


def fix_schema(schema: Any, profile: Profile) -> Fixed:
    """A copy of `schema` in the strict form of `profile`; fixing it once more changes nothing."""
    fixed: Any = json.loads(json.dumps(schema, default=float))
    changes: dict[Change, None] = {}
    for _ in range(_MOST_PASSES):
        before = json.dumps(fixed)
        fixed, found = fix_once(fixed, profile)
        changes = {change: None for change in changes if change.kind != "failed"}
        changes |= dict.fromkeys(found)
        if json.dumps(fixed) == before:
            return Fixed(fixed, list(changes))
    # Half fixed it would be fixed further the next time; references may lead to ever more.
    change = Change("", "failed", "it stays as it is: fixing it comes to no end")
    return Fixed(json.loads(json.dumps(schema, default=float)), [change])


def fix_once(schema: Any, profile: Profile) -> Fixed:
    """A copy of `schema` nearer to that form: what has moved may be merged by the next pass."""
    fixing = _Fixing(json.loads(json.dumps(schema)), profile)
    fixing.drop()
    fixing.unite()
    fixing.merge()
    fixing.part_references()
    fixing.close()
    fixing.wrap()
    return Fixed(fixing.schema, fixing.changes)


class _Fixing:
    """A schema on its way; each step leaves a schema that means what its changes say."""

    def __init__(self, schema: Any, profile: Profile) -> None:
        self.schema = schema
        self.profile = profile
        self.changes: list[Change] = []
        self.copies = 0
        self.is_merged = False
        self._leads: dict[str, str] | None = None
        self._meant: set[str] | None = None
        inner = [value for place, value in subschemas(schema) if place]
        self.has_resources = any("$id" in value for value in inner)
        # A name that is added counts as evaluated, and would escape this keyword.
        self.has_unevaluated = "unevaluatedProperties" in json.dumps(schema)

    def leads(self) -> dict[str, str]:
        """Where the references lead, kept until something moves."""
        if self._leads is None:
            self._leads = targets(self.schema)
        return self._leads

    def has_moved(self) -> None:
        self._leads = self._meant = None

    def note(self, pointer: str, kind: str, message: str) -> None:
        self.changes.append(Change(pointer, kind, message))

    def places(self) -> list[tuple[str, dict[str, Any]]]:
        """The schemas that the profile reads, inner ones first: not those of other keywords."""
        found = []
        unread: list[str] = []
        for place, value in subschemas(self.schema):
            if is_inside(place, unread):
                continue
            found.append((place, value))
            unread += [f"{place}/{key}" for key in value if self._is_unread(value, key)]
        return found[::-1]

    def _is_unread(self, value: dict[str, Any], key: str) -> bool:
        if key in _REWRITTEN:  # what is left of them once schemas are merged
            return self.is_merged and self._is_unwanted(value, key)
        return key in _STRUCTURE and not self.accepts(value, key)

    def _is_unwanted(self, value: dict[str, Any], key: str) -> bool:
        """Whether `key` is there, and to be rewritten."""
        return key in value and (
            (key == "allOf" and self.profile.closed) or not self.accepts(value, key)
        )

    def accepts(self, schema: dict[str, Any], keyword: str) -> bool:
        return accepts(self.profile, keyword, schema[keyword])

    # -- the steps

    def drop(self) -> None:
        """Constraints that the profile does not know go into the description."""
        for place, value in self.places():
            if "const" in value and "enum" not in value and not self.accepts(value, "const"):
                one = [value["const"]]
                if accepts(self.profile, "enum", one):
                    value["enum"] = one
                    del value["const"]
            notes = []
            for key in list(value):
                if key not in _STRUCTURE and not self.accepts(value, key):
                    here = f"{place}/{escaped(key)}"
                    self.note(here, "dropped", f"`{key}` is in the description only")
                    notes.append(f"{key}: {json.dumps(value.pop(key), ensure_ascii=False)}")
            if notes:
                said, text = value.get("description"), f"({', '.join(notes)})"
                value["description"] = f"{said} {text}" if isinstance(said, str) and said else text

    def unite(self) -> None:
        """Exactly one becomes at least one."""
        for place, value in self.places():
            if "oneOf" not in value or self.accepts(value, "oneOf") or "anyOf" in value:
                continue
            if len(value["oneOf"]) > 1:
                self.note(f"{place}/oneOf", "united", "`oneOf` has become `anyOf`")
            value["anyOf"] = value.pop("oneOf")
            redirect(self.schema, f"{place}/oneOf", f"{place}/anyOf")
            self.has_moved()

    def merge(self) -> None:
        """The schemas of `allOf`, what stands beside a union, and the root's reference."""
        is_done = False
        for _ in range(_MOST_PASSES):  # what is copied may have something to merge in it
            if is_done:
                break
            self.changes = [change for change in self.changes if change.kind != "failed"]
            is_done = True
            for place, value in self.places():
                if self._is_unwanted(value, "allOf"):
                    is_done &= not self._replace(place, value, "allOf", self._all_of)
                if self._is_beside_reference(value):
                    is_done &= not self._replace(place, value, "$ref", self._reference)
                if self._is_beside_union(value):
                    is_done &= not self._replace(place, value, "anyOf", self._any_of)
            root = self.schema
            if self.profile.object_root and isinstance(root, dict) and "$ref" in root:
                is_done &= not self._replace("", root, "$ref", self._root)
        self.is_merged = True

    def _is_beside_reference(self, value: dict[str, Any]) -> bool:
        """Whether something is asserted beside a reference that is not to stand there."""
        is_closed = self.profile.closed and is_object(value)
        others = any(key in ASSERTING and key != "$ref" for key in value)
        return "$ref" in value and others and (is_closed or self.profile.references == "any")

    def _is_beside_union(self, value: dict[str, Any]) -> bool:
        """Whether an object stands beside alternatives that speak of members, too.

        If both were closed, each would close out the members of the other; and if null stood for
        what is left out, what an alternative requires would always be there.
        """
        parts = value.get("anyOf")
        if not self.profile.closed or not is_object(value) or not isinstance(parts, list):
            return False
        if self.profile.all_required and speaks(parts):
            return True
        return any(isinstance(part, dict) and (is_object(part) or "$ref" in part) for part in parts)

    def _replace(self, place: str, value: dict[str, Any], key: str, make: Make) -> bool:
        """Put what `make` says in place of a schema; False if it cannot be said."""
        base = {name: part for name, part in value.items() if name not in (key, *_HEAD)}
        try:
            moved = [f"{place}/{name}" for name in (key, *base)]
            if any(is_inside(target, moved) for target in self.leads().values()):
                raise MergeError("something refers into it")
            made = json.loads(json.dumps(make(base, value[key])))
        except MergeError as error:
            self.note(f"{place}/{key}", "failed", f"`{key}` cannot be merged: {error}")
            return False
        for name in (key, *base):
            del value[name]
        value.update(made)
        self.has_moved()
        return True

    def _all_of(self, base: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
        whole: Any = base
        for part in parts:
            whole = merge(whole, part, self._copy)
        if not isinstance(whole, dict):
            raise MergeError("no value is accepted by all its schemas")
        return whole

    def _any_of(self, base: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
        notes: dict[str, Any] = {n: base[n] for n in ("title", "description") if n in base}
        bare = {name: part for name, part in base.items() if name not in notes}
        branches = [merge(bare, part, self._copy) for part in parts]
        branches = [branch for branch in branches if branch is not False]
        if not branches:
            raise MergeError("no value is accepted by any of its schemas")
        return {**notes, "anyOf": branches}

    def _reference(self, base: dict[str, Any], reference: str) -> dict[str, Any]:
        return self._all_of(base, [{"$ref": reference}])

    def _root(self, base: dict[str, Any], reference: str) -> dict[str, Any]:
        return self._all_of(self._meaning(reference), [base])

    def _copy(self, value: dict[str, Any]) -> Any:
        """What a reference means, if that is no schema that refers to itself."""
        self.copies += 1
        if self.copies > _MOST_COPIES:
            raise MergeError("references lead to ever more")
        found = self._meaning(value["$ref"])
        if leads_back(self.leads(), target_place(value["$ref"], self.schema) or ""):
            raise MergeError("a schema refers to itself")
        return found

    def _meaning(self, reference: str) -> Any:
        target = target_place(reference, self.schema)
        if target is None or self.has_resources:
            raise MergeError("a reference leads out of the document")
        try:
            found = schema_at(self.schema, target)
        except KeyError:
            raise MergeError("a reference leads to nothing") from None
        if not isinstance(found, dict):
            return found
        return {key: part for key, part in found.items() if key not in (*_HEAD, *_ANCHORS)}

    def part_references(self) -> None:
        """Nothing stands beside a reference that may not."""
        for _, value in self.places():
            is_left = self._is_beside_reference(value) or "anyOf" in value
            if beside_reference(self.profile, value) and not is_left:
                value["anyOf"] = [{"$ref": value.pop("$ref")}]
                self.has_moved()

    def close(self) -> None:
        """Objects have the properties that they name, all of them if need be."""
        if not self.profile.closed:
            return
        kept = self._kept()
        for place, value in self.places():
            is_left = (
                "allOf" in value or self._is_beside_union(value) or self._is_beside_reference(value)
            )
            if not is_object(value) or is_left:
                continue
            if is_inside(place, kept):
                if value.get("additionalProperties") is not False or optional_properties(value):
                    message = "an object stays open: more is said of it elsewhere"
                    self.note(place, "failed", message)
            else:
                self._close(place, value)
                if self.profile.all_required and isinstance(value.get("properties"), dict):
                    for name in optional_properties(value):
                        self._let_be_null(f"{place}/properties/{escaped(name)}", value, name)
                    names = (*value["properties"], *required_names(value))
                    value["required"] = list(dict.fromkeys(names))

    def _kept(self) -> set[str]:
        """The places in which no object may be closed, nor its properties be nullable.

        Null stands for what is left out only where nobody else says of the same value that it is
        there; and what is negated, or counted, must not become less.
        """
        kept = {to for at, to in self.leads().items() if not _NEGATING.isdisjoint(at.split("/"))}
        if self.profile.all_required:
            kept |= {place for place, value in subschemas(self.schema) if has_several_voices(value)}
        return reached(self.leads(), kept)

    def _close(self, place: str, value: dict[str, Any]) -> None:
        others = value.get("additionalProperties", True)
        named = value.get("properties", {})
        if isinstance(others, dict):
            here = f"{place}/additionalProperties"
            if self._is_meant(here):
                self.note(here, "failed", "members without a name of their own are referred to")
                return
            self.note(here, "closed", "members without a name of their own are not accepted")
        for name in required_names(value):
            if name not in named and others is not False and not self.has_unevaluated:
                named[name] = {} if others is True else json.loads(json.dumps(others))
        value["additionalProperties"] = False
        if named or "properties" in value:
            value["properties"] = {n: part for n, part in named.items() if part is not False}

    def _let_be_null(self, place: str, owner: dict[str, Any], name: str) -> None:
        self.note(place, "nullable", f"`{name}` is null where it would be left out")
        schema, is_meant = owner["properties"][name], self._is_meant(place)
        nullable = _nullable(schema, in_place=not is_meant)
        owner["properties"][name] = nullable
        if is_meant and nullable is not schema:
            redirect(self.schema, place, f"{place}/anyOf/0")
            self.has_moved()

    def _is_meant(self, place: str) -> bool:
        """Whether anything refers to a place, or into it."""
        if self._meant is None:
            steps = [target.split("/") for target in self.leads().values()]
            self._meant = {"/".join(s[: size + 1]) for s in steps for size in range(len(s))}
        return place in self._meant

    def wrap(self) -> None:
        """A root that is no object becomes a property of one."""
        root = self.schema
        if not self.profile.object_root:
            return
        if isinstance(root, dict) and "properties" in root and "type" not in root:
            self.schema = root = {"type": "object", **root}
        if isinstance(root, dict) and root.get("type") == "object" and "anyOf" not in root:
            return
        head = {}
        if isinstance(root, dict):
            place = f"/properties/{WRAPPED}"
            redirect(root, "", place)
            for key in _HEAD:
                redirect(root, f"{place}/{key}", f"/{key}")
            head = {key: root.pop(key) for key in _HEAD if key in root}
        whole = {"type": "object", "properties": {WRAPPED: root}, "required": [WRAPPED]}
        self.schema = {**whole, "additionalProperties": False, **head}
        self.note(
            "", "wrapped", f"the root is no object: it is now the property `{WRAPPED}` of one"
        )


def _nullable(schema: Any, *, in_place: bool) -> Any:
    """`schema`, or null."""
    if not isinstance(schema, dict) or not schema:
        return schema
    kind = schema.get("type")
    if in_place and isinstance(kind, str | list) and not schema.keys() & {"const", "$ref", *_LOGIC}:
        kinds = [kind] if isinstance(kind, str) else kind
        if "null" not in kinds:
            schema["type"] = [*kinds, "null"]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    if in_place and "anyOf" in schema and schema.keys() <= {"anyOf", "description", "title"}:
        if _NULL not in schema["anyOf"]:
            schema["anyOf"].append(_NULL)
        return schema
    return {"anyOf": [schema, _NULL]}
