//! The run loop of all strategies: what is recorded, told and kept while time goes on.

use crate::SimError;
use crate::checkpoint::Checkpoint;
use crate::contacts::{ContactRow, Contacts};
use crate::keeper::{Checkpoints, Keeper};
use crate::pushes::Impulse;
use crate::recorder::{Done, Recorder, signals_of};
use crate::run::{EventRecord, Frames, Layout, Ledger, Outcome, Run, RunStats, Sink};
use saltus_model::Model;
use saltus_numerics::Interrupt;
use std::time::Instant;

/// A way of a model through time, step by step.
///
/// A run is one [`begin`](Self::begin), then as many steps as it takes:
/// [`advance`](Self::advance), and [`react`](Self::react) to what happens at its end.
pub trait Strategy {
    /// Its name in model files and messages.
    const NAME: &'static str;
    /// Whether it can be saved and taken up again.
    const CHECKPOINTS: bool;
    /// Whether the state is known inside of steps.
    const SAMPLES: bool;

    /// The model, as events have changed it.
    fn model(&self) -> &Model;

    /// Current time.
    fn t(&self) -> f64;

    /// What has happened so far, as far as it is kept for longer than a run.
    fn events(&self) -> &[EventRecord];

    /// What has happened in the run that now ends, before which so much had happened.
    fn take_events(&mut self, since: usize) -> Vec<EventRecord> {
        self.events().get(since..).unwrap_or(&[]).to_vec()
    }

    /// The sum of the errors of all steps so far, relative to `1 + |X|`, where they are controlled.
    fn error_estimate(&self) -> Option<f64> {
        None
    }

    /// Checks the end of a run, and does what is due before its first step.
    fn begin(&mut self, until: f64) -> Result<(), SimError>;

    /// Whether the run that was begun has come to its end.
    fn finished(&self, until: f64) -> bool;

    /// From now on a step may end with [`SimError::Interrupted`] once this is set; by default steps go on to their
    /// ends.
    fn listen(&mut self, interrupt: Option<&Interrupt>) {
        let _ = interrupt;
    }

    /// One step, which ends at `until` at the latest. If it fails, nothing has changed.
    fn advance(&mut self, until: f64) -> Result<StepStats, SimError>;

    /// Whether something happens at the end of the step that changes the state, so that both sides
    /// of it are worth a row.
    fn jumps(&self) -> bool;

    /// What happens at the end of the step.
    fn react(&mut self, until: f64) -> Result<(), SimError>;

    /// The current row in two halves: first-order systems, mechanical ones.
    fn rows(&mut self) -> [&[f64]; 2];

    /// Adds the contacts of the last step to those of a recorded instant, where the model finds any.
    fn add_contacts(&self, contacts: &mut Contacts) {
        let _ = contacts;
    }

    /// All signals that a run can record.
    fn full_layout(&self) -> Layout {
        signals_of(self.model())
    }

    /// Adds what interactions did to bodies in the last step: of all pushes of the model those at these
    /// positions, which increase.
    fn add_pushes(&mut self, wanted: &[usize], pushes: &mut Vec<Impulse>) -> Result<(), SimError> {
        let _ = (wanted, pushes);
        Ok(())
    }

    /// The row at an instant inside the last step, before [`react`](Self::react); steps do not
    /// depend on whether it is asked for.
    fn rows_at(&mut self, t: f64) -> [&[f64]; 2];

    /// Steps left before `until`, where that is known.
    fn steps_left(&self, until: f64) -> Option<usize>;

    /// Steps of the run that this one goes on with; they are asked for once.
    fn take_resumed(&mut self) -> usize;

    /// All that the next steps depend on, so many steps after the run began.
    fn checkpoint_after(&mut self, steps: usize) -> Result<Checkpoint, SimError>;

    /// The layout of a run that records these signals (all of them if none are chosen).
    fn recorded_layout(&self, signals: Option<&[String]>) -> Result<Layout, SimError> {
        Ok(Recorder::new(self.full_layout(), signals)?.layout)
    }

    /// The energies now, if there are mechanical systems.
    fn energies(&mut self) -> Option<Ledger> {
        let [_, mechanical] = self.rows();
        let entries = mechanical.len().checked_sub(Ledger::NAMES.len())?;
        Some(Ledger::from_slice(&mechanical[entries..]))
    }

    /// Runs until `until`. An interrupted run is no error; its outcome says so.
    fn run_until(&mut self, until: f64, options: RunOptions<'_>) -> Result<Run, RunFailure>
    where
        Self: Sized,
    {
        run(self, until, options)
    }
}

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepStats {
    /// Time at its end.
    pub t: f64,
    /// Its length.
    pub h: f64,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Verified residual of its problem.
    pub residual: f64,
    /// Deepest penetration of a contact at its end.
    pub penetration: f64,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Current time.
    pub t: f64,
    /// Time at which the run started.
    pub start: f64,
    /// Time at which it will end.
    pub until: f64,
    /// Steps done so far.
    pub steps: usize,
}

/// What a run does besides stepping. The default records everything, silently.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Record every so many steps (0 counts as 1); first and last instant always.
    pub every: usize,
    /// Record at these instants, which increase from now to the end, and at no others: strategies
    /// that know the state inside of their steps can. At an event it is the state after it. `every`
    /// does not count, and steps stay what they are, but that from event to event those of linear
    /// modes become longer.
    pub samples: Option<&'a [f64]>,
    /// Record only these signals (`ball.q`; `ball.q[0]` stands for its whole signal) or all
    /// signals of these owners (`ball`).
    pub signals: Option<&'a [String]>,
    /// Stop once this is set: also within a step, which then changes nothing, where the strategy can.
    pub interrupt: Option<&'a Interrupt>,
    /// Called every few hundredths of a second, or after every step if steps take longer.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
    /// Give recorded rows away in chunks instead of keeping them.
    pub sink: Option<&'a mut dyn Sink>,
    /// Make checkpoints on the way, and one at the end, however the run ends.
    pub checkpoints: Option<Checkpoints<'a>>,
}

impl std::fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunOptions")
            .field("every", &self.every)
            .field("samples", &self.samples)
            .field("signals", &self.signals)
            .finish_non_exhaustive()
    }
}

/// A run that could not be finished, with what was computed before.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{source}")]
pub struct RunFailure {
    /// What went wrong.
    pub source: SimError,
    /// What was computed.
    pub run: Box<Run>,
}

/// Bytes of rows that are collected before a sink gets them.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of one contact.
const CONTACT_BYTES: usize = std::mem::size_of::<ContactRow>();
/// Seconds between two calls of `progress`, about.
const PROGRESS_SECONDS: f64 = 0.03;

/// Runs until `until`. An interrupted run is no error; its outcome says so.
pub(crate) fn run<S: Strategy>(
    sim: &mut S,
    until: f64,
    options: RunOptions<'_>,
) -> Result<Run, RunFailure> {
    let RunOptions { every, samples, signals, interrupt, mut progress, sink, checkpoints } =
        options;
    let clock = Instant::now();
    let before = sim.take_resumed();
    let every = every.max(1);
    let mut stats = RunStats::new();
    let possible = match (&checkpoints, samples) {
        (Some(_), _) if !S::CHECKPOINTS => Err(SimError::NoCheckpoint { strategy: S::NAME }),
        (_, Some(_)) if !S::SAMPLES => Err(SimError::NoSamples { strategy: S::NAME }),
        (_, Some(samples)) => check_samples(samples, sim.t(), until),
        _ => Ok(()),
    };
    let possible =
        possible.and_then(|()| Recorder::new(sim.full_layout(), signals).map_err(SimError::Signal));
    let recorder = match possible {
        Ok(recorder) => recorder,
        Err(source) => {
            stats.outcome = Outcome::Failed(source.to_string());
            let (layout, frames) = (sim.full_layout(), Frames::default());
            let run = Run { layout, frames, stats, events: Vec::new() };
            return Err(RunFailure { source, run: Box::new(run) });
        }
    };
    let mut checkpoints = checkpoints.map(|wanted| Keeper::new(wanted, clock));
    let happened = sim.events().len();
    let error_before = sim.error_estimate().unwrap_or(0.0);
    let mut failure = sim.begin(until).err();
    let ahead = if failure.is_none() { sim.steps_left(until) } else { None };
    let ahead = samples.map(|samples| samples.len()).or(ahead.map(|steps| steps / every));
    let mut rows = Rows::new(recorder, ahead, sink);
    let mut samples = samples.map(|samples| samples.iter().copied().peekable());
    match &mut samples {
        None => failure = failure.or(rows.add_now(sim, &Done::default()).err()),
        Some(samples) => {
            let now = sim.t();
            while let Some(t) = samples.next_if(|&t| t <= now) {
                rows.add(t, sim.rows(), &Done::default());
            }
        }
    }

    let start = sim.t();
    sim.listen(interrupt);
    let mut pace = Pace { next: 1, stride: 1, last: clock };
    let mut unrecorded = None; // the last step, where it is not recorded
    let mut ahead = every - before % every; // steps to the next one that is
    while failure.is_none() && !sim.finished(until) {
        if interrupt.is_some_and(Interrupt::is_set) {
            stats.outcome = Outcome::Interrupted;
            break;
        }
        let done = match sim.advance(until) {
            Ok(done) => done,
            Err(SimError::Interrupted { .. }) => {
                stats.outcome = Outcome::Interrupted;
                break;
            }
            Err(error) => {
                failure = Some(error);
                stats.failures = 1;
                break;
            }
        };
        stats.add(&done);
        ahead -= 1;
        let due = ahead == 0 && samples.is_none();
        if ahead == 0 {
            ahead = every;
        }
        if let Some(samples) = &mut samples {
            while let Some(t) = samples.next_if(|&t| t < done.t) {
                rows.add(t, sim.rows_at(t), &Done::of(&done));
                if rows.are_many() {
                    failure = failure.or(rows.pass_on().err());
                }
            }
        } else if due && sim.jumps() {
            failure = failure.or(rows.add_now(sim, &Done::of(&done)).err());
        }
        if let Err(error) = sim.react(until) {
            failure = failure.or(Some(error));
            stats.failures = 1;
        }
        unrecorded = samples.is_none().then_some(done);
        if let Some(samples) = &mut samples {
            let now = sim.t();
            while let Some(t) = samples.next_if(|&t| t <= now) {
                rows.add(t, sim.rows(), &Done::of(&done));
            }
        } else if due || sim.finished(until) {
            unrecorded = None;
            failure = failure.or(rows.add_now(sim, &Done::of(&done)).err());
        }
        if rows.are_many() {
            failure = failure.or(rows.pass_on().err());
        }
        if let Some(keeper) = &mut checkpoints
            && failure.is_none()
            && keeper.is_time(stats.steps)
        {
            failure = keeper.keep(sim, before, stats.steps).err();
        }
        if let Some(progress) = &mut progress
            && pace.is_time(stats.steps)
        {
            progress(Progress { t: sim.t(), start, until, steps: stats.steps });
        }
    }
    sim.listen(None);
    // an interrupted or failed run ends with the last state it reached
    let recording_failed = matches!(failure, Some(SimError::Record(_)));
    if let Some(done) = unrecorded
        && !recording_failed
    {
        failure = failure.or(rows.add_now(sim, &Done::of(&done)).err());
    }
    if !recording_failed {
        failure = failure.or(rows.pass_on().err());
    }
    if let Some(keeper) = &mut checkpoints
        && !matches!(failure, Some(SimError::Record(_)))
    {
        failure = failure.or(keeper.keep(sim, before, stats.steps).err());
    }
    stats.error_estimate = sim.error_estimate().map(|error| error - error_before);
    stats.seconds = clock.elapsed().as_secs_f64();
    if let Some(error) = &failure {
        stats.outcome = Outcome::Failed(error.to_string());
    }
    let events = sim.take_events(happened);
    let Rows { recorder, frames, .. } = rows;
    let run = Run { layout: recorder.layout, frames, stats, events };
    match failure {
        None => Ok(run),
        Some(source) => Err(RunFailure { source, run: Box::new(run) }),
    }
}

/// Whether a run can end there: ahead of `t`, up to the round-off of instants.
pub(crate) fn check_until(
    owner: &'static str,
    until: f64,
    t: f64,
    round_off: f64,
) -> Result<(), SimError> {
    if !until.is_finite() {
        let (field, allowed) = ("until", "the finite numbers");
        return Err(SimError::Setting { owner, field, value: until, allowed });
    }
    if until < t - round_off {
        return Err(SimError::Until { until, time: t });
    }
    Ok(())
}

/// Whether samples increase from `t` to `until`.
fn check_samples(samples: &[f64], t: f64, until: f64) -> Result<(), SimError> {
    let mut before = f64::NEG_INFINITY;
    for (index, &found) in samples.iter().enumerate() {
        if !(found >= t && found <= until && found > before) {
            let from = if index == 0 { t } else { before };
            return Err(SimError::Samples { index, found, from, until });
        }
        before = found;
    }
    Ok(())
}

/// Recorded rows, and where they go.
struct Rows<'a> {
    recorder: Recorder,
    frames: Frames,
    sink: Option<&'a mut dyn Sink>,
    capacity: usize,
}

impl<'a> Rows<'a> {
    /// Room for the whole run, where its rows can be counted, or for a chunk.
    fn new(recorder: Recorder, rows: Option<usize>, sink: Option<&'a mut dyn Sink>) -> Rows<'a> {
        let row_bytes = 8 * (recorder.layout.width() + 6 * recorder.pushes.len() + 3);
        let capacity = match sink {
            Some(_) => (CHUNK_BYTES / row_bytes).clamp(16, 65536),
            // a mistyped `until` should not exhaust the memory before the first step
            None => rows.map_or(1, |rows| rows.saturating_add(2)).min((4 << 30) / row_bytes),
        };
        let mut frames = Frames::default();
        frames.reserve(&recorder.layout, capacity);
        Rows { recorder, frames, sink, capacity }
    }

    #[inline]
    fn add(&mut self, t: f64, halves: [&[f64]; 2], done: &Done) {
        self.recorder.record(&mut self.frames, t, halves, done);
    }

    /// The present state, and the contacts and pushes of the step that led there.
    #[inline]
    fn add_now<S: Strategy>(&mut self, sim: &mut S, done: &Done) -> Result<(), SimError> {
        let t = sim.t();
        self.add(t, sim.rows(), done);
        sim.add_contacts(&mut self.frames.contacts);
        if self.recorder.pushes.is_empty() {
            return Ok(());
        }
        let added = sim.add_pushes(&self.recorder.pushes, &mut self.frames.pushes);
        // every row has its own, also where one could not be told
        let expected = self.recorder.pushes.len() * self.frames.len();
        self.frames.pushes.resize(expected, [f64::NAN; 6]);
        added
    }

    /// Whether there are enough of them for the sink.
    #[inline]
    fn are_many(&self) -> bool {
        let contacts = self.frames.contacts.len() * CONTACT_BYTES;
        self.sink.is_some() && (self.frames.len() >= self.capacity || contacts >= CHUNK_BYTES)
    }

    /// Gives them to the sink.
    fn pass_on(&mut self) -> Result<(), SimError> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        if self.frames.is_empty() {
            return Ok(());
        }
        let appended = sink.append(&self.recorder.layout, &self.frames);
        appended.map_err(|error| SimError::Record(error.to_string()))?;
        self.frames.clear();
        Ok(())
    }
}

impl RunFailure {
    /// A run that could not even be begun.
    pub fn at_once(source: SimError) -> RunFailure {
        let outcome = Outcome::Failed(source.to_string());
        let stats = RunStats { outcome, ..RunStats::new() };
        let (layout, frames) = (Layout::default(), Frames::default());
        RunFailure { source, run: Box::new(Run { layout, frames, stats, events: Vec::new() }) }
    }
}

impl RunStats {
    /// Before the first step.
    fn new() -> RunStats {
        RunStats {
            steps: 0,
            iterations: 0,
            worst_residual: 0.0,
            worst_penetration: 0.0,
            error_estimate: None,
            failures: 0,
            seconds: 0.0,
            outcome: Outcome::Complete,
        }
    }

    #[inline]
    fn add(&mut self, done: &StepStats) {
        self.steps += 1;
        self.iterations += done.iterations;
        if !(done.residual <= self.worst_residual) {
            self.worst_residual = done.residual;
        }
        if done.penetration > self.worst_penetration {
            self.worst_penetration = done.penetration;
        }
    }
}

impl Done {
    /// What is recorded of a step.
    fn of(step: &StepStats) -> Done {
        let StepStats { iterations, residual, penetration, .. } = *step;
        Done { iterations, residual, penetration }
    }
}

/// Tells when to look up from stepping, without reading the clock in every step.
pub(crate) struct Pace {
    pub next: usize, // step at which the clock is read next
    pub stride: usize,
    pub last: Instant,
}

impl Pace {
    #[inline]
    pub fn is_time(&mut self, steps: usize) -> bool {
        if steps < self.next {
            return false;
        }
        let seconds = self.last.elapsed().as_secs_f64();
        if seconds < 0.5 * PROGRESS_SECONDS {
            self.stride = (2 * self.stride).min(1 << 20);
        } else if seconds > 2.0 * PROGRESS_SECONDS {
            self.stride = (self.stride / 4).max(1);
        }
        self.next = steps + self.stride;
        self.last = Instant::now();
        true
    }
}
