//! Principal pivoting with a warm start and a cache of modes.
//!
//! A mode (see `mode.rs`) is guessed, its linear system solved, and the unknowns with a wrong
//! sign change sides:
//!
//! ```text
//! z_B = −W_BB⁻¹ (q_B + W_BN z_N)                                                       (1)
//! ```
//!
//! all at once while that makes fewer of them wrong, one at a time (the last one first,
//! Murty's rule, which ends for every P-matrix) where it does not. The mode of the last call
//! is the first guess of the next, so a repeated problem whose mode has not changed costs one
//! solve and one check.
//!
//! `W_BB⁻¹` is kept: for a dense `W` of at most 64 unknowns the inverses of many modes (the
//! *mode cache*: switched circuits come back to the same few), for larger ones the factors of
//! the last mode. All memory is taken when a matrix of a new size comes in.
//! Reference: Júdice, Pires, *Computers & Operations Research* 21 (1994) 587–596.

use crate::mode::{Side, Slack, allowed, side_of, wrong};
use crate::residual::{natural_map, residual};
use crate::set::project;
use crate::{NumericsError, Operator, PivotingSettings, Problem, Report, Status};
use saltus_linalg::{DenseLu, MaskedFactor, Matrix, vector};

/// Block changes without fewer wrong signs before single changes begin.
const PATIENCE: usize = 5;
/// Largest dense problem whose modes are cached: a mode is a bit mask.
const CACHED: usize = 64;

/// Principal pivoting and what it keeps between calls.
#[derive(Debug)]
pub struct Pivoting {
    settings: PivotingSettings,
    matrix_id: u64,
    mode: Vec<Side>,
    next: Vec<Side>,
    engine: Engine,
}

/// How (1) is solved.
#[derive(Debug)]
enum Engine {
    None,
    Cached(ModeCache),
    Dense(LastMode<DenseLu>),
    Sparse(Box<LastMode<MaskedFactor>>),
}

impl Pivoting {
    /// The method with these settings.
    pub fn new(settings: PivotingSettings) -> Self {
        let (mode, next) = (Vec::new(), Vec::new());
        Pivoting { settings, matrix_id: 0, mode, next, engine: Engine::None }
    }

    /// Forgets the mode of the last call.
    pub fn forget(&mut self) {
        self.mode.clear();
    }

    /// Takes over the mode of an answer that another method found.
    pub(crate) fn adopt(&mut self, problem: &Problem, z: &[f64], w: &[f64]) {
        self.mode.clear();
        for i in 0..problem.len() {
            self.mode.push(side_of(z[i], w[i], problem.lower()[i], problem.upper()[i]));
        }
    }

    /// Solves from the mode of the last call, or from the guess in `z` in the first one;
    /// leaves the answer in `z` and `w = W z + q`.
    #[inline]
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem, z, w);

        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let mut iterations = 0;
        let status = loop {
            if iterations == self.settings.max_iter {
                break Status::MaxIter;
            }
            iterations += 1;

            // the answer of this mode
            if !self.solve_mode(problem, z, w) {
                break Status::Diverged;
            }

            // where its signs are wrong
            let slack = Slack::of(problem, z);
            let (mut count, mut last) = (0, 0);
            self.next.copy_from_slice(&self.mode);
            for i in 0..z.len() {
                if let Some(side) = wrong(problem, slack, i, self.mode[i], z[i], w[i]) {
                    self.next[i] = side;
                    (count, last) = (count + 1, i);
                }
            }
            if count == 0 {
                break Status::Solved;
            }

            // change sides: all wrong ones, or the last of them
            if count < fewest {
                (fewest, patience) = (count, PATIENCE);
            } else {
                patience = patience.saturating_sub(1);
            }
            if patience > 0 {
                self.mode.copy_from_slice(&self.next);
            } else {
                self.mode[last] = self.next[last];
            }
        };
        Ok(self.certify(problem, z, w, status, iterations))
    }

    /// Engine and first mode.
    #[inline]
    fn prepare(&mut self, problem: &Problem, z: &[f64], w: &mut [f64]) {
        let n = problem.len();
        if self.matrix_id != problem.matrix_id() {
            self.new_matrix(problem);
        }
        if self.mode.len() != n {
            problem.eval(z, w);
            self.adopt(problem, z, w);
            self.next.resize(n, Side::Lower);
        }
        for i in 0..n {
            self.mode[i] = allowed(self.mode[i], problem.lower()[i], problem.upper()[i]);
        }
    }

    #[cold]
    fn new_matrix(&mut self, problem: &Problem) {
        let n = problem.len();
        match (&mut self.engine, problem.matrix()) {
            (Engine::Cached(cache), Operator::Dense(_)) if cache.n == n => cache.clear(),
            (Engine::Dense(last), Operator::Dense(_)) if last.basic.len() == n => last.clear(),
            (engine, Operator::Dense(_)) if n <= CACHED => {
                *engine = Engine::Cached(ModeCache::new(n, self.settings.cache));
            }
            (engine, Operator::Dense(_)) => {
                *engine = Engine::Dense(LastMode::new(n, DenseLu::default()));
            }
            (engine, Operator::Sparse(matrix)) => {
                let last = LastMode::new(n, MaskedFactor::new(matrix));
                *engine = Engine::Sparse(Box::new(last));
            }
        }
        self.matrix_id = problem.matrix_id();
        self.next.resize(n, Side::Lower);
    }

    /// `z` and `w` of the current mode, equation (1); false if its matrix is singular.
    #[inline]
    fn solve_mode(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64]) -> bool {
        for i in 0..z.len() {
            z[i] = match self.mode[i] {
                Side::Lower => problem.lower()[i],
                Side::Upper => problem.upper()[i],
                Side::Basic => 0.0,
            };
        }
        let regular = match (&mut self.engine, problem.matrix()) {
            (Engine::Cached(cache), Operator::Dense(W)) => cache.solve(W, problem, &self.mode, z),
            (Engine::Dense(last), Operator::Dense(W)) => last.solve(W, problem, &self.mode, z),
            (Engine::Sparse(last), Operator::Sparse(W)) => last.solve(W, problem, &self.mode, z),
            _ => false,
        };
        problem.eval(z, w);
        regular
    }

    /// Brings `z` within its bounds (it is there but for round-off), and verifies.
    #[inline]
    fn certify(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        status: Status,
        iterations: usize,
    ) -> Report {
        let mut moved = false;
        for i in 0..z.len() {
            let inside = project(z[i], problem.lower()[i], problem.upper()[i]);
            moved |= inside != z[i];
            z[i] = inside;
        }
        let check = if moved { residual(problem, z, w) } else { natural_map(problem, z, w) };
        // signs may stay wrong by round-off where the answer is as good as it gets
        let status = match (check.value <= self.settings.tol, status) {
            (true, _) => Status::Solved,
            (false, Status::Solved) => Status::Diverged,
            (false, status) => status,
        };
        let (residual, worst) = (check.value, check.worst);
        Report { status, iterations, residual, worst, method: "pivoting" }
    }
}

/// The inverses `−W_BB⁻¹` of many modes of one dense matrix.
#[derive(Debug)]
struct ModeCache {
    n: usize,
    slots: Vec<Slot>,
    used: usize,    // slots that hold a mode
    current: usize, // slot of the last call
    replace: usize, // slot that the next new mode takes once all are used
    lu: DenseLu,
    right: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Slot {
    basic: u64,
    indices: Vec<usize>,
    inverse: Vec<f64>, // −W_BB⁻¹, row by row
}

impl ModeCache {
    fn new(n: usize, capacity: usize) -> Self {
        let slot = || Slot {
            basic: 0,
            indices: Vec::with_capacity(n),
            inverse: Vec::with_capacity(n * n),
        };
        ModeCache {
            n,
            slots: (0..capacity.max(1)).map(|_| slot()).collect(),
            used: 0,
            current: 0,
            replace: 0,
            lu: DenseLu::with_capacity(n),
            right: vec![0.0; n],
        }
    }

    fn clear(&mut self) {
        (self.used, self.current, self.replace) = (0, 0, 0);
    }

    #[inline]
    fn solve(&mut self, W: &Matrix, problem: &Problem, mode: &[Side], z: &mut [f64]) -> bool {
        let mut basic = 0;
        for (i, &side) in mode.iter().enumerate() {
            basic |= u64::from(side == Side::Basic) << i;
        }
        let hit = self.used > 0 && self.slots[self.current].basic == basic;
        if !hit && !self.find(W, basic) {
            return false;
        }
        let slot = &self.slots[self.current];
        let k = slot.indices.len();
        let right = &mut self.right[..k];
        for (right, &i) in right.iter_mut().zip(&slot.indices) {
            *right = problem.q()[i] + vector::dot(W.row(i), z);
        }
        for (row, &i) in slot.indices.iter().enumerate() {
            z[i] = vector::dot(&slot.inverse[row * k..(row + 1) * k], right);
        }
        true
    }

    /// Makes the slot of this mode the current one.
    fn find(&mut self, W: &Matrix, basic: u64) -> bool {
        if let Some(slot) = self.slots[..self.used].iter().position(|slot| slot.basic == basic) {
            self.current = slot;
            return true;
        }
        let place = if self.used < self.slots.len() { self.used } else { self.replace };
        let slot = &mut self.slots[place];
        slot.indices.clear();
        slot.indices.extend((0..self.n).filter(|i| basic >> i & 1 == 1));
        let (indices, k) = (&slot.indices, slot.indices.len());
        let regular = self.lu.factor_with(k, |i, j| W[(indices[i], indices[j])]).is_ok();
        if !regular {
            slot.basic = 0; // a slot that is overwritten is no longer what it was
            if place < self.used {
                slot.indices.clear();
                slot.inverse.clear();
            }
            return false;
        }
        slot.basic = basic;
        slot.inverse.clear();
        slot.inverse.resize(k * k, 0.0);
        for column in 0..k {
            let right = &mut self.right[..k];
            right.fill(0.0);
            right[column] = -1.0;
            self.lu.solve(right);
            for row in 0..k {
                slot.inverse[row * k + column] = right[row];
            }
        }
        if place == self.used {
            self.used += 1;
        } else {
            self.replace = (self.replace + 1) % self.slots.len();
        }
        self.current = place;
        true
    }
}

/// The factors of the last mode of one matrix.
#[derive(Debug)]
struct LastMode<F> {
    factors: F,
    valid: bool,
    basic: Vec<bool>,
    indices: Vec<usize>,
    right: Vec<f64>,
}

impl<F> LastMode<F> {
    fn new(n: usize, factors: F) -> Self {
        let (basic, indices) = (vec![false; n], Vec::with_capacity(n));
        LastMode { factors, valid: false, basic, indices, right: vec![0.0; n] }
    }

    fn clear(&mut self) {
        self.valid = false;
    }

    /// Whether the factors are those of this mode; takes note of it if not.
    fn is_current(&mut self, mode: &[Side]) -> bool {
        let same = self.valid
            && self.basic.iter().zip(mode).all(|(&basic, &side)| basic == (side == Side::Basic));
        if !same {
            self.valid = false;
            self.indices.clear();
            for (i, &side) in mode.iter().enumerate() {
                self.basic[i] = side == Side::Basic;
                if self.basic[i] {
                    self.indices.push(i);
                }
            }
        }
        same
    }
}

impl LastMode<DenseLu> {
    fn solve(&mut self, W: &Matrix, problem: &Problem, mode: &[Side], z: &mut [f64]) -> bool {
        if !self.is_current(mode) {
            let indices = &self.indices;
            let entry = |i: usize, j: usize| W[(indices[i], indices[j])];
            self.valid = self.factors.factor_with(indices.len(), entry).is_ok();
        }
        if self.valid {
            let right = &mut self.right[..self.indices.len()];
            for (right, &i) in right.iter_mut().zip(&self.indices) {
                *right = -problem.q()[i] - vector::dot(W.row(i), z);
            }
            self.factors.solve(right);
            for (&i, &right) in self.indices.iter().zip(right.iter()) {
                z[i] = right;
            }
        }
        self.valid
    }
}

impl LastMode<MaskedFactor> {
    fn solve(
        &mut self,
        W: &saltus_linalg::Sparse,
        problem: &Problem,
        mode: &[Side],
        z: &mut [f64],
    ) -> bool {
        if !self.is_current(mode) {
            let basic = &self.basic;
            self.valid = self.factors.factor(W, |i| basic[i]).is_ok();
        }
        if self.valid {
            self.right.fill(0.0);
            for &i in &self.indices {
                self.right[i] = -problem.q()[i] - W.row_dot(i, z);
            }
            self.factors.solve(&mut self.right);
            for &i in &self.indices {
                z[i] = self.right[i];
            }
        }
        self.valid
    }
}
