"""What comes again and again: tags in free text or among tokens, and tags with a separator.

A *case* is what follows a trigger.  An open case ends in a region that nothing of its own stops; it
runs on to what follows the whole format, so no further case comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref

Scan: TypeAlias = Callable[[Mapping[str | int, Sequence[Ref]]], Ref]
"""A region up to a trigger, then one of its cases."""


class Case(NamedTuple):
    """One thing that a trigger leads to.

    Attributes:
        trigger: what announces it.
        rest: what comes after the trigger.
        whole: trigger and rest in one, for where no region comes before; used if at least one case
            has to come.
        is_open: whether it runs on to what follows the whole format.
    """

    trigger: str | int
    rest: Ref
    whole: Ref
    is_open: bool


def lower_dispatch(
    builder: GrammarBuilder,
    cases: Sequence[Case],
    scan: Scan,
    region: Ref,
    *,
    at_least_one: bool = False,
    once: bool = False,
) -> Ref:
    """Regions and cases in turn.

    Args:
        builder: where to build.
        cases: what the triggers lead to.
        scan: makes the region before one of some cases.
        region: the last region, after which no case comes.
        at_least_one: a case comes first, with no region before it.
        once: nothing comes after the first case.
    """
    first = [
        builder.alt(*(case.whole for case in cases if case.is_open == is_open))
        for is_open in (False, True)
    ]
    if at_least_one and once:
        return builder.alt(*first)
    closed, running_on = (scan(_by_trigger(cases, is_open)) for is_open in (False, True))
    last = builder.alt(running_on, region)
    if once:
        return builder.alt(closed, last)
    rest = builder.seq(builder.repeat(closed, 0), last)
    return builder.alt(builder.seq(first[0], rest), first[1]) if at_least_one else rest


def lower_separated(
    builder: GrammarBuilder, tags: Sequence[Ref], separator: Ref, *, at_least_one: bool, once: bool
) -> Ref:
    """Tags with `separator` between them."""
    tag = builder.alt(*tags)
    if not once:
        tag = builder.seq(tag, builder.repeat(builder.seq(separator, tag), 0))
    return tag if at_least_one else builder.alt(tag, builder.epsilon)


def _by_trigger(cases: Sequence[Case], is_open: bool) -> dict[str | int, list[Ref]]:
    found: dict[str | int, list[Ref]] = {case.trigger: [] for case in cases}
    for case in cases:
        if case.is_open == is_open:
            found[case.trigger].append(case.rest)
    return found
