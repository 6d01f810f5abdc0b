"""A chain of links on pivots in Siconos; needs /usr/bin/python3 with python3-siconos.

The chain is one JSON document on standard input, the answer one JSON line (see `chains.rs`).
"""

import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

answer_to = os.dup(1)
os.dup2(2, 1)  # what Siconos prints goes to stderr

import siconos.kernel as sk
import siconos.mechanics.joints as joints


def build(chain):
    n, length, width = chain["links"], chain["length"], chain["width"]
    mass, h = chain["mass"], chain["h"]
    # of a box: along the link, and across it
    along, across = mass * 2 * width**2 / 12, mass * (length**2 + width**2) / 12
    inertia = np.diag([along, across, across])
    model = sk.NonSmoothDynamicalSystem(0.0, chain["steps"] * h)
    bodies, relations = [], []
    for k in range(n):
        q = [(k + 0.5) * length, 0, 0, 1, 0, 0, 0]
        body = sk.NewtonEulerDS(q, [0.0] * 6, mass, inertia)
        body.setFExtPtr(np.array([0.0, 0.0, -mass * chain["gravity"]]))
        model.insertDynamicalSystem(body)
        bodies.append(body)
    for k in range(n):
        relation = joints.PivotJointR()
        relation.setPoint(0, [k * length, 0, 0])
        relation.setAxis(0, [0, 1, 0])
        relation.setAbsolute(True)
        pair = (bodies[k],) if k == 0 else (bodies[k], bodies[k - 1])
        relation.setBasePositions(*[body.q() for body in pair])
        inter = sk.Interaction(sk.EqualityConditionNSL(5), relation)
        model.link(inter, *pair)
        relations.append(relation)
    osi = sk.MoreauJeanOSI(0.5001)
    time_discretisation = sk.TimeDiscretisation(0.0, h)
    problem = sk.MLCP()
    simulation = sk.TimeStepping(model, time_discretisation, osi, problem)
    simulation.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return model, bodies, simulation


def gap(bodies, chain):
    n, length, width = chain["links"], chain["length"], chain["width"]

    def place(k, point):
        w, v = bodies[k].q()[3], bodies[k].q()[4:7]
        point = np.array(point)
        return bodies[k].q()[:3] + point + 2 * np.cross(v, np.cross(v, point) + w * point)

    most = 0.0
    for k in range(n):
        for side in (-0.5, 0.5):
            other = np.array([0, side * width, 0])
            if k > 0:
                other = place(k - 1, [0.5 * length, side * width, 0])
            most = max(most, np.linalg.norm(place(k, [-0.5 * length, side * width, 0]) - other))
    return most


def main():
    chain = json.load(sys.stdin)
    best, most = float("inf"), 0.0
    runs, whole = 0, time.process_time()
    while runs < chain["repeats"] or time.process_time() - whole < chain["least"]:
        runs += 1
        model, bodies, simulation = build(chain)
        begin = time.process_time()
        while simulation.hasNextEvent():
            simulation.computeOneStep()
            simulation.nextStep()
        best = min(best, (time.process_time() - begin) / chain["steps"])
    model, bodies, simulation = build(chain)
    while simulation.hasNextEvent():
        simulation.computeOneStep()
        simulation.nextStep()
        most = max(most, gap(bodies, chain))
    line = json.dumps({"seconds": best, "gap": most, "tip": bodies[-1].q()[:3].tolist()})
    os.write(answer_to, (line + "\n").encode())


main()
