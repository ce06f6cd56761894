//! Tests of the repository itself; nothing here is for use by other crates.
//!
//! `tests/repository/` holds one file for each thing that is checked.
