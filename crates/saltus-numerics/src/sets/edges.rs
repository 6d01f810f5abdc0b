//! How far a pair is from the edges of its law: take-off, the onset of sliding, the corners of a graph.
//!
//! Away from them the law is a smooth system of equations, and a small change of `q` does not change which one.

use super::{Set, Step, norm};
use crate::NewtonFunction;

/// Distance of `(z, w)` from the nearest edge, in units of `z`; nothing for a set that does not know its edges.
pub(crate) fn distance(set: &Set, step: Step, z: &[f64], w: &[f64]) -> Option<f64> {
    let rho = step.normal;
    if let Some((lower, upper)) = set.bounds() {
        if lower == upper {
            return Some(f64::INFINITY);
        }
        let of = |(z, w): (&f64, &f64)| {
            let x = z - rho * w;
            (x - lower).abs().min((x - upper).abs())
        };
        return Some(z.iter().zip(w).map(of).fold(f64::INFINITY, f64::min));
    }
    match *set {
        Set::Graph(ref graph) => {
            let (points, x) = (graph.points(), z[0] - rho * w[0]);
            let corners = &points[1..points.len() - 1];
            let away = corners.iter().map(|&(w, z)| (x - (z - rho * w)).abs());
            Some(away.fold(f64::INFINITY, f64::min))
        }
        Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => {
            Some(disks(z, w, step, &[(1..z.len(), mu, step.tangent)]))
        }
        Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
            let (n, middle) = (z.len(), 1 + z.len() / 2);
            let parts = [(1..middle, mu, step.tangent), (middle..n, mu_r, step.rolling)];
            Some(disks(z, w, step, &parts))
        }
        Set::SecondOrder { mu } | Set::DruckerPrager { eta: mu, .. } => {
            // the cone and its polar cone
            let x_n = z[0] - rho * (w[0] + set.shift(w));
            let x = |i: usize| z[i] - rho * w[i];
            let t = (1..z.len()).map(|i| x(i) * x(i)).sum::<f64>().sqrt();
            if mu == 0.0 || z.len() == 1 {
                return Some(x_n.abs());
            }
            let nearest = (t - mu * x_n).abs().min((mu * t + x_n).abs());
            Some(nearest / (1.0 + mu * mu).sqrt())
        }
        Set::VonMises { sigma_y } => {
            let x = [0, 1, 2].map(|i| z[i] - rho * w[i]);
            let level = x[0] * x[0] + x[1] * x[1] - x[0] * x[1] + 3.0 * x[2] * x[2];
            Some((level.sqrt() - sigma_y).abs() / 3.0_f64.sqrt())
        }
        _ => None,
    }
}

/// The same for a normal part and disks: `|y_N|`, and where it is pressed `|‖y‖ − μ y_N|`, with `y = z − ρ w`.
fn disks(z: &[f64], w: &[f64], step: Step, parts: &[(std::ops::Range<usize>, f64, f64)]) -> f64 {
    let y_n = z[0] - step.normal * w[0];
    let mut nearest = y_n.abs();
    for (range, mu, rho) in parts {
        if y_n > 0.0 && *mu > 0.0 {
            let y: Vec<f64> = range.clone().map(|i| z[i] - rho * w[i]).collect();
            nearest = nearest.min((norm(&y) - mu * y_n).abs());
        }
    }
    nearest
}

/// The Jacobians of equations that stand for the law, away from its edges: `∂f/∂z` and `∂f/∂w`.
pub(crate) fn jacobian(
    set: &Set,
    step: Step,
    z: &[f64],
    w: &[f64],
    dz: &mut [f64],
    dw: &mut [f64],
) {
    let n = z.len();
    if let Set::DruckerPrager { eta, .. } = *set {
        let x = [0, 1, 2].map(|i| z[i] - step.normal * w[i]);
        if norm(&x[1..]) < eta * (x[0] - step.normal * set.shift(w)) {
            // inside of the cone: w + θ ‖w_T‖ e_N = 0 is w = 0, which has a derivative
            dz.fill(0.0);
            dw.fill(0.0);
            (0..n).for_each(|i| dw[i * n + i] = step.normal);
            return;
        }
    }
    let mut f = vec![0.0; n];
    set.newton_function(NewtonFunction::AlartCurnier, step, z, w, &mut f, dz, dw);
}
