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

use crate::Problem;

/// Where an unknown stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Side {
    Lower,
    Basic,
    Upper,
    Fixed,
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

/// How large a wrong sign may be and still be taken for round-off. In a badly scaled problem
/// this is too generous, so that an answer it lets through still has to pass the check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slack {
    pub z: f64,
    pub w: f64,
}

impl Slack {
    pub const NONE: Slack = Slack { z: 0.0, w: 0.0 };

    pub fn of(problem: &Problem, z: &[f64]) -> Slack {
        let (mut z_scale, mut q_scale) = (0.0f64, 0.0f64);
        for i in 0..z.len() {
            z_scale = z_scale.max(z[i].abs());
            q_scale = q_scale.max(problem.q()[i].abs());
        }
        let eps = 64.0 * f64::EPSILON;
        Slack { z: eps * z_scale, w: eps * (q_scale + problem.matrix_scale() * z_scale) }
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
