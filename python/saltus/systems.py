"""Dynamical systems: the smooth motion between the events.

Every operator is given as one of

- an array;
- formulas of ``t``, the state and the inputs: one text for the whole, such as
  ``"[v[0], -sin(q[0])]"``, or lists of texts and numbers, such as ``["-g", "sin(2*pi*t)", 0]``.
  They are evaluated without Python, are the fastest, and have exact derivatives;
- a Python function, which gets what its parameters are called (``t``, ``x``, ``q``, ``v``,
  ``z``) and returns an array, or fills its keyword ``out``. Under other names the parameters are,
  in the order of the equation, all arguments, all but ``z``, all but ``t``, or all but both;
  those with a default keep it. The arrays it gets are filled anew in every call, unless it keeps
  them;
- a compiled function: `plugin`, or an object with an ``address``.

A missing Jacobian is exact for formulas, and by differences for functions.
"""

from __future__ import annotations

from collections.abc import Mapping

from saltus import _saltus
from saltus._arrays import Operand, constant
from saltus._operators import Operator, Scope, given, given_or_none, inputs


class System:
    """What `Model.add` takes."""

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        """Adds it to the model; returns its order and size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return f"{type(self).__name__}({given})"


class FirstOrder(System):
    """A nonlinear first-order system::

        M(t) ẋ = f(t, x, z) + r,    x(t0) = x0

    Parameters
    ----------
    x0 : (n,) array_like
        Initial state.
    f : (n,) operator of t, x
    df_dx : (n, n) operator of t, x, optional
        The Jacobian ``∂f/∂x``.
    M : (n, n) operator of t, optional
        The identity unless given. May be singular (a differential-algebraic system).
    z0 : array_like, optional
        Inputs until `TimeStepping.set_input` changes them; every operator may depend on them.

    Examples
    --------
    >>> FirstOrder([2, 0], "[x[1], (1 - x[0]^2)*x[1] - x[0]]")
    >>> FirstOrder([2, 0], lambda t, x: [x[1], (1 - x[0]**2) * x[1] - x[0]])
    """

    def __init__(
        self,
        x0: Operand,
        f: Operator,
        df_dx: Operator | None = None,
        M: Operator | None = None,
        z0: Operand | None = None,
    ) -> None:
        self.x0 = constant(x0, "x0", 1)
        self.f = given(f, "f", 1)
        self.df_dx = given_or_none(df_dx, "df_dx", 2)
        self.M = given_or_none(M, "M", 2)
        self.z0 = inputs(z0)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        n = len(self.x0)
        scope = Scope(f"system `{name}`", parameters, ("x", n), inputs=len(self.z0))
        model.add_first_order(
            name,
            scope.constant(self.x0, "x0"),
            scope.operator(self.f, "f", "t x", n),
            scope.operator(self.df_dx, "df_dx", "t x", n, n),
            scope.operator(self.M, "M", "t", n, n),
            scope.constant(self.z0, "z0"),
        )
        return 1, n


class FirstOrderLinear(System):
    """A linear first-order system: circuits, linear plants, networks::

        M ẋ = A(t) x + b(t) + r,    x(t0) = x0

    Parameters
    ----------
    x0 : (n,) array_like
        Initial state.
    A : (n, n) operator of t
    b : (n,) operator of t, optional
        Forcing; zero unless given.
    M : (n, n) array_like, optional
        The identity unless given. May be singular (a differential-algebraic system).
    """

    def __init__(
        self, x0: Operand, A: Operator, b: Operator | None = None, M: Operand | None = None
    ) -> None:
        self.x0 = constant(x0, "x0", 1)
        self.A = given(A, "A", 2)
        self.b = given_or_none(b, "b", 1)
        self.M = None if M is None else constant(M, "M", 2)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        n = len(self.x0)
        scope = Scope(f"system `{name}`", parameters, ("x", n))
        model.add_first_order_linear(
            name,
            scope.constant(self.x0, "x0"),
            scope.operator(self.A, "A", "t", n, n),
            scope.operator(self.b, "b", "t", n),
            scope.optional(self.M, "M"),
        )
        return 1, n


class Lagrangian(System):
    """A nonlinear mechanical system::

        M(q) v̇ + F_gyr(q, v) + F_int(t, q, v) = F_ext(t) + p,    q̇ = v,    q(t0) = q0,  v(t0) = v0

    Parameters
    ----------
    q0, v0 : (n,) array_like
        Initial configuration and velocity.
    M : (n, n) operator of q
        Mass, symmetric positive definite.
    F_gyr : (n,) operator of q, v, optional
        Gyroscopic and Coriolis forces; zero unless given.
    F_int : (n,) operator of t, q, v, optional
        Internal forces: springs, dampers; zero unless given.
    F_ext : (n,) operator of t, optional
        External forces; zero unless given.
    dF_gyr_dq, dF_gyr_dv : (n, n) operators of q, v, optional
        Jacobians of `F_gyr`.
    dF_int_dq, dF_int_dv : (n, n) operators of t, q, v, optional
        Jacobians of `F_int`.
    z0 : array_like, optional
        Inputs until `TimeStepping.set_input` changes them; every operator may depend on them.

    Examples
    --------
    A pendulum, with the angle as coordinate:

    >>> Lagrangian([1], [0], [[1]], F_int="9.81*sin(q[0])")
    >>> Lagrangian([1], [0], [[1]], F_int=lambda q: 9.81 * np.sin(q))
    """

    def __init__(
        self,
        q0: Operand,
        v0: Operand,
        M: Operator,
        F_gyr: Operator | None = None,
        F_int: Operator | None = None,
        F_ext: Operator | None = None,
        dF_gyr_dq: Operator | None = None,
        dF_gyr_dv: Operator | None = None,
        dF_int_dq: Operator | None = None,
        dF_int_dv: Operator | None = None,
        z0: Operand | None = None,
    ) -> None:
        self.q0 = constant(q0, "q0", 1)
        self.v0 = constant(v0, "v0", 1)
        self.M = given(M, "M", 2)
        self.F_gyr = given_or_none(F_gyr, "F_gyr", 1)
        self.F_int = given_or_none(F_int, "F_int", 1)
        self.F_ext = given_or_none(F_ext, "F_ext", 1)
        self.dF_gyr_dq = given_or_none(dF_gyr_dq, "dF_gyr_dq", 2)
        self.dF_gyr_dv = given_or_none(dF_gyr_dv, "dF_gyr_dv", 2)
        self.dF_int_dq = given_or_none(dF_int_dq, "dF_int_dq", 2)
        self.dF_int_dv = given_or_none(dF_int_dv, "dF_int_dv", 2)
        self.z0 = inputs(z0)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        n = len(self.q0)
        scope = Scope(f"system `{name}`", parameters, ("q", n), ("v", n), len(self.z0))
        model.add_lagrangian(
            name,
            scope.constant(self.q0, "q0"),
            scope.constant(self.v0, "v0"),
            scope.operator(self.M, "M", "q", n, n),
            scope.operator(self.F_gyr, "F_gyr", "q v", n),
            scope.operator(self.F_int, "F_int", "t q v", n),
            scope.operator(self.F_ext, "F_ext", "t", n),
            scope.operator(self.dF_gyr_dq, "dF_gyr_dq", "q v", n, n),
            scope.operator(self.dF_gyr_dv, "dF_gyr_dv", "q v", n, n),
            scope.operator(self.dF_int_dq, "dF_int_dq", "t q v", n, n),
            scope.operator(self.dF_int_dv, "dF_int_dv", "t q v", n, n),
            scope.constant(self.z0, "z0"),
        )
        return 2, n


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
    F_ext : (n,) operator of t, optional
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
        self.q0 = constant(q0, "q0", 1)
        self.v0 = constant(v0, "v0", 1)
        self.M = constant(M, "M", 2)
        self.C = None if C is None else constant(C, "C", 2)
        self.K = None if K is None else constant(K, "K", 2)
        self.F_ext = given_or_none(F_ext, "F_ext", 1)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        n = len(self.q0)
        scope = Scope(f"system `{name}`", parameters, ("q", n), ("v", n))
        model.add_lagrangian_linear(
            name,
            scope.constant(self.q0, "q0"),
            scope.constant(self.v0, "v0"),
            scope.constant(self.M, "M"),
            scope.optional(self.C, "C"),
            scope.optional(self.K, "K"),
            scope.operator(self.F_ext, "F_ext", "t", n),
        )
        return 2, n
