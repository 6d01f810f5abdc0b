"""What the peers of a pile share: the scene that they are given, and what they answer.

The scene is one JSON document on standard input:

    {"h": 0.005, "steps": 200, "patience": 600, "mu": 0.7, "bin": [lx, ly],
     "bodies": [{"kind": "sphere", "size": r, "position": [...], "orientation": [w, x, y, z]}, ...]}

A box has its full edge as size. The floor is z = 0, the walls are x = 0, x = lx, y = 0, y = ly. Density 1000. After so many
seconds of the processor no further step is begun.

The answer is one JSON line: steps that were done, processor seconds a step, poses at the end, and of the contacts of the last
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


class Clock:
    """Counts steps, and tells when the patience of a scene is over."""

    def __init__(self, scene):
        self.most, self.patience = scene["steps"], scene["patience"]
        self.steps, self.begin = 0, time.process_time()

    def tick(self):
        """Whether there is a next step."""
        self.steps += 1
        return self.steps < self.most and time.process_time() - self.begin < self.patience

    def told(self):
        return {"steps": self.steps, "seconds": (time.process_time() - self.begin) / self.steps}


def run(step, scene):
    """What there is to tell of the time that the steps took."""
    clock = Clock(scene)
    step()
    while clock.tick():
        step()
    return clock.told()


def tell(**answer):
    print(json.dumps(answer))
