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


class EulerMoreau(Integrator, kind="euler-moreau", by_name=["systems"]):
    """The θ–γ scheme of Euler and Moreau for first-order systems::

        M (x⁺ − x) = h (θ f⁺ + (1 − θ) f) + h (γ r⁺ + (1 − γ) r)

    Parameters
    ----------
    theta : float
        Weight of the step's end in the smooth terms, in [0, 1]. 1 is implicit and the most
        robust, 1/2 is second order where nothing switches.
    gamma : float
        Weight of the step's end in the multiplier terms, in (0, 1].
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    theta: float
    gamma: float
    systems: list[str]
    if TYPE_CHECKING:

        def __init__(
            self, theta: float = ..., gamma: float = ..., *, systems: list[str] = ...
        ) -> None: ...


class MoreauJean(Integrator, kind="moreau-jean", by_name=["threshold", "form", "systems"]):
    """The θ-scheme of Moreau and Jean for mechanical systems with impacts::

        M (v⁺ − v) = h F_θ + Hᵀ λ,    q⁺ = q + h (θ v⁺ + (1 − θ) v)

    Parameters
    ----------
    theta : float
        Weight of the step's end, in [0, 1]. 1/2 conserves the energy of free motion, 1 damps
        fast vibrations.
    gamma : float
        A contact is active in a step that starts with ``y + γ h u ≤ threshold``. In [0, 1].
    projection : str or None
        How positions are kept on the constraints: ``"direct"``, after the step;
        ``"combined"``, with the contacts that the step closes; ``"ggl"``, together with the
        velocities. None: penetration and drift are measured, not corrected.
    threshold : float
        See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
        active that round-off has lifted. By name only.
    form : str
        What the problem of a step is written in: ``"reduced"``, the relative velocities alone;
        ``"global"``, the velocities too, with the product ``H W⁻¹ Hᵀ`` left to the method
        (without compliance, polyhedra and bonds). By name only.
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    theta: float
    gamma: float
    projection: str | None
    threshold: float
    form: str
    systems: list[str]
    if TYPE_CHECKING:

        def __init__(
            self,
            theta: float = ...,
            gamma: float = ...,
            projection: str | None = ...,
            *,
            threshold: float = ...,
            form: str = ...,
            systems: list[str] = ...,
        ) -> None: ...


class SchatzmanPaoli(Integrator, kind="schatzman-paoli", by_name=["systems"]):
    """The scheme of Schatzman and Paoli for mechanical systems: contacts and constraints hold in
    the positions::

        M (q⁺ − 2 q + q⁻) = h² F(t, q̂, v̂) + h Hᵀ λ,    0 ≤ y⁺ + e y⁻ ⟂ λ ≥ 0
        q̂ = θ q⁺ + (1 − 2 θ) q + θ q⁻,    v̂ = (q⁺ − q⁻)/(2 h)

    Parameters
    ----------
    theta : float
        Weight of the outer positions in the forces, in [0, 1]: 0 is explicit, from 1/4 on the
        scheme is stable for every step.
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    theta: float
    systems: list[str]
    if TYPE_CHECKING:

        def __init__(self, theta: float = ..., *, systems: list[str] = ...) -> None: ...


class GeneralizedAlpha(
    Integrator,
    kind="generalized-alpha",
    by_name=["gamma", "projection", "threshold", "systems"],
):
    """The generalized-α scheme for mechanical systems: second order while nothing impacts, with
    numerical damping of fast vibrations::

        (1 − α_m) a⁺ + α_m a = (1 − α_f) v̇⁺ + α_f v̇,    M v̇ = F
        v⁺ = v + h (1 − γ) a + h γ a⁺ + M⁻¹ Hᵀ λ

    Parameters
    ----------
    rho_inf : float
        What is left of infinitely fast vibrations after a step, in [0, 1]: 1 damps nothing.
    gamma : float
        A contact is active in a step that starts with ``y + γ h u ≤ threshold``. In [0, 1].
    projection : str or None
        How positions are kept on the constraints: ``"direct"``, after the step;
        ``"combined"``, with the contacts that the step closes; ``"ggl"``, together with the
        velocities. None: penetration and drift are measured, not corrected.
    threshold : float
        See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
        active that round-off has lifted. By name only.
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    rho_inf: float
    gamma: float
    projection: str | None
    threshold: float
    systems: list[str]
    if TYPE_CHECKING:

        def __init__(
            self,
            rho_inf: float = ...,
            *,
            gamma: float = ...,
            projection: str | None = ...,
            threshold: float = ...,
            systems: list[str] = ...,
        ) -> None: ...


class D1MinusLinear(Integrator, kind="d1-minus-linear", by_name=["tol", "systems"]):
    """The half-explicit D1-minus scheme of Schindler and Acary for mechanical systems: forces of
    contacts that stay closed at both ends of the step, impulses of those that close at its end::

        v_free = v + ½ h (a⁺ + a⁻),    v' = v_free + M⁻¹ Hᵀ Λ,    0 ≤ u' + e u_free ⟂ Λ ≥ 0

    Parameters
    ----------
    variant : str
        The level at which forces of contacts that stay closed are found: ``"acceleration"``
        (without friction) or ``"velocity"``.
    tol : float
        Gap, and speed, up to which a contact is closed. By name only.
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    variant: str
    tol: float
    systems: list[str]
    if TYPE_CHECKING:

        def __init__(
            self, variant: str = ..., *, tol: float = ..., systems: list[str] = ...
        ) -> None: ...


class MoreauJeanBilbao(Integrator, kind="moreau-jean-bilbao", by_name=["systems"]):
    """The scheme of Bilbao for mechanical systems with diagonal M, C and K, whose free vibration
    it computes exactly::

        W (v⁺ − v) = −(1 − e^{−2σh}) W v − h K q + h F + Hᵀ λ,    q⁺ = q + h v⁺

    Parameters
    ----------
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    systems: list[str]
    if TYPE_CHECKING:

        def __init__(self, *, systems: list[str] = ...) -> None: ...


class ZeroOrderHold(Integrator, kind="zero-order-hold", by_name=["systems"]):
    """The zero-order hold for linear first-order systems: exact while forcing and multiplier are
    constant::

        x⁺ = e^{Ah} x + ∫₀ʰ e^{As} ds (b + B λ⁺)

    Parameters
    ----------
    systems : list of str
        Names of the systems it serves, or the systems themselves; by default all of its order
        that no other integrator names. By name only.
    """

    systems: list[str]
    if TYPE_CHECKING:

        def __init__(self, *, systems: list[str] = ...) -> None: ...
