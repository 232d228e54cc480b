"""Remarks on special cases that quote certified numbers, by the name of the formula."""

from __future__ import annotations

from symbolic.errors import UndecidedError
from symbolic.formula import Values

_DIGITS = 12


def certified_remarks(name: str, values: Values) -> list[str]:
    """Return what numbers say about a special case of a formula at exact parameters."""
    if name == "exit-overlap":
        return [_window(values)]
    if name == "critical-spread":
        return [_inflection(values)]
    return []


def _window(values: Values) -> str:
    """Say where Condition 8 is gained if it does not hold at the start."""
    # Imported late, and because that module evaluates formulas itself.
    from numeric.dominance_window import dominance_window

    numbers = {name: values[name] for name in ("H", "lam", "beta", "n")}
    try:
        window = dominance_window(**numbers, digits=_DIGITS)
    except UndecidedError:
        return "whether it holds at a larger overlap is not decided"
    if window is None:
        return "it holds at no overlap in [0, 1)"
    return f"it is gained at overlap {window[0]} and lost again at {window[1]}"


def _inflection(values: Values) -> str:
    """Say where the rate function turns convex."""
    from numeric.evaluate import evaluate

    numbers = {name: values[name] for name in ("beta", "n")}
    return f"lambda_c = {evaluate('rate-inflection', **numbers, digits=_DIGITS).value}"
