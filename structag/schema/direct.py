"""A short way for the commonest schemas: from the document straight to expressions.

Most schemas say `type`, `properties`, `required`, `items`, `enum` and little else.  They need no
normal form, and no nodes for the places of the document either: the core reads them as they stand
(`core/bindings/bindings_schema.cc`).  It decides nothing itself but which name has which schema.
Whatever it does not know exactly (another keyword, a value of the wrong kind, a deep place) is left
to the way of `structag.schema.lower`, node by node; `Direct` is what it asks for that.

Both ways give equal grammars; ``tests/schema/test_direct.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from structag._core import KeywordTable, SchemaReader
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.schema.document import Document, Node, draft_of
from structag.schema.facts import Goal
from structag.schema.keywords import (
    DRAFTS,
    FIRST_DRAFT,
    NUMBER_KEYWORDS,
    SCHEMA_KEYWORDS,
    STRING_KEYWORDS,
)
from structag.schema.objects import arranged, in_style_order
from structag.schema.options import SchemaOptions
from structag.schema.plain import all_of_types, goal_of
from structag.schema.shapes import quick_tests

if TYPE_CHECKING:
    from structag.schema.lower import Lowering

MAX_DEPTH = 20
"""Goals, and subschemas read here, inside each other before one is put off."""
_ASSERTIONS = {
    draft: frozenset(name for name, first in FIRST_DRAFT.items() if first <= draft)
    for draft in DRAFTS
}
"""The keywords of each draft that say something."""
_KEYWORDS = {
    draft: KeywordTable(names, NUMBER_KEYWORDS | STRING_KEYWORDS, draft < 8, quick_tests(draft))
    for draft, names in _ASSERTIONS.items()
}


def has_short_way(options: SchemaOptions, limits: Limits) -> bool:
    """Whether schemas mean under these options what they mean by themselves."""
    return not (
        options.openapi or options.closed_objects or options.registry or options.indent is not None
    ) and not _is_deep(0, limits)


def _is_deep(depth: int, limits: Limits) -> bool:
    return depth + 2 * MAX_DEPTH > limits.max_nesting


class Direct(SchemaReader):
    """Lowers what it can of one document to JSON text; `lowering` does the rest.

    `make` makes that, given the schemas that were read here: only where somebody needs it.
    """

    def __init__(
        self,
        schema: dict[str, Any],
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        any_value: Callable[[], Ref],
        make: Callable[[set[int]], Lowering],
    ) -> None:
        super().__init__(
            builder,
            _KEYWORDS[draft_of(schema)],
            options.max_whitespace,
            options.separators,
            options.property_order == "schema",
            options.integer_decimals,
            MAX_DEPTH,
            limits.max_schemas,
        )
        self._schema = schema
        self._builder = builder
        self._options = options
        self._limits = limits
        self.any_value = any_value
        self._make = make
        self._lowering: Lowering | None = None

    @property
    def lowering(self) -> Lowering:
        """The other way."""
        lowering = self._lowering
        if lowering is None:
            lowering = self._lowering = self._make(self.already_read)
            lowering.direct = self
            self.count_in(lowering.expander.known)
        return lowering

    def root(self) -> Ref:
        """The whole document; see `Lowering.root`."""
        if "$ref" not in self._schema:  # what leads back to it would be no rule yet
            ref = self.read(self._schema, None, 1)
            if ref is not None:
                return self._finished(ref)
        return self.lowering.root()

    def _finished(self, ref: Ref) -> Ref:
        if self._lowering is None and ref != self._builder.empty:
            return ref
        return self.lowering.finished(ref)

    def lower(self, node: Node) -> Ref | None:
        """The expression of a node; None if only the other way knows."""
        value = node.value
        if type(value) is not dict or node.negative or node.is_made:
            return None
        if node.resource is not self.lowering.document.root.resource:
            return None  # with a draft, and a base for references, of its own
        if _is_deep(node.depth, self._limits):
            return None
        return self.read(value, node, self.lowering.depth)

    def rule_of(self, goal: Goal) -> Ref | None:
        """The rule for a goal that is being lowered here; None if it is not."""
        if len(goal) > 1 or goal[0].negative:
            return None
        return self.rule_under_way(goal[0].value, goal[0])

    # -- what the core asks for; the node of the root is None there

    def any_integer(self) -> Ref:
        return self.lowering.forms(all_of_types(frozenset(("integer",))))

    def other_way(self, node: Node, depth: int) -> Ref:
        """The expression of a node that lies so deep."""
        lowering = self.lowering
        before, lowering.depth = lowering.depth, depth
        ref = lowering.value(goal_of(node))
        lowering.depth = before
        return ref

    def node_below(self, node: Node | None, keyword: str, name: str | None) -> Node:
        """The node of a subschema: made only where somebody has to know it."""
        above = self._node(node)
        if name is not None:
            return above.below(keyword, name)
        return above.child(keyword, above.value[keyword])

    def target(self, node: Node | None, reference: str) -> Node | None:
        """The node that a `$ref` leads to, if it may be lowered in its place."""
        target = self.lowering.document.resolve(self._node(node), reference)
        return target if _stays_there(target) else None

    def new_rule(self, node: Node | None) -> Ref:
        return self._builder.rule(self._node(node).pointer or "root")

    def check_count(self, node: Node | None, more: int) -> None:
        self.lowering.expander.check_count(self._node(node), more)

    def in_style_order(self, names: list[str]) -> list[str]:
        return in_style_order(self.lowering, names)

    def arranged(self, members: list[tuple[Ref, bool]], rest: Ref) -> Ref:
        return arranged(self.lowering, members, rest)

    def _node(self, node: Node | None) -> Node:
        return self.lowering.document.root if node is None else node


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
