//! What has been sent and not yet acknowledged, segment by segment.
//!
//! The scoreboard and the pipe follow RFC 6675 (section 3): bytes in flight are those that were
//! sent and are neither `SACKed` nor lost, and a retransmission counts as sent again.
//! [`rack`](crate::rack) judges loss.

use std::collections::{BTreeSet, VecDeque};

use mimosa_units::{Time, TimeDelta};

use crate::wire::{Ack, Block};
use mimosa_cc::window::{Snapshot, Transmission};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    InFlight,
    Lost,
    Sacked,
}

#[derive(Clone, Debug)]
struct Entry {
    sequence: u64,
    length: u64,
    state: State,
    is_retransmitted: bool,
    last: Transmission,
}

impl Entry {
    const fn end(&self) -> u64 {
        self.sequence.saturating_add(self.length)
    }
}

/// A segment that an acknowledgement newly covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) end: u64,
    pub(crate) length: u64,
    pub(crate) is_retransmitted: bool,
    pub(crate) last: Transmission,
}

/// A transmission that is judged lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) length: u64,
    pub(crate) snapshot: Snapshot,
}

/// The segments between the first unacknowledged and the next new byte.
///
/// Its size is bounded by the receiver's window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    entries: VecDeque<Entry>,
    /// Transmissions in their order, as (number, sequence). Entries are skipped that are no longer
    /// their segment's latest transmission, or whose segment is no longer in flight.
    order: VecDeque<(u64, u64)>,
    /// Sequences of the lost segments.
    lost: BTreeSet<u64>,
    in_flight: u64,
    sacked: usize,
}

impl Scoreboard {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of bytes in flight.
    pub(crate) const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of segments that are `SACKed`.
    pub(crate) const fn sacked(&self) -> usize {
        self.sacked
    }

    /// Number of segments in flight, `SACKed` or lost.
    pub(crate) fn segments(&self) -> usize {
        self.entries.len()
    }

    /// The first lost segment, as sequence and length.
    pub(crate) fn first_lost(&self) -> Option<(u64, u64)> {
        let &sequence = self.lost.first()?;
        let entry = self.entries.get(self.index(sequence)?)?;
        Some((sequence, entry.length))
    }

    /// The last segment that is not `SACKed`, as sequence and length.
    pub(crate) fn last_unsacked(&self) -> Option<(u64, u64)> {
        let mut latest_first = self.entries.iter().rev();
        let entry = latest_first.find(|entry| entry.state != State::Sacked)?;
        Some((entry.sequence, entry.length))
    }

    /// Whether `sequence` is the first unacknowledged byte.
    pub(crate) fn is_first(&self, sequence: u64) -> bool {
        let first = self.entries.front();
        first.is_some_and(|entry| entry.sequence == sequence)
    }

    /// When the first unacknowledged segment last left.
    pub(crate) fn first_sent(&self) -> Option<Time> {
        self.entries.front().map(|entry| entry.last.at)
    }

    /// Adds a new segment that leaves, after all others in the stream.
    pub(crate) fn push(&mut self, sequence: u64, length: u64, transmission: Transmission) {
        self.entries.push_back(Entry {
            sequence,
            length,
            state: State::InFlight,
            is_retransmitted: false,
            last: transmission,
        });
        self.order.push_back((transmission.number, sequence));
        self.in_flight += length;
    }

    /// Notes that a segment is sent again.
    pub(crate) fn retransmit(&mut self, sequence: u64, transmission: Transmission) {
        let Some(entry) = self
            .index(sequence)
            .and_then(|index| self.entries.get_mut(index))
        else {
            return;
        };
        if entry.state != State::InFlight {
            self.in_flight += entry.length;
        }
        entry.state = State::InFlight;
        entry.is_retransmitted = true;
        entry.last = transmission;
        self.lost.remove(&sequence);
        self.order.push_back((transmission.number, sequence));
    }

    /// Takes an acknowledgement. Adds the segments that it newly covers to `delivered`.
    pub(crate) fn acknowledge(&mut self, ack: &Ack, delivered: &mut Vec<Delivered>) {
        while let Some(entry) = self.entries.front() {
            if entry.end() > ack.cumulative {
                break;
            }
            match entry.state {
                State::Sacked => self.sacked -= 1,
                State::Lost | State::InFlight => {
                    if entry.state == State::InFlight {
                        self.in_flight -= entry.length;
                    } else {
                        self.lost.remove(&entry.sequence);
                    }
                    delivered.push(deliver(entry));
                }
            }
            self.entries.pop_front();
        }
        for block in ack.sacks.iter().flatten() {
            self.acknowledge_block(*block, delivered);
        }
        if self.entries.is_empty() {
            self.order.clear();
        }
    }

    fn acknowledge_block(&mut self, block: Block, delivered: &mut Vec<Delivered>) {
        let first = self
            .entries
            .partition_point(|entry| entry.sequence < block.start);
        for entry in self.entries.iter_mut().skip(first) {
            if entry.end() > block.end {
                break;
            }
            match entry.state {
                State::Sacked => continue,
                State::InFlight => self.in_flight -= entry.length,
                State::Lost => {
                    self.lost.remove(&entry.sequence);
                }
            }
            entry.state = State::Sacked;
            self.sacked += 1;
            delivered.push(deliver(entry));
        }
    }

    /// Adds to `lost` the segments that left no later than transmission `newest` and more than
    /// `patience` ago. Returns how long until the next one is lost if nothing comes.
    pub(crate) fn detect_lost(
        &mut self,
        now: Time,
        newest: u64,
        patience: TimeDelta,
        lost: &mut Vec<Lost>,
    ) -> Option<TimeDelta> {
        let mut wait = None;
        let mut at = 0;
        while let Some(&(number, sequence)) = self.order.get(at) {
            if number > newest {
                break;
            }
            let index = self.index(sequence);
            let entry = index
                .and_then(|index| self.entries.get_mut(index))
                .filter(|entry| entry.last.number == number && entry.state == State::InFlight);
            let is_over = match entry {
                None => true,
                Some(entry) => {
                    let remaining = entry.last.at + patience - now;
                    if remaining > TimeDelta::ZERO {
                        wait = wait.max(Some(remaining));
                        false
                    } else {
                        entry.state = State::Lost;
                        self.in_flight -= entry.length;
                        self.lost.insert(sequence);
                        lost.push(Lost {
                            length: entry.length,
                            snapshot: entry.last.snapshot,
                        });
                        true
                    }
                }
            };
            if is_over && at == 0 {
                self.order.pop_front();
            } else {
                at += 1;
            }
        }
        wait
    }

    /// Judges all segments lost that are not `SACKed`, after a timeout.
    pub(crate) fn lose_all(&mut self, lost: &mut Vec<Lost>) {
        for entry in &mut self.entries {
            if entry.state == State::InFlight {
                entry.state = State::Lost;
                self.lost.insert(entry.sequence);
                lost.push(Lost {
                    length: entry.length,
                    snapshot: entry.last.snapshot,
                });
            }
        }
        self.in_flight = 0;
        self.order.clear();
    }

    fn index(&self, sequence: u64) -> Option<usize> {
        self.entries
            .binary_search_by_key(&sequence, |entry| entry.sequence)
            .ok()
    }
}

const fn deliver(entry: &Entry) -> Delivered {
    Delivered {
        end: entry.end(),
        length: entry.length,
        is_retransmitted: entry.is_retransmitted,
        last: entry.last,
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::Bytes;

    use super::*;
    use crate::rack::Rack;
    use mimosa_cc::window::Delivery;

    const LENGTH: u64 = 1000;
    const RTT: TimeDelta = TimeDelta::from_millis(40);

    fn transmission(number: u64, at: Time) -> Transmission {
        Transmission {
            number,
            at,
            snapshot: Delivery::default().on_sent(at, 0, LENGTH),
        }
    }

    /// Ten segments, sent a millisecond apart.
    fn ten() -> Scoreboard {
        let mut board = Scoreboard::default();
        for index in 0..10 {
            let sent = transmission(index + 1, Time::from_millis(index));
            board.push(index * LENGTH, LENGTH, sent);
        }
        board
    }

    fn ack(cumulative: u64, sacked: Option<(u64, u64)>, echo: Time) -> Ack {
        let block = sacked.map(|(from, to)| Block {
            start: from * LENGTH,
            end: to * LENGTH,
        });
        Ack {
            cumulative: cumulative * LENGTH,
            sacks: [block, None, None],
            is_duplicate: false,
            ece: false,
            ce_segments: 0,
            ce_bytes: Bytes::ZERO,
            echo,
        }
    }

    /// What RACK concludes from `acks`: the number of lost segments, and the wait for more.
    fn lost_after(acks: &[(Time, Ack)]) -> (usize, Option<TimeDelta>, Scoreboard) {
        let (mut board, mut rack) = (ten(), Rack::new());
        let (mut delivered, mut lost, mut wait) = (Vec::new(), Vec::new(), None);
        for (now, ack) in acks {
            delivered.clear();
            board.acknowledge(ack, &mut delivered);
            rack.on_delivered(*now, ack.echo, &delivered);
            if let Some((newest, patience)) =
                rack.verdict(false, board.sacked(), Some(RTT), Some(RTT))
            {
                wait = board.detect_lost(*now, newest, patience, &mut lost);
            }
        }
        (lost.len(), wait, board)
    }

    #[test]
    fn one_segment_ahead_waits_a_quarter_of_the_round_trip() {
        let now = Time::from_millis(1) + RTT;
        let early = ack(0, Some((1, 2)), Time::from_millis(1));
        let (lost, wait, board) = lost_after(&[(now, early)]);
        assert_eq!(lost, 0);
        // The first segment left a millisecond before the one that arrived.
        assert_eq!(wait, Some(RTT / 4 - TimeDelta::from_millis(1)));
        assert_eq!(board.in_flight(), 9 * LENGTH);
    }

    #[test]
    fn three_segments_ahead_are_proof_of_loss() {
        let now = Time::from_millis(3) + RTT;
        let ahead = ack(0, Some((1, 4)), Time::from_millis(3));
        let (lost, wait, mut board) = lost_after(&[(now, ahead)]);
        assert_eq!((lost, wait), (1, None));
        assert_eq!(board.in_flight(), 6 * LENGTH);
        assert_eq!(board.first_lost(), Some((0, LENGTH)));

        board.retransmit(0, transmission(11, now));
        assert_eq!((board.first_lost(), board.in_flight()), (None, 7 * LENGTH));
        let mut delivered = Vec::new();
        board.acknowledge(&ack(4, None, now), &mut delivered);
        assert_eq!(delivered.len(), 1, "the others were told before");
        assert!(delivered.iter().all(|segment| segment.is_retransmitted));
        assert_eq!((board.segments(), board.sacked()), (6, 0));
    }

    #[test]
    fn after_reordering_three_segments_prove_nothing() {
        let ahead = ack(0, Some((1, 2)), Time::from_millis(1));
        let filled = ack(2, None, Time::ZERO);
        let again = ack(2, Some((3, 7)), Time::from_millis(6));
        let at = |millis| Time::from_millis(millis) + RTT;
        let (lost, wait, _) = lost_after(&[(at(1), ahead), (at(2), filled), (at(6), again)]);
        assert_eq!(lost, 0);
        assert!(wait.is_some());
    }

    #[test]
    fn after_a_timeout_all_but_the_sacked_is_lost() {
        let mut board = ten();
        board.acknowledge(&ack(2, Some((4, 6)), Time::ZERO), &mut Vec::new());
        let mut lost = Vec::new();
        board.lose_all(&mut lost);
        assert_eq!((lost.len(), board.in_flight()), (6, 0));
        assert_eq!(board.first_lost(), Some((2 * LENGTH, LENGTH)));
        assert_eq!(board.last_unsacked(), Some((9 * LENGTH, LENGTH)));
    }
}
