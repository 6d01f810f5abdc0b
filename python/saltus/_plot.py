"""Pictures of a run: panels one above the other that share the time axis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

    from saltus.results import Run

MAX_PANELS = 12
"""Panels without a choice of signals."""
MAX_LEGEND = 8
"""Lines of a panel that are named one by one."""

COLORS = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#525252"]
GREY = "#9ca3af"


def plot(
    run: Run, signals: tuple[str, ...], file: str | os.PathLike[str] | None
) -> matplotlib.figure.Figure:
    """See `Run.plot`."""
    paths = _paths(run, signals)
    figure = _figure(len(paths), file is None)
    axes = figure.subplots(len(paths), 1, sharex=True, squeeze=False)[:, 0]
    t = run.t
    for ax, path in zip(axes, paths):
        _panel(ax, t, run[path], path)
    axes[-1].set_xlabel("t")
    if run.title:
        axes[0].set_title(run.title, loc="left", fontsize="medium", fontweight="bold")
    if not run.complete:
        axes[0].set_title(run.stats.outcome, loc="right", fontsize="small", color="#dc2626")
    figure.align_ylabels(axes)
    if file is not None:
        figure.savefig(os.fspath(file), dpi=150)
    return figure


def _paths(run: Run, signals: tuple[str, ...]) -> list[str]:
    """The panels: names stand for all signals of theirs."""
    if not signals:
        return run.signals[:MAX_PANELS]
    paths = []
    for signal in signals:
        if not isinstance(signal, str):
            raise TypeError(f"plot() takes signals such as 'ball.q', not {type(signal).__name__}")
        whole = [path for path in run.signals if path.rpartition(".")[0] == signal]
        if not whole:
            run[signal]  # a wrong name is told before there is a figure
        paths += whole or [signal]
    return paths


def _figure(panels: int, interactive: bool) -> matplotlib.figure.Figure:
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError("plot() needs Matplotlib: pip install matplotlib") from None
    options: dict[str, Any] = {
        "figsize": (8.0, 0.8 + 1.7 * max(panels, 1)),
        "layout": "constrained",
    }
    if not interactive:  # a picture for a file needs no window, and no pyplot to remember it
        return matplotlib.figure.Figure(**options)
    import matplotlib.pyplot as plt

    return plt.figure(**options)


def _panel(ax: matplotlib.axes.Axes, t: np.ndarray, values: np.ndarray, path: str) -> None:
    columns = values if values.ndim == 2 else values[:, None]
    # a multiplier belongs to the step that ended there, and is constant over it
    style = "steps-pre" if path.split("[")[0].endswith(".lam") else "default"
    count = columns.shape[1]
    for k in range(count):
        color = COLORS[k % len(COLORS)]
        ax.plot(t, columns[:, k], drawstyle=style, linewidth=1.3, color=color, label=f"[{k}]")
    if 1 < count <= MAX_LEGEND:
        ax.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small"
        )
    ax.set_ylabel(path)
    ax.margins(x=0.01, y=0.08)
    ax.grid(True, color="#e5e7eb", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelsize="small")
    ax.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
