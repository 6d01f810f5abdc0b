"""The models of the reference runs, built in Python: bit by bit the runs of the model files."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import saltus as sl

ROOT = Path(__file__).parents[2]
G = 9.81


def bouncing_ball(radius: float = 0.1) -> sl.Model:
    model = sl.Model("bouncing ball")
    system = sl.LagrangianLinear([1, 0, 0], [0, 0, 0], np.diag([1, 1, 2 / 5 * 0.1**2]), F_ext=[-G, 0, 0])
    ball = model.add(system, name="ball")
    relation = sl.LagrangianLinearRelation([[1, 0, 0]], b=[-radius])
    model.connect(relation, sl.NewtonImpact(0.9), ball, name="floor")
    return model


def column_of_beads(n: int = 10) -> sl.Model:
    model = sl.Model("column of beads")
    beads = [
        model.add(sl.LagrangianLinear([1 + 0.25 * i], [0], [[1]], F_ext=[-G]), name=f"bead{i}")
        for i in range(n)
    ]
    law = sl.NewtonImpact(0.9)
    model.connect(sl.LagrangianLinearRelation([[1]], b=[-0.1]), law, beads[0], name="floor")
    for i in range(n - 1):
        gap = sl.LagrangianLinearRelation([[-1, 1]], b=[-2 * 0.1])
        model.connect(gap, law, beads[i], beads[i + 1], name=f"contact{i}")
    return model


def tank(title: str) -> tuple[sl.Model, sl.SystemHandle]:
    model = sl.Model(title)
    L, C = 1e-2, 1e-6
    return model, model.add(sl.FirstOrderLinear([10, 0], [[0, -1 / C], [1 / L, 0]]), name="tank")


def half_wave_rectifier() -> sl.Model:
    model, circuit = tank("RLC circuit with a half-wave rectifier")
    relation = sl.FirstOrderLinearRelation([[-1, 0]], [[-1 / 1e-6], [0]], D=[[1e3]])
    model.connect(relation, sl.Complementarity(), circuit, name="diode")
    return model


def diode_bridge() -> sl.Model:
    model, circuit = tank("diode bridge")
    C, R = 1e-6, 1e3
    relation = sl.FirstOrderLinearRelation(
        C=[[0, 0], [0, 0], [-1, 0], [1, 0]],
        B=[[0, 0, -1 / C, 1 / C], [0, 0, 0, 0]],
        D=[[1 / R, 1 / R, -1, 0], [1 / R, 1 / R, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]],
    )
    model.connect(relation, sl.Complementarity(), circuit, name="bridge")
    return model


def woodpecker() -> sl.Model:
    r_O, r_M, h_M, l_M, l_G = 0.0025, 0.0031, 0.0058, 0.010, 0.015
    h_S, l_S, m_M, m_S, J_M, J_S, c, mu = 0.02, 0.0201, 3e-4, 4.5e-3, 5e-9, 7e-7, 0.0056, 0.3
    model = sl.Model("woodpecker")
    system = sl.LagrangianLinear(
        [0, -0.1036, -0.2788],
        [-0.3411, 0, -7.4583],
        M=[
            [m_S + m_M, m_S * l_M, m_S * l_G],
            [m_S * l_M, J_M + m_S * (l_M * l_M), m_S * l_M * l_G],
            [m_S * l_G, m_S * l_M * l_G, J_S + m_S * (l_G * l_G)],
        ],
        K=[[0, 0, 0], [0, c, -c], [0, -c, c]],
        F_ext=[-(m_S + m_M) * G, -m_S * l_M * G, -m_S * l_G * G],
    )
    toy = model.add(system, name="toy")
    contacts = {
        "beak": ([[0, 0, -h_S], [1, l_M, l_G - l_S]], [l_M + l_G - l_S - r_O, 0], 0.5),
        "lower": ([[0, h_M, 0], [1, r_M, 0]], [r_M - r_O, 0], 0),
        "upper": ([[0, -h_M, 0], [1, r_M, 0]], [r_M - r_O, 0], 0),
    }
    for name, (H, b, e) in contacts.items():
        law = sl.ImpactFriction(e=e, mu=mu)
        model.connect(sl.LagrangianLinearRelation(H, b=b), law, toy, name=name)
    return model


def sliding_mode() -> sl.Model:
    model = sl.Model("sliding mode")
    plant = model.add(sl.FirstOrderLinear([0, 2.21], [[0, 1], [0, -1]]), name="plant")
    relation = sl.FirstOrderLinearRelation([[1, 1]], [[0], [1]])
    model.connect(relation, sl.Relay(-1, 1), plant, name="surface")
    return model


def sign() -> sl.Model:
    model = sl.Model("sign function")
    point = model.add(sl.FirstOrderLinear([1.01], [[0]]), name="point")
    model.connect(sl.FirstOrderLinearRelation([[1]], [[1]]), sl.Relay(), point, name="sign")
    return model


def square_spiral(start: tuple[float, float, float] = (1, 1, 1)) -> sl.Model:
    model = sl.Model("Filippov's square spiral")
    point = model.add(sl.FirstOrderLinear(start, np.zeros((3, 3))), name="point")
    relation = sl.FirstOrderLinearRelation([[1, 0, 0], [0, 1, 0]], [[1, -2], [2, 1], [-1, -1]])
    model.connect(relation, sl.Relay(), point, name="signs")
    return model


def lzc_circuit() -> sl.Model:
    model = sl.Model("LZC circuit")
    C = 1 / ((2 * math.pi) * (2 * math.pi))
    circuit = model.add(sl.FirstOrderLinear([17, 0], [[0, 1 / C], [-1, 0]]), name="circuit")
    relation = sl.FirstOrderLinearRelation([[0, 1]], [[0], [1]])
    model.connect(relation, sl.Relay(-5, 0), circuit, name="zener")
    return model


def rc_diode_ladder(n: int = 10) -> sl.Model:
    R, S, C, D, w0 = 100.0, 10.0, 1e-3, 1e-4, 10.0
    model = sl.Model("RC ladder with diodes")
    cells = -2 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    cells[-1, -1] = -1
    cells = cells / R
    A = np.block([[cells / C, cells / C], [cells / D, cells / D]])
    first = np.zeros(n)
    first[0] = w0 / R
    u = 2.5 + np.arange(n) * (2.5 / max(n - 1, 1))
    b = np.concatenate([first / C, first / D])
    ladder = model.add(sl.FirstOrderLinear(np.concatenate([u, -u]), A, b=b), name="ladder")
    nothing, one = np.zeros((n, n)), np.eye(n)
    relation = sl.FirstOrderLinearRelation(
        C=np.hstack([nothing, -one]), B=np.vstack([nothing, -one / D]), D=S * one
    )
    model.connect(relation, sl.Complementarity(), ladder, name="diodes")
    return model


def power_converter() -> sl.Model:
    Lf, Cf, Lr, Cr, R = 0.4e-3, 2.2e-6, 150e-6, 68e-9, 33.0
    model = sl.Model("parallel resonant converter", parameters={"f": 55e3, "Lr": Lr})
    system = sl.FirstOrderLinear(
        [0, 0, 0, 0],
        [[0, -1 / Lr, 0, 0], [1 / Cr, 0, 0, 0], [0, 0, 0, -1 / Lf], [0, 0, 1 / Cf, -1 / (R * Cf)]],
        b=["sign(sin(2*pi*f*t))/Lr", 0, 0, 0],
    )
    circuit = model.add(system, name="circuit")
    relation = sl.FirstOrderLinearRelation(
        C=[[0, -1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]],
        B=[[0, 0, 0, 0], [-1 / Cr, 1 / Cr, 0, 0], [0, 0, 1 / Lf, 1 / Lf], [0, 0, 0, 0]],
        D=[[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]],
    )
    model.connect(relation, sl.Complementarity(), circuit, name="bridge")
    return model


def buck_converter() -> sl.Model:
    V_I, V_ref, settle, R_load, C, L = 3.0, 1.8, 100e-6, 10.0, 22e-6, 10e-6
    R11, R12, R21, C11, C21 = 15.58e3, 227.8e3, 5.613e6, 20e-12, 1.9e-12
    gain, omega, eps, V_tn, V_tp, K, V_d = 1e4, 188495400.0, 0.1, 2.0, -2.0, 10.0, 0.8
    c1, c2 = K * (math.sqrt(2) - 1) / 2, K * (2 - math.sqrt(2))
    conductance = 1 / R11 + 1 / R12 + 1 / R21
    a1, a2, a3 = (1 / R11 + 1 / R12) / conductance, 1 / (R11 * conductance), 1 / (R21 * conductance)
    ramp = {"high": 2.25, "rise": 1.655e-6, "fall": 10e-9, "hold": 1e-9, "period": 1.6667e-6}
    model = sl.Model(
        "buck converter",
        parameters={
            "gain": gain, "omega": omega, "V_ref": V_ref, "settle": settle, "eps": eps, **ramp
        },
    )  # fmt: skip
    circuit = model.add(
        sl.FirstOrderLinear(
            [0, 0, 0, 0, 0],
            [
                [
                    -(1 / R_load + (1 / R11 + 1 / R12) * a3) / C, 1 / C,
                    a3 / (R11 * C), -a1 / (R21 * C), a1 / (R21 * C),
                ],
                [-1 / L, 0, 0, 0, 0],
                [
                    (1 - a1) / (R11 * C11), 0,
                    -(1 - a2) / (R11 * C11), a3 / (R11 * C11), -a3 / (R11 * C11),
                ],
                [
                    -a1 / (R21 * C21), 0,
                    a2 / (R21 * C21), -(1 - a3) / (R21 * C21), (1 - a3) / (R21 * C21),
                ],
                [
                    -gain * omega * a1, 0,
                    gain * omega * a2, gain * omega * a3, -gain * omega * a3 - omega,
                ],
            ],
            b=[0, -V_d / L, 0, 0, "gain*omega*V_ref*min(t/settle, 1)"],
        ),
        name="circuit",
    )  # fmt: skip
    B, output, D = np.zeros((5, 12)), np.zeros((12, 5)), np.zeros((12, 12))
    B[1, 11] = 1 / L
    output[0, 4] = output[1, 4] = output[11, 1] = 1
    D[:10, :10] = np.eye(10)
    step = V_I / (2 * eps)
    D[2:6, 0], D[2:6, 1], D[6:10, 0], D[6:10, 1] = step, -step, -step, step
    D[4:6, 11], D[8:10, 11], D[10, 11] = -1, 1, -1
    D[11, 2:11] = [-c1, -c2, c1, c2, c1, c2, -c1, -c2, 1]
    wave = "table(mod(t, period), 0, 0, rise, high, rise + hold, high, rise + hold + fall, 0, period, 0)"
    e = [
        f"-eps - {wave}", f"eps - {wave}", -V_I - V_tp, -V_I - V_tp + 1 / 2, V_d - V_tp,
        V_d - V_tp + 1 / 2, V_tn, V_tn + 1 / 2, V_tn - V_d, V_tn - V_d + 1 / 2, V_I + 2 * V_d, 0,
    ]  # fmt: skip
    relation = sl.FirstOrderLinearRelation(output, B, D=D, e=e)
    model.connect(relation, sl.Complementarity(), circuit, name="switches")
    return model


def slider_crank(mu: float | None = None) -> sl.Model:
    parameters = {
        "l1": 0.153, "l2": 0.306, "a": 0.05, "b": 0.025, "c": 0.001, "m1": 0.038, "m2": 0.038,
        "m3": 0.076, "J1": 7.4e-5, "J2": 5.9e-4, "J3": 2.7e-6, "g": G,
    }  # fmt: skip
    parameters["d"] = 2 * (0.025 + 0.001)
    parameters["S"] = (0.038 / 2 + 0.076) * 0.153 * 0.306
    model = sl.Model("slider-crank" if mu is None else "slider-crank with friction", parameters=parameters)
    system = sl.Lagrangian(
        [0, 0, 0],
        [150, -75, -0.01],
        M=[
            ["J1 + (m1/4 + m2 + m3)*l1^2", "S*cos(q[1] - q[0])", 0],
            ["S*cos(q[1] - q[0])", "J2 + (m2/4 + m3)*l2^2", 0],
            [0, 0, "J3"],
        ],
        F_gyr=["S*sin(q[0] - q[1])*v[1]^2", "-S*sin(q[0] - q[1])*v[0]^2", 0],
        F_int=["(m1/2 + m2 + m3)*g*l1*cos(q[0])", "(m2/2 + m3)*g*l2*cos(q[1])", 0],
    )
    mechanism = model.add(system, name="mechanism")
    for k in range(4):
        sx, sy = 2 * (k % 2) - 1, 1 - 2 * (k // 2)
        h = [f"d/2 - ({sy})*(l1*sin(q[0]) + l2*sin(q[1]) + ({sx})*a*sin(q[2])) - b*cos(q[2])"]
        law: sl.Law = sl.NewtonImpact(0.4)
        if mu is not None:
            h += [f"l1*cos(q[0]) + l2*cos(q[1]) + ({sx})*a*cos(q[2]) - ({sy})*b*sin(q[2])"]
            law = sl.ImpactFriction(e=0.4, mu=mu)
        model.connect(sl.LagrangianRelation(h), law, mechanism, name=f"corner{k + 1}")
    return model


def friction_oscillator() -> sl.Model:
    model = sl.Model("oscillator with dry friction")
    mass = model.add(sl.LagrangianLinear([12], [6], [[1]], K=[[1]]), name="mass")
    model.connect(sl.LagrangianLinearRelation([[1]]), sl.Relay(-1, 1), mass, name="friction")
    return model


def belt() -> sl.Model:
    model = sl.Model("mass on a belt", parameters={"v_b": 0.5})
    mass = model.add(sl.LagrangianLinear([0], [0.5], [[1]], K=[[1]]), name="mass")
    model.connect(sl.LagrangianRelation(["q[0] - v_b*t"]), sl.Relay(-1, 1), mass, name="friction")
    return model


def two_link_arm(e: float) -> sl.Model:
    parameters = {"l1": 0.5, "l2": 0.5, "m1": 1.0, "m2": 1.0, "d1": 0.3, "d2": 0.2, "g": G}
    parameters |= {"I1": 1.0 * 0.5**2 / 12, "I2": 1.0 * 0.5**2 / 12, "k": 1.0 * 0.5 * 0.5 / 2}
    model = sl.Model("two-link arm", parameters=parameters)
    inertia = "I2 + m2*l2^2/4 + k*cos(q[1])"
    system = sl.Lagrangian(
        [1.2, -0.4],
        [0, 0],
        M=[
            ["I1 + I2 + m1*l1^2/4 + m2*(l1^2 + l2^2/4) + 2*k*cos(q[1])", inertia],
            [inertia, "I2 + m2*l2^2/4"],
        ],
        F_gyr=["-k*sin(q[1])*(2*v[0]*v[1] + v[1]^2)", "k*sin(q[1])*v[0]^2"],
        F_int=[
            "(m1/2 + m2)*l1*g*cos(q[0]) + m2/2*l2*g*cos(q[0] + q[1]) + d1*v[0]",
            "m2/2*l2*g*cos(q[0] + q[1]) + d2*v[1]",
        ],
    )
    arm = model.add(system, name="arm")
    stops = {"low1": ([1, 0], 0.3), "high1": ([-1, 0], 2.8), "low2": ([0, 1], 2.0), "high2": ([0, -1], 0.5)}
    for name, (row, b) in stops.items():
        relation = sl.LagrangianLinearRelation([row], b=[b])
        model.connect(relation, sl.NewtonImpact(e), arm, name=name)
    return model


def block(degrees: float, mu: float, downhill: float = 0.0, across: float = 0.0) -> sl.Model:
    model = sl.Model("block on an incline")
    alpha = degrees * math.pi / 180
    force = [G * math.sin(alpha), 0, -G * math.cos(alpha)]
    system = sl.LagrangianLinear([0, 0, 0], [downhill, across, 0], np.eye(3), F_ext=force)
    point = model.add(system, name="block")
    relation = sl.LagrangianLinearRelation([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    model.connect(relation, sl.ImpactFriction(e=0, mu=mu), point, name="plane")
    return model


def cube(degrees: float, mu: float, downhill: float = 0.0, across: float = 0.0) -> sl.Model:
    model = sl.Model("block on its corners")
    alpha, s = degrees * math.pi / 180, 0.5 / 2
    inertia = np.diag([1, 1, 1] + 3 * [0.5**2 / 6])
    force = [G * math.sin(alpha), 0, -G * math.cos(alpha), 0, 0, 0]
    system = sl.LagrangianLinear(np.zeros(6), [downhill, across, 0, 0, 0, 0], inertia, F_ext=force)
    block = model.add(system, name="block")
    for k in range(4):
        a, b = s * (1 - 2 * (k % 2)), s * (1 - 2 * (k // 2))
        H = [[0, 0, 1, b, -a, 0], [1, 0, 0, 0, -s, -b], [0, 1, 0, s, 0, a]]
        relation, law = sl.LagrangianLinearRelation(H), sl.ImpactFriction(e=0, mu=mu)
        model.connect(relation, law, block, name=f"corner{k}")
    return model


@dataclass
class Case:
    """A model file, with what is changed in it, and the same in Python."""

    file: str
    build: Callable[[], sl.Model]
    integrator: sl.Integrator
    h: float
    until: float
    overrides: dict[str, Any] = field(default_factory=dict)
    solver: sl.solvers.Solver | None = None
    every: int = 1


MECHANICS = sl.MoreauJean(theta=0.5)


def circuits(theta: float) -> sl.EulerMoreau:
    return sl.EulerMoreau(theta=theta)


def cases() -> dict[str, Case]:
    ball, spiral = "examples/bouncing-ball/model.toml", "examples/filippov-square-spiral/model.toml"
    found = {
        "ball": Case(ball, bouncing_ball, MECHANICS, 5e-3, 10.0),
        "ball at zero": Case(
            ball, lambda: bouncing_ball(0), MECHANICS, 5e-3, 10.0, {"floor.relation.b": [0]}
        ),
        "rectifier": Case(
            "examples/rlc-half-wave-rectifier/model.toml",
            half_wave_rectifier, circuits(0.5), 1e-5, 5e-3,
        ),
        "bridge": Case("examples/diode-bridge/model.toml", diode_bridge, circuits(0.5), 1e-6, 5e-3),
        "woodpecker": Case(
            "examples/woodpecker/model.toml", woodpecker, MECHANICS, 2e-5, 0.3,
            solver=sl.solvers.Auto(tol=1e-12),
        ),
        "power converter": Case(
            "testdata/models/power-converter.toml", power_converter, circuits(0.5), 1e-7, 1e-3
        ),
        "buck converter": Case(
            "examples/buck-converter/model.toml", buck_converter, circuits(1), 1e-9, 10e-6,
            solver=sl.solvers.Auto(tol=1e-10), every=2,
        ),
        "slider-crank": Case(
            "examples/slider-crank/model.toml", slider_crank, MECHANICS, 1e-5, 0.05
        ),
        "slider-crank with friction": Case(
            "examples/slider-crank/friction.toml", lambda: slider_crank(0.01), MECHANICS, 1e-5, 0.05
        ),
        "dry friction": Case(
            "examples/friction-oscillator/model.toml", friction_oscillator, MECHANICS, 0.01, 50.0
        ),
        "belt": Case("examples/friction-oscillator/belt.toml", belt, MECHANICS, 0.01, 40.0),
        "arm": Case(
            "examples/two-link-arm/model.toml", lambda: two_link_arm(0.0), MECHANICS, 1e-3, 3.0
        ),
        "arm, e = 0.5": Case(
            "examples/two-link-arm/model.toml", lambda: two_link_arm(0.5), MECHANICS, 1e-3, 3.0,
            {"e": 0.5},
        ),
    }  # fmt: skip
    inclines: dict[str, tuple[tuple[float, ...], dict[str, Any]]] = {
        "slides": ((30, 0.3), {}),
        "sticks": ((30, 0.7), {"mu": 0.7}),
        "brakes": ((20, 0.6, 2), {"degrees": 20, "mu": 0.6, "downhill": 2}),
        "turns": ((30, math.tan(30 * math.pi / 180), 0, 2), {"mu": "tan(alpha)", "across": 2}),
    }
    for name, (given, changes) in inclines.items():
        for kind, build in [("incline", block), ("corners", cube)]:
            found[f"block on {kind} {name}"] = Case(
                f"testdata/models/block-on-{kind}.toml", lambda build=build, given=given: build(*given),
                MECHANICS, 2e-3, 1.0, changes, sl.solvers.Auto(tol=1e-12),
            )  # fmt: skip
    for n, h, until in [(10, 5e-4, 2.0), (1000, 1e-3, 0.5)]:
        changes = {} if n == 10 else {"N": n}
        found[f"{n} beads"] = Case(
            "examples/column-of-beads/model.toml",
            lambda n=n: column_of_beads(n), MECHANICS, h, until, changes,
        )  # fmt: skip
    for h in [0.3, 0.1, 0.05]:
        found[f"sliding mode, h = {h}"] = Case(
            "examples/sliding-mode/model.toml", sliding_mode, circuits(1), h, 10.0
        )
        found[f"sign, h = {h}"] = Case("examples/sliding-mode/sgn.toml", sign, circuits(1), h, 3.0)
    for h in [0.1, 0.01, 0.001]:
        found[f"spiral, h = {h}"] = Case(spiral, square_spiral, circuits(1), h, 10.0)
        found[f"spiral from (-4, 3, 0), h = {h}"] = Case(
            spiral, lambda: square_spiral((-4, 3, 0)), circuits(1), h, 10.0,
            {"x0": -4, "y0": 3, "z0": 0},
        )  # fmt: skip
    for theta in [0.5, 1]:
        found[f"LZC, theta = {theta}"] = Case(
            "examples/lzc-circuit/model.toml", lzc_circuit, circuits(theta), 5e-3, 3.0,
            {"simulation.integrator.theta": theta},
        )  # fmt: skip
    for n in [3, 10, 50]:
        found[f"ladder of {n}"] = Case(
            "examples/rc-diode-ladder/model.toml",
            lambda n=n: rc_diode_ladder(n), circuits(0.5), 1e-3, 4.0, {"n": n},
        )  # fmt: skip
    return found


CASES = cases()


def all_arrays(run: sl.Run) -> dict[str, Any]:
    """Every array that a run has."""
    arrays = {path: run[path] for path in run.signals}
    arrays |= {"t": run.t, "iterations": run.iterations, "residual": run.residual}
    if run.ledger is not None:
        arrays |= {f"ledger {name}": value for name, value in vars(run.ledger).items()}
    return arrays


@pytest.mark.parametrize("name", CASES)
def test_the_file_and_python_give_the_same_bits(name: str) -> None:
    case = CASES[name]
    from_file = sl.load_model(ROOT / case.file, case.overrides).run(until=case.until, h=case.h)
    settings: dict[str, Any] = {} if case.solver is None else {"solver": case.solver}
    sim = sl.TimeStepping(case.build(), h=case.h, integrator=case.integrator, **settings)
    in_python = sim.run(case.until, every=case.every)
    assert from_file.complete and in_python.complete
    assert from_file.title == in_python.title and from_file.signals == in_python.signals
    expected = all_arrays(from_file)
    for path, found in all_arrays(in_python).items():
        assert np.array_equal(found, expected[path]), f"{name}: {path} differs"
