"""The look of every plot, and figures as files: colour-blind safe, the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symbolic.errors import InputError
from symbolic.names import brief
from symbolic.numbers import read_number

WIDTH = 7.0
"""Width of a figure in inches: two columns of a paper, about a screen's half."""

# Okabe and Ito's palette, with grey for its yellow, which is pale on white; black is kept for
# reference lines. Line styles differ too, so that heads can be told apart in grey.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#5D3A9B")
_LINES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1.2, 1.5)),
    (0, (9, 2)),
    (0, (2.5, 1.2)),
    (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (9, 1.5, 1.2, 1.5)),
)
MANY = len(_COLOURS)
"""Most heads that have a colour each; more take a colour scale in their order."""

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "figure.titlesize": 10,
    "lines.linewidth": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "savefig.dpi": 200,
    # Text stays text: it can be searched, and fonts are embedded as journals want them.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "mhflow",
}

# The moment of making would differ from run to run.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMATS = tuple(_METADATA)


@contextmanager
def plot_style() -> Iterator[None]:
    """Use the look of mhflow's plots, whatever the user's own; matplotlib is as before after."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a ``png``, ``svg`` or ``pdf`` file; call in `plot_style`.

    Raises:
        InputError: for another kind.
    """
    if kind not in _METADATA:
        raise InputError(f"kind: {brief(kind)} is not accepted; give {', '.join(_METADATA)}")
    output = io.BytesIO()
    figure.savefig(output, format=kind, metadata=_METADATA[kind])
    return output.getvalue()


def head_styles(count: int) -> list[dict[str, Any]]:
    """Return how to draw the lines of each head."""
    if count > MANY:
        scale = matplotlib.colormaps["viridis"]
        return [{"color": scale(0.9 * head / (count - 1))} for head in range(count)]
    return [{"color": _COLOURS[head], "linestyle": _LINES[head]} for head in range(count)]


def panels(figure: Figure, count: int) -> list[Axes]:
    """Return axes in two columns; the last of an odd number goes across."""
    rows = (count + 1) // 2
    grid = figure.add_gridspec(rows, 2)
    places = [grid[k // 2, k % 2] for k in range(count)]
    if count % 2:
        places[-1] = grid[rows - 1, :]
    return [figure.add_subplot(place) for place in places]


def short_number(exact: str) -> str:
    """Return an exact number as text for a label: as it is if short, else to four digits."""
    return exact if len(exact) <= 8 else four_digits(read_number(exact))


def short_overlap(exact: str) -> str:
    """Return an overlap as text for a label; one close to 1 by its distance from 1."""
    gap = 1 - read_number(exact)
    if len(exact) <= 8 or gap > Fraction(1, 100):
        return short_number(exact)
    return f"1 - {four_digits(gap)}"


def four_digits(number: Fraction) -> str:
    """Return a number to four digits as text for a label, with a power of ten where it has one."""
    four = Context(prec=4, Emin=MIN_EMIN, Emax=MAX_EMAX)
    value = four.divide(Decimal(number.numerator), Decimal(number.denominator))
    exponent = value.adjusted()
    if -4 <= exponent < 5:
        return f"{float(value):g}"
    mantissa = f"{float(value.scaleb(-exponent, four)):g}"
    power = f"10^{{{exponent}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"
