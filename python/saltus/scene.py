"""Scenes: bodies with shapes and materials, what they stand on, and the joints between them."""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import Array, constant, matrix, real, vector
from saltus._errors import InputError
from saltus._operators import Operator, Scope, given_or_none
from saltus._progress import Progress
from saltus.integrators import Integrator
from saltus.results import Run
from saltus.shapes import Part, Shape, parts
from saltus.solvers import Auto, Solver

if TYPE_CHECKING:
    from saltus.mechanics import Joint
    from saltus.model import Model

__all__ = ["Drive", "Scene", "SceneWarning", "Side", "load"]

_TURN = (1.0, 0.0, 0.0, 0.0)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _remembered(
    call: Callable[Concatenate[Scene, _P], _R],
) -> Callable[Concatenate[Scene, _P], _R]:
    """Keeps what is said of a scene with parameters, to say it again with other values of these."""

    @wraps(call)
    def remembering(scene: Scene, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        said = _said(args), _said(kwargs)
        made = call(scene, *args, **kwargs)
        if scene._calls is not None:
            scene._calls.append((call, *said))
        return made

    return remembering


def _said(value: Any) -> Any:
    """A value that no longer changes when the one that said it changes its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_said(entry) for entry in value)
    if type(value) is dict:
        return {key: _said(entry) for key, entry in value.items()}
    return value


class SceneWarning(UserWarning):
    """Something in a file has no place in the scene that was read from it."""


@dataclass(frozen=True)
class Side:
    """A body, or something that stands still, in a scene."""

    name: str


@dataclass(frozen=True)
class Drive:
    """How something moves as it is told; each is a function of ``t``.

    Parameters
    ----------
    position : operator of t, optional
        Where the origin of its shapes is; where it is put unless given.
    omega : operator of t, optional
        Its angular velocity in the frame of the world; one number in the plane.
    surface : array_like, optional
        Velocity of its surface along itself, as of a conveyor belt.
    """

    position: Operator | None = None
    omega: Operator | None = None
    surface: ArrayLike | None = None


class Scene:
    """Bodies with shapes and materials, what they stand on, and the joints between them.

    Parameters
    ----------
    gravity : array_like, optional
        Acceleration of gravity; none unless given.
    dim : {3, 2}
        Bodies in space, or in the plane.
    title : str
    parameters : mapping of str to float, optional
        Names that formulas may use.

    Attributes
    ----------
    last_run : Run or None
        What the last `run` had computed when it was interrupted or failed; None after a run
        that reached its end.

    Examples
    --------
    >>> sc = Scene(gravity=(0, 0, -9.81))
    >>> sc.material("stone", density=2500.0)
    >>> sc.contact("stone", "stone", e=0.0, mu=0.7)
    >>> ground = sc.add_static("ground", Plane(normal=(0, 0, 1)), material="stone")
    >>> box = sc.add_body("box", Box(1, 1, 1), material="stone", position=(0, 0, 2))
    >>> run = sc.run(h=5e-3, until=2.0)
    >>> run["box"].position
    """

    #: What was said of it, where it has parameters and was made here.
    _calls: list[tuple[Callable[..., Any], Any, Any]] | None

    def __init__(
        self,
        gravity: ArrayLike | None = None,
        dim: int = 3,
        title: str = "scene",
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        if not isinstance(dim, numbers.Real) or dim not in (2, 3):
            raise InputError(f"`dim` is {dim!r}, expected 2 or 3")
        down = None if gravity is None else vector(gravity, "gravity")
        named = [(name, real(value, name)) for name, value in (parameters or {}).items()]
        self._take(_saltus.Scene(title, int(dim), down, named))
        self._calls = [] if named else None

    def _again(self) -> Callable[[Mapping[str, float]], _saltus.Scene]:
        """What makes the scene as it is now, with these values of its parameters."""
        calls, (gravity, dim, title) = tuple(self._calls or ()), (self.gravity, self.dim, self.title)

        def again(parameters: Mapping[str, float]) -> _saltus.Scene:
            scene = Scene(gravity, dim, title, parameters)
            for call, args, kwargs in calls:
                call(scene, *args, **kwargs)
            return scene._core

        return again

    def _take(self, core: _saltus.Scene) -> None:
        self._core = core
        self._model: Model | None = None
        self._calls = None
        self._settings: tuple[float | Array, float, list[str], str, str | None] | None = None
        self._methods: tuple[list[str], str, str | None] = ([], Auto()._json(), None)  # of the file
        self.last_run: Run | None = None

    @property
    def title(self) -> str:
        """The title."""
        return self._core.title

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return self._core.dim

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity."""
        return np.array(self._core.gravity)

    @property
    def materials(self) -> list[str]:
        """The names of the materials."""
        return self._core.names()[0]

    @property
    def statics(self) -> list[str]:
        """The names of what stands still, or moves as it is told."""
        return self._core.names()[1]

    @property
    def bodies(self) -> list[str]:
        """The names of the bodies."""
        return self._core.names()[2]

    @property
    def joints(self) -> list[str]:
        """The names of the joints."""
        return self._core.names()[3]

    @_remembered
    def material(self, name: str, density: float | None = None) -> None:
        """Adds a material.

        Parameters
        ----------
        name : str
        density : float, optional
            Mass of a unit of volume, in the plane of area; bodies of it need a mass unless given.
        """
        self._changed()
        self._core.material(name, None if density is None else real(density, "density"))

    @_remembered
    def contact(
        self,
        a: str,
        b: str,
        e: float | str = 0.0,
        mu: float | str | None = None,
        mu_r: float | str | None = None,
        et: float | str = 0.0,
        touch: bool = True,
        stiffness: float | str | None = None,
        damping: float | str | None = None,
        tangential_stiffness: float | str | None = None,
    ) -> None:
        """Says what happens where two materials touch.

        Each coefficient is a number, or a formula of the parameters of the scene (``"2*mu0"``), whose
        value is taken now.

        Parameters
        ----------
        a, b : str
            The materials; ``"default"`` pairs with all.
        e : float
            Restitution, in [0, 1].
        mu : float, optional
            Friction coefficient; no friction unless given.
        mu_r : float, optional
            Coefficient of rolling resistance, a length.
        et : float
            Tangential restitution, in [-1, 1].
        touch : bool
            Whether they touch at all, or pass through each other; then nothing else is said of them.
        stiffness : float, optional
            They give way by springs of this stiffness, force a length; rigid unless given. `e` and
            `et` are 0 with it.
        damping : float, optional
            That of the dampers beside the springs, force a velocity; 0 unless given.
        tangential_stiffness : float, optional
            Stiffness of the springs along the tangents; `stiffness` unless given.

        Notes
        -----
        Where they give way, with the gap g, the stretch e of the tangential spring, and k, c and k_T
        for `stiffness`, `damping` and `tangential_stiffness`::

            f_N = max(0, -k g - c dg/dt) where g <= 0
            f_T = -k_T (e + (c/k) de/dt), held in the cone |f_T| <= mu f_N
        """
        self._changed()
        scope = Scope(f"contact of `{a}` and `{b}`", dict(self._core.parameters), ("", 0))

        def number(value: float | str, what: str) -> float:
            if not isinstance(value, str):
                return real(value, what)
            return float(scope.constant(constant(value, what, 1), what)[0])

        def number_or_none(value: float | str | None, what: str) -> float | None:
            return None if value is None else number(value, what)

        self._core.contact(
            a,
            b,
            number(e, "e"),
            number_or_none(mu, "mu"),
            number_or_none(mu_r, "mu_r"),
            number(et, "et"),
            bool(touch),
            number_or_none(stiffness, "stiffness"),
            number_or_none(damping, "damping"),
            number_or_none(tangential_stiffness, "tangential_stiffness"),
        )

    @_remembered
    def apart(self, a: Side | str, b: Side | str) -> None:
        """Lets two bodies, statics or groups not touch each other; a group twice: its members."""
        self._changed()
        self._core.apart(_name(a), _name(b))

    @_remembered
    def add_static(
        self,
        name: str,
        shape: Shape | Part | Sequence[Shape | Part],
        material: str = "default",
        position: ArrayLike | None = None,
        orientation: ArrayLike = _TURN,
        angle: float = 0.0,
        drive: Drive | None = None,
        group: str | None = None,
    ) -> Side:
        """Adds something that stands still, or moves as it is told.

        Parameters
        ----------
        name : str
        shape : Shape, or several
        material : str
        position : array_like, optional
            Where the origin of its shapes is; the origin unless given.
        orientation : (4,) array_like
            A quaternion ``(w, x, y, z)``.
        angle : float
            In the plane: how it is turned.
        drive : Drive, optional
        group : str, optional
            A name that `apart` may use.
        """
        self._changed()
        moved = None
        if drive is not None:
            scope = Scope(f"static `{name}`", dict(self._core.parameters), ("", 0))
            along = self._given(scope, drive.position, "position", "t", self.dim)
            about = self._given(scope, drive.omega, "omega", "t", 3 if self.dim == 3 else 1)
            moved = (along, about, _vector(drive.surface, "surface"))
        turn = self._turn(f"static `{name}`", orientation, angle)
        place = _vector(position, "position")
        shapes = parts(shape, f"static `{name}`", self.dim)
        self._core.add_static(name, shapes, material, place, turn, group, moved)
        return Side(name)

    @_remembered
    def add_body(
        self,
        name: str,
        shape: Shape | Part | Sequence[Shape | Part] = (),
        material: str = "default",
        position: ArrayLike | None = None,
        orientation: ArrayLike = _TURN,
        v: ArrayLike | None = None,
        omega: ArrayLike | None = None,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        center: ArrayLike | None = None,
        origin: ArrayLike | None = None,
        angle: float = 0.0,
        force: Operator | None = None,
        force_frame: str = "world",
        moment: Operator | None = None,
        moment_frame: str = "body",
        birth: float | None = None,
        death: float | None = None,
        group: str | None = None,
    ) -> Side:
        """Adds a body.

        Parameters
        ----------
        name : str
        shape : Shape, or several, optional
            Without one it touches nothing.
        material : str
        position : array_like, optional
            Where its center of mass is at first; the origin unless given.
        orientation : (4,) array_like
            How it is turned at first: a quaternion ``(w, x, y, z)``.
        v : array_like, optional
            First velocity of the center of mass; at rest unless given.
        omega : array_like or float, optional
            First angular velocity in the frame of the body; one number in the plane.
        mass : float, optional
            By shapes and densities unless given.
        inertia : float, (3,) or (3, 3) array_like, optional
            Moments of inertia about the center of mass, in the frame of the shapes; one number in
            the plane. By shapes and mass unless given.
        center : array_like, optional
            The center of mass in the frame of the shapes; by shapes and densities unless given.
        origin : array_like, optional
            Instead of `position`: where the origin of the shapes is at first.
        angle : float
            In the plane: how it is turned at first.
        force, moment : operator of t, q, v, optional
            A formula, an array or a function, as those of `RigidBody`.
        force_frame, moment_frame : {"world", "body"}
        birth, death : float, optional
            When it appears, and when it disappears.
        group : str, optional
            A name that `apart` may use.
        """
        self._changed()
        sizes = (("q", 7), ("v", 6)) if self.dim == 3 else (("q", 3), ("v", 3))
        scope = Scope(f"body `{name}`", dict(self._core.parameters), *sizes)
        turns = 3 if self.dim == 3 else 1
        loads = (
            self._given(scope, force, "force", "t q v", self.dim),
            force_frame,
            self._given(scope, moment, "moment", "t q v", turns),
            moment_frame,
        )
        self._turn(f"body `{name}`", orientation, angle)
        self._core.add_body(
            name,
            parts(shape, f"body `{name}`", self.dim),
            material,
            _vector(position, "position"),
            _vector(origin, "origin"),
            vector(orientation, "orientation"),
            real(angle, "angle"),
            _vector(v, "v"),
            self._omega(omega),
            None if mass is None else real(mass, "mass"),
            self._inertia(inertia),
            _vector(center, "center"),
            loads,
            (_time(birth, "birth"), _time(death, "death")),
            group,
        )
        return Side(name)

    @_remembered
    def add_joint(
        self,
        name: str,
        joint: Joint,
        *bodies: Side | str,
        touch: bool = False,
        follows: str | None = None,
        follow_ratio: float = 1.0,
    ) -> None:
        """Adds a joint between two bodies, or a body and the world.

        Parameters
        ----------
        name : str
        joint : Joint
            For example `Pivot`; points and directions are in the frame of the world, where the
            bodies start.
        *bodies : Side or str
            The body, which is held by the world, or the first side and the second: bodies, or one of them
            and what stands still or moves as it is told, in any order.
        touch : bool
            Whether the two may touch each other nevertheless.
        follows : str, optional
            The joint whose first coordinate that of this one follows, both from where they start.
        follow_ratio : float
            The ratio of the coordinate to the other one, not zero; that of two angles a ratio of whole
            numbers up to 1000.
        """
        self._changed()
        scope = Scope(f"joint `{name}`", dict(self._core.parameters), ("", 0))
        self._core.add_joint(
            name,
            *joint._values(scope),
            joint._extras(lambda value, what: self._given(scope, value, what, "t", 1)),
            joint._built_in.get("break_force"),
            joint._built_in.get("break_moment"),
            [_name(body) for body in bodies],
            bool(touch),
            None if follows is None else (follows, real(follow_ratio, "follow_ratio")),
        )

    def mass(self, body: Side | str) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, center of mass in the frame of the shapes, and moments of inertia of a body."""
        name = _name(body)
        if name not in self.bodies:
            raise InputError(f"the scene has no body `{name}`")
        mass, center, inertia = self._core.mass_of(self.bodies.index(name))
        return mass, np.array(center), np.array(inertia)

    @property
    def model(self) -> Model:
        """The model of the scene, to which other systems, interactions and events may be added.

        It follows the scene: after each change of the scene it is made anew when it is next asked, and
        what was added to it is added again in the same order; handles stay valid. `run` has it, and
        `save` writes it. What does not fit the scene any more is a `ModelError` that names it.
        """
        from saltus.model import Model

        if self._model is None:
            again = None if self._calls is None else self._again
            self._model = Model._of_scene(self._core, again)
        self._model._refresh()
        return self._model

    def run(
        self,
        h: float | ArrayLike | None = None,
        until: float | None = None,
        tol: float | None = None,
        integrator: Integrator | Sequence[Integrator] | None = None,
        solver: Solver | None = None,
        progress: bool | Callable[[Progress], object] = False,
        every: int = 1,
        signals: Sequence[str] | None = None,
    ) -> Run:
        """Runs the scene by time-stepping.

        Parameters
        ----------
        h : float or (n,) array_like, optional
            The step, or the instants at which the steps end, as for `TimeStepping`; that of the
            last run, or of the file that the scene was read from, unless given.
        until : float, optional
            The end, likewise.
        tol : float, optional
            The verified residual of every step's problem is at most this, also where `solver` says another;
            that of the solver unless given.
        integrator : Integrator, optional
            That of the file, or `MoreauJean`, unless given.
        solver : Solver, optional
            ``Auto(tol)`` where only `tol` is given; else that of the file, or ``Auto()``.
        progress, every, signals
            As for `TimeStepping.run`.

        Raises
        ------
        SolverError
            A step was not solved. The error's ``run`` holds what was computed before it.
        KeyboardInterrupt
            On Ctrl-C. `last_run` holds what was computed.
        """
        from saltus.time_stepping import TimeStepping, _integrators

        known = self._settings
        if (h is None or until is None) and known is None:
            raise TypeError("run() needs `h` and `until`")
        given: Any = known[0] if h is None and known else h
        step = real(given, "h") if np.ndim(given) == 0 else vector(given, "h")
        end = real(known[1] if until is None and known else until, "until")
        texts, method, newton = self._methods
        if integrator is not None:
            texts = [one._json() for one in _integrators(integrator)]
        if solver is not None:
            method = solver._json()
            if tol is not None:
                method = json.dumps({**json.loads(method), "tol": real(tol, "tol")})
        elif tol is not None:
            method = Auto(tol=real(tol, "tol"))._json()
        settings = (step, end, texts, method, newton)
        self.last_run = None
        try:
            text: str | None = self._text(*settings)
        except InputError:  # functions, which no text can hold
            text = None
        simulation = TimeStepping.__new__(TimeStepping)
        simulation._start(self.model, step, texts, method, text, newton)
        self._settings = settings
        try:
            return simulation.run(end, progress, every, signals)
        finally:
            self.last_run = simulation.last_run

    def text(self, h: float | None = None, until: float | None = None) -> str:
        """The scene as the text of a model file, from which the same scene is read again, with what
        was added to its `model`. What is a function, and no formula, is an `InputError` that names it.

        Parameters
        ----------
        h, until : float, optional
            The step and the end that the file says; those of the last run, or 5 ms and 10 s. Of
            given instants, which no file can say, it is their mean step.
        """
        step, end, texts, method, newton = self._settings or (5e-3, 10.0, [], Auto()._json(), None)
        step = step if h is None else real(h, "h")
        end = end if until is None else real(until, "until")
        return self._text(step, end, texts, method, newton)

    def _text(
        self, step: float | Array, end: float, texts: list[str], method: str, newton: str | None
    ) -> str:
        """The text of a model file; of given instants their mean step, and how many they were."""
        from saltus._beside import tables

        beside = "" if self._model is None else tables(self._model._additions)
        if isinstance(step, float):
            return self._core.text(beside, step, end, texts, method, newton)
        mean = float(step[-1]) / len(step) if len(step) else 0.0  # a scene begins at zero
        text = self._core.text(beside, mean, end, texts, method, newton)
        return f"# --set simulation.h=({len(step)} given instants)\n{text}"

    def save(
        self,
        path: str | os.PathLike[str],
        h: float | None = None,
        until: float | None = None,
    ) -> None:
        """Writes the scene as a model file (TOML), which `load` and the command line read."""
        text = self.text(h, until)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _changed(self) -> None:
        if self._model is not None:
            self._model._is_stale = True

    def _given(self, scope: Scope, value: Any, what: str, arguments: str, rows: int) -> Any:
        """Formulas as texts, numbers as an array, anything else as an operator."""
        value = given_or_none(value, what, 1)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list):
            return [entry if isinstance(entry, str) else repr(float(entry)) for entry in value]
        if isinstance(value, np.ndarray):
            return value
        return scope.operator(value, what, arguments, rows)

    def _turn(self, owner: str, orientation: ArrayLike, angle: float) -> Array:
        """How something is turned: by an angle in the plane, by a quaternion in space."""
        turn, about = vector(orientation, "orientation"), real(angle, "angle")
        if self.dim == 2:
            if not np.array_equal(turn, _TURN):
                raise InputError(f"{owner}: `orientation` is that of space; in the plane give `angle`")
            return np.array([np.cos(0.5 * about), 0.0, 0.0, np.sin(0.5 * about)])
        if about != 0.0:
            raise InputError(f"{owner}: `angle` is that of the plane; in space give `orientation`")
        return turn

    def _omega(self, omega: ArrayLike | None) -> np.ndarray:
        if omega is None:
            return np.zeros(3)
        if self.dim == 2:
            return np.array([0.0, 0.0, real(omega, "omega")])
        return vector(omega, "omega")

    def _inertia(self, inertia: ArrayLike | None) -> np.ndarray | None:
        if inertia is None:
            return None
        if self.dim == 2:
            return np.array([[0.0, 0.0, real(inertia, "inertia")]])
        axes = np.ndim(np.asarray(inertia, dtype=object))
        moments = vector(inertia, "inertia") if axes < 2 else matrix(inertia, "inertia")
        if moments.shape not in ((3,), (3, 3)):
            shape = " × ".join(str(size) for size in moments.shape)
            found = "one number" if axes == 0 else f"{shape} numbers"
            raise InputError(f"`inertia` is {found}, expected 3 moments or a matrix of 3 × 3")
        return np.diag(moments) if moments.ndim == 1 else moments

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{len(names)} {what}"
            for names, what in zip(
                self._core.names()[1:], ("statics", "bodies", "joints"), strict=True
            )
        )
        return f"<Scene {self.title!r}: {counts}>"


def load(path: str | os.PathLike[str]) -> Scene:
    """Reads a scene: a model file (``.toml``), a scene of Siconos (``.hdf5``), a robot
    description (``.urdf``) or a model of MuJoCo (``.xml``, ``.mjcf``).

    What has no place in the scene is told by a `SceneWarning`.
    """
    core, settings, left_aside = _saltus.load_scene(os.fspath(path))
    for what in left_aside:
        warnings.warn(f"{os.fspath(path)}: left aside: {what}", SceneWarning, stacklevel=2)
    scene = Scene.__new__(Scene)
    scene._take(core)
    scene._settings = settings
    if settings is not None:
        scene._methods = settings[2:]
    return scene


def _name(side: Side | str) -> str:
    if isinstance(side, Side):
        return side.name
    if isinstance(side, str):
        return side
    raise TypeError(f"expected a body of the scene or its name, not {type(side).__name__}")


def _vector(value: ArrayLike | None, what: str) -> np.ndarray | None:
    return None if value is None else vector(value, what)


def _time(value: float | None, what: str) -> float | None:
    return None if value is None else real(value, what)
