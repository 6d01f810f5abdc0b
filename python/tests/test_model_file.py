"""Model files from Python."""

from pathlib import Path

import numpy as np
import pytest

import saltus as sl

TEXT = """\
title = "bouncing ball"

[parameters]
g = 9.81
r = 0.1

[simulation]
strategy = "time-stepping"
integrator = { kind = "moreau-jean", theta = 0.5 }
h = 5e-3
until = 10.0
output = { every = 1, signals = ["ball.q", "floor.lam"] }

[[system]]
name = "ball"
kind = "lagrangian-linear"
q0 = [1.0, 0.0, 0.0]
v0 = [0.0, 0.0, 0.0]
M = [[1, 0, 0], [0, 1, 0], [0, 0, "2/5*r^2"]]
F_ext = ["-g", 0, 0]

[[interaction]]
name = "floor"
systems = ["ball"]
relation = { kind = "lagrangian-linear", H = [[1, 0, 0]], b = ["-r"] }
law = { kind = "newton-impact", e = 0.9 }
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(TEXT)
    return path


def test_newton_of_a_file(tmp_path):
    text = (
        '[simulation]\nh = 0.1\nuntil = 1.0\nnewton = { tol = 1e-8, mode = "quasi" }\n'
        '[[system]]\nname = "p"\nkind = "first-order"\nx0 = [1.0]\nf = ["-x[0]^3"]\n'
    )
    (tmp_path / "m.toml").write_text(text)
    file = sl.load_model(tmp_path / "m.toml")
    assert file.simulation.newton == sl.Newton(tol=1e-8, mode="quasi")
    assert file.run().complete


def test_the_file_and_python_give_the_same_run(path, ball):
    file = sl.load_model(path)
    assert file.model.title == "bouncing ball" and file.text == TEXT
    assert file.simulation.h == 5e-3 and file.simulation.until == 10.0
    assert file.simulation.integrators == [sl.MoreauJean(theta=0.5)]
    assert file.simulation.solver == sl.solvers.Auto()
    run = file.run()
    assert run.signals == ["ball.q", "floor.lam"] and run.model_text == TEXT
    np.testing.assert_array_equal(run["ball"].q, ball.sim.run(10.0)["ball"].q)


def test_overrides_and_arguments(path):
    moon = sl.load_model(path, {"floor.law.e": 0.5, "ball.q0": [2, 0, 0]}, g="9.81/6")
    assert (moon.model["ball"].q == [2, 0, 0]).all()
    run = moon.run(until=0.5, h=1e-3, signals=["ball"], every=10)
    assert run.t[-1] == 0.5 and len(run) == 51 and run.signals == ["ball.q", "ball.v"]
    np.testing.assert_allclose(run["ball"].q[-1, 0], 2 - 9.81 / 6 * 0.125, rtol=1e-12)
    assert moon.overrides == {"floor.law.e": "0.5", "ball.q0": "[2, 0, 0]", "g": "9.81/6"}
    assert len(sl.run(path, until=0.1)) == 21
    assert sl.run(path, until=0.1, g=0.0)["ball"].q[-1, 0] == 1.0


def test_step_by_step(path):
    file = sl.load_model(path)
    sim = file.start()
    sim.step()
    assert file.model["ball"].v[0] < 0 and isinstance(sim, sl.TimeStepping)


def test_saved_runs_keep_the_text(path, tmp_path):
    sl.load_model(path, {"simulation.until": 0.1}).run().save(tmp_path / "ball.h5")
    assert sl.load(tmp_path / "ball.h5").model_text == "# --set simulation.until=0.1\n" + TEXT


def test_runs_say_what_was_changed(path, tmp_path):
    file = sl.load_model(path, {"floor.law.e": 0.5, "title": '"""two\nlines"""'}, g="9.81/6")
    run = file.run(until=0.5, h=1e-2, every=2, signals=["ball"])
    comments, text = run.model_text.splitlines()[:-len(TEXT.splitlines())], run.model_text[-len(TEXT):]
    assert text == TEXT
    assert comments == [
        "# --set floor.law.e=0.5",
        r'# --set title="""two\nlines"""',
        "# --set g=9.81/6",
        "# --set simulation.h=0.01",
        "# --set simulation.until=0.5",
        "# --set simulation.output.every=2",
        '# --set simulation.output.signals=["ball"]',
    ]
    # the text is a model file still
    again = tmp_path / "again.toml"
    again.write_text(run.model_text)
    assert sl.load_model(again).text == run.model_text
    # and of the other ways to a simulation
    assert file.start(h=[0.1, 0.2]).run(0.2).model_text.splitlines()[3] == "# --set simulation.h=(2 given instants)"
    assert sl.load_model(path).start().run(0.1).model_text == TEXT


def test_errors_have_a_place(path):
    path.write_text(TEXT.replace("theta", "thetta"))
    with pytest.raises(sl.ModelFileError, match="thetta") as caught:
        sl.load_model(path)
    assert (caught.value.line, caught.value.file) == (9, str(path)) and caught.value.column > 0
    path.write_text(TEXT)
    with pytest.raises(sl.ModelFileError, match="there is no `gg`.*did you mean `g`"):
        sl.load_model(path, gg=1)


EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*/*.toml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_examples_run(example):
    file = sl.load_model(example)
    step = file.simulation.h or np.inf  # event-driven ones are short
    until = file.model.t0 + min(file.simulation.until - file.model.t0, 50 * step)
    assert file.run(until=until).complete


def test_formulas_of_the_state(tmp_path):
    text = """\
[simulation]
integrator = { theta = 0.5 }
newton = { mode = "quasi", tol = 1e-12 }
h = 1e-2
until = 1.0

[[system]]
name = "pendulum"
kind = "lagrangian"
q0 = [1]
v0 = [0]
M = [[1]]
F_int = ["9.81*sin(q[0])"]

[[interaction]]
name = "stop"
systems = ["pendulum"]
relation = { kind = "lagrangian", h = ["q[0] + 0.5"] }
law = { kind = "newton-impact", e = 0.5 }
"""
    path = tmp_path / "pendulum.toml"
    path.write_text(text)
    file = sl.load_model(path)
    assert file.simulation.newton == sl.Newton(mode="quasi", tol=1e-12)

    model = sl.Model("pendulum")
    system = sl.Lagrangian(q0=[1], v0=[0], M=[[1]], F_int=["9.81*sin(q[0])"])
    pendulum = model.add(system, name="pendulum")
    relation = sl.LagrangianRelation(h=["q[0] + 0.5"])
    model.connect(relation, sl.NewtonImpact(e=0.5), pendulum, name="stop")
    newton = sl.Newton(mode="quasi", tol=1e-12)
    sim = sl.TimeStepping(model, h=1e-2, integrator=sl.MoreauJean(theta=0.5), newton=newton)
    np.testing.assert_array_equal(file.run()["pendulum"].q, sim.run(1.0)["pendulum"].q)
