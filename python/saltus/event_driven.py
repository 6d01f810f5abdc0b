"""The event-driven strategy: smooth phases of high order, events at their exact instants."""

from __future__ import annotations

from saltus import _saltus
from saltus._arrays import real
from saltus.model import Model
from saltus.sampled import Sampled
from saltus.solvers import Solver
from saltus.strategy import checked


class EventDriven(Sampled):
    """A model on its way through time, from event to event.

    Between events the model is in one mode, a smooth equation that collocation of order 9
    integrates with error control. Impacts, lift-offs, switches, sticking and slipping are found
    where they happen, to the accuracy of the steps; infinitely many of them in finite time are
    passed at their limit.

    The model is copied: what is added to it later does not change the simulation. Its handles
    show the state of the simulation that it was last given to.

    Parameters
    ----------
    model : Model
    rtol, atol : float
        Error allowed in a step, relative to the state and besides, in (0, 1); ``atol`` is also
        the gap at which a contact counts as closed.
    solver : solvers.Solver, optional
        The solver of the problems at events; `solvers.Auto` unless given.

    Attributes
    ----------
    last_run : Run or None
        What the last `run` had computed when it was interrupted or failed; None after a run
        that reached its end.

    Notes
    -----
    Multipliers of contacts are forces here, where those of time-stepping are impulses of steps;
    an impact is an entry of ``run.events`` with the velocities before and after it.
    """

    def __init__(
        self,
        model: Model,
        rtol: float = 1e-9,
        atol: float = 1e-11,
        solver: Solver | None = None,
    ) -> None:
        solver = checked(type(self), model, solver)
        self._start(model, real(rtol, "rtol"), real(atol, "atol"), solver._json(), None)

    def _start(
        self, model: Model, rtol: float, atol: float, solver: str, model_text: str | None
    ) -> None:
        model._prepare()
        self._take(model, _saltus.EventDriven(model._core, rtol, atol, solver, model_text))
