"""Every rule: steps that must close, and a wrong variant of each kind that must not."""

from collections.abc import Callable

import pytest
import sympy as sp

from symbolic.answer import Answer
from symbolic.derivation import Step
from symbolic.errors import InputError
from symbolic.region import EVERYWHERE, Range, Region, above, at_least, between
from symbolic.rules import (
    at_most,
    consequence,
    equation,
    instances,
    integer_threshold,
    monotone,
    rewrite,
    scale,
    substitute,
    threshold,
)

x, y, z = sp.symbols("x y z", real=True)
p = sp.Symbol("p", positive=True)
n, m = sp.symbols("n m", integer=True, positive=True)
j, k = sp.symbols("j k", integer=True)
f, g = sp.Function("f"), sp.Function("g")

Case = Callable[[], Step]


def gt(left: sp.Expr, right: sp.Expr) -> sp.Gt:
    return sp.Gt(left, right, evaluate=False)


def ge(left: sp.Expr, right: sp.Expr) -> sp.Ge:
    return sp.Ge(left, right, evaluate=False)


def lt(left: sp.Expr, right: sp.Expr) -> sp.Lt:
    return sp.Lt(left, right, evaluate=False)


def ne(left: sp.Expr, right: sp.Expr) -> sp.Ne:
    return sp.Ne(left, right, evaluate=False)


UP = Region({x: above(0), y: above(0)})
SQUARE = (x + 1) ** 2
EXPANDED = x**2 + 2 * x + 1


def cases(*steps: tuple[str, Step]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in steps])


@cases(
    ("one side", rewrite(equation(y, SQUARE), equation(y, EXPANDED), "")),
    ("both sides", rewrite(at_most(SQUARE, y * 2), at_most(EXPANDED, y + y), "")),
    ("nothing changed", rewrite(equation(y, SQUARE), equation(y, SQUARE), "")),
    (
        "only on the region",
        rewrite(equation(y, sp.sqrt(x**2)), equation(y, x), "", Region({x: at_least(0)})),
    ),
)
def test_rewrite_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("constant", rewrite(equation(y, SQUARE), equation(y, EXPANDED + 1), "")),
    ("sign", rewrite(equation(y, SQUARE), equation(y, -EXPANDED), "")),
    ("left side", rewrite(equation(y, SQUARE), equation(2 * y, EXPANDED), "")),
    ("relation sign", rewrite(at_most(y, SQUARE), ge(y, EXPANDED), "")),
    ("strictness", rewrite(at_most(y, SQUARE), lt(y, EXPANDED), "")),
    ("sides exchanged", rewrite(at_most(y, SQUARE), at_most(EXPANDED, y), "")),
    ("outside the region", rewrite(equation(y, sp.sqrt(x**2)), equation(y, x), "")),
    ("near", rewrite(equation(y, x), equation(y, x + sp.Rational(1, 10**40)), "")),
    ("no relation", rewrite(sp.true, sp.true, "")),
)
def test_wrong_rewrite_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


DEFINED = equation(f(x), x**2)
SUM = sp.Sum(x, (k, 1, n))


@cases(
    ("equation used", substitute(at_most(f(x), y), at_most(x**2, y), "", using=(DEFINED,))),
    (
        "then an identity",
        substitute(at_most(f(x) + x, y), at_most(x * (x + 1), y), "", using=(DEFINED,)),
    ),
    (
        "value of a symbol",
        substitute(DEFINED, equation(f(3), 9), "", values={x: 3}, region=Region({x: Range()})),
    ),
    (
        "at once, not one after the other",
        substitute(
            equation(z, x - y),
            equation(z, y - x),
            "",
            values={x: y, y: x},
            region=Region({x: Range(), y: Range()}),
        ),
    ),
    (
        "equation first, then the value",
        substitute(
            equation(y, f(x) + x),
            equation(y, 6),
            "",
            values={x: sp.Integer(2)},
            using=(DEFINED,),
            region=Region({x: Range()}),
        ),
    ),
    (
        "value on the closed end of a range that uses another symbol",
        substitute(
            equation(z, x * y),
            equation(z, sp.Rational(-1, 2) * 3),
            "",
            values={y: sp.Integer(3), x: sp.Rational(-1, 2)},
            region=Region({y: at_least(2), x: between(-1 / (y - 1), 1)}),
        ),
    ),
)
def test_substitute_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("wrong result", substitute(at_most(f(x), y), at_most(x**3, y), "", using=(DEFINED,))),
    ("not there", substitute(at_most(g(x), y), at_most(x**2, y), "", using=(DEFINED,))),
    ("other argument", substitute(at_most(f(z), y), at_most(x**2, y), "", using=(DEFINED,))),
    ("relation sign", substitute(at_most(f(x), y), ge(x**2, y), "", using=(DEFINED,))),
    (
        "an inequality is no definition",
        substitute(at_most(f(x), y), at_most(x**2, y), "", using=(at_most(f(x), x**2),)),
    ),
    (
        "value put in before the equation",
        substitute(
            equation(y, f(x) + x),
            equation(y, x**2 + 2),
            "",
            values={x: sp.Integer(2)},
            using=(DEFINED,),
            region=Region({x: Range()}),
        ),
    ),
    ("no stated domain", substitute(DEFINED, equation(f(3), 9), "", values={x: sp.Integer(3)})),
    (
        "value outside the range",
        substitute(
            DEFINED, equation(f(3), 9), "", values={x: 3}, region=Region({x: between(0, 2)})
        ),
    ),
    (
        "value on an open end",
        substitute(DEFINED, equation(f(0), 0), "", values={x: 0}, region=Region({x: above(0)})),
    ),
    (
        "value against an assumption",
        substitute(
            equation(f(p), p), equation(f(-1), -1), "", values={p: -1}, region=Region({p: Range()})
        ),
    ),
    (
        "no integer for an integer",
        substitute(
            equation(f(n), n),
            equation(f(sp.Rational(3, 2)), sp.Rational(3, 2)),
            "",
            values={n: sp.Rational(3, 2)},
            region=Region({n: at_least(1)}),
        ),
    ),
    (
        "value of an expression",
        substitute(DEFINED, equation(5, x**2), "", values={f(x): sp.Integer(5)}),
    ),
    (
        "one after the other",
        substitute(
            equation(z, x - y),
            equation(z, 0),
            "",
            values={x: y, y: x},
            region=Region({x: Range(), y: Range()}),
        ),
    ),
    (
        "captured by a sum",
        substitute(
            equation(y, SUM),
            equation(y, sp.Sum(k, (k, 1, n))),
            "",
            values={x: k},
            region=Region({x: Range()}),
        ),
    ),
)
def test_wrong_substitute_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


@cases(
    ("positive factor", scale(at_most(x, y), at_most(2 * x, 2 * y), sp.Integer(2), "")),
    ("negative factor", scale(at_most(x, y), ge(-x, -y), sp.Integer(-1), "")),
    ("terms moved", scale(at_most(x, y), at_most(x - y, 0), sp.S.One, "")),
    ("symbol of known sign", scale(at_most(1, y), at_most(x, x * y), x, "", UP)),
    ("exponential", scale(lt(x, y), lt(x * sp.exp(z), y * sp.exp(z)), sp.exp(z), "")),
    ("equation", scale(equation(x, y), equation(-x, -y), sp.Integer(-1), "")),
    ("unequal", scale(ne(x, y), ne(2 * x, 2 * y), sp.Integer(2), "")),
)
def test_scale_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


SHIFTED = at_most(x * (x - 1), y * (x - 1))
HALF_LINE = Region({x: at_least(0)})


@cases(
    ("factor of changing sign", scale(at_most(x, y), SHIFTED, x - 1, "")),
    ("changing sign on the region", scale(at_most(x, y), SHIFTED, x - 1, "", UP)),
    ("factor that vanishes", scale(at_most(1, y), at_most(x, x * y), x, "", HALF_LINE)),
    ("zero factor", scale(at_most(x, y), at_most(0, 0), sp.S.Zero, "")),
    ("square that vanishes", scale(equation(y, z), equation(x**2 * y, x**2 * z), x**2, "")),
    ("negative, sign kept", scale(at_most(x, y), at_most(-x, -y), sp.Integer(-1), "")),
    ("positive, sign turned", scale(at_most(x, y), ge(2 * x, 2 * y), sp.Integer(2), "")),
    ("wrong factor", scale(at_most(x, y), at_most(3 * x, 3 * y), sp.Integer(2), "")),
    ("one side only", scale(at_most(x, y), at_most(2 * x, y), sp.Integer(2), "")),
    ("strictness", scale(at_most(x, y), lt(2 * x, 2 * y), sp.Integer(2), "")),
    (
        "factor without a value on part of the region",
        scale(
            at_most(y, z),
            at_most((1 + sp.sqrt(x - 1)) * y, (1 + sp.sqrt(x - 1)) * z),
            1 + sp.sqrt(x - 1),
            "",
            HALF_LINE,
        ),
    ),
    ("pole", scale(at_most(x, y), at_most(x / x**2, y / x**2), 1 / x**2, "")),
    ("no relation", scale(sp.true, sp.true, sp.S.One, "")),
)
def test_wrong_scale_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


@cases(
    ("exponential", monotone(gt(x, y), gt(sp.exp(x), sp.exp(y)), sp.exp, "")),
    ("cube and more", monotone(at_most(x, y), at_most(x**3 + x, y**3 + y), lambda v: v**3 + v, "")),
    ("square", monotone(at_most(x, y), at_most(x**2, y**2), lambda v: v**2, "", UP)),
    ("logarithm", monotone(equation(x, y), equation(sp.log(x), sp.log(y)), sp.log, "", UP)),
    ("root", monotone(lt(x**2, y**2), lt(x, y), sp.sqrt, "", UP)),
    ("times a symbol", monotone(at_most(x, y), at_most(x * p, y * p), lambda v: v * p, "")),
)
def test_monotone_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("square across zero", monotone(at_most(x, y), at_most(x**2, y**2), lambda v: v**2, "")),
    (
        "square of what may be zero",
        monotone(at_most(x, y), at_most(x**2, y**2), lambda v: v**2, "", HALF_LINE),
    ),
    ("decreasing", monotone(at_most(x, y), at_most(-x, -y), lambda v: -v, "")),
    ("cube only", monotone(at_most(x, y), at_most(x**3, y**3), lambda v: v**3, "")),
    ("across a pole", monotone(at_most(x, y), at_most(-1 / x, -1 / y), lambda v: -1 / v, "")),
    (
        "across a jump",
        monotone(
            at_most(-1, 1), at_most(sp.pi / 4, -sp.pi / 4), lambda v: -sp.acot(v), "", EVERYWHERE
        ),
    ),
    ("constant", monotone(at_most(x, y), at_most(1, 1), lambda v: sp.S.One + 0 * v, "")),
    ("wrong image", monotone(at_most(x, y), at_most(x**2, y**3), lambda v: v**2, "", UP)),
    ("relation sign", monotone(at_most(x, y), ge(sp.exp(x), sp.exp(y)), sp.exp, "")),
    (
        "a parameter with the name of the rule's variable",
        monotone(
            at_most(y, z),
            at_most(y * x, z * x),
            lambda v: v * x,
            "",
            Region({y: above(0), z: above(0)}),
        ),
    ),
)
def test_wrong_monotone_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


def pairs(size: int) -> sp.Expr:
    """Return sum over i, j from 1 to size of e^x where i = j, else 1."""
    return sum(sp.exp(x) if a == b else sp.S.One for a in range(size) for b in range(size))


def grid(rows: int, columns: int) -> sp.Expr:
    return sp.Integer(sum(a * b for a in range(rows + 1) for b in range(columns + 1)))


WORDS = equation(y, f(n, m))
CLOSED = n * sp.exp(x) + n * (n - 1)


@cases(
    ("one size", instances(WORDS, equation(y, CLOSED), pairs, {n: 2}, "")),
    (
        "two sizes",
        instances(WORDS, equation(y, n * (n + 1) * m * (m + 1) / 4), grid, {n: 2, m: 2}, ""),
    ),
    (
        "multiplier",
        instances(
            WORDS,
            equation(y, CLOSED / n**2),
            lambda size: pairs(size) / size**2,
            {n: 2},
            "",
            multiplier=n**2,
        ),
    ),
    ("higher bound than needed", instances(WORDS, equation(y, CLOSED), pairs, {n: 4}, "")),
)
def test_instances_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("constant", instances(WORDS, equation(y, CLOSED + 1), pairs, {n: 2}, "")),
    ("sign", instances(WORDS, equation(y, n * sp.exp(x) - n * (n - 1)), pairs, {n: 2}, "")),
    (
        "degree of the closed form too high",
        instances(WORDS, equation(y, CLOSED), pairs, {n: 1}, ""),
    ),
    (
        "degree of the definition too high: right at n = 1, 2",
        instances(WORDS, equation(y, 3 * n - 2), lambda size: sp.Integer(size**2), {n: 1}, ""),
    ),
    (
        "no polynomial: right at every size computed",
        instances(
            WORDS,
            equation(y, CLOSED + sp.sin(sp.pi * n / 3) * sp.cos(sp.pi * n)),
            pairs,
            {n: 2},
            "",
        ),
    ),
    ("power", instances(WORDS, equation(y, 2**n), lambda size: sp.Integer(2**size), {n: 9}, "")),
    (
        "missing multiplier",
        instances(WORDS, equation(y, 1 / n), lambda s: sp.S.One / s, {n: 1}, ""),
    ),
    (
        "multiplier that vanishes",
        instances(WORDS, equation(y, n + 7), pairs, {n: 2}, "", multiplier=sp.S.Zero),
    ),
    (
        "multiplier that vanishes at a size",
        instances(WORDS, equation(y, CLOSED), pairs, {n: 3}, "", multiplier=n - 2),
    ),
    ("left side", instances(WORDS, equation(z, CLOSED), pairs, {n: 2}, "")),
    ("relation sign", instances(WORDS, lt(y, CLOSED), pairs, {n: 2}, "")),
)
def test_wrong_instances_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


def test_instances_does_not_take_a_wrong_size_of_two() -> None:
    wrong = n * (n + 1) * m * (m + 1) / 4 + (n - 1) * (n - 2)
    step = instances(WORDS, equation(y, wrong), grid, {n: 2, m: 2}, "")
    outcome = step.check()
    assert outcome.answer is Answer.NO
    assert "{n: 3, m: 1}" in outcome.how


@cases(("a name for the bound", threshold(at_most(x, y**2), equation(f(y, z), y**2), "")))
def test_threshold_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("another value", threshold(at_most(x, y**2), equation(f(y), y**2 + 1), "")),
    ("lower bound", threshold(ge(x, y**2), equation(f(y), y**2), "")),
    ("strict bound", threshold(lt(x, y**2), equation(f(y), y**2), "")),
    ("the variable itself", threshold(at_most(x, sp.Integer(5)), equation(x, 5), "")),
    ("a number", threshold(at_most(x, sp.Integer(5)), equation(sp.Integer(1), 5), "")),
    ("bound of an expression", threshold(at_most(x**2, y), equation(f(y), y), "")),
    ("bound with the variable", threshold(at_most(x, x + y), equation(f(x, y), x + y), "")),
    ("name without a symbol of the bound", threshold(at_most(x, y * z), equation(f(y), y * z), "")),
    ("name at a number", threshold(at_most(x, sp.Integer(5)), equation(f(1), 5), "")),
    ("no equation", threshold(at_most(x, y), at_most(f(y), y), "")),
)
def test_wrong_threshold_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


ROOT = equation(f(n), sp.sqrt(n + 1) - sp.sqrt(n))
FROM_ONE = Region({n: at_least(1)})


@cases(
    (
        "equation",
        consequence(ROOT, equation(1 / f(n), sp.sqrt(n) + sp.sqrt(n + 1)), "", FROM_ONE),
    ),
    ("inequality", consequence(ROOT, gt(f(n), 0), "", FROM_ONE)),
    ("value", consequence(ROOT, equation(f(3), 2 - sp.sqrt(3)), "", FROM_ONE)),
    ("shifted", consequence(ROOT, gt(f(n + 1), 0), "", FROM_ONE)),
    ("twice", consequence(DEFINED, equation(f(x) * f(2), 4 * x**2), "", HALF_LINE)),
)
def test_consequence_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("false equation", consequence(ROOT, equation(f(n), sp.sqrt(n)), "", FROM_ONE)),
    ("false inequality", consequence(ROOT, lt(f(n), 0), "", FROM_ONE)),
    ("strict where equal", consequence(DEFINED, gt(f(x), 0), "")),
    ("outside the region", consequence(ROOT, equation(f(0), 1), "", FROM_ONE)),
    ("no integer", consequence(ROOT, gt(f(n + sp.Rational(1, 2)), 0), "", FROM_ONE)),
    ("may leave the region", consequence(ROOT, gt(f(n - 1), 0), "", FROM_ONE)),
    ("from an inequality", consequence(at_most(f(x), x), ge(f(x), x), "")),
    ("from a value", consequence(equation(f(sp.Integer(2)), 3), equation(f(x), 3), "")),
    ("from itself", consequence(equation(f(x), f(x) + 1 - 1), equation(f(x), 1), "")),
    ("of a recursion", consequence(equation(f(x), f(x - 1)), equation(f(x), f(x - 1)), "")),
    ("no relation", consequence(ROOT, sp.true, "")),
)
def test_wrong_consequence_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


TWO_UP = Region({n: at_least(2)})
BOUND = n**2 + 1 - 1 / n


@cases(
    ("just below", integer_threshold(gt(m, BOUND), ge(m, n**2 + 1), "", TWO_UP)),
    ("bound is an integer", integer_threshold(gt(m, n), ge(m, n + 1), "", TWO_UP)),
)
def test_integer_threshold_closes(step: Step) -> None:
    assert step.check().answer is Answer.YES


@cases(
    ("least too low", integer_threshold(gt(m, BOUND), ge(m, n**2), "", TWO_UP)),
    ("least too high", integer_threshold(gt(m, BOUND), ge(m, n**2 + 2), "", TWO_UP)),
    ("bound itself", integer_threshold(gt(m, n), ge(m, n), "", TWO_UP)),
    ("real variable", integer_threshold(gt(x, BOUND), ge(x, n**2 + 1), "", TWO_UP)),
    ("least is no integer", integer_threshold(gt(m, y), ge(m, y + 1), "", TWO_UP)),
    ("another variable", integer_threshold(gt(m, n), ge(j, n + 1), "", TWO_UP)),
    ("not strict before", integer_threshold(ge(m, BOUND), ge(m, n**2 + 1), "", TWO_UP)),
    ("upper bound", integer_threshold(lt(m, BOUND), ge(m, n**2 + 1), "", TWO_UP)),
    ("strict after", integer_threshold(gt(m, BOUND), gt(m, n**2 + 1), "", TWO_UP)),
)
def test_wrong_integer_threshold_does_not_close(step: Step) -> None:
    assert step.check().answer is not Answer.YES


HALF = sp.Float("0.5")


def size_itself(size: int) -> sp.Expr:
    return sp.Integer(size)


@cases(
    ("rewrite", rewrite(equation(y, x), equation(y, 2 * HALF * x), "")),
    ("substitute", substitute(at_most(f(x), y), at_most(2 * HALF * x**2, y), "", using=(DEFINED,))),
    (
        "value",
        substitute(DEFINED, equation(f(1), 1), "", values={x: 2 * HALF}, region=HALF_LINE),
    ),
    ("scale", scale(at_most(x, y), at_most(x * HALF, y * HALF), HALF, "")),
    ("monotone", monotone(at_most(x, y), at_most(x * HALF, y * HALF), lambda v: v * HALF, "")),
    ("closed form", instances(WORDS, equation(y, 2 * HALF * n), size_itself, {n: 1}, "")),
    ("definition", instances(WORDS, equation(y, n), lambda s: s * 2 * HALF, {n: 1}, "")),
    ("threshold", threshold(at_most(x, HALF), equation(f(z), HALF), "")),
    ("consequence", consequence(DEFINED, equation(f(x), 2 * HALF * x**2), "")),
)
def test_binary_float_in_a_step_is_refused(step: Step) -> None:
    with pytest.raises(InputError, match="binary float"):
        step.check()
