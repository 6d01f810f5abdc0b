//! The `saltus` command: a file a command, which parses, calls the library and prints.
//!
//! Exit status: 0 done, 1 the run failed, 2 wrong use or wrong input. Data go to standard
//! output ([`text::out`]), messages to standard error ([`text::message`]).

mod bundled;
mod chart;
mod commands;
mod paths;
mod preview;
mod text;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Simulate systems that jump, stick, slip and switch.
#[derive(Debug, Parser)]
#[command(name = "saltus", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a model file: writes a run file and a picture, prints a summary
    Run(commands::run::Args),
    /// Draw signals of a run
    Plot(commands::plot::Args),
    /// Solve stored problems, one line each
    Solve(commands::solve::Args),
    /// Tell what is in a model file, a run or a stored problem
    Info(commands::info::Args),
    /// Write a run in another format
    Export(commands::export::Args),
    /// Tell how much the run of a model file depends on its tolerance, or its step
    Verify(commands::verify::Args),
    /// Compare two runs; the exit status tells whether they agree
    Compare(commands::compare::Args),
    /// List the bundled examples, or write one out
    Examples(commands::examples::Args),
    /// Print the JSON schema of model files
    Schema(commands::schema::Args),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Exit status 0.
    Done,
    /// Exit status 1.
    Failed,
    /// Exit status 2: wrong input that was told, beside other input that was not wrong.
    Wrong,
}

/// Wrong use or wrong input: the message for the user, exit status 2.
type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => commands::run::run(&args),
        Command::Plot(args) => commands::plot::run(&args),
        Command::Solve(args) => commands::solve::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Examples(args) => commands::examples::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Wrong) => ExitCode::from(2),
        Err(error) => {
            text::message(&error.to_string());
            ExitCode::from(2)
        }
    }
}
