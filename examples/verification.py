"""Five checks that make constrained decoding believable, and a race against no constraint at all.

The schema has a string, an integer and a boolean, written as compact JSON.  "Generate" means:
random logits, the mask, softmax, draw a token, until the stop token.  Run it:

    python examples/verification.py
"""

from __future__ import annotations

import json
import sys

import numpy as np
from jsonschema import Draft202012Validator
from numpy.typing import NDArray

import structag

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "is_admin": {"type": "boolean"},
    },
    "required": ["name", "age", "is_admin"],
    "additionalProperties": False,
}
RUNS, LONGEST = 100, 1000
TEMPERATURE, SPREAD = 1.2, 50.0

# Every byte, some longer tokens as real vocabularies have them, and the stop token.
LONGER = [b"true", b"false", b"null", b'{"', b'":', b'",', b"name", b"age", b"is_admin", b"12"]
TOKENS = [bytes([byte]) for byte in range(256)] + LONGER
STOP = len(TOKENS)
VOCABULARY = structag.Vocabulary.from_token_bytes(
    TOKENS, special={STOP: "<eos>"}, stop_token_ids=STOP
)
GRAMMAR = structag.Compiler(VOCABULARY).compile_json_schema(SCHEMA, max_whitespace=0)


def main() -> int:
    """Run the checks; 0 if all hold."""
    checks = [
        ("at the start only `{` may come", starts_with_a_brace()),
        ("after it only a quote and the declared key", then_only_the_key()),
        ("an integer stays an integer, whatever the logits say", logits_cannot_break_the_type()),
        ("no `}` and no end before all required members", no_end_before_all_members()),
    ]
    with_mask = sum(is_valid(generate(seed, masked=True)) for seed in range(RUNS))
    without_mask = sum(is_valid(generate(seed, masked=False)) for seed in range(RUNS))
    checks.append((f"{with_mask} of {RUNS} random generations are valid", with_mask == RUNS))
    for number, (claim, holds) in enumerate(checks, 1):
        print(f"{number}. {'holds' if holds else 'FAILS'}: {claim}")
    print(f"valid with the mask:    {with_mask:3} of {RUNS}")
    print(f"valid without the mask: {without_mask:3} of {RUNS}")
    return 0 if all(holds for _, holds in checks) else 1


def starts_with_a_brace() -> bool:
    """Only tokens that begin with `{`, and one of them is `{` itself."""
    allowed = allowed_after(b"")
    return b"{" in allowed and all(token.startswith(b"{") for token in allowed)


def then_only_the_key() -> bool:
    """A quote, then the first declared key, which closes."""
    steps = {b"{": {b'"'}, b'{"': {b"n", b"name"}, b'{"name': {b'"', b'":'}}
    return all(allowed_after(prefix) == allowed for prefix, allowed in steps.items())


def logits_cannot_break_the_type() -> bool:
    """Logit +100 on `true` where an integer belongs: its probability is exactly 0."""
    matcher = matcher_after(b'{"name":"Ada","age":')
    wish = TOKENS.index(b"true")
    logits = np.random.default_rng(0).normal(size=VOCABULARY.size).astype(np.float32)
    logits[wish] += 100
    masked = apply_mask(matcher, logits)
    forbidden = np.ones(VOCABULARY.size, dtype=bool)
    forbidden[[TOKENS.index(token) for token in allowed_tokens(matcher)]] = False
    chance = softmax(masked)
    drawn = TOKENS[int(np.argmax(chance))]
    return bool(
        forbidden[wish]
        and np.all(np.isneginf(masked[forbidden]))
        and np.all(chance[forbidden] == 0.0)
        and np.array_equal(masked[~forbidden], logits[~forbidden])
        and drawn.isdigit()
    )


def no_end_before_all_members() -> bool:
    """After each member but the last: neither `}` nor the stop token; after the last: both."""
    early = (b"{", b'{"name":"Ada"', b'{"name":"Ada","age":36', b'{"name":"Ada","age":36,')
    for prefix in early:
        allowed = allowed_after(prefix)
        if b"" in allowed or any(b"}" in token for token in allowed):
            return False
    whole = b'{"name":"Ada","age":36,"is_admin":true'
    return allowed_after(whole) == {b"}"} and allowed_after(whole + b"}") == {b""}


def generate(seed: int, *, masked: bool) -> bytes:
    """One output under logits uniform in [-50, 50] at temperature 1.2."""
    random = np.random.default_rng(seed)
    matcher = structag.Matcher(GRAMMAR)
    output = bytearray()
    for _ in range(LONGEST):
        logits = random.uniform(-SPREAD, SPREAD, VOCABULARY.size).astype(np.float32)
        if masked:
            logits = apply_mask(matcher, logits)
        token = int(random.choice(VOCABULARY.size, p=softmax(logits / TEMPERATURE)))
        if masked:
            assert matcher.accept_token(token), "the mask allowed what the matcher refuses"
        if token == STOP:
            break
        output += TOKENS[token]
    return bytes(output)


def is_valid(output: bytes) -> bool:
    """Whether `output` is JSON that the schema accepts, by an independent validator."""
    try:
        value = json.loads(output)
    except ValueError:
        return False
    return bool(Draft202012Validator(SCHEMA).is_valid(value))


def matcher_after(prefix: bytes) -> structag.Matcher:
    """A matcher that has read `prefix`."""
    matcher = structag.Matcher(GRAMMAR)
    assert matcher.accept_bytes(prefix)
    return matcher


def apply_mask(matcher: structag.Matcher, logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """A copy of `logits` with minus infinity for every token that must not come."""
    bitmask = structag.allocate_token_bitmask(1, VOCABULARY.size)
    matcher.fill_next_token_bitmask(bitmask)
    masked: NDArray[np.float32] = logits.copy()
    structag.apply_token_bitmask_inplace(masked, bitmask[0])
    return masked


def allowed_tokens(matcher: structag.Matcher) -> set[bytes]:
    """The tokens that may come next; ``b""`` is the stop token."""
    masked = apply_mask(matcher, np.zeros(VOCABULARY.size, dtype=np.float32))
    return {VOCABULARY.token_bytes(int(token)) for token in np.flatnonzero(masked == 0)}


def allowed_after(prefix: bytes) -> set[bytes]:
    """The tokens that may come after `prefix`."""
    return allowed_tokens(matcher_after(prefix))


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities; minus infinity becomes exactly 0."""
    powers = np.exp(logits.astype(np.float64) - np.max(logits))
    return np.asarray(powers / powers.sum())


if __name__ == "__main__":
    sys.exit(main())
