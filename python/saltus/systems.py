"""Dynamical systems: the smooth motion between the events.

Every operator that may depend on time is given as an array, as a function of ``t``, or as
formulas: a list of strings and numbers such as ``["-9.81", "sin(2*pi*t)", 0]``. Formulas are
evaluated without Python and are the fastest.
"""

from __future__ import annotations

from typing import Any

from saltus import _saltus
from saltus._arrays import Operand, Operator, matrix, matrix_operator, vector, vector_operator


class System:
    """What `Model.add` takes."""

    def _add(self, model: _saltus.Model, name: str) -> tuple[int, int]:
        """Adds it to the model; returns its order and size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return f"{type(self).__name__}({given})"


def _optional(convert: Any, value: Any, what: str) -> Any:
    return None if value is None else convert(value, what)


class FirstOrderLinear(System):
    """A linear first-order system: circuits, linear plants, networks::

        M ẋ = A(t) x + b(t) + r,    x(t0) = x0

    Parameters
    ----------
    x0 : (n,) array_like
        Initial state.
    A : (n, n) array_like, function of t, or formulas
    b : (n,) array_like, function of t, or formulas, optional
        Forcing; zero unless given.
    M : (n, n) array_like, optional
        The identity unless given. May be singular (a differential-algebraic system).
    """

    def __init__(
        self, x0: Operand, A: Operator, b: Operator | None = None, M: Operand | None = None
    ) -> None:
        self.x0 = vector(x0, "x0")
        self.A = matrix_operator(A, "A")
        self.b = _optional(vector_operator, b, "b")
        self.M = _optional(matrix, M, "M")

    def _add(self, model: _saltus.Model, name: str) -> tuple[int, int]:
        model.add_first_order_linear(name, self.x0, self.A, self.b, self.M)
        return 1, len(self.x0)


class LagrangianLinear(System):
    """A linear mechanical system: masses, springs, dampers::

        M v̇ + C v + K q = F_ext(t) + p,    q̇ = v,    q(t0) = q0,  v(t0) = v0

    Parameters
    ----------
    q0, v0 : (n,) array_like
        Initial configuration and velocity.
    M : (n, n) array_like
        Mass, symmetric positive definite.
    C, K : (n, n) array_like, optional
        Damping and stiffness; zero unless given.
    F_ext : (n,) array_like, function of t, or formulas, optional
        External force; zero unless given.
    """

    def __init__(
        self,
        q0: Operand,
        v0: Operand,
        M: Operand,
        C: Operand | None = None,
        K: Operand | None = None,
        F_ext: Operator | None = None,
    ) -> None:
        self.q0 = vector(q0, "q0")
        self.v0 = vector(v0, "v0")
        self.M = matrix(M, "M")
        self.C = _optional(matrix, C, "C")
        self.K = _optional(matrix, K, "K")
        self.F_ext = _optional(vector_operator, F_ext, "F_ext")

    def _add(self, model: _saltus.Model, name: str) -> tuple[int, int]:
        model.add_lagrangian_linear(name, self.q0, self.v0, self.M, self.C, self.K, self.F_ext)
        return 2, len(self.q0)
