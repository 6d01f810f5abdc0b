"""Relations: what `y` is, and how `λ` acts on the systems.

Operators are given as those of systems are: arrays, formulas, Python functions, compiled
functions. Between two systems, their states stand one above the other in the order given to
`Model.connect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from saltus import _saltus
from saltus._arrays import Array, Operand, constant, count
from saltus._errors import InputError, ModelError
from saltus._operators import Operator, Scope, components, given, given_or_none, inputs
from saltus.laws import Law


class Link:
    """What a relation is told of the model: its name, its law and its systems."""

    def __init__(
        self,
        model: _saltus.Model,
        name: str,
        law: Law,
        systems: list[str],
        orders: list[int | None],
        parameters: Mapping[str, float],
    ) -> None:
        self.model = model
        self.name = name
        self.law = law
        self.systems = systems
        self.orders = orders
        self.parameters = parameters

    def state(self, quantity: str) -> Array:
        """``x`` or ``q`` of the systems at the start, one above the other."""
        order, words = (1, "first-order") if quantity == "x" else (2, "Lagrangian")
        if not 1 <= len(self.systems) <= 2:
            found = len(self.systems)
            raise ModelError(f"interaction `{self.name}` links {found} systems, expected one or two")
        for system, found_order in zip(self.systems, self.orders):
            if found_order is not None and found_order != order:
                found_words = "first-order" if found_order == 1 else "Lagrangian"
                raise ModelError(
                    f"interaction `{self.name}`: its relation is for {words} systems, "
                    f"but `{system}` is {found_words}"
                )
        return np.concatenate([self.model.initial(system, quantity) for system in self.systems])

    def scope(
        self, first: tuple[str, int], second: tuple[str, int] = ("", 0), inputs: int = 0
    ) -> Scope:
        """What the operators may depend on."""
        return Scope(f"interaction `{self.name}`", self.parameters, first, second, inputs)

    def compiled_law(self, dim: int, size: int) -> _saltus.Law:
        """The law on a relation of this size, between systems with so many coordinates."""
        scope = Scope(
            f"interaction `{self.name}`, law {type(self.law).__name__}",
            self.parameters,
            ("q", dim),
            ("u", size),
        )
        return self.law._law(scope)

    def size(
        self,
        scope: Scope,
        known: int | None,
        operators: Sequence[tuple[Any, str, str]],
        state: Mapping[str, Any],
    ) -> int:
        """The number of components: as said, else the rows of the first operator that tells."""
        if known is not None:
            return known
        at = {"t": self.model.t0, **state}
        # what is written down tells it without a call
        for value, what, arguments in sorted(operators, key=lambda one: callable(one[0])):
            rows = components(scope, value, what, arguments, at)
            if rows is not None:
                return rows
        what = operators[0][1]
        raise InputError(
            f"interaction `{self.name}`: how many components `{what}` has cannot be told from "
            "compiled code, or a function that fills `out`; say it with `size`"
        )


class Relation:
    """What `Model.connect` takes first."""

    def _connect(self, link: Link) -> int:
        """Adds it to the model; returns its size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return f"{type(self).__name__}({given})"


class FirstOrderRelation(Relation):
    """A relation of first-order systems::

        y = h(t, x, λ, z),    r = g(t, x, λ, z)

    Parameters
    ----------
    h : (m,) operator of t, x, lam
        Output.
    g : (n,) operator of t, x, lam
        Input.
    dh_dx, dh_dlam : (m, n) and (m, m) operators of t, x, lam, optional
        Jacobians of `h`.
    dg_dx, dg_dlam : (n, n) and (n, m) operators of t, x, lam, optional
        Jacobians of `g`.
    z0 : array_like, optional
        Inputs until `TimeStepping.set_input` changes them; every operator may depend on them.
    size : int, optional
        The number ``m`` of components. Unless given, it is read off `h` and its Jacobians; a
        Python function `h` is called once for it.

    Examples
    --------
    A diode in parallel with a nonlinear resistor:

    >>> FirstOrderRelation(h="[x[0] + lam[0]^3]", g="[lam[0]]")
    """

    def __init__(
        self,
        h: Operator,
        g: Operator,
        dh_dx: Operator | None = None,
        dh_dlam: Operator | None = None,
        dg_dx: Operator | None = None,
        dg_dlam: Operator | None = None,
        z0: Operand | None = None,
        size: int | None = None,
    ) -> None:
        self.h = given(h, "h", 1)
        self.g = given(g, "g", 1)
        self.dh_dx = given_or_none(dh_dx, "dh_dx", 2)
        self.dh_dlam = given_or_none(dh_dlam, "dh_dlam", 2)
        self.dg_dx = given_or_none(dg_dx, "dg_dx", 2)
        self.dg_dlam = given_or_none(dg_dlam, "dg_dlam", 2)
        self.z0 = inputs(z0)
        self.size = None if size is None else count(size, "size")

    def _connect(self, link: Link) -> int:
        x = link.state("x")
        n, k, of = len(x), len(self.z0), "t x lam"
        scope = link.scope(("x", n), ("lam", 0), k)
        z0 = scope.constant(self.z0, "z0")
        rows = [(self.h, "h", of), (self.dh_dx, "dh_dx", of), (self.dh_dlam, "dh_dlam", of)]
        m = link.size(scope, self.size, rows, {"x": x, "z": z0})
        scope = link.scope(("x", n), ("lam", m), k)
        link.model.connect_first_order(
            link.name,
            link.compiled_law(n, m),
            link.systems,
            scope.operator(self.h, "h", of, m),
            scope.operator(self.g, "g", of, n),
            scope.operator(self.dh_dx, "dh_dx", of, m, n),
            scope.operator(self.dh_dlam, "dh_dlam", of, m, m),
            scope.operator(self.dg_dx, "dg_dx", of, n, n),
            scope.operator(self.dg_dlam, "dg_dlam", of, n, m),
            z0,
        )
        return m


class FirstOrderLinearRelation(Relation):
    """A linear relation of first-order systems::

        y = C(t) x + D(t) λ + e(t) + F(t) z,    r = B(t) λ

    Parameters
    ----------
    C : (m, n) operator of t
        Output, one row a component.
    B : (n, m) operator of t
        Input, one column a component.
    D : (m, m) operator of t, optional
        Feed-through; zero unless given.
    e : (m,) operator of t, optional
        Offset; zero unless given.
    F : (m, k) operator of t, optional
        Weight of the inputs ``z``.
    z0 : (k,) array_like, optional
        Inputs until `TimeStepping.set_input` changes them; zero unless given.
    """

    def __init__(
        self,
        C: Operator,
        B: Operator,
        D: Operator | None = None,
        e: Operator | None = None,
        F: Operator | None = None,
        z0: Operand | None = None,
    ) -> None:
        self.C = given(C, "C", 2)
        self.B = given(B, "B", 2)
        self.D = given_or_none(D, "D", 2)
        self.e = given_or_none(e, "e", 1)
        self.F = given_or_none(F, "F", 2)
        if z0 is None and isinstance(self.F, (list, np.ndarray)):
            z0 = np.zeros(len(self.F[0]) if len(self.F) else 0)
        self.z0 = inputs(z0)

    def _connect(self, link: Link) -> int:
        scope = link.scope(("x", 0))
        operators = [(self.C, "C", "t"), (self.e, "e", "t"), (self.D, "D", "t")]
        m = link.size(scope, None, operators, {})
        # what is written down has a shape of its own, and the model looks at it
        n = 0
        if any(callable(one) or hasattr(one, "address") for one in (self.C, self.B)):
            n = len(link.state("x"))
        z0 = scope.constant(self.z0, "z0")
        link.model.connect_first_order_linear(
            link.name,
            link.compiled_law(0, m),
            link.systems,
            scope.operator(self.C, "C", "t", m, n),
            scope.operator(self.B, "B", "t", n, m),
            scope.operator(self.D, "D", "t", m, m),
            scope.operator(self.e, "e", "t", m),
            scope.operator(self.F, "F", "t", m, len(z0)),
            z0,
        )
        return m


class LagrangianRelation(Relation):
    """A relation of mechanical systems, possibly moving with time::

        y = h(t, q),    u = H v + ∂h/∂t,    H = ∂h/∂q,    p = Hᵀ λ

    Parameters
    ----------
    h : (m,) operator of q, or of t, q
        Gap: normal first, then tangents, then rolling rates, as the law wants them.
    H : (m, n) operator of q, or of t, q, optional
        The Jacobian ``∂h/∂q``.
    dh_dt : (m,) operator of t, q, optional
        The rate ``∂h/∂t``.
    size : int, optional
        The number ``m`` of components. Unless given, it is read off `h` and `H`; a Python
        function `h` is called once for it.

    Examples
    --------
    A bead on a circular wire:

    >>> LagrangianRelation(h="[hypot(q[0], q[1]) - 1]")
    >>> LagrangianRelation(h=lambda q: [np.hypot(*q) - 1])
    """

    def __init__(
        self,
        h: Operator,
        H: Operator | None = None,
        dh_dt: Operator | None = None,
        size: int | None = None,
    ) -> None:
        self.h = given(h, "h", 1)
        self.H = given_or_none(H, "H", 2)
        self.dh_dt = given_or_none(dh_dt, "dh_dt", 1)
        self.size = None if size is None else count(size, "size")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        n, of = len(q), "t q"
        scope = link.scope(("q", n))
        rows = [(self.h, "h", of), (self.H, "H", of), (self.dh_dt, "dh_dt", of)]
        m = link.size(scope, self.size, rows, {"q": q})
        link.model.connect_lagrangian(
            link.name,
            link.compiled_law(n, m),
            link.systems,
            scope.operator(self.h, "h", of, m),
            scope.operator(self.H, "H", of, m, n),
            scope.operator(self.dh_dt, "dh_dt", of, m),
        )
        return m


class LagrangianCompliant(Relation):
    """A relation of mechanical systems that gives way under the multiplier::

        y = h(q, λ),    H = ∂h/∂q,    p = Hᵀ λ

    ``λ`` is a force, and the law is one of position: `Complementarity`, `Equality`, `Relay`.

    Parameters
    ----------
    h : (m,) operator of q, lam
        Gap.
    H : (m, n) operator of q, lam, optional
        The Jacobian ``∂h/∂q``.
    dh_dlam : (m, m) operator of q, lam, optional
        The compliance ``∂h/∂λ``.
    size : int, optional
        The number ``m`` of components. Unless given, it is read off `h` and its Jacobians; a
        Python function `h` is called once for it.
    """

    def __init__(
        self,
        h: Operator,
        H: Operator | None = None,
        dh_dlam: Operator | None = None,
        size: int | None = None,
    ) -> None:
        self.h = given(h, "h", 1)
        self.H = given_or_none(H, "H", 2)
        self.dh_dlam = given_or_none(dh_dlam, "dh_dlam", 2)
        self.size = None if size is None else count(size, "size")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        n, of = len(q), "q lam"
        rows = [(self.h, "h", of), (self.H, "H", of), (self.dh_dlam, "dh_dlam", of)]
        m = link.size(link.scope(("q", n), ("lam", 0)), self.size, rows, {"q": q})
        scope = link.scope(("q", n), ("lam", m))
        link.model.connect_compliant(
            link.name,
            link.compiled_law(n, m),
            link.systems,
            scope.operator(self.h, "h", of, m),
            scope.operator(self.H, "H", of, m, n),
            scope.operator(self.dh_dlam, "dh_dlam", of, m, m),
        )
        return m


class Prescribed(Relation):
    """Degrees of freedom that move as they are told: boundary conditions::

        u = v[dofs] − v(t),    p[dofs] = λ

    With `Equality`, ``u = 0``, and ``λ`` is the reaction, as an impulse. There is no gap: ``y``
    is zero.

    Parameters
    ----------
    dofs : sequence of int
        The degrees of freedom, from 0, counted over the linked systems.
    v : (m,) operator of t
        Their velocities.

    Examples
    --------
    >>> model.connect(Prescribed([0], v=["cos(t)"]), Equality(), body)
    """

    def __init__(self, dofs: Sequence[int], v: Operator) -> None:
        self.dofs = [count(dof, "dofs") for dof in dofs]
        self.v = given(v, "v", 1)

    def _connect(self, link: Link) -> int:
        n, m = len(link.state("q")), len(self.dofs)
        link.model.connect_prescribed(
            link.name,
            link.compiled_law(n, m),
            link.systems,
            self.dofs,
            link.scope(("q", n)).operator(self.v, "v", "t", m),
        )
        return m


class LagrangianLinearRelation(Relation):
    """A linear relation of mechanical systems::

        y = H q + D λ + b,    u = H v,    p = Hᵀ λ

    Parameters
    ----------
    H : (m, n) array_like
        Jacobian of the gap, one row a component.
    b : (m,) array_like, optional
        Offset; zero unless given.
    D : (m, m) array_like, optional
        Compliance; zero unless given. With it ``λ`` is a force, and the law is one of position.
    """

    def __init__(
        self, H: Operand, b: Operand | None = None, D: Operand | None = None
    ) -> None:
        self.H = constant(H, "H", 2)
        self.b = None if b is None else constant(b, "b", 1)
        self.D = None if D is None else constant(D, "D", 2)

    def _connect(self, link: Link) -> int:
        scope = link.scope(("q", 0))
        H = scope.constant(self.H, "H")
        b, D = scope.optional(self.b, "b"), scope.optional(self.D, "D")
        m, n = H.shape
        link.model.connect_lagrangian_linear(
            link.name, link.compiled_law(n, m), link.systems, H, b, D
        )
        return m
