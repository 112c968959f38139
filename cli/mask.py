"""`structag mask`: which tokens may come after a prefix?"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import structag
from structag.cli.explaining import Breadcrumbs, print_place
from structag.cli.prefix import PrefixIdsOption, PrefixOption, Reached, follow, read_prefix
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
)
from structag.cli.rendering import output, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.cli.why import refuse_prefix
from structag.explain import Place, explain_place
from structag.terminal import visible
from structag.words import name_bytes, quoted

SampleOption = Annotated[
    int, typer.Option("--sample", min=0, help="How many rows of each list to show.")
]
DiffOption = Annotated[
    str | None,
    typer.Option("--diff", metavar="FILE", help="Compare with the mask of another document."),
]
_EXAMPLES = 3


class Shown(NamedTuple):
    """A mask, taken apart.

    Attributes:
        allowed: the ids that are allowed.
        groups: them by the first byte of their text; None: read by their id.
        longest: those with the longest texts.
        stops: the stop tokens among them.
        place: what is expected.
    """

    allowed: list[int]
    groups: dict[int | None, list[int]]
    longest: list[int]
    stops: list[int]
    place: Place


def mask(
    file: FileArgument,
    vocab: VocabularyOption = "byte",
    prefix: PrefixOption = "",
    prefix_ids: PrefixIdsOption = "",
    sample: SampleOption = 10,
    diff: DiffOption = None,
    kind: KindOption = None,
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the token mask after a prefix: by next byte, longest tokens, what is forced.

    Exit code 1 if the prefix itself is rejected; with --diff, if the masks differ.
    """
    before = read_prefix(prefix, prefix_ids)
    vocabulary = load_vocabulary(vocab, stop_token)

    def reach(name: str) -> tuple[Reached, Breadcrumbs]:
        document = read_document(name, kind)
        grammar = compile_document(document, vocabulary, origins=True)
        reached, breadcrumbs = follow(grammar, before), Breadcrumbs(document)
        if reached.rejected is not None:
            refuse_prefix(reached, breadcrumbs, as_json)
        return reached, breadcrumbs

    reached, breadcrumbs = reach(file)
    shown = take_apart(reached)
    if diff is not None:
        other = take_apart(reach(diff)[0])
        _print_difference(vocabulary, shown, other, sample, as_json)
        if shown.allowed != other.allowed:
            raise typer.Exit(1)
    elif as_json:
        print_json(_as_json(vocabulary, shown, sample))
    else:
        _print(output(), vocabulary, shown, sample, breadcrumbs)


def take_apart(reached: Reached) -> Shown:
    """The mask of a matcher."""
    matcher, vocabulary = reached.matcher, reached.matcher.grammar.vocabulary
    bitmask = structag.allocate_token_bitmask(1, vocabulary.size)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = allowed_tokens(bitmask, vocabulary.size)
    place = explain_place(matcher, reached.text)
    groups: dict[int | None, list[int]] = {}
    for token in allowed:
        text = vocabulary.token_bytes(token)
        by_bytes = text and text[0] in place.bytes
        groups.setdefault(text[0] if by_bytes else None, []).append(token)
    longest = sorted(allowed, key=lambda token: (-len(vocabulary.token_bytes(token)), token))
    stops = sorted(set(vocabulary.stop_token_ids) & set(allowed))
    return Shown(allowed, groups, longest, stops, place)


def allowed_tokens(bitmask: np.ndarray, vocabulary_size: int) -> list[int]:
    """The ids whose bits are set in the first row of `bitmask`."""
    bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[:vocabulary_size]
    return [int(token) for token in np.flatnonzero(bits)]


def _as_json(vocabulary: structag.Vocabulary, shown: Shown, sample: int) -> dict[str, Any]:
    return {
        "prefix_accepted": True,
        "vocabulary_size": vocabulary.size,
        "allowed_count": len(shown.allowed),
        "stop_allowed": bool(shown.stops),
        "complete": shown.place.may_end,
        "groups": [{"byte": byte, "count": len(ids)} for byte, ids in _by_size(shown.groups)],
        "longest": _named(vocabulary, shown.longest[:sample]),
        **shown.place.to_json(),
    }


def _named(vocabulary: structag.Vocabulary, ids: list[int]) -> list[dict[str, Any]]:
    return [{"id": token, "name": vocabulary.token_name(token)} for token in ids]


def _by_size(groups: dict[int | None, list[int]]) -> list[tuple[int | None, list[int]]]:
    return sorted(
        groups.items(), key=lambda item: (-len(item[1]), -1 if item[0] is None else item[0])
    )


def _print(
    console: Console,
    vocabulary: structag.Vocabulary,
    shown: Shown,
    sample: int,
    breadcrumbs: Breadcrumbs,
) -> None:
    share = 100 * len(shown.allowed) / vocabulary.size
    console.print(
        f"[bold]{len(shown.allowed):,}[/] of {vocabulary.size:,} tokens allowed ({share:.2g} %)"
    )
    may_stop = ", ".join(vocabulary.token_name(token) for token in shown.stops) or "no"
    console.print(Text(f"stop allowed: {visible(may_stop)}"))
    print_place(console, shown.place, breadcrumbs)
    if not sample:
        return
    console.print("by next byte:")
    groups = _by_size(shown.groups)
    width = max((len(_group_name(byte)) for byte, _ in groups[:sample]), default=0)
    for byte, ids in groups[:sample]:
        name = _group_name(byte)
        examples = sorted(ids, key=lambda token: (len(vocabulary.token_bytes(token)), token))
        listed = "  ".join(quoted(vocabulary.token_name(t)) for t in examples[:_EXAMPLES])
        more = "  …" if len(ids) > _EXAMPLES else ""
        console.print(Text(f"  {len(ids):>7,}  {name:<{width}}  {listed}{more}"))
    if len(groups) > sample:
        console.print(f"  … {len(groups) - sample} more")
    if any(len(vocabulary.token_bytes(token)) > 1 for token in shown.longest[:1]):
        console.print("longest:")
        for token in shown.longest[:sample]:
            console.print(Text(f"  {token:>7}  {quoted(vocabulary.token_name(token))}"))


def _group_name(byte: int | None) -> str:
    if byte is None:
        return "by its id"
    return name_bytes([byte])[0] if byte < 0x80 else f"0x{byte:02X}"


def _print_difference(
    vocabulary: structag.Vocabulary, here: Shown, there: Shown, sample: int, as_json: bool
) -> None:
    first, second = set(here.allowed), set(there.allowed)
    only = [sorted(first - second), sorted(second - first)]
    if as_json:
        lists = [_named(vocabulary, ids[:sample]) for ids in only]
        counts = {"both": len(first & second), "only_first": len(only[0])}
        print_json(
            {
                "prefix_accepted": True,
                **counts,
                "only_second": len(only[1]),
                "only_first_tokens": lists[0],
                "only_second_tokens": lists[1],
            }
        )
        return
    console = output()
    console.print(f"tokens allowed by both: {len(first & second):,}")
    for ids, which in zip(only, ("first", "second"), strict=True):
        console.print(f"by the {which} only: {len(ids):,}")
        for token in ids[:sample]:
            console.print(Text(f"  {token:>7}  {quoted(vocabulary.token_name(token))}"))
        if len(ids) > sample > 0:
            console.print(f"  … {len(ids) - sample} more")
