//! Python functions as right-hand sides beside the functions themselves: `saltus-bench callables`.
//!
//! The script `saltus_callable.py` does the work, in the interpreter that has Saltus' package.

use crate::{peers, time};
use std::process::ExitCode;

/// Prints the table.
pub fn run() -> ExitCode {
    let Some(rows) = peers::callables() else {
        eprintln!("the Python package is not installed: `cargo xtask test` builds it");
        return ExitCode::from(2);
    };
    println!("| function | calls a step | alone | in a simulation, all of it | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    for row in rows.as_array().into_iter().flatten() {
        let number = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        let (alone, simulated) = (number("alone"), number("simulated"));
        println!(
            "| {} | {:.2} | {} | {} | {:.2} |",
            row["function"].as_str().unwrap_or("-"),
            number("calls_per_step"),
            time(Some(alone)),
            time(Some(simulated)),
            simulated / alone
        );
    }
    ExitCode::SUCCESS
}
