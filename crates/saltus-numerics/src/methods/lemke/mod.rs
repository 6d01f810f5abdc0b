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
//! basis (solved) or the path ends on a ray. The inverse of the basis `B` is kept, changed by a
//! term of rank one a pivot, and computed afresh where it drifts. Ties of the ratio test are broken by the rows of
//! `[B⁻¹ q, B⁻¹]` in lexicographic order, so that no basis comes twice. The `z`-part `y ≥ 0` of
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
mod standard_form;

use super::proximal::Proximal;
use super::unsupported;
use crate::methods::Pivoting;
use crate::mode::Side;
use crate::residual::residual;
use crate::{LemkeSettings, NumericsError, PivotingSettings, Problem, Report, Status};
use basis::Basis;
use saltus_linalg::Matrix;
use standard_form::StandardForm;

/// Changes of mode that mending may take.
const MENDING: usize = 100;

/// Covering vectors that are tried before a ray is the last word.
const COVERINGS: usize = 4;

/// Lemke's method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Lemke {
    settings: LemkeSettings,
    form: StandardForm,
    basis: Basis,
    polish: Pivoting,
    mend: Proximal,
    coarse: Vec<f64>,
}

impl Lemke {
    /// The method with these settings.
    pub fn new(settings: LemkeSettings) -> Self {
        let polish = PivotingSettings { tol: settings.tol, max_iter: 20, cache: 1 };
        Lemke {
            form: StandardForm::default(),
            basis: Basis::default(),
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
        self.form.build(problem);
        let (status, iterations) = self.follow();
        self.form.read_back(problem, &self.basis.z, z);

        // the path names the mode; solving that mode afresh removes the round-off of the path
        let mut check = residual(problem, z, w);
        self.polish.forget();
        if status == Status::Solved {
            self.polish.start_from(self.form.mode(problem, &self.basis.basic).iter().copied());
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

    /// The path, or another one where it ends on a ray that proves nothing.
    fn follow(&mut self) -> (Status, usize) {
        let mut iterations = 0;
        for covering in 0..COVERINGS {
            let left = self.settings.max_iter - iterations;
            let (status, pivots) = self.basis.run(&self.form, covering, left);
            iterations += pivots;
            if status != Status::Ray {
                return (status, iterations);
            }
            if self.form.is_contradicted_by(&self.basis.ray) {
                return (Status::Infeasible, iterations);
            }
            // every covering vector leads to the same ray in a game
            if let Some(first) = self.form.players() {
                let left = self.settings.max_iter - iterations;
                let (status, pivots) = self.basis.play(&self.form, &first, left);
                return (status, iterations + pivots);
            }
        }
        (Status::Ray, iterations)
    }

    /// The mode of the last answer; empty if it has none that is regular.
    pub(crate) fn mode(&self) -> &[Side] {
        self.polish.mode()
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
    let mut skew = Matrix::zeros(n + rows.len(), n + rows.len());
    for (r, &i) in rows.iter().enumerate() {
        for j in 0..n {
            let a = problem.matrix().get(i, j);
            (skew[(n + r, j)], skew[(j, n + r)]) = (a, -a);
        }
    }
    let mut form = StandardForm::default();
    form.build(&Problem::boxed(skew, q, &lower, &upper)?);
    let mut basis = Basis::default();
    let (status, _) = basis.run(&form, 0, 10 * (n + rows.len()));
    Ok(status == Status::Ray && form.is_contradicted_by(&basis.ray))
}
