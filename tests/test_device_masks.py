"""Test structag/device_masks.py: the same bits as plain masks, for few bytes.

On the GPU if there is one; else the pool lies in main memory, and Triton's kernel is interpreted.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from support.logits import random_bits  # noqa: E402

import structag  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [bytes([byte]) for byte in range(256)] + [b"true", b"ab", b"00"],
    special={259: "<stop>"},
    stop_token_ids=259,
)
COMPILER = structag.Compiler(VOCABULARY)
GRAMMARS = [
    COMPILER.compile_json_schema({"type": "array", "items": {"type": ["integer", "boolean"]}}),
    COMPILER.compile_regex("[ab]{2,9}|0*"),
    COMPILER.compile_structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "tag",
                "begin": "<a>",
                "content": {"type": "any_text", "max_tokens": 6},
                "end": "</a>",
            },
        }
    ),
]
WORDS = 9
WIDTH = 280


@pytest.fixture(params=["auto", "triton", "compiled"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "triton":
        pytest.importorskip("triton", reason="Triton is not installed")
        if DEVICE == "cpu":  # read when the kernel's module is imported, and when it is launched
            monkeypatch.setenv("TRITON_INTERPRET", "1")
        import structag.bitmask.apply_triton  # noqa: F401
    if request.param == "compiled":
        from structag.bitmask import apply_compiled

        monkeypatch.setattr(apply_compiled, "_compiled", apply_compiled.mask_rows)
    return str(request.param)


def new_pool(rows: int, capacity: int, kernel: str = "auto") -> structag.DeviceMaskPool:
    return structag.DeviceMaskPool(VOCABULARY, rows, DEVICE, capacity=capacity, kernel=kernel)


def random_logits(rows: int, seed: int) -> Any:
    bits = random_bits("bfloat16", (rows, WIDTH), np.random.default_rng(seed))
    return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).to(DEVICE)


def bits(logits: Any) -> Any:
    return logits.view(torch.int16).tolist()


def plainly_masked(logits: Any, matchers: list[Any], token_map: Any = None) -> Any:
    """What whole masks make of the logits."""
    mask = structag.allocate_token_bitmask(len(matchers), VOCABULARY.size, "torch")
    rows = [row for row, matcher in enumerate(matchers) if matcher is not None]
    for row in rows:
        matchers[row].fill_next_token_bitmask(mask, row)
    return structag.apply_token_bitmask_inplace(
        logits.clone(), mask.to(DEVICE), rows, token_map=token_map
    )


@settings(max_examples=max(10, settings().max_examples // 10))  # several steps each
@given(st.data())
def test_rows_are_masked_as_by_whole_masks(data: st.DataObject) -> None:
    """Matchers of several grammars move at random through a pool that is nearly too small."""
    count = data.draw(st.integers(1, 4))
    pool = new_pool(4, data.draw(st.integers(4, 6)))
    matchers: list[Any] = [
        structag.Matcher(data.draw(st.sampled_from(GRAMMARS))) for _ in range(count)
    ]
    for step in range(data.draw(st.integers(1, 6))):
        shown = [None if data.draw(st.integers(0, 4)) == 0 else matcher for matcher in matchers]
        logits = random_logits(count, step)
        expected = plainly_masked(logits, shown)
        pool.update(shown)

        assert bits(pool.apply(logits)) == bits(expected)
        for matcher in matchers:
            matcher.accept_token(data.draw(st.sampled_from([*b"[]<a>,0b/", 256, 257, 258, 259])))


def test_every_kernel_gathers_the_same(kernel: str) -> None:
    pool = new_pool(5, 5, kernel)
    matchers: list[Any] = [structag.Matcher(grammar) for grammar in GRAMMARS] + [None]
    token_map = torch.arange(WIDTH - 1, -1, -1, device=DEVICE)
    for token in (ord("["), ord("a"), ord("<"), 256):
        pool.update(matchers)
        for mapped in (None, token_map):
            logits = random_logits(4, token)
            expected = plainly_masked(logits, matchers, mapped)

            assert bits(pool.apply(logits, token_map=mapped)) == bits(expected)
        for matcher in matchers[:3]:
            matcher.accept_token(token)


def test_a_step_of_256_rows_sends_a_kilobyte_and_what_is_new() -> None:
    pool = new_pool(256, 512)
    matchers = [structag.Matcher(GRAMMARS[row % 2]) for row in range(256)]
    sent = []
    for text in (b"", b"", b"[", b"1", b"2", b"]"):
        for matcher in matchers:
            matcher.accept_bytes(text)
        bytes_before, masks_before = pool.bytes_sent, pool.masks_sent
        pool.update(matchers)
        sent.append((pool.bytes_sent - bytes_before, pool.masks_sent - masks_before))

        assert bits(pool.apply(logits := random_logits(256, 1))) == bits(
            plainly_masked(random_logits(256, 1), matchers)
        )
        assert logits.shape == (256, WIDTH)
    assert all(size == 1024 + masks * WORDS * 4 for size, masks in sent)
    assert [masks for _, masks in sent] == [2, 0, 1, 1, 0, 1]


def test_what_is_used_stays_and_what_was_used_first_goes() -> None:
    pool = new_pool(1, 2)
    first, second, third = (structag.Matcher(grammar) for grammar in GRAMMARS)
    for matcher, is_new in (
        (first, 1),
        (second, 1),
        (first, 0),
        (third, 1),
        (first, 0),
        (second, 1),
    ):
        before = pool.masks_sent
        pool.update([matcher])

        assert pool.masks_sent - before == is_new


def test_a_row_that_costs_too_much_fails_alone() -> None:
    """The first mask of a hostile matcher takes more work than its limits allow."""
    pairs = [bytes([a, b]) for a in range(97, 123) for b in range(97, 123)]
    vocabulary = structag.Vocabulary.from_token_bytes(
        pairs, special={676: "<end>"}, stop_token_ids=676
    )

    def matcher(**limits: int) -> Any:
        compiler = structag.Compiler(vocabulary, limits=structag.Limits(**limits))
        return structag.Matcher(compiler.compile_regex("[a-y]{0,90}"))

    pool = structag.DeviceMaskPool(vocabulary, 4, DEVICE, capacity=4)
    good, bad, worse = matcher(), matcher(max_work=200), matcher(max_work=200)
    for _ in range(2):
        errors = pool.update([bad, good, None, worse])
        allowed = pool.apply(torch.zeros(4, 677, device=DEVICE)).isfinite()

        assert [(row, error.code) for row, error in errors.items()] == [(0, "limit"), (3, "limit")]
        assert allowed.sum(1).tolist() == [1, 25 * 25 + 1, 677, 1]
        assert allowed[:, 676].all()
        assert pool.masks_sent == 2  # that of the good one, and one of stop tokens
    assert pool.update([None, good]) == {}
    assert pool.apply(torch.zeros(2, 677, device=DEVICE)).isfinite().sum(1).tolist() == [677, 626]


def test_a_mask_that_is_known_but_cannot_be_filled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two calls a grammar may have started a new generation, and forgotten it."""
    pool = new_pool(3, 3)
    good, bad = (structag.Matcher(grammar) for grammar in GRAMMARS[:2])
    fill = structag.BatchMatcher.fill_next_token_bitmask

    def forget(self: Any, matchers: Any, bitmask: Any, indices: Any) -> Any:
        found = fill(self, matchers, bitmask, indices)
        error = structag.LimitError("a mask", limit="work", value=2, setting="max_work")
        return found._replace(errors={i: error for i, m in enumerate(matchers) if m is bad})

    with monkeypatch.context() as patch:
        patch.setattr(structag.BatchMatcher, "fill_next_token_bitmask", forget)
        assert list(pool.update([bad, good])) == [0]
    masked = pool.apply(random_logits(2, 5))

    assert (masked[0] != -torch.inf).nonzero().flatten().tolist() == [259]
    assert bits(masked)[1] == bits(plainly_masked(random_logits(2, 5), [None, good]))[1]
    assert pool.update([bad, good]) == {}


OTHER = structag.Compiler(structag.Vocabulary.byte_level()).compile_regex("a")

REFUSALS = {
    "room": (lambda: new_pool(3, 2), "3 rows and room for 2 masks, expected 0 < rows <= capacity"),
    "kernel": (
        lambda: new_pool(1, 1, "cuda"),
        "the kernel is `cuda`, expected `auto`, `native`, `triton` or `compiled`",
    ),
    "matchers": (lambda: new_pool(1, 1).update([None, None]), "2 matchers, expected at most 1"),
    "vocabulary": (
        lambda: new_pool(1, 1).update([structag.Matcher(OTHER)]),
        "the matcher of row 0 is of another vocabulary, expected the vocabulary of the pool",
    ),
    "twice": (
        lambda: new_pool(2, 2).update([structag.Matcher(GRAMMARS[0])] * 2),
        "a matcher is there twice, expected every matcher once, with a row and a number of its own",
    ),
    "rows": (
        lambda: new_pool(1, 1).apply(torch.zeros(2, 9, device=DEVICE)),
        "2 rows of logits, expected at most 1",
    ),
    "type": (
        lambda: new_pool(1, 1).apply(torch.zeros(1, 9, dtype=torch.int32, device=DEVICE)),
        "the logits are `int32`, expected `float32`, `float16` or `bfloat16`",
    ),
    "device": (
        lambda: new_pool(1, 1).apply(torch.zeros(1, 9, device="meta")),
        f"the logits are on device `meta`, expected `{DEVICE}`",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSALS.values(), ids=REFUSALS)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(structag.MatcherError) as caught:
        call()

    assert str(caught.value) == message


@pytest.mark.skipif(DEVICE == "cpu", reason="no GPU")
def test_applying_is_captured_in_a_cuda_graph() -> None:
    pool = new_pool(4, 8)
    logits = torch.zeros(4, WIDTH, dtype=torch.bfloat16, device=DEVICE)
    pool.apply(logits)  # compiles the kernel
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pool.apply(logits)
    matchers = [structag.Matcher(grammar) for grammar in GRAMMARS]
    for token in (ord("["), ord("a"), ord("<")):
        given = random_logits(4, token)
        logits.copy_(given)
        pool.update(matchers)
        graph.replay()

        assert bits(logits) == bits(plainly_masked(given, [*matchers, None]))
        for matcher in matchers:
            matcher.accept_token(token)


@pytest.mark.timing
@pytest.mark.skipif(DEVICE == "cpu", reason="no GPU")
def test_a_step_takes_less_than_copying_whole_masks() -> None:
    """256 rows of 128 k tokens; with xgrammar installed, its kernel on whole masks as well."""
    size = 1 << 17
    spelled = [bytes([byte]) for byte in range(256)] + [b"%06d" % i for i in range(size - 257)]
    vocabulary = structag.Vocabulary.from_token_bytes(
        spelled, special={size - 1: "<stop>"}, stop_token_ids=size - 1
    )
    grammar = structag.Compiler(vocabulary).compile_regex("[0-9a-z]{0,90}")
    matchers = [structag.Matcher(grammar) for _ in range(256)]
    batch = structag.BatchMatcher()
    pool = structag.DeviceMaskPool(vocabulary, 256, DEVICE)
    mask = structag.allocate_token_bitmask(256, size, "torch").pin_memory()
    logits = torch.zeros(256, size, dtype=torch.bfloat16, device=DEVICE)

    def by_number() -> None:
        pool.update(matchers)
        pool.apply(logits)

    def whole() -> None:
        batch.fill_next_token_bitmask(matchers, mask)
        structag.apply_token_bitmask_inplace(logits, mask.to(DEVICE, non_blocking=True))

    assert seconds(by_number) < seconds(whole)
    try:
        import xgrammar
    except ImportError:
        return

    def peer() -> None:
        on_device = mask.to(DEVICE, non_blocking=True)
        xgrammar.apply_token_bitmask_inplace(logits, on_device, backend="triton")

    assert seconds(by_number) < seconds(peer)


def seconds(step: Any) -> float:
    """The fastest of many runs, from call to the device's being done."""
    times = []
    for _ in range(30):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)
