//! Smooth devices, as SPICE has them.

use saltus_circuits::{Deck, Method, Watch};

/// Signals at the rows of a run of a netlist.
fn traces(text: &str, names: &[&str]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let deck = Deck::parse(text, "smooth.cir").unwrap();
    let mut plan = deck.plan(None, None).unwrap();
    plan.transient.signals = None;
    let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
    let values = names.iter().map(|name| run.signal(name).unwrap());
    (run.frames.time.clone(), values.collect())
}

/// An amplifier and a rectifier with all charges, leakage, breakdown and base resistances, beside ngspice 39.3 at
/// `reltol=1e-6`, steps of 0.2 ns, read at 0, 1.3, 2.65 and 4 µs.
#[test]
fn an_amplifier_with_every_charge() {
    let text = "an amplifier and a rectifier
VCC vcc 0 10
VIN in 0 SIN(0 0.05 1meg)
C1 in b 1n
RB1 vcc b 47k
RB2 b 0 10k
RC vcc c 2.2k
RE e 0 470
Q1 c b e qn
C2 c a 1n
D1 a k dm
RD a 0 1k
RL k 0 10k
CL k 0 100p
.model qn NPN(is=1e-15 bf=120 br=2 vaf=80 var=20 ikf=20m ise=1e-13 ne=1.6 rb=100 rc=5 re=0.5
+ cje=8p vje=0.7 mje=0.35 cjc=4p vjc=0.6 mjc=0.4 tf=0.4n tr=20n cjs=2p)
.model dm D(is=1e-12 n=1.2 rs=5 cjo=3p vj=0.8 m=0.4 tt=5n bv=6 ibv=1m)
.option saltus device=smooth
.tran 1n 4u
.end
";
    let reference = [
        ("v(b)", [1.584273, 1.630233, 1.542589, 1.584783]),
        ("v(c)", [6.067001, 5.995459, 6.117439, 6.076276]),
        ("v(k)", [0.0, -1.63467e-3, 1.811749e-3, -3.91738e-4]),
    ];
    let names = reference.map(|one| one.0);
    let (times, found) = traces(text, &names);
    for ((name, expected), values) in reference.iter().zip(found) {
        for (k, expected) in [0, 1300, 2650, 4000].into_iter().zip(expected) {
            let apart = (values[k] - expected).abs();
            assert!(apart < 2e-5, "{name} at {}: {} {expected}", times[k], values[k]);
        }
    }
}

/// Four diodes and a capacitor on a source that touches ground nowhere but through them.
#[test]
fn a_bridge_with_a_capacitor() {
    let text = "bridge
V1 a b SIN(0 10 50)
D1 a p dm
D2 b p dm
D3 0 a dm
D4 0 b dm
C1 p 0 100u
R1 p 0 1k
.model dm D(is=1e-14)
.option saltus device=smooth
.tran 20u 40m
.end
";
    let (_, found) = traces(text, &["v(p)"]);
    let most = found[0].iter().fold(0.0_f64, |most, v| most.max(*v));
    let last = found[0].last().unwrap();
    // two junctions below the peak; ngspice: 8.544 and 8.01 at 40 ms
    assert!((most - 8.544).abs() < 0.01, "{most}");
    assert!(*last > 7.0 && *last < 8.544, "{last}");
}

#[test]
fn a_cmos_inverter_swings_from_rail_to_rail() {
    let text = "inverter
VDD vdd 0 5
VIN in 0 PULSE(0 5 10n 1n 1n 20n 50n)
M1 out in 0 0 n1 W=10u L=1u
M2 out in vdd vdd p1 W=20u L=1u
C1 out 0 100f
.model n1 NMOS(level=1 vto=1 kp=50u)
.model p1 PMOS(level=1 vto=-1 kp=25u)
.option saltus device=smooth
.tran 0.1n 100n
.end
";
    let (times, found) = traces(text, &["v(out)"]);
    let at = |t: f64| found[0][times.iter().position(|known| *known >= t).unwrap()];
    assert!(
        (at(9e-9) - 5.0).abs() < 1e-3 && at(25e-9).abs() < 1e-3 && (at(45e-9) - 5.0).abs() < 1e-3
    );
}

/// `i = IBV` at `v = −BV`, and some 60 mV more for every ten times of it.
#[test]
fn a_smooth_diode_breaks_down() {
    let text = "zener
I1 0 k 10m
D1 0 k dz
.model dz D(is=1e-14 bv=5.1 ibv=1m)
.option saltus device=smooth
.end
";
    let deck = Deck::parse(text, "zener.cir").unwrap();
    let point = deck.circuit().unwrap().operating_point().unwrap();
    let thermal = 1.380_649e-23 * 300.15 / 1.602_176_634e-19;
    let expected = 5.1 + thermal * 10.0_f64.ln();
    assert!((point.v("k").unwrap() - expected).abs() < 1e-6, "{:?}", point.v("k"));
}

/// Loads that conduct nothing but what leaks: `5 V − V_t`, with the body effect.
#[test]
fn a_node_that_only_leakage_holds() {
    let text = "load
VDD vdd 0 5
M1 vdd vdd a 0 mod w=5u l=5u
M2 a 0 0 0 mod w=250u l=5u
.model mod nmos(vto=0.5 phi=0.7 kp=1e-6 gamma=1.83 lambda=0.115 cbd=50p cbs=50p)
.option saltus device=smooth
.end
";
    let deck = Deck::parse(text, "load.cir").unwrap();
    let point = deck.circuit().unwrap().operating_point().unwrap();
    let v = point.v("a").unwrap();
    let drive = 5.0 - v - 0.5 - 1.83 * ((0.7 + v).sqrt() - 0.7_f64.sqrt());
    assert!(drive > 0.0 && drive < 0.01, "{v} {drive}");
}

#[test]
fn parameters_that_smooth_devices_do_not_have_are_named() {
    let cases = [
        ("Q1 a a 0 m", "NPN(bf=100 xtf=2)", "xtf"),
        ("M1 a a 0 0 m", "NMOS(vto=1 tox=1e-7)", "tox"),
        ("M1 a a 0 0 m", "NMOS(vto=1 cj=1e-4)", "cj"),
        ("D1 a 0 m", "D(is=1e-14 isr=1e-9)", "isr"),
    ];
    for (element, model, name) in cases {
        let text = format!(
            "t\nR1 a 0 1k\n{element}\n.model m {model}\n.option saltus device=smooth\n.end\n"
        );
        let error = Deck::parse(&text, "a.cir").and_then(|deck| deck.circuit()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(name) && said.contains("not supported"), "{said}");
        // taken ideally or piecewise linearly they only warn
        let text = text.replace("device=smooth", "device=pwl");
        assert!(Deck::parse(&text, "a.cir").and_then(|deck| deck.circuit()).is_ok(), "{text}");
    }
}

/// `C ic=` and `.ic` of the same node say the same, or it is told.
#[test]
fn initial_values_that_contradict_each_other() {
    for (node, allowed) in [(2.0, false), (3.0, true)] {
        let text = format!("t\nR1 a 0 1k\nC1 a 0 1u ic=3\n.ic v(a)={node}\n.tran 1u 1m\n.end\n");
        let circuit = Deck::parse(&text, "a.cir").unwrap().circuit();
        assert_eq!(circuit.is_ok(), allowed, "{:?}", circuit.err());
        assert!(circuit.is_err() || circuit.unwrap().model().is_ok());
    }
}

/// `R (1 + a ΔT + b ΔT²)`.
#[test]
fn a_resistance_grows_with_temperature() {
    let text = "t\nV1 a 0 1\nR1 a 0 1k tc1=0.03125 tc2=1e-3\n.temp 37\n.end\n";
    let point = Deck::parse(text, "a.cir").unwrap().circuit().unwrap().operating_point().unwrap();
    let expected = 1e-3 / (1.0 + 0.3125 + 0.1);
    assert!((point.i("R1").unwrap() - expected).abs() < 1e-12);
}

/// A gate of transistors that saturate, block and work backwards, beside ngspice 39.3 at `reltol=1e-6`, steps of 5 ps.
#[test]
fn a_gate_of_bipolar_transistors() {
    let text = "a TTL gate
VCC 99 0 5
V1 1 0 PULSE(0 3 1n 10n 10n 20n 60n)
V2 2 0 3
Q1 9 5 1 qmod
D1 0 1 dmod
Q2 9 5 2 qmod
D2 0 2 dmod
RB 99 5 4k
R1 99 6 1.6k
Q3 6 9 8 qmod
R2 8 0 1k
RC 99 7 130
Q4 7 6 10 qmod
D3 10 3 dmod
Q5 3 8 0 qmod
RL 3 0 1k
.model dmod D
.model qmod NPN(bf=75 rb=100 cje=1p cjc=3p)
.option saltus device=smooth
.tran 20p 60n
.end
";
    let reference = [
        ("v(3)", [3.430492, 2.690576, 0.1085478, 0.01783598, 3.194594]),
        ("v(9)", [0.03631684, 1.911617, 1.998687, 1.989996, 0.03667581]),
    ];
    let names = reference.map(|one| one.0);
    let (times, found) = traces(text, &names);
    for ((name, expected), values) in reference.iter().zip(found) {
        for (k, expected) in [25, 400, 600, 1500, 2950].into_iter().zip(expected) {
            let apart = (values[k] - expected).abs();
            assert!(apart < 4e-3, "{name} at {}: {} {expected}", times[k], values[k]);
        }
    }
}

/// The smooth switch of PSpice: the logarithm of its resistance goes from one end to the other as its control does, with no memory.
#[test]
fn a_switch_that_closes_little_by_little() {
    let text = "switch
V1 a 0 1
R1 a b 1k
S1 b 0 c 0 sm
VC c 0 PWL(0 0 1 1 2 0)
.model sm vswitch(von=0.8 voff=0.2 ron=1 roff=1meg saltus=smooth)
.tran 10m 2
.end
";
    let (times, found) = traces(text, &["v(b)"]);
    for (t, v) in times.iter().zip(&found[0]) {
        let control = if *t < 1.0 { *t } else { 2.0 - t };
        let s = ((control - 0.2) / 0.6).clamp(0.0, 1.0);
        let resistance = 10_f64.powf(6.0 - 6.0 * (3.0 * s * s - 2.0 * s * s * s));
        let exact = resistance / (resistance + 1e3);
        assert!((v - exact).abs() < 1e-8, "{t}: {v} {exact}");
    }
}

/// A coil whose transistor turns on at a known instant, between nothing and all of the voltage: steps whose
/// lengths follow their error meet it.
///
/// From then on `v_DS` is that of a straight line, `1/(2 K)` of a volt, which leaves `i = t − t_on`.
#[test]
fn a_transistor_that_turns_on_is_met() {
    for late in [0.0, 0.013, 0.171, 0.29] {
        let text = format!(
            "a coil
V1 in 0 1
VG g 0 PWL(0 0 {late}u 0 {}u 2)
L1 in d 1u ic=0
M1 d g 0 0 nm
.model nm NMOS(vto=1 kp=1e6 w=1u l=1u)
.option saltus device=smooth
.option reltol=1e-7
.tran 0.1u 1u uic
.end
",
            1.0 + late
        );
        let deck = Deck::parse(&text, "coil.cir").unwrap();
        let mut plan = deck.plan(None, None).unwrap();
        plan.transient.method = Method::Adaptive;
        let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
        let (times, i) = (&run.frames.time, run.signal("i(L1)").unwrap());
        for (t, i) in times.iter().zip(i) {
            let exact = (t / 1e-6 - 0.5 - late).max(0.0);
            assert!((i - exact).abs() < 2e-6, "late {late}, t = {t}: {i}, exact {exact}");
        }
        assert!(run.stats.steps < 2000, "{}", run.stats.steps);
        plan.transient.method = Method::Exact;
        let error = plan.model.run(&plan.transient, Watch::default()).unwrap_err().to_string();
        assert!(error.contains("M1") && error.contains("`adaptive`"), "{error}");
    }
}

/// A doubler on a sine: the source itself is exact, whatever the tolerance is. Means over the last quarter beside
/// ngspice 39.3 (`reltol=1e-6`, steps of 1 µs).
#[test]
fn a_doubler_by_steps_of_their_own() {
    let text = "voltage doubler
V1 s 0 SIN(0 10 1k)
RS s in 1
C1 in a 10u ic=0
D1 0 a dm
D2 a out dm
C2 out 0 10u ic=0
RL out 0 10k
.model dm D(IS=1e-9 RS=0.1)
.option saltus device=smooth
.option reltol=1e-5
.tran 1u 20m uic
.meas tran vout avg v(out) from=15m to=20m
.meas tran vpp pp v(out) from=15m to=20m
.meas tran source max v(s) from=15m to=20m
.end
";
    let deck = Deck::parse(text, "doubler.cir").unwrap();
    let mut plan = deck.plan(None, None).unwrap();
    plan.transient.method = Method::Adaptive;
    let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
    let found: Vec<f64> = plan.measure(&run).into_iter().map(|one| one.1.unwrap()).collect();
    for (found, (expected, allowed)) in
        found.iter().zip([(18.8385, 2e-3), (0.1768, 5e-4), (10.0, 1e-4)])
    {
        assert!((found - expected).abs() < allowed, "{found} {expected}");
    }
}
