//! Tests of the workspace itself.
