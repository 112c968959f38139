"""Time limits for what a thread does; the limits of `structag.Limits` are counts, and come first.

A deadline depends on the machine.  So nothing that ran into one is kept: the same call made again
with more time does what it would have done.
"""

from __future__ import annotations

import math
import threading
from types import TracebackType
from typing import Generic, TypeVar

from structag._core import Deadline as NativeDeadline
from structag._core import check_deadline

_LONGEST = 10**12
"""Seconds: longer than any process lives, and a number that a float can hold."""


class Deadline:
    """Bounds compiling and masks on the thread that enters it, within half a millisecond or so.

    Running out raises `DeadlineError` and leaves everything as it was.  Deadlines can be nested;
    one is entered by one thread at a time.

    Args:
        seconds: from now on; None is only for `stop`.

    >>> from structag import Compiler, Vocabulary
    >>> with Deadline(60):
    ...     grammar = Compiler(Vocabulary.byte_level()).compile_regex("a|b")
    """

    __slots__ = ("_native",)

    def __init__(self, seconds: float | None = None) -> None:
        if isinstance(seconds, int):
            seconds = float(max(-_LONGEST, min(seconds, _LONGEST)))
        if seconds is not None and math.isnan(seconds):
            raise ValueError("seconds=nan, expected a time from now on, or None")
        self._native = NativeDeadline(seconds)

    @property
    def has_passed(self) -> bool:
        """Whether its time is over, or it was stopped."""
        return self._native.has_passed

    def stop(self) -> None:
        """Let it pass now; from any thread."""
        self._native.stop()

    @staticmethod
    def check() -> None:
        """Raise `DeadlineError` if a deadline that this thread is in has passed."""
        check_deadline()

    def __enter__(self) -> Deadline:
        if not self._native.enter():
            raise ValueError("a thread is in this deadline already")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._native.exit()


Value = TypeVar("Value")


class UnderWay(Generic[Value]):
    """What one thread makes and others may wait for; much cheaper than a `Future`."""

    __slots__ = ("_error", "_is_under_way", "_value")

    def __init__(self) -> None:
        self._value: Value | None = None
        self._error: BaseException | None = None
        self._is_under_way = threading.Lock()
        self._is_under_way.acquire()

    def finish(self, value: Value | None, error: BaseException | None) -> None:
        """Gives one of the two to those who wait; called once."""
        self._value, self._error = value, error
        self._is_under_way.release()

    def wait(self) -> tuple[Value | None, BaseException | None]:
        """What another thread made, or the error it ran into; within this thread's deadline."""
        while not self._is_under_way.acquire(timeout=0.02):
            Deadline.check()
        self._is_under_way.release()  # for the next one who waits
        return self._value, self._error
