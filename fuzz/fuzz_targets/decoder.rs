//! Answers of a decoder's process that a hostile host has taken over: nothing panics, what is read is read
//! again as the same, and text has no control characters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_sandbox::{ANSWER, Answer};

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    if bytes.len() > ANSWER / 2 {
        // Most answers are of the right length.
        bytes.resize(ANSWER, 0);
    }
    let Ok(answer) = Answer::parse(&bytes) else {
        return;
    };
    match &answer {
        Answer::Failed { reason } | Answer::Refused { reason, .. } => {
            assert!(!reason.chars().any(char::is_control));
            assert!(Answer::parse(&answer.bytes()).is_ok());
        }
        Answer::Ready { .. } | Answer::Picture { .. } | Answer::Nothing { .. } => {
            assert_eq!(answer.bytes(), *bytes);
        }
    }
});
