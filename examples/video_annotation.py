"""What is seen in a video, line by line: a format for a multimodal model.

The model watches a clip and writes one line for each thing it sees: from when to when, where, and
what, and after the lines whatever else it has to say.

    <objects>
    00:01.5-00:04.0 (120,80,410,630) person
    00:02.0-00:06.5 (400,310,980,640) red bicycle
    </objects>
    A person pushes a bicycle out of the picture.

Times lie within the clip, a box is given by its left, top, right and lower edge in thousandths of
the picture, and names come from the labels that the caller can use, here with a colour before them
if the model likes.  A structural tag says all that with patterns and sequences.  What it cannot say
is that one number is less than another: that an interval ends after it begins is checked when the
lines are read, and `read_objects` counts how often it was so.

    python examples/video_annotation.py
"""

from __future__ import annotations

import random
import re
import sys
from typing import Any, NamedTuple

import numpy as np

import structag

LABELS = ["person", "bicycle", "traffic light", "dog"]
COLOURS = ["red", "green", "blue"]
CLIP_SECONDS = 90
MOST_OBJECTS = 20
RUNS = 100


class Seen(NamedTuple):
    """A thing in the video: seconds, thousandths of the picture, a label with its colour."""

    start: float
    end: float
    box: tuple[int, int, int, int]
    name: str


def annotation_format(clip_seconds: int, labels: list[str], colours: list[str]) -> dict[str, Any]:
    """The structural tag of the annotations of one clip."""
    line = sequence(
        time_format(clip_seconds),
        text("-"),
        time_format(clip_seconds),
        text(" ("),
        regex(r"{0},{0},{0},{0}".format(r"(?:0|[1-9]\d{0,2}|1000)")),
        text(") "),
        {"type": "optional", "content": one_of(f"{colour} " for colour in colours)},
        one_of(labels),
        text("\n"),
    )
    lines = {"type": "repeat", "content": line, "min": 0, "max": MOST_OBJECTS}
    objects = {"type": "tag", "begin": "<objects>\n", "content": lines, "end": "</objects>\n"}
    return {"type": "structural_tag", "format": sequence(objects, {"type": "any_text"})}


def time_format(clip_seconds: int) -> dict[str, Any]:
    """Minutes, seconds and tenths, ``MM:SS.T``, before the end of a clip of up to an hour."""
    minutes, seconds = divmod(clip_seconds, 60)
    times = [f"{minute:02}:[0-5]\\d" for minute in range(minutes)]
    times += [f"{minutes:02}:{second:02}" for second in range(seconds)]
    return regex(rf"(?:{'|'.join(times)})\.\d")


def sequence(*elements: dict[str, Any]) -> dict[str, Any]:
    """The elements one after the other."""
    return {"type": "sequence", "elements": list(elements)}


def text(value: str) -> dict[str, Any]:
    """Exactly this text."""
    return {"type": "const_string", "value": value}


def regex(pattern: str) -> dict[str, Any]:
    """A text that the pattern matches from end to end."""
    return {"type": "regex", "pattern": pattern}


def one_of(texts: Any) -> dict[str, Any]:
    """Any one of some texts."""
    return {"type": "or", "elements": [text(value) for value in texts]}


GOOD = "00:01.5-01:29.9 (120,80,410,1000) red traffic light\n"
LINES = [
    ("a line", GOOD, True),
    ("a name without a colour", GOOD.replace("red ", ""), True),
    ("the end of another clip", GOOD.replace("01:29.9", "01:30.0"), False),
    ("sixty-one seconds", GOOD.replace("00:01.5", "00:61.5"), False),
    ("a box outside the picture", GOOD.replace("1000", "1001"), False),
    ("a box of three numbers", GOOD.replace("120,", ""), False),
    ("an unknown thing", GOOD.replace("traffic light", "car"), False),
    ("two things in a line", GOOD.replace("\n", ", dog\n"), False),
]


def main() -> int:
    """Show lines that are right and wrong, and read random generations."""
    compiler = structag.Compiler(structag.Vocabulary.byte_level())
    format = annotation_format(CLIP_SECONDS, LABELS, COLOURS)
    grammar = compiler.compile_structural_tag(format)
    is_right = True
    for what, line, want in LINES:
        matcher = structag.Matcher(grammar)
        got = matcher.accept_string(f"<objects>\n{line}</objects>\nThat is all.")
        is_right = is_right and (got and matcher.is_completed()) == want
        print(f"{'accepted' if got else 'rejected'}: {what}")
    seen = [thing for seed in range(RUNS) for thing in read_objects(generate(grammar, seed))]
    ordered = sum(thing.start < thing.end for thing in seen)
    print(f"{len(seen)} things in {RUNS} random generations, such as")
    print(f"    {seen[0]}")
    print(f"{ordered} of them end after they begin, which no grammar can ask for")
    return 0 if is_right and seen else 1


def generate(grammar: structag.CompiledGrammar, seed: int) -> str:
    """Random objects: at each step any token that the mask allows, up to the closing tag."""
    choices = random.Random(seed)
    vocabulary = grammar.vocabulary
    matcher = structag.Matcher(grammar)
    bitmask = structag.allocate_token_bitmask(1, vocabulary.size)
    output = bytearray()
    while not matcher.is_completed():
        matcher.fill_next_token_bitmask(bitmask)
        logits = np.zeros((1, vocabulary.size), dtype=np.float32)
        structag.apply_token_bitmask_inplace(logits, bitmask)
        token = choices.choice([int(token) for token in np.flatnonzero(logits[0] == 0)])
        assert matcher.accept_token(token), "the mask allowed what the matcher refuses"
        output += vocabulary.token_bytes(token)
    return output.decode("utf-8")


LINE = re.compile(r"(\d\d):(\d\d\.\d)-(\d\d):(\d\d\.\d) \((\d+),(\d+),(\d+),(\d+)\) ([a-z ]+)")


def read_objects(output: str) -> list[Seen]:
    """The things that an output lists.

    Raises:
        ValueError: a line is not as it should be.
    """
    lines = output.removeprefix("<objects>\n").partition("</objects>\n")[0].splitlines()
    found = []
    for line in lines:
        parts = LINE.fullmatch(line)
        if parts is None:
            raise ValueError(f"not an object: {line}")
        start = int(parts[1]) * 60 + float(parts[2])
        end = int(parts[3]) * 60 + float(parts[4])
        left, top, right, low = (int(parts[n]) for n in range(5, 9))
        colour, _, label = parts[9].partition(" ")
        is_known = parts[9] in LABELS or (colour in COLOURS and label in LABELS)
        if max(start, end) >= CLIP_SECONDS or max(left, top, right, low) > 1000 or not is_known:
            raise ValueError(f"out of bounds: {line}")
        found.append(Seen(start, end, (left, top, right, low), parts[9]))
    return found


if __name__ == "__main__":
    sys.exit(main())
