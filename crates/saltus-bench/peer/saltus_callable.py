"""Times Python functions as right-hand sides beside the functions themselves; prints one JSON line.

Each function is called in a plain loop with arguments that are ready, and by a simulation that evaluates it in every
step. The simulation's figure is all of its time over the number of calls: stepping and recording are part of it.
"""

import argparse
import json
import math
import time

import numpy as np

import saltus as sl

MASS, STIFFNESS, DAMPING = 2.0, 40.0, 0.3


def returns_array(t, x):
    q, v = x
    return np.array([v, (math.cos(t) - STIFFNESS * q - DAMPING * v) / MASS])


def returns_list(t, x):
    q, v = x
    return [v, (math.cos(t) - STIFFNESS * q - DAMPING * v) / MASS]


def fills_out(t, x, out):
    q, v = x
    out[0] = v
    out[1] = (math.cos(t) - STIFFNESS * q - DAMPING * v) / MASS


A = np.array([[0.0, 1.0], [-STIFFNESS / MASS, -DAMPING / MASS]])


def array_product(t, x):
    f = A @ x
    f[1] += math.cos(t) / MASS
    return f


FUNCTIONS = [returns_array, returns_list, fills_out, array_product]
STEPS, CALLS, WARM_UP = 4000, 20_000, 2


def simulation(function):
    model = sl.Model("a right-hand side")
    model.add(sl.FirstOrder(x0=[1.0, 0.0], f=function, df_dx=A), name="oscillator")
    return sl.TimeStepping(model, h=1e-3, integrator=sl.EulerMoreau(theta=0.5))


def count(function):
    """Calls of a run."""
    calls = 0

    def counted(t, x):
        nonlocal calls
        calls += 1
        return function(t, x)

    def counted_out(t, x, out):
        nonlocal calls
        calls += 1
        return function(t, x, out)

    simulation(counted_out if function is fills_out else counted).run(until=STEPS * 1e-3)
    return calls


def alone(function):
    """Seconds of a call with arguments that are ready."""
    t, x, out = 0.5, np.array([1.0, 0.5]), np.zeros(2)
    clock = time.process_time()
    if function is fills_out:
        for _ in range(CALLS):
            function(t, x, out)
    else:
        for _ in range(CALLS):
            function(t, x)
    return (time.process_time() - clock) / CALLS


def simulated(function, calls):
    """Seconds of a run over its calls."""
    sim = simulation(function)
    clock = time.process_time()
    sim.run(until=STEPS * 1e-3)
    return (time.process_time() - clock) / calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    rows = []
    for function in FUNCTIONS:
        calls = count(function)
        pairs = [(alone(function), simulated(function, calls)) for _ in range(WARM_UP + repeat)]
        bare, whole = (min(column) for column in zip(*pairs[WARM_UP:]))
        name = function.__name__.replace("_", " ")
        rows.append({"function": name, "calls_per_step": calls / STEPS, "alone": bare, "simulated": whole})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
