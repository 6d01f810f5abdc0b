//! `saltus-bench packings [CONTACTS...]`: how the cost of generated packings grows.
//!
//! Packings of spheres with friction and a known answer (`saltus_numerics::generate`), for several
//! ratios `c` of contact unknowns to velocities. The exponent is that of `seconds ~ contacts^p`
//! between a row and the one above it.

use saltus::numerics::{Solver, Status, generate, solve};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the table.
pub fn run(arguments: &[String]) -> ExitCode {
    let sizes: Result<Vec<usize>, _> = arguments.iter().map(|text| text.parse()).collect();
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
    for c in [0.1, 1.0, 3.0, 7.0] {
        let mut before: Option<(usize, f64)> = None;
        for &contacts in &sizes {
            let generated = match generate::packing(contacts, c, 0.5, 1) {
                Ok(generated) => generated,
                Err(error) => {
                    eprintln!("saltus-bench: {error}");
                    return ExitCode::FAILURE;
                }
            };
            let clock = Instant::now();
            let found = solve(&generated.problem, &Solver::default(), None);
            let seconds = clock.elapsed().as_secs_f64();
            let Ok(solution) = found else { return ExitCode::FAILURE };
            all_solved &= solution.report.status == Status::Solved;
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

/// The most memory that the process has held, where the system tells; it never falls.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
