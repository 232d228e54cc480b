"""Balls enclose, and the process-wide precision is given back."""

import os
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import flint
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric.balls import ball_precision, ball_value, exact_ball
from symbolic.catalogue import formula, formula_names
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
    values = {p.symbol: ordinary(subject)[p.name] for p in subject.parameters}
    with ball_precision(2000):
        fine = ball_value(subject.evaluation, values)
    for bits in (20, 53, 200, 1000):
        with ball_precision(bits):
            coarse = ball_value(subject.evaluation, values)
        low, high = ends(coarse)
        assert low <= ends(fine)[0]
        assert ends(fine)[1] <= high
        assert high - low <= abs(low) / 2 ** (bits - 15)


@pytest.mark.parametrize("expression", [sp.log(x - 2), sp.sqrt(x - 2), 1 / (x - 1)])
def test_where_there_is_no_value_the_ball_is_not_finite(expression: sp.Expr) -> None:
    with ball_precision(64):
        assert not ball_value(expression, {x: Fraction(1)}).is_finite()


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
