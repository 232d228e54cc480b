"""The comparison of our time with a peer's, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_LONG = 5.0


@dataclass(frozen=True)
class Case:
    """A comparison.

    Attributes:
        name: what is timed.
        ours: our way.
        peer: the other way, doing the same work.
        peer_name: what the other way is.
        peer_share: the part of the work the peer is given (its time is scaled up by it).
    """

    name: str
    ours: Callable[[], object]
    peer: Callable[[], object]
    peer_name: str
    peer_share: float = 1.0


def best_time(work: Callable[[], object], runs: int = 3) -> float:
    """Return the shortest of several wall-clock times, in seconds.

    Short work runs more often, work of several seconds once.
    """
    times: list[float] = []
    while len(times) < runs or (runs > 1 and sum(times) < 0.3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        if times[0] > _LONG:
            break
    return min(times)


def report(case: Case) -> str:
    """Run a case and return its line."""
    ours = best_time(case.ours)
    peer = best_time(case.peer, runs=1 if case.peer_share < 1 else 3) / case.peer_share
    scaled = f" ({case.peer_share:.0%} of the work, scaled up)" if case.peer_share < 1 else ""
    return (
        f"{case.name:<58} {ours * 1e3:>10.2f} ms {peer * 1e3:>12.2f} ms {peer / ours:>9.1f}x  "
        f"{case.peer_name}{scaled}"
    )
