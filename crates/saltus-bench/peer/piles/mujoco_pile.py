"""A pile in MuJoCo: elliptic cones, the solver of the first argument (newton if none), all else as it is by default."""

import sys

import numpy as np
import mujoco
import piles_common as common


SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}


def model_of(scene, solver):
    spec = mujoco.MjSpec()
    spec.option.solver = SOLVERS[solver]
    spec.option.timestep = scene["h"]
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.gravity = [0, 0, -9.81]
    lx, ly = scene["bin"]
    friction = [scene["mu"], 0.0, 0.0]
    planes = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((lx, 0, 0), (-1, 0, 0)),
              ((0, 0, 0), (0, 1, 0)), ((0, ly, 0), (0, -1, 0))]
    for point, normal in planes:
        geom = spec.worldbody.add_geom()
        geom.type = mujoco.mjtGeom.mjGEOM_PLANE
        geom.size, geom.pos, geom.friction, geom.condim = [0, 0, 1], point, friction, 3
        turn = np.zeros(4)
        mujoco.mju_quatZ2Vec(turn, np.array(normal, float))
        geom.quat = turn
    for one in scene["bodies"]:
        body = spec.worldbody.add_body()
        body.pos, body.quat = one["position"], one["orientation"]
        body.add_freejoint()
        geom = body.add_geom()
        if one["kind"] == "sphere":
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [one["size"], 0, 0]
        else:
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.5 * one["size"]] * 3
        geom.density, geom.friction, geom.condim = common.DENSITY, friction, 3
    spec.memory = 4 << 30
    return spec.compile()


def contacts(model, data, h):
    """Impulses in the contact frames, and the velocities that the last forces led to."""
    reactions, velocities = [], []
    force = np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        mujoco.mj_contactForce(model, data, k, force)
        frame = contact.frame.reshape(3, 3)
        relative = np.zeros(3)
        for geom, sign in ((contact.geom[0], -1.0), (contact.geom[1], 1.0)):
            body = model.geom_bodyid[geom]
            if body == 0:
                continue
            address = model.body_dofadr[body]
            v, omega = data.qvel[address:address + 3], data.qvel[address + 3:address + 6]
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, data.qpos[model.jnt_qposadr[model.body_jntadr[body]] + 3:][:4])
            arm = contact.pos - data.xipos[body]
            relative += sign * (v + np.cross(turn.reshape(3, 3) @ omega, arm))
        reactions.append((force[:3] * h).tolist())
        velocity = frame @ relative
        velocity[0] += max(contact.dist, 0.0) / h
        velocities.append(velocity.tolist())
    return reactions, velocities


def main():
    scene = common.read()
    model = model_of(scene, sys.argv[1] if len(sys.argv) > 1 else "newton")
    data = mujoco.MjData(model)
    told = common.run(lambda: mujoco.mj_step(model, data), scene)
    poses = data.qpos.reshape(-1, 7)
    r, u = contacts(model, data, scene["h"])
    common.tell(**told, poses=poses.tolist(), reactions=r, velocities=u)


main()
