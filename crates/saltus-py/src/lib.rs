//! saltus-py
