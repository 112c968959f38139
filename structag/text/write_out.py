"""Writes regular operators out as rules: what `And`, `Not` and `Encoded` mean, said without them.

Notations have no intersection, complement or escaping.  A regular language needs none: here the
operand becomes a deterministic automaton by derivatives (J. Brzozowski, 1964) over classes of
characters, the automaton is made minimal, and each of its states becomes a rule,

    state ::= [characters] other-state | … | ""

with a loop as a repeat and a state that is used once in its place.  `Encoded` writes each
character of a transition in all its spellings.  The language stays the same; the structure, and so
the fingerprint, does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from structag.errors import LimitError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    MAX_CODE_POINT,
    Alt,
    And,
    Budget,
    Bytes,
    Chars,
    Empty,
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
    Seq,
    children,
)
from structag.grammar.transplant import rebuild
from structag.grammar.utf8 import byte_ranges
from structag.text import charset, spellings
from structag.text.charset import CharSet
from structag.text.spellings import Spell

MAX_STATES = 5_000
"""States of one automaton; more is refused."""

MAX_STEPS = 50_000
"""Pairs of transitions that are joined while the states of one automaton are eliminated."""

Refuse = Callable[[Node], Exception]
Edges = dict[int, CharSet]


class Automaton(NamedTuple):
    """Deterministic, minimal, every state leading to an end; state 0 is the start."""

    edges: list[Edges]  # by state: following state -> the characters that lead there
    ends: list[bool]


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
    derivatives = _Derivatives(scratch, refuse)
    write = _rules_of if recursive else _expression_of
    for ref, node in enumerate(nodes):
        parts = children(node)
        sources.append(rebuild(scratch, node, tuple(sources[i] for i in parts), scratch_rules))
        if ref not in outer:
            copies.append(out.empty)
        elif isinstance(node, Erase) or (searches and isinstance(node, Budget)):
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


def _written(derivatives: _Derivatives, ref: Ref, out: GrammarBuilder, write: Write) -> Ref:
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


# -- expressions to automata


class _Derivatives:
    """Derivatives by characters, of expressions in one builder."""

    def __init__(self, builder: GrammarBuilder, refuse: Refuse) -> None:
        self.builder = builder
        self.refuse = refuse
        self.cuts: dict[Ref, frozenset[int]] = {}
        self.known: dict[tuple[Ref, int], Ref] = {}

    def automaton(self, start: Ref) -> Automaton:
        """The minimal automaton of `start`."""
        start = self._plain_parts(start)
        numbers = {start: 0}
        order = [start]
        edges: list[Edges] = []
        for ref in order:  # grows while it is read
            found: Edges = {}
            bounds = sorted(self._cuts(ref) | {0, 0xD800, 0xE000})
            for low, following in zip(bounds, [*bounds[1:], MAX_CODE_POINT + 1], strict=True):
                if low == 0xD800 or low > MAX_CODE_POINT:
                    continue
                target = self._derive(ref, low)
                if target == self.builder.empty:
                    continue
                if target not in numbers:
                    numbers[target] = len(order)
                    order.append(target)
                    if len(order) > MAX_STATES:
                        raise _too_large()
                number = numbers[target]
                found[number] = charset.union([*found.get(number, ()), (low, following - 1)])
            edges.append(found)
        return _minimal(edges, [bool(self.builder.is_nullable(ref)) for ref in order])

    def _plain_parts(self, ref: Ref) -> Ref:
        """`ref` without marks, and with searches as complements."""
        b = self.builder
        done: dict[Ref, Ref] = {}
        pending = [ref]
        while pending:
            at = pending[-1]
            node = b.node(at)
            missing = [part for part in children(node) if part not in done]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            parts = tuple(done[part] for part in children(node))
            if isinstance(node, Mark):
                done[at] = parts[0]
            elif isinstance(node, NoOccurrence):
                words = b.alt(*(b.literal(pattern) for pattern in node.patterns))
                done[at] = self._complement(b.seq(b.any_text, words, b.any_text))
            elif isinstance(node, Not):
                done[at] = self._complement(parts[0])
            elif isinstance(node, And):
                done[at] = self._both(parts)
            else:
                done[at] = rebuild(b, node, parts, [])
        return done[ref]

    def _cuts(self, ref: Ref) -> frozenset[int]:
        """Where the classes of characters begin that `ref` may tell apart at its start."""
        found = self.cuts.get(ref)
        if found is None:
            found = self.cuts[ref] = frozenset(self._new_cuts(ref))
        return found

    def _new_cuts(self, ref: Ref) -> Iterable[int]:
        b = self.builder
        match node := b.node(ref):
            case Literal():
                return _edges([(ord(self._text(node)[0]),) * 2])
            case Chars(ranges):
                return _edges(ranges)
            case Bytes():
                return _edges(self._byte_chars(node))
            case Seq(parts):
                cuts: set[int] = set()
                for part in parts:
                    cuts |= self._cuts(part)
                    if not b.is_nullable(part):
                        break
                return cuts
            case Alt() | And() | Not() | Repeat():
                return {cut for part in children(node) for cut in self._cuts(part)}
            case Empty() | Epsilon():
                return ()
            case _:
                raise self.refuse(node)

    def _derive(self, ref: Ref, char: int) -> Ref:
        key = (ref, char)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._new_derivative(ref, char)
        return found

    def _new_derivative(self, ref: Ref, char: int) -> Ref:
        b = self.builder
        match node := b.node(ref):
            case Literal():
                text = self._text(node)
                return b.literal(text[1:].encode()) if ord(text[0]) == char else b.empty
            case Chars(ranges):
                return b.epsilon if any(low <= char <= high for low, high in ranges) else b.empty
            case Bytes(members):
                return b.epsilon if char < 128 and members >> char & 1 else b.empty
            case Seq(parts):
                options: list[Ref] = []
                for index, part in enumerate(parts):
                    options.append(self._seq(self._derive(part, char), parts[index + 1 :]))
                    if not b.is_nullable(part):
                        break
                return self._alt(options)
            case Alt(parts):
                return self._alt([self._derive(part, char) for part in parts])
            case Repeat(child, low, high):
                rest = b.repeat(child, max(low - 1, 0), None if high is None else high - 1)
                return self._seq(self._derive(child, char), (rest,))
            case And(parts):
                return self._both([self._derive(part, char) for part in parts])
            case Not(child):
                return self._complement(self._derive(child, char))
            case _:
                return b.empty

    # Constructors that fold what would make states that look different and are the same.

    def _seq(self, first: Ref, rest: Sequence[Ref]) -> Ref:
        b = self.builder
        if first == b.any_text and rest and rest[0] == first:
            rest = rest[1:]
        return b.seq(first, *rest)

    def _alt(self, parts: Sequence[Ref]) -> Ref:
        b = self.builder
        return b.any_text if b.any_text in parts else b.alt(*parts)

    def _both(self, parts: Iterable[Ref]) -> Ref:
        b = self.builder
        kept: set[Ref] = set()
        for part in parts:
            node = b.node(part)
            kept.update(node.parts if isinstance(node, And) else (part,))
        if b.empty in kept:
            return b.empty
        kept.discard(b.any_text)
        return b.both(*kept) if kept else b.any_text

    def _complement(self, child: Ref) -> Ref:
        node = self.builder.node(child)
        return node.child if isinstance(node, Not) else self.builder.complement(child)

    def character_sets(self, node: Chars | Bytes | Literal) -> list[CharSet]:
        """The characters that a leaf stands for, one set for each."""
        match node:
            case Chars(ranges):
                return [ranges]
            case Literal():
                return [((ord(char), ord(char)),) for char in self._text(node)]
            case Bytes():
                return [self._byte_chars(node)]

    def _text(self, node: Literal) -> str:
        try:
            return node.data.decode()
        except UnicodeDecodeError:
            raise self.refuse(node) from None

    def _byte_chars(self, node: Bytes) -> CharSet:
        if node.members >= 1 << 128:
            raise self.refuse(node)
        return tuple(byte_ranges(node.members))


def _edges(ranges: Iterable[tuple[int, ...]]) -> set[int]:
    return {edge for low, high in ranges for edge in (low, high + 1)}


def _too_large(value: int = MAX_STATES, unit: str = "states") -> LimitError:
    return LimitError(
        f"an operator that needs more than {value:,} {unit} when written out",
        limit=unit,
        value=value,
        setting="max_expressions",
    )


def _minimal(edges: list[Edges], ends: list[bool]) -> Automaton:
    """Without states that lead nowhere, and with equal states joined."""
    live = _leading_to_an_end(edges, ends)
    edges = [
        {target: chars for target, chars in found.items() if target in live} for found in edges
    ]
    classes = [int(end) for end in ends]
    count = 0
    while True:
        signatures = [
            (classes[state], tuple(sorted(_by_class(found, classes).items())))
            for state, found in enumerate(edges)
        ]
        names: dict[object, int] = {}
        classes = [names.setdefault(signature, len(names)) for signature in signatures]
        if len(names) == count:
            break
        count = len(names)
    joined: list[Edges] = [{} for _ in range(count)]
    joined_ends = [False] * count
    for state, number in enumerate(classes):
        joined[number] = _by_class(edges[state], classes)
        joined_ends[number] = ends[state]
    return Automaton(joined, joined_ends)


def _by_class(found: Edges, classes: Sequence[int]) -> Edges:
    joined: Edges = {}
    for target, chars in found.items():
        number = classes[target]
        joined[number] = charset.union([*joined.get(number, ()), *chars])
    return joined


def _leading_to_an_end(edges: list[Edges], ends: list[bool]) -> set[int]:
    before: list[list[int]] = [[] for _ in edges]
    for state, found in enumerate(edges):
        for target in found:
            before[target].append(state)
    live = {state for state, end in enumerate(ends) if end}
    pending = list(live)
    while pending:
        for state in before[pending.pop()]:
            if state not in live:
                live.add(state)
                pending.append(state)
    return live


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
            raise _too_large(MAX_STEPS, "steps")
        for target in after[state]:
            before[target].discard(state)
    return after[start].get(end, out.empty)
