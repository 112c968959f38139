"""What `--vocab` may name: `byte`, a tokenizer's file or folder, a tiktoken encoding, a package.

A package that is installed is looked through for a tokenizer file by name; if it has several,
`PACKAGE:FILE` says which.  tiktoken itself fetches the ranks of an encoding when it first needs
them.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from structag import Vocabulary
from structag.cli.progress import busy
from structag.cli.rendering import InputError

_IN_FOLDERS = ("tokenizer.json", "tekken.json", "tokenizer.model")
_SUFFIXES = (".gguf", ".tiktoken")
_OTHERS = "`byte` needs no file; a package has to be installed beside structag"


def _complete(incomplete: str) -> list[str]:
    """For the shell: what can be told without looking through every package."""
    names = ["byte", *_tiktoken_names()]
    return [name for name in names if name.startswith(incomplete)]


VocabularyOption = Annotated[
    str,
    typer.Option(
        "--vocab",
        help="`byte`, a tokenizer.json, folder, .gguf, tekken.json, .model or .tiktoken file, "
        "a tiktoken encoding, or an installed package.",
        autocompletion=_complete,
    ),
]
StopOption = Annotated[
    list[int] | None,
    typer.Option("--stop-token", help="Id of a stop token, instead of the vocabulary's own."),
]


def load_vocabulary(name: str, stop_token_ids: list[int] | None = None) -> Vocabulary:
    """The vocabulary that `--vocab` names."""
    stops = stop_token_ids or None
    if name == "byte":
        if stops is None:
            return Vocabulary.byte_level()
        single = [bytes([byte]) for byte in range(256)]
        return Vocabulary.from_token_bytes(single, special={256: "<eos>"}, stop_token_ids=stops)
    with busy("reading the vocabulary"):
        if name in _tiktoken_names() and not Path(name).exists():
            return _of_tiktoken(name, stops)
        return _load(_find(name), stops)


def _find(name: str) -> Path:
    path = Path(name)
    try:
        if path.is_dir():
            return _in_folder(path)
        return path if path.is_file() else _in_package(name)
    except (OSError, ValueError):  # too long, or with a zero in it
        raise InputError(f"`{name[:60]}` is no name of a file") from None


def _tiktoken_names() -> list[str]:
    try:
        import tiktoken
    except ImportError:
        return []
    names: list[str] = tiktoken.list_encoding_names()
    return names


def _of_tiktoken(name: str, stops: list[int] | None) -> Vocabulary:
    import tiktoken

    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:  # of whatever library tiktoken fetches with
        raise InputError(
            f"tiktoken cannot load `{name}`: {type(error).__name__}",
            hint="it fetches the ranks once; give a .tiktoken file where there is no network",
        ) from None
    return Vocabulary.from_tiktoken(encoding, stop_token_ids=stops)


def _load(path: Path, stops: list[int] | None) -> Vocabulary:
    suffix = path.suffix
    if suffix == ".gguf" or _starts_with(path, b"GGUF"):
        return Vocabulary.from_gguf(path, stop_token_ids=stops)
    if suffix == ".tiktoken":
        return Vocabulary.from_tiktoken(path, stop_token_ids=stops)
    if _is_model(path.name):
        if _is_rank_file(path):
            return Vocabulary.from_tiktoken(path, stop_token_ids=stops)
        return Vocabulary.from_sentencepiece(path, stop_token_ids=stops)
    if _is_tekken(path):
        return Vocabulary.from_tekken(path, stop_token_ids=stops)
    return Vocabulary.from_tokenizer_json(path, stop_token_ids=stops)


def _is_model(name: str) -> bool:
    """Also ``….model.v3``, as Mistral counts them."""
    return re.search(r"\.model(\.v\w+)?$", name) is not None


def _is_tekken(path: Path) -> bool:
    """By its name, or by its settings where they come first, as Mistral writes them."""
    with path.open("rb") as file:
        return path.name.startswith("tekken") or b'"default_vocab_size"' in file.read(2000)


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _is_rank_file(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(200).split()
    return len(line) == 2 and line[1].isdigit()


def _in_folder(path: Path) -> Path:
    named = [path / name for name in _IN_FOLDERS if (path / name).is_file()]
    found = named[:1] or sorted(file for file in path.iterdir() if _is_tokenizer(file.name))
    return _only(found, str(path), "name the file itself")


def _in_package(name: str) -> Path:
    package, _, wanted = name.partition(":")
    try:
        files = metadata.distribution(package).files or []
    except (metadata.PackageNotFoundError, ValueError):
        close = get_close_matches(name, ["byte", *_tiktoken_names()], n=1)
        raise InputError(
            f"`{name}` is neither a file, a folder, a tiktoken encoding nor an installed package",
            hint=f"did you mean `{close[0]}`?"
            if close
            else "`byte` needs no file; a package has to be installed here",
        ) from None
    found = [Path(str(file.locate())) for file in files if _is_tokenizer(file.name)]
    if wanted:
        found = [file for file in found if file.name == wanted]
    names = ", ".join(f"{package}:{file.name}" for file in found[:4])
    return _only(found, f"the package `{package}`", f"name one: {names}")


def _is_tokenizer(name: str) -> bool:
    is_tekken = name.startswith("tekken") and name.endswith(".json")
    return name in _IN_FOLDERS or name.endswith(_SUFFIXES) or _is_model(name) or is_tekken


def _only(found: list[Path], where: str, hint: str) -> Path:
    if not found:
        raise InputError(f"no tokenizer file in {where}", hint="name the file itself")
    if len(found) > 1:
        raise InputError(f"{len(found)} tokenizer files in {where}", hint=hint)
    return found[0]
