"""Events: conditions, scheduled instants, what they change, and what they tell."""

import numpy as np
import pytest

import saltus as sl

G = 10.0


def ball(e=0.5, **more):
    model = sl.Model("ball", parameters={"g": G, "e": e, **more})
    one = model.add(sl.LagrangianLinear(q0=[1], v0=[0], M=[[1]], F_ext=["-g"]), name="ball")
    model.connect(sl.LagrangianLinearRelation(H=[[1]]), sl.NewtonImpact("e"), one, name="floor")
    return model


def simulate(model, h=1e-3):
    return sl.TimeStepping(model, h=h)


def test_a_state_is_set_when_a_condition_becomes_true():
    model = sl.Model("bounce by hand")
    model.add(sl.LagrangianLinear(q0=[1], v0=[0], M=[[1]], F_ext=[-G]), name="ball")
    name = model.when("ball.q[0] < 0", do=sl.SetState("ball", v=["-0.5*ball.v[0]"]))
    assert name == "event1"
    assert model.events == ["event1"]
    run = simulate(model).run(1.0)
    first = run.events[0]
    assert (first.kind, first.name, first.interaction) == ("when", "event1", None)
    assert first.time == pytest.approx(np.sqrt(2 / G), abs=1e-3)
    assert first.after["ball.v[0]"] == pytest.approx(-0.5 * first.before["ball.v[0]"])
    row = np.flatnonzero(run.t == first.time)[0]
    assert run["ball"].v[row, 0] == first.after["ball.v[0]"]  # the row is after the event


def test_parameters_change_formulas_from_then_on():
    model = ball()
    model.at(0.2, do=sl.SetParameter("g", "g/10"), name="moon")
    sim = simulate(model)
    run = sim.run(0.4)
    assert sim.parameters["g"] == G / 10
    assert model.parameters["g"] == G
    v = run["ball"].v[:, 0]
    assert v[-1] == pytest.approx(-(G * 0.2 + G / 10 * 0.2))
    assert [(event.time, event.kind, event.name) for event in run.events] == [
        (0.2, "scheduled", "moon")
    ]
    sim.reset()
    assert sim.parameters["g"] == G
    np.testing.assert_array_equal(sim.run(0.4)["ball"].q, run["ball"].q)


def test_laws_may_use_parameters_that_change():
    model = ball(e=1.0)
    model.when("floor.lam[0] > 0", do=sl.SetParameter("e", 0), once=True)
    run = simulate(model).run(3.0)
    assert abs(run["ball"].q[-1, 0]) < 2e-2  # one elastic bounce, then none
    assert run["ball"].q[800:, 0].max() > 0.9


def of_model(run):
    """The events of the model, without what laws did."""
    return [event for event in run.events if event.name is not None]


def test_a_law_is_replaced():
    model = ball(e=1.0)
    model.when("floor.lam[0] > 0", do=sl.SetLaw("floor", sl.NewtonImpact("e/4")), once=True)
    run = simulate(model).run(2.0)
    struck = np.flatnonzero(run["floor"].lam[:, 0])
    u = run["floor"].u[:, 0]
    assert u[struck[0]] == pytest.approx(-u[struck[0] - 1])
    assert u[struck[1]] == pytest.approx(-0.25 * u[struck[1] - 1])
    assert of_model(run)[0].after == {"floor.law": "NewtonImpact"}


def test_interactions_die_and_are_born():
    model = ball(e=0.0)
    ball_handle = model["ball"]
    model.connect(
        sl.LagrangianLinearRelation(H=[[1]], b=[1]),
        sl.NewtonImpact(0),
        ball_handle,
        name="cellar",
        active=False,
    )
    model.at(0.8, do=[sl.Disconnect("floor"), sl.Connect(model["cellar"])], name="trap door")
    run = simulate(model).run(2.0)
    t, q = run.t, run["ball"].q[:, 0]
    assert abs(q[(t > 0.6) & (t < 0.8)]).max() < 1e-2
    assert q[-1] == pytest.approx(-1, abs=1e-2)
    assert not run["floor"].lam[t > 0.8].any()
    np.testing.assert_allclose(run["floor"].y[:, 0], q)  # told all the same
    assert run["cellar"].lam[-1, 0] == pytest.approx(G * 1e-3)
    assert of_model(run)[0].before == {"floor.active": 1.0, "cellar.active": 0.0}
    assert of_model(run)[0].after == {"floor.active": 0.0, "cellar.active": 1.0}


def test_every_and_stop():
    model = ball(e=0.0)
    model.every(0.25, do=sl.SetState("ball", q=[1], v=[0]), start=0.25, name="lift")
    model.when("t > 0.85", do=sl.Stop())
    sim = simulate(model, h=0.1)
    run = sim.run(10.0)
    np.testing.assert_allclose([e.time for e in run.events if e.name == "lift"], [0.25, 0.5, 0.75])
    assert run.t[-1] == pytest.approx(0.9)
    assert sim.done(10.0)
    assert run.stats.outcome == "complete"
    assert [event.name for event in sim.events] == [event.name for event in run.events]


def test_events_are_stored(tmp_path):
    model = ball(e=1.0)
    model.when("floor.lam[0] > 0", do=sl.SetLaw("floor", sl.NewtonImpact(0)), once=True, name="soft")
    model.at([0.1, 0.2], do=sl.SetState("ball", v=["ball.v[0] + 1"]))
    run = simulate(model).run(1.0)
    assert len(of_model(run)) == 3 and "impact" in {event.kind for event in run.events}
    run.save(tmp_path / "run.h5")
    assert sl.load(tmp_path / "run.h5").events == run.events


def test_two_fuses_are_those_of_the_model_file():
    p = {"L1": 0.05, "L2": 0.08, "R1": 1.0, "R2": 1.4, "C": 0.2, "Rload": 0.5, "V": 10.0}
    model = sl.Model("two fuses", parameters=p)
    source = "V*sin(2*pi*t)"
    circuit = model.add(
        sl.FirstOrder(
            np.zeros(5),
            f=[
                f"({source} - R1*x[0] - x[2])/L1",
                f"({source} - R2*x[1] - x[2])/L2",
                "(x[0] + x[1] - x[2]/Rload)/C",
                "R1*x[0]^2",
                "R2*x[1]^2",
            ],
        ),
        name="circuit",
    )
    for k, L in enumerate((0.05, 0.08)):
        C = np.eye(5)[[k]]
        relation = sl.FirstOrderLinearRelation(C, C.T / L)
        model.connect(relation, sl.Complementarity(), circuit, name=f"diode{k + 1}")
        model.connect(relation, sl.Equality(), circuit, name=f"gap{k + 1}", active=False)
    for k, limit in enumerate((12.0, 25.0)):
        x = [f"circuit.x[{i}]" for i in range(5)]
        x[k] = 0
        model.when(
            f"circuit.x[{3 + k}] >= {limit}",
            do=[
                sl.SetState(circuit, x=x),
                sl.Disconnect(f"diode{k + 1}"),
                sl.Connect(f"gap{k + 1}"),
            ],
            name=f"fuse {k + 1} blows",
            once=True,
        )
    run = sl.TimeStepping(model, h=1e-3, integrator=sl.EulerMoreau(theta=1.0)).run(4.0)
    np.testing.assert_allclose([event.time for event in of_model(run)], [1.214, 3.081])

    file = sl.run("examples/two-fuses/model.toml")
    assert [event.name for event in file.events] == [event.name for event in run.events]
    np.testing.assert_allclose(file["circuit"].x, run["circuit"].x, atol=1e-9)


def test_a_file_may_get_events_of_its_own(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(
        """
        [parameters]
        g = 10
        half = "g/2"
        [simulation]
        h = 1e-2
        until = 1
        [[system]]
        name = "ball"
        kind = "lagrangian-linear"
        q0 = [0]
        v0 = [0]
        M = [[1]]
        F_ext = ["half"]
        [[event]]
        at = 0.5
        set = { g = "2*g" }
        """
    )
    file = sl.load_model(path)
    run = file.run()
    assert run["ball"].v[-1, 0] == pytest.approx(2.5 + 5.0)  # what follows from g follows
    file.model.when("ball.v[0] >= 5", do=sl.SetParameter("g", "0"), name="off")
    run = file.run()
    assert [event.name for event in run.events] == ["event1", "off"]
    assert run["ball"].v[-1, 0] == pytest.approx(5.0, abs=0.11)
    other = sl.load_model(path)
    other.model.when("ball.v[0] >= 5", do=sl.Stop())
    assert [event.name for event in other.run().events] == ["event1", "event2"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("condition", "message"),
        [
            ("bal.q[0] < 0", "unknown name `bal.q\\[0\\]`; did you mean `ball.q\\[0\\]`"),
            ("ball.q < 0", "did you mean `ball.q\\[0\\]`"),
            ("[t, t]", "expected a value"),
            ("ball.q[0] <", "expected"),
        ],
    )
    def test_conditions(self, condition, message):
        with pytest.raises(sl.ModelError, match=message):
            ball().when(condition, do=sl.Stop())

    @pytest.mark.parametrize(
        ("action", "message"),
        [
            (lambda: sl.SetParameter("gg", 1), "no parameter named `gg`; did you mean `g`"),
            (lambda: sl.Connect("flor"), "no interaction named `flor`; did you mean `floor`"),
            (lambda: sl.SetState("ball", v=[1, 2]), "length 2, expected 1"),
            (lambda: sl.SetState("ball", x=[1]), "the system has ball.q and ball.v"),
            (lambda: sl.SetLaw("floor", sl.NewtonImpact(2)), "outside \\[0, 1\\]"),
            (lambda: sl.SetLaw("floor", sl.Complementarity()), "does not apply"),
        ],
    )
    def test_actions(self, action, message):
        with pytest.raises(sl.ModelError, match=message):
            ball().at(1.0, do=action())

    def test_times(self):
        with pytest.raises(sl.ModelError, match="entry 1 of `at` is -1"):
            ball().at([1, -1], do=sl.Stop())
        with pytest.raises(sl.SaltusError):
            ball().at(float("nan"), do=sl.Stop())
        with pytest.raises(sl.ModelError, match="`every` = 0"):
            ball().every(0, do=sl.Stop())

    def test_types(self):
        with pytest.raises(TypeError, match="`do` must be actions"):
            ball().at(1.0, do=["stop"])
        with pytest.raises(TypeError, match="`condition` must be a formula"):
            ball().when(lambda: True, do=sl.Stop())
        with pytest.raises(sl.InputError, match="needs `q`, `v` or `x`"):
            sl.SetState("ball")

    def test_a_failing_event_changes_nothing(self):
        model = ball()
        model.when("ball.q[0] < 0.5", do=sl.SetState("ball", v=["sqrt(-1 - ball.q[0])"]), name="root")
        sim = simulate(model)
        with pytest.raises(sl.SaltusError, match="event `root`") as caught:
            sim.run(1.0)
        assert caught.value.run.events == []
        assert model["ball"].v[0] < 0
        sim.set_state("ball", q=[1.0])
        sim.step()


def test_what_is_wrong_with_an_event_is_told():
    model = sl.Model()
    model.add(sl.LagrangianLinear([0], [0], [[1]]), name="ball")
    with pytest.raises(sl.ModelError, match=r"event `event1`, when: .*\n.*ball.q\[0\] <\n +\^"):
        model.when("ball.q[0] <", do=sl.Stop())
    for wrong in (None, print):
        with pytest.raises(TypeError, match="`do` must be actions such as SetState or Stop"):
            model.when("ball.q[0] < 0", do=wrong)
