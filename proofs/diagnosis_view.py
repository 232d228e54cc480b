"""What ``mhflow diagnose`` shows: tables in 100 columns, each line with what it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from numeric.array_diagnosis import ArrayDiagnosis, ArrayHead, FloatMargin, TokenMargins
from numeric.diagnosis import Diagnosis, EqualHeads, HeadDiagnosis, Margin, Rates
from proofs.citation import CAVEAT
from proofs.views import new_console
from symbolic.numbers import read_number
from symbolic.parameter import shortened

_Row = tuple[str | Text, ...]

_MOST_PAIRS = 20
_STYLES = {"yes": "green", "no": "magenta", "undecided": "yellow"}


def scalar_view(diagnosis: Diagnosis) -> None:
    """Print the diagnosis of scalar heads at equiangular tokens."""
    console = new_console()
    given = diagnosis.parameters
    console.print("Scalar heads at equiangular tokens", style="bold")
    _paragraph(
        console,
        f"model {given['model']}, n = {_short(given['n'])}, beta = {_short(given['beta'])}, "
        f"overlap gamma = {_short(given['gamma'])}, {len(given['lam'])} heads; exact parameters, "
        f"values correctly rounded to {diagnosis.digits} digits, signs certified",
    )
    groups = _groups(diagnosis.heads)
    _conditions(console, groups)
    if diagnosis.equal_heads is not None:
        _equal_heads(console, diagnosis.equal_heads, len(diagnosis.heads))
    _strengths(console, groups, diagnosis.rates)
    _rates(console, diagnosis)
    _notes(console, "Remarks", diagnosis.remarks)
    _notes(console, "What this does not show", diagnosis.does_not_show)
    _paragraph(console, f"claims and conditions {CAVEAT}")


def _conditions(console: Console, groups: Sequence[tuple[str, HeadDiagnosis]]) -> None:
    _heading(console, "Condition 8 and energies at this overlap, the same at every token")
    _table(
        console,
        ("head", "strength", "Condition 8", "sharp Condition 8", "dE_h/dt >= 0"),
        (
            _row(
                numbers,
                _short(head.strength),
                *(_margin(m) for m in (head.condition8, head.condition8_sharp, head.denergy)),
            )
            for numbers, head in groups
        ),
    )
    _paragraph(
        console,
        "margins, >= 0 where it holds: |P f|^2 - |f| sum |a'| over the other heads' radial shadows "
        "a', sharp with |a| in place of |f|; dE_h/dt along the spherical flow of the model",
    )
    _table(
        console,
        ("head", "energy E_h", "entropy S (at most ln n)", "cos(f, x)"),
        (
            _row(numbers, *map(_shown, (head.energy, head.entropy, head.radial_cosine)))
            for numbers, head in groups
        ),
    )


def _equal_heads(console: Console, found: EqualHeads, heads: int) -> None:
    _heading(console, "Thresholds of Condition 8: equal positive heads")
    _table(
        console,
        ("form", "up to beta", "that - beta >= 0", "up to cosine", "that - cos(f, x) >= 0"),
        (
            _row(
                name,
                _shown(t.critical_beta),
                _margin(t.margin_beta),
                _shown(t.critical_cosine),
                _margin(t.margin_cosine),
            )
            for name, t in (("as stated", found.stated), ("sharp", found.sharp))
        ),
    )
    _paragraph(
        console,
        "the beta (beta* as stated) is for orthonormal tokens, the cosine (c*) for any overlap; "
        "beyond them Condition 8 fails, which is no proof that an energy falls",
    )
    if heads == 1:
        _paragraph(console, "one head: radial dominance is never lost")
        return
    if found.exit_overlap == "0":
        _paragraph(console, "radial dominance (Condition 8) does not hold at orthonormal tokens")
    elif found.exit_overlap is not None:
        _field(console, "overlap at which radial dominance is first lost", found.exit_overlap)
        _field(console, "time of that from orthonormal tokens", _shown(found.exit_time))
    if found.window is not None:
        first, last = found.window
        _field(console, "but it is gained and lost again, at overlaps", f"{first} and {last}")


def _strengths(console: Console, groups: Sequence[tuple[str, HeadDiagnosis]], rates: Rates) -> None:
    _heading(console, "Strengths on the rate function phi (softmax, orthonormal tokens)")
    if rates.rate_peak is not None or rates.rate_inflection is not None:
        _field(console, "lambda_peak, where phi is largest", _shown(rates.rate_peak))
        _field(console, "lambda_c, where phi turns convex", _shown(rates.rate_inflection))
    _table(
        console,
        ("head", "position", "phi(lam)", "lam - lambda_peak", "lam - lambda_c"),
        (
            _row(
                numbers,
                head.position,
                _shown(head.rate),
                *(
                    "-" if m is None else _shown(m.value)
                    for m in (head.above_peak, head.above_inflection)
                ),
            )
            for numbers, head in groups
        ),
    )


def _rates(console: Console, diagnosis: Diagnosis) -> None:
    rates, passage, model = diagnosis.rates, diagnosis.passage, diagnosis.parameters["model"]
    _heading(console, "Rates and times")
    _field(console, f"gamma' at this overlap ({model})", _shown(rates.overlap_rate.value))
    _field(console, "early rate: gamma' at gamma = 0 (softmax)", _shown(rates.early_rate))
    _field(console, "gain over equal strengths of the same total", _gain(rates.gain))
    above = rates.mean_above_inflection
    if above is not None:
        side = {"yes": "above", "no": "below"}.get(above.holds, "undecided against")
        _field(
            console,
            "mean strength",
            f"{_short(rates.mean_strength)}, {side} lambda_c (difference {_shown(above.value)})",
        )
    if rates.critical_spread is not None and rates.spread is not None:
        _field(
            console,
            "half-spread of the two strengths",
            f"{_short(rates.spread)}; critical {rates.critical_spread}: wider ones lose",
        )
    _field(console, f"late rate of 1 - gamma ({model})", _shown(rates.late_rate))
    _field(
        console,
        f"clustering time from gamma = {_short(passage.start)} to {_short(passage.stop)}",
        _shown(passage.clustering_time),
    )


def _gain(gain: Margin) -> str:
    words = {"yes": "unequal strengths start faster", "no": "unequal strengths start slower"}
    said = "none" if gain.value == "0" else words.get(gain.holds, "undecided")
    return f"{_shown(gain.value)} ({said})"


def arrays_view(diagnosis: ArrayDiagnosis) -> None:
    """Print the diagnosis of an array file."""
    console = new_console()
    given = diagnosis.parameters
    console.print(f"Tokens and heads of {given['file']}", style="bold")
    _paragraph(
        console,
        f"model {given['model']}, n = {given['n']}, d = {given['d']}, "
        f"{_count(len(diagnosis.heads), 'head')}, beta = {_short(given['beta'])}; floats are read "
        "exactly, signs are certified by balls of 128 bits",
    )
    _matrices(console, diagnosis)
    _token_conditions(console, diagnosis.heads)
    _energies(console, diagnosis)
    _notes(console, "Remarks", diagnosis.remarks)
    _notes(console, "What this does not show", diagnosis.does_not_show)
    _paragraph(console, f"claims and conditions {CAVEAT}")


def _matrices(console: Console, diagnosis: ArrayDiagnosis) -> None:
    _heading(console, "Heads: operator norms, zero for symmetric and for aligned heads")
    _table(
        console,
        ("head", "|M|", "rank", "|M - M^T|", "|V - M|"),
        (
            _row(
                str(h.head),
                _number(h.score_norm),
                str(h.rank),
                _number(h.symmetry_defect),
                _number(h.alignment_defect),
            )
            for h in diagnosis.heads
        ),
    )
    if not diagnosis.pairs:
        return
    _heading(console, "Pairs of heads: zero overlap means orthogonal heads")
    # The largest overlaps say most; --json has all.
    pairs = sorted(diagnosis.pairs, key=lambda pair: -pair.overlap)
    _table(
        console,
        ("heads", "overlap |M_h' M_h|", "principal angles between ranges (degrees)"),
        (
            _row(f"{p.heads[0]}, {p.heads[1]}", _number(p.overlap), _angles(p.angles))
            for p in pairs[:_MOST_PAIRS]
        ),
    )
    if len(pairs) > _MOST_PAIRS:
        _paragraph(
            console, f"of {len(pairs)} pairs, those with the largest overlaps; --json has all"
        )


def _token_conditions(console: Console, heads: Sequence[ArrayHead]) -> None:
    _heading(console, "Condition 8: the token with the least margin, and how many fail")
    _table(
        console,
        ("head", "Condition 8", "token", "fail", "sharp Condition 8", "token", "fail", "shadows a"),
        (
            _row(
                str(h.head),
                *_worst(h.condition8),
                *_worst(h.condition8_sharp),
                f"{_number(min(h.shadows))} to {_number(max(h.shadows))}",
            )
            for h in heads
        ),
    )
    _paragraph(
        console,
        "margins, >= 0 where it holds: |P f|^2 - |f| sum |a'| over the other heads' radial shadows "
        "a', sharp with |a| in place of |f|; --json has every token",
    )


def _energies(console: Console, diagnosis: ArrayDiagnosis) -> None:
    _heading(console, "Energies along the spherical flow, and attention entropies")
    rows = [
        _row(
            str(h.head),
            _number(h.energy),
            _float_margin(h.denergy),
            _number(fmean(h.entropies)),
            _number(min(h.entropies)),
        )
        for h in diagnosis.heads
    ]
    total = _row("all", _number(diagnosis.energy), _float_margin(diagnosis.denergy), "", "")
    _table(
        console,
        ("head", "energy E_h", "dE_h/dt >= 0", "entropy, mean over tokens", "least"),
        [*rows, total],
    )


def _worst(condition: TokenMargins) -> _Row:
    fail = sum(answer == "no" for answer in condition.answers)
    return _row(
        _answer(condition.holds, _number(condition.worst.value)),
        str(condition.worst_token),
        str(fail),
    )


def _angles(angles: Sequence[float]) -> str:
    """Return few angles, or the range of many."""
    if not angles:
        return "none: a head is zero"
    if len(angles) <= 4:
        return ", ".join(f"{angle:.2f}" for angle in angles)
    return f"{angles[0]:.2f} to {angles[-1]:.2f} ({len(angles)} angles)"


def _float_margin(margin: FloatMargin | None) -> Text:
    return Text("-") if margin is None else _answer(margin.holds, _number(margin.value))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _groups(heads: Iterable[HeadDiagnosis]) -> list[tuple[str, HeadDiagnosis]]:
    """Return heads of the same strength once, with their numbers as a text such as ``1-3, 7``."""
    numbers: dict[str, list[int]] = {}
    first: dict[str, HeadDiagnosis] = {}
    for head in heads:
        numbers.setdefault(head.strength, []).append(head.head)
        first.setdefault(head.strength, head)
    return [(_ranges(numbers[strength]), head) for strength, head in first.items()]


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending integers with runs of them as ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def _row(*cells: str | Text) -> _Row:
    return cells


def _margin(margin: Margin | None) -> Text:
    """Return the answer with the number that decides it."""
    if margin is None:
        return Text("-")
    return _answer(margin.holds, margin.value)


def _answer(holds: str, value: str | None) -> Text:
    return Text.assemble((holds, _STYLES[holds]), f"  {value}" if value else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _shown(value: str | None) -> str:
    return "-" if value is None else value


def _short(exact: object) -> str:
    """Return an exact text, shortened if it is long."""
    return shortened(read_number(str(exact)), 24)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold")


def _table(console: Console, headings: Sequence[str], rows: Iterable[_Row]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(Padding(table, (0, 0, 0, 2)))


def _field(console: Console, name: str, value: str) -> None:
    _paragraph(console, f"{name}: {value}")


def _notes(console: Console, heading: str, notes: Sequence[str]) -> None:
    if notes:
        _heading(console, heading)
    for note in notes:
        _paragraph(console, note)


def _paragraph(console: Console, text: str) -> None:
    console.print(Padding(Text(text, overflow="fold"), (0, 0, 0, 2)))
