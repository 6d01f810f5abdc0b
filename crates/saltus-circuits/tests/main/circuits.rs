//! The circuits that tests share.

use saltus_circuits::{Circuit, DiodeModel, MosModel, OpAmpModel, Polarity, Source, SwitchModel};

/// An LC tank, a bridge of diodes and a resistor.
pub fn diode_bridge() -> Circuit {
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

/// An LC tank whose half waves go through a diode and a resistor.
pub fn half_wave() -> Circuit {
    let mut circuit = Circuit::new("RLCD");
    let c = circuit.capacitor("C1", ["a", "0"], 1e-6);
    let l = circuit.inductor("L1", ["a", "0"], 1e-2);
    circuit.start(c, -1.0);
    circuit.start(l, 0.0);
    circuit.diode("D1", ["a", "b"], DiodeModel::ideal());
    circuit.resistor("R1", ["b", "0"], 1e3);
    circuit
}

/// A square wave, a resonant tank, a bridge, and a filter with a load.
pub fn resonant_converter() -> Circuit {
    let mut circuit = Circuit::new("parallel resonant converter");
    let period = 1.0 / 55e3;
    let square = Source::Pulse {
        low: -1.0,
        high: 1.0,
        delay: 0.0,
        rise: 0.0,
        fall: 0.0,
        width: period / 2.0,
        period,
        count: None,
    };
    circuit.voltage_source("V1", ["in", "0"], square);
    for (name, nodes, value) in [("Lr", ["in", "a"], 150e-6), ("Lf", ["p", "q"], 0.4e-3)] {
        let k = circuit.inductor(name, nodes, value);
        circuit.start(k, 0.0);
    }
    for (name, nodes, value) in [("Cr", ["a", "0"], 68e-9), ("Cf", ["q", "n"], 2.2e-6)] {
        let k = circuit.capacitor(name, nodes, value);
        circuit.start(k, 0.0);
    }
    circuit.resistor("R1", ["q", "n"], 33.0);
    for (name, nodes) in
        [("D1", ["a", "p"]), ("D2", ["0", "p"]), ("D3", ["n", "a"]), ("D4", ["n", "0"])]
    {
        circuit.diode(name, nodes, DiodeModel::ideal());
    }
    circuit
}

/// A ladder of cells of resistors, capacitors and diodes.
pub fn ladder(n: usize) -> Circuit {
    let mut circuit = Circuit::new("ladder");
    circuit.voltage_source("V1", ["w0", "0"], 10.0);
    for i in 1..=n {
        let [before, w, m] = [format!("w{}", i - 1), format!("w{i}"), format!("m{i}")];
        circuit.resistor(&format!("R{i}"), [&before, &w], 100.0);
        let u = 2.5 + 2.5 * (i - 1) as f64 / (n - 1) as f64;
        let k = circuit.capacitor(&format!("C{i}"), [&m, "0"], 1e-3);
        circuit.start(k, u);
        let k = circuit.capacitor(&format!("CD{i}"), [&w, &m], 1e-4);
        circuit.start(k, -u);
        let model = DiodeModel { on_resistance: 10.0, ..DiodeModel::ideal() };
        circuit.diode(&format!("D{i}"), [&w, &m], model);
    }
    circuit
}

/// The buck converter of the founding comparison: two transistors, a comparator and a compensator.
pub fn buck() -> Circuit {
    let mut circuit = Circuit::new("buck converter");
    circuit.voltage_source("VI", ["in", "0"], 3.0);
    let body = Some(DiodeModel::ideal().threshold(0.8));
    let p = MosModel::piecewise_linear(Polarity::P, -2.0, 10.0, 1.0);
    circuit.mos("MP", ["sw", "gate", "in", "in"], MosModel { body: body.clone(), ..p });
    let n = MosModel::piecewise_linear(Polarity::N, 2.0, 10.0, 1.0);
    circuit.mos("MN", ["sw", "gate", "0", "0"], MosModel { body, ..n });
    let l = circuit.inductor("L1", ["sw", "out"], 10e-6);
    circuit.start(l, 0.0);
    for (name, nodes, value) in [
        ("C1", ["out", "0"], 22e-6),
        ("C11", ["x", "minus"], 20e-12),
        ("C21", ["y", "minus"], 1.9e-12),
        ("Cp", ["pole", "0"], 1.0 / 188_495_400.0),
    ] {
        let k = circuit.capacitor(name, nodes, value);
        circuit.start(k, 0.0);
    }
    circuit.resistor("Rload", ["out", "0"], 10.0);
    circuit.resistor("R11", ["out", "x"], 15.58e3);
    circuit.resistor("R12", ["out", "minus"], 227.8e3);
    circuit.resistor("R21", ["err", "y"], 5.613e6);
    circuit.voltage_source("Vref", ["ref", "0"], Source::lines([(0.0, 0.0), (100e-6, 1.8)]));
    circuit.amplify("Eamp", ["amp", "0"], ["ref", "minus"], 1e4);
    circuit.resistor("Rp", ["amp", "pole"], 1.0);
    circuit.amplify("Ebuf", ["err", "0"], ["pole", "0"], 1.0);
    let ramp = Source::Pulse {
        low: 0.0,
        high: 2.25,
        delay: 0.0,
        rise: 1.655e-6,
        fall: 10e-9,
        width: 1e-9,
        period: 1.6667e-6,
        count: None,
    };
    circuit.voltage_source("Vramp", ["ramp", "0"], ramp);
    let comparator = OpAmpModel::ideal().gain(15.0).between(0.0, 3.0);
    circuit.op_amp("X1", ["ramp", "err", "gate"], comparator);
    circuit
}

/// Four switches with diodes that turn the voltage of a coil, with dead times.
pub fn full_bridge() -> Circuit {
    let (duty, period, dead, edge) = (0.7, 50e-6, 1e-6, 1e-9);
    let gate = |delay: f64, share: f64| Source::Pulse {
        low: 0.0,
        high: 1.0,
        delay,
        rise: edge,
        fall: edge,
        width: share * period - dead - edge,
        period,
        count: None,
    };
    let mut circuit = Circuit::new("full bridge");
    circuit.voltage_source("VIN", ["in", "0"], 48.0);
    for (name, nodes, by) in [
        ("S1", ["in", "a"], "ga"),
        ("S2", ["a", "0"], "gb"),
        ("S3", ["in", "b"], "gb"),
        ("S4", ["b", "0"], "ga"),
    ] {
        circuit.switch(name, nodes, [by, "0"], SwitchModel::ideal(0.5).resistances(0.01, 1e6));
        circuit.diode(&name.replace('S', "D"), [nodes[1], nodes[0]], DiodeModel::ideal());
    }
    let coil = circuit.inductor("L1", ["a", "x"], 1e-3);
    circuit.start(coil, 0.0);
    circuit.resistor("R1", ["x", "b"], 5.0);
    circuit.voltage_source("VGA", ["ga", "0"], gate(0.0, duty));
    circuit.voltage_source("VGB", ["gb", "0"], gate(duty * period, 1.0 - duty));
    circuit
}
