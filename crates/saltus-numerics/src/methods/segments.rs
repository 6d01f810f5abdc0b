//! Newton's method by segments, for graphs and boxes.
//!
//! In a mode every unknown is on one segment of its graph (that of a box has three), which is level
//! or leans:
//!
//! ```text
//! level: z = z_k          leans: w + d z = c,   d = −Δw/Δz ≥ 0
//! (W_BB + D) z_B = c_B − q_B − W_BN z_N,   B: those that lean                             (1)
//! ```
//!
//! The segment of the next mode is the one that holds `x = z − ρ w`, `ρ = 1/Wᵢᵢ`; a mode in which all
//! stay where they are is the answer. The last mode is the first guess: while it stays, a call is one
//! solve with factors that are kept, and one check. All unknowns that are on a wrong segment leave it
//! at once while that makes fewer of them wrong, the last one alone where it does not.
//!
//! A dense `W` of at most `CACHED` unknowns has the factors of many modes, a larger one those of the
//! last. Where `W` is mostly zeros (1) is written for all unknowns,
//!
//! ```text
//! leans: (W z)_i + d z_i = c_i − q_i          level: z_i = z_k                            (2)
//! ```
//!
//! so that an unknown that changes its segment changes one row, and only what follows from this row
//! is factored again (see `RowLu`). Where its pivots do not do, the search goes on with the rows and
//! columns that lean, factored with a choice of pivots. Where many modes have not come to rest, groups
//! of unknowns are solved one after the other in the order in which they act (see `downstream`), and
//! the search goes on from there.

use super::downstream::Downstream;
use super::pivoting::Progress;
use super::proximal::mostly_zeros;
use crate::residual::{Residual, natural_map};
use crate::{Measure, Memory, Operator, Problem, Report, Set, Status};
use saltus_linalg::{DenseLu, MaskedFactor, Matrix, RowLu, Sparse, vector};

/// Most modes of a call.
const MODES: usize = 60;
/// More of them, in unknowns, where rows change one by one: along a chain the segments that are found
/// stay right, however many are wrong behind them.
const ALONG: usize = 2;
/// Modes after which groups are solved in their order.
const SOON: usize = 12;
/// Steps of iterative refinement before an answer is given up.
const REFINEMENTS: usize = 2;
/// Largest dense problem with the factors of several modes, and how many.
const CACHED: usize = 64;
const SLOTS: usize = 32;
/// Dense problems at least this large and at most so full are factored as sparse ones.
const CONVERTED: usize = 24;
const CONVERTED_SHARE: f64 = 0.34;
/// Share of the tolerance above which an answer without a choice of pivots is refined.
const SHARP: f64 = 1e-4;
/// No mode.
const NONE: u32 = u32::MAX;

/// The method and what it keeps between calls.
#[derive(Debug)]
pub(super) struct Segments {
    matrix_id: u64,
    sets_id: u64,
    works: bool,       // on this matrix and these sets
    first: Vec<usize>, // the segments of unknown `i` are those from `first[i]` to `first[i + 1]`
    segments: Vec<Segment>,
    rho: Vec<f64>,
    mode: Vec<u32>, // the segment of each unknown; empty where there is no guess
    next: Vec<u32>,
    guess: Vec<f64>,
    is_late: bool, // the last search ended for want of modes
    engine: Engine,
}

/// A segment between two values of `x`.
#[derive(Debug, Clone, Copy)]
struct Segment {
    least: f64,
    most: f64,
    level: bool,
    z: f64, // where it is level
    d: f64, // and where it leans
    c: f64,
}

#[derive(Debug)]
enum Engine {
    None,
    Dense(Dense),
    Sparse(Box<BySparse>),
}

/// Factors of several modes, the last ones.
#[derive(Debug)]
struct Dense {
    slots: Vec<Slot>,
    current: usize,
    replace: usize,
    right: Vec<f64>,
}

#[derive(Debug)]
struct Slot {
    mode: Vec<u32>,
    leaning: Vec<usize>,
    lu: DenseLu,
    valid: bool,
}

/// Factors of the last mode.
#[derive(Debug)]
struct BySparse {
    converted: Option<Sparse>, // the matrix, where the problem has it as a dense one
    rows: Option<RowLu>,
    factors: Option<MaskedFactor>, // where the diagonal is not enough
    pivots: bool,                  // are chosen in this call
    of_rows: Held,
    of_factors: Held,
    changed: Vec<usize>,
    right: Vec<f64>,
    downstream: Order,
}

/// The order in which groups of unknowns act, once it was asked for.
#[derive(Debug)]
enum Order {
    Unknown,
    None,
    Known(Box<Downstream>),
}

/// Which mode factors are of.
#[derive(Debug)]
struct Held {
    valid: bool,
    mode: Vec<u32>,
}

impl Segments {
    pub fn new() -> Segments {
        Segments {
            matrix_id: 0,
            sets_id: 0,
            works: false,
            first: Vec::new(),
            segments: Vec::new(),
            rho: Vec::new(),
            mode: Vec::new(),
            next: Vec::new(),
            guess: Vec::new(),
            is_late: false,
            engine: Engine::None,
        }
    }

    /// Forgets the mode of the last call.
    pub fn forget(&mut self) {
        self.mode.clear();
    }

    /// The mode of the last call; factors follow from it.
    pub fn memory(&mut self, memory: &mut Memory) {
        memory.list(&mut self.mode, 0, |memory, segment| {
            let mut word = u64::from(*segment);
            memory.word(&mut word);
            *segment = u32::try_from(word).unwrap_or(NONE);
        });
        if memory.is_read() {
            self.matrix_id = 0; // so that the mode is looked at
        }
    }

    /// Solves from the last mode, or the guess in `z`, if the sets are graphs and boxes and the modes
    /// come to rest; else `z` is as it was, or what groups that were solved one after the other have made of it.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        tol: f64,
    ) -> Option<Report> {
        if (self.matrix_id, self.sets_id) != (problem.matrix_id(), problem.sets_id()) {
            self.new_problem(problem);
        }
        if !self.works {
            return None;
        }
        if let Engine::Sparse(engine) = &mut self.engine {
            engine.pivots = engine.rows.is_none();
        }
        self.guess.copy_from_slice(z);
        let most = match self.is_by_rows() {
            true => MODES + ALONG * z.len(),
            false => MODES,
        };
        let report = match matches!(self.engine, Engine::Sparse(_)) {
            true => self.search(problem, z, w, tol, SOON).or_else(|| {
                self.turn_downstream(problem, z, tol).then_some(())?;
                self.search(problem, z, w, tol, most)
            }),
            false => self.search(problem, z, w, tol, most),
        };
        if report.is_none() {
            self.forget(); // a mode that fails is no guess
            z.copy_from_slice(&self.guess);
        }
        report
    }

    /// After modes that have not come to rest: the guess that groups give in their order. Where there is
    /// none, the search may go on if it was only late.
    #[cold]
    fn turn_downstream(&mut self, problem: &Problem, z: &mut [f64], tol: f64) -> bool {
        let Engine::Sparse(engine) = &mut self.engine else { return false };
        let in_order = engine.sweep(problem, &mut self.guess, tol);
        if in_order {
            engine.pivots = engine.rows.is_none();
            z.copy_from_slice(&self.guess);
            self.forget();
        }
        in_order || self.is_late
    }

    /// Equation (1), mode by mode.
    fn search(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        tol: f64,
        most: usize,
    ) -> Option<Report> {
        let n = z.len();
        self.is_late = false;
        if self.mode.len() != n {
            problem.eval(z, w);
            self.mode.clear();
            self.mode.extend(self.first[..n].iter().map(|&first| first as u32));
            self.wrong(z, w)?;
            std::mem::swap(&mut self.mode, &mut self.next);
        }
        let mut progress = match self.is_by_rows() {
            true => Progress::patient(usize::MAX),
            false => Progress::default(),
        };
        for iterations in 1..=most {
            if !self.solve_mode(problem, z) {
                return None;
            }
            problem.eval(z, w);
            let (count, last) = self.wrong(z, w)?;
            if count == 0 {
                let check = self.refine(problem, z, w, tol);
                if check.value <= tol {
                    return Some(report(iterations, check));
                }
                if !self.choose_pivots() {
                    return None;
                }
                continue; // the same mode once more
            }
            if progress.is_made(count) {
                std::mem::swap(&mut self.mode, &mut self.next);
            } else {
                // corners where round-off decides: the answer may be one all the same
                let check = natural_map(problem, z, w);
                if check.value <= tol {
                    return Some(report(iterations, check));
                }
                self.mode[last] = self.next[last];
            }
        }
        self.is_late = true;
        None
    }

    /// The answer of the mode.
    fn solve_mode(&mut self, problem: &Problem, z: &mut [f64]) -> bool {
        if let Engine::Sparse(engine) = &mut self.engine
            && let Some(solved) = engine.solve(problem, &self.mode, &self.segments, z)
        {
            if solved {
                return true;
            }
            self.choose_pivots();
        }
        self.level(z);
        self.improve(problem, z)
    }

    /// Whether rows change one by one.
    #[inline]
    fn is_by_rows(&self) -> bool {
        matches!(&self.engine, Engine::Sparse(engine) if !engine.pivots)
    }

    /// Pivots are chosen for the rest of the call; false where they have been.
    #[cold]
    fn choose_pivots(&mut self) -> bool {
        let Engine::Sparse(engine) = &mut self.engine else { return false };
        !std::mem::replace(&mut engine.pivots, true)
    }

    /// The level unknowns are known.
    #[inline]
    fn level(&self, z: &mut [f64]) {
        for (z, &segment) in z.iter_mut().zip(&self.mode) {
            let segment = &self.segments[segment as usize];
            if segment.level {
                *z = segment.z;
            }
        }
    }

    /// `z_B ← z_B + (W_BB + D)⁻¹ (c_B − q_B − W_B z − D z_B)`: equation (1), and iterative refinement.
    #[inline]
    fn improve(&mut self, problem: &Problem, z: &mut [f64]) -> bool {
        let (mode, segments) = (&self.mode[..], &self.segments[..]);
        match (&mut self.engine, problem.matrix()) {
            (Engine::Dense(engine), Operator::Dense(W)) => {
                engine.improve(W, problem.q(), mode, segments, z)
            }
            (Engine::Sparse(engine), _) => engine.improve(problem, mode, segments, z),
            _ => false,
        }
    }

    /// The residual, after iterative refinement where it takes it.
    #[inline]
    fn refine(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64], tol: f64) -> Residual {
        let mut check = natural_map(problem, z, w);
        if self.is_by_rows() && check.value > SHARP * tol && self.improve(problem, z) {
            problem.eval(z, w);
            check = natural_map(problem, z, w);
        }
        for _ in 0..REFINEMENTS {
            if check.value <= tol || !self.improve(problem, z) {
                break;
            }
            problem.eval(z, w);
            check = natural_map(problem, z, w);
        }
        check
    }

    /// The segments that hold `x`, in `next`: how many are others than those of the mode, and the last
    /// of them; nothing where `x` is not a number.
    #[inline]
    fn wrong(&mut self, z: &[f64], w: &[f64]) -> Option<(usize, usize)> {
        let Segments { segments, first, rho, mode, next, .. } = self;
        let (mut count, mut last) = (0, 0);
        for i in 0..z.len() {
            let x = z[i] - rho[i] * w[i];
            let now = mode[i];
            let Segment { least, most, .. } = segments[now as usize];
            next[i] = now;
            if !(x >= least && x <= most) {
                let own = &segments[first[i]..first[i + 1]];
                let k = own.iter().position(|one| x >= one.least && x <= one.most)?;
                next[i] = (first[i] + k) as u32;
                (count, last) = (count + 1, i);
            }
        }
        Some((count, last))
    }
}

impl Segments {
    /// The segments of all unknowns, and an engine for the matrix.
    #[cold]
    fn new_problem(&mut self, problem: &Problem) {
        let n = problem.len();
        let graphs = problem.placed().iter().all(|block| matches!(block.set, Set::Graph(_)));
        let matrix = problem.matrix();
        self.works = graphs && matrix.is_matrix() && problem.measure() == Measure::Unit;
        self.sets_id = problem.sets_id();
        if !self.works {
            self.matrix_id = problem.matrix_id();
            return;
        }
        self.first.clear();
        self.segments.clear();
        self.rho.clear();
        self.guess.resize(n, 0.0);
        self.next.resize(n, 0);
        self.mode.reserve(n.saturating_sub(self.mode.len()));
        let mut add = |start: usize, set: &Set| {
            let diagonal = matrix.get(start, start);
            let rho = if diagonal > 0.0 { 1.0 / diagonal } else { 1.0 };
            self.first.push(self.segments.len());
            self.rho.push(rho);
            match set {
                Set::Graph(graph) => of_graph(graph.points(), rho, &mut self.segments),
                set => {
                    let (lower, upper) = set.bounds().unwrap_or((-ALL, ALL));
                    of_box(lower, upper, &mut self.segments);
                }
            }
        };
        problem.for_each_block(|start, set, _| add(start, set));
        self.first.push(self.segments.len());
        let own = self.first.windows(2).map(|ends| ends[0]..ends[1]);
        if self.mode.iter().zip(own).any(|(&segment, own)| !own.contains(&(segment as usize))) {
            self.mode.clear(); // it is one of other sets
        }
        if self.matrix_id != problem.matrix_id() {
            self.engine = match (matrix, mostly_zeros(matrix, CONVERTED, CONVERTED_SHARE)) {
                (Operator::Dense(_), Some(W)) => Engine::Sparse(Box::new(BySparse::new(W))),
                (Operator::Dense(_), None) => Engine::Dense(Dense::new(n)),
                (Operator::Sparse(W), _) => {
                    let mut engine = BySparse::new(W.clone());
                    engine.converted = None;
                    Engine::Sparse(Box::new(engine))
                }
                (Operator::Global(_) | Operator::Function(_), _) => Engine::None,
            };
        }
        match &mut self.engine {
            Engine::Dense(engine) => engine.clear(),
            Engine::Sparse(engine) => engine.clear(),
            Engine::None => {}
        }
        self.matrix_id = problem.matrix_id();
    }
}

const ALL: f64 = f64::INFINITY;

/// The three segments of a box, of which some may be empty.
fn of_box(lower: f64, upper: f64, segments: &mut Vec<Segment>) {
    let level =
        |z: f64, least: f64, most: f64| Segment { least, most, level: true, z, d: 0.0, c: 0.0 };
    if lower == upper {
        let nowhere = level(lower, ALL, -ALL);
        segments.extend([level(lower, -ALL, ALL), nowhere, nowhere]);
        return;
    }
    segments.extend([
        Segment { least: lower, most: upper, level: false, z: 0.0, d: 0.0, c: 0.0 },
        level(lower, -ALL, lower),
        level(upper, upper, ALL),
    ]);
}

/// The segments of a graph, along which `w` grows and `z`, and so `x = z − ρ w`, falls.
fn of_graph(points: &[(f64, f64)], rho: f64, segments: &mut Vec<Segment>) {
    let last = points.len().saturating_sub(2);
    for (k, pair) in points.windows(2).enumerate() {
        let [(w0, z0), (w1, z1)] = *pair else { continue };
        let most = if k == 0 { ALL } else { z0 - rho * w0 };
        let least = if k == last { -ALL } else { z1 - rho * w1 };
        segments.push(if z0 == z1 {
            Segment { least, most, level: true, z: z0, d: 0.0, c: 0.0 }
        } else {
            let d = (w1 - w0) / (z0 - z1);
            Segment { least, most, level: false, z: 0.0, d, c: w0 + d * z0 }
        });
    }
}

impl Dense {
    fn new(n: usize) -> Dense {
        let slot = || Slot {
            mode: vec![NONE; n],
            leaning: Vec::with_capacity(n),
            lu: DenseLu::with_capacity(n),
            valid: false,
        };
        let slots = (0..if n <= CACHED { SLOTS } else { 1 }).map(|_| slot()).collect();
        Dense { slots, current: 0, replace: 0, right: vec![0.0; n] }
    }

    fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.valid = false);
    }

    #[inline]
    fn improve(
        &mut self,
        W: &Matrix,
        q: &[f64],
        mode: &[u32],
        segments: &[Segment],
        z: &mut [f64],
    ) -> bool {
        if !self.slots[self.current].is(mode) && !self.find(W, mode, segments) {
            return false;
        }
        let slot = &mut self.slots[self.current];
        let right = &mut self.right[..slot.leaning.len()];
        for (right, &i) in right.iter_mut().zip(&slot.leaning) {
            let Segment { d, c, .. } = segments[mode[i] as usize];
            *right = c - q[i] - vector::dot(W.row(i), z) - d * z[i];
        }
        slot.lu.solve(right);
        for (&right, &i) in right.iter().zip(&slot.leaning) {
            z[i] += right;
        }
        true
    }

    /// Makes the slot of this mode the current one, factored anew where there is none.
    #[cold]
    fn find(&mut self, W: &Matrix, mode: &[u32], segments: &[Segment]) -> bool {
        if let Some(slot) = self.slots.iter().position(|slot| slot.is(mode)) {
            self.current = slot;
            return true;
        }
        let n = mode.len();
        self.current = self.replace;
        self.replace = (self.replace + 1) % self.slots.len();
        let slot = &mut self.slots[self.current];
        slot.mode.copy_from_slice(mode);
        slot.leaning.clear();
        slot.leaning.extend((0..n).filter(|&i| !segments[mode[i] as usize].level));
        let leaning = &slot.leaning;
        let entry = |i: usize, j: usize| {
            let shift = if i == j { segments[mode[leaning[i]] as usize].d } else { 0.0 };
            W[(leaning[i], leaning[j])] + shift
        };
        slot.valid = slot.lu.factor_with(leaning.len(), entry).is_ok();
        slot.valid
    }
}

impl Slot {
    #[inline]
    fn is(&self, mode: &[u32]) -> bool {
        self.valid && self.mode == mode
    }
}

impl BySparse {
    fn new(W: Sparse) -> BySparse {
        let n = W.rows();
        let held = || Held { valid: false, mode: vec![NONE; n] };
        BySparse {
            rows: RowLu::new(&W),
            converted: Some(W),
            factors: None,
            pivots: false,
            of_rows: held(),
            of_factors: held(),
            changed: Vec::with_capacity(n),
            right: vec![0.0; n],
            downstream: Order::Unknown,
        }
    }

    fn clear(&mut self) {
        (self.of_rows.valid, self.of_factors.valid) = (false, false);
        self.downstream = Order::Unknown;
    }

    /// A guess at the answer from `z`, group by group; false where there is no order.
    #[cold]
    fn sweep(&mut self, problem: &Problem, z: &mut [f64], tol: f64) -> bool {
        let Some(W) = matrix_of(&self.converted, problem) else { return false };
        if matches!(self.downstream, Order::Unknown) {
            self.downstream = match Downstream::new(problem, W) {
                Some(downstream) => Order::Known(Box::new(downstream)),
                None => Order::None,
            };
        }
        match &mut self.downstream {
            Order::Known(downstream) => {
                let _ = downstream.sweep(W, problem.q(), z, tol); // a guess in any case
                true
            }
            _ => false,
        }
    }

    /// Equation (2) without a choice of pivots: nothing where they are chosen, else whether they did.
    fn solve(
        &mut self,
        problem: &Problem,
        mode: &[u32],
        segments: &[Segment],
        z: &mut [f64],
    ) -> Option<bool> {
        if self.pivots {
            return None;
        }
        if !self.factor_rows(problem, mode, segments)? {
            return Some(false);
        }
        for ((z, q), &segment) in z.iter_mut().zip(problem.q()).zip(mode) {
            let segment = &segments[segment as usize];
            *z = if segment.level { segment.z } else { segment.c - q };
        }
        self.rows.as_mut()?.solve(z);
        Some(true)
    }

    /// The factors of (2); whether the diagonal does.
    fn factor_rows(
        &mut self,
        problem: &Problem,
        mode: &[u32],
        segments: &[Segment],
    ) -> Option<bool> {
        let BySparse { converted, rows, of_rows: Held { valid, mode: own }, changed, .. } = self;
        let rows = rows.as_mut()?;
        let W = matrix_of(converted, problem)?;
        let of = |i: usize| &segments[mode[i] as usize];
        changed.clear();
        if *valid {
            changed.extend((0..mode.len()).filter(|&i| own[i] != mode[i]));
        } else {
            rows.forget();
        }
        if !*valid || !changed.is_empty() {
            own.copy_from_slice(mode);
            let factored = rows.factor(changed.iter().copied(), |i, entries| {
                let Segment { level, d, .. } = *of(i);
                if level {
                    return entries.add(i, 1.0);
                }
                W.row(i).iter().for_each(|entry| entries.add(entry.col, entry.value));
                entries.add(i, d);
            });
            *valid = factored.is_ok();
        }
        Some(*valid)
    }

    fn improve(
        &mut self,
        problem: &Problem,
        mode: &[u32],
        segments: &[Segment],
        z: &mut [f64],
    ) -> bool {
        let BySparse { converted, rows, factors, pivots, of_rows, of_factors, right, .. } = self;
        let Some(W) = matrix_of(converted, problem) else { return false };
        let of = |i: usize| &segments[mode[i] as usize];
        let held = if *pivots { of_factors } else { of_rows };
        if *pivots && (!held.valid || held.mode != mode) {
            held.mode.copy_from_slice(mode);
            let value = |i: usize, j: usize, w: f64| match (of(i).level, of(j).level) {
                (false, false) if i == j => w + of(i).d,
                (false, false) => w,
                _ => f64::from(i == j),
            };
            let factors = factors.get_or_insert_with(|| MaskedFactor::new(W));
            held.valid = factors.factor_with(W, value).is_ok();
        }
        if !held.valid {
            return false;
        }
        for (i, (right, product)) in right.iter_mut().zip(W.products(z)).enumerate() {
            let Segment { level, d, c, .. } = *of(i);
            *right = if level { 0.0 } else { c - problem.q()[i] - product - d * z[i] };
        }
        match (rows, factors) {
            (Some(rows), _) if !*pivots => rows.solve(right),
            (_, Some(factors)) => factors.solve(right),
            _ => return false,
        }
        for (i, (z, right)) in z.iter_mut().zip(&*right).enumerate() {
            if !of(i).level {
                *z += right;
            }
        }
        true
    }
}

/// The sparse matrix of a problem, or what its dense one was converted to.
fn matrix_of<'a>(converted: &'a Option<Sparse>, problem: &'a Problem) -> Option<&'a Sparse> {
    match (converted, problem.matrix()) {
        (Some(W), _) | (None, Operator::Sparse(W)) => Some(W),
        _ => None,
    }
}

fn report(iterations: usize, check: Residual) -> Report {
    let (residual, worst) = (check.value, check.worst);
    Report { status: Status::Solved, iterations, residual, worst, method: "pivoting" }
}

#[cfg(test)]
mod tests;
