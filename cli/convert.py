"""`structag convert`: the grammar that a document becomes, in another notation."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from structag.cli.progress import busy
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import InputError, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.errors import StructagError


class Target(str, Enum):
    """What can be written."""

    EBNF = "ebnf"
    GBNF = "gbnf"
    LARK = "lark"
    REGEX = "regex"


ToOption = Annotated[Target, typer.Option("--to", help="The notation to write.")]
PlainOption = Annotated[
    bool,
    typer.Option(
        "--plain-markers",
        help="Write markers as plain text, which no control token spells any more.",
    ),
]


def convert(
    file: FileArgument,
    to: ToOption,
    kind: KindOption = None,
    plain_markers: PlainOption = False,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the grammar of a document as EBNF, GBNF, Lark or a regular expression.

    What the notation cannot say exactly is refused.
    """
    document = read_document(file, kind)
    grammar = compile_document(document, load_vocabulary(vocab, stop_token))
    try:
        with busy("writing"):
            text = grammar.convert(to.value, plain_markers=plain_markers)
    except StructagError as error:
        raise InputError(error) from None
    if as_json:
        print_json({"kind": document.kind.value, to.value: text})
    else:
        print(text, end="" if text.endswith("\n") else "\n")
