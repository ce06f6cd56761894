//! Prints how our HTB and the kernel's compare under the same offered load.
//!
//! Each case runs three times with each, in turn; if cases are named on the command line, only
//! those run. The example needs root, and takes three minutes.

#![allow(clippy::unwrap_used, reason = "a program that measures may")]

#[path = "../tests/comparison/mod.rs"]
mod comparison;

use comparison::case::all;
use comparison::compare;
use comparison::table::{CLASSES, WHOLE};
use mimosa_units::TimeDelta;

fn main() {
    let named: Vec<_> = std::env::args().skip(1).collect();
    let mut cases = all(TimeDelta::from_millis(2_000));
    cases.retain(|case| named.is_empty() || named.iter().any(|name| name == case.name));
    let mut whole = Vec::new();
    println!("{CLASSES}");
    for case in cases {
        let Some(compared) = compare(&case, 3) else {
            std::process::exit(1);
        };
        println!("{}", compared.classes().join("\n"));
        whole.push(compared.whole());
    }
    println!("\n{WHOLE}\n{}", whole.join("\n"));
}
