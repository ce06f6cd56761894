//! [`Dialogue`]: a conversation with a foreign controller in lines of JSON.
//!
//! The first line tells a controller its limits and parameters, and each further line tells it an
//! event. Each line has a number, and the controller answers each line once, in order, with that
//! number.

use mimosa_facts::{Decision, Event, Limits};
use mimosa_units::{Time, one_line, shortened};
use serde::{Deserialize, Serialize};

use crate::decision::{DecisionForm, FormError};
use crate::event::EventForm;
use crate::standing::Standing;

/// The version of the lines' form, which the first line tells. It changes with every change after
/// which a controller could not read the lines, or its answers would mean something else.
pub const VERSION: u32 = 1;

/// Longest answer in bytes: no [`DecisionForm`] needs a tenth of it.
pub const LONGEST_ANSWER: usize = 16_384;

/// Most characters of a reason in a message: room for the list of all fields.
const LONGEST_WHY: usize = 200;

/// The line that begins a dialogue.
#[derive(Serialize)]
struct StartLine<'a> {
    version: u32,
    seq: u64,
    limits: LimitsForm,
    params: &'a toml::Table,
}

/// The limits as a record.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "each name ends in its unit")]
struct LimitsForm {
    min_bps: u64,
    start_bps: u64,
    max_bps: u64,
}

/// A line about an event.
#[derive(Serialize)]
struct EventLine {
    seq: u64,
    now_ns: u64,
    event: EventForm,
}

/// An answer; without a decision, everything stays as it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    seq: u64,
    #[serde(default)]
    decision: Option<DecisionForm>,
}

/// Why an answer cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The answer has not the form.
    #[error(
        "answer {seq}, `{line}`, is wrong: {why}; answer with one line such as {{\"seq\":{seq},\"decision\":{{\"target_bps\":5000000}}}}"
    )]
    Form {
        /// Number of the line that was to be answered.
        seq: u64,
        /// The beginning of the answer.
        line: String,
        /// Why the answer cannot be read.
        why: String,
    },
    /// The answer is for another line.
    #[error(
        "answer {expected} has the number {found}; answer each line once, in order, and repeat its `seq`"
    )]
    Number {
        /// Number of the line that was to be answered.
        expected: u64,
        /// The number that the answer has.
        found: u64,
    },
    /// A value of the decision means nothing.
    #[error("answer {seq} is no decision: {}", one_line(&error.to_string(), LONGEST_WHY))]
    Value {
        /// Number of the line that was answered.
        seq: u64,
        /// The field of the decision, and why its value means nothing.
        error: FormError,
    },
    /// More was said than asked for.
    #[error("there is an answer after answer {last}, and no line was told; answer each line once")]
    Unasked {
        /// Number of the last line that was told.
        last: u64,
    },
    /// The answer is too long.
    #[error(
        "answer {seq} is longer than {LONGEST_ANSWER} bytes; end each answer with a line break"
    )]
    Long {
        /// Number of the line that was to be answered.
        seq: u64,
    },
}

/// A dialogue with a foreign controller: numbers what is told, reads what is answered, and keeps
/// the standing decision. How the lines travel is a driver's affair.
///
/// ```
/// use mimosa_facts::{Event, Limits};
/// use mimosa_foreign::Dialogue;
/// use mimosa_units::{Rate, Time};
///
/// let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
/// let limits = Limits::new(mbps(1), mbps(2), mbps(10));
/// let (mut dialogue, first) = Dialogue::begin(limits, &toml::Table::new());
/// assert_eq!(
///     String::from_utf8_lossy(&first),
///     r#"{"version":1,"seq":0,"limits":{"min_bps":1000000,"start_bps":2000000,"max_bps":10000000},"params":{}}"#
/// );
/// dialogue.take(br#"{"seq":0}"#)?;
///
/// let line = dialogue.tell(Time::from_millis(3), &Event::Timer);
/// let line = String::from_utf8_lossy(&line).into_owned();
/// assert_eq!(line, r#"{"seq":1,"now_ns":3000000,"event":{"kind":"timer"}}"#);
/// dialogue.take(br#"{"seq":1,"decision":{"target_bps":5000000}}"#)?;
/// assert_eq!(dialogue.decision().target, mbps(5));
/// # Ok::<(), mimosa_foreign::AnswerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dialogue {
    standing: Standing,
    now: Time,
    /// Number of the next line to tell.
    next: u64,
    /// Number of the next line to be answered.
    awaited: u64,
    /// Number of the line about the newest frame that is due.
    newest_frame: u64,
}

/// The JSON of a line. The types of lines hold only what has a form in JSON, so that there is
/// always one.
fn line(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

impl Dialogue {
    /// A dialogue, and its first line, without a line break.
    #[must_use]
    pub fn begin(limits: Limits, params: &toml::Table) -> (Self, Vec<u8>) {
        let dialogue = Self {
            standing: Standing::new(limits),
            now: Time::ZERO,
            next: 1,
            awaited: 0,
            newest_frame: 0,
        };
        let first = line(&StartLine {
            version: VERSION,
            seq: 0,
            limits: LimitsForm {
                min_bps: limits.min().as_bps(),
                start_bps: limits.start().as_bps(),
                max_bps: limits.max().as_bps(),
            },
            params,
        });
        (dialogue, first)
    }

    /// The line for an event that happened at `now`, without a line break.
    pub fn tell(&mut self, now: Time, event: &Event<'_>) -> Vec<u8> {
        self.now = now;
        self.standing.before(event);
        let seq = self.next;
        self.next += 1;
        if matches!(event, Event::FrameDue { .. }) {
            self.newest_frame = seq;
        }
        line(&EventLine {
            seq,
            now_ns: now.as_nanos(),
            event: EventForm::of(event),
        })
    }

    /// Takes the next answer, with or without a line break at its end, and changes the decision as
    /// it says. A limit that comes when a newer frame is due already counts for no frame.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] if it is no answer to the next line; then the decision stays as it was.
    pub fn take(&mut self, answer: &[u8]) -> Result<(), AnswerError> {
        let seq = self.awaited;
        if seq == self.next {
            return Err(AnswerError::Unasked { last: seq - 1 });
        }
        if answer.len() > LONGEST_ANSWER {
            return Err(AnswerError::Long { seq });
        }
        let Answer {
            seq: found,
            decision,
        } = serde_json::from_slice(answer).map_err(|error| AnswerError::Form {
            seq,
            line: shortened(&String::from_utf8_lossy(answer)),
            why: one_line(&error.to_string(), LONGEST_WHY),
        })?;
        if found != seq {
            return Err(AnswerError::Number {
                expected: seq,
                found,
            });
        }
        if let Some(form) = decision {
            self.standing
                .apply(self.now, &form)
                .map_err(|error| AnswerError::Value { seq, error })?;
        }
        if seq < self.newest_frame {
            self.standing.drop_frame_limit();
        }
        self.awaited += 1;
        Ok(())
    }

    /// Number of lines that have no answer yet.
    #[must_use]
    pub const fn unanswered(&self) -> u64 {
        self.next - self.awaited
    }

    /// Number of the next line to be answered.
    #[must_use]
    pub const fn awaited(&self) -> u64 {
        self.awaited
    }

    /// The present decision.
    #[must_use]
    pub const fn decision(&self) -> &Decision {
        self.standing.decision()
    }

    /// When the controller wants to be told `timer`; `None` for never.
    #[must_use]
    pub const fn deadline(&self) -> Option<Time> {
        self.standing.deadline()
    }
}

#[cfg(test)]
mod tests;
