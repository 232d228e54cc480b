"""``mhflow simulate`` as a user runs it: files, reruns, one-line errors, interrupts."""

import csv
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numeric.evaluate import evaluate
from numeric.heads import dense_heads
from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
from numeric.token_presets import PRESETS
from proofs import simulation_cost, views
from proofs.commands import run
from tests.support import let_interrupts_in

COMMAND = str(Path(sys.executable).with_name("mhflow"))
BLOCKS = shlex.split(
    "simulate orthogonal-heads --lam 1,1.3 --shares 0.9,0.1 --overlaps 0.6,0.6 --n 8 --beta 2"
)
EQUIANGULAR = shlex.split("simulate equiangular --lam 0.5,1,3/2,2 --beta 2 --n 64")
TOKENS = shlex.split("simulate tokens --preset random --n 4 --d 3 --seed 7 --lam 1,1/2 --beta 2")
MAP = shlex.split("simulate phase-diagram --lam 1 --beta 0..10 --n 2..1000 --stop 0.9")
SHORT = [*BLOCKS, "--until", "1", "--points", "3", "--digits", "20"]

FLOATS = [*TOKENS[1:], *shlex.split("--until 1 --points 2 --digits float64")]
BLOCKED = shlex.split("tokens --preset orthogonal-heads --lam 1,2 --n 3 --beta 1 --until 1")

RANDOM: Any = PRESETS["random"]
ROOT = Path(__file__).resolve().parent.parent
Answer = tuple[int, str, str]
Call = Callable[..., Answer]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Return a function that runs the command here and returns code, stdout and stderr."""

    def called(*arguments: str) -> Answer:
        code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return called


def last_of_each(arguments: Sequence[str]) -> list[str]:
    """Return arguments with every option once: a case below changes some of a call that works."""
    kept: list[str] = []
    for word in arguments:
        if word.startswith("--") and word in kept:
            place = kept.index(word)
            del kept[place : place + 2]
        kept.append(word)
    return kept


def rows(text: str) -> list[dict[str, str]]:
    lines = text.splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def comment(text: str, name: str) -> str:
    (found,) = (x for x in text.splitlines() if x.startswith(f"# {name}: "))
    return found.partition(": ")[2]


def test_the_csv_has_every_column_of_the_simulation(call: Call) -> None:
    code, out, _ = call(*SHORT)
    assert code == 0
    simulation = simulate_orthogonal_heads(
        lam="1,1.3",
        shares="0.9,0.1",
        overlaps="0.6,0.6",
        n=8,
        beta=2,
        until=1,
        points=3,
        digits=20,
    )
    found = rows(out)
    assert list(found[0]) == list(simulation.columns)
    for name, column in simulation.columns.items():
        assert [row[name] for row in found] == list(column)


def test_stdout_and_file_are_the_same_and_the_header_runs_it_again(
    call: Call, tmp_path: Path
) -> None:
    _, printed, _ = call(*SHORT)
    path = tmp_path / "run.csv"
    code, out, err = call(*SHORT, "--out", str(path))
    assert (code, err) == (0, "")
    assert out == f"written: {path}\n"
    assert path.read_bytes().decode() == printed
    program, *again = shlex.split(comment(printed, "rerun"))
    assert program == "mhflow"
    assert "--out" not in again
    assert call(*again)[1] == printed


def test_every_file_is_written_and_is_what_its_name_says(call: Call, tmp_path: Path) -> None:
    starts = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}
    for kind, start in starts.items():
        plot = tmp_path / f"run.{kind}"
        code, out, _ = call(*SHORT, "--plot", str(plot))
        assert code == 0
        assert len(rows(out)) == 3
        assert plot.read_bytes().startswith(start)
    assert sorted(os.listdir(tmp_path)) == ["run.pdf", "run.png"]


def test_the_same_call_is_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    contents = []
    for seed in ("1", "2"):
        subprocess.run(
            [COMMAND, *SHORT, "--out", "run.csv", "--plot", "run.svg"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            timeout=120,
        )
        contents.append([(tmp_path / name).read_bytes() for name in ("run.csv", "run.svg")])
    assert contents[0] == contents[1]
    assert contents[0][1].startswith(b"<?xml")


def test_float64_is_named_and_its_numbers_are_short(call: Call) -> None:
    _, out, _ = call(*BLOCKS, "--times", "0,1/3,1", "--digits", "float64")
    assert comment(out, "digits") == "float64"
    assert comment(out, "times") == "0,1/3,1"
    found = rows(out)
    assert [row["t"] for row in found] == ["0.0", repr(1 / 3), "1.0"]
    for row in found:
        for entry in row.values():
            assert repr(float(entry)) == entry


def test_the_call_of_the_issue(call: Call, tmp_path: Path) -> None:
    files = ("--out", str(tmp_path / "run.csv"), "--plot", str(tmp_path / "run.svg"))
    wanted = "--model softmax --stop 1-1e-6 --points 50 --digits 50"
    code, _, err = call(*EQUIANGULAR, *wanted.split(), *files)
    assert (code, err) == (0, "")
    text = (tmp_path / "run.csv").read_text()
    assert comment(text, "relative error of the state") == "5e-50 (proved bound)"
    assert comment(text, "stop") == "999999/1000000"
    found = rows(text)
    assert len(found) == 50
    assert list(found[0])[:4] == ["t", "gamma", "one_minus_gamma", "energy_h1"]
    assert "condition8_sharp_h4" in found[0]
    assert [found[0]["gamma"], Decimal(found[-1]["one_minus_gamma"])] == ["0", Decimal("1e-6")]
    # The time of arrival against the formula, which takes another way.
    time_of_formula = evaluate(
        "clustering-time", lam="0.5,1,3/2,2", beta=2, n=64, start=0, stop="1-1e-6", digits=50
    )
    assert found[-1]["t"] == time_of_formula.value
    assert call(*shlex.split(comment(text, "rerun"))[1:])[1] == text


def test_tokens_from_a_seed_with_their_states(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    wanted = ("--times", "0,1,2", "--digits", "float64", "--states", str(path))
    code, out, err = call(*TOKENS, *wanted)
    assert code == 0
    assert all(line.startswith("remark: ") for line in err.splitlines())
    assert comment(out, "seed") == "7"
    assert "default_rng" in comment(out, "generator")
    with np.load(path) as arrays:
        states = arrays["x"]
        assert arrays["t"].tolist() == [0, 1, 2]
        assert str(arrays["rerun"]) == comment(out, "rerun")
    drawn = np.random.default_rng(7).standard_normal((4, 3))
    assert states.shape == (3, 4, 3)
    assert np.allclose(states[0], drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    # The energy of the first head from the tokens, by its definition.
    energy = np.exp(2 * states[2] @ states[2].T).sum() / (2 * 2 * 4**2)
    assert float(rows(out)[2]["energy_h1"]) == pytest.approx(energy, rel=1e-12)


def test_tokens_from_a_file_are_those_of_the_same_arrays(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "my arrays.npz"
    np.savez(path, x=np.eye(3), M=np.stack([np.eye(3), np.eye(3) / 2]))
    wanted = ("--beta", "2", "--until", "1", "--points", "3", "--digits", "float64")
    _, out, _ = call("simulate", "tokens", "--file", str(path), *wanted)
    preset = ("--preset", "orthonormal", "--n", "3", "--lam", "1,1/2")
    _, expected, _ = call("simulate", "tokens", *preset, *wanted)
    for row, other in zip(rows(out), rows(expected), strict=True):
        assert list(row) == list(other)
        for name, entry in row.items():
            assert float(entry) == pytest.approx(float(other[name]), rel=1e-9, abs=1e-9)
    assert comment(out, "digest").startswith("sha256:")
    assert shlex.quote(str(path)) in comment(out, "rerun")
    # And both are the scalar regime, whose columns come from elsewhere.
    scalar = ("--n", "3", "--lam", "1,1/2", *wanted)
    _, reduced, _ = call("simulate", "equiangular", *scalar)
    for row, other in zip(rows(out), rows(reduced), strict=True):
        for name in ("energy_h1", "entropy_h2", "condition8_h1"):
            assert float(row[name]) == pytest.approx(float(other[name]), rel=1e-9)


def test_flat_tokens_leave_the_sphere(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    wanted = ("--times", "0,1", "--digits", "float64", "--states", str(path), "--flat")
    code, out, _ = call(*TOKENS, *wanted)
    assert code == 0
    assert "--flat" in comment(out, "rerun")
    with np.load(path) as arrays:
        assert np.linalg.norm(arrays["x"][1], axis=1).min() > 1.5


def test_a_phase_diagram_is_drawn_or_printed(call: Call, tmp_path: Path) -> None:
    plot = tmp_path / "map.png"
    few = ("--points", "4")
    assert call(*MAP, *few, "--plot", str(plot)) == (0, f"written: {plot}\n", "")
    assert plot.read_bytes().startswith(b"\x89PNG")
    code, out, _ = call(*MAP, *few)
    assert code == 0
    found = rows(out)
    assert [row["n"] for row in found[::4]] == ["2", "16", "126", "1000"]
    for row in found:
        formula = evaluate(
            "clustering-time",
            lam=1,
            beta=Fraction(row["beta"]).limit_denominator(100),
            n=row["n"],
            start=0,
            stop="0.9",
            digits=20,
        )
        assert float(row["clustering_time"]) == pytest.approx(float(formula.value), rel=1e-12)
    path = tmp_path / "map.csv"
    assert call(*MAP, *few, "--out", str(path))[1] == f"written: {path}\n"
    assert path.read_text() == out


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ((), ("simulate", "orthogonal-heads")),
        (("orthogonal",), ("'orthogonal'", "orthogonal-heads")),
        (("orthogonal-heads", "--lam", "1"), ("--shares", "simulate orthogonal-heads --help")),
        ((*BLOCKS[1:], "--precision", "3"), ("--precision",)),
        ((*BLOCKS[1:], "--until"), ("--until",)),
        (BLOCKS[1:], ("times", "until")),
        ((*BLOCKS[1:], "--until", "1", "--times", "1"), ("--times", "until")),
        ((*BLOCKS[1:], "--until", "0"), ("--until", "0", "real > 0")),
        ((*BLOCKS[1:], "--until", "soon"), ("--until", "soon")),
        ((*BLOCKS[1:], "--times", "1,1"), ("--times", "1,1", "ascending")),
        ((*BLOCKS[1:], "--times", "-1,1"), ("--times", "-1", ">= 0")),
        ((*BLOCKS[1:], "--until", "1", "--points", "1"), ("--points", "1", "2 to")),
        ((*BLOCKS[1:], "--until", "1", "--points", "2.5"), ("--points", "5/2")),
        ((*SHORT[1:], "--digits", "0"), ("--digits", "0", "10000")),
        ((*SHORT[1:], "--digits", "-5"), ("--digits", "-5", "10000", "float64")),
        ((*SHORT[1:], "--digits", "float32"), ("--digits", "float32", "float64")),
        ((*SHORT[1:], "--digits", "999999999999"), ("--digits", "10000")),
        ((*SHORT[1:], "--model", "gelu"), ("--model", "gelu", "softmax")),
        ((*SHORT[1:], "--n", "1"), ("--n", "1", ">= 2")),
        ((*SHORT[1:], "--n", "2.5"), ("--n", "5/2")),
        ((*SHORT[1:], "--beta", "-1"), ("--beta", "-1", ">= 0")),
        ((*SHORT[1:], "--beta", "nan"), ("--beta", "nan")),
        ((*SHORT[1:], "--lam", "1,,2"), ("--lam", "1,,2")),
        ((*SHORT[1:], "--lam", "1"), ("--shares", "2", "1")),
        ((*SHORT[1:], "--shares", "0.9,0.2"), ("--shares", "11/10", "sum 1")),
        ((*SHORT[1:], "--overlaps", "0.6,1"), ("--overlaps", "1", "< 1")),
        ((*SHORT[1:], "--plot", "run.jpg"), ("--plot", "run.jpg", ".png", ".svg", ".pdf")),
        ((*SHORT[1:], "--plot", "png"), ("--plot", "'png'", ".png")),
        ((*SHORT[1:], "--plot", ""), ("--plot", "''")),
        ((*SHORT[1:], "--out", ""), ("--out", "''")),
        ((*SHORT[1:], "--out", "absent/run.csv"), ("absent",)),
        ((*SHORT[1:], "--out", "run.txt"), ("--out", "run.txt", ".csv")),
        ((*TOKENS[1:], "--until", "1", "--states", "a.png"), ("--states", "a.png", ".npz")),
        ((*SHORT[1:], "--foo", "3"), ("--foo; see: mhflow simulate orthogonal-heads",)),
        ((*EQUIANGULAR[1:], "--stop", "1-1e-400", "--digits", "float64"), ("--stop", "digits")),
        ((*EQUIANGULAR[1:], "--until", "10^400", "--digits", "float64"), ("--until", "digits")),
        ((*FLOATS, "--lam", "10^400"), ("--lam", "float64", "1e+100")),
        ((*FLOATS, "--n", "10^400"), ("--n", "10,000,000")),
        ((*FLOATS, "--n", "10^6"), ("--n", "1000000", "20,000,000")),
        ((*FLOATS, "--until", "10^400"), ("--until", "1e300")),
        ((*FLOATS, "--digits", "20", "--until", "10^400"), ("--until", "1e300")),
        ((*FLOATS, "--beta", "10^400"), ("--beta", "1e300")),
        ((*FLOATS, "--beta", "10^5"), ("--beta", "100000", "700", "digits")),
        ((*MAP[1:], "--n", "2..10^400", "--points", "5"), ("--n", "2..10^400", "2^53")),
        ((*BLOCKED, "--shares", "0.5,0.6"), ("--shares: 1/2,3/5", "sum 1")),
        ((*BLOCKED, "--shares", "0.5"), ("--shares: 1 given for 2 strengths",)),
        (("tokens", "--beta", "1", "--file", "", "--until", "1"), ("--file: ''",)),
        (EQUIANGULAR[1:], ("times: nothing", "--stop, --until or --times")),
        ((*EQUIANGULAR[1:], "--stop", "1"), ("--stop", "1", "< 1")),
        ((*EQUIANGULAR[1:], "--stop", "-0.01"), ("--stop", "-1/100", "0 < stop")),
        ((*EQUIANGULAR[1:], "--stop", "0.5", "--start", "-1/63"), ("--start", "-1/63")),
        (
            (*EQUIANGULAR[1:], "--until", "1", "--stop", "0.5"),
            ("times: --stop and --until", "or --times"),
        ),
        (("equiangular", "--lam", "1", "--n", "2", "--until", "1"), ("--beta", "softmax")),
        ((*TOKENS[1:], "--until", "1", "--preset", "cloud"), ("--preset", "cloud", "random")),
        ((*TOKENS[1:], "--until", "1", "--file", "a.npz"), ("--preset", "--file")),
        (("tokens", "--beta", "1", "--until", "1"), ("--preset", "--file", "orthonormal")),
        (("tokens", "--beta", "1", "--file", "a.npz", "--n", "3", "--until", "1"), ("--n", "3")),
        (("tokens", "--beta", "1", "--file", "absent.npz", "--until", "1"), ("absent.npz",)),
        ((*TOKENS[1:], "--until", "1", "--gamma", "0.5"), ("--gamma", "0.5", "random", "--seed")),
        ((*TOKENS[1:-4], "--beta", "1", "--until", "1"), ("--lam", "random", "--seed")),
        ((*TOKENS[1:], "--until", "1", "--seed", "-1"), ("--seed", "-1", ">= 0")),
        ((*TOKENS[1:], "--until", "1", "--d", "0"), ("--d", "0", ">= 1")),
        ((*TOKENS[1:], "--until", "1", "--states", "absent/x.npz"), ("absent",)),
        ((*MAP[1:], "--points", "1"), ("--points", "'1'", "2 to 1000")),
        ((*MAP[1:], "--points", "many"), ("--points", "many")),
        ((*MAP[1:], "--beta", "10..0"), ("--beta", "10..0", "A < B")),
        ((*MAP[1:], "--beta", "-1..1"), ("--beta", "-1", ">= 0")),
        ((*MAP[1:], "--n", "1..10"), ("--n", "1", ">= 2")),
        ((*MAP[1:], "--n", ",".join(map(str, range(2, 9000)))), ("--n", "8998", "1,000,000")),
        ((*MAP[1:], "--n", "10^400"), ("--n", "float64")),
        ((*MAP[1:], "--stop", "1-1e-17"), ("--stop", "1-1e-16")),
        ((*MAP[1:], "--stop", "2"), ("--stop", "2")),
        ((*MAP[1:], "--start", "-0.5"), ("--start", "-0.5")),
        ((*MAP[1:], "--model", "gelu"), ("--model", "gelu")),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    call: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    fragments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call("simulate", *last_of_each(arguments))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("mhflow: ")
    for fragment in fragments:
        assert fragment in err
    assert os.listdir(tmp_path) == []


def test_no_output_replaces_the_input_or_another_output(call: Call, tmp_path: Path) -> None:
    arrays, link = tmp_path / "arrays.npz", tmp_path / "link.csv"
    np.savez(arrays, x=np.eye(2), M=np.eye(2)[None])
    before = arrays.read_bytes()
    link.symlink_to(arrays)
    given = ("--file", str(arrays), "--beta", "1", "--until", "1", "--digits", "float64")
    crooked = str(tmp_path / ".." / tmp_path.name / "arrays.npz")
    for option, path in (("--states", str(arrays)), ("--states", crooked), ("--out", str(link))):
        code, out, err = call("simulate", "tokens", *given, option, path)
        assert (code, out) == (2, "")
        assert err.startswith(f"mhflow: {option}: ")
        assert "is also --file" in err
    (tmp_path / "b.svg").symlink_to(tmp_path / "b.csv")
    files = ("--out", str(tmp_path / "b.csv"), "--plot", str(tmp_path / "b.svg"))
    code, _, err = call(*SHORT, *files)
    assert (code, err.count("\n")) == (2, 1)
    assert "is also --out" in err
    assert arrays.read_bytes() == before


def test_large_entries_of_a_file_are_refused(
    call: Call, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    path = tmp_path / "large.npz"
    np.savez(path, x=np.eye(2), M=1e200 * np.eye(2)[None])
    given = ("--file", str(path), "--beta", "1", "--until", "1", "--digits", "float64")
    code, out, err = call("simulate", "tokens", *given)
    assert (code, out) == (2, "")
    assert err == "mhflow: M: an entry of size 1e+200 is not accepted; give entries up to 1e+100\n"
    assert len(recwarn) == 0


@pytest.mark.parametrize("again", [("--lam", "2"), ("--lam=2",)])
def test_an_option_given_twice_is_refused(call: Call, again: tuple[str, ...]) -> None:
    code, out, err = call(*EQUIANGULAR, "--until", "1", *again)
    assert (code, out) == (2, "")
    assert err == "mhflow: --lam: given 2 times; give it once\n"
    # But a grid may have several axes: here only its second one is wrong.
    assert "given" not in call("tables", "--grid", "n=16", "--grid", "H=x")[2]


def test_a_path_is_refused_before_the_work(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for option in ("--out", "--plot"):
        start = time.monotonic()
        target = str(tmp_path / "file" / ("run.csv" if option == "--out" else "run.png"))
        code, out, err = call(*BLOCKS, "--until", "1", "--digits", "5000", option, target)
        assert time.monotonic() - start < 5
        assert (code, out) == (2, "")
        assert "cannot write" in err
    assert (tmp_path / "file").read_text() == "mine"


def test_a_long_run_says_what_it_costs_as_it_starts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation_cost, "_SECONDS_BEFORE_TELLING", 0.0)
    for seconds in (0.0, 9.0, float("nan")):
        with simulation_cost.told_before(seconds):
            time.sleep(0.05)
        assert capsys.readouterr().err == ""
    with simulation_cost.told_before(240):
        time.sleep(0.2)
    line = capsys.readouterr().err
    assert line.startswith("this takes about 4 min; ")
    assert line.count("\n") == 1
    for seconds in (1e90, float("inf")):
        with simulation_cost.told_before(seconds, floats=True):
            time.sleep(0.2)
        line = capsys.readouterr().err
        assert line.startswith("this takes more than a year; ")
        assert "float64" not in line


def test_estimates_grow_with_what_is_asked() -> None:
    def seconds(n: int, lam: str, until: float, points: int, digits: int | None) -> float:
        heads, _ = RANDOM(lam, n, 4, 1)
        return simulation_cost.token_seconds("softmax", heads, n, "1", until, points, digits=digits)

    usual = seconds(8, "1", 1, 50, 50)
    larger = ((16, "1", 1, 50, 50), (8, "2", 1, 50, 50), (8, "1", 2, 50, 50))
    for more in (*larger, (8, "1", 1, 99, 50), (8, "1", 1, 50, 99)):
        assert seconds(*more) > usual
    assert seconds(8, "1", 1, 50, None) < usual / 10
    assert 0.05 < usual < 5
    blocks = simulation_cost.orthogonal_heads_seconds
    assert blocks("unnormalised", "1,1", "10^9", 1e9, 50, digits=50) > 1e9
    assert blocks("softmax", "1,1", "1", 1, 50, digits=None) == 0


@pytest.mark.parametrize(
    ("digits", "until", "measured"),
    [(200, 1, 1.5), (300, 0.01, 0.7), (300, 1, 6.1), (600, 0.5, 37.6), (1000, 0.01, 44.4)],
)
def test_estimates_of_many_digits_are_within_a_factor_of_four(
    digits: int, until: float, measured: float
) -> None:
    # Seconds of one run on one core, two orthonormal tokens under one head M = V = I.
    heads = dense_heads([[[1, 0], [0, 1]]])
    estimate = simulation_cost.token_seconds("softmax", heads, 2, "1", until, 1, digits)
    assert measured / 4 < estimate < 4 * measured


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None, "5", None), (5, 50)),
        ((None, "5", "7"), (5, 7)),
        (("0,1,2.5", None, None), (2.5, 3)),
        ((None, None, None), (0, 50)),
        (("soon", None, None), (0, 50)),
        ((None, "10^500", "10^500"), (1e100, 10**6)),
    ],
)
def test_the_span_of_a_run_for_its_estimate(
    given: tuple[str | None, str | None, str | None], expected: tuple[float, int]
) -> None:
    assert simulation_cost.span(*given) == expected


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, *BLOCKS, *shlex.split("--until 5 --digits 5000 --out a.csv --plot a.svg")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
        preexec_fn=let_interrupts_in,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("regime", ["equiangular", "tokens", "orthogonal-heads", "phase-diagram"])
def test_every_help_has_an_example(call: Call, regime: str) -> None:
    code, out, _ = call("simulate", regime, "--help")
    assert code == 0
    assert f"mhflow simulate {regime}" in out.replace("│", " ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (5400, "2 h"), (10**6, "12 days")],
)
def test_times_to_wait_are_in_the_unit_that_people_use(seconds: float, text: str) -> None:
    assert views.duration(seconds) == text


def test_progress_elsewhere_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with views.time_left() as report:
        for part in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
            now[0] = 40 * part
            report(part)
    # A line at 25 % (10 s) and at 50 %, 90 %; none in the first seconds or at the end.
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "25% done, about 30 s left",
        "50% done, about 20 s left",
        "90% done, about 4 s left",
    ]


def test_progress_with_the_time_left_is_shown_on_a_terminal(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *TOKENS, *shlex.split("--until 2 --out run.csv")],
        stdout=follower,
        stderr=follower,
        cwd=tmp_path,
    )
    os.close(follower)
    seen = b""
    try:
        while chunk := os.read(leader, 65536):
            seen += chunk
    except OSError:  # the terminal is gone when the command has ended
        pass
    os.close(leader)
    assert process.wait(timeout=60) == 0
    assert b"% done, about " in seen
    assert b"written: run.csv" in seen
    assert os.listdir(tmp_path) == ["run.csv"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.stem)
def test_examples_run(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
