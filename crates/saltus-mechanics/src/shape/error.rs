//! What can be wrong with a shape.

use thiserror::Error;

/// A shape that makes no sense. Each error names the shape, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ShapeError {
    /// A length outside its range.
    #[error("{shape}: `{what}` = {value} is outside (0, inf)")]
    Length {
        /// The shape.
        shape: &'static str,
        /// The length.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that is not finite.
    #[error("{shape}: entry {index} of `{what}` has {value}, expected finite numbers")]
    NotFinite {
        /// The shape.
        shape: &'static str,
        /// The array.
        what: &'static str,
        /// Position in it.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// A vector without direction.
    #[error("{shape}: `{what}` is ({}, {}, {}), which has no direction", found[0], found[1], found[2])]
    Direction {
        /// The shape.
        shape: &'static str,
        /// The vector.
        what: &'static str,
        /// Its components.
        found: [f64; 3],
    },
    /// A quaternion that is no rotation.
    #[error(
        "{shape}: `orientation` is ({}, {}, {}, {}), expected a quaternion w, x, y, z of any length but zero",
        found[0], found[1], found[2], found[3]
    )]
    Orientation {
        /// The shape.
        shape: &'static str,
        /// The quaternion.
        found: [f64; 4],
    },
    /// Too few of something.
    #[error("{shape}: `{what}` has {found} entries, expected at least {least}")]
    Few {
        /// The shape.
        shape: &'static str,
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The least length.
        least: usize,
    },
    /// Points that enclose nothing.
    #[error("{shape}: {why}")]
    Degenerate {
        /// The shape.
        shape: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A corner that is no point.
    #[error(
        "triangle-mesh: corner {corner} of triangle {triangle} is point {found}, but there are {points} points, counted from 0"
    )]
    Index {
        /// The triangle.
        triangle: usize,
        /// Which of its corners.
        corner: usize,
        /// The point it names.
        found: u32,
        /// How many points there are.
        points: usize,
    },
    /// Rows of different lengths.
    #[error("height-field: row {row} of `heights` has {found} entries, the first has {expected}")]
    Ragged {
        /// The row.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first.
        expected: usize,
    },
    /// A polygon with a corner that points inwards.
    #[error("polygon: it turns the other way at corner {index}, ({}, {}); expected a convex polygon", point[0], point[1])]
    NotConvex {
        /// The corner.
        index: usize,
        /// Where it is.
        point: [f64; 2],
    },
    /// A shape of space in the plane, or the other way round.
    #[error("{shape}: expected a shape {expected}")]
    Space {
        /// The shape.
        shape: &'static str,
        /// "of space" or "of the plane".
        expected: &'static str,
    },
    /// A shape that has no mass.
    #[error("{shape}: no mass follows from a density, because {why}")]
    Massless {
        /// The shape.
        shape: &'static str,
        /// What is in the way.
        why: String,
    },
    /// A part of a compound.
    #[error("part {index} of compound: {source}")]
    Part {
        /// Its position.
        index: usize,
        /// What is wrong with it.
        source: Box<ShapeError>,
    },
}
