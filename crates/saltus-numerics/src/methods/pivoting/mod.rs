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
//! A single unknown is solved in closed form. `W_BB⁻¹` is kept: for a dense `W` of at most 64
//! unknowns the inverses of many modes (the *mode cache*: switched circuits come back to the same
//! few; see `mode_cache`), for larger ones the factors of the last mode, sparse ones where `W` is mostly zeros. All
//! memory is taken when a matrix of a new size comes in (a sparse one: a new matrix).
//! Reference: Júdice, Pires, *Computers & Operations Research* 21 (1994) 587–596.

mod again;
mod last_mode;
mod mode_cache;

use super::proximal::mostly_zeros;
use crate::mode::{Side, Slack, allowed, side_of, wrong};
use crate::residual::{Residual, natural_map, residual};
use crate::sets::clamp;
use crate::{Memory, NumericsError, Operator, PivotingSettings, Problem, Report, Status};
use again::Again;
use last_mode::LastMode;
use mode_cache::{Met, ModeCache};
use saltus_linalg::{DenseLu, MaskedFactor, Sparse};

/// Block changes without fewer wrong signs before single changes begin.
const PATIENCE: usize = 5;
/// Steps of iterative refinement before an answer is given up.
const REFINEMENTS: usize = 3;
/// Largest dense problem whose modes are cached: a mode is a bit mask.
const CACHED: usize = 64;
/// Dense problems at least this large and at most so full are factored as sparse ones.
const CONVERTED: usize = 200;
const CONVERTED_SHARE: f64 = 0.1;

/// Principal pivoting and what it keeps between calls.
#[derive(Debug)]
pub struct Pivoting {
    settings: PivotingSettings,
    matrix_id: u64,
    mode: Vec<Side>,
    next: Vec<Side>,
    mask: u64, // the basic unknowns of the mode, one bit each, up to CACHED of them
    engine: Engine,
    again: Again,
}

/// How (1) is solved.
#[derive(Debug)]
enum Engine {
    None,
    Cached(ModeCache),
    Dense(LastMode<DenseLu>),
    Sparse(Box<LastMode<MaskedFactor>>),
    /// A matrix stored as dense that is mostly zeros.
    Converted {
        matrix: Sparse,
        last: Box<LastMode<MaskedFactor>>,
    },
}

impl Pivoting {
    /// The method with these settings.
    pub fn new(settings: PivotingSettings) -> Self {
        let (mode, next) = (Vec::new(), Vec::new());
        Pivoting {
            settings,
            matrix_id: 0,
            mode,
            next,
            mask: 0,
            engine: Engine::None,
            again: Again::default(),
        }
    }

    /// Forgets the mode of the last call, and the factors and inverses of all modes.
    pub fn forget(&mut self) {
        self.forget_mode();
        match &mut self.engine {
            Engine::None => {}
            Engine::Cached(cache) => cache.clear(),
            Engine::Dense(last) => last.clear(),
            Engine::Sparse(last) | Engine::Converted { last, .. } => last.clear(),
        }
    }

    /// What the next call depends on besides its arguments: the mode of the last one, and which
    /// modes of the matrix have been met. Factors and inverses follow from these.
    pub(crate) fn memory(&mut self, memory: &mut Memory, problem: Option<&Problem>) {
        let same = problem.filter(|problem| self.matrix_id == problem.matrix_id());
        let mut met = match (&self.engine, same) {
            (Engine::Cached(cache), Some(_)) => cache.met(),
            _ => Met::default(),
        };
        if memory.is_read() {
            self.forget();
        }
        Side::memory(&mut self.mode, memory);
        met.memory(memory);
        if !memory.is_read() || met.modes.is_empty() {
            return;
        }
        if let Some(problem) = problem
            && let Operator::Dense(W) = problem.matrix()
        {
            self.new_matrix(problem);
            if let Engine::Cached(cache) = &mut self.engine {
                cache.meet(W, &met);
            }
        }
    }

    /// Forgets the mode of the last call.
    pub(crate) fn forget_mode(&mut self) {
        self.mode.clear();
        self.again.forget();
    }

    /// Takes over the mode of an answer that another method found.
    pub(crate) fn adopt(&mut self, problem: &Problem, z: &[f64], w: &[f64]) {
        self.forget_mode();
        for i in 0..problem.len() {
            self.mode.push(side_of(z[i], w[i], problem.lower()[i], problem.upper()[i]));
        }
    }

    /// Starts the next call from this mode.
    pub(crate) fn start_from(&mut self, mode: impl Iterator<Item = Side>) {
        self.forget_mode();
        self.mode.extend(mode);
    }

    /// The mode of the last answer; empty if there was none.
    pub(crate) fn mode(&self) -> &[Side] {
        &self.mode
    }

    /// Solves from the mode of the last call, or from the guess in `z` where that call failed
    /// or there was none; leaves the answer in `z` and `w = W z + q`.
    #[inline]
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        if let Some(report) = self.again(problem, z, w) {
            return Ok(report);
        }
        Ok(self.run(problem, z, w, usize::MAX, usize::MAX))
    }

    /// [`solve`](Self::solve), which has no problem that it cannot work on, with at most so
    /// many changes of mode, and of these at most so many of a single unknown.
    #[inline]
    pub(crate) fn run(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        most: usize,
        most_single: usize,
    ) -> Report {
        if let Some(report) = self.one_unknown(problem, z, w) {
            return report;
        }
        if let Some(report) = self.again_anew(problem, z, w) {
            return report;
        }
        self.prepare(problem, z, w);
        let most = most.min(self.settings.max_iter);

        let mut progress = Progress::default();
        let mut iterations = 0;
        let status = loop {
            if iterations == most || progress.single > most_single {
                break Status::MaxIter;
            }
            iterations += 1;

            // the answer of this mode
            if !self.solve_mode(problem, z, w) {
                if self.avoid_singular(problem, w, &mut progress) {
                    continue;
                }
                break Status::Diverged;
            }
            // it is the problem's where its signs are right
            if self.signs_are_right(problem, z, w) {
                let check = natural_map(problem, z, w);
                if check.value <= self.settings.tol {
                    self.keep_for_again(problem);
                    return report(Status::Solved, iterations, check);
                }
                break Status::Solved;
            }
            if let Some(report) = self.change_sides(problem, z, w, iterations, &mut progress) {
                return report;
            }
        };
        let report = self.certify(problem, z, w, status, iterations);
        if report.status != Status::Solved {
            self.forget_mode(); // a mode that fails is no guess
        }
        report
    }

    /// A single unknown `i` with `Wᵢᵢ > 0`, or one beside others that are fixed at zero, needs no mode:
    /// `zᵢ = P(−qᵢ / Wᵢᵢ)`, `w = q + W zᵢ`.
    #[inline]
    fn one_unknown(&self, problem: &Problem, z: &mut [f64], w: &mut [f64]) -> Option<Report> {
        let (q, n) = (problem.q(), problem.len());
        let (lower, upper) = (&problem.lower()[..n], &problem.upper()[..n]);
        let live = |i: &usize| !(lower[*i] == 0.0 && upper[*i] == 0.0);
        let i = (0..n).find(live)?;
        if (i + 1..n).any(|i| live(&i)) {
            return None;
        }
        let W = problem.matrix().get(i, i);
        if !(W > 0.0) {
            return None;
        }
        let own = clamp(-q[i] / W, lower[i], upper[i]);
        match problem.matrix() {
            Operator::Dense(W) => {
                (0..n).for_each(|row| w[row] = W[(row, i)] * own + q[row]);
            }
            _ if n == 1 => w[0] = W * own + q[0],
            _ => return None,
        }
        z.fill(0.0);
        z[i] = own;
        let check = natural_map(problem, z, w);
        (check.value <= self.settings.tol).then(|| report(Status::Solved, 1, check))
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
        }
    }

    #[cold]
    fn new_matrix(&mut self, problem: &Problem) {
        let n = problem.len();
        let converted = match problem.matrix() {
            matrix @ Operator::Dense(_) => mostly_zeros(matrix, CONVERTED, CONVERTED_SHARE),
            _ => None,
        };
        match (&mut self.engine, problem.matrix(), converted) {
            (engine, _, Some(matrix)) => {
                let last = Box::new(LastMode::new(n, MaskedFactor::new(&matrix)));
                *engine = Engine::Converted { matrix, last };
            }
            (Engine::Cached(cache), Operator::Dense(_), _) if cache.n == n => cache.clear(),
            (Engine::Dense(last), Operator::Dense(_), _) if last.basic.len() == n => last.clear(),
            (engine, Operator::Dense(_), _) if n <= CACHED => {
                *engine = Engine::Cached(ModeCache::new(n, self.settings.cache));
            }
            (engine, Operator::Dense(_), _) => {
                *engine = Engine::Dense(LastMode::new(n, DenseLu::with_capacity(n)));
            }
            (engine, Operator::Sparse(matrix), _) => {
                let last = LastMode::new(n, MaskedFactor::new(matrix));
                *engine = Engine::Sparse(Box::new(last));
            }
            // `Workspace` lets no other map through
            (engine, _, _) => *engine = Engine::None,
        }
        self.matrix_id = problem.matrix_id();
        if n <= CACHED {
            self.reserve_for_again(n);
        }
        self.next.resize(n, Side::Lower);
        self.mode.reserve(n.saturating_sub(self.mode.len()));
    }

    /// `z` and `w` of the current mode, equation (1); false if its matrix is singular.
    #[inline]
    fn solve_mode(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64]) -> bool {
        let bounds = problem.lower().iter().zip(problem.upper());
        self.mask = 0;
        let mut at_zero = true;
        for (i, ((z, side), (&lower, &upper))) in
            z.iter_mut().zip(&mut self.mode).zip(bounds).enumerate()
        {
            // the bounds may have changed since the last call
            *side = allowed(*side, lower, upper);
            *z = match side {
                Side::Lower | Side::Fixed => lower,
                Side::Upper => upper,
                Side::Basic => {
                    self.mask |= 1 << (i % CACHED);
                    0.0
                }
            };
            at_zero &= *z == 0.0;
        }
        let regular = match (&mut self.engine, problem.matrix()) {
            (Engine::Cached(cache), Operator::Dense(W)) => {
                cache.solve(W, problem, self.mask, z, at_zero)
            }
            _ => self.improve(problem, z),
        };
        problem.eval(z, w);
        regular
    }

    /// `z_B ← z_B − W_BB⁻¹ (q_B + W_B z)`: equation (1) where `z_B = 0`, and a step of iterative
    /// refinement where it is an answer already.
    fn improve(&mut self, problem: &Problem, z: &mut [f64]) -> bool {
        match (&mut self.engine, problem.matrix()) {
            (Engine::Cached(cache), Operator::Dense(W)) => {
                cache.improve(W, problem, z, false);
                true
            }
            (Engine::Dense(last), Operator::Dense(W)) => last.solve(W, problem, &self.mode, z),
            (Engine::Sparse(last), Operator::Sparse(W)) => last.solve(W, problem, &self.mode, z),
            (Engine::Converted { matrix, last }, _) => last.solve(matrix, problem, &self.mode, z),
            _ => false,
        }
    }

    /// Whether the mode's answer has no wrong sign, not even by round-off.
    #[inline]
    fn signs_are_right(&self, problem: &Problem, z: &[f64], w: &[f64]) -> bool {
        let n = self.mode.len();
        let (z, w) = (&z[..n], &w[..n]);
        (0..n).all(|i| wrong(problem, Slack::NONE, i, self.mode[i], z[i], w[i]).is_none())
    }

    /// Moves on to the next mode, unless the wrong signs are but round-off: then this one is
    /// the answer if it passes the check.
    #[cold]
    fn change_sides(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        iterations: usize,
        progress: &mut Progress,
    ) -> Option<Report> {
        let (mut count, mut last) = self.wrong_sides(problem, |i| Slack::of(problem, z, i), z, w);
        if count == 0 {
            (count, last) = self.wrong_sides(problem, |_| Slack::NONE, z, w);
            let report = self.certify(problem, z, w, Status::Solved, iterations);
            if report.status == Status::Solved {
                return Some(report);
            }
        }
        // all wrong ones, or the last of them
        progress.last_step = Some(Step::Single);
        if progress.is_made(count) {
            std::mem::swap(&mut self.mode, &mut self.next);
            if count > 1 {
                progress.last_step = Some(Step::Block { last });
            }
        } else {
            progress.single += 1;
            self.mode[last] = self.next[last];
        }
        None
    }

    /// Another mode instead of one whose matrix is singular; false if there is none left to try.
    #[cold]
    fn avoid_singular(&mut self, problem: &Problem, w: &[f64], progress: &mut Progress) -> bool {
        match progress.last_step.replace(Step::Single) {
            // the guess: every unknown to the bound that its w asks for
            None => {
                for i in 0..w.len() {
                    let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
                    let side = if w[i] < 0.0 { Side::Upper } else { Side::Lower };
                    self.mode[i] = allowed(side, lower, upper);
                }
                true
            }
            // a block change: one of its changes alone
            Some(Step::Block { last }) => {
                self.next[last] = self.mode[last];
                std::mem::swap(&mut self.mode, &mut self.next);
                true
            }
            Some(Step::Single) => false,
        }
    }

    /// The sides where all signs that are wrong by more than their slack would be right, in `next`;
    /// how many change, and the last that does.
    fn wrong_sides(
        &mut self,
        problem: &Problem,
        slack: impl Fn(usize) -> Slack,
        z: &[f64],
        w: &[f64],
    ) -> (usize, usize) {
        let (mut count, mut last) = (0, 0);
        self.next.copy_from_slice(&self.mode);
        for i in 0..z.len() {
            if let Some(side) = wrong(problem, slack(i), i, self.mode[i], z[i], w[i]) {
                self.next[i] = side;
                (count, last) = (count + 1, i);
            }
        }
        (count, last)
    }

    /// Brings `z` within its bounds (it is there but for round-off), and verifies.
    #[cold]
    fn certify(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        status: Status,
        iterations: usize,
    ) -> Report {
        let mut check = bring_inside(problem, z, w);
        if !(check.value <= self.settings.tol) && status == Status::Solved {
            check = self.refine(problem, z, w, check);
        }
        // signs may stay wrong by round-off where the answer is as good as it gets
        let status = match (check.value <= self.settings.tol, status) {
            (true, _) => Status::Solved,
            (false, Status::Solved) => Status::Diverged,
            (false, status) => status,
        };
        report(status, iterations, check)
    }

    /// The right mode, but round-off in its answer: iterative refinement.
    #[cold]
    fn refine(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        mut check: Residual,
    ) -> Residual {
        for _ in 0..REFINEMENTS {
            if check.value <= self.settings.tol || !self.improve(problem, z) {
                break;
            }
            problem.eval(z, w);
            check = bring_inside(problem, z, w);
        }
        check
    }
}

#[inline]
fn report(status: Status, iterations: usize, check: Residual) -> Report {
    let (residual, worst) = (check.value, check.worst);
    Report { status, iterations, residual, worst, method: "pivoting" }
}

/// Projects `z` on its bounds and measures, with `w = W z + q` before and after.
#[inline]
fn bring_inside(problem: &Problem, z: &mut [f64], w: &mut [f64]) -> Residual {
    let mut moved = false;
    let bounds = problem.lower().iter().zip(problem.upper());
    for (z, (&lower, &upper)) in z.iter_mut().zip(bounds) {
        let inside = clamp(*z, lower, upper);
        moved |= inside != *z;
        *z = inside;
    }
    if moved { residual(problem, z, w) } else { natural_map(problem, z, w) }
}

/// How the mode came about, and whether block changes still lead somewhere.
pub(in crate::methods) struct Progress {
    fewest: usize,
    patience: usize, // that is left
    most: usize,     // patience
    single: usize,   // changes of a single unknown for want of progress
    last_step: Option<Step>,
}

/// A change of mode.
enum Step {
    Single,
    Block { last: usize },
}

impl Default for Progress {
    fn default() -> Self {
        Progress::patient(PATIENCE)
    }
}

impl Progress {
    /// With so many block changes without fewer wrong signs.
    pub fn patient(most: usize) -> Progress {
        Progress { fewest: usize::MAX, patience: most, most, single: 0, last_step: None }
    }

    /// Takes note of the number of wrong signs.
    pub fn is_made(&mut self, count: usize) -> bool {
        if count < self.fewest {
            (self.fewest, self.patience) = (count, self.most);
        } else {
            self.patience = self.patience.saturating_sub(1);
        }
        self.patience > 0
    }
}
