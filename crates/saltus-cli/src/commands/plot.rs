//! `saltus plot RUN.h5 [SIGNAL...]`: pictures.

use super::find_signals;
use crate::{Error, Outcome, chart, paths, text};
use std::path::PathBuf;

/// Draw signals of a run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run file
    run: PathBuf,
    /// What to draw, for example `ball.q[0]`, `ball.q` or `ball` [default: a choice]
    signals: Vec<String>,
    /// The picture to write, .png or .svg [default: as the run file, .png]
    #[arg(short, long, value_name = "PICTURE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let picture = args.output.clone().unwrap_or_else(|| args.run.with_extension("png"));
    chart::check_path(&picture)?;
    let files = [("the run file", &*args.run), ("the picture", &*picture)];
    paths::check_distinct(&files, "give another name with -o")?;
    let run = saltus::io::run_file::read_run(&args.run)?;
    let signals = if args.signals.is_empty() {
        chart::default_signals(&run.layout)
    } else {
        find_signals(&run.layout, &args.signals)?
    };
    chart::draw(&run, &signals, &picture)?;
    text::out(&format!("{}\n", picture.display()))?;
    Ok(Outcome::Done)
}
