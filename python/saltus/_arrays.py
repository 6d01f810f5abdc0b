"""Numbers and arrays from whatever users write."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus import _saltus
from saltus._errors import InputError, ModelError

Array: TypeAlias = NDArray[np.float64]
"""An array of float64."""

Formulas: TypeAlias = "str | Sequence[str | float] | Sequence[Sequence[str | float]]"
"""Formula strings, alone or among numbers."""

Operand: TypeAlias = "ArrayLike | Formulas"
"""What a constant array may be given as."""


def real(value: Any, what: str) -> float:
    """A number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"`{what}` must be a number, not {type(value).__name__}")


def count(value: Any, what: str) -> int:
    """A whole number that is not negative."""
    try:
        value = operator.index(value)
    except TypeError:
        found = type(value).__name__
        raise TypeError(f"`{what}` must be a whole number, not {found}") from None
    if not 0 <= value < 2**63:
        raise InputError(f"`{what}` = {value} is outside 0 to 2^63 - 1")
    return int(value)


def whole(value: Any, what: str) -> int:
    """A whole number of either sign, also one that is written as 2.0."""
    number = real(value, what)
    if not number.is_integer() or abs(number) >= 2**31:
        raise InputError(f"`{what}` is {number:g}, expected a whole number")
    return int(number)


def pair(value: Any, what: str, expected: str) -> tuple[float, float]:
    """Two numbers; `expected` is what messages call them."""
    if isinstance(value, (str, Mapping)) or np.ndim(_raw(value, what)) != 1:
        raise TypeError(f"`{what}` must be {expected}, not {_shown(value)}")
    numbers = [real(one, f"{what}[{k}]") for k, one in enumerate(value)]
    if len(numbers) != 2:
        raise InputError(f"`{what}` has {len(numbers)} components, expected {expected}")
    return numbers[0], numbers[1]


def _shown(value: Any) -> str:
    """A value as messages show it: itself where it is short."""
    text = repr(value)
    return text if len(text) <= 40 else type(value).__name__


def vector(value: Any, what: str) -> Array:
    """A vector; a number alone stands for a vector of one."""
    return _shaped(_numeric(value, what), what, 1)


def matrix(value: Any, what: str) -> Array:
    """A matrix, also from SciPy's sparse ones; a number alone stands for a matrix of one."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    return _shaped(_numeric(value, what), what, 2)


def constant(value: Any, what: str, axes: int) -> Any:
    """A constant of a model: an array, or, where formulas use parameters, the formulas."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    array = _raw(value, what)
    if _has_text(array):
        array = _shaped(array, what, axes)
        values = _saltus.evaluate(f"`{what}`", _formulas(array.ravel(), what), [], True)
        return _formulas(array, what) if values is None else values.reshape(array.shape)
    return _shaped(_numeric(array, what, value), what, axes)


def evaluated(value: Any, what: str, parameters: Mapping[str, float]) -> Any:
    """The array of a `constant`, now that the parameters are known."""
    if not isinstance(value, list):
        return value
    array = np.asarray(value, dtype=object)
    entries = _formulas(array.ravel(), what)
    values = _saltus.evaluate(what, entries, list(parameters.items()), False)
    assert values is not None
    return values.reshape(array.shape)


def operand(value: Any, what: str, axes: int) -> Any:
    """Numbers as an array, formulas among them as lists."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    array = _raw(value, what)
    if not _has_text(array):
        return _shaped(_numeric(array, what, value), what, axes)
    return _formulas(_shaped(array, what, axes), what)


def _raw(value: Any, what: str) -> NDArray[Any]:
    """An array of whatever the entries are."""
    if isinstance(value, np.ndarray):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        raise ModelError(f"`{what}` has rows of different lengths") from None
    if array.dtype.kind in "US":  # numbers among them have become texts: ask again
        array = np.asarray(value, dtype=object)
    return array


def _has_text(array: NDArray[Any]) -> bool:
    if array.dtype.kind == "O":
        return any(isinstance(entry, str) for entry in array.flat)
    return array.dtype.kind == "U"


def _numeric(value: Any, what: str, original: Any = None) -> Array:
    """An array of float64; `original` is what messages speak of, if it is not the value."""
    array = _raw(value, what)
    original = value if original is None else original
    kind = array.dtype.kind
    if kind == "f" and array.dtype == np.float64:
        return array
    if kind in "buif":
        return array.astype(np.float64)
    if _has_text(array):
        values = _saltus.evaluate(f"`{what}`", _formulas(array.ravel(), what), [], False)
        assert values is not None
        return values.reshape(array.shape)
    if kind == "O" and all(isinstance(entry, numbers.Real) for entry in array.flat):
        return array.astype(np.float64)
    found = "complex numbers" if kind == "c" else type(original).__name__
    if kind == "O" and array.ndim > 0:
        others = (entry for entry in array.flat if not isinstance(entry, numbers.Real))
        found = f"an array with {type(next(others)).__name__}"
    raise TypeError(f"`{what}` must hold numbers, not {found}")


def _shaped(array: NDArray[Any], what: str, axes: int) -> NDArray[Any]:
    if array.ndim == 0:
        array = array.reshape((1,) * axes)
    if array.ndim != axes:
        if axes == 2 and array.ndim == 1:
            raise ModelError(f"`{what}` has one axis, expected a matrix: write its rows, as in [[1, 0]]")
        expected = "a vector" if axes == 1 else "a matrix"
        raise ModelError(f"`{what}` has the shape {array.shape}, expected {expected}")
    return array


def _formulas(array: NDArray[Any], what: str) -> list[Any]:
    """Numbers and formulas, row by row."""
    if array.ndim > 1:
        return [_formulas(row, what) for row in array]
    return [value if isinstance(value, str) else real(value, what) for value in array.tolist()]
