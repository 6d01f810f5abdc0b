"""Operators from whatever users write: arrays, formulas, Python functions, compiled functions."""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import Formulas, constant, evaluated, operand, real
from saltus._errors import FileError, InputError, MissingFileError, OperatorError

CFUNC_SIGNATURE = (
    "int32(float64, CPointer(float64), int64, CPointer(float64), int64, "
    "CPointer(float64), int64, CPointer(float64), int64)"
)
"""The signature of compiled functions in Numba's words, for ``numba.cfunc``; see `plugin`."""


class Compiled(Protocol):
    """A compiled function, known by its address; see `plugin`."""

    @property
    def address(self) -> int:
        """Where the function is."""


Operator: TypeAlias = "ArrayLike | Callable[..., ArrayLike | None] | Formulas | Compiled"
"""What an operator can be given as."""

Coefficient: TypeAlias = "float | str | Callable[..., Any] | Compiled"
"""What a coefficient of a law can be given as."""


class Plugin:
    """A function of a shared library; made by `plugin`.

    Attributes
    ----------
    path, symbol : str
    address : int
    """

    def __init__(self, path: str, symbol: str, library: ctypes.CDLL, address: int) -> None:
        self.path = path
        self.symbol = symbol
        self.address = address
        self._library = library

    def __repr__(self) -> str:
        return f"plugin({self.path!r}, {self.symbol!r})"


def plugin(path: str | os.PathLike[str], symbol: str) -> Plugin:
    """A compiled function out of a shared library, for any operator.

    It is called without the interpreter, through the one signature that all compiled functions
    have, also those known by an ``address`` (``numba.cfunc(sl.CFUNC_SIGNATURE)``)::

        int function(double t,
                     const double *first,  int64_t first_len,     // x or q
                     const double *second, int64_t second_len,    // v, lam or u
                     const double *z,      int64_t z_len,         // inputs
                     double *out,          int64_t out_len);

    It fills all of ``out``, a matrix row by row, and returns 0; any other number is an error. It
    may be called from any thread, and must keep no pointer. What the two vectors are depends on
    the operator, as for Python functions; one that the operator does not have is of length 0.

    Parameters
    ----------
    path : path
        The library, a file, or a name that the system's loader finds.
    symbol : str
        The function's name.
    """
    path = os.fspath(path)
    found = os.path.exists(path)
    if not found and os.path.dirname(path):
        raise MissingFileError(f"there is no file `{path}`")
    try:
        library = ctypes.CDLL(os.path.abspath(path) if found else path)
    except OSError as error:
        raise FileError(f"`{path}` is not a library that can be loaded: {error}") from None
    try:
        function = getattr(library, symbol)
    except AttributeError:
        raise InputError(f"the library `{path}` has no function `{symbol}`") from None
    address = ctypes.cast(function, ctypes.c_void_p).value
    return Plugin(path, symbol, library, address or 0)


def given(value: Any, what: str, axes: int) -> Any:
    """What was given for an operator: formulas, a function, a compiled one, or an array."""
    if isinstance(value, str) or _is_compiled(value) or callable(value):
        return value
    return operand(value, what, axes)


def given_or_none(value: Any, what: str, axes: int) -> Any:
    """The same, where nothing may be given."""
    return None if value is None else given(value, what, axes)


def inputs(z0: Any) -> Any:
    """The inputs, none unless given."""
    return np.zeros(0) if z0 is None else constant(z0, "z0", 1)


class Scope:
    """What the operators of one system, interaction or law may depend on.

    Parameters
    ----------
    owner : str
        For messages: ``"system `ball`"``.
    parameters : mapping
        Names that stand for numbers in formulas.
    first, second : (str, int)
        Names and lengths of the two vectors.
    inputs : int
        Number of inputs ``z``.
    """

    def __init__(
        self,
        owner: str,
        parameters: Mapping[str, float],
        first: tuple[str, int],
        second: tuple[str, int] = ("", 0),
        inputs: int = 0,
    ) -> None:
        self.owner = owner
        self.parameters = parameters
        self.first = first
        self.second = second
        self.inputs = inputs

    def constant(self, value: Any, what: str) -> Any:
        """The array of a constant, also where its formulas use parameters."""
        return evaluated(value, self._what(what), self.parameters)

    def optional(self, value: Any, what: str) -> Any:
        """The same, where nothing may be given."""
        return None if value is None else self.constant(value, what)

    def operator(
        self, value: Any, what: str, arguments: str, rows: int, cols: int | None = None
    ) -> Any:
        """The operator; `arguments` such as ``"t q v"`` are what it may depend on.

        Without `cols` it is a vector. Nothing where nothing is given.
        """
        if value is None:
            return None
        names = [*arguments.split(), *(["z"] if self.inputs else [])]
        if isinstance(value, str):
            pairs = list(self.parameters.items())
            return _saltus.Operator.formula(self._what(what), value, self._names(names), pairs)
        if isinstance(value, list):
            return self._formulas(value, what, names, cols)
        if _is_compiled(value):
            return _saltus.Operator.compiled(value.address, value, names, rows, cols)
        if callable(value):
            passed, out = self.arguments(value, what, names)
            last = out and _out_is_last(value, len(passed))
            return _saltus.Operator.callable(value, passed, out, rows, cols, last)
        return _saltus.Operator.array(value)

    def arguments(
        self, function: Callable[..., Any], what: str, names: Sequence[str]
    ) -> tuple[list[str], bool]:
        """Which of the arguments a Python function gets, and whether it fills `out`.

        Parameters with a default keep it, unless all have one. The others say by their names what they want, in any
        order; under other names they are, in order, all arguments, all but ``z``, all but ``t``,
        or all but both, whichever fits their number.
        """
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return list(names), False
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        out = any(p.name == "out" and p.kind is not p.POSITIONAL_ONLY for p in parameters)
        by_position = [p for p in parameters if p.kind in positional and p.name != "out"]
        wanted = [p.name for p in by_position if p.default is p.empty]
        if not wanted:
            wanted = [p.name for p in by_position if p.name in names]
        if not wanted and any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return list(names), out
        if wanted and set(wanted) <= set(names):
            return wanted, out
        choices = [[n for n in names if n not in left_out] for left_out in ((), "z", "t", "tz")]
        # the time is not taken for a state
        other = names == ["t"] and set(wanted) & {"x", "q", "v", "u", "lam", "z"}
        for choice in choices:
            if choice and len(choice) == len(wanted) and not other:
                return choice, out
        fitting = " or ".join(f"({', '.join(c)})" for c in _different(choices))
        called = getattr(function, "__name__", type(function).__name__)
        some = ", or of some of these by name" if len(names) > 1 else ""
        raise TypeError(
            f"{self._what(what)} must be a function of {fitting}{some}, "
            f"but {called} takes ({', '.join(wanted)})"
        )

    def _formulas(self, value: list[Any], what: str, names: list[str], cols: int | None) -> Any:
        rows = len(value)
        if cols is None:
            entries, columns = value, 1
        else:
            columns = len(value[0]) if value else 0
            entries = [entry for row in value for entry in row]
        pairs = list(self.parameters.items())
        shape = (rows, columns)
        return _saltus.Operator.formulas(
            self._what(what), shape, entries, self._names(names), pairs
        )

    def _names(self, names: list[str]) -> tuple[bool, tuple[str, int], tuple[str, int], int]:
        first = self.first if self.first[0] in names else ("", 0)
        second = self.second if self.second[0] in names else ("", 0)
        return "t" in names, first, second, self.inputs

    def _what(self, what: str) -> str:
        return f"{self.owner}: `{what}`"


def components(
    scope: Scope, value: Any, what: str, arguments: str, state: Mapping[str, Any]
) -> int | None:
    """Number of rows of an operator; nothing where it cannot be told without calling compiled
    code.

    A Python function is called once at the `state`, with as many zeros for ``lam`` as it
    returns numbers.
    """
    if value is None or _is_compiled(value):
        return None
    if isinstance(value, str):
        many = Scope(
            scope.owner, scope.parameters, scope.first, (scope.second[0], 1000), scope.inputs
        )
        rows: int = many.operator(value, what, arguments, 0).shape[0]
        return rows
    if not callable(value):
        return len(value)
    names = [*arguments.split(), *(["z"] if scope.inputs else [])]
    passed, out = scope.arguments(value, what, names)
    if out:
        return None
    size, failure = 1, None
    for _ in range(16):
        at = {**state, "lam": np.zeros(size)}
        try:
            found = np.shape(value(*(at[name] for name in passed)))
        except Exception as error:
            if failure is None:
                failure = error
            if "lam" not in passed:
                break
            size += 1  # perhaps it looks for more of them
            continue
        length = found[0] if found else 1
        if length == size or "lam" not in passed:
            return length
        size = length
    text = "its length does not settle" if failure is None else f"{type(failure).__name__}: {failure}"
    message = f"{scope._what(what)} at t = {state['t']:g}: {text}"
    raise OperatorError(f"{message} (its length is found by a call; `size` says it)") from failure


def _out_is_last(function: Callable[..., Any], passed: int) -> bool:
    """Whether `out` can be handed over right after the arguments, which is quicker than by name."""
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) <= passed:
        return False
    kinds = {p.kind for p in parameters[: passed + 1]}
    by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return parameters[passed].name == "out" and kinds <= by_position


def _is_compiled(value: Any) -> bool:
    return isinstance(getattr(value, "address", None), int)


def _different(choices: Sequence[list[str]]) -> list[list[str]]:
    return [c for k, c in enumerate(choices) if c and c not in choices[:k]]


def coefficient(value: Any, what: str) -> Any:
    """A number, or what a coefficient that varies can be given as."""
    if isinstance(value, str) or _is_compiled(value) or callable(value):
        return value
    return real(value, what)

