//! Speed of Saltus beside its peers: `cargo run --release -p saltus-bench [CASE...]`.
//!
//! Every case runs in Saltus (recording included), where it is installed in Siconos' own loop, and
//! through Saltus' Python package, round after round in one run (see `rounds`). Times are medians;
//! ratios within a round are what counts: their median, least and largest.
//!
//! `saltus-bench profiles` compares the solvers instead, over stored problems (see `profiles`);
//! `saltus-bench packings` shows how the cost of generated packings grows; `saltus-bench formulas`
//! compares formula strings with closures, `saltus-bench callables` Python functions in a simulation
//! with the functions alone, `saltus-bench event-driven` event-driven runs with those of Siconos and
//! SciPy; `saltus-bench circuits [waveforms | exact | inverters]` netlists with ngspice;
//! `saltus-bench finding` tells what finding contacts costs; `saltus-bench orders` shows errors beside steps;
//! `saltus-bench grains` tells time and memory of large scenes;
//! `saltus-bench piles` compares piles of bodies, `saltus-bench chains` chains of links, with those of
//! engines of rigid bodies.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command prints

mod callables;
mod cases;
mod chains;
mod circuits;
mod event_driven;
mod finding;
mod formulas;
mod grains;
mod inverters;
mod orders;
mod packings;
mod peers;
mod piles;
mod profiles;
mod rounds;
mod waveforms;
mod work_precision;

use cases::Case;
use peers::{PythonRounds, SiconosRounds};
use rounds::{ROUNDS, Ratios, cell, median};
use std::process::ExitCode;

/// Runs of the scaling table.
const REPEATS: usize = 5;

fn main() -> ExitCode {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if chosen.first().is_some_and(|first| first == "profiles") {
        return profiles::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "packings") {
        return packings::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "formulas") {
        return formulas::run();
    }
    if chosen.first().is_some_and(|first| first == "callables") {
        return callables::run();
    }
    if chosen.first().is_some_and(|first| first == "event-driven") {
        return event_driven::run();
    }
    if chosen.first().is_some_and(|first| first == "circuits") {
        return circuits::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "finding") {
        return finding::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "piles") {
        return piles::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "grains") {
        return grains::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "chains") {
        return chains::run(&chosen[1..]);
    }
    if chosen.first().is_some_and(|first| first == "orders") {
        return orders::run(&chosen[1..]);
    }
    let all = cases::all();
    if let Some(unknown) = chosen.iter().find(|name| {
        name.as_str() != "scaling" && !all.iter().any(|case| case.name == name.as_str())
    }) {
        let names: Vec<&str> = all.iter().map(|case| case.name).collect();
        eprintln!(
            "there is no case `{unknown}`; there are {}, scaling, profiles, packings, formulas, callables, chains, circuits, event-driven, finding, grains, orders, piles",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|c| c == name);

    println!(
        "| case | steps | Saltus | Siconos, bare loop | ratio | Siconos, recording | ratio | Saltus from Python | to Rust | Siconos to it |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    all.iter().filter(|case| wanted(case.name)).for_each(compare);
    if wanted("scaling") {
        scaling();
    }
    ExitCode::SUCCESS
}

/// A case in rounds: Saltus, Siconos, Saltus from Python, and again.
fn compare(case: &Case) {
    let mut siconos = SiconosRounds::start(case.peer);
    let mut python = PythonRounds::start(case.name, case.steps);
    case.warm_up();
    let [mut ours, mut bare, mut recording, mut from_python] = [const { Vec::new() }; 4];
    let (mut steps, mut residual) = (0, 0.0_f64);
    for round in 0..=ROUNDS {
        let own = case.round();
        let theirs = siconos.as_mut().and_then(SiconosRounds::round);
        let through_python = python.as_mut().and_then(PythonRounds::round);
        (steps, residual) = (own.steps, residual.max(own.residual));
        if round == 0 {
            continue; // for warmth
        }
        ours.push(Some(own.seconds_per_step));
        bare.push(theirs.map(|theirs| theirs.bare));
        recording.push(theirs.map(|theirs| theirs.recording));
        from_python.push(through_python);
    }
    println!(
        "| {} | {steps} | {} | {} | {} | {} | {} | {} | {} | {} |",
        case.name,
        time(median(&ours)),
        time(median(&bare)),
        cell(Ratios::of(&bare, &ours)),
        time(median(&recording)),
        cell(Ratios::of(&recording, &ours)),
        time(median(&from_python)),
        cell(Ratios::of(&from_python, &ours)),
        cell(Ratios::of(&bare, &from_python)),
    );
    assert!(residual <= 1e-8, "{}: residual {residual:e}", case.name);
}

/// Cost of a step of beads in resting contact, which must grow no worse than linearly.
fn scaling() {
    println!();
    println!("| beads at rest | a step | a step and bead | a step, recording | and bead |");
    println!("| --- | --- | --- | --- | --- |");
    for n in [100, 316, 1000, 3162, 10_000] {
        let case = cases::beads_at_rest(n);
        case.warm_up();
        let recording = (0..REPEATS).map(|_| Some(case.round().seconds_per_step));
        let recording = median(&recording.collect::<Vec<_>>()).unwrap_or(f64::NAN);
        let bare = case.measure_steps(REPEATS);
        println!(
            "| {n} | {} | {} | {} | {} |",
            time(Some(bare)),
            time(Some(bare / n as f64)),
            time(Some(recording)),
            time(Some(recording / n as f64)),
        );
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "-".to_string(),
        Some(s) if s < 1e-6 => format!("{:.0} ns", 1e9 * s),
        Some(s) if s < 1e-3 => format!("{:.2} µs", 1e6 * s),
        Some(s) if s < 1.0 => format!("{:.2} ms", 1e3 * s),
        Some(s) => format!("{s:.2} s"),
    }
}
