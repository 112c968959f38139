"""Memory: what a vocabulary, many grammars and very long outputs hold, each in its own process.

Prints a row for each: megabytes by which the resident set has grown at the end (``growth_mb``) and
at most (``peak_mb``; of the whole process for ``schemas``), those that the library counts itself
(``counted_mb``), and CPU seconds.

- ``vocabulary``: 129,280 tokens with what is found beforehand.
- ``schemas``: compiling schemas and following their instances, masks included.
- ``long string``: 900,000 characters under a ``maxLength`` of a million.
- ``many items``: a million items under a ``maxItems`` of as many.
- ``deep nesting``: 100,000 lists within lists.
- ``long text``: a million tokens of free text.

    [STRUCTAG_DATA=FOLDER] python bench/bench_memory.py [--stride N] [--only PART] [--csv FILE]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results import Row, arguments, machine, report
from sources import Cutter, load_vocabulary, sources, tokenizer_folder

import structag

MEGABYTE = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


def peak() -> int:
    """The most that it ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def feed(schema: Any, pieces: Callable[[structag.Matcher], None]) -> Callable[[], int]:
    """Follows one output of a schema, with a mask now and then; the bytes that are counted."""
    grammar = structag.Compiler(load_vocabulary()).compile_json_schema(schema)
    bitmask = structag.allocate_token_bitmask(1, len(grammar.vocabulary))

    def run() -> int:
        matcher = structag.Matcher(grammar)
        matcher.fill_next_token_bitmask(bitmask)
        pieces(matcher)
        matcher.fill_next_token_bitmask(bitmask)
        return grammar.memory_bytes

    return run


def repeat(begin: str, piece: str, count: int, end: str) -> Callable[[structag.Matcher], None]:
    def pieces(matcher: structag.Matcher) -> None:
        assert matcher.accept_string(begin)
        for _ in range(count):
            assert matcher.accept_string(piece)
        assert matcher.accept_string(end) and matcher.is_completed()

    return pieces


def long_string(options: Any) -> Callable[[], int]:
    return feed({"type": "string", "maxLength": 1_000_000}, repeat('"', "word " * 20, 9000, '"'))


def many_items(options: Any) -> Callable[[], int]:
    schema = {"type": "array", "items": {"type": "integer"}, "maxItems": 1_000_001}
    return feed(schema, repeat("[0", ", 17" * 100, 10_000, "]"))


def deep_nesting(options: Any) -> Callable[[], int]:
    schema = {
        "$ref": "#/$defs/l",
        "$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}},
    }

    def pieces(matcher: structag.Matcher) -> None:
        for piece in ("[", "]"):
            for _ in range(1000):
                assert matcher.accept_string(piece * 100)
        assert matcher.is_completed()

    return feed(schema, pieces)


def long_text(options: Any) -> Callable[[], int]:
    vocabulary = load_vocabulary()
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}
    grammar = structag.Compiler(vocabulary).compile({"type": "structural_tag", "format": tag})
    bitmask = structag.allocate_token_bitmask(1, len(vocabulary))
    tokens = Cutter(vocabulary)("The quick brown fox, again and again; ")

    def run() -> int:
        matcher = structag.Matcher(grammar)
        assert matcher.accept_string("<a>")
        for index in range(1_000_000):
            assert matcher.accept_token(tokens[index % len(tokens)])
            if index % 1000 == 0:
                matcher.fill_next_token_bitmask(bitmask)
        return grammar.memory_bytes

    return run


def schemas(options: Any) -> Callable[[], int]:
    vocabulary = load_vocabulary()
    cut = Cutter(vocabulary)
    outputs = [(s.schema, list(map(cut, s.instances))) for s in sources(options.stride)]
    bitmask = structag.allocate_token_bitmask(1, len(vocabulary))

    def run() -> int:
        compiler = structag.Compiler(vocabulary)
        for schema, instances in outputs:
            try:
                grammar = compiler.compile_json_schema(schema)
            except structag.StructagError:
                continue
            for tokens in instances:
                matcher = structag.Matcher(grammar)
                for token in tokens:
                    matcher.fill_next_token_bitmask(bitmask)
                    if not matcher.accept_token(token):
                        break
        return compiler.memory_bytes + vocabulary.native.memory_bytes

    return run


def vocabulary(options: Any) -> Callable[[], int]:
    from structag.loaders.tokenizer_json import read_tokenizer_json

    table = read_tokenizer_json(tokenizer_folder() / "tokenizer.json").finish(None, None)
    return lambda: structag.Vocabulary(table).native.memory_bytes


PARTS: dict[str, Callable[[Any], Callable[[], int]]] = {
    "vocabulary": vocabulary,
    "schemas": schemas,
    "long string": long_string,
    "many items": many_items,
    "deep nesting": deep_nesting,
    "long text": long_text,
}


def measure_here(name: str, options: Any) -> Row:
    """One part, in this process."""
    run = PARTS[name](options)
    before, start = resident(), time.process_time()
    counted = run()
    seconds = time.process_time() - start
    most = peak() - (0 if name == "schemas" else before)
    return {
        "part": name,
        "growth_mb": round((resident() - before) / MEGABYTE, 1),
        "peak_mb": round(max(most, 0) / MEGABYTE, 1),
        "counted_mb": round(counted / MEGABYTE, 1),
        "cpu_s": round(seconds, 2),
    }


def measure(name: str, stride: int) -> Row:
    """One part, in a process of its own."""
    command = [sys.executable, __file__, "--here", name, "--stride", str(stride)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    row: Row = json.loads(done.stdout)
    return row


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--stride", type=int, default=20, help="take every N-th schema")
    parser.add_argument("--only", choices=PARTS, help="this part")
    parser.add_argument("--here", choices=PARTS, help="this part in this process, as JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure_here(options.here, options)))
        return 0
    names = [options.only] if options.only else list(PARTS)
    rows = [measure(name, options.stride) for name in names]
    report(rows, machine(), options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
