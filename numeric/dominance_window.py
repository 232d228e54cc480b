"""The overlaps at which Condition 8 holds for equal heads: from gaining it to losing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
from flint import arb

from numeric.balls import Balls, ball_value, certified_root
from numeric.evaluate import checked_digits
from numeric.rounding import rounded_ball, until_decided
from numeric.walk import BoundEquation, bind_equation
from symbolic.errors import UndecidedError
from symbolic.exit_overlap import DEFINITION, EXPRESSION, FORMULA, holds_not_at_start


def dominance_window(
    *, H: object, lam: object, beta: object, n: object, digits: int = 10
) -> tuple[str, str] | None:
    """Return the overlaps in [0, 1) at which Condition 8 is gained and lost, H equal scalar heads.

    Softmax and unnormalised heads have the same window. Its margin is concave in the overlap
    (formula exit-overlap), so there is one window or none.

    Args:
        H: number of heads, an integer >= 2.
        lam: their common strength, > 0.
        beta: inverse temperature, >= 0.
        n: number of tokens, an integer >= 2.
        digits: significant digits of the ends, 1 to 10,000.

    Returns:
        The ends as decimal texts, every digit right: ``0`` and the exit overlap for ``beta <
        beta*``, two positive overlaps where Condition 8 does not hold at the start but later, and
        None where it holds nowhere.

    Raises:
        InputError: for a wrong parameter or number of digits.
        UndecidedError: if the cap of precision is reached before there is an answer.
    """
    digits = checked_digits(digits)
    values = FORMULA.read({"H": H, "lam": lam, "beta": beta, "n": n})
    gain = "0"
    if holds_not_at_start(values):
        if not _is_gained_later(values):
            return None
        gain = rounded_ball(lambda: _gain(_equation(values)), digits).text
    loss = rounded_ball(lambda: ball_value(EXPRESSION, FORMULA.bindings(values)), digits)
    return gain, loss.text


def _equation(values: Mapping[str, Any]) -> BoundEquation:
    """Return the margin of Condition 8 as a function of the overlap, at the precision in force."""
    arithmetic = Balls()
    arguments = (values["H"], values["lam"] * values["beta"], values["n"])
    return bind_equation(DEFINITION, [arithmetic.rational(v) for v in arguments], arithmetic)


def _is_gained_later(values: Mapping[str, Any]) -> bool:
    """Tell whether the margin is positive somewhere, if it is not at the start."""
    # The margin is positive only below c*^2 < 0.4, and if e^(0.6 lam beta) < n - 1.
    if values["lam"] * values["beta"] > 2 * int(values["n"]).bit_length():
        return False
    try:
        return until_decided(lambda: _peak(_equation(values)), _sign, 1)
    except UndecidedError as error:
        raise UndecidedError("whether Condition 8 is gained later is not decided") from error


def _sign(ball: arb) -> bool | None:
    return True if ball > 0 else False if ball < 0 else None


def _peak(equation: BoundEquation) -> arb:
    """Return a positive value of the margin, or an upper bound that is negative, or a nan."""
    low, high = arb(0), arb(equation.start.upper())
    if equation.slope(low) < 0:
        return arb(equation.residual(low))
    for _ in range(flint.ctx.prec):
        middle = ((low + high) / 2).mid()
        value, slope = equation.residual(middle), equation.slope(middle)
        # A concave function lies below its tangents, and its peak between low and high.
        bound = value + abs(slope) * (high - low)
        if value > 0 or bound < 0:
            return arb(value if value > 0 else bound)
        if slope > 0:
            low = middle
        elif slope < 0:
            high = middle
        else:
            break
    return arb("nan")


def _gain(equation: BoundEquation) -> arb:
    """Return a ball around the overlap at which the margin turns positive.

    The negative margin turns from positive to negative there, and at no other point.
    """
    negative = replace(
        equation,
        residual=lambda overlap: -equation.residual(overlap),
        slope=lambda overlap: -equation.slope(overlap),
        start=arb(0),
    )
    return certified_root(negative)
