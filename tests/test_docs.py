"""The documents tell the truth: their formats, outputs and programs are run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

structag = pytest.importorskip("structag")

from structag.tags.model import FORMATS  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


class Shown(NamedTuple):
    """A format in a document, with the outputs shown under it."""

    format: Any
    outputs: list[tuple[str, str, str]]


SPECIAL = dict(enumerate(("<|stop|>", "<|call|>", "<|end|>", "<|image|>"), 256))
USER_DEFINED = {260: "</g>"}


def blocks(name: str) -> list[tuple[str, str]]:
    return FENCE.findall((ROOT / name).read_text(encoding="utf-8"))


def shown_formats() -> list[Shown]:
    found: list[Shown] = []
    texts = [*blocks("docs/structural-tag.md"), *blocks("docs/argument-styles.md")]
    for language, body in texts:
        if language == "json":
            found.append(Shown(json.loads(body), []))
        elif language in ("text", "tokens"):
            lines = [line.partition(" ")[::2] for line in body.splitlines()]
            for word, text in lines:
                found[-1].outputs.append((language, word, text.replace("\\n", "\n")))
    return found


class ShownGrammar(NamedTuple):
    """A grammar text in a document, with the outputs shown under it."""

    syntax: str
    text: str
    outputs: list[tuple[str, str]]


def shown_grammars() -> list[ShownGrammar]:
    found: list[ShownGrammar] = []
    for language, body in blocks("docs/grammars.md"):
        if language in ("ebnf", "gbnf", "lark", "regex"):
            found.append(ShownGrammar(language, body.rstrip("\n"), []))
        elif language == "text" and body.startswith(("accept", "reject")):
            lines = [line.partition(" ")[::2] for line in body.splitlines()]
            found[-1].outputs.extend((word, text.replace("\\n", "\n")) for word, text in lines)
    return found


@pytest.mark.parametrize("shown", shown_grammars(), ids=lambda shown: shown.text[:40])
def test_outputs_in_the_grammar_reference(shown: ShownGrammar) -> None:
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    grammar = getattr(compiler, f"compile_{shown.syntax}")(shown.text)
    assert {word for word, _ in shown.outputs} == {"accept", "reject"}
    for word, text in shown.outputs:
        matcher = structag.Matcher(grammar)
        accepted = matcher.accept_string(text) and matcher.is_completed()

        assert accepted == (word == "accept"), text


def document(format: Any) -> Any:
    is_format = format["type"] in FORMATS and "schema" not in format.get("json_schema", {})
    return {"type": "structural_tag", "format": format} if is_format else format


@cache
def compiler(language: str) -> Any:
    if language == "text":
        return structag.Compiler(structag.Vocabulary.byte_level())
    vocabulary = structag.Vocabulary.from_token_bytes(
        [bytes([byte]) for byte in range(256)],
        special=SPECIAL,
        user_defined=USER_DEFINED,
        stop_token_ids=256,
    )
    return structag.Compiler(vocabulary)


def tokenize(text: str) -> Iterator[int]:
    """The added tokens of the examples, and single bytes for everything else."""
    ids = {content: token for token, content in {**SPECIAL, **USER_DEFINED}.items()}
    for piece in re.split("(" + "|".join(map(re.escape, ids)) + ")", text):
        yield from [ids[piece]] if piece in ids else piece.encode()


def accepts(language: str, format: Any, text: str) -> bool:
    matcher = structag.Matcher(compiler(language).compile_structural_tag(document(format)))
    if language == "text":
        return matcher.accept_string(text) and matcher.is_completed()
    return all(map(matcher.accept_token, tokenize(text))) and matcher.is_completed()


@pytest.mark.parametrize("shown", shown_formats(), ids=lambda shown: shown.format["type"])
def test_outputs_in_the_language_reference(shown: Shown) -> None:
    assert {word for _, word, _ in shown.outputs} <= {"accept", "reject"}
    for language, word, text in shown.outputs:
        assert accepts(language, shown.format, text) == (word == "accept"), text


def test_every_example_is_shown_accepting_and_rejecting() -> None:
    shown = [s for s in shown_formats() if s.format["type"] != "structural_tag"]

    assert [s.format for s in shown if len({word for _, word, _ in s.outputs}) < 2] == []


def test_the_language_reference_has_every_format() -> None:
    text = (ROOT / "docs/structural-tag.md").read_text(encoding="utf-8")
    headings = {word for line in re.findall(r"^### (.*)$", text, re.M) for word in line.split(", ")}

    assert headings == set(FORMATS)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/architecture.md",
        "docs/grammars.md",
        "docs/json-schema.md",
        "docs/model-formats.md",
        "docs/serving.md",
        "docs/structural-tag.md",
    ],
)
def test_python_in_documents_runs(name: str, tmp_path: Path) -> None:
    for language, body in blocks(name):
        if language == "python":
            run_python(body, tmp_path)


def run_python(program: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def commands() -> list[tuple[str, str]]:
    """Every command in docs/cli.md with the output shown under it."""
    shown = [body for language, body in blocks("docs/cli.md") if language == "console"]
    return [(line[2:], output) for line, _, output in (body.partition("\n") for body in shown)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the documents' commands find what they name and leave what they write."""
    from structag.cli.main import main

    folder = tmp_path_factory.mktemp("desk")
    for name in ("examples", "grammars"):
        (folder / name).symlink_to(ROOT / name)
    for command, _ in commands():
        arguments = shlex.split(command)[1:]
        if arguments[0] == "compile":
            assert main([*arguments[:-1], str(folder / arguments[-1])]) == 0
    return folder


def test_every_command_has_an_example() -> None:
    """And a section."""
    from structag.cli.main import COMMANDS

    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    shown = {command.split()[1] for command, _ in commands()}
    headings = re.findall(r"^## ([a-z, ]+)$", text, re.M)
    described = {name for heading in headings for name in heading.split(", ")}
    assert COMMANDS.keys() - shown == set()
    assert COMMANDS.keys() - described == set()


@pytest.mark.parametrize(("command", "shown"), commands(), ids=[c for c, _ in commands()])
def test_commands_print_what_is_shown(
    command: str,
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    desk: Path,
) -> None:
    from structag.cli.main import main

    monkeypatch.chdir(desk)
    program, *arguments = shlex.split(command)
    assert program == "structag"
    assert main(arguments) in (0, 1, 2)
    out, err = capsys.readouterr()
    is_current = arguments[0] in MEASURED and without_numbers(out + err) == without_numbers(shown)
    if os.environ.get("STRUCTAG_UPDATE_DOCS") and not is_current:
        path = ROOT / "docs/cli.md"
        text = path.read_text(encoding="utf-8")
        block = f"```console\n$ {command}\n"
        path.write_text(text.replace(block + shown, block + out + err), encoding="utf-8")
        return

    assert is_current or out + err == shown


MEASURED = ("bench", "compile", "demo", "stats")
"""Commands whose numbers are about the machine and the version."""


def without_numbers(text: str) -> str:
    """`text` with every number as 0, and no bars; a fingerprint stays."""
    return re.sub(r" *(?<!\w)\d[\d,.]*(?!\w)", " 0", re.sub(" +█+", "", text))


STEP = re.compile(r"(?:Save this as `(.*?)`:\n\n)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_tutorial_can_be_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from structag.cli.main import main

    path = ROOT / "docs/tutorial.md"
    text = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    codes = []
    for name, language, body in STEP.findall(text):
        if name:
            (tmp_path / name).write_text(body, encoding="utf-8")
        elif language == "python":
            run_python(body, tmp_path)
        elif language == "console":
            command, _, shown = body.partition("\n")
            codes.append(main(shlex.split(command)[2:]))
            got = "".join(capsys.readouterr())
            if os.environ.get("STRUCTAG_UPDATE_DOCS"):
                text = text.replace(body, f"{command}\n{got}")
                path.write_text(text, encoding="utf-8")
            else:
                assert got == shown

    assert {0, 1, 2} == set(codes)


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    broken = [link for link in LINK.findall(text) if not (path.parent / link).exists()]

    assert broken == []


def test_the_recipe_of_a_family() -> None:
    from support.family_cases import sample_tag, takes_text

    from structag.families.family import read_family

    text = (ROOT / "docs/model-formats.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^   ```json\n(.*?)^   ```$", text, re.DOTALL | re.MULTILINE)
    family = read_family(shown)
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    for sample in family.samples:
        grammar = compiler.compile_structural_tag(sample_tag(family, sample))

        assert takes_text(grammar, sample.output) == (sample.accept is not None), sample
