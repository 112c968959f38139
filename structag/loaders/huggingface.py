"""A Hugging Face tokenizer object -> token table.

Takes what is at hand: a fast tokenizer of transformers or a `tokenizers.Tokenizer` (their
sections and vocabulary, without serialising the merges), a slow one over SentencePiece
(`sp_model`), or one over tiktoken.  Objects are told apart by what they offer, so that neither
package is imported; no reference to the tokenizer is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from structag.errors import VocabularyError
from structag.loaders.sentencepiece_model import table_of_model
from structag.loaders.tiktoken_ranks import is_encoding, table_of_encoding
from structag.loaders.token_table import TokenTable
from structag.loaders.tokenizer_json import stop_tokens_beside, table_of_pieces

_STOP_HINT = (
    "pass stop_token_ids (transformers: `model.generation_config.eos_token_id`, one id or several)"
)


def table_of_tokenizer(tokenizer: Any) -> TokenTable:
    """The table of a tokenizer object; its `eos_token_id` is a stop token.

    A folder it was loaded from may name more, in generation_config.json.

    Raises:
        VocabularyError: it is no tokenizer known here, or its tokens spell no exact bytes
            (``vocabulary-kind``).
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "get_added_tokens_decoder") and hasattr(backend, "model"):
        table = _table_of_backend(backend)
    else:
        table = _table_of_slow(tokenizer)
    table.stop_hint = _STOP_HINT
    eos = getattr(tokenizer, "eos_token_id", None)
    stops = [eos] if isinstance(eos, int) else list(eos or ())
    source = getattr(tokenizer, "name_or_path", None)
    if isinstance(source, str) and source and Path(source).is_dir():
        stops += stop_tokens_beside(Path(source), table)
    table.stop_token_ids = stops or table.stop_token_ids
    return table


def _table_of_backend(backend: Any) -> TokenTable:
    sections = {
        name: _section(getattr(backend, name, None))
        for name in ("decoder", "pre_tokenizer", "normalizer")
    }
    model = backend.model
    settings = {
        name: getattr(model, name, None)
        for name in (
            "byte_fallback",
            "unk_token",
            "continuing_subword_prefix",
            "end_of_word_suffix",
        )
    }
    vocabulary: dict[str, int] = backend.get_vocab(with_added_tokens=False)
    unknown = settings["unk_token"]
    added = [
        (token_id, token.content, bool(token.special))
        for token_id, token in backend.get_added_tokens_decoder().items()
    ]
    return table_of_pieces(
        {**sections, "model": {**settings, "type": type(model).__name__}},
        vocabulary.items(),
        added,
        vocabulary.get(unknown) if isinstance(unknown, str) else None,
    )


def _section(component: Any) -> Any:
    """A component's section of tokenizer.json; its pickled state is that JSON."""
    if component is None:
        return None
    state = component.__getstate__()
    try:
        return json.loads(state)
    except (TypeError, ValueError):
        raise VocabularyError(
            f"{type(component).__name__} does not say how it works",
            code="vocabulary-kind",
            expected="a tokenizer whose components come from the `tokenizers` package",
            hint="use `Vocabulary.from_token_bytes`",
        ) from None


def _table_of_slow(tokenizer: Any) -> TokenTable:
    sp_model = getattr(tokenizer, "sp_model", None)
    if sp_model is not None and hasattr(sp_model, "serialized_model_proto"):
        table = table_of_model(sp_model.serialized_model_proto(), "sp_model")
    else:
        inner = (getattr(tokenizer, name, None) for name in ("tokenizer", "model", "encoder"))
        encoding = next(filter(is_encoding, inner), None)
        if encoding is None:
            raise VocabularyError(
                f"got {type(tokenizer).__name__}, which offers no table of its tokens",
                code="vocabulary-kind",
                expected="a fast tokenizer of transformers, a `tokenizers.Tokenizer`, or a slow"
                " tokenizer over SentencePiece or tiktoken",
                hint="use the loader of the file the tokenizer came from, or"
                " `Vocabulary.from_token_bytes`",
            )
        table = table_of_encoding(encoding)
    for token_id, token in getattr(tokenizer, "added_tokens_decoder", {}).items():
        table.add_token(token_id, str(token.content), special=bool(token.special))
    return table
