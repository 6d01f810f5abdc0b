//! The shape of what one text stands for.

/// A number, a list or a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A plain formula.
    Scalar,
    /// `[a, b, c]`, by its length.
    Vector(usize),
    /// `[[a, b], [c, d]]`, by its rows and columns.
    Matrix(usize, usize),
}

impl Shape {
    /// The number of entries.
    #[expect(clippy::len_without_is_empty, reason = "no shape is empty")]
    pub fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(len) => len,
            Shape::Matrix(rows, cols) => rows * cols,
        }
    }
}
