"""Scenes: what users build, run, save and load."""

from __future__ import annotations

import numpy as np
import pytest

import saltus as sl
from saltus import mechanics as m


def box_on_ground():
    sc = m.Scene(gravity=(0, 0, -9.81))
    sc.material("stone", density=2500.0)
    sc.contact("stone", "stone", e=0.0, mu=0.7)
    sc.add_static("ground", m.Plane(normal=(0, 0, 1)), material="stone")
    sc.add_body("box", m.Box(1, 1, 1), material="stone", position=(0, 0, 0.5))
    return sc


class TestContract:
    def test_a_box_at_rest(self):
        sc = box_on_ground()
        run = sc.run(h=5e-3, until=0.5, tol=1e-8)
        assert run["box"].position.shape == (len(run), 3)
        assert run["box"].orientation.shape == (len(run), 4)
        assert np.abs(run["box"].position[-1] - [0, 0, 0.5]).max() < 1e-9
        contacts = run.contacts
        assert set(contacts.dtype.names) >= {
            "time", "bodies", "point", "normal", "gap", "u", "impulse",
        }
        assert set(contacts["bodies"].ravel()) == {"ground", "box"}
        weight = 2500 * 9.81
        assert run.force_on("ground")[-1] == pytest.approx([0, 0, -weight], rel=1e-6, abs=1e-3)
        assert run.force_on("box")[-1] == pytest.approx([0, 0, weight], rel=1e-6, abs=1e-3)
        (pair,) = run.contact_graph(0.5)
        assert set(pair) == {"ground", "box"}
        with pytest.raises(sl.SignalError, match="did you mean `box`"):
            run.force_on("bxo")
        for t in (-1, 0.6, float("nan")):
            with pytest.raises(sl.InputError, match="expected an instant of the run: 0 to 0.5"):
                run.contact_graph(t)

    def test_save_and_load(self, tmp_path):
        sc = box_on_ground()
        run = sc.run(h=5e-3, until=0.05)
        path = tmp_path / "scene.toml"
        sc.save(path)
        again = m.load(path)
        assert again.text() == sc.text()
        other = again.run()
        assert np.array_equal(other["box"].position, run["box"].position)
        run.save(tmp_path / "run.h5")
        stored = sl.load(tmp_path / "run.h5")
        assert np.array_equal(stored.contacts, run.contacts)
        assert "[[body]]" in stored.model_text
        assert sl.load_model(path).run().stats.steps == run.stats.steps

    def test_a_hinge(self):
        sc = m.Scene(gravity=(0, 0, -9.81))
        sc.material("wood", density=700)
        bar = sc.add_body("bar", m.Box(1, 0.1, 0.1), material="wood", position=(0.5, 0, 0))
        sc.add_joint("hinge", m.Pivot(point=(0, 0, 0), axis=(0, 1, 0)), bar)
        run = sc.run(h=1e-3, until=0.1, integrator=sl.MoreauJean(projection="direct"))
        distance = np.linalg.norm(run["bar"].position, axis=1)
        assert np.abs(distance - 0.5).max() < 1e-9

    def test_springs_and_motors_beside_contacts(self):
        sc = m.Scene()
        sc.contact("default", "default", mu=0.5)
        sc.add_static("ground", m.Plane(normal=(0, 0, 1)))
        sc.add_body("slider", m.Sphere(0.1), mass=2, position=(0, 0, 1))
        sc.add_body("wheel", m.Sphere(0.1), mass=2, inertia=np.eye(3), position=(1, 0, 1))
        slide = m.Prismatic(axis=(0, 0, 1), spring=m.Spring(stiffness=50, rest=0.3))
        sc.add_joint("slide", slide, "slider")
        hinge = m.Pivot(point=(1, 0, 1), axis=(0, 0, 1), motor=m.ForceMotor("3*t"))
        sc.add_joint("hinge", hinge, "wheel")
        run = sc.run(h=1e-3, until=1.0)
        assert run["slider"].position[-1, 2] == pytest.approx(1.3 - 0.3 * np.cos(5), abs=1e-5)
        assert run["wheel"].omega[-1, 2] == pytest.approx(1.5)

    def test_a_joint_that_follows(self):
        sc = m.Scene(gravity=(1, 0, 0))
        for k, name in enumerate(["one", "two"]):
            sc.add_body(name, m.Sphere(0.1), mass=1, position=(0, k, 0))
        sc.add_joint("slide one", m.Prismatic(axis=(1, 0, 0)), "one")
        sc.add_joint(
            "slide two", m.Prismatic(axis=(1, 0, 0)), "two", follows="slide one", follow_ratio=2
        )
        assert 'follows = "slide one"' in sc.text()
        run = sc.run(h=1e-3, until=0.1)
        # with x2 = 2 x1: (1 + 4) a1 = 1 + 2
        assert run["one"].position[-1, 0] == pytest.approx(0.3 * 0.1**2, rel=1e-3)
        assert run["two"].position[-1, 0] == pytest.approx(2 * run["one"].position[-1, 0])

    def test_fingers_of_a_hand_that_moves(self):
        sc = m.Scene()
        sc.add_body("hand", m.Sphere(0.1), mass=2)
        for name, mass, x in (("left", 0.3, -0.3), ("right", 0.5, 0.3)):
            sc.add_body(name, m.Sphere(0.05), mass=mass, position=(x, 0, 0))
        push = m.ForceMotor(0.4)
        sc.add_joint("left slide", m.Prismatic(axis=(1, 0, 0), motor=push), "left", "hand")
        slide = m.Prismatic(axis=(1, 0, 0))
        sc.add_joint("right slide", slide, "right", "hand", follows="left slide", follow_ratio=-1)
        run = sc.run(h=1e-3, until=0.5)
        left, right, hand = (run[name].position[-1, 0] for name in ("left", "right", "hand"))
        assert left + right == pytest.approx(2 * hand, abs=1e-12)
        way = 0.4 * 0.5**2 / (2 * (0.8 - 0.04 / 2.8))
        assert left + 0.3 - hand == pytest.approx(way, abs=1e-12)

    def test_a_joint_on_what_is_driven(self):
        sc = m.Scene()
        sc.add_static("table", m.Sphere(0.1), drive=m.Drive(position=("0.1*sin(3*t)", 0, 0)))
        sc.add_body("box", m.Sphere(0.1), mass=2, position=(0, 1, 0), v=(0.3, 0, 0))
        sc.add_joint("glue", m.Fixed(), "box", "table")
        run = sc.run(h=1e-3, until=0.5)
        assert run["box"].position[-1, 0] == pytest.approx(0.1 * np.sin(1.5), abs=1e-13)

    def test_other_systems_beside_it(self):
        sc = box_on_ground()
        model = sc.model
        model.add(sl.LagrangianLinear([0], [1], [[1]]), name="mass")
        run = sl.TimeStepping(model, h=1e-2).run(until=0.1)
        assert run["mass"].q[-1, 0] == pytest.approx(0.1)


def hanging():
    """A bob on a spring that is added to the model of the scene."""
    sc = m.Scene(parameters={"k": 50.0})
    sc.add_body("bob", m.Sphere(0.1), mass=2, position=(0, 0, -1.1))
    spring = m.SpringDamper((0, 0, -1.1), (0, 0, 0), stiffness="k", rest=1.0)
    handle = sc.model.connect(spring, sl.Equality(), "bob", name="spring")
    return sc, handle


class TestAdditions:
    def test_they_outlive_changes_of_the_scene(self):
        sc, spring = hanging()
        model = sc.model
        mass = model.add(sl.LagrangianLinear([0], [1], [[1]]), name="mass")
        model.at(0.2, sl.SetState("mass", v=[3]), name="push")
        bob = model["bob"]
        sc.contact("default", "default", mu=0.5)
        sc.add_static("ground", m.Plane(normal=(0, 0, 1), offset=-5))
        sc.add_body("ball", m.Sphere(0.1), mass=1, position=(5, 0, 0))
        # also through what was asked before the change
        assert list(model.systems) == ["bob", "ball", "mass"]
        assert sc.model is model and model["bob"] is bob and model["mass"] is mass
        assert model.events == ["push"] and "spring" in model
        link = m.SpringDamper((5, 0, 0), (5, 0, 1), stiffness=1)
        model.connect(link, sl.Equality(), "ball", name="link")
        run = sc.run(h=1e-3, until=0.4)
        assert run["bob"].position[-1, 2] == pytest.approx(-1 - 0.1 * np.cos(2), abs=1e-5)
        assert run["mass"].q[-1, 0] == pytest.approx(0.8, abs=2e-3)
        assert [event.name for event in run.events] == ["push"]
        assert list(sc.model.interactions) == ["spring", "link"]
        # a simulation goes on with the scene it began with
        sim = sl.TimeStepping(sc.model, h=1e-3)
        sim.step()
        sc.add_body("late", m.Sphere(0.1), mass=1, position=(9, 0, 0))
        assert spring.lam.shape == (1,) and mass.v == pytest.approx([1])
        assert "late" in sc.model and sc.model["late"].q[0] == 9
        assert "late" not in sim.run(until=2e-3).signals

    def test_what_does_not_fit_any_more(self):
        sc, spring = hanging()
        sc.model.add(sl.LagrangianLinear([0], [1], [[1]]), name="mass")
        sc.add_body("mass", m.Sphere(0.1), mass=1, position=(5, 0, 0))
        with pytest.raises(sl.ModelError, match="system `mass`, which was added .* does not fit"):
            sc.run(h=1e-3, until=0.1)
        with pytest.raises(sl.ModelError, match="system `mass`"):
            _ = spring.model.systems

    def test_a_failing_addition_is_not_kept(self):
        sc, _ = hanging()
        with pytest.raises(sl.ModelError):
            sc.model.connect(m.PointPlane(), sl.ImpactFriction(0, 0.1), "nobody")
        sc.add_body("ball", m.Sphere(0.1), mass=1, position=(5, 0, 0))
        assert list(sc.model.interactions) == ["spring"]

    def test_functions_run_and_are_not_written(self, tmp_path):
        sc, _ = hanging()
        sc.model.add(sl.FirstOrder([1], lambda t, x: -x), name="decay")
        sc.add_body("ball", m.Sphere(0.1), mass=1, position=(5, 0, 0))
        run = sc.run(h=1e-2, until=1.0)
        assert run["decay"].x[-1, 0] == pytest.approx(np.exp(-1), abs=1e-2)
        assert run.model_text is None
        with pytest.raises(sl.InputError, match="system `decay`: `f` is a function"):
            sc.save(tmp_path / "scene.toml")
        assert not (tmp_path / "scene.toml").exists()

    def test_saved_and_loaded(self, tmp_path):
        sc, _ = hanging()
        model = sc.model
        model.add(sl.FirstOrder([1], "[-k*x[0]/50]"), name="decay")
        model.add(sl.LagrangianLinear([0], [1], [[1]], F_ext=["sin(t)"]), name="mass")
        model.add(sl.RigidBody2d(mass=1, inertia=0.1, omega=2, position=(0, 1)), name="disk")
        model.connect(
            m.DiskLine(radius=0.5), sl.ImpactFriction(e=0.1, mu="0.2 + abs(u[1])"), "disk",
            name="floor", active=False,
        )
        model.connect(
            sl.LagrangianLinearRelation([[1.0]], [2.0]), sl.NewtonImpact(0.5), "mass", name="wall"
        )
        sc.add_body("ball", m.Sphere(0.1), mass=1, position=(5, 0, 0))
        hinge = m.Pivot((5, 0, 0), (0, 0, 1), limits=(-1, 1), restitution=0.5, friction=(0.2, 0.3),
                        motor=m.VelocityMotor("0.5*t", max_force=4.0), break_force=1e4)
        model.connect(hinge, sl.Equality(), "ball", name="hinge")
        model.when("mass.q[0] > 0.1", [sl.SetState("mass", v=["-mass.v[0]"]), sl.Connect("floor")],
                   name="turn", once=True)
        model.every(0.25, sl.SetLaw("wall", sl.NewtonImpact(0.0)), start=0.1, name="soft")
        run = sc.run(h=1e-3, until=0.3)
        assert run.model_text == sc.text()
        path = tmp_path / "scene.toml"
        sc.save(path)
        again = m.load(path)
        assert again.text() != "" and sc.bodies == again.bodies
        for other in (again.run(), sl.load_model(path).run()):
            assert set(other.signals) == set(run.signals)
            assert [e.name for e in other.events] == [e.name for e in run.events]
            for name in ("bob", "ball", "mass", "disk"):
                assert other[name].q == pytest.approx(run[name].q, abs=1e-9)
            assert other["decay"].x == pytest.approx(run["decay"].x, abs=1e-12)
        # what was read beside the scene outlives its changes too, and is written again
        again.add_body("late", m.Sphere(0.1), mass=1, position=(9, 0, 0))
        again.model.add(sl.LagrangianLinear([0], [0], [[1]]), name="more")
        assert {"late", "more", "mass", "decay"} <= set(again.model.systems)
        again.save(path)
        assert {"late", "more", "mass", "decay"} <= set(m.load(path).model.systems)
        again.add_body("mass", m.Sphere(0.1), mass=1, position=(7, 0, 0))
        with pytest.raises(sl.InputError, match="mass"):
            again.save(path)
        with pytest.raises(sl.ModelError, match="mass"):
            _ = again.model

    def test_the_twist_axis_of_a_coordinate_is_written(self, tmp_path):
        sc = m.Scene()
        sc.add_body("top", m.Sphere(0.1), mass=1, omega=(1, 0, 0))
        ball = m.Ball((0, 0, 0), twist_axis=(1, 0, 0))
        twist = m.JointCoordinate(ball, "twist")
        sc.model.connect(twist, sl.Relay(-0.1, 0.1), "top", name="twist")
        run = sc.run(h=1e-3, until=0.1)
        # J ω̇ = -0.1 with J = 0.004 until it rests: J/(2 · 0.1)
        assert run["twist"].y[-1, 0] == pytest.approx(0.02, rel=1e-3)
        sc.save(tmp_path / "scene.toml")
        other = m.load(tmp_path / "scene.toml").run()
        assert other["twist"].y == pytest.approx(run["twist"].y, abs=1e-12)

    def test_a_name_that_a_file_would_read_as_a_formula(self):
        sc, _ = hanging()
        sc.model.at(0.1, sl.Stop(), name="end{1}")
        with pytest.raises(sl.InputError, match="braces"):
            sc.text()

    def test_coefficients_by_parameters(self):
        sc = m.Scene(gravity=(0, 0, -10), parameters={"mu0": 0.1})
        sc.contact("default", "default", mu="2*mu0", e="1/4")
        sc.add_static("ground", m.Plane(normal=(0, 0, 1)))
        sc.add_body("box", m.Box(1, 1, 1), mass=1, position=(0, 0, 0.5), v=(1, 0, 0))
        run = sc.run(h=1e-3, until=0.2)
        assert run["box"].v[-1, 0] == pytest.approx(1 - 0.2 * 10 * 0.2, rel=1e-6)
        assert "mu = 0.2\n" in sc.text() and "e = 0.25\n" in sc.text()
        with pytest.raises(sl.SaltusError, match="contact of `default` and `default`: `mu`.*nu"):
            sc.contact("default", "default", mu="nu")
        with pytest.raises(TypeError, match="mu"):
            sc.contact("default", "default", mu=[0.1])

    def test_contacts_that_give_way(self, tmp_path):
        sc = m.Scene(parameters={"k": 1e6})
        sc.material("steel")
        sc.add_body("ball", m.Sphere(0.1), mass=1, material="steel")
        sc.contact("default", "default", mu=0.5, stiffness="k", damping="k/1e3")
        sc.contact("steel", "steel", mu=0.2, stiffness=2e6, tangential_stiffness="2*k/7")
        sc.contact("steel", "default", mu=0.5)
        sc.save(tmp_path / "scene.toml")
        again = m.load(tmp_path / "scene.toml")
        text = again.text()
        assert text == sc.text()
        first, second, third = text.split("[[contact]]")[1:]
        assert "stiffness = 1000000.0\ndamping = 1000.0\n" in first
        assert f"stiffness = 2000000.0\ntangential_stiffness = {2e6 / 7!r}\n" in second
        assert "tangential" not in first and "damping" not in second and "stiffness" not in third


class TestBushingsAndCouplers:
    def test_a_bushing(self):
        model = sl.Model()
        model.add(sl.RigidBody(mass=2, inertia=(1, 1, 1), v=(1, 0, 0), omega=(0, 0, 1)), name="a")
        mount = m.Bushing((0, 0, 0), stiffness=(50, 50, 50, 4, 4, 4), damping=(0,) * 6)
        assert model.connect(mount, sl.Equality(), "a", name="mount").size == 6
        run = sl.TimeStepping(model, h=1e-3).run(0.5)
        assert run["a"].position[-1, 0] == pytest.approx(np.sin(2.5) / 5, abs=1e-4)
        assert run["a"].omega[-1, 2] == pytest.approx(np.cos(1.0), abs=1e-4)
        with pytest.raises(sl.ModelError, match="Equality"):
            model.connect(mount, sl.NewtonImpact(0), "a", name="wrong")
        with pytest.raises(sl.ModelError, match="stiffness"):
            model.connect(m.Bushing((0, 0, 0), (1, 2)), sl.Equality(), "a", name="short")

    def test_a_damper_alone_in_a_scene(self):
        sc = m.Scene(dim=3)
        sc.add_body("a", m.Sphere(0.1), mass=1, v=(1, 0, 0))
        mount = m.Bushing((0, 0, 0), (0,) * 6, damping=(2, 0, 0, 0, 0, 0))
        sc.model.connect(mount, sl.Equality(), "a", name="mount")
        run = sc.run(h=1e-3, until=0.5)
        assert run["a"].v[-1, 0] == pytest.approx(np.exp(-1.0), abs=1e-3)
        assert 'kind = "bushing"' in run.model_text

    def test_a_coupler(self):
        model = sl.Model()
        for name in ("a", "b"):
            model.add(sl.RigidBody(mass=1, inertia=(1, 1, 1), moment=(0, 0, 1)), name=name)
        pivot = m.Pivot((0, 0, 0), (0, 0, 1))
        belt = m.Coupler(pivot, "angle", pivot, "angle", ratio=2)
        model.connect(belt, sl.Equality(), "a", "b", name="belt")
        run = sl.TimeStepping(model, h=1e-3).run(0.1)
        # with x2 = 2 x1: (1 + 4) a1 = 1 + 2
        assert run["a"].omega[-1, 2] == pytest.approx(0.06, rel=1e-6)
        assert run["b"].omega[-1, 2] == pytest.approx(0.12, rel=1e-6)
        with pytest.raises(TypeError, match="second_joint"):
            m.Coupler(pivot, "angle", "pivot", "angle", 2)

    def test_a_coupler_in_a_scene(self, tmp_path):
        sc = m.Scene(gravity=(1, 0, 0))
        for k, name in enumerate(["one", "two"]):
            sc.add_body(name, m.Sphere(0.1), mass=1, position=(0, k, 0))
            sc.add_joint(f"slide {name}", m.Prismatic(axis=(1, 0, 0)), name)
        slide = m.Prismatic(axis=(1, 0, 0))
        coupler = m.Coupler(slide, "way", slide, "way", ratio=2)
        sc.model.connect(coupler, sl.Equality(), "one", "two", name="link")
        run = sc.run(h=1e-3, until=0.1)
        assert run["one"].position[-1, 0] == pytest.approx(0.3 * 0.1**2, rel=1e-3)
        sc.save(tmp_path / "scene.toml")
        other = m.load(tmp_path / "scene.toml").run()
        assert other["two"].position == pytest.approx(run["two"].position, abs=1e-10)


class TestBodies:
    def test_mass_by_shape(self):
        sc = m.Scene()
        sc.material("water", density=1000)
        sc.add_body("a", m.Sphere(0.5), material="water")
        sc.add_body("b", [m.Box(1, 1, 1), m.Box(1, 1, 1).at((2, 0, 0))], material="water")
        mass, center, inertia = sc.mass("a")
        assert mass == pytest.approx(1000 * np.pi / 6)
        assert np.diag(inertia) == pytest.approx([mass * 0.1] * 3)
        mass, center, _ = sc.mass("b")
        assert (mass, list(center)) == (pytest.approx(2000), pytest.approx([1, 0, 0]))

    def test_forces(self):
        sc = m.Scene(parameters={"k": 4.0})
        sc.add_body("a", m.Sphere(1), mass=1, position=(1, 0, 0), force=["-k*q[0]", 0, 0])
        sc.add_body("b", m.Sphere(1), mass=1, position=(1, 5, 0), force=lambda t, q, v: [-4 * q[0], 0, 0])
        run = sc.run(h=1e-3, until=1.0)
        assert run["a"].position[-1, 0] == pytest.approx(np.cos(2.0), abs=1e-5)
        assert np.allclose(run["a"].position[:, 0], run["b"].position[:, 0])
        with pytest.raises(sl.InputError, match="body `b`: `force` is a function"):
            sc.text()

    def test_the_plane(self):
        sc = m.Scene(gravity=(0, -9.81), dim=2)
        sc.contact("default", "default", mu=0.5)
        sc.add_static("ground", m.Plane(normal=(0, 1)))
        sc.add_body("disk", m.Disk(0.5), mass=1, position=(0, 0.5), omega=1.0)
        run = sc.run(h=1e-3, until=0.1)
        assert run["disk"].angle.shape == (len(run),)
        assert abs(run["disk"].position[-1, 1] - 0.5) < 1e-9

    def test_births_and_deaths(self):
        sc = m.Scene(gravity=(0, 0, -10))
        sc.add_body("drop", m.Sphere(0.1), mass=1, position=(0, 0, 1), birth=0.2, death=0.5)
        run = sc.run(h=1e-2, until=1.0)
        height = np.interp([0.1, 0.2, 0.5, 1.0], run.t, run["drop"].position[:, 2])
        assert height == pytest.approx([1, 1, 1 - 0.45, 1 - 0.45], abs=1e-9)


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda sc: sc.add_body("b", m.Sphere(1), material="ston"), "did you mean `stone`"),
            (lambda sc: sc.add_body("b", m.Sphere(1)), "no density"),
            (lambda sc: sc.add_body("box", m.Sphere(1), mass=1), "used twice"),
            (lambda sc: sc.add_body("b", m.Sphere(-1), mass=1), "radius"),
            (lambda sc: sc.add_body("b", m.Sphere(1), mass=-1), "`mass` is -1"),
            (lambda sc: sc.contact("stone", "ice", mu=1), "no material named `ice`"),
            (lambda sc: sc.add_joint("j", m.Ball(point=(0, 0, 0)), "bx"), "did you mean `box`"),
        ],
    )
    def test_scenes_that_make_no_sense(self, change, message):
        sc = box_on_ground()
        with pytest.raises(sl.ModelError, match=message):
            change(sc)
            _ = sc.model  # materials may be said later

    def test_arguments(self):
        sc = box_on_ground()
        with pytest.raises(sl.InputError, match="`position` has 2 components, expected 3"):
            sc.add_body("b", m.Sphere(1), mass=1, position=(0, 0))
        with pytest.raises(TypeError, match="expected a shape"):
            sc.add_body("b", ["sphere"], mass=1)
        with pytest.raises(TypeError, match="needs `h` and `until`"):
            sc.run()
        with pytest.raises(sl.MissingFileError):
            m.load("nothing.toml")


@pytest.mark.parametrize("wall_first", [False, True])
def test_sides_of_a_joint(wall_first):
    sc = m.Scene()
    wall = sc.add_static("wall", m.Sphere(0.1))
    bob = sc.add_body("bob", mass=2.0, inertia=0.1 * np.eye(3))
    sides = (wall, bob) if wall_first else (bob, wall)
    sc.add_joint("slide", m.Prismatic((1, 0, 0), motor=m.ForceMotor(3.0)), *sides)
    run = sc.run(h=1e-3, until=0.5)
    # the coordinate is the way of the first side against the second
    sign = -1 if wall_first else 1
    assert abs(run["bob"].position[-1, 0] - sign * 0.5 * 1.5 * 0.25) < 1e-12


def test_a_rope_is_saved_and_read(tmp_path):
    sc = m.Scene(gravity=(0, 0, -9.81))
    ceiling = sc.add_static("ceiling", m.Sphere(0.01))
    mass = sc.add_body("mass", mass=2.0, inertia=0.1 * np.eye(3), position=(0.6, 0, 0))
    sc.add_joint("rope", m.Distance((0, 0, 0), (0.6, 0, 0), limits=(0, 1)), ceiling, mass)
    sc.save(tmp_path / "rope.toml")
    again = m.load(tmp_path / "rope.toml")
    first, second = sc.run(h=1e-3, until=0.8), again.run(h=1e-3, until=0.8)
    np.testing.assert_array_equal(first["mass"].position, second["mass"].position)
    length = np.linalg.norm(first["mass"].position, axis=1)
    assert abs(length[-1] - 1.0) < 1e-2


class TestForces:
    """m (v⁺ − v)/h − m g = Σ f, of a ball that lies on the ground and hangs in a spring."""

    def scene(self):
        sc = m.Scene(gravity=(0, 0, -10))
        sc.contact("default", "default", mu=0.5)
        sc.add_static("ground", m.Plane())
        inertia = (0.1, 0.1, 0.1)
        sc.add_body("ball", m.Sphere(0.2), mass=2, inertia=inertia, position=(0, 0, 0.2),
                    v=(1, 0, 0))
        sc.add_body("arm", mass=1, inertia=inertia, position=(0, 0, 1), omega=(1, 0, 0))
        sc.add_joint("socket", m.Ball(point=(0, 0, 1.5)), "arm")
        return sc

    def test_newtons_law(self):
        run = self.scene().run(h=1e-3, until=0.1)
        for name, mass in (("ball", 2.0), ("arm", 1.0)):
            v, omega = run[name].v, run[name].omega
            force, moment = run.force_on(name), run.moment_on(name)
            assert force.shape == moment.shape == (len(run), 3)
            gained = mass * (np.diff(v, axis=0) / np.diff(run.t)[:, None] + [0, 0, 10])
            assert np.abs(gained - force[1:]).max() < 1e-7
            turned = 0.1 * np.diff(omega, axis=0) / np.diff(run.t)[:, None]
            # J is that of a ball: lengths do not depend on the frame
            lengths = np.linalg.norm(turned, axis=1), np.linalg.norm(moment[1:], axis=1)
            assert np.abs(lengths[0] - lengths[1]).max() < 1e-7

    def test_parts(self, tmp_path):
        run = self.scene().run(h=1e-3, until=0.1)
        parts = run.force_on("ball", by_source=True)
        assert list(parts) == ["ground"]
        assert np.array_equal(parts["ground"], run.force_on("ball"))
        assert list(run.moment_on("arm", by_source=True)) == ["socket"]
        (pair,) = run.contact_graph(0.05)
        assert set(pair) == {"ball", "ground"}
        run.save(tmp_path / "run.h5")
        again = sl.load(tmp_path / "run.h5")
        assert np.array_equal(again.force_on("arm"), run.force_on("arm"))
        assert np.array_equal(again.penetration, run.penetration)
        assert run.penetration.shape == (len(run),)
        assert run.penetration.max() == run.stats.worst_penetration

    def test_what_is_not_recorded(self):
        run = self.scene().run(h=1e-3, until=0.01, signals=["arm"])
        with pytest.raises(sl.SignalError, match="does not record what `socket` does to `arm`"):
            run.force_on("arm")

    def test_a_step(self):
        sim = sl.TimeStepping(self.scene().model, h=1e-3)
        assert sim.step().penetration >= 0.0


class TestExport:
    def test_vtk(self, tmp_path):
        run = box_on_ground().run(h=5e-3, until=0.02)
        run.export(tmp_path / "vtk")
        for name in ("bodies", "contacts", "chains"):
            assert (tmp_path / "vtk" / f"{name}.pvd").exists()
        assert len(list((tmp_path / "vtk" / "bodies").iterdir())) == len(run)
        with pytest.raises(sl.InputError, match="expected a folder"):
            run.export(tmp_path / "x.pvd")
        with pytest.raises(sl.InputError, match="for tables"):
            run.export(tmp_path / "vtk", signals=["box"])

    def test_tables(self, tmp_path):
        run = box_on_ground().run(h=5e-3, until=0.02)
        run.export(tmp_path / "run.csv", signals=["box.position"])
        head, *rows = (tmp_path / "run.csv").read_text().splitlines()
        assert head == "t,box.position[0],box.position[1],box.position[2]"
        assert len(rows) == len(run)
        run.export(tmp_path / "run.txt", to="csv", signals=["box"])
        with pytest.raises(sl.InputError, match="expected \"csv\""):
            run.export(tmp_path / "x", to="obj")

    def test_every_so_many_instants(self, tmp_path):
        run = box_on_ground().run(h=5e-3, until=0.035)
        assert len(run) == 8
        run.export(tmp_path / "vtk", every=3)
        assert len(list((tmp_path / "vtk" / "bodies").iterdir())) == 4
        run.export(tmp_path / "run.csv", every=3)
        times = [float(row.split(",")[0]) for row in (tmp_path / "run.csv").read_text().splitlines()[1:]]
        assert times == list(run.t[[0, 3, 6, 7]])
        for path in ("run.csv", "vtk"):
            with pytest.raises(sl.InputError, match="`every` = 0 is outside 1, 2, 3"):
                run.export(tmp_path / path, every=0)

    def test_scenes_in_memory(self, tmp_path):
        """Runs without a text have the scene of their model, as long as the program goes on."""
        sc = box_on_ground()
        sc.add_body("pushed", m.Sphere(0.2), material="stone", position=(5, 0, 0.2),
                    force=lambda t, q, v: [t, 0, 0])
        for run in (sc.run(h=5e-3, until=0.02), sl.TimeStepping(sc.model, h=5e-3).run(0.02)):
            assert run.model_text is None
            run.export(tmp_path / "vtk")
            assert (tmp_path / "vtk" / "bodies.pvd").exists()
        run.save(tmp_path / "run.h5")
        with pytest.raises(sl.InputError, match="keeps no model text"):
            sl.load(tmp_path / "run.h5").export(tmp_path / "other")

    def test_meshes_in_files(self, tmp_path):
        folder = tmp_path / "mill"
        folder.mkdir()
        (folder / "part.obj").write_text(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
        )
        (folder / "scene.toml").write_text("""
[simulation]
h = 1e-2
until = 0.02
[[body]]
name = "part"
shape = { kind = "triangle-mesh", file = "part.obj" }
mass = 1
inertia = [1, 1, 1]
center = [0, 0, 0]
""")
        run = sl.load_model(folder / "scene.toml").run()
        run.export(tmp_path / "vtk")
        folder.rename(tmp_path / "moved")
        with pytest.raises(sl.MissingFileError, match="part.obj"):
            run.export(tmp_path / "vtk")
        run.export(tmp_path / "vtk", folder=tmp_path / "moved")
