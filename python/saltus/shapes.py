"""Shapes of bodies. Each stands in a frame of its own; lengths are in metres."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus, _step
from saltus._arrays import matrix, real, vector
from saltus._errors import InputError

__all__ = [
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Disk",
    "HeightField",
    "Part",
    "Plane",
    "Polygon",
    "Polyline",
    "Segment",
    "Shape",
    "Sphere",
    "TriangleMesh",
]


class Shape:
    """A shape in its own frame. Axes of capsules, cylinders and cones are along ``z``."""

    _core: _saltus.Shape
    #: What of it has two components, so that it has a place in the plane only.
    _flat: str | None = None

    def at(
        self,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        material: str | None = None,
        touch: bool = True,
    ) -> Part:
        """The shape in its place.

        Parameters
        ----------
        position : array_like
            Where its origin is, in the frame of its owner.
        orientation : (4,) array_like
            How it is turned there: a quaternion ``(w, x, y, z)``.
        material : str, optional
            That of its owner unless given.
        touch : bool
            Whether it touches anything and has a mass, or is only drawn.
        """
        return Part(self, position, orientation, material, touch)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Part:
    """A shape in its place; made by `Shape.at`."""

    def __init__(
        self,
        shape: Shape,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        material: str | None = None,
        touch: bool = True,
    ) -> None:
        self.shape = shape
        place, turn = vector(position, "position"), vector(orientation, "orientation")
        self._core = _saltus.Part(shape._core, place, turn, material, bool(touch))
        self._flat = "position" if len(place) == 2 else shape._flat


def parts(
    given: Shape | Part | Sequence[Shape | Part], owner: str = "", dim: int | None = None
) -> list[_saltus.Part]:
    """One shape or several, each in its place; in a scene of `dim` dimensions, if that is known."""
    if isinstance(given, (Shape, Part)):
        given = [given]
    made = []
    for one in given:
        if not isinstance(one, (Shape, Part)):
            raise TypeError(f"expected a shape such as Box(1, 1, 1), not {type(one).__name__}")
        if dim == 3 and one._flat is not None:
            shape = type(one.shape if isinstance(one, Part) else one).__name__
            raise InputError(f"{owner}: `{one._flat}` of {shape} has 2 components, expected 3")
        made.append((one if isinstance(one, Part) else one.at())._core)
    return made


class Sphere(Shape):
    """A ball of radius `r` about the origin."""

    def __init__(self, r: float) -> None:
        self._core = _saltus.Shape.sphere(real(r, "r"))


class Box(Shape):
    """A box about the origin with these full edges; two of them in the plane."""

    def __init__(self, x: float, y: float, z: float | None = None) -> None:
        edges = [x, y] if z is None else [x, y, z]
        self._core = _saltus.Shape.cuboid(vector(edges, "edges"))


class Capsule(Shape):
    """All points within `r` of a segment of this `length` about the origin."""

    def __init__(self, r: float, length: float) -> None:
        self._core = _saltus.Shape.capsule(real(r, "r"), real(length, "length"))


class Cylinder(Shape):
    """A cylinder about the origin, of radius `r` and full `length`."""

    def __init__(self, r: float, length: float) -> None:
        self._core = _saltus.Shape.cylinder(real(r, "r"), real(length, "length"))


class Cone(Shape):
    """A cone whose base has radius `r`, the origin halfway to its tip."""

    def __init__(self, r: float, height: float) -> None:
        self._core = _saltus.Shape.cone(real(r, "r"), real(height, "height"))


class ConvexHull(Shape):
    """The smallest convex body that holds (n, 3) `points`."""

    def __init__(self, points: ArrayLike) -> None:
        self._core = _saltus.Shape.convex_hull(matrix(points, "points"))


class TriangleMesh(Shape):
    """A surface of triangles; a body where it is closed.

    Parameters
    ----------
    points : (n, 3) array_like
    triangles : (m, 3) array_like of int
        Positions of their corners among the points, counterclockwise seen from outside.
    """

    def __init__(self, points: ArrayLike, triangles: ArrayLike) -> None:
        self._core = _saltus.Shape.triangle_mesh(matrix(points, "points"), _corners(triangles))

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        scale: float = 1.0,
        deflection: float | None = None,
    ) -> TriangleMesh:
        """Reads a mesh: STL, OBJ or VTK; or a part: STEP, with the package ``cadquery-ocp-novtk`` or ``cadquery-ocp``.

        Parameters
        ----------
        path : path_like
        scale : float
            Lengths are multiplied by it. Those of STEP are metres before, whatever the unit of the file is.
        deflection : float, optional
            Of STEP only: how far triangles stand off curved faces at most, in metres after `scale`; a thousandth of the diagonal of
            each solid unless given. All solids of the file are one mesh (`parts` tells them apart).
        """
        file, times = os.fspath(path), real(scale, "scale")
        if not _step.is_step(file):
            if deflection is not None:
                raise InputError(f"`deflection` is for parts of STEP (.step, .stp), not for {file}")
            mesh = cls.__new__(cls)
            mesh._core = _saltus.Shape.mesh_file(file, times)
            return mesh
        solids = _step_solids(file, times, deflection)
        counts = np.cumsum([0, *(len(solid.points) for solid in solids)])
        corners = [solid.triangles + k for solid, k in zip(solids, counts, strict=False)]
        return cls(np.concatenate([solid.points for solid in solids]), np.concatenate(corners))

    @classmethod
    def parts(
        cls,
        path: str | os.PathLike[str],
        scale: float = 1.0,
        deflection: float | None = None,
    ) -> list[TriangleMesh]:
        """The solids of a STEP file, each a mesh in its place, as `from_file` reads them together."""
        file, times = os.fspath(path), real(scale, "scale")
        if not _step.is_step(file):
            raise InputError(f"{file}: parts are told apart in STEP files (.step, .stp) only")
        return [cls(one.points, one.triangles) for one in _step_solids(file, times, deflection)]


def _step_solids(file: str, scale: float, deflection: float | None) -> list[_step.Surface]:
    """Where what is asked makes sense."""
    apart = None if deflection is None else real(deflection, "deflection")
    for name, value in (("scale", scale), ("deflection", apart)):
        if value is not None and not 0.0 < value < np.inf:
            raise InputError(f"`{name}` is {value}, expected a finite number above zero")
    return _step.solids(file, scale, apart)


def _corners(triangles: ArrayLike) -> list[list[int]]:
    """The corners of triangles, by their positions among the points."""
    corners = matrix(triangles, "triangles") if np.size(triangles) else np.zeros((0, 3))
    if corners.shape[1] != 3:
        raise InputError(f"`triangles` has rows of {corners.shape[1]} corners, expected 3")
    wrong = ~((corners >= 0) & (corners < 2**32) & (corners == np.floor(corners)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = f"`triangles[{row}][{column}]` is {corners[row, column]:g}"
        raise InputError(f"{found}, expected the position of a point, a whole number from 0 on")
    found_corners: list[list[int]] = corners.astype(np.int64).tolist()
    return found_corners


class HeightField(Shape):
    """The ground ``z = heights[i, j]`` over a rectangle about the origin: row `i` along ``y``,
    column `j` along ``x``.

    Parameters
    ----------
    heights : (n, m) array_like
    size : (float, float)
        Edges of the rectangle along ``x`` and ``y``.
    """

    def __init__(self, heights: ArrayLike, size: ArrayLike) -> None:
        field = matrix(heights, "heights")
        self._core = _saltus.Shape.height_field(field, vector(size, "size"))


class Plane(Shape):
    """The half-space ``normal · x <= offset``, for what stands still."""

    def __init__(self, normal: ArrayLike = (0.0, 0.0, 1.0), offset: float = 0.0) -> None:
        direction = vector(normal, "normal")
        self._core = _saltus.Shape.plane(direction, real(offset, "offset"))
        self._flat = "normal" if len(direction) == 2 else None


class Compound(Shape):
    """Several shapes that move as one; each may be placed by `Shape.at`."""

    def __init__(self, shapes: Sequence[Shape | Part]) -> None:
        self._core = _saltus.Shape.compound(parts(shapes))
        shapes = [shapes] if isinstance(shapes, (Shape, Part)) else shapes
        self._flat = next((one._flat for one in shapes if one._flat is not None), None)


class Disk(Shape):
    """A disk of radius `r` in the plane."""

    def __init__(self, r: float) -> None:
        self._core = _saltus.Shape.disk(real(r, "r"))


class Segment(Shape):
    """A segment in the plane, from `start` to `end`."""

    def __init__(self, start: ArrayLike, end: ArrayLike) -> None:
        self._core = _saltus.Shape.segment(vector(start, "start"), vector(end, "end"))


class Polygon(Shape):
    """A convex polygon in the plane with (n, 2) corners."""

    def __init__(self, points: ArrayLike) -> None:
        self._core = _saltus.Shape.polygon(matrix(points, "points"))


class Polyline(Shape):
    """A line of segments in the plane through (n, 2) points."""

    def __init__(self, points: ArrayLike) -> None:
        self._core = _saltus.Shape.polyline(matrix(points, "points"))
