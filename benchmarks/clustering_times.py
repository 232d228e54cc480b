"""Clustering times, certified, against ``mpmath.quad`` over the logit of the overlap.

The benchmark case: four softmax heads, n = 64, from orthonormal tokens to gamma = 1 - 1e-6. The
logit is the best variable mpmath can be given: in gamma it is slower, and loses digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.harness import Case

_DIGITS = (50, 200, 1000)
_CASE = {"lam": "0.5,1,3/2,2", "beta": 2, "n": 64, "start": 0, "stop": "1-1e-6"}


def cases() -> list[Case]:
    """Return clustering times at several numbers of digits, and the late constant."""
    return [*map(_clustering_time, _DIGITS), _late_constant(50)]


def _clustering_time(digits: int) -> Case:
    import mpmath

    from numeric.evaluate import evaluate

    mp = mpmath.mp

    def peer() -> object:
        with mp.workdps(digits):
            heads = [mp.mpf(k) / 2 for k in (1, 2, 3, 4)]
            end = mp.log((1 + 63 * (1 - mp.mpf(10) ** -6)) * 10**6)
            return mp.quad(_softmax_time(heads), [0, end])

    return Case(
        f"clustering time, {digits} digits, certified",
        lambda: evaluate("clustering-time", digits=digits, **_CASE),
        peer,
        "mpmath.quad over the logit, not certified",
    )


def _softmax_time(heads: list[Any]) -> Callable[[Any], Any]:
    import mpmath

    exp = mpmath.exp

    def integrand(u: Any) -> Any:
        gap = 64 / (exp(u) + 63)
        return 1 / sum(128 * lam / (exp(2 * lam * gap) + 63) for lam in heads)

    return integrand


def _late_constant(digits: int) -> Case:
    import mpmath

    from numeric.evaluate import evaluate

    mp = mpmath.mp

    def peer() -> object:
        with mp.workdps(digits):
            heads = [mp.mpf(k) / 2 for k in (1, 2, 3, 4)]

            def excess(s: Any) -> Any:
                gap = mp.exp(-s)
                rates = [2 * x * (64 - 63 * gap) / (mp.exp(2 * x * gap) + 63) for x in heads]
                return 10 / sum(rates) - 1

            ends = [0, 1, 4, 16, 64, 2.4 * digits]
            return mp.exp(mp.quad(excess, ends))

    return Case(
        f"late constant, {digits} digits, certified",
        lambda: evaluate("late-constant", digits=digits, lam="0.5,1,3/2,2", beta=2, n=64),
        peer,
        "mpmath.quad over s = -ln(eps), not certified",
    )
