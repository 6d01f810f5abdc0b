"""A pile in Bullet, by its Python package, with its defaults but for the step."""

import sys

import numpy as np
import pybullet as bullet
import piles_common as common


def main():
    scene = common.read()
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    h, mu, (lx, ly) = scene["h"], scene["mu"], scene["bin"]
    bullet.connect(bullet.DIRECT)
    bullet.setGravity(0, 0, -9.81)
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=h, numSubSteps=0, numSolverIterations=iterations, deterministicOverlappingPairs=1)
    planes = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((lx, 0, 0), (-1, 0, 0)),
              ((0, 0, 0), (0, 1, 0)), ((0, ly, 0), (0, -1, 0))]
    for point, normal in planes:
        shape = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=normal)
        plane = bullet.createMultiBody(0, shape, basePosition=point)
        # the friction of a contact is the product of those of its bodies
        bullet.changeDynamics(plane, -1, lateralFriction=np.sqrt(mu), restitution=0)
    shapes, bodies = {}, []
    for one in scene["bodies"]:
        key = (one["kind"], one["size"])
        if key not in shapes:
            shapes[key] = (
                bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=one["size"])
                if one["kind"] == "sphere"
                else bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=[0.5 * one["size"]] * 3))
        mass, _ = common.mass_of(one)
        w, x, y, z = one["orientation"]
        body = bullet.createMultiBody(mass, shapes[key], basePosition=one["position"], baseOrientation=(x, y, z, w))
        bullet.changeDynamics(body, -1, lateralFriction=np.sqrt(mu), restitution=0, linearDamping=0,
                              angularDamping=0, rollingFriction=0, spinningFriction=0,
                              activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING)
        bodies.append(body)
    told = common.run(bullet.stepSimulation, scene)

    poses, motion = [], {}
    for body in bodies:
        position, (x, y, z, w) = bullet.getBasePositionAndOrientation(body)
        poses.append([*position, w, x, y, z])
        motion[body] = (np.array(position), *map(np.array, bullet.getBaseVelocity(body)))

    def velocity(body, point):
        if body not in motion:
            return np.zeros(3)
        position, v, omega = motion[body]
        return v + np.cross(omega, np.array(point) - position)

    reactions, velocities = [], []
    for point in bullet.getContactPoints():
        first, second, on_first, on_second, normal = point[1], point[2], point[5], point[6], np.array(point[7])
        force, along1, direction1, along2, direction2 = point[9:14]
        if force == 0.0 and point[8] > 0.0:
            continue
        c = velocity(first, on_first) - velocity(second, on_second)
        t1, t2 = np.array(direction1), np.array(direction2)
        reactions.append([force * h, along1 * h, along2 * h])
        velocities.append([normal @ c + max(point[8], 0.0) / h, t1 @ c, t2 @ c])
    common.tell(**told, poses=poses, reactions=reactions, velocities=velocities)


main()
