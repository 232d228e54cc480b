"""The critical cosine beside Theorem 19: negative cosines, Lambert's W, closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import sympy as sp
from flint import arb

from numeric.balls import ball_value
from numeric.rounding import rounded_ball
from proofs.checks import (
    Point,
    case_evidence,
    derivation_evidence,
    pointwise_evidence,
    settled_agreement,
    settled_signs,
)
from proofs.claim import Checker, Claim, Settings
from proofs.evidence import Counterexample, Evidence, Level, Outcome
from proofs.theorems.theorem_19 import EqualHeads
from symbolic import critical_cosine
from symbolic.answer import Answer
from symbolic.decide import is_zero, sign_of
from symbolic.notation import H
from symbolic.positivity import Sign
from symbolic.rules import equation

# -- critical-cosine-any-sign ---------------------------------------------------------------------


@dataclass(frozen=True)
class SignedCase:
    """Equal scalar heads on the line: tokens +1 or -1, so that every aggregate is radial."""

    heads: int
    strength: Fraction
    temperature: Fraction
    tokens: tuple[int, ...]


def check_signed_case(case: SignedCase, settings: Settings) -> Evidence:
    """Try ``Condition 8 iff cosine <= c*(H)`` at one configuration in balls."""
    lines = tuple((Fraction(x),) for x in case.tokens)
    heads = EqualHeads(case.heads, case.strength, case.temperature, lines)

    def compute() -> tuple[arb, ...]:
        flow = heads.flow()
        bound = ball_value(critical_cosine.EXPRESSION, {H: Fraction(case.heads)})
        return bound - flow.cosine(0, 0), flow.condition_8_margin(0, 0)

    within, margin = settled_signs(compute, settings.digits)

    def value() -> str:
        return rounded_ball(lambda: heads.flow().condition_8_margin(0, 0), settings.digits).text

    parameters = {**heads.named(), "tokens (d = 1)": [str(x) for x in case.tokens]}
    quantity = "the margin of Condition 8 at token 1, |P f|^2 - |f| sum of the other |a|,"
    fails = within == 1 and margin == -1
    return _signed_evidence(Level.POINTWISE, fails, parameters, quantity, value)


def _signed_evidence(
    level: Level,
    fails: bool,
    parameters: dict[str, str | list[str]],
    quantity: str,
    value: Callable[[], str],
) -> Evidence:
    return case_evidence(
        level,
        fails,
        lambda: Counterexample(
            parameters,
            quantity,
            value(),
            "the cosine is -1, below c*(H), and the margin is negative",
        ),
        established="at this point cos(f_1, x_1) = -1 <= c*(H), yet Condition 8 fails",
        domain="one exact configuration",
        does_not_show="anything where cos(f_i, x_i) >= 0: there the claim is critical-cosine, "
        "which holds",
        method="exact arithmetic with fractions"
        if level is Level.EXACT
        else "ball arithmetic from the definitions",
    )


@dataclass(frozen=True)
class ExactSignedCase:
    """Equal scalar heads of strength 1 on the line, with a rational ``e^beta``."""

    heads: int
    exp_beta: sp.Rational
    tokens: tuple[int, ...]


def check_signed_exact(case: ExactSignedCase, _settings: Settings) -> Evidence:
    """Decide the same exactly: on the line ``P f = 0``, so the margin is ``-(H-1) f^2``.

    The cosine is the sign of ``f_1 x_1``.
    """
    first = case.tokens[0]
    aggregate = sp.Add(*(case.exp_beta ** (first * x) * x for x in case.tokens))
    cosine = sign_of(sp.expand(aggregate * first))
    margin = -(case.heads - 1) * aggregate**2
    fails = cosine is Sign.NEGATIVE and sign_of(sp.expand(margin)) is Sign.NEGATIVE
    parameters: dict[str, str | list[str]] = {
        "H": str(case.heads),
        "alpha": "1",
        "beta": f"ln({case.exp_beta})",
        "tokens (d = 1)": [str(x) for x in case.tokens],
    }
    quantity = "the margin of Condition 8 at token 1, -(H-1) f_1^2"
    value = str(sp.expand(margin))
    return _signed_evidence(Level.EXACT, fails, parameters, quantity, lambda: value)


# -- critical-cosine-lambert ----------------------------------------------------------------------


@dataclass(frozen=True)
class LambertStatement:
    """``value = W_k(a)`` for some branch k and some ``a`` of the given kind.

    Attributes:
        value: the value, an expression in H.
        polynomial: an integer polynomial in x (and H) that it is said to solve.
        algebraic: whether a is asked to be algebraic.
    """

    value: sp.Expr
    polynomial: sp.Expr
    algebraic: bool = True


_x = sp.Symbol("x")


def check_lambert(statement: LambertStatement, settings: Settings) -> Evidence:
    """Refute by Lindemann: a non-zero algebraic c has transcendental ``e^c``, so ``a = c e^c`` too.

    What is decided exactly: the value solves an integer polynomial, so it is algebraic, and it is
    not zero. Lindemann's theorem itself is cited.
    """
    region = critical_cosine.HEADS_REGION
    polynomial = sp.Poly(statement.polynomial, _x, domain=sp.ZZ[H])
    # Monic, so it vanishes identically for no H.
    integral = polynomial.degree() > 0 and polynomial.LC() == 1
    solves = is_zero(statement.polynomial.subs(_x, statement.value), region)
    algebraic = integral and solves is Answer.YES
    nonzero = sign_of(statement.value, region) in (Sign.POSITIVE, Sign.NEGATIVE)
    refuted = algebraic and nonzero and statement.algebraic
    return Evidence(
        Level.EXACT,
        Outcome.REFUTES if refuted else Outcome.UNDECIDED,
        "c*(H) is algebraic and not zero, so c* e^(c*), the only argument at which W has this "
        "value, is transcendental"
        if refuted
        else "nothing: Lindemann's theorem does not apply",
        "every H >= 1, every branch of W",
        "that W has no place in the theory: a threshold for heads of unequal strengths is a value "
        "of W (at a transcendental argument)",
        "integer polynomial and sign by exact decision; Lindemann's theorem (1882) is cited",
        covers_reading=True,
        counterexample=_lambert_counterexample(settings.digits) if refuted else None,
    )


def _lambert_counterexample(digits: int) -> Counterexample:
    argument = critical_cosine.EXPRESSION * sp.exp(critical_cosine.EXPRESSION)
    text = rounded_ball(lambda: ball_value(argument, {H: Fraction(2)}), digits).text
    return Counterexample(
        {"H": "2"},
        "c*(2) e^(c*(2)), the argument at which W takes the value c*(2) = 1/golden ratio",
        text,
        "it is transcendental by Lindemann's theorem, since c*(2) is algebraic and not zero",
    )


@dataclass(frozen=True)
class SearchStatement:
    """Values in mpmath, by H, whose ``c e^c`` is looked for among algebraic numbers."""

    value: Callable[[int], mpmath.mpf]


_DEGREE, _HEIGHT = 4, 10**4


def check_lambert_search(statement: SearchStatement, settings: Settings) -> Evidence:
    """Look for an integer polynomial that ``c e^c`` solves, by lattice reduction."""
    found = []
    with mpmath.workdps(max(60, settings.digits)):
        for heads in range(1, 7):
            c = statement.value(heads)
            argument = c * mpmath.exp(c)
            powers = [argument**k for k in range(_DEGREE + 1)]
            relation = mpmath.pslq(powers, maxcoeff=_HEIGHT, maxsteps=10**5)
            found.append(relation is not None)
    none = not any(found)
    return Evidence(
        Level.SAMPLED,
        Outcome.REFUTES if none else Outcome.UNDECIDED,
        f"for H = 1 to 6 the number c*(H) e^(c*(H)) solves no integer polynomial of degree "
        f"{_DEGREE} or less with coefficients up to {_HEIGHT}"
        if none
        else "a polynomial was found",
        "H = 1 to 6",
        "anything about polynomials of higher degree or larger coefficients; Lindemann's theorem "
        "covers them",
        "lattice reduction (PSLQ) on numbers of another library",
        counterexample=_lambert_counterexample(settings.digits) if none else None,
        measures={"degree": str(_DEGREE), "coefficients": str(_HEIGHT)},
    )


# -- critical-cosine-forms ------------------------------------------------------------------------


@dataclass(frozen=True)
class Forms:
    """Closed forms of c*(H)."""

    arsinh: sp.Expr = critical_cosine.ARSINH_FORM
    metallic: sp.Expr = critical_cosine.METALLIC_FORM


def check_forms_derivation(forms: Forms, _settings: Settings) -> Evidence:
    """Derive that the stated forms are c*(H), and its quadratic."""
    symbol = critical_cosine.SYMBOL
    return derivation_evidence(
        [critical_cosine.derivation()],
        [
            equation(symbol, forms.arsinh),
            equation(symbol, forms.metallic),
            equation(1 - symbol**2, (H - 1) * symbol),
        ],
        established="c*(H) = exp(-arsinh((H-1)/2)), the reciprocal of the (H-1)-th metallic mean; "
        "it solves 1 - c^2 = (H-1) c",
        domain="every H >= 1",
        does_not_show="any relation to W: there is none at an algebraic argument",
    )


def check_forms_points(forms: Forms, settings: Settings) -> Evidence:
    """Compare both forms with the root of ``1 - c^2 = (H-1) c`` in balls."""
    return pointwise_evidence(
        _form_points(forms, settings.digits),
        established="both forms solve 1 - c^2 = (H-1) c and are positive at every H tried",
        domain="H = 1 to 20, 10^6 and 10^30",
        does_not_show="anything at other H; the exact evidence covers that",
        measures={"digits": str(settings.digits)},
    )


def _form_points(forms: Forms, digits: int) -> Iterator[Point]:
    for heads in (*range(1, 21), 10**6, 10**30):
        for name, form in (("arsinh", forms.arsinh), ("metallic mean", forms.metallic)):

            def compute(form: sp.Expr = form, heads: int = heads) -> tuple[arb, arb]:
                c = ball_value(form, {H: Fraction(heads)})
                return 1 - c * abs(c), (heads - 1) * c

            holds, value = settled_agreement(compute, digits)
            yield Point({"H": str(heads), "form": name}, holds, "1 - c |c| and (H-1) c", value)


# -- the claims -----------------------------------------------------------------------------------

_SIGNED = SignedCase(2, Fraction(1), Fraction(1, 4), (1, -1, -1))
_EXACT_SIGNED = ExactSignedCase(2, sp.Rational(5, 4), (1, -1, -1))
_LAMBERT = LambertStatement(critical_cosine.EXPRESSION, _x**2 + (H - 1) * _x - 1)
_SEARCH = SearchStatement(lambda heads: mpmath.exp(-mpmath.asinh(mpmath.mpf(heads - 1) / 2)))
_FORMS = Forms()
_WRONG_FORMS = (
    (
        "the H-th metallic mean",
        Forms(*(form.subs(H, H + 1) for form in (_FORMS.arsinh, _FORMS.metallic))),
    ),
    ("half of it", replace(_FORMS, arsinh=_FORMS.arsinh / 2)),
    ("the mean itself", replace(_FORMS, metallic=1 / _FORMS.metallic)),
)


def _w_of_reciprocal(heads: int) -> mpmath.mpf:
    return mpmath.lambertw(mpmath.mpf(1) / heads).real


def _w_of_root(heads: int) -> mpmath.mpf:
    return mpmath.lambertw(mpmath.sqrt(heads)).real


CLAIMS = (
    Claim(
        id="critical-cosine-any-sign",
        source="finding (stronger reading of Thm 19)",
        statement=r"for equal scalar heads, Condition 8 holds iff $\cos(f_i, x_i) \le c^*(H)$, "
        "whatever the sign of the cosine",
        reading="as written, equal positive scalar heads, any tokens",
        model="unnormalised",
        hypotheses=("equal positive scalar heads",),
        formulas=("critical-cosine",),
        checkers=(
            Checker(
                "a token opposite to two others",
                check_signed_case,
                _SIGNED,
                (
                    ("cosine 1 instead of -1", replace(_SIGNED, tokens=(1, 1, 1))),
                    ("one head", replace(_SIGNED, heads=1)),
                    (
                        "beta beyond ln(2)/2: the cosine is 1",
                        replace(_SIGNED, temperature=Fraction(1)),
                    ),
                ),
            ),
            Checker(
                "the same exactly",
                check_signed_exact,
                _EXACT_SIGNED,
                (
                    ("cosine 1 instead of -1", replace(_EXACT_SIGNED, tokens=(1, 1, 1))),
                    ("one head", replace(_EXACT_SIGNED, heads=1)),
                    (
                        "beta = ln 2: the cosine is 1",
                        replace(_EXACT_SIGNED, exp_beta=sp.Integer(2)),
                    ),
                ),
            ),
        ),
    ),
    Claim(
        id="critical-cosine-lambert",
        source="Thm 19",
        statement=r"for general $H$, $c^*(H)$ is related to the Lambert $W$ function",
        reading="c*(H) is a value of some branch of W at a non-zero algebraic argument",
        model="none (number theory)",
        hypotheses=("H >= 1 integer",),
        formulas=("critical-cosine",),
        checkers=(
            Checker(
                "Lindemann's theorem",
                check_lambert,
                _LAMBERT,
                (
                    ("the value 0 = W(0)", LambertStatement(sp.S.Zero, _x)),
                    ("ln 2 = W(2 ln 2), transcendental", replace(_LAMBERT, value=sp.log(2))),
                    ("a wrong polynomial", replace(_LAMBERT, polynomial=_x**2 + H * _x - 1)),
                    (
                        "ln 2 and the zero polynomial",
                        replace(_LAMBERT, value=sp.log(2), polynomial=sp.S.Zero),
                    ),
                    ("any real argument", replace(_LAMBERT, algebraic=False)),
                ),
            ),
            Checker(
                "search for a polynomial",
                check_lambert_search,
                _SEARCH,
                (
                    ("W(1/H), whose argument is rational", SearchStatement(_w_of_reciprocal)),
                    ("W(sqrt H), whose argument is a root", SearchStatement(_w_of_root)),
                ),
            ),
        ),
    ),
    Claim(
        id="critical-cosine-forms",
        source="finding (what c*(H) is instead)",
        statement=r"$c^*(H) = \exp(-\mathrm{arsinh}((H-1)/2))$, the reciprocal of the "
        "$(H-1)$-th metallic mean",
        reading="both forms, and 1 - c*^2 = (H-1) c*",
        model="none (algebra)",
        hypotheses=("H >= 1 integer",),
        formulas=("critical-cosine",),
        uses=("critical-cosine",),
        repairs="critical-cosine-lambert",
        checkers=(
            Checker("derivation", check_forms_derivation, _FORMS, _WRONG_FORMS),
            Checker("forms in balls", check_forms_points, _FORMS, _WRONG_FORMS),
        ),
    ),
)
