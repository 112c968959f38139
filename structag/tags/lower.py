"""Lowers a structural tag to the unified grammar: the meaning of each format.

Free text is text in which no exclude and none of the ends that may follow occurs; the end comes
after it as a literal, so only the text itself is searched.  Markers (begin, end, trigger,
const_string) are literals that control tokens may spell.  Every format is marked with its JSON
pointer.  Patterns and schemas are lowered by `structag.text.regex` and `structag.schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structag.errors import StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.limits import Limits
from structag.tags.check import check_format
from structag.tags.following import END_OF_OUTPUT, Following, Part, has_free_text, is_open, parts
from structag.tags.model import (
    AnyTextFormat,
    ConstStringFormat,
    Format,
    JSONSchemaFormat,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RegexFormat,
    RepeatFormat,
    SequenceFormat,
    StarFormat,
    StructuralTag,
    TagFormat,
    TriggeredTagsFormat,
)
from structag.tags.text_set import TextSet
from structag.tags.walk import Walk, join_pointer, run_walk


def lower_format(tag: StructuralTag, builder: GrammarBuilder, limits: Limits | None = None) -> Ref:
    """The expression of `tag` in `builder`.  Checks the tag first.

    Raises:
        FormatError: see `check_format`.
        StructagError: a schema or pattern inside is refused; its pointer is that of the document.
    """
    limits = limits or Limits()
    check_format(tag, limits)
    lowering = _Lowering(builder, limits)
    return run_walk(lowering.lower(Part(tag.format, "/format", END_OF_OUTPUT)))


class _Lowering:
    def __init__(self, builder: GrammarBuilder, limits: Limits) -> None:
        self._builder = builder
        self._limits = limits

    def lower(self, part: Part) -> Walk[Ref]:
        """The expression of one format, marked with its pointer."""
        format = part.format
        if isinstance(format, TriggeredTagsFormat):
            ref = yield self._triggered_tags(format, part)
        else:
            refs = []
            for inner in parts(part):
                refs.append((yield self.lower(inner)))
            ref = self._combine(part, refs)
        return self._builder.mark(part.pointer, ref)

    def _combine(self, part: Part, refs: Sequence[Ref]) -> Ref:
        b = self._builder
        match part.format:
            case ConstStringFormat(value=value):
                return self._marker(value)
            case RegexFormat() as regex:
                return self._regex(regex, part.pointer)
            case JSONSchemaFormat() as schema:
                return self._json_schema(schema, part.pointer)
            case AnyTextFormat(excludes=excludes):
                return self._text(excludes, part.following)
            case SequenceFormat():
                return b.seq(*refs)
            case OrFormat():
                return b.alt(*refs)
            case OptionalFormat():
                return b.optional(refs[0])
            case PlusFormat(content=content):
                return self._repeat(content, refs[0], 1, -1)
            case StarFormat(content=content):
                return self._repeat(content, refs[0], 0, -1)
            case RepeatFormat(content=content, min=low, max=high):
                return self._repeat(content, refs[0], low, high)
            case TagFormat() as tag:
                return self._tag(tag, refs[0])
            case _:
                raise AssertionError(part.format.type)

    def _repeat(self, content: Format, ref: Ref, low: int, high: int) -> Ref:
        if isinstance(content, AnyTextFormat) and high != 0:
            return ref  # text after text is text, searched as a whole
        return self._builder.repeat(ref, low, None if high < 0 else high)

    def _tag(self, tag: TagFormat, content: Ref, skip: int = 0) -> Ref:
        """The tag without the first `skip` characters of its begin."""
        ends = self._builder.alt(*(self._marker(end) for end in tag.ends))
        return self._builder.seq(self._marker(tag.begin[skip:]), content, ends)

    def _triggered_tags(self, format: TriggeredTagsFormat, outer: Part) -> Walk[Ref]:
        # A tag without an end whose content ends in free text runs on to what follows the whole
        # format: nothing of the loop comes after it.
        triggers = TextSet(format.triggers, charge=lambda work: None)
        closed: dict[str, list[Ref]] = {trigger: [] for trigger in format.triggers}
        open_: dict[str, list[Ref]] = {trigger: [] for trigger in format.triggers}
        whole: dict[bool, list[Ref]] = {False: [], True: []}
        for part in parts(outer):
            tag = part.format
            assert isinstance(tag, TagFormat)
            (inner,) = parts(part)
            content = yield self.lower(inner)
            (trigger,) = triggers.prefixes_of(tag.begin)
            rest = self._builder.mark(part.pointer, self._tag(tag, content, len(trigger)))
            runs_on = is_open(tag)
            (open_ if runs_on else closed)[trigger].append(rest)
            whole[runs_on].append(self._builder.mark(part.pointer, self._tag(tag, content)))
        first_closed = self._builder.alt(*whole[False])
        first_open = self._builder.alt(*whole[True])
        if not has_free_text(format):
            return self._builder.alt(first_closed, first_open)
        text = self._text((*format.triggers, *format.excludes), outer.following)
        scan_closed = self._scan(format, closed, outer.following)
        last = self._builder.alt(self._scan(format, open_, outer.following), text)
        if format.stop_after_first:
            return self._builder.alt(scan_closed, last)
        rest = self._builder.seq(self._builder.repeat(scan_closed, 0), last)
        if format.at_least_one:
            return self._builder.alt(self._builder.seq(first_closed, rest), first_open)
        return rest

    def _scan(
        self, format: TriggeredTagsFormat, tags: dict[str, list[Ref]], following: Following
    ) -> Ref:
        """Text up to a trigger, then one of its `tags`; every trigger stops the text."""
        if not any(tags.values()):
            return self._builder.empty
        cases = [(trigger.encode(), self._builder.alt(*refs)) for trigger, refs in tags.items()]
        return self._builder.scan(cases, _encode((*format.excludes, *following.ends)))

    def _text(self, excludes: Iterable[str], following: Following) -> Ref:
        return self._builder.no_occurrence(_encode((*excludes, *following.ends)))

    def _marker(self, text: str) -> Ref:
        return self._builder.literal(text.encode(), marker=True)

    def _regex(self, format: RegexFormat, pointer: str) -> Ref:
        from structag.text.regex import lower_regex

        try:
            return lower_regex(format.pattern, self._builder, search=False, limits=self._limits)
        except StructagError as error:
            raise error.at(join_pointer(pointer, "pattern")) from None

    def _json_schema(self, format: JSONSchemaFormat, pointer: str) -> Ref:
        from structag.schema.arguments import lower_arguments

        return lower_arguments(
            format.json_schema,
            format.style,
            self._builder,
            pointer=join_pointer(pointer, "json_schema"),
            limits=self._limits,
        )


def _encode(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]
