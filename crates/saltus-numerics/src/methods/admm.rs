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
//! For many bodies (4) is solved by conjugate gradients (see `gradients`), from the last velocities.
//!
//! The fixed-point iteration (1)–(3) is accelerated (see `anderson`). `ρ` follows the ratio of the two residuals,
//! `‖x − y‖` and `ρ ‖y − y_before‖`, but changes only a few times. Where the residual no longer
//! falls, the iteration runs in a circle between modes: less acceleration and another `ρ`, stage
//! by stage, lead out of it.
//!
//! Converges for positive semidefinite `W` and convex sets, and on most friction problems, also
//! where there are more contacts than degrees of freedom. Cost of an iteration: one solution with
//! the factors. References: Boyd, Parikh, Chu, Peleato, Eckstein, *Found. Trends Mach. Learn.* 3
//! (2011) 1–122; Fu, Zhang, Boyd, *SIAM J. Sci. Comput.* 42 (2020) A3560–A3583; Acary, Brémond,
//! Huber, in *Advanced Topics in Nonsmooth Dynamics*, 2018.

use super::anderson::Anderson;
use super::bodies::of_masses;
use super::gradients::Gradients;
use super::layout::Layout;
use crate::residual::residual;
use crate::{AdmmSettings, Global, NumericsError, Operator, Problem, Report, Status};
use saltus_linalg::{DenseLu, Matrix, Sparse, SparseFactor};

/// Largest problem whose matrix is factored densely.
const DENSE: usize = 60;
/// Steps that the acceleration looks back on.
const MEMORY: usize = 15;
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
        let mut enough = 0.0; // the defect at which the residual may be small enough
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
            let mut measured = None;
            if iterations == measure || iterations == limit {
                let now = residual(problem, &self.y, w);
                if now.value < least.value {
                    least = now;
                    self.best.copy_from_slice(&self.y);
                }
                if least.value > tol && !go_on(iterations, now.value) {
                    break Status::MaxIter;
                }
                // measuring costs as much as an iteration or more: the less often the longer it takes, but
                // where the defect has become so small that the residual may be
                measure = iterations + (4 + iterations / 4).min(10);
                measured = Some(now.value);
            }

            // (2), (3)
            self.linear(problem, rho);
            let defect = pace.add(&self.layout.d, &self.x, &self.y, &self.before);
            if let Some(now) = measured {
                enough = defect * tol / now;
            }
            if defect <= enough {
                measure = iterations + 1;
            }
            let Stage { period, relaxation, .. } = pace.stage();
            for ((x, y), t) in self.x.iter_mut().zip(&self.y).zip(&mut self.t) {
                *x = relaxation * (*x - y);
                *t += *x;
            }
            self.anderson.step(period, &self.x, &mut self.t, &mut []);

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
            self.system = System::new(problem, &self.layout.d);
        }
        if let System::Iterative(gradients) = &mut self.system {
            gradients.forget(); // every call starts from its arguments
        }
        let Admm { y, x, t, reflected, before, best, .. } = self;
        for buffer in [y, x, t, reflected, before, best] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.anderson.resize(&self.layout.d, MEMORY, 0);
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
                for ((v, f), product) in v.iter_mut().zip(global.f()).zip(global.H().products(x)) {
                    *v = f + product;
                }
                factor.solve(v);
                for (i, product) in global.transposed().products(v).enumerate() {
                    x[i] -= product / (rho * d[i]);
                }
            }
            System::Iterative(gradients) => {
                for i in 0..x.len() {
                    x[i] = r[i] - q[i] / (rho * d[i]);
                }
                gradients.relax(x, INEXACT);
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
    /// The same for many bodies, whose factors would fill in: the last velocities are the guess of the next.
    Iterative(Box<Gradients>),
}

/// Most velocities whose matrix is factored.
const FACTORED: usize = 3000;
/// Share of its defect that a solution by conjugate gradients leaves.
const INEXACT: f64 = 0.05;

/// Whether the method works on this problem without factors: many rigid bodies.
pub(crate) fn is_iterative(problem: &Problem) -> bool {
    let many = |global: &&Global| global.velocities() > FACTORED;
    let global = problem.global().filter(many);
    global.is_some_and(|g| g.mass().is_symmetric(SYMMETRY)) && of_masses(problem).is_some()
}

impl System {
    /// Pattern and symbolic analysis.
    fn new(problem: &Problem, d: &[f64]) -> System {
        let operator = problem.matrix();
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
            Operator::Global(global) => {
                let gradients = Some(problem).filter(|p| is_iterative(p)).and_then(Gradients::new);
                match gradients {
                    Some(gradients) => System::Iterative(Box::new(gradients)),
                    None => System::global(global, d),
                }
            }
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
            System::Iterative(gradients) => gradients.prepare(d, rho),
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

    /// Notes both residuals of an iteration, in the norm of `D`; returns the first, `‖x − y‖`.
    fn add(&mut self, d: &[f64], x: &[f64], y: &[f64], before: &[f64]) -> f64 {
        let (mut primal, mut dual) = (0.0, 0.0);
        for i in 0..d.len() {
            primal += d[i] * (x[i] - y[i]) * (x[i] - y[i]);
            dual += d[i] * (y[i] - before[i]) * (y[i] - before[i]);
        }
        self.primal += primal.sqrt();
        self.dual += dual.sqrt();
        primal.sqrt()
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
