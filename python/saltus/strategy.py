"""What simulations of all strategies share."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from saltus._arrays import Array, count, real, vector
from saltus._errors import InputError, SaltusError
from saltus._progress import Progress, Reporter
from saltus.events import Event, records
from saltus.model import InteractionHandle, Model, SystemHandle
from saltus.results import Ledger, Run
from saltus.solvers import Auto, Solver


class StepStats(NamedTuple):
    """What one step did."""

    t: float
    """Time at its end."""
    h: float
    """Its length."""
    iterations: int
    """Iterations of the solver."""
    residual: float
    """Verified residual of its problem."""
    penetration: float
    """Deepest penetration of a contact at its end, 0 if none."""


class Strategy:
    """A model on its way through time: `TimeStepping`, `EventDriven`, `Adaptive`."""

    _core: Any
    model: Model
    last_run: Run | None

    def _take(self, model: Model, core: Any) -> None:
        """The compiled simulation of a model."""
        self._core = core
        self._scene = model._scene
        self._names = frozenset([*model._systems, *model._interactions])
        self.model = model
        self.last_run = None
        model._latest = weakref.ref(self)

    @property
    def t(self) -> float:
        """Current time."""
        return float(self._core.t)

    @property
    def ledger(self) -> Ledger[float] | None:
        """Energies of the mechanical systems now; None if there are none."""
        entries = self._core.ledger()
        return None if entries is None else Ledger(*entries)

    @property
    def events(self) -> list[Event]:
        """What happened since the beginning, in the order of time."""
        return records(self._core.events())

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of the model, as events have set them."""
        return dict(self._core.parameters())

    def done(self, until: float) -> bool:
        """Whether there is no step left before `until`, or an event has stopped the run."""
        return bool(self._core.done(real(until, "until")))

    def step(self) -> StepStats:
        """One step, and the events at its end. If it fails, nothing has changed; an event that
        fails has changed nothing either, and is tried again before the next step.

        Raises
        ------
        SolverError
            The problem of the step was not solved.
        """
        return StepStats(*self._core.step())

    def _run(
        self,
        until: float,
        progress: bool | Callable[[Progress], object],
        every: int,
        signals: Sequence[str] | None,
        **more: Any,
    ) -> Run:
        every = count(every, "every")
        if every == 0:
            raise InputError("`every` = 0 is outside 1, 2, 3 …")
        if isinstance(signals, str):
            signals = [signals]
        reporter = Reporter(progress)
        core, error = self._core.run(
            real(until, "until"),
            every=every,
            signals=None if signals is None else list(signals),
            progress=reporter.report,
            **more,
        )
        run = Run(core, self._scene)
        self.last_run = run if error is not None else None
        reporter.finish(run)
        if error is not None:
            if isinstance(error, (SaltusError, KeyboardInterrupt)):
                error.run = run
            raise error
        return run

    def reset(self) -> None:
        """Back to the initial state and time, with the initial parameters, laws and connections."""
        self._core.reset()

    def set_state(
        self,
        system: str | SystemHandle,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        x: ArrayLike | None = None,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        angle: float | None = None,
        omega: ArrayLike | None = None,
    ) -> None:
        """Replaces the state of a system; what is not given stays. But for `x`, the ledger begins
        anew.

        Parameters
        ----------
        system : str or SystemHandle
        q, v : (n,) array_like, optional
            Configuration and velocity of a mechanical system.
        x : (n,) array_like, optional
            State of a first-order system.
        position, orientation, angle, v, omega : optional
            The parts of the state of a rigid body; its ``q`` is position and orientation.
        """
        if isinstance(system, InteractionHandle) or not isinstance(system, (str, SystemHandle)):
            found = type(system).__name__
            raise TypeError(f"set_state() takes a system, by handle or name, not {found}")
        name = system if isinstance(system, str) else system.name
        body = {"position": position, "orientation": orientation, "angle": angle, "omega": omega}
        if any(value is not None for value in body.values()) or self._is_body(name):
            self._set_body(name, q, {**body, "v": v})
            return
        if x is None and q is None and v is None:
            raise InputError("set_state() needs `q`, `v` or `x`")
        if x is not None and (q is not None or v is not None):
            raise InputError("no system has both `x` and `q`, `v`")
        state = {"q": q, "v": v, "x": x}
        given = {key: vector(value, key) for key, value in state.items() if value is not None}
        self._core.set_state(name, **given)

    def _is_body(self, name: str) -> bool:
        handle = self.model._systems.get(name)
        return handle is not None and "position" in handle._parts()

    def _set_body(self, name: str, q: ArrayLike | None, parts: dict[str, Any]) -> None:
        """Replaces parts of the state of a rigid body."""
        handle = self.model[name]
        if not isinstance(handle, SystemHandle):
            raise InputError(f"`{name}` is no system")
        known = handle._parts()
        state = {"q": self._state(name, "q"), "v": self._state(name, "v")}
        if q is not None:
            state["q"] = vector(q, "q").copy()
        for part, value in parts.items():
            if value is None:
                continue
            if part not in known:
                has = ", ".join(known)
                raise InputError(f"system `{name}` has {has}, but no {part}")
            of, start, stop = known[part]
            new = vector(value if part != "angle" else [value], part)
            if len(new) != stop - start:
                raise InputError(
                    f"set_state: `{part}` has length {len(new)}, expected {stop - start}"
                )
            state[of][start:stop] = new
        self._core.set_state(name, **state)

    def _state(self, name: str, quantity: str) -> Array:
        """A state, output, multiplier or input, now."""
        state: Array = self._core.state(name, quantity)
        return state

    def _has(self, name: str) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        try:
            now = f"t = {self.t:.6g}"
        except SaltusError:
            now = "computing"
        return f"<{type(self).__name__} of {self.model.title!r}, {now}>"


def checked(strategy: type[Strategy], model: Model, solver: Solver | None) -> Solver:
    """The solver, once model and solver are what they should be."""
    if not isinstance(model, Model):
        raise TypeError(f"{strategy.__name__}() takes a Model, not {type(model).__name__}")
    if solver is None:
        return Auto()
    if not isinstance(solver, Solver):
        found = type(solver).__name__
        raise TypeError(f"`solver` must be one of saltus.solvers, not {found}")
    return solver
