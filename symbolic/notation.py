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
strengths = sp.IndexedBase("lam", real=True)
"""Strengths of several scalar heads; ``strengths[h]`` is that of head h."""
h = sp.Symbol("h", integer=True, positive=True)
"""Index of a head."""
gamma = sp.Symbol("gamma", real=True)
"""Overlap of two different equiangular tokens."""
start = sp.Symbol("gamma_0", real=True)
"""Overlap at the start of a passage."""
stop = sp.Symbol("gamma_1", real=True)
"""Overlap at the end of a passage."""
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
rate = sp.Function("phi")
"""phi(lam), the early rate of one head under softmax."""
rate_peak = sp.Function("lam_peak")
"""lambda_peak(n, beta), where the rate function is largest."""
rate_inflection = sp.Function("lam_c")
"""lambda_c(n, beta), where the rate function turns from concave to convex."""
foreign_strength = sp.Function("mu_star")
"""Largest strength of H - 1 other heads that leaves Condition 8 of a head intact."""
early_rate = sp.Function("early_rate")
"""gamma' at orthonormal tokens."""
late_rate = sp.Function("late_rate")
"""The limit of gamma'/(1 - gamma) as gamma -> 1."""
clustering_time = sp.Function("T")
"""Time from one overlap to another."""
late_constant = sp.Function("C")
"""The constant C of ``1 - gamma ~ C e^(-2 Lambda t)``."""
exit_time = sp.Function("t_exit")
"""Time at which Condition 8 is first lost."""
exit_overlap = sp.Function("gamma_exit")
"""Overlap at which equal heads that start at orthonormal tokens lose Condition 8."""
mean_strength = sp.Symbol("mean", positive=True)
"""Mean of two strengths ``mean +- spread``."""
critical_spread = sp.Function("delta_c")
"""Half-spread up to which two unequal strengths start faster than equal ones."""
attention_entropy = sp.Function("S")
"""Attention entropy of a token."""

LATEX_NAMES = {
    "lam": r"\lambda",
    "c_star": "c^{*}",
    "c_sharp": r"c_{\sharp}",
    "beta_star": r"\beta^{*}",
    "beta_sharp": r"\beta_{\sharp}",
    "radial_cosine": r"\cos\angle(f_i^h, x_i)",
    "radial_cosine_softmax": r"\cos\angle(\hat f_i^h, x_i)",
    "shadow_softmax": r"\hat a_i^h",
    "f_i_softmax": r"\hat f_i",
    "f_square_softmax": r"|\hat f_i^h|^2",
    "f_norm": r"|f_i^h|",
    "f_square": r"|f_i^h|^2",
    "shadow": "a_i^h",
    "power": r"|P f_i^h|^2",
    "energy_rate": r"\dot E_h",
    "other_shadows": r"\sum_{h' \ne h} |a_i^{h'}|",
    "foreign_shadow": "a_i^{h'}",
    "P_f": "P f_i",
    "phi_slope": r"\phi'",
    "phi_curvature": r"\phi''",
    "g_slope": "g'",
    "entropy_slope": "S'",
    "mu_star": r"\mu^{*}",
    "early_rate": r"r_{\mathrm{early}}",
    "late_rate": r"r_{\mathrm{late}}",
    "late_rate_unnormalised": r"r_{\mathrm{late}}^{\mathrm{unnormalised}}",
    "late_rate_relu": r"r_{\mathrm{late}}^{\mathrm{relu}}",
    "overlap_rate_softmax": r"\dot\gamma_{\mathrm{softmax}}",
    "total_overlap_rate_softmax": r"\dot\gamma_{\mathrm{softmax}}",
    "overlap_rate_unnormalised": r"\dot\gamma_{\mathrm{unnormalised}}",
    "total_overlap_rate_unnormalised": r"\dot\gamma_{\mathrm{unnormalised}}",
    "overlap_rate_relu": r"\dot\gamma_{\mathrm{relu}}",
    "total_overlap_rate_relu": r"\dot\gamma_{\mathrm{relu}}",
    "rate_in_gap_softmax": r"\dot u_{\mathrm{softmax}}",
    "rate_in_gap_unnormalised": r"\dot u_{\mathrm{unnormalised}}",
    "t_exit": r"t_{\mathrm{exit}}",
    "exit_time_unnormalised": r"t_{\mathrm{exit}}^{\mathrm{unnormalised}}",
    "passage_time_softmax": "T_{=}",
    "passage_time_unnormalised": r"T^{\mathrm{unnormalised}}_{=}",
    "slowing_softmax": r"\dot u_{\mathrm{softmax}}'",
    "slowing_unnormalised": r"\dot u_{\mathrm{unnormalised}}'",
    "logit_rate_softmax": r"\dot u_{\mathrm{softmax}}",
    "total_logit_rate_softmax": r"\dot u_{\mathrm{softmax}}",
    "logit_rate_unnormalised": r"\dot u_{\mathrm{unnormalised}}",
    "total_logit_rate_unnormalised": r"\dot u_{\mathrm{unnormalised}}",
    "logit_rate_relu": r"\dot u_{\mathrm{relu}}",
    "total_logit_rate_relu": r"\dot u_{\mathrm{relu}}",
    "logit_rate_of_overlap_softmax": r"\dot u_{\mathrm{softmax}}",
    "logit_rate_of_overlap_unnormalised": r"\dot u_{\mathrm{unnormalised}}",
    "logit_rate_of_overlap_relu": r"\dot u_{\mathrm{relu}}",
    "equal_heads_rate_softmax": r"\dot\gamma_{\mathrm{softmax},=}",
    "equal_heads_rate_unnormalised": r"\dot\gamma_{\mathrm{unnormalised},=}",
    "equal_heads_time_softmax": r"T_{=}",
    "equal_heads_time_unnormalised": r"T^{\mathrm{unnormalised}}_{=}",
    "clustering_time_unnormalised": r"T^{\mathrm{unnormalised}}",
    "clustering_time_relu": r"T^{\mathrm{relu}}",
    "decay_rate_of_overlap": r"\dot s",
    "decay_rate": r"\dot s",
    "total_decay_rate": r"\dot s",
    "decay": "s",
    "decay_time": "T",
    "logarithm_at": r"\ln C",
    "eps": r"\varepsilon",
    "logit": "u",
    "contraction_softmax": r"\kappa_{\mathrm{softmax}}",
    "contraction_unnormalised": r"\kappa_{\mathrm{unnormalised}}",
    "contraction_relu": r"\kappa_{\mathrm{relu}}",
    "ScaledInflection": "x_c",
    "gamma_exit": r"\gamma_{\mathrm{exit}}",
    "ExitOverlap": "g",
    "mean": r"\bar\lambda",
    "excess": r"\Delta",
    "r_slope": "r'",
    "r_curvature": "r''",
    "ScaledSpread": "s_c",
}
"""Declared LaTeX of every name that is not its own LaTeX."""

TEXT_NAMES = {
    "c_star": "c*",
    "beta_star": "beta*",
    "radial_cosine": "cos(f_i^h, x_i)",
    "radial_cosine_softmax": "cos(f_i^h[softmax], x_i)",
    "shadow_softmax": "a_i^h[softmax]",
    "f_i_softmax": "f_i[softmax]",
    "f_square_softmax": "|f_i^h|^2[softmax]",
    "f_norm": "|f_i^h|",
    "f_square": "|f_i^h|^2",
    "shadow": "a_i^h",
    "power": "|P f_i^h|^2",
    "energy_rate": "dE_h/dt",
    "other_shadows": "sum(|a_i^h'|, h' != h)",
    "foreign_shadow": "a_i^h'",
    "P_f": "P f_i",
    "phi_slope": "phi'",
    "phi_curvature": "phi''",
    "g_slope": "g'",
    "entropy_slope": "S'",
    "lam_peak": "lambda_peak",
    "lam_c": "lambda_c",
    "mu_star": "mu*",
    "early_rate": "r_early",
    "late_rate": "r_late",
    "late_rate_unnormalised": "r_late_unnormalised",
    "late_rate_relu": "r_late_relu",
    "overlap_rate_softmax": "gamma'_softmax",
    "total_overlap_rate_softmax": "gamma'_softmax",
    "overlap_rate_unnormalised": "gamma'_unnormalised",
    "total_overlap_rate_unnormalised": "gamma'_unnormalised",
    "overlap_rate_relu": "gamma'_relu",
    "total_overlap_rate_relu": "gamma'_relu",
    "rate_in_gap_softmax": "u'_softmax",
    "rate_in_gap_unnormalised": "u'_unnormalised",
    "exit_time_unnormalised": "t_exit_unnormalised",
    "passage_time_softmax": "T_equal",
    "passage_time_unnormalised": "T_unnormalised_equal",
    "slowing_softmax": "du'/deps_softmax",
    "slowing_unnormalised": "du'/deps_unnormalised",
    "logit_rate_softmax": "u'_softmax",
    "total_logit_rate_softmax": "u'_softmax",
    "logit_rate_unnormalised": "u'_unnormalised",
    "total_logit_rate_unnormalised": "u'_unnormalised",
    "logit_rate_relu": "u'_relu",
    "total_logit_rate_relu": "u'_relu",
    "logit_rate_of_overlap_softmax": "u'_softmax",
    "logit_rate_of_overlap_unnormalised": "u'_unnormalised",
    "logit_rate_of_overlap_relu": "u'_relu",
    "equal_heads_rate_softmax": "gamma'_softmax_equal",
    "equal_heads_rate_unnormalised": "gamma'_unnormalised_equal",
    "equal_heads_time_softmax": "T_equal",
    "equal_heads_time_unnormalised": "T_unnormalised_equal",
    "clustering_time_unnormalised": "T_unnormalised",
    "clustering_time_relu": "T_relu",
    "decay_rate_of_overlap": "s'",
    "decay_rate": "s'",
    "total_decay_rate": "s'",
    "decay": "s",
    "decay_time": "T",
    "logarithm_at": "ln C",
    "logit": "u",
    "contraction_softmax": "kappa_softmax",
    "contraction_unnormalised": "kappa_unnormalised",
    "contraction_relu": "kappa_relu",
    "ScaledInflection": "x_c",
    "ExitOverlap": "g",
    "r_slope": "r'",
    "r_curvature": "r''",
    "ScaledSpread": "s_c",
}
"""How a name is written in plain text, where not as itself."""

OF_STRENGTHS = frozenset(
    {
        "early_rate",
        "late_rate",
        "late_rate_unnormalised",
        "late_rate_relu",
        "T",
        "clustering_time_unnormalised",
        "clustering_time_relu",
        "C",
    }
)
"""Functions that depend on the strengths of all heads, which are written before the arguments."""
