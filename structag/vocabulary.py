"""`Vocabulary`: what each token id of a model spells, and which ids end generation.

Everything that matches or masks starts here; `structag.loaders` reads the many formats.  A
vocabulary never changes, and many compilers, matchers and threads share one.  Invariant: exactly
the ordinary and user-defined tokens have bytes, and ``▁Hello`` is ``b" Hello"`` even at the start
of a text, where a SentencePiece decoder would drop the space.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

from structag.errors import VocabularyError
from structag.loaders.token_table import (
    StopTokens,
    TokenKind,
    TokenTable,
    check_size,
    check_token_id,
)

if TYPE_CHECKING:
    import os

    from structag._core import Vocabulary as NativeVocabulary
    from structag.loaders.agreement import Disagreement

__all__ = ["TokenKind", "Vocabulary"]


@final
class Vocabulary:
    """The tokens of one model: immutable, shared by threads, picklable, equal by content.

    Make one with a ``from_…`` method.  They have two parameters in common: `vocab_size`, the
    width of the model's logits where it is larger than the tokenizer (the rest is unused), and
    `stop_token_ids`, which replaces what the source says.  All raise `VocabularyError`: with code
    ``vocabulary-file`` (missing or damaged), ``vocabulary-kind`` (tokens spell no exact bytes) or
    ``vocabulary-value`` (an id or size out of range, or no stop token known).
    """

    def __init__(self, table: TokenTable) -> None:
        """Takes over a finished table; callers want one of the ``from_…`` methods."""
        self._token_bytes = tuple(table.token_bytes)
        self._kinds = bytes(table.kinds)
        self._contents = dict(sorted(table.contents.items()))
        self._stop_token_ids = tuple(table.stop_token_ids)
        self._native: NativeVocabulary | None = None
        self._native_lock = threading.Lock()

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, vocab_size: int | None = None, stop_token_ids: StopTokens = None
    ) -> Vocabulary:
        """From a transformers tokenizer or a `tokenizers.Tokenizer`; no reference is kept.

        The stop token is the tokenizer's `eos_token_id`, and those of generation_config.json if
        it was loaded from a local folder; a `tokenizers.Tokenizer` knows none.  Slow tokenizers
        over SentencePiece or tiktoken work as well.
        """
        from structag.loaders.huggingface import table_of_tokenizer

        return cls(table_of_tokenizer(tokenizer).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_tokenizer_json(
        cls,
        path: str | os.PathLike[str],
        vocab_size: int | None = None,
        stop_token_ids: StopTokens = None,
    ) -> Vocabulary:
        """From a tokenizer.json, or the folder it lies in.

        The stop tokens come from tokenizer_config.json and generation_config.json beside it.
        """
        from structag.loaders.tokenizer_json import read_tokenizer_json

        return cls(read_tokenizer_json(path).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        vocab_size: int | None = None,
        stop_token_ids: StopTokens = None,
        *,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Vocabulary:
        """From a `tiktoken.Encoding`, or the path of a ``.tiktoken`` rank file.

        A rank file holds no special tokens: pass them as `special_tokens` (content -> id).  The
        stop token is ``<|endoftext|>`` where there is one.
        """
        import os

        from structag.loaders.tiktoken_ranks import read_rank_file, table_of_encoding

        is_path = isinstance(encoding, str | os.PathLike)
        read = read_rank_file if is_path else table_of_encoding
        return cls(read(encoding, special_tokens).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_sentencepiece(
        cls,
        path: str | os.PathLike[str],
        vocab_size: int | None = None,
        stop_token_ids: StopTokens = None,
    ) -> Vocabulary:
        """From a SentencePiece model file; the stop token is its end-of-sentence piece."""
        from structag.loaders.sentencepiece_model import read_sentencepiece_model

        return cls(read_sentencepiece_model(path).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_tekken(
        cls,
        path: str | os.PathLike[str],
        vocab_size: int | None = None,
        stop_token_ids: StopTokens = None,
    ) -> Vocabulary:
        """From a tekken.json of Mistral; the stop token is ``</s>``."""
        from structag.loaders.tekken import read_tekken

        return cls(read_tekken(path).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_gguf(
        cls,
        path: str | os.PathLike[str],
        vocab_size: int | None = None,
        stop_token_ids: StopTokens = None,
    ) -> Vocabulary:
        """From the metadata of a GGUF model file; the tensors are not read.

        The stop tokens are its eos, eot and eom ids, and the tokens at which llama.cpp ends
        generation by name (``<|im_end|>``, ``<end_of_turn>``, …).
        """
        from structag.loaders.gguf_metadata import read_gguf

        return cls(read_gguf(path).finish(vocab_size, stop_token_ids))

    @classmethod
    def from_token_bytes(
        cls,
        token_bytes: Sequence[bytes],
        *,
        special: Mapping[int, str] | Iterable[int] = (),
        user_defined: Mapping[int, str] | Iterable[int] = (),
        stop_token_ids: StopTokens = None,
        vocab_size: int | None = None,
    ) -> Vocabulary:
        """From the bytes of each token, by id; ``b""`` is an unused id.

        `special` (control) and `user_defined` tokens are ids, whose content is then their bytes
        as text, or id -> content; such ids may lie past the end of `token_bytes`.

            >>> vocabulary = Vocabulary.from_token_bytes(
            ...     [b"a", b"b", b"<end>"], special=[2], stop_token_ids=2)
            >>> vocabulary.token_bytes(0), vocabulary.token_bytes(2), vocabulary.token_name(2)
            (b'a', b'', '<end>')
        """
        for token_id, text in enumerate(token_bytes):
            if not isinstance(text, bytes):
                raise VocabularyError(
                    f"token {token_id} is {type(text).__name__}",
                    code="vocabulary-value",
                    expected="bytes",
                    hint="encode text as UTF-8",
                )
        table = TokenTable.of_ordinary(dict(enumerate(token_bytes)))
        for tokens, is_special in ((user_defined, False), (special, True)):
            for token_id, content in _named(tokens, token_bytes):
                table.add_token(token_id, content, special=is_special)
        return cls(table.finish(vocab_size, stop_token_ids))

    @classmethod
    def byte_level(cls) -> Vocabulary:
        """One token for each byte, 0 to 255, and ``<eos>`` as 256: where no model is involved."""
        single = [bytes([byte]) for byte in range(256)]
        return cls.from_token_bytes(single, special={256: "<eos>"}, stop_token_ids=256)

    def resized(self, vocab_size: int) -> Vocabulary:
        """This vocabulary with `vocab_size` ids: padded with unused ones, or cut off.

        Cutting is for models with fewer logits than the tokenizer has ids; stop tokens that are
        cut off are no longer stop tokens, and one must remain.
        """
        size = check_size(vocab_size)
        table = TokenTable(
            list(self._token_bytes[:size]),
            bytearray(self._kinds[:size]),
            {i: content for i, content in self._contents.items() if i < size},
            [i for i in self._stop_token_ids if i < size],
            "keep at least one stop token",
        )
        return Vocabulary(table.finish(size, None))

    @property
    def size(self) -> int:
        """The number of token ids, padding included: the width of logits and masks."""
        return len(self._token_bytes)

    def __len__(self) -> int:
        return len(self._token_bytes)

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """The tokens that end generation; at least one."""
        return self._stop_token_ids

    def token_bytes(self, token_id: int) -> bytes:
        """What the token adds to the text; ``b""`` for control and unused tokens.

        Raises:
            VocabularyError: there is no such id (``vocabulary-value``).
        """
        return self._token_bytes[self._check_id(token_id)]

    def token_kind(self, token_id: int) -> TokenKind:
        """Whether the token is text, user-defined, control or unused.

        Raises:
            VocabularyError: there is no such id (``vocabulary-value``).
        """
        return TokenKind(self._kinds[self._check_id(token_id)])

    def token_name(self, token_id: int) -> str:
        """The token as people should read it.

        The content of an added token; the text of an ordinary one, with escapes for bytes that
        are no characters or do not print; ``<unused 7>`` or ``<control 7>`` where there is none.

        Raises:
            VocabularyError: there is no such id (``vocabulary-value``).
        """
        content = self._contents.get(self._check_id(token_id))
        if content is not None:
            return content
        text = self._token_bytes[token_id]
        if not text:
            return f"<{TokenKind(self._kinds[token_id]).name.lower()} {token_id}>"
        readable = text.decode(errors="backslashreplace")
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in readable)

    def token_id(self, content: str) -> int | None:
        """The id of the added token with this content, or `None`."""
        return self.added_tokens.get(content)

    @cached_property
    def added_tokens(self) -> Mapping[str, int]:
        """Content -> id of the user-defined and control tokens; of equal contents, the first."""
        by_content: dict[str, int] = {}
        for token_id, content in self._contents.items():
            by_content.setdefault(content, token_id)
        return MappingProxyType(by_content)

    @cached_property
    def control_tokens(self) -> Mapping[str, int]:
        """Content -> id of the control tokens."""
        return MappingProxyType(
            {
                content: token_id
                for content, token_id in self.added_tokens.items()
                if self._kinds[token_id] == TokenKind.CONTROL
            }
        )

    @cached_property
    def missing_bytes(self) -> frozenset[int]:
        """The byte values that are no token on their own; empty in a vocabulary that is safe."""
        return frozenset(range(256)) - {text[0] for text in self._token_bytes if len(text) == 1}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that matters here, 32 hex digits, the same in every process."""
        digest = blake2b(self._kinds, digest_size=16, person=b"structag-vocab-1")
        digest.update(" ".join(map(str, self._stop_token_ids)).encode())
        digest.update(repr(self._contents).encode())
        digest.update(" ".join(str(len(text)) for text in self._token_bytes).encode())
        digest.update(b"".join(self._token_bytes))
        return digest.hexdigest()

    @property
    def native(self) -> NativeVocabulary:
        """The native core's form of this vocabulary, made on first use and then kept."""
        with self._native_lock:
            if self._native is None:
                from structag._core import Vocabulary as NativeVocabulary

                self._native = NativeVocabulary(
                    list(self._token_bytes), self._kinds, list(self._stop_token_ids)
                )
            return self._native

    @property
    def cache_bytes(self) -> int:
        """How much is kept of what was found out about these tokens, for all grammars: 48 MiB.

        May be set at any time, to 1 MiB or more; not pickled.  Beyond it, all but the commonest is
        forgotten and found out again, so that masks are slower for a while.
        """
        return self.native.library_bytes

    @cache_bytes.setter
    def cache_bytes(self, bytes_: int) -> None:
        if not isinstance(bytes_, int) or isinstance(bytes_, bool):
            raise TypeError(f"cache_bytes of type {type(bytes_).__name__}, expected an int")
        if not 1 << 20 <= bytes_ < 1 << 62:
            raise ValueError(f"cache_bytes={bytes_}, expected 1 MiB (1048576) or more")
        self.native.library_bytes = bytes_

    def self_test(
        self,
        encode: Callable[[str], Sequence[int]],
        decode: Callable[[list[int]], str],
        samples: Iterable[str] | None = None,
    ) -> list[Disagreement]:
        """Where this vocabulary and its tokenizer disagree on what tokens spell; best: nowhere.

        `encode` must add no tokens of its own (``add_special_tokens=False``) and `decode` drop
        none.  Without `samples`, texts in many scripts and the added tokens are tried.
        """
        from structag.loaders.agreement import find_disagreements

        return find_disagreements(self, encode, decode, samples)

    def __repr__(self) -> str:
        return (
            f"<Vocabulary of {self.size} ids, {len(self.added_tokens)} added tokens,"
            f" stop tokens {list(self._stop_token_ids)}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        table = TokenTable(
            list(self._token_bytes),
            bytearray(self._kinds),
            self._contents,
            list(self._stop_token_ids),
        )
        return (Vocabulary, (table,))

    def _check_id(self, token_id: int) -> int:
        token_id = operator.index(token_id)
        if 0 <= token_id < len(self._token_bytes):
            return token_id
        raise VocabularyError(
            f"there is no token {token_id}",
            code="vocabulary-value",
            expected=f"an id from 0 to {len(self._token_bytes) - 1}",
        )


def _named(
    tokens: Mapping[int, str] | Iterable[int], token_bytes: Sequence[bytes]
) -> list[tuple[int, str]]:
    if isinstance(tokens, Mapping):
        return [(check_token_id(token_id), content) for token_id, content in tokens.items()]
    ids = [check_token_id(token_id) for token_id in tokens]
    past_end = [token_id for token_id in ids if token_id >= len(token_bytes)]
    if past_end:
        raise VocabularyError(
            f"token {past_end[0]} has neither bytes nor content",
            code="vocabulary-value",
            expected=f"an id from 0 to {len(token_bytes) - 1}",
            hint="pass a mapping of id to content",
        )
    return [(token_id, token_bytes[token_id].decode(errors="replace")) for token_id in ids]
