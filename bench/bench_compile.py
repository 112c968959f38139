"""Cost of compiling: stage by stage for JSON Schemas, and for tags with many tools.

Prints one table of percentiles over a sample of schemas, in microseconds: each stage of a
compilation, ``ttfm`` (the time to the first mask) of every engine that is installed, and the ratio
of ours to theirs, schema by schema.  Then, for a tag with tools, milliseconds to
compile it ``cold``, with the tools in another order (``reorder``) and with one replaced (``swap``).
One compiler serves the whole sample, so what schemas share is made once.  Engines take turns schema
by schema, so that noise hits them alike.  Process CPU time of one thread.

    [STRUCTAG_DATA=FOLDER] python bench/bench_compile.py [--stride N] [--tools N] [--csv FILE]
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from peers import Engine, engines
from results import Row, arguments, cpu_us, machine, percentiles, report
from sources import BUILT_IN, Source, load_vocabulary, sources

import structag
from structag._core import make_engine
from structag.grammar.bind import bind_vocabulary
from structag.grammar.builder import GrammarBuilder
from structag.grammar.pack import pack_modular
from structag.grammar.simplify import simplify_grammar
from structag.schema.lower import lower_schema
from structag.schema.read import read_schema

SLOW = {"xgrammar", "glrmask"}
"""Peers that take milliseconds for most schemas: only on request."""

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
        times = [cpu_us()]
        schema = read_schema(text, limits)
        times.append(cpu_us())
        builder = GrammarBuilder(compiler._fragments)
        grammar = builder.build(lower_schema(schema, builder, limits=limits))
        times.append(cpu_us())
        bound = bind_vocabulary(grammar, vocabulary.control_tokens, vocabulary.added_tokens)
        simple = simplify_grammar(bound)
        times.append(cpu_us())
        program, pool, modules = pack_modular(simple)
        times.append(cpu_us())
        make_engine(
            vocabulary.native,
            program,
            pool,
            limits.max_work,
            limits.max_memory_bytes,
            limits.max_expressions,
            modules,
        )
        times.append(cpu_us())
        return [after - before for before, after in itertools.pairwise(times)]


# -- tools


def tools_of(found: list[Source], count: int) -> list[dict[str, Any]]:
    """Distinct object schemas that we compile, as tools; the built-in ones varied if need be."""
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    tools: dict[str, dict[str, Any]] = {}
    for source in found:
        schema = json.loads(source.schema)
        is_plain = isinstance(schema, dict) and schema.get("properties")
        if len(tools) == count or not is_plain or len(source.schema) > 3000:
            continue
        if "$ref" in source.schema:
            continue
        try:
            compiler.compile_json_schema(source.schema)
        except structag.StructagError:
            continue
        tools[source.schema] = schema
    plain = [schema for schema, _ in BUILT_IN.values() if "properties" in schema]
    for number in range(count - len(tools)):
        schema = plain[number % len(plain)]
        named = {**schema["properties"], f"argument_{number}": {"type": "string"}}
        tools[str(number)] = {**schema, "properties": named}
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


def measure_tools(found: list[Source], count: int, vocabulary: Any) -> dict[str, float]:
    tools = list(enumerate(tools_of(found, count + 3)))
    chosen, spare = tools[:count], tools[count:]
    compiler = structag.Compiler(vocabulary)

    def milliseconds(text: str) -> float:
        gc.collect()
        start = cpu_us()
        compiler.compile_structural_tag(text)
        return (cpu_us() - start) / 1000

    return {
        "tools": len(chosen),
        "cold": milliseconds(tag_of(chosen)),
        "reorder": min(milliseconds(tag_of(chosen[k:] + chosen[:k])) for k in (1, 2, 3)),
        "swap": min(milliseconds(tag_of([one, *chosen[1:]])) for one in spare),
    }


# -- the whole


def time_to_first_mask(engine: Engine) -> Callable[[str], float]:
    def run(text: str) -> float:
        start = cpu_us()
        engine(text).fill()
        return cpu_us() - start

    return run


def measure(
    found: list[Source], vocabulary: structag.Vocabulary, with_slow: bool
) -> dict[str, list[float]]:
    stages = Stages(structag.Compiler(vocabulary))
    timed = {
        name: time_to_first_mask(engine)
        for name, engine in engines(vocabulary).items()
        if with_slow or name not in SLOW
    }
    samples: dict[str, list[float]] = {name: [] for name in (*Stages.names, *timed)}
    warm = '{"type": "object", "properties": {"warm": {"type": "string"}}}'
    for run in timed.values():
        run(warm)
    for source in found:
        gc.collect()
        try:
            times = {name: run(source.schema) for name, run in timed.items()}
            parts = stages(source.schema)
        except Exception:  # whatever an engine has for what it refuses
            continue  # only what every engine takes is compared
        for name, value in (*times.items(), *zip(Stages.names, parts, strict=True)):
            samples[name].append(value)
    return samples


def table(samples: dict[str, list[float]]) -> list[Row]:
    rows = [
        {"part": f"ttfm {name}" if name not in Stages.names else name, **percentiles(values, 0)}
        for name, values in samples.items()
    ]
    ours = np.array(samples["structag"])
    for name in samples.keys() - {"structag", *Stages.names}:
        rows.append({"part": f"structag / {name}", **percentiles(ours / samples[name], 2)})
    return rows


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", help="instead of STRUCTAG_DATA")
    parser.add_argument("--stride", type=int, default=20, help="take every N-th schema")
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--all", action="store_true", help="the slow peers, too")
    options = parser.parse_args()
    vocabulary = load_vocabulary()
    every = sources(1, options.data)
    stride = options.stride if len(every) > options.stride else 1
    rows = table(measure(every[::stride], vocabulary, options.all))
    for name, value in measure_tools(every, options.tools, vocabulary).items():
        rows.append({"part": f"{name} ms" if name != "tools" else name, "p50": round(value, 2)})
    report(rows, machine("llguidance"), options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
