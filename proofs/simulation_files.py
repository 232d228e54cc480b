"""What a simulation looks like in files: CSV with its origin in comments, tokens as arrays."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from numeric.simulation import Simulation

_PACKAGES = ("mhflow", "mpmath", "python-flint", "numpy", "scipy")


def simulation_csv(simulation: Simulation, rerun: str | None = None) -> str:
    """Return a simulation as CSV, the same text for the same simulation.

    Args:
        simulation: decimal texts stay as they are, float64 numbers get their shortest text that
            reads back the same.
        rerun: the command that runs it again; None where there is none, as in Python. The
            parameters are written in any case.

    Returns:
        Comment lines that start with ``#`` and say how to run it again and how far to trust it;
        then the names of the columns; then one line for each time.
    """
    kind = "proved bound" if simulation.certified else "estimate"
    notes = [
        f"mhflow simulate {simulation.regime}",
        *([] if rerun is None else [f"rerun: {rerun}"]),
        *parameter_notes(simulation.parameters),
        f"digits: {'float64' if simulation.digits is None else simulation.digits}",
        f"relative error of the state: {simulation.error} ({kind})",
        *(f"remark: {remark}" for remark in simulation.remarks),
    ]
    return csv_text(notes, simulation.columns)


def parameter_notes(parameters: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return one comment for each parameter, a list as it is written on the command line."""
    return [
        f"{name}: {value if isinstance(value, str) else ','.join(value)}"
        for name, value in parameters.items()
    ]


def csv_text(notes: Sequence[str], columns: Mapping[str, Iterable[Any]]) -> str:
    """Return columns of equal length as CSV after comment lines, the last of them the versions."""
    output = io.StringIO()
    for note in (*notes, f"versions: {_versions()}"):
        output.write(f"# {_one_line(note)}\n")
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_entry(value) for value in row])
    return output.getvalue()


def states_npz(simulation: Simulation, rerun: str) -> bytes:
    """Return the tokens over time as an ``.npz`` file, the same bytes for the same simulation.

    Keys: ``t`` (times), ``x`` (times, n, d), both float64, and ``rerun``, the command.
    The simulation must have states.
    """
    assert simulation.states is not None
    output = io.BytesIO()
    times = np.array([float(t) for t in simulation.columns["t"]])
    np.savez(output, t=times, x=simulation.states, rerun=np.array(rerun))
    return output.getvalue()


def _versions() -> str:
    installed = [f"{package} {version(package)}" for package in _PACKAGES]
    return ", ".join([installed[0], f"Python {platform.python_version()}", *installed[1:]])


def _entry(value: Any) -> str:
    """Return a decimal text as it is, a float64 number as its shortest exact text."""
    return value if isinstance(value, str) else repr(value.item())


def _one_line(text: str) -> str:
    """Return a text with line ends and control characters escaped, for one comment line."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
