//! Laws of one component as chains of pieces.
//!
//! In the plane of `s` (`y`, in mechanics `u`) and `λ` such a law is a chain of level pieces, where
//! `λ = a + b s`, and walls, where `s` is held:
//!
//! ```text
//! level:  λ − a − b s = 0,  s in [least, most]      wall:  s − s₀ = 0,  λ in [least, most]    (1)
//! ```

use crate::run::EventKind;
use saltus_model::Law;

const ALL: f64 = f64::INFINITY;

/// A piece of the graph of a law, in order of growing `s` and falling `λ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Piece {
    /// `λ = a + b s` for `s` in `[least, most]`.
    Level { a: f64, b: f64, least: f64, most: f64 },
    /// `s` is held, `λ` in `[least, most]`.
    Wall { s: f64, least: f64, most: f64 },
}

impl Piece {
    /// No force, whatever happens.
    pub const NOTHING: Piece = Piece::Level { a: 0.0, b: 0.0, least: -ALL, most: ALL };

    /// Held, by whatever force.
    pub const HELD: Piece = Piece::Wall { s: 0.0, least: -ALL, most: ALL };

    /// What happens where a law goes over to this piece: it slides where it holds its output by
    /// forces that are bounded on both sides, else it has switched.
    pub fn arrival(&self) -> EventKind {
        match *self {
            Piece::Wall { least, most, .. } if least.is_finite() && most.is_finite() => {
                EventKind::Sliding
            }
            _ => EventKind::Switch,
        }
    }

    /// The least and the largest `λ` on the piece.
    pub fn forces(&self) -> (f64, f64) {
        match *self {
            Piece::Level { a, b: 0.0, .. } => (a, a),
            Piece::Level { a, b, least, most } => (a + b * most, a + b * least),
            Piece::Wall { least, most, .. } => (least, most),
        }
    }
}

/// The pieces of a law of one component; nothing where it is none.
pub(crate) fn pieces(law: &Law, component: usize) -> Option<Vec<Piece>> {
    Some(match law {
        Law::Equality => vec![Piece::HELD],
        Law::Complementarity => vec![
            Piece::Wall { s: 0.0, least: 0.0, most: ALL },
            Piece::Level { a: 0.0, b: 0.0, least: 0.0, most: ALL },
        ],
        Law::Relay { lower, upper } => {
            let lower = *lower.get(component).or(lower.first())?;
            let upper = *upper.get(component).or(upper.first())?;
            vec![
                Piece::Level { a: upper, b: 0.0, least: -ALL, most: 0.0 },
                Piece::Wall { s: 0.0, least: lower, most: upper },
                Piece::Level { a: lower, b: 0.0, least: 0.0, most: ALL },
            ]
        }
        Law::PiecewiseLinear { points } => {
            let last = points.len().checked_sub(2)?;
            let mut pieces = Vec::new();
            for (k, pair) in points.windows(2).enumerate() {
                let [(s0, lam0), (s1, lam1)] = *pair else { continue };
                pieces.push(if s0 == s1 {
                    let most = if k == 0 { ALL } else { lam0 };
                    Piece::Wall { s: s0, least: if k == last { -ALL } else { lam1 }, most }
                } else {
                    let b = (lam1 - lam0) / (s1 - s0);
                    let least = if k == 0 { -ALL } else { s0 };
                    let most = if k == last { ALL } else { s1 };
                    Piece::Level { a: lam0 - b * s0, b, least, most }
                });
            }
            pieces
        }
        _ => return None,
    })
}

/// The piece that a point of the graph is on; a wall only where `λ` is inside it.
pub(crate) fn nearest(pieces: &[Piece], s: f64, lam: f64, round_off: f64) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (k, piece) in pieces.iter().enumerate() {
        let far = match *piece {
            Piece::Level { a, b, least, most } => {
                let outside = (least - s).max(s - most).max(0.0);
                (lam - a - b * s).abs() + outside
            }
            Piece::Wall { s: held, least, most } => {
                let inside = lam > least + round_off && lam < most - round_off;
                if inside { (s - held).abs() } else { f64::INFINITY }
            }
        };
        // of a corner the level piece: `λ` is at its bound there
        if far < best.0 {
            best = (far, k);
        }
    }
    best.1
}
