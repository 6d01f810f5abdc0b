//! Independent sources: values as functions of time.

/// The value of an independent source as a function of time.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The same always.
    Dc(f64),
    /// A trapezoid that repeats: `low` until `delay`, up to `high` in `rise`, there for `width`, back
    /// in `fall`, and so on every `period` (at most `count` times if given).
    Pulse {
        /// First value.
        low: f64,
        /// Second value.
        high: f64,
        /// Seconds until the first edge.
        delay: f64,
        /// Seconds from `low` to `high`; 0 is a jump.
        rise: f64,
        /// Seconds from `high` to `low`; 0 is a jump.
        fall: f64,
        /// Seconds at `high`.
        width: f64,
        /// Seconds from one edge to the next of its kind; infinite for a single pulse.
        period: f64,
        /// How many pulses, all if none is given.
        count: Option<u64>,
    },
    /// `offset + amplitude e^(−damping (t − delay)) sin(2π frequency (t − delay) + phase)` from
    /// `delay` on, `offset + amplitude sin(phase)` before.
    Sin {
        /// Mean value.
        offset: f64,
        /// Amplitude.
        amplitude: f64,
        /// Hertz.
        frequency: f64,
        /// Seconds.
        delay: f64,
        /// 1/s.
        damping: f64,
        /// Radians.
        phase: f64,
    },
    /// `first`, from `rise_delay` on towards `second` with the time constant `rise_time`, from
    /// `fall_delay` on back with `fall_time`.
    Exp {
        /// First value.
        first: f64,
        /// Second value.
        second: f64,
        /// Seconds.
        rise_delay: f64,
        /// Seconds.
        rise_time: f64,
        /// Seconds.
        fall_delay: f64,
        /// Seconds.
        fall_time: f64,
    },
    /// Straight lines between points `(t, value)`, `t` not decreasing (two points at one time are a
    /// jump); constant before the first and after the last, or repeated from `repeat` on.
    PiecewiseLinear {
        /// The points.
        points: Vec<(f64, f64)>,
        /// The time the sequence goes back to after its last point.
        repeat: Option<f64>,
        /// Seconds by which all of it is late.
        delay: f64,
    },
}

use std::f64::consts::TAU;

/// What round-off may hide of an instant, relative to it.
const HIDDEN: f64 = 8.0 * f64::EPSILON;

/// A source on a straight line, `value + rate (t − start)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stretch {
    pub start: f64,
    pub value: f64,
    pub rate: f64,
    /// Before this.
    pub until: f64,
}

impl Stretch {
    /// The same up to where round-off cannot hide its end.
    fn sure(self, t: f64) -> Stretch {
        let until = self.until - HIDDEN * self.until.abs().max(t.abs());
        Stretch { until: if self.until.is_finite() { until } else { self.until }, ..self }
    }
}

impl Source {
    /// The value at time `t`; at a jump the one after it. An instant that only round-off tells from a jump
    /// is at it: a step that ends there ends after the jump.
    pub fn value(&self, t: f64) -> f64 {
        match *self {
            Source::Dc(value) => value,
            Source::Pulse { low, high, rise, fall, width, .. } => {
                let Some(s) = self.phase(t) else { return low };
                if s < rise {
                    low + (high - low) * (s / rise)
                } else if s < rise + width {
                    high
                } else if s < rise + width + fall {
                    high + (low - high) * ((s - rise - width) / fall)
                } else {
                    low
                }
            }
            Source::Sin { offset, amplitude, frequency, delay, damping, phase } => {
                let s = (t - delay).max(0.0);
                offset + amplitude * (-damping * s).exp() * (TAU * frequency * s + phase).sin()
            }
            Source::Exp { first, second, rise_delay, rise_time, fall_delay, fall_time } => {
                let grown = |delay: f64, time: f64| match t > delay {
                    true => -(-(t - delay) / time).exp_m1(),
                    false => 0.0,
                };
                let change = grown(rise_delay, rise_time) - grown(fall_delay, fall_time);
                first + (second - first) * change
            }
            Source::PiecewiseLinear { ref points, .. } => {
                let Some(s) = self.phase(t) else { return 0.0 };
                let next = points.partition_point(|point| point.0 <= s);
                match (next.checked_sub(1).map(|k| points[k]), points.get(next)) {
                    (Some((from, a)), Some(&(to, b))) => a + (b - a) * ((s - from) / (to - from)),
                    (Some((_, value)), None) | (None, Some(&(_, value))) => value,
                    (None, None) => 0.0,
                }
            }
        }
    }

    /// Its rate of change at time `t`, where it breaks the one after; a jump does not count.
    pub fn rate(&self, t: f64) -> f64 {
        match *self {
            Source::Dc(_) => 0.0,
            Source::Pulse { low, high, rise, fall, width, .. } => {
                let Some(s) = self.phase(t) else { return 0.0 };
                if s < rise {
                    (high - low) / rise
                } else if s >= rise + width && s < rise + width + fall {
                    (low - high) / fall
                } else {
                    0.0
                }
            }
            Source::Sin { amplitude, frequency, delay, damping, phase, .. } => {
                if t < delay {
                    return 0.0;
                }
                let (s, omega) = (t - delay, TAU * frequency);
                let (sin, cos) = (omega * s + phase).sin_cos();
                amplitude * (-damping * s).exp() * (omega * cos - damping * sin)
            }
            Source::Exp { first, second, rise_delay, rise_time, fall_delay, fall_time } => {
                let rate = |delay: f64, time: f64| match t >= delay {
                    true => (-(t - delay) / time).exp() / time,
                    false => 0.0,
                };
                (second - first) * (rate(rise_delay, rise_time) - rate(fall_delay, fall_time))
            }
            Source::PiecewiseLinear { ref points, .. } => {
                let Some(s) = self.phase(t) else { return 0.0 };
                let next = points.partition_point(|point| point.0 <= s);
                match (next.checked_sub(1).map(|k| points[k]), points.get(next)) {
                    (Some((from, a)), Some(&(to, b))) => (b - a) / (to - from),
                    _ => 0.0,
                }
            }
        }
    }

    /// The straight line that it is on from `t` on: where that has a value, this and its rate, and how
    /// far it goes, less what round-off may hide of its end. Nothing where it is curved.
    pub(crate) fn line(&self, t: f64) -> Option<Stretch> {
        let level = |value: f64| Stretch { start: 0.0, value, rate: 0.0, until: f64::INFINITY };
        let stretch = match *self {
            Source::Dc(value) => level(value),
            Source::Pulse { low, high, delay, rise, fall, width, period, .. } => {
                let Some((begin, s)) = self.round(t) else {
                    let until = if t < delay { delay } else { f64::INFINITY };
                    return Some(Stretch { until, ..level(low) }.sure(t));
                };
                let (down, end) = (rise + width, rise + width + fall);
                let (from, value, rate, to) = if s < rise {
                    (0.0, low, (high - low) / rise, rise)
                } else if s < down {
                    (rise, high, 0.0, down)
                } else if s < end {
                    (down, high, (low - high) / fall, end)
                } else {
                    (end, low, 0.0, period)
                };
                Stretch { start: begin + from, value, rate, until: begin + to.min(period) }
            }
            Source::PiecewiseLinear { ref points, repeat: None, delay } => {
                let s = self.phase(t)?;
                let next = points.partition_point(|point| point.0 <= s);
                match (next.checked_sub(1).map(|k| points[k]), points.get(next)) {
                    (Some((from, a)), Some(&(to, b))) => {
                        let (start, rate) = (delay + from, (b - a) / (to - from));
                        Stretch { start, value: a, rate, until: delay + to }
                    }
                    (Some((_, value)), None) => level(value),
                    (None, Some(&(from, value))) => Stretch { until: delay + from, ..level(value) },
                    (None, None) => level(0.0),
                }
            }
            _ if self.is_constant() => level(self.value(t)),
            _ => return None,
        };
        Some(stretch.sure(t))
    }

    /// The first instant after `t` at which it breaks or jumps.
    pub fn next_breakpoint(&self, t: f64) -> Option<f64> {
        let first = |times: &mut dyn Iterator<Item = f64>| {
            times.filter(|&time| time > t && time.is_finite()).min_by(f64::total_cmp)
        };
        match *self {
            Source::Dc(_) => None,
            Source::Pulse { delay, rise, fall, width, period, count, .. } => {
                let round = if period.is_finite() { ((t - delay) / period).floor() } else { 0.0 };
                let edges = [0.0, rise, rise + width, rise + width + fall];
                let rounds = [-1.0, 0.0, 1.0].map(|k| (round + k).max(0.0));
                let rounds = rounds.iter().filter(|&&k| count.is_none_or(|n| k < n as f64));
                let start = |k: f64| if k == 0.0 { delay } else { delay + k * period };
                first(&mut rounds.flat_map(|&k| {
                    edges.iter().filter(|&&edge| edge < period).map(move |edge| start(k) + edge)
                }))
            }
            Source::Sin { delay, .. } => first(&mut [delay].into_iter()),
            Source::Exp { rise_delay, fall_delay, .. } => {
                first(&mut [rise_delay, fall_delay].into_iter())
            }
            Source::PiecewiseLinear { ref points, repeat, delay } => {
                let once = first(&mut points.iter().map(|point| point.0 + delay));
                let (Some(back), Some(last)) = (repeat, points.last().map(|point| point.0)) else {
                    return once;
                };
                let period = last - back;
                if once.is_some() || !(period > 0.0) {
                    return once;
                }
                let round = ((t - delay - last) / period).floor();
                let rounds = [round, round + 1.0, round + 2.0];
                first(&mut rounds.iter().flat_map(|&k| {
                    let later = points.iter().filter(|point| point.0 >= back);
                    later.map(move |point| delay + point.0 + k.max(0.0) * period)
                }))
            }
        }
    }

    /// The instants in `(from, until]` at which it breaks or jumps, in order.
    pub fn breakpoints(&self, from: f64, until: f64) -> impl Iterator<Item = f64> + '_ {
        std::iter::successors(self.next_breakpoint(from), |&t| self.next_breakpoint(t))
            .take_while(move |&t| t <= until)
    }

    /// The time after which it does the same again, where it goes on for ever.
    pub fn period(&self) -> Option<f64> {
        if self.is_constant() {
            return None;
        }
        match *self {
            Source::Pulse { period, count: None, .. } => period.is_finite().then_some(period),
            Source::Sin { frequency, damping: 0.0, .. } => Some(1.0 / frequency),
            Source::PiecewiseLinear { ref points, repeat: Some(repeat), .. } => {
                points.last().map(|last| last.0 - repeat)
            }
            _ => None,
        }
    }

    /// The time from which on it repeats or stays; to the last bits, where it decays.
    pub fn settles(&self) -> f64 {
        const DECAYED: f64 = 40.0; // e⁻⁴⁰ is below the last bit
        match *self {
            _ if self.is_constant() => 0.0,
            Source::Dc(_) => 0.0,
            Source::Pulse { delay, period, count, width, rise, fall, .. } => match count {
                Some(count) if period.is_finite() => delay + count as f64 * period,
                _ if period.is_finite() => delay,
                _ if width.is_finite() => delay + rise + width + fall,
                _ => delay + rise,
            },
            Source::Sin { delay, damping, .. } if damping > 0.0 => delay + DECAYED / damping,
            Source::Sin { delay, .. } => delay,
            Source::Exp { rise_delay, rise_time, fall_delay, fall_time, .. } => {
                let rise = rise_delay + DECAYED * rise_time;
                rise.max(fall_delay + DECAYED * fall_time)
            }
            Source::PiecewiseLinear { ref points, repeat, delay } => {
                delay + repeat.or(points.last().map(|last| last.0)).unwrap_or(0.0)
            }
        }
    }

    /// Whether it is the same always.
    pub fn is_constant(&self) -> bool {
        match *self {
            Source::Dc(_) => true,
            Source::Pulse { low, high, .. } => low == high,
            Source::Sin { amplitude, .. } => amplitude == 0.0,
            Source::Exp { first, second, .. } => first == second,
            Source::PiecewiseLinear { ref points, .. } => {
                points.iter().all(|point| point.1 == points[0].1)
            }
        }
    }

    /// Time since the beginning of the present round, nothing before the first pulse and after the
    /// last one.
    fn phase(&self, t: f64) -> Option<f64> {
        self.round(t).map(|(_, s)| s)
    }

    /// The beginning of the present round, and the time since then; exactly that of a corner where nothing
    /// but round-off tells it from one.
    fn round(&self, t: f64) -> Option<(f64, f64)> {
        match *self {
            Source::Pulse { delay, rise, fall, width, period, count, .. } => {
                let slack = HIDDEN * t.abs().max(delay.abs());
                let s = t - delay;
                if s < -slack {
                    return None;
                }
                let (mut round, mut s) = (0.0, s.max(0.0));
                if period.is_finite() {
                    round = (s / period).floor();
                    s = (s - round * period).max(0.0);
                    if period - s <= slack {
                        (round, s) = (round + 1.0, 0.0);
                    }
                }
                if count.is_some_and(|count| round >= count as f64) {
                    return None;
                }
                let corners = [0.0, rise, rise + width, rise + width + fall];
                let near = corners.iter().rev().find(|&&corner| (s - corner).abs() <= slack);
                let begin = if round == 0.0 { delay } else { delay + round * period };
                Some((begin, near.copied().unwrap_or(s)))
            }
            Source::PiecewiseLinear { ref points, repeat, delay } => {
                let slack = HIDDEN * t.abs().max(delay.abs());
                let s = t - delay;
                let last = points.last()?.0;
                let s = match repeat {
                    Some(back) if s >= last - slack && last > back => {
                        let since = (s - last).max(0.0).rem_euclid(last - back);
                        if last - back - since <= slack { back } else { back + since }
                    }
                    _ => s,
                };
                let before = points.partition_point(|point| point.0 <= s + slack);
                let near = before.checked_sub(1).map(|k| points[k].0);
                Some((delay, near.filter(|near| (s - near).abs() <= slack).unwrap_or(s)))
            }
            _ => Some((0.0, t)),
        }
    }

    /// What is wrong with it: a field, its value, and what is allowed.
    pub(crate) fn wrong(&self) -> Option<(&'static str, f64, &'static str)> {
        const FINITE: &str = "a finite number";
        const TIME: &str = "[0, inf)";
        const POSITIVE: &str = "(0, inf)";
        let finite = |what, value: f64| (!value.is_finite()).then_some((what, value, FINITE));
        let time = |what, value: f64| {
            (!(value >= 0.0 && value.is_finite())).then_some((what, value, TIME))
        };
        let positive = |what, value: f64| {
            (!(value > 0.0 && value.is_finite())).then_some((what, value, POSITIVE))
        };
        match *self {
            Source::Dc(value) => finite("value", value),
            Source::Pulse { low, high, delay, rise, fall, width, period, .. } => finite("low", low)
                .or_else(|| finite("high", high))
                .or_else(|| finite("delay", delay))
                .or_else(|| time("rise", rise))
                .or_else(|| time("fall", fall))
                .or_else(|| (!(width >= 0.0)).then_some(("width", width, TIME)))
                .or_else(|| (!(period > 0.0)).then_some(("period", period, "(0, inf]"))),
            Source::Sin { offset, amplitude, frequency, delay, damping, phase } => {
                finite("offset", offset)
                    .or_else(|| finite("amplitude", amplitude))
                    .or_else(|| finite("frequency", frequency))
                    .or_else(|| finite("delay", delay))
                    .or_else(|| finite("damping", damping))
                    .or_else(|| finite("phase", phase))
            }
            Source::Exp { first, second, rise_delay, rise_time, fall_delay, fall_time } => {
                finite("first", first)
                    .or_else(|| finite("second", second))
                    .or_else(|| finite("rise_delay", rise_delay))
                    .or_else(|| positive("rise_time", rise_time))
                    .or_else(|| finite("fall_delay", fall_delay))
                    .or_else(|| positive("fall_time", fall_time))
            }
            Source::PiecewiseLinear { ref points, delay, .. } => {
                let lost = points.iter().flat_map(|p| [p.0, p.1]).find(|x| !x.is_finite());
                let back = points.windows(2).find(|pair| !(pair[1].0 >= pair[0].0));
                finite("delay", delay)
                    .or_else(|| points.is_empty().then_some(("points", 0.0, "at least one point")))
                    .or_else(|| lost.map(|value| ("points", value, FINITE)))
                    .or_else(|| back.map(|pair| ("points", pair[1].0, "times in ascending order")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ramp() -> Source {
        let (low, high, delay, rise, fall, width) = (0.0, 2.0, 1.0, 0.5, 0.25, 0.25);
        Source::Pulse { low, high, delay, rise, fall, width, period: 2.0, count: Some(2) }
    }

    #[test]
    fn pulses() {
        let value = |t| ramp().value(t);
        assert_eq!([0.0, 1.0, 1.25, 1.5, 1.6].map(value), [0.0, 0.0, 1.0, 2.0, 2.0]);
        assert_eq!([1.875, 2.5, 3.25, 5.25].map(value), [1.0, 0.0, 1.0, 0.0]);
        assert_eq!([0.5, 1.2, 1.6, 1.9, 2.1].map(|t| ramp().rate(t)), [0.0, 4.0, 0.0, -8.0, 0.0]);
        let times: Vec<f64> = ramp().breakpoints(0.0, 10.0).collect();
        assert_eq!(times, [1.0, 1.5, 1.75, 2.0, 3.0, 3.5, 3.75, 4.0]);
        let jump = Source::Pulse {
            low: 0.0,
            high: 1.0,
            delay: 0.0,
            rise: 0.0,
            fall: 0.0,
            width: 1.0,
            period: f64::INFINITY,
            count: None,
        };
        assert_eq!([-1.0, 0.0, 0.5, 1.0].map(|t| jump.value(t)), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(jump.breakpoints(-1.0, 5.0).collect::<Vec<_>>(), [0.0, 1.0]);
    }

    #[test]
    fn lines_between_points() {
        let points = vec![(0.0, 1.0), (1.0, 3.0), (1.0, 5.0), (2.0, 5.0)];
        let line = Source::PiecewiseLinear { points: points.clone(), repeat: None, delay: 1.0 };
        assert_eq!([0.0, 1.5, 2.0, 9.0].map(|t| line.value(t)), [1.0, 2.0, 5.0, 5.0]);
        assert_eq!(line.breakpoints(0.0, 9.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        let line = Source::PiecewiseLinear { points, repeat: Some(0.0), delay: 0.0 };
        assert_eq!([2.5, 3.5, 4.5].map(|t| line.value(t)), [2.0, 5.0, 2.0]);
        assert_eq!(line.breakpoints(0.0, 5.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    /// Whatever round-off makes of an instant, at a jump it is after it.
    #[test]
    fn jumps_are_met_at_the_ends_of_steps() {
        let (period, h) = (1.0 / 3.0e5, 1.0 / 3.0e5 / 20.0);
        let pulse = |count| Source::Pulse {
            low: 0.0,
            high: 1.0,
            delay: 2.0 * h,
            rise: 0.0,
            fall: 0.0,
            width: 7.0 * h,
            period,
            count,
        };
        let points =
            vec![(0.0, 0.0), (2.0 * h, 0.0), (2.0 * h, 1.0), (9.0 * h, 1.0), (9.0 * h, 0.0)];
        let points = points.into_iter().chain([(period, 0.0)]).collect();
        let lines = Source::PiecewiseLinear { points, repeat: Some(0.0), delay: 0.0 };
        for source in [pulse(None), pulse(Some(900)), lines] {
            for k in 0..20_000_u32 {
                let over = matches!(source, Source::Pulse { count: Some(_), .. }) && k >= 18_000;
                let on = f64::from(u8::from((2..9).contains(&(k % 20)) && !over));
                let t = f64::from(k) * h;
                for t in [t, t * (1.0 + f64::EPSILON), t * (1.0 - f64::EPSILON)] {
                    assert_eq!(source.value(t), on, "{source:?}: step {k}, {t:e}");
                    let line = source.line(t);
                    assert!(line.is_none_or(|line| line.value == on), "{line:?}: step {k}, {t:e}");
                }
            }
        }
    }

    /// Rates are those of the values.
    #[test]
    fn rates() {
        let sin = Source::Sin {
            offset: 1.0,
            amplitude: 2.0,
            frequency: 3.0,
            delay: 0.1,
            damping: 0.7,
            phase: 0.3,
        };
        let exp = Source::Exp {
            first: 1.0,
            second: 4.0,
            rise_delay: 0.2,
            rise_time: 0.5,
            fall_delay: 1.0,
            fall_time: 0.25,
        };
        for source in [sin, exp, ramp()] {
            for k in 0..40 {
                let (t, d) = (0.013 + 0.05 * f64::from(k), 1e-6);
                let slope = (source.value(t + d) - source.value(t - d)) / (2.0 * d);
                assert!((slope - source.rate(t)).abs() < 1e-5, "{source:?} at {t}");
            }
        }
    }
}
