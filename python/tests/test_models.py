"""Systems, relations and laws of any kind: each against something known."""

import numpy as np
import pytest

import saltus as sl

G = 9.81


def run_first_order(system, until=1.0, h=1e-2, theta=0.5, newton=None):
    model = sl.Model(parameters={"k": 4.0})
    model.add(system, name="p")
    sim = sl.TimeStepping(model, h=h, integrator=sl.EulerMoreau(theta=theta), newton=newton)
    return sim.run(until)["p"].x


def run_mechanics(system, relation=None, law=None, until=1.0, h=1e-3, **settings):
    model = sl.Model(parameters={"g": G})
    body = model.add(system, name="body")
    if relation is not None:
        model.connect(relation, law, body, name="c")
    return sl.TimeStepping(model, h=h, **settings).run(until)


class TestSystems:
    def test_nonlinear_first_order(self):
        # ẋ = x² from 1/2: x = 1/(2 − t)
        x = run_first_order(sl.FirstOrder([0.5], "[x[0]^2]"), h=1e-3)
        assert x[-1, 0] == pytest.approx(1.0, rel=1e-6)

    def test_mass_of_time(self):
        # (1 + t) ẋ = 1: x = ln(1 + t)
        x = run_first_order(sl.FirstOrder([0], [1.0], M=[["1 + t"]]), h=1e-4, theta=1)
        assert x[-1, 0] == pytest.approx(np.log(2), rel=1e-4)

    def test_singular_mass(self):
        # x₁ follows from 0 = x₁ − x₀²
        system = sl.FirstOrder([1, 1], "[-x[0], x[1] - x[0]^2]", M=[[1, 0], [0, 0]])
        x = run_first_order(system, theta=1)
        np.testing.assert_allclose(x[:, 1], x[:, 0] ** 2, atol=1e-9)

    @pytest.mark.parametrize("mode", ["full", "quasi", "linear"])
    def test_newton(self, mode):
        x = run_first_order(sl.FirstOrder([1], "[-k*x[0]^3]"), h=1e-3, newton=sl.Newton(mode=mode))
        assert x[-1, 0] == pytest.approx(1 / 3, rel=1e-4)  # x = (1 + 8 t)^(−1/2)

    def test_pendulum(self):
        exact = 1.854074677301372  # quarter period of ẍ = −sin x from π/2, in 1/ω
        system = sl.Lagrangian([np.pi / 2], [0], [[1]], F_int="sin(q[0])")
        run = run_mechanics(system, until=exact)
        assert run["body"].q[-1, 0] == pytest.approx(0, abs=1e-6)
        assert run["body"].v[-1, 0] == pytest.approx(-np.sqrt(2), rel=1e-6)

    def test_mass_of_configuration(self):
        # a bead on the parabola y = x²: (1 + 4x²) v̇ + 4 x v² + 2 g x = 0
        forms = [
            dict(M="[[1 + 4*q[0]^2]]", F_gyr="[4*q[0]*v[0]^2]", F_int=["2*g*q[0]"]),
            dict(M=lambda q: [[1 + 4 * q[0] ** 2]], F_gyr=lambda q, v: 4 * q * v**2,
                 F_int=lambda t, q, v: 2 * G * q),
            dict(M=lambda q: 1 + 4 * q**2, F_gyr=lambda v, q: 4 * q * v**2,
                 F_int=lambda q: 2 * G * q, dF_int_dq=[[2 * G]], dF_int_dv=[[0]]),
        ]  # fmt: skip

        def run(form, h=1e-3):
            run = run_mechanics(sl.Lagrangian([1], [0], **form), until=1.0, h=h)
            return run["body"].q[:, 0], run["body"].v[:, 0]

        def error(h):  # of the energy
            q, v = run(forms[0], h)
            return 0.5 * (1 + 4 * q[-1] ** 2) * v[-1] ** 2 + G * q[-1] ** 2 - G

        # the mass at the end of a step stands for the whole of it: first order
        assert 1.8 < error(1e-3) / error(5e-4) < 2.2 and abs(error(5e-4)) < 1e-2 * G
        q, _ = run(forms[0])
        for form in forms[1:]:
            np.testing.assert_allclose(run(form)[0], q, atol=1e-7)

    def test_external_force_and_all_constant(self):
        run = run_mechanics(sl.Lagrangian([0], [0], [[2]], F_ext=["-2*g"]))
        assert run["body"].v[-1, 0] == pytest.approx(-G)


class TestRelations:
    def test_first_order(self):
        # x held at 0 by a diode: ẋ = −1 + λ, 0 ≤ x ⟂ λ ≥ 0
        relations = [
            sl.FirstOrderLinearRelation([[1]], [[1]]),
            sl.FirstOrderLinearRelation(lambda t: [[1.0]], [["1"]], e="[0*t]"),
            sl.FirstOrderRelation("[x[0]]", "[lam[0]]"),
            sl.FirstOrderRelation(lambda x: x, lambda t, x, lam: lam, dh_dx=[[1]]),
            sl.FirstOrderRelation(lambda x, lam: x + 0 * lam, lambda lam: [lam[0]]),
        ]
        runs = []
        for relation in relations:
            model = sl.Model()
            state = model.add(sl.FirstOrderLinear([0.5], [[0]], b=[-1]), name="p")
            model.connect(relation, sl.Complementarity(), state, name="diode")
            run = sl.TimeStepping(model, h=1e-2).run(1.0)
            runs.append(np.hstack([run["p"].x, run["diode"].lam]))
        assert runs[0][-1] == pytest.approx([0, 1], abs=1e-12)
        for one in runs[1:]:
            np.testing.assert_allclose(one, runs[0], atol=1e-7)

    def test_the_length_of_h_is_found(self):
        model = sl.Model()
        a = model.add(sl.FirstOrder([1, 2], lambda x: -x), name="a")
        b = model.add(sl.FirstOrder([3], lambda x: -x), name="b")
        sizes = [
            (sl.FirstOrderRelation(lambda x: x[:2], lambda lam: [lam[0], lam[1], 0.0]), 2),
            (sl.FirstOrderRelation(lambda x, lam: x + lam, lambda lam: lam), 3),
            (sl.FirstOrderRelation(lambda x, lam: x[:2] + [lam[1], lam[0]],
                                   lambda lam: [lam[0], lam[1], 0.0]), 2),
            (sl.FirstOrderRelation("[x[0] + lam[0], lam[1]]", lambda x, lam: 0 * x), 2),
        ]  # fmt: skip
        for relation, size in sizes:
            assert model.connect(relation, sl.Complementarity(), a, b).size == size

    def test_moving_floor(self):
        # a floor that rises with velocity 1 takes the ball with it
        for relation in (
            sl.LagrangianRelation("[q[0] - t]"),
            sl.LagrangianRelation(lambda t, q: q - t),
            sl.LagrangianRelation(lambda t, q: q - t, H=[[1]], dh_dt=[-1]),
        ):
            run = run_mechanics(
                sl.LagrangianLinear([0.05], [0], [[1]], F_ext=["-g"]), relation, sl.NewtonImpact(0)
            )
            assert run["body"].v[-1, 0] == pytest.approx(1.0, abs=1e-7)
            assert run["c"].lam[-1, 0] == pytest.approx(G * 1e-3, rel=1e-6)

    def test_circle(self):
        # a bead on a wire keeps its distance, and its speed
        for relation in (
            sl.LagrangianRelation("[hypot(q[0], q[1]) - 1]"),
            sl.LagrangianRelation(lambda q: [np.hypot(*q) - 1]),
            sl.LagrangianRelation(lambda q: [np.hypot(*q) - 1], H=lambda q: [q / np.hypot(*q)]),
        ):
            run = run_mechanics(
                sl.LagrangianLinear([1, 0], [0, 1], np.eye(2)), relation, sl.Equality()
            )
            assert abs(run["c"].y).max() < 2e-3
            assert np.hypot(*run["body"].v[-1]) == pytest.approx(1, abs=1e-3)

    def test_compliance(self):
        # a mass sinks into a soft floor until k times the depth is its weight
        k = 1e3
        system = sl.LagrangianLinear([0.0], [0], [[1]], C=[[50]], F_ext=["-g"])
        runs = []
        for relation in (
            sl.LagrangianLinearRelation([[1]], D=[[1 / k]]),
            sl.LagrangianCompliant(f"[q[0] + lam[0]/{k}]"),
            sl.LagrangianCompliant(lambda q, lam: q + lam / k),
            sl.LagrangianCompliant(lambda q, lam: q + lam / k, H=[[1]], dh_dlam=[[1 / k]]),
        ):
            run = run_mechanics(system, relation, sl.Complementarity(), until=2.0)
            assert run["body"].q[-1, 0] == pytest.approx(-G / k, rel=1e-6)
            runs.append(run["body"].q)
        for q in runs[1:]:
            np.testing.assert_allclose(q, runs[0], atol=1e-8)


class TestLaws:
    def relay(self, law):
        model = sl.Model()
        state = model.add(sl.FirstOrderLinear([1.0], [[0]]), name="p")
        model.connect(sl.FirstOrderLinearRelation([[1]], [[1]]), law, state, name="r")
        return sl.TimeStepping(model, h=1e-2).run(2.0)["p"].x

    def test_piecewise_linear_and_normal_cone(self):
        expected = self.relay(sl.Relay(-1, 1))
        graph = sl.PiecewiseLinear([(-1, 1), (0, 1), (0, -1), (1, -1)])
        cone = sl.NormalCone(A=[[1], [-1]], b=[1, 1])
        for law in (graph, cone):
            np.testing.assert_allclose(self.relay(law), expected, atol=1e-8)

    def test_saturation(self):
        # ẋ = λ, λ = −x within the bounds ±1/2
        law = sl.PiecewiseLinear([(-1, 0.5), (-0.5, 0.5), (0.5, -0.5), (1, -0.5)])
        x = self.relay(law)[:, 0]
        # 1/2 is reached at t = 1, from there on an exponential
        assert x[100] == pytest.approx(0.5, rel=1e-6)
        assert x[200] == pytest.approx(0.5 * np.exp(-1), rel=1e-2)

    @pytest.mark.parametrize("law", [sl.ImpactFriction, sl.Fremond])
    @pytest.mark.parametrize("dim", [2, 3])
    def test_sliding_block(self, law, dim):
        mu, v0 = 0.3, 2.0
        system = sl.LagrangianLinear(
            np.zeros(dim), [0, *[v0] * (dim - 1)], np.eye(dim), F_ext=[-G, *[0] * (dim - 1)]
        )
        relation = sl.LagrangianLinearRelation(np.eye(dim))
        run = run_mechanics(system, relation, law(e=0, mu=mu), until=0.5, h=1e-3)
        speed = np.linalg.norm(run["body"].v[:, 1:], axis=1)
        assert speed[-1] == pytest.approx(v0 * np.sqrt(dim - 1) - mu * G * 0.5, rel=1e-3)
        lam = run["c"].lam[-1]
        assert np.linalg.norm(lam[1:]) == pytest.approx(mu * lam[0], rel=1e-6)

    @pytest.mark.parametrize(
        ("exponent", "expected"),
        [(1.5, [-0.0709524, 0.0764030, 0.9945493]), (1.0, [-0.1302617, 0.1502296, 0.9800321])],
    )
    def test_multiple_impact(self, exponent, expected):
        # three balls, the first one flies at the others
        model = sl.Model("row")
        balls = [
            model.add(sl.LagrangianLinear([i - 0.0625 * (i == 0)], [float(i == 0)], [[1]]))
            for i in range(3)
        ]
        law = sl.MultipleImpact(e=1, stiffness=2, exponent=exponent)
        for i in range(2):
            relation = sl.LagrangianLinearRelation([[-1, 1]], b=[-1])
            model.connect(relation, law, balls[i], balls[i + 1])
        sim = sl.TimeStepping(model, h=1 / 64)
        sim.run(until=0.25)
        np.testing.assert_allclose([ball.v[0] for ball in balls], expected, atol=1e-7)

    def test_cohesive(self):
        # under a load that grows the bond breaks, and takes its energy with it
        system = sl.LagrangianLinear([0], [0], [[1]], F_ext=["50*t"])
        law = sl.Cohesive(stiffness=1e4, strength=20, energy=0.1)
        run = run_mechanics(system, sl.LagrangianLinearRelation([[1]]), law, until=1, h=1e-4)
        beta, lam = run["c"].beta[:, 0], run["c"].lam
        assert beta[0] == 1 and beta[-1] == 0 and np.all(np.diff(beta) <= 0)
        assert lam.shape[1] == 2 and np.all(lam[:, 0] >= 0) and np.all(lam[:, 1] <= 0)
        assert -lam.min() / 1e-4 == pytest.approx(20, rel=1e-2)
        assert run.ledger.contact[-1] == pytest.approx(0.1, rel=1e-3)

    def test_binary_cohesive(self):
        for load, holds in ((4.9, True), (5.1, False)):
            system = sl.LagrangianLinear([0], [0], [[1]], F_ext=[load])
            law = sl.BinaryCohesive(strength=5, opening=1e-3)
            run = run_mechanics(system, sl.LagrangianLinearRelation([[1]]), law, until=1, h=1e-3)
            assert run["c"].beta[-1, 0] == holds

    @pytest.mark.parametrize(
        ("law", "what"),
        [
            (sl.MultipleImpact(e=1.5, stiffness=1), "`e`"),
            (sl.MultipleImpact(e=1, stiffness=0), "`stiffness`"),
            (sl.Cohesive(stiffness=1, strength=1, energy=0.1), "`energy`"),
            (sl.BinaryCohesive(strength=1, opening=-1), "`opening`"),
        ],
    )
    def test_bad_coefficients(self, law, what):
        with pytest.raises(sl.ModelError, match=what):
            run_mechanics(
                sl.LagrangianLinear([0], [0], [[1]]), sl.LagrangianLinearRelation([[1]]), law
            )

    def test_global_form(self):
        def run(form):
            system = sl.LagrangianLinear([0.1, 0], [0, 1], np.eye(2), F_ext=[-G, 0])
            model = sl.Model("block")
            body = model.add(system, name="body")
            law = sl.ImpactFriction(e=0.5, mu=0.3)
            model.connect(sl.LagrangianLinearRelation(np.eye(2)), law, body)
            scheme = sl.MoreauJean(form=form)
            return sl.TimeStepping(model, h=1e-3, integrator=scheme).run(until=0.5)["body"].q

        np.testing.assert_allclose(run("global"), run("reduced"), atol=1e-6)

    def test_tangential_restitution(self):
        # a ball without rotation: e_T turns the tangential velocity round where it sticks
        system = sl.LagrangianLinear([0, 0], [-1, 0.1], np.eye(2))
        law = sl.ImpactFriction(e=0.5, mu=10, et=0.25)
        run = run_mechanics(system, sl.LagrangianLinearRelation(np.eye(2)), law, until=1e-3)
        np.testing.assert_allclose(run["body"].v[-1], [0.5, -0.025], atol=1e-9)

    def test_rolling_friction(self):
        # a disc that rolls on the plane: normal, tangent (slip), rolling rate; it slows down by
        # the moment μ_r m g (radius 1, I = 1/2: 3/2 v̇ = −μ_r g)
        mu_r = 0.05
        system = sl.LagrangianLinear([0, 0, 0], [0, 1, 1], np.diag([1, 1, 0.5]), F_ext=[-G, 0, 0])
        relation = sl.LagrangianLinearRelation([[1, 0, 0], [0, 1, -1], [0, 0, 1]])
        law = sl.RollingFriction(e=0, mu=0.5, mu_r=mu_r)
        run = run_mechanics(system, relation, law, until=0.5)
        assert run["body"].v[-1, 1] == pytest.approx(1 - mu_r * G * 0.5 / 1.5, rel=1e-3)

    def test_varying_coefficients(self):
        system = sl.LagrangianLinear([1, 0], [0, 3], np.eye(2), F_ext=[-G, 0])
        relation = sl.LagrangianLinearRelation(np.eye(2))
        runs = []
        for e, mu in (
            ("0.9 - 0.1*min(t, 1)", "0.2 + 0.1*exp(-abs(u[1])) + 0.01*abs(q[1])"),
            (lambda t: 0.9 - 0.1 * min(t, 1),
             lambda t, q, u: 0.2 + 0.1 * np.exp(-abs(u[1])) + 0.01 * abs(q[1])),
            (lambda a, b, c: 0.9 - 0.1 * min(a, 1),
             lambda u, q: np.array([0.2 + 0.1 * np.exp(-abs(u[1])) + 0.01 * abs(q[1])])),
        ):  # fmt: skip
            runs.append(run_mechanics(system, relation, sl.ImpactFriction(e, mu), until=2.0))
        assert runs[0]["body"].v[-1, 1] < 2.5
        for run in runs[1:]:
            np.testing.assert_allclose(run["body"].v, runs[0]["body"].v, atol=1e-12)

    def test_a_coefficient_out_of_its_range(self):
        system = sl.LagrangianLinear([0.5], [0], [[1]], F_ext=["-g"])
        with pytest.raises(sl.OperatorError) as caught:
            run_mechanics(system, sl.LagrangianLinearRelation([[1]]), sl.NewtonImpact("2 + t"))
        assert "`e of c` at t = " in str(caught.value)
        assert str(caught.value).endswith("expected a number in [0, 1]")


class TestInputs:
    def test_of_a_system(self):
        for f in ("[z[0] - x[0]]", lambda t, x, z: z - x, lambda x, z: z[0] - x[0]):
            model = sl.Model()
            point = model.add(sl.FirstOrder([1], f, z0=[0]), name="p")
            assert point.z == [0.0]
            sim = sl.TimeStepping(model, h=1e-3, integrator=sl.EulerMoreau(theta=0.5))
            sim.run(1.0)
            assert point.x == pytest.approx(np.exp(-1), rel=1e-6)
            sim.set_input("p", [2.0])
            assert point.z == [2.0]
            sim.run(2.0)
            assert point.x == pytest.approx(2 + (np.exp(-1) - 2) * np.exp(-1), rel=1e-6)
            sim.reset()
            assert point.z == [0.0]
            point.z = 5
            assert point.z == [5.0]

    def test_of_a_mechanical_system(self):
        model = sl.Model()
        body = model.add(sl.Lagrangian([0], [0], [[1]], F_ext="[z[0]]", z0=[1]), name="b")
        sim = sl.TimeStepping(model, h=1e-3)
        sim.run(1.0)
        before = sim.ledger
        sim.set_input(body, [-1])
        assert sim.ledger == before
        sim.run(2.0)
        np.testing.assert_allclose([body.q, body.v], [[1.0], [0.0]], atol=1e-9)

    def test_of_a_relation(self):
        # y = x − z = 0 holds x at the input
        linear = sl.FirstOrderLinearRelation([[1]], [[1]], F=[[-1]])
        other = sl.FirstOrderRelation("[x[0] - z[0]]", "[lam[0]]", z0=[0])
        for relation in (linear, other):
            model = sl.Model()
            point = model.add(sl.FirstOrder([0], "[1 - x[0]]"), name="p")
            held = model.connect(relation, sl.Equality(), point, name="held")
            sim = sl.TimeStepping(model, h=0.1)
            sim.run(0.5)
            assert point.x == pytest.approx(0, abs=1e-9)
            sim.set_input(held, [3])
            sim.step()
            assert point.x == pytest.approx(3, abs=1e-9) and held.z == [3.0]

    def test_wrong_inputs(self):
        model = sl.Model()
        point = model.add(sl.FirstOrder([1], "[z[0] - x[0]]", z0=[0]), name="p")
        with pytest.raises(sl.SaltusError, match="`p.z` cannot be set before the model is given"):
            point.z = 1
        sim = sl.TimeStepping(model, h=1e-3)
        with pytest.raises(sl.ModelError) as caught:
            sim.set_input("p", [1, 2])
        assert str(caught.value) == (
            "set_input: `z` has length 2, expected 1 (the number of its inputs, those of `z0`)"
        )
        with pytest.raises(sl.ModelError, match="no system or interaction named `q`"):
            sim.set_input("q", [1])
        with pytest.raises(TypeError, match="takes a system or interaction, by handle or name"):
            sim.set_input(3, [1])


class TestJacobians:
    def model(self, dF_int_dq=None):
        model = sl.Model(parameters={"g": G})
        body = model.add(
            sl.Lagrangian([0.3], [1], [[1]], F_int="[g*sin(q[0]) + v[0]^2]", dF_int_dq=dF_int_dq),
            name="body",
        )
        model.connect(sl.LagrangianRelation(lambda q: q**2), sl.NewtonImpact(0), body, name="c")
        return model

    def test_points_outside_of_the_domain_are_counted(self):
        model = sl.Model("root")
        model.add(sl.FirstOrder(x0=[1e-9], f="[sqrt(x[0] + 1e-5)]"), name="root")
        report = model.check_jacobians(points=40)
        assert 10 <= report[0].skipped <= 30
        assert "points outside" in repr(report)

    def test_right(self):
        report = self.model(lambda t, q, v: G * np.cos(q)).check_jacobians()
        assert report and report.ok and not report.wrong
        # the gap's Jacobian is by differences: there is nothing to compare
        assert [(check.owner, check.name) for check in report] == [
            ("body", "dF_int_dq"),
            ("body", "dF_int_dv"),
        ]
        assert repr(report).startswith("dF_int_dq of body  difference ")

    def test_wrong(self):
        report = self.model("[[-g*cos(q[0])]]").check_jacobians(t=1.0, points=5)
        assert not report and len(report.wrong) == 1
        check = report.wrong[0]
        assert check.entry == (0, 0) and check.value == pytest.approx(-check.expected, rel=1e-6)
        assert "WRONG: [0, 0] is -" in repr(report)

    def test_nothing_to_compare(self):
        assert sl.Model().check_jacobians().ok
        assert "nothing to compare" in repr(sl.Model().check_jacobians())

    def test_a_function_that_fails(self):
        def wrong(q):
            raise RuntimeError("no derivative")

        with pytest.raises(sl.OperatorError, match="`dF_int_dq of body` at t = 0: .*no derivative"):
            self.model(wrong).check_jacobians()


class TestParameters:
    def test_in_constants_too(self):
        model = sl.Model(parameters={"m": 2.0, "x_0": 3})
        body = model.add(sl.LagrangianLinear(["x_0/2"], [0], [["m"]]))
        assert body.q == [1.5] and model.parameters == {"m": 2.0, "x_0": 3.0}
        model.connect(sl.LagrangianLinearRelation([[1]], b=["-m"]), sl.NewtonImpact("m/4"), body)

    @pytest.mark.parametrize("name", ["t", "lam", "sin", "2x", "a b", "", "and"])
    def test_names(self, name):
        with pytest.raises(sl.ModelError, match="cannot be a parameter"):
            sl.Model(parameters={name: 1.0})

    def test_unknown(self):
        model = sl.Model(parameters={"mass": 2.0})
        with pytest.raises(sl.ModelError) as caught:
            model.add(sl.LagrangianLinear([0], [0], [["mas"]]), name="ball")
        first = str(caught.value).splitlines()[0]
        assert first == "system `ball`: `M`: unknown name `mas`; did you mean `mass`?"
