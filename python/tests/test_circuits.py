"""Circuits from netlists."""

from pathlib import Path

import numpy as np
import pytest

import saltus as sl

EXAMPLES = Path(__file__).parents[2] / "examples"

RECTIFIER = """\
half-wave rectifier
.param F=1k
V1 in 0 SIN(0 10 {F})
D1 in out DI
C1 out 0 1u ic=0
RLOAD out 0 5k
.model DI D
.tran 2u 5m uic
.meas tran vout avg v(out) from=4m to=5m
.meas tran late avg v(out) from=6m to=7m
.four 1k v(in)
.end
"""

RC = """\
a capacitor that empties
C1 a 0 1u ic=8
R1 a 0 1k
.tran 1u 2m uic
"""


@pytest.fixture
def rectifier():
    return sl.circuits.parse(RECTIFIER)


def test_a_netlist_tells_what_is_in_it(rectifier):
    assert rectifier.title == "half-wave rectifier"
    assert rectifier.nodes == ["0", "in", "out"]
    assert rectifier.components == ["V1", "D1", "C1", "RLOAD"]
    assert {"v(out)", "i(D1)"} <= set(rectifier.signals)
    assert rectifier.warnings == []
    assert "half-wave rectifier" in repr(rectifier)


def test_a_file_is_read_like_its_text(tmp_path):
    path = tmp_path / "rc.cir"
    path.write_text(RC)
    loaded, parsed = sl.circuits.load(path), sl.circuits.parse(RC)
    assert loaded.title == parsed.title
    np.testing.assert_array_equal(loaded.run()["v(a)"], parsed.run()["v(a)"])
    assert sl.circuits.load(str(path)).nodes == parsed.nodes


def test_what_has_no_effect_is_a_warning():
    warnings = sl.circuits.parse(RC + ".ac dec 10 1 1k\n").warnings
    assert len(warnings) == 1 and ":5:" in warnings[0]


@pytest.mark.parametrize("method", ["fixed", "exact", "adaptive"])
def test_a_capacitor_empties_as_it_should(method):
    run = sl.circuits.parse(RC).run(method=method, theta=0.5)
    assert run.t[0] == 0.0 and run.t[-1] == pytest.approx(2e-3)
    np.testing.assert_allclose(run["v(a)"], 8.0 * np.exp(-run.t / 1e-3), atol=1e-5)
    np.testing.assert_allclose(run["i(R1)"], run["v(a)"] / 1e3, atol=1e-15)
    assert run.stats.outcome == "complete"


def test_measures_and_spectra(rectifier):
    run = rectifier.run()
    window = run.t >= 4e-3 - 1e-9
    t, v = run.t[window], run["v(out)"][window]
    mean = np.sum((v[1:] + v[:-1]) / 2 * np.diff(t)) / (t[-1] - t[0])
    assert run.measures["vout"] == pytest.approx(mean, rel=1e-9)
    assert "late" not in run.measures and "no part" in run.failed_measures["late"]
    (spectrum,) = run.spectra
    assert spectrum.signal == "v(in)"
    assert spectrum.harmonics[0].frequency == 1e3
    assert spectrum.harmonics[0].magnitude == pytest.approx(10.0, rel=1e-4)
    assert spectrum.distortion < 1e-4


def test_methods_agree(rectifier):
    fixed = rectifier.run().measures["vout"]
    for method in ("exact", "adaptive"):
        assert rectifier.run(method=method).measures["vout"] == pytest.approx(fixed, rel=1e-3)


def test_the_netlist_may_say_how_it_is_followed():
    text = "switched\nV1 a 0 10\nS1 a b g 0 sw\nR1 b 0 1k\nVG g 0 PULSE(0 1 0.3m 1u 1u 0.4m 1m)\n"
    text += ".model sw SW(vt=0.5)\n.meas tran mean avg v(b) from=0 to=2m\n.tran 10u 2m\n"
    located = sl.circuits.parse(text + ".option saltus method=exact\n").run()
    assert any(event.interaction == "S1" for event in located.events)
    fixed = sl.circuits.parse(text).run()
    assert fixed.measures["mean"] == pytest.approx(located.measures["mean"], rel=0.05)
    with pytest.raises(sl.SaltusError, match="adaptive"):
        sl.circuits.parse(text + ".option saltus method=best\n")


def test_values_are_set_again_and_again(rectifier):
    first = rectifier.run()["v(out)"].min(), rectifier.run().measures["vout"]
    rectifier.set(RLOAD=50e3, F=2e3)
    assert rectifier.run().measures["vout"] > first[1]
    rectifier.set_value("rload", 5e3)
    rectifier.set(F=1e3)
    assert rectifier.run().measures["vout"] == first[1]


def test_components_of_subcircuits_are_set_by_their_path():
    text = "t\n.subckt half a b\nR1 a b 1k\n.ends\nV1 in 0 1\nX1 in m half\nX2 m 0 half\n.tran 1 1\n"
    circuit = sl.circuits.parse(text)
    assert circuit.operating_point()["v(m)"] == pytest.approx(0.5)
    circuit.set_value("X2.R1", 3e3)
    assert circuit.operating_point()["v(m)"] == pytest.approx(0.75)


def test_lines_are_added(rectifier):
    rectifier.set(RLOAD=10e3)
    before = rectifier.run().measures["vout"]
    rectifier.add("R2 out 0 10k", ".meas tran top max v(out)")
    run = rectifier.run()
    assert "R2" in rectifier.components
    assert run.measures["vout"] < before
    assert run.measures["top"] == pytest.approx(10.0, rel=1e-2)
    # nothing changes by lines that cannot be read, and what was set stays set
    with pytest.raises(sl.ModelFileError):
        rectifier.add("R3 out")
    assert rectifier.run().measures == run.measures


def test_only_what_is_asked_for_is_recorded(rectifier):
    run = rectifier.run(until=1e-3, h=1e-5, signals=["v(out)", "v(in,out)"], start=0.5e-3, every=5)
    assert run.t[0] >= 0.5e-3 - 1e-12
    np.testing.assert_allclose(np.diff(run.t), 5e-5)
    assert (run["v(in, out)"] <= 1e-9).all()
    with pytest.raises(sl.SignalError):
        run["i(D1)"]


def test_a_run_is_kept_in_a_file(rectifier, tmp_path):
    run = rectifier.run(until=1e-3)
    run.save(tmp_path / "run.h5")
    kept = sl.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(kept["v(out)"], run["v(out)"])
    np.testing.assert_array_equal(kept["i(D1)"], run["i(D1)"])


def test_an_operating_point():
    circuit = sl.circuits.parse("t\nV1 in 0 10\nR1 in m 1k\nR2 m 0 3k\nC1 m 0 1u\n.tran 1u 1m\n")
    point = circuit.operating_point()
    assert point["v(m)"] == pytest.approx(7.5)
    assert point["V( M )"] == point.voltages["m"]
    assert point["v(in, m)"] == pytest.approx(2.5)
    assert point["v(0)"] == 0.0
    assert point["i(R1)"] == pytest.approx(2.5e-3)
    assert set(point) == {f"v({n})" for n in point.voltages} | {f"i({c})" for c in point.currents}
    with pytest.raises(KeyError):
        point["v(nowhere)"]


def test_a_flip_flop_has_three_operating_points():
    circuit = sl.circuits.load(EXAMPLES / "flip-flop" / "flip-flop.cir")
    points = sorted((point["v(q)"], point["v(qb)"]) for point in circuit.operating_points())
    np.testing.assert_allclose(points, [(0, 5), (2.5, 2.5), (5, 0)], atol=1e-9)
    with pytest.raises(sl.ModelError, match="modes"):
        circuit.operating_points(modes=10)


def test_chuas_circuit_has_three_operating_points():
    circuit = sl.circuits.load(EXAMPLES / "chua" / "chua.cir")
    slope = (4.44e-3 - 0.757e-3) / 9
    outer = (0.757e-3 - slope) / (1 / 1750 - slope)
    points = sorted(point["v(a)"] for point in circuit.operating_points())
    np.testing.assert_allclose(points, [-outer, 0, outer], atol=1e-9)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("t\nR1 a 0 1k5\n", "netlist:2:8", "1k5"),
        ("t\nV1 a 0 1\nD1 a 0 NONE\n", "netlist:3:8", "none"),
        ("t\nR1 a 0 {x}\n", "netlist:2:9", "x"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_place(text, place, words):
    with pytest.raises(sl.ModelFileError) as error:
        circuit = sl.circuits.parse(text)
        circuit.nodes  # noqa: B018
    assert place in str(error.value) and words in str(error.value).lower()


def test_bad_input(rectifier):
    with pytest.raises(TypeError):
        sl.circuits.parse(3)  # type: ignore[arg-type]
    with pytest.raises(sl.MissingFileError):
        sl.circuits.load("there/is/none.cir")
    with pytest.raises(sl.InputError, match="NOPE"):
        rectifier.set(NOPE=1.0)
    with pytest.raises(sl.InputError, match="no single value"):
        rectifier.set(D1=1.0)
    with pytest.raises(sl.InputError, match="finite"):
        rectifier.set(RLOAD=float("nan"))
    with pytest.raises(TypeError):
        rectifier.set(RLOAD="5k")  # type: ignore[arg-type]
    with pytest.raises(sl.InputError, match="adaptive"):
        rectifier.run(method="euler")
    for settings in ({"h": -1.0}, {"until": 0.0}, {"start": 1.0}, {"theta": 3.0}, {"every": 0}):
        with pytest.raises(sl.InputError):
            rectifier.run(**settings)
    with pytest.raises(sl.ModelError, match="nowhere"):
        rectifier.run(signals=["v(nowhere)"])
    with pytest.raises(sl.InputError, match="tran"):
        sl.circuits.parse("t\nV1 a 0 1\nR1 a 0 1\n").run()


def test_a_circuit_that_makes_no_sense_is_told_by_name():
    loop = sl.circuits.parse("t\nV1 a 0 1\nV2 a 0 2\n.tran 1u 1m\n")
    with pytest.raises(sl.ModelError, match="V1"):
        loop.run()
    island = sl.circuits.parse("t\nV1 a 0 1\nR1 b c 1\n.tran 1u 1m\n")
    with pytest.raises(sl.ModelError, match="b"):
        island.run()
