"""tokenizer.json (Hugging Face) -> token table, without the `tokenizers` package.

`table_of_sections` serves `huggingface` too.  Beside the file, tokenizer_config.json
may mark more added tokens as special, and together with generation_config.json it names the stop
tokens; config.json is asked only when neither does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.files import FilePath, damaged, read_json_object
from structag.loaders.piece_decoder import piece_decoder
from structag.loaders.token_table import TokenTable, stop_list

_EXPECTED = "a tokenizer.json of Hugging Face tokenizers, or a folder that holds one"
_STOP_HINT = "pass stop_token_ids (the model's generation_config.json names them as `eos_token_id`)"
_OTHER_FILES = {
    "tekken.json": "Vocabulary.from_tekken",
    "tokenizer.model": "Vocabulary.from_sentencepiece",
    "tiktoken.model": "Vocabulary.from_tiktoken",
}


def read_tokenizer_json(path: FilePath) -> TokenTable:
    """The table of a tokenizer.json, given as the file or as its folder.

    Raises:
        VocabularyError: the file is missing or damaged (``vocabulary-file``), or of a kind whose
            tokens spell no exact bytes (``vocabulary-kind``).
    """
    file = _find(Path(path))
    sections = read_json_object(file, expected=_EXPECTED)
    try:
        table = table_of_sections(sections)
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise damaged(
            file,
            f"is not laid out as expected ({type(error).__name__}: {str(error)[:60]})",
            expected=_EXPECTED,
        ) from None
    _mark_special(table, read_beside(file.parent, "tokenizer_config.json"))
    table.stop_token_ids = stop_tokens_beside(file.parent, table)
    return table


def table_of_sections(sections: Mapping[str, Any]) -> TokenTable:
    """The table of the top-level sections of a tokenizer.json; no stop tokens are set.

    The unknown token is a control token, whether added or not: no text spells it.

    Raises:
        VocabularyError: the tokens spell no exact bytes (``vocabulary-kind``), or an id is out
            of range (``vocabulary-value``).
        TypeError, LookupError: the sections are not laid out as they should be.
    """
    decoder = piece_decoder(sections)
    pieces, unknown_id = _pieces(sections["model"])
    bytes_of = decoder.ordinary
    table = TokenTable.of_ordinary({token_id: bytes_of(piece) for piece, token_id in pieces})
    table.stop_hint = _STOP_HINT
    for entry in sections.get("added_tokens") or ():
        content, special = entry["content"], bool(entry.get("special"))
        text = None if special else decoder.added(content)
        table.add_token(entry["id"], content, special=special, text=text)
    if unknown_id is not None and unknown_id < len(table.kinds):
        table.add_token(unknown_id, table.contents.get(unknown_id, "<unk>"), special=True)
    return table


def stop_tokens_beside(folder: Path, table: TokenTable) -> list[int]:
    """The stop tokens that the configuration files in `folder` name, of those in the table.

    Raises:
        VocabularyError: a configuration file is damaged (``vocabulary-file``).
    """
    stops = []
    eos = read_beside(folder, "tokenizer_config.json").get("eos_token")
    content = eos.get("content") if isinstance(eos, dict) else eos
    stops += [token_id for token_id, name in table.contents.items() if name == content]
    stops += _ids(read_beside(folder, "generation_config.json").get("eos_token_id"))
    return stops or _ids(read_beside(folder, "config.json").get("eos_token_id"))


def read_beside(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file that may be missing: then an empty one.

    Raises:
        VocabularyError: the file is damaged (``vocabulary-file``).
    """
    file = folder / name
    return read_json_object(file, expected="a JSON object") if file.is_file() else {}


def _find(path: Path) -> Path:
    if not path.is_dir():
        return path
    file = path / "tokenizer.json"
    if not file.is_file():
        for name, loader in _OTHER_FILES.items():
            if (path / name).is_file():
                raise damaged(
                    path,
                    f"holds no tokenizer.json, but `{name}`",
                    expected=_EXPECTED,
                    hint=f"use `{loader}`",
                )
    return file


def _pieces(model: Mapping[str, Any]) -> tuple[Collection[tuple[str, int]], int | None]:
    """The (piece, id) of the model's vocabulary, and the id of its unknown token."""
    vocabulary = model["vocab"]
    pieces: Collection[tuple[str, int]]
    if isinstance(vocabulary, list):
        pieces = [(entry[0], token_id) for token_id, entry in enumerate(vocabulary)]
        unknown_id = model.get("unk_id")
    else:
        pieces = vocabulary.items()
        unknown_id = vocabulary.get(model.get("unk_token"))
    if not all(type(piece) is str and type(token_id) is int for piece, token_id in pieces):
        raise TypeError("`model.vocab` does not map strings to integers")
    return pieces, unknown_id


def _mark_special(table: TokenTable, config: Mapping[str, Any]) -> None:
    """Applies `added_tokens_decoder`: what transformers adds to, or changes in, the tokenizer."""
    entries = config.get("added_tokens_decoder")
    for key, entry in entries.items() if isinstance(entries, dict) else ():
        if not (key.isdecimal() and isinstance(entry, dict)):
            continue
        token_id, content = int(key), entry.get("content")
        if isinstance(content, str) and table.contents.get(token_id, content) == content:
            special = bool(entry.get("special"))
            is_known = token_id in table.contents
            text = table.token_bytes[token_id] if is_known and not special else None
            table.add_token(token_id, content, special=special, text=text or None)


def _ids(value: Any) -> list[int]:
    if value is None:
        return []
    return stop_list(value)
