//! One contact in space with friction and rolling resistance, case by case.
//!
//! ```text
//! take-off        z = 0                                   where b_N ≥ 0
//! stick, stick    W z = −b
//! slip, stick     w_R = 0 leaves a contact without rolling (see `slip`); the same for stick, roll
//! slip, roll      z = r (1, μ d, μ_r e):   w_N = 0,   d × w_T = 0,   e × w_R = 0              (1)
//! ```
//!
//! for unit vectors `d`, `e` with `d·w_T ≤ 0`, `e·w_R ≤ 0`. Equation (1) is solved by Newton's
//! method for `r` and both angles, from several starts: the guess, the projection of what would
//! stick, the point that projections end at, and, should all these fail, every slip (there are
//! at most four for a given `e`) of each of many rolling directions.

use super::block::{eliminate, solve as solve_block, vanishes};
use super::iterate::{ACCEPTED, error, iterate};
use super::slip::{Slip, unit};
use super::{Set, norm};

/// Solves the block from the guess in `z`.
pub(crate) fn rolling3(set: &Set, mu: f64, mu_r: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    if b[0] >= 0.0 {
        z.fill(0.0);
        return true;
    }
    if mu == 0.0 || mu_r == 0.0 {
        return one_part(mu, mu_r, W, b, z);
    }

    // stick, stick
    let (mut A, mut stick) = ([0.0; 25], [-b[0], -b[1], -b[2], -b[3], -b[4]]);
    A.copy_from_slice(&W[..25]);
    let regular = eliminate(&mut A, &mut stick, 5);
    if regular
        && norm(&stick[1..3]) <= mu * stick[0]
        && norm(&stick[3..5]) <= mu_r * stick[0]
        && vanishes(W, b, &stick)
    {
        z.copy_from_slice(&stick);
        return true;
    }

    // both slip, close to the guess if that slips, or to the projection of what would stick
    let both = Both { mu, mu_r, W, b };
    let guess = [z[0], z[1], z[2], z[3], z[4]];
    if let Some(answer) = both.near(&guess) {
        return take(set, W, b, &answer, z);
    }
    // one of them slips
    for (kept, mu, eliminated, other) in [([1, 2], mu, [3, 4], mu_r), ([3, 4], mu_r, [1, 2], mu)] {
        if let Some(answer) = one_slips(W, b, kept, mu, eliminated, other, &guess)
            && take(set, W, b, &answer, z)
        {
            return true;
        }
    }
    if let Some(answer) = regular.then(|| both.near(&stick)).flatten() {
        return take(set, W, b, &answer, z);
    }
    if both.free().is_some_and(|start| take_if(set, W, b, both.near(&start), z)) {
        return true;
    }
    search(set, &both, z)
}

/// What is left where the first starts have failed.
#[cold]
fn search(set: &Set, both: &Both, z: &mut [f64]) -> bool {
    let (W, b) = (both.W, both.b);
    if iterate(set, W, b, z) {
        return true;
    }
    let best = [z[0], z[1], z[2], z[3], z[4]];
    if take_if(set, W, b, both.near(&best), z) {
        return true;
    }
    const RAYS: usize = 32;
    for k in 0..RAYS {
        let angle = k as f64 * (std::f64::consts::TAU / RAYS as f64);
        let e = [both.mu_r * angle.cos(), both.mu_r * angle.sin()];
        // the column of the normal force takes the rolling moment along
        let mut reduced = [0.0; 9];
        for i in 0..3 {
            reduced[i * 3] = W[i * 5] + W[i * 5 + 3] * e[0] + W[i * 5 + 4] * e[1];
            reduced[i * 3 + 1] = W[i * 5 + 1];
            reduced[i * 3 + 2] = W[i * 5 + 2];
        }
        let slip = Slip { mu: both.mu, kappa: 0.0, W: &reduced, b: &b[..3] };
        for start in slip.all().as_slice() {
            let r = start[0];
            let start = [r, start[1], start[2], r * e[0], r * e[1]];
            if take_if(set, W, b, both.near(&start), z) {
                return true;
            }
        }
    }
    z.copy_from_slice(&best);
    false
}

/// Friction or rolling alone: the other part is zero.
fn one_part(mu: f64, mu_r: f64, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let (kept, mu) = if mu_r == 0.0 { ([0, 1, 2], mu) } else { ([0, 3, 4], mu_r) };
    let mut part = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            part[i * 3 + j] = W[kept[i] * 5 + kept[j]];
        }
    }
    let mut x = kept.map(|i| z[i]);
    let solved = solve_block(&Set::Coulomb3 { mu }, &part, &kept.map(|i| b[i]), &mut x);
    z.fill(0.0);
    for i in 0..3 {
        z[kept[i]] = x[i];
    }
    solved
}

/// Takes an answer if the law holds.
fn take(set: &Set, W: &[f64], b: &[f64], answer: &[f64; 5], z: &mut [f64]) -> bool {
    let holds = error::<5>(set, W, b, answer) <= ACCEPTED;
    if holds {
        z.copy_from_slice(answer);
    }
    holds
}

fn take_if(set: &Set, W: &[f64], b: &[f64], answer: Option<[f64; 5]>, z: &mut [f64]) -> bool {
    answer.is_some_and(|answer| take(set, W, b, &answer, z))
}

/// The part `kept` slips while `eliminated` sticks: `w = 0` there is solved for its forces, which
/// leaves a block of three.
fn one_slips(
    W: &[f64],
    b: &[f64],
    kept: [usize; 2],
    mu: f64,
    eliminated: [usize; 2],
    other: f64,
    guess: &[f64; 5],
) -> Option<[f64; 5]> {
    let at = |i: usize, j: usize| W[i * 5 + j];
    let [p, s] = eliminated;
    let det = at(p, p) * at(s, s) - at(p, s) * at(s, p);
    if !(det.abs() > 1e-14 * (at(p, p) * at(s, s)).abs()) {
        return None;
    }
    let index = [0, kept[0], kept[1]];
    // X = W_EE⁻¹ W_EK, column by column, and W_EE⁻¹ b_E
    let inverse =
        |x: f64, y: f64| [(at(s, s) * x - at(p, s) * y) / det, (at(p, p) * y - at(s, p) * x) / det];
    let columns = index.map(|j| inverse(at(p, j), at(s, j)));
    let constant = inverse(b[p], b[s]);
    let (mut reduced, mut b_reduced) = ([0.0; 9], [0.0; 3]);
    for (i, &row) in index.iter().enumerate() {
        for (j, &col) in index.iter().enumerate() {
            let [x, y] = columns[j];
            reduced[i * 3 + j] = at(row, col) - at(row, p) * x - at(row, s) * y;
        }
        b_reduced[i] = b[row] - at(row, p) * constant[0] - at(row, s) * constant[1];
    }
    let complete = |x: &[f64; 3]| {
        let mut z = [0.0; 5];
        for i in 0..3 {
            z[index[i]] = x[i];
        }
        for (k, &i) in eliminated.iter().enumerate() {
            z[i] = -constant[k] - (0..3).map(|j| columns[j][k] * x[j]).sum::<f64>();
        }
        let size = norm(&[z[p], z[s]]);
        (size <= other * x[0] * (1.0 + 1e-14)).then_some(z)
    };
    let slip = Slip { mu, kappa: 0.0, W: &reduced, b: &b_reduced };
    let near = slip.near([guess[kept[0]], guess[kept[1]]]);
    if let Some(z) = near.and_then(|x| complete(&x)) {
        return Some(z);
    }
    slip.all().as_slice().iter().find_map(complete)
}

/// Equation (1).
struct Both<'a> {
    mu: f64,
    mu_r: f64,
    W: &'a [f64],
    b: &'a [f64],
}

impl Both<'_> {
    /// The directions in which the block would go without friction.
    fn free(&self) -> Option<[f64; 5]> {
        let (W, b) = (self.W, self.b);
        let r = -b[0] / W[0];
        (r > 0.0).then(|| [0, 1, 2, 3, 4].map(|i| if i == 0 { r } else { -(b[i] + W[i * 5] * r) }))
    }

    /// Newton's method from the directions of a guess.
    fn near(&self, guess: &[f64; 5]) -> Option<[f64; 5]> {
        let Both { mu, mu_r, W, b } = *self;
        let (mut d, mut e) = (unit([guess[1], guess[2]])?, unit([guess[3], guess[4]])?);
        let mut least = f64::INFINITY;
        let mut stalled = 0;
        for _ in 0..25 {
            let p = [1.0, mu * d[0], mu * d[1], mu_r * e[0], mu_r * e[1]];
            let (mut Wp, mut size) = ([0.0; 5], [0.0; 5]);
            for i in 0..5 {
                for j in 0..5 {
                    Wp[i] += W[i * 5 + j] * p[j];
                    size[i] += (W[i * 5 + j] * p[j]).abs();
                }
            }
            let r = -b[0] / Wp[0];
            if !(r > 0.0 && r.is_finite()) {
                return None;
            }
            let w = [0, 1, 2, 3, 4].map(|i| r * Wp[i] + b[i]);
            let f = [d[0] * w[2] - d[1] * w[1], e[0] * w[4] - e[1] * w[3]];
            let lambda = [-(d[0] * w[1] + d[1] * w[2]), -(e[0] * w[3] + e[1] * w[4])];
            let terms = |i: usize| r * (size[i] + size[i + 1]) + b[i].abs() + b[i + 1].abs();
            let terms = [terms(1), terms(3)];
            let error = (f[0].abs() / terms[0]).max(f[1].abs() / terms[1]);
            if error <= 2.0 * f64::EPSILON || (error <= 1e-14 && error >= least) {
                let right = lambda[0] >= -1e-14 * terms[0] && lambda[1] >= -1e-14 * terms[1];
                return right.then(|| p.map(|p| r * p));
            }
            stalled = if error < 0.7 * least { 0 } else { stalled + 1 };
            if stalled > 8 {
                return None;
            }
            least = least.min(error);

            // ∂z/∂α = r ∂p + p ∂r with ∂r = −r (W ∂p)_N / (W p)_N
            let (dd, de) = ([-d[1], d[0]], [-e[1], e[0]]);
            let mut J = [0.0; 4];
            for (k, (column, part, mu)) in [(1, dd, mu), (3, de, mu_r)].into_iter().enumerate() {
                let move_row =
                    |i: usize| mu * (W[i * 5 + column] * part[0] + W[i * 5 + column + 1] * part[1]);
                let dr = -r * move_row(0) / Wp[0];
                let dw = |i: usize| r * move_row(i) + dr * Wp[i];
                J[k] = d[0] * dw(2) - d[1] * dw(1);
                J[2 + k] = e[0] * dw(4) - e[1] * dw(3);
            }
            // ∂d × w_T = −d · w_T = λ
            J[0] += lambda[0];
            J[3] += lambda[1];
            let det = J[0] * J[3] - J[1] * J[2];
            let mut step = [-(J[3] * f[0] - J[1] * f[1]) / det, -(J[0] * f[1] - J[2] * f[0]) / det];
            let largest = step[0].abs().max(step[1].abs());
            if !largest.is_finite() {
                return None;
            }
            if largest > 0.7 {
                step = step.map(|x| x * 0.7 / largest);
            }
            d = unit([d[0] - step[0] * d[1], d[1] + step[0] * d[0]])?;
            e = unit([e[0] - step[1] * e[1], e[1] + step[1] * e[0]])?;
        }
        None
    }
}
