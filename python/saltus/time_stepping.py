"""The time-stepping strategy: one problem a step, events are not located."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from saltus import _saltus
from saltus._arrays import real, vector
from saltus._progress import Progress
from saltus.integrators import Integrator
from saltus.model import InteractionHandle, Model, SystemHandle
from saltus.newton import Newton
from saltus.results import Run
from saltus.solvers import Solver
from saltus.strategy import Strategy, checked


class TimeStepping(Strategy):
    """A model on its way through time.

    The model is copied: what is added to it later does not change the simulation. Its handles
    show the state of the simulation that it was last given to.

    Parameters
    ----------
    model : Model
    h : float or (n,) array_like
        The time step (the last one is shortened where ``until`` asks for it), or the instants
        at which the steps end, which increase from ``t0`` on.
    integrator : Integrator or list of them, optional
        One for each order of systems that the model has: `EulerMoreau` for first-order ones,
        `MoreauJean` for mechanical ones, with their defaults unless given.
    solver : solvers.Solver, optional
        `solvers.Auto` unless given.
    newton : Newton, optional
        How the equations of a step are solved where the model is not linear.

    Attributes
    ----------
    last_run : Run or None
        What the last `run` had computed when it was interrupted or failed; None after a run
        that reached its end.

    Notes
    -----
    The interpreter is released while a step is computed, so other threads go on. A simulation
    that is computing answers other threads with `BusyError`.
    """

    def __init__(
        self,
        model: Model,
        h: float | ArrayLike,
        integrator: Integrator | Iterable[Integrator] | None = None,
        solver: Solver | None = None,
        newton: Newton | None = None,
    ) -> None:
        integrators = _integrators(integrator)
        solver = checked(type(self), model, solver)
        if newton is not None and not isinstance(newton, Newton):
            found = type(newton).__name__
            raise TypeError(f"`newton` must be a saltus.Newton, not {found}")
        steps = real(h, "h") if np.ndim(h) == 0 else vector(h, "h")
        texts = [one._json() for one in integrators]
        method = None if newton is None else newton._json()
        self._start(model, steps, texts, solver._json(), None, method)

    def _start(
        self,
        model: Model,
        steps: float | np.ndarray,
        integrators: list[str],
        solver: str,
        model_text: str | None,
        newton: str | None = None,
    ) -> None:
        model._prepare()
        core = _saltus.TimeStepping(model._core, steps, integrators, solver, model_text, newton)
        self._take(model, core)

    def run(
        self,
        until: float,
        progress: bool | Callable[[Progress], object] = False,
        every: int = 1,
        signals: Sequence[str] | None = None,
    ) -> Run:
        """Runs from the current time until `until`.

        Parameters
        ----------
        until : float
            Where to stop; the last step is shortened where needed. With given instants the run
            ends at the last one that is not later, and `until` is at most the last of all.
        progress : bool or callable
            True shows one line on the terminal, and a last one in any case; a function gets a
            `Progress` at most 10 times a second, and what it raises ends the run.
        every : int
            Record every so many steps; the first and the last instant are always recorded.
        signals : sequence of str, optional
            Record only these signals (``"ball.q"``; ``"ball.q[0]"`` stands for the whole of it)
            or systems and interactions (``"ball"``); all of them unless given.

        Raises
        ------
        SolverError
            A step was not solved. The error's ``run`` holds what was computed before it.
        KeyboardInterrupt
            On Ctrl-C. `last_run` holds what was computed; another call of `run` goes on from
            there. Ctrl-C is looked after several times a second, within long steps too, and progress
            between two steps.
        """
        return self._run(until, progress, every, signals)

    def checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Writes all that the next steps depend on besides the model to a file.

        States, multipliers, inputs, the ledger, what the scheme remembers and what the solver has
        met are kept to the last bit. The file appears whole or not at all.
        """
        self._core.checkpoint(os.fspath(path))

    def restore(self, path: str | os.PathLike[str]) -> TimeStepping:
        """Takes up a simulation of the same model where `checkpoint` left it.

        The next steps are those of the simulation that was not interrupted, bit for bit, also in
        another process. The simulation itself is returned::

            sim = sl.TimeStepping(model, h=1e-3).restore("ball.checkpoint")

        Raises
        ------
        InputError
            The checkpoint is of another model, step, integrator or solver; the message says what
            differs.
        FileError
            The file cannot be read, is damaged, or is no checkpoint.

        In either case nothing has changed.
        """
        self._core.restore(os.fspath(path))
        return self

    def set_input(
        self, owner: str | SystemHandle | InteractionHandle, z: ArrayLike
    ) -> None:
        """Replaces the inputs ``z`` of a system or interaction, from the current time on.

        Parameters
        ----------
        owner : str, SystemHandle or InteractionHandle
            It has inputs because it was given ``z0``; `reset` takes it back to these.
        z : (k,) array_like
        """
        if not isinstance(owner, (str, SystemHandle, InteractionHandle)):
            found = type(owner).__name__
            raise TypeError(
                f"set_input() takes a system or interaction, by handle or name, not {found}"
            )
        name = owner if isinstance(owner, str) else owner.name
        self._core.set_input(name, vector(z, "z"))


def _integrators(given: Integrator | Iterable[Integrator] | None) -> list[Integrator]:
    if given is None:
        return []
    if isinstance(given, Integrator):
        return [given]
    if isinstance(given, Iterable):
        integrators = list(given)
        if all(isinstance(one, Integrator) for one in integrators):
            return integrators
    raise TypeError(
        f"`integrator` must be an integrator or a list of them, not {type(given).__name__}"
    )
