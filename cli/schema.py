"""`structag schema`: the JSON Schema of the Structural Tag language."""

from __future__ import annotations

from structag import structural_tag_schema
from structag.cli.rendering import print_json


def schema() -> None:
    """Print the JSON Schema of the Structural Tag language.

    Editors complete and check documents with it.
    """
    print_json(structural_tag_schema())
