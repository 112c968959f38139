"""What a regular expression makes use of, as far as providers tell patterns apart by it.

The text is read once from the left, escapes and classes as wholes, so that `[(?=]` is a class.
"""

from __future__ import annotations

import re

LOOKAROUND, BACKREFERENCE, BOUNDARY, PROPERTY, COUNT = (
    "look-around", "a backreference", "a word boundary", "a character property", "a large count",
)  # fmt: skip
LARGE_COUNT = 100
"""Counts beyond this are large; nobody says where large begins."""

_PIECE = re.compile(
    r"(?P<escape>\\(?:k<[^>]*>|[1-9][0-9]*|[pP]\{[^}]*\}|.))"
    r"|\[(?P<class>(?:\\.|[^\]\\])*)\]"
    r"|(?P<look>\(\?<?[=!])"
    r"|\{(?P<least>[0-9]+)(?:,(?P<most>[0-9]*))?\}",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def pattern_features(pattern: str) -> list[str]:
    """The features that `pattern` uses, each once, in the order of their names above."""
    found = set()
    for piece in _PIECE.finditer(pattern):
        escape, members = piece["escape"] or "", piece["class"] or ""
        if piece["look"]:
            found.add(LOOKAROUND)
        elif piece["least"]:
            if max(int(piece["least"]), int(piece["most"] or 0)) > LARGE_COUNT:
                found.add(COUNT)
        elif re.match(r"\\(?:[1-9]|k<)", escape):
            found.add(BACKREFERENCE)
        elif escape in (r"\b", r"\B"):
            found.add(BOUNDARY)
        elif any(step[1] in "pP" for step in _ESCAPE.findall(escape or members)):
            found.add(PROPERTY)
    order = (LOOKAROUND, BACKREFERENCE, BOUNDARY, PROPERTY, COUNT)
    return [feature for feature in order if feature in found]
