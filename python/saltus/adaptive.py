"""The adaptive strategy: from event to event while they are rare, by steps through clusters."""

from __future__ import annotations

from saltus import _saltus
from saltus._arrays import real
from saltus.model import Model
from saltus.sampled import Sampled
from saltus.solvers import Solver
from saltus.strategy import checked


class Adaptive(Sampled):
    """A model on its way through time, by whichever strategy suits.

    From event to event while events are rare, as `EventDriven` does; by error-controlled steps of
    time-stepping through clusters of events, which are not located one by one there.

    The model is copied: what is added to it later does not change the simulation. Its handles
    show the state of the simulation that it was last given to.

    Parameters
    ----------
    model : Model
    tol : float
        Error allowed in a step, relative to ``1 + |X|``, in (0, 0.1].
    solver : solvers.Solver, optional
        The solver of the problems at events and in steps; `solvers.Auto` unless given.

    Attributes
    ----------
    last_run : Run or None
        What the last `run` had computed when it was interrupted or failed; None after a run
        that reached its end.
    """

    def __init__(self, model: Model, tol: float = 1e-6, solver: Solver | None = None) -> None:
        solver = checked(type(self), model, solver)
        self._start(model, real(tol, "tol"), solver._json(), None)

    def _start(self, model: Model, tol: float, solver: str, model_text: str | None) -> None:
        model._prepare()
        self._take(model, _saltus.Adaptive(model._core, tol, solver, model_text))
