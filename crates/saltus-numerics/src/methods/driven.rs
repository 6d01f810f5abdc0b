//! A problem that few numbers drive, in the mode of its last answer.
//!
//! ```text
//! q = Q s,    o = T s + G z,    s₀ = 1                                                      (1)
//! z = Λ s,    Λ_B = −W_BB⁻¹ (Q_B, with c_B on s₀),    Λ_N the bounds on s₀,    c = W_N z_N  (2)
//! o = (T + G Λ) s                                                                           (3)
//! w = Q s + W_B z_B + c                                                                     (4)
//! ```
//!
//! `s` is a state and what acts on it from outside, `o` what is read off the answer. While the mode
//! stays, a call is one product with `s`, (2), `Q s` and (3), and one with `z`, (4). (2) only proposes:
//! `w` is made of `q` and the matrix of the problem, and its residual decides. The maps of several
//! modes are remembered.

use super::{Method, Workspace};
use crate::mode::Side;
use crate::residual::padded_boxes;
use crate::{Memory, Operator, Problem, Report, Status};
use saltus_linalg::{Lanes, Matrix, Packed, WideLanes, vector, wide_lanes};

/// Numbers that go together.
const FOUR: usize = 4;
/// Modes that are remembered, at most.
const REMEMBERED: usize = 32;

/// A problem that few numbers drive, equation (1).
#[derive(Debug)]
pub struct Driven {
    Q: Matrix,
    T: Matrix,
    G: Matrix,
    modes: Vec<Map>,
    matrix_id: u64, // that they are of
    current: usize,
    replace: usize,
    ids: Option<(u64, u64)>, // of the matrix and the sets that the current mode is of
    first: Vec<f64>,         // z, q, o, each filled up to fours
    w: Vec<f64>,
}

/// Equations (2) to (4) of one mode.
#[derive(Debug)]
struct Map {
    sides: Vec<Side>,
    basic: Vec<usize>,
    lower: Vec<f64>, // filled up with zeros, as all that follows
    upper: Vec<f64>,
    sign: Vec<f64>, // that `w` must have: 1 at a lower bound, −1 at an upper one, else 0
    c: Vec<f64>,
    start: Vec<f64>, // (Λ; Q; T + G Λ), the column of s₀
    first: Packed,   // and the other ones
    second: Packed,  // W_B
}

/// The mode of an answer, and what it takes to find others in it.
pub(super) struct Kept<'a> {
    pub sides: &'a [Side],
    pub basic: &'a [u8],
    /// `−W_BB⁻¹`, row by row.
    pub inverse: &'a [f64],
}

/// Up to the next four.
fn padded(n: usize) -> usize {
    n.div_ceil(FOUR) * FOUR
}

impl Driven {
    /// `q` and `o` over `s`, whose first entry is 1, and over `z`.
    pub fn new(Q: Matrix, T: Matrix, G: Matrix) -> Driven {
        assert!(Q.cols() == T.cols() && T.rows() == G.rows() && G.cols() == Q.rows());
        Driven {
            Q,
            T,
            G,
            modes: Vec::new(),
            matrix_id: 0,
            current: 0,
            replace: 0,
            ids: None,
            first: Vec::new(),
            w: Vec::new(),
        }
    }

    /// The answer of the last mode for this `s`, where it is one; else what is in `z`, `w` and `o`
    /// means nothing.
    #[inline]
    pub fn again(
        &mut self,
        problem: &Problem,
        tol: f64,
        s: &[f64],
        (z, w, o): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> Option<Report> {
        if self.ids != Some((problem.matrix_id(), problem.sets_id())) {
            return None;
        }
        let Driven { modes, current, first, w: own, .. } = self;
        let map = &modes[*current];
        let residual = wide_lanes(Attempt { map, problem, s, first, own, z, w, o })?;
        (residual <= tol).then_some(Report {
            status: Status::Solved,
            iterations: 1,
            residual,
            worst: 0,
            method: "pivoting",
        })
    }

    /// Takes the mode of the last answer of a workspace, if it was found by its mode.
    pub fn follow(&mut self, workspace: &Workspace, problem: &Problem) {
        self.ids = None;
        if self.matrix_id != problem.matrix_id() {
            self.modes.clear(); // their maps are of another matrix
            self.matrix_id = problem.matrix_id();
        }
        let (Some(kept), Operator::Dense(W)) = (workspace.kept(problem), problem.matrix()) else {
            return;
        };
        let known = self.modes.iter().position(|map| map.is(&kept, problem));
        self.current = match known {
            Some(known) => known,
            None => {
                let map = self.compose(&kept, problem, W);
                if self.modes.len() < REMEMBERED {
                    self.modes.push(map);
                    self.modes.len() - 1
                } else {
                    self.replace = (self.replace + 1) % REMEMBERED;
                    self.modes[self.replace] = map;
                    self.replace
                }
            }
        };
        let map = &self.modes[self.current];
        self.first.resize(map.first.rows(), 0.0);
        self.w.resize(map.second.rows(), 0.0);
        self.ids = Some((problem.matrix_id(), problem.sets_id()));
    }

    /// Whether the next call goes on in the mode of the last one.
    pub fn memory(&mut self, memory: &mut Memory, workspace: &mut Workspace, problem: &Problem) {
        let mut goes_on = self.ids == Some((problem.matrix_id(), problem.sets_id()));
        memory.flag(&mut goes_on);
        if memory.is_read() {
            self.ids = None;
            if goes_on {
                workspace.turn(problem);
                self.follow(workspace, problem);
            }
        }
    }

    /// Equations (2) to (4).
    fn compose(&self, kept: &Kept<'_>, problem: &Problem, W: &Matrix) -> Map {
        let Driven { Q, T, G, .. } = self;
        let (m, width, outputs) = (Q.rows(), Q.cols(), T.rows());
        let basic: Vec<usize> = kept.basic.iter().map(|&i| usize::from(i)).collect();
        let size = basic.len();
        let [mut lower, mut upper, mut sign, mut c] = [(); 4].map(|()| vec![0.0; padded(m)]);
        lower[..m].copy_from_slice(problem.lower());
        upper[..m].copy_from_slice(problem.upper());
        let mut L = Matrix::zeros(m, width); // Λ
        for (i, side) in kept.sides.iter().enumerate() {
            (sign[i], L[(i, 0)]) = match side {
                Side::Lower => (1.0, lower[i]),
                Side::Upper => (-1.0, upper[i]),
                Side::Fixed => (0.0, lower[i]),
                Side::Basic => (0.0, 0.0),
            };
        }
        for i in 0..m {
            c[i] = W.row(i).iter().enumerate().map(|(j, a)| a * L[(j, 0)]).sum();
        }
        // −W_BB⁻¹ (Q_B s + c_B)
        for (k, &row) in basic.iter().enumerate() {
            for (l, &i) in basic.iter().enumerate() {
                let a = kept.inverse[k * size + l];
                (0..width).for_each(|j| L[(row, j)] += a * Q[(i, j)]);
                L[(row, 0)] += a * c[i];
            }
        }
        let mut O = T.clone(); // T + G Λ
        O.add_scaled(1.0, &G.mul(&L));
        let (body, tail) = (padded(m), padded(outputs));
        let entry = |row: usize, j: usize| match row {
            _ if row < m => L[(row, j)],
            _ if row >= body && row < body + m => Q[(row - body, j)],
            _ if row >= 2 * body && row < 2 * body + outputs => O[(row - 2 * body, j)],
            _ => 0.0,
        };
        let (mut first, mut second) = (Packed::default(), Packed::default());
        let start = (0..2 * body + tail).map(|row| entry(row, 0)).collect();
        first.fill(2 * body + tail, width - 1, |row, j| entry(row, j + 1));
        second.fill(body, size, |i, j| if i < m { W[(i, basic[j])] } else { 0.0 });
        let sides = kept.sides.to_vec();
        Map { sides, basic, lower, upper, sign, c, start, first, second }
    }
}

impl Map {
    /// Whether it is that of this mode.
    fn is(&self, kept: &Kept<'_>, problem: &Problem) -> bool {
        let m = kept.sides.len();
        self.sides == kept.sides
            && self.lower[..m] == *problem.lower()
            && self.upper[..m] == *problem.upper()
    }
}

/// Equations (2) to (4), and how far they are from an answer; nothing where a sign is wrong.
struct Attempt<'a> {
    map: &'a Map,
    problem: &'a Problem,
    s: &'a [f64],
    first: &'a mut [f64],
    own: &'a mut [f64],
    z: &'a mut [f64],
    w: &'a mut [f64],
    o: &'a mut [f64],
}

impl WideLanes for Attempt<'_> {
    type Answer = Option<f64>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Option<f64> {
        let Attempt { map, problem, s, first, own, z, w, o } = self;
        let body = own.len();
        map.first.apply_plus_wide(&map.start, &s[1..], first);
        let (all, rest) = first.split_at(body);
        let (q, out) = rest.split_at(body);
        let sums = own.as_chunks_mut::<FOUR>().0;
        let n = sums.len();
        let fours = |values| -> &[[f64; FOUR]] { &<[f64]>::as_chunks::<FOUR>(values).0[..n] };
        let (c, of_q) = (fours(&map.c), fours(q));
        for i in 0..n {
            sums[i] = lanes.store(lanes.add(lanes.load(&of_q[i]), lanes.load(&c[i])));
        }
        map.second.apply_add_chosen_wide(&map.basic, all, own);
        let [z4, w4] = [fours(all), fours(own)];
        let bounds = [fours(&map.lower), fours(&map.upper)];
        if !(are_right(lanes, z4, w4, bounds, fours(&map.sign)) && are_finite(lanes, out)) {
            return None;
        }
        vector::copy(&all[..z.len()], z);
        vector::copy(&own[..w.len()], w);
        vector::copy(&out[..o.len()], o);
        Some(padded_boxes(lanes, problem.measure(), q, [z4, w4, bounds[0], bounds[1]]))
    }
}

/// Whether all unknowns are within their bounds, and their `w` has the right sign and is finite.
#[inline(always)]
fn are_right<L: Lanes>(
    lanes: L,
    z: &[[f64; FOUR]],
    w: &[[f64; FOUR]],
    [lower, upper]: [&[[f64; FOUR]]; 2],
    sign: &[[f64; FOUR]],
) -> bool {
    let n = z.len();
    let (w, lower, upper, sign) = (&w[..n], &lower[..n], &upper[..n], &sign[..n]);
    let (none, most) = (lanes.splat(0.0), lanes.splat(f64::MAX));
    let mut right = lanes.at_most(none, none);
    for i in 0..n {
        let z = lanes.load(&z[i]);
        // without a sign 0, or not a number where `w` is not finite
        let w = lanes.mul(lanes.load(&sign[i]), lanes.load(&w[i]));
        let inside = lanes
            .both(lanes.at_most(lanes.load(&lower[i]), z), lanes.at_most(z, lanes.load(&upper[i])));
        let signed = lanes.both(lanes.at_most(none, w), lanes.at_most(w, most));
        right = lanes.both(right, lanes.both(inside, signed));
    }
    lanes.all(right)
}

/// Whether all of them are finite.
#[inline(always)]
fn are_finite<L: Lanes>(lanes: L, x: &[f64]) -> bool {
    let (none, most) = (lanes.splat(0.0), lanes.splat(f64::MAX));
    let mut finite = lanes.at_most(none, none);
    for four in x.as_chunks::<FOUR>().0 {
        finite = lanes.both(finite, lanes.at_most(lanes.abs(lanes.load(four)), most));
    }
    lanes.all(finite)
}

impl Workspace {
    /// The mode of the last answer, where it has an inverse and is one of this problem.
    fn kept(&self, problem: &Problem) -> Option<Kept<'_>> {
        match &self.method {
            Method::Auto(method) => method.kept(problem),
            Method::Pivoting(method) => method.kept(problem),
            _ => None,
        }
    }

    /// Makes the inverse of the last mode ready, where it is one of this problem.
    fn turn(&mut self, problem: &Problem) {
        let pivoting = match &mut self.method {
            Method::Auto(method) => method.pivoting_mut(),
            Method::Pivoting(method) => method,
            _ => return,
        };
        pivoting.turn(problem);
    }

    /// The tolerance of the method.
    pub fn tol(&self) -> f64 {
        self.tol
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Solver;

    /// A problem of three unknowns, one with two bounds and one without, over s = (1, s₁, s₂).
    fn parts() -> (Problem, Driven, Matrix, Matrix) {
        let W = Matrix::from([[2.0, -0.5, 0.3], [0.4, 3.0, 0.1], [-0.2, 0.6, 1.5]]);
        let (lower, upper) = ([0.0, -0.4, f64::NEG_INFINITY], [f64::INFINITY, 0.7, f64::INFINITY]);
        let problem = Problem::boxed(W, vec![0.0; 3], &lower, &upper).unwrap();
        let Q = Matrix::from([[0.2, -1.0, 0.5], [-0.1, 0.7, 1.0], [0.3, 0.2, -0.6]]);
        let T = Matrix::from([[0.0, 1.0, 0.0], [0.5, 0.0, 2.0]]);
        let G = Matrix::from([[1.0, 0.0, -1.0], [0.3, 2.0, 0.0]]);
        let driven = Driven::new(Q.clone(), T.clone(), G.clone());
        (problem, driven, Q, G)
    }

    #[test]
    fn it_answers_as_the_workspace_does_and_says_where_the_mode_ends() {
        let (mut problem, mut driven, Q, G) = parts();
        let mut workspace = Workspace::new(Solver::default()).unwrap();
        let (mut z, mut w) = ([0.0; 3], [0.0; 3]);
        let (mut hits, mut misses) = (0, 0);
        for k in 0..400 {
            let at = 0.02 * k as f64;
            let s = [1.0, 1.5 * at.sin(), 1.2 * (1.7 * at).cos()];
            let q: Vec<f64> = (0..3).map(|i| saltus_linalg::vector::dot(Q.row(i), &s)).collect();
            let (mut y, mut v, mut o) = ([0.0; 3], [0.0; 3], [0.0; 2]);
            let again = driven.again(&problem, 1e-10, &s, (&mut y, &mut v, &mut o));
            problem.set_q(&q).unwrap();
            let report = workspace.solve(&problem, &mut z, &mut w).unwrap();
            assert_eq!(report.status, Status::Solved);
            if let Some(again) = again {
                hits += 1;
                assert!(again.residual <= 1e-15, "{again:?}");
                assert!(y.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-14));
                assert!(v.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-14));
                let first = s[1] + saltus_linalg::vector::dot(G.row(0), &z);
                assert!((o[0] - first).abs() < 1e-14);
            } else {
                misses += 1;
            }
            driven.follow(&workspace, &problem);
        }
        assert!(hits > 300 && misses > 5, "{hits} {misses}");
    }

    /// Modes of one matrix are no modes of another.
    #[test]
    fn another_matrix_is_another_map() {
        let (mut problem, mut driven, Q, _) = parts();
        let mut workspace = Workspace::new(Solver::default()).unwrap();
        let (mut z, mut w, mut o) = ([0.0; 3], [0.0; 3], [0.0; 2]);
        let s = [1.0, 0.4, -0.2];
        let q: Vec<f64> = (0..3).map(|i| saltus_linalg::vector::dot(Q.row(i), &s)).collect();
        problem.set_q(&q).unwrap();
        for scale in [1.0, 2.0] {
            let W = Matrix::from([[2.0, -0.5, 0.3], [0.4, 3.0, 0.1], [-0.2, 0.6, 1.5]]);
            let W = W.data().iter().map(|x| scale * x).collect();
            problem.set_matrix(Matrix::from_vec(3, 3, W)).unwrap();
            for _ in 0..3 {
                let _ = workspace.solve(&problem, &mut z, &mut w).unwrap();
                driven.follow(&workspace, &problem);
            }
            let known = z;
            assert!(driven.again(&problem, 1e-10, &s, (&mut z, &mut w, &mut o)).is_some());
            assert!(z.iter().zip(&known).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }

    #[test]
    fn other_bounds_and_what_is_no_number_are_refused() {
        let (mut problem, mut driven, Q, _) = parts();
        let mut workspace = Workspace::new(Solver::default()).unwrap();
        let (mut z, mut w, mut o) = ([0.0; 3], [0.0; 3], [0.0; 2]);
        let s = [1.0, 0.4, -0.2];
        let q: Vec<f64> = (0..3).map(|i| saltus_linalg::vector::dot(Q.row(i), &s)).collect();
        problem.set_q(&q).unwrap();
        for _ in 0..3 {
            let _ = workspace.solve(&problem, &mut z, &mut w).unwrap();
            driven.follow(&workspace, &problem);
        }
        assert!(driven.again(&problem, 1e-10, &s, (&mut z, &mut w, &mut o)).is_some());
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let s = [1.0, wrong, -0.2];
            assert!(driven.again(&problem, 1e-10, &s, (&mut z, &mut w, &mut o)).is_none());
        }
        problem.set_bounds(1, 0.1, 0.1);
        assert!(driven.again(&problem, 1e-10, &s, (&mut z, &mut w, &mut o)).is_none());
    }
}
