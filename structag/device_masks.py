"""Masks that stay on the device: a decode step sends one number per row instead of a whole mask.

Masks repeat: the rows of a batch are often inside a string, or where any text may come.  The core
numbers masks by what they hold (`Matcher.mask_id`); the pool remembers which numbers lie where on
the device, sends only masks that are new, and the kernel gathers each row's mask by its slot.

Memory on the device never moves and shapes never change, so that `DeviceMaskPool.apply` can be
captured in a CUDA graph; `DeviceMaskPool.update` stays outside of it and only queues copies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

import torch

from structag.batch import BatchMatcher
from structag.bitmask.apply_torch import apply_on_cpu, device_module
from structag.bitmask.arguments import LOGIT_TYPES, refuse, type_name
from structag.bitmask.device_arguments import as_matrix, read_token_map
from structag.errors import MatcherError, StructagError
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

# What a mask is known by: its number, or the stop tokens that it consists of.
_Mask: TypeAlias = int | tuple[int, ...]

_NO_SLOT = -1  # a row that no mask applies to
_STAGES = 2  # so many steps may be on their way to the device before the next one waits


class _Stage(NamedTuple):
    """Host memory that the copies of one step read from."""

    masks: torch.Tensor
    slots: torch.Tensor
    sent: Any  # CUDA event: the copies are done; None where they are done at once


class DeviceMaskPool:
    """The masks of one vocabulary on one device; used by one thread at a time.

    Args:
        vocabulary: what all matchers were compiled for.
        rows: most rows of a step.
        device: where the logits are, as torch names it.
        capacity: how many masks are kept (the least recently used go first); at least `rows`.
            A mask of 128 k tokens has 16 KB, so that 4,096 of them take 64 MB.
        kernel: as in `apply_token_bitmask_inplace`.
        threads: as in `BatchMatcher`.

    Attributes:
        steps, masks_sent, bytes_sent: what `update` did so far; bytes from host to device.

    Raises:
        MatcherError: `bitmask-shape` if `capacity` is less than `rows`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        rows: int,
        device: torch.device | str,
        *,
        capacity: int = 4096,
        kernel: Literal["auto", "native", "triton", "compiled"] = "auto",
        threads: int | None = None,
    ) -> None:
        if not 0 < rows <= capacity:
            refuse(f"{rows} rows and room for {capacity} masks", "0 < rows <= capacity")
        self.vocabulary = vocabulary
        self.steps = self.masks_sent = self.bytes_sent = 0
        self._device = torch.device(device)
        words = -(-vocabulary.size // 32)
        self._masks = torch.zeros(capacity, words, dtype=torch.int32, device=self._device)
        self._slots = torch.full((rows,), _NO_SLOT, dtype=torch.int32, device=self._device)
        self._batch = BatchMatcher(threads)
        self._kernel = _find_kernel(self._device.type, kernel)
        self._stages = [self._new_stage() for _ in range(_STAGES)]
        self._slot_of: OrderedDict[_Mask, int] = OrderedDict()  # mask -> slot, oldest use first

    def update(self, matchers: Sequence[Matcher | None]) -> dict[int, StructagError]:
        """Bring the masks of the matchers' states to the device; row *i* is that of matcher *i*.

        A row without a matcher, or beyond the last one, is left as it is by `apply`.  Sends 4 bytes
        for each row of the pool, and each mask that is not there yet.  Copies are queued on the
        current stream; the host waits only for those of the last but one step.

        Returns why the masks of single rows cost too much.  Such a row allows the stop tokens only,
        so that it can be sampled from until the request is ended.

        Raises:
            MatcherError: `bitmask-shape` for too many matchers, `matcher-state` for one of another
                vocabulary, `batch` for one that is there twice.  The rows are those of the step
                before then.
        """
        self._check(matchers)
        stage = self._stages[self.steps % _STAGES]
        if stage.sent is not None:
            stage.sent.synchronize()
        rows = {row: matcher for row, matcher in enumerate(matchers) if matcher is not None}
        wanted, errors = self._masks_of(rows)
        new = self._fill_new(stage, rows, wanted, errors)
        slots = self._place(list(wanted.values()), new)
        self._send_masks(stage, [slots[mask] for mask in new])
        stage.slots.fill_(_NO_SLOT)
        stage.slots[: len(matchers)] = torch.tensor(
            [slots[wanted[row]] if row in wanted else _NO_SLOT for row in range(len(matchers))],
            dtype=torch.int32,
        )
        self._slots.copy_(stage.slots, non_blocking=True)
        if stage.sent is not None:
            stage.sent.record()
        self.steps += 1
        self.bytes_sent += self._slots.nbytes
        return errors

    def apply(self, logits: torch.Tensor, *, token_map: Any | None = None) -> torch.Tensor:
        """Set disallowed logits to minus infinity by the rows of the last `update`; return them.

        `logits` has as many rows as there were matchers, or more; the rest as in
        `apply_token_bitmask_inplace`, whose result is the same to the bit.

        Raises:
            MatcherError: `bitmask-shape`.
        """
        if type_name(logits) not in LOGIT_TYPES:
            refuse(f"the logits are `{type_name(logits)}`", "`float32`, `float16` or `bfloat16`")
        if logits.device.type != self._device.type:
            refuse(f"the logits are on device `{logits.device}`", f"`{self._device}`")
        matrix = as_matrix(logits)
        if matrix.shape[0] > self._slots.shape[0]:
            refuse(f"{matrix.shape[0]} rows of logits", f"at most {self._slots.shape[0]}")
        tokens = read_token_map(token_map, matrix)
        self._kernel(matrix, self._masks, None, tokens, self._slots[: matrix.shape[0]])
        return logits

    def _check(self, matchers: Sequence[Matcher | None]) -> None:
        if len(matchers) > self._slots.shape[0]:
            refuse(f"{len(matchers)} matchers", f"at most {self._slots.shape[0]}")
        for row, matcher in enumerate(matchers):
            if matcher is not None and matcher.grammar.vocabulary is not self.vocabulary:
                raise MatcherError(
                    f"the matcher of row {row} is of another vocabulary",
                    code="matcher-state",
                    expected="the vocabulary of the pool",
                )

    def _masks_of(
        self, rows: dict[int, Matcher]
    ) -> tuple[dict[int, _Mask], dict[int, StructagError]]:
        """The mask that each row wants, and why rows have to do with their stop tokens."""
        numbers = self._batch.mask_ids(list(rows.values()))
        wanted: dict[int, _Mask] = dict(zip(rows, numbers.values, strict=True))
        errors = {row: numbers.errors[i] for i, row in enumerate(rows) if i in numbers.errors}
        wanted.update((row, rows[row].stop_token_ids) for row in errors)
        return wanted, errors

    def _fill_new(
        self,
        stage: _Stage,
        rows: dict[int, Matcher],
        wanted: dict[int, _Mask],
        errors: dict[int, StructagError],
    ) -> list[_Mask]:
        """Writes the masks that are not on the device to the first rows of the stage."""
        while True:
            first: dict[_Mask, int] = {}  # the row that wanted a mask first
            for row, mask in wanted.items():
                if mask not in self._slot_of:
                    first.setdefault(mask, row)
            numbered = {mask: i for i, mask in enumerate(first) if isinstance(mask, int)}
            filled = self._batch.fill_next_token_bitmask(
                [rows[first[mask]] for mask in numbered], stage.masks, list(numbered.values())
            )
            failed = {
                mask: filled.errors[i] for i, mask in enumerate(numbered) if i in filled.errors
            }
            if not failed:
                break
            for row, mask in wanted.items():  # known once, and now too much: forgotten in between
                if mask in failed:
                    errors[row], wanted[row] = failed[mask], rows[row].stop_token_ids
        for i, mask in enumerate(first):
            if isinstance(mask, tuple):
                _allow_only(stage.masks[i], mask)
        return list(first)

    def _place(self, wanted: list[_Mask], new: list[_Mask]) -> dict[_Mask, int]:
        """The slot of every mask of this step; new ones take free slots, then the oldest."""
        for mask in wanted:
            if mask in self._slot_of:
                self._slot_of.move_to_end(mask)
        for mask in new:
            count = len(self._slot_of)
            is_full = count == self._masks.shape[0]
            # Never a mask of this step: there are at most as many as rows, and they are the newest.
            self._slot_of[mask] = self._slot_of.popitem(last=False)[1] if is_full else count
        return {mask: self._slot_of[mask] for mask in wanted}

    def _send_masks(self, stage: _Stage, slots: list[int]) -> None:
        """Copies the first masks of the stage to these slots, adjacent ones at once."""
        start = 0
        for end in range(1, len(slots) + 1):
            if end == len(slots) or slots[end] != slots[end - 1] + 1:
                target = self._masks[slots[start] : slots[start] + end - start]
                target.copy_(stage.masks[start:end], non_blocking=True)
                start = end
        self.masks_sent += len(slots)
        self.bytes_sent += len(slots) * self._masks.shape[1] * self._masks.element_size()

    def _new_stage(self) -> _Stage:
        is_cuda = self._device.type == "cuda"
        masks = torch.zeros(
            self._slots.shape[0], self._masks.shape[1], dtype=torch.int32, pin_memory=is_cuda
        )
        slots = torch.zeros(self._slots.shape[0], dtype=torch.int32, pin_memory=is_cuda)
        sent = torch.cuda.Event() if is_cuda else None  # type: ignore[no-untyped-call]
        return _Stage(masks, slots, sent)


def _allow_only(row: torch.Tensor, tokens: tuple[int, ...]) -> None:
    row.zero_()
    words = row.numpy().view("uint32")
    for token in tokens:
        words[token // 32] |= 1 << token % 32


def _find_kernel(device: str, kernel: str) -> Any:
    if kernel == "native" or (kernel == "auto" and device == "cpu"):
        return _gather_and_apply
    if kernel == "auto":
        return device_module(device).launch
    if kernel not in ("triton", "compiled"):
        refuse(f"the kernel is `{kernel!s:.60}`", "`auto`, `native`, `triton` or `compiled`")
    return import_module(f"structag.bitmask.apply_{kernel}").launch


def _gather_and_apply(
    logits: torch.Tensor,
    masks: torch.Tensor,
    rows: None,
    token_map: torch.Tensor | None,
    slots: torch.Tensor,
) -> None:
    """On the CPU, where nothing has to be sent, the masks are gathered and applied as always."""
    chosen = (slots >= 0).nonzero().flatten()
    apply_on_cpu(logits, masks[slots.clamp(min=0)], chosen, token_map)
