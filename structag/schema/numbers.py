"""Lowers number facts to JSON number texts: signed intervals, exponents, constants, multiples.

What is restricted, soundly: an integer is spelled with digits only; under bounds or exclusions a
number with an exponent has one digit, not 0, before the point (as Python and JavaScript print it).
An unbounded number has every spelling of RFC 8259.
"""

from __future__ import annotations

from decimal import Decimal

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.digits import Digits, plain_digits
from structag.schema.facts import NumberFacts, number_fits
from structag.schema.multiples import lower_multiples

ZERO, ONE, TEN = Decimal(0), Decimal(1), Decimal(10)


class Numbers:
    """Lowers number facts in one builder."""

    def __init__(self, builder: GrammarBuilder, integer_decimals: bool = False) -> None:
        self.builder = builder
        self.integer_decimals = integer_decimals
        self.rule_count = 0  # rules that follow remainders
        self.digits = Digits(builder)
        self.minus = builder.optional(builder.literal(b"-"))
        self.exponent_sign = builder.bytes(b"eE")
        self.integer = builder.json_number(integer=True)
        self.number = builder.json_number(integer=False)
        self.zero_fraction = builder.optional(
            builder.seq(builder.literal(b"."), builder.repeat(builder.literal(b"0"), 1))
        )

    @property
    def shortest(self) -> Ref:
        """One text for every number: without exponent, useless zeros and minus."""
        builder, digits = self.builder, self.digits
        whole = builder.seq(self.minus, digits.digit(1, 9), digits.many)
        fraction = builder.seq(builder.literal(b"."), digits.many, digits.digit(1, 9))
        return builder.alt(builder.literal(b"0"), whole, builder.seq(self.integer, fraction))

    def lower(self, facts: NumberFacts) -> Ref:
        """The JSON texts of the numbers that satisfy `facts`.

        Raises:
            FactorError: the factors cannot be combined with the rest.
        """
        if facts.values is not None:
            kept = [value for value in facts.values if number_fits(value, facts)]
            return self.constants(kept, facts.is_integer is True and not self.integer_decimals)
        if facts.factors or facts.not_factors:
            return lower_multiples(self, facts)
        builder = self.builder
        low, high = facts.low, facts.high
        if low is None and high is None and not facts.banned:
            if facts.is_integer is None:
                return self.number
            if facts.is_integer and not self.integer_decimals:
                return self.integer
        if facts.is_integer:
            ref = self._integers(facts)
            if self.integer_decimals:
                ref = builder.alt(builder.seq(ref, self.zero_fraction), self._round(facts))
        else:
            ref = self._signed(low, facts.low_open, high, facts.high_open)
        if facts.is_integer is False:
            ref = builder.both(ref, self._broken())
        if facts.banned:
            banned = (self._signed(value, False, value, False) for value in facts.banned)
            ref = builder.both(ref, builder.complement(builder.alt(*banned)))
        return ref

    @property
    def plain(self) -> Ref:
        """Every number in decimal notation, without an exponent."""
        builder = self.builder
        fraction = builder.seq(builder.literal(b"."), self.digits.some)
        return builder.seq(self.integer, builder.optional(fraction))

    def _broken(self) -> Ref:
        """Decimal notation with a fraction other than 0."""
        digits, builder = self.digits, self.builder
        return builder.seq(
            self.integer,
            builder.literal(b"."),
            digits.zeros,
            digits.digit(1, 9),
            digits.many,
        )

    def _integers(self, facts: NumberFacts) -> Ref:
        low, high = whole_bounds(facts)
        builder, digits = self.builder, self.digits
        parts: list[Ref] = []
        if high is None or high >= 0:
            parts.append(digits.integers(max(low or 0, 0), high))
        if low is None or low <= 0:
            least = max(-high, 0) if high is not None else 0
            most = None if low is None else -low
            parts.append(builder.seq(builder.literal(b"-"), digits.integers(least, most)))
        return builder.alt(*parts)

    def _round(self, facts: NumberFacts) -> Ref:
        """Integers of one digit and an exponent."""
        builder, digits = self.builder, self.digits
        shape = builder.seq(
            self.minus, digits.digit(0, 9), self.zero_fraction, self._exponent(0, None)
        )
        return builder.both(self._signed(facts.low, facts.low_open, facts.high, facts.high_open),
                            shape)  # fmt: skip

    def _signed(
        self, low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool
    ) -> Ref:
        """An interval of numbers, with and without exponents."""
        builder = self.builder
        parts: list[Ref] = []
        if high is None or high > 0 or (high == 0 and not high_open):
            if low is None or low < 0:
                parts.append(self._magnitudes(ZERO, False, high, high_open))
            else:
                parts.append(self._magnitudes(low, low_open, high, high_open))
        if low is None or low < 0 or (low == 0 and not low_open):
            most = None if low is None else low.copy_negate()
            if high is None or high > 0:
                ref = self._magnitudes(ZERO, False, most, low_open)
            else:
                ref = self._magnitudes(high.copy_negate(), high_open, most, low_open)
            parts.append(builder.seq(builder.literal(b"-"), ref))
        return builder.alt(*parts)

    def _magnitudes(
        self, low: Decimal, low_open: bool, high: Decimal | None, high_open: bool
    ) -> Ref:
        if high is not None and (low > high or (low == high and (low_open or high_open))):
            return self.builder.empty
        plain = self.digits.decimals(low, low_open, high, high_open)
        return self.builder.alt(plain, self._scientific(low, low_open, high, high_open))

    def _scientific(
        self, low: Decimal, low_open: bool, high: Decimal | None, high_open: bool
    ) -> Ref:
        """One digit before the point and an exponent."""
        builder, digits = self.builder, self.digits
        parts: list[Ref] = []
        if low == 0 and not low_open:
            sign = builder.optional(builder.bytes(b"+-"))
            zero = builder.seq(builder.literal(b"0"), self.zero_fraction)
            parts.append(builder.seq(zero, self.exponent_sign, sign, digits.some))
        least = None if low == 0 else low.adjusted()
        most = None if high is None else high.adjusted()
        if high == 0:
            return builder.alt(*parts)
        first = ONE if low == 0 else _mantissa(low)
        last = TEN if high is None else _mantissa(high)
        every = digits.decimals(ONE, False, TEN, True)
        if least is not None and least == most:
            mantissa = digits.decimals(first, low_open, last, high_open)
            return builder.alt(*parts, builder.seq(mantissa, self._exponent(least, least)))
        if least is not None:
            mantissa = digits.decimals(first, low_open, TEN, True)
            parts.append(builder.seq(mantissa, self._exponent(least, least)))
        if most is not None:
            mantissa = digits.decimals(ONE, False, last, high_open)
            parts.append(builder.seq(mantissa, self._exponent(most, most)))
        inside = self._exponent(
            None if least is None else least + 1, None if most is None else most - 1
        )
        return builder.alt(*parts, builder.seq(every, inside))

    def _exponent(self, low: int | None, high: int | None) -> Ref:
        builder, digits = self.builder, self.digits
        parts: list[Ref] = []
        if high is None or high >= 0:
            plus = builder.optional(builder.literal(b"+"))
            parts.append(builder.seq(plus, digits.zeros, digits.integers(max(low or 0, 0), high)))
        if low is None or low <= 0:
            least = max(-high, 0) if high is not None else 0
            most = None if low is None else -low
            negative = digits.integers(least, most)
            parts.append(builder.seq(builder.literal(b"-"), digits.zeros, negative))
        return builder.seq(self.exponent_sign, builder.alt(*parts))

    # -- constants

    def constants(self, values: list[Decimal], is_integer: bool) -> Ref:
        """Each value with any zeros behind it, and, where it is usual, with an exponent."""
        builder = self.builder
        whole: list[Ref] = []
        others: list[Ref] = []
        for value in values:
            if value == value.to_integral_value() and (is_integer or value.adjusted() < 16):
                text = plain_digits(value)[0]
                sign = "-" if value < 0 else ""
                whole.append(builder.literal((sign + text).encode()))
                if value == 0:
                    whole.append(builder.literal(b"-0"))
            else:
                others.append(self._signed(value, False, value, False))
        exact = builder.alt(*whole)
        if not is_integer:
            exact = builder.seq(exact, self.zero_fraction)
        return builder.alt(exact, *others)


def whole_bounds(facts: NumberFacts) -> tuple[int | None, int | None]:
    """The least and the greatest integer in the interval.

    >>> whole_bounds(NumberFacts(Decimal("-0.5"), False, Decimal(7), True))
    (0, 6)
    """
    low = high = None
    if facts.low is not None:
        low = int(facts.low)
        if low < facts.low or (facts.low_open and low == facts.low):
            low += 1
    if facts.high is not None:
        high = int(facts.high)
        if high > facts.high or (facts.high_open and high == facts.high):
            high -= 1
    return low, high


def _mantissa(value: Decimal) -> Decimal:
    digits = value.as_tuple().digits
    return Decimal((0, digits, 1 - len(digits)))
