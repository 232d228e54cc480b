"""Hypothesis strategies: exact parameter values of any formula, from its parameters' domains.

A formula is drawn from the ranges it declares, with the ends of the domain, their neighbourhoods
and extreme sizes mixed in. Where it has delicate places of its own, they are added to `EXTRA`.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symbolic.formula import Formula
from symbolic.parameter import Parameter
from symbolic.region import Range
from tests.numeric.independent import rate_inflection

Values = dict[str, Any]

HUGE = 10**100
TINY = Fraction(1, HUGE)


ORDINARY: dict[str, Values] = {
    "critical-spread": {"mean": Fraction(12), "beta": Fraction(4, 7), "n": Fraction(52)},
}
"""Values of formulas that are not defined well inside their domain as declared."""


def draws(subject: Formula) -> st.SearchStrategy[Values]:
    """Draw exact values of all parameters of a formula, in its domain."""
    drawn = _derived(subject)
    drawn = drawn | EXTRA[subject.name] if subject.name in EXTRA else drawn
    if subject.name in INTEGRALS:
        return drawn.map(_milder)
    return drawn.map(_tamed) if subject.name in EXPONENTIAL else drawn


def ordinary(subject: Formula) -> Values:
    """Return values well inside the domain, where nothing is special."""
    if subject.name in ORDINARY:
        return dict(ORDINARY[subject.name])
    values: Values = {}
    for parameter in _in_order(subject):
        if parameter.choices:
            # The model where the most happens.
            values[parameter.name] = "unnormalised"
            continue
        if parameter.many:
            middle = Fraction(-3, 5) if parameter.range.lower is None else Fraction(3, 5)
            values[parameter.name] = (Fraction(4, 7), middle, Fraction(9, 7))
            continue
        low, high = _ends(parameter.range, subject, values)
        if low is not None and high is not None:
            share = Fraction(6 if parameter.name == "stop" else 3, 7)
            values[parameter.name] = low + (high - low) * share
        elif parameter.integer:
            values[parameter.name] = (low or Fraction(0)) + (50 if parameter.name == "n" else 3)
        else:
            values[parameter.name] = (low or Fraction(0)) + Fraction(4, 7)
    return {p.name: values[p.name] for p in subject.parameters}


_sizes = st.one_of(
    st.sampled_from([TINY, Fraction(1, 10**30), Fraction(1), Fraction(10**6), Fraction(HUGE)]),
    st.builds(Fraction, st.integers(1, 10_000), st.sampled_from([1000, 1024, 999])),
    st.builds(Fraction, st.integers(1, 60), st.integers(1, 12)),
    st.builds(
        lambda mantissa, exponent: mantissa * Fraction(10) ** exponent,
        st.integers(1, 9999),
        st.integers(-100, 97),
    ),
)

_shares = st.one_of(
    st.sampled_from([Fraction(1, 2), TINY, 1 - TINY, Fraction(1, 10**30), 1 - Fraction(1, 10**30)]),
    st.builds(lambda part, whole: Fraction(part, part + whole), *[st.integers(1, 999)] * 2),
    st.builds(
        lambda size, below: 1 - size if below else size,
        st.builds(lambda e: Fraction(1, 10**e), st.integers(1, 100)),
        st.booleans(),
    ),
)


_signed = st.just(Fraction(0)) | _sizes | _sizes.map(lambda size: -size)
_few = st.lists(_signed, min_size=1, max_size=4)
# Equal heads, heads that cancel in pairs, and many of them come up as well.
_strengths = st.one_of(
    *[_few] * 8,
    _few.map(lambda heads: heads + [-head for head in heads]),
    st.builds(lambda head, count: [head] * count, _signed, st.sampled_from([2, 3, 100])),
    st.builds(lambda head: [head * k for k in range(-5, 6)], _sizes),
).map(tuple)

_positive_strengths = st.one_of(
    st.lists(_sizes, min_size=1, max_size=4),
    st.builds(lambda head, count: [head] * count, _sizes, st.sampled_from([2, 3])),
).map(tuple)


def _counts(low: int) -> st.SearchStrategy[Fraction]:
    """Draw integers from ``low`` up to 10^100."""
    return st.one_of(
        st.sampled_from([low, low + 1, low + 2, 10**6, HUGE - 1, HUGE]),
        st.integers(low, low + 30),
        st.integers(low, low + 10_000),
        st.builds(
            lambda mantissa, exponent: low + mantissa * 10**exponent,
            st.integers(1, 999),
            st.integers(0, 97),
        ),
    ).map(Fraction)


@st.composite
def _derived(draw: st.DrawFn, subject: Formula) -> Values:
    values: Values = {}
    for parameter in _in_order(subject):
        values[parameter.name] = draw(_any(parameter, subject, values))
    idle = subject.idle.get(values.get("model", ""), ())
    left_out = [name for name in idle if draw(st.booleans())]
    return {p.name: values[p.name] for p in subject.parameters if p.name not in left_out}


def _any(
    parameter: Parameter, subject: Formula, values: Mapping[str, Any]
) -> st.SearchStrategy[Any]:
    """Draw from the domain of any parameter: a word, a list or a number."""
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.many:
        return _strengths if parameter.range.lower is None else _positive_strengths
    return _within(parameter, *_ends(parameter.range, subject, values))


def _within(
    parameter: Parameter, low: Fraction | None, high: Fraction | None
) -> st.SearchStrategy[Fraction]:
    """Draw from one parameter's domain; closed ends come up often."""
    if parameter.integer:
        assert low is not None, parameter.name
        assert high is None, parameter.name
        return _counts(int(low))
    ends = [
        end
        for end, is_open in ((low, parameter.range.lower_open), (high, parameter.range.upper_open))
        if end is not None and not is_open
    ]
    if low is not None and high is not None:
        width = high - low
        inside = _shares.map(lambda share: low + share * width)
        near_zero = [x for x in (Fraction(0), TINY, -TINY) if low < x < high]
        inside = inside | st.sampled_from(near_zero) if near_zero else inside
    elif low is not None:
        inside = _sizes.map(lambda size: low + size)
    elif high is not None:
        inside = _sizes.map(lambda size: high - size)
    else:
        inside = _signed
    # An end is one draw in six.
    return st.one_of(*[inside] * 5, st.sampled_from(ends)) if ends else inside


def _in_order(subject: Formula) -> list[Parameter]:
    """Return the parameters with those first whose bounds need no other parameter."""

    def linked(parameter: Parameter) -> bool:
        bounds = (parameter.range.lower, parameter.range.upper)
        return any(bound is not None and bound.free_symbols for bound in bounds)

    return sorted(subject.parameters, key=linked)


def _ends(
    limits: Range, subject: Formula, values: Mapping[str, Any]
) -> tuple[Fraction | None, Fraction | None]:
    numbers = {
        p.symbol: sp.Rational(values[p.name].numerator, values[p.name].denominator)
        for p in subject.parameters
        if isinstance(values.get(p.name), Fraction)
    }

    def end(bound: sp.Expr | None) -> Fraction | None:
        if bound is None:
            return None
        number = bound.subs(numbers)
        return Fraction(int(number.p), int(number.q))

    return end(limits.lower), end(limits.upper)


EXPONENTIAL = ("rate", "early-rate", "late-rate", "foreign-strength", "attention-entropy")
"""Formulas whose values may have exponents beyond those of decimal numbers, 10^18."""


INTEGRALS = ("clustering-time", "late-constant", "exit-time")
"""Formulas that are integrals: the other methods take long, and not all that is allowed."""


def _milder(values: Values) -> Values:
    """Return values for which mpmath can integrate: no steep exponentials, few heads."""
    tuple_of_heads = values["lam"] if isinstance(values["lam"], tuple) else (values["lam"],)
    heads = tuple_of_heads[:5]
    size = max(map(abs, heads)) * values.get("beta", 0)
    factor = 12 / size if size > 12 else Fraction(1)
    scaled = tuple(head * factor for head in heads)
    return {**values, "lam": scaled if isinstance(values["lam"], tuple) else scaled[0]}


def _tamed(values: Values) -> Values:
    """Return values with weaker heads where powers of e have more than 10^15 digits."""
    heads = values["lam"] if isinstance(values["lam"], tuple) else (values["lam"],)
    size = max(map(abs, heads)) * values.get("beta", 0)
    scale = Fraction(1, 10 ** len(str(int(size) // 10**15))) if size >= 10**15 else Fraction(1)
    scaled = tuple(head * scale for head in heads)
    return {**values, "lam": scaled if isinstance(values["lam"], tuple) else scaled[0]}


def _values(**parameters: st.SearchStrategy[Fraction]) -> st.SearchStrategy[Values]:
    return st.fixed_dictionaries(parameters)


# Around beta* = 0: the least n with a positive value is (H-1)^2 + 2, or H + 1 in the sharp form.
_heads = _counts(2).filter(lambda heads: heads <= 10**50)
_near_zero = st.builds(
    lambda heads, shift, alpha: {
        "n": max(shift + (heads - 1) ** 2, Fraction(2)),
        "H": heads,
        "alpha": alpha,
    },
    _heads,
    st.integers(-1, 3),
    _sizes,
)
_sharp_near_zero = st.builds(
    lambda heads, shift, alpha: {"n": max(heads + shift, Fraction(2)), "H": heads, "alpha": alpha},
    _counts(2),
    st.integers(-2, 2),
    _sizes,
)
# Without attention (beta = 0) the radial cosine is sqrt((1 + (n-1) gamma)/n), here a rational: a
# tie at some digits, or a hair beside it.
_rational_cosines = st.builds(
    lambda cosine, n, beta: {
        "lam": Fraction(1),
        "beta": beta,
        "n": Fraction(n),
        "gamma": (n * cosine**2 - 1) / (n - 1),
    },
    st.builds(Fraction, st.integers(1, 10**5), st.just(10**5)),
    st.integers(2, 40),
    st.sampled_from([Fraction(0), TINY, Fraction(1, 10**30)]),
)


_nearness = st.one_of(
    st.sampled_from([TINY, Fraction(1, 10**30), Fraction(1, 10**5)]),
    st.builds(Fraction, st.integers(1, 999), st.just(1000)),
).flatmap(lambda size: st.sampled_from([size, -size]))


def _around_critical_beta(
    values: Values, room: int, others: int, share: Fraction, nearness: Fraction
) -> Values:
    """Return equal heads below beta*, or about as far from it as told."""
    tokens = others**2 + room
    context: Any = MPContext()
    context.dps = 130
    score = (context.log(context.mpf(tokens) / others) - context.asinh(others / context.mpf(2))) / 2
    product = Fraction(Decimal(context.nstr(score, 120))) * (share or 1 + nearness)
    return {
        **values,
        "H": Fraction(others + 1),
        "n": Fraction(tokens + 1),
        "beta": product / values["lam"],
    }


def _around_inflection(n: Fraction, beta: Fraction, nearness: Fraction) -> Values:
    """Return a mean about as far from lambda_c as told; lambda_c is known to 50 digits."""
    inflection = rate_inflection({"n": n, "beta": beta})
    return {"mean": Fraction(inflection) * (1 + nearness), "beta": beta, "n": n}


_below_critical_beta = st.builds(
    _around_critical_beta,
    st.fixed_dictionaries(
        {"model": st.sampled_from(["softmax", "unnormalised"]), "lam": _sizes},
    ),
    st.integers(1, 1000) | st.sampled_from([10**30, HUGE]),
    st.integers(1, 30) | st.sampled_from([10**6, 10**49]),
    st.just(Fraction(0)) | _shares,
    _nearness,
)

EXTRA: dict[str, st.SearchStrategy[Values]] = {
    "critical-beta": _near_zero,
    "sharp-critical-beta": _sharp_near_zero,
    "radial-cosine": _rational_cosines,
    "exit-overlap": _below_critical_beta,
    "critical-spread": st.builds(_around_inflection, _counts(2), _sizes, _nearness),
}
"""The place to add draws that the declared ranges do not lead to."""
