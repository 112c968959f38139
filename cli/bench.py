"""`structag bench`: how long compiling and masks take for a format, on this machine."""

from __future__ import annotations

import time
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

RunsOption = Annotated[int, typer.Option("--runs", min=1, help="Outputs, and compilations.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Which outputs are drawn.")]
LengthOption = Annotated[int, typer.Option("--max-bytes", min=0, help="The longest output.")]
_PERCENTILES = (50, 90, 99, 100)
_BAR = 40


def bench(
    file: FileArgument,
    runs: RunsOption = 20,
    seed: SeedOption = 0,
    max_bytes: LengthOption = 400,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure compiling, the first masks, and the masks and steps of random outputs.

    Compiling starts anew each time.  "First" is a matcher of a grammar that nothing is known of
    yet; "again" is the same outputs once more.
    """
    document = read_document(file, kind)
    vocabulary = load_vocabulary(vocab, stop_token)
    compile_document(document, vocabulary)  # imports what is needed, and refuses what is unusable
    compile_us = []
    for _ in track(range(runs), "compiling", runs):
        start = time.perf_counter_ns()
        grammar = compile_document(document, vocabulary)
        compile_us.append((time.perf_counter_ns() - start) / 1000)
    outputs = list(track(draw_tokens(grammar, runs, seed, max_bytes), "drawing outputs", runs))
    fresh = compile_document(document, vocabulary)
    first, again = _run(fresh, outputs), _run(fresh, outputs)
    times = {
        "compile": compile_us,
        "mask, first": first[0],
        "mask, again": again[0],
        "step, first": first[1],
        "step, again": again[1],
    }
    if as_json:
        print_json(
            {
                "vocabulary_size": vocabulary.size,
                "outputs": len(outputs),
                "tokens": sum(map(len, outputs)),
                "us": {name: _percentiles(values) for name, values in times.items()},
            }
        )
        return
    _print(times, sum(map(len, outputs)), vocabulary)


def _run(grammar: Any, outputs: list[list[int]]) -> tuple[list[float], list[float]]:
    """The times in µs of each mask and of each step."""
    bitmask = structag.allocate_token_bitmask(1, grammar.vocabulary.size)
    masks, steps = [], []
    for tokens in track(outputs, "measuring", len(outputs)):
        matcher = structag.Matcher(grammar)
        for token in tokens:
            start = time.perf_counter_ns()
            matcher.fill_next_token_bitmask(bitmask)
            between = time.perf_counter_ns()
            matcher.accept_token(token)
            steps.append((time.perf_counter_ns() - between) / 1000)
            masks.append((between - start) / 1000)
    return masks, steps


def _percentiles(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    return {f"p{p}": round(float(np.percentile(values, p)), 2) for p in _PERCENTILES}


def _print(times: dict[str, list[float]], tokens: int, vocabulary: structag.Vocabulary) -> None:
    console = output()
    console.print(f"{tokens:,} tokens out of {vocabulary.size:,}; times in µs")
    console.print(Text(f"{'':<14}{'p50':>10}{'p90':>10}{'p99':>10}{'max':>10}", "bold"))
    longest = max((np.log1p(max(values)) for values in times.values() if values), default=1.0)
    for name, values in times.items():
        if not values:
            continue
        shown = "".join(f"{value:>10,.1f}" for value in _percentiles(values).values())
        bar = "█" * max(1, round(_BAR * float(np.log1p(np.percentile(values, 50)) / longest)))
        console.print(Text.assemble(f"{name:<14}{shown}  ", (bar, "cyan")))
    console.print("[dim]bars: the median, on a logarithmic scale[/]")
