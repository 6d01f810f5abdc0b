"""Complementarity problems on their own::

    find z, w:   w = M z + q,    (z, w) in the graph of its law, component by component

A solver proposes an answer; `residual`, which no solver can replace, says how far it is from a
solution, and only then is it called solved.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus import _saltus
from saltus._arrays import Array, count, matrix, real, vector
from saltus._errors import InputError, ModelError, SolverError, did_you_mean
from saltus._settings import DEFAULTS, from_text
from saltus.solvers import Solver

__all__ = [
    "AllSolutions",
    "Attempt",
    "Problem",
    "Solution",
    "all_solutions",
    "box",
    "lcp",
    "mlcp",
    "read",
    "relay",
    "residual",
    "solve",
]


class Problem:
    """A problem; made by `lcp`, `mlcp`, `relay`, `box` and `read`."""

    def __init__(self, core: _saltus.Problem, kind: str) -> None:
        self._core = core
        self.kind = kind

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._core.size

    @property
    def q(self) -> Array:
        """The vector (a copy)."""
        return self._core.q()

    @property
    def lower(self) -> Array:
        """Lower bounds of ``z``, ``-inf`` where there is none."""
        return self._core.lower()

    @property
    def upper(self) -> Array:
        """Upper bounds of ``z``, ``inf`` where there is none."""
        return self._core.upper()

    def matrix(self) -> Any:
        """The matrix (a copy): a NumPy array, or a SciPy ``csr_array`` if it was given sparse."""
        if self._core.is_sparse:
            try:
                from scipy.sparse import csr_array  # type: ignore[import-untyped, unused-ignore]
            except ImportError:
                return self._core.dense()
            rows, cols, i, j, values = self._core.triplets()
            return csr_array((values, (i, j)), shape=(rows, cols))
        return self._core.dense()

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.size} unknowns>"


class Attempt(NamedTuple):
    """One try of a portfolio."""

    solver: str
    """The method."""
    status: str
    """How it ended: as `Solution.status`, or ``"ray"`` where Lemke's method ended on a ray that
    proves nothing."""
    residual: float
    """The residual it reached."""


@dataclass(frozen=True)
class Solution:
    """An answer with its quality."""

    z: Array
    """The unknowns."""
    w: Array
    """``M z + q``"""
    residual: float
    """The verified residual, ``‖z − P(z − w)‖ / (1 + ‖q‖)``."""
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

    @property
    def solved(self) -> bool:
        """Whether the status is ``"solved"``."""
        return self.status == "solved"


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
    return Problem(_saltus.lcp_problem(_matrix(M), _vector(q, "q")), "lcp")


def mlcp(M: Any, q: ArrayLike, equalities: int) -> Problem:
    """The mixed problem: in the first `equalities` rows ``w = 0`` and ``z`` is free, in the
    others ``0 ≤ w ⟂ z ≥ 0``."""
    equalities = count(equalities, "equalities")
    return Problem(_saltus.mlcp_problem(_matrix(M), _vector(q, "q"), equalities), "mlcp")


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


def read(path: str | os.PathLike[str], kind: str | None = None) -> Problem:
    """A stored problem, from a text file of Siconos or an HDF5 file of FCLIB.

    Parameters
    ----------
    path : path_like
    kind : str, optional
        What the file holds: ``"lcp"``, ``"mlcp"``, ``"relay"``, ``"fc2d"``, ``"fc3d"``,
        ``"gfc2d"``, ``"gfc3d"``, ``"rfc3d"``, ``"grfc3d"``, ``"gmp"``, ``"soclcp"`` or
        ``"plasticity"``. Unless given, the name of the file's folder; a file in HDF5 says it
        itself. ``"avi"`` raises `NotAvailableError`: such a file does not say which set it is
        over.

    Raises
    ------
    InputError
        The file does not hold such a problem; the message says where, as do the attributes
        ``file``, ``line`` and ``column`` of the error.
    """
    core, kind = _saltus.read_problem(os.fspath(path), kind)
    return Problem(core, kind)


def solve(
    p: Problem,
    solver: str | Solver = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    z0: ArrayLike | None = None,
    check: bool = True,
) -> Solution:
    """Solves a problem.

    Parameters
    ----------
    p : Problem
    solver : str or solvers.Solver
        ``"auto"``, ``"pivoting"``, ``"lemke"``, ``"gauss-seidel"``, ``"enumeration"``, or a
        solver with its settings.
    tol : float, optional
        The residual to reach; that of the solver unless given, which is 1e-8 by default.
    max_iter : int, optional
        Iterations to spend; those of the solver unless given.
    z0 : (n,) array_like, optional
        A guess.
    check : bool
        Raise `SolverError` unless solved; its ``report`` is the `Solution`.
    """
    text = _solver(solver, tol, max_iter)._json()
    guess = None if z0 is None else _vector(z0, "z0")
    solution = _solution(_saltus.solve(_problem(p)._core, text, guess))
    if check and not solution.solved:
        tried = ", ".join(f"{one.solver}: {one.status}" for one in solution.attempts)
        error = SolverError(
            f"the {p.kind} of {p.size} unknowns was not solved: {solution.status} "
            f"after {solution.iterations} iterations (residual {solution.residual:.3g}, "
            f"worst in row {solution.worst}); tried {tried}"
        )
        error.report = solution
        raise error
    return solution


def residual(p: Problem, z: ArrayLike) -> float:
    """How far `z` is from a solution: ``‖z − P(z − (M z + q))‖ / (1 + ‖q‖)``.

    The certificate: computed from the problem and `z` alone, apart from any solver.
    """
    return _saltus.residual(_problem(p)._core, _vector(z, "z"))


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


def _solution(answer: Any) -> Solution:
    solution = Solution(*answer)
    solution.attempts[:] = [Attempt(*attempt) for attempt in solution.attempts]
    return solution


def _matrix(M: Any) -> Any:
    """A dense array, or the entries of what has ``tocoo()``."""
    if hasattr(M, "tocoo"):
        coo = M.tocoo()
        index: Any = np.int64
        rows: NDArray[np.int64] = np.ascontiguousarray(coo.row, dtype=index)
        cols: NDArray[np.int64] = np.ascontiguousarray(coo.col, dtype=index)
        return (*coo.shape, rows, cols, _vector(coo.data, "M"))
    try:
        return matrix(M, "M")
    except ModelError as error:
        raise InputError(str(error)) from None


def _vector(value: Any, what: str) -> Array:
    try:
        return vector(value, what)
    except ModelError as error:
        raise InputError(str(error)) from None


def _boxed(M: Any, q: ArrayLike, lower: ArrayLike, upper: ArrayLike, kind: str) -> Problem:
    vector_q = _vector(q, "q")

    def bound(value: ArrayLike, what: str) -> Array:
        if np.ndim(value) == 0:
            return np.full(len(vector_q), real(value, what))
        return _vector(value, what)

    low, high = bound(lower, "lower"), bound(upper, "upper")
    return Problem(_saltus.boxed_problem(_matrix(M), vector_q, low, high), kind)
