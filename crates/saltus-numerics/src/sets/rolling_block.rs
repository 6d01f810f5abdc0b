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
//! at most four for a given `e`) of each of many rolling directions. The last resort is
//! bisection: for a given `z_N = r` the tangential parts solve a monotone problem on two disks,
//!
//! ```text
//! (W_TT + ν I) z_T + W_TR z_R = −c_T,   W_RT z_T + (W_RR + ν′ I) z_R = −c_R,   c = b + r W_N     (2)
//! ```
//!
//! whose lengths fall with `ν`, `ν′`, and `w_N(r)` is negative for a small and positive for a
//! large `r`, for every positive definite `W`.

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

    // from the guess, from the projection of what would stick, from what would slide freely
    let both = Both { mu, mu_r, W, b };
    let guess = [z[0], z[1], z[2], z[3], z[4]];
    if take_if(set, W, b, both.near(&guess), z) {
        return true;
    }
    let starts = [Some(guess), regular.then_some(stick), both.free()];
    let parts = [([1, 2], mu, [3, 4], mu_r), ([3, 4], mu_r, [1, 2], mu)];
    let slips = parts.map(|(kept, mu, fixed, other)| OneSlips::new(W, b, kept, mu, fixed, other));
    for (k, start) in starts.iter().enumerate() {
        let Some(start) = start else { continue };
        for one in slips.iter().flatten() {
            if take_if(set, W, b, one.near(start), z) {
                return true;
            }
        }
        if k > 0 && take_if(set, W, b, both.near(start), z) {
            return true;
        }
    }
    // every answer in which one of them slips
    for one in slips.iter().flatten() {
        for x in one.slip().all().as_slice() {
            if take_if(set, W, b, one.complete(x), z) {
                return true;
            }
        }
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
    let Some(start) = both.bisect() else { return false };
    let parts = [([1, 2], both.mu, [3, 4], both.mu_r), ([3, 4], both.mu_r, [1, 2], both.mu)];
    for (kept, mu, fixed, other) in parts {
        let one = OneSlips::new(W, b, kept, mu, fixed, other);
        if take_if(set, W, b, one.and_then(|one| one.near(&start)), z) {
            return true;
        }
    }
    if take_if(set, W, b, both.near(&start), z) {
        return true;
    }
    z.copy_from_slice(&start);
    iterate(set, W, b, z)
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

/// The part `kept` slips while `fixed` sticks: `w = 0` there is solved for its forces, which
/// leaves a block of three.
struct OneSlips {
    kept: [usize; 2],
    fixed: [usize; 2],
    mu: f64,
    other: f64, // the ratio of the part that sticks
    W: [f64; 9],
    b: [f64; 3],
    columns: [[f64; 2]; 3], // z_fixed = −constant − Σ columns z
    constant: [f64; 2],
}

impl OneSlips {
    fn new(
        W: &[f64],
        b: &[f64],
        kept: [usize; 2],
        mu: f64,
        fixed: [usize; 2],
        other: f64,
    ) -> Option<OneSlips> {
        let at = |i: usize, j: usize| W[i * 5 + j];
        let [p, s] = fixed;
        let det = at(p, p) * at(s, s) - at(p, s) * at(s, p);
        if !(det.abs() > 1e-14 * (at(p, p) * at(s, s)).abs()) {
            return None;
        }
        let index = [0, kept[0], kept[1]];
        let inverse = |x: f64, y: f64| {
            [(at(s, s) * x - at(p, s) * y) / det, (at(p, p) * y - at(s, p) * x) / det]
        };
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
        Some(OneSlips { kept, fixed, mu, other, W: reduced, b: b_reduced, columns, constant })
    }

    fn slip(&self) -> Slip<'_> {
        Slip { mu: self.mu, kappa: 0.0, W: &self.W, b: &self.b }
    }

    fn near(&self, start: &[f64; 5]) -> Option<[f64; 5]> {
        let start = [start[self.kept[0]], start[self.kept[1]]];
        self.slip().near(start).and_then(|x| self.complete(&x))
    }

    /// The forces of the part that sticks, if they are small enough for that.
    fn complete(&self, x: &[f64; 3]) -> Option<[f64; 5]> {
        let mut z = [x[0]; 5];
        (z[self.kept[0]], z[self.kept[1]]) = (x[1], x[2]);
        for (k, &i) in self.fixed.iter().enumerate() {
            z[i] = -self.constant[k] - (0..3).map(|j| self.columns[j][k] * x[j]).sum::<f64>();
        }
        let size = norm(&[z[self.fixed[0]], z[self.fixed[1]]]);
        (size <= self.other * x[0] * (1.0 + 1e-13)).then_some(z)
    }
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
            if error <= 1e-9 && stalled > 0 {
                return self.polish(r, d, e);
            }
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

    /// Newton's method for `r` and both angles together: where `(W p)_N` is small against its
    /// terms, `r` is no longer known well enough from the directions alone.
    #[cold]
    fn polish(&self, mut r: f64, mut d: [f64; 2], mut e: [f64; 2]) -> Option<[f64; 5]> {
        let Both { mu, mu_r, W, b } = *self;
        let (mut least, mut best) = (f64::INFINITY, None);
        for _ in 0..8 {
            let p = [1.0, mu * d[0], mu * d[1], mu_r * e[0], mu_r * e[1]];
            let turns = [
                [0.0, -mu * d[1], mu * d[0], 0.0, 0.0],
                [0.0, 0.0, 0.0, -mu_r * e[1], mu_r * e[0]],
            ];
            let times = |x: &[f64; 5]| {
                [0, 1, 2, 3, 4].map(|i| (0..5).map(|j| W[i * 5 + j] * x[j]).sum::<f64>())
            };
            let Wp = times(&p);
            let w = [0, 1, 2, 3, 4].map(|i| r * Wp[i] + b[i]);
            let size = [0, 1, 2, 3, 4]
                .map(|i| b[i].abs() + (0..5).map(|j| (r * W[i * 5 + j] * p[j]).abs()).sum::<f64>());
            let rows = |w: &[f64; 5]| [w[0], d[0] * w[2] - d[1] * w[1], e[0] * w[4] - e[1] * w[3]];
            let f = rows(&w);
            let lambda = [-(d[0] * w[1] + d[1] * w[2]), -(e[0] * w[3] + e[1] * w[4])];
            let terms = [size[0], size[1] + size[2], size[3] + size[4]];
            let error = (0..3).map(|i| f[i].abs() / terms[i]).fold(0.0, f64::max);
            if error < least {
                least = error;
                let right =
                    r > 0.0 && lambda[0] >= -1e-14 * terms[1] && lambda[1] >= -1e-14 * terms[2];
                best = right.then(|| p.map(|p| r * p));
            }
            let columns = [Wp, times(&turns[0]).map(|x| r * x), times(&turns[1]).map(|x| r * x)];
            let mut J = [0.0; 9];
            for (k, column) in columns.iter().enumerate() {
                let column = rows(column);
                (0..3).for_each(|i| J[i * 3 + k] = column[i]);
            }
            J[4] += lambda[0];
            J[8] += lambda[1];
            let mut step = f.map(|f| -f);
            if error <= f64::EPSILON || !eliminate(&mut J, &mut step, 3) {
                break;
            }
            r += step[0];
            let (Some(next_d), Some(next_e)) = (
                unit([d[0] - step[1] * d[1], d[1] + step[1] * d[0]]),
                unit([e[0] - step[2] * e[1], e[1] + step[2] * e[0]]),
            ) else {
                break;
            };
            (d, e) = (next_d, next_e);
        }
        best.filter(|_| least <= 1e-13)
    }

    /// The root of `w_N(r)`, to some ten digits.
    #[cold]
    fn bisect(&self) -> Option<[f64; 5]> {
        let (W, b) = (self.W, self.b);
        let normal = |z: &[f64; 5]| b[0] + (0..5).map(|j| W[j] * z[j]).sum::<f64>();
        let mut high = norm(b) / norm(W);
        let mut low = 0.0;
        for _ in 0..200 {
            if normal(&self.disks(high)) >= 0.0 {
                break;
            }
            (low, high) = (high, 4.0 * high);
        }
        for _ in 0..80 {
            let r = middle(low, high);
            if normal(&self.disks(r)) < 0.0 {
                low = r
            } else {
                high = r
            }
            if high - low <= 1e-12 * high {
                break;
            }
        }
        let z = self.disks(high);
        z.iter().all(|z| z.is_finite()).then_some(z)
    }

    /// Equation (2).
    fn disks(&self, r: f64) -> [f64; 5] {
        let Both { mu, mu_r, W, b } = *self;
        let at = |i: usize, j: usize| W[i * 5 + j];
        let c = [1, 2, 3, 4].map(|i| b[i] + r * at(i, 0));
        let (TR, RT) =
            ([at(1, 3), at(1, 4), at(2, 3), at(2, 4)], [at(3, 1), at(3, 2), at(4, 1), at(4, 2)]);
        let parts = |nu: f64| {
            let T = [at(1, 1) + nu, at(1, 2), at(2, 1), at(2, 2) + nu];
            // z_T = −X z_R − x₀
            let x0 = solve2(&T, [c[0], c[1]]);
            let X = [solve2(&T, [TR[0], TR[2]]), solve2(&T, [TR[1], TR[3]])];
            let S = [
                at(3, 3) - RT[0] * X[0][0] - RT[1] * X[0][1],
                at(3, 4) - RT[0] * X[1][0] - RT[1] * X[1][1],
                at(4, 3) - RT[2] * X[0][0] - RT[3] * X[0][1],
                at(4, 4) - RT[2] * X[1][0] - RT[3] * X[1][1],
            ];
            let g = [c[2] - RT[0] * x0[0] - RT[1] * x0[1], c[3] - RT[2] * x0[0] - RT[3] * x0[1]];
            let z_r = disk(&S, g, mu_r * r);
            let z_t = [0, 1].map(|i| -x0[i] - X[0][i] * z_r[0] - X[1][i] * z_r[1]);
            [r, z_t[0], z_t[1], z_r[0], z_r[1]]
        };
        let radius = mu * r;
        let z = parts(0.0);
        if norm(&z[1..3]) <= radius {
            return z;
        }
        let force = norm(&c[..2]) + norm(&TR) * mu_r * r;
        let (mut low, mut high) = (0.0, 2.0 * force / radius);
        for _ in 0..60 {
            let nu = middle(low, high);
            if norm(&parts(nu)[1..3]) > radius {
                low = nu
            } else {
                high = nu
            }
            if high - low <= 1e-13 * high {
                break;
            }
        }
        parts(high)
    }
}

/// `x` with `(S + ν I) x = −g`, `ν ≥ 0`, and `‖x‖ ≤ radius`, equal where `ν > 0`.
fn disk(S: &[f64; 4], g: [f64; 2], radius: f64) -> [f64; 2] {
    let at = |nu: f64| solve2(&[S[0] + nu, S[1], S[2], S[3] + nu], [-g[0], -g[1]]);
    let x = at(0.0);
    if norm(&x) <= radius {
        return x;
    }
    let (mut low, mut high) = (0.0, 2.0 * norm(&g) / radius);
    for _ in 0..60 {
        let nu = middle(low, high);
        if norm(&at(nu)) > radius {
            low = nu
        } else {
            high = nu
        }
        if high - low <= 1e-14 * high {
            break;
        }
    }
    at(high)
}

/// Between two bounds: by ratio while they are far apart.
fn middle(low: f64, high: f64) -> f64 {
    if low > 0.1 * high { 0.5 * (low + high) } else { (low * high).sqrt().max(1e-3 * high) }
}

fn solve2(A: &[f64; 4], y: [f64; 2]) -> [f64; 2] {
    let det = A[0] * A[3] - A[1] * A[2];
    [(A[3] * y[0] - A[1] * y[1]) / det, (A[0] * y[1] - A[2] * y[0]) / det]
}
