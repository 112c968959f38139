"""`structag stats`: how large a format is, what it shares, and what the core holds for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

import structag
from structag.cli.outputs import draw_tokens
from structag.cli.progress import track
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary

OutputsOption = Annotated[
    int, typer.Option("--outputs", min=0, help="Random outputs to follow, with all their masks.")
]
_BYTES = 200


def stats(
    file: FileArgument,
    outputs: OutputsOption = 10,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a format becomes: expressions and what is shared, states, masks, bytes.

    States and masks come into being when they are needed; so some outputs are followed.
    """
    document = read_document(file, kind)
    vocabulary = load_vocabulary(vocab, stop_token)
    grammar = compile_document(document, vocabulary)
    compiled = grammar.stats
    allowed = _follow(grammar, outputs)
    counts = {
        "kind": document.kind.value,
        "source_bytes": len(document.data),
        "fingerprint": grammar.fingerprint,
        "grammar": grammar.counts,
        "compiled": compiled,
        "after_outputs": {"outputs": outputs, "tokens": len(allowed), **grammar.stats},
        "memory_bytes": grammar.memory_bytes,
        "allowed_tokens": _spread(allowed),
        "keywords": dict(Counter(entry.status for entry in grammar.report if entry.keyword)),
    }
    if as_json:
        print_json(counts)
        return
    for words, value in _lines(counts, vocabulary):
        output().print(Text.assemble((f"{words:<22}", "bold"), value))


def _follow(grammar: Any, count: int) -> list[int]:
    """How many tokens each mask on the way allows."""
    if not count:
        return []
    bitmask = structag.allocate_token_bitmask(1, grammar.vocabulary.size)
    allowed: list[int] = []
    for tokens in track(draw_tokens(grammar, count, 0, _BYTES), "following outputs", count):
        matcher = structag.Matcher(grammar)
        for token in tokens:
            matcher.fill_next_token_bitmask(bitmask)
            allowed.append(int(np.unpackbits(bitmask[0].view(np.uint8)).sum()))
            matcher.accept_token(token)
    return allowed


def _spread(counts: list[int]) -> dict[str, int]:
    if not counts:
        return {}
    low, middle, high = (int(np.percentile(counts, p)) for p in (0, 50, 100))
    return {"least": low, "median": middle, "most": high}


def _lines(counts: dict[str, Any], vocabulary: structag.Vocabulary) -> Iterator[tuple[str, str]]:
    grammar, before, after = counts["grammar"], counts["compiled"], counts["after_outputs"]
    yield "source", f"{counts['kind']}, {counts['source_bytes']:,} bytes"
    yield "fingerprint", counts["fingerprint"]
    yield "expressions", f"{grammar['expressions']:,}, of which {grammar['shared']:,} are shared"
    yield "without sharing", f"{grammar['unshared']:,}, each rule once"
    yield "rules", f"{grammar['rules']:,}"
    apart, distinct = before["structure_apart"], before["structure_distinct"]
    if apart > distinct:
        yield (
            "shared by parts",
            f"{1 - distinct / apart:.0%}: {apart:,} expressions in all parts, {distinct:,} of them "
            "different",
        )
    yield "after compiling", f"{before['expressions']:,} expressions, {before['states']:,} states"
    if after["tokens"]:
        spread = counts["allowed_tokens"]
        yield (
            f"after {after['outputs']} outputs",
            f"{after['expressions']:,} expressions, {after['states']:,} states, "
            f"{after['masks']:,} masks for {after['tokens']:,} tokens",
        )
        if after["summaries"]:
            yield (
                "summaries",
                f"{after['summaries']:,}, of which {after['summaries_built']:,} were made and "
                f"{after['summaries_reused']:,} known",
            )
        yield (
            "tokens allowed",
            f"{spread['least']:,} to {spread['most']:,} of {vocabulary.size:,}, "
            f"median {spread['median']:,}",
        )
    yield "memory", f"{counts['memory_bytes'] / 1024:,.0f} KiB"
    if counts["keywords"]:
        words = ", ".join(f"{count} {status}" for status, count in counts["keywords"].items())
        yield "schema keywords", words
