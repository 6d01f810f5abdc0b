"""The interpreter is released while it computes; Ctrl-C; progress.

Threads meet at events, and a run that is to be ended from outside is far longer than any test: if
nothing ends it, it completes after some minutes and the test fails. `PATIENCE` bounds a wait that
would otherwise never end; nothing is measured by it.
"""

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import Ball, point

import saltus as sl

H = 5e-3
LONG = 1e9 * H
PATIENCE = 60.0


def wait(event):
    assert event.wait(PATIENCE), "the other side did not come"


def is_busy(sim):
    try:
        sim.t  # noqa: B018
    except sl.BusyError:
        return True
    return False


class Presser(threading.Thread):
    """Presses Ctrl-C while a simulation computes, seen from another thread.

    The model has no Python function, so that its simulation is found computing only if the
    interpreter is released in compiled code.
    """

    LOOKS = 1000

    def __init__(self, sim):
        super().__init__(daemon=True)
        self.sim = sim
        self.looks = 0
        self.over = threading.Event()

    def run(self):
        while self.looks < self.LOOKS and not self.over.is_set():
            self.looks += is_busy(self.sim)
        if not self.over.is_set():
            signal.raise_signal(signal.SIGINT)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def test_other_threads_go_on_and_ctrl_c_is_seen():
    sim = Ball().sim
    with Presser(sim) as presser, pytest.raises(KeyboardInterrupt):
        sim.run(LONG, every=10**6)
    assert presser.looks == presser.LOOKS
    run = sim.last_run
    assert run.stats.outcome == "interrupted" and not run.complete and run.stats.failures == 0
    # it was seen between two steps
    assert run.stats.steps >= 1 and sim.t == pytest.approx(run.stats.steps * H, rel=1e-12)
    assert run.t[0] == 0.0
    # and it goes on from there
    now = sim.t
    assert sim.run(now + 1.0).t[0] == now and sim.last_run is None


def test_ctrl_c_in_a_function():
    def b(t):
        if t == 1.0:
            signal.raise_signal(signal.SIGINT)
        return [1.0]

    sim = sl.TimeStepping(point(b=b)[0], h=0.125)
    with pytest.raises(KeyboardInterrupt):
        sim.run(3.0)
    run = sim.last_run
    assert run.stats.outcome == "interrupted" and run.stats.failures == 0
    # the step in which it was pressed has changed nothing
    assert run.stats.steps == 7 and run.t[-1] == sim.t == 0.875
    sim.set_state("point", x=[0.0])
    assert sim.model["point"].x == [0.0]


def test_many_simulations_at_once():
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda sim: sim.run(10.0), [Ball().sim for _ in range(4)]))
    for run in runs[1:]:
        np.testing.assert_array_equal(run["ball"].q, runs[0]["ball"].q)


def test_two_simulations_are_in_a_step_at_once():
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def b(t):
        if t == 0.5:
            meeting.wait()
        return [1.0]

    sims = [sl.TimeStepping(point(b=b)[0], h=0.125) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda sim: sim.run(1.0), sims))
    assert [run["point"].x[-1, 0] for run in runs] == [1.0, 1.0]


def test_a_simulation_that_computes_is_busy():
    inside, go = threading.Event(), threading.Event()

    def b(t):
        if t == 0.5:
            inside.set()
            wait(go)
        return [1.0]

    # asked from another thread it answers at once: waiting for it here, with the function
    # waiting for this thread there, would last for ever
    model, state = point(b=b)
    sim = sl.TimeStepping(model, h=0.125)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(sim.run, 1.0)
        try:
            wait(inside)
            asked = [
                lambda: sim.t,
                lambda: sim.done(1.0),
                sim.step,
                sim.reset,
                lambda: sim.run(2.0),
                lambda: sim.set_state("point", x=[0.0]),
                lambda: state.x,
            ]
            for ask in asked:
                with pytest.raises(sl.BusyError):
                    ask()
            assert "computing" in repr(sim)
        finally:
            go.set()
        assert future.result().complete
    assert sim.t == 1.0 and state.x == [1.0]


class Terminal:
    """Takes what is written; ends the run that has shown how far it is so many times."""

    def __init__(self, most=None):
        self.text = ""
        self.most = most

    def write(self, text):
        self.text += text
        if "%" in text and self.text.count("%") == self.most:
            raise StopIteration

    def flush(self):
        pass

    def isatty(self):
        return True


class TestProgress:
    def test_function(self):
        seen = []

        def look(progress):
            seen.append(progress)
            if len(seen) == 3:
                raise StopIteration

        ball = Ball()
        with pytest.raises(StopIteration):
            ball.sim.run(LONG, every=10**6, progress=look)
        steps = [p.steps for p in seen]
        assert steps == sorted(set(steps)) and len(steps) == 3
        for p in seen:
            assert p.start == 0.0 and p.until == LONG and 0 < p.fraction < 1
            assert p.t == pytest.approx(p.steps * H, rel=1e-12)
        assert ball.sim.last_run.stats.outcome == "interrupted"
        assert ball.sim.last_run.stats.steps == steps[-1]

    def test_terminal(self, ball, monkeypatch):
        terminal = Terminal(most=2)
        monkeypatch.setattr(sys, "stderr", terminal)
        with pytest.raises(StopIteration):
            ball.sim.run(LONG, every=10**6, progress=True)
        first, second, last = terminal.text.split("\r")[1:]
        assert "%" in first and "%" in second and "t = " in first and " steps" in first
        steps = ball.sim.last_run.stats.steps
        assert "bouncing ball: interrupted at t = " in last and f"{steps:,} steps" in last
        assert last.endswith("\n") and terminal.text.count("\n") == 1

    def test_terminal_of_a_short_run(self, ball, monkeypatch):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        ball.sim.run(10.0, progress=True)
        last = terminal.text.split("\r")[-1]
        assert "complete at t = 10, 2,000 steps" in last and last.endswith("\n")

    def test_silence(self, ball, capsys):
        ball.sim.run(1.0)
        assert capsys.readouterr() == ("", "")
