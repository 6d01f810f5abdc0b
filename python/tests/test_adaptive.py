"""The adaptive strategy from Python."""

import numpy as np
import pytest
from conftest import G

import saltus as sl


def ball(tol=1e-6, **settings):
    model = sl.Model("ball")
    body = model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], F_ext=[-G]), name="ball")
    law = sl.NewtonImpact(0.5)
    model.connect(sl.LagrangianLinearRelation([[1]]), law, body, name="floor")
    return model, sl.Adaptive(model, tol=tol, **settings)


def test_a_ball_that_comes_to_rest():
    model, sim = ball(tol=1e-8)
    run = sim.run(3.0)
    assert run.events[0].kind == "impact"
    assert run.events[0].time == pytest.approx(np.sqrt(2 / G), abs=1e-9)
    assert run["ball"].q[-1, 0] == pytest.approx(0, abs=1e-6)
    assert model["ball"].v == pytest.approx([0], abs=1e-6) and sim.t == 3.0
    assert repr(sim) == "<Adaptive of 'ball', t = 3>"


def test_samples_steps_reset_and_state():
    _, sim = ball()
    run = sim.run(1.0, samples=11)
    np.testing.assert_array_equal(run.t, np.linspace(0, 1, 11))
    exact = 1 - G * run.t**2 / 2
    np.testing.assert_allclose(run["ball"].q[:5, 0], exact[:5], atol=1e-6)
    sim.reset()
    assert sim.t == 0.0 and sim.events == []
    sim.step()
    assert sim.t > 0
    sim.set_state("ball", q=[2.0], v=[0.0])
    assert sim.model["ball"].q == [2.0]
    assert sim.done(sim.t) and not sim.done(5.0)


@pytest.mark.parametrize("tol", [0, -1e-6, 1, np.nan, np.inf])
def test_bad_tolerances(tol):
    with pytest.raises(sl.InputError, match="tol"):
        ball(tol=tol)


def test_wrong_types():
    with pytest.raises(TypeError, match="tol"):
        ball(tol="small")
    with pytest.raises(TypeError, match="takes a Model"):
        sl.Adaptive("ball")
    with pytest.raises(TypeError, match="solver"):
        ball(solver=1)
    with pytest.raises(sl.InputError, match="until"):
        ball()[1].run(np.nan)
    with pytest.raises(sl.InputError, match="samples"):
        ball()[1].run(1.0, samples=[2.0])


def test_model_files():
    changes = {"simulation.strategy": "adaptive", "simulation.tol": 1e-7}
    file = sl.load_model("examples/bouncing-ball/model.toml", changes)
    assert file.simulation.tol == 1e-7 and file.simulation.h is None
    assert isinstance(file.start(), sl.Adaptive) and "tol = 1e-07" in repr(file)
    assert file.run(until=1.0).complete and file.verify().setting == "tol"
    with pytest.raises(sl.InputError, match="`h`"):
        file.run(h=1e-3)
