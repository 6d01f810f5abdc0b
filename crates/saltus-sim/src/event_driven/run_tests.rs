//! Event-driven runs: what is recorded, read, set and refused.

use super::{EventDriven, EventSettings};
use crate::{Checkpoint, CheckpointEvery, Checkpoints, Outcome, RunOptions, SimError};
use saltus_model::*;
use saltus_numerics::{Interrupt, Solver};

fn driven(model: Model) -> EventDriven {
    let settings = EventSettings { rtol: 1e-9, atol: 1e-11 };
    EventDriven::with(model, settings, &Solver::default()).unwrap()
}

fn ball() -> (Model, SystemId, InteractionId) {
    let mut model = Model::new("ball");
    let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
    let ball = model.add("ball", ball).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    let floor = model.connect("floor", relation, Law::newton_impact(0.5), &[ball]).unwrap();
    (model, ball, floor)
}

#[test]
fn both_sides_of_an_impact_are_recorded() {
    let (model, ball, _) = ball();
    let mut sim = driven(model);
    let run = sim.run(0.6).unwrap();
    let (time, v) = (&run.frames.time, run.signal("ball.v").unwrap());
    let twice: Vec<usize> = (1..time.len()).filter(|&k| time[k] == time[k - 1]).collect();
    assert_eq!(twice.len(), 1, "{time:?}");
    let (before, after) = (v[twice[0] - 1], v[twice[0]]);
    assert!((after + 0.5 * before).abs() < 1e-9 && after > 0.0, "{before} {after}");
    assert_eq!(*time.last().unwrap(), 0.6);
    assert_eq!(sim.q(ball).unwrap()[0], *run.signal("ball.q").unwrap().last().unwrap());
}

#[test]
fn steps_resets_and_new_states() {
    let (model, ball, floor) = ball();
    let mut sim = driven(model.clone());
    while sim.events().is_empty() {
        let done = sim.step().unwrap();
        assert_eq!(done.t, sim.t());
    }
    let impact = (2.0_f64 / 9.81).sqrt();
    assert!((sim.t() - impact).abs() < 1e-12 && sim.done(impact - 1e-9) && !sim.done(1.0));
    assert!(sim.v(ball).unwrap()[0] > 0.0 && sim.u(floor)[0] > 0.0);
    assert!(sim.y(floor)[0].abs() < 1e-11 && sim.x(ball).is_err());
    // as a new one
    sim.reset().unwrap();
    assert_eq!((sim.t(), sim.q(ball).unwrap(), sim.events().len()), (0.0, &[1.0][..], 0));
    let mut new = driven(model);
    let (again, first) = (sim.run(1.0).unwrap(), new.run(1.0).unwrap());
    for path in ["ball.q", "ball.v", "floor.lam"] {
        assert_eq!(again.signal(path).unwrap(), first.signal(path).unwrap(), "{path}");
    }
    assert_eq!((again.frames.time, again.events), (first.frames.time, first.events));
    // laid down, it stays; its weight is carried
    sim.set_qv(ball, Some(&[0.0]), Some(&[0.0])).unwrap();
    sim.run(2.0).unwrap();
    assert!(sim.q(ball).unwrap()[0].abs() < 1e-11 && (sim.lam(floor)[0] - 9.81).abs() < 1e-9);
    assert!(sim.set_qv(ball, Some(&[0.0, 1.0]), None).is_err());
    assert!(sim.set_qv(ball, None, Some(&[f64::NAN])).is_err() && sim.set_x(ball, &[0.0]).is_err());
}

#[test]
fn runs_have_the_options_of_all_runs() {
    let (model, ..) = ball();
    let all = driven(model.clone()).run(2.0).unwrap();
    let mut sim = driven(model.clone());
    let signals = ["ball.q".to_string()];
    let options = RunOptions { every: 5, signals: Some(&signals), ..RunOptions::default() };
    let run = sim.run_with(2.0, options).unwrap();
    assert!(run.frames.len() < all.frames.len() / 3 && run.layout.signals.len() == 1);
    assert_eq!(run.frames.time.last(), Some(&2.0));
    assert_eq!(run.events, all.events);
    let unknown = ["cube.q".to_string()];
    let options = RunOptions { signals: Some(&unknown), ..RunOptions::default() };
    assert!(matches!(sim.run_with(3.0, options).unwrap_err().source, SimError::Signal(_)));
    // stopped at once, nothing but the beginning
    let flag = Interrupt::default();
    flag.stop();
    let options = RunOptions { interrupt: Some(&flag), ..RunOptions::default() };
    let run = driven(model.clone()).run_with(2.0, options).unwrap();
    assert_eq!((run.stats.outcome, run.frames.len()), (Outcome::Interrupted, 1));
    // it cannot be saved
    let keep = &mut |_: &Checkpoint| Ok(());
    let checkpoints = Some(Checkpoints { every: CheckpointEvery::Steps(1), keep });
    let options = RunOptions { checkpoints, ..RunOptions::default() };
    let error = driven(model).run_with(2.0, options).unwrap_err();
    assert_eq!(error.source, SimError::NoCheckpoint { strategy: "event-driven" });
    assert_eq!(error.run.frames.len(), 0);
}

/// Samples are read off the steps; events, steps and the end do not depend on them.
#[test]
fn samples_leave_no_trace() {
    let (model, ball, _) = ball();
    let mut plain = driven(model.clone());
    let all = plain.run(2.0).unwrap();
    let few: Vec<f64> = vec![0.3];
    let many: Vec<f64> = (0..=5000).map(|k| k as f64 * 2.0 / 5000.0).collect();
    for samples in [&few, &many, &Vec::new()] {
        let mut sim = driven(model.clone());
        let options = RunOptions { samples: Some(samples), ..RunOptions::default() };
        let run = sim.run_with(2.0, options).unwrap();
        assert_eq!(run.frames.time, *samples);
        assert_eq!((&run.events, run.stats.steps), (&all.events, all.stats.steps));
        assert_eq!([sim.q(ball), sim.v(ball)], [plain.q(ball), plain.v(ball)]);
        // the parabola of the first flight, then those between impacts
        let (q, y) = (run.signal("ball.q").unwrap(), run.signal("floor.y").unwrap());
        let first = all.events[0].time;
        for ((t, q), y) in samples.iter().zip(q).zip(y) {
            assert!(q > -1e-9 && q == y, "{t}: {q} {y}");
            if *t <= first {
                assert!((q - (1.0 - 0.5 * 9.81 * t * t)).abs() < 1e-12, "{t}: {q}");
            }
        }
    }
}

#[test]
fn samples_at_an_event_are_after_it() {
    let (model, ..) = ball();
    let impact = driven(model.clone()).run(1.0).unwrap().events[0].time;
    let samples = [0.0, impact, 1.0];
    let options = RunOptions { samples: Some(&samples), ..RunOptions::default() };
    let run = driven(model).run_with(1.0, options).unwrap();
    assert_eq!(run.frames.time, samples);
    assert!(run.signal("ball.v").unwrap()[1] > 0.0);
}

#[test]
fn bad_samples_are_told() {
    let (model, ..) = ball();
    for (samples, index) in [
        (vec![-0.1, 0.5], 0),
        (vec![0.5, 0.5], 1),
        (vec![0.5, 0.4], 1),
        (vec![0.5, f64::NAN], 1),
        (vec![0.5, 1.1], 1),
    ] {
        let options = RunOptions { samples: Some(&samples), ..RunOptions::default() };
        let error = driven(model.clone()).run_with(1.0, options).unwrap_err().source;
        assert!(matches!(error, SimError::Samples { index: k, .. } if k == index), "{error}");
    }
    let options = RunOptions { samples: Some(&[0.5]), ..RunOptions::default() };
    let mut sim = crate::TimeStepping::new(model, 0.1, []).unwrap();
    let error = sim.run_with(1.0, options).unwrap_err().source;
    assert_eq!(error, SimError::NoSamples { strategy: "time-stepping" });
    assert!(error.to_string().contains("`every` or `h`"), "{error}");
}

/// A run to rest, and the same once more after a reset: the mode of the end is forgotten.
#[test]
fn a_reset_after_rest_begins_anew() {
    let mut sim = driven(ball().0);
    let energy = sim.ledger().unwrap();
    let first = sim.run(4.0).unwrap();
    assert!(sim.ledger() != Some(energy));
    sim.reset().unwrap();
    assert_eq!(sim.ledger(), Some(energy));
    let second = sim.run(4.0).unwrap();
    assert_eq!(first.events, second.events);
    assert_eq!(first.frames.time, second.frames.time);
}
