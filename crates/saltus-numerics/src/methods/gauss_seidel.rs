//! Block Gauss–Seidel.
//!
//! One sweep visits the blocks in order and solves each for its own unknowns, exactly:
//!
//! ```text
//! b = q_c + Σ_{j≠c} W_cj z_j,     w_c = W_cc z_c + b with the law of the block               (1)
//! z_c ← (1 − ω) z_c + ω (the answer of (1))
//! ```
//!
//! Between the sweeps the step may be prolonged: by Anderson's method (see `anderson`), and once that
//! has led astray several times as in the method of conjugate gradients, with `g = z_before − z_after`
//! in place of the gradient:
//!
//! ```text
//! β = ‖g‖²/‖g_before‖²,     z ← z + β p,     p ← β p − g        (β > 1: p ← 0)              (2)
//! ```
//!
//! Converges for symmetric positive definite `W` and convex sets, for diagonally dominant `W`,
//! and on most friction problems; slowly where many contacts share a body. Needs a positive
//! diagonal. Cost of a sweep: one product with `W`, and one more each time it is measured.
//! Points of one face are not visited one after the other (see `faces_apart`).
//! Blocks that did not move for a while can be visited less often (`freeze`). Several threads can
//! share a sweep (see `coloured`).
//! References: Jourdan, Alart, Jean, *Comput. Methods Appl. Mech. Engrg.* 155 (1998) 31–47;
//! Silcowitz, Niebe, Erleben, *The Visual Computer* 26 (2010) 893–901.

use super::anderson::{Anderson, pieces};
use super::bodies::{Bodies, of_bodies};
use super::coloured::{self, Colouring};
use super::islands::Islands;
use crate::blocks::Blocks;
use crate::residual::residual;
use crate::sets::visit::Visit;
use crate::{GaussSeidelSettings, LARGEST_BLOCK, NumericsError, Problem, Report, Set, Status};
use saltus_linalg::BlockSparse;
use saltus_linalg::vector::dot;

/// Block Gauss–Seidel and the buffers it keeps between calls.
#[derive(Debug)]
pub struct GaussSeidel {
    settings: GaussSeidelSettings,
    pub(super) blocks: Blocks,
    bodies: Bodies,
    colouring: Option<(u64, Colouring)>, // and the version of the blocks it is of
    points: Points,
    visits: Vec<Visit>, // where all blocks are contacts in space
    visits_of: u64,     // and the version of the blocks they are of
    apart: usize,       // blocks from one visit to the next
    still: Vec<u32>,    // sweeps in which each block did not move
    long: Vec<f64>,     // b and z of a block too long for the stack
}

/// Steps that Anderson's method looks back on.
const MEMORY: usize = 5;
/// Times that it may lead astray.
const ASTRAY: usize = 3;
/// Points at which two faces touch.
const FACE: usize = 4;
/// Contacts up to which they are visited as they come.
const FEW: usize = 100;

/// What the iteration keeps besides `z`.
#[derive(Debug, Default)]
struct Points {
    step: Vec<f64>,      // of the last sweep; of islands that settle, the point before it
    direction: Vec<f64>, // p of (2)
    best: Vec<f64>,      // the z with the least residual
    diagonal: Vec<f64>,  // of W
    anderson: Anderson,
    astray: usize, // how often Anderson's method was
}

impl GaussSeidel {
    /// The method with these settings.
    pub fn new(settings: GaussSeidelSettings) -> Self {
        GaussSeidel {
            settings,
            blocks: Blocks::default(),
            bodies: Bodies::default(),
            colouring: None,
            points: Points::default(),
            visits: Vec::new(),
            visits_of: 0,
            apart: 1,
            still: Vec::new(),
            long: Vec::new(),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w = W z + q`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.run(problem, z, w, self.settings.max_iter, |_, _| true)
    }

    /// The same with a limit of sweeps of its own, as long as `go_on(sweeps, residual)` says so
    /// after each measurement.
    pub(crate) fn run(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        limit: usize,
        go_on: impl FnMut(usize, f64) -> bool,
    ) -> Result<Report, NumericsError> {
        let limit = limit.min(self.settings.max_iter);
        if self.by_bodies(problem, z) {
            let GaussSeidel { settings, bodies, points, .. } = self;
            let sweeps = OverBodies { bodies, relaxation: settings.relaxation };
            return Ok(points.iterate(settings, problem, z, w, limit, go_on, sweeps));
        }
        self.prepare(problem, z)?;
        let GaussSeidel { settings, blocks, colouring, points, visits, apart, still, long, .. } =
            self;
        let mut sweeper = Sweeper { settings, blocks, visits, still, long };
        Ok(match colouring {
            Some((_, colouring)) => coloured::with_threads(sweeper, colouring, |sweep| {
                points.iterate(settings, problem, z, w, limit, go_on, sweep)
            }),
            None => {
                let sweeps = |z: &mut [f64], number: usize| {
                    sweeper.sweep(every(*apart, blocks.len()), z, number);
                };
                points.iterate(settings, problem, z, w, limit, go_on, sweeps)
            }
        })
    }

    /// Sweeps islands, which do not see each other, one by one, each until a sweep moves it by no more
    /// than this share of itself, at most `limit` times; after [`cut`](Self::cut). The most that one took.
    pub(super) fn settle(
        &mut self,
        islands: &Islands,
        z: &mut [f64],
        limit: usize,
        share: f64,
    ) -> usize {
        let mut most = 0;
        let GaussSeidel { settings, blocks, points, visits, still, long, .. } = self;
        let mut sweeper = Sweeper { settings, blocks, visits, still, long };
        for island in islands.iter() {
            for number in 0..limit {
                most = most.max(number + 1);
                for range in island.iter().map(|&k| blocks.matrix.range(k)) {
                    points.step[range.clone()].copy_from_slice(&z[range]);
                }
                sweeper.sweep(island.iter().copied(), z, number);
                let (mut moved, mut size) = (0.0, 0.0);
                for i in island.iter().flat_map(|&k| blocks.matrix.range(k)) {
                    moved += (z[i] - points.step[i]).powi(2);
                    size += z[i] * z[i];
                }
                // a block on its own is solved by one visit
                if island.len() == 1 || !(moved > share * share * size) {
                    break;
                }
            }
        }
        most
    }

    /// Whether the sweeps can do without `W`, with everything ready for them.
    fn by_bodies(&mut self, problem: &Problem, z: &mut [f64]) -> bool {
        let GaussSeidelSettings { freeze, coloured, threads, accelerate, .. } = self.settings;
        if freeze > 0 || coloured || threads != 1 {
            return false;
        }
        let Some(pair) = of_bodies(problem) else { return false };
        if !self.bodies.update(problem, pair) {
            return false;
        }
        self.bodies.project(z);
        let carried = self.bodies.velocities().len();
        self.points.prepare(z.len(), self.bodies.diagonal(), accelerate, carried);
        true
    }

    /// Cuts the matrix into blocks, and moves `z` into the sets.
    pub(super) fn cut(&mut self, problem: &Problem, z: &mut [f64]) -> Result<(), NumericsError> {
        self.prepare(problem, z)
    }

    /// The blocks of a problem, multiplied out where sweeps did without.
    pub(super) fn blocks_of(&mut self, problem: &Problem) -> Result<&Blocks, NumericsError> {
        self.blocks.update("gauss-seidel", problem)?;
        Ok(&self.blocks)
    }

    /// The bodies of a problem, where its sweeps go over them.
    pub(super) fn bodies_of(&self, problem: &Problem) -> Option<&Bodies> {
        Some(&self.bodies).filter(|bodies| bodies.are_of(problem))
    }

    /// The blocks of the last problem.
    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The blocks, and a start within the sets.
    fn prepare(&mut self, problem: &Problem, z: &mut [f64]) -> Result<(), NumericsError> {
        self.blocks.update("gauss-seidel", problem)?;
        let n = problem.len();
        for k in 0..self.blocks.len() {
            let range = self.blocks.matrix.range(k);
            let (row, value) = (range.start, self.blocks.matrix.diagonal(k)[0]);
            let set = &self.blocks.sets[k];
            let fixed = set.bounds().is_some_and(|(lower, upper)| lower == upper);
            if !(value > 0.0) && !fixed {
                return Err(NumericsError::Diagonal { row, value });
            }
        }
        self.blocks.project(z);
        let matrix = &self.blocks.matrix;
        let diagonal = (0..matrix.len()).flat_map(|k| {
            let (size, own) = (matrix.range(k).len(), matrix.diagonal(k));
            (0..size).map(move |i| own[i * size + i])
        });
        self.points.prepare(n, diagonal, self.settings.accelerate, 0);
        self.prepare_visits();
        self.still.clear();
        self.still.resize(self.blocks.len(), 0);
        let coloured = self.settings.coloured || self.settings.threads != 1;
        let id = self.blocks.version;
        let there = self.colouring.as_ref().is_some_and(|(of, _)| *of == id);
        if coloured && !there {
            self.colouring = Some((id, Colouring::of(&self.blocks)));
        }
        Ok(())
    }
}

impl GaussSeidel {
    /// The blocks of contacts in space; none where there are others.
    fn prepare_visits(&mut self) {
        let GaussSeidel { blocks, visits, visits_of, apart, .. } = self;
        let are_of = |visits: &[Visit]| {
            visits.len() == blocks.len() && visits.iter().zip(&blocks.sets).all(|(v, s)| v.is_of(s))
        };
        if *visits_of == blocks.version && are_of(visits) {
            return;
        }
        *visits_of = blocks.version;
        visits.clear();
        if blocks.matrix.uniform() == Some(3) {
            let all =
                (0..blocks.len()).map(|k| Visit::new(&blocks.sets[k], blocks.matrix.diagonal(k)));
            visits.extend(all.map_while(|visit| visit));
        }
        *apart = 1;
        if visits.len() < blocks.len() {
            visits.clear();
        } else {
            *apart = faces_apart(&blocks.matrix);
        }
    }
}

impl Points {
    /// Buffers for `n` unknowns and so many numbers that follow from them; the diagonal of `W` is the norm
    /// of the acceleration.
    fn prepare(
        &mut self,
        n: usize,
        of_W: impl Iterator<Item = f64>,
        accelerate: bool,
        carried: usize,
    ) {
        let Points { step, direction, best, diagonal, anderson, astray } = self;
        for buffer in [step, direction, best] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        *astray = 0;
        if accelerate {
            diagonal.clear();
            diagonal.extend(of_W.map(|d| d.max(0.0)));
            anderson.resize(diagonal, MEMORY, carried);
        }
    }

    /// Sweeps until the answer is good enough, or hope is lost.
    #[allow(clippy::too_many_arguments)]
    fn iterate(
        &mut self,
        settings: &GaussSeidelSettings,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        limit: usize,
        mut go_on: impl FnMut(usize, f64) -> bool,
        mut sweeper: impl Sweeps,
    ) -> Report {
        let (mut sweeps, mut next) = (0, 0);
        let mut gradient = f64::INFINITY; // ‖g‖² of the sweep before
        let mut length = 0.0; // ‖g‖ of the last one
        let mut enough = 0.0; // length of a step after which the residual may be small enough
        let mut least = residual(problem, z, w);
        self.best.copy_from_slice(z);
        let status = loop {
            // what sweeps carry along is made anew where it may not belong to z, and now and then against
            // round-off
            let mut follows = sweeps > 0 && sweeps < next;
            if sweeps >= next {
                let now = if sweeps == 0 { least } else { residual(problem, z, w) };
                if now.value <= least.value {
                    least = now;
                    self.best.copy_from_slice(z);
                }

                // stop: solved, lost, or out of sweeps
                if now.value <= settings.tol {
                    break Status::Solved;
                }
                if !now.value.is_finite() {
                    break Status::Diverged;
                }
                if sweeps >= limit || !go_on(sweeps, now.value) {
                    break Status::MaxIter;
                }
                // measuring costs as much as a sweep: do it the less often the longer it takes, but
                // where steps have become so short that the residual may be small enough
                let pause = if sweeps == 0 { 1 } else { (4 + sweeps / 4).min(25) };
                next = (sweeps + pause).min(limit);
                enough = if length > 0.0 { length * settings.tol / now.value } else { 0.0 };
            }
            if settings.accelerate && sweeps > 0 {
                match self.astray {
                    ASTRAY => {
                        self.prolong(z, length * length / gradient);
                        (gradient, follows) = (length * length, false);
                    }
                    _ => self.extrapolate(z, sweeper.carried()),
                }
            }
            if !follows {
                sweeper.follow(z);
            }
            length = sweeper.sweep(z, &mut self.step, sweeps).sqrt();
            sweeps += 1;
            if length <= enough {
                next = sweeps;
            }
        };
        if status != Status::Solved {
            z.copy_from_slice(&self.best);
            least = residual(problem, z, w);
        }
        let (residual, worst) = (least.value, least.worst);
        Report { status, iterations: sweeps, residual, worst, method: "gauss-seidel" }
    }

    /// The next step of Anderson's method, from the last sweep.
    fn extrapolate(&mut self, z: &mut [f64], carried: &mut [f64]) {
        if !self.anderson.step(1, &self.step, z, carried) {
            self.astray += 1;
        }
    }

    /// Equation (2).
    fn prolong(&mut self, z: &mut [f64], beta: f64) {
        if !(beta <= 1.0) {
            self.direction.fill(0.0);
            return;
        }
        for ((z, step), p) in z.iter_mut().zip(&self.step).zip(&mut self.direction) {
            *z += beta * *p;
            *p = beta * *p + step;
        }
    }
}

/// Sweeps over all blocks, and what they keep up to date beside `z`.
pub(super) trait Sweeps {
    /// The next sweep, of this number, and in `step` by what it changes `z`; the squared length of that.
    fn sweep(&mut self, z: &mut [f64], step: &mut [f64], number: usize) -> f64;

    /// What follows from `z` by an affine map, and is kept up to date while `z` changes.
    fn carried(&mut self) -> &mut [f64] {
        &mut []
    }

    /// Makes that anew.
    fn follow(&mut self, _z: &[f64]) {}
}

impl<F: FnMut(&mut [f64], usize)> Sweeps for F {
    fn sweep(&mut self, z: &mut [f64], step: &mut [f64], number: usize) -> f64 {
        step.copy_from_slice(z);
        self(z, number);
        let mut square = 0.0;
        for piece in pieces(z.len()) {
            let step = &mut step[piece.clone()];
            step.iter_mut().zip(&z[piece]).for_each(|(step, z)| *step = z - *step);
            square += dot(step, step);
        }
        square
    }
}

/// Sweeps that go over bodies carry their velocities.
struct OverBodies<'a> {
    bodies: &'a mut Bodies,
    relaxation: f64,
}

impl Sweeps for OverBodies<'_> {
    fn sweep(&mut self, z: &mut [f64], step: &mut [f64], _: usize) -> f64 {
        self.bodies.sweep(self.relaxation, z, step)
    }

    fn carried(&mut self) -> &mut [f64] {
        self.bodies.velocities()
    }

    fn follow(&mut self, z: &[f64]) {
        self.bodies.follow(z);
    }
}

/// Blocks and what is remembered of them from sweep to sweep.
pub(super) struct Sweeper<'a> {
    pub settings: &'a GaussSeidelSettings,
    pub blocks: &'a Blocks,
    pub visits: &'a [Visit],
    pub still: &'a mut [u32],
    pub long: &'a mut Vec<f64>,
}

impl Sweeper<'_> {
    /// Equation (1) for these blocks, in order.
    #[inline]
    pub fn sweep(&mut self, order: impl Iterator<Item = usize>, z: &mut [f64], sweep: usize) {
        match self.blocks.matrix.uniform() {
            Some(3) if !self.visits.is_empty() => self.sweep_contacts(order, z, sweep),
            Some(1) => self.sweep_alike::<1>(order, z, sweep),
            Some(2) => self.sweep_alike::<2>(order, z, sweep),
            Some(3) => self.sweep_alike::<3>(order, z, sweep),
            _ => self.sweep_mixed(order, z, sweep),
        }
    }

    /// Whether a block is left out of this sweep.
    #[inline]
    fn rests(&self, k: usize, sweep: usize) -> bool {
        let freeze = self.settings.freeze;
        freeze > 0 && self.still[k] as usize >= freeze && !(sweep + k).is_multiple_of(freeze + 1)
    }

    /// The sweep for contacts in space.
    #[inline]
    fn sweep_contacts(&mut self, order: impl Iterator<Item = usize>, z: &mut [f64], sweep: usize) {
        let (omega, matrix) = (self.settings.relaxation, &self.blocks.matrix);
        for k in order {
            if self.rests(k, sweep) {
                continue;
            }
            let Some(&q) = self.blocks.q[3 * k..].first_chunk::<3>() else { break };
            let others = matrix.with_others(k, z, q);
            let Some(z) = z[3 * k..].first_chunk_mut::<3>() else { break };
            let (own, mut w, before) = (matrix.diagonal(k), others, *z);
            for i in 0..3 {
                w[i] += own[3 * i] * z[0] + own[3 * i + 1] * z[1] + own[3 * i + 2] * z[2];
            }
            self.visits[k].solve(&w, z);
            if omega != 1.0 {
                for i in 0..3 {
                    z[i] = before[i] + omega * (z[i] - before[i]);
                }
            }
            self.still[k] = if before != *z { 0 } else { self.still[k].saturating_add(1) };
        }
    }

    /// The sweep for blocks of `N` unknowns each, which stay in registers.
    #[inline]
    fn sweep_alike<const N: usize>(
        &mut self,
        order: impl Iterator<Item = usize>,
        z: &mut [f64],
        sweep: usize,
    ) {
        let (omega, matrix) = (self.settings.relaxation, &self.blocks.matrix);
        for k in order {
            if self.rests(k, sweep) {
                continue;
            }
            let first = N * k;
            let mut b = [0.0; N];
            b.copy_from_slice(&self.blocks.q[first..first + N]);
            let b = matrix.with_others(k, z, b);
            let z = &mut z[first..first + N];
            let mut before = [0.0; N];
            before.copy_from_slice(z);
            let mut answer = before;
            solve_block(&self.blocks.sets[k], matrix.diagonal(k), &b, &mut answer);
            if omega != 1.0 {
                answer = std::array::from_fn(|i| before[i] + omega * (answer[i] - before[i]));
            }
            z.copy_from_slice(&answer);
            self.still[k] = if answer != before { 0 } else { self.still[k].saturating_add(1) };
        }
    }

    /// The sweep for blocks of any size.
    fn sweep_mixed(&mut self, order: impl Iterator<Item = usize>, z: &mut [f64], sweep: usize) {
        let (omega, blocks) = (self.settings.relaxation, self.blocks);
        let (mut b, mut answer) = ([0.0; LARGEST_BLOCK], [0.0; LARGEST_BLOCK]);
        for k in order {
            if self.rests(k, sweep) {
                continue;
            }
            let range = blocks.matrix.range(k);
            let size = range.len();
            let (b, answer) = if size <= LARGEST_BLOCK {
                (&mut b[..size], &mut answer[..size])
            } else {
                self.long.resize(2 * size, 0.0);
                self.long.split_at_mut(size)
            };
            b.copy_from_slice(&blocks.q[range.clone()]);
            blocks.matrix.add_others(k, z, b);
            let z = &mut z[range];
            answer.copy_from_slice(z);
            solve_block(&blocks.sets[k], blocks.matrix.diagonal(k), b, answer);
            let mut moved = false;
            for i in 0..size {
                let next = if omega == 1.0 { answer[i] } else { z[i] + omega * (answer[i] - z[i]) };
                moved |= next != z[i];
                z[i] = next;
            }
            self.still[k] = if moved { 0 } else { self.still[k].saturating_add(1) };
        }
    }
}

/// How far apart contacts are that are visited one after the other. Where bodies touch with their faces,
/// at four points or so that stand next to each other in the list, these would pass the load to and fro
/// among themselves before any other contact has its say. Such points touch the same two bodies: they
/// see the same others.
fn faces_apart(matrix: &BlockSparse) -> usize {
    if matrix.len() <= FEW {
        return 1;
    }
    let (mut row, mut last, mut alike) = (Vec::new(), Vec::new(), 0);
    for k in 0..matrix.len() {
        row.clear();
        matrix.for_each_in_row(k, |column, _, _| row.push(column));
        alike += usize::from(row == last);
        std::mem::swap(&mut row, &mut last);
    }
    if 2 * alike > matrix.len() { FACE } else { 1 }
}

/// Every so many numbers below `count`, until there has been each.
#[inline]
pub(super) fn every(apart: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..apart).flat_map(move |first| (first..count).step_by(apart))
}

/// The answer of one block; where none is exact, the best that was found.
#[inline]
pub(super) fn solve_block(set: &Set, W: &[f64], b: &[f64], z: &mut [f64]) {
    // a fixed unknown stays where it is, whatever its row
    if let Set::Interval { lower, upper } = set
        && lower == upper
    {
        z[0] = *lower;
        return;
    }
    let _ = set.solve_block(W, b, z);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    /// Cubes that stand on each other touch with their faces, grains at single points.
    #[test]
    fn points_of_one_face_are_visited_apart() {
        let apart = |problem: &Problem| {
            let mut blocks = Blocks::default();
            blocks.update("gauss-seidel", problem).unwrap();
            faces_apart(&blocks.matrix)
        };
        let tower = |cubes| generate::tower(cubes, 1.0).unwrap().problem;
        assert_eq!(apart(&tower(40)), FACE);
        assert_eq!(apart(&tower(10)), 1);
        assert_eq!(apart(&generate::heap(200, 1.0, 0.5, 1).unwrap()), 1);
        let mut order: Vec<usize> = every(FACE, 11).collect();
        assert_eq!(order[..4], [0, 4, 8, 1]);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..11));
    }
}
