"""A compiler shared by many requests: each source once, deadlines, cancelling, counters."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from structag import (
    CompiledGrammar,
    Compiler,
    Deadline,
    DeadlineError,
    GrammarError,
    LimitError,
    Matcher,
    SchemaError,
    StructuralTag,
    Vocabulary,
)
from structag.grammar.builder import GrammarBuilder


@pytest.fixture
def compiler() -> Compiler:
    return Compiler(Vocabulary.byte_level(), threads=4)


def large_schema(seed: int = 0) -> dict[str, Any]:
    """Takes some hundred milliseconds."""
    return {"enum": [f"{seed}-{n * 7919 % 100_003}-{n}" for n in range(80_000)]}


def test_equal_sources_at_once_are_compiled_once(compiler: Compiler) -> None:
    schema = large_schema()
    futures = [compiler.compile_json_schema_async(schema) for _ in range(12)]
    grammars = {id(future.result()) for future in futures}
    counters = compiler.counters

    assert len(grammars) == 1
    assert counters.compiles == 1 and counters.failures == 0
    assert counters.hits + counters.joins == 11


def test_all_who_wait_learn_of_a_refusal_and_nobody_later_hears_of_it(compiler: Compiler) -> None:
    started, go_on = threading.Event(), threading.Event()

    def lower(builder: GrammarBuilder) -> int:
        started.set()
        assert go_on.wait(60)
        raise GrammarError("refused", code="grammar-operand")

    def ask() -> CompiledGrammar:
        return compiler._compile(("test", "source"), lower)

    futures: list[Future[CompiledGrammar]] = [compiler._submit(None, ask) for _ in range(3)]
    assert started.wait(60)
    while compiler.counters.joins < 2:
        time.sleep(0.001)
    go_on.set()
    errors = [future.exception() for future in futures]

    assert [str(error) for error in errors] == ["refused"] * 3
    assert len({id(error) for error in errors}) == 3
    assert compiler.counters.failures == 1
    assert compiler._compile(("test", "source"), lambda b: b.literal(b"a")).stats["states"] > 0


def test_equal_models_are_compiled_once(compiler: Compiler) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"const": 1}}}
    document = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    model = StructuralTag.model_validate(document)
    compiled = compiler.compile_structural_tag(model)

    assert compiler.compile_structural_tag(StructuralTag.model_validate(document)) is compiled
    model.format.json_schema["properties"]["a"]["const"] = 2  # type: ignore[index, union-attr]
    changed = compiler.compile_structural_tag(model)
    assert Matcher(changed).accept_string('{"a":2}') and not Matcher(compiled).accept_string(
        '{"a":2}'
    )


def doubled(times: int) -> dict[str, Any]:
    """A small schema whose JSON text would double with each of `times`."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(times):
        schema = {"type": "object", "properties": {"a": schema, "b": schema}}
    return schema


def test_values_that_stand_in_many_places_count_in_each(compiler: Compiler) -> None:
    schema = doubled(50)
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    compile_tag = compiler.compile_structural_tag
    for compile_, source in (
        (compiler.compile_json_schema, schema),
        (compiler.compile_json_schema, {"const": schema}),
        (compile_tag, tag),
        (compile_tag, StructuralTag.model_validate(tag)),
    ):
        with pytest.raises(LimitError) as caught:
            compile_(source)
        assert (caught.value.code, caught.value.setting) == ("limit", "max_source_bytes")
    assert compiler.compile_json_schema(doubled(3))


def test_a_deadline_stops_a_compilation_and_is_not_remembered(compiler: Compiler) -> None:
    with Deadline(0), pytest.raises(DeadlineError) as caught:
        compiler.compile_regex("a|b")
    assert caught.value.code == "deadline"
    assert isinstance(caught.value, TimeoutError)
    assert compiler.compile_regex("a|b") is compiler.compile_regex("a|b")

    with pytest.raises(DeadlineError):
        compiler.compile_json_schema_async(large_schema(), deadline=0.01).result(60)
    assert compiler.compile_json_schema_async(large_schema(), deadline=600).result(60)
    assert compiler.counters.failures in (1, 2)  # the second may have ended before it began
    assert compiler.counters.compiles == 2


def test_who_waits_for_one_that_ran_out_of_time_compiles_it_itself(compiler: Compiler) -> None:
    schema = large_schema()
    hurried = compiler.compile_json_schema_async(schema, deadline=0.02)
    patient = compiler.compile_json_schema_async(schema)

    assert isinstance(hurried.exception(60), DeadlineError)
    assert isinstance(patient.result(60), CompiledGrammar)


def test_waiting_ends_at_the_own_deadline(compiler: Compiler) -> None:
    started, go_on = threading.Event(), threading.Event()

    def lower(builder: GrammarBuilder) -> int:
        started.set()
        assert go_on.wait(60)
        return builder.literal(b"a")

    def ask() -> CompiledGrammar:
        return compiler._compile(("test", "source"), lower)

    patient = compiler._submit(None, ask)
    assert started.wait(60)
    hurried = compiler._submit(0.05, ask)

    assert isinstance(hurried.exception(60), DeadlineError)
    assert not patient.done()
    go_on.set()
    assert patient.result(60).fingerprint


def test_what_is_cancelled_stops_or_never_starts() -> None:
    compiler = Compiler(Vocabulary.byte_level(), threads=1)
    started = threading.Event()

    def lower_for_ever(builder: GrammarBuilder) -> int:
        started.set()
        for number in itertools.count():
            builder.literal(str(number).encode())
        raise AssertionError

    endless = compiler._submit(None, lambda: compiler._compile(None, lower_for_ever))
    assert started.wait(60)
    futures = [compiler.compile_regex_async(f"a{{{n}}}") for n in range(40)]
    assert all(future.cancel() for future in futures)
    last = compiler.compile_regex_async("a")
    assert endless.cancel()

    assert last.result(60).fingerprint
    for future in (endless, *futures):
        with pytest.raises(CancelledError):
            future.result(0)
    assert not last.cancel()
    assert compiler.counters.compiles == 1


def test_masks_keep_to_a_deadline_too() -> None:
    compiler = Compiler(Vocabulary.byte_level())
    matcher = Matcher(compiler.compile_json_schema({"type": "string", "maxLength": 50}))
    bitmask = np.zeros((1, 9), np.int32)
    with Deadline(60) as deadline:
        deadline.stop()
        assert deadline.has_passed
        with Deadline(600), pytest.raises(DeadlineError):
            matcher.fill_next_token_bitmask(bitmask)

    assert matcher.fill_next_token_bitmask(bitmask)
    with Deadline(60) as deadline, pytest.raises(ValueError), deadline:
        pass


def test_counters_count(compiler: Compiler) -> None:
    before = compiler.counters
    matcher = Matcher(compiler.compile_regex("[ab]+"))
    compiler.compile_regex("[ab]+")
    with pytest.raises(SchemaError):
        compiler.compile_json_schema({"type": "nothing"})
    bitmask = np.zeros((1, 9), np.int32)
    for _ in range(3):
        matcher.fill_next_token_bitmask(bitmask)
    after = compiler.counters

    assert before == (0,) * 7
    assert after[:4] == (1, 1, 1, 0)
    assert after.memory_bytes == compiler.memory_bytes > 0
    assert (after.fills, after.slow_fills) == (3, 1)


@pytest.mark.forks
def test_a_forked_process_compiles_on_threads_of_its_own() -> None:
    program = """if True:
        import os, sys, structag
        compiler = structag.Compiler(structag.Vocabulary.byte_level(), threads=2)
        compiler.compile_regex_async("a").result(60)
        child = os.fork()
        grammar = compiler.compile_regex_async("b").result(60)
        sys.exit(0 if not child else os.waitpid(child, 0)[1])
    """

    run = [sys.executable, "-c", program]

    assert subprocess.run(run, cwd=Path(__file__).parent, timeout=120, check=False).returncode == 0


@pytest.mark.parametrize("seconds", [10**400, float("inf")])
def test_a_deadline_may_be_as_far_as_one_likes(seconds: float) -> None:
    assert not Deadline(seconds).has_passed
    assert Deadline(-seconds).has_passed
