"""Lowers number facts to JSON number texts: signed intervals, exponents, constants, multiples.

What is restricted, soundly: an integer is spelled with digits only; under bounds or exclusions a
number with an exponent has one digit, not 0, before the point (as Python and JavaScript print it).
An unbounded number has every spelling of RFC 8259.
"""

from __future__ import annotations

from decimal import Decimal
from math import gcd

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.schema.digits import Digits, plain_digits
from structag.schema.facts import NumberFacts, number_fits

MAX_MULTIPLES = 5000
ZERO, ONE, TEN = Decimal(0), Decimal(1), Decimal(10)


class FactorError(Exception):
    """The factors are too intricate together with the bounds."""


class Numbers:
    """Lowers number facts in one builder."""

    def __init__(self, builder: GrammarBuilder, integer_decimals: bool = False) -> None:
        self.builder = builder
        self.integer_decimals = integer_decimals
        self.digits = digits = Digits(builder)
        self.minus = builder.optional(builder.literal(b"-"))
        self.exponent_sign = builder.bytes(b"eE")
        self.integer = builder.seq(self.minus, digits.whole)
        fraction = builder.optional(builder.seq(builder.literal(b"."), digits.some))
        sign = builder.optional(builder.bytes(b"+-"))
        exponent = builder.optional(builder.seq(self.exponent_sign, sign, digits.some))
        self.number = builder.seq(self.integer, fraction, exponent)
        self.zero_fraction = builder.optional(
            builder.seq(builder.literal(b"."), builder.repeat(builder.literal(b"0"), 1))
        )
        self._residues: dict[Decimal, Ref] = {}

    def lower(self, facts: NumberFacts) -> Ref:
        """The JSON texts of the numbers that satisfy `facts`.

        Raises:
            FactorError: `factors` cannot be combined with the rest.
        """
        if facts.values is not None:
            kept = [value for value in facts.values if number_fits(value, facts)]
            return self._constants(kept, facts.is_integer is True and not self.integer_decimals)
        if facts.factors:
            return self._multiples(facts)
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

    def _constants(self, values: list[Decimal], is_integer: bool) -> Ref:
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

    # -- multiples

    def _multiples(self, facts: NumberFacts) -> Ref:
        builder = self.builder
        factor = _common_multiple(facts.factors + ((ONE,) if facts.is_integer else ()))
        rest = facts._replace(factors=())
        listed = self._listed(rest, factor)
        if listed is not None:
            return self._constants(listed, facts.is_integer is True and not self.integer_decimals)
        numerator, places = _scaled(factor)
        if places == 0 and 1000 % numerator == 0:
            pattern = self._endings(numerator)
            if facts.is_integer:
                return builder.both(self.lower(rest), pattern)
            return builder.both(self.lower(rest), builder.seq(pattern, self.zero_fraction))
        if numerator == 1:
            fraction = builder.seq(
                builder.literal(b"."), builder.repeat(self.digits.any, 1, places), self.digits.zeros
            )
            return builder.both(
                self.lower(rest), builder.seq(self.integer, builder.optional(fraction))
            )
        if facts.banned or facts.is_integer is False or numerator > MAX_MULTIPLES:
            raise FactorError
        if any(bound not in (None, 0) for bound in (facts.low, facts.high)):
            raise FactorError
        ref = self._residue_rules(factor, numerator, places, facts.is_integer is True)
        zero_free = facts.low_open or facts.high_open
        if zero_free:
            raise FactorError
        parts: list[Ref] = []
        if facts.high is None:
            parts.append(ref)
        if facts.low is None:
            parts.append(builder.seq(builder.literal(b"-"), ref))
        return builder.alt(*parts) if parts else builder.empty

    def _listed(self, facts: NumberFacts, factor: Decimal) -> list[Decimal] | None:
        """The multiples one by one, if there are few."""
        if facts.low is None or facts.high is None:
            return None
        top, bottom = factor.as_integer_ratio()
        low_top, low_bottom = facts.low.as_integer_ratio()
        high_top, high_bottom = facts.high.as_integer_ratio()
        first = -(-low_top * bottom // (low_bottom * top))
        last = high_top * bottom // (high_bottom * top)
        if last - first > MAX_MULTIPLES:
            return None
        numerator, places = _scaled(factor)
        values = (_shifted(i * numerator, places) for i in range(first, last + 1))
        return [value for value in values if number_fits(value, facts)]

    def _endings(self, factor: int) -> Ref:
        """Integers with a sign, divisible by a factor of 1000."""
        builder, digits = self.builder, self.digits
        endings = (builder.literal(b"%03d" % n) for n in range(0, 1000, factor))
        short = (builder.literal(b"%d" % n) for n in range(0, 1000, factor))
        long = builder.seq(digits.digit(1, 9), digits.many, builder.alt(*endings))
        return builder.seq(self.minus, builder.alt(*short, long))

    def _residue_rules(
        self, factor: Decimal, numerator: int, places: int, digits_only: bool
    ) -> Ref:
        """Multiples of ``numerator / 10**places`` by their remainders, as right-linear rules."""
        key = factor.copy_negate() if digits_only else factor
        known = self._residues.get(key)
        if known is not None:
            return known
        builder = self.builder
        names = [builder.rule(f"multiple-{factor}-{r}") for r in range(numerator)]
        for r, rule in enumerate(names):
            options = [
                builder.seq(builder.literal(b"%d" % d), names[(10 * r + d) % numerator])
                for d in range(10)
            ]
            options.append(self._residue_end(r, numerator, places, digits_only))
            builder.define(rule, builder.alt(*options))
        starts = [
            builder.seq(builder.literal(b"%d" % d), names[d % numerator]) for d in range(1, 10)
        ]
        zero = builder.seq(
            builder.literal(b"0"), self._residue_end(0, numerator, places, digits_only)
        )
        ref = self._residues[key] = builder.alt(zero, *starts)
        return ref

    def _residue_end(self, residue: int, numerator: int, places: int, digits_only: bool) -> Ref:
        """What may follow the whole part, given its remainder."""
        builder = self.builder
        parts: list[Ref] = []
        if residue * 10**places % numerator == 0:
            parts.append(builder.epsilon)
        if not digits_only:
            tails = {residue: builder.epsilon}
            ends: list[Ref] = []
            for place in range(1, places + 1):
                following: dict[int, list[Ref]] = {}
                for r, head in tails.items():
                    for d in range(10):
                        ref = builder.seq(head, builder.literal(b"%d" % d))
                        following.setdefault((10 * r + d) % numerator, []).append(ref)
                tails = {r: builder.alt(*refs) for r, refs in following.items()}
                scale = 10 ** (places - place)
                ends += [ref for r, ref in tails.items() if r * scale % numerator == 0]
            zeros = self.digits.zeros
            if places == 0 and residue == 0:
                ends.append(builder.repeat(builder.literal(b"0"), 1))
            if ends:
                parts.append(builder.seq(builder.literal(b"."), builder.alt(*ends), zeros))
        return builder.alt(*parts)


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


def _scaled(factor: Decimal) -> tuple[int, int]:
    """``(n, k)`` with ``factor = n / 10**k`` and the least k of 0 or more."""
    whole, fraction = plain_digits(factor)
    return int(whole + fraction), len(fraction)


def _shifted(value: int, places: int) -> Decimal:
    return Decimal((int(value < 0), Decimal(abs(value)).as_tuple().digits, -places))


def _common_multiple(factors: tuple[Decimal, ...]) -> Decimal:
    scaled = [_scaled(factor) for factor in factors]
    places = max(k for _, k in scaled)
    result = 1
    for numerator, k in scaled:
        number = numerator * 10 ** (places - k)
        result = result * number // gcd(result, number)
    return _shifted(result, places)
