"""Allocating token bitmasks, and setting them back to "everything is allowed".

A new mask allows every token, also in the bits after the last token of the vocabulary; the
matcher clears those when it fills a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from structag.errors import MatcherError

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

_WORD_BITS = 32
_ALL_ALLOWED = -1


@overload
def allocate_token_bitmask(
    batch: int, vocab_size: int, framework: Literal["numpy"] = "numpy"
) -> NDArray[np.int32]: ...


@overload
def allocate_token_bitmask(
    batch: int, vocab_size: int, framework: Literal["torch"]
) -> torch.Tensor: ...


def allocate_token_bitmask(
    batch: int, vocab_size: int, framework: Literal["numpy", "torch"] = "numpy"
) -> NDArray[np.int32] | torch.Tensor:
    """A new mask, ``int32[batch, ceil(vocab_size / 32)]`` on the CPU, that allows every token.

    Use the model's (padded) vocabulary size, so that the mask covers every logit.

    Raises:
        MatcherError: `bitmask-shape` for a negative batch, an empty vocabulary or an unknown
            framework.

    >>> allocate_token_bitmask(2, 33)
    array([[-1, -1],
           [-1, -1]], dtype=int32)
    """
    _check_count("batch", batch, least=0)
    _check_count("vocab_size", vocab_size, least=1)
    shape = (batch, -(-vocab_size // _WORD_BITS))
    if framework == "numpy":
        import numpy as np  # half of the time that importing this package would take

        return np.full(shape, _ALL_ALLOWED, dtype=np.int32)
    if framework == "torch":
        import torch

        return torch.full(shape, _ALL_ALLOWED, dtype=torch.int32)
    raise MatcherError(
        f"the framework is `{framework!r:.60}`", code="bitmask-shape", expected="`numpy` or `torch`"
    )


def reset_token_bitmask(bitmask: NDArray[np.int32] | torch.Tensor) -> None:
    """Allows every token again, in place; takes any NumPy array or torch tensor of ``int32``.

    Raises:
        MatcherError: `bitmask-shape` if `bitmask` is no such array.
    """
    if str(getattr(bitmask, "dtype", None)) not in ("int32", "torch.int32"):
        raise MatcherError(
            f"the bitmask is `{_describe(bitmask)}`",
            code="bitmask-shape",
            expected="an array or tensor of `int32`",
        )
    bitmask[...] = _ALL_ALLOWED


def _check_count(name: str, value: int, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or value < least:
        raise MatcherError(
            f"`{name}` is `{value!r:.60}`", code="bitmask-shape", expected=f"an integer >= {least}"
        )


def _describe(array: Any) -> str:
    return str(getattr(array, "dtype", type(array).__name__))
