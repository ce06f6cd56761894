//! What a browser's RTCP says of our packets.

use mimosa_session::{Report, ReportReader};
use mimosa_wire::nack::Nack;
use mimosa_wire::rtcp;
use mimosa_wire::transport_cc::TransportFeedback;

/// Missing packets heeded in one compound packet. A browser asks for what it lacks
/// of a few frames; thousands would only keep us busy.
const MOST_MISSING: usize = 256;

/// Packets that the reports of a compound are about before further ones are left out:
/// forty bytes can say of 65535 packets that none has arrived, and forty of these
/// would only keep us busy.
const MOST_COVERED: usize = 1 << 16;

/// Reads feedback; remembers the browser's clock.
#[derive(Debug)]
pub(crate) struct Feedback {
    reader: ReportReader,
    refused: u64,
}

/// What a compound packet said.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Arrivals, if there was feedback in it.
    pub(crate) report: Option<Report>,
    /// RTP sequence numbers of packets that are missing.
    pub(crate) missing: Vec<u16>,
    /// How many packets the reports were about.
    covered: usize,
}

impl Feedback {
    /// Nothing heard yet.
    pub(crate) const fn new() -> Self {
        Self {
            reader: ReportReader::new(),
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
                if heard.covered >= MOST_COVERED {
                    continue;
                }
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
        heard.covered += self.reader.transport_wide(feedback, report);
    }

    fn refuse(&mut self, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            tracing::warn!(%error, count = self.refused, "RTCP from the browser is refused");
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::{PeerTime, TimeDelta};

    use super::*;

    /// A receiver report without blocks (RFC 3550, section 6.4.2).
    const RECEIVER_REPORT: [u8; 8] = [0x80, 201, 0, 1, 0, 0, 0, 9];

    fn at(millis: i64) -> PeerTime {
        PeerTime::from_nanos(millis * 1_000_000)
    }

    fn report(base: u16, arrivals: &[Option<PeerTime>]) -> Vec<u8> {
        let feedback = TransportFeedback::new(1, 2, 0, base, arrivals);
        feedback.unwrap().to_bytes()
    }

    fn nack(lost: impl IntoIterator<Item = u16>) -> Vec<u8> {
        let nack = Nack {
            sender_ssrc: 1,
            media_ssrc: 2,
            lost: lost.into_iter().collect(),
        };
        nack.to_bytes()
    }

    /// Numbers and milliseconds.
    fn arrived(heard: &Heard) -> Vec<(u16, i64)> {
        let arrivals = heard.report.iter().flat_map(|report| &report.arrivals);
        arrivals
            .map(|arrival| {
                (
                    arrival.sequence,
                    (arrival.at - at(0)).as_nanos() / 1_000_000,
                )
            })
            .collect()
    }

    #[test]
    fn a_compound_is_heard_whole() {
        let mut feedback = Feedback::new();
        let compound = [
            RECEIVER_REPORT.to_vec(),
            report(65_534, &[Some(at(100)), None, Some(at(101)), Some(at(99))]),
            nack([65_535]),
            report(2, &[Some(at(130))]),
            nack([7, 9]),
        ];
        let heard = feedback.read(&compound.concat());
        assert_eq!(
            arrived(&heard),
            [(65_534, 100), (0, 101), (1, 99), (2, 130)]
        );
        assert_eq!(heard.missing, [65_535, 7, 9]);
        let heard = feedback.read(&RECEIVER_REPORT);
        assert!(heard.report.is_none() && heard.missing.is_empty());
        assert_eq!(feedback.refused, 0);
    }

    /// The reference time has 24 bits, of 64 ms.
    #[test]
    fn the_browsers_clock_goes_on_over_reports() {
        let wrap = 64 << 23;
        let mut feedback = Feedback::new();
        let [before, after] = [wrap - 64, wrap + 64].map(|millis| {
            let heard = feedback.read(&report(0, &[Some(at(millis))]));
            heard.report.unwrap().arrivals[0].at
        });
        assert_eq!(after - before, TimeDelta::from_millis(128));
    }

    #[test]
    fn a_broken_packet_spoils_nothing_before_it() {
        let arrival = report(5, &[Some(at(10))]);
        let good = [&arrival[..], &nack([3])].concat();
        // A report on no packet says where it ends, so what follows counts.
        let mut empty = arrival.clone();
        empty[14..16].copy_from_slice(&[0, 0]);
        let mut feedback = Feedback::new();
        let heard = feedback.read(&[&empty[..], &good].concat());
        assert_eq!(
            (arrived(&heard), &heard.missing[..]),
            (vec![(5, 10)], &[3][..])
        );
        assert_eq!(feedback.refused, 1);
        // What is cut off does not.
        for length in 1..good.len() {
            let mut feedback = Feedback::new();
            let heard = feedback.read(&[&good[..], &good[..length]].concat());
            let times = 1 + usize::from(length >= arrival.len());
            assert_eq!(arrived(&heard), vec![(5, 10); times], "{length}");
            assert_eq!(heard.missing, [3]);
            assert_eq!(feedback.refused, u64::from(length != arrival.len()));
        }
        for broken in [&[0x40, 205, 0, 0][..], &[0x8f], &[]] {
            let heard = feedback.read(broken);
            assert!(heard.report.is_none() && heard.missing.is_empty());
        }
    }

    #[test]
    fn missing_packets_are_bounded() {
        let many = nack(0..200);
        let heard = Feedback::new().read(&[&many[..], &many, &many].concat());
        assert_eq!(heard.missing.len(), MOST_MISSING);
        assert!(heard.missing[..200].iter().copied().eq(0..200));
    }

    #[test]
    fn packets_that_reports_are_about_are_bounded() {
        let longest = report(0, &vec![None; usize::from(u16::MAX)]);
        assert!(longest.len() <= 40, "{}", longest.len());
        let last = report(5, &[Some(at(10))]);
        let heard = |reports| {
            let compound = [longest.repeat(reports), last.clone()].concat();
            arrived(&Feedback::new().read(&compound)).len()
        };
        assert_eq!([1, 2, 30].map(heard), [1, 0, 0]);
    }
}
