"""How long, at least, what an expression derives is: the way out of every recursion.

A length counts bytes, and one for each token that is read by its id.  With it comes a height, the
least depth of a derivation of that length; a walk that always takes the least of both ends.  What
derives nothing has the length `NEVER`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from structag.grammar.expressions import (
    Alt,
    And,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Encoded,
    Epsilon,
    Erase,
    Grammar,
    Literal,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Unordered,
    children,
)

NEVER = 2**40
Least: TypeAlias = tuple[int, int]
"""Length and height."""
LEAVES = (And, Not, Encoded, NoOccurrence, Erase, Distinct)
"""What no part of it decides: regular operators; `least_lengths` asks for their lengths."""


def least_lengths(
    grammar: Grammar,
    leaf_length: Callable[[Ref, int], int],
    token_ids: Callable[[Tokens], Sequence[int]],
) -> dict[Ref, Least]:
    """The least length and height of every expression that takes part in a derivation.

    Args:
        grammar: the grammar.
        leaf_length: the length of a leaf's shortest text but so many, or `NEVER`.
        token_ids: the tokens that a `Tokens` stands for.
    """
    order = sorted(_taking_part(grammar))
    found: dict[Ref, Least] = {}
    for ref in order:
        node = grammar.nodes[ref]
        if isinstance(node, LEAVES):
            found[ref] = (leaf_length(ref, 0), 0)
        elif isinstance(node, Tokens):
            found[ref] = (1 if token_ids(node) else NEVER, 0)
        else:
            found[ref] = (NEVER, 0)
    order = [ref for ref in order if not isinstance(grammar.nodes[ref], (*LEAVES, Tokens))]
    changed = True
    while changed:  # as often as rules are nested in the shortest derivation
        changed = False
        for ref in order:
            value = _least(grammar, grammar.nodes[ref], found, leaf_length)
            if value < found[ref]:
                found[ref] = value
                changed = True
    return found


def _taking_part(grammar: Grammar) -> set[Ref]:
    seen = {grammar.root}
    pending = [grammar.root]
    while pending:
        node = grammar.nodes[pending.pop()]
        if isinstance(node, LEAVES):
            continue
        parts = (grammar.rules[node.index][1],) if isinstance(node, Rule) else children(node)
        fresh = [part for part in parts if part not in seen]
        seen.update(fresh)
        pending += fresh
    return seen


def _least(
    grammar: Grammar,
    node: Node,
    found: dict[Ref, Least],
    leaf_length: Callable[[Ref, int], int],
) -> Least:
    match node:
        case Epsilon():
            return 0, 0
        case Literal(data):
            return len(data), 0
        case Bytes(members):
            return (1, 0) if members else (NEVER, 0)
        case Chars(ranges):
            return (len(chr(ranges[0][0]).encode()), 0) if ranges else (NEVER, 0)
        case Seq(parts):
            length = sum(found[part][0] for part in parts)
            return _deeper(length, [found[part] for part in parts])
        case Alt(parts):
            length, height = min(found[part] for part in parts)
            return length, height + 1
        case Repeat(child, low):
            return _deeper(low * found[child][0], [found[child]]) if low else (0, 0)
        case Rule(index):
            length, height = found[grammar.rules[index][1]]
            return length, height + 1
        case Mark(_, child) | Budget(child):
            return found[child]
        case Scan():
            options = [(len(text) + found[ref][0], found[ref][1]) for text, ref in live_cases(node)]
            length, height = min(options, default=(NEVER, 0))
            return length, height + 1
        case Unordered(members, _, separator):
            needed = [found[ref] for ref, need in members if need]
            glue = max(0, len(needed) - 1) * found[separator][0]
            return _deeper(sum(length for length, _ in needed) + glue, needed)
        case Tally():
            picked = least_items(node, found)
            if picked is None:
                return NEVER, 0
            glue = max(0, len(picked) - 1) * found[node.separator][0]
            total = sum(found[ref][0] for ref in picked) + glue
            for place, ref in enumerate(picked):  # a key is no text that another item has
                keys = keys_of(grammar, ref) if place else ()
                total += max((leaf_length(k, place) - leaf_length(k, 0) for k in keys), default=0)
            return _deeper(total, [found[ref] for ref in picked])
        case _:
            return NEVER, 0


def _deeper(length: int, parts: Sequence[Least]) -> Least:
    return min(length, NEVER), max((height for _, height in parts), default=0) + 1


def live_cases(scan: Scan) -> list[tuple[bytes, Ref]]:
    """The cases whose trigger can complete first: no other ends inside of it, nor an exclude."""
    return [
        (trigger, ref)
        for trigger, ref in scan.cases
        if not any(other in trigger[:-1] for other, _ in scan.cases)
        and not any(exclude in trigger for exclude in scan.excludes)
    ]


def least_items(tally: Tally, found: dict[Ref, Least]) -> list[Ref] | None:
    """The shortest items that a counted list may consist of; None if there are none."""
    picked = [ref for ref, low, _ in tally.kinds for _ in range(low)]
    spare = sorted(
        (found[ref], ref, NEVER if high is None else high - low) for ref, low, high in tally.kinds
    )
    for (length, _), ref, count in spare:
        if length < NEVER:
            picked += [ref] * min(count, max(0, tally.min - len(picked)))
    short = len(picked) < tally.min or any(found[ref][0] >= NEVER for ref in picked)
    over = tally.max is not None and len(picked) > tally.max
    return None if short or over else picked


def keys_of(grammar: Grammar, item: Ref) -> list[Ref]:
    """The keys that tell `item` of a counted list from others."""
    seen = {item}
    pending = [item]
    found = []
    while pending:
        ref = pending.pop()
        node = grammar.nodes[ref]
        if isinstance(node, Distinct):
            found.append(ref)
        elif not isinstance(node, (*LEAVES, Tally)):
            parts = (grammar.rules[node.index][1],) if isinstance(node, Rule) else children(node)
            pending += [part for part in parts if part not in seen]
            seen.update(parts)
    return found
