"""`structag check`: is this usable, is anything in it a slip, and would others take it?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, NamedTuple

import typer

from structag.cli.progress import busy
from structag.cli.reading import (
    Document,
    FileArgument,
    JsonOption,
    Kind,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import (
    InputError,
    draw_pointer,
    draw_span,
    output,
    print_json,
    print_notice,
)
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.profiles import (
    ASSERTING,
    ERROR,
    PROFILES,
    WARNING,
    Profile,
    fix_schema,
    lint_request,
    lint_slips,
)
from structag.source import read_json

NOTE = "note"
ProfileName = Enum("ProfileName", {name: name for name in PROFILES}, type=str)  # type: ignore[misc]
ProfileOption = Annotated[
    ProfileName | None,
    typer.Option("--profile", help="Also say what a provider or another engine would not accept."),
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Exit code 1 for warnings too."),
]
FixOption = Annotated[
    bool,
    typer.Option("--fix", help="Print FILE in the strict form of the profile."),
]


class Notice(NamedTuple):
    """An error, a warning or a note about a document that can be used."""

    level: str
    code: str
    message: str
    pointer: str | None = None
    span: tuple[int, int] | None = None
    fix: str | None = None


def check(
    file: FileArgument,
    kind: KindOption = None,
    profile: ProfileOption = None,
    fix: FixOption = False,
    strict: StrictOption = False,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a structural tag, JSON Schema, grammar text or regex.

    Exit code 0 if it can be used, 2 with a message that names the place if not.  Warnings about
    what is probably a slip do not change the code, unless --strict makes it 1; what the profile
    refuses does.
    """
    document = read_document(file, kind)
    known = None if profile is None else PROFILES[profile.value]
    if known is not None and document.kind not in (Kind.SCHEMA, Kind.TAG):
        raise InputError("a profile is about JSON Schemas", hint="leave out --profile")
    if fix and known is None:
        raise InputError("--fix needs a --profile to fix for")
    compiled = compile_document(document, load_vocabulary(vocab, stop_token))
    value = read_json(document.data) if document.kind in (Kind.SCHEMA, Kind.TAG) else None
    notices = [Notice(WARNING, w.kind, w.message, span=w.span) for w in compiled.warnings]
    fixed = None
    if fix and known is not None:
        with busy("fixing"):
            fixed, changes = _fixed(value, known)
        notices += changes
    elif value is not None:
        notices += _repeated_names(document)
    shown = value if fixed is None else fixed
    with busy("checking"):
        notices += _of_schemas(shown, document.tools, profile, known, fix)
        notices += [
            Notice(WARNING, "not-enforced", f"`{entry.keyword}`: {entry.reason}", entry.pointer)
            for entry in compiled.report
            if entry.status == "annotation" and entry.keyword in ASSERTING
        ]
    errors = sum(notice.level == ERROR for notice in notices)
    if as_json:
        print_json(_as_json(document, notices, errors, fixed))
    else:
        _print(document, notices, errors, known, fixed)
    if errors or (strict and any(notice.level != NOTE for notice in notices)):
        raise typer.Exit(1)


def _repeated_names(document: Document) -> Iterator[Notice]:
    """Names that one object of a JSON text has twice, which nothing else would notice."""
    repeated: dict[str, None] = {}

    def see(pairs: list[tuple[str, Any]]) -> None:
        count = Counter(name for name, _ in pairs)
        repeated.update(dict.fromkeys(name for name in count if count[name] > 1))

    json.loads(document.data, object_pairs_hook=see, parse_int=str, parse_float=str)
    for name in repeated:
        message = f"an object has `{name}` more than once, and the last one counts"
        yield Notice(WARNING, "repeated-name", message)


def _of_schemas(
    value: Any, tools: tuple[Any, ...], name: Any, profile: Profile | None, is_fixed: bool
) -> Iterator[Notice]:
    schemas = list(_schemas(value))
    findings = [("slip", found) for at, schema in schemas for found in lint_slips(schema, at)]
    if profile is not None:
        count = len(tools) or _count_tools(value)
        if tools:  # the format of a family repeats them
            places = {json.dumps(schema, default=float): at for at, schema in reversed(schemas)}
            strict = [fix_schema(one, profile).schema if is_fixed else one for one in tools]
            schemas = [(places.get(json.dumps(one, default=float), ""), one) for one in strict]
        lints = dict.fromkeys(lint_request(schemas, profile, count))
        findings += [(name.value, found) for found in lints]
    for code, found in findings:
        yield Notice(found.level, code, found.message, found.pointer, fix=found.fix)


def _schemas(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """The schemas of a document: itself, or those inside of a structural tag."""
    if not isinstance(value, dict) or not _is_tag(value):
        if value is not None:
            yield pointer, value
        return
    pending: list[tuple[str, Any]] = [(pointer, value)]
    while pending:
        place, part = pending.pop()
        if isinstance(part, list):
            pending += [(f"{place}/{index}", item) for index, item in enumerate(part)]
        elif isinstance(part, dict):
            if "json_schema" in part and part.get("type") == "json_schema":
                yield f"{place}/json_schema", part["json_schema"]
            else:
                pending += [(f"{place}/{key}", item) for key, item in part.items()]


def _is_tag(value: dict[str, Any]) -> bool:
    return value.get("type") == "structural_tag" or isinstance(value.get("format"), dict)


def _count_tools(value: Any) -> int:
    """How many tools a structural tag has arguments for: each has a tag of its own."""
    begins, pending = set(), [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict) and part.get("type") != "json_schema":
            content = part.get("content")
            if isinstance(content, dict) and content.get("type") == "json_schema":
                begins.add(json.dumps(part.get("begin")))
            pending += part.values()
    return len(begins)


def _fixed(value: Any, profile: Profile) -> tuple[Any, list[Notice]]:
    """The document with its schemas in strict form, and what that changes."""
    whole = {"": json.loads(json.dumps(value, default=float))}
    notices = []
    for pointer, schema in _schemas(value):
        place: Any = whole
        key: Any = ""
        for step in pointer.split("/")[1:]:
            place = place[key]
            key = int(step) if isinstance(place, list) else step
        place[key], changes = fix_schema(schema, profile)
        notices += [Notice(NOTE, kind, text, pointer + at) for at, kind, text in changes]
    return whole[""], notices


def _as_json(document: Document, notices: list[Notice], errors: int, fixed: Any) -> dict[str, Any]:
    shown = [
        {key: list(item) if isinstance(item, tuple) else item for key, item in n._asdict().items()}
        for n in notices
    ]
    head = {"ok": not errors, "kind": document.kind.value, "source": document.source.name}
    return {
        **head,
        **({"notices": shown} if shown else {}),
        **({} if fixed is None else {"fixed": fixed}),
    }


def _print(
    document: Document,
    notices: list[Notice],
    errors: int,
    profile: Profile | None,
    fixed: Any,
) -> None:
    source = document.source
    for notice in notices:
        if notice.span is not None:
            drawing = draw_span(source, notice.span)
        elif fixed is None:
            drawing = draw_pointer(source, notice.pointer or "")
        else:
            drawing = ""
        print_notice(
            notice.level,
            notice.code,
            notice.message,
            pointer=notice.pointer,
            drawing=drawing,
            source=source,
            hint=notice.fix,
        )
    if fixed is not None:
        print_json(fixed)
        return
    what = f"{source.name} is a usable {_NAMES[document.kind]}"
    if not errors:
        output().print(f"[green]ok[/]: {what}", markup=True)
    elif profile is not None:
        count = f"{errors} error{'s' if errors > 1 else ''}"
        output().print(f"{what}, but {profile.title} would refuse it: {count}", markup=False)


_NAMES = {
    Kind.TAG: "structural tag",
    Kind.SCHEMA: "JSON Schema",
    Kind.REGEX: "regular expression",
    Kind.EBNF: "grammar in EBNF",
    Kind.GBNF: "grammar in GBNF",
    Kind.LARK: "grammar in Lark's notation",
}
