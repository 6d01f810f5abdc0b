//! Parts of a problem, solved or swept one by one, while the rest stays as it is.
//!
//! Contacts of bodies in space that sweeps and Newton's method do not solve go through the interior point method on
//! their bodies (see `bodies::part`), whose factors are those of blocks of six.

use super::cones::Cones;
use super::islands::Neighbourhood;
use super::regions;
use crate::bodies::Contacts;
use crate::residual::Residual;
use crate::{Attempt, AutoSettings, Problem, Report, Status};

/// Most sweeps of a large spot.
const MOST: usize = 50;
/// Methods after the sweeps of a part before the interior point method on its bodies.
const FEW_TRIES: usize = 1;

/// A portfolio for the parts, and what it keeps from one to the next.
pub(super) struct Parts<'a> {
    pub inner: Cones,
    contacts: Option<&'a mut Contacts>,
    tol: f64,
    /// The most that one of them took.
    pub iterations: usize,
    z: Vec<f64>,
    w: Vec<f64>,
    attempts: Vec<Attempt>,
}

impl<'a> Parts<'a> {
    pub fn new(settings: AutoSettings) -> Self {
        let (z, w, attempts, tol) = (Vec::new(), Vec::new(), Vec::new(), settings.tol);
        let inner = Cones::new(settings);
        Parts { inner, contacts: None, tol, iterations: 0, z, w, attempts }
    }

    /// With all of it as contacts of bodies, from the point in `z`.
    pub fn among(mut self, contacts: Option<&'a mut Contacts>, z: &[f64]) -> Self {
        self.contacts = contacts;
        if let Some(contacts) = &mut self.contacts {
            contacts.begin(z);
        }
        self
    }

    /// Solves for these blocks, from the point in `z` and with the others as they are there.
    pub fn solve(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        of: &[usize],
        z: &mut [f64],
    ) {
        if self.contacts.is_some() {
            // what is nearest to where it is, by little
            self.inner.most_tries = FEW_TRIES;
            let mut is_solved = false;
            self.each(problem, blocks, of, z, |parts, part| {
                let report =
                    parts.inner.solve(part, &mut parts.z, &mut parts.w, &mut parts.attempts);
                let report = report.ok().filter(|report| report.status == Status::Solved);
                is_solved = report.is_some();
                report
            });
            self.inner.most_tries = usize::MAX;
            let tol = self.tol;
            let by_bodies = |contacts: &mut &mut Contacts| contacts.solve(of, tol, z);
            if is_solved || self.contacts.as_mut().is_some_and(by_bodies) {
                return;
            }
        }
        self.each(problem, blocks, of, z, |parts, part| {
            parts.inner.solve(part, &mut parts.z, &mut parts.w, &mut parts.attempts).ok()
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
            parts.inner.gauss_seidel.run(part, z, w, limit, |_, _| true).ok()
        });
    }

    /// Sweeps all contacts of bodies so many times; false where there are none.
    pub fn sweep_all(&mut self, z: &mut [f64], sweeps: usize) -> bool {
        let Some(contacts) = &mut self.contacts else { return false };
        contacts.sweep(z, sweeps);
        self.iterations = sweeps;
        true
    }

    fn each(
        &mut self,
        problem: &Problem,
        blocks: &impl Neighbourhood,
        of: &[usize],
        z: &mut [f64],
        solve: impl FnOnce(&mut Self, &Problem) -> Option<Report>,
    ) {
        let Some((part, unknowns)) = blocks.part(problem, of, z) else { return };
        self.z.clear();
        self.z.extend(unknowns.iter().map(|&i| z[i]));
        self.w.clear();
        self.w.resize(unknowns.len(), 0.0);
        if let Some(found) = solve(self, &part) {
            self.iterations = self.iterations.max(found.iterations);
            // what is left in their place is how it was before
            unknowns
                .iter()
                .zip(&mut self.z)
                .for_each(|(&i, value)| std::mem::swap(&mut z[i], value));
            if let Some(contacts) = &mut self.contacts {
                contacts.follow(of, &self.z, z);
            }
        }
    }

    /// What the whole has become.
    pub fn report(&self, last: Residual, tol: f64, method: &'static str) -> Report {
        last.report(tol, Status::MaxIter, self.iterations, method)
    }
}
