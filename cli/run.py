"""`structag run`: matches texts or token ids with what `structag compile` wrote."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

import structag
from structag.cli.explaining import Breadcrumbs, print_place, print_text, where
from structag.cli.match import TextArgument
from structag.cli.prefix import Prefix, follow, read_prefix
from structag.cli.progress import busy
from structag.cli.reading import Document, JsonOption, Kind, read_text
from structag.cli.rendering import InputError, output, print_json
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.errors import StructagError
from structag.explain import explain_place, explain_text
from structag.source import Source

CompiledArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A file that `structag compile` wrote.")
]
IdsOption = Annotated[
    str | None, typer.Option("--ids", help="Ids of tokens with commas between, in place of TEXT.")
]
_NO_DOCUMENT = Document(b"", Source(""), Kind.EBNF)


def run(
    file: CompiledArgument,
    text: TextArgument = None,
    ids: IdsOption = None,
    vocab: VocabularyOption = "byte",
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Match TEXT, or --ids, with a compiled format; --vocab names its vocabulary.

    Exit code 0 if it is accepted, 1 if not.
    """
    if (text is None) == (ids is None):
        raise InputError("give TEXT or --ids, one of the two")
    vocabulary = load_vocabulary(vocab, stop_token)
    try:
        with busy("loading"):
            grammar = structag.load(file, vocabulary)
    except StructagError as error:
        raise InputError(error, Source("", file)) from None
    if ids is None:
        accepted = _match_text(grammar, read_text(text or ""), as_json)
    else:
        accepted = _match_ids(grammar, read_prefix("", ids), as_json)
    if not accepted:
        raise typer.Exit(1)


def _match_text(grammar: Any, data: bytes, as_json: bool) -> bool:
    with busy("matching"):
        stop = explain_text(grammar, data)
    if as_json:
        print_json(
            {"accepted": stop.accepted, "matched_bytes": stop.matched, **stop.place.to_json()}
        )
        return stop.accepted
    console = output()
    print_text(console, data, stop.matched, marked=not stop.accepted)
    if stop.accepted:
        console.print("[green]accepted[/]")
    else:
        console.print(Text.assemble(("rejected", "bold red"), f" at {where(data, stop.matched)}"))
        print_place(console, stop.place, Breadcrumbs(_NO_DOCUMENT))
    return stop.accepted


def _match_ids(grammar: Any, prefix: Prefix, as_json: bool) -> bool:
    reached = follow(grammar, prefix)
    count = structag.Matcher(grammar).validate_tokens(prefix.ids)
    matcher = reached.matcher
    is_whole = matcher.is_completed() or matcher.is_terminated()
    accepted = count == len(prefix.ids) and is_whole
    place = reached.rejected or explain_place(matcher, reached.text)
    if as_json:
        print_json(
            {
                "accepted": accepted,
                "matched_tokens": count,
                "total_tokens": len(prefix.ids),
                **place.to_json(),
            }
        )
        return accepted
    console = output()
    names = [grammar.vocabulary.token_name(token) for token in prefix.ids[:count]]
    console.print(Text(" ".join(names), "green"))
    if accepted:
        console.print("[green]accepted[/]")
    else:
        got = f"token {prefix.ids[count]}" if count < len(prefix.ids) else "the end"
        head = ("rejected", "bold red")
        console.print(Text.assemble(head, f" after {count} tokens: got {got}"))
        print_place(console, place, Breadcrumbs(_NO_DOCUMENT))
    return accepted
