"""Expressions compiled to straight-line Python: one evaluation per row without walking a tree.

A walk with the arithmetic below writes down the operations instead of doing them. What does not
depend on the row is done once per run, such as ``exp(1)`` at the precision in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symbolic.implicit import Implicit

Rows = Iterable[tuple[Any, ...]]
Program = Callable[[Sequence[Any], Rows], list[Any]]
"""Takes the numbers that stay fixed and the rows of those that vary; returns a value per row."""


@dataclass(frozen=True, eq=False)
class Line:
    """An operation written down, or a number to start from.

    Attributes:
        trace: the trace it belongs to.
        name: the variable that holds its value.
        text: the right side of its assignment, empty for a number to start from.
        operands: what it is computed from.
        fixed: whether its value is the same in all rows.
        divisor: for a reciprocal, what it is the reciprocal of.
    """

    trace: Trace
    name: str
    text: str
    operands: tuple[Line, ...]
    fixed: bool
    divisor: Line | None = None

    def __add__(self, other: Line) -> Line:
        return self.trace.line("{} + {}", self, other)

    def __sub__(self, other: Line) -> Line:
        return self.trace.line("{} - {}", self, other)

    def __mul__(self, other: Line) -> Line:
        if other.divisor is not None:
            return self / other.divisor
        if self.divisor is not None:
            return other / self.divisor
        return self.trace.line("{} * {}", self, other)

    def __truediv__(self, other: Line) -> Line:
        return self.trace.line("{} / {}", self, other)

    def lower(self) -> Line:
        """Write down the lower end of a ball."""
        return self.trace.function("lower", self)

    def upper(self) -> Line:
        """Write down the upper end of a ball."""
        return self.trace.function("upper", self)


@dataclass
class Trace:
    """The arithmetic that writes operations down; functions become methods of the numbers.

    Attributes:
        lines: all operations so far, in order, by their text; none is done twice.
        fixed: the numbers that stay fixed.
        varying: the numbers that vary by row.
        constants: the rational constants used, with their lines.
    """

    lines: dict[str, Line] = field(default_factory=dict)
    fixed: list[Line] = field(default_factory=list)
    varying: list[Line] = field(default_factory=list)
    constants: dict[Fraction, Line] = field(default_factory=dict)

    def fixed_number(self) -> Line:
        """Return a new number that is the same in all rows."""
        self.fixed.append(Line(self, f"f{len(self.fixed)}", "", (), True))
        return self.fixed[-1]

    def varying_number(self) -> Line:
        """Return a new number that varies by row."""
        self.varying.append(Line(self, f"v{len(self.varying)}", "", (), False))
        return self.varying[-1]

    def line(self, text: str, *operands: Line, divisor: Line | None = None) -> Line:
        """Write an operation down and return it; ``{}`` stands for each operand."""
        text = text.format(*(operand.name for operand in operands))
        if text not in self.lines:
            fixed = all(operand.fixed for operand in operands)
            self.lines[text] = Line(self, f"t{len(self.lines)}", text, operands, fixed, divisor)
        return self.lines[text]

    def rational(self, value: Fraction) -> Line:
        """Return a constant; each is made into a number once per run."""
        if value not in self.constants:
            self.constants[value] = Line(self, f"c{len(self.constants)}", "", (), True)
        return self.constants[value]

    def power(self, base: Line, exponent: int) -> Line:
        """Write down an integer power; products with a reciprocal become quotients."""
        if exponent == -1:
            return self.line("1 / {}", base, divisor=base)
        return self.line(f"{{}} ** {exponent}", base)

    def function(self, name: str, argument: Line) -> Line:
        """Write down a call of the number's method with this name."""
        return self.line(f"{{}}.{name.lower()}()", argument)

    def larger(self, first: Line, second: Line) -> Line:
        """Write down a call of the method ``max``."""
        return self.line("{}.max({})", first, second)

    def implicit(self, definition: Implicit, arguments: Sequence[Line]) -> Line:
        """Refuse: roots of equations are no straight line."""
        raise NotImplementedError(f"no straight line to the root of {definition.residual}")

    def program(self, *results: Line) -> Callable[[Callable[[Fraction], Any]], Program]:
        """Compile what the results need.

        Returns:
            A function that takes how to make a number of a rational constant and returns the
            program. Programs with one result return values, others return tuples.
        """
        needed = _ancestors(results)
        lines = [line for line in self.lines.values() if line.name in needed]
        once, each = ([x for x in lines if x.fixed], [x for x in lines if not x.fixed])
        names = ", ".join(result.name for result in results)
        source = [
            "def run(constants, fixed, rows):",
            *_unpacking([line.name for line in self.constants.values()], "constants"),
            *_unpacking([line.name for line in self.fixed], "fixed"),
            *(f"    {line.name} = {line.text}" for line in once),
            "    values = []",
            "    append = values.append",
            f"    for {''.join(line.name + ', ' for line in self.varying)} in rows:",
            *(f"        {line.name} = {line.text}" for line in each),
            f"        append({names if len(results) == 1 else f'({names})'})",
            "    return values",
        ]
        space: dict[str, Any] = {}
        exec(compile("\n".join(source), "<straight line>", "exec"), space)
        return lambda number: (
            lambda fixed, rows: space["run"](
                [number(value) for value in self.constants], fixed, rows
            )
        )


def _ancestors(results: Iterable[Line]) -> set[str]:
    """Return the names of all lines that results are computed from, theirs included."""
    needed: set[str] = set()
    waiting = list(results)
    while waiting:
        line = waiting.pop()
        if line.name not in needed:
            needed.add(line.name)
            waiting += line.operands
    return needed


def _unpacking(names: Sequence[str], source: str) -> list[str]:
    return [f"    {''.join(name + ', ' for name in names)} = {source}"] if names else []
