"""Event-driven simulation: exact events, samples, and what is refused."""

import itertools
import signal
import threading

import numpy as np
import pytest
from conftest import G, dead_end, point

import saltus as sl


def ball(e=0.5, **settings):
    model = sl.Model("ball")
    body = model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], F_ext=[-G]), name="ball")
    law = sl.NewtonImpact(e)
    model.connect(sl.LagrangianLinearRelation([[1]]), law, body, name="floor")
    return model, sl.EventDriven(model, **settings)


def impacts(e, count):
    """Instants of the impacts of a ball that falls from 1."""
    first = np.sqrt(2 / G)
    return first + 2 * first * np.concatenate([[0], np.cumsum(e ** np.arange(1.0, count))])


class TestBall:
    def test_impacts_their_limit_and_rest(self):
        model, sim = ball()
        run = sim.run(2.0)
        times = np.array([event.time for event in run.events if event.kind == "impact"])
        exact = impacts(0.5, len(times))
        assert len(times) > 10 and np.abs(times / exact - 1).max() < 1e-12
        [limit] = [event.time for event in run.events if event.kind == "accumulation"]
        assert limit == pytest.approx(3 * exact[0], abs=1e-9)
        # then its weight is carried, by a force
        assert run["ball"].q[-1, 0] == pytest.approx(0, abs=1e-11)
        assert run["floor"].lam[-1, 0] == pytest.approx(G, abs=1e-9)
        assert run.stats.outcome == "complete"

    def test_an_impact_says_what_jumped(self):
        _, sim = ball()
        event = sim.run(0.6).events[0]
        assert (event.kind, event.interaction) == ("impact", "floor")
        assert event.before.keys() == event.after.keys() == {"floor.u[0]"}
        assert event.after["floor.u[0]"] == pytest.approx(-0.5 * event.before["floor.u[0]"])

    def test_both_sides_of_events_are_rows(self):
        _, sim = ball()
        run = sim.run(0.6)
        [k] = np.flatnonzero(np.diff(run.t) == 0)
        v = run["ball"].v[:, 0]
        assert v[k] < 0 < v[k + 1] == pytest.approx(-0.5 * v[k])

    def test_steps_reset_and_state(self):
        model, sim = ball()
        while not sim.events:
            stats = sim.step()
        assert stats.t == sim.t == pytest.approx(np.sqrt(2 / G), abs=1e-12)
        assert sim.done(sim.t) and not sim.done(1.0)
        sim.reset()
        assert sim.t == 0 and sim.events == []
        sim.set_state("ball", q=[4.0], v=[0.0])
        sim.run(1.0)
        assert sim.events[0].time == pytest.approx(2 * np.sqrt(2 / G), abs=1e-12)
        with pytest.raises(sl.ModelError):
            sim.set_state("ball", q=[1.0, 2.0])
        with pytest.raises(sl.InputError):
            sim.set_state("ball", x=[1.0])

    def test_handles_show_it(self):
        model, sim = ball()
        body, floor = (model[name] for name in ("ball", "floor"))
        sim.run(0.2)
        assert body.q == pytest.approx([1 - G * 0.02]) and floor.y == body.q
        assert floor.u == body.v and floor.lam == [0.0] and len(floor.beta) == 0
        sim.run(3.0)
        assert floor.lam == pytest.approx([G])
        assert repr(sim) == "<EventDriven of 'ball', t = 3>"

    def test_runs_are_saved_with_their_events(self, tmp_path):
        _, sim = ball()
        run = sim.run(2.0)
        run.save(tmp_path / "ball.h5")
        again = sl.load(tmp_path / "ball.h5")
        assert again.events == run.events
        np.testing.assert_array_equal(again["ball"].q, run["ball"].q)

    def test_a_choice_of_rows_and_signals(self):
        _, sim = ball()
        run = sim.run(2.0, every=7, signals="ball.q")
        assert "floor" not in run and run.t[-1] == 2.0


class TestSamples:
    def test_they_leave_no_trace(self):
        plain = ball()[1].run(2.0)
        for samples in (7, 1000, [0.1, 0.35], np.linspace(0, 2, 33), []):
            _, sim = ball()
            run = sim.run(2.0, samples=samples)
            assert run.events == plain.events and run.stats.steps == plain.stats.steps
            assert sim.t == 2.0
            t = np.linspace(0, 2, samples) if np.ndim(samples) == 0 else np.asarray(samples, float)
            np.testing.assert_array_equal(run.t, t)
            flight = t < np.sqrt(2 / G)
            exact = 1 - G * t[flight] ** 2 / 2
            np.testing.assert_allclose(run["ball"].q[flight, 0], exact, rtol=0, atol=1e-12)

    @pytest.mark.parametrize(
        "samples", [[0.5, 0.5], [0.5, 0.1], [-1.0], [0.0, 3.0], [np.nan], 1, 0, -3, True]
    )
    def test_bad_ones(self, samples):
        with pytest.raises(sl.InputError, match="samples"):
            ball()[1].run(2.0, samples=samples)

    def test_of_a_wrong_type(self):
        with pytest.raises(TypeError, match="samples"):
            ball()[1].run(2.0, samples=2.5)
        with pytest.raises((TypeError, sl.SaltusError), match="samples"):
            ball()[1].run(2.0, samples="many")
        with pytest.raises(sl.InputError, match="every"):
            ball()[1].run(2.0, samples=5, every=2)
        with pytest.raises(TypeError):
            sl.TimeStepping(ball()[0], h=0.1).run(1.0, samples=5)


class TestRefused:
    @pytest.mark.parametrize("name", ["rtol", "atol"])
    @pytest.mark.parametrize("value", [0, -1e-9, 1, 2.0, np.nan, np.inf])
    def test_tolerances(self, name, value):
        with pytest.raises(sl.InputError, match=name):
            ball(**{name: value})

    @pytest.mark.parametrize("name", ["rtol", "atol"])
    @pytest.mark.parametrize("value", ["1e-9", None, [1e-9]])
    def test_tolerances_of_a_wrong_type(self, name, value):
        with pytest.raises(TypeError, match=name):
            ball(**{name: value})

    def test_models_and_solvers(self):
        with pytest.raises(TypeError, match="takes a Model"):
            sl.EventDriven("ball")
        with pytest.raises(TypeError, match="solver"):
            ball(solver="auto")
        with pytest.raises(sl.ModelError, match="no system"):
            sl.EventDriven(sl.Model())
        with pytest.raises(TypeError):
            sl.EventDriven(ball()[0], h=1e-3)

    @pytest.mark.parametrize("until", [np.nan, np.inf, -1.0])
    def test_ends(self, until):
        with pytest.raises(sl.InputError, match="until"):
            ball()[1].run(until)
        with pytest.raises(sl.InputError, match="until"):
            ball()[1].run(until, samples=5)

    def test_laws_it_does_not_have(self):
        model = sl.Model("bond")
        mass = model.add(sl.LagrangianLinear([0.0], [0.0], [[1.0]]))
        law = sl.BinaryCohesive(strength=1.0, opening=1.0)
        model.connect(sl.LagrangianLinearRelation([[1]]), law, mass, name="glue")
        with pytest.raises(sl.InputError, match="glue"):
            sl.EventDriven(model)

    def test_inputs_stay(self):
        model = sl.Model("input")
        state = model.add(sl.FirstOrder([1.0], lambda t, x, z: z - x, z0=[0.0]), name="state")
        sim = sl.EventDriven(model)
        with pytest.raises(sl.SaltusError, match="z0"):
            state.z = [1.0]
        assert state.z == [0.0] and not hasattr(sim, "set_input")


def test_a_dead_end_keeps_what_was_computed():
    with pytest.raises(sl.SaltusError) as caught:
        sl.EventDriven(dead_end()).run(2.0)
    run = caught.value.run
    assert run.stats.outcome == "failed" and run.t[-1] == pytest.approx(1.0, abs=1e-6)


def test_functions_of_python_and_what_they_raise():
    def rate(t, x):
        if t > 0.5:
            raise ValueError("too late")
        return -x

    model = sl.Model("decay")
    state = model.add(sl.FirstOrder([1.0], rate), name="state")
    sim = sl.EventDriven(model)
    run = sim.run(0.4)
    assert run["state"].x[-1, 0] == pytest.approx(np.exp(-0.4), rel=1e-10)
    with pytest.raises(sl.OperatorError, match="too late"):
        sim.run(1.0)
    assert sim.last_run.stats.outcome == "failed" and state.x[0] > 0


def test_interrupted_runs_keep_what_was_computed():
    model, state = point(1.0, b=lambda t: [np.sin(1e3 * t)])
    sim = sl.EventDriven(model)
    started = threading.Event()

    def interrupt():
        started.wait(60)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        sim.run(1e6, progress=lambda now: started.set())
    thread.join()
    assert sim.last_run.stats.outcome == "interrupted"
    assert 0 < sim.t < 1e6 and sim.last_run.t[-1] == sim.t
    assert state.x == sim.last_run["point"].x[-1]


def test_an_interrupt_within_a_function_is_not_lost():
    calls = itertools.count()

    def b(t):
        if next(calls) == 500:
            raise KeyboardInterrupt
        return [np.sin(1e3 * t)]

    model, _ = point(1.0, b=b)
    sim = sl.EventDriven(model)
    with pytest.raises(KeyboardInterrupt):
        sim.run(50.0)
    assert sim.last_run.stats.outcome == "interrupted" and sim.t < 50.0


def test_switches_sliding_and_orders():
    # Filippov's oscillator: ẋ = 1 before the switch at t = 1, then −1
    model, state = point(-1.0, b=[2.0])
    relation = sl.FirstOrderLinearRelation(C=[[1]], B=[[1]])
    model.connect(relation, sl.Relay(-1, 1), state, name="relay")
    run = sl.EventDriven(model).run(3.0)
    assert {event.kind for event in run.events} <= {"switch", "sliding"}
    times = [event.time for event in run.events]
    assert times == sorted(times)


class TestModelFile:
    BELT = "examples/stick-slip-belt/model.toml"
    BALL = "examples/bouncing-ball/model.toml"

    def test_settings_and_samples(self):
        file = sl.load_model(self.BELT)
        given = file.simulation
        assert (given.strategy, given.rtol, given.atol, given.h) == ("event-driven", 1e-12, 1e-13, None)
        assert len(given.samples) == 2001 and given.integrators == []
        assert "rtol = 1e-12" in repr(file) and isinstance(file.start(), sl.EventDriven)
        run = file.run()
        np.testing.assert_allclose(run.t, np.linspace(0, 40, 2001), rtol=1e-14)
        slips = [event.time for event in run.events if event.kind == "slip"]
        np.testing.assert_allclose(np.diff(slips), 6.71238898038469, rtol=0, atol=1e-10)
        assert "samples = 2001" in run.model_text
        assert len(file.run(until=1.0, samples=5).t) == 5
        assert file.run(until=1.0, every=3).t[-1] == 1.0

    def test_refused(self):
        for path in (self.BELT, self.BALL):
            file = sl.load_model(path, {"simulation.strategy": "event-driven"})
            with pytest.raises(sl.InputError, match="`h`"):
                file.run(h=1e-3)
            with pytest.raises(sl.InputError, match="`h`"):
                file.start(h=1e-3)
        with pytest.raises(sl.InputError, match="samples"):
            sl.load_model(self.BALL).run(samples=5)
        for change in ({"simulation.h": 1e-3}, {"simulation.rtol": 0}, {"simulation.rtol": "x"}):
            with pytest.raises(sl.ModelFileError):
                sl.load_model(self.BELT, change)
        with pytest.raises(sl.ModelFileError, match="not a setting of time-stepping"):
            sl.load_model(self.BALL, {"simulation.rtol": 1e-9})

    def test_verify(self):
        found = sl.verify("examples/bouncing-ball/events.toml", {"simulation.until": 3})
        assert found.setting == "rtol" and found.values == pytest.approx((1e-9, 1e-10))
        assert found.worst == max(found.relative.values()) < 1e-9 and found.instants > 900
        assert found.event_times["impact", "floor"] < 1e-11
        first, second = found.event_counts["impact", "floor"]
        assert first == second > 1
        coarse = sl.load_model(self.BALL, {"simulation.until": 3}).verify()
        assert coarse.setting == "h" and "floor.lam" not in coarse.relative
        assert 1e-4 < coarse.relative["ball.q"] < 0.1
