"""Every kernel of every framework writes the same bits, on a table of shapes.

Triton's kernel runs on the GPU if there is one, else in Triton's interpreter on the CPU.  What
torch compiles is run here as it is written.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from support.logits import expect, random_bits, random_mask

from structag.bitmask import apply_token_bitmask_inplace
from structag.errors import MatcherError

TYPES = ("float32", "float16", "bfloat16")
KERNELS = ("numpy", "native", "triton", "compiled", "jax", "mlx")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Case(NamedTuple):
    """A call: shape of the logits, words of the mask, rows, tokens of a smaller vocabulary."""

    batch: int
    vocab: int
    words: int
    rows: list[int] | None = None
    token_map: list[int] | None = None


CASES = {
    "one block": Case(3, 100, 4),
    "several blocks": Case(2, 5000, 157),
    "wider than the mask": Case(2, 4200, 100),
    "narrower than the mask": Case(2, 70, 9),
    "rows": Case(4, 130, 5, rows=[3, 1]),
    "a row twice": Case(2, 64, 2, rows=[1, 1]),
    "no rows": Case(2, 64, 2, rows=[]),
    "mask without words": Case(2, 40, 0),
    "smaller vocabulary": Case(2, 7, 3, token_map=[95, 0, 31, 32, -1, 96, 64]),
    "rows of a smaller vocabulary": Case(3, 3, 2, rows=[2], token_map=[40, 3, 3]),
    "nothing": Case(0, 10, 1),
}


@pytest.fixture
def triton_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="Triton is not installed")
    if DEVICE == "cpu":  # read when the kernel's module is imported, and when it is launched
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    import structag.bitmask.apply_triton  # noqa: F401


@pytest.fixture
def compiled_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from structag.bitmask import apply_compiled

    monkeypatch.setattr(apply_compiled, "_compiled", apply_compiled.mask_rows)


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """A kernel's name, once it can run here."""
    name = request.param
    if name in ("triton", "compiled"):
        request.getfixturevalue(f"{name}_kernel")
    if name in ("jax", "mlx"):
        pytest.importorskip("jax" if name == "jax" else "mlx.core", reason=f"no {name} here")
    yield name


def apply(kernel: str, type_name: str, bits: np.ndarray, mask: np.ndarray, case: Case) -> Any:
    """Masks logits of those bits, and returns the bits after it."""
    signed = np.int32 if type_name == "float32" else np.int16
    if kernel == "numpy":
        if type_name == "bfloat16":
            pytest.skip("NumPy has no bfloat16")
        logits = bits.copy().view(type_name)
        token_map = None if case.token_map is None else np.array(case.token_map)
        result = apply_token_bitmask_inplace(logits, mask, case.rows, token_map=token_map)
        assert result is logits
        return logits.view(bits.dtype)
    if kernel == "jax":
        import jax
        import jax.numpy as jnp

        given = jax.lax.bitcast_convert_type(jnp.asarray(bits), type_name)
        token_map = None if case.token_map is None else jnp.asarray(case.token_map)
        masked = apply_token_bitmask_inplace(
            given, jnp.asarray(mask), case.rows, token_map=token_map
        )
        assert given.is_deleted()
        return np.asarray(jax.lax.bitcast_convert_type(masked, str(bits.dtype)))
    if kernel == "mlx":
        import mlx.core as mx

        array = mx.array(bits).view(getattr(mx, type_name))
        token_map = None if case.token_map is None else mx.array(case.token_map)
        result = apply_token_bitmask_inplace(array, mx.array(mask), case.rows, token_map=token_map)
        assert result is array
        return np.array(array.view(getattr(mx, str(bits.dtype))))
    device = "cpu" if kernel == "native" else DEVICE
    tensor = torch.from_numpy(bits.view(signed).copy()).view(getattr(torch, type_name)).to(device)
    token_map = None if case.token_map is None else torch.tensor(case.token_map, device=device)
    result = apply_token_bitmask_inplace(
        tensor, torch.from_numpy(mask).to(device), case.rows, token_map=token_map, kernel=kernel
    )
    assert result is tensor
    return tensor.cpu().view(getattr(torch, np.dtype(signed).name)).numpy().view(bits.dtype)


@pytest.mark.parametrize("kernel", KERNELS, indirect=True)
@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_kernel_writes_the_bits_of_the_definition(kernel: str, type_name: str, case: Case) -> None:
    random = np.random.default_rng(case.vocab)
    bits = random_bits(type_name, (case.batch, case.vocab), random)
    mask = random_mask((case.batch, case.words), random)
    rows = list(range(case.batch)) if case.rows is None else case.rows
    expected = expect(type_name, bits, mask, rows, case.token_map)

    assert np.array_equal(apply(kernel, type_name, bits, mask, case), expected)


@pytest.mark.parametrize("kernel", ["triton", "compiled"], indirect=True)
def test_rows_with_a_stride(kernel: str) -> None:
    logits = torch.zeros(6, 500, device=DEVICE)
    mask = torch.zeros(3, 9, dtype=torch.int32, device=DEVICE)
    mask[:, 2] = 1
    apply_token_bitmask_inplace(logits[::2, 100:377], mask, kernel=kernel)
    inside = logits[::2, 100:377]

    assert inside.isneginf().sum() == logits.isneginf().sum() == 3 * 276
    assert inside[:, 64].tolist() == [0, 0, 0]


@pytest.mark.parametrize("kernel", ["triton", "compiled"], indirect=True)
def test_one_dimension_is_one_row(kernel: str) -> None:
    logits = torch.zeros(64, device=DEVICE)
    apply_token_bitmask_inplace(
        logits, torch.tensor([1, 0], dtype=torch.int32, device=DEVICE), kernel=kernel
    )

    assert logits.isneginf().tolist() == [False] + [True] * 63


@pytest.mark.parametrize("kernel", ["triton", "compiled", "jax", "mlx"], indirect=True)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [2]}, "row index 2 is out of range, expected 0 <= index < 2, the rows of the"),
        ({"batch": 3}, "the bitmask has 2 rows, expected 3, one for each row of the logits"),
        ({"token_map": [1, 2]}, "the token map has 2 tokens, expected 64, one for each logit"),
    ],
)
def test_what_does_not_fit_is_refused_by_every_kernel(
    kernel: str, change: dict[str, Any], message: str
) -> None:
    case = Case(2, 64, 2)._replace(**change)
    bits = np.zeros((case.batch, case.vocab), np.uint32)
    with pytest.raises(MatcherError) as caught:
        apply(kernel, "float32", bits, np.zeros((2, 2), np.int32), case)

    assert str(caught.value).startswith(message)
    assert caught.value.code == "bitmask-shape"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "cuda"}, "the kernel is `cuda`, expected `auto` or `native` for these logits"),
        ({"token_map": [1]}, "the token map is `list`, expected a NumPy array or a torch tensor"),
        (
            {"token_map": np.zeros(32, np.int16)},
            "the token map is `int16`, expected `int64` or `int32`",
        ),
        (
            {"token_map": np.zeros((32, 1), np.int64)},
            "2 dimensions in the token map, expected 1",
        ),
    ],
)
def test_wrong_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    logits = np.zeros((1, 32), np.float32)
    with pytest.raises(MatcherError) as caught:
        apply_token_bitmask_inplace(logits, np.zeros((1, 1), np.int32), **arguments)

    assert str(caught.value) == message
    assert not logits.any()


def test_other_devices_want_the_bitmask_there() -> None:
    """Nothing is copied to a device in silence."""
    logits = torch.zeros(1, 32, device="meta")
    for mask, message in (
        (np.zeros((1, 1), np.int32), "the bitmask is `ndarray`, expected a torch tensor on `meta`"),
        (
            torch.zeros(1, 1, dtype=torch.int32),
            "the bitmask is on device `cpu`, expected `meta`, as the logits",
        ),
    ):
        with pytest.raises(MatcherError) as caught:
            apply_token_bitmask_inplace(logits, mask)

        assert str(caught.value) == message


def test_jax_masks_inside_a_compiled_function() -> None:
    jax = pytest.importorskip("jax", reason="no jax here")
    masked = jax.jit(apply_token_bitmask_inplace)(
        jax.numpy.zeros((1, 40)), jax.numpy.array([[4, 0]], dtype="int32")
    )

    assert np.flatnonzero(np.asarray(masked)[0] == 0).tolist() == [2]


@pytest.mark.skipif(DEVICE == "cpu", reason="no GPU")
def test_rows_on_the_device_are_not_read_back() -> None:
    logits = torch.zeros(3, 64, device=DEVICE)
    mask = torch.zeros(3, 2, dtype=torch.int32, device=DEVICE)
    apply_token_bitmask_inplace(logits, mask, torch.tensor([1, -1, 7], device=DEVICE))

    assert logits.isneginf().all(dim=1).tolist() == [False, True, False]


def inductor() -> Any:
    """The backend that makes code for the device: on the CPU it needs a compiler, and some time."""
    needs = pytest.mark.skipif(
        DEVICE == "cpu" and shutil.which("g++") is None, reason="no C++ compiler for torch"
    )
    return pytest.param("inductor", marks=[needs, pytest.mark.slow])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["eager", inductor()])
def test_torch_compiles_it_once_for_all_batches(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One graph without breaks, as it is and as compiled code."""
    from structag.bitmask import apply_compiled

    compiled = torch.compile(
        apply_compiled.mask_rows, dynamic=True, fullgraph=True, backend=backend
    )
    monkeypatch.setattr(apply_compiled, "_compiled", compiled)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    for batch in (3, 5, 9):
        bits = random_bits("float32", (batch, 300), np.random.default_rng(batch))
        mask = random_mask((batch, 10), np.random.default_rng(batch))
        logits = torch.from_numpy(bits.copy().view(np.float32)).to(DEVICE)
        apply_token_bitmask_inplace(logits, torch.from_numpy(mask).to(DEVICE), kernel="compiled")

        expected = expect("float32", bits, mask, list(range(batch)))
        assert np.array_equal(logits.cpu().numpy().view(np.uint32), expected)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
