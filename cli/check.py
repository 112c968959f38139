"""`structag check`: is this a usable structural tag, JSON Schema or regex?"""

from __future__ import annotations

from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary


def check(
    file: FileArgument,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a structural tag, JSON Schema or regex.

    Exit code 0 if it can be used, 2 with a message that names the place if not.
    """
    document = read_document(file, kind)
    compile_document(document, load_vocabulary(vocab, stop_token))
    if as_json:
        print_json({"ok": True, "kind": document.kind.value, "source": document.source.name})
        return
    output().print(f"[green]ok[/]: {document.source.name} is a usable {_NAMES[document.kind]}")


_NAMES = {"tag": "structural tag", "schema": "JSON Schema", "regex": "regular expression"}
