"""A `Grammar` → the flat program that the native core reads.

``pack_grammar`` gives two byte strings: the *program*, little-endian int32 words, and the *pool*,
the bytes that the program's ``(offset, length)`` pairs point into.

    program = version (1), node count, rule count, root node,
              then per node: kind, argument count, arguments…,
              then per rule: its body's node

Only what the root reaches is there, in the grammar's order; children are indexes smaller than
their node's own.  Characters are spelled out as byte structure, and marks leave no trace (but for
``pack_with_marks``), so node numbers of the program differ from the grammar's.  Kinds and arguments
(`∞` is -1):

    0 Empty · 1 Epsilon · 2 Bytes 8 words of the set, low bytes first, low bit first
    3 Literal offset, length · 5 Seq children · 6 Alt children · 7 Repeat child, min, max|∞
    8 Rule index · 9 And children · 10 Not child
    11 Encoded codec (0 json, 1 xml, 2 python_double, 3 python_single), child
    12 NoOccurrence n, n × (offset, length)
    13 Scan cases, excludes, cases × (offset, length, child), excludes × (offset, length)
    14 Erase count, child · 15 Assertion index · 16 Transparent child
    17 Tokens negated (0/1), ids · 18 Budget child, max tokens
    19 Unordered members, rest|-1, separator, members × (child, required 0/1)
    20 Tally kinds, min, max|∞, separator, kinds × (child, min, max|∞)
    21 Mark child, number of the label
    22 Distinct codec (as they are: -1), child
    23 Import number of a module
"""

from __future__ import annotations

from structag._core import Module
from structag.grammar.expressions import Grammar


def pack_grammar(grammar: Grammar) -> tuple[bytes, bytes]:
    """The program and the pool of `grammar`, its modules copied into it.  Linear; in the core."""
    program, pool, *_ = grammar.inlined.pack(keeps_marks=False)
    return program, pool


def pack_modular(grammar: Grammar) -> tuple[bytes, bytes, list[Module]]:
    """The program and the pool of `grammar`, and the modules that the program refers to."""
    program, pool, _, modules = grammar.native.pack(keeps_marks=False)
    return program, pool, modules


def pack_with_marks(grammar: Grammar) -> tuple[bytes, bytes, tuple[str, ...]]:
    """The program, the pool and the labels of the marks, by number; modules are copied.

    No mark may stand in an operand of what is matched as a whole: see
    `structag.grammar.origins`.
    """
    program, pool, labels, _ = grammar.inlined.pack(keeps_marks=True)
    return program, pool, labels
