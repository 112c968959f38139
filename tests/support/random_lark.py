"""Random grammars in Lark's notation, small enough for Lark's own Earley parser."""

from __future__ import annotations

import random

STRINGS = ['"a"', '"b"', '"ab"', '"B"i', '"a".."b"']
REGEXPS = ["/a+/", "/[ab]/", "/[^a _]/", "/b{1,2}/", "/a(?=b)b/", "/A/i", "/(a|b)b*/", "/a\\Bb/"]
REGEXPS += ["/[^\\d_]/", "/\\w/", "/[\\Wa]/", "/É/i"]
IGNORED = [
    "/ /", '" "', '" " | "_"', "WS_INLINE", "/[ _]+/", "/_[^b]*/", "/a+/", "/_a?/", "/_[ab]*?b/",
    "/(_b)+/", "/\\s+/", "/_|_a/", "/\\W/", '(" " "_"?)+',
]  # fmt: skip
LETTERS = "aabb B_aabb B_é٣\u00a0"
RULES = ["start", "one", "?two", "!three", "_four"]
TERMINALS = ["A", "B_1", "_C"]
IMPORTS = ["LETTER", "WORD", "WS_INLINE"]


class LarkMaker:
    """Writes random grammars; every name they use is defined."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def grammar(self) -> str:
        """A grammar text over a, b and blanks."""
        rng = self.rng
        self.rules = RULES[: rng.randint(1, 4)]
        self.terminals = TERMINALS[: rng.randint(0, 3)]
        self.has_template = rng.random() < 0.4
        imported = rng.sample(IMPORTS, rng.randint(0, 1))
        lines = [f"%import common.{name}" for name in imported]
        lines += [
            f"{name}{rng.choice(('', '', '.2', '.-1'))}: {self._terminal(at)}"
            for at, name in enumerate(self.terminals)
        ]
        self.terminals = self.terminals + [name for name in imported if name != "WS_INLINE"]
        lines += [f"{name}: {self._choice(1)}" for name in self.rules]
        if self.has_template:
            lines.append("_list{item, mark}: item (mark item)*")
        if rng.random() < 0.5:
            for ignored in rng.sample(IGNORED, rng.choice((1, 1, 2))):
                if "WS" not in ignored or "WS_INLINE" in imported:
                    lines.append(f"%ignore {ignored}")
        if not any("WS_INLINE" in line and "%ignore" in line for line in lines):
            lines = [line for line in lines if line != "%import common.WS_INLINE"]
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        """A text of up to five characters."""
        return "".join(self.rng.choices(LETTERS, k=self.rng.randint(0, 5)))

    def _terminal(self, at: int) -> str:
        rng = self.rng
        parts = [rng.choice(STRINGS + REGEXPS + TERMINALS[:at]) for _ in range(rng.randint(1, 2))]
        return rng.choice((" ", " | ")).join(parts) + rng.choice(("", "", "+"))

    def _choice(self, depth: int) -> str:
        return " | ".join(self._sequence(depth) for _ in range(self.rng.choice((1, 1, 2, 3))))

    def _sequence(self, depth: int) -> str:
        parts = [self._item(depth) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3)))]
        shape = " -> shape" if depth == 1 and parts and self.rng.random() < 0.2 else ""
        return " ".join(parts) + shape

    def _item(self, depth: int) -> str:
        rng = self.rng
        draw = rng.random()
        if depth and draw < 0.2:
            return f"({self._choice(depth - 1)})" + self._count()
        if depth and draw < 0.27:
            return f"[{self._choice(depth - 1)}]"
        if self.has_template and draw < 0.35:
            return f"_list{{{self._value()}, {self._value()}}}"
        return self._value() + (self._count() if rng.random() < 0.3 else "")

    def _value(self) -> str:
        rng = self.rng
        draw = rng.random()
        if draw < 0.4:
            return rng.choice([*(rule.lstrip("?!") for rule in self.rules), *self.terminals])
        return rng.choice(STRINGS + REGEXPS)

    def _count(self) -> str:
        return self.rng.choice(("*", "+", "?", "~2", "~1..2", "~0..2"))
