"""A short way for the commonest schemas: from the document straight to expressions.

Most schemas say `type`, `properties`, `required`, `items`, `enum` and little else.  They need no
normal form, and no nodes for the places of the document either: `Direct` reads them as they stand.
It decides nothing itself but which name has which schema.  Everything is built by what builds it in
`structag.schema.lower` too, and whatever it does not know exactly (another keyword, a value of the
wrong kind, a deep place) is left to that way, node by node.

Both ways give equal grammars; ``tests/schema/test_direct.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from structag.grammar.builder import MAX_COUNT
from structag.grammar.expressions import Ref
from structag.schema.arrays import array_of
from structag.schema.document import Document, Node
from structag.schema.facts import ANY, Goal, StringFacts
from structag.schema.keywords import (
    DRAFTS,
    FIRST_DRAFT,
    NUMBER_KEYWORDS,
    SCHEMA_KEYWORDS,
    STRING_KEYWORDS,
    TYPES,
)
from structag.schema.objects import arranged, in_style_order, names_besides
from structag.schema.options import SchemaOptions
from structag.schema.plain import all_of_types, goal_of, named_types
from structag.schema.strings import decoded

if TYPE_CHECKING:
    from structag.schema.lower import Lowering

Schema: TypeAlias = dict[str, Any]
Place: TypeAlias = "Node | tuple[Place, str, str | None]"
"""A node, or the way from a place to a subschema: a keyword, and a member's name if it has one."""

Reader: TypeAlias = "Callable[[Schema, Place], Ref | None]"

MAX_DEPTH = 20
"""Goals, and subschemas read here, inside each other before one is put off."""
_SCALARS = NUMBER_KEYWORDS | STRING_KEYWORDS | {"type", "minItems", "maxItems"}
_OBJECTS = frozenset(("type", "properties", "required", "additionalProperties"))
_ARRAYS = frozenset(("type", "items", "minItems", "maxItems"))
_ENUMS = frozenset(("type", "enum"))
_ASSERTIONS = {
    draft: frozenset(name for name, first in FIRST_DRAFT.items() if first <= draft)
    for draft in DRAFTS
}
"""The keywords of each draft that say something."""


def has_short_way(options: SchemaOptions) -> bool:
    """Whether schemas mean under these options what they mean by themselves."""
    return not (
        options.openapi or options.closed_objects or options.registry or options.indent is not None
    )


class Direct:
    """Lowers what it can of one document, on behalf of a `Lowering` to JSON text."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._expander = lowering.expander
        self._builder = lowering.builder
        self._notation = lowering.notation
        self._resource = lowering.document.root.resource
        self._assertions = _ASSERTIONS[self._resource.draft]
        self._types: dict[frozenset[str], Ref] = {}
        self._scalars: dict[Hashable, Ref] = {}
        self._composites: dict[int, Ref] = {}  # by identity; the document keeps them alive
        self._reading: dict[int, Ref | None] = {}
        """What is under way, and the rule that stands for what leads back to it."""
        self._targets: dict[str, Node] = {}

    def lower(self, node: Node) -> Ref | None:
        """The expression of a node; None if only the other way knows."""
        value = node.value
        if type(value) is not dict or node.negative or node.is_made:
            return None
        if node.resource is not self._resource:
            return None  # with a draft, and a base for references, of its own
        if node.depth + 2 * MAX_DEPTH > self._lowering.limits.max_nesting:
            return None
        return self._counted(value, node)

    def rule_of(self, goal: Goal) -> Ref | None:
        """The rule for a goal that is being lowered here; None if it is not."""
        if len(goal) > 1 or goal[0].negative or id(goal[0].value) not in self._reading:
            return None
        return self._rule(goal[0].value, goal[0])

    def _rule(self, schema: Schema, place: Place) -> Ref:
        rule = self._reading[id(schema)]
        if rule is None:
            rule = self._builder.rule(_node_at(place).pointer or "root")
            self._reading[id(schema)] = rule
        return rule

    def _value(self, schema: Schema | bool, place: Place) -> Ref:
        """The expression of a subschema."""
        lowering = self._lowering
        if schema is True:
            return lowering.any_value
        if schema is False:
            return self._builder.empty
        if lowering.depth < MAX_DEPTH and "$id" not in schema and "id" not in schema:
            ref = self._counted(schema, place)
            if ref is not None:
                return ref
        return lowering.value(goal_of(_node_at(place)))

    def _counted(self, schema: Schema, place: Place) -> Ref | None:
        expander = self._expander
        expander.read_directly.add(id(schema))
        if not expander.has_room():
            expander.check_count(_node_at(place))
        ref = self._read(schema, place)
        if ref is None:
            expander.read_directly.discard(id(schema))
        return ref

    def _read(self, schema: Schema, place: Place) -> Ref | None:
        present = self._assertions.intersection(schema)
        if not present:
            return self._lowering.any_value
        if "$ref" in present:
            is_alone = len(present) == 1 or self._resource.draft < 8
            return self._reference(schema["$ref"], place) if is_alone else None
        types = TYPES
        if "type" in present:
            named = named_types(schema["type"])
            if named is None:
                return None
            types = named
            if len(present) == 1:
                return self._of_types(types)
        if present <= _OBJECTS:
            return self._composite(self._object, "object", schema, types, place)
        if "items" in present and present <= _ARRAYS:
            return self._composite(self._array, "array", schema, types, place)
        if "enum" in present and present <= _ENUMS:
            return self._enumeration(schema["enum"], types)
        if present <= _SCALARS and type(place) is tuple:
            return self._scalar(schema, types, present, place)
        return None

    def _of_types(self, types: frozenset[str]) -> Ref:
        """Every value of some types."""
        ref = self._types.get(types)
        if ref is None:
            lowering = self._lowering
            forms = all_of_types(types)
            ref = lowering.any_value if forms is ANY else lowering.forms(forms)
            self._types[types] = ref
        return ref

    def _reference(self, reference: Any, place: Place) -> Ref | None:
        if type(reference) is not str:
            return None
        target = self._targets.get(reference)
        if target is None:
            target = self._lowering.document.resolve(_node_at(place), reference)
            self._targets[reference] = target
        if not _stays_there(target):
            return None
        self._lowering.depth += isinstance(place, tuple)
        ref = self._lowering.value(goal_of(target))
        self._lowering.depth -= isinstance(place, tuple)
        return ref

    def _enumeration(self, values: Any, types: frozenset[str]) -> Ref | None:
        """Strings out of a list; what else may be in one is rarer."""
        if type(values) is not list or not values or "string" not in types:
            return None
        if not _are_ascii(values):
            return None
        facts = StringFacts(values=frozenset(values))
        return self._notation.string(decoded(self._builder, facts))

    def _scalar(
        self, schema: Schema, types: frozenset[str], present: frozenset[str], place: Place
    ) -> Ref | None:
        """What has no subschemas: lowered by the other way, but equal ones only once."""
        said = [(key, type(schema[key]), schema[key]) for key in present if key != "type"]
        try:
            key = types, frozenset(said)
            ref = self._scalars.get(key)
        except TypeError:  # a value of the wrong kind
            return None
        if ref is None:
            ref = self._scalars[key] = self._lowering.value((_node_at(place),))
        return ref

    def _composite(
        self, read: Reader, kind: str, schema: Schema, types: frozenset[str], place: Place
    ) -> Ref | None:
        """What has subschemas: each once, and not too deep; beside all values of other types."""
        ref = self._composites.get(id(schema))
        if ref is not None:
            return ref
        if id(schema) in self._reading:
            return self._rule(schema, place)
        if kind not in types:
            return None
        depth = self._lowering.depth
        self._lowering.depth += isinstance(place, tuple)
        self._reading[id(schema)] = None
        ref = read(schema, place)
        self._lowering.depth = depth
        rule = self._reading.pop(id(schema))
        if ref is None:
            return None
        if len(types) > 1:
            ref = self._builder.alt(ref, self._of_types(types - {kind}))
        if rule is not None:
            self._builder.define(rule, ref)
            ref = ref if ref == self._builder.empty else rule
        self._composites[id(schema)] = ref
        return ref

    def _array(self, schema: Schema, place: Place) -> Ref | None:
        items = schema["items"]
        low, high = schema.get("minItems", 0), schema.get("maxItems", MAX_COUNT)
        if type(items) is not dict and type(items) is not bool:
            return None
        if type(low) is not int or type(high) is not int or low < 0 or high < 0:
            return None
        if low > MAX_COUNT or high > MAX_COUNT:
            return None
        item = self._builder.empty
        if high > 0:
            item = self._notation.item(self._value(items, (place, "items", None)))
        return array_of(self._lowering, [], item, low, high if "maxItems" in schema else None)

    def _object(self, schema: Schema, place: Place) -> Ref | None:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        additional = schema.get("additionalProperties", True)
        if type(properties) is not dict or type(required) is not list:
            return None
        if type(additional) is not dict and type(additional) is not bool:
            return None
        if not (_are_ascii(properties) and _are_ascii(required)):
            return None
        for value in properties.values():
            if type(value) is not dict and type(value) is not bool:
                return None
        if not self._expander.has_room(len(properties)):
            parts = {id(value) for value in properties.values() if type(value) is dict}
            self._expander.check_count(_node_at(place), len(parts))
        lowering, builder, notation = self._lowering, self._builder, self._notation
        names = in_style_order(lowering, list(dict.fromkeys((*properties, *required))))
        needed = set(required)
        members: list[tuple[Ref, bool]] = []
        for name in names:
            if name in properties:
                value = self._value(properties[name], (place, "properties", name))
            else:
                value = self._value(additional, (place, "additionalProperties", None))
            if value != builder.empty:
                members.append((notation.member(name, value, ()), name in needed))
            elif name in needed:
                return builder.empty
        rest = builder.empty
        if additional is not False:
            value = lowering.any_value
            if additional is not True:
                value = self._value(additional, (place, "additionalProperties", None))
            keys = names_besides(builder, names) if names else builder.any_text
            rest = notation.free_member(keys, value)
        return lowering.sealed(notation.object(arranged(lowering, members, rest)))


def lone_target(document: Document, node: Node) -> Node | None:
    """The node that stands for one that says nothing but a `$ref` to it; None if it says more.

    Lowered in its place, it is one expression, and one rule if it is recursive.
    """
    schema, draft = node.value, node.resource.draft
    if node.negative or type(schema) is not dict or type(schema.get("$ref")) is not str:
        return None
    if draft >= 8 and len(_ASSERTIONS[draft].intersection(schema)) > 1:
        return None
    target = document.resolve(node, schema["$ref"])
    return target if _stays_there(target) else None


def _stays_there(target: Node) -> bool:
    """Whether a schema cannot lead back to itself in place, which would mean nothing."""
    value = target.value
    return type(value) is not dict or SCHEMA_KEYWORDS.isdisjoint(value)


def _are_ascii(texts: Iterable[Any]) -> bool:
    return all(type(text) is str and text.isascii() for text in texts)


def _node_at(place: Place) -> Node:
    """The node of a place: made only where somebody has to know it."""
    if not isinstance(place, tuple):
        return place
    node, keyword, name = _node_at(place[0]), place[1], place[2]
    if name is not None:
        return node.below(keyword, name)
    return node.child(keyword, node.value[keyword])
