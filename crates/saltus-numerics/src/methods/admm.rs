//! Alternating directions (ADMM), in the form of Douglas and Rachford.
//!
//! The linear map and the laws are met in turn, each exactly:
//!
//! ```text
//! y = J(t)                              the point of the laws with y − w/(ρ d) = t           (1)
//! (W + ρ D) x = ρ D (2 y − t) − q       the point of the map                                 (2)
//! t ← t + α (x − y)                                                                          (3)
//! ```
//!
//! Where `x = y` the pair `y`, `w = ρ D (y − t)` solves the problem. `D` holds the mean diagonal of
//! `W` for each part of each block (normal, tangent, rolling), so that units do not matter, and
//! `ρ` is a plain number. The resolvent `J` of friction is that of Signorini's and Coulomb's laws
//! themselves (see `sets`), without a shift that lags behind.
//!
//! The matrix of (2) is factored once for each `ρ`. For the pair `(M, H)` nothing is multiplied
//! out: (2) is the same as
//!
//! ```text
//! (M + H (ρ D)⁻¹ Hᵀ) v = f + H (2 y − t − (ρ D)⁻¹ b),     x = 2 y − t − (ρ D)⁻¹ (Hᵀ v + b)     (4)
//! ```
//!
//! The fixed-point iteration (1)–(3) is accelerated by Anderson's method over the last steps, with
//! a return to the plain step where the defect grew. `ρ` follows the ratio of the two residuals,
//! `‖x − y‖` and `ρ ‖y − y_before‖`, but changes only a few times. Where the residual no longer
//! falls, the iteration runs in a circle between modes: less acceleration and another `ρ`, stage
//! by stage, lead out of it.
//!
//! Converges for positive semidefinite `W` and convex sets, and on most friction problems, also
//! where there are more contacts than degrees of freedom. Cost of an iteration: one solution with
//! the factors. References: Boyd, Parikh, Chu, Peleato, Eckstein, *Found. Trends Mach. Learn.* 3
//! (2011) 1–122; Fu, Zhang, Boyd, *SIAM J. Sci. Comput.* 42 (2020) A3560–A3583; Acary, Brémond,
//! Huber, in *Advanced Topics in Nonsmooth Dynamics*, 2018.

use super::layout::Layout;
use crate::residual::residual;
use crate::{AdmmSettings, Global, NumericsError, Operator, Problem, Report, Status};
use saltus_linalg::{DenseLu, Matrix, Sparse, SparseFactor, vector::dot};

/// Largest problem whose matrix is factored densely.
const DENSE: usize = 60;
/// Steps that the acceleration looks back on.
const MEMORY: usize = 15;
/// Growth of the defect that ends an acceleration.
const GROWTH: f64 = 2.0;
/// Iterations before the first change of `ρ`; the next are twice as far each.
const BALANCE: usize = 20;
/// Ratio of the residuals above which `ρ` changes.
const UNBALANCED: f64 = 10.0;
/// Least iterations in which the residual must halve.
const PATIENCE: usize = 50;
/// Tries of ten times the `ρ` before, where the matrix of (2) is singular.
const TRIES: usize = 12;

/// How the iteration goes on while the residual does not halve.
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// Steps of which one is accelerated.
    period: usize,
    /// `α` of (3).
    relaxation: f64,
    /// By how much `ρ` changes at first.
    rho: f64,
}

const STAGES: [Stage; 4] = [
    Stage { period: 1, relaxation: 1.6, rho: 3.0 },
    Stage { period: 2, relaxation: 1.6, rho: 0.3 },
    Stage { period: 4, relaxation: 1.6, rho: 0.3 },
    Stage { period: usize::MAX, relaxation: 1.0, rho: 3.0 },
];

/// Alternating directions, and what they keep between calls.
#[derive(Debug)]
pub struct Admm {
    settings: AdmmSettings,
    layout: Layout,
    system: System,
    factored: Option<(u64, f64)>, // matrix and ρ of the factors
    y: Vec<f64>,
    x: Vec<f64>,
    t: Vec<f64>,
    reflected: Vec<f64>, // 2 y − t
    before: Vec<f64>,    // y of the iteration before
    best: Vec<f64>,
    anderson: Anderson,
}

impl Admm {
    /// The method with these settings.
    pub fn new(settings: AdmmSettings) -> Self {
        Admm {
            settings,
            layout: Layout::default(),
            system: System::None,
            factored: None,
            y: Vec::new(),
            x: Vec::new(),
            t: Vec::new(),
            reflected: Vec::new(),
            before: Vec::new(),
            best: Vec::new(),
            anderson: Anderson::default(),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.run(problem, z, w, self.settings.max_iter, |_, _| true)
    }

    /// The same with a limit of iterations of its own, as long as `go_on(iterations, residual)`
    /// says so after each measurement.
    pub(crate) fn run(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        limit: usize,
        mut go_on: impl FnMut(usize, f64) -> bool,
    ) -> Result<Report, NumericsError> {
        self.prepare(problem)?;
        let (tol, limit) = (self.settings.tol, limit.min(self.settings.max_iter));

        let mut least = residual(problem, z, w);
        self.best.copy_from_slice(z);
        let mut rho = 0.0;
        let (mut iterations, mut measure) = (0, 1);
        let mut pace = Pace::new();
        let status = loop {
            // stop: solved, lost, or out of iterations
            if least.value <= tol {
                break Status::Solved;
            }
            if iterations == 0 {
                // t = z − w/(ρ d), from the guess
                let Some(first) = self.factor(problem, self.settings.rho) else {
                    break Status::Diverged;
                };
                rho = first;
                for i in 0..z.len() {
                    self.t[i] = z[i] - w[i] / (rho * self.layout.d[i]);
                }
            }
            if !self.t.iter().all(|t| t.is_finite()) {
                break Status::Diverged;
            }
            if iterations >= limit {
                break Status::MaxIter;
            }
            iterations += 1;

            // (1), and now and then how far it is from a solution
            std::mem::swap(&mut self.before, &mut self.y);
            self.y.copy_from_slice(&self.t);
            self.layout.resolve(rho, &mut self.y);
            if iterations == measure || iterations == limit {
                let now = residual(problem, &self.y, w);
                if now.value < least.value {
                    least = now;
                    self.best.copy_from_slice(&self.y);
                }
                if least.value > tol && !go_on(iterations, now.value) {
                    break Status::MaxIter;
                }
                measure = iterations + (1 + iterations / 8).min(10);
            }

            // (2), (3)
            self.linear(problem, rho);
            pace.add(&self.layout.d, &self.x, &self.y, &self.before);
            self.anderson.step(pace.stage(), &self.layout.d, &self.x, &self.y, &mut self.t);

            if let Some(factor) = pace.change(iterations, least.value) {
                match self.change(problem, rho, rho * factor) {
                    Some(next) => rho = next,
                    None => break Status::Diverged,
                }
            }
        };
        z.copy_from_slice(&self.best);
        let least = residual(problem, z, w);
        let (residual, worst) = (least.value, least.worst);
        Ok(Report { status, iterations, residual, worst, method: "admm" })
    }

    /// Layout, `D` and symbolic analysis for a new matrix; buffers.
    fn prepare(&mut self, problem: &Problem) -> Result<(), NumericsError> {
        let n = problem.len();
        if let Operator::Function(_) = problem.matrix() {
            let what = "a map that is not linear";
            return Err(NumericsError::Unsupported { method: "admm", what });
        }
        let moved = self.layout.update(problem);
        if moved || self.factored.is_none_or(|(id, _)| id != problem.matrix_id()) {
            self.factored = None;
            self.system = System::new(problem.matrix(), &self.layout.d);
        }
        let Admm { y, x, t, reflected, before, best, .. } = self;
        for buffer in [y, x, t, reflected, before, best] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.anderson.resize(n);
        Ok(())
    }

    /// Factors for this `ρ`, or where the matrix is singular for a larger one, which it returns.
    fn factor(&mut self, problem: &Problem, rho: f64) -> Option<f64> {
        let mut rho = rho;
        for _ in 0..TRIES {
            let wanted = (problem.matrix_id(), rho);
            if self.factored == Some(wanted) {
                return Some(rho);
            }
            self.factored = None;
            if self.system.factor(&self.layout.d, rho) {
                self.factored = Some(wanted);
                return Some(rho);
            }
            rho *= 10.0;
        }
        None
    }

    /// Another `ρ` with the same `y` and `w`.
    fn change(&mut self, problem: &Problem, rho: f64, next: f64) -> Option<f64> {
        let next = self.factor(problem, next)?;
        self.y.copy_from_slice(&self.t);
        self.layout.resolve(rho, &mut self.y);
        for (t, y) in self.t.iter_mut().zip(&self.y) {
            *t = y + (*t - y) * rho / next;
        }
        self.anderson.restart();
        Some(next)
    }

    /// Equation (2) or (4).
    fn linear(&mut self, problem: &Problem, rho: f64) {
        let Admm { layout, system, x, y, t, reflected: r, .. } = self;
        let (d, q) = (&layout.d, problem.q());
        for i in 0..r.len() {
            r[i] = 2.0 * y[i] - t[i];
        }
        match system {
            System::None => {}
            System::Dense { lu, .. } => {
                for i in 0..x.len() {
                    x[i] = rho * d[i] * r[i] - q[i];
                }
                lu.solve(x);
            }
            System::Sparse { factor, .. } => {
                for i in 0..x.len() {
                    x[i] = rho * d[i] * r[i] - q[i];
                }
                factor.solve(x);
            }
            System::Global { factor, v, .. } => {
                let Some(global) = problem.global() else { return };
                for i in 0..x.len() {
                    x[i] = r[i] - q[i] / (rho * d[i]);
                }
                for (i, v) in v.iter_mut().enumerate() {
                    *v = global.f()[i] + global.H().row_dot(i, x);
                }
                factor.solve(v);
                for (i, product) in global.transposed().products(v).enumerate() {
                    x[i] -= product / (rho * d[i]);
                }
            }
        }
    }
}

/// The matrix of (2) or (4), and its factors.
#[derive(Debug)]
enum System {
    None,
    Dense {
        matrix: Matrix,
        sum: Matrix,
        lu: Box<DenseLu>,
    },
    Sparse {
        matrix: Sparse,
        factor: Box<SparseFactor>,
    },
    /// `M` and `H D⁻¹ Hᵀ`, both with the entries of either.
    Global {
        mass: Sparse,
        forces: Sparse,
        factor: Box<SparseFactor>,
        v: Vec<f64>,
    },
}

impl System {
    /// Pattern and symbolic analysis.
    fn new(operator: &Operator, d: &[f64]) -> System {
        let sparse = |matrix: Sparse| {
            let symmetric = matrix.is_symmetric(SYMMETRY);
            let factor = Box::new(SparseFactor::with_symmetry(&matrix, symmetric));
            System::Sparse { matrix, factor }
        };
        match operator {
            Operator::Dense(_) | Operator::Sparse(_) if d.len() <= DENSE => {
                let lu = Box::new(DenseLu::with_capacity(d.len()));
                System::Dense { matrix: operator.to_dense(), sum: Matrix::default(), lu }
            }
            Operator::Dense(matrix) => sparse(Sparse::from_dense(matrix)),
            Operator::Sparse(matrix) => sparse(matrix.clone()),
            Operator::Global(global) => System::global(global, d),
            Operator::Function(_) => System::None,
        }
    }

    fn global(global: &Global, d: &[f64]) -> System {
        let n = global.velocities();
        let scaled: Vec<_> = global.H().iter().map(|(i, j, h)| (i, j, h / d[j])).collect();
        let scaled = Sparse::from_triplets(n, d.len(), &scaled);
        let forces = scaled.mul(global.transposed());
        let zeros = |matrix: &Sparse| -> Vec<(usize, usize, f64)> {
            matrix.iter().map(|(i, j, _)| (i, j, 0.0)).collect()
        };
        let joined = |matrix: &Sparse, mut others: Vec<_>| {
            others.extend(matrix.iter());
            Sparse::from_triplets(n, n, &others)
        };
        let mass = joined(global.mass(), zeros(&forces));
        let forces = joined(&forces, zeros(global.mass()));
        let symmetric = mass.is_symmetric(SYMMETRY);
        let factor = Box::new(SparseFactor::with_symmetry(&mass, symmetric));
        System::Global { mass, forces, factor, v: vec![0.0; n] }
    }

    /// The factors for this `ρ`; false if the matrix is singular.
    fn factor(&mut self, d: &[f64], rho: f64) -> bool {
        match self {
            System::None => false,
            System::Dense { matrix, sum, lu } => {
                sum.clone_from(matrix);
                let n = d.len();
                for i in 0..n {
                    sum.data_mut()[i * n + i] += rho * d[i];
                }
                lu.factor(sum).is_ok()
            }
            System::Sparse { matrix, factor } => {
                let mut values = Vec::with_capacity(matrix.len());
                for (i, j, value) in matrix.iter() {
                    values.push(if i == j { value + rho * d[i] } else { value });
                }
                factor.factor_with(|k| values[k], |i| rho * d[i]).is_ok()
            }
            System::Global { mass, forces, factor, .. } => {
                let (mass, forces) = (mass.entries(), forces.entries());
                factor.factor_with(|k| mass[k].value + forces[k].value / rho, |_| 0.0).is_ok()
            }
        }
    }
}

/// How far a matrix may be from symmetric to be taken for it.
const SYMMETRY: f64 = 1e-12;

/// When `ρ` and the acceleration change.
#[derive(Debug)]
struct Pace {
    primal: f64, // sums of ‖x − y‖ and ‖y − y_before‖ since the last change
    dual: f64,
    balance: usize, // the iteration of the next change
    stage: usize,
    judged: usize, // the iteration in which the stage is judged
    residual: f64, // when it was judged before
}

impl Pace {
    fn new() -> Self {
        let (balance, judged) = (BALANCE, PATIENCE);
        Pace { primal: 0.0, dual: 0.0, balance, stage: 0, judged, residual: f64::INFINITY }
    }

    fn stage(&self) -> Stage {
        STAGES[self.stage]
    }

    /// Notes both residuals of an iteration, in the norm of `D`.
    fn add(&mut self, d: &[f64], x: &[f64], y: &[f64], before: &[f64]) {
        let (mut primal, mut dual) = (0.0, 0.0);
        for i in 0..d.len() {
            primal += d[i] * (x[i] - y[i]) * (x[i] - y[i]);
            dual += d[i] * (y[i] - before[i]) * (y[i] - before[i]);
        }
        self.primal += primal.sqrt();
        self.dual += dual.sqrt();
    }

    /// By how much `ρ` is to change, if it is.
    fn change(&mut self, iteration: usize, residual: f64) -> Option<f64> {
        let mut factor = None;
        if iteration >= self.balance {
            self.balance = 2 * iteration;
            let ratio = self.primal / self.dual;
            let balanced = (1.0 / UNBALANCED..=UNBALANCED).contains(&ratio);
            (self.primal, self.dual) = (0.0, 0.0);
            if !balanced && ratio.is_finite() {
                factor = Some(ratio.clamp(1.0 / UNBALANCED, UNBALANCED));
            }
        }
        if iteration >= self.judged {
            if residual > 0.5 * self.residual {
                self.stage = (self.stage + 1) % STAGES.len();
                factor = Some(STAGES[self.stage].rho);
            }
            self.residual = residual;
            self.judged = iteration + PATIENCE.max(iteration / 4);
        }
        factor
    }
}

/// Anderson's acceleration of a fixed-point iteration `t ← T(t)`, in the norm of `D`.
///
/// ```text
/// t ← T(t) − Σ γⱼ ΔTⱼ,     γ = argmin ‖ r − Σ γⱼ Δrⱼ ‖,     r = T(t) − t                       (5)
/// ```
#[derive(Debug, Default)]
struct Anderson {
    images: Vec<Vec<f64>>,  // ΔT of the last steps, in a ring
    defects: Vec<Vec<f64>>, // √d Δr of them
    count: usize,           // of them that hold something
    next: usize,
    gram: [[f64; MEMORY]; MEMORY],
    image: Vec<f64>,   // T(t)
    defect: Vec<f64>,  // √d r
    last: Option<f64>, // ‖r‖ of the step before
    accelerated: bool, // that step was
    steps: usize,
}

impl Anderson {
    fn resize(&mut self, n: usize) {
        self.images.resize_with(MEMORY, Vec::new);
        self.defects.resize_with(MEMORY, Vec::new);
        let ring = self.images.iter_mut().chain(&mut self.defects);
        for buffer in ring.chain([&mut self.image, &mut self.defect]) {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.steps = 0;
        self.restart();
    }

    /// Forgets the steps so far.
    fn restart(&mut self) {
        (self.count, self.next, self.last, self.accelerated) = (0, 0, None, false);
    }

    /// `t` after the next step.
    fn step(&mut self, stage: Stage, d: &[f64], x: &[f64], y: &[f64], t: &mut [f64]) {
        let n = t.len();
        let squares = (0..n).map(|i| d[i] * (x[i] - y[i]) * (x[i] - y[i]));
        let size = stage.relaxation * squares.sum::<f64>().sqrt();
        if let Some(last) = self.last
            && self.accelerated
            && !(size <= GROWTH * last)
        {
            // it led astray: the plain step from the point before
            t.copy_from_slice(&self.image);
            self.restart();
            return;
        }

        // T(t) and r, and their changes
        let column = self.next;
        let (images, defects) = (&mut self.images[column], &mut self.defects[column]);
        for i in 0..n {
            let r = stage.relaxation * (x[i] - y[i]);
            let (image, defect) = (t[i] + r, d[i].sqrt() * r);
            images[i] = image - self.image[i];
            defects[i] = defect - self.defect[i];
            self.image[i] = image;
            self.defect[i] = defect;
        }
        if self.last.is_some() {
            self.count = (self.count + 1).min(MEMORY);
            for k in 0..self.count {
                let product = dot(&self.defects[k], &self.defects[column]);
                self.gram[k][column] = product;
                self.gram[column][k] = product;
            }
            self.next = (column + 1) % MEMORY;
        }
        self.last = Some(size);
        t.copy_from_slice(&self.image);

        // (5), where it is its turn
        self.steps += 1;
        let mut gamma = [0.0; MEMORY];
        for k in 0..self.count {
            gamma[k] = dot(&self.defects[k], &self.defect);
        }
        self.accelerated = self.count > 0
            && self.steps.is_multiple_of(stage.period)
            && least_squares(&self.gram, self.count, &mut gamma);
        if self.accelerated {
            for k in 0..self.count {
                for (t, change) in t.iter_mut().zip(&self.images[k]) {
                    *t -= gamma[k] * change;
                }
            }
        }
    }
}

/// `b ← (G + ε tr G)⁻¹ b` by Cholesky's method, for the first `n` rows; false where that fails.
fn least_squares(gram: &[[f64; MEMORY]; MEMORY], n: usize, b: &mut [f64; MEMORY]) -> bool {
    let trace: f64 = (0..n).map(|i| gram[i][i]).sum();
    let mut l = [[0.0; MEMORY]; MEMORY];
    for i in 0..n {
        for j in 0..=i {
            let sum = gram[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            if i > j {
                l[i][j] = sum / l[j][j];
                continue;
            }
            let pivot = sum + 1e-12 * trace;
            if !(pivot > 0.0) {
                return false;
            }
            l[i][i] = pivot.sqrt();
        }
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| l[i][k] * b[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| l[k][i] * b[k]).sum::<f64>()) / l[i][i];
    }
    b[..n].iter().all(|b| b.is_finite())
}
