"""Laws ``−y ∈ N_K(λ)``, component by component (mechanics: with ``u`` for ``y``)."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import real, vector


class Law:
    """What `Model.connect` takes second."""

    def _law(self) -> _saltus.Law:
        raise NotImplementedError


@dataclass(frozen=True)
class Complementarity(Law):
    """``0 ≤ y ⟂ λ ≥ 0``: ideal diodes, unilateral constraints of first-order systems."""

    def _law(self) -> _saltus.Law:
        return _saltus.Law.complementarity()


@dataclass(frozen=True)
class Equality(Law):
    """``y = 0``, ``λ`` free (mechanics: ``u = 0``): joints, algebraic equations."""

    def _law(self) -> _saltus.Law:
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

    def _law(self) -> _saltus.Law:
        return _saltus.Law.relay(vector(self.lower, "lower"), vector(self.upper, "upper"))


@dataclass(frozen=True)
class NewtonImpact(Law):
    """``0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0`` where the gap is closed: contact without friction.

    Parameters
    ----------
    e : float
        Restitution in [0, 1].
    """

    e: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "e", real(self.e, "e"))

    def _law(self) -> _saltus.Law:
        return _saltus.Law.newton_impact(self.e)
