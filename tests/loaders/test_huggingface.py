"""`structag/loaders/huggingface.py`: tokenizer objects of transformers and tokenizers."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from structag.errors import VocabularyError
from structag.vocabulary import TokenKind, Vocabulary

tokenizers = pytest.importorskip("tokenizers")

BYTES = {f"<0x{byte:02X}>": 3 + byte for byte in range(256)}


def llama_like(model: Any) -> Any:
    """A tokenizer of SentencePiece's kind around `model`, as transformers converts them."""
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.Replace("▁", " "),
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Fuse(),
            tokenizers.decoders.Strip(" ", 1, 0),
        ]
    )
    special = [tokenizers.AddedToken(name, special=True) for name in ("<unk>", "<s>", "</s>")]
    tokenizer.add_special_tokens(special)
    return tokenizer


def byte_fallback_bpe() -> Any:
    pieces = ["▁", "a", "b", "▁a", "▁▁"]
    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2, **BYTES}
    vocabulary.update((piece, 259 + rank) for rank, piece in enumerate(pieces))
    return tokenizers.models.BPE(
        vocabulary, [("▁", "a"), ("▁", "▁")], unk_token="<unk>", byte_fallback=True, fuse_unk=True
    )


def self_test(vocabulary: Vocabulary, tokenizer: Any) -> list[Any]:
    return vocabulary.self_test(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
    )


def test_byte_fallback_spells_every_text() -> None:
    tokenizer = llama_like(byte_fallback_bpe())
    tokenizer.add_tokens([tokenizers.AddedToken("<think>", normalized=False)])

    vocabulary = Vocabulary.from_huggingface(tokenizer, vocab_size=300, stop_token_ids=2)
    assert self_test(vocabulary, tokenizer) == []
    assert vocabulary.missing_bytes == frozenset()
    assert vocabulary.token_bytes(3 + 0x0A) == b"\n"
    assert vocabulary.token_bytes(263) == b"  "
    assert dict(vocabulary.control_tokens) == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert vocabulary.token_kind(264) == TokenKind.USER_DEFINED
    assert vocabulary.token_kind(265) == TokenKind.UNUSED


def test_unigram_is_read_with_its_settings() -> None:
    scored = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *((name, -9.0) for name in BYTES)]
    model = tokenizers.models.Unigram([*scored, ("▁a", -1.0), ("b", -2.0)], 0, True)
    tokenizer = llama_like(model)

    vocabulary = Vocabulary.from_huggingface(tokenizer, stop_token_ids=2)
    assert self_test(vocabulary, tokenizer) == []
    assert vocabulary.token_bytes(259) == b" a"
    assert vocabulary.token_kind(0) == TokenKind.CONTROL


def test_added_tokens_of_byte_level_bpe_are_plain_text() -> None:
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.models.BPE({character: i for i, character in enumerate(alphabet)}, [])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_tokens(["  ", "<｜tool▁calls▁begin｜>"])

    vocabulary = Vocabulary.from_huggingface(tokenizer, stop_token_ids=0)
    assert self_test(vocabulary, tokenizer) == []
    assert vocabulary.token_bytes(256) == b"  "
    assert vocabulary.token_bytes(257) == "<｜tool▁calls▁begin｜>".encode()


def test_object_and_file_give_the_same_vocabulary(deepseek_folder: Path) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(deepseek_folder / "tokenizer.json"))

    from_object = Vocabulary.from_huggingface(tokenizer, stop_token_ids=1)
    assert from_object == Vocabulary.from_tokenizer_json(deepseek_folder)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_small_object_and_file_give_the_same_vocabulary(tmp_path: Path, kind: str) -> None:
    unigram = tokenizers.models.Unigram([("<unk>", 0.0), ("▁a", -1.0)], 0, False)
    tokenizer = llama_like(byte_fallback_bpe() if kind == "bpe" else unigram)
    tokenizer.save(str(tmp_path / "tokenizer.json"))

    from_object = Vocabulary.from_huggingface(tokenizer, stop_token_ids=1)
    assert from_object == Vocabulary.from_tokenizer_json(tmp_path, stop_token_ids=1)


def test_sentencepiece_pieces_in_a_fast_tokenizer_spell_the_same(mistral_folder: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = mistral_folder / "tokenizer.model.v1"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    pieces = {processor.id_to_piece(i): i for i in range(processor.get_piece_size())}
    model = tokenizers.models.BPE(pieces, [], unk_token="<unk>", byte_fallback=True)

    fast = Vocabulary.from_huggingface(llama_like(model), stop_token_ids=2)
    assert fast == Vocabulary.from_sentencepiece(path)


def test_no_reference_to_the_tokenizer_is_kept() -> None:
    class Holder:
        """What transformers' tokenizers are for this: an object around a backend."""

        backend_tokenizer = llama_like(byte_fallback_bpe())
        eos_token_id = 2

    tokenizer = Holder()
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    reference = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()

    assert reference() is None
    assert vocabulary.stop_token_ids == (2,)


def test_folder_of_the_tokenizer_names_more_stop_tokens(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 1]}))
    tokenizer = SimpleNamespace(
        backend_tokenizer=llama_like(byte_fallback_bpe()),
        eos_token_id=2,
        name_or_path=str(tmp_path),
    )

    assert Vocabulary.from_huggingface(tokenizer).stop_token_ids == (2, 1)


def test_unknown_stop_token_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_huggingface(llama_like(byte_fallback_bpe()))

    assert str(caught.value) == (
        "no stop token is known, so generation could never end, expected at least one stop token;"
        " pass stop_token_ids (transformers: `model.generation_config.eos_token_id`, one id or"
        " several)"
    )


def test_size_without_the_added_tokens_is_an_error() -> None:
    tokenizer = llama_like(byte_fallback_bpe())
    tokenizer.add_tokens(["<think>"])

    with pytest.raises(VocabularyError, match="vocab_size 264 is smaller than the tokenizer"):
        size = tokenizer.get_vocab_size(with_added_tokens=False)
        Vocabulary.from_huggingface(tokenizer, vocab_size=size, stop_token_ids=2)


def test_word_piece_is_refused() -> None:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0, "a": 1}))

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_huggingface(tokenizer, stop_token_ids=0)
    assert str(caught.value) == (
        "model WordPiece: its tokens leave out the spaces between words, so they spell no exact"
        " text, expected a byte-level tokenizer, or a SentencePiece one (BPE or Unigram);"
        " if you know the bytes of each token, use `Vocabulary.from_token_bytes`"
    )
    assert caught.value.code == "vocabulary-kind"


def test_decoder_written_in_python_is_refused() -> None:
    class Decoder:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens

    tokenizer = llama_like(byte_fallback_bpe())
    tokenizer.decoder = tokenizers.decoders.Decoder.custom(Decoder())

    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_huggingface(tokenizer, stop_token_ids=2)
    assert str(caught.value) == (
        "Decoder does not say how it works, expected a tokenizer whose components come from the"
        " `tokenizers` package; use `Vocabulary.from_token_bytes`"
    )


def test_something_else_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_huggingface("gpt2")

    assert str(caught.value) == (
        "got str, which offers no table of its tokens, expected a fast tokenizer of transformers,"
        " a `tokenizers.Tokenizer`, or a slow tokenizer over SentencePiece or tiktoken; use the"
        " loader of the file the tokenizer came from, or `Vocabulary.from_token_bytes`"
    )
    assert caught.value.code == "vocabulary-kind"


def test_slow_tokenizer_over_tiktoken() -> None:
    added = {2: tokenizers.AddedToken("<eot>", special=True)}
    encoding = SimpleNamespace(_mergeable_ranks={b"a": 0, b" b": 1}, _special_tokens={"<x>": 3})
    tokenizer = SimpleNamespace(model=encoding, added_tokens_decoder=added, eos_token_id=2)

    vocabulary = Vocabulary.from_huggingface(tokenizer)
    assert [vocabulary.token_bytes(i) for i in range(4)] == [b"a", b" b", b"", b""]
    assert dict(vocabulary.control_tokens) == {"<eot>": 2, "<x>": 3}
    assert vocabulary.stop_token_ids == (2,)


def slow(path: Path, shift: int) -> Any:
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return SimpleNamespace(
        sp_model=processor,
        convert_ids_to_tokens=lambda token_id: processor.id_to_piece(token_id - shift),
        added_tokens_decoder={2: tokenizers.AddedToken("</s>", special=True)},
        eos_token_id=2,
    )


def test_slow_tokenizer_over_sentencepiece(mistral_folder: Path) -> None:
    path = mistral_folder / "tokenizer.model.v1"

    assert Vocabulary.from_huggingface(slow(path, 0)) == Vocabulary.from_sentencepiece(path)


def test_slow_tokenizer_with_ids_of_its_own_is_refused(mistral_folder: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_huggingface(slow(mistral_folder / "tokenizer.model.v1", 1))

    assert str(caught.value) == (
        "SimpleNamespace does not keep the ids of its SentencePiece model, expected a tokenizer"
        " whose ids are those of its model; use the fast tokenizer"
    )
    assert caught.value.code == "vocabulary-kind"


def test_transformers_tokenizer_names_its_stop_token(deepseek_folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(str(deepseek_folder))

    vocabulary = Vocabulary.from_huggingface(tokenizer)
    assert vocabulary == Vocabulary.from_tokenizer_json(deepseek_folder)
    assert vocabulary.stop_token_ids == (tokenizer.eos_token_id,)
