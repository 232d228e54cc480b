"""Formulas: one object that drives derivation, evaluation, printing and statements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from symbolic.derivation import Derivation
from symbolic.errors import InputError
from symbolic.implicit import Implicit
from symbolic.names import brief
from symbolic.numbers import shown
from symbolic.parameter import Parameter, shortened
from symbolic.region import Region

Values = Mapping[str, Any]
"""Exact values by parameter: a Fraction, a tuple of them for a list, or a word."""


@dataclass(frozen=True)
class Form:
    """An expression that equals a formula's own; the derivation has the step that proves it.

    Attributes:
        name: short name in kebab-case.
        expression: the expression, kept as written.
    """

    name: str
    expression: sp.Expr


@dataclass(frozen=True)
class SpecialCase:
    """An end of the domain where the expression has no value, or one that needs a remark.

    Attributes:
        when: tells from exact parameter values whether the case applies.
        condition: the same in words.
        value: the exact value (``oo`` for a limit), or None where the formula is not defined.
        remark: what to tell the user.
        one_by_one: whether ``when`` takes the numbers of one point only, and no arrays.
    """

    when: Callable[[Values], bool]
    condition: str
    value: sp.Expr | None
    remark: str
    one_by_one: bool = False


@dataclass(frozen=True)
class Formula:
    """A closed form of the theory.

    Attributes:
        name: permanent name in kebab-case.
        title: one line in words.
        symbol: the left side, an applied function of the parameters.
        parameters: in order, each with its domain.
        expression: the right side, kept as written.
        source: where it stands in the source paper (as summarised), or what it adds to it.
        model: the models of attention it holds in.
        derive: builds the derivation of a candidate expression, normally this one.
        evaluation: an equal form that stays well conditioned over the whole domain.
        forms: further equal forms, each proved in the derivation.
        example: parameter values that show the formula at work.
        variants: for a formula with a parameter ``model``, the expression in each.
        evaluations: likewise the expression to evaluate, where it is another.
        idle: for a formula with a parameter ``model``, the parameters that do not enter in each;
            they may be left out.
        implicit: the equation that defines the function in ``expression``, if there is one.
        special_cases: tried in order before the expression.
        remarks: further remarks on a value, from exact parameters and the value's sign (-1, 0, 1).
        infinite: the remark on a value that evaluation finds to be infinite.
    """

    name: str
    title: str
    symbol: sp.Expr
    parameters: tuple[Parameter, ...]
    expression: sp.Expr
    source: str
    model: str
    derive: Callable[[sp.Expr], Derivation]
    evaluation: sp.Expr
    example: Mapping[str, str]
    forms: tuple[Form, ...] = ()
    variants: Mapping[str, sp.Expr] = field(default_factory=dict)
    evaluations: Mapping[str, sp.Expr] = field(default_factory=dict)
    idle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    implicit: Implicit | None = None
    special_cases: tuple[SpecialCase, ...] = ()
    remarks: Callable[[Values, int], list[str]] = field(default=lambda _values, _sign: [])
    infinite: str = ""

    @property
    def region(self) -> Region:
        """Return the domain of all parameters as a region, for exact sign arguments."""
        return Region({p.symbol: p.range for p in self.parameters if not p.choices})

    @property
    def equation(self) -> sp.Eq:
        """Return ``symbol = expression``, kept as written."""
        return sp.Eq(self.symbol, self.expression, evaluate=False)

    def derivation(self) -> Derivation:
        """Return the derivation of this formula from the model's definition."""
        return self.derive(self.expression)

    def _repr_latex_(self) -> str:
        """Return the formula as mathematics, for notebooks, with the equation it rests on."""
        from symbolic.printing import latex, where_latex

        where = where_latex(self.expression)
        rest = "" if where is None else rf",\quad {where}"
        return rf"$\displaystyle {latex(self.equation)}{rest}$"

    def read(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return exact values in the order of the parameters.

        Raises:
            InputError: for an unknown or missing parameter, a value that is not exact, or one
                outside its domain.
        """
        names = [p.name for p in self.parameters]
        for name, value in given.items():
            if name not in names:
                raise InputError(
                    f"{self.name}: no parameter {shown(name)} (given {brief(value)}); "
                    f"it takes {', '.join(names)}"
                )
        given = {**{p.name: p.default for p in self.parameters if p.default is not None}, **given}
        values = {p.name: p.read(given[p.name]) for p in self.parameters if p.name in given}
        idle = self.idle.get(values.get("model", ""), ())
        missing = [p for p in self.parameters if p.name not in {*given, *idle}]
        if missing:
            wanted = ", ".join(f"{p.name} ({p.domain})" for p in missing)
            raise InputError(f"{self.name}: missing parameter {wanted}")
        self._check_linked_bounds(values)
        return values

    def _check_linked_bounds(self, values: Values) -> None:
        """Check bounds that refer to other parameters, in exact rational arithmetic."""
        numbers = {
            p.symbol: _rational(values[p.name])
            for p in self.parameters
            if isinstance(values.get(p.name), Fraction)
        }
        for parameter in (p for p in self.parameters if p.symbol in numbers):
            r, number = parameter.range, numbers[parameter.symbol]
            for bound, is_open, outside in (
                (r.lower, r.lower_open, operator.lt),
                (r.upper, r.upper_open, operator.gt),
            ):
                if bound is None or not bound.free_symbols:
                    continue
                limit = bound.subs(numbers)
                if outside(number, limit) or (is_open and number == limit):
                    raise InputError(
                        f"{parameter.name}: {shortened(values[parameter.name])} is outside its "
                        f"domain: {parameter.domain}"
                    )

    def evaluation_at(self, values: Values) -> sp.Expr:
        """Return the expression to evaluate: that of the model asked for, if there are several."""
        if not self.variants:
            return self.evaluation
        return {**self.variants, **self.evaluations}[values["model"]]

    def bindings(self, values: Values) -> dict[sp.Basic, Any]:
        """Return the values of numbers and lists by the symbols they stand for."""
        return {
            p.symbol: values[p.name] for p in self.parameters if p.name in values and not p.choices
        }

    def remarks_on(self, values: Values, sign: int) -> list[str]:
        """Return the remarks on a value of the given sign at exact parameters."""
        idle = [name for name in self.idle.get(values.get("model", ""), ()) if name in values]
        unused = [f"{name} does not enter in the model {values['model']}" for name in idle]
        return unused + self.remarks(values, sign)

    def special_case(self, values: Values) -> SpecialCase | None:
        """Return the first special case that applies to exact values, if any."""
        return next((case for case in self.special_cases if case.when(values)), None)


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)
