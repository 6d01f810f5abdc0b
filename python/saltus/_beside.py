"""What was added to the model of a scene, as tables of a model file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from saltus import bodies, events, laws, mechanics, relations, systems
from saltus._errors import InputError
from saltus.model import _Addition

_SYSTEMS = {
    systems.FirstOrder: "first-order",
    systems.FirstOrderLinear: "first-order-linear",
    systems.Lagrangian: "lagrangian",
    systems.LagrangianLinear: "lagrangian-linear",
    bodies.RigidBody: "rigid-body",
    bodies.RigidBody2d: "rigid-body-2d",
}

_RELATIONS = {
    relations.FirstOrderRelation: "first-order",
    relations.FirstOrderLinearRelation: "first-order-linear",
    relations.LagrangianRelation: "lagrangian",
    relations.LagrangianCompliant: "lagrangian-compliant",
    relations.LagrangianLinearRelation: "lagrangian-linear",
    relations.Prescribed: "prescribed",
    mechanics.JointCoordinate: "joint-coordinate",
    mechanics.Coupler: "coupler",
    mechanics.SpringDamper: "spring-damper",
    mechanics.Bushing: "bushing",
    mechanics.PointPlane: "point-plane",
    mechanics.SphereSphere: "sphere-sphere",
    mechanics.DiskLine: "disk-line",
    mechanics.DiskDisk: "disk-disk",
}

_LAWS = {
    laws.Complementarity: "complementarity",
    laws.Equality: "equality",
    laws.Relay: "relay",
    laws.PiecewiseLinear: "piecewise-linear",
    laws.Switch: "switch",
    laws.NormalCone: "normal-cone",
    laws.NewtonImpact: "newton-impact",
    laws.ImpactFriction: "impact-friction",
    laws.RollingFriction: "rolling-friction",
    laws.Fremond: "fremond",
    laws.MultipleImpact: "multiple-impact",
    laws.Cohesive: "cohesive",
    laws.BinaryCohesive: "binary-cohesive",
}

#: What is one number in a file and kept as a vector of one here.
_NUMBERS: Mapping[type, tuple[str, ...]] = {
    bodies.RigidBody: ("mass",),
    bodies.RigidBody2d: ("mass", "inertia", "angle", "omega"),
    mechanics.Coupler: ("ratio",),
    mechanics.SpringDamper: ("stiffness", "damping"),
    mechanics.PointPlane: ("radius",),
    mechanics.DiskLine: ("radius",),
}

_Table = dict[str, Any]


def tables(additions: Iterable[_Addition]) -> str:
    """The text of ``[[system]]``, ``[[interaction]]`` and ``[[event]]`` tables.

    Raises
    ------
    InputError
        Something has no place in a file: a function that is no formula.
    """
    return "".join(_table(addition) for addition in additions)


def _table(addition: _Addition) -> str:
    owner = f"{addition.kind} `{addition.name}`"
    named = {"name": _name(addition.name, owner)}
    if addition.kind == "system":
        table = {**named, **_members(addition.parts[0], _SYSTEMS, owner)}
    elif addition.kind == "interaction":
        relation, law, linked, active = addition.parts
        table = {
            **named,
            "systems": [_name(one, owner) for one in linked],
            "relation": _relation(relation, owner),
            "law": _members(law, _LAWS, owner),
            "active": None if active else False,
        }
    else:
        table = {**named, **_event(*addition.parts, owner)}
    lines = [f"{_key(key)} = {_value(value, key, owner)}\n" for key, value in table.items() if _is(value)]
    return f"\n[[{addition.kind}]]\n" + "".join(lines)


def _members(one: Any, kinds: Mapping[Any, str], owner: str) -> _Table:
    """The kind of a system, relation or law, and what it is made of."""
    if type(one) not in kinds:
        raise InputError(f"{owner}: a {type(one).__name__} has no place in a file")
    numbers = _NUMBERS.get(type(one), ())
    if dataclasses.is_dataclass(one):
        members = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
    else:
        # how many components there are is read off the formulas
        members = {key: value for key, value in vars(one).items() if key != "size"}
    found = {key: _only(value) if key in numbers else value for key, value in members.items()}
    return {"kind": kinds[type(one)], **found}


def _only(value: Any) -> Any:
    """The only component of a vector."""
    return value[0] if isinstance(value, (list, np.ndarray)) and len(value) == 1 else value


def _relation(relation: Any, owner: str) -> _Table:
    if isinstance(relation, mechanics.Joint):
        return _joint(relation, owner)
    members = _members(relation, _RELATIONS, owner)
    for key, value in members.items():
        if isinstance(value, mechanics.Joint):
            members[key] = _joint(value, owner)
    return members


def _joint(joint: mechanics.Joint, owner: str) -> _Table:
    table: _Table = {"kind": joint._kind}
    table |= {key: getattr(joint, key) for key in joint._vectors}
    if joint._number:
        table[joint._number] = _only(getattr(joint, joint._number))
    if hasattr(joint, "teeth"):
        table["teeth"] = list(joint.teeth)
    more = [_built_in(at, own, owner) for at, own in joint._by_coordinate().items()]
    table["more"] = more or None
    table |= {key: joint._built_in.get(key) for key in ("break_force", "break_moment")}
    return table


def _built_in(coordinate: str, own: Mapping[str, Any], owner: str) -> _Table:
    friction, stiction = own.get("friction", (None, None))
    stiffness, damping, rest = own.get("spring", (None, None, None))
    spring = {"stiffness": stiffness, "damping": damping, "rest": rest}
    table: _Table = {
        "coordinate": coordinate or None,
        "limits": own.get("limits"),
        "restitution": own.get("restitution"),
        "friction": friction,
        "stiction": stiction,
        "spring": spring if "spring" in own else None,
    }
    motor = own.get("motor")
    if motor is not None:
        kind = motor._parts(lambda value, what: value)[0]
        values = {key: _only(value) for key, value in vars(motor).items()}
        table["motor"] = {"kind": kind, **values}
    return table


def _event(do: list[events.Action], trigger: Mapping[str, Any], owner: str) -> _Table:
    values: _Table = {}
    new_laws: _Table = {}
    table: _Table = {key: trigger.get(key) for key in ("when", "at", "every", "start")}
    table["once"] = True if trigger.get("once") else None
    linked: dict[str, list[str]] = {"disconnect": [], "connect": []}
    changed = [one.interaction for one in do if isinstance(one, (events.Connect, events.Disconnect))]
    if len(set(changed)) < len(changed):
        raise InputError(f"{owner}: a file cannot hold two changes of one connection in one event")
    for action in do:
        if isinstance(action, events.SetState):
            new = {f"{action.system}.{key}": value for key, value in action.values.items()}
            _add(values, new, owner)
        elif isinstance(action, events.SetParameter):
            raise InputError(
                f"{owner}: it sets `{action.parameter}`, and a file of a scene holds the numbers "
                "that its parameters give at first"
            )
        elif isinstance(action, events.SetLaw):
            _add(new_laws, {action.interaction: _members(action.law, _LAWS, owner)}, owner)
        elif isinstance(action, events.Connect):
            linked["connect"].append(_name(action.interaction, owner))
        elif isinstance(action, events.Disconnect):
            linked["disconnect"].append(_name(action.interaction, owner))
        elif isinstance(action, events.Stop):
            table["stop"] = True
        else:
            raise InputError(f"{owner}: a {type(action).__name__} has no place in a file")
    found = {"set": values, "law": new_laws, **linked}
    return {**table, **{key: value for key, value in found.items() if value}}


def _add(table: _Table, new: _Table, owner: str) -> None:
    for key, value in new.items():
        if key in table:
            raise InputError(f"{owner}: a file cannot hold two changes of `{key}` in one event")
        table[_name(key, owner)] = value


def _is(value: Any) -> bool:
    """Whether there is something to write."""
    return value is not None and not (isinstance(value, np.ndarray) and value.size == 0)


def _name(name: str, owner: str) -> str:
    if "{" in name or "}" in name:
        raise InputError(f"{owner}: a name with braces would be read as a formula in a file")
    return name


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, key: str, owner: str) -> str:
    """A value in the words of TOML."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        entries = [f"{_key(k)} = {_value(v, k, owner)}" for k, v in value.items() if _is(v)]
        return "{ " + ", ".join(entries) + " }"
    if callable(value) or hasattr(value, "address"):
        raise InputError(
            f"{owner}: `{key}` is a function, and a file holds numbers and formulas only"
        )
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(entry, key, owner) for entry in value) + "]"
    if isinstance(value, (int, np.integer)):
        return repr(int(value))
    return repr(float(value))
