"""Parts of STEP, read with Open CASCADE where it is installed; the files are written by it, too."""

import sys

import numpy as np
import pytest

import saltus as sl

DENSITY = 1000.0
TriangleMesh = sl.mechanics.TriangleMesh


PLATE = np.array([0.04, 0.03, 0.01])
HOLE = 0.008


def scene(shape, **place):
    sc = sl.mechanics.Scene(gravity=(0, 0, -9.81))
    sc.material("steel", density=DENSITY)
    sc.contact("steel", "steel", e=0.0, mu=0.5)
    sc.add_static("floor", sl.mechanics.Plane(), material="steel")
    sc.add_body("part", shape, material="steel", **place)
    return sc


def written(path, shapes):
    """Writes shapes of Open CASCADE; their lengths are in millimetres."""
    pytest.importorskip("OCP", reason="cadquery-ocp is not installed")
    from OCP.STEPControl import STEPControl_StepModelType, STEPControl_Writer

    writer = STEPControl_Writer()
    for shape in shapes:
        writer.Transfer(shape, STEPControl_StepModelType.STEPControl_AsIs)
    writer.Write(str(path))
    return path


def plate():
    """A plate with a round hole along z, about the origin."""
    pytest.importorskip("OCP", reason="cadquery-ocp is not installed")
    from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox
    from OCP.gp import gp_Pnt

    corner, edges = gp_Pnt(*(-500 * PLATE)), 1000 * PLATE
    return BRepAlgoAPI_Cut(BRepPrimAPI_MakeBox(corner, *edges).Shape(), rod(1000 * HOLE, -20, 40)).Shape()


def rod(radius, z, length, x=0.0):
    pytest.importorskip("OCP", reason="cadquery-ocp is not installed")
    from OCP.BRepPrimAPI import BRepPrimAPI_MakeCylinder
    from OCP.gp import gp_Ax2, gp_Dir, gp_Pnt

    axis = gp_Ax2(gp_Pnt(x, 0, z), gp_Dir(0, 0, 1))
    return BRepPrimAPI_MakeCylinder(axis, radius, length).Shape()


class TestParts:
    def test_mass_and_moments_are_those_of_the_solid(self, tmp_path):
        """Chords lie within `deflection` of the hole, so that much of its wall is filled at most."""
        file = written(tmp_path / "plate.STEP", [plate()])
        wall = 2 * np.pi * HOLE * PLATE[2]
        x, y, z = PLATE
        solid, hole = DENSITY * x * y * z, DENSITY * np.pi * HOLE**2 * z
        about_z = solid * (x**2 + y**2) / 12 - hole * HOLE**2 / 2
        for deflection in (1e-4, 1e-6):
            shape = TriangleMesh.from_file(file, deflection=deflection)
            mass, center, inertia = scene(shape).mass("part")
            filled = mass - (solid - hole)
            assert 0 < filled < DENSITY * wall * deflection
            np.testing.assert_allclose(center, 0.0, atol=1e-9)
            assert abs(inertia[2, 2] - about_z) < DENSITY * wall * deflection * HOLE**2

    def test_units_are_those_of_the_file(self, tmp_path):
        file = written(tmp_path / "plate.step", [plate()])
        mass, _, _ = scene(TriangleMesh.from_file(file, deflection=1e-5)).mass("part")
        text = file.read_text()
        for unit, times in [(".CENTI.", 10), ("$", 1000)]:
            assert text.count("SI_UNIT(.MILLI.,.METRE.)") == 1
            file.write_text(text.replace(".MILLI.,.METRE.", f"{unit},.METRE."))
            larger, _, _ = scene(TriangleMesh.from_file(file, deflection=1e-5 * times)).mass("part")
            np.testing.assert_allclose(larger, times**3 * mass, rtol=1e-9)

    def test_a_scale_is_of_lengths(self, tmp_path):
        file = written(tmp_path / "plate.stp", [plate()])
        once, _, _ = scene(TriangleMesh.from_file(file, deflection=1e-5)).mass("part")
        twice, _, _ = scene(TriangleMesh.from_file(file, scale=2.0, deflection=2e-5)).mass("part")
        np.testing.assert_allclose(twice, 8 * once, rtol=1e-9)

    def test_solids_are_parts(self, tmp_path):
        file = written(tmp_path / "two.step", [rod(8, -10, 20), rod(5, 0, 10, x=100)])
        masses = [scene(part).mass("part")[0] for part in TriangleMesh.parts(file, deflection=1e-6)]
        exact = DENSITY * np.pi * np.array([0.008**2 * 0.02, 0.005**2 * 0.01])
        np.testing.assert_allclose(masses, exact, rtol=1e-3)
        whole, center, _ = scene(TriangleMesh.from_file(file, deflection=1e-6)).mass("part")
        np.testing.assert_allclose(whole, sum(masses), rtol=1e-12)
        np.testing.assert_allclose(center[0], 0.1 * exact[1] / exact.sum(), rtol=1e-3)

    def test_a_part_falls_and_rests(self, tmp_path):
        file = written(tmp_path / "plate.step", [plate()])
        sc = scene(TriangleMesh.from_file(file), position=(0, 0, 0.02))
        run = sc.run(h=1e-3, until=0.3)
        np.testing.assert_allclose(run["part"].position[-1], [0, 0, 0.005], atol=1e-6)
        np.testing.assert_allclose(run["part"].v[-1], 0.0, atol=1e-9)

    def test_files_that_are_no_parts(self, tmp_path, capfd):
        from_file = TriangleMesh.from_file
        file = written(tmp_path / "plate.step", [plate()])
        text = file.read_text()
        capfd.readouterr()
        for name, content, said in [
            ("cut", text[: len(text) // 2], "names #.*, which it does not define"),
            ("tail", text[: text.index("ENDSEC;", text.index("DATA;"))], "no STEP file, or only a part"),
            ("hello", "hello", "no STEP file"),
            ("empty", "", "the file is empty"),
        ]:
            bad = tmp_path / f"{name}.step"
            bad.write_text(content)
            with pytest.raises(sl.FileError, match=rf"{name}\.step: .*{said}"):
                from_file(bad)
        assert capfd.readouterr().out == ""
        with pytest.raises(sl.FileError, match=r"absent\.step: there is no such file"):
            from_file(tmp_path / "absent.step")

    def test_a_surface_has_no_inside(self, tmp_path):
        pytest.importorskip("OCP", reason="cadquery-ocp is not installed")
        from OCP.TopAbs import TopAbs_ShapeEnum
        from OCP.TopExp import TopExp_Explorer

        face = TopExp_Explorer(plate(), TopAbs_ShapeEnum.TopAbs_FACE).Current()
        file = written(tmp_path / "face.step", [face])
        with pytest.raises(sl.FileError, match="there is no solid in it"):
            TriangleMesh.from_file(file)


class TestWithoutOpenCascade:
    def test_is_told(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "OCP", None)
        file = tmp_path / "part.step"
        file.write_text("ISO-10303-21;")
        with pytest.raises(ImportError, match="pip install cadquery-ocp-novtk"):
            TriangleMesh.from_file(file)

    def test_a_deflection_is_for_step(self, tmp_path):
        with pytest.raises(sl.InputError, match=r"`deflection` is for parts of STEP .*part\.stl"):
            TriangleMesh.from_file(tmp_path / "part.stl", deflection=1e-3)
        with pytest.raises(sl.InputError, match=r"part\.stl: parts are told apart in STEP files"):
            TriangleMesh.parts(tmp_path / "part.stl")

    @pytest.mark.parametrize(("name", "value"), [("scale", 0.0), ("scale", -1.0), ("deflection", 0.0), ("deflection", np.inf), ("scale", np.nan)])
    def test_numbers_that_make_no_sense(self, name, value):
        with pytest.raises(sl.InputError, match=f"`{name}`"):
            TriangleMesh.from_file("part.step", **{name: value})
