"""What is already there when a command asks what comes next: text, and tokens after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import typer

import structag
from structag.cli.rendering import InputError
from structag.errors import StructagError
from structag.explain import Place, advance, explain_place

PrefixOption = Annotated[str, typer.Option("--prefix", help="The text that is already there.")]
PrefixIdsOption = Annotated[
    str,
    typer.Option("--prefix-ids", help="Ids of the tokens after that text, with commas between."),
]


class Prefix(NamedTuple):
    """Text, and ids of tokens after it."""

    text: bytes
    ids: tuple[int, ...]


class Reached(NamedTuple):
    """Where a prefix leads.

    Attributes:
        matcher: after as much of the prefix as is accepted.
        text: the bytes of that.
        rejected: what was expected instead of the rest; None if there is no rest.
    """

    matcher: structag.Matcher
    text: bytes
    rejected: Place | None


def read_prefix(text: str, ids: str) -> Prefix:
    """The prefix that the two options say."""
    words = [word for word in ids.replace(",", " ").split() if word]
    if not all(word.isdecimal() for word in words):
        raise InputError(f"`{ids[:60]}` are no ids of tokens", hint="write 5,17,2")
    return Prefix(text.encode("utf-8", "surrogateescape"), tuple(int(word) for word in words))


def check_ids(ids: Iterable[int], vocabulary: structag.Vocabulary) -> None:
    """Refuse ids of tokens that the vocabulary does not have."""
    try:
        for token in ids:
            vocabulary.token_bytes(token)
    except StructagError as error:
        raise InputError(error) from None


def follow(grammar: Any, prefix: Prefix) -> Reached:
    """Match `prefix` as far as it goes."""
    check_ids(prefix.ids, grammar.vocabulary)
    matcher = structag.Matcher(grammar)
    taken = advance(matcher, prefix.text)
    text = prefix.text[:taken]
    count = 0
    if taken == len(prefix.text):
        count = matcher.validate_tokens(prefix.ids)
        for token in prefix.ids[:count]:
            matcher.accept_token(token)
            text += grammar.vocabulary.token_bytes(token)
    is_whole = taken == len(prefix.text) and count == len(prefix.ids)
    return Reached(matcher, text, None if is_whole else explain_place(matcher, text))
