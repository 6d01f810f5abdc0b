//! What netlists written for ngspice and PSpice have beside the plain grammar.

use saltus_circuits::{Device, Node, Source};

use crate::{circuit, deck, device, node, warnings};

fn resistance(circuit: &saltus_circuits::Circuit, name: &str) -> f64 {
    match device(circuit, name) {
        Device::Resistor { resistance, .. } => resistance,
        other => panic!("{other:?}"),
    }
}

fn capacitance(circuit: &saltus_circuits::Circuit, name: &str) -> f64 {
    match device(circuit, name) {
        Device::Capacitor { capacitance, .. } => capacitance,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn models_of_resistors_and_capacitors() {
    let c = circuit(
        "R1 a 0 sheet w=4u l=20u\nR2 a 0 sheet l=20u m=2\nR3 a 0 fixed\nR4 a 0 fixed 5\nR5 a 0 7 fixed\nR6 a 0 p\n\
         C1 a 0 plate w=3u l=11u\nC2 a 0 cap\nR7 a 0 10 scale=1k\nR8 a 0 2 tc=0.1,0.01\nR9 a 0 warm 1\nR10 a 0 1 tc1=0.5 temp=29\n\
         R11 a 0 1 tc1=0.5 dtemp=1\nR12 a 0 grows 3\n.param p=12\n.temp 37\n\
         .model sheet R rsh=100 narrow=1u\n.model fixed R(r=77)\n.model plate C(cj=2e-4 cjsw=1e-10 narrow=1u short=1u)\n\
         .model cap C cap=5n\n.model warm RES tc1=0.2 tnom=32\n.model grows R tce=10",
    );
    near(resistance(&c, "R1"), 100.0 * 20.0 / 2.0);
    near(resistance(&c, "R2"), 100.0 * 20.0 / 8.0 / 2.0);
    near(resistance(&c, "R3"), 77.0);
    near(resistance(&c, "R4"), 5.0);
    near(resistance(&c, "R5"), 7.0);
    near(resistance(&c, "R6"), 12.0);
    near(capacitance(&c, "C1"), 2e-4 * 2e-6 * 10e-6 + 2.0 * 1e-10 * 12e-6);
    near(capacitance(&c, "C2"), 5e-9);
    near(resistance(&c, "R7"), 1e4);
    near(resistance(&c, "R8"), 2.0 * (1.0 + 0.1 * 10.0 + 0.01 * 100.0));
    near(resistance(&c, "R9"), 1.0 + 0.2 * 5.0);
    near(resistance(&c, "R10"), 1.0 + 0.5 * 2.0);
    near(resistance(&c, "R11"), 1.0 + 0.5 * 11.0);
    near(resistance(&c, "R12"), 3.0 * 1.01_f64.powf(100.0));
}

#[test]
fn resistances_that_are_formulas() {
    let c = circuit(
        "R1 a b R={1+v(c)^2} m=2\nR2 a 0 {time<1m ? 1 : 2}\nR3 c 0 1\nR4 b 0 {2*p}\n.param p=4",
    );
    let Device::BehavioralCurrent { formula, between } = device(&c, "R1") else { panic!() };
    assert_eq!(formula, "2.0*v(a, b)/(1.0 + v(c)^2.0)");
    assert_eq!(between, [node(&c, "a"), node(&c, "b")]);
    assert!(matches!(device(&c, "R2"), Device::BehavioralCurrent { .. }));
    near(resistance(&c, "R4"), 8.0);
}

/// A resistance of 1 Ω/V² · v² across a source of 2 V takes 1/2 A.
#[test]
fn the_current_of_a_resistance_that_is_a_formula() {
    let c = circuit("V1 a 0 2\nR1 a 0 {v(a)^2}");
    let point = c.operating_point().unwrap();
    assert!((point.i("R1").unwrap() - 0.5).abs() < 1e-9, "{:?}", point.i("R1"));
}

#[test]
fn parentheses_in_sources() {
    let c = circuit(
        "V1 a 0 0.5v (PWL 0 1 1m 2) (AC 1v)\nV2 b 0 PWL (0 5v) (1n 0) (2n 3)\nV3 c 0 DC PWL(0 0 10 10)\nV4 d 0 0v (PULSE 0 4 0 1n 1n 9n 20n)\nI1 e 0 (3)",
    );
    let points = |name: &str| match device(&c, name) {
        Device::VoltageSource { source: Source::PiecewiseLinear { points, .. }, .. } => points,
        other => panic!("{other:?}"),
    };
    assert_eq!(points("V1"), [(0.0, 1.0), (1e-3, 2.0)]);
    assert_eq!(points("V2"), [(0.0, 5.0), (1e-9, 0.0), (2e-9, 3.0)]);
    assert_eq!(points("V3"), [(0.0, 0.0), (10.0, 10.0)]);
    assert!(matches!(
        device(&c, "V4"),
        Device::VoltageSource { source: Source::Pulse { high: 4.0, period: 20e-9, .. }, .. }
    ));
    assert!(matches!(device(&c, "I1"), Device::CurrentSource { source: Source::Dc(3.0), .. }));
}

#[test]
fn parentheses_of_tables() {
    let c = circuit(
        "G1 a 0 TABLE {v(a)} ((0,0)(1,2))(3,5))\nG2 a 0 TABLE {v(a)} = 0 0 1 2 m=2\nG3 a 0 TABLE {v(a)} ((0,0)((1,2))",
    );
    let formula = |name: &str| match device(&c, name) {
        Device::BehavioralCurrent { formula, .. } => formula,
        other => panic!("{other:?}"),
    };
    assert_eq!(formula("G1"), "table(v(a), 0.0, 0.0, 1.0, 2.0, 3.0, 5.0)");
    assert_eq!(formula("G2"), "2.0*table(v(a), 0.0, 0.0, 1.0, 2.0)");
    assert_eq!(formula("G3"), "table(v(a), 0.0, 0.0, 1.0, 2.0)");
}

#[test]
fn not_and_the_largest_of_one() {
    let c = circuit("B1 a 0 V={~(1 & 0) + ~1}\nR1 a 0 {max(7)}\nR2 a 0 {min(3)}");
    assert!(matches!(device(&c, "B1"), Device::VoltageSource { source: Source::Dc(1.0), .. }));
    near(resistance(&c, "R1"), 7.0);
    near(resistance(&c, "R2"), 3.0);
}

#[test]
fn models_like_others() {
    let c = circuit(
        "Q1 c b e first\nQ2 c b e second\nQ3 c b e third\n.model third AKO: second NPN(bf=7)\n.model first NPN(bf=50 br=2)\n.model second AKO:first NPN(br=3)",
    );
    let gains = |name: &str| match device(&c, name) {
        Device::Bipolar { model, .. } => [model.forward_gain, model.reverse_gain],
        other => panic!("{other:?}"),
    };
    assert_eq!([gains("Q1"), gains("Q2"), gains("Q3")], [[50.0, 2.0], [50.0, 3.0], [7.0, 3.0]]);
}

#[test]
fn the_substrate_of_a_transistor() {
    let c = circuit("Q1 c b e s m\nQ2 c b e m\n.model m NPN(cjs=1p saltus=smooth)");
    let ends = |name: &str| match device(&c, name) {
        Device::Capacitor { between, .. } => between,
        other => panic!("{other:?}"),
    };
    assert_eq!(ends("Q1.csubstrate"), [node(&c, "c"), node(&c, "s")]);
    assert_eq!(ends("Q2.csubstrate"), [node(&c, "c"), Node::GROUND]);
}

#[test]
fn ports_that_may_be_left_out() {
    let c = circuit(
        "X1 a sub\nX2 a b sub\nV1 $G_SUP 0 5\n.subckt sub in optional: sup=$G_SUP params: r=2\nR1 in sup {r}\n.ends\n",
    );
    let ends = |name: &str| match device(&c, name) {
        Device::Resistor { between, .. } => between,
        other => panic!("{other:?}"),
    };
    assert_eq!(ends("X1.R1"), [node(&c, "a"), node(&c, "$G_SUP")]);
    assert_eq!(ends("X2.R1"), [node(&c, "a"), node(&c, "b")]);
}

#[test]
fn models_of_other_types_may_have_anything() {
    let c = circuit(
        "R1 a 0 1\n.model o d_osc(cntl_array=[1 2 3]\n+ file=\"a b\")\n.model n numd level=1\n+ *** x ***\n+ + char.l=0.04",
    );
    assert_eq!(c.components.len(), 1);
    // a version is a word
    assert!(warnings("R1 a 0 1\n.model m nmos level=54 version=4.5.0").is_empty());
}

#[test]
fn an_end_of_another_name() {
    assert_eq!(
        warnings("R1 a 0 1\n.subckt sub a b\n.ends bus"),
        ["a.cir:4:7: `.ends bus` closes the subcircuit `sub`, which is the one that is open"]
    );
}

#[test]
fn a_control_character_at_the_end() {
    assert_eq!(circuit("R1 a 0 1\n\u{1a}").components.len(), 1);
}

/// Of a script the first run counts: `tran` before `run`, or the card where `run` comes first.
#[test]
fn the_first_run_of_a_script() {
    let stop = |lines: &str| deck(lines).analysis().unwrap().tran.unwrap().stop;
    let script = "R1 a 0 1\n.param t=2m\n.csparam t={t}\n.control\nlet d = t/100\ntran $&d $&t uic\nalter R1=3\nlet d = 7\ntran $&d 7\n.endc";
    let deck = deck(script);
    let tran = deck.analysis().unwrap().tran.unwrap();
    assert_eq!((tran.step, tran.stop, tran.uic), (2e-5, 2e-3, true));
    let texts: Vec<String> = deck.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "a.cir:8:1: `alter` has no effect",
            "a.cir:9:5: `let d` has no effect",
            "a.cir:10:1: `tran` is not run: of a script the first run counts",
        ]
    );
    let card = "R1 a 0 1\n.tran 1m 5m\n.control\n";
    assert_eq!(stop(&format!("{card}run\ntran 1m 9m\n.endc")), 5e-3);
    assert_eq!(stop(&format!("{card}tran 1m 9m\nrun\n.endc")), 9e-3);
    assert_eq!(stop("R1 a 0 1\n.control\nrun\ntran 1m 9m\n.endc"), 9e-3);
}

/// What a script plots of its own vectors is left out, with a warning.
#[test]
fn vectors_that_only_a_script_knows() {
    let lines = "R1 a 0 1\nX1 a s\n.subckt s p\nR1 p 0 1\n.ends\n.control\nrun\nplot v(a) db(v(a)) tran1.v(a) x1.p nothing i(R1)\n.endc";
    let a = deck(lines).analysis().unwrap();
    let names: Vec<&str> = a.outputs.iter().map(|signal| signal.text.as_str()).collect();
    assert_eq!(names, ["v(a)", "v(x1.p)", "i(R1)"]);
}
