"""Expands the negation of a schema: a value fails it if it fails one of its keywords.

Each keyword's negation is again a union of facts.  Where it is not (a list with a repeated item),
the keyword is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from structag.grammar.builder import MAX_COUNT
from structag.schema.document import Node, unsupported
from structag.schema.facts import (
    ANY,
    NONE,
    NUMBERS,
    STRINGS,
    ArrayFacts,
    Contains,
    Forms,
    Goal,
    NumberFacts,
    ObjectFacts,
    StringFacts,
    Witness,
    both_objects,
    unite,
)
from structag.schema.formats import NUMBER_FORMATS
from structag.schema.keywords import FIRST_DRAFT, TYPES
from structag.schema.plain import types_of
from structag.schema.unevaluated import without_evaluation
from structag.schema.values import (
    are_names,
    constants,
    count_of,
    names_of,
    number_of,
    object_of,
    schema_in,
    schema_map_of,
    schema_of,
    schemas_of,
    text_of,
    values_of,
)

if TYPE_CHECKING:
    from structag.schema.expand import Expander

_COVERED = frozenset(
    ("then", "else", "minContains", "maxContains", "additionalItems", "exclusiveMinimum",
     "exclusiveMaximum")
)  # fmt: skip


def negate(expander: Expander, node: Node) -> Forms:
    """The values that the schema of a negative node refuses."""
    positive, schema = node.negation, node.value
    draft = node.resource.draft
    if draft < 8 and isinstance(schema.get("$ref"), str):
        target = expander.document.resolve(positive, schema["$ref"])
        return expander.node(target.negation)
    parts: list[Forms] = []
    for key in schema:
        if FIRST_DRAFT.get(key, 99) > draft:
            continue
        handler = _HANDLERS.get(key)
        if handler is not None:
            parts.append(handler(expander, positive, key))
        elif key not in _COVERED or (key.startswith("exclusive") and schema[key] is not False):
            if key in _COVERED and isinstance(schema[key], bool):
                continue  # handled with `minimum` or `maximum`
            raise unsupported(node, key, "under `not` it is not supported")
    return _told_by_constant(positive, unite(parts))


def _told_by_constant(node: Node, forms: Forms) -> Forms:
    """`forms`, which `node` refuses; what is wrong elsewhere has the constant that `node` requires.

    An object lacks the member, has another value there, or has the value and fails in another way.
    So the refusals of schemas that such a member tells apart exclude each other, and the product of
    many stays as small as their sum.
    """
    schema = node.value
    required, properties = schema.get("required"), schema.get("properties")
    if len(forms.objects) < 3 or type(required) is not list or type(properties) is not dict:
        return forms
    for name in required:
        value = properties.get(name)
        if type(value) is dict and ("const" in value or "enum" in value):
            right = _has(name, (schema_map_of(node, "properties")[name],))
            objects = [
                fact if _speaks_of(fact, name) else both_objects(fact, right)
                for fact in forms.objects
            ]
            return forms._replace(objects=tuple(fact for fact in objects if fact is not None))
    return forms


def _speaks_of(fact: ObjectFacts, name: str) -> bool:
    return name in fact.forbidden or any(demanded == name for demanded, _ in fact.demands)


def _types(expander: Expander, node: Node, key: str) -> Forms:
    missing = TYPES - types_of(node)
    numbers: tuple[NumberFacts, ...] = ()
    if "number" in missing:
        numbers = ANY.numbers if "integer" in missing else (NumberFacts(is_integer=False),)
    return Forms(
        "null" in missing,
        3 * ("boolean" in missing),
        numbers,
        ANY.strings if "string" in missing else (),
        ANY.arrays if "array" in missing else (),
        ANY.objects if "object" in missing else (),
    )


def _values(expander: Expander, node: Node, key: str) -> Forms:
    values = values_of(node, key) if key == "enum" else [node.value[key]]
    found = constants(node, key, values)
    numbers = found.numbers[0].values or frozenset() if found.numbers else frozenset()
    strings = found.strings[0].values or frozenset() if found.strings else frozenset()
    forms = ANY._replace(
        null=not found.null,
        booleans=3 & ~found.booleans,
        numbers=(NumberFacts(banned=numbers),),
        strings=(StringFacts(banned=strings),),
    )
    for array in found.arrays:
        forms = expander.intersection(node, forms, _not_array(array))
    for fact in found.objects:
        forms = expander.intersection(node, forms, _not_object(expander, fact, node, key))
    return forms


def _not_array(facts: ArrayFacts) -> Forms:
    size = len(facts.prefix)
    options = [ArrayFacts(low=size + 1)]
    if size:
        options.append(ArrayFacts(high=size - 1))
    for index in range(size):
        options.append(_at(index, (facts.prefix[index][0].negation,)))
    return ANY._replace(arrays=tuple(options))


def _at(index: int, goal: Goal) -> ArrayFacts:
    return ArrayFacts(((),) * index + (goal,), (), index + 1)


def _not_object(expander: Expander, facts: ObjectFacts, node: Node, key: str) -> Forms:
    (members,) = facts.members
    options = [ObjectFacts(forbidden=(name,)) for name in members.properties]
    for name, goal in members.properties.items():
        options.append(_has(name, (goal[0].negation,)))
    options.append(_witness(expander, node, key, list(members.properties), (), ()))
    return ANY._replace(objects=tuple(options))


def _has(name: str, goal: Goal) -> ObjectFacts:
    return ObjectFacts(required=(name,), demands=((name, goal),))


def _witness(
    expander: Expander,
    node: Node,
    key: str,
    names: list[str],
    patterns: tuple[int, ...],
    goal: Goal,
) -> ObjectFacts:
    """Objects with a member of none of `names` and patterns, whose value satisfies `goal`."""
    builder = expander.builder
    known = [builder.literal(name.encode()) for name in names]
    free = builder.complement(builder.alt(*known, *patterns))
    return ObjectFacts(witnesses=(Witness(free, goal, node, key),))


def _numbers(fact: NumberFacts) -> Forms:
    return NONE._replace(numbers=(fact,))


def _bound(expander: Expander, node: Node, key: str) -> Forms:
    schema = node.value
    value = schema[key]
    if isinstance(value, bool):
        return NONE
    number = number_of(node, key)
    is_open = key.startswith("exclusive")
    twin = "exclusiveMinimum" if key == "minimum" else "exclusiveMaximum"
    if not is_open and schema.get(twin) is True:
        is_open = True
    if key in ("minimum", "exclusiveMinimum"):
        return _numbers(NumberFacts(high=number, high_open=not is_open))
    return _numbers(NumberFacts(low=number, low_open=not is_open))


def _not_multiple(expander: Expander, node: Node, key: str) -> Forms:
    return _numbers(NumberFacts(not_factors=(number_of(node, key),)))


def _count(expander: Expander, node: Node, key: str) -> Forms:
    limit = count_of(node, key)
    if key.startswith("min") and limit == 0:
        return NONE
    low, high = (0, limit - 1) if key.startswith("min") else (limit + 1, None)
    if key.endswith("Length"):
        return NONE._replace(strings=(StringFacts(low, high),))
    if key.endswith("Items"):
        return NONE._replace(arrays=(ArrayFacts(low=low, high=high),))
    return NONE._replace(objects=(ObjectFacts(low=low, high=high),))


def _pattern(expander: Expander, node: Node, key: str) -> Forms:
    text = text_of(node, key)
    if key == "pattern":
        ref = expander.pattern(node, key, text)
    else:
        found = expander.format(node, text) if expander.is_asserted(node, text) else None
        if found is None:
            return _not_number_format(expander, node, text)
        if not expander.is_exact(found):
            # What the pattern lacks has the format: nothing outside is known not to have it.
            expander.leave_out(node, key, f"what is not in `{text}`")
            return NONE._replace(partial=STRINGS)
        ref = found
    return NONE._replace(strings=(StringFacts(patterns=(expander.builder.complement(ref),)),))


def _not_number_format(expander: Expander, node: Node, name: str) -> Forms:
    facts = NUMBER_FORMATS.get(name)
    if facts is None or expander.options.formats == "annotate":
        return NONE
    if not facts.is_integer:
        expander.leave_out(node, "format", f"what is not in `{name}`")
        return NONE._replace(partial=NUMBERS)
    below = NumberFacts(high=facts.low, high_open=not facts.low_open)
    above = NumberFacts(low=facts.high, low_open=not facts.high_open)
    return NONE._replace(numbers=(below, above, NumberFacts(is_integer=False)))


def _required(expander: Expander, node: Node, key: str) -> Forms:
    names = names_of(node, key, node.value[key])
    return NONE._replace(objects=tuple(ObjectFacts(forbidden=(name,)) for name in names))


def _properties(expander: Expander, node: Node, key: str) -> Forms:
    options = [
        _has(name, (child.negation,))
        for name, child in schema_map_of(node, key).items()
        if child.value is not True
    ]
    return NONE._replace(objects=tuple(options))


def _pattern_properties(expander: Expander, node: Node, key: str) -> Forms:
    options = [
        ObjectFacts(
            witnesses=(Witness(expander.pattern(node, key, text), (child.negation,), node, key),)
        )
        for text, child in schema_map_of(node, key).items()
        if child.value is not True
    ]
    return NONE._replace(objects=tuple(options))


def _additional(expander: Expander, node: Node, key: str) -> Forms:
    child = schema_of(node, key)
    if child.value is True:
        return NONE
    schema = node.value
    names = list(schema_map_of(node, "properties")) if "properties" in schema else []
    patterns: list[int] = []
    if "patternProperties" in schema:
        for text in schema_map_of(node, "patternProperties"):
            patterns.append(expander.pattern(node, key, text))
    goal = () if child.value is False else (child.negation,)
    return NONE._replace(objects=(_witness(expander, node, key, names, tuple(patterns), goal),))


def _property_names(expander: Expander, node: Node, key: str) -> Forms:
    from structag.schema.strings import string_language

    child = schema_of(node, key)
    ref = string_language(expander, expander.node(child.negation))
    return NONE._replace(objects=(ObjectFacts(witnesses=(Witness(ref, (), node, key),)),))


def _items(expander: Expander, node: Node, key: str) -> Forms:
    value = node.value[key]
    options: list[ArrayFacts] = []
    start = 0
    if isinstance(value, list):
        children = schemas_of(node, key) if value else []
        options = [_at(index, (child.negation,)) for index, child in enumerate(children)]
        start = len(children)
        if key == "prefixItems" or "additionalItems" not in node.value:
            return NONE._replace(arrays=tuple(options))
        child = schema_of(node, "additionalItems")
    else:
        child = schema_in(node, key, value)
        before = node.value.get("prefixItems")
        if isinstance(before, list) and node.resource.draft >= 9:
            start = len(before)
    if child.value is False:
        options.append(ArrayFacts(low=start + 1))
    elif child.value is not True:
        if start:
            raise unsupported(node, key, "under `not`, behind a tuple, it is not supported")
        options.append(ArrayFacts(contains=(Contains((child.negation,), 1, None, node),)))
    return NONE._replace(arrays=tuple(options))


def _contains(expander: Expander, node: Node, key: str) -> Forms:
    child = schema_of(node, key)
    low = count_of(node, "minContains") if "minContains" in node.value else 1
    options: list[ArrayFacts] = []
    if low == 1:
        options.append(ArrayFacts(items=(child.negation,)))
    elif low:
        options.append(ArrayFacts(contains=(Contains((child,), 0, low - 1, node),)))
    if "maxContains" in node.value:
        high = count_of(node, "maxContains")
        options.append(ArrayFacts(contains=(Contains((child,), high + 1, None, node),)))
    return NONE._replace(arrays=tuple(options))


def _unique(expander: Expander, node: Node, key: str) -> Forms:
    if node.value[key] is False:
        return NONE
    raise unsupported(node, key, "under `not` it is not supported")


def _unevaluated_properties(expander: Expander, node: Node, key: str) -> Forms:
    """Objects with a member that nothing evaluates, whichever alternatives they satisfy."""
    child = schema_of(node, key)
    objects = expander.evaluating(node, node.value).objects
    known = [m for fact in objects for m in fact.members if m.evaluates != "none"]
    sizes = {sum(m.evaluates != "none" for m in fact.members) for fact in objects}
    if len(objects) > 1 and sizes != {0}:
        expander.leave_out(node, key, "some objects that fail it, beside alternatives")
    if child.value is True or any(members.evaluates == "all" for members in known):
        return NONE
    names = list(dict.fromkeys(name for members in known for name in members.properties))
    patterns = tuple(pattern for members in known for pattern, _ in members.patterns)
    goal = () if child.value is False else (child.negation,)
    wrong = _witness(expander, node, key, names, patterns, goal)
    both = expander.intersection(
        node, NONE._replace(objects=objects), ANY._replace(objects=(wrong,))
    )
    return without_evaluation(both)


def _unevaluated_items(expander: Expander, node: Node, key: str) -> Forms:
    """Arrays with an item that nothing evaluates, whichever alternatives they satisfy."""
    child = schema_of(node, key)
    arrays = expander.evaluating(node, node.value).arrays
    if len(arrays) > 1 and {fact.evaluated for fact in arrays} != {0}:
        expander.leave_out(node, key, "some arrays that fail it, beside alternatives")
    first = max((MAX_COUNT if a.evaluated is None else a.evaluated for a in arrays), default=0)
    if child.value is True or first == MAX_COUNT:
        return NONE
    if any(contains.evaluates for fact in arrays for contains in fact.contains):
        raise unsupported(node, key, "under `not`, beside `contains`, it is not supported")
    if child.value is False:
        wrong = ArrayFacts(low=first + 1)
    elif first:
        raise unsupported(node, key, "under `not`, behind a tuple, it is not supported")
    else:
        wrong = ArrayFacts(contains=(Contains((child.negation,), 1, None, node),))
    both = expander.intersection(node, NONE._replace(arrays=arrays), ANY._replace(arrays=(wrong,)))
    return without_evaluation(both)


def _reference(expander: Expander, node: Node, key: str) -> Forms:
    return expander.node(expander.target(node, key).negation)


def _all_of(expander: Expander, node: Node, key: str) -> Forms:
    return unite(expander.node(child.negation) for child in schemas_of(node, key))


def _any_of(expander: Expander, node: Node, key: str) -> Forms:
    children = schemas_of(node, key)
    return expander.intersection(node, *(expander.node(child.negation) for child in children))


def _one_of(expander: Expander, node: Node, key: str) -> Forms:
    children = schemas_of(node, key)
    parts = [_any_of(expander, node, key)]
    for i, one in enumerate(children):
        for two in children[:i]:
            parts.append(expander.intersection(node, expander.node(one), expander.node(two)))
    return unite(parts)


def _dependencies(expander: Expander, node: Node, key: str) -> Forms:
    value = object_of(node, key)
    container = node.child(key, value)
    parts: list[Forms] = []
    for name, needs in value.items():
        present = NONE._replace(objects=(ObjectFacts(required=(name,)),))
        if are_names(key, needs):
            names = names_of(container, name, needs)
            missing = NONE._replace(objects=tuple(ObjectFacts(forbidden=(n,)) for n in names))
        else:
            missing = expander.node(schema_in(container, name, needs).negation)
        parts.append(expander.intersection(node, present, missing))
    return unite(parts)


def _not(expander: Expander, node: Node, key: str) -> Forms:
    return expander.node(schema_of(node, key))


def _condition(expander: Expander, node: Node, key: str) -> Forms:
    test = schema_of(node, "if")
    parts: list[Forms] = []
    for branch, condition in (("then", test), ("else", test.negation)):
        if branch in node.value:
            failed = schema_of(node, branch).negation
            parts.append(
                expander.intersection(node, expander.node(condition), expander.node(failed))
            )
    return unite(parts)


_HANDLERS: dict[str, Callable[[Expander, Node, str], Forms]] = {
    "type": _types,
    "enum": _values,
    "const": _values,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound),
    "multipleOf": _not_multiple,
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count
    ),
    **dict.fromkeys(("pattern", "format"), _pattern),
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "items": _items,
    "prefixItems": _items,
    "contains": _contains,
    "uniqueItems": _unique,
    "unevaluatedProperties": _unevaluated_properties,
    "unevaluatedItems": _unevaluated_items,
    **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _reference),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), _dependencies),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _condition,
}
