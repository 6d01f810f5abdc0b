//! Lemke's method with the lexicographic rule.
//!
//! The problem is first written as one with `z ≥ 0` only: a bound is shifted to zero
//! (`z = l + a` or `z = u − a`), an unknown with two bounds gets the second as a row
//! `0 ≤ s ⟂ u − l − a ≥ 0`, free unknowns are eliminated (or written `z = a − b` where that
//! is impossible). Rows and columns are scaled. Then, with an artificial unknown `z₀`:
//!
//! ```text
//! w = M z + q + d z₀,   0 ≤ w ⟂ z ≥ 0,   d = (1, …, 1) first                         (1)
//! ```
//!
//! starts at a large `z₀` and pivots along the almost complementary path until `z₀` leaves the
//! basis (solved) or the path ends on a ray. Of a dense basis `B` the inverse is kept, changed by a
//! term of rank one a pivot, and computed afresh where it drifts; ties of the ratio test are broken by the rows of
//! `[B⁻¹ q, B⁻¹]` in lexicographic order, so that no basis comes twice (`basis`). Of a sparse one there are sparse
//! factors with updates, and ties are broken by a perturbation (`sparse_basis`). The `z`-part `y ≥ 0` of
//! a ray is checked as a proof (Farkas) that nothing satisfies the inequalities of the problem:
//!
//! ```text
//! Mᵀ y ≤ 0,  qᵀ y < 0   ⇒   yᵀ (M z + q) < 0 for every z ≥ 0, so M z + q ≥ 0 for none     (2)
//! ```
//!
//! It always is one where `M` is positive semidefinite (or copositive-plus). Otherwise the ray
//! says nothing, and other covering vectors `d` are tried. A solution of the problem is one of (1) with `z₀ = 0`, however its bounds and
//! free unknowns were rewritten, so (2) excludes it.
//! Reference: Cottle, Pang, Stone, *The Linear Complementarity Problem*, 1992, §4.4, §4.9.

mod basis;
mod path;
mod sparse_basis;
mod standard_form;

use super::proximal::{Proximal, mostly_zeros};
use super::unsupported;
use crate::methods::Pivoting;
use crate::mode::Side;
use crate::residual::residual;
use crate::{LemkeSettings, NumericsError, Operator, PivotingSettings, Problem, Report, Status};
use basis::Basis;
use saltus_linalg::Sparse;
use sparse_basis::SparseBasis;
use standard_form::{Free, StandardForm};

/// Changes of mode that mending may take.
const MENDING: usize = 100;

/// Covering vectors that are tried before a ray is the last word.
const COVERINGS: usize = 4;

/// Unknowns from which, and share of nonzeros up to which, the basis has sparse factors.
const SPARSE_SIZE: usize = 100;
const SPARSE_SHARE: f64 = 0.1;

/// Most unknowns with an inverse of the basis, which takes 200 MB then; and with sparse factors.
const MOST_DENSE: usize = 5000;
const MOST_SPARSE: usize = 200_000;

/// Lemke's method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Lemke {
    settings: LemkeSettings,
    engine: Engine,
    polish: Pivoting,
    mend: Proximal,
    coarse: Vec<f64>,
}

impl Lemke {
    /// The method with these settings.
    pub fn new(settings: LemkeSettings) -> Self {
        let polish = PivotingSettings { tol: settings.tol, max_iter: 20, cache: 1 };
        Lemke {
            engine: Engine::default(),
            polish: Pivoting::new(polish),
            mend: Proximal::new(settings.tol),
            settings,
            coarse: Vec::new(),
        }
    }

    /// Solves the problem (the guess in `z` plays no part); leaves the answer in `z` and
    /// `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if !problem.is_boxed() || !problem.matrix().is_matrix() {
            return Err(unsupported("lemke", problem));
        }
        let (status, iterations) =
            self.engine.follow(problem, self.settings.max_iter, MOST_DENSE)?;
        self.engine.read_back(problem, z);

        // the path names the mode; solving that mode afresh removes the round-off of the path
        let mut check = residual(problem, z, w);
        self.polish.forget();
        if status == Status::Solved {
            self.polish.start_from(self.engine.mode(problem).iter().copied());
            self.coarse.clear();
            self.coarse.extend_from_slice(z);
            let polished = self.polish.solve(problem, z, w)?;
            if polished.residual <= check.value {
                (check.value, check.worst) = (polished.residual, polished.worst);
            } else {
                z.copy_from_slice(&self.coarse);
                check = residual(problem, z, w);
            }
            // a singular mode: what has drifted is mended by proximal steps
            if !(check.value <= self.settings.tol) {
                self.coarse.copy_from_slice(z);
                self.mend.forget();
                let mended = self.mend.solve(problem, z, w, MENDING);
                if mended.residual <= check.value {
                    (check.value, check.worst) = (mended.residual, mended.worst);
                } else {
                    z.copy_from_slice(&self.coarse);
                    check = residual(problem, z, w);
                }
            }
        }
        let status = match status {
            _ if check.value <= self.settings.tol => Status::Solved,
            Status::Solved => Status::Diverged,
            Status::Ray if inequalities_are_contradictory(problem)? => Status::Infeasible,
            status => status,
        };
        let (residual, worst) = (check.value, check.worst);
        Ok(Report { status, iterations, residual, worst, method: "lemke" })
    }

    /// The mode of the last answer; empty if it has none that is regular.
    pub(crate) fn mode(&self) -> &[Side] {
        self.polish.mode()
    }
}

/// The problem in standard form and its basis, dense or sparse.
#[derive(Debug, Default)]
struct Engine {
    form: StandardForm,
    dense: Basis,
    sparse: SparseBasis,
    is_sparse: bool, // the last path
}

impl Engine {
    /// The path, or another one where it ends on a ray that proves nothing.
    fn follow(
        &mut self,
        problem: &Problem,
        max_iter: usize,
        most_dense: usize,
    ) -> Result<(Status, usize), NumericsError> {
        let few = |limit: usize| match problem.len() {
            unknowns if unknowns > limit => {
                Err(NumericsError::TooManyUnknowns { method: "lemke", unknowns, limit })
            }
            _ => Ok(()),
        };
        if let Some(W) = mostly_zeros(problem.matrix(), SPARSE_SIZE, SPARSE_SHARE) {
            few(MOST_SPARSE)?;
            self.is_sparse = true;
            for free in [Free::Kept, Free::Split] {
                self.form.build_sparse(problem, &W, free);
                match self.along(max_iter) {
                    Some((Status::Diverged, _)) | None => {}
                    Some(end) => return Ok(end),
                }
            }
        }
        // what sparse factors cannot do, an inverse may
        few(most_dense)?;
        self.is_sparse = false;
        self.form.build(problem);
        Ok(self.along(max_iter).unwrap_or((Status::Ray, 0)))
    }

    /// The paths of some covering vectors, until one ends otherwise than on a ray that proves nothing; nothing where
    /// there is no basis to begin with.
    fn along(&mut self, max_iter: usize) -> Option<(Status, usize)> {
        let mut iterations = 0;
        for covering in 0..COVERINGS {
            let left = max_iter - iterations;
            let (status, pivots) = match self.is_sparse {
                true => self.sparse.run(&self.form, covering, left)?,
                false => self.dense.run(&self.form, covering, left),
            };
            iterations += pivots;
            if status != Status::Ray {
                return Some((status, iterations));
            }
            if self.form.is_contradicted_by(self.ray()) {
                return Some((Status::Infeasible, iterations));
            }
            // every covering vector leads to the same ray in a game
            if let Some(first) = self.form.players() {
                if self.form.n > MOST_DENSE {
                    break;
                }
                self.is_sparse = false;
                let (status, pivots) = self.dense.play(&self.form, &first, max_iter - iterations);
                return Some((status, iterations + pivots));
            }
        }
        Some((Status::Ray, iterations))
    }

    fn ray(&self) -> &[f64] {
        if self.is_sparse { &self.sparse.ray } else { &self.dense.ray }
    }

    fn read_back(&mut self, problem: &Problem, z: &mut [f64]) {
        let a = if self.is_sparse { &self.sparse.z } else { &self.dense.z };
        self.form.read_back(problem, a, z);
    }

    fn mode(&mut self, problem: &Problem) -> &[Side] {
        let basic = if self.is_sparse { &self.sparse.basic } else { &self.dense.basic };
        self.form.mode(problem, basic)
    }
}

/// Whether no `z` within its bounds satisfies even the inequalities of the problem,
///
/// ```text
/// w = 0 (free),   w ≥ 0 (no upper bound),   w ≤ 0 (no lower bound),      w = A z + q
/// ```
///
/// With multipliers `y` of these rows that is a monotone problem, `[0 −Aᵀ; A 0]`, in which a ray
/// is a proof.
fn inequalities_are_contradictory(problem: &Problem) -> Result<bool, NumericsError> {
    let n = problem.len();
    let (mut lower, mut upper) = (problem.lower().to_vec(), problem.upper().to_vec());
    let (mut q, mut rows) = (vec![0.0; n], Vec::new());
    for i in 0..n {
        let (below, above) = (lower[i].is_finite(), upper[i].is_finite());
        if !(below && above) {
            rows.push(i);
            q.push(problem.q()[i]);
            lower.push(if below { 0.0 } else { f64::NEG_INFINITY });
            upper.push(if above { 0.0 } else { f64::INFINITY });
        }
    }
    let mut skew = Vec::new();
    for (r, &i) in rows.iter().enumerate() {
        let mut add = |j: usize, a: f64| skew.extend([(n + r, j, a), (j, n + r, -a)]);
        match problem.matrix() {
            Operator::Sparse(W) => W.row(i).iter().for_each(|entry| add(entry.col, entry.value)),
            W => (0..n).for_each(|j| add(j, W.get(i, j))),
        }
    }
    skew.retain(|&(_, _, a)| a != 0.0);
    let size = n + rows.len();
    let skew = Sparse::from_triplets(size, size, &skew);
    let mut engine = Engine::default();
    let problem = Problem::boxed(skew, q, &lower, &upper)?;
    // twice as many unknowns as the problem, at most; without a proof for what is larger
    let end = engine.follow(&problem, 10 * size, 2 * MOST_DENSE);
    Ok(end.is_ok_and(|(status, _)| status == Status::Infeasible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_linalg::{Matrix, vector};

    /// The end of the path by either basis, and its answer.
    fn path(problem: &Problem, sparse: Option<Free>) -> Option<(Status, Vec<f64>)> {
        let mut engine = Engine { is_sparse: sparse.is_some(), ..Engine::default() };
        match sparse {
            Some(free) => {
                let W = Sparse::from_dense(&problem.matrix().to_dense());
                engine.form.build_sparse(problem, &W, free);
            }
            None => engine.form.build(problem),
        }
        let (status, _) = engine.along(10_000)?;
        let mut z = vec![0.0; problem.len()];
        engine.read_back(problem, &mut z);
        Some((status, z))
    }

    /// Numbers between −1 and 1, some of them zero.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let x = 2.0 * ((state >> 11) as f64 / (1u64 << 53) as f64) - 1.0;
            if x.abs() < 0.3 { 0.0 } else { x }
        }
    }

    /// `A Aᵀ + K + δ I` with a skew `K`: one answer, which both find, for bounds of every kind.
    #[test]
    fn both_bases_give_the_answer() {
        let inf = f64::INFINITY;
        let kinds = [(0.0, inf), (-inf, inf), (-0.5, 0.5), (-inf, 0.2), (0.1, 0.1), (-1.0, inf)];
        for seed in 0..60 {
            let mut number = numbers(seed);
            let n = 3 + seed as usize;
            let (mut A, mut K) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
            for i in 0..n {
                for j in i.saturating_sub(2)..(i + 3).min(n) {
                    (A[(i, j)], K[(i, j)]) = (number(), number());
                }
            }
            let mut W = A.mul(&A.transpose());
            for i in 0..n {
                W[(i, i)] += 0.1;
                for j in 0..n {
                    W[(i, j)] += K[(i, j)] - K[(j, i)];
                }
            }
            let q: Vec<f64> = (0..n).map(|_| number()).collect();
            let bound = |i: usize| kinds[(i * 7 + seed as usize) % kinds.len()];
            let lower: Vec<f64> = (0..n).map(|i| bound(i).0).collect();
            let upper: Vec<f64> = (0..n).map(|i| bound(i).1).collect();
            let problem = Problem::boxed(W, q, &lower, &upper).unwrap();
            let (status, dense) = path(&problem, None).unwrap();
            assert_eq!(status, Status::Solved, "{seed}");
            let mut w = vec![0.0; n];
            for free in [Free::Kept, Free::Split] {
                let (status, z) = path(&problem, Some(free)).unwrap();
                assert_eq!(status, Status::Solved, "{seed} {free:?}");
                assert!(residual(&problem, &z, &mut w).value <= 1e-9, "{seed} {free:?}");
                let apart = z.iter().zip(&dense).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()));
                assert!(apart <= 1e-8 * (1.0 + vector::norm_inf(&dense)), "{seed} {free:?}");
            }
        }
    }

    /// Ties in every pivot: `q` and `M` of whole numbers, many equal. A monotone problem ends with an answer or a
    /// proof that there is none, and never without either.
    #[test]
    fn ties_do_not_cycle() {
        let mut infeasible = 0;
        for seed in 0..200 {
            let mut number = numbers(1000 + seed);
            let n = 2 + (seed % 19) as usize;
            let mut M = Matrix::zeros(n, n);
            for i in 0..n {
                for j in 0..i {
                    let skew = (2.0 * number()).round();
                    (M[(i, j)], M[(j, i)]) = (skew, -skew);
                }
                M[(i, i)] = if number() > 0.0 { 1.0 } else { 0.0 };
            }
            let q: Vec<f64> = (0..n).map(|_| -number().round().abs() + number().round()).collect();
            let problem = Problem::lcp(M, q).unwrap();
            let dense = path(&problem, None).unwrap();
            let sparse = path(&problem, Some(Free::Kept)).unwrap();
            assert_eq!(dense.0, sparse.0, "{seed}");
            let mut w = vec![0.0; n];
            match sparse.0 {
                Status::Solved => assert!(residual(&problem, &sparse.1, &mut w).value <= 1e-10),
                status => {
                    assert_eq!(status, Status::Infeasible, "{seed}");
                    infeasible += 1;
                }
            }
        }
        assert!(infeasible > 10 && infeasible < 190, "{infeasible}");
    }

    /// Free unknowns without an equation of their own cannot be kept, but written as differences.
    #[test]
    fn singular_equations_are_split() {
        let M = Matrix::from([[0.0, 1.0], [-1.0, 1.0]]);
        let (inf, q) = (f64::INFINITY, vec![-1.0, 0.5]);
        let problem = Problem::boxed(M, q, &[-inf, 0.0], &[inf, inf]).unwrap();
        assert_eq!(path(&problem, Some(Free::Kept)), None);
        assert_eq!(path(&problem, Some(Free::Split)), Some((Status::Solved, vec![1.5, 1.0])));
    }
}
