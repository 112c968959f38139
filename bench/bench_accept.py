"""Cost of accepting: tokens that a mask allowed, whole texts, and taking tokens back.

Prints percentiles over real outputs, in nanoseconds for each token or byte, through Python:
``token cold`` and ``token warm`` (one `accept_token` after the other, the first time and again),
``bytes warm`` (a whole text by `accept_string`), ``rollback`` (tokens taken back one by one) and
``fork``.  The same of the engines that are installed, where they can do it token by token.  CPU
time of one thread.

    [STRUCTAG_DATA=FOLDER] python bench/bench_accept.py [--stride N] [--csv FILE]
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial

from peers import PEERS, engines
from results import Row, arguments, machine, percentiles, report
from sources import Cutter, Source, load_vocabulary, sources

import structag

LEAST_TOKENS = 8  # of an output: shorter ones say little
ROUNDS = 3  # of what is warm; the best one counts


def nanoseconds(call: Callable[[], object], count: int) -> float:
    """For each of `count` things that one call does."""
    start = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - start) / count


def accept_all(accept: Callable[[int], bool], tokens: list[int]) -> None:
    for token in tokens:
        if not accept(token):
            raise ValueError("refused")


def measure_ours(
    grammar: structag.CompiledGrammar, text: str, tokens: list[int]
) -> dict[str, float]:
    """What only our matchers do, or do in one call; the grammar knows all steps already."""
    matcher = structag.Matcher(grammar)
    best: dict[str, float] = defaultdict(lambda: float("inf"))

    def note(part: str, call: Callable[[], object], count: int) -> None:
        best[part] = min(best[part], nanoseconds(call, count))

    for _ in range(ROUNDS):
        note("bytes warm", lambda: matcher.accept_string(text), len(text.encode()))
        matcher.reset()
        accept_all(matcher.accept_token, tokens)
        note("fork", lambda: [matcher.fork() for _ in range(20)], 20)
        note("rollback", lambda: [matcher.rollback(1) for _ in tokens], len(tokens))
        matcher.reset()
    return best


def measure(found: list[Source], vocabulary: structag.Vocabulary) -> list[Row]:
    cut = Cutter(vocabulary)
    chosen = engines(vocabulary)
    compiler = structag.Compiler(vocabulary)
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for source in found:
        for text, tokens in ((text, cut(text)) for text in source.instances):
            if len(tokens) < LEAST_TOKENS:
                continue
            one: dict[tuple[str, str], float] = {}
            gc.collect()
            with contextlib.suppress(Exception):  # whatever an engine has for what it refuses
                for name, engine in chosen.items():
                    runs = [engine(source.schema) for _ in range(1 + ROUNDS)]
                    times = [
                        nanoseconds(partial(accept_all, run.accept, tokens), len(tokens))
                        for run in runs
                    ]
                    one["token cold", name] = times[0]
                    one["token warm", name] = min(times[1:])
                grammar = compiler.compile_json_schema(source.schema)
                accept_all(structag.Matcher(grammar).accept_token, tokens)
                for part, value in measure_ours(grammar, text, tokens).items():
                    one[part, "structag"] = value
                for key, value in one.items():
                    values[key].append(value)
    return [
        {"part": part, "engine": name, **percentiles(times, 0)}
        for (part, name), times in sorted(values.items())
    ]


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--stride", type=int, default=400, help="take every N-th schema")
    options = parser.parse_args()
    rows = measure(sources(options.stride), load_vocabulary())
    report(rows, machine(*PEERS), options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
