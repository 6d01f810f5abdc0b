//! From a netlist to its run: what is simulated, recorded and measured.

use crate::measure::{Fourier, Measure, MeasureError, Spectrum, Waves, measure};
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
    /// A step is the largest step of `.tran` where that has one, and rows are recorded at its step;
    /// `.option method=gear` asks for Euler's implicit rule, everything else for the trapezoidal one.
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
            if h.is_none() {
                transient.every = (tran.step / step).round().max(1.0) as usize;
            }
            circuit.uic = tran.uic;
        }
        let options = &analysis.options;
        if options.method.as_deref() == Some("gear") {
            transient.theta = 1.0;
        }
        transient.tol = options.reltol.unwrap_or(transient.tol);
        transient.atol = options.vntol.unwrap_or(transient.atol);

        let model = circuit.model()?;
        let all = analysis.outputs.is_empty() || analysis.all_outputs;
        let mut names = if all { model.signals() } else { Vec::new() };
        let outputs = analysis.outputs.iter();
        let measured = analysis.measures.iter().flat_map(Measure::signals);
        let analysed = analysis.fourier.iter().flat_map(|fourier| &fourier.signals);
        for signal in outputs.chain(measured).chain(analysed) {
            for probe in &signal.formula.probes {
                if !matches!(probe, Probe::Time | Probe::Measure(_)) {
                    names.push(probe.to_string());
                }
            }
        }
        transient.signals = Some(names);
        let (measures, fourier) = (analysis.measures, analysis.fourier);
        Ok(Plan { circuit, model, transient, measures, fourier })
    }
}

impl Plan {
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
