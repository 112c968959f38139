"""Checks how the formats of a structural tag fit together; model and `parse` check each by itself.

Each refusal names the place, the reason and a way to mend it.  What passes here has a way out of
every free text and a way into every tag, so that `lower` need not ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structag.errors import FormatError, LimitError
from structag.limits import Limits
from structag.tags.following import END_OF_OUTPUT, Part, has_free_text, parts
from structag.tags.model import AnyTextFormat, StructuralTag, TriggeredTagsFormat
from structag.tags.text_set import TextSet
from structag.tags.walk import join_pointer


def check_format(tag: StructuralTag, limits: Limits | None = None) -> None:
    """Refuse a structural tag whose parts contradict each other.

    Raises:
        FormatError: `no-way-out`, `trigger-unreachable`, `trigger-mismatch`, `exclude-conflict`.
        LimitError: `limit`, looking at all formats and comparing their texts would take more than
            `Limits.max_work`.
    """
    checker = _Checker(limits or Limits())
    pending = [Part(tag.format, "/format", END_OF_OUTPUT)]
    while pending:
        part = pending.pop()
        checker.visit(part)
        pending.extend(reversed(list(parts(part))))


_FORMAT_WORK = 20


class _Checker:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._work = 0

    def visit(self, part: Part) -> None:
        """Check one format against its surroundings."""
        self._charge(_FORMAT_WORK + len(part.pointer))
        match part.format:
            case AnyTextFormat():
                _check_way_out(part)
            case TriggeredTagsFormat() as triggered:
                if has_free_text(triggered):
                    _check_way_out(part)
                    self._check_ends(triggered, part)
                self._check_triggers(triggered, part.pointer)
                self._check_tags(triggered, part.pointer)
                self._check_excludes(triggered, part.pointer)

    def _check_triggers(self, format: TriggeredTagsFormat, pointer: str) -> None:
        triggers = self._text_set(format.triggers)
        for index, trigger in enumerate(format.triggers):
            other = triggers.first_inside(trigger[:-1])
            if other is not None:
                raise FormatError(
                    f"the trigger {_quote(trigger)} is never reached: {_quote(other)} "
                    "is complete before it",
                    code="trigger-unreachable",
                    pointer=join_pointer(pointer, "triggers", index),
                    hint=f"drop one of the two; {_quote(other)} can lead to the tags of both",
                )

    def _check_ends(self, format: TriggeredTagsFormat, part: Part) -> None:
        ends = self._text_set(part.following.ends)
        for index, trigger in enumerate(format.triggers):
            end = ends.first_inside(trigger)
            if end is not None:
                raise FormatError(
                    f"the trigger {_quote(trigger)} is never reached: the text before it stops at "
                    f"{_quote(end)}, an end of the enclosing tag",
                    code="trigger-unreachable",
                    pointer=join_pointer(part.pointer, "triggers", index),
                    hint="choose an end that does not occur in a trigger",
                )

    def _check_tags(self, format: TriggeredTagsFormat, pointer: str) -> None:
        triggers = self._text_set(format.triggers)
        used = set()
        for index, tag in enumerate(format.tags):
            matching = triggers.prefixes_of(tag.begin)
            used.update(matching)
            if len(matching) != 1:
                starts = "several triggers" if matching else "no trigger"
                raise FormatError(
                    f"the begin {_quote(tag.begin)} starts with {starts}",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "tags", index, "begin"),
                    expected=f"exactly one of {_list(matching or format.triggers)}",
                    hint="keep only the shortest" if matching else "add a trigger or mend `begin`",
                )
        for index, trigger in enumerate(format.triggers):
            if trigger not in used:
                raise FormatError(
                    f"the trigger {_quote(trigger)} leads to no tag",
                    code="trigger-mismatch",
                    pointer=join_pointer(pointer, "triggers", index),
                    expected="a tag whose `begin` starts with it",
                    hint="add such a tag, or list the text under `excludes` to forbid it",
                )

    def _check_excludes(self, format: TriggeredTagsFormat, pointer: str) -> None:
        excludes = self._text_set(format.excludes)
        places = [("trigger", trigger) for trigger in format.triggers]
        places += [("begin", tag.begin) for tag in format.tags]
        for kind, text in places:
            exclude = excludes.first_inside(text)
            if exclude is not None:
                raise FormatError(
                    f"the excluded text {_quote(exclude)} occurs in the {kind} {_quote(text)}",
                    code="exclude-conflict",
                    pointer=join_pointer(pointer, "excludes", list(format.excludes).index(exclude)),
                    hint="drop the exclude, or choose a longer one",
                )

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


def _check_way_out(part: Part) -> None:
    blocker = part.following.blocker
    if blocker is None:
        return
    what = f"the free text of this `{part.format.type}`"
    if part.pointer.startswith(blocker + "/"):
        reason = f"{what} is repeated, and nothing tells where it stops"
    else:
        reason = f"`{blocker}` follows {what}, and nothing tells where the text stops"
    raise FormatError(
        reason,
        code="no-way-out",
        pointer=part.pointer,
        expected="free text at the end of a tag or of the document",
        hint='put it into {"type": "tag", "begin": "", "content": …, "end": "…"}',
    )


def _quote(text: str) -> str:
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"


def _list(texts: Sequence[str]) -> str:
    return ", ".join(_quote(text) for text in texts[:8]) + (", …" if len(texts) > 8 else "")
