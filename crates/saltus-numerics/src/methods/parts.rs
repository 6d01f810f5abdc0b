//! Parts of a problem, solved or swept one by one, while the rest stays as it is.

use super::cones::Cones;
use super::islands::Neighbourhood;
use super::regions;
use crate::residual::Residual;
use crate::{Attempt, AutoSettings, NumericsError, Problem, Report, Status};

/// Most sweeps of a large spot.
const MOST: usize = 50;

/// A portfolio for the parts, and what it keeps from one to the next.
pub(super) struct Parts {
    pub inner: Cones,
    /// The most that one of them took.
    pub iterations: usize,
    z: Vec<f64>,
    w: Vec<f64>,
    attempts: Vec<Attempt>,
}

impl Parts {
    pub fn new(settings: AutoSettings) -> Self {
        let (z, w, attempts) = (Vec::new(), Vec::new(), Vec::new());
        Parts { inner: Cones::new(settings), iterations: 0, z, w, attempts }
    }

    /// Solves for these blocks, from the point in `z` and with the others as they are there.
    pub fn solve(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        of: &[usize],
        z: &mut [f64],
    ) {
        self.each(problem, blocks, of, z, |parts, part| {
            parts.inner.solve(part, &mut parts.z, &mut parts.w, &mut parts.attempts)
        });
    }

    /// Solves for the spots around the blocks with at least this share of the residual; sweeps those
    /// that are not small, whose factors would cost more.
    pub fn solve_spots(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        shares: &[f64],
        level: f64,
        rings: usize,
        z: &mut [f64],
    ) {
        for spot in &regions::spots(blocks, shares, level, rings) {
            match spot.len() <= regions::LARGEST {
                true => self.solve(problem, blocks, spot, z),
                false => self.sweep(problem, blocks, spot, z, MOST),
            }
        }
    }

    /// Sweeps these blocks at most so many times.
    pub fn sweep(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        of: &[usize],
        z: &mut [f64],
        limit: usize,
    ) {
        self.each(problem, blocks, of, z, |parts, part| {
            let (z, w) = (&mut parts.z, &mut parts.w);
            parts.inner.gauss_seidel.run(part, z, w, limit, |_, _| true)
        });
    }

    fn each(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        of: &[usize],
        z: &mut [f64],
        solve: impl FnOnce(&mut Self, &Problem) -> Result<Report, NumericsError>,
    ) {
        let Some((part, unknowns)) = blocks.part(problem, of, z) else { return };
        self.z.clear();
        self.z.extend(unknowns.iter().map(|&i| z[i]));
        self.w.clear();
        self.w.resize(unknowns.len(), 0.0);
        if let Ok(found) = solve(self, &part) {
            self.iterations = self.iterations.max(found.iterations);
            unknowns.iter().zip(&self.z).for_each(|(&i, value)| z[i] = *value);
        }
    }

    /// What the whole has become.
    pub fn report(&self, last: Residual, tol: f64, method: &'static str) -> Report {
        let status = if last.value <= tol { Status::Solved } else { Status::MaxIter };
        let (residual, worst, iterations) = (last.value, last.worst, self.iterations);
        Report { status, iterations, residual, worst, method }
    }
}
