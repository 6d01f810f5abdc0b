"""The methods that solve a step's problem, or a problem on its own::

    find z, w:   w = W z + q,    (z, w) in the graph of its law, component by component

Whatever a method says of itself, its answer counts as solved only if the residual, which is
computed apart from all methods, is at most `tol`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltus import _saltus
from saltus._settings import Settings

__all__ = [
    "Admm",
    "Auto",
    "Enumeration",
    "Extragradient",
    "FischerBurmeister",
    "GaussSeidel",
    "InteriorPoint",
    "Lemke",
    "Newton",
    "Pivoting",
    "Solver",
]


class Solver(Settings):
    """A method with its settings."""

    _family = "solvers"

    @staticmethod
    def _check(text: str) -> str:
        return _saltus.check_solver(text)


class Auto(Solver, kind="auto"):
    """A portfolio: warm-started pivoting first, then whatever it takes.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Iterations that each method of the portfolio may use.
    threads : int
        Threads that look for the contacts of a scene, at most 256; 0 means one for each core. The
        answers are the same, bit for bit, for any number.
    """

    tol: float
    max_iter: int
    threads: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ..., threads: int = ...) -> None: ...


class Pivoting(Solver, kind="pivoting"):
    """Warm-started principal pivoting with a cache of modes.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Changes of mode before giving up.
    cache : int
        Modes whose affine map is kept (dense problems of at most 64 unknowns), at most 4096.
    """

    tol: float
    max_iter: int
    cache: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ..., cache: int = ...) -> None: ...


class Lemke(Solver, kind="lemke"):
    """Lemke's method with the lexicographic rule.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Pivots before giving up.
    """

    tol: float
    max_iter: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ...) -> None: ...


class GaussSeidel(Solver, kind="gauss-seidel"):
    """Projected Gauss–Seidel: one sweep visits the blocks in order and solves each for its own
    unknowns; for a bound ``zᵢ ← P(zᵢ − ω (qᵢ + Wᵢ z) / Wᵢᵢ)``. Needs a positive diagonal.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Sweeps before giving up.
    relaxation : float
        ω in (0, 2): below 1 damps, above 1 over-relaxes.
    accelerate : bool
        Prolong the steps between sweeps as in the method of conjugate gradients.
    freeze : int
        Visit a block that did not move in so many sweeps only once in so many; 0 means always.
    threads : int
        Threads that share a sweep, at most 256; 0 means one for each core. More than one sweep by
        colours.
    coloured : bool
        Sweep by colours, blocks that do not see each other at once: the same answers, bit for
        bit, for any number of threads.
    """

    tol: float
    max_iter: int
    relaxation: float
    accelerate: bool
    freeze: int
    threads: int
    coloured: bool
    if TYPE_CHECKING:

        def __init__(
            self,
            tol: float = ...,
            max_iter: int = ...,
            relaxation: float = ...,
            accelerate: bool = ...,
            freeze: int = ...,
            threads: int = ...,
            coloured: bool = ...,
        ) -> None: ...


class FischerBurmeister(Solver, kind="fischer-burmeister"):
    """Semismooth Newton on the function of Fischer and Burmeister, ``a + b − √(a² + b²)``: bounds.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Steps before giving up.
    """

    tol: float
    max_iter: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ...) -> None: ...


class Newton(Solver, kind="newton"):
    """Semismooth Newton with a proximal term: friction and cones.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Steps before giving up.
    proximal : float
        Size of the proximal term relative to the residual, at least 0.
    patience : int
        Steps without a tenth less residual before giving up.
    function : str
        The equations that stand for the laws, all with the same solutions: ``"alart-curnier"``
        (friction by disks whose radius follows from the predicted normal force, the natural map for
        other sets), ``"jean-moreau"`` (the radius follows from the normal force itself),
        ``"natural-map"``, or ``"fischer-burmeister"`` (in the Jordan algebra of the cone for cones and
        friction without rolling, for each unknown with bounds).
    """

    tol: float
    max_iter: int
    proximal: float
    patience: int
    function: str
    if TYPE_CHECKING:

        def __init__(
            self,
            tol: float = ...,
            max_iter: int = ...,
            proximal: float = ...,
            patience: int = ...,
            function: str = ...,
        ) -> None: ...


class Enumeration(Solver, kind="enumeration"):
    """All modes in turn: small problems only.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Modes to try before giving up.
    """

    tol: float
    max_iter: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ...) -> None: ...


class InteriorPoint(Solver, kind="interior-point"):
    """Primal-dual interior point: boxes, cones and friction, however badly conditioned.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Steps before Newton's method takes over.
    """

    tol: float
    max_iter: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ...) -> None: ...


class Admm(Solver, kind="admm"):
    """Alternating directions, with one factorization for many iterations: every law.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Iterations before giving up.
    rho : float
        The penalty to begin with, relative to the diagonal of ``W``; more than 0.
    """

    tol: float
    max_iter: int
    rho: float
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ..., rho: float = ...) -> None: ...


class Extragradient(Solver, kind="extragradient"):
    """Extragradient method with a step that adapts itself: monotone problems of every kind.

    Parameters
    ----------
    tol : float
        The answer's residual is at most this.
    max_iter : int
        Iterations before giving up.
    """

    tol: float
    max_iter: int
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ...) -> None: ...
