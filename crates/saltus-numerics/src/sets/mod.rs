//! The sets of the laws: what a block's pair `(z, w)` satisfies.
//!
//! ```text
//! −(w + φ(w) e_N) ∈ N_K(z)   ⟺   z = P_K(z − ρ (w + φ(w) e_N))   for any ρ > 0          (1)
//! ```
//!
//! | set | `K` | `φ(w)` | law |
//! | --- | --- | --- | --- |
//! | `Free` | `R` | 0 | `w = 0` |
//! | `Nonnegative` | `R₊` | 0 | `0 ≤ w ⟂ z ≥ 0` |
//! | `Interval` | `[l, u]` | 0 | `z = l` where `w > 0`, `z = u` where `w < 0`, between them `w = 0` |
//! | `Graph` | a monotone graph in place of `N_K` | 0 | `(w, z)` on the graph |
//! | `SecondOrder` | `‖z_T‖ ≤ μ z_N` | 0 | convex cone |
//! | `Coulomb2`, `Coulomb3` | `‖z_T‖ ≤ μ z_N` | `μ ‖w_T‖` | Signorini and Coulomb |
//! | `Rolling2`, `Rolling3` | and `‖z_R‖ ≤ μ_r z_N` | `μ ‖w_T‖ + μ_r ‖w_R‖` | with rolling resistance |
//! | `DruckerPrager` | `‖z_T‖ ≤ η z_N` | `θ ‖w_T‖` | plastic flow with dilatancy |
//! | `VonMises` | `z₁² + z₂² − z₁z₂ + 3 z₃² ≤ σ²` | 0 | plastic flow in plane stress |
//! | `User` | any convex set whose projection is known | 0 | the user's own |
//!
//! Each set knows its projection, the Jacobian of its natural map, the solution of its one-block
//! problem, and its share of the residual; that is all a method asks. The shift `φ` (De Saxcé)
//! turns Signorini's and Coulomb's laws into one cone complementarity. Friction blocks have the
//! normal component first. Boxes (the first three) may have any size, and act component by
//! component.

mod block;
pub(crate) mod cone;
mod disks;
pub(crate) mod edges;
mod ellipse;
pub(crate) mod fischer_burmeister;
mod functions;
mod graph;
mod iterate;
mod long_cone;
mod resolvent;
mod rolling;
mod rolling_block;
pub(crate) mod slip;
mod user;
pub(crate) mod visit;

pub(crate) use block::eliminate;
pub(crate) use functions::Step;
pub use graph::{Graph, GraphError};
pub use user::{SharedSet, UserSet};

use std::sync::Arc;

/// The set of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Set {
    /// `w = 0`, `z` free: equalities.
    Free,
    /// `0 ≤ w ⟂ z ≥ 0`: complementarity.
    Nonnegative,
    /// `−w ∈ N_[lower, upper](z)`: relays, saturation, bounds. With `lower = upper` the
    /// unknown is fixed and `w` arbitrary.
    Interval {
        /// Least value of `z`; may be −∞.
        lower: f64,
        /// Largest value of `z`; may be +∞.
        upper: f64,
    },
    /// `(w, z)` on a filled-in monotone piecewise linear graph.
    Graph(Arc<Graph>),
    /// Contact with friction in the plane: normal, tangent.
    Coulomb2 {
        /// Friction coefficient.
        mu: f64,
    },
    /// Contact with friction in space: normal, two tangents.
    Coulomb3 {
        /// Friction coefficient.
        mu: f64,
    },
    /// Friction and rolling resistance in the plane: normal, tangent, rolling moment.
    Rolling2 {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling resistance, a length.
        mu_r: f64,
    },
    /// Friction and rolling resistance in space: normal, two tangents, two rolling moments.
    Rolling3 {
        /// Friction coefficient.
        mu: f64,
        /// Coefficient of rolling resistance, a length.
        mu_r: f64,
    },
    /// `{ z : ‖z_T‖ ≤ mu z_N }` with its dual cone, of any size: the associated law.
    SecondOrder {
        /// Aperture.
        mu: f64,
    },
    /// The cone of aperture `eta` with dilatancy: `theta = eta` is `Coulomb3`, `theta = 0` is
    /// `SecondOrder`. Three components, the mean stress first.
    DruckerPrager {
        /// Aperture.
        eta: f64,
        /// Share of the tangential flow that is taken from the normal one.
        theta: f64,
    },
    /// Von Mises' ellipsoid in plane stress: two normal stresses and the shear stress.
    VonMises {
        /// Yield stress.
        sigma_y: f64,
    },
    /// `−w ∈ N_K(z)` with a convex set of the user's own.
    User(SharedSet),
}

/// Most components of a block other than boxes and `SecondOrder`.
pub const LARGEST_BLOCK: usize = 5;

impl Set {
    /// A set of the user's own.
    pub fn user(set: impl UserSet + 'static) -> Set {
        Set::User(SharedSet(Arc::new(set)))
    }

    /// The bounds of each component, for a box.
    #[inline]
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Set::Free => Some((f64::NEG_INFINITY, f64::INFINITY)),
            Set::Nonnegative => Some((0.0, f64::INFINITY)),
            Set::Interval { lower, upper } => Some((lower, upper)),
            _ => None,
        }
    }

    /// The name, as messages write it.
    pub fn name(&self) -> &'static str {
        match self {
            Set::Free => "Free",
            Set::Nonnegative => "Nonnegative",
            Set::Interval { .. } => "Interval",
            Set::Graph(_) => "Graph",
            Set::Coulomb2 { .. } => "Coulomb2",
            Set::Coulomb3 { .. } => "Coulomb3",
            Set::Rolling2 { .. } => "Rolling2",
            Set::Rolling3 { .. } => "Rolling3",
            Set::SecondOrder { .. } => "SecondOrder",
            Set::DruckerPrager { .. } => "DruckerPrager",
            Set::VonMises { .. } => "VonMises",
            Set::User(_) => "User",
        }
    }

    /// The number of components that a block must have, where the set says so.
    pub fn size(&self) -> Option<usize> {
        match self {
            Set::Free | Set::Nonnegative | Set::Interval { .. } | Set::SecondOrder { .. } => None,
            Set::Graph(_) => Some(1),
            Set::Coulomb2 { .. } => Some(2),
            Set::Coulomb3 { .. } | Set::Rolling2 { .. } => Some(3),
            Set::DruckerPrager { .. } | Set::VonMises { .. } => Some(3),
            Set::Rolling3 { .. } => Some(5),
            Set::User(set) => Some(set.0.size()),
        }
    }

    /// Whether the law is friction, whose blocks are contacts.
    pub fn is_contact(&self) -> bool {
        use Set::*;
        matches!(self, Coulomb2 { .. } | Coulomb3 { .. } | Rolling2 { .. } | Rolling3 { .. })
    }

    /// Whether the law is one of a convex set or a monotone graph: no shift `φ`.
    pub fn is_monotone(&self) -> bool {
        match *self {
            Set::DruckerPrager { theta, .. } => theta == 0.0,
            ref set => !set.is_contact(),
        }
    }

    /// The first parameter that makes no sense: its name and value.
    pub(crate) fn wrong_parameter(&self) -> Option<(&'static str, f64)> {
        let parameters: [(&'static str, f64); 2] = match *self {
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => {
                [("mu", mu), ("", 0.0)]
            }
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => [("mu", mu), ("mu_r", mu_r)],
            Set::DruckerPrager { eta, theta } => [("eta", eta), ("theta", theta)],
            Set::VonMises { sigma_y } => [("sigma_y", sigma_y), ("", 0.0)],
            Set::Free | Set::Nonnegative | Set::Interval { .. } => return None,
            Set::Graph(_) | Set::User(_) => return None,
        };
        parameters.into_iter().find(|(_, value)| !(*value >= 0.0 && value.is_finite()))
    }

    /// `φ(w)`, what the law adds to the normal component of `w`.
    #[inline]
    pub fn shift(&self, w: &[f64]) -> f64 {
        match *self {
            Set::Coulomb2 { mu } => mu * w[1].abs(),
            Set::Coulomb3 { mu } => mu * norm(&w[1..]),
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                let (tangent, rolling) = w[1..].split_at(w.len() / 2);
                mu * norm(tangent) + mu_r * norm(rolling)
            }
            Set::DruckerPrager { theta, .. } => theta * norm(&w[1..]),
            _ => 0.0,
        }
    }

    /// How fast a contact closes, `max(0, −w_N)`; nothing for other laws. At `z = 0` the natural map with its shift
    /// is only `|w_N| / √(1 + μ²)`.
    #[inline]
    pub(crate) fn approach(&self, w: &[f64]) -> f64 {
        match self {
            Set::Coulomb2 { .. }
            | Set::Coulomb3 { .. }
            | Set::Rolling2 { .. }
            | Set::Rolling3 { .. } => (-w[0]).max(0.0),
            _ => 0.0,
        }
    }

    /// `x ← P_K(x)`; for a graph its resolvent, the `z` with `x = z − ρ w` on it. A NaN stays one.
    #[inline]
    pub fn project(&self, rho: f64, x: &mut [f64]) -> Place {
        match self {
            Set::Free => Place::Inside,
            Set::Nonnegative | Set::Interval { .. } => {
                let (lower, upper) = self.bounds().unwrap_or_default();
                x.iter_mut().for_each(|x| *x = clamp(*x, lower, upper));
                Place::Surface
            }
            Set::Graph(graph) => {
                x[0] = graph.resolve(rho, x[0]).z;
                Place::Surface
            }
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => {
                cone::project(*mu, x)
            }
            Set::DruckerPrager { eta, .. } => cone::project(*eta, x),
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                rolling::project(*mu, *mu_r, x).place()
            }
            Set::VonMises { sigma_y } => ellipse::project(*sigma_y, x),
            Set::User(set) => set.project(x),
        }
    }

    /// The natural map, zero at a solution: `f ← z − P_K(z − ρ (w + φ(w) e_N))`.
    pub fn natural_map(&self, rho: f64, z: &[f64], w: &[f64], f: &mut [f64]) {
        if let Some((lower, upper)) = self.bounds() {
            for i in 0..z.len() {
                f[i] = natural(z[i], rho * w[i], lower, upper);
            }
            return;
        }
        natural_map_by(rho, z, w, self.shift(w), f, |x| self.project(rho, x));
    }

    /// The generalized Jacobian of the natural map: `∂f/∂z` and `∂f/∂w`, row by row.
    pub fn natural_jacobian(&self, rho: f64, z: &[f64], w: &[f64], dz: &mut [f64], dw: &mut [f64]) {
        let n = z.len();
        if let Some((lower, upper)) = self.bounds() {
            dz.fill(0.0);
            dw.fill(0.0);
            for i in 0..n {
                let x = z[i] - rho * w[i];
                let inside = x > lower && x < upper;
                dz[i * n + i] = f64::from(!inside);
                dw[i * n + i] = if inside { rho } else { 0.0 };
            }
            return;
        }
        if let Set::Graph(graph) = self {
            let slope = graph.resolve(rho, z[0] - rho * w[0]).slope;
            (dz[0], dw[0]) = (1.0 - slope, rho * slope);
            return;
        }
        // x = z − ρ (w + φ(w) e_N);   ∂f/∂z = I − P′(x),   ∂f/∂w = ρ P′(x) (I + e_N φ′ᵀ)
        let x = &mut dw[..n];
        for i in 0..n {
            x[i] = z[i] - rho * w[i];
        }
        x[0] -= rho * self.shift(w);
        self.projection_jacobian(x, dz);
        for i in 0..n {
            let normal = dz[i * n];
            for j in 0..n {
                dw[i * n + j] = rho * (dz[i * n + j] + normal * self.shift_derivative(w, j));
            }
        }
        for i in 0..n {
            for j in 0..n {
                dz[i * n + j] = f64::from(i == j) - dz[i * n + j];
            }
        }
    }

    /// `P_K′(x)`, row by row, for a set that is neither box nor graph.
    fn projection_jacobian(&self, x: &[f64], p: &mut [f64]) {
        match *self {
            Set::User(ref set) => set.0.jacobian(x, p),
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => {
                cone::jacobian(mu, x, p);
            }
            Set::DruckerPrager { eta, .. } => cone::jacobian(eta, x, p),
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                rolling::jacobian(mu, mu_r, x, p);
            }
            Set::VonMises { sigma_y } => ellipse::jacobian(sigma_y, x, p),
            Set::Free | Set::Nonnegative | Set::Interval { .. } | Set::Graph(_) => {
                unreachable!("boxes and graphs have closed forms of their own")
            }
        }
    }

    /// `∂φ/∂wⱼ`; zero where `φ` has a kink.
    #[inline]
    fn shift_derivative(&self, w: &[f64], j: usize) -> f64 {
        let along = |mu: f64, part: &[f64], j: usize| {
            let norm = norm(part);
            if norm > 0.0 { mu * part[j] / norm } else { 0.0 }
        };
        if j == 0 {
            return 0.0;
        }
        match *self {
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => along(mu, &w[1..], j - 1),
            Set::DruckerPrager { theta, .. } => along(theta, &w[1..], j - 1),
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                let half = w.len() / 2;
                let (tangent, rolling) = w[1..].split_at(half);
                if j <= half {
                    along(mu, tangent, j - 1)
                } else {
                    along(mu_r, rolling, j - 1 - half)
                }
            }
            _ => 0.0,
        }
    }

    /// Solves the problem of one block, `w = W z + b` with (1), from the guess in `z`.
    ///
    /// `W` is row by row and need not be symmetric. Returns whether the law holds to round-off;
    /// where it does not, `z` is the best that was found.
    #[inline]
    pub fn solve_block(&self, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
        block::solve(self, W, b, z)
    }
}

/// Where a point was before its projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the set: the projection changed nothing.
    Inside,
    /// Projected onto the surface.
    Surface,
    /// Projected onto the cone's apex, zero.
    Apex,
}

/// The natural map of one component of a box. Where `z − w` is inside, `z − (z − w)` is `w`,
/// and is written so: beside a large `z` the difference would lose a `w` that is wrong.
#[inline(always)]
pub(crate) fn natural(z: f64, w: f64, lower: f64, upper: f64) -> f64 {
    // the middle one of z − u, w and z − l; comparisons that a NaN in w passes, and one in z does not
    let (below, above) = (z - lower, z - upper);
    let least = if below < w { below } else { w };
    let middle = if above > least { above } else { least };
    middle + 0.0 * z
}

/// `f ← z − P(z − ρ (w + φ e_N))` with the shift `φ`.
#[inline(always)]
pub(crate) fn natural_map_by(
    rho: f64,
    z: &[f64],
    w: &[f64],
    shift: f64,
    f: &mut [f64],
    project: impl FnOnce(&mut [f64]) -> Place,
) {
    for i in 0..z.len() {
        f[i] = z[i] - rho * w[i];
    }
    f[0] -= rho * shift;
    let finite = 0.0 * f.iter().sum::<f64>(); // NaN unless all are finite
    match project(f) {
        // z − (z − ρ w) is written as what it is, lest a large z hide it
        Place::Inside => {
            for i in 0..z.len() {
                f[i] = rho * w[i] + finite;
            }
            f[0] += rho * shift;
        }
        Place::Apex => f.iter_mut().zip(z).for_each(|(f, z)| *f = z + finite),
        Place::Surface => f.iter_mut().zip(z).for_each(|(f, z)| *f = z - *f),
    }
}

/// The point of `[lower, upper]` closest to `z`. A NaN stays one.
#[inline]
pub(crate) fn clamp(z: f64, lower: f64, upper: f64) -> f64 {
    if z < lower {
        lower
    } else if z > upper {
        upper
    } else {
        z
    }
}

/// `‖x‖`, without a root where there is one component.
#[inline]
pub(crate) fn norm(x: &[f64]) -> f64 {
    match *x {
        [] => 0.0,
        [x] => x.abs(),
        [x, y] => (x * x + y * y).sqrt(),
        _ => saltus_linalg::vector::norm2(x),
    }
}
