//! Switches that voltages and currents close.

use crate::{last, laws, run};
use saltus_analysis::periodic::Shooting;
use saltus_circuits::{
    Circuit, CircuitError, Control, Device, DiodeModel, Method, Source, SwitchModel, Transient,
    Watch,
};
use saltus_model::Law;

/// 1 V for a share of a period, from the beginning of the period on.
fn gate(duty: f64, period: f64) -> Source {
    let edge = 1e-6 * period;
    Source::Pulse {
        low: 0.0,
        high: 1.0,
        delay: 0.0,
        rise: edge,
        fall: edge,
        width: duty * period - edge,
        period,
        count: None,
    }
}

fn mean(values: &[f64]) -> f64 {
    let inner: f64 = values[1..values.len() - 1].iter().sum();
    (inner + (values[0] + values[values.len() - 1]) / 2.0) / (values.len() - 1) as f64
}

fn switch_of(model: &saltus_circuits::CircuitModel, name: &str) -> (String, f64, f64, bool) {
    let law = laws(model).into_iter().find(|(known, _)| known == name).unwrap().1;
    let Law::Switch { control, on, off, closed } = law else { panic!("{law:?}") };
    (control, on, off, closed)
}

const T: f64 = 1e-5;

/// Mean output `D V_in`, ripple of the current `V_in D (1 − D) T/L`.
#[test]
fn a_buck_in_continuous_conduction() {
    let (input, duty, inductance) = (12.0, 0.4, 100e-6);
    let mut circuit = Circuit::new("buck");
    circuit.voltage_source("VIN", ["in", "0"], input);
    circuit.switch("S1", ["in", "sw"], ["gate", "0"], SwitchModel::ideal(0.5));
    circuit.diode("D1", ["0", "sw"], DiodeModel::ideal());
    circuit.inductor("L1", ["sw", "out"], inductance);
    circuit.capacitor("C1", ["out", "0"], 100e-6);
    circuit.resistor("R1", ["out", "0"], 5.0);
    circuit.voltage_source("VG", ["gate", "0"], gate(duty, T));
    let model = circuit.model().unwrap();
    assert_eq!(laws(&model).len(), 2); // no row for the control
    for steps in [50.0, 500.0] {
        let asked = Transient {
            signals: Some(vec!["v(out)".into(), "i(L1)".into(), "i(S1)".into()]),
            ..Transient::new(1.0, T / steps)
        };
        let period = model.period().unwrap();
        let settings = saltus_analysis::periodic::Shooting::default();
        let steady = model.steady_state(&asked, period, settings, Watch::default()).unwrap();
        let v = mean(steady.run.signal("v(out)").unwrap().as_slice());
        assert!((v - duty * input).abs() < 1e-6 * input, "{v}");
        let i = steady.run.signal("i(L1)").unwrap();
        let ripple =
            i.iter().fold(f64::MIN, |a, b| a.max(*b)) - i.iter().fold(f64::MAX, |a, b| a.min(*b));
        let exact = input * duty * (1.0 - duty) * T / inductance;
        assert!((ripple / exact - 1.0).abs() < 2e-3, "{ripple} {exact}");
        assert!((mean(&i) - duty * input / 5.0).abs() < 1e-3, "{}", mean(&i));
        let on = steady.run.signal("i(S1)").unwrap().iter().filter(|i| **i > 0.1).count();
        assert_eq!(on, (duty * steps).round() as usize);
    }
}

/// Discontinuous: `V_in (1 + √(1 + 4 D²/K))/2`, `K = 2 L/(R T)`, to the first order of the step.
#[test]
fn a_boost_in_discontinuous_conduction() {
    let (input, duty, inductance, load) = (12.0, 0.4, 10e-6, 60.0);
    for model in [SwitchModel::ideal(0.5), SwitchModel::ideal(0.5).resistances(1e-6, 1e9)] {
        let mut circuit = Circuit::new("boost");
        circuit.voltage_source("VIN", ["in", "0"], input);
        circuit.inductor("L1", ["in", "sw"], inductance);
        circuit.switch("S1", ["sw", "0"], ["gate", "0"], model);
        circuit.diode("D1", ["sw", "out"], DiodeModel::ideal());
        circuit.capacitor("C1", ["out", "0"], 1e-3);
        circuit.resistor("R1", ["out", "0"], load);
        circuit.voltage_source("VG", ["gate", "0"], gate(duty, T));
        let model = circuit.model().unwrap();
        let k = 2.0 * inductance / (load * T);
        let exact = input * (1.0 + (1.0 + 4.0 * duty * duty / k).sqrt()) / 2.0;
        let errors = [500.0, 2000.0].map(|steps| {
            let asked = Transient {
                signals: Some(vec!["v(out)".into(), "i(L1)".into()]),
                ..Transient::new(1.0, T / steps)
            };
            let settings = saltus_analysis::periodic::Shooting::default();
            let steady = model.steady_state(&asked, T, settings, Watch::default()).unwrap();
            let i = steady.run.signal("i(L1)").unwrap();
            assert!(i.iter().all(|i| *i > -1e-6) && i.iter().any(|i| i.abs() < 1e-6));
            let peak = i.iter().fold(0.0_f64, |most, i| most.max(*i));
            assert!((peak - input * duty * T / inductance).abs() < 1e-3, "{peak}");
            (mean(&steady.run.signal("v(out)").unwrap()) / exact - 1.0).abs()
        });
        assert!(errors[0] < 4e-3 && errors[1] < 1e-3, "{errors:?}");
    }
}

/// A capacitor that a switch empties: between the thresholds it takes
/// `R C ln((V − V_off)/(V − V_on))` to fill, and `R′ C ln((V_on − v′)/(V_off − v′))` to empty.
fn oscillator(model: SwitchModel) -> Circuit {
    let mut circuit = Circuit::new("relaxation oscillator");
    circuit.voltage_source("V1", ["in", "0"], 10.0);
    circuit.resistor("R1", ["in", "c"], 1e3);
    let capacitor = circuit.capacitor("C1", ["c", "0"], 1e-6);
    circuit.start(capacitor, 0.0);
    circuit.switch("S1", ["c", "0"], ["c", "0"], model);
    circuit
}

#[test]
fn hysteresis_oscillates() {
    let model = SwitchModel::ideal(4.0).hysteresis(2.0).resistances(100.0, f64::INFINITY);
    let circuit = oscillator(model);
    let h = 1e-7;
    let (model, run) = run(&circuit, 0.5, h, 10e-3);
    // a state: no state is added for it
    assert_eq!(switch_of(&model, "S1").0, "0e0 + (1e0)*'circuit'.x[0]");
    let times: Vec<f64> = run.events.iter().map(|event| event.time).collect();
    assert!(times.len() > 8);
    let (full, parallel) = (10.0_f64, 1e3 * 100.0 / 1.1e3);
    let empty = full * 100.0 / 1.1e3;
    let up = 1e-3 * ((full - 2.0) / (full - 6.0)).ln();
    let down = parallel * 1e-6 * ((6.0 - empty) / (2.0 - empty)).ln();
    for k in 1..4 {
        let period = times[2 * k + 2] - times[2 * k];
        // a step late at either end, and what is overshot takes its time on the way back
        assert!((period - up - down).abs() < 4.0 * h, "{period} {}", up + down);
        let emptying = times[2 * k + 1] - times[2 * k];
        assert!((emptying - down).abs() < 2.0 * h, "{emptying} {down}");
    }
    let v = model.trace(&run, "v(c)").unwrap();
    assert!(v.iter().all(|v| *v <= 6.0 + 10.0 * h / 1e-3));
}

/// With one threshold there is a value at which it would always chatter: no point of rest.
#[test]
fn a_switch_without_rest() {
    let mut circuit = oscillator(SwitchModel::ideal(4.0).resistances(100.0, f64::INFINITY));
    circuit.components[2].device = Device::Capacitor {
        between: [circuit.node("c"), circuit.node("0")],
        capacitance: 1e-6,
        initial: None,
    };
    let error = circuit.model().unwrap_err();
    assert!(matches!(error, CircuitError::OperatingPoint { .. }), "{error}");
    assert!(error.to_string().contains("`S1`"), "{error}");
}

/// At rest a switch is as its control wants it; between the thresholds as it was.
#[test]
fn switches_at_rest() {
    let mut circuit = Circuit::new("divider");
    circuit.voltage_source("V1", ["in", "0"], 10.0);
    circuit.resistor("R1", ["in", "out"], 1e3);
    circuit.resistor("R2", ["out", "low"], 1e3);
    circuit.switch("S1", ["low", "0"], ["in", "0"], SwitchModel::ideal(10.0).hysteresis(1.0));
    circuit.capacitor("C1", ["out", "0"], 1e-6);
    let at = |circuit: &Circuit| circuit.operating_point().unwrap().v("out").unwrap();
    assert!((at(&circuit) - 10.0).abs() < 1e-6);
    let set = |circuit: &mut Circuit, was: Option<bool>| {
        if let Device::Switch { closed, .. } = &mut circuit.components[3].device {
            *closed = was;
        }
    };
    set(&mut circuit, Some(true));
    assert!((at(&circuit) - 5.0).abs() < 1e-6);
    let (model, run) = run(&circuit, 1.0, 1e-4, 1e-2);
    assert!((last(&model, &run, "v(out)") - 5.0).abs() < 1e-9);
    assert!((last(&model, &run, "i(S1)") - 5e-3).abs() < 1e-9);
    // above both it is closed whatever was given
    set(&mut circuit, Some(false));
    circuit.components[0].device = Device::VoltageSource {
        between: [circuit.node("in"), circuit.node("0")],
        source: 12.0.into(),
    };
    assert!((at(&circuit) - 6.0).abs() < 1e-6);
    assert!(matches!(circuit.operating_points(100), Err(CircuitError::Unsupported { .. })));
}

/// The closed switch and the resistor beside it have `R_on` together, the open one `R_off`.
#[test]
fn resistances_are_exact() {
    for (level, resistance) in [(1.0, 0.25), (0.0, 3.0)] {
        let mut circuit = Circuit::new("resistances");
        circuit.voltage_source("V1", ["a", "0"], 2.0);
        circuit.voltage_source("VG", ["g", "0"], level);
        circuit.switch(
            "S1",
            ["a", "0"],
            ["g", "0"],
            SwitchModel::ideal(0.5).resistances(0.25, 3.0),
        );
        let (model, run) = run(&circuit, 1.0, 0.1, 1.0);
        assert!((last(&model, &run, "i(S1)") - 2.0 / resistance).abs() < 1e-12);
    }
    let mut circuit = Circuit::new("resistances");
    circuit.voltage_source("V1", ["a", "0"], 2.0);
    circuit.switch("S1", ["a", "0"], ["a", "0"], SwitchModel::ideal(0.5).resistances(3.0, 3.0));
    let error = circuit.model().unwrap_err();
    assert_eq!(error.to_string(), "`S1`: `off resistance` is 3, expected above the on resistance");
}

/// A current closes it: the coil's grows to 1 A, then the switch takes the resistor away, and with
/// `i̇ = (V − R₂ i)/L` it goes on to another value.
#[test]
fn a_current_closes_it() {
    let mut circuit = Circuit::new("relay");
    circuit.voltage_source("V1", ["in", "0"], 10.0);
    let sense = circuit.voltage_source("VS", ["in", "a"], 0.0);
    circuit.resistor("R1", ["a", "b"], 4.0);
    circuit.resistor("R2", ["b", "c"], 4.0);
    let coil = circuit.inductor("L1", ["c", "0"], 1e-3);
    circuit.start(coil, 0.0);
    let device = Device::Switch {
        between: [circuit.node("a"), circuit.node("b")],
        control: Control::Current(sense),
        model: SwitchModel::ideal(1.0),
        closed: None,
    };
    circuit.add("W1", device);
    let h = 1e-7;
    let (model, run) = run(&circuit, 0.5, h, 3e-3);
    let exact = 1e-3 / 8.0 * (10.0_f64 / (10.0 - 8.0)).ln();
    assert_eq!(run.events.len(), 1);
    assert!((run.events[0].time - exact).abs() < 2.0 * h, "{} {exact}", run.events[0].time);
    assert!((last(&model, &run, "i(VS)") - 2.5).abs() < 1e-4);
    assert!((last(&model, &run, "i(W1)") - 2.5).abs() < 1e-4);
    assert!(last(&model, &run, "i(R1)").abs() < 1e-12);
}

/// A control that depends on another device: a comparator drives the switch of a capacitor.
#[test]
fn a_device_closes_it() {
    let mut circuit = Circuit::new("comparator");
    circuit.voltage_source("V1", ["in", "0"], Source::lines([(0.0, -1.0), (2.0, 1.0)]));
    let limits = saltus_circuits::OpAmpModel::ideal().between(0.0, 5.0);
    circuit.op_amp("X1", ["in", "0", "g"], limits);
    circuit.resistor("RG", ["g", "0"], 1e3);
    circuit.voltage_source("V2", ["b", "0"], 3.0);
    circuit.switch("S1", ["b", "out"], ["g", "0"], SwitchModel::ideal(2.5));
    circuit.resistor("R1", ["out", "0"], 1e3);
    let (model, run) = run(&circuit, 1.0, 1e-3, 2.0);
    let v = model.trace(&run, "v(out)").unwrap();
    for (t, v) in run.frames.time.iter().zip(&v).skip(1) {
        // one step late
        let exact = if *t > 1.0015 { 3.0 } else { 0.0 };
        assert!((v - exact).abs() < 1e-9 || (*t - 1.0015).abs() < 2e-3, "{t}: {v}");
    }
    assert!(switch_of(&model, "S1").0.contains(".x["));
}

/// A current that loses its way is no circuit; with a diode, or a resistance, it is one.
#[test]
fn a_current_without_a_way_out_is_refused() {
    let broken = |off: f64| {
        let mut circuit = Circuit::new("ignition");
        circuit.voltage_source("V1", ["in", "0"], 12.0);
        circuit.voltage_source("VG", ["g", "0"], gate(0.5, 1e-3));
        circuit.resistor("R1", ["in", "a"], 1.0);
        circuit.inductor("L1", ["a", "b"], 1e-3);
        circuit.switch("S1", ["b", "0"], ["g", "0"], SwitchModel::ideal(0.5).resistances(0.0, off));
        circuit
    };
    let error = broken(f64::INFINITY).model().unwrap_err();
    let CircuitError::Interrupted { component, switches } = &error else { panic!("{error}") };
    assert_eq!((component.name.as_str(), switches[0].name.as_str()), ("L1", "S1"));
    assert!(error.to_string().contains("off resistance"), "{error}");
    // the voltage of the coil drives its current through the open switch, and it does not ring
    let (model, run) = run(&broken(1e4), 0.5, 1e-6, 1e-3);
    let (i, v) = (model.trace(&run, "i(L1)").unwrap(), model.trace(&run, "v(b)").unwrap());
    assert!(i.iter().all(|i| *i > -1e-3), "{:?}", i.iter().copied().fold(f64::MAX, f64::min));
    assert!(v.iter().copied().fold(0.0, f64::max) > 100.0);
    assert!((last(&model, &run, "i(L1)") - 12.0 / 10001.0).abs() < 1e-6);
    let mut freewheel = broken(f64::INFINITY);
    freewheel.diode("D1", ["b", "in"], DiodeModel::ideal());
    assert!(freewheel.model().is_ok());
}

/// Closing an ideal switch across a source is a step that fails, and says where.
#[test]
fn a_short_circuit_is_told() {
    let mut circuit = Circuit::new("short");
    circuit.voltage_source("V1", ["a", "0"], 5.0);
    circuit.voltage_source("VG", ["g", "0"], Source::lines([(0.0, 0.0), (1.0, 1.0)]));
    circuit.switch("S1", ["a", "0"], ["g", "0"], SwitchModel::ideal(0.5));
    circuit.resistor("R1", ["a", "0"], 1.0);
    let model = circuit.model().unwrap();
    let error = model.run(&Transient::new(1.0, 0.01), Watch::default()).unwrap_err();
    let saltus_circuits::TransientError::Failed(failure) = &error else { panic!("{error}") };
    assert!(error.to_string().contains("`S1`"), "{error}");
    let end = *failure.run.frames.time.last().unwrap();
    assert!((end - 0.51).abs() < 1e-9 || (end - 0.5).abs() < 1e-9, "{end}");
}

/// The oscillator, its instants found: whatever the distance of rows is, the closed form.
#[test]
fn instants_are_located() {
    let switch = SwitchModel::ideal(4.0).hysteresis(2.0).resistances(100.0, f64::INFINITY);
    let model = oscillator(switch).model().unwrap();
    let (full, parallel) = (10.0_f64, 1e3 * 100.0 / 1.1e3);
    let empty = full * 100.0 / 1.1e3;
    let first = 1e-3 * (full / (full - 6.0)).ln();
    let up = 1e-3 * ((full - 2.0) / (full - 6.0)).ln();
    let down = parallel * 1e-6 * ((6.0 - empty) / (2.0 - empty)).ln();
    for (method, tol, allowed) in [
        (Method::Exact, 1e-9, 1e-12),
        (Method::Adaptive, 1e-9, 1e-12),
        (Method::Adaptive, 1e-5, 1e-8),
    ] {
        for h in [1e-6, 1e-4] {
            let asked = Transient { method, tol, ..Transient::new(10e-3, h) };
            let run = model.run(&asked, Watch::default()).unwrap();
            let times: Vec<f64> = run.events.iter().map(|event| event.time).collect();
            assert!(times.len() > 8, "{times:?}");
            let mut t = first;
            for (k, found) in times.iter().enumerate() {
                assert!((found - t).abs() < allowed, "{method:?} {k}: {found} {t}");
                t += if k % 2 == 0 { down } else { up };
            }
            let v = run.signal("v(c)").unwrap();
            assert!(v.iter().all(|v| *v <= 6.0 + 1e-6), "{v:?}");
        }
    }
}

/// A coil that a switch charges to one current and lets go to another, with a smooth diode beside: steps that
/// follow their error end where the switch turns.
#[test]
fn instants_are_located_beside_smooth_devices() {
    let text = "peak current control
V1 in 0 10
S1 in a sense 0 gate on
D1 0 a dm
L1 a b 1m ic=0
RS b 0 1
E1 sense 0 VALUE={-v(b)}
.model gate SW(vt=-0.5 vh=0.1 ron=1m roff=1g)
.model dm D(IS=1e-12 RS=1m)
.option saltus device=smooth method=adaptive
.option reltol=1e-6
.tran 10u 1m uic
.end
";
    let deck = saltus_circuits::Deck::parse(text, "peak.cir").unwrap();
    let plan = deck.plan(None, None).unwrap();
    assert_eq!(plan.transient.method, Method::Adaptive);
    let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
    let switches = run.events.iter().filter(|event| event.interaction == "S1");
    let times: Vec<f64> = switches.map(|event| event.time).collect();
    // from 0 to 0.6 A, then up from 0.4 A each time: L di/dt = 10 − (1 + Ron) i
    let (r, full) = (1.001_f64, 10.0 / 1.001);
    let rise = |from: f64, to: f64| 1e-3 / r * ((full - from) / (full - to)).ln();
    assert!(times.len() > 8, "{times:?}");
    assert!((times[0] - rise(0.0, 0.6)).abs() < 2e-9, "{} {}", times[0], rise(0.0, 0.6));
    for k in [2, 4, 6] {
        let found = times[k] - times[k - 1];
        assert!((found - rise(0.4, 0.6)).abs() < 2e-9, "{found} {}", rise(0.4, 0.6));
    }
    let i = run.signal("i(L1)").unwrap();
    assert!(i.iter().all(|i| *i <= 0.6 + 1e-5));
}

/// One that would always chatter is told, with its name, in place of an endless run.
#[test]
fn chatter_is_told() {
    let model = oscillator(SwitchModel::ideal(4.0).resistances(100.0, f64::INFINITY)).model();
    let model = model.unwrap();
    for method in [Method::Exact, Method::Adaptive] {
        let asked = Transient { method, ..Transient::new(1e-3, 1e-5) };
        let error = model.run(&asked, Watch::default()).unwrap_err().to_string();
        assert!(error.contains("`S1`") && error.contains("hysteresis"), "{error}");
    }
}

/// A buck converter whose switch, diode and gate turn at their own instants: mean and ripple of the closed form at any
/// distance of rows, and the charge that two capacitors share at once.
#[test]
fn converters_by_events() {
    let (input, duty, inductance) = (12.0, 0.4, 100e-6);
    let mut circuit = Circuit::new("buck");
    circuit.voltage_source("VIN", ["in", "0"], input);
    circuit.switch("S1", ["in", "sw"], ["gate", "0"], SwitchModel::ideal(0.5));
    circuit.diode("D1", ["0", "sw"], DiodeModel::ideal());
    let coil = circuit.inductor("L1", ["sw", "out"], inductance);
    circuit.start(coil, 0.96);
    circuit.voltage_source("VOUT", ["out", "0"], duty * input);
    circuit.voltage_source("VG", ["gate", "0"], gate(duty, T));
    let model = circuit.model().unwrap();
    for method in [Method::Exact, Method::Adaptive] {
        let asked = Transient { method, tol: 1e-8, ..Transient::new(20.0 * T, T / 64.0) };
        let run = model.run(&asked, Watch::default()).unwrap();
        let i = run.signal("i(L1)").unwrap();
        let ripple = input * duty * (1.0 - duty) * T / inductance;
        let (low, high) = i.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!((low - 0.96).abs() < 1e-5, "{low}");
        assert!(high <= 0.96 + ripple + 1e-5 && high > 0.96 + 0.9 * ripple, "{high}");
        assert!((i[i.len() - 1] - 0.96).abs() < 1e-5, "{}", i[i.len() - 1]);
    }

    let mut circuit = Circuit::new("charge");
    let [one, two] = [("C1", "a"), ("C2", "b")].map(|(c, n)| circuit.capacitor(c, [n, "0"], 1e-6));
    circuit.start(one, 10.0);
    circuit.start(two, 0.0);
    circuit.voltage_source("VG", ["g", "0"], Source::lines([(0.0, 0.0), (1e-3, 1.0)]));
    circuit.switch("S1", ["a", "b"], ["g", "0"], SwitchModel::ideal(0.5));
    let model = circuit.model().unwrap();
    let asked = Transient { method: Method::Exact, ..Transient::new(1e-3, 1e-4) };
    let run = model.run(&asked, Watch::default()).unwrap();
    let [a, b] = ["v(a)", "v(b)"].map(|name| run.signal(name).unwrap());
    for (k, t) in run.frames.time.iter().enumerate().filter(|(_, t)| (**t - 0.5e-3).abs() > 1e-9) {
        let expected = if *t < 0.5e-3 { (10.0, 0.0) } else { (5.0, 5.0) };
        assert!(
            (a[k] - expected.0).abs() < 1e-6 && (b[k] - expected.1).abs() < 1e-6,
            "{t}: {}",
            a[k]
        );
    }
}

/// Half a bridge of switches that take turns, its load a coil: both in a row, either in the tree.
#[test]
fn a_half_bridge() {
    let mut circuit = Circuit::new("half bridge");
    let model = SwitchModel::ideal(0.5).resistances(1e-3, 1e6);
    circuit.voltage_source("VP", ["p", "0"], 10.0);
    circuit.voltage_source("VN", ["n", "0"], -10.0);
    circuit.voltage_source("VG", ["g", "0"], gate(0.5, 1e-3));
    circuit.voltage_source("V1", ["one", "0"], 1.0);
    circuit.switch("S1", ["p", "sw"], ["g", "0"], model.clone());
    circuit.switch("S2", ["sw", "n"], ["one", "g"], model);
    let coil = circuit.inductor("L1", ["sw", "0"], 1e-3);
    circuit.start(coil, 0.0);
    let (model, run) = run(&circuit, 0.5, 1e-6, 2e-3);
    let (i, v) = (model.trace(&run, "i(L1)").unwrap(), model.trace(&run, "v(sw)").unwrap());
    // a triangle of 10 V · 0.5 ms/1 mH
    let peak = i.iter().copied().fold(0.0, f64::max);
    assert!((peak - 5.0).abs() < 0.03, "{peak}");
    assert!(v.iter().skip(2).all(|v| (v.abs() - 10.0).abs() < 0.01));
}

/// Full bridge: with the voltage `V (2D − 1)` over `R`, less what the dead times take, the current of
/// the coil; ngspice with the same switches and nearly ideal diodes says 3.4424 A and 1.0433 A.
#[test]
fn a_full_bridge() {
    let (model, run) = run(&crate::circuits::full_bridge(), 0.5, 1e-7, 5e-3);
    let i = &model.trace(&run, "i(L1)").unwrap()[40_000..];
    assert!((mean(i) / 3.4424 - 1.0).abs() < 2e-3, "{}", mean(i));
    let ripple =
        i.iter().copied().fold(f64::MIN, f64::max) - i.iter().copied().fold(f64::MAX, f64::min);
    assert!((ripple / 1.0433 - 1.0).abs() < 2e-3, "{ripple}");
}

/// Events tell whether a switch is closed, wherever it stands in the tree.
#[test]
fn events_of_switches() {
    let model = crate::circuits::full_bridge().model().unwrap();
    let run = model.run(&Transient::new(100e-6, 1e-7), Watch::default()).unwrap();
    let of = |name: &str| -> Vec<String> {
        let own = run.events.iter().filter(|event| {
            event.interaction == name && event.kind == saltus_sim::EventKind::Switch
        });
        own.map(|event| event.changes[0].after.to_string()).collect()
    };
    for name in ["S1", "S2", "S3", "S4"] {
        let changes = of(name);
        let expected = ["1", "0", "1", "0"];
        assert_eq!(changes, expected[..changes.len()], "{name}");
        assert!(changes.len() >= 3);
    }
}

/// What the reader makes of transistors that are taken as switches.
#[test]
fn ideal_transistors() {
    let text = "synchronous buck
VIN in 0 12
VH gh sw PULSE(0 5 0 1n 1n 3.999u 10u)
VL gl 0 PULSE(5 0 0 1n 1n 3.999u 10u)
M1 in gh sw sw NM
M2 sw gl 0 0 NM
L1 sw out 100u ic=0.96
C1 out 0 100u ic=4.8
R1 out 0 5
.model NM nmos(saltus=ideal VTO=2 ron=1u)
.tran 20n 1m uic
.end
";
    let deck = saltus_circuits::Deck::parse(text, "buck.cir").unwrap();
    let circuit = deck.circuit().unwrap();
    let model = circuit.model().unwrap();
    let asked = Transient {
        signals: Some(vec!["v(out)".into(), "i(L1)".into()]),
        ..Transient::new(1.0, 2e-8)
    };
    let settings = saltus_analysis::periodic::Shooting::default();
    let steady = model.steady_state(&asked, T, settings, Watch::default()).unwrap();
    let v = mean(&steady.run.signal("v(out)").unwrap());
    assert!((v - 4.8).abs() < 1e-4, "{v}");
}

/// A formula of time is looked at: with the period of a source it must repeat, alone it needs one, and v = R i of a
/// formula that repeats is found.
#[test]
fn steady_states_of_formulas_of_time() {
    let model = |lines: &str| {
        let deck = saltus_circuits::Deck::parse(&format!("title\n{lines}"), "a.cir").unwrap();
        deck.circuit().unwrap().model().unwrap()
    };
    let fails = |lines: &str| model(lines).period().unwrap_err().to_string();
    let rest = "\nR1 a b 1\nC1 b 0 1m";
    assert_eq!(
        fails(&format!("B1 a 0 V=sin(6283.185307179586*time){rest}")),
        "`B1` is a formula of `time` and no source tells its period: give one"
    );
    assert_eq!(
        fails(&format!("B1 a c V=time*1000\nV1 c 0 sin(0 1 1k){rest}")),
        "`B1` is a formula of `time` that does not repeat every 0.001 s"
    );
    let lines =
        format!("B1 a c V=2+sin(6283.185307179586*time)*cos(v(b)-v(b))\nV1 c 0 sin(0 1 500){rest}");
    let two = model(&lines);
    assert!((two.period().unwrap() - 2e-3).abs() < 1e-15);

    let alone = model(&format!("B1 a 0 V=2+sin(6283.185307179586*time){rest}"));
    let asked = Transient::new(1e-3, 1e-5);
    let found = alone.steady_state(&asked, 1e-3, Shooting::default(), Watch::default()).unwrap();
    let v = mean(&found.run.signal("v(b)").unwrap());
    assert!((v - 2.0).abs() < 1e-3, "{v}");
    let wrong = alone.steady_state(&asked, 0.7e-3, Shooting::default(), Watch::default());
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "`B1` is a formula of `time` that does not repeat every 0.0007 s"
    );
}

/// With a hysteresis below zero it closes where others open.
#[test]
fn a_switch_that_closes_below() {
    let mut circuit = Circuit::new("inverted");
    circuit.voltage_source("V1", ["a", "0"], 1.0);
    circuit.resistor("R1", ["a", "b"], 1.0);
    circuit.switch("S1", ["b", "0"], ["c", "0"], SwitchModel::ideal(1.5).hysteresis(-0.5));
    circuit.voltage_source("VC", ["c", "0"], Source::lines([(0.0, 0.0), (3.0, 3.0), (6.0, 0.0)]));
    let model = circuit.model().unwrap();
    let done = model.run(&Transient::new(6.0, 0.01), Watch::default()).unwrap();
    let b = done.signal("v(b)").unwrap();
    for (t, b) in done.frames.time.iter().zip(b) {
        // closed below 1 on the way down, open above 2 on the way up
        let closed = *t < 2.0 || *t > 5.0;
        if (t - 2.0).abs() > 0.03 && (t - 5.0).abs() > 0.03 {
            assert!((b - if closed { 0.0 } else { 1.0 }).abs() < 1e-12, "{t}: {b}");
        }
    }
}
