"""Tools and `tool_choice` in OpenAI's shapes, and the formats of model families they turn into.

A family says how its models write reasoning, text and calls; a request says which calls are
allowed.  Together they make a structural tag.  Families are files of ``builtin_formats/`` and those
given to `register_model_format`.

Source of the shapes: OpenAI's API reference, Chat Completions and Responses.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple, NoReturn

from structag import builtin_formats
from structag.errors import FormatError
from structag.families.compose import Request, Start, Tool, compose_tag
from structag.families.family import Family, read_family
from structag.tags.model import StructuralTag

_registered: dict[str, Family] = {}
_read: dict[str, Family] = {}
_lock = threading.Lock()


def model_formats() -> list[str]:
    """The names of all families: built in and registered, in alphabetical order."""
    with _lock:
        return sorted({*builtin_formats.names(), *_registered})


def register_model_format(source: str | bytes | Mapping[str, Any] | Family) -> str:
    """Make a family known in this process, and return its name.

    Args:
        source: the JSON text of a family's file, or its data; docs/model-formats.md has the fields.
            A family registered before, or built in, is replaced if the name is the same.

    Raises:
        FormatError: `json-syntax`, `text-encoding`, or `family-value` with the JSON pointer.
    """
    family = read_family(source)
    with _lock:
        _registered[family.name] = family
    return family.name


def model_family(name: str) -> Family:
    """The data of a family, such as its stop tokens and its sources.

    Raises:
        FormatError: `family-unknown`.
    """
    with _lock:
        family = _registered.get(name) or _read.get(name)
        if family is not None:
            return family
    names = model_formats()
    if name not in names:
        close = get_close_matches(str(name)[:60], names, n=1)
        raise FormatError(
            f"there is no model format `{str(name)[:60]}`",
            code="family-unknown",
            expected="one of " + ", ".join(names),
            hint=f"did you mean `{close[0]}`?" if close else None,
        )
    family = read_family(builtin_formats.load_source(name))
    with _lock:
        return _read.setdefault(name, family)


def model_format(
    family: str | Family,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: str | Mapping[str, Any] | None = None,
    reasoning: bool | None = None,
    parallel_tool_calls: bool | None = None,
    prompt_tail: str | None = None,
) -> StructuralTag:
    """The structural tag of what a model of `family` may write in its turn.

    Args:
        family: a name out of `model_formats`, or a family itself.
        tools: in the shape of Chat Completions or of Responses.  Arguments obey their schema
            unless the tool says ``"strict": false``; then they are any object.  A tool of another
            type than ``function`` is one that the family brings along.
        tool_choice: ``"auto"`` (also if None), ``"none"``, ``"required"``, the name of one tool or
            a list of allowed ones, both in OpenAI's shapes.  ``"none"`` keeps calls out of the text
            as well.
        reasoning: False: no reasoning is part of the output; True: it is, or may be, as the prompt
            says; None: as the prompt says.
        parallel_tool_calls: False allows one call at most.
        prompt_tail: how the rendered prompt ends, or all of it; it tells whether reasoning is open,
            closed, or opened by the model.  If None, as the family's prompts usually end.

    Raises:
        FormatError: `family-unknown`; `tool-value` with the JSON pointer of the argument
            (``/tools/0/function/name``); `reasoning-conflict`.
    """
    if not isinstance(family, str | Family):
        raise TypeError(f"family is a {type(family).__name__}, expected a name or a Family")
    if prompt_tail is not None and not isinstance(prompt_tail, str):
        raise TypeError(f"prompt_tail is a {type(prompt_tail).__name__}, expected a str or None")
    known = family if isinstance(family, Family) else model_family(family)
    listed = _Tools(known, () if tools is None else tools)
    choice = _read_choice("auto" if tool_choice is None else tool_choice, listed)
    start = _start(known, reasoning, prompt_tail)
    functions = tuple(tool for tool in listed.functions if tool.name in choice.names)
    kinds = tuple(kind for kind in listed.builtin if kind in choice.names)
    if choice.calls == "required" and not functions and not kinds:
        raise FormatError(
            "a call is required, and there is no tool",
            code="tool-value",
            pointer="/tool_choice",
            expected="at least one tool",
        )
    request = Request(
        tools=functions,
        builtin_tools=kinds,
        names=tuple(tool.name for tool in listed.functions),
        calls=choice.calls,
        is_parallel=parallel_tool_calls is not False and not choice.is_named,
        start=start,
        reasons=reasoning is not False,
    )
    return compose_tag(known, request)


# -- tools


class _Tools:
    """The tools of a request, in order."""

    def __init__(self, family: Family, tools: Sequence[Mapping[str, Any]]) -> None:
        if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
            _refuse("/tools", tools, "a list of tools")
        self.functions: list[Tool] = []
        self.builtin: list[str] = []
        for index, tool in enumerate(tools):
            pointer = f"/tools/{index}"
            if not isinstance(tool, Mapping):
                _refuse(pointer, tool, "a tool: an object with a `type`")
            kind = tool.get("type")
            if kind == "function":
                self.functions.append(_read_function(tool, pointer))
            elif isinstance(kind, str) and kind in family.builtin_tools:
                self.builtin.append(kind)
            else:
                types = ", ".join(f"`{name}`" for name in ("function", *family.builtin_tools))
                _refuse(f"{pointer}/type", kind, f"one of {types}")
        names = [tool.name for tool in self.functions]
        self.function_names = frozenset(names)
        if len(self.function_names) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            _refuse("/tools", twice, "a different name for each function")
        self.names = frozenset([*names, *self.builtin])


def _read_function(tool: Mapping[str, Any], pointer: str) -> Tool:
    if "function" in tool:  # Chat Completions; Responses has the fields in the tool itself
        tool, pointer = tool["function"], f"{pointer}/function"
        if not isinstance(tool, Mapping):
            _refuse(pointer, tool, "an object with a `name`")
    name, parameters, strict = tool.get("name"), tool.get("parameters"), tool.get("strict")
    if not isinstance(name, str) or not _is_name(name):
        _refuse(f"{pointer}/name", name, "letters, digits and `_-.:/`")
    if strict is not None and not isinstance(strict, bool):
        _refuse(f"{pointer}/strict", strict, "true or false")
    if parameters is None:
        return Tool(name, {"type": "object", "additionalProperties": False})
    if not isinstance(parameters, Mapping):
        _refuse(f"{pointer}/parameters", parameters, "a JSON Schema: an object")
    if not all(isinstance(keyword, str) for keyword in parameters):
        _refuse(f"{pointer}/parameters", parameters, "a JSON Schema: its keywords are strings")
    if parameters.get("type", "object") != "object":
        _refuse(f"{pointer}/parameters/type", parameters["type"], "`object`")
    if strict is False:
        return Tool(name, {"type": "object"})
    return Tool(name, {"type": "object", **parameters})


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 256 and all(char.isalnum() or char in "_-.:/" for char in name)


# -- tool_choice


class _Choice(NamedTuple):
    calls: Literal["none", "auto", "required"]
    names: frozenset[str]
    is_named: bool = False


def _read_choice(choice: str | Mapping[str, Any], tools: _Tools) -> _Choice:
    if choice == "none":
        return _Choice("none", frozenset())
    if choice == "auto":
        return _Choice("auto", tools.names)
    if choice == "required":
        return _Choice("required", tools.names)
    if isinstance(choice, Mapping):
        if choice.get("type") == "allowed_tools":
            return _read_allowed(choice, tools)
        name = _name_of(choice, "/tool_choice", tools)
        return _Choice("required", frozenset([name]), is_named=True)
    _refuse("/tool_choice", choice, "`auto`, `none`, `required` or an object that names tools")


def _read_allowed(choice: Mapping[str, Any], tools: _Tools) -> _Choice:
    pointer = "/tool_choice"
    if "allowed_tools" in choice:  # Chat Completions; Responses has the fields in the choice
        choice, pointer = choice["allowed_tools"], f"{pointer}/allowed_tools"
        if not isinstance(choice, Mapping):
            _refuse(pointer, choice, "an object with `mode` and `tools`")
    mode, listed = choice.get("mode"), choice.get("tools")
    if mode not in ("auto", "required"):
        _refuse(f"{pointer}/mode", mode, "`auto` or `required`")
    if not isinstance(listed, list | tuple) or not listed:
        _refuse(f"{pointer}/tools", listed, "a non-empty list of tools")
    names = []
    for index, tool in enumerate(listed):
        place = f"{pointer}/tools/{index}"
        if not isinstance(tool, Mapping):
            _refuse(place, tool, "an object that names a tool")
        names.append(_name_of(tool, place, tools))
    return _Choice("required" if mode == "required" else "auto", frozenset(names))


def _name_of(choice: Mapping[str, Any], pointer: str, tools: _Tools) -> str:
    """The name of the tool that an object names."""
    kind = choice.get("type")
    if kind != "function":
        if not isinstance(kind, str) or kind not in tools.builtin:
            _refuse(f"{pointer}/type", kind, "`function`, `allowed_tools` or a type out of `tools`")
        return kind
    if "function" in choice:
        choice, pointer = choice["function"], f"{pointer}/function"
        if not isinstance(choice, Mapping):
            _refuse(pointer, choice, "an object with a `name`")
    name = choice.get("name")
    if not isinstance(name, str) or name not in tools.function_names:
        _refuse(f"{pointer}/name", name, "the name of a function out of `tools`")
    return name


# -- where the output starts


def _start(family: Family, reasoning: bool | None, prompt_tail: str | None) -> Start:
    if reasoning and family.reasoning is None:
        raise FormatError(
            f"models of `{family.name}` do not reason",
            code="reasoning-conflict",
            pointer="/reasoning",
            expected="false or null",
        )
    usual = family.prompts.off if reasoning is False else family.prompts.on
    if prompt_tail is None:
        prompt_tail = usual if usual is not None else family.turn
    start = _start_after(family, prompt_tail)
    if start == "reasoning" and reasoning is False:
        _refuse_reasoning("the prompt ends inside the reasoning", "true or null")
    if start in ("answer", "text") and reasoning and family.prompts.on is not None:
        _refuse_reasoning("the prompt ends after the reasoning", "false or null")
    return start


def _start_after(family: Family, prompt: str) -> Start:
    """Where the model goes on after `prompt`: the last marker of its own turn decides."""
    turn = family.turn.rstrip()
    own = prompt[prompt.rfind(turn) + len(turn) :] if turn and turn in prompt else prompt
    places: dict[Start, int] = {"turn": -1}
    if family.reasoning is not None:
        places["reasoning"] = max(own.rfind(begin.strip()) for begin in family.reasoning.begin)
        places["answer"] = own.rfind(family.reasoning.end)
    if family.answer is not None:
        places["text"] = own.rfind(family.answer.begin)
    return max(places, key=places.__getitem__)  # the first, `turn`, if there is no marker


def _refuse_reasoning(what: str, expected: str) -> NoReturn:
    raise FormatError(
        f"{what}, which `reasoning` contradicts",
        code="reasoning-conflict",
        pointer="/reasoning",
        expected=expected,
        hint="leave `reasoning` out: the prompt tells",
    )


def _refuse(pointer: str, value: Any, expected: str) -> NoReturn:
    if value is None:
        shown = "nothing"
    elif isinstance(value, str | int | float):
        shown = f"`{str(value)[:60]}`"
    else:  # may be deep: only its kind
        shown = "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    raise FormatError(f"got {shown}", code="tool-value", pointer=pointer, expected=expected)
