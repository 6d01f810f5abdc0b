//! Tables: `table(u, x₁, y₁, x₂, y₂ …)` of a sum `u` of voltages and currents is piecewise linear.
//!
//! ```text
//! f(u) = y₁ + Σ bₖ max(u − xₖ, 0),    λₖ = max(u − xₖ, 0):   0 ≤ λₖ ⟂ λₖ − u + xₖ ≥ 0
//! ```
//!
//! with `bₖ` the change of slope at a corner: no iteration of Newton is needed. Where slopes are so
//! steep that their differences would lose digits, it is the sum of a part that rises and one that
//! falls instead, each monotone and so a graph of its own.

use super::parts::{Form, Quantity};
use super::smooth::Formula;
use crate::{Circuit, CircuitError, Component};

/// A piecewise-linear function of a sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// `u`.
    pub input: Form,
    /// `y₁`.
    pub first: f64,
    /// Corners `xₖ` with the changes of slope `bₖ`.
    pub corners: Vec<(f64, f64)>,
    /// Points `(u, −rises)`; none where it never rises.
    pub rises: Option<Vec<(f64, f64)>>,
    /// Points `(u, falls)`; none where it never falls.
    pub falls: Option<Vec<(f64, f64)>>,
}

impl Table {
    /// The table that a formula is, if it is one of a sum.
    pub fn of(
        text: &str,
        circuit: &Circuit,
        component: &Component,
    ) -> Result<Option<Table>, CircuitError> {
        let Some(arguments) = arguments(text) else { return Ok(None) };
        let [input, points @ ..] = &arguments[..] else { return Ok(None) };
        let points: Result<Vec<f64>, _> = points.iter().map(|one| one.trim().parse()).collect();
        let Ok(points) = points else { return Ok(None) };
        if points.len() < 4 || !points.len().is_multiple_of(2) {
            return Ok(None);
        }
        let points: Vec<(f64, f64)> = points.chunks_exact(2).map(|one| (one[0], one[1])).collect();
        let increases = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !increases || points.iter().any(|(x, y)| !(x.is_finite() && y.is_finite())) {
            return Ok(None);
        }
        let (formula, quantities) = Formula::parse(input, circuit, component)?;
        let Some((factors, constant)) = formula.affine(quantities.len()) else { return Ok(None) };
        let mut input: Form = factors.into_iter().zip(quantities).collect();
        input.push((constant, Quantity::One));
        let rises = half(&points, |change| -change.max(0.0));
        let falls = half(&points, |change| change.min(0.0));
        let corners = corners(&points);
        Ok(Some(Table { input, first: points[0].1, corners, rises, falls }))
    }
}

/// The corners of straight lines that are level beyond both ends.
fn corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let slopes = points.windows(2).map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0));
    let slopes: Vec<f64> = [0.0].into_iter().chain(slopes).chain([0.0]).collect();
    let bends = slopes.windows(2).map(|pair| pair[1] - pair[0]);
    points.iter().map(|point| point.0).zip(bends).filter(|corner| corner.1 != 0.0).collect()
}

/// The points of one half, which go on level at both ends; none if it is level all along.
fn half(points: &[(f64, f64)], share: impl Fn(f64) -> f64) -> Option<Vec<(f64, f64)>> {
    let (first, last) = (points.first()?.0, points.last()?.0);
    let width = last - first;
    let mut sum = 0.0;
    let mut half = vec![(first - width, 0.0), (first, 0.0)];
    for pair in points.windows(2) {
        sum += share(pair[1].1 - pair[0].1);
        half.push((pair[1].0, sum));
    }
    half.push((last + width, sum));
    (sum != 0.0).then_some(half)
}

/// The arguments of `table(…)`, where that is all of a formula.
fn arguments(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let inside = text.strip_prefix("table")?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    let (mut depth, mut start) = (0_usize, 0);
    let mut arguments = Vec::new();
    for (place, letter) in inside.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                arguments.push(&inside[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    arguments.push(&inside[start..]);
    (depth == 0).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart() {
        assert_eq!(arguments("table(v(a, b), 0, 1)"), Some(vec!["v(a, b)", " 0", " 1"]));
        assert_eq!(arguments("table(1, 2) + table(3, 4)"), None);
        assert_eq!(arguments("2*table(1, 2)"), None);
    }

    #[test]
    fn a_table_is_two_monotone_halves() {
        let mut circuit = Circuit::new("table");
        let source = "table(2*v(a) - i(R1) + 1, -1, 0, 0, 3, 1, 2, 2, 2)";
        circuit.resistor("R1", ["a", "0"], 1.0);
        let component = circuit.components[0].clone();
        let table = Table::of(source, &circuit, &component).unwrap().unwrap();
        assert_eq!(table.input.iter().map(|term| term.0).collect::<Vec<_>>(), [2.0, -1.0, 1.0]);
        assert_eq!(table.first, 0.0);
        assert_eq!(table.corners, [(-1.0, 3.0), (0.0, -4.0), (1.0, 1.0)]);
        let rises =
            vec![(-4.0, 0.0), (-1.0, 0.0), (0.0, -3.0), (1.0, -3.0), (2.0, -3.0), (5.0, -3.0)];
        let falls =
            vec![(-4.0, 0.0), (-1.0, 0.0), (0.0, 0.0), (1.0, -1.0), (2.0, -1.0), (5.0, -1.0)];
        assert_eq!((table.rises, table.falls), (Some(rises), Some(falls)));

        for other in ["table(v(a)^2, 0, 0, 1, 1)", "table(time, 0, 0, 1, 1)", "v(a)"] {
            assert_eq!(Table::of(other, &circuit, &component).unwrap(), None, "{other}");
        }
    }
}
