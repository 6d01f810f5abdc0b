//! The last mode once more: nothing has changed but `q`.
//!
//! ```text
//! z_B = −W_BB⁻¹ (q_B + c_B),    w = q + c + W_B z_B,    c = W_N z_N                     (1)
//! ```
//!
//! With the matrix, the bounds and the mode `z_N` and `c` stay as they are, and a call is two products
//! and the check.

use super::{Engine, Pivoting, report};
use crate::methods::driven::Kept;
use crate::mode::{Side, allowed};
use crate::residual::{Residual, natural_map_of_boxes};
use crate::{Operator, Problem, Report, Status};
use saltus_linalg::{Packed, Wide, vector, wide};

/// What stays while nothing but `q` changes.
#[derive(Debug, Default)]
pub(super) struct Again {
    ids: Option<(u64, u64)>, // of the matrix and the sets
    basic: Vec<usize>,
    inverse: Packed, // −W_BB⁻¹
    columns: Packed, // W_B
    c: Vec<f64>,     // empty where it is zero
    sign: Vec<f64>,  // that `w` must have: 1 at a lower bound, −1 at an upper one, else 0
    z: Vec<f64>,     // z_N, and the last z_B
    right: Vec<f64>,
    answer: Vec<f64>, // z_B
}

impl Again {
    pub fn forget(&mut self) {
        self.ids = None;
    }

    /// Equation (1); the answer is left in `self.z`.
    #[inline(always)] // into what is compiled for wide registers
    fn evaluate(&mut self, q: &[f64], w: &mut [f64]) {
        let Again { basic, inverse, columns, c, z, right, answer, .. } = self;
        for (right, &i) in right.iter_mut().zip(&*basic) {
            *right = q[i];
        }
        if !c.is_empty() {
            right.iter_mut().zip(&*basic).for_each(|(right, &i)| *right += c[i]);
        }
        inverse.apply_wide(right, answer);
        for (&answer, &i) in answer.iter().zip(&*basic) {
            z[i] = answer;
        }
        columns.apply_plus_wide(q, answer, w);
        w.iter_mut().zip(&*c).for_each(|(w, c)| *w += c);
    }

    /// Whether an unknown is outside its bounds, or its `w` has the wrong sign.
    #[inline(always)]
    fn any_wrong(&self, problem: &Problem, w: &[f64]) -> bool {
        let n = w.len();
        let (lower, upper) = (&problem.lower()[..n], &problem.upper()[..n]);
        let (z, sign) = (&self.z[..n], &self.sign[..n]);
        let mut wrong = 0;
        for i in 0..n {
            wrong |= u64::from(z[i] < lower[i])
                | u64::from(z[i] > upper[i])
                | u64::from(sign[i] * w[i] < 0.0);
        }
        wrong != 0
    }
}

/// Equation (1), and how far it is from an answer; nothing where a sign is wrong.
struct Attempt<'a> {
    again: &'a mut Again,
    problem: &'a Problem,
    w: &'a mut [f64],
}

impl Wide for Attempt<'_> {
    type Answer = Option<Residual>;

    #[inline(always)]
    fn run(self) -> Option<Residual> {
        let Attempt { again, problem, w } = self;
        again.evaluate(problem.q(), w);
        if again.any_wrong(problem, w) {
            return None;
        }
        Some(natural_map_of_boxes(problem, &again.z, w))
    }
}

impl Pivoting {
    /// The answer of the last mode, where it is one; else `z` is as it was.
    #[inline]
    pub(crate) fn again(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Option<Report> {
        if self.again.ids != Some((problem.matrix_id(), problem.sets_id())) {
            return None;
        }
        let check = wide(Attempt { again: &mut self.again, problem, w })?;
        if !(check.value <= self.settings.tol) {
            return None;
        }
        z.copy_from_slice(&self.again.z);
        Some(report(Status::Solved, 1, check))
    }

    /// The same where the bounds have changed, and the mode that this leaves has an inverse: so an
    /// answer does not depend on whether the call before it was about the same bounds.
    pub(super) fn again_anew(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Option<Report> {
        let ids = (problem.matrix_id(), problem.sets_id());
        let was_tried = self.again.ids == Some(ids);
        self.again.forget();
        if was_tried || !self.turn(problem) {
            return None;
        }
        let report = self.again(problem, z, w);
        if report.is_none() {
            self.again.forget();
        }
        report
    }

    /// Takes note of the last mode, as the bounds leave it, if it has an inverse; false where it has none.
    pub(in crate::methods) fn turn(&mut self, problem: &Problem) -> bool {
        let is_mode = self.matrix_id == problem.matrix_id() && self.mode.len() == problem.len();
        let Engine::Cached(cache) = &mut self.engine else { return false };
        if !is_mode {
            return false;
        }
        let mut mask = 0;
        for (i, side) in self.mode.iter_mut().enumerate() {
            *side = allowed(*side, problem.lower()[i], problem.upper()[i]);
            mask |= u64::from(*side == Side::Basic) << i;
        }
        let found = cache.turn_to(mask);
        if found {
            self.keep_for_again(problem);
        }
        found
    }

    /// The mode that the next call takes once more, and its inverse.
    pub(in crate::methods) fn kept(&self, problem: &Problem) -> Option<Kept<'_>> {
        if self.again.ids != Some((problem.matrix_id(), problem.sets_id())) {
            return None;
        }
        let Engine::Cached(cache) = &self.engine else { return None };
        let (basic, inverse) = cache.last()?;
        Some(Kept { sides: &self.mode, basic, inverse })
    }

    /// Takes note of the mode of an answer, if it has an inverse.
    pub(super) fn keep_for_again(&mut self, problem: &Problem) {
        let (Engine::Cached(cache), Operator::Dense(W)) = (&self.engine, problem.matrix()) else {
            return;
        };
        let Some((indices, inverted)) = cache.last() else { return };
        let (n, size) = (self.mode.len(), indices.len());
        let Again { ids, basic, inverse, columns, c, sign, z, right, answer } = &mut self.again;
        basic.clear();
        basic.extend(indices.iter().map(|&i| usize::from(i)));
        inverse.fill(size, size, |i, j| inverted[i * size + j]);
        columns.fill(n, size, |i, j| W[(i, basic[j])]);
        sign.clear();
        z.clear();
        for (i, side) in self.mode.iter().enumerate() {
            let (sign_of_w, at) = match side {
                Side::Lower => (1.0, problem.lower()[i]),
                Side::Upper => (-1.0, problem.upper()[i]),
                Side::Fixed => (0.0, problem.lower()[i]),
                Side::Basic => (0.0, 0.0),
            };
            sign.push(sign_of_w);
            z.push(at);
        }
        c.clear();
        if z.iter().any(|z| *z != 0.0) {
            c.extend((0..n).map(|i| vector::dot(W.row(i), z)));
        }
        right.resize(size, 0.0);
        answer.resize(size, 0.0);
        *ids = Some((problem.matrix_id(), problem.sets_id()));
    }

    /// Takes memory for matrices of `n` unknowns.
    pub(super) fn reserve_for_again(&mut self, n: usize) {
        let Again { basic, inverse, columns, c, sign, z, right, answer, .. } = &mut self.again;
        basic.reserve(n.saturating_sub(basic.len()));
        inverse.reserve(n, n);
        columns.reserve(n, n);
        for values in [c, sign, z, right, answer] {
            values.reserve(n.saturating_sub(values.len()));
        }
    }
}
