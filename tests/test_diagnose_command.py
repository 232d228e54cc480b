"""``mhflow diagnose`` as a user runs it: output, JSON, one-line errors."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mhflow
from proofs.commands import run as run_here

COMMAND = str(Path(sys.executable).with_name("mhflow"))
SCALAR = ("--n", "64", "--beta", "2", "--lam", "1/2,1,3/2,2")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "diagnose", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=120,
    )


@pytest.fixture
def arrays(tmp_path: Path) -> Path:
    """Return a directory with an array file: two orthogonal heads and one token."""
    heads = np.array([np.diag([1.0, 0]), np.diag([0, 1.0])])
    np.savez(tmp_path / "heads.npz", x=np.array([[0.6, 0.8]]), M=heads)
    return tmp_path


def test_scalar_heads_are_readable() -> None:
    result = run(*SCALAR)
    assert (result.returncode, result.stderr) == (0, "")
    for part in (
        "model softmax, n = 64, beta = 2, overlap gamma = 0, 4 heads",
        "Condition 8",
        "dE_h/dt >= 0",
        "lambda_peak",
        "between peak and inflection",
        "unequal strengths start slower",
        "clustering time from gamma = 0 to 99/100",
        "not necessary; scalar heads are not orthogonal heads",
        "the paper itself was not read",
    ):
        assert part in " ".join(result.stdout.split())
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
    assert "\x1b" not in result.stdout


def test_equal_heads_are_one_line_with_thresholds() -> None:
    text = run("--n", "64", "--beta", "2", "--lam", "1,1,3,1", "--digits", "6").stdout
    assert "1-2, 4  1 " in text
    assert "Thresholds" not in text
    text = run("--n", "64", "--beta", "2", "--lam", "1,1").stdout
    for part in ("1.830961451", "no  -0.1690385493", "0.009469269304 and 0.3094545085"):
        assert part in text


def test_long_numbers_fold_and_do_not_widen_the_page() -> None:
    text = run(
        "--n", "10^100", "--beta", "10^40", "--lam", "1/3,-2", "--digits", "60", "--model",
        "unnormalised",
    ).stdout  # fmt: skip
    assert max(len(line) for line in text.splitlines()) <= 100


def test_scalar_json_is_that_of_the_function() -> None:
    result = run(*SCALAR, "--json", "--digits", "20", "--gamma", "1/4", "--model", "relu")
    data = json.loads(result.stdout)
    same = mhflow.diagnose(
        n=64, beta=2, lam="1/2,1,3/2,2", digits=20, gamma="1/4", model="relu"
    ).to_json()
    assert data == json.loads(json.dumps(same))
    assert data["digits"] == 20


def test_negative_strengths_can_be_given() -> None:
    assert run("--n", "3", "--beta", "1", "--lam", "-1,2", "--json").returncode == 0


def test_an_array_file_is_readable(arrays: Path) -> None:
    result = run("heads.npz", "--beta", "2", "--model", "unnormalised", cwd=arrays)
    assert (result.returncode, result.stderr) == (0, "")
    for part in (
        "Tokens and heads of heads.npz",
        "|M - M^T|",
        "principal angles",
        "90.00",
        "no  -0.7299",
        "symmetric, aligned and orthogonal",
        "the paper itself was not read",
    ):
        assert part in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 100


def test_array_json_is_that_of_the_function(arrays: Path) -> None:
    result = run("heads.npz", "--beta", "0.7", "--json", cwd=arrays)
    data: dict[str, Any] = json.loads(result.stdout)
    same = mhflow.diagnose(arrays / "heads.npz", beta="7/10").to_json()
    assert data == json.loads(json.dumps(same))
    assert data["heads"][0]["condition8"]["worst_token"] == 1


def test_many_pairs_and_angles_are_cut_on_the_page_and_whole_in_json(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((8, 12, 5))
    np.savez(tmp_path / "many.npz", x=np.eye(12), M=factors @ factors.transpose(0, 2, 1) / 9)
    text = run("many.npz", "--beta", "1", cwd=tmp_path).stdout
    assert "of 28 pairs, those with the largest overlaps" in text
    assert "(5 angles)" in text
    assert max(len(line) for line in text.splitlines()) <= 100
    data = json.loads(run("many.npz", "--beta", "1", "--json", cwd=tmp_path).stdout)
    assert len(data["pairs"]) == 28
    assert len(data["pairs"][0]["angles"]) == 5


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ((), ("--n, --beta, --lam", "FILE.npz")),
        (("--n", "64", "--lam", "1"), ("missing --beta",)),
        (("--n", "1", "--beta", "1", "--lam", "1"), ("--n: 1", "integer >= 2")),
        (("--n", "2", "--beta", "-1", "--lam", "1"), ("--beta: -1", "real >= 0")),
        (("--n", "2", "--beta", "1", "--lam", "1,,2"), ("--lam: '1,,2'",)),
        (("--n", "2", "--beta", "1", "--lam", "x"), ("--lam: 'x'",)),
        (("--n", "2", "--beta", "1", "--lam", "1", "--gamma", "1"), ("--gamma: 1", "gamma < 1")),
        (("--n", "2", "--beta", "1", "--lam", "1", "--digits", "0"), ("--digits: '0'", "10000")),
        (("--n", "2", "--beta", "1", "--lam", "1", "--digits", "1_0"), ("--digits: '1_0'",)),
        (("--n", "2", "--beta", "1", "--lam", "1", "--model", "gelu"), ("--model: 'gelu'", "relu")),
        (("--n", "2", "--beta", "1", "--lam", "1", "--H", "2"), ("--H",)),
        (("heads.npz",), ("missing --beta",)),
        (("heads.npz", "--beta", "1", "--n", "3"), ("--n: '3'", "scalar heads")),
        (("heads.npz", "--beta", "1", "--digits", "3"), ("--digits: '3'", "scalar heads")),
        (("heads.npz", "--beta", "5000"), ("--beta: 5000", "700")),
        (("heads.npz", "--beta", "1", "extra"), ("extra",)),
        (("absent.npz", "--beta", "1"), ("absent.npz",)),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    arrays: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    fragments: tuple[str, ...],
) -> None:
    """In this process, as each start of the command takes half a second."""
    monkeypatch.chdir(arrays)
    assert run_here(["diagnose", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert told.err.startswith("mhflow: ")
    for fragment in fragments:
        assert fragment in told.err


def test_a_wrong_call_of_the_installed_command_exits_with_2() -> None:
    result = run("--n", "1", "--beta", "1", "--lam", "1")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "mhflow: --n: 1 is outside its domain: integer >= 2\n"


def test_help_has_an_example() -> None:
    assert "mhflow diagnose --n 64" in run("--help").stdout.replace("│", " ")
