//! `saltus-bench packings [--known-answer] [--c C] [CONTACTS...]`: how the cost of packings grows.
//!
//! Heaps of grains or bricks in a bin under their weight (`saltus_numerics::generate::Heap`), for
//! several ratios `c` of contact unknowns to velocities; with `--known-answer` packings whose answer
//! is drawn contact by contact, which for `c > 1` no motion of the bodies makes. The exponent is that
//! of `seconds ~ contacts^p` between a row and the one above it; the seconds are those of the processor
//! where the system tells them.

use saltus::numerics::{NumericsError, Problem, Solver, Status, generate, solve};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the table.
pub fn run(arguments: &[String]) -> ExitCode {
    let known = arguments.iter().any(|text| text == "--known-answer");
    let of_c = arguments.iter().position(|text| text == "--c").map(|at| at + 1);
    let ratios = match of_c.map(|at| arguments.get(at).map(|text| text.parse::<f64>())) {
        None => vec![0.1, 1.0, 3.0, 7.0],
        Some(Some(Ok(c))) => vec![c],
        Some(_) => {
            eprintln!("saltus-bench: packings: --c takes a number");
            return ExitCode::from(2);
        }
    };
    let numbers = arguments.iter().enumerate().filter(|(at, _)| Some(*at) != of_c);
    let numbers = numbers.map(|(_, text)| text).filter(|text| !text.starts_with("--"));
    let sizes: Result<Vec<usize>, _> = numbers.map(|text| text.parse()).collect();
    let sizes = match sizes {
        Ok(sizes) if sizes.is_empty() => vec![1000, 10_000, 100_000],
        Ok(sizes) => sizes,
        Err(error) => {
            eprintln!("saltus-bench: packings: {error}, expected numbers of contacts");
            return ExitCode::from(2);
        }
    };
    println!(
        "| c | contacts | status | method | iterations | residual | seconds | exponent | peak MB |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all_solved = true;
    for c in ratios {
        let mut before: Option<(usize, f64)> = None;
        for &contacts in &sizes {
            let problem = match problem(contacts, c, known) {
                Ok(problem) => problem,
                Err(error) => {
                    eprintln!("saltus-bench: {error}");
                    return ExitCode::FAILURE;
                }
            };
            let (clock, before_it) = (Instant::now(), processor_seconds());
            let found = solve(&problem, &Solver::default(), None);
            let wall = clock.elapsed().as_secs_f64();
            let seconds = match (before_it, processor_seconds()) {
                (Some(from), Some(to)) => to - from,
                _ => wall,
            };
            let Ok(solution) = found else { return ExitCode::FAILURE };
            all_solved &= solution.report.status == Status::Solved;
            let contacts = problem.contacts_count();
            let exponent = before.map_or(String::new(), |(n, s)| {
                format!("{:.2}", (seconds / s).ln() / (contacts as f64 / n as f64).ln())
            });
            println!(
                "| {c} | {contacts} | {} | {} | {} | {:.1e} | {seconds:.3} | {exponent} | {:.0} |",
                solution.report.status.name(),
                solution.report.method,
                solution.report.iterations,
                solution.report.residual,
                peak_megabytes(),
            );
            before = Some((contacts, seconds));
        }
    }
    if all_solved { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn problem(contacts: usize, c: f64, known: bool) -> Result<Problem, NumericsError> {
    match known {
        true => generate::packing(contacts, c, 0.5, 1).map(|generated| generated.problem),
        false => generate::heap(contacts, c, 0.5, 1),
    }
}

/// Seconds that the process has had the processor for, where the system tells.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// The most memory that the process has held, where the system tells; it never falls.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
