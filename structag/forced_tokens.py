"""The tokens that must come next, as the tokenizer itself would write them.

A model that was trained on a tokenizer's own spellings should read them too.  So forced text is not
cut into tokens as it stands: what comes after it may join its last characters into one token.  Here
only tokens are taken that the tokenizer writes whatever follows, and only if it writes the tokens
before them as they were emitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from structag.errors import MatcherError

if TYPE_CHECKING:
    from structag.matcher import Matcher

_MOST_SINGLE = 4096  # tokens forced one by one
# What may stand behind a character: of every kind that tokenizers tell apart.
_FOLLOWING = ("", "a", "ll", "S", " b", "  c", "12", '"', "'s", "\n")
_KINDS = (
    "a",
    "Z",
    "0",
    " ",
    "\n",
    "\t",
    '"',
    "'",
    ",",
    ".",
    "{",
    "<",
    "_",
    "-",
    "é",
    "中",
    "\U0001f600",
)


def single_tokens(matcher: Matcher) -> list[int]:
    """The tokens of masks that allow one token only, up to a termination."""
    import numpy as np

    size = matcher.grammar.vocabulary.size
    row = np.zeros((size + 31) // 32, dtype=np.int32)
    fork = matcher.fork()
    forced: list[int] = []
    while len(forced) < _MOST_SINGLE and not fork.is_terminated():
        fork.fill_next_token_bitmask(row)
        words = np.flatnonzero(row)
        if len(words) != 1:
            break
        bits = int(row[words[0]]) & 0xFFFFFFFF
        if bits & (bits - 1):
            break
        token = int(words[0]) * 32 + bits.bit_length() - 1
        assert fork.accept_token(token)
        forced.append(token)
    return forced


def canonical_tokens(matcher: Matcher, tokenizer: Any, emitted: Sequence[int]) -> list[int]:
    """The tokens that `tokenizer` writes for the forced text, as far as nothing can change them."""
    jump = matcher.find_jump_forward_string()
    if not jump:
        return []
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "pre_tokenizer") or not hasattr(backend, "encode"):
        raise MatcherError(
            f"the tokenizer is `{type(tokenizer).__name__}`",
            code="matcher-state",
            expected="a `tokenizers.Tokenizer`, or a fast tokenizer of transformers",
        )
    if backend.pre_tokenizer is None:  # nothing keeps one word from joining the next
        return []
    tail = _text_tokens(matcher, emitted)
    vocabulary = matcher.grammar.vocabulary
    try:
        before = b"".join(map(vocabulary.token_bytes, tail)).decode()
    except UnicodeDecodeError:
        return []
    text = before + jump
    continuations = [text + more for more in _continuations(matcher, jump)]
    cut = _stable_end(backend, text, continuations)
    tokens = _encode(backend, text[:cut])
    for whole in continuations:
        written = _encode(backend, whole)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(tokens, written, strict=False))
        tokens = [token for token, _ in same]
    if tokens[: len(tail)] != tail:
        return []
    forced = tokens[len(tail) :]
    return forced[: matcher.validate_tokens(forced)]


def _text_tokens(matcher: Matcher, emitted: Sequence[int]) -> list[int]:
    """The emitted tokens since the last one that is no text."""
    vocabulary = matcher.grammar.vocabulary
    tail = takewhile(vocabulary.token_bytes, reversed([int(token) for token in emitted]))
    return list(tail)[::-1]


def _continuations(matcher: Matcher, jump: str) -> list[str]:
    """Texts of every kind that may follow the jump."""
    fork = matcher.fork()
    assert fork.accept_string(jump)
    allowed = fork.allowed_bytes()
    plain = [chr(byte) for byte in sorted(allowed) if byte < 0x80]
    kinds = [char for char in _KINDS if char.encode()[0] in allowed]
    few = plain if len(plain) <= 12 else [*plain[:: len(plain) // 6], *kinds]
    firsts = dict.fromkeys([*few, *(char for char in kinds if not char.isascii())])
    found = [first + more for first in firsts for more in _FOLLOWING]
    return ["", *found] if fork.is_completed() or not found else found


def _stable_end(backend: Any, text: str, continuations: list[str]) -> int:
    """Where the last piece of `text` begins that begins there whatever follows."""
    ends: set[int] | None = None
    for whole in continuations:
        begins = {begin for _, (begin, _) in backend.pre_tokenizer.pre_tokenize_str(whole)}
        ends = begins if ends is None else ends & begins
    return max((end for end in ends or () if end <= len(text)), default=0)


def _encode(backend: Any, text: str) -> list[int]:
    ids: list[int] = backend.encode(text, add_special_tokens=False).ids
    return ids
