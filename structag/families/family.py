"""The data of a model family: which texts and tokens stand around reasoning, answers and calls.

A family is one JSON file.  `read_family` checks it; `structag.families.compose` turns it into
structural tags; docs/model-formats.md explains the fields to those who write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
    model_validator,
)

from structag.errors import FormatError
from structag.families.template import Element, TemplateError, Words, read_template
from structag.pointer import escaped
from structag.source import read_json
from structag.tags.model import ArgumentStyle, ElementStyleModel


def _tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Text: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Texts: TypeAlias = Annotated[Sequence[Text], AfterValidator(tuple)]
OneOrMore: TypeAlias = Annotated[
    Sequence[Text], BeforeValidator(_tuple), AfterValidator(tuple), Field(min_length=1)
]
Template: TypeAlias = StrictStr | list[StrictStr | list[StrictStr]]
"""Text with holes, or a list of such texts and of choices between them; see `template`."""


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Reasoning(_Data):
    """The block in which a model thinks.

    Attributes:
        begin: what opens it: any one of these.
        end: what closes it.
        after: template of what stands between it and the answer.
        is_repeated: several blocks may follow each other.
    """

    begin: OneOrMore
    end: Text
    after: Template = ""
    is_repeated: StrictBool = False


class Answer(_Data):
    """The markers around the text that the user sees.

    Attributes:
        begin: what opens it.
        end: what closes it.
        calls: ``"instead"``: a turn has either a text or calls; ``"after"``: the text, which may
            be empty, always comes first.
    """

    begin: Text
    end: Text
    calls: Literal["instead", "after"]


class Calls(_Data):
    """How calls are written: `begin`, a call, any number of `separator` and call, `end`.

    Attributes:
        begin, separator, end: templates without a tool in them.
        call: template of one call, with ``{name}`` and ``{arguments}`` or with ``{json}``.
        json: what ``{json}`` stands for: JSON with holes, which may be spaced freely.
        style: the argument style of ``{arguments}``.
        any_order: arguments come in any order, not only in the schema's.
        wrapper: markers that may stand around all calls, both or neither.
        is_single: never more than one call in a turn.
        text_before: text may come first even where a call is required.
        trigger: what makes text a call; if None, the token or the text that calls begin with.
        bare: for calls without any marker: a regular expression for how they begin.  A turn that
            begins so is a call, any other is text.  ``{names}`` stands for the tools' names.
    """

    begin: Template = ""
    call: Template
    json_text: StrictStr | list[StrictStr] | None = Field(default=None, alias="json")
    separator: Template = ""
    end: Template = ""
    wrapper: tuple[Text, Text] | None = None
    style: ArgumentStyle | ElementStyleModel = "json"
    any_order: StrictBool = False
    is_single: StrictBool = False
    text_before: StrictBool = False
    trigger: Text | None = None
    bare: Text | None = None


class BuiltinCall(_Data):
    """A call of a tool that the family brings along; `parameters` is the schema of its arguments.

    ``{text}`` in the template is free text, up to what follows it.
    """

    call: Template
    parameters: StrictBool | dict[str, Any] | None = None


class Source(_Data):
    """Where a fact comes from, and how sure it is."""

    fact: Text
    source: Text
    confidence: Literal["high", "medium", "low"]


class Sample(_Data):
    """An output that the format accepts, or rejects for the reason `why`.

    The tools are `structag.families.sample_tools`; the rest are arguments of `model_format`.
    """

    accept: StrictStr | None = None
    reject: StrictStr | None = None
    why: StrictStr | None = None
    tool_choice: StrictStr | dict[str, Any] = "auto"
    reasoning: StrictBool | None = None
    parallel_tool_calls: StrictBool = True
    prompt_tail: StrictStr | None = None
    builtin_tools: Texts = ()

    @model_validator(mode="after")
    def _check_output(self) -> Sample:
        if (self.accept is None) == (self.reject is None):
            raise ValueError("either `accept` or `reject`")
        return self

    @property
    def output(self) -> str:
        """The text, whichever it is."""
        return self.reject or "" if self.accept is None else self.accept


class Prompts(_Data):
    """How a prompt usually ends, with reasoning on and off; None if there is no such mode."""

    on: StrictStr | None = None
    off: StrictStr | None = None


class Family(_Data):
    """One family of models that write their turns alike.

    Attributes:
        name: what it is called here.
        models: which models belong to it.
        turn: what the prompt ends with before the model's turn.
        prompts: how the whole prompt usually ends.
        stop: the tokens that end a turn.
        tokens: the markers that are single tokens of the model; others are plain text.
        reasoning: None if the models do not reason.
        answer: None if the text that the user sees stands there without markers.
        calls: how tools are called.
        end: what the turn ends with.
        excludes: texts that only markers have, besides `tokens` and what calls begin with.
        builtin_tools: calls of tools that the family brings along, by the tool's type.
        sources: where the facts come from.
        samples: outputs to try; tests run them.
    """

    name: Annotated[StrictStr, Field(pattern=r"^[a-z0-9_.-]+$")]
    models: Text
    turn: StrictStr
    prompts: Prompts
    stop: Texts
    tokens: Texts = ()
    reasoning: Reasoning | None = None
    answer: Answer | None = None
    calls: Calls
    end: StrictStr = ""
    excludes: Texts = ()
    builtin_tools: Mapping[str, list[BuiltinCall]] = Field(default_factory=dict)
    sources: Annotated[Sequence[Source], Field(min_length=1)]
    samples: Sequence[Sample] = ()

    def elements(self, template: Template) -> tuple[Element, ...]:
        """A template of this family, taken apart."""
        return read_template(template, self.calls.json_text)

    @property
    def trigger(self) -> str | None:
        """What tells calls from the text before them; None where other markers do."""
        calls = self.calls
        if self.answer is not None or calls.bare is not None:
            return None
        opening = self.elements(calls.begin or calls.call)
        first = opening[0].text.strip() if opening and isinstance(opening[0], Words) else ""
        if calls.trigger is not None:
            return calls.trigger if calls.trigger in first else ""
        tokens = [token for token in self.tokens if first.startswith(token)]
        return max(tokens, key=len, default=first)


def read_family(source: str | bytes | Mapping[str, Any] | Family) -> Family:
    """The family that a JSON text or plain data describes.

    Raises:
        FormatError: `json-syntax`, `text-encoding`, or `family-value` with the JSON pointer.
    """
    if isinstance(source, Family):
        return source
    data = read_json(source) if isinstance(source, str | bytes) else source
    try:
        family = Family.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)[0]
        raise FormatError(
            f"a model family is wrong here: {details['msg']}",
            code="family-value",
            pointer=_pointer(data, details["loc"]),
            hint="docs/model-formats.md lists the fields",
        ) from None
    _check_templates(family)
    _check_calls(family)
    return family


def _check_templates(family: Family) -> None:
    """Refuse templates that cannot be read, and calls without a tool or arguments."""
    calls = family.calls
    places: list[tuple[str, Template, tuple[str, ...]]] = [
        ("/calls/begin", calls.begin, ()),
        ("/calls/call", calls.call, ("name", "arguments")),
        ("/calls/separator", calls.separator, ()),
        ("/calls/end", calls.end, ()),
    ]
    if family.reasoning is not None:
        places.append(("/reasoning/after", family.reasoning.after, ()))
    for tool, builtin_calls in family.builtin_tools.items():
        for index, call in enumerate(builtin_calls):
            place = f"/builtin_tools/{tool}/{index}/call"
            places.append((place, call.call, ("arguments", "text")))
    for pointer, template, allowed in places:
        try:
            elements = family.elements(template)
        except TemplateError as error:
            raise FormatError(str(error), code="family-value", pointer=pointer) from None
        holes = {hole for element in elements for hole in element.holes}
        if not holes <= set(allowed):
            raise FormatError(
                f"`{{{min(holes - set(allowed))}}}` cannot stand here",
                code="family-value",
                pointer=pointer,
                expected=", ".join(f"`{{{hole}}}`" for hole in allowed) or "text and patterns",
            )
        if pointer == "/calls/call" and holes != set(allowed):
            raise FormatError(
                "a call without " + " and ".join(f"`{{{h}}}`" for h in allowed if h not in holes),
                code="family-value",
                pointer=pointer,
                expected="both `{name}` and `{arguments}`, or `{json}`",
            )


def _check_calls(family: Family) -> None:
    """Refuse calls that nothing tells from text."""
    if family.trigger == "":
        raise FormatError(
            "nothing tells calls from the text before them",
            code="family-value",
            pointer="/calls",
            expected="a text that calls begin with, and that holds `trigger`",
            hint="or say `bare`, or put markers around the `answer`",
        )
    if family.calls.wrapper is not None and family.trigger is not None:
        raise FormatError(
            "a wrapper that may be missing around calls that a trigger tells from text",
            code="family-value",
            pointer="/calls/wrapper",
            expected="none, unless there is an `answer` or `bare`",
            hint="markers that are always there belong into `begin` and `end`",
        )
    if family.builtin_tools and family.trigger is not None:
        raise FormatError(
            "nothing tells calls of built-in tools from the text before them",
            code="family-value",
            pointer="/builtin_tools",
            expected="none, unless there is an `answer` or `bare`",
        )


def _pointer(data: Any, steps: Sequence[str | int]) -> str:
    """The JSON pointer of `steps`, without the names of union members that pydantic adds."""
    pointer = ""
    for step in steps:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            if isinstance(data, Mapping) and isinstance(step, str) and step.isidentifier():
                pointer += f"/{step}"
            continue
        pointer += f"/{escaped(str(step))}"
    return pointer
