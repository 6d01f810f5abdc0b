"""Wrong input: which exception, and what it says."""

import numpy as np
import pytest
from conftest import Ball, dead_end, point

import saltus as sl

ONE = [[1.0]]
BODY = dict(q0=[0], v0=[0], M=ONE)


def connect(relation, law, **body):
    model = sl.Model()
    return model.connect(relation, law, model.add(sl.LagrangianLinear(**{**BODY, **body})), name="c")


CASES = [
    # settings
    (lambda: sl.MoreauJean(thetta=1), TypeError, "no setting `thetta`; did you mean `theta`"),
    (lambda: sl.MoreauJean(theta="half"), TypeError, "`theta` must be a number, not str"),
    (lambda: sl.MoreauJean(theta=2), sl.InputError, r"`theta` = 2 is outside \[0, 1\]"),
    (lambda: sl.MoreauJean(theta=np.nan), sl.InputError, "`theta` = nan is not a finite number"),
    (lambda: sl.MoreauJean(1, 1, None, 0), TypeError, r"at most 3 settings by position \(theta, gamma, projection\)"),
    (lambda: sl.MoreauJean(projection="both"), sl.InputError, "unknown variant `both`, expected one of `direct`"),
    (lambda: sl.MoreauJean(systems="ball"), TypeError, "`systems` must be a list of names, not str"),
    (lambda: sl.D1MinusLinear("position"), sl.InputError, r"D1MinusLinear\(\): unknown variant `position`"),
    (lambda: sl.GeneralizedAlpha(1.5), sl.InputError, r"`rho_inf` = 1.5 is outside \[0, 1\]"),
    (lambda: sl.MoreauJean(1, theta=1), TypeError, "two values for the setting `theta`"),
    (lambda: sl.solvers.Auto(tol=0), sl.InputError, r"auto: setting `tol` = 0 is outside"),
    (lambda: sl.solvers.Auto(max_iter=1.5), TypeError, "`max_iter` must be a whole number"),
    (lambda: sl.solvers.Auto(max_iter=-1), sl.InputError, "`max_iter` = -1"),
    (lambda: sl.solvers.GaussSeidel(relaxation=2), sl.InputError, r"outside \(0, 2\)"),
    (lambda: sl.solvers.Solver(), TypeError, "use one of them"),
    # arrays
    (lambda: sl.LagrangianLinear([0], [0], [1]), sl.ModelError, "`M` has one axis"),
    (lambda: sl.LagrangianLinear([0], [0], [[1], [1, 2]]), sl.ModelError, "different lengths"),
    (lambda: sl.LagrangianLinear([[0]], [0], ONE), sl.ModelError, r"`q0` has the shape \(1, 1\)"),
    (lambda: sl.LagrangianLinear([0], [1j], ONE), TypeError, "`v0` must hold numbers, not complex"),
    (lambda: sl.LagrangianLinear([None], [0], ONE), TypeError, "`q0` must hold numbers"),
    (lambda: sl.LagrangianLinear({}, [0], ONE), TypeError, "`q0` must hold numbers, not dict"),
    # models: sizes, numbers, names
    (lambda: sl.Model().add(sl.LagrangianLinear([0], [0, 1], ONE)), sl.ModelError,
     "system `system1`: `v0` has length 2, expected 1"),
    (lambda: sl.Model().add(sl.LagrangianLinear([0], [0], np.eye(2))), sl.ModelError, "`M` is 2 × 2"),
    (lambda: sl.Model().add(sl.LagrangianLinear([0], [0], [[-1]])), sl.ModelError, "positive definite"),
    (lambda: sl.Model().add(sl.LagrangianLinear([np.nan], [0], ONE)), sl.ModelError,
     r"`q0`\[0\] is NaN"),
    (lambda: sl.Model().add(sl.LagrangianLinear([], [], np.empty((0, 0)))), sl.ModelError, "`q0` is empty"),
    (lambda: sl.Model().add(sl.LagrangianLinear(**BODY), name="a.b"), sl.ModelError, "cannot be a name"),
    (lambda: sl.Model().add(sl.LagrangianLinear(**BODY), name=1), TypeError, "`name` must be a text"),
    (lambda: sl.Model().add("ball"), TypeError, "takes a system, not str"),
    (lambda: sl.Model(1), TypeError, "`title` must be a text"),
    (lambda: sl.Model(t0="0"), TypeError, "`t0` must be a number"),
    (lambda: sl.Model()["nothing"], KeyError, "no system or interaction `nothing`"),
    # interactions
    (lambda: connect(sl.LagrangianLinearRelation([[1, 0]]), sl.NewtonImpact(1)), sl.ModelError,
     "interaction `c`: `H` is 1 × 2, expected 1 × 1"),
    (lambda: connect(sl.LagrangianLinearRelation(ONE), sl.NewtonImpact(1.5)), sl.ModelError,
     r"`e` = 1.5 is outside \[0, 1\]"),
    (lambda: connect(sl.LagrangianLinearRelation(ONE), sl.Complementarity()), sl.ModelError,
     r"use NewtonImpact\(e=0\)"),
    (lambda: connect(sl.FirstOrderLinearRelation(ONE, ONE), sl.Complementarity()), sl.ModelError,
     "is for first-order systems"),
    (lambda: connect(sl.NewtonImpact(1), sl.LagrangianLinearRelation(ONE)), TypeError,
     "NewtonImpact stands where a relation belongs"),
    (lambda: connect(sl.LagrangianLinearRelation(ONE), sl.Relay(1, -1)), sl.ModelError, "`lower` = 1"),
    (lambda: sl.Model().connect(sl.LagrangianLinearRelation(ONE), sl.Equality()), sl.ModelError,
     "links 0 systems"),
    (lambda: sl.Model().connect(sl.LagrangianLinearRelation(ONE), sl.Equality(), "b"), sl.ModelError,
     "no system named `b`"),
    (lambda: sl.Model().connect(sl.LagrangianLinearRelation(ONE), sl.Equality(), Ball().ball),
     sl.ModelError, "belongs to another model"),
    (lambda: sl.NewtonImpact([0.5]), TypeError, "`e` must be a number, not list"),
    # simulations
    (lambda: sl.TimeStepping(sl.Model("empty"), h=1), sl.ModelError, "`empty` has no system"),
    (lambda: sl.TimeStepping("model", h=1), TypeError, "takes a Model, not str"),
    (lambda: sl.TimeStepping(point()[0], h=0), sl.InputError, "`h` = 0 is outside"),
    (lambda: sl.TimeStepping(point()[0], h="1"), TypeError, "`h` must be a number"),
    (lambda: sl.TimeStepping(point()[0], h=[1, 0.5]), sl.InputError, "must increase"),
    (lambda: sl.TimeStepping(point()[0], h=1, integrator="euler"), TypeError, "`integrator`"),
    (lambda: sl.TimeStepping(point()[0], h=1, integrator=[sl.EulerMoreau()] * 2), sl.InputError,
     "two integrators"),
    (lambda: sl.TimeStepping(point()[0], h=1, solver="auto"), TypeError, "one of saltus.solvers"),
    (lambda: sl.TimeStepping(point()[0], h=[0]), sl.InputError, "no instant after t0"),
    (lambda: sl.TimeStepping(point()[0], h=[1]).run(2), sl.InputError, "instants up to t = 1"),
    (lambda: sl.TimeStepping(point()[0], h=1, integrator=sl.MoreauJean()), sl.InputError,
     "moreau-jean is for Lagrangian systems, and the model has none"),
    (lambda: Ball().sim.run("1"), TypeError, "`until` must be a number"),
    (lambda: Ball().sim.run(-1), sl.InputError, "before the current time"),
    (lambda: Ball().sim.run(np.inf), sl.InputError, "`until` = inf"),
    (lambda: Ball().sim.run(1, every=0), sl.InputError, "`every` = 0"),
    (lambda: Ball().sim.run(1, every=1.5), TypeError, "`every` must be a whole number"),
    (lambda: Ball().sim.run(1, signals=["ball.w"]), sl.SignalError, "no signal `ball.w`"),
    (lambda: Ball().sim.run(1, progress=3), TypeError, "`progress` must be"),
    (lambda: Ball().sim.set_state("bal", q=[1, 0, 0]), sl.ModelError, "did you mean `ball`"),
    (lambda: Ball().sim.set_state("ball", q=[1]), sl.ModelError, "`q` has length 1, expected 3"),
    (lambda: Ball().sim.set_state("ball", q=[1, 0, np.inf]), sl.ModelError, r"`q`\[2\] is inf"),
    (lambda: Ball().sim.set_state("ball", x=[1]), sl.InputError, "has no x"),
    (lambda: Ball().sim.set_state("ball", x=[1], q=[1]), sl.InputError, "no system has both"),
    (lambda: Ball().sim.set_state("ball"), sl.InputError, "needs `q`, `v` or `x`"),
    (lambda: Ball().sim.set_state(Ball().floor, q=[1]), TypeError, "takes a system"),
    (lambda: Ball().ball.x, AttributeError, "`ball` has q and v, but no x"),
    # runs and files
    (lambda: Ball().sim.run(0.1)["bal"], KeyError, "no `bal`; did you mean `ball`"),
    (lambda: Ball().sim.run(0.1)["ball.Q"], KeyError, "did you mean `ball.q`"),
    (lambda: Ball().sim.run(0.1)["ball.q[3]"], KeyError, "index 3 is outside 0 to 2"),
    (lambda: Ball().sim.run(0.1)["ball.q[x]"], KeyError, "is not a signal"),
    (lambda: Ball().sim.run(0.1)[0], TypeError, "asked by name"),
    (lambda: Ball().sim.run(0.1)["ball"].lam, AttributeError, "it has q, v"),
    (lambda: Ball().sim.run(0.1).plot("bal.q"), KeyError, "did you mean `ball.q`"),
    (lambda: Ball().sim.run(0.1).save("/nowhere/x.h5"), FileNotFoundError, "no folder"),
    (lambda: sl.load("/nowhere/x.h5"), sl.MissingFileError, "there is no file"),
    (lambda: sl.load(__file__), sl.FileError, "not an HDF5 file"),
    (lambda: sl.load(3), TypeError, "PathLike"),
    (lambda: sl.load_model("/nowhere/x.toml"), FileNotFoundError, "no such file"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "exception", "message"), CASES)
def test_wrong_input(attempt, exception, message):
    with pytest.raises(exception, match=message):
        attempt()


def test_one_tree():
    bases = {
        sl.InputError: ValueError,
        sl.ModelError: ValueError,
        sl.ModelFileError: ValueError,
        sl.SignalError: KeyError,
        sl.FileError: OSError,
        sl.MissingFileError: FileNotFoundError,
        sl.NotAvailableError: NotImplementedError,
        sl.BusyError: RuntimeError,
        sl.OperatorError: sl.SaltusError,
        sl.SolverError: sl.SaltusError,
    }
    for exception, base in bases.items():
        assert issubclass(exception, sl.SaltusError) and issubclass(exception, base)
        assert exception.__module__ == "saltus" and exception.__doc__


class TestStepThatIsNotSolved:
    def test_run_keeps_what_was_computed(self, tmp_path):
        sim = sl.TimeStepping(dead_end(), h=0.125)
        with pytest.raises(sl.SolverError, match=r"t = 1.125.*infeasible.*worst at `wall`") as caught:
            sim.run(3.0)
        error = caught.value
        assert error.report.status == "infeasible" and error.report.time == 1.125
        assert error.report.residual > 0 and error.report.worst == "wall"
        run = error.run
        assert run.t[-1] == 1.0 == sim.t and not run.complete
        assert run.stats.outcome == run.stats["outcome"] == "failed" and run.stats.failures == 1
        assert sim.last_run is run
        run.save(tmp_path / "partial.h5")
        assert not sl.load(tmp_path / "partial.h5").complete
        assert len(run.plot("point", file=tmp_path / "x.png").axes) == 1

    def test_a_ray_that_proves_nothing(self):
        model, state = point(b=[1.0])
        relation = sl.FirstOrderLinearRelation(
            C=[[0], [0]], B=[[0, 0]], D=[[0, 3], [2, -2]], e=[-1, 2]
        )
        model.connect(relation, sl.Complementarity(), state, name="odd")
        sim = sl.TimeStepping(model, h=0.125, solver=sl.solvers.Lemke())
        with pytest.raises(sl.SolverError, match="not solved: ray") as caught:
            sim.run(1.0)
        assert caught.value.report.status == "diverged" and caught.value.report.worst == "odd"

    def test_lost(self):
        sim = sl.TimeStepping(point(1.0, A=[[1e200]])[0], h=1.0, integrator=sl.EulerMoreau(theta=0))
        with pytest.raises(sl.SolverError, match="the state of `point` is no longer finite") as caught:
            sim.run(9.0)
        report = caught.value.report
        assert (report.status, report.worst, report.time) == ("diverged", "point", 2.0)

    def test_step_changes_nothing(self):
        sim = sl.TimeStepping(dead_end(), h=0.125)
        sim.run(1.0)
        x = sim.model["point"].x
        with pytest.raises(sl.SolverError):
            sim.step()
        assert sim.t == 1.0 and sim.model["point"].x == x

    def test_singular_iteration_matrix(self):
        model, _ = point(1.0, A=[[10.0]])
        with pytest.raises(sl.SolverError, match="singular") as caught:
            sl.TimeStepping(model, h=0.1).run(1.0)
        assert caught.value.report.status == "singular" and caught.value.report.time is None

    def test_a_good_run_leaves_no_last_run(self, ball):
        ball.sim.run(0.1)
        assert ball.sim.last_run is None
