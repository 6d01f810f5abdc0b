//! What users of other tools had to tell, and ours should not: each test is named after the story.

use super::*;

/// The smallest of a signal.
fn least(run: &Run, path: &str) -> f64 {
    run.signal(path).unwrap().into_iter().fold(f64::INFINITY, f64::min)
}

/// The documented ball falls through the floor after many bounces.
#[test]
fn the_ball_never_falls_through() {
    let first = (2.0 / 9.81_f64).sqrt();
    let bounces = 10_000;
    let mut sim = driven(ball(1.0), 1e-9, 1e-12);
    let until = first * 2.0 * bounces as f64;
    let run = sim.run(until).unwrap();
    // two roundings of a time of 9000 seconds, at 4.4 m/s
    assert!(least(&run, "ball.q") > -2e-11, "{}", least(&run, "ball.q"));
    let impacts = times(&sim, EventKind::Impact);
    assert_eq!(impacts.len(), bounces);
    for (k, t) in impacts.iter().enumerate() {
        let exact = first * (2 * k + 1) as f64;
        assert!((t / exact - 1.0).abs() < 1e-9, "bounce {k}: {t} for {exact}");
    }
    for e in [0.0, 1e-3, 0.1, 0.3, 0.7, 0.95, 0.999] {
        let run = driven(ball(e), 1e-9, 1e-12).run(5.0).unwrap();
        assert!(least(&run, "ball.q") > -1e-11, "{e}");
    }
}

/// Simultaneous events are unsupported.
#[test]
fn several_impacts_a_condition_and_a_schedule_at_one_instant() {
    let first = (2.0 / 9.81_f64).sqrt();
    let mut model = Model::new("balls");
    for (k, e) in [0.5, 0.6, 0.7].into_iter().enumerate() {
        let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
        let ball = model.add(&format!("ball{k}"), ball).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0]]);
        let law = Law::newton_impact(e);
        model.connect(&format!("floor{k}"), floor, law, &[ball]).unwrap();
    }
    model.add_event(Event::at([first]).named("schedule")).unwrap();
    model.add_event(Event::when("ball1.v[0] > 0").named("condition").once()).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(first + 0.1).unwrap();
    let at: Vec<f64> = sim.events().iter().map(|event| event.time).collect();
    assert!(at.len() == 5 && worst(&at, &[first; 5]) < 1e-13, "{at:?}");
    for (k, e) in [0.5, 0.6, 0.7].into_iter().enumerate() {
        let v = last::<1>(&run, &format!("ball{k}.v"))[0];
        assert!((v - (e * 9.81 * first - 0.981)).abs() < 1e-10, "{v}");
    }
}

/// An inductor, a capacitor and a load behind a transistor that chops the source, and an ideal diode
/// that keeps the current from turning: `i ≥ 0 ⟂ λ ≥ 0`. The third state is the mean voltage, times t.
fn buck(frequency: f64, duty: f64, resistance: f64) -> Model {
    let build = move |closed: f64| {
        let (inductance, capacitance, source) = (100e-6, 20e-6, 10.0);
        let mut model = Model::new("buck converter");
        model.add_parameter("closed", closed);
        let A = [
            [0.0, -1.0 / inductance, 0.0],
            [1.0 / capacitance, -1.0 / (resistance * capacitance), 0.0],
            [0.0, 1.0, 0.0],
        ];
        let circuit = FirstOrderLinear::new([0.0; 3], A);
        let circuit = circuit.b([closed * source / inductance, 0.0, 0.0]);
        let id = model.add("circuit", circuit)?;
        let diode =
            FirstOrderLinearRelation::new([[1.0, 0.0, 0.0]], [[1.0 / inductance], [0.0], [0.0]]);
        model.connect("diode", diode, Law::Complementarity, &[id])?;
        let period = 1.0 / frequency;
        model.add_event(Event::every(period).named("on").set_parameter("closed", 1.0))?;
        let off = Event::every(period).starting_at(duty * period).named("off");
        model.add_event(off.set_parameter("closed", 0.0))?;
        Ok::<_, ModelError>(model)
    };
    let model = build(0.0).unwrap();
    model.with_recipe(move |set| build(set[0].1).map_err(|error| error.to_string()))
}

/// A textbook buck converter is stuck at 0 %.
#[test]
fn a_buck_converter_is_not_stuck() {
    // a current that never ceases: the mean of the voltage is that of the source, chopped
    let (frequency, duty) = (50e3, 0.3);
    let mean = |model: Model, from: f64, to: f64| {
        let mut sim = driven(model, 1e-8, 1e-10);
        let before = last::<3>(&sim.run(from).unwrap(), "circuit.x");
        let run = sim.run(to).unwrap();
        let after = last::<3>(&run, "circuit.x");
        assert!(least(&run, "circuit.x") > -1e-9);
        ((after[2] - before[2]) / (to - from), sim.events().len())
    };
    let (voltage, _) = mean(buck(frequency, duty, 2.0), 4e-3, 4.2e-3);
    assert!((voltage - 10.0 * duty).abs() < 1e-6, "{voltage}");
    // one that does, in every period: the ratio of the source, M, with K = 2 L f / R
    let k = 2.0 * 100e-6 * frequency / 200.0;
    let ratio = 2.0 / (1.0 + (1.0 + 4.0 * k / (duty * duty)).sqrt());
    let (voltage, events) = mean(buck(frequency, duty, 200.0), 30e-3, 30.2e-3);
    assert!((voltage - 10.0 * ratio).abs() < 0.1, "{voltage} for {}", 10.0 * ratio);
    // on, off, the diode stops the current, and lets it go
    assert!(events > 4 * 1500 - 100, "{events}");
}

/// An inverter is stuck with f = 10000 Hz, fine with 10000.1 Hz.
#[test]
fn a_frequency_that_fits_the_samples_is_like_any_other() {
    let at = |frequency: f64, pieces: usize| {
        let mut sim = driven(buck(frequency, 0.5, 5.0), 1e-8, 1e-10);
        let mut end = [0.0; 3];
        for k in 1..=pieces {
            let run = sim.run(2e-3 * k as f64 / pieces as f64).unwrap();
            end = last(&run, "circuit.x");
        }
        (end, sim.events().iter().filter(|event| event.name == "on").count())
    };
    // in one piece, and in pieces that end where the transistor switches
    for frequency in [10_000.0, 10_000.1] {
        let (whole, on) = at(frequency, 1);
        assert_eq!(on, 21);
        for pieces in [20, 40, 7] {
            let (other, again) = at(frequency, pieces);
            assert_eq!(on, again);
            assert!(worst(&other, &whole) < 1e-7, "{frequency}, {pieces}: {other:?} for {whole:?}");
        }
    }
    // and nearly the same for nearly the same frequency
    let (one, other) = (at(10_000.0, 1).0, at(10_000.000_01, 1).0);
    assert!(worst(&one[1..], &other[1..]) < 1e-3, "{one:?}, {other:?}");
}

/// Diode-bridge braking fails by chattering.
#[test]
fn a_diode_bridge_does_not_chatter() {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut model = Model::new("diode bridge");
    let circuit = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1.0 / c], [1.0 / l, 0.0]]);
    let id = model.add("circuit", circuit).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]],
        [[0.0, 0.0, -1.0 / c, 1.0 / c], [0.0; 4]],
    );
    let D = [
        [1.0 / r, 1.0 / r, -1.0, 0.0],
        [1.0 / r, 1.0 / r, 0.0, -1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
    ];
    model.connect("bridge", relation.D(D), Law::Complementarity, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let until = 5e-3;
    let run = sim.run(until).unwrap();
    // two diodes lead at any time, so that the circuit has the resistor in parallel always
    let decay = 1.0 / (2.0 * r * c);
    let omega = (1.0 / (l * c) - decay * decay).sqrt();
    let v = |t: f64| {
        10.0 * (-decay * t).exp() * ((omega * t).cos() - decay / omega * (omega * t).sin())
    };
    let end = last::<2>(&run, "circuit.x")[0];
    assert!((end - v(until)).abs() < 1e-8, "{end} for {}", v(until));
    // and other two where the voltage passes through zero
    let mut instants: Vec<f64> = sim.events().iter().map(|event| event.time).collect();
    instants.dedup_by(|b, a| (*b - *a).abs() < 1e-12);
    let angle = (omega / decay).atan();
    let expected: Vec<f64> =
        (0..).map(|k| (angle + k as f64 * PI) / omega).take_while(|t| *t < until).collect();
    assert_eq!(instants.len(), expected.len(), "{instants:?}");
    assert!(worst(&instants, &expected) < 1e-10);
}

/// Sliding mode cannot be simulated.
#[test]
fn sliding_mode_is_one_event() {
    let mut model = Model::new("sliding");
    let plant = FirstOrderLinear::new([1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]]);
    let id = model.add("plant", plant).unwrap();
    let surface = FirstOrderLinearRelation::new([[1.0, 1.0]], [[0.0], [1.0]]);
    model.connect("surface", surface, Law::relay(-2.0, 2.0), &[id]).unwrap();
    let mut sim = driven(model, 1e-11, 1e-13);
    let run = sim.run(5.0).unwrap();
    // x₁ = 1 − t², x₂ = −2 t until they meet the surface; then x₁ falls like e⁻ᵗ
    let reached = 2f64.sqrt() - 1.0;
    let [slides] = times(&sim, EventKind::Sliding)[..] else { panic!("{:?}", sim.events()) };
    assert!((slides - reached).abs() < 1e-11, "{slides}");
    assert_eq!(sim.events().len(), 1);
    let exact = (1.0 - reached * reached) * (reached - 5.0).exp();
    assert!(worst(&last::<2>(&run, "plant.x"), &[exact, -exact]) < 1e-10);
}

/// A run fails or not depending on two unused outputs.
#[test]
fn an_unused_output_does_not_change_a_bit() {
    let plain = driven(ball(0.7), 1e-9, 1e-11).run(4.0).unwrap();
    let mut model = ball(0.7);
    let id = model.system_id("ball").unwrap();
    let unused = LagrangianLinearRelation::new([[3.0]]).b([-0.1]);
    let unused = model.connect("unused", unused, Law::newton_impact(0.2), &[id]).unwrap();
    model.set_active(unused, false);
    let run = driven(model, 1e-9, 1e-11).run(4.0).unwrap();
    assert_eq!(run.frames.time, plain.frames.time);
    for path in ["ball.q", "ball.v", "floor.y", "floor.lam"] {
        assert_eq!(run.signal(path).unwrap(), plain.signal(path).unwrap(), "{path}");
    }
    assert_eq!(run.events, plain.events);
}

/// A result is off where an event meets a point at which it is saved.
#[test]
fn an_event_may_meet_the_end_of_a_run() {
    let first = (2.0 / 9.81_f64).sqrt();
    let mut whole = driven(ball(0.5), 1e-10, 1e-12);
    let end = last::<1>(&whole.run(1.0).unwrap(), "ball.q")[0];
    for stop in [first, first * (1.0 - 1e-15), first * (1.0 + 1e-15), 2.0 * first] {
        let mut sim = driven(ball(0.5), 1e-10, 1e-12);
        let half = sim.run(stop).unwrap();
        assert!(least(&half, "ball.q") > -1e-14, "{stop}");
        let q = last::<1>(&sim.run(1.0).unwrap(), "ball.q")[0];
        assert!((q - end).abs() < 1e-12, "{stop}: {q} for {end}");
        let [one, other] = [&sim, &whole].map(|sim| times(sim, EventKind::Impact));
        assert!(one.len() == other.len() && worst(&one, &other) < 1e-12, "{one:?}");
    }
}

/// The ball on a vibrating table: where the multiplier of its simplest motion passes −1.
///
/// The deviations τ of the instants of impact obey `τ₊₊ − s τ₊ + d τ = 0` with the trace `s` and the
/// determinant `d` of the map from one impact to the next, so that four of them tell `1 + s + d`.
#[test]
fn period_doubling_on_a_vibrating_table() {
    let (g, e, omega) = (9.81, 0.5, 2.0 * PI);
    let speed = g * PI / omega; // of the throw, in the simplest motion
    let impacts = |gamma: f64, push: f64| -> Vec<f64> {
        let phase = (PI * (1.0 - e) / ((1.0 + e) * gamma)).acos();
        let amplitude = gamma * g / (omega * omega);
        let mut model = Model::new("table");
        let q0 = amplitude * phase.sin();
        let ball = LagrangianLinear::new([q0], [speed + push], [[1.0]]).F_ext([-g]);
        let ball = model.add("ball", ball).unwrap();
        let names = Names { first: ("q", 1), second: ("lam", 1), ..Names::TIME };
        let h = "q[0] - amplitude*sin(omega*t + phase)";
        let constants = [("amplitude", amplitude), ("omega", omega), ("phase", phase)];
        let h = Operator::formulas(1, 1, &[h], &names, &constants).unwrap();
        let law = Law::newton_impact(e);
        model.connect("table", LagrangianRelation::new(h), law, &[ball]).unwrap();
        let mut sim = driven(model, 1e-12, 1e-14);
        sim.run(4.5).unwrap();
        times(&sim, EventKind::Impact)
    };
    let margin = |gamma: f64| -> f64 {
        let (plus, minus) = (impacts(gamma, 1e-4), impacts(gamma, -1e-4));
        assert_eq!((plus.len(), minus.len()), (4, 4));
        let tau: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| a - b).collect();
        let determinant = tau[0] * tau[2] - tau[1] * tau[1];
        let s = (tau[0] * tau[3] - tau[1] * tau[2]) / determinant;
        let d = (tau[1] * tau[3] - tau[2] * tau[2]) / determinant;
        assert!((d - e * e).abs() < 1e-4, "{d}");
        1.0 + s + d
    };
    let (mut a, mut b) = (1.4, 1.6);
    let (mut at_a, mut at_b) = (margin(a), margin(b));
    assert!(at_a * at_b < 0.0);
    for _ in 0..6 {
        let c = b - at_b * (b - a) / (at_b - at_a);
        if (c - b).abs() < 1e-9 {
            break;
        }
        (a, at_a) = (b, at_b);
        (b, at_b) = (c, margin(c));
    }
    assert!((b - 1.5268237005).abs() < 1e-6, "{b}");
}
