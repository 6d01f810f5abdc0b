use saltus_circuits::{Control, Deck, Device, Node, SetError};

use crate::{circuit, deck, device, message, node, warnings};

fn resistance(lines: &str, name: &str) -> f64 {
    match device(&circuit(lines), name) {
        Device::Resistor { resistance, .. } => resistance,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parameters_in_any_order() {
    assert_eq!(resistance("R1 a 0 {x}\n.param x={y*2}\n.param y=3k z='x+y'", "R1"), 6e3);
    assert_eq!(resistance("R1 a 0 {a+b}\n.param a = 1 + 2 b = a*3", "R1"), 12.0);
    assert_eq!(resistance("R1 a 0 {X}\n.PARAM x=1K", "r1"), 1e3);
    assert_eq!(resistance("R1 a 0 {f(2)}\n.func f(x) {x**2 + g(x)}\n.func g(x)='3*x'", "R1"), 10.0);
    assert_eq!(resistance("R1 a 0 {k == 2 ? 5 : 6}\n.param k=2", "R1"), 5.0);
    assert_eq!(resistance("R1 a 0 {pwr(-3, 2) + nint(2.5)}", "R1"), 11.0);
    assert_eq!(resistance("R1 a 0 {temper}\n.temp 50", "R1"), 50.0);
    assert_eq!(resistance("R1 a 0 {sqrt(abs(-16)) + max(1, 2, 3)}", "R1"), 7.0);
}

const FILTER: &str = "\
.subckt filter in out params: r=1k c={1u*scale}
R1 in mid {r}
R2 mid out {r*2}
C1 out 0 {c}
.ends filter
.param scale=1
X1 a b filter r=5
X2 b 0 filter
V1 a 0 1
";

#[test]
fn subcircuits() {
    let c = circuit(FILTER);
    assert_eq!(c.nodes, ["0", "a", "b", "X1.mid", "X2.mid"]);
    let names: Vec<&str> = c.components.iter().map(|component| component.name.as_str()).collect();
    assert_eq!(names, ["X1.R1", "X1.R2", "X1.C1", "X2.R1", "X2.R2", "X2.C1", "V1"]);
    assert_eq!(
        device(&c, "x1.r1"),
        Device::Resistor { between: [node(&c, "a"), node(&c, "x1.mid")], resistance: 5.0 }
    );
    assert_eq!(
        device(&c, "X2.R2"),
        Device::Resistor { between: [node(&c, "X2.mid"), Node::GROUND], resistance: 2e3 }
    );
}

#[test]
fn nested_subcircuits() {
    let c = circuit(
        ".subckt outer a b\n.param w=3\n.subckt inner p q k=1\nR1 p q {k*w}\nD1 p q dm\n.ends\n.model dm d(rs={w})\n\
         X1 a m inner k=2\nX2 m b inner\n.ic v(m)=4\n.ends\n.global vdd\nXa vdd 0 outer\nXb (1 vdd) outer\n\
         .subckt probe n\nV1 n x 0\nR1 x vdd 1\nF1 n vdd V1 3\nE1 y 0 value={2*v(n,x)}\nB1 z 0 v=v(x)*i(V1)\nR2 y z 1\n.ends\nXc 1 probe",
    );
    let r = |name: &str| match device(&c, name) {
        Device::Resistor { resistance, .. } => resistance,
        other => panic!("{other:?}"),
    };
    assert_eq!((r("Xa.X1.R1"), r("Xa.X2.R1")), (6.0, 3.0));
    assert!(
        matches!(device(&c, "Xb.X1.D1"), Device::Diode { model, .. } if model.on_resistance == 3.0)
    );
    let initial: Vec<(&str, f64)> =
        c.initial.iter().map(|(node, value)| (c.nodes[node.0].as_str(), *value)).collect();
    assert_eq!(initial, [("Xa.m", 4.0), ("Xb.m", 4.0)]);
    assert_eq!(
        device(&c, "Xc.F1"),
        Device::ControlledCurrent {
            between: [node(&c, "1"), node(&c, "vdd")],
            control: Control::Current(c.find("Xc.V1").unwrap()),
            gain: 3.0,
        }
    );
    assert!(matches!(
        device(&c, "Xc.E1"),
        Device::ControlledVoltage { control: Control::Voltage(nodes), .. }
            if nodes == [node(&c, "1"), node(&c, "Xc.x")]
    ));
    assert!(matches!(
        device(&c, "Xc.B1"),
        Device::BehavioralVoltage { formula, .. } if formula == "v(Xc.x)*i(Xc.V1)"
    ));
}

#[test]
fn parameters_of_the_caller() {
    let lines = ".param g=1\n.subckt outer a\n.param w=5 g=2\nX1 a inner\n.ends\n.subckt inner a\nR1 a 0 {w+10*g}\n.ends\nX0 n outer";
    assert_eq!(resistance(lines, "X0.X1.R1"), 25.0);
}

#[test]
fn the_first_of_a_name_counts() {
    let lines = ".subckt s a\nR1 a 0 1k\n.ends\n.subckt S a b\nR1 a b 2k\n.ends\nX1 n s\nD1 n 0 dm\n.model dm D(rs=1)\n.model DM D(rs=2)";
    let c = circuit(lines);
    assert!(matches!(device(&c, "X1.R1"), Device::Resistor { resistance: 1e3, .. }));
    assert!(matches!(device(&c, "D1"), Device::Diode { model, .. } if model.on_resistance == 1.0));
    assert_eq!(
        warnings(lines),
        [
            "a.cir:5:1: subcircuit `S` is already there, at a.cir:2: that one counts",
            "a.cir:11:8: model `DM` is already there, at a.cir:10: that one counts",
        ]
    );
}

#[test]
fn unused_subcircuits_may_have_anything() {
    circuit(".subckt jfet d g s\nJ1 d g s jm\n.ends\n.model jm njf(vto=-2 what=3)\nR1 a 0 1");
    assert_eq!(
        message(".subckt jfet d g s\n J1 d g s jm\n.ends\nX1 a b c jfet"),
        "a.cir:3:2: `J1` is a junction field-effect transistor, which is not supported: expected one of B C D E F G H I K L M Q R S V W X"
    );
}

#[test]
fn values_set() {
    let mut deck = deck(&format!("{FILTER}V2 s 0 SIN(0 1 1k)\nRload b 0 1"));
    deck.set("scale", 2.0).unwrap();
    deck.set("rLOAD", 7.0).unwrap();
    deck.set("V1", 9.0).unwrap();
    deck.set("x1.R2", 11.0).unwrap();
    let c = deck.circuit().unwrap();
    assert!(matches!(device(&c, "X2.C1"), Device::Capacitor { capacitance: 2e-6, .. }));
    assert!(matches!(device(&c, "RLOAD"), Device::Resistor { resistance: 7.0, .. }));
    assert!(matches!(device(&c, "X1.R2"), Device::Resistor { resistance: 11.0, .. }));
    assert!(matches!(device(&c, "X2.R2"), Device::Resistor { resistance: 2e3, .. }));
    for (name, message) in [
        ("Rlaod", "no parameter or component `Rlaod`; did you mean `Rload`?"),
        ("X1.R9", "no parameter or component `X1.R9`"),
        (
            "V2",
            "`V2` has no single value: expected a resistor, capacitor, inductor, coupling, constant source or linear \
             controlled source",
        ),
    ] {
        assert_eq!(deck.set(name, 1.0).unwrap_err().to_string(), message);
    }
    let infinite = deck.set("V1", f64::INFINITY);
    assert_eq!(infinite, Err(SetError::NotFinite { name: "V1".into(), value: f64::INFINITY }));
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("saltus-netlist-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    std::fs::write(folder.join("a.cir"), "title\n.include lib/b.inc\nR1 a 0 {r}\n.end\n").unwrap();
    // a library of one byte a letter: 10 µ
    std::fs::write(folder.join("lib/b.inc"), b".param r=10\xb5\n".as_slice()).unwrap();
    let circuit = Deck::read(folder.join("a.cir")).unwrap().circuit().unwrap();
    assert!(matches!(device(&circuit, "R1"), Device::Resistor { resistance: 1e-5, .. }));
    let missing = Deck::read(folder.join("c.cir")).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("c.cir:1:1"), "{missing}");
    let is_folder = Deck::read(&folder).unwrap_err().to_string();
    assert!(is_folder.contains("it is not a file"), "{is_folder}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn many_components() {
    let mut text = String::from(".subckt cell a b\nR1 a b 1k\nC1 b 0 1n\n.ends\n");
    for index in 0..20_000 {
        text.push_str(&format!("X{index} n{index} n{} cell\n", index + 1));
    }
    let c = circuit(&text);
    assert_eq!((c.components.len(), c.nodes.len()), (40_000, 20_002));
}
