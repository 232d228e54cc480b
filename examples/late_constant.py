"""The end of clustering: 1 - gamma ~ C e^(-late rate t), with C to 40 digits.

The trajectory is certified, so what is left of C's digits at each time is the next term of the
expansion: the gap itself.
"""

import mpmath

import mhflow

case = {"lam": "0.5, 1, 3/2, 2", "beta": 2, "n": 64}
constant = mhflow.evaluate("late-constant", digits=40, **case)
rate = mhflow.evaluate("late-rate", digits=40, lam=case["lam"])
run = mhflow.simulate_equiangular(**case, stop="1-1e-40", points=6, digits=60)

print(f"C = {constant.value}, late rate = {rate.value}")
print(f"{'t':>12} {'1 - gamma':>12}   (1 - gamma) e^(rate t)")
with mpmath.workdps(60):
    for t, gap in zip(run.columns["t"], run.columns["one_minus_gamma"], strict=True):
        scaled = mpmath.mpf(gap) * mpmath.exp(mpmath.mpf(rate.value) * mpmath.mpf(t))
        print(f"{float(t):12.6f} {float(gap):12.3e}   {mpmath.nstr(scaled, 40)}")
