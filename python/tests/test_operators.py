"""Operators: arrays, functions of time, formulas."""

import numpy as np
import pytest
from conftest import point

import saltus as sl


def end(model, until=1.0, h=1e-3):
    run = sl.TimeStepping(model, h=h, integrator=sl.EulerMoreau(theta=0.5)).run(until)
    return run["point"].x[-1, 0]


@pytest.mark.parametrize(
    "b",
    [
        lambda t: [np.cos(t)],
        lambda t: np.array([np.cos(t)]),
        lambda t: np.cos(t),
        lambda t: (float(np.cos(t)),),
        lambda t: np.array([np.cos(t)], dtype=np.float32),
        ["cos(t)"],
        "cos(t)",
    ],
)
def test_forcing(b):
    assert end(point(b=b)[0]) == pytest.approx(np.sin(1), rel=1e-5)


@pytest.mark.parametrize("A", [lambda t: [[-2 * t]], lambda t: -2 * t, [["-2*t"]]])
def test_time_varying_matrix(A):
    assert end(point(1.0, A=A)[0]) == pytest.approx(np.exp(-1), rel=1e-5)


def test_matrix_rows_are_in_order():
    # a rotation that a transposed matrix would turn the other way
    for A in (lambda t: np.array([[0, 1], [-1, 0]]).astype(float), [["0", "1"], ["-1", 0]]):
        model = sl.Model()
        state = model.add(sl.FirstOrderLinear([1, 0], A), name="point")
        sl.TimeStepping(model, h=1e-3, integrator=sl.EulerMoreau(theta=0.5)).run(0.1)
        assert state.x.shape == (2,)
        sim = sl.TimeStepping(model, h=1e-3, integrator=sl.EulerMoreau(theta=0.5))
        sim.run(np.pi / 2)
        np.testing.assert_allclose(state.x, [0, -1], atol=1e-5)


def test_fortran_order_and_views():
    A = np.asfortranarray([[0.0, 1.0], [-1.0, 0.0]])
    wide = np.zeros((4, 4))
    wide[::2, ::2] = A
    runs = []
    for matrix in (A, wide[::2, ::2], A.tolist(), A.astype(int)):
        model = sl.Model()
        model.add(sl.FirstOrderLinear([1, 0], matrix), name="point")
        runs.append(sl.TimeStepping(model, h=0.1).run(1.0)["point"].x)
    for x in runs[1:]:
        np.testing.assert_array_equal(x, runs[0])


def test_external_force_as_function_and_formula():
    results = []
    for force in (lambda t: [np.sin(t), 0.0], ["sin(t)", 0]):
        model = sl.Model()
        body = model.add(sl.LagrangianLinear([0, 0], [0, 0], np.eye(2), F_ext=force))
        sl_sim = sl.TimeStepping(model, h=1e-3)
        sl_sim.run(1.0)
        results.append(body.q)
    np.testing.assert_allclose(results[0], [1 - np.sin(1), 0], atol=1e-6)
    np.testing.assert_allclose(results[1], results[0], atol=1e-14)


def test_constant_formulas_in_arrays():
    body = sl.LagrangianLinear(["1/4"], [0], [["2/5*0.1^2"]], F_ext=["-9.81*0.5"])
    assert body.q0 == [0.25]
    np.testing.assert_allclose(body.M, [[0.004]])
    model = sl.Model()
    assert model.add(body).q == [0.25]


def test_formulas_keep_their_place():
    A = [["-1", "t", 0], [2.5, "exp(0)", "-t"], ["t^2", 0, 1]]
    numbers = lambda t: [[-1, t, 0], [2.5, 1, -t], [t * t, 0, 1]]
    runs = []
    for matrix in (A, numbers):
        model = sl.Model()
        model.add(sl.FirstOrderLinear([1, 2, 3], matrix, b=["t", 1, "2"]), name="point")
        runs.append(sl.TimeStepping(model, h=0.01).run(1.0)["point"].x)
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-13)


def test_sparse_matrix_is_taken():
    sparse = pytest.importorskip("scipy.sparse")
    model = sl.Model()
    model.add(sl.FirstOrderLinear([1, 1], sparse.csr_array(np.diag([-1.0, -2.0]))), name="point")
    assert end(model) == pytest.approx(np.exp(-1), rel=1e-5)


class TestFailures:
    def test_an_exception_is_the_cause(self):
        def b(t):
            if t > 0.5:
                raise ZeroDivisionError("no more")
            return [1.0]

        sim = sl.TimeStepping(point(b=b)[0], h=0.1)
        with pytest.raises(sl.OperatorError, match="ZeroDivisionError: no more") as caught:
            sim.run(1.0)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.__cause__.__traceback__ is not None
        run = caught.value.run
        assert run is sim.last_run and run.t[-1] == pytest.approx(0.5) and not run.complete
        assert run.stats.outcome == "failed" and "no more" in run.stats.message
        assert sim.t == pytest.approx(0.5)  # a failed step changes nothing
        with pytest.raises(sl.OperatorError, match="no more"):
            sim.step()

    def test_the_operator_and_the_time_are_named(self):
        def A(t):
            return {}["missing"]

        with pytest.raises(sl.OperatorError, match=r"`A.*` at t = 0.*KeyError: 'missing'"):
            sl.TimeStepping(point(A=A)[0], h=0.1).run(1.0)

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ([1.0, 2.0], r"shape \(2,\), expected \(1,\)"),
            (np.nan, "not finite"),
            (None, "returned None"),
            ("x", "could not convert"),
        ],
    )
    def test_wrong_values(self, value, message):
        with pytest.raises(sl.OperatorError, match=message):
            sl.TimeStepping(point(b=lambda t: value)[0], h=0.1).run(1.0)

    def test_wrong_shape_of_a_matrix(self):
        with pytest.raises(sl.OperatorError, match=r"shape \(2,\), expected \(1, 1\)"):
            sl.TimeStepping(point(A=lambda t: [1, 2])[0], h=0.1).run(1.0)

    def test_wrong_number_of_arguments(self):
        message = r"system `point`: `b` must be a function of \(t\), but <lambda> takes \(\)"
        with pytest.raises(TypeError, match=message):
            point(b=lambda: [1.0])

    def test_a_function_cannot_look_at_its_own_simulation(self):
        model = sl.Model()
        state = model.add(sl.FirstOrderLinear([1], [[0]], b=lambda t: -state.x))
        sim = sl.TimeStepping(model, h=0.1)
        with pytest.raises(sl.OperatorError, match="between steps only") as caught:
            sim.run(1.0)
        assert isinstance(caught.value.__cause__, sl.BusyError)

    @pytest.mark.parametrize(
        ("formula", "message"),
        [
            ("sin(tt)", "unknown name `tt`"),
            ("1 +", "`b`"),
            ("x[0]", "unknown name"),
            ("sni(t)", "sin"),
            ("0/0", r"`b`\[0\] is NaN"),
        ],
    )
    def test_wrong_formulas(self, formula, message):
        with pytest.raises(sl.ModelError, match=message):
            point(b=[formula])

    def test_a_mass_cannot_depend_on_time(self):
        with pytest.raises(sl.ModelError, match="`M` cannot depend on t"):
            sl.LagrangianLinear([0], [0], [["1 + t"]])


def test_every_way_to_give_the_value_is_the_same():
    kept = []

    def array(t, x):
        return np.array([x[1], -x[0]])

    def numbers(t, x):
        a, b = x.tolist()
        return [b, -a]

    def scalars(t, x):
        return (x[1], -x[0])  # NumPy's floats

    def integers(t, x):
        a, b = x.tolist()
        return [b, 0 if a == 0 else -a]

    def last(t, x, out):
        out[:] = x[1], -x[0]

    def by_name(t, x, *, out):
        out[:] = x[1], -x[0]

    def keeps(t, x, out):
        kept.append((x, out))
        out[:] = x[1], -x[0]

    def keeps_by_name(t, x, *, out):
        kept.append((x, out))
        out[:] = x[1], -x[0]

    def after_a_default(t, x, scale=1.0, out=None):
        out[:] = scale * x[1], -scale * x[0]

    ends = []
    for f in (array, numbers, scalars, integers, last, by_name, keeps, keeps_by_name, after_a_default):
        model = sl.Model("oscillator")
        model.add(sl.FirstOrder(x0=[1.0, 0.0], f=f), name="mass")
        ends.append(sl.TimeStepping(model, h=0.01).run(until=0.5)["mass.x"].tolist())
    assert all(end == ends[0] for end in ends)
    # what a function kept is not filled again
    assert len({id(x) for x, _ in kept}) == len({id(out) for _, out in kept}) == len(kept)


@pytest.mark.parametrize("value", [[1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]], (1.0,), [1.0, "a"]])
def test_lists_of_the_wrong_shape(value):
    model = sl.Model("wrong")
    with pytest.raises((sl.SaltusError, ValueError)):
        model.add(sl.FirstOrder(x0=[1.0, 0.0], f=lambda t, x: value), name="mass")
        sl.TimeStepping(model, h=0.01).run(until=0.1)
