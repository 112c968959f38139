"""What `--vocab` may name: `byte`, a tokenizer's file or folder, or an installed package.

A package is looked through for a tokenizer file by name; if it has several, `PACKAGE:FILE` says
which.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from structag import Vocabulary
from structag.cli.rendering import InputError

VocabularyOption = Annotated[
    str,
    typer.Option(
        "--vocab",
        help="`byte`, a tokenizer.json, folder, .gguf, tekken.json, .model or .tiktoken file, "
        "or an installed package.",
    ),
]
StopOption = Annotated[
    list[int] | None,
    typer.Option("--stop-token", help="Id of a stop token, instead of the vocabulary's own."),
]

_IN_FOLDERS = ("tokenizer.json", "tekken.json", "tokenizer.model")
_SUFFIXES = (".gguf", ".tiktoken", ".model")


def load_vocabulary(name: str, stop_token_ids: list[int] | None = None) -> Vocabulary:
    """The vocabulary that `--vocab` names."""
    stops = stop_token_ids or None
    if name == "byte":
        if stops is None:
            return Vocabulary.byte_level()
        single = [bytes([byte]) for byte in range(256)]
        return Vocabulary.from_token_bytes(single, special={256: "<eos>"}, stop_token_ids=stops)
    path = Path(name)
    if path.is_dir():
        path = _in_folder(path)
    elif not path.is_file():
        path = _in_package(name)
    return _load(path, stops)


def _load(path: Path, stops: list[int] | None) -> Vocabulary:
    suffix = path.suffix
    if suffix == ".gguf":
        return Vocabulary.from_gguf(path, stop_token_ids=stops)
    if suffix == ".tiktoken":
        return Vocabulary.from_tiktoken(path, stop_token_ids=stops)
    if suffix == ".model" and not _is_rank_file(path):
        return Vocabulary.from_sentencepiece(path, stop_token_ids=stops)
    if suffix == ".model":
        return Vocabulary.from_tiktoken(path, stop_token_ids=stops)
    if path.name.startswith("tekken"):
        return Vocabulary.from_tekken(path, stop_token_ids=stops)
    return Vocabulary.from_tokenizer_json(path, stop_token_ids=stops)


def _is_rank_file(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(200).split()
    return len(line) == 2 and line[1].isdigit()


def _in_folder(path: Path) -> Path:
    named = [path / name for name in _IN_FOLDERS if (path / name).is_file()]
    found = named[:1] or sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    return _only(found, str(path), "name the file itself")


def _in_package(name: str) -> Path:
    package, _, wanted = name.partition(":")
    try:
        files = metadata.distribution(package).files or []
    except (metadata.PackageNotFoundError, ValueError):
        raise InputError(
            f"`{name}` is neither a file, a folder nor an installed package",
            hint="`byte` needs no file",
        ) from None
    found = [Path(str(file.locate())) for file in files if _is_tokenizer(file.name)]
    if wanted:
        found = [file for file in found if file.name == wanted]
    names = ", ".join(f"{package}:{file.name}" for file in found[:4])
    return _only(found, f"the package `{package}`", f"name one: {names}")


def _is_tokenizer(name: str) -> bool:
    is_tekken = name.startswith("tekken") and name.endswith(".json")
    return name in _IN_FOLDERS or name.endswith(_SUFFIXES) or is_tekken


def _only(found: list[Path], where: str, hint: str) -> Path:
    if not found:
        raise InputError(f"no tokenizer file in {where}", hint="name the file itself")
    if len(found) > 1:
        raise InputError(f"{len(found)} tokenizer files in {where}", hint=hint)
    return found[0]
