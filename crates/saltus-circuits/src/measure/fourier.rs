//! Fourier coefficients over the last period of a run.
//!
//! ```text
//! y(t) ≈ a₀ + Σ m_k sin(2π k f t + φ_k),     a₀ + j… from  c_k = f ∫ y(t) e^(−2πj k f t) dt  over one period
//! m_k = 2 |c_k|,     φ_k = arg(2j c_k),     THD = √(Σ_{k ≥ 2} m_k²)/m₁
//! ```
//!
//! The integrals are exact for straight lines between points. With `θ = ω h/2` on a piece of length `h` around `t`, of
//! mean `m` and rise `d`,  `∫ y e^(−jωt) = h e^(−jωt) (m sin θ/θ − j (d/2) (sin θ − θ cos θ)/θ²)`.

use std::collections::HashMap;
use std::f64::consts::TAU;

use super::{MeasureError, ROUNDING, Signal, Waves, interval, pieces, samples};

/// Harmonics that are computed.
const HARMONICS: usize = 9;

/// A request for Fourier coefficients: `.four frequency signal …`
#[derive(Debug, Clone, PartialEq)]
pub struct Fourier {
    /// The fundamental frequency in hertz.
    pub frequency: f64,
    /// Of what.
    pub signals: Vec<Signal>,
}

/// One harmonic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonic {
    /// Its frequency in hertz.
    pub frequency: f64,
    /// `m_k`.
    pub magnitude: f64,
    /// `φ_k` in degrees: that of a sine that counts from time 0.
    pub phase: f64,
}

/// The coefficients of a signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// The signal.
    pub signal: String,
    /// `a₀`.
    pub mean: f64,
    /// Harmonics 1 to 9.
    pub harmonics: Vec<Harmonic>,
    /// Total harmonic distortion, 1 being as much as the first harmonic.
    pub distortion: f64,
}

impl Fourier {
    /// The coefficients of every signal.
    pub fn spectra(&self, waves: &impl Waves) -> Vec<Result<Spectrum, MeasureError>> {
        self.signals.iter().map(|signal| spectrum(self.frequency, signal, waves)).collect()
    }
}

fn spectrum(frequency: f64, signal: &Signal, waves: &impl Waves) -> Result<Spectrum, MeasureError> {
    if !(frequency > 0.0 && frequency.is_finite()) {
        return Err(MeasureError::Frequency { frequency });
    }
    let times = waves.times();
    let values = samples(signal, waves, &HashMap::new())?;
    let (start, end) = (times[0], times[times.len() - 1]);
    let from = end - 1.0 / frequency;
    // a run may miss the beginning of its last period by rounding
    let slack = ROUNDING * (end - start);
    if from < start - slack {
        return Err(MeasureError::EmptyInterval { from, to: end, start, end });
    }
    let (from, to) = interval(times, from, end)?;

    let mut mean = 0.0;
    let mut sums = [(0.0, 0.0); HARMONICS];
    for piece in pieces(times, &values, from, to) {
        let h = piece.end.0 - piece.start.0;
        let middle = piece.start.0 + h / 2.0;
        let (m, d) = ((piece.start.1 + piece.end.1) / 2.0, piece.end.1 - piece.start.1);
        mean += h * m;
        for (k, sum) in sums.iter_mut().enumerate() {
            let omega = TAU * frequency * (k + 1) as f64;
            let theta = omega * h / 2.0;
            let (a, b) = (m * even(theta), d / 2.0 * odd(theta)); // a − j b
            let (sin, cos) = (omega * middle).sin_cos(); //          times cos − j sin
            sum.0 += h * (a * cos - b * sin);
            sum.1 -= h * (a * sin + b * cos);
        }
    }
    let length = to - from;
    let harmonics: Vec<Harmonic> = (sums.iter().enumerate())
        .map(|(k, (re, im))| Harmonic {
            frequency: frequency * (k + 1) as f64,
            magnitude: 2.0 * re.hypot(*im) / length,
            phase: re.atan2(-im).to_degrees(), // of j c = −im + j re
        })
        .collect();
    let others = harmonics[1..].iter().map(|harmonic| harmonic.magnitude.powi(2)).sum::<f64>();
    Ok(Spectrum {
        signal: signal.text.clone(),
        mean: mean / length,
        distortion: others.sqrt() / harmonics[0].magnitude,
        harmonics,
    })
}

/// `sin θ/θ`
fn even(theta: f64) -> f64 {
    if theta.abs() < 1e-4 { 1.0 - theta * theta / 6.0 } else { theta.sin() / theta }
}

/// `(sin θ − θ cos θ)/θ²`
fn odd(theta: f64) -> f64 {
    match theta.abs() < 1e-2 {
        true => theta / 3.0 * (1.0 - theta * theta / 10.0),
        false => (theta.sin() - theta * theta.cos()) / (theta * theta),
    }
}
