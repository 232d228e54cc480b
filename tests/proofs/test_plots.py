"""Plots: valid files of each format, the same bytes each time, and right data behind the lines."""

import io
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import matplotlib
import matplotlib.image
import mpmath
import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from numeric.simulate_equiangular import simulate_equiangular
from numeric.simulation import Column, Simulation
from proofs.phase_diagram import (
    PhaseDiagram,
    phase_diagram_csv,
    phase_diagram_figure,
    phase_diagram_plot,
    sampled_temperatures,
    sampled_tokens,
)
from proofs.plot_data import dominance, head_columns, late_asymptote, log10
from proofs.plot_style import head_styles, plot_style, short_number, short_overlap
from proofs.plots import simulation_figure, simulation_plot
from symbolic.errors import InputError

TIMES = np.linspace(0, 6, 25)
QUANTITIES = ("energy", "entropy", "condition8")


def two_tokens(strengths: tuple[str, ...] = ("1", "1/2"), **changed: Any) -> Simulation:
    """Return two tokens under softmax at beta = 0, where ``gamma = tanh(Lambda t)``.

    The columns of the heads are only shapes.
    """
    total = sum(float(mpmath.mpmathify(text)) for text in strengths)
    columns: dict[str, Column] = {
        "t": TIMES,
        "gamma": np.tanh(total * TIMES),
        "one_minus_gamma": 2 / (np.exp(np.minimum(2 * total * TIMES, 700)) + 1),
    }
    for name in QUANTITIES:
        for k in range(1, len(strengths) + 1):
            columns[f"{name}_h{k}"] = np.cos(TIMES / k) + 0.4
    parameters = {"model": "softmax", "lam": strengths, "beta": "0", "n": "2", "start": "0"}
    values: dict[str, Any] = {
        "regime": "equiangular",
        "parameters": parameters,
        "digits": None,
        "columns": columns,
        "error": "1e-15",
        "certified": False,
    }
    return Simulation(**{**values, **changed})


def of_tokens() -> Simulation:
    columns: dict[str, Column] = {"t": TIMES}
    for name in QUANTITIES:
        columns |= {f"{name}_h1": np.exp(-TIMES), f"{name}_h2": 1e3 * np.cos(TIMES)}
    parameters = {"model": "unnormalised", "beta": "2", "n": "8", "d": "3"}
    return two_tokens(regime="tokens", parameters=parameters, columns=columns)


def of_orthogonal_heads() -> Simulation:
    columns: dict[str, Column] = {"t": TIMES}
    for name in ("share", "overlap", *QUANTITIES):
        columns |= {f"{name}_h1": np.exp(-TIMES), f"{name}_h2": 1 - np.exp(-TIMES)}
    parameters = {"model": "unnormalised", "lam": ["1", "13/10"], "beta": "2", "n": "8"}
    return two_tokens(regime="orthogonal-heads", parameters=parameters, columns=columns)


def diagram(times: Any = None) -> PhaseDiagram:
    beta, n = sampled_temperatures("0..10", 12), sampled_tokens("2..1000", 15)
    exact = [[float(b) + math.log(float(k)) for b in beta] for k in n]
    made = np.array(exact) if times is None else times
    return PhaseDiagram("softmax", ("1",), "0", "9/10", beta, n, made)


def texts(svg: bytes) -> str:
    """Return the texts of an SVG file without spaces; it must be well-formed."""
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    found = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]
    return "\n".join("".join(text.split()) for text in found)


DRAWN: dict[str, Callable[[str], bytes]] = {
    "equiangular": lambda kind: simulation_plot(two_tokens(), kind),
    "tokens": lambda kind: simulation_plot(of_tokens(), kind),
    "orthogonal-heads": lambda kind: simulation_plot(of_orthogonal_heads(), kind),
    "phase-diagram": lambda kind: phase_diagram_plot(diagram(), kind),
}


@cache
def drawn(regime: str, kind: str) -> bytes:
    return DRAWN[regime](kind)


@pytest.mark.parametrize("regime", ["equiangular", "phase-diagram"])
def test_png_is_an_image_with_something_on_it(regime: str) -> None:
    contents = drawn(regime, "png")
    assert contents.startswith(b"\x89PNG\r\n\x1a\n")
    image = matplotlib.image.imread(io.BytesIO(contents), format="png")
    assert image.shape[0] > 500
    assert image.shape[1] > 500
    assert (image[:, :, :3].min(axis=2) < 0.9).mean() > 0.01


# Mathematics comes style by style, so a symbol is looked for by itself.
@pytest.mark.parametrize(
    ("regime", "labels"),
    [
        ("equiangular", ["overlap\u03b3", "1\u2212\u03b3", "energyEh", "lnn", "timet"]),
        ("tokens", ["energyEh", "marginofCondition8", "attentionentropySh"]),
        ("orthogonal-heads", ["sharesh", "overlapwithinblock\u03c1h", "energyEh", "head2"]),
        ("phase-diagram", ["inversetemperatureβ", "numberoftokensn", "clusteringtime"]),
    ],
)
def test_svg_has_its_labels_as_text(regime: str, labels: list[str]) -> None:
    found = texts(drawn(regime, "svg"))
    for label in labels:
        assert label in found


@pytest.mark.parametrize("regime", ["tokens", "phase-diagram"])
def test_pdf_is_whole_and_has_no_date(regime: str) -> None:
    contents = drawn(regime, "pdf")
    assert contents.startswith(b"%PDF-")
    assert contents.rstrip().endswith(b"%%EOF")
    assert b"CreationDate" not in contents


@pytest.mark.parametrize(
    ("regime", "kind"),
    [
        ("equiangular", "png"),
        ("tokens", "pdf"),
        ("phase-diagram", "svg"),
        ("phase-diagram", "pdf"),
    ],
)
def test_the_same_plot_is_the_same_bytes(regime: str, kind: str) -> None:
    assert DRAWN[regime](kind) == drawn(regime, kind)


def test_the_settings_of_matplotlib_are_neither_used_nor_changed() -> None:
    with matplotlib.rc_context({"lines.linewidth": 9, "svg.fonttype": "path", "font.size": 30}):
        before = dict(matplotlib.rcParams)
        assert simulation_plot(two_tokens(), "svg") == drawn("equiangular", "svg")
        assert dict(matplotlib.rcParams) == before


def test_the_asymptote_meets_the_exact_solution() -> None:
    # 1 - tanh(L t) = 2 e^(-2 L t) (1 - e^(-2 L t) + ...), so C is 2.
    line = late_asymptote(two_tokens())
    assert line is not None
    assert not line.fitted
    assert line.rate == 3
    assert 10**line.log10_constant == pytest.approx(2, rel=1e-13)
    late = np.array([5.0, 50.0, 500.0])
    assert line.log10_gap(late) == pytest.approx(np.log10(2) - 3 * late * np.log10(np.e), rel=1e-12)


@pytest.mark.parametrize("start", ["1/10", "-1/10", "9/10"])
def test_from_another_start_the_line_meets_the_exact_solution(start: str) -> None:
    # gamma = tanh(L (t + s)) with tanh(L s) = start, so C is 2 e^(-2 L s) = 2 (1 - g)/(1 + g).
    line = late_asymptote(two_tokens(parameters={**two_tokens().parameters, "start": start}))
    assert line is not None
    assert not line.fitted
    gamma = float(Fraction(start))
    assert 10**line.log10_constant == pytest.approx(2 * (1 - gamma) / (1 + gamma), rel=1e-13)


@pytest.mark.parametrize("changed", [{"lam": ("2", "-1/2")}, {"model": "unnormalised"}])
def test_without_a_formula_the_constant_is_fitted_and_said_to_be(changed: dict[str, Any]) -> None:
    made = two_tokens(parameters={**two_tokens().parameters, **changed})
    line = late_asymptote(made)
    assert line is not None
    assert line.fitted
    last = float(np.asarray(made.columns["one_minus_gamma"])[-1])
    assert line.log10_gap(TIMES)[-1] == pytest.approx(math.log10(last), rel=1e-12)
    with plot_style():
        (legend,) = simulation_figure(made).legends
    assert any("fitted at the last point" in entry.get_text() for entry in legend.get_texts())


def test_the_late_rate_of_the_line_is_that_of_the_model() -> None:
    parameters = {**two_tokens().parameters, "model": "unnormalised", "beta": "1"}
    line = late_asymptote(two_tokens(parameters=parameters))
    assert line is not None
    assert line.rate == pytest.approx(2 * math.e + math.sqrt(math.e), rel=1e-14)


def test_no_line_where_tokens_are_still_apart_or_never_cluster() -> None:
    early = {**two_tokens().columns, "one_minus_gamma": np.full(len(TIMES), 0.3)}
    fitted = {**two_tokens().parameters, "model": "unnormalised"}
    assert late_asymptote(two_tokens(columns=early, parameters=fitted)) is None
    falling = {**two_tokens().parameters, "lam": ("-1", "1/2")}
    assert late_asymptote(two_tokens(parameters=falling)) is None


def test_logarithms_go_beyond_float64() -> None:
    found = log10(["1e-5000", "2.5e-400", "1"])
    assert found == pytest.approx([-5000, math.log10(2.5) - 400, 0])
    gaps = [f"1e-{200 * k}" for k in range(len(TIMES))]
    columns = {**two_tokens().columns, "one_minus_gamma": gaps}
    with plot_style():
        figure = simulation_figure(two_tokens(columns=columns))
        figure.draw_without_rendering()
    (axes,) = (axes for axes in figure.axes if axes.get_ylabel() == r"$1 - \gamma$")
    assert "$10^{-4000}$" in [tick.get_text() for tick in axes.get_yticklabels()]


@pytest.mark.parametrize("last", ["4.8e864", "1e-400"])
def test_times_beyond_float64_are_refused(last: str) -> None:
    times = ["0"] * (len(TIMES) - 1) + [last]
    with pytest.raises(InputError, match=r"plot: the last time is about 10\^"):
        simulation_plot(two_tokens(columns={**two_tokens().columns, "t": times}), "png")


def test_a_constant_out_of_reach_is_fitted_at_once() -> None:
    # C is the exponential of about e^1000 there.
    hard = {**two_tokens().parameters, "beta": "1000"}
    line = late_asymptote(two_tokens(parameters=hard))
    assert line is not None
    assert line.fitted
    many = {**two_tokens().parameters, "n": "1" + "0" * 400}
    assert late_asymptote(two_tokens(parameters=many)) is not None


def margins(*columns: list[float]) -> Simulation:
    heads = {f"condition8_h{k}": np.array(column) for k, column in enumerate(columns, 1)}
    return two_tokens(columns={"t": np.array([0.0, 1, 2, 3, 4]), **heads})


@pytest.mark.parametrize(
    ("columns", "windows", "lost"),
    [
        (([1, 1, 1, 1, 1],), ((0, 4),), None),
        (([-1, -1, -1, -1, -1],), (), None),
        (([3, 1, -1, -2, -3],), ((0, 1.5),), 1.5),
        (([3, 1, 0, -2, -3],), ((0, 2),), 2),
        # Lost by the second head first.
        (([3, 3, 1, -1, -3], [1, -3, 3, 3, 3]), ((0, 0.25), (1.75, 2.5)), 0.25),
        # Gained and lost again, then held to the end.
        (([-1, 1, -3, 1, 2],), ((0.5, 1.25), (2.75, 4)), 1.25),
        (([float("inf"), float("inf"), -1, -1, -1],), ((0, 1.5),), 1.5),
    ],
)
def test_dominance_is_between_the_zeros_of_the_smallest_margin(
    columns: tuple[list[float], ...],
    windows: tuple[tuple[float, float], ...],
    lost: float | None,
) -> None:
    found = dominance(margins(*columns))
    assert found.windows == windows
    assert found.exit == lost
    assert (found.bracket is None) == (lost is None)
    if found.bracket is not None and lost is not None:
        early, late = found.bracket
        assert late == early + 1
        assert early <= lost <= late


@pytest.mark.parametrize("model", ["softmax", "unnormalised"])
def test_the_exit_of_equal_heads_is_the_formula_and_lies_where_the_margins_change_sign(
    model: str,
) -> None:
    simulation = simulate_equiangular(
        model=model, lam="1/2,1/2", beta=1, n=64, until=4, points=401, digits=None
    )
    found = dominance(simulation)
    assert found.exit is not None
    assert found.bracket == (found.exit, found.exit)
    (window,) = found.windows
    assert window == (0, found.exit)
    margin = np.asarray(simulation.columns["condition8_h1"])
    (after, *_) = np.flatnonzero(margin < 0)
    assert (after - 1) / 100 <= found.exit <= after / 100
    # From another start the formula does not apply, but the overlap of the exit is the same.
    late = simulate_equiangular(
        model=model, lam="1/2,1/2", beta=1, n=64, start="1/10", until=4, points=401, digits=None
    )
    other = dominance(late)
    assert other.exit is not None
    assert other.bracket is not None
    assert other.bracket[1] - other.bracket[0] == pytest.approx(0.01)
    overlaps = [
        np.interp(exit, np.asarray(run.columns["t"]), np.asarray(run.columns["gamma"]))
        for exit, run in ((found.exit, simulation), (other.exit, late))
    ]
    assert overlaps[0] == pytest.approx(overlaps[1], abs=1e-4)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 32])
def test_heads_differ_and_the_legend_stays_short(count: int) -> None:
    styles = head_styles(count)
    assert len({str(style) for style in styles}) == count
    simulation = two_tokens(tuple(str(k) for k in range(1, count + 1)))
    with plot_style():
        (legend,) = simulation_figure(simulation).legends
    heads = [t.get_text() for t in legend.get_texts() if t.get_text().startswith("head")]
    assert len(heads) == min(count, 8)
    assert heads[0].startswith("head 1,")
    assert heads[-1].startswith(f"head {count},")
    listed = [t.get_text() for t in legend.get_texts() if "listed" in t.get_text()]
    assert listed == ([f"8 of {count} heads listed"] if count > 8 else [])


@pytest.mark.parametrize(("points", "marked"), [(12, True), (200, False)])
def test_few_points_are_marked(points: int, marked: bool) -> None:
    simulation = simulate_equiangular(lam=1, beta=1, n=4, until=3, points=points, digits=None)
    with plot_style():
        figure = simulation_figure(simulation)
    lines = [line for axes in figure.axes for line in axes.lines]
    curves = [line for line in lines if len(np.asarray(line.get_xdata())) == points]
    assert {line.get_marker() == "o" for line in curves if line.get_linestyle() == "-"} == {marked}


@pytest.mark.parametrize("simulation", [two_tokens(), of_tokens(), of_orthogonal_heads()])
def test_nothing_is_cut_off(simulation: Simulation) -> None:
    with plot_style():
        figure = simulation_figure(simulation)
        figure.draw_without_rendering()
        inside = figure.bbox
        boxes = [box for axes in figure.axes if (box := axes.get_tightbbox()) is not None]
        assert len(boxes) == len(figure.axes)
        for box in boxes:
            assert inside.x0 - 1 <= box.x0 <= box.x1 <= inside.x1 + 1
            assert inside.y0 - 1 <= box.y0 <= box.y1 <= inside.y1 + 1
        for legend in figure.legends:
            below = legend.get_window_extent()
            assert inside.x0 - 1 <= below.x0 <= below.x1 <= inside.x1 + 1
            assert below.y1 <= min(box.y0 for box in boxes)


def test_quantities_without_values_have_no_panel() -> None:
    columns = {**two_tokens().columns, "energy_h1": ["+inf"] * 25, "energy_h2": ["+inf"] * 25}
    simulation = two_tokens(columns=columns)
    assert head_columns(simulation, "energy") == []
    with plot_style():
        labels = [axes.get_ylabel() for axes in simulation_figure(simulation).axes]
    assert len(labels) == 4
    assert "margin of Condition 8" in labels
    assert not any("energy" in label for label in labels)


def test_an_interval_is_sampled_and_a_list_is_taken_as_it_is() -> None:
    assert [str(b) for b in sampled_temperatures("0..1", 5)] == ["0", "1/4", "1/2", "3/4", "1"]
    assert [str(b) for b in sampled_temperatures("2,0.5", 5)] == ["1/2", "2"]
    tokens = [int(n) for n in sampled_tokens("2..1000", 200)]
    assert tokens[0] == 2
    assert tokens[-1] == 1000
    assert len(tokens) <= 200
    assert tokens == sorted(set(tokens))
    ratios = [b / a for a, b in pairwise(tokens) if a > 50]
    assert max(ratios) < 1.06


@pytest.mark.parametrize("text", ["3..2", "2..2", "2..", "..3", "1..2..3", "-1..3", "a..b", ""])
def test_a_wrong_interval_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="beta"):
        sampled_temperatures(text, 5)


@pytest.mark.parametrize("text", ["1..9", "2..9/2", "2,5/2", "0"])
def test_wrong_numbers_of_tokens_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="n: "):
        sampled_tokens(text, 5)


def test_a_phase_diagram_in_csv_has_one_line_for_each_point() -> None:
    times = diagram().times.copy()
    times[0, 0] = np.inf
    made = diagram(times)
    lines = [x for x in phase_diagram_csv(made, "again").splitlines() if x[0] != "#"]
    assert lines[0] == "beta,n,clustering_time"
    assert lines[1] == "0.0,2,inf"
    assert len(lines) == 1 + times.size
    rows = np.array([[float(entry) for entry in line.split(",")] for line in lines[1:]])
    assert np.array_equal(rows[:, 2], times.ravel())
    expected = rows[1:, 0] + np.log(rows[1:, 1])
    assert rows[1:, 2] == pytest.approx(expected, rel=1e-15)


def test_a_phase_diagram_draws_its_times_and_says_where_none_are() -> None:
    times = diagram().times.copy()
    times[3:, :] = np.inf
    with plot_style():
        figure = phase_diagram_figure(diagram(times))
    (mesh,) = (c for c in figure.axes[0].collections if isinstance(c, QuadMesh))
    drawn = mesh.get_array()
    assert drawn is not None
    assert np.ma.getmaskarray(drawn).sum() == times[3:].size
    assert np.ma.compressed(drawn) == pytest.approx(times[:3].ravel())
    assert figure.legends
    assert not phase_diagram_figure(diagram()).legends


@pytest.mark.parametrize("times", [np.full((15, 12), np.inf), np.full((15, 12), 2.0)])
def test_a_phase_diagram_without_contrast_is_drawn(times: Any) -> None:
    with plot_style():
        figure = phase_diagram_figure(diagram(times))
        figure.draw_without_rendering()
    assert bool(figure.legends) == bool(np.isinf(times).all())


@pytest.mark.parametrize(
    ("exact", "label"),
    [
        ("9/10", "9/10"),
        ("123456789/1000", r"1.235 \cdot 10^{5}"),
        ("1/3000000000", r"3.333 \cdot 10^{-10}"),
        ("123456789/1000000000", "0.1235"),
    ],
)
def test_numbers_in_labels_are_short(exact: str, label: str) -> None:
    assert short_number(exact) == label


@pytest.mark.parametrize(
    ("exact", "label"),
    [
        ("9/10", "9/10"),
        ("999999/1000000", "1 - 10^{-6}"),
        (f"{10**40 - 1}/{10**40}", "1 - 10^{-40}"),
        (f"{2 * 10**39 - 5}/{2 * 10**39}", r"1 - 2.5 \cdot 10^{-39}"),
        ("123456789/1000000000", "0.1235"),
    ],
)
def test_overlaps_close_to_one_are_told_by_their_distance(exact: str, label: str) -> None:
    assert short_overlap(exact) == label


@pytest.mark.parametrize("kind", ["jpg", "PNG", ""])
def test_other_kinds_of_files_are_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"^kind: .* is not accepted; give .*png") as found:
        simulation_plot(two_tokens(), kind)
    assert "\n" not in str(found.value)
