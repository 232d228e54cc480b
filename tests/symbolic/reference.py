"""An independent evaluator and random expressions, for the tests of the exact layer."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symbolic.region import Region, above, at_least, between

x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
k = sp.Symbol("k", integer=True, positive=True)

Point = Mapping[sp.Symbol, sp.Rational]

_context = MPContext()
_context.dps = 120


class _UndefinedError(Exception):
    """A part of the expression has no value, or one too large to be told apart from rounding."""


def value(expression: sp.Expr, point: Point, *, real: bool = True) -> Any:
    """Return an expression at a point, relative to its largest part if that is above 1.

    None where a part has no (real) value. It is computed node by node in mpmath, to 120 digits.
    """
    largest = _context.one

    def at(node: sp.Expr) -> Any:
        nonlocal largest
        if node in point:
            result = _number(point[node])
        elif node.is_Rational:
            result = _number(node)
        elif node is sp.E:
            result = _context.e
        else:
            result = _apply(node, [at(argument) for argument in node.args])
        if isinstance(result, _context.mpc):
            if result.imag == 0:
                result = result.real
            elif real:
                raise _UndefinedError
        if not abs(result) < 10**30:
            raise _UndefinedError
        largest = max(largest, abs(result))
        return result

    try:
        return at(expression) / largest
    except (_UndefinedError, ZeroDivisionError):
        return None


def _apply(node: sp.Expr, arguments: list[Any]) -> Any:
    if node.is_Add:
        return _context.fsum(arguments)
    if node.is_Mul:
        return _context.fprod(arguments)
    if node.is_Pow:
        base, exponent = arguments
        if base == 0 and not exponent > 0:
            raise _UndefinedError
        if abs(exponent) > 1000:
            raise _UndefinedError
        return _bounded(base**exponent)
    (argument,) = arguments
    if (node.func is sp.log and argument == 0) or (node.func is sp.exp and abs(argument) > 70):
        raise _UndefinedError
    name = {sp.Abs: "fabs"}.get(node.func, node.func.__name__)
    return _bounded(getattr(_context, name)(argument))


def _bounded(number: Any) -> Any:
    if not _context.isfinite(number):
        raise _UndefinedError
    return number


def _number(rational: sp.Rational) -> Any:
    return _context.mpf(int(rational.p)) / int(rational.q)


REGIONS = (
    Region({k: at_least(1)}),
    Region({x: at_least(0), y: above(0), k: at_least(2)}),
    Region({x: between(0, 1), y: between(x, 2), k: at_least(1)}),
    Region({k: at_least(2), x: between(-1 / (k - 1), 1, lower_open=True, upper_open=True)}),
    Region({y: between(-2, 0, upper_open=True), x: above(y), k: at_least(1)}),
    Region({y: between(-1, 1), x: between(y - 1, y), p: between(y**2 + 1, 3)}),
)
regions = st.sampled_from(REGIONS)

_shares = st.one_of(st.integers(0, 1000).map(lambda m: sp.Rational(m, 1000)), st.sampled_from([0]))


@st.composite
def points(draw: st.DrawFn, region: Region, symbols: tuple[sp.Symbol, ...] = (x, y, p, k)) -> Point:
    """Draw a rational point of a region, also on its closed ends."""
    point: dict[sp.Symbol, sp.Rational] = {}
    for symbol in dict.fromkeys((*region.symbols, *symbols)):
        r = region.get(symbol, at_least(0) if symbol.is_positive else between(-5, 5))
        lower, upper = (None if b is None else b.subs(point) for b in (r.lower, r.upper))
        if symbol.is_integer:
            point[symbol] = (lower or sp.Integer(1)) + draw(st.integers(0, 6))
            point[symbol] = max(point[symbol], sp.Integer(1))
            continue
        share = sp.Rational(draw(_shares))
        if (r.lower_open or symbol.is_positive) and share == 0:
            share = sp.Rational(1, 3)
        if (r.upper_open or symbol.is_positive) and share == 1:
            share = sp.Rational(2, 3)
        if lower is not None and upper is not None:
            point[symbol] = lower + (upper - lower) * share
        else:
            size = draw(st.sampled_from([1, 10, sp.Rational(1, 50)]))
            point[symbol] = lower + share * size if lower is not None else upper - share * size
    return point


def _guarded(build: Callable[..., sp.Expr]) -> Callable[..., sp.Expr]:
    """Return a constructor that gives its first argument back where SymPy finds no finite value."""

    def guarded(first: sp.Expr, *rest: sp.Expr) -> sp.Expr:
        built = build(first, *rest)
        return first if built.has(sp.zoo, sp.nan, sp.oo, sp.I) else built

    return guarded


_UNARY: tuple[Callable[[sp.Expr], sp.Expr], ...] = tuple(
    _guarded(build)
    for build in (
        sp.sqrt,
        sp.exp,
        sp.log,
        sp.Abs,
        sp.sinh,
        sp.asinh,
        lambda a: a**2,
        lambda a: 1 / a,
        lambda a: sp.cbrt(a) ** 2,
    )
)
_BINARY: tuple[Callable[[sp.Expr, sp.Expr], sp.Expr], ...] = tuple(
    _guarded(build)
    for build in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
    )
)

leaves = st.one_of(
    st.sampled_from([x, y, p, k, x]),
    st.sampled_from([sp.Integer(m) for m in (-1, 1, 2, 3)] + [sp.Rational(1, 2)]),
)


def expressions(size: int = 6) -> st.SearchStrategy[sp.Expr]:
    """Return random expressions of + - * / powers, roots, exp, log and relatives."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda f, a: f(a), st.sampled_from(_UNARY), inner),
            st.builds(lambda f, a, b: f(a, b), st.sampled_from(_BINARY), inner, inner),
        ),
        max_leaves=size,
    )


# Rewritings that hold for positive numbers; `force` does not ask whether they are.
REWRITINGS: tuple[Callable[[sp.Expr], sp.Expr], ...] = (
    sp.expand,
    sp.together,
    sp.factor,
    sp.powsimp,
    lambda e: e.rewrite(sp.exp),
    lambda e: sp.expand_log(e, force=True),
    lambda e: sp.expand_power_base(e, force=True),
    lambda e: sp.powdenest(e, force=True),
    lambda e: sp.logcombine(e, force=True),
)
