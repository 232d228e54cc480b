"""A second method for every formula, which shares no form, variable or library with the first.

Each takes exact parameter values and returns a Decimal with at least 40 right digits, an infinite
Decimal for an infinite limit, or None where the formula is not defined. Nothing here may use
`numeric`, or the expressions in `symbolic`.
"""

import decimal
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath.ctx_mp import MPContext

Values = Mapping[str, Fraction]
Method = Callable[[Values], Decimal | None]


def exact_decimals(digits: int) -> decimal.Context:
    """Return a context of decimal arithmetic that only rounds, to this many digits."""
    return decimal.Context(
        prec=digits,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


def decimal_of(value: Fraction, context: decimal.Context) -> Decimal:
    """Return the decimal nearest to a fraction."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def critical_cosine(values: Values) -> Decimal:
    """The continued fraction [0; m, m, ...] with m = H - 1, in integers."""
    return decimal_of(_metallic(int(values["H"]) - 1, 60), exact_decimals(60))


def _metallic(m: int, digits: int) -> Fraction:
    """Return a convergent of [0; m, m, ...] with more than the digits asked for, relatively."""
    if m == 0:
        return Fraction(1)
    before, last = 0, 1
    # Neighbouring convergents a/b and c/d enclose the limit and differ by 1/(b d).
    while before * last <= 10**digits * (m + 1):
        before, last = last, m * last + before
    return Fraction(before, last)


def sharp_critical_cosine(values: Values) -> Decimal:
    """The integer part of 10^200/sqrt(H), from an integer square root."""
    scaled = isqrt(10**400 // int(values["H"]))
    return exact_decimals(60).scaleb(Decimal(scaled), -200)


def critical_beta(values: Values) -> Decimal:
    """The form as stated, ln(c^2 (n-1)/(1-c^2))/(2 alpha), in decimal with c from integers."""
    if values["H"] == 1:
        return Decimal("Infinity")
    context = exact_decimals(500)
    c = _metallic(int(values["H"]) - 1, 600)
    odds = c**2 * (values["n"] - 1) / (1 - c**2)
    logarithm = context.ln(decimal_of(odds, context))
    return context.divide(logarithm, decimal_of(2 * values["alpha"], context))


def sharp_critical_beta(values: Values) -> Decimal:
    """The difference of two decimal logarithms of integers over 2 alpha."""
    if values["H"] == 1:
        return Decimal("Infinity")
    context = exact_decimals(300)
    tokens, others = (context.log10(Decimal(int(values[k]) - 1)) for k in ("n", "H"))
    scale = context.divide(context.ln(Decimal(10)), decimal_of(2 * values["alpha"], context))
    return context.multiply(context.subtract(tokens, others), scale)


def radial_cosine(values: Values) -> Decimal | None:
    """Sums over explicit tokens for few of them, else the softmax average in decimal."""
    if values["n"] <= 12:
        return radial_cosine_of_tokens(values)
    return radial_cosine_of_average(values)


def radial_cosine_of_tokens(values: Values) -> Decimal | None:
    """Put the tokens at ``x_i = a e_i + b (e_1 + ... + e_n)`` and add up what token 0 sees."""
    context: Any = MPContext()
    context.dps = 700
    n, gamma = int(values["n"]), values["gamma"]
    rate = _mpf(values["lam"] * values["beta"], context)
    a = context.sqrt(_mpf(1 - gamma, context))
    b = (context.sqrt(_mpf(1 + (n - 1) * gamma, context)) - a) / n
    tokens = [[b + a if k == i else b for k in range(n)] for i in range(n)]

    def inner(x: list[Any], y: list[Any]) -> Any:
        return sum((s * t for s, t in zip(x, y, strict=True)), context.mpf(0))

    weights = [context.exp(rate * (inner(tokens[0], token) - 1)) for token in tokens]
    aggregate = [
        sum((w * token[k] for w, token in zip(weights, tokens, strict=True)), context.mpf(0))
        for k in range(n)
    ]
    length = context.sqrt(inner(aggregate, aggregate))
    if length < context.mpf(10) ** -350:
        return None
    cosine = inner(aggregate, tokens[0]) / (length * context.sqrt(inner(tokens[0], tokens[0])))
    return Decimal(context.nstr(cosine, 60))


def radial_cosine_of_average(values: Values) -> Decimal | None:
    """Average with softmax weights: p on the token itself, 1 - p on the centroid of the others."""
    context = exact_decimals(1200)
    n, gamma = values["n"], values["gamma"]
    exponent = -values["lam"] * values["beta"] * (1 - gamma)
    with decimal.localcontext(context):
        weight = decimal_of(exponent, context).exp()
        p = 1 / (1 + int(n - 1) * weight)
        g = decimal_of(gamma, context)
        centroid_square = decimal_of((1 + (n - 2) * gamma) / (n - 1), context)
        square = p * p + 2 * p * (1 - p) * g + (1 - p) ** 2 * centroid_square
        if abs(square) < Decimal(10) ** -1000:
            return None
        return (p + (1 - p) * g) / square.sqrt()


def _mpf(value: Fraction, context: Any) -> Any:
    return context.mpf(value.numerator) / context.mpf(value.denominator)


INDEPENDENT: dict[str, Method] = {
    "critical-cosine": critical_cosine,
    "sharp-critical-cosine": sharp_critical_cosine,
    "critical-beta": critical_beta,
    "sharp-critical-beta": sharp_critical_beta,
    "radial-cosine": radial_cosine,
}
"""The method of each formula; a formula without one fails a test."""
