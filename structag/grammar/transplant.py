"""Copies expressions from one grammar into a builder, made anew by its constructors.

`extend` takes a whole grammar over; `rebuild` makes one expression out of parts that were already
copied, which is what the passes from grammar to grammar are made of.
"""

from __future__ import annotations

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import (
    Alt,
    And,
    Assertion,
    Budget,
    Bytes,
    Chars,
    Distinct,
    Empty,
    Encoded,
    Epsilon,
    Erase,
    Grammar,
    Imported,
    Literal,
    Mark,
    Node,
    NoOccurrence,
    Not,
    Ref,
    Repeat,
    Rule,
    Scan,
    Seq,
    Tally,
    Tokens,
    Transparent,
    Unordered,
)


def extend(builder: GrammarBuilder, grammar: Grammar) -> Ref:
    """Copy `grammar` into `builder`; the `Ref` of its root there."""
    builder.marker_tokens.update(grammar.marker_tokens)
    return builder.extend(grammar.native)


def rebuild(builder: GrammarBuilder, node: Node, refs: tuple[Ref, ...], rules: list[Ref]) -> Ref:
    """`node` made anew in `builder` from copies: `refs`, in `children` order, and `rules`."""
    match node:
        case Empty():
            return builder.empty
        case Epsilon():
            return builder.epsilon
        case Bytes(members):
            return builder.bytes(b for b in range(256) if members >> b & 1)
        case Literal(data, marker):
            return builder.literal(data, marker=marker)
        case Chars(ranges):
            return builder.chars(ranges)
        case Seq():
            return builder.seq(*refs)
        case Alt():
            return builder.alt(*refs)
        case Repeat(_, low, high):
            return builder.repeat(refs[0], low, high)
        case Rule(index):
            return rules[index]
        case And():
            return builder.both(*refs)
        case Not():
            return builder.complement(refs[0])
        case Encoded(codec):
            return builder.encoded(codec, refs[0])
        case Distinct(codec):
            return builder.distinct(codec, refs[0])
        case NoOccurrence(patterns):
            return builder.no_occurrence(patterns)
        case Scan(cases, excludes):
            pairs = [(text, ref) for (text, _), ref in zip(cases, refs, strict=True)]
            return builder.scan(pairs, excludes)
        case Erase(count):
            return builder.erase(count, refs[0])
        case Assertion(index):
            return builder.assertion(index)
        case Transparent():
            return builder.transparent(refs[0])
        case Tokens(ids, negated):
            return builder.tokens(ids, negated=negated)
        case Budget(_, max_tokens):
            return builder.budget(refs[0], max_tokens)
        case Unordered(members, rest, _):
            flags = [(ref, need) for (_, need), ref in zip(members, refs, strict=False)]
            return builder.unordered(flags, None if rest is None else refs[-2], refs[-1])
        case Tally(kinds, low, high, _):
            counts = [(ref, k[1], k[2]) for k, ref in zip(kinds, refs, strict=False)]
            return builder.tally(counts, low, high, refs[-1])
        case Mark(label):
            return builder.mark(label, refs[0])
        case Imported(module):
            return builder.refer(module)
