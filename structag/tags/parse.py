"""Reads a structural tag: JSON text, plain Python data or a model become a `StructuralTag`.

Models are made from the leaves up with a stack of our own, so neither pydantic's recursion nor
Python's limits what may be nested; `Limits.max_nesting` does.  Whatever a document gets wrong is
a `FormatError` at its JSON pointer.  How the formats fit together is `structag.tags.check`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, NoReturn, TypeAlias

from pydantic import BaseModel, ValidationError

from structag.cache import Cache, content_key, value_of_key
from structag.errors import FormatError
from structag.limits import Limits
from structag.source import decode_json, read_json, read_json_around
from structag.tags.data import check_data
from structag.tags.model import (
    FORMATS,
    STYLES,
    SYNTAXES,
    ElementStyleModel,
    StructuralTag,
    TagFormat,
)
from structag.tags.response_format import PLAIN, Shape, to_plain_shape
from structag.tags.walk import Walk, join_pointer, run_walk

TagSource: TypeAlias = str | bytes | Mapping[str, Any] | StructuralTag
"""What is taken for a structural tag."""


_FORMATS = tuple(FORMATS.values())
_WITHOUT_PARTS = ("json_schema", "regex", "grammar", "const_string", "any_text")


def parse_format(source: TagSource, limits: Limits | None = None) -> StructuralTag:
    """The structural tag that `source` describes, in any of the shapes there are.

    Raises:
        FormatError: `json-syntax`, `text-encoding`, `tag-type`, `tag-field`, `tag-value`.
        LimitError: `nesting-limit`, and `limit` for a text over `Limits.max_source_bytes`.
    """
    return parse_document(source, limits)[0]


def parse_document(
    source: TagSource, limits: Limits | None = None, known: Cache[KnownTag] | None = None
) -> tuple[StructuralTag, Shape]:
    """The structural tag, and the shape that it was written in, for the pointers of errors.

    Tags with a content that is in `known` are not read again.
    """
    limits = limits or Limits()
    document: Any
    if isinstance(source, str | bytes):
        read = None if known is None else _read_around_tags(source, limits, known)
        if read is not None:
            return read
        document = read_json(source, limits)
    else:
        document = source
        check_data(document, limits)
    if isinstance(document, StructuralTag):
        return document, PLAIN
    if not isinstance(document, Mapping):
        _refuse_value(document, "", "a structural tag: an object")
    return _read_shape(document, _Reader(known))


def _read_around_tags(
    text: str | bytes, limits: Limits, known: Cache[KnownTag]
) -> tuple[StructuralTag, Shape] | None:
    """The same for JSON text in which tags are known by their texts, and not read again.

    None, if it has no list of tags, or if anything is wrong: reading it as a whole says what.
    """

    stand_ins: list[KnownTag | _NewTag] = []

    def read_tags(parts: list[str]) -> list[KnownTag | _NewTag]:
        for part, found in zip(parts, known.get_all(parts), strict=True):
            stand_ins.append(_NewTag(part, decode_json(part)) if found is None else found)
        return stand_ins

    document = read_json_around(text, b"tags", read_tags, limits)
    if not isinstance(document, dict):
        return None
    reader = _Reader(known)
    try:
        read = _read_shape(document, reader)
    except FormatError:
        return None
    # Those that were not come to stand in something else, such as a schema.
    return read if reader.stand_ins == len(stand_ins) else None


def _read_shape(document: Mapping[str, Any], reader: _Reader) -> tuple[StructuralTag, Shape]:
    plain, shape = to_plain_shape(document)
    try:
        return _read_plain(plain, reader), shape
    except FormatError as error:
        raise shape.relocate(error) from None


def _read_plain(document: Mapping[str, Any], reader: _Reader) -> StructuralTag:
    _check_document(document)
    fields = {key: value for key, value in document.items() if key not in ("type", "format")}
    fields["format"] = run_walk(reader.read(document["format"], "/format"))
    try:
        return StructuralTag(**fields)
    except ValidationError as error:
        raise _first_error(error, document, StructuralTag, "") from None


class _NewTag(NamedTuple):
    """The text of a tag that is not known, and its value; stands in for it."""

    text: str
    value: Any


class KnownTag(NamedTuple):
    """A tag that was read before, and how large what it was read from is."""

    model: TagFormat
    size: int

    @property
    def memory_bytes(self) -> int:
        """Roughly, models and the values that they hold included."""
        return 2000 + 4 * self.size


class _Reader:
    def __init__(self, known: Cache[KnownTag] | None) -> None:
        self._known = known
        self.stand_ins = 0  # come to, in lists where tags may be
        # Equal parts by identity, since Python data may share them; each is kept alive.
        self._done: dict[int, tuple[Any, Any]] = {}

    def read(self, value: Any, pointer: str) -> Walk[Any]:
        if isinstance(value, _FORMATS):
            return value
        if type(value) is not dict and not isinstance(value, Mapping):
            _refuse_value(value, pointer, "a format: an object with a `type`")
        if id(value) in self._done:
            return self._done[id(value)][1]
        model = _model_of(value, pointer)
        _check_fields(value, model, pointer)
        fields = dict(value)
        if "content" in fields:
            fields["content"] = yield self.read(fields["content"], join_pointer(pointer, "content"))
        for name in ("elements", "tags"):
            if isinstance(fields.get(name), list | tuple):
                fields[name] = yield self._read_each(fields[name], join_pointer(pointer, name))
        for name in ("begin", "end"):
            fields |= yield self._read_marker(name, fields, pointer)
        if isinstance(fields.get("style"), Mapping):
            fields["style"] = _read_style(fields["style"], join_pointer(pointer, "style"))
        if isinstance(fields.get("rules"), list | tuple):
            fields["rules"] = yield self._read_rules(
                fields["rules"], join_pointer(pointer, "rules")
            )
        try:
            made = model(**fields)
        except ValidationError as error:
            raise _first_error(error, value, model, pointer) from None
        self._done[id(value)] = (value, made)
        return made

    def _read_each(self, values: Sequence[Any], pointer: str) -> Walk[list[Any]]:
        items = []
        for index, item in enumerate(values):
            key, value = self._look_up(item)
            if type(value) is KnownTag:
                items.append(value.model)
                continue
            model = _plain_tag(value)
            if model is None:
                model = yield self.read(value, join_pointer(pointer, index))
            items.append(model)
            if self._known is not None and key is not None:
                self._known.put(key, KnownTag(model, len(key)))
        return items

    def _look_up(self, item: Any) -> tuple[str | bytes | None, Any]:
        """What is known of an item, or else the key to keep it by and its value."""
        if isinstance(item, KnownTag | _NewTag):
            self.stand_ins += 1
            return (None, item) if isinstance(item, KnownTag) else (item.text, item.value)
        if self._known is None or type(item) is not dict or item.get("type") != "tag":
            return None, item
        key = content_key(item)
        if key is None:
            return None, item
        return key, self._known.get(key) or value_of_key(key)  # a copy, which may be kept

    def _read_marker(self, name: str, fields: Mapping[str, Any], pointer: str) -> Walk[Any]:
        """A begin or an end; the model refuses what is neither text nor token."""
        marker, here = fields.get(name), join_pointer(pointer, name)
        if isinstance(marker, Mapping):
            return {name: (yield self.read(marker, here))}
        if not isinstance(marker, list | tuple):
            return {}
        items = []
        for index, item in enumerate(marker):
            is_format = isinstance(item, Mapping)
            items.append((yield self.read(item, join_pointer(here, index))) if is_format else item)
        return {name: items}

    def _read_rules(self, rules: Sequence[Any], pointer: str) -> Walk[list[Any]]:
        """Pairs of a trigger and a format."""
        pairs = []
        for index, rule in enumerate(rules):
            here = join_pointer(pointer, index)
            if not isinstance(rule, list | tuple) or len(rule) != 2:
                _refuse_value(rule, here, "a pair [what leads to the format, format]")
            pairs.append((rule[0], (yield self.read(rule[1], join_pointer(here, 1)))))
        return pairs


def _plain_tag(value: Any) -> TagFormat | None:
    """The model of a tag between texts whose content has no parts; None if that is not sure."""
    if type(value) is not dict or value.get("type") != "tag":
        return None
    if type(value.get("begin")) is not str or type(value.get("end")) is not str:
        return None
    content = value.get("content")
    if type(content) is not dict or content.get("type") not in _WITHOUT_PARTS:
        return None
    try:
        return TagFormat.model_validate(value)
    except ValidationError:
        return None


def _read_style(value: Mapping[str, Any], pointer: str) -> ElementStyleModel:
    _check_fields(value, ElementStyleModel, pointer)
    try:
        return ElementStyleModel(**value)
    except ValidationError as error:
        raise _first_error(error, value, ElementStyleModel, pointer) from None


def _check_document(document: Mapping[str, Any]) -> None:
    kind = document.get("type")
    if kind != "structural_tag":
        is_format = isinstance(kind, str) and kind in FORMATS
        raise FormatError(
            f"the document's type is `{_show(kind)}`" if "type" in document else "no `type`",
            code="tag-type",
            pointer="/type" if "type" in document else "",
            expected="`structural_tag`",
            hint='wrap it in {"type": "structural_tag", "format": …}' if is_format else None,
        )
    _check_fields(document, StructuralTag, "")


def _model_of(value: Mapping[str, Any], pointer: str) -> type[BaseModel]:
    kind = value.get("type")
    if isinstance(kind, str) and kind in FORMATS:
        return FORMATS[kind]
    names = ", ".join(f"`{name}`" for name in FORMATS)
    if "type" not in value:
        fields = {key for key in value if isinstance(key, str)}
        likely = [name for name, model in FORMATS.items() if fields and fields <= _names(model)]
        raise FormatError(
            "a format without `type`",
            code="tag-type",
            pointer=pointer,
            expected=f"one of {names}",
            hint=f'add "type": "{likely[0]}"' if likely else None,
        )
    raise FormatError(
        f"unknown format type `{_show(kind)}`",
        code="tag-type",
        pointer=join_pointer(pointer, "type"),
        expected=f"one of {names}",
        hint=_nearest(kind, FORMATS),
    )


@cache
def _required(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, field in model.model_fields.items() if field.is_required())


def _check_fields(value: Mapping[str, Any], model: type[BaseModel], pointer: str) -> None:
    """Refuse what does not belong, then what is missing."""
    fields = model.model_fields
    if value.keys() <= fields.keys() and _required(model) <= value.keys():
        return
    names = list(fields)
    kind = fields.get("type")
    what = "an argument style" if kind is None else f"`{kind.default}`"
    listed = ", ".join(f"`{name}`" for name in names)
    for key in value:
        if key not in fields:
            raise FormatError(
                f"{what} has no field `{_show(key)}`",
                code="tag-field",
                pointer=join_pointer(pointer, str(key)),
                expected=f"only {listed}",
                hint=_nearest(key, names) or "remove it",
            )
    for name, field in fields.items():
        if field.is_required() and name not in value:
            raise FormatError(
                f"{what} lacks the field `{name}`",
                code="tag-field",
                pointer=pointer,
                expected=field.description,
                hint=f"add `{name}`",
            )


def _first_error(
    error: ValidationError, value: Mapping[str, Any], model: type[BaseModel], pointer: str
) -> FormatError:
    details = error.errors(include_url=False, include_input=False)[0]
    if not details["loc"]:  # a rule between fields: only `min` and `max` of a repeat have one
        return FormatError(
            details["msg"].removeprefix("Value error, "),
            code="tag-value",
            pointer=join_pointer(pointer, "max"),
            expected=model.model_fields["max"].description,
        )
    name = str(details["loc"][0])
    steps: list[str | int] = []
    place: Any = value
    for step in details["loc"]:  # pydantic mixes names of union members into the location
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            continue
        steps.append(step)
    choices = {"style": STYLES, "syntax": SYNTAXES}.get(name, ())
    return FormatError(
        f"`{name}` is `{_show(value[name])}`"
        if len(steps) < 2
        else f"`{_show(place)}` in `{name}`",
        code="tag-value",
        pointer=join_pointer(pointer, *steps),
        expected=model.model_fields[name].description,
        hint=_nearest(place, choices),
    )


def _refuse_value(value: Any, pointer: str, expected: str) -> NoReturn:
    raise FormatError(f"got `{_show(value)}`", code="tag-value", pointer=pointer, expected=expected)


def _names(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def _nearest(word: Any, known: Iterable[str]) -> str | None:
    close = get_close_matches(word[:60], list(known), n=1) if isinstance(word, str) else None
    return f"did you mean `{close[0]}`?" if close else None


def _show(value: Any) -> str:
    """`value` in a few characters; containers by their kind alone, as they may be deep."""
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    if isinstance(value, str):
        text = value or '""'
    elif value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int) and abs(value) >= 10**50:
        text = "a large integer"
    else:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
