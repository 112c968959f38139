"""Checks how the formats of a structural tag fit together; model and `parse` check each by itself.

Each refusal names the place, the reason and a way to mend it.  What passes here has a way out of
every region and a way into every tag, and names only tokens that the vocabulary has, so that
`lower` need not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from structag.errors import FormatError, LimitError
from structag.limits import Limits
from structag.tags.following import (
    END_OF_OUTPUT,
    Part,
    has_region,
    is_self_contained,
    is_unbounded,
    parts,
)
from structag.tags.model import (
    AnyTextFormat,
    AnyTokensFormat,
    DispatchFormat,
    ExcludeTokenFormat,
    Format,
    Marker,
    StructuralTag,
    TagFormat,
    TokenDispatchFormat,
    TokenFormat,
    TokenTriggeredTagsFormat,
    TriggeredTagsFormat,
)
from structag.tags.text_set import TextSet
from structag.tags.tokens import TokenNames
from structag.tags.walk import join_pointer

TokenDispatch: TypeAlias = TokenTriggeredTagsFormat | TokenDispatchFormat


def check_format(tag: StructuralTag, names: TokenNames, limits: Limits | None = None) -> None:
    """Refuse a structural tag whose parts contradict each other.

    Raises:
        FormatError: `no-way-out`, `trigger-unreachable`, `trigger-mismatch`, `exclude-conflict`,
            `token-unknown`, `tag-value`.
        LimitError: `limit`, looking at all formats and comparing their texts would take more than
            `Limits.max_work`.
    """
    checker = _Checker(names, limits or Limits())
    pending = [Part(tag.format, "/format", END_OF_OUTPUT)]
    while pending:
        part = pending.pop()
        checker.visit(part)
        pending.extend([*parts(part, skips=checker.passes)][::-1])


_FORMAT_WORK = 20


class _Checker:
    def __init__(self, names: TokenNames, limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._work = 0

    def passes(self, format: Format) -> bool:
        """Whether there is nothing to check in a format."""
        if not is_self_contained(format):
            return False
        self._charge(2 * _FORMAT_WORK)
        return True

    def visit(self, part: Part) -> None:
        """Check one format against its surroundings."""
        self._charge(_FORMAT_WORK + len(part.pointer))
        pointer = part.pointer
        match part.format:
            case TokenFormat(token=token):
                self._names.resolve(token, join_pointer(pointer, "token"))
            case TagFormat() as tag:
                self._check_markers(tag, pointer)
            case AnyTextFormat(excludes=excludes) as region:
                if is_unbounded(region):
                    self._check_way_out(part, excludes)
            case ExcludeTokenFormat(exclude_tokens=tokens):
                self._names.resolve_all(tokens, join_pointer(pointer, "exclude_tokens"))
            case AnyTokensFormat(exclude_tokens=tokens) as region:
                self._names.resolve_all(tokens, join_pointer(pointer, "exclude_tokens"))
                if is_unbounded(region):
                    self._check_way_out(part, tokens=tokens)
            case TriggeredTagsFormat() as triggered:
                places = [
                    (t, join_pointer(pointer, "triggers", i))
                    for i, t in enumerate(triggered.triggers)
                ]
                self._check_triggers(places, part if has_region(triggered) else None)
                self._check_tags(triggered, pointer)
                begins = [tag.begin for tag in triggered.tags if isinstance(tag.begin, str)]
                self._check_excludes(triggered.excludes, triggered.triggers, begins, pointer)
                if has_region(triggered):
                    self._check_way_out(part, triggered.excludes)
            case DispatchFormat(rules=rules, excludes=excludes):
                patterns = [pattern for pattern, _ in rules]
                places = [(p, join_pointer(pointer, "rules", i, 0)) for i, p in enumerate(patterns)]
                self._check_triggers(places, part)
                self._check_excludes(excludes, patterns, (), pointer)
                self._check_way_out(part, excludes)
            case TokenTriggeredTagsFormat() | TokenDispatchFormat() as dispatch:
                self._check_token_dispatch(dispatch, part)

    # -- tokens

    def _check_markers(self, tag: TagFormat, pointer: str) -> None:
        if isinstance(tag.begin, TokenFormat):
            self._names.resolve(tag.begin.token, join_pointer(pointer, "begin", "token"))
        for index, end in enumerate(tag.ends):
            if isinstance(end, TokenFormat):
                here = ("end",) if isinstance(tag.end, TokenFormat) else ("end", index)
                self._names.resolve(end.token, join_pointer(pointer, *here, "token"))

    def _check_token_dispatch(self, format: TokenDispatch, part: Part) -> None:
        pointer = part.pointer
        if isinstance(format, TokenTriggeredTagsFormat):
            where = join_pointer(pointer, "trigger_tokens")
            triggers = self._names.resolve_all(format.trigger_tokens, where)
            self._check_token_tags(format, triggers, pointer)
        else:
            triggers = tuple(
                self._names.resolve(token, join_pointer(pointer, "rules", index, 0))
                for index, (token, _) in enumerate(format.rules)
            )
        where = join_pointer(pointer, "exclude_tokens")
        excludes = self._names.resolve_all(format.exclude_tokens, where)
        for index, token in enumerate(excludes):
            if token in triggers:
                raise FormatError(
                    f"the excluded token {_quote(format.exclude_tokens[index])} is a trigger",
                    code="exclude-conflict",
                    pointer=join_pointer(where, index),
                    hint="drop the exclude, or the trigger with its tags",
                )
        if isinstance(format, TokenDispatchFormat) or has_region(format):
            for end in part.following.tokens:
                if self._names.resolve(end.token, pointer) in triggers:
                    raise FormatError(
                        f"the token {_quote(end.token)} is a trigger and an end of the enclosing "
                        "tag at once",
                        code="trigger-unreachable",
                        pointer=pointer,
                        hint="end the enclosing tag with another token",
                    )
            self._check_way_out(part, tokens=excludes)

    def _check_token_tags(
        self, format: TokenTriggeredTagsFormat, triggers: Sequence[int], pointer: str
    ) -> None:
        used = set()
        for index, tag in enumerate(format.tags):
            here = join_pointer(pointer, "tags", index, "begin")
            if not isinstance(tag.begin, TokenFormat):
                raise FormatError(
                    f"the begin {_quote(tag.begin)} is a text",
                    code="trigger-mismatch",
                    pointer=here,
                    expected='a token: {"type": "token", "token": …}',
                    hint="for texts use `triggered_tags`",
                )
            begin = self._names.resolve(tag.begin.token, join_pointer(here, "token"))
            if begin not in triggers:
                raise FormatError(
                    f"the begin {_quote(tag.begin.token)} is no trigger",
                    code="trigger-mismatch",
                    pointer=join_pointer(here, "token"),
                    expected=f"one of {_list(format.trigger_tokens)}",
                    hint="add it to `trigger_tokens` or mend `begin`",
                )
            used.add(begin)
        for index, trigger in enumerate(triggers):
            if trigger not in used:
                raise FormatError(
                    f"the trigger {_quote(format.trigger_tokens[index])} leads to no tag",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "trigger_tokens", index),
                    expected="a tag that begins with it",
                    hint="add such a tag, or list the token under `exclude_tokens` to forbid it",
                )

    # -- texts

    def _check_triggers(self, places: Sequence[tuple[str, str]], region: Part | None) -> None:
        """Refuse triggers in which another one, or an end of the enclosing tag, comes first."""
        triggers = self._text_set(trigger for trigger, _ in places)
        ends = self._text_set(region.following.texts if region else ())
        for trigger, pointer in places:
            other, end = triggers.first_inside(trigger[:-1]), ends.first_inside(trigger)
            if other is not None:
                raise FormatError(
                    f"the trigger {_quote(trigger)} is never reached: {_quote(other)} "
                    "is complete before it",
                    code="trigger-unreachable",
                    pointer=pointer,
                    hint=f"drop one of the two; {_quote(other)} can lead to the tags of both",
                )
            if end is not None:
                raise FormatError(
                    f"the trigger {_quote(trigger)} is never reached: the text before it stops at "
                    f"{_quote(end)}, an end of the enclosing tag",
                    code="trigger-unreachable",
                    pointer=pointer,
                    hint="choose an end that does not occur in a trigger",
                )

    def _check_tags(self, format: TriggeredTagsFormat, pointer: str) -> None:
        begins: list[str] = []
        for index, tag in enumerate(format.tags):
            begin = tag.begin
            if isinstance(begin, TokenFormat):
                raise FormatError(
                    f"the begin {_quote(begin.token)} is a token",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "tags", index, "begin"),
                    expected="a string",
                    hint="for tokens use `token_triggered_tags`",
                )
            begins.append(begin)
        triggers = self._text_set(format.triggers)
        used = triggers.prefix_of_each(begins)
        for index, begin in enumerate(begins):
            if used[index] is None:
                matching = triggers.prefixes_of(begin)
                how_many = "several triggers" if matching else "no trigger"
                raise FormatError(
                    f"the begin {_quote(begin)} starts with {how_many}",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "tags", index, "begin"),
                    expected=f"exactly one of {_list(matching or format.triggers)}",
                    hint="keep only the shortest" if matching else "add a trigger or mend `begin`",
                )
        unused = set(format.triggers).difference(filter(None, used))
        for index, trigger in enumerate(format.triggers):
            if trigger in unused:
                raise FormatError(
                    f"the trigger {_quote(trigger)} leads to no tag",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "triggers", index),
                    expected="a tag whose `begin` starts with it",
                    hint="add such a tag, or list the text under `excludes` to forbid it",
                )

    def _check_excludes(
        self,
        excludes: Sequence[str],
        triggers: Iterable[str],
        begins: Iterable[str],
        pointer: str,
    ) -> None:
        if not excludes:
            return
        known = self._text_set(excludes)
        places = [("trigger", trigger) for trigger in triggers]
        places += [("begin", begin) for begin in begins]
        for kind, text in places:
            exclude = known.first_inside(text)
            if exclude is not None:
                raise FormatError(
                    f"the excluded text {_quote(exclude)} occurs in the {kind} {_quote(text)}",
                    code="exclude-conflict",
                    pointer=join_pointer(pointer, "excludes", list(excludes).index(exclude)),
                    hint="drop the exclude, or choose a longer one",
                )

    def _check_way_out(
        self, part: Part, texts: Iterable[str] = (), tokens: Iterable[int | str] = ()
    ) -> None:
        """Refuse an unbounded region if what it cannot hold does not tell where it stops."""
        _, blocker, starts = part.following
        if blocker is None:
            return
        if starts is not None:
            excluded = self._text_set(texts)
            ids = {self._names.resolve(token, part.pointer) for token in tokens}
            if all(self._is_excluded(start, excluded, ids, blocker) for start in starts):
                return
        what = f"the `{part.format.type}`"
        if part.pointer.startswith(blocker + "/"):
            reason = f"{what} is repeated, and nothing tells where it stops"
        else:
            reason = f"`{blocker}` follows {what}, and nothing tells where it stops"
        raise FormatError(
            reason,
            code="no-way-out",
            pointer=part.pointer,
            expected="a region at the end of a tag or of the document, one with a bound, or one "
            "that excludes the marker that follows",
            hint='put it into {"type": "tag", "begin": "", "content": …, "end": "…"}',
        )

    def _is_excluded(self, marker: Marker, texts: TextSet, ids: set[int], pointer: str) -> bool:
        if isinstance(marker, str):
            return bool(texts.prefixes_of(marker))
        return self._names.resolve(marker.token, pointer) in ids

    def _text_set(self, texts: Iterable[str]) -> TextSet:
        return TextSet(texts, self._charge)

    def _charge(self, work: int) -> None:
        self._work += work
        if self._work > self._limits.max_work:
            raise LimitError(
                "the structural tag has too many formats, or too many texts to compare",
                limit="work in one check",
                value=self._limits.max_work,
                setting="max_work",
                pointer="/format",
            )


def _quote(text: str | int) -> str:
    text = str(text)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"


def _list(texts: Sequence[str | int]) -> str:
    return ", ".join(_quote(text) for text in texts[:8]) + (", …" if len(texts) > 8 else "")
