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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltus import _saltus
from saltus._arrays import Array, Operand, constant, count
from saltus._operators import Scope
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
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Cylindrical",
    "Disk",
    "Distance",
    "Drive",
    "Fixed",
    "Gear",
    "HeightField",
    "Joint",
    "Part",
    "Pivot",
    "Planar",
    "Plane",
    "PointPlane",
    "Polygon",
    "Polyline",
    "Prismatic",
    "Scene",
    "SceneWarning",
    "Screw",
    "Segment",
    "Shape",
    "Side",
    "Sphere",
    "SphereSphere",
    "TriangleMesh",
    "Universal",
    "load",
]


class Joint(Relation):
    """What two bodies, or a body and the world, hold on to."""

    _kind: str
    _vectors: tuple[str, ...] = ()

    def _connect(self, link: Link) -> int:
        q = link.state("q")
        scope = link.scope(("q", len(q)))
        vectors = [(name, scope.constant(getattr(self, name), name)) for name in self._vectors]
        pitch = getattr(self, "pitch", None)
        return _saltus.connect_joint(
            link.model,
            link.name,
            link.compiled_law(len(q), 1),
            link.systems,
            self._kind,
            vectors,
            0.0 if pitch is None else float(scope.constant(pitch, "pitch")[0]),
            getattr(self, "teeth", (1, 1)),
        )

    def _add_to_scene(
        self, scene: _saltus.Scene, name: str, bodies: list[str], touch: bool
    ) -> None:
        vectors, pitch = self._values(f"joint `{name}`", dict(scene.parameters))
        teeth = getattr(self, "teeth", (1, 1))
        scene.add_joint(name, self._kind, vectors, pitch, teeth, bodies, touch)

    def _values(
        self, owner: str, parameters: Mapping[str, float]
    ) -> tuple[list[tuple[str, Array]], float]:
        """Its vectors by name, and its pitch."""
        scope = Scope(owner, parameters, ("", 0))
        vectors = [(name, scope.constant(getattr(self, name), name)) for name in self._vectors]
        pitch = getattr(self, "pitch", None)
        return vectors, 0.0 if pitch is None else float(scope.constant(pitch, "pitch")[0])


class Ball(Joint):
    """A point that both have in common: 3 rows, the impulses in the directions of the world.

    Parameters
    ----------
    point : (3,) array_like
    """

    _kind, _vectors = "ball", ("point",)

    def __init__(self, point: Operand) -> None:
        self.point = constant(point, "point", 1)


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

    def __init__(self, point: Operand, axis: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)


class Prismatic(Joint):
    """A way along an axis, without a turn: 5 rows.

    Parameters
    ----------
    axis : (3,) array_like
    """

    _kind, _vectors = "prismatic", ("axis",)

    def __init__(self, axis: Operand) -> None:
        self.axis = constant(axis, "axis", 1)


class Cylindrical(Joint):
    """An axis that both have in common: 4 rows.

    Parameters
    ----------
    point, axis : (3,) array_like
        A point of the axis, and its direction.
    """

    _kind, _vectors = "cylindrical", ("point", "axis")

    def __init__(self, point: Operand, axis: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)


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

    def __init__(self, point: Operand, axis: Operand, second_axis: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self.second_axis = constant(second_axis, "second_axis", 1)


class Planar(Joint):
    """A plane in which the first body moves and turns: 3 rows.

    Parameters
    ----------
    point, normal : (3,) array_like
    """

    _kind, _vectors = "planar", ("point", "normal")

    def __init__(self, point: Operand, normal: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.normal = constant(normal, "normal", 1)


class Fixed(Joint):
    """Both are one body: 6 rows."""

    _kind = "fixed"


class Distance(Joint):
    """Two points that keep their distance: 1 row.

    Parameters
    ----------
    point, second_point : (3,) array_like
        One of the first body, and one of the second.
    """

    _kind, _vectors = "distance", ("point", "second_point")

    def __init__(self, point: Operand, second_point: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.second_point = constant(second_point, "second_point", 1)


class Screw(Joint):
    """An axis in common, along which the first body moves by `pitch` in each turn: 5 rows.

    Parameters
    ----------
    point, axis : (3,) array_like
    pitch : float
        The way of a full turn, not zero.
    """

    _kind, _vectors = "screw", ("point", "axis")

    def __init__(self, point: Operand, axis: Operand, pitch: Operand) -> None:
        self.point = constant(point, "point", 1)
        self.axis = constant(axis, "axis", 1)
        self.pitch = constant(pitch, "pitch", 1)


class Gear(Joint):
    """Two wheels on axes that the world holds: ``teeth[0] ω_a + teeth[1] ω_b = 0``: 1 row.

    Parameters
    ----------
    axis, second_axis : (3,) array_like
        Those of the first and the second body.
    teeth : (2,) sequence of int
        Not zero; of both signs where one wheel has its teeth inside, and both turn the same way.
    """

    _kind, _vectors = "gear", ("axis", "second_axis")

    def __init__(self, axis: Operand, second_axis: Operand, teeth: Sequence[int]) -> None:
        self.axis = constant(axis, "axis", 1)
        self.second_axis = constant(second_axis, "second_axis", 1)
        first, second = teeth
        self.teeth = (int(first), int(second))


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
