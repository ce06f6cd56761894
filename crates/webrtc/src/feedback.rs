//! What a browser's RTCP says of our packets.

use mimosa_session::{Arrival, Report};
use mimosa_units::Ecn;
use mimosa_wire::nack::Nack;
use mimosa_wire::rtcp;
use mimosa_wire::transport_cc::{TransportFeedback, Unwrapper};

/// Missing packets heeded in one compound packet. A browser asks for what it lacks
/// of a few frames; thousands would only keep us busy.
const MOST_MISSING: usize = 256;

/// Reads feedback; remembers the browser's clock.
#[derive(Debug)]
pub(crate) struct Feedback {
    clock: Unwrapper,
    refused: u64,
}

/// What a compound packet said.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Arrivals, if there was feedback in it.
    pub(crate) report: Option<Report>,
    /// RTP sequence numbers of packets that are missing.
    pub(crate) missing: Vec<u16>,
}

impl Feedback {
    /// Nothing heard yet.
    pub(crate) const fn new() -> Self {
        Self {
            clock: Unwrapper::new(),
            refused: 0,
        }
    }

    /// Reads a compound packet (RFC 3550, section 6.1). What is malformed is left
    /// out and said in the log.
    pub(crate) fn read(&mut self, compound: &[u8]) -> Heard {
        let mut heard = Heard::default();
        for packet in rtcp::packets(compound) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    self.refuse(&error);
                    break;
                }
            };
            if TransportFeedback::is(&packet) {
                match TransportFeedback::parse(&packet) {
                    Ok(feedback) => self.arrivals(&feedback, &mut heard),
                    Err(error) => self.refuse(&error),
                }
            } else if Nack::is(&packet) {
                match Nack::parse(&packet) {
                    Ok(nack) => {
                        let room = MOST_MISSING.saturating_sub(heard.missing.len());
                        heard.missing.extend(nack.lost.iter().take(room));
                    }
                    Err(error) => self.refuse(&error),
                }
            }
        }
        heard
    }

    fn arrivals(&mut self, feedback: &TransportFeedback, heard: &mut Heard) {
        let report = heard.report.get_or_insert_default();
        let arrived = self.clock.statuses(feedback);
        report
            .arrivals
            .extend(arrived.filter_map(|(sequence, at)| {
                Some(Arrival {
                    sequence,
                    at: at?,
                    // The format has no room for it.
                    ecn: Ecn::NotEct,
                })
            }));
    }

    fn refuse(&mut self, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            tracing::warn!(%error, count = self.refused, "RTCP from the browser is refused");
        }
    }
}
