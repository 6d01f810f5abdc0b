"""Rigid bodies: scenes of them, their shapes, and joints and contacts as relations.

A scene is made of bodies with shapes and materials, and comes to a model::

    sc = sl.mechanics.Scene(gravity=(0, 0, -9.81))
    sc.material("stone", density=2500.0)
    sc.contact("stone", "stone", e=0.0, mu=0.7)
    sc.add_static("ground", sl.mechanics.Plane(), material="stone")
    sc.add_body("box", sl.mechanics.Box(1, 1, 1), material="stone", position=(0, 0, 2))
    run = sc.run(h=5e-3, until=2.0)
    run["box"].position, run.contacts

Joints and contacts are also relations for `Model.connect`.

Joints hold with the law `Equality`, contacts with one of impact. Where one body is linked, the other
side is the world. Points and directions are in the frame of the world, for the configuration that the
bodies start in, unless they are said to be in the frame of a body::

    pivot = sl.mechanics.Pivot(point=(0, 0, 3), axis=(0, 1, 0))
    model.connect(pivot, sl.Equality(), box, name="hinge")
    model.connect(sl.mechanics.PointPlane(radius=0.1), sl.ImpactFriction(e=0.5, mu=0.3), ball)

Joints are held in their velocities; with `MoreauJean(projection="direct")`, ``"combined"`` or
``"ggl"``, and with `GeneralizedAlpha(projection="ggl")`, in their positions too.

A joint may have more built into it, which becomes interactions of its own, ``hinge.limit``,
``hinge.friction``, ``hinge.spring`` and ``hinge.motor``::

    hinge = sl.mechanics.Pivot((0, 0, 3), (0, 1, 0), limits=(-1, 1), friction=0.2,
                               motor=sl.mechanics.VelocityMotor(2.0, max_force=5.0), break_force=1e4)
    model.connect(hinge, sl.Equality(), box, name="hinge")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus import _saltus
from saltus._arrays import Operand, constant, count, pair, real, whole
from saltus._errors import InputError
from saltus._operators import Operator, Scope, given
from saltus.relations import Link, Relation
from saltus.scene import Drive, Scene, SceneWarning, Side, load
from saltus.shapes import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Disk,
    HeightField,
    Part,
    Plane,
    Polygon,
    Polyline,
    Segment,
    Shape,
    Sphere,
    TriangleMesh,
)

__all__ = [
    "Ball",
    "Box",
    "Bushing",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Coupler",
    "Cylinder",
    "Cylindrical",
    "Disk",
    "DiskDisk",
    "DiskLine",
    "Distance",
    "Distance2d",
    "Drive",
    "Fixed",
    "Fixed2d",
    "ForceMotor",
    "Gear",
    "HeightField",
    "Joint",
    "JointCoordinate",
    "Part",
    "Pivot",
    "Pivot2d",
    "Planar",
    "Plane",
    "PointPlane",
    "Polygon",
    "Polyline",
    "PositionMotor",
    "Prismatic",
    "Prismatic2d",
    "Rack",
    "Scene",
    "SceneWarning",
    "Screw",
    "Segment",
    "Shape",
    "Side",
    "Sphere",
    "SphereSphere",
    "Spring",
    "SpringDamper",
    "TriangleMesh",
    "Universal",
    "VelocityMotor",
    "load",
]


#: What is made of a number, formula or function of ``t``, given with its name.
_Compile = Callable[[Any, str], Any]


@dataclass
class Spring:
    """A spring with a damper in a joint: the force ``−stiffness (x − rest) − damping ẋ``."""

    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0


class ForceMotor:
    """A force or moment along a coordinate, a number or an operator of ``t``."""

    def __init__(self, force: Operator) -> None:
        self.force = given(_row(force), "force", 1)

    def _parts(self, operator: _Compile) -> tuple[str, Any, float, float, float]:
        return "force", operator(self.force, "force"), 0.0, 0.0, float("inf")


class VelocityMotor:
    """A rate, a number or an operator of ``t``, as far as a largest force allows."""

    def __init__(self, v: Operator, max_force: float = float("inf")) -> None:
        self.v, self.max_force = given(_row(v), "v", 1), real(max_force, "max_force")

    def _parts(self, operator: _Compile) -> tuple[str, Any, float, float, float]:
        return "velocity", operator(self.v, "v"), 0.0, 0.0, self.max_force


class PositionMotor:
    """A place ``r``, a number or an operator of ``t``: the force ``−stiffness (x − r) − damping (ẋ − ṙ)``,
    as far as a largest force allows."""

    def __init__(
        self,
        target: Operator,
        stiffness: float,
        damping: float = 0.0,
        max_force: float = float("inf"),
    ) -> None:
        self.target = given(_row(target), "target", 1)
        self.stiffness, self.damping = real(stiffness, "stiffness"), real(damping, "damping")
        self.max_force = real(max_force, "max_force")

    def _parts(self, operator: _Compile) -> tuple[str, Any, float, float, float]:
        target = operator(self.target, "target")
        return "position", target, self.stiffness, self.damping, self.max_force


def _row(value: Any) -> Any:
    """A number or formula as a vector of one component."""
    return [value] if isinstance(value, (int, float, str)) else value


def _friction(value: Any, what: str) -> tuple[float, float | None]:
    """Friction, and stiction where it is given."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return real(value, what), None
    return pair(value, what, "(friction, stiction)")


def _spring(value: Any, what: str) -> tuple[float, float, float]:
    """Stiffness, damping and rest."""
    if not isinstance(value, Spring):
        found = type(value).__name__
        raise TypeError(f"`{what}` must be a Spring(stiffness, damping, rest), not {found}")
    numbers = [real(getattr(value, part), f"{what}.{part}") for part in ("stiffness", "damping", "rest")]
    return numbers[0], numbers[1], numbers[2]


def _motor(value: Any, what: str) -> ForceMotor | VelocityMotor | PositionMotor:
    if not isinstance(value, (ForceMotor, VelocityMotor, PositionMotor)):
        found = type(value).__name__
        raise TypeError(
            f"`{what}` must be a ForceMotor, VelocityMotor or PositionMotor, not {found}"
        )
    return value


#: What may be built into a coordinate, and how it is checked; limits before their restitution.
_BUILT_IN: Mapping[str, Callable[[Any, str], Any]] = {
    "limits": lambda value, what: pair(value, what, "(lower, upper)"),
    "restitution": real,
    "friction": _friction,
    "spring": _spring,
    "motor": _motor,
}


def _limits_of(coordinate: str) -> str:
    return f"`limits` of `{coordinate}`" if coordinate else "`limits`"


class Joint(Relation):
    """What two bodies, or a body and the world, hold on to.

    All joints take these keywords; those that leave nothing free (`Fixed`, `Fixed2d`) only the last two.
    Where a joint has several coordinates (see the book, "Rigid bodies"), a dict of them by name may stand
    for a value; a value alone is that of the first, and a restitution alone that of all limits. Coordinates
    and forces count how the first body moves against the second, or against the world, and in a scene
    either of both may stand still.

    Parameters
    ----------
    limits : (lower, upper), optional
        Where the coordinate ends; infinite where it does not.
    restitution : float, optional
        That of the limits, which must be there; 0 unless given.
    friction : float or (friction, stiction), optional
        The largest force of dry friction; two where it is larger at rest.
    spring : Spring, optional
        A spring and a damper.
    motor : ForceMotor, VelocityMotor or PositionMotor, optional
        What drives it.
    break_force, break_moment : float, optional
        It breaks, with all that is built into it, when its forces or moments exceed these; the event
        ``hinge.break`` tells. One that bears no moments (`Ball`, `Distance`, `Rack`, `Pivot2d`) has no
        ``break_moment``.
    """

    _kind: str
    _vectors: tuple[str, ...] = ()
    _number: str = ""
    #: The coordinate that a value alone is of; none where nothing is left free.
    _first: str = ""
    _built_in: Mapping[str, Any] = {}

    def _build(self, built_in: Mapping[str, Any]) -> None:
        known = (
            "limits",
            "restitution",
            "friction",
            "spring",
            "motor",
            "break_force",
            "break_moment",
        )
        for key in built_in:
            if key not in known:
                raise TypeError(f"{type(self).__name__} has no `{key}`; it may have {', '.join(known)}")
        self._built_in = {key: value for key, value in built_in.items() if value is not None}
        for key in ("break_force", "break_moment"):
            if key in self._built_in:
                real(self._built_in[key], key)
        self._by_coordinate()

    def _values(self, scope: Scope) -> tuple[str, list[tuple[str, Any]], float, tuple[int, int]]:
        """Kind, vectors by name, the number and the teeth."""
        names = [name for name in self._vectors if getattr(self, name) is not None]
        vectors = [(name, scope.constant(getattr(self, name), name)) for name in names]
        number = getattr(self, self._number) if self._number else None
        number = 0.0 if number is None else float(scope.constant(number, self._number)[0])
        return self._kind, vectors, number, getattr(self, "teeth", (1, 1))

    def _by_coordinate(self) -> dict[str, dict[str, Any]]:
        """What is built into each coordinate, checked."""
        found: dict[str, dict[str, Any]] = {}
        for key, check in _BUILT_IN.items():
            value = self._built_in.get(key)
            if value is None:
                continue
            if isinstance(value, Mapping):
                given = {at: check(one, f"{key}[{at!r}]") for at, one in value.items()}
            elif key == "restitution":
                given = dict.fromkeys(found, check(value, key))
            else:
                given = {self._first: check(value, key)}
            if key == "restitution":
                for at in given or [self._first]:
                    if "limits" not in found.get(at, {}):
                        raise InputError(f"`restitution` is that of limits: give {_limits_of(at)} too")
            for at, one in given.items():
                found.setdefault(at, {})[key] = one
        return found

    def _extras(self, operator: _Compile) -> list[tuple[Any, ...]]:
        """What is built into each coordinate."""
        extras = []
        for coordinate, own in self._by_coordinate().items():
            limits, motor = own.get("limits"), own.get("motor")
            if limits is not None:
                limits = (*limits, own.get("restitution", 0.0))
            motor = None if motor is None else motor._parts(operator)
            extras.append((coordinate, limits, own.get("friction"), own.get("spring"), motor))
        return extras

    def _connect(self, link: Link) -> int:
        size = len(link.state("q"))
        scope = link.scope(("q", size))
        return _saltus.connect_joint(
            link.model,
            link.name,
            link.compiled_law(size, 1),
            link.systems,
            *self._values(scope),
            self._extras(lambda value, what: scope.operator(value, what, "t", 1)),
            self._built_in.get("break_force"),
            self._built_in.get("break_moment"),
        )


class JointCoordinate(Relation):
    """What a joint leaves free, as an output of one component: the angle of a pivot, the way of a
    prismatic joint. The joint itself need not be there.

    Parameters
    ----------
    joint : Joint
    coordinate : str
        ``"angle"``, ``"way"``, ``"second_angle"``, ``"second_way"``, ``"swing"``, ``"twist"`` or
        ``"length"``, one that the joint has.
    """

    def __init__(self, joint: Joint, coordinate: str) -> None:
        self.joint, self.coordinate = joint, coordinate

    def _connect(self, link: Link) -> int:
        law = link.compiled_law(len(link.state("q")), 1)
        values = self.joint._values(link.scope(("q", len(link.state("q")))))
        _saltus.connect_joint_coordinate(
            link.model, link.name, law, link.systems, *values, self.coordinate
        )
        return 1


class Ball(Joint):
    """A point that both have in common: 3 rows, the impulses in the directions of the world.

    Parameters
    ----------
    point : (3,) array_like
    twist_axis : (3,) array_like, optional
        The axis of its coordinates ``swing`` and ``twist``; z unless given.
    **built_in
        Limits, friction … (see `Joint`).
    """

    _kind, _vectors = "ball", ("point", "twist_axis")
    _first = "swing"

    def __init__(
        self, point: Operand, twist_axis: Operand | None = None, **built_in: Any
    ) -> None:
        self.point = constant(point, "point", 1)
        self.twist_axis = None if twist_axis is None else constant(twist_axis, "twist_axis", 1)
        self._build(built_in)


class Pivot(Joint):
    """An axis that both have in common, along which nothing moves: 5 rows.

    Parameters
    ----------
    point : (3,) array_like
        A point of the axis, which is held.
    axis : (3,) array_like
        Its direction.
    """

    _kind, _vectors = "pivot", ("point", "axis")
    _first = "angle"

    def __init__(self, point: Operand, axis: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self._build(built_in)


class Prismatic(Joint):
    """A way along an axis, without a turn: 5 rows.

    Parameters
    ----------
    axis : (3,) array_like
    """

    _kind, _vectors = "prismatic", ("axis",)
    _first = "way"

    def __init__(self, axis: Operand, **built_in: Any) -> None:
        self.axis = constant(axis, "axis", 1)
        self._build(built_in)


class Cylindrical(Joint):
    """An axis that both have in common: 4 rows.

    Parameters
    ----------
    point, axis : (3,) array_like
        A point of the axis, and its direction.
    """

    _kind, _vectors = "cylindrical", ("point", "axis")
    _first = "way"

    def __init__(self, point: Operand, axis: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self._build(built_in)


class Universal(Joint):
    """A cross: a point in common, and an axis of each body that stay at a right angle: 4 rows.

    Parameters
    ----------
    point : (3,) array_like
        Where the axes cross.
    axis, second_axis : (3,) array_like
        That of the first body, and that of the second.
    """

    _kind, _vectors = "universal", ("point", "axis", "second_axis")
    _first = "angle"

    def __init__(
        self, point: Operand, axis: Operand, second_axis: Operand, **built_in: Any
    ) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self.second_axis = constant(second_axis, "second_axis", 1)
        self._build(built_in)


class Planar(Joint):
    """A plane in which the first body moves and turns: 3 rows.

    Parameters
    ----------
    point, normal : (3,) array_like
    """

    _kind, _vectors = "planar", ("point", "normal")
    _first = "way"

    def __init__(self, point: Operand, normal: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.normal = constant(normal, "normal", 1)
        self._build(built_in)


class Fixed(Joint):
    """Both are one body: 6 rows."""

    _kind = "fixed"

    def __init__(self, **built_in: Any) -> None:
        self._build(built_in)


class Distance(Joint):
    """Two points that keep their distance: 1 row.

    What is built into its length takes the place of that row: with ``limits=(0, 2)`` it is a rope of
    length 2, with ``limits=(1, inf)`` a strut, with a spring one of these, with a motor a winch.

    Parameters
    ----------
    point, second_point : (3,) array_like
        One of the first body, and one of the second.
    **built_in
        Limits, friction … of its length (see `Joint`). The first of limits, friction, spring and motor has
        the name of the joint.
    """

    _kind, _vectors = "distance", ("point", "second_point")
    _first = "length"

    def __init__(self, point: Operand, second_point: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.second_point = constant(second_point, "second_point", 1)
        self._build(built_in)


class Screw(Joint):
    """An axis in common, along which the first body moves by `pitch` in each turn: 5 rows.

    Parameters
    ----------
    point, axis : (3,) array_like
    pitch : float
        The way of a full turn, not zero.
    """

    _kind, _vectors, _number = "screw", ("point", "axis"), "pitch"
    _first = "way"

    def __init__(self, point: Operand, axis: Operand, pitch: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self.pitch = constant(pitch, "pitch", 1)
        self._build(built_in)


class Gear(Joint):
    """Two wheels on axes that the world holds: ``teeth[0] ω_a + teeth[1] ω_b = 0``: 1 row.

    Parameters
    ----------
    axis, second_axis : (3,) array_like
        Those of the first and the second body.
    teeth : (2,) sequence of int
        Not zero; of both signs where one wheel has its teeth inside, and both turn the same way.
    **built_in
        Limits, friction … (see `Joint`) of its coordinates ``angle`` and ``second_angle``, the turns of the
        first and the second wheel against the world. ``break_force`` and ``break_moment`` both bound the
        one load that it bears, the moment on the first wheel.
    """

    _kind, _vectors = "gear", ("axis", "second_axis")

    def __init__(
        self, axis: Operand, second_axis: Operand, teeth: Sequence[int], **built_in: Any
    ) -> None:
        self.axis = constant(axis, "axis", 1)
        self.second_axis = constant(second_axis, "second_axis", 1)
        first, second = pair(teeth, "teeth", "two whole numbers")
        self.teeth = (whole(first, "teeth[0]"), whole(second, "teeth[1]"))
        self._build(built_in)


class Rack(Joint):
    """A pinion, the first body, on a rack, the second: ``direction · v_b = radius ω_a · axis``, both
    against the world: 1 row.

    Parameters
    ----------
    axis : (3,) array_like
        That of the pinion.
    direction : (3,) array_like
        That the rack moves in as the pinion turns about its axis.
    radius : float
        Of the pinion, positive.
    **built_in
        Limits, friction … (see `Joint`) of its coordinates ``angle`` of the pinion and ``way`` of the rack,
        both against the world.
    """

    _kind, _vectors, _number = "rack", ("axis", "direction"), "radius"

    def __init__(
        self, axis: Operand, direction: Operand, radius: Operand, **built_in: Any
    ) -> None:
        self.axis = constant(axis, "axis", 1)
        self.direction = constant(direction, "direction", 1)
        self.radius = constant(radius, "radius", 1)
        self._build(built_in)


class Pivot2d(Joint):
    """A point that both have in common, in the plane: 2 rows. Its angle counts all turns.

    Parameters
    ----------
    point : (2,) array_like
    **built_in
        Limits, friction … (see `Joint`).
    """

    _kind, _vectors = "pivot-2d", ("point",)
    _first = "angle"

    def __init__(self, point: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self._build(built_in)


class Prismatic2d(Joint):
    """A way along an axis, without a turn, in the plane: 2 rows.

    Parameters
    ----------
    axis : (2,) array_like
    **built_in
        Limits, friction … (see `Joint`).
    """

    _kind, _vectors = "prismatic-2d", ("axis",)
    _first = "way"

    def __init__(self, axis: Operand, **built_in: Any) -> None:
        self.axis = constant(axis, "axis", 1)
        self._build(built_in)


class Fixed2d(Joint):
    """Both are one body, in the plane: 3 rows."""

    _kind = "fixed-2d"

    def __init__(self, **built_in: Any) -> None:
        self._build(built_in)


class Distance2d(Joint):
    """Two points that keep their distance, in the plane: 1 row. With limits it is a rope or a strut, like
    `Distance`.

    Parameters
    ----------
    point, second_point : (2,) array_like
        One of the first body, and one of the second.
    **built_in
        Limits, friction … of its length (see `Joint`).
    """

    _kind, _vectors = "distance-2d", ("point", "second_point")
    _first = "length"

    def __init__(self, point: Operand, second_point: Operand, **built_in: Any) -> None:
        self.point = constant(point, "point", 1)
        self.second_point = constant(second_point, "second_point", 1)
        self._build(built_in)


class SpringDamper(Relation):
    """A spring with a damper between two points, for the law `Equality`::

        f = −stiffness (|d| − rest) − damping |d|˙

    Parameters
    ----------
    point, second_point : (3,) or (2,) array_like
        One of the first body, and one of the second or of the world, at the start.
    stiffness : float
        Positive.
    damping : float
    rest : float, optional
        Its length without force; that at the start unless given.
    """

    def __init__(
        self,
        point: Operand,
        second_point: Operand,
        stiffness: Operand,
        damping: Operand = 0.0,
        rest: float | None = None,
    ) -> None:
        self.point = constant(point, "point", 1)
        self.second_point = constant(second_point, "second_point", 1)
        self.stiffness = constant(stiffness, "stiffness", 1)
        self.damping = constant(damping, "damping", 1)
        self.rest = rest

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_spring_damper(
            link.model,
            link.name,
            link.compiled_law(len(q), 1),
            link.systems,
            scope.constant(self.point, "point"),
            scope.constant(self.second_point, "second_point"),
            float(scope.constant(self.stiffness, "stiffness")[0]),
            float(scope.constant(self.damping, "damping")[0]),
            None if self.rest is None else real(self.rest, "rest"),
        )
        return 1


class Bushing(Relation):
    """Springs and dampers along three directions and about them, for the law `Equality`::

        fᵢ = −kᵢ (eᵢ · d) − cᵢ (eᵢ · d)˙,    mᵢ = −kᵢ₊₃ φᵢ − cᵢ₊₃ φ̇ᵢ

    with ``d`` between the points that were one at the start, and ``φᵢ`` the turn about ``eᵢ`` since
    then. The directions are fixed in the second body or the world. It has a component for each
    stiffness that is not zero; dampers without a stiffness are an interaction of their own,
    ``NAME.damper``.

    Parameters
    ----------
    point : (3,) array_like
        Where it is, in the frame of the world at the start.
    stiffness : (6,) array_like
        ``k``: three along the directions and three about them, not negative.
    damping : (6,) array_like, optional
        ``c``, likewise; none unless given.
    axis, second_axis : (3,) array_like, optional
        The directions ``e₁`` and ``e₂``, at right angles; x and y unless given.
    """

    def __init__(
        self,
        point: Operand,
        stiffness: Operand,
        damping: Operand = (0, 0, 0, 0, 0, 0),
        axis: Operand = (1, 0, 0),
        second_axis: Operand = (0, 1, 0),
    ) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self.second_axis = constant(second_axis, "second_axis", 1)
        self.stiffness = constant(stiffness, "stiffness", 1)
        self.damping = constant(damping, "damping", 1)

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        return _saltus.connect_bushing(
            link.model,
            link.name,
            link.compiled_law(len(q), 6),
            link.systems,
            scope.constant(self.point, "point"),
            scope.constant(self.axis, "axis"),
            scope.constant(self.second_axis, "second_axis"),
            scope.constant(self.stiffness, "stiffness"),
            scope.constant(self.damping, "damping"),
        )


class Coupler(Relation):
    """Couples two coordinates, ``x₂ = ratio x₁``, like gears, belts and cams without play, for the law
    `Equality`: 1 row. The joints themselves need not be there.

    With one body both are coordinates of it against the world; with two, the first is one of the first
    body and the second one of the second, each against the world, or, where they are `between`, both
    are coordinates between the two bodies.

    Parameters
    ----------
    joint : Joint
    coordinate : str
        One that the joint has, as for `JointCoordinate`.
    second_joint : Joint
    second_coordinate : str
    ratio : float
        Not zero; that of two angles in space a ratio of whole numbers up to 1000.
    between : bool
    """

    def __init__(
        self,
        joint: Joint,
        coordinate: str,
        second_joint: Joint,
        second_coordinate: str,
        ratio: Operand,
        between: bool = False,
    ) -> None:
        for value, what in ((joint, "joint"), (second_joint, "second_joint")):
            if not isinstance(value, Joint):
                raise TypeError(f"`{what}` must be a joint such as Pivot, not {type(value).__name__}")
        self.joint, self.coordinate = joint, coordinate
        self.second_joint, self.second_coordinate = second_joint, second_coordinate
        self.ratio = constant(ratio, "ratio", 1)
        self.between = bool(between)

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_coupler(
            link.model,
            link.name,
            link.compiled_law(len(q), 1),
            link.systems,
            (self.joint._values(scope), self.coordinate),
            (self.second_joint._values(scope), self.second_coordinate),
            float(scope.constant(self.ratio, "ratio")[0]),
            self.between,
        )
        return 1


class PointPlane(Relation):
    """A sphere, or a point, of the first body above a plane of the second or of the world::

        gap = n · (P − origin) − radius,    contact point P − radius n

    Parameters
    ----------
    center : (3,) array_like, optional
        The point P, in the frame of the first body; its center of mass unless given.
    radius : float
        That of the sphere about it; 0 is the point alone.
    normal, origin : (3,) array_like, optional
        Of the plane; ``z = 0`` unless given.
    components : {3, 1, 5}
        The normal and two tangents, for laws of friction; the normal alone; or two rates of
        rolling besides, for `RollingFriction`.
    """

    def __init__(
        self,
        center: Operand = (0, 0, 0),
        radius: Operand = 0.0,
        normal: Operand = (0, 0, 1),
        origin: Operand = (0, 0, 0),
        components: int = 3,
    ) -> None:
        self.center = constant(center, "center", 1)
        self.radius = constant(radius, "radius", 1)
        self.normal = constant(normal, "normal", 1)
        self.origin = constant(origin, "origin", 1)
        self.components = count(components, "components")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_point_plane(
            link.model,
            link.name,
            link.compiled_law(len(q), self.components),
            link.systems,
            scope.constant(self.center, "center"),
            float(scope.constant(self.radius, "radius")[0]),
            scope.constant(self.normal, "normal"),
            scope.constant(self.origin, "origin"),
            self.components,
        )
        return self.components


class SphereSphere(Relation):
    """Two spheres, of two bodies, or of one body and the world::

        gap = |P − Q| − radii[0] − radii[1]

    Parameters
    ----------
    radii : (2,) array_like
    center, second_center : (3,) array_like, optional
        Each in the frame of its body; the centers of mass unless given.
    components : {3, 1, 5}
        As those of `PointPlane`.
    """

    def __init__(
        self,
        radii: Operand,
        center: Operand = (0, 0, 0),
        second_center: Operand = (0, 0, 0),
        components: int = 3,
    ) -> None:
        self.radii = constant(radii, "radii", 1)
        self.center = constant(center, "center", 1)
        self.second_center = constant(second_center, "second_center", 1)
        self.components = count(components, "components")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_sphere_sphere(
            link.model,
            link.name,
            link.compiled_law(len(q), self.components),
            link.systems,
            scope.constant(self.radii, "radii"),
            scope.constant(self.center, "center"),
            scope.constant(self.second_center, "second_center"),
            self.components,
        )
        return self.components


class DiskLine(Relation):
    """A disk, or a point, of the first body in the plane above a line of the second or of the world::

        gap = n · (P − origin) − radius,    contact point P − radius n

    Parameters
    ----------
    center : (2,) array_like, optional
        The point P, in the frame of the first body; its center of mass unless given.
    radius : float
        That of the disk about it; 0 is the point alone.
    normal, origin : (2,) array_like, optional
        Of the line; ``y = 0`` unless given.
    components : {2, 1, 3}
        The normal and the tangent, for laws of friction; the normal alone; or the rate of rolling
        besides, for `RollingFriction`.
    """

    def __init__(
        self,
        center: Operand = (0, 0),
        radius: Operand = 0.0,
        normal: Operand = (0, 1),
        origin: Operand = (0, 0),
        components: int = 2,
    ) -> None:
        self.center = constant(center, "center", 1)
        self.radius = constant(radius, "radius", 1)
        self.normal = constant(normal, "normal", 1)
        self.origin = constant(origin, "origin", 1)
        self.components = count(components, "components")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_disk_line(
            link.model,
            link.name,
            link.compiled_law(len(q), self.components),
            link.systems,
            scope.constant(self.center, "center"),
            float(scope.constant(self.radius, "radius")[0]),
            scope.constant(self.normal, "normal"),
            scope.constant(self.origin, "origin"),
            self.components,
        )
        return self.components


class DiskDisk(Relation):
    """Two disks, of two bodies in the plane, or of one body and the world::

        gap = |P − Q| − radii[0] − radii[1]

    Parameters
    ----------
    radii : (2,) array_like
    center, second_center : (2,) array_like, optional
        Each in the frame of its body; the centers of mass unless given.
    components : {2, 1, 3}
        As those of `DiskLine`.
    """

    def __init__(
        self,
        radii: Operand,
        center: Operand = (0, 0),
        second_center: Operand = (0, 0),
        components: int = 2,
    ) -> None:
        self.radii = constant(radii, "radii", 1)
        self.center = constant(center, "center", 1)
        self.second_center = constant(second_center, "second_center", 1)
        self.components = count(components, "components")

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        _saltus.connect_disk_disk(
            link.model,
            link.name,
            link.compiled_law(len(q), self.components),
            link.systems,
            scope.constant(self.radii, "radii"),
            scope.constant(self.center, "center"),
            scope.constant(self.second_center, "second_center"),
            self.components,
        )
        return self.components
