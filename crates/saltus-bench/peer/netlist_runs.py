"""One netlist, run by ngspice and by Saltus: names and columns of what each records.

ngspice gets a copy of the netlist with its own `.control` section, which is kept up to the first transient analysis it runs
(the whole of it where that stands in a loop); then everything is written out and ngspice quits. Cards that only choose what is
recorded, and those of other analyses, are taken out. Saltus gets the netlist with the same cards taken out and its script as it is,
and two lines more: `.option saltus device=smooth`, which asks for SPICE's own devices, and `.save all`.
"""

import os
import re
import resource
import signal
import subprocess

import numpy as np

# cards that choose what is recorded, or another analysis
OTHERS = re.compile(r"\.(print|plot|save|probe|four|meas\w*|op|ac|dc|tf|sens|noise|pz|disto|sp|width|end)\b", re.I)
SCALE = {"t": 1e12, "g": 1e9, "meg": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}


def number(text):
    """The value of a number with a suffix, or None."""
    found = re.match(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(meg|[tgkmunpf])?[a-z]*$", text.lower())
    return float(found[1]) * SCALE.get(found[2] or "", 1.0) if found else None


def has_transient(text):
    """Whether a netlist asks for a transient analysis, by a card or in its control section."""
    inside = False
    for line in text.splitlines()[1:]:
        words = line.strip().lower().split()
        first = words[0] if words else ""
        if first in (".control", ".endc"):
            inside = first == ".control"
        elif first == ".end":
            break
        elif first == ("tran" if inside else ".tran"):
            return True
    return False


def tightened(words, largest):
    """A `.tran` or `tran` with a largest step."""
    uic = [word for word in words if word.lower() == "uic"]
    values = [word for word in words[1:] if word.lower() != "uic"]
    values = [word for word in values[:4] if word.startswith("$&") or number(word) is not None]
    if largest is None or len(values) < 2:
        return " ".join(words)
    if len(values) > 3 and number(values[3]) is not None:
        largest = min(largest, number(values[3]))
    values = (values + ["0"])[:3] + [f"{largest:e}"]
    return " ".join([words[0], *values, *uic])


def for_ngspice(text, raw, largest, script=True):
    """The copy of a netlist that ngspice runs."""
    end = ["set filetype=binary", f"write {raw}", "quit"]
    lines = text.splitlines()
    kept, inside, has_run, tran = [lines[0] if lines else ""], False, False, None
    for line in lines[1:]:
        words = line.split()
        first = words[0].lower() if words else ""
        if first in (".control", ".endc"):
            inside = first == ".control"
            kept += [line] if script else []
        elif inside:
            if first == "save" or not script:
                continue
            kept.append(tightened(words, largest) if first == "tran" else line)
            if first in ("tran", "run"):
                kept += end
                has_run = True
        elif first == ".end":
            break
        elif first == ".tran":
            tran = tightened(words, largest)
        elif not OTHERS.match(first):
            kept.append(line)
    if tran:
        kept.append(tran)
    if largest is not None:
        kept.append(".options reltol=1e-5")
    if not has_run:
        kept += [".control", "run", *end, ".endc"]
    return [*kept, ".end"]


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


def ngspice(path, limit, largest=None, script=True):
    """What ngspice records, as the netlist stands, or with a largest step and `reltol=1e-5`; or why it does not."""
    folder = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    copy = os.path.join(folder, f"saltus-bench-{os.getpid()}-ngspice.cir")
    raw = f"saltus-bench-{os.getpid()}.raw"
    write(copy, for_ngspice(text, raw, largest, script))
    raw = os.path.join(folder, raw)
    try:
        done = subprocess.run(
            ["ngspice", "-b", copy], cwd=folder, capture_output=True, text=True, timeout=20 * limit, errors="replace",
            stdin=subprocess.DEVNULL, preexec_fn=lambda: bounded(limit),
        )
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None, f"ngspice took more than {limit:g} s"
        said = (done.stderr + done.stdout).splitlines()
        why = [line for line in said if re.search(r"rror|nknown|nable|annot|oo small|not find|bort", line)]
        if not os.path.exists(raw):
            if script and re.search(r"^\s*\.tran\b", text, re.I | re.M):
                return ngspice(path, limit, largest, False)  # its script does not run the card
            return None, (why or said or ["no output"])[0].strip()
        names, values = read_raw(raw)
        if names[0] != "time" or len(values) < 2:
            return None, (why or ["it records no transient analysis"])[0].strip()
        return (names, values), None
    except subprocess.TimeoutExpired:
        return None, f"ngspice took more than {limit:g} s"
    except (AttributeError, ValueError, IndexError, TypeError) as error:
        return None, f"its raw file is not read ({error})"
    finally:
        remove(copy, raw)


def for_saltus(text):
    """The copy of a netlist that Saltus runs; lines keep their numbers."""
    kept, inside = [], False
    for k, line in enumerate(text.splitlines()):
        words = line.split()
        first = words[0].lower() if words else ""
        if first in (".control", ".endc"):
            inside = first == ".control"
        elif k > 0 and not inside and first == ".end":
            break
        is_card = k > 0 and not inside and first != ".tran" and OTHERS.match(first)
        if is_card or (inside and first in ("meas", "measure")):
            line = "*"
        kept.append(line)
    return [*kept, ".option saltus device=smooth", ".save all", ".end"]


class Saltus:
    """The program, and a copy of a netlist for it beside the netlist."""

    def __init__(self, program, path):
        self.program = program
        self.folder, self.name = os.path.split(os.path.abspath(path))
        self.own = os.path.join(self.folder, f"saltus-bench-{os.getpid()}.cir")
        with open(path, encoding="utf-8", errors="replace") as file:
            self.lines = for_saltus(file.read())

    def call(self, limit, *arguments):
        """Runs the program; what it says where it fails."""
        try:
            done = subprocess.run(
                [self.program, *arguments], capture_output=True, text=True, timeout=20 * limit, errors="replace",
                preexec_fn=lambda: bounded(limit),
            )
        except subprocess.TimeoutExpired:
            done = None
        if done is None or done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
            return f"the run failed: it took more than {limit:g} s"
        if done.returncode == 0:
            return None
        said = [line for line in done.stderr.splitlines() if line.startswith("saltus:")]
        why = (said or done.stderr.splitlines() or ["no message"])[0].removeprefix("saltus: ")
        why = why.replace(self.own, self.name).replace(os.path.basename(self.own), self.name)
        return why.replace(self.folder + os.sep, "")

    def refusal(self, limit):
        """Why the netlist is not read, or its circuit not made; None where it is."""
        write(self.own, self.lines)
        try:
            return self.call(limit, "info", self.own)
        finally:
            remove(self.own)

    def run(self, h, until, limit, rule="euler"):
        """What is recorded with steps of `h`, or what is said instead."""
        raw, run = self.own[:-4] + ".raw", self.own[:-4] + ".h5"
        write(self.own, [*self.lines[:-1], *([".option method=trap"] if rule == "trap" else []), ".end"])
        try:
            asked = ["-o", run, "--no-plot", "-q", "--h", repr(float(h)), "--until", repr(float(until))]
            why = self.call(limit, "run", self.own, *asked) or self.call(limit, "export", run, "--to", "raw", "-o", raw)
            return (None, why) if why else (read_raw(raw), None)
        finally:
            remove(self.own, raw, run)


def bounded(limit):
    """Gives the process that begins here this much processor time, in seconds."""
    seconds = max(1, round(limit))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def write(path, lines):
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write("\n".join(lines) + "\n")


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)
