//! `saltus export RUN.h5 --to csv -o PATH`: a run in another format.

use super::find_signals;
use crate::{Error, Outcome, paths, text};
use clap::ValueEnum;
use saltus::io::export::{export, scene_of_run, write_scene};
use std::path::PathBuf;

/// Write a run in another format.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run file
    run: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    to: Format,
    /// The file to write, or the folder of `vtk` [default: as the run file]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only these signals, for example `ball.q[0]` or `ball`
    #[arg(long = "signal", value_name = "SIGNAL")]
    signals: Vec<String>,
    /// Only every N-th recorded instant, with the first and the last
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Of `vtk`: the folder of the model, where meshes are looked for first that it has in files
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Comma-separated values, one row an instant
    Csv,
    /// SPICE's raw file in binary
    Raw,
    /// Bodies, contacts and force chains of a scene for ParaView, in a folder
    Vtk,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    if args.every == 0 {
        return Err("--every is 0, expected 1, 2, 3 …".into());
    }
    let format = match args.to {
        Format::Csv => saltus::io::export::Format::Csv,
        Format::Raw => saltus::io::export::Format::Raw,
        Format::Vtk => return vtk(args),
    };
    if args.folder.is_some() {
        return Err("--folder is for `vtk`, whose meshes may be files".into());
    }
    let default = || args.run.with_extension(format.extension());
    let path = args.output.clone().unwrap_or_else(default);
    let files = [("the run file", &*args.run), ("the file to write", &*path)];
    paths::check_distinct(&files, "give another name with -o")?;
    let run = saltus::io::run_file::read_run(&args.run)?;
    let signals = find_signals(&run.layout, &args.signals)?;
    export(&run, &signals, args.every, format, &path)?;
    text::out(&format!("{}\n", path.display()))?;
    Ok(Outcome::Done)
}

/// Bodies, contacts and force chains, a file an instant.
fn vtk(args: &Args) -> Result<Outcome, Error> {
    if !args.signals.is_empty() {
        return Err("--signal is for tables, not for `vtk`".into());
    }
    let folder = args.output.clone().unwrap_or_else(|| args.run.with_extension("vtk"));
    let run = saltus::io::run_file::read_run(&args.run)?;
    let info = saltus::io::run_file::read_info(&args.run)?;
    let text = info.model_text.as_deref();
    let scene = scene_of_run(text, args.folder.as_deref(), args.run.parent())?;
    write_scene(&run, &scene, args.every, &folder)?;
    text::out(&format!("{}\n", folder.join("bodies.pvd").display()))?;
    Ok(Outcome::Done)
}
