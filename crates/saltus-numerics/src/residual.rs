//! How far `(z, w)` is from a solution: the only measure, which no method can replace.
//!
//! ```text
//! w = F(z) + q                              always recomputed from z
//! r = z − P_K(z − w − φ(w) e_N)             the natural map, block by block, zero at a solution  (1)
//! residual = ‖r‖ / scale                                                                        (2)
//! ```
//!
//! The scale is the one that is usual for the class of problem (see [`Measure`]), so that
//! figures compare with those of others. For the pair `(M, H)` the equation of motion has a
//! share too:
//!
//! ```text
//! residual = ‖M v − f − H z‖ / max(‖f‖, ‖M v‖, ‖H z‖) + ‖r‖ / scale                            (3)
//! ```
//!
//! Where the scale contains `z` (friction, mixed mechanical problems), an answer that runs away to
//! infinity would make (2) small without being one: two walls that close on a body leave
//! `w_N = −1` whatever the forces, and `1 / ‖z‖` becomes less than any tolerance. There the residual
//! is at least the same in units in which `z` and `w` are of one size:
//!
//! ```text
//! residual ≥ ‖z − P_K(z − ρ (w + φ(w) e_N))‖ / f,    ρ = f / ‖F(0) + q‖
//! f = max(‖z‖, ‖q‖ / max |Wᵢⱼ|)              for (M, H):  f = max(‖z‖, ‖f‖ / max |Hᵢⱼ|)        (4)
//! ```
//!
//! The share of a contact in (4) is at least `ρ max(0, −w_N)`: with a large coefficient of friction the shift hides
//! most of a contact that closes without a force from the natural map.
//!
//! So a velocity is small beside the velocities without forces, `F(0) + q`, and never beside forces
//! or what these make of it, both of which may run away; a force is small beside those that it
//! needs, or by the velocity that it makes.
//!
//! A NaN anywhere makes the residual NaN, and NaN is never at most a tolerance.

use crate::sets::{LARGEST_BLOCK, Set, natural, norm};
use crate::{Operator, Problem, Report, Status, watch};
use saltus_linalg::Lanes;
use saltus_linalg::vector::norm2;

/// What ‖r‖ is divided by, equation (2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// `1 + ‖q‖`: mixed problems, relays, second-order cones.
    Unit,
    /// `‖q‖`: linear complementarity; 1 where `q = 0`.
    Relative,
    /// `max(‖q‖, ‖z‖, ‖w‖)`: friction; 1 where all are 0.
    Largest,
    /// 1: plasticity, nonlinear problems.
    Absolute,
    /// The largest over the blocks of `‖r‖ / (1 + ‖b‖)` with `b = w − W_cc z_c`, and of `|w|` for
    /// free unknowns: mixed mechanical problems.
    Blocks,
}

/// A residual and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// Equation (2) or (3), and at least (4).
    pub value: f64,
    /// The unknown with the largest share.
    pub worst: usize,
}

impl Residual {
    /// What a method that ended here is worth: solved, or otherwise.
    pub(crate) fn report(
        self,
        tol: f64,
        otherwise: Status,
        iterations: usize,
        method: &'static str,
    ) -> Report {
        let Residual { value: residual, worst } = self;
        let status = if residual <= tol { Status::Solved } else { otherwise };
        Report { status, iterations, residual, worst, method }
    }
}

/// Recomputes `w` from `z`, and measures how far the pair is from a solution. Within a solve that
/// was asked to stop (see [`Interrupt`](crate::Interrupt)) the value is NaN.
#[inline]
pub fn residual(problem: &Problem, z: &[f64], w: &mut [f64]) -> Residual {
    let motion = evaluate(problem, z, w);
    let Residual { value, worst } = natural_map(problem, z, w);
    Residual { value: watch::note(value + motion), worst }
}

/// `w ← F(z) + q`; returns the first term of (3).
#[inline]
fn evaluate(problem: &Problem, z: &[f64], w: &mut [f64]) -> f64 {
    match problem.matrix() {
        Operator::Global(global) => {
            let mut v = vec![0.0; global.velocities()];
            let Hz: Vec<f64> = global.H().products(z).collect();
            global.velocity_of(&Hz, &mut v);
            global.transposed().apply(&v, w);
            w.iter_mut().zip(problem.q()).for_each(|(w, q)| *w += q);
            motion(global, &Hz, &v)
        }
        _ => {
            problem.eval(z, w);
            0.0
        }
    }
}

/// Equation (2) or (3) alone, without the bound (4): the figure of the class, as others print it.
pub fn class_figure(problem: &Problem, z: &[f64], w: &mut [f64]) -> f64 {
    let motion = evaluate(problem, z, w);
    match problem.measure() {
        Measure::Largest | Measure::Blocks => by_blocks(problem, z, w).0.value + motion,
        _ => natural_map(problem, z, w).value + motion,
    }
}

/// The share `‖r_c‖` of each block, equation (1), for a `w` that is known to be `F(z) + q`.
pub(crate) fn shares(problem: &Problem, z: &[f64], w: &[f64], shares: &mut Vec<f64>) {
    let mut f = Vec::new();
    shares.clear();
    problem.for_each_block(|start, set: &Set, size| {
        let range = start..start + size;
        f.resize(size, 0.0);
        set.natural_map(1.0, &z[range.clone()], &w[range], &mut f);
        shares.push(norm(&f));
    });
}

/// The first term of (3).
fn motion(global: &crate::Global, Hz: &[f64], v: &[f64]) -> f64 {
    let (mut defect, mut inertia, mut force) = (0.0, 0.0, 0.0);
    for i in 0..v.len() {
        let Mv = global.mass().row_dot(i, v);
        defect += (Mv - global.f()[i] - Hz[i]).powi(2);
        inertia += Mv * Mv;
        force += Hz[i] * Hz[i];
    }
    let scale = norm2(global.f()).max(f64::sqrt(inertia)).max(f64::sqrt(force));
    relative(f64::sqrt(defect), scale)
}

/// Equations (1) and (2) for a `w` that is known to be `F(z) + q`.
#[inline]
pub(crate) fn natural_map(problem: &Problem, z: &[f64], w: &[f64]) -> Residual {
    let measure = problem.measure();
    let shares = match measure {
        Measure::Largest | Measure::Blocks => None,
        _ if problem.is_boxed() => Some(Shares::of_boxes(problem, z, w)),
        _ => Shares::of_graphs(problem, z, w),
    };
    let Some(Shares { sum, worst, .. }) = shares else {
        let (own, scaled) = by_blocks(problem, z, w);
        // a NaN is larger than all
        return if own.value >= scaled.value || own.value.is_nan() { own } else { scaled };
    };
    measured(problem, sum, worst)
}

/// [`natural_map`] within `wide`, where all unknowns are most often in boxes.
#[inline(always)]
pub(crate) fn natural_map_of_boxes(problem: &Problem, z: &[f64], w: &[f64]) -> Residual {
    if !problem.is_boxed() || matches!(problem.measure(), Measure::Largest | Measure::Blocks) {
        return natural_map(problem, z, w);
    }
    let Shares { sum, worst, .. } = Shares::of_boxes(problem, z, w);
    measured(problem, sum, worst)
}

/// Equation (2) of `‖r‖²`.
#[inline(always)]
fn measured(problem: &Problem, sum: f64, worst: usize) -> Residual {
    Residual { value: scaled(problem.measure(), sum, || norm2(problem.q())), worst }
}

/// The same, given `‖q‖`.
#[inline(always)]
fn scaled(measure: Measure, sum: f64, norm_of_q: impl Fn() -> f64) -> f64 {
    // exactly zero is common in small problems, and spares the roots
    match measure {
        _ if sum == 0.0 => 0.0,
        Measure::Unit => relative(sum.sqrt(), 1.0 + norm_of_q()),
        Measure::Relative => relative(sum.sqrt(), norm_of_q()),
        Measure::Absolute => sum.sqrt(),
        // the last two never come here
        Measure::Largest | Measure::Blocks => f64::NAN,
    }
}

/// Equations (1) and (2) of unknowns in boxes, within `wide_lanes`, for a `w` that is known to be
/// `F(z) + q`: `z`, `w` and bounds in fours, filled up with zeros, as `q` is. Not a number for measures that
/// need more.
#[inline(always)]
pub(crate) fn padded_boxes<L: Lanes>(
    lanes: L,
    measure: Measure,
    q: &[f64],
    of: [&[[f64; 4]]; 4],
) -> f64 {
    let n = of[0].len();
    let [z, w, lower, upper] = of.map(|fours| &fours[..n]);
    let q = &q.as_chunks::<4>().0[..n];
    let (mut sums, mut squares) = (lanes.splat(0.0), lanes.splat(0.0));
    for i in 0..n {
        let q = lanes.load(&q[i]);
        squares = lanes.add(squares, lanes.mul(q, q));
        let [z, w, lower, upper] = [&z[i], &w[i], &lower[i], &upper[i]].map(|x| lanes.load(x));
        // as `natural`
        let (below, above) = (lanes.sub(z, lower), lanes.sub(z, upper));
        let middle = lanes.greater(above, lanes.lesser(below, w));
        let r = lanes.add(middle, lanes.mul(lanes.splat(0.0), z));
        sums = lanes.add(sums, lanes.mul(r, r));
    }
    scaled(measure, lanes.sum(sums), || lanes.sum(squares).sqrt())
}

/// `Σ r²` of unknowns with a set of their own each, the largest share, and where that is.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    sum: f64,
    largest: f64,
    worst: usize,
}

impl Shares {
    /// All unknowns are in boxes: four at a time.
    #[inline(always)] // into what is compiled for wide registers
    fn of_boxes(problem: &Problem, z: &[f64], w: &[f64]) -> Shares {
        let n = z.len();
        let (lower, upper, w) = (&problem.lower()[..n], &problem.upper()[..n], &w[..n]);
        let (mut sums, mut i) = ([0.0; 4], 0);
        let mut shares = Shares::default();
        while i + 4 <= n {
            let (lower, upper) = (&lower[i..i + 4], &upper[i..i + 4]);
            let (z, w) = (&z[i..i + 4], &w[i..i + 4]);
            let mut four = [0.0; 4];
            for k in 0..4 {
                let r = natural(z[k], w[k], lower[k], upper[k]);
                four[k] = r * r;
                sums[k] += four[k];
            }
            if !(greater(greater(four[0], four[1]), greater(four[2], four[3])) <= shares.largest) {
                four.iter().enumerate().for_each(|(k, &share)| shares.look(i + k, share));
            }
            i += 4;
        }
        for i in i..n {
            shares.add(i, natural(z[i], w[i], lower[i], upper[i]));
        }
        shares.sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        shares
    }

    /// All other sets are graphs; nothing where they are not.
    fn of_graphs(problem: &Problem, z: &[f64], w: &[f64]) -> Option<Shares> {
        let (lower, upper) = (problem.lower(), problem.upper());
        let (mut shares, mut next) = (Shares::default(), 0);
        for block in problem.placed() {
            let (Set::Graph(graph), own) = (&block.set, block.start) else { return None };
            for i in next..own {
                shares.add(i, natural(z[i], w[i], lower[i], upper[i]));
            }
            let x = z[own] - w[own];
            // NaN unless x is finite
            shares.add(own, z[own] - graph.resolve(1.0, x).z + 0.0 * x);
            next = own + 1;
        }
        for i in next..z.len() {
            shares.add(i, natural(z[i], w[i], lower[i], upper[i]));
        }
        Some(shares)
    }

    #[inline]
    fn add(&mut self, i: usize, r: f64) {
        self.sum += r * r;
        self.look(i, r * r);
    }

    #[inline]
    fn look(&mut self, i: usize, share: f64) {
        if !(share <= self.largest) {
            (self.largest, self.worst) = (share, i);
        }
    }
}

/// The greater of two numbers.
#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The same for sets of any kind: equation (2), and the right-hand side of (4).
fn by_blocks(problem: &Problem, z: &[f64], w: &[f64]) -> (Residual, Residual) {
    let measure = problem.measure();
    let one_size = match measure {
        Measure::Largest | Measure::Blocks => OneSize::of(problem, z),
        _ => None,
    };
    let mut small = [0.0; LARGEST_BLOCK];
    let mut long = Vec::new();
    let (mut sum, mut own) = (0.0, Worst::default());
    let (mut scaled_sum, mut scaled) = (0.0, Worst::default()); // equation (4)
    let mut most: f64 = 0.0; // for Measure::Blocks
    problem.for_each_block(|start, set: &Set, size| {
        let range = start..start + size;
        let f = if size <= LARGEST_BLOCK {
            &mut small[..size]
        } else {
            long.resize(size, 0.0);
            &mut long[..size]
        };
        let (z_c, w_c) = (&z[range.clone()], &w[range.clone()]);
        set.natural_map(1.0, z_c, w_c, f);
        let share = square(f);
        sum += share;
        own.note(start, share);
        if measure == Measure::Blocks {
            let scale = match set {
                Set::Free => 1.0,
                _ => 1.0 + problem.others(start, size, z_c, w_c),
            };
            most = larger(most, relative(share.sqrt(), scale));
        }
        if let Some(OneSize { rho, .. }) = one_size {
            set.natural_map(rho, z_c, w_c, f);
            let share = larger(square(f), (rho * set.approach(w_c)).powi(2));
            scaled_sum += share;
            scaled.note(start, share);
        }
    });
    let sum = sum.sqrt();
    let q = || norm2(problem.q());
    let value = match measure {
        Measure::Unit => relative(sum, 1.0 + q()),
        Measure::Relative => relative(sum, q()),
        Measure::Largest => relative(sum, q().max(norm2(z)).max(norm2(w))),
        Measure::Absolute => sum,
        Measure::Blocks => most,
    };
    let own = Residual { value, worst: own.unknown };
    let scaled = one_size.map_or(own, |one_size| Residual {
        value: scaled_sum.sqrt() / one_size.forces,
        worst: scaled.unknown,
    });
    (own, scaled)
}

/// Whether `‖r‖` is no more than the round-off in `F(z) + q`: no method can do better with these
/// numbers.
///
/// ```text
/// ‖r‖ ≤ 64 ε ‖ |W| |z| + |q| ‖
/// ```
pub(crate) fn is_round_off(problem: &Problem, z: &[f64], w: &[f64]) -> bool {
    if !problem.matrix().is_matrix() {
        return false;
    }
    let terms: f64 = (0..z.len())
        .map(|i| (problem.matrix().row_size(i, z) + problem.q()[i].abs()).powi(2))
        .sum();
    let (mut r, mut f) = (0.0, Vec::new());
    problem.for_each_block(|start, set, size| {
        f.resize(size, 0.0);
        set.natural_map(1.0, &z[start..start + size], &w[start..start + size], &mut f);
        r += square(&f);
    });
    f64::sqrt(r) <= 64.0 * f64::EPSILON * f64::sqrt(terms)
}

/// The block with the largest share so far; the first NaN is the largest.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    unknown: usize,
    share: f64,
}

impl Worst {
    #[inline]
    fn note(&mut self, unknown: usize, share: f64) {
        if !(share <= self.share) && !self.share.is_nan() {
            *self = Worst { unknown, share };
        }
    }
}

/// `‖x‖²`.
#[inline]
fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// `value / scale`, not divided by what is nothing; NaN where the scale has overflowed.
fn relative(value: f64, scale: f64) -> f64 {
    match scale {
        scale if !scale.is_finite() => f64::NAN,
        scale if scale > f64::EPSILON => value / scale,
        _ => value,
    }
}

/// The larger of two numbers; NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The units of (4): `ρ` and `f`.
#[derive(Debug, Clone, Copy)]
struct OneSize {
    rho: f64,
    forces: f64,
}

impl OneSize {
    /// `None` where nothing moves without forces, and none are needed.
    fn of(problem: &Problem, z: &[f64]) -> Option<OneSize> {
        let (free, needed) = match problem.matrix() {
            Operator::Global(global) => {
                let sum = global.free().iter().zip(problem.q()).map(|(free, q)| (free + q).powi(2));
                (sum.sum::<f64>().sqrt(), norm2(global.f()) / problem.matrix_scale())
            }
            _ => {
                let free = norm2(problem.q());
                (free, free / problem.matrix_scale())
            }
        };
        let forces = norm2(z);
        let forces = if needed.is_finite() { forces.max(needed) } else { forces };
        let rho = forces / free;
        (rho > 0.0 && rho.is_finite() && forces.is_finite()).then_some(OneSize { rho, forces })
    }
}

/// What an answer means for the contacts of a friction problem: the largest violations of each
/// part of the law, in the units of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Physical {
    /// Penetration velocity: the largest `−w_N`.
    pub gap: f64,
    /// Force outside its cone: the largest `‖z_T‖ − μ z_N` (rolling and `−z_N` likewise).
    pub cone: f64,
    /// Work that should not be: the largest `|z_N w_N|`.
    pub complementarity: f64,
    /// The largest angle (radians) between the friction of a sliding contact and the direction
    /// of maximal dissipation, `−w_T`; contacts that carry no force or do not slide have none.
    pub dissipation_angle: f64,
}

/// Share of the largest velocity and force below which a contact is said to stick or to be open.
const SLIDES: f64 = 1e-6;

/// Measures each part of the friction law on its own, for `w` as [`residual`] left it.
pub fn physical(problem: &Problem, z: &[f64], w: &[f64]) -> Physical {
    let mut all = Physical::default();
    if z.iter().chain(w).any(|x| x.is_nan()) {
        let (gap, cone, complementarity) = (f64::NAN, f64::NAN, f64::NAN);
        return Physical { gap, cone, complementarity, dissipation_angle: f64::NAN };
    }
    let (largest_z, largest_w) =
        (saltus_linalg::vector::norm_inf(z), saltus_linalg::vector::norm_inf(w));
    problem.for_each_block(|start, set, size| {
        let (z, w) = (&z[start..start + size], &w[start..start + size]);
        let parts: [(f64, std::ops::Range<usize>); 2] = match *set {
            Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => [(mu, 1..size), (0.0, 0..0)],
            Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                [(mu, 1..1 + size / 2), (mu_r, 1 + size / 2..size)]
            }
            _ => return,
        };
        all.gap = all.gap.max(-w[0]);
        all.cone = all.cone.max(-z[0]);
        all.complementarity = all.complementarity.max((z[0] * w[0]).abs());
        for (mu, range) in parts {
            let (force, slip) = (&z[range.clone()], &w[range]);
            let (f, s) = (norm(force), norm(slip));
            all.cone = all.cone.max(f - mu * z[0]);
            if s > SLIDES * largest_w && f > SLIDES * largest_z {
                let dot: f64 = force.iter().zip(slip).map(|(f, s)| -f * s).sum();
                let cosine = (dot / (f * s)).clamp(-1.0, 1.0);
                all.dissipation_angle = all.dissipation_angle.max(cosine.acos());
            }
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_linalg::Matrix;

    #[test]
    fn measures_each_law() {
        let matrix = Matrix::identity(3);
        let inf = f64::INFINITY;
        let problem =
            Problem::boxed(matrix, vec![-2.0, 1.0, 4.0], &[-inf, 0.0, -1.0], &[inf, inf, 1.0])
                .unwrap();
        let mut w = [0.0; 3];
        assert_eq!(residual(&problem, &[2.0, 0.0, -1.0], &mut w).value, 0.0);
        assert_eq!(w, [0.0, 1.0, 3.0]);
        let wrong = residual(&problem, &[2.0, 0.0, 1.0], &mut w);
        assert!(wrong.value > 0.1);
        assert_eq!(wrong.worst, 2);
    }

    #[test]
    fn a_large_z_hides_nothing() {
        let problem = Problem::lcp(Matrix::zeros(1, 1), vec![4.0]).unwrap();
        for z in [1.0, 1e17, 1e300] {
            assert!(residual(&problem, &[z], &mut [0.0]).value >= 0.2, "{z}");
        }
    }

    #[test]
    fn what_the_matrix_does_not_see_must_be_finite() {
        let nothing = saltus_linalg::Sparse::from_triplets(1, 1, &[]);
        let free = [crate::Block { size: 1, set: crate::Set::Free }];
        let problem = Problem::new(nothing, vec![0.0], &free).unwrap();
        for z in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(residual(&problem, &[z], &mut [0.0]).value.is_nan());
        }
        assert_eq!(residual(&problem, &[3.0], &mut [0.0]).value, 0.0);
    }

    #[test]
    fn a_nan_is_never_small() {
        let problem = Problem::lcp(Matrix::identity(2), vec![1.0, 1.0]).unwrap();
        let mut w = [0.0; 2];
        for z in [[f64::NAN, 0.0], [0.0, f64::NAN], [f64::INFINITY, 0.0]] {
            assert!(!(residual(&problem, &z, &mut w).value <= 1e300));
        }
    }

    #[test]
    fn a_jam_beside_a_large_load_is_no_answer() {
        // two walls close on a body; another body lies on the floor, ten million times heavier
        let mut W = Matrix::identity(6);
        (W[(0, 2)], W[(2, 0)]) = (-1.0, -1.0);
        let load = 1e7;
        let q = vec![-1.0, 0.0, -1.0, 0.0, -load, 0.0];
        let problem = Problem::friction2d(W, q, &[0.3; 3]).unwrap();
        for force in [1e8, 1e9, 1e12] {
            let jammed = residual(&problem, &[force, 0.0, force, 0.0, load, 0.0], &mut [0.0; 6]);
            assert!(jammed.value >= 0.9 / load, "{force}: {jammed:?}");
            assert!(jammed.worst < 4, "{jammed:?}");
        }
    }

    #[test]
    fn a_force_that_is_round_off_does_not_spoil_open_contacts() {
        let problem = Problem::friction2d(Matrix::identity(2), vec![1.0, 0.3], &[0.3]).unwrap();
        assert!(residual(&problem, &[1e-17, 0.0], &mut [0.0; 2]).value <= 1e-16);
    }

    #[test]
    fn an_answer_that_runs_away_is_none() {
        // no force keeps the contact from closing: w_N = −1 for every z
        let W = Matrix::from([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let problem = Problem::friction3d(W, vec![-1.0, 0.1, 0.0], &[0.5]).unwrap();
        for z in [1.0, 1e9, 1e15] {
            assert!(residual(&problem, &[z, -0.1, 0.0], &mut [0.0; 3]).value >= 0.5, "{z}");
        }
    }

    #[test]
    fn a_nan_in_one_block_is_not_lost_in_the_next() {
        let blocks = [
            crate::Block { size: 1, set: crate::Set::Nonnegative },
            crate::Block { size: 1, set: crate::Set::Nonnegative },
        ];
        let problem = Problem::new(Matrix::identity(2), vec![1.0, 1.0], &blocks).unwrap();
        for measure in [Measure::Blocks, Measure::Unit, Measure::Largest, Measure::Absolute] {
            let problem = problem.clone().measured(measure);
            assert!(residual(&problem, &[f64::NAN, 0.0], &mut [0.0; 2]).value.is_nan());
        }
        let huge = Problem::lcp(Matrix::identity(2), vec![1e200, -1.0]).unwrap();
        assert!(!(residual(&huge, &[0.0, 0.0], &mut [0.0; 2]).value <= 1e-8));
    }
}
