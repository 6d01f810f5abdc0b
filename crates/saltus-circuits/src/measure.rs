//! Measures of a run: `.meas` and `.four` on signals given as points `(t, y)`, straight lines between them.
//!
//! ```text
//! avg   1/T ∫ y dt          rms   √(1/T ∫ y² dt)          integ   ∫ y dt          over [from, to], T = to − from
//! when  the t with y₁(t) = y₂(t)          find   y(t) there
//! ```
//!
//! Integrals are exact for the straight lines. A rise is a piece of line that ends at or above the level and begins
//! below it; a fall the other way; a crossing either. Two points at one time are a jump, and count as a piece.

use std::borrow::Cow;
use std::collections::HashMap;

use saltus_expr::ExprError;
use thiserror::Error;

use crate::{Place, Probe, ProbedFormula};

mod fourier;

pub use fourier::{Fourier, Harmonic, Spectrum};

/// Part of a run by which its ends may be missed.
const ROUNDING: f64 = 1e-9;

/// A figure of a signal over an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Mean value.
    Average,
    /// Root of the mean square.
    RootMeanSquare,
    /// Largest value.
    Maximum,
    /// Least value.
    Minimum,
    /// Largest minus least value.
    PeakToPeak,
    /// Integral.
    Integral,
    /// Time of the largest value, the first if there are several.
    TimeOfMaximum,
    /// Time of the least value, likewise.
    TimeOfMinimum,
}

/// Which way a signal passes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Upwards.
    Rise,
    /// Downwards.
    Fall,
    /// Either way.
    Cross,
}

/// A signal of a run, or a formula of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// As text, `v(out)` or `v(a)*i(L1)`.
    pub text: String,
    /// Taken apart.
    pub formula: Box<ProbedFormula>,
}

impl Signal {
    /// A formula of `v(node)`, `v(a, b)`, `i(component)` and `time`.
    pub fn parse(text: &str) -> Result<Signal, ExprError> {
        Ok(Signal { text: text.to_owned(), formula: Box::new(ProbedFormula::parse(text)?) })
    }
}

/// A time at which two signals meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// The one.
    pub left: Signal,
    /// The other; most often a number.
    pub right: Signal,
    /// Which way the first passes the second.
    pub edge: Edge,
    /// Which of these times, from 1; the last if there is none.
    pub count: Option<usize>,
    /// Nothing before this time counts.
    pub from: f64,
    /// Nothing after this time counts.
    pub to: f64,
}

/// A time given, or met.
#[derive(Debug, Clone, PartialEq)]
pub enum Instant {
    /// Given.
    At(f64),
    /// When two signals meet.
    When(Crossing),
}

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// A figure over an interval.
    Statistic {
        /// Which.
        statistic: Statistic,
        /// Of what.
        signal: Signal,
        /// Where the interval begins, the run's beginning if before it.
        from: f64,
        /// Where it ends, the run's end if after it.
        to: f64,
    },
    /// A time.
    Time(Instant),
    /// The value of a signal at a time.
    Value {
        /// The signal.
        signal: Signal,
        /// The time.
        at: Instant,
    },
    /// The slope of a signal at a time: that of the line through it, and at a point of two the mean of both.
    Slope {
        /// The signal.
        signal: Signal,
        /// The time.
        at: Instant,
    },
    /// The time from one event to another.
    Delay {
        /// The first.
        trigger: Instant,
        /// The second.
        target: Instant,
    },
    /// A formula of measures before it, `m(name)`.
    Formula(Signal),
}

/// A measure by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The name.
    pub name: String,
    /// What to measure.
    pub quantity: Quantity,
    /// Where it stands in a netlist, if it comes from one.
    pub place: Option<Place>,
}

impl Measure {
    /// The signals it is taken of.
    pub fn signals(&self) -> Vec<&Signal> {
        let (signal, instants): (Option<&Signal>, Vec<&Instant>) = match &self.quantity {
            Quantity::Statistic { signal, .. } | Quantity::Formula(signal) => {
                (Some(signal), vec![])
            }
            Quantity::Time(at) => (None, vec![at]),
            Quantity::Value { signal, at } | Quantity::Slope { signal, at } => {
                (Some(signal), vec![at])
            }
            Quantity::Delay { trigger, target } => (None, vec![trigger, target]),
        };
        let crossings = instants.into_iter().filter_map(|instant| match instant {
            Instant::At(_) => None,
            Instant::When(crossing) => Some([&crossing.left, &crossing.right]),
        });
        signal.into_iter().chain(crossings.flatten()).collect()
    }
}

/// A measure that has no value.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MeasureError {
    /// A signal that the run has not.
    #[error("there is no signal `{name}`")]
    UnknownSignal {
        /// Its name.
        name: String,
    },
    /// A run without points, or with times and values that do not fit.
    #[error(
        "signal `{name}` has {found} values, expected {expected}, as many as there are times, and at least 1"
    )]
    Length {
        /// The signal.
        name: String,
        /// Its values.
        found: usize,
        /// Times.
        expected: usize,
    },
    /// Signals that meet less often than asked for.
    #[error(
        "`{left}` meets `{right}` {found} times from {from} s to {to} s, expected at least {expected}"
    )]
    NoCrossing {
        /// The one.
        left: String,
        /// The other.
        right: String,
        /// How often they meet.
        found: usize,
        /// How often they had to.
        expected: usize,
        /// Since when.
        from: f64,
        /// Until when.
        to: f64,
    },
    /// An interval without length, or outside of the run.
    #[error("the run from {start} s to {end} s has no part from {from} s to {to} s")]
    EmptyInterval {
        /// Beginning of the interval.
        from: f64,
        /// Its end.
        to: f64,
        /// Beginning of the run.
        start: f64,
        /// Its end.
        end: f64,
    },
    /// A measure that this one uses has no value, or comes after it.
    #[error("measure `{name}` has no value")]
    NoMeasure {
        /// That measure.
        name: String,
    },
    /// A frequency that is not positive.
    #[error("the frequency is {frequency} Hz, expected more than 0")]
    Frequency {
        /// The frequency.
        frequency: f64,
    },
}

/// A run: times, and signals at these.
pub trait Waves {
    /// Times that do not decrease.
    fn times(&self) -> &[f64];
    /// The values of `v(node)` or `i(component)`, one a time. Case should not count.
    fn signal(&self, name: &str) -> Option<Cow<'_, [f64]>>;
}

/// All measures of a run, in their order; a formula may use those before it.
pub fn measure(
    measures: &[Measure],
    waves: &impl Waves,
) -> Vec<(String, Result<f64, MeasureError>)> {
    let mut known: HashMap<String, f64> = HashMap::new();
    let mut results = Vec::with_capacity(measures.len());
    for measure in measures {
        let value = evaluate(&measure.quantity, waves, &known);
        if let Ok(value) = value {
            known.insert(measure.name.to_lowercase(), value);
        }
        results.push((measure.name.clone(), value));
    }
    results
}

fn evaluate(
    quantity: &Quantity,
    waves: &impl Waves,
    known: &HashMap<String, f64>,
) -> Result<f64, MeasureError> {
    match quantity {
        Quantity::Statistic { statistic, signal, from, to } => {
            let values = samples(signal, waves, known)?;
            statistic_of(*statistic, waves.times(), &values, *from, *to)
        }
        Quantity::Time(instant) => time_of(instant, waves, known),
        Quantity::Value { signal, at } => {
            let at = time_of(at, waves, known)?;
            let values = samples(signal, waves, known)?;
            value_at(waves.times(), &values, at)
        }
        Quantity::Slope { signal, at } => {
            let at = time_of(at, waves, known)?;
            let values = samples(signal, waves, known)?;
            slope_at(waves.times(), &values, at)
        }
        Quantity::Delay { trigger, target } => {
            Ok(time_of(target, waves, known)? - time_of(trigger, waves, known)?)
        }
        Quantity::Formula(formula) => {
            let mut arguments = Vec::with_capacity(formula.formula.probes.len());
            for probe in &formula.formula.probes {
                let name = match probe {
                    Probe::Measure(name) => name.to_lowercase(),
                    other => other.to_string(),
                };
                let value = known.get(&name).copied();
                arguments.push(value.ok_or(MeasureError::NoMeasure { name })?);
            }
            Ok(formula.formula.formula.eval(&arguments))
        }
    }
}

/// The values of a signal or formula at all times. The name of a measure stands for its value where no node has it.
fn samples(
    signal: &Signal,
    waves: &impl Waves,
    known: &HashMap<String, f64>,
) -> Result<Vec<f64>, MeasureError> {
    let times = waves.times();
    let mut columns: Vec<Cow<'_, [f64]>> = Vec::with_capacity(signal.formula.probes.len());
    for probe in &signal.formula.probes {
        let column = match (column(probe, waves), probe) {
            (Err(error), Probe::Voltage(name)) => match known.get(&name.to_lowercase()) {
                Some(value) => Cow::Owned(vec![*value; times.len()]),
                None => return Err(error),
            },
            (column, _) => column?,
        };
        if column.len() != times.len() || times.is_empty() {
            return Err(MeasureError::Length {
                name: probe.to_string(),
                found: column.len(),
                expected: times.len(),
            });
        }
        columns.push(column);
    }
    if times.is_empty() {
        return Err(MeasureError::Length { name: signal.text.clone(), found: 0, expected: 0 });
    }
    if signal.formula.formula.text() == "p[0]" {
        return Ok(columns.swap_remove(0).into_owned());
    }
    let mut arguments = vec![0.0; columns.len()];
    let value = |index: usize| {
        for (argument, column) in arguments.iter_mut().zip(&columns) {
            *argument = column[index];
        }
        signal.formula.formula.eval(&arguments)
    };
    Ok((0..times.len()).map(value).collect())
}

fn column<'w>(probe: &Probe, waves: &'w impl Waves) -> Result<Cow<'w, [f64]>, MeasureError> {
    let unknown = || MeasureError::UnknownSignal { name: probe.to_string() };
    match probe {
        Probe::Time => Ok(Cow::Borrowed(waves.times())),
        Probe::Voltage(node) if node == "0" => Ok(Cow::Owned(vec![0.0; waves.times().len()])),
        Probe::Difference(plus, minus) => {
            if let Some(column) = waves.signal(&probe.to_string()) {
                return Ok(column);
            }
            let plus = column(&Probe::Voltage(plus.clone()), waves)?;
            let minus = column(&Probe::Voltage(minus.clone()), waves)?;
            Ok(plus.iter().zip(minus.iter()).map(|(plus, minus)| plus - minus).collect())
        }
        probe => waves.signal(&probe.to_string()).ok_or_else(unknown),
    }
}

/// A piece of a signal: from `(t₀, y₀)` to `(t₁, y₁)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start: (f64, f64),
    pub(crate) end: (f64, f64),
}

/// The pieces of a signal in an interval, cut at its ends. Jumps are pieces without length.
pub(crate) fn pieces<'a>(
    times: &'a [f64],
    values: &'a [f64],
    from: f64,
    to: f64,
) -> impl Iterator<Item = Piece> + 'a {
    let first = times.partition_point(|&time| time < from).saturating_sub(1);
    let points = times[first..].iter().copied().zip(values[first..].iter().copied());
    let next = points.clone().skip(1);
    let at = |a: (f64, f64), b: (f64, f64), time: f64| match b.0 > a.0 {
        true => (time, a.1 + (b.1 - a.1) * ((time - a.0) / (b.0 - a.0))),
        false => b,
    };
    points
        .zip(next)
        .filter(move |(a, b)| b.0 >= from && a.0 <= to)
        .take_while(move |(a, _)| a.0 <= to)
        .map(move |(a, b)| Piece {
            start: if a.0 < from { at(a, b, from) } else { a },
            end: if b.0 > to { at(a, b, to) } else { b },
        })
}

/// The part of an interval that a run covers.
fn interval(times: &[f64], from: f64, to: f64) -> Result<(f64, f64), MeasureError> {
    let (start, end) = (times[0], times[times.len() - 1]);
    let clipped = (from.max(start), to.min(end));
    match clipped.0 <= clipped.1 {
        true => Ok(clipped),
        false => Err(MeasureError::EmptyInterval { from, to, start, end }),
    }
}

fn statistic_of(
    statistic: Statistic,
    times: &[f64],
    values: &[f64],
    from: f64,
    to: f64,
) -> Result<f64, MeasureError> {
    let (begin, stop) = interval(times, from, to)?;
    let length = stop - begin;
    let integrate = |of: fn(f64, f64) -> f64| {
        let area = |piece: Piece| (piece.end.0 - piece.start.0) * of(piece.start.1, piece.end.1);
        pieces(times, values, begin, stop).map(area).sum::<f64>()
    };
    let has_length = || match length > 0.0 {
        true => Ok(length),
        false => {
            let (start, end) = (times[0], times[times.len() - 1]);
            Err(MeasureError::EmptyInterval { from, to, start, end })
        }
    };
    // the first point at which `is_beyond` holds against all before it
    let extreme = |is_beyond: fn(f64, f64) -> bool| {
        let points = pieces(times, values, begin, stop).flat_map(|piece| [piece.start, piece.end]);
        let first = (begin, value_at(times, values, begin).unwrap_or(f64::NAN));
        points.fold(first, |best, point| {
            if is_beyond(point.1, best.1) || point.1.is_nan() { point } else { best }
        })
    };
    let largest = || extreme(|value, best| value > best);
    let least = || extreme(|value, best| value < best);
    let mean = |a: f64, b: f64| (a + b) / 2.0;
    Ok(match statistic {
        Statistic::Average => integrate(mean) / has_length()?,
        // ∫ y² over a straight line from a to b is h (a² + a b + b²)/3
        Statistic::RootMeanSquare => {
            (integrate(|a, b| (a * a + a * b + b * b) / 3.0) / has_length()?).max(0.0).sqrt()
        }
        Statistic::Integral => integrate(mean),
        Statistic::Maximum => largest().1,
        Statistic::Minimum => least().1,
        Statistic::PeakToPeak => largest().1 - least().1,
        Statistic::TimeOfMaximum => largest().0,
        Statistic::TimeOfMinimum => least().0,
    })
}

/// A time of the run; one that misses its ends by rounding is taken for the end.
fn instant(times: &[f64], at: f64) -> Result<f64, MeasureError> {
    let (start, end) = (times[0], times[times.len() - 1]);
    let slack = ROUNDING * (end - start);
    match at >= start - slack && at <= end + slack {
        true => Ok(at.clamp(start, end)),
        false => Err(MeasureError::EmptyInterval { from: at, to: at, start, end }),
    }
}

/// The value at a time; at a jump the one after it.
fn value_at(times: &[f64], values: &[f64], at: f64) -> Result<f64, MeasureError> {
    let at = instant(times, at)?;
    let right = times.partition_point(|&time| time <= at);
    let left = right - 1; // the run begins at or before it
    if right == times.len() || times[left] == at {
        return Ok(values[left]);
    }
    let part = (at - times[left]) / (times[right] - times[left]);
    Ok(values[left] + (values[right] - values[left]) * part)
}

/// The slope at a time.
fn slope_at(times: &[f64], values: &[f64], at: f64) -> Result<f64, MeasureError> {
    let at = instant(times, at)?;
    let slopes: Vec<f64> = pieces(times, values, f64::NEG_INFINITY, f64::INFINITY)
        .filter(|piece| piece.start.0 <= at && piece.end.0 >= at && piece.end.0 > piece.start.0)
        .map(|piece| (piece.end.1 - piece.start.1) / (piece.end.0 - piece.start.0))
        .collect();
    match slopes.len() {
        0 => {
            let (start, end) = (times[0], times[times.len() - 1]);
            Err(MeasureError::EmptyInterval { from: at, to: at, start, end })
        }
        count => Ok(slopes.iter().sum::<f64>() / count as f64),
    }
}

fn time_of(
    instant: &Instant,
    waves: &impl Waves,
    known: &HashMap<String, f64>,
) -> Result<f64, MeasureError> {
    let crossing = match instant {
        Instant::At(time) => return Ok(*time),
        Instant::When(crossing) => crossing,
    };
    let times = waves.times();
    let left = samples(&crossing.left, waves, known)?;
    let right = samples(&crossing.right, waves, known)?;
    let apart: Vec<f64> = left.iter().zip(&right).map(|(left, right)| left - right).collect();
    let none = |found| MeasureError::NoCrossing {
        left: crossing.left.text.clone(),
        right: crossing.right.text.clone(),
        found,
        expected: crossing.count.unwrap_or(1).max(1),
        from: crossing.from.max(times[0]),
        to: crossing.to.min(times[times.len() - 1]),
    };
    let Ok((from, to)) = interval(times, crossing.from, crossing.to) else {
        return Err(none(0));
    };
    let (mut found, mut last) = (0, None);
    for piece in pieces(times, &apart, from, to) {
        let ((start, before), (end, after)) = (piece.start, piece.end);
        let rises = before < 0.0 && after >= 0.0;
        let falls = before > 0.0 && after <= 0.0;
        let counts = match crossing.edge {
            Edge::Rise => rises,
            Edge::Fall => falls,
            Edge::Cross => rises || falls,
        };
        if counts {
            found += 1;
            let time = start + (end - start) * (before / (before - after));
            last = Some(time);
            if crossing.count == Some(found) {
                return Ok(time);
            }
        }
    }
    match (crossing.count, last) {
        (None, Some(time)) => Ok(time),
        _ => Err(none(found)),
    }
}

#[cfg(test)]
mod tests;
