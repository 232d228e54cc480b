"""The installed command, as a user runs it: output, exit codes, one-line errors, speed of start."""

import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import let_interrupts_in

COMMAND = str(Path(sys.executable).with_name("mhflow"))
GOLDEN = "0.61803398874989484820458683436563811772030917980576"


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, cwd=cwd, check=False, timeout=120
    )


def refused(*arguments: str) -> str:
    """Return the one line of a refused call, after checking the rule for errors."""
    result = run(*arguments)
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("mhflow: ")
    return result.stderr


def test_eval_prints_the_digits_alone() -> None:
    result = run("eval", "critical-cosine", "H=2")
    assert (result.returncode, result.stdout, result.stderr) == (0, GOLDEN + "\n", "")


def test_eval_json_has_the_keys_of_the_contract() -> None:
    result = run("eval", "critical-beta", "n=10", "H=4", "alpha=0.5", "--digits", "5", "--json")
    data = json.loads(result.stdout)
    assert list(data) == [
        "formula",
        "parameters",
        "digits",
        "value",
        "radius",
        "certified",
        "remarks",
    ]
    assert data["parameters"] == {"n": "10", "H": "4", "alpha": "1/2"}
    assert data["value"] == "-0.096151"
    assert data["certified"] is True
    assert any("11" in remark for remark in data["remarks"])


def test_one_head_has_no_finite_threshold() -> None:
    data = json.loads(run("eval", "critical-beta", "n=3", "H=1", "alpha=1", "--json").stdout)
    assert data["value"] == "+inf"
    assert data["remarks"]


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ((), ("verify",)),
        (("evil",), ("evil", "eval")),
        (("eval",), ("FORMULA",)),
        (("eval", "critical-cosin", "H=2"), ("critical-cosin", "critical-cosine")),
        (("eval", "critical-cosine"), ("H", "integer >= 1")),
        (("eval", "critical-cosine", "H=2", "n=3"), ("n", "3")),
        (("eval", "critical-cosine", "H=2", "H=3"), ("H", "twice")),
        (("eval", "critical-cosine", "H"), ("NAME=VALUE",)),
        (("eval", "critical-cosine", "=2"), ("NAME=VALUE",)),
        (("eval", "critical-cosine", "H=0"), ("0", "integer >= 1")),
        (("eval", "critical-cosine", "H=-3"), ("-3", "integer >= 1")),
        (("eval", "critical-cosine", "H=3/2"), ("3/2", "integer >= 1")),
        (("eval", "critical-cosine", "H=two"), ("two",)),
        (("eval", "critical-cosine", "H="), ("H",)),
        (("eval", "critical-cosine", "H=nan"), ("nan",)),
        (("eval", "critical-cosine", "H=inf"), ("inf",)),
        (("eval", "critical-cosine", "H=1/0"), ("1/0",)),
        (("eval", "critical-cosine", "H=__import__('os')"), ("__import__",)),
        (("eval", "critical-cosine", "H=2\n3"), ("H",)),
        (("eval", "critical-cosine", "H=9^999999999"), ("H",)),
        (("eval", "critical-beta", "n=1", "H=2", "alpha=1"), ("1", "integer >= 2")),
        (("eval", "critical-beta", "n=2", "H=2", "alpha=0"), ("0", "real > 0")),
        (("eval", "radial-cosine", "lam=1", "beta=1", "n=3", "gamma=2"), ("2", "gamma")),
        (("eval", "radial-cosine", "lam=1", "beta=1", "n=3", "gamma=-0.51"), ("-51/100",)),
        (("eval", "radial-cosine", "lam=1", "beta=-1", "n=3", "gamma=0"), ("-1", "real >= 0")),
        (("eval", "radial-cosine", "lam=1", "beta=0", "n=3", "gamma=-1/2"), ("not defined",)),
        (("eval", "critical-cosine", "H=2", "--digits", "0"), ("--digits", "'0'", "10000")),
        (("eval", "critical-cosine", "H=2", "--digits", "-5"), ("--digits", "-5")),
        (("eval", "critical-cosine", "H=2", "--digits", "10001"), ("--digits", "10001")),
        (("eval", "critical-cosine", "H=2", "--digits", "many"), ("--digits", "many")),
        (("eval", "critical-cosine", "H=2", "--digits", "1_0"), ("--digits", "1_0")),
        (("eval", "critical-cosine", "H=2", "--digits"), ("--digits",)),
        (("eval", "critical-cosine", "H=2", "--precision", "3"), ("--precision",)),
        (("verify", "critical-bta"), ("critical-bta", "critical-beta")),
        (("verify", "projection", "--jobs", "0"), ("--jobs", "'0'")),
        (("verify", "projection", "--fail-on", "holds"), ("--fail-on", "holds", "refuted")),
        (("list", "theorems"), ("theorems", "claims")),
        (("show", "critical-bta"), ("critical-bta", "critical-beta", "sharp-critical-beta")),
        (("cite", "nothing"), ("nothing",)),
        (("derive",), ("--all",)),
        (("derive", "critical-cosine", "--all"), ("--all",)),
        (("derive", "critical-cosine", "--format", "html"), ("html", "latex")),
        (("tables", "--format", "html"), ("html", "latex")),
        (("tables", "--grid", "n=1..4"), ("n", "1")),
        (("tables", "--grid", "n"), ("NAME=VALUE",)),
        (("tables", "--grid", "n=2", "--grid", "n=3"), ("twice",)),
        (("tables", "--format", "csv", "--macros"), ("--macros", "csv")),
        (("tables", "--from", "absent.json"), ("absent.json",)),
        (("tables", "--from", ""), ("--from", "''")),
        (("verify", "--json", ""), ("--json", "''")),
        (("eval", "late-rate", "lam=1,,2"), ("lam",)),
        (("eval", "late-rate", "lam=1", "model=Softmax"), ("Softmax", "softmax")),
        (("eval", "late-rate", "lam=1", "model=unnormalised"), ("beta",)),
        (("eval", "rate-peak", "n=2", "beta=0"), ("beta", "real > 0")),
        (("eval", "foreign-strength", "n=2", "H=1", "beta=1", "lam=1"), ("H", "integer >= 2")),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    arguments: tuple[str, ...], fragments: tuple[str, ...]
) -> None:
    line = refused(*arguments)
    for fragment in fragments:
        assert fragment in line


def test_a_path_below_a_file_is_refused_before_the_work_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    target = str(file / "run.json")
    assert "run.json" in refused("verify", "projection", "--json", target)
    assert "file" in refused("tables", "--format", "csv", "--out", str(file / "tables"))
    assert file.read_text() == "mine"
    assert os.listdir(tmp_path) == ["file"]
    # Told before the claims are judged, not after.
    for arguments in (("verify", "--json", target), ("tables", "--out", target)):
        start = time.monotonic()
        refused(*arguments)
        assert time.monotonic() - start < 5


def test_verify_writes_one_manifest_that_the_tables_take(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = run("verify", "critical-cosine", "projection", "--digits", "20", "--json", str(path))
    assert result.returncode == 0
    assert "holds" in result.stdout
    assert [c["id"] for c in json.loads(path.read_text())["claims"]] == [
        "critical-cosine",
        "projection",
    ]
    out = tmp_path / "tables"
    done = run("tables", "--from", str(path), "--format", "csv", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert list(out.glob("*.csv"))
    for table in out.glob("*.csv"):
        rows = list(csv.reader(table.read_text().splitlines()))
        assert len({len(row) for row in rows}) == 1


def test_json_on_stdout_is_json_alone() -> None:
    result = run("verify", "projection", "--json", "-")
    assert json.loads(result.stdout)["claims"][0]["verdict"] == "holds"


def test_fail_on_refuted_changes_the_exit_code_alone() -> None:
    plain = run("verify", "critical-cosine-lambert", "--digits", "20")
    failing = run("verify", "critical-cosine-lambert", "--digits", "20", "--fail-on", "refuted")
    assert (plain.returncode, failing.returncode) == (0, 1)
    assert plain.stdout == failing.stdout


def test_show_is_the_page_a_referee_reads() -> None:
    page = run("show", "critical-beta-necessity").stdout
    for part in (
        "as summarised; the paper itself was not read",
        "reading that is judged",
        "hypotheses",
        "verdict: refuted",
        "counterexample",
        "4/9",
        "domain",
        "does not show",
        "caught",
    ):
        assert part in page
    assert max(len(line) for line in page.splitlines()) <= 100


def test_show_of_a_formula_states_domain_and_example() -> None:
    page = run("show", "critical-beta", "--digits", "20").stdout
    assert "integer >= 2" in page
    assert "mhflow eval critical-beta" in page


@pytest.mark.parametrize("layout", ["text", "latex", "markdown"])
def test_derivations_print_every_step_closed(layout: str) -> None:
    result = run("derive", "--all", "--format", layout)
    assert result.returncode == 0
    assert "NOT CLOSED" not in result.stdout
    assert "FAILS" not in result.stdout
    if layout == "text":
        assert max(len(line) for line in result.stdout.splitlines()) <= 100


@pytest.mark.parametrize(
    "arguments", [("list",), ("cite",), ("cite", "critical-beta"), ("--version",), ("--help",)]
)
def test_quick_commands_answer(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 0
    assert result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("name", ["verify", "list", "show", "cite", "derive", "eval", "tables"])
def test_every_help_has_an_example(name: str) -> None:
    assert f"mhflow {name}" in run(name, "--help").stdout.replace("│", " ")


def test_no_colour_codes_reach_a_file() -> None:
    assert "\x1b" not in run("verify", "projection").stdout
    assert "\x1b" not in run("list").stdout


def test_an_interrupt_ends_with_130_and_leaves_no_file(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        process = subprocess.Popen(
            [COMMAND, "verify", "--digits", "2000", "--jobs", jobs, "--json", "run.json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            text=True,
            preexec_fn=let_interrupts_in,
        )
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert out == ""
        assert "Traceback" not in err
        assert os.listdir(tmp_path) == []


def test_a_reader_that_leaves_is_no_traceback() -> None:
    process = subprocess.Popen(
        [COMMAND, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=20)
    process.stderr.close()


def test_an_output_that_is_closed_or_full_is_no_traceback() -> None:
    closed = subprocess.run(
        f"'{COMMAND}' list >&-", shell=True, capture_output=True, text=True, check=False
    )
    assert (closed.returncode, closed.stderr) == (0, "")
    full = subprocess.run(
        f"'{COMMAND}' list > /dev/full", shell=True, capture_output=True, text=True, check=False
    )
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1
    assert "cannot write the output" in full.stderr


def test_the_fewest_digits_are_enough_for_the_verdicts() -> None:
    result = run("verify", "critical-beta", "early-rate", "--digits", "1")
    assert result.returncode == 0
    assert "error" not in result.stdout


def test_progress_is_shown_on_a_terminal_and_output_fits_it() -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "verify", "projection"], stdout=follower, stderr=follower, close_fds=True
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
    assert b"holds" in seen
    assert b"\x1b[" in seen
