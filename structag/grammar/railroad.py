"""A `Grammar` as railroad diagrams in one SVG image: whoever follows the track spells an output.

One diagram is drawn for each definition of the printed form (`structag.grammar.show`), with the
same names.  Of the few diagram libraries none knows counts, complements or codecs, and what is
needed of one is below: boxes in a row, boxes above each other, a loop, a detour.  A *box* has a
width, reaches so far above and below its track, and draws itself with its track beginning at x, y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from structag.grammar.expressions import Alt, Epsilon, Grammar, Literal, Ref, Repeat, Scan, Seq
from structag.grammar.show import quote, shown_writer
from structag.grammar.write import Writer, unmarked

_CHAR, _PAD, _HALF = 8, 10, 12  # width of a character, padding of a box, half its height
_GAP, _LANE, _BETWEEN = 14, 20, 8
_WIDEST = 900  # a row that gets wider is broken
_MOST_ROWS = 40  # alternatives that are drawn
_LONGEST = 60  # characters of a box
_STYLE = """
svg { background: #fff; font: 13px ui-monospace, Menlo, Consolas, monospace; }
path { fill: none; stroke: #555; stroke-width: 1.5; }
rect { fill: #eef4ff; stroke: #4a78c2; stroke-width: 1.2; }
.literal rect { fill: #eaf7ea; stroke: #4b8f4b; }
.name rect { fill: #fff6e0; stroke: #b98a2c; }
text { fill: #222; text-anchor: middle; }
.title, .note { text-anchor: start; }
.title { font-weight: bold; }
.note { fill: #555; font-size: 11px; }
circle { fill: #555; }
@media (prefers-color-scheme: dark) {
  svg { background: #1b1d21; } path { stroke: #aaa; } text { fill: #eee; }
  .note { fill: #aaa; } circle { fill: #aaa; }
  rect { fill: #24324a; } .literal rect { fill: #213a24; } .name rect { fill: #43381c; }
}
""".strip()


class _Box(NamedTuple):
    width: int
    up: int
    down: int
    draw: Callable[[int, int], list[str]]


def draw_railroad(grammar: Grammar) -> str:
    """The diagrams of `grammar`, the root first, as one SVG image.

    >>> from structag.grammar.builder import GrammarBuilder
    >>> b = GrammarBuilder()
    >>> draw_railroad(b.build(b.literal(b"a<b"))).count("a&lt;b")
    1
    """
    writer = shown_writer(grammar)
    parts: list[str] = []
    y, width = 10, 0
    for name, ref in writer.definitions():
        box = _Drawer(writer, name, ref).whole()
        track = y + 26 + box.up
        parts.append(f'<text class="title" x="10" y="{y + 12}">{escape(name)}</text>')
        parts.append(f'<circle cx="14" cy="{track}" r="4"/>')
        parts.append(_path(f"M14 {track} H34"))
        parts += box.draw(34, track)
        end = 34 + box.width
        parts.append(_path(f"M{end} {track} h20"))
        parts.append(f'<circle cx="{end + 20}" cy="{track}" r="4"/>')
        y = track + box.down + 24
        width = max(width, end + 40, 20 + _CHAR * len(name))
    size = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>\n{_STYLE}\n</style>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


class _Drawer:
    """Makes the boxes of one definition."""

    def __init__(self, writer: Writer, name: str, ref: Ref) -> None:
        self._writer = writer
        self._name = name
        self._ref = ref

    def whole(self) -> _Box:
        return self._box(self._ref)

    def _box(self, ref: Ref) -> _Box:
        writer = self._writer
        ref = unmarked(writer.grammar, ref)
        if writer.named.get(ref, self._name) != self._name:
            return _label(writer.named[ref], "name")
        node = writer.grammar.nodes[ref]
        match node:
            case Seq(parts):
                return _row([self._box(part) for part in parts])
            case Alt(parts):
                shown = [self._box(part) for part in parts[:_MOST_ROWS]]
                more = len(parts) - len(shown)
                return _choice([*shown, _label(f"… {more:,} more", "note")] if more else shown)
            case Repeat(child, low, high):
                return _repeated(self._box(child), low, high)
            case Scan(cases):
                ways = [_row([_label(quote(text), "literal"), self._box(r)]) for text, r in cases]
                return _row([_label(_free_text(node.excludes), "other"), _choice(ways)])
            case Epsilon():
                return _Box(20, 0, 0, lambda x, y: [_path(f"M{x} {y} h20")])
            case Literal():
                return _label(writer.texts[ref][0], "literal")
            case _:
                name = writer.rule_names.get(getattr(node, "index", -1))
                text = writer.texts[ref][0]
                return _label(text, "name" if text == name else "other")


def _free_text(excludes: Sequence[bytes]) -> str:
    return f"text without {', '.join(map(quote, excludes))}" if excludes else "text"


def _label(text: str, kind: str) -> _Box:
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    width = 2 * _PAD + _CHAR * sum(2 if ord(char) >= 0x1100 else 1 for char in shown)
    title = f"<title>{escape(text)}</title>" if shown != text else ""
    radius = 3 if kind == "name" else _HALF

    def draw(x: int, y: int) -> list[str]:
        return [
            f'<g class="{kind}"><rect x="{x}" y="{y - _HALF}" width="{width}" '
            f'height="{2 * _HALF}" rx="{radius}"/>'
            f'<text x="{x + width // 2}" y="{y + 4}">{escape(shown)}</text>{title}</g>'
        ]

    return _Box(width, _HALF, _HALF, draw)


def _row(boxes: Sequence[_Box]) -> _Box:
    """Boxes one after the other; too many of them in rows, with tracks back to the left."""
    rows: list[list[_Box]] = [[]]
    for box in boxes:
        if rows[-1] and sum(b.width + _GAP for b in rows[-1]) + box.width > _WIDEST:
            rows.append([])
        rows[-1].append(box)
    lines = [_line(row) for row in rows]
    if len(lines) == 1:
        return lines[0]
    inner = max(line.width for line in lines)
    width = inner + 3 * _LANE
    tops = [0]
    for above, below in pairwise(lines):
        tops.append(tops[-1] + above.down + below.up + 2 * _BETWEEN)

    def draw(x: int, y: int) -> list[str]:
        found = [_path(f"M{x} {y} h{_LANE}")]
        for line, top in zip(lines, tops, strict=True):
            found += line.draw(x + _LANE, y + top)
        for i, (above, below) in enumerate(pairwise(lines)):
            end = x + _LANE + above.width
            lane = y + tops[i] + above.down + _BETWEEN
            target = y + tops[i + 1]
            assert target == lane + _BETWEEN + below.up
            found.append(
                _path(
                    f"M{end} {y + tops[i]} H{x + inner + _LANE + 8} V{lane} "
                    f"H{x + 8} V{target} H{x + _LANE}"
                )
            )
        last = x + _LANE + lines[-1].width
        found.append(_path(f"M{last} {y + tops[-1]} H{x + width - 8} V{y} H{x + width}"))
        return found

    return _Box(width, lines[0].up, tops[-1] + lines[-1].down, draw)


def _line(boxes: Sequence[_Box]) -> _Box:
    width = sum(box.width for box in boxes) + _GAP * (len(boxes) - 1)

    def draw(x: int, y: int) -> list[str]:
        found: list[str] = []
        for i, box in enumerate(boxes):
            if i:
                found.append(_path(f"M{x} {y} h{_GAP}"))
                x += _GAP
            found += box.draw(x, y)
            x += box.width
        return found

    return _Box(width, max(b.up for b in boxes), max(b.down for b in boxes), draw)


def _choice(boxes: Sequence[_Box]) -> _Box:
    """Boxes below each other, the first on the track."""
    inner = max(box.width for box in boxes)
    tops = [0]
    for above, below in pairwise(boxes):
        tops.append(tops[-1] + above.down + below.up + _BETWEEN)
    width = inner + 2 * _LANE

    def draw(x: int, y: int) -> list[str]:
        found: list[str] = []
        for box, top in zip(boxes, tops, strict=True):
            lane = _LANE // 2
            found.append(_path(f"M{x} {y} h{lane} v{top} h{lane}"))
            found += box.draw(x + _LANE, y + top)
            end = x + _LANE + box.width
            found.append(_path(f"M{end} {y + top} H{x + width - lane} V{y} h{lane}"))
        return found

    return _Box(width, boxes[0].up, tops[-1] + boxes[-1].down, draw)


def _repeated(box: _Box, low: int, high: int | None) -> _Box:
    """A loop below if it may come more than once, a detour above if it may be left out."""
    if high != 1:
        most = "" if high is None else f" to {high:,}"
        times = f"{low:,} times" if low == high else f"{low:,}{most or ' or more'} times"
        box = _loop(box, "" if low <= 1 and high is None else times)
    return _detour(box) if low == 0 else box


def _loop(box: _Box, note: str) -> _Box:
    width = max(box.width, _CHAR * len(note)) + 2 * _LANE
    depth = box.down + _BETWEEN

    def draw(x: int, y: int) -> list[str]:
        lane, end = _LANE // 2, x + width
        found = [_path(f"M{x} {y} h{_LANE}"), *box.draw(x + _LANE, y)]
        found.append(_path(f"M{x + _LANE + box.width} {y} H{end}"))
        found.append(_path(f"M{end - lane} {y} v{depth} H{x + lane} V{y}"))
        middle = x + width // 2
        found.append(_path(f"M{middle + 4} {y + depth - 4} l-5 4 l5 4"))
        if note:
            found.append(f'<text class="note" x="{x + _LANE}" y="{y + depth + 14}">{note}</text>')
        return found

    return _Box(width, box.up, depth + (18 if note else 4), draw)


def _detour(box: _Box) -> _Box:
    width = box.width + 2 * _LANE
    height = box.up + _BETWEEN

    def draw(x: int, y: int) -> list[str]:
        lane, end = _LANE // 2, x + width
        return [
            _path(f"M{x} {y} h{_LANE}"),
            *box.draw(x + _LANE, y),
            _path(f"M{end - _LANE} {y} h{_LANE}"),
            _path(f"M{x + lane} {y} v-{height} H{end - lane} V{y}"),
        ]

    return _Box(width, height + 2, box.down, draw)


def _path(track: str) -> str:
    return f'<path d="{track}"/>'
