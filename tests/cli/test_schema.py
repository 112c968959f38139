"""`structag schema` prints the schema of the language."""

from __future__ import annotations

import json

import pytest

structag = pytest.importorskip("structag")

from structag.cli.main import main  # noqa: E402


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0

    assert json.loads(capsys.readouterr().out) == structag.structural_tag_schema()


def test_of_one_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "regex"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["properties"]["type"]["const"] == "regex"

    assert main(["schema", "regexp"]) == 2
    assert "no format has the type `regexp`" in capsys.readouterr().err
