//! Event-driven runs beside Siconos' event-driven loop and SciPy's `solve_ivp` with events, at
//! equal accuracy: every peer runs with several tolerances, and the fastest that is accurate enough
//! counts.

use crate::peers;
use crate::time;
use cpu_time::ProcessTime;
use saltus::prelude::*;
use saltus::sim::{EventDriven, EventKind, EventSettings, Run, RunOptions};
use std::process::ExitCode;

const REPEATS: usize = 200; // the fastest counts, on a machine with other work to do

/// A model, until when, and how far a run is from the truth.
struct Case {
    name: &'static str,
    until: f64,
    /// Largest error that counts as accurate.
    accurate: f64,
    settings: EventSettings,
    build: fn() -> Result<Model, SaltusError>,
    error: fn(&Run) -> f64,
}

pub fn run() -> ExitCode {
    match table().and_then(|()| beads()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn table() -> Result<(), SaltusError> {
    println!("| case | | events | error | a run | an event | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for case in [ball(), bridge()] {
        let mut times = Vec::new();
        let (mut error, mut events) = (0.0, 0);
        for _ in 0..REPEATS {
            let solver = Solver::default();
            let mut sim = EventDriven::with((case.build)()?, case.settings, &solver)?;
            let clock = ProcessTime::now();
            let run = sim.run(case.until)?;
            times.push(clock.elapsed().as_secs_f64());
            (error, events) = ((case.error)(&run), run.events.len());
        }
        times.sort_by(f64::total_cmp);
        let ours = times[0];
        print_row(case.name, "Saltus", events, error, ours, ours);
        assert!(error <= case.accurate, "{}: error {error:e}", case.name);
        for peer in ["siconos", "scipy"] {
            for answer in peers::event_driven(peer, case.name, case.accurate) {
                print_row(
                    case.name,
                    &answer.what,
                    answer.events,
                    answer.error,
                    answer.seconds,
                    ours,
                );
            }
        }
    }
    Ok(())
}

fn print_row(case: &str, what: &str, events: usize, error: f64, seconds: f64, ours: f64) {
    let each = time(Some(seconds / events as f64));
    let (all, ratio) = (time(Some(seconds)), seconds / ours);
    println!("| {case} | {what} | {events} | {error:.0e} | {all} | {each} | {ratio:.1} |");
}

/// A ball falls from 1 m and loses a tenth of its velocity at every impact.
fn ball() -> Case {
    let build = || {
        let mut model = Model::new("ball");
        let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]);
        let ball = model.add("ball", ball)?;
        let floor = LagrangianLinearRelation::new([[1.0]]);
        model.connect("floor", floor, Law::newton_impact(0.9), &[ball])?;
        Ok(model)
    };
    let error = |run: &Run| {
        let first = (2.0 / 9.81_f64).sqrt();
        let (mut exact, mut flight, mut worst) = (first, 1.8 * first, 0.0_f64);
        for event in run.events.iter().filter(|event| event.kind == EventKind::Impact) {
            worst = worst.max((event.time - exact).abs());
            exact += flight;
            flight *= 0.9;
        }
        worst
    };
    let settings = EventSettings { rtol: 1e-10, atol: 1e-12 };
    Case { name: "ball", until: 8.0, accurate: 1e-10, settings, build, error }
}

/// The circuit of the diode bridge: ideal diodes, so that the voltage obeys
/// `v'' + v'/(R C) + v/(L C) = 0`.
fn bridge() -> Case {
    let build = || {
        let mut model = Model::new("diode bridge");
        let tank = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1e6], [100.0, 0.0]]);
        let tank = model.add("tank", tank)?;
        let C = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]];
        let B = [[0.0, 0.0, -1e6, 1e6], [0.0; 4]];
        let D = [
            [1e-3, 1e-3, -1.0, 0.0],
            [1e-3, 1e-3, 0.0, -1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ];
        let bridge = FirstOrderLinearRelation::new(C, B).D(D);
        model.connect("bridge", bridge, Law::Complementarity, &[tank])?;
        Ok(model)
    };
    let error = |run: &Run| {
        let t = 5e-3;
        let (damping, square) = (500.0_f64, 1e8_f64);
        let frequency = (square - damping * damping).sqrt();
        let (sin, cos) = (frequency * t).sin_cos();
        let decay = (-damping * t).exp();
        // v(0) = 10, v'(0) = −10⁴; L i' = v, with i(0) = 0
        let v = 10.0 * decay * (cos - damping / frequency * sin);
        let i = 1000.0 * decay * sin / frequency;
        let last = run.signal("tank.x").map_or_else(|_| vec![f64::NAN; 2], |x| x.to_vec());
        let [.., found_v, found_i] = last[..] else { return f64::NAN };
        ((found_v - v) / 10.0).abs().max(((found_i - i) / 0.1).abs())
    };
    let settings = EventSettings { rtol: 1e-10, atol: 1e-12 };
    Case { name: "diode-bridge", until: 5e-3, accurate: 1e-9, settings, build, error }
}

/// A column of beads, a little apart, falls on the floor, bounces and comes to rest: the cost of an
/// event where it concerns a few bodies.
fn beads() -> Result<(), SaltusError> {
    println!();
    println!("| beads | events | a run | an event |");
    println!("| --- | --- | --- | --- |");
    let samples: Vec<f64> = (0..=100).map(|k| COLUMN_FALL * k as f64 / 100.0).collect();
    for n in [10, 32, 100, 316, 1000] {
        let mut times = Vec::new();
        let mut events = 0;
        for _ in 0..3 {
            let mut sim = EventDriven::new(column(n)?)?;
            let options = RunOptions { samples: Some(&samples), ..RunOptions::default() };
            let clock = ProcessTime::now();
            let run = sim.run_with(COLUMN_FALL, options)?;
            times.push(clock.elapsed().as_secs_f64());
            events = run.events.len();
            let weight = run.signal("gap0.lam")?.last().copied().unwrap_or(f64::NAN);
            assert!((weight / (9.81 * n as f64) - 1.0).abs() < 1e-9, "not at rest: {weight}");
        }
        times.sort_by(f64::total_cmp);
        let each = time(Some(times[0] / events as f64));
        println!("| {n} | {events} | {} | {each} |", time(Some(times[0])));
    }
    Ok(())
}

/// Seconds after which the column rests.
const COLUMN_FALL: f64 = 3.0;

/// `n` beads of unit mass above each other, gaps of a millimetre, a metre a second down.
fn column(n: usize) -> Result<Model, SaltusError> {
    let mut model = Model::new("column");
    let law = Law::newton_impact(0.9);
    let mut below = None;
    for k in 0..n {
        let height = (k + 1) as f64 * 1e-3;
        let bead = LagrangianLinear::new([height], [-1.0], [[1.0]]).F_ext([-9.81]);
        let bead = model.add(&format!("bead{k}"), bead)?;
        let name = format!("gap{k}");
        match below {
            None => {
                let floor = LagrangianLinearRelation::new([[1.0]]);
                model.connect(&name, floor, law.clone(), &[bead])?
            }
            Some(below) => {
                let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
                model.connect(&name, gap, law.clone(), &[below, bead])?
            }
        };
        below = Some(bead);
    }
    Ok(model)
}
