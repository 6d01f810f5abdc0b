"""What changes a model while it runs: the actions of events, and the record of what happened.

Formulas of events name states and outputs by their owner, ``ball.q[0]``, ``floor.lam[0]`` (in quotes
where a name is no word: ``'bead 3'.v[0]``), and may use ``t`` and the parameters of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saltus import _saltus
from saltus._arrays import real
from saltus._errors import InputError
from saltus._operators import Scope
from saltus.laws import Law


class Action:
    """One change that an event makes; what `Model.when`, `Model.at` and `Model.every` take."""

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        raise NotImplementedError


def _name(owner: Any, what: str) -> str:
    name = getattr(owner, "name", owner)
    if not isinstance(name, str):
        raise TypeError(f"`{what}` must be a name or a handle, not {type(owner).__name__}")
    return name


def _term(value: Any, what: str) -> str:
    return value if isinstance(value, str) else repr(real(value, what))


def _terms(value: Any, what: str) -> list[str]:
    if isinstance(value, str) or np.ndim(value) == 0:
        value = [value]
    return [_term(entry, what) for entry in value]


class SetState(Action):
    """Gives a system another state. What is not given stays; the multipliers of its interactions
    start anew at zero.

    Parameters
    ----------
    system : str or SystemHandle
    q, v, x : array_like of numbers and formulas, optional
        Configuration and velocity of a mechanical system, state of a first-order one.
    position, orientation, angle, v, omega : array_like of numbers and formulas, optional
        The parts of the state of a rigid body.

    Examples
    --------
    >>> SetState("ball", v=["-0.5*ball.v[0]"])
    """

    def __init__(
        self,
        system: Any,
        *,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        position: Any = None,
        orientation: Any = None,
        angle: Any = None,
        omega: Any = None,
    ) -> None:
        self.system = _name(system, "system")
        given = {"q": q, "v": v, "x": x, "position": position, "orientation": orientation}
        given |= {"angle": angle, "omega": omega}
        self.values = {k: _terms(value, k) for k, value in given.items() if value is not None}
        if not self.values:
            raise InputError("SetState() needs `q`, `v` or `x`, or parts of a rigid body's state")

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        return [
            _saltus.Action.set_state(self.system, quantity, values)
            for quantity, values in self.values.items()
        ]

    def __repr__(self) -> str:
        given = "".join(f", {key}={value}" for key, value in self.values.items())
        return f"SetState({self.system!r}{given})"


@dataclass(frozen=True)
class SetParameter(Action):
    """Gives a parameter of the model another value: its formulas have it from then on.

    Parameters
    ----------
    parameter : str
    value : float or formula
        For example ``"0.5*mu"``.
    """

    parameter: str
    value: float | str

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        return [_saltus.Action.set_parameter(self.parameter, _term(self.value, self.parameter))]


@dataclass(frozen=True)
class SetLaw(Action):
    """Gives an interaction another law.

    Parameters
    ----------
    interaction : str or InteractionHandle
    law : Law
    """

    interaction: Any
    law: Law

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _name(self.interaction, "interaction"))
        if not isinstance(self.law, Law):
            raise TypeError(f"`law` must be a law, not {type(self.law).__name__}")

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        sizes = {name: size for name, _, size in core.systems()}
        dim = size = 0
        for name, _, components, systems in core.interactions():
            if name == self.interaction:
                dim, size = sum(sizes[system] for system in systems), components
        owner = f"interaction `{self.interaction}`, law {type(self.law).__name__}"
        law = self.law._law(Scope(owner, parameters, ("q", dim), ("u", size)))
        return [_saltus.Action.set_law(self.interaction, law)]


@dataclass(frozen=True)
class Connect(Action):
    """Lets an interaction act.

    Parameters
    ----------
    interaction : str or InteractionHandle
        One that was disconnected, or connected to the model with ``active=False``.
    """

    interaction: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _name(self.interaction, "interaction"))

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        return [_saltus.Action.connect(self.interaction)]


@dataclass(frozen=True)
class Disconnect(Action):
    """Lets an interaction act no longer: its multiplier is zero, its output is still told.

    Parameters
    ----------
    interaction : str or InteractionHandle
    """

    interaction: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "interaction", _name(self.interaction, "interaction"))

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        return [_saltus.Action.disconnect(self.interaction)]


@dataclass(frozen=True)
class Stop(Action):
    """Ends the run."""

    def _compile(
        self, core: _saltus.Model, parameters: Mapping[str, float]
    ) -> list[_saltus.Action]:
        return [_saltus.Action.stop()]


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant."""

    time: float
    """The instant."""
    kind: str
    """``"when"`` or ``"scheduled"`` for an event of the model; for what laws do, ``"impact"``,
    ``"lift-off"``, ``"stick"``, ``"slip"``, ``"switch"``, ``"sliding"`` or ``"accumulation"``."""
    name: str | None
    """The event of the model that it was."""
    interaction: str | None
    """The interaction it happened to, where it happened to one."""
    before: dict[str, float | str] = field(default_factory=dict)
    """What changed, before: ``{"ball.v[0]": -1.0}``; ``"floor.active"`` is 1 or 0, and
    ``"floor.law"`` the name of a law."""
    after: dict[str, float | str] = field(default_factory=dict)
    """The same, after."""


def records(core: Iterable[tuple[Any, ...]]) -> list[Event]:
    """What happened, from the compiled half."""
    return [
        Event(
            time,
            kind,
            name or None,
            interaction or None,
            {what: before for what, before, _ in changes},
            {what: after for what, _, after in changes},
        )
        for time, kind, name, interaction, changes in core
    ]


def actions(do: Action | Sequence[Action]) -> list[Action]:
    """One action or several, as a list."""
    given = list(do) if isinstance(do, Iterable) else [do]
    for action in given:
        if not isinstance(action, Action):
            found = type(action).__name__
            raise TypeError(f"`do` must be actions such as SetState or Stop, not {found}")
    return given

