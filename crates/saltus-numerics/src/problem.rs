//! The problem: matrix, vector, blocks.

use crate::operator::not_finite_in;
use crate::residual::Measure;
use crate::{Global, NumericsError, Operator, Set};
use saltus_linalg::{Matrix, vector};
use std::sync::atomic::{AtomicU64, Ordering};

/// Consecutive unknowns under one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Number of unknowns.
    pub size: usize,
    /// What they satisfy; each of them on its own, for a box.
    pub set: Set,
}

/// A block other than a box, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Its first unknown.
    pub start: usize,
    /// Number of unknowns.
    pub size: usize,
    /// What they satisfy.
    pub set: Set,
}

/// `w = F(z) + q`, with `(z, w)` in the graph of its law, block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    operator: Operator,
    matrix_id: u64,
    sets_id: u64,
    largest: f64, // absolute entry of the matrix
    q: Vec<f64>,
    lower: Vec<f64>, // bounds of the boxes; none for the unknowns of `placed`
    upper: Vec<f64>,
    placed: Vec<Placed>, // the blocks that are no boxes, in order
    off: Vec<Placed>,    // those that are switched off, in order
    measure: Measure,
}

/// Every matrix that enters a problem gets a number of its own, and so do its sets, so that methods
/// know what they may keep.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Problem {
    /// A problem from its map, vector and blocks (in order, covering all unknowns).
    pub fn new(
        operator: impl Into<Operator>,
        q: Vec<f64>,
        blocks: &[Block],
    ) -> Result<Problem, NumericsError> {
        let (operator, n) = (operator.into(), q.len());
        if let (rows, cols) = operator.shape()
            && rows == cols
            && rows != n
        {
            return Err(NumericsError::Length { what: "q", expected: rows, found: n });
        }
        let total = blocks.iter().try_fold(0usize, |n, block| n.checked_add(block.size));
        let covered = total.unwrap_or(usize::MAX);
        if covered != n {
            return Err(NumericsError::Length { what: "blocks", expected: n, found: covered });
        }
        let friction = blocks.iter().any(|block| block.set.is_contact());
        let mut problem = Problem {
            operator: Operator::Dense(Matrix::default()),
            matrix_id: 0,
            sets_id: 0,
            largest: 0.0,
            q: vec![0.0; n],
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
            placed: Vec::new(),
            off: Vec::new(),
            measure: if friction { Measure::Largest } else { Measure::Unit },
        };
        problem.set_matrix(operator)?;
        problem.set_q(&q)?;
        let mut start = 0;
        for (block, &Block { size, ref set }) in blocks.iter().enumerate() {
            if let Some((parameter, value)) = set.wrong_parameter() {
                return Err(NumericsError::Parameter { block, set: set.name(), parameter, value });
            }
            if set.bounds().is_some() {
                for index in start..start + size {
                    problem.set_set(index, set)?;
                }
            } else {
                let expected = set.size().unwrap_or(size.max(1));
                if size != expected {
                    let (set, found) = (set.name(), size);
                    return Err(NumericsError::BlockSize { block, set, expected, found });
                }
                problem.placed.push(Placed { start, size, set: set.clone() });
            }
            start += size;
        }
        problem.sets_id = next_id();
        Ok(problem)
    }

    /// The linear complementarity problem `0 ≤ w = M z + q ⟂ z ≥ 0`.
    pub fn lcp(matrix: impl Into<Operator>, q: Vec<f64>) -> Result<Problem, NumericsError> {
        let blocks = [Block { size: q.len(), set: Set::Nonnegative }];
        Ok(Problem::new(matrix, q, &blocks)?.measured(Measure::Relative))
    }

    /// The mixed problem: the first `equalities` unknowns are free, the others complementary.
    pub fn mlcp(
        matrix: impl Into<Operator>,
        q: Vec<f64>,
        equalities: usize,
    ) -> Result<Problem, NumericsError> {
        let Some(others) = q.len().checked_sub(equalities) else {
            let (expected, found) = (q.len(), equalities);
            return Err(NumericsError::Length { what: "equalities", expected, found });
        };
        let free = Block { size: equalities, set: Set::Free };
        Problem::new(matrix, q, &[free, Block { size: others, set: Set::Nonnegative }])
    }

    /// The box problem `−(M z + q) ∈ N_[lower, upper](z)`; relays are the case ±1.
    pub fn boxed(
        matrix: impl Into<Operator>,
        q: Vec<f64>,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<Problem, NumericsError> {
        for (what, bound) in [("lower", lower), ("upper", upper)] {
            if bound.len() != q.len() {
                let (expected, found) = (q.len(), bound.len());
                return Err(NumericsError::Length { what, expected, found });
            }
        }
        let blocks: Vec<Block> = (lower.iter().zip(upper))
            .map(|(&lower, &upper)| Block { size: 1, set: Set::Interval { lower, upper } })
            .collect();
        Problem::new(matrix, q, &blocks)
    }

    /// Contacts with friction in the plane, normal and tangent each: `mu` has one entry a contact.
    pub fn friction2d(
        W: impl Into<Operator>,
        q: Vec<f64>,
        mu: &[f64],
    ) -> Result<Problem, NumericsError> {
        let set = |mu| Block { size: 2, set: Set::Coulomb2 { mu } };
        Problem::contacts(W, q, 2, mu.iter().map(|&mu| set(mu)).collect())
    }

    /// Contacts with friction in space, normal and two tangents each.
    ///
    /// ```
    /// use saltus_linalg::Matrix;
    /// use saltus_numerics::{Problem, Solver, solve};
    ///
    /// // one contact, pressed with 1 and pushed sideways with 2: it slips
    /// let problem = Problem::friction3d(Matrix::identity(3), vec![-1.0, 2.0, 0.0], &[0.5])?;
    /// let solution = solve(&problem, &Solver::default(), None)?;
    /// assert_eq!(solution.z, [1.0, -0.5, 0.0]);
    /// assert_eq!(solution.w, [0.0, 1.5, 0.0]);
    /// # Ok::<(), saltus_numerics::NumericsError>(())
    /// ```
    pub fn friction3d(
        W: impl Into<Operator>,
        q: Vec<f64>,
        mu: &[f64],
    ) -> Result<Problem, NumericsError> {
        let set = |mu| Block { size: 3, set: Set::Coulomb3 { mu } };
        Problem::contacts(W, q, 3, mu.iter().map(|&mu| set(mu)).collect())
    }

    /// Contacts in the plane with friction and rolling resistance, three components each.
    pub fn rolling2d(
        W: impl Into<Operator>,
        q: Vec<f64>,
        mu: &[f64],
        mu_r: &[f64],
    ) -> Result<Problem, NumericsError> {
        let blocks = rolling(mu, mu_r, 3, |mu, mu_r| Set::Rolling2 { mu, mu_r })?;
        Ok(Problem::contacts(W, q, 3, blocks)?.measured(Measure::Relative))
    }

    /// Contacts in space with friction and rolling resistance, five components each.
    pub fn rolling3d(
        W: impl Into<Operator>,
        q: Vec<f64>,
        mu: &[f64],
        mu_r: &[f64],
    ) -> Result<Problem, NumericsError> {
        let blocks = rolling(mu, mu_r, 5, |mu, mu_r| Set::Rolling3 { mu, mu_r })?;
        Problem::contacts(W, q, 5, blocks)
    }

    /// Second-order cones of the given sizes and apertures.
    pub fn second_order(
        M: impl Into<Operator>,
        q: Vec<f64>,
        sizes: &[usize],
        mu: &[f64],
    ) -> Result<Problem, NumericsError> {
        if sizes.len() != mu.len() {
            let (expected, found) = (sizes.len(), mu.len());
            return Err(NumericsError::Contacts { what: "mu", expected, found });
        }
        let block = |(&size, &mu)| Block { size, set: Set::SecondOrder { mu } };
        let blocks: Vec<Block> = sizes.iter().zip(mu).map(block).collect();
        Problem::new(M, q, &blocks)
    }

    /// The blocks of `dimension` unknowns each must cover `q`.
    fn contacts(
        W: impl Into<Operator>,
        q: Vec<f64>,
        dimension: usize,
        blocks: Vec<Block>,
    ) -> Result<Problem, NumericsError> {
        if !q.len().is_multiple_of(dimension) {
            return Err(NumericsError::Multiple { found: q.len(), dimension });
        }
        if blocks.len() * dimension != q.len() {
            let (expected, found) = (q.len() / dimension, blocks.len());
            return Err(NumericsError::Contacts { what: "mu", expected, found });
        }
        Problem::new(W, q, &blocks)
    }

    /// The same problem with another scale of its residual.
    pub fn measured(mut self, measure: Measure) -> Problem {
        self.measure = measure;
        self
    }

    /// The scale of its residual.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Whether every set is a box.
    #[inline]
    pub fn is_boxed(&self) -> bool {
        self.placed.is_empty()
    }

    /// The blocks that are no boxes, in order.
    pub fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// Number of contacts with friction.
    pub fn contacts_count(&self) -> usize {
        self.placed.iter().filter(|block| block.set.is_contact()).count()
    }

    /// Visits all blocks in order: first unknown, set, size. The unknowns of boxes come one by
    /// one.
    pub fn for_each_block(&self, mut visit: impl FnMut(usize, &Set, usize)) {
        let boxes = |range: std::ops::Range<usize>, visit: &mut dyn FnMut(usize, &Set, usize)| {
            for i in range {
                let (lower, upper) = (self.lower[i], self.upper[i]);
                let set = match (lower, upper) {
                    (f64::NEG_INFINITY, f64::INFINITY) => Set::Free,
                    _ => Set::Interval { lower, upper },
                };
                visit(i, &set, 1);
            }
        };
        let mut next = 0;
        for Placed { start, size, set } in &self.placed {
            boxes(next..*start, &mut visit);
            visit(*start, set, *size);
            next = start + size;
        }
        boxes(next..self.q.len(), &mut visit);
    }

    /// `‖w_c − W_cc z_c‖` of a block: what the others and `q` contribute.
    pub(crate) fn others(&self, start: usize, size: usize, z_c: &[f64], w_c: &[f64]) -> f64 {
        let own = |i: usize| -> f64 {
            (0..size).map(|j| self.operator.get(start + i, start + j) * z_c[j]).sum()
        };
        (0..size).map(|i| (w_c[i] - own(i)).powi(2)).sum::<f64>().sqrt()
    }

    /// The same problem with `Hᵀ M⁻¹ H` multiplied out, if its map is the pair `(M, H)`.
    pub fn condensed(&self) -> Option<Problem> {
        let Operator::Global(global) = &self.operator else { return None };
        let matrix = global.condense();
        let q = global.free().iter().zip(&self.q).map(|(free, q)| free + q).collect();
        let mut condensed = self.clone();
        condensed.q = q;
        condensed.set_matrix(matrix).ok()?;
        Some(condensed)
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// `F`, mostly a matrix `W`.
    pub fn matrix(&self) -> &Operator {
        &self.operator
    }

    /// The pair `(M, H)`, if `F` is one.
    pub fn global(&self) -> Option<&Global> {
        match &self.operator {
            Operator::Global(global) => Some(global),
            _ => None,
        }
    }

    /// A number that changes whenever the matrix does.
    pub fn matrix_id(&self) -> u64 {
        self.matrix_id
    }

    /// A number that changes whenever a set does.
    pub fn sets_id(&self) -> u64 {
        self.sets_id
    }

    /// Largest absolute entry of `W`.
    pub fn matrix_scale(&self) -> f64 {
        self.largest
    }

    /// `q`.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Lower bounds of `z`, −∞ where there is none.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// Upper bounds of `z`, +∞ where there is none.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Replaces `W`.
    pub fn set_matrix(&mut self, matrix: impl Into<Operator>) -> Result<(), NumericsError> {
        let (operator, n) = (matrix.into(), self.q.len());
        let (expected, found) = ((n, n), operator.shape());
        if found != expected {
            return Err(NumericsError::Shape { what: "W", expected, found });
        }
        let largest = operator.largest();
        if !largest.is_finite() {
            return Err(not_finite_in("W", &operator));
        }
        self.largest = largest;
        self.operator = operator;
        self.matrix_id = next_id();
        Ok(())
    }

    /// Changes the entries of `W` in place, not its shape. After an error they are to be changed
    /// again before the problem is solved.
    pub fn update_matrix(
        &mut self,
        change: impl FnOnce(&mut Operator),
    ) -> Result<(), NumericsError> {
        change(&mut self.operator);
        self.largest = self.operator.largest();
        self.matrix_id = next_id();
        match self.largest.is_finite() {
            true => Ok(()),
            false => Err(not_finite_in("W", &self.operator)),
        }
    }

    /// Switches the block other than a box that begins at `start` on or off; off, its unknowns
    /// are fixed at zero. Nothing happens where there is no such block.
    pub fn switch(&mut self, start: usize, on: bool) {
        let (from, to) = match on {
            true => (&mut self.off, &mut self.placed),
            false => (&mut self.placed, &mut self.off),
        };
        let Ok(k) = from.binary_search_by_key(&start, |block| block.start) else { return };
        self.sets_id = next_id();
        let block = from.remove(k);
        let bound = if on { f64::INFINITY } else { 0.0 };
        self.lower[start..start + block.size].fill(-bound);
        self.upper[start..start + block.size].fill(bound);
        let place = to.partition_point(|other| other.start < start);
        to.insert(place, block);
    }

    /// Replaces the set of the block other than a box that begins at `start` by one of the same
    /// size, be it on or off.
    pub fn set_placed(&mut self, start: usize, set: &Set) -> Result<(), NumericsError> {
        let search = |blocks: &[Placed]| blocks.binary_search_by_key(&start, |block| block.start);
        let block = match (search(&self.placed), search(&self.off)) {
            (Ok(k), _) => &mut self.placed[k],
            (_, Ok(k)) => &mut self.off[k],
            _ => return Err(NumericsError::NotABox { index: start, set: set.name() }),
        };
        if let Some((parameter, value)) = set.wrong_parameter() {
            let set = set.name();
            return Err(NumericsError::Parameter { block: start, set, parameter, value });
        }
        let (expected, found) = (block.size, set.size().unwrap_or(block.size));
        if found != expected {
            return Err(NumericsError::BlockSize {
                block: start,
                set: set.name(),
                expected,
                found,
            });
        }
        block.set.clone_from(set);
        self.sets_id = next_id();
        Ok(())
    }

    /// Replaces `q`.
    pub fn set_q(&mut self, q: &[f64]) -> Result<(), NumericsError> {
        if q.len() != self.q.len() {
            let (expected, found) = (self.q.len(), q.len());
            return Err(NumericsError::Length { what: "q", expected, found });
        }
        check_q(q)?;
        self.q.copy_from_slice(q);
        Ok(())
    }

    /// Changes the entries of `q` in place. After an error they are to be changed again before the
    /// problem is solved.
    #[inline]
    pub fn update_q(&mut self, change: impl FnOnce(&mut [f64])) -> Result<(), NumericsError> {
        change(&mut self.q);
        check_q(&self.q)
    }

    /// Replaces the set of one unknown by a box, where it was one before.
    pub fn set_set(&mut self, index: usize, set: &Set) -> Result<(), NumericsError> {
        let Some((lower, upper)) = set.bounds() else {
            return Err(NumericsError::NotABox { index, set: set.name() });
        };
        if index >= self.q.len() {
            let (expected, found) = (self.q.len(), index + 1);
            return Err(NumericsError::Length { what: "sets", expected, found });
        }
        let before = self.placed.partition_point(|block| block.start <= index);
        if let Some(block) = before.checked_sub(1).map(|k| &self.placed[k])
            && index < block.start + block.size
        {
            return Err(NumericsError::NotABox { index, set: block.set.name() });
        }
        if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            return Err(NumericsError::Bounds { index, lower, upper });
        }
        self.set_bounds(index, lower, upper);
        Ok(())
    }

    /// Replaces the bounds of one unknown that are known to be an interval.
    #[inline]
    pub fn set_bounds(&mut self, index: usize, lower: f64, upper: f64) {
        debug_assert!(lower <= upper);
        if self.lower[index] != lower || self.upper[index] != upper {
            self.lower[index] = lower;
            self.upper[index] = upper;
            self.sets_id = next_id();
        }
    }

    /// `w ← F(z) + q`.
    #[inline]
    pub fn eval(&self, z: &[f64], w: &mut [f64]) {
        assert_eq!((z.len(), w.len()), (self.q.len(), self.q.len()), "lengths of z and w");
        match &self.operator {
            Operator::Dense(a) => a.apply_plus(&self.q, z, w),
            Operator::Sparse(a) => {
                for ((w, q), product) in w.iter_mut().zip(&self.q).zip(a.products(z)) {
                    *w = q + product;
                }
            }
            other => {
                other.apply(z, w);
                w.iter_mut().zip(&self.q).for_each(|(w, q)| *w += q);
            }
        }
    }
}

/// Refuses numbers that are none.
#[inline]
fn check_q(q: &[f64]) -> Result<(), NumericsError> {
    if vector::all_finite(q) {
        return Ok(());
    }
    let i = q.iter().position(|x| !x.is_finite()).unwrap_or(0);
    Err(NumericsError::NotFinite { what: "q", at: vec![i], value: q[i] })
}

/// One block a contact from both coefficients.
fn rolling(
    mu: &[f64],
    mu_r: &[f64],
    size: usize,
    set: impl Fn(f64, f64) -> Set,
) -> Result<Vec<Block>, NumericsError> {
    if mu.len() != mu_r.len() {
        let (expected, found) = (mu.len(), mu_r.len());
        return Err(NumericsError::Contacts { what: "mu_r", expected, found });
    }
    Ok(mu.iter().zip(mu_r).map(|(&mu, &mu_r)| Block { size, set: set(mu, mu_r) }).collect())
}
