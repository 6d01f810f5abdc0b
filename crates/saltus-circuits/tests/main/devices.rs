//! Devices, one at a time.

use crate::{last, run};
use saltus_circuits::{
    BipolarModel, Circuit, CircuitModel, DiodeModel, Fidelity, GummelPoon, MosModel, OpAmpModel,
    Polarity, Source,
};
use saltus_sim::Run;

fn trace(done: &(CircuitModel, Run), name: &str) -> Vec<f64> {
    done.0.trace(&done.1, name).unwrap()
}

/// A Zener diode takes energy from an oscillation in every second half wave, until it rests.
#[test]
fn a_zener_diode() {
    let tau = std::f64::consts::TAU;
    let mut circuit = Circuit::new("LZC");
    let c = circuit.capacitor("C1", ["a", "0"], 1.0 / (tau * tau));
    circuit.start(c, 17.0);
    let l = circuit.inductor("L1", ["c", "a"], 1.0);
    circuit.start(l, 0.0);
    circuit.diode("D1", ["c", "0"], DiodeModel::ideal().breakdown(5.0));
    for (theta, file) in [(0.5, "siconos_theta0.5.csv"), (1.0, "siconos_theta1.csv")] {
        let done = run(&circuit, theta, 5e-3, 3.0);
        let pairs = [("v(a)", "vC"), ("i(L1)", "i")];
        let error = crate::switching::distance(&done, ("lzc_circuit", file), &pairs, 5e-3);
        assert!(error < 1e-9, "{theta}: {error:e}");
    }
    let done = run(&circuit, 0.5, 5e-4, 3.0);
    assert!((last(&done.0, &done.1, "v(a)") + 3.0).abs() < 1e-3);
}

/// A Zener diode beside a load: a regulator, and a clamp of either sign.
#[test]
fn a_zener_diode_clamps() {
    let mut circuit = Circuit::new("clamp");
    circuit.voltage_source("V1", ["in", "0"], Source::sine(12.0, 1.0));
    circuit.resistor("R1", ["in", "out"], 100.0);
    let model = DiodeModel { on_resistance: 25.0, ..DiodeModel::ideal().threshold(0.5) };
    circuit.diode("D1", ["0", "out"], model.breakdown(5.0));
    let done = run(&circuit, 1.0, 0.01, 1.0);
    let (v, out) = (trace(&done, "v(in)"), trace(&done, "v(out)"));
    for k in 1..v.len() {
        // 100 Ω and 25 Ω divide what is beyond
        let beyond = v[k] - v[k].clamp(-0.5, 5.0);
        let expected = v[k].clamp(-0.5, 5.0) + 0.2 * beyond;
        assert!((out[k] - expected).abs() < 1e-9, "{k}: {} {expected}", out[k]);
    }
}

/// An exponential diode discharges a capacitor: `1 − e^(−v/V) = (1 − e^(−v₀/V)) e^(−I_s t/(C V))`.
#[test]
fn a_smooth_diode_discharges_a_capacitor() {
    let (saturation, V, C, v0) = (1e-9, 0.02585, 1e-6, 0.5);
    let mut circuit = Circuit::new("discharge");
    let c = circuit.capacitor("C1", ["a", "0"], C);
    circuit.start(c, v0);
    circuit.diode("D1", ["a", "0"], DiodeModel::smooth(saturation));
    let t = 10.0;
    let left = (1.0 - f64::exp(-v0 / V)) * f64::exp(-saturation * t / (C * V));
    let exact = -V * (1.0 - left).ln();
    let error = |h| {
        let (model, run) = run(&circuit, 1.0, h, t);
        (last(&model, &run, "v(a)") - exact).abs()
    };
    let (coarse, fine) = (error(0.02), error(0.01));
    assert!(fine < 2e-4 && (coarse / fine - 2.0).abs() < 0.2, "{coarse:e} {fine:e}");
}

/// An amplifier with limits: `clamp(−4 v, −2, 2)`, and with a finite gain.
#[test]
fn an_amplifier_saturates() {
    for gain in [f64::INFINITY, 1e6] {
        let mut circuit = Circuit::new("limits");
        circuit.voltage_source("V1", ["in", "0"], Source::sine(1.0, 1.0));
        circuit.resistor("R1", ["in", "minus"], 1e3);
        circuit.resistor("R2", ["minus", "out"], 4e3);
        circuit.op_amp(
            "X1",
            ["0", "minus", "out"],
            OpAmpModel::ideal().gain(gain).between(-2.0, 2.0),
        );
        let done = run(&circuit, 1.0, 0.01, 1.0);
        let (v, out) = (trace(&done, "v(in)"), trace(&done, "v(out)"));
        for k in 1..v.len() {
            assert!((out[k] - (-4.0 * v[k]).clamp(-2.0, 2.0)).abs() < 3e-5, "{gain} {k}");
        }
    }
}

/// A comparator is high or low as its inputs say.
#[test]
fn a_comparator_compares() {
    let mut circuit = Circuit::new("comparator");
    circuit.voltage_source("V1", ["a", "0"], Source::sine(1.0, 1.0));
    circuit.resistor("R1", ["a", "0"], 1.0);
    circuit.op_amp("X1", ["a", "0", "out"], OpAmpModel::ideal().between(0.0, 5.0));
    circuit.resistor("R2", ["out", "0"], 1.0);
    let done = run(&circuit, 1.0, 0.013, 1.0);
    let (v, out) = (trace(&done, "v(a)"), trace(&done, "v(out)"));
    for k in 1..v.len() {
        assert_eq!(out[k], if v[k] > 0.0 { 5.0 } else { 0.0 }, "{k}");
    }
}

/// A transistor in saturation, smooth and in pieces: `i = K/2 (v_GS − V_t)²` at the end of its range.
#[test]
fn a_transistor_conducts() {
    for polarity in [Polarity::N, Polarity::P] {
        let sign = if polarity == Polarity::N { 1.0 } else { -1.0 };
        for fidelity in [Fidelity::Smooth, Fidelity::PiecewiseLinear] {
            let model = MosModel::piecewise_linear(polarity, sign, 2e-3, 1.0);
            let mut circuit = Circuit::new("transistor");
            circuit.voltage_source("VD", ["d", "0"], 5.0 * sign);
            circuit.voltage_source("VG", ["g", "0"], 2.0 * sign);
            circuit.mos("M1", ["d", "g", "0", "0"], MosModel { fidelity, ..model });
            let (model, run) = run(&circuit, 1.0, 1.0, 1.0);
            let i = last(&model, &run, "i(M1)");
            assert!((i - sign * 1e-3).abs() < 1e-12, "{polarity:?} {fidelity:?}: {i}");
            assert_eq!(last(&model, &run, "id(M1)"), -last(&model, &run, "is(M1)"));
            assert_eq!(last(&model, &run, "ig(M1)"), 0.0);
        }
    }
}

/// Inverters without capacitors: the node between two transistors is found all the same.
#[test]
fn an_inverter_without_capacitors() {
    let mut circuit = Circuit::new("inverter");
    circuit.voltage_source("VDD", ["vdd", "0"], 3.0);
    circuit.voltage_source("V1", ["in", "0"], Source::lines([(0.0, 0.0), (1.0, 3.0)]));
    let n = MosModel::piecewise_linear(Polarity::N, 0.5, 1e-3, 2.5);
    let p = MosModel::piecewise_linear(Polarity::P, -0.5, 1e-3, 2.5);
    circuit.mos("MN", ["out", "in", "0", "0"], n);
    circuit.mos("MP", ["out", "in", "vdd", "vdd"], p);
    let done = run(&circuit, 1.0, 0.01, 1.0);
    let (v, out) = (trace(&done, "v(in)"), trace(&done, "v(out)"));
    for k in 1..v.len() {
        if v[k] < 0.5 {
            assert!((out[k] - 3.0).abs() < 1e-9, "{k}: {}", out[k]);
        }
        if v[k] > 2.5 {
            assert!(out[k].abs() < 1e-9, "{k}: {}", out[k]);
        }
        assert!(out[k] <= out[k - 1] + 1e-9 || k == 1, "{k}: {} {}", out[k - 1], out[k]);
    }
}

fn transistor(fidelity: Fidelity) -> BipolarModel {
    BipolarModel {
        fidelity,
        polarity: Polarity::N,
        forward_gain: 99.0,
        reverse_gain: 0.015 / 0.985,
        junction: DiodeModel::ideal().threshold(0.7),
        details: GummelPoon::default(),
    }
}

/// A common-emitter stage: `i_C = β i_B`, and saturation.
#[test]
fn a_bipolar_transistor_amplifies() {
    for (base, collector) in [(1e-5, 99.0 * 1e-5), (1e-3, 5.0 / 1e3)] {
        let mut circuit = Circuit::new("common emitter");
        circuit.voltage_source("VCC", ["vcc", "0"], 5.0);
        circuit.resistor("RC", ["vcc", "c"], 1e3);
        circuit.current_source("IB", ["0", "b"], base);
        circuit.bipolar("Q1", ["c", "b", "0"], transistor(Fidelity::Ideal));
        let (model, run) = run(&circuit, 1.0, 1.0, 1.0);
        assert!((last(&model, &run, "ic(Q1)") - collector).abs() < 1e-12);
        assert!((last(&model, &run, "ib(Q1)") - base).abs() < 1e-12);
        assert!((last(&model, &run, "v(b)") - 0.7).abs() < 1e-12);
        let sum = ["ic(Q1)", "ib(Q1)", "ie(Q1)"].map(|name| last(&model, &run, name));
        assert!(sum.iter().sum::<f64>().abs() < 1e-15);
    }
}

/// The same with exponential junctions, at rest: `v_BE = V_T ln(1 + i_C/I_s)`.
#[test]
fn a_smooth_bipolar_transistor() {
    let mut circuit = Circuit::new("common emitter");
    circuit.voltage_source("VCC", ["vcc", "0"], 5.0);
    circuit.resistor("RC", ["vcc", "c"], 1e3);
    circuit.current_source("IB", ["0", "b"], 1e-5);
    circuit.bipolar("Q1", ["c", "b", "0"], transistor(Fidelity::Smooth));
    let point = circuit.operating_point().unwrap();
    let (i, v) = ((5.0 - point.v("c").unwrap()) / 1e3, point.v("b").unwrap());
    assert!((i - 99e-5).abs() < 1e-9, "{i}");
    assert!((v - 0.02585 * (i / 1e-14).ln_1p()).abs() < 1e-6, "{v}");
}

/// Colpitts' oscillator with a piecewise-linear transistor swings, and stays bounded.
#[test]
fn colpitts_oscillator() {
    let mut circuit = Circuit::new("Colpitts");
    circuit.voltage_source("VCC", ["vcc", "0"], 10.0);
    circuit.voltage_source("VEE", ["vee", "0"], -20.0);
    circuit.resistor("RC", ["vcc", "l"], 10.0);
    let l = circuit.inductor("L1", ["l", "c"], 0.1);
    let c1 = circuit.capacitor("C1", ["c", "e"], 2.0);
    let c2 = circuit.capacitor("C2", ["e", "0"], 0.8);
    for k in [l, c1, c2] {
        circuit.start(k, 0.0);
    }
    circuit.resistor("RE", ["e", "vee"], 20.0);
    let mut model = transistor(Fidelity::Ideal);
    model.junction = DiodeModel::ideal();
    circuit.bipolar("Q1", ["c", "0", "e"], model);
    let done = run(&circuit, 1.0, 1e-3, 100.0);
    let (collector, emitter) = (trace(&done, "v(c)"), trace(&done, "v(e)"));
    // the junctions never conduct forwards beyond their threshold
    for k in 1..collector.len() {
        assert!(collector[k] >= -1e-9 && emitter[k] >= -1e-9 && collector[k] < 60.0, "{k}");
    }
    let currents = ["ic(Q1)", "ib(Q1)", "ie(Q1)", "i(L1)"].map(|name| trace(&done, name));
    for k in 1..collector.len() {
        let sum = currents[0][k] + currents[1][k] + currents[2][k];
        assert!(sum.abs() < 1e-9, "{k}: {sum}");
    }
}
