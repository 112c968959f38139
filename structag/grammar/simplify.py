"""Establishes what the native core relies on, without changing the language.

After `simplify_grammar`:

- everything reachable is productive (`properties`), but for the cases of a `Scan`, where a trigger
  that leads nowhere still ends the text;
- no repeat has a nullable child (``(e*){2,5}`` becomes ``(e⁺){0,5}``), nor has a list a nullable
  member;
- no rule is left-recursive (`left_recursion`).

A grammar that satisfies this already is returned as it is, mostly after one pass of cheap checks
(what is unreachable then stays; `pack` leaves it out).  Bind the vocabulary first
(`structag.grammar.bind`): rewriting may bring marker literals together.
"""

from __future__ import annotations

from structag.errors import GrammarError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    Empty,
    Erase,
    Grammar,
    Node,
    Ref,
    Repeat,
    Rule,
    Scan,
    Tally,
    Unordered,
    children,
)
from structag.grammar.left_recursion import (
    MAX_EXPRESSIONS,
    left_recursive_components,
    remove_left_recursion,
)
from structag.grammar.properties import (
    nullable_nodes,
    productive_nodes,
    reachable_nodes,
)
from structag.grammar.rewriter import Rewriter, compact
from structag.grammar.transplant import rebuild


def simplify_grammar(grammar: Grammar, max_expressions: int = MAX_EXPRESSIONS) -> Grammar:
    """`grammar` in the form that the native core needs; the same object if it has that form.

    Raises:
        LimitError: more than `max_expressions` once left recursion is removed.
        GrammarError: `grammar-empty`, the grammar derives nothing; `grammar-operand`, a member of
            an unordered or counted list derives the empty sequence, or a token budget stands where
            it would have to be made non-empty.
    """
    if grammar.native.is_simple:
        return grammar
    simple = _drop_unproductive(grammar)
    for step in (_remove_nullable_repeats, remove_left_recursion):
        following = step(simple, max_expressions)
        if following is not simple:
            simple = _drop_unproductive(following)
    if simple is grammar and simple.rules:
        flags = reachable_nodes(grammar)
        used = sum(1 for ref, node in enumerate(grammar.nodes) if flags[ref] and type(node) is Rule)
        if used < len(grammar.rules):
            return compact(grammar)
    return simple


def check_preconditions(grammar: Grammar) -> None:
    """Assert what `simplify_grammar` promises; for tests."""
    flags = reachable_nodes(grammar)
    nullable = nullable_nodes(grammar)
    productive = productive_nodes(grammar)
    assert productive[grammar.root], "the grammar is empty"
    for ref, node in enumerate(grammar.nodes):
        if flags[ref]:
            assert not _nullable_operands(node, nullable), f"{node} has a nullable operand"
            if isinstance(node, Rule | Alt):
                parts = children(node) or (ref,)
                assert all(productive[part] for part in parts), f"{node} is unproductive"
    assert not left_recursive_components(grammar, nullable), "a rule is left-recursive"


def _nullable_operands(node: Node, nullable: bytearray) -> list[Ref]:
    """The operands of `node` that must not be nullable and are."""
    match node:
        case Repeat(child):
            return [child] if nullable[child] else []
        case Unordered(members, rest):
            refs = [ref for ref, _ in members] + ([] if rest is None else [rest])
            return [ref for ref in refs if nullable[ref]]
        case Tally(kinds):
            return [ref for ref, _, _ in kinds if nullable[ref]]
        case _:
            return []


# -- nullable repeats


def _remove_nullable_repeats(grammar: Grammar, max_expressions: int) -> Grammar:
    nullable = nullable_nodes(grammar)
    flags = reachable_nodes(grammar)
    lists = (Repeat, Unordered, Tally)
    concerned = [
        node
        for node, flag in zip(grammar.nodes, flags, strict=True)
        if flag and type(node) in lists and _nullable_operands(node, nullable)
    ]
    if not concerned:
        return grammar
    if any(not isinstance(node, Repeat) for node in concerned):
        raise GrammarError(
            "a member of an unordered or counted list derives the empty string",
            code="grammar-operand",
            expected="members of at least one byte or token",
        )
    grammar = compact(grammar)  # what is unreachable may have operands that no list can have
    nullable = nullable_nodes(grammar)
    counts = [node.count for node in grammar.nodes if isinstance(node, Erase)]
    rewriter = Rewriter(max_expressions, max(counts, default=0))
    copies: list[Ref] = []
    rules = _copied_rules(grammar, rewriter, nullable, copies)
    for node in grammar.nodes:
        refs = tuple(copies[ref] for ref in children(node))
        if isinstance(node, Repeat) and nullable[node.child]:
            copies.append(rewriter.builder.repeat(rewriter.nonempty(refs[0]), 0, node.max))
        else:
            copies.append(rebuild(rewriter.builder, node, refs, rules))
    return rewriter.finish(copies[grammar.root])


def _copied_rules(
    grammar: Grammar, rewriter: Rewriter, nullable: bytearray, copies: list[Ref]
) -> list[Ref]:
    def make(name: str, body: Ref) -> Ref:
        return rewriter.rule(name, bool(nullable[body]), lambda: copies[body])

    return [make(name, body) for name, body in grammar.rules]


# -- productivity


def _drop_unproductive(grammar: Grammar) -> Grammar:
    nodes = grammar.nodes
    if not grammar.rules and not _may_be_unproductive(grammar):
        return grammar
    productive = productive_nodes(grammar)
    if not productive[grammar.root]:
        raise _empty_grammar(grammar, productive)
    flags = reachable_nodes(grammar)
    empties = {ref for ref, node in enumerate(nodes) if type(node) is Empty}
    if all(productive[ref] or not flags[ref] or ref in empties for ref in range(len(nodes))):
        return grammar
    b = GrammarBuilder()
    rules = [b.rule(name) if productive[body] else b.empty for name, body in grammar.rules]
    copies: list[Ref] = []
    for ref, node in enumerate(nodes):
        refs = tuple(copies[child] for child in children(node))
        if not productive[ref]:
            copies.append(b.empty)
        elif isinstance(node, Unordered | Tally) and not productive[node.separator]:
            copies.append(_at_most_one(b, node, refs))
        else:
            copies.append(rebuild(b, node, refs, rules))
    for rule, (_, body) in zip(rules, grammar.rules, strict=True):
        if rule != b.empty:
            b.define(rule, copies[body])
    return compact(b.build(copies[grammar.root]))


def _may_be_unproductive(grammar: Grammar) -> bool:
    """Without rules, only what takes `Empty` as an operand can derive nothing."""
    if type(grammar.nodes[grammar.root]) is Empty:
        return True
    for node in grammar.nodes:
        kind = type(node)
        if (kind is Scan or kind is Unordered or kind is Tally) and any(
            type(grammar.nodes[ref]) is Empty for ref in children(node)
        ):
            return True
    return False


def _at_most_one(b: GrammarBuilder, node: Unordered | Tally, refs: tuple[Ref, ...]) -> Ref:
    """A list that can have one item at most, because nothing can stand between two."""
    options: list[Ref] = []
    if isinstance(node, Unordered):
        required = [ref for ref, (_, need) in zip(refs, node.members, strict=False) if need]
        if required:
            return required[0] if len(required) == 1 else b.empty
        return b.alt(b.epsilon, *refs[:-1])
    least = sum(low for _, low, _ in node.kinds)
    if least == 0 and node.min == 0:
        options.append(b.epsilon)
    if least <= 1 and node.min <= 1 and (node.max is None or node.max >= 1):
        for ref, (_, low, high) in zip(refs, node.kinds, strict=False):
            if low == least and high != 0:
                options.append(ref)
    return b.alt(*options)


def _empty_grammar(grammar: Grammar, productive: bytearray) -> GrammarError:
    """The error that says which rules derive nothing, and why."""
    chain: list[str] = []
    seen: dict[Ref, int] = {}
    ref: Ref | None = grammar.root
    while ref is not None and ref not in seen:
        node = grammar.nodes[ref]
        if isinstance(node, Rule):
            seen[ref] = len(chain)
            name, body = grammar.rules[node.index]
            chain.append(name)
            ref = (
                body
                if isinstance(grammar.nodes[body], Rule)
                else _culprit(grammar, body, productive)
            )
        else:
            ref = _culprit(grammar, ref, productive)
    if not chain:
        reason = "it has no alternative that can be completed"
    elif ref is None:
        reason = f"rule `{chain[-1]}` has no alternative that can be completed"
    else:
        cycle = chain[seen[ref] :]
        if len(cycle) == 1:
            reason = f"rule `{cycle[0]}` only refers to itself"
        else:
            named = ", ".join(f"`{name}`" for name in cycle[:8])
            more = f" and {len(cycle) - 8} others" if len(cycle) > 8 else ""
            reason = f"the rules {named}{more} only refer to each other"
    return GrammarError(
        f"the grammar derives no string: {reason}",
        code="grammar-empty",
        hint="give it an alternative that ends",
    )


def _culprit(grammar: Grammar, root: Ref, productive: bytearray) -> Ref | None:
    """The first rule under `root` that keeps it from deriving anything."""
    seen = {root}
    pending = [root]
    while pending:
        ref = pending.pop()
        node = grammar.nodes[ref]
        if isinstance(node, Rule):
            return ref
        for child in reversed(children(node)):
            if not productive[child] and child not in seen:
                seen.add(child)
                pending.append(child)
    return None
