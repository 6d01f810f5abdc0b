//! Proximal pivoting: a singular problem as a short sequence of regular ones.
//!
//! ```text
//! w = (W + S) z⁺ + q − S z,   (z⁺, w) in the law,   S = ε D, diagonal, positive        (1)
//! ```
//!
//! Where all principal minors of `W` are nonnegative (P₀: stacks of contacts with more
//! contacts than freedom, diode bridges) those of `W + S` are positive: (1) has one answer, no
//! mode of it is singular, and principal pivoting finds it. A fixed point of (1) solves the
//! problem. For monotone `W` the sequence converges to one, by a factor `ε / (ε + λ)` a round
//! in the directions that `W` determines, and at once in those that it does not: a few rounds.
//! `D` are the units of the rows and columns, so that scaling changes nothing.
//! Reference: Rockafellar, *SIAM Journal on Control and Optimization* 14 (1976) 877–898.

use super::interior_start;
use super::pivoting::Progress;
use crate::mode::{Side, Slack, allowed, side_of, wrong};
use crate::residual::{Residual, residual};
use crate::sets::clamp;
use crate::{Memory, Operator, Problem, Report, Status};
use saltus_linalg::{DenseLu, MaskedFactor, Sparse};

/// `ε`.
const SHIFT: f64 = 1e-6;
/// Rounds without half the residual before giving up.
const PATIENCE: usize = 3;
/// Problems smaller than this, or with a larger share of nonzeros, are factored as dense ones.
const SPARSE_SIZE: usize = 100;
const SPARSE_SHARE: f64 = 0.1;

/// Proximal pivoting and what it keeps between calls.
#[derive(Debug)]
pub(crate) struct Proximal {
    tol: f64,
    matrix_id: u64,
    unit: Vec<f64>,  // D
    shift: Vec<f64>, // S
    engine: Engine,
    mode: Vec<Side>,
    next: Vec<Side>,
    center: Vec<f64>, // z of (1)
    answer: Vec<f64>, // of the last call that found one, else empty
    right: Vec<f64>,
    best: Vec<f64>, // the z that left least in this call
    least: f64,     // what it left
}

/// How `(W + S)_BB` is factored: as a dense matrix, or with one symbolic analysis for all `B`.
#[derive(Debug)]
pub(super) enum Engine {
    Dense { factors: DenseLu, kept: Vec<usize>, right: Vec<f64> },
    Sparse { matrix: Sparse, factors: Box<MaskedFactor>, kept: Vec<bool> },
}

impl Proximal {
    pub(crate) fn new(tol: f64) -> Self {
        Proximal {
            tol,
            matrix_id: 0,
            unit: Vec::new(),
            shift: Vec::new(),
            engine: Engine::Dense {
                factors: DenseLu::default(),
                kept: Vec::new(),
                right: Vec::new(),
            },
            mode: Vec::new(),
            next: Vec::new(),
            center: Vec::new(),
            answer: Vec::new(),
            right: Vec::new(),
            best: Vec::new(),
            least: f64::INFINITY,
        }
    }

    /// Forgets the answer of the last call.
    pub(crate) fn forget(&mut self) {
        self.answer.clear();
    }

    /// What the next call depends on besides its arguments.
    pub(crate) fn memory(&mut self, memory: &mut Memory) {
        memory.list(&mut self.answer, 0.0, Memory::number);
        Side::memory(&mut self.mode, memory);
    }

    /// The mode of the last answer.
    pub(crate) fn mode(&self) -> &[Side] {
        &self.mode
    }

    /// Solves from the answer of the last call, or from the guess in `z`, with at most so many changes of mode; leaves the answer
    /// in `z` and `w = W z + q`.
    pub(crate) fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        most: usize,
    ) -> Report {
        self.prepare(problem, z, w);
        for (S, D) in self.shift.iter_mut().zip(&self.unit) {
            *S = SHIFT * D;
        }
        let mut iterations = 0;
        self.least = f64::INFINITY;
        let mut check = residual(problem, z, w);
        let mut status = self.rounds(problem, z, w, &mut check, &mut iterations, most);
        let has_modes = !is_free(problem);
        if status != Status::Solved && has_modes && may_be_monotone(problem.matrix()) {
            // block pivoting is lost: a mode from the interior
            let Proximal { engine, unit, mode, .. } = self;
            if let Some(rounds) = interior_start::follow(problem, engine, unit, z, w, mode) {
                iterations += rounds;
                status = self.rounds(problem, z, w, &mut check, &mut iterations, most);
            }
        }
        if status != Status::Solved {
            if self.least.is_finite() {
                z.copy_from_slice(&self.best);
            }
            check = residual(problem, z, w);
        }
        self.answer.clear();
        if status == Status::Solved {
            self.answer.extend_from_slice(z);
        }
        let (residual, worst) = (check.value, check.worst);
        Report { status, iterations, residual, worst, method: "proximal" }
    }

    /// Equation (1) again and again; `MaxIter` where pivoting does not solve it.
    fn rounds(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        check: &mut Residual,
        iterations: &mut usize,
        most: usize,
    ) -> Status {
        let mut patience = PATIENCE;
        loop {
            self.center.copy_from_slice(z);
            if !self.pivot(problem, z, w, iterations, most) {
                z.copy_from_slice(&self.center);
                problem.eval(z, w);
                return Status::MaxIter;
            }
            for i in 0..z.len() {
                z[i] = clamp(z[i], problem.lower()[i], problem.upper()[i]);
            }
            let last = std::mem::replace(check, residual(problem, z, w));
            if check.value <= self.tol {
                self.refine(problem, z, w, check);
                return Status::Solved;
            }
            // more rounds go far along what is not determined, for little
            if check.value < 0.5 * self.least {
                self.least = check.value;
                self.best.clear();
                self.best.extend_from_slice(z);
            }
            if !check.value.is_finite() {
                return Status::Diverged;
            }
            if !(check.value <= 0.5 * last.value) {
                patience -= 1;
            }
            if patience == 0 {
                return Status::Diverged;
            }
        }
    }

    /// One more round with the factors that are there, kept where it is the better answer.
    fn refine(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64], check: &mut Residual) {
        self.center.copy_from_slice(z);
        self.improve(problem, z, w);
        for i in 0..z.len() {
            z[i] = clamp(z[i], problem.lower()[i], problem.upper()[i]);
        }
        let refined = residual(problem, z, w);
        if refined.value < check.value {
            *check = refined;
        } else {
            z.copy_from_slice(&self.center);
            problem.eval(z, w);
        }
    }

    /// The mode of (1), and its answer; false where it is not found.
    fn pivot(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: &mut usize,
        most: usize,
    ) -> bool {
        let n = problem.len();
        let small = 1e-3 * self.tol / (n as f64).sqrt();
        let mut progress = Progress::default();
        while *iterations < most {
            *iterations += 1;
            if !self.solve_mode(problem, z, w) {
                return false;
            }
            let mut count = 0;
            self.next.copy_from_slice(&self.mode);
            for i in 0..n {
                let v = w[i] + self.shift[i] * (z[i] - self.center[i]);
                let change = |slack| wrong(problem, slack, i, self.mode[i], z[i], v);
                // what the residual cannot see is no reason to go on
                if change(Slack { z: small, w: small }).is_some()
                    && let Some(side) = change(Slack::of(problem, z, i))
                {
                    self.next[i] = side;
                    count += 1;
                }
            }
            if count == 0 {
                return true;
            }
            if !progress.is_made(count) {
                return false;
            }
            std::mem::swap(&mut self.mode, &mut self.next);
        }
        false
    }

    /// `z_N` at its bounds, `(W + S)_BB (z − center)_B = −(W z + q)_B` with the center in `B`.
    fn solve_mode(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64]) -> bool {
        for i in 0..z.len() {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            self.mode[i] = allowed(self.mode[i], lower, upper);
            z[i] = match self.mode[i] {
                Side::Lower | Side::Fixed => lower,
                Side::Upper => upper,
                Side::Basic => self.center[i],
            };
        }
        let mode = &self.mode;
        if !self.engine.factor(problem, &self.shift, |i| mode[i] == Side::Basic) {
            return false;
        }
        self.improve(problem, z, w);
        true
    }

    /// `z_B ← z_B − (W + S)_BB⁻¹ (W z + q)_B`, with the factors of the mode.
    fn improve(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64]) {
        self.engine.eval(problem, z, w);
        for (right, w) in self.right.iter_mut().zip(w.iter()) {
            *right = -w;
        }
        self.engine.solve(&mut self.right);
        for (z, d) in z.iter_mut().zip(&self.right) {
            *z += d;
        }
        self.engine.eval(problem, z, w);
    }

    /// Buffers, engine, units, and the mode to start from.
    fn prepare(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64]) {
        let n = problem.len();
        if self.matrix_id != problem.matrix_id() || self.unit.len() != n {
            self.matrix_id = problem.matrix_id();
            self.engine.fit(problem, self.unit.len());
            self.shift.resize(n, 0.0);
            self.right.resize(n, 0.0);
            units(problem.matrix(), &mut self.unit, &mut self.right);
            self.next.resize(n, Side::Lower);
            self.center.resize(n, 0.0);
            self.best.reserve(n.saturating_sub(self.best.len()));
        }
        let remembered = self.answer.len() == n && self.mode.len() == n;
        if remembered {
            z.copy_from_slice(&self.answer);
        }
        for i in 0..n {
            z[i] = clamp(z[i], problem.lower()[i], problem.upper()[i]);
        }
        if remembered {
            return;
        }
        problem.eval(z, w);
        self.mode.clear();
        for i in 0..n {
            self.mode.push(side_of(z[i], w[i], problem.lower()[i], problem.upper()[i]));
        }
    }
}

impl Engine {
    /// Makes it fit a new matrix, after one of `last` unknowns; a dense one of the same size finds
    /// its memory.
    fn fit(&mut self, problem: &Problem, last: usize) {
        let n = problem.len();
        match (mostly_zeros(problem.matrix(), SPARSE_SIZE, SPARSE_SHARE), &*self) {
            (Some(matrix), _) => {
                let factors = Box::new(MaskedFactor::new(&matrix));
                *self = Engine::Sparse { kept: vec![false; matrix.rows()], matrix, factors };
            }
            (None, Engine::Dense { .. }) if last == n => {}
            (None, _) => {
                let (kept, right) = (Vec::with_capacity(n), Vec::with_capacity(n));
                *self = Engine::Dense { factors: DenseLu::with_capacity(n), kept, right };
            }
        }
    }

    /// `w ← W z + q`.
    pub(super) fn eval(&self, problem: &Problem, z: &[f64], w: &mut [f64]) {
        match self {
            Engine::Dense { .. } => problem.eval(z, w),
            Engine::Sparse { matrix, .. } => {
                for ((w, q), product) in w.iter_mut().zip(problem.q()).zip(matrix.products(z)) {
                    *w = q + product;
                }
            }
        }
    }

    /// Factors `W + S`, rows and columns of the kept unknowns; false where it is singular.
    pub(super) fn factor(
        &mut self,
        problem: &Problem,
        shift: &[f64],
        keep: impl Fn(usize) -> bool,
    ) -> bool {
        match self {
            Engine::Dense { factors, kept, .. } => {
                kept.clear();
                kept.extend((0..shift.len()).filter(|&i| keep(i)));
                let matrix = problem.matrix();
                let entry = |i: usize, j: usize| {
                    let shift = if i == j { shift[kept[i]] } else { 0.0 };
                    matrix.get(kept[i], kept[j]) + shift
                };
                factors.factor_with(kept.len(), entry).is_ok()
            }
            Engine::Sparse { matrix, factors, kept } => {
                for (i, kept) in kept.iter_mut().enumerate() {
                    *kept = keep(i);
                }
                let value = |i: usize, j: usize, w: f64| match (kept[i] && kept[j], i == j) {
                    (true, true) => w + shift[i],
                    (true, false) => w,
                    (false, same) => f64::from(same),
                };
                factors.factor_with(matrix, value).is_ok()
            }
        }
    }

    /// `x ← (W + S)⁻¹ x` for the kept unknowns, zero for the others.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        match self {
            Engine::Dense { factors, kept, right } => {
                right.clear();
                right.extend(kept.iter().map(|&i| x[i]));
                factors.solve(right);
                x.fill(0.0);
                for (&i, right) in kept.iter().zip(right.iter()) {
                    x[i] = *right;
                }
            }
            Engine::Sparse { factors, kept, .. } => {
                for (x, kept) in x.iter_mut().zip(kept.iter()) {
                    if !kept {
                        *x = 0.0;
                    }
                }
                factors.solve(x);
            }
        }
    }
}

/// The matrix as a sparse one, where it is at least so large and at most so full.
pub(crate) fn mostly_zeros(matrix: &Operator, size: usize, share: f64) -> Option<Sparse> {
    let n = matrix.shape().0;
    let most = share * (n * n) as f64;
    match matrix {
        _ if n < size => None,
        Operator::Sparse(matrix) => (matrix.len() as f64 <= most).then(|| matrix.clone()),
        Operator::Dense(matrix) => {
            let count = matrix.data().iter().filter(|x| **x != 0.0).count();
            (count as f64 <= most).then(|| Sparse::from_dense(matrix))
        }
        Operator::Global(_) | Operator::Function(_) => None,
    }
}

/// Whether there are no bounds at all.
pub(super) fn is_free(problem: &Problem) -> bool {
    let free = |(lower, upper): (&f64, &f64)| (*lower, *upper) == (-f64::INFINITY, f64::INFINITY);
    problem.lower().iter().zip(problem.upper()).all(free)
}

/// Whether no pair of unknowns speaks against it: `(Wᵢⱼ + Wⱼᵢ)² ≤ 4 Wᵢᵢ Wⱼⱼ`.
pub(super) fn may_be_monotone(matrix: &Operator) -> bool {
    let slack = 1e-10;
    let pair = |i: usize, j: usize, x: f64| {
        let (sum, a, b) = (x + matrix.get(j, i), matrix.get(i, i), matrix.get(j, j));
        a >= 0.0 && sum * sum <= 4.0 * a * b + slack * (a * a + b * b + x * x)
    };
    match matrix {
        Operator::Dense(matrix) => (0..matrix.rows()).all(|i| {
            let row = matrix.row(i).iter().enumerate();
            row.filter(|(_, x)| **x != 0.0).all(|(j, &x)| pair(i, j, x))
        }),
        Operator::Sparse(matrix) => matrix.iter().all(|(i, j, x)| pair(i, j, x)),
        Operator::Global(_) | Operator::Function(_) => false,
    }
}

/// `D` with `D^-½ W D^-½` of size 1 in every row and column; `largest` is scratch memory.
fn units(matrix: &Operator, unit: &mut Vec<f64>, largest: &mut [f64]) {
    let n = matrix.shape().0;
    unit.clear();
    unit.resize(n, 1.0);
    for _ in 0..3 {
        largest.fill(0.0);
        let mut see = |i: usize, j: usize, x: f64| {
            let x = x.abs() / (unit[i] * unit[j]).sqrt();
            if x > largest[i] {
                largest[i] = x;
            }
            if x > largest[j] {
                largest[j] = x;
            }
        };
        match matrix {
            Operator::Dense(matrix) => {
                for i in 0..n {
                    for (j, &x) in matrix.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        see(i, j, x);
                    }
                }
            }
            Operator::Sparse(matrix) => matrix.iter().for_each(|(i, j, x)| see(i, j, x)),
            Operator::Global(_) | Operator::Function(_) => {}
        }
        for (unit, &largest) in unit.iter_mut().zip(largest.iter()) {
            let scaled = *unit * largest;
            if scaled > 0.0 && scaled.is_finite() {
                *unit = scaled;
            }
        }
    }
}
