//! Where a run goes: its file and its picture, what is shown on the way, and what is said of them.

use super::run::Args;
use crate::preview::Preview;
use crate::{Error, Outcome, chart, paths, text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saltus::io::model_file::PLAIN_NAMES;
use saltus::io::run_file::RunWriter;
use saltus::numerics::Interrupt;
use saltus::sim::{self, Frames, Layout, Run, SimError, Sink};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// The files of a run.
pub struct Targets {
    output: PathBuf,
    picture: Option<PathBuf>,
}

impl Targets {
    /// The names that were given or follow from the file that is run; none of them is that of
    /// another file, and all can be written.
    pub fn new(
        args: &Args,
        from: Option<f64>,
        source: &'static str,
        others: &[(&'static str, &Path)],
    ) -> Result<Targets, Error> {
        let output = args.output.clone().unwrap_or_else(|| default_output(&args.file, from));
        let picture = match (&args.plot, args.no_plot) {
            (Some(path), _) => Some(path.clone()),
            (None, true) => None,
            (None, false) => Some(output.with_extension("png")),
        };
        saltus::io::check_target(&output)?;
        let mut files = vec![(source, &*args.file), ("the run file", &*output)];
        if let Some(picture) = &picture {
            chart::check_path(picture)?;
            files.push(("the picture", picture));
        }
        files.extend(others);
        paths::check_distinct(&files, "give other names with -o and --plot, or --no-plot")?;
        Ok(Targets { output, picture })
    }

    /// Begins the run file, and the picture of about so many rows.
    pub fn open(&self, layout: &Layout, rows: usize, text: Option<&str>) -> Result<Tee, Error> {
        let writer = RunWriter::create(&self.output, layout, text)?;
        Ok(Tee { writer, preview: self.picture.is_some().then(|| Preview::new(layout, rows)) })
    }

    /// Ends both; nothing where there is no file, which is told.
    pub fn close(&self, tee: Tee, run: &Run, failure: Option<&SimError>) -> Option<Written<'_>> {
        let Tee { mut writer, preview } = tee;
        if let Some(SimError::Record(why)) = failure {
            text::message(&format!("the run was stopped, its file could not be written: {why}"));
            return None;
        }
        writer.events(&run.events);
        let file = match writer.finish(&run.stats) {
            Ok(file) => file,
            Err(error) => {
                text::message(&format!("the run is done, but not its file: {error}"));
                return None;
            }
        };
        let picture = match (&self.picture, preview) {
            (Some(picture), Some(preview)) => draw(preview.into_run(run.stats.clone()), picture),
            _ => Ok(None),
        };
        Some(Written { file, picture })
    }
}

/// The files that were written.
pub struct Written<'a> {
    /// The run file.
    pub file: PathBuf,
    picture: Result<Option<&'a Path>, chart::ChartError>,
}

impl Written<'_> {
    /// The picture, where there is one.
    pub fn picture(&self) -> Option<&Path> {
        self.picture.as_ref().ok().copied().flatten()
    }

    /// How the command ended, with what went wrong told.
    pub fn outcome(&self, run: &Run, t: f64, failure: Option<&SimError>) -> Outcome {
        let mut outcome = Outcome::Done;
        if let Err(error) = &self.picture {
            text::message(&format!("warning: there is no picture: {error}"));
            outcome = Outcome::Failed;
        }
        if let Some(failure) = failure {
            text::message(&format!("the run failed: {failure}"));
            text::message(&format!("what was computed before is in {}", self.file.display()));
            outcome = Outcome::Failed;
        } else if run.stats.outcome == sim::Outcome::Interrupted {
            text::message(&format!("interrupted at t = {t}; what was computed is kept"));
            outcome = Outcome::Failed;
        }
        outcome
    }
}

/// Draws the picture, unless there is nothing to draw; says where it is.
fn draw(run: Run, picture: &Path) -> Result<Option<&Path>, chart::ChartError> {
    if run.layout.signals.is_empty() {
        return Ok(None);
    }
    chart::draw(&run, &run.layout.signals, picture).map(|()| Some(picture))
}

/// Gives recorded rows to the run file, and to the picture.
pub struct Tee {
    writer: RunWriter,
    preview: Option<Preview>,
}

impl Sink for Tee {
    fn append(&mut self, layout: &Layout, frames: &Frames) -> std::io::Result<()> {
        if let Some(preview) = &mut self.preview {
            preview.append(layout, frames);
        }
        Sink::append(&mut self.writer, layout, frames)
    }
}

/// `examples/bouncing-ball/model.toml` becomes `bouncing-ball.h5`, `examples/chain/scene.toml` `chain.h5`, and `bouncing-ball-from-2.5.h5`
/// where the run is resumed at that time.
fn default_output(file: &Path, from: Option<f64>) -> PathBuf {
    let stem = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let name = match stem(file) {
        Some(name) if !PLAIN_NAMES.contains(&name.as_str()) => name,
        _ => std::fs::canonicalize(file)
            .ok()
            .and_then(|path| path.parent().and_then(Path::file_name).map(PathBuf::from))
            .map_or_else(|| "run".to_string(), |name| name.to_string_lossy().into_owned()),
    };
    PathBuf::from(match from {
        Some(t) => format!("{name}-from-{t}.h5"),
        None => format!("{name}.h5"),
    })
}

/// Set at the first Ctrl-C; the second ends the program at once.
pub fn interrupt_flag() -> Result<Interrupt, Error> {
    let interrupt = Interrupt::default();
    let set = interrupt.clone();
    ctrlc::set_handler(move || {
        if set.is_set() {
            std::process::exit(130);
        }
        set.stop();
    })?;
    Ok(interrupt)
}

/// Shows how far a run is.
pub fn show(bar: &ProgressBar, progress: sim::Progress) {
    let share = (progress.t - progress.start) / (progress.until - progress.start);
    bar.set_position((1000.0 * share) as u64);
    bar.set_message(format!("t = {:.6e}", progress.t));
}

pub fn progress_bar(args: &Args) -> ProgressBar {
    let silent = args.quiet || args.json || !std::io::stderr().is_terminal();
    let target = if silent { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(1000), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {eta} left") {
        bar.set_style(style);
    }
    bar
}
