"""tekken.json (Mistral) -> token table.

The special tokens take the first ids, then come the tokens by rank, as many as the declared
vocabulary size leaves room for.  Files before v7 do not list their special tokens; those are the
fixed ones below, and what remains is called ``<SPECIAL_n>``.  ``</s>`` is the stop token.

Source: ``Tekkenizer`` of mistralai/mistral-common.
"""

from __future__ import annotations

import base64
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.files import FilePath, damaged, read_json_object
from structag.loaders.token_table import TokenTable, check_size

_EXPECTED = "a tekken.json of Mistral"
_STOP = "</s>"
_SPECIAL_BEFORE_V7 = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
]


def read_tekken(path: FilePath) -> TokenTable:
    """The table of a tekken.json.

    Raises:
        VocabularyError: the file is missing or damaged (``vocabulary-file``).
    """
    document = read_json_object(path, expected=_EXPECTED)
    try:
        table = _table_of_document(document)
    except (LookupError, TypeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise damaged(
            path,
            f"is not laid out as expected ({type(error).__name__}: {str(error)[:60]})",
            expected=_EXPECTED,
        ) from None
    table.stop_token_ids = [i for i, content in table.contents.items() if content == _STOP]
    return table


def _table_of_document(document: dict[str, Any]) -> TokenTable:
    config = document["config"]
    size = check_size(config["default_vocab_size"])
    special_count = config["default_num_special_tokens"]
    if not 0 <= special_count <= size:
        raise ValueError(f"{special_count} special tokens")
    ordinary = {
        special_count + entry["rank"]: base64.b64decode(entry["token_bytes"], validate=True)
        for entry in document["vocab"]
        if special_count + entry["rank"] < size
    }
    table = TokenTable.of_ordinary(ordinary)
    table.pad_to(size)
    names = {token_id: f"<SPECIAL_{token_id}>" for token_id in range(special_count)}
    listed = document.get("special_tokens")
    if listed is None:
        names.update(zip(range(special_count), _SPECIAL_BEFORE_V7, strict=False))
    else:
        names.update((entry["rank"], entry["token_str"]) for entry in listed)
    for token_id, content in names.items():
        table.add_token(token_id, content, special=True)
    return table
