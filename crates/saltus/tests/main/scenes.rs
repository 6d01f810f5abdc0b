//! Scenes: the examples made of them against closed forms and what does not change, and a scene of
//! Siconos against its own run.

use crate::example_files::run;
use crate::support::within;
use saltus::io::scene_file::read_scene;
use saltus::mechanics::Scene;
use saltus::prelude::*;
use std::path::{Path, PathBuf};

/// A column of a signal at the end.
fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

fn vector(run: &Run, signal: &str, row: usize, size: usize) -> Vec<f64> {
    run.signal(signal).unwrap()[row * size..(row + 1) * size].to_vec()
}

/// An entry of the ledger at a row.
fn ledger(run: &Run, row: usize, name: &str) -> f64 {
    let place = saltus::sim::Ledger::NAMES.iter().position(|known| *known == name).unwrap();
    let column = run.layout.ledger_columns().start + place;
    run.frames.rows[row * run.layout.width() + column]
}

/// `x = g (sin α − μ cos α) t²/2`, and not a bit where friction holds.
#[test]
fn cube_on_slope() {
    let (g, alpha, h) = (9.81, std::f64::consts::FRAC_PI_6, 1e-3);
    let run_ = run("cube-on-slope/scene.toml", &[]);
    let a = g * (alpha.sin() - 0.3 * alpha.cos());
    within("speed", (last(&run_, "cube.v[0]") - a).abs(), 1e-9);
    within("way", (last(&run_, "cube.position[0]") - 0.5 * a).abs(), a * h);
    let held = run("cube-on-slope/scene.toml", &[("mu", "0.6")]);
    let rows = held.frames.len();
    assert_eq!(vector(&held, "cube.position", rows - 1, 3), [0.0, 0.0, 0.1]);
    assert_eq!(vector(&held, "cube.v", rows - 1, 3), [0.0; 3]);
    // the slope bears the weight
    let contacts = &held.frames.contacts;
    let own = contacts.of(rows - 1);
    let normal: f64 = contacts.impulse[own].iter().map(|p| p[2].abs()).sum();
    let weight = 700.0 * 0.008 * g * alpha.cos();
    within("normal force", (normal / h - weight).abs() / weight, 1e-6);
}

/// It rolls from `t = 2 v/(7 μ g)` on, with `5/7 v`.
#[test]
fn rolling_sphere() {
    let run = run("rolling-sphere/scene.toml", &[]);
    within("speed", (last(&run, "ball.v[0]") - 2.5).abs(), 1e-9);
    within("turn", (last(&run, "ball.omega[1]") - 25.0).abs(), 1e-9);
    let roll = 2.0 * 3.5 / (7.0 * 0.2 * 9.81);
    let way = 3.5 * roll - 0.5 * 0.2 * 9.81 * roll * roll + 2.5 * (1.0 - roll);
    within("way", (last(&run, "ball.position[0]") - way).abs(), 2e-3);
    assert_eq!(run.stats.worst_penetration, 0.0);
}

/// It turns over, and Jellett's number `L · (from the center of mass to the contact)` does not change.
#[test]
fn tippe_top() {
    let run = run("tippe-top/scene.toml", &[]);
    let (r, a) = (0.015, 0.003);
    within("it stands on its head", (last(&run, "top.position[2]") - (r + a)).abs(), 5e-4);
    let jellett = |row: usize| {
        let (m, q) = (0.006, vector(&run, "top.orientation", row, 4));
        let omega = vector(&run, "top.omega", row, 3);
        let (across, along) = (131.0 / 350.0 * m * r * r, 0.4 * m * r * r);
        // the upward direction in the frame of the body
        let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
        let up = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)];
        // from the contact to the center of mass: r up − a e₃
        let arm = [r * up[0], r * up[1], r * up[2] - a];
        across * omega[0] * arm[0] + across * omega[1] * arm[1] + along * omega[2] * arm[2]
    };
    let (first, end) = (jellett(0), jellett(run.frames.len() - 1));
    within("Jellett's number", ((end - first) / first).abs(), 0.02);
}

/// Energy and momentum of free rotation.
#[test]
fn dzhanibekov() {
    let run = run("dzhanibekov/scene.toml", &[]);
    let rows = run.frames.len();
    let energy = run.signal("nut.omega").unwrap();
    assert!(energy.chunks(3).any(|omega| omega[2] < -9.0), "it turns over");
    let [first, end] = [0, rows - 1].map(|row| ledger(&run, row, "kinetic"));
    within("energy", ((end - first) / first).abs(), 1e-5);
}

/// Links stay together.
#[test]
fn chain_and_four_bar() {
    let chain = run("chain/scene.toml", &[]);
    let gap = chain.signal("eye5.y").unwrap();
    within("chain", gap.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-10);
    let bars = run("four-bar/scene.toml", &[]);
    for joint in ["shaft", "pin", "eye", "stand"] {
        let gap = bars.signal(&format!("{joint}.y")).unwrap();
        within(joint, gap.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-10);
    }
    within("crank", (last(&bars, "crank.omega[1]").abs() - std::f64::consts::TAU).abs(), 1e-9);
}

/// What stands, stands: towers, walls and arches do not creep.
#[test]
fn what_stands() {
    let largest_speed = |run: &Run| {
        let bodies = run.layout.signals.iter().filter(|s| s.quantity.name() == "v");
        let row = run.frames.len() - 1;
        let speed = |s: &saltus::sim::Signal| {
            let width = run.layout.width();
            run.frames.rows[row * width..][s.columns.clone()]
                .iter()
                .fold(0.0_f64, |m, v| m.max(v.abs()))
        };
        bodies.map(speed).fold(0.0, f64::max)
    };
    for file in ["kapla-tower/scene.toml", "masonry-wall/scene.toml", "masonry-arch/scene.toml"] {
        let run = run(file, &[]);
        assert_eq!(largest_speed(&run), 0.0, "{file}");
        within(file, run.stats.worst_penetration, 1e-9);
    }
    // an arch that is too thin falls
    let thin = run("masonry-arch/scene.toml", &[("thickness", "0.1")]);
    assert!(largest_speed(&thin) > 0.1);
}

/// Rocks end below where they began, on the ground or beyond its edge; grains are not lost.
#[test]
fn what_falls() {
    for (file, depth) in [
        ("rock-fall/scene.toml", 1e-2),
        ("granular-column/scene.toml", 1e-2),
        ("hopper/scene.toml", 1e-2),
    ] {
        let run = run(file, &[]);
        within(file, run.stats.worst_penetration, depth);
        let end = run.frames.len() - 1;
        assert!(ledger(&run, end, "impact") + ledger(&run, end, "friction") > 0.0, "{file}");
    }
}

/// Balls in a bin on springs: the floor carries what the walls do not, sunk in by about weight over stiffness.
#[test]
fn granular_column_on_springs() {
    let run = run("granular-column/springs.toml", &[]);
    let (weight, h) =
        (54.0 * 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.05_f64.powi(3) * 9.81, 2e-3);
    let contacts = &run.frames.contacts;
    let of = contacts.of(run.frames.len() - 1);
    let sides = &run.layout.sides;
    let is_wall =
        |k: usize| contacts.sides[k].iter().any(|&side| !sides[side as usize].starts_with("ball"));
    let carried: f64 = of.filter(|&k| is_wall(k)).map(|k| contacts.impulse[k][2]).sum();
    // on what stands still, the first side
    within("the weight", (carried / (weight * h) + 1.0).abs(), 1e-6);
    within("penetration", run.stats.worst_penetration, 1e-3);
    assert!(run.stats.worst_residual <= 1e-8, "{}", run.stats.worst_residual);
    let end = run.frames.len() - 1;
    assert!(ledger(&run, end, "kinetic") < 1e-4, "{}", ledger(&run, end, "kinetic"));
    assert!(ledger(&run, end, "damping") > 0.0 && ledger(&run, end, "impact") == 0.0);
}

/// A ball on a table that goes up and down leaves it where the table falls faster than the ball.
#[test]
fn vibrating_table() {
    let run = run("vibrating-table/scene.toml", &[]);
    let z = run.signal("ball.position[2]").unwrap();
    let w = std::f64::consts::TAU * 10.0;
    let (mut highest, mut lowest) = (0.0_f64, 0.0_f64);
    for (z, t) in z.iter().zip(&run.frames.time) {
        let gap = z - 0.1 - 0.004 * (w * t).sin();
        (highest, lowest) = (highest.max(gap), lowest.min(gap));
    }
    assert!(highest > 1e-4, "{highest}");
    within("penetration", -lowest, 1e-9);
}

/// Fingers of a hand hold a block while μ F > m (g + z̈), and slip along it where not.
#[test]
fn gripper() {
    let run_of = |overrides: &[(&str, &str)]| run("gripper/scene.toml", overrides);
    let lifted = 0.06 * (1.0 - 4.4_f64.cos());
    let holds = run_of(&[]);
    within("height", (last(&holds, "block.position[2]") - 0.05 - lifted).abs(), 1e-3);
    let [left, right] = ["left", "right"].map(|name| {
        let [x, z] = [0, 2].map(|k| last(&holds, &format!("{name}.position[{k}]")));
        within(name, (z - 0.15 - lifted).abs(), 1e-12);
        x - 0.05 * (1.0 - 4.4_f64.cos())
    });
    within("symmetry", (left + right).abs(), 1e-12);
    within("at the block", (left + 0.05).abs(), 1e-4);
    let slips = run_of(&[("force", "4")]);
    within("on the ground", (last(&slips, "block.position[2]") - 0.05).abs(), 1e-6);
}

/// A wheel climbs its steps and goes on with the speed of its motor.
#[test]
fn rover_wheel() {
    let run = run("rover-wheel/scene.toml", &[]);
    within("height", (last(&run, "wheel.position[1]") - 0.25).abs(), 1e-9);
    within("speed", (last(&run, "wheel.v[0]") - 0.6).abs(), 1e-6);
}

/// On steps that give way it ends lower by `m g/k`, and the step that it has left is back where it was.
#[test]
fn rover_wheel_on_soft_steps() {
    let run = run("rover-wheel/soft.toml", &[]);
    let (m, g, k) = (2.0, 9.81, 2000.0);
    within("height", (last(&run, "wheel.position[1]") - (0.25 - m * g / k)).abs(), 1e-9);
    within("the step below", (last(&run, "second.position[1]") + m * g / k).abs(), 1e-9);
    within("the step behind", (last(&run, "first.position[1]") + 0.05).abs(), 1e-9);
    within("speed", (last(&run, "wheel.v[0]") - 0.6).abs(), 1e-6);
}

/// The pin stays in its eye, `|pin − eye| ≤ play/cos(π/24)` but for the penetration that is told, and is pressed against it nearly
/// all the time; the pivots hold.
#[test]
fn four_bar_with_clearance() {
    let run = run("four-bar/clearance.toml", &[]);
    let rows = run.frames.len();
    let play = 5e-4;
    // the end of a rod of half length `half`
    let end = |rod: &str, half: f64, row: usize| {
        let x = vector(&run, &format!("{rod}.position"), row, 2);
        let angle = vector(&run, &format!("{rod}.angle"), row, 1)[0];
        [x[0] + half * angle.cos(), x[1] + half * angle.sin()]
    };
    let apart = |row: usize| {
        let [eye, pin] = [end("coupler", 0.25, row), end("rocker", 0.2, row)];
        f64::hypot(eye[0] - pin[0], eye[1] - pin[1])
    };
    let most = (0..rows).map(apart).fold(0.0, f64::max);
    let bound = play / (std::f64::consts::PI / 24.0).cos();
    within("the pin leaves its eye", most - bound, run.stats.worst_penetration);
    within("penetration", run.stats.worst_penetration, 1e-5);
    let loose = (0..rows).filter(|&row| apart(row) < 0.98 * play).count();
    assert!((1..rows / 20).contains(&loose), "{loose} of {rows} rows");
    for joint in ["shaft", "first", "stand"] {
        let gap = run.signal(&format!("{joint}.y")).unwrap();
        within(joint, gap.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-10);
    }
    let end = rows - 1;
    assert!(ledger(&run, end, "impact") > 0.0 && ledger(&run, end, "friction") > 0.0);
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes").join(name)
}

/// A scene file of Siconos, run here with its step, against its own run.
#[test]
fn a_scene_of_siconos() {
    let file = read_scene(&testdata("siconos-scene.hdf5")).unwrap();
    let contacts = Scene { joints: Vec::new(), ..file.scene.clone() };
    let joints = Scene { contacts: Vec::new(), statics: Vec::new(), ..file.scene };
    let run = |scene: &Scene| {
        let mut sim =
            TimeStepping::new(scene.model().unwrap(), 1e-3, [MoreauJean::default().into()])
                .unwrap();
        sim.run(1.0).unwrap()
    };
    let (touching, swinging) = (run(&contacts), run(&joints));
    let exact = pendulum(joints.bodies.iter().find(|body| body.name == "bar").unwrap());
    let text = std::fs::read_to_string(testdata("siconos-scene.csv")).unwrap();
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let number = |k: usize| -> f64 { words[k].parse().unwrap() };
        let row = (number(0) * 1000.0).round() as usize;
        let is_bar = words[1] == "bar";
        let run = if is_bar { &swinging } else { &touching };
        let ours = vector(run, &format!("{}.position", words[1]), row, 3);
        for k in 0..3 {
            let what = format!("{} at {} s, {k}", words[1], words[0]);
            let mut tolerance = 5e-3;
            if is_bar {
                // Siconos' scheme is of first order, ours of second: we may be as far from it as it is
                // from the pendulum, and its six digits
                let [to_us, to_it] = [ours[k], number(2 + k)].map(|x| (x - exact[row][k]).abs());
                within(&format!("{what}, to the pendulum"), to_us, 2e-6);
                within(&format!("{what}, Siconos to the pendulum"), to_it, 6e-3);
                tolerance = to_it + 3e-6;
            }
            within(&what, (ours[k] - number(2 + k)).abs(), tolerance);
        }
        rows += 1;
    }
    assert_eq!(rows, 36);
}

/// Where the bar of the scene of Siconos is in each millisecond: from `(J + m l²) φ̈ = m g l cos φ`, with
/// φ below the horizontal, by the classical method of Runge and Kutta.
fn pendulum(bar: &saltus::mechanics::BodySpec) -> Vec<[f64; 3]> {
    let (l, g, J) = (0.5, 9.80665, bar.inertia.unwrap()[1][1]);
    let m = bar.mass.unwrap();
    let rate = |[phi, omega]: [f64; 2]| [omega, m * g * l * phi.cos() / (J + m * l * l)];
    let ahead = |x: [f64; 2], h: f64, d: [f64; 2]| [x[0] + h * d[0], x[1] + h * d[1]];
    let (h, mut x) = (1e-3, [0.0_f64; 2]);
    let mut all = Vec::new();
    for _ in 0..=1000 {
        all.push([l * x[0].cos(), -4.0, 3.0 - l * x[0].sin()]);
        let a = rate(x);
        let b = rate(ahead(x, 0.5 * h, a));
        let c = rate(ahead(x, 0.5 * h, b));
        let d = rate(ahead(x, h, c));
        let mean = |k: usize| (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]) / 6.0;
        x = ahead(x, h, [mean(0), mean(1)]);
    }
    all
}
