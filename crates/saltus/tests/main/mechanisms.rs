//! Examples of mechanisms and rows of bodies: dominoes, the latch of a breaker, a slider-crank, toys that walk and peck, a chute.

use crate::example_files::run;
use crate::support::within;
use saltus::io::model_file::ModelFile;
use saltus::prelude::*;
use std::path::Path;

fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

/// When each domino leans over, and that all of them lie at the end.
fn wave(push: &str) -> Vec<f64> {
    let run = run("domino-row/scene.toml", &[("push", push)]);
    within("penetration", run.stats.worst_penetration, 1e-5);
    let time_of = |k: usize| {
        let angle = run.signal(&format!("domino{k}.angle")).unwrap();
        assert!(angle[angle.len() - 1] < -1.2, "domino {k} lies: {}", angle[angle.len() - 1]);
        run.frames.time[angle.iter().position(|angle| *angle < -0.1).unwrap()]
    };
    (0..20).map(time_of).collect()
}

/// The wave is steady after half of the row, whatever began it.
#[test]
fn domino_row() {
    let mut pace = Vec::new();
    for push in ["4", "6"] {
        let times = wave(push);
        let ways: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(ways.iter().all(|way| *way > 0.0), "one after the other");
        pace.push((times[19] - times[10]) / 9.0);
        for way in &ways[10..] {
            within("pace", (way - pace[0]).abs(), 1e-3);
        }
    }
    within("whatever began it", (pace[0] - pace[1]).abs(), 2e-4);
    within("a domino in 35 ms", (pace[0] - 0.035).abs(), 5e-4);
}

/// It holds until the coil trips; then the arm flies to its stop, which bears what the spring leaves.
#[test]
fn latch() {
    let h = 1e-4;
    let tripped = run("latch/scene.toml", &[]);
    let (arm, pawl) = (tripped.signal("arm.angle").unwrap(), tripped.signal("pawl.angle").unwrap());
    for row in 0..=200 {
        within("it holds", arm[row].abs().max(pawl[row].abs()), 1e-10);
    }
    within("the arm is open", (last(&tripped, "arm.angle") - 0.8).abs(), 1e-10);
    assert_eq!(last(&tripped, "arm.omega"), 0.0);
    within("the pawl is away", (last(&tripped, "pawl.angle") + 0.6).abs(), 1e-10);
    let stop = tripped.signal("shaft.limit.lam").unwrap();
    within("the stop", (stop[stop.len() - 1] / h - 0.4).abs(), 1e-9);
    for joint in ["shaft", "pin"] {
        let gap = tripped.signal(&format!("{joint}.y")).unwrap();
        within(joint, gap.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-12);
    }

    // without its stop it swings for long
    let free = run("latch/scene.toml", &[("open", "3"), ("simulation.until", "0.2")]);
    let swing = free.signal("arm.angle").unwrap().iter().fold(0.0_f64, |most, x| most.max(*x));
    assert!(swing > 1.5 && swing < 1.9, "{swing}");

    let weak = run("latch/scene.toml", &[("trip", "0.3")]);
    within("a weak coil", last(&weak, "arm.angle").abs(), 1e-9);
}

/// As bodies it moves as in its three coordinates, up to the first impact, which comes when it does there.
#[test]
fn slider_crank_as_bodies() {
    let row = 250;
    // the scheme in coordinates is of first order: extrapolated
    let angle = |h: &str| {
        let run =
            run("slider-crank/model.toml", &[("simulation.h", h), ("simulation.until", "2.5e-3")]);
        [last(&run, "mechanism.q[0]"), last(&run, "mechanism.q[1]")]
    };
    let (coarse, fine) = (angle("2e-6"), angle("1e-6"));
    let bodies = run("slider-crank/scene.toml", &[("simulation.until", "0.01")]);
    for (k, name) in ["crank.angle", "rod.angle"].into_iter().enumerate() {
        let exact = 2.0 * fine[k] - coarse[k];
        let ours = bodies.signal(name).unwrap()[row];
        within(name, (ours - exact).abs(), 5e-7);
    }
    let contacts = &bodies.frames.contacts;
    let hits = |row: usize| contacts.impulse[contacts.of(row)].iter().any(|p| p[1] != 0.0);
    let first = (0..bodies.frames.len()).find(|&row| hits(row)).unwrap();
    within("first impact", (bodies.frames.time[first] - 2.70e-3).abs(), 1e-5);
    for joint in ["shaft", "pin", "wrist"] {
        let gap = bodies.signal(&format!("{joint}.y")).unwrap();
        within(joint, gap.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-12);
    }
}

/// Positions follow from velocities at the end of the step with the weight θ: without it joints and found contacts have
/// nothing to act on.
#[test]
fn theta_is_positive_where_bodies_meet() {
    for (name, suits) in [("latch", false), ("domino-row", false), ("dzhanibekov", true)] {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let file = ModelFile::read(&examples.join(name).join("scene.toml"), &[]).unwrap();
        let explicit = MoreauJean { theta: 0.0, ..Default::default() };
        let made = TimeStepping::new(file.model, file.simulation.h, [explicit.into()]);
        match made {
            Ok(_) => assert!(suits, "{name}"),
            Err(error) => {
                assert!(!suits && error.to_string().contains("`theta`"), "{name}: {error}");
            }
        }
    }
}

/// A wheel without a rim: its legs fall one after the other, at the rate that is known in closed form.
#[test]
fn walking_toy() {
    // m, l, J, slope, half the angle between legs
    let (m, l, J, slope, a): (f64, f64, f64, f64, f64) =
        (0.2, 0.1, 2e-4, 0.2, std::f64::consts::FRAC_PI_6);
    let about_foot = m * l * l + J;
    let kept = (m * l * l * (2.0 * a).cos() + J) / about_foot;
    let gained = 4.0 * m * 9.81 * l * slope.sin() * a.sin();
    let before = (gained / (about_foot * (1.0 - kept * kept))).sqrt();
    let mut errors = Vec::new();
    for h in ["4e-4", "1e-4"] {
        let run = run("walking-toy/scene.toml", &[("simulation.h", h)]);
        within("penetration", run.stats.worst_penetration, 1e-9);
        let rate = run.signal("toy.omega").unwrap();
        let steps = rate.windows(2).filter(|pair| pair[1] > 0.8 * pair[0] && pair[0] < -5.0);
        let steps: Vec<[f64; 2]> = steps.map(|pair| [-pair[0], -pair[1]]).collect();
        assert!(steps.len() >= 9, "{} steps", steps.len());
        let [last, after] = steps[steps.len() - 1];
        within("what an impact leaves", (after / last - kept).abs(), 1e-3);
        errors.push((last / before - 1.0).abs());
    }
    within("its pace", errors[1], 2e-3);
    assert!(errors[1] < 0.5 * errors[0], "of first order: {errors:?}");
    // on a ramp that is not steep enough it stands
    let flat = run("walking-toy/scene.toml", &[("slope", "0.1")]);
    assert_eq!(last(&flat, "toy.omega"), 0.0);
}

/// The woodpecker as bodies finds its cycle, and holds on to the pole by two corners in between.
#[test]
fn woodpecker_as_bodies() {
    let run = run("woodpecker/bodies.toml", &[("simulation.until", "1.5")]);
    let (beak, height) =
        (run.signal("beak.lam[0]").unwrap(), run.signal("sleeve.position[1]").unwrap());
    let mut pecks: Vec<(f64, f64)> = Vec::new();
    for (row, &t) in run.frames.time.iter().enumerate() {
        if beak[row] > 0.0 && pecks.last().is_none_or(|last| t - last.0 > 0.05) {
            pecks.push((t, height[row]));
        }
    }
    assert!(pecks.len() >= 11, "{pecks:?}");
    for pair in pecks[4..].windows(2) {
        within("a peck", (pair[1].0 - pair[0].0 - 0.1258).abs(), 2e-4);
        within("a step down", (pair[1].1 - pair[0].1 + 7.58e-3).abs(), 5e-5);
    }
    let eye = run.signal("eye.y").unwrap();
    within("the eye", eye.iter().fold(0.0, |most, y| most.max(y.abs())), 1e-8);
    let slips: Vec<Vec<f64>> =
        (1..=4).map(|k| run.signal(&format!("corner{k}.u[1]")).unwrap()).collect();
    let stuck = |row: &usize| slips.iter().all(|slip| slip[*row].abs() < 1e-9);
    let share = (0..height.len()).filter(stuck).count() as f64 / height.len() as f64;
    assert!(share > 0.3 && share < 0.4, "{share}");
}

/// Below some slope the bed of grains comes to rest to the last bit, above it flows. When the last grain
/// drops into its hollow, at about one second, is a matter of round-off, so that rest is asked for later.
#[test]
fn granular_chute() {
    let end_of = |slope: &str, until: f64| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/granular-chute/scene.toml");
        let overrides = [("slope".to_string(), slope.to_string())];
        let file = ModelFile::read(&path, &overrides).unwrap();
        let (h, solver) = (file.simulation.h, &file.simulation.solver);
        let integrators = file.simulation.integrators;
        let newton = file.simulation.newton;
        let mut sim =
            TimeStepping::with_methods(file.model, h, integrators, solver, newton).unwrap();
        let run = sim.run(until).unwrap();
        within("residual", run.stats.worst_residual, 1e-6);
        within("penetration", run.stats.worst_penetration, 5e-4);
        (0..60).map(|k| last(&run, &format!("grain{k}.v[0]"))).collect::<Vec<f64>>()
    };
    assert!(end_of("10", 2.0).iter().all(|v| *v == 0.0));
    let mean = end_of("26", 1.0).iter().sum::<f64>() / 60.0;
    assert!(mean > 0.1 && mean < 1.0, "{mean}");
}
