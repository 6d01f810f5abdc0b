"""Laws ``−y ∈ N_K(λ)``, component by component unless they are of friction (mechanics: with
``u`` for ``y``).

A coefficient of a contact (``e``, ``mu``, ``mu_r``) is a number, or varies: a formula of ``t``,
``q[i]`` (the coordinates of the linked systems) and ``u[i]`` (the relative velocity), a Python
function of these, or a compiled one. It is taken at the beginning of each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import Operand, constant, matrix, real, vector
from saltus._errors import ModelError
from saltus._operators import Coefficient, Scope, coefficient


class Law:
    """What `Model.connect` takes second."""

    def _law(self, scope: Scope) -> _saltus.Law:
        raise NotImplementedError

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Complementarity(Law):
    """``0 ≤ y ⟂ λ ≥ 0``: ideal diodes, unilateral constraints of first-order systems."""

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.complementarity()


@dataclass(frozen=True)
class Equality(Law):
    """``y = 0``, ``λ`` free (mechanics: ``u = 0``): joints, algebraic equations."""

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.equality()


@dataclass(frozen=True)
class Relay(Law):
    """``λ = lower`` where ``y > 0``, ``λ = upper`` where ``y < 0``, between them where ``y = 0``.

    So ``ẋ = −sgn x`` is ``y = x``, ``r = λ``. In mechanics the bounds are forces on ``u``.

    Parameters
    ----------
    lower, upper : float or (m,) array_like
        One number for all components, or one each; ``-inf`` and ``inf`` mean no bound.
    """

    lower: ArrayLike = -1.0
    upper: ArrayLike = 1.0

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.relay(vector(self.lower, "lower"), vector(self.upper, "upper"))


@dataclass(frozen=True, eq=False)
class PiecewiseLinear(Law):
    """``(y, λ)`` on a filled-in monotone graph: saturation, dead zone, relay with dead zone, Zener.

    In mechanics the graph gives a force of ``u``.

    Parameters
    ----------
    points : (k, 2) array_like
        Points ``(y, λ)``, ``y`` not decreasing and ``λ`` not increasing. The first and the last
        segment go on to infinity.

    Examples
    --------
    A saturation between -1 and 1:

    >>> PiecewiseLinear([(-2, 1), (-1, 1), (1, -1), (2, -1)])
    """

    points: ArrayLike

    def __post_init__(self) -> None:
        points = matrix(self.points, "points")
        if points.shape[1] != 2:
            raise ModelError(f"`points` has the shape {points.shape}, expected pairs (y, lam)")
        self._set(points=points)

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.piecewise_linear([tuple(row) for row in np.asarray(self.points).tolist()])


@dataclass(frozen=True)
class Switch(Law):
    """An ideal switch: closed ``y = 0``, ``λ`` free; open ``λ = 0``, ``y`` free.

    For first-order systems, ``y`` a voltage (less ``R_on`` times the current) and ``λ`` the current.

    Parameters
    ----------
    control : str
        A formula of ``t``, states, outputs and parameters, as in events (``"source.x[0]"``,
        ``"'comparator'.y[0]"``), taken at the beginning of each step.
    on : float
        It closes where the control is above this.
    off : float, optional
        It opens where the control is below this; ``on`` unless given, and never above it.
    closed : bool
        Whether it is closed at the beginning.

    Examples
    --------
    Closed for the first 40 % of every microsecond:

    >>> Switch("0.4e-6 - mod(t, 1e-6)")
    """

    control: str
    on: float = 0.0
    off: float | None = None
    closed: bool = False

    def _law(self, scope: Scope) -> _saltus.Law:
        on = real(self.on, "on")
        off = on if self.off is None else real(self.off, "off")
        return _saltus.Law.switch(str(self.control), on, off, bool(self.closed))


@dataclass(frozen=True, eq=False)
class NormalCone(Law):
    """``−y ∈ N_P(λ)`` with the polyhedron ``P = { λ : A λ ≤ b }``.

    Parameters
    ----------
    A : (k, m) array_like
        One row a half-space.
    b : (k,) array_like
        One entry a half-space.
    """

    A: Operand
    b: Operand

    def __post_init__(self) -> None:
        self._set(A=constant(self.A, "A", 2), b=constant(self.b, "b", 1))

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.normal_cone(scope.constant(self.A, "A"), scope.constant(self.b, "b"))


@dataclass(frozen=True)
class NewtonImpact(Law):
    """``0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0`` where the gap is closed: contact without friction.

    Parameters
    ----------
    e : float, formula or function
        Restitution in [0, 1].
    """

    e: Coefficient

    def __post_init__(self) -> None:
        self._set(e=coefficient(self.e, "e"))

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.newton_impact(_operator(scope, self.e, "e"))


@dataclass(frozen=True)
class ImpactFriction(Law):
    """Contact with restitution and Coulomb's friction, in the plane (two components: normal,
    tangent) or in space (three: normal, two tangents)::

        0 ≤ u_N⁺ + e u_N⁻ ⟂ λ_N ≥ 0,    ‖λ_T‖ ≤ μ λ_N,    λ_T against u_T⁺ + e_T u_T⁻ where it slips

    Parameters
    ----------
    e : float, formula or function
        Restitution in [0, 1].
    mu : float, formula or function
        Friction coefficient, not negative.
    et : float
        Tangential restitution in [-1, 1].

    Examples
    --------
    Friction that falls with the velocity of sliding:

    >>> ImpactFriction(e=0, mu="0.2 + 0.1*exp(-abs(u[1]))")
    >>> ImpactFriction(e=0, mu=lambda u: 0.2 + 0.1 * np.exp(-abs(u[1])))
    """

    e: Coefficient
    mu: Coefficient
    et: float = 0.0

    def __post_init__(self) -> None:
        e, mu = coefficient(self.e, "e"), coefficient(self.mu, "mu")
        self._set(e=e, mu=mu, et=real(self.et, "et"))

    def _law(self, scope: Scope) -> _saltus.Law:
        e, mu = _operator(scope, self.e, "e"), _operator(scope, self.mu, "mu")
        return _saltus.Law.impact_friction(e, mu, self.et)


@dataclass(frozen=True)
class RollingFriction(Law):
    """`ImpactFriction` with rolling resistance ``‖λ_R‖ ≤ μ_r λ_N``, in the plane (three
    components: normal, tangent, rolling rate) or in space (five).

    Parameters
    ----------
    e : float, formula or function
        Restitution in [0, 1].
    mu : float, formula or function
        Friction coefficient, not negative.
    mu_r : float, formula or function
        Coefficient of rolling resistance, a length, not negative.
    """

    e: Coefficient
    mu: Coefficient
    mu_r: Coefficient

    def __post_init__(self) -> None:
        e, mu = coefficient(self.e, "e"), coefficient(self.mu, "mu")
        self._set(e=e, mu=mu, mu_r=coefficient(self.mu_r, "mu_r"))

    def _law(self, scope: Scope) -> _saltus.Law:
        e, mu = _operator(scope, self.e, "e"), _operator(scope, self.mu, "mu")
        return _saltus.Law.rolling_friction(e, mu, _operator(scope, self.mu_r, "mu_r"))


@dataclass(frozen=True)
class Fremond(Law):
    """Frémond's law: friction against the mean of the tangential velocities before and after,
    which never creates energy::

        0 ≤ u_N⁺ + e u_N⁻ ⟂ λ_N ≥ 0,    ‖λ_T‖ ≤ μ λ_N,    λ_T against (u_T⁺ + u_T⁻)/2 where it slips

    Parameters
    ----------
    e : float, formula or function
        Restitution in [0, 1].
    mu : float, formula or function
        Friction coefficient, not negative.
    """

    e: Coefficient
    mu: Coefficient

    def __post_init__(self) -> None:
        self._set(e=coefficient(self.e, "e"), mu=coefficient(self.mu, "mu"))

    def _law(self, scope: Scope) -> _saltus.Law:
        e, mu = _operator(scope, self.e, "e"), _operator(scope, self.mu, "mu")
        return _saltus.Law.fremond(e, mu)


@dataclass(frozen=True)
class MultipleImpact(Law):
    """The law of Liu, Zhao and Brogliato for impacts on several closed contacts at once, without
    friction: the impulse is shared as by springs of force ``K δ^η``, each of which gives back the
    share ``e²`` of its energy. Between impacts ``0 ≤ u⁺ ⟂ λ ≥ 0``.

    Parameters
    ----------
    e : float
        Energetic restitution in [0, 1].
    stiffness : float
        ``K``, positive; between contacts of one exponent only ratios count.
    exponent : float
        ``η``, at least 1: 1 for linear springs, 3/2 for Hertz' contact.
    """

    e: float
    stiffness: float
    exponent: float = 1.5

    def __post_init__(self) -> None:
        self._set(
            e=real(self.e, "e"),
            stiffness=real(self.stiffness, "stiffness"),
            exponent=real(self.exponent, "exponent"),
        )

    def _law(self, scope: Scope) -> _saltus.Law:
        return _saltus.Law.multiple_impact(self.e, self.stiffness, self.exponent)


@dataclass(frozen=True)
class Cohesive(Law):
    """A bond that is damaged by opening, and contact with friction where it is closed (one
    component, or two or three with friction)::

        r_N = −β K ⟨y_N⟩₊,    r_T = −β s K y_T,    δ² = ⟨y_N⟩₊² + s ‖y_T‖²

    The force ``β K δ`` grows up to the strength and falls in a straight line to zero at
    ``2 energy / strength``. ``β`` goes from 1 to 0, never back, and is recorded as ``beta``.
    Friction is ``(1 − β) mu``. The interaction has its components twice: those of the contact,
    then those of the bond.

    Parameters
    ----------
    stiffness : float
        ``K``, force per opening of the sound bond.
    strength : float
        The largest force.
    energy : float
        What it takes to break the bond; more than ``strength²/(2 stiffness)``.
    shear : float
        ``s``, the tangential stiffness beside the normal one.
    e : float, formula or function
        Restitution of the contact in [0, 1].
    mu : float, formula or function
        Friction coefficient of the broken bond, not negative.
    """

    stiffness: float
    strength: float
    energy: float
    shear: float = 1.0
    e: Coefficient = 0.0
    mu: Coefficient = 0.0

    def __post_init__(self) -> None:
        self._set(
            stiffness=real(self.stiffness, "stiffness"),
            strength=real(self.strength, "strength"),
            energy=real(self.energy, "energy"),
            shear=real(self.shear, "shear"),
            e=coefficient(self.e, "e"),
            mu=coefficient(self.mu, "mu"),
        )

    def _law(self, scope: Scope) -> _saltus.Law:
        e, mu = _operator(scope, self.e, "e"), _operator(scope, self.mu, "mu")
        bond = (self.stiffness, self.strength, self.energy, self.shear)
        return _saltus.Law.cohesive(*bond, e, mu)


@dataclass(frozen=True)
class BinaryCohesive(Law):
    """A bond that pulls with a constant force until it opens too far, and contact with friction
    where it is closed; components as in `Cohesive`. Broken, it stays so: ``beta`` is 1, then 0.

    Parameters
    ----------
    strength : float
        The force of the bond.
    opening : float
        The gap beyond which it is broken.
    e : float, formula or function
        Restitution of the contact in [0, 1].
    mu : float, formula or function
        Friction coefficient, not negative.
    """

    strength: float
    opening: float
    e: Coefficient = 0.0
    mu: Coefficient = 0.0

    def __post_init__(self) -> None:
        self._set(
            strength=real(self.strength, "strength"),
            opening=real(self.opening, "opening"),
            e=coefficient(self.e, "e"),
            mu=coefficient(self.mu, "mu"),
        )

    def _law(self, scope: Scope) -> _saltus.Law:
        e, mu = _operator(scope, self.e, "e"), _operator(scope, self.mu, "mu")
        return _saltus.Law.binary_cohesive(self.strength, self.opening, e, mu)


def _operator(scope: Scope, value: Any, what: str) -> _saltus.Operator:
    if isinstance(value, float):
        value = np.array([value])
    operator: _saltus.Operator = scope.operator(value, what, "t q u", 1)
    return operator
