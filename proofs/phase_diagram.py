"""The phase diagram of clustering times over the inverse temperature and the number of tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LogNorm
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from numeric.simulation import Array
from proofs.plot_style import WIDTH, figure_bytes, plot_style, short_number, short_overlap
from proofs.simulation_files import csv_text
from symbolic.errors import InputError
from symbolic.numbers import exact_text, read_grid, read_number, shown
from symbolic.parameter import (
    INVERSE_TEMPERATURE,
    MODEL,
    START,
    STOP,
    STRENGTHS,
    TOKENS,
    Parameter,
    shortened,
)

_MOST_POINTS = 1_000_000
_MOST_TOKENS = 2**53
_NEVER = "#B3B3B3"


@dataclass(frozen=True)
class PhaseDiagram:
    """Clustering times over a grid, float64.

    Attributes:
        model: the model.
        lam: exact texts of the strengths, one for each head.
        start: exact text of the overlap at the start.
        stop: exact text of the overlap at the end.
        beta: inverse temperatures, ascending, shape (b,).
        n: numbers of tokens, ascending, shape (k,).
        times: clustering times, shape (k, b), infinite where the flow does not arrive.
    """

    model: str
    lam: tuple[str, ...]
    start: str
    stop: str
    beta: tuple[Fraction, ...]
    n: tuple[Fraction, ...]
    times: Array


def clustering_times(
    *,
    model: str,
    lam: object,
    beta: tuple[Fraction, ...],
    n: tuple[Fraction, ...],
    start: object,
    stop: object,
) -> PhaseDiagram:
    """Return the clustering times from start to stop over a grid, in float64.

    Args:
        model: ``softmax``, ``unnormalised`` or ``relu``, whose times do not depend on beta.
        lam: strengths, exact, one for each head.
        beta: inverse temperatures, ascending.
        n: numbers of tokens, ascending.
        start: overlap at the start, exact, in (-1/(n-1), 1) for all n.
        stop: overlap at the end, exact.

    Raises:
        InputError: for values that are not exact, outside their domain, or beyond float64.
    """
    from numeric.clustering_map import clustering_times_float64

    if len(beta) * len(n) > _MOST_POINTS:
        raise InputError(
            f"n: {len(n)} numbers of tokens with {len(beta)} inverse temperatures are too many; "
            f"accepted: at most {_MOST_POINTS:,} points"
        )
    strengths: tuple[Fraction, ...] = STRENGTHS.read(lam)
    ends: list[Fraction] = [START.read(start), STOP.read(stop)]
    if ends[1] < 1 <= float(ends[1]):
        raise InputError(
            f"stop: {shortened(ends[1])} is 1 in float64; accepted: overlaps up to 1-1e-16"
        )
    temperatures, tokens = _floats(beta, "beta"), _floats(n, "n")
    times = clustering_times_float64(
        model=MODEL.read(model),
        lam=_floats(strengths, "lam").tolist(),
        beta=temperatures,
        n=tokens[:, np.newaxis],
        start=float(ends[0]),
        stop=float(ends[1]),
    )
    return PhaseDiagram(
        model,
        tuple(map(exact_text, strengths)),
        exact_text(ends[0]),
        exact_text(ends[1]),
        beta,
        n,
        times,
    )


def _floats(values: Iterable[Fraction], name: str) -> Array:
    try:
        return np.array([float(value) for value in values])
    except OverflowError:
        raise InputError(f"{name}: beyond float64; accepted: numbers below 1e308") from None


def sampled_temperatures(text: str, points: int) -> tuple[Fraction, ...]:
    """Read inverse temperatures: a list, or an interval ``0..10`` sampled evenly.

    Raises:
        InputError: unless they are distinct reals >= 0.
    """
    ends = _interval(text, INVERSE_TEMPERATURE)
    if ends is None:
        return _values(text, INVERSE_TEMPERATURE)
    low, high = ends
    return tuple(low + (high - low) * k / (points - 1) for k in range(points))


def sampled_tokens(text: str, points: int) -> tuple[Fraction, ...]:
    """Read numbers of tokens: a list, or an interval ``2..1000`` sampled evenly on a log scale.

    An interval gives at most ``points`` integers, both ends among them.

    Raises:
        InputError: unless they are distinct integers >= 2, those of an interval up to 2^53.
    """
    ends = _interval(text, TOKENS)
    if ends is None:
        return _values(text, TOKENS)
    low, high = (int(end) for end in ends)
    if high > _MOST_TOKENS:
        raise InputError(f"n: {shown(text)} is beyond float64; accepted: integers from 2 to 2^53")
    inner = np.geomspace(low, high, points)[1:-1]
    return tuple(Fraction(n) for n in sorted({low, high, *(round(n) for n in inner)}))


def _interval(text: str, parameter: Parameter) -> tuple[Fraction, Fraction] | None:
    """Return the ends of an interval ``A..B``, None for a text that is a list."""
    if ".." not in text:
        return None
    low, _, high = text.partition("..")
    ends: list[Fraction] = [parameter.read(read_number(end, parameter.name)) for end in (low, high)]
    if ends[0] >= ends[1]:
        raise InputError(
            f"{parameter.name}: {shown(text)} is not an interval; accepted: A..B with A < B"
        )
    return ends[0], ends[1]


def _values(text: str, parameter: Parameter) -> tuple[Fraction, ...]:
    """Return a list of values, ascending."""
    values = {parameter.read(value) for value in read_grid(text, parameter.name)}
    return tuple(sorted(values))


def phase_diagram_csv(diagram: PhaseDiagram, rerun: str) -> str:
    """Return a phase diagram as CSV: comment lines, then one line for each point of the grid."""
    notes = [
        "mhflow simulate phase-diagram",
        f"rerun: {rerun}",
        f"model: {diagram.model}",
        f"lam: {','.join(diagram.lam)}",
        f"start: {diagram.start}",
        f"stop: {diagram.stop}",
        "digits: float64",
        "clustering_time: inf where the flow does not arrive",
    ]
    beta = np.array([float(value) for value in diagram.beta])
    columns: dict[str, Iterable[Any]] = {
        "beta": np.tile(beta, len(diagram.n)),
        "n": [str(n) for n in diagram.n for _ in diagram.beta],
        "clustering_time": diagram.times.ravel(),
    }
    return csv_text(notes, columns)


def phase_diagram_plot(diagram: PhaseDiagram, kind: str) -> bytes:
    """Return the picture of a phase diagram as the bytes of a ``png``, ``svg`` or ``pdf`` file."""
    with plot_style():
        return figure_bytes(phase_diagram_figure(diagram), kind)


def phase_diagram_figure(diagram: PhaseDiagram) -> Figure:
    """Return the figure: clustering time in colour on a log scale, with contour lines."""
    figure = Figure(figsize=(0.75 * WIDTH, 0.58 * WIDTH), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(visible=False)
    axes.set_facecolor(_NEVER)
    beta = np.array([float(value) for value in diagram.beta])
    n = np.array([float(value) for value in diagram.n])
    times = np.ma.masked_invalid(diagram.times)
    axes.set_yscale("log")
    if len(beta) > 1:
        axes.set_xlim(beta[0], beta[-1])
    if len(n) > 1:
        axes.set_ylim(n[0], n[-1])
    if times.count():
        norm = LogNorm(times.min(), times.max())
        cells = (_edges(beta), np.exp(_edges(np.log(n))))
        image = axes.pcolormesh(*cells, times, norm=norm, cmap="cividis", rasterized=True)
        stop = short_overlap(diagram.stop)
        bar = figure.colorbar(image, ax=axes, label=rf"clustering time $T$ to $\gamma = {stop}$")
        if min(times.shape) > 1 and times.min() < times.max():
            _add_contours(axes, bar, beta, n, times)
    if n[-1] < 100 * n[0]:
        _plain_numbers(axes)
    axes.set_xlabel(r"inverse temperature $\beta$")
    axes.set_ylabel("number of tokens $n$")
    axes.set_title(_title(diagram))
    if not np.isfinite(diagram.times).all():
        figure.legend([Patch(color=_NEVER)], ["does not arrive"], loc="outside lower center")
    return figure


def _add_contours(axes: Axes, bar: Colorbar, beta: Array, n: Array, times: Array) -> None:
    """Draw contour lines at round times, here and on the colour bar."""
    levels, plain = _levels(float(times.min()), float(times.max()))
    lines = axes.contour(beta, n, times, levels=levels, colors="white", linewidths=0.9)
    bar.add_lines(lines)
    # A dark rim, so that the labels can be read on the bright end of the scale, too.
    rim: list[AbstractPathEffect] = [withStroke(linewidth=2, foreground="#333333")]
    places = _label_places(axes, lines)
    if places:
        for label in axes.clabel(lines, fmt="%g", fontsize=7, manual=places):
            label.set_path_effects(rim)
    if plain:
        _plain_numbers(bar.ax)


def _label_places(axes: Axes, lines: ContourSet) -> list[tuple[float, float]]:
    """Return the middle of the longest piece of each contour line that has room for a label."""
    to_axes = axes.transData + axes.transAxes.inverted()
    places = []
    for pieces in lines.allsegs:
        lengths = [float(np.linalg.norm(np.ptp(to_axes.transform(v), axis=0))) for v in pieces]
        if lengths and max(lengths) > 0.15:
            longest = pieces[lengths.index(max(lengths))]
            x, y = longest[(len(longest) - 1) // 2 : len(longest) // 2 + 1].mean(axis=0)
            places.append((float(x), float(y)))
    return places


def _plain_numbers(axes: Axes) -> None:
    """Write the numbers of a logarithmic axis over few decades without powers of ten."""
    low, high = axes.get_ylim()
    digits = "123456789" if high < 10 * low else "125"
    plain = FuncFormatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in digits else "")
    axes.yaxis.set_major_formatter(plain)
    axes.yaxis.set_minor_formatter(plain)


def _title(diagram: PhaseDiagram) -> str:
    heads = len(diagram.lam)
    strengths = (
        rf"$\lambda = {{{'}, {'.join(map(short_number, diagram.lam))}}}$"
        if heads <= 4
        else f"{heads} heads"
    )
    return rf"{diagram.model}, {strengths}, from $\gamma = {short_overlap(diagram.start)}$"


def _edges(centres: Array) -> Array:
    """Return the edges of the cells around ascending centres."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middles = (centres[1:] + centres[:-1]) / 2
    ends = (2 * centres[0] - middles[0], 2 * centres[-1] - middles[-1])
    return np.concatenate([[ends[0]], middles, [ends[1]]])


def _levels(low: float, high: float) -> tuple[Array, bool]:
    """Return about eight round times between two, and whether plain numbers suit their scale."""
    decades = math.log10(high / low)
    subs = (1.0,) if decades > 6 else (1.0, 3.0) if decades > 2 else (1.0, 2.0, 5.0)
    locator = MaxNLocator(8) if decades < 1 else LogLocator(subs=subs, numticks=50)
    levels = np.asarray(locator.tick_values(low, high))
    return levels[(levels > low) & (levels < high)], decades < 2
