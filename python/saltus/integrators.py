"""The one-step schemes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltus import _saltus
from saltus._settings import Settings


class Integrator(Settings):
    """A one-step scheme for the systems of one order."""

    _family = "integrators"

    @staticmethod
    def _check(text: str) -> str:
        return _saltus.check_integrator(text)


class EulerMoreau(Integrator, kind="euler-moreau"):
    """The θ–γ scheme of Euler and Moreau for first-order systems::

        M (x⁺ − x) = h (θ f⁺ + (1 − θ) f) + h (γ r⁺ + (1 − γ) r)

    Parameters
    ----------
    theta : float
        Weight of the step's end in the smooth terms, in [0, 1]. 1 is implicit and the most
        robust, 1/2 is second order where nothing switches.
    gamma : float
        Weight of the step's end in the multiplier terms, in (0, 1].
    """

    theta: float
    gamma: float
    if TYPE_CHECKING:

        def __init__(self, theta: float = ..., gamma: float = ...) -> None: ...


class MoreauJean(Integrator, kind="moreau-jean", by_name=["threshold"]):
    """The θ-scheme of Moreau and Jean for mechanical systems with impacts::

        M (v⁺ − v) = h F_θ + Hᵀ λ,    q⁺ = q + h (θ v⁺ + (1 − θ) v)

    Parameters
    ----------
    theta : float
        Weight of the step's end, in [0, 1]. 1/2 conserves the energy of free motion, 1 damps
        fast vibrations.
    gamma : float
        A contact is active in a step that starts with ``y + γ h u ≤ threshold``. In [0, 1].
    projection : str, optional
        How positions are kept on the constraints: ``"direct"``, after the step; ``"combined"``,
        with the contacts that the step closes; ``"ggl"``, together with the velocities. Not at
        all unless given: penetration is then measured, not corrected.
    threshold : float
        See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
        active that round-off has lifted. By name only.
    """

    theta: float
    gamma: float
    projection: str | None
    threshold: float
    if TYPE_CHECKING:

        def __init__(
            self,
            theta: float = ...,
            gamma: float = ...,
            projection: str | None = ...,
            *,
            threshold: float = ...,
        ) -> None: ...


class SchatzmanPaoli(Integrator, kind="schatzman-paoli"):
    """The scheme of Schatzman and Paoli for mechanical systems: contacts hold in the positions.

    Parameters
    ----------
    theta : float
        Weight of the outer positions in the forces, in [0, 1]. 0 is explicit, from 1/4 on the
        scheme is stable for every step.
    """

    theta: float
    if TYPE_CHECKING:

        def __init__(self, theta: float = ...) -> None: ...


class GeneralizedAlpha(Integrator, kind="generalized-alpha", by_name=["threshold"]):
    """The generalized-α scheme for mechanical systems: second order while nothing impacts.

    Parameters
    ----------
    rho_inf : float
        What is left of infinitely fast vibrations after a step, in [0, 1]. 1 damps nothing.
    gamma : float
        A contact is active in a step that starts with ``y + γ h u ≤ threshold``. In [0, 1].
    projection : str, optional
        As of `MoreauJean`.
    threshold : float
        As of `MoreauJean`. By name only.
    """

    rho_inf: float
    gamma: float
    projection: str | None
    threshold: float
    if TYPE_CHECKING:

        def __init__(
            self,
            rho_inf: float = ...,
            gamma: float = ...,
            projection: str | None = ...,
            *,
            threshold: float = ...,
        ) -> None: ...
