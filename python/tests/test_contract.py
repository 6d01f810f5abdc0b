"""The contract's first page, word for word, and what it says of the arrays."""

import h5py
import numpy as np
import pandas as pd


def test_the_example_of_the_contract(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    import saltus as sl

    model = sl.Model("bouncing ball", t0=0.0)
    ball  = model.add(sl.LagrangianLinear(q0=[1, 0, 0], v0=[0, 0, 0],
                                          M=np.diag([1.0, 1.0, 0.004]),
                                          F_ext=[-9.81, 0, 0]), name="ball")
    floor = model.connect(sl.LagrangianLinearRelation(H=[[1, 0, 0]], b=[-0.1]),
                          sl.NewtonImpact(e=0.9), ball, name="floor")

    sim = sl.TimeStepping(model, h=5e-3, integrator=sl.MoreauJean(theta=0.5),
                          solver=sl.solvers.Auto(tol=1e-10))
    run = sim.run(until=10.0, progress=True)      # -> sl.Run

    assert isinstance(run, sl.Run)
    assert run.t.shape == (2001,) and run.t[0] == 0.0 and run.t[-1] == 10.0
    assert run["ball"].q.shape == run["ball"].v.shape == (2001, 3)
    assert run["floor"].y.shape == run["floor"].u.shape == run["floor"].lam.shape == (2001, 1)
    assert run.stats.steps == 2000 and run.stats.failures == 0
    assert run.stats.worst_residual <= 1e-10 and run.stats.seconds >= 0
    run.save("ball.h5"); again = sl.load("ball.h5")
    assert (again["ball"].q == run["ball"].q).all()
    figure = run.plot("ball.q[0]", "floor.lam", file="ball.png")
    assert len(figure.axes) == 2 and (tmp_path / "ball.png").read_bytes().startswith(b"\x89PNG")
    assert isinstance(run.to_pandas(), pd.DataFrame)

    # step by step
    sim.reset()
    assert sim.t == 0.0 and not sim.done(1.0) and (ball.q == [1, 0, 0]).all()
    stats = sim.step()
    assert (stats.t, stats.h) == (sim.t, 5e-3) and stats.residual <= 1e-10
    assert ball.v[0] < 0 and floor.lam == [0.0]
    sim.set_state("ball", q=[2, 0, 0], v=[0, 1, 0])
    assert (ball.q == [2, 0, 0]).all() and (ball.v == [0, 1, 0]).all()

    # nothing on standard output; on standard error one last line, as it is no terminal
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "2,000 steps" in err
    assert h5py.File("ball.h5")["time"].shape == (2001,)
