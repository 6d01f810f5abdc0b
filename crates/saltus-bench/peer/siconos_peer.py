#!/usr/bin/python3
"""Times Siconos on the benchmark cases of Saltus and prints one JSON line.

Every case is built through the Python interface of Siconos and advanced by
its own loop (`while s.hasNextEvent(): s.computeOneStep(); s.nextStep()`).
Each run builds the model anew; only the loop is timed. See README.md.
"""

import os

# Must be set before numpy and Siconos load their BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

PLUGINS = tempfile.TemporaryDirectory()  # compiled functions

SPARSE_BLOCK = 1  # NM_SPARSE_BLOCK, the storage NSGS_SBM works on

SOLVERS = {
    "LEMKE": sn.SICONOS_LCP_LEMKE,
    "PGS": sn.SICONOS_LCP_PGS,
    "NSGS_SBM": sn.SICONOS_LCP_NSGS_SBM,
    "CPG": sn.SICONOS_LCP_CPG,
    "PIVOT": sn.SICONOS_LCP_PIVOT,
    "NEWTON_FB": sn.SICONOS_LCP_NEWTON_FB_FBLSA,
    "NEWTON_MINFB": sn.SICONOS_LCP_NEWTON_MIN_FBLSA,
    "NEWTON_MIN": sn.SICONOS_LCP_NEWTONMIN,
}


class Model:
    """A Siconos simulation with what is needed to read it.

    `state` lists the live vectors that make the state, `impulse` those of the
    multipliers. Siconos hands out views of its own memory, so they are taken
    once and follow the simulation.
    """

    def __init__(self, h, sim, lcp, state, impulse, keep):
        self.h = h
        self.sim = sim
        self.lcp = lcp
        self.state = state
        self.impulse = impulse
        self.keep = keep  # Python objects whose memory Siconos points to

    def final_state(self):
        return np.concatenate(self.state).tolist()

    def steps_done(self):
        return round(self.sim.startingTime() / self.h)


# What the case beads tries: (solver, tolerance or None for its default). At its
# default of 1e-10 NEWTON_FB iterates on round-off once n is large.
BEADS_CANDIDATES = [(name, None) for name in SOLVERS] + [("NEWTON_FB", 1e-8)]


def make_lcp(args):
    lcp = sk.LCP(SOLVERS[args.solver])
    if args.solver == "NSGS_SBM":
        lcp.setMStorageType(SPARSE_BLOCK)
    options = lcp.numericsSolverOptions()
    if args.tolerance is not None:
        options.dparam[sn.SICONOS_DPARAM_TOL] = args.tolerance
    if args.max_iterations is not None:
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = args.max_iterations
    return lcp


def make_simulation(args, nsds, h, osi):
    lcp = make_lcp(args)
    discretisation = sk.TimeDiscretisation(0.0, h)
    sim = sk.TimeStepping(nsds, discretisation, osi, lcp)
    if args.newton_linear:
        sim.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    return sim, lcp, discretisation


# --- cases -----------------------------------------------------------------


def bouncing_ball(args, steps):
    """m v' = F + H^T r, 0 <= q_0 - 0.1, Newton impact e = 0.9."""
    h = 5e-3
    radius = 0.1
    mass = np.diag([1.0, 1.0, 0.4 * radius**2])
    weight = np.array([-9.81, 0.0, 0.0])
    ball = sk.LagrangianLinearTIDS([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], mass)
    ball.setFExtPtr(weight)
    relation = sk.LagrangianLinearTIR(np.array([[1.0, 0.0, 0.0]]), [-radius])
    law = sk.NewtonImpactNSL(0.9)
    contact = sk.Interaction(law, relation)
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    nsds.insertDynamicalSystem(ball)
    nsds.link(contact, ball)
    osi = sk.MoreauJeanOSI(0.5)
    sim, lcp, disc = make_simulation(args, nsds, h, osi)
    keep = (ball, mass, weight, relation, law, contact, nsds, osi, disc)
    return Model(h, sim, lcp, [ball.q(), ball.velocity()], [contact.lambda_(1)], keep)


def first_order(args, steps, h, x0, a, b, c, d, source=None):
    """x' = A x + b + B lambda, 0 <= C x + D lambda perp lambda >= 0."""
    system = sk.FirstOrderLinearTIDS(x0, a)
    if source is not None:
        system.setbPtr(source)
    relation = sk.FirstOrderLinearTIR(c, b)
    relation.setDPtr(d)
    law = sk.ComplementarityConditionNSL(len(d))
    interaction = sk.Interaction(law, relation)
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    nsds.insertDynamicalSystem(system)
    nsds.link(interaction, system)
    osi = sk.EulerMoreauOSI(0.5)
    sim, lcp, disc = make_simulation(args, nsds, h, osi)
    keep = (system, a, b, c, d, source, relation, law, interaction, nsds, osi, disc)
    return Model(h, sim, lcp, [system.x()], [interaction.lambda_(0)], keep)


def diode_bridge(args, steps):
    """LC tank loaded through a four-diode bridge: x = (v_L, i_L)."""
    inductance, capacitance, resistance = 1e-2, 1e-6, 1e3
    g = 1.0 / resistance
    a = np.array([[0.0, -1.0 / capacitance], [1.0 / inductance, 0.0]])
    b = np.array([[0.0, 0.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]) / capacitance
    c = np.array([[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    d = np.array(
        [
            [g, g, -1.0, 0.0],
            [g, g, 0.0, -1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ]
    )
    return first_order(args, steps, 1e-6, [10.0, 0.0], a, b, c, d)


def rc_diode_ladder(args, steps):
    """n cells of a resistor R and, to ground, C (voltage u) in series with D
    (voltage v), D shunted by a diode and a resistor S carrying k:
    w_i = u_i + v_i, j_{i-1} = (w_{i-1} - w_i) / R, C u_i' = j_{i-1} - j_i,
    D v_i' = j_{i-1} - j_i - k_i, 0 <= k_i perp S k_i - v_i >= 0."""
    n = args.n
    r, s, cap_u, cap_v, w_0, j_n = 100.0, 10.0, 1e-3, 1e-4, 10.0, 0.0
    # charging current j_{i-1} - j_i = (lap w)_i + src_i, with w = u + v
    lap = (np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1.0), -1)) / r
    lap -= 2.0 * np.eye(n) / r
    lap[-1, -1] = -1.0 / r
    src = np.zeros(n)
    src[0] += w_0 / r
    src[-1] -= j_n
    a = np.block([[lap / cap_u, lap / cap_u], [lap / cap_v, lap / cap_v]])
    source = np.concatenate([src / cap_u, src / cap_v])
    b = np.vstack([np.zeros((n, n)), -np.eye(n) / cap_v])
    c = np.hstack([np.zeros((n, n)), -np.eye(n)])
    d = s * np.eye(n)
    u = np.linspace(2.5, 5.0, n)
    return first_order(
        args, steps, 1e-3, np.concatenate([u, -u]), a, b, c, d, source
    )


def linear_mechanics(steps, h, osi, problem, systems, contacts, keep):
    """Systems and (law, H, b, system) contacts under one problem."""
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    for system in systems:
        nsds.insertDynamicalSystem(system)
    interactions = []
    for law, matrix, offset, system in contacts:
        relation = sk.LagrangianLinearTIR(np.array(matrix), offset)
        interaction = sk.Interaction(law, relation)
        nsds.link(interaction, system)
        interactions.append(interaction)
        keep += [law, relation, interaction]
    disc = sk.TimeDiscretisation(0.0, h)
    sim = sk.TimeStepping(nsds, disc, osi, problem)
    keep += [nsds, osi, disc, problem, systems]
    state = [s.q() for s in systems] + [s.velocity() for s in systems]
    return Model(h, sim, problem, state, [i.lambda_(1) for i in interactions], keep)


def woodpecker(args, steps):
    """M v' + K q = f + H^T r, three contacts with friction in the plane."""
    m_m, m_s, j_m, j_s, c, g = 3e-4, 4.5e-3, 5e-9, 7e-7, 0.0056, 9.81
    l_m, l_g, h_m, h_s, l_s, r_m, r_o = 0.01, 0.015, 0.0058, 0.02, 0.0201, 0.0031, 0.0025
    mass = np.array(
        [
            [m_s + m_m, m_s * l_m, m_s * l_g],
            [m_s * l_m, j_m + m_s * l_m**2, m_s * l_m * l_g],
            [m_s * l_g, m_s * l_m * l_g, j_s + m_s * l_g**2],
        ]
    )
    stiffness = np.array([[0.0, 0.0, 0.0], [0.0, c, -c], [0.0, -c, c]])
    weight = np.array([-(m_s + m_m) * g, -m_s * l_m * g, -m_s * l_g * g])
    toy = sk.LagrangianLinearTIDS([0.0, -0.1036, -0.2788], [-0.3411, 0.0, -7.4583], mass)
    toy.setKPtr(stiffness)
    toy.setFExtPtr(weight)
    contacts = [
        (0.5, [[0, 0, -h_s], [1, l_m, l_g - l_s]], [l_m + l_g - l_s - r_o, 0.0]),
        (0.0, [[0, h_m, 0], [1, r_m, 0]], [r_m - r_o, 0.0]),
        (0.0, [[0, -h_m, 0], [1, r_m, 0]], [r_m - r_o, 0.0]),
    ]
    contacts = [
        (sk.NewtonImpactFrictionNSL(e, 0.0, 0.3, 2), np.array(matrix, float), offset, toy)
        for e, matrix, offset in contacts
    ]
    problem = sk.FrictionContact(2)
    keep = [mass, stiffness, weight]
    osi = sk.MoreauJeanOSI(0.5)
    return linear_mechanics(steps, 2e-5, osi, problem, [toy], contacts, keep)


def friction_oscillator(args, steps):
    """x'' + x = lambda, -lambda in Sgn(x'), as a first-order system under a relay."""
    h = 0.01
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])
    b, c = np.array([[0.0], [1.0]]), np.array([[0.0, 1.0]])
    system = sk.FirstOrderLinearTIDS([12.0, 6.0], a)
    relation = sk.FirstOrderLinearTIR(c, b)
    law = sk.RelayNSL(1, -1.0, 1.0)
    interaction = sk.Interaction(law, relation)
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    nsds.insertDynamicalSystem(system)
    nsds.link(interaction, system)
    osi = sk.EulerMoreauOSI(0.5)
    problem = sk.Relay(sn.SICONOS_RELAY_LEMKE)
    disc = sk.TimeDiscretisation(0.0, h)
    sim = sk.TimeStepping(nsds, disc, osi, problem)
    keep = (system, a, b, c, relation, law, interaction, nsds, osi, disc)
    return Model(h, sim, problem, [system.x()], [interaction.lambda_(0)], keep)


def impacting_bar(args, steps):
    """A bar of 100 linear elements hits a wall with its first node."""
    n, length, section, density, young = 100, 1.0, 3.14e-4, 7800.0, 210e9
    element = length / n
    mass = 4 * np.eye(n + 1) + np.eye(n + 1, k=1) + np.eye(n + 1, k=-1)
    stiffness = 2 * np.eye(n + 1) - np.eye(n + 1, k=1) - np.eye(n + 1, k=-1)
    mass[0, 0] = mass[n, n] = 2.0
    stiffness[0, 0] = stiffness[n, n] = 1.0
    mass *= density * section * element / 6
    stiffness *= young * section / element
    bar = sk.LagrangianLinearTIDS(np.full(n + 1, 5e-5), np.full(n + 1, -0.1), mass)
    bar.setKPtr(stiffness)
    first = np.zeros((1, n + 1))
    first[0, 0] = 1.0
    contacts = [(sk.NewtonImpactNSL(0.0), first, [0.0], bar)]
    keep, osi = [mass, stiffness], sk.MoreauJeanOSI(0.5)
    return linear_mechanics(steps, 2e-7, osi, make_lcp(args), [bar], contacts, keep)


def plugin(name):
    """Compiles plugins/NAME.c; its path without the ending, as Siconos wants it."""
    source = Path(__file__).resolve().parent / "plugins" / f"{name}.c"
    library = Path(PLUGINS.name) / name
    if not library.with_suffix(".so").exists():
        command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", f"{library}.so"]
        subprocess.run([*command, str(source), "-lm"], check=True)
    return str(library)


def lagrangian(library, q0, v0):
    """M(q) v' + F_gyr(q, v) + F_int(t, q, v) = p, from compiled functions."""
    system = sk.LagrangianDS(q0, v0)
    system.setComputeMassFunction(library, "mass")
    system.setComputeFGyrFunction(library, "gyroscopic")
    system.setComputeJacobianFGyrqFunction(library, "gyroscopic_dq")
    system.setComputeJacobianFGyrqDotFunction(library, "gyroscopic_dv")
    system.setComputeFIntFunction(library, "internal")
    system.setComputeJacobianFIntqFunction(library, "internal_dq")
    system.setComputeJacobianFIntqDotFunction(library, "internal_dv")
    return system


def mechanism(args, steps, h, system, law, relations):
    """A nonlinear system with contacts, by Newton's method in every step."""
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    nsds.insertDynamicalSystem(system)
    interactions = [sk.Interaction(law, relation) for relation in relations]
    for interaction in interactions:
        nsds.link(interaction, system)
    osi = sk.MoreauJeanOSI(0.5)
    sim, lcp, disc = make_simulation(args, nsds, h, osi)
    sim.setNewtonTolerance(1e-10)
    sim.setNewtonMaxIteration(20)
    keep = (system, law, relations, interactions, nsds, osi, disc)
    state = [system.q(), system.velocity()]
    return Model(h, sim, lcp, state, [i.lambda_(1) for i in interactions], keep)


def two_link_arm(args, steps):
    """Two rods between stops."""
    arm = lagrangian(plugin("two_link_arm"), [1.2, -0.4], [0.0, 0.0])
    stops = [([1, 0], 0.3), ([-1, 0], 2.8), ([0, 1], 2.0), ([0, -1], 0.5)]
    stops = [sk.LagrangianLinearTIR(np.array([row], float), [offset]) for row, offset in stops]
    return mechanism(args, steps, 1e-3, arm, sk.NewtonImpactNSL(0.0), stops)


def slider_crank(args, steps):
    """A slider-crank mechanism with play: four corners in a guide."""
    library = plugin("slider_crank")
    mechanics = lagrangian(library, [0.0, 0.0, 0.0], [150.0, -75.0, -0.01])
    corners = []
    for k in range(1, 5):
        corner = sk.LagrangianScleronomousR(f"{library}:gap{k}", f"{library}:gap{k}_dq")
        corners.append(corner)
    return mechanism(args, steps, 1e-5, mechanics, sk.NewtonImpactNSL(0.4), corners)


def buck_converter(args, steps):
    """x' = A x + b(t) + B lambda, 0 <= C x + D lambda + e(t) perp lambda >= 0."""
    h, library = 1e-9, plugin("buck_converter")
    r_load, c, l, c11, c21 = 10.0, 22e-6, 10e-6, 20e-12, 1.9e-12
    r11, r12, r21 = 15.58e3, 227.8e3, 5.613e6
    gain, omega, v_i, eps, k = 1e4, 188495400.0, 3.0, 0.1, 10.0
    g = 1 / r11 + 1 / r12 + 1 / r21
    a1, a2, a3 = (1 / r11 + 1 / r12) / g, 1 / (r11 * g), 1 / (r21 * g)
    amplified = gain * omega
    a = np.array(
        [
            [-1 / r_load - (1 / r11 + 1 / r12) * a3, 1, a3 / r11, -a1 / r21, a1 / r21],
            [-1, 0, 0, 0, 0],
            [(1 - a1) / r11, 0, -(1 - a2) / r11, a3 / r11, -a3 / r11],
            [-a1 / r21, 0, a2 / r21, -(1 - a3) / r21, (1 - a3) / r21],
            [-amplified * a1, 0, amplified * a2, amplified * a3, -amplified * a3 - omega],
        ]
    )
    a /= np.array([[c], [l], [c11], [c21], [1.0]])
    b, output, d = np.zeros((5, 12)), np.zeros((12, 5)), np.zeros((12, 12))
    b[1, 11] = 1 / l
    output[0, 4] = output[1, 4] = output[11, 1] = 1
    d[:10, :10] = np.eye(10)
    d[2:6, :2] = [v_i / (2 * eps), -v_i / (2 * eps)]
    d[6:10, :2] = [-v_i / (2 * eps), v_i / (2 * eps)]
    d[4:6, 11] = d[10, 11] = -1
    d[8:10, 11] = d[11, 10] = 1
    s, t = k * (np.sqrt(2) - 1) / 2, k * (2 - np.sqrt(2))
    d[11, 2:10] = [-s, -t, s, t, s, t, -s, -t]

    system = sk.FirstOrderLinearDS(np.zeros(5), a)
    system.setComputebFunction(library, "sources")
    relation = sk.FirstOrderLinearR(output, b)
    relation.setDPtr(d)
    relation.setComputeEFunction(library, "offsets")
    law = sk.ComplementarityConditionNSL(12)
    interaction = sk.Interaction(law, relation)
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * h)
    nsds.insertDynamicalSystem(system)
    nsds.link(interaction, system)
    osi = sk.EulerMoreauOSI(1.0)
    sim, lcp, disc = make_simulation(args, nsds, h, osi)
    keep = (system, a, b, output, d, relation, law, interaction, nsds, osi, disc)
    return Model(h, sim, lcp, [system.x()], [interaction.lambda_(0)], keep)


BEADS_H, BEADS_G, BEADS_R = 1e-3, 9.81, 0.1


def beads(args, steps):
    """A column of n unit beads, each its own system, touching and at rest."""
    nsds = sk.NonSmoothDynamicalSystem(0.0, steps * BEADS_H)
    keep, systems, contacts = [nsds], [], []
    for i in range(args.n):
        mass, weight = np.eye(1), np.array([-BEADS_G])
        bead = sk.LagrangianLinearTIDS([BEADS_R * (2 * i + 1)], [0.0], mass)
        bead.setFExtPtr(weight)
        nsds.insertDynamicalSystem(bead)
        law = sk.NewtonImpactNSL(0.9)
        if i == 0:
            relation = sk.LagrangianLinearTIR(np.array([[1.0]]), [-BEADS_R])
            contact = sk.Interaction(law, relation)
            nsds.link(contact, bead)
        else:
            relation = sk.LagrangianLinearTIR(np.array([[-1.0, 1.0]]), [-2 * BEADS_R])
            contact = sk.Interaction(law, relation)
            nsds.link(contact, systems[-1], bead)
        systems.append(bead)
        contacts.append(contact)
        keep += [mass, weight, law, relation]
    osi = sk.MoreauJeanOSI(0.5)
    # Round-off in the gaps must not switch a resting contact off.
    osi.setConstraintActivationThreshold(1e-6)
    sim, lcp, disc = make_simulation(args, nsds, BEADS_H, osi)
    keep += systems + contacts + [osi, disc]
    state = [bead.q() for bead in systems] + [bead.velocity() for bead in systems]
    return Model(BEADS_H, sim, lcp, state, [c.lambda_(1) for c in contacts], keep)


# name: (builder, default steps, default size)
CASES = {
    "bouncing-ball": (bouncing_ball, 100_000, 1),
    "diode-bridge": (diode_bridge, 20_000, 1),
    "beads": (beads, 100, 1000),
    "rc-diode-ladder": (rc_diode_ladder, 1000, 50),
    "woodpecker": (woodpecker, 15_000, 1),
    "friction-oscillator": (friction_oscillator, 5000, 1),
    "impacting-bar": (impacting_bar, 5000, 1),
    "two-link-arm": (two_link_arm, 3000, 1),
    "slider-crank": (slider_crank, 5000, 1),
    "buck-converter": (buck_converter, 10_000, 1),
}


# --- timing ----------------------------------------------------------------


def bare_loop(model):
    s = model.sim
    wall, cpu = time.perf_counter(), time.process_time()
    while s.hasNextEvent():
        s.computeOneStep()
        s.nextStep()
    return time.perf_counter() - wall, time.process_time() - cpu


def recording_loop(model, steps):
    """The same loop, storing state and multipliers of every step."""
    s = model.sim
    state, impulse = model.state, model.impulse
    # one spare row: Siconos decides by comparing times when to stop
    states = np.empty((steps + 2, sum(len(v) for v in state)))
    impulses = np.zeros((steps + 2, sum(len(v) for v in impulse)))
    np.concatenate(state, out=states[0])
    k = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while s.hasNextEvent():
        s.computeOneStep()
        k += 1
        np.concatenate(state, out=states[k])
        np.concatenate(impulse, out=impulses[k])
        s.nextStep()
    elapsed = time.perf_counter() - wall, time.process_time() - cpu
    return elapsed, states[: k + 1], impulses[: k + 1]


def measure(args, build, steps):
    result = {"case": args.case, "n": args.n, "solver": args.solver}
    wall, cpu = [], []
    for _ in range(args.repeat):
        model = build(args, steps)
        w, c = bare_loop(model)
        done = model.steps_done()
        wall.append(w / done)
        cpu.append(c / done)
    result["steps"] = done
    result["seconds_per_step"] = statistics.median(wall)
    result["cpu_seconds_per_step"] = statistics.median(cpu)
    result["repeats"] = wall
    if args.record or args.save:
        wall, cpu = [], []
        for _ in range(args.repeat):
            recorded = build(args, steps)
            (w, c), states, impulses = recording_loop(recorded, steps)
            wall.append(w / (len(states) - 1))
            cpu.append(c / (len(states) - 1))
        result["seconds_per_step_recording"] = statistics.median(wall)
        result["cpu_seconds_per_step_recording"] = statistics.median(cpu)
        result["repeats_recording"] = wall
        assert recorded.final_state() == model.final_state()
        if args.save:
            t = np.arange(len(states)) * model.h
            np.savez(args.save, t=t, state=states, impulse=impulses)
    result["final_state"] = model.final_state()
    return result


# --- beads: which solver really solves, and which is the fastest ------------


def beads_check(args, steps):
    """Steps the column, timing each step and checking its impulses."""
    model = beads(args, steps)
    s = model.sim
    exact = (args.n - np.arange(args.n)) * BEADS_G * BEADS_H
    options = model.lcp.numericsSolverOptions()
    times, iterations, worst, active = [], [], 0.0, args.n
    while s.hasNextEvent():
        t = time.perf_counter()
        s.computeOneStep()
        s.nextStep()
        times.append(time.perf_counter() - t)
        iterations.append(int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]))
        error = abs(np.concatenate(model.impulse) - exact).max() / exact[0]
        worst = max(worst, float(error))
        active = min(active, model.lcp.getSizeOutput())
        if sum(times) > args.budget:
            break  # the slow ones stop after a few steps
    return {
        "solver": args.solver,
        "steps": len(times),
        "seconds_per_step": sum(times) / len(times),
        "first_step_seconds": times[0],
        "later_step_seconds": statistics.median(times[1:]) if times[1:] else None,
        "impulse_error": worst,
        "active_contacts": active,
        "solved": worst < 1e-6 and active == args.n,
        "tolerance": float(options.dparam[sn.SICONOS_DPARAM_TOL]),
        "iterations_first_step": iterations[0],
        "iterations_later_mean": statistics.mean(iterations[1:] or [0]),
    }


def beads_alternative(args, solver, tolerance, steps):
    """Runs `beads_check` in a process of its own: some solvers abort."""
    command = [sys.executable, os.path.abspath(__file__), "beads", "--check"]
    command += ["--solver", solver, "--n", str(args.n), "--steps", str(steps)]
    command += ["--budget", str(args.budget)]
    if tolerance is not None:
        command += ["--tolerance", str(tolerance)]
    if args.max_iterations is not None:
        command += ["--max-iterations", str(args.max_iterations)]
    if args.newton_linear:
        command.append("--newton-linear")
    failed = {"solver": solver, "tolerance": tolerance, "solved": False}
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=4 * args.budget + 30
        )
    except subprocess.TimeoutExpired:
        return {**failed, "failure": "time limit"}
    if run.returncode != 0:
        reason = f"exit {run.returncode}: {run.stderr.strip()[-200:]}"
        return {**failed, "failure": reason}
    row = json.loads(run.stdout)
    row["solver_warnings"] = run.stderr.count("Non smooth solver warning")
    return row


def beads_all(args, steps):
    rows = []
    for solver, tolerance in BEADS_CANDIDATES:
        row = beads_alternative(args, solver, args.tolerance or tolerance, steps)
        rows.append(row)
        print(row, file=sys.stderr)
    solved = [row for row in rows if row["solved"]]
    if not solved:
        return {"case": args.case, "n": args.n, "solver": None, "alternatives": rows}
    best = min(solved, key=lambda row: row["seconds_per_step"])
    args.solver, args.tolerance = best["solver"], best["tolerance"]
    result = measure(args, beads, steps)
    for key in ("tolerance", "first_step_seconds", "later_step_seconds"):
        result[key] = best[key]
    result["alternatives"] = rows
    return result


# --- command line ------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--steps", type=int, help="number of time steps")
    parser.add_argument("--n", type=int, help="beads, or cells of the ladder")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs (median)")
    parser.add_argument(
        "--record", action="store_true", help="also time a loop that records"
    )
    parser.add_argument(
        "--rounds", action="store_true", help="one timed run for every line of the input"
    )
    parser.add_argument("--save", metavar="FILE.npz", help="save what was recorded")
    parser.add_argument(
        "--solver",
        choices=SOLVERS,
        help="LCP solver (default LEMKE; beads: the fastest that solves)",
    )
    parser.add_argument("--tolerance", type=float, help="of the LCP solver")
    parser.add_argument("--max-iterations", type=int, help="of the LCP solver")
    parser.add_argument(
        "--newton-linear",
        action="store_true",
        help="set SICONOS_TS_LINEAR (one pass, no Newton test); default: as Siconos",
    )
    parser.add_argument(
        "--budget", type=float, default=30.0, help="beads: seconds per solver tried"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="beads: check the impulses of one --solver step by step",
    )
    args = parser.parse_args()
    if args.check and (args.case != "beads" or args.solver is None):
        parser.error("--check needs the case beads and --solver")
    return args


def main():
    args = parse_arguments()
    build, default_steps, default_n = CASES[args.case]
    steps = args.steps or default_steps
    args.n = args.n or default_n

    # What Siconos prints goes to stderr; only the JSON line goes to stdout.
    sys.stdout.flush()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    if args.rounds:
        args.solver, args.repeat = args.solver or "LEMKE", 1
        for _ in sys.stdin:
            print(json.dumps(measure(args, build, steps)), file=out, flush=True)
        return
    if args.check:
        result = beads_check(args, steps)
    elif args.case == "beads" and args.solver is None:
        result = beads_all(args, steps)
    else:
        args.solver = args.solver or "LEMKE"
        result = measure(args, build, steps)
    if not args.check:
        result["load_average"] = os.getloadavg()[0]
    print(json.dumps(result), file=out, flush=True)


if __name__ == "__main__":
    main()
