//! Periodic steady state: what a switched circuit does once its start is forgotten.
//!
//! ```text
//! find x:  x(t₀ + T) = x(t₀) = x,    T a common period of the sources
//! ```
//!
//! by shooting ([`saltus_analysis::periodic`]): a filter that takes thousands of periods to settle
//! takes a few of Newton's steps.

use crate::transient::follow;
use crate::transient::newton;
use crate::{
    Circuit, CircuitError, CircuitModel, Device, Probes, Transient, TransientError, Watch,
};
use saltus_analysis::periodic::{self, Orbit, Shooting, ShootingError};
use saltus_numerics::{Interrupt, Solver};
use saltus_sim::{EulerMoreau, Integrator, Outcome, Run, SimError, TimeStepping};
use thiserror::Error;

/// A circuit in its steady state.
#[derive(Debug, Clone)]
pub struct SteadyState {
    /// Seconds of a period.
    pub period: f64,
    /// The state at its beginning, and how it was found.
    pub orbit: Orbit,
    /// One period.
    pub run: Run,
}

/// Why there is no steady state.
#[derive(Debug, Error)]
pub enum SteadyError {
    /// No source repeats, or their periods have no common multiple that is short.
    #[error(
        "the sources have no common period; give one: those that repeat have the periods {found:?} s"
    )]
    NoPeriod {
        /// Their periods.
        found: Vec<f64>,
    },
    /// A period that a source does not have.
    #[error("a source repeats every {own} s, of which {period} s is no multiple")]
    WrongPeriod {
        /// The period asked for.
        period: f64,
        /// That of the source.
        own: f64,
    },
    /// A formula of time whose period nobody gives, or that does not have the one asked for.
    #[error(
        "`{name}` is a formula of `time` {}",
        .period.map_or("and no source tells its period: give one".to_string(), |period| format!("that does not repeat every {period} s"))
    )]
    Formula {
        /// The source.
        name: String,
        /// The period asked for, or that of the other sources.
        period: Option<f64>,
    },
    /// The search failed.
    #[error(transparent)]
    Shooting(ShootingError<Stopped>),
    /// The circuit or the settings make no sense, or the last period failed.
    #[error(transparent)]
    Transient(#[from] TransientError),
}

/// Why a period was not simulated to its end.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Stopped {
    /// A step failed.
    #[error(transparent)]
    Step(#[from] SimError),
    /// Somebody asked for it.
    #[error("interrupted")]
    Interrupted,
}

impl From<CircuitError> for SteadyError {
    fn from(error: CircuitError) -> Self {
        SteadyError::Transient(error.into())
    }
}

impl From<SimError> for SteadyError {
    fn from(error: SimError) -> Self {
        SteadyError::Transient(error.into())
    }
}

/// Steps that a period has at least.
const FEWEST: f64 = 10.0;
/// Most periods of the quickest source in a common period.
const MOST: usize = 1000;

impl CircuitModel {
    /// The shortest time after which all sources that repeat do so; of formulas of time it is only looked at whether they do.
    pub fn period(&self) -> Result<f64, SteadyError> {
        let mut found: Vec<f64> = self.sources().filter_map(|source| source.period()).collect();
        found.sort_by(f64::total_cmp);
        found.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * *b);
        let Some(&longest) = found.last() else {
            return Err(match self.timed.first() {
                Some(timed) => SteadyError::Formula { name: timed.name.clone(), period: None },
                None => SteadyError::NoPeriod { found },
            });
        };
        let fits = |candidate: f64, period: f64| {
            let count = candidate / period;
            (count - count.round()).abs() <= 1e-7 * count && count < MOST as f64 + 0.5
        };
        let candidates = (1..=MOST).map(|count| count as f64 * longest);
        let common =
            candidates.into_iter().find(|&one| found.iter().all(|&period| fits(one, period)));
        let common = common.ok_or(SteadyError::NoPeriod { found })?;
        self.check_formulas(common)?;
        Ok(common)
    }

    /// When sources repeat or stay, at a multiple of a period.
    fn settled(&self, period: f64) -> f64 {
        let settled = self.sources().map(|source| source.settles()).fold(0.0, f64::max);
        (settled / period * (1.0 - 1e-12)).ceil() * period
    }

    /// Formulas of time must have the period too.
    fn check_formulas(&self, period: f64) -> Result<(), SteadyError> {
        let begin = self.settled(period);
        match self.timed.iter().find(|timed| !timed.repeats(begin, period)) {
            Some(timed) => {
                let name = timed.name.clone();
                Err(SteadyError::Formula { name, period: Some(period) })
            }
            None => Ok(()),
        }
    }

    /// The steady state with this period, found by steps of about `asked.h` that fit it, and one
    /// period of it.
    pub fn steady_state(
        &self,
        asked: &Transient,
        period: f64,
        settings: Shooting,
        watch: Watch<'_>,
    ) -> Result<SteadyState, SteadyError> {
        let fits = |source: f64| {
            let count = period / source;
            count > 0.5 && (count - count.round()).abs() <= 1e-7 * count
        };
        if let Some(source) = self.sources().filter_map(|one| one.period()).find(|&one| !fits(one))
        {
            return Err(SteadyError::WrongPeriod { period, own: source });
        }
        if !(asked.h > 0.0 && asked.h <= period / FEWEST) {
            let (owner, field, value) = ("the steady state", "h", asked.h);
            let allowed = "a tenth of the period at most";
            return Err(SimError::Setting { owner, field, value, allowed }.into());
        }
        self.check_formulas(period)?;
        let begin = self.settled(period);
        let steps = (period / asked.h).round().max(1.0) as usize;
        let h = period / steps as f64;
        let model = self.model.clone().starting_at(begin);
        let ids: Vec<_> = model.systems().map(|(name, _)| name.to_string()).collect();
        let ids = ids.iter().map(|name| model.system_id(name)).collect::<Result<Vec<_>, _>>();
        let ids = ids.map_err(SimError::from)?;
        let scheme = EulerMoreau { theta: asked.theta, ..EulerMoreau::default() };
        let scheme = [Integrator::EulerMoreau(scheme)];
        let mut sim = TimeStepping::with_methods(model, h, scheme, &Solver::default(), newton())?;

        let mut start = Vec::new();
        for &id in &ids {
            start.extend_from_slice(sim.x(id)?);
        }
        let interrupt = watch.interrupt;
        let place = |sim: &mut TimeStepping, x: &[f64]| -> Result<(), SimError> {
            sim.reset()?;
            let mut rest = x;
            for &id in &ids {
                let (own, others) = rest.split_at(sim.x(id)?.len());
                sim.set_x(id, own)?;
                rest = others;
            }
            Ok(())
        };
        let orbit = periodic::find(&start, settings, |x, end| {
            place(&mut sim, x)?;
            for _ in 0..steps {
                sim.step()?;
                if interrupt.is_some_and(Interrupt::is_set) {
                    return Err(Stopped::Interrupted);
                }
            }
            let mut from = 0;
            for &id in &ids {
                let x = sim.x(id)?;
                end[from..from + x.len()].copy_from_slice(x);
                from += x.len();
            }
            Ok(())
        });
        let orbit = orbit.map_err(SteadyError::Shooting)?;
        place(&mut sim, &orbit.state)?;
        let probes = Probes::new(self, asked.signals.as_deref())?;
        let until = begin + period;
        let asked = Transient { until, h, start: begin, every: 1, ..asked.clone() };
        let mut run = follow(sim, &asked, &probes, watch)?;
        // no step has found multipliers at the beginning; they are those at the end
        let (width, rows) = (run.layout.width(), &mut run.frames.rows);
        if run.stats.outcome == Outcome::Complete && rows.len() > width {
            let last = rows.len() - width;
            rows.copy_within(last.., 0);
        }
        Ok(SteadyState { period, orbit, run })
    }
}

/// Figures of a period.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Signal, its mean and its ripple from peak to peak.
    pub signals: Vec<(String, f64, f64)>,
    /// Switching device, and the share of the period in which it conducts.
    pub duty: Vec<(String, f64)>,
    /// Mean power that sources give.
    pub input: f64,
    /// The resistor that takes most power, and that power.
    pub load: Option<(String, f64)>,
}

/// Current of a device that is a leak, to the largest current of any device.
const LEAK: f64 = 1e-4;

impl Figures {
    /// The signals they are made of.
    pub fn signals(circuit: &Circuit) -> Vec<String> {
        let mut names = Vec::new();
        for component in &circuit.components {
            let between = match &component.device {
                Device::VoltageSource { between, .. }
                | Device::CurrentSource { between, .. }
                | Device::Resistor { between, .. } => between,
                Device::Switch { .. } | Device::Diode { .. } | Device::Mos { .. } => {
                    names.push(format!("i({})", component.name));
                    continue;
                }
                _ => continue,
            };
            names.push(format!("i({})", component.name));
            names.push(across(circuit, *between));
        }
        names
    }

    /// The figures of a run that has recorded these signals, of `shown` among them.
    pub fn new(circuit: &Circuit, run: &Run, shown: &[String]) -> Figures {
        let time = &run.frames.time;
        let mean = |values: &[f64]| {
            let spans = time.windows(2).zip(values.windows(2));
            let area: f64 = spans.map(|(t, v)| (t[1] - t[0]) * (v[0] + v[1]) / 2.0).sum();
            let span = time.last().unwrap_or(&0.0) - time.first().unwrap_or(&0.0);
            area / span
        };
        let values = |name: &str| run.signal(name).unwrap_or_default();
        let power = |name: &str, between| {
            let (v, i) = (values(&across(circuit, between)), values(&format!("i({name})")));
            mean(&v.iter().zip(&i).map(|(v, i)| v * i).collect::<Vec<f64>>())
        };
        let (mut input, mut load, mut currents) = (0.0, None::<(String, f64)>, Vec::new());
        for component in &circuit.components {
            let name = &component.name;
            match &component.device {
                Device::VoltageSource { between, .. } | Device::CurrentSource { between, .. } => {
                    input += (-power(name, *between)).max(0.0);
                }
                Device::Resistor { between, .. } => {
                    let taken = power(name, *between);
                    if load.as_ref().is_none_or(|(_, most)| taken > *most) {
                        load = Some((name.clone(), taken));
                    }
                }
                Device::Switch { .. } | Device::Diode { .. } | Device::Mos { .. } => {
                    currents.push((name, values(&format!("i({name})"))));
                }
                _ => {}
            }
        }
        let largest = |i: &[f64]| i.iter().fold(0.0, |most: f64, i| most.max(i.abs()));
        let overall = currents.iter().map(|(_, i)| largest(i)).fold(0.0, f64::max);
        let duty = currents.iter().map(|(name, i)| {
            let least = (1e-3 * largest(i)).max(LEAK * overall);
            let conducts = |i: &f64| if i.abs() > least { 1.0 } else { 0.0 };
            ((*name).clone(), mean(&i.iter().map(conducts).collect::<Vec<f64>>()))
        });
        let duty = duty.collect();
        let signals = shown.iter().map(|name| {
            let values = values(name);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (name.clone(), mean(&values), high - low)
        });
        Figures { signals: signals.collect(), duty, input, load }
    }

    /// Power of the load to that of the sources.
    pub fn efficiency(&self) -> Option<f64> {
        let (_, power) = self.load.as_ref()?;
        (self.input > 0.0).then(|| power / self.input)
    }
}

/// The name of the voltage between two nodes.
fn across(circuit: &Circuit, [from, to]: [crate::Node; 2]) -> String {
    format!("v({}, {})", circuit.nodes[from.0], circuit.nodes[to.0])
}
