//! From a netlist to its run: what is simulated, recorded and measured.

use crate::measure::{Fourier, Measure, MeasureError, Signal, Spectrum, Waves, measure};
use crate::{Circuit, CircuitError, CircuitModel, Deck, NetlistError, Probe, Transient};
use saltus_sim::Run;
use std::borrow::Cow;
use thiserror::Error;

/// What a netlist asks for, ready to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The circuit.
    pub circuit: Circuit,
    /// Its model.
    pub model: CircuitModel,
    /// The transient analysis.
    pub transient: Transient,
    /// `.meas`
    pub measures: Vec<Measure>,
    /// `.four`
    pub fourier: Vec<Fourier>,
}

/// Why a netlist cannot be run.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// Its text makes no sense.
    #[error(transparent)]
    Netlist(#[from] NetlistError),
    /// Its circuit makes no sense.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// Nobody says until when.
    #[error(
        "nobody says how long to run: expected a line `.tran STEP END` in the netlist, or a step and an end beside it"
    )]
    NoTransient,
}

impl Deck {
    /// What the netlist asks for; a step and an end given here come before those of `.tran`.
    ///
    /// A step is the largest step of `.tran` where that has one, and every step is recorded;
    /// `.option method=trap` asks for the trapezoidal rule, everything else for Euler's implicit one, and
    /// `.option saltus method=adaptive` for switching instants.
    pub fn plan(&self, h: Option<f64>, until: Option<f64>) -> Result<Plan, PlanError> {
        let analysis = self.analysis()?;
        let mut circuit = self.circuit()?;
        let tran = analysis.tran.as_ref();
        let step = h.or(tran.map(|tran| tran.max_step.unwrap_or(tran.step)));
        let end = until.or(tran.map(|tran| tran.stop));
        let (Some(step), Some(end)) = (step, end) else { return Err(PlanError::NoTransient) };
        let mut transient = Transient::new(end, step);
        if let Some(tran) = tran {
            transient.start = if tran.start < end { tran.start } else { 0.0 };
            circuit.uic = tran.uic;
        }
        let options = &analysis.options;
        if options.method.as_deref().is_some_and(|method| method.starts_with("trap")) {
            transient.theta = 0.5;
        }
        transient.method = options.follow.unwrap_or_default();
        transient.tol = options.reltol.unwrap_or(transient.tol);
        transient.atol = options.vntol.unwrap_or(transient.atol);

        let model = circuit.model()?;
        let all = analysis.outputs.is_empty() || analysis.all_outputs;
        let mut names = if all { model.signals() } else { Vec::new() };
        names.extend(analysis.outputs.iter().flat_map(probes));
        let (measures, fourier) = (analysis.measures, analysis.fourier);
        let mut plan = Plan { circuit, model, transient, measures, fourier };
        plan.record(names);
        Ok(plan)
    }
}

/// The voltages and currents that a signal is made of.
fn probes(signal: &Signal) -> Vec<String> {
    let probes = signal.formula.probes.iter();
    let probes = probes.filter(|probe| !matches!(probe, Probe::Time | Probe::Measure(_)));
    probes.map(ToString::to_string).collect()
}

impl Plan {
    /// Records these signals, and those that measures and spectra need.
    pub fn record(&mut self, mut signals: Vec<String>) {
        let measured = self.measures.iter().flat_map(Measure::signals);
        let analysed = self.fourier.iter().flat_map(|fourier| &fourier.signals);
        signals.extend(measured.chain(analysed).flat_map(probes));
        self.transient.signals = Some(signals);
    }

    /// The measures of a run, in their order.
    pub fn measure(&self, run: &Run) -> Vec<(String, Result<f64, MeasureError>)> {
        measure(&self.measures, &Recorded(run))
    }

    /// The spectra of a run, in the order of `.four` and its signals.
    pub fn spectra(&self, run: &Run) -> Vec<Result<Spectrum, MeasureError>> {
        self.fourier.iter().flat_map(|fourier| fourier.spectra(&Recorded(run))).collect()
    }
}

/// The rows of a run.
struct Recorded<'a>(&'a Run);

impl Waves for Recorded<'_> {
    fn times(&self) -> &[f64] {
        &self.0.frames.time
    }

    fn signal(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        self.0.signal(name).ok().map(Cow::Owned)
    }
}
