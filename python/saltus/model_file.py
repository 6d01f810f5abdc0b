"""Model files: TOML text to a model and how it is simulated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import real, vector
from saltus._errors import InputError
from saltus._progress import Progress
from saltus._settings import from_text
from saltus.adaptive import Adaptive
from saltus.event_driven import EventDriven
from saltus.integrators import Integrator
from saltus.model import Model
from saltus.newton import Newton, NewtonSettings
from saltus.results import Run
from saltus.solvers import Solver
from saltus.time_stepping import TimeStepping


@dataclass(frozen=True)
class Simulation:
    """How the file says its model is simulated."""

    strategy: str
    """``"time-stepping"``, ``"event-driven"`` or ``"adaptive"``"""
    integrators: list[Integrator]
    """Time-stepping: one for each order of systems in the model."""
    solver: Solver
    """The solver of each step's problem, or of those at events."""
    newton: Newton
    """Time-stepping: how the equations of a step that are not linear are solved."""
    h: float | None
    """Time-stepping: the time step."""
    until: float
    """The time at which the simulation ends."""
    every: int
    """One step in how many is recorded."""
    signals: list[str] | None
    """Which signals are recorded; all of them if None."""
    rtol: float | None = None
    """Event-driven: the error allowed in a step, relative to the state."""
    atol: float | None = None
    """Event-driven: the error allowed in a step besides."""
    tol: float | None = None
    """Adaptive: the error allowed in a step."""
    samples: list[float] | None = None
    """Event-driven and adaptive: the instants at which it is recorded; the ends of steps if None."""


@dataclass(frozen=True)
class Verification:
    """How much a run depends on its tolerance."""

    setting: str
    """What was made finer: ``"rtol"`` (and ``atol`` with it), ``"tol"`` or ``"h"``."""
    values: tuple[float, float]
    """Its values in the two runs."""
    instants: int
    """Instants that were compared."""
    relative: dict[str, float]
    """The largest difference of each signal, relative to the largest value of the signal."""
    absolute: dict[str, float]
    """The largest difference of each signal."""
    event_times: dict[tuple[str, str], float]
    """The largest difference of the times of events, by kind and interaction or name."""
    event_counts: dict[tuple[str, str], tuple[int, int]]
    """How many events the two runs have, likewise."""
    worst: float
    """The largest of `relative`."""


class ModelFile:
    """A model file, read and evaluated.

    Attributes
    ----------
    model : Model
    simulation : Simulation
    text : str
        The text of the file, without overrides.
    overrides : dict of str
        What was changed before the file was evaluated, by path.
    """

    def __init__(self, core: _saltus.ModelFile, overrides: Mapping[str, str]) -> None:
        self._core = core
        self.model = Model._from_core(core.model())
        self.text = core.text
        self.overrides = dict(overrides)
        rtol, atol = core.tolerances or (None, None)
        self.simulation = Simulation(
            core.strategy,
            [from_text(Integrator, text) for text in core.integrators],
            from_text(Solver, core.solver),
            from_text(NewtonSettings, core.newton),
            core.h,
            core.until,
            core.every,
            core.signals,
            rtol,
            atol,
            core.tol,
            core.samples(self.model.t0, core.until),
        )

    def start(self, h: float | ArrayLike | None = None) -> TimeStepping | EventDriven | Adaptive:
        """The simulation that the file describes, at its initial state.

        Parameters
        ----------
        h : float or array_like, optional
            Time-stepping: another step, or instants.
        """
        return self._start(h, {"h": h})

    def run(
        self,
        until: float | None = None,
        h: float | ArrayLike | None = None,
        progress: bool | Callable[[Progress], object] = False,
        every: int | None = None,
        signals: Sequence[str] | None = None,
        samples: int | ArrayLike | None = None,
    ) -> Run:
        """Runs the simulation that the file describes; arguments replace what the file says.

        Time-stepping has `h`, the other strategies `samples`.
        """
        given = self.simulation
        changes = {
            "h": h,
            "until": until,
            "output.every": every,
            "output.samples": samples,
            "output.signals": signals,
        }
        simulation = self._start(h, changes)
        end = given.until if until is None else until
        signals = given.signals if signals is None else signals
        if isinstance(simulation, TimeStepping):
            if samples is not None:
                raise InputError(
                    f"{given.strategy} runs record at the ends of their steps; instead of "
                    "`samples`, choose them with `every` or `h`"
                )
            return simulation.run(end, progress, given.every if every is None else every, signals)
        if samples is None and every is None:
            samples = self._core.samples(simulation.t, real(end, "until"))
        if every is None:
            every = given.every if samples is None else 1
        return simulation.run(end, progress, every, signals, samples)

    def verify(self) -> Verification:
        """How much the run depends on its tolerance: it is done as the file says, and once more
        with a tenth of its tolerances (event-driven, adaptive) or half its step (time-stepping)."""
        found = json.loads(self._core.verify())
        return Verification(
            found["setting"],
            tuple(found["values"]),
            found["instants"],
            {one["path"]: _number(one["relative"]) for one in found["signals"]},
            {one["path"]: _number(one["absolute"]) for one in found["signals"]},
            {(one["kind"], one["owner"]): _number(one["time"]) for one in found["events"]},
            {(one["kind"], one["owner"]): tuple(one["counts"]) for one in found["events"]},
            _number(found["worst"]),
        )

    def _start(
        self, h: float | ArrayLike | None, changes: Mapping[str, Any]
    ) -> TimeStepping | EventDriven | Adaptive:
        """A simulation whose runs keep the text of the file, and what was changed."""
        given = self.simulation
        text, solver = self._text_with(changes), given.solver._json()
        if given.h is None and h is not None:
            raise InputError(f"`h` is not a setting of {given.strategy}")
        if given.tol is not None:
            adaptive = Adaptive.__new__(Adaptive)
            adaptive._start(self.model, given.tol, solver, text)
            return adaptive
        if given.rtol is not None and given.atol is not None:
            driven = EventDriven.__new__(EventDriven)
            driven._start(self.model, given.rtol, given.atol, solver, text)
            return driven
        step: Any = given.h if h is None else h
        steps = real(step, "h") if np.ndim(step) == 0 else vector(step, "h")
        simulation = TimeStepping.__new__(TimeStepping)
        integrators = [one._json() for one in given.integrators]
        newton = given.newton._json()
        simulation._start(self.model, steps, integrators, solver, text, newton)
        return simulation

    def _text_with(self, changes: Mapping[str, Any]) -> str:
        """The text of the file after what was changed, as comments.

        `changes` are those of the simulation, None where there is none.
        """
        pairs = list(self.overrides.items())
        for key, value in changes.items():
            if key == "h" and np.ndim(value) > 0:  # no file can say this
                pairs.append(("simulation.h", f"({np.size(value)} given instants)"))
            elif value is not None:
                pairs.append((f"simulation.{key}", _nested(value, key)))
        return self._core.text_with(pairs)

    def __repr__(self) -> str:
        given = self.simulation
        settings = {"h": given.h, "rtol": given.rtol, "tol": given.tol}
        how = ", ".join(f"{name} = {value:g}" for name, value in settings.items() if value)
        return f"<ModelFile {self.model.title!r}: {how}, until = {given.until:g}>"


def load_model(
    path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None, **more: Any
) -> ModelFile:
    """Reads a model file.

    Parameters
    ----------
    path : path
    overrides : mapping, optional
        Changes before the file is evaluated, by path: ``{"floor.law.e": 0.8, "g": 1.62}``. A
        value is a number, a bool, a formula or name as a text, or a list of these.
    **more
        The same, for paths that are Python names: ``load_model("ball.toml", g=1.62)``.

    Raises
    ------
    ModelFileError
        With file, line and column, and what was expected.
    """
    changes = {**(overrides or {}), **more}
    texts = {key: _toml(value, key) for key, value in changes.items()}
    return ModelFile(_saltus.load_model(os.fspath(path), list(texts.items())), texts)


def run(
    path: str | os.PathLike[str],
    until: float | None = None,
    h: float | ArrayLike | None = None,
    progress: bool | Callable[[Progress], object] = False,
    overrides: Mapping[str, Any] | None = None,
    **more: Any,
) -> Run:
    """Runs a model file: ``load_model(path, overrides, **more).run(until, h, progress)``."""
    return load_model(path, overrides, **more).run(until, h, progress)


def verify(
    path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None, **more: Any
) -> Verification:
    """How much the run of a model file depends on its tolerance:
    ``load_model(path, overrides, **more).verify()``."""
    return load_model(path, overrides, **more).verify()


def _number(value: float | None) -> float:
    """A number of a JSON document, which has no NaN."""
    return float("nan") if value is None else value


def _toml(value: Any, key: str) -> str:
    """A value as the text of an override."""
    if isinstance(value, str):
        return value  # a formula, a name, or TOML already
    return _nested(value, key)


def _nested(value: Any, key: str) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_nested(entry, key) for entry in value) + "]"
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(k))} = {_nested(v, key)}" for k, v in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return repr(real(value, key))
