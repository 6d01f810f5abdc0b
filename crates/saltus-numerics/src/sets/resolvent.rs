//! The resolvent of each law: the point of the law with a given `x = z − ρ w`.
//!
//! ```text
//! (z, w) obeys the law of the block,     z − ρ w = x                                        (1)
//! ```
//!
//! with a step `ρ` for each part of the block. A law of a convex set gives its projection; for
//! friction no shift is needed, as the normal part can be taken first:
//!
//! ```text
//! z_N = max(0, x_N),     z_T = P_disk(μ z_N)(x_T),     the same for the rolling part        (2)
//! ```
//!
//! On a cone of aperture `η` with dilatancy `θ` (`κ = η − θ`: Coulomb 0, convex `η`) slip has
//! `z = r (1, η d)`, `w = λ (κ, −d)` for the direction `d` of `x_T`, and (1) gives
//!
//! ```text
//! λ = (‖x_T‖ − η x_N)/(ρ_T + η κ ρ_N),     r = x_N + κ ρ_N λ                                 (3)
//! ```

use super::{Set, Step, norm};

impl Set {
    /// `x ←` the `z` of equation (1). A NaN stays one.
    #[inline]
    pub(crate) fn resolve(&self, step: Step, x: &mut [f64]) {
        match *self {
            Set::Coulomb2 { mu } => {
                x[0] = positive(x[0]);
                into_disk(mu * x[0], &mut x[1..]);
            }
            Set::Coulomb3 { mu } => {
                x[0] = positive(x[0]);
                into_disk(mu * x[0], &mut x[1..]);
            }
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                x[0] = positive(x[0]);
                let (normal, half) = (x[0], x.len() / 2);
                let (tangent, rolling) = x[1..].split_at_mut(half);
                into_disk(mu * normal, tangent);
                into_disk(mu_r * normal, rolling);
            }
            Set::SecondOrder { mu } => cone(mu, mu, step, x),
            Set::DruckerPrager { eta, theta } => cone(eta, eta - theta, step, x),
            _ => {
                self.project(step.normal, x);
            }
        }
    }
}

/// `max(0, x)`. A NaN stays one.
#[inline]
fn positive(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

/// The closest point of a disk around zero.
#[inline]
fn into_disk(radius: f64, x: &mut [f64]) {
    let length = norm(x);
    if length > radius {
        x.iter_mut().for_each(|x| *x *= radius / length);
    }
}

/// Stick, slip by equation (3), or take-off.
fn cone(eta: f64, kappa: f64, step: Step, x: &mut [f64]) {
    let length = norm(&x[1..]);
    let outside = length - eta * x[0];
    if outside <= 0.0 {
        return;
    }
    let lambda = outside / (step.tangent + eta * kappa * step.normal);
    let r = x[0] + kappa * step.normal * lambda;
    if lambda <= 0.0 || r <= 0.0 {
        x.fill(0.0);
        return;
    }
    x[0] = r;
    x[1..].iter_mut().for_each(|x| *x *= eta * r / length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use std::sync::Arc;

    /// Whatever the steps, the pair obeys the law.
    #[test]
    fn obeys_the_law() {
        let relay = Graph::new(&[(-1.0, 1.0), (0.0, 1.0), (0.0, -1.0), (1.0, -1.0)]).unwrap();
        let sets = [
            (Set::Free, 1),
            (Set::Nonnegative, 1),
            (Set::Interval { lower: -0.5, upper: 0.25 }, 1),
            (Set::Graph(Arc::new(relay)), 1),
            (Set::Coulomb2 { mu: 0.4 }, 2),
            (Set::Coulomb3 { mu: 0.7 }, 3),
            (Set::Rolling2 { mu: 0.4, mu_r: 0.1 }, 3),
            (Set::Rolling3 { mu: 0.4, mu_r: 0.2 }, 5),
            (Set::SecondOrder { mu: 0.8 }, 3),
            (Set::SecondOrder { mu: 0.8 }, 7),
            (Set::DruckerPrager { eta: 0.9, theta: 0.3 }, 3),
            (Set::VonMises { sigma_y: 1.0 }, 3),
        ];
        for (set, n) in sets {
            for case in 0..200 {
                let x: Vec<f64> =
                    (0..n).map(|i| 2.0 * ((17 * case + 5 * i + 1) as f64).sin()).collect();
                let step = if set.bounds().is_some() || matches!(set, Set::VonMises { .. }) {
                    Step { normal: 0.7, tangent: 0.7, rolling: 0.7 }
                } else {
                    Step { normal: 0.7, tangent: 0.3, rolling: 1.9 }
                };
                let mut z = x.clone();
                set.resolve(step, &mut z);
                let w: Vec<f64> =
                    (0..n).map(|i| (z[i] - x[i]) / step.of_component(&set, i, n)).collect();
                let mut f = vec![0.0; n];
                set.natural_map(1.0, &z, &w, &mut f);
                assert!(norm(&f) < 1e-12, "{set:?} at {x:?}: {z:?} {w:?} {f:?}");
            }
        }
    }
}
