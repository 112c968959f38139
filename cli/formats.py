"""`structag formats`: the formats of model families, and what is known of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from structag.cli.reading import JsonOption
from structag.cli.rendering import InputError, output, print_json, print_table, visible
from structag.errors import StructagError
from structag.openai import model_family, model_formats, register_model_format
from structag.source import Source

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A family; all of them if left out.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--formats-dir", help="A folder with files of further families (*.json)."),
]


def formats(
    name: NameArgument = None, formats_dir: FolderOption = None, as_json: JsonOption = False
) -> None:
    """List the formats of model families, or show one: markers, sources and a sample."""
    if formats_dir is not None:
        _register(formats_dir)
    if name is None:
        _list(as_json)
    elif as_json:
        family = model_family(name)
        print_json(family.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    else:
        _show(model_family(name), output())


def _register(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"`{folder}` is no folder", hint="name a folder with *.json files")
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(f"no *.json file in `{folder}`", hint="each family is one file")
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"`{path}` cannot be read: {error.strerror or error}") from None
        try:
            register_model_format(data)
        except StructagError as error:
            raise InputError(error, Source(data.decode("utf-8", "replace"), str(path))) from None


def _list(as_json: bool) -> None:
    families = [model_family(name) for name in model_formats()]
    if as_json:
        print_json([{"name": family.name, "models": family.models} for family in families])
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "models", "arguments"):
        table.add_column(column, no_wrap=column != "models")
    for family in families:
        table.add_row(family.name, family.models, _style(family.calls.style))
    print_table(output(), table)


def _show(family: Any, console: Console) -> None:
    tokens = sorted({*family.tokens, *family.stop}, key=len, reverse=True)

    def print_line(text: str) -> None:
        line = Text("  " + text)
        line.highlight_words(tokens, "blue")
        console.print(line)

    console.print(Text(f"{family.name}: {family.models}", "bold"))
    for kind, text in _markers(family):
        print_line(f"{kind:<16}{visible(text.replace(chr(10), '⏎'))}")
    console.print(Text("Sources", "bold"))
    for source in family.sources:
        print_line(f"{source.confidence:<7} {source.fact}: {source.source}")
    accepted = [sample.accept for sample in family.samples if sample.accept is not None]
    if accepted:
        console.print(Text("Sample", "bold"))
        for line in accepted[0].split("\n"):
            print_line(visible(line))


def _markers(family: Any) -> list[tuple[str, str]]:
    """What stands where, in the order of a turn; the tokens at the end."""
    calls, reasoning, answer = family.calls, family.reasoning, family.answer
    prompts = [prompt for prompt in (family.prompts.on, family.prompts.off) if prompt is not None]
    found = [("prompt ends", prompt) for prompt in dict.fromkeys(prompts)]
    if reasoning is not None:
        found += [("reasoning", begin) for begin in reasoning.begin]
        found += [("reasoning ends", reasoning.end), ("after that", _template(reasoning.after))]
    if answer is not None:
        found += [("answer", answer.begin), ("answer ends", answer.end)]
    found += [
        ("calls begin", _template(calls.begin)),
        ("call", _template(calls.call)),
        ("{json}", _template([calls.json_text] if calls.json_text else "")),
        ("between calls", _template(calls.separator)),
        ("calls end", _template(calls.end)),
        ("turn ends", family.end),
        ("arguments", _style(calls.style)),
        ("tokens", " ".join(family.tokens)),
        ("stop tokens", " ".join(family.stop)),
    ]
    return [(kind, text) for kind, text in found if text]


def _style(style: Any) -> str:
    """The name of an argument style; of a style without a name, how it writes an argument."""
    if isinstance(style, str):
        return style
    return f"{style.before}NAME{style.after[0]}VALUE{style.closer}".replace("{name}", "NAME")


def _template(template: Any) -> str:
    if isinstance(template, str):
        return template
    return "".join(part if isinstance(part, str) else f"({' | '.join(part)})" for part in template)
