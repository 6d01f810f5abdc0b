"""Problems on their own."""

from pathlib import Path

import numpy as np
import pytest

import saltus as sl
from saltus import numerics as nu

M = np.array([[2.0, 1.0], [1.0, 2.0]])
SOLVERS = ["auto", "pivoting", "lemke", "gauss-seidel", "enumeration"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_lcp(solver):
    p = nu.lcp(M, [-4, 1])
    assert (p.size, p.kind) == (2, "lcp")
    s = nu.solve(p, solver=solver)
    np.testing.assert_allclose(s.z, [2, 0], atol=1e-8)
    np.testing.assert_allclose(s.w, M @ s.z + [-4, 1], atol=1e-15)
    assert s.status == "solved" and s.solved and s.residual <= 1e-8 and s.seconds >= 0
    assert nu.residual(p, s.z) == s.residual
    assert s.attempts and s.attempts[-1].status == "solved"


def test_data_comes_back():
    p = nu.mlcp(M, [1, 2], 1)
    np.testing.assert_array_equal(p.matrix(), M)
    np.testing.assert_array_equal(p.q, [1, 2])
    np.testing.assert_array_equal(p.lower, [-np.inf, 0])
    np.testing.assert_array_equal(p.upper, [np.inf, np.inf])
    assert repr(p) == "<mlcp of 2 unknowns>"


def test_mlcp():
    s = nu.solve(nu.mlcp(M, [1, -3], 1))
    np.testing.assert_allclose(M @ s.z + [1, -3], [0, 0], atol=1e-12)
    assert s.z[0] < 0 < s.z[1]


@pytest.mark.parametrize("make", [nu.relay, nu.box])
def test_relay(make):
    p = make(np.eye(3), [5, -5, 0.5])
    assert p.kind == make.__name__
    np.testing.assert_allclose(nu.solve(p).z, [-1, 1, -0.5])
    wide = make(np.eye(3), [5, -5, 0.5], lower=[-9, -9, -9], upper=np.inf)
    np.testing.assert_allclose(nu.solve(wide).z, [-5, 5, -0.5])


def test_settings_and_guess():
    chain = 2.5 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1)
    p = nu.lcp(chain, -np.arange(1.0, 7.0))
    s = nu.solve(p, solver=sl.solvers.GaussSeidel(relaxation=0.7), tol=1e-3)
    assert 0 < s.residual <= 1e-3 and s.solver == "gauss-seidel"
    # a solver object keeps its own tolerance
    tight = nu.solve(p, solver=sl.solvers.GaussSeidel(relaxation=0.7, tol=1e-12))
    assert tight.residual <= 1e-12 and tight.iterations > s.iterations
    assert nu.solve(nu.lcp(M, [-4, 1]), "gauss-seidel", z0=[2, 0]).iterations == 0


def test_not_solved():
    p = nu.lcp([[0.0]], [-1])
    with pytest.raises(sl.SolverError, match="lcp of 1 unknowns was not solved: infeasible") as caught:
        nu.solve(p)
    assert caught.value.report.status == "infeasible" and caught.value.run is None
    assert nu.solve(p, check=False).status == "infeasible"
    many = nu.lcp(M, [-4, -4])
    assert nu.solve(many, "gauss-seidel", max_iter=1, check=False).status == "max_iter"


def test_a_ray_that_proves_nothing():
    # the theory of Lemke's method does not cover this matrix; there is a solution, z = (0, 1)
    p = nu.lcp([[0.0, 3.0], [2.0, -2.0]], [-1, 2])
    s = nu.solve(p, "lemke", check=False)
    assert s.status == "diverged" and not s.solved
    assert [(a.solver, a.status) for a in s.attempts] == [("lemke", "ray")]
    assert s.attempts[0].residual == s.residual
    with pytest.raises(sl.SolverError, match="was not solved: diverged .* tried lemke: ray"):
        nu.solve(p, "lemke")
    np.testing.assert_allclose(nu.solve(p).z, [0, 1])  # the portfolio goes on


def test_all_solutions():
    # 0 ≤ −z + 1 ⟂ z ≥ 0 has two solutions
    found = nu.all_solutions(nu.lcp([[-1.0]], [1]))
    assert sorted(s.z[0] for s in found) == [0.0, 1.0]
    assert found.modes == 2 and found.singular_modes == 0
    with pytest.raises(sl.InputError, match="modes"):
        nu.all_solutions(nu.lcp(np.eye(30), np.ones(30)))


def test_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    n = 200
    chain = sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    q = np.sin(np.arange(n))
    p = nu.lcp(chain.tocsc(), q)
    assert sparse.issparse(p.matrix())
    np.testing.assert_array_equal(p.matrix().toarray(), chain.toarray())
    s = nu.solve(p, tol=1e-10)
    np.testing.assert_allclose(s.z, nu.solve(nu.lcp(chain.toarray(), q), tol=1e-10).z, atol=1e-7)
    assert s.z.min() >= 0 and (chain @ s.z + q).min() > -1e-7


@pytest.mark.parametrize(
    ("attempt", "exception", "message"),
    [
        (lambda: nu.lcp(M, [1, 2, 3]), sl.InputError, "`q` has length 3, but the problem has 2"),
        (lambda: nu.lcp(M[:, :1], [1, 2]), sl.InputError, "`M` is 2 × 1, expected 2 × 2"),
        (lambda: nu.lcp([[np.nan]], [1]), sl.InputError, r"`M` holds NaN at \[0\]\[0\]"),
        (lambda: nu.lcp([1], [1]), sl.InputError, "`M` has one axis"),
        (lambda: nu.lcp(M, [1, "x"]), sl.InputError, "unknown name"),
        (lambda: nu.mlcp(M, [1, 2], 3), sl.InputError, "equalities"),
        (lambda: nu.box(M, [1, 2], 1, -1), sl.InputError, "not an interval"),
        (lambda: nu.box(M, [1, 2], [0], 1), sl.InputError, "`lower` has length 1"),
        (lambda: nu.solve(nu.lcp(M, [1, 2]), "lemk"), sl.InputError, "did you mean `lemke`"),
        (lambda: nu.solve(nu.lcp(M, [1, 2]), 3), TypeError, "`solver`"),
        (lambda: nu.solve(nu.lcp(M, [1, 2]), tol=-1), sl.InputError, "`tol` = -1"),
        (lambda: nu.solve(nu.lcp(M, [1, 2]), z0=[1]), sl.InputError, "`z0` has length 1"),
        (lambda: nu.solve(M), TypeError, "expected a problem"),
        (lambda: nu.residual(nu.lcp(M, [1, 2]), [1]), sl.InputError, "`z` has length 1"),
        (lambda: nu.solve(nu.lcp([[0.0]], [1]), "gauss-seidel"), sl.InputError, r"M\[0, 0\] = 0"),
    ],
)
def test_wrong_input(attempt, exception, message):
    with pytest.raises(exception, match=message):
        attempt()


PROBLEMS = Path(__file__).parents[2] / "testdata" / "problems"


@pytest.mark.parametrize(
    "file, kind, z",
    [
        ("lcp/dense.dat", "lcp", [1, 0, 2]),
        ("lcp/triplet.dat", "lcp", [1, 0, 2]),
        ("mlcp/both.dat", "mlcp", [1, -2, 0]),
        ("relay/blocks.dat", "relay", [-1, 0.5, 0.5]),
    ],
)
def test_read(file, kind, z):
    for p in [nu.read(PROBLEMS / file), nu.read(str(PROBLEMS / file), kind=kind)]:
        assert (p.kind, p.size) == (kind, 3)
        np.testing.assert_array_equal(p.matrix(), [[2, 1, 0], [-1, 3, 1], [0, 0.5, 2]])
        assert p.q.shape == p.lower.shape == p.upper.shape == (3,)
        np.testing.assert_allclose(nu.solve(p).z, z, atol=1e-12)


def test_read_sparse(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    n = 100
    columns = " ".join("2" if i == j else "0" for j in range(n) for i in range(n))
    file = tmp_path / "x.dat"
    file.write_text(f"{n} 0 {n} {n} {n} {n} {columns} {'-1 ' * n}")
    p = nu.read(file, kind="lcp")
    assert sparse.issparse(p.matrix()) and p.matrix().nnz == n
    np.testing.assert_array_equal(nu.solve(p).z, np.full(n, 0.5))


def test_read_wrong(tmp_path):
    file = tmp_path / "x.dat"
    file.write_text("1 0 1 1 1 1\n2 nan")
    with pytest.raises(sl.InputError, match="x.dat:2:3: `q.0.`: expected a number") as caught:
        nu.read(file, kind="lcp")
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(file), 2, 3)
    with pytest.raises(sl.InputError, match="does not say what kind .* give one of lcp, mlcp"):
        nu.read(file)
    with pytest.raises(sl.InputError, match="no kind of problem `lpc`; did you mean `lcp`"):
        nu.read(file, kind="lpc")
    file.write_text("1 0 1 1 1 1\n2 3")
    with pytest.raises(NotImplementedError, match="kind `avi` cannot be read: the file does not say"):
        nu.read(file, kind="avi")
    with pytest.raises(FileNotFoundError, match="no such file"):
        nu.read(tmp_path / "nope.dat", kind="lcp")
    with pytest.raises(sl.SaltusError, match="a directory"):
        nu.read(tmp_path, kind="lcp")
