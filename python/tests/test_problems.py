"""Problems with contacts, cones, graphs and blocks; quadratic programs; problems out of functions."""

import sys

import numpy as np
import pytest

import saltus as sl
from saltus import numerics as nu
from saltus._functions import maps_of

# one contact, W = 1: name, problem, reactions, velocities
CONTACTS = {
    "2d open": (nu.friction2d, [1, 2], (0.5,), [0, 0], [1, 2]),
    "2d slip": (nu.friction2d, [-1, 2], (0.5,), [1, -0.5], [0, 1.5]),
    "2d stick": (nu.friction2d, [-1, 2], (3,), [1, -2], [0, 0]),
    "3d open": (nu.friction3d, [1, 2, 0], (0.5,), [0, 0, 0], [1, 2, 0]),
    "3d slip": (nu.friction3d, [-1, 0.6, 0.8], (0.5,), [1, -0.3, -0.4], [0, 0.3, 0.4]),
    "3d stick": (nu.friction3d, [-1, 0.6, 0.8], (1.5,), [1, -0.6, -0.8], [0, 0, 0]),
    "2d rolls": (nu.rolling, [-1, 2, 0.3], (0.5, 0.1), [1, -0.5, -0.1], [0, 1.5, 0.2]),
    "3d rolls": (nu.rolling, [-1, 0.6, 0.8, 0.3, 0], (0.5, 0.1), [1, -0.3, -0.4, -0.1, 0], [0, 0.3, 0.4, 0.2, 0]),
}
KINDS = {nu.friction2d: "fc2d", nu.friction3d: "fc3d"}


@pytest.mark.parametrize("name", CONTACTS)
def test_contacts(name):
    make, q, parameters, z, w = CONTACTS[name]
    n = len(q)
    p = make(np.eye(n), q, *parameters)
    assert (p.size, p.contacts) == (n, 1)
    assert p.kind == KINDS.get(make, f"rfc{name[:2]}")
    np.testing.assert_array_equal(p.matrix(), np.eye(n))
    np.testing.assert_array_equal(p.q, q)
    np.testing.assert_array_equal(p.mu, parameters[:1])
    np.testing.assert_array_equal(p.mu_r, parameters[1:])
    assert nu.residual(p, z) < 1e-15
    np.testing.assert_allclose(nu.physical(p, z), 0, atol=1e-7)  # an angle is the root of round-off
    wrong = np.add(z, 0.1)
    assert nu.residual(p, wrong) > 1e-2 and max(nu.physical(p, wrong)) > 1e-2


@pytest.mark.parametrize("name", CONTACTS)
def test_contacts_are_solved(name):
    make, q, parameters, z, w = CONTACTS[name]
    # thrice, with other sizes
    scale = np.repeat([1.0, 2.0, 0.5], len(q))
    p = make(np.eye(3 * len(q)), scale * np.tile(q, 3), *(np.full(3, x) for x in parameters))
    s = nu.solve(p, tol=1e-10)
    np.testing.assert_allclose(s.z, scale * np.tile(z, 3), atol=1e-8)
    np.testing.assert_allclose(s.w, scale * np.tile(w, 3), atol=1e-8)
    assert nu.physical(p, s.z).gap <= 1e-8


@pytest.mark.parametrize("function", ["alart-curnier", "jean-moreau", "natural-map", "fischer-burmeister"])
@pytest.mark.parametrize("name", CONTACTS)
def test_equations_of_newton(name, function):
    make, q, parameters, z, w = CONTACTS[name]
    newton = sl.solvers.Newton(function=function, tol=1e-10)
    s = nu.solve(make(np.eye(len(q)), q, *parameters), solver=newton)
    np.testing.assert_allclose(s.z, z, atol=1e-8)
    with pytest.raises(sl.InputError, match="unknown variant `secant`"):
        sl.solvers.Newton(function="secant")


def test_the_only_answer():
    p = nu.lcp([[2, 1], [1, 2]], [-1, -1])
    assert nu.solve(p).unique is None
    s = nu.solve(p, unique=True)
    assert s.unique == ("global", 0, "the only answer")
    # two supports at one place: who carries what is open
    p = nu.lcp(np.ones((2, 2)), [-1, -1])
    assert nu.uniqueness(p, [0.25, 0.75])[:2] == ("not", 1)
    assert nu.uniqueness(p, [0.0, 0.0]).claim == "unknown: this is no answer"
    p = nu.friction3d(np.eye(3), [-1, 2, 0], 0.5)
    assert nu.solve(p, unique=True).unique.word == "local"
    assert nu.solve(nu.ncp(lambda z: z - 1, n=1), unique=True).unique.word == "unknown"


def test_physical_says_which_part_is_wrong():
    p = nu.friction3d(np.eye(3), [-1, 1, 0], 0.5)
    gap, cone, complementarity, angle = nu.physical(p, [0.5, -0.25, 0])
    assert (gap, cone, complementarity, angle) == (0.5, 0, 0.25, 0)  # too little force
    assert nu.physical(p, [1, -0.75, 0]).cone == 0.25  # outside the cone
    assert nu.physical(p, [1, 0, 0.5]).dissipation_angle > 0.5  # across the motion


def test_coefficients_of_each_contact():
    p = nu.friction3d(np.eye(6), np.ones(6), [0.1, 0.2])
    np.testing.assert_array_equal(p.mu, [0.1, 0.2])
    np.testing.assert_array_equal(nu.friction2d(np.eye(6), np.ones(6), 0.3).mu, [0.3] * 3)
    assert nu.rolling(np.eye(15), np.ones(15), [0.3] * 3, 0.1).contacts == 3
    assert nu.rolling(np.eye(15), np.ones(15), 0.3, [0.1] * 5).contacts == 5
    assert nu.rolling(np.eye(15), np.ones(15), 0.3, 0.1, dim=2).contacts == 5
    assert nu.rolling(np.eye(15), np.ones(15), 0.3, 0.1, dim=3).contacts == 3
    assert repr(p) == "<fc3d of 6 unknowns, 2 contacts>"
    assert nu.lcp(np.eye(2), [1, 1]).mu.size == nu.friction3d(np.zeros((0, 0)), [], 0.3).mu.size == 0


# two bodies of two and one velocities, and one contact
MASS = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
H = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
F, B = [-3.0, 1.0, 2.0], [0.0, 0.1, 0.2]


@pytest.mark.parametrize("sparse", [False, True])
def test_global(sparse):
    mass, h = MASS, H
    if sparse:
        scipy = pytest.importorskip("scipy.sparse")
        mass, h = scipy.csc_array(MASS), scipy.coo_matrix(H)
    p = nu.global_friction3d(mass, h, F, B, 0.4)
    dense = (lambda a: a.toarray()) if sparse else (lambda a: a)
    assert (p.kind, p.size, p.contacts) == ("gfc3d", 3, 1)
    W, q = H.T @ np.linalg.solve(MASS, H), H.T @ np.linalg.solve(MASS, F) + B
    np.testing.assert_allclose(dense(p.matrix()), W, atol=1e-15)
    np.testing.assert_allclose(p.q, q, atol=1e-15)
    np.testing.assert_array_equal(dense(p.mass()), MASS)
    np.testing.assert_array_equal(dense(p.H()), H)
    np.testing.assert_array_equal(p.f, F)
    np.testing.assert_array_equal(p.b, B)
    r = [1.0, 0.2, -0.1]
    v = p.velocity(r)
    np.testing.assert_allclose(MASS @ v, F + H @ r, atol=1e-14)
    local = p.condensed()
    assert local.kind == "fc3d" and not hasattr(local, "f")
    np.testing.assert_allclose(dense(local.matrix()) @ r + local.q, H.T @ v + B, atol=1e-14)
    np.testing.assert_allclose(nu.physical(p, r), nu.physical(local, r), atol=1e-14)


def test_global_is_the_same_as_condensed():
    p = nu.global_friction3d(MASS, H, F, B, 0.4)
    s, local = nu.solve(p, tol=1e-10), nu.solve(p.condensed(), tol=1e-10)
    np.testing.assert_allclose(s.z, local.z, atol=1e-8)
    np.testing.assert_allclose(s.w, H.T @ p.velocity(s.z) + B, atol=1e-12)
    assert s.residual <= 1e-10 and nu.residual(p, s.z) == s.residual


def test_other_globals():
    p = nu.global_friction2d(np.eye(2), np.eye(2), [-1, 2], [0, 0], 0.5)
    assert p.kind == "gfc2d" and nu.residual(p, [1, -0.5]) < 1e-15
    r = nu.global_rolling3d(np.eye(5), np.eye(5), [-1, 0.6, 0.8, 0.3, 0], np.zeros(5), 0.5, 0.1)
    assert r.kind == "grfc3d" and nu.residual(r, [1, -0.3, -0.4, -0.1, 0]) < 1e-15
    assert r.condensed().kind == "rfc3d"


def test_without_scipy(monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    p = nu.lcp(sparse.csr_array(MASS), [1, 1, 1])
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    np.testing.assert_array_equal(p.matrix(), MASS)


# what each block makes of w = z + q: block, q, z
BLOCKS = {
    "free": ("free", [3], [-3]),
    "several free": (("free", 2), [3, 4], [-3, -4]),
    "nonnegative": (("nonnegative", 2), [3, -4], [0, 4]),
    "interval": (("interval", -1, 1), [3], [-1]),
    "intervals": (("interval", [-1, -5], 1), [3, 3], [-1, -3]),
    "interval for several": (("interval", -1, np.inf, 2), [3, -3], [-1, 3]),
    "saturation": (("graph", [(-2, 1), (-1, 1), (1, -1), (2, -1)]), [1], [-0.5]),
    "dead zone": (("graph", [(-2, 1), (-1, 0), (1, 0), (2, -1)]), [0.5], [0]),
    "coulomb2": (("coulomb2", 0.5), [-1, 2], [1, -0.5]),
    "two coulomb3": (("coulomb3", [0.5, 1.5]), [-1, 0.6, 0.8] * 2, [1, -0.3, -0.4, 1, -0.6, -0.8]),
    "rolling2": (("rolling2", 0.5, 0.1), [-1, 2, 0.3], [1, -0.5, -0.1]),
    "rolling3": (("rolling3", 0.5, [0.1]), [-1, 0.6, 0.8, 0.3, 0], [1, -0.3, -0.4, -0.1, 0]),
    "second-order": (("second_order", 3), [-1, 3, 0], [2, -2, 0]),
    "drucker-prager": (("drucker-prager", 1, 0), [-1, 3, 0], [2, -2, 0]),
    "von-mises": (("von-mises", 2), [3, 0, 0.1], None),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name):
    block, q, z = BLOCKS[name]
    p = nu.problem(np.eye(len(q)), q, [block])
    assert p.kind == "blocks" and p.size == len(q)
    if z is not None:
        assert nu.residual(p, z) < 1e-15
        assert nu.residual(p, np.add(z, 0.1)) > 1e-3


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_solved(name):
    block, q, z = BLOCKS[name]
    # beside an equation and a complementarity, which they see
    n = len(q)
    M = np.eye(n + 2)
    M[0, 1:-1] = 1.0
    p = nu.problem(M, [1, *q, 2], ["free", block, "nonnegative"])
    s = nu.solve(p, tol=1e-9)
    assert nu.residual(p, s.z) <= 1e-9
    if z is not None:
        np.testing.assert_allclose(s.z, [-1 - sum(z), *z, 0], atol=1e-7)


def test_second_order():
    p = nu.second_order(np.eye(5), [-1, 3, 0, 1, -2], [3, 2], [1, 0.5])
    assert p.kind == "soclcp" and p.contacts == 0
    np.testing.assert_array_equal(p.mu, [1, 0.5])
    assert nu.residual(p, [2, -2, 0, 0, 0]) < 1e-15


def test_second_order_is_solved():
    p = nu.second_order(np.eye(5), [-1, 3, 0, 1, -2], [3, 2], [1, 0.5])
    np.testing.assert_allclose(nu.solve(p).z, [2, -2, 0, 0, 0], atol=1e-7)


# quadratic programs


def test_qp():
    # the nearest point to (3, 1, −2) under every kind of bound
    p = nu.qp(
        np.eye(3),
        [-3, -1, 2],
        A=[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],
        l=[-np.inf, 2, -1, -np.inf],
        u=[1, np.inf, 5, np.inf],
    )
    assert p.kind == "qp" and p.size == 3 + 4
    s = nu.solve(p)
    assert isinstance(s, nu.QpSolution) and s.status == "solved"
    np.testing.assert_allclose(s.x, [1, 2, -1], atol=1e-12)
    np.testing.assert_allclose(s.y, [-2, 1, 1, 0], atol=1e-12)
    assert s.objective == pytest.approx(-4)
    assert nu.residual(p, s.z) == s.residual
    np.testing.assert_allclose(nu.solve(p, z0=[1, 2, -1]).x, s.x, atol=1e-12)
    np.testing.assert_allclose(nu.solve(nu.qp(np.eye(3), [-3, -1, 2], lower=0, upper=[1, 9, 9])).x, [1, 1, 0])
    equation = nu.solve(nu.qp(np.eye(3), [-3, -1, 2], [[1, 1, 1]], 5, 5))
    np.testing.assert_allclose(equation.x, [4, 2, -1], atol=1e-12)
    np.testing.assert_allclose(equation.y, [1], atol=1e-12)


def test_linear_program():
    s = nu.solve(nu.qp(np.zeros((2, 2)), [-1, -2], A=[[1, 1]], u=4, lower=0, upper=[np.inf, 3]))
    np.testing.assert_allclose([*s.x, *s.y, s.objective], [1, 3, -1, -7], atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_random_qp(seed, sparse):
    random = np.random.default_rng(seed)
    n, m = 12, 8
    G, A = random.normal(size=(n // 2, n)), random.normal(size=(m, n))  # P of half the rank
    P, c, inside = G.T @ G, random.normal(size=n), random.normal(size=n)
    l, u = A @ inside - random.random(m), A @ inside + random.random(m)
    l[:2], u[2:4] = u[:2], np.inf  # equations, lower bounds
    l[:2] = u[:2] = A[:2] @ inside
    lower, upper = inside - 1, inside + 1
    if sparse:
        scipy = pytest.importorskip("scipy.sparse")
        p = nu.qp(scipy.csr_array(P), c, scipy.csr_array(A), l, u, lower, upper)
        assert scipy.issparse(p.matrix())
    else:
        p = nu.qp(P, c, A, l, u, lower, upper)
    s = nu.solve(p, tol=1e-10)
    x, y, tol = s.x, s.y, 1e-8
    # feasible
    assert (l - tol <= A @ x).all() and (A @ x <= u + tol).all()
    assert (lower - tol <= x).all() and (x <= upper + tol).all()
    # stationary, with multipliers of the right sign where their bound holds
    gradient = P @ x + c - A.T @ y
    assert (np.abs(gradient[(lower + tol < x) & (x < upper - tol)]) < 1e-7).all()
    assert (gradient[x > upper - tol] < 1e-7).all() and (gradient[x < lower + tol] > -1e-7).all()
    assert (np.abs(y[(l + tol < A @ x) & (A @ x < u - tol)]) < 1e-7).all()
    assert (y[2:4] > -1e-9).all()
    assert s.objective == pytest.approx(x @ P @ x / 2 + c @ x)


def test_qp_without_an_optimum():
    for p in [
        nu.qp([[1.0]], [0], A=[[1], [1]], l=[1, -np.inf], u=[np.inf, 0]),
        nu.qp([[0.0]], [1], upper=0),
    ]:
        with pytest.raises(sl.SolverError, match="qp of .* was not solved: infeasible") as caught:
            nu.solve(p)
        assert isinstance(caught.value.report, nu.QpSolution)


# functions


def kojima_shindo(z, F2=10, F3=(9, 9)):
    a, b, c, d = z
    return [
        3 * a**2 + 2 * a * b + 2 * b**2 + c + 3 * d - 6,
        2 * a**2 + a + b**2 + F2 * c + 2 * d - 2,
        3 * a**2 + a * b + 2 * b**2 + 2 * c + F3[0] * d - F3[1],
        a**2 + 3 * b**2 + 2 * c + 3 * d - 3,
    ]


def josephy(z):
    return kojima_shindo(z, 3, (3, 1))


def kojima_shindo_jacobian(z):
    a, b, c, d = z
    return [
        [6 * a + 2 * b, 2 * a + 4 * b, 1, 3],
        [4 * a + 1, 2 * b, 10, 2],
        [6 * a + b, a + 4 * b, 2, 9],
        [2 * a, 6 * b, 2, 3],
    ]


def josephy_jacobian(z):
    jacobian = kojima_shindo_jacobian(z)
    jacobian[1][2] = jacobian[2][3] = 3
    return jacobian


DEGENERATE = [np.sqrt(6) / 2, 0, 0, 0.5]
NCP = {
    "kojima_shindo": (kojima_shindo, kojima_shindo_jacobian, [[1, 0, 3, 0], DEGENERATE]),
    "josephy": (josephy, josephy_jacobian, [DEGENERATE]),
}


@pytest.mark.parametrize("name", NCP)
def test_residual_of_functions(name):
    function, jacobian, solutions = NCP[name]
    p = nu.ncp(function, jacobian, n=4)
    assert (p.kind, p.size) == ("ncp", 4) and (p.q == 0).all()
    for z in solutions:
        assert nu.residual(p, z) < 1e-14
    z = np.array([0.3, 0.1, 2.0, 0.7])
    assert nu.residual(p, z) == pytest.approx(np.linalg.norm(np.minimum(z, function(z))), rel=1e-14)


@pytest.mark.parametrize("name", NCP)
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_ncp(name, start):
    function, jacobian, solutions = NCP[name]
    s = nu.solve(nu.ncp(function, jacobian, n=4), tol=1e-10, z0=np.full(4, start))
    assert s.residual <= 1e-10
    assert min(np.linalg.norm(s.z - z) for z in solutions) < 1e-4  # one is degenerate


@pytest.mark.parametrize("name", NCP)
def test_ncp_without_jacobian(name):
    function, _, solutions = NCP[name]
    s = nu.solve(nu.ncp(function, n=4), tol=1e-10, z0=np.ones(4))
    assert min(np.linalg.norm(s.z - z) for z in solutions) < 1e-4


@pytest.mark.parametrize("name", NCP)
def test_differences(name):
    function, jacobian, _ = NCP[name]
    _, differences = maps_of(function, None, 4)
    for z in [np.zeros(4), np.array([0.3, -7.0, 200.0, 1e-9])]:
        exact = np.array(jacobian(z))
        np.testing.assert_allclose(differences(z), exact, atol=1e-8 * np.abs(exact).max())


TRIDIAGONAL = 2 * np.eye(10) + np.eye(10, k=1) + np.eye(10, k=-1)


def test_mcp():
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    p = nu.mcp(lambda z: M @ z + q, lambda z: M, equalities=1, n=2)
    np.testing.assert_allclose(nu.solve(p, tol=1e-10).z, [4 / 3, 7 / 3], atol=1e-8)

    q10 = -(np.arange(10) + 5.0)
    p = nu.mcp(lambda z: TRIDIAGONAL @ z + q10, lambda z: TRIDIAGONAL, equalities=7, n=10)
    linear = nu.solve(nu.mlcp(TRIDIAGONAL, q10, 7), tol=1e-12)
    np.testing.assert_allclose(nu.solve(p, tol=1e-10).z, linear.z, atol=1e-8)

    relay = nu.mcp(lambda z: TRIDIAGONAL @ z + q10, lower=-np.ones(10), upper=1)
    np.testing.assert_allclose(nu.solve(relay, tol=1e-10).z, nu.solve(nu.relay(TRIDIAGONAL, q10)).z, atol=1e-8)


def test_vi():
    i = np.arange(10)
    cases = [
        (nu.vi(lambda x: x, lower=np.zeros(10)), np.zeros(10)),
        (nu.vi(lambda x: x - i + 4, lower=1, n=10), np.maximum(1, i - 4)),
        (nu.vi(lambda x: x - 4, lambda x: 1.0, lower=0, n=1), [4]),
        (nu.vi(lambda x: x**3 - 8, sets=[("interval", 0, [1, 9])]), [1, 2]),
    ]
    for p, expected in cases:
        np.testing.assert_allclose(nu.solve(p, tol=1e-10).z, expected, atol=1e-8)


def test_vi_on_cones():
    # friction as a variational inequality: F(r) = u + μ ‖u_T‖ e_N
    mu, q = 0.5, np.array([-1, 0.6, 0.8])

    def F(r):
        u = r + q
        return u + [mu * np.hypot(u[1], u[2]), 0, 0]

    p = nu.vi(F, sets=[("second-order", 3, mu)])
    np.testing.assert_allclose(nu.solve(p).z, [1, -0.3, -0.4], atol=1e-6)


def test_vi_has_the_solutions_of_its_friction():
    mu, q = 0.5, np.array([-1, 0.6, 0.8])
    p = nu.vi(lambda r: r + q + [mu * np.hypot(*(r + q)[1:]), 0, 0], sets=[("second-order", 3, mu)])
    assert nu.residual(p, [1, -0.3, -0.4]) < 1e-15


def zhuravlev_ivanov(x, h=1e-3, theta=1.0, gamma=1.0, g=9.81, kappa=0.7):
    """One implicit step of a bouncing ball, after the change of variable."""
    x1, x2 = x

    def F(z):
        l0, l1 = 2 * z[0] - 1, 2 * z[2] - 1
        r1 = g * l0 / (1 - kappa * l0 * l1)
        r0 = -kappa * l0 * l1 * (x2 + gamma * h * r1)
        return [x1 + h * (x2 + theta * h * r1) + h * r0 + z[1], 1 - z[0], x2 + h * r1 + z[3], 1 - z[2]]

    def jacobian(z):
        l0, l1 = 2 * z[0] - 1, 2 * z[2] - 1
        D = 1 - kappa * l0 * l1
        # derivatives by z0 and z2; those of l0 and l1 are 2
        r1, dr1 = g * l0 / D, 2 * g * np.array([1 / D**2, kappa * l0**2 / D**2])
        dr0 = -2 * kappa * np.array([l1, l0]) * (x2 + gamma * h * r1) - kappa * l0 * l1 * gamma * h * dr1
        J = np.zeros((4, 4))
        J[0, [0, 2]] = h * h * theta * dr1 + h * dr0
        J[2, [0, 2]] = h * dr1
        J[0, 1] = J[2, 3] = 1
        J[1, 0] = J[3, 2] = -1
        return J

    return F, jacobian


def test_zhuravlev_ivanov_jacobian():
    F, jacobian = zhuravlev_ivanov((0.3, -2.0), h=0.1)
    _, differences = maps_of(F, None, 4)
    for z in [np.zeros(4), np.ones(4), np.array([0.2, 3.0, 0.9, 0.1])]:
        np.testing.assert_allclose(differences(z), jacobian(z), atol=1e-7)


def test_zhuravlev_ivanov():
    # up, through the corner where the velocity changes sign, down, through the impact at 0.97 s,
    # and to rest at 1.08 s; the figures are from a run with another program
    x, z = np.array([1.0, 10.0]), np.zeros(4)
    for step in range(1300):
        F, jacobian = zhuravlev_ivanov(x)
        s = nu.solve(nu.ncp(F, jacobian, n=4), z0=z)
        z = s.z
        if step == 0:
            np.testing.assert_allclose(z, 0, atol=1e-8)
        x = np.array([s.w[0] - z[1], s.w[2] - z[3]])
        expected = {250: (1.44274894, 1.7923), 750: (0.483721, -2.56791176), 1000: (-0.03014479, 0.31161176)}
        if step in expected:
            np.testing.assert_allclose(x, expected[step], atol=1e-5)
    np.testing.assert_allclose(x, 0, atol=1e-5)


def test_implicit_twisting():
    # an affine variational inequality over a parallelogram, the image T [−1, 1]² of a box:
    # z = T s turns it into −Tᵀ (M T s + q) ∈ N_[−1, 1](s); M has rank 1
    G, beta, h = 10.0, 0.1, 1e-2
    M = G * np.array([[h * h / 2, beta * h * h / 2], [h, beta * h]])
    T = np.array([[1.0, 0.0], [h / 2, 1.0]])
    x = np.array([30.0, -20.0])
    for _ in range(5200):
        q = np.array([x[0] + h * x[1], x[1]])
        s = nu.solve(nu.relay(T.T @ M @ T, T.T @ q), tol=1e-12)
        x = M @ T @ s.z + q
    assert np.abs(x).max() < 1e-12  # reached after 5141 steps, and kept


def test_avi_is_a_projection():
    triangle = {"A": [[-1, 0], [0, -1], [1, 1]], "b": [0, 0, 1]}
    s = nu.solve(nu.avi(np.eye(2), [-2, -1], **triangle))
    assert s.x == pytest.approx([1, 0]) and len(s.y) == 3
    assert s.y == pytest.approx([0, 0, 1], abs=1e-9) or min(s.y) >= -1e-9
    s = nu.solve(nu.avi(np.eye(3), [-1, -2, -3], E=[[1, 1, 1]], f=[0]))
    assert s.x == pytest.approx([-1, 0, 1])
    with pytest.raises(sl.InputError, match="`A` and `b` belong together"):
        nu.avi(np.eye(2), [0, 0], A=[[1, 1]])


def test_vi_over_a_polyhedron():
    def F(z):
        return z**3 - np.array([8.0, 1.0])

    s = nu.solve(nu.vi(F, polyhedron=([[1, 1]], [2])))
    assert s.x.sum() == pytest.approx(2)
    assert F(s.x)[0] == pytest.approx(F(s.x)[1])
    linear = nu.solve(nu.vi(lambda z: z - [2, 1], polyhedron=([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])))
    assert linear.x == pytest.approx([1, 0], abs=1e-8)
    with pytest.raises(sl.InputError, match="exclude each other"):
        nu.vi(F, lower=0.0, polyhedron=([[1, 1]], [2]))


def test_reason_and_history():
    s = nu.solve(nu.friction3d(np.eye(3), [-1, 2, 0], 0.5))
    assert (s.status, s.reason) == ("solved", "solved")
    assert len(s.history) <= 128 and s.history[-1] <= 1e-8
    unbounded = nu.solve(nu.qp(np.zeros((1, 1)), [-1.0], lower=0.0), check=False)
    assert (unbounded.status, unbounded.reason) == ("infeasible", "unbounded")
    p = nu.friction2d(np.eye(2), [-1.0, 0.2], 0.5)
    assert nu.class_figure(p, [1.0, -0.2]) <= nu.residual(p, [1.0, -0.2]) + 1e-16


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_ends_a_solve():
    import signal
    import threading
    import time

    n = 24  # the modes of so many unknowns take minutes
    p = nu.lcp(-np.ones((n, n)) - np.eye(n), -np.ones(n))
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        nu.solve(p, "enumeration", max_iter=10**9)
    assert time.monotonic() - start < 20


def test_exceptions_come_through():
    class Odd(Exception):
        pass

    def odd(z):
        raise Odd("of the function")

    with pytest.raises(Odd, match="of the function"):
        nu.residual(nu.ncp(odd, n=2), [1, 1])
    with pytest.raises(KeyboardInterrupt):
        nu.residual(nu.ncp(lambda z: (_ for _ in ()).throw(KeyboardInterrupt), n=2), [1, 1])
    # the problem is none the worse for it
    fine = [False]
    p = nu.ncp(lambda z: z if fine[0] else odd(z), n=2)
    with pytest.raises(Odd):
        nu.residual(p, [0, 0])
    fine[0] = True
    assert nu.residual(p, [0, 0]) == 0


def test_exceptions_come_through_solve():
    def odd(z):
        raise LookupError("of the function")

    with pytest.raises(LookupError, match="of the function"):
        nu.solve(nu.ncp(odd, n=2))
    with pytest.raises(LookupError, match="of the function"):
        nu.solve(nu.ncp(lambda z: z - 1, odd, n=2))


STORED = {
    "lcp": lambda: nu.lcp(MASS, [1, -2, 3]),
    "mlcp": lambda: nu.mlcp(MASS, [1, -2, 3], 1),
    "relay": lambda: nu.relay(MASS, [1, -2, 3]),
    "fc2d": lambda: nu.friction2d(np.eye(4), [-1, 2, 3, 4], [0.1, 0.2]),
    "fc3d": lambda: nu.friction3d(np.eye(6), np.arange(6), [0.1, 0.2]),
    "rfc3d": lambda: nu.rolling(np.eye(5), np.arange(5), 0.1, 0.2),
    "rfc2d": lambda: nu.rolling(np.eye(3), np.arange(3), 0.1, 0.2),
    "gfc2d": lambda: nu.global_friction2d(MASS, H[:, :2], F, B[:2], 0.4),
    "gfc3d": lambda: nu.global_friction3d(MASS, H, F, B, 0.4),
    "grfc3d": lambda: nu.global_rolling3d(np.eye(5), np.eye(5), np.ones(5), np.zeros(5), 0.5, 0.1),
    "soclcp": lambda: nu.second_order(np.eye(5), np.arange(5), [3, 2], 0.5),
}


@pytest.mark.parametrize("kind", STORED)
def test_write(kind, tmp_path):
    p = STORED[kind]()
    assert p.kind == kind
    files = [tmp_path / "x.dat"]
    if kind in ("fc2d", "fc3d", "gfc2d", "gfc3d", "grfc3d"):
        files.append(tmp_path / "x.hdf5")
    for file in files:
        p.write(file)
        again = nu.read(file, kind=kind.replace("rfc2d", "rfc3d"))
        assert (again.kind, again.size, again.contacts) == (kind, p.size, p.contacts)
        for name in ("q", "mu", "mu_r", "lower", "upper", *(("f", "b") if kind.startswith("g") else ())):
            np.testing.assert_array_equal(getattr(again, name), getattr(p, name), err_msg=name)
        z = np.linspace(0.5, 1.5, p.size)
        assert nu.residual(again, z) == pytest.approx(nu.residual(p, z), rel=1e-14)


def test_write_what_has_no_name_in_files(tmp_path):
    file = tmp_path / "x.dat"
    nu.problem(np.eye(5), np.arange(5), [("free", 2), ("coulomb3", 0.5)]).write(file)
    again = nu.read(file, kind="gmp")
    assert again.contacts == 1 and again.mu == [0.5]
    p = nu.qp(np.eye(2), [0, 0], [[1, 1]], 2)
    p.write(file)
    np.testing.assert_allclose(nu.solve(nu.read(file, kind="mlcp")).z, nu.solve(p).z)
    with pytest.raises(sl.InputError, match="ends in .dat, .hdf5 or .h5"):
        nu.lcp(MASS, F).write(tmp_path / "x.txt")
    with pytest.raises(sl.InputError, match="kind `lcp` cannot be stored in HDF5"):
        nu.lcp(MASS, F).write(tmp_path / "x.h5")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        nu.lcp(MASS, F).write(tmp_path / "nowhere" / "x.dat")


def ball(n=1):
    return np.eye(3 * n), np.ones(3 * n)


@pytest.mark.parametrize(
    ("attempt", "exception", "message"),
    [
        (lambda: nu.friction3d(np.eye(3), [1, 2], 0.3), sl.InputError, "`q` has length 2, which is not a multiple of 3"),
        (lambda: nu.friction3d(np.eye(4), [1, 2, 3], 0.3), sl.InputError, "`q` has length 3, but the problem has 4"),
        (lambda: nu.friction3d(np.ones((3, 4)), [1, 2, 3], 0.3), sl.InputError, "`W` is 3 × 4, expected 3 × 3"),
        (lambda: nu.friction3d(*ball(), -0.3), sl.InputError, r"`mu` = -0.3, expected .* not negative"),
        (lambda: nu.friction3d(*ball(), np.nan), sl.InputError, "`mu` = NaN"),
        (lambda: nu.friction3d(*ball(), [1, 2]), sl.InputError, "`mu` has length 2, but the problem has 1 contacts"),
        (lambda: nu.friction3d(*ball(), "x"), TypeError, "`mu` must be a number"),
        (lambda: nu.friction3d(np.diag([1, np.nan, 1]), [1, 1, 1], 1), sl.InputError, r"`W` holds NaN at \[1\]\[1\]"),
        (lambda: nu.friction3d(np.eye(3), [1, np.inf, 1], 1), sl.InputError, r"`q` holds inf at \[1\]"),
        (lambda: nu.friction2d(np.eye(3), [1, 1, 1], 1), sl.InputError, "not a multiple of 2"),
        (lambda: nu.rolling(np.eye(15), np.ones(15), 1, 1), sl.InputError, "5 contacts in the plane or 3 in space: give `dim`"),
        (lambda: nu.rolling(np.eye(4), np.ones(4), 1, 1), sl.InputError, "`q` has length 4, which is not a multiple of 3 .* or 5"),
        (lambda: nu.rolling(np.eye(6), np.ones(6), [1] * 3, 1), sl.InputError, "`q` has length 6 and `mu` 3, expected three"),
        (lambda: nu.rolling(np.eye(6), np.ones(6), [1] * 2, [1]), sl.InputError, "`mu_r` has length 1, but"),
        (lambda: nu.rolling(np.eye(5), np.ones(5), 1, -1), sl.InputError, "`mu_r` = -1"),
        (lambda: nu.rolling(np.eye(5), np.ones(5), 1, 1, dim=4), sl.InputError, "`dim` = 4, expected 2 or 3"),
        (lambda: nu.global_friction3d(np.eye(2), np.eye(3), [1, 2], B, 1), sl.InputError, "`H` is 3 × 3, expected 2 × 3"),
        (lambda: nu.global_friction3d(np.eye(2), H, F, B, 1), sl.InputError, "`M` is 2 × 2, expected 3 × 3"),
        (lambda: nu.global_friction3d(np.ones((3, 3)), H, F, B, 1), sl.InputError, "the mass `M` is singular"),
        (lambda: nu.global_friction3d(MASS, H, F, B[:2], 1), sl.InputError, "`b` has length 2, but `H` has 3 columns"),
        (lambda: nu.global_friction3d(MASS, H[:, :2], F, B[:2], 1), sl.InputError, "`b` has length 2, which is not a multiple"),
        (lambda: nu.global_friction3d(MASS, H, [1, 2, np.nan], B, 1), sl.InputError, r"`f` holds NaN at \[2\]"),
        (lambda: nu.global_friction3d(MASS, H, F, [1, 2, np.nan], 1), sl.InputError, r"`b` holds NaN at \[2\]"),
        (lambda: nu.second_order(np.eye(5), np.ones(5), [3, 3]), sl.InputError, "`blocks` has length 6, but"),
        (lambda: nu.second_order(np.eye(5), np.ones(5), [3, 2], [1]), sl.InputError, "`mu` has length 1"),
        (lambda: nu.lcp(np.eye(2), [1, 2]).mass(), AttributeError, "the lcp has no `mass`"),
        (lambda: nu.lcp(np.eye(2), [1, 2]).f, AttributeError, "the lcp has no `f`"),
        (lambda: nu.physical(nu.lcp(np.eye(2), [1, 2]), [0, 0]), sl.InputError, "the lcp has no contacts"),
        (lambda: nu.physical(nu.friction3d(*ball(), 1), [0, 0]), sl.InputError, "`z` has length 2"),
        (lambda: nu.all_solutions(nu.friction3d(*ball(), 1)), sl.InputError, "enumeration does not solve .* Coulomb3"),
        (lambda: nu.solve(nu.friction3d(*ball(), 1), "lemke"), sl.InputError, "lemke does not solve .* Coulomb3"),
        # blocks
        (lambda: nu.problem(*ball(), [("free", 2)]), sl.InputError, "`blocks` has length 2, but the problem has 3"),
        (lambda: nu.problem(*ball(), [("coulom3", 1)]), sl.InputError, "block 0: there is no set `coulom3`; did you mean `coulomb3`"),
        (lambda: nu.problem(*ball(), ["free", ("interval", 1)]), sl.InputError, r'block 1: expected \("interval", lower, upper, n=None\)'),
        (lambda: nu.problem(*ball(), ["free", 3]), TypeError, "block 1 must be a tuple"),
        (lambda: nu.problem(*ball(), "free"), TypeError, "the blocks must be a list"),
        (lambda: nu.problem(*ball(), [("free", 1.5)]), TypeError, r"block 0 \(free\): `n` must be a whole number"),
        (lambda: nu.problem(*ball(), [("interval", [1, 2], [1, 2, 3])]), sl.InputError, r"block 0 \(interval\): `lower` has length 2 and"),
        (lambda: nu.problem(*ball(), [("interval", 1, -1, 3)]), sl.InputError, "unknown 0: the bounds .* are not an interval"),
        (lambda: nu.problem(*ball(), [("graph", [1, 2])]), sl.InputError, "`points` has one axis"),
        (lambda: nu.problem(*ball(), [("graph", [(0, 0), (1, 1)])]), sl.InputError, "block 0: point 1 of the graph is"),
        (lambda: nu.problem(*ball(), [("graph", [(0, 0)])]), sl.InputError, "block 0: a graph needs at least two"),
        (lambda: nu.problem(*ball(), [("coulomb3", -1)]), sl.InputError, r"block 0 \(Coulomb3\): `mu` = -1"),
        # quadratic programs
        (lambda: nu.qp([[1, 2], [2, 1]], [0, 0]), sl.InputError, "`P` is not positive semidefinite .* not convex"),
        (lambda: nu.qp([[1, 2], [0, 1]], [0, 0]), sl.InputError, r"`P` is not symmetric: P\[0, 1\] = 2"),
        (lambda: nu.qp(np.eye(2), [0, 0, 0]), sl.InputError, "`P` is 2 × 2, expected 3 × 3"),
        (lambda: nu.qp(np.eye(2), [0, np.nan]), sl.InputError, r"`c` holds NaN at \[1\]"),
        (lambda: nu.qp(np.eye(2), [0, 0], l=1), sl.InputError, "there is no `A`"),
        (lambda: nu.qp(np.eye(2), [0, 0], [[1, 1]]), sl.InputError, "`A` is given without `l` and `u`"),
        (lambda: nu.qp(np.eye(2), [0, 0], [[1]], 0), sl.InputError, "`A` is 1 × 1, expected 1 × 2"),
        (lambda: nu.qp(np.eye(2), [0, 0], [[1, 1]], [0, 0]), sl.InputError, "`l` has length 2, but `A` has 1 rows"),
        (lambda: nu.qp(np.eye(2), [0, 0], [[1, 1]], 2, 1), sl.InputError, "row 0 of `A`: the bounds"),
        (lambda: nu.qp(np.eye(2), [0, 0], lower=1, upper=0), sl.InputError, "unknown 0: the bounds"),
        # functions
        (lambda: nu.ncp(lambda z: z), sl.InputError, "`n`, the number of unknowns, is needed"),
        (lambda: nu.ncp(3, n=2), TypeError, "`F` must be a function of z, not int"),
        (lambda: nu.ncp(lambda z: z, 3, n=2), TypeError, "`jac` must be a function of z, not int"),
        (lambda: nu.residual(nu.ncp(lambda z: z[:1], n=2), [0, 0]), sl.InputError, r"`F` returned an array of shape \(1,\), expected \(2,\)"),
        (lambda: nu.residual(nu.ncp(lambda z: None, n=2), [0, 0]), sl.InputError, "`F` returned None"),
        (lambda: nu.ncp(lambda z: z, n=2).matrix(), sl.InputError, "the ncp is given by a function"),
        (lambda: nu.mcp(lambda z: z, n=2), sl.InputError, "the bounds are missing"),
        (lambda: nu.mcp(lambda z: z, equalities=3, n=2), sl.InputError, "`equalities` = 3, but the problem has 2"),
        (lambda: nu.mcp(lambda z: z, equalities=1, lower=0, n=2), sl.InputError, "exclude each other"),
        (lambda: nu.mcp(lambda z: z, lower=[0, 0], upper=[1]), sl.InputError, "`upper` has length 1, but the problem has 2"),
        (lambda: nu.vi(lambda z: z, lower=0), sl.InputError, "`n`, the number of unknowns, is needed"),
        (lambda: nu.vi(lambda z: z, lower=0, sets=["free"]), sl.InputError, "exclude each other"),
        (lambda: nu.vi(lambda z: z, sets=["free"], n=2), sl.InputError, "`n` = 2, but the sets have 1 unknowns"),
        (lambda: nu.vi(lambda z: z, lower=2, upper=1, n=1), sl.InputError, "not an interval"),
        # files
        (lambda: nu.ncp(lambda z: z, n=2).write("x.hdf5"), sl.InputError, "the ncp is given by a function, which no file"),
    ],
)
def test_wrong_input(attempt, exception, message):
    with pytest.raises(exception, match=message):
        attempt()
