"""`structag sample`: random outputs of a format, or outputs that it refuses by a hair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

import typer
from rich.text import Text

import structag
from structag.cli.progress import busy, track
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import describe_bytes, output, print_json, visible
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.near_miss import NearMiss, near_misses
from structag.sample import MAX_BYTES, Piece, Sampler

CountOption = Annotated[int, typer.Option("--count", "-n", min=1, help="How many.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Equal seeds give equal outputs.")]
LengthOption = Annotated[
    int, typer.Option("--max-bytes", min=0, help="The most bytes of one output.")
]
NearMissOption = Annotated[
    bool, typer.Option("--near-miss", help="Outputs with one mistake in them, and its name.")
]


def sample(
    file: FileArgument,
    count: CountOption = 5,
    seed: SeedOption = 0,
    max_bytes: LengthOption = MAX_BYTES,
    near_miss: NearMissOption = False,
    kind: KindOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print random outputs of a format, one a line; or, with --near-miss, refused ones.

    Line ends within an output are shown as ␊; --json has them as they are.  Exit code 1 if
    --near-miss finds fewer than were asked for: then hardly any mistake is refused.
    """
    vocabulary = load_vocabulary(vocab, stop_token)
    grammar = compile_document(read_document(file, kind), vocabulary)
    with busy("looking for the shortest output"):
        sampler = Sampler(grammar, seed)
    if not near_miss:
        draws = (sampler.draw(max_bytes) for _ in range(count))
        samples = [drawn.pieces for drawn in track(draws, "drawing", count)]
        if as_json:
            print_json([{"pieces": _plain(pieces)} for pieces in samples])
            return
        for pieces in samples:
            output().print(_shown(pieces, vocabulary))
        return
    found = near_misses(sampler, count, max(max_bytes, sampler.least_bytes))
    misses = list(track(islice(found, count), "drawing", count))
    if as_json:
        print_json([_miss_as_json(miss) for miss in misses])
    else:
        for miss in misses:
            output().print(_shown(miss.pieces, vocabulary))
            output().print(Text(f"    {visible(miss.change)}: {_reason(miss)}", "dim"))
    if len(misses) < count:
        if not as_json:
            output().print(f"[yellow]{len(misses)} of {count} found: little is refused here[/]")
        raise typer.Exit(1)


def _reason(miss: NearMiss) -> str:
    expected = describe_bytes(miss.allowed, miss.may_end)
    where = "ends too soon" if miss.is_short else f"refused at byte {miss.accepted}"
    return f"{where}, expected {expected}"


def _miss_as_json(miss: NearMiss) -> dict[str, Any]:
    return {
        "pieces": _plain(miss.pieces),
        "change": miss.change,
        "accepted_bytes": miss.accepted,
        "ends_too_soon": miss.is_short,
        "expected": describe_bytes(miss.allowed, miss.may_end),
    }


def _plain(pieces: Sequence[Piece]) -> list[str | int]:
    """Texts and token ids; texts that follow each other are one, what is no UTF-8 is replaced."""
    plain: list[str | int] = []
    text = b""
    for piece in (*pieces, -1):
        if isinstance(piece, bytes):
            text += piece
            continue
        plain += [text.decode("utf-8", "replace")] if text else []
        plain.append(piece)
        text = b""
    return plain[:-1]


def _shown(pieces: Sequence[Piece], vocabulary: structag.Vocabulary) -> Text:
    line = Text()
    for part in _plain(pieces):
        if isinstance(part, int):
            line.append(visible(vocabulary.token_name(part)), "magenta")
        else:
            line.append(visible(part))
    return line
