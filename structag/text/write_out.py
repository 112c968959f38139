"""Writes regular operators out as rules: what `And`, `Not` and `Encoded` mean, said without them.

Notations have no intersection, complement or escaping.  A regular language needs none: here the
operand becomes a deterministic automaton (`structag.text.automaton`), and each of its states
becomes a rule,

    state ::= [characters] other-state | … | ""

with a loop as a repeat and a state that is used once in its place.  `Encoded` writes each
character of a transition in all its spellings.  The language stays the same; the structure, and so
the fingerprint, does not.
"""

from __future__ import annotations

from collections.abc import Callable

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Empty,
    Encoded,
    Epsilon,
    Erase,
    Grammar,
    Literal,
    Mark,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Seq,
    Transparent,
    children,
)
from structag.grammar.transplant import rebuild
from structag.text import charset, spellings
from structag.text.automaton import Automaton, Derivatives, Refuse, too_large
from structag.text.spellings import Spell

MAX_STEPS = 50_000
"""Pairs of transitions that are joined while the states of one automaton are eliminated."""


Write = Callable[[Automaton, Spell, GrammarBuilder], Ref]


def write_out(
    grammar: Grammar, refuse: Refuse, *, searches: bool, recursive: bool = True
) -> Grammar:
    """`grammar` without the operators.

    Args:
        grammar: the grammar to rewrite; the same object comes back if there is nothing to do.
        refuse: makes the error for what has no characters, such as bytes that are no UTF-8.
        searches: write `NoOccurrence` out, too.
        recursive: make rules of states; without it, one expression by state elimination, which
            can be much longer.

    Raises:
        what `refuse` makes.
        LimitError: `limit`, an automaton of more than `MAX_STATES`, or `MAX_STEPS` to eliminate it.
    """
    kinds = (And, Not, Encoded, NoOccurrence) if searches else (And, Not, Encoded)
    nodes = grammar.nodes
    outer = _outer_nodes(grammar, kinds)
    if not any(_is_operator(grammar, ref, kinds) for ref in outer):
        return grammar
    scratch, out = GrammarBuilder(), GrammarBuilder()
    scratch_rules = [scratch.rule(name) for name, _ in grammar.rules]
    rules = [out.rule(name) for name, _ in grammar.rules]
    sources: list[Ref] = []  # of every expression, in `scratch`
    copies: list[Ref] = []
    derivatives = Derivatives(scratch, refuse)
    write = _rules_of if recursive else _expression_of
    for ref, node in enumerate(nodes):
        parts = children(node)
        sources.append(rebuild(scratch, node, tuple(sources[i] for i in parts), scratch_rules))
        if ref not in outer:
            copies.append(out.empty)
        elif isinstance(node, Erase | Transparent | Distinct) or (
            searches and isinstance(node, Budget)
        ):
            raise refuse(node)  # its operand would no longer be one
        elif _is_operator(grammar, ref, kinds):
            copies.append(_written(derivatives, sources[ref], out, write))
        else:
            copies.append(rebuild(out, node, tuple(copies[i] for i in parts), rules))
    for rule, (_, body) in zip(rules, grammar.rules, strict=True):
        out.define(rule, copies[body])
    return out.build(copies[grammar.root])


def _is_operator(grammar: Grammar, ref: Ref, kinds: tuple[type, ...]) -> bool:
    node = grammar.nodes[ref]
    is_all_text = isinstance(node, Not) and isinstance(grammar.nodes[node.child], Empty)
    return isinstance(node, kinds) and not is_all_text


def _outer_nodes(grammar: Grammar, kinds: tuple[type, ...]) -> set[Ref]:
    """What is reached from the root without going into an operator; and all bodies of rules."""
    found: set[Ref] = set()
    pending = [grammar.root, *(body for _, body in grammar.rules)]
    while pending:
        ref = pending.pop()
        if ref not in found:
            found.add(ref)
            if not _is_operator(grammar, ref, kinds):
                pending.extend(children(grammar.nodes[ref]))
    return found


def _written(derivatives: Derivatives, ref: Ref, out: GrammarBuilder, write: Write) -> Ref:
    """The operator `ref` in `out`.  What is inside an `Encoded` keeps its shape where it can."""
    b = derivatives.builder
    node = b.node(ref)
    if not isinstance(node, Encoded):
        return write(derivatives.automaton(ref), spellings.plain, out)
    spell = spellings.CODECS[node.codec]
    done: dict[Ref, Ref] = {}
    pending = [node.child]
    while pending:
        at = pending.pop()
        inner = b.node(at)
        is_operator = isinstance(inner, And | Not | NoOccurrence)
        missing = [] if is_operator else [part for part in children(inner) if part not in done]
        if missing:
            pending += [at, *missing]
        elif at == b.any_text:
            done[at] = out.repeat(spell(out, charset.ALL), 0)
        elif is_operator:
            done[at] = write(derivatives.automaton(at), spell, out)
        elif isinstance(inner, Chars | Bytes | Literal):
            sets = derivatives.character_sets(inner)
            done[at] = out.seq(*(spell(out, chars) for chars in sets))
        elif isinstance(inner, Mark):
            done[at] = done[inner.child]
        elif isinstance(inner, Seq | Alt | Repeat | Epsilon | Empty):
            done[at] = rebuild(out, inner, tuple(done[part] for part in children(inner)), [])
        else:
            raise derivatives.refuse(inner)
    return done[node.child]


# -- automata to rules


def _rules_of(automaton: Automaton, spell: Spell, out: GrammarBuilder) -> Ref:
    """The rules of an automaton in `out`; what the start is there."""
    edges, ends = automaton
    if not ends[0] and not edges[0]:
        return out.empty
    uses = [0] * len(edges)
    for state, found in enumerate(edges):
        for target in found:
            uses[target] += target != state
    shared = [state for state, count in enumerate(uses) if count > 1 or (count and not state)]
    refs = {state: out.rule(f"text-{state}") for state in shared}
    for state in shared if 0 in shared else [*shared, 0]:
        body = _body(automaton, state, refs, spell, out)
        if state in refs:
            out.define(refs[state], body)
        else:
            refs[state] = body
    return refs[0]


def _body(
    automaton: Automaton, start: int, refs: dict[int, Ref], spell: Spell, out: GrammarBuilder
) -> Ref:
    """The body of `start`'s rule; states that `refs` does not have stand in their place."""
    edges, ends = automaton
    done: dict[int, Ref] = {}
    pending = [start]
    while pending:
        state = pending[-1]
        missing = [
            target
            for target in edges[state]
            if target != state and target not in refs and target not in done
        ]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        options = [out.epsilon] if ends[state] else []
        for target, chars in edges[state].items():
            if target != state:
                following = refs[target] if target in refs else done[target]
                options.append(out.seq(spell(out, chars), following))
        loop = edges[state].get(state)
        rest = out.alt(*options)
        done[state] = out.seq(out.repeat(spell(out, loop), 0), rest) if loop else rest
    return done[start]


def _expression_of(automaton: Automaton, spell: Spell, out: GrammarBuilder) -> Ref:
    """One expression for the automaton: its states are eliminated, those with few ways first."""
    edges, ends = automaton
    start, end = len(edges), len(edges) + 1
    after: list[dict[int, Ref]] = [
        {target: spell(out, chars) for target, chars in found.items()} for found in edges
    ]
    after += [{0: out.epsilon}, {}]
    for state, is_end in enumerate(ends):
        if is_end:
            after[state][end] = out.epsilon
    before: list[set[int]] = [set() for _ in after]
    for state, found in enumerate(after):
        for target in found:
            before[target].add(state)
    steps = 0
    left = set(range(len(edges)))
    while left:
        state = min(left, key=lambda state: (len(before[state]) * len(after[state]), state))
        left.remove(state)
        loop = after[state].pop(state, None)
        before[state].discard(state)
        again = out.epsilon if loop is None else out.repeat(loop, 0)
        for source in before[state]:
            way = after[source].pop(state)
            for target, rest in after[state].items():
                path = out.seq(way, again, rest)
                known = after[source].get(target)
                after[source][target] = path if known is None else out.alt(known, path)
                before[target].add(source)
                steps += 1
        if steps > MAX_STEPS:
            raise too_large(MAX_STEPS, "steps")
        for target in after[state]:
            before[target].discard(state)
    return after[start].get(end, out.empty)
