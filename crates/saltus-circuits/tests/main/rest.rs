//! Operating points and initial states.

use crate::{last, run};
use saltus_circuits::{Circuit, Device, DiodeModel, MosModel, Node, Polarity};

/// Two inverters that drive each other: two stable points and one between them.
#[test]
fn a_flip_flop_has_three_points() {
    let mut circuit = Circuit::new("flip-flop");
    circuit.voltage_source("VDD", ["vdd", "0"], 3.0);
    for (name, input, output) in [("1", "a", "b"), ("2", "b", "a")] {
        let n = MosModel::piecewise_linear(Polarity::N, 0.5, 1e-3, 2.5);
        let p = MosModel::piecewise_linear(Polarity::P, -0.5, 1e-3, 2.5);
        circuit.mos(&format!("MN{name}"), [output, input, "0", "0"], n);
        circuit.mos(&format!("MP{name}"), [output, input, "vdd", "vdd"], p);
        circuit.capacitor(&format!("C{name}"), [output, "0"], 1e-15);
    }
    let points = circuit.operating_points(1_000_000).unwrap();
    let mut found: Vec<[f64; 2]> =
        points.iter().map(|point| ["a", "b"].map(|node| point.v(node).unwrap())).collect();
    found.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, expected) in found.iter().zip([[0.0, 3.0], [1.5, 1.5], [3.0, 0.0]]) {
        assert!(
            (found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-9,
            "{found:?}"
        );
    }
    assert!(circuit.operating_points(10).is_err());
    // one of them is found directly
    let point = circuit.operating_point().unwrap();
    assert!((point.v("a").unwrap() + point.v("b").unwrap() - 3.0).abs() < 1e-9);
}

/// What is not given follows from rest.
#[test]
fn a_divider_charges_its_capacitor() {
    let mut circuit = Circuit::new("divider");
    circuit.voltage_source("V1", ["in", "0"], 9.0);
    circuit.resistor("R1", ["in", "out"], 2e3);
    circuit.resistor("R2", ["out", "x"], 1e3);
    circuit.inductor("L1", ["x", "0"], 1e-3);
    circuit.capacitor("C1", ["out", "0"], 1e-6);
    let point = circuit.operating_point().unwrap();
    assert!((point.v("out").unwrap() - 3.0).abs() < 1e-12);
    assert!((point.i("L1").unwrap() - 3e-3).abs() < 1e-15);
    let (model, run) = run(&circuit, 0.5, 1e-6, 1e-4);
    let v = model.trace(&run, "v(out)").unwrap();
    assert!(v.iter().all(|v| (v - 3.0).abs() < 1e-10));
}

/// A capacitor behind a diode: the nearest to zero of all that are possible.
#[test]
fn a_capacitor_behind_a_diode() {
    for (source, expected) in [(5.0, 4.3), (-5.0, 0.0)] {
        let mut circuit = Circuit::new("peak");
        circuit.voltage_source("V1", ["in", "0"], source);
        circuit.diode("D1", ["in", "out"], DiodeModel::ideal().threshold(0.7));
        circuit.capacitor("C1", ["out", "0"], 1e-6);
        let point = circuit.operating_point().unwrap();
        assert!((point.v("out").unwrap() - expected).abs() < 1e-9, "{point:?}");
    }
}

/// The exponential diode with a resistor: `v + R I_s (exp(v/V_T) − 1) = E`.
#[test]
fn a_smooth_diode_at_rest() {
    for source in [-3.0, 0.0, 0.3, 5.0, 300.0] {
        let mut circuit = Circuit::new("smooth");
        circuit.voltage_source("V1", ["in", "0"], source);
        circuit.resistor("R1", ["in", "out"], 1e3);
        circuit.diode("D1", ["out", "0"], DiodeModel::smooth(1e-14));
        let point = circuit.operating_point().unwrap();
        let v = point.v("out").unwrap();
        let around = v + 1e3 * 1e-14 * (v / 0.02585).exp_m1();
        assert!((around - source).abs() < 1e-6 * source.abs().max(1.0), "{source}: {v}");
    }
}

/// `.ic` and `ic=`.
#[test]
fn initial_values() {
    let mut circuit = Circuit::new("initial");
    circuit.voltage_source("V1", ["in", "0"], 9.0);
    circuit.resistor("R1", ["in", "out"], 1e3);
    circuit.capacitor("C1", ["out", "x"], 1e-6);
    let c2 = circuit.capacitor("C2", ["x", "0"], 1e-6);
    circuit.resistor("R2", ["x", "0"], 1e3);
    let out = circuit.node("out");
    circuit.initial.push((out, 4.0));
    circuit.start(c2, 1.5);
    let (model, run) = run(&circuit, 1.0, 1e-6, 1e-6);
    let first = |name: &str| model.trace(&run, name).unwrap()[0];
    assert!((first("v(out)") - 4.0).abs() < 1e-12 && (first("v(x)") - 1.5).abs() < 1e-12);
    assert!(last(&model, &run, "v(out)") > 4.0);
}

/// A behavioural source: `v = x²` of another voltage.
#[test]
fn a_formula_at_rest_and_in_motion() {
    let mut circuit = Circuit::new("square");
    circuit.voltage_source("V1", ["in", "0"], 3.0);
    circuit.resistor("R1", ["in", "0"], 2.0);
    let [b, ground] = [circuit.node("b"), Node(0)];
    let formula = "v(in)^2 + 2*i(R1) + 0*time".to_string();
    circuit.add("B1", Device::BehavioralVoltage { between: [b, ground], formula });
    circuit.resistor("R2", ["b", "c"], 1.0);
    circuit.capacitor("C1", ["c", "0"], 1.0);
    assert!((circuit.operating_point().unwrap().v("b").unwrap() - 12.0).abs() < 1e-12);
    let (model, run) = run(&circuit, 0.5, 0.1, 1.0);
    assert!((last(&model, &run, "v(c)") - 12.0).abs() < 1e-9);
}

/// The first row is right too, where devices decide it, and so are states between devices.
#[test]
fn the_first_row_is_known() {
    let mut circuit = Circuit::new("first row");
    circuit.voltage_source("V1", ["in", "0"], 5.0);
    circuit.resistor("R1", ["in", "a"], 1e3);
    circuit.diode("D1", ["a", "b"], DiodeModel::ideal().threshold(0.7));
    circuit.diode("D2", ["a", "c"], DiodeModel::ideal().threshold(0.5));
    circuit.resistor("R2", ["b", "0"], 1e3);
    circuit.resistor("R3", ["c", "0"], 1e3);
    let (model, run) = run(&circuit, 1.0, 1e-3, 2e-3);
    for name in ["v(a)", "v(b)", "v(c)", "i(V1)", "i(D1)", "i(D2)"] {
        let trace = model.trace(&run, name).unwrap();
        assert!((trace[0] - trace[1]).abs() < 1e-9, "{name}: {trace:?}");
    }
    // (5 − v)/1k = (v − 0.7)/1k + (v − 0.5)/1k
    assert!((last(&model, &run, "v(a)") - 6.2 / 3.0).abs() < 1e-9);
}

/// `uic`: what is not given is zero, but for what sources say.
#[test]
fn zero_at_the_beginning() {
    let mut circuit = Circuit::new("uic");
    circuit.voltage_source("V1", ["in", "0"], 5.0);
    circuit.capacitor("C1", ["in", "0"], 1e-6);
    circuit.resistor("R1", ["in", "out"], 1e3);
    circuit.capacitor("C2", ["out", "0"], 1e-6);
    circuit.capacitor("C3", ["out", "x"], 1e-6);
    circuit.resistor("R2", ["x", "0"], 1e3);
    let x = circuit.node("x");
    circuit.initial.push((x, -2.0));
    circuit.uic = true;
    let (model, run) = run(&circuit, 1.0, 1e-6, 1e-6);
    let first = |name: &str| model.trace(&run, name).unwrap()[0];
    assert_eq!([first("v(in)"), first("v(out)"), first("v(out, x)")], [5.0, 0.0, 2.0]);
}
