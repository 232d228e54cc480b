"""The diagnosis of scalar heads at equiangular tokens: every digit right, every sign certified.

Values come from the catalogue of formulas, and what has no formula there from exact sums of
exponentials or balls.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from numeric.balls import ball_value
from numeric.diagnosis import (
    Diagnosis,
    EqualHeads,
    HeadDiagnosis,
    Margin,
    Passage,
    Rates,
    Threshold,
)
from numeric.dominance_window import dominance_window
from numeric.equiangular_margins import EquiangularPoint
from numeric.evaluate import Value, checked_digits, evaluate
from numeric.exact_values import rational_value
from numeric.rounding import Rounded, rounded_ball, rounded_rational
from symbolic import equiangular, notation, rate
from symbolic.attention_entropy import motion
from symbolic.catalogue import formula
from symbolic.equiangular_quantities import ENERGY, ENERGY_RATE
from symbolic.errors import InputError, UndecidedError
from symbolic.flow_rules import summed_over_heads
from symbolic.numbers import exact_text
from symbolic.parameter import INVERSE_TEMPERATURE, MODEL, OVERLAP, STRENGTHS, TOKENS, shortened

MAX_HEADS = 256
"""Most heads that are diagnosed."""

_CLOSER = 100
"""The clustering time is that in which ``1 - gamma`` becomes so many times smaller."""

_MOST_EXPONENT = 10**12
"""Times are integrals, and take long where exponents ``beta lam`` are larger."""

_beta, _lam = notation.beta, notation.lam
_OVERLAP_RATES = {str(model): summed_over_heads(r) for model, r in equiangular.RATES.items()}
_EQUAL_EARLY_RATE = sp.Mul(notation.H, rate.EXPRESSION, evaluate=False)

_DOES_NOT_SHOW = (
    "Condition 8 is sufficient for dE_h/dt >= 0 of orthogonal heads in the unnormalised model, not "
    "necessary; scalar heads are not orthogonal heads, so here it decides nothing about "
    "monotonicity: dE_h/dt does",
    "signs are those at this one overlap; along the trajectory they can change",
    "nothing here speaks of tokens that are not equiangular",
)


def diagnose_scalar_heads(
    *,
    n: object,
    beta: object,
    lam: object,
    model: str = "softmax",
    gamma: object = 0,
    digits: int = 10,
) -> Diagnosis:
    """Return what holds for scalar heads at equiangular tokens; see `numeric.diagnosis.diagnose`.

    Raises:
        InputError: for a value that is not exact or outside its domain, or too many heads.
    """
    point = EquiangularPoint(
        MODEL.read(model),
        int(TOKENS.read(n)),
        INVERSE_TEMPERATURE.read(beta),
        STRENGTHS.read(lam),
        OVERLAP.read(gamma),
    )
    if len(point.strengths) > MAX_HEADS:
        raise InputError(
            f"lam: {len(point.strengths)} strengths are not accepted; give at most {MAX_HEADS}"
        )
    if not Fraction(-1, point.n - 1) < point.gamma < 1:
        raise InputError(
            f"gamma: {shortened(point.gamma)} is outside its domain: real, -1/(n-1) < gamma < 1"
        )
    return _Study(point, checked_digits(digits)).diagnosis()


class _Study:
    """The diagnosis in the making: the parameters, and the remarks that come up."""

    def __init__(self, point: EquiangularPoint, digits: int) -> None:
        self.point = point
        self.digits = digits
        self.remarks: list[str] = []
        self.bindings: dict[sp.Basic, Any] = {
            notation.n: Fraction(point.n),
            _beta: point.beta,
            notation.gamma: point.gamma,
            notation.strengths: point.strengths,
            notation.H: Fraction(len(point.strengths)),
        }

    def diagnosis(self) -> Diagnosis:
        """Return the whole."""
        point = self.point
        self._remark_on_parameters()
        by_strength = {
            strength: self._head(strength) for strength in dict.fromkeys(point.strengths)
        }
        heads = tuple(
            HeadDiagnosis(head=k, **by_strength[strength])
            for k, strength in enumerate(point.strengths, 1)
        )
        equal_heads, rates, passage = self._equal_heads(), self._rates(), self._passage()
        return Diagnosis(
            parameters={
                "model": point.model,
                "n": exact_text(Fraction(point.n)),
                "beta": exact_text(point.beta),
                "lam": [exact_text(strength) for strength in point.strengths],
                "gamma": exact_text(point.gamma),
            },
            digits=self.digits,
            heads=heads,
            equal_heads=equal_heads,
            rates=rates,
            passage=passage,
            remarks=tuple(dict.fromkeys(self.remarks)),
            does_not_show=_DOES_NOT_SHOW,
        )

    def _remark_on_parameters(self) -> None:
        point = self.point
        if point.beta == 0:
            self.remarks.append(
                "beta = 0: the energies E_h, lambda_peak and lambda_c are not defined"
            )
        if len(point.strengths) == 1:
            self.remarks.append("one head has no other shadows: Condition 8 holds trivially")
        if min(point.strengths) <= 0:
            self.remarks.append(
                "a strength is not positive: the statements on beta*, on the peak and inflection "
                "of phi and on the gain are for positive strengths"
            )
        if 0 in point.strengths:
            self.remarks.append("strength 0: f = 0, and Condition 8 reads 0 <= 0")
        if point.model == "relu":
            self.remarks.append(
                "relu: the thresholds beta* and the radial cosine belong to exponential weights, "
                "and so do the energies E_h; relu has an energy of its own"
            )
        if point.model == "softmax":
            self.remarks.append(
                "softmax: the energies E_h belong to the unnormalised model; here dE_h/dt is along "
                "the softmax flow, and Condition 8 is about its aggregates"
            )

    def _head(self, strength: Fraction) -> dict[str, Any]:
        """Return what `HeadDiagnosis` takes but the number of the head."""
        point, digits = self.point, self.digits
        own = {"lam": strength, "beta": point.beta, "n": point.n}
        has_cosine = strength > 0 and point.model != "relu"
        peak, inflection = (
            self._above(name, strength) for name in ("rate-peak", "rate-inflection")
        )
        return {
            "strength": exact_text(strength),
            "condition8": self._margin(lambda: point.condition_8_margin(strength, digits)),
            "condition8_sharp": self._margin(
                lambda: point.condition_8_margin(strength, digits, sharp=True)
            ),
            "energy": self._energy(strength),
            "denergy": self._energy_rate(strength),
            "entropy": self._value("attention-entropy", **own, gamma=point.gamma),
            "radial_cosine": (
                self._value("radial-cosine", **own, gamma=point.gamma) if has_cosine else None
            ),
            "rate": self._value("rate", **own),
            "above_peak": peak,
            "above_inflection": inflection,
            "position": _position(strength, peak, inflection),
        }

    def _energy(self, strength: Fraction) -> str | None:
        if self.point.beta == 0:
            return None
        return self._margin(lambda: self._certified(ENERGY, {_lam: strength})).value

    def _energy_rate(self, strength: Fraction) -> Margin | None:
        """Return ``dE_h/dt``, a product with the strength and with ``gamma'``."""
        if self.point.beta == 0:
            return None
        if strength == 0 or self._overlap_rate.value == "0":
            return Margin("0", "yes")
        whole = ENERGY_RATE.xreplace({motion: _OVERLAP_RATES[self.point.model]})
        return self._margin(lambda: self._certified(whole, {_lam: strength}))

    @cached_property
    def _overlap_rate(self) -> Margin:
        return self._margin(lambda: self._certified(_OVERLAP_RATES[self.point.model], {}))

    def _above(self, name: str, strength: Fraction) -> Margin | None:
        """Return a strength minus the value of ``rate-peak`` or ``rate-inflection``."""
        if self.point.beta == 0:
            return None
        difference = sp.Add(_lam, -formula(name).evaluation, evaluate=False)
        return self._margin(lambda: self._certified(difference, {_lam: strength}))

    def _equal_heads(self) -> EqualHeads | None:
        point = self.point
        strength = point.strengths[0]
        if point.model == "relu" or strength <= 0 or set(point.strengths) != {strength}:
            return None
        if point.gamma != 0:
            self.remarks.append("beta* and the exits are those from orthonormal tokens, gamma = 0")
        return EqualHeads(
            strength=exact_text(strength),
            stated=self._threshold(strength, ""),
            sharp=self._threshold(strength, "sharp-"),
            exit_overlap=self._exit("exit-overlap", strength),
            exit_time=self._exit("exit-time", strength) if self._is_timed else None,
            window=self._window(strength),
        )

    def _exit(self, name: str, strength: Fraction) -> str | None:
        """Return an exit's overlap or time; what its remarks say has places of its own."""
        point, heads = self.point, len(self.point.strengths)
        if heads == 1:
            return None
        values = {"H": heads, "lam": strength, "beta": point.beta, "n": point.n}
        found = self._evaluated(name, {"model": point.model, **values})
        return None if found is None else found.value

    def _window(self, strength: Fraction) -> tuple[str, str] | None:
        """Return where dominance holds later though not at the start."""
        point, heads = self.point, len(self.point.strengths)
        if heads == 1:
            return None
        try:
            window = dominance_window(
                H=heads, lam=strength, beta=point.beta, n=point.n, digits=self.digits
            )
        except UndecidedError as error:
            self.remarks.append(f"the window of radial dominance is undecided: {error}")
            return None
        return None if window is None or window[0] == "0" else window

    def _threshold(self, strength: Fraction, prefix: str) -> Threshold:
        heads = len(self.point.strengths)
        beta_name, cosine_name = f"{prefix}critical-beta", f"{prefix}critical-cosine"
        above = sp.Add(formula(beta_name).evaluation, -_beta, evaluate=False)
        return Threshold(
            critical_beta=self._value(beta_name, n=self.point.n, H=heads, alpha=strength),
            margin_beta=(
                Margin("+inf", "yes")
                if heads == 1
                else self._margin(lambda: self._certified(above, {notation.alpha: strength}))
            ),
            critical_cosine=self._value(cosine_name, H=heads),
            margin_cosine=self._margin(lambda: self._cosine_room(strength, prefix)),
        )

    def _cosine_room(self, strength: Fraction, prefix: str) -> Rounded:
        """Return the critical cosine minus the radial cosine."""
        margin = self.point.condition_8_margin(strength, 1, sharp=prefix != "")
        if margin.sign == 0:  # the same question, decided exactly
            return margin
        critical = formula(f"{prefix}critical-cosine").evaluation
        cosine = sp.Mul(-1, formula("radial-cosine").evaluation, evaluate=False)
        room = self._certified(sp.Add(critical, cosine, evaluate=False), {_lam: strength})
        assert room.sign == margin.sign
        return room

    def _rates(self) -> Rates:
        point = self.point
        mean = sum(point.strengths, Fraction(0)) / len(point.strengths)
        scale = {"beta": point.beta, "n": point.n}
        defined = point.beta > 0
        spread, critical, above = self._spreads(mean)
        return Rates(
            overlap_rate=self._overlap_rate,
            early_rate=self._value("early-rate", lam=point.strengths, **scale),
            late_rate=self._value(
                "late-rate", model=point.model, lam=point.strengths, beta=point.beta
            ),
            rate_peak=self._value("rate-peak", **scale) if defined else None,
            rate_inflection=self._value("rate-inflection", **scale) if defined else None,
            mean_strength=exact_text(mean),
            mean_above_inflection=self._above("rate-inflection", mean),
            gain=self._gain(mean),
            spread=None if spread is None else exact_text(spread),
            critical_spread=critical,
            above_critical_spread=above,
        )

    def _spreads(self, mean: Fraction) -> tuple[Fraction | None, str | None, Margin | None]:
        """Return half the difference of two strengths, and how it stands to the critical one."""
        strengths = self.point.strengths
        if len(strengths) != 2:
            return None, None, None
        spread = abs(strengths[0] - strengths[1]) / 2
        above = self._above("rate-inflection", mean)
        if above is None or above.holds != "yes":
            return spread, None, None
        critical = self._value("critical-spread", mean=mean, beta=self.point.beta, n=self.point.n)
        # Never zero: the gain vanishes at no spread but 0 that is rational, see `_gain`.
        beyond = sp.Add(_lam, -formula("critical-spread").evaluation, evaluate=False)
        bindings = {_lam: spread, notation.mean_strength: mean}
        return spread, critical, self._margin(lambda: self._certified(beyond, bindings))

    def _gain(self, mean: Fraction) -> Margin:
        """Return the early rate minus that of equal heads; zero iff equal or at beta = 0.

        There phi is linear. Else it is no zero: with ``c = n - 1 > 1`` the functions
        ``1/(t^p + c)`` of different p != 0 have different poles, and for n = 2 the functions
        ``tanh(p s)`` of different p > 0 are independent; e is no algebraic number.
        """
        if self.point.beta == 0 or set(self.point.strengths) == {mean}:
            return Margin("0", "yes")
        difference = sp.Add(
            rate.EARLY_EXPRESSION, sp.Mul(-1, _EQUAL_EARLY_RATE, evaluate=False), evaluate=False
        )
        return self._margin(lambda: self._certified(difference, {_lam: mean}))

    def _passage(self) -> Passage:
        start = self.point.gamma
        stop = 1 - (1 - start) / _CLOSER
        if not self._is_timed:
            self.remarks.append(
                f"an exponent beta lam is beyond {_MOST_EXPONENT:,}: times are left out, as they "
                "may take long; mhflow eval clustering-time tries"
            )
            return Passage(exact_text(start), exact_text(stop), None)
        time = self._value(
            "clustering-time",
            model=self.point.model,
            lam=self.point.strengths,
            beta=self.point.beta,
            n=self.point.n,
            start=start,
            stop=stop,
        )
        return Passage(exact_text(start), exact_text(stop), time)

    @property
    def _is_timed(self) -> bool:
        """Tell whether times are computed: they are elementary under relu."""
        largest = self.point.beta * max(map(abs, self.point.strengths))
        return largest <= _MOST_EXPONENT or self.point.model == "relu"

    def _certified(self, expression: sp.Expr, further: dict[sp.Basic, Fraction]) -> Rounded:
        bindings = {**self.bindings, **further}
        number = rational_value(expression, bindings)
        if number is not None:
            return rounded_rational(number, self.digits)
        return rounded_ball(lambda: ball_value(expression, bindings), self.digits)

    def _margin(self, compute: Callable[[], Rounded]) -> Margin:
        try:
            rounded = compute()
        except UndecidedError as error:
            self.remarks.append(f"undecided: {error}")
            return Margin(None, "undecided")
        return Margin(rounded.text, "yes" if rounded.sign >= 0 else "no")

    def _value(self, name: str, **parameters: object) -> str | None:
        """Return the value of a formula and keep its remarks; None where it is not decided."""
        value = self._evaluated(name, parameters)
        if value is None:
            return None
        self.remarks += [f"{name}: {remark}" for remark in value.remarks]
        return value.value

    def _evaluated(self, name: str, parameters: dict[str, object]) -> Value | None:
        """Return the value of a formula; None, and a remark, where it is not decided."""
        # What does not enter in a model is left out, or a remark would say so.
        idle = formula(name).idle.get(str(parameters.get("model")), ())
        needed = {key: value for key, value in parameters.items() if key not in idle}
        try:
            return evaluate(name, digits=self.digits, **needed)
        except UndecidedError as error:
            self.remarks.append(f"{name} is undecided: {error}")
            return None


def _position(strength: Fraction, peak: Margin | None, inflection: Margin | None) -> str:
    """Return where a strength stands on the curve of the rate function."""
    if strength <= 0:
        return "not positive"
    if peak is None or inflection is None:
        return "undefined"
    answers = (peak.holds, inflection.holds)
    if "undecided" in answers:
        return "undecided"
    if answers == ("no", "no"):
        return "below the peak"
    return "above the inflection" if inflection.holds == "yes" else "between peak and inflection"
