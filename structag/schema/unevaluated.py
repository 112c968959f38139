"""Applies `unevaluatedProperties` and `unevaluatedItems` to forms.

Each alternative of a form knows which schemas it is made of, and so which members and items they
evaluate: the names and patterns of `Members`, the first items of `ArrayFacts`.  What is left over
gets the goal of the keyword.  Alternatives that come from a negation evaluate nothing, as the
standard has it.
"""

from __future__ import annotations

from structag.schema.document import Node, unsupported
from structag.schema.facts import (
    ArrayFacts,
    Forms,
    Goal,
    Members,
    ObjectFacts,
    item_goal,
    joined,
)


def apply_unevaluated(
    node: Node, forms: Forms, properties: Goal | None, items: Goal | None
) -> Forms:
    """`forms` with the goals for what nothing else evaluates; None = the keyword is absent."""
    if properties is not None:
        forms = forms._replace(
            objects=tuple(_object(node, fact, properties) for fact in forms.objects)
        )
    if items is not None:
        forms = forms._replace(arrays=tuple(_array(node, fact, items) for fact in forms.arrays))
    return forms


def without_evaluation(forms: Forms) -> Forms:
    """The same values, evaluating nothing."""
    objects = tuple(
        fact._replace(members=tuple(m._replace(evaluates="none") for m in fact.members))
        for fact in forms.objects
    )
    arrays = tuple(
        fact._replace(
            evaluated=0, contains=tuple(c._replace(evaluates=False) for c in fact.contains)
        )
        for fact in forms.arrays
    )
    return forms._replace(objects=objects, arrays=arrays)


def _object(node: Node, fact: ObjectFacts, goal: Goal) -> ObjectFacts:
    known = [members for members in fact.members if members.evaluates != "none"]
    if any(members.evaluates == "all" for members in known):
        return fact
    names: dict[str, Goal] = {name: () for members in known for name in members.properties}
    patterns = tuple((pattern, ()) for members in known for pattern, _ in members.patterns)
    rest = Members(names, patterns, goal, node, "all")
    return fact._replace(members=(*fact.members, rest))


def _array(node: Node, fact: ArrayFacts, goal: Goal) -> ArrayFacts:
    if fact.evaluated is None:
        return fact
    contains = [c for c in fact.contains if c.evaluates]
    if contains and goal:
        if not all(c.goal for c in contains):
            return fact  # every item satisfies one of them
        goal = _any_of(node, [goal[0], *(c.goal[0] for c in contains)])
    size = max(len(fact.prefix), fact.evaluated)
    prefix = tuple(
        item_goal(fact, index) if index < fact.evaluated else joined(item_goal(fact, index), goal)
        for index in range(size)
    )
    return fact._replace(prefix=prefix, items=joined(fact.items, goal), evaluated=None)


def _any_of(node: Node, parts: list[Node]) -> Goal:
    """A goal that some of the parts satisfies: a schema made up for it."""
    if any(part.resource is not node.resource for part in parts):
        raise unsupported(node, "unevaluatedItems", "beside `contains` of another resource")
    made = node.child("unevaluatedItems, contains", {"anyOf": [part.value for part in parts]})
    made.is_made = True
    return (made,)
