"""`structag schema` prints the schema of the language."""

from __future__ import annotations

import json

import pytest

structag = pytest.importorskip("structag")

from structag.cli.main import main  # noqa: E402


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0

    assert json.loads(capsys.readouterr().out) == structag.structural_tag_schema()
