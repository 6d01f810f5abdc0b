"""Makes the scenes `siconos-*.hdf5` (but `siconos-scene.hdf5`) with Siconos 4.4.0, and its run `siconos-whole.csv`.

    /usr/bin/python3 siconos_scenes.py
"""
import json
import os
from math import pi, hypot

import h5py
import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn
from siconos.io.mechanics_run import MechanicsHdf5Runner
from siconos.mechanics.collision.tools import Contactor

HALF = 0.5**0.5
TO_X = [HALF, 0, 0, HALF]  # y to −x
UP = [HALF, HALF, 0, 0]  # y to z
TETRAHEDRON = """<?xml version="1.0"?>
<VTKFile type="PolyData" version="0.1"><PolyData><Piece NumberOfPoints="4" NumberOfPolys="4">
<Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>
<Polys><DataArray type="Int32" Name="connectivity" format="ascii">0 2 1 0 1 3 1 2 3 0 3 2</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">3 6 9 12</DataArray></Polys>
</Piece></PolyData></VTKFile>"""


def whole(file):
    """A pendulum hits a ball that rolls into a brick; a lid and a drum slide; a marble rolls down a slope."""
    with MechanicsHdf5Runner(io_filename=file, mode="w", verbose=False) as io:
        io.add_primitive_shape("Ground", "Box", (40, 40, 1.0))
        io.add_primitive_shape("Ball", "Sphere", (0.2,))
        io.add_primitive_shape("Brick", "Box", (0.4, 0.4, 0.4))
        io.add_primitive_shape("Lid", "Box", (0.3, 0.3, 0.1))
        io.add_primitive_shape("Rod", "Capsule", (0.05, 2.0))
        io.add_primitive_shape("Drum", "Cylinder", (0.2, 0.3))
        slope = np.array([[-0.3 * i] * 3 for i in range(5)])
        io.add_height_map("Slope", slope, (4.0, 2.0), insideMargin=0.0)
        io.add_Newton_impact_friction_nsl("contact", mu=0.3, e=0.0)
        io.add_object("ground", [Contactor("Ground")], translation=[0, 0, -0.5])
        io.add_object("slope", [Contactor("Slope")], translation=[0, 4, 2])
        io.add_object("bob", [Contactor("Rod")], translation=[-0.5, 0, 1.25], orientation=TO_X,
                      mass=1.0, inertia=[0.1, 0.01, 0.1])
        io.add_object("ball", [Contactor("Ball")], translation=[0.3, 0, 0.2], mass=1.0, inertia=[0.016] * 3)
        io.add_object("brick", [Contactor("Brick")], translation=[1.0, 0, 0.2], mass=1.0, inertia=[0.027] * 3)
        io.add_object("lid", [Contactor("Lid")], translation=[-0.5, -2, 0.05], velocity=[1.5, 0, 0, 0, 0, 0],
                      mass=0.5, inertia=[0.005, 0.005, 0.008])
        io.add_object("drum", [Contactor("Drum")], translation=[-1.5, 1.0, 0.15], orientation=UP,
                      velocity=[-1.0, 0, 0, 0, 0, 0], mass=2.0, inertia=[0.035, 0.04, 0.035])
        up = np.array([0.3, 0, 1]) / hypot(0.3, 1)
        io.add_object("marble", [Contactor("Ball")], translation=list(np.array([-1.0, 4.0, 1.7]) + 0.2 * up),
                      mass=1.0, inertia=[0.016] * 3)
        io.add_joint("hinge", "bob", points=[[0, 0, 1.25]], axes=[[0, 1, 0]], joint_class="PivotJointR")


def run(file, h):
    """Positions by body, every 0.1 s of the first second."""
    options = sk.solver_options_create(sn.SICONOS_GENERIC_MECHANICAL_NSGS)
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 1000
    options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-8
    every = round(0.1 / h)
    with MechanicsHdf5Runner(io_filename=file, mode="r+", verbose=False) as io:
        io.run(h=h, T=1.0, theta=0.5, output_frequency=every, solver_options=options,
               verbose=False, verbose_progress=False)
    with h5py.File(file, "r") as data:
        names = {one.attrs["id"]: name for name, one in data["data/input"].items()}
        rows = np.array(data["data/dynamic"])
    rows = [row for row in rows if row[0] > 0.05]
    return [(round(float(row[0]), 1), names[int(row[1])], row[2:5]) for row in rows]


def parts(file):
    """One of everything in space."""
    with MechanicsHdf5Runner(io_filename=file, mode="w", verbose=False) as io:
        io.add_primitive_shape("Ball", "Sphere", (0.25,))
        io.add_primitive_shape("Rod", "Capsule", (0.05, 2.0))
        io.add_primitive_shape("Drum", "Cylinder", (0.25, 0.5))
        io.add_primitive_shape("Hat", "Cone", (0.25, 1.0))
        io.add_primitive_shape("Floor", "Plane", (0,))
        io.add_height_map("Hill", np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), (4.0, 2.0))
        io.add_mesh_from_string("Rock", TETRAHEDRON, scale=0.5)
        io.add_convex_shape("Block", np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]))
        io.add_primitive_shape("Blob", "Torus", (1.0, 0.25))
        io.add_Newton_impact_friction_nsl("slide", mu=0.25, e=0.5, collision_group1=0, collision_group2=1)
        io.add_Newton_impact_rolling_friction_nsl("roll", mu=0.5, mu_r=0.125, collision_group1=1, collision_group2=1)
        io.add_Newton_impact_nsl("stop", e=0.75)
        io.add_relay_nsl("rub", -0.25, 0.25)
        io.add_relay_nsl("rub one way", 0.0, 0.25)
        io.add_object("floor", [Contactor("Floor")], translation=[0, 0, -8], time_of_death=3.0)
        io.add_object("hill", [Contactor("Hill", collision_group=1)], translation=[0, 0, -4])
        common = dict(mass=2.0, inertia=[0.5, 0.25, 0.375])
        io.add_object("ball", [Contactor("Ball")], translation=[0, 0, 0.5], time_of_birth=0.25, time_of_death=0.75, **common)
        io.add_object("rod", [Contactor("Rod", collision_group=1)], translation=[1, 0, 0], **common)
        io.add_object("drum", [Contactor("Drum"), Contactor("Ball", instance_name="seen", collision_group=-1)],
                      translation=[2, 0, 0], **common)
        io.add_object("hat", [Contactor("Hat")], translation=[3, 0, 0], **common)
        io.add_object("rock", [Contactor("Rock")], translation=[4, 0, 0], **common)
        io.add_object("block", [Contactor("Block"), Contactor("Blob")], translation=[5, 0, 0], **common)
        io.add_object("table", [Contactor("Ball")], translation=[6, 0, 1], **common)
        io.add_object("flat", [Contactor("Ball")], translation=[7, 0, 1], **common)
        io.add_object("pushed", [Contactor("Ball")], translation=[8, 0, 1], **common)
        prismatic = dict(points=[], axes=[[0, 0, 1]], joint_class="PrismaticJointR")
        io.add_joint("slide of rod", "rod", stops=[[0, 0.5, -1], [0, -0.25, 1]], nslaws="stop", friction="rub", **prismatic)
        io.add_joint("slide of drum", "drum", friction="rub one way", **prismatic)
        io.add_joint("screw", "hat", points=[[3, 0, 0]], axes=[[0, 0, 1]], joint_class="CylindricalJointR",
                     coupled=[(0, 1, 4.0)])
        io.add_joint("pin", "rock", "block", points=[[4.5, 0, 0]], axes=[], joint_class="KneeJointR", stops=[[0, 1.0, 1]])
        # written by hand: 4.4 checks the points and axes of couplers, which have none
        coupler = io.joints().create_dataset("gear", (0,))
        coupler.attrs.update(type="CouplerJointR", object1="rod", object2="drum", coupled=np.array([[0.0, 0.0, 2.0]]),
                             references=np.array(["slide of rod", "slide of drum"], dtype="S"))
        shake = dict(a=[0, 0, 0.5, 0, 0, 0], b=[0, 0, 2.0, 0, 0, 0], omega=[4.0] * 6, phi=[0.0] * 6)
        io.add_boundary_condition("shake", "table", indices=[0, 1, 2, 3, 4, 5], **shake)
        io.add_boundary_condition("upright", "flat", indices=[1, 3, 5], bc_class="FixedBC")
        io.add_boundary_condition("push", "pushed", indices=[0], bc_class="BoundaryCondition", v=[1.0])
        # as later versions store how a scene was run; they have Frémond's law, too
        law = io.nonsmooth_laws().create_dataset("fremond", (0,))
        law.attrs.update(type="FremondImpactFrictionNSL", mu=0.5, e=0.25, gid1=0, gid2=0)
        law = io.nonsmooth_laws().create_dataset("glue", (0,))
        law.attrs.update(type="BinaryCohesiveNSL", mu=0.5, e=0.25, gid1=2, gid2=0)
        stored = dict(h=1e-3, T=2.0, t0=0, theta=0.5, gravity_scale=2.0, output_frequency=10, controller=None,
                      set_external_forces="wind(name serialized)", constraint_activation_threshold=0.0)
        options = io._data.create_dataset("siconos_mechanics_run_options", (0, 1), maxshape=(None, 1))
        options.attrs["options"] = json.dumps(stored)


def plane(file):
    """One of everything in the plane."""
    with MechanicsHdf5Runner(io_filename=file, mode="w", verbose=False) as io:
        io.add_primitive_shape("Coin", "Disk", (0.25,))
        io.add_primitive_shape("Card", "Box2d", (1.0, 0.5))
        io.add_convex_shape("Wedge", np.array([[0, 0], [1, 1], [1, 0], [0.5, 0.25]]))
        # of the native shapes of later versions
        for name, primitive, numbers in [("Ground", "Line", (0.0, 2.0, 4.0)), ("Wall", "Segment", (3, 0, 3, 1)),
                                         ("Ring", "Circle", (5.0,))]:
            shape = io._ref.create_dataset(name, (1, len(numbers)), data=[numbers])
            shape.attrs.update(id=9, type="primitive", primitive=primitive)
        io.add_Newton_impact_rolling_friction_nsl("contact", mu=0.5, mu_r=0.125)
        for name in ["ground", "wall", "ring"]:
            io.add_object(name, [Contactor(name.capitalize())], translation=[0, 0])
        io.add_object("coin", [Contactor("Coin")], translation=[0, 1], orientation=[0.5], velocity=[1, 2, 3],
                      mass=2.0, inertia=0.5)
        io.add_object("card", [Contactor("Card")], translation=[1, 1], mass=2.0, inertia=0.5)
        io.add_object("wedge", [Contactor("Wedge")], translation=[2, 1], mass=2.0, inertia=0.5)


if __name__ == "__main__":
    parts("siconos-parts.hdf5")
    plane("siconos-plane.hdf5")
    whole("siconos-whole.hdf5")
    with open("siconos-whole.csv", "w") as table:
        print("h,time,body,x,y,z", file=table)
        for h in [1e-3, 5e-4]:
            whole("run.hdf5")
            for time, name, [x, y, z] in run("run.hdf5", h):
                print(f"{h},{time},{name},{x:.6f},{y:.6f},{z:.6f}", file=table)
        os.remove("run.hdf5")
