"""Functions of users as maps: their shapes are checked, a missing Jacobian is differenced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from saltus._arrays import Array
from saltus._errors import InputError

Map: TypeAlias = "Callable[[Array], Any]"
"""``z`` to ``F(z)``, or to its Jacobian."""


def maps_of(F: Map, jac: Map | None, n: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """The function and its Jacobian, ``n`` by ``n``, with their shapes checked."""
    for what, function in (("F", F), ("jac", jac)):
        if not callable(function) and (what, function) != ("jac", None):
            found = type(function).__name__
            raise TypeError(f"`{what}` must be a function of z, not {found}")
    checked = _checked(F, "F", (n,))
    if jac is None:
        return checked, _differences(checked)
    return checked, _checked(jac, "jac", (n, n))


def _checked(function: Map, what: str, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    def call(z: Array) -> Array:
        value = function(z)
        if value is None:
            raise InputError(f"`{what}` returned None, expected an array of shape {shape}")
        if hasattr(value, "toarray"):
            value = value.toarray()
        array: Array = np.asarray(value, dtype=np.float64)
        if array.shape != shape:
            if array.size == 1 and set(shape) == {1}:
                return array.reshape(shape)
            raise InputError(f"`{what}` returned an array of shape {array.shape}, expected {shape}")
        return array

    return call


def _differences(F: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The Jacobian by central differences, ``∂F/∂zⱼ ≈ (F(z + h eⱼ) − F(z − h eⱼ)) / 2h``."""
    relative = float(np.finfo(np.float64).eps ** (1 / 3))

    def jacobian(z: Array) -> Array:
        columns: Array = np.empty((len(z), len(z)))
        for j in range(len(z)):
            ahead, behind = z.copy(), z.copy()
            ahead[j] += relative * max(1.0, abs(z[j]))
            behind[j] -= relative * max(1.0, abs(z[j]))
            columns[:, j] = (F(ahead) - F(behind)) / (ahead[j] - behind[j])
        return columns

    return jacobian
