"""Random ECMA-262 patterns and texts, and what other engines say of them.

`PatternMaker` writes patterns over a small alphabet in which case folding, scripts, word boundaries
and line ends all make a difference.  Most are valid under some flag; some are not, on purpose.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

LETTERS = ["a", "b", "A", "k", "K", "s", "é", "É", "β", "Σ", "ς", "ß", "漢"]
ODD = ["\u212a", "ſ", "ẞ", "İ", "😀", "𐐀", "𐐨"]
OTHERS = ["1", "_", "-", " ", "\n", "\u2028", "\u00a0", "٣"]
PROPERTIES = [
    "L", "Lu", "Ll", "gc=Nd", "General_Category=Punctuation", "Script=Greek", "sc=Latn",
    "scx=Deva", "Script_Extensions=Hani", "Alphabetic", "White_Space", "ASCII", "Any", "Emoji",
    "Uppercase", "ID_Start", "Assigned",
]  # fmt: skip
ESCAPES = ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S"]
CODES = ["\\x61", "\\u0062", "\\u{1F600}", "\\uD83D\\uDE00", "\\n", "\\cJ", "\\0", "\\-", "\\/"]
ANNEX_B = ["{", "}", "]", "\\q", "\\a", "a{,2}", "\\141", "\\8", "\\c", "(?=a)*", "\\k", "\\_"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{0}", "{1,2}?"]
MODIFIERS = ["(?i:", "(?s:", "(?m:", "(?-i:", "(?i-s:", "(?im:"]


class PatternMaker:
    """Writes random patterns; `has_modifiers` allows ``(?i:…)``, which not every engine knows."""

    def __init__(self, rng: random.Random, *, has_modifiers: bool = False) -> None:
        self.rng = rng
        self.has_modifiers = has_modifiers
        self.mode = "u"

    def pattern(self) -> str:
        """A pattern, most often valid under the u flag, else under v or Annex B only."""
        self.mode = self.rng.choices("uvb", (6, 3, 2))[0]
        return self._choice(2)

    def _choice(self, depth: int) -> str:
        rng = self.rng
        return "|".join(self._branch(depth) for _ in range(rng.choice((1, 1, 1, 2, 3))))

    def _branch(self, depth: int) -> str:
        rng = self.rng
        written = ""
        for _ in range(rng.randint(0, 3)):
            written += self._term(depth)
        return written

    def _term(self, depth: int) -> str:
        rng = self.rng
        if rng.random() < 0.12:
            return rng.choice(("^", "$", "\\b", "\\B"))
        if depth and rng.random() < 0.35:
            kinds = ["(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>"]
            if self.has_modifiers:
                kinds += MODIFIERS
            opener = rng.choice(kinds)
            written = f"{opener}{self._choice(depth - 1)})"
            looks = opener.startswith(("(?=", "(?!", "(?<=", "(?<!"))
            return written if looks or rng.random() < 0.5 else written + rng.choice(QUANTIFIERS)
        atom = self._atom()
        return atom + (rng.choice(QUANTIFIERS) if rng.random() < 0.35 else "")

    def _atom(self) -> str:
        rng = self.rng
        draw = rng.random()
        if self.mode == "b" and draw < 0.3:
            return rng.choice(ANNEX_B)
        if draw < 0.5:
            return rng.choice(LETTERS + OTHERS[:4] + ([] if self.mode == "b" else ODD))
        if draw < 0.62:
            return rng.choice([".", *ESCAPES])
        if draw < 0.72:
            return rng.choice(CODES)
        if draw < 0.8 and self.mode != "b":
            return f"\\{rng.choice('ppP')}{{{rng.choice(PROPERTIES)}}}"
        return self._class(2)

    def _class(self, depth: int) -> str:
        rng = self.rng
        negated = "^" if rng.random() < 0.3 else ""
        if self.mode != "v" or depth < 2 or rng.random() < 0.3:
            return f"[{negated}{''.join(self._member() for _ in range(rng.randint(0, 3)))}]"
        operator = rng.choice(("--", "&&", ""))
        count = rng.randint(2, 3) if operator else rng.randint(1, 3)
        return f"[{negated}{operator.join(self._operand(depth) for _ in range(count))}]"

    def _operand(self, depth: int) -> str:
        rng = self.rng
        draw = rng.random()
        if draw < 0.4:
            return self._class(depth - 1)
        if draw < 0.55:
            words = ("".join(rng.choices(LETTERS, k=rng.choice((0, 1, 1, 2)))) for _ in range(2))
            return f"\\q{{{'|'.join(words)}}}"
        if draw < 0.6:
            return "\\p{Emoji_Keycap_Sequence}"
        if draw < 0.75:
            return f"\\{rng.choice('pP')}{{{rng.choice(PROPERTIES)}}}"
        return rng.choice(LETTERS + ODD + ESCAPES)

    def _member(self) -> str:
        rng = self.rng
        draw = rng.random()
        letters = LETTERS + ([] if self.mode == "b" else ODD)
        if draw < 0.45:
            return rng.choice(letters)
        if draw < 0.65:
            low, high = sorted(rng.sample(letters, 2))
            return f"{low}-{high}"
        if draw < 0.8:
            return rng.choice(ESCAPES)
        if draw < 0.9 and self.mode != "b":
            return f"\\{rng.choice('pP')}{{{rng.choice(PROPERTIES)}}}"
        if self.mode == "b":
            return rng.choice(("\\w-a", "a-\\d", "\\c", "\\c1", "\\q", "\\b", "["))
        return rng.choice(("\\b", "\\-", "1", "_", " "))

    def text(self, *, is_bmp: bool = False) -> str:
        """A text of up to five characters of the alphabet."""
        alphabet = LETTERS + OTHERS + (ODD[:4] if is_bmp else ODD)
        if self.rng.random() < 0.1:
            alphabet = ["#", "\ufe0f", "\u20e3", "1"]
        few = self.rng.sample(alphabet, min(3, len(alphabet)))
        return "".join(self.rng.choices(few, k=self.rng.randint(0, 4)))


class Question(NamedTuple):
    """Does `pattern` match somewhere in each of the texts, under the flags out of ``is``?"""

    pattern: str
    flags: str
    texts: Sequence[str]


NODE = """
const out = [];
for (const [pattern, flags, texts] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  let found = null;
  for (const flag of ["u", "v", ""]) {
    try {
      const one = new RegExp(pattern, flag + flags);
      const whole = new RegExp(`^(?:${pattern})$`, flag + flags);
      found = [flag, texts.map((t) => [one.test(t), whole.test(t)])];
      break;
    } catch {}
  }
  out.push(found);
}
console.log(JSON.stringify(out));
"""

Answers = list[tuple[str, list[tuple[bool, bool]]] | None]
"""For each pattern the first flag under which it is valid, and (search, full match) per text."""

CRASH = ("crash", [])


def ask_node(questions: Sequence[Question]) -> Answers:
    """What node's `RegExp` says; None for patterns that are wrong under every flag.

    The answer to a pattern that crashes node is `CRASH`.
    """
    done = subprocess.run(
        ["node", "-e", NODE],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode == 0:
        answers: Answers = json.loads(done.stdout)
        return answers
    half = len(questions) // 2
    return ask_node(questions[:half]) + ask_node(questions[half:]) if half else [CRASH]


def ask_regress(questions: Sequence[Question]) -> Answers:
    """What `regress` says, in the same form; it backtracks, so ask little."""
    import regress

    answers: Answers = []
    for pattern, flags, texts in questions:
        for flag in ("u", "v", ""):
            try:
                one = regress.Regex(pattern, flag + flags)
                whole = regress.Regex(f"^(?:{pattern})$", flag + flags)
            except regress.RegressError:
                continue
            found = [(one.find(t) is not None, whole.find(t) is not None) for t in texts]
            answers.append((flag, found))
            break
        else:
            answers.append(None)
    return answers
