"""The compiled half of Saltus. Private: use `saltus`."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Index = NDArray[np.int64]
_Triplets = tuple[int, int, _Index, _Index, _Vector]
_Scope = tuple[bool, tuple[str, int], tuple[str, int], int]
_Answer = tuple[
    _Vector, _Vector, float, int, float, str, str, int, list[tuple[str, str, float]], str, _Vector
]

VERSION: str

def defaults() -> str: ...
def check_integrator(text: str) -> str: ...
def check_solver(text: str) -> str: ...
def check_newton(text: str) -> str: ...
def nearest(name: str, known: list[str]) -> str | None: ...
def evaluate(
    what: str, entries: list[float | str], parameters: list[tuple[str, float]], defer: bool
) -> _Vector | None: ...
def is_parameter_name(name: str) -> bool: ...
def load_model(path: str, overrides: list[tuple[str, str]]) -> ModelFile: ...
def load_run(path: str) -> Run: ...
def lcp_problem(M: _Matrix | _Triplets, q: _Vector) -> Problem: ...
def avi_problem(
    M: _Matrix | _Triplets,
    q: _Vector,
    A: _Matrix | _Triplets,
    b: _Vector,
    E: _Matrix | _Triplets,
    f: _Vector,
) -> Problem: ...
def mlcp_problem(M: _Matrix | _Triplets, q: _Vector, equalities: int) -> Problem: ...
def boxed_problem(
    M: _Matrix | _Triplets, q: _Vector, lower: _Vector, upper: _Vector
) -> Problem: ...
def block_problem(
    M: _Matrix | _Triplets, q: _Vector, blocks: list[tuple[str, int, list[float]]]
) -> Problem: ...
def contact_problem(
    W: _Matrix | _Triplets, q: _Vector, law: str, mu: _Vector, mu_r: _Vector
) -> Problem: ...
def global_problem(
    M: _Matrix | _Triplets,
    H: _Matrix | _Triplets,
    f: _Vector,
    b: _Vector,
    law: str,
    mu: _Vector,
    mu_r: _Vector,
) -> Problem: ...
def second_order_problem(
    M: _Matrix | _Triplets, q: _Vector, sizes: list[int], mu: _Vector
) -> Problem: ...
def function_problem(
    F: Callable[[_Vector], _Vector],
    jac: Callable[[_Vector], _Matrix],
    blocks: list[tuple[str, int, list[float]]],
) -> Problem: ...
def read_problem(path: str, kind: str | None = None) -> tuple[Problem, str]: ...
def write_problem(path: str, problem: Problem, kind: str | None = None) -> None: ...
def solve(problem: Problem, solver: str, z0: _Vector | None = None) -> _Answer: ...
def residual(problem: Problem, z: _Vector) -> float: ...
def class_figure(problem: Problem, z: _Vector) -> float: ...
def physical(problem: Problem, z: _Vector) -> tuple[float, float, float, float]: ...
def uniqueness(problem: Problem, z: _Vector, tol: float) -> tuple[str, int, str]: ...
def all_solutions(
    problem: Problem, tol: float, max_iter: int
) -> tuple[list[_Answer], int, int]: ...

class Law:
    @staticmethod
    def complementarity() -> Law: ...
    @staticmethod
    def equality() -> Law: ...
    @staticmethod
    def relay(lower: _Vector, upper: _Vector) -> Law: ...
    @staticmethod
    def switch(control: str, on: float, off: float, closed: bool) -> Law: ...
    @staticmethod
    def piecewise_linear(points: list[tuple[float, float]]) -> Law: ...
    @staticmethod
    def normal_cone(A: _Matrix, b: _Vector) -> Law: ...
    @staticmethod
    def newton_impact(e: Operator) -> Law: ...
    @staticmethod
    def impact_friction(e: Operator, mu: Operator, et: float) -> Law: ...
    @staticmethod
    def rolling_friction(e: Operator, mu: Operator, mu_r: Operator) -> Law: ...
    @staticmethod
    def fremond(e: Operator, mu: Operator) -> Law: ...
    @staticmethod
    def multiple_impact(e: float, stiffness: float, exponent: float) -> Law: ...
    @staticmethod
    def cohesive(
        stiffness: float, strength: float, energy: float, shear: float, e: Operator, mu: Operator
    ) -> Law: ...
    @staticmethod
    def binary_cohesive(
        strength: float, opening: float, e: Operator, mu: Operator
    ) -> Law: ...

class Operator:
    @staticmethod
    def array(value: _Vector | _Matrix) -> Operator: ...
    @staticmethod
    def formula(
        what: str, text: str, scope: _Scope, parameters: list[tuple[str, float]]
    ) -> Operator: ...
    @staticmethod
    def formulas(
        what: str,
        shape: tuple[int, int],
        entries: list[float | str],
        scope: _Scope,
        parameters: list[tuple[str, float]],
    ) -> Operator: ...
    @staticmethod
    def callable(
        function: Callable[..., Any],
        arguments: list[str],
        out: bool,
        rows: int,
        cols: int | None = None,
        last: bool = False,
    ) -> Operator: ...
    @staticmethod
    def compiled(
        address: int, owner: Any, arguments: list[str], rows: int, cols: int | None = None
    ) -> Operator: ...
    @property
    def shape(self) -> tuple[int, int]: ...

class Action:
    @staticmethod
    def set_state(system: str, quantity: str, values: list[str]) -> Action: ...
    @staticmethod
    def set_parameter(parameter: str, value: str) -> Action: ...
    @staticmethod
    def set_law(interaction: str, law: Law) -> Action: ...
    @staticmethod
    def connect(interaction: str) -> Action: ...
    @staticmethod
    def disconnect(interaction: str) -> Action: ...
    @staticmethod
    def stop() -> Action: ...

_Event = tuple[float, str, str, str, list[tuple[str, float | str, float | str]]]

def model_parameters(model: Model) -> list[tuple[str, float]]: ...
def add_parameter(model: Model, name: str, value: float) -> None: ...
def set_active(model: Model, name: str, active: bool) -> None: ...
def add_event(
    model: Model,
    actions: list[Action],
    name: str | None = None,
    once: bool = False,
    when: str | None = None,
    at: list[float] | None = None,
    every: float | None = None,
    start: float | None = None,
) -> str: ...
def model_events(model: Model) -> list[str]: ...
def set_recipe(model: Model, recipe: Callable[[list[tuple[str, float]]], Model]) -> None: ...
def with_parameters(model: Model, set: list[tuple[str, float]]) -> Model: ...
def copy_model(model: Model) -> Model: ...

class Model:
    def __new__(cls, title: str, t0: float) -> Model: ...
    @property
    def title(self) -> str: ...
    @property
    def t0(self) -> float: ...
    def systems(self) -> list[tuple[str, int, int]]: ...
    def interactions(self) -> list[tuple[str, str, int, list[str]]]: ...
    def initial(self, name: str, quantity: str) -> _Vector: ...
    def initial_inputs(self, name: str) -> _Vector: ...
    def check_jacobians(
        self, t: float | None, count: int, spread: float, seed: int
    ) -> list[tuple[str, str, tuple[int, int], float, float, float, int]]: ...
    def add_first_order(
        self,
        name: str,
        x0: _Vector,
        f: Operator,
        df_dx: Operator | None = None,
        M: Operator | None = None,
        z0: _Vector | None = None,
    ) -> None: ...
    def add_first_order_linear(
        self,
        name: str,
        x0: _Vector,
        A: Operator,
        b: Operator | None = None,
        M: _Matrix | None = None,
    ) -> None: ...
    def add_lagrangian(
        self,
        name: str,
        q0: _Vector,
        v0: _Vector,
        M: Operator,
        F_gyr: Operator | None = None,
        F_int: Operator | None = None,
        F_ext: Operator | None = None,
        dF_gyr_dq: Operator | None = None,
        dF_gyr_dv: Operator | None = None,
        dF_int_dq: Operator | None = None,
        dF_int_dv: Operator | None = None,
        z0: _Vector | None = None,
    ) -> None: ...
    def add_lagrangian_linear(
        self,
        name: str,
        q0: _Vector,
        v0: _Vector,
        M: _Matrix,
        C: _Matrix | None = None,
        K: _Matrix | None = None,
        F_ext: Operator | None = None,
    ) -> None: ...
    def connect_first_order(
        self,
        name: str,
        law: Law,
        systems: list[str],
        h: Operator,
        g: Operator,
        dh_dx: Operator | None = None,
        dh_dlam: Operator | None = None,
        dg_dx: Operator | None = None,
        dg_dlam: Operator | None = None,
        z0: _Vector | None = None,
    ) -> None: ...
    def connect_first_order_linear(
        self,
        name: str,
        law: Law,
        systems: list[str],
        C: Operator,
        B: Operator,
        D: Operator | None = None,
        e: Operator | None = None,
        F: Operator | None = None,
        z0: _Vector | None = None,
    ) -> None: ...
    def connect_lagrangian(
        self,
        name: str,
        law: Law,
        systems: list[str],
        h: Operator,
        H: Operator | None = None,
        dh_dt: Operator | None = None,
    ) -> None: ...
    def connect_prescribed(
        self, name: str, law: Law, systems: list[str], dofs: list[int], v: Operator
    ) -> None: ...
    def connect_compliant(
        self,
        name: str,
        law: Law,
        systems: list[str],
        h: Operator,
        H: Operator | None = None,
        dh_dlam: Operator | None = None,
    ) -> None: ...
    def connect_lagrangian_linear(
        self,
        name: str,
        law: Law,
        systems: list[str],
        H: _Matrix,
        b: _Vector | None = None,
        D: _Matrix | None = None,
    ) -> None: ...

class ModelFile:
    @property
    def text(self) -> str: ...
    def text_with(self, overrides: list[tuple[str, str]]) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def integrators(self) -> list[str]: ...
    @property
    def solver(self) -> str: ...
    @property
    def newton(self) -> str: ...
    @property
    def h(self) -> float | None: ...
    @property
    def tolerances(self) -> tuple[float, float] | None: ...
    @property
    def tol(self) -> float | None: ...
    @property
    def until(self) -> float: ...
    @property
    def every(self) -> int: ...
    @property
    def signals(self) -> list[str] | None: ...
    def samples(self, t: float, until: float) -> list[float] | None: ...
    def verify(self) -> str: ...
    def model(self) -> Model: ...

class Run:
    @property
    def title(self) -> str: ...
    @property
    def rows(self) -> int: ...
    def sides(self) -> list[str]: ...
    def contact_ends(self) -> _Ints: ...
    def contact_column(self, name: str) -> tuple[_Vector, int]: ...
    def contact_features(self) -> NDArray[np.uint64]: ...
    @property
    def model_text(self) -> str | None: ...
    def t(self) -> _Vector: ...
    def iterations(self) -> _Index: ...
    def residual(self) -> _Vector: ...
    def signals(self) -> list[tuple[str, str, int]]: ...
    def paths(self) -> list[str]: ...
    def columns(self) -> list[str]: ...
    def signal(self, path: str) -> NDArray[np.float64]: ...
    def ledger(self) -> list[tuple[str, _Vector]] | None: ...
    def events(self) -> list[_Event]: ...
    def stats(self) -> tuple[int, int, float, float, int, float, str, str | None]: ...
    def save(self, path: str) -> None: ...
    def penetration(self) -> _Vector: ...
    def forces_on(self, body: str) -> list[tuple[bool, str, _Vector, _Vector]]: ...
    def pushed(self) -> list[str]: ...
    def contact_graph(self, t: float) -> list[tuple[str, str, list[float]]]: ...
    def export_table(self, path: str, to: str, signals: list[str], every: int) -> None: ...
    def export_vtk(
        self, path: str, scene: Scene | None, folder: str | None, every: int
    ) -> None: ...

class Adaptive:
    def __new__(
        cls,
        model: Model,
        tol: float,
        solver: str,
        model_text: str | None = None,
    ) -> Adaptive: ...
    @property
    def t(self) -> float: ...
    def done(self, until: float) -> bool: ...
    def step(self) -> tuple[float, float, int, float, float]: ...
    def reset(self) -> None: ...
    def set_state(
        self,
        name: str,
        q: _Vector | None = None,
        v: _Vector | None = None,
        x: _Vector | None = None,
    ) -> None: ...
    def state(self, name: str, quantity: str) -> _Vector: ...
    def events(self) -> list[_Event]: ...
    def parameters(self) -> list[tuple[str, float]]: ...
    def ledger(self) -> list[float] | None: ...
    def run(
        self,
        until: float,
        every: int = 1,
        samples: _Vector | None = None,
        signals: list[str] | None = None,
        progress: Callable[[float, float, float, int], object] | None = None,
    ) -> tuple[Run, BaseException | None]: ...

class EventDriven:
    def __new__(
        cls,
        model: Model,
        rtol: float,
        atol: float,
        solver: str,
        model_text: str | None = None,
    ) -> EventDriven: ...
    @property
    def t(self) -> float: ...
    def done(self, until: float) -> bool: ...
    def step(self) -> tuple[float, float, int, float, float]: ...
    def reset(self) -> None: ...
    def set_state(
        self,
        name: str,
        q: _Vector | None = None,
        v: _Vector | None = None,
        x: _Vector | None = None,
    ) -> None: ...
    def state(self, name: str, quantity: str) -> _Vector: ...
    def events(self) -> list[_Event]: ...
    def parameters(self) -> list[tuple[str, float]]: ...
    def ledger(self) -> list[float] | None: ...
    def run(
        self,
        until: float,
        every: int = 1,
        samples: _Vector | None = None,
        signals: list[str] | None = None,
        progress: Callable[[float, float, float, int], object] | None = None,
    ) -> tuple[Run, BaseException | None]: ...

class TimeStepping:
    def __new__(
        cls,
        model: Model,
        h: float | _Vector,
        integrators: list[str],
        solver: str,
        model_text: str | None = None,
        newton: str | None = None,
    ) -> TimeStepping: ...
    @property
    def t(self) -> float: ...
    def done(self, until: float) -> bool: ...
    def step(self) -> tuple[float, float, int, float, float]: ...
    def reset(self) -> None: ...
    def checkpoint(self, path: str | PathLike[str]) -> None: ...
    def restore(self, path: str | PathLike[str]) -> None: ...
    def set_state(
        self,
        name: str,
        q: _Vector | None = None,
        v: _Vector | None = None,
        x: _Vector | None = None,
    ) -> None: ...
    def set_input(self, name: str, z: _Vector) -> None: ...
    def state(self, name: str, quantity: str) -> _Vector: ...
    def events(self) -> list[_Event]: ...
    def parameters(self) -> list[tuple[str, float]]: ...
    def ledger(self) -> list[float] | None: ...
    def run(
        self,
        until: float,
        every: int = 1,
        signals: list[str] | None = None,
        progress: Callable[[float, float, float, int], object] | None = None,
    ) -> tuple[Run, BaseException | None]: ...

class Circuit:
    @staticmethod
    def read(path: str) -> Circuit: ...
    @staticmethod
    def parse(text: str, name: str) -> Circuit: ...
    @property
    def title(self) -> str: ...
    def warnings(self) -> list[str]: ...
    def set(self, name: str, value: float) -> None: ...
    def nodes(self) -> list[str]: ...
    def components(self) -> list[str]: ...
    def signals(self) -> list[str]: ...
    def operating_points(
        self, modes: int | None = None
    ) -> list[tuple[list[tuple[str, float]], list[tuple[str, float]]]]: ...
    def run(
        self,
        *,
        until: float | None,
        h: float | None,
        start: float | None,
        method: str,
        theta: float | None,
        tol: float | None,
        signals: list[str] | None,
        every: int | None,
        progress: Callable[[float, float, float, int], object] | None,
    ) -> tuple[
        Run,
        list[tuple[str, float | None, str | None]],
        list[tuple[str, float, float, list[tuple[float, float, float]]]],
        BaseException | None,
    ]: ...

class Problem:
    @property
    def size(self) -> int: ...
    @property
    def contacts(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def is_global(self) -> bool: ...
    @property
    def is_function(self) -> bool: ...
    def q(self) -> _Vector: ...
    def free(self) -> _Vector: ...
    def lower(self) -> _Vector: ...
    def upper(self) -> _Vector: ...
    def mu(self) -> _Vector: ...
    def mu_r(self) -> _Vector: ...
    def dense(self) -> _Matrix: ...
    def triplets(self) -> _Triplets: ...
    def condensed(self) -> Problem: ...
    def mass(self) -> _Triplets: ...
    def H(self) -> _Triplets: ...
    def f(self) -> _Vector: ...
    def velocity(self, z: _Vector) -> _Vector: ...

class QuadraticProgram:
    def __new__(
        cls,
        P: _Matrix | _Triplets,
        c: _Vector,
        A: _Matrix | _Triplets,
        l: _Vector,
        u: _Vector,
        lower: _Vector,
        upper: _Vector,
    ) -> QuadraticProgram: ...
    def problem(self) -> Problem: ...
    def why_no_optimum(self) -> str | None: ...
    def optimum(self, z: _Vector) -> tuple[_Vector, _Vector, float]: ...

def state_parts(model: Model, name: str) -> list[tuple[str, str, int, int]]: ...
def add_rigid_body(
    model: Model,
    name: str,
    position: _Vector,
    orientation: _Vector,
    v: _Vector,
    omega: _Vector,
    mass: float,
    inertia: _Matrix,
    gravity: _Vector,
    force: Operator | None,
    force_frame: str,
    moment: Operator | None,
    moment_frame: str,
    z0: _Vector | None,
) -> None: ...
def add_rigid_body_2d(
    model: Model,
    name: str,
    position: _Vector,
    angle: float,
    v: _Vector,
    omega: float,
    mass: float,
    inertia: float,
    gravity: _Vector,
    force: Operator | None,
    force_frame: str,
    moment: Operator | None,
    z0: _Vector | None,
) -> None: ...
def connect_joint(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    kind: str,
    vectors: list[tuple[str, _Vector]],
    number: float,
    teeth: tuple[int, int],
    built_in: list[tuple[Any, ...]],
    break_force: float | None,
    break_moment: float | None,
) -> int: ...
def connect_joint_coordinate(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    kind: str,
    vectors: list[tuple[str, _Vector]],
    number: float,
    teeth: tuple[int, int],
    of: str,
) -> None: ...
def connect_coupler(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    first: tuple[tuple[str, list[tuple[str, _Vector]], float, tuple[int, int]], str],
    second: tuple[tuple[str, list[tuple[str, _Vector]], float, tuple[int, int]], str],
    ratio: float,
    between: bool,
) -> None: ...
def connect_bushing(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    point: _Vector,
    axis: _Vector,
    second_axis: _Vector,
    stiffness: _Vector,
    damping: _Vector,
) -> int: ...
def connect_spring_damper(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    point: _Vector,
    second_point: _Vector,
    stiffness: float,
    damping: float,
    rest: float | None,
) -> None: ...
def connect_disk_line(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    center: _Vector,
    radius: float,
    normal: _Vector,
    origin: _Vector,
    size: int,
) -> None: ...
def connect_disk_disk(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    radii: _Vector,
    center: _Vector,
    second_center: _Vector,
    size: int,
) -> None: ...
def connect_point_plane(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    center: _Vector,
    radius: float,
    normal: _Vector,
    origin: _Vector,
    size: int,
) -> None: ...
def connect_sphere_sphere(
    model: Model,
    name: str,
    law: Law,
    systems: list[str],
    radii: _Vector,
    center: _Vector,
    second_center: _Vector,
    size: int,
) -> None: ...

class Shape:
    @staticmethod
    def sphere(radius: float) -> Shape: ...
    @staticmethod
    def cuboid(edges: _Vector) -> Shape: ...
    @staticmethod
    def capsule(radius: float, length: float) -> Shape: ...
    @staticmethod
    def cylinder(radius: float, length: float) -> Shape: ...
    @staticmethod
    def cone(radius: float, height: float) -> Shape: ...
    @staticmethod
    def convex_hull(points: _Matrix) -> Shape: ...
    @staticmethod
    def triangle_mesh(points: _Matrix, triangles: list[list[int]]) -> Shape: ...
    @staticmethod
    def mesh_file(path: str, scale: float) -> Shape: ...
    @staticmethod
    def height_field(heights: _Matrix, size: _Vector) -> Shape: ...
    @staticmethod
    def plane(normal: _Vector, offset: float) -> Shape: ...
    @staticmethod
    def compound(parts: list[Part]) -> Shape: ...
    @staticmethod
    def disk(radius: float) -> Shape: ...
    @staticmethod
    def segment(start: _Vector, end: _Vector) -> Shape: ...
    @staticmethod
    def polygon(points: _Matrix) -> Shape: ...
    @staticmethod
    def polyline(points: _Matrix) -> Shape: ...
    @property
    def kind(self) -> str: ...

class Part:
    def __new__(
        cls,
        shape: Shape,
        position: _Vector,
        orientation: _Vector,
        material: str | None,
        touch: bool,
    ) -> Part: ...

class Scene:
    def __new__(
        cls,
        title: str,
        dim: int,
        gravity: _Vector | None,
        parameters: list[tuple[str, float]],
    ) -> Scene: ...
    @property
    def title(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def copy(self) -> Scene: ...
    @property
    def gravity(self) -> list[float]: ...
    @property
    def parameters(self) -> list[tuple[str, float]]: ...
    def names(self) -> list[list[str]]: ...
    def material(self, name: str, density: float | None) -> None: ...
    def contact(
        self,
        a: str,
        b: str,
        e: float,
        mu: float | None,
        mu_r: float | None,
        et: float,
        touch: bool,
        stiffness: float | None,
        damping: float | None,
        tangential_stiffness: float | None,
    ) -> None: ...
    def apart(self, a: str, b: str) -> None: ...
    def add_static(
        self,
        name: str,
        shapes: list[Part],
        material: str,
        position: _Vector | None,
        orientation: _Vector,
        group: str | None,
        drive: tuple[Any, Any, _Vector | None] | None,
    ) -> None: ...
    def add_body(
        self,
        name: str,
        shapes: list[Part],
        material: str,
        position: _Vector | None,
        origin: _Vector | None,
        orientation: _Vector,
        angle: float,
        v: _Vector | None,
        omega: _Vector,
        mass: float | None,
        inertia: _Matrix | None,
        center: _Vector | None,
        loads: tuple[Any, str, Any, str],
        life: tuple[float | None, float | None],
        group: str | None,
    ) -> None: ...
    def add_joint(
        self,
        name: str,
        kind: str,
        vectors: list[tuple[str, _Vector]],
        number: float,
        teeth: tuple[int, int],
        built_in: list[tuple[Any, ...]],
        break_force: float | None,
        break_moment: float | None,
        bodies: list[str],
        touch: bool,
        follows: tuple[str, float] | None,
    ) -> None: ...
    def mass_of(self, k: int) -> tuple[float, list[float], list[list[float]]]: ...
    def model(self) -> Model: ...
    def text(
        self,
        beside: str,
        h: float,
        until: float,
        integrators: list[str],
        solver: str,
        newton: str | None,
    ) -> str: ...

def load_scene(
    path: str,
) -> tuple[Scene, tuple[float, float, list[str], str, str | None] | None, list[str]]: ...
