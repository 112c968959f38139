"""What Python data has to satisfy before it is read: JSON text cannot get these things wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from structag.errors import FormatError, nesting_error
from structag.limits import Limits
from structag.tags.walk import join_pointer

_Place: TypeAlias = "tuple[_Place | None, str | int]"


def check_data(document: Any, limits: Limits) -> None:
    """Refuse data nested too deep and text that is not Unicode; shared parts are seen once."""
    level: dict[int, tuple[Any, _Place | None]] = {id(document): (document, None)}
    depth = 1
    while level:
        if depth > limits.max_nesting:
            raise nesting_error(
                f"the structural tag is nested deeper than {limits.max_nesting} levels",
                limits.max_nesting,
                pointer="",
            )
        below: dict[int, tuple[Any, _Place | None]] = {}
        for value, place in level.values():
            for key, item in _items(value):
                here = (place, key)
                if isinstance(key, str):
                    _check_text(key, here)
                if isinstance(item, str):
                    _check_text(item, here)
                elif isinstance(item, Mapping | list | tuple | BaseModel):
                    below[id(item)] = (item, here)
        level, depth = below, depth + 1


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, BaseModel):
        return ((name, getattr(value, name)) for name in type(value).model_fields)
    return ()


def _check_text(text: str, place: _Place) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        steps: list[str | int] = []
        link: _Place | None = place
        while link is not None:
            link, step = link
            steps.append(step)
        raise FormatError(
            f"a lone surrogate at character {error.start} of the string",
            code="text-encoding",
            pointer=join_pointer("", *reversed(steps)).encode("utf-8", "replace").decode(),
            expected="Unicode text",
        ) from None
