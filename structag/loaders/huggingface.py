"""A Hugging Face tokenizer object -> token table.

Takes what is at hand: a fast tokenizer of transformers or a `tokenizers.Tokenizer` (their
sections and vocabulary), a slow one over SentencePiece
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
from structag.loaders.tokenizer_json import stop_tokens_beside, table_of_sections

_SECTIONS = ("decoder", "pre_tokenizer", "normalizer")

# What decides over a BPE model's bytes.  Its state would hold the merges too, and take seconds.
_BPE_SETTINGS = (
    "byte_fallback",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
)

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
    sections = {name: _section(getattr(backend, name, None)) for name in _SECTIONS}
    model = backend.model
    if type(model).__name__ == "BPE":
        settings = {name: getattr(model, name, None) for name in _BPE_SETTINGS}
        vocabulary = backend.get_vocab(with_added_tokens=False)
        sections["model"] = {"type": "BPE", "vocab": vocabulary, **settings}
    else:
        sections["model"] = _section(model)
    sections["added_tokens"] = [
        {"id": token_id, "content": token.content, "special": token.special}
        for token_id, token in backend.get_added_tokens_decoder().items()
    ]
    return table_of_sections(sections)


def _section(component: Any) -> Any:
    """A component's section of tokenizer.json; its pickled state is that JSON."""
    if component is None:
        return None
    try:
        return json.loads(component.__getstate__())
    except Exception:
        raise VocabularyError(
            f"{type(component).__name__} does not say how it works",
            code="vocabulary-kind",
            expected="a tokenizer whose components come from the `tokenizers` package",
            hint="use `Vocabulary.from_token_bytes`",
        ) from None


def _table_of_slow(tokenizer: Any) -> TokenTable:
    sp_model = getattr(tokenizer, "sp_model", None)
    if sp_model is not None and hasattr(sp_model, "serialized_model_proto"):
        _refuse_moved_ids(tokenizer, sp_model)
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
        if token.special or token_id not in table.contents:
            table.add_token(token_id, str(token.content), special=bool(token.special))
    return table


def _refuse_moved_ids(tokenizer: Any, sp_model: Any) -> None:
    """Some tokenizers (those of fairseq) move the ids of their SentencePiece model."""
    size = sp_model.get_piece_size()
    for token_id in range(size // 2, size, size // 16 + 1):
        if tokenizer.convert_ids_to_tokens(token_id) != sp_model.id_to_piece(token_id):
            raise VocabularyError(
                f"{type(tokenizer).__name__} does not keep the ids of its SentencePiece model",
                code="vocabulary-kind",
                expected="a tokenizer whose ids are those of its model",
                hint="use the fast tokenizer",
            )
