"""Grammar texts as data: the ones our front ends parse with, and ready-made ones to use."""

from __future__ import annotations

from importlib.resources import files


def load_grammar(name: str) -> str:
    """The text of the file `name` in this folder.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return (files(__name__) / name).read_text(encoding="utf-8")
