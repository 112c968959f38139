"""What a property makes of a grammar that is too hard: no example, and it is counted.

Some examples take the slow reference matcher too long.
Some tiny grammars ask questions that the engine answers with a `LimitError` (the liveness of a
complement over a million counts, say); refusing is right there, guessing would not be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, reject
from support.engine import LIMITS
from support.reference_matcher import TooHardError

from structag.errors import LimitError


def without_undecided(test: Callable[..., None]) -> Callable[..., None]:
    """`test`, in which running into the limit on work means that this is no example."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            test(*args, **kwargs)
        except LimitError as error:
            # Faults that a test injects carry the value 0, and are that test's own business.
            if error.setting != "max_work" or error.value != LIMITS.max_work:
                raise
            event("over the limit on work")
            reject()
        except TooHardError:
            event("too hard for the reference")
            reject()

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is not None and item.path.parent.name == "properties":
            handle.inner_test = without_undecided(handle.inner_test)
