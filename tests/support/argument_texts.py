"""Arguments written and read in each argument style, the plain way; shares nothing with structag.

`write` gives the text that a chat template would; `read` gives every way to understand a text, as
a reader would that knows the style but not the schema: where the style does not say whether a
value is a string, there are two ways.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

Arguments = dict[str, Any]
M3 = "]<]minimax[>["

TEMPLATES = {
    "qwen_xml": "<parameter={name}>\n{value}\n</parameter>\n",
    "minimax_xml": '<parameter name="{name}">{value}</parameter>\n',
    "deepseek_xml": (
        '<｜DSML｜parameter name="{name}" string="{flag}">{value}</｜DSML｜parameter>\n'
    ),
    "deepseek_v4_1_xml": (
        '<｜DSML｜ parameter name="{name}" string="{flag}">{value}</｜DSML｜ parameter>\n'
    ),
    "glm_xml": "<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n",
    "kimi_k3_xml": (
        '<|open|>argument key="{name}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>'
    ),
    "step3_xml": '<steptml:parameter name="{name}">{value}</steptml:parameter>\n',
}
PATTERNS = {
    "qwen_xml": r"<parameter=(?P<name>[^>\n]+)>(?P<value>.*?)</parameter>\n?",
    "minimax_xml": r'<parameter name="(?P<name>[^"]+)">(?P<value>.*?)</parameter>\n?',
    "deepseek_xml": (
        r'<｜DSML｜parameter name="(?P<name>[^"]+)" string="(?P<type>true|false)">'
        r"(?P<value>.*?)</｜DSML｜parameter>\n"
    ),
    "deepseek_v4_1_xml": (
        r'<｜DSML｜ parameter name="(?P<name>[^"]+)" string="(?P<type>true|false)">'
        r"(?P<value>.*?)</｜DSML｜ parameter>\n"
    ),
    "glm_xml": (r"<arg_key>(?P<name>[^<]+)</arg_key>\n?<arg_value>(?P<value>.*?)</arg_value>\n?"),
    "kimi_k3_xml": (
        r'<\|open\|>argument key="(?P<name>[^"]+)" type="(?P<type>\w+)"<\|sep\|>'
        r"(?P<value>.*?)<\|close\|>argument<\|sep\|>"
    ),
    "step3_xml": (
        r'<steptml:parameter name="(?P<name>[^"]+)">(?P<value>.*?)</steptml:parameter>\n?'
    ),
}


def write(style: str, arguments: Arguments) -> str:
    """The text of `arguments` in `style`."""
    if style in TEMPLATES:
        return "".join(_element(TEMPLATES[style], *item) for item in arguments.items())
    if style == "cohere_xml":
        return "".join(_cohere(name, value) for name, value in arguments.items())
    if style == "minimax_m3_xml":
        return _m3(arguments)
    if style == "gemma":
        return _gemma(arguments)
    literal = repr if style == "pythonic" else _json
    return ", ".join(f"{name}={literal(value)}" for name, value in arguments.items())


def read(style: str, text: str) -> list[Arguments]:
    """Every way to understand `text`; none if it is not of the style."""
    try:
        if style in PATTERNS:
            return list(_read_elements(style, text))
        if style == "cohere_xml":
            return [_read_cohere(text)]
        if style == "minimax_m3_xml":
            return [dict(choice) for choice in _read_m3(text)]
        if style == "gemma":
            value, rest = _read_gemma(text)
            return [value] if rest == "" and isinstance(value, dict) else []
        return [_read_python(style, text)]
    except ValueError:
        return []


def type_of(value: Any) -> str:
    """The JSON type of `value`."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    kinds = {str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _element(template: str, name: str, value: Any) -> str:
    is_text = isinstance(value, str)
    return template.format(
        name=name,
        value=value if is_text else _json(value),
        flag="true" if is_text else "false",
        type=type_of(value),
    )


def _read_elements(style: str, text: str) -> Iterator[Arguments]:
    pattern = re.compile(PATTERNS[style], re.DOTALL)
    names: list[str] = []
    choices: list[list[Any]] = []
    at = 0
    if text == "\n" and style.startswith("deepseek"):
        at = 1
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            raise ValueError("no element")
        value = found["value"]
        if style == "qwen_xml":
            value = value.removeprefix("\n").removesuffix("\n")
        mark = found["type"] if "type" in pattern.groupindex else None
        if mark in ("true", "string"):
            options = [value]
        elif mark is None:
            options = [*_json_values(value), value]
        else:
            options = _json_values(value)
            if not options or (mark != "false" and type_of(options[0]) != mark):
                raise ValueError("the type is not that of the value")
        names.append(found["name"])
        choices.append(options)
        at = found.end()
    for values in itertools.product(*choices):
        yield dict(zip(names, values, strict=True))


def _json_values(text: str) -> list[Any]:
    """The value, no string, that `text` is in JSON; or none."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [] if isinstance(value, str) else [value]


# -- nested elements


def _cohere(name: str | None, value: Any) -> str:
    named = "" if name is None else f' name="{name}"'
    if isinstance(value, dict):
        kind, content = "dict", "".join(_cohere(*item) for item in value.items())
    elif isinstance(value, list):
        kind, content = "list", "".join(_cohere(None, item) for item in value)
    elif isinstance(value, str):
        kind, content = "raw", value
    else:
        kind, content = "json", _json(value)
    return f'<cofl:value{named} type="{kind}">{content}</cofl:value>'


_COHERE = re.compile(r'\n?<cofl:value(?: name="([^"]+)")? type="(raw|json|dict|list)">')


def _read_cohere(text: str) -> Arguments:
    def value_at(at: int) -> tuple[str | None, Any, int]:
        found = _COHERE.match(text, at)
        if found is None:
            raise ValueError("no value")
        name, kind, at = found[1], found[2], found.end()
        if kind in ("raw", "json"):
            end = text.index("</cofl:value>", at)
            content = text[at:end]
            return name, content if kind == "raw" else json.loads(content), end + 13
        items: list[tuple[str | None, Any]] = []
        while not text.startswith("</cofl:value>", at):
            item_name, item, at = value_at(at)
            items.append((item_name, item))
            if text.startswith("\n", at):
                at += 1
        if kind == "list":
            return name, [item for _, item in items], at + 13
        return name, {key: item for key, item in items if key is not None}, at + 13

    arguments: Arguments = {}
    at = 0
    while at < len(text):
        name, value, at = value_at(at)
        if name is None:
            raise ValueError("an argument without a name")
        arguments[name] = value
        if text.startswith("\n", at):
            at += 1
    return arguments


def _m3(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"{M3}<{k}>{_m3(v)}{M3}</{k}>" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"{M3}<item>{_m3(item)}{M3}</item>" for item in value)
    return value if isinstance(value, str) else _json(value)


def _read_m3(text: str) -> Iterator[list[tuple[str, Any]]]:
    """Every way to read a run of elements, as names and values."""
    pieces = re.split(re.escape(M3), text)
    if pieces[0] != "":
        raise ValueError("text outside elements")
    tree: list[Any] = []
    stack: list[tuple[str, list[Any]]] = [("", tree)]
    for piece in pieces[1:]:
        tag, mark, content = piece.partition(">")
        if not mark or not tag.startswith("<"):
            raise ValueError("no tag")
        if tag.startswith("</"):
            name, _ = stack.pop()
            if name != tag[2:] or not stack or content != "":
                raise ValueError("another tag is closed")
        else:
            children: list[Any] = [content]
            stack[-1][1].append((tag[1:], children))
            stack.append((tag[1:], children))
    if len(stack) != 1:
        raise ValueError("a tag is open")
    yield from _m3_members(tree)


def _m3_members(elements: list[Any]) -> Iterator[list[tuple[str, Any]]]:
    options = [[(name, value) for value in _m3_values(children)] for name, children in elements]
    for choice in itertools.islice(itertools.product(*options), 5000):
        yield list(choice)


def _m3_values(children: list[Any]) -> list[Any]:
    content, *elements = children
    if not elements:
        return [*_json_values(content), content] if content else ["", [], {}]
    if content != "":
        raise ValueError("text beside elements")
    values: list[Any] = []
    for members in _m3_members(elements):
        values.append(dict(members))
        if all(name == "item" for name, _ in members):
            values.append([value for _, value in members])
    return values


# -- lists


def _gemma(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{_gemma(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_gemma, value)) + "]"
    return f'<|"|>{value}<|"|>' if isinstance(value, str) else _json(value)


_GEMMA_WORD = re.compile(r"[^,{}\[\]:<>\"]+")


def _read_gemma(text: str) -> tuple[Any, str]:
    if text.startswith('<|"|>'):
        content, mark, rest = text[5:].partition('<|"|>')
        if not mark:
            raise ValueError("a string is open")
        return content, rest
    if text[:1] in ("{", "["):
        closer = "}" if text[0] == "{" else "]"
        items: list[Any] = []
        rest = text[1:]
        while not rest.startswith(closer):
            if items:
                if not rest.startswith(","):
                    raise ValueError("no comma")
                rest = rest[1:]
            name = None
            if closer == "}":
                name, mark, rest = rest.partition(":")
                if not mark or not _GEMMA_WORD.fullmatch(name):
                    raise ValueError("no name")
            item, rest = _read_gemma(rest)
            items.append(item if name is None else (name, item))
        return (dict(items) if closer == "}" else items), rest[1:]
    word = _GEMMA_WORD.match(text)
    if word is None:
        raise ValueError("no value")
    return json.loads(word[0]), text[word.end() :]


def _read_python(style: str, text: str) -> Arguments:
    constants = {"true": True, "false": False, "null": None} if style == "pythonic_json" else {}

    class Plain(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if node.id not in constants:
                raise ValueError("a name")
            return ast.Constant(constants[node.id])

    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError:
        raise ValueError("no call") from None
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("no keyword arguments")
    if any(keyword.arg is None for keyword in call.keywords):
        raise ValueError("no keyword arguments")
    plain = Plain()
    return {str(k.arg): ast.literal_eval(plain.visit(k.value)) for k in call.keywords}
