"""Makes a structural tag of a family and a request: which tools may or must be called, and where
in the turn the output starts.

The turn is reasoning, then text and calls.  Free text holds none of the family's markers, so that
reasoning is closed before a call and a call is never mistaken for text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from structag.families.family import BuiltinCall, Family
from structag.families.template import (
    WHITESPACE,
    Choice,
    Element,
    Hole,
    Pattern,
    Words,
    escaped,
)
from structag.tags.model import (
    AnyTextFormat,
    ArgumentStyle,
    ConstStringFormat,
    ElementStyleModel,
    Format,
    JSONSchemaFormat,
    OptionalFormat,
    OrFormat,
    RegexFormat,
    SequenceFormat,
    StarFormat,
    StructuralTag,
    TagFormat,
    TriggeredTagsFormat,
)

Start = Literal["turn", "reasoning", "answer", "text"]
"""Where an output starts: with the turn, inside the reasoning, after it, or inside the answer's
markers."""


class Tool(NamedTuple):
    """A function: its name and the JSON Schema of its arguments."""

    name: str
    parameters: dict[str, Any] | bool


class Request(NamedTuple):
    """What an output may be.

    Attributes:
        tools: the functions that may be called.
        builtin_tools: the family's own tools that may be called, by type.
        names: of all functions, also those that may not be called now.
        calls: whether calls are ruled out, possible, or must be there.
        is_parallel: whether there may be more than one call.
        start: where the output starts.
        reasons: whether the model may open reasoning itself.
    """

    tools: tuple[Tool, ...]
    builtin_tools: tuple[str, ...]
    names: tuple[str, ...]
    calls: Literal["none", "auto", "required"]
    is_parallel: bool
    start: Start
    reasons: bool


def compose_tag(family: Family, request: Request) -> StructuralTag:
    """The structural tag of the outputs of `family` that `request` allows."""
    composer = _Composer(family, request)
    parts = [*composer.reasoning(), composer.answer(), *_words(family.end)]
    return StructuralTag(format=_sequence(parts), marker_tokens=family.tokens)


class _Composer:
    def __init__(self, family: Family, request: Request) -> None:
        self.family = family
        self.request = request
        calls = family.calls
        self.trigger = family.trigger
        own = [*family.tokens, *family.excludes]
        if family.reasoning is not None:
            own += [*family.reasoning.begin, family.reasoning.end]
        self.markers = list(dict.fromkeys([*own, self.trigger] if self.trigger else own))
        self.options = [*self._function_calls(), *self._builtin_calls()]
        self.is_single = calls.is_single or not request.is_parallel

    # -- reasoning and text

    def reasoning(self) -> list[Format]:
        """What comes before the answer."""
        reasoning, start = self.family.reasoning, self.request.start
        if reasoning is None or start in ("answer", "text"):
            return []
        blocks = [self._block(begin, reasoning.end) for begin in reasoning.begin]
        after = self._formats(self.family.elements(reasoning.after))
        whole = _sequence([_choice(blocks), *after])
        more: list[Format] = []
        if self.request.reasons:
            more.append(StarFormat(content=whole))
        if start == "reasoning":
            opened = [self._block("", reasoning.end), *after]
            return [*opened, *(more if reasoning.is_repeated else [])]
        if reasoning.is_repeated:
            return more
        return [OptionalFormat(content=whole)] if self.request.reasons else []

    def answer(self) -> Format:
        """Text and calls."""
        request, answer = self.request, self.family.answer
        if answer is None:
            return self._inline()
        begin = "" if request.start == "text" else answer.begin
        text = self._block(begin, answer.end)
        if not self.options or request.calls == "none":
            return text
        calls = self._calls()
        if answer.calls == "after":
            needed = request.calls == "required"
            return _sequence([text, calls if needed else OptionalFormat(content=calls)])
        if request.start == "text":
            return text
        return calls if request.calls == "required" else _choice([text, calls])

    def _inline(self) -> Format:
        """Text without markers around it, and calls in it."""
        request, calls = self.request, self.family.calls
        if not self.options or request.calls == "none":
            return self._text()
        if calls.bare is not None:
            block = self._calls()
            return block if request.calls == "required" else _choice([self._text(), block])
        if request.calls == "required" and not calls.text_before:
            return self._calls()
        trigger = self.trigger
        assert trigger
        rest = self._calls(trigger)
        if request.calls == "required":
            return _sequence([self._block("", trigger), rest])
        return TriggeredTagsFormat(
            triggers=[trigger],
            tags=[TagFormat(begin=trigger, content=rest, end="")],
            excludes=[marker for marker in self.markers if marker not in trigger],
            stop_after_first=True,
        )

    def _text(self) -> Format:
        bare = self.family.calls.bare
        if bare is None or not self.request.names:
            return AnyTextFormat(excludes=self.markers)
        names = "|".join(map(escaped, self.request.names))
        pattern = bare.replace("{names}", f"(?:{names})").replace("{ws}", WHITESPACE)
        return RegexFormat(pattern=rf"(?!{pattern})[\s\S]*", excludes=self.markers)

    def _block(self, begin: str, end: str) -> Format:
        return TagFormat(begin=begin, content=AnyTextFormat(excludes=self.markers), end=end)

    # -- calls

    def _calls(self, trigger: str = "") -> Format:
        """All calls; without what comes up to the end of `trigger`, if that is given."""
        family = self.family
        begin, end = (family.elements(family.calls.begin), family.elements(family.calls.end))
        separator = family.elements(family.calls.separator)
        call = _branches(self.options)
        first = _sequence([*self._formats(begin), call])
        if trigger:
            first = _without(first, trigger)
        parts: list[Format] = [first]
        if not self.is_single:
            parts.append(StarFormat(content=_sequence([*self._formats(separator), call])))
        calls = _sequence([*parts, *self._formats(end)])
        if family.calls.wrapper is None:
            return calls
        begin_all, end_all = map(_words, family.calls.wrapper)
        return _choice([calls, _sequence([*begin_all, calls, *end_all])])

    def _function_calls(self) -> list[list[Format]]:
        """A call of any one of the functions; what no tool has to do with is there once."""
        tools, calls = self.request.tools, self.family.calls
        if not tools:
            return []
        return [
            self._function_call(elements)
            for elements in _alternatives(self.family.elements(calls.call))
        ]

    def _function_call(self, elements: Sequence[Element]) -> list[Format]:
        places = [index for index, element in enumerate(elements) if element.holes]
        first, last = places[0], places[-1] + 1
        tools = self.request.tools
        each = [_sequence(self._formats(elements[first:last], tool)) for tool in tools]
        before, after = self._formats(elements[:first]), self._formats(elements[last:])
        return [*before, _choice(each), *after]

    def _builtin_calls(self) -> list[list[Format]]:
        found = []
        for kind in self.request.builtin_tools:
            for call in self.family.builtin_tools[kind]:
                found.append(self._builtin_call(kind, call))
        return found

    def _builtin_call(self, kind: str, call: BuiltinCall) -> list[Format]:
        parameters: Any = {"type": "object"} if call.parameters is None else call.parameters
        return self._formats(self.family.elements(call.call), Tool(kind, parameters), "json")

    def _formats(
        self,
        elements: Sequence[Element],
        tool: Tool | None = None,
        style: ArgumentStyle | ElementStyleModel | None = None,
    ) -> list[Format]:
        """One format for each element; free text takes the text behind it as its end."""
        calls = self.family.calls
        found: list[Format] = []
        pending = list(reversed(elements))
        while pending:
            match pending.pop():
                case Words(text):
                    found.append(ConstStringFormat(value=text))
                case Pattern(pattern):
                    found.append(RegexFormat(pattern=pattern))
                case Choice(options):
                    choices = [_sequence(self._formats(o, tool, style)) for o in options]
                    found.append(_choice(choices))
                case Hole("name") if tool is not None:
                    found.append(ConstStringFormat(value=tool.name))
                case Hole("arguments") if tool is not None:
                    found.append(
                        JSONSchemaFormat(
                            json_schema=tool.parameters,
                            style=style or calls.style,
                            any_order=calls.any_order,
                        )
                    )
                case Hole("text"):
                    end = pending.pop() if pending else Words("")
                    assert isinstance(end, Words)
                    found.append(self._block("", end.text))
        return found


def _branches(options: Sequence[Sequence[Format]]) -> Format:
    """Any one of the sequences; what all begin with is there once."""
    shared: list[Format] = []
    for parts in zip(*options, strict=False):
        if any(part != parts[0] for part in parts):
            break
        shared.append(parts[0])
    return _sequence([*shared, _choice([_sequence(o[len(shared) :]) for o in options])])


def _alternatives(elements: Sequence[Element]) -> list[list[Element]]:
    """The sequences that `elements` stand for, without choices that have to do with the tool.

    Tools are then told apart only where they differ: a state that knows nothing of the tool holds
    each alternative once, not once for every tool.
    """
    found: list[list[Element]] = [[]]
    for element in elements:
        if isinstance(element, Choice) and element.holes:
            options = [inner for option in element.options for inner in _alternatives(option)]
            found = [[*before, *option] for before in found for option in options]
        else:
            found = [[*before, element] for before in found]
    return found


def _without(format: Format, trigger: str) -> Format:
    """`format` without its beginning, up to the end of `trigger`."""
    if isinstance(format, SequenceFormat):
        return _sequence([_without(format.elements[0], trigger), *format.elements[1:]])
    assert isinstance(format, ConstStringFormat), format.type
    return ConstStringFormat(value=format.value.partition(trigger)[2])


def _words(text: str) -> list[Format]:
    return [ConstStringFormat(value=text)] if text else []


def _sequence(parts: Sequence[Format]) -> Format:
    flat: list[Format] = []
    for part in parts:
        if isinstance(part, SequenceFormat):
            flat.extend(part.elements)
        elif part != ConstStringFormat(value=""):
            flat.append(part)
    joined: list[Format] = []
    for part in flat:
        last = joined[-1] if joined else None
        if isinstance(part, ConstStringFormat) and isinstance(last, ConstStringFormat):
            joined[-1] = ConstStringFormat(value=last.value + part.value)
        else:
            joined.append(part)
    if not joined:
        return ConstStringFormat(value="")
    return joined[0] if len(joined) == 1 else SequenceFormat(elements=joined)


def _choice(options: Sequence[Format]) -> Format:
    return options[0] if len(options) == 1 else OrFormat(elements=options)
