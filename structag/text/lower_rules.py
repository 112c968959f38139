"""Lowers a `RuleGrammar` to a `Grammar`: names, recursion, and what is worth a warning.

Each rule becomes a rule of the grammar, which costs the same however often it is used; one with
`Definition.inline` stands for its body instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from structag.errors import (
    GrammarError,
    GrammarSyntaxError,
    LimitError,
    StructagError,
    VocabularyError,
)
from structag.grammar import expressions
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.left_recursion import strongly_connected
from structag.grammar.properties import productive_nodes
from structag.limits import Limits
from structag.text.rules import (
    Chars,
    Choice,
    Definition,
    Expression,
    GrammarWarning,
    Loop,
    Operator,
    Reference,
    RuleGrammar,
    Text,
    Token,
    TokenIds,
    operands,
)
from structag.text.rules import Sequence as Series

_ABSORBED = (expressions.Seq, expressions.Alt, expressions.Literal, expressions.Repeat)


class Lowered(NamedTuple):
    """A grammar, and what its text probably did not mean."""

    grammar: Grammar
    warnings: tuple[GrammarWarning, ...]


def lower_rules(
    rules: RuleGrammar,
    limits: Limits | None = None,
    token_ids: TokenIds | None = None,
    *,
    origins: bool = False,
) -> Lowered:
    """The grammar of `rules`, in a builder of its own; `token_ids` finds named tokens.

    With `origins` everything is marked with the name of its rule.

    Raises:
        GrammarSyntaxError: `grammar-syntax`, a rule that is defined twice.
        GrammarError: `grammar-undefined`; `grammar-empty`, with the rules that never end;
            `grammar-operand`, an operator whose operand it does not allow.
        VocabularyError: `vocabulary-value`, a token that the vocabulary does not have.
        LimitError: `limit`, inlined rules that grow past `Limits.max_expressions`.
    """
    return _Lowering(rules, limits or Limits(), token_ids, origins).lower()


def walk(top: Expression) -> Iterator[Expression]:
    """`top` and everything it is made of."""
    pending = [top]
    while pending:
        expression = pending.pop()
        yield expression
        pending.extend(reversed(operands(expression)))


class _Lowering:
    def __init__(
        self, rules: RuleGrammar, limits: Limits, token_ids: TokenIds | None, origins: bool
    ) -> None:
        self.rules = rules
        self.token_ids = token_ids
        self.limits = limits
        self.builder = GrammarBuilder(origins=origins)
        self.numbers = self._number_definitions()
        self.references = [self._references(definition) for definition in rules.definitions]
        self.refs: dict[str, Ref] = {}  # what a reference to a rule becomes
        self.bodies: dict[str, Ref] = {}
        self.sizes: dict[str, int] = {}  # of inlined rules
        self.branches: list[tuple[Choice, list[Ref]]] = []

    def lower(self) -> Lowered:
        if self.rules.root not in self.numbers:
            raise self._undefined(self.rules.root, (0, 0))
        used = self._lower_definitions()
        grammar = self.builder.build(self.refs[self.rules.root])
        productive = productive_nodes(grammar)
        if not productive[grammar.root]:
            raise self._empty(productive)
        return Lowered(grammar, tuple(sorted(self._warnings(used, productive), key=_place)))

    # -- names

    def _number_definitions(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for number, definition in enumerate(self.rules.definitions):
            first = numbers.setdefault(definition.name, number)
            if first != number:
                line, _ = self.rules.source.line_column(self.rules.definitions[first].span[0])
                raise GrammarSyntaxError(
                    f"rule `{definition.name}` is defined twice, first in line {line}",
                    code="grammar-syntax",
                    span=definition.span,
                    hint="join the two with `|`, or rename one",
                )
        return numbers

    def _references(self, definition: Definition) -> list[int]:
        found: dict[int, None] = {}
        for expression in walk(definition.body):
            if isinstance(expression, Reference):
                number = self.numbers.get(expression.name)
                if number is None:
                    raise self._undefined(expression.name, expression.span)
                found[number] = None
        return list(found)

    def _undefined(self, name: str, span: tuple[int, int]) -> GrammarError:
        close = get_close_matches(name, list(self.numbers)[:1000], 1)
        guess = f"; did you mean `{close[0]}`?" if close else ""
        what = (
            "is used but not defined" if span != (0, 0) else "is missing: the grammar starts there"
        )
        return GrammarError(
            f"rule `{name}` {what}",
            code="grammar-undefined",
            span=span,
            hint=f"add a definition of `{name}`{guess}",
        )

    # -- rules

    def _lower_definitions(self) -> set[int]:
        """Lower all rules, those first that others refer to; the rules that the root needs."""
        start = self.numbers[self.rules.root]
        groups = strongly_connected([start], self.references.__getitem__)
        used = {number for group in groups for number in group}
        groups += [
            group
            for group in strongly_connected(
                range(len(self.references)), self.references.__getitem__
            )
            if group[0] not in used
        ]
        for group in groups:
            if len(group) == 1 and group[0] not in self.references[group[0]]:
                self._lower_plain(self.rules.definitions[group[0]])
            else:
                self._lower_recursive([self.rules.definitions[number] for number in sorted(group)])
        return used

    def _lower_plain(self, definition: Definition) -> None:
        b, name = self.builder, definition.name
        body = self.bodies[name] = self._expression(definition.body)
        if not definition.inline:
            b.define(self._new_rule(name), body)
            return
        size = sum(
            self.sizes.get(part.name, 1) if isinstance(part, Reference) else 1
            for part in walk(definition.body)
        )
        if size > self.limits.max_expressions:
            raise self._too_large(definition)
        self.sizes[name] = size
        # A mark keeps the parts of the body from becoming parts of what surrounds it.
        is_marked = b.origins or isinstance(b.node(body), _ABSORBED)
        self.refs[name] = b.mark(name, body) if is_marked else body

    def _lower_recursive(self, group: list[Definition]) -> None:
        for definition in group:
            if definition.inline:
                raise GrammarError(
                    f"`{definition.name}` refers to itself",
                    code="grammar-operand",
                    span=definition.span,
                    expected="a regular expression: only rules can be recursive",
                )
        rules = [self._new_rule(definition.name) for definition in group]
        for rule, definition in zip(rules, group, strict=True):
            body = self.bodies[definition.name] = self._expression(definition.body)
            self.builder.define(rule, body)

    def _new_rule(self, name: str) -> Ref:
        """A rule without a body, known by its name; the mark is around what refers to it."""
        rule = self.builder.rule(name)
        self.refs[name] = self.builder.origin(name, rule)
        return rule

    def _too_large(self, definition: Definition) -> LimitError:
        return LimitError(
            f"`{definition.name}` with all it refers to is too large",
            limit="expressions",
            value=self.limits.max_expressions,
            setting="max_expressions",
            span=definition.span,
        )

    # -- expressions

    def _expression(self, top: Expression) -> Ref:
        done: list[Ref] = []
        pending: list[tuple[Expression, int]] = [(top, -1)]
        while pending:
            expression, count = pending.pop()
            if count < 0:
                parts = operands(expression)
                pending.append((expression, len(parts)))
                pending.extend((part, -1) for part in reversed(parts))
            else:
                refs = done[len(done) - count :]
                del done[len(done) - count :]
                done.append(self._combine(expression, refs))
        return done[0]

    def _combine(self, expression: Expression, refs: Sequence[Ref]) -> Ref:
        b = self.builder
        match expression:
            case Text(text):
                return b.literal(text.encode())
            case Chars(ranges):
                return b.chars(ranges)
            case Reference(name):
                return self.refs[name]
            case Series():
                return b.seq(*refs)
            case Choice():
                self.branches.append((expression, list(refs)))
                return b.alt(*refs)
            case Loop(_, low, high):
                return b.repeat(refs[0], low, high)
            case Token(tokens, negated):
                return b.tokens(
                    [self._token(expression, token) for token in tokens], negated=negated
                )
            case Operator(_, combine, span):
                try:
                    return combine(b, refs)
                except StructagError as error:
                    error.span = error.span or span
                    raise

    def _token(self, expression: Token, token: int | str) -> int:
        if isinstance(token, int) and self.token_ids is None:
            return token
        found = None if self.token_ids is None else self.token_ids(token)
        if found is None:
            known = (
                "no vocabulary is given" if self.token_ids is None else "the vocabulary has none"
            )
            by_name = isinstance(token, str)
            raise VocabularyError(
                f"there is no token `{token}`: {known}",
                code="vocabulary-value",
                span=expression.span,
                expected=None if by_name else "the id of a token that is in use",
                hint="write the text as a string if it need not be one token" if by_name else None,
            )
        return found

    # -- what derives nothing, and what is not needed

    def _warnings(self, used: set[int], productive: bytearray) -> Iterator[GrammarWarning]:
        for number, (name, _, span, _) in enumerate(self.rules.definitions):
            if number not in used:
                yield GrammarWarning("unused-rule", f"rule `{name}` is never used", span)
            elif not productive[self.bodies[name]]:
                message = f"rule `{name}` derives nothing: it never ends"
                yield GrammarWarning("empty-rule", message, span)
        for choice, refs in self.branches:
            seen: set[Ref] = set()
            for branch, ref in zip(choice.branches, refs, strict=True):
                if not productive[ref]:
                    message = "this alternative can never be completed"
                    yield GrammarWarning("dead-alternative", message, branch.span)
                elif ref in seen:
                    message = "this alternative repeats an earlier one"
                    yield GrammarWarning("repeated-alternative", message, branch.span)
                seen.add(ref)

    def _empty(self, productive: bytearray) -> GrammarError:
        """The error for a start rule that derives nothing: the cycle that does not end."""
        name = self.rules.root
        chain: list[str] = []
        while name not in chain:
            chain.append(name)
            following = self._culprit(name, productive)
            if following is None:
                reason = f"no alternative of `{name}` can be completed"
                break
            name = following
        else:
            cycle = chain[chain.index(name) :]
            if len(cycle) == 1:
                reason = f"every alternative of `{name}` needs `{name}` again"
            else:
                named = ", ".join(f"`{part}`" for part in cycle[:8])
                more = f" and {len(cycle) - 8} others" if len(cycle) > 8 else ""
                reason = f"the rules {named}{more} only refer to each other"
        return GrammarError(
            f"the grammar derives no string: {reason}",
            code="grammar-empty",
            span=self.rules.definitions[self.numbers[name]].span,
            hint="give it an alternative that ends",
        )

    def _culprit(self, name: str, productive: bytearray) -> str | None:
        """The first rule that `name` needs and that derives nothing."""
        for expression in walk(self.rules.definitions[self.numbers[name]].body):
            if isinstance(expression, Reference) and not productive[self.bodies[expression.name]]:
                return expression.name
        return None


def _place(warning: GrammarWarning) -> tuple[int, int]:
    return warning.span
