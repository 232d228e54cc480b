"""Plots of simulations: what each regime's trajectory looks like, head by head."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from numeric.simulation import Array, Simulation
from proofs.plot_data import (
    Dominance,
    dominance,
    head_columns,
    head_count,
    late_asymptote,
    least_overlaps,
    log10,
    log_tokens,
    numbers,
)
from proofs.plot_style import (
    MANY,
    WIDTH,
    figure_bytes,
    four_digits,
    head_styles,
    panels,
    plot_style,
    short_number,
)
from symbolic.errors import InputError

_REFERENCE: dict[str, Any] = {"color": "black", "linewidth": 1.1}
_EXIT = {**_REFERENCE, "linestyle": (0, (1, 1.5))}
_ASYMPTOTE = {**_REFERENCE, "linestyle": (0, (4, 2))}
_MOST = {**_REFERENCE, "linestyle": (0, (7, 2, 1, 2))}
_DOMINANCE: dict[str, Any] = {"color": "#E9E9E9", "linewidth": 0}

# Exponents of float64 with room to spare; beyond them an axis shows the logarithm itself.
_SMALLEST_EXPONENT = -290
# With so many points, the lines between them look like the curve.
_FEW = 60
_TIME = "time $t$"
_LEGEND_COLUMNS = 3
_REGIMES = {
    "equiangular": "equiangular tokens",
    "tokens": "tokens",
    "orthogonal-heads": "orthogonal heads",
}

Entry = tuple[Any, str]
"""A handle of the legend and its label."""
Panel = Callable[[Axes, Simulation], list[Entry]]


def simulation_plot(simulation: Simulation, kind: str) -> bytes:
    """Return the plot of a simulation as the bytes of a ``png``, ``svg`` or ``pdf`` file.

    Same simulation, same bytes. Values that float64 cannot hold are left out.

    Raises:
        InputError: for another kind of file, and for times that float64 cannot hold.
    """
    last = str(simulation.columns["t"][-1])
    if Decimal(last) != 0:
        size = log10([last])[0]
        if not abs(size) < -_SMALLEST_EXPONENT:
            raise InputError(
                f"plot: the last time is about 10^{size:.0f}; accepted: times from "
                f"10^{_SMALLEST_EXPONENT} to 10^{-_SMALLEST_EXPONENT}"
            )
    with plot_style():
        return figure_bytes(simulation_figure(simulation), kind)


def simulation_figure(simulation: Simulation) -> Figure:
    """Return the figure of a simulation: one panel for each quantity that has values."""
    drawn = [panel for panel, values in _PANELS if values(simulation)]
    figure = Figure(layout="constrained")
    figure.suptitle(_title(simulation))
    legend = dict[str, Any]()
    for axes, panel in zip(panels(figure, len(drawn)), drawn, strict=True):
        axes.set_xlabel(_TIME)
        for handle, label in panel(axes, simulation):
            legend.setdefault(label, handle)
        axes.margins(x=0.02)
    entries = [*_head_entries(simulation), *((handle, label) for label, handle in legend.items())]
    figure.legend(
        [handle for handle, _ in entries],
        [label for _, label in entries],
        loc="outside lower center",
        ncols=_LEGEND_COLUMNS,
    )
    rows = math.ceil(len(drawn) / 2), math.ceil(len(entries) / _LEGEND_COLUMNS)
    figure.set_size_inches(WIDTH, 2.35 * rows[0] + 0.2 * rows[1] + 0.2)
    return figure


def _title(simulation: Simulation) -> str:
    parameters = simulation.parameters
    symbols = (("n", "n"), ("d", "d"), ("beta", r"\beta"))
    parts = [
        f"${symbol} = {short_number(str(parameters[name]))}$"
        for name, symbol in symbols
        if name in parameters
    ]
    return ", ".join([f"{_REGIMES[simulation.regime]}, {parameters['model']} model", *parts])


def _head_entries(simulation: Simulation) -> list[Entry]:
    """Return the heads' part of the legend; of many heads, some between the first and the last."""
    count = max(head_count(simulation, name) for name in _HEAD_COLUMNS)
    styles = head_styles(count)
    strengths = simulation.parameters.get("lam", ())
    if isinstance(strengths, str) or len(strengths) != count:
        strengths = ()
    shown = sorted({round(k) for k in np.linspace(0, count - 1, min(count, MANY))})
    entries: list[Entry] = []
    for head in shown:
        strength = rf", $\lambda = {short_number(strengths[head])}$" if strengths else ""
        entries.append((Line2D([], [], **styles[head]), f"head {head + 1}{strength}"))
    if len(shown) < count:
        entries.append((Line2D([], [], linestyle=""), f"{len(shown)} of {count} heads listed"))
    return entries


def _overlap(axes: Axes, simulation: Simulation) -> list[Entry]:
    times, overlaps = (numbers(simulation.columns[name]) for name in ("t", "gamma"))
    axes.plot(times, overlaps, color="black", **_markers(times))
    axes.set_ylabel(r"overlap $\gamma$")
    return []


def _gap(axes: Axes, simulation: Simulation) -> list[Entry]:
    times = numbers(simulation.columns["t"])
    gaps = log10(simulation.columns["one_minus_gamma"])
    _plot_powers(axes, times, gaps, color="black", **_markers(times))
    axes.set_ylabel(r"$1 - \gamma$")
    line = late_asymptote(simulation)
    if line is None:
        return []
    exponents = line.log10_gap(times)
    # Above the curve it is cut off, where it may go beyond any size.
    shown = np.where(exponents < 2, exponents, np.nan)
    if np.isfinite(shown).sum() < 2:
        return []
    low, high = axes.get_ylim()
    (handle,) = _plot_powers(axes, times, shown, **_ASYMPTOTE)
    axes.set_ylim(low, high)
    what = "$C$ fitted at the last point"
    if not line.fitted:
        what = f"$C = {four_digits(Fraction(10**line.log10_constant))}$"
    return [(handle, rf"$C\, e^{{-{four_digits(Fraction(line.rate))}\, t}}$, {what}")]


def _plot_powers(axes: Axes, times: Array, exponents: Array, **style: Any) -> list[Line2D]:
    """Plot powers of ten over time, on an axis that float64 does not limit."""
    small = exponents[np.isfinite(exponents)].min(initial=0) < _SMALLEST_EXPONENT
    if small or (axes.lines and axes.get_yscale() == "linear"):
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda exponent, _: f"$10^{{{exponent:g}}}$"))
        return axes.plot(times, exponents, **style)
    axes.set_yscale("log")
    return axes.plot(times, 10**exponents, **style)


def _energies(axes: Axes, simulation: Simulation) -> list[Entry]:
    columns = head_columns(simulation, "energy")
    _plot_heads(axes, simulation, columns)
    axes.set_ylabel("energy $E_h$")
    positive = np.concatenate(columns)
    positive = positive[np.isfinite(positive)]
    if positive.min() > 0 and positive.max() > 30 * positive.min():
        axes.set_yscale("log")
    return _mark_dominance(axes, simulation)


def _mark_dominance(axes: Axes, simulation: Simulation) -> list[Entry]:
    """Shade where Condition 8 holds for all heads, and mark where it is first lost."""
    found = dominance(simulation)
    for start, end in found.windows:
        axes.axvspan(start, end, zorder=0, **_DOMINANCE)
    entries: list[Entry] = []
    if found.windows:
        entries.append((Patch(**_DOMINANCE), "Condition 8 holds for all heads"))
    if found.exit is not None:
        line = axes.axvline(found.exit, **_EXIT)
        entries.append((line, f"Condition 8 is lost {_when(found)}"))
    if not found.windows:
        entries.append((Line2D([], [], linestyle=""), "Condition 8 never holds for all heads"))
    return entries


def _when(found: Dominance) -> str:
    """Return when Condition 8 is lost, as closely as it is known."""
    assert found.bracket is not None
    early, late = found.bracket
    if early == late:
        return f"at $t = {early:.4g}$"
    return f"in $({early:.3g}, {late:.3g})$"


def _margins(axes: Axes, simulation: Simulation) -> list[Entry]:
    columns = head_columns(simulation, "condition8")
    sizes = np.abs(np.concatenate(columns))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if sizes.size and sizes.max() > 100 * np.median(sizes):
        smallest = max(float(np.median(sizes)), 1e-4 * float(sizes.max()))
        axes.set_yscale("symlog", linthresh=10 ** round(math.log10(smallest)))
        axes.margins(y=0.12)
    _plot_heads(axes, simulation, columns)
    axes.axhline(0, **_REFERENCE)
    axes.set_ylabel("margin of Condition 8")
    return _mark_dominance(axes, simulation)


def _entropies(axes: Axes, simulation: Simulation) -> list[Entry]:
    _plot_heads(axes, simulation, head_columns(simulation, "entropy"))
    axes.set_ylabel("attention entropy $S_h$")
    line = axes.axhline(log_tokens(simulation), **_MOST)
    return [(line, r"$\ln n$")]


def _least_overlap(axes: Axes, simulation: Simulation) -> list[Entry]:
    times = numbers(simulation.columns["t"])
    axes.plot(times, least_overlaps(simulation), color="black", **_markers(times))
    axes.set_ylabel(r"least overlap $\langle x_i, x_j \rangle$")
    return []


def _shares(axes: Axes, simulation: Simulation) -> list[Entry]:
    _plot_heads(axes, simulation, head_columns(simulation, "share"))
    axes.set_ylabel("share $s_h$")
    return []


def _block_overlaps(axes: Axes, simulation: Simulation) -> list[Entry]:
    _plot_heads(axes, simulation, head_columns(simulation, "overlap"))
    axes.set_ylabel(r"overlap within block $\rho_h$")
    return []


def _plot_heads(axes: Axes, simulation: Simulation, columns: Sequence[Array]) -> None:
    times = numbers(simulation.columns["t"])
    for column, style in zip(columns, head_styles(len(columns)), strict=True):
        axes.plot(times, column, **style, **_markers(times))


def _markers(times: Array) -> dict[str, Any]:
    """Return how to mark few points, so that the lines between them are not taken for curves."""
    return {"marker": "o", "markersize": 2.5} if len(times) < _FEW else {}


def _has(*names: str) -> Callable[[Simulation], bool]:
    return lambda simulation: all(name in simulation.columns for name in names)


def _has_heads(name: str) -> Callable[[Simulation], bool]:
    return lambda simulation: bool(head_columns(simulation, name))


def _is_told_by_energies(simulation: Simulation) -> bool:
    """Tell whether the panel of energies, where Condition 8 is marked, is all that is needed."""
    return simulation.regime == "equiangular" and _has_heads("energy")(simulation)


_HEAD_COLUMNS = ("energy", "entropy", "condition8", "share")
_PANELS: tuple[tuple[Panel, Callable[[Simulation], bool]], ...] = (
    (_overlap, _has("gamma")),
    (_gap, _has("one_minus_gamma")),
    (_shares, _has_heads("share")),
    (_block_overlaps, _has_heads("overlap")),
    (_energies, _has_heads("energy")),
    (_margins, lambda s: _has_heads("condition8")(s) and not _is_told_by_energies(s)),
    (_least_overlap, lambda s: s.states is not None and s.states.shape[1] > 1),
    (_entropies, lambda s: s.regime != "orthogonal-heads" and bool(head_columns(s, "entropy"))),
)
