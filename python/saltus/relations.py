"""Relations: what `y` is, and how `λ` acts on the systems."""

from __future__ import annotations

from typing import Any

from saltus import _saltus
from saltus._arrays import Operand, matrix, vector
from saltus._errors import NotAvailableError
from saltus.systems import _optional


class Relation:
    """What `Model.connect` takes first. Between two systems, their states stand one above the
    other in the order given to `connect`."""

    def _connect(
        self, model: _saltus.Model, name: str, law: _saltus.Law, systems: list[str]
    ) -> int:
        """Adds it to the model; returns its size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return f"{type(self).__name__}({given})"


class FirstOrderLinearRelation(Relation):
    """A linear relation of first-order systems::

        y = C x + D λ + e,    r = B λ

    Parameters
    ----------
    C : (m, n) array_like
        Output, one row a component.
    B : (n, m) array_like
        Input, one column a component.
    D : (m, m) array_like, optional
        Feed-through; zero unless given.
    e : (m,) array_like, optional
        Offset; zero unless given.
    F : not available yet
        Inputs ``z`` do not exist yet; use `e`.
    """

    def __init__(
        self,
        C: Operand,
        B: Operand,
        D: Operand | None = None,
        e: Operand | None = None,
        F: Any = None,
    ) -> None:
        if F is not None:
            raise NotAvailableError(
                "FirstOrderLinearRelation: `F` multiplies inputs z, which do not exist yet; "
                "a constant term is `e`"
            )
        self.C = matrix(C, "C")
        self.B = matrix(B, "B")
        self.D = _optional(matrix, D, "D")
        self.e = _optional(vector, e, "e")

    def _connect(
        self, model: _saltus.Model, name: str, law: _saltus.Law, systems: list[str]
    ) -> int:
        model.connect_first_order_linear(name, law, systems, self.C, self.B, self.D, self.e)
        return len(self.C)


class LagrangianLinearRelation(Relation):
    """A linear relation of mechanical systems::

        y = H q + b,    u = H v,    p = Hᵀ λ

    Parameters
    ----------
    H : (m, n) array_like
        Jacobian of the gap, one row a component.
    b : (m,) array_like, optional
        Offset; zero unless given.
    D : not available yet
        Compliance ``y = H q + D λ + b`` does not exist yet.
    """

    def __init__(self, H: Operand, b: Operand | None = None, D: Any = None) -> None:
        if D is not None:
            raise NotAvailableError(
                "LagrangianLinearRelation: the compliance `D` does not exist yet; "
                "a spring and damper between two systems are `K` and `C` of one system"
            )
        self.H = matrix(H, "H")
        self.b = _optional(vector, b, "b")

    def _connect(
        self, model: _saltus.Model, name: str, law: _saltus.Law, systems: list[str]
    ) -> int:
        model.connect_lagrangian_linear(name, law, systems, self.H, self.b)
        return len(self.H)
