"""Stored problems: reading, writing and measuring them, without Siconos.

Text files follow `crates/saltus-io`, HDF5 files are FCLIB's, read through the system's HDF5
library. The residuals are those that Siconos defines for each class, evaluated from the primal
unknowns alone, so that no solver judges itself.
"""

import ctypes
import ctypes.util
import os
from dataclasses import dataclass, field

import numpy as np

EPS = np.finfo(float).eps


class Unreadable(Exception):
    """A file that holds no problem, or none that Siconos has a class for."""


# --- matrices ----------------------------------------------------------------


class Matrix:
    """Triplets; duplicates add up."""

    def __init__(self, shape, i, j, x):
        self.shape = shape
        self.i, self.j = np.asarray(i, dtype=int), np.asarray(j, dtype=int)
        self.x = np.asarray(x, dtype=float)

    @classmethod
    def of(cls, dense):
        i, j = np.nonzero(dense)
        return cls(dense.shape, i, j, dense[i, j])

    @property
    def T(self):
        return Matrix(self.shape[::-1], self.j, self.i, self.x)

    def __matmul__(self, v):
        return np.bincount(self.i, self.x * v[self.j], minlength=self.shape[0])

    def dense(self):
        a = np.zeros(self.shape)
        np.add.at(a, (self.i, self.j), self.x)
        return a

    def norm(self):
        """The largest singular value, nearly, by power iteration."""
        v = np.random.default_rng(1).standard_normal(self.shape[1])
        size = 0.0
        for _ in range(100):
            v /= np.linalg.norm(v) or 1.0
            v = self.T @ (self @ v)
            size = np.linalg.norm(v)
        return float(np.sqrt(size))

    def dense_text(self):
        rows, columns = self.shape
        return f"0\n{rows}\n{columns}\n{rows} {columns}\n{numbers(self.dense().T.ravel())}\n"

    def triplet_text(self):
        rows, columns = self.shape
        head = f"2\n{rows}\n{columns}\n1\ntriplets\n"
        head += f"triplet: {rows}-by-{columns}, nzmax: {len(self.x)} nnz: {len(self.x)}\n"
        entries = zip(self.i, self.j, self.x)
        return head + "".join(f"    {i} {j} : {x:.17g}\n" for i, j, x in entries)

    def block_text(self, d):
        """Sparse blocks of size d, which Gauss-Seidel likes best."""
        n, nb = self.shape[0], self.shape[0] // d
        blocks = {(k, k): np.zeros((d, d)) for k in range(nb)}
        for i, j, x in zip(self.i, self.j, self.x):
            block = blocks.setdefault((i // d, j // d), np.zeros((d, d)))
            block[i % d, j % d] += x
        order = sorted(blocks)
        starts = np.searchsorted([row for row, _ in order], np.arange(nb + 1))
        ends = np.arange(d, n + 1, d)
        lines = [f"1\n{n}\n{n}\n{len(order)}\n{nb}\n{nb}", words(ends), words(ends)]
        lines += [f"{nb + 1}\n{len(order)}", words(starts), words(j for _, j in order)]
        for k, key in enumerate(order):
            lines.append(f"{k}\n{numbers(blocks[key].T.ravel())}")
        return "\n".join(lines) + "\n"


def words(values):
    return " ".join(str(value) for value in values)


def numbers(values):
    return " ".join(f"{value:.17g}" for value in values)


# --- text --------------------------------------------------------------------


class Text:
    """The tokens of a file, in order."""

    def __init__(self, path):
        with open(path, encoding="latin-1") as file:
            self.tokens = file.read().split()
        self.at = 0

    def word(self):
        if self.at >= len(self.tokens):
            raise Unreadable("the file ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def integer(self):
        return int(self.word())

    def integers(self, count):
        return [self.integer() for _ in range(count)]

    def reals(self, count):
        values = self.tokens[self.at : self.at + count]
        if len(values) < count:
            raise Unreadable("the file ends too early")
        self.at += count
        return np.array(values, dtype=float)

    def matrix(self):
        storage, rows, columns = self.integers(3)
        read = {0: self.dense_body, 1: self.block_body, 2: self.sparse_body}[storage]
        return read(rows, columns)

    def dense_body(self, rows, columns):
        self.integers(2)  # the sizes once more
        return Matrix.of(self.reals(rows * columns).reshape(columns, rows).T)

    def block_body(self, rows, columns):
        count = self.integer()
        if count == 0:
            return Matrix((rows, columns), [], [], [])
        block_rows, block_columns = self.integers(2)
        row_ends, column_ends = self.integers(block_rows), self.integers(block_columns)
        filled = self.integers(2)
        starts, indices = self.integers(filled[0]), self.integers(filled[1])
        self.block_ends = row_ends
        i, j, x = [], [], []
        for row in range(block_rows):
            for k in range(starts[row], starts[row + 1]):
                r0 = row_ends[row - 1] if row else 0
                c0 = column_ends[indices[k] - 1] if indices[k] else 0
                height, width = row_ends[row] - r0, column_ends[indices[k]] - c0
                self.integer()  # the number of the block
                x.append(self.reals(height * width))
                i.append(np.tile(np.arange(r0, r0 + height), width))
                j.append(np.repeat(np.arange(c0, c0 + width), height))
        return Matrix((rows, columns), *(np.concatenate(part) for part in (i, j, x)))

    def sparse_body(self, rows, columns):
        self.integer()  # where it came from
        form = ""
        while "-by-" not in (size := self.word()):  # the banner
            form = size
        while self.word() != "nnz:":
            pass
        count = int(self.word().rstrip(","))
        i, j, x = np.zeros(count, int), np.zeros(count, int), np.zeros(count)
        if form == "triplet:":
            entries = [(self.integer(), self.integer(), self.word(), self.word()) for _ in x]
            for k, (row, column, _, value) in enumerate(entries):
                i[k], j[k], x[k] = row, column, float(value)
            return Matrix((rows, columns), i, j, x)
        self.word(), self.word()  # 1-norm
        for line in range(rows if form == "csr:" else columns):
            # "col 3 : locations 6 to 8", then "  7 : 0.5"
            _, _, _, _, first, _, last = (self.word() for _ in range(7))
            for k in range(int(first), int(last) + 1):
                i[k], j[k], (_, value) = self.integer(), line, (self.word(), self.word())
                x[k] = float(value)
        return Matrix((rows, columns), *((j, i) if form == "csr:" else (i, j)), x)


# --- HDF5 --------------------------------------------------------------------


class Hdf5:
    """Datasets of an HDF5 file as vectors of doubles."""

    def __init__(self, path):
        name = ctypes.util.find_library("hdf5_serial") or ctypes.util.find_library("hdf5")
        if name is None:
            raise Unreadable("there is no HDF5 library to read it with")
        self.lib = ctypes.CDLL(name)
        for function in ("H5Fopen", "H5Dopen2", "H5Dget_space"):
            getattr(self.lib, function).restype = ctypes.c_int64
        self.lib.H5Sget_simple_extent_npoints.restype = ctypes.c_int64
        self.lib.H5open()
        self.double = ctypes.c_int64.in_dll(self.lib, "H5T_NATIVE_DOUBLE_g")
        self.file = ctypes.c_int64(self.lib.H5Fopen(os.fsencode(path), 0, ctypes.c_int64(0)))

    def has(self, name):
        exists = self.lib.H5Lexists
        return exists(self.file, name.encode(), ctypes.c_int64(0)) > 0

    def vector(self, name):
        zero = ctypes.c_int64(0)
        data = ctypes.c_int64(self.lib.H5Dopen2(self.file, name.encode(), zero))
        if data.value < 0:
            raise Unreadable(f"it has no dataset {name}")
        space = ctypes.c_int64(self.lib.H5Dget_space(data))
        values = np.zeros(self.lib.H5Sget_simple_extent_npoints(space))
        pointer = values.ctypes.data_as(ctypes.c_void_p)
        self.lib.H5Dread(data, self.double, zero, zero, zero, pointer)
        return values

    def matrix(self, group):
        m, n, nz = (int(self.vector(f"{group}/{key}")[0]) for key in ("m", "n", "nz"))
        p, i = (self.vector(f"{group}/{key}").astype(int) for key in ("p", "i"))
        x = self.vector(f"{group}/x")
        if nz >= 0:
            return Matrix((m, n), i[:nz], p[:nz], x[:nz])
        lines = np.repeat(np.arange(len(p) - 1), np.diff(p))
        i, x = i[: p[-1]], x[: p[-1]]
        return Matrix((m, n), *((i, lines) if nz == -1 else (lines, i)), x)


# --- problems ----------------------------------------------------------------


@dataclass
class Problem:
    """A stored problem; `M` is the matrix of its class, `d` the size of a contact block."""

    kind: str
    M: Matrix
    q: np.ndarray
    d: int = 1
    H: Matrix = None
    b: np.ndarray = None
    mu: np.ndarray = None
    mu_r: np.ndarray = None
    bounds: tuple = None
    equality: np.ndarray = None
    blocks: list = field(default_factory=list)  # of a GMP: (start, end, type, mu)
    text: str = None  # what Siconos reads where it cannot read the file itself

    def size(self):
        return len(self.b) if self.b is not None else len(self.q)


def read(path, kind):
    """The problem in a file, as the class that Siconos solves it as."""
    with open(path, "rb") as file:
        is_hdf5 = file.read(8) == b"\x89HDF\r\n\x1a\n"
    problem = read_hdf5(Hdf5(path)) if is_hdf5 else READERS[kind](Text(path))
    problem.kind = problem.kind or kind
    if problem.kind == "gfc2d":
        problem = reduced(problem)
    if is_hdf5 or kind in ("gfc2d", "plasticity"):
        problem.text = text_of(problem)
    if problem.size() == 0:
        raise Unreadable("no contacts")
    return problem


def read_lcp(text):
    n = text.integer()
    return Problem("lcp", text.matrix(), text.reals(n))


def read_relay(text):
    n = text.integer()
    problem = Problem("relay", text.matrix(), text.reals(n))
    problem.bounds = (text.reals(n), text.reals(n))
    return problem


def read_mlcp(text):
    tagged, _, n, m = text.integers(4)
    if not tagged:
        raise Unreadable("only the form with block tags is read")
    ends = [text.integer()]
    while ends[-1] < n + m:
        ends.append(text.integer())
    flags = text.integers(len(ends) - 1)
    M = text.matrix()
    if M.shape != (n + m, n + m):
        raise Unreadable(f"its matrix is {M.shape[0]} by {M.shape[1]}")
    problem = Problem("mlcp", M, text.reals(n + m))
    problem.equality = np.repeat(np.array(flags) == 0, np.diff(ends))
    return problem


def read_friction(text):
    d, contacts = text.integers(2)
    M = text.matrix()
    return Problem("", M, text.reals(M.shape[1]), d, mu=text.reals(contacts))


def read_rolling(text):
    problem = read_friction(text)
    problem.mu_r = text.reals(len(problem.mu))
    return problem


def read_global(text):
    d, contacts = text.integers(2)
    M, H = text.matrix(), text.matrix()
    q, b = text.reals(M.shape[0]), text.reals(d * contacts)
    return Problem("", M, q, d, H=H, b=b, mu=text.reals(contacts))


def read_global_rolling(text):
    problem = read_global(text)
    problem.mu_r = text.reals(len(problem.mu))
    return problem


def read_soclcp(text):
    n, cones = text.integers(2)
    M, q = text.matrix(), text.reals(n)
    if text.integers(cones + 1) != list(range(0, n + 1, 3)):
        raise Unreadable("only cones of size 3 are solved")
    return Problem("soclcp", M, q, 3, mu=text.reals(cones))


def read_gmp(text):
    M = text.matrix()
    problem, start = Problem("gmp", M, text.reals(M.shape[0])), 0
    for end in text.block_ends:
        kind = text.integer()
        problem.blocks.append((start, end, kind, text.reals(1) if kind == 4 else None))
        start = end
    return problem


def read_plasticity(text):
    d, cones, model = text.integers(3)
    M = text.matrix()
    q, eta = text.reals(M.shape[1]), text.reals(cones)
    theta = text.reals(cones) if model == 1 else None
    if model == 1 and np.array_equal(theta, eta):
        return Problem("fc3d", M, q, d, mu=eta)
    if model == 1 and not theta.any():
        return Problem("soclcp", M, q, d, mu=eta)
    raise Unreadable("Siconos 4.4 has no class for this law")


READERS = {
    "lcp": read_lcp,
    "relay": read_relay,
    "mlcp": read_mlcp,
    "fc2d": read_friction,
    "fc3d": read_friction,
    "gfc2d": read_global,
    "gfc3d": read_global,
    "rfc3d": read_rolling,
    "grfc3d": read_global_rolling,
    "soclcp": read_soclcp,
    "gmp": read_gmp,
    "plasticity": read_plasticity,
}


def read_hdf5(file):
    if file.has("fclib_local"):
        kind, root = "fc", "fclib_local"
        M, H, q, b = file.matrix(f"{root}/W"), None, file.vector(f"{root}/vectors/q"), None
    else:
        rolling = file.has("fclib_global_rolling")
        kind, root = ("grfc", "fclib_global_rolling") if rolling else ("gfc", "fclib_global")
        M, H = file.matrix(f"{root}/M"), file.matrix(f"{root}/H")
        q, b = file.vector(f"{root}/vectors/f"), file.vector(f"{root}/vectors/w")
    d = int(file.vector(f"{root}/spacedim")[0])
    kind += "2d" if d == 2 else "3d"
    problem = Problem(kind, M, q, d, H=H, b=b, mu=file.vector(f"{root}/vectors/mu"))
    if kind == "grfc3d":
        problem.mu_r = file.vector(f"{root}/vectors/mu_r")
    return problem


def reduced(problem):
    """`W = Hᵀ M⁻¹ H`, `q_red = Hᵀ M⁻¹ q + b`: this release has no 2D global driver."""
    if problem.size() == 0:
        raise Unreadable("no contacts")
    H = problem.H.dense()
    solved = np.linalg.solve(problem.M.dense(), np.column_stack([H, problem.q]))
    W = H.T @ solved
    return Problem("fc2d", Matrix.of(W[:, :-1]), W[:, -1] + problem.b, 2, mu=problem.mu)


def text_of(problem):
    """The problem in the form that Siconos reads, stored as suits the methods of its class."""
    p, contacts = problem, len(problem.mu)
    if p.kind == "soclcp":
        cones = words(range(0, 3 * contacts + 1, 3))
        head, tail = f"{3 * contacts}\n{contacts}\n", [numbers(p.q), cones, numbers(p.mu)]
        return head + p.M.block_text(3) + "\n".join(tail) + "\n"
    # the one-contact solvers for rolling abort on sparse blocks
    matrices = p.M.dense_text() if p.mu_r is not None else p.M.block_text(p.d)
    vectors = [p.q, p.mu]
    if p.H is not None:
        matrices, vectors = p.M.triplet_text() + p.H.triplet_text(), [p.q, p.b, p.mu]
    if p.mu_r is not None:
        vectors.append(p.mu_r)
    return f"{p.d}\n{contacts}\n{matrices}" + "\n".join(map(numbers, vectors)) + "\n"


# --- residuals ---------------------------------------------------------------


def residual(problem, z, v=None):
    """How far z (and v, in global form) is from a solution, in the measure of the class."""
    p, norm = problem, np.linalg.norm
    if p.H is not None:
        u = p.H.T @ v + p.b
        momentum = p.M @ v, p.q, p.H @ z
        error = relative(norm(momentum[0] - momentum[1] - momentum[2]), *momentum)
        return error + relative(norm(contact_map(p, z, u)), u, z)
    w = p.M @ z + p.q
    if p.kind == "lcp":
        return relative(norm(np.minimum(z, w)), p.q)
    if p.kind == "mlcp":
        return norm(np.where(p.equality, w, np.minimum(z, w))) / (1 + norm(p.q))
    if p.kind == "relay":
        return norm(z - np.clip(z - w, *p.bounds)) / (1 + norm(p.q))
    if p.kind == "gmp":
        return max(block_residual(p, z, w, *block) for block in p.blocks)
    if p.kind == "soclcp":
        return norm(z - cone(z - w, 3, p.mu)) / (1 + norm(p.q))
    return relative(norm(contact_map(p, z, w)), p.q, z, w)


def relative(error, *vectors):
    scale = max(np.linalg.norm(vector) for vector in vectors)
    return error / scale if scale > EPS else error


def block_residual(p, z, w, start, end, kind, mu):
    z, w = z[start:end], w[start:end]
    inside = (p.M.i >= start) & (p.M.i < end) & (p.M.j >= start) & (p.M.j < end)
    own = Matrix((end - start,) * 2, p.M.i[inside] - start, p.M.j[inside] - start, p.M.x[inside])
    if kind == 2:  # equality
        return float(np.abs(w).max())
    block = Problem("fc3d", own, w - own @ z, 3, mu=mu)
    error = np.minimum(z, w) if kind == 0 else contact_map(block, z, w)
    return np.linalg.norm(error) / (1 + np.linalg.norm(block.q))


def contact_map(p, r, u):
    """`r − P_K(r − u − (μ |u_T| + μ_r |u_R|) e_N)`, contact by contact."""
    shifted = u.reshape(-1, p.d).copy()
    shifted[:, 0] += p.mu * np.linalg.norm(shifted[:, 1:3], axis=1)
    if p.mu_r is not None:
        shifted[:, 0] += p.mu_r * np.linalg.norm(shifted[:, 3:], axis=1)
    return r - cone(r - shifted.ravel(), p.d, p.mu, p.mu_r)


def cone(x, d, mu, mu_r=None):
    """The projection on `|x_T| ≤ μ x_N` (and `|x_R| ≤ μ_r x_N`), block by block."""
    x = x.reshape(-1, d)
    n, t = x[:, 0], np.linalg.norm(x[:, 1:3], axis=1)
    s = np.zeros_like(n) if mu_r is None else np.linalg.norm(x[:, 3:], axis=1)
    mu_r = np.zeros_like(n) if mu_r is None else mu_r
    # the normal part with friction, rolling, or both at their limits; the right one is the
    # one whose limits are those that are passed
    normal = np.maximum(n, 0.0)
    for slides, rolls in ((True, False), (False, True), (True, True)):
        a, c = mu * slides, mu_r * rolls
        trial = np.maximum((n + a * t + c * s) / (1 + a * a + c * c), 0.0)
        fits = ((t > mu * trial) == slides) & ((s > mu_r * trial) == rolls)
        normal = np.where(fits, trial, normal)
    normal = np.where(mu * t + mu_r * s <= -n, 0.0, normal)
    result = np.empty_like(x)
    result[:, 0] = normal
    for part, size, limit in ((slice(1, 3), t, mu), (slice(3, None), s, mu_r)):
        scale = np.minimum(1.0, limit * normal / np.where(size > 0, size, 1.0))
        result[:, part] = x[:, part] * scale[:, None]
    return result.ravel()
