"""A pile in Siconos, by its own runner and Bullet's contact finding; needs /usr/bin/python3 with python3-siconos."""

import os
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import piles_common as common

answer_to = os.dup(1)
os.dup2(2, 1)  # what Siconos prints goes to stderr

import siconos.kernel as sk
import siconos.numerics as sn
from siconos.io.mechanics_run import MechanicsHdf5Runner
from siconos.mechanics.collision.tools import Contactor
from siconos.mechanics.collision.bullet import SiconosBulletOptions


def describe(io, scene):
    lx, ly = scene["bin"]
    thick = 1.0
    io.add_Newton_impact_friction_nsl("contact", mu=scene["mu"], e=0.0)
    walls = {
        "floor": ((0.5 * lx, 0.5 * ly, -0.5 * thick), (lx + 2, ly + 2, thick)),
        "west": ((-0.5 * thick, 0.5 * ly, 5), (thick, ly + 2, 12)),
        "east": ((lx + 0.5 * thick, 0.5 * ly, 5), (thick, ly + 2, 12)),
        "south": ((0.5 * lx, -0.5 * thick, 5), (lx + 2, thick, 12)),
        "north": ((0.5 * lx, ly + 0.5 * thick, 5), (lx + 2, thick, 12)),
    }
    for name, (place, edges) in walls.items():
        io.add_primitive_shape(name + "_shape", "Box", edges)
        io.add_object(name, [Contactor(name + "_shape")], translation=place)
    shapes = {}
    for k, one in enumerate(scene["bodies"]):
        key = (one["kind"], one["size"])
        if key not in shapes:
            shapes[key] = f"shape{len(shapes)}"
            size = one["size"]
            kind, sizes = ("Sphere", (size,)) if one["kind"] == "sphere" else ("Box", (size,) * 3)
            io.add_primitive_shape(shapes[key], kind, sizes)
        mass, moment = common.mass_of(one)
        io.add_object(f"b{k}", [Contactor(shapes[key])], translation=one["position"],
                      orientation=one["orientation"], velocity=[0] * 6, mass=mass, inertia=[moment] * 3)


class Ended(Exception):
    """There is no next step."""


def main():
    scene = common.read()
    h, steps = scene["h"], scene["steps"]
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "pile.hdf5")
    with MechanicsHdf5Runner(io_filename=path, mode="w") as io:
        describe(io, scene)
    options = sk.solver_options_create(sn.SICONOS_FRICTION_3D_NSGS)
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 10000
    options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-6
    bullet = SiconosBulletOptions()
    bullet.worldScale = 1.0
    clock = common.Clock(scene)

    def after_a_step(io):
        if not clock.tick():
            io.output_dynamic_objects()
            io.output_solver_infos()
            raise Ended

    with MechanicsHdf5Runner(io_filename=path, mode="r+") as io:
        try:
            io.run(with_timer=False, t0=0, T=(steps + 1) * h, h=h, theta=0.50001, Newton_max_iter=1, set_external_forces=None,
                   bullet_options=bullet, solver_options=options, output_frequency=2 * steps, verbose=False,
                   gravity_scale=1, end_run_iteration_hook=after_a_step)
        except Ended:
            pass
    told = clock.told()
    import h5py
    with h5py.File(path) as file:
        dynamic, solver = np.array(file["data/dynamic"]), np.array(file["data/solv"])
    last = dynamic[dynamic[:, 0] == dynamic[:, 0].max()]
    last = last[np.argsort(last[:, 1])]
    # the velocities of its table of contacts are of before where a contact is new, so the residual is the one that it tells itself
    note = f" (its own residual {solver[-1, 2]:.1e} after {solver[-1, 1]:.0f} iterations)"
    line = common.json.dumps({**told, "note": note, "poses": last[:, 2:9].tolist()})
    os.write(answer_to, (line + "\n").encode())


main()
