"""Output formats of model families: one JSON file each; docs/model-formats.md has the fields."""

from __future__ import annotations

from importlib.resources import files


def names() -> list[str]:
    """The names of all files, which are those of the families."""
    found = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(".json") for name in found if name.endswith(".json"))


def load_source(name: str) -> str:
    """The text of one file."""
    return (files(__name__) / f"{name}.json").read_text(encoding="utf-8")
