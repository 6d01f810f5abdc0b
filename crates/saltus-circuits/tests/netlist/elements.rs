use saltus_circuits::{Control, Device, Node, Source};

use crate::{circuit, device, node, warnings};

#[test]
fn passive() {
    let c = circuit(
        "R1 a b 1k\nr2 A 0 R=2.2kohm\nR3 a gnd {1/2}\nR4 a 0 '1k + 2*3' m=2\nR5 a 0 rl tc1=1m\n.param rl=7\n\
         C1 a b 10uF ic=5\nC2 a b C={1n} m=3\nL1 b 0 1mH IC=-2\nL2 a 0 L=4m\nL3 a 0 9m\nK1 L1 L2 0.5\nK2 L1 L2 L3 {1/4}",
    );
    assert_eq!(c.nodes, ["0", "a", "b"]);
    let (a, b) = (Node(1), Node(2));
    let r = |between, resistance| Device::Resistor { between, resistance };
    assert_eq!(device(&c, "R1"), r([a, b], 1e3));
    assert_eq!(device(&c, "R2"), r([a, Node::GROUND], 2.2e3));
    assert_eq!(device(&c, "R3"), r([a, Node::GROUND], 0.5));
    assert_eq!(device(&c, "R4"), r([a, Node::GROUND], 503.0));
    assert_eq!(device(&c, "R5"), r([a, Node::GROUND], 7.0));
    let capacitor =
        |capacitance, initial| Device::Capacitor { between: [a, b], capacitance, initial };
    assert_eq!(device(&c, "C1"), capacitor(10e-6, Some(5.0)));
    assert_eq!(device(&c, "C2"), capacitor(3.0 * 1e-9, None));
    let l1 = Device::Inductor { between: [b, Node::GROUND], inductance: 1e-3, initial: Some(-2.0) };
    assert_eq!(device(&c, "L1"), l1);
    let couplings: Vec<_> =
        c.couplings.iter().map(|k| (k.name.as_str(), k.inductors, k.coefficient)).collect();
    let [l1, l2, l3] = ["L1", "L2", "L3"].map(|name| c.find(name).unwrap());
    assert_eq!(
        couplings,
        [
            ("K1", [l1, l2], 0.5),
            ("K2(L1, L2)", [l1, l2], 0.25),
            ("K2(L1, L3)", [l1, l3], 0.25),
            ("K2(L2, L3)", [l2, l3], 0.25),
        ]
    );
    let place = c.components[1].place.clone().unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("a.cir", 3, 1));
}

#[test]
fn initial_values() {
    let c = circuit("L1 a b 1m ic=5\nC1 b 0 1\n.ic v(a)={x} V(b) = -2 I(L1)=5\n.param x=3");
    assert_eq!(c.initial, [(node(&c, "a"), 3.0), (node(&c, "b"), -2.0)]);
    assert!(matches!(device(&c, "L1"), Device::Inductor { initial: Some(5.0), .. }));
}

#[test]
fn sources() {
    let c = circuit(
        "V1 a 0 5\nV2 b 0 DC 3 AC 1 90\nV3 c 0\nV4 d 0 PULSE(0 5 1u 1n 2n 5u 10u 7)\n\
         V5 e 0 pulse 0 {vh} 0 0 0 5u 10u\n+ ac 1\nV6 f 0 SIN(1 2 1k 1m 3 90) DC 4\n\
         V7 g 0 EXP(0 1 1m 2m 3m 4m)\nV8 h 0 PWL(0 0, 1m 5 1m 0 2m 5) r=0 td=1u\nI1 0 a dc=2m\n.param vh = 3.3\n\
         V9 i 0 dc {vh*2}\nV10 j 0 PULSE(0 1)\nV11 k 0 PWL 0 1 1 -2",
    );
    let source = |name: &str| match device(&c, name) {
        Device::VoltageSource { source, .. } | Device::CurrentSource { source, .. } => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(source("V1"), Source::Dc(5.0));
    assert_eq!(source("V2"), Source::Dc(3.0));
    assert_eq!(source("V3"), Source::Dc(0.0));
    assert_eq!(
        source("V4"),
        Source::Pulse {
            low: 0.0,
            high: 5.0,
            delay: 1e-6,
            rise: 1e-9,
            fall: 2e-9,
            width: 5e-6,
            period: 10e-6,
            count: Some(7),
        }
    );
    assert!(matches!(source("V5"), Source::Pulse { high: 3.3, rise: 0.0, count: None, .. }));
    assert_eq!(
        source("V6"),
        Source::Sin {
            offset: 1.0,
            amplitude: 2.0,
            frequency: 1e3,
            delay: 1e-3,
            damping: 3.0,
            phase: std::f64::consts::FRAC_PI_2,
        }
    );
    assert_eq!(
        source("V7"),
        Source::Exp {
            first: 0.0,
            second: 1.0,
            rise_delay: 1e-3,
            rise_time: 2e-3,
            fall_delay: 3e-3,
            fall_time: 4e-3,
        }
    );
    assert_eq!(
        source("V8"),
        Source::PiecewiseLinear {
            points: vec![(0.0, 0.0), (1e-3, 5.0), (1e-3, 0.0), (2e-3, 5.0)],
            repeat: Some(0.0),
            delay: 1e-6,
        }
    );
    assert_eq!(source("I1"), Source::Dc(2e-3));
    assert_eq!(source("V9"), Source::Dc(6.6));
    assert!(matches!(
        source("V10"),
        Source::Pulse { width: f64::INFINITY, period: f64::INFINITY, .. }
    ));
    assert!(
        matches!(source("V11"), Source::PiecewiseLinear { points, .. } if points[1] == (1.0, -2.0))
    );
}

#[test]
fn times_of_sources_from_tran() {
    let c = circuit("V1 a 0 SIN(0 1)\nV2 b 0 EXP(0 1)\n.tran 1u 20m");
    assert!(matches!(
        device(&c, "V1"),
        Device::VoltageSource { source: Source::Sin { frequency: 50.0, .. }, .. }
    ));
    assert!(matches!(
        device(&c, "V2"),
        Device::VoltageSource {
            source: Source::Exp {
                rise_delay: 0.0,
                rise_time: 1e-6,
                fall_delay: 1e-6,
                fall_time: 1e-6,
                ..
            },
            ..
        }
    ));
}

#[test]
fn controlled_sources() {
    let c = circuit(
        "V1 a 0 1\nR1 a b 1\nR2 c 0 1\nE1 e 0 a b 2\nE2 f 0 (a,b) {g}\nG1 0 c a 0 3 m=2\nF1 0 c V1 4\n\
         H1 h 0 V1 5\n.param g=7\nE3 k 0 VALUE={2*v(a,b)}\nE4 l 0 vol='v(a)/4 - 3*v(a)'\nG3 0 c cur='-i(V1)'\n\
         B1 m 0 V=7\nB2 n 0 v = {g}*1\nE5 o 0 POLY(1) a b 0 6\nE6 p 0 poly(1) a b 6\nF2 0 c POLY(1) V1 0 8",
    );
    let between = |plus: &str| [node(&c, plus), Node::GROUND];
    let into_c = [Node::GROUND, node(&c, "c")];
    let ab = Control::Voltage([node(&c, "a"), node(&c, "b")]);
    let of_a = Control::Voltage([node(&c, "a"), Node::GROUND]);
    let v1 = Control::Current(c.find("V1").unwrap());
    let volt =
        |plus, control, gain| Device::ControlledVoltage { between: between(plus), control, gain };
    let ampere = |control, gain| Device::ControlledCurrent { between: into_c, control, gain };
    assert_eq!(device(&c, "E1"), volt("e", ab, 2.0));
    assert_eq!(device(&c, "E2"), volt("f", ab, 7.0));
    assert_eq!(device(&c, "G1"), ampere(of_a, 6.0));
    assert_eq!(device(&c, "F1"), ampere(v1, 4.0));
    assert_eq!(device(&c, "H1"), volt("h", v1, 5.0));
    assert_eq!(device(&c, "E3"), volt("k", ab, 2.0));
    assert_eq!(device(&c, "E4"), volt("l", of_a, 0.25 - 3.0));
    assert_eq!(device(&c, "G3"), ampere(v1, -1.0));
    let seven = Device::VoltageSource { between: between("m"), source: Source::Dc(7.0) };
    assert_eq!(device(&c, "B1"), seven);
    assert_eq!(device(&c, "E5"), volt("o", ab, 6.0));
    assert_eq!(device(&c, "E6"), volt("p", ab, 6.0));
    assert_eq!(device(&c, "F2"), ampere(v1, 8.0));
}

#[track_caller]
fn formula(expression: &str) -> String {
    let c = circuit(&format!(
        "V1 a 0 1\nR1 a b 1\nR2 n-1 0 1\nBx x 0 V={expression}\n.param k=2 neg=-3\n.func sq(x) {{x*x}}\n.func f2(x,y)='x-y*k'"
    ));
    match device(&c, "Bx") {
        Device::BehavioralVoltage { formula, .. } => formula,
        other => panic!("{other:?}"),
    }
}

#[test]
fn formulas() {
    for (expression, text) in [
        ("v(a)*v(b)", "v(a)*v(b)"),
        ("V(A)^2 + I(V1)**2", "v(A)^2.0 + i(V1)^2.0"),
        ("v(a,b)*k + neg*time", "v(a, b)*2.0 + (-3.0)*time"),
        ("v(n-1)*v(a)", "v(n-1)*v(a)"),
        ("(v(a)+v(b))*2", "(v(a) + v(b))*2.0"),
        ("v(a)-(v(b)-time)", "v(a) - (v(b) - time)"),
        ("-v(a)^2", "-v(a)^2.0"),
        ("(-v(a))^2", "(-v(a))^2.0"),
        ("v(a) > 1 ? v(b) : 1k", "if(v(a) > 1.0, v(b), 1000.0)"),
        ("k>1 ? sin(v(a)) : 0", "sin(v(a))"),
        ("v(a)>1 && v(b)<2 || !v(a)", "v(a) > 1.0 and v(b) < 2.0 or (not v(a))"),
        ("u(v(a)) + uramp(v(b))", "heaviside(v(a)) + max(v(b), 0)"),
        ("limit(v(a), -5, 5)", "clamp(v(a), min(-5.0, 5.0), max(-5.0, 5.0))"),
        ("pwl(v(a), 0,0, 1,10)", "table(v(a), 0.0, 0.0, 1.0, 10.0)"),
        ("table(v(a), 0,0, 1,10)", "table(v(a), 0.0, 0.0, 1.0, 10.0)"),
        ("min(v(a), v(b), 3)", "min(v(a), v(b), 3.0)"),
        ("sq(v(a)+1)", "(v(a) + 1.0)*(v(a) + 1.0)"),
        ("f2(v(a), time)", "v(a) - time*2.0"),
        ("pow(v(a), 3)", "((v(a))^(3.0))"),
        ("sin(2*pi*50*time)*exp(-1)", "sin(314.1592653589793*time)*0.36787944117144233"),
        ("pwr(v(a), k)", "(sign(v(a))*abs(v(a))^(2.0))"),
        ("{v(a)*v(a)}", "v(a)*v(a)"),
        ("{k}*v(a)*v(b)", "2.0*v(a)*v(b)"),
        ("'v(a)*v(a)' tc1=0", "v(a)*v(a)"),
        ("v(a)*v(b)*1meg/2u", "v(a)*v(b)*1000000.0/2e-6"),
        ("v(a) % 2 * v(b)", "mod(v(a), 2.0)*v(b)"),
    ] {
        assert_eq!(formula(expression), text, "{expression}");
    }
}

#[test]
fn polynomials_and_tables() {
    let c = circuit(
        "V1 a 0 1\nR1 a b 1\nE1 x 0 POLY(2) a 0 b 0 1 2 3 4 5 6\nE2 y 0 TABLE {v(a)} = (-1,-10) (1, 10)\n\
         G1 0 z TABLE {v(a,b)} ((0,0) (1,1))\nR2 z 0 1\nE3 w 0 value {v(a)*v(b)}",
    );
    let formula = |name: &str| match device(&c, name) {
        Device::BehavioralVoltage { formula, .. } | Device::BehavioralCurrent { formula, .. } => {
            formula
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(
        formula("E1"),
        "1.0 + 2.0*v(a) + 3.0*v(b) + 4.0*v(a)*v(a) + 5.0*v(a)*v(b) + 6.0*v(b)*v(b)"
    );
    assert_eq!(formula("E2"), "table(v(a), -1.0, -10.0, 1.0, 10.0)");
    assert_eq!(formula("G1"), "table(v(a, b), 0.0, 0.0, 1.0, 1.0)");
    assert_eq!(formula("E3"), "v(a)*v(b)");
}

#[test]
fn parts_without_effect() {
    assert_eq!(
        warnings("V1 a 0 1 AC 1\nR1 a 0 1 noisy=1m\nC1 a 0 1F\nC2 a 0 10F\nC3 a 0 10uF\nC4 a 0 1f"),
        [
            "a.cir:2:10: `AC` has no effect",
            "a.cir:3:10: `noisy` has no effect",
            "a.cir:4:8: `1F` is 1e-15 farad: `f` is femto",
            "a.cir:5:8: `10F` is 1e-14 farad: `f` is femto",
        ]
    );
}
