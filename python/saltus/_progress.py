"""How far a run is, on the terminal or in a function of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from saltus.results import Run


class Progress(NamedTuple):
    """How far a run is."""

    t: float
    """Current time."""
    start: float
    """Time at which the run started."""
    until: float
    """Time at which it will end."""
    steps: int
    """Steps done so far."""

    @property
    def fraction(self) -> float:
        """Share of the time that is done, in [0, 1]."""
        span = self.until - self.start
        return (self.t - self.start) / span if span > 0 else 1.0


class Reporter:
    """Passes progress on. ``report`` is what the compiled half calls, at most 10 times a second."""

    def __init__(self, progress: bool | Callable[[Progress], object]) -> None:
        self.report: Callable[[float, float, float, int], object] | None = None
        self._prints = progress is True
        self._line = 0
        if callable(progress):
            function = progress
            self.report = lambda *now: function(Progress(*now))
        elif not isinstance(progress, bool):
            found = type(progress).__name__
            raise TypeError(f"`progress` must be True, False or a function, not {found}")
        elif progress and _is_terminal():
            self.report = lambda *now: self._show(Progress(*now))

    def _show(self, now: Progress) -> None:
        width = 30
        done = round(width * now.fraction)
        bar = "█" * done + "·" * (width - done)
        text = f"{bar} {100 * now.fraction:5.1f} %  t = {now.t:.6g}  {now.steps:,} steps"
        self._write("\r" + text.ljust(self._line))
        self._line = len(text)

    def finish(self, run: Run) -> None:
        """The last line."""
        if not self._prints:
            return
        stats = run.stats
        t = run._core.t()
        title = run.title or "run"
        text = f"{title}: {stats.outcome} at t = {t[-1]:.6g}" if len(t) else f"{title}: {stats.outcome}"
        text += f", {stats.steps:,} steps, {stats.seconds:.3g} s"
        self._write(("\r" if self._line else "") + text.ljust(self._line) + "\n")

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError, UnicodeError, AttributeError):
            pass  # a terminal that is gone or cannot show it is no reason to fail


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
