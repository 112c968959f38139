"""Random rule grammars as two things at once: a text in EBNF or GBNF, and what it has to mean.

The text is written by hand here, with random spacing, quoting and parentheses; the grammar is built
directly.  Rules refer to each other at random, so that left recursion, nullable loops and rules
that derive nothing all come up.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref

LETTERS = ("a", "b", "é")
NAMES = ("root", "x", "y-1", "Zed")
COUNTS: tuple[tuple[str, int, int | None], ...] = (
    ("?", 0, 1),
    ("*", 0, None),
    ("+", 1, None),
    ("{2}", 2, 2),
    ("{0,2}", 0, 2),
    ("{ 1 , 3 }", 1, 3),
    ("{2,}", 2, None),
)


class RuleSample(NamedTuple):
    """A grammar as text, and built by hand."""

    text: str
    grammar: Grammar


@st.composite
def rule_texts(draw: st.DrawFn, any_char: str) -> RuleSample:
    """Texts of one to four rules over three letters; `any_char` is the notation's name for one."""
    writer = _Writer(draw, any_char)
    names = NAMES[: draw(st.integers(1, 4))]
    rules = {name: writer.builder.rule(name) for name in names}
    writer.rules = rules
    lines: list[str] = []
    for name, rule in rules.items():
        text, ref = writer.choice(draw(st.integers(0, 3)))
        writer.builder.define(rule, ref)
        lines.append(f"{name} ::={writer.space()}{text}")
    order = draw(st.permutations(lines))
    return RuleSample("\n".join(order), writer.builder.build(rules["root"]))


class _Writer:
    def __init__(self, draw: st.DrawFn, any_char: str) -> None:
        self.draw = draw
        self.any_char = any_char
        self.builder = GrammarBuilder()
        self.rules: dict[str, Ref] = {}

    def pick(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def space(self) -> str:
        return self.pick(" ", " ", " ", "  ", "\t", " # a comment\n ")

    def choice(self, depth: int) -> tuple[str, Ref]:
        branches = [self.sequence(depth) for _ in range(self.draw(st.integers(1, 3)))]
        text = f"{self.space()}|{self.space()}".join(text for text, _ in branches)
        return text, self.builder.alt(*(ref for _, ref in branches))

    def sequence(self, depth: int) -> tuple[str, Ref]:
        parts = [self.item(depth) for _ in range(self.draw(st.integers(1, 3)))]
        text = self.space().join(text for text, _ in parts)
        return text, self.builder.seq(*(ref for _, ref in parts))

    def item(self, depth: int) -> tuple[str, Ref]:
        text, ref = self.atom(depth)
        if self.pick("once", "once", "often") == "once":
            return text, ref
        counts, low, high = self.draw(st.sampled_from(COUNTS))
        return f"{text}{counts}", self.builder.repeat(ref, low, high)

    def atom(self, depth: int) -> tuple[str, Ref]:
        kinds = ["string", "string", "class", "rule"] + (["group"] if depth else [])
        match self.pick(*kinds):
            case "string":
                letters = self.draw(st.lists(st.sampled_from(LETTERS), max_size=2))
                text = "".join(self.spelled(letter) for letter in letters)
                return f'"{text}"', self.builder.literal("".join(letters).encode())
            case "class":
                return self.char_class()
            case "rule":
                name = self.draw(st.sampled_from(sorted(self.rules)))
                return name, self.rules[name]
            case _:
                text, ref = self.choice(depth - 1)
                return f"({text})", ref

    def spelled(self, letter: str) -> str:
        code = ord(letter)
        return self.pick(letter, letter, f"\\u{code:04x}", f"\\U{code:08X}")

    def char_class(self) -> tuple[str, Ref]:
        b = self.builder
        match self.pick("one", "range", "negated", "any"):
            case "one":
                letters = self.draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=3))
                text = "".join(map(self.spelled, letters))
                return f"[{text}]", b.chars([(ord(letter), ord(letter)) for letter in letters])
            case "range":
                return "[a-b]", b.chars([(0x61, 0x62)])
            case "negated":
                letter = self.draw(st.sampled_from(LETTERS))
                code = ord(letter)
                return f"[^{self.spelled(letter)}]", b.chars([(0, code - 1), (code + 1, 0x10FFFF)])
            case _:
                return self.any_char, b.any_char
