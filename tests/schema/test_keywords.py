"""The table of keywords: complete, and the same in the documentation."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from structag.schema.formats import FORMATS, NUMBER_FORMATS, format_table
from structag.schema.keywords import ANNOTATIONS, KEYWORDS, keyword_table
from structag.schema.options import SchemaOptions

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/json-schema.md"


@pytest.mark.parametrize(
    ("name", "table"), [("keywords", keyword_table), ("formats", format_table)]
)
def test_the_documented_table_is_the_one_in_the_code(name: str, table: Callable[[], str]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(f"<!-- {name} -->\n")
    shown, tail = rest.split("<!-- end -->", 1)
    if os.environ.get("STRUCTAG_UPDATE_DOCS"):
        whole = f"{head}<!-- {name} -->\n{table()}<!-- end -->{tail}"
        DOCUMENT.write_text(whole, encoding="utf-8")
        return

    assert shown == table()


def test_no_keyword_is_an_annotation_too() -> None:
    assert not ANNOTATIONS & KEYWORDS.keys()
    assert not FORMATS.keys() & NUMBER_FORMATS.keys()


def test_every_option_is_documented() -> None:
    _, options = DOCUMENT.read_text(encoding="utf-8").split("## Options")

    assert re.findall(r"^\| `(\w+)` \|", options, re.MULTILINE) == list(
        SchemaOptions.__dataclass_fields__
    )
