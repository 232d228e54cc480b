"""CSV and array files of simulations: everything in, nothing lost, the same bytes each time."""

import csv
import io
import shlex
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.simulation import Column, Simulation
from proofs.simulation_files import csv_text, simulation_csv, states_npz

TINY = "1.2345678901234567890123456789012345678901234567890e-4000"


def simulation(columns: Mapping[str, Column], digits: int | None = 50) -> Simulation:
    return Simulation(
        "tokens",
        {"model": "softmax", "lam": ["1/2", "-3"], "beta": "2", "seed": "7"},
        digits,
        columns,
        "1.5e-51",
        False,
        ("two words", "and a third"),
    )


def parts(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the comment lines without their sign, and the rows after them."""
    lines = text.split("\n")
    assert lines[-1] == ""
    comments = [line[2:] for line in lines if line.startswith("# ")]
    rest = lines[len(comments) : -1]
    assert not any(line.startswith("#") for line in rest)
    return comments, list(csv.reader(rest))


def test_decimal_texts_stay_as_they_are() -> None:
    columns = {"t": ["0", "1"], "gamma": [TINY, "-0.10"], "energy_h1": ["nan", "+inf"]}
    comments, rows = parts(simulation_csv(simulation(columns), "mhflow simulate tokens"))
    assert rows == [["t", "gamma", "energy_h1"], ["0", TINY, "nan"], ["1", "-0.10", "+inf"]]
    assert Decimal(rows[1][1]) == Decimal(TINY)
    assert comments[0] == "mhflow simulate tokens"


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_float64_numbers_read_back_the_same(values: list[float]) -> None:
    column = np.array(values)
    text = simulation_csv(simulation({"t": column, "x": -column}, None), "again")
    _, (header, *rows) = parts(text)
    assert header == ["t", "x"]
    assert [[float(entry) for entry in row] for row in rows] == [[v, -v] for v in values]


def test_comments_say_everything_that_is_needed_to_run_it_again() -> None:
    rerun = shlex.join(["mhflow", "simulate", "tokens", "--file", "my  tokens.npz"])
    comments, _ = parts(simulation_csv(simulation({"t": ["0"]}), rerun))
    assert f"rerun: {rerun}" in comments
    for line in (
        "model: softmax",
        "lam: 1/2,-3",
        "beta: 2",
        "seed: 7",
        "digits: 50",
        "relative error of the state: 1.5e-51 (estimate)",
        "remark: two words",
        "remark: and a third",
    ):
        assert line in comments
    (versions,) = (line for line in comments if line.startswith("versions: "))
    for name in ("mhflow 0.", "Python 3.", "mpmath 1.", "python-flint 0.", "numpy 2.", "scipy 1."):
        assert name in versions


def test_float64_and_proved_bounds_are_said() -> None:
    proved = replace(simulation({"t": ["0"]}), certified=True, digits=None)
    comments, _ = parts(simulation_csv(proved, "again"))
    assert "digits: float64" in comments
    assert "relative error of the state: 1.5e-51 (proved bound)" in comments


@pytest.mark.parametrize("text", ["a\nt,b", "a\r\nb", "a\x0bb", "a\u2028b", "tab\there", "a\0b"])
def test_a_comment_is_one_line_whatever_is_in_it(text: str) -> None:
    output = csv_text([text], {"t": ["0"]})
    assert output.split("\n")[2:] == ["t", "0", ""]
    assert output.splitlines() == output.split("\n")[:-1]
    assert output.isascii()


def test_columns_of_different_length_are_a_mistake_that_shows() -> None:
    with pytest.raises(ValueError, match="shorter"):
        csv_text([], {"t": ["0", "1"], "x": ["0"]})


def test_lines_end_with_a_newline_alone_and_twice_is_the_same() -> None:
    texts = {simulation_csv(simulation({"t": ["0", "1"]}), "again") for _ in range(2)}
    assert len(texts) == 1
    assert "\r" not in texts.pop()


def test_states_are_arrays_with_their_times_and_their_origin() -> None:
    states = np.arange(12.0).reshape(2, 3, 2)
    made = replace(simulation({"t": ["0", "1"]}), states=states)
    contents = states_npz(made, "mhflow simulate tokens --n 3")
    assert contents == states_npz(made, "mhflow simulate tokens --n 3")
    with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
        assert sorted(archive) == ["rerun", "t", "x"]
        assert archive["x"].dtype == archive["t"].dtype == np.float64
        assert np.array_equal(archive["x"], states)
        assert archive["t"].tolist() == [0.0, 1.0]
        assert str(archive["rerun"]) == "mhflow simulate tokens --n 3"
