"""`structag why`: what becomes of a token, byte by byte."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from structag.cli.explaining import Breadcrumbs, print_place
from structag.cli.prefix import (
    PrefixIdsOption,
    PrefixOption,
    Reached,
    follow,
    read_prefix,
)
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import InputError, output, print_json
from structag.cli.tokenizing import Spellings, with_token
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.explain import Byte, Trail, Verdict, explain_token
from structag.words import name_bytes, quoted

TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="The text of the token; any text with the vocabulary `byte`."),
]
TokenIdOption = Annotated[int | None, typer.Option("--token-id", help="The id of the token.")]


def why(
    file: FileArgument,
    prefix: PrefixOption = "",
    prefix_ids: PrefixIdsOption = "",
    token: TokenOption = None,
    token_id: TokenIdOption = None,
    vocab: VocabularyOption = "byte",
    kind: KindOption = None,
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a token is allowed after a prefix, or where and why it is refused.

    Exit code 0 if it is allowed and 1 if it, or the prefix already, is not.
    """
    if (token is None) == (token_id is None):
        raise InputError("name the token with --token or --token-id, one of the two")
    before = read_prefix(prefix, prefix_ids)
    document = read_document(file, kind)
    vocabulary = load_vocabulary(vocab, stop_token)
    if token is not None:
        text = token.encode("utf-8", "surrogateescape")
        if vocab == "byte" and not stop_token and token not in vocabulary.added_tokens:
            vocabulary = with_token(vocabulary, text)
        token_id = Spellings(vocabulary).find(text)
    assert token_id is not None
    grammar = compile_document(document, vocabulary, origins=True)
    reached = follow(grammar, before)
    breadcrumbs = Breadcrumbs(document)
    if reached.rejected is not None:
        refuse_prefix(reached, breadcrumbs, as_json)
    verdict = explain_token(reached.matcher, token_id, reached.text)
    name = vocabulary.token_name(token_id) if 0 <= token_id < vocabulary.size else str(token_id)
    if as_json:
        print_json(_as_json(verdict, name))
    else:
        _print(output(), verdict, name, breadcrumbs)
    if not verdict.allowed:
        raise typer.Exit(1)


def refuse_prefix(reached: Reached, breadcrumbs: Breadcrumbs, as_json: bool) -> None:
    """Say that the prefix itself is rejected, and end with exit code 1."""
    place = reached.rejected
    assert place is not None
    if as_json:
        print_json(
            {"prefix_accepted": False, "matched_bytes": len(reached.text), **place.to_json()}
        )
    else:
        console = output()
        console.print(Text(f"the prefix is rejected at byte {len(reached.text)}", "bold red"))
        print_place(console, place, breadcrumbs)
    raise typer.Exit(1)


def _as_json(verdict: Verdict, name: str) -> dict[str, Any]:
    return {
        "prefix_accepted": True,
        "token_id": verdict.token_id,
        "token": name,
        "allowed": verdict.allowed,
        "reason": verdict.reason.name.lower(),
        "message": verdict.reason.value,
        "bytes": [
            {"byte": step.value, "fits": step.fits, **step.place.to_json()}
            for step in verdict.steps
        ],
        "after": None if verdict.after is None else verdict.after.to_json(),
    }


def _print(console: Console, verdict: Verdict, name: str, breadcrumbs: Breadcrumbs) -> None:
    head = ("allowed", "bold green") if verdict.allowed else ("refused", "bold red")
    console.print(
        Text.assemble(
            f"token {verdict.token_id} {quoted(name)} is ", head, ": ", verdict.reason.value
        )
    )
    for trail, steps in groupby((step for step in verdict.steps if step.fits), _trail):
        text = bytes(step.value for step in steps)
        line = Text.assemble(f"  {quoted(text)} ", ("fits", "green"))
        line.append(f"  in {breadcrumbs.spell(trail)}" if trail else "", "dim")
        console.print(line)
    for step in verdict.steps[-1:]:
        if not step.fits:
            place = f", byte {len(verdict.steps)} of {len(verdict.data)}"
            console.print(Text.assemble(f"  {_shown(step)} ", ("does not fit", "bold red"), place))
            print_place(console, step.place, breadcrumbs)
    if verdict.after is not None:
        console.print("after it:")
        print_place(console, verdict.after, breadcrumbs)


def _trail(step: Byte) -> Trail:
    """The innermost part of the source that takes the byte."""
    return next((p.trail for p in reversed(step.place.parts) if step.value in p.bytes), ())


def _shown(step: Byte) -> str:
    return name_bytes([step.value])[0] if step.value < 0x80 else f"0x{step.value:02X}"
