"""Names exist once: keywords against Rust's structs, the stub against the extension, types."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import saltus as sl
from saltus import _saltus, integrators, newton, solvers

PACKAGE = Path(sl.__file__).parent
DEFAULTS = json.loads(_saltus.defaults())


def settings_classes():
    families = ((integrators, "integrators"), (solvers, "solvers"), (newton, "newton"))
    for module, family in families:
        classes = [c for c in vars(module).values() if hasattr(c, "_kind")]
        assert {c._kind for c in classes} == set(DEFAULTS[family]), "a kind without a class"
        for cls in classes:
            defaults = dict(DEFAULTS[family][cls._kind])
            assert defaults.pop("kind") == cls._kind
            yield pytest.param(module, cls, defaults, id=cls.__name__)


@pytest.mark.parametrize(("module", "cls", "defaults"), list(settings_classes()))
def test_settings_are_those_of_rust(module, cls, defaults):
    # at run time
    assert vars(cls()) == defaults
    runtime = inspect.signature(cls).parameters
    assert {name: p.default for name, p in runtime.items()} == {**defaults, **dict.fromkeys(cls._reserved)}
    for name in runtime:
        assert f"    {name} : " in cls.__doc__, f"{name} is not documented"
    # for type checkers: the fields and the keywords of `if TYPE_CHECKING`
    tree = ast.parse(Path(module.__file__).read_text())
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls.__name__)
    fields = [n.target.id for n in node.body if isinstance(n, ast.AnnAssign)]
    assert fields == list(defaults)
    [init] = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef)]
    by_position = [name for name, p in runtime.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [a.arg for a in init.args.args[1:]] == by_position
    assert parameters(init) == list(runtime)
    types = {"float": float, "int": int, "bool": bool, "str": str, "list[str]": list,
             "str | None": (str, type(None))}
    for argument in [*init.args.args[1:], *init.args.kwonlyargs]:
        if argument.arg in cls._reserved:
            assert argument.annotation.value is None
        elif defaults[argument.arg] is None:
            assert ast.unparse(argument.annotation) == "str | None"
        else:
            assert isinstance(defaults[argument.arg], types[ast.unparse(argument.annotation)])


def test_order_of_settings():
    names = ["theta", "gamma", "projection", "threshold", "form", "systems"]
    assert list(inspect.signature(sl.MoreauJean).parameters) == names
    assert sl.MoreauJean(0.5, 0.5, None, threshold=1e-9) == sl.MoreauJean(threshold=1e-9)


def test_settings_are_values():
    a = sl.MoreauJean(theta=1)
    assert a == sl.MoreauJean(1.0) != sl.MoreauJean() and hash(a) == hash(sl.MoreauJean(1.0))
    assert eval(repr(a), vars(sl)) == a
    with pytest.raises(AttributeError, match="do not change"):
        a.theta = 0.5


def parameters(node):
    args = node.args
    return [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs] if a.arg not in ("self", "cls")]


def test_stub_is_the_extension():
    stub = ast.parse((PACKAGE / "_saltus.pyi").read_text())
    names = set()
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            runtime = inspect.signature(getattr(_saltus, node.name)).parameters
            assert parameters(node) == list(runtime), node.name
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            cls = getattr(_saltus, node.name)
            members = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
            public = {n for n in vars(cls) if not n.startswith("_")}
            assert public == {n for n in members if not n.startswith("_")}, node.name
            for name, member in members.items():
                if member.decorator_list and member.decorator_list[0].id == "property":
                    assert inspect.isgetsetdescriptor(vars(cls)[name])
                    continue
                function = cls if name == "__new__" else getattr(cls, name)
                runtime = [p for p in inspect.signature(function).parameters if p != "self"]
                assert parameters(member) == runtime, f"{node.name}.{name}"
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    assert names == {n for n in vars(_saltus) if not n.startswith("_")}


def test_everything_public_is_documented():
    for name in sl.__all__:
        assert getattr(sl, name).__doc__, name
    assert set(sl.__all__) <= set(dir(sl)) and sl.__version__.count(".") == 2
    assert (PACKAGE / "py.typed").exists()


TYPED = """
import numpy as np
import saltus as sl
from numpy.typing import NDArray

def force(t: float) -> list[float]:
    return [np.sin(t), 0.0, 0.0]

model = sl.Model("ball", t0=0.0)
ball = model.add(sl.LagrangianLinear([1, 0, 0], [0, 0, 0], np.eye(3), F_ext=force), name="ball")
model.add(sl.LagrangianLinear([1], [0], [[1]], F_ext=["-9.81"]))
model.add(sl.FirstOrderLinear(x0=[1.0], A=lambda t: [[-t]], b=["sin(t)"]))
floor = model.connect(sl.LagrangianLinearRelation([[1, 0, 0]]), sl.NewtonImpact(e=0.9), ball)
pendulum = model.add(sl.Lagrangian([1], [0], lambda q: np.eye(1), F_int="[sin(q[0])]", F_ext=sl.plugin("libm.so.6", "sin")))
stop = model.connect(sl.LagrangianRelation(lambda q: q, H=[[1]]), sl.ImpactFriction(0, mu=lambda u: 0.3), pendulum)
model.add(sl.FirstOrder([1.0], lambda t, x, z: z - x, df_dx=[["-1"]], z0=[0.0]))
right: bool = model.check_jacobians().ok
integrators: list[sl.Integrator] = [sl.MoreauJean(0.5, 0.5, None, threshold=0), sl.EulerMoreau(gamma=1.0)]
sim = sl.TimeStepping(model, h=np.linspace(0.1, 1, 10), integrator=integrators,
                      solver=sl.solvers.Auto(tol=1e-10), newton=sl.Newton(mode="quasi"))
sim.set_input(pendulum, [1.0])
run = sim.run(until=1.0, progress=lambda p: print(p.fraction), signals=("ball",))
t: NDArray[np.float64] = run.t
steps: int = run.stats.steps
time: float = sim.step().t
lam: NDArray[np.float64] = floor.lam
if run.ledger is not None:
    work: NDArray[np.float64] = run.ledger.work
if sim.ledger is not None:
    kinetic: float = sim.ledger.kinetic
solution = sl.numerics.solve(sl.numerics.lcp(np.eye(2), [1, 2]), "lemke", tol=1e-9)
z: NDArray[np.float64] = solution.z
nu = sl.numerics
contact = nu.friction3d(np.eye(3), [-1, 0.6, 0.8], mu=0.5)
angle: float = nu.physical(contact, [1, 0, 0]).dissipation_angle
blocks = nu.problem(np.eye(3), [1, 1, 1], ["free", ("interval", -1, [1, 2])])
nonlinear = nu.vi(lambda x: x - 4, lower=[0.0])
program = nu.solve(nu.qp(np.eye(2), [0, 0], A=[[1, 1]], l=2))
"""

WRONG = """
import saltus as sl
sl.MoreauJean(thetta=0.5)
sl.MoreauJean(projection=1)
sl.NewtonImpact()
sl.TimeStepping(sl.Model(), h=1, solver="auto")
"""


def mypy(text, folder):
    pytest.importorskip("mypy")
    file = folder / "snippet.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), str(file)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_typed_use_passes(tmp_path):
    result = mypy(TYPED, tmp_path)
    assert result.returncode == 0, result.stdout


def test_wrong_use_is_seen(tmp_path):
    result = mypy(WRONG, tmp_path)
    assert result.stdout.count("error:") == 4, result.stdout
