"""The scalar regime a second time, in mpmath: its rate as mathematics.md states it, and times.

Nothing here uses the code under test, its variable or its library.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from numeric.definitions import Numbers, scalar_flow

MODELS = ("softmax", "unnormalised", "relu")


def context(digits: int) -> Any:
    mp: Any = MPContext()
    mp.dps = digits
    return mp


def mpf(mp: Any, value: Fraction | int) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def rate(mp: Any, model: str, lam: Sequence[Fraction], beta: Fraction, n: int, gap: Any) -> Any:
    """Return gamma' by the reduced equation in gamma = 1 - gap."""
    gamma, warmth = 1 - gap, mpf(mp, beta)
    total = mp.zero
    for strength in (mpf(mp, x) for x in lam):
        if model == "softmax":
            total += 2 * strength / (mp.exp(warmth * strength * gap) + n - 1)
        elif model == "unnormalised":
            total += 2 * strength * mp.exp(warmth * strength * gamma) / n
        elif strength * gamma > 0:
            total += 2 * strength**2 * gamma / n
    return gap * (1 + (n - 1) * gamma) * total


def rate_of_tokens(
    mp: Any, model: str, lam: Sequence[Fraction], beta: Fraction, n: int, gamma: Fraction
) -> Any:
    """Return gamma' from the models word for word, in coordinates."""
    a = mp.sqrt(mpf(mp, 1 - gamma))
    b = (mp.sqrt(mpf(mp, 1 + (n - 1) * gamma)) - a) / n
    tokens = [[b + a if k == i else b for k in range(n)] for i in range(n)]
    numbers = Numbers(mp.exp, mp.sqrt, max)
    strengths = [mpf(mp, x) for x in lam]
    return scalar_flow(model, tokens, strengths, mpf(mp, beta), numbers).overlap_rate(0, 1)


def time_between(
    mp: Any,
    model: str,
    lam: Sequence[Fraction],
    beta: Fraction,
    n: int,
    gaps: tuple[Any, Any],
) -> Any:
    """Return the time from one gap to another, by mpmath's quadrature in the logarithm of gap.

    Where gamma falls, in the logarithm of ``1 + (n-1) gamma``.
    """
    first, last = gaps
    if first > last:

        def along(w: Any) -> Any:
            gap = mp.exp(-w)
            return gap / rate(mp, model, lam, beta, n, gap)

        ends = -mp.log(first), -mp.log(last)
    else:
        heights = [n - (n - 1) * gap for gap in gaps]

        def along(w: Any) -> Any:
            height = mp.exp(-w)
            return -height / (n - 1) / rate(mp, model, lam, beta, n, (n - height) / (n - 1))

        ends = -mp.log(heights[0]), -mp.log(heights[1])
    pieces = max(1, int(mp.ceil(ends[1] - ends[0])))
    return mp.quad(along, mp.linspace(*ends, pieces + 1))
