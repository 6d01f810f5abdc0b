//! Circuits that switch, beside trajectories of the same scheme computed elsewhere, and beside exact
//! ones.

use crate::circuits::{buck, diode_bridge, half_wave, ladder, resonant_converter};
use crate::{last, run};
use saltus_circuits::{Circuit, CircuitModel, DiodeModel, MosModel, Polarity, Source};
use saltus_sim::Run;
use std::path::Path;

/// The columns of a stored trajectory.
pub fn stored(case: &str, file: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trajectories");
    let text = std::fs::read_to_string(folder.join(case).join(file)).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap().split(',').map(str::to_string).collect();
    let rows = lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect());
    (names, rows.collect())
}

/// The largest distance of signals from columns of a stored trajectory, relative to the largest value
/// of the column.
pub fn distance(
    (model, run): &(CircuitModel, Run),
    (case, file): (&str, &str),
    pairs: &[(&str, &str)],
    h: f64,
) -> f64 {
    let (names, rows) = stored(case, file);
    let mut worst = 0.0_f64;
    for (signal, column) in pairs {
        let column = names.iter().position(|name| name == column).unwrap();
        let trace = model.trace(run, signal).unwrap();
        let size = rows.iter().fold(0.0_f64, |most, row| most.max(row[column].abs()));
        for row in &rows {
            let k = (row[0] / h).round() as usize;
            if k < trace.len() {
                worst = worst.max((trace[k] - row[column]).abs() / size);
            }
        }
    }
    worst
}

/// Figures of the same scheme computed elsewhere, and the exact solution.
#[test]
fn a_bridge_rectifies() {
    let done = run(&diode_bridge(), 0.5, 1e-6, 4.999e-3);
    let pairs = [("v(a, b)", "vL"), ("i(L1)", "iL")];
    let error = distance(&done, ("diode_bridge", "siconos.csv"), &pairs, 1e-6);
    assert!(error < 1e-9, "{error:e}");
    let (model, run) = &done;
    let (v, load) = (model.trace(run, "v(a, b)").unwrap(), model.trace(run, "i(R1)").unwrap());
    (1..load.len()).for_each(|k| assert!((load[k] - v[k].abs() / 1e3).abs() < 1e-12));
    for diode in ["i(DF1)", "i(DR1)", "i(DF2)", "i(DR2)"] {
        assert!(model.trace(run, diode).unwrap().iter().all(|i| *i >= -1e-12));
    }
}

/// A capacitor discharges through a coil, and a diode lets only one half wave through.
#[test]
fn a_diode_passes_half_waves() {
    let (model, run) = run(&half_wave(), 0.500000001, 1e-5, 4.99e-3);
    let (v, i) = (model.trace(&run, "v(a)").unwrap(), model.trace(&run, "i(L1)").unwrap());
    for (row, expected) in [
        (1, [-0.995012468818, -9.97506234404e-4]),
        (10, [-0.541002294546, -8.41021115725e-3]),
        (100, [0.656209731727, 3.67459428564e-3]),
        (499, [-0.250574077382, 1.37154965178e-3]),
    ] {
        let found = [v[row], i[row]];
        let near = (found[0] - expected[0]).abs() < 1e-10;
        assert!(near && (found[1] - expected[1]).abs() < 1e-12, "{row}: {found:?}");
    }
}

/// A resonant converter, whose bridge has a capacitor before and an inductor behind it, beside the exact
/// motion: which currents and voltages are multipliers, and so implicit, is not as elsewhere, so that the
/// scheme is not the same step by step, but of the same order.
#[test]
fn a_resonant_converter() {
    let (names, rows) = stored("power_converter_prc", "exact.csv");
    let column = names.iter().position(|name| name == "v_Cr").unwrap();
    let mean = |steps: f64| {
        let h = 0.5 / 55e3 / steps;
        let (model, run) = run(&resonant_converter(), 0.5, h, 1e-3);
        let v = model.trace(&run, "v(a)").unwrap();
        let error = |row: &Vec<f64>| {
            let (k, share) = ((row[0] / h).floor(), (row[0] / h).fract());
            let at = |k: f64| v[(k as usize).min(v.len() - 1)];
            (at(k) + share * (at(k + 1.0) - at(k)) - row[column]).abs()
        };
        rows.iter().map(error).sum::<f64>() / rows.len() as f64
    };
    // elsewhere, with as many steps in half a period: 0.0296, 0.0156, 0.0079
    let errors = [180.0, 360.0, 720.0].map(mean);
    assert!(
        errors[0] < 0.03 && errors[1] < 0.55 * errors[0] && errors[2] < 0.55 * errors[1],
        "{errors:?}"
    );
}

/// Ladders of diodes, capacitors and resistors, up to a hundred states.
#[test]
fn ladders() {
    for n in [3, 10, 50] {
        let done = run(&ladder(n), 0.5, 1e-3, 4.0);
        let names: Vec<_> = (1..=n)
            .flat_map(|i| {
                [
                    (format!("v(m{i})"), format!("u{i}")),
                    (format!("v(w{i}, m{i})"), format!("v{i}")),
                    (format!("i(D{i})"), format!("k{i}")),
                ]
            })
            .collect();
        let pairs: Vec<_> = names.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let file = format!("siconos_n{n}.csv");
        let error = distance(&done, ("rc_diode_ladder", &file), &pairs, 1e-3);
        assert!(error < 1e-9, "{n}: {error:e}");
    }
}

/// The buck converter: the same transistors and comparator as twelve complementarity rows elsewhere.
#[test]
fn a_buck_converter() {
    let done = run(&buck(), 1.0, 1e-9, 10e-6);
    let pairs = [("v(out)", "v_load"), ("i(L1)", "i_L"), ("v(gate)", "v_gate")];
    let file = ("buck_converter", "siconos_h1e-09.csv");
    let error = distance(&done, file, &pairs[..2], 1e-9);
    assert!(error < 1e-6, "{error:e}");
    let names: Vec<&str> = done.0.model.interactions().map(|(name, _)| name).collect();
    assert_eq!(names, ["MP", "MN", "X1", "MP:bulk-drain", "MN:bulk-drain"]);
}

/// A capacitor behind a bridge follows the peaks, and energy only falls.
#[test]
fn a_bridge_with_a_filter() {
    let mut circuit = diode_bridge();
    let k = circuit.capacitor("Cfilt", ["p", "0"], 300e-9);
    circuit.start(k, 0.0);
    let (model, run) = run(&circuit, 1.0, 1e-6, 5e-3);
    let trace = |name: &str| model.trace(&run, name).unwrap();
    let (v, i, out) = (trace("v(a, b)"), trace("i(L1)"), trace("v(p)"));
    let energy =
        |k: usize| 0.5 * (1e-6 * v[k] * v[k] + 1e-2 * i[k] * i[k] + 300e-9 * out[k] * out[k]);
    for k in 1..v.len() {
        assert!(out[k] >= v[k].abs() - 1e-9, "{k}: {} {}", out[k], v[k]);
        assert!(energy(k) <= energy(k - 1) * (1.0 + 1e-12));
    }
    // charge is shared in the first step, but for what h lets through coil and resistor
    assert!((out[1] - 10.0 / 1.3).abs() < 0.05, "{}", out[1]);
}

/// Two capacitors and a diode: charge flows at once, and none is lost.
#[test]
fn charge_is_shared() {
    let mut circuit = Circuit::new("sharing");
    let c = circuit.capacitor("C1", ["a", "0"], 3e-6);
    circuit.start(c, 5.0);
    circuit.diode("D1", ["a", "b"], DiodeModel::ideal());
    let c = circuit.capacitor("C2", ["b", "0"], 2e-6);
    circuit.start(c, 0.0);
    let (model, run) = run(&circuit, 1.0, 1e-3, 1.0);
    let (a, b) = (model.trace(&run, "v(a)").unwrap(), model.trace(&run, "v(b)").unwrap());
    for k in 1..a.len() {
        assert!((a[k] - 3.0).abs() < 1e-12 && (b[k] - 3.0).abs() < 1e-12, "{k}: {} {}", a[k], b[k]);
    }
}

/// A charge pump: a clock that jumps, a loop of capacitors, and diodes. Charge is conserved, and the
/// output goes to `V + V C₁/(C₁ + C₃)`.
#[test]
fn a_charge_pump() {
    let mut circuit = Circuit::new("charge pump");
    circuit.voltage_source("VDD", ["vdd", "0"], 5.0);
    let clock = Source::Pulse {
        low: 0.0,
        high: 5.0,
        delay: 0.5e-6,
        rise: 0.0,
        fall: 0.0,
        width: 0.5e-6,
        period: 1e-6,
        count: None,
    };
    circuit.voltage_source("V1", ["clock", "0"], clock);
    circuit.capacitor("C1", ["clock", "x"], 1e-9);
    let parasitic = circuit.capacitor("C3", ["x", "0"], 0.25e-9);
    let out = circuit.capacitor("C2", ["out", "0"], 2e-9);
    circuit.start(parasitic, 0.0);
    circuit.start(out, 0.0);
    circuit.diode("D1", ["vdd", "x"], DiodeModel::ideal());
    circuit.diode("D2", ["x", "out"], DiodeModel::ideal());
    let h = 1e-8;
    let (model, run) = run(&circuit, 1.0, h, 100e-6);
    let trace = |name: &str| model.trace(&run, name).unwrap();
    let (clock, x, out) = (trace("v(clock)"), trace("v(x)"), trace("v(out)"));
    let (first, second) = (trace("i(D1)"), trace("i(D2)"));
    let stored = |k: usize| 1e-9 * (x[k] - clock[k]) + 0.25e-9 * x[k];
    let (mut passed, mut given) = (0.0, 0.0);
    for k in 1..x.len() {
        passed += h * first[k];
        given += h * second[k];
        let scale = 1e-12 * 1e-8;
        assert!((stored(k) - stored(0) - passed + given).abs() < scale, "{k}");
        assert!((2e-9 * out[k] - given).abs() < scale, "{k}");
    }
    assert!((last(&model, &run, "v(out)") - (5.0 + 5.0 / 1.25)).abs() < 1e-9);
}

/// A chain of inverters: a system a node, each transistor with the two nodes it touches.
#[test]
fn a_chain_keeps_its_cells_apart() {
    let n = 100;
    let mut circuit = Circuit::new("chain");
    circuit.voltage_source("VDD", ["vdd", "0"], 3.0);
    circuit.voltage_source("V1", ["n0", "0"], Source::lines([(0.0, 0.0), (1e-10, 3.0)]));
    for i in 0..n {
        let [input, output] = [format!("n{i}"), format!("n{}", i + 1)];
        let n = MosModel::piecewise_linear(Polarity::N, 0.5, 100e-6, 2.5);
        let p = MosModel::piecewise_linear(Polarity::P, -0.5, 100e-6, 2.5);
        circuit.mos(&format!("MN{i}"), [&output, &input, "0", "0"], n);
        circuit.mos(&format!("MP{i}"), [&output, &input, "vdd", "vdd"], p);
        let c = circuit.capacitor(&format!("C{i}"), [&output, "0"], 20e-15);
        circuit.start(c, if i % 2 == 0 { 3.0 } else { 0.0 });
    }
    let model = circuit.model().unwrap();
    assert_eq!(model.model.systems().len(), n);
    assert!(model.model.interactions().all(|(_, one)| one.systems.len() <= 2));
    let (model, run) = run(&circuit, 1.0, 2e-12, 2e-9);
    // the front has passed the first cells, and has not come to the last
    assert!(last(&model, &run, "v(n1)") < 0.1 && last(&model, &run, "v(n2)") > 2.9);
    assert!((last(&model, &run, "v(n100)")).abs() < 1e-6);
}
