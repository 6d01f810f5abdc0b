"""Runs: arrays, files, tables, pictures."""

import sys

import numpy as np
import pytest

import saltus as sl


@pytest.fixture
def run(ball):
    return ball.sim.run(1.0)


def test_ways_to_a_signal(run):
    q = run["ball"].q
    assert q.dtype == np.float64 and q.flags.writeable
    np.testing.assert_array_equal(run["ball.q"], q)
    np.testing.assert_array_equal(run["ball.q[0]"], q[:, 0])
    assert run["ball.q[0]"].shape == (201,)
    q[:] = 0  # a copy
    assert run["ball"].q[0, 0] == 1.0
    assert list(run) == run.keys() == ["ball", "floor"]
    assert "ball" in run and "ball.q" in run and "ball.q[2]" in run and "ball.q[3]" not in run
    assert run.signals == ["ball.q", "ball.v", "floor.y", "floor.u", "floor.lam"]
    assert len(run) == 201


def test_rows_of_statistics(run):
    assert run.iterations.dtype == np.int64 and len(run.iterations) == len(run.residual) == len(run)
    assert run.iterations.sum() == run.stats.iterations and run.iterations[0] == 0
    assert run.residual.max() == run.stats.worst_residual


def test_stats_are_attributes_and_keys(run):
    stats = run.stats
    assert dict(stats)["steps"] == stats["steps"] == stats.steps == 200
    assert set(stats) >= {"steps", "iterations", "worst_residual", "seconds", "failures", "outcome"}
    assert stats.outcome == "complete" and run.complete and stats.message is None
    with pytest.raises(KeyError):
        stats["step"]


def test_repr(run):
    assert repr(run).startswith("<Run of 'bouncing ball', complete: 201 rows, t = 0 to 1; ball (q, v)")
    assert repr(run["ball"]) == "<ball: q (201, 3), v (201, 3)>"


def test_save_and_load(run, tmp_path):
    path = tmp_path / "ball.h5"
    run.save(path)
    run.save(str(path))  # replaces it
    again = sl.load(path)
    assert again.signals == run.signals and again.title == run.title and again.stats == run.stats
    np.testing.assert_array_equal(again.t, run.t)
    for signal in run.signals:
        np.testing.assert_array_equal(again[signal], run[signal])
    np.testing.assert_array_equal(again.ledger.contact, run.ledger.contact)
    np.testing.assert_array_equal(again.iterations, run.iterations)
    assert [p.name for p in tmp_path.iterdir()] == ["ball.h5"]


def test_h5py_reads_it(run, tmp_path):
    h5py = pytest.importorskip("h5py")
    run.save(tmp_path / "ball.h5")
    with h5py.File(tmp_path / "ball.h5") as file:
        np.testing.assert_array_equal(file["time"], run.t)
        np.testing.assert_array_equal(file["systems/ball/q"], run["ball"].q)
        np.testing.assert_array_equal(file["interactions/floor/lam"], run["floor"].lam)
        np.testing.assert_array_equal(file["stats/residual"], run.residual)
        assert file["model"].attrs["title"] == "bouncing ball"


def test_first_order_runs_have_no_ledger():
    model = sl.Model()
    model.add(sl.FirstOrderLinear([1], [[-1]]))
    sim = sl.TimeStepping(model, h=0.1)
    assert sim.ledger is None and sim.run(1.0).ledger is None


def test_to_pandas(run):
    pd = pytest.importorskip("pandas")
    table = run.to_pandas()
    assert isinstance(table, pd.DataFrame) and table.index.name == "t"
    assert list(table.columns) == run.columns
    assert list(table.columns)[:3] == ["ball.q[0]", "ball.q[1]", "ball.q[2]"]
    np.testing.assert_array_equal(table["floor.lam[0]"], run["floor"].lam[:, 0])
    np.testing.assert_array_equal(table.index, run.t)


class TestPlot:
    def test_to_file(self, run, tmp_path):
        pytest.importorskip("matplotlib")
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            file = tmp_path / f"ball.{ending}"
            figure = run.plot("ball.q[0]", "floor.lam", file=file)
            assert file.read_bytes().startswith(start)
        top, bottom = figure.axes
        assert (top.get_ylabel(), bottom.get_ylabel()) == ("ball.q[0]", "floor.lam")
        assert bottom.get_xlabel() == "t" and top.get_title(loc="left") == "bouncing ball"
        assert top.get_shared_x_axes().joined(top, bottom)
        np.testing.assert_array_equal(top.lines[0].get_ydata(), run["ball.q[0]"])

    def test_names_and_everything(self, run, tmp_path):
        plt = pytest.importorskip("matplotlib.pyplot")
        assert [ax.get_ylabel() for ax in run.plot("ball").axes] == ["ball.q", "ball.v"]
        figure = run.plot()
        assert len(figure.axes) == 5 and len(figure.axes[0].lines) == 3
        plt.close("all")

    def test_without_matplotlib(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(ImportError, match="pip install matplotlib"):
            run.plot("ball.q")

    def test_pandas_missing(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="pip install pandas"):
            run.to_pandas()
