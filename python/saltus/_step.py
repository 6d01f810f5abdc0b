"""Parts of STEP files as surfaces of triangles.

A part is a solid with curved faces. Open CASCADE (the package ``cadquery-ocp`` or ``cadquery-ocp-novtk``, LGPL) reads it and cuts
its faces into triangles that stand off them by no more than a deflection; faces that meet share the points of their edge, which are
one here, so that the surface of a solid is closed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from saltus._errors import FileError, MissingFileError

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
    told = _told(path)
    found = _parts(occ, _shape(occ, path), "SOLID")
    if not found:
        raise FileError(f"{path}: there is no solid in it, only surfaces or lines that have no inside")
    if len(found) < told:
        raise FileError(f"{path}: {len(found)} of its {told} solids can be read, the others are damaged")
    return [_surface(occ, solid, path, scale, deflection) for solid in found]


def _told(path: str) -> int:
    """How many solids the text of a file defines. A file that names what it does not define would end the process, or lose solids."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise MissingFileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    if not text:
        raise FileError(f"{path}: the file is empty")
    text = re.sub(rb"'[^']*'|/\*.*?\*/", b"", text, flags=re.DOTALL)
    defined = set(re.findall(rb"#(\d+)\s*=", text))
    if missing := set(re.findall(rb"#(\d+)", text)) - defined:
        first = min(missing, key=int).decode()
        raise FileError(f"{path}: it names #{first}, which it does not define; a part of the file is missing")
    return len(re.findall(rb"\b(?:MANIFOLD_SOLID_BREP|BREP_WITH_VOIDS|FACETED_BREP)\s*\(", text))


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
            raise FileError(f"{path}: this is no STEP file, or only a part of one")
        reader.SetSystemLengthUnit(1000.0)  # in millimetres
        roots = reader.NbRootsForTransfer()
        if (done := reader.TransferRoots()) < roots or roots == 0:
            raise FileError(f"{path}: {done} of the {roots} parts in it can be read")
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
    try:
        occ.BRepMesh.BRepMesh_IncrementalMesh(solid, apart, False, TURN, False)
    except Exception as error:  # of the library, which has a class of its own for each
        raise FileError(f"{path}: Open CASCADE cannot cut a solid of {diagonal:.3g} m into triangles: {error}") from None
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
        raise FileError(f"{path}: Open CASCADE cannot cut one of its faces into triangles")
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
