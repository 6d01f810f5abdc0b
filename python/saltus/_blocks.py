"""Blocks of unknowns as users write them: ``("interval", -1, 1)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from saltus._arrays import count
from saltus._errors import InputError, did_you_mean
from saltus._problem import matrix_of, spread, vector_of

Block: TypeAlias = "tuple[str, int, list[float]]"
"""Name of the set, number of unknowns, parameters: what the compiled half reads."""

Description: TypeAlias = "str | Sequence[Any]"
"""``"free"``, or a name with its arguments."""


def blocks_of(descriptions: Sequence[Description]) -> list[Block]:
    """The blocks that the descriptions mean."""
    if isinstance(descriptions, str) or not isinstance(descriptions, Sequence):
        found = type(descriptions).__name__
        raise TypeError(f'the blocks must be a list such as [("free", 2)], not {found}')
    blocks: list[Block] = []
    for index, description in enumerate(descriptions):
        blocks.extend(_blocks(index, description))
    return blocks


def _blocks(index: int, description: Description) -> list[Block]:
    words: Sequence[Any] = [description] if isinstance(description, str) else description
    if not isinstance(words, Sequence) or not words or not isinstance(words[0], str):
        raise TypeError(f'block {index} must be a tuple such as ("free", 2), not {description!r}')
    name, arguments = words[0], words[1:]
    known = name.replace("_", "-").lower()
    if known not in _SETS:
        hint = did_you_mean(known, _SETS)
        raise InputError(f"block {index}: there is no set `{name}`{hint} (there are {', '.join(_SETS)})")
    make = _SETS[known]
    signature = inspect.signature(make)
    try:
        signature.bind(*arguments)
    except TypeError:
        expected = ", ".join([f'"{known}"', *(_plain(p) for p in signature.parameters.values())])
        raise InputError(f"block {index}: expected ({expected}), found {description!r}") from None
    try:
        return [(known, size, parameters) for size, parameters in make(*arguments)]
    except InputError as error:
        raise InputError(f"block {index} ({known}): {error}") from None
    except TypeError as error:
        raise TypeError(f"block {index} ({known}): {error}") from None


def _plain(parameter: inspect.Parameter) -> str:
    has_default = parameter.default is not parameter.empty
    return f"{parameter.name}={parameter.default}" if has_default else parameter.name


_Made: TypeAlias = "list[tuple[int, list[float]]]"


def _free(n: Any = 1) -> _Made:
    return [(count(n, "n"), [])]


def _interval(lower: Any, upper: Any, n: Any = None) -> _Made:
    bounds = _together({"lower": lower, "upper": upper})
    if n is None or len(bounds) != 1:
        if n is not None and count(n, "n") != len(bounds):
            raise InputError(f"`n` = {n}, but there are {len(bounds)} bounds")
        return [(1, pair) for pair in bounds]
    return [(count(n, "n"), bounds[0])]


def _graph(points: Any) -> _Made:
    table = matrix_of(points, "points")
    if table.shape[1] != 2:
        raise InputError(f"`points` has the shape {table.shape}, expected pairs (w, z)")
    return [(1, table.ravel().tolist())]


def _coulomb2(mu: Any) -> _Made:
    return [(2, values) for values in _together({"mu": mu})]


def _coulomb3(mu: Any) -> _Made:
    return [(3, values) for values in _together({"mu": mu})]


def _rolling2(mu: Any, mu_r: Any) -> _Made:
    return [(3, values) for values in _together({"mu": mu, "mu_r": mu_r})]


def _rolling3(mu: Any, mu_r: Any) -> _Made:
    return [(5, values) for values in _together({"mu": mu, "mu_r": mu_r})]


def _second_order(n: Any, mu: Any = 1.0) -> _Made:
    return [(count(n, "n"), values) for values in _together({"mu": mu})]


def _drucker_prager(eta: Any, theta: Any) -> _Made:
    return [(3, values) for values in _together({"eta": eta, "theta": theta})]


def _von_mises(sigma_y: Any) -> _Made:
    return [(3, values) for values in _together({"sigma_y": sigma_y})]


_SETS: dict[str, Callable[..., _Made]] = {
    "free": _free,
    "nonnegative": _free,
    "interval": _interval,
    "graph": _graph,
    "coulomb2": _coulomb2,
    "coulomb3": _coulomb3,
    "rolling2": _rolling2,
    "rolling3": _rolling3,
    "second-order": _second_order,
    "drucker-prager": _drucker_prager,
    "von-mises": _von_mises,
}


def _together(values: dict[str, Any]) -> list[list[float]]:
    """The parameters of each block; a number stands for all of them."""
    lengths = {len(vector_of(v, what)): what for what, v in values.items() if np.ndim(v) > 0}
    if len(lengths) > 1:
        said = " and ".join(f"`{what}` has length {length}" for length, what in lengths.items())
        raise InputError(said)
    n = next(iter(lengths), 1)
    columns = [spread(value, what, n).tolist() for what, value in values.items()]
    return [list(row) for row in zip(*columns)]
