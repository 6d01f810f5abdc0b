"""Newton's method, for steps of models that are not linear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltus import _saltus
from saltus._settings import Settings


class NewtonSettings(Settings):
    """What `TimeStepping` takes as ``newton``."""

    _family = "newton"

    @staticmethod
    def _check(text: str) -> str:
        return _saltus.check_newton(text)


class Newton(NewtonSettings, kind="newton"):
    """How the equations of a step that are not linear are solved.

    Parameters
    ----------
    tol : float
        Size of the residual, relative to its terms, at which the iteration ends; 1e-9 at least
        where a relation of mechanical systems has its ``H`` by differences.
    max_iter : int
        Iterations before giving up.
    mode : str
        When Jacobians are renewed: ``"full"``, in every iteration; ``"quasi"``, once a step;
        ``"linear"``, once a step, and there is one iteration only (the scheme is linearly
        implicit, and the residual is not asked for).
    """

    tol: float
    max_iter: int
    mode: str
    if TYPE_CHECKING:

        def __init__(self, tol: float = ..., max_iter: int = ..., mode: str = ...) -> None: ...
