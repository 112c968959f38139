"""Lowers a structural tag to the unified grammar: the meaning of each format.

Markers (begin, end, trigger, separator, const_string) are literals that control tokens may spell,
or tokens.  `structag.tags.regions` makes free text and runs of tokens, `structag.tags.dispatch`
what comes again and again.  Every format is marked with its JSON pointer.  Patterns, grammars and
schemas are lowered by `structag.text` and `structag.schema`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from structag.cache import Cache
from structag.errors import FormatError, GrammarError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Alt, Budget, Mark, Ref, Repeat, Seq
from structag.limits import Limits
from structag.tags.check import check_format
from structag.tags.dispatch import Case, lower_dispatch, lower_separated
from structag.tags.following import (
    END_OF_OUTPUT,
    Part,
    is_open,
    is_self_contained,
    is_unbounded,
    parts,
)
from structag.tags.languages import (
    lower_grammar_format,
    lower_regex_format,
    lower_schema_format,
)
from structag.tags.model import (
    AnyTextFormat,
    AnyTokensFormat,
    ConstStringFormat,
    DispatchFormat,
    ExcludeTokenFormat,
    GrammarFormat,
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
    TagsWithSeparatorFormat,
    TokenDispatchFormat,
    TokenFormat,
    TokenTriggeredTagsFormat,
    TriggeredTagsFormat,
)
from structag.tags.parse import KnownTag, TagSource, parse_document
from structag.tags.regions import Regions
from structag.tags.text_set import TextSet
from structag.tags.tokens import TokenNames, TokenTable
from structag.tags.walk import Walk, join_pointer, run_walk


def lower_document(
    source: TagSource,
    builder: GrammarBuilder,
    vocabulary: TokenTable,
    limits: Limits | None = None,
    known: Cache[KnownTag] | None = None,
) -> Ref:
    """The expression of the structural tag that `source` describes; the verbs one after the other.

    Tags with a content that is in `known` are not read again.

    Raises:
        StructagError: see `parse_format` and `lower_format`; pointers are into `source`.
    """
    tag, shape = parse_document(source, limits, known)
    try:
        return lower_format(
            tag, builder, vocabulary, limits, is_own=isinstance(source, str | bytes)
        )
    except StructagError as error:
        raise shape.relocate(error) from None


def lower_format(
    tag: StructuralTag,
    builder: GrammarBuilder,
    vocabulary: TokenTable,
    limits: Limits | None = None,
    *,
    is_own: bool = False,
) -> Ref:
    """The expression of `tag` in `builder`, its tokens resolved.  Checks the tag first.

    `is_own`: nobody else has the models, so that what they hold can never change.

    Raises:
        FormatError: see `check_format`.
        StructagError: a schema, pattern or grammar inside is refused; its pointer is that of the
            document.
        GrammarError: `grammar-empty`, if that shows already.
    """
    limits = limits or Limits()
    names = TokenNames(vocabulary)
    check_format(tag, names, limits)
    builder.marker_tokens.update(tag.marker_tokens)
    lowering = _Lowering(builder, names, limits, is_own)
    ref = run_walk(lowering.lower(Part(tag.format, "/format", END_OF_OUTPUT)))
    if ref == builder.empty:
        raise GrammarError(
            "no output can match",
            code="grammar-empty",
            pointer=lowering.empty_formats[0],
            hint="look for parts that exclude each other",
        )
    return ref


class _Lowering:
    def __init__(
        self, builder: GrammarBuilder, names: TokenNames, limits: Limits, is_own: bool = False
    ) -> None:
        self._is_own = is_own
        self._builder = builder
        self._names = names
        self._limits = limits
        self._regions = Regions(builder, names)
        self.empty_formats: list[str] = []
        """Pointers of formats that obviously nothing matches, inner ones first."""

    def lower(self, part: Part) -> Walk[Ref]:
        """The expression of one format, marked with its pointer."""
        match part.format:
            case TriggeredTagsFormat() as format:
                ref = yield self._triggered_tags(format, part)
            case TokenTriggeredTagsFormat() as format:
                ref = yield self._token_triggered_tags(format, part)
            case _:
                refs = []
                for inner in parts(part):
                    refs.append((yield self.lower(inner)))
                ref = self._composed(part, refs) if refs else self._leaf(part)
        if ref == self._builder.empty:
            self.empty_formats.append(part.pointer)
        return self._builder.mark(part.pointer, ref)

    def _leaf(self, part: Part) -> Ref:
        regions, pointer = self._regions, part.pointer
        match part.format:
            case ConstStringFormat(value=value):
                return regions.marker(value, pointer)
            case RegexFormat() as format:
                return lower_regex_format(format, self._builder, pointer, self._limits)
            case GrammarFormat() as format:
                return lower_grammar_format(
                    format, self._builder, pointer, self._limits, self._names
                )
            case JSONSchemaFormat() as format:
                return lower_schema_format(format, self._builder, pointer, self._limits)
            case AnyTextFormat() as format:
                return regions.text(part, format.excludes, format.max_chars, format.max_tokens)
            case TokenFormat() as token:
                return regions.marker(token, pointer)
            case ExcludeTokenFormat(exclude_tokens=tokens):
                return regions.token(part, tokens)
            case AnyTokensFormat(exclude_tokens=tokens, max_tokens=bound):
                return regions.run(part, tokens, bound)
            case _:
                raise AssertionError(part.format.type)

    def _composed(self, part: Part, refs: Sequence[Ref]) -> Ref:
        b = self._builder
        match part.format:
            case SequenceFormat():
                return b.seq(*refs)
            case OrFormat():
                return b.alt(*refs)
            case OptionalFormat():
                return b.alt(refs[0], b.epsilon)
            case PlusFormat():
                return self._repeat(part, refs[0], 1, -1)
            case StarFormat():
                return self._repeat(part, refs[0], 0, -1)
            case RepeatFormat(min=low, max=high):
                return self._repeat(part, refs[0], low, high)
            case TagFormat() as tag:
                return self._tag(tag, part.pointer, refs[0])
            case TagsWithSeparatorFormat() as format:
                if not format.separator and not format.stop_after_first:
                    for inner, ref in zip(parts(part), refs, strict=True):
                        self._refuse_bare_budget(inner, ref)
                return lower_separated(
                    b,
                    refs,
                    self._regions.marker(format.separator, part.pointer),
                    at_least_one=format.at_least_one,
                    once=format.stop_after_first,
                )
            case DispatchFormat() as format:
                return self._dispatch(format, part, refs)
            case TokenDispatchFormat() as format:
                return self._token_dispatch(format, part, refs)
            case _:
                raise AssertionError(part.format.type)

    def _repeat(self, part: Part, ref: Ref, low: int, high: int) -> Ref:
        (inner,) = parts(part)
        if is_unbounded(inner.format) and high != 0:
            return ref  # a region after a region is a region, searched as a whole
        if high == 1:
            return ref if low == 1 else self._builder.alt(ref, self._builder.epsilon)
        self._refuse_bare_budget(inner, ref)
        return self._builder.repeat(ref, low, None if high < 0 else high)

    def _refuse_bare_budget(self, part: Part, ref: Ref) -> None:
        if self._is_bare_budget(ref):
            raise FormatError(
                "a region with `max_tokens` is repeated, with nothing else that must be there",
                code="no-way-out",
                pointer=part.pointer,
                expected="something besides the region in each round",
                hint="put it into a tag, or bound the repeated region as a whole",
            )

    def _is_bare_budget(self, ref: Ref) -> bool:
        """Whether a budget may be all there is in one round of a repeat."""
        pending = [ref]
        while pending:
            ref = pending.pop()
            if self._builder.is_nullable(ref) is False:
                continue
            match self._builder.node(ref):
                case Budget():
                    return True
                case Seq(parts=inner) | Alt(parts=inner):
                    pending.extend(inner)
                case Repeat(child=child) | Mark(child=child):
                    pending.append(child)
        return False

    def _tag(self, tag: TagFormat, pointer: str, content: Ref, skip: int | None = 0) -> Ref:
        """The tag without the first `skip` characters of its begin, or without all of it."""
        marker, here = self._regions.marker, join_pointer(pointer, "end")
        begin, there = self._builder.epsilon, join_pointer(pointer, "begin")
        if isinstance(tag.begin, str):
            begin = marker(tag.begin[skip:], pointer)
        elif skip is not None:
            begin = marker(tag.begin, there)
        ends = self._builder.alt(*(marker(end, here) for end in tag.ends))
        origin = self._builder.origin
        return self._builder.seq(origin(there, begin), content, origin(here, ends))

    # -- what comes again and again

    def _tags_of(
        self,
        outer: Part,
        tags: Sequence[TagFormat],
        triggers: Sequence[tuple[str | int, int | None]],
        at_least_one: bool,
    ) -> Walk[list[Case]]:
        """The cases of a format whose triggers lead to tags: each tag's trigger and its length."""
        place = join_pointer(outer.pointer, "tags")
        pointers = [f"{place}/{index}" for index in range(len(tags))]
        shared = {} if at_least_one else self._shared_tags(tags, triggers, pointers)
        empty = self._builder.empty
        cases: list[Case] = []
        for index, (trigger, skip) in enumerate(triggers):
            rest = shared.get(index, empty)
            if rest != empty:
                cases.append(Case(trigger, rest, empty, False))
                continue
            tag = tags[index]
            part = Part(tag, pointers[index], outer.following)
            (inner,) = parts(part)
            content = yield self.lower(inner)
            rest, whole = (
                self._builder.mark(part.pointer, self._tag(tag, part.pointer, content, cut))
                if is_used
                else empty
                for cut, is_used in ((skip, True), (0, at_least_one))
            )
            cases.append(Case(trigger, rest, whole, is_open(tag)))
        return cases

    def _shared_tags(
        self,
        tags: Sequence[TagFormat],
        triggers: Sequence[tuple[str | int, int | None]],
        pointers: Sequence[str],
    ) -> dict[int, Ref]:
        """The tags without their triggers that are made once for many documents, by their index."""
        if not (self._is_own and self._builder.shares):
            return {}
        indexes = [
            index
            for index, tag in enumerate(tags)
            if is_self_contained(tag)
            and type(tag.content) is JSONSchemaFormat
            and triggers[index][1] is not None
        ]
        owners = [tags[index] for index in indexes]
        skips = [triggers[index][1] for index in indexes]
        places = [pointers[index] for index in indexes]

        def lower(number: int, builder: GrammarBuilder) -> Ref:
            tag = owners[number]
            lowering = _Lowering(builder, self._names, self._limits)
            (inner,) = parts(Part(tag, "", END_OF_OUTPUT))
            try:
                content = run_walk(lowering.lower(inner))
            except StructagError as error:
                raise error.at(places[number]) from None
            return builder.mark("", lowering._tag(tag, "", content, skips[number]))

        keys = [("tag", id(tag), skip) for tag, skip in zip(owners, skips, strict=True)]
        refs = self._builder.owned_fragments(keys, owners, lower, places)
        return dict(zip(indexes, refs, strict=True))

    def _triggered_tags(self, format: TriggeredTagsFormat, part: Part) -> Walk[Ref]:
        # Checked before, and charged for: each begin is a text and starts with one of them.
        known = TextSet(format.triggers, charge=lambda work: None)
        found = known.prefix_of_each([cast(str, tag.begin) for tag in format.tags])
        triggers = [(trigger, len(trigger)) for trigger in cast("list[str]", found)]
        cases = yield self._tags_of(part, format.tags, triggers, format.at_least_one)
        return self._among_text(
            part, cases, format.excludes, format.at_least_one, format.stop_after_first
        )

    def _token_triggered_tags(self, format: TokenTriggeredTagsFormat, part: Part) -> Walk[Ref]:
        begins = [cast(TokenFormat, tag.begin).token for tag in format.tags]
        triggers = [(self._names.resolve(token, part.pointer), None) for token in begins]
        cases = yield self._tags_of(part, format.tags, triggers, format.at_least_one)
        return self._among_tokens(
            part, cases, format.exclude_tokens, format.at_least_one, format.stop_after_first
        )

    def _dispatch(self, format: DispatchFormat, part: Part, refs: Sequence[Ref]) -> Ref:
        empty, rules = self._builder.empty, self._rules_of(part, refs)
        cases = [
            Case(pattern, ref, empty, is_open(content))
            for (pattern, content), ref in zip(format.rules, rules, strict=True)
        ]
        return self._among_text(part, cases, format.excludes, False, not format.loop)

    def _token_dispatch(self, format: TokenDispatchFormat, part: Part, refs: Sequence[Ref]) -> Ref:
        empty, rules = self._builder.empty, self._rules_of(part, refs)
        cases = [
            Case(self._names.resolve(token, part.pointer), ref, empty, is_open(content))
            for (token, content), ref in zip(format.rules, rules, strict=True)
        ]
        return self._among_tokens(part, cases, format.exclude_tokens, False, not format.loop)

    def _rules_of(self, part: Part, refs: Sequence[Ref]) -> list[Ref]:
        # The mark keeps the content apart from the pattern: no token spells across the two.
        return [
            self._builder.mark(join_pointer(part.pointer, "rules", index), ref)
            for index, ref in enumerate(refs)
        ]

    def _among_text(
        self, part: Part, cases: Sequence[Case], excludes: Sequence[str], first: bool, once: bool
    ) -> Ref:
        triggers = [str(case.trigger) for case in cases]
        return lower_dispatch(
            self._builder,
            cases,
            lambda some: self._regions.scan(part, some, excludes),
            self._regions.text(part, (*triggers, *excludes)),
            at_least_one=first,
            once=once,
        )

    def _among_tokens(
        self,
        part: Part,
        cases: Sequence[Case],
        excludes: Sequence[int | str],
        first: bool,
        once: bool,
    ) -> Ref:
        b = self._builder
        run = self._regions.run(part, [*(case.trigger for case in cases), *excludes])
        return lower_dispatch(
            b,
            cases,
            lambda some: b.seq(
                run, b.alt(*(b.seq(b.tokens([int(t)]), b.alt(*refs)) for t, refs in some.items()))
            ),
            run,
            at_least_one=first,
            once=once,
        )
