"""The official JSON Schema test suite: a group is refused, or every test of it comes out right."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from structag import Compiler, Matcher, Vocabulary
from structag.errors import StructagError

DATA = os.environ.get("STRUCTAG_DATA")
DRAFTS = {
    "draft4": ("http://json-schema.org/draft-04/schema#", 578),
    "draft7": ("http://json-schema.org/draft-07/schema#", 891),
    "draft2019-09": ("https://json-schema.org/draft/2019-09/schema", 1207),
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", 1245),
}
"""The `$schema` of each draft, and how many tests are handled; raise these, never lower them."""
FORMATS = {"draft4": 216, "draft7": 626, "draft2019-09": 707, "draft2020-12": 714}
"""How many tests of asserted formats come out as they should; raise these as well."""
# A meta-schema of the test's own that leaves the validation vocabulary out: we enforce it anyway.
STRICTER = {"vocabulary.json"}

pytestmark = pytest.mark.skipif(DATA is None, reason="STRUCTAG_DATA names no folder with the suite")


def remotes(draft: str) -> dict[str, Any]:
    """The documents that the suite refers to, by address: those of the draft, and the shared."""
    assert DATA is not None
    root = Path(DATA, "json-schema-test-suite", "remotes")
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*.json")):
        place = path.relative_to(root).as_posix()
        folder = place.partition("/")[0]
        if folder == draft or not folder.startswith(("draft", "v1")):
            found[f"http://localhost:1234/{place}"] = json.loads(path.read_text("utf-8"))
    return found


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_group_is_right_or_refused(draft: str) -> None:
    assert DATA is not None
    uri, least = DRAFTS[draft]
    compiler = Compiler(Vocabulary.byte_level())
    known = remotes(draft)
    handled = 0
    wrong: list[tuple[str, str, str, bool]] = []
    for path in sorted(Path(DATA, "json-schema-test-suite", draft).glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            schema: Any = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": uri, **schema}
            try:
                grammar = compiler.compile_json_schema(
                    schema,
                    property_order="any",
                    integer_decimals=True,
                    formats="annotate",
                    registry=known,
                )
            except StructagError as error:
                if error.code in ("schema-unsatisfiable", "grammar-empty"):
                    assert not any(test["valid"] for test in group["tests"]), group
                    handled += len(group["tests"])
                continue
            for test in group["tests"]:
                handled += 1
                text = json.dumps(test["data"])
                matcher = Matcher(grammar)
                accepted = matcher.accept_string(text) and matcher.is_completed()
                if accepted != test["valid"] and not (not accepted and path.name in STRICTER):
                    wrong.append((path.name, group["description"], text, accepted))

    assert wrong == []
    assert handled >= least


@pytest.mark.parametrize("draft", FORMATS)
def test_every_format_is_right_or_restricted(draft: str) -> None:
    """The optional tests of `format`: a valid text is refused only where the report says so."""
    assert DATA is not None
    uri, _ = DRAFTS[draft]
    compiler = Compiler(Vocabulary.byte_level())
    right = 0
    for path in sorted(Path(DATA, "json-schema-test-suite", draft).glob("optional/format/*.json")):
        for group in json.loads(path.read_text("utf-8")):
            grammar = compiler.compile_json_schema({"$schema": uri, **group["schema"]})
            is_restricted = any(entry.keyword for entry in grammar.report.restricted)
            for test in group["tests"]:
                matcher = Matcher(grammar)
                accepted = matcher.accept_string(json.dumps(test["data"])) and (
                    matcher.is_completed()
                )
                right += accepted == test["valid"]
                assert test["valid"] or not accepted, (path.name, test)
                assert accepted or not test["valid"] or is_restricted, (path.name, test)

    assert right >= FORMATS[draft]
