"""Python functions and compiled functions as operators: what they get, and what they may give."""

import ctypes
import shutil
import subprocess
import threading

import numpy as np
import pytest

import saltus as sl

VAN_DER_POL = """
#include <stdint.h>

int rhs(double t, const double *x, int64_t x_len, const double *second, int64_t second_len,
        const double *z, int64_t z_len, double *out, int64_t out_len)
{
    if (x_len != 2 || second_len != 0 || z_len != 0 || out_len != 2) return 1;
    out[0] = x[1];
    out[1] = (1 - x[0]*x[0])*x[1] - x[0];
    return 0;
}

int jacobian(double t, const double *x, int64_t x_len, const double *second, int64_t second_len,
             const double *z, int64_t z_len, double *out, int64_t out_len)
{
    if (out_len != 4) return 1;
    out[0] = 0;                   out[1] = 1;
    out[2] = -2*x[0]*x[1] - 1;    out[3] = 1 - x[0]*x[0];
    return 0;
}

int late(double t, const double *x, int64_t x_len, const double *second, int64_t second_len,
         const double *z, int64_t z_len, double *out, int64_t out_len)
{
    out[0] = out[1] = 0;
    return t > 0.5 ? 7 : 0;
}
"""


def van_der_pol(t, x):
    return [x[1], (1 - x[0] ** 2) * x[1] - x[0]]


def simulation(f, x0=(2.0, 0.0), df_dx=None, **more):
    model = sl.Model()
    model.add(sl.FirstOrder(x0, f, df_dx, **more), name="p")
    return sl.TimeStepping(model, h=1e-2, integrator=sl.EulerMoreau(theta=0.5))


def end(f, **more):
    return simulation(f, **more).run(2.0)["p"].x[-1]


EXPECTED = end("[x[1], (1 - x[0]^2)*x[1] - x[0]]")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "vdp.c").write_text(VAN_DER_POL)
    path = folder / "libvdp.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", path, folder / "vdp.c"], check=True)
    return path


class TestArguments:
    @pytest.mark.parametrize(
        "f",
        [
            van_der_pol,
            lambda x: van_der_pol(0.0, x),
            lambda x, t: van_der_pol(t, x),
            lambda time, state: van_der_pol(time, state),
            lambda state: van_der_pol(0.0, state),
            lambda t, x, extra=3: van_der_pol(t, x),
            lambda *args: van_der_pol(*args),
            lambda t=0, x=None: van_der_pol(t, x),
            lambda t, x: np.array(van_der_pol(t, x)),
            lambda t, x: tuple(van_der_pol(t, x)),
            lambda t, x: np.array(van_der_pol(t, x) + [0.0, 0.0])[:2],
            lambda t, x: np.array([van_der_pol(t, x)[::-1]])[0, ::-1],
        ],
    )
    def test_forms(self, f):
        np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)

    def test_objects(self):
        class Oscillator:
            def f(self, t, x):
                return van_der_pol(t, x)

            __call__ = f

        for f in (Oscillator(), Oscillator().f):
            np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)

    def test_out(self):
        def returns(t, x, out=None):
            out[:] = van_der_pol(t, x)
            return out

        def fills(x, *, out):
            out[0], out[1] = van_der_pol(0.0, x)

        def jacobian(t, x, out):
            out[0] = [0, 1]
            out[1] = [-2 * x[0] * x[1] - 1, 1 - x[0] ** 2]

        for f, df_dx in ((returns, None), (fills, None), (fills, jacobian)):
            np.testing.assert_allclose(end(f, df_dx=df_dx), EXPECTED, rtol=1e-7)

    @pytest.mark.parametrize(
        ("f", "message"),
        [
            (lambda t, x, y: x, r"system `p`: `f` must be a function of \(t, x\) or \(x\), or of "
             r"some of these by name, but <lambda> takes \(t, x, y\)"),
            (lambda: [0, 0], r"but <lambda> takes \(\)"),
        ],
    )  # fmt: skip
    def test_wrong_number(self, f, message):
        with pytest.raises(TypeError, match=message):
            simulation(f)

    def test_mechanics(self):
        model = sl.Model()
        message = r"`F_ext` must be a function of \(t\), but <lambda> takes \(t, q\)"
        with pytest.raises(TypeError, match=message):
            model.add(sl.Lagrangian([0], [0], [[1]], F_ext=lambda t, q: q))
        # under a name of its own it would get the time
        message = r"`F_ext` must be a function of \(t\), but <lambda> takes \(q\)"
        with pytest.raises(TypeError, match=message):
            model.add(sl.LagrangianLinear([1.0], [0.0], [[1.0]], F_ext=lambda q: -4 * q))


class TestArraysOfFunctions:
    def test_what_is_kept_stays(self):
        kept = []

        def f(t, x):
            kept.append(x)
            return van_der_pol(t, x)

        sim = simulation(f, df_dx=lambda x: np.zeros((2, 2)))
        sim.step()
        first = [x.copy() for x in kept]
        sim.run(0.5)
        for x, before in zip(kept, first):
            np.testing.assert_array_equal(x, before)
        assert len({id(x) for x in kept}) == len(kept)

    def test_a_view_is_kept_too(self):
        kept = []

        def f(t, x):
            kept.append(x[:1])
            return van_der_pol(t, x)

        simulation(f).run(0.1)
        assert kept[0][0] == 2.0 and kept[-1][0] != 2.0

    def test_changing_them_changes_nothing(self):
        def f(t, x):
            value = van_der_pol(t, x)
            x[:] = 1e9
            return value

        np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)

    def test_returning_them(self):
        x = simulation(lambda t, x: x).run(1.0)["p"].x
        assert x[-1, 0] == pytest.approx(2 * np.e, rel=1e-4)

    def test_one_array_for_all_calls(self):
        out = np.zeros(2)

        def f(t, x):
            out[:] = van_der_pol(t, x)
            return out

        np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)

    def test_threads_do_not_meet(self):
        # one model, so that the simulations share its functions and their arrays
        model = sl.Model()
        model.add(sl.FirstOrder([2, 0], van_der_pol), name="p")
        results = {}

        def work(k):
            sim = sl.TimeStepping(model, h=1e-2, integrator=sl.EulerMoreau(theta=0.5))
            sim.set_state("p", x=[2.0, k])
            results[k] = sim.run(2.0)["p"].x

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for k in range(3):
            sim = simulation(van_der_pol)
            sim.set_state("p", x=[2.0, k])
            np.testing.assert_array_equal(sim.run(2.0)["p"].x, results[k])


class TestFailures:
    @pytest.mark.parametrize(
        ("f", "message"),
        [
            (lambda t, x: [1.0, 2.0, 3.0],
             "`f of p` at t = 0: ValueError: returned an array of shape (3,), expected (2,)"),
            (lambda t, x: [[1.0, 2.0]],
             "`f of p` at t = 0: ValueError: returned an array of shape (1, 2), expected (2,)"),
            (lambda t, x: None,
             "`f of p` at t = 0: TypeError: returned None, expected an array of shape (2,)"),
            (lambda t, x: [np.nan, 0.0],
             "`f of p` at t = 0: returned a value that is not finite: [NaN, 0.0]"),
            (lambda t, x: x[2],
             "`f of p` at t = 0: IndexError: index 2 is out of bounds for axis 0 with size 2"),
        ],
    )  # fmt: skip
    def test_named(self, f, message):
        with pytest.raises(sl.OperatorError) as caught:
            simulation(f)
        assert str(caught.value) == message

    def test_relations_are_named(self):
        model = sl.Model()
        body = model.add(sl.LagrangianLinear([1], [0], [[1]]), name="body")
        relation = sl.LagrangianRelation(lambda q: q, H=lambda q: q[3])
        model.connect(relation, sl.NewtonImpact(0), body, name="floor")
        with pytest.raises(sl.OperatorError, match=r"^`H of floor` at t = 0: IndexError: "):
            sl.TimeStepping(model, h=0.1)

    def test_the_mass_is_looked_at_once(self):
        def M(q):
            raise RuntimeError("no mass")

        with pytest.raises(sl.OperatorError, match="^`M of body` at t = 0: .*no mass") as caught:
            sl.Model().add(sl.Lagrangian([1], [0], M), name="body")
        assert isinstance(caught.value.__cause__, RuntimeError)

    def test_the_length_that_cannot_be_found(self):
        model = sl.Model()
        body = model.add(sl.LagrangianLinear([1], [0], [[1]]), name="body")
        with pytest.raises(sl.OperatorError) as caught:
            model.connect(sl.LagrangianRelation(lambda q: q[3]), sl.NewtonImpact(0), body, name="c")
        assert str(caught.value) == (
            "interaction `c`: `h` at t = 0: IndexError: index 3 is out of bounds for axis 0 with "
            "size 1 (its length is found by a call; `size` says it)"
        )
        assert isinstance(caught.value.__cause__, IndexError)

        def fills(q, out):
            out[:] = q

        with pytest.raises(sl.InputError, match="interaction `c`: .*; say it with `size`"):
            model.connect(sl.LagrangianRelation(fills), sl.NewtonImpact(0), body, name="c")
        model.connect(sl.LagrangianRelation(fills, size=1), sl.NewtonImpact(0), body, name="c")

    @pytest.mark.parametrize(
        ("f", "message"),
        [
            ("[x[0], y]", "system `p`: `f`: unknown name `y`"),
            ("[x[0], x[2]]", "system `p`: `f`: unknown name `x[2]`"),
            (["x[0]", "v[1]"], "system `p`: `f`: unknown name `v[1]`"),
            ("[x[0]]", "system `p`: `f` has length 1, expected 2 (the length of `x0`)"),
            ("[[x[0], x[1]]]", "system `p`: `f` is 1 × 2, expected 2 × 1 (the length of `x0`)"),
        ],
    )
    def test_formulas(self, f, message):
        with pytest.raises(sl.ModelError) as caught:
            simulation(f)
        assert str(caught.value).splitlines()[0].startswith(message)

    def test_newton_gives_up(self):
        # the solution runs away before t = 0.02
        sim = simulation("[60*(1 + x[0]^2), 0]", x0=[1.0, 0.0])
        with pytest.raises(sl.SolverError, match="Newton's method stopped after") as caught:
            sim.run(1.0)
        assert caught.value.report.status == "max_iter"
        assert caught.value.report.time == 0.02  # the first step succeeds in parts


class TestCompiled:
    def test_plugin(self, library):
        f = sl.plugin(library, "rhs")
        assert "rhs" in repr(f) and f.address != 0
        np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)
        exact = end(f, df_dx=sl.plugin(str(library), "jacobian"))
        np.testing.assert_allclose(exact, EXPECTED, rtol=1e-10)

    def test_jacobian_is_checked(self, library):
        sim = simulation(sl.plugin(library, "rhs"), df_dx=sl.plugin(library, "jacobian"))
        assert sim.model.check_jacobians()

    def test_failure(self, library):
        sim = simulation(sl.plugin(library, "late"))
        with pytest.raises(sl.OperatorError) as caught:
            sim.run(1.0)
        assert str(caught.value) == (
            "`f of p` at t = 0.51: the compiled function returned 7, 0 means success"
        )
        assert sim.t == pytest.approx(0.5)

    def test_missing(self, library, tmp_path):
        with pytest.raises(sl.MissingFileError, match="there is no file"):
            sl.plugin(tmp_path / "nothing.so", "rhs")
        with pytest.raises(sl.InputError, match="has no function `nothing`"):
            sl.plugin(library, "nothing")
        with pytest.raises(sl.FileError, match="is not a library that can be loaded"):
            sl.plugin(__file__, "rhs")

    def test_address(self):
        double, pointer, size = ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_int64
        pair = (pointer, size)

        @ctypes.CFUNCTYPE(ctypes.c_int, double, *pair, *pair, *pair, *pair)
        def gap(t, q, q_len, v, v_len, z, z_len, out, out_len):
            out[0] = q[0] - t
            return 0 if (q_len, out_len) == (1, 1) else 1

        class Address:
            address = ctypes.cast(gap, ctypes.c_void_p).value
            keep = gap

        model = sl.Model()
        body = model.add(sl.LagrangianLinear([0.05], [0], [[1]], F_ext=[-9.81]), name="body")
        with pytest.raises(sl.InputError, match="say it with `size`"):
            model.connect(sl.LagrangianRelation(Address()), sl.NewtonImpact(0), body, name="c")
        model.connect(sl.LagrangianRelation(Address(), size=1), sl.NewtonImpact(0), body, name="c")
        run = sl.TimeStepping(model, h=1e-3).run(1.0)
        assert run["body"].v[-1, 0] == pytest.approx(1, abs=1e-7)

    def test_numba(self):
        numba = pytest.importorskip("numba")

        @numba.cfunc(sl.CFUNC_SIGNATURE)
        def f(t, first, first_len, second, second_len, z, z_len, out, out_len):
            x = numba.carray(first, first_len)
            out[0] = x[1]
            out[1] = (1 - x[0] ** 2) * x[1] - x[0]
            return 0

        np.testing.assert_allclose(end(f), EXPECTED, rtol=1e-7)
        jitted = numba.njit(lambda t, x: np.array([x[1], (1 - x[0] ** 2) * x[1] - x[0]]))
        np.testing.assert_allclose(end(jitted), EXPECTED, rtol=1e-7)
