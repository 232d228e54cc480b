"""Trajectories of orthogonal heads, against what a user would write for the same reduced system."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Case

_LAM, _SHARES, _OVERLAPS, _BETA, _TOKENS = ("1", "1.3"), ("0.9", "0.1"), ("0.6", "0.6"), 2, 64
# mpmath takes its time: a shorter run for both.
_SHORT = "0.2"


def _ours(digits: int | None, until: str) -> object:
    from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads

    return simulate_orthogonal_heads(
        lam=",".join(_LAM),
        shares=",".join(_SHARES),
        overlaps=",".join(_OVERLAPS),
        beta=_BETA,
        n=_TOKENS,
        until=until,
        points=11,
        digits=digits,
    )


def _by_odefun(digits: int) -> object:
    """Follow shares and overlaps by Taylor series, in the variables of the theorem."""
    import mpmath

    mp: Any = mpmath.mp
    with mp.workdps(digits):
        lam = [mp.mpf(x) for x in _LAM]
        start = [mp.mpf(x) for x in (*_SHARES, *_OVERLAPS)]

        def rate(_: object, state: list[Any]) -> list[Any]:
            return _reduced(mp.exp, lam, state)

        return mp.odefun(rate, 0, start)(mp.mpf(_SHORT))


def _reduced(exp: Any, lam: list[Any], state: Any) -> list[Any]:
    shares, overlaps = state[:2], state[2:]
    own = [exp(_BETA * k * s) for k, s in zip(lam, shares, strict=True)]
    other = [exp(_BETA * k * s * r) for k, s, r in zip(lam, shares, overlaps, strict=True)]
    pulls = [
        k * (p + (_TOKENS - 1) * q * r)
        for k, p, q, r in zip(lam, own, other, overlaps, strict=True)
    ]
    mean = sum(s * pull for s, pull in zip(shares, pulls, strict=True))
    moved = [2 * s * (pull - mean) / _TOKENS for s, pull in zip(shares, pulls, strict=True)]
    return moved + [
        2 * k * q * (1 - r) * (1 + (_TOKENS - 1) * r) / _TOKENS
        for k, q, r in zip(lam, other, overlaps, strict=True)
    ]


def _tokens_by_scipy() -> object:
    """Follow all tokens in coordinates in float64, as without the reduction."""
    import numpy as np
    from scipy.integrate import solve_ivp

    n = _TOKENS
    blocks = [
        np.sqrt(float(s)) * np.linalg.cholesky(float(r) + (1 - float(r)) * np.eye(n))
        for s, r in zip(_SHARES, _OVERLAPS, strict=True)
    ]
    start = np.concatenate(blocks, axis=1)
    lam = np.array([float(k) for k in _LAM])

    def rate(_: float, y: Any) -> Any:
        x = y.reshape(n, len(lam), n)
        scores = lam * np.einsum("ihd,jhd->ijh", x, x)
        v = np.einsum("ijh,h,jhd->ihd", np.exp(_BETA * scores), lam, x) / n
        return (v - np.einsum("ihd,ihd->i", v, x)[:, None, None] * x).ravel()

    return solve_ivp(
        rate,
        (0, 1),
        start.ravel(),
        method="DOP853",
        t_eval=np.linspace(0, 1, 11),
        rtol=1e-12,
        atol=1e-12,
    )


def cases() -> list[Case]:
    """Return trajectories at 50 digits and in float64; ours include all columns at 11 times."""
    return [
        Case(
            "orthogonal heads: t in [0, 0.2], all columns, 50 digits",
            lambda: _ours(50, _SHORT),
            lambda: _by_odefun(50),
            "mpmath.odefun, state only",
        ),
        Case(
            "orthogonal heads: t in [0, 1], n = 64, all columns, float64",
            lambda: _ours(None, "1"),
            _tokens_by_scipy,
            "SciPy, tokens in coordinates, state only",
        ),
    ]
