"""`structag compile`: a format as a file that `structag run` and `structag.load` read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import InputError, output, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary

OutputOption = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]


def compile(
    file: FileArgument,
    to: OutputOption,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compile a format for a vocabulary and write it to a file, for `structag run`.

    In Python `structag.load` reads it.  It can only be used with the same vocabulary.
    """
    grammar = compile_document(read_document(file, kind), load_vocabulary(vocab, stop_token))
    data = grammar.to_bytes()
    try:
        to.write_bytes(data)
    except OSError as error:
        raise InputError(f"`{to}` cannot be written: {error.strerror or error}") from None
    if as_json:
        print_json(
            {
                "file": str(to),
                "bytes": len(data),
                "fingerprint": grammar.fingerprint,
                "vocabulary": grammar.vocabulary.fingerprint,
            }
        )
    else:
        output().print(f"[green]wrote[/] {to}: {len(data):,} bytes", markup=True)
