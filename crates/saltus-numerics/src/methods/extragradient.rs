//! Extragradient method, with a step that adapts itself.
//!
//! Two steps along the map, the second from the same point but with the map of the first:
//!
//! ```text
//! x̄ = J(x − ρ D⁻¹ F(x)),     x ← J(x − ρ D⁻¹ F(x̄))                                           (1)
//! ```
//!
//! `J` is the point of the laws (the projection, where they are those of a convex set; the
//! resolvent of a graph; for friction that of Signorini's and Coulomb's laws), `D` the diagonal of
//! the matrix by blocks, or 1 for a function. The step is accepted where the map does not bend too
//! much on the way, and made longer where it hardly does, with all norms those of `D`:
//!
//! ```text
//! ρ ‖D⁻¹ (F(x̄) − F(x))‖ ≤ 0.9 ‖x̄ − x‖,     else ρ ← 2/3 ρ;     ρ ← 3/2 ρ below 0.3            (2)
//! ```
//!
//! Converges for monotone maps that are Lipschitz on the set, whether or not they are linear or
//! symmetric, and on many friction problems; slowly where `W` is badly conditioned. Nothing is
//! factored. Cost of an iteration: two evaluations of the map, one more for each try of (2).
//! References: Korpelevich, *Matecon* 12 (1976) 747–756; Khobotov, *USSR Comput. Math. Math. Phys.*
//! 27 (1987) 120–127; He, Liao, *J. Optim. Theory Appl.* 112 (2002) 111–128.

use super::layout::Layout;
use crate::residual::residual;
use crate::{ExtragradientSettings, NumericsError, Problem, Report, Status};

/// Largest ratio in (2), and the one below which the step grows.
const RATIO: (f64, f64) = (0.9, 0.3);
/// Tries of (2) in an iteration.
const TRIES: usize = 100;

/// The extragradient method and the buffers it keeps between calls.
#[derive(Debug)]
pub struct Extragradient {
    settings: ExtragradientSettings,
    layout: Layout,
    bar: Vec<f64>,     // x̄
    map_bar: Vec<f64>, // F(x̄)
    best: Vec<f64>,
}

impl Extragradient {
    /// The method with these settings.
    pub fn new(settings: ExtragradientSettings) -> Self {
        Extragradient {
            settings,
            layout: Layout::default(),
            bar: Vec::new(),
            map_bar: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = F(z) + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem, z);

        let mut rho = 1.0;
        let mut iterations = 0;
        let mut least = f64::INFINITY;
        let tol = self.settings.tol;
        let status = loop {
            let now = residual(problem, z, w);
            if now.value <= least {
                least = now.value;
                self.best.copy_from_slice(z);
            }

            // stop: solved, lost, or out of iterations
            if least <= tol {
                break Status::Solved;
            }
            if !now.value.is_finite() {
                break Status::Diverged;
            }
            if iterations == self.settings.max_iter {
                break Status::MaxIter;
            }
            iterations += 1;

            // (2), then the second step of (1)
            let Some((accepted, ratio)) = self.first_step(problem, z, w, rho) else {
                break Status::Diverged;
            };
            rho = accepted;
            for i in 0..z.len() {
                z[i] -= rho * self.map_bar[i] / self.layout.d[i];
            }
            self.layout.resolve(1.0 / rho, z);
            if ratio < RATIO.1 {
                rho *= 1.5;
            }
        };
        z.copy_from_slice(&self.best);
        let least = residual(problem, z, w);
        let (residual, worst) = (least.value, least.worst);
        Ok(Report { status, iterations, residual, worst, method: "extragradient" })
    }

    /// Blocks, buffers, and a start within the sets.
    fn prepare(&mut self, problem: &Problem, z: &mut [f64]) {
        self.layout.update(problem);
        for buffer in [&mut self.bar, &mut self.map_bar, &mut self.best] {
            buffer.clear();
            buffer.resize(z.len(), 0.0);
        }
        self.layout.project(z);
        self.best.copy_from_slice(z);
    }

    /// `x̄` and `F(x̄)` with a step that passes (2), and the ratio of its sides.
    fn first_step(
        &mut self,
        problem: &Problem,
        x: &[f64],
        map: &[f64],
        rho: f64,
    ) -> Option<(f64, f64)> {
        let d = &self.layout.d;
        let mut rho = rho;
        for _ in 0..TRIES {
            for i in 0..x.len() {
                self.bar[i] = x[i] - rho * map[i] / d[i];
            }
            self.layout.resolve(1.0 / rho, &mut self.bar);
            problem.eval(&self.bar, &mut self.map_bar);
            let (mut bend, mut length) = (0.0, 0.0);
            for i in 0..x.len() {
                bend += (self.map_bar[i] - map[i]).powi(2) / d[i];
                length += (self.bar[i] - x[i]).powi(2) * d[i];
            }
            // a map that is not finite there bends too much
            let ratio = rho * (bend / length).sqrt();
            if ratio <= RATIO.0 || bend == 0.0 {
                return Some((rho, ratio));
            }
            rho *= 2.0 / 3.0;
        }
        None
    }
}
