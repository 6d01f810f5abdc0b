//! saltus-bench
