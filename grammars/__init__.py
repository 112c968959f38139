"""Grammar texts as data: the ones our front ends parse with, and ready-made ones to use.

compiler.compile_ebnf(load_grammar("json.ebnf"))
"""

from __future__ import annotations

from importlib.resources import files


def load_grammar(name: str) -> str:
    """The text of the file `name` in this folder.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return (files(__name__) / name).read_text(encoding="utf-8")


def ready_made_grammars() -> tuple[str, ...]:
    """The files with grammars to use, by name; their first comment says what each is.

    >>> "json.ebnf" in ready_made_grammars()
    True
    """
    names = [file.name for file in files(__name__).iterdir()]
    return tuple(sorted(name for name in names if name.endswith(".ebnf")))
