//! `saltus-bench grains [SIZE...] [--layers N] [--steps N] [--tol T] [--springs K C] [--boxes]`: time and memory of large scenes.
//!
//! A loose lattice of so many layers falls into a bin: friction 0.7, no restitution, steps of 5 ms. The
//! bin is as wide as the number of grains asks, so that in every size the same layers touch at the
//! same time, and the cost of a grain can be compared. Every size runs in a process of its own, whose
//! peak of memory, less what it had at its beginning, is that of scene, model and simulation. Nothing
//! is recorded. A kB are 1024 bytes.
//!
//! ```text
//! allowed = 2 kB a grain + 1 kB a contact
//! ```

use crate::packings::peak_megabytes;
use crate::piles::{Pile, Springs, TOLERANCE, number_after, springs_after, tolerance_after};
use cpu_time::ProcessTime;
use saltus::numerics::{AutoSettings, Solver};
use saltus::sim::{MoreauJean, TimeStepping};
use std::process::{Command, ExitCode};

/// Length of a step.
const H: f64 = 5e-3;

/// What is asked.
struct Asked {
    sizes: Vec<usize>,
    layers: usize,
    steps: usize,
    tol: f64,
    springs: Option<Springs>,
    boxes: bool,
    /// In this process.
    here: bool,
}

pub fn run(arguments: &[String]) -> ExitCode {
    let asked = match parsed(arguments) {
        Ok(asked) => asked,
        Err(found) => {
            eprintln!(
                "grains [SIZE...] [--layers N] [--steps N] [--tol T] [--springs K C] [--boxes], all above zero but C, T below 1; not `{found}`"
            );
            return ExitCode::from(2);
        }
    };
    if asked.here {
        return match asked.sizes.iter().try_for_each(|&size| row(size, &asked)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("saltus-bench: grains: {error}");
                ExitCode::FAILURE
            }
        };
    }
    println!(
        "| grains | contacts at the end | scene, model | simulation | a step and grain: falling | touching | residual | memory of the scene a grain | peak a grain | of what is allowed |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let Ok(own) = std::env::current_exe() else { return ExitCode::FAILURE };
    for size in &asked.sizes {
        let mut child = Command::new(&own);
        child.args(["grains", "--here", &size.to_string()]);
        child.args(["--layers", &asked.layers.to_string(), "--steps", &asked.steps.to_string()]);
        child.args(["--tol", &asked.tol.to_string()]);
        if let Some([stiffness, damping]) = asked.springs {
            child.args(["--springs", &stiffness.to_string(), &damping.to_string()]);
        }
        child.args(asked.boxes.then_some("--boxes"));
        if !child.status().is_ok_and(|status| status.success()) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn parsed(arguments: &[String]) -> Result<Asked, &str> {
    let (sizes, tol) = (Vec::new(), TOLERANCE);
    let mut asked =
        Asked { sizes, layers: 10, steps: 12, tol, springs: None, boxes: false, here: false };
    let mut left = arguments.iter();
    while let Some(one) = left.next() {
        match one.as_str() {
            "--boxes" => asked.boxes = true,
            "--here" => asked.here = true,
            "--layers" => asked.layers = number_after(one, left.next())?,
            "--steps" => asked.steps = number_after(one, left.next())?,
            "--springs" => {
                asked.springs = Some(springs_after(one, [left.next(), left.next()])?);
            }
            "--tol" => asked.tol = tolerance_after(one, left.next())?,
            text => asked.sizes.push(number_after(text, Some(one))?),
        }
    }
    if asked.sizes.is_empty() {
        asked.sizes = vec![1000, 10_000, 100_000];
    }
    Ok(asked)
}

/// One size, measured.
fn row(size: usize, asked: &Asked) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let kind = if asked.boxes { "box" } else { "sphere" };
    let across = (size as f64 / asked.layers as f64).sqrt().ceil() as usize;
    let pile = Pile::wide(kind, size, across);
    let before = peak_megabytes();

    let clock = ProcessTime::now();
    let model = pile.model(asked.springs)?;
    let building = clock.elapsed().as_secs_f64();
    let scene = peak_megabytes() - before;
    let clock = ProcessTime::now();
    let solver = Solver::Auto(AutoSettings { tol: asked.tol, ..AutoSettings::default() });
    let scheme = [MoreauJean::default().into()];
    let mut sim = TimeStepping::with_solver(model, H, scheme, &solver).map_err(|e| said(&e))?;
    let beginning = clock.elapsed().as_secs_f64();

    // steps without a contact, and with
    let (mut falling, mut touching) = ((0.0, 0), (0.0, 0));
    let mut residual = 0.0_f64;
    for step in 0..asked.steps {
        let clock = ProcessTime::now();
        let done = sim.step().map_err(|e| said(&e))?;
        let seconds = clock.elapsed().as_secs_f64();
        residual = residual.max(done.residual);
        let phase = if done.iterations == 0 { &mut falling } else { &mut touching };
        // the first step finds its room
        if step > 0 {
            *phase = (phase.0 + seconds, phase.1 + 1);
        }
    }
    let peak = peak_megabytes() - before;
    let contacts = sim.contacts().gap.len();
    let a_grain = |(seconds, steps): (f64, usize)| {
        crate::time((steps > 0).then(|| seconds / (steps * size) as f64))
    };
    let bytes = |megabytes: f64| 1024.0 * 1024.0 * megabytes / size as f64;
    let allowed = 1.0 / 1024.0 * (2 * size + contacts) as f64;
    println!(
        "| {size} {kind} | {contacts} | {} | {} | {} | {} | {residual:.1e} | {:.0} B | {:.0} B | {:.2} |",
        crate::time(Some(building)),
        crate::time(Some(beginning)),
        a_grain(falling),
        a_grain(touching),
        bytes(scene),
        bytes(peak),
        peak / allowed,
    );
    Ok(())
}
