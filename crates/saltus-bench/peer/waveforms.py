"""How far two sets of waveforms are apart.

A difference is taken at every instant of either run, with straight lines between the points of the other, and told relative to the
range of that signal in the whole run (at least a thousandth of the largest range, and of its own size, where it hardly moves). Where it is
more than `STRICT`, an edge may come earlier or later by a hundredth of the signal's own rise (range over steepest slope) and
by the steps of both runs there: what counts is the distance to the nearest value that the other signal has within that time.
"""

import numpy as np

STRICT = 2e-3
EARLY = 0.01  # share of a rise by which an edge may be early or late


class Waves:
    """Instants, and voltages of nodes by name."""

    def __init__(self, names, values):
        keep = np.concatenate([np.diff(values[:, 0]) > 0, [True]])
        self.t = values[keep, 0]
        self.signals = {}
        for k, name in enumerate(names[1:], 1):
            plain = self.plain(name)
            if plain:
                self.signals[plain] = values[keep, k]

    @staticmethod
    def plain(name):
        if name.startswith("v(") and name.endswith(")"):
            name = name[2:-1]
        if "#" in name or name.startswith(("i(", "@")) or ":" in name:
            return None
        return name

    def until(self, end):
        """The same up to an instant."""
        cut = Waves.__new__(Waves)
        keep = self.t <= end
        cut.t = self.t[keep]
        cut.signals = {name: values[keep] for name, values in self.signals.items()}
        return cut


class Extremes:
    """Smallest and largest value of a polyline between two instants."""

    def __init__(self, t, y):
        self.t, self.y = t, y
        self.low, self.high = [y], [y]
        width = 1
        while 2 * width <= len(y):
            self.low.append(np.minimum(self.low[-1][:-width], self.low[-1][width:]))
            self.high.append(np.maximum(self.high[-1][:-width], self.high[-1][width:]))
            width *= 2

    def between(self, a, b):
        low, high = np.interp(a, self.t, self.y), np.interp(b, self.t, self.y)
        low, high = np.minimum(low, high), np.maximum(low, high)
        first, last = np.searchsorted(self.t, a), np.searchsorted(self.t, b, side="right")
        count = last - first
        for level in range(len(self.low)):
            at = np.flatnonzero((count >= 1 << level) & ((count < 2 << level) | (level + 1 == len(self.low))))
            if len(at):
                for start in (first[at], last[at] - (1 << level)):
                    low[at] = np.minimum(low[at], self.low[level][start])
                    high[at] = np.maximum(high[at], self.high[level][start])
        return low, high


def step_at(t, at):
    """The longer of the steps before and after, at other instants."""
    steps = np.diff(t)
    k = np.clip(np.searchsorted(t, at), 1, len(steps))
    return np.maximum(steps[k - 1], steps[np.clip(k, 0, len(steps) - 1)])


def shared(theirs, ours):
    return [name for name in theirs.signals if name in ours.signals]


def scales(theirs, names):
    """What differences of each signal are told relative to."""
    ranges = {name: np.ptp(theirs.signals[name]) for name in names}
    whole = max(ranges.values(), default=0.0)
    found = {}
    for name in names:
        size = np.max(np.abs(theirs.signals[name]))
        found[name] = max(ranges[name], 1e-3 * whole, 1e-3 * size, 1e-9)
    return found


def differences(theirs, ours, bound=None, scale=None):
    """For every shared signal: its name, instants, relative differences there, and whether an edge was allowed for.

    With a bound only what is larger than it is looked at closely. `scale` is that of a whole run of which `theirs` is a part.
    """
    names = shared(theirs, ours)
    end = min(theirs.t[-1], ours.t[-1])
    start = max(theirs.t[0], ours.t[0])
    T = np.union1d(theirs.t, ours.t)
    T = T[(T >= start) & (T <= end)]
    scale = scale or scales(theirs, names)
    for name in names:
        y, z = theirs.signals[name], ours.signals[name]
        d = np.abs(np.interp(T, theirs.t, y) - np.interp(T, ours.t, z)) / scale[name]
        d[~np.isfinite(d)] = np.inf
        far = np.flatnonzero(d > (bound or STRICT))
        edged = False
        if len(far) and np.isfinite(d).all():
            slopes = np.abs(np.diff(y) / np.diff(theirs.t))
            rise = np.ptp(y) / slopes.max() if slopes.max() > 0 else 0.0
            at = T[far]
            delta = EARLY * rise + step_at(theirs.t, at) + step_at(ours.t, at)
            apart = np.zeros(len(far))
            for (t, here), (s, there) in (((theirs.t, y), (ours.t, z)), ((ours.t, z), (theirs.t, y))):
                low, high = Extremes(s, there).between(at - delta, at + delta)
                value = np.interp(at, t, here)
                apart = np.maximum(apart, np.maximum(low - value, value - high))
            nearer = np.maximum(apart, 0.0) / scale[name]
            edged = d.max() > 0.01 >= nearer.max()
            d[far] = nearer
        yield name, T, d, edged


def worst(theirs, ours, scale=None):
    """The largest difference, its signal, how many signals were compared, and whether edges were allowed for."""
    found = (-1.0, "")
    count, edges = 0, False
    for name, _, d, edged in differences(theirs, ours, scale=scale):
        count, edges = count + 1, edges or edged
        found = max(found, (float(d.max()) if len(d) else np.inf, name))
    return found[0], found[1], count, edges


def agree_until(one, other, bound):
    """The instant up to which two runs agree within a bound."""
    end = min(one.t[-1], other.t[-1])
    for _, T, d, _ in differences(one, other, bound):
        apart = np.flatnonzero(d > bound)
        if len(apart):
            end = min(end, T[max(apart[0] - 1, 0)])
    return end
