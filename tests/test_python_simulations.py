"""Simulations from Python with nothing but ``import mhflow``."""

import csv
import inspect
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import mhflow
from numeric.simulation import Array

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    "Heads",
    "Tokens",
    "block_heads",
    "clustering_times_float64",
    "dense_heads",
    "diagonal_heads",
    "dominance_window",
    "equiangular_tokens",
    "exact_tokens",
    "orthonormal_tokens",
    "random_tokens",
    "read_arrays",
    "scalar_heads",
    "simulate_equiangular",
    "simulate_orthogonal_heads",
    "simulate_tokens",
    "simulation_csv",
    "simulation_plot",
    "trajectory",
)


def in_new_python(program: str) -> str:
    """Return what a program prints in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def table(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV after its comment lines."""
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_public_and_explained(name: str) -> None:
    assert name in dir(mhflow)
    assert name in mhflow.__all__
    public = getattr(mhflow, name)
    text = inspect.getdoc(public)
    # A dataclass without a docstring of its own gets its signature as one.
    assert text is not None
    assert not text.startswith(f"{name}(")


def test_making_heads_and_tokens_loads_no_scipy_and_no_matplotlib() -> None:
    program = (
        "import sys, mhflow; mhflow.scalar_heads('1,2', 3); mhflow.random_tokens(3, 3, 1); "
        "print([m for m in ('scipy', 'matplotlib') if m in sys.modules])"
    )
    assert in_new_python(program) == "[]"


@pytest.mark.parametrize("digits", [20, None])
def test_random_tokens_to_csv_and_back(digits: int | None) -> None:
    run = mhflow.simulate_tokens(
        heads=mhflow.scalar_heads("1/2, 1", d=2),
        tokens=mhflow.random_tokens(n=3, d=2, seed=5),
        beta=1,
        until=1,
        points=3,
        digits=digits,
    )
    text = mhflow.simulation_csv(run)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert not any("rerun" in line or "None" in line for line in comments)
    for line in ("# n: 3", "# seed: 5", "# lam: 1/2,1", "# until: 1"):
        assert line in comments
    rows = table(text)
    assert [Decimal(row["t"]) for row in rows] == [Decimal("0"), Decimal("0.5"), Decimal("1")]
    for name, column in run.columns.items():
        if digits is None:
            assert [float(row[name]) for row in rows] == [float(x) for x in column]
        else:
            assert [row[name] for row in rows] == list(column)
    # The energy at time 0 from the drawn vectors themselves.
    drawn = np.random.default_rng(5).standard_normal((3, 2))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    energy = np.exp(drawn @ drawn.T / 2).sum() / (2 * 1 * 9)
    assert float(rows[0]["energy_h1"]) == pytest.approx(energy, rel=1e-13)


def test_a_rerun_command_stays_in_the_csv_where_there_is_one() -> None:
    run = mhflow.simulate_equiangular(lam="1", beta=1, n=3, until=1, points=2, digits=5)
    with_command = mhflow.simulation_csv(run, "mhflow simulate equiangular").splitlines()
    without = mhflow.simulation_csv(run).splitlines()
    assert [line for line in with_command if line not in without] == [
        "# rerun: mhflow simulate equiangular"
    ]
    assert len(with_command) == len(without) + 1


def test_one_head_three_ways_takes_the_same_time() -> None:
    """One softmax head: gamma' = 2 lam (1-g)(1+(n-1)g) / (n-1+exp(lam beta (1-g)))."""
    n, lam, beta, stop = 8, 1.5, 2.0, 0.9

    def slowness(gamma: float) -> float:
        weights = n - 1 + np.exp(lam * beta * (1 - gamma))
        return float(weights / (2 * lam * (1 - gamma) * (1 + (n - 1) * gamma)))

    expected = quad(slowness, 0, stop, epsabs=0, epsrel=1e-12)[0]
    run = mhflow.simulate_equiangular(lam="3/2", beta=2, n=n, stop="0.9", points=2, digits=20)
    times = mhflow.clustering_times_float64(lam=[lam], beta=[[1.0], [beta]], n=[4, n], stop=stop)
    enclosed = mhflow.trajectory(lam="3/2", beta=2, n=n, stop="0.9", points=2, digits=20)
    assert times.shape == (2, 2)
    assert float(run.columns["t"][-1]) == pytest.approx(expected, rel=1e-11)
    assert times[1, 1] == pytest.approx(expected, rel=1e-11)
    assert float(enclosed.times[-1].mid()) == pytest.approx(expected, rel=1e-11)
    assert enclosed.times[-1].rel_accuracy_bits() >= 66


def test_the_dominance_window_ends_where_the_margin_does() -> None:
    window = mhflow.dominance_window(H=2, lam=1, beta="1/10", n=4, digits=20)
    assert window is not None
    gained, lost = window
    assert gained == "0"
    assert mhflow.evaluate("exit-overlap", H=2, lam=1, beta="1/10", n=4, digits=20).value == lost
    for factor, holds in ((Fraction(999, 1000), True), (Fraction(1001, 1000), False)):
        start = factor * Fraction(lost)
        run = mhflow.simulate_equiangular(lam="1,1", beta="1/10", n=4, start=start, times="0")
        assert (Decimal(str(run.columns["condition8_h1"][0])) >= 0) == holds


def test_heads_and_tokens_of_every_kind_and_of_a_file_run_alike(tmp_path: Path) -> None:
    identity = [[["1", "0"], ["0", "1"]], [["1/2", "0"], ["0", "1/2"]]]
    same_heads = (
        mhflow.scalar_heads("1, 1/2", d=2),
        mhflow.diagonal_heads(["1, 1", "1/2, 1/2"]),
        mhflow.dense_heads(identity),
    )
    square = [[1, 0], [0, 1]]
    same_tokens = (
        mhflow.orthonormal_tokens(2),
        mhflow.exact_tokens(square),
        mhflow.equiangular_tokens(2, 0),
    )
    pairs = list(zip(same_heads, same_tokens, strict=True))
    np.savez(tmp_path / "run.npz", x=np.array(square, float), M=[np.eye(2), np.eye(2) / 2])
    pairs.append(mhflow.read_arrays(tmp_path / "run.npz"))
    ends = []
    for heads, tokens in pairs:
        assert isinstance(heads, mhflow.Heads)
        assert isinstance(tokens, mhflow.Tokens)
        run = mhflow.simulate_tokens(heads=heads, tokens=tokens, beta=1, times="1", digits=None)
        assert run.states is not None
        ends.append(run.states[-1])
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=0, atol=1e-9)


def test_block_heads_move_tokens_as_the_definition_says() -> None:
    matrices = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.5]]])

    def velocity(_: float, flat: Array) -> Array:
        x = flat.reshape(2, 2)
        total = np.zeros((2, 2))
        for matrix in matrices:
            weights = np.exp(x @ matrix @ x.T)
            total += weights / weights.sum(axis=1, keepdims=True) @ x @ matrix.T
        return np.asarray(total - (total * x).sum(axis=1, keepdims=True) * x).ravel()

    expected = solve_ivp(velocity, (0, 1), np.eye(2).ravel(), "DOP853", rtol=1e-12, atol=1e-13)
    run = mhflow.simulate_tokens(
        heads=mhflow.block_heads("1, 1/2", [1, 1]),
        tokens=mhflow.orthonormal_tokens(2),
        beta=1,
        times="1",
        digits=None,
    )
    assert run.states is not None
    np.testing.assert_allclose(run.states[-1].ravel(), expected.y[:, -1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_simulation_is_drawn(kind: str, start: bytes) -> None:
    run = mhflow.simulate_equiangular(lam="1, 2", beta=1, n=3, stop="0.9", points=5, digits=None)
    assert mhflow.simulation_plot(run, kind).startswith(start)


def test_the_example_writes_its_files(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/random_tokens.py"), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "largest margin" in done.stdout
    rows = table((tmp_path / "run.csv").read_text(encoding="utf-8"))
    assert len(rows) == 9
    # What the example says of them.
    for row in rows:
        for k in (1, 2, 3):
            assert float(row[f"denergy_h{k}"]) > 0
            assert float(row[f"condition8_h{k}"]) < 0
    assert "<svg" in (tmp_path / "run.svg").read_text(encoding="utf-8")
