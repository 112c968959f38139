"""Decimal notation of number ranges as regular expressions, exact at any size.

All ranges are of magnitudes; `structag.schema.numbers` adds the signs.  Sizes grow with the number
of digits of the bounds, never with the width of the range.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref

FLAT = 100
"""Digits from which on a comparison is written without nesting."""


class Fraction(NamedTuple):
    """Digits behind a point: those with at least one digit, and whether none is fine as well."""

    some: Ref
    none: bool


def plain_digits(value: Decimal) -> tuple[str, str]:
    """The digits of a magnitude before and behind the point, without useless zeros.

    >>> plain_digits(Decimal("12.50")), plain_digits(Decimal("1e3")), plain_digits(Decimal("0.0"))
    (('12', '5'), ('1000', ''), ('0', ''))
    """
    text = format(value.copy_abs(), "f")
    whole, _, fraction = text.partition(".")
    return whole.lstrip("0") or "0", fraction.rstrip("0")


class Digits:
    """Makes digit expressions in one builder."""

    def __init__(self, builder: GrammarBuilder) -> None:
        self.builder = builder
        self.any = self.digit(0, 9)
        self.many = builder.repeat(self.any, 0)
        self.some = builder.repeat(self.any, 1)
        self.zeros = builder.repeat(builder.literal(b"0"), 0)
        self.whole = builder.alt(builder.literal(b"0"), builder.seq(self.digit(1, 9), self.many))

    def digit(self, low: int, high: int) -> Ref:
        """One digit in a range; nothing if the range is empty."""
        if low > high:
            return self.builder.empty
        if low == high:
            return self.builder.literal(b"%d" % low)
        return self.builder.bytes(range(48 + low, 49 + high))

    def integers(self, low: int | str, high: int | str | None) -> Ref:
        """The integers from `low` to `high`, both 0 or more, without leading zeros."""
        builder = self.builder
        first, last = str(low), None if high is None else str(high)
        if last is not None and (len(first), first) > (len(last), last):
            return builder.empty
        if first == "0" and last is None:
            return self.whole
        parts: list[Ref] = []
        size = len(first)
        if last is not None and len(last) == size:
            return self._between(first, last)
        parts.append(self._at_least(first))
        longest = None if last is None else len(last) - 1
        if longest is None or longest > size:
            rest = builder.repeat(self.any, size, None if longest is None else longest - 1)
            parts.append(builder.seq(self.digit(1, 9), rest))
        if last is not None:
            parts.append(self._between("1" + "0" * (len(last) - 1), last))
        return builder.alt(*parts)

    def _at_least(self, low: str) -> Ref:
        """Numbers of as many digits as `low`, not below it."""
        if not low.strip("0"):
            return self.builder.repeat(self.any, len(low), len(low))
        if len(low) > FLAT:
            return self._flat(low, [(int(char) + 1, 9) for char in low])
        ref = self.builder.epsilon
        for place, char in enumerate(reversed(low)):
            ref = self._step(int(char) + 1, 9, place, char, ref)
        return ref

    def _at_most(self, high: str) -> Ref:
        """Numbers of as many digits as `high`, not above it."""
        if not high.strip("9"):
            return self.builder.repeat(self.any, len(high), len(high))
        if len(high) > FLAT:
            return self._flat(high, [(0, int(char) - 1) for char in high])
        ref = self.builder.epsilon
        for place, char in enumerate(reversed(high)):
            ref = self._step(0, int(char) - 1, place, char, ref)
        return ref

    def _step(self, low: int, high: int, place: int, char: str, rest: Ref) -> Ref:
        """A digit in a range and anything behind it, or the digit `char` and `rest`."""
        builder = self.builder
        free = builder.seq(self.digit(low, high), builder.repeat(self.any, place, place))
        return builder.alt(free, builder.seq(builder.literal(char.encode()), rest))

    def _flat(self, digits: str, ranges: list[tuple[int, int]]) -> Ref:
        """The same as nested steps, as one alternative for each place: longer, but not deep."""
        builder = self.builder
        parts = [builder.literal(digits.encode())]
        for place, (low, high) in enumerate(ranges):
            behind = len(digits) - place - 1
            parts.append(
                builder.seq(
                    builder.literal(digits[:place].encode()),
                    self.digit(low, high),
                    builder.repeat(self.any, behind, behind),
                )
            )
        return builder.alt(*parts)

    def _between(self, low: str, high: str) -> Ref:
        """Numbers of one digit count, from `low` to `high`."""
        builder = self.builder
        common = 0
        while common < len(low) and low[common] == high[common]:
            common += 1
        head = builder.literal(low[:common].encode())
        if common == len(low):
            return head
        place = len(low) - common - 1
        first, last = low[common], high[common]
        inside = builder.seq(
            self.digit(int(first) + 1, int(last) - 1), builder.repeat(self.any, place, place)
        )
        return builder.seq(
            head,
            builder.alt(
                builder.seq(builder.literal(first.encode()), self._at_least(low[common + 1 :])),
                inside,
                builder.seq(builder.literal(last.encode()), self._at_most(high[common + 1 :])),
            ),
        )

    # -- fractions

    def fraction_from(self, digits: str, is_open: bool) -> Fraction:
        """The fractions that are `digits` or more; `is_open`: more."""
        builder = self.builder
        if is_open:
            found = Fraction(builder.seq(self.zeros, self.digit(1, 9), self.many), False)
        else:
            found = Fraction(self.some, True)
        for char in reversed(digits):
            free = builder.seq(self.digit(int(char) + 1, 9), self.many)
            found = Fraction(builder.alt(free, self._behind(char, found)), False)
        return found

    def fraction_to(self, digits: str, is_open: bool) -> Fraction:
        """The fractions that are `digits` or less; `is_open`: less."""
        builder = self.builder
        found = Fraction(builder.empty, False)
        if not is_open:
            found = Fraction(builder.repeat(builder.literal(b"0"), 1), True)
        for char in reversed(digits):
            free = builder.seq(self.digit(0, int(char) - 1), self.many)
            found = Fraction(builder.alt(free, self._behind(char, found)), True)
        return found

    def _behind(self, char: str, rest: Fraction) -> Ref:
        builder = self.builder
        tail = builder.optional(rest.some) if rest.none else rest.some
        return builder.seq(builder.literal(char.encode()), tail)

    def both(self, left: Fraction, right: Fraction) -> Fraction:
        """The fractions in both."""
        return Fraction(self.builder.both(left.some, right.some), left.none and right.none)

    def with_point(self, whole: Ref, fraction: Fraction) -> Ref:
        """Whole numbers with a fraction behind them."""
        builder = self.builder
        tail = builder.seq(builder.literal(b"."), fraction.some)
        return builder.seq(whole, builder.optional(tail) if fraction.none else tail)

    def decimals(self, low: Decimal, low_open: bool, high: Decimal | None, high_open: bool) -> Ref:
        """Decimal notation, without an exponent, of the magnitudes in an interval."""
        builder = self.builder
        if high is not None and (low > high or (low == high and (low_open or high_open))):
            return builder.empty
        whole, fraction = plain_digits(low)
        start = self.fraction_from(fraction, low_open)
        free = Fraction(self.some, True)
        head = builder.literal(whole.encode())
        if high is None:
            above = self.integers(_next(whole), None)
            return builder.alt(self.with_point(head, start), self.with_point(above, free))
        top, top_fraction = plain_digits(high)
        end = self.fraction_to(top_fraction, high_open)
        if whole == top:
            return self.with_point(head, self.both(start, end))
        inside = self.integers(_next(whole), _before(top))
        return builder.alt(
            self.with_point(head, start),
            self.with_point(inside, free),
            self.with_point(builder.literal(top.encode()), end),
        )


def _next(digits: str) -> str:
    return str(int(digits) + 1)


def _before(digits: str) -> str:
    return str(int(digits) - 1)
