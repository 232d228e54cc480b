"""Chebyshev nodes on [-1, 1], and interpolants and their integrals, for balls and for float64.

The nodes are ``x_k = cos((2k+1) pi/(2m))``, k = 0, ..., m-1. A function is given by its values at
the m nodes, one row for each node; its interpolant is the polynomial of degree below m.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import flint
import numpy as np
from flint import arb, arb_mat

from numeric.simulation import Array

# Neighbouring panels use the same grids; a matrix of balls may be tens of megabytes.
_KEPT = 8


def nodes(m: int) -> list[arb]:
    """Return the m nodes, in descending order, as midpoints at the precision in force."""
    return [(arb(2 * k + 1) / (2 * m)).cos_pi().mid() for k in range(m)]


def integrals_to_nodes(values: arb_mat) -> arb_mat:
    """Return the integrals of the interpolant from -1 to the nodes, one row for each."""
    m, bits = values.nrows(), flint.ctx.prec
    # The product of both matrices is worth while for some uses of few columns, or of many columns.
    if values.ncols() < m // 8:
        return _polynomials_at_nodes(m + 1, m, bits) * _integrated(_coefficients(m, bits) * values)
    return _node_integrals(m, bits) * values


def integrals_to(points: Sequence[arb], values: arb_mat) -> arb_mat:
    """Return the integrals of the interpolant from -1 to points of [-1, 1], one row for each."""
    return _integrals(_polynomials(values.nrows() + 1, points), values)


def at_points(points: Sequence[arb], values: arb_mat) -> arb_mat:
    """Return the interpolant at points of [-1, 1], one row for each."""
    return _interpolant(_polynomials(values.nrows(), points), values)


def at_nodes_of(count: int, values: arb_mat) -> arb_mat:
    """Return the interpolant at the nodes of another grid, one row for each."""
    return _interpolant(_polynomials_at_nodes(values.nrows(), count, flint.ctx.prec), values)


def integrals_to_nodes_of(count: int, values: arb_mat) -> arb_mat:
    """Return the integrals of the interpolant from -1 to the nodes of another grid."""
    return _integrals(_polynomials_at_nodes(values.nrows() + 1, count, flint.ctx.prec), values)


def last_coefficients(values: arb_mat, count: int) -> arb_mat:
    """Return the last Chebyshev coefficients of the interpolant, one row for each."""
    m = values.nrows()
    return arb_mat(count, m, _coefficients(m, flint.ctx.prec).entries()[-count * m :]) * values


@lru_cache(_KEPT)
def nodes_float64(m: int) -> Array:
    """Return the m nodes in float64."""
    return np.asarray(np.cos(np.pi * (2 * np.arange(m) + 1) / (2 * m)), dtype=np.float64)


@lru_cache(_KEPT)
def coefficients_float64(m: int) -> Array:
    """Return the matrix from values at the m nodes to Chebyshev coefficients."""
    angles = np.pi * (2 * np.arange(m) + 1) / (2 * m)
    matrix = np.cos(np.outer(np.arange(m), angles)) * (2 / m)
    matrix[0] /= 2
    return np.asarray(matrix, dtype=np.float64)


@lru_cache(_KEPT)
def integrals_to_nodes_float64(m: int) -> Array:
    """Return the matrix from values at the m nodes to integrals from -1 to each node."""
    return integrals_to_float64(m, nodes_float64(m))


def integrals_to_float64(m: int, points: Array) -> Array:
    """Return the matrix from values at the m nodes to integrals from -1 to points of [-1, 1]."""
    values = np.cos(np.outer(np.arccos(np.clip(points, -1, 1)), np.arange(m + 1)))
    i = np.arange(2, m)
    table = np.empty((len(points), m))
    table[:, 0] = points + 1
    table[:, 1] = (points**2 - 1) / 2
    constants = np.where(i % 2 == 0, 1, -1) / (i * i - 1)
    table[:, 2:] = values[:, 3:] / (2 * (i + 1)) - values[:, 1 : m - 1] / (2 * (i - 1)) - constants
    return np.asarray(table @ coefficients_float64(m))


def _interpolant(polynomials: arb_mat, values: arb_mat) -> arb_mat:
    """Return the interpolant at points with given values of ``T_0, ..., T_(m-1)``."""
    coefficients = _coefficients(values.nrows(), flint.ctx.prec)
    if values.ncols() < polynomials.nrows():
        return polynomials * (coefficients * values)
    return (polynomials * coefficients) * values


def _integrals(polynomials: arb_mat, values: arb_mat) -> arb_mat:
    """Return integrals of the interpolant at points with given values of ``T_0, ..., T_m``."""
    m, bits = values.nrows(), flint.ctx.prec
    if values.ncols() < polynomials.nrows():
        return polynomials * _integrated(_coefficients(m, bits) * values)
    return (polynomials * _integrated_coefficients(m, bits)) * values


@lru_cache(_KEPT)
def _coefficients(m: int, precision: int) -> arb_mat:
    """Return the matrix from values at the m nodes to Chebyshev coefficients."""
    polynomials = _cosines(m, m)
    rows = [[row[i] * 2 / m for row in polynomials] for i in range(m)]
    rows[0] = [entry / 2 for entry in rows[0]]
    return arb_mat(rows).mid()


@lru_cache(_KEPT)
def _integrated_coefficients(m: int, precision: int) -> arb_mat:
    """Return the matrix from values at the m nodes to coefficients of the integral from -1."""
    return _integrated(_coefficients(m, precision))


@lru_cache(_KEPT)
def _node_integrals(m: int, precision: int) -> arb_mat:
    """Return the matrix from values at the m nodes to integrals from -1 to each node."""
    polynomials = _polynomials_at_nodes(m + 1, m, precision)
    return (polynomials * _integrated_coefficients(m, precision)).mid()


def _integrated(coefficients: arb_mat) -> arb_mat:
    """Return the Chebyshev coefficients of the integral from -1, by columns; one row more."""
    zero = [arb(0)] * coefficients.ncols()
    c = [*coefficients.tolist(), zero, zero]
    c[0] = [2 * x for x in c[0]]
    rows = [zero]
    for i in range(1, len(c) - 1):
        half = arb(1) / (2 * i)
        rows.append([((a - b) * half).mid() for a, b in zip(c[i - 1], c[i + 1], strict=True)])
    # T_i(-1) = (-1)^i, so the constant makes the alternating sum vanish.
    rows[0] = [
        sum(column[1::2], arb(0)) - sum(column[2::2], arb(0)) for column in zip(*rows, strict=True)
    ]
    return arb_mat(rows).mid()


@lru_cache(_KEPT)
def _polynomials_at_nodes(m: int, count: int, precision: int) -> arb_mat:
    """Return ``T_0, ..., T_(m-1)`` at the nodes of a grid, one row for each node."""
    return arb_mat(_cosines(m, count))


def _cosines(m: int, count: int) -> list[list[arb]]:
    # T_i(x_k) = cos(i (2k+1) pi/(2 count)) takes 4 count values only.
    turn = 4 * count
    cosines = [(arb(j) / (2 * count)).cos_pi().mid() for j in range(turn)]
    return [[cosines[i * (2 * k + 1) % turn] for i in range(m)] for k in range(count)]


def _polynomials(m: int, points: Sequence[arb]) -> arb_mat:
    """Return ``T_0, ..., T_(m-1)`` at points, one row for each."""
    rows = []
    for x in points:
        # As midpoints: the balls would widen exponentially.
        values = [arb(1), x.mid()]
        while len(values) < m:
            values.append((2 * x * values[-1] - values[-2]).mid())
        rows.append(values[:m])
    return arb_mat(rows)
