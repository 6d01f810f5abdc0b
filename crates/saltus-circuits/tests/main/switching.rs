//! Circuits with ideal diodes.

use crate::{last, run};
use saltus_circuits::{Circuit, DiodeModel};

/// The circuit of an LC tank, a bridge and a resistor.
pub fn bridge() -> Circuit {
    let mut circuit = Circuit::new("diode bridge");
    let c = circuit.capacitor("C1", ["a", "b"], 1e-6);
    let l = circuit.inductor("L1", ["a", "b"], 1e-2);
    circuit.start(c, 10.0);
    circuit.start(l, 0.0);
    circuit.diode("DF1", ["a", "p"], DiodeModel::ideal());
    circuit.diode("DR1", ["b", "p"], DiodeModel::ideal());
    circuit.diode("DF2", ["0", "b"], DiodeModel::ideal());
    circuit.diode("DR2", ["0", "a"], DiodeModel::ideal());
    circuit.resistor("R1", ["p", "0"], 1e3);
    circuit
}

/// Figures of the same scheme computed elsewhere, and the exact solution.
#[test]
fn diode_bridge() {
    let (model, run) = run(&bridge(), 0.5, 1e-6, 4.999e-3);
    let (v, i) = (model.trace(&run, "v(a, b)").unwrap(), model.trace(&run, "i(L1)").unwrap());
    for (row, expected) in [
        (1, [9.98951075148, 9.99475537574e-4]),
        (100, [4.75147525329, 0.0800878114572]),
        (1000, [-4.97842133528, -0.0322822483867]),
        (4999, [0.786383910728, -2.83071805415e-3]),
    ] {
        let found = [v[row], i[row]];
        assert!(
            (found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-11,
            "{row}: {found:?}"
        );
    }
    let load = model.trace(&run, "i(R1)").unwrap();
    (1..load.len()).for_each(|k| assert!((load[k] - v[k].abs() / 1e3).abs() < 1e-12));
    assert!(last(&model, &run, "i(DF1)") >= 0.0);
}

/// A capacitor discharges through a coil, and a diode lets only one half wave through.
#[test]
fn half_wave() {
    let mut circuit = Circuit::new("RLCD");
    let c = circuit.capacitor("C1", ["a", "0"], 1e-6);
    let l = circuit.inductor("L1", ["a", "0"], 1e-2);
    circuit.start(c, -1.0);
    circuit.start(l, 0.0);
    circuit.diode("D1", ["a", "b"], DiodeModel::ideal());
    circuit.resistor("R1", ["b", "0"], 1e3);
    let (model, run) = run(&circuit, 0.500000001, 1e-5, 4.99e-3);
    let (v, i) = (model.trace(&run, "v(a)").unwrap(), model.trace(&run, "i(L1)").unwrap());
    for (row, expected) in [
        (1, [-0.995012468818, -9.97506234404e-4]),
        (10, [-0.541002294546, -8.41021115725e-3]),
        (100, [0.656209731727, 3.67459428564e-3]),
        (499, [-0.250574077382, 1.37154965178e-3]),
    ] {
        let found = [v[row], i[row]];
        assert!(
            (found[0] - expected[0]).abs() < 1e-10 && (found[1] - expected[1]).abs() < 1e-12,
            "{row}: {found:?}"
        );
    }
}
