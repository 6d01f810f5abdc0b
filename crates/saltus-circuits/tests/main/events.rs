//! Circuits from event to event.

use crate::circuits::{buck, diode_bridge, half_wave};
use saltus_circuits::{Circuit, CircuitModel, Deck, DiodeModel, Method, Source, Watch};
use saltus_numerics::Solver;
use saltus_sim::{EventDriven, EventSettings, Outcome, Run, RunOptions};
use std::path::Path;

/// Tolerances.
const FINE: (f64, f64) = (1e-10, 1e-12);

fn follow(circuit: &Circuit, until: f64, tolerances: (f64, f64)) -> (CircuitModel, Run) {
    let model = circuit.autonomous_model().unwrap();
    let settings = EventSettings { rtol: tolerances.0, atol: tolerances.1 };
    let mut sim = EventDriven::with(model.model.clone(), settings, &Solver::default()).unwrap();
    let run = sim.run_with(until, RunOptions::default()).map_err(|failure| failure.source).unwrap();
    (model, run)
}

/// The bridge hides nothing from the tank: `x = exp(A t) x₀` with the resistor beside it.
#[test]
fn a_bridge_is_followed_exactly() {
    let (model, run) = follow(&diode_bridge(), 5e-3, FINE);
    let v = model.trace(&run, "v(a, b)").unwrap();
    assert!((v.last().unwrap() - 0.7903228196443555).abs() < 1e-9, "{:?}", v.last());
}

/// Half waves: free oscillation of half a period, then damped.
#[test]
fn half_waves_are_followed_exactly() {
    let (model, run) = follow(&half_wave(), 5e-3, FINE);
    // from v = −1, i = 0 the tank swings freely for a quarter of a period
    let quarter = std::f64::consts::FRAC_PI_2 * 1e-4;
    let first = run.events.first().unwrap();
    assert!((first.time - quarter).abs() < 1e-12 * quarter.max(1.0), "{}", first.time);
    assert!(model.trace(&run, "i(D1)").unwrap().iter().all(|i| *i >= -1e-12));
}

/// A rectifier with a capacitor: the diode closes where the source meets the capacitor.
#[test]
fn a_rectifier_from_a_sine() {
    let mut circuit = Circuit::new("rectifier");
    circuit.voltage_source("V1", ["in", "0"], Source::sine(10.0, 50.0));
    circuit.diode("D1", ["in", "a"], DiodeModel::ideal());
    circuit.resistor("R1", ["a", "out"], 10.0);
    let c = circuit.capacitor("C1", ["out", "0"], 1e-4);
    circuit.start(c, 5.0);
    circuit.resistor("R2", ["out", "0"], 1e9);
    let (model, run) = follow(&circuit, 10e-3, FINE);
    // 10 sin ωt = 5 (1 − tiny)
    let first = run.events.iter().find(|event| event.interaction == "D1").unwrap();
    assert!((first.time - 1.0 / 600.0).abs() < 1e-9, "{}", first.time);
    let (v, out) = (model.trace(&run, "v(in)").unwrap(), model.trace(&run, "v(out)").unwrap());
    assert!(v.iter().zip(&out).all(|(v, out)| *v <= out + 10.0));
}

/// All kinds of sources as states follow their functions of time.
#[test]
fn sources_are_states() {
    let pulse = Source::Pulse {
        low: 1.0,
        high: 3.0,
        delay: 0.1,
        rise: 0.05,
        fall: 0.1,
        width: 0.2,
        period: 0.5,
        count: None,
    };
    let counted = Source::Pulse {
        low: 0.0,
        high: 1.0,
        delay: 0.05,
        rise: 0.0,
        fall: 0.0,
        width: 0.1,
        period: 0.3,
        count: Some(2),
    };
    let points = vec![(0.0, 1.0), (0.2, 2.0), (0.2, 0.0), (0.5, 3.0)];
    let sources = [
        pulse,
        counted,
        Source::PiecewiseLinear { points: points.clone(), repeat: Some(0.1), delay: 0.1 },
        Source::PiecewiseLinear { points, repeat: None, delay: 0.0 },
        Source::Sin {
            offset: 0.5,
            amplitude: 2.0,
            frequency: 3.0,
            delay: 0.15,
            damping: 1.0,
            phase: 0.4,
        },
        Source::Exp {
            first: 0.0,
            second: 2.0,
            rise_delay: 0.1,
            rise_time: 0.2,
            fall_delay: 0.6,
            fall_time: 0.1,
        },
    ];
    for source in sources {
        let mut circuit = Circuit::new("source");
        circuit.voltage_source("V1", ["in", "0"], source.clone());
        circuit.resistor("R1", ["in", "out"], 1.0);
        circuit.capacitor("C1", ["out", "0"], 0.1);
        let (model, run) = follow(&circuit, 1.7, FINE);
        let v = model.trace(&run, "v(in)").unwrap();
        let times = &run.frames.time;
        for k in 0..times.len() {
            // at a jump there are two rows
            let near = |t: f64| (v[k] - source.value(t)).abs() < 1e-9;
            let t = times[k];
            assert!(near(t) || near(t - 1e-12) || near(t + 1e-12), "{source:?} at {t}: {}", v[k]);
        }
        assert!(times.len() > 3);
    }
}

/// The buck converter from event to event: two methods agree, and small steps tend to them.
#[test]
fn a_buck_converter_is_followed() {
    let exact = ["auto", "pivoting"].map(|name| {
        let model = buck().autonomous_model().unwrap();
        let settings = EventSettings { rtol: 1e-8, atol: 1e-8 };
        let solver = Solver::from_name(name).unwrap();
        let mut sim = EventDriven::with(model.model.clone(), settings, &solver).unwrap();
        let run = sim.run(5e-6).map_err(|failure| failure.source).unwrap();
        assert!(run.events.len() > 100, "{}", run.events.len());
        crate::last(&model, &run, "i(L1)")
    });
    assert!((exact[0] - exact[1]).abs() < 1e-12, "{exact:?}");
}

/// Rows at instants are those of legs from event to event, rows at the ends of steps those of steps:
/// the same events, and the same states.
#[test]
fn legs_and_steps_agree() {
    for (circuit, until) in [(diode_bridge(), 5e-3), (half_wave(), 5e-3), (buck(), 5e-6)] {
        let model = circuit.autonomous_model().unwrap();
        let samples: Vec<f64> = (0..=500).map(|k| until * f64::from(k) / 500.0).collect();
        let follow = |samples: Option<&[f64]>| {
            let settings = EventSettings { rtol: 1e-10, atol: 1e-12 };
            let solver = Solver::default();
            let mut sim = EventDriven::with(model.model.clone(), settings, &solver).unwrap();
            let options = RunOptions { samples, ..RunOptions::default() };
            sim.run_with(until, options).map_err(|failure| failure.source).unwrap()
        };
        let (legs, steps) = (follow(Some(&samples)), follow(None));
        assert!(legs.stats.steps <= steps.stats.steps);
        assert_eq!(legs.events.len(), steps.events.len());
        for (a, b) in legs.events.iter().zip(&steps.events) {
            assert_eq!((a.kind, &a.interaction), (b.kind, &b.interaction), "{} {}", a.time, b.time);
            assert!((a.time - b.time).abs() <= 1e-8 * until, "{} for {}", a.time, b.time);
        }
        for name in model.model.systems().map(|(name, _)| format!("{name}.x")) {
            let (a, b) = (legs.signal(&name).unwrap(), steps.signal(&name).unwrap());
            let width = a.len() / legs.frames.time.len();
            let (a, b) = (&a[a.len() - width..], &b[b.len() - width..]);
            let apart = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-7 * (1.0 + b.abs()));
            assert!(apart, "{name}: {a:?} for {b:?}");
        }
    }
}

/// Small steps tend to it, from the first instants on in which gain and bandwidth are felt.
#[test]
fn small_steps_tend_to_events() {
    let model = buck().autonomous_model().unwrap();
    let settings = EventSettings { rtol: 1e-8, atol: 1e-11 };
    let mut sim = EventDriven::with(model.model.clone(), settings, &Solver::default()).unwrap();
    let run = sim.run(2e-8).map_err(|failure| failure.source).unwrap();
    let exact = crate::last(&model, &run, "i(L1)");
    let error = |h| {
        let (model, run) = crate::run(&buck(), 1.0, h, 2e-8);
        (crate::last(&model, &run, "i(L1)") - exact).abs()
    };
    let errors = [1e-10, 1e-11].map(error);
    assert!(errors[0] < 3e-5 && errors[1] < 0.2 * errors[0], "{errors:?}");
}

/// The compensator by which the converter slides: a transistor in saturation sets the current of the coil then,
/// which the state before need not meet but to its tolerance. Figures of ngspice 39.3 with the same devices.
#[test]
fn a_converter_that_slides_is_followed_to_its_end() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/buck-converter/sliding.cir");
    let deck = Deck::parse(&std::fs::read_to_string(path).unwrap(), "sliding.cir").unwrap();
    let mut plan = deck.plan(Some(1e-9), Some(2e-4)).unwrap();
    plan.transient.method = Method::Exact;
    let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Complete);
    let found: Vec<f64> = plan.measure(&run).into_iter().map(|one| one.1.unwrap()).collect();
    let [vout, ripple] = found[..] else { panic!("{found:?}") };
    assert!((vout - 1.79983).abs() < 1e-4 && (ripple - 0.20492).abs() < 2e-4, "{vout} {ripple}");
}
