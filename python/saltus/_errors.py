"""The exceptions of Saltus: one tree under `SaltusError`.

The compiled half raises these too; it looks them up here by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from saltus import _saltus

if TYPE_CHECKING:
    from saltus.numerics import Solution
    from saltus.results import Run


class SaltusError(Exception):
    """Any failure of Saltus.

    Attributes
    ----------
    run : Run or None
        What was computed before the failure, where it ended a run.
    """

    run: Run | None = None


class InputError(SaltusError, ValueError):
    """An argument or setting that makes no sense."""


class ModelError(InputError):
    """A model that makes no sense: sizes, names, ranges."""


class ModelFileError(InputError):
    """A model file that cannot be read; the message shows the place.

    Attributes
    ----------
    file : str
        The file, or ``--set PATH=VALUE`` if an override is wrong.
    line, column : int
        The place, from 1; 0 if the file as a whole is meant.
    """

    file: str = ""
    line: int = 0
    column: int = 0


class OperatorError(SaltusError):
    """A function given to a system failed. Its exception is the ``__cause__``."""


class StepReport(NamedTuple):
    """What is known of a step that failed."""

    time: float | None
    """End of the step, where it is known."""
    status: str
    """``"max_iter"``, ``"infeasible"``, ``"diverged"`` or ``"singular"``; event-driven also
    ``"too_short"`` (no step reaches the tolerance) and ``"unsettled"`` (events without end)."""
    residual: float
    """The verified residual; NaN where there was no answer to verify."""
    worst: str
    """The interaction or system with the largest share of it, or that is no longer finite."""


class SolverError(SaltusError):
    """A problem, or a step of a simulation, that was not solved.

    Attributes
    ----------
    run : Run or None
        What was computed before, when raised by ``run()``.
    report : StepReport or Solution or None
        How the solver ended: a `StepReport` for a step, the `numerics.Solution` that was not
        accepted for `numerics.solve`.
    """

    report: StepReport | Solution | None = None


class SignalError(SaltusError, KeyError):
    """A signal, system or interaction that a run or model does not have."""

    def __str__(self) -> str:  # a KeyError would show the repr of its argument
        return str(self.args[0]) if self.args else ""


class BusyError(SaltusError, RuntimeError):
    """A simulation that was asked for something while it computes."""


class NotAvailableError(SaltusError, NotImplementedError):
    """Something that Saltus does not have yet."""


class FileError(SaltusError, OSError):
    """A file that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that does not exist."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean `ball`?"``, or nothing if no known name is close."""
    nearest = _saltus.nearest(name, list(known))
    return f"; did you mean `{nearest}`?" if nearest else ""


# users catch `saltus.SolverError`, so that is the name tracebacks show
for _class in list(globals().values()):
    if isinstance(_class, type) and _class.__module__ == __name__:
        _class.__module__ = "saltus"
del _class
