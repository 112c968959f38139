"""Expands schema nodes into their normal form (`facts.Forms`), keyword by keyword.

Every keyword is a conjunct; siblings, `allOf`, `anyOf` and `$ref` intersect and unite forms.  A
negative node is expanded by `negate`.  Members and items stay goals, so that recursion through them
is no recursion here; a schema that reaches itself in place means nothing and is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

from structag.errors import SchemaError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema import formats
from structag.schema.document import Document, Node, unsupported, wrong_value
from structag.schema.facts import (
    ANY,
    NONE,
    ArrayFacts,
    Contains,
    Forms,
    Goal,
    Members,
    NumberFacts,
    ObjectFacts,
    StringFacts,
    TooManyAlternativesError,
    intersect,
    unite,
)
from structag.schema.keywords import (
    ARRAY_KEYWORDS,
    FIRST_DRAFT,
    NUMBER_KEYWORDS,
    OBJECT_KEYWORDS,
    STRING_KEYWORDS,
    TYPES,
)
from structag.schema.options import SchemaOptions
from structag.schema.unevaluated import apply_unevaluated, without_evaluation
from structag.schema.values import (
    check_text,
    constants,
    count_of,
    names_of,
    number_of,
    schema_map_of,
    schema_of,
    schemas_of,
    text_of,
)
from structag.text.regex import lower_regex

UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
MAX_OVERLAPS = 4
"""Branches of one `anyOf` that are combined for the sake of `unevaluatedProperties`."""


class Expander:
    """Expands the nodes of one document into forms, each once."""

    def __init__(
        self, document: Document, builder: GrammarBuilder, options: SchemaOptions, limits: Limits
    ) -> None:
        self.document = document
        self.builder = builder
        self.options = options
        self.limits = limits
        self._known: dict[tuple[int, bool, int], Forms | None] = {}
        self._patterns: dict[str, Ref] = {}
        self._formats: dict[str, Ref] = {}

    def goal(self, goal: Goal) -> Forms:
        """The values that satisfy every node of a goal."""
        forms = ANY
        for node in goal:
            forms = self.intersection(node, forms, self.node(node))
        return forms

    def node(self, node: Node) -> Forms:
        """The values that a node allows."""
        # By the identity of the value: a Python schema may hold one object in many places.
        key = (id(node.value), node.negative, id(node.resource))
        known = self._known.get(key)
        if known is not None:
            return known
        if key in self._known:
            raise SchemaError(
                "the schema refers to itself without anything in between",
                code="schema-reference",
                pointer=node.pointer,
            )
        self._known[key] = None
        value = node.value
        if type(value) is dict:
            forms = self._negative(node) if node.negative else self._positive(node, value)
        elif type(value) is bool:
            forms = ANY if value is not node.negative else NONE
        else:
            raise SchemaError(
                "a schema is neither an object nor a boolean",
                code="schema-value",
                pointer=node.pointer,
                expected="an object or a boolean",
            )
        self._known[key] = forms
        return forms

    def intersection(self, node: Node, *parts: Forms) -> Forms:
        """What all parts allow; refuses a product that is too large."""
        forms = ANY
        try:
            for part in parts:
                forms = intersect(forms, part)
        except TooManyAlternativesError:
            raise unsupported(
                node, _first_applicator(node), "its combinations are too many"
            ) from None
        return forms

    def pattern(self, node: Node, keyword: str, text: str) -> Ref:
        """The texts in which `text` matches somewhere."""
        ref = self._patterns.get(text)
        if ref is None:
            try:
                ref = lower_regex(text, self.builder, search=True, limits=self.limits)
            except StructagError as error:
                error.pointer = f"{node.pointer}/{keyword}"
                raise
            self._patterns[text] = ref
        return ref

    def format(self, node: Node, name: str) -> Ref | None:
        """The texts of a format; None if it asserts nothing."""
        ref = self._formats.get(name)
        if ref is None:
            source = formats.PATTERNS.get(name)
            if source is None:
                if name in formats.NOT_SUPPORTED:
                    raise unsupported(
                        node, "format", f"`{name}` is not supported", 'use formats="annotate"'
                    )
                return None
            parts = [lower_regex(part, self.builder) for part in source]
            ref = self._formats[name] = self.builder.both(*parts)
        return ref

    def _negative(self, node: Node) -> Forms:
        from structag.schema.negate import negate

        return negate(self, node)

    def _positive(self, node: Node, schema: dict[str, Any]) -> Forms:
        draft = node.resource.draft
        if draft < 8 and "$ref" in schema and isinstance(schema["$ref"], str):
            return self.node(self.document.resolve(node, schema["$ref"]))
        present = [key for key in schema if FIRST_DRAFT.get(key, 99) <= draft]
        forms = self._plain(node, schema, present)
        for key in present:
            expand = _IN_PLACE.get(key)
            if expand is not None:
                part = expand(self, node)
                if part is not ANY:
                    forms = self.intersection(node, forms, part)
        if any(key in UNEVALUATED for key in present):
            goals = (goal_of(schema_of(node, k)) if k in present else None for k in UNEVALUATED)
            forms = apply_unevaluated(node, forms, *goals)
        return forms

    def _plain(self, node: Node, schema: dict[str, Any], present: list[str]) -> Forms:
        """The keywords that speak of one type each, and the types."""
        types = TYPES if "type" not in schema else types_of(node)
        if self.options.openapi and schema.get("nullable") is True:
            types |= {"null"}
        if not present:
            return ANY
        numbers: tuple[NumberFacts, ...] = ()
        if "number" in types or "integer" in types:
            fact = self.number_facts(node, present)
            if fact is not None:
                if "number" not in types:
                    fact = fact._replace(is_integer=True)
                numbers = (fact,) if fact != ANY.numbers[0] else ANY.numbers
        else:
            self.number_facts(node, present)
        strings = self._typed("string" in types, ANY.strings, STRING_KEYWORDS, present,
                              partial(self.string_facts, node))  # fmt: skip
        arrays = self._typed("array" in types, ANY.arrays, ARRAY_KEYWORDS, present,
                             partial(self.array_facts, node))  # fmt: skip
        objects = self._typed("object" in types, ANY.objects, OBJECT_KEYWORDS, present,
                              partial(self.object_facts, node))  # fmt: skip
        if self.options.closed_objects and objects is ANY.objects and "type" in schema:
            objects = (self.object_facts(node, present),)
        return Forms("null" in types, 3 * ("boolean" in types), numbers, strings, arrays, objects)

    @staticmethod
    def _typed(
        is_allowed: bool,
        free: tuple[Any, ...],
        keywords: frozenset[str],
        present: list[str],
        read: Callable[[list[str]], Any],
    ) -> tuple[Any, ...]:
        if not any(key in keywords for key in present):
            return free if is_allowed else ()
        fact = read(present)
        if not is_allowed or fact is None:
            return ()
        return free if fact == free[0] else (fact,)

    # -- one type each

    def number_facts(self, node: Node, present: list[str]) -> NumberFacts | None:
        """The bounds and factors in a schema."""
        facts = ANY.numbers[0]
        if not any(key in NUMBER_KEYWORDS for key in present):
            return facts
        schema = node.value
        for key in present:
            if key not in NUMBER_KEYWORDS:
                continue
            if key == "multipleOf":
                factor = number_of(node, key)
                if factor <= 0:
                    raise wrong_value(node, key, "a number above 0")
                facts = facts._replace(factors=(factor,))
                continue
            if isinstance(schema[key], bool) and key.startswith("exclusive"):
                bound = "minimum" if key == "exclusiveMinimum" else "maximum"
                if not schema[key] or bound not in schema:
                    continue
                value, is_open = number_of(node, bound), True
            else:
                value, is_open = number_of(node, key), key.startswith("exclusive")
            if key in ("minimum", "exclusiveMinimum"):
                part = NumberFacts(low=value, low_open=is_open)
            else:
                part = NumberFacts(high=value, high_open=is_open)
            found = intersect(NONE._replace(numbers=(facts,)), NONE._replace(numbers=(part,)))
            if not found.numbers:
                return None
            facts = found.numbers[0]
        return facts

    def string_facts(self, node: Node, present: list[str]) -> StringFacts | None:
        """The lengths, the pattern and the format in a schema."""
        low, high = 0, None
        patterns: list[Ref] = []
        for key in present:
            if key == "minLength":
                low = count_of(node, key)
            elif key == "maxLength":
                high = count_of(node, key)
            elif key == "pattern":
                patterns.append(self.pattern(node, key, text_of(node, key)))
            elif key == "format":
                name = text_of(node, key)
                ref = self.format(node, name) if self.options.formats == "assert" else None
                if ref is not None:
                    patterns.append(ref)
        if high is not None and low > high:
            return None
        return StringFacts(low, high, tuple(patterns))

    def array_facts(self, node: Node, present: list[str]) -> ArrayFacts | None:
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
                prefix = tuple(goal_of(n) for n in schemas_of(node, key)) if schema[key] else ()
                if key == "items" and "additionalItems" in present:
                    items = goal_of(schema_of(node, "additionalItems"))
            elif key == "items":
                items = goal_of(schema_of(node, key))
            elif key == "contains":
                contains = (self._contains(node, present),)
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

    def _contains(self, node: Node, present: list[str]) -> Contains:
        low = count_of(node, "minContains") if "minContains" in present else 1
        high = count_of(node, "maxContains") if "maxContains" in present else None
        return Contains(goal_of(schema_of(node, "contains")), low, high, node)

    def object_facts(self, node: Node, present: list[str]) -> ObjectFacts | None:
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
                for name, child in schema_map_of(node, key).items():
                    check_text(node, key, name)
                    properties[name] = goal_of(child)
            elif key == "patternProperties":
                for text, child in schema_map_of(node, key).items():
                    patterns.append((self.pattern(node, key, text), goal_of(child)))
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
        if self.options.closed_objects and not speaks and not patterns:
            additional = (self.document.false,)
        if high is not None and low > high:
            return None
        members: tuple[Members, ...] = ()
        if properties or patterns or additional or speaks:
            evaluates = "all" if speaks else "named"
            members = (Members(properties, tuple(patterns), additional, node, evaluates),)
        names = names if names != ((),) else ()
        return ObjectFacts(members, required, low, high, names)

    # -- in place

    def reference(self, node: Node, keyword: str = "$ref") -> Forms:
        """`$ref`, and the dynamic references that can mean one place only."""
        target = text_of(node, keyword)
        if keyword == "$dynamicRef" and not self.document.is_static(target):
            raise unsupported(node, keyword, "it may mean several places")
        if keyword == "$recursiveRef" and self.document.mentions("$recursiveAnchor"):
            raise unsupported(node, keyword, "it may mean several places")
        return self.node(self.document.resolve(node, target, keyword))

    def all_of(self, node: Node) -> Forms:
        return self.intersection(node, *map(self.node, schemas_of(node, "allOf")))

    def any_of(self, node: Node) -> Forms:
        """The union; with the overlaps on their own if what each branch evaluates matters."""
        branches = [self.node(branch) for branch in schemas_of(node, "anyOf")]
        parts = list(branches)
        if node.resource.draft >= 8 and self.document.mentions(*UNEVALUATED):
            for size in range(2, min(len(branches), MAX_OVERLAPS) + 1):
                for chosen in combinations(branches, size):
                    parts.append(self.intersection(node, *chosen))
        return unite(parts)

    def one_of(self, node: Node) -> Forms:
        """Each branch without the branches that may overlap with it."""
        from structag.schema.overlap import may_overlap

        branches = schemas_of(node, "oneOf")
        forms = [self.node(branch) for branch in branches]
        parts: list[Forms] = []
        for i, part in enumerate(forms):
            for j, other in enumerate(forms):
                if i != j and may_overlap(self, part, other):
                    part = self.intersection(node, part, self.refusals(branches[j]))
            parts.append(part)
        return unite(parts)

    def enumeration(self, node: Node) -> Forms:
        values = node.value["enum"]
        if not isinstance(values, list):
            raise wrong_value(node, "enum", "an array of values")
        return constants(node, "enum", values)

    def constant(self, node: Node) -> Forms:
        return constants(node, "const", [node.value["const"]])

    def complement(self, node: Node) -> Forms:
        return self.refusals(schema_of(node, "not"))

    def refusals(self, node: Node) -> Forms:
        """The values that a positive node refuses; they evaluate nothing."""
        forms = self.node(node.negation)
        return without_evaluation(forms) if self.document.mentions(*UNEVALUATED) else forms

    def condition(self, node: Node) -> Forms:
        """`if` with `then` and `else`."""
        schema = node.value
        test = schema_of(node, "if")
        if (
            "then" not in schema
            and "else" not in schema
            and not self.document.mentions(*UNEVALUATED)
        ):
            return ANY
        met, unmet = self.node(test), self.refusals(test)
        if "then" in schema:
            met = self.intersection(node, met, self.node(schema_of(node, "then")))
        if "else" in schema:
            unmet = self.intersection(node, unmet, self.node(schema_of(node, "else")))
        return unite([met, unmet])

    def dependencies(self, node: Node, keyword: str) -> Forms:
        """`dependentRequired`, `dependentSchemas` and the older `dependencies`."""
        value = node.value[keyword]
        if not isinstance(value, dict):
            raise wrong_value(node, keyword, "an object")
        forms = ANY
        container = node.child(keyword, value)
        for name, needs in value.items():
            without = with_objects(self.without(name, node))
            if isinstance(needs, list) and keyword != "dependentSchemas":
                names = names_of(container, name, needs)
                needed = with_objects(ObjectFacts(required=(name, *names)))
            else:
                present = with_objects(ObjectFacts(required=(name,)))
                needed = self.intersection(node, present, self.node(schema_of(container, name)))
                needed = needed._replace(null=False, booleans=0, numbers=(), strings=(), arrays=())
            forms = self.intersection(node, forms, unite([without, needed]))
        return forms

    def without(self, name: str, node: Node) -> ObjectFacts:
        """Objects that have no member of that name."""
        return ObjectFacts((Members({name: (self.document.false,)}, (), (), node),))


def with_objects(facts: ObjectFacts) -> Forms:
    """Every value that is no object, and the objects of `facts`."""
    return ANY._replace(objects=(facts,))


def goal_of(node: Node) -> Goal:
    """The goal of one node; the empty goal if it allows everything."""
    value = node.value
    return () if (value is True or value == {}) and not node.negative else (node,)


def types_of(node: Node) -> frozenset[str]:
    """The types of the `type` keyword."""
    value = node.value["type"]
    if type(value) is str:
        names = frozenset((str(value),))
    elif isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        names = frozenset(value)
    else:
        raise wrong_value(node, "type", "a type, or an array of types")
    if not names <= TYPES:
        raise wrong_value(node, "type", "one of " + ", ".join(sorted(TYPES)))
    return names


def _first_applicator(node: Node) -> str:
    if type(node.value) is dict:
        for key in _IN_PLACE:
            if key in node.value:
                return key
    return "allOf"


_IN_PLACE: dict[str, Callable[[Expander, Node], Forms]] = {
    "$ref": Expander.reference,
    "$dynamicRef": partial(Expander.reference, keyword="$dynamicRef"),
    "$recursiveRef": partial(Expander.reference, keyword="$recursiveRef"),
    "allOf": Expander.all_of,
    "anyOf": Expander.any_of,
    "oneOf": Expander.one_of,
    "enum": Expander.enumeration,
    "const": Expander.constant,
    "not": Expander.complement,
    "if": Expander.condition,
    "dependencies": partial(Expander.dependencies, keyword="dependencies"),
    "dependentRequired": partial(Expander.dependencies, keyword="dependentRequired"),
    "dependentSchemas": partial(Expander.dependencies, keyword="dependentSchemas"),
}
