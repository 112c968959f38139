"""Cost of masks: the first one of a schema, those along real outputs, and the same ones again.

Prints percentiles in microseconds for every engine that is installed, over the outputs that all of
them take: ``ttfm`` (compile, start, first mask), ``cold`` (each mask the first time that the
engine's grammar meets it on this output) and ``warm`` (the same masks for a second output).  The
engines take turns output by output, so that noise hits them alike.  CPU time of one thread, less
the time of reading the clock.

    [STRUCTAG_DATA=FOLDER] python bench/bench_mask.py [--stride N] [--only NAME,…] [--csv FILE]
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections import defaultdict
from typing import Any

from peers import PEERS, Engine, Run, engines
from results import Row, arguments, machine, percentiles, report
from sources import Cutter, Source, load_vocabulary, sources

PARTS = ("ttfm", "cold", "warm")


def clock_cost() -> float:
    """Nanoseconds that reading the clock adds to a figure."""
    times = [-time.thread_time_ns() + time.thread_time_ns() for _ in range(2000)]
    return float(sorted(times)[len(times) // 2])


COST = clock_cost()


def microseconds(start: int, end: int) -> float:
    return max(0.0, end - start - COST) / 1000


def follow(run: Run, tokens: list[int]) -> list[float]:
    """The time of each mask on the way, the one after the last token included.

    Raises:
        ValueError: the engine refuses a token.
    """
    now, times = time.thread_time_ns, []
    for token in tokens:
        start = now()
        run.fill()
        times.append(microseconds(start, now()))
        if not (run.allows(token) and run.accept(token)):
            raise ValueError("refused")
    start = now()
    run.fill()
    times.append(microseconds(start, now()))
    return times


def measure_one(engine: Engine, source: Source, outputs: list[list[int]]) -> dict[str, list[float]]:
    """What one schema costs one engine; raises what the engine raises."""
    now = time.thread_time_ns
    start = now()
    run = engine(source.schema)
    run.fill()
    times = {"ttfm": [microseconds(start, now())], "cold": [], "warm": []}
    for tokens in outputs:
        times["cold"] += follow(engine(source.schema), tokens)
        times["warm"] += follow(engine(source.schema), tokens)
    return times


def measure(chosen: dict[str, Engine], cut: Cutter, found: list[Source]) -> tuple[list[Row], int]:
    """The rows, and how many schemas they are about: those that every engine takes."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    count = 0
    warm_up = Source("warm-up", '{"type": "array", "items": {"type": "string"}}', [])
    for engine in chosen.values():
        measure_one(engine, warm_up, [cut('["a"]')])
    for source in found:
        outputs = list(map(cut, source.instances))
        one: dict[str, Any] = {}
        gc.collect()
        with contextlib.suppress(Exception):  # whatever an engine has for what it does not take
            one = {name: measure_one(engine, source, outputs) for name, engine in chosen.items()}
        count += bool(one)
        for name, parts in one.items():
            for part, values in parts.items():
                times[part, name] += values
    rows = [
        {"part": part, "engine": name, **percentiles(times[part, name], 2)}
        for part in PARTS
        for name in chosen
        if times[part, name]
    ]
    return rows, count


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--stride", type=int, default=100, help="take every N-th schema")
    parser.add_argument("--only", default="", help="these engines, separated by commas")
    options = parser.parse_args()
    vocabulary = load_vocabulary()
    chosen = engines(vocabulary)
    if options.only:
        chosen = {name: chosen[name] for name in options.only.split(",")}
    rows, count = measure(chosen, Cutter(vocabulary), sources(options.stride))
    about = {**machine(*PEERS), "schemas": count}
    report(rows, about, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
