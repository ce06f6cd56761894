//! Checks the repository itself: which crate uses which, what comes along with a part of it, the
//! licences of everything that is built, the list of dependencies, the index of pages, and the text
//! of the files.
#![expect(
    clippy::expect_used,
    reason = "a repository that cannot be read has failed the test"
)]

mod arrows;
mod closures;
mod dependencies;
mod files;
mod licences;
mod links;
mod machine_paths;
mod metadata;
mod packaging;
mod pages;
