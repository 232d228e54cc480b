"""Signs of polynomials over stated ranges: positive coefficients, else isolated real roots.

Every answer is exact. The method is sound and incomplete: `Sign.UNDECIDED` means "not shown".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

import sympy as sp

from symbolic.region import Range


class Sign(Enum):
    """What is proved about the sign of an expression everywhere on a region."""

    POSITIVE = "> 0"
    NONNEGATIVE = ">= 0"
    ZERO = "= 0"
    NONPOSITIVE = "<= 0"
    NEGATIVE = "< 0"
    UNDECIDED = "undecided"

    @property
    def flipped(self) -> Sign:
        """Return the sign of the negated expression."""
        return _FLIPPED[self]

    @property
    def is_nonnegative(self) -> bool:
        """Tell whether the expression is proved to be at least zero."""
        return self in (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)

    @property
    def is_strict(self) -> bool:
        """Tell whether the expression is proved to vanish nowhere."""
        return self in _STRICT

    def joined(self, other: Sign) -> Sign:
        """Return what is known on the union of two regions with these signs."""
        if self is other:
            return self
        for strict, weak in ((Sign.POSITIVE, Sign.NONNEGATIVE), (Sign.NEGATIVE, Sign.NONPOSITIVE)):
            if {self, other} <= {strict, weak, Sign.ZERO}:
                return weak
        return Sign.UNDECIDED

    def __mul__(self, other: Sign) -> Sign:
        """Return what is known of the sign of a product."""
        if Sign.UNDECIDED in (self, other):
            return Sign.UNDECIDED
        if Sign.ZERO in (self, other):
            return Sign.ZERO
        strict = self in _STRICT and other in _STRICT
        positive = (self in _UPPER) == (other in _UPPER)
        if strict:
            return Sign.POSITIVE if positive else Sign.NEGATIVE
        return Sign.NONNEGATIVE if positive else Sign.NONPOSITIVE


_STRICT = (Sign.POSITIVE, Sign.NEGATIVE)
_UPPER = (Sign.POSITIVE, Sign.NONNEGATIVE)
_FLIPPED = {
    Sign.POSITIVE: Sign.NEGATIVE,
    Sign.NONNEGATIVE: Sign.NONPOSITIVE,
    Sign.ZERO: Sign.ZERO,
    Sign.NONPOSITIVE: Sign.NONNEGATIVE,
    Sign.NEGATIVE: Sign.POSITIVE,
    Sign.UNDECIDED: Sign.UNDECIDED,
}


def number_sign(value: sp.Rational) -> Sign:
    """Return the sign of a rational number."""
    if value == 0:
        return Sign.ZERO
    return Sign.POSITIVE if value > 0 else Sign.NEGATIVE


def polynomial_sign(
    polynomial: sp.Expr, generators: list[sp.Symbol], ranges: Mapping[sp.Symbol, Range]
) -> Sign:
    """Return the sign of a polynomial with rational coefficients on a product of ranges.

    Each generator is written in variables that run over ``[0, infinity)``; if then all
    coefficients have one sign, that is the answer. A polynomial in one generator with rational
    bounds is decided by counting its real roots in the range instead. A bound that is no rational
    function with rational coefficients is left out.

    Args:
        polynomial: a polynomial in the generators.
        generators: all symbols of the polynomial and of the bounds, each after those that its own
            bounds use.
        ranges: the range of each generator; one without a range is any real number.
    """
    if not polynomial.free_symbols:
        return number_sign(sp.Rational(polynomial))
    ranges = {g: _rational_range(ranges.get(g, Range())) for g in generators}
    involved = _involved(polynomial, generators, ranges)
    for generator in involved:
        r = ranges[generator]
        if r.lower is not None and r.upper is not None and not r.upper_open:
            if r.lower == r.upper:
                return _at_value(polynomial, generator, r.upper, generators, ranges)
            inside = replace(r, upper_open=True)
            rest = polynomial_sign(polynomial, generators, {**ranges, generator: inside})
            return rest.joined(_at_value(polynomial, generator, r.upper, generators, ranges))
    answer = _sign_by_coefficients(polynomial, involved, ranges)
    if answer is Sign.UNDECIDED and len(polynomial.free_symbols) == 1:
        return _sign_by_roots(polynomial, ranges)
    return answer


def _at_value(
    polynomial: sp.Expr,
    generator: sp.Symbol,
    value: sp.Expr,
    generators: list[sp.Symbol],
    ranges: Mapping[sp.Symbol, Range],
) -> Sign:
    """Return the sign of a polynomial where a generator has a given value."""
    rest = [g for g in generators if g != generator]
    there = {g: ranges[g].subs(generator, value) for g in rest}
    return _fraction_sign(polynomial.subs(generator, value), rest, there)


def _rational_range(r: Range) -> Range:
    """Return a range without the bounds that are no rational functions, which only widens it."""
    lower, upper = (b if b is not None and _is_rational(b) else None for b in (r.lower, r.upper))
    return Range(lower, upper, r.lower_open, r.upper_open)


def _is_rational(expression: sp.Expr) -> bool:
    """Tell whether an expression is a rational function with rational coefficients."""
    if expression.is_Add or expression.is_Mul:
        return all(_is_rational(argument) for argument in expression.args)
    if expression.is_Pow:
        return bool(expression.exp.is_Integer) and _is_rational(expression.base)
    return bool(expression.is_Symbol or expression.is_Rational)


def _involved(
    polynomial: sp.Expr, generators: list[sp.Symbol], ranges: Mapping[sp.Symbol, Range]
) -> list[sp.Symbol]:
    """Return the generators of a polynomial and, through bounds, those that limit them."""
    found = set(polynomial.free_symbols)
    for generator in reversed(generators):
        if generator in found:
            found |= {s for bound in ranges[generator].bounds for s in bound.free_symbols}
    return [generator for generator in generators if generator in found]


def _fraction_sign(
    expression: sp.Expr, generators: list[sp.Symbol], ranges: Mapping[sp.Symbol, Range]
) -> Sign:
    """Return the sign of a rational function from its numerator and denominator."""
    numerator, denominator = sp.fraction(sp.together(expression))
    numerator = sp.expand(numerator)
    if numerator == 0:
        return Sign.ZERO
    return polynomial_sign(numerator, generators, ranges) * polynomial_sign(
        sp.expand(denominator), generators, ranges
    )


def _sign_by_coefficients(
    polynomial: sp.Expr, generators: list[sp.Symbol], ranges: Mapping[sp.Symbol, Range]
) -> Sign:
    """Write each generator in non-negative variables and read the signs of the coefficients."""
    expression = polynomial
    positive: set[sp.Symbol] = set()
    shifted: list[sp.Symbol] = []
    # A bound may use a generator listed before it, so the last one is substituted first.
    for generator in reversed(generators):
        fresh, value, strict = _in_nonnegative_variable(generator, ranges.get(generator, Range()))
        if fresh is None:
            return Sign.UNDECIDED
        expression = expression.subs(generator, value)
        shifted.append(fresh)
        if strict:
            positive.add(fresh)
    numerator, denominator = sp.fraction(sp.together(expression))
    return _coefficient_sign(numerator, shifted, positive) * _coefficient_sign(
        denominator, shifted, positive
    )


def _in_nonnegative_variable(
    generator: sp.Symbol, r: Range
) -> tuple[sp.Symbol | None, sp.Expr, bool]:
    """Return a fresh variable t >= 0, the generator in terms of t, and whether t > 0 strictly."""
    fresh = sp.Dummy(f"{generator.name}_shift")
    if r.lower is not None and r.upper is not None:
        return fresh, (r.lower + r.upper * fresh) / (1 + fresh), r.lower_open
    if r.lower is not None:
        return fresh, r.lower + fresh, r.lower_open
    if r.upper is not None:
        return fresh, r.upper - fresh, r.upper_open
    return None, generator, False


def _coefficient_sign(
    expression: sp.Expr, variables: list[sp.Symbol], positive: set[sp.Symbol]
) -> Sign:
    """Return the sign of a polynomial in variables >= 0 from the signs of its coefficients."""
    if not variables:
        return number_sign(sp.Rational(expression))
    terms = sp.Poly(expression, *variables, domain="QQ").terms()
    if all(coefficient == 0 for _, coefficient in terms):
        return Sign.ZERO
    signs = {coefficient > 0 for _, coefficient in terms}
    if len(signs) != 1:
        return Sign.UNDECIDED
    # Strict as soon as one monomial cannot vanish.
    strict = any(
        all(
            power == 0 or variable in positive
            for variable, power in zip(variables, powers, strict=True)
        )
        for powers, _ in terms
    )
    if signs == {True}:
        return Sign.POSITIVE if strict else Sign.NONNEGATIVE
    return Sign.NEGATIVE if strict else Sign.NONPOSITIVE


def _sign_by_roots(polynomial: sp.Expr, ranges: Mapping[sp.Symbol, Range]) -> Sign:
    """Count the real roots in the range (Sturm); without one, the sign at a point decides."""
    (generator,) = polynomial.free_symbols
    r = ranges.get(generator, Range())
    if r.is_empty or not all(bound.is_Rational for bound in r.bounds):
        return Sign.UNDECIDED
    poly = sp.Poly(polynomial, generator)
    strict = poly.count_roots(r.lower, r.upper) == 0
    if not strict:
        ends = {
            bound
            for bound, is_open in ((r.lower, r.lower_open), (r.upper, r.upper_open))
            if bound is not None and poly.eval(bound) == 0
        }
        if poly.count_roots(r.lower, r.upper) > len(ends):
            return Sign.UNDECIDED
        strict = all(
            is_open
            for bound, is_open in ((r.lower, r.lower_open), (r.upper, r.upper_open))
            if bound in ends
        )
    sign = number_sign(poly.eval(_inner_point(poly, r)))
    if strict:
        return sign
    return Sign.NONNEGATIVE if sign is Sign.POSITIVE else Sign.NONPOSITIVE


def _inner_point(poly: sp.Poly, r: Range) -> sp.Rational:
    """Return a rational point inside the range at which ``poly`` does not vanish."""
    if r.lower is not None and r.upper is not None:
        candidates = (
            r.lower + (r.upper - r.lower) * sp.Rational(k, k + 1) for k in range(1, 10**4)
        )
    elif r.upper is not None:
        candidates = (r.upper - k for k in range(1, 10**4))
    else:
        candidates = ((r.lower or sp.Integer(0)) + k for k in range(1, 10**4))
    return next(point for point in candidates if poly.eval(point) != 0)
