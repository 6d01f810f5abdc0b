//! Lookup tables: piecewise linear through points, constant beyond the ends.
//!
//! ```text
//! y(x) = y₀                                   x < x₀
//!        yᵢ + (x − xᵢ) (yᵢ₊₁ − yᵢ)/(xᵢ₊₁ − xᵢ)   xᵢ ≤ x < xᵢ₊₁
//!        yₙ                                   x ≥ xₙ
//! ```
//!
//! The slope at a point of the table is the one to its right. Both take O(log n).

/// A table of numbers. The abscissae ascend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>, // of the pieces between them
}

impl Table {
    /// A table through points with ascending abscissae.
    pub(crate) fn new(points: Vec<(f64, f64)>) -> Table {
        debug_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let slope = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
        let slopes = points.windows(2).map(slope).collect();
        Table { points, slopes }
    }

    pub(crate) fn value(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let right = self.right(x);
        match (right.checked_sub(1), self.slopes.get(right.wrapping_sub(1))) {
            (Some(left), Some(slope)) => {
                let (x_left, y_left) = self.points[left];
                y_left + (x - x_left) * slope
            }
            (Some(last), None) => self.points[last].1,
            _ => self.points[0].1,
        }
    }

    pub(crate) fn slope(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        self.slopes.get(self.right(x).wrapping_sub(1)).copied().unwrap_or(0.0)
    }

    /// The first point to the right of `x`.
    fn right(&self, x: f64) -> usize {
        self.points.partition_point(|&(point, _)| point <= x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_slopes() {
        let table = Table::new(vec![(0.0, 1.0), (2.0, 5.0), (3.0, 4.0)]);
        for (x, value, slope) in [
            (f64::NEG_INFINITY, 1.0, 0.0),
            (-1.0, 1.0, 0.0),
            (0.0, 1.0, 2.0),
            (0.5, 2.0, 2.0),
            (2.0, 5.0, -1.0),
            (2.5, 4.5, -1.0),
            (3.0, 4.0, 0.0),
            (f64::INFINITY, 4.0, 0.0),
        ] {
            assert_eq!((table.value(x), table.slope(x)), (value, slope), "at {x}");
        }
        assert!(table.value(f64::NAN).is_nan() && table.slope(f64::NAN).is_nan());
    }
}
