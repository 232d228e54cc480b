r"""Formulas as LaTeX and as plain text, in the order their author wrote them.

Both printers share one arrangement. Terms and factors keep their order; only what SymPy itself
sorted is made readable: a sum does not start with a minus where a term without one can come first
(``H - 1``, not ``-1 + H``), nor with a number above 1 (``x + 2``, but ``1 + x``); a number that
SymPy multiplied into a sum comes out again (``2 (a + b)``, not ``2 a + 2 b``); a product that is in
SymPy's canonical order goes by numbers, symbols, brackets, functions. Nothing depends on hashes or
on SymPy's ground types.

LaTeX is tight and needs amsmath; in exponents fractions are written with a slash. Text multiplies
by a space (``2 alpha``), so that ``c*(H)`` can be the critical cosine.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from symbolic.implicit import ImplicitFunction
from symbolic.notation import LATEX_NAMES, OF_STRENGTHS, TEXT_NAMES, H, strengths


def latex(subject: sp.Basic) -> str:
    """Return an expression or a relation as LaTeX for math mode (without dollar signs)."""
    return str(_Latex().doprint(subject))


def text(subject: sp.Basic) -> str:
    """Return an expression or a relation as one line of plain ASCII text."""
    return str(_Text().doprint(subject))


def where_latex(subject: sp.Basic) -> str | None:
    r"""Return what defines the implicit functions in ``subject``, as LaTeX; None without any.

    It reads "x = x_c(n) > 2 solves ... = 0" and needs amsmath's ``\text``.
    """
    return _where(subject, latex, r" \text{ solves } ")


def where_text(subject: sp.Basic) -> str | None:
    """Return what defines the implicit functions in ``subject``, as text; None without any."""
    return _where(subject, text, " solves ")


def _where(subject: sp.Basic, write: Callable[[sp.Basic], str], solves: str) -> str | None:
    definitions = []
    for function in sorted(subject.atoms(ImplicitFunction), key=sp.default_sort_key):
        given = function.definition
        here = dict(zip(given.arguments, function.args, strict=True))
        root = f"{write(given.variable)} = {write(function)} > {write(given.lower)}"
        definitions.append(root + solves + write(given.equation.xreplace(here)))
    return ", ".join(definitions) or None


_FUNCTIONS = {"log": "ln", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh"}
_LATEX_OPERATORS = {"ln", "sinh", "cosh", "tanh", "sin", "cos", "tan", "max", "min", "exp"}
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|"
    "upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_LATEX_RELATIONS = {"==": "=", "<=": r"\le", ">=": r"\ge", "<": "<", ">": ">", "!=": r"\ne"}
_TALL = re.compile(r"\\(frac|sum|int|left|begin)(?![A-Za-z])")


class _Arranged(ABC):
    """The arrangement that both printers share; mixed in before a printer of SymPy."""

    plus: str
    minus: str
    _print: Callable[[sp.Basic], str]

    @abstractmethod
    def _name(self, name: str) -> str:
        """Return how a name is written."""

    @abstractmethod
    def _brackets(self, body: str) -> str: ...

    @abstractmethod
    def _fraction(self, over: str, under: str, *, simple: tuple[bool, bool]) -> str:
        """Return a fraction; ``simple`` tells which parts need no brackets on one line."""

    @abstractmethod
    def _root(self, body: str) -> str: ...

    @abstractmethod
    def _raised(self, base: str, exponent: sp.Expr) -> str: ...

    @abstractmethod
    def _times(self, factors: Sequence[str]) -> str: ...

    @abstractmethod
    def _operator(self, name: str) -> str:
        """Return how a known function's name is written."""

    @abstractmethod
    def _relation_sign(self, sign: str) -> str: ...

    @abstractmethod
    def _inner(self, arguments: str) -> str: ...

    @abstractmethod
    def _in_time(self, body: str) -> str:
        """Return the derivative of a quantity in time."""

    @abstractmethod
    def _listed_from_one(self, body: str, last: str) -> str:
        """Return all components of a list, by the written name of the list and its length."""

    # Sums

    def _print_Add(self, subject: sp.Add, order: object = None) -> str:
        if _number_and_sum(subject) is not None:
            return self._quotient(subject)[1]
        parts = [self._signed(term) for term in _terms(subject)]
        line = ("-" if parts[0][0] else "") + parts[0][1]
        return line + "".join(
            (self.minus if negative else self.plus) + body for negative, body in parts[1:]
        )

    def _signed(self, term: sp.Expr) -> tuple[bool, str]:
        """Return whether a term has a leading minus, and its text without it."""
        if term.is_Mul or term.is_Add or _is_reciprocal(term) or term.is_Rational:
            return self._quotient(term, bare_sum=False)
        return False, self._print(term)

    # Products

    def _print_Mul(self, subject: sp.Expr) -> str:
        negative, body = self._quotient(subject)
        return "-" + body if negative else body

    _print_Rational = _print_Integer = _print_Mul

    def _quotient(self, subject: sp.Expr, *, bare_sum: bool = True) -> tuple[bool, str]:
        """Return sign and body; a body that is one sum has brackets after a sign."""
        negative, over, under = _split(subject)
        if not under and len(over) == 1 and over[0].is_Add and (negative or not bare_sum):
            return negative, self._bracketed(over[0])
        if not under:
            return negative, self._product(over)
        simple = (_is_simple(over), len(under) == 1 and _is_factor(under[0]))
        return negative, self._fraction(self._product(over), self._product(under), simple=simple)

    def _product(self, factors: Sequence[sp.Expr]) -> str:
        if not factors:
            return "1"
        if len(factors) == 1:
            only = factors[0]
            return str(int(only)) if only.is_Integer else self._print(only)
        return self._times([self._factor(factor, last=factor is factors[-1]) for factor in factors])

    def _factor(self, factor: sp.Expr, *, last: bool) -> str:
        if factor.is_Integer and factor >= 0:
            return str(int(factor))
        swallows = _is_open_ended(factor) and not last
        bare = _is_factor(factor) or _is_plain_product(factor)
        return self._print(factor) if bare and not swallows else self._bracketed(factor)

    def _bracketed(self, subject: sp.Basic) -> str:
        return self._brackets(self._print(subject))

    # Powers

    def _print_Pow(self, subject: sp.Pow, rational: bool = False) -> str:
        base, exponent = subject.args
        if _is_reciprocal(subject):
            return self._print_Mul(subject)
        if exponent == sp.S.Half:
            return self._root(self._print(base))
        if exponent == 1:
            return self._print(base)
        return self._raised(self._base(base), exponent)

    def _base(self, base: sp.Expr) -> str:
        written = self._print(base)
        if isinstance(base, AppliedUndef | ImplicitFunction):
            bare = not _holds_arguments(self._name(base.func.__name__))
        elif base.is_Symbol or isinstance(base, sp.Indexed):
            bare = "^" not in written or (written[0] == written[-1] == "|")
        else:
            bare = (base.is_Integer and base >= 0) or isinstance(base, sp.Abs)
        return written if bare else self._brackets(written)

    def _print_exp(self, subject: sp.exp, exponent: object = None) -> str:
        if _is_reciprocal(subject):
            return self._print_Mul(subject)
        if subject.has(sp.Integral):
            # Too tall for an exponent.
            return self._operator("exp") + self._brackets(self._print(subject.args[0]))
        return "e" if subject.args[0] == 1 else self._raised("e", subject.args[0])

    def _print_ExpBase(self, subject: sp.exp, exponent: object = None) -> str:
        return self._print_exp(subject)

    def _print_Exp1(self, subject: sp.Expr, exponent: object = None) -> str:
        return "e"

    # Functions, relations

    def _print_Symbol(self, subject: sp.Symbol, style: object = None) -> str:
        return self._name(subject.name)

    def _print_Indexed(self, subject: sp.Indexed) -> str:
        return self._name(f"{subject.base}_{','.join(map(str, subject.indices))}")

    def _print_IndexedBase(self, subject: sp.IndexedBase) -> str:
        first, last = (self._print(subject[index]) for index in (1, H))
        return self._listed_from_one(first, last)

    def _print_Function(self, subject: sp.Function, exponent: object = None) -> str:
        known = type(subject).__name__
        arguments = self._listed(subject.args)
        if not isinstance(subject, AppliedUndef | ImplicitFunction):
            return self._operator(_FUNCTIONS.get(known, known)) + self._brackets(arguments)
        if known == "inner":
            return self._inner(arguments)
        if known == "pair_rate":
            return self._in_time(self._inner(arguments))
        if known in OF_STRENGTHS:
            arguments = self._listed((strengths, *subject.args))
        name = self._name(known)
        # cos(f, x) as a function of parameters: cos(f, x; parameters).
        if _holds_arguments(name):
            return f"{name[:-1]}; {arguments})"
        return name + self._brackets(arguments)

    def _print_log(self, subject: sp.log, exponent: object = None) -> str:
        return self._print_Function(subject)

    def _print_Ei(self, subject: sp.Ei, exponent: object = None) -> str:
        return self._print_Function(subject)

    def _print_Max(self, subject: sp.Expr, exponent: object = None) -> str:
        # SymPy keeps these arguments in a set.
        arguments = ", ".join(sorted(self._print(argument) for argument in subject.args))
        return self._operator(type(subject).__name__.lower()) + self._brackets(arguments)

    _print_Min = _print_Max

    def _listed(self, arguments: Sequence[sp.Basic]) -> str:
        return ", ".join(self._print(argument) for argument in arguments)

    def _print_Relational(self, subject: sp.Rel) -> str:
        sign = self._relation_sign(subject.rel_op)
        return f"{self._print(subject.lhs)} {sign} {self._print(subject.rhs)}"


class _Latex(_Arranged, LatexPrinter):  # type: ignore[misc]  # SymPy has no types
    plus, minus = "+", "-"

    def _name(self, name: str) -> str:
        if name in LATEX_NAMES:
            return LATEX_NAMES[name]
        head, _, index = name.partition("_")
        is_greek = _GREEK.fullmatch(head) is not None
        letter = LATEX_NAMES.get(head, rf"\{head}" if is_greek else head)
        if is_greek or len(head) == 1 or head in LATEX_NAMES:
            is_word = len(index) > 1 and index.isalpha()
            index = rf"\mathrm{{{index}}}" if is_word else index
            return letter + (_script("_", index) if index else "")
        return r"\mathrm{" + name.replace("_", r"\_") + "}"

    def _brackets(self, body: str) -> str:
        return rf"\left({body}\right)" if _TALL.search(body) else f"({body})"

    def _fraction(self, over: str, under: str, *, simple: tuple[bool, bool]) -> str:
        return rf"\frac{{{over}}}{{{under}}}"

    def _root(self, body: str) -> str:
        return rf"\sqrt{{{body}}}"

    def _raised(self, base: str, exponent: sp.Expr) -> str:
        return base + _script("^", _LatexOnOneLine().doprint(exponent))

    def _times(self, factors: Sequence[str]) -> str:
        line = factors[0]
        for factor in factors[1:]:
            if factor[0].isdigit():
                line += r" \cdot "
            elif factor[0].isalpha() and re.search(r"\\[A-Za-z]+$", line):
                line += " "
            line += factor
        return line

    def _operator(self, name: str) -> str:
        return rf"\{name}" if name in _LATEX_OPERATORS else rf"\operatorname{{{name}}}"

    def _relation_sign(self, sign: str) -> str:
        return _LATEX_RELATIONS[sign]

    def _inner(self, arguments: str) -> str:
        return rf"\langle {arguments}\rangle"

    def _in_time(self, body: str) -> str:
        return rf"\frac{{d}}{{dt}}{body}"

    def _listed_from_one(self, body: str, last: str) -> str:
        return rf"{body}, \dots, {last}"

    def _print_Derivative(self, subject: sp.Derivative) -> str:
        (variable, order), *_ = subject.variable_count
        sign = "d" if len(subject.expr.args) == 1 else r"\partial"
        power = "" if order == 1 else _script("^", self._print(order))
        over = self._times([sign + power, self._print(subject.expr)])
        return rf"\frac{{{over}}}{{{self._times([sign, self._print(variable)])}{power}}}"

    def _print_Abs(self, subject: sp.Abs, exponent: object = None) -> str:
        body = self._print(subject.args[0])
        return rf"\left|{body}\right|" if _TALL.search(body) else f"|{body}|"

    def _print_LambertW(self, subject: sp.LambertW, exponent: object = None) -> str:
        branch = self._print(subject.args[1]) if len(subject.args) == 2 else "0"
        return "W" + _script("_", branch) + self._brackets(self._print(subject.args[0]))

    def _print_Integral(self, subject: sp.Integral) -> str:
        ((variable, lower, upper),) = subject.limits
        ends = _script("_", self._print(lower), braces=True) + _script(
            "^", self._print(upper), braces=True
        )
        body = self._print(subject.function)
        if subject.function.is_Add:
            body = self._brackets(body)
        return rf"\int{ends} {body}\,d{self._print(variable)}"

    def _print_KroneckerDelta(self, subject: sp.KroneckerDelta, exponent: object = None) -> str:
        indices = [self._print(index) for index in subject.args]
        separator = "" if all(len(index) == 1 for index in indices) else ","
        return _script(r"\delta_", separator.join(indices), braces=True)

    def _print_Sum(self, subject: sp.Sum) -> str:
        signs = "".join(
            rf"\sum_{{{self._print(index)}={self._print(first)}}}^{{{self._print(last)}}} "
            for index, first, last in subject.limits
        )
        body = subject.function
        bare = _split(body)[2] or isinstance(body, sp.Sum)
        return signs + (self._print(body) if bare else self._factor(body, last=True))


class _LatexOnOneLine(_Latex):
    """LaTeX for exponents: fractions with a slash."""

    def _fraction(self, over: str, under: str, *, simple: tuple[bool, bool]) -> str:
        return _slashed(over, under, simple)


class _Text(_Arranged, StrPrinter):  # type: ignore[misc]  # SymPy has no types
    plus, minus = " + ", " - "
    # Not how objects would print themselves.
    printmethod = None

    def _name(self, name: str) -> str:
        return TEXT_NAMES.get(name, name)

    def _brackets(self, body: str) -> str:
        return f"({body})"

    def _fraction(self, over: str, under: str, *, simple: tuple[bool, bool]) -> str:
        return _slashed(over, under, simple)

    def _root(self, body: str) -> str:
        return f"sqrt({body})"

    def _raised(self, base: str, exponent: sp.Expr) -> str:
        written = self._print(exponent)
        return f"{base}^{written}" if re.fullmatch(r"\w+", written) else f"{base}^({written})"

    def _times(self, factors: Sequence[str]) -> str:
        line = factors[0]
        for factor in factors[1:]:
            line += (" * " if factor[0].isdigit() else " ") + factor
        return line

    def _operator(self, name: str) -> str:
        return name

    def _relation_sign(self, sign: str) -> str:
        return "=" if sign == "==" else sign

    def _inner(self, arguments: str) -> str:
        return f"<{arguments}>"

    def _in_time(self, body: str) -> str:
        return f"d{body}/dt"

    def _listed_from_one(self, body: str, last: str) -> str:
        return f"{body}, ..., {last}"

    def _print_Derivative(self, subject: sp.Derivative) -> str:
        (variable, order), *_ = subject.variable_count
        power = "" if order == 1 else f"^{self._print(order)}"
        return f"d{power}/d{self._print(variable)}{power} {self._print(subject.expr)}"

    def _print_Abs(self, subject: sp.Abs, exponent: object = None) -> str:
        return f"|{self._print(subject.args[0])}|"

    def _print_LambertW(self, subject: sp.LambertW, exponent: object = None) -> str:
        branch = self._print(subject.args[1]) if len(subject.args) == 2 else "0"
        return f"W_{branch}({self._print(subject.args[0])})"

    def _print_Integral(self, subject: sp.Integral) -> str:
        ((variable, lower, upper),) = subject.limits
        ends = f"{self._print(variable)}={self._print(lower)}..{self._print(upper)}"
        return f"integral({self._print(subject.function)}, {ends})"

    def _print_KroneckerDelta(self, subject: sp.KroneckerDelta) -> str:
        return f"delta({self._listed(subject.args)})"

    def _print_Sum(self, subject: sp.Sum) -> str:
        ranges = ", ".join(
            f"{self._print(index)}={self._print(first)}..{self._print(last)}"
            for index, first, last in subject.limits
        )
        return f"sum({self._print(subject.function)}, {ranges})"

    def _print_Infinity(self, subject: sp.Expr) -> str:
        return "inf"

    def _print_NegativeInfinity(self, subject: sp.Expr) -> str:
        return "-inf"


def _terms(subject: sp.Add) -> list[sp.Expr]:
    """Return the terms, with one that has no leading minus in front where there is one."""
    terms = list(subject.args)
    if terms[0].is_Rational and terms[0] > 1 and not _has_minus(terms[1]):
        # SymPy puts the number first, where people put it last, but for 1.
        terms = [*terms[1:], terms[0]]
    plain = [term for term in terms if not _has_minus(term)]
    if not plain or plain[0] is terms[0]:
        return terms
    if terms[0].is_number:
        return [*terms[1:], terms[0]] if terms[1] is plain[0] else _led_by(plain[0], terms)
    return _led_by(plain[0], terms)


def _led_by(leader: sp.Expr, terms: list[sp.Expr]) -> list[sp.Expr]:
    return [leader, *(term for term in terms if term is not leader)]


def _has_minus(term: sp.Expr) -> bool:
    return (term.is_Mul or bool(term.is_Rational)) and _split(term)[0]


def _split(subject: sp.Expr) -> tuple[bool, list[sp.Expr], list[sp.Expr]]:
    """Return sign, numerator and denominator of a product, with no factor 1 and no sign left."""
    negative = False
    over: list[sp.Expr] = []
    under: list[sp.Expr] = []
    for factor in _factors(subject):
        if factor.is_Rational:
            negative ^= bool(factor.p < 0)
            over += [sp.Integer(abs(factor.p))] if abs(factor.p) != 1 else []
            under += [sp.Integer(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, sp.exp) and _is_reciprocal(factor):
            under.append(sp.exp(-factor.args[0]))
        elif _is_reciprocal(factor):
            base, exponent = factor.args
            if exponent == -1 and base.is_Add:
                _, upper, lower = _split(base)
                over, under = over + lower, under + upper
                continue
            under.append(base if exponent == -1 else sp.Pow(base, -exponent, evaluate=False))
        else:
            over.append(factor)
    return negative, over, under


def _factors(subject: sp.Expr) -> list[sp.Expr]:
    if subject.is_Add:
        return list(_number_and_sum(subject) or [subject])
    if not subject.is_Mul:
        return [subject]
    factors = list(subject.args)
    if sp.Mul(*factors).args == subject.args:
        factors.sort(key=_place)
    return [part for factor in factors for part in _factors(factor)]


def _number_and_sum(subject: sp.Add) -> tuple[sp.Rational, sp.Add] | None:
    """Undo that SymPy multiplied a number into a sum; None where it did not."""
    numbers = {abs(term.as_coeff_Mul()[0]) for term in subject.args}
    number = numbers.pop()
    if numbers or number == 1 or sp.Add(*subject.args).args != subject.args:
        return None
    return number, sp.Add(*(term / number for term in subject.args), evaluate=False)


def _place(factor: sp.Expr) -> tuple[int, str, str]:
    """Return where a factor goes in a product that SymPy sorted; symbols by the alphabet."""
    base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
    if base.is_number and not isinstance(base, sp.exp):
        return 0, "", ""
    if _is_open_ended(base):
        return 4, "", ""
    if base.is_Symbol or isinstance(base, sp.Indexed):
        return 1, base.name.lower(), base.name
    if isinstance(base, sp.Abs):
        return 1, "~", ""
    return 2 if base.is_Add else 3, "", ""


def _is_open_ended(factor: sp.Expr) -> bool:
    """Tell whether a factor would swallow the factors after it: a sum sign, an integral."""
    if factor.is_Symbol:
        return LATEX_NAMES.get(factor.name, "").startswith(r"\sum")
    return isinstance(factor, sp.Sum | sp.Integral)


def _is_reciprocal(factor: sp.Expr) -> bool:
    is_power = factor.is_Pow or isinstance(factor, sp.exp)
    return bool(is_power and factor.exp.is_Rational and factor.exp < 0)


def _is_factor(subject: sp.Expr) -> bool:
    """Tell whether an expression needs no brackets in a product."""
    if subject.is_Rational:
        return bool(subject.is_Integer and subject >= 0)
    if isinstance(subject, sp.Add | sp.Mul | sp.Sum | sp.Integral | sp.Piecewise | sp.Rel):
        return isinstance(subject, sp.Sum | sp.Integral)
    return not _is_reciprocal(subject)


def _is_plain_product(subject: sp.Expr) -> bool:
    negative, _, under = _split(subject)
    return bool(subject.is_Mul) and not negative and not under


def _is_simple(over: Sequence[sp.Expr]) -> bool:
    """Tell whether a numerator on one line needs no brackets."""
    return len(over) != 1 or not isinstance(over[0], sp.Add | sp.Sum | sp.Integral | sp.Rel)


def _slashed(over: str, under: str, simple: tuple[bool, bool]) -> str:
    above, below = (
        part if bare else f"({part})" for part, bare in zip((over, under), simple, strict=True)
    )
    return f"{above}/{below}"


def _holds_arguments(name: str) -> bool:
    """Tell whether a function's written name already ends in arguments."""
    return name.endswith(")")


def _script(mark: str, body: str, *, braces: bool = False) -> str:
    return f"{mark}{body}" if len(body) == 1 and not braces else f"{mark}{{{body}}}"
