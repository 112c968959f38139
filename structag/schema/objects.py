"""Lowers object facts: which members, in which order, with which commas.

Every declared or required name becomes one member; every other key belongs to the free members,
whose keys are spelled so that no declared name can come a second time.  In the schema's order the
size is linear in the number of properties: around a required member a comma belongs to each
optional neighbour, and a list of optional members only is cut in halves that share their parts.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, NamedTuple, Protocol

from structag.grammar.builder import MAX_COUNT, GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.document import Node, unsupported
from structag.schema.facts import Goal, Members, ObjectFacts, Witness, joined
from structag.schema.regions import split_names
from structag.text.few_texts import few_texts
from structag.text.membership import UndecidedError, belongs

if TYPE_CHECKING:
    from structag.schema.expand import Expander
    from structag.schema.options import SchemaOptions

MAX_COUNTED = 2000
MAX_WITNESSES = 3
MAX_CHOICES = 300
MAX_NAMES = 8


class MemberStyle(Protocol):
    """How members are spelled; `Lowering` spells them in JSON."""

    builder: GrammarBuilder
    expander: Expander
    options: SchemaOptions
    comma: Ref

    def member(self, name: str, goal: Goal) -> Ref:
        """A member with a fixed name; empty if no value is possible."""

    def free_member(self, keys: Ref, goal: Goal) -> Ref:
        """A member with a name out of `keys` (decoded)."""

    def distinct_member(self, keys: Ref, goal: Goal) -> Ref | None:
        """A member with another name out of `keys` each time; None if it cannot be told."""


class Free(NamedTuple):
    """Free members: their keys (decoded), and what the values must satisfy."""

    keys: Ref
    goal: Goal


class _Named(NamedTuple):
    """A member with a name of its own."""

    name: str
    goal: Goal
    ref: Ref
    is_required: bool


def goal_of_name(expander: Expander, facts: ObjectFacts, name: str) -> Goal:
    """What the value of the member `name` must satisfy."""
    goal: Goal = ()
    if name in facts.forbidden:
        return (expander.document.false,)
    for demanded, part in facts.demands:
        if demanded == name:
            goal = joined(goal, part)
    for members in facts.members:
        known = members.properties.get(name)
        is_named = known is not None
        part = known or ()
        for pattern, pattern_goal in members.patterns:
            if _matches(expander, members, pattern, name):
                is_named = True
                part = joined(part, pattern_goal)
        goal = joined(goal, part if is_named else members.additional)
    return goal


def _matches(expander: Expander, members: Members, pattern: Ref, name: str) -> bool:
    try:
        return belongs(expander.builder, pattern, name)
    except UndecidedError:
        raise unsupported(
            members.node,
            "patternProperties",
            "whether its look-around matches a declared name is not decided here",
        ) from None


def names_of(facts: ObjectFacts) -> list[str]:
    """The names that get a member of their own, in the schema's order."""
    names: dict[str, None] = {}
    for members in facts.members:
        names.update(dict.fromkeys(members.properties))
    names.update(dict.fromkeys(facts.required))
    names.update(dict.fromkeys(facts.forbidden))
    return list(names)


def in_style_order(style: MemberStyle, names: list[str]) -> list[str]:
    """The names in the order in which their members are written, unless any order will do."""
    return sorted(names, key=str.lower) if style.options.property_order == "sorted" else names


def names_besides(builder: GrammarBuilder, names: list[str]) -> Ref:
    """Every name (decoded) but these."""
    return builder.complement(builder.words(names))


def inside(style: MemberStyle, facts: ObjectFacts) -> Ref:
    """The members of the objects that satisfy `facts`: what stands between the braces."""
    builder, expander = style.builder, style.expander
    if facts.low > MAX_COUNT:
        return builder.empty
    if facts.high is not None and facts.high > MAX_COUNT:
        facts = facts._replace(high=MAX_COUNT)
    facts = _with_named_witnesses(builder, facts)
    key_language = _key_language(style, facts)
    names = in_style_order(style, names_of(facts))
    required = frozenset(facts.required)
    found: list[_Named] = []
    for name in names:
        ref: Ref = builder.empty
        goal: Goal = ()
        if key_language is None or _is_key(expander, facts, key_language, name):
            goal = goal_of_name(expander, facts, name)
            ref = style.member(name, goal)
        if ref != builder.empty:
            found.append(_Named(name, goal, ref, name in required))
        elif name in required:
            return builder.empty
    free = _free_members(style, facts, names, key_language)
    if facts.witnesses:
        return _with_witnesses(style, facts, names, free, found)
    return _arrange(style, facts, [(one.ref, one.is_required) for one in found], free)


def _rest(style: MemberStyle, free: list[Free]) -> Ref:
    """Any free member."""
    return style.builder.alt(*(style.free_member(keys, goal) for keys, goal in free))


def _distinct_rest(style: MemberStyle, facts: ObjectFacts, free: list[Free]) -> Ref:
    """Any free member, but in a counted list no two with the same name."""
    ways: list[Ref] = []
    for keys, goal in free:
        way = style.distinct_member(keys, goal)
        if way is None:
            raise unsupported(
                _place(style.expander, facts),
                "minProperties",
                "equal names would have to be told apart",
            )
        ways.append(way)
    return style.builder.alt(*ways)


def _key_language(style: MemberStyle, facts: ObjectFacts) -> Ref | None:
    from structag.schema.strings import string_language

    expander = style.expander
    parts = [string_language(expander, expander.goal(goal)) for goal in facts.names]
    return style.builder.both(*parts) if parts else None


def _is_key(expander: Expander, facts: ObjectFacts, keys: Ref, name: str) -> bool:
    try:
        return belongs(expander.builder, keys, name)
    except UndecidedError:
        raise unsupported(
            _place(expander, facts), "pattern", "whether it matches a name is undecided"
        ) from None


def _free_members(
    style: MemberStyle, facts: ObjectFacts, names: list[str], key_language: Ref | None
) -> list[Free]:
    """The members without a name of their own, split by the patterns that their keys match."""
    builder = style.builder
    patterns = list(dict.fromkeys([p for m in facts.members for p, _ in m.patterns]))
    split = split_names(builder, patterns)
    if split is None:
        raise unsupported(
            facts.members[0].node, "patternProperties", "too many patterns may overlap"
        )
    regions: dict[Goal, list[Ref]] = {}
    for matched, keys in split:
        goal: Goal = ()
        for members in facts.members:
            goals = [g for p, g in members.patterns if p in matched]
            for part in goals or [members.additional]:
                goal = joined(goal, part)
        if not any(node.value is node.negative for node in goal):
            regions.setdefault(goal, []).append(keys)
    base: list[Ref] = [] if key_language is None else [key_language]
    if names and regions:
        base.append(names_besides(builder, names))
    free: list[Free] = []
    for goal, parts in regions.items():
        all_keys = base if len(parts) == len(split) else [*base, builder.alt(*parts)]
        free.append(Free(builder.both(*all_keys) if all_keys else builder.any_text, goal))
    return free


def _with_named_witnesses(builder: GrammarBuilder, facts: ObjectFacts) -> ObjectFacts:
    """`facts` with the few names declared that a witness may have, where counts matter."""
    if facts.low < 2 and facts.high is None:
        return facts  # free members do as well
    members, witnesses = list(facts.members), []
    for witness in facts.witnesses:
        texts = few_texts(builder, witness.names, MAX_NAMES)
        if texts is not None:
            members.append(Members(dict.fromkeys(sorted(texts), ()), (), (), witness.node))
            witness = witness._replace(is_named=True)
        witnesses.append(witness)
    return facts._replace(members=tuple(members), witnesses=tuple(witnesses))


def _with_witnesses(
    style: MemberStyle, facts: ObjectFacts, names: list[str], free: list[Free], found: list[_Named]
) -> Ref:
    """Objects with members that must exist: each a declared one, or one of the free."""
    choices = 1
    ways: list[list[_Named | None]] = []
    for witness in facts.witnesses:
        fitting: list[_Named | None] = [
            one for one in found if _is_key(style.expander, facts, witness.names, one.name)
        ]
        choices *= len(fitting) if witness.is_named else len(names)
        ways.append(fitting if witness.is_named else [None, *fitting])
    if choices > MAX_CHOICES:
        return _without_witness(style, facts.witnesses[0], "beside so many names")
    options: list[Ref] = []
    for choice in product(*ways):
        free_ones: list[Witness] = []
        asked: dict[str, Goal] = {}
        for witness, one in zip(facts.witnesses, choice, strict=True):
            if one is None:
                free_ones.append(witness)
            else:
                asked[one.name] = joined(asked.get(one.name, ()), witness.goal)
        members = [
            (style.member(one.name, joined(one.goal, asked[one.name])), True)
            if one.name in asked
            else (one.ref, one.is_required)
            for one in found
        ]
        if all(ref != style.builder.empty for ref, _ in members):
            if free_ones:
                chosen = facts._replace(witnesses=tuple(free_ones))
                options.append(_with_free_witnesses(style, chosen, free, members))
            else:
                options.append(_arrange(style, facts, members, free))
    return style.builder.alt(*options)


def _with_free_witnesses(
    style: MemberStyle,
    facts: ObjectFacts,
    free: list[Free],
    members: list[tuple[Ref, bool]],
) -> Ref:
    """One free member may be several of the witnesses: one option for each way to group them."""
    builder, comma = style.builder, style.comma
    witnesses = facts.witnesses
    if len(witnesses) > MAX_WITNESSES:
        return _without_witness(style, witnesses[0], "beside so many others")
    options: list[Ref] = []
    rest = _rest(style, free)
    for groups in _partitions(list(witnesses)):
        refs = [_witness(style, free, group) for group in groups]
        if builder.empty in refs:
            continue
        if facts.low > 1 or facts.high is not None:
            options.append(_counted_witnesses(style, facts, members, refs, free))
            continue
        if style.options.property_order == "any":
            needed = [(ref, True) for ref in refs]
            options.append(builder.unordered([*members, *needed], rest, comma))
            continue
        before = builder.repeat(builder.seq(rest, comma), 0)
        after = builder.repeat(builder.seq(comma, rest), 0)
        for order in permutations(refs):
            parts = [before, order[0], after]
            for ref in order[1:]:
                parts += (comma, ref, after)
            options.append(builder.in_order([*members, (builder.seq(*parts), True)], comma))
    return builder.alt(*options)


def _counted_witnesses(
    style: MemberStyle,
    facts: ObjectFacts,
    members: list[tuple[Ref, bool]],
    witnesses: list[Ref],
    free: list[Free],
) -> Ref:
    """Objects with the witnesses, `facts.low` to `facts.high` members in all.

    A witness may have the name of another free member, which then does not count.  Where that
    matters, so many members more are asked for, and the objects that have just enough are lost.
    """
    low = facts.low
    rest = _rest(style, free)
    if low <= sum(need for _, need in members) + 1:
        low = 0
    elif rest != style.builder.empty:
        rest = _distinct_rest(style, facts, free)
        low += len(witnesses)
        what = "some objects with just enough members that fail it by one that may have many names"
        style.expander.leave_out(facts.witnesses[0].node, facts.witnesses[0].keyword, what)
    others: list[tuple[Ref, int, int | None]] = [(ref, 1, 1) for ref in witnesses]
    others.append((rest, 0, None))
    return _counted(style, facts, members, others, low, facts.high)


def _without_witness(style: MemberStyle, witness: Witness, where: str) -> Ref:
    what = f"objects that fail it by a member that may have many names, {where}"
    style.expander.leave_out(witness.node, witness.keyword, what)
    return style.builder.empty


def _witness(style: MemberStyle, free: list[Free], group: list[Witness]) -> Ref:
    """A free member that is every witness of the group."""
    builder = style.builder
    goal: Goal = ()
    for witness in group:
        goal = joined(goal, witness.goal)
    names = [witness.names for witness in group]
    return builder.alt(
        *(
            style.free_member(builder.both(keys, *names), joined(region_goal, goal))
            for keys, region_goal in free
        )
    )


def _partitions(items: list[Witness]) -> list[list[list[Witness]]]:
    if not items:
        return [[]]
    first, others = items[0], items[1:]
    found: list[list[list[Witness]]] = []
    for groups in _partitions(others):
        found.append([[first], *groups])
        for i, group in enumerate(groups):
            found.append([*groups[:i], [first, *group], *groups[i + 1 :]])
    return found


def _arrange(
    style: MemberStyle, facts: ObjectFacts, members: list[tuple[Ref, bool]], free: list[Free]
) -> Ref:
    """The members between the braces, separated by commas, as many as allowed."""
    builder = style.builder
    rest = _rest(style, free)
    least = sum(need for _, need in members)
    most = None if rest != builder.empty else len(members)
    low, high = facts.low, facts.high
    if (high is not None and high < least) or (most is not None and most < low):
        return builder.empty
    low = 0 if low <= least else low
    high = None if high is None or (most is not None and high >= most) else high
    if low or high is not None:
        if low > least + 1 and rest != builder.empty:
            rest = _distinct_rest(style, facts, free)
        return _counted(style, facts, members, [(rest, 0, None)], low, high)
    return arranged(style, members, rest)


def arranged(style: MemberStyle, members: list[tuple[Ref, bool]], rest: Ref) -> Ref:
    """Members, each of them required or not, and any number of `rest`, separated by commas."""
    builder, comma = style.builder, style.comma
    if style.options.property_order == "any":
        return builder.unordered(members, rest, comma)
    if rest != builder.empty:
        more = builder.repeat(builder.seq(comma, rest), 0)
        members = [*members, (builder.seq(rest, more), False)]
    return builder.in_order(members, comma)


def _place(expander: Expander, facts: ObjectFacts) -> Node:
    return facts.members[0].node if facts.members else expander.document.root


def _counted(
    style: MemberStyle,
    facts: ObjectFacts,
    members: list[tuple[Ref, bool]],
    others: list[tuple[Ref, int, int | None]],
    low: int,
    high: int | None,
) -> Ref:
    """`low` to `high` members, with `others` by kinds.

    In the schema's order the others come last, and there is one tail for each place and count.
    """
    builder, comma = style.builder, style.comma
    if style.options.property_order == "any":
        named: list[tuple[Ref, int, int | None]] = [(ref, int(need), 1) for ref, need in members]
        return builder.tally([*named, *others], low, high, comma)
    top = low if high is None else max(low, min(high, len(members)))
    if len(members) * (top + 1) > MAX_COUNTED:
        node = _place(style.expander, facts)
        is_asked = type(node.value) is dict and "minProperties" in node.value
        if style.options.indent is not None and facts.low == 1 and not is_asked:
            reason = f"laid out on lines, {len(members):,} names need a required one among them"
            raise unsupported(node, "properties", reason, "require one, or leave out `indent`")
        keyword = "minProperties" if facts.low else "maxProperties"
        raise unsupported(node, keyword, "with so many names")

    def end(count: int) -> Ref:
        if high is not None and count > high:
            return builder.empty
        least = max(low - count, sum(need for _, need, _ in others))
        most = None if high is None else high - count
        some = builder.tally(others, max(least, 1), most, comma)
        some = builder.seq(comma, some) if count else some
        return some if least else builder.optional(some)

    tails = {count: end(count) for count in range(len(members) + 1)}
    for index in reversed(range(len(members))):
        ref, need = members[index]
        now: dict[int, Ref] = {}
        for count in range(index + 1):
            taken = builder.seq(comma, ref) if count else ref
            with_it = builder.seq(taken, tails[count + 1])
            now[count] = with_it if need else builder.alt(with_it, tails[count])
        tails = now
    return tails[0]
