use saltus_circuits::{Control, Device, Fidelity, Polarity};

use crate::{circuit, device, message, node, warnings};

const THERMAL: f64 = 1.380649e-23 * 300.15 / 1.602176634e-19;

fn diode(card: &str, line: &str) -> saltus_circuits::DiodeModel {
    match device(&circuit(&format!("D1 a 0 dm {line}\n.model dm {card}")), "D1") {
        Device::Diode { model, .. } => model,
        other => panic!("{other:?}"),
    }
}

#[test]
fn diodes() {
    let plain = diode("D", "");
    assert_eq!(plain.fidelity, Fidelity::Ideal);
    assert_eq!((plain.threshold, plain.on_resistance, plain.breakdown), (0.0, 0.0, None));
    assert!((plain.thermal_voltage - THERMAL).abs() < 1e-15);

    let standard = diode("D(IS=1e-12 N=1.5 RS=0.1 CJO=2p BV=50)", "area=2");
    assert_eq!(standard.fidelity, Fidelity::Ideal);
    assert_eq!((standard.threshold, standard.on_resistance), (0.0, 0.05));
    assert_eq!((standard.saturation_current, standard.emission), (2e-12, 1.5));
    assert_eq!((standard.capacitance, standard.breakdown), (4e-12, Some(50.0)));

    let pwl = diode("D saltus=pwl is=1e-14", "");
    assert!((pwl.threshold - THERMAL * (1e-3f64 / 1e-14).ln_1p()).abs() < 1e-12);
    let given = diode("D(saltus=pwl vf=0.8 ron=10m)", "");
    assert_eq!((given.threshold, given.on_resistance), (0.8, 0.01));
    assert_eq!(diode("D(saltus=smooth)", "").fidelity, Fidelity::Smooth);
    let other = diode("D(Ron=1 Vfwd=0.4 Vrev=6)", "3");
    assert_eq!(
        (other.threshold, other.on_resistance, other.breakdown),
        (0.4, 1.0 / 3.0, Some(6.0))
    );
}

#[test]
fn overall_fidelity() {
    let c = circuit(
        "D1 a 0 dm\nD2 a 0 own\n.model dm D\n.model own D(saltus=ideal)\n.option saltus device=smooth\nM1 a b 0 0 mm\n.model mm nmos",
    );
    let fidelity = |name: &str| match device(&c, name) {
        Device::Diode { model, .. } => model.fidelity,
        Device::Mos { model, .. } => model.fidelity,
        other => panic!("{other:?}"),
    };
    assert_eq!(fidelity("D1"), Fidelity::Smooth);
    assert_eq!(fidelity("D2"), Fidelity::Ideal);
    assert_eq!(fidelity("M1"), Fidelity::Smooth);
}

#[test]
fn lines_of_our_own() {
    let c = circuit(
        "D1 a 0 dm\nD2 a 0 other\n.model dm D(is=1e-12)\n*saltus + saltus=pwl vf=0.7\n.model other D\n*saltus .option saltus device=smooth",
    );
    let diode = |name: &str| match device(&c, name) {
        Device::Diode { model, .. } => (model.fidelity, model.threshold),
        other => panic!("{other:?}"),
    };
    assert_eq!(diode("D1"), (Fidelity::PiecewiseLinear, 0.7));
    assert_eq!(diode("D2"), (Fidelity::Smooth, 0.0));
}

#[test]
fn switches() {
    let c = circuit(
        "V1 g 0 1\nS1 a b g 0 sw1 ON\nS2 a b (g,0) sw2\nW1 a b V1 csw1 off\nS3 a b g 0 sw3\nS4 a b g 0 sw4\n.model sw1 SW(vt=1 vh=0.2 ron=1m roff=1meg)\n\
         .model sw2 vswitch(von=3 voff=1)\n.model csw1 CSW(it=1m)\n.model sw3 sw(saltus=ideal vt=2)\n.model sw4 vswitch(von=1 voff=2 roff=1g)",
    );
    let switch = |name: &str| match device(&c, name) {
        Device::Switch { control, model, closed, .. } => {
            let resistances = [model.on_resistance, model.off_resistance];
            (control, [model.threshold, model.hysteresis], resistances, closed)
        }
        other => panic!("{other:?}"),
    };
    let gate = Control::Voltage([node(&c, "g"), node(&c, "0")]);
    assert_eq!(switch("S1"), (gate, [1.0, 0.2], [1e-3, 1e6], Some(true)));
    assert_eq!(switch("S2"), (gate, [2.0, 1.0], [1.0, 1e6], None));
    let current = Control::Current(c.find("V1").unwrap());
    assert_eq!(switch("W1"), (current, [1e-3, 0.0], [1.0, 1e12], Some(false)));
    assert_eq!(switch("S3"), (gate, [2.0, 0.0], [0.0, f64::INFINITY], None));
    // it closes below
    assert_eq!(switch("S4"), (gate, [1.5, -0.5], [1.0, 1e9], None));
}

/// What PSpice's switches are where nothing is said: on at 1 V or 1 mA, off at 0. With a threshold they are
/// SPICE's.
#[test]
fn switches_of_pspice() {
    let c = circuit(
        "V1 g 0 1\nS1 a b g 0 s1\nW1 a b V1 w1\nW2 a b V1 w2\nS2 a b g 0 s2\nW3 a b V1 w3\nS3 a b g 0 s3\n\
         .model s1 VSWITCH\n.model w1 ISWITCH\n.model w2 ISWITCH(ioff=3m)\n.model s2 VSWITCH(vt=2 vh=0.5)\n.model w3 CSW\n.model s3 SW(voff=-1)",
    );
    let switch = |name: &str| match device(&c, name) {
        Device::Switch { model, .. } => {
            [model.threshold, model.hysteresis, model.on_resistance, model.off_resistance]
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(switch("S1"), [0.5, 0.5, 1.0, 1e6]);
    assert_eq!(switch("W1"), [0.5e-3, 0.5e-3, 1.0, 1e6]);
    assert_eq!(switch("W2"), [2e-3, -1e-3, 1.0, 1e6]);
    assert_eq!(switch("S2"), [2.0, 0.5, 1.0, 1e12]);
    assert_eq!(switch("W3"), [0.0, 0.0, 1.0, 1e12]);
    assert_eq!(switch("S3"), [0.0, 1.0, 1.0, 1e6]);
}

#[test]
fn field_effect_transistors() {
    let c = circuit(
        "M1 d g 0 0 nm W=20u L=2u m=3\nM2 d g s b pm\nM3 d g 0 0 sm\nM4 d g s vd\nM5 d g s s psw\n.model psw pmos(vto=-1.5 saltus=ideal)\nR1 d g 1\nR2 s b 1\n\
         .model nm NMOS(LEVEL=1 VTO=0.7 KP=50u LAMBDA=0.02 CGSO=1n CGDO=2n CGBO=3n CBD=4p)\n\
         .model pm PMOS(vto=-0.8 kp=20u w=10u l=1u body=0)\n.model sm nmos(vto=2 ron=5m saltus=ideal vf=0.8 cgso=1n)\n\
         .model vd VDMOS(pchan vto=-3 kp=10 rd=0.1 rs=0.2 is=1n cgs=1n bv=60)",
    );
    let mos = |name: &str| match device(&c, name) {
        Device::Mos { nodes, model } => (nodes, model),
        other => panic!("{other:?}"),
    };
    let (_, m1) = mos("M1");
    assert_eq!((m1.fidelity, m1.polarity), (Fidelity::PiecewiseLinear, Polarity::N));
    assert_eq!((m1.threshold, m1.modulation), (0.7, 0.02));
    assert!((m1.strength - 50e-6 * 10.0 * 3.0).abs() < 1e-15);
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12 * expected;
    assert!(close(m1.capacitances[0], 60e-15) && close(m1.capacitances[1], 120e-15));
    assert!(close(m1.capacitances[2], 18e-15));
    assert!(close(m1.body.unwrap().capacitance, 4e-12));
    let (_, m2) = mos("M2");
    assert_eq!((m2.polarity, m2.threshold, m2.body), (Polarity::P, -0.8, None));
    assert!(close(m2.strength, 2e-4));
    assert!(matches!(
        device(&c, "M3"),
        Device::Switch { model, control: Control::Voltage(nodes), .. }
            if model.threshold == 2.0 && model.on_resistance == 5e-3
                && nodes == [node(&c, "g"), node(&c, "0")]
    ));
    assert!(matches!(
        device(&c, "M3.body"),
        Device::Diode { between, model } if between == [node(&c, "0"), node(&c, "d")] && model.threshold == 0.8
    ));
    assert!(matches!(device(&c, "M3.cgs"), Device::Capacitor { .. }));
    assert!(matches!(
        device(&c, "M5"),
        Device::Switch { model, control: Control::Voltage(nodes), .. }
            if model.threshold == 1.5 && nodes == [node(&c, "s"), node(&c, "g")]
    ));
    assert!(matches!(
        device(&c, "M5.body"),
        Device::Diode { between, .. } if between == [node(&c, "d"), node(&c, "s")]
    ));
    let (nodes, m4) = mos("M4");
    assert_eq!((m4.polarity, m4.threshold, m4.strength), (Polarity::P, -3.0, 10.0));
    assert_eq!(nodes[0], node(&c, "M4.drain"));
    assert_eq!([nodes[2], nodes[3]], [node(&c, "M4.source"); 2]);
    assert_eq!(m4.body.unwrap().breakdown, Some(60.0));
    assert!(matches!(device(&c, "M4.rdrain"), Device::Resistor { resistance: 0.1, .. }));
}

#[test]
fn mobility_gives_the_strength() {
    let c = circuit("M1 a a 0 0 m\n.model m nmos(uo=600 tox=100n)");
    let expected = 600e-4 * 3.9 * 8.8541878128e-12 / 100e-9;
    assert!(
        matches!(device(&c, "M1"), Device::Mos { model, .. } if (model.strength - expected).abs() < 1e-18)
    );
}

#[test]
fn bipolar_transistors() {
    let c = circuit(
        "Q1 c b e qn\nQ2 c b e 0 qp 2\nQ3 1 2 3 qn\nR1 c b 1\nR2 e 1 1\nR3 2 3 1\n.model qn NPN(BF=200 IS=1e-15 RB=10)\n.model qp PNP(bf=50 br=2 saltus=pwl vf=0.6)",
    );
    let bipolar = |name: &str| match device(&c, name) {
        Device::Bipolar { nodes, model } => (nodes, model),
        other => panic!("{other:?}"),
    };
    let (nodes, q1) = bipolar("Q1");
    assert_eq!(nodes[1], node(&c, "Q1.base"));
    assert_eq!((q1.forward_gain, q1.reverse_gain, q1.polarity), (200.0, 1.0, Polarity::N));
    let (_, q2) = bipolar("Q2");
    assert_eq!((q2.forward_gain, q2.reverse_gain, q2.polarity), (50.0, 2.0, Polarity::P));
    assert_eq!((q2.junction.threshold, q2.junction.saturation_current), (0.6, 2e-16));
    assert_eq!(bipolar("Q3").0[0], node(&c, "1"));
}

#[test]
fn amplifiers_and_transformers() {
    let c = circuit(
        "X1 p m out op\nX2 p m c cmp\nX3 p m s 0 tr\n.model op opamp(gain=1e4 low=-5 high=5 offset=1m)\n\
         .model cmp comparator(low=0 high=3.3)\n.model tr transformer(ratio=10)\n.model ideal opamp\nX4 p m i ideal\nR1 out c 1\nR2 s i 1",
    );
    let amplifier = |name: &str| match device(&c, name) {
        Device::OpAmp { model, .. } => [model.gain, model.offset, model.low, model.high],
        other => panic!("{other:?}"),
    };
    assert_eq!(amplifier("X1"), [1e4, 1e-3, -5.0, 5.0]);
    assert_eq!(amplifier("X2"), [f64::INFINITY, 0.0, 0.0, 3.3]);
    assert_eq!(amplifier("X4"), [f64::INFINITY, 0.0, f64::NEG_INFINITY, f64::INFINITY]);
    assert!(matches!(device(&c, "X3"), Device::Transformer { ratio: 10.0, .. }));
}

#[test]
fn parameters_without_effect() {
    assert_eq!(
        warnings(
            "D1 a 0 dm\n.model dm D(IS=1f VJ=0.7 M=0.5 TT=0 tnom=27)\n.model unused D(nonsense=3)"
        ),
        ["a.cir:3:8: model `dm`: `VJ`, `M` have no effect"]
    );
    assert_eq!(
        warnings("Q1 a b 0 qm\nR1 a b 1\n.model qm NPN(VAF=100 NR=1.1)"),
        ["a.cir:4:8: model `qm`: `VAF`, `NR` have no effect"]
    );
}

#[test]
fn wrong_models() {
    for (lines, expected) in [
        (
            "D1 a 0 dm\n.model dm D(ISS=1)",
            "a.cir:3:13: model `dm` of the type `D` has no parameter `ISS`; did you mean `is`?",
        ),
        (
            "D1 a 0 dm\n.model dm D(IS=-1)",
            "a.cir:3:13: parameter `is` of the model `dm` is -1, expected more than 0",
        ),
        ("D1 a 0 dn\n.model dm D", "a.cir:2:8: unknown model `dn`; did you mean `dm`?"),
        ("D1 a 0 sm\n.model sm SW", "a.cir:2:8: model `sm` is of the type `SW`, expected `D`"),
        (
            "S1 a 0 b 0 sm\n.model sm D",
            "a.cir:2:12: model `sm` is of the type `D`, expected `SW` or `CSW`",
        ),
        (
            "Q1 a b 0 sm\n.model sm D",
            "a.cir:2:10: model `sm` is of the type `D`, expected `NPN` or `PNP`",
        ),
        (
            "M1 a b 0 0 sm\n.model sm D",
            "a.cir:2:12: model `sm` is of the type `D`, expected `NMOS`, `PMOS` or `VDMOS`",
        ),
        (
            "X1 a b 0 sm\n.model sm D",
            "a.cir:2:10: model `sm` is of the type `D`, expected `opamp`, `comparator` or `transformer`, or a subcircuit",
        ),
        ("X1 a b sm\n.model sm opamp", "a.cir:2:1: model `sm` has 3 nodes, found 2"),
        (
            "M1 a b 0 0 m3\n.model m3 NMOS(LEVEL=3 K1=0.5)",
            "a.cir:3:16: `m3` of `M1` is a model of level 3, which is not supported: expected level 1",
        ),
        (
            "M1 a b 0 mm\n.model mm NMOS",
            "a.cir:2:1: a transistor of the model `mm` has 4 nodes, found 3",
        ),
        (
            "M1 a b 0 0 mm L=0\n.model mm NMOS",
            "a.cir:2:1: the length of `M1` is 0, expected more than 0",
        ),
        ("D1 a 0 dm\n.model dm E", "a.cir:3:11: unknown type of model `E`"),
        (
            "D1 a 0 dm\n.model dm D(saltus=exact)",
            "a.cir:3:20: expected `ideal`, `pwl` or `smooth`, found `exact`",
        ),
        (
            "D1 a 0 dm\n.model dm D(IS=inf)",
            "a.cir:3:13: parameter `is` of the model `dm` is inf, expected a finite number",
        ),
        (
            "S1 a 0 b 0 sm\n.model sm SW(vh=-1)",
            "a.cir:3:14: parameter `vh` of the model `sm` is -1, expected at least 0",
        ),
        (
            "S1 a 0 b 0 sm\n.model sm vswitch(von=1 voff=1 saltus=smooth)",
            "a.cir:3:19: parameter `von` of the model `sm` is 1, expected another value than `voff` of a smooth switch",
        ),
        (
            "V1 b 0 1\nW1 a 0 V1 sm\n.model sm iswitch(ion=1m ioff=1m saltus=smooth)",
            "a.cir:4:19: parameter `ion` of the model `sm` is 0.001, expected another value than `ioff` of a smooth switch",
        ),
        (
            "X1 a b c om\n.model om opamp(low=1 high=0)",
            "a.cir:3:23: parameter `high` of the model `om` is 0, expected more than `low`",
        ),
        (
            "X1 a b c d tm\n.model tm transformer(ratio=0)",
            "a.cir:3:23: parameter `ratio` of the model `tm` is 0, expected a finite number other than 0",
        ),
    ] {
        assert_eq!(message(lines), expected);
    }
}
