"""Arguments of scenes, shapes and joints that make no sense, and what is kept of runs that end early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import saltus as sl
from saltus import mechanics as m

SCENES = Path(__file__).resolve().parents[2] / "testdata" / "scenes"


def one_body(**more):
    sc = m.Scene(gravity=(0, 0, -9.81))
    sc.add_body("b", **{"shape": m.Sphere(0.1), "mass": 1, **more})
    return sc


def run_on(joint, until=1.0):
    """Where a body on a joint is along z."""
    sc = one_body()
    sc.add_joint("j", joint, "b")
    return sc.run(h=1e-3, until=until)["b"].position[:, 2]


@pytest.mark.parametrize("name", ["arm.urdf", "machine.xml", "siconos-scene.hdf5"])
@pytest.mark.filterwarnings("ignore::saltus.mechanics.SceneWarning")
def test_scenes_of_other_programs_are_loaded(name):
    sc = m.load(SCENES / name)
    run = sc.run(h=1e-3, until=0.01)
    assert run.complete and all(len(run[body].position) == len(run) for body in sc.bodies)


class TestBuiltIn:
    AXIS = ((0, 0, 0), (0, 0, 1))

    def test_a_restitution_alone_is_that_of_all_limits(self):
        limits = {"way": (-0.2, 0.2), "angle": (-1, 1)}
        z = run_on(m.Cylindrical(*self.AXIS, limits=limits, restitution=1.0))
        assert z.min() > -0.21
        # it comes back to where it fell from
        assert z[len(z) // 3 :].max() > -0.02
        by_name = run_on(
            m.Cylindrical(*self.AXIS, limits=limits, restitution={"way": 1.0, "angle": 1.0})
        )
        assert np.array_equal(z, by_name)

    def test_values_alone_do_not_replace_those_by_name(self):
        z = run_on(m.Cylindrical(*self.AXIS, limits={"way": (-0.2, 0.2)}, friction=1.0))
        assert z.min() == pytest.approx(-0.2, abs=0.01)

    @pytest.mark.parametrize(
        ("built_in", "error", "message"),
        [
            ({"restitution": 1.0}, sl.InputError, "`restitution` is that of limits"),
            (
                {"restitution": {"angle": 1.0}, "limits": {"way": (0, 1)}},
                sl.InputError,
                "give `limits` of `angle` too",
            ),
            ({"limits": (0,)}, sl.InputError, r"`limits` has 1 components, expected \(lower, upper\)"),
            ({"limits": {"way": (0,)}}, sl.InputError, r"`limits\['way'\]` has 1 components"),
            ({"limits": 3.0}, TypeError, r"`limits` must be \(lower, upper\), not 3.0"),
            ({"limits": ("a", 1)}, TypeError, r"`limits\[0\]` must be a number, not str"),
            ({"spring": 3.0}, TypeError, "`spring` must be a Spring"),
            ({"spring": m.Spring("a")}, TypeError, "`spring.stiffness` must be a number"),
            ({"motor": 3.0}, TypeError, "`motor` must be a ForceMotor, VelocityMotor or"),
            ({"friction": (1, 2, 3)}, sl.InputError, "`friction` has 3 components"),
            ({"friction": "a"}, TypeError, "`friction` must be a number"),
            ({"break_force": "a"}, TypeError, "`break_force` must be a number"),
        ],
    )
    def test_wrong_values(self, built_in, error, message):
        with pytest.raises(error, match=message):
            m.Cylindrical(*self.AXIS, **built_in)

    def test_first_coordinates_are_those_of_the_core(self):
        """What a value alone is of, in Python, is what the compiled half calls the first."""
        x, z, point = (1, 0, 0), (0, 0, 1), (0, 0, 0)
        joints = [
            m.Ball(point),
            m.Pivot(point, z),
            m.Prismatic(z),
            m.Cylindrical(point, z),
            m.Universal(point, z, x),
            m.Planar(point, z),
            m.Distance(point, (1, 0, 0)),
            m.Screw(point, z, 1.0),
        ]
        for joint in joints:
            texts = []
            for coordinate in ("", joint._first):
                sc = one_body(position=(0.5, 0, 0))
                built_in = [(coordinate, (-3.0, 3.0, 0.0), None, None, None)]
                values = joint._values(_Constants())
                sc._core.add_joint("j", *values, built_in, None, None, ["b"], False, None)
                texts.append(sc.text())
            assert texts[0] == texts[1], type(joint).__name__

    def test_teeth(self):
        assert m.Gear((0, 0, 1), (0, 0, 1), (2.0, -3)).teeth == (2, -3)
        with pytest.raises(sl.InputError, match=r"`teeth\[0\]` is 1.5, expected a whole number"):
            m.Gear((0, 0, 1), (0, 0, 1), (1.5, 2))
        with pytest.raises(sl.InputError, match="`teeth` has 1 components, expected two whole numbers"):
            m.Gear((0, 0, 1), (0, 0, 1), (1,))


class _Constants:
    """A scope without parameters."""

    def constant(self, value, what):
        return value


class TestSpace:
    @pytest.mark.parametrize("dim", [2.7, 1, "3", None])
    def test_dimensions(self, dim):
        with pytest.raises(sl.InputError, match="`dim` is .*, expected 2 or 3"):
            m.Scene(dim=dim)

    def test_what_is_of_the_plane_is_not_taken_in_space(self):
        with pytest.raises(sl.InputError, match="body `b`: `angle` is that of the plane"):
            one_body(angle=1.0)
        sc = one_body()
        with pytest.raises(sl.InputError, match="static `g`: `angle` is that of the plane"):
            sc.add_static("g", m.Plane(), angle=1.0)
        with pytest.raises(sl.InputError, match="static `g`: `normal` of Plane has 2 components"):
            sc.add_static("g", m.Plane(normal=(0, 1)))
        with pytest.raises(sl.InputError, match="body `b`: `position` of Sphere has 2 components"):
            one_body(shape=m.Sphere(1).at((0, 0)))
        with pytest.raises(sl.InputError, match="`position` of Compound has 2 components"):
            one_body(shape=m.Compound([m.Sphere(1).at((0, 0))]))
        with pytest.raises(sl.InputError, match="`orientation` is that of space"):
            m.Scene(dim=2).add_body("b", m.Disk(1), mass=1, orientation=(0, 1, 0, 0))

    @pytest.mark.parametrize("inertia", [1.0, (1, 1), [[1, 2, 3]], np.ones((2, 2))])
    def test_inertia(self, inertia):
        with pytest.raises(sl.InputError, match="`inertia` is .*, expected 3 moments or a matrix"):
            one_body(inertia=inertia)

    @pytest.mark.parametrize(
        ("triangle", "message"),
        [
            ([0, 1, -1], r"`triangles\[0\]\[2\]` is -1, expected the position of a point"),
            ([0, 1, 1.5], r"`triangles\[0\]\[2\]` is 1.5"),
            ([0, 1], "rows of 2 corners, expected 3"),
        ],
    )
    def test_triangles(self, triangle, message):
        with pytest.raises(sl.InputError, match=message):
            m.TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [triangle])


class TestRuns:
    def test_what_was_computed_before_ctrl_c_is_kept(self):
        def stop(progress):
            raise KeyboardInterrupt

        sc = one_body()
        assert sc.last_run is None
        with pytest.raises(KeyboardInterrupt) as caught:
            sc.run(h=1e-6, until=1e6, progress=stop, every=10**6)
        run = sc.last_run
        assert run.stats.outcome == "interrupted" and run.stats.steps > 0 and not run.complete
        assert caught.value.run is run
        sc.run(h=1e-3, until=0.01)
        assert sc.last_run is None

    def test_the_tolerance_is_that_which_is_given(self):
        sc = one_body()
        run = sc.run(h=1e-3, until=0.01, tol=1e-10, solver=sl.solvers.GaussSeidel(tol=1e-2))
        assert "tol = 1e-10" in run.model_text and 'kind = "gauss-seidel"' in run.model_text

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ({"integrator": sl.MoreauJean(gamma=0.9)}, "needs `gamma` to be left out"),
            ({"solver": sl.solvers.Lemke()}, "lemke does not solve problems with friction in space"),
            ({"tol": 0.0}, "`tol` = 0 is outside"),
        ],
    )
    def test_settings_that_scenes_have_no_use_for(self, more, message):
        sc = one_body()
        sc.contact("default", "default", mu=0.5)
        text = sc.text()
        with pytest.raises(sl.InputError, match=message):
            sc.run(h=1e-3, until=0.01, **more)
        assert sc.text() == text
        assert sc.run(h=1e-3, until=0.01).complete

    def test_given_instants(self):
        sc = one_body()
        run = sc.run(h=[0.1, 0.2, 0.5], until=0.5)
        assert run.t == pytest.approx([0, 0.1, 0.2, 0.5])
        assert "# --set simulation.h=(3 given instants)" in run.model_text
        # another run goes on with them
        assert sc.run(until=0.2).t == pytest.approx([0, 0.1, 0.2])
        with pytest.raises(TypeError, match="`h` must be a number"):
            sc.run(h="a", until=1)


def box(sc, name="b", **more):
    return sc.add_body(name, **{"shape": m.Sphere(0.1), "mass": 1, **more})


class TestCalls:
    """What is wrong with one part of a scene is told by the call that says it, and the scene stays as it was."""

    CALLS = [
        (lambda sc: sc.material("stone", -1), "material `stone`: `density` is -1"),
        (lambda sc: sc.material("air", 1), "material `air`: the name is used twice"),
        (lambda sc: sc.contact("air", "air", mu=float("nan")), "`mu` is NaN, expected not negative"),
        (lambda sc: sc.contact("default", "default"), "is described twice"),
        (lambda sc: sc.contact("air", "air", touch=False, e=0.5), "expected nothing where `touch`"),
        (lambda sc: sc.add_static("s", m.Sphere(-1)), "static `s`: sphere: `radius` = -1 is outside"),
        (lambda sc: sc.add_static("a", m.Plane()), "static `a`: the name is used twice"),
        (lambda sc: sc.add_static("s", m.Plane(), orientation=(0, 0, 0, 0)), "quaternion"),
        (lambda sc: sc.add_static("s", m.Plane(), drive=m.Drive(omega=["x", 0, 0])), "omega"),
        (lambda sc: box(sc, "a"), "body `a`: the name is used twice"),
        (lambda sc: box(sc, "hinge"), "body `hinge`: the name is used twice"),
        (lambda sc: box(sc, v=(0, float("nan"), 0)), "system `b`: `v`.1. is NaN"),
        (lambda sc: box(sc, mass=0), "body `b`: `mass` is 0, expected a positive number"),
        (lambda sc: box(sc, mass=None, material="air"), "material `air` has no density"),
        (lambda sc: box(sc, force=["x", 0, 0]), "`force`.*`x`"),
        (lambda sc: box(sc, birth=2, death=1), "`death` is 1, expected a time after its birth"),
        (lambda sc: box(sc, death=-1), "`death` is -1, and the simulation begins at 0"),
        (lambda sc: box(sc, inertia=(-1, 1, 1)), "inertia"),
        (lambda sc: sc.add_joint("j", m.Ball((0, 0, 0)), "z"), "there is no body named `z`"),
        (lambda sc: sc.add_joint("j", m.Ball((0, 0, 0))), "one or two bodies, found none"),
        (lambda sc: sc.add_joint("j", m.Pivot((0, 0, 0), (0, 0, 0)), "a"), "axis"),
        (
            lambda sc: sc.add_joint("j", m.Pivot((0, 0, 0), (0, 0, 1), limits=(1, 2)), "a"),
            "joint `j`|limit",
        ),
        (lambda sc: sc.add_joint("a", m.Ball((0, 0, 0)), "a"), "joint `a`: the name is used twice"),
        (
            lambda sc: sc.add_joint(
                "j", m.Pivot((0, 0, 0), (0, 1, 0)), "c", follows="hinge", follow_ratio=0
            ),
            "follow|ratio",
        ),
    ]

    @pytest.mark.parametrize(("call", "message"), CALLS)
    def test_at_the_call(self, call, message):
        sc = m.Scene(gravity=(0, 0, -9.81))
        sc.material("air")
        sc.contact("default", "default", mu=0.5)
        box(sc, "a")
        box(sc, "c", position=(1, 0, 0))
        sc.add_joint("hinge", m.Pivot((0, 0, 1), (0, 1, 0)), "a")
        before = sc.text()
        with pytest.raises(sl.ModelError, match=message):
            call(sc)
        assert sc.text() == before
        # the names are free
        box(sc)
        sc.add_joint("j", m.Ball((0, 0, 0)), "b")
        assert sc.run(h=1e-3, until=2e-3).complete

    def test_gravity(self):
        with pytest.raises(sl.ModelError, match="scene: `gravity` is NaN, expected finite numbers"):
            m.Scene(gravity=(0, 0, float("nan")))

    def test_materials_may_come_later(self):
        sc = m.Scene()
        sc.contact("stone", "stone", mu=0.5)
        sc.add_static("ground", m.Plane(), material="stone")
        sc.add_body("a", m.Sphere(0.5), material="stone", position=(0, 0, 1))
        sc.add_joint("hinge", m.Pivot((0, 0, 2), (0, 1, 0)), "a", follows="other")
        sc.add_joint("other", m.Pivot((0, 1, 2), (0, 1, 0)), "a")
        with pytest.raises(sl.ModelError, match="there is no material named `stone`"):
            _ = sc.model
        sc.material("stone", density=1000.0)
        assert sc.mass("a")[0] == pytest.approx(1000 * np.pi / 6)
        assert len(sc.model.systems) == 1


class TestParameters:
    """Events that set parameters of a scene, which all its formulas see."""

    def scene(self):
        sc = m.Scene(gravity=(0, 0, -9.81), parameters={"mu0": 0.5, "F": 0.0, "shift": 0.0})
        sc.contact("default", "default", mu="2*mu0")
        sc.add_static("ground", m.Plane())
        slab = np.array([0.0, 0.0, 0.05])
        sc.add_body("slab", m.Box(1, 1, 0.1), mass=2, position=slab, v=(3, 0, 0), force=["F", 0, 0])
        slab[2] = 7.0  # what was said stays
        return sc

    def test_as_in_a_file(self, tmp_path):
        sc = self.scene()
        sc.model.at(0.05, do=sl.SetParameter("mu0", 0), name="ice")
        sc.model.at(0.1, do=sl.SetParameter("F", "2*mu0 + 4"), name="push")
        run = sc.run(h=1e-3, until=0.2)
        v = run["slab"].v[:, 0]
        assert v[50] == pytest.approx(3 - 9.81 * 0.05, abs=1e-6)
        assert v[100] == pytest.approx(v[50], abs=1e-9)
        assert v[200] == pytest.approx(v[100] + 2 * 0.1, abs=1e-6)
        assert [event.name for event in run.events if event.kind == "scheduled"] == ["ice", "push"]
        text = """
            [parameters]
            mu0 = 0.5
            F = 0
            [simulation]
            h = 1e-3
            until = 0.2
            [scene]
            gravity = [0, 0, -9.81]
            [[contact]]
            materials = ["default", "default"]
            mu = "2*mu0"
            [[static]]
            name = "ground"
            shape = { kind = "plane" }
            [[body]]
            name = "slab"
            shape = { kind = "box", size = [1, 1, 0.1] }
            mass = 2
            position = [0, 0, 0.05]
            v = [3, 0, 0]
            force = ["F", 0, 0]
            [[event]]
            name = "ice"
            at = 0.05
            set = { mu0 = 0 }
            [[event]]
            name = "push"
            at = 0.1
            set = { F = "2*mu0 + 4" }
            """
        (tmp_path / "scene.toml").write_text(text)
        again = sl.run(tmp_path / "scene.toml")
        assert np.array_equal(again["slab"].v, run["slab"].v)

    def test_a_scene_that_changes_meanwhile(self):
        sc = self.scene()
        sc.model.at(0.01, do=sl.SetParameter("mu0", 0), name="ice")
        sim = sl.TimeStepping(sc.model, h=1e-3)
        box(sc, "late", position=(9, 0, 9))
        run = sim.run(until=0.02)
        assert run["slab"].v[-1, 0] == pytest.approx(3 - 9.81 * 0.01, abs=1e-6)
        assert sc.run(h=1e-3, until=0.02)["late"].v[-1, 2] < 0

    def test_no_file_can_hold_it(self, tmp_path):
        sc = self.scene()
        sc.model.at(0.01, do=sl.SetParameter("mu0", 0), name="ice")
        with pytest.raises(sl.InputError, match="event `ice`: it sets `mu0`, and a file of a scene"):
            sc.save(tmp_path / "scene.toml")

    def test_a_scene_from_a_file(self, tmp_path):
        self.scene().save(tmp_path / "scene.toml")
        sc = m.load(tmp_path / "scene.toml")
        with pytest.raises(sl.ModelError, match="an event cannot set `mu0`: a scene that was read"):
            sc.model.at(0.01, do=sl.SetParameter("mu0", 0))
        assert sc.model.events == []

    def test_no_such_parameter(self):
        with pytest.raises(sl.ModelError, match="no parameter named `mu1`; did you mean `mu0`"):
            self.scene().model.at(0.01, do=sl.SetParameter("mu1", 0))


class TestNames:
    """What is wrong is called by its name."""

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"center": (float("nan"), 0, 0)}, "body `b`: `center` is NaN, expected finite numbers"),
            ({"position": (0, 0, 1e308)}, "body `b`: `position` is 1e308, expected within"),
            ({"shape": m.Plane()}, "^body `b`: a plane cannot belong to a body"),
            ({"shape": m.Sphere(1e-200)}, "body `b`: the mass of its shapes is 0"),
        ],
    )
    def test_bodies(self, change, message):
        with pytest.raises(sl.ModelError, match=message):
            _ = one_body(**change).model

    def test_a_thin_box(self):
        sc = m.Scene()
        sc.material("stone", density=1.0)
        with pytest.raises(sl.ModelError, match="body `b`: the mass of its shapes is 1e-200"):
            sc.add_body("b", m.Box(1e-200, 1, 1), material="stone")

    def test_tangential_restitution_without_effect(self):
        sc = one_body()
        with pytest.raises(sl.ModelError, match="`et` is 0.5, expected 0 where `mu_r` is given"):
            sc.contact("default", "default", mu=0.3, mu_r=0.1, et=0.5)

    @pytest.mark.parametrize(
        ("keys", "error", "message"),
        [
            ({"damping": 10}, sl.InputError, "missing `stiffness`, which `damping` needs"),
            ({"damping": 0.0}, sl.InputError, "missing `stiffness`, which `damping` needs"),
            ({"damping": "1/10"}, sl.InputError, "missing `stiffness`, which `damping` needs"),
            (
                {"tangential_stiffness": 1e6},
                sl.InputError,
                "missing `stiffness`, which `tangential_stiffness` needs",
            ),
            ({"stiffness": "k"}, sl.SaltusError, "`stiffness`.*k"),
            ({"stiffness": 0}, sl.ModelError, "`stiffness` is 0, expected positive"),
            ({"stiffness": 1, "damping": -1}, sl.ModelError, "`damping` is -1, expected not negative"),
            (
                {"stiffness": 1, "tangential_stiffness": -1},
                sl.ModelError,
                "`tangential_stiffness` is -1, expected positive",
            ),
            ({"stiffness": 1, "e": 0.1}, sl.ModelError, "`e` is 0.1, expected 0 where `stiffness`"),
            ({"stiffness": 1, "mu": 1, "et": 0.1}, sl.ModelError, "`et` is 0.1, expected 0 where"),
            ({"touch": False, "mu": 0.5}, sl.ModelError, "`mu` is 0.5, expected nothing where `touch`"),
            ({"touch": False, "stiffness": 1}, sl.ModelError, "`stiffness` is 1, expected nothing"),
        ],
    )
    def test_contacts_that_cannot_give_way(self, keys, error, message):
        sc = one_body()
        with pytest.raises(error, match=f"contact of `default` and `default`: {message}"):
            sc.contact("default", "default", **keys)
            _ = sc.model

    @pytest.mark.parametrize("key", ["stiffness", "damping", "tangential_stiffness"])
    def test_springs_of_contacts_are_numbers(self, key):
        with pytest.raises(TypeError, match=f"`{key}`"):
            one_body().contact("default", "default", **{"stiffness": 1, key: [1]})


class TestRobots:
    LINK = (
        "<link name='arm'><inertial><mass value='{mass}'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
    )

    def robot(self, tmp_path, inner, mass=1.0, kind="revolute"):
        path = tmp_path / "r.urdf"
        joint = f"<joint name='j' type='{kind}'><parent link='base'/><child link='arm'/>{inner}</joint>"
        link = self.LINK.format(mass=mass)
        path.write_text(f"<robot name='r'><link name='base'/>\n{link}\n{joint}</robot>")
        return path

    @pytest.mark.parametrize(
        ("inner", "more", "message"),
        [
            ("", {}, "line 3, column 1: a revolute joint needs <limit>"),
            ("<limit lower='1' upper='-1'/>", {}, "`lower` is 1 and `upper` is -1"),
            ("", {"mass": -1, "kind": "continuous"}, "line 2, column 28: body `arm`: `mass` is -1"),
        ],
    )
    def test_errors(self, tmp_path, inner, more, message):
        with pytest.raises(sl.FileError, match=message):
            m.load(self.robot(tmp_path, inner, **more))

    def test_what_is_not_read_is_told(self, tmp_path):
        path = self.robot(tmp_path, "<limits/>", kind="continuous")
        with pytest.warns(m.SceneWarning, match="<limits> of the joint `j`, line 3"):
            m.load(path)
