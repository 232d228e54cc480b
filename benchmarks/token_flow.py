"""The flow of n tokens: 50 digits against mpmath.odefun, float64 against plain SciPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from benchmarks.harness import Case

# One Taylor segment of mpmath.odefun at 50 digits is 78 right-hand sides at 79 times the precision,
# next to which the rest of its work is left out. For these tokens its first segment reaches to
# t = 0.00681 (found by running ode_taylor once; it took 73 s).
_SEGMENT_EVALUATIONS = 78
_SEGMENT = 0.00681
_TIMED_EVALUATIONS = 2


def cases() -> list[Case]:
    """Return the comparisons."""
    return [_fifty_digits(), _float64()]


def _fifty_digits() -> Case:
    """Return the flow of 16 random tokens under 2 softmax heads at 50 digits."""
    from numeric.heads import scalar_heads
    from numeric.token_flow import TokenFlow
    from numeric.token_start import random_tokens
    from numeric.token_trajectory import followed

    n = 16
    flow = TokenFlow("softmax", scalar_heads("1,3/2", n), Fraction(1), n)
    tokens = random_tokens(n, n, 1)
    evaluate = _mpmath_rates(tokens.floats.ravel().tolist(), n)
    return Case(
        "tokens: n=16 d=16 H=2, t in [0,1], 50 digits",
        lambda: followed(flow, tokens, [Fraction(1)], 50),
        lambda: [evaluate() for _ in range(_TIMED_EVALUATIONS)],
        "mpmath.odefun, its right-hand side",
        peer_share=_TIMED_EVALUATIONS / _SEGMENT_EVALUATIONS * _SEGMENT,
    )


def _mpmath_rates(start: list[float], n: int) -> Callable[[], object]:
    """Return one right-hand side in mpmath, at the precision at which odefun evaluates it."""
    from mpmath.ctx_mp import MPContext

    mp: Any = MPContext()
    mp.dps = 50
    mp.prec *= 1 + _SEGMENT_EVALUATIONS
    # Numbers of full length, as in odefun.
    state = [mp.mpf(3) * x / 3 + mp.eps for x in start]

    def rates() -> list[Any]:
        x = [state[i * n : (i + 1) * n] for i in range(n)]
        gram = [[mp.fdot(a, b) for b in x[: i + 1]] for i, a in enumerate(x)]
        mixture = [[mp.zero] * n for _ in range(n)]
        for strength in (mp.mpf(1), mp.mpf(3) / 2):
            weights = [[mp.exp(strength * s) for s in row] for row in gram]
            full = [[weights[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
            for row, out in zip(full, mixture, strict=True):
                factor = strength / mp.fsum(row)
                out[:] = [a + factor * w for a, w in zip(out, row, strict=True)]
        found: list[Any] = []
        for i, row in enumerate(mixture):
            velocity = [mp.fdot(row, column) for column in zip(*x, strict=True)]
            shadow = mp.fdot(x[i], velocity)
            found += [v - shadow * a for a, v in zip(x[i], velocity, strict=True)]
        return found

    return rates


def _float64() -> Case:
    """Return the flow of 64 random tokens under 4 softmax heads in float64."""
    import numpy as np
    from scipy.integrate import solve_ivp

    from numeric.heads import scalar_heads
    from numeric.simulation import Array
    from numeric.token_flow import TokenFlow
    from numeric.token_start import random_tokens
    from numeric.token_trajectory import followed_float64

    n, beta = 64, 2.0
    flow = TokenFlow("softmax", scalar_heads("0.5,1,3/2,2", n), Fraction(2), n)
    start = random_tokens(n, n, 1).floats
    strengths = np.array([0.5, 1.0, 1.5, 2.0])
    times = np.linspace(0.0, 1.0, 11)

    def rates(_: float, y: Array) -> Array:
        x = y.reshape(n, n)
        weights = np.exp(beta * strengths[:, None, None] * (x @ x.T))
        weights /= weights.sum(axis=-1, keepdims=True)
        velocity = np.einsum("h,hij->ij", strengths, weights) @ x
        tangential = velocity - (x * velocity).sum(axis=-1, keepdims=True) * x
        return np.asarray(tangential.ravel())

    def plain() -> object:
        return solve_ivp(rates, (0, 1), start.ravel(), "DOP853", times, rtol=1e-12, atol=1e-12)

    return Case(
        "tokens: n=64 d=64 H=4, t in [0,1], float64",
        lambda: followed_float64(flow, start, times),
        plain,
        "scipy solve_ivp DOP853, NumPy by hand",
    )
