//! Tests of the repository itself. Other crates do not use this one.
//!
//! `tests/repository/` holds one file for each thing that is checked.
