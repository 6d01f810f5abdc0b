//! Model files of `examples/` against the reference runs of the same scheme and step, and against
//! closed forms.

use crate::support::{Csv, difference, shared, testdata, within};
use saltus::io::model_file::ModelFile;
use saltus::prelude::*;
use saltus::sim::Outcome;
use std::path::Path;

/// Runs an example to its end, every step of which is recorded.
pub fn run(file: &str, overrides: &[(&str, &str)]) -> Run {
    run_path("../../examples", file, overrides)
}

/// Runs a model file of `testdata/models` likewise.
pub fn run_model(file: &str, overrides: &[(&str, &str)]) -> Run {
    run_path("../../testdata/models", file, overrides)
}

fn run_path(folder: &str, file: &str, overrides: &[(&str, &str)]) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file);
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let ModelFile { model, simulation, .. } =
        ModelFile::read(&path, &overrides).unwrap_or_else(|error| panic!("{}", error.report()));
    let (h, until) = (simulation.h, simulation.until);
    let (integrators, solver) = (simulation.integrators, &simulation.solver);
    let mut sim =
        TimeStepping::with_methods(model, h, integrators, solver, simulation.newton).unwrap();
    let run = sim.run(until).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Complete);
    assert!(run.stats.worst_residual <= 1e-8, "{file}: {:e}", run.stats.worst_residual);
    run
}

/// Compares columns of a reference with signals, relative to the column's largest value.
pub fn follow(run: &Run, h: f64, csv: &Csv, what: &str, tolerance: f64, columns: &[(&str, &str)]) {
    for &(column, signal) in columns {
        let values = run.signal(signal).unwrap();
        let difference = difference(csv, column, h, |k| values[k]);
        within(&format!("{what}, {column}"), difference.relative(), tolerance);
    }
}

fn two_link_arm(folder: &Path) {
    for e in ["0", "0.5"] {
        let csv = Csv::read(folder, &format!("two_link_arm/siconos_e{e}_h0.001.csv"));
        let run = run("two-link-arm/model.toml", &[("e", e)]);
        let columns = [
            ("q1", "arm.q[0]"),
            ("q2", "arm.q[1]"),
            ("v1", "arm.v[0]"),
            ("v2", "arm.v[1]"),
            ("p1", "low1.lam"),
            ("p2", "high1.lam"),
            ("p3", "low2.lam"),
            ("p4", "high2.lam"),
        ];
        follow(&run, 1e-3, &csv, &format!("two-link arm, e = {e}"), 1e-6, &columns);
    }
}

fn slider_crank(folder: &Path) {
    const TENTH_IMPACT: f64 = 8.05e-3;
    for (name, file) in [("frictionless", "model"), ("friction", "friction")] {
        let csv = Csv::read(folder, &format!("slider_crank/siconos_{name}_h1e-05.csv"));
        let until = [("simulation.until", "8.1e-3")];
        let run = run(&format!("slider-crank/{file}.toml"), &until);
        let columns = [
            ("th1", "mechanism.q[0]"),
            ("th2", "mechanism.q[1]"),
            ("th3", "mechanism.q[2]"),
            ("w1", "mechanism.v[0]"),
            ("w2", "mechanism.v[1]"),
            ("w3", "mechanism.v[2]"),
            ("gap1", "corner1.y[0]"),
            ("gap2", "corner2.y[0]"),
            ("gap3", "corner3.y[0]"),
            ("gap4", "corner4.y[0]"),
        ];
        let csv = csv.before(TENTH_IMPACT).after_start();
        follow(&run, 1e-5, &csv, &format!("slider-crank, {name}"), 1e-5, &columns);
    }
}

fn woodpecker(folder: &Path) {
    let csv = Csv::read(folder, "woodpecker/siconos_h2e-05.csv").after_start();
    let columns = [
        ("y", "toy.q[0]"),
        ("phi_M", "toy.q[1]"),
        ("phi_S", "toy.q[2]"),
        ("vy", "toy.v[0]"),
        ("om_M", "toy.v[1]"),
        ("om_S", "toy.v[2]"),
        ("pn1", "beak.lam[0]"),
        ("pt1", "beak.lam[1]"),
        ("pn2", "lower.lam[0]"),
        ("pt2", "lower.lam[1]"),
        ("pn3", "upper.lam[0]"),
        ("pt3", "upper.lam[1]"),
    ];
    follow(&run("woodpecker/model.toml", &[]), 2e-5, &csv, "woodpecker", 1e-6, &columns);
}

fn friction_oscillator(folder: &Path) {
    for (name, file) in [("decay", "model"), ("belt", "belt")] {
        let csv = Csv::read(folder, &format!("friction_oscillator/siconos_{name}.csv"));
        let csv = csv.after_start();
        let run = run(&format!("friction-oscillator/{file}.toml"), &[]);
        let columns = [("x", "mass.q"), ("v", "mass.v"), ("y", "friction.u")];
        follow(&run, 0.01, &csv, name, 1e-8, &columns);
        let lam = run.signal("friction.lam").unwrap();
        let force = difference(&csv, "lambda", 0.01, |k| lam[k] / 0.01);
        within(&format!("{name}, force"), force.relative(), 1e-8);
    }
}

fn buck_converter(folder: &Path) {
    let csv = Csv::read(folder, "buck_converter/siconos_h1e-09.csv");
    let columns = [("v_load", "circuit.x[0]"), ("i_L", "circuit.x[1]")];
    follow(&run("buck-converter/model.toml", &[]), 1e-9, &csv, "buck converter", 1e-6, &columns);
}

fn two_fuses(folder: &Path) {
    let exact = Csv::read(folder, "two_fuses/exact.csv");
    let mut errors = Vec::new();
    for (h, second) in [("0.002", 3.090), ("0.001", 3.081), ("0.0005", 3.0715)] {
        let csv = Csv::read(folder, &format!("two_fuses/siconos_h{h}.csv"));
        let run = run("two-fuses/model.toml", &[("simulation.h", h)]);
        let h: f64 = h.parse().unwrap();
        let columns = [
            ("i1", "circuit.x[0]"),
            ("i2", "circuit.x[1]"),
            ("vo", "circuit.x[2]"),
            ("E1", "circuit.x[3]"),
            ("E2", "circuit.x[4]"),
        ];
        follow(&run, h, &csv, "two fuses", 1e-9, &columns);

        // when they blow
        let blows: Vec<_> = run.events.iter().filter(|event| !event.name.is_empty()).collect();
        let names: Vec<&str> = blows.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["fuse 1 blows", "fuse 2 blows"]);
        let [first, last] = [blows[0].time, blows[1].time];
        within("first blow", (first - 1.2132267491067121).abs(), 2.0 * h);
        within("second blow", (last - second).abs(), 1e-9);
        assert!(blows[0].changes.iter().any(|change| change.what == "diode1.active"));

        // the mean error of the load voltage
        let (t, v) = (exact.column("t"), exact.column("vo"));
        let voltage = run.signal("circuit.x[2]").unwrap();
        let at = |time: f64| {
            let k = ((time / h) as usize).min(voltage.len() - 2);
            let share = time / h - k as f64;
            (1.0 - share) * voltage[k] + share * voltage[k + 1]
        };
        let errors_of = exact.rows.iter().map(|row| (at(row[t]) - row[v]).abs());
        errors.push(errors_of.sum::<f64>() / exact.rows.len() as f64);
    }
    // Siconos: 0.0104, 0.0063, 0.0032
    for (error, siconos) in errors.iter().zip([0.010386, 0.0062807, 0.0032268]) {
        within("mean error of the voltage", (error / siconos - 1.0).abs(), 0.05);
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.7..1.05).contains(&order), "{errors:?}: order {order}");
    }
}

fn power_converter(folder: &Path) {
    let csv = Csv::read(folder, "power_converter_prc/siconos_h1e-07.csv");
    let columns = [
        ("i_Lr", "circuit.x[0]"),
        ("v_Cr", "circuit.x[1]"),
        ("i_Lf", "circuit.x[2]"),
        ("v_Cf", "circuit.x[3]"),
    ];
    follow(&run("power-converter/model.toml", &[]), 1e-7, &csv, "power converter", 1e-7, &columns);
}

/// Each on the thinned files of this repository, and on the full ones where they are.
macro_rules! cases {
    ($($name:ident;)*) => {
        mod thinned {
            use super::*;
            $(#[test] fn $name() { super::$name(&testdata()); })*
        }
        mod full {
            use super::*;
            $(#[test] fn $name() {
                if let Some(folder) = shared() {
                    super::$name(&folder);
                }
            })*
        }
    };
}

cases! {
    two_link_arm;
    slider_crank;
    woodpecker;
    friction_oscillator;
    buck_converter;
    two_fuses;
    power_converter;
}

/// The woodpecker's limit cycle: a beak contact every 0.146 s, 19.46 mm lower.
#[test]
fn woodpecker_pecks() {
    let run = run("woodpecker/model.toml", &[("simulation.until", "1.5")]);
    let (t, y) = (&run.frames.time, run.signal("toy.q[0]").unwrap());
    let impulse = run.signal("beak.lam[0]").unwrap();
    let pecks: Vec<usize> =
        (1..t.len()).filter(|&k| impulse[k] > 0.0 && impulse[k - 1] == 0.0).collect();
    let [.., before, last] = pecks[..] else { panic!("{} pecks", pecks.len()) };
    within("period", (t[last] - t[before] - 0.14602).abs() / 0.14602, 0.01);
    within("drop", (y[before] - y[last] - 0.019463).abs() / 0.019463, 0.01);
}

/// The bar leaves the wall after the time a wave takes to its end and back, pressed by E S v/c.
#[test]
fn impacting_bar_leaves_with_the_wave() {
    let run = run("impacting-bar/model.toml", &[]);
    let (t, lam) = (&run.frames.time, run.signal("wall.lam").unwrap());
    let c = (210e9f64 / 7800.0).sqrt();
    let closed: Vec<usize> = (0..t.len()).filter(|&k| lam[k] > 0.0).collect();
    let (first, last) = (closed[0], closed[closed.len() - 1]);
    within("first contact", (t[first] - 5e-4).abs() / 5e-4, 0.01);
    within("duration", (t[last] - t[first] - 2.0 / c).abs() / (2.0 / c), 0.02);
    let middle: f64 = (lam.iter().zip(t))
        .filter(|(_, t)| (5.5e-4..8.0e-4).contains(*t))
        .map(|(lam, _)| lam)
        .sum();
    let force = 210e9 * 3.14e-4 * 0.1 / c;
    within("force", (middle / 2.5e-4 - force).abs() / force, 0.01);
}

/// Below √((2 k r + P)/(m r)) the follower stays on the cam, with the force of the motion it is
/// forced to.
#[test]
fn cam_follower_lifts_off_above_the_limit() {
    let (m, k, P, r, h) = (1.221, 1430.8, 5.0, 0.01, 1e-4);
    let limit = f64::sqrt((2.0 * k * r + P) / (m * r)) * 60.0 / (2.0 * std::f64::consts::PI);
    assert!((480.0..520.0).contains(&limit), "{limit}");
    let slow = run("cam-follower/model.toml", &[("rpm", "400")]);
    let (t, lam) = (&slow.frames.time, slow.signal("cam.lam").unwrap());
    let omega = 2.0 * std::f64::consts::PI * 400.0 / 60.0;
    let mut worst = 0.0f64;
    for k_step in 1000..t.len() {
        let phase = omega * (t[k_step] - h / 2.0);
        let force = m * r * omega * omega * phase.cos() + k * r * (1.0 - phase.cos()) + P;
        worst = worst.max((lam[k_step] / h - force).abs());
    }
    within("force of the cam", worst / (2.0 * k * r + P), 0.01);
    let lift = |run: &Run| run.signal("cam.y").unwrap().into_iter().fold(0.0, f64::max);
    within("slow: lift", lift(&slow), 1e-4);
    assert!(lift(&run("cam-follower/model.toml", &[])) > 1e-2);
}

/// Housner: an impact leaves 1 − (3/2) sin² α of the angular velocity, tan α = width/height.
#[test]
fn rocking_block_loses_by_housner() {
    let run =
        run("rocking-block/model.toml", &[("simulation.h", "1e-4"), ("simulation.until", "1")]);
    let omega = run.signal("block.v[2]").unwrap();
    let jump = (1..omega.len()).find(|&k| (omega[k] - omega[k - 1]).abs() > 0.1).unwrap();
    let sin2 = 1.0 / (1.0 + 1.5f64 * 1.5);
    let share = omega[jump + 3] / omega[jump - 1];
    within("share of the angular velocity", (share - (1.0 - 1.5 * sin2)).abs(), 0.01);
}

/// Three laws, three answers, all of which keep momentum and energy.
#[test]
fn newtons_cradle_depends_on_the_law() {
    let run = run("newtons-cradle/model.toml", &[("simulation.until", "0.4")]);
    let speed = 0.05 * (9.81_f64 / 0.5).sqrt();
    let k = 3600;
    // since then the balls swing on
    let turn = (9.81_f64 / 0.5).sqrt() * (run.frames.time[k] - 0.354632);
    for (cradle, exact, tolerance) in [
        ("newton", [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-3),
        ("several", [-0.07095, 0.07640, 0.99455], 1e-3),
    ] {
        for (i, exact) in exact.into_iter().enumerate() {
            let v = run.signal(&format!("{cradle}{i}.v")).unwrap()[k];
            within(cradle, (v / speed / turn.cos() - exact).abs(), tolerance);
        }
    }
    let last = run.signal("apart2.v").unwrap();
    let fastest = last.iter().fold(0.0_f64, |most, v| most.max(*v));
    within("one after the other", (fastest / speed - 1.0).abs(), 2e-3);
}

/// The weakest bond breaks alone, at its strength, and takes its energy.
#[test]
fn cohesive_bar_breaks_once() {
    let run = run("cohesive-bar/model.toml", &[]);
    for i in 0..5 {
        let beta = run.signal(&format!("bond{i}.beta")).unwrap();
        assert!(beta.windows(2).all(|pair| pair[1] <= pair[0]), "a bond heals");
        assert_eq!(*beta.last().unwrap(), if i == 2 { 0.0 } else { 1.0 }, "bond {i}");
    }
    let (lam, u) = (run.signal("bond2.lam").unwrap(), run.signal("bond2.u").unwrap());
    let strongest = lam.iter().fold(0.0_f64, |most, lam| most.max(-lam / 5e-5));
    within("strength", (strongest - 100.0).abs(), 0.1);
    let taken: f64 = (2..lam.len()).map(|k| -0.5 * lam[k] * (u[k - 2] + u[k])).sum();
    within("energy", (taken - 0.02).abs(), 2e-4);
}
