"""``mhflow simulate``: the regimes over time, as CSV, token arrays and plots."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from proofs.options import integer_option, named_as_options
from proofs.simulate_outputs import Outputs
from symbolic.errors import InputError
from symbolic.numbers import read_list, shown

if TYPE_CHECKING:
    from numeric.heads import Heads
    from numeric.simulation import Simulation
    from numeric.token_start import Tokens

app = typer.Typer(
    help="Simulate a regime: CSV with every quantity over time, and plots.\n\n"
    "Example: mhflow simulate equiangular --lam 0.5,1 --beta 2 --n 64 --stop 0.9",
)

Progress = Callable[[float], None]
"""Takes the part of the work that is done, from 0 to 1."""

_OUTPUTS = ("out", "plot", "states")

Model = Annotated[str, typer.Option(metavar="softmax|unnormalised|relu", help="Model.")]
Strengths = Annotated[str, typer.Option(metavar="L1,L2,...", help="Strength of each head.")]
Temperature = Annotated[str, typer.Option(metavar="B", help="Inverse temperature, >= 0.")]
TokenCount = Annotated[str, typer.Option(metavar="N", help="Number of tokens.")]
Start = Annotated[str, typer.Option(metavar="G", help="Overlap gamma at time 0.")]
Times = Annotated[str | None, typer.Option(metavar="T1,T2,...", help="Times, ascending.")]
Until = Annotated[str | None, typer.Option(metavar="T", help="Last of evenly spaced times.")]
Points = Annotated[str | None, typer.Option(metavar="K", help="How many of these; 50 if not said.")]
Digits = Annotated[
    str, typer.Option(metavar="N|float64", help="Significant digits, or float64: fast, estimated.")
]
Out = Annotated[
    str | None, typer.Option(metavar="FILE.csv", help="Write the CSV here, not on stdout.")
]
Plot = Annotated[str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Draw a plot.")]
States = Annotated[
    str | None, typer.Option(metavar="FILE.npz", help="Write the tokens: t, x (times, n, d).")
]


@app.command()
def equiangular(
    context: typer.Context,
    lam: Strengths,
    n: TokenCount,
    beta: Annotated[
        str | None, typer.Option(metavar="B", help="Inverse temperature, >= 0.")
    ] = None,
    model: Model = "softmax",
    start: Start = "0",
    stop: Annotated[
        str | None, typer.Option(metavar="G", help="Overlap at the last time, such as 1-1e-6.")
    ] = None,
    until: Until = None,
    times: Times = None,
    points: Points = None,
    digits: Digits = "50",
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Simulate scalar heads at equiangular tokens: the overlap gamma over time.

    Say how far: --stop, --until or --times. Columns: t, gamma, one_minus_gamma
    and, for each head, energy and attention entropy with their derivatives,
    radial cosine and margins of Condition 8. Trajectories take beta |lam| up to
    10,000.

    Example: mhflow simulate equiangular --lam 0.5,1,3/2,2 --beta 2 --n 64
    --stop 1-1e-6 --points 50 --digits 50 --out run.csv --plot run.svg
    """
    from numeric.simulate_equiangular import simulate_equiangular
    from proofs.simulation_cost import equiangular_seconds, span, told_before

    def run(report: Progress) -> Simulation:
        wanted = _digits(digits)
        _, count = span(times, until, points)
        with told_before(equiangular_seconds(lam, count, wanted)):
            return simulate_equiangular(
                model=model,
                lam=lam,
                beta=beta,
                n=n,
                start=start,
                stop=stop,
                until=until,
                times=times,
                points=points,
                digits=wanted,
                progress=report,
            )

    _simulate(context, Outputs.checked(out, plot), run)


@app.command()
def tokens(
    context: typer.Context,
    beta: Temperature,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="orthonormal, equiangular, random or orthogonal-heads."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="FILE.npz", help="Arrays x (n, d), M (H, d, d), optionally V."),
    ] = None,
    lam: Annotated[
        str | None, typer.Option(metavar="L1,L2,...", help="Strength of each head of a preset.")
    ] = None,
    n: Annotated[str | None, typer.Option(metavar="N", help="Number of tokens.")] = None,
    d: Annotated[str | None, typer.Option(metavar="D", help="Dimension.")] = None,
    gamma: Annotated[
        str | None, typer.Option(metavar="G", help="Overlap of equiangular tokens.")
    ] = None,
    shares: Annotated[
        str | None, typer.Option(metavar="S1,...", help="Shares of orthogonal heads; equal.")
    ] = None,
    overlaps: Annotated[
        str | None, typer.Option(metavar="R1,...", help="Overlaps of orthogonal heads; 0.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="S", help="Seed of random tokens, an integer >= 0.")
    ] = None,
    model: Model = "softmax",
    flat: Annotated[
        bool, typer.Option("--flat", help="x_i' = v_i: tokens leave the sphere.")
    ] = False,
    until: Until = None,
    times: Times = None,
    points: Points = None,
    digits: Digits = "50",
    out: Out = None,
    plot: Plot = None,
    states: States = None,
) -> None:
    """Simulate n tokens under any heads, from a preset or from an array file.

    Presets: scalar heads with orthonormal, equiangular or random tokens, or
    orthogonal-heads: projectors on blocks of n coordinates, with tokens
    equiangular in each or, with --seed, random. Columns are means over tokens
    (entropies), least values (margins of Condition 8, radial shadows) or largest
    ones (radial cosine). Digits go up to 1000.

    Example: mhflow simulate tokens --preset random --n 16 --d 8 --seed 1
    --lam 1,1/2 --beta 2 --until 10 --digits float64 --out run.csv
    --plot run.png --states run.npz
    """
    from numeric.simulate_tokens import simulate_tokens
    from proofs.simulation_cost import span, token_seconds, told_before

    outputs = Outputs.checked(out, plot, states, file)
    given = {
        "lam": lam,
        "n": n,
        "d": d,
        "gamma": gamma,
        "shares": shares,
        "overlaps": overlaps,
        "seed": seed,
    }

    def run(report: Progress) -> Simulation:
        heads, start = _heads_and_tokens(
            preset, file, {name: text for name, text in given.items() if text is not None}
        )
        wanted = _digits(digits)
        seconds = token_seconds(
            model, heads, start.n, beta, *span(times, until, points), digits=wanted
        )
        with told_before(seconds, floats=wanted is None):
            return simulate_tokens(
                model=model,
                heads=heads,
                tokens=start,
                beta=beta,
                until=until,
                times=times,
                points=points,
                digits=wanted,
                flat=flat,
                progress=report,
            )

    _simulate(context, outputs, run)


def _heads_and_tokens(
    preset: str | None, file: str | None, given: dict[str, str]
) -> tuple[Heads, Tokens]:
    """Return the heads and tokens of a preset or of an array file."""
    from numeric.token_file import read_arrays
    from numeric.token_presets import PRESETS

    names = ", ".join(PRESETS)
    if (preset is None) == (file is None):
        raise InputError(f"preset: give either --preset or --file; presets: {names}")
    if file is not None:
        if given:
            name, text = next(iter(given.items()))
            raise InputError(f"{name}: {shown(text)} is given beside --file, which says it all")
        return read_arrays(file)
    if preset not in PRESETS:
        raise InputError(f"preset: {shown(str(preset))} is not accepted; give one of {names}")
    make = cast("Callable[..., tuple[Heads, Tokens]]", PRESETS[preset])
    taken = signature(make).parameters
    accepted = ", ".join(f"--{name}" for name in taken)
    for name, text in given.items():
        if name not in taken:
            raise InputError(f"{name}: {shown(text)} is not for {preset}, which takes {accepted}")
    for name, parameter in taken.items():
        if name not in given and parameter.default is parameter.empty:
            raise InputError(f"{name}: not given; {preset} takes {accepted}")
    read: dict[str, Any] = dict(given)
    for name in ("shares", "overlaps"):
        if name in read:
            read[name] = read_list(read[name], name)
    return make(**read)


@app.command("orthogonal-heads")
def orthogonal_heads(
    context: typer.Context,
    lam: Strengths,
    shares: Annotated[
        str, typer.Option(metavar="S1,S2,...", help="Share of each head at time 0, sum 1.")
    ],
    overlaps: Annotated[
        str, typer.Option(metavar="R1,R2,...", help="Overlap within each block at time 0.")
    ],
    beta: Temperature,
    n: TokenCount,
    model: Model = "unnormalised",
    until: Until = None,
    times: Times = None,
    points: Points = None,
    digits: Digits = "50",
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Simulate orthogonal heads at tokens that are equiangular within each block.

    The flow keeps this form: it moves the share and the overlap of each head.
    It is the smallest regime where radial shadows lower a head's energy.
    Say how far: --until or --times.

    Example: mhflow simulate orthogonal-heads --lam 1,1.3 --shares 0.9,0.1
    --overlaps 0.6,0.6 --n 8 --beta 2 --until 5 --plot run.pdf
    """
    from numeric.simulate_orthogonal_heads import simulate_orthogonal_heads
    from proofs.simulation_cost import orthogonal_heads_seconds, span, told_before

    def run(report: Progress) -> Simulation:
        wanted = _digits(digits)
        seconds = orthogonal_heads_seconds(
            model, lam, beta, *span(times, until, points), digits=wanted
        )
        with told_before(seconds):
            return simulate_orthogonal_heads(
                model=model,
                lam=lam,
                shares=shares,
                overlaps=overlaps,
                beta=beta,
                n=n,
                until=until,
                times=times,
                points=points,
                digits=wanted,
                progress=report,
            )

    _simulate(context, Outputs.checked(out, plot), run)


@app.command("phase-diagram")
def phase_diagram(
    context: typer.Context,
    lam: Strengths,
    beta: Annotated[
        str, typer.Option(metavar="A..B|B1,B2,...", help="Inverse temperatures: interval or list.")
    ],
    n: Annotated[
        str, typer.Option(metavar="A..B|N1,N2,...", help="Numbers of tokens: interval or list.")
    ],
    stop: Annotated[str, typer.Option(metavar="G", help="Overlap at which tokens are clustered.")],
    model: Model = "softmax",
    start: Start = "0",
    points: Annotated[
        str, typer.Option(metavar="K", help="Points of an interval, 2 to 1,000.")
    ] = "200",
    out: Annotated[
        str | None, typer.Option(metavar="FILE.csv", help="Write beta, n, clustering_time here.")
    ] = None,
    plot: Plot = None,
) -> None:
    """Map the clustering time over inverse temperature and number of tokens, in float64.

    Intervals of beta are sampled evenly, those of n evenly on a log scale.
    Without --plot and --out, the CSV is printed.

    Example: mhflow simulate phase-diagram --lam 1 --beta 0..10 --n 2..1000
    --stop 0.9 --plot map.png
    """
    from proofs.phase_diagram import (
        clustering_times,
        phase_diagram_csv,
        phase_diagram_plot,
        sampled_temperatures,
        sampled_tokens,
    )

    outputs = Outputs.checked(out, plot)
    with named_as_options(context):
        count = integer_option("--points", points, 2, 1000)
        diagram = clustering_times(
            model=model,
            lam=lam,
            beta=sampled_temperatures(beta, count),
            n=sampled_tokens(n, count),
            start=start,
            stop=stop,
        )
    files: dict[Path, str | bytes] = {}
    if outputs.plot is not None:
        files[outputs.plot] = phase_diagram_plot(diagram, outputs.plot.suffix[1:])
    csv = phase_diagram_csv(diagram, _rerun(context))
    outputs.deliver(csv, files, printed=not files)


def _simulate(
    context: typer.Context, outputs: Outputs, run: Callable[[Progress], Simulation]
) -> None:
    """Run a simulation with progress on stderr and deliver its files, all of them or none."""
    from proofs.simulation_files import simulation_csv, states_npz
    from proofs.views import time_left

    _check_how_far(context)
    with named_as_options(context), time_left() as report:
        simulation = run(report)
    rerun = _rerun(context)
    files: dict[Path, str | bytes] = {}
    if outputs.states is not None:
        files[outputs.states] = states_npz(simulation, rerun)
    if outputs.plot is not None:
        from proofs.plots import simulation_plot

        with named_as_options(context):
            files[outputs.plot] = simulation_plot(simulation, outputs.plot.suffix[1:])
    outputs.deliver(simulation_csv(simulation, rerun), files)
    for remark in simulation.remarks:
        print(f"remark: {remark}", file=sys.stderr)


def _check_how_far(context: typer.Context) -> None:
    """Check that one option says how far to go, in the words of the command line."""
    ways = [name for name in ("stop", "until", "times") if name in context.params]
    given = [f"--{name}" for name in ways if context.params[name] is not None]
    if len(given) != 1:
        *others, last = [f"--{name}" for name in ways]
        raise InputError(
            f"times: {' and '.join(given) or 'nothing'} given; give one of "
            f"{', '.join(others)} or {last}"
        )


def _rerun(context: typer.Context) -> str:
    """Return the command that gives the same numbers again, defaults written out."""
    words = ["mhflow", "simulate", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name not in _OUTPUTS and value not in (None, False):
            words.append(parameter.opts[0])
            words += [] if value is True else [str(value)]
    return shlex.join(words)


def _digits(text: str) -> int | None:
    """Return a number of digits, None for float64."""
    if text == "float64":
        return None
    return integer_option("--digits", text, 1, 10_000, besides=", or float64")
