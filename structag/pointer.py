"""JSON Pointers (RFC 6901): a key as a step of one, and back."""

from __future__ import annotations


def escaped(key: str) -> str:
    """The step for a key.

    >>> escaped("a/b~c")
    'a~1b~0c'
    """
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(step: str) -> str:
    """The key that a step means."""
    return step.replace("~1", "/").replace("~0", "~")
