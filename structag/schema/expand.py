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

from structag.errors import LimitError, SchemaError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema import formats
from structag.schema.absorb import Absorber
from structag.schema.document import Document, Node, unsupported
from structag.schema.facts import (
    ALL_TYPES,
    ANY,
    MAX_ALTERNATIVES,
    NONE,
    Forms,
    Goal,
    ObjectFacts,
    intersect,
    unite,
)
from structag.schema.keywords import (
    FIRST_DRAFT,
)
from structag.schema.options import SchemaOptions
from structag.schema.plain import goal_of, note_order, read_plain
from structag.schema.report import Report
from structag.schema.shapes import check_shapes
from structag.schema.unevaluated import apply_unevaluated, without_evaluation
from structag.schema.values import (
    are_names,
    constants,
    names_of,
    object_of,
    schema_of,
    schemas_of,
    text_of,
    values_of,
)
from structag.text.regex import lower_regex

UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
MANY_STEPS = 1_000_000
"""The more conjuncts all products of a document have had, the fewer alternatives each keeps."""
MAX_COMPARISONS = 30_000
"""Pairs of branches that the `oneOf`s of a document compare."""
MAX_OVERLAPS = 4
"""Branches of one `anyOf` that are combined for the sake of `unevaluatedProperties`."""


class Expander:
    """Expands the nodes of one document into forms, each once."""

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        report: Report,
    ) -> None:
        self.document = document
        self.report = report
        self.builder = builder
        self.options = options
        self.limits = limits
        self.known: dict[tuple[int, bool, int], Forms | None] = {}
        self._goals: dict[Goal, Forms] = {}
        self.emptiness: dict[tuple[Goal, int], bool] = {}
        """Whether goals are certainly empty, as far as the depth showed; for `overlap`."""
        self._patterns: dict[str, Ref] = {}
        self._formats: dict[str, Ref] = {}
        self._inexact: set[Ref] = set()
        self.read_directly: set[int] = set()
        """Identities of the subschemas that were lowered without being expanded."""
        self._steps = 0
        self.comparisons = 0
        """Of branches, so far; `overlap` counts them."""
        self._absorber = Absorber(self)
        self.lost: tuple[Node, str] | None = None
        """The first keyword of which some values are not generated."""

    @property
    def effort(self) -> int:
        """What was done so far: schemas, their conjuncts in products, comparisons."""
        return len(self.known) + len(self.read_directly) + self._steps + self.comparisons

    def goal(self, goal: Goal) -> Forms:
        """The values that satisfy every node of a goal."""
        if len(goal) == 1:
            return self.node(goal[0])
        length = len(goal)
        while length and goal[:length] not in self._goals:
            length -= 1
        forms = self._goals[goal[:length]] if length else ANY
        for end in range(length + 1, len(goal) + 1):  # many goals begin alike
            node = goal[end - 1]
            forms = self.intersection(node, forms, self.node(node))
            self._goals[goal[:end]] = forms
        return forms

    def node(self, node: Node) -> Forms:
        """The values that a node allows."""
        # By the identity of the value: a Python schema may hold one object in many places.
        key = (id(node.value), node.negative, id(node.resource))
        known = self.known.get(key)
        if known is not None:
            return known
        if key in self.known:
            raise SchemaError(
                "the schema refers to itself without anything in between",
                code="schema-reference",
                pointer=node.pointer,
            )
        self.known[key] = None
        self.check_count(node)
        try:
            forms = self.known[key] = self._expanded(node)
        except StructagError:
            del self.known[key]  # whoever only looked ahead goes on, and may come back
            raise
        return forms

    def _expanded(self, node: Node) -> Forms:
        value = node.value
        if type(value) is dict:
            check_shapes(node)
            self.report.visit(node, value)
            return self._negative(node) if node.negative else self._positive(node, value)
        if type(value) is bool:
            return ANY if value is not node.negative else NONE
        raise SchemaError(
            "a schema is neither an object nor a boolean",
            code="schema-value",
            pointer=node.pointer,
            expected="an object or a boolean",
        )

    def has_room(self, more: int = 0) -> bool:
        """Whether so many more subschemas may take part."""
        count = len(self.known) + len(self.read_directly) + more
        return count <= self.limits.max_schemas

    def check_count(self, node: Node, more: int = 0) -> None:
        """Refuses a document with too many subschemas, counting `more` that are about to come."""
        value = self.limits.max_schemas
        if not self.has_room(more):
            raise LimitError(
                f"the schema has over {value:,} subschemas",
                limit="subschemas",
                value=value,
                setting="max_schemas",
                pointer=node.pointer,
            )

    def intersection(self, node: Node, *parts: Forms) -> Forms:
        """What all parts allow; a product that is too large is cut and reported."""
        forms = ANY
        for part in parts:
            self._steps += _product_size(forms.objects, part.objects)
            limit = max(1, min(MAX_ALTERNATIVES, MANY_STEPS // (self._steps + 1)))
            dropped = partial(self._dropped, node)
            forms = intersect(forms, part, dropped, self._shortened, limit)
        return forms

    def _shortened(self, objects: list[ObjectFacts], limit: int) -> list[ObjectFacts]:
        if self.document.mentions(*UNEVALUATED):
            return objects  # an alternative within another may evaluate more
        return self._absorber.shortened(objects, limit)

    def leave_out(self, node: Node, keyword: str, what: str) -> None:
        """Notes values that a keyword allows, and that are not generated."""
        self.lost = self.lost or (node, keyword)
        self.report.restrict(node, keyword, f"not generated: {what}")

    def _dropped(self, node: Node) -> None:
        self.leave_out(node, _first_applicator(node), "some of its combinations: they are too many")

    def pattern(self, node: Node, keyword: str, text: str) -> Ref:
        """The texts in which `text` matches somewhere."""
        ref = self._patterns.get(text)
        if ref is None:
            limits = self.limits
            try:
                ref = self.builder.fragment(
                    ("pattern", text), lambda b: lower_regex(text, b, search=True, limits=limits)
                )
            except StructagError as error:
                error.pointer = f"{node.pointer}/{keyword}"
                raise
            self._patterns[text] = ref
        return ref

    def format(self, node: Node, name: str) -> Ref | None:
        """The texts of a format; None if it asserts nothing."""
        ref = self._formats.get(name)
        if ref is None:
            if name not in formats.FORMATS:
                return None
            patterns = formats.patterns_of(name)
            ref = self._formats[name] = self.builder.fragment(
                ("format", name), lambda b: b.both(*(lower_regex(part, b) for part in patterns))
            )
            if formats.FORMATS[name].left_out:
                self._inexact.add(ref)
        left_out = formats.FORMATS[name].left_out
        if left_out:
            self.leave_out(node, "format", left_out)
        return ref

    def is_exact(self, pattern: Ref) -> bool:
        """Whether a pattern has every text that it stands for; some formats lack a few."""
        return pattern not in self._inexact

    def is_asserted(self, node: Node, name: str) -> bool:
        """Whether a format says anything; notes it if it does not."""
        if self.options.formats == "annotate":
            self.report.annotate(node, "format", 'formats="annotate"')
        elif name not in formats.FORMATS and name not in formats.NUMBER_FORMATS:
            self.report.annotate(node, "format", f"`{name[:60]}` is not a format of a standard")
        elif name in formats.OF_OPENAPI and not self.options.openapi:
            reason = f"`{name}` says how a text is encoded; openapi=True asserts it"
            self.report.annotate(node, "format", reason)
        else:
            return True
        return False

    def _negative(self, node: Node) -> Forms:
        from structag.schema.negate import negate

        return negate(self, node)

    def _positive(self, node: Node, schema: dict[str, Any]) -> Forms:
        forms = self.evaluating(node, schema)
        if node.resource.draft >= FIRST_DRAFT["unevaluatedItems"]:
            goals = [goal_of(schema_of(node, k)) if k in schema else None for k in UNEVALUATED]
            if goals != [None, None]:
                forms = apply_unevaluated(node, forms, *goals)
        return forms

    def evaluating(self, node: Node, schema: dict[str, Any]) -> Forms:
        """All that a schema says but for `unevaluatedProperties` and `unevaluatedItems`."""
        draft = node.resource.draft
        if draft < 8 and "$ref" in schema and isinstance(schema["$ref"], str):
            return self.node(self.document.resolve(node, schema["$ref"]))
        present = [key for key in schema if FIRST_DRAFT.get(key, 99) <= draft]
        forms = read_plain(self, node, schema, present)
        if _MORE.isdisjoint(present):
            return forms
        own = present.index("properties") if "properties" in present else -1
        beside = forms
        for place, key in enumerate(present):
            expand = _IN_PLACE.get(key)
            if expand is not None:
                part = expand(self, node, beside) if key in _BESIDE else expand(self, node)
                if part is not ANY:  # members in the order in which the schema speaks of them
                    is_base = place < own and _comes_first(part, schema["properties"])
                    both = (part, forms) if is_base else (forms, part)
                    forms = self.intersection(node, *both)
        return forms

    # -- in place

    def reference(self, node: Node, keyword: str = "$ref") -> Forms:
        """`$ref`, and the dynamic references that mean the same place on every way."""
        return self.node(self.target(node, keyword))

    def target(self, node: Node, keyword: str) -> Node:
        """The node that a reference of any kind means."""
        reference = text_of(node, keyword)
        if keyword == "$ref":
            return self.document.resolve(node, reference)
        target = self.document.resolve_dynamic(node, reference, keyword)
        if target is None:
            raise unsupported(node, keyword, "which place it means depends on the way there")
        return target

    def all_of(self, node: Node, beside: Forms = ANY) -> Forms:
        """The product; a `oneOf` alone in a part is expanded `beside` what the schema says."""
        parts: list[Forms] = []
        for part in schemas_of(node, "allOf"):
            value = part.value
            if beside is ANY or type(value) is bool or FIRST_DRAFT.keys() & value != {"oneOf"}:
                parts.append(self.node(part))
            else:
                check_shapes(part)
                self.report.visit(part, value)
                parts.append(self.one_of(part, beside))
        return self.intersection(node, *parts)

    def any_of(self, node: Node) -> Forms:
        """The union; with the overlaps on their own if what each branch evaluates matters."""
        branches = [self.node(branch) for branch in schemas_of(node, "anyOf")]
        parts = list(branches)
        if node.resource.draft >= 8 and self.document.mentions(*UNEVALUATED):
            for size in range(2, min(len(branches), MAX_OVERLAPS) + 1):
                for chosen in combinations(branches, size):
                    parts.append(self.intersection(node, *chosen))
        return unite(parts)

    def one_of(self, node: Node, beside: Forms = ANY) -> Forms:
        """Each branch without the branches that may overlap with it.

        What does not belong to `beside` may be wrong: a member that the schema itself requires
        often tells the branches apart.
        """
        from structag.schema.overlap import overlaps

        branches = schemas_of(node, "oneOf")
        forms = [self.node(branch) for branch in branches]
        apart = [self.intersection(node, beside, form) for form in forms]
        parts: list[Forms] = []
        for part, others in zip(forms, overlaps(self, apart), strict=False):
            if self._steps > MANY_STEPS or self.comparisons > MAX_COMPARISONS:
                break
            for other in others:
                part = self.intersection(node, part, self.refusals(branches[other]))
            parts.append(part)
        if len(parts) == len(forms):
            return unite(parts)
        self.leave_out(node, "oneOf", f"its branches from number {len(parts)} on: too many overlap")
        return unite(parts)._replace(partial=ALL_TYPES)

    def enumeration(self, node: Node) -> Forms:
        return self._constants(node, "enum", values_of(node, "enum"))

    def constant(self, node: Node) -> Forms:
        return self._constants(node, "const", [node.value["const"]])

    def _constants(self, node: Node, keyword: str, values: list[Any]) -> Forms:
        forms = constants(node, keyword, values)
        if self.options.property_order != "any" and _holds_two_members(values):
            note_order(self, node, keyword)
        return forms

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
        value = object_of(node, keyword)
        forms = ANY
        container = node.child(keyword, value)
        for name, needs in value.items():
            without = with_objects(ObjectFacts(forbidden=(name,)))
            if are_names(keyword, needs):
                names = names_of(container, name, needs)
                needed = with_objects(ObjectFacts(required=(name, *names)))
            else:
                present = with_objects(ObjectFacts(required=(name,)))
                needed = self.intersection(node, present, self.node(schema_of(container, name)))
                needed = needed._replace(null=False, booleans=0, numbers=(), strings=(), arrays=())
            forms = self.intersection(node, forms, unite([without, needed]))
        return forms


def _comes_first(forms: Forms, known: Any) -> bool:
    """Whether members of `forms`, which stands before the properties `known`, come before those.

    They do if some are not known, as from a base that is extended, or if every alternative speaks
    of one and the same member, which then tells the alternatives apart.
    """
    names = {frozenset(n for m in fact.members for n in m.properties) for fact in forms.objects}
    if any(not each <= known.keys() for each in names):
        return True
    return len(forms.objects) > 1 and len(names) == 1 and len(next(iter(names))) == 1


def _product_size(left: tuple[ObjectFacts, ...], right: tuple[ObjectFacts, ...]) -> int:
    """The conjuncts in a product of alternatives, roughly."""
    if len(left) * len(right) < 2:
        return 0
    sizes = [
        sum(len(f.members) + len(f.required) + len(f.forbidden) + len(f.demands) for f in facts)
        for facts in (left, right)
    ]
    return sizes[0] * len(right) + sizes[1] * len(left)


def with_objects(facts: ObjectFacts) -> Forms:
    """Every value that is no object, and the objects of `facts`."""
    return ANY._replace(objects=(facts,))


def _holds_two_members(value: Any) -> bool:
    """Whether some object in a constant has two members or more."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if len(part) > 1:
                return True
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return False


def _first_applicator(node: Node) -> str:
    if type(node.value) is dict:
        for key in _IN_PLACE:
            if key in node.value:
                return key
    return "allOf"


_IN_PLACE: dict[str, Callable[..., Forms]] = {
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
_MORE = frozenset(_IN_PLACE)
_BESIDE = frozenset(("oneOf", "allOf"))
"""What is expanded beside the plain keywords of its schema."""
