//! A mode from the interior: where the almost complementary points lead.
//!
//! With slacks `a = z − l`, `b = u − z` and multipliers `λ`, `ν` for the finite bounds,
//!
//! ```text
//! W z + q = λ − ν,    a λ = μ,   b ν = μ,    a, b, λ, ν > 0                            (1)
//! (W + λ/a + ν/b) dz = −(W z + q) + μ/a − μ/b + second-order terms                     (2)
//! ```
//!
//! is followed by Newton's method as μ goes to zero (Mehrotra's predictor and corrector, one
//! factorization each round). For monotone `W` some twenty rounds lead to the middle of the
//! solution set, where each unknown shows on which side it stands, however degenerate the
//! problem; block pivoting from elsewhere may take hundreds of modes to find out.
//! Reference: Wright, *Primal-Dual Interior-Point Methods*, 1997, ch. 7 and 10.

use super::proximal::Engine;
use crate::Problem;
use crate::mode::Side;

/// Rounds before the path is given up.
const ROUNDS: usize = 60;
/// How close to the boundary a step may lead.
const FRACTION: f64 = 0.995;
/// μ, relative to its first value, at which the sides are clear.
const SMALL: f64 = 1e-20;

/// The slack and multiplier of one finite bound.
#[derive(Debug, Clone, Copy)]
struct Bound {
    index: usize,
    sign: f64, // slack = sign (z − bound)
    slack: f64,
    multiplier: f64,
    d_slack: f64,
    d_multiplier: f64,
}

/// Follows the path, from a point as large as `q` in the units `D`; leaves `z` and the mode
/// it shows. Returns the number of rounds, nothing where the path is lost.
pub(super) fn follow(
    problem: &Problem,
    engine: &mut Engine,
    unit: &[f64],
    z: &mut [f64],
    w: &mut [f64],
    mode: &mut [Side],
) -> Option<usize> {
    let n = problem.len();
    let mut size = 0.0f64;
    for (q, D) in problem.q().iter().zip(unit) {
        size = size.max(q.abs() / D.sqrt());
    }
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    let mut bounds = start(problem, unit, size, z);
    if bounds.is_empty() {
        return None;
    }
    let (mut step, mut theta) = (vec![0.0; n], vec![0.0; n]);
    let mut last = f64::INFINITY;
    for round in 1..=ROUNDS {
        engine.eval(problem, z, w);
        let mu = mean(&bounds, 0.0);
        // the rows of (1), in units of q
        let mut left = vec_minus_multipliers(w, &bounds);
        let mut worst = 0.0f64;
        for i in 0..n {
            if mode[i] == Side::Fixed {
                left[i] = 0.0;
            }
            worst = worst.max(left[i].abs() / unit[i].sqrt() / size);
        }
        if !(mu.is_finite() && worst.is_finite()) {
            return None;
        }
        let done = mu <= SMALL * size * size && worst <= 1e-10;
        let stalled = mu <= 1e-14 * size * size && mu > 0.5 * last;
        if done || stalled {
            show_sides(problem, &bounds, unit, mode);
            return Some(round);
        }
        last = mu;

        // predictor: straight for μ = 0
        theta.fill(0.0);
        for bound in &bounds {
            theta[bound.index] += bound.multiplier / bound.slack;
        }
        for (theta, D) in theta.iter_mut().zip(unit) {
            *theta += 1e-12 * D;
        }
        if !engine.factor(problem, &theta, |i| mode[i] != Side::Fixed) {
            return None;
        }
        direction(engine, &left, &mut bounds, &mut step, 0.0, false);
        let alpha = longest(&bounds, 1.0);
        let ratio = mean(&bounds, alpha) / mu;
        // corrector: towards the path, with what the predictor missed
        direction(engine, &left, &mut bounds, &mut step, mu * ratio.powi(3), true);
        let alpha = longest(&bounds, FRACTION);
        for (z, d) in z.iter_mut().zip(&step) {
            *z += alpha * d;
        }
        for bound in &mut bounds {
            bound.slack += alpha * bound.d_slack;
            bound.multiplier += alpha * bound.d_multiplier;
        }
    }
    None
}

/// Slacks and multipliers of one size in the units of the problem.
fn start(problem: &Problem, unit: &[f64], size: f64, z: &mut [f64]) -> Vec<Bound> {
    let mut bounds = Vec::with_capacity(2 * z.len());
    for i in 0..z.len() {
        let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
        let (far, multiplier) = (size / unit[i].sqrt(), size * unit[i].sqrt());
        z[i] = match (lower.is_finite(), upper.is_finite()) {
            (true, true) => lower + far.min(0.5 * (upper - lower)),
            (true, false) => lower + far,
            (false, true) => upper - far,
            (false, false) => 0.0,
        };
        if lower == upper {
            continue;
        }
        for (bound, sign) in [(lower, 1.0), (upper, -1.0)] {
            if bound.is_finite() {
                let slack = sign * (z[i] - bound);
                let (d_slack, d_multiplier) = (0.0, 0.0);
                bounds.push(Bound { index: i, sign, slack, multiplier, d_slack, d_multiplier });
            }
        }
    }
    bounds
}

/// `w − λ + ν`.
fn vec_minus_multipliers(w: &[f64], bounds: &[Bound]) -> Vec<f64> {
    let mut left = w.to_vec();
    for bound in bounds {
        left[bound.index] -= bound.sign * bound.multiplier;
    }
    left
}

/// Equation (2): the step to `a λ = target`, with the product of the last step taken off.
fn direction(
    engine: &mut Engine,
    left: &[f64],
    bounds: &mut [Bound],
    step: &mut [f64],
    target: f64,
    second_order: bool,
) {
    for (d, left) in step.iter_mut().zip(left) {
        *d = -left;
    }
    // dλ = (target − a λ − da dλ) / a − (λ / a) da,   da = ± dz
    for bound in bounds.iter_mut() {
        let product = if second_order { bound.d_slack * bound.d_multiplier } else { 0.0 };
        bound.d_multiplier = (target - product) / bound.slack - bound.multiplier;
        step[bound.index] += bound.sign * bound.d_multiplier;
    }
    engine.solve(step);
    for bound in bounds {
        bound.d_slack = bound.sign * step[bound.index];
        bound.d_multiplier -= bound.multiplier / bound.slack * bound.d_slack;
    }
}

/// The longest step, at most 1, that goes no further than this fraction of the way out.
fn longest(bounds: &[Bound], fraction: f64) -> f64 {
    let mut alpha = 1.0f64;
    for bound in bounds {
        for (x, d) in [(bound.slack, bound.d_slack), (bound.multiplier, bound.d_multiplier)] {
            if d < 0.0 {
                alpha = alpha.min(-fraction * x / d);
            }
        }
    }
    alpha
}

/// The mean of `a λ` after a step of that length.
fn mean(bounds: &[Bound], alpha: f64) -> f64 {
    let product =
        |b: &Bound| (b.slack + alpha * b.d_slack) * (b.multiplier + alpha * b.d_multiplier);
    bounds.iter().map(product).sum::<f64>() / bounds.len() as f64
}

/// An unknown stands at the bound whose multiplier is larger than its slack.
fn show_sides(problem: &Problem, bounds: &[Bound], unit: &[f64], mode: &mut [Side]) {
    for i in 0..mode.len() {
        let fixed = problem.lower()[i] == problem.upper()[i];
        mode[i] = if fixed { Side::Fixed } else { Side::Basic };
    }
    for bound in bounds {
        if bound.slack * unit[bound.index] < bound.multiplier {
            mode[bound.index] = if bound.sign > 0.0 { Side::Lower } else { Side::Upper };
        }
    }
}
