"""Test structag/bitmask/allocate.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from structag.bitmask import allocate_token_bitmask, reset_token_bitmask
from structag.errors import MatcherError


@pytest.mark.parametrize(
    ("vocab_size", "words"), [(1, 1), (31, 1), (32, 1), (33, 2), (64, 2), (129_280, 4040)]
)
@pytest.mark.parametrize("batch", [0, 1, 5])
def test_numpy_mask_has_one_bit_for_each_token(batch: int, vocab_size: int, words: int) -> None:
    mask = allocate_token_bitmask(batch, vocab_size)

    assert mask.dtype == np.int32
    assert mask.shape == (batch, words)
    assert (mask == -1).all()


def test_torch_mask_equals_numpy_mask() -> None:
    mask = allocate_token_bitmask(3, 100, framework="torch")

    assert mask.dtype == torch.int32
    assert mask.device.type == "cpu"
    assert (mask.numpy() == allocate_token_bitmask(3, 100)).all()


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_reset_allows_everything_again(framework: Any) -> None:
    mask = allocate_token_bitmask(2, 100, framework=framework)
    mask[:] = 0
    mask[1, 2] = 12345
    reset_token_bitmask(mask)

    assert (mask == -1).all()


def test_reset_of_one_row_leaves_the_others() -> None:
    mask = allocate_token_bitmask(2, 40)
    mask[:] = 0
    reset_token_bitmask(mask[1])

    assert mask.tolist() == [[0, 0], [-1, -1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 32), "`batch` is `-1`, expected an integer >= 0"),
        ((1, 0), "`vocab_size` is `0`, expected an integer >= 1"),
        ((1, 3.5), "`vocab_size` is `3.5`, expected an integer >= 1"),
        ((True, 32), "`batch` is `True`, expected an integer >= 0"),
        ((1, 32, "jax"), "the framework is `'jax'`, expected `numpy` or `torch`"),
    ],
)
def test_wrong_sizes_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(MatcherError) as caught:
        allocate_token_bitmask(*arguments)

    assert str(caught.value) == message
    assert caught.value.code == "bitmask-shape"


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (
            np.zeros((1, 2), np.int64),
            "the bitmask is `int64`, expected an array or tensor of `int32`",
        ),
        ([0, 0], "the bitmask is `list`, expected an array or tensor of `int32`"),
    ],
)
def test_reset_of_anything_else_is_refused(mask: Any, message: str) -> None:
    with pytest.raises(MatcherError) as caught:
        reset_token_bitmask(mask)

    assert str(caught.value) == message
