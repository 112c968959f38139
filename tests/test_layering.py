"""The arrows of docs/architecture.md: who may import whom, read from the import statements.

Imports inside functions and under ``TYPE_CHECKING`` count like any other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Folder in the repository -> the package it is installed as.
PACKAGES = {
    "structag": "structag",
    "cli": "structag.cli",
    "grammars": "structag.grammars",
    "builtin_formats": "structag.builtin_formats",
}

# Known to every layer; they know only each other.
FOUNDATION = (
    "structag.errors",
    "structag.limits",
    "structag.pointer",
    "structag.source",
    "structag.cache",
    "structag.terminal",
)

# Package -> what its modules may import of ours, besides themselves.
MAY_IMPORT = {
    "structag.grammar": (*FOUNDATION, "structag._core"),
    # The character sets and the search for members belong to the regular expressions.
    "structag.schema": (
        *FOUNDATION,
        "structag._core",
        "structag.grammar",
        "structag.text.regex",
        "structag.text.charset",
        "structag.text.few_texts",
        "structag.text.membership",
    ),
    "structag.text": (*FOUNDATION, "structag.grammar", "structag.grammars"),
    "structag.tags": (*FOUNDATION, "structag.grammar", "structag.schema", "structag.text"),
    "structag.providers": (*FOUNDATION, "structag.schema.keywords"),
    "structag.loaders": (*FOUNDATION, "structag.vocabulary"),
    "structag.bitmask": ("structag.errors", "structag._core"),
    "structag.families": (*FOUNDATION, "structag.tags.model"),
    "structag.builtin_formats": (),
    "structag.grammars": (),
}

# Nouns hold data; the verbs that work on them are not theirs to know.
NOUNS = {
    "structag.cache": (),
    "structag.errors": (),
    "structag.terminal": (),
    "structag.limits": ("structag.errors",),
    "structag.pointer": (),
    "structag.source": (
        "structag._core",
        "structag.cache",
        "structag.errors",
        "structag.limits",
        "structag.pointer",
        "structag.terminal",
    ),
    "structag.grammar.expressions": (*FOUNDATION, "structag._core"),
    "structag.tags.model": FOUNDATION,
    "structag.families.template": (),
    "structag.families.family": (
        *FOUNDATION,
        "structag.families.template",
        "structag.tags.model",
    ),
    "structag.vocabulary": (*FOUNDATION, "structag.loaders", "structag._core"),
}

CORE_USERS = (
    "source",
    "vocabulary",
    "compiled",
    "compiler",
    "deadline",
    "matcher",
    "batch",
    "bitmask",
    "grammar",
    "schema",
)


def module_name(path: Path) -> str:
    folder, *rest = path.relative_to(ROOT).with_suffix("").parts
    parts = [PACKAGES[folder], *rest]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for folder in PACKAGES for path in (ROOT / folder).rglob("*.py")}


def imported(path: Path) -> Iterator[str]:
    """Our modules that a file imports; ``from package import module`` names the module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if is_module(name) else node.module for name in inside]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == "structag")


def is_module(name: str) -> bool:
    return name in MODULES or name == "structag._core"


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def is_allowed(name: str, allowed: tuple[str, ...]) -> bool:
    """Like `is_within`; a family of modules counts as one: text.regex, text.regex_syntax, …"""
    return is_within(name, allowed) or any(name.startswith(f"{package}_") for package in allowed)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_package_imports_only_what_lies_below_it(package: str) -> None:
    wrong = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        if is_within(module, (package,))
        for name in imported(path)
        if not is_within(name, (package,)) and not is_allowed(name, MAY_IMPORT[package])
    ]

    assert wrong == []


@pytest.mark.parametrize("noun", NOUNS)
def test_noun_imports_no_verb(noun: str) -> None:
    wrong = [name for name in imported(MODULES[noun]) if not is_allowed(name, NOUNS[noun])]

    assert wrong == []


def test_core_is_imported_by_its_faces_only() -> None:
    faces = tuple(f"structag.{name}" for name in CORE_USERS)
    wrong = [
        module
        for module, path in MODULES.items()
        if not is_within(module, faces)
        and any(is_within(name, ("structag._core",)) for name in imported(path))
    ]

    assert wrong == []


def test_builtin_formats_are_read_by_openai_only() -> None:
    package = ("structag.builtin_formats",)
    readers = {
        module
        for module, path in MODULES.items()
        if not is_within(module, package) and any(is_within(n, package) for n in imported(path))
    }

    assert readers <= {"structag.openai"}


def test_command_line_knows_the_public_face_only() -> None:
    """The package itself and the modules directly in it; none of its folders, nothing private."""
    wrong = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        if is_within(module, ("structag.cli",))
        for name in imported(path)
        if not is_within(name, ("structag.cli",)) and not is_face(name)
    ]

    assert wrong == []


def is_face(name: str) -> bool:
    parts = name.split(".")[1:]
    is_folder = name in MODULES and MODULES[name].name == "__init__.py"
    return not parts or (len(parts) == 1 and not parts[0].startswith("_") and not is_folder)


def test_nothing_imports_the_command_line() -> None:
    package = ("structag.cli",)
    users = {
        module
        for module, path in MODULES.items()
        if not is_within(module, package) and any(is_within(n, package) for n in imported(path))
    }

    assert users <= {"structag.__main__"}


def test_imports_are_absolute() -> None:
    relative = [
        module
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]

    assert relative == []


# Folders of the core, in the order in which they build on each other.
CORE = (
    "storage",
    "metering",
    "text",
    "expressions",
    "grammar",
    "vocabulary",
    "matching",
    "apply",
    "bindings",
)
CORE_FILES = sorted(ROOT.glob("core/*/*.[ch]*"))


def test_core_folders_include_only_those_below() -> None:
    wrong = []
    for path in CORE_FILES:
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            folder = name.split("/")[0]
            if CORE.index(folder) > CORE.index(path.parent.name):
                wrong.append((path.name, name))

    assert len(CORE_FILES) > 50
    assert wrong == []


def test_core_but_its_bindings_builds_without_python() -> None:
    wrong = [
        path.name
        for path in CORE_FILES
        if path.parent.name != "bindings"
        and re.search(r"nanobind|Python\.h", path.read_text(encoding="utf-8"))
    ]

    assert wrong == []
