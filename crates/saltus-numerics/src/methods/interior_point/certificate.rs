//! A proof that a problem has no solution.
//!
//! ```text
//! dᵀ w ≥ 0 for every w that the laws allow,      dᵀ q + sup { (Wᵀ d)ᵀ z : z ∈ K } < 0             (1)
//! ```
//!
//! Such a `d` leaves no solution, since `dᵀ w = dᵀ q + (Wᵀ d)ᵀ z` for all of them (Farkas). The
//! first part means `d ∈ K` for a cone without a shift, `d_N ≥ 0 = d_T` for friction, the sign of
//! the one bound of an unknown, and zero for one with two. Iterates that run away have the
//! direction of such a `d`. What is zero is so up to round-off.

use crate::sets::norm;
use crate::{Operator, Problem, Set};

/// Round-off, relative to the terms of a sum.
const ZERO: f64 = 1e-11;
/// What (1) must fall short of, relative to its terms.
const GAP: f64 = 1e-6;

/// Whether the direction `d` proves (1); changes it to the closest one of the right signs.
pub fn proves(problem: &Problem, d: &mut [f64], p: &mut [f64], size: &mut [f64]) -> bool {
    admit(problem, d);
    if !times_transposed(problem.matrix(), d, p, size) {
        return false;
    }
    let (mut sum, mut terms) = (0.0, 0.0);
    let mut add = |value: f64| {
        sum += value;
        terms += value.abs();
    };
    d.iter().zip(problem.q()).for_each(|(d, q)| add(d * q));
    let mut bounded = true;
    problem.for_each_block(|start, set, width| {
        let (p, size) = (&p[start..start + width], &size[start..start + width]);
        let nothing = ZERO * size.iter().fold(0.0_f64, |m, s| m.max(*s));
        if let Some((lower, upper)) = set.bounds() {
            match p[0] {
                p if p.abs() <= nothing && !(lower.is_finite() && upper.is_finite()) => {}
                p if p > 0.0 && upper.is_finite() => add(p * upper),
                p if p < 0.0 && lower.is_finite() => add(p * lower),
                p => bounded &= p == 0.0,
            }
            return;
        }
        // −p in the dual cone: μ ‖p_T‖ + … ≤ −p_N
        let most = match *set {
            Set::SecondOrder { mu } | Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => {
                mu * norm(&p[1..])
            }
            Set::DruckerPrager { eta, .. } => eta * norm(&p[1..]),
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                let (tangent, rolling) = p[1..].split_at(width / 2);
                mu * norm(tangent) + mu_r * norm(rolling)
            }
            _ => f64::INFINITY,
        };
        bounded &= p[0] + most <= nothing;
    });
    bounded && sum < -GAP * terms && sum.is_finite()
}

/// The closest direction for which the first part of (1) holds.
fn admit(problem: &Problem, d: &mut [f64]) {
    problem.for_each_block(|start, set, width| {
        let d = &mut d[start..start + width];
        match *set {
            Set::SecondOrder { .. } => {
                set.project(1.0, d);
            }
            Set::DruckerPrager { eta, theta } if theta > eta => d.fill(0.0),
            _ => match set.bounds() {
                Some((lower, upper)) => match (lower.is_finite(), upper.is_finite()) {
                    (true, true) => d[0] = 0.0,
                    (true, false) => d[0] = d[0].max(0.0),
                    (false, true) => d[0] = d[0].min(0.0),
                    (false, false) => {}
                },
                None => {
                    d[0] = d[0].max(0.0);
                    d[1..].fill(0.0);
                }
            },
        }
    });
}

/// `p ← Wᵀ d` and the sizes of its terms, for a matrix.
fn times_transposed(W: &Operator, d: &[f64], p: &mut [f64], size: &mut [f64]) -> bool {
    p.fill(0.0);
    size.fill(0.0);
    let mut add = |i: usize, j: usize, value: f64| {
        p[j] += value * d[i];
        size[j] += (value * d[i]).abs();
    };
    match W {
        Operator::Dense(W) => {
            for i in 0..d.len() {
                W.row(i).iter().enumerate().for_each(|(j, &value)| add(i, j, value));
            }
        }
        Operator::Sparse(W) => W.iter().for_each(|(i, j, value)| add(i, j, value)),
        Operator::Global(_) | Operator::Function(_) => return false,
    }
    true
}
