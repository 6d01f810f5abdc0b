"""A chain of links on pivots in MuJoCo: free bodies, each pivot closed by two points of its axis.

The chain is one JSON document on standard input, the answer one JSON line (see `chains.rs`).
"""

import json
import sys
import time

import mujoco
import numpy as np


def model_of(chain):
    n, length, width, h = chain["links"], chain["length"], chain["width"], chain["h"]
    spec = mujoco.MjSpec()
    spec.option.timestep = h
    spec.option.gravity = [0, 0, -chain["gravity"]]
    for k in range(n):
        body = spec.worldbody.add_body()
        body.name, body.pos = f"link{k}", [(k + 0.5) * length, 0, 0]
        body.add_freejoint()
        geom = body.add_geom()
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.5 * length, 0.5 * width, 0.5 * width]
        geom.mass, geom.contype, geom.conaffinity = chain["mass"], 0, 0
    for k in range(n):
        for side in (-0.5, 0.5):
            hold = spec.add_equality()
            hold.type, hold.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
            hold.name1 = f"link{k}"
            hold.name2 = f"link{k - 1}" if k > 0 else "world"
            point = np.zeros(len(hold.data))
            point[:3] = [-0.5 * length, side * width, 0]
            hold.data = point
    return spec.compile()


def gap(model, data, chain):
    """The largest distance of two points that a pivot holds together."""
    n, length, width = chain["links"], chain["length"], chain["width"]
    poses, turns = data.xipos[1:], data.ximat[1:].reshape(-1, 3, 3)
    most = 0.0
    for k in range(n):
        for side in (-0.5, 0.5):
            own = poses[k] + turns[k] @ [-0.5 * length, side * width, 0]
            other = np.array([0, side * width, 0])
            if k > 0:
                other = poses[k - 1] + turns[k - 1] @ [0.5 * length, side * width, 0]
            most = max(most, np.linalg.norm(own - other))
    return most


def main():
    chain = json.load(sys.stdin)
    model = model_of(chain)
    data = mujoco.MjData(model)
    steps, best, most = chain["steps"], float("inf"), 0.0
    runs, whole = 0, time.process_time()
    while runs < chain["repeats"] or time.process_time() - whole < chain["least"]:
        runs += 1
        mujoco.mj_resetData(model, data)
        begin = time.process_time()
        mujoco.mj_step(model, data, steps)
        best = min(best, (time.process_time() - begin) / steps)
    mujoco.mj_resetData(model, data)
    for _ in range(steps):
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        most = max(most, gap(model, data, chain))
    print(json.dumps({"seconds": best, "gap": most, "tip": data.xipos[-1].tolist()}))


main()
