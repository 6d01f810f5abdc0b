//! Semismooth Newton on the Fischer–Burmeister function.
//!
//! The law of an unknown is one equation (Billups), smooth but for its corners:
//!
//! ```text
//! φ(a, b) = a + b − √(a² + b²)          zero just where 0 ≤ a ⟂ b ≥ 0
//!
//! Φᵢ = wᵢ                               free
//! Φᵢ = φ(zᵢ − lᵢ, wᵢ)                   bounded below
//! Φᵢ = −φ(uᵢ − zᵢ, −wᵢ)                 bounded above
//! Φᵢ = φ(zᵢ − lᵢ, −φ(uᵢ − zᵢ, −wᵢ))     both
//! Φᵢ = zᵢ − lᵢ                          fixed                                          (1)
//!
//! H d = −Φ,   H = A + B W ∈ ∂Φ          Newton; A, B diagonal                          (2)
//! (Hᵀ H + μ I) d = −Hᵀ Φ                Levenberg–Marquardt, where H is singular        (3)
//! ```
//!
//! A step is taken as far as ½‖Φ‖² falls below the largest of its last values (Armijo, not
//! monotone); where (2) is no descent, (3), and at last the gradient. Rows and columns are
//! scaled first. A start that ends in a minimum of ½‖Φ‖² other than zero is given up for
//! another one. In the end the mode of the answer is solved once more, exactly.
//!
//! Every cluster point solves the problem where `W` is P₀; elsewhere it often does.
//! Reference: De Luca, Facchinei, Kanzow, *Mathematical Programming* 75 (1996) 407–439.

use super::proximal::mostly_zeros;
use crate::methods::Pivoting;
use crate::mode::Side;
use crate::residual::{Residual, residual};
use crate::sets::clamp;
use crate::sets::fischer_burmeister::law;
use crate::{
    FischerBurmeisterSettings, NumericsError, Operator, PivotingSettings, Problem, Report, Status,
};
use saltus_linalg::{DenseLu, MaskedFactor, Matrix, Sparse, vector};

/// Problems smaller than this, or with a larger share of nonzeros, are factored as dense ones.
const SPARSE_SIZE: usize = 60;
const SPARSE_SHARE: f64 = 0.2;
/// Newton steps from one start.
const STEPS: usize = 100;
/// Starts: the guess, then points spread over the boxes.
const STARTS: usize = 6;
/// Values of the merit function that a step may look back on.
const MEMORY: usize = 5;
/// Share of the descent promised by the slope that a step must keep.
const ARMIJO: f64 = 1e-4;
/// `μ` of (3), relative to the largest diagonal entry of `Hᵀ H`.
const MU: [f64; 3] = [1e-10, 1e-5, 1e-1];
/// Largest problem for (3), whose matrix is dense.
const DENSE: usize = 600;

/// The semismooth Newton method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct FischerBurmeister {
    settings: FischerBurmeisterSettings,
    scaled: Scaled,
    factors: Factors,
    normal: DenseLu, // of (3)
    y: Vec<f64>,     // scaled z
    v: Vec<f64>,     // scaled w
    phi: Vec<f64>,
    A: Vec<f64>,
    B: Vec<f64>,
    step: Vec<f64>,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>, // z with the least residual
    merits: Vec<f64>,
    polish: Pivoting,
}

/// How (2) is solved.
#[derive(Debug)]
enum Factors {
    Dense(DenseLu),
    Sparse(Box<MaskedFactor>),
}

/// How a start ended.
enum End {
    Solved,
    Stuck,
}

impl FischerBurmeister {
    /// The method with these settings.
    pub fn new(settings: FischerBurmeisterSettings) -> Self {
        let polish = PivotingSettings { tol: settings.tol, max_iter: 3, cache: 1 };
        FischerBurmeister {
            settings,
            scaled: Scaled::default(),
            factors: Factors::Dense(DenseLu::default()),
            normal: DenseLu::default(),
            y: Vec::new(),
            v: Vec::new(),
            phi: Vec::new(),
            A: Vec::new(),
            B: Vec::new(),
            step: Vec::new(),
            gradient: Vec::new(),
            trial: Vec::new(),
            best: Vec::new(),
            merits: Vec::new(),
            polish: Pivoting::new(polish),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem);
        let mut check = residual(problem, z, w);
        self.best.clear();
        self.best.extend_from_slice(z);

        let mut iterations = 0;
        let mut status = Status::MaxIter;
        for start in 0..STARTS {
            self.start_at(start, z);
            if let End::Solved = self.descend(problem, z, w, &mut check, &mut iterations) {
                status = Status::Solved;
                break;
            }
            if iterations >= self.settings.max_iter {
                break;
            }
            status = Status::Diverged;
        }
        z.copy_from_slice(&self.best);
        let check = self.polish(problem, z, w)?;
        if check.value <= self.settings.tol {
            status = Status::Solved;
        } else if status == Status::Solved {
            status = Status::Diverged;
        }
        let (residual, worst) = (check.value, check.worst);
        Ok(Report { status, iterations, residual, worst, method: "fischer-burmeister" })
    }

    /// The mode of the last answer; empty if it has none that is regular.
    pub(crate) fn mode(&self) -> &[Side] {
        self.polish.mode()
    }

    fn prepare(&mut self, problem: &Problem) {
        let n = problem.len();
        self.scaled.build(problem);
        self.factors = match &self.scaled.W {
            Operator::Sparse(W) => Factors::Sparse(Box::new(MaskedFactor::unsymmetric(W))),
            _ => Factors::Dense(DenseLu::default()),
        };
        for buffer in [
            &mut self.y,
            &mut self.v,
            &mut self.phi,
            &mut self.A,
            &mut self.B,
            &mut self.step,
            &mut self.gradient,
            &mut self.trial,
        ] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
    }

    /// The guess; then 1, then points of no particular order, of size 1 in the scaled problem.
    fn start_at(&mut self, start: usize, z: &[f64]) {
        let s = &self.scaled;
        for i in 0..self.y.len() {
            let y = match start {
                0 => z[i] / (s.q_scale * s.column[i]),
                1 => 1.0,
                _ => (1.0 + (1 + i * (2 * start + 1)) as f64 * 0.618_033_988_749_895).fract() * 2.0,
            };
            self.y[i] = clamp(y, s.lower[i], s.upper[i]);
        }
    }

    /// Newton's method from one start; the best `z` and its residual are kept.
    fn descend(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        check: &mut Residual,
        iterations: &mut usize,
    ) -> End {
        self.merits.clear();
        let mut merit = self.scaled.merit(&self.y, &mut self.v, &mut self.phi);
        for _ in 0..STEPS {
            self.scaled.read_back(problem, &self.y, z);
            let here = residual(problem, z, w);
            if here.value < check.value || !check.value.is_finite() {
                *check = here;
                self.best.copy_from_slice(z);
            }
            if check.value <= self.settings.tol {
                return End::Solved;
            }
            if *iterations >= self.settings.max_iter || !(merit > 1e-30) {
                return End::Stuck;
            }
            *iterations += 1;
            self.merits.push(merit);
            if self.merits.len() > MEMORY {
                self.merits.remove(0);
            }
            match self.advance(merit) {
                Some(next) => merit = next,
                None => return End::Stuck,
            }
        }
        End::Stuck
    }

    /// One step from `y`, and the merit where it leads; nothing where no direction descends.
    fn advance(&mut self, merit: f64) -> Option<f64> {
        let n = self.y.len();
        self.scaled.slopes(&self.y, &self.v, &mut self.A, &mut self.B);
        // g = Hᵀ Φ = A Φ + Wᵀ B Φ
        for i in 0..n {
            self.trial[i] = self.B[i] * self.phi[i];
        }
        self.scaled.transposed(&self.trial, &mut self.gradient);
        for i in 0..n {
            self.gradient[i] += self.A[i] * self.phi[i];
        }
        let slope = vector::norm2(&self.gradient);
        if !(slope > 1e-12 * (2.0 * merit).sqrt()) {
            return None; // a minimum of the merit
        }
        if self.newton()
            && let Some(next) = self.search(1e-6)
        {
            return Some(next);
        }
        if n <= DENSE {
            for mu in MU {
                if self.levenberg_marquardt(mu)
                    && let Some(next) = self.search(1e-3)
                {
                    return Some(next);
                }
            }
        }
        // the gradient, as far as the linear model has its minimum
        for i in 0..n {
            self.step[i] = -self.gradient[i];
        }
        self.scaled.apply(&self.step, &mut self.trial);
        let mut curvature = 0.0;
        for i in 0..n {
            curvature += (self.A[i] * self.step[i] + self.B[i] * self.trial[i]).powi(2);
        }
        let length = slope * slope / curvature;
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        self.step.iter_mut().for_each(|d| *d *= length);
        self.search(1e-8)
    }

    /// Equation (2); false where `H` is singular, to working precision.
    fn newton(&mut self) -> bool {
        let (A, B) = (&self.A, &self.B);
        for (d, phi) in self.step.iter_mut().zip(&self.phi) {
            *d = -phi;
        }
        let diagonal = |i: usize, j: usize| if i == j { A[i] } else { 0.0 };
        match (&mut self.factors, &self.scaled.W) {
            (Factors::Dense(factors), Operator::Dense(W)) => {
                let entry = |i: usize, j: usize| diagonal(i, j) + B[i] * W[(i, j)];
                if factors.factor_with(A.len(), entry).is_err() {
                    return false;
                }
                factors.solve(&mut self.step);
            }
            (Factors::Sparse(factors), Operator::Sparse(W)) => {
                let entry = |i: usize, j: usize, w: f64| diagonal(i, j) + B[i] * w;
                if factors.factor_with(W, entry).is_err() {
                    return false;
                }
                factors.solve(&mut self.step);
            }
            _ => return false,
        }
        if !vector::all_finite(&self.step) {
            return false;
        }
        // the factors of a matrix that is almost singular may solve something else
        self.scaled.apply(&self.step, &mut self.trial);
        let (mut left, mut size) = (0.0, 0.0);
        for i in 0..A.len() {
            left += (A[i] * self.step[i] + B[i] * self.trial[i] + self.phi[i]).powi(2);
            size += self.phi[i] * self.phi[i];
        }
        left <= 1e-6 * size
    }

    /// Equation (3).
    fn levenberg_marquardt(&mut self, mu: f64) -> bool {
        let n = self.y.len();
        // Hᵀ H, row after row of H
        let mut normal = Matrix::zeros(n, n);
        let mut row = vec![0.0; n];
        for i in 0..n {
            row.fill(0.0);
            match &self.scaled.W {
                Operator::Dense(W) => {
                    for (h, w) in row.iter_mut().zip(W.row(i)) {
                        *h = self.B[i] * w;
                    }
                }
                Operator::Sparse(W) => {
                    for entry in W.row(i) {
                        row[entry.col] = self.B[i] * entry.value;
                    }
                }
                Operator::Global(_) | Operator::Function(_) => {}
            }
            row[i] += self.A[i];
            for j in (0..n).filter(|&j| row[j] != 0.0) {
                let target = &mut normal.data_mut()[j * n..(j + 1) * n];
                vector::axpy(row[j], &row, target);
            }
        }
        let largest = (0..n).fold(0.0, |a: f64, i| a.max(normal[(i, i)]));
        for i in 0..n {
            normal[(i, i)] += mu * largest;
            self.step[i] = -self.gradient[i];
        }
        if self.normal.factor(&normal).is_err() {
            return false;
        }
        self.normal.solve(&mut self.step);
        vector::all_finite(&self.step)
    }

    /// Armijo's rule along `step`: `y` moves, or nothing happens.
    fn search(&mut self, least: f64) -> Option<f64> {
        let slope = vector::dot(&self.gradient, &self.step);
        let length = vector::norm2(&self.step);
        if !(slope < -1e-16 * length * vector::norm2(&self.gradient)) {
            return None;
        }
        let reference = self.merits.iter().fold(0.0, |a: f64, m| a.max(*m));
        let mut t = 1.0;
        while t >= least {
            for i in 0..self.y.len() {
                self.trial[i] = self.y[i] + t * self.step[i];
            }
            let merit = self.scaled.merit(&self.trial, &mut self.v, &mut self.phi);
            if merit <= reference + ARMIJO * t * slope {
                std::mem::swap(&mut self.y, &mut self.trial);
                return Some(merit);
            }
            t *= 0.5;
        }
        self.scaled.merit(&self.y, &mut self.v, &mut self.phi);
        None
    }

    /// Solves the mode of `z` exactly, and keeps that where it is the better answer.
    fn polish(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Residual, NumericsError> {
        let check = residual(problem, z, w);
        self.polish.forget();
        if !(check.value <= 1e-3) || check.value == 0.0 {
            return Ok(check);
        }
        self.trial.copy_from_slice(z);
        let polished = self.polish.solve(problem, z, w)?;
        if polished.residual <= check.value {
            return Ok(Residual { value: polished.residual, worst: polished.worst });
        }
        self.polish.forget();
        z.copy_from_slice(&self.trial);
        Ok(residual(problem, z, w))
    }
}

/// The problem in units of its own: `z = κ C y`, `w = κ R⁻¹ v`, so `v = R W C y + R q / κ`.
#[derive(Debug)]
struct Scaled {
    W: Operator,
    q: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    row: Vec<f64>,    // R
    column: Vec<f64>, // C
    q_scale: f64,     // κ
}

impl Default for Scaled {
    fn default() -> Self {
        let none = Vec::new;
        let (q, lower, upper, row, column) = (none(), none(), none(), none(), none());
        let W = Operator::Dense(Matrix::default());
        Scaled { W, q, lower, upper, row, column, q_scale: 1.0 }
    }
}

impl Scaled {
    fn build(&mut self, problem: &Problem) {
        let n = problem.len();
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        let sparse = mostly_zeros(problem.matrix(), SPARSE_SIZE, SPARSE_SHARE);
        match (&sparse, problem.matrix()) {
            (Some(W), _) | (None, Operator::Sparse(W)) => triplets.extend(W.iter()),
            (None, Operator::Dense(W)) => {
                for i in 0..n {
                    let row = W.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0);
                    triplets.extend(row.map(|(j, &x)| (i, j, x)));
                }
            }
            // `Workspace` lets no other map through
            (None, Operator::Global(_) | Operator::Function(_)) => {}
        }
        self.equilibrate(n, &triplets);
        for (i, j, x) in &mut triplets {
            *x *= self.row[*i] * self.column[*j];
        }
        self.W = match sparse {
            Some(_) => Operator::Sparse(Sparse::from_triplets(n, n, &triplets)),
            None => {
                let mut W = Matrix::zeros(n, n);
                triplets.iter().for_each(|&(i, j, x)| W[(i, j)] = x);
                Operator::Dense(W)
            }
        };

        self.q.clear();
        self.q.extend(problem.q().iter().zip(&self.row).map(|(q, R)| q * R));
        let largest = vector::norm_inf(&self.q);
        let in_range = largest > 0.0 && largest.is_finite();
        self.q_scale = if in_range { largest.log2().round().exp2() } else { 1.0 };
        self.q.iter_mut().for_each(|q| *q /= self.q_scale);
        let unit = self.column.iter().map(|C| self.q_scale * C);
        self.lower.clear();
        self.lower.extend(problem.lower().iter().zip(unit.clone()).map(|(l, unit)| l / unit));
        self.upper.clear();
        self.upper.extend(problem.upper().iter().zip(unit).map(|(u, unit)| u / unit));
    }

    /// Powers of two that bring rows and columns to size 1 (Ruiz): scaling is exact.
    fn equilibrate(&mut self, n: usize, triplets: &[(usize, usize, f64)]) {
        for scale in [&mut self.row, &mut self.column] {
            scale.clear();
            scale.resize(n, 1.0);
        }
        let (mut rows, mut columns) = (vec![0.0f64; n], vec![0.0f64; n]);
        for _ in 0..3 {
            rows.fill(0.0);
            columns.fill(0.0);
            for &(i, j, x) in triplets {
                let x = (x * self.row[i] * self.column[j]).abs();
                rows[i] = rows[i].max(x);
                columns[j] = columns[j].max(x);
            }
            for (scale, size) in [(&mut self.row, &rows), (&mut self.column, &columns)] {
                for (scale, &size) in scale.iter_mut().zip(size) {
                    if size > 0.0 && size.is_finite() {
                        *scale *= (-0.5 * size.log2()).round().exp2();
                    }
                }
            }
        }
    }

    /// `z = κ C y`, within its bounds.
    fn read_back(&self, problem: &Problem, y: &[f64], z: &mut [f64]) {
        for i in 0..z.len() {
            let z_i = self.q_scale * self.column[i] * y[i];
            z[i] = clamp(z_i, problem.lower()[i], problem.upper()[i]);
        }
    }

    /// `x ← W y`.
    fn apply(&self, y: &[f64], x: &mut [f64]) {
        self.W.apply(y, x);
    }

    /// `x ← Wᵀ y`.
    fn transposed(&self, y: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        match &self.W {
            Operator::Dense(W) => {
                for i in (0..y.len()).filter(|&i| y[i] != 0.0) {
                    vector::axpy(y[i], W.row(i), x);
                }
            }
            Operator::Sparse(W) => W.iter().for_each(|(i, j, w)| x[j] += w * y[i]),
            Operator::Global(_) | Operator::Function(_) => {}
        }
    }

    /// `v`, Φ and ½‖Φ‖² at `y`.
    fn merit(&self, y: &[f64], v: &mut [f64], phi: &mut [f64]) -> f64 {
        self.apply(y, v);
        for i in 0..y.len() {
            v[i] += self.q[i];
            phi[i] = law(y[i], v[i], self.lower[i], self.upper[i]).0;
        }
        0.5 * vector::dot(phi, phi)
    }

    /// `A` and `B` of (2) at `y`.
    fn slopes(&self, y: &[f64], v: &[f64], A: &mut [f64], B: &mut [f64]) {
        for i in 0..y.len() {
            (_, A[i], B[i]) = law(y[i], v[i], self.lower[i], self.upper[i]);
        }
    }
}
