"""`structag mask`: which tokens may come after a prefix?"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from rich.text import Text

import structag
from structag.cli.match import find_stop
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json, visible
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary

PrefixOption = Annotated[str, typer.Option("--prefix", help="The text that is already there.")]
SampleOption = Annotated[int, typer.Option("--sample", min=0, help="How many tokens to show.")]


def mask(
    file: FileArgument,
    vocab: VocabularyOption = "byte",
    prefix: PrefixOption = "",
    sample: SampleOption = 20,
    kind: KindOption = None,
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the token mask after a prefix.

    Exit code 1 if the prefix itself is rejected.
    """
    vocabulary = load_vocabulary(vocab, stop_token)
    grammar = compile_document(read_document(file, kind), vocabulary)
    data = prefix.encode("utf-8", "surrogateescape")
    matcher = structag.Matcher(grammar)
    if not matcher.accept_bytes(data):
        outcome = find_stop(grammar, data)
        if as_json:
            print_json({"prefix_accepted": False, "matched_bytes": outcome.matched})
        else:
            line = f"the prefix is rejected at byte {outcome.matched}: expected {outcome.expected}"
            output().print(Text(line, "red"))
        raise typer.Exit(1)
    bitmask = structag.allocate_token_bitmask(1, vocabulary.size)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = allowed_tokens(bitmask, vocabulary.size)
    stops = [token for token in vocabulary.stop_token_ids if token in set(allowed)]
    shown = [allowed[i * len(allowed) // sample] for i in range(sample)] if sample else []
    if len(allowed) <= sample:
        shown = allowed
    if as_json:
        print_json(
            {
                "prefix_accepted": True,
                "vocabulary_size": vocabulary.size,
                "allowed_count": len(allowed),
                "stop_allowed": bool(stops),
                "complete": matcher.is_completed(),
                "sample": [{"id": t, "name": vocabulary.token_name(t)} for t in shown],
            }
        )
        return
    _print(vocabulary, allowed, shown, stops)


def allowed_tokens(bitmask: np.ndarray, vocabulary_size: int) -> list[int]:
    """The ids whose bits are set in the first row of `bitmask`."""
    bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[:vocabulary_size]
    return [int(token) for token in np.flatnonzero(bits)]


def _print(
    vocabulary: structag.Vocabulary, allowed: list[int], shown: list[int], stops: list[int]
) -> None:
    console = output()
    share = 100 * len(allowed) / vocabulary.size
    console.print(
        f"[bold]{len(allowed):,}[/] of {vocabulary.size:,} tokens allowed ({share:.2g} %)"
    )
    may_stop = ", ".join(vocabulary.token_name(token) for token in stops) or "no"
    console.print(Text(f"stop allowed: {may_stop}"))
    if len(shown) < len(allowed):
        console.print(f"{len(shown)} of them, evenly spread:")
    for token in shown:
        console.print(Text(f"  {token:>7}  {visible(vocabulary.token_name(token))}"))
