"""Every scheme from Python: a ball that bounces, and a plant that slides."""

import numpy as np
import pytest

import saltus as sl

MECHANICAL = [
    sl.MoreauJean(projection="direct"),
    sl.MoreauJean(projection="combined"),
    sl.MoreauJean(projection="ggl"),
    sl.SchatzmanPaoli(0.25),
    sl.GeneralizedAlpha(0.5),
    sl.D1MinusLinear(),
    sl.D1MinusLinear("velocity"),
    sl.MoreauJeanBilbao(),
]


@pytest.mark.parametrize("scheme", MECHANICAL, ids=repr)
def test_a_ball_bounces(scheme):
    model = sl.Model("ball")
    ball = model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], F_ext=[-9.81]), name="ball")
    model.connect(sl.LagrangianLinearRelation([[1.0]]), sl.NewtonImpact(0.5), ball, name="floor")
    run = sl.TimeStepping(model, h=1e-3, integrator=scheme).run(0.8)
    impact = np.sqrt(2 / 9.81)
    rise = 0.5 * 9.81 * impact * (0.8 - impact) - 0.5 * 9.81 * (0.8 - impact) ** 2
    assert abs(run["ball"].q[-1, 0] - rise) < 0.02
    assert eval(repr(scheme), vars(sl)) == scheme


def test_zero_order_hold_is_exact():
    model = sl.Model("plant")
    model.add(sl.FirstOrderLinear(x0=[1.0], A=[[-3.0]], b=[6.0]), name="plant")
    run = sl.TimeStepping(model, h=0.25, integrator=sl.ZeroOrderHold()).run(2.0)
    assert np.allclose(run["plant"].x[:, 0], 2 - np.exp(-3 * run.t), atol=1e-13)


def test_a_scheme_for_each_system():
    model = sl.Model("two")
    left = model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], K=[[1.0]]), name="left")
    model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], K=[[1.0]]), name="right")
    integrators = [sl.MoreauJean(theta=1, systems=[left]), sl.SchatzmanPaoli(systems=["right"])]
    run = sl.TimeStepping(model, h=0.05, integrator=integrators).run(20.0)
    assert abs(run["left"].q[-100:]).max() < 0.8 < 0.95 < abs(run["right"].q[-100:]).max()


def test_a_prescribed_motion():
    model = sl.Model("shaker")
    mass = model.add(sl.LagrangianLinear([0.0, 5.0], [1.0, 0.0], np.diag([2.0, 1.0])), name="mass")
    model.connect(sl.Prescribed([0], ["cos(t)"]), sl.Equality(), mass, name="shaker")
    run = sl.TimeStepping(model, h=1e-3).run(2.0)
    assert np.allclose(run["mass"].q[:, 0], np.sin(run.t), atol=1e-6)
    assert abs(run["shaker"].lam[-1, 0] / 1e-3 + 2 * np.sin(2)) < 2e-3
    with pytest.raises(sl.ModelError, match="entry 0 of `dofs` is 2"):
        model.connect(sl.Prescribed([2], [0.0]), sl.Equality(), mass)
