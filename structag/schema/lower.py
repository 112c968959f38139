"""Lowers JSON Schemas to grammars of JSON text.

`Lowering.value` turns a goal into an expression: expand, then lower each type's alternatives.
What it did is remembered per goal; a goal met again while it is being lowered becomes a rule, and
so does one that lies too deep, which is then lowered later from a queue, so that the depth of a
schema costs no Python frames.

Sound, and deliberately not complete: members come in the schema's order unless
`SchemaOptions.property_order` lifts that, whitespace is bounded, numbers are spelled as
`structag.schema.numbers` says, and an `enum` or `const` of objects follows the same rules as any
object.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from structag.cache import content_copy, value_of_copy
from structag.errors import GrammarError, SchemaError, StructagError, nesting_error
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.grammar.fragments import Note
from structag.limits import Limits
from structag.schema.arrays import lower_array
from structag.schema.direct import MAX_DEPTH, Direct, has_short_way, lone_target
from structag.schema.document import Document, unsupported
from structag.schema.expand import Expander
from structag.schema.facts import (
    ANY,
    Forms,
    Goal,
    NumberFacts,
    ObjectFacts,
    none_or_some,
)
from structag.schema.multiples import FactorError, lower_nearest
from structag.schema.notation import MAX_LEVELS, IndentedNotation, JsonNotation, Notation
from structag.schema.numbers import Numbers
from structag.schema.objects import inside
from structag.schema.options import SchemaOptions
from structag.schema.plain import goal_of
from structag.schema.report import Report
from structag.schema.strings import decoded

_NAMED_PARTS = 3
"""Schemas of a conjunction that are named where it comes from."""
MAX_EXPLAINED = 20_000
"""Schemas and conjuncts that are expanded to say why a schema has no value."""
MAX_CLASHES = 8
"""Keywords that are named where they clash."""


def lower_schema(
    schema: dict[str, Any] | bool,
    builder: GrammarBuilder,
    options: SchemaOptions | None = None,
    *,
    pointer: str = "",
    limits: Limits | None = None,
) -> Ref:
    """The JSON texts of the values that satisfy `schema`.

    `schema` is parsed JSON (see `structag.source.read_json`), or a Python value like it; `pointer`
    is put before the pointers in errors.

    Raises:
        SchemaError: `schema-value`, `schema-reference`, `schema-unsatisfiable`.
        UnsupportedError: `schema-keyword`, a keyword that cannot be enforced; `regex-feature`.
        GrammarSyntaxError: `regex-syntax`, a `pattern` is no pattern.
        LimitError: `nesting-limit`.
    """
    options, limits = options or SchemaOptions(), limits or Limits()
    if type(schema) is not dict and type(schema) is not bool:
        raise SchemaError(
            "a schema is neither an object nor a boolean",
            code="schema-value",
            pointer=pointer,
            expected="an object or a boolean",
        )
    try:
        short = _short_way(schema, builder, options, limits, pointer)
        way = short or _long_way(schema, builder, options, limits, pointer)
        return way.root()
    except SchemaError as error:
        if error.code == "schema-unsatisfiable":
            _explain(error, schema, way.lowering)
        raise
    except RecursionError:
        raise nesting_error(
            "the schema's applicators are nested too deeply",
            limits.max_nesting,
            pointer=pointer,
        ) from None


def _short_way(
    schema: dict[str, Any] | bool,
    builder: GrammarBuilder,
    options: SchemaOptions,
    limits: Limits,
    pointer: str,
) -> Direct | None:
    """The short way, if it may be taken: what it reads is in no report but one made later."""
    if type(schema) is not dict or builder.origins or not has_short_way(options, limits):
        return None
    copy = content_copy(schema)
    if copy is None:
        return None

    def other_way(read: set[int]) -> Lowering:
        document = Document(schema, limits, pointer)
        expander = Expander(document, builder, options, limits, Report())
        expander.read_directly = read
        return Lowering(document, builder, options, limits, expander=expander)

    report = Report.later(partial(_report, copy, options, limits, pointer))
    builder.notes.append(Note("", report))
    any_value = partial(any_json, builder, options, limits)
    return Direct(schema, builder, options, limits, any_value, other_way)


def _long_way(
    schema: dict[str, Any] | bool,
    builder: GrammarBuilder,
    options: SchemaOptions,
    limits: Limits,
    pointer: str,
) -> Lowering:
    document = Document(schema, limits, pointer, options.registry)
    lowering = Lowering(document, builder, options, limits)
    lowering.expander.report.restrict(document.root, "", _spelling(options))
    return lowering


def any_json(builder: GrammarBuilder, options: SchemaOptions, limits: Limits) -> Ref:
    """JSON texts of any value: made once for all that share fragments."""

    def lower(builder: GrammarBuilder) -> Ref:
        document = Document(True, limits)
        expander = Expander(document, builder, options, limits, Report())
        return Lowering(document, builder, options, limits, None, expander).rule_of_any()

    key = ("json-value", options.max_whitespace, options.separators,
           options.property_order, options.integer_decimals)  # fmt: skip
    return builder.fragment(key, lower, is_operand=False)


def of_schema(error: GrammarError) -> StructagError:
    """What an error of a whole grammar says of the schema that it comes from."""
    if error.code != "grammar-empty":
        return error
    return SchemaError(
        "no finite value satisfies the schema",
        code="schema-unsatisfiable",
        pointer="",
        hint="look for recursion without an end, and for more different items than exist",
    )


def _report(copy: bytes, options: SchemaOptions, limits: Limits, pointer: str) -> Report:
    """What became of the keywords of a schema, which is lowered once more for that."""
    lowering = _long_way(value_of_copy(copy), GrammarBuilder(), options, limits, pointer)
    lowering.root()
    return lowering.expander.report


def _explain(error: SchemaError, schema: dict[str, Any] | bool, failed: Lowering) -> None:
    """Adds to `error` which keywords clash, if that takes not much longer than to find none."""
    from structag.schema.clash import clashing

    def lower(part: Any) -> object:
        document = Document(part, failed.limits, "", failed.options.registry)
        return Lowering(document, failed.builder, failed.options, failed.limits).root()

    found = clashing(schema, lower, MAX_EXPLAINED // (failed.expander.effort + 1))
    if found:
        start = failed.document.root.pointer
        named = [f"`{start}{place}`" for place in found[:MAX_CLASHES]]
        more = len(found) - len(named)
        named += [f"{more} more"] if more else []
        what = f"{', '.join(named[:-1])} and {named[-1]} clash" if len(named) > 1 else named[0]
        error.message = f"{error.message}: {what}"
        error.args = (error.message,)


def _spelling(options: SchemaOptions) -> str:
    """Which spellings of the same values are not generated."""
    parts = ["no whitespace around the root", "names and fixed strings of plain ASCII as they are"]
    if options.indent is not None:
        parts.append(f"a line for each member and item, up to {MAX_LEVELS} levels deep")
    elif options.separators is not None:
        parts.append("no whitespace but that of the separators")
    elif options.max_whitespace is not None:
        parts.append(f"at most {options.max_whitespace} whitespace characters between two tokens")
    if not options.integer_decimals:
        parts.append("integers in digits only")
    parts.append("a number with bounds and an exponent has one digit before the point")
    return "; ".join(parts)


class Lowering:
    """Lowers the goals of one document into one builder, in one notation (JSON by default).

    Two lowerings in different notations may share an `expander`.
    """

    def __init__(
        self,
        document: Document,
        builder: GrammarBuilder,
        options: SchemaOptions,
        limits: Limits,
        notation: Notation | None = None,
        expander: Expander | None = None,
    ) -> None:
        self.builder = builder
        self.options = options
        self.limits = limits
        self.document = document
        if expander is None:
            report = Report()
            builder.notes.append(Note("", report))
            expander = Expander(document, builder, options, limits, report)
        self.expander = expander
        self._is_shared = notation is None and options.indent is None
        if notation is None:
            is_indented = options.indent is not None
            notation = (IndentedNotation if is_indented else JsonNotation)(builder, options)
        self.notation = notation
        self.comma = notation.comma
        self.inner: Lowering = self
        """Lowers what stands inside of containers."""
        if isinstance(notation, JsonNotation) and notation.inner is not None:
            self.inner = Lowering(document, builder, options, limits, notation.inner, expander)
        self._numbers: Numbers | None = None
        self._any: Ref | None = None
        self._known: dict[Goal, Ref | None] = {}
        self._by_forms: dict[int, tuple[Forms, Ref]] = {}  # by identity; each is kept alive
        self._waiting: list[tuple[Goal, Ref]] = []
        self.depth = 0
        self.direct: Direct | None = None
        """The short way, where it may be taken: what it lowers is in no report."""

    @property
    def lowering(self) -> Lowering:
        """This one, as `Direct` has one."""
        return self

    def root(self) -> Ref:
        """The whole document.

        Raises:
            SchemaError: `schema-unsatisfiable`.
        """
        return self.finished(self.value((self.document.root,)))

    def finished(self, ref: Ref) -> Ref:
        """`ref`, once everything put off is lowered; an error if it is empty."""
        self._define_waiting()
        if ref == self.builder.empty:
            if self.expander.lost is not None:
                raise unsupported(*self.expander.lost, "no other value is left in the schema")
            raise SchemaError(
                "no value satisfies the schema",
                code="schema-unsatisfiable",
                pointer=self.document.root.pointer,
            )
        return ref

    def _define_waiting(self) -> None:
        while self._waiting:
            goal, rule = self._waiting.pop()
            self.builder.define(rule, self._lowered(goal))
        if self.inner is not self:
            self.inner._define_waiting()

    @property
    def numbers(self) -> Numbers:
        if self._numbers is None:
            self._numbers = Numbers(self.builder, self.options.integer_decimals)
        return self._numbers

    @property
    def any_value(self) -> Ref:
        """Any value."""
        if self._any is None and self._is_shared:
            self._any = any_json(self.builder, self.options, self.limits)
        return self.rule_of_any() if self._any is None else self._any

    def rule_of_any(self) -> Ref:
        self._any = self.builder.rule("json-value")
        self.builder.define(self._any, self.forms(ANY))
        return self._any

    def value(self, goal: Goal) -> Ref:
        """The texts of the values that satisfy a goal."""
        if not goal:
            return self.any_value
        known = self._known.get(goal)
        if known is not None:
            return known
        rule = None if self.direct is None else self.direct.rule_of(goal)
        if rule is not None:
            return rule
        if goal in self._known or self.depth >= MAX_DEPTH:
            rule = self.builder.rule(goal[0].pointer or "root")
            if goal not in self._known:
                self._waiting.append((goal, rule))
            self._known[goal] = rule
            return rule
        self._known[goal] = None
        self.depth += 1
        ref = self._lowered(goal)
        self.depth -= 1
        rule_made = self._known[goal]
        if rule_made is not None:
            self.builder.define(rule_made, ref)
            return ref if ref == self.builder.empty else rule_made
        self._known[goal] = ref
        return ref

    def _lowered(self, goal: Goal) -> Ref:
        if not self.builder.origins:
            return self._expanded(goal)
        label = " & ".join(f"#{node.pointer}" for node in goal[:_NAMED_PARTS])
        return self.builder.mark(label, self._expanded(goal))

    def _expanded(self, goal: Goal) -> Ref:
        if len(goal) == 1:
            (node,) = goal
            ref = None if self.direct is None else self.direct.lower(node)
            if ref is not None:
                return ref
            target = lone_target(self.document, node)
            if target is not None:
                self.expander.read_directly.add(id(node.value))
                self.expander.report.visit(node, node.value)
                return self.value(goal_of(target))
        forms = self.expander.goal(goal)
        if forms is ANY:
            return self.any_value
        known = self._by_forms.get(id(forms))
        if known is None:
            known = self._by_forms[id(forms)] = (forms, self.forms(forms, goal))
        return known[1]

    def forms(self, forms: Forms, goal: Goal = ()) -> Ref:
        """The texts of all alternatives."""
        builder = self.builder
        parts: list[Ref] = []
        if forms.null:
            parts.append(self.notation.null)
        if forms.booleans & 1:
            parts.append(self.notation.false)
        if forms.booleans & 2:
            parts.append(self.notation.true)
        for number in forms.numbers:
            parts.append(self.notation.number(self.number_text(number, goal)))
        if forms.strings:
            texts = [decoded(builder, fact) for fact in forms.strings]
            parts.append(self.notation.string(builder.alt(*texts)))
        arrays, objects = forms.arrays, forms.objects
        if self.inner is not self:
            arrays, objects = none_or_some(arrays), none_or_some(objects)
        parts += [lower_array(self, fact) for fact in arrays]
        parts += [self._object(fact) for fact in objects]
        return parts[0] if len(parts) == 1 else builder.alt(*parts)

    def number_text(self, facts: NumberFacts, goal: Goal) -> Ref:
        """The JSON texts of the numbers that satisfy `facts`."""
        try:
            return self.numbers.lower(facts)
        except FactorError:
            place = goal[0] if goal else self.document.root
            what = "multiples that are not among the few thousand nearest to zero"
            self.expander.leave_out(place, "multipleOf", what)
            return lower_nearest(self.numbers, facts)

    def _object(self, facts: ObjectFacts) -> Ref:
        return self.builder.sealed(self.notation.object(inside(self, facts)))

    # -- members and items

    def item(self, goal: Goal) -> Ref:
        """An item of an array."""
        return self.notation.item(self.inner.value(goal))

    def member(self, name: str, goal: Goal) -> Ref:
        """A member with a fixed name."""
        value = self.inner.value(goal)
        if value == self.builder.empty:
            return value
        return self.notation.member(name, value, goal)

    def free_member(self, keys: Ref, goal: Goal) -> Ref:
        """A member with any name out of `keys` (decoded)."""
        return self.notation.free_member(keys, self.inner.value(goal))

    def distinct_member(self, keys: Ref, goal: Goal) -> Ref | None:
        """A member with another name out of `keys` each time; None if the notation has none."""
        return self.notation.distinct_member(keys, self.inner.value(goal))
