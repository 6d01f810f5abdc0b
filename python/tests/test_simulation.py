"""Runs against closed forms, and the simulation as an object."""

import numpy as np
import pytest
from conftest import G, Ball, point

import saltus as sl


class TestBouncingBall:
    def test_free_fall_is_exact(self, ball):
        run = ball.sim.run(0.4)
        t = run.t
        # θ = 1/2 integrates a constant force exactly
        np.testing.assert_allclose(run["ball"].q[:, 0], 1 - G * t**2 / 2, atol=1e-13)
        np.testing.assert_allclose(run["ball"].v[:, 0], -G * t, atol=1e-13)

    @pytest.mark.parametrize("h", [1e-3, 1e-4])
    def test_first_bounce(self, h):
        ball = Ball(e=0.9)
        run = sl.TimeStepping(ball.model, h=h).run(0.6)
        hit = np.sqrt(2 * 0.9 / G)
        first = np.flatnonzero(run["floor"].lam[:, 0])[0]
        # a contact is active in a step that starts with y + h u/2 ≤ 0, so from h/2 before the hit on:
        # the first such step starts within h after that, and ends h later
        assert h / 2 - 1e-9 <= run.t[first] - hit <= 3 * h / 2 + h**2
        # impulse = (1 + e) times the speed of arrival, which is within one step's gain of √(2 g 0.9)
        arrival = np.sqrt(2 * G * 0.9)
        assert abs(run["floor"].lam[first, 0] - 1.9 * arrival) <= 2 * G * h

    def test_law_holds_in_every_row(self, ball):
        run = ball.sim.run(10.0)
        y, u, lam = run["floor"].y[:, 0], run["floor"].u[:, 0], run["floor"].lam[:, 0]
        before = np.roll(u, 1)
        assert (lam >= 0).all()
        struck = lam > 0
        np.testing.assert_allclose((u + 0.9 * before)[struck], 0, atol=1e-12)
        assert run.stats.worst_penetration == max(0.0, -y.min())

    def test_it_comes_to_rest(self):
        ball = Ball(e=0.5)
        run = ball.sim.run(10.0)
        # at rest the impulse of a step is the weight times h
        np.testing.assert_allclose(run["floor"].lam[-100:, 0], G * 5e-3, rtol=1e-9)

    def test_ledger_balances(self, ball):
        run = ball.sim.run(10.0)
        ledger = run.ledger
        energy = ledger.kinetic + ledger.potential
        taken = ledger.work - ledger.damping - ledger.contact - ledger.numerical
        np.testing.assert_allclose(energy - energy[0], taken, atol=1e-11)
        np.testing.assert_allclose(ledger.numerical, 0, atol=1e-11)
        # an impact takes energy: −½ (u⁻ + u⁺) λ = −½ (1 − e) u⁻ λ ≥ 0 for an approach, u⁻ ≤ 0. Where a
        # step starts separating and the contact is still active (the last micro-bounces), the
        # scheme gives that much instead, O(h²) in all.
        taken = np.diff(ledger.contact)
        u, lam = run["floor"].u[:, 0], run["floor"].lam[:, 0]
        np.testing.assert_allclose(taken, -0.05 * u[:-1] * lam[1:], atol=1e-11)
        assert (taken[u[:-1] <= 0] >= -1e-12).all()
        assert taken[taken < 0].sum() > -10 * 5e-3**2
        np.testing.assert_allclose(ledger.work, G * (1 - run["ball"].q[:, 0]), atol=1e-11)
        assert ball.sim.ledger == sl.Ledger(*(getattr(ledger, k)[-1] for k in vars(ledger)))


def test_diode_bridge():
    # the tank cannot tell the bridge from a resistor R
    L, C, R = 1e-2, 1e-6, 1e3
    model = sl.Model("diode bridge")
    tank = model.add(sl.FirstOrderLinear([10, 0], A=[[0, -1 / C], [1 / L, 0]]), name="tank")
    relation = sl.FirstOrderLinearRelation(
        C=[[0, 0], [0, 0], [-1, 0], [1, 0]],
        B=[[0, 0, -1 / C, 1 / C], [0, 0, 0, 0]],
        D=[[1 / R, 1 / R, -1, 0], [1 / R, 1 / R, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]],
    )
    model.connect(relation, sl.Complementarity(), tank, name="bridge")
    run = sl.TimeStepping(model, h=1e-6, integrator=sl.EulerMoreau(theta=0.5)).run(5e-3)

    a = np.array([[-1 / (R * C), -1 / C], [1 / L, 0]])
    values, vectors = np.linalg.eig(a)
    weights = np.linalg.solve(vectors, [10, 0])
    exact = ((vectors * weights) @ np.exp(np.outer(values, run.t))).real.T
    error = np.abs(run["tank"].x - exact).max(axis=0)
    assert error[0] < 0.05 and error[1] < 5e-4
    y, lam = run["bridge"].y[1:], run["bridge"].lam[1:]
    assert y.min() > -1e-9 and lam.min() > -1e-9 and np.abs(y * lam).max() < 1e-9
    # the load's current never turns
    assert (y[:, 0] + lam[:, 2]).min() > -1e-9


def test_sliding_mode_stays_on_the_surface():
    model = sl.Model("sliding mode")
    plant = model.add(sl.FirstOrderLinear([0, 2.21], A=[[0, 1], [0, -1]]), name="plant")
    relation = sl.FirstOrderLinearRelation(C=[[1, 1]], B=[[0], [1]])
    model.connect(relation, sl.Relay(), plant, name="surface")
    run = sl.TimeStepping(model, h=0.1, integrator=sl.EulerMoreau(theta=1)).run(10.0)
    s = run["plant"].x.sum(axis=1)
    assert np.abs(s[run.t > 2.4]).max() <= 1e-12
    assert np.abs(run["surface"].lam).max() <= 1 + 1e-12


def test_sign_function_reaches_zero_in_the_right_number_of_steps():
    model, state = point(1.01)
    model.connect(sl.FirstOrderLinearRelation([[1]], [[1]]), sl.Relay(-1, 1), state)
    run = sl.TimeStepping(model, h=0.1).run(3.0)
    x = run["point"].x[:, 0]
    assert np.abs(x[11:]).max() <= 1e-15 and x[10] > 0


def test_equality_makes_a_joint():
    model = sl.Model("two masses, one rod")
    a = model.add(sl.LagrangianLinear([0], [1], [[1]]))
    b = model.add(sl.LagrangianLinear([1], [0], [[3]]))
    rod = model.connect(sl.LagrangianLinearRelation([[1, -1]]), sl.Equality(), a, b)
    assert (a.name, b.name, rod.name) == ("system1", "system2", "interaction1")
    sim = sl.TimeStepping(model, h=0.1)
    sim.step()
    np.testing.assert_allclose([a.v[0], b.v[0]], 0.25)  # momentum is shared
    np.testing.assert_allclose(rod.u, 0, atol=1e-15)


class TestObject:
    def test_handles_are_live_copies(self, ball):
        q = ball.ball.q
        q[0] = 100.0
        assert ball.ball.q[0] == 1.0
        ball.sim.step()
        assert ball.ball.q[0] < 1.0 and ball.floor.y[0] == ball.ball.q[0] - 0.1

    def test_handles_follow_the_latest_simulation(self, ball):
        ball.sim.run(0.1)
        other = sl.TimeStepping(ball.model, h=5e-3)
        assert ball.ball.q[0] == 1.0
        other.step()
        assert ball.ball.q[0] < 1.0
        del other
        assert ball.ball.q[0] == 1.0  # it is gone: the initial state

    def test_before_any_simulation(self):
        model = sl.Model()
        mass = model.add(sl.LagrangianLinear([1], [2], [[1]]))
        stop = model.connect(sl.LagrangianLinearRelation([[1]]), sl.NewtonImpact(1), mass)
        assert mass.q == [1.0] and mass.v == [2.0]
        with pytest.raises(sl.SaltusError, match="not known before"):
            stop.lam  # noqa: B018

    def test_model_is_copied(self, ball):
        late = ball.model.add(sl.LagrangianLinear([5], [0], [[1]]), name="late")
        assert "late" not in ball.sim.run(0.1)
        assert late.q == [5.0]

    def test_runs_go_on_where_the_last_one_ended(self, ball):
        whole = Ball().sim.run(1.0)
        first, second = ball.sim.run(0.5), ball.sim.run(1.0)
        assert second.t[0] == 0.5 == first.t[-1]
        np.testing.assert_array_equal(whole["ball"].q[100:], second["ball"].q)

    def test_reset_repeats_bit_by_bit(self, ball):
        first = ball.sim.run(2.0)
        ball.sim.reset()
        again = ball.sim.run(2.0)
        np.testing.assert_array_equal(first["ball"].q, again["ball"].q)

    def test_step_and_done(self, ball):
        steps = 0
        while not ball.sim.done(0.1):
            stats = ball.sim.step()
            steps += 1
        assert steps == 20 and stats.t == ball.sim.t == 0.1

    def test_the_ledger_begins_anew_with_another_state(self, ball):
        ball.sim.run(1.0)
        before = ball.sim.ledger
        ball.sim.run(1.5)
        assert before.work != 0 and ball.sim.ledger.contact > before.contact  # runs go on with it
        ball.sim.set_state("ball", v=[2, 0, 0])
        assert ball.sim.ledger == sl.Ledger(2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def test_set_state(self, ball):
        ball.sim.set_state(ball.ball, q=[3, 0, 0])
        assert ball.floor.y == [2.9]
        model, state = point(1.0)
        sim = sl.TimeStepping(model, h=0.1)
        sim.set_state("point", x=7)
        assert state.x == [7.0]

    def test_instants(self, ball):
        instants = np.cumsum(np.linspace(1e-3, 9e-3, 100))
        run = sl.TimeStepping(ball.model, h=instants).run(instants[-1])
        np.testing.assert_array_equal(run.t, [0.0, *instants])
        np.testing.assert_allclose(run["ball"].q[:20, 0], 1 - G * run.t[:20] ** 2 / 2, atol=1e-13)

    def test_every_and_signals(self, ball):
        run = ball.sim.run(1.0, every=7, signals=["ball.q", "floor"])
        assert run.signals == ["ball.q", "floor.y", "floor.u", "floor.lam"]
        assert len(run.t) == 1 + 200 // 7 + 1 and run.t[-1] == 1.0
        with pytest.raises(AttributeError, match="`ball` has no `v` in this run; it has q"):
            run["ball"].v  # noqa: B018

    def test_both_orders_in_one_model(self):
        model = sl.Model("both")
        model.add(sl.FirstOrderLinear([1], [[-1]]), name="decay")
        model.add(sl.LagrangianLinear([1], [0], [[1]], K=[[1]]), name="spring")
        integrators = [sl.EulerMoreau(theta=0.5), sl.MoreauJean()]
        run = sl.TimeStepping(model, h=1e-3, integrator=integrators).run(1.0)
        np.testing.assert_allclose(run["decay"].x[-1], np.exp(-1), rtol=1e-6)
        np.testing.assert_allclose(run["spring"].q[-1], np.cos(1), rtol=1e-6)

    def test_t0(self):
        model = sl.Model("late", t0=5.0)
        model.add(sl.FirstOrderLinear([0], [[0]], b=[1]), name="clock")
        run = sl.TimeStepping(model, h=0.25).run(6.0)
        assert run.t[0] == 5.0 and run["clock"].x[-1] == pytest.approx(1.0)
        assert model.t0 == 5.0

    def test_model_shows_itself(self, ball):
        assert list(ball.model.systems) == ["ball"] and list(ball.model.interactions) == ["floor"]
        assert ball.model["ball"] is ball.ball and "floor" in ball.model
        assert "ball" in repr(ball.model) and "ball" in repr(ball.ball) and "floor" in repr(ball.floor)
        assert "t = 0" in repr(ball.sim)


def test_names_are_given_in_order():
    model = sl.Model("many")
    for _ in range(2000):
        model.add(sl.LagrangianLinear([0], [0], [[1]]))
    assert list(model.systems) == [f"system{k}" for k in range(1, 2001)]
    assert model["system2000"].size == 1


class TestCheckpoint:
    def test_a_restored_simulation_goes_on_bit_for_bit(self, ball, tmp_path):
        file = tmp_path / "ball.checkpoint"
        ball.sim.run(0.7)
        ball.sim.checkpoint(file)
        rest = ball.sim.run(2.0)
        again = sl.TimeStepping(ball.model, h=5e-3, integrator=sl.MoreauJean(theta=0.5)).restore(file)
        assert again.t == rest.t[0]
        run = again.run(2.0)
        np.testing.assert_array_equal(run["ball"].q, rest["ball"].q)
        np.testing.assert_array_equal(run["floor"].lam, rest["floor"].lam)
        assert again.ledger == ball.sim.ledger

    def test_what_does_not_fit_changes_nothing(self, ball, tmp_path):
        file = tmp_path / "ball.checkpoint"
        ball.sim.run(0.1)
        ball.sim.checkpoint(file)
        other = sl.TimeStepping(ball.model, h=1e-2, integrator=sl.MoreauJean(theta=0.5))
        with pytest.raises(sl.InputError, match="the step h"):
            other.restore(file)
        file.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(sl.FileError, match="bytes"):
            other.restore(file)
        with pytest.raises(FileNotFoundError):
            other.restore(tmp_path / "none")
        assert other.t == 0.0
