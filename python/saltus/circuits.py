"""Circuits from SPICE netlists.

    import saltus as sl

    c = sl.circuits.load("buck.cir")
    c.set(RLOAD=5.0)
    run = c.run()                       # as `.tran` says
    run.t, run["v(out)"], run["i(L1)"], run.measures

Diodes, switches and transistors are ideal or piecewise linear unless the netlist says otherwise,
so that a run switches at once, without stray resistances or capacitances.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from saltus import _saltus
from saltus._arrays import count, real
from saltus._errors import InputError, SaltusError
from saltus._progress import Progress, Reporter
from saltus.results import Run

__all__ = ["Circuit", "CircuitRun", "Harmonic", "OperatingPoint", "Spectrum", "load", "parse"]


class Harmonic(NamedTuple):
    """One harmonic of a signal."""

    frequency: float
    """Hertz."""
    magnitude: float
    """Its amplitude."""
    phase: float
    """Degrees, of a sine that counts from time 0."""


class Spectrum(NamedTuple):
    """Fourier coefficients of a signal (``.four``)."""

    signal: str
    """The signal."""
    mean: float
    """Its mean over the last period."""
    distortion: float
    """Total harmonic distortion; 1 is as much as the first harmonic."""
    harmonics: list[Harmonic]
    """The first nine."""


class OperatingPoint(Mapping[str, float]):
    """A circuit at rest: ``point["v(out)"]``, ``point["i(R1)"]``."""

    def __init__(
        self, voltages: Sequence[tuple[str, float]], currents: Sequence[tuple[str, float]]
    ) -> None:
        self.voltages = dict(voltages)
        """Of the nodes."""
        self.currents = dict(currents)
        """Of the components."""
        values = {f"v({name})": value for name, value in voltages}
        values |= {f"i({name})": value for name, value in currents}
        self._values = values
        self._folded = {name.lower(): value for name, value in values.items()}

    def __getitem__(self, name: str) -> float:
        key = name.replace(" ", "").lower()
        if key in self._folded:
            return self._folded[key]
        if key.startswith("v(") and key.endswith(")") and "," in key:
            plus, minus = key[2:-1].split(",", 1)
            return self[f"v({plus})"] - self[f"v({minus})"]
        if key in ("v(0)", "v(gnd)"):
            return 0.0
        raise KeyError(name)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        voltages = ", ".join(f"{name} {value:.6g} V" for name, value in self.voltages.items())
        return f"<OperatingPoint: {voltages}>"


class CircuitRun(Run):
    """A run of a circuit: ``run["v(out)"]``, ``run["v(a, b)"]``, ``run["i(L1)"]`` are (n,) arrays."""

    measures: dict[str, float]
    """The results of ``.meas`` by name; those without a value are not in it."""
    failed_measures: dict[str, str]
    """Why a measure has no value."""
    spectra: list[Spectrum]
    """The results of ``.four``."""

    def __init__(
        self,
        core: _saltus.Run,
        measures: Sequence[tuple[str, float | None, str | None]],
        spectra: Sequence[tuple[str, float, float, list[tuple[float, float, float]]]],
    ) -> None:
        super().__init__(core)
        self.measures = {name: value for name, value, _ in measures if value is not None}
        self.failed_measures = {name: why for name, _, why in measures if why is not None}
        self.spectra = [
            Spectrum(signal, mean, distortion, [Harmonic(*one) for one in harmonics])
            for signal, mean, distortion, harmonics in spectra
        ]


class Circuit:
    """A netlist, its values changed as often as one likes. Made by `load` and `parse`."""

    def __init__(self, core: _saltus.Circuit, text: str | None, name: str) -> None:
        self._core = core
        self._text = text
        self._name = name
        self._set: dict[str, float] = {}

    @property
    def title(self) -> str:
        """The first line of the netlist."""
        return self._core.title

    @property
    def warnings(self) -> list[str]:
        """What was read and has no effect, with its place."""
        return self._core.warnings()

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes; the first is ground."""
        return self._core.nodes()

    @property
    def components(self) -> list[str]:
        """The names of the components, those of subcircuits as ``X1.R2``."""
        return self._core.components()

    @property
    def signals(self) -> list[str]:
        """The names of all voltages and currents: ``v(out)``, ``i(L1)``."""
        return self._core.signals()

    def set(self, **values: float) -> None:
        """Puts values in place of those of parameters (``.param``) or components, by name;
        `set_value` takes names with points in them.

        Raises
        ------
        InputError
            A name that the netlist does not have, or a component without a single value.
        """
        for name, value in values.items():
            self.set_value(name, value)

    def set_value(self, name: str, value: float) -> None:
        """The same for one name, such as ``"X1.R2"``."""
        number = real(value, name)
        self._core.set(name, number)
        self._set[name] = number

    def add(self, *lines: str) -> None:
        """Adds lines of a netlist: components, models, measures.

            c.add("R2 out 0 10", "D3 0 out DI")

        Nothing has changed if they cannot be read.
        """
        if self._text is None:
            raise InputError("lines are added to a netlist from `parse`, or from a file of text")
        kept = []
        for line in self._text.splitlines():
            if line.strip().lower() == ".end":
                break
            kept.append(line)
        text = "\n".join([*kept, *lines]) + "\n"
        core = _saltus.Circuit.parse(text, self._name)
        for name, value in self._set.items():
            core.set(name, value)
        core.nodes()
        self._core, self._text = core, text

    def operating_point(self) -> OperatingPoint:
        """The circuit at rest, with its sources as they are at the beginning; one of them where
        there are several."""
        return OperatingPoint(*self._core.operating_points(None)[0])

    def operating_points(self, modes: int = 1_000_000) -> list[OperatingPoint]:
        """All operating points of a piecewise-linear circuit: a flip-flop has three.

        Parameters
        ----------
        modes : int
            Combinations of branches that may be looked at.
        """
        points = self._core.operating_points(count(modes, "modes"))
        return [OperatingPoint(*point) for point in points]

    def run(
        self,
        until: float | None = None,
        h: float | None = None,
        method: str | None = None,
        *,
        start: float | None = None,
        theta: float | None = None,
        tol: float | None = None,
        signals: Sequence[str] | None = None,
        every: int | None = None,
        progress: bool | Callable[[Progress], object] = False,
    ) -> CircuitRun:
        """Runs the circuit.

        Parameters
        ----------
        until, h : float, optional
            End and step; those of ``.tran`` unless given.
        method : {"fixed", "exact", "adaptive"}, optional
            Steps of one length; from one switching instant to the next; or exact while these are
            rare, by steps that follow their error where they are dense or devices are smooth. As
            ``.option saltus method`` says unless given, else fixed. The last two record every `h`.
        start : float, optional
            Nothing is recorded before.
        theta : float, optional
            Of fixed steps: 1 is Euler's implicit rule, 1/2 the trapezoidal rule, which is more accurate and rings
            where things switch; as ``.option method`` says unless given.
        tol : float, optional
            Of the other methods: error of a step, relative to the state.
        signals : list of str, optional
            What is recorded, ``"v(out)"``, ``"i(L1)"``; what ``.save`` says, else everything.
        every : int, optional
            Record every so many steps.
        progress : bool or function
            Shows how far the run is.

        Raises
        ------
        ModelError
            The circuit makes no sense: a loop of voltage sources, a floating node; it is named.
        SolverError
            A step was not solved; ``error.run`` has what was computed before.
        """
        if every is not None and count(every, "every") == 0:
            raise InputError("`every` = 0 is outside 1, 2, 3 …")
        reporter = Reporter(progress)
        core, measures, spectra, error = self._core.run(
            until=None if until is None else real(until, "until"),
            h=None if h is None else real(h, "h"),
            start=None if start is None else real(start, "start"),
            method=method,
            theta=None if theta is None else real(theta, "theta"),
            tol=None if tol is None else real(tol, "tol"),
            signals=[signals] if isinstance(signals, str) else signals and list(signals),
            every=None if every is None else count(every, "every"),
            progress=reporter.report,
        )
        run = CircuitRun(core, measures, spectra)
        reporter.finish(run)
        if error is not None:
            if isinstance(error, (SaltusError, KeyboardInterrupt)):
                error.run = run
            raise error
        return run

    def __repr__(self) -> str:
        return f"<Circuit {self.title!r}>"


def load(path: str | os.PathLike[str]) -> Circuit:
    """Reads a netlist (``.cir``, ``.sp``) from a file.

    Raises
    ------
    ModelFileError
        A line that cannot be read; the message shows file, line and column.
    """
    name = os.fspath(path)
    core = _saltus.Circuit.read(name)
    try:
        with open(name, encoding="utf-8") as file:
            text: str | None = file.read()
    except (OSError, UnicodeError):
        text = None
    return Circuit(core, text, name)


def parse(text: str, name: str = "netlist") -> Circuit:
    """Reads a netlist from a text, whose first line is the title.

    Files that it includes are looked for beside `name`.
    """
    if not isinstance(text, str):
        raise TypeError(f"parse() takes the text of a netlist, not {type(text).__name__}")
    return Circuit(_saltus.Circuit.parse(text, name), text, name)
