//! The functions of Alart and Curnier, and of Jean and Moreau, for contacts with friction, with or
//! without rolling.
//!
//! With steps `ρ` and `y = z − ρ w`, part by part:
//!
//! ```text
//! f_N = z_N − max(0, y_N)                     R = μ max(0, y_N)    Alart and Curnier
//! f_T = z_T − P_disk(R)(y_T)                  R = μ max(0, z_N)    Jean and Moreau          (1)
//!                                             the same for the rolling part
//! ```
//!
//! Both are zero exactly where Signorini's and Coulomb's laws hold (there `z_N` is `max(0, y_N)`), and need no
//! shift `φ`. The second one has no derivative of the friction in the normal velocity.
//! References: Alart, Curnier, *Comput. Methods Appl. Mech. Engrg.* 92 (1991) 353–375; Jean, Moreau,
//! *Dynamics in the presence of unilateral contacts and dry friction*, 1987.

use super::{Set, Step, norm};

/// Whose radius it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Radius {
    AlartCurnier,
    JeanMoreau,
}

impl Radius {
    /// The normal force that the radius is the share `μ` of.
    #[inline]
    fn of(self, z_n: f64, y_n: f64) -> f64 {
        match self {
            Radius::AlartCurnier => y_n.max(0.0),
            Radius::JeanMoreau => z_n.max(0.0),
        }
    }
}

/// A part of a block whose force lies in a disk.
#[derive(Debug, Clone, Copy)]
struct Disk {
    start: usize,
    size: usize,
    mu: f64,
    rho: f64,
}

/// The disks of a contact; the second is empty without rolling.
#[inline]
fn disks(set: &Set, step: Step) -> Option<[Disk; 2]> {
    let disk = |start, size, mu, rho| Disk { start, size, mu, rho };
    let none = disk(0, 0, 0.0, 1.0);
    match *set {
        Set::Coulomb2 { mu } => Some([disk(1, 1, mu, step.tangent), none]),
        Set::Coulomb3 { mu } => Some([disk(1, 2, mu, step.tangent), none]),
        Set::Rolling2 { mu, mu_r } => {
            Some([disk(1, 1, mu, step.tangent), disk(2, 1, mu_r, step.rolling)])
        }
        Set::Rolling3 { mu, mu_r } => {
            Some([disk(1, 2, mu, step.tangent), disk(3, 2, mu_r, step.rolling)])
        }
        _ => None,
    }
}

/// Equation (1); false for a set without disks.
#[inline]
pub(crate) fn value(
    whose: Radius,
    set: &Set,
    step: Step,
    z: &[f64],
    w: &[f64],
    f: &mut [f64],
) -> bool {
    let Some(disks) = disks(set, step) else { return false };
    let y_n = z[0] - step.normal * w[0];
    let force = whose.of(z[0], y_n);
    f[0] = if y_n > 0.0 { step.normal * w[0] } else { z[0] + 0.0 * y_n };
    for Disk { start, size, mu, rho } in disks {
        let radius = mu * force;
        let y = tangent(z, w, start, size, rho);
        let length = norm(&y[..size]);
        for i in 0..size {
            f[start + i] = if length <= radius {
                rho * w[start + i]
            } else {
                z[start + i] - radius * y[i] / length
            };
        }
    }
    true
}

/// Equation (1) and its generalized Jacobians `∂f/∂z`, `∂f/∂w`, row by row; false for a set
/// without disks.
#[inline]
#[allow(clippy::too_many_arguments, reason = "a pair, a function, its two Jacobians")]
pub(crate) fn function(
    whose: Radius,
    set: &Set,
    step: Step,
    z: &[f64],
    w: &[f64],
    f: &mut [f64],
    dz: &mut [f64],
    dw: &mut [f64],
) -> bool {
    let Some(disks) = disks(set, step) else { return false };
    let n = z.len();
    dz.fill(0.0);
    dw.fill(0.0);
    let y_n = z[0] - step.normal * w[0];
    if y_n > 0.0 {
        (f[0], dw[0]) = (step.normal * w[0], step.normal);
    } else {
        (f[0], dz[0]) = (z[0] + 0.0 * y_n, 1.0);
    }
    let force = whose.of(z[0], y_n);
    let pressed = force > 0.0;
    for Disk { start, size, mu, rho } in disks {
        let radius = mu * force;
        let y = tangent(z, w, start, size, rho);
        let length = norm(&y[..size]);
        for i in 0..size {
            let row = (start + i) * n;
            if length <= radius && pressed {
                f[start + i] = rho * w[start + i];
                dw[row + start + i] = rho;
                continue;
            }
            // ∂(R d) = d ∂R + R/‖y‖ (I − d dᵀ) ∂y,   ∂R = μ (∂z_N − ρ_N ∂w_N) where pressed, for
            // Jean and Moreau μ ∂z_N
            let d_i = if length > 0.0 { y[i] / length } else { 0.0 };
            f[start + i] = z[start + i] - radius * d_i;
            if pressed {
                dz[row] = -mu * d_i;
                if whose == Radius::AlartCurnier {
                    dw[row] = mu * d_i * step.normal;
                }
            }
            let turn = if length > 0.0 { radius / length } else { 0.0 };
            for j in 0..size {
                let d_j = if length > 0.0 { y[j] / length } else { 0.0 };
                let p = turn * (f64::from(i == j) - d_i * d_j);
                dz[row + start + j] = f64::from(i == j) - p;
                dw[row + start + j] = rho * p;
            }
        }
    }
    true
}

/// `y = z − ρ w` of a part.
#[inline]
fn tangent(z: &[f64], w: &[f64], start: usize, size: usize, rho: f64) -> [f64; 2] {
    let mut y = [0.0; 2];
    for i in 0..size {
        y[i] = z[start + i] - rho * w[start + i];
    }
    y
}
