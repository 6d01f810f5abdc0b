"""Netlists of others: ngspice and Saltus on each, waveform beside waveform.

    python3 netlists.py [--saltus PROGRAM] [--out TABLE.md] [--limit SECONDS] NETLIST...

Every netlist is copied beside itself, where its includes are found, with its own `.control` section taken out and the
first transient analysis it asks for put in as a card. ngspice runs it with `reltol=1e-5` and steps of at most a tenth of the
printed one; Saltus runs the same copy with `device=smooth` (SPICE's own devices), by Euler's implicit rule, with steps
that are halved until its own answer stands. Every voltage of a node that both know is compared at
ngspice's instants: the difference is told relative to the range of that voltage, or of the largest one where a
voltage hardly moves, and the one of the worst node is the netlist's.
"""

import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np

# steps that the run of Saltus is divided into: the first, and the last that is tried
FEWEST, MOST = 4_000, 256_000
AGREES = 0.01


def cards(text):
    """The lines of a netlist without its control sections, and the first transient analysis."""
    kept, tran, inside = [], None, False
    for line in text.splitlines():
        word = line.strip().lower()
        if word.startswith(".control"):
            inside = True
        elif word.startswith(".endc"):
            inside = False
        elif inside:
            if tran is None and word.startswith("tran "):
                tran = "." + line.strip()
        elif word.startswith(".tran"):
            tran = line.strip()
        elif re.match(r"\.(print|plot|save|probe|four|meas|op\b|ac\b|dc\b|tf\b|sens|noise|end\s*$)", word):
            pass
        else:
            kept.append(line)
    return kept, tran


def number(text):
    scale = {"t": 1e12, "g": 1e9, "meg": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}
    found = re.match(r"([-+]?[0-9.]+(?:e[-+]?\d+)?)(meg|[tgkmunpf])?", text.lower())
    if not found:
        return None
    return float(found[1]) * scale.get(found[2] or "", 1.0)


def read_raw(path):
    """Names and columns of a binary raw file."""
    with open(path, "rb") as file:
        data = file.read()
    head, body = data.split(b"Binary:\n", 1)
    head = head.decode(errors="replace")
    count = int(re.search(r"No\. Variables:\s*(\d+)", head)[1])
    points = int(re.search(r"No\. Points:\s*(\d+)", head)[1])
    lines = head.split("Variables:\n", 1)[1].splitlines()[:count]
    names = [line.split()[1].lower() for line in lines]
    return names, np.frombuffer(body, dtype="<f8", count=count * points).reshape(points, count)


def ngspice(folder, kept, tran, limit):
    words = tran.split()
    step = number(words[1])
    path = os.path.join(folder, f".saltus-bench-{os.getpid()}-ngspice.cir")
    raw = os.path.join(folder, f".saltus-bench-{os.getpid()}-ngspice.raw")
    first, *rest = kept
    card = words[:3] + ([words[3] if len(words) > 3 and number(words[3]) is not None else "0"])
    card += [f"{step / 10:e}"] + (["uic"] if "uic" in tran.lower() else [])
    lines = [first, *rest, ".options reltol=1e-5", " ".join(card), ".end"]
    write(path, lines)
    try:
        done = subprocess.run(
            ["ngspice", "-b", "-r", raw, path], cwd=folder, capture_output=True, text=True, timeout=limit, errors="replace"
        )
        if not os.path.exists(raw):
            lines = (done.stderr + done.stdout).splitlines()
            why = [line for line in lines if "rror" in line or "nknown" in line or "nable" in line]
            return None, (why or lines or ["no output"])[0].strip()
        return read_raw(raw), None
    except subprocess.TimeoutExpired:
        return None, f"ngspice took more than {limit} s"
    except (AttributeError, ValueError, IndexError) as error:
        return None, f"its raw file is not read ({error})"
    finally:
        for name in (path, raw):
            if os.path.exists(name):
                os.remove(name)


def saltus(program, folder, kept, tran, steps, until, limit):
    path = os.path.join(folder, f".saltus-bench-{os.getpid()}.cir")
    raw = os.path.join(folder, f".saltus-bench-{os.getpid()}.raw")
    run = os.path.join(folder, f".saltus-bench-{os.getpid()}.h5")
    first, *rest = kept
    write(path, [first, *rest, ".option saltus device=smooth", tran, ".save all", ".end"])
    try:
        command = [program, "run", path, "-o", run, "--no-plot", "-q", "--h", repr(until / steps)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, errors="replace")
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("saltus:")]
            why = (lines or done.stderr.splitlines() or ["no message"])[0]
            return None, why.replace("saltus: ", "").replace(path + ":", "line ").replace(os.path.basename(path) + ":", "line ")
        export = [program, "export", run, "--to", "raw", "-o", raw]
        subprocess.run(export, capture_output=True, text=True, timeout=limit, check=True)
        return read_raw(raw), None
    except subprocess.TimeoutExpired:
        return None, f"took more than {limit} s"
    except subprocess.CalledProcessError as error:
        return None, f"its export failed: {error.stderr.strip()}"
    finally:
        for name in (path, raw, run):
            if os.path.exists(name):
                os.remove(name)


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def voltages(names, values):
    """Time, and the voltages of nodes by name."""
    found = {}
    for k, name in enumerate(names[1:], 1):
        if "#" in name or name.startswith(("i(", "@")):
            continue
        plain = name[2:-1] if name.startswith("v(") and name.endswith(")") else name
        found[plain] = values[:, k]
    return values[:, 0], found


def compare(theirs, ours):
    """The worst difference relative to the range, its node, and how many nodes were compared."""
    t, known = voltages(*theirs)
    s, found = voltages(*ours)
    shared = [name for name in known if name in found]
    if not shared:
        return None
    inside = (t >= s[0]) & (t <= s[-1])
    whole = max(np.ptp(known[name]) for name in shared)
    worst = (-1.0, "")
    for name in shared:
        ours_there = np.interp(t[inside], s, found[name])
        apart = np.max(np.abs(ours_there - known[name][inside])) if inside.any() else np.inf
        size = np.max(np.abs(known[name]))
        scale = max(np.ptp(known[name]), 1e-3 * whole, 1e-3 * size, 1e-9)
        worst = max(worst, (apart / scale, name))
    return worst[0], worst[1], len(shared)


def one(program, path, limit):
    folder = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8", errors="replace") as file:
        kept, tran = cards(file.read())
    if tran is None or not kept:
        return {"result": "no transient analysis"}
    words = tran.split()
    if len(words) < 3 or number(words[1]) is None or number(words[2]) is None:
        return {"result": "no transient analysis", "why": f"`{tran}` is computed by a script"}
    until = number(words[2])
    theirs, why = ngspice(folder, kept, tran, limit)
    if theirs is None:
        return {"result": "ngspice does not run it", "why": why}
    # steps are halved until the difference no longer matters
    steps, best = FEWEST, None
    while steps <= MOST:
        ours, why = saltus(program, folder, kept, tran, steps, until, limit)
        if ours is None:
            break
        found = compare(theirs, ours)
        if found is None:
            return {"result": "no node in common"}
        if best is None or found[0] < best["apart"]:
            best = {"apart": found[0], "node": found[1], "nodes": found[2], "steps": steps}
        if found[0] <= AGREES / 2:
            break
        steps *= 4
    if best is None:
        fails = any(word in why for word in ("the run failed", "at rest", "took more", "export failed"))
        return {"result": "fails" if fails else "refused", "why": why}
    best["result"] = "agrees" if best["apart"] <= AGREES else "differs"
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saltus", default="saltus")
    parser.add_argument("--out")
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--root", default="")
    parser.add_argument("netlists", nargs="+")
    asked = parser.parse_args()
    rows, score = [], {}
    for path in asked.netlists:
        found = one(asked.saltus, path, asked.limit)
        name = os.path.relpath(path, asked.root) if asked.root else path
        score[found["result"]] = score.get(found["result"], 0) + 1
        apart = f"{100 * found['apart']:.2f} % at v({found['node']})" if "apart" in found else ""
        how = f"{found['nodes']} voltages, {found['steps']} steps" if "apart" in found else found.get("why", "")
        how = how.splitlines()[0].replace("|", "\\|") if how else ""
        rows.append(f"| `{name}` | {found['result']} | {apart} | {how} |")
        print(rows[-1], flush=True)
    print(json.dumps(score))
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as file:
            file.write("| netlist | result | worst difference | how compared, or why not |\n| --- | --- | --- | --- |\n")
            file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    sys.exit(main())
