"""A problem and its data."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus import _saltus
from saltus._arrays import Array, matrix, real, vector
from saltus._errors import InputError, ModelError

# kinds that files have another word for
_STORED = {"box": "relay", "rfc2d": "rfc3d", "grfc2d": "grfc3d"}
# kinds that no file holds
_NOT_STORED = ("blocks", "mcp", "ncp", "qp", "vi")


class Problem:
    """A problem ``w = F(z)``, ``(z, w)`` in the graph of its law, block by block.

    Made by `lcp`, `mlcp`, `relay`, `box`, `friction2d`, `friction3d`, `rolling`,
    `global_friction2d`, `global_friction3d`, `global_rolling3d`, `second_order`, `problem`, `qp`,
    `ncp`, `mcp`, `vi` and `read`.

    Attributes
    ----------
    kind : str
        What it is, in the words of stored problems where there is one: ``"lcp"``, ``"mlcp"``,
        ``"relay"``, ``"box"``, ``"fc2d"``, ``"fc3d"``, ``"rfc2d"``, ``"rfc3d"``, ``"gfc2d"``,
        ``"gfc3d"``, ``"grfc3d"``, ``"soclcp"``, ``"gmp"``, ``"plasticity"``, or ``"blocks"``,
        ``"qp"``, ``"ncp"``, ``"mcp"``, ``"vi"``.
    """

    def __init__(self, core: _saltus.Problem, kind: str) -> None:
        self._core = core
        self.kind = kind

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._core.size

    @property
    def contacts(self) -> int:
        """Number of contacts with friction."""
        return self._core.contacts

    @property
    def q(self) -> Array:
        """The vector (a copy), ``w = matrix() z + q``. For a function, zero.

        For a global problem, ``Hᵀ M⁻¹ f + b``.
        """
        return self._core.free() if self._core.is_global else self._core.q()

    @property
    def mu(self) -> Array:
        """The coefficients of friction, one a contact (for second-order cones: one a cone)."""
        return self._core.mu()

    @property
    def mu_r(self) -> Array:
        """The coefficients of rolling resistance, one a contact that has it."""
        return self._core.mu_r()

    @property
    def lower(self) -> Array:
        """Lower bounds of ``z``, ``-inf`` where there is none."""
        return self._core.lower()

    @property
    def upper(self) -> Array:
        """Upper bounds of ``z``, ``inf`` where there is none."""
        return self._core.upper()

    def matrix(self) -> Any:
        """The matrix (a copy): a NumPy array, or a SciPy ``csr_array`` if it was given sparse.

        For a global problem, ``Hᵀ M⁻¹ H`` multiplied out.
        """
        if self._core.is_function:
            raise InputError(f"the {self.kind} is given by a function, and has no matrix")
        if self._core.is_sparse:
            return self._array(self._core.triplets())
        return self._core.dense()

    # the pair (M, H) of a global problem

    @property
    def f(self) -> Array:
        """Momentum and given impulses of a global problem, ``M v = f + H r`` (a copy)."""
        return self._global("f").f()

    @property
    def b(self) -> Array:
        """The given velocities of a global problem, ``u = Hᵀ v + b`` (a copy)."""
        return self._global("b").q()

    def mass(self) -> Any:
        """The mass of a global problem: a NumPy array, or a SciPy ``csr_array``."""
        return self._array(self._global("mass").mass())

    def H(self) -> Any:
        """``H`` of a global problem: a NumPy array, or a SciPy ``csr_array``."""
        return self._array(self._global("H").H())

    def velocity(self, z: ArrayLike) -> Array:
        """``v = M⁻¹ (f + H z)`` of a global problem."""
        return self._global("velocity").velocity(vector_of(z, "z"))

    def condensed(self) -> Problem:
        """A global problem with ``Hᵀ M⁻¹ H`` multiplied out: the same unknowns, without ``v``."""
        return Problem(self._global("condensed").condensed(), self.kind.removeprefix("g"))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Stores the problem, for `read` and for other programs.

        Raises
        ------
        InputError
            No file can hold such a problem.
        """
        if self.kind in _NOT_STORED:
            raise InputError(f"a problem of kind `{self.kind}` cannot be stored: no file holds one")
        _saltus.write_problem(os.fspath(path), self._core, _STORED.get(self.kind, self.kind))

    def _global(self, what: str) -> _saltus.Problem:
        if not self._core.is_global:
            raise AttributeError(
                f"the {self.kind} has no `{what}`: only global problems, M v = f + H r, do"
            )
        return self._core

    def _array(self, triplets: _saltus._Triplets) -> Any:
        rows, cols, i, j, values = triplets
        if self._core.is_sparse:
            try:
                from scipy.sparse import csr_array  # type: ignore[import-untyped, unused-ignore]
            except ImportError:
                pass
            else:
                return csr_array((values, (i, j)), shape=(rows, cols))
        dense: Array = np.zeros((rows, cols))
        dense[i, j] = values
        return dense

    def __repr__(self) -> str:
        contacts = f", {self.contacts} contacts" if self.contacts else ""
        return f"<{self.kind} of {self.size} unknowns{contacts}>"


def matrix_of(value: Any, what: str) -> Any:
    """A dense array, or the entries of what has ``tocoo()``."""
    if hasattr(value, "tocoo"):
        coo = value.tocoo()
        index: Any = np.int64
        rows: NDArray[np.int64] = np.ascontiguousarray(coo.row, dtype=index)
        cols: NDArray[np.int64] = np.ascontiguousarray(coo.col, dtype=index)
        return (*coo.shape, rows, cols, vector_of(coo.data, what))
    try:
        return matrix(value, what)
    except ModelError as error:
        raise InputError(str(error)) from None


def vector_of(value: Any, what: str) -> Array:
    """A vector; a number alone stands for a vector of one."""
    try:
        return vector(value, what)
    except ModelError as error:
        raise InputError(str(error)) from None


def spread(value: Any, what: str, n: int) -> Array:
    """A vector, or a number for all of its `n` entries."""
    if np.ndim(value) == 0:
        return np.full(n, real(value, what))
    return vector_of(value, what)
