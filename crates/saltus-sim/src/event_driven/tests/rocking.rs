//! A block that rocks from corner to corner.

use super::{driven, last, times};
use crate::run::EventKind;
use saltus_linalg::Matrix;
use saltus_model::*;

const A: f64 = 0.75;
const B: f64 = 0.5;
const G: f64 = 9.81;
const TILT: f64 = std::f64::consts::PI / 10.0;

/// A block of 1 × 1.5, let go tilted on its left corner; two contacts with friction.
fn block() -> Model {
    tilted(TILT, 0.0, 0.8, 0.0)
}

/// The same with another tilt, restitution and friction, and a velocity along the floor.
fn tilted(tilt: f64, e: f64, mu: f64, v: f64) -> Model {
    let mut model = Model::new("rocking block");
    let height = B * tilt.sin().abs() + A * tilt.cos();
    let mass = Matrix::diagonal(&[1.0, 1.0, (A * A + B * B) / 3.0]);
    let block = LagrangianLinear::new([0.0, height, tilt], [v, 0.0, 0.0], mass);
    let id = model.add("block", block.F_ext([0.0, -G, 0.0])).unwrap();
    let names = Names { first: ("q", 3), second: ("lam", 2), ..Names::TIME };
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let constants = [("a", A), ("b", side * B)];
        let gap = ["q[1] + b*sin(q[2]) - a*cos(q[2])", "q[0] + b*cos(q[2]) + a*sin(q[2])"];
        let h = Operator::formulas(2, 1, &gap, &names, &constants).unwrap();
        let law = Law::impact_friction(e, mu);
        model.connect(name, LagrangianRelation::new(h), law, &[id]).unwrap();
    }
    model
}

/// Housner's block turns about a corner, `θ̈ = −p² sin(α − θ)` with `p² = 3 g/(4 R)`, until it is
/// upright; then about the other one, with `1 − (3/2) sin² α` of its velocity.
#[test]
fn the_rocking_block() {
    let mut sim = driven(block(), 1e-10, 1e-12);
    sim.run(2.0).unwrap();
    let impacts = times(&sim, EventKind::Impact);
    let radius = A.hypot(B);
    let (alpha, square) = (B.atan2(A), 0.75 * G / radius);
    let left = 1.0 - 1.5 * (B / radius).powi(2);
    // a fall from tilt θ₀ at rest takes ∫ dθ/ω, with ω² = 2 p² (cos(α − θ₀) − cos(α − θ)) and
    // θ = θ₀ − s², which takes the singularity away
    let fall = |tilt: f64| {
        let speed =
            |theta: f64| (2.0 * square * ((alpha - tilt).cos() - (alpha - theta).cos())).sqrt();
        let end = tilt.sqrt();
        let n = 2000;
        let value = |k: usize| {
            let s = end * k as f64 / n as f64;
            match k {
                0 => 2.0 / (2.0 * square * (alpha - tilt).sin()).sqrt(),
                _ => 2.0 * s / speed(tilt - s * s),
            }
        };
        let sum: f64 =
            (0..n / 2).map(|k| value(2 * k) + 4.0 * value(2 * k + 1) + value(2 * k + 2)).sum();
        (sum * end / n as f64 / 3.0, speed(0.0))
    };
    let (mut tilt, mut t) = (TILT, 0.0);
    let mut exact = Vec::new();
    for k in 0..6 {
        let (time, speed) = fall(tilt);
        t += if k == 0 { time } else { 2.0 * time };
        exact.push(t);
        // as high as what is left of its velocity carries it
        let energy = 0.5 * (left * speed).powi(2) / square;
        tilt = alpha - (alpha.cos() + energy).acos();
    }
    let mut found: Vec<f64> = impacts.clone();
    found.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    for (found, exact) in found.iter().zip(&exact) {
        assert!((found - exact).abs() < 1e-8, "{found} for {exact}: {impacts:?} {exact:?}");
    }
    assert!(found.len() >= 6, "{found:?}");
}

/// At rest its two contacts hold it by more forces than it needs, of which some may drift: they are no
/// events, however long it stands.
#[test]
fn the_block_comes_to_rest() {
    for (rtol, until) in [(1e-6, 5.0), (1e-8, 4.0), (1e-8, 10.0), (1e-9, 100.0), (1e-10, 4.0)] {
        let mut sim = driven(block(), rtol, 1e-2 * rtol);
        let run = sim.run(until).unwrap();
        assert!(run.stats.steps < 100, "{rtol}, {until}: {} steps", run.stats.steps);
        let end = sim.events().last().unwrap().time;
        assert!((end - 1.278948).abs() < 2e-6, "{rtol}, {until}: {:?}", sim.events().last());
        let [_, height, tilt] = last(&run, "block.q");
        assert!((height - A).abs() < rtol && tilt.abs() < rtol, "{height} {tilt}");
        for name in ["left.lam", "right.lam"] {
            let [push, pull] = last(&run, name);
            assert!((push - 0.5 * G).abs() < 1e-6 && pull.abs() <= 0.8 * push, "{push} {pull}");
        }
    }
}

/// A beam that lies on more supports than it needs: none of them is left.
#[test]
fn a_beam_on_five_supports() {
    for at in [[-2.0, -1.0, 0.0, 1.0, 2.0], [-1.3, -0.2, 0.4, 0.9, 1.7]] {
        let mut model = Model::new("beam");
        let beam = LagrangianLinear::new([0.0, 0.0], [0.0, 0.0], Matrix::diagonal(&[2.0, 0.5]));
        let id = model.add("beam", beam.F_ext([-2.0 * G, 0.0])).unwrap();
        for (k, at) in at.into_iter().enumerate() {
            let support = LagrangianLinearRelation::new([[1.0, at]]);
            let law = Law::newton_impact(0.3);
            model.connect(&format!("support{k}"), support, law, &[id]).unwrap();
        }
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(100.0).unwrap();
        assert!(sim.events().is_empty(), "{:?}", sim.events());
        let force: f64 = (0..5).map(|k| last::<1>(&run, &format!("support{k}.lam"))[0]).sum();
        assert!((force - 2.0 * G).abs() < 1e-7, "{force}");
        assert!(run.stats.steps < 100, "{} steps", run.stats.steps);
    }
}

/// Blocks of any tilt, restitution, friction and velocity along the floor: they rock, bounce on both
/// corners, slide, and stand in the end, upright or upside down (only two corners touch the floor).
#[test]
fn blocks_of_any_kind_come_to_rest() {
    let mut seed = 7_u64;
    let mut random = move |least: f64, most: f64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        least + (most - least) * (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let told =
        [(0.3, 0.3, 0.8, 0.0), (0.4, 0.2, 0.05, 0.5), (0.5, 0.7, 0.3, -1.0), (0.25, 0.9, 0.4, 0.3)];
    let drawn = (0..30)
        .map(|_| (random(-0.5, 0.5), random(0.0, 0.9), random(0.05, 1.0), random(-1.0, 1.0)));
    for (tilt, e, mu, v) in told.into_iter().chain(drawn) {
        let case = format!("({tilt}, {e}, {mu}, {v})");
        let mut sim = driven(tilted(tilt, e, mu, v), 1e-8, 1e-10);
        let run = sim.run(8.0).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(run.events.len() < 3000, "{case}: {} events", run.events.len());
        for gap in ["left.y", "right.y"] {
            let normal = run.signal(gap).unwrap().into_iter().step_by(2);
            let deepest = normal.fold(0.0, f64::min);
            assert!(deepest > -1e-8, "{case}: {gap} {deepest}");
        }
        // energy is never gained but at impacts, where Newton's law with friction may give some
        let (q, v) = (run.signal("block.q").unwrap(), run.signal("block.v").unwrap());
        let inertia = (A * A + B * B) / 3.0;
        let energy = |k: usize| {
            let (q, v) = (&q[3 * k..], &v[3 * k..]);
            0.5 * (v[0] * v[0] + v[1] * v[1] + inertia * v[2] * v[2]) + G * q[1]
        };
        let time = &run.frames.time;
        for k in (1..time.len()).filter(|&k| time[k] > time[k - 1]) {
            assert!(energy(k) <= energy(k - 1) + 1e-7, "{case}: {} from {}", time[k], time[k - 1]);
        }
        let numerical = sim.ledger().unwrap().numerical;
        assert!(numerical.abs() < 1e-5, "{case}: {numerical}");
        // at rest on both corners
        let [_, height, turned] = last(&run, "block.q");
        let v: [f64; 3] = last(&run, "block.v");
        assert!(v.iter().all(|v| v.abs() < 1e-8), "{case}: {v:?}");
        assert!(turned.sin().abs() < 1e-7 && (height.abs() - A).abs() < 1e-7, "{case}: {turned}");
    }
}

/// The same as by time-stepping with short steps.
#[test]
fn blocks_as_by_time_stepping() {
    for (tilt, e, mu, v) in [(0.3, 0.3, 0.8, 0.0), (0.2, 0.5, 0.3, 0.4), (0.35, 0.0, 0.1, -0.5)] {
        let model = tilted(tilt, e, mu, v);
        let run = driven(model.clone(), 1e-8, 1e-10).run(4.0).unwrap();
        let mut stepped = crate::TimeStepping::new(model, 1e-4, []).unwrap();
        let steps = stepped.run(4.0).unwrap_or_else(|error| panic!("{error}"));
        let (a, b): ([f64; 3], [f64; 3]) = (last(&run, "block.q"), last(&steps, "block.q"));
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 5e-3, "({tilt}, {e}, {mu}, {v}): {a} for {b}");
        }
    }
}
