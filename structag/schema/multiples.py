"""Lowers `multipleOf` and its negation: numbers divided by some factors, and not by others.

Three ways, the first that applies: list the multiples between two bounds; look at the last digits
(a factor of 1000, or one unit of some decimal place); follow the remainder digit by digit.
Numbers come in decimal notation, without an exponent.
"""

from __future__ import annotations

from decimal import Decimal
from math import lcm
from typing import TYPE_CHECKING

from structag.grammar.expressions import Ref
from structag.schema.digits import plain_digits
from structag.schema.facts import NumberFacts, number_fits

if TYPE_CHECKING:
    from structag.schema.numbers import Numbers

MAX_MULTIPLES = 5000
MAX_RULES = 20_000
ZERO, ONE = Decimal(0), Decimal(1)


class FactorError(Exception):
    """The factors are too intricate together with the bounds."""


def lower_multiples(numbers: Numbers, facts: NumberFacts) -> Ref:
    """The JSON texts of the numbers that satisfy `facts`, which has factors.

    Raises:
        FactorError: none of the ways applies.
    """
    if facts.is_integer:
        facts = facts._replace(factors=(*facts.factors, ONE))
    listed = _listed(facts)
    if listed is not None:
        digits_only = facts.is_integer is True and not numbers.integer_decimals
        return numbers.constants(listed, digits_only)
    ref = _by_last_digits(numbers, facts)
    return ref if ref is not None else _Remainders(numbers, facts).lower()


def lower_nearest(numbers: Numbers, facts: NumberFacts) -> Ref:
    """Those of the numbers of `facts` that are nearest to zero; none if it has no factors."""
    if facts.is_integer:
        facts = facts._replace(factors=(*facts.factors, ONE))
    if not facts.factors:
        return numbers.builder.empty
    reach = abs(_shifted(*_common(facts.factors))) * (MAX_MULTIPLES // 2 - 1)
    middle = ZERO
    if facts.low is not None and facts.low > 0:
        middle = facts.low
    elif facts.high is not None and facts.high < 0:
        middle = facts.high
    low, high = middle - reach, middle + reach
    if facts.low is None or facts.low < low:
        facts = facts._replace(low=low, low_open=False)
    if facts.high is None or facts.high > high:
        facts = facts._replace(high=high, high_open=False)
    digits_only = facts.is_integer is True and not numbers.integer_decimals
    return numbers.constants(_listed(facts) or [], digits_only)


def _listed(facts: NumberFacts) -> list[Decimal] | None:
    """The multiples one by one, if there are few."""
    if facts.low is None or facts.high is None or not facts.factors:
        return None
    numerator, places = _common(facts.factors)
    step = _shifted(numerator, places)
    top, bottom = step.as_integer_ratio()
    low_top, low_bottom = facts.low.as_integer_ratio()
    high_top, high_bottom = facts.high.as_integer_ratio()
    first = -(-low_top * bottom // (low_bottom * top))
    last = high_top * bottom // (high_bottom * top)
    if last - first > MAX_MULTIPLES:
        return None
    values = (_shifted(i * numerator, places) for i in range(first, last + 1))
    return [value for value in values if number_fits(value, facts)]


def _by_last_digits(numbers: Numbers, facts: NumberFacts) -> Ref | None:
    builder = numbers.builder
    parts = [numbers.lower(facts._replace(factors=(), not_factors=())), numbers.plain]
    for factor in facts.factors:
        ref = _endings(numbers, factor)
        if ref is None:
            return None
        parts.append(ref)
    for factor in facts.not_factors:
        ref = _endings(numbers, factor)
        if ref is None:
            return None
        parts.append(builder.complement(ref))
    return builder.both(*parts)


def _endings(numbers: Numbers, factor: Decimal) -> Ref | None:
    """All multiples of a factor of 1000, or of one unit of a decimal place."""
    builder, digits = numbers.builder, numbers.digits
    numerator, places = _scaled(factor)
    if places == 0 and 1000 % numerator == 0:
        endings = (builder.literal(b"%03d" % n) for n in range(0, 1000, numerator))
        short = (builder.literal(b"%d" % n) for n in range(0, 1000, numerator))
        long = builder.seq(digits.digit(1, 9), digits.many, builder.alt(*endings))
        return builder.seq(numbers.minus, builder.alt(*short, long), numbers.zero_fraction)
    if numerator == 1:
        some = builder.repeat(digits.any, 1, places)
        fraction = builder.seq(builder.literal(b"."), some, digits.zeros)
        return builder.seq(numbers.integer, builder.optional(fraction))
    return None


class _Remainders:
    """Right-linear rules: one for each remainder of the digits so far."""

    def __init__(self, numbers: Numbers, facts: NumberFacts) -> None:
        self.numbers = numbers
        self.builder = numbers.builder
        self.facts = facts
        if facts.banned or facts.is_integer is False:
            raise FactorError
        self.modulus, self.places = _common(facts.factors + facts.not_factors)
        self.digits_only = facts.is_integer is True
        scale = 10**self.places
        scaled = [(_scaled(f), True) for f in facts.factors]
        scaled += [(_scaled(f), False) for f in facts.not_factors]
        self.conditions = [(n * scale // 10**k, wanted) for (n, k), wanted in scaled]
        self.any_fraction = not facts.factors
        if self.modulus > MAX_MULTIPLES:
            raise FactorError

    def lower(self) -> Ref:
        """Both signs."""
        facts, builder = self.facts, self.builder
        positive = self._half(facts.low, facts.low_open, facts.high, 1)
        low = None if facts.high is None else facts.high.copy_negate()
        high = None if facts.low is None else facts.low.copy_negate()
        negative = self._half(low, facts.high_open, high, -1)
        return builder.alt(positive, builder.seq(builder.literal(b"-"), negative))

    def _half(self, low: Decimal | None, is_open: bool, high: Decimal | None, sign: int) -> Ref:
        """The magnitudes of one sign; the bounds are those of the magnitudes."""
        builder = self.builder
        if high is not None and high < 0:
            return builder.empty
        if high is not None:
            return self._listed_half(Decimal(0), high, sign)
        if low is None or low < 0 or (low == 0 and not is_open):
            return self._rules(0, True)
        if low == 0:
            if not self.digits_only:
                raise FactorError
            return self._rules(0, False)
        size = len(plain_digits(low)[0])
        few = self._listed_half(low, Decimal((0, (1,), size)), sign)
        return builder.alt(few, self._rules(size, False))

    def _listed_half(self, low: Decimal, high: Decimal, sign: int) -> Ref:
        """Few magnitudes; as the numbers of that sign must fit the facts, so do these."""
        if sign < 0:
            low, high = high.copy_negate(), low.copy_negate()
        bounds = NumberFacts(low=low, high=high, factors=self.facts.factors)
        listed = _listed(bounds)
        if listed is None:
            raise FactorError
        kept = [value.copy_abs() for value in listed if number_fits(value, self.facts)]
        if high == 0 and sign > 0 and not kept:
            return self.builder.empty
        return self.numbers.constants(kept, self.digits_only)

    def _rules(self, skip: int, with_zero: bool) -> Ref:
        """Magnitudes of over `skip` digits before the point."""
        builder, modulus = self.builder, self.modulus
        self.numbers.rule_count += modulus * (skip + 1)
        if modulus * (skip + 1) > MAX_MULTIPLES or self.numbers.rule_count > MAX_RULES:
            raise FactorError
        layers = skip + 1  # layer i: behind i + 1 digits
        digits = [builder.literal(b"%d" % d) for d in range(10)]
        name = f"multiple-{modulus}-{self.places}"
        rules = [[builder.rule(f"{name}-{i}-{r}") for r in range(modulus)] for i in range(layers)]
        for i, layer in enumerate(rules):
            following = rules[min(i + 1, skip)]
            for r, rule in enumerate(layer):
                options = [
                    builder.seq(digit, following[(10 * r + d) % modulus])
                    for d, digit in enumerate(digits)
                ]
                if i == skip:
                    options.append(self._end(r))
                builder.define(rule, builder.alt(*options))
        first = rules[0]
        starts = [builder.seq(builder.literal(b"%d" % d), first[d % modulus]) for d in range(1, 10)]
        zero = builder.seq(builder.literal(b"0"), self._end(0)) if with_zero else builder.empty
        return builder.alt(zero, *starts)

    def _accepts(self, remainder: int) -> bool:
        return all((remainder % n == 0) == wanted for n, wanted in self.conditions)

    def _end(self, remainder: int) -> Ref:
        """What may follow the digits before the point, given their remainder."""
        builder, digits, modulus = self.builder, self.numbers.digits, self.modulus
        parts: list[Ref] = []
        if self._accepts(remainder * 10**self.places % modulus):
            parts.append(builder.epsilon)
        if self.digits_only:
            return builder.alt(*parts)
        tails = {remainder: builder.epsilon}
        ends: list[Ref] = []
        for place in range(1, self.places + 1):
            following: dict[int, list[Ref]] = {}
            for r, head in tails.items():
                for d in range(10):
                    ref = builder.seq(head, builder.literal(b"%d" % d))
                    following.setdefault((10 * r + d) % modulus, []).append(ref)
            tails = {r: builder.alt(*refs) for r, refs in following.items()}
            scale = 10 ** (self.places - place)
            ends += [ref for r, ref in tails.items() if self._accepts(r * scale % modulus)]
        if self.places == 0 and self._accepts(remainder):
            ends.append(builder.literal(b"0"))
        some = builder.seq(builder.alt(*ends), digits.zeros)
        if self.any_fraction:
            before = builder.repeat(digits.any, self.places, self.places)
            more = builder.seq(before, digits.zeros, digits.digit(1, 9), digits.many)
            some = builder.alt(some, more)
        parts.append(builder.seq(builder.literal(b"."), some))
        return builder.alt(*parts)


def _scaled(factor: Decimal) -> tuple[int, int]:
    """``(n, k)`` with ``factor = n / 10**k`` and the least k of 0 or more."""
    whole, fraction = plain_digits(factor)
    return int(whole + fraction), len(fraction)


def _shifted(value: int, places: int) -> Decimal:
    return Decimal((int(value < 0), Decimal(abs(value)).as_tuple().digits, -places))


def _common(factors: tuple[Decimal, ...]) -> tuple[int, int]:
    """The least common multiple as ``n / 10**k``."""
    scaled = [_scaled(factor) for factor in factors]
    places = max(k for _, k in scaled)
    return lcm(*(n * 10 ** (places - k) for n, k in scaled)), places
