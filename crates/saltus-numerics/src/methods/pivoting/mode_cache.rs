//! The mode cache: `−W_BB⁻¹` of many modes of one dense matrix.
//!
//! ```text
//! z_B ← z_B − W_BB⁻¹ (q_B + W_B z)                                                      (1)
//! ```
//!
//! A mode that is met for the first time is factored, and (1) solved with its factors: most modes
//! on the way to an answer are never seen again. One that comes back is worth its inverse, with
//! which (1) is a product.

use crate::{Memory, Problem};
use saltus_linalg::{DenseLu, Matrix, vector};

/// The modes of one matrix, and the inverses of those that came back.
#[derive(Debug)]
pub(super) struct ModeCache {
    pub n: usize,
    capacity: usize,
    slots: Vec<Slot>,
    indices: Vec<u8>,      // the basic unknowns, n places a slot
    inverses: Vec<f64>,    // −W_BB⁻¹ row by row, n² places a slot
    current: usize,        // slot of the last call
    replace: usize,        // slot that the next new mode takes once all are used
    factored: Option<u64>, // the mode that `lu` is of
    #[cfg(test)]
    factorizations: usize,
    lu: DenseLu,
    right: Vec<f64>,
}

/// A mode that was met.
#[derive(Debug, Clone, Copy)]
struct Slot {
    basic: u64,
    size: usize, // number of basic unknowns
    is_inverted: bool,
}

/// The modes that were met, from which the cache can be made again.
#[derive(Debug, Default)]
pub(super) struct Met {
    pub modes: Vec<(u64, bool)>, // basic unknowns, and whether they came back
    current: usize,
    replace: usize,
}

impl Met {
    pub fn memory(&mut self, memory: &mut Memory) {
        memory.list(&mut self.modes, (0, false), |memory, (basic, is_inverted)| {
            memory.word(basic);
            memory.flag(is_inverted);
        });
        memory.count(&mut self.current);
        memory.count(&mut self.replace);
    }
}

impl ModeCache {
    /// The modes that were met.
    pub fn met(&self) -> Met {
        let modes = self.slots.iter().map(|slot| (slot.basic, slot.is_inverted)).collect();
        Met { modes, current: self.current, replace: self.replace }
    }

    /// Meets these modes again; inverses become what they were, to the last bit.
    pub fn meet(&mut self, W: &Matrix, met: &Met) {
        self.clear();
        for &(basic, is_inverted) in met.modes.iter().take(self.capacity) {
            if basic.checked_shr(self.n as u32).unwrap_or(0) != 0 {
                return; // of a larger problem
            }
            self.current = self.slots.len();
            self.take_slot(self.current, basic);
            if is_inverted && self.factor(W, basic) {
                self.invert();
            }
        }
        self.current = met.current.min(self.slots.len().saturating_sub(1));
        self.replace = met.replace % self.capacity;
    }

    pub fn new(n: usize, capacity: usize) -> Self {
        let capacity = capacity.max(1);
        ModeCache {
            n,
            capacity,
            slots: Vec::with_capacity(capacity),
            indices: Vec::with_capacity(capacity * n),
            inverses: Vec::with_capacity(capacity * n * n),
            current: 0,
            replace: 0,
            factored: None,
            #[cfg(test)]
            factorizations: 0,
            lu: DenseLu::with_capacity(n),
            right: vec![0.0; n],
        }
    }

    /// Forgets all modes: the matrix is another one.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.factored = None;
        (self.current, self.replace) = (0, 0);
    }

    /// Equation (1) for a mode; `at_zero` tells that `z` is zero. False where it is singular.
    #[inline]
    pub fn solve(
        &mut self,
        W: &Matrix,
        problem: &Problem,
        basic: u64,
        z: &mut [f64],
        at_zero: bool,
    ) -> bool {
        let hit = self.slots.get(self.current).is_some_and(|s| s.basic == basic && s.is_inverted);
        if !hit && !self.find(W, basic) {
            return false;
        }
        self.improve(W, problem, z, at_zero);
        true
    }

    /// Equation (1) once more, for the mode of the last call.
    #[inline]
    pub fn improve(&mut self, W: &Matrix, problem: &Problem, z: &mut [f64], at_zero: bool) {
        let (Slot { size, is_inverted, .. }, q) = (self.slots[self.current], problem.q());
        let indices = &self.indices[self.current * self.n..][..size];
        let right = &mut self.right[..size];
        if at_zero {
            for (right, &i) in right.iter_mut().zip(indices) {
                *right = q[i as usize];
            }
        } else {
            for (right, &i) in right.iter_mut().zip(indices) {
                *right = q[i as usize] + vector::dot(W.row(i as usize), z);
            }
        }
        if is_inverted {
            let inverse = &self.inverses[self.current * self.n * self.n..][..size * size];
            for (row, &i) in indices.iter().enumerate() {
                z[i as usize] += vector::dot(&inverse[row * size..(row + 1) * size], right);
            }
        } else {
            self.lu.solve(right);
            for (&right, &i) in right.iter().zip(indices) {
                z[i as usize] -= right;
            }
        }
    }

    /// Makes the slot of this mode the current one, if it has its inverse.
    pub fn turn_to(&mut self, basic: u64) -> bool {
        let is = |slot: &Slot| slot.basic == basic && slot.is_inverted;
        if self.slots.get(self.current).is_some_and(is) {
            return true;
        }
        let found = self.slots.iter().position(is);
        self.current = found.unwrap_or(self.current);
        found.is_some()
    }

    /// The inverse of the mode of the last call and its unknowns, where it is there.
    #[inline]
    pub fn last(&self) -> Option<(&[u8], &[f64])> {
        let Slot { size, is_inverted, .. } = *self.slots.get(self.current)?;
        let indices = &self.indices[self.current * self.n..][..size];
        let inverse = self.inverses.get(self.current * self.n * self.n..)?.get(..size * size)?;
        is_inverted.then_some((indices, inverse))
    }

    /// Makes the slot of this mode the current one, with its inverse or with its factors in `lu`.
    #[cold]
    fn find(&mut self, W: &Matrix, basic: u64) -> bool {
        if let Some(slot) = self.slots.iter().position(|slot| slot.basic == basic) {
            self.current = slot;
            return self.slots[slot].is_inverted || (self.factor(W, basic) && self.invert());
        }
        // a slot of its own
        let place = if self.slots.len() < self.capacity { self.slots.len() } else { self.replace };
        self.take_slot(place, basic);
        self.current = place;
        let is_regular = self.factor(W, basic);
        if !is_regular && place + 1 == self.slots.len() {
            self.slots.pop();
            self.current = 0;
        } else if self.slots.len() == self.capacity {
            self.replace = (place + 1) % self.capacity;
        }
        is_regular
    }

    /// Gives a mode this slot, the next one or one that is used.
    fn take_slot(&mut self, place: usize, basic: u64) {
        let n = self.n;
        if self.indices.len() < (place + 1) * n {
            self.indices.resize((place + 1) * n, 0);
        }
        let mut size = 0;
        let mut left = basic;
        while left != 0 {
            self.indices[place * n + size] = left.trailing_zeros() as u8;
            size += 1;
            left &= left - 1;
        }
        let slot = Slot { basic, size, is_inverted: false };
        if place == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.slots[place] = slot;
        }
    }

    /// The factors of the current mode, unless they are there.
    fn factor(&mut self, W: &Matrix, basic: u64) -> bool {
        if self.factored == Some(basic) {
            return true;
        }
        #[cfg(test)]
        {
            self.factorizations += 1;
        }
        let size = self.slots[self.current].size;
        let indices = &self.indices[self.current * self.n..][..size];
        let entry = |i: usize, j: usize| W[(indices[i] as usize, indices[j] as usize)];
        let is_regular = self.lu.factor_with(size, entry).is_ok();
        self.factored = is_regular.then_some(basic);
        is_regular
    }

    /// The inverse of the current mode from its factors.
    fn invert(&mut self) -> bool {
        let (size, start) = (self.slots[self.current].size, self.current * self.n * self.n);
        if self.inverses.len() < start + self.n * self.n {
            self.inverses.resize(start + self.n * self.n, 0.0);
        }
        let inverse = &mut self.inverses[start..][..size * size];
        for column in 0..size {
            let right = &mut self.right[..size];
            right.fill(0.0);
            right[column] = -1.0;
            self.lu.solve(right);
            for row in 0..size {
                inverse[row * size + column] = right[row];
            }
        }
        self.slots[self.current].is_inverted = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Matrix {
        // the block {2, 3} is singular
        Matrix::from([
            [4.0, 1.0, 0.0, 0.5],
            [-1.0, 3.0, 1.0, 0.0],
            [0.0, 1.0, 1.0, 1.0],
            [0.5, 0.0, 1.0, 1.0],
        ])
    }

    /// The answer of a mode, from the cache and from factors of its own.
    #[track_caller]
    fn check(cache: &mut ModeCache, problem: &Problem, basic: u64) {
        let W = matrix();
        let indices: Vec<usize> = (0..4).filter(|i| basic >> i & 1 == 1).collect();
        let mut expected: Vec<f64> = indices.iter().map(|&i| -problem.q()[i]).collect();
        let mut lu = DenseLu::default();
        let regular = lu.factor_with(indices.len(), |i, j| W[(indices[i], indices[j])]).is_ok();
        let mut z = [0.0; 4];
        assert_eq!(cache.solve(&W, problem, basic, &mut z, true), regular, "{basic:b}");
        if regular {
            lu.solve(&mut expected);
            for (&i, expected) in indices.iter().zip(expected) {
                assert!((z[i] - expected).abs() < 1e-13, "{basic:b}");
            }
        }
    }

    #[test]
    fn a_full_cache_replaces_and_stays_right() {
        let problem = Problem::lcp(matrix(), vec![-1.0, 2.0, -3.0, 0.5]).unwrap();
        for capacity in [0, 1, 2, 3, 64] {
            let mut cache = ModeCache::new(4, capacity);
            let mut basic = 1u64;
            for _ in 0..500 {
                basic = basic.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                check(&mut cache, &problem, basic >> 40 & 15);
            }
            assert!(cache.slots.len() <= capacity.max(1));
        }
    }

    #[test]
    fn modes_that_came_back_are_not_factored_again() {
        let problem = Problem::lcp(matrix(), vec![-1.0, 2.0, -3.0, 0.5]).unwrap();
        let mut cache = ModeCache::new(4, 8);
        // once when it is met, once when it comes back
        for times in [3, 6, 6, 6] {
            for basic in [0b0001, 0b0110, 0b0111] {
                check(&mut cache, &problem, basic);
            }
            assert_eq!(cache.factorizations, times);
        }
        cache.clear();
        check(&mut cache, &problem, 0b0001);
        assert_eq!(cache.factorizations, 7);
    }

    #[test]
    fn a_mode_that_stays_is_factored_once() {
        let problem = Problem::lcp(matrix(), vec![-1.0, 2.0, -3.0, 0.5]).unwrap();
        let mut cache = ModeCache::new(4, 8);
        for _ in 0..3 {
            check(&mut cache, &problem, 0b0110);
        }
        assert_eq!(cache.factorizations, 1);
        assert!(cache.slots[0].is_inverted);
    }
}
