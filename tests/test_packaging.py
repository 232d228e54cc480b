"""The built wheel, installed as a user installs it, and the files that install it."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("symbolic", "numeric", "proofs", "mhflow")

# Both tests of the wheel on one worker, so that it is built once.
wheel_tests = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command away from the checkout's influence and return its standard output."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from a copy: a stale build/ in the checkout would leak into it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
    )
    shutil.copytree(ROOT, source, ignore=ignored)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, source, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


class TestWheel:
    pytestmark = wheel_tests

    def test_contents(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        info = f"mhflow-{wheel.name.split('-')[1]}.dist-info"
        assert {name.partition("/")[0] for name in names} == {*PACKAGES, info}
        assert f"{info}/licenses/LICENSE" in names
        expected = {f"{package}/py.typed" for package in PACKAGES}
        for pattern in (*(f"{package}/**/*.py" for package in PACKAGES), "proofs/templates/*.j2"):
            files = [file.relative_to(ROOT).as_posix() for file in ROOT.glob(pattern)]
            assert files, pattern
            expected |= set(files)
        assert {name for name in names if not name.startswith(info)} == expected

    def test_installed_command(self, wheel: Path, tmp_path: Path) -> None:
        venv = tmp_path / "venv"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        run(sys.executable, "-m", "venv", venv, cwd=elsewhere)
        python = venv / "bin" / "python"
        constraints = ROOT / "constraints.txt"
        run(
            *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--constraint", constraints, wheel),
            cwd=elsewhere,
        )
        command = venv / "bin" / "mhflow"
        assert "verify" in run(command, "--help", cwd=elsewhere)
        value = run(command, "eval", "critical-cosine", "H=2", "--digits", "30", cwd=elsewhere)
        assert "0.618033988749894848204586834366" in value
        where = run(python, "-c", "import mhflow; print(mhflow.__file__)", cwd=elsewhere)
        assert Path(where.strip()).is_relative_to(venv)


def test_constraints_pin_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line), line


SOURCE_OF_PACKAGES = re.compile(
    r"://|\b[\w-]+\.(?:com|io|net|org)\b|--(?:extra-)?index-url|--find-links|--trusted-host"
)


def test_no_source_of_packages_is_named() -> None:
    files = [ROOT / name for name in ("constraints.txt", "Makefile", "pyproject.toml")]
    files += [file for file in (ROOT / ".ci").rglob("*") if file.is_file()]
    assert ROOT / ".ci" / "run" in files
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in files
        for match in SOURCE_OF_PACKAGES.finditer(file.read_text(encoding="utf-8"))
    ]
    assert not found


@pytest.mark.parametrize(
    "line",
    ["pip install -i https://host/simple", "name @ file://x", "--find-links x", "deb.example.org"],
)
def test_a_source_of_packages_is_found(line: str) -> None:
    assert SOURCE_OF_PACKAGES.search(line)
