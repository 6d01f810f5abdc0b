"""Saltus: simulation of systems that jump, stick, slip and switch.

    import numpy as np
    import saltus as sl

    model = sl.Model("bouncing ball")
    ball = model.add(sl.LagrangianLinear(q0=[1], v0=[0], M=[[1]], F_ext=[-9.81]), name="ball")
    floor = model.connect(sl.LagrangianLinearRelation(H=[[1]]), sl.NewtonImpact(e=0.9),
                          ball, name="floor")

    run = sl.TimeStepping(model, h=5e-3).run(until=10.0)
    run.t, run["ball"].q, run["floor"].lam

Systems carry the smooth motion, relations say what is in contact with what, laws say what
contact means::

    M ẋ = f(t, x) + r      or      M v̇ = F(t, q, v) + p,  q̇ = v       systems
    y = h(t, x, λ),  r = g(t, x, λ)                                     relations
    −y ∈ N_K(λ)                                                          laws
"""

from saltus import _saltus, circuits, mechanics, numerics, solvers
from saltus._errors import (
    BusyError,
    FileError,
    InputError,
    MissingFileError,
    ModelError,
    ModelFileError,
    NotAvailableError,
    OperatorError,
    SaltusError,
    SignalError,
    SolverError,
    StepReport,
)
from saltus._operators import CFUNC_SIGNATURE, Plugin, plugin
from saltus._progress import Progress
from saltus.adaptive import Adaptive
from saltus.bodies import RigidBody, RigidBody2d
from saltus.event_driven import EventDriven
from saltus.events import (
    Action,
    Connect,
    Disconnect,
    Event,
    SetLaw,
    SetParameter,
    SetState,
    Stop,
)
from saltus.integrators import (
    D1MinusLinear,
    EulerMoreau,
    GeneralizedAlpha,
    Integrator,
    MoreauJean,
    MoreauJeanBilbao,
    SchatzmanPaoli,
    ZeroOrderHold,
)
from saltus.jacobians import JacobianCheck, JacobianReport
from saltus.laws import (
    BinaryCohesive,
    Cohesive,
    Complementarity,
    Equality,
    Fremond,
    ImpactFriction,
    Law,
    MultipleImpact,
    NewtonImpact,
    NormalCone,
    PiecewiseLinear,
    Relay,
    RollingFriction,
    Switch,
)
from saltus.model import InteractionHandle, Model, SystemHandle
from saltus.model_file import ModelFile, Simulation, Verification, load_model, run, verify
from saltus.newton import Newton
from saltus.relations import (
    FirstOrderLinearRelation,
    FirstOrderRelation,
    LagrangianCompliant,
    LagrangianLinearRelation,
    LagrangianRelation,
    Prescribed,
    Relation,
)
from saltus.results import Ledger, Record, Run, RunStats, load
from saltus.strategy import StepStats, Strategy
from saltus.systems import FirstOrder, FirstOrderLinear, Lagrangian, LagrangianLinear, System
from saltus.time_stepping import TimeStepping

__version__: str = _saltus.VERSION

__all__ = [
    "Action",
    "Adaptive",
    "BinaryCohesive",
    "BusyError",
    "CFUNC_SIGNATURE",
    "Cohesive",
    "Complementarity",
    "Connect",
    "D1MinusLinear",
    "Disconnect",
    "Equality",
    "EulerMoreau",
    "Event",
    "EventDriven",
    "FileError",
    "FirstOrder",
    "FirstOrderLinear",
    "FirstOrderLinearRelation",
    "FirstOrderRelation",
    "Fremond",
    "GeneralizedAlpha",
    "ImpactFriction",
    "InputError",
    "Integrator",
    "InteractionHandle",
    "JacobianCheck",
    "JacobianReport",
    "Lagrangian",
    "LagrangianCompliant",
    "LagrangianLinear",
    "LagrangianLinearRelation",
    "LagrangianRelation",
    "Law",
    "Ledger",
    "MissingFileError",
    "Model",
    "ModelError",
    "ModelFile",
    "ModelFileError",
    "MoreauJean",
    "MoreauJeanBilbao",
    "MultipleImpact",
    "Newton",
    "NewtonImpact",
    "NormalCone",
    "NotAvailableError",
    "OperatorError",
    "PiecewiseLinear",
    "Plugin",
    "Prescribed",
    "Progress",
    "Record",
    "Relation",
    "Relay",
    "RigidBody",
    "RigidBody2d",
    "RollingFriction",
    "Run",
    "RunStats",
    "SaltusError",
    "SchatzmanPaoli",
    "SetLaw",
    "SetParameter",
    "SetState",
    "SignalError",
    "Simulation",
    "SolverError",
    "StepReport",
    "StepStats",
    "Stop",
    "Strategy",
    "Switch",
    "System",
    "SystemHandle",
    "TimeStepping",
    "Verification",
    "ZeroOrderHold",
    "__version__",
    "circuits",
    "load",
    "load_model",
    "mechanics",
    "numerics",
    "plugin",
    "run",
    "solvers",
    "verify",
]
