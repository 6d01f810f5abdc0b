//! Circuits that are refused, each with the names of what is wrong.

use saltus_circuits::{
    Circuit, Control, Coupling, Device, DiodeModel, MosModel, Node, OpAmpModel, Place, Polarity,
    Source,
};

/// A table of circuits and what is said about them.
#[test]
fn ill_posed_circuits_are_named() {
    type Build = fn(&mut Circuit);
    let cases: &[(Build, &str)] = &[
        (|_| {}, "the circuit has no component"),
        (
            |c| {
                c.voltage_source("V1", ["a", "0"], 1.0);
                c.voltage_source("V2", ["a", "b"], 1.0);
                c.voltage_source("V3", ["b", "0"], 1.0);
                c.resistor("R1", ["a", "0"], 1.0);
            },
            "a loop of voltage sources: `V3`, `V1`, `V2`; their sum may be anything but zero",
        ),
        (
            |c| {
                c.voltage_source("V1", ["a", "0"], 1.0);
                let k = c.capacitor("C1", ["a", "0"], 1.0);
                c.start(k, 3.0);
            },
            "`C1` starts at 3, but `V1` give 1",
        ),
        (
            |c| {
                for (name, value) in [("C1", 1.0), ("C2", 2.0)] {
                    let k = c.capacitor(name, ["a", "0"], 1.0);
                    c.start(k, value);
                }
            },
            "`C2` starts at 2, but `C1` give 1",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                c.amplify("E1", ["a", "0"], ["b", "0"], 2.0);
            },
            "node `b` floats: `E1` reads its voltage, but no current flows to it",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                c.resistor("R2", ["b", "c"], 1.0);
                c.capacitor("C2", ["b", "c"], 1.0);
            },
            "nodes `b`, `c` have no way to ground: connect one of them",
        ),
        (
            |c| {
                c.current_source("I1", ["0", "a"], 1.0);
                c.current_source("I2", ["a", "b"], 1.0);
                c.resistor("R1", ["b", "0"], 1.0);
            },
            "a cut-set of current sources: nothing but `I1`, `I2` feeds nodes `a`",
        ),
        (
            |c| {
                c.current_source("I1", ["0", "a"], 2.0);
                c.diode("D1", ["0", "a"], DiodeModel::ideal());
            },
            "`D1` cannot carry -2 A: it is the only way for the current, and blocks it",
        ),
        (
            |c| {
                c.current_source("I1", ["0", "a"], Source::sine(1.0, 50.0));
                let k = c.inductor("L1", ["a", "b"], 1.0);
                c.start(k, 0.5);
                c.resistor("R1", ["b", "0"], 1.0);
            },
            "`L1` starts at 0.5, but `I1` give 0",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                c.resistor("R2", ["a", "A"], 1.0);
            },
            "`R2` has both ends at node `a`",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 0.0);
            },
            "`R1`: `resistance` is 0, expected not zero (a source of 0 V is a wire)",
        ),
        (
            |c| {
                c.capacitor("C1", ["a", "0"], 0.0);
            },
            "`C1`: `capacitance` is 0, expected (0, inf)",
        ),
        (
            |c| {
                c.capacitor("C1", ["a", "0"], -1e-6);
            },
            "`C1`: `capacitance` is -0.000001, expected (0, inf)",
        ),
        (
            |c| {
                c.inductor("L1", ["a", "0"], -1.0);
            },
            "`L1`: `inductance` is -1, expected (0, inf)",
        ),
        (
            |c| {
                c.inductor("L1", ["a", "0"], f64::NAN);
            },
            "`L1`: `inductance` is NaN, expected (0, inf)",
        ),
        (|c| couple(c, &[(0, 1, 1.5)]), "`K0`: `coefficient` is 1.5, expected [-1, 1] and not 0"),
        (
            |c| couple(c, &[(0, 1, 0.9), (1, 2, 0.9), (0, 2, -0.9)]),
            "coupling `K2`: the coefficients of `L0`, `L1`, `L2` together would give energy away",
        ),
        (|c| couple(c, &[(0, 0, 0.9)]), "`K0` refers to `L0`, expected two different inductors"),
        (|c| couple(c, &[(0, 3, 0.9)]), "`K0` refers to `R1`, expected an inductor"),
        (|c| couple(c, &[(0, 9, 0.9)]), "`K0` refers to component 9; the circuit has 4"),
        (
            |c| {
                c.voltage_source("V1", ["in", "0"], 1.0);
                c.resistor("R1", ["in", "minus"], 1.0);
                c.resistor("R2", ["out", "0"], 1.0);
                c.op_amp("X1", ["0", "minus", "out"], OpAmpModel::ideal());
            },
            "`X1` is not determined: an ideal amplifier needs a way back from its output to its inputs (with `R2`)",
        ),
        (
            |c| {
                c.amplify("E1", ["a", "0"], ["b", "0"], 2.0);
                c.amplify("E2", ["b", "0"], ["a", "0"], 0.5);
                c.resistor("R1", ["a", "b"], 1.0);
            },
            "`E1` is not determined: the equations of controlled sources and resistors contradict each other, or leave it free (with `E2`, `R1`)",
        ),
        (
            |c| {
                c.voltage_source("V1", ["a", "0"], 1.0);
                c.amplify("E1", ["a", "0"], ["a", "0"], 2.0);
            },
            "a loop of voltage sources: `E1`, `V1`; their sum may be anything but zero",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                let between = [Node(1), Node(0)];
                let control = Control::Current(7);
                c.add("F1", Device::ControlledCurrent { between, control, gain: 1.0 });
            },
            "`F1` refers to component 7; the circuit has 2",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                c.add("R2", Device::Resistor { between: [Node(1), Node(5)], resistance: 1.0 });
            },
            "`R2` is connected to node 5; the circuit has 2",
        ),
        (
            |c| {
                c.resistor("R1", ["a", "0"], 1.0);
                c.capacitor("r1", ["a", "0"], 1.0);
            },
            "`R1` and `r1` have the same name",
        ),
        (
            |c| {
                c.voltage_source("V1", ["a", "0"], 5.0);
                c.resistor("R1", ["a", "0"], 1.0);
                c.initial.push((Node(1), 3.0));
            },
            "the initial voltages of nodes contradict each other, sources, or `ic=` of capacitors, at node `a`: 3 was asked, 5 is there",
        ),
        (
            |c| {
                c.op_amp("X1", ["a", "0", "b"], OpAmpModel::ideal().between(0.0, 5.0));
                c.capacitor("C1", ["b", "0"], 1.0);
                c.resistor("R1", ["a", "b"], 1.0);
            },
            "`C1` closes a loop with `X1`, whose value is not a function of states and sources: put a small resistor in between",
        ),
        (
            |c| {
                c.diode("D1", ["a", "0"], DiodeModel::ideal().breakdown(-1.0));
            },
            "`D1`: `breakdown` is -1, expected above minus the threshold",
        ),
        (
            |c| {
                let model = MosModel::piecewise_linear(Polarity::N, 1.0, 0.0, 1.0);
                c.mos("M1", ["a", "a", "0", "0"], model);
            },
            "`M1`: `strength` is 0, expected (0, inf)",
        ),
        (
            |c| {
                c.op_amp("X1", ["a", "0", "a"], OpAmpModel::ideal().between(5.0, 0.0));
            },
            "`X1`: `low` is 5, expected below `high`",
        ),
        (
            |c| {
                c.voltage_source("V1", ["a", "0"], Source::lines([(1.0, 0.0), (0.0, 1.0)]));
            },
            "`V1`: `points` is 0, expected times in ascending order",
        ),
        (
            |c| {
                let node = c.node("a");
                let formula = "v(b)*2".to_string();
                c.add("B1", Device::BehavioralVoltage { between: [node, Node(0)], formula });
            },
            "`B1`: there is no node `b`",
        ),
    ];
    let mut wrong = Vec::new();
    for (k, (build, expected)) in cases.iter().enumerate() {
        let mut circuit = Circuit::new("ill-posed");
        build(&mut circuit);
        let found =
            circuit.model().map_or_else(|error| error.to_string(), |_| "a model".to_string());
        if found != *expected {
            wrong.push((k, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases.len() >= 30);
}

/// Three inductors, a resistor, and couplings of the first three.
fn couple(circuit: &mut Circuit, pairs: &[(usize, usize, f64)]) {
    for k in 0..3 {
        circuit.inductor(&format!("L{k}"), ["a", "0"], 1.0);
    }
    circuit.resistor("R1", ["a", "0"], 1.0);
    for (k, &(a, b, coefficient)) in pairs.iter().enumerate() {
        let (name, inductors) = (format!("K{k}"), [a, b]);
        circuit.couplings.push(Coupling { name, inductors, coefficient, place: None });
    }
}

/// Components that come from a file are named with their place.
#[test]
fn places_are_told() {
    let mut circuit = Circuit::new("placed");
    let k = circuit.resistor("R1", ["a", "0"], 0.0);
    let place = Place { file: "deck.cir".to_string(), line: 3, column: 1 };
    circuit.components[k].place = Some(place);
    let error = circuit.model().map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("`R1` (deck.cir:3:1): "), "{error}");
}

/// Signals that are not there.
#[test]
fn unknown_signals_are_named() {
    let mut circuit = Circuit::new("signals");
    circuit.voltage_source("V1", ["out", "0"], 1.0);
    circuit.resistor("Rload", ["out", "0"], 1.0);
    let model = circuit.model().unwrap();
    for (name, expected) in [
        ("v(ou)", "signal `v(ou)`: there is no node `ou`; did you mean `out`?"),
        ("i(Rlod)", "signal `i(Rlod)`: there is no component `Rlod`; did you mean `Rload`?"),
        ("out", "`out` is not a signal; write for example `v(out)`, `v(a, b)` or `i(L1)`"),
    ] {
        assert_eq!(model.signal(name).map(|_| ()).unwrap_err().to_string(), expected);
    }
    assert!(model.signal("V(OUT, gnd)").is_ok());
}
