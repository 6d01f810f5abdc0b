//! The reference cases whose models are files, at all three levels: the same scheme and step,
//! convergence, and facts. (At their first step they are in `example_files.rs`.)

use crate::example_files::{follow, run, run_model};
use crate::models;
use crate::support::{Csv, difference, order_within, shared, testdata, within};
use saltus::model::Names;
use saltus::prelude::*;
use std::path::Path;

fn woodpecker(folder: &Path) {
    let columns = [
        ("y", "toy.q[0]"),
        ("phi_M", "toy.q[1]"),
        ("phi_S", "toy.q[2]"),
        ("vy", "toy.v[0]"),
        ("om_M", "toy.v[1]"),
        ("om_S", "toy.v[2]"),
    ];
    for (name, h) in [("1e-05", 1e-5), ("5e-06", 5e-6)] {
        let csv = Csv::read(folder, &format!("woodpecker/siconos_h{name}.csv")).after_start();
        let run = run("woodpecker/model.toml", &[("simulation.h", name)]);
        follow(&run, h, &csv, &format!("woodpecker, h = {name}"), 1e-6, &columns);
    }
}

/// The time of the tenth impact, or the end: the steps in which a corner begins to carry an impulse.
fn tenth_impact(run: &Run) -> f64 {
    let corners: Vec<Vec<f64>> = (1..=4)
        .map(|k| {
            let width = run.signal(&format!("corner{k}.y")).unwrap().len() / run.frames.len();
            let lam = run.signal(&format!("corner{k}.lam")).unwrap();
            lam.into_iter().step_by(width).collect()
        })
        .collect();
    let begins = |k: usize| corners.iter().any(|lam| lam[k] > 0.0 && lam[k - 1] == 0.0);
    let impact = (1..run.frames.len()).filter(|&k| begins(k)).nth(9);
    run.frames.time[impact.unwrap_or(run.frames.len() - 1)]
}

fn slider_crank(folder: &Path) {
    let all = [
        ("th1", "mechanism.q[0]"),
        ("th2", "mechanism.q[1]"),
        ("w1", "mechanism.v[0]"),
        ("w2", "mechanism.v[1]"),
        ("th3", "mechanism.q[2]"),
        ("gap1", "corner1.y[0]"),
        ("gap2", "corner2.y[0]"),
        ("gap3", "corner3.y[0]"),
        ("gap4", "corner4.y[0]"),
    ];
    for (name, file) in [("frictionless", "model"), ("friction", "friction")] {
        for (step, h) in [("5e-06", 5e-6), ("2.5e-06", 2.5e-6)] {
            let csv = Csv::read(folder, &format!("slider_crank/siconos_{name}_h{step}.csv"));
            let changes = [("simulation.until", "8.1e-3"), ("simulation.h", step)];
            let run = run(&format!("slider-crank/{file}.toml"), &changes);
            let csv = csv.before(tenth_impact(&run)).after_start();
            let what = format!("slider-crank, {name}, h = {step}");
            follow(&run, h, &csv, &what, 1e-5, &all[..4]);
            // at these steps the reference ended its Newton loop early in the first impact, and the
            // light slider shows it, most of all in its velocity; without that, see below
            follow(&run, h, &csv, &what, 2e-4, &all[4..]);
        }
    }
}

/// Siconos with a Newton tolerance of 1e-14 in place of the reference's 1e-10: now the slider
/// agrees as well, in everything.
#[test]
fn slider_crank_agrees_where_the_reference_is_converged() {
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
    for (name, file) in [("frictionless", "model"), ("friction", "friction")] {
        for (step, h) in [("5e-06", 5e-6), ("2.5e-06", 2.5e-6)] {
            let csv = format!("slider_crank/siconos_{name}_h{step}_newton1e-14.csv");
            let csv = Csv::read(&testdata(), &csv);
            let changes = [("simulation.until", "8.1e-3"), ("simulation.h", step)];
            let run = run(&format!("slider-crank/{file}.toml"), &changes);
            let csv = csv.before(tenth_impact(&run));
            let what = format!("slider-crank, {name}, h = {step}, Newton 1e-14");
            follow(&run, h, &csv, &what, 1e-7, &columns);
        }
    }
}

/// The run is that of the scheme, not that of the tolerance of its Newton loop.
#[test]
fn slider_crank_does_not_hang_on_newton() {
    for file in ["model", "friction"] {
        let of = |tol: &str| {
            let changes = [
                ("simulation.until", "7e-3"),
                ("simulation.h", "5e-6"),
                ("simulation.newton", tol),
                ("simulation.solver", "{ tol = 1e-12 }"),
            ];
            run(&format!("slider-crank/{file}.toml"), &changes).signal("mechanism.q").unwrap()
        };
        let tight = of("{ tol = 1e-14 }");
        for tol in ["{ tol = 1e-12 }", "{ tol = 1e-10 }"] {
            let worst = of(tol).iter().zip(&tight).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            within(&format!("slider-crank, {file}, Newton {tol}"), worst, 1e-9);
        }
    }
}

fn buck_converter(folder: &Path) {
    let columns = [("v_load", "circuit.x[0]"), ("i_L", "circuit.x[1]")];
    for (name, h) in [("5e-10", 5e-10), ("2.5e-10", 2.5e-10)] {
        let csv = Csv::read(folder, &format!("buck_converter/siconos_h{name}.csv"));
        let run = run("buck-converter/model.toml", &[("simulation.h", name)]);
        follow(&run, h, &csv, &format!("buck converter, h = {name}"), 1e-6, &columns);
    }
}

fn power_converter(folder: &Path) {
    let columns = [
        ("i_Lr", "circuit.x[0]"),
        ("v_Cr", "circuit.x[1]"),
        ("i_Lf", "circuit.x[2]"),
        ("v_Cf", "circuit.x[3]"),
    ];
    for (name, h) in [("1e-07", 1e-7), ("5e-08", 5e-8), ("2.5e-08", 2.5e-8)] {
        let csv = Csv::read(folder, &format!("power_converter_prc/siconos_h{name}.csv"));
        let run = run_model("power-converter.toml", &[("simulation.h", name)]);
        follow(&run, h, &csv, &format!("power converter, h = {name}"), 1e-7, &columns);
    }
}

/// The block as a point: the case of the reference, and what is changed in the model file.
type Incline = (&'static str, &'static [(&'static str, &'static str)]);
const INCLINES: [Incline; 4] = [
    ("slide_30deg_mu0.3", &[]),
    ("stick_30deg_mu0.7", &[("mu", "0.7")]),
    ("brake_20deg_mu0.6_v2", &[("degrees", "20"), ("mu", "0.6"), ("downhill", "2")]),
    ("transverse_30deg_mu_tan30", &[("mu", "tan(alpha)"), ("across", "2")]),
];

fn block_on_incline(folder: &Path) {
    for (name, changes) in INCLINES {
        let csv = Csv::read(folder, &format!("block_on_incline/siconos_{name}_point.csv"));
        let run = run_model("block-on-incline.toml", changes);
        let columns = [
            ("x", "block.q[0]"),
            ("y", "block.q[1]"),
            ("z", "block.q[2]"),
            ("vx", "block.v[0]"),
            ("vy", "block.v[1]"),
            ("vz", "block.v[2]"),
            ("pn", "plane.lam[0]"),
            ("px", "plane.lam[1]"),
            ("py", "plane.lam[2]"),
        ];
        let csv = csv.after_start();
        for (column, signal) in columns {
            let values = run.signal(signal).unwrap();
            let found = difference(&csv, column, 2e-3, |k| values[k]);
            within(&format!("block, {name}, {column}"), found.absolute, 1e-10);
        }
    }
}

/// The block as a cube on four corners: the same motion, and the same sum of the impulses.
fn block_on_corners(folder: &Path) {
    for (name, changes) in INCLINES {
        let csv = Csv::read(folder, &format!("block_on_incline/siconos_{name}_corners4.csv"));
        let csv = csv.after_start();
        let run = run_model("block-on-corners.toml", changes);
        let (q, v) = (run.signal("block.q").unwrap(), run.signal("block.v").unwrap());
        let corners: Vec<Vec<f64>> =
            (0..4).map(|k| run.signal(&format!("corner{k}.lam")).unwrap()).collect();
        let sum = |k: usize, i: usize| corners.iter().map(|lam| lam[3 * k + i]).sum::<f64>();
        let columns = ["x", "y", "z", "vx", "vy", "vz", "pn", "px", "py"];
        for (i, column) in columns.into_iter().enumerate() {
            let found = difference(&csv, column, 2e-3, |k| match i {
                0..3 => q[6 * k + i],
                3..6 => v[6 * k + i - 3],
                _ => sum(k, i - 6),
            });
            within(&format!("cube, {name}, {column}"), found.absolute, 1e-10);
        }
        // it does not turn
        let turned = (0..run.frames.len())
            .flat_map(|k| q[6 * k + 3..6 * k + 6].iter())
            .fold(0.0f64, |a, x| a.max(x.abs()));
        within(&format!("cube, {name}, rotation"), turned, 1e-9);
    }
}

/// `ẋ = u` and `ẋ₁ = x₂, ẋ₂ = −c₁ x₂ + α u` with a control that is computed once a step, from the
/// state at its beginning: explicit in everything.
fn sampled_control(folder: &Path) {
    for (step, h) in [("0.3", 0.3), ("0.1", 0.1), ("0.05", 0.05)] {
        let csv = Csv::read(folder, &format!("sliding_mode/sgn_explicit_h{step}.csv"));
        let rows = sampled(&["z[0]"], &[1.01], h, csv.rows.len(), |x| x[0]);
        let worst = largest(&csv, &["x"], &rows);
        within(&format!("sampled sign, h = {step}"), worst, 1e-12);

        let csv = Csv::read(folder, &format!("sliding_mode/smc_explicit_h{step}.csv"));
        let f = ["x[1]", "-x[1] + z[0]"];
        let rows = sampled(&f, &[0.0, 2.21], h, csv.rows.len(), |x| x[0] + x[1]);
        let worst = largest(&csv, &["x1", "x2"], &rows);
        within(&format!("sampled sliding mode, h = {step}"), worst, 1e-12);
        // it never slides, but goes around in a cycle of width h
        let after = (2.21f64 / h).ceil() as usize;
        let band = rows[after..].iter().fold(0.0f64, |a, x| a.max((x[0] + x[1]).abs()));
        let expected = [("0.3", 0.19), ("0.1", 0.09), ("0.05", 0.04)];
        let expected = expected.iter().find(|one| one.0 == step).unwrap().1;
        within(&format!("its cycle, h = {step}"), (band - expected).abs(), 1e-12);
    }
}

/// The states of `ẋ = f(x, z)` with `z = −sgn s(x)` held over each step.
fn sampled(
    f: &[&str],
    x0: &[f64],
    h: f64,
    rows: usize,
    s: impl Fn(&[f64]) -> f64,
) -> Vec<Vec<f64>> {
    let names = Names { first: ("x", x0.len()), inputs: 1, ..Names::TIME };
    let f = Operator::formulas(x0.len(), 1, f, &names, &[]).unwrap();
    let mut model = Model::new("sampled control");
    let plant = model.add("plant", FirstOrder::new(x0, f).z0([0.0])).unwrap();
    let scheme = EulerMoreau { theta: 0.0, ..EulerMoreau::default() };
    let mut sim = TimeStepping::new(model, h, [scheme.into()]).unwrap();
    let mut states = vec![x0.to_vec()];
    while states.len() < rows {
        let s = s(sim.x(plant).unwrap());
        sim.set_inputs("plant", &[if s > 0.0 { -1.0 } else { 1.0 }]).unwrap();
        sim.step().unwrap();
        states.push(sim.x(plant).unwrap().to_vec());
    }
    states
}

fn largest(csv: &Csv, columns: &[&str], rows: &[Vec<f64>]) -> f64 {
    let mut worst = 0.0f64;
    for (i, column) in columns.iter().enumerate() {
        let c = csv.column(column);
        for (row, x) in csv.rows.iter().zip(rows) {
            worst = worst.max((row[c] - x[i]).abs());
        }
    }
    worst
}

/// The plant of the sliding mode at small steps, exact between the instants at which a control is
/// sampled: explicit, `u = −sgn s`, or implicit, the relay of one step of the whole loop.
fn sampled_plant(folder: &Path) {
    for (step, h) in [("0.3", 0.3), ("0.1", 0.1), ("0.05", 0.05)] {
        for (kind, implicit) in [("LinearSMC", true), ("ExplicitLinearSMC", false)] {
            let csv = Csv::read(folder, &format!("sliding_mode/toolbox_{kind}_h{step}.csv"));
            // the control is a state that stays what it is until it is set
            let A = [[0.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, 0.0]];
            let mut model = Model::new("plant");
            let plant = FirstOrderLinear::new([0.0, 2.21, 0.0], A);
            let plant = model.add("plant", plant).unwrap();
            let hold = || [ZeroOrderHold::default().into()];
            let mut sim = TimeStepping::new(model, 0.01, hold()).unwrap();
            let closed = models::sliding_mode(h).model;
            let (state, surface) =
                (closed.system_id("plant").unwrap(), closed.interaction_id("surface").unwrap());
            let mut whole = TimeStepping::new(closed, h, hold()).unwrap();
            let samples = (h / 0.01).round() as usize;
            let (mut states, mut after) = (vec![vec![0.0, 2.21]], 0.0f64);
            for k in 0..1000 {
                if k % samples == 0 {
                    let x = sim.x(plant).unwrap()[..2].to_vec();
                    if (k as f64) * 0.01 > 2.21 + h {
                        after = after.max((x[0] + x[1]).abs());
                    }
                    let u = if implicit {
                        whole.set_x(state, &x).unwrap();
                        whole.step().unwrap();
                        whole.lam(surface)[0]
                    } else if x[0] + x[1] > 0.0 {
                        -1.0
                    } else {
                        1.0
                    };
                    sim.set_x(plant, &[x[0], x[1], u]).unwrap();
                }
                sim.step().unwrap();
                states.push(sim.x(plant).unwrap().to_vec());
            }
            let mut worst = 0.0f64;
            for (column, i) in [("x1", 0), ("x2", 1)] {
                worst = worst.max(difference(&csv, column, 0.01, |k| states[k][i]).absolute);
            }
            within(&format!("{kind}, h = {step}"), worst, 1e-12);
            println!("{kind}, h = {step}: |s| ≤ {after:.1e} at the samples after reaching");
            assert_eq!(after < 1e-12, implicit);
        }
    }
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
    woodpecker;
    slider_crank;
    buck_converter;
    power_converter;
    block_on_incline;
    block_on_corners;
    sampled_control;
    sampled_plant;
    inelastic_arm_against_the_exact_motion;
    elastic_arm_against_the_exact_motion;
    block_across_the_incline_against_the_exact_motion;
}

/// Largest difference of a signal from the one at the finest step, on the steps of the coarsest.
fn from_finest(signal: &str, runs: &[(f64, Run)]) -> Vec<(f64, f64)> {
    let coarsest = runs[0].0;
    let (finest, reference) = runs.last().unwrap();
    let reference = reference.signal(signal).unwrap();
    let stride = |h: f64| (coarsest / h).round() as usize;
    let difference = |(h, run): &(f64, Run)| {
        let values = run.signal(signal).unwrap();
        let rows = values.iter().step_by(stride(*h)).zip(reference.iter().step_by(stride(*finest)));
        (*h, rows.fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs())))
    };
    runs[..runs.len() - 1].iter().map(difference).collect()
}

/// A model file at three steps, the coarsest first.
fn at_steps(file: &str, steps: [&str; 3]) -> Vec<(f64, Run)> {
    steps.map(|h| (h.parse().unwrap(), run(file, &[("simulation.h", h)]))).into()
}

/// Self-convergence, with the figures that Siconos has: 1.4e-4 and 5.4e-5 in y.
#[test]
fn woodpecker_converges() {
    let runs = at_steps("woodpecker/model.toml", ["2e-5", "1e-5", "5e-6"]);
    let siconos = [
        ("toy.q[0]", [1.3760979928713682e-4, 5.415199589550723e-5]),
        ("toy.q[1]", [5.953603632029402e-3, 2.611193563640749e-3]),
        ("toy.q[2]", [3.556607227218289e-3, 1.5182287833262753e-3]),
    ];
    for (signal, expected) in siconos {
        let errors = from_finest(signal, &runs);
        order_within(&format!("woodpecker, {signal}"), &errors, 0.9..=1.6);
        for ((h, found), expected) in errors.iter().zip(expected) {
            let what = format!("woodpecker, {signal}, h = {h:e}, against Siconos");
            within(&what, (found / expected - 1.0).abs(), 1e-6);
        }
    }
}

/// Crank and rod converge at first order at least; so much for them in Siconos, too.
#[test]
fn slider_crank_converges() {
    for (file, expected) in [
        ("model", [4.306306371451019e-3, 1.380631654095854e-3]),
        ("friction", [4.300145278861578e-3, 1.3766388114881956e-3]),
    ] {
        let runs = at_steps(&format!("slider-crank/{file}.toml"), ["1e-5", "5e-6", "2.5e-6"]);
        let (first, second) =
            (from_finest("mechanism.q[0]", &runs), from_finest("mechanism.q[1]", &runs));
        let errors: Vec<(f64, f64)> =
            first.iter().zip(&second).map(|(a, b)| (a.0, a.1.max(b.1))).collect();
        order_within(&format!("slider-crank, {file}, crank and rod"), &errors, 1.0..=2.0);
        for ((h, found), expected) in errors.iter().zip(expected) {
            let what = format!("slider-crank, {file}, h = {h:e}, against Siconos");
            within(&what, (found / expected - 1.0).abs(), 5e-3);
        }
        // the first impact, from the corner that closes first
        for (h, run) in &runs {
            let width = run.signal("corner1.y").unwrap().len() / run.frames.len();
            let gaps: Vec<Vec<f64>> =
                (1..=4).map(|k| run.signal(&format!("corner{k}.lam")).unwrap()).collect();
            let hit = |k: usize| gaps.iter().any(|lam| lam[k * width] > 0.0);
            let first = (1..run.frames.len()).find(|&k| hit(k)).unwrap();
            let t = run.frames.time[first];
            println!("slider-crank, {file}, h = {h:e}: first impact at {t:.7}");
            assert!((2.695e-3 - 1e-9..=2.7e-3 + 1e-9).contains(&t), "first impact at {t}");
        }
    }
}

/// The current of the coil, from step to step: first order, unevenly.
#[test]
fn buck_converter_converges() {
    let steps = [("1e-9", 1e-9), ("5e-10", 5e-10), ("2.5e-10", 2.5e-10), ("1.25e-10", 1.25e-10)];
    let currents = steps.map(|(name, _)| {
        let run = run("buck-converter/model.toml", &[("simulation.h", name)]);
        run.signal("circuit.x[1]").unwrap()
    });
    let rows = currents[0].len();
    let between = |a: usize| {
        let change = |k: usize| (currents[a][k << a] - currents[a + 1][k << (a + 1)]).abs();
        (steps[a].1, (0..rows).map(change).sum::<f64>() / rows as f64)
    };
    order_within("buck converter, mean i_L", &[between(0), between(1), between(2)], 0.7..=1.3);
}

fn inelastic_arm_against_the_exact_motion(folder: &Path) {
    arm_against_the_exact_motion(folder, "0", [5.917698003414129e-3, 9.3e-4, 1.6e-4]);
}

fn elastic_arm_against_the_exact_motion(folder: &Path) {
    arm_against_the_exact_motion(folder, "0.5", [1.4355240003193437e-2, 1.2e-3, 1.5e-4]);
}

/// With what Siconos has at these steps, from 1e-4 on to two digits.
fn arm_against_the_exact_motion(folder: &Path, e: &str, siconos: [f64; 3]) {
    let csv = Csv::read(folder, &format!("two_link_arm/exact_e{e}.csv"));
    let mut errors = Vec::new();
    for (name, h) in [("1e-3", 1e-3), ("1e-4", 1e-4), ("2e-5", 2e-5)] {
        let run = run("two-link-arm/model.toml", &[("e", e), ("simulation.h", name)]);
        let mut worst = 0.0f64;
        for (column, signal) in [("q1", "arm.q[0]"), ("q2", "arm.q[1]")] {
            let values = run.signal(signal).unwrap();
            worst = worst.max(difference(&csv, column, h, |k| values[k]).absolute);
        }
        errors.push((h, worst));
        if e == "0" && name == "2e-5" {
            arm_impacts(&run);
        }
    }
    order_within(&format!("two-link arm, e = {e}, sup q"), &errors, 0.85..=1.4);
    // the worst instant may lie between two rows of the thinned file
    let tolerance = if csv.rows.len() > 1000 { 0.05 } else { 0.2 };
    for ((h, found), expected) in errors.iter().zip(siconos) {
        let what = format!("two-link arm, e = {e}, h = {h:e}, against Siconos");
        within(&what, (found / expected - 1.0).abs(), tolerance);
    }
}

/// Without rebound the arm hits the stop of its first joint, then that of its second one.
fn arm_impacts(run: &Run) {
    for (stop, expected) in [("low1", 0.5824068891483748), ("low2", 0.7554830155652733)] {
        let lam = run.signal(&format!("{stop}.lam")).unwrap();
        let first = lam.iter().position(|&lam| lam > 0.0).unwrap();
        let late = (run.frames.time[first] - expected) / 2e-5;
        within(&format!("two-link arm, {stop}, in steps"), late.abs(), 10.0);
    }
}

/// μ = tan α, thrown across: ‖v‖ + v_x stays, and in the end half the speed goes downhill.
fn block_across_the_incline_against_the_exact_motion(folder: &Path) {
    let csv = Csv::read(folder, "block_on_incline/exact_transverse_30deg_mu_tan30.csv");
    let (name, changes) = INCLINES[3];
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    for (text, h) in [("2e-3", 2e-3), ("1e-3", 1e-3), ("5e-4", 5e-4), ("2.5e-4", 2.5e-4)] {
        let changes = [changes, &[("simulation.h", text)]].concat();
        let run = run_model("block-on-incline.toml", &changes);
        let worst = |columns: [(&str, &str); 2]| {
            columns.iter().fold(0.0f64, |worst, (column, signal)| {
                let values = run.signal(signal).unwrap();
                worst.max(difference(&csv, column, h, |k| values[k]).absolute)
            })
        };
        positions.push((h, worst([("x", "block.q[0]"), ("y", "block.q[1]")])));
        velocities.push((h, worst([("vx", "block.v[0]"), ("vy", "block.v[1]")])));
    }
    order_within(&format!("block, {name}, positions"), &positions, 0.9..=1.1);
    order_within(&format!("block, {name}, velocities"), &velocities, 0.9..=1.1);
}

/// Closed forms of the other three blocks, at every step.
#[test]
fn block_slides_sticks_and_brakes() {
    let g = 9.81;
    let sliding = run_model("block-on-incline.toml", INCLINES[0].1);
    let a = 2.3562872366623964;
    let alpha = std::f64::consts::PI / 6.0;
    assert!((g * (alpha.sin() - 0.3 * alpha.cos()) - a).abs() < 1e-14);
    let (x, v) = (sliding.signal("block.q[0]").unwrap(), sliding.signal("block.v[0]").unwrap());
    for (k, t) in sliding.frames.time.iter().enumerate() {
        assert!((v[k] - a * t).abs() <= 1e-10 && (x[k] - 0.5 * a * t * t).abs() <= 1e-10);
    }
    let stuck = run_model("block-on-incline.toml", INCLINES[1].1);
    for signal in ["block.q", "block.v"] {
        let moved = stuck.signal(signal).unwrap().into_iter().fold(0.0f64, |a, x| a.max(x.abs()));
        within(&format!("block that sticks, {signal}"), moved, 1e-10);
    }
    let braking = run_model("block-on-incline.toml", INCLINES[2].1);
    let alpha = std::f64::consts::PI / 9.0;
    let a = g * (0.6 * alpha.cos() - alpha.sin());
    let (x, v) = (braking.signal("block.q[0]").unwrap(), braking.signal("block.v[0]").unwrap());
    for (k, &t) in braking.frames.time.iter().enumerate() {
        assert!((v[k] - (2.0 - a * t).max(0.0)).abs() <= 1e-10, "t = {t}: v = {}", v[k]);
    }
    // the step in which it stops ends at rest: half a step of the speed that was left
    within("block that brakes, way", (x.last().unwrap() - 2.0 / a).abs(), 0.5 * 2e-3 * a * 2e-3);
}
