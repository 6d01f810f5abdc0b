#!/usr/bin/env python3
"""Times SciPy's `solve_ivp` with terminal events on a case of `saltus-bench event-driven`; prints one
JSON line.

Every event ends a call, the state jumps or the mode changes, and the next call begins. Three methods
run with several tolerances; the fastest run that is accurate enough counts. Processor time.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time

import numpy as np
from scipy.integrate import solve_ivp

METHODS = ["RK45", "DOP853", "LSODA"]
TOLERANCES = [1e-6, 1e-8, 1e-10, 1e-12]


def ball(method, tolerance):
    until, e, g = 8.0, 0.9, 9.81

    def fall(t, x):
        return [x[1], -g]

    def gap(t, x):
        return x[0]

    gap.terminal, gap.direction = True, -1
    t, x, times = 0.0, [1.0, 0.0], []
    start = time.process_time()
    while True:
        part = solve_ivp(fall, (t, until), x, method=method, events=gap, rtol=tolerance, atol=1e-2 * tolerance)
        t, x = part.t[-1], part.y[:, -1]
        if part.status != 1:
            break
        times.append(t)
        x = [0.0, -e * x[1]]
    seconds = time.process_time() - start
    first = np.sqrt(2.0 / g)
    exact = first * (1.0 + 2.0 * np.cumsum(np.concatenate([[0.0], e ** np.arange(1, 40)])))
    error = max(abs(t - x) for t, x in zip(times, exact)) if len(times) == 26 else np.inf
    return seconds, len(times), float(error)


def bridge(method, tolerance):
    """The mode is the sign of the voltage: two diodes conduct, the other two block."""
    until = 5e-3

    def conducts(t, x, sign):
        current = sign * abs(x[0]) * 1e-3
        return [-1e6 * (x[1] + current), 100.0 * x[0]]

    def voltage(t, x, sign):
        return sign * x[0]

    voltage.terminal, voltage.direction = True, -1
    t, x, sign, events = 0.0, [10.0, 0.0], 1.0, 0
    start = time.process_time()
    while True:
        part = solve_ivp(
            conducts,
            (t, until),
            x,
            method=method,
            events=voltage,
            args=(sign,),
            rtol=tolerance,
            atol=1e-2 * tolerance,
        )
        t, x = part.t[-1], part.y[:, -1]
        if part.status != 1:
            break
        events, sign = events + 1, -sign
    seconds = time.process_time() - start
    damping = 500.0
    frequency = np.sqrt(1e8 - damping**2)
    decay, sin, cos = np.exp(-damping * until), np.sin(frequency * until), np.cos(frequency * until)
    v = 10.0 * decay * (cos - damping / frequency * sin)
    i = 1000.0 * decay * sin / frequency
    return seconds, events, float(max(abs(x[0] - v) / 10.0, abs(x[1] - i) / 0.1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=["ball", "diode-bridge"])
    parser.add_argument("--accurate", type=float, required=True)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    run = ball if args.case == "ball" else bridge
    rows = []
    for method in METHODS:
        for tolerance in TOLERANCES:
            seconds, events, error = run(method, tolerance)
            rows.append((seconds, method, tolerance, events, error))
    good = sorted(row for row in rows if row[4] <= args.accurate)
    if good:
        _, method, tolerance, _, _ = good[0]
        tries = sorted(run(method, tolerance) for _ in range(args.repeat))
        chosen = (tries[0][0], method, tolerance, *tries[0][1:])
    else:
        chosen = min(rows, key=lambda row: row[4])
    seconds, method, tolerance, events, error = chosen
    what = f"SciPy, {method}, rtol {tolerance:g}"
    print(json.dumps({"runs": [{"what": what, "events": events, "error": error, "seconds": seconds}]}))


if __name__ == "__main__":
    main()
