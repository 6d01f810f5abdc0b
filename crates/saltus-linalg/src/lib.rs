//! Dense and sparse matrices, and factorizations that are reused.
//!
//! The only crate of Saltus that names `faer`. Matrices are row by row and `f64`; every
//! routine that runs inside a time step writes into buffers that the caller keeps.

mod banded;
mod block_diagonal;
mod block_sparse;
mod definite;
mod dense_lu;
mod eigen;
mod exponential;
mod graph_lu;
mod kernel;
mod map;
mod masked;
mod matrix;
mod null_space;
mod packed;
mod row_lu;
mod sparse;
mod sparse_factor;
mod triples;
mod unrolled;
pub mod vector;
mod wide;

pub use banded::{Banded, BandedFactor, bandwidth};
pub use block_diagonal::BlockDiagonal;
pub use block_sparse::BlockSparse;
pub use definite::is_positive_definite;
pub use dense_lu::{DenseLu, Singular};
pub use eigen::{Eigen, EigenBlock, eigen};
pub use exponential::exponential;
pub use graph_lu::{Block6, GraphLu, PairPlace};
pub use kernel::{Kernel, kernel};
pub use map::LinearMap;
pub use masked::MaskedFactor;
pub use matrix::{Matrix, Ragged};
pub use null_space::left_null_projector;
pub use packed::Packed;
pub use row_lu::{RowEntries, RowLu};
pub use sparse::{Entry, Sparse};
pub use sparse_factor::SparseFactor;
pub use wide::{Lanes, Wide, WideLanes, wide, wide_lanes};
