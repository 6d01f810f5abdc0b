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
