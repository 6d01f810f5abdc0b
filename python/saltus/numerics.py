"""Complementarity problems on their own::

    find z, w:   w = M z + q,    (z, w) in the graph of its law, block by block

A solver proposes an answer; `residual`, which no solver can replace, says how far it is from a
solution, and only then is it called solved.

The unknowns of contacts come contact by contact, the normal component first; ``z`` are their
reactions (called ``r`` below) and ``w`` their velocities (``u``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import Array, count
from saltus._blocks import Description, blocks_of
from saltus._errors import InputError, SolverError, did_you_mean
from saltus._functions import Map, maps_of
from saltus._problem import Problem, matrix_of, spread, vector_of
from saltus._settings import DEFAULTS, from_text
from saltus.solvers import Solver
from saltus.uniqueness import Uniqueness

__all__ = [
    "AllSolutions",
    "Attempt",
    "Physical",
    "Problem",
    "QpSolution",
    "QuadraticProgram",
    "Solution",
    "Uniqueness",
    "VariationalInequality",
    "VariationalSolution",
    "all_solutions",
    "avi",
    "box",
    "class_figure",
    "friction2d",
    "friction3d",
    "global_friction2d",
    "global_friction3d",
    "global_rolling3d",
    "lcp",
    "mcp",
    "mlcp",
    "ncp",
    "physical",
    "problem",
    "qp",
    "read",
    "relay",
    "residual",
    "rolling",
    "second_order",
    "solve",
    "uniqueness",
    "vi",
]


class Attempt(NamedTuple):
    """One try of a portfolio."""

    solver: str
    """The method."""
    status: str
    """How it ended: as `Solution.reason`."""
    residual: float
    """The residual it reached."""


@dataclass(frozen=True)
class Solution:
    """An answer with its quality."""

    z: Array
    """The unknowns."""
    w: Array
    """``M z + q``, or ``F(z)``."""
    residual: float
    """The verified residual; see `residual`."""
    iterations: int
    """Iterations of the method: modes tried, pivots, sweeps."""
    seconds: float
    """Seconds of wall time."""
    status: str
    """``"solved"``, ``"max_iter"``, ``"infeasible"`` (proved) or ``"diverged"``."""
    solver: str
    """The method that gave the answer."""
    worst: int
    """The unknown with the largest share of the residual."""
    attempts: list[Attempt] = field(default_factory=list)
    """What was tried, in order."""
    reason: str = ""
    """The status in more words: as `status`, or ``"stalled"`` (no progress any more), ``"ill_scaled"``
    (stalled, and only round-off is left: choose other units), ``"interrupted"``, ``"ray"`` (Lemke's
    method ended on a ray that proves nothing), ``"unbounded"`` (of a quadratic program)."""
    history: Array = field(default_factory=lambda: np.zeros(0))
    """The residuals measured on the way, at most 128: of more, every second, fourth, … is kept."""
    unique: Uniqueness | None = None
    """Whether it is the only answer, where that was asked for (``solve(..., unique=True)``)."""

    @property
    def solved(self) -> bool:
        """Whether the status is ``"solved"``."""
        return self.status == "solved"


@dataclass(frozen=True, kw_only=True)
class QpSolution(Solution):
    """An answer of a quadratic program. ``z`` are its variables and the unknowns of its
    constraints, in the order of the problem that was solved; see `qp`."""

    x: Array
    """The variables."""
    y: Array
    """The multipliers, one a row of ``A``: what the optimum gains by a bound. Positive where the
    lower bound holds ``A x``, negative where the upper one does, zero between them."""
    objective: float
    """``½ xᵀ P x + cᵀ x``"""


@dataclass(frozen=True, kw_only=True)
class VariationalSolution(Solution):
    """An answer of a variational inequality over a polyhedron. ``z`` are its variables and the
    multipliers of its rows, in the order of the problem that was solved; see `avi`."""

    x: Array
    """The point of the polyhedron."""
    y: Array
    """The multipliers: one a row of ``A``, not negative, then one a row of ``E``."""


class Physical(NamedTuple):
    """What an answer means for the contacts of a problem: the largest violation of each part of
    the law of friction, in the units of the problem. All are zero at a solution."""

    gap: float
    """Penetration velocity, ``−u_N``."""
    cone: float
    """Reaction outside its cone, ``‖r_T‖ − μ r_N``; for rolling ``‖r_R‖ − μ_r r_N`` likewise."""
    complementarity: float
    """Work that should not be, ``|r_N u_N|``."""
    dissipation_angle: float
    """The angle (radians) between the friction of a sliding contact and ``−u_T``, the direction
    of maximal dissipation."""


class AllSolutions(list[Solution]):
    """The distinct solutions, a list.

    Attributes
    ----------
    singular_modes : int
        Modes whose linear system is singular: they may hold further solutions, or families.
    modes : int
        Modes in all.
    """

    singular_modes: int = 0
    modes: int = 0


def lcp(M: Any, q: ArrayLike) -> Problem:
    """The linear complementarity problem ``0 ≤ w = M z + q ⟂ z ≥ 0``.

    Parameters
    ----------
    M : (n, n) array_like or SciPy sparse
    q : (n,) array_like
    """
    return Problem(_saltus.lcp_problem(matrix_of(M, "M"), vector_of(q, "q")), "lcp")


def mlcp(M: Any, q: ArrayLike, equalities: int) -> Problem:
    """The mixed problem: in the first `equalities` rows ``w = 0`` and ``z`` is free, in the
    others ``0 ≤ w ⟂ z ≥ 0``."""
    equalities = count(equalities, "equalities")
    core = _saltus.mlcp_problem(matrix_of(M, "M"), vector_of(q, "q"), equalities)
    return Problem(core, "mlcp")


def box(M: Any, q: ArrayLike, lower: ArrayLike = -1.0, upper: ArrayLike = 1.0) -> Problem:
    """The box problem ``−(M z + q) ∈ N_[lower, upper](z)``: ``z = lower`` where ``w > 0``,
    ``z = upper`` where ``w < 0``, between them where ``w = 0``.

    Parameters
    ----------
    M : (n, n) array_like or SciPy sparse
    q : (n,) array_like
    lower, upper : float or (n,) array_like
        ``-inf`` and ``inf`` mean no bound.
    """
    return _boxed(M, q, lower, upper, "box")


def relay(M: Any, q: ArrayLike, lower: ArrayLike = -1.0, upper: ArrayLike = 1.0) -> Problem:
    """The relay problem: the same as `box`."""
    return _boxed(M, q, lower, upper, "relay")


def friction2d(W: Any, q: ArrayLike, mu: ArrayLike) -> Problem:
    """Contacts with Coulomb friction in the plane, two components each, normal and tangent; the
    law is that of `friction3d`."""
    return _contacts(W, q, "coulomb2", 2, mu, None, "fc2d")


def friction3d(W: Any, q: ArrayLike, mu: ArrayLike) -> Problem:
    """Contacts with Coulomb friction in space, three components each, normal and two tangents::

        u = W r + q,     0 ≤ u_N ⟂ r_N ≥ 0,     ‖r_T‖ ≤ μ r_N,     r_T = −μ r_N u_T/‖u_T‖ if u_T ≠ 0

    Parameters
    ----------
    W : (3n, 3n) array_like or SciPy sparse
        For n contacts.
    q : (3n,) array_like
        The velocities without reactions.
    mu : float or (n,) array_like
        The coefficients of friction.
    """
    return _contacts(W, q, "coulomb3", 3, mu, None, "fc3d")


def rolling(
    W: Any, q: ArrayLike, mu: ArrayLike, mu_r: ArrayLike, dim: int | None = None
) -> Problem:
    """Contacts with Coulomb friction and rolling resistance: `friction3d` with, in addition,
    moments ``r_R`` and rolling velocities ``u_R``::

        ‖r_R‖ ≤ μ_r r_N,     r_R = −μ_r r_N u_R/‖u_R‖ if u_R ≠ 0

    In the plane a contact has three components (normal, tangent, moment), in space five (normal,
    two tangents, two moments).

    Parameters
    ----------
    W : array_like or SciPy sparse
    q : array_like
    mu : float or (n,) array_like
        The coefficients of friction.
    mu_r : float or (n,) array_like
        The coefficients of rolling resistance, lengths.
    dim : 2 or 3, optional
        The plane or space; unless given, what the lengths of `q`, `mu` and `mu_r` allow.
    """
    dim = _dimension(len(vector_of(q, "q")), mu, mu_r) if dim is None else count(dim, "dim")
    if dim not in (2, 3):
        raise InputError(f"`dim` = {dim}, expected 2 or 3")
    if dim == 2:
        return _contacts(W, q, "rolling2", 3, mu, mu_r, "rfc2d")
    return _contacts(W, q, "rolling3", 5, mu, mu_r, "rfc3d")


def global_friction2d(M: Any, H: Any, f: ArrayLike, b: ArrayLike, mu: ArrayLike) -> Problem:
    """`friction2d` with the mass and ``H`` in place of ``W``; see `global_friction3d`."""
    return _global(M, H, f, b, "coulomb2", 2, mu, None, "gfc2d")


def global_friction3d(M: Any, H: Any, f: ArrayLike, b: ArrayLike, mu: ArrayLike) -> Problem:
    """`friction3d` with the mass and ``H`` in place of ``W = Hᵀ M⁻¹ H``::

        M v = f + H r,     u = Hᵀ v + b,     (r, u) as in `friction3d`

    The solution has ``z = r`` and ``w = u``; ``v`` is `Problem.velocity` of ``z``.

    Parameters
    ----------
    M : (m, m) array_like or SciPy sparse
        The mass, invertible.
    H : (m, 3n) array_like or SciPy sparse
        For n contacts.
    f : (m,) array_like
    b : (3n,) array_like
    mu : float or (n,) array_like
        The coefficients of friction.
    """
    return _global(M, H, f, b, "coulomb3", 3, mu, None, "gfc3d")


def global_rolling3d(
    M: Any, H: Any, f: ArrayLike, b: ArrayLike, mu: ArrayLike, mu_r: ArrayLike
) -> Problem:
    """`rolling` in space with the mass and ``H`` in place of ``W``; see `global_friction3d`."""
    return _global(M, H, f, b, "rolling3", 5, mu, mu_r, "grfc3d")


def second_order(M: Any, q: ArrayLike, sizes: Sequence[int], mu: ArrayLike = 1.0) -> Problem:
    """The second-order cone problem ``K* ∋ w = M z + q ⟂ z ∈ K`` with a product ``K`` of cones
    ``‖z_T‖ ≤ μ z_N``.

    Parameters
    ----------
    M : (n, n) array_like or SciPy sparse
    q : (n,) array_like
    sizes : sequence of int
        The components of each cone, ``z_N`` first.
    mu : float or array_like
        The aperture of each cone.
    """
    numbers = [count(size, "sizes") for size in sizes]
    apertures = spread(mu, "mu", len(numbers))
    core = _saltus.second_order_problem(matrix_of(M, "M"), vector_of(q, "q"), numbers, apertures)
    return Problem(core, "soclcp")


def problem(M: Any, q: ArrayLike, blocks: Sequence[Description]) -> Problem:
    """A problem ``w = M z + q`` out of blocks of unknowns, each with a law of its own.

    Parameters
    ----------
    M : (n, n) array_like or SciPy sparse
    q : (n,) array_like
    blocks : list
        In order, covering all unknowns:

        ============================== ============================================================
        ``("free", n)``                ``w = 0``
        ``("nonnegative", n)``         ``0 ≤ w ⟂ z ≥ 0``
        ``("interval", lower, upper)`` ``−w ∈ N_[lower, upper](z)``; numbers, or arrays for several
                                       unknowns
        ``("graph", points)``          ``(w, z)`` on the graph through `points`, along which ``w``
                                       does not decrease and ``z`` does not increase; its first and
                                       last segments go on to infinity
        ``("coulomb2", mu)``           a contact as in `friction2d`; an array for several contacts
        ``("coulomb3", mu)``           a contact as in `friction3d`
        ``("rolling2", mu, mu_r)``     a contact as in `rolling`, in the plane
        ``("rolling3", mu, mu_r)``     a contact as in `rolling`, in space
        ``("second-order", n, mu)``    ``K* ∋ w ⟂ z ∈ K``, ``K: ‖z_T‖ ≤ μ z_N``
        ``("drucker-prager", eta,      the cone of aperture `eta`, ``w`` with the share `theta` of
        theta)``                       ``‖w_T‖`` added to ``w_N``; three unknowns
        ``("von-mises", sigma_y)``     ``−w ∈ N_K(z)``, ``K: z₁² + z₂² − z₁z₂ + 3 z₃² ≤ σ_y²``
        ============================== ============================================================

    Examples
    --------
    An equation, a saturation and two contacts:

    >>> p = problem(np.eye(8), np.ones(8), ["free", ("interval", -1, 1), ("coulomb3", [0.3, 0.8])])
    >>> p.size, p.contacts
    (8, 2)
    """
    core = _saltus.block_problem(matrix_of(M, "M"), vector_of(q, "q"), blocks_of(blocks))
    return Problem(core, "blocks")


class QuadraticProgram(Problem):
    """A convex quadratic program, made by `qp`."""

    def __init__(self, program: _saltus.QuadraticProgram) -> None:
        super().__init__(program.problem(), "qp")
        self._program = program


def qp(
    P: Any,
    c: ArrayLike,
    A: Any = None,
    l: ArrayLike | None = None,  # noqa: E741
    u: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> QuadraticProgram:
    """The convex quadratic program::

        min ½ xᵀ P x + cᵀ x     subject to     l ≤ A x ≤ u,     lower ≤ x ≤ upper

    by its conditions of optimality, which are a box problem with the unknowns ``x`` and ``y``::

        w = P x + c − Aᵀ y,     −w ∈ N_[lower, upper](x),     y ≥ 0 where A x = l,
                                                              y ≤ 0 where A x = u, else y = 0

    `solve` gives a `QpSolution` with ``x``, ``y`` and ``objective``. A linear program has
    ``P = 0``. A program without an optimum (nothing satisfies the constraints, or the objective
    has no lower bound) is ``"infeasible"``; `Solution.reason` tells which: ``"infeasible"`` or
    ``"unbounded"``.

    Parameters
    ----------
    P : (n, n) array_like or SciPy sparse
        Symmetric and positive semidefinite; anything else is refused.
    c : (n,) array_like
    A : (m, n) array_like or SciPy sparse, optional
    l, u : float or (m,) array_like, optional
        Bounds of ``A x``, one of them at least with `A`; ``l = u`` makes an equation.
    lower, upper : float or (n,) array_like, optional
        Bounds of ``x``. ``-inf`` and ``inf`` mean no bound.
    """
    slope = vector_of(c, "c")
    if A is None:
        for what, given in (("l", l), ("u", u)):
            if given is not None:
                raise InputError(f"`{what}` is a bound of A x, but there is no `A`")
        rows: Any = np.zeros((0, len(slope)))
        m = 0
    else:
        if l is None and u is None:
            raise InputError("`A` is given without `l` and `u`, the bounds of A x")
        rows = matrix_of(A, "A")
        m = rows[0] if isinstance(rows, tuple) else len(rows)
    n = len(slope)
    program = _saltus.QuadraticProgram(
        matrix_of(P, "P"),
        slope,
        rows,
        spread(-np.inf if l is None else l, "l", m),
        spread(np.inf if u is None else u, "u", m),
        spread(-np.inf if lower is None else lower, "lower", n),
        spread(np.inf if upper is None else upper, "upper", n),
    )
    return QuadraticProgram(program)


class VariationalInequality(Problem):
    """A variational inequality over a polyhedron, made by `avi` and `vi`."""

    def __init__(self, core: _saltus.Problem, kind: str, variables: int) -> None:
        super().__init__(core, kind)
        self._variables = variables


def avi(
    M: Any,
    q: ArrayLike,
    A: Any = None,
    b: ArrayLike | None = None,
    E: Any = None,
    f: ArrayLike | None = None,
) -> VariationalInequality:
    """The affine variational inequality over the polyhedron ``A x ≤ b``, ``E x = f``::

        x in the polyhedron,     (M x + q) · (v − x) ≥ 0   for all v in it

    by its multipliers, which make it a box problem::

        0 = M x + q + Aᵀ λ + Eᵀ ν,     0 ≤ b − A x ⟂ λ ≥ 0,     0 = f − E x

    `solve` gives a `VariationalSolution` with ``x`` and the multipliers ``y``.

    Parameters
    ----------
    M : (n, n) array_like or SciPy sparse
    q : (n,) array_like
    A : (m, n) array_like or SciPy sparse, optional
    b : (m,) array_like, optional
    E : (k, n) array_like or SciPy sparse, optional
    f : (k,) array_like, optional

    Examples
    --------
    The point of a triangle nearest to (2, 1):

    >>> p = avi(np.eye(2), [-2, -1], A=[[-1, 0], [0, -1], [1, 1]], b=[0, 0, 1])
    >>> solve(p).x
    array([1., 0.])
    """
    slope = vector_of(q, "q")
    rows = [*_rows(A, b, "A", "b", len(slope)), *_rows(E, f, "E", "f", len(slope))]
    core = _saltus.avi_problem(matrix_of(M, "M"), slope, *rows)
    return VariationalInequality(core, "avi", len(slope))


def _rows(matrix: Any, right: Any, name: str, of: str, n: int) -> tuple[Any, Array]:
    """The rows of a polyhedron and their right-hand sides."""
    if (matrix is None) != (right is None):
        raise InputError(f"`{name}` and `{of}` belong together: give both, or none")
    if matrix is None:
        return np.zeros((0, n)), np.zeros(0)
    return matrix_of(matrix, name), vector_of(right, of)


def ncp(F: Map, jac: Map | None = None, n: int | None = None) -> Problem:
    """The nonlinear complementarity problem ``0 ≤ w = F(z) ⟂ z ≥ 0``.

    An exception that a function raises ends `solve` and comes through as it is.

    Parameters
    ----------
    F : callable
        ``z`` to ``F(z)``, (n,) both. It may be called at a ``z`` with negative components.
    jac : callable, optional
        ``z`` to the Jacobian of `F`, (n, n); by central differences unless given.
    n : int
        Number of unknowns.
    """
    return _function(F, jac, [("nonnegative", _size(n), [])], "ncp")


def mcp(
    F: Map,
    jac: Map | None = None,
    equalities: int | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    n: int | None = None,
) -> Problem:
    """The mixed complementarity problem, a nonlinear `mlcp` or a nonlinear `box`: either in the
    first `equalities` rows ``F(z) = 0`` and in the others ``0 ≤ F(z) ⟂ z ≥ 0``, or
    ``−F(z) ∈ N_[lower, upper](z)``.

    Parameters
    ----------
    F, jac : callable
        As in `ncp`.
    equalities : int, optional
        Number of equations, which come first.
    lower, upper : float or (n,) array_like, optional
        ``-inf`` and ``inf`` mean no bound.
    n : int
        Number of unknowns; not needed where `lower` or `upper` is an array.
    """
    if equalities is None:
        return _function(F, jac, _bounds(lower, upper, n), "mcp")
    if lower is not None or upper is not None:
        raise InputError("`equalities` and bounds exclude each other: an equation has no bounds")
    equalities, size = count(equalities, "equalities"), _size(n)
    if equalities > size:
        raise InputError(f"`equalities` = {equalities}, but the problem has {size} unknowns")
    others = size - equalities
    return _function(F, jac, [("free", equalities, []), ("nonnegative", others, [])], "mcp")


def vi(
    F: Map,
    jac: Map | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    sets: Sequence[Description] | None = None,
    n: int | None = None,
    polyhedron: tuple[Any, ...] | None = None,
) -> Problem:
    """The variational inequality: find ``z ∈ X`` with ``F(z)ᵀ (x − z) ≥ 0`` for all ``x ∈ X``, which
    is ``−F(z) ∈ N_X(z)``. For an affine ``F`` use `problem` or `avi`.

    Parameters
    ----------
    F, jac : callable
        As in `ncp`.
    lower, upper : float or (n,) array_like, optional
        ``X`` as a box. ``-inf`` and ``inf`` mean no bound.
    sets : list, optional
        ``X`` as a product of sets, in the words of `problem`: ``[("second-order", 3, 0.5)]``.
    n : int
        Number of unknowns; not needed with `sets` or `polyhedron`, or where `lower` or `upper` is an
        array.
    polyhedron : (A, b) or (A, b, E, f), optional
        ``X`` as ``A x ≤ b``, ``E x = f``; `solve` then gives a `VariationalSolution`, see `avi`.
    """
    if polyhedron is not None:
        if not (lower is None and upper is None and sets is None):
            raise InputError("`polyhedron` and other sets exclude each other: write bounds as rows")
        return _polyhedral(F, jac, polyhedron, n)
    if sets is None:
        return _function(F, jac, _bounds(lower, upper, n), "vi")
    if lower is not None or upper is not None:
        raise InputError('`sets` and bounds exclude each other: write ("interval", lower, upper)')
    blocks = blocks_of(sets)
    size = sum(size for _, size, _ in blocks)
    if n is not None and count(n, "n") != size:
        raise InputError(f"`n` = {n}, but the sets have {size} unknowns")
    return _function(F, jac, blocks, "vi")


def _polyhedral(
    F: Map, jac: Map | None, polyhedron: tuple[Any, ...], n: int | None
) -> VariationalInequality:
    """``F`` with the rows of a polyhedron; see `avi`."""
    if len(polyhedron) not in (2, 4):
        raise InputError("`polyhedron` must be (A, b) or (A, b, E, f)")
    A, b, E, f = (*polyhedron, None, None)[:4]
    given = [_dense(rows) for rows in (A, E) if rows is not None]
    size = given[0].shape[1] if given and given[0].ndim == 2 else _size(n)
    if n is not None and count(n, "n") != size:
        raise InputError(f"`n` = {n}, but the polyhedron has {size} unknowns")
    below = np.zeros((0, size)) if A is None else _dense(A)
    on = np.zeros((0, size)) if E is None else _dense(E)
    right = np.concatenate([vector_of([] if v is None else v, k) for v, k in ((b, "b"), (f, "f"))])
    for rows, what in ((below, "A"), (on, "E")):
        if rows.ndim != 2 or rows.shape[1] != size:
            raise InputError(f"`{what}` of the polyhedron has shape {rows.shape}, expected (m, {size})")
    rows = np.concatenate([below, on])
    if len(rows) != len(right):
        raise InputError(f"the polyhedron has {len(rows)} rows, but {len(right)} right-hand sides")
    value, derivative = maps_of(F, jac, size)

    def extended(y: Array) -> Array:
        z, multipliers = y[:size], y[size:]
        return np.concatenate([value(z) + rows.T @ multipliers, right - rows @ z])

    def extended_jacobian(y: Array) -> Array:
        zeros = np.zeros((len(rows), len(rows)))
        return np.block([[derivative(y[:size]), rows.T], [-rows, zeros]])

    sets = (("free", size), ("nonnegative", len(below)), ("free", len(on)))
    used: list[tuple[str, int, list[float]]] = [(name, k, []) for name, k in sets if k > 0]
    inner = _function(extended, extended_jacobian, used, "vi")
    return VariationalInequality(inner._core, "vi", size)


def _dense(rows: Any) -> Array:
    """A matrix with every zero written out."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def read(path: str | os.PathLike[str], kind: str | None = None) -> Problem:
    """A stored problem, from a text file of Siconos or an HDF5 file of FCLIB.

    Parameters
    ----------
    path : path_like
    kind : str, optional
        What the file holds: ``"lcp"``, ``"mlcp"``, ``"relay"``, ``"fc2d"``, ``"fc3d"``,
        ``"gfc2d"``, ``"gfc3d"``, ``"rfc3d"``, ``"grfc3d"``, ``"gmp"``, ``"soclcp"`` or
        ``"plasticity"``, ``"avi"``. Unless given, the name of the file's folder; a file in HDF5
        says it itself. An ``"avi"`` that ends before the set it is over, as those of Siconos do,
        raises `NotAvailableError`.

    Raises
    ------
    InputError
        The file does not hold such a problem; the message says where, as do the attributes
        ``file``, ``line`` and ``column`` of the error.
    """
    core, kind = _saltus.read_problem(os.fspath(path), kind)
    in_the_plane = core.contacts > 0 and core.size == 3 * core.contacts
    if in_the_plane and kind.endswith("rfc3d"):  # files have one word for both
        kind = kind.replace("3d", "2d")
    return Problem(core, kind)


def solve(
    p: Problem,
    solver: str | Solver = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    z0: ArrayLike | None = None,
    check: bool = True,
    unique: bool = False,
) -> Solution:
    """Solves a problem.

    Parameters
    ----------
    p : Problem
    solver : str or solvers.Solver
        ``"auto"``, ``"pivoting"``, ``"lemke"``, ``"gauss-seidel"``, ``"fischer-burmeister"``,
        ``"newton"``, ``"interior-point"``, ``"admm"``, ``"extragradient"``, ``"enumeration"``, or
        a solver with its settings.
    tol : float, optional
        The residual to reach; that of the solver unless given, which is 1e-8 by default.
    max_iter : int, optional
        Iterations to spend; those of the solver unless given.
    z0 : (n,) array_like, optional
        A guess; for a quadratic program, of ``x`` alone if it is as long.
    check : bool
        Raise `SolverError` unless solved; its ``report`` is the `Solution`.
    unique : bool
        Tell whether the answer is the only one: `Solution.unique`. Costs a factorization or two.
    """
    chosen = _solver(solver, tol, max_iter)
    text = chosen._json()
    guess = None if z0 is None else vector_of(z0, "z0")
    solution = _solve(_problem(p), text, guess)
    if check and not solution.solved:
        tried = ", ".join(f"{one.solver}: {one.status}" for one in solution.attempts)
        error = SolverError(
            f"the {p.kind} of {p.size} unknowns was not solved: {_words(solution)} "
            f"after {solution.iterations} iterations (residual {solution.residual:.3g}, "
            f"worst in row {solution.worst}); tried {tried}"
        )
        error.report = solution
        raise error
    if unique and solution.solved:
        solution = replace(solution, unique=uniqueness(p, solution.z, getattr(chosen, "tol")))
    return solution


def uniqueness(p: Problem, z: ArrayLike, tol: float = 1e-8) -> Uniqueness:
    """Whether the answer `z`, with a `residual` of at most `tol`, is the only one.

    ``"global"`` where the sets are convex and ``M`` is positive definite, where the sets are boxes and
    ``M`` is known to be a P-matrix, and where a monotone problem has an answer that is the only one
    nearby; ``"local"`` where no block is on an edge of its law and the equations that hold are
    regular; ``"not"`` where they are singular and another answer along their kernel was verified.
    Everything to working precision.
    """
    return Uniqueness(*_saltus.uniqueness(_problem(p)._core, vector_of(z, "z"), float(tol)))


def _words(solution: Solution) -> str:
    if solution.reason in ("", solution.status):
        return solution.status
    return f"{solution.status} ({solution.reason})"


def class_figure(p: Problem, z: ArrayLike) -> float:
    """The figure of the class of `p` alone, as other programs print it: `residual` without its
    lower bound for friction."""
    return _saltus.class_figure(_problem(p)._core, vector_of(z, "z"))


def residual(p: Problem, z: ArrayLike) -> float:
    """How far `z` is from a solution: ``‖z − P(z − w)‖ / scale`` with ``w = M z + q``, where ``P``
    projects each block on its set, for friction after ``μ ‖u_T‖`` is added to ``u_N`` (and
    ``μ_r ‖u_R‖``).

    The scale is ``‖q‖`` for an `lcp`, ``max(‖q‖, ‖z‖, ‖w‖)`` for friction, 1 for functions,
    ``1 + ‖q‖`` for the others. To a global problem ``‖M v − f − H z‖``, relative to the largest of
    its terms, is added.

    For friction it is at least the same in units in which forces and velocities are of one size, so
    that no answer passes whose forces run away to infinity; `class_figure` is without that.

    The certificate: computed from the problem and `z` alone, apart from any solver.
    """
    return _saltus.residual(_problem(p)._core, vector_of(z, "z"))


def physical(p: Problem, z: ArrayLike) -> Physical:
    """How far the reactions `z` are from each part of the law of friction, for a problem with
    contacts."""
    if _problem(p).contacts == 0:
        raise InputError(f"the {p.kind} has no contacts")
    return Physical(*_saltus.physical(p._core, vector_of(z, "z")))


def all_solutions(
    p: Problem, tol: float | None = None, max_iter: int | None = None
) -> AllSolutions:
    """All solutions that are isolated within their mode, by enumeration: small problems only.

    Parameters
    ----------
    p : Problem
    tol : float, optional
        The residual that each must reach.
    max_iter : int, optional
        Refuse a problem with more modes than this.
    """
    settings = _solver("enumeration", tol, max_iter)
    found, singular, modes = _saltus.all_solutions(
        _problem(p)._core, getattr(settings, "tol"), getattr(settings, "max_iter")
    )
    solutions = AllSolutions(_solution(answer) for answer in found)
    solutions.singular_modes, solutions.modes = singular, modes
    return solutions


def _solver(solver: str | Solver, tol: float | None, max_iter: int | None) -> Solver:
    if isinstance(solver, str):
        known = DEFAULTS["solvers"]
        kind = solver.replace("_", "-").lower()
        if kind not in known:
            hint = did_you_mean(kind, known)
            raise InputError(f"there is no solver `{solver}`{hint} (there are {', '.join(known)})")
        solver = from_text(Solver, f'{{"kind": "{kind}"}}')
    if not isinstance(solver, Solver):
        raise TypeError(f"`solver` must be a name or a solver, not {type(solver).__name__}")
    changes = {"tol": tol, "max_iter": max_iter}
    settings = {**solver.__dict__, **{k: v for k, v in changes.items() if v is not None}}
    return type(solver)(**settings)


def _problem(p: Problem) -> Problem:
    if not isinstance(p, Problem):
        raise TypeError(f"expected a problem, for example from lcp(M, q), not {type(p).__name__}")
    return p


def _solve(p: Problem, solver: str, guess: Array | None) -> Solution:
    if isinstance(p, VariationalInequality):
        return _over_polyhedron(p, solver, guess)
    if not isinstance(p, QuadraticProgram):
        return _solution(_saltus.solve(p._core, solver, guess))
    variables = len(p._program.optimum(np.zeros(p.size))[0])
    if guess is not None and len(guess) == variables:
        guess = np.concatenate([guess, np.zeros(p.size - variables)])
    plain = _solution(_saltus.solve(p._core, solver, guess))
    x, y, objective = p._program.optimum(plain.z)
    if plain.status == "infeasible":
        plain = replace(plain, reason=p._program.why_no_optimum() or "infeasible")
    return QpSolution(**vars(plain), x=x, y=y, objective=objective)


def _over_polyhedron(p: VariationalInequality, solver: str, guess: Array | None) -> Solution:
    n = p._variables
    if guess is not None and len(guess) == n:
        guess = np.concatenate([guess, np.zeros(p.size - n)])
    plain = _solution(_saltus.solve(p._core, solver, guess))
    return VariationalSolution(**vars(plain), x=plain.z[:n], y=plain.z[n:])


def _solution(answer: Any) -> Solution:
    solution = Solution(*answer)
    solution.attempts[:] = [Attempt(*attempt) for attempt in solution.attempts]
    return solution


def _boxed(M: Any, q: ArrayLike, lower: ArrayLike, upper: ArrayLike, kind: str) -> Problem:
    vector_q = vector_of(q, "q")
    low, high = (spread(b, what, len(vector_q)) for b, what in ((lower, "lower"), (upper, "upper")))
    return Problem(_saltus.boxed_problem(matrix_of(M, "M"), vector_q, low, high), kind)


def _contacts(
    W: Any, q: ArrayLike, law: str, components: int, mu: Any, mu_r: Any, kind: str
) -> Problem:
    free = vector_of(q, "q")
    coefficients = _coefficients(mu, mu_r, len(free) // components)
    core = _saltus.contact_problem(matrix_of(W, "W"), free, law, *coefficients)
    return Problem(core, kind)


def _global(
    M: Any, H: Any, f: ArrayLike, b: ArrayLike, law: str, components: int, mu: Any, mu_r: Any, kind: str
) -> Problem:
    given = vector_of(b, "b")
    core = _saltus.global_problem(
        matrix_of(M, "M"),
        matrix_of(H, "H"),
        vector_of(f, "f"),
        given,
        law,
        *_coefficients(mu, mu_r, len(given) // components),
    )
    return Problem(core, kind)


def _coefficients(mu: Any, mu_r: Any, contacts: int) -> tuple[Array, Array]:
    rolling = np.zeros(0) if mu_r is None else spread(mu_r, "mu_r", contacts)
    return spread(mu, "mu", contacts), rolling


def _dimension(n: int, mu: Any, mu_r: Any) -> int:
    """2 for contacts of three components, 3 for contacts of five."""
    fits = {2: n % 3 == 0, 3: n % 5 == 0}
    for what, value in (("mu", mu), ("mu_r", mu_r)):
        if np.ndim(value) > 0:
            contacts = len(vector_of(value, what))
            fits = {2: n == 3 * contacts, 3: n == 5 * contacts}
            if n > 0 and not any(fits.values()):
                raise InputError(
                    f"`q` has length {n} and `{what}` {contacts}, expected three components a "
                    "contact (in the plane) or five (in space)"
                )
            break
    if fits[2] and fits[3] and n > 0:
        raise InputError(
            f"`q` has length {n}, which is {n // 3} contacts in the plane or {n // 5} in space: give `dim`"
        )
    if not any(fits.values()):
        raise InputError(
            f"`q` has length {n}, which is not a multiple of 3 (in the plane) or 5 (in space), "
            "the components of a contact"
        )
    return 2 if fits[2] else 3


def _function(F: Map, jac: Map | None, blocks: list[tuple[str, int, list[float]]], kind: str) -> Problem:
    maps = maps_of(F, jac, sum(size for _, size, _ in blocks))
    return Problem(_saltus.function_problem(*maps, blocks), kind)


def _size(n: int | None) -> int:
    if n is None:
        raise InputError("`n`, the number of unknowns, is needed: a function does not tell")
    return count(n, "n")


def _bounds(lower: Any, upper: Any, n: int | None) -> list[tuple[str, int, list[float]]]:
    """One interval an unknown."""
    if lower is None and upper is None:
        raise InputError("the bounds are missing: give `lower`, `upper` or both")
    given = {"lower": -np.inf if lower is None else lower, "upper": np.inf if upper is None else upper}
    if n is None:
        lengths = [len(vector_of(v, what)) for what, v in given.items() if np.ndim(v) > 0]
        n = _size(max(lengths, default=None))
    size = count(n, "n")
    vectors = [spread(value, what, size) for what, value in given.items()]
    for what, vector in zip(given, vectors):
        if len(vector) != size:
            raise InputError(f"`{what}` has length {len(vector)}, but the problem has {size} unknowns")
    return [("interval", 1, [low, high]) for low, high in zip(*(v.tolist() for v in vectors))]
