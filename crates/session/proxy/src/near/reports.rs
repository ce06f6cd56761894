//! What comes from the far end: reports, and the receiving application's packets.

use mimosa_facts::{ArrivalReport, Limits, TransportSequence};
use mimosa_rtp::congestion_control::CongestionFeedback;
use mimosa_rtp::nack::Nack;
use mimosa_rtp::packet::Datagram;
use mimosa_rtp::{codec_control, rtcp};
use mimosa_stream::StreamReader;
use mimosa_units::{Ecn, Time};

use super::{Departure, Near, sender};
use crate::Pass;
use crate::envelope::{self, Ours};

/// Number of packets covered by one datagram's reports from which its further reports are ignored,
/// as in `mimosa-transport`.
const MOST_COVERED: usize = 1 << 16;

impl Near {
    /// A datagram came from the far end at `now`. Call [`Self::advance`] after it. What passes goes
    /// to the application.
    pub fn network_brought(&mut self, now: Time, datagram: &[u8]) -> Pass {
        match Datagram::parse(datagram) {
            Ok(Datagram::Rtp(_)) => Pass::Rtp,
            Ok(Datagram::Rtcp) => {
                if let Some(ours) = envelope::ours(datagram) {
                    return self.took(now, ours, datagram);
                }
                self.statistics.rtcp += 1;
                self.overhear(datagram);
                Pass::Rtcp
            }
            Err(_) => {
                self.statistics.refused += 1;
                Pass::Refused
            }
        }
    }

    /// Takes what the far end has sent: a report, with a code if there is a key and without one if there is none.
    fn took(&mut self, now: Time, ours: Ours, datagram: &[u8]) -> Pass {
        let far = match (&mut self.greeter, ours) {
            (None, Ours::Report { far }) => far,
            (Some(greeter), Ours::Signed { far, number, code })
                if envelope::is_signed(datagram, &code, &greeter.key, &greeter.nonce) =>
            {
                if !greeter.is_newer(far, number) {
                    return Pass::Taken;
                }
                far
            }
            _ => {
                self.statistics.bad_reports += 1;
                return Pass::Unsigned;
            }
        };
        self.report(now, far, datagram);
        Pass::Taken
    }

    /// Greets the far end, if that is due.
    pub(super) fn greet(&mut self, now: Time) {
        let Some(greeter) = &mut self.greeter else {
            return;
        };
        if let Some(number) = greeter.poll(now, self.is_there) {
            self.departures.push_back(Departure {
                ecn: Ecn::NotEct,
                contents: envelope::greeting(self.ssrc, &greeter.key, &greeter.nonce, number),
            });
        }
    }

    /// Notes what the receiving application asks of the sending one.
    fn overhear(&mut self, compound: &[u8]) {
        for packet in rtcp::packets(compound).flatten() {
            let asks_for_keyframe = codec_control::asks_for_keyframe(&packet);
            self.receiver_asks |= asks_for_keyframe || Nack::is(&packet);
            if asks_for_keyframe {
                self.voice.want_keyframe();
            }
        }
    }

    fn report(&mut self, now: Time, far: u32, compound: &[u8]) {
        match self.far {
            _ if self.former == Some(far) => return,
            Some((known, _)) if known != far => {
                self.former = Some(known);
                self.begin_anew();
            }
            Some(_) => {}
            None => self.statistics.far_ends += 1,
        }
        self.far = Some((far, now));
        self.is_there = true;
        let mut report = ArrivalReport::default();
        let mut covered = 0;
        for packet in rtcp::packets(compound).skip(1) {
            let Ok(packet) = packet else {
                self.statistics.bad_reports += 1;
                break;
            };
            if covered >= MOST_COVERED {
                break;
            }
            if CongestionFeedback::is(&packet) {
                match CongestionFeedback::parse(&packet) {
                    Ok(feedback) => covered += self.reader.read(&feedback, &mut report),
                    Err(_) => self.statistics.bad_reports += 1,
                }
            }
        }
        self.statistics.reports += 1;
        if covered > 0 {
            self.count(&report);
            self.sender.feedback(now, &report);
        }
    }

    /// Counts arrivals once, though reports repeat them: those behind the newest one so far.
    fn count(&mut self, report: &ArrivalReport) {
        for arrival in &report.arrivals {
            let step = arrival.sequence.since(self.counted);
            if (1..1 << 15).contains(&step) || self.statistics.arrived == 0 {
                self.counted = arrival.sequence;
                self.statistics.arrived += 1;
                self.statistics.marked += u64::from(arrival.ecn == Ecn::Ce);
            }
        }
    }

    /// Another far end has taken over, with a clock of its own: a fresh controller begins with the
    /// present target, and what has not left waits again.
    fn begin_anew(&mut self) {
        self.statistics.far_ends += 1;
        let limits = self.config.limits;
        let start = self.sender.decision().target;
        let limits = Limits::new(limits.min(), start, limits.max());
        self.sender = sender(&self.config, (self.make)(limits));
        self.reader = StreamReader::new();
        self.reader.add(self.ssrc);
        self.counted = TransportSequence(0);
        let packets = self.chunks.drain(..).flat_map(|chunk| chunk.packets);
        let packets: Vec<_> = packets.flatten().collect();
        self.queue.put_back(packets.into_iter());
    }
}
