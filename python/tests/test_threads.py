"""The interpreter is released while it computes; Ctrl-C; progress."""

import os
import signal
import sys
import threading
import time

import pytest
from conftest import Ball, point

import saltus as sl

LONG = 1e9
"""Far more time than any test lets a run have."""


def stop_after(seconds):
    """A progress function that ends a run."""
    start = time.perf_counter()

    def look(progress):
        if time.perf_counter() - start > seconds:
            raise StopIteration("enough")

    return look


def test_other_threads_go_on():
    ticks = 0
    stop = threading.Event()

    def tick():
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        with pytest.raises(StopIteration):
            Ball().sim.run(LONG, every=10**6, progress=stop_after(0.5))
        during = ticks - before
    finally:
        stop.set()
        thread.join()
    assert during > 50  # of 500; with the interpreter held it would be a handful


def test_two_simulations_at_once():
    runs = {}

    def work(key):
        runs[key] = Ball().sim.run(10.0)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((runs[k]["ball"].q == runs[0]["ball"].q).all() for k in range(4))


def test_functions_in_other_threads():
    # the lock is tried, not waited for: no deadlock with a function that needs the interpreter
    model, _ = point(b=lambda t: [1.0])
    sim = sl.TimeStepping(model, h=1e-4)
    thread = threading.Thread(target=lambda: sim.run(1.0))
    thread.start()
    busy = 0
    while thread.is_alive():
        try:
            sim.t  # noqa: B018
        except sl.BusyError:
            busy += 1
    assert sim.t == pytest.approx(1.0) and busy > 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
class TestCtrlC:
    def press_after(self, seconds):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()

    def test_in_compiled_code(self):
        ball = Ball()
        self.press_after(0.2)
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            ball.sim.run(LONG, every=10**5)
        assert time.perf_counter() - start < 2.0
        run = ball.sim.last_run
        assert run.stats.outcome == "interrupted" and not run.complete and run.stats.failures == 0
        assert run.stats.steps > 1000 and run.t[0] == 0.0
        # and it goes on from there
        now = ball.sim.t
        assert ball.sim.run(now + 1.0).t[0] == now and ball.sim.last_run is None

    def test_in_a_function(self):
        def slow(t):
            time.sleep(1e-3)
            return [1.0]

        sim = sl.TimeStepping(point(b=slow)[0], h=0.1)
        self.press_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            sim.run(LONG, every=10**5)
        assert sim.last_run.stats.outcome == "interrupted" and sim.last_run.stats.steps > 10


class TestProgress:
    def test_function(self):
        seen = []

        def look(progress):
            seen.append(progress)
            if len(seen) == 3:
                raise StopIteration

        ball = Ball()
        start = time.perf_counter()
        with pytest.raises(StopIteration):
            ball.sim.run(LONG, every=10**6, progress=look)
        assert time.perf_counter() - start >= 0.25  # at most ten a second
        assert [p.steps for p in seen] == sorted(p.steps for p in seen)
        assert seen[0].start == 0.0 and seen[0].until == LONG and 0 < seen[0].fraction < 1
        assert ball.sim.last_run.stats.outcome == "interrupted"

    def test_terminal(self, monkeypatch):
        class Terminal:
            def __init__(self):
                self.text = ""

            def write(self, text):
                self.text += text

            def flush(self):
                pass

            def isatty(self):
                return True

        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        ball = Ball()
        steps = 3_000_000
        ball.sim.run(steps * 5e-3, every=10**5, progress=True)
        assert terminal.text.endswith("\n") and terminal.text.count("\n") == 1
        assert f"{steps:,} steps" in terminal.text and "%" in terminal.text

    def test_silence(self, ball, capsys):
        ball.sim.run(1.0)
        assert capsys.readouterr() == ("", "")


def test_python_adds_little_to_a_run():
    # beside the seconds that the compiled run itself counted: this sees what the Python layer adds,
    # not whether the compiled code is as fast as in a Rust program
    ball = Ball()
    sim = sl.TimeStepping(ball.model, h=1e-4)
    ratios = []
    for _ in range(5):
        sim.reset()
        start = time.perf_counter()
        run = sim.run(10.0)
        ratios.append((time.perf_counter() - start) / run.stats.seconds)
        assert run.stats.steps == 100_000
    assert min(ratios) < 1.3
