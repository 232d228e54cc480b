"""What a flow of tokens can be simulated with: numbers in the range of float64, not too many."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numeric.array_diagnosis import MOST_ENTRY, MOST_EXPONENT
from numeric.simulation import Array
from numeric.token_flow import TokenFlow
from symbolic.errors import InputError
from symbolic.parameter import shortened

MOST_SCORES = 20_000_000
"""Most scores ``H n^2``: an array of them takes 160 megabytes, and there are several."""
_MOST_NUMBER = Fraction(10**300)


def check_range(flow: TokenFlow, last: Fraction, name: str) -> None:
    """Check what every run needs, with digits too: their steps are chosen in float64.

    Args:
        flow: the flow.
        last: the last time.
        name: what gave the last time.

    Raises:
        InputError: for times and inverse temperatures beyond float64, matrices with too large
            entries, and too many scores.
    """
    for what, number in ((name, last), ("beta", flow.beta)):
        if number > _MOST_NUMBER or 0 < number < 1 / _MOST_NUMBER:
            raise InputError(
                f"{what}: {shortened(number)} is beyond float64, in which steps are chosen; "
                "accepted: 0 and numbers from 1e-300 to 1e300"
            )
    scores = flow.heads.count * flow.n**2
    if scores > MOST_SCORES:
        raise InputError(
            f"n: {flow.n} tokens under {flow.heads.count} heads have too many scores; accepted: "
            f"H n^2 up to {MOST_SCORES:,}"
        )
    strengths = "lam" in flow.heads.parameters
    for key, matrices in (("M", flow.heads.scores), ("V", flow.heads.values)):
        largest = max(float(np.abs(matrix.floats).max()) for matrix in matrices)
        if not largest <= MOST_ENTRY:
            size = "beyond float64" if np.isinf(largest) else f"{largest:.4g}"
            raise InputError(
                f"{'lam' if strengths else key}: an entry of size {size} is not accepted; give "
                f"{'strengths' if strengths else 'entries'} up to {MOST_ENTRY:.0e}"
            )


def check_exponents(flow: TokenFlow, tokens: Array) -> None:
    """Check that float64 holds the exponentials of the scores at the start.

    Raises:
        InputError: if not.
    """
    for h, scores in enumerate(flow.float_scores(tokens), 1):
        largest = float(np.abs(scores).max())
        if Fraction(largest) * flow.beta > MOST_EXPONENT:
            raise InputError(
                f"beta: {shortened(flow.beta)} times a score <x_i, M_h x_j> of {largest:.4g} "
                f"(head {h}) is beyond floats; accepted: exponents up to {MOST_EXPONENT}; beyond "
                "them give digits"
            )
