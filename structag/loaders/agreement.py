"""Does a vocabulary agree with its tokenizer?  Token bytes against the tokenizer's own text.

For each sample, the bytes of the encoded tokens, joined, must be the sample or what the tokenizer
decodes to (normalising tokenizers change the text).  One space more at the start is agreement:
SentencePiece tokenizers put it there, and take it away again from the decoded text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from structag.loaders.token_table import TokenKind

if TYPE_CHECKING:
    from structag.vocabulary import Vocabulary

Encode = Callable[[str], Sequence[int]]
Decode = Callable[[list[int]], str]

SAMPLES = (
    "Hello, world! It's 3.14159 o'clock, isn't it?",
    "The quick brown fox — “jumps” over… the lazy dog’s back",
    "Größe, façade, naïve, œuvre, Ærø, Łódź, İstanbul, čeština",
    "Привет, мир! Ελληνικά: γειά σου. Հայերեն. ქართული",
    "你好，世界。日本語のテキスト、カタカナ。한국어 문장입니다.",
    "مرحبا بالعالم · שלום עולם · नमस्ते दुनिया · สวัสดีชาวโลก · வணக்கம்",
    "emoji 😀👩‍👩‍👧‍👦🏳️‍🌈🇪🇺 and rare 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𒀀 𓂀 \U0010fffd",
    "a  b   c    d        e\tf\t\tg\n\nh\r\ni\n\n\n   j   \n",
    "   three spaces first",
    "def f(x: int) -> str:\n    return f'{x!r}'  # {[(<&|~^%$@>)]}\n\n\tif (a<=b&&c!=d){i++;}",
    '{"name": "a\\"b\\\\c\\u00e9", "list": [1, -2.5e+10, true, false, null], "k": {}}',
    '<tag attr="v">text</tag> <!-- c --> https://example.org/a?b=c&d=%20#e',
    "control: \x00\x01\x1b[0m\x7f and \u200b\ufeff\u00a0\u2028 ▁ Ġ <0x0A>",
)

_ADDED_TOKENS_TRIED = 200


@dataclass(frozen=True)
class Disagreement:
    """One sample whose token bytes are not the tokenizer's text.

    Attributes:
        sample: the text that was encoded.
        token_ids: what the tokenizer made of it.
        expected: the UTF-8 of what it decodes these tokens to.
        actual: the bytes of these tokens, joined.
        offset: the first byte at which the two differ.
        token_id: the token that holds this byte, or the one that cannot stand in a text.
        reason: what is wrong, in words.
    """

    sample: str
    token_ids: tuple[int, ...]
    expected: bytes
    actual: bytes
    offset: int
    token_id: int | None
    reason: str


def find_disagreements(
    vocabulary: Vocabulary, encode: Encode, decode: Decode, samples: Iterable[str] | None
) -> list[Disagreement]:
    """The samples on which vocabulary and tokenizer disagree, each with its first difference.

    Without `samples`, tries `SAMPLES`, and the added tokens between other text.
    """
    if samples is None:
        added = list(vocabulary.added_tokens)[:_ADDED_TOKENS_TRIED]
        samples = [*SAMPLES, *(f"a {content} b{content}" for content in added)]
    found = (_disagreement(vocabulary, encode, decode, sample) for sample in samples)
    return [disagreement for disagreement in found if disagreement is not None]


def _disagreement(
    vocabulary: Vocabulary, encode: Encode, decode: Decode, sample: str
) -> Disagreement | None:
    token_ids = tuple(map(int, encode(sample)))
    decoded = decode(list(token_ids)).encode(errors="surrogatepass")
    parts: list[bytes] = []
    for token_id in token_ids:
        problem = _problem(vocabulary, token_id)
        if problem:
            actual = b"".join(parts)
            return Disagreement(sample, token_ids, decoded, actual, len(actual), token_id, problem)
        parts.append(_text(vocabulary, token_id))
    actual = b"".join(parts)
    if any(actual in (text, b" " + text) for text in (sample.encode(), decoded)):
        return None
    offset = _first_difference(decoded, actual)
    return Disagreement(
        sample,
        token_ids,
        decoded,
        actual,
        offset,
        _token_at(token_ids, parts, offset),
        "the token bytes are not the decoded text",
    )


def _problem(vocabulary: Vocabulary, token_id: int) -> str | None:
    if not 0 <= token_id < vocabulary.size:
        return "the tokenizer gives an id that is not in the vocabulary"
    if vocabulary.token_kind(token_id) == TokenKind.UNUSED:
        return "the tokenizer gives an id that the vocabulary holds to be unused"
    return None


def _text(vocabulary: Vocabulary, token_id: int) -> bytes:
    if vocabulary.token_kind(token_id) == TokenKind.CONTROL:
        return vocabulary.token_name(token_id).encode()
    return vocabulary.token_bytes(token_id)


def _first_difference(first: bytes, second: bytes) -> int:
    pairs = zip(first, second, strict=False)
    shorter = min(len(first), len(second))
    return next((offset for offset, (a, b) in enumerate(pairs) if a != b), shorter)


def _token_at(token_ids: Sequence[int], parts: Sequence[bytes], offset: int) -> int | None:
    end = 0
    for token_id, part in zip(token_ids, parts, strict=True):
        end += len(part)
        if offset < end:
            return token_id
    return None
