"""What is shown while something takes long: on standard error, on a terminal, after a second."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.status import Status

PATIENCE = 1.0
"""Seconds before anything is shown."""

_Item = TypeVar("_Item")


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner with `what` beside it, while the block takes long."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    status = Status(f"{what} …", console=console)
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def track(items: Iterable[_Item], what: str, total: int | None = None) -> Iterator[_Item]:
    """`items`, with a bar that says how many are done, if they take long."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task(what, total=total if total is not None else _count(items))
    timer = threading.Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        for item in items:
            yield item
            progress.advance(task)
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


def _count(items: Iterable[object]) -> int | None:
    return len(items) if isinstance(items, (list, tuple, range)) else None
