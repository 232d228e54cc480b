"""A second method for every formula, which shares no form, variable or library with the first.

Each takes exact parameter values and returns a Decimal with at least 40 right digits, an infinite
Decimal for an infinite limit, or None where the formula is not defined. Nothing here may use the
expressions in `symbolic`, or of `numeric` anything but the models word for word in coordinates.
"""

import decimal
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath.ctx_mp import MPContext

from numeric.definitions import Flow, Numbers, inner, scalar_flow

Values = Mapping[str, Any]
Method = Callable[[Values], Decimal | None]


def exact_decimals(digits: int) -> decimal.Context:
    """Return a context of decimal arithmetic that only rounds, to this many digits."""
    return decimal.Context(
        prec=digits,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


def decimal_of(value: Fraction, context: decimal.Context) -> Decimal:
    """Return the decimal nearest to a fraction."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def critical_cosine(values: Values) -> Decimal:
    """The continued fraction [0; m, m, ...] with m = H - 1, in integers."""
    return decimal_of(_metallic(int(values["H"]) - 1, 60), exact_decimals(60))


def _metallic(m: int, digits: int) -> Fraction:
    """Return a convergent of [0; m, m, ...] with more than the digits asked for, relatively."""
    if m == 0:
        return Fraction(1)
    before, last = 0, 1
    # Neighbouring convergents a/b and c/d enclose the limit and differ by 1/(b d).
    while before * last <= 10**digits * (m + 1):
        before, last = last, m * last + before
    return Fraction(before, last)


def sharp_critical_cosine(values: Values) -> Decimal:
    """The integer part of 10^200/sqrt(H), from an integer square root."""
    scaled = isqrt(10**400 // int(values["H"]))
    return exact_decimals(60).scaleb(Decimal(scaled), -200)


def critical_beta(values: Values) -> Decimal:
    """The form as stated, ln(c^2 (n-1)/(1-c^2))/(2 alpha), in decimal with c from integers."""
    if values["H"] == 1:
        return Decimal("Infinity")
    context = exact_decimals(500)
    c = _metallic(int(values["H"]) - 1, 600)
    odds = c**2 * (values["n"] - 1) / (1 - c**2)
    logarithm = context.ln(decimal_of(odds, context))
    return context.divide(logarithm, decimal_of(2 * values["alpha"], context))


def sharp_critical_beta(values: Values) -> Decimal:
    """The difference of two decimal logarithms of integers over 2 alpha."""
    if values["H"] == 1:
        return Decimal("Infinity")
    context = exact_decimals(300)
    tokens, others = (context.log10(Decimal(int(values[k]) - 1)) for k in ("n", "H"))
    scale = context.divide(context.ln(Decimal(10)), decimal_of(2 * values["alpha"], context))
    return context.multiply(context.subtract(tokens, others), scale)


def radial_cosine(values: Values) -> Decimal | None:
    """Sums over explicit tokens for few of them, else the softmax average in decimal."""
    if values["n"] <= 12:
        return radial_cosine_of_tokens(values)
    return radial_cosine_of_average(values)


def radial_cosine_of_tokens(values: Values) -> Decimal | None:
    """Put the tokens at ``x_i = a e_i + b (e_1 + ... + e_n)`` and add up what token 0 sees."""
    context: Any = MPContext()
    context.dps = 700
    n, gamma = int(values["n"]), values["gamma"]
    rate = _mpf(values["lam"] * values["beta"], context)
    a = context.sqrt(_mpf(1 - gamma, context))
    b = (context.sqrt(_mpf(1 + (n - 1) * gamma, context)) - a) / n
    tokens = [[b + a if k == i else b for k in range(n)] for i in range(n)]

    def inner(x: list[Any], y: list[Any]) -> Any:
        return sum((s * t for s, t in zip(x, y, strict=True)), context.mpf(0))

    weights = [context.exp(rate * (inner(tokens[0], token) - 1)) for token in tokens]
    aggregate = [
        sum((w * token[k] for w, token in zip(weights, tokens, strict=True)), context.mpf(0))
        for k in range(n)
    ]
    length = context.sqrt(inner(aggregate, aggregate))
    if length < context.mpf(10) ** -350:
        return None
    cosine = inner(aggregate, tokens[0]) / (length * context.sqrt(inner(tokens[0], tokens[0])))
    return Decimal(context.nstr(cosine, 60))


def radial_cosine_of_average(values: Values) -> Decimal | None:
    """Average with softmax weights: p on the token itself, 1 - p on the centroid of the others."""
    context = exact_decimals(1200)
    n, gamma = values["n"], values["gamma"]
    exponent = -values["lam"] * values["beta"] * (1 - gamma)
    with decimal.localcontext(context):
        weight = decimal_of(exponent, context).exp()
        p = 1 / (1 + int(n - 1) * weight)
        g = decimal_of(gamma, context)
        centroid_square = decimal_of((1 + (n - 2) * gamma) / (n - 1), context)
        square = p * p + 2 * p * (1 - p) * g + (1 - p) ** 2 * centroid_square
        if abs(square) < Decimal(10) ** -1000:
            return None
        return (p + (1 - p) * g) / square.sqrt()


def rate(values: Values) -> Decimal:
    """The early rate of one head."""
    return early_rate({**values, "lam": (values["lam"],)})


def early_rate(values: Values) -> Decimal:
    """The flow of the basis vectors in coordinates for few tokens, else softmax weights."""
    n, beta = int(values["n"]), values["beta"]
    strengths: tuple[Fraction, ...] = values["lam"]
    # Powers of e with different exponents do not cancel (Lindemann and Weierstrass).
    if not any(strengths) or (beta == 0 and sum(strengths) == 0):
        return Decimal(0)
    if n <= 4 and len(strengths) <= 4:
        context = _multiprecision(500)
        tokens = [[context.mpf(k == i) for k in range(n)] for i in range(n)]
        return _decimal(_overlap_rate("softmax", tokens, strengths, beta, context))
    with decimal.localcontext(exact_decimals(420)):
        terms = [
            2 * times * _in_context(strength) / (_in_context(strength * beta).exp() + (n - 1))
            for strength, times in Counter(strengths).items()
        ]
        return sum(terms, Decimal(0))


def rate_peak(values: Values) -> Decimal:
    """The zero of (x-1) e^x = n - 1 in logarithms, between signs."""
    with decimal.localcontext(exact_decimals(60)):
        logarithm = Decimal(int(values["n"]) - 1).ln()
        x: Decimal = zero_between(lambda x: (x - 1).ln() + x - logarithm, Decimal(1), 2 + logarithm)
        return x / _in_context(values["beta"])


def rate_inflection(values: Values) -> Decimal:
    """The zero of x tanh((x - ln(n-1))/2) = 2, the symmetric form, between signs."""
    context = _multiprecision(60)
    logarithm = context.log(int(values["n"]) - 1)
    x = zero_between(
        lambda x: x * context.tanh((x - logarithm) / 2) - 2,
        max(context.mpf(2), logarithm),
        logarithm + 4,
    )
    return _decimal(x / _mpf(values["beta"], context))


def foreign_strength(values: Values) -> Decimal:
    """Where Condition 8's margin vanishes: in coordinates if that is feasible."""
    if values["n"] <= 4 and values["H"] <= 4 and values["beta"] * values["lam"] <= 200:
        return foreign_strength_of_tokens(values)
    return foreign_strength_in_logarithms(values)


def foreign_strength_of_tokens(values: Values) -> Decimal:
    """Look for the zero of the margin of basis vectors under all heads, from the definitions."""
    context = _multiprecision(300)
    n, others = int(values["n"]), int(values["H"]) - 1
    beta, own = _mpf(values["beta"], context), _mpf(values["lam"], context)
    tokens = [[context.mpf(k == i) for k in range(n)] for i in range(n)]
    numbers = Numbers(context.exp, context.sqrt, max)

    def excess(s: Any) -> Any:
        foreign = context.exp(s) / beta
        flow = scalar_flow("unnormalised", tokens, [own, *[foreign] * others], beta, numbers)
        return -flow.condition_8_margin(0, 0) / own**2

    low, high = context.mpf(-1), context.mpf(1)
    while excess(low) > 0:
        low *= 2
    while excess(high) < 0:
        high *= 2
    return _decimal(context.exp(zero_between(excess, low, high)) / beta)


def foreign_strength_in_logarithms(values: Values) -> Decimal:
    """Solve ln(u) + u = ln(power) - ln(length) - ln(H-1) for u = beta mu, in s = ln(u)."""
    beta, score = values["beta"], values["beta"] * values["lam"]
    with decimal.localcontext(exact_decimals(120)):
        tokens, others = int(values["n"]) - 1, int(values["H"]) - 1
        length = (tokens + _in_context(2 * score).exp()).sqrt()
        room = (_in_context(score) * tokens / (length * others)).ln()
        low, high = (Decimal(0), room.ln()) if room > 1 else (room - 3, room)
        s: Decimal = zero_between(lambda s: s + s.exp() - room, low, high)
        return s.exp() / _in_context(beta)


def late_rate(values: Values) -> Decimal:
    """The flow of two tokens in coordinates, so close that more does not show, for few heads."""
    strengths, model, beta = values["lam"], values["model"], values.get("beta", Fraction(1))
    same_weights = model == "softmax" or (model == "unnormalised" and beta == 0)
    # See `early_rate`; under relu negative strengths do nothing.
    counted = [x for x in strengths if x > 0 or model != "relu"]
    if not any(counted) or (same_weights and sum(counted) == 0):
        return Decimal(0)
    if len(strengths) > 8:
        return _late_rate_in_decimal(model, strengths, beta)
    context = _multiprecision(650)
    # Of heads that cancel, 10^-200 is left at least.
    distance = context.mpf(10) ** -290
    half = [context.sqrt(1 - distance / 2), context.sqrt(distance / 2)]
    tokens = [half, [half[0], -half[1]]]
    rate = _overlap_rate(model, tokens, strengths, beta, context) / distance
    return _decimal(rate)


def _late_rate_in_decimal(model: str, strengths: tuple[Fraction, ...], beta: Fraction) -> Decimal:
    with decimal.localcontext(exact_decimals(420)):
        weights: dict[str, Callable[[Fraction], Decimal]] = {
            "softmax": lambda x: Decimal(1),
            "unnormalised": lambda x: _in_context(x * beta).exp(),
            "relu": lambda x: _in_context(max(x, Fraction(0))),
        }
        terms = [2 * k * _in_context(x) * weights[model](x) for x, k in Counter(strengths).items()]
        return sum(terms, Decimal(0))


def exit_overlap(values: Values) -> Decimal:
    """Where the cosine passes c*, in the logarithm of the overlap; few tokens in coordinates."""
    if values["model"] == "relu":
        return Decimal(0)
    n, heads, score = int(values["n"]), int(values["H"]), values["beta"] * values["lam"]
    context = _multiprecision(700)
    bound = _mpf(_metallic(heads - 1, 700), context)
    # Beyond this the cosine at orthonormal tokens is above 1/sqrt(2), and c* is below.
    if score > n.bit_length():
        return Decimal(0)
    if n <= 4 and heads <= 3:

        def excess(overlap: Any) -> Any:
            a = context.sqrt(1 - overlap)
            b = (context.sqrt(1 + (n - 1) * overlap) - a) / n
            tokens = [[a + b if k == i else b for k in range(n)] for i in range(n)]
            numbers = Numbers(context.exp, context.sqrt, max)
            strengths = [_mpf(values["lam"], context)] * heads
            rate = _mpf(values["beta"], context)
            flow = scalar_flow(values["model"], tokens, strengths, rate, numbers)
            return -flow.condition_8_margin(0, 0) / flow.power(0, 0)

    else:

        def excess(overlap: Any) -> Any:
            weight = context.exp(_mpf(score, context) * (1 - overlap))
            p = weight / (weight + n - 1)
            centroid = (1 + (n - 2) * overlap) / (n - 1)
            square = p * p + 2 * p * (1 - p) * overlap + (1 - p) ** 2 * centroid
            return (p + (1 - p) * overlap) ** 2 / (square * bound**2) - 1

    if excess(context.mpf(0)) > 0:
        return Decimal(0)
    return _decimal(_positive_zero(excess, bound**2))


def critical_spread(values: Values) -> Decimal | None:
    """Where two heads mean +- d start as fast as equal ones, in the logarithm of d."""
    context = _multiprecision(900)
    mean, beta, n = (_mpf(values[key], context) for key in ("mean", "beta", "n"))
    x, tokens = beta * mean, n - 1
    boost = context.exp(x)
    # The curvature of the rate function at the mean.
    if (x - 2) * boost <= tokens * (x + 2):
        return None

    def loss(d: Any) -> Any:
        rates = [
            s / (boost * context.exp(beta * (s - mean)) + tokens) for s in (mean - d, mean + d)
        ]
        return 2 * mean - (boost + tokens) * sum(rates)

    # Strong heads: the weaker of the two is so weak that d is the mean to 50 digits.
    if loss(mean * (1 - context.mpf(10) ** -50)) < 0:
        return _decimal(mean)
    return _decimal(_positive_zero(loss, mean))


def _positive_zero(increasing: Callable[[Any], Any], high: Any) -> Any:
    """Return the zero, below ``high``, of a function that is negative before it, to 50 digits."""
    mp = high.context
    top, step = mp.log(high), mp.mpf(1)
    while increasing(mp.exp(top - step)) > 0:
        step *= 2
    return mp.exp(zero_between(lambda s: increasing(mp.exp(s)), top - step, top))


def attention_entropy(values: Values) -> Decimal:
    """The sum of -p ln p over tokens if they are few, else over the two kinds of them."""
    n, score = int(values["n"]), values["lam"] * values["beta"] * (1 - values["gamma"])
    if n <= 12 and abs(score) < 500:
        context = _multiprecision(700)
        weights = [context.exp(_mpf(score, context)), *[context.mpf(1)] * (n - 1)]
        total = sum(weights, context.mpf(0))
        shares = [weight / total for weight in weights]
        return _decimal(-sum((p * context.log(p) for p in shares), context.mpf(0)))
    with decimal.localcontext(exact_decimals(300)):
        odds = (n - 1) * _in_context(-score).exp()
        p, q = 1 / (1 + odds), 1 / (1 + 1 / odds)
        return p * _log1p(odds) + q * (_log1p(1 / odds) + Decimal(n - 1).ln())


def clustering_time(values: Values) -> Decimal:
    """Integrate dgamma/gamma' over the logarithm of the distance to the nearer end of the domain.

    A path has a part near each end; each is integrated by mpmath, halved until that is precise.
    """
    begin, end, n = values["start"], values["stop"], int(values["n"])
    if begin == end:
        return Decimal(0)
    if end in (1, Fraction(-1, n - 1)):
        return Decimal("Infinity")
    context = _multiprecision(90)
    sign = 1 if end > begin else -1
    middle = Fraction(n - 2, 2 * (n - 1))
    low, high = min(begin, end), max(begin, end)
    total = context.mpf(0)
    for part_low, part_high, from_above in (
        (low, min(high, middle), False),
        (max(low, middle), high, True),
    ):
        if part_low < part_high:
            first, last = sorted(
                _distance(x, n, context, from_above) for x in (part_low, part_high)
            )
            time = _time_of(_drive(values, from_above), sign, context)
            total += _integral(time, first, last, context)
        if total == context.inf:
            break
    return Decimal("Infinity") if total == context.inf else _decimal(total)


def _time_of(drive: Callable[[Any], Any], sign: int, context: Any) -> Callable[[Any], Any]:
    """Return the time per distance, for one direction, as a number of a context."""
    return lambda x: context.convert(1 / (sign * drive(x)))


def _distance(gamma: Fraction, n: int, context: Any, from_above: bool) -> Any:
    """Return minus the logarithm of 1 - gamma, or the logarithm of 1 + (n-1) gamma."""
    if from_above:
        return -context.log(_mpf(1 - gamma, context))
    return context.log(_mpf(1 + (n - 1) * gamma, context))


def _drive(values: Values, from_above: bool) -> Callable[[Any], Any]:
    """Return the rate of `_distance` as a function of it, from the rates of gamma of each model.

    Heads of both signs may cancel for hundreds of digits.
    """
    context = _multiprecision(90 if min(values["lam"]) >= 0 else 450)
    n, model = int(values["n"]), values.get("model", "softmax")
    beta = _mpf(values.get("beta", Fraction(1)), context)
    heads = [_mpf(x, context) for x in values["lam"]]

    def drive(distance: Any) -> Any:
        distance = context.convert(distance)
        if from_above:
            eps = context.exp(-distance)
            factor = 2 * (n - (n - 1) * eps)
        else:
            eps = (n - context.exp(distance)) / (n - 1)
            factor = 2 * (n - 1) * eps
        if model == "softmax":
            terms = [lam / (context.exp(beta * lam * eps) + n - 1) for lam in heads]
        elif model == "unnormalised":
            terms = [lam * context.exp(beta * lam * (1 - eps)) / n for lam in heads]
        else:
            terms = [lam * max(0, lam * (1 - eps)) / n for lam in heads]
        return factor * context.fsum(terms)

    return drive


def _integral(integrand: Callable[[Any], Any], low: Any, high: Any, context: Any) -> Any:
    """Return the integral of what is positive by halving; infinite if it is not positive."""
    waiting, total = [(low, high)], context.mpf(0)
    while waiting:
        left, right = waiting.pop()
        points = [left + (right - left) * k / 16 for k in range(17)]
        values = [_reciprocal_sign(integrand, x) for x in points]
        if min(values) <= 0:
            return context.inf
        if right - left > 3:
            waiting += [(left, (left + right) / 2), ((left + right) / 2, right)]
            continue
        # mpmath's estimate of the error is absolute: the integrand is brought to about 1.
        size = integrand(points[8])
        value, error = context.quad(
            lambda x, size=size: integrand(x) / size, [left, right], error=True, maxdegree=5
        )
        if error < context.mpf(10) ** -50 * value:
            total += value * size
        else:
            waiting += [(left, (left + right) / 2), ((left + right) / 2, right)]
    return total


def _reciprocal_sign(integrand: Callable[[Any], Any], x: Any) -> int:
    try:
        return 1 if integrand(x) > 0 else -1
    except ZeroDivisionError:
        return 0


def exit_time(values: Values) -> Decimal:
    """The time of one head to the exit overlap, found by its own method, over the number H."""
    overlap = exit_overlap(values)
    if not overlap:
        return Decimal(0)
    passage = {**values, "lam": (values["lam"],), "start": Fraction(0), "stop": Fraction(overlap)}
    return exact_decimals(60).divide(clustering_time(passage), Decimal(int(values["H"])))


def late_constant(values: Values) -> Decimal | None:
    """Extrapolate ``ln eps + 2 Lambda T``: the time to a gap so small that more does not show."""
    if max(values["lam"]) * values["beta"] > 500 + int(values["n"]).bit_length():
        return None
    gap = Fraction(1, 10**70)
    passage = {**values, "model": "softmax", "start": Fraction(0), "stop": 1 - gap}
    context = _multiprecision(90)
    time = _mpf(Fraction(clustering_time(passage)), context)
    return _decimal(
        context.exp(2 * _mpf(sum(values["lam"], Fraction(0)), context) * time) * _mpf(gap, context)
    )


def _log1p(x: Decimal) -> Decimal:
    """Return ln(1 + x) of a positive number, with its first digits right however small it is."""
    return x - x * x / 2 + x * x * x / 3 if x < Decimal("1e-30") else (1 + x).ln()


def zero_between(increasing: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Return the zero of an increasing function to 50 digits after the point, shown by signs."""
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    width = (low * 0 + 10) ** -50
    before, x = low, high
    value_before, value = increasing(before), increasing(x)
    while abs(x - before) > width / 2:
        before, x = x, x - value * (x - before) / (value - value_before)
        value_before, value = value, increasing(x)
    assert increasing(x - width) < 0 < increasing(x + width)
    return x


def _overlap_rate(
    model: str,
    tokens: list[list[Any]],
    strengths: tuple[Fraction, ...],
    beta: Fraction,
    context: Any,
) -> Any:
    """Return the rate of the overlap of the first two tokens, from the model in coordinates."""
    numbers = Numbers(context.exp, context.sqrt, max)
    flow: Flow = scalar_flow(
        model, tokens, [_mpf(x, context) for x in strengths], _mpf(beta, context), numbers
    )
    rates = flow.token_rates()
    return inner(rates[0], tokens[1]) + inner(tokens[0], rates[1])


def _multiprecision(digits: int) -> Any:
    context: Any = MPContext()
    context.dps = digits
    return context


def _mpf(value: Fraction, context: Any) -> Any:
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _in_context(value: Fraction) -> Decimal:
    """Return the decimal nearest to a fraction, in the context in force."""
    return decimal_of(value, decimal.getcontext())


def _decimal(value: Any) -> Decimal:
    """Return an mpmath number as decimal."""
    return Decimal(value.context.nstr(value, 60))


INDEPENDENT: dict[str, Method] = {
    "critical-cosine": critical_cosine,
    "sharp-critical-cosine": sharp_critical_cosine,
    "critical-beta": critical_beta,
    "sharp-critical-beta": sharp_critical_beta,
    "radial-cosine": radial_cosine,
    "rate": rate,
    "rate-peak": rate_peak,
    "rate-inflection": rate_inflection,
    "foreign-strength": foreign_strength,
    "early-rate": early_rate,
    "late-rate": late_rate,
    "exit-overlap": exit_overlap,
    "critical-spread": critical_spread,
    "attention-entropy": attention_entropy,
    "clustering-time": clustering_time,
    "exit-time": exit_time,
    "late-constant": late_constant,
}
"""The method of each formula; a formula without one fails a test."""
