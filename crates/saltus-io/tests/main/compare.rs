//! Comparing runs: what agrees, and what never does.

use crate::sample;
use saltus_io::compare::compare;
use saltus_sim::{Quantity, Run};

/// A run without infinities.
fn run() -> Run {
    sample::run(5)
}

#[test]
fn a_run_agrees_with_itself() {
    for run in [run(), sample::run(500), sample::run(0)] {
        let comparison = compare(&run, &run, 0.0);
        assert!(comparison.agrees(), "{comparison:?}");
        assert_eq!(comparison.signals.len(), run.layout.signals.len());
    }
}

#[test]
fn the_largest_difference_is_found() {
    let (a, mut b) = (run(), run());
    b.frames.rows[2 * a.layout.width() + 7] += 1e-3; // row 2 of `red ball.v[1]`
    let comparison = compare(&a, &b, 1e-4);
    assert!(!comparison.agrees());
    let worst = comparison.worst().unwrap();
    assert_eq!((worst.path.as_str(), worst.difference.row), ("red ball.v", 2));
    assert!((worst.difference.absolute - 1e-3).abs() < 1e-12);
    assert!(compare(&a, &b, 2e-3).agrees());
    assert_eq!(compare(&b, &a, 1e-4).worst().unwrap().difference, worst.difference);
}

#[test]
fn large_signals_are_compared_relatively() {
    let (mut a, mut b) = (run(), run());
    a.frames.rows[0] = 1e6;
    b.frames.rows[0] = 1e6 + 1.0;
    assert!(compare(&a, &b, 1e-5).agrees());
    assert!(!compare(&a, &b, 1e-7).agrees());
}

#[test]
fn a_nan_never_agrees() {
    let mut a = run();
    a.frames.rows[19 + 1] = f64::NAN;
    for (x, y) in [(&a, &a), (&a, &run()), (&run(), &a)] {
        let comparison = compare(x, y, f64::INFINITY);
        assert!(!comparison.agrees());
        assert_eq!(comparison.worst().unwrap().path, "circuit.x");
    }
    assert!(!compare(&run(), &run(), f64::NAN).agrees());
    let mut infinite = run();
    infinite.frames.rows[19 + 1] = f64::INFINITY;
    assert!(compare(&infinite, &infinite, 0.0).agrees());
    assert!(!compare(&infinite, &run(), 1e3).agrees());
}

#[test]
fn lengths_times_and_signals_count() {
    let (a, longer) = (run(), sample::run(6));
    let comparison = compare(&a, &longer, 1.0);
    assert!(!comparison.agrees());
    assert_eq!(comparison.rows, (5, 6));

    let mut later = run();
    later.frames.time[3] += 1e-3;
    assert!(!compare(&a, &later, 1e-6).agrees());
    assert_eq!(compare(&a, &later, 1e-6).time.row, 3);

    let mut fewer = run();
    fewer.layout.signals.remove(5);
    assert_eq!(compare(&a, &fewer, 1.0).only_in_a, ["floor.y"]);
    assert_eq!(compare(&fewer, &a, 1.0).only_in_b, ["floor.y"]);
    assert!(!compare(&a, &fewer, 1.0).agrees() && !compare(&fewer, &a, 1.0).agrees());

    let mut narrower = run();
    narrower.layout.signals[0].columns = 0..2;
    let comparison = compare(&a, &narrower, 1.0);
    assert_eq!(comparison.signals[0].columns, (3, 2));
    assert!(!comparison.agrees());
}

/// Signals are found by name at once: with a search for each, this would take a minute.
#[test]
fn many_signals() {
    let mut run = run();
    run.layout.ledger = false;
    run.layout.signals =
        (0..50_000).map(|k| sample::signal(&format!("bead {k}"), Quantity::Q, k..k + 1)).collect();
    run.frames = sample::frames(&run.layout, 0..2);
    let comparison = compare(&run, &run, 0.0);
    assert!(comparison.agrees());
    assert_eq!(comparison.signals.len(), 50_000);
}
