"""The scalar regime: trajectories and maps of clustering times, against mpmath and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.harness import Case

_LAM = (0.5, 1.0, 1.5, 2.0)
_BETA, _N = 2, 64
# The time from gamma = 0 to 1 - 1e-6; the peer is given the same times.
_TIME, _POINTS = "1.906828201652709507889407", 50


def _odefun(digits: int) -> Callable[[], object]:
    """Return mpmath's solver on the equation in gamma.

    All of the work: its later segments are cheaper than the first ones, so that a share misleads.
    """
    import mpmath

    mp = mpmath.mp

    def run() -> object:
        with mp.workdps(digits):
            lam = [mp.mpf(x) for x in _LAM]

            def rate(_: Any, gamma: Any) -> Any:
                total = sum(x / (mp.exp(_BETA * x * (1 - gamma)) + _N - 1) for x in lam)
                return 2 * (1 - gamma) * (1 + (_N - 1) * gamma) * total

            solution = mpmath.odefun(rate, 0, mp.zero)
            step = mp.mpf(_TIME) / (_POINTS - 1)
            return [solution(k * step) for k in range(1, _POINTS)]

    return run


def _scipy_trajectory() -> object:
    """Return SciPy's best solver for smooth equations in gamma, at tight tolerances."""
    import numpy as np
    from scipy.integrate import solve_ivp

    def rate(_: float, gamma: Any) -> Any:
        total = sum(x / (np.exp(_BETA * x * (1 - gamma)) + _N - 1) for x in _LAM)
        return 2 * (1 - gamma) * (1 + (_N - 1) * gamma) * total

    last = float(_TIME)
    at = np.linspace(0, last, _POINTS)
    return solve_ivp(rate, (0, last), [0.0], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=at)


def _scipy_map(betas: Any, tokens: Any) -> object:
    """Return SciPy's quadrature in the logit, in a loop."""
    import numpy as np
    from scipy.integrate import quad

    def time(beta: float, n: float) -> float:
        def pace(u: float) -> float:
            gap = n / (np.exp(u) + n - 1)
            return float(1 / (2 * n * sum(x / (np.exp(beta * x * gap) + n - 1) for x in _LAM)))

        return float(quad(pace, 0.0, np.log(1e6 * n), epsabs=0, epsrel=1e-10, limit=200)[0])

    return [time(beta, n) for beta in betas for n in tokens]


def cases() -> list[Case]:
    """Return the benchmark case of the trajectory at several precisions, and the map."""
    import numpy as np

    from numeric.clustering_map import clustering_times_float64
    from numeric.simulate_equiangular import simulate_equiangular
    from numeric.trajectory import trajectory
    from numeric.trajectory_float64 import trajectory_float64

    given: dict[str, Any] = {"lam": "0.5,1,3/2,2", "beta": _BETA, "n": _N, "stop": "1-1e-6"}

    def ours(digits: int) -> Callable[[], object]:
        return lambda: trajectory(**given, points=_POINTS, digits=digits)

    times = np.linspace(0, float(_TIME), _POINTS)
    betas, tokens = np.linspace(0, 50, 200), np.geomspace(2, 1e6, 200).round()
    # The peer's share: a tenth of the betas and of the tokens, evenly spread.
    part = slice(5, None, 10)
    return [
        Case(
            "trajectory: 50 times, 50 digits, certified",
            ours(50),
            _odefun(50),
            "mpmath.odefun, gmpy2",
        ),
        Case(
            "trajectory: 50 times, 200 digits, certified",
            ours(200),
            ours(50),
            "ours at 50 digits (at least 0.1x is meant)",
        ),
        Case(
            "trajectory: 50 times, 1000 digits, certified",
            ours(1000),
            ours(50),
            "ours at 50 digits",
        ),
        Case(
            "trajectory: 50 times, float64",
            lambda: trajectory_float64(lam=_LAM, beta=_BETA, n=_N, times=times),
            _scipy_trajectory,
            "SciPy DOP853, rtol 1e-12",
        ),
        Case(
            "simulate equiangular: all columns, 50 digits, certified",
            lambda: simulate_equiangular(**given, points=_POINTS),
            ours(50),
            "gamma alone",
        ),
        Case(
            "clustering times: 200 x 200 map in float64",
            lambda: clustering_times_float64(
                lam=_LAM, beta=betas, n=tokens[:, None], stop=1 - 1e-6
            ),
            lambda: _scipy_map(betas[part], tokens[part]),
            "scipy.integrate.quad loop",
            peer_share=0.01,
        ),
    ]
