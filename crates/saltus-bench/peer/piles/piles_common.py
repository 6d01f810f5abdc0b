"""What the peers of a pile share: the scene that they are given, and what they answer.

The scene is one JSON document on standard input:

    {"h": 0.005, "steps": 200, "mu": 0.7, "bin": [lx, ly],
     "bodies": [{"kind": "sphere", "size": r, "position": [...], "orientation": [w, x, y, z]}, ...]}

A box has its full edge as size. The floor is z = 0, the walls are x = 0, x = lx, y = 0, y = ly. Density 1000.

The answer is one JSON line: processor seconds a step, poses at the end, and of the contacts of the last
step the impulses and the velocities after it, each along the normal and two tangents; an open gap
counts as velocity of the normal, gap/h.
"""

import json
import sys
import time

import numpy as np

DENSITY = 1000.0


def read():
    return json.load(sys.stdin)


def mass_of(body):
    size = body["size"]
    if body["kind"] == "sphere":
        mass = DENSITY * 4.0 / 3.0 * np.pi * size**3
        return mass, 0.4 * mass * size**2
    mass = DENSITY * size**3
    return mass, mass * size**2 / 6.0


def run(step, steps):
    """Processor seconds a step."""
    begin = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - begin) / steps


def tell(**answer):
    print(json.dumps(answer))
