"""`structag show`: the grammar that a document becomes, as readable EBNF."""

from __future__ import annotations

from structag import Vocabulary
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import print_json


def show(
    file: FileArgument,
    kind: KindOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the grammar of a structural tag, JSON Schema, grammar or regex, to be read."""
    document = read_document(file, kind)
    grammar = compile_document(document, Vocabulary.byte_level())
    ebnf = grammar.ebnf()
    if as_json:
        print_json({"kind": document.kind.value, "ebnf": ebnf})
    else:
        print(ebnf)
