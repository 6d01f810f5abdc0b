//! Filled-in monotone graphs, piecewise linear.
//!
//! A graph is a chain of points `(w, z)` along which `w` does not decrease and `z` does not
//! increase; the first and the last segment go on to infinity. Its resolvent is the point of the
//! graph with a given `x = z − ρ w`, of which there is exactly one:
//!
//! ```text
//! z = zₖ + s (x − xₖ),     xₖ = zₖ − ρ wₖ,     s = Δz/(Δz − ρ Δw) ∈ [0, 1]               (1)
//! ```
//!
//! Signorini's graph is `(0, 1), (0, 0), (1, 0)`, a relay `(−1, 1), (0, 1), (0, −1), (1, −1)`.

use thiserror::Error;

/// A filled-in monotone piecewise linear graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    points: Vec<(f64, f64)>,
}

/// Points that are no graph.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GraphError {
    /// Fewer than two different points.
    #[error("a graph needs at least two different points, found {found}")]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// A coordinate that is not finite.
    #[error("point {index} of the graph is ({}, {}), expected finite numbers", point.0, point.1)]
    NotFinite {
        /// The point.
        index: usize,
        /// Its coordinates.
        point: (f64, f64),
    },
    /// A point that goes back.
    #[error(
        "point {index} of the graph is ({}, {}) after ({}, {}): the first coordinate must not decrease, the second not increase",
        point.0, point.1, previous.0, previous.1
    )]
    NotMonotone {
        /// The point.
        index: usize,
        /// Its coordinates.
        point: (f64, f64),
        /// Those of the point before.
        previous: (f64, f64),
    },
}

/// A point of the graph found by its resolvent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Resolved {
    pub z: f64,
    /// `dz/dx`.
    pub slope: f64,
}

impl Graph {
    /// The graph through the points `(w, z)`.
    pub fn new(points: &[(f64, f64)]) -> Result<Graph, GraphError> {
        let mut chain: Vec<(f64, f64)> = Vec::with_capacity(points.len());
        for (index, &point) in points.iter().enumerate() {
            if !(point.0.is_finite() && point.1.is_finite()) {
                return Err(GraphError::NotFinite { index, point });
            }
            match chain.last() {
                Some(&previous) if previous == point => continue,
                Some(&previous) if point.0 < previous.0 || point.1 > previous.1 => {
                    return Err(GraphError::NotMonotone { index, point, previous });
                }
                _ => chain.push(point),
            }
        }
        match chain.len() {
            found @ (0 | 1) => Err(GraphError::TooFew { found }),
            _ => Ok(Graph { points: chain }),
        }
    }

    /// The points `(w, z)`, in the order of `w`.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Equation (1).
    #[inline]
    pub(crate) fn resolve(&self, rho: f64, x: f64) -> Resolved {
        let along = |(w, z): (f64, f64)| z - rho * w;
        // x decreases along the chain: the segment is the one that ends at or before x
        let last = self.points.len() - 2;
        let k = (0..last).find(|&k| x >= along(self.points[k + 1])).unwrap_or(last);
        let (from, to) = (self.points[k], self.points[k + 1]);
        let (dw, dz) = (to.0 - from.0, to.1 - from.1);
        let slope = dz / (dz - rho * dw);
        Resolved { z: from.1 + slope * (x - along(from)), slope }
    }

    /// The point where the line `w = a z + b` meets the graph. For `a ≥ 0` there is one, or a
    /// segment of them, or (a graph that is bounded in `w`, and `a = 0`) none; for `a < 0` the
    /// one closest to the guess, if any.
    pub(crate) fn meet(&self, a: f64, b: f64, guess: f64) -> Option<f64> {
        let (points, last) = (&self.points, self.points.len() - 2);
        let over = |(w, z): (f64, f64)| w - (a * z + b);
        // (a z + b − w₀) Δz = (z − z₀) Δw
        let on = |k: usize| {
            let (from, to) = (points[k], points[k + 1]);
            let (dw, dz) = (to.0 - from.0, to.1 - from.1);
            let rate = a * dz - dw;
            // the first and the last segment go on
            let top = if k == 0 && dz < 0.0 { f64::INFINITY } else { from.1 };
            let bottom = if k == last && dz < 0.0 { f64::NEG_INFINITY } else { to.1 };
            let (reach, slack) = if rate == 0.0 {
                (if over(from) == 0.0 { guess } else { f64::NAN }, f64::INFINITY)
            } else if dz == 0.0 {
                // along w: the ends of the segment bound it
                let s = -over(from) / dw;
                let inside = (s >= 0.0 || k == 0) && (s <= 1.0 || k == last);
                (from.1, if inside || a >= 0.0 { 0.0 } else { f64::NAN })
            } else {
                let reach = ((from.0 - b) * dz - from.1 * dw) / rate;
                (reach, if a >= 0.0 { f64::INFINITY } else { 0.0 })
            };
            let z = super::clamp(reach, bottom, top);
            (z.is_finite() && (z - reach).abs() <= slack).then_some(z)
        };
        if a >= 0.0 {
            // the first segment that ends above the line, so that none is missed at a corner
            let k = (0..last).find(|&k| over(points[k + 1]) >= 0.0).unwrap_or(last);
            return on(k);
        }
        let distance = |z: &f64| (z - guess).abs();
        (0..=last).filter_map(on).min_by(|x, y| distance(x).total_cmp(&distance(y)))
    }
}
