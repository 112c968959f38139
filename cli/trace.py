"""`structag trace`: an output token by token: how much is allowed, what is forced, and where."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

import structag
from structag.cli.explaining import Breadcrumbs, print_place, print_text
from structag.cli.match import TextArgument
from structag.cli.prefix import Prefix, check_ids, read_prefix
from structag.cli.progress import track
from structag.cli.reading import (
    FileArgument,
    JsonOption,
    KindOption,
    compile_document,
    read_document,
    read_text,
)
from structag.cli.rendering import InputError, output, print_json
from structag.cli.tokenizing import Spellings
from structag.cli.vocabularies import StopOption, VocabularyOption, load_vocabulary
from structag.explain import Trail, explain_place, explain_token
from structag.matcher import Expectation
from structag.terminal import visible

IdsOption = Annotated[
    str, typer.Option("--ids", help="Ids of tokens after the text, with commas between.")
]
LiveOption = Annotated[
    bool,
    typer.Option(
        "--live", help="Step through: Enter goes on, `b` back, `q` ends, a number goes there."
    ),
]


class Step(NamedTuple):
    """One token of an output.

    Attributes:
        token_id: which.
        start: where its bytes begin in the output.
        allowed: how many tokens were allowed in its place.
        taken: whether it was.
        trail: the part of the source it belongs to.
    """

    token_id: int
    start: int
    allowed: int
    taken: bool
    trail: Trail


def trace(
    file: FileArgument,
    text: TextArgument = None,
    ids: IdsOption = "",
    live: LiveOption = False,
    vocab: VocabularyOption = "byte",
    kind: KindOption = None,
    stop_token: StopOption = None,
    as_json: JsonOption = False,
) -> None:
    """Follow TEXT token by token: how many were allowed, was one forced, in which part.

    The text is cut into the longest tokens that are allowed.  Exit code 1 if it is rejected, or
    not a whole output.
    """
    if text == "-" and (live or file == "-"):
        raise InputError("standard input cannot be both TEXT and something else")
    prefix = Prefix(read_text(text or ""), read_prefix("", ids).ids)
    document = read_document(file, kind)
    vocabulary = load_vocabulary(vocab, stop_token)
    check_ids(prefix.ids, vocabulary)
    grammar = compile_document(document, vocabulary, origins=True)
    tracer = _Tracer(grammar, prefix)
    steps = [*track(tracer, "tracing")]
    breadcrumbs = Breadcrumbs(document)
    if as_json:
        print_json(_as_json(tracer, steps))
    elif live:
        _step_through(output(), tracer, steps, breadcrumbs)
    else:
        console = output()
        console.print(Text(_HEAD, "bold"))
        for number, step in enumerate(steps, 1):
            console.print(_row(vocabulary, number, step, breadcrumbs))
        _print_end(console, tracer, breadcrumbs)
    if not tracer.is_whole:
        raise typer.Exit(1)


class _Tracer:
    """Takes an output token by token."""

    def __init__(self, grammar: Any, prefix: Prefix) -> None:
        self.grammar = grammar
        self.matcher = structag.Matcher(grammar)
        self.data = prefix.text
        self.is_whole = False
        self._ids = prefix.ids
        self._spellings = Spellings(grammar.vocabulary)
        self._bitmask = structag.allocate_token_bitmask(1, grammar.vocabulary.size)

    def __iter__(self) -> Any:
        at = 0
        while at < len(self.data):
            tokens = [*self._spellings.prefixes(self.data, at)]
            if not tokens:
                raise InputError(f"the vocabulary cannot spell byte {at} of the text")
            token = next((t for t in tokens if self.matcher.validate_tokens([t])), tokens[0])
            step = self._step(token, at)
            yield step
            if not step.taken:
                return
            at += len(self._written(token))
        for token in self._ids:
            step = self._step(token, len(self.data))
            self.data += self._written(token)
            yield step
            if not step.taken:
                return
        self.is_whole = self.matcher.is_completed() or self.matcher.is_terminated()

    def _written(self, token: int) -> bytes:
        """What the token is in the text: control tokens have a content, but no bytes."""
        vocabulary: structag.Vocabulary = self.grammar.vocabulary
        return vocabulary.token_bytes(token) or vocabulary.token_name(token).encode()

    def _step(self, token: int, at: int) -> Step:
        self.matcher.fill_next_token_bitmask(self._bitmask)
        allowed = int(np.unpackbits(self._bitmask.view(np.uint8)).sum())
        written = self._written(token)
        places = [
            (_fits(e, token, written), len(trail), trail)
            for e in self.matcher.expectations()
            for trail in e.trails
        ]
        fit, _, trail = max(places, default=(0, 0, ()))
        taken = self.matcher.accept_token(token)
        return Step(token, at, allowed, taken, trail if fit else ())


def _fits(expected: Expectation, token: int, written: bytes) -> int:
    """How surely the token belongs to one part: by its id, by a fixed string, by its first byte."""
    if token in expected.token_ids:
        return 3
    rest = expected.rest
    if rest and written and (rest.startswith(written) or written.startswith(rest)):
        return 2
    return int(bool(written) and written[0] in expected.bytes)


_HEAD = f"{'':>5}  {'allowed':>9}  {'':6}  {'token':<16}  part"


def _row(
    vocabulary: structag.Vocabulary, number: int, step: Step, breadcrumbs: Breadcrumbs
) -> Text:
    name = visible(vocabulary.token_name(step.token_id))
    note = "forced" if step.allowed == 1 and step.taken else "" if step.taken else "no"
    line = Text(f"{number:>5}  {step.allowed:>9,}  ")
    line.append(f"{note:<6}", "dim" if step.taken else "bold red")
    line.append(f"  {name:<16}", "green" if step.taken else "red")
    line.append(f"  {breadcrumbs.spell(step.trail)}".rstrip())
    line.rstrip()
    return line


def _print_end(console: Console, tracer: _Tracer, breadcrumbs: Breadcrumbs) -> None:
    if tracer.is_whole:
        console.print("[green]accepted[/]")
        return
    console.print("[bold red]rejected[/]")
    print_place(console, explain_place(tracer.matcher), breadcrumbs)


def _as_json(tracer: _Tracer, steps: list[Step]) -> dict[str, Any]:
    vocabulary = tracer.grammar.vocabulary
    return {
        "accepted": tracer.is_whole,
        "tokens": [
            {
                "id": step.token_id,
                "name": vocabulary.token_name(step.token_id),
                "allowed_count": step.allowed,
                "forced": step.allowed == 1,
                "taken": step.taken,
                "trail": list(step.trail),
            }
            for step in steps
        ],
        "after": explain_place(tracer.matcher).to_json(),
    }


# -- stepping through


def _step_through(
    console: Console, tracer: _Tracer, steps: list[Step], breadcrumbs: Breadcrumbs
) -> None:
    """One screen for each token: the text so far, what may come, and which token does."""
    at = 0
    matcher = structag.Matcher(tracer.grammar)
    while True:
        console.clear()
        data = tracer.data
        start = steps[at].start if at < len(steps) else len(data)
        console.print(Text(f"token {at + 1} of {len(steps)}" if at < len(steps) else "the end"))
        print_text(console, data, start, marked=at < len(steps))
        print_place(console, explain_place(matcher, data[:start]), breadcrumbs)
        if at < len(steps):
            console.print(_row(tracer.grammar.vocabulary, at + 1, steps[at], breadcrumbs))
            if not steps[at].taken:
                verdict = explain_token(matcher, steps[at].token_id, data[:start])
                console.print(Text(f"refused: {verdict.reason.value}", "bold red"))
        console.print("[dim]Enter: on   b: back   q: end   number: go there[/]")
        line = sys.stdin.readline()
        word = line.strip()
        if not line or word == "q":
            return
        last = len(steps) if tracer.is_whole else len(steps) - 1
        wanted = int(word) - 1 if word.isdecimal() else at - 1 if word == "b" else at + 1
        if not word and at >= last:
            return
        at = max(0, min(wanted, last))
        matcher.reset()
        for step in steps[:at]:
            matcher.accept_token(step.token_id)
