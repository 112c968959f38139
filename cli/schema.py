"""`structag schema`: the JSON Schema of the Structural Tag language."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from structag import structural_tag_schema
from structag.cli.rendering import print_json

TypeArgument = Annotated[
    str | None, typer.Argument(metavar="[TYPE]", help="Only what formats of this type may hold.")
]


def schema(type: TypeArgument = None) -> None:
    """Print the JSON Schema of the Structural Tag language.

    Editors complete and check documents with it.
    """
    whole = structural_tag_schema()
    print_json(whole if type is None else _definition(whole["$defs"], type))


def _definition(definitions: dict[str, Any], type: str) -> dict[str, Any]:
    by_type: dict[str, dict[str, Any]] = {
        definition["properties"]["type"]["const"]: definition
        for definition in definitions.values()
        if "const" in definition.get("properties", {}).get("type", {})
    }
    if type not in by_type:
        message = f"no format has the type `{type}`; the types are {', '.join(sorted(by_type))}"
        raise typer.BadParameter(message, param_hint="TYPE")
    return by_type[type]
