"""Strategies whose runs can be recorded at any instants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus._arrays import Array, real, vector
from saltus._errors import InputError
from saltus._progress import Progress
from saltus.results import Run
from saltus.strategy import Strategy


class Sampled(Strategy):
    """A strategy that knows the state inside of its steps: `EventDriven`, `Adaptive`."""

    def run(
        self,
        until: float,
        progress: bool | Callable[[Progress], object] = False,
        every: int = 1,
        signals: Sequence[str] | None = None,
        samples: int | ArrayLike | None = None,
    ) -> Run:
        """Runs from the current time until `until`.

        Without `samples`, the rows are the ends of the steps, and both sides of each event.

        Parameters
        ----------
        until : float
            Where to stop.
        progress : bool or callable
            True shows one line on the terminal, and a last one in any case; a function gets a
            `Progress` at most 10 times a second, and what it raises ends the run.
        every : int
            Record every so many steps; the first and the last instant are always recorded.
        signals : sequence of str, optional
            Record only these signals (``"ball.q"``; ``"ball.q[0]"`` stands for the whole of it)
            or systems and interactions (``"ball"``); all of them unless given.
        samples : int or (n,) array_like, optional
            Record at these instants alone, which increase from the current time to `until`; a
            number stands for so many of equal distance, both ends included. They are read off
            the polynomials of the steps, so that events and steps do not depend on them. At an
            event it is the state after it.

        Raises
        ------
        SolverError
            A step was not solved. The error's ``run`` holds what was computed before it.
        KeyboardInterrupt
            On Ctrl-C. `last_run` holds what was computed; another call of `run` goes on from
            there. Ctrl-C is looked after several times a second, like progress
            between two steps.
        """
        instants = sampled(samples, self.t, real(until, "until"), every)
        return self._run(until, progress, every, signals, samples=instants)


def sampled(samples: Any, t: float, until: float, every: int) -> Array | None:
    """Instants at which a run is recorded, from what users write."""
    if samples is None:
        return None
    if every != 1:
        raise InputError("`every` counts steps; with `samples` it has no meaning")
    if np.ndim(samples) > 0:
        return vector(samples, "samples")
    try:
        number = operator.index(samples)
    except TypeError:
        found = type(samples).__name__
        raise TypeError(f"`samples` must be a number of samples or instants, not {found}") from None
    if isinstance(samples, (bool, np.bool_)) or not 2 <= number < 2**31:
        raise InputError(f"`samples` = {samples} is outside 2, 3, 4 … 2^31 - 1")
    if not np.isfinite(until):
        return None  # refused by the run
    return np.linspace(t, until, number)
