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


class MoreauJean(
    Integrator,
    kind="moreau-jean",
    by_name=["threshold"],
    reserved={"projection": "projection on positions"},
):
    """The θ-scheme of Moreau and Jean for mechanical systems with impacts::

        M (v⁺ − v) = h F_θ + Hᵀ λ,    q⁺ = q + h (θ v⁺ + (1 − θ) v)

    Parameters
    ----------
    theta : float
        Weight of the step's end, in [0, 1]. 1/2 conserves the energy of free motion, 1 damps
        fast vibrations.
    gamma : float
        A contact is active in a step that starts with ``y + γ h u ≤ threshold``. In [0, 1].
    projection : None
        Projection on positions (``"direct"``, ``"combined"``) does not exist yet: penetration
        is measured, not corrected.
    threshold : float
        See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
        active that round-off has lifted. By name only.
    """

    theta: float
    gamma: float
    threshold: float
    if TYPE_CHECKING:

        def __init__(
            self,
            theta: float = ...,
            gamma: float = ...,
            projection: None = ...,
            *,
            threshold: float = ...,
        ) -> None: ...
