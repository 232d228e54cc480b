"""Times of the linearised equiangular flow near ``gamma = 0`` (Thm 25), one head, lam > 0.

``gamma' = a + b gamma`` with the value and the slope of the rate at 0: unnormalised tokens start
with a drive a > 0, relu ones grow from a positive overlap only.
"""

from __future__ import annotations

import sympy as sp

from symbolic import equiangular
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n, start, stop
from symbolic.region import Region, above, at_least, between
from symbolic.written import written

DRIVE_TIME = written(lambda: n * stop / (2 * lam))
"""Unnormalised, constant drive: the time from 0 to ``stop``."""
SLOPE_TIME = written(
    lambda: n * sp.log(1 + (beta * lam + n - 2) * stop) / (2 * lam * (beta * lam + n - 2))
)
"""Unnormalised, with the slope."""
RELU_TIME = written(lambda: n * sp.log(stop / start) / (2 * lam**2))
"""Relu, from a positive ``start``."""

dimension = sp.Symbol("d", positive=True)

REGION = Region(
    {
        n: at_least(2),
        beta: above(0),
        lam: above(0),
        stop: between(0, 1, lower_open=True),
        start: between(0, stop, lower_open=True),
        dimension: at_least(1),
    }
)


def identities(drive: sp.Expr, slope: sp.Expr, relu: sp.Expr) -> dict[str, sp.Expr]:
    """Return what must vanish identically for the three stated times, each with what it says.

    A time is right if its slope in ``stop`` is one over the linearised rate there, and if it is 0
    for a passage of no length.
    """
    exponential = equiangular.RATES[Model.UNNORMALISED]
    # At a positive overlap relu's weight is the score itself.
    rectified = equiangular.RATES[Model.RELU].replace(sp.Max, lambda *_: lam * gamma)
    value, tilt = (sp.diff(exponential, gamma, k).subs(gamma, 0) for k in (0, 1))
    growth = sp.diff(rectified, gamma).subs(gamma, 0)
    return {
        "constant drive: slope": sp.diff(drive, stop) * value - 1,
        "constant drive: start": drive.subs(stop, 0),
        "with the slope: slope": sp.diff(slope, stop) * (value + tilt * stop) - 1,
        "with the slope: start": slope.subs(stop, 0),
        "relu: no drive": rectified.subs(gamma, 0),
        "relu: slope": sp.diff(relu, stop) * growth * stop - 1,
        "relu: start": relu.subs(stop, start),
        "relu from 1/sqrt(d)": relu.subs(start, 1 / sp.sqrt(dimension))
        - n * sp.log(dimension) / (4 * lam**2)
        - n * sp.log(stop) / (2 * lam**2),
    }


def bounds(drive: sp.Expr, slope: sp.Expr, relu: sp.Expr) -> dict[str, sp.Expr]:
    """Return what must not be negative for the orders, each with what it says.

    The time with the slope is 0 at ``stop = 0``, as that of constant drive is, and grows more
    slowly, so it is at most ``n stop/(2 lam)``; relu's from ``1/sqrt(d)`` is at most
    ``n ln d/(4 lam^2)``.
    """
    from_dimension = relu.subs(start, 1 / sp.sqrt(dimension))
    return {
        "slope of the drive's time less that with the slope": sp.diff(drive - slope, stop),
        "n ln d/(4 lam^2) less relu's time": n * sp.log(dimension) / (4 * lam**2) - from_dimension,
    }
