"""The model: named systems, and the interactions between them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import Array, count, real, vector
from saltus._errors import ModelError, SaltusError, SignalError, did_you_mean
from saltus.events import Action, SetParameter, actions
from saltus.jacobians import JacobianCheck, JacobianReport
from saltus.laws import Law
from saltus.relations import Link, Relation
from saltus.systems import System

if TYPE_CHECKING:
    from saltus.strategy import Strategy


_Call: TypeAlias = "Callable[[_saltus.Model, Mapping[str, float]], Any]"
"""Adds a part to a model, with these values of its parameters."""


_Again: TypeAlias = "Callable[[], Callable[[Mapping[str, float]], _saltus.Scene]]"
"""Tells what makes a scene as it is now, with these values of its parameters."""


@dataclass(frozen=True)
class _Addition:
    """A part of a model: what it is called, what adds it, and what it was made of."""

    kind: str  # "system", "interaction" or "event"
    name: str
    call: _Call
    parts: tuple[Any, ...]


class Model:
    """Systems and interactions, each with a name. A model is data: it knows no algorithm.

    Parameters
    ----------
    title : str
    t0 : float
        Initial time.
    parameters : mapping of str to float, optional
        Names that formulas of the model may use: ``{"g": 9.81}``.

    Examples
    --------
    >>> model = Model("bouncing ball")
    >>> ball = model.add(LagrangianLinear([1], [0], [[1]], F_ext=[-9.81]), name="ball")
    >>> floor = model.connect(LagrangianLinearRelation([[1]]), NewtonImpact(0.9), ball)
    >>> model["ball"].q
    array([1.])
    """

    def __init__(
        self,
        title: str = "",
        t0: float = 0.0,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        if not isinstance(title, str):
            raise TypeError(f"`title` must be a text, not {type(title).__name__}")
        self._built = _saltus.Model(title, real(t0, "t0"))
        self._parameters = _checked_parameters(parameters or {})
        self._systems: dict[str, SystemHandle] = {}
        self._interactions: dict[str, InteractionHandle] = {}
        self._latest: weakref.ref[Strategy] | None = None
        # of the model of a scene: the scene, whether it has changed since, and what it was then
        self._source: _saltus.Scene | None = None
        self._again: _Again | None = None
        self._is_stale = False
        self._scene: _saltus.Scene | None = None
        for name, value in self._parameters.items():
            _saltus.add_parameter(self._built, name, value)
        # what made the model, to make it again with other parameters
        self._origin: _saltus.Model | None = None
        self._additions: list[_Addition] = []
        self._sets_parameters = False

    @classmethod
    def _from_core(cls, core: _saltus.Model) -> Model:
        model = cls()
        model._take(core)
        return model

    @classmethod
    def _of_scene(cls, scene: _saltus.Scene, again: _Again | None) -> Model:
        """The model of a scene, which follows the scene as it changes; `again` tells what makes the scene
        as it then is."""
        model = cls()
        model._source, model._again, model._is_stale = scene, again, True
        model._refresh()
        return model

    def _take(self, core: _saltus.Model) -> None:
        """A model that was made elsewhere; the handles of what it has as before stay."""
        origin, parameters = _saltus.copy_model(core), dict(_saltus.model_parameters(core))
        systems: dict[str, SystemHandle] = {}
        interactions: dict[str, InteractionHandle] = {}
        for name, order, size in core.systems():
            systems[name] = SystemHandle(self, name, order, size)
        for name, _, size, _ in core.interactions():
            interactions[name] = InteractionHandle(self, name, size)
        # what was added to it here is added again
        for addition in self._additions:
            name = addition.name
            try:
                made = addition.call(core, parameters)
            except SaltusError as error:
                raise ModelError(
                    f"{addition.kind} `{name}`, which was added to the model of the scene, "
                    f"does not fit the scene any more: {error}"
                ) from error
            if addition.kind == "system":
                systems[name] = SystemHandle(self, name, *made)
            elif addition.kind == "interaction":
                interactions[name] = InteractionHandle(self, name, made)
        self._built, self._origin, self._parameters = core, origin, parameters
        self._systems = {name: _same(self._systems, one) for name, one in systems.items()}
        self._interactions = {
            name: _same(self._interactions, one) for name, one in interactions.items()
        }

    def _refresh(self) -> None:
        """Makes the model of a scene anew where the scene has changed."""
        if self._is_stale and self._source is not None:
            self._take(self._source.model())
            self._scene = self._source.copy()
            self._is_stale = False

    @property
    def _core(self) -> _saltus.Model:
        self._refresh()
        return self._built

    @property
    def title(self) -> str:
        """The title."""
        return self._built.title

    @property
    def t0(self) -> float:
        """The initial time."""
        return self._built.t0

    @property
    def parameters(self) -> dict[str, float]:
        """What names in formulas stand for."""
        self._refresh()
        return dict(self._parameters)

    @property
    def systems(self) -> dict[str, SystemHandle]:
        """The systems by name, in the order they were added."""
        self._refresh()
        return dict(self._systems)

    @property
    def interactions(self) -> dict[str, InteractionHandle]:
        """The interactions by name, in the order they were added."""
        self._refresh()
        return dict(self._interactions)

    def add(self, system: System, name: str | None = None) -> SystemHandle:
        """Adds a system.

        Parameters
        ----------
        system : System
            For example `LagrangianLinear`.
        name : str, optional
            ``"system1"``, ``"system2"`` … unless given.

        Returns
        -------
        SystemHandle
            For `connect`, and to look at its state.
        """
        if not isinstance(system, System):
            raise TypeError(f"add() takes a system, not {type(system).__name__}")
        self._refresh()
        name = self._name(name, "system")
        given = name
        order, size = system._add(self._core, name, self._parameters)
        self._remember(
            "system", name, lambda core, parameters: system._add(core, given, parameters), system
        )
        self._systems[name] = handle = SystemHandle(self, name, order, size)
        return handle

    def connect(
        self,
        relation: Relation,
        law: Law,
        *systems: SystemHandle | str,
        name: str | None = None,
        active: bool = True,
    ) -> InteractionHandle:
        """Adds an interaction between one or two systems.

        Parameters
        ----------
        relation : Relation
            What ``y`` is, and how ``λ`` acts.
        law : Law
            What ``y`` and ``λ`` satisfy.
        *systems : SystemHandle or str
            The one or two systems it links, by handle or name.
        name : str, optional
            ``"interaction1"``, ``"interaction2"`` … unless given.
        active : bool
            Whether it acts from the beginning; if not, its multiplier is zero until an event
            connects it (see `Connect`).
        """
        for argument, expected, words in ((relation, Relation, "a relation"), (law, Law, "a law")):
            if not isinstance(argument, expected):
                found = type(argument).__name__
                raise TypeError(
                    f"connect(relation, law, *systems): {found} stands where {words} belongs"
                )
        self._refresh()
        name = self._name(name, "interaction")
        names = [self._system_name(system) for system in systems]
        known = [self._systems.get(one) for one in names]
        orders = [None if one is None else one._order for one in known]
        given = name

        def connect(core: _saltus.Model, parameters: Mapping[str, float]) -> int:
            size = relation._connect(Link(core, given, law, names, orders, parameters))
            _saltus.set_active(core, given, bool(active))
            return size

        size = connect(self._core, self._parameters)
        self._remember("interaction", name, connect, relation, law, names, bool(active))
        self._interactions[name] = handle = InteractionHandle(self, name, size)
        return handle

    def when(
        self,
        condition: str,
        do: Action | Sequence[Action],
        name: str | None = None,
        once: bool = False,
    ) -> str:
        """Adds an event that happens when a condition becomes true.

        It is looked at at the end of every step; the event happens there if the condition holds
        and did not when it was looked at before. A condition that holds from the beginning has to
        become false first.

        Parameters
        ----------
        condition : formula
            For example ``"ball.q[0] < 0.5 and ball.v[0] > 0"``.
        do : Action or list of them
            `SetState`, `SetParameter`, `SetLaw`, `Connect`, `Disconnect`, `Stop`. All formulas are
            taken before the first change is made.
        name : str, optional
            ``"event1"``, ``"event2"`` … unless given.
        once : bool
            Whether it happens at most once.

        Returns
        -------
        str
            The event's name.
        """
        if not isinstance(condition, str):
            found = type(condition).__name__
            raise TypeError(f"`condition` must be a formula such as 'ball.q[0] < 0', not {found}")
        return self._add_event(do, name=name, once=once, when=condition)

    def at(
        self,
        times: float | ArrayLike,
        do: Action | Sequence[Action],
        name: str | None = None,
    ) -> str:
        """Adds an event that happens at one or more instants, at which steps end.

        Parameters
        ----------
        times : float or (k,) array_like
        do, name
            As for `when`.
        """
        instants = [real(times, "times")] if np.ndim(times) == 0 else vector(times, "times").tolist()
        return self._add_event(do, name=name, at=instants)

    def every(
        self,
        period: float,
        do: Action | Sequence[Action],
        start: float | None = None,
        name: str | None = None,
        once: bool = False,
    ) -> str:
        """Adds an event that happens at ``start``, ``start + period``, ``start + 2 period`` …, at
        which steps end.

        Parameters
        ----------
        period : float
        start : float, optional
            The first instant; ``t0`` unless given.
        do, name, once
            As for `when`.
        """
        first = None if start is None else real(start, "start")
        return self._add_event(do, name=name, once=once, every=real(period, "period"), start=first)

    @property
    def events(self) -> list[str]:
        """The names of the events, in the order they were added."""
        return _saltus.model_events(self._core)

    def _add_event(self, do: Action | Sequence[Action], **trigger: Any) -> str:
        changes = actions(do)

        def add(core: _saltus.Model, parameters: Mapping[str, float]) -> str:
            compiled = [one for action in changes for one in action._compile(core, parameters)]
            return _saltus.add_event(core, compiled, **trigger)

        self._refresh()
        sets = [one for one in changes if isinstance(one, SetParameter)]
        if sets and self._source is not None and self._again is None and self._parameters:
            raise ModelError(
                f"an event cannot set `{sets[0].parameter}`: a scene that was read from a file has "
                "the numbers that its parameters gave at first; `load_model` reads such a file with "
                "its events"
            )
        name = add(self._core, self._parameters)
        trigger["name"] = name
        self._remember("event", name, add, changes, trigger)
        self._sets_parameters |= bool(sets)
        return name

    def _remember(self, kind: str, name: str, call: _Call, *parts: Any) -> None:
        """Keeps what made a part of the model, where parameters or a scene may change it."""
        if self._parameters or self._source is not None:
            self._additions.append(_Addition(kind, name, call, parts))

    def _prepare(self) -> None:
        """Says how the model depends on its parameters, if its events set any."""
        self._refresh()
        # the recipe of a file does not know of what was added here
        added = self._origin is not None and self._additions
        if not self._parameters or not (self._sets_parameters or added):
            return
        if self._source is not None and not self._sets_parameters:
            return
        title, t0, origin = self.title, self.t0, self._origin
        again = None if self._again is None else self._again()
        additions, initial = tuple(self._additions), dict(self._parameters)

        def recipe(pairs: list[tuple[str, float]]) -> _saltus.Model:
            parameters = {**initial, **dict(pairs)}
            if again is not None:
                core = again(parameters).model()
            elif origin is None:
                core = _saltus.Model(title, t0)
                for name, value in parameters.items():
                    _saltus.add_parameter(core, name, value)
            else:
                core = _saltus.with_parameters(origin, pairs)
                parameters = dict(_saltus.model_parameters(core))
            for addition in additions:
                addition.call(core, parameters)
            return core

        _saltus.set_recipe(self._core, recipe)

    def check_jacobians(
        self,
        t: float | None = None,
        *,
        points: int = 3,
        spread: float = 0.1,
        tol: float = 1e-6,
        seed: int = 0,
    ) -> JacobianReport:
        """Compares Jacobians with central differences: those that were given, and those that are
        exact because the function is a formula.

        Parameters
        ----------
        t : float, optional
            The time; `t0` unless given.
        points : int
            How many random points near the initial state are looked at, besides that state.
        spread : float
            How far away they are, relative to ``max(1, |x|)``.
        tol : float
            The largest difference, relative to the largest entry (at least 1), that is right.
        seed : int
            Chooses the points.

        Returns
        -------
        JacobianReport
            True if all are right; printed, it shows the worst entry of each.
        """
        at = None if t is None else real(t, "t")
        rows = self._core.check_jacobians(
            at, count(points, "points"), real(spread, "spread"), count(seed, "seed")
        )
        tol = real(tol, "tol")
        checks = [JacobianCheck(*row[:6], row[5] <= tol, row[6]) for row in rows]
        return JacobianReport(checks)

    def __getitem__(self, name: str) -> SystemHandle | InteractionHandle:
        """The handle of a system or interaction."""
        self._refresh()
        handle = self._systems.get(name) or self._interactions.get(name)
        if handle is None:
            hint = did_you_mean(str(name), [*self._systems, *self._interactions])
            raise SignalError(f"the model has no system or interaction `{name}`{hint}")
        return handle

    def __contains__(self, name: object) -> bool:
        self._refresh()
        return name in self._systems or name in self._interactions

    __iter__ = None  # else Python would try 0, 1, 2 … as names

    def __repr__(self) -> str:
        systems = _few(self._systems) or "no system"
        interactions = _few(self._interactions) or "no interaction"
        return f"<Model {self.title!r}: {systems}; {interactions}>"

    def _name(self, name: str | None, word: str) -> str:
        if name is None:
            number = 1 + len(self._systems if word == "system" else self._interactions)
            while f"{word}{number}" in self:
                number += 1
            return f"{word}{number}"
        if not isinstance(name, str):
            raise TypeError(f"`name` must be a text, not {type(name).__name__}")
        return name

    def _system_name(self, system: SystemHandle | str) -> str:
        if isinstance(system, str):
            return system
        if not isinstance(system, SystemHandle):
            found = type(system).__name__
            raise TypeError(f"connect() links systems, by handle or name, not {found}")
        if system.model is not self:
            raise ModelError(f"the handle of `{system.name}` belongs to another model")
        return system.name

    def _simulation(self) -> Strategy | None:
        return self._latest() if self._latest is not None else None


_Handle = TypeVar("_Handle", "SystemHandle", "InteractionHandle")


def _same(before: Mapping[str, _Handle], now: _Handle) -> _Handle:
    """The handle that was there before, of what is now called so."""
    known = before.get(now.name)
    if known is None:
        return now
    known.__dict__.update(now.__dict__)
    return known


def _few(names: Iterable[str], limit: int = 8) -> str:
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _checked_parameters(parameters: Mapping[str, float]) -> dict[str, float]:
    for name in parameters:
        if not isinstance(name, str):
            raise TypeError(f"a parameter's name must be a text, not {type(name).__name__}")
        if not _saltus.is_parameter_name(name):
            raise ModelError(
                f"`{name}` cannot be a parameter: its name must be letters, digits and _, and none "
                "of t, x, q, v, u, lam, z and the functions"
            )
    return {name: real(value, name) for name, value in parameters.items()}


class SystemHandle:
    """Names a system of a model, and shows its state.

    The state is that of the simulation which the model was last given to, as a copy; before
    there is one, and after it is gone, the initial state.
    """

    def __init__(self, model: Model, name: str, order: int, size: int) -> None:
        self.model = model
        self.name = name
        self.size = size
        self._order = order

    @property
    def x(self) -> Array:
        """State of a first-order system."""
        return self._get("x", 1)

    @property
    def q(self) -> Array:
        """Configuration of a mechanical system; of a rigid body position and orientation."""
        return self._get("q", 2)

    @property
    def v(self) -> Array:
        """Velocity of a mechanical system; of a rigid body that of its center of mass."""
        return self._part("v") if "v" in self._parts() else self._get("v", 2)

    @property
    def position(self) -> Array:
        """Where the center of mass of a rigid body is."""
        return self._part("position")

    @property
    def orientation(self) -> Array:
        """How a rigid body in space is turned: a quaternion ``(w, x, y, z)``."""
        return self._part("orientation")

    @property
    def angle(self) -> float:
        """How a rigid body in the plane is turned."""
        return float(self._part("angle")[0])

    @property
    def omega(self) -> Array | float:
        """Angular velocity of a rigid body: in space a vector in the frame of the body."""
        omega = self._part("omega")
        return float(omega[0]) if len(omega) == 1 else omega

    @property
    def twist(self) -> Array:
        """All components of the velocity: of a rigid body ``v``, and then ``omega``."""
        return self._get("v", 2)

    @property
    def z(self) -> Array:
        """Inputs; setting them changes the simulation that the model was last given to."""
        return _inputs(self)

    @z.setter
    def z(self, value: ArrayLike) -> None:
        _set_inputs(self, value)

    def _parts(self) -> dict[str, tuple[str, int, int]]:
        parts = _saltus.state_parts(self.model._core, self.name)
        return {name: (vector, start, stop) for name, vector, start, stop in parts}

    def _part(self, name: str) -> Array:
        parts = self._parts()
        if name not in parts:
            has = ", ".join(parts)
            raise AttributeError(f"system `{self.name}` has {has}, but no {name}")
        vector, start, stop = parts[name]
        return self._get(vector, 2)[start:stop]

    def _get(self, quantity: str, order: int) -> Array:
        if order != self._order:
            has = "x" if self._order == 1 else "q and v"
            raise AttributeError(f"system `{self.name}` has {has}, but no {quantity}")
        simulation = self.model._simulation()
        if simulation is not None and simulation._has(self.name):
            return simulation._state(self.name, quantity)
        return self.model._core.initial(self.name, quantity)

    def __repr__(self) -> str:
        return f"<system {self.name!r} of model {self.model.title!r}>"


class InteractionHandle:
    """Names an interaction of a model, and shows its variables.

    They are those of the simulation which the model was last given to, as a copy. Before there
    is one, and after it is gone, they are not known, and reading them is a `SaltusError`.
    """

    def __init__(self, model: Model, name: str, size: int) -> None:
        self.model = model
        self.name = name
        self.size = size

    @property
    def y(self) -> Array:
        """Output (mechanics: the gap)."""
        return self._get("y")

    @property
    def u(self) -> Array:
        """Relative velocity ``ẏ``; empty for first-order systems."""
        return self._get("u")

    @property
    def lam(self) -> Array:
        """Multiplier in the last step (mechanics: its impulse)."""
        return self._get("lam")

    @property
    def beta(self) -> Array:
        """Integrity of a bond, from 1 (sound) to 0 (broken); empty for other laws."""
        return self._get("beta")

    @property
    def z(self) -> Array:
        """Inputs; setting them changes the simulation that the model was last given to."""
        return _inputs(self)

    @z.setter
    def z(self, value: ArrayLike) -> None:
        _set_inputs(self, value)

    def _get(self, quantity: str) -> Array:
        simulation = self.model._simulation()
        if simulation is None or not simulation._has(self.name):
            raise SaltusError(
                f"`{self.name}.{quantity}` is not known before the model is given to a simulation"
            )
        return simulation._state(self.name, quantity)

    def __repr__(self) -> str:
        return f"<interaction {self.name!r} of model {self.model.title!r}>"


def _inputs(handle: SystemHandle | InteractionHandle) -> Array:
    simulation = handle.model._simulation()
    if simulation is not None and simulation._has(handle.name):
        return simulation._state(handle.name, "z")
    return handle.model._core.initial_inputs(handle.name)


def _set_inputs(handle: SystemHandle | InteractionHandle, value: ArrayLike) -> None:
    simulation = handle.model._simulation()
    if simulation is None or not simulation._has(handle.name):
        raise SaltusError(
            f"`{handle.name}.z` cannot be set before the model is given to a simulation; "
            "`z0` is what it starts with"
        )
    if not hasattr(simulation, "set_input"):
        found = type(simulation).__name__
        raise SaltusError(f"{found} simulations keep the inputs `z0`; `{handle.name}.z` cannot be set")
    simulation.set_input(handle, value)
