//! Semismooth Newton method with a proximal term.
//!
//! Each block's law is a system of equations, so the problem is one too. Which equations is a setting (see
//! [`NewtonFunction`](crate::NewtonFunction) and `sets/functions.rs`): the function of Alart and Curnier for
//! friction unless told, the natural map for the other sets.
//!
//! ```text
//! f(z, w) = 0,    w = W z + q                                                              (1)
//! (∂f/∂z + ∂f/∂w (W + α S)) d = −f                                                         (2)
//! ```
//!
//! `S` holds the mean diagonal of each block of `W`, and `α` falls with the residual: the term
//! makes (2) regular where `W` is not (more contacts than degrees of freedom), and vanishes at
//! the solution, where the convergence is fast. It stands for a step of the proximal point
//! method, `W + α S` in place of `W` with `q − α S z`, which has the same solutions. The step is
//! shortened until `‖f‖` falls below the largest of its last values; where that fails `α` grows.
//! Where this stalls, the proximal point method proper goes on: each of its problems, `α S (z − z₀)`
//! added to `w` for a fixed `z₀`, is solved by Newton's method before `z₀` moves.
//!
//! Each step is one factorization: dense for small problems, sparse with one symbolic analysis
//! for ever for larger ones; where a pair `(M, H)` has fewer velocities than forces, of a matrix
//! in the velocities (see `velocity`). References: Alart, Curnier, *Comput. Methods Appl. Mech. Engrg.* 92
//! (1991) 353–375; Acary, Brémond, Huber, in *Advanced Topics in Nonsmooth Dynamics*, 2018.

mod rows;
mod velocity;

use crate::blocks::Blocks;
use crate::residual::residual;
use crate::sets::Step;
use crate::{NewtonSettings, NumericsError, Problem, Report, Status};
pub(crate) use rows::Rows;
use saltus_linalg::{DenseLu, Matrix, SparseFactor, vector::norm2};
use velocity::Velocity;

/// Largest problem whose forces are never eliminated.
const SMALL: usize = 100;
/// Least proximal term where they are.
const FLOOR: f64 = 1e-8;
/// Largest problem whose matrix is factored densely.
const DENSE: usize = 300;
/// Steps of Newton's method for one of the proximal point method.
const INNER: usize = 15;
/// Share of `‖f‖` below which that one is done.
const EXACT: f64 = 0.1;
/// Values of `‖f‖` that a step is compared with.
const MEMORY: usize = 6;
/// Shortest step, as a power of one half.
const HALVINGS: usize = 8;

/// The semismooth Newton method and what it keeps between calls.
#[derive(Debug)]
pub struct Newton {
    settings: NewtonSettings,
    is_careful: bool,
    blocks: Blocks,
    version: u64, // of the blocks that the factor is for
    steps: Vec<Step>,
    size: Vec<f64>, // mean diagonal of each block
    factor: Factor,
    values: Vec<f64>, // of the matrix of (2), in the order of its pattern
    f: Vec<f64>,
    dz: Vec<f64>, // ∂f/∂z and ∂f/∂w, block after block
    dw: Vec<f64>,
    at: Vec<usize>, // where the blocks of these begin
    d: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    anchor: Vec<f64>, // where the proximal term is zero
}

#[derive(Debug)]
enum Factor {
    None,
    Dense { matrix: Matrix, lu: Box<DenseLu> },
    Sparse(Box<SparseFactor>),
    Velocity(Box<Velocity>),
}

impl Newton {
    /// The method with these settings.
    pub fn new(settings: NewtonSettings) -> Self {
        Newton {
            settings,
            is_careful: true,
            blocks: Blocks::default(),
            version: 0,
            steps: Vec::new(),
            size: Vec::new(),
            factor: Factor::None,
            values: Vec::new(),
            f: Vec::new(),
            dz: Vec::new(),
            dw: Vec::new(),
            at: Vec::new(),
            d: Vec::new(),
            trial: Vec::new(),
            best: Vec::new(),
            anchor: Vec::new(),
        }
    }

    /// Another size of the proximal term, and whether to go on where the quick steps stall.
    pub(crate) fn set_proximal(&mut self, proximal: f64, careful: bool) {
        self.settings.proximal = proximal;
        self.is_careful = careful;
    }

    /// Another number of steps without progress after which it gives up.
    pub(crate) fn set_patience(&mut self, patience: usize) {
        self.settings.patience = patience;
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem)?;
        let mut steps = 0;
        self.best.copy_from_slice(z);
        let mut status = self.quick(problem, z, w, &mut steps);
        if status == Status::Diverged && self.is_careful {
            z.copy_from_slice(&self.best);
            status = self.careful(problem, z, w, &mut steps);
        }
        z.copy_from_slice(&self.best);
        self.blocks.project(z);
        let mut least = residual(problem, z, w);
        if status == Status::Solved && !(least.value <= self.settings.tol) {
            z.copy_from_slice(&self.best);
            least = residual(problem, z, w);
        }
        let (residual, worst) = (least.value, least.worst);
        Ok(Report { status, iterations: steps, residual, worst, method: "newton" })
    }

    /// Steps (2) from the point where they are; leaves the best point in `best`.
    fn quick(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: &mut usize,
    ) -> Status {
        let mut least = residual(problem, z, w);
        self.best.copy_from_slice(z);
        let mut merits = [f64::INFINITY; MEMORY];
        let mut alpha = self.settings.proximal;
        let mut stalled = 0;
        loop {
            self.blocks.matrix.apply_plus(z, &self.blocks.q, w);
            self.linearize(z, w);
            let merit = norm2(&self.f);
            merits[*iterations % MEMORY] = merit;
            let now = if *iterations == 0 { least } else { residual(problem, z, w) };
            if now.value < least.value || least.value.is_nan() {
                if now.value < 0.9 * least.value {
                    stalled = 0;
                }
                least = now;
                self.best.copy_from_slice(z);
            }

            // stop: solved, lost, or out of steps
            if least.value <= self.settings.tol {
                return Status::Solved;
            }
            if !merit.is_finite() || stalled > self.settings.patience {
                return Status::Diverged;
            }
            if *iterations >= self.settings.max_iter {
                return Status::MaxIter;
            }
            *iterations += 1;
            stalled += 1;

            // the proximal term follows the residual down
            let proximal = alpha * now.value.min(1.0);
            if !self.direction(proximal) {
                alpha = (alpha * 10.0).min(1e6);
                continue;
            }
            let reference = merits.iter().copied().filter(|m| m.is_finite()).fold(0.0, f64::max);
            let mut length = 1.0;
            let mut found = false;
            for _ in 0..HALVINGS {
                for i in 0..z.len() {
                    self.trial[i] = z[i] + length * self.d[i];
                }
                self.blocks.matrix.apply_plus(&self.trial, &self.blocks.q, w);
                if self.merit(w) <= (1.0 - 1e-4 * length) * reference {
                    found = true;
                    break;
                }
                length *= 0.5;
            }
            // without a shorter ‖f‖ the step is taken all the same, with more care thereafter
            alpha =
                if found && length > 0.3 { self.settings.proximal } else { (alpha * 3.0).min(1e6) };
            z.copy_from_slice(&self.trial);
        }
    }

    /// Steps of the proximal point method proper, each solved by Newton's: slower, and surer.
    fn careful(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        steps: &mut usize,
    ) -> Status {
        let mut least = residual(problem, z, w);
        self.best.copy_from_slice(z);
        let mut now = least;
        let mut boost = 1.0;
        let mut stalled = 0;
        loop {
            // stop: solved, lost, or out of steps
            if least.value <= self.settings.tol {
                return Status::Solved;
            }
            if !least.value.is_finite() || stalled >= self.settings.patience {
                return Status::Diverged;
            }
            if *steps >= self.settings.max_iter {
                return Status::MaxIter;
            }

            // one step of the proximal point method, by a few of Newton's
            self.anchor.copy_from_slice(z);
            let alpha = (self.settings.proximal * boost * now.value.min(1.0)).max(1e-14);
            let before = least.value;
            let mut merit = f64::NAN; // ‖f‖ at the beginning
            let mut done = false;
            for inner in 0..INNER {
                self.shifted(z, w, alpha);
                self.linearize(z, w);
                let size = norm2(&self.f);
                if inner == 0 {
                    merit = size;
                }
                done = inner > 0 && size <= EXACT * merit;
                if done || !size.is_finite() {
                    break;
                }
                *steps += 1;
                stalled += 1;
                if !self.direction(alpha) || !self.search(z, w, alpha, size) {
                    break;
                }
                now = residual(problem, z, w);
                if now.value < least.value || least.value.is_nan() {
                    least = now;
                    self.best.copy_from_slice(z);
                }
                if least.value <= self.settings.tol || *steps >= self.settings.max_iter {
                    break;
                }
            }
            if least.value < 0.9 * before {
                stalled = 0;
            }
            if done {
                boost *= 0.3;
            } else {
                boost *= 10.0;
                z.copy_from_slice(&self.anchor);
                now = residual(problem, z, w);
            }
            if boost > 1e10 {
                return Status::Diverged;
            }
        }
    }

    /// `w ← W z + q + α S (z − anchor)`.
    fn shifted(&self, z: &[f64], w: &mut [f64], alpha: f64) {
        self.blocks.matrix.apply_plus(z, &self.blocks.q, w);
        for k in 0..self.blocks.len() {
            let shift = alpha * self.size[k];
            for i in self.blocks.matrix.range(k) {
                w[i] += shift * (z[i] - self.anchor[i]);
            }
        }
    }

    /// Goes along `d` as far as `‖f‖` falls; false if it does not.
    fn search(&mut self, z: &mut [f64], w: &mut [f64], alpha: f64, merit: f64) -> bool {
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            for i in 0..z.len() {
                self.trial[i] = z[i] + length * self.d[i];
            }
            self.shifted(&self.trial, w, alpha);
            if self.merit(w) <= (1.0 - 1e-4 * length) * merit {
                z.copy_from_slice(&self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// Steps, pattern and symbolic analysis for a new matrix; buffers.
    fn prepare(&mut self, problem: &Problem) -> Result<(), NumericsError> {
        self.blocks.update("newton", problem)?;
        let n = problem.len();
        let blocks = &self.blocks;
        self.steps.clear();
        self.size.clear();
        self.at.clear();
        self.at.push(0);
        for k in 0..blocks.len() {
            let (W, size) = (blocks.matrix.diagonal(k), blocks.matrix.range(k).len());
            self.steps.push(Step::of_block(&blocks.sets[k], self.settings.function, W, size));
            let trace: f64 = (0..size).map(|i| W[i * size + i].abs()).sum();
            self.size.push(if trace > 0.0 { trace / size as f64 } else { 1.0 });
            self.at.push(self.at[k] + size * size);
        }
        for buffer in [&mut self.f, &mut self.d, &mut self.trial, &mut self.best, &mut self.anchor]
        {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        for buffer in [&mut self.dz, &mut self.dw] {
            buffer.clear();
            buffer.resize(self.at[blocks.len()], 0.0);
        }
        if self.version != blocks.version {
            self.version = blocks.version;
            let fewer = problem.global().filter(|global| global.velocities() < n && n > SMALL);
            self.factor = if let Some(global) = fewer {
                Factor::Velocity(Box::new(Velocity::new(global, blocks)))
            } else if n <= DENSE {
                let lu = Box::new(DenseLu::with_capacity(n));
                Factor::Dense { matrix: Matrix::zeros(n, n), lu }
            } else {
                let pattern = blocks.matrix.pattern();
                self.values.resize(pattern.len(), 0.0);
                Factor::Sparse(Box::new(SparseFactor::with_symmetry(&pattern, false)))
            };
        }
        Ok(())
    }

    /// `f` and its Jacobians.
    fn linearize(&mut self, z: &[f64], w: &[f64]) {
        for k in 0..self.blocks.len() {
            let (range, at) = (self.blocks.matrix.range(k), self.at[k]..self.at[k + 1]);
            self.blocks.sets[k].newton_function(
                self.settings.function,
                self.steps[k],
                &z[range.clone()],
                &w[range.clone()],
                &mut self.f[range],
                &mut self.dz[at.clone()],
                &mut self.dw[at],
            );
        }
    }

    /// `‖f‖` at the trial point.
    fn merit(&mut self, w: &[f64]) -> f64 {
        let (mut sum, mut f) = (0.0, [0.0; 8]);
        let mut long = Vec::new();
        for k in 0..self.blocks.len() {
            let range = self.blocks.matrix.range(k);
            let f = if range.len() <= 8 {
                &mut f[..range.len()]
            } else {
                long.resize(range.len(), 0.0);
                &mut long[..]
            };
            let (z, w) = (&self.trial[range.clone()], &w[range]);
            self.blocks.sets[k].newton_value(self.settings.function, self.steps[k], z, w, f);
            sum += f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// Equation (2); false if its matrix is singular.
    fn direction(&mut self, alpha: f64) -> bool {
        for (d, f) in self.d.iter_mut().zip(&self.f) {
            *d = -f;
        }
        let Newton { blocks, size, dz, dw, at, factor, values, d, .. } = self;
        let rows = Rows { blocks, size, dz, dw, at, alpha };
        match factor {
            Factor::None => false,
            Factor::Velocity(velocity) => {
                velocity.solve(blocks, alpha.max(FLOOR), size, (dz, dw, at), d)
            }
            Factor::Dense { matrix, lu } => {
                matrix.reset(d.len(), d.len());
                let n = d.len();
                rows.for_each(|i, j, value| matrix.data_mut()[i * n + j] = value);
                lu.factor(matrix).is_ok() && {
                    lu.solve(d);
                    d.iter().all(|d| d.is_finite())
                }
            }
            Factor::Sparse(factor) => {
                let mut k = 0;
                rows.for_each(|_, _, value| {
                    values[k] = value;
                    k += 1;
                });
                factor.factor_with(|k| values[k], |_| 0.0).is_ok() && {
                    factor.solve(d);
                    d.iter().all(|d| d.is_finite())
                }
            }
        }
    }
}
