//! Sources as small linear systems, so that a circuit between two of their corners has constant
//! coefficients.
//!
//! ```text
//! σ̇ = A σ,    u = u₀ + U σ,    u̇ = U A σ
//! ```
//!
//! | source | σ |
//! | --- | --- |
//! | straight lines | value and slope, set at every corner |
//! | sine | sine and cosine with the amplitude, and what is there before the delay |
//! | exponential | what is gained, and the two parts still missing |

use crate::Source;
use saltus_model::Trigger;
use std::f64::consts::TAU;

/// A source as a system.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Autonomous {
    /// `A`, entry by entry.
    pub dynamics: Vec<(usize, usize, f64)>,
    /// `σ` at the beginning.
    pub start: Vec<f64>,
    /// `u₀`.
    pub offset: f64,
    /// `U`.
    pub value: Vec<f64>,
    /// When `σ` is set, and what to; a component that is not given stays.
    pub settings: Vec<(Trigger, Vec<Option<f64>>)>,
}

impl Autonomous {
    /// The system of a source from `t = 0` on.
    pub fn new(source: &Source) -> Autonomous {
        match *source {
            Source::Dc(value) => Autonomous { offset: value, ..Autonomous::default() },
            Source::Pulse { low, high, delay, rise, fall, width, period, count } => {
                let line = |from: f64, to: f64, time: f64| [Some(from), Some((to - from) / time)];
                let last = rise + width + fall;
                let pieces = [
                    (0.0, rise, line(low, high, rise)),
                    (rise, width, [Some(high), Some(0.0)]),
                    (rise + width, fall, line(high, low, fall)),
                    (last, period - last, [Some(low), Some(0.0)]),
                ];
                let pieces = pieces.iter().filter(|(from, time, _)| *time > 0.0 && *from < period);
                let settings = pieces.map(|(from, _, state)| {
                    (repeated(delay + from, period, count), state.to_vec())
                });
                lines(source, settings.collect())
            }
            Source::PiecewiseLinear { ref points, repeat, delay } => {
                let last = points.last().map_or(0.0, |point| point.0);
                let period = match repeat {
                    Some(back) if last > back => last - back,
                    _ => f64::INFINITY,
                };
                let mut settings = Vec::new();
                for (k, &(t, value)) in points.iter().enumerate() {
                    let next = points[k + 1..].first();
                    if next.is_some_and(|next| next.0 == t) {
                        continue; // only the last of several at one time counts
                    }
                    let slope = next.map_or(0.0, |next| (next.1 - value) / (next.0 - t));
                    let again = repeat.is_some_and(|back| t >= back) && period.is_finite();
                    if again && next.is_none() {
                        continue; // there the round begins again
                    }
                    let period = if again { period } else { f64::INFINITY };
                    let state = vec![Some(value), Some(slope)];
                    settings.push((repeated(t + delay, period, None), state));
                }
                if let Some(back) = repeat.filter(|_| period.is_finite()) {
                    // where no point is, the round begins in the middle of a line
                    if !points.iter().any(|point| point.0 == back) {
                        let at = last + delay;
                        let state = vec![Some(source.value(at)), Some(source.rate(at))];
                        settings.push((repeated(at, period, None), state));
                    }
                }
                lines(source, settings)
            }
            Source::Sin { offset, amplitude, frequency, delay, damping, phase } => {
                let omega = TAU * frequency;
                // σ = (sine, cosine, what is there before the delay)
                let at = |s: f64| {
                    let (sin, cos) = (omega * s + phase).sin_cos();
                    let size = amplitude * (-damping * s).exp();
                    [size * sin, size * cos, 0.0]
                };
                let waits = delay > 0.0;
                let before = [0.0, 0.0, amplitude * phase.sin()];
                let begins = at(0.0).map(Some).to_vec();
                Autonomous {
                    dynamics: vec![
                        (0, 0, -damping),
                        (0, 1, omega),
                        (1, 0, -omega),
                        (1, 1, -damping),
                    ],
                    start: if waits { before } else { at(-delay) }.to_vec(),
                    offset,
                    value: vec![1.0, 0.0, 1.0],
                    settings: waits
                        .then(|| (Trigger::At(vec![delay]), begins))
                        .into_iter()
                        .collect(),
                }
            }
            Source::Exp { first, second, rise_delay, rise_time, fall_delay, fall_time } => {
                // σ = (risen, missing of it, fallen, missing of it)
                let part = |delay: f64, time: f64| match delay > 0.0 {
                    true => [0.0, 0.0],
                    false => [1.0, (delay / time).exp()],
                };
                let ([a, b], [c, d]) = (part(rise_delay, rise_time), part(fall_delay, fall_time));
                let change = second - first;
                let mut settings = Vec::new();
                if rise_delay > 0.0 {
                    let state = vec![Some(1.0), Some(1.0), None, None];
                    settings.push((Trigger::At(vec![rise_delay]), state));
                }
                if fall_delay > 0.0 {
                    let state = vec![None, None, Some(1.0), Some(1.0)];
                    settings.push((Trigger::At(vec![fall_delay]), state));
                }
                Autonomous {
                    dynamics: vec![(1, 1, -1.0 / rise_time), (3, 3, -1.0 / fall_time)],
                    start: vec![a, b, c, d],
                    offset: first,
                    value: vec![change, -change, -change, change],
                    settings,
                }
            }
        }
    }

    /// `U A`.
    pub fn rate(&self) -> Vec<f64> {
        let mut rate = vec![0.0; self.value.len()];
        self.dynamics.iter().for_each(|&(i, k, a)| rate[k] += self.value[i] * a);
        rate
    }
}

/// Value and slope.
fn lines(source: &Source, settings: Vec<(Trigger, Vec<Option<f64>>)>) -> Autonomous {
    let settings = settings.into_iter().filter(|(trigger, _)| match trigger {
        Trigger::At(times) => !times.is_empty(),
        _ => true,
    });
    Autonomous {
        dynamics: vec![(0, 1, 1.0)],
        start: vec![source.value(0.0), source.rate(0.0)],
        offset: 0.0,
        value: vec![1.0, 0.0],
        settings: settings.collect(),
    }
}

/// `first`, and then every period, after `t = 0`.
fn repeated(first: f64, period: f64, count: Option<u64>) -> Trigger {
    let after = |times: Vec<f64>| times.into_iter().filter(|t| *t > 0.0).collect();
    match count {
        _ if !period.is_finite() => Trigger::At(after(vec![first])),
        Some(count) => Trigger::At(after((0..count).map(|k| first + k as f64 * period).collect())),
        None => {
            let passed = if first > 0.0 { 0.0 } else { (-first / period).floor() + 1.0 };
            Trigger::Every { period, start: Some(first + passed * period) }
        }
    }
}
