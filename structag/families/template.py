"""Templates: text with holes, as the files of families have it.

=================  ==========================================================
``{name}``         the name of the tool
``{arguments}``    its arguments, in the family's argument style
``{json}``         the family's JSON text, with whitespace between its tokens
``{ws}``           whitespace as between JSON tokens
``{text}``         free text, up to what follows
``{/PATTERN/}``    what a regular expression matches; ``{ws}`` may stand in it
=================  ==========================================================

All other text stands for itself, braces too.  A list is one after the other; a list inside it is a
choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

WHITESPACE = r"[ \t\n\r]{0,20}"
"""As much whitespace between JSON tokens as `json_schema` formats allow."""


class TemplateError(ValueError):
    """A template that cannot be read."""


class Words(NamedTuple):
    """A fixed text."""

    text: str

    @property
    def holes(self) -> frozenset[str]:
        return frozenset()


class Pattern(NamedTuple):
    """A regular expression."""

    pattern: str

    @property
    def holes(self) -> frozenset[str]:
        return frozenset()


HoleKind: TypeAlias = Literal["name", "arguments", "text"]


class Hole(NamedTuple):
    """Something that depends on the tool, or free text."""

    kind: HoleKind

    @property
    def holes(self) -> frozenset[str]:
        return frozenset((self.kind,))


class Choice(NamedTuple):
    """Any one of several sequences."""

    options: tuple[tuple[Element, ...], ...]

    @property
    def holes(self) -> frozenset[str]:
        return frozenset(h for option in self.options for e in option for h in e.holes)


Element: TypeAlias = Words | Pattern | Hole | Choice

_SYNTAX = re.compile(r"[\^$\\.*+?()\[\]{}|/]")
_HOLE = re.compile(r"\{(name|arguments|json|ws|text)\}|\{/(.*?)/\}", re.DOTALL)
_JSON_TOKEN = re.compile(
    r'(?P<hole>\{(?:name|arguments)\}|\{/.*?/\})|(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[\w.+-]+)'
    r"|(?P<blank>\s+)",
    re.DOTALL,
)


def read_template(
    template: str | Sequence[str | Sequence[str]], json: str | Sequence[str] | None = None
) -> tuple[Element, ...]:
    """`template` taken apart; `json` is what ``{json}`` stands for, a choice if it is a list.

    Raises:
        TemplateError: ``{json}`` without `json`, or `json` that is not made of JSON tokens.
    """
    if isinstance(template, str):
        return _joined(_elements(template, json))
    found: list[Element] = []
    for part in template:
        if isinstance(part, str):
            found.extend(_elements(part, json))
        else:
            found.append(Choice(tuple(read_template(option, json) for option in part)))
    return _joined(found)


def _elements(template: str, json: str | Sequence[str] | None) -> Iterator[Element]:
    position = 0
    for match in _HOLE.finditer(template):
        yield Words(template[position : match.start()])
        position = match.end()
        kind, pattern = cast("HoleKind | Literal['json', 'ws'] | None", match[1]), match[2]
        if kind == "json":
            yield from _json(json)
        elif kind == "ws":
            yield Pattern(WHITESPACE)
        elif kind is None:
            yield Pattern(f"(?:{pattern.replace('{ws}', WHITESPACE)})")
        else:
            yield Hole(kind)
    yield Words(template[position:])


def escaped(text: str) -> str:
    """`text` as a regular expression."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _json(json: str | Sequence[str] | None) -> Iterator[Element]:
    if json is None:
        raise TemplateError("`{json}` stands here, and there is no `json`")
    if isinstance(json, str):
        yield from _spaced(json)
    else:
        yield Choice(tuple(_joined(_spaced(option)) for option in json))


def _spaced(json: str) -> Iterator[Element]:
    """The tokens of a JSON text, whitespace between them; patterns bring their own before them."""
    position, is_first = 0, True
    while position < len(json):
        match = _JSON_TOKEN.match(json, position)
        if match is None:
            raise TemplateError(f"`{json[position : position + 20]}` is no JSON")
        position = match.end()
        if match["blank"]:
            continue
        if not is_first and not match[0].startswith("{/"):
            yield Pattern(WHITESPACE)
        for element in _elements(match[0], None):
            yield Pattern(escaped(element.text)) if isinstance(element, Words) else element
        is_first = False


def _joined(elements: Iterable[Element]) -> tuple[Element, ...]:
    """`elements` without empty ones, neighbouring texts and patterns as one."""
    found: list[Element] = []
    for element in elements:
        last = found[-1] if found else None
        if element in (Words(""), Pattern("")):
            continue
        if isinstance(element, Words) and isinstance(last, Words):
            found[-1] = Words(last.text + element.text)
        elif isinstance(element, Pattern) and isinstance(last, Pattern):
            found[-1] = Pattern(last.pattern + element.pattern)
        else:
            found.append(element)
    return tuple(found)
