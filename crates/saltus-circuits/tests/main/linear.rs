//! Circuits without switching, beside closed forms.

use crate::{last, run};
use saltus_circuits::{Circuit, Control, Coupling, Device, OpAmpModel, Source};
use std::f64::consts::TAU;

/// `v = V (1 − exp(−t/RC))`, order two.
#[test]
fn a_resistor_charges_a_capacitor() {
    let mut circuit = Circuit::new("RC");
    circuit.voltage_source("V1", ["in", "0"], 5.0);
    circuit.resistor("R1", ["in", "out"], 1e3);
    let c = circuit.capacitor("C1", ["out", "0"], 1e-6);
    circuit.start(c, 0.0);
    let exact = 5.0 * (1.0 - f64::exp(-2.0));
    let error = |h| {
        let (model, run) = run(&circuit, 0.5, h, 2e-3);
        assert!(
            (last(&model, &run, "i(R1)") - (5.0 - last(&model, &run, "v(out)")) / 1e3).abs()
                < 1e-15
        );
        assert_eq!(last(&model, &run, "i(V1)"), -last(&model, &run, "i(C1)"));
        (last(&model, &run, "v(out)") - exact).abs()
    };
    let (coarse, fine) = (error(2e-5), error(1e-5));
    assert!(fine < 1e-4 && (coarse / fine - 4.0).abs() < 0.1, "{coarse} {fine}");
}

/// A series circuit rings: `i = V/(ω L) exp(−α t) sin ω t`.
#[test]
fn a_series_circuit_rings() {
    let (R, L, C) = (10.0, 1e-3, 1e-6);
    let mut circuit = Circuit::new("RLC");
    circuit.voltage_source("V1", ["in", "0"], 1.0);
    circuit.resistor("R1", ["in", "a"], R);
    let l = circuit.inductor("L1", ["a", "b"], L);
    let c = circuit.capacitor("C1", ["b", "0"], C);
    circuit.start(l, 0.0);
    circuit.start(c, 0.0);
    let (t, alpha) = (2e-4, R / (2.0 * L));
    let omega = (1.0 / (L * C) - alpha * alpha).sqrt();
    let exact = 1.0 / (omega * L) * f64::exp(-alpha * t) * (omega * t).sin();
    let (model, run) = run(&circuit, 0.5, 1e-7, t);
    let i = last(&model, &run, "i(L1)");
    // of the amplitude, and of order two: (ω h)² ω t/12 is the error of the phase
    assert!((i - exact).abs() < 5e-6 / (omega * L), "{i} {exact}");
    assert_eq!(last(&model, &run, "i(R1)"), i);
    let around =
        last(&model, &run, "v(in, a)") + last(&model, &run, "v(a, b)") + last(&model, &run, "v(b)");
    assert!((around - 1.0).abs() < 1e-12);
}

/// Two capacitors beside each other are one state, and a loop through a source shares its charge.
#[test]
fn a_loop_of_capacitors_and_a_source() {
    let mut circuit = Circuit::new("divider");
    let jump = Source::Pulse {
        low: 0.0,
        high: 6.0,
        delay: 1e-3,
        rise: 0.0,
        fall: 0.0,
        width: f64::INFINITY,
        period: f64::INFINITY,
        count: None,
    };
    circuit.voltage_source("V1", ["in", "0"], jump);
    circuit.capacitor("C1", ["in", "mid"], 1e-6);
    circuit.capacitor("C2", ["mid", "0"], 2e-6);
    circuit.resistor("R1", ["mid", "0"], 1e9);
    let (model, run) = run(&circuit, 1.0, 1e-4, 2e-3);
    assert_eq!(model.model.systems().next().unwrap().1.dim(), 1);
    let v = model.trace(&run, "v(mid)").unwrap();
    // the jump divides as the capacitances do, at once
    assert!(v[5].abs() < 1e-15 && (v[20] - 2.0).abs() < 1e-5, "{v:?}");
    let other = last(&model, &run, "v(in, mid)");
    assert!((other - 4.0).abs() < 1e-5);
}

/// Currents of capacitors in a loop with a ramp.
#[test]
fn a_ramp_drives_a_capacitor_alone() {
    let mut circuit = Circuit::new("ramp");
    circuit.voltage_source("V1", ["in", "0"], Source::lines([(0.0, 0.0), (1.0, 3.0)]));
    circuit.capacitor("C1", ["in", "0"], 2e-6);
    let (model, run) = run(&circuit, 1.0, 0.01, 0.5);
    assert!((last(&model, &run, "i(C1)") - 6e-6).abs() < 1e-18);
    assert!((last(&model, &run, "i(V1)") + 6e-6).abs() < 1e-18);
    assert!((last(&model, &run, "v(in)") - 1.5).abs() < 1e-12);
}

/// An inductor in series with a current source has the source's current.
#[test]
fn a_cut_set_of_an_inductor_and_a_source() {
    let mut circuit = Circuit::new("cut");
    circuit.current_source("I1", ["0", "a"], Source::lines([(0.0, 0.0), (1.0, 2.0)]));
    circuit.inductor("L1", ["a", "b"], 0.5);
    circuit.resistor("R1", ["b", "0"], 3.0);
    let (model, run) = run(&circuit, 1.0, 0.01, 0.5);
    assert!((last(&model, &run, "i(L1)") - 1.0).abs() < 1e-12);
    assert!((last(&model, &run, "v(a, b)") - 1.0).abs() < 1e-12);
    assert!((last(&model, &run, "v(a)") - 4.0).abs() < 1e-12);
}

/// An integrator: `v_out = −∫ v_in / RC`.
#[test]
fn an_ideal_amplifier_integrates() {
    let mut circuit = Circuit::new("integrator");
    circuit.voltage_source("V1", ["in", "0"], 2.0);
    circuit.resistor("R1", ["in", "minus"], 1e3);
    let c = circuit.capacitor("C1", ["minus", "out"], 1e-6);
    circuit.start(c, 0.0);
    circuit.op_amp("X1", ["0", "minus", "out"], OpAmpModel::ideal());
    let (model, run) = run(&circuit, 0.5, 1e-5, 1e-3);
    assert!((last(&model, &run, "v(out)") + 2.0).abs() < 1e-10);
    assert!(last(&model, &run, "v(minus)").abs() < 1e-14);
}

/// An inverting amplifier of gain `−R₂/R₁`, and one of finite gain.
#[test]
fn amplifiers_amplify() {
    for (model, expected) in
        [(OpAmpModel::ideal(), -4.0), (OpAmpModel::ideal().gain(99.0), -4.0 / (1.0 + 5.0 / 99.0))]
    {
        let mut circuit = Circuit::new("amplifier");
        circuit.voltage_source("V1", ["in", "0"], 1.0);
        circuit.resistor("R1", ["in", "minus"], 1e3);
        circuit.resistor("R2", ["minus", "out"], 4e3);
        circuit.op_amp("X1", ["0", "minus", "out"], model);
        let (model, run) = run(&circuit, 1.0, 1.0, 1.0);
        assert!((last(&model, &run, "v(out)") - expected).abs() < 1e-12);
    }
}

/// An ideal transformer passes power on, whichever side is driven.
#[test]
fn an_ideal_transformer() {
    for driven in [true, false] {
        let mut circuit = Circuit::new("transformer");
        let (a, b) = if driven { ("p", "s") } else { ("s", "p") };
        circuit.voltage_source("V1", [a, "0"], 12.0);
        circuit.resistor("R1", [b, "0"], 2.0);
        let (p, s, ground) = (circuit.node("p"), circuit.node("s"), circuit.node("0"));
        let (primary, secondary) = ([p, ground], [s, ground]);
        circuit.add("T1", Device::Transformer { primary, secondary, ratio: 3.0 });
        let (model, run) = run(&circuit, 1.0, 1.0, 1.0);
        let (v, i) = (last(&model, &run, &format!("v({b})")), last(&model, &run, "i(V1)"));
        let ratio = if driven { 3.0 } else { 1.0 / 3.0 };
        assert!((v - 12.0 / ratio).abs() < 1e-12 && (i + v * v / 2.0 / 12.0).abs() < 1e-12);
    }
}

/// Coupled inductors with a load: the exact sinusoidal state from the phasors of a transformer.
#[test]
fn coupled_inductors() {
    let (L1, L2, R, f) = (0.1, 0.4, 50.0, 50.0);
    for k in [0.9, 1.0] {
        let mut circuit = Circuit::new("coupled");
        circuit.voltage_source("V1", ["a", "0"], Source::sine(10.0, f));
        circuit.resistor("Rs", ["a", "b"], 5.0);
        let first = circuit.inductor("L1", ["b", "0"], L1);
        let second = circuit.inductor("L2", ["c", "0"], L2);
        circuit.resistor("RL", ["c", "0"], R);
        let inductors = [first, second];
        let name = "K1".to_string();
        circuit.couplings.push(Coupling { name, inductors, coefficient: k, place: None });
        let (model, run) = run(&circuit, 0.5, 2e-5, 0.4);
        // V = (5 + jωL₁) I₁ + jωM I₂, 0 = jωM I₁ + (R + jωL₂) I₂
        let (w, M) = (TAU * f, k * f64::sqrt(L1 * L2));
        let mul = |a: (f64, f64), b: (f64, f64)| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
        let div = |a: (f64, f64), b: (f64, f64)| {
            let size = b.0 * b.0 + b.1 * b.1;
            ((a.0 * b.0 + a.1 * b.1) / size, (a.1 * b.0 - a.0 * b.1) / size)
        };
        let (z1, z2, zm) = ((5.0, w * L1), (R, w * L2), (0.0, w * M));
        let det = {
            let (a, b) = (mul(z1, z2), mul(zm, zm));
            (a.0 - b.0, a.1 - b.1)
        };
        let i2 = div(mul((-zm.0, -zm.1), (10.0, 0.0)), det);
        // sin: the imaginary part
        let t = *run.frames.time.last().unwrap();
        let exact = i2.0 * (w * t).sin() + i2.1 * (w * t).cos();
        let found = last(&model, &run, "i(L2)");
        assert!((found - exact).abs() < 2e-5, "k = {k}: {found} {exact}");
    }
}

/// Sources controlled by voltages and currents.
#[test]
fn controlled_sources() {
    let mut circuit = Circuit::new("controlled");
    let v1 = circuit.voltage_source("V1", ["a", "0"], 2.0);
    circuit.resistor("R1", ["a", "0"], 4.0);
    let [b, c, d, ground] = ["b", "c", "d", "0"].map(|name| circuit.node(name));
    let control = Control::Current(v1);
    circuit.add("H1", Device::ControlledVoltage { between: [b, ground], control, gain: 3.0 });
    circuit.resistor("R2", ["b", "0"], 1.0);
    circuit.add("F1", Device::ControlledCurrent { between: [ground, c], control, gain: 4.0 });
    circuit.resistor("R3", ["c", "0"], 2.0);
    let control = Control::Voltage([c, b]);
    circuit.add("G1", Device::ControlledCurrent { between: [ground, d], control, gain: 0.5 });
    circuit.resistor("R4", ["d", "0"], 2.0);
    let (model, run) = run(&circuit, 1.0, 1.0, 1.0);
    let value = |name: &str| last(&model, &run, name);
    // i(V1) = −0.5
    assert!((value("v(b)") + 1.5).abs() < 1e-14);
    assert!((value("v(c)") + 4.0).abs() < 1e-14);
    assert!((value("v(d)") + 2.5).abs() < 1e-14);
}
