"""Shortens a union of object facts without changing it, so that products stay small.

Negations of schemas that share members yield unions of hundreds of alternatives most of which say
the same.  A demand on a member that the rest of its alternative implies is dropped, an alternative
with a demand that cannot be met too, and one that says all that another says, and more, is part of
that other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from structag.schema.facts import Goal, ObjectFacts
from structag.schema.objects import goal_of_name

if TYPE_CHECKING:
    from structag.schema.expand import Expander

MAX_QUESTIONS = 3000
"""Questions about demands in one document; what they could have shortened stays long."""


class Absorber:
    """Shortens unions of one document."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self._questions = 0
        self._is_asking = False
        self._empty: dict[Goal, bool] = {}
        self._conjuncts: dict[object, int] = {}

    def shortened(self, alternatives: list[ObjectFacts], limit: int) -> list[ObjectFacts]:
        """Fewer alternatives with the same objects, the most general first; few over `limit`."""
        said = [
            (self._said(fact), fact)
            for alternative in alternatives
            if (fact := self._settled(alternative)) is not None
        ]
        said.sort(key=lambda pair: pair[0].bit_count())
        sets: list[int] = []
        kept: list[ObjectFacts] = []
        for conjuncts, fact in said:
            if not any(other & conjuncts == other for other in sets):
                sets.append(conjuncts)
                kept.append(fact)
                if len(kept) > limit:
                    break
        return kept

    def _said(self, fact: ObjectFacts) -> int:
        """The set of what a fact says, as bits."""
        bits = 0
        for conjunct in _conjuncts(fact):
            bits |= 1 << self._conjuncts.setdefault(conjunct, len(self._conjuncts))
        return bits

    def _settled(self, fact: ObjectFacts) -> ObjectFacts | None:
        """The fact without demands that hold anyway; None if one cannot be met."""
        if self._is_asking:
            return fact  # an answer that needs another question could go on for ever
        demands = list(fact.demands)
        for demand in fact.demands:
            self._questions += 1
            if self._questions > MAX_QUESTIONS:
                break
            name, goal = demand
            others = tuple(other for other in demands if other != demand)
            rest = goal_of_name(self.expander, fact._replace(demands=others), name)
            if not rest:
                continue
            if self._is_empty((*rest, *goal)):
                return None
            if len(goal) == 1 and self._is_empty((*rest, goal[0].negation)):
                demands.remove(demand)
        if len(demands) == len(fact.demands):
            return fact
        return fact._replace(demands=tuple(demands))

    def _is_empty(self, goal: Goal) -> bool:
        from structag.schema.overlap import goal_is_empty

        known = self._empty.get(goal)
        if known is None:
            self._is_asking = True
            try:
                known = self._empty[goal] = goal_is_empty(self.expander, goal)
            finally:
                self._is_asking = False
        return known


def _conjuncts(fact: ObjectFacts) -> list[object]:
    """What a fact says, one by one."""
    found: list[object] = [("members", id(members)) for members in fact.members]
    found += [("required", name) for name in fact.required]
    found += [("forbidden", name) for name in fact.forbidden]
    found += [("demand", *demand) for demand in fact.demands]
    found += [("names", goal) for goal in fact.names]
    found += [("witness", witness) for witness in fact.witnesses]
    if fact.low:
        found.append(("low", fact.low))
    if fact.high is not None:
        found.append(("high", fact.high))
    return found
