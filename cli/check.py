"""`structag check`: is this a usable structural tag, JSON Schema, grammar or regex?"""

from __future__ import annotations

from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json, print_warning
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary


def check(
    file: FileArgument,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a structural tag, JSON Schema, grammar text or regex.

    Exit code 0 if it can be used, 2 with a message that names the place if not.  Warnings, about
    rules of a grammar text that are probably a slip, do not change the code.
    """
    document = read_document(file, kind)
    warnings = compile_document(document, load_vocabulary(vocab, stop_token)).warnings
    if as_json:
        shown = [{"kind": w.kind, "message": w.message, "span": list(w.span)} for w in warnings]
        head = {"ok": True, "kind": document.kind.value, "source": document.source.name}
        print_json({**head, "warnings": shown} if shown else head)
        return
    for warning in warnings:
        print_warning(warning.kind, warning.message, document.source.draw(warning.span))
    output().print(f"[green]ok[/]: {document.source.name} is a usable {_NAMES[document.kind]}")


_NAMES = {
    "tag": "structural tag",
    "schema": "JSON Schema",
    "regex": "regular expression",
    "ebnf": "grammar in EBNF",
    "gbnf": "grammar in GBNF",
    "lark": "grammar in Lark's notation",
}
