"""Parts of STEP files as surfaces of triangles.

A part is a solid with curved faces. Open CASCADE (the package ``cadquery-ocp`` or ``cadquery-ocp-novtk``, LGPL) reads it and cuts
its faces into triangles that stand off them by no more than a deflection; faces that meet share the points of their edge, which are
one here, so that the surface of a solid is closed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus._errors import InputError

#: Deflection of a part, unless given, as a share of the diagonal of its box.
SHARE = 1e-3
#: How far a triangle's normals may turn across it, in radians: small rounded edges stay round.
TURN = 0.3
#: What is nearer than this share of the diagonal is one point.
SAME = 1e-9

ENDINGS = (".step", ".stp")


@dataclass(frozen=True)
class Surface:
    """The surface of a solid: points in metres, and triangles seen counterclockwise from outside."""

    points: np.ndarray
    triangles: np.ndarray


def is_step(path: str) -> bool:
    """Whether the ending of a file says that it is one of STEP."""
    return os.path.splitext(path)[1].lower() in ENDINGS


def solids(path: str, scale: float, deflection: float | None) -> list[Surface]:
    """The surfaces of all solids of a file, times a scale, in their places."""
    occ = _library()
    # the library ends the process where it is given what cannot be opened
    with open(path, "rb") as file:
        if not file.read(1):
            raise InputError(f"{path}: the file is empty")
    found = _parts(occ, _shape(occ, path), "SOLID")
    if not found:
        raise InputError(f"{path}: there is no solid in it, only surfaces or lines that have no inside")
    return [_surface(occ, solid, path, scale, deflection) for solid in found]


def _library() -> Any:
    try:
        import OCP
        import OCP.Bnd
        import OCP.BRep
        import OCP.BRepBndLib
        import OCP.BRepMesh
        import OCP.IFSelect
        import OCP.Message
        import OCP.STEPControl
        import OCP.TopAbs
        import OCP.TopExp
        import OCP.TopLoc
        import OCP.TopoDS
    except ImportError:
        raise ImportError(
            "reading parts of STEP needs Open CASCADE: pip install cadquery-ocp-novtk"
        ) from None
    return OCP


def _static(owner: Any, name: str) -> Any:
    """A static function, which versions of the package name differently."""
    return getattr(owner, f"{name}_s", None) or getattr(owner, name)


def _shape(occ: Any, path: str) -> Any:
    """What is in a file, in metres."""
    messenger = _static(occ.Message.Message, "DefaultMessenger")()
    printers = list(messenger.Printers())
    try:
        for printer in printers:  # what it would print is told by errors
            messenger.RemovePrinter(printer)
        reader = occ.STEPControl.STEPControl_Reader()
        if reader.ReadFile(path) != occ.IFSelect.IFSelect_ReturnStatus.IFSelect_RetDone:
            raise InputError(f"{path}: this is no STEP file, or only a part of one")
        reader.SetSystemLengthUnit(1000.0)  # in millimetres
        if reader.TransferRoots() == 0:
            raise InputError(f"{path}: nothing in it is a part")
        return reader.OneShape()
    finally:
        for printer in printers:
            messenger.AddPrinter(printer)


def _parts(occ: Any, shape: Any, kind: str) -> list[Any]:
    """What is of a kind in a shape."""
    kinds = occ.TopAbs.TopAbs_ShapeEnum
    explorer, found = occ.TopExp.TopExp_Explorer(shape, getattr(kinds, f"TopAbs_{kind}")), []
    while explorer.More():
        found.append(explorer.Current())
        explorer.Next()
    return found


def _surface(occ: Any, solid: Any, path: str, scale: float, deflection: float | None) -> Surface:
    box = occ.Bnd.Bnd_Box()
    _static(occ.BRepBndLib.BRepBndLib, "Add")(solid, box)
    diagonal = float(np.sqrt(box.SquareExtent()))
    apart = SHARE * diagonal if deflection is None else deflection / scale
    occ.BRepMesh.BRepMesh_IncrementalMesh(solid, apart, False, TURN, False)
    points, triangles, count = [], [], 0
    for face in _parts(occ, solid, "FACE"):
        own, corners = _face(occ, face, path)
        points.append(own)
        triangles.append(corners + count)
        count += len(own)
    merged, places = _merged(np.concatenate(points), SAME * diagonal)
    corners = places[np.concatenate(triangles)]
    # slivers whose corners have become one have no area
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return Surface(scale * merged, corners[whole])


def _face(occ: Any, face: Any, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a face, seen from outside of its solid."""
    face = _static(occ.TopoDS.TopoDS, "Face")(face)
    place = occ.TopLoc.TopLoc_Location()
    cut = _static(occ.BRep.BRep_Tool, "Triangulation")(face, place)
    if cut is None:
        raise InputError(f"{path}: Open CASCADE cannot cut one of its faces into triangles")
    moved = place.Transformation()
    nodes = [cut.Node(k + 1).Transformed(moved) for k in range(cut.NbNodes())]
    points = np.array([[node.X(), node.Y(), node.Z()] for node in nodes])
    corners = np.array([cut.Triangle(k + 1).Get() for k in range(cut.NbTriangles())]) - 1
    orientation = occ.TopAbs.TopAbs_Orientation
    if face.Orientation() == orientation.TopAbs_REVERSED:
        corners = corners[:, ::-1]
    return points, corners


def _merged(points: np.ndarray, near: float) -> tuple[np.ndarray, np.ndarray]:
    """The points without those that are nearer to another one than `near`, and which one each has become.

    Points are sorted into cells far larger than `near`; one next to the border of its cell is looked for across it, too.
    """
    wide = 1e3 * near
    cells: dict[tuple[int, int, int], list[int]] = {}
    places, kept = np.empty(len(points), dtype=np.int64), []
    for k, point in enumerate(points):
        low, high = np.floor((point - near) / wide), np.floor((point + near) / wide)
        around = {
            (int(x), int(y), int(z))
            for x in (low[0], high[0])
            for y in (low[1], high[1])
            for z in (low[2], high[2])
        }
        same = next(
            (
                m
                for cell in around
                for m in cells.get(cell, ())
                if np.linalg.norm(points[kept[m]] - point) <= near
            ),
            None,
        )
        if same is None:
            same = len(kept)
            kept.append(k)
            for cell in around:
                cells.setdefault(cell, []).append(same)
        places[k] = same
    return points[kept], places
