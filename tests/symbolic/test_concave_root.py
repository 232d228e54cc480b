"""The rule for the one root of a concave residual: what it takes, and what it refuses."""

from dataclasses import replace

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.calculus_rules import concave_root, unique_root
from symbolic.implicit import Implicit, ImplicitFunction
from symbolic.region import Range, Region, above, at_least, between
from symbolic.rules import equation

x = sp.Symbol("x", real=True)
k = sp.Symbol("k", positive=True)

# Positive at the bound: k - x^2 - e^x + 1 for k > 0.
FALLING = Implicit(
    variable=x,
    arguments=(k,),
    residual=k - x**2 - sp.exp(x) + 1,
    lower=sp.S.Zero,
    start=k,
    region=Region({k: above(0)}),
    concave=True,
)
# Zero at the bound, with a positive slope.
ARCH = replace(FALLING, residual=k * x - x**2 - x**3)


def gt(left: sp.Expr) -> sp.Gt:
    return sp.Gt(left, 0, evaluate=False)


def closes(
    implicit: Implicit,
    *,
    before: sp.Rel | None = None,
    after: sp.Eq | None = None,
    where: Range | None = None,
    upper: sp.Expr = k,
    at_lower: sp.Rel | None = None,
) -> bool:
    class Root(ImplicitFunction):
        nargs = 1
        definition = implicit

    step = concave_root(
        gt(implicit.residual) if before is None else before,
        equation(implicit.residual.subs(x, Root(k)), 0) if after is None else after,
        implicit,
        where=where or at_least(0),
        upper=upper,
        at_lower=at_lower,
        reason="",
    )
    return step.check().answer is Answer.YES


def test_a_root_below_a_positive_start() -> None:
    assert closes(FALLING, at_lower=gt(k), upper=k + 1)
    # Where the unknown may lie is for the definition to say: farther on may be more roots.
    assert not closes(FALLING, at_lower=gt(k), upper=k + 1, where=between(0, k + 1))
    ending = replace(FALLING, upper=k + 1)
    assert closes(ending, at_lower=gt(k), upper=k + 1, where=between(0, k + 1))
    assert not closes(ending, at_lower=gt(k), upper=k + 1)
    weak = sp.Ge(FALLING.residual, 0, evaluate=False)
    assert closes(FALLING, at_lower=gt(k), upper=k + 1, before=weak)


def test_a_root_beyond_a_zero_with_a_positive_slope() -> None:
    assert closes(ARCH)


@pytest.mark.parametrize(
    "changes",
    [
        {"residual": -ARCH.residual},
        {"residual": ARCH.residual + 2 * x**3},
        # A straight line is not strictly concave.
        {"residual": k * x - x * (1 + k)},
        # No slope, or a falling one, at the bound.
        {"residual": -(x**2) - x**3},
        {"residual": -k * x - x**2 - x**3},
        # No zero at the bound.
        {"residual": ARCH.residual - 1},
        {"residual": ARCH.residual + 1},
        # Concave, but not continuous.
        {"residual": sp.log(x) - x},
        {"concave": False},
        {"lower": sp.S.One},
    ],
)
def test_another_equation_is_refused(changes: dict[str, object]) -> None:
    assert not closes(replace(ARCH, **changes))  # type: ignore[arg-type]


def test_other_ends_and_relations_are_refused() -> None:
    # The residual is not negative there, or it is another one.
    for upper in (sp.S.Zero, k / 4, -k, sp.S.One):
        assert not closes(ARCH, upper=upper)
    assert not closes(ARCH, where=between(0, k / 2))
    assert not closes(ARCH, where=at_least(-1))
    assert not closes(ARCH, where=Range())
    assert not closes(ARCH, before=sp.Lt(ARCH.residual, 0, evaluate=False))
    assert not closes(ARCH, before=gt(FALLING.residual))
    assert not closes(ARCH, after=equation(ARCH.residual, 0))
    for known in (gt(k + 1), gt(-k), sp.Gt(k, -1, evaluate=False), sp.Ge(k, 0, evaluate=False)):
        assert not closes(FALLING, at_lower=known, upper=k + 1)
    assert not closes(FALLING, upper=k + 1)


def test_what_is_known_at_the_bound_must_be_known_to_the_derivation() -> None:
    step = concave_root(
        gt(FALLING.residual),
        equation(k, 0),
        FALLING,
        where=at_least(0),
        upper=k,
        at_lower=gt(k),
        reason="",
    )
    assert step.using == (gt(k),)


def test_the_rule_for_increasing_residuals_takes_no_concave_ones() -> None:
    steep = Implicit(x, (k,), x - k, sp.S.Zero, k, Region({k: above(0)}))

    class Root(ImplicitFunction):
        nargs = 1
        definition = steep

    class Concave(ImplicitFunction):
        nargs = 1
        definition = replace(steep, concave=True)

    for function, expected in ((Root, True), (Concave, False)):
        implicit = function.definition
        step = unique_root(
            gt(implicit.residual),
            equation(implicit.residual.subs(x, function(k)), 0),
            implicit,
            gt(x - k),
            k + 1,
            "",
        )
        assert (step.check().answer is Answer.YES) is expected
