//! The problem of one block, `w = W z + b` with its law, solved to round-off.
//!
//! | set | how |
//! | --- | --- |
//! | boxes | one unknown in closed form; several (never inside a method) by principal pivoting |
//! | `Graph` | the point where the line meets the graph |
//! | cones of 2 and 3 components | take-off, stick, slip in turn; slip in space by a scalar root (see `slip`) |
//! | `Rolling2` | the nine cases of stick and slip |
//! | `Rolling3` | take-off, both stick, one of them slips, both slip (see `rolling_block`) |
//! | `VonMises` | elastic, or the multiplier of the yield surface by a scalar root |
//! | longer cones | take-off, stick, or the surface by Newton's method (see `long_cone`) |
//! | what is degenerate, and `User` | see `iterate` |

use super::iterate::{ACCEPTED, error, iterate};
use super::long_cone::long_cone;
use super::rolling_block::rolling3;
use super::slip::Slip;
use super::{Set, clamp, ellipse, norm};

/// See [`Set::solve_block`].
#[inline]
pub(crate) fn solve(set: &Set, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let done = match *set {
        Set::Coulomb3 { mu } => cone3(mu, mu, W, b, z),
        Set::Coulomb2 { mu } => cone2(mu, mu, W, b, z),
        Set::DruckerPrager { eta, theta } => cone3(eta, theta, W, b, z),
        Set::SecondOrder { mu } if z.len() == 3 => cone3(mu, 0.0, W, b, z),
        Set::SecondOrder { mu } if z.len() == 2 => cone2(mu, 0.0, W, b, z),
        Set::SecondOrder { .. } if z.len() == 1 => bounded(W[0], b[0], 0.0, f64::INFINITY, z),
        Set::SecondOrder { mu } => long_cone(mu, W, b, z),
        Set::Rolling2 { mu, mu_r } => rolling2(set, mu, mu_r, W, b, z),
        Set::Rolling3 { mu, mu_r } => rolling3(set, mu, mu_r, W, b, z),
        Set::VonMises { sigma_y } => yields(set, sigma_y, W, b, z),
        Set::Graph(ref graph) => match graph.meet(W[0], b[0], z[0]) {
            Some(meet) => {
                z[0] = meet;
                true
            }
            None => false,
        },
        Set::Free | Set::Nonnegative | Set::Interval { .. } if z.len() == 1 => {
            let (lower, upper) = set.bounds().unwrap_or_default();
            bounded(W[0], b[0], lower, upper, z)
        }
        Set::Free | Set::Nonnegative | Set::Interval { .. } => {
            let (lower, upper) = set.bounds().unwrap_or_default();
            pivots(W, b, lower, upper, z)
        }
        Set::User(_) => false,
    };
    done || iterate(set, W, b, z)
}

/// One unknown between bounds.
#[inline]
fn bounded(W: f64, b: f64, lower: f64, upper: f64, z: &mut [f64]) -> bool {
    if W > 0.0 {
        z[0] = clamp(-b / W, lower, upper);
        return z[0].is_finite();
    }
    // a row of zeros determines nothing: the guess stays, if it may
    if W == 0.0 && b == 0.0 {
        z[0] = clamp(z[0], lower, upper);
        return z[0].is_finite();
    }
    // the line does not rise: the bounds first, then the point between them
    if lower > f64::NEG_INFINITY && W * lower + b >= 0.0 {
        z[0] = lower;
        return true;
    }
    if upper < f64::INFINITY && W * upper + b <= 0.0 {
        z[0] = upper;
        return true;
    }
    let between = -b / W;
    if between.is_finite() && between >= lower && between <= upper {
        z[0] = between;
        return true;
    }
    false
}

/// Several unknowns between bounds, by principal pivoting: the first unknown whose sign is wrong
/// changes sides, which ends for every P-matrix (Murty).
#[cold]
fn pivots(W: &[f64], b: &[f64], lower: f64, upper: f64, z: &mut [f64]) -> bool {
    let n = z.len();
    let (mut A, mut x) = (vec![0.0; n * n], vec![0.0; n]);
    // where each unknown stands: its bound, or free (NaN)
    let mut side: Vec<f64> = (z.iter())
        .map(|&z| if z > lower && z < upper { f64::NAN } else { clamp(z, lower, upper) })
        .collect();
    for _ in 0..200 * n {
        for i in 0..n {
            let free = side[i].is_nan();
            for j in 0..n {
                A[i * n + j] = if free { W[i * n + j] } else { f64::from(i == j) };
            }
            x[i] = if free { -b[i] } else { side[i] };
            if free {
                // what is fixed goes to the right side
                for j in 0..n {
                    if !side[j].is_nan() {
                        x[i] -= A[i * n + j] * side[j];
                        A[i * n + j] = 0.0;
                    }
                }
            }
        }
        if !eliminate(&mut A, &mut x, n) {
            return false;
        }
        let mut changed = false;
        for i in 0..n {
            let (mut w, mut size) = (b[i], b[i].abs());
            for j in 0..n {
                w += W[i * n + j] * x[j];
                size += (W[i * n + j] * x[j]).abs();
            }
            let slack = 1e-15 * size;
            let next = match side[i] {
                s if s.is_nan() => clamp(x[i], lower, upper),
                _ if lower == upper => continue,
                s if (s == lower && w < -slack) || (s == upper && w > slack) => f64::NAN,
                _ => continue,
            };
            if !(next == x[i] && side[i].is_nan()) {
                side[i] = next;
                changed = true;
                break;
            }
        }
        if !changed {
            z.copy_from_slice(&x);
            return true;
        }
    }
    false
}

/// A cone in the plane: take-off, stick, slip to either side.
#[inline]
fn cone2(mu: f64, theta: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let kappa = mu - theta;
    if b[0] >= kappa * b[1].abs() {
        z.fill(0.0);
        return true;
    }
    if mu == 0.0 {
        return ray(W[0], b[0], z);
    }
    let det = W[0] * W[3] - W[1] * W[2];
    if det.abs() > 1e-12 * (W[0] * W[3]).abs() {
        let normal = (W[1] * b[1] - W[3] * b[0]) / det;
        let tangent = (W[2] * b[0] - W[0] * b[1]) / det;
        if tangent.abs() <= mu * normal && vanishes(W, b, &[normal, tangent]) {
            (z[0], z[1]) = (normal, tangent);
            return true;
        }
    }
    let guess = [z[0], z[1]];
    let (mut found, mut least) = (false, f64::INFINITY);
    for d in [1.0, -1.0] {
        let pull = W[2] + mu * W[3] * d;
        let D = W[0] + mu * W[1] * d + kappa * d * pull;
        let r = -(b[0] + kappa * d * b[1]) / D;
        let lambda = -d * (r * pull + b[1]);
        let slack = 1e-15 * (r * (W[2].abs() + mu * W[3].abs()) + b[1].abs());
        // of two answers (large friction, unsymmetric W) the one closest to the guess
        let distance = (guess[0] - r).abs() + (guess[1] - mu * r * d).abs();
        if r >= 0.0 && r.is_finite() && lambda >= -slack && (!found || distance < least) {
            (z[0], z[1]) = (r, mu * r * d);
            (found, least) = (true, distance);
        }
    }
    found
}

/// A cone in space: take-off, stick, slip.
#[inline]
fn cone3(mu: f64, theta: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let kappa = mu - theta;
    if b[0] >= kappa * norm(&b[1..3]) {
        z.fill(0.0);
        return true;
    }
    if mu == 0.0 {
        return ray(W[0], b[0], z);
    }
    // what slips goes on slipping, as a rule, when it is visited again
    let slip = Slip { mu, kappa, W, b };
    let edge = mu * z[0];
    let slipped = edge > 0.0 && z[1] * z[1] + z[2] * z[2] >= (1.0 - 1e-12) * edge * edge;
    if slipped && let Some(answer) = slip.near([z[1], z[2]]) {
        z.copy_from_slice(&answer);
        return true;
    }
    let stick = solve3(W, b);
    if let Some(r) = stick
        && norm(&r[1..]) <= mu * r[0]
        && vanishes(W, b, &r)
    {
        z.copy_from_slice(&r);
        return true;
    }
    // slip: the direction of the guess, of what would stick, of what would slide freely
    let again = if slipped { None } else { slip.near([z[1], z[2]]) };
    let answer = again
        .or_else(|| stick.and_then(|r| slip.near([r[1], r[2]])))
        .or_else(|| slip.near(slip.free()))
        .or_else(|| slip.closest([z[0], z[1], z[2]]));
    if let Some(answer) = answer {
        z.copy_from_slice(&answer);
    }
    answer.is_some()
}

/// A cone without tangential part: `0 ≤ w_N ⟂ z_N ≥ 0`, and `z_T = 0`.
#[inline]
pub(crate) fn ray(W: f64, b: f64, z: &mut [f64]) -> bool {
    z[1..].fill(0.0);
    bounded(W, b, 0.0, f64::INFINITY, z)
}

/// Whether `W z + b` is zero to round-off.
#[inline]
pub(crate) fn vanishes<const N: usize>(W: &[f64], b: &[f64], z: &[f64; N]) -> bool {
    let (mut defect, mut size) = (0.0, 0.0);
    for i in 0..N {
        let (mut w, mut terms) = (b[i], b[i].abs());
        for j in 0..N {
            w += W[i * N + j] * z[j];
            terms += (W[i * N + j] * z[j]).abs();
        }
        defect += w.abs();
        size += terms;
    }
    defect <= 2e-14 * size
}

/// `W r = −b` for three unknowns, by cofactors; `None` where `W` is singular.
#[inline]
fn solve3(W: &[f64], b: &[f64]) -> Option<[f64; 3]> {
    let cofactor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        W[r * 3 + c] * W[s * 3 + d] - W[r * 3 + d] * W[s * 3 + c]
    };
    let top = [cofactor(0, 0), cofactor(0, 1), cofactor(0, 2)];
    let det = W[0] * top[0] + W[1] * top[1] + W[2] * top[2];
    let size = (W[0] * W[4] * W[8]).abs();
    if !(det.abs() > 1e-8 * size) {
        // cofactors lose too much here
        let mut A = [0.0; 9];
        A.copy_from_slice(&W[..9]);
        let mut x = [-b[0], -b[1], -b[2]];
        return eliminate(&mut A, &mut x, 3).then_some(x);
    }
    let scale = -1.0 / det;
    Some(
        [0, 1, 2].map(|j| {
            scale * (cofactor(0, j) * b[0] + cofactor(1, j) * b[1] + cofactor(2, j) * b[2])
        }),
    )
}

/// Friction and rolling in the plane: each of the two sticks or slips to either side.
fn rolling2(set: &Set, mu: f64, mu_r: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    if b[0] >= 0.0 {
        z.fill(0.0);
        return true;
    }
    const SIDES: [f64; 3] = [0.0, 1.0, -1.0];
    let mut least = f64::INFINITY;
    for side in SIDES {
        for side_r in SIDES {
            // rows: w_N = 0, then stick w = 0 or slip z = ±μ z_N
            let mut A = [0.0; 9];
            let mut x = [0.0; 3];
            for (i, (side, mu)) in [(0.0, 0.0), (side, mu), (side_r, mu_r)].into_iter().enumerate()
            {
                if side == 0.0 {
                    A[i * 3..i * 3 + 3].copy_from_slice(&W[i * 3..i * 3 + 3]);
                    x[i] = -b[i];
                } else {
                    // in the size of the matrix, so that elimination chooses its pivots well
                    let size = W[i * 3 + i].abs().max(f64::MIN_POSITIVE);
                    (A[i * 3], A[i * 3 + i]) = (-side * mu * size, size);
                }
            }
            if !eliminate(&mut A, &mut x, 3) || !(x[0] >= 0.0) {
                continue;
            }
            // on the edge between two cases round-off may refuse both: the law itself decides
            let slack = |i: usize, mu: f64| x[i].abs() <= mu * x[0] * (1.0 + 1e-12);
            if (side == 0.0 && !slack(1, mu)) || (side_r == 0.0 && !slack(2, mu_r)) {
                continue;
            }
            for (i, side, mu) in [(1, side, mu), (2, side_r, mu_r)] {
                if side != 0.0 {
                    x[i] = side * mu * x[0];
                }
            }
            let error = error::<3>(set, W, b, &x);
            if error < least {
                least = error;
                z.copy_from_slice(&x);
                if error <= 1e-14 {
                    return true;
                }
            }
        }
    }
    least <= ACCEPTED
}

/// Plastic flow: `(W + λ A) z = −b` with `λ ≥ 0`, and `zᵀ A z = σ²` where `λ > 0`. The left side
/// of that falls with `λ` for a positive definite `W`, and its inverse root is nearly linear.
fn yields(set: &Set, sigma: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    if sigma == 0.0 {
        z.fill(0.0);
        return true;
    }
    let at = |lambda: f64| {
        let (mut A, mut x) = ([0.0; 9], [-b[0], -b[1], -b[2]]);
        for i in 0..9 {
            A[i] = W[i] + lambda * ellipse::MATRIX[i];
        }
        let mut factors = A;
        if !eliminate(&mut factors, &mut x, 3) {
            return None;
        }
        let n = ellipse::normal(&x);
        // ∂x/∂λ = −(W + λ A)⁻¹ A x
        let mut slope = n;
        if !eliminate(&mut A, &mut slope, 3) {
            return None;
        }
        let (mut level, mut fall) = (0.0, 0.0);
        for i in 0..3 {
            level += x[i] * n[i];
            fall += n[i] * slope[i];
        }
        Some((x, level.sqrt(), fall))
    };
    // λ zᵀ A z ≤ −zᵀ b bounds it, for a semidefinite W
    let (mut low, mut high) = (0.0, 2.0 * norm(b) / sigma);
    let mut lambda = 0.0;
    for _ in 0..80 {
        let Some((x, level, fall)) = at(lambda) else {
            // a singular W: from a multiplier that is surely too large
            if lambda > 0.0 {
                return false;
            }
            lambda = high;
            continue;
        };
        let over = level - sigma;
        if (lambda == 0.0 && over <= 0.0) || over.abs() <= 2.0 * f64::EPSILON * sigma {
            z.copy_from_slice(&x);
            break;
        }
        if over > 0.0 {
            low = lambda;
        } else {
            high = lambda;
        }
        // Newton's method on 1/level = 1/σ; the derivative of the level is −fall/level
        let next = lambda + over * level * level / (fall * sigma);
        lambda = if next > low && next < high {
            next
        } else if low > 0.0 {
            (low * high).sqrt()
        } else {
            1e-3 * high
        };
        z.copy_from_slice(&x);
    }
    error::<3>(set, W, b, z) <= ACCEPTED
}

/// Solves a small dense system in place by elimination with row exchanges.
#[inline]
pub(crate) fn eliminate(A: &mut [f64], x: &mut [f64], n: usize) -> bool {
    let (A, x) = (&mut A[..n * n], &mut x[..n]);
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if A[i * n + k].abs() > A[pivot * n + k].abs() {
                pivot = i;
            }
        }
        let value = A[pivot * n + k];
        if !(value.abs() > 0.0) || !value.is_finite() {
            return false;
        }
        if pivot != k {
            for j in k..n {
                A.swap(k * n + j, pivot * n + j);
            }
            x.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = A[i * n + k] / value;
            if factor != 0.0 {
                for j in k + 1..n {
                    A[i * n + j] -= factor * A[k * n + j];
                }
                x[i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| A[k * n + j] * x[j]).sum();
        x[k] = (x[k] - sum) / A[k * n + k];
    }
    x.iter().all(|x| x.is_finite())
}
