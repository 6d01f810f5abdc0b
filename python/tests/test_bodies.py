"""Rigid bodies, joints and contacts."""

import numpy as np
import pytest

import saltus as sl

G = (0, 0, -9.81)


def test_a_free_body_turns_over():
    model = sl.Model("Dzhanibekov")
    body = model.add(
        sl.RigidBody(v=[0.3, 0, 0], omega=[0.01, 1, 0.02], mass=1, inertia=[1, 2, 3]), name="body"
    )
    sim = sl.TimeStepping(model, h=0.01)
    run = sim.run(until=30)
    record = run["body"]
    assert record.position.shape == record.v.shape == record.omega.shape == (3001, 3)
    assert record.orientation.shape == (3001, 4)
    assert record.q.shape == (3001, 7) and record.twist.shape == (3001, 6)
    np.testing.assert_allclose(np.linalg.norm(record.orientation, axis=1), 1, atol=1e-15)
    energy = 0.5 * record.omega**2 @ [1, 2, 3]
    np.testing.assert_allclose(energy, energy[0], atol=1e-5)
    assert record.omega[:, 1].min() < -0.99
    np.testing.assert_array_equal(run["body.omega[1]"], record.omega[:, 1])
    # the live state is the last row
    np.testing.assert_array_equal(body.position, record.position[-1])
    np.testing.assert_array_equal(body.orientation, record.orientation[-1])
    np.testing.assert_array_equal(body.v, record.v[-1])
    np.testing.assert_array_equal(body.omega, record.omega[-1])
    assert body.q.shape == (7,) and body.twist.shape == (6,)
    with pytest.raises(AttributeError, match="position, orientation, v, omega, but no angle"):
        body.angle


def test_a_body_in_the_plane():
    model = sl.Model("disk", parameters={"g": 9.81})
    disk = model.add(
        sl.RigidBody2d([1, 2], 0.3, [1, 4], 2, mass=2, inertia=0.5, gravity=[0, "-g"], moment=["0.25"]),
        name="disk",
    )
    assert disk.angle == 0.3 and disk.omega == 2.0
    run = sl.TimeStepping(model, h=1e-2).run(until=1)
    assert run["disk"].angle.shape == run["disk"].omega.shape == (101,)
    np.testing.assert_allclose(run["disk"].position[-1], [2, 6 - 9.81 / 2], atol=1e-12)
    np.testing.assert_allclose(run["disk"].angle[-1], 2.55, atol=1e-12)
    assert run["disk"].q.shape == (101, 3)


def test_loads_of_either_frame():
    force = {"formula": ["q[3]", 0, 0], "function": lambda t, q, v: [q[3], 0, 0]}
    ends = []
    for value in force.values():
        model = sl.Model()
        body = sl.RigidBody(omega=[0, 0, 1], mass=2, inertia=np.eye(3), force=value, force_frame="body")
        model.add(body, name="body")
        ends.append(sl.TimeStepping(model, h=1e-2).run(until=1)["body"].position[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    with pytest.raises(sl.InputError, match="force_frame"):
        model.add(sl.RigidBody(mass=1, inertia=[1, 1, 1], force=[1, 0, 0], force_frame="boddy"))


@pytest.mark.parametrize(
    ("joint", "size"),
    [
        (sl.mechanics.Ball((0, 0, 1)), 3),
        (sl.mechanics.Pivot((0, 0, 1), (0, 1, 0)), 5),
        (sl.mechanics.Prismatic((0, 1, 0)), 5),
        (sl.mechanics.Cylindrical((0, 0, 1), (0, 1, 0)), 4),
        (sl.mechanics.Universal((0, 0, 1), (0, 1, 0), (1, 0, 0)), 4),
        (sl.mechanics.Planar((0, 0, 1), (0, 1, 0)), 3),
        (sl.mechanics.Fixed(), 6),
        (sl.mechanics.Distance((0, 0, 1), (1, 0, 0)), 1),
        (sl.mechanics.Screw((0, 0, 1), (0, 1, 0), pitch=0.1), 5),
        (sl.mechanics.Gear((0, 0, 1), (0, 0, 1), teeth=(10, -35)), 1),
        (sl.mechanics.Rack((0, 0, 1), (0, 1, 0), radius=0.2), 1),
    ],
)
def test_joints_hold(joint, size):
    model = sl.Model()
    a = model.add(sl.RigidBody(omega=[1, 0.2, -0.5], mass=1, inertia=[1, 2, 2.5], gravity=G), name="a")
    b = model.add(sl.RigidBody((0.5, 0, 0), mass=2, inertia=[3, 2, 1.5]), name="b")
    link = model.connect(joint, sl.Equality(), a, b, name="joint")
    assert link.size == size
    sim = sl.TimeStepping(model, h=1e-3, integrator=sl.MoreauJean(projection="ggl"))
    run = sim.run(until=0.2)
    assert run["joint"].y.shape == (201, size)
    assert np.abs(run["joint"].y[1:]).max() < 1e-12


def test_a_pendulum_on_a_pivot():
    model = sl.Model("pendulum")
    body = model.add(sl.RigidBody((1, 0, 0), mass=1, inertia=[0.05] * 3, gravity=G), name="body")
    model.connect(sl.mechanics.Pivot(point=(0, 0, 0), axis=(0, 1, 0)), sl.Equality(), body)
    scheme = sl.GeneralizedAlpha(rho_inf=1.0, projection="ggl")
    run = sl.TimeStepping(model, h=1e-3, integrator=scheme).run(until=2.426315985838759)
    # after one period it is where it started
    np.testing.assert_allclose(run["body"].position[-1], [1, 0, 0], atol=1e-4)


def test_a_ball_slides_and_then_rolls():
    model = sl.Model("ball")
    ball = model.add(
        sl.RigidBody((0, 0, 0.5), v=(3, 0, 0), mass=1, inertia=[0.1] * 3, gravity=G), name="ball"
    )
    floor = model.connect(
        sl.mechanics.PointPlane(radius=0.5), sl.ImpactFriction(e=0, mu=0.2), ball, name="floor"
    )
    sim = sl.TimeStepping(model, h=1e-3)
    run = sim.run(until=1)
    np.testing.assert_allclose(run["ball"].v[-1], [15 / 7, 0, 0], atol=1e-10)
    assert floor.lam.shape == (3,)


def test_two_spheres():
    model = sl.Model("billiard")
    a = model.add(sl.RigidBody((-0.5, 0, 0), v=(2, 0, 0), mass=1, inertia=[1, 1, 1]), name="a")
    b = model.add(sl.RigidBody(mass=1, inertia=[1, 1, 1]), name="b")
    contact = sl.mechanics.SphereSphere([0.1, 0.1], components=1)
    model.connect(contact, sl.NewtonImpact(e=1), a, b)
    np.testing.assert_allclose([a.v, b.v], [[2, 0, 0], [0, 0, 0]])
    sim = sl.TimeStepping(model, h=1e-3)
    sim.run(until=0.5)
    np.testing.assert_allclose([a.v, b.v], [[0, 0, 0], [2, 0, 0]], atol=1e-12)


def test_parts_of_a_state_can_be_set():
    model = sl.Model()
    body = model.add(sl.RigidBody(mass=1, inertia=[1, 1, 1]), name="body")
    sim = sl.TimeStepping(model, h=1e-3)
    sim.set_state("body", position=[1, 2, 3], orientation=[2, 0, 0, 0], omega=[0, 0, 1])
    np.testing.assert_array_equal(body.q, [1, 2, 3, 1, 0, 0, 0])
    sim.set_state(body, v=[1, 0, 0])
    np.testing.assert_array_equal(body.twist, [1, 0, 0, 0, 0, 1])
    with pytest.raises(sl.InputError, match="`omega` has length 2, expected 3"):
        sim.set_state(body, omega=[1, 2])
    with pytest.raises(sl.InputError, match="no angle"):
        sim.set_state(body, angle=1)
    with pytest.raises(sl.SaltusError, match="length zero"):
        sim.set_state(body, orientation=[0, 0, 0, 0])
    np.testing.assert_array_equal(body.q, [1, 2, 3, 1, 0, 0, 0])


def test_runs_of_bodies_are_stored(tmp_path):
    model = sl.Model()
    model.add(sl.RigidBody(omega=[0, 0, 1], mass=1, inertia=[1, 1, 1]), name="body")
    run = sl.TimeStepping(model, h=1e-2).run(until=0.1)
    run.save(tmp_path / "run.h5")
    again = sl.load(tmp_path / "run.h5")
    for name in ("position", "orientation", "v", "omega", "q", "twist"):
        np.testing.assert_array_equal(getattr(again["body"], name), getattr(run["body"], name))


def test_impossible_bodies_are_refused():
    model = sl.Model()
    with pytest.raises(TypeError, match="needs `mass`"):
        sl.RigidBody(inertia=[1, 1, 1])
    for wrong, message in [
        ({"mass": -1}, "`mass` = -1 is outside"),
        ({"inertia": [1, 1, 3]}, "larger than the sum"),
        ({"inertia": [1, 1]}, "inertia"),
        ({"orientation": [0, 0, 0, 0]}, "length but zero"),
        ({"position": [0, 0]}, "`position` has length 2, expected 3"),
    ]:
        with pytest.raises(sl.ModelError, match=message):
            model.add(sl.RigidBody(**{"mass": 1, "inertia": [1, 1, 1], **wrong}))
    mass = model.add(sl.LagrangianLinear([0], [0], [[1]]))
    with pytest.raises(sl.ModelError, match="rigid bodies in space"):
        model.connect(sl.mechanics.Fixed(), sl.Equality(), mass)


def test_events_set_parts_of_a_state():
    model = sl.Model()
    model.add(sl.RigidBody(omega=[0, 0, 1], mass=1, inertia=[1, 1, 1]), name="body")
    model.add(sl.RigidBody2d(mass=1, inertia=1), name="disk")
    turn = sl.SetState("body", omega=[0, 0, "-2*body.omega[2]"], position=["body.position[0] + 1", 0, 0])
    model.at([0.5], [turn, sl.SetState("disk", angle=2.0)])
    run = sl.TimeStepping(model, h=0.1).run(until=1)
    np.testing.assert_allclose(run["body"].omega[-1], [0, 0, -2], atol=1e-15)
    np.testing.assert_allclose(run["body"].position[-1], [1, 0, 0], atol=1e-15)
    assert run["disk"].angle[-1] == 2.0
    with pytest.raises(sl.ModelError, match="no state"):
        model.at([0.6], sl.SetState("body", angle=1.0))


def test_what_is_built_into_a_joint():
    model = sl.Model("door")
    body = model.add(sl.RigidBody(mass=2, inertia=[0.5] * 3), name="body")
    hinge = sl.mechanics.Pivot(
        (0, 0, 0),
        (0, 0, 1),
        limits=(-1, 0.5),
        friction=1.0,
        spring=sl.mechanics.Spring(stiffness=2.0, damping=0.1),
        motor=sl.mechanics.ForceMotor("3 + t"),
        break_force=1e3,
    )
    model.connect(hinge, sl.Equality(), body, name="hinge")
    angle = sl.mechanics.JointCoordinate(hinge, "angle")
    model.connect(angle, sl.Relay(0, 0), body, name="angle")
    run = sl.TimeStepping(model, h=1e-3, integrator=sl.MoreauJean(projection="ggl")).run(until=3.0)
    # pressed on its limit
    assert abs(run["angle"].y[-1, 0] - 0.5) < 1e-3
    assert run["hinge.limit"].lam[-1, 1] > 0
    assert abs(run["hinge.motor"].lam[-1, 0] / 1e-3 - 6.0) < 1e-2
    assert run["hinge.friction"].lam.shape == (3001, 1)
    with pytest.raises(TypeError, match="has no `limit`"):
        sl.mechanics.Pivot((0, 0, 0), (0, 0, 1), limit=(0, 1))


def test_joints_and_contacts_in_the_plane():
    model = sl.Model("swing")
    body = model.add(
        sl.RigidBody2d((1, 0), mass=1, inertia=0.05, gravity=(0, -9.81)), name="body"
    )
    drive = sl.mechanics.VelocityMotor(10.0)
    hinge = sl.mechanics.Pivot2d((0, 0), motor=drive)
    model.connect(hinge, sl.Equality(), body, name="hinge")
    disk = model.add(
        sl.RigidBody2d((5, 0.1), v=(3, 0), mass=1, inertia=0.005, gravity=(0, -9.81)), name="disk"
    )
    line = sl.mechanics.DiskLine(radius=0.1)
    model.connect(line, sl.ImpactFriction(e=0, mu=0.3), disk, name="floor")
    spring = sl.mechanics.SpringDamper((1, 0), (1, 1), stiffness=1e-3)
    model.connect(spring, sl.Equality(), body)
    run = sl.TimeStepping(model, h=1e-3, integrator=sl.MoreauJean(projection="ggl")).run(until=1.0)
    assert abs(run["body"].angle[-1] - 10.0) < 0.02
    np.testing.assert_allclose(run["disk"].v[-1, 0], 2.0, atol=1e-9)


def test_a_rope_is_a_distance_with_limits():
    model = sl.Model("rope")
    mass = model.add(
        sl.RigidBody2d((0.6, 0), mass=2, inertia=0.1, gravity=(0, -9.81)), name="mass"
    )
    rope = sl.mechanics.Distance2d((0.6, 0), (0, 0), limits=(0, 1))
    model.connect(rope, sl.Equality(), mass, name="rope")
    run = sl.EventDriven(model).run(until=0.8)
    # taut 0.8 below its anchor
    taut = next(event for event in run.events if event.kind == "impact")
    assert abs(taut.time - np.sqrt(1.6 / 9.81)) < 1e-9
    after = run["mass"].position[run.t > taut.time]
    np.testing.assert_allclose(np.hypot(*after.T), 1.0, atol=1e-8)


def test_what_joints_cannot_have():
    model = sl.Model("joints")
    a = model.add(sl.RigidBody(mass=1, inertia=[0.1] * 3), name="a")
    fixed = sl.mechanics.Fixed(limits=(0, 1))
    with pytest.raises(sl.ModelError, match="fixed leaves nothing free that `limits`"):
        model.connect(fixed, sl.Equality(), a, name="fixed")
    string = sl.mechanics.Distance((0, 0, 0), (0, 0, 1), break_moment=1.0)
    with pytest.raises(sl.ModelError, match="distance bears no moment"):
        model.connect(string, sl.Equality(), a, name="string")


def test_what_is_built_into_a_gear():
    model = sl.Model("wheels")
    axis = (0, 0, 1)
    first = model.add(sl.RigidBody(mass=1, inertia=[0.2] * 3), name="first")
    second = model.add(sl.RigidBody((1, 0, 0), mass=1, inertia=[0.6] * 3), name="second")
    model.connect(sl.mechanics.Pivot((0, 0, 0), axis), sl.Equality(), first)
    model.connect(sl.mechanics.Pivot((1, 0, 0), axis), sl.Equality(), second)
    motor = sl.mechanics.ForceMotor(0.7)
    gear = sl.mechanics.Gear(axis, axis, teeth=(10, 20), motor=motor, break_force=1e3)
    model.connect(gear, sl.Equality(), first, second, name="gear")
    run = sl.TimeStepping(model, h=1e-3).run(until=0.5)
    # M = (J₁ + J₂/4) α
    assert abs(run["first"].omega[-1, 2] - 0.5 * 0.7 / 0.35) < 1e-9
