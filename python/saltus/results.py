"""What a simulation leaves behind."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from saltus import _saltus
from saltus._arrays import Array, count
from saltus._errors import InputError, SignalError, did_you_mean
from saltus.events import Event, records

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True)
class RunStats(Mapping[str, Any]):
    """Totals of a run, as attributes or by key."""

    steps: int
    """Steps done."""
    iterations: int
    """Iterations of the solver over all steps."""
    worst_residual: float
    """Largest verified residual of any step."""
    worst_penetration: float
    """Deepest penetration: the largest ``−y`` of any contact at any step's end, 0 if none."""
    failures: int
    """Steps that failed (0 or 1: a failed step ends the run)."""
    seconds: float
    """Seconds of wall time."""
    outcome: str
    """``"complete"``, ``"interrupted"`` or ``"failed"``."""
    message: str | None = None
    """What went wrong, if it failed."""
    error_estimate: float | None = None
    """Sum of the errors of all steps, relative to ``1 + |state|``, where the strategy controls them."""

    def __getitem__(self, name: str) -> Any:
        if name in self.__dict__:
            return self.__dict__[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(field.name for field in fields(self))

    def __len__(self) -> int:
        return len(fields(self))


@dataclass(frozen=True)
class Ledger(Generic[T]):
    """Energies of the mechanical systems, and where they went since the ledger began::

        E − E(begin) = work − damping − impact − friction − numerical,  E = kinetic + potential

    It begins at ``t0``, and anew when `set_state` replaces ``q`` or ``v``; a further run goes
    on with it. Arrays over the rows of a run, or numbers for the current state of a simulation.
    """

    kinetic: T
    """``½ vᵀ M v``"""
    potential: T
    """``½ qᵀ K q``"""
    work: T
    """Work of all forces without a potential but damping, and of what moves constraints."""
    damping: T
    """Energy taken by damping: by ``C v``, or by what depends on ``v`` in ``F_int``."""
    impact: T
    """Energy taken along the normals of contacts and by constraints."""
    friction: T
    """Energy taken along tangents, by rolling, relays and other laws of forces."""
    numerical: T
    """What is left of the balance: the energy that the scheme itself took. Zero to round-off for
    ``theta = 1/2``."""

    @property
    def contact(self) -> T:
        """Energy taken by the interactions: impact and friction."""
        return self.impact + self.friction  # type: ignore[operator, no-any-return]


class Record:
    """The recorded signals of one system or interaction; each is copied out when asked for."""

    def __init__(self, core: _saltus.Run, name: str, quantities: dict[str, int]) -> None:
        self._core = core
        self._quantities = quantities
        self.name = name

    @property
    def x(self) -> Array:
        """State of a first-order system, one row an instant."""
        return self._get("x")

    @property
    def q(self) -> Array:
        """Configuration of a mechanical system, one row an instant; of a rigid body position and
        orientation side by side."""
        turn = next((name for name in ("orientation", "angle") if name in self._quantities), None)
        if turn is None:
            return self._get("q")
        return self._side_by_side("position", turn)

    @property
    def v(self) -> Array:
        """Velocity of a mechanical system, one row an instant; of a rigid body that of its center
        of mass."""
        return self._get("v")

    @property
    def position(self) -> Array:
        """Where the center of mass of a rigid body is, one row an instant."""
        return self._get("position")

    @property
    def orientation(self) -> Array:
        """How a rigid body in space is turned, one row an instant: quaternions ``(w, x, y, z)``."""
        return self._get("orientation")

    @property
    def angle(self) -> Array:
        """How a rigid body in the plane is turned at each instant."""
        return self._get("angle")[:, 0]

    @property
    def omega(self) -> Array:
        """Angular velocity of a rigid body: in space one row an instant, in the frame of the body;
        in the plane one number an instant."""
        omega = self._get("omega")
        return omega[:, 0] if omega.shape[1] == 1 else omega

    @property
    def twist(self) -> Array:
        """``v`` and ``omega`` of a rigid body side by side, one row an instant."""
        return self._side_by_side("v", "omega")

    @property
    def y(self) -> Array:
        """Output (mechanics: gap) of an interaction, one row an instant."""
        return self._get("y")

    @property
    def u(self) -> Array:
        """Relative velocity ``ẏ`` of a mechanical interaction, one row an instant."""
        return self._get("u")

    @property
    def lam(self) -> Array:
        """Multiplier of an interaction, one row an instant (mechanics: the impulse of the step
        that ended there)."""
        return self._get("lam")

    @property
    def beta(self) -> Array:
        """Integrity of a bond, one row an instant: 1 sound, 0 broken."""
        return self._get("beta")

    def _side_by_side(self, first: str, second: str) -> Array:
        import numpy as np

        return np.hstack([self._get(first), self._get(second)])

    def _get(self, quantity: str) -> Array:
        if quantity not in self._quantities:
            known = ", ".join(self._quantities)
            raise AttributeError(f"`{self.name}` has no `{quantity}` in this run; it has {known}")
        return self._core.signal(f"{self.name}.{quantity}")

    def __repr__(self) -> str:
        signals = ", ".join(f"{q} ({self._core.rows}, {n})" for q, n in self._quantities.items())
        return f"<{self.name}: {signals}>"


class Run:
    """A finished run. Arrays are copies, made when asked for.

    ``run["ball"].q`` is an (n, dim) array, ``run["ball.q"]`` the same, and ``run["ball.q[0]"]``
    one column of it; ``run["v(out)"]`` is the (n,) array of a circuit's voltage.
    """

    def __init__(self, core: _saltus.Run, scene: _saltus.Scene | None = None) -> None:
        self._core = core
        self._scene = scene

    @cached_property
    def _records(self) -> dict[str, dict[str, int]]:
        """What is recorded of whom, made when first asked for: models may have many members."""
        records: dict[str, dict[str, int]] = {}
        for owner, quantity, size in self._core.signals():
            records.setdefault(owner, {})[quantity] = size
        return records

    @property
    def t(self) -> Array:
        """The recorded instants."""
        return self._core.t()

    @property
    def events(self) -> list[Event]:
        """What happened, in the order of time: each has ``time``, ``kind``, ``name``,
        ``interaction``, and what changed ``before`` and ``after``."""
        return records(self._core.events())

    @property
    def contacts(self) -> NDArray[np.void]:
        """The contacts of the recorded instants, a structured array with one row a contact and
        instant: ``time``, ``bodies`` (two names), ``feature`` (which contact of the pair), ``point``,
        ``normal`` (from the second body to the first), ``gap``, ``u`` (velocity of the first less that
        of the second), ``impulse`` (on the first, in the step that ended there), ``moment`` (of rolling
        resistance) and ``mu``; vectors are in the frame of the world."""
        return self._contacts

    @cached_property
    def _contacts(self) -> NDArray[np.void]:
        import numpy as np

        names = self._core.sides()
        ends = self._core.contact_ends()
        counts = np.diff(ends, prepend=0)
        rows = int(ends[-1]) if len(ends) else 0
        width = max((len(name) for name in names), default=1)
        table = np.zeros(
            rows,
            dtype=[
                ("time", float),
                ("bodies", f"U{width}", 2),
                ("feature", np.uint64),
                ("point", float, 3),
                ("normal", float, 3),
                ("gap", float),
                ("u", float, 3),
                ("impulse", float, 3),
                ("moment", float, 3),
                ("mu", float),
            ],
        )
        if rows:
            table["time"] = np.repeat(self.t, counts)
            table["feature"] = self._core.contact_features()
            sides, _ = self._core.contact_column("sides")
            table["bodies"] = np.array(names)[sides.astype(int).reshape(-1, 2)]
            for name in ("point", "normal", "gap", "u", "impulse", "moment", "mu"):
                values, per_row = self._core.contact_column(name)
                table[name] = values.reshape(-1, per_row) if per_row > 1 else values
        return table

    def force_on(self, body: str, by_source: bool = False) -> Any:
        """The sum of the forces on a body by all interactions at each recorded instant: contacts that
        were found, joints with what is built into them, springs, bushings, contacts that the model names.
        On what stands still, contacts that were found.

        Parameters
        ----------
        body : str
        by_source : bool
            Whether the parts of the sum are told instead: a dict by the name of the other side of
            contacts that were found, or of the interaction.

        Returns
        -------
        (n, 3) array, or a dict of them
            In the frame of the world: the mean force of the step that ended at an instant, zero at the
            first.

        Raises
        ------
        SignalError
            Nothing has that name, or what an interaction does to the body was not recorded: runs by
            time-stepping do, where the interaction is among their signals.
        """
        return self._acting(body, by_source, 0)

    def moment_on(self, body: str, by_source: bool = False) -> Any:
        """The same for moments about the center of mass of the body, where it was at the beginning of
        the step; about the origin on what stands still."""
        return self._acting(body, by_source, 1)

    def _acting(self, body: str, by_source: bool, which: int) -> Any:
        import numpy as np

        names = [*self._core.sides(), *self._core.pushed(), *self._records]
        if body not in names:
            hint = did_you_mean(body, names)
            raise SignalError(f"nothing named `{body}` can be touched in this run{hint}")
        parts: dict[str, Array] = {}
        for _, name, *values in self._core.forces_on(body):
            parts[name] = parts[name] + values[which] if name in parts else values[which]
        return parts if by_source else sum(parts.values(), np.zeros((len(self), 3)))

    def contact_graph(self, t: float) -> dict[tuple[str, str], Array]:
        """Who touches whom with a force at the last recorded instant that is not after `t`: the force
        on the first of the two, in the frame of the world, by their names. Contacts that the model names
        are interactions, and not told here."""
        import numpy as np

        t, recorded = float(t), self.t
        slack = 1e-9 * float(np.abs(recorded).max(initial=0.0))
        if not (len(recorded) and recorded[0] - slack <= t <= recorded[-1] + slack):
            span = f"{recorded[0]:g} to {recorded[-1]:g}" if len(recorded) else "none"
            raise InputError(f"`t` is {t:g}, expected an instant of the run: {span}")
        return {(a, b): np.array(force) for a, b, force in self._core.contact_graph(t)}

    @property
    def title(self) -> str:
        """The model's title."""
        return self._core.title

    @property
    def signals(self) -> list[str]:
        """The paths of the recorded signals, for example ``"ball.q"``."""
        return self._core.paths()

    @property
    def columns(self) -> list[str]:
        """The paths of all columns, for example ``"ball.q[0]"``."""
        return self._core.columns()

    @property
    def stats(self) -> RunStats:
        """Totals: steps, iterations, worst residual, seconds …"""
        return RunStats(*self._core.stats())

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return self.stats.outcome == "complete"

    @property
    def ledger(self) -> Ledger[Array] | None:
        """Energies of the mechanical systems at each instant; None if there are none."""
        entries = self._core.ledger()
        return None if entries is None else Ledger(**dict(entries))

    @property
    def iterations(self) -> NDArray[np.int64]:
        """Iterations of the solver in the step that ended at each instant (0 in the first row)."""
        return self._core.iterations()

    @property
    def residual(self) -> Array:
        """Verified residual of the step that ended at each instant."""
        return self._core.residual()

    @property
    def penetration(self) -> Array:
        """Deepest penetration of a contact at the end of the step that ended at each instant; empty
        where the run has no mechanical systems, or its file is of a version that did not keep it."""
        return self._core.penetration()

    @property
    def model_text(self) -> str | None:
        """The text of the model file, where the run was made from one, after the overrides as
        comments (``# --set floor.law.e=0.5``)."""
        return self._core.model_text

    def __getitem__(self, key: str) -> Any:
        """A `Record` of a system or interaction, or the array of a signal path."""
        if not isinstance(key, str):
            raise TypeError(f"a run is asked by name, such as 'ball', not {type(key).__name__}")
        if key in self._records and "value" not in self._records[key]:
            return Record(self._core, key, self._records[key])
        if "." in key or "(" in key:
            try:
                return self._core.signal(key)
            except SignalError as error:
                hint = did_you_mean(key.split("[")[0], self.signals)
                raise SignalError(f"{error}{hint}") from None
        known = ", ".join(list(self._records)[:12]) or "nothing"
        more = len(self._records) - 12
        known += f" and {more} more" if more > 0 else ""
        hint = did_you_mean(key, self._records)
        raise SignalError(f"the run has no `{key}`{hint} (it has {known})")

    def __contains__(self, key: object) -> bool:
        return key in self._records or key in self.signals or key in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def keys(self) -> list[str]:
        """The names of the recorded systems and interactions."""
        return list(self._records)

    def __len__(self) -> int:
        """Number of recorded instants."""
        return self._core.rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a run file (HDF5), which `load`, the command line and any HDF5 tool can read.

        A file that already has the name is replaced, once the new one is whole.
        """
        self._core.save(os.fspath(path))

    def export(
        self,
        path: str | os.PathLike[str],
        to: str | None = None,
        signals: Sequence[str] = (),
        folder: str | os.PathLike[str] | None = None,
        every: int = 1,
    ) -> None:
        """Writes the run in another format.

        Parameters
        ----------
        path : path
            The file; of ``"vtk"`` the folder, in which ``bodies.pvd`` is what ParaView opens.
        to : {"csv", "raw", "vtk"}, optional
            Comma-separated values, SPICE's binary raw file, or the bodies, contacts and force chains
            of a scene. The ending of `path` tells unless given: ``.csv``, ``.raw``, else ``"vtk"``.
        signals : sequence of str
            Of tables: only these, such as ``"ball.q"`` or ``"ball"``; all of them unless given.
        folder : path, optional
            Of ``"vtk"``: the folder of the model, where meshes are looked for first that it has in
            files.
        every : int
            Only every so many of the recorded instants, with the first and the last.

        Raises
        ------
        InputError
            The run has no scene, or keeps no model text and was not made from a `Scene` in this
            program.
        """
        name = os.fspath(path)
        ending = os.path.splitext(name)[1].lower().lstrip(".")
        to = (ending if ending in ("csv", "raw") else "vtk") if to is None else to
        if to not in ("csv", "raw", "vtk"):
            raise InputError(f'`to` is {to!r}, expected "csv", "raw" or "vtk"')
        every = count(every, "every")
        if every == 0:
            raise InputError("`every` = 0 is outside 1, 2, 3 …")
        if to == "vtk":
            if signals:
                raise InputError('`signals` are for tables, not for "vtk"')
            if ending == "pvd":
                raise InputError(f"`{name}`: expected a folder, in which `bodies.pvd` will be")
            where = None if folder is None else os.fspath(folder)
            self._core.export_vtk(name, self._scene, where, every)
            return
        if folder is not None:
            raise InputError('`folder` is for "vtk", whose meshes may be files')
        wanted = [signals] if isinstance(signals, str) else list(signals)
        paths: list[str] = []
        for one in wanted:
            own = self._records.get(one, {})
            named = "value" not in own and own
            paths += [f"{one}.{quantity}" for quantity in own] if named else [one]
        self._core.export_table(name, to, paths, every)

    def plot(
        self, *signals: str, file: str | os.PathLike[str] | None = None
    ) -> matplotlib.figure.Figure:
        """Plots signals over time, one panel each, and returns the Matplotlib figure.

        Parameters
        ----------
        *signals : str
            Paths such as ``"ball.q[0]"`` or ``"floor.lam"``, or names such as ``"ball"`` for
            all signals of it; everything (at most 12 panels) unless given.
        file : path, optional
            Where to store the picture; its ending says in which format.
        """
        from saltus._plot import plot

        return plot(self, signals, file)

    def to_pandas(self) -> pd.DataFrame:
        """All columns as a pandas DataFrame, named ``"ball.q[0]"`` and so on, indexed by ``t``."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        import numpy as np

        tables = [self._core.signal(path).reshape(len(self), -1) for path in self.signals]
        values = np.hstack(tables) if tables else np.empty((len(self), 0))
        return pd.DataFrame(values, index=pd.Index(self.t, name="t"), columns=self.columns)

    def __repr__(self) -> str:
        t = self._core.t()
        span = f", t = {t[0]:.6g} to {t[-1]:.6g}" if len(t) else ""
        signals = "; ".join(
            owner if "value" in quantities else f"{owner} ({', '.join(quantities)})"
            for owner, quantities in list(self._records.items())[:8]
        )
        more = len(self._records) - 8
        signals += f"; and {more} more" if more > 0 else ""
        return f"<Run of {self.title!r}, {self.stats.outcome}: {len(t)} rows{span}; {signals}>"


def load(path: str | os.PathLike[str]) -> Run:
    """Reads a run file.

    Raises
    ------
    MissingFileError
        There is no such file (also a FileNotFoundError).
    FileError
        It is not a run file, or is damaged (also an OSError).
    """
    return Run(_saltus.load_run(os.fspath(path)))
