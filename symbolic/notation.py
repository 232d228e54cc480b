"""The symbols of the field, under one name each, and how each is written.

Greek symbols go by their English names; ``lam`` is a strength (Python keeps ``lambda`` to itself).
"""

from __future__ import annotations

import sympy as sp

n = sp.Symbol("n", integer=True, positive=True)
"""Number of tokens."""
H = sp.Symbol("H", integer=True, positive=True)
"""Number of heads."""
beta = sp.Symbol("beta", nonnegative=True)
"""Inverse temperature."""
alpha = sp.Symbol("alpha", positive=True)
"""Common strength of equal positive scalar heads."""
lam = sp.Symbol("lam", real=True)
"""Strength of a scalar head."""
gamma = sp.Symbol("gamma", real=True)
"""Overlap of two different equiangular tokens."""
cosine = sp.Symbol("c", real=True)
"""Cosine between the aggregate f_i^h and its token x_i."""

critical_cosine = sp.Function("c_star")
"""c*(H)."""
sharp_critical_cosine = sp.Function("c_sharp")
"""c_sharp(H)."""
critical_beta = sp.Function("beta_star")
"""beta*(n, H, alpha)."""
sharp_critical_beta = sp.Function("beta_sharp")
"""beta_sharp(n, H, alpha)."""
radial_cosine = sp.Function("radial_cosine")
"""cos(f_i, x_i) as a function of (lam, beta, n, gamma)."""

LATEX_NAMES = {
    "lam": r"\lambda",
    "c_star": "c^{*}",
    "c_sharp": r"c_{\sharp}",
    "beta_star": r"\beta^{*}",
    "beta_sharp": r"\beta_{\sharp}",
    "radial_cosine": r"\cos\angle(f_i^h, x_i)",
    "f_norm": r"|f_i^h|",
    "f_square": r"|f_i^h|^2",
    "shadow": "a_i^h",
    "power": r"|P f_i^h|^2",
    "energy_rate": r"\dot E_h",
    "other_shadows": r"\sum_{h' \ne h} |a_i^{h'}|",
}
"""Declared LaTeX of every name that is not its own LaTeX."""

TEXT_NAMES = {
    "c_star": "c*",
    "beta_star": "beta*",
    "radial_cosine": "cos(f_i^h, x_i)",
    "f_norm": "|f_i^h|",
    "f_square": "|f_i^h|^2",
    "shadow": "a_i^h",
    "power": "|P f_i^h|^2",
    "energy_rate": "dE_h/dt",
    "other_shadows": "sum(|a_i^h'|, h' != h)",
}
"""How a name is written in plain text, where not as itself."""
