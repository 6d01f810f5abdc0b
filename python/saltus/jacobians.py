"""Jacobians beside central differences."""

from __future__ import annotations

from typing import NamedTuple


class JacobianCheck(NamedTuple):
    """The entry of a Jacobian that is farthest from its difference quotient."""

    owner: str
    """The system or interaction."""
    name: str
    """The Jacobian, for example ``"df_dx"``."""
    entry: tuple[int, int]
    """Row and column."""
    value: float
    """What the Jacobian says."""
    expected: float
    """The difference quotient."""
    difference: float
    """How far the two are apart, relative to the largest entry (at least 1)."""
    ok: bool
    """Whether that is within the tolerance."""
    skipped: int = 0
    """Random points at which the function failed: nothing was compared there."""


class JacobianReport(list[JacobianCheck]):
    """What `Model.check_jacobians` found: one `JacobianCheck` a Jacobian."""

    @property
    def ok(self) -> bool:
        """Whether all of them are right."""
        return all(check.ok for check in self)

    @property
    def wrong(self) -> list[JacobianCheck]:
        """Those that are not."""
        return [check for check in self if not check.ok]

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        if len(self) == 0:
            return "no Jacobian is given or exact: there is nothing to compare"
        width = max(len(f"{check.name} of {check.owner}") for check in self)
        lines = []
        for check in self:
            name = f"{check.name} of {check.owner}".ljust(width)
            line = f"{name}  difference {check.difference:.1e}"
            if not check.ok:
                i, j = check.entry
                line += f"  WRONG: [{i}, {j}] is {check.value:.6g}, expected {check.expected:.6g}"
            if check.skipped:
                line += f"  ({check.skipped} points outside of the domain)"
            lines.append(line)
        return "\n".join(lines)
