"""Rewrites the expressions of a Lark text: parts of them, and templates into rules.

A template used with arguments becomes a rule of its own, named after both; equal uses share it.
"""

from __future__ import annotations

from collections.abc import Callable

from structag.errors import GrammarError, GrammarSyntaxError, LimitError
from structag.limits import Limits
from structag.text.lark_reader import Name, RegularText, Rule, TemplateUse
from structag.text.rules import (
    Chars,
    Choice,
    Expression,
    Loop,
    Operator,
    Reference,
    Sequence,
    Text,
    operands,
)

Change = Callable[[Expression], Expression]


def rewrite(
    top: Expression, change: Change, is_atomic: Callable[[Expression], bool] | None = None
) -> Expression:
    """`top` with `change` applied to each of its parts, then to itself; not inside atomic ones."""
    done: list[Expression] = []
    pending: list[tuple[Expression, int]] = [(top, -1)]
    while pending:
        expression, count = pending.pop()
        if count < 0:
            parts = () if is_atomic and is_atomic(expression) else operands(expression)
            pending.append((expression, len(parts)))
            pending.extend((part, -1) for part in reversed(parts))
        elif count == 0:
            done.append(change(expression))
        else:
            parts = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            done.append(change(_with_operands(expression, parts)))
    return done[0]


def _with_operands(expression: Expression, parts: tuple[Expression, ...]) -> Expression:
    match expression:
        case Sequence() | Operator():
            return expression._replace(parts=parts)
        case Choice():
            return expression._replace(branches=parts)
        case Loop():
            return expression._replace(part=parts[0])
        case _:
            raise AssertionError("only what has operands gets new ones")


def expand_templates(rules: list[Rule], limits: Limits) -> list[Rule]:
    """The rules without templates: each use of one has become a reference to its own rule.

    Raises:
        GrammarError: `grammar-undefined`, a template that there is not.
        GrammarSyntaxError: `grammar-syntax`, the wrong number of arguments.
        LimitError: `limit`, a template that uses itself with ever new arguments.
    """
    return _Expansion(rules, limits).expand()


class _Expansion:
    def __init__(self, rules: list[Rule], limits: Limits) -> None:
        self.rules = rules
        self.limits = limits
        self.size = 0  # of the names made, which grow with the arguments
        self.templates = {rule.name.text: rule for rule in rules if rule.parameters}
        self.made: dict[str, Rule] = {}
        self.waiting: list[tuple[Rule, dict[str, Expression], str]] = []

    def expand(self) -> list[Rule]:
        plain = [
            rule._replace(body=rewrite(rule.body, lambda part: self._changed(part, {})))
            for rule in self.rules
            if not rule.parameters
        ]
        while self.waiting:
            template, arguments, name = self.waiting.pop()
            body = rewrite(
                template.body,
                lambda part, arguments=arguments: self._changed(part, arguments),  # type: ignore[misc]
            )
            self.made[name] = Rule(Name(name, template.name.span), (), body)
        return plain + list(self.made.values())

    def _changed(self, part: Expression, arguments: dict[str, Expression]) -> Expression:
        if isinstance(part, Reference):
            if part.name in self.templates and part.name not in arguments:
                raise _wrong_count(part.name, len(self.templates[part.name].parameters), 0, part)
            return arguments.get(part.name, part)
        if isinstance(part, Operator) and isinstance(part.combine, TemplateUse):
            return self._use(part, part.combine.name)
        return part

    def _use(self, part: Operator, name: str) -> Expression:
        template = self.templates.get(name)
        if template is None:
            raise GrammarError(
                f"there is no template `{name}`",
                code="grammar-undefined",
                span=part.span,
                hint=f"define `{name}{{…}}`, with parameters",
            )
        if len(part.parts) != len(template.parameters):
            raise _wrong_count(name, len(template.parameters), len(part.parts), part)
        used = f"{name}{{{', '.join(map(_spell, part.parts))}}}"
        if used not in self.made:
            self.size += len(used)
            if self.size > self.limits.max_expressions:
                raise LimitError(
                    f"the template `{name}` is used with ever new arguments",
                    limit="expressions",
                    value=self.limits.max_expressions,
                    setting="max_expressions",
                    span=part.span,
                )
            self.made[used] = template
            names = (parameter.text for parameter in template.parameters)
            self.waiting.append((template, dict(zip(names, part.parts, strict=True)), used))
        return Reference(used, part.span)


def _wrong_count(name: str, need: int, got: int, part: Expression) -> GrammarSyntaxError:
    return GrammarSyntaxError(
        f"the template `{name}` is used with {got} arguments",
        code="grammar-syntax",
        span=part.span,
        expected=f"{need}",
    )


def _spell(argument: Expression) -> str:
    """The argument without its place; equal arguments are spelled equally."""
    match argument:
        case Reference(name):
            return name
        case Text(text):
            return repr(text)
        case Chars(ranges):
            return repr(ranges)
        case Operator(_, RegularText(pattern=pattern)):
            return f"/{pattern}/"
        case Sequence(parts):
            return " ".join(map(_spell, parts))
        case _:
            return repr(argument)
