#!/usr/bin/python3
"""Times event-driven runs of Siconos on a case of `saltus-bench event-driven`; prints one JSON line.

The ball runs in Siconos' `EventDriven` with `LsodarOSI`, with its default tolerance and 1e-12; with
larger ones the gap at an impact is beyond what its loop allows. That loop has no first-order
systems with interactions: for the bridge its message is told, and its time-stepping is measured
instead, with two steps. Only the loop is timed, in processor time.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import sys
import time

import numpy as np
import siconos.kernel as sk


def ball(tolerance):
    until, e, g = 8.0, 0.9, 9.81
    system = sk.LagrangianLinearTIDS([1.0], [0.0], np.eye(1))
    system.setFExtPtr([-g])
    contact = sk.Interaction(sk.NewtonImpactNSL(e), sk.LagrangianLinearTIR(np.array([[1.0]])))
    model = sk.NonSmoothDynamicalSystem(0.0, until)
    model.insertDynamicalSystem(system)
    model.link(contact, system)
    integrator = sk.LsodarOSI()
    simulation = sk.EventDriven(model, sk.TimeDiscretisation(0.0, until))
    simulation.insertIntegrator(integrator)
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_IMPACT)
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_SMOOTH_ACC)
    if tolerance is not None:
        simulation.initialize()
        integrator.setTol(1, tolerance, tolerance)
    times = []
    start = time.process_time()
    while simulation.hasNextEvent():
        simulation.advanceToEvent()
        simulation.processEvents()
        times.append(simulation.startingTime())
    seconds = time.process_time() - start
    first = np.sqrt(2.0 / g)
    exact = first * (1.0 + 2.0 * np.cumsum(np.concatenate([[0.0], e ** np.arange(1, 40)])))
    impacts = [t for t in times if t < until]
    error = max(abs(t - x) for t, x in zip(impacts, exact))
    return seconds, len(impacts), float(error)


def bridge_system(until):
    system = sk.FirstOrderLinearDS([10.0, 0.0], np.array([[0.0, -1e6], [100.0, 0.0]]))
    C = np.array([[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    B = np.array([[0.0, 0.0, -1e6, 1e6], [0.0, 0.0, 0.0, 0.0]])
    D = np.array([[1e-3, 1e-3, -1, 0], [1e-3, 1e-3, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0.0]])
    relation = sk.FirstOrderLinearTIR(C, B)
    relation.setDPtr(D)
    diodes = sk.Interaction(sk.ComplementarityConditionNSL(4), relation)
    model = sk.NonSmoothDynamicalSystem(0.0, until)
    model.insertDynamicalSystem(system)
    model.link(diodes, system)
    return model, system, (C, B, D)


def bridge_truth(t):
    damping = 500.0
    frequency = np.sqrt(1e8 - damping**2)
    decay = np.exp(-damping * t)
    sin, cos = np.sin(frequency * t), np.cos(frequency * t)
    return 10.0 * decay * (cos - damping / frequency * sin), 1000.0 * decay * sin / frequency


def bridge_event_driven():
    model, _, keep = bridge_system(5e-3)
    simulation = sk.EventDriven(model, sk.TimeDiscretisation(0.0, 5e-3))
    simulation.insertIntegrator(sk.LsodarOSI())
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_IMPACT)
    simulation.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_SMOOTH_ACC)
    while simulation.hasNextEvent():
        simulation.advanceToEvent()
        simulation.processEvents()


def bridge_time_stepping(h):
    until = 5e-3
    model, system, keep = bridge_system(until)
    integrator = sk.EulerMoreauOSI(0.5)
    integrator.setGamma(1.0)
    simulation = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, h), integrator, sk.LCP())
    start = time.process_time()
    while simulation.hasNextEvent():
        simulation.computeOneStep()
        simulation.nextStep()
    seconds = time.process_time() - start
    v, i = bridge_truth(simulation.startingTime())
    x = system.x()
    return seconds, float(max(abs(x[0] - v) / 10.0, abs(x[1] - i) / 0.1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=["ball", "diode-bridge"])
    parser.add_argument("--accurate", type=float, required=True)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    runs = []
    if args.case == "ball":
        for tolerance in [None, 1e-12]:
            try:
                tries = [ball(tolerance) for _ in range(args.repeat)]
            except Exception as error:  # its exceptions have no class of their own
                print(f"tolerance {tolerance}: {error}", file=sys.stderr)
                continue
            seconds = sorted(one[0] for one in tries)[0]
            what = "default" if tolerance is None else f"{tolerance:g}"
            row = {"what": f"Siconos, event-driven, tolerance {what}", "events": tries[0][1]}
            runs.append(row | {"error": tries[0][2], "seconds": seconds})
    else:
        try:
            bridge_event_driven()
        except Exception as error:
            print(f"event-driven bridge: {error}", file=sys.stderr)
        for h in [1e-6, 1e-7]:
            seconds, error = bridge_time_stepping(h)
            what = f"Siconos, time-stepping, h = {h:g}"
            runs.append({"what": what, "events": 64, "error": error, "seconds": seconds})
    good = sorted((run for run in runs if run["error"] <= args.accurate), key=lambda run: run["seconds"])
    runs = good[:1] or runs
    print(json.dumps({"runs": runs}))


if __name__ == "__main__":
    main()
