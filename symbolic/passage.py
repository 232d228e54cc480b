"""Times of passage: how long the overlap takes from one value to another, as one function.

In the gap ``eps = 1 - gamma`` the logit u has ``du = -(1/eps + (n-1)/(n - (n-1) eps)) deps``. So
where ``u' = F(eps)``, the time of passage is an integral over eps whose integrand has simple poles
at the two ends of the domain and is smooth besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from symbolic.notation import n
from symbolic.written import written

eps = sp.Symbol("eps", positive=True)
"""The gap ``1 - gamma``, from 0 at the consensus to n/(n-1)."""

WEIGHT = written(lambda: 1 / eps + (n - 1) / (n - (n - 1) * eps))
"""``-du/deps``."""


@dataclass(frozen=True)
class Passage:
    """A rate of the logit of the overlap in terms of the gap.

    Attributes:
        field: the rate ``u'`` as a function of `eps`.
        regular: whether the logarithm by which the time diverges at the consensus is left out, so
            that the gap may reach 0.
    """

    field: sp.Expr
    regular: bool = False

    @property
    def integrand(self) -> sp.Expr:
        """Return what is integrated over the gap."""
        time = WEIGHT / self.field
        return time - 1 / (eps * self.field.subs(eps, 0)) if self.regular else time


class PassageTime(sp.Function):  # type: ignore[misc]
    """The time in which the gap moves from its first argument to its second.

    Further arguments are the number of tokens, and the symbols that the field depends on besides
    the strengths of heads. Positive infinity where the flow does not arrive.
    """

    definition: ClassVar[Passage]

    @property
    def integral(self) -> sp.Integral:
        """Return the integral that the value is, where the flow arrives."""
        start, stop = self.args[:2]
        return sp.Integral(self.definition.integrand, (eps, stop, start))
