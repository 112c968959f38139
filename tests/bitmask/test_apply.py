"""Test structag/bitmask/apply.py and the files behind it, against unpacked bits."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logits import expect, random_bits, random_mask

from structag.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from structag.errors import MatcherError

DTYPES = {
    "numpy-float32": np.float32,
    "numpy-float16": np.float16,
    "torch-float32": torch.float32,
    "torch-float16": torch.float16,
    "torch-bfloat16": torch.bfloat16,
}


def make_logits(kind: str, bits: np.ndarray) -> Any:
    """Logits with exactly these bit patterns, NaNs of any payload among them."""
    if kind.startswith("numpy"):
        return bits.view(DTYPES[kind])
    return torch.from_numpy(bits.view(np.int32 if bits.itemsize == 4 else np.int16)).view(
        DTYPES[kind]
    )


def bits_of(kind: str, logits: Any) -> np.ndarray:
    unsigned = np.uint32 if kind.endswith("float32") else np.uint16
    if kind.startswith("numpy"):
        return np.asarray(logits.view(unsigned))
    signed = torch.int32 if unsigned is np.uint32 else torch.int16
    return logits.view(signed).numpy().view(unsigned)


def type_of(kind: str) -> str:
    return kind.partition("-")[2]


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("mask_framework", ["numpy", "torch"])
@settings(deadline=None)
@given(
    vocab=st.integers(1, 700),
    spare_words=st.integers(-2, 2),
    batch=st.integers(0, 4),
    seed=st.integers(0, 2**32),
    data=st.data(),
)
def test_disallowed_logits_become_minus_infinity_and_others_keep_their_bits(
    kind: str,
    mask_framework: str,
    vocab: int,
    spare_words: int,
    batch: int,
    seed: int,
    data: st.DataObject,
) -> None:
    random = np.random.default_rng(seed)
    bits = random_bits(type_of(kind), (batch, vocab), random)
    mask = random_mask((batch, max(0, -(-vocab // 32) + spare_words)), random)
    rows = data.draw(st.none() | st.lists(st.sampled_from(range(max(batch, 1))))) if batch else None
    expected = expect(type_of(kind), bits, mask, list(range(batch)) if rows is None else rows)
    logits = make_logits(kind, bits)
    given_mask: Any = mask if mask_framework == "numpy" else torch.from_numpy(mask)
    apply_token_bitmask_inplace(logits, given_mask, rows)

    assert np.array_equal(bits_of(kind, logits), expected)


@pytest.mark.parametrize("kind", DTYPES)
def test_one_dimension_is_one_row(kind: str) -> None:
    random = np.random.default_rng(3)
    bits = random_bits(type_of(kind), (1, 1000), random)
    mask = random_mask((1, 32), random)
    expected = expect(type_of(kind), bits, mask, [0])
    logits = make_logits(kind, bits)
    apply_token_bitmask_inplace(logits[0], mask[0])

    assert np.array_equal(bits_of(kind, logits), expected)


@pytest.mark.parametrize("kind", DTYPES)
def test_rows_of_a_wider_array_leave_the_rest_untouched(kind: str) -> None:
    random = np.random.default_rng(4)
    bits = random_bits(type_of(kind), (6, 500), random)
    mask = random_mask((3, 9), random)
    expected = bits.copy()
    expected[::2, 100:377] = expect(type_of(kind), bits[::2, 100:377], mask, [0, 1, 2])
    logits = make_logits(kind, bits)
    apply_token_bitmask_inplace(logits[::2, 100:377], mask)

    assert np.array_equal(bits_of(kind, logits), expected)


@pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor, iter])
def test_indices_name_the_same_row_of_logits_and_mask(make: Any) -> None:
    logits = np.zeros((4, 64), np.float32)
    mask = np.zeros((3, 2), np.int32)
    mask[2] = [1, 0]
    apply_token_bitmask_inplace(logits, mask, make([2, 0]))

    assert np.isneginf(logits).sum(axis=1).tolist() == [64, 0, 63, 0]
    assert logits[2, 0] == 0


def test_no_indices_are_no_rows() -> None:
    logits = np.zeros((2, 64), np.float32)
    apply_token_bitmask_inplace(logits, np.zeros((2, 2), np.int32), [])

    assert (logits == 0).all()


def test_one_mask_for_every_row() -> None:
    logits = torch.zeros(3, 33)
    mask = torch.tensor([[2, 0]], dtype=torch.int32).expand(3, 2)
    apply_token_bitmask_inplace(logits, mask)

    assert logits[:, 1].tolist() == [0, 0, 0]
    assert logits.isneginf().sum() == 3 * 32


def test_logits_that_require_a_gradient_are_written() -> None:
    logits = torch.zeros(1, 32, requires_grad=True)
    apply_token_bitmask_inplace(logits, np.array([[1]], np.int32))

    assert logits.isneginf().sum() == 31


def test_subclasses_are_taken() -> None:
    logits = torch.nn.Parameter(torch.zeros(1, 32))
    apply_token_bitmask_inplace(logits, np.array([[1]], np.int32))

    assert logits.isneginf().sum() == 31


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def words(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def read_only() -> np.ndarray:
    array = zeros(1, 32)
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray:
    return np.zeros(33 * 4, np.uint8)[1:129].view(np.float32).reshape(1, 32)


REFUSALS = {
    "logits-type": (
        zeros(1, 32, dtype=np.float64),
        words(1, 1),
        "the logits are `float64`, expected `float32`, `float16` or `bfloat16`",
    ),
    "logits-kind": (
        [0.0],
        words(1, 1),
        "the logits are `list`, expected an array of NumPy, torch, JAX or MLX",
    ),
    "mask-type": (
        zeros(1, 32),
        words(1, 1).view(np.uint32),
        "the bitmask is `uint32`, expected `int32`",
    ),
    "mask-kind": (
        zeros(1, 32),
        [0],
        "the bitmask is `list`, expected a NumPy array or a torch tensor",
    ),
    "logits-dimensions": (
        zeros(1, 1, 32),
        words(1, 1),
        "3 dimensions in the logits, expected 1 or 2",
    ),
    "mask-dimensions": (
        zeros(1, 32),
        words(1, 1, 1),
        "3 dimensions in the bitmask, expected 1 or 2",
    ),
    "batch": (
        zeros(3, 32),
        words(2, 1),
        "the bitmask has 2 rows, expected 3, one for each row of the logits",
    ),
    "batch-1d": (
        zeros(32),
        words(2, 1),
        "the bitmask has 2 rows, expected 1, one for each row of the logits",
    ),
    "logits-layout": (
        zeros(64, 3).T,
        words(3, 2),
        "the last dimension of the logits has stride 3, expected 1 (contiguous rows)",
    ),
    "mask-layout": (
        zeros(2, 64),
        words(2, 4)[:, ::2],
        "the last dimension of the bitmask has stride 2, expected 1 (contiguous rows)",
    ),
    "overlap": (
        torch.zeros(1, 32).expand(2, 32),
        words(2, 1),
        "rows of the logits share memory, expected rows that can be written one by one",
    ),
    "read-only": (
        read_only(),
        words(1, 1),
        "the logits are read-only, expected logits that can be written",
    ),
    "alignment": (
        unaligned(),
        words(1, 1),
        "the memory of the logits is not aligned, expected an address that 4 divides",
    ),
    "sparse": (
        torch.zeros(1, 32).to_sparse(),
        words(1, 1),
        "the logits are of layout `torch.sparse_coo`, expected `torch.strided`",
    ),
}


@pytest.mark.parametrize(("logits", "mask", "message"), REFUSALS.values(), ids=REFUSALS)
def test_arguments_that_do_not_fit_are_refused_with_what_was_expected(
    logits: Any, mask: Any, message: str
) -> None:
    with pytest.raises(MatcherError) as caught:
        apply_token_bitmask_inplace(logits, mask)

    assert str(caught.value) == message
    assert caught.value.code == "bitmask-shape"


def test_the_native_kernel_refuses_other_devices() -> None:
    with pytest.raises(MatcherError, match=r"^the logits are on device `meta`, expected `cpu`$"):
        apply_token_bitmask_inplace(torch.zeros(1, 32, device="meta"), words(1, 1), kernel="native")


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 2], "row index 2 is out of range, expected 0 <= index < 2, the rows of the bitmask"),
        ([0, 3], "row index 3 is out of range, expected 0 <= index < 3, the rows of the logits"),
        ([-1], "row index -1 is out of range, expected 0 <= index < 3, the rows of the logits"),
        ([2**70], f"row index {2**70} is out of range, expected a row of the logits and bitmask"),
        (
            [0, 0.5],
            "the row indices are `[0, 0.5]`, "
            "expected a one-dimensional list, array or tensor of integers",
        ),
        (
            [True, False],
            "the row indices are `[True, False]`, "
            "expected a one-dimensional list, array or tensor of integers",
        ),
        (
            np.array([[0]]),
            "the row indices are `array([[0]])`, "
            "expected a one-dimensional list, array or tensor of integers",
        ),
        (
            0,
            "the row indices are `0`, expected a one-dimensional list, array or tensor of integers",
        ),
    ],
)
def test_wrong_indices_are_refused_before_anything_is_written(indices: Any, message: str) -> None:
    logits = zeros(3, 32)
    with pytest.raises(MatcherError) as caught:
        apply_token_bitmask_inplace(logits, words(2, 1), indices)

    assert str(caught.value) == message
    assert (logits == 0).all()


def test_other_threads_run_meanwhile() -> None:
    """While a large batch is masked, another thread keeps counting."""
    logits = np.zeros((64, 131_072), np.float32)
    mask = np.full((64, 4096), 0x55555555, np.int32)
    rows = list(range(64)) * 20
    count = 0
    done = threading.Event()

    def apply() -> None:
        apply_token_bitmask_inplace(logits, mask, rows)
        done.set()

    thread = threading.Thread(target=apply)
    thread.start()
    while not done.is_set():
        count += 1
        time.sleep(0)
    thread.join()

    assert count > 10


def test_allocated_mask_changes_nothing() -> None:
    logits = np.arange(100, dtype=np.float32)[None]
    apply_token_bitmask_inplace(logits, allocate_token_bitmask(1, 100))

    assert logits[0].tolist() == list(range(100))
