#!/usr/bin/python3
"""Times Siconos on stored problems and prints one JSON document.

    siconos_problems.py [--tol 1e-8] [--limit 60] [--top 6] FILE-OR-FOLDER...

The folder that a file is in names its class (lcp, mlcp, relay, fc2d, fc3d, gfc2d, gfc3d, rfc3d,
grfc3d, soclcp, gmp, plasticity). Where a `problems.json` beside the folders lists the settings
that solve a file, the fastest of them are run, otherwise all of the class. Every run starts from
zero on a problem that was read anew, in a process of its own that may crash or be stopped; the
call of the driver alone is timed, and the best run counts: its wall time, or the processor time
of a long run where that is shorter because others used the core. An answer counts as solved by the
residual evaluated here (`problem_files.residual`), not by what the solver says: where a solver
stops too early by that measure, its own tolerance is tightened until it does not.
"""

import os

# Must be set before numpy and Siconos load their BLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import ctypes
import json
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import siconos.numerics as sn

import problem_files
from problem_files import READERS, Unreadable

LIB = ctypes.CDLL("libsiconos_numerics.so.7")

# --- settings ----------------------------------------------------------------

MANY = 100_000_000  # iterations of methods whose steps are cheap: the time limit stops them
FULL, EVERY = sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION, 8
RHO = sn.SICONOS_FRICTION_3D_NSN_RHO
HYBRID = sn.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY
REDUCTION = sn.SICONOS_GENERIC_MECHANICAL_IPARAM_ISREDUCED


class Setting:
    """A solver with what is set on it. `iterations` None leaves limit and tolerance to it where
    those are tighter: a pivoting method's tolerance is that of a pivot."""

    def __init__(self, solver, iterations=MANY, iparam=(), inner=None, unit_step=False):
        self.solver, self.iterations, self.inner = solver, iterations, inner
        self.iparam, self.unit_step = dict(iparam), unit_step

    def options(self, problem, tol):
        options = sn.SolverOptions(self.solver)
        if self.iterations is None:
            tol = min(tol, options.dparam[sn.SICONOS_DPARAM_TOL])
        else:
            options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = self.iterations
        options.dparam[sn.SICONOS_DPARAM_TOL] = tol
        for index, value in self.iparam.items():
            options.iparam[index] = value
        if self.inner is not None:
            sn.solver_options_update_internal(options, 0, self.inner)
        if self.unit_step:
            options.dparam[RHO] = 1.0 / (problem.M.norm() or 1.0)
        return options


def direct(solver):
    return Setting(solver, iterations=None)


def newton(solver, **settings):
    return Setting(solver, iterations=1000, **settings)


FULL_10 = {FULL: sn.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL, EVERY: 10}
BALANCED = {
    sn.SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO: sn.SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_NORM_INF,
    sn.SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY: sn.SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING,
}

LCP = {
    "LEMKE": direct(sn.SICONOS_LCP_LEMKE),
    "PIVOT": direct(sn.SICONOS_LCP_PIVOT),
    "BARD": direct(sn.SICONOS_LCP_BARD),
    "MURTY": direct(sn.SICONOS_LCP_MURTY),
    "PIVOT_LUMOD": direct(sn.SICONOS_LCP_PIVOT_LUMOD),
    "PATHSEARCH": direct(sn.SICONOS_LCP_PATHSEARCH),
    "AVI_CAOFERRIS": direct(sn.SICONOS_LCP_AVI_CAOFERRIS),
    "ENUM": direct(sn.SICONOS_LCP_ENUM),
    "PGS": Setting(sn.SICONOS_LCP_PGS),
    "RPGS": Setting(sn.SICONOS_LCP_RPGS),
    "CPG": Setting(sn.SICONOS_LCP_CPG),
    "LATIN": Setting(sn.SICONOS_LCP_LATIN),
    "CONVEXQP_PG": Setting(sn.SICONOS_LCP_CONVEXQP_PG),
    "NEWTON_MIN": newton(sn.SICONOS_LCP_NEWTONMIN),
    "NEWTON_FB": newton(sn.SICONOS_LCP_NEWTON_FB_FBLSA),
    "NEWTON_MINFB": newton(sn.SICONOS_LCP_NEWTON_MIN_FBLSA),
    "NSGS_SBM": Setting(sn.SICONOS_LCP_NSGS_SBM),
}

MLCP = {
    "ENUM": direct(sn.SICONOS_MLCP_ENUM),
    "DIRECT_ENUM": direct(sn.SICONOS_MLCP_DIRECT_ENUM),
    "LCP_LEMKE": direct(sn.SICONOS_MLCP_LCP_LEMKE),
    "FB": newton(sn.SICONOS_MLCP_FB),
    "DIRECT_FB": newton(sn.SICONOS_MLCP_DIRECT_FB),
    "PGS": Setting(sn.SICONOS_MLCP_PGS),
    "RPGS": Setting(sn.SICONOS_MLCP_RPGS),
}

RELAY = {
    "PGS": Setting(sn.SICONOS_RELAY_PGS),
    "LEMKE": direct(sn.SICONOS_RELAY_LEMKE),
    "AVI_CAOFERRIS": direct(sn.SICONOS_RELAY_AVI_CAOFERRIS),
    "ENUM": direct(sn.SICONOS_RELAY_ENUM),
}

FC2D = {
    "NSGS": Setting(sn.SICONOS_FRICTION_2D_NSGS),
    "CPG": Setting(sn.SICONOS_FRICTION_2D_CPG),
    "LEMKE": direct(sn.SICONOS_FRICTION_2D_LEMKE),
    "ENUM": direct(sn.SICONOS_FRICTION_2D_ENUM),
}

NSGS, PROX = sn.SICONOS_FRICTION_3D_NSGS, sn.SICONOS_FRICTION_3D_PROX
PLI = sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration
QUARTIC = sn.SICONOS_FRICTION_3D_ONECONTACT_QUARTIC
HYBRID_EG = {HYBRID: sn.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN}
FC3D = {
    "NSGS": Setting(NSGS),
    "NSGS-full10": Setting(NSGS, iparam=FULL_10),
    "NSGS-PLI-full10": Setting(NSGS, iparam=FULL_10, inner=PLI),
    "NSGS-quartic-full10": Setting(NSGS, iparam=FULL_10, inner=QUARTIC),
    "PROX-NSN": newton(PROX),
    "PROX-NSGS": newton(PROX, inner=NSGS),
    "NSN_AC": newton(sn.SICONOS_FRICTION_3D_NSN_AC),
    "NSN_AC-hybridEG": newton(sn.SICONOS_FRICTION_3D_NSN_AC, iparam=HYBRID_EG),
    "NSN_FB": newton(sn.SICONOS_FRICTION_3D_NSN_FB),
    "NSN_NM": newton(sn.SICONOS_FRICTION_3D_NSN_NM),
    "NSN_AC_TEST": newton(sn.SICONOS_FRICTION_3D_NSN_AC_TEST),
    "TFP": newton(sn.SICONOS_FRICTION_3D_TFP),
    "ACLMFP": newton(sn.SICONOS_FRICTION_3D_ACLMFP),
    "PFP": newton(sn.SICONOS_FRICTION_3D_PFP),
    "DSFP(rho=1/|W|)": Setting(sn.SICONOS_FRICTION_3D_DSFP, unit_step=True),
    "FPP(rho=1/|W|)": Setting(sn.SICONOS_FRICTION_3D_FPP, unit_step=True),
    "EG": Setting(sn.SICONOS_FRICTION_3D_EG),
    "VI_FPP": Setting(sn.SICONOS_FRICTION_3D_VI_FPP),
    "VI_EG": Setting(sn.SICONOS_FRICTION_3D_VI_EG),
    "ADMM": Setting(sn.SICONOS_FRICTION_3D_ADMM),
    "ADMM-balanced": Setting(sn.SICONOS_FRICTION_3D_ADMM, iparam=BALANCED),
}

GFC3D = {
    "NSGS_WR": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_NSGS_WR),
    "NSGS_WR-full10": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_NSGS_WR, iparam=FULL_10),
    "PROX_WR": newton(sn.SICONOS_GLOBAL_FRICTION_3D_PROX_WR),
    "TFP_WR": newton(sn.SICONOS_GLOBAL_FRICTION_3D_TFP_WR),
    "NSN_AC_WR": newton(sn.SICONOS_GLOBAL_FRICTION_3D_NSN_AC_WR),
    "ADMM_WR": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_ADMM_WR),
    "NSGS": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_NSGS),
    "NSN_AC": newton(sn.SICONOS_GLOBAL_FRICTION_3D_NSN_AC),
    "VI_FPP": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_VI_FPP),
    "VI_EG": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_VI_EG),
    "ACLMFP": newton(sn.SICONOS_GLOBAL_FRICTION_3D_ACLMFP),
    "ADMM": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_ADMM),
    "ADMM-balanced": Setting(sn.SICONOS_GLOBAL_FRICTION_3D_ADMM, iparam=BALANCED),
    "IPM": newton(sn.SICONOS_GLOBAL_FRICTION_3D_IPM),
}

ROLLING = sn.SICONOS_ROLLING_FRICTION_3D_NSGS
RFC3D = {
    "NSGS": Setting(ROLLING),
    "NSGS-full10": Setting(ROLLING, iparam=FULL_10),
    "NSGS-proj": Setting(ROLLING, inner=sn.SICONOS_ROLLING_FRICTION_3D_ONECONTACT_ProjectionOnCone),
    "ADMM": Setting(sn.SICONOS_ROLLING_FRICTION_3D_ADMM),
    "ADMM-balanced": Setting(sn.SICONOS_ROLLING_FRICTION_3D_ADMM, iparam=BALANCED),
}

GRFC3D = {
    "NSGS_WR": Setting(sn.SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR),
    "NSGS_WR-full10": Setting(sn.SICONOS_GLOBAL_ROLLING_FRICTION_3D_NSGS_WR, iparam=FULL_10),
}

SOCLCP = {
    "NSGS": Setting(sn.SICONOS_SOCLCP_NSGS),
    "VI_FPP": Setting(sn.SICONOS_SOCLCP_VI_FPP),
    "VI_EG": Setting(sn.SICONOS_SOCLCP_VI_EG),
}

GMP_FORMS = ("NSGS-allblocks", "NSGS-subs-equalities", "NSGS-assemble-equalities", "NSGS-mlcp-like")
GMP = {
    name: Setting(sn.SICONOS_GENERIC_MECHANICAL_NSGS, 100_000, {REDUCTION: number})
    for number, name in enumerate(GMP_FORMS)
}

# class: (reader, whether it fills a structure of ours, driver, settings)
CLASSES = {
    "lcp": ("linearComplementarity_newFromFilename", True, "linearComplementarity_driver", LCP),
    "mlcp": ("mixedLinearComplementarity_newFromFilename", True, "mlcp_driver", MLCP),
    "relay": ("relay_new_from_filename", False, "relay_driver", RELAY),
    "fc2d": ("frictionContact_new_from_filename", False, "fc2d_driver", FC2D),
    "fc3d": ("frictionContact_new_from_filename", False, "fc3d_driver", FC3D),
    "gfc3d": ("globalFrictionContact_new_from_filename", False, "gfc3d_driver", GFC3D),
    "rfc3d": ("rollingFrictionContact_new_from_filename", False, "rolling_fc3d_driver", RFC3D),
    "grfc3d": (
        "globalRollingFrictionContact_new_from_filename",
        False,
        "g_rolling_fc3d_driver",
        GRFC3D,
    ),
    "soclcp": (
        "secondOrderConeLinearComplementarityProblem_newFromFilename",
        True,
        "soclcp_driver",
        SOCLCP,
    ),
    "gmp": ("genericMechanical_new_from_filename", False, "gmp_driver", GMP),
}

# --- one setting on one file ---------------------------------------------------

STRUCTURE = 4096  # bytes, more than any structure of a problem has
COARSE = 0.2  # seconds: the clock of processor time may tick this slowly, with a wide margin
PATIENCE = 20  # wall time to the processor time of a run, where others use the core


def load(kind, path):
    reader, fills, _, _ = CLASSES[kind]
    function = getattr(LIB, reader)
    name = ctypes.c_char_p(os.fsencode(path))
    if fills:
        structure = ctypes.create_string_buffer(STRUCTURE)
        function(structure, name)
        return ctypes.cast(structure, ctypes.c_void_p), structure
    function.restype = ctypes.c_void_p
    return ctypes.c_void_p(function(name)), None


def run_once(problem, path, setting, tol):
    """One call of the driver from zero, on a problem read anew."""
    pointer, _keep = load(problem.kind, path)
    options = setting.options(problem, tol)
    vectors = [np.zeros(problem.size()), np.zeros(problem.size())]
    if problem.H is not None:
        vectors.append(np.zeros(len(problem.q)))
    driver = getattr(LIB, CLASSES[problem.kind][2])
    address = ctypes.c_void_p(int(options.this))
    arguments = [pointer, *(ctypes.c_void_p(v.ctypes.data) for v in vectors), address]
    if problem.kind == "mlcp":
        LIB.mlcp_driver_init(pointer, address)
    cpu, wall = time.process_time(), time.perf_counter()
    info = driver(*arguments)
    seconds = time.perf_counter() - wall
    if seconds > COARSE:
        seconds = min(seconds, time.process_time() - cpu)
    return {
        "seconds": seconds,
        "iterations": int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]),
        "residual": float(problem_files.residual(problem, vectors[0], vectors[-1])),
        "own_tol": tol,
        "info": int(info),
    }


def run_all(send, problem, path, setting, tol, limit):
    """Runs in a process of its own: tightens until it is solved, then repeats."""

    def run_limited():
        # the system ends the process when the processor time of a run is up
        end = int(time.process_time() + limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
        run = run_once(problem, path, setting, own)
        send.send(run)
        return run

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    own = tol
    while True:
        run = run_limited()
        if not (run["residual"] > tol and run["info"] == 0 and own > 1e-4 * tol):
            break
        own /= 10.0
    if run["residual"] <= tol:
        wanted = 0 if run["seconds"] > 5.0 else int(np.clip(0.3 / run["seconds"], 2, 50))
        for _ in range(wanted):
            run_limited()
    send.send(None)
    os._exit(0)


def measure(problem, path, name, setting, tol, limit):
    """The best of the runs of a setting, or how it failed."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    process = fork.Process(target=run_all, args=(send, problem, path, setting, tol, limit))
    process.start()
    send.close()
    runs, failure = [], None
    try:
        while True:
            if not receive.poll(PATIENCE * limit):  # it hangs
                failure = "time limit"
                break
            run = receive.recv()
            if run is None:
                break
            runs.append(run)
    except EOFError:
        process.join()
        out_of_time = process.exitcode == -signal.SIGXCPU
        failure = "time limit" if out_of_time else f"crash ({process.exitcode})"
    process.kill()
    process.join()
    solved = [run for run in runs if run["residual"] <= tol]
    if solved:
        best = min(solved, key=lambda run: run["seconds"])
        return {"setting": name, "solved": True, "runs": len(solved), **best}
    row = {"setting": name, "solved": False, "failure": failure or "residual"}
    finite = [run for run in runs if np.isfinite(run["residual"])]
    return {**row, **min(finite, key=lambda run: run["residual"], default={})}


# --- files -------------------------------------------------------------------


def settings_for(problem, path, top):
    """The names that are worth a try: those that are known to solve the file, fastest first."""
    all_names = list(CLASSES[problem.kind][3])
    known = path.parent.parent / "problems.json"
    if not known.exists():
        return all_names
    entry = json.loads(known.read_text()).get(f"{path.parent.name}/{path.name}", {})
    summary = sorted(entry.get("summary", {}).items(), key=lambda item: float(item[0]))
    names = []
    if summary:
        names = [name for name in summary[0][1]["solved"] if name in all_names][:top]
    return names or all_names


# What suits the methods of a class best: other storages are tried beside that of the file, as
# some methods abort on them, or are much slower.
STORAGE = {"fc2d": "blocks", "fc3d": "blocks", "rfc3d": "dense", "gfc3d": "sparse", "grfc3d": "sparse"}


def measure_file(path, tol, limit, top, folder):
    kind = path.parent.name
    row = {"file": f"{kind}/{path.name}", "kind": kind, "settings": [], "best": None}
    try:
        problem = problem_files.read(path, kind)
    except Unreadable as reason:
        return {**row, "failure": str(reason)}
    row |= {"solved_as": problem.kind, "size": problem.size()}
    forms = {"": path}
    if problem.text is not None:
        forms[""] = Path(folder) / "problem.dat"
        forms[""].write_text(problem.text)
    elif problem.kind in STORAGE and storage(path) != STORAGE[problem.kind]:
        other = f" {STORAGE[problem.kind]}"
        forms[other] = Path(folder) / "other.dat"
        forms[other].write_text(problem_files.text_of(problem))
    table = CLASSES[problem.kind][3]
    for name in settings_for(problem, path, top):
        for form, file in forms.items():
            found = measure(problem, file, name + form, table[name], tol, limit)
            row["settings"].append(found)
    solved = [found for found in row["settings"] if found["solved"]]
    row["best"] = min(solved, key=lambda found: found["seconds"], default=None)
    return row


def storage(path):
    """How the matrix of a friction problem is stored: the third number says it."""
    with open(path, encoding="latin-1") as file:
        return ("dense", "blocks", "sparse")[int(file.read(200).split()[2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE-OR-FOLDER")
    parser.add_argument("--tol", type=float, default=1e-8, help="residual to reach")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds of a run")
    parser.add_argument("--top", type=int, default=6, help="most settings a file")
    args = parser.parse_args()

    files = []
    for path in args.paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [f.resolve() for f in found if f.is_file() and f.resolve().parent.name in READERS]
    sn.numerics_set_verbose(0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            row = measure_file(path, args.tol, args.limit, args.top, folder)
            best = row["best"] or {"setting": "none", "seconds": float("nan")}
            print(f"{row['file']}: {best['setting']} {best['seconds']:.3g} s", file=sys.stderr)
            rows.append(row)
    print(json.dumps({"peer": "Siconos", "tol": args.tol, "limit": args.limit, "files": rows}))


if __name__ == "__main__":
    main()
