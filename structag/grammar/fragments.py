"""What builders take over from others, and what they tell about it."""

from __future__ import annotations

from typing import NamedTuple

from structag._core import Module
from structag.grammar.expressions import Grammar


class Note(NamedTuple):
    """What a front end has to say about its source, and where in the whole source that stands."""

    pointer: str
    content: object


class Parts(NamedTuple):
    """Expressions of fragments: of those that were `met`, so many were `found` in a cache."""

    met: int
    found: int


class Fragment(NamedTuple):
    """A grammar that builders take over: what many sources have in common is made once.

    `module` is what they refer to instead of copying the grammar, if it can be one; `size` counts
    the expressions of the grammar, and of the fragments that it is made of.
    """

    grammar: Grammar
    notes: tuple[Note, ...]
    module: Module | None
    size: int
    owner: object = None

    @property
    def memory_bytes(self) -> int:
        """Bytes of the grammar, of the module, and of what Python adds to them."""
        of_module = 0 if self.module is None else self.module.memory_bytes
        return self.grammar.native.memory_bytes + of_module
