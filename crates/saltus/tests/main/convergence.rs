//! Level 2: the error falls with the step at the order of the scheme, and is what Siconos has.

use crate::exact;
use crate::models::{self, Case};
use crate::support::{Csv, checked_run, order_within, shared, step_at, testdata, within};
use saltus::prelude::*;
use std::path::Path;

/// Largest error of a signal against `exact(t)`, over the rows up to `until`.
fn sup(run: &Run, signal: &str, until: f64, exact: impl Fn(f64) -> f64) -> f64 {
    let values = run.signal(signal).unwrap();
    let rows = run.frames.time.iter().zip(&values).filter(|(t, _)| **t <= until + 1e-9);
    rows.fold(0.0f64, |worst, (&t, x)| worst.max((x - exact(t)).abs()))
}

/// The errors that Siconos has with the same scheme and step (`case.json` of the reference).
#[track_caller]
fn as_siconos(what: &str, errors: &[(f64, f64)], expected: &[f64], tolerance: f64) {
    assert_eq!(errors.len(), expected.len());
    for ((h, found), expected) in errors.iter().zip(expected) {
        within(
            &format!("{what}, h = {h:.3e}, against Siconos"),
            (found / expected - 1.0).abs(),
            tolerance,
        );
    }
}

fn quarters(h: f64) -> [f64; 4] {
    [h, h / 4.0, h / 16.0, h / 64.0]
}

fn halves(h: f64) -> [f64; 4] {
    [h, h / 2.0, h / 4.0, h / 8.0]
}

fn to(until: f64, case: Case) -> Case {
    Case { until, ..case }
}

#[test]
fn ball() {
    let siconos = [
        (
            0.0,
            [0.07367044343337975, 0.00942019808208117, 0.005228787096653457, 0.0011649571280614717],
            [0.7981542861528627, 0.15182881088449268, 0.08260249375009937, 0.015610047671038218],
        ),
        (
            0.1,
            [
                0.06616094664613295,
                0.013464080227049261,
                0.002346566756357577,
                0.0008872522041223323,
            ],
            [1.0065472883905922, 0.2486426891026515, 0.045209528227843326, 0.013142695632119722],
        ),
    ];
    for (radius, sup_q, l1_v) in siconos {
        let (mut in_q, mut in_v) = (Vec::new(), Vec::new());
        for h in quarters(5e-3) {
            let run = checked_run(&to(4.0, models::ball(radius, h)));
            let exact = |t| exact::ball(1.0 - radius, 0.9, t);
            in_q.push((h, sup(&run, "ball.q[0]", 4.0, |t| exact(t).0 + radius)));
            let v = run.signal("ball.v[0]").unwrap();
            let sum: f64 =
                run.frames.time.iter().zip(&v).map(|(&t, v)| (v - exact(t).1).abs()).sum();
            in_v.push((h, h * sum));
        }
        order_within(&format!("ball, offset {radius}, sup q"), &in_q, 0.8..=1.3);
        order_within(&format!("ball, offset {radius}, L1 v"), &in_v, 0.8..=1.3);
        as_siconos("ball, sup q", &in_q, &sup_q, 1e-6);
        as_siconos("ball, L1 v", &in_v, &l1_v, 2e-3);
    }
}

fn beads_error(h: f64) -> f64 {
    let run = checked_run(&models::beads(10, h, 1.0));
    let q: Vec<Vec<f64>> = (0..10).map(|i| run.signal(&format!("bead{i}.q")).unwrap()).collect();
    let mut exact = exact::Billiard::new(10);
    let mut worst = 0.0f64;
    for (k, &t) in run.frames.time.iter().enumerate() {
        exact.advance(t);
        for i in 0..10 {
            worst = worst.max((q[i][k] - exact.q[i]).abs());
        }
    }
    worst
}

#[test]
fn beads() {
    let errors: Vec<(f64, f64)> =
        [5e-4, 1e-4, 2e-5].into_iter().map(|h| (h, beads_error(h))).collect();
    order_within("beads, sup q", &errors, 0.8..=1.2);
    as_siconos(
        "beads",
        &errors,
        &[0.013926167132110923, 0.002615117513426135, 0.0006141705536237829],
        1e-6,
    );
}

/// The billiard of this test is that of the reference.
fn same_billiard(folder: &Path) {
    let csv = Csv::read(folder, "column_of_beads/exact_billiard_n10.csv").before(1.01);
    let mut exact = exact::Billiard::new(10);
    let mut worst = 0.0f64;
    for row in &csv.rows {
        exact.advance(row[0]);
        for i in 0..10 {
            worst = worst.max((exact.q[i] - row[csv.column(&format!("q{i}"))]).abs());
        }
    }
    within("billiard against its reference", worst, 1e-10);
}

#[test]
fn billiard() {
    same_billiard(&testdata());
}

#[test]
fn billiard_full() {
    if let Some(folder) = shared() {
        same_billiard(&folder);
    }
}

fn rectifier_on(folder: &Path, tolerance: f64) {
    let csv = Csv::read(folder, "rlc_half_wave_rectifier/exact.csv");
    let (v, c) = (csv.column("t"), csv.column("vL"));
    let mut errors = Vec::new();
    for h in halves(1e-5) {
        let x = checked_run(&models::rectifier(h)).signal("tank.x[0]").unwrap();
        let error = |row: &Vec<f64>| (x[step_at(row[v], h)] - row[c]).abs();
        errors.push((h, csv.rows.iter().map(error).fold(0.0, f64::max)));
    }
    order_within("rectifier, sup v", &errors, 0.9..=1.4);
    let siconos =
        [0.31110984226291283, 0.12397049216330391, 0.05411618980776278, 0.02509877908281477];
    as_siconos("rectifier", &errors, &siconos, tolerance);
}

#[test]
fn rectifier() {
    // the worst instant may lie between two rows of the thinned file
    rectifier_on(&testdata(), 1e-2);
}

#[test]
fn rectifier_full() {
    if let Some(folder) = shared() {
        rectifier_on(&folder, 1e-6);
    }
}

#[test]
fn bridge() {
    let siconos = [
        (
            0.5,
            [0.18689290978674383, 0.08368409841905139, 0.039408520727524154, 0.019093628429463994],
        ),
        (1.0, [2.128813903179415, 1.2293781176982193, 0.6703032752479081, 0.3508451072615153]),
    ];
    for (theta, expected) in siconos {
        let error = |h| {
            let run = checked_run(&models::bridge(theta, h));
            sup(&run, "tank.x[0]", 5e-3, |t| exact::bridge(t)[0])
        };
        let errors: Vec<(f64, f64)> = halves(8e-6).into_iter().map(|h| (h, error(h))).collect();
        order_within(&format!("bridge, θ = {theta}, sup v"), &errors, 0.8..=1.2);
        as_siconos("bridge", &errors, &expected, 1e-6);
    }
}

#[test]
fn sliding_mode() {
    let mut errors = Vec::new();
    for h in [0.3, 0.1, 0.05, 0.0125, 0.003125] {
        let run = checked_run(&models::sliding_mode(h));
        let of =
            |i: usize| sup(&run, &format!("plant.x[{i}]"), 10.0, |t| exact::sliding_mode(t)[i]);
        errors.push((h, of(0).max(of(1))));
    }
    order_within("sliding mode, sup x", &errors, 0.9..=1.1);
    let siconos = [
        0.1570768069947715,
        0.05670095290846744,
        0.028922233862002544,
        0.0073423793402311865,
        0.0018427465365406515,
    ];
    as_siconos("sliding mode", &errors, &siconos, 1e-6);
}

#[test]
fn spiral() {
    let siconos = [
        ([1.0, 1.0, 1.0], [0.37777777777777627, 0.06592592592592338, 0.009769547325102676]),
        ([-4.0, 3.0, 0.0], [0.4222222222222203, 0.06975308641975289, 0.00908367626890003]),
    ];
    for (start, expected) in siconos {
        let mut errors = Vec::new();
        for h in [0.1, 0.01, 0.001] {
            let run = checked_run(&models::spiral(start, 1.0, h));
            let of = |i: usize| {
                sup(&run, &format!("point.x[{i}]"), 10.0, |t| exact::spiral(start, t)[i])
            };
            errors.push((h, of(0).max(of(1)).max(of(2))));
        }
        order_within(&format!("spiral from {start:?}, sup x"), &errors, 0.75..=1.1);
        as_siconos("spiral", &errors, &expected, 1e-6);
    }
}

#[test]
fn lzc() {
    let siconos = [
        (
            0.5,
            1.95..=2.05,
            [
                0.009559472609096176,
                0.0023903350946010704,
                0.0005975993549292014,
                0.0001494008123454904,
            ],
        ),
        (
            1.0,
            0.85..=1.1,
            [1.6458963966194196, 0.8782425056080112, 0.45370117007401944, 0.23059357645639844],
        ),
    ];
    for (theta, range, expected) in siconos {
        let error = |h| {
            sup(&checked_run(&models::lzc(theta, h)), "circuit.x[0]", 3.0, |t| exact::lzc(t)[0])
        };
        let errors: Vec<(f64, f64)> = halves(5e-3).into_iter().map(|h| (h, error(h))).collect();
        order_within(&format!("LZC, θ = {theta}, sup v"), &errors, range);
        as_siconos("LZC", &errors, &expected, 1e-6);
    }
}

fn ladder_on(folder: &Path, n: usize, expected: Option<[f64; 4]>) {
    let csv = Csv::read(folder, &format!("rc_diode_ladder/reference_n{n}.csv"));
    let mut errors = Vec::new();
    for h in halves(4e-3) {
        let run = checked_run(&models::ladder(n, h));
        let x = run.signal("ladder.x").unwrap();
        let mut worst = 0.0f64;
        for row in csv.rows.iter().filter(|row| row[0] >= 0.1) {
            if ((row[0] / 4e-3).round() * 4e-3 - row[0]).abs() > 1e-9 {
                continue; // not on the coarsest grid
            }
            let k = step_at(row[0], h);
            for i in 0..2 * n {
                worst = worst.max((x[k * 2 * n + i] - row[i + 1]).abs());
            }
        }
        errors.push((h, worst));
    }
    order_within(&format!("ladder of {n}, sup x after 0.1 s"), &errors, 0.9..=1.3);
    if let Some(expected) = expected {
        as_siconos("ladder", &errors, &expected, 1e-6);
    }
}

const LADDER_3: [f64; 4] =
    [0.004857248306266548, 0.002169664582324593, 0.0010874018246608552, 0.0005554961630123423];
const LADDER_10: [f64; 4] =
    [0.0049187643811205994, 0.0021587619110507994, 0.0009769210735668388, 0.0004565336388190899];

#[test]
fn ladder() {
    ladder_on(&testdata(), 3, None);
    ladder_on(&testdata(), 10, None);
}

#[test]
fn ladder_full() {
    if let Some(folder) = shared() {
        ladder_on(&folder, 3, Some(LADDER_3));
        ladder_on(&folder, 10, Some(LADDER_10));
        ladder_on(&folder, 50, None);
    }
}

/// Mean error of v_Cr against the exact solution, on its instants.
fn converter_error(csv: &Csv, n: usize) -> f64 {
    let h = models::HALF_PERIOD / n as f64;
    let steps = (1e-3 / h).ceil() as usize;
    let run = checked_run(&models::converter(h, steps as f64 * h, models::square_wave));
    let v = run.signal("circuit.x[1]").unwrap();
    let c = csv.column("v_Cr");
    let error = |row: &Vec<f64>| {
        let k = ((row[0] / h) as usize).min(v.len() - 2);
        let s = row[0] / h - k as f64;
        ((1.0 - s) * v[k] + s * v[k + 1] - row[c]).abs()
    };
    csv.rows.iter().map(error).sum::<f64>() / csv.rows.len() as f64
}

fn converter_on(folder: &Path, tolerance: f64) {
    let csv = Csv::read(folder, "power_converter_prc/exact.csv");
    let errors: Vec<(f64, f64)> = [90, 180, 360, 720]
        .into_iter()
        .map(|n| (models::HALF_PERIOD / n as f64, converter_error(&csv, n)))
        .collect();
    order_within("converter, mean v_Cr", &errors, 0.8..=1.2);
    as_siconos("converter", &errors, &[0.0529, 0.0296, 0.0156, 0.0079], tolerance);
}

#[test]
fn converter() {
    converter_on(&testdata(), 2e-2);
}

#[test]
fn converter_full() {
    if let Some(folder) = shared() {
        converter_on(&folder, 1e-2);
    }
}

#[test]
fn dry_oscillator() {
    let error = |h| {
        sup(&checked_run(&models::dry_oscillator(h)), "mass.q", 50.0, |t| {
            exact::dry_oscillator(t)[0]
        })
    };
    let steps = [0.01, 0.005, 0.0025];
    let errors: Vec<(f64, f64)> = steps.into_iter().map(|h| (h, error(h))).collect();
    as_siconos(
        "dry friction",
        &errors,
        &[0.02475525344376439, 0.016013618275245944, 0.005366863394749677],
        1e-6,
    );
    let steps = [0.01, 0.005, 0.0025, 0.00125, 0.000625, 0.0003125];
    let errors: Vec<(f64, f64)> = steps.into_iter().map(|h| (h, error(h))).collect();
    order_within("dry friction, sup x", &errors, 0.7..=1.4);
}

#[test]
fn belt() {
    let steps = [0.01, 0.005, 0.0025];
    let siconos = [0.0001571317484643231, 3.92836000293606e-05, 9.820920163772229e-06];
    let moving = |h| {
        let run = checked_run(&models::belt(h));
        sup(&run, "mass.q", 40.0, |t| exact::belt(t)[0] - models::BELT * t)
    };
    let at_rest = |h| {
        sup(&checked_run(&models::belt_first_order(h)), "mass.x[0]", 40.0, |t| exact::belt(t)[0])
    };
    let errors: Vec<(f64, f64)> = steps.into_iter().map(|h| (h, moving(h))).collect();
    order_within("belt, moving frame, sup x", &errors, 1.9..=2.1);
    as_siconos("belt", &errors, &siconos, 1e-6);
    let errors: Vec<(f64, f64)> = steps.into_iter().map(|h| (h, at_rest(h))).collect();
    order_within("belt, frame at rest, sup x", &errors, 1.9..=2.1);
    as_siconos("belt", &errors, &siconos, 1e-6);
}
