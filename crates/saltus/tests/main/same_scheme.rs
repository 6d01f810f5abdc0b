//! Level 1: the same scheme and step as the reference run, compared to round-off or nearly.

use crate::models::{self, Case};
use crate::support::{Csv, checked_run, difference, shared, testdata, within};
use std::path::Path;

/// The columns of one file, each with the signal that should follow it and its tolerance.
fn follow(case: &Case, csv: &Csv, what: &str, columns: &[(&str, &str, Tolerance)]) {
    let run = checked_run(case);
    for &(column, signal, tolerance) in columns {
        let values = run.signal(signal).unwrap();
        let difference = difference(csv, column, case.h, |k| values[k]);
        tolerance.hold(&format!("{what}, {column}"), difference);
    }
}

#[derive(Debug, Clone, Copy)]
enum Tolerance {
    Relative(f64),
    Absolute(f64),
}
use Tolerance::{Absolute, Relative};

impl Tolerance {
    #[track_caller]
    fn hold(self, what: &str, difference: crate::support::Difference) {
        match self {
            Relative(tolerance) => within(what, difference.relative(), tolerance),
            Absolute(tolerance) => within(what, difference.absolute, tolerance),
        }
    }
}

fn bouncing_ball(folder: &Path) {
    for (name, radius) in [("zero", 0.0), ("radius", 0.1)] {
        let csv = Csv::read(folder, &format!("bouncing_ball/siconos_ts_contact_at_{name}.csv"));
        let tol = Relative(1e-9);
        let columns =
            [("q", "ball.q[0]", tol), ("v", "ball.v[0]", tol), ("impulse", "floor.lam", tol)];
        follow(&models::ball(radius, 5e-3), &csv, &format!("ball at {name}"), &columns);
    }
}

fn beads(folder: &Path, n: usize, h: f64) {
    let csv = Csv::read(folder, &format!("column_of_beads/siconos_n{n}.csv")).before(0.6);
    let names: Vec<(String, String)> = (csv.columns()[1..].iter())
        .map(|column| (column.clone(), format!("bead{}.{}", &column[1..], &column[..1])))
        .collect();
    let columns: Vec<(&str, &str, Tolerance)> =
        names.iter().map(|(c, s)| (c.as_str(), s.as_str(), Relative(1e-7))).collect();
    follow(&models::beads(n, h, 0.6), &csv, &format!("{n} beads"), &columns);
}

fn rectifier(folder: &Path) {
    let csv = Csv::read(folder, "rlc_half_wave_rectifier/siconos.csv");
    let tol = Relative(1e-10);
    let columns = [("vL", "tank.x[0]", tol), ("iL", "tank.x[1]", tol)];
    follow(&models::rectifier(1e-5), &csv, "rectifier", &columns);
    let csv = csv.after_start();
    let columns = [("i_diode", "diode.lam", tol), ("minus_v_diode", "diode.y", tol)];
    follow(&models::rectifier(1e-5), &csv, "rectifier", &columns);
}

fn bridge(folder: &Path) {
    let csv = Csv::read(folder, "diode_bridge/siconos.csv").after_start();
    let case = models::bridge(0.5, 1e-6);
    let tol = Relative(1e-9);
    follow(&case, &csv, "bridge", &[("vL", "tank.x[0]", tol), ("iL", "tank.x[1]", tol)]);
    let run = checked_run(&case);
    let (y, lam) = (run.signal("bridge.y[0]").unwrap(), run.signal("bridge.lam[2]").unwrap());
    let load = |row: &[f64]| row[csv.column("y0")] + row[csv.column("lambda2")];
    let (mut worst, mut scale) = (0.0f64, 0.0f64);
    for row in &csv.rows {
        let k = crate::support::step_at(row[0], case.h);
        worst = worst.max((y[k] + lam[k] - load(row)).abs());
        scale = scale.max(load(row).abs());
    }
    within("bridge, load current", worst / scale, 1e-9);
}

fn sliding_mode(folder: &Path) {
    let tol = Absolute(1e-12);
    for (name, h) in [("0.3", 0.3), ("0.1", 0.1), ("0.05", 0.05)] {
        let file = format!("sliding_mode/sgn_implicit_h{name}.csv");
        let csv = Csv::read(folder, &file).after_start();
        let columns =
            [("x", "point.x", tol), ("minus_sgn_selection", "sign.lam", tol), ("y", "sign.y", tol)];
        follow(&models::sign(h), &csv, &format!("sign, h = {name}"), &columns);
        let file = format!("sliding_mode/smc_implicit_h{name}.csv");
        let csv = Csv::read(folder, &file).after_start();
        let columns = [
            ("x1", "plant.x[0]", tol),
            ("x2", "plant.x[1]", tol),
            ("minus_sgn_selection", "surface.lam", tol),
            ("s", "surface.y", tol),
        ];
        follow(&models::sliding_mode(h), &csv, &format!("sliding mode, h = {name}"), &columns);
    }
}

fn spiral(folder: &Path) {
    for (name, start, zeno) in [("a", [1.0, 1.0, 1.0], 1.0), ("b", [-4.0, 3.0, 0.0], 3.5)] {
        for (step, h) in [("0.1", 0.1), ("0.01", 0.01), ("0.001", 0.001)] {
            let file = format!("filippov_square_spiral/siconos_{name}_theta1_h{step}.csv");
            let csv = Csv::read(folder, &file);
            let tol = Absolute(1e-10);
            let states =
                [("x", "point.x[0]", tol), ("y", "point.x[1]", tol), ("z", "point.x[2]", tol)];
            let what = format!("spiral {name}, h = {step}");
            for theta in [1.0, 0.5] {
                follow(&models::spiral(start, theta, h), &csv, &what, &states);
            }
            // in the last turns λ = (x⁺ − x)/h and alike, with round-off over h
            let csv = csv.after_start().before(0.9 * zeno);
            let tol = Absolute(1e-9);
            let lam = [("l0", "signs.lam[0]", tol), ("l1", "signs.lam[1]", tol)];
            follow(&models::spiral(start, 1.0, h), &csv, &what, &lam);
        }
    }
}

fn lzc(folder: &Path) {
    for (name, theta) in [("0.5", 0.5), ("1", 1.0)] {
        let csv = Csv::read(folder, &format!("lzc_circuit/siconos_theta{name}.csv"));
        let tol = Relative(1e-9);
        let columns = [("vC", "circuit.x[0]", tol), ("i", "circuit.x[1]", tol)];
        let what = format!("LZC, θ = {name}");
        follow(&models::lzc(theta, 5e-3), &csv, &what, &columns);
        let csv = csv.after_start();
        follow(&models::lzc(theta, 5e-3), &csv, &what, &[("minus_vZ", "zener.lam", tol)]);
    }
}

fn ladder(folder: &Path, n: usize) {
    let csv = Csv::read(folder, &format!("rc_diode_ladder/siconos_n{n}.csv")).after_start();
    let signal = |column: &str| {
        let i = column[1..].parse::<usize>().unwrap() - 1;
        match &column[..1] {
            "u" => format!("ladder.x[{i}]"),
            "v" => format!("ladder.x[{}]", n + i),
            _ => format!("diodes.lam[{i}]"),
        }
    };
    let names: Vec<(String, String)> = (csv.columns()[1..].iter())
        .filter(|column| !column.starts_with("minus_h"))
        .map(|column| (column.clone(), signal(column)))
        .collect();
    // a current that hardly flows has no scale of its own: that of a volt over S
    let tol = |column: &str| if column.starts_with('k') { Absolute(1e-10) } else { Relative(1e-9) };
    let columns: Vec<(&str, &str, Tolerance)> =
        names.iter().map(|(c, s)| (c.as_str(), s.as_str(), tol(c))).collect();
    follow(&models::ladder(n, 1e-3), &csv, &format!("ladder of {n}"), &columns);
}

fn converter(folder: &Path) {
    for (name, h) in [("1e-07", 1e-7), ("5e-08", 5e-8), ("2.5e-08", 2.5e-8)] {
        let csv = Csv::read(folder, &format!("power_converter_prc/siconos_h{name}.csv"));
        let tol = Relative(1e-7);
        let columns = [
            ("i_Lr", "circuit.x[0]", tol),
            ("v_Cr", "circuit.x[1]", tol),
            ("i_Lf", "circuit.x[2]", tol),
            ("v_Cf", "circuit.x[3]", tol),
        ];
        let case = models::converter(h, 1e-3, models::square_wave);
        follow(&case, &csv, &format!("converter, h = {name}"), &columns);
    }
}

fn friction(folder: &Path) {
    let csv = Csv::read(folder, "friction_oscillator/siconos_decay.csv").after_start();
    let case = models::dry_oscillator(0.01);
    let tol = Relative(1e-8);
    let columns = [("x", "mass.q", tol), ("v", "mass.v", tol), ("y", "friction.u", tol)];
    follow(&case, &csv, "dry friction", &columns);
    let lam = checked_run(&case).signal("friction.lam").unwrap();
    let force = difference(&csv, "lambda", case.h, |k| lam[k] / case.h);
    within("dry friction, force", force.relative(), 1e-8);

    let csv = Csv::read(folder, "friction_oscillator/siconos_belt.csv").after_start();
    let case = models::belt(0.01);
    let run = checked_run(&case);
    let of = |signal| run.signal(signal).unwrap();
    let (q, v, lam) = (of("mass.q"), of("mass.v"), of("friction.lam"));
    let t = &run.frames.time;
    let x = difference(&csv, "x", case.h, |k| q[k] + models::BELT * t[k]);
    within("belt, moving frame, x", x.relative(), 1e-8);
    let v = difference(&csv, "v", case.h, |k| v[k] + models::BELT);
    within("belt, moving frame, v", v.relative(), 1e-8);
    let force = difference(&csv, "lambda", case.h, |k| lam[k] / case.h);
    within("belt, moving frame, force", force.relative(), 1e-8);
    let columns =
        [("x", "mass.x[0]", tol), ("v", "mass.x[1]", tol), ("lambda", "friction.lam", tol)];
    follow(&models::belt_first_order(0.01), &csv, "belt, frame at rest", &columns);
}

/// Each case on the thinned files of this repository, and on the full ones where they are.
macro_rules! cases {
    ($($name:ident => $check:expr;)*) => {
        mod thinned {
            use super::*;
            $(#[test] fn $name() { $check(&testdata()); })*
        }
        mod full {
            use super::*;
            $(#[test] fn $name() {
                if let Some(folder) = shared() {
                    $check(&folder);
                }
            })*
        }
    };
}

cases! {
    ball => super::bouncing_ball;
    beads_10 => |folder: &Path| super::beads(folder, 10, 5e-4);
    beads_1000 => |folder: &Path| super::beads(folder, 1000, 1e-3);
    half_wave_rectifier => super::rectifier;
    diode_bridge => super::bridge;
    sign_and_sliding_mode => super::sliding_mode;
    square_spiral => super::spiral;
    lzc_circuit => super::lzc;
    ladder_3 => |folder: &Path| super::ladder(folder, 3);
    ladder_10 => |folder: &Path| super::ladder(folder, 10);
    ladder_50 => |folder: &Path| super::ladder(folder, 50);
    power_converter => super::converter;
    friction_oscillator => super::friction;
}
