"""Times `run()` of the Saltus Python package on the cases of the bench: one JSON line for every line of the input."""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import saltus as sl


def bouncing_ball():
    model = sl.Model("bouncing ball")
    system = sl.LagrangianLinear(
        q0=[1, 0, 0], v0=[0, 0, 0], M=np.diag([1.0, 1.0, 0.004]), F_ext=[-9.81, 0, 0]
    )
    ball = model.add(system, name="ball")
    floor = sl.LagrangianLinearRelation(H=[[1, 0, 0]], b=[-0.1])
    model.connect(floor, sl.NewtonImpact(e=0.9), ball, name="floor")
    return model, 5e-3, sl.MoreauJean()


def diode_bridge():
    model = sl.Model("diode bridge")
    tank = model.add(sl.FirstOrderLinear(x0=[10, 0], A=[[0, -1e6], [100, 0]]), name="tank")
    bridge = sl.FirstOrderLinearRelation(
        C=[[0, 0], [0, 0], [-1, 0], [1, 0]],
        B=[[0, 0, -1e6, 1e6], [0, 0, 0, 0]],
        D=[[1e-3, 1e-3, -1, 0], [1e-3, 1e-3, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]],
    )
    model.connect(bridge, sl.Complementarity(), tank, name="bridge")
    return model, 1e-6, sl.EulerMoreau(theta=0.5, gamma=1.0)


def beads(n=1000):
    model = sl.Model("beads at rest")
    below = None
    for i in range(n):
        system = sl.LagrangianLinear(q0=[0.1 + 0.2 * i], v0=[0], M=[[1]], F_ext=[-9.81])
        bead = model.add(system, name=f"bead{i}")
        law = sl.NewtonImpact(e=0.9)
        if below is None:
            relation = sl.LagrangianLinearRelation(H=[[1]], b=[-0.1])
            model.connect(relation, law, bead, name=f"contact{i}")
        else:
            relation = sl.LagrangianLinearRelation(H=[[-1, 1]], b=[-0.2])
            model.connect(relation, law, below, bead, name=f"contact{i}")
        below = bead
    return model, 1e-3, sl.MoreauJean(threshold=1e-9)


def ladder(n=50):
    R, S, C, D, w0 = 100.0, 10.0, 1e-3, 1e-4, 10.0
    current = np.diag(np.full(n, -2 / R)) + (np.eye(n, k=1) + np.eye(n, k=-1)) / R
    current[-1, -1] = -1 / R
    A = np.block([[current / C, current / C], [current / D, current / D]])
    b = np.zeros(2 * n)
    b[0], b[n] = w0 / R / C, w0 / R / D
    u = np.linspace(2.5, 5, n)
    model = sl.Model("ladder")
    line = model.add(sl.FirstOrderLinear(x0=np.concatenate([u, -u]), A=A, b=b), name="line")
    zero, one = np.zeros((n, n)), np.eye(n)
    diodes = sl.FirstOrderLinearRelation(
        C=np.hstack([zero, -one]), B=np.vstack([zero, -one / D]), D=S * one
    )
    model.connect(diodes, sl.Complementarity(), line, name="diodes")
    return model, 1e-3, sl.EulerMoreau(theta=0.5, gamma=1.0)


WARM_UP = 5  # runs before those that count, as in the Rust bench

CASES = {
    "bouncing-ball": bouncing_ball,
    "diode-bridge": diode_bridge,
    "beads": beads,
    "rc-diode-ladder": ladder,
}


EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def simulation(case):
    """A new simulation of a case, and its step."""
    if case in CASES:
        model, h, integrator = CASES[case]()
        return lambda: sl.TimeStepping(model, h=h, integrator=integrator), h
    file = sl.load_model(EXAMPLES / case / "model.toml")
    s = file.simulation
    return lambda: sl.TimeStepping(
        file.model, h=s.h, integrator=s.integrators, solver=s.solver, newton=s.newton
    ), s.h


ENOUGH = 0.1  # seconds that the runs of a round take at least, as in the Rust bench


def round_of_runs(build, until):
    """Processor seconds a step over as many runs as a round takes."""
    seconds, steps = 0.0, 0
    while seconds < ENOUGH:
        sim = build()
        clock = time.process_time()
        run = sim.run(until=until)
        seconds += time.process_time() - clock
        steps += run.stats.steps
    return seconds / steps


def main():
    """One round for every line of the input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--steps", type=int, required=True)
    options = parser.parse_args()
    build, h = simulation(options.case)
    until = options.steps * h
    for _ in range(WARM_UP):
        build().run(until=until)
    for _ in sys.stdin:
        line = {"case": options.case, "seconds_per_step": round_of_runs(build, until)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
