//! Modes: which unknowns sit at a bound, and the linear system that this leaves.
//!
//! ```text
//! Lower: zᵢ = lᵢ, wᵢ ≥ 0      Basic: wᵢ = 0, lᵢ ≤ zᵢ ≤ uᵢ      Upper: zᵢ = uᵢ, wᵢ ≤ 0
//! Fixed: zᵢ = lᵢ = uᵢ, wᵢ arbitrary
//!
//! W_BB z_B = −(q_B + W_BN z_N),    w_N = q_N + W_N z                              (1)
//! ```
//!
//! A mode solves the problem when the signs of (1) are right.

use crate::{Memory, Problem};

/// Where an unknown stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Side {
    Lower,
    Basic,
    Upper,
    Fixed,
}

impl Side {
    /// A mode as part of a memory.
    pub fn memory(mode: &mut Vec<Side>, memory: &mut Memory) {
        memory.list(mode, Side::Lower, |memory, side| {
            let mut word = *side as u64;
            memory.word(&mut word);
            *side = match word {
                0 => Side::Lower,
                1 => Side::Basic,
                2 => Side::Upper,
                _ => Side::Fixed,
            };
        });
    }
}

/// The sides that an unknown with these bounds can take.
pub(crate) fn sides(lower: f64, upper: f64) -> &'static [Side] {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) if lower == upper => &[Side::Fixed],
        (true, true) => &[Side::Lower, Side::Basic, Side::Upper],
        (true, false) => &[Side::Lower, Side::Basic],
        (false, true) => &[Side::Basic, Side::Upper],
        (false, false) => &[Side::Basic],
    }
}

/// The nearest side that the bounds allow: a mode carried over from a problem with others.
/// An unknown that was fixed and no longer is (a contact that becomes active) is guessed to
/// take part.
#[inline]
pub(crate) fn allowed(side: Side, lower: f64, upper: f64) -> Side {
    if lower == upper {
        return Side::Fixed;
    }
    match side {
        Side::Fixed => Side::Basic,
        Side::Lower if lower == f64::NEG_INFINITY => Side::Basic,
        Side::Upper if upper == f64::INFINITY => Side::Basic,
        side => side,
    }
}

/// The side on which `(z, w)` stands; between two of them, `Basic`.
pub(crate) fn side_of(z: f64, w: f64, lower: f64, upper: f64) -> Side {
    if lower == upper {
        Side::Fixed
    } else if z <= lower && z - lower < w {
        Side::Lower
    } else if z >= upper && z - upper > w {
        Side::Upper
    } else {
        allowed(Side::Basic, lower, upper)
    }
}

/// How large a wrong sign may be and still be taken for round-off: a few units in the last
/// place of the terms that make up the row,
///
/// ```text
/// |wᵢ| ≤ ε (|qᵢ| + Σⱼ |Wᵢⱼ zⱼ|),    |zᵢ| ≤ the same / |Wᵢᵢ|
/// ```
///
/// so that scaling rows and columns changes nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slack {
    pub z: f64,
    pub w: f64,
}

impl Slack {
    pub const NONE: Slack = Slack { z: 0.0, w: 0.0 };

    /// The slack of unknown `i`.
    pub fn of(problem: &Problem, z: &[f64], i: usize) -> Slack {
        let matrix = problem.matrix();
        let w = 64.0 * f64::EPSILON * (problem.q()[i].abs() + matrix.row_size(i, z));
        let diagonal = matrix.get(i, i).abs();
        // without a diagonal the row says nothing about the size of its own unknown
        let z = if diagonal > 0.0 { w / diagonal } else { 64.0 * f64::EPSILON * z[i].abs() };
        Slack { z, w }
    }
}

/// Where the signs of (1) are wrong: the side that `i` should change to, if it should.
#[inline]
pub(crate) fn wrong(
    problem: &Problem,
    slack: Slack,
    i: usize,
    side: Side,
    z: f64,
    w: f64,
) -> Option<Side> {
    let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
    match side {
        Side::Basic if z < lower - slack.z => Some(Side::Lower),
        Side::Basic if z > upper + slack.z => Some(Side::Upper),
        Side::Lower if w < -slack.w => Some(Side::Basic),
        Side::Upper if w > slack.w => Some(Side::Basic),
        _ => None,
    }
}
