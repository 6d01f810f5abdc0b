//! `saltus export RUN.h5 --to csv -o PATH`: a run in another format.

use super::find_signals;
use crate::{Error, Outcome, paths, text};
use clap::ValueEnum;
use saltus::io::export::export;
use std::path::PathBuf;

/// Write a run in another format.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run file
    run: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    to: Format,
    /// The file to write [default: as the run file]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only these signals, for example `ball.q[0]` or `ball`
    #[arg(long = "signal", value_name = "SIGNAL")]
    signals: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Comma-separated values, one row an instant
    Csv,
    /// SPICE's raw file in binary
    Raw,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let format = match args.to {
        Format::Csv => saltus::io::export::Format::Csv,
        Format::Raw => saltus::io::export::Format::Raw,
    };
    let default = || args.run.with_extension(format.extension());
    let path = args.output.clone().unwrap_or_else(default);
    let files = [("the run file", &*args.run), ("the file to write", &*path)];
    paths::check_distinct(&files, "give another name with -o")?;
    let run = saltus::io::run_file::read_run(&args.run)?;
    let signals = find_signals(&run.layout, &args.signals)?;
    export(&run, &signals, format, &path)?;
    text::out(&format!("{}\n", path.display()))?;
    Ok(Outcome::Done)
}
