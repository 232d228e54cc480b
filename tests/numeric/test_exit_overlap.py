"""The exit overlap and the window of Condition 8, against the cosine computed in mpmath."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import exp
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from numeric import dominance_window as module
from numeric.balls import ball_precision
from numeric.batch import evaluate_many
from numeric.dominance_window import dominance_window
from numeric.evaluate import evaluate
from numeric.float64 import evaluate_float64
from symbolic.catalogue import formula
from symbolic.errors import InputError, UndecidedError
from tests.numeric.independent import INDEPENDENT
from tests.numeric.strategies import draws

GOLDEN_SQUARE = Fraction("0.38196601125010515179541316563436188227969082019424")


def excess(values: dict[str, Any], overlap: Fraction, digits: int = 400) -> Any:
    """Return the squared cosine over c*^2, less 1, from softmax weights: > 0 where it fails."""
    mp: Any = MPContext()
    mp.dps = digits
    n, m, score = int(values["n"]), int(values["H"]) - 1, values["beta"] * values["lam"]
    gamma = mp.mpf(overlap.numerator) / overlap.denominator
    p = 1 / (1 + (n - 1) * mp.exp(-mp.mpf(score.numerator) / score.denominator * (1 - gamma)))
    square = p * p + 2 * p * (1 - p) * gamma + (1 - p) ** 2 * (1 + (n - 2) * gamma) / (n - 1)
    bound = 2 / (m + mp.sqrt(mp.mpf(m) ** 2 + 4))
    return (p + (1 - p) * gamma) ** 2 / (square * bound**2) - 1


def around(text: str) -> tuple[Fraction, Fraction]:
    """Return the ends of what rounds to a text, a little wider."""
    digits = len(Decimal(text).as_tuple().digits)
    unit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1)
    return Fraction(text) - unit * Fraction(51, 100), Fraction(text) + unit * Fraction(51, 100)


def exact(**values: object) -> dict[str, Fraction]:
    return {key: Fraction(str(value)) for key, value in values.items()}


@pytest.mark.parametrize("digits", [1, 50, 300, 3000])
@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_the_digits_are_those_of_the_exit(model: str, digits: int) -> None:
    values = exact(H=2, lam="3/2", beta="2/3", n=64)
    answer = evaluate("exit-overlap", model=model, digits=digits, **values)
    low, high = around(answer.value)
    assert excess(values, low, digits + 30) < 0 < excess(values, high, digits + 30)
    assert answer.certified
    assert answer.remarks == ()


def test_softmax_is_the_default() -> None:
    plain = evaluate("exit-overlap", H=3, lam=1, beta="1/2", n=64)
    assert plain == evaluate("exit-overlap", model="softmax", H=3, lam=1, beta="1/2", n=64)
    assert plain.parameters["model"] == "softmax"


@pytest.mark.parametrize(("H", "n"), [(2, 3), (2, 64), (3, 6), (5, 10**6), (10**40, 10**100)])
def test_without_attention_the_exit_is_elementary(H: int, n: int) -> None:
    # (n-1)(1-gamma) = k (1 + (n-1) gamma), with k = m (m + sqrt(m^2 + 4))/2.
    mp: Any = MPContext()
    mp.dps = 200
    m = mp.mpf(H - 1)
    k = m * (m + mp.sqrt(m * m + 4)) / 2
    expected = (n - 1 - k) / ((n - 1) * (1 + k))
    found = mp.mpf(evaluate("exit-overlap", H=H, lam=1, beta=0, n=n, digits=60).value)
    assert abs(found - expected) <= expected * mp.mpf("1e-59")


def test_the_exit_tends_to_the_squared_critical_cosine_from_below() -> None:
    gaps = []
    for exponent in (2, 4, 8, 16, 40):
        value = Fraction(evaluate("exit-overlap", H=2, lam=1, beta=1, n=10**exponent).value)
        gaps.append(GOLDEN_SQUARE - value)
    assert all(a > b for a, b in pairwise(gaps))
    # The bound of the derivation, gap <= (2 e^x + e^2x/(gamma (n-1)))/(n-1).
    for exponent, gap in zip((2, 4, 8, 16, 40), gaps, strict=True):
        n = 10**exponent
        assert 0 < gap <= Fraction(2 * exp(1) + exp(2) / (0.3 * (n - 1))) / (n - 1)


@pytest.mark.parametrize("offset", ["1e-5", "1e-20", "1e-60"])
def test_just_below_beta_star(offset: str) -> None:
    # Few tokens: the exit goes to 0 with beta* - beta; many: it does not.
    for n, vanishes in ((3, True), (64, False)):
        critical = evaluate("critical-beta", n=n, H=2, alpha=1, digits=120).value
        values = exact(H=2, lam=1, n=n) | {"beta": Fraction(critical) - Fraction(offset)}
        answer = evaluate("exit-overlap", digits=40, **values)
        low, high = around(answer.value)
        assert excess(values, low) < 0 < excess(values, high)
        assert (0 < Fraction(answer.value) < 10 * Fraction(offset)) is vanishes
        above = evaluate("exit-overlap", digits=40, **{**values, "beta": Fraction(critical) + 1})
        assert above.value == "0"


def test_not_below_beta_star_the_remarks_tell_the_window() -> None:
    answer = evaluate("exit-overlap", H=2, lam=1, beta=2, n=64)
    assert (answer.value, answer.radius) == ("0", "0")
    assert answer.remarks == (
        "Condition 8 does not hold at the start, for beta is not below beta*",
        "it is gained at overlap 0.00946926930390 and lost again at 0.309454508459",
    )
    answer = evaluate("exit-overlap", H=2, lam=1, beta=3, n=64)
    assert answer.remarks[1] == "it holds at no overlap in [0, 1)"


def test_an_undecided_window_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(*_: object) -> bool:
        raise UndecidedError("no answer")

    monkeypatch.setattr(module, "until_decided", undecided)
    answer = evaluate("exit-overlap", H=2, lam=1, beta=2, n=64)
    assert answer.value == "0"
    assert answer.remarks[1] == "whether it holds at a larger overlap is not decided"
    with pytest.raises(UndecidedError, match="whether Condition 8 is gained later"):
        dominance_window(H=2, lam=1, beta=2, n=64)


def test_relu_has_no_exit_and_no_inverse_temperature() -> None:
    answer = evaluate("exit-overlap", model="relu", H=2, lam=1, n=64)
    assert answer.value == "0"
    assert len(answer.remarks) == 1
    assert answer.remarks[0].startswith("relu: Condition 8 does not hold at the start")
    idle = evaluate("exit-overlap", model="relu", H=2, lam=1, n=64, beta=1)
    assert idle.remarks == ("beta does not enter in the model relu", *answer.remarks)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"H": 1}, "H: 1 is outside its domain: integer >= 2"),
        ({"lam": 0}, "lam: 0 is outside its domain: real > 0"),
        ({"beta": -1}, "beta: -1 is outside its domain: real >= 0"),
        ({"n": 1}, "n: 1 is outside its domain: integer >= 2"),
        ({"model": "linear"}, "model: 'linear' is not accepted"),
    ],
)
def test_refusals(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate("exit-overlap", **{"H": 2, "lam": 1, "beta": 1, "n": 64, **parameters})
    if "model" not in parameters:
        with pytest.raises(InputError, match=message):
            dominance_window(**{"H": 2, "lam": 1, "beta": 1, "n": 64, **parameters})


def test_a_wrong_number_of_digits_of_a_window_is_refused() -> None:
    with pytest.raises(InputError, match=r"^digits: 0 is not accepted"):
        dominance_window(H=2, lam=1, beta=1, n=64, digits=0)


# -- The window -----------------------------------------------------------------------------------


def test_the_window_of_the_theory() -> None:
    window = dominance_window(H=2, lam=1, beta=2, n=64)
    assert window == ("0.009469269304", "0.3094545085")
    before = flint.ctx.prec
    dominance_window(H=2, lam="1/2", beta=4, n=64, digits=100)
    assert flint.ctx.prec == before


@pytest.mark.parametrize("digits", [5, 60, 1000])
def test_both_ends_have_their_digits(digits: int) -> None:
    values = exact(H=2, lam=1, beta="2.1", n=64)
    window = dominance_window(**values, digits=digits)
    assert window is not None
    (gain_low, gain_high), (loss_low, loss_high) = map(around, window)
    signs = [
        excess(values, end, digits + 30) > 0 for end in (gain_low, gain_high, loss_low, loss_high)
    ]
    assert signs == [True, False, False, True]


def test_below_beta_star_the_window_begins_at_the_start() -> None:
    window = dominance_window(H=3, lam=1, beta="1/2", n=64, digits=30)
    assert window == ("0", evaluate("exit-overlap", H=3, lam=1, beta="1/2", n=64, digits=30).value)


def test_no_window_far_above_beta_star_or_for_few_tokens() -> None:
    assert dominance_window(H=2, lam=1, beta=3, n=64) is None
    assert dominance_window(H=2, lam=1, beta="10^80", n="10^100") is None
    assert dominance_window(H=2, lam=1, beta="1e-80", n=2) is None
    critical = evaluate("critical-beta", n=3, H=2, alpha=1, digits=90).value
    above = Fraction(critical) + Fraction(1, 10**70)
    assert dominance_window(H=2, lam=1, beta=above, n=3) is None


def test_the_window_closes_between_two_temperatures() -> None:
    # Bisection on the last beta with a window, to 12 digits; every answer must be given.
    low, high = Fraction(2), Fraction(3)
    for _ in range(40):
        middle = (low + high) / 2
        if dominance_window(H=2, lam=1, beta=middle, n=64) is None:
            high = middle
        else:
            low = middle
    window = dominance_window(H=2, lam=1, beta=low, n=64, digits=20)
    assert window is not None
    width = Fraction(window[1]) - Fraction(window[0])
    assert 0 < width < Fraction(1, 10**4)
    # The cosine just beyond: above c* everywhere on a grid around the place of closing.
    place = Fraction(window[0])
    values = exact(H=2, lam=1, n=64) | {"beta": high}
    assert all(excess(values, place + width * k / 20) > 0 for k in range(-40, 41))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5),
    st.integers(2, 10_000) | st.sampled_from([10**6, 10**30, 10**100]),
    st.builds(Fraction, st.integers(0, 1200), st.just(100)),
)
def test_windows_anywhere(H: int, n: int, score: Fraction) -> None:
    values = {"H": Fraction(H), "lam": Fraction(1), "beta": score, "n": Fraction(n)}
    window = dominance_window(**values, digits=20)
    grid = [Fraction(k, 50) ** 4 for k in range(1, 50)]
    if window is None:
        assert excess(values, Fraction(0)) > 0
        assert all(excess(values, overlap, 150) > 0 for overlap in grid)
        return
    (gain, _), (loss, past) = (
        around(text) if text != "0" else (Fraction(0), Fraction(0)) for text in window
    )
    for overlap in grid:
        inside = Fraction(window[0]) < overlap < Fraction(window[1])
        assert bool(excess(values, overlap, 150) < 0) is inside
    assert excess(values, loss) < 0 < excess(values, past)
    assert (excess(values, gain) > 0) is (window[0] != "0")


# -- Many values ----------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_many_values_are_those_of_one_by_one(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(draws(formula("exit-overlap")), min_size=1, max_size=4))
    rows = [{**row, "beta": row.get("beta", Fraction(1))} for row in drawn]
    model = rows[0]["model"]
    columns = {key: [row[key] for row in rows] for key in ("H", "lam", "beta", "n")}
    digits = data.draw(st.sampled_from([15, 50, 200]))
    for row, ball in zip(
        rows, evaluate_many("exit-overlap", model=model, digits=digits, **columns), strict=True
    ):
        text = evaluate("exit-overlap", **{**row, "model": model}, digits=digits).value
        with ball_precision(4 * digits + 400):
            low, high = around(text) if text != "0" else (Fraction(0), Fraction(0))
            assert ball.overlaps(_ball(low).union(_ball(high)))
            assert ball.rad() * 2 * flint.arb(10) ** digits <= abs(ball.mid())


def _ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpz(value.numerator)) / flint.fmpz(value.denominator)


def test_a_column_of_words_is_refused() -> None:
    with pytest.raises(InputError, match="model: "):
        evaluate_many("exit-overlap", model=["softmax", "relu"], H=2, lam=1, beta=1, n=[3, 4])


def test_a_map_in_float64() -> None:
    beta, n = np.linspace(0, 2.5, 6), np.array([[16.0], [64.0], [1e6], [1e200]])
    found = evaluate_float64("exit-overlap", H=2, lam=1, beta=beta, n=n)
    assert found.shape == (4, 6)
    for i, j in np.ndindex(4, 6):
        values = {
            "model": "softmax",
            "H": Fraction(2),
            "lam": Fraction(1),
            "beta": Fraction(float(beta[j])),
            "n": Fraction(float(n[i, 0])),
        }
        other = INDEPENDENT["exit-overlap"](values)
        assert other is not None
        assert abs(Decimal(float(found[i, j])) - other) <= other * Decimal("1e-13")
    assert evaluate_float64("exit-overlap", model="relu", H=2, lam=1, n=n).tolist() == [[0]] * 4
