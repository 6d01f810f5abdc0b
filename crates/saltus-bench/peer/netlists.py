"""Netlists of others: ngspice and Saltus on each, waveform beside waveform.

    python3 netlists.py [--saltus PROGRAM] [--root FOLDER] [--out TABLE.md] [--limit SECONDS] [--cache FOLDER] [NETLIST...]

Without netlists named, all files `.cir` and `.sp` below `FOLDER/examples` and `FOLDER/tests` that ask for a transient analysis are
taken. ngspice runs each as it stands and then with `reltol=1e-5` and its largest step a quarter of the mean step before, again
and again until two runs agree to 0.5 % or the time is over; where the last two part before the end, as of a circuit that is chaotic, only the
time before counts, and the table tells its share. Saltus runs the same netlist with `device=smooth` (SPICE's own devices) and steps
that are divided by four until it agrees within half of 1 %, by Euler's implicit rule, and where that does not agree by the
trapezoidal one. Where a run takes more processor time than the limit, only its first sixteenth is compared. See `netlist_runs.py` for what each is given, `waveforms.py` for the measure.
"""

import argparse
import hashlib
import json
import os
import pickle
import sys

import netlist_runs
from waveforms import Waves, agree_until, scales, worst

# steps that a run of Saltus is divided into: the first, and the last that is tried
FEWEST, MOST = 4_000, 1_024_000
AGREES = 0.01
ITSELF = 0.005
REFINEMENTS = 4
LEAST = 1e-3  # share of a run in which ngspice agrees with itself, for it to count
SHORTER = 16  # share of a run that is compared where all of it takes too long
NONE = "no waveform of ngspice"


def collection(root):
    """All netlists with a transient analysis below `examples` and `tests`."""
    found = []
    for part in ("examples", "tests"):
        for folder, _, names in os.walk(os.path.join(root, part)):
            for name in names:
                path = os.path.join(folder, name)
                if name.lower().endswith((".cir", ".sp")) and not name.startswith("saltus-bench-"):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        if netlist_runs.has_transient(file.read()):
                            found.append(path)
    return sorted(found)


def remembered(cache, make, *what):
    """What `make` gives, kept in a folder from run to run."""
    if not cache:
        return make()
    os.makedirs(cache, exist_ok=True)
    path = os.path.join(cache, hashlib.sha256(repr(what).encode()).hexdigest()[:32])
    if os.path.exists(path):
        with open(path, "rb") as file:
            return pickle.load(file)
    made = make()
    with open(path, "wb") as file:
        pickle.dump(made, file)
    return made


def theirs(path, limit, cache, largest=None):
    """One run of ngspice, or why there is none."""

    def make():
        found, why = netlist_runs.ngspice(path, limit, largest)
        return (Waves(*found), None) if found else (None, why)

    return remembered(cache, make, path, largest)


def reference(path, limit, cache):
    """ngspice's waveforms, until when they stand, how they were made; or why there are none."""

    def run(largest):
        return theirs(path, limit, cache, largest)

    best, why = run(None)
    if best is None or len(best.t) < 2:
        return None, why
    stands, how = None, "as it stands"
    for _ in range(REFINEMENTS):
        # a quarter of its own mean step, to begin with
        largest = (best.t[-1] - best.t[0]) / (4 * len(best.t))
        finer, _ = run(float(f"{largest:.3g}"))
        if finer is None or finer.t[-1] < 0.999 * best.t[-1]:
            if stands is None:  # not in time: a coarser one tells how long it stands
                coarser, _ = run(float(f"{16 * largest:.3g}"))
                stands = agree_until(best, coarser, ITSELF) if coarser else None
            break
        stands = agree_until(finer, best, ITSELF)
        best, how = finer, f"{len(finer.t)} points"
        if stands >= finer.t[-1]:
            break
    return (best, best.t[-1] if stands is None else stands, how), None


def one(program, path, limit, cache):
    """The outcome of a netlist."""
    ours = netlist_runs.Saltus(program, path)
    refusal = ours.refusal(limit)
    fails = refusal is not None and ("the run failed" in refusal or "no operating point" in refusal)
    if refusal and not fails:
        found, why = theirs(path, limit, cache)
        return {"result": "refused", "why": refusal} if found is not None else {"result": NONE, "why": why}
    found, why = reference(path, limit, cache)
    if found is None:
        return {"result": NONE, "why": why}
    if fails:
        return {"result": "fails", "why": refusal}
    wanted, stands, how = found
    if not wanted.signals:
        return {"result": NONE, "why": "it records nothing but the time"}
    whole = wanted.t[-1]
    if stands < LEAST * whole:
        return {"result": NONE, "why": f"its own runs part after {stands:.3g} s"}
    # the beginning alone, where the whole takes too long
    for part in (1, SHORTER):
        best, why, slow = nearest(ours, wanted, stands / part, limit)
        if best is not None and best["apart"] <= AGREES or not slow:
            break
    if best is None:
        return {"result": "fails", "why": why}
    best["result"] = "agrees" if best["apart"] <= AGREES else "differs"
    return best | {"how": how}


def nearest(ours, wanted, stands, limit):
    """The run of Saltus until `stands` that is nearest to one of ngspice, why there is none, and whether time was what lacked."""
    whole, scale = wanted.t[-1], scales(wanted, wanted.signals)
    wanted = wanted.until(stands)
    best, why = None, None
    for rule in ("euler", "trap"):
        steps, before, cut = FEWEST, None, stands
        while steps <= MOST and (best is None or best["apart"] > AGREES / 2):
            found, why = ours.run(stands / steps, stands, limit, rule)
            if found is None:
                if "took more than" in why:
                    return best, why, True
                break
            found = Waves(*found)
            if stands < whole and before is not None:  # what is sensitive counts as long as both programs agree with themselves
                cut = min(stands, agree_until(found, before, ITSELF))
            before = found
            apart, node, signals, edges = worst(wanted.until(cut), found, scale)
            if signals == 0:
                return None, "no signal in common", False
            if best is None or apart < best["apart"]:
                best = {"apart": apart, "node": node, "signals": signals, "steps": steps, "rule": rule}
                best |= {"share": cut / whole, "edges": edges}
            steps *= 4
        if best is not None and best["apart"] <= AGREES:
            break
    return best, why, False


def row(name, found):
    if "apart" in found:
        apart = f"{100 * found['apart']:.2f} % at {found['node']}"
        how = f"{found['signals']} voltages, {found['steps']} steps, ngspice {found['how']}"
        how += ", trapezoidal rule" if found["rule"] == "trap" else ""
        how += f", first {100 * found['share']:.0f} % of the run" if found["share"] < 0.999 else ""
        how += ", edges" if found["edges"] else ""
    else:
        apart, how = "", (found.get("why") or "").splitlines()[0:1]
        how = how[0].replace("|", "\\|") if how else ""
    return f"| `{name}` | {found['result']} | {apart} | {how} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saltus", default="saltus")
    parser.add_argument("--out")
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--root", default=".")
    parser.add_argument("--cache")
    parser.add_argument("netlists", nargs="*")
    asked = parser.parse_args()
    rows, score = [], {}
    for path in asked.netlists or collection(asked.root):
        found = one(asked.saltus, path, asked.limit, asked.cache)
        score[found["result"]] = score.get(found["result"], 0) + 1
        rows.append(row(os.path.relpath(path, asked.root), found))
        print(rows[-1], flush=True)
    print(json.dumps(score))
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as file:
            file.write("| netlist | result | worst difference | how compared, or why not |\n| --- | --- | --- | --- |\n")
            file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    sys.exit(main())
