"""Engines behind one small protocol: ours, and of the others those that are installed.

``compile(schema) -> matcher``; ``matcher.fill()`` fills a mask that lies ready, ``matcher.accept``
takes a token.  All of them run on one thread.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from sources import load_vocabulary, tokenizer_folder

import structag


class Run(NamedTuple):
    """One output in the making."""

    fill: Callable[[], Any]
    accept: Callable[[int], bool]
    mask: np.ndarray

    def allows(self, token: int) -> bool:
        """Whether the mask that was filled last has the token."""
        return bool(int(self.mask[token >> 5]) >> (token & 31) & 1)


class Engine(Protocol):
    """Compiles a schema, JSON text; raises an exception if it will not."""

    def __call__(self, schema: str) -> Run: ...


def hugging_face() -> Any:
    """The tokenizer as the packages of the others want it."""
    from transformers import PreTrainedTokenizerFast

    folder = tokenizer_folder()
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    eos = config["eos_token"]
    return PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=eos["content"] if isinstance(eos, dict) else eos,
    )


def ours(compiler: structag.Compiler) -> Engine:
    """With one compiler for all."""
    row = np.zeros((1, -(-compiler.vocabulary.size // 32)), dtype=np.int32)

    def compile(schema: str) -> Run:
        matcher = structag.Matcher(compiler.compile_json_schema(schema))
        return Run(lambda: matcher.fill_next_token_bitmask(row), matcher.accept_token, row[0])

    return compile


def llguidance_engine(tokenizer: Any) -> Engine:
    """A new grammar for each; llguidance keeps none."""
    import llguidance
    import llguidance.hf

    vocabulary = llguidance.hf.from_tokenizer(tokenizer)
    row = np.zeros((vocabulary.vocab_size + 31) // 32, dtype=np.int32)

    def compile(schema: str) -> Run:
        grammar = json.dumps({"grammars": [{"json_schema": json.loads(schema)}]})
        matcher = llguidance.LLMatcher(vocabulary, grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        pointer, size = row.ctypes.data, row.nbytes
        return Run(
            lambda: matcher.unsafe_compute_mask_ptr(pointer, size), matcher.consume_token, row
        )

    return compile


def xgrammar_engine(tokenizer: Any) -> Engine:
    """With one compiler, and its cache, for all."""
    import xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer)
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)

    def compile(schema: str) -> Run:
        compiled = compiler.compile_json_schema(schema, any_whitespace=True, strict_mode=False)
        matcher = xgrammar.GrammarMatcher(compiled)
        return Run(lambda: matcher.fill_next_token_bitmask(row), matcher.accept_token, row[0])

    return compile


def glrmask_engine(tokenizer: Any) -> Engine:
    """Without a cache; its masks do not say when the output may end."""
    import glrmask

    vocabulary = load_vocabulary()
    stops = set(vocabulary.stop_token_ids)
    texts = {i: vocabulary.token_bytes(i) for i in range(vocabulary.size) if i not in stops}
    known = glrmask.Vocab.from_id_to_bytes({i: text for i, text in texts.items() if text})
    row = np.zeros((vocabulary.size + 31) // 32, dtype=np.int32)

    def compile(schema: str) -> Run:
        grammar = glrmask.Grammar.from_json_schema(schema).compile(known)
        matcher = grammar.start()
        return Run(lambda: matcher.fill_mask(row), matcher.commit_token, row)

    return compile


PEERS: dict[str, Callable[[Any], Engine]] = {
    "llguidance": llguidance_engine,
    "xgrammar": xgrammar_engine,
    "glrmask": glrmask_engine,
}


def engines(vocabulary: structag.Vocabulary | None = None) -> dict[str, Engine]:
    """All that can run here, by name; ours first."""
    compiler = structag.Compiler(load_vocabulary() if vocabulary is None else vocabulary)
    found = {"structag": ours(compiler)}
    if importlib.util.find_spec("transformers") is None:
        return found
    tokenizer = hugging_face()
    for name, make in PEERS.items():
        if importlib.util.find_spec(name) is not None:
            found[name] = make(tokenizer)
    return found
