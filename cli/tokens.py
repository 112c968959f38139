"""`structag tokens`: what is in a vocabulary."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from rich.text import Text

import structag
from structag.cli.reading import JsonOption
from structag.cli.rendering import InputError, output, print_json
from structag.cli.tokenizing import Spellings
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.terminal import visible

IdOption = Annotated[list[int] | None, typer.Option("--id", help="Show the token with this id.")]
SpellsOption = Annotated[
    str | None, typer.Option("--spells", help="Show the tokens that spell this, or are named so.")
]
StartsOption = Annotated[
    str | None, typer.Option("--starts-with", help="Show the tokens that begin with this.")
]
TextOption = Annotated[
    str | None, typer.Option("--text", help="Cut this into tokens, the longest first.")
]
MostOption = Annotated[int, typer.Option("--most", min=1, help="How many tokens to show.")]


def tokens(
    vocab: VocabularyOption = "byte",
    ids: IdOption = None,
    spells: SpellsOption = None,
    starts_with: StartsOption = None,
    text: TextOption = None,
    most: MostOption = 20,
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Inspect a vocabulary: its kinds of tokens, or those that are asked for.

    Exit code 1 if there is no such token, or the text cannot be spelled.
    """
    vocabulary = load_vocabulary(vocab, stop_token)
    questions = [each is not None for each in (ids, spells, starts_with, text)]
    if sum(questions) > 1:
        raise InputError("several questions at once", hint="ask with one of the options")
    if not any(questions):
        _summarize(vocabulary, most, as_json)
        return
    found = _find(vocabulary, ids, spells, starts_with, text)
    if as_json:
        print_json([_as_json(vocabulary, token) for token in found])
    else:
        for token in found[:most]:
            output().print(_line(vocabulary, token))
        if len(found) > most:
            output().print(f"[dim]… {len(found) - most:,} more; --most shows them[/]")
        if not found:
            output().print("[yellow]no such token[/]")
    if not found:
        raise typer.Exit(1)


def _find(
    vocabulary: structag.Vocabulary,
    ids: list[int] | None,
    spells: str | None,
    starts_with: str | None,
    text: str | None,
) -> list[int]:
    if ids is not None:
        return [token for token in ids if vocabulary.token_name(token)]
    if text is not None:
        return _cut(vocabulary, text.encode("utf-8", "surrogateescape"))
    wanted = (spells if spells is not None else starts_with or "").encode("utf-8", "replace")
    spelled = [_spelling(vocabulary, token) for token in range(vocabulary.size)]
    if spells is not None:
        return [token for token, each in enumerate(spelled) if each == wanted]
    return [token for token, each in enumerate(spelled) if each and each.startswith(wanted)]


def _spelling(vocabulary: structag.Vocabulary, token: int) -> bytes:
    """The bytes of a token, or the name of a control token."""
    kind = vocabulary.token_kind(token)
    if kind == structag.TokenKind.CONTROL:
        return vocabulary.token_name(token).encode()
    return vocabulary.token_bytes(token)


def _cut(vocabulary: structag.Vocabulary, data: bytes) -> list[int]:
    spellings = Spellings(vocabulary)
    found: list[int] = []
    start = 0
    while start < len(data):
        token = next(spellings.prefixes(data, start), None)
        if token is None:
            return []
        found.append(token)
        start += len(_spelling(vocabulary, token))
    return found


def _summarize(vocabulary: structag.Vocabulary, most: int, as_json: bool) -> None:
    kinds = Counter(vocabulary.token_kind(token).name for token in range(vocabulary.size))
    longest = max(range(vocabulary.size), key=lambda token: len(vocabulary.token_bytes(token)))
    added = vocabulary.added_tokens
    if as_json:
        print_json(
            {
                "size": vocabulary.size,
                "fingerprint": vocabulary.fingerprint,
                "kinds": {kind.lower(): count for kind, count in kinds.items()},
                "stop_tokens": [_as_json(vocabulary, t) for t in vocabulary.stop_token_ids],
                "added_tokens": dict(added),
                "missing_bytes": sorted(vocabulary.missing_bytes),
                "longest": _as_json(vocabulary, longest),
            }
        )
        return
    console = output()
    words = ", ".join(f"{count:,} {kind.lower()}" for kind, count in kinds.items())
    console.print(Text(f"{vocabulary.size:,} tokens: {words}"))
    stops = ", ".join(f"{t} {vocabulary.token_name(t)}" for t in vocabulary.stop_token_ids)
    console.print(Text(f"stop tokens: {visible(stops)}"))
    missing = len(vocabulary.missing_bytes)
    console.print(Text(f"bytes without a token of their own: {missing or 'none'}"))
    size = len(vocabulary.token_bytes(longest))
    console.print(Text(f"longest: {size} byte{'s' if size > 1 else ''}, token {longest}"))
    console.print(Text(f"added tokens: {len(added):,}"))
    for token in list(added.values())[:most]:
        console.print(_line(vocabulary, token))
    if len(added) > most:
        console.print(f"[dim]… {len(added) - most:,} more; --most shows them[/]")


def _as_json(vocabulary: structag.Vocabulary, token: int) -> dict[str, Any]:
    return {
        "id": token,
        "name": vocabulary.token_name(token),
        "kind": vocabulary.token_kind(token).name.lower(),
        "bytes": list(vocabulary.token_bytes(token)),
        "is_stop": token in vocabulary.stop_token_ids,
    }


def _line(vocabulary: structag.Vocabulary, token: int) -> Text:
    kind = vocabulary.token_kind(token).name.lower()
    stop = ", stop" if token in vocabulary.stop_token_ids else ""
    note = "" if kind == "ordinary" and not stop else f"  ({kind.replace('_', '-')}{stop})"
    return Text.assemble(f"{token:>7}  {visible(vocabulary.token_name(token))}", (note, "dim"))
