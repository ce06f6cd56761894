//! Why a stream is not as it should be: at most one sentence, with its evidence.
//!
//! [`Why`] reads the frames of a session ([`SessionFrame`]), which a recording has as well, and says what
//! troubles a player most. Computers are looked at before the network: a busy computer delays packets and
//! reports as a bad line does, and a line delays neither encoding nor decoding.
//!
//! | order | cause | evidence |
//! |---|---|---|
//! | 1 | the encoder is too slow | median time of encoding, against the time between frames |
//! | 2 | pictures wait for the encoder | median time from the capture to the encoder, which is fast enough |
//! | 3 | packets leave late | median time that packets left after their pacing's end |
//! | 4 | the decoder is too slow | median time of decoding, against the time between frames |
//! | 5 | pictures are shown late | median time from decoding to the screen |
//! | 6 | nothing came through, or the line paused | a gap between arrivals that departures do not have |
//! | 7 | the line loses packets | share of packets lost, while no queue is there |
//! | 8 | the line has become slower | the link's rate, against its highest in half a minute |
//! | 9 | something else uses the line | the stream's rate, against the link's, in a queue |
//! | 10 | an upload delays what goes back | time from arrivals to reports, above the least |
//! | 11 | the game makes few pictures | time between captures, with an encoder that is free |
//! | 12 | the host is far away | the shortest time from departures to reports |
//!
//! # Source
//!
//! None: the order, the limits and the words are our choice. Each limit stands beside its reason.
//!
//! # Hysteresis
//!
//! A lasting cause is said when two judgements in a row find it, and goes when it was not found for
//! [`KEPT`]. What happens at once, a pause or an outage, is said at once and kept as long. A cause that
//! stands earlier in the table replaces a later one at once.
//!
//! [`SessionFrame`]: mimosa_facts::SessionFrame

mod measures;
mod sentence;
mod why;

pub use sentence::{Cause, Sentence, Severity};
pub use why::{KEPT, Why};
