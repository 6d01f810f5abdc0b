"""Rigid bodies in space and in the plane."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from saltus import _saltus
from saltus._arrays import Operand, constant
from saltus._operators import Operator, Scope, given_or_none, inputs
from saltus.systems import System


def _needed(value: Operand | None, what: str) -> Operand:
    if value is None:
        raise TypeError(f"a rigid body needs `{what}`")
    return value


class RigidBody(System):
    """A rigid body in space, after Newton and Euler::

        m v̇ = m gravity + force + p,    J ω̇ + ω × J ω = moment + p,    ẋ = v,  ṗ = ½ p (0, ω)

    Its configuration ``q`` has seven components, the `position` of the center of mass and the
    `orientation`, a quaternion ``(w, x, y, z)`` that leads from the frame of the body to that of the
    world. Its velocity has six: `v` in the frame of the world, and `omega` in the frame of the body.

    Parameters
    ----------
    position : (3,) array_like, optional
        Where the center of mass is at first; the origin unless given.
    orientation : (4,) array_like, optional
        A quaternion ``(w, x, y, z)`` of any length but zero; not turned unless given.
    v, omega : (3,) array_like, optional
        First velocity and angular velocity; at rest unless given.
    mass : float
    inertia : (3,) or (3, 3) array_like
        Moments of inertia about the center of mass, in the frame of the body: those about its
        axes, or a symmetric matrix.
    gravity : (3,) array_like, optional
        Acceleration of gravity; zero unless given.
    force : (3,) operator of t, q, v, optional
        On the center of mass; zero unless given. ``v`` are all six components here.
    force_frame : {"world", "body"}
        The frame of `force`.
    moment : (3,) operator of t, q, v, optional
        About the center of mass; zero unless given.
    moment_frame : {"body", "world"}
        The frame of `moment`.
    z0 : array_like, optional
        Inputs until `TimeStepping.set_input` changes them; `force` and `moment` may depend on them.

    Examples
    --------
    >>> model.add(RigidBody(omega=[0.01, 1, 0.02], mass=1, inertia=[1, 2, 3]), name="body")
    """

    def __init__(
        self,
        position: Operand = (0, 0, 0),
        orientation: Operand = (1, 0, 0, 0),
        v: Operand = (0, 0, 0),
        omega: Operand = (0, 0, 0),
        mass: Operand | None = None,
        inertia: Operand | None = None,
        gravity: Operand = (0, 0, 0),
        force: Operator | None = None,
        force_frame: str = "world",
        moment: Operator | None = None,
        moment_frame: str = "body",
        z0: Operand | None = None,
    ) -> None:
        self.position = constant(position, "position", 1)
        self.orientation = constant(orientation, "orientation", 1)
        self.v = constant(v, "v", 1)
        self.omega = constant(omega, "omega", 1)
        self.mass = constant(_needed(mass, "mass"), "mass", 1)
        inertia = _needed(inertia, "inertia")
        axes = 1 if np.ndim(np.asarray(inertia, dtype=object)) < 2 else 2
        self.inertia = constant(inertia, "inertia", axes)
        self.gravity = constant(gravity, "gravity", 1)
        self.force = given_or_none(force, "force", 1)
        self.force_frame = force_frame
        self.moment = given_or_none(moment, "moment", 1)
        self.moment_frame = moment_frame
        self.z0 = inputs(z0)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        scope = Scope(f"system `{name}`", parameters, ("q", 7), ("v", 6), len(self.z0))
        inertia = scope.constant(self.inertia, "inertia")
        _saltus.add_rigid_body(
            model,
            name,
            scope.constant(self.position, "position"),
            scope.constant(self.orientation, "orientation"),
            scope.constant(self.v, "v"),
            scope.constant(self.omega, "omega"),
            float(scope.constant(self.mass, "mass")[0]),
            np.diag(inertia) if inertia.ndim == 1 else inertia,
            scope.constant(self.gravity, "gravity"),
            scope.operator(self.force, "force", "t q v", 3),
            self.force_frame,
            scope.operator(self.moment, "moment", "t q v", 3),
            self.moment_frame,
            scope.constant(self.z0, "z0"),
        )
        return 2, 6


class RigidBody2d(System):
    """A rigid body in the plane::

        m v̇ = m gravity + force + p,    J ω̇ = moment + p,    q = (x, y, angle)

    Parameters
    ----------
    position : (2,) array_like, optional
        Where the center of mass is at first; the origin unless given.
    angle : float
        How it is turned at first, in radians.
    v : (2,) array_like, optional
        First velocity; at rest unless given.
    omega : float
        First angular velocity.
    mass, inertia : float
        The moment of inertia is that about the center of mass.
    gravity : (2,) array_like, optional
        Acceleration of gravity; zero unless given.
    force : (2,) operator of t, q, v, optional
        On the center of mass; zero unless given. ``v`` are all three components here.
    force_frame : {"world", "body"}
        The frame of `force`.
    moment : (1,) operator of t, q, v, optional
        About the center of mass; zero unless given.
    z0 : array_like, optional
        Inputs until `TimeStepping.set_input` changes them.
    """

    def __init__(
        self,
        position: Operand = (0, 0),
        angle: Operand = 0.0,
        v: Operand = (0, 0),
        omega: Operand = 0.0,
        mass: Operand | None = None,
        inertia: Operand | None = None,
        gravity: Operand = (0, 0),
        force: Operator | None = None,
        force_frame: str = "world",
        moment: Operator | None = None,
        z0: Operand | None = None,
    ) -> None:
        self.position = constant(position, "position", 1)
        self.angle = constant(angle, "angle", 1)
        self.v = constant(v, "v", 1)
        self.omega = constant(omega, "omega", 1)
        self.mass = constant(_needed(mass, "mass"), "mass", 1)
        self.inertia = constant(_needed(inertia, "inertia"), "inertia", 1)
        self.gravity = constant(gravity, "gravity", 1)
        self.force = given_or_none(force, "force", 1)
        self.force_frame = force_frame
        self.moment = given_or_none(moment, "moment", 1)
        self.z0 = inputs(z0)

    def _add(
        self, model: _saltus.Model, name: str, parameters: Mapping[str, float]
    ) -> tuple[int, int]:
        scope = Scope(f"system `{name}`", parameters, ("q", 3), ("v", 3), len(self.z0))
        _saltus.add_rigid_body_2d(
            model,
            name,
            scope.constant(self.position, "position"),
            float(scope.constant(self.angle, "angle")[0]),
            scope.constant(self.v, "v"),
            float(scope.constant(self.omega, "omega")[0]),
            float(scope.constant(self.mass, "mass")[0]),
            float(scope.constant(self.inertia, "inertia")[0]),
            scope.constant(self.gravity, "gravity"),
            scope.operator(self.force, "force", "t q v", 2),
            self.force_frame,
            scope.operator(self.moment, "moment", "t q v", 1),
            scope.constant(self.z0, "z0"),
        )
        return 2, 3
