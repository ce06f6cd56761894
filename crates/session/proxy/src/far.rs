//! The end beside the application that receives: passes packets on, and reports their arrival.
//!
//! *Source:* RFC 8888; its section 4 leaves the interval to the application. A report leaves at
//! once when it says something on which the near end acts: a frame has ended, a packet is missing,
//! a mark has come. Otherwise it waits for [`FarConfig::longest_wait`]. Reports are on all streams,
//! each with its own RTP numbers, and repeat those before.

use mimosa_facts::{Arrival, ArrivalReport};
use mimosa_rtp::packet::{Datagram, Packet};
use mimosa_stream::{FeedbackFormat, ReportConfig, ReportWriter};
use mimosa_units::{Ecn, PeerTime, Time};

use crate::Pass;
use crate::config::FarConfig;
use crate::envelope::{self, Ours};
use crate::key::{Greeted, Key};
use crate::statistics::FarStatistics;

/// Most bytes of a report: a datagram with room for the headers of tunnels. As the largest of
/// `mimosa-stream`.
const LARGEST: usize = 1_180;
/// The most streams that are reported on; beyond that the one that rests longest is forgotten.
const MOST: usize = 32;
/// A step between RTP numbers, modulo 2^16, that counts as ahead.
const NEAR: u16 = 1 << 15;
/// A step of so many numbers in either direction begins a stream anew, as in
/// [`StreamReader`](mimosa_stream::StreamReader): a report names every number of a gap.
const ANEW: u16 = 1 << 13;

/// A stream that is reported on.
#[derive(Debug)]
struct Stream {
    ssrc: u32,
    writer: ReportWriter,
    waiting: ArrivalReport<u16>,
    newest: u16,
    heard: Time,
}

/// The end beside the application that receives.
#[derive(Debug)]
pub struct Far {
    config: FarConfig,
    /// Names this run of this end.
    ssrc: u32,
    streams: Vec<Stream>,
    due: Option<Time>,
    reported: Option<Time>,
    /// Who has greeted, where the two ends have a key.
    greeted: Option<Greeted>,
    statistics: FarStatistics,
}

impl Far {
    /// An end that nothing has reached. `ssrc` is random, so that the near end can tell another run
    /// from this one.
    #[must_use]
    pub const fn new(config: FarConfig, ssrc: u32) -> Self {
        Self {
            config,
            ssrc,
            streams: Vec::new(),
            due: None,
            reported: None,
            greeted: None,
            statistics: FarStatistics {
                rtp: crate::statistics::Count {
                    packets: 0,
                    bytes: 0,
                },
                rtcp: 0,
                probes: 0,
                marked: 0,
                refused: 0,
                reports: 0,
            },
        }
    }

    /// An end that reports to who greets it with this key, and signs its reports.
    #[must_use]
    pub fn with_key(self, key: Key) -> Self {
        Self {
            greeted: Some(Greeted::new(key)),
            ..self
        }
    }

    /// Whether this end has a key: then it should be given packets only of where a greeting came from.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.greeted.is_some()
    }

    /// Takes a datagram if it is a greeting of a near end with the key that is neither recorded nor of a former near
    /// end. Returns whether it is.
    pub fn greeted(&mut self, datagram: &[u8]) -> bool {
        let Some(greeted) = &mut self.greeted else {
            return false;
        };
        match Datagram::parse(datagram).ok().and(envelope::ours(datagram)) {
            Some(Ours::Greeting {
                nonce,
                number,
                code,
            }) => {
                envelope::is_greeting(datagram, &code, &greeted.key) && greeted.take(nonce, number)
            }
            _ => false,
        }
    }

    /// Counts so far.
    #[must_use]
    pub const fn statistics(&self) -> &FarStatistics {
        &self.statistics
    }

    /// A datagram came from the near end at `at` with this ECN field. What passes goes to the
    /// application.
    pub fn network_brought(&mut self, at: Time, ecn: Ecn, datagram: &[u8]) -> Pass {
        match Datagram::parse(datagram) {
            Ok(Datagram::Rtp(packet)) => {
                self.arrived(at, ecn, &packet);
                if envelope::is_probe(&packet) {
                    self.statistics.probes += 1;
                    return Pass::Taken;
                }
                self.statistics.rtp.add(datagram.len());
                Pass::Rtp
            }
            // A greeting that counts was taken by [`Self::greeted`]; no application understands what is left of ours.
            Ok(Datagram::Rtcp) if envelope::ours(datagram).is_some() => Pass::Taken,
            Ok(Datagram::Rtcp) => {
                self.statistics.rtcp += 1;
                Pass::Rtcp
            }
            Err(_) => {
                self.statistics.refused += 1;
                Pass::Refused
            }
        }
    }

    /// A datagram came from the application. What passes goes to the near end.
    pub fn application_sent(&mut self, datagram: &[u8]) -> Pass {
        match Datagram::parse(datagram) {
            Ok(Datagram::Rtp(_)) => Pass::Rtp,
            // An application makes up no reports.
            Ok(Datagram::Rtcp) if envelope::ours(datagram).is_none() => {
                self.statistics.rtcp += 1;
                Pass::Rtcp
            }
            _ => {
                self.statistics.refused += 1;
                Pass::Refused
            }
        }
    }

    fn arrived(&mut self, at: Time, ecn: Ecn, packet: &Packet<'_>) {
        self.statistics.marked += u64::from(ecn == Ecn::Ce);
        let stream = self.stream(at, packet);
        let step = packet.sequence.wrapping_sub(stream.newest);
        let makes_gap = (2..NEAR).contains(&step);
        if step < NEAR {
            stream.newest = packet.sequence;
        }
        stream.heard = at;
        stream.waiting.arrivals.push(Arrival {
            sequence: packet.sequence,
            at: peer(at),
            ecn,
        });
        let is_useful = packet.marker || ecn == Ecn::Ce || makes_gap;
        let wait = self.config.longest_wait;
        let due = if is_useful { at } else { at + wait };
        let earliest = self
            .reported
            .map_or(Time::ZERO, |last| last + self.config.shortest_gap);
        let due = due.max(earliest);
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    fn stream(&mut self, at: Time, packet: &Packet<'_>) -> &mut Stream {
        let known = self
            .streams
            .iter()
            .position(|stream| stream.ssrc == packet.ssrc);
        let is_anew = |stream: &Stream| {
            let step = packet.sequence.wrapping_sub(stream.newest);
            (ANEW..=ANEW.wrapping_neg()).contains(&step)
        };
        if let Some(index) = known
            && self.streams.get(index).is_some_and(is_anew)
        {
            self.streams.remove(index);
            return self.stream(at, packet);
        }
        let index = known.unwrap_or_else(|| {
            if self.streams.len() >= MOST {
                let oldest = self.streams.iter().enumerate();
                let oldest = oldest.min_by_key(|(_, stream)| stream.heard);
                if let Some(index) = oldest.map(|(index, _)| index) {
                    self.streams.remove(index);
                }
            }
            let config = ReportConfig {
                format: FeedbackFormat::CongestionControl,
                receiver: self.ssrc,
                stream: packet.ssrc,
                largest: LARGEST - envelope::head(self.ssrc, self.has_key()).len(),
                repeats: self.config.repeats,
            };
            self.streams.push(Stream {
                ssrc: packet.ssrc,
                writer: ReportWriter::with(config),
                waiting: ArrivalReport::default(),
                newest: packet.sequence,
                heard: at,
            });
            self.streams.len() - 1
        });
        &mut self.streams[index]
    }

    /// When to call [`Self::reports`]; [`Time::MAX`] without news.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.due.unwrap_or(Time::MAX)
    }

    /// The reports that leave for the near end at `now`, a datagram each. There are none before
    /// [`Self::deadline`], and none for nobody where a near end has to greet.
    pub fn reports(&mut self, now: Time) -> Vec<Vec<u8>> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.due = None;
        self.reported = Some(now);
        let head = envelope::head(self.ssrc, self.has_key());
        let mut datagrams: Vec<Vec<u8>> = Vec::new();
        for stream in &mut self.streams {
            if stream.waiting.arrivals.is_empty() {
                continue;
            }
            for packet in stream.writer.write(peer(now), &stream.waiting) {
                match datagrams.last_mut() {
                    Some(last) if last.len() + packet.len() <= LARGEST => last.extend(packet),
                    _ => datagrams.push([&head[..], &packet].concat()),
                }
            }
            stream.waiting.arrivals.clear();
        }
        if let Some(greeted) = &mut self.greeted {
            let Some(nonce) = greeted.near() else {
                return Vec::new();
            };
            for report in &mut datagrams {
                let number = greeted.number();
                envelope::sign(report, &greeted.key, &nonce, number);
            }
        }
        self.statistics.reports += datagrams.len() as u64;
        datagrams
    }
}

/// The local time as the near end sees it: the two clocks have different beginnings.
fn peer(at: Time) -> PeerTime {
    PeerTime::from_nanos(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX))
}
