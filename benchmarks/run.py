"""Speed against the peer in the same run: ``make bench`` or ``python -m benchmarks.run [WORD]``.

Each case prints our time, the time of what a user would write instead, and the ratio. Times are the
best of several runs; a peer that is given a part of the work runs once, and its time is scaled up.
A WORD runs only the cases whose name has it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import clustering_times, orthogonal_heads, token_flow, trajectories
from benchmarks.harness import Case, report


def _cold_start(*arguments: str) -> Callable[[], object]:
    command = str(Path(sys.executable).with_name("mhflow"))
    return lambda: subprocess.run([command, *arguments], check=True, capture_output=True)


def command_cases() -> list[Case]:
    """Return the cold starts of the command, against a bare ``import sympy``."""
    peer = [sys.executable, "-c", "import sympy"]

    def start_sympy() -> object:
        return subprocess.run(peer, check=True)

    calls = (
        ("--help",),
        ("eval", "critical-cosine", "H=2"),
        ("eval", "critical-beta", "n=64", "H=4", "alpha=1/2"),
        ("eval", "radial-cosine", "lam=1", "beta=2", "n=64", "gamma=1/2"),
    )
    return [
        Case("cold start: mhflow " + " ".join(c), _cold_start(*c), start_sympy, "import sympy")
        for c in calls
    ]


def evaluation_cases() -> list[Case]:
    """Return evaluations of closed forms, certified and in float64, against mpmath."""
    import mpmath
    import numpy as np

    from numeric.evaluate import evaluate
    from numeric.float64 import evaluate_float64

    def threshold(tokens: int) -> object:
        with mpmath.workdps(60):
            return (mpmath.log(mpmath.mpf(tokens - 1) / 3) - mpmath.asinh(mpmath.mpf(3) / 2)) / 2

    def certified(digits: int) -> Callable[[], object]:
        return lambda: [
            evaluate("critical-beta", n=n, H=4, alpha=1, digits=digits) for n in range(2, 1002)
        ]

    grid = np.arange(2, 100_002)
    return [
        Case(
            "critical-beta: 1,000 values, 50 digits, certified",
            certified(50),
            lambda: [threshold(n) for n in range(2, 1002)],
            "mpmath, not certified",
        ),
        Case(
            "critical-beta: 100,000 values, float64",
            lambda: evaluate_float64("critical-beta", n=grid, H=4, alpha=1),
            lambda: [threshold(n) for n in range(2, 1002)],
            "mpmath loop",
            peer_share=0.01,
        ),
    ]


def batch_cases() -> list[Case]:
    """Return 100,000 values of implicit formulas, against mpmath loops at 50 digits."""
    import mpmath
    import numpy as np

    from numeric.batch import evaluate_many
    from numeric.float64 import evaluate_float64

    mp = mpmath.mp

    def inflection(tokens: int) -> object:
        large = mp.log(tokens - 1)
        # A start as good as ours.
        start = (large + mp.sqrt(large**2 + 22.84)) / 2
        return mp.findroot(lambda x: mp.log(x - 2) + x - mp.log(x + 2) - large, start) / 2

    def peak(tokens: int) -> object:
        return (1 + mp.lambertw((tokens - 1) / mp.e)) / 2

    def loop(value: Callable[[int], object]) -> Callable[[], object]:
        def run() -> object:
            with mp.workdps(50):
                return [value(n) for n in range(2, 100_002, 20)]

        return run

    tokens, grid = range(2, 100_002), np.arange(2, 100_002)
    return [
        Case(
            "rate-inflection: 100,000 values, 50 digits, certified",
            lambda: evaluate_many("rate-inflection", digits=50, n=tokens, beta=2),
            loop(inflection),
            "mpmath.findroot loop, not certified",
            peer_share=0.05,
        ),
        Case(
            "rate-inflection: 100,000 values, float64",
            lambda: evaluate_float64("rate-inflection", n=grid, beta=2),
            loop(inflection),
            "mpmath.findroot loop",
            peer_share=0.05,
        ),
        Case(
            "rate-peak: 100,000 values, 50 digits, certified",
            lambda: evaluate_many("rate-peak", digits=50, n=tokens, beta=2),
            loop(peak),
            "mpmath.lambertw loop, not certified",
            peer_share=0.05,
        ),
    ]


def main(words: list[str]) -> None:
    """Run the cases whose name has all the words."""
    print(f"{'case':<58} {'mhflow':>13} {'peer':>15} {'ratio':>10}")
    for case in [
        *command_cases(),
        *evaluation_cases(),
        *batch_cases(),
        *clustering_times.cases(),
        *orthogonal_heads.cases(),
        *token_flow.cases(),
        *trajectories.cases(),
    ]:
        if all(word in case.name for word in words):
            print(report(case), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
