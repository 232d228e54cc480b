"""Balls enclose, and the process-wide precision is given back."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import flint
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric import balls
from numeric.balls import ball_precision, ball_value, certified_root, exact_ball
from numeric.walk import BoundEquation
from symbolic.catalogue import formula, formula_names
from symbolic.rate_inflection import ScaledInflection
from tests.numeric.strategies import ordinary

ROOT = Path(__file__).resolve().parents[2]
x = sp.Symbol("x", positive=True)


def ends(ball: arb) -> tuple[Fraction, Fraction]:
    """Return exact ends of a ball."""
    middle, radius = (
        Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        for mantissa, exponent in (ball.mid().man_exp(), ball.rad().man_exp())
    )
    return middle - radius, middle + radius


@given(st.fractions(), st.integers(2, 500))
def test_the_ball_of_a_rational(value: Fraction, bits: int) -> None:
    with ball_precision(bits):
        low, high = ends(exact_ball(value))
    assert low <= value <= high
    assert high - low <= abs(value) * Fraction(8, 2**bits)


@pytest.mark.parametrize("power", [1, 100, 5000])
def test_integers_are_exact_at_any_precision(power: int) -> None:
    value = Fraction(-(10**power) - 1)
    with ball_precision(2):
        assert ends(exact_ball(value)) == (value, value)


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "asinh"])
@pytest.mark.parametrize("bits", [10, 53, 400])
@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_functions_enclose(name: str, bits: int, value: Fraction) -> None:
    context = MPContext()
    context.dps = 200
    sign, mantissa, exponent, _ = getattr(context, name)(
        context.mpf(value.numerator) / value.denominator
    )._mpf_
    truth = (-1) ** sign * int(mantissa) * Fraction(2) ** exponent
    slack = Fraction(1, 10**190)
    with ball_precision(bits):
        low, high = ends(ball_value(getattr(sp, name)(x), {x: value}))
    assert low - slack <= truth <= high + slack


@pytest.mark.parametrize("name", formula_names())
def test_less_precision_gives_a_ball_around_the_better_one(name: str) -> None:
    subject = formula(name)
    expression = subject.evaluation_at(ordinary(subject))
    values = subject.bindings(ordinary(subject))
    with ball_precision(2000):
        fine = ball_value(expression, values)
    for bits in (20, 53, 200, 1000):
        with ball_precision(bits):
            coarse = ball_value(expression, values)
        low, high = ends(coarse)
        assert low <= ends(fine)[0]
        assert ends(fine)[1] <= high
        assert high - low <= abs(low) / 2 ** (bits - 15)


@pytest.mark.parametrize("expression", [sp.log(x - 2), sp.sqrt(x - 2), 1 / (x - 1)])
def test_where_there_is_no_value_the_ball_is_not_finite(expression: sp.Expr) -> None:
    with ball_precision(64):
        assert not ball_value(expression, {x: Fraction(1)}).is_finite()


def equation(
    residual: Callable[[arb], arb],
    slope: Callable[[arb], arb],
    start: arb | int,
    lower: int = 0,
) -> BoundEquation:
    """Return an equation made up of functions of balls."""
    return BoundEquation(residual, slope, arb(start), arb(lower))


SQUARE = (lambda x: x * x - 2, lambda x: 2 * x)


@pytest.mark.parametrize("bits", [10, 53, 1000, 33_000])
@pytest.mark.parametrize("start", [1, 2, 100])
def test_a_certified_root(bits: int, start: int) -> None:
    with ball_precision(bits):
        root = certified_root(equation(*SQUARE, start))
        low, high = ends(root)
        assert low**2 <= 2 <= high**2
        assert root.rel_accuracy_bits() > bits - 6


@pytest.mark.parametrize("start", ["nan", "inf", "-inf", "0", "1e-300", "-3", "1e300"])
def test_a_poor_start_gives_no_wrong_root(start: str) -> None:
    with ball_precision(100):
        root = certified_root(equation(*SQUARE, arb(start)))
        assert not root.is_finite() or root.overlaps(arb(2).sqrt())


def test_a_root_below_the_bound_is_none() -> None:
    with ball_precision(100):
        assert not certified_root(equation(*SQUARE, 2, lower=2)).is_finite()
        assert not certified_root(equation(*SQUARE, arb("-1.5"))).is_finite()


@pytest.mark.parametrize(
    ("residual", "slope"),
    [
        (lambda x: x * x + arb("1e-20"), lambda x: 2 * x),  # no root
        (lambda x: (x - 1) ** 2, lambda x: 2 * (x - 1)),  # no change of sign
        (lambda x: (x - 1) / 8 + arb("1e-9"), lambda x: arb(1) / 8),  # too little slope
        (lambda x: 2 - x, lambda x: arb(-1)),  # falls
        (lambda x: x.exp(), lambda x: x.exp()),  # tends to zero
        (lambda x: arb("nan"), lambda x: arb(1)),
        (lambda x: x - 1, lambda x: arb(0)),  # a wrong slope
    ],
)
def test_without_slope_there_is_no_enclosure(
    residual: Callable[[arb], arb], slope: Callable[[arb], arb]
) -> None:
    for bits in (30, 53, 300):
        with ball_precision(bits):
            assert not certified_root(equation(residual, slope, 1)).is_finite()
            assert not certified_root(equation(residual, slope, 3, lower=-10)).is_finite()


def test_the_iteration_ends_though_each_step_halves_the_residual() -> None:
    # The slope is twice what it should be, and no step is rounded.
    with ball_precision(64):
        assert certified_root(equation(lambda x: x, lambda x: arb(2), 1, lower=-1)).contains(0)


@pytest.mark.parametrize("radius", ["1e-30", "1e-3", "0.1", "0.5", "10"])
def test_a_wide_argument_gives_a_root_that_is_as_wide(radius: str) -> None:
    # x^2 = 2 +- radius: every root of every such equation, or none.
    with ball_precision(100):
        wide = arb(2, arb(radius))
        root = certified_root(equation(lambda x: x * x - wide, lambda x: 2 * x, arb("1.4")))
        if root.is_finite():
            with ball_precision(500):
                assert all(root.contains(s.sqrt()) for s in (wide.lower(), wide.upper()))
        assert root.is_finite() == (arb(radius) < arb("0.9"))


def test_the_conditions_of_the_enclosure_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balls, "holds_root", lambda *_: True)
    with ball_precision(100):
        no_root = equation(lambda x: x * x + arb("1e-20"), lambda x: 2 * x, 1)
        assert certified_root(no_root).is_finite()
        assert certified_root(equation(*SQUARE, 2, lower=2)).is_finite()


@given(st.integers(2, 10**6) | st.integers(1, 10**4).map(lambda e: 10**e), st.integers(10, 400))
def test_the_scaled_inflection(n: int, bits: int) -> None:
    with ball_precision(bits):
        root = ball_value(ScaledInflection(x), {x: Fraction(n)})
    with ball_precision(2 * bits + 60):
        # The residual changes sign between the ends of the ball.
        for end, sign in ((root.lower(), -1), (root.upper(), 1)):
            assert sign * (((end - 2) / (end + 2)).log() + end - arb(n - 1).log()) >= 0
    assert root.rel_accuracy_bits() > bits - 16


def test_precision_is_restored() -> None:
    before = flint.ctx.prec
    with ball_precision(1234):
        with ball_precision(77):
            assert flint.ctx.prec == 77
        assert flint.ctx.prec == 1234
    assert flint.ctx.prec == before


def test_precision_and_lock_are_given_back_after_an_error() -> None:
    before = flint.ctx.prec
    with pytest.raises(NotImplementedError), ball_precision(1234):
        ball_value(sp.gamma(x) ** sp.Rational(1, 3), {x: Fraction(1)})
    assert flint.ctx.prec == before
    entered = threading.Event()

    def work() -> None:
        with ball_precision(99):
            entered.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert entered.wait(30)
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_in_the_middle_of_ball_work_starts_clean() -> None:
    script = """
import os, signal, threading, time
import flint
from numeric.balls import ball_precision
from numeric.evaluate import evaluate

entered = threading.Event()

def work():
    with ball_precision(4321):
        entered.set()
        time.sleep(0.3)

thread = threading.Thread(target=work)
thread.start()
entered.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    good = flint.ctx.prec == 53 and evaluate("critical-cosine", H=2, digits=5).value == "0.61803"
    os._exit(0 if good else 1)
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], cwd=ROOT, timeout=60
    )
    assert done.returncode == 0
