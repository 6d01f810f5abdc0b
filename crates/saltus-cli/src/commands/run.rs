//! `saltus run FILE`: runs a model file or netlist, writes the run and a picture, prints a summary.

use super::record::{Targets, interrupt_flag, progress_bar, show};
use super::{event_rows, netlist, scheme, with_scheme, with_stats};
use crate::text::{self, plural};
use crate::{Error, Outcome};
use saltus::io::scene_file::{is_foreign, read_model};
use saltus::io::{ModelFile, Strategy, checkpoint_file};
use saltus::sim::{
    self, Adaptive, CheckpointEvery, Checkpoints, EventDriven, Ledger, Run, RunOptions,
    TimeStepping,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Run a model file, a scene or a netlist.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model file or scene (.toml), netlist (.cir, .sp), or scene of another program (.hdf5, .urdf, .xml)
    pub(super) file: PathBuf,
    /// The run file to write [default: NAME.h5 in the current folder]
    #[arg(short, long, value_name = "OUT.h5")]
    pub(super) output: Option<PathBuf>,
    /// End the run at this time; `40u` and the like are numbers too
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = seconds)]
    pub(super) until: Option<f64>,
    /// Use this time step
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = seconds)]
    pub(super) h: Option<f64>,
    /// Replace a value of the file, for example `g=1.62`, `floor.law.e=0.5`, or `RLOAD=5` of a netlist
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(super) set: Vec<String>,
    /// Of a netlist: how it is followed, `fixed`, or with switching instants `exact` or `adaptive`
    /// [default: as its `.option saltus method=` says, else fixed]
    #[arg(long, value_name = "METHOD")]
    pub(super) method: Option<String>,
    /// Of a netlist: find the periodic steady state and run one period of it; the period is that of
    /// the sources unless given
    #[arg(long, value_name = "PERIOD", num_args = 0..=1, value_parser = seconds)]
    pub(super) steady_state: Option<Option<f64>>,
    /// Write a checkpoint here on the way and at the end, from which --resume goes on
    #[arg(long, value_name = "PATH")]
    pub(super) checkpoint: Option<PathBuf>,
    /// How often: a number of steps (`1000`) or of seconds (`30s`)
    #[arg(long, value_name = "N|SECONDS", requires = "checkpoint", default_value = "60s",
          value_parser = checkpoint_every)]
    checkpoint_every: CheckpointEvery,
    /// Go on from a checkpoint of the same model; the run file begins at its time
    /// [default name of the run file: NAME-from-T.h5]
    #[arg(long, value_name = "PATH")]
    pub(super) resume: Option<PathBuf>,
    /// The picture to write, .png or .svg [default: as the run file, .png]
    #[arg(long, value_name = "PICTURE")]
    pub(super) plot: Option<PathBuf>,
    /// Write no picture
    #[arg(long, conflicts_with = "plot")]
    pub(super) no_plot: bool,
    /// Print the summary as one JSON document, and nothing else
    #[arg(long)]
    pub(super) json: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    if netlist::is_netlist(&args.file) {
        return netlist::run(args);
    }
    if args.method.is_some() || args.steady_state.is_some() {
        return Err("--method and --steady-state are for netlists".into());
    }
    let overrides = overrides(args)?;
    let file = match is_foreign(&args.file) {
        true => foreign(&args.file, &overrides)?,
        false => ModelFile::read(&args.file, &overrides).map_err(|error| error.report())?,
    };
    let settings = &file.simulation;
    let resumed = args.resume.as_ref().map(checkpoint_file::load).transpose()?;
    let from = resumed.as_ref().map(sim::Checkpoint::t);
    let mut others: Vec<(&str, &Path)> = Vec::new();
    if let Some(checkpoint) = &args.checkpoint {
        saltus::io::check_target(checkpoint)?;
        others.push(("the checkpoint", checkpoint));
    }
    if let Some(resume) = &args.resume
        && args.resume != args.checkpoint
    {
        others.push(("the checkpoint to resume", resume));
    }
    let targets = Targets::new(args, from, "the model file", &others)?;

    let (model, solver) = (file.model.clone(), &settings.solver);
    let job = Job { args, file: &file, overrides: &overrides, targets: &targets, from };
    match settings.strategy {
        Strategy::TimeStepping => {
            let (h, integrators) = (settings.h, settings.integrators.clone());
            let methods = (integrators, solver, settings.newton);
            let mut sim = TimeStepping::with_methods(model, h, methods.0, methods.1, methods.2)?;
            if let Some(checkpoint) = &resumed {
                sim.restore(checkpoint)?;
            }
            let (steps, until) = (sim.steps_ahead(settings.until), settings.until);
            if let Some(from) = from.filter(|_| steps == 0) {
                return Err(format!(
                    "the run ends at t = {until} s, not after the checkpoint, which is of t = {from} s"
                )
                .into());
            }
            job.execute(sim, steps / settings.output.every.max(1) + 2)
        }
        _ if resumed.is_some() || args.checkpoint.is_some() => {
            Err(sim::SimError::NoCheckpoint { strategy: settings.strategy.name() }.into())
        }
        Strategy::EventDriven => {
            job.execute(EventDriven::with(model, settings.tolerances, solver)?, PICTURED)
        }
        Strategy::Adaptive => {
            job.execute(Adaptive::with(model, settings.adaptive, solver)?, PICTURED)
        }
    }
}

/// A scene of another program; what of it was left aside is told.
pub(super) fn foreign(path: &Path, overrides: &[(String, String)]) -> Result<ModelFile, Error> {
    let (file, left_aside) = read_model(path, overrides)?;
    for what in left_aside {
        text::message(&format!("warning: {}: left aside: {what}", path.display()));
    }
    Ok(file)
}

/// Rows of a run that cannot be counted before, for its picture.
const PICTURED: usize = 10_000;

/// A run that is about to begin.
struct Job<'a> {
    args: &'a Args,
    file: &'a ModelFile,
    overrides: &'a [(String, String)],
    targets: &'a Targets,
    from: Option<f64>, // the time of the checkpoint that was resumed
}

impl Job<'_> {
    /// Runs, writes and tells; about so many rows are to come.
    fn execute<S: sim::Strategy>(self, mut sim: S, rows: usize) -> Result<Outcome, Error> {
        let Job { args, file, overrides, targets, from } = self;
        let settings = &file.simulation;
        let signals = settings.output.signals.as_deref();
        let layout = sim.recorded_layout(signals)?;
        let samples = settings.output.samples.as_ref();
        let samples = samples.map(|samples| samples.instants(sim.t(), settings.until));
        let rows = samples.as_ref().map_or(rows, Vec::len);
        let interrupt = interrupt_flag()?; // before there is a file that a Ctrl-C would leave
        let mut sink = targets.open(&layout, rows, Some(&file.text_with(overrides)))?;

        let gigabytes = 8e-9 * rows as f64 * (layout.width() + 3) as f64;
        if gigabytes >= 1.0 && !args.quiet && !args.json {
            text::message(&format!(
                "the run file will take about {gigabytes:.0} GB; \
                 `output = {{ every = … }}` in the model file records less"
            ));
        }

        let bar = progress_bar(args);
        let mut show = |progress: sim::Progress| show(&bar, progress);
        let mut keep = |checkpoint: &sim::Checkpoint| match &args.checkpoint {
            Some(path) => checkpoint_file::save(checkpoint, path).map_err(std::io::Error::other),
            None => Ok(()),
        };
        let every = args.checkpoint_every;
        let checkpoints = args.checkpoint.as_ref().map(|_| Checkpoints { every, keep: &mut keep });
        let result = sim.run_until(
            settings.until,
            RunOptions {
                every: settings.output.every,
                samples: samples.as_deref(),
                signals,
                interrupt: Some(&interrupt),
                progress: Some(&mut show),
                sink: Some(&mut sink),
                checkpoints,
            },
        );
        bar.finish_and_clear();

        let (run, failure) = match result {
            Ok(run) => (run, None),
            Err(failure) => (*failure.run, Some(failure.source)),
        };
        let Some(files) = targets.close(sink, &run, failure.as_ref()) else {
            return Ok(Outcome::Failed);
        };
        let checkpoint = args.checkpoint.as_deref();
        let (t, ledger) = (sim.t(), sim.energies().filter(|ledger| !ledger.kinetic.is_nan()));
        let (written, picture) = (&*files.file, files.picture());
        let report = Report { run: &run, file, t, ledger, from, written, picture, checkpoint };
        if args.json {
            text::out(&format!("{}\n", report.json()))?;
        } else if !args.quiet {
            text::out(&report.text())?;
        }
        Ok(files.outcome(&run, t, failure.as_ref()))
    }
}

/// What is said at the end.
struct Report<'a> {
    run: &'a Run,
    file: &'a ModelFile,
    t: f64,
    ledger: Option<Ledger>,
    from: Option<f64>, // the time of the checkpoint that was resumed
    written: &'a Path,
    picture: Option<&'a Path>,
    checkpoint: Option<&'a Path>,
}

impl Report<'_> {
    fn json(&self) -> serde_json::Value {
        let settings = &self.file.simulation;
        let document = json!({
            "title": self.file.model.title(),
            "systems": self.file.model.systems().len(),
            "interactions": self.file.model.interactions().len(),
            "t": self.t,
            "from": self.from,
            "until": settings.until,
            "ledger": self.ledger,
            "events": self.run.events,
            "output": self.written,
            "plot": self.picture,
            "checkpoint": self.checkpoint,
        });
        with_stats(with_scheme(document, settings), &self.run.stats)
    }

    fn text(&self) -> String {
        let stats = &self.run.stats;
        let settings = &self.file.simulation;
        let model = &self.file.model;
        let mut rows = vec![
            (
                "model".to_string(),
                format!(
                    "{}, {}",
                    plural(model.systems().len(), "system"),
                    plural(model.interactions().len(), "interaction")
                ),
            ),
            ("scheme".to_string(), scheme(settings)),
            (
                "run".to_string(),
                format!(
                    "{}{} to t = {} s in {} ({} a step)",
                    plural(stats.steps, "step"),
                    self.from.map_or(String::new(), |t| format!(" from t = {t} s")),
                    self.t,
                    text::seconds(stats.seconds),
                    text::seconds(stats.seconds / stats.steps.max(1) as f64),
                ),
            ),
            (
                "solver".to_string(),
                format!(
                    "{}, worst residual {:.1e}",
                    plural(stats.iterations, "iteration"),
                    stats.worst_residual
                ),
            ),
        ];
        if let Some(ledger) = self.ledger {
            rows.push((
                "energy".to_string(),
                format!(
                    "{:.6} J = kinetic {:.6} + potential {:.6}; \
                     work {:.6}, damping {:.6}, impact {:.6}, friction {:.6}, numerical {:.1e}",
                    ledger.kinetic + ledger.potential,
                    ledger.kinetic,
                    ledger.potential,
                    ledger.work,
                    ledger.damping,
                    ledger.impact,
                    ledger.friction,
                    ledger.numerical
                ),
            ));
            rows.push((
                "contact".to_string(),
                format!("deepest penetration {:.3e} m", stats.worst_penetration),
            ));
        }
        if let Some(error) = stats.error_estimate {
            rows.push(("error".to_string(), format!("about {error:.1e}, relative to 1 + |state|")));
        }
        rows.extend(event_rows(&self.run.events));
        rows.push(("run file".to_string(), self.written.display().to_string()));
        if let Some(picture) = &self.picture {
            rows.push(("picture".to_string(), picture.display().to_string()));
        }
        if let Some(checkpoint) = &self.checkpoint {
            rows.push(("checkpoint".to_string(), checkpoint.display().to_string()));
        }
        format!("{}\n{}", model.title(), text::columns(&rows))
    }
}

/// A time, plain or with a suffix as SPICE has them.
fn seconds(text: &str) -> Result<f64, String> {
    let plain = text.parse().ok();
    plain
        .or_else(|| saltus::circuits::number(text))
        .ok_or_else(|| "expected a number such as 0.2, 1e-3 or 40u".to_string())
}

/// `--set`, `--h` and `--until` as overrides of the file's values.
fn overrides(args: &Args) -> Result<Vec<(String, String)>, Error> {
    pairs(&args.set, &[("h", args.h), ("until", args.until)])
}

/// `--set`, and options that stand for keys of `[simulation]`, as overrides.
pub(super) fn pairs(
    set: &[String],
    options: &[(&str, Option<f64>)],
) -> Result<Vec<(String, String)>, Error> {
    let mut overrides = Vec::new();
    for set in set {
        let (path, value) = set.split_once('=').ok_or_else(|| {
            format!("--set {set}: expected PATH=VALUE, for example --set parameters.g=1.62")
        })?;
        overrides.push((path.trim().to_string(), value.trim().to_string()));
    }
    for (option, value) in options {
        if let Some(value) = value {
            if !value.is_finite() {
                return Err(format!("--{option} {value}: expected a finite number").into());
            }
            overrides.push((format!("simulation.{option}"), format!("{value:?}")));
        }
    }
    Ok(overrides)
}

/// `1000` steps, or `30s`.
fn checkpoint_every(text: &str) -> Result<CheckpointEvery, String> {
    let wrong = || format!("expected a number of steps (1000) or of seconds (30s), found `{text}`");
    if let Some(seconds) = text.strip_suffix('s') {
        let seconds: f64 = seconds.trim().parse().map_err(|_| wrong())?;
        let good = seconds.is_finite() && seconds >= 0.0;
        return good.then_some(CheckpointEvery::Seconds(seconds)).ok_or_else(wrong);
    }
    let steps: usize = text.trim().parse().map_err(|_| wrong())?;
    (steps > 0).then_some(CheckpointEvery::Steps(steps)).ok_or_else(wrong)
}
