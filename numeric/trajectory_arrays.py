"""Parameters of the scalar regime as float64 arrays that broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from numeric.columns import is_list
from numeric.simulation import Array
from numeric.trajectory_regime import Regime
from symbolic.errors import InputError
from symbolic.flow import Model
from symbolic.names import brief
from symbolic.parameter import MODEL

MOST_RATES = {Model.SOFTMAX: 1e5, Model.UNNORMALISED: 600.0, Model.RELU: np.inf}
"""Largest ``beta |lam|`` in float64: work grows in proportion to it, or exponentials overflow."""
MOST_TOKENS, MOST_STRENGTH = 2.0**53, 1e100
"""Largest n and ``|lam|`` in float64."""


@dataclass(frozen=True)
class Overlaps:
    """Overlaps, each told from three places and good relative to its own size there; arrays.

    Attributes:
        gamma: the overlap.
        gap: ``1 - gamma``.
        rise: ``(1 + (n-1) gamma)/(n-1)``, the distance from the lower end of the domain.
    """

    gamma: Array
    gap: Array
    rise: Array

    @classmethod
    def of(cls, gamma: Array, n: Array) -> Overlaps:
        """Return overlaps that are known as float64 numbers."""
        return cls(gamma, 1 - gamma, gamma + 1 / (n - 1))

    @classmethod
    def exact(cls, gamma: Fraction, n: int) -> Overlaps:
        """Return an exact overlap as arrays of shape (1,)."""
        parts = (gamma, 1 - gamma, gamma + Fraction(1, n - 1))
        return cls(*(np.array([float(part)]) for part in parts))


@dataclass(frozen=True)
class Grid:
    """Scalar heads over a grid of parameters, flattened to E cases; arrays of shape (E,).

    Attributes:
        model: one of the three models.
        shape: the common shape of all parameters.
        strengths: of shape (H, E).
        beta: inverse temperatures.
        n: numbers of tokens.
        start: overlaps at time 0.
        stop: overlaps to stop at; those of the start where there are none.
        moved: ``stop - start``.
    """

    model: Model
    shape: tuple[int, ...]
    strengths: Array
    beta: Array
    n: Array
    start: Overlaps
    stop: Overlaps
    moved: Array

    @classmethod
    def read(cls, model: object, lam: Any, beta: Any, n: Any, start: Any, stop: Any = None) -> Grid:
        """Return the grid of parameters as they are given.

        Args:
            model: a word.
            lam: a list with one entry for each head, each a number or an array.
            beta: inverse temperatures; None under relu.
            n: numbers of tokens.
            start: overlaps in (-1/(n-1), 1).
            stop: overlaps in [-1/(n-1), 1], or None.

        Raises:
            InputError: for values that are no real numbers or outside their domains, and shapes
                that do not broadcast.
        """
        chosen = Model(MODEL.read(model))
        if beta is None and chosen is not Model.RELU:
            raise InputError(f"beta: none given; the model {chosen} needs one, real >= 0")
        entries = list(lam) if is_list(lam) else [lam]
        if not entries:
            raise InputError("lam: the list is empty; give one entry for each head")
        given = {f"lam_{h}": entry for h, entry in enumerate(entries, 1)}
        given |= {"beta": 0.0 if beta is None else beta, "n": n, "start": start}
        given |= {} if stop is None else {"stop": stop}
        arrays = {name: _array(name.partition("_")[0], value) for name, value in given.items()}
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise InputError(f"lam, beta, n: shapes do not broadcast: {shapes}") from None
        flat = {name: np.broadcast_to(array, shape).ravel() for name, array in arrays.items()}
        check("beta", flat["beta"], flat["beta"] >= 0, "real >= 0")
        whole = (flat["n"] >= 2) & (flat["n"] <= MOST_TOKENS) & (flat["n"] % 1 == 0)
        check("n", flat["n"], whole, "integer, 2 to 2^53")
        first = Overlaps.of(flat["start"], flat["n"])
        last = Overlaps.of(flat["stop"], flat["n"]) if "stop" in flat else first
        inside = (first.rise > 0) & (first.gap > 0)
        check("start", first.gamma, inside, "real, -1/(n-1) < start < 1")
        inside = (last.rise >= 0) & (last.gap >= 0)
        check("stop", last.gamma, inside, "real, -1/(n-1) <= stop <= 1")
        strengths = np.array([flat[f"lam_{h}"] for h in range(1, len(entries) + 1)])
        _check_strengths(chosen, strengths, flat["beta"])
        moved = last.gamma - first.gamma
        return cls(chosen, shape, strengths, flat["beta"], flat["n"], first, last, moved)

    @classmethod
    def exact(cls, regime: Regime, stop: Fraction | None = None) -> Grid:
        """Return the one case of an exact regime.

        Raises:
            InputError: for numbers beyond the range of float64.
        """
        last = regime.start if stop is None else stop
        beta = Fraction(0) if regime.beta is None else regime.beta
        try:
            strengths = np.array([[float(strength)] for strength in regime.strengths])
            warmth = np.array([float(beta)])
            if regime.n > MOST_TOKENS:
                raise OverflowError
            _check_strengths(regime.model, strengths, warmth)
            return cls(
                regime.model,
                (),
                strengths,
                warmth,
                np.array([float(regime.n)]),
                Overlaps.exact(regime.start, regime.n),
                Overlaps.exact(last, regime.n),
                np.array([float(last - regime.start)]),
            )
        except OverflowError:
            raise InputError(
                "digits: float64 does not hold all parameters; give a number of digits"
            ) from None

    def restored(self, values: Array) -> Array:
        """Return values of shape (..., E) in the common shape of the parameters."""
        return np.asarray(values.reshape((*values.shape[:-1], *self.shape)))


def _check_strengths(model: Model, strengths: Array, beta: Array) -> None:
    """Refuse strengths that are too large for float64."""
    most = MOST_RATES[model]
    inside = (np.abs(strengths) <= MOST_STRENGTH) & (beta * np.abs(strengths) <= most)
    check("lam", strengths, inside, f"list of reals, in float64 beta |lam| <= {most:g}")


def _array(name: str, given: Any) -> Array:
    """Return numbers as a float64 array."""
    try:
        array = np.asarray(given)
        # Fractions and long integers come as objects; text, truth values and complex do not count.
        if array.dtype.kind in "iufO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(
        f"{name}: {brief(given)} is not accepted; give real numbers in the range of float64"
    )


def check(name: str, array: Array, inside: Any, domain: str) -> None:
    """Refuse numbers that are not finite or outside their domain."""
    wrong = ~(np.isfinite(array) & inside)
    if wrong.any():
        raise InputError(f"{name}: {array[wrong].flat[0]} is outside its domain: {domain}")
