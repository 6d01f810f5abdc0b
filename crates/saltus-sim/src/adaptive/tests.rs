//! Adaptive simulation through clusters of events, against closed forms.

use super::{Adaptive, AdaptiveSettings};
use crate::SimError;
use crate::driver::RunOptions;
use crate::integrators::NewtonSettings;
use crate::run::{EventKind, Run};
use saltus_model::*;
use saltus_numerics::Solver;

fn adaptive(model: Model, tol: f64) -> Adaptive {
    Adaptive::with(model, AdaptiveSettings { tol }, &Solver::default()).unwrap()
}

fn last(run: &Run, path: &str) -> f64 {
    *run.signal(path).unwrap().last().unwrap()
}

/// Balls that are thrown up and bounce, each on a floor of its own.
fn balls(speeds: &[f64], e: f64) -> Model {
    let mut model = Model::new("balls");
    for (k, v) in speeds.iter().enumerate() {
        let ball = LagrangianLinear::new([0.0], [*v], [[1.0]]).F_ext([-10.0]);
        let ball = model.add(&format!("ball{k}"), ball).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0]]);
        model.connect(&format!("floor{k}"), floor, Law::newton_impact(e), &[ball]).unwrap();
    }
    model
}

/// While events are rare, nothing but events ends a flight: the strategy is the event-driven one.
#[test]
fn rare_events_are_located() {
    let mut sim = adaptive(balls(&[5.0], 0.5), 1e-8);
    let run = sim.run(1.9).unwrap();
    let impacts: Vec<f64> = run.events.iter().map(|event| event.time).collect();
    let exact = [1.0, 1.5, 1.75, 1.875];
    assert_eq!(impacts.len(), exact.len());
    for (found, exact) in impacts.iter().zip(exact) {
        assert!((found - exact).abs() < 1e-12, "{found}");
    }
}

/// An accumulation is passed by steps once its bounces are smaller than the tolerance, and what
/// follows is located again.
#[test]
fn an_accumulation_is_passed() {
    for tol in [1e-4, 1e-6] {
        let mut model = balls(&[5.0], 0.9);
        let id = model.system_id("ball0").unwrap();
        let throw = Event::at([12.0]).set_state("ball0", "v", [1.0]);
        model.add_event(throw).unwrap();
        let mut sim = adaptive(model, tol);
        sim.run(11.0).unwrap();
        // rest since 1/(1 − 0.9) = 10
        assert!(sim.event_driven().q(id).unwrap()[0].abs() < 2.0 * tol);
        assert!(sim.event_driven().v(id).unwrap()[0].abs() < tol);
        let run = sim.run(12.3).unwrap();
        let impact = run.events.iter().find(|event| event.kind == EventKind::Impact).unwrap();
        assert!((impact.time - 12.2).abs() < 2.0 * tol, "{}", impact.time);
        let error = run.stats.error_estimate.unwrap();
        assert!((0.0..20.0 * tol).contains(&error), "{error}");
    }
}

/// A hundred balls that bounce without loss, a thousand times a second each.
#[test]
fn a_hundred_thousand_events_in_a_second() {
    let speeds: Vec<f64> = (0..100).map(|k| 5e-3 * (1.0 + 1e-3 * k as f64)).collect();
    let mut sim = adaptive(balls(&speeds, 1.0), 1e-4);
    let run = sim.run(1.0).unwrap();
    for k in 0..speeds.len() {
        let q = last(&run, &format!("ball{k}.q"));
        assert!(q.abs() < 1e-4, "{q}");
    }
    assert!(run.stats.steps < 100_000, "{}", run.stats.steps);
    assert!(run.stats.worst_penetration < 1e-6, "{}", run.stats.worst_penetration);
}

/// A tighter tolerance needs the events themselves.
#[test]
fn what_the_tolerance_can_see_is_located() {
    let mut sim = adaptive(balls(&[0.05], 1.0), 1e-8);
    let run = sim.run(1.005).unwrap();
    assert_eq!(run.events.len(), 100);
    assert!((last(&run, "ball0.q") - (0.05 * 5e-3 - 5.0 * 25e-6)).abs() < 1e-9);
}

/// Where samples lie changes nothing.
#[test]
fn samples_leave_no_trace() {
    let speeds = [1.0, 5e-3, 4e-3];
    let mut plain = adaptive(balls(&speeds, 0.8), 1e-5);
    let run = plain.run(2.0).unwrap();
    let instants: Vec<f64> = (0..=777).map(|k| 2.0 * f64::from(k) / 777.0).collect();
    let mut sampled = adaptive(balls(&speeds, 0.8), 1e-5);
    let options = RunOptions { samples: Some(&instants), ..RunOptions::default() };
    let other = sampled.run_with(2.0, options).unwrap();
    assert_eq!(other.frames.time, instants);
    assert_eq!(other.events, run.events);
    assert_eq!(other.stats.steps, run.stats.steps);
    let end = |run: &Run| run.frames.rows[run.frames.rows.len() - 14..].to_vec();
    let bits = |row: Vec<f64>| row.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(end(&run)), bits(end(&other)));
    assert!(other.signal("ball0.q").unwrap().iter().all(|q| *q > -1e-6));
}

#[test]
fn impossible_tolerances() {
    for tol in [0.0, -1.0, 0.2, 1.0, f64::NAN, f64::INFINITY] {
        let sim = Adaptive::with(balls(&[1.0], 0.5), AdaptiveSettings { tol }, &Solver::default());
        assert!(matches!(sim, Err(SimError::Setting { field: "tol", .. })), "{tol}");
    }
    let failure = adaptive(balls(&[1.0], 0.5), 1e-6).run(f64::NAN).unwrap_err();
    assert!(matches!(failure.source, SimError::Setting { field: "until", .. }));
}

/// By steps alone: of the second order, and for systems of the first order.
#[test]
fn steps_alone() {
    let by_steps = |model, tol| {
        let (settings, newton) = (AdaptiveSettings { tol }, NewtonSettings::default());
        Adaptive::by_steps(model, settings, newton, 0.1, &Solver::default())
    };
    let mut errors = Vec::new();
    for tol in [1e-4, 1e-6] {
        let mut model = Model::new("decay");
        model.add("x", FirstOrderLinear::new([1.0, 0.0], [[-1.0, 4.0], [-4.0, -1.0]])).unwrap();
        model.add_event(Event::at([0.5]).set_state("x", "x", [2.0, 0.0])).unwrap();
        let mut sim = by_steps(model, tol).unwrap();
        let run = sim.run(1.5).unwrap();
        let size = 2.0 * (-1.0_f64).exp();
        let exact = [size * 4.0_f64.cos(), -size * 4.0_f64.sin()];
        let error = [0, 1].map(|k| (last(&run, &format!("x.x[{k}]")) - exact[k]).abs());
        errors.push(error[0].max(error[1]));
        assert!(sim.is_stepping());
    }
    // errors of steps of the length h are h², where tol is
    assert!(errors[0] < 1e-3 && errors[1] < 2e-2 * errors[0], "{errors:?}");
    let error = by_steps(balls(&[1.0], 0.5), 1e-6).unwrap_err();
    assert!(matches!(error, SimError::Unsuited { .. }), "{error}");
}
