"""Lowers an ECMA-262 pattern to one regular expression of the grammar.

`regex_syntax` parses; this module decides what matches.  Anchors and look-around at the edges of a
branch become parts of the expression itself (``^`` = nothing before it, a look-ahead = an
intersection with what follows).  Everywhere else they become assertion marks under `Erase`, with
one condition per mark.  Neither changes what strings match, only how it is said.

Not here: which texts a pattern is searched in, and how they are spelled (`Encoded`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from structag.errors import GrammarSyntaxError, StructagError, UnsupportedError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.source import Source
from structag.text.regex_reach import looks_across, looks_out
from structag.text.regex_syntax import (
    Assertion,
    Chars,
    Choice,
    Loop,
    Pattern,
    Sequence,
    Text,
    parse,
)

MAX_ASSERTIONS = 8
"""Distinct assertions under one `Erase`; each can double the number of states."""
_MAX_BRANCHES = 64
_LONE = re.compile("[\ud800-\udfff]")
_LEAVES = (Text, Chars)
Parse: TypeAlias = Callable[[str, Limits], tuple[Pattern, bool]]
_EDGES = ("start", "end", "ahead", "not-ahead", "behind", "not-behind")


def lower_regex(
    pattern: str,
    builder: GrammarBuilder,
    *,
    search: bool = False,
    is_part: bool = False,
    limits: Limits | None = None,
    parse: Parse = parse,
) -> Ref:
    """The texts that `pattern` matches as a whole, or, with `search`, somewhere.

    With `is_part` more text may come before and after, so that anchors and look-around must not
    depend on it.  `parse` reads the pattern: as ECMA-262, or as `regex_python` does.

    >>> b = GrammarBuilder()
    >>> b.node(lower_regex("[a-c]{2,5}", b))
    Repeat(child=2, min=2, max=5)

    Raises:
        GrammarSyntaxError: `regex-syntax`, with the span.
        UnsupportedError: `regex-feature`: backreferences, unknown properties, look-around that is
            too deeply nested or too much of it, or, with `is_part`, that looks out.
        LimitError: `nesting-limit`, groups nested deeper than `Limits.max_nesting`.
    """
    try:
        _check_text(pattern)
        tree, has_assertion = parse(pattern, limits or Limits())
        lowering = _Lowering(builder, pattern)
        if has_assertion:
            if is_part and looks_out(tree):
                raise lowering.refusal("anchors and look-around past the text that is matched")
            return lowering.whole(tree, search, search)
        ref = lowering.plain(tree)
    except StructagError as error:
        Source(pattern, "<pattern>").place(error)
        raise
    return builder.seq(builder.any_text, ref, builder.any_text) if search else ref


def _check_text(pattern: str) -> None:
    if not pattern.isascii() and (lone := _LONE.search(pattern)):
        raise GrammarSyntaxError(
            f"a lone surrogate, U+{ord(lone[0]):04X}",
            code="text-encoding",
            span=lone.span(),
            expected="Unicode text",
        )


class _Lowering:
    def __init__(self, builder: GrammarBuilder, pattern: str) -> None:
        self.builder = builder
        self.pattern = pattern
        self.branch_count = 0
        self.erase_count = 0
        self.marks: dict[object, tuple[Assertion, int]] = {}

    def plain(self, tree: Pattern) -> Ref:
        """A tree bottom-up, with a stack of its own; assertions become their marks."""
        builder = self.builder
        todo: list[tuple[Pattern, bool]] = [(tree, False)]
        done: list[Ref] = []
        while todo:
            node, is_open = todo.pop()
            kind = node.__class__  # leaves come first, and most often
            if kind is Text:
                done.append(builder.literal(node.text.encode()))  # type: ignore[union-attr]
            elif kind is Chars:
                done.append(builder.chars(node.members))  # type: ignore[union-attr]
            elif isinstance(node, Assertion):
                is_flat = node.part is None or node.part.__class__ is Chars
                key = node if is_flat else id(node)  # the parser shares equal ones
                _, index = self.marks.setdefault(key, (node, len(self.marks)))
                done.append(builder.assertion(index))
            elif isinstance(node, Loop):
                if is_open:
                    done.append(builder.repeat(done.pop(), node.min, node.max))
                else:
                    todo += ((node, True), (node.part, False))
            else:
                assert isinstance(node, Sequence | Choice)
                parts = node.parts if isinstance(node, Sequence) else node.branches
                if not is_open:
                    todo.append((node, True))
                    todo += [(part, False) for part in reversed(parts)]
                    continue
                refs = done[len(done) - len(parts) :]
                del done[len(done) - len(parts) :]
                done.append(
                    builder.seq(*refs) if isinstance(node, Sequence) else builder.alt(*refs)
                )
        return done[0]

    def whole(self, tree: Pattern, left_open: bool, right_open: bool) -> Ref:
        """The texts around which `tree` matches: open on a side = any text may stand there."""
        branches = tree.branches if isinstance(tree, Choice) else (tree,)
        return self.builder.alt(
            *(self._branch(list(_parts(branch)), left_open, right_open) for branch in branches)
        )

    def _branch(self, parts: list[Pattern], left_open: bool, right_open: bool) -> Ref:
        if not any(map(_has_assertion, parts)):
            return self._surround(self.plain(Sequence(tuple(parts))), left_open, right_open)
        self.branch_count += 1
        if self.branch_count <= _MAX_BRANCHES:
            variants = _split_edges(parts)
            if variants is not None:
                return self.builder.alt(
                    *(self._branch(variant, left_open, right_open) for variant in variants)
                )
            ref = self._edges(parts, left_open, right_open)
            if ref is not None:
                return ref
        return self._erase(parts, left_open, right_open)

    def _surround(self, ref: Ref, left_open: bool, right_open: bool) -> Ref:
        text = self.builder.any_text
        return self.builder.seq(*([text] * left_open), ref, *([text] * right_open))

    def _edges(self, parts: list[Pattern], left_open: bool, right_open: bool) -> Ref | None:
        """A branch whose assertions all stand at its edges; None if they do not, or interact."""
        first = next((i for i, part in enumerate(parts) if not _is_edge(part)), len(parts))
        last = next((i for i, part in enumerate(reversed(parts)) if not _is_edge(part)), 0)
        core = parts[first : len(parts) - last]
        if any(map(_has_assertion, core)):
            return None
        leading = [part for part in parts[:first] if isinstance(part, Assertion)]
        trailing = [part for part in parts[len(parts) - last :] if isinstance(part, Assertion)]
        if not core:  # all assertions stand at one place
            leading, trailing = leading or trailing, []
        left, ahead = self._conditions(leading, not left_open, False)
        behind, right = self._conditions(trailing, False, not right_open)
        builder = self.builder
        before, after = self._outside(left, left_open), self._outside(right, right_open)
        middle = self.plain(Sequence(tuple(core)))
        if behind and ahead:
            if before == builder.epsilon:
                middle = builder.both(middle, *behind)
            elif after == builder.epsilon:
                return builder.both(builder.seq(before, builder.both(middle, *ahead)), *behind)
            else:
                return None
        elif behind:
            return builder.seq(builder.both(builder.seq(before, middle), *behind), after)
        if ahead:
            return builder.seq(before, builder.both(builder.seq(middle, after), *ahead))
        return builder.seq(before, middle, after)

    def _outside(self, conditions: list[Ref], is_open: bool) -> Ref:
        """The texts that may stand on one side of a branch."""
        builder = self.builder
        others = [ref for ref in conditions if ref != builder.epsilon]
        if not is_open or len(others) < len(conditions):
            return builder.both(builder.epsilon, *others)
        return builder.both(*others) if others else builder.any_text

    def _conditions(
        self, assertions: list[Assertion], at_start: bool, at_end: bool
    ) -> tuple[list[Ref], list[Ref]]:
        """What must hold of the text before a place, and of the text after it."""
        builder = self.builder
        at_start = at_start or any(kind == "start" for kind, _ in assertions)
        at_end = at_end or any(kind == "end" for kind, _ in assertions)
        before: list[Ref] = []
        after: list[Ref] = []
        for kind, part in assertions:
            if kind == "start":
                before.append(builder.epsilon)
            elif kind == "end":
                after.append(builder.epsilon)
            else:
                assert part is not None
                ahead = kind.endswith("ahead")
                ref = self._look(part, ahead, at_start if ahead else at_end)
                if kind.startswith("not"):
                    ref = builder.complement(ref)
                (after if ahead else before).append(ref)
        return before, after

    # -- assertions anywhere

    def _erase(self, parts: list[Pattern], left_open: bool, right_open: bool) -> Ref:
        builder, outer = self.builder, self.marks
        self.marks = {}
        self.erase_count += 1
        filler = builder.repeat(builder.any_char, 0)
        marked = builder.seq(
            *([filler] * left_open), self.plain(Sequence(tuple(parts))), *([filler] * right_open)
        )
        marks, self.marks = self.marks, outer
        if len(marks) > MAX_ASSERTIONS:
            raise self.refusal(f"over {MAX_ASSERTIONS} assertions inside one branch")
        if marked == builder.empty:
            return marked
        broken: list[Ref] = []
        for assertion, index in marks.values():
            broken.append(self._violations(assertion, index))
        kept = builder.both(marked, builder.complement(builder.alt(*broken)))
        return builder.erase(len(marks), kept)

    def _violations(self, assertion: Assertion, index: int) -> Ref:
        """The marked texts in which mark `index` stands somewhere where it must not."""
        builder = self.builder
        mark, text = builder.assertion(index), builder.any_text
        kind, part = assertion
        if kind in ("word", "not-word"):
            assert isinstance(part, Chars)
            word = builder.chars(part.members)
            ends = builder.transparent(builder.seq(text, word))
            starts = builder.transparent(builder.seq(word, text))
            other_end, other_start = builder.complement(ends), builder.complement(starts)
            if kind == "word":
                other_end, ends = ends, other_end
            return builder.alt(
                builder.seq(other_end, mark, starts), builder.seq(ends, mark, other_start)
            )
        if kind in ("start", "end"):
            condition = builder.epsilon
        elif kind in ("line-start", "line-end"):
            assert isinstance(part, Chars)
            line_end = builder.chars(part.members)
            edge = (text, line_end) if kind == "line-start" else (line_end, text)
            condition = builder.optional(builder.seq(*edge))
        else:
            assert part is not None
            ahead = kind.endswith("ahead")
            depth = self.erase_count
            condition = self._look(part, ahead, False)
            if self.erase_count != depth:
                raise self.refusal("assertions inside look-around")
        condition = builder.transparent(condition)
        if not kind.startswith("not"):
            condition = builder.complement(condition)
        if kind in ("start", "line-start", "behind", "not-behind"):
            return builder.seq(condition, mark, text)
        return builder.seq(text, mark, condition)

    def _look(self, part: Pattern, ahead: bool, is_outermost: bool) -> Ref:
        """The texts on one side of a place that a look-ahead or look-behind asks for.

        `is_outermost`: nothing lies on the other side, where `part` might look back to.
        """
        if not is_outermost and looks_across(part, ahead):
            raise self.refusal("assertions in look-around that look the other way")
        return self.whole(part, not ahead, ahead)

    def refusal(self, what: str) -> UnsupportedError:
        """The error for something about the pattern as a whole."""
        return UnsupportedError(
            f"{what} are not supported",
            code="regex-feature",
            span=(0, len(self.pattern)),
            hint="anchor the pattern, or split it into several",
        )


def _parts(tree: Pattern) -> tuple[Pattern, ...]:
    return tree.parts if isinstance(tree, Sequence) else (tree,)


def _is_edge(part: Pattern) -> bool:
    return isinstance(part, Assertion) and part.kind in _EDGES


def _has_assertion(tree: Pattern) -> bool:
    if tree.__class__ in _LEAVES:
        return False
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Assertion):
            return True
        if isinstance(node, Loop):
            todo.append(node.part)
        elif isinstance(node, Sequence):
            todo.extend(node.parts)
        elif isinstance(node, Choice):
            todo.extend(node.branches)
    return False


def _split_edges(parts: list[Pattern]) -> list[list[Pattern]] | None:
    """The branch as several, if its first or last part is a choice or a word boundary."""
    flat = [item for part in parts for item in _parts(part)]
    if len(flat) != len(parts):
        return [flat]
    size = len(parts)
    first = next((i for i in range(size) if not _is_edge(parts[i])), size)
    last = next((i for i in reversed(range(size)) if not _is_edge(parts[i])), -1)
    for index in (first, last):
        if not 0 <= index < size:
            continue
        part = parts[index]
        options: list[tuple[Pattern, ...]] = []
        if isinstance(part, Choice) and _has_assertion(part):
            options = [_parts(branch) for branch in part.branches]
        elif isinstance(part, Assertion) and part.kind in ("word", "not-word"):
            negated = part.kind == "not-word"
            word = part.part
            behind, ahead = Assertion("behind", word), Assertion("ahead", word)
            not_behind, not_ahead = Assertion("not-behind", word), Assertion("not-ahead", word)
            options = [
                (behind, ahead if negated else not_ahead),
                (not_behind, not_ahead if negated else ahead),
            ]
        if options:
            return [[*parts[:index], *option, *parts[index + 1 :]] for option in options]
    return None
