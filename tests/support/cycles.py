"""Compiling, matching and dropping random grammars over and over, to see what stays behind.

    PYTHONPATH=tests python -m support.cycles [--cycles N] [--seed N]

prints the mean of the resident set, in megabytes, in each hundredth of the cycles.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from support.random_schemas import random_schema

from structag import Compiler, Matcher, StructagError, Vocabulary
from structag.limits import Limits

CACHE_BYTES = 1 << 20
"""Of the compiler, and of what is found out about the vocabulary: soon full."""
LIMITS = Limits(max_work=300_000, max_memory_bytes=1 << 25)
TAG = {"type": "tag", "begin": "<a>", "end": "</a>"}
BETWEEN_READINGS = 50
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


def pieces_vocabulary(rng: random.Random) -> Vocabulary:
    """All bytes, and two thousand pieces such as JSON is made of."""
    alphabet = ['"', "a", "b", "x1", "{", "}", "[", "]", ":", ",", " ", "0", "1", ".5", "é", "\\n"]
    texts = {"".join(rng.choices(alphabet, k=rng.randrange(2, 7))).encode() for _ in range(2000)}
    tokens = [bytes([byte]) for byte in range(256)] + sorted(texts)
    return Vocabulary.from_token_bytes(
        [*tokens, b"</s>"], special=[len(tokens)], stop_token_ids=[len(tokens)]
    )


class Cycles:
    """One compiler for everything, whose caches are small."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.vocabulary = pieces_vocabulary(self.rng)
        self.vocabulary.cache_bytes = CACHE_BYTES
        self.compiler = Compiler(self.vocabulary, cache_bytes=CACHE_BYTES, limits=LIMITS)
        self.row = np.zeros((1, (self.vocabulary.size + 31) // 32), dtype=np.int32)
        self.refused = 0

    def run(self, count: int, windows: int) -> Iterator[float]:
        """The mean of the resident set in each of the windows that `count` cycles are cut into.

        What the caches hold comes and goes, so that single readings differ by some percent.
        """
        for _ in range(windows):
            readings = []
            for number in range(count // windows):
                try:
                    self.cycle()
                except StructagError:
                    self.refused += 1
                if number % BETWEEN_READINGS == 0:
                    readings.append(resident())
            yield sum(readings) / len(readings)

    def cycle(self) -> None:
        """One grammar, from its source to the end of a random output."""
        rng = self.rng
        schema = {**_object(random_schema(rng)), "$defs": {"x": random_schema(rng, 1)}}
        content = {"type": "json_schema", "json_schema": schema}
        tag = {"type": "structural_tag", "format": {**TAG, "content": content}}
        matcher = Matcher(self.compiler.compile(tag if rng.random() < 0.3 else schema))
        for _ in range(rng.randrange(12)):
            matcher.fill_next_token_bitmask(self.row)
            bits = np.unpackbits(self.row.view(np.uint8), bitorder="little")
            allowed = np.flatnonzero(bits)
            if not matcher.accept_token(int(rng.choice(allowed))) or matcher.is_terminated():
                break
            if rng.random() < 0.2:
                fork = matcher.fork()
                fork.find_jump_forward_string()
                matcher.rollback(1)


def _object(schema: object) -> dict[str, object]:
    return schema if isinstance(schema, dict) else {"enum": [schema]}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cycles", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cycles = Cycles(options.seed)
    start = resident()
    sizes = []
    for size in cycles.run(options.cycles, 100):
        sizes.append(size)
        print(f"{len(sizes) * options.cycles // 100:>9,} {size / 2**20:8.1f} MB", flush=True)
    print(f"began with {start / 2**20:.1f} MB; {cycles.refused:,} were refused")
    late = sizes[len(sizes) // 4 :]
    mean = sum(late) / len(late)
    least, most = min(late) / mean - 1, max(late) / mean - 1
    print(f"last three quarters: {least:+.2%} to {most:+.2%} of {mean / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
