//! Event-driven model files of `examples/` against closed forms, and how they are verified.

use saltus::io::model_file::ModelFile;
use saltus::io::verify::verify;
use saltus::prelude::*;
use saltus::sim::{EventKind, RunOptions};
use std::path::Path;

fn read(file: &str, overrides: &[(&str, &str)]) -> ModelFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    ModelFile::read(&path, &overrides).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn run(file: &ModelFile) -> Run {
    let options = RunOptions { every: file.simulation.output.every, ..RunOptions::default() };
    file.simulation.run(file.model.clone(), options).unwrap()
}

fn times(run: &Run, kind: EventKind) -> Vec<f64> {
    run.events.iter().filter(|event| event.kind == kind).map(|event| event.time).collect()
}

#[test]
fn the_ball_event_by_event() {
    let run = run(&read("bouncing-ball/events.toml", &[]));
    let (first, e) = ((2.0 * 0.9 / 9.81_f64).sqrt(), 0.9_f64);
    let (mut exact, mut speed) = (first, 9.81 * first);
    for (k, time) in times(&run, EventKind::Impact).into_iter().enumerate() {
        // the height of 0.1 has a round-off, which is worth that much time now and in what follows
        let round_off = f64::EPSILON * 0.1 / (speed * (1.0 - e));
        let allowed = 1e-12 * exact + 2.0 * round_off;
        assert!((time - exact).abs() < allowed, "impact {k}: {time} for {exact}");
        speed *= e;
        exact += 2.0 * first * e.powi(k as i32 + 1);
    }
    let [limit] = times(&run, EventKind::Accumulation)[..] else { panic!("one limit") };
    assert!((limit - 19.0 * first).abs() < 1e-9, "{limit}");
    let (q, lam) = (run.signal("ball.q[0]").unwrap(), run.signal("floor.lam").unwrap());
    assert!((q.last().unwrap() - 0.1).abs() < 1e-10 && (lam.last().unwrap() - 9.81).abs() < 1e-9);
}

#[test]
fn the_square_spiral_event_by_event() {
    for (start, end, z) in [([1, 1, 1], 1.0, 1.4), ([-4, 3, 0], 3.5, 2.6)] {
        let [x0, y0, z0] = start.map(|value| value.to_string());
        let set = [("x0", x0.as_str()), ("y0", &y0), ("z0", &z0)];
        let run = run(&read("filippov-square-spiral/events.toml", &set));
        let state = &run.signal("point.x").unwrap();
        let last: [f64; 3] = *state.last_chunk().unwrap();
        assert!((last[2] - z).abs() < 1e-9 && last[0].hypot(last[1]) < 1e-9, "{last:?}");
        let [limit] = times(&run, EventKind::Accumulation)[..] else { panic!("one limit") };
        assert!((limit - end).abs() < 1e-8, "{limit}");
    }
}

#[test]
fn the_period_of_stick_and_slip() {
    let file = read("stick-slip-belt/model.toml", &[]);
    let run = run(&file);
    for kind in [EventKind::Slip, EventKind::Stick] {
        let times = times(&run, kind);
        assert!(times.len() >= 5, "{times:?}");
        for pair in times.windows(2) {
            assert!((pair[1] - pair[0] - 6.71238898038469).abs() < 1e-10, "{pair:?}");
        }
    }
}

#[test]
fn how_much_runs_depend_on_their_tolerance() {
    let found =
        verify(&read("bouncing-ball/events.toml", &[("simulation.until", "3")]), None).unwrap();
    assert_eq!((found.strategy, found.setting), ("event-driven", "rtol"));
    assert_eq!(found.values[0], 1e-9);
    assert!(found.worst < 1e-9 && found.instants > 900, "{found:?}");
    let impacts = &found.events[0];
    assert_eq!((impacts.kind, impacts.owner.as_str()), (EventKind::Impact, "floor"));
    assert!(impacts.counts[0] == impacts.counts[1] && impacts.time < 1e-11, "{impacts:?}");
    // half the step: of first order, so that the difference is about h |v|; no impulses
    let found =
        verify(&read("bouncing-ball/model.toml", &[("simulation.until", "3")]), None).unwrap();
    assert_eq!((found.setting, found.values), ("h", [5e-3, 2.5e-3]));
    assert!(found.signals.iter().all(|signal| signal.path != "floor.lam"));
    let q = found.signals.iter().find(|signal| signal.path == "ball.q").unwrap();
    assert!((1e-4..0.1).contains(&q.relative) && found.worst >= q.relative, "{found:?}");
    // a smooth model of second order: a quarter of the difference
    let of = |h: &str| {
        let set = [("simulation.until", "0.4"), ("simulation.h", h)];
        verify(&read("bouncing-ball/model.toml", &set), None).unwrap().worst
    };
    assert!(of("1e-2") < 1e-12);
}

/// What begins at its end has nothing to compare, and no failure either.
#[test]
fn a_run_of_no_length_is_verified() {
    let file = read("bouncing-ball/events.toml", &[("simulation.until", "0")]);
    let found = verify(&file, None).unwrap();
    assert_eq!((found.worst, found.events.len()), (0.0, 0));
}
