"""The slowest masks along real outputs, each with what it was spent on.

Every mask is found in a grammar that has never seen it; the vocabulary is warm, as it is in a
server, because the schemas before have been through it.  A mask is put down to the first of these
that holds:

- ``summaries``: units were summarised that no grammar had asked for;
- ``steps``: states that the grammar had not met, more than 50;
- ``walk``: nodes of the vocabulary's tries, more than 1,000;
- ``exits``: it had to be found where tokens go on that leave a unit;
- ``other``: none of these: what is left of an expression, its copy for the library, the row itself;
- ``noise``: measured again in another grammar, it took less than a third of the time.

    [STRUCTAG_DATA=FOLDER] python bench/slowest_masks.py [--stride N] [--share PERCENT] [--csv FILE]
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from results import Row, arguments, machine, write_csv
from rich.console import Console
from rich.table import Table
from sources import Cutter, Source, load_vocabulary, sources

import structag

COUNTS = ("summaries_built", "exits", "states", "nodes", "expressions")
MANY_STATES, MANY_NODES, FEW_TIMES = 50, 1000, 3


class Slow(NamedTuple):
    """One mask."""

    us: float
    again_us: float
    name: str
    prefix: bytes
    counts: dict[str, int]

    @property
    def cause(self) -> str:
        """See the module."""
        is_shared = self.counts["summaries_built"] or self.counts["exits"]
        if self.us > FEW_TIMES * self.again_us and not is_shared:
            return "noise"
        if self.counts["summaries_built"]:
            return "summaries"
        if self.counts["states"] > MANY_STATES:
            return "steps"
        if self.counts["nodes"] > MANY_NODES:
            return "walk"
        return "exits" if self.counts["exits"] else "other"


class Follower:
    """Follows outputs with masks, and keeps the figures of each mask."""

    def __init__(self) -> None:
        self.vocabulary = load_vocabulary()
        self.cut = Cutter(self.vocabulary)
        self.row = np.zeros((1, -(-self.vocabulary.size // 32)), dtype=np.int32)
        self.found: list[Slow] = []

    def follow(self, source: Source) -> None:
        """All masks of all instances, in two grammars that know nothing."""
        compilers = [structag.Compiler(self.vocabulary, cache_bytes=0) for _ in range(2)]
        grammars = [compiler.compile_json_schema(source.schema) for compiler in compilers]
        for text in source.instances:
            matchers = [structag.Matcher(grammar) for grammar in grammars]
            prefix = b""
            for token in [*self.cut(text), None]:
                before = grammars[0].native.stats()
                us, again_us = map(self.time, matchers)
                after = grammars[0].native.stats()
                counts = {name: after[name] - before[name] for name in COUNTS}
                self.found.append(Slow(us, again_us, source.name, prefix, counts))
                if token is None or not all(m.accept_token(token) for m in matchers):
                    break
                prefix += self.vocabulary.token_bytes(token) or b""

    def time(self, matcher: structag.Matcher) -> float:
        start = time.thread_time_ns()
        matcher.fill_next_token_bitmask(self.row)
        return (time.thread_time_ns() - start) / 1000


def shown(prefix: bytes, width: int = 48) -> str:
    """The end of it."""
    text = prefix.decode(errors="replace").replace("\n", "⏎")
    return text if len(text) <= width else "…" + text[-width + 1 :]


def as_row(slow: Slow) -> Row:
    return {
        "schema": slow.name,
        "prefix": shown(slow.prefix),
        "us": round(slow.us, 1),
        "again_us": round(slow.again_us, 1),
        "cause": slow.cause,
        **slow.counts,
    }


def draw(rows: list[Row], title: str) -> Table:
    table = Table(title=title)
    for name in rows[0]:
        is_text = name in ("schema", "prefix", "cause")
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    return table


def summary(rows: list[Row]) -> list[Row]:
    """How many masks and how much time each cause has."""
    whole = sum(row["us"] for row in rows)
    causes: dict[str, list[float]] = {}
    for row in rows:
        causes.setdefault(row["cause"], []).append(row["us"])
    return [
        {"cause": cause, "masks": len(times), "us": round(sum(times)),
         "share": f"{sum(times) / whole:.0%}"}
        for cause, times in sorted(causes.items(), key=lambda item: -sum(item[1]))
    ]  # fmt: skip


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--stride", type=int, default=10, help="take every N-th schema")
    parser.add_argument("--share", type=float, default=0.1, help="percent of the masks")
    options = parser.parse_args()
    follower = Follower()
    for source in sources(options.stride):
        try:
            follower.follow(source)
        except structag.StructagError:
            continue
    slowest = sorted(follower.found, reverse=True)
    count = max(10, round(len(slowest) * options.share / 100))
    rows = list(map(as_row, slowest[:count]))
    times: Any = np.array([slow.us for slow in follower.found])
    spread = {p: float(np.percentile(times, p)) for p in (50, 99, 99.9)}
    console = Console(width=None if sys.stdout.isatty() else 200)
    words = ", ".join(f"p{p:g} {value:,.1f} µs" for p, value in spread.items())
    console.print(draw(rows, f"the slowest {count} of {len(times):,} masks ({words})"))
    console.print(draw(summary(rows), "by cause"))
    if options.csv is not None:
        write_csv(options.csv, rows, machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
