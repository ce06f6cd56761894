//! What the last frames measured.

use std::collections::VecDeque;

use mimosa_facts::{FrameEnd, Pacing, SessionFrame};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta, nearest_rank};

/// Frames by which a stream is judged: those of so much time.
const WINDOW: TimeDelta = TimeDelta::from_millis(1_500);
/// Fewest of them.
const FEWEST: usize = 12;
/// Time over which losses are counted: 1 % of the packets of 20 frames of ten packets is two.
const LOSSES_OVER: TimeDelta = TimeDelta::from_millis(4_000);
/// Time after a pause, beyond its own length, within which what waited has arrived.
const ENDS_WITHIN: TimeDelta = TimeDelta::from_millis(500);
/// Time over which the smallest delays and the highest rate are remembered, in pieces.
const PIECE: TimeDelta = TimeDelta::from_millis(3_000);
const PIECES: usize = 10;

/// What one frame measured.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at: Time,
    captured: Time,
    interval: TimeDelta,
    wait: TimeDelta,
    encode: TimeDelta,
    late: TimeDelta,
    /// One-way delay of the last packet, on two clocks, and the time until the report on it.
    way: Option<TimeDelta>,
    report: Option<TimeDelta>,
    decode: Option<TimeDelta>,
    present: Option<TimeDelta>,
    size: Bytes,
    packets: u32,
    lost: u32,
    link: Option<Rate>,
}

/// A gap between the arrivals of two frames.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The time between the arrivals, less that between the departures.
    lasted: TimeDelta,
    /// Delay of the frame after the gap, on two clocks, and when the frame arrived.
    late: TimeDelta,
    at: PeerTime,
}

/// Extremes over half a minute.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    begun: Time,
    way: Option<TimeDelta>,
    report: Option<TimeDelta>,
    link: Option<Rate>,
}

/// The measures of a stream.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    frames: VecDeque<Frame>,
    pieces: VecDeque<Piece>,
    /// Departure and arrival of the newest packet that ended a frame.
    newest: Option<(Time, PeerTime)>,
    /// A gap that may be a pause.
    open: Option<Gap>,
    /// The longest pause since it was last taken.
    pause: TimeDelta,
}

/// What the frames of a window measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) interval: TimeDelta,
    pub(crate) wait: TimeDelta,
    pub(crate) encode: TimeDelta,
    pub(crate) late: TimeDelta,
    pub(crate) decode: Option<TimeDelta>,
    pub(crate) present: Option<TimeDelta>,
    /// Median time between captures.
    pub(crate) apart: TimeDelta,
    /// Median delay of the way there above the least, and of reports above theirs and above that.
    pub(crate) queue: Option<TimeDelta>,
    pub(crate) back: Option<TimeDelta>,
    pub(crate) round_trip: Option<TimeDelta>,
    pub(crate) loss: f64,
    /// The stream's rate, the link's rate, and the highest of the latter.
    pub(crate) rate: Rate,
    pub(crate) link: Option<Rate>,
    pub(crate) link_before: Option<Rate>,
}

impl Measures {
    pub(crate) const fn new() -> Self {
        Self {
            frames: VecDeque::new(),
            pieces: VecDeque::new(),
            newest: None,
            open: None,
            pause: TimeDelta::ZERO,
        }
    }

    /// Takes a frame about which everything is known.
    pub(crate) fn frame(&mut self, frame: &SessionFrame) {
        let life = &frame.life;
        let planned = match life.pacing {
            Pacing::Spread { over, .. } => over,
            Pacing::Burst => TimeDelta::ZERO,
            Pacing::Bucket { rate, .. } => rate.transmit_time(life.size),
        };
        let way = life.last_sent.zip(life.last_arrival);
        let acknowledged = match life.end {
            Some(FrameEnd::Acknowledged(at)) if life.retransmitted == 0 => Some(at),
            _ => None,
        };
        if let Some((sent, at)) = way {
            if let Some((sent_before, before)) = self.newest {
                let gap = (at - before) - sent.since(sent_before);
                self.gap(Gap {
                    lasted: gap,
                    late: at - sent,
                    at,
                });
            }
            self.newest = Some((sent, at));
        }
        let one = Frame {
            at: life.handed_over,
            captured: frame.captured,
            interval: life.interval,
            wait: frame.encode_begun - frame.captured,
            encode: frame.encode_ended - frame.encode_begun,
            late: life
                .last_sent
                .filter(|_| life.retransmitted == 0)
                .map_or(TimeDelta::ZERO, |sent| sent - life.handed_over - planned),
            way: way
                .map(|(sent, at)| at - sent)
                .filter(|_| life.retransmitted == 0),
            report: acknowledged.zip(life.last_sent).map(|(at, sent)| at - sent),
            decode: frame
                .decoded
                .zip(frame.received)
                .map(|(decoded, at)| decoded - at),
            present: frame
                .shown
                .zip(frame.decoded)
                .map(|(shown, decoded)| shown - decoded),
            size: life.size,
            packets: life.packets,
            lost: life.lost,
            link: life
                .decision
                .evidence
                .service_rate
                .filter(|rate| *rate < Rate::MAX),
        };
        self.remember(&one);
        self.frames.push_back(one);
        let newest = one.at;
        while self
            .frames
            .pop_front_if(|frame| newest.since(frame.at) > LOSSES_OVER)
            .is_some()
        {}
    }

    /// Takes a gap between arrivals, less that between departures, and the delay of the frame after it. A
    /// gap is a pause if later frames, which waited meanwhile, are less and less late; where a queue has
    /// come up, they are as late.
    fn gap(&mut self, gap: Gap) {
        let is_over = |open: &Gap| gap.at - open.at > open.lasted + ENDS_WITHIN;
        let open = self.open.filter(|open| !is_over(open));
        match open {
            Some(open) if gap.lasted < open.lasted => {
                let has_ended = open.late - gap.late >= open.lasted / 2;
                if has_ended {
                    self.pause = self.pause.max(open.lasted);
                }
                self.open = Some(open).filter(|_| !has_ended);
            }
            _ => self.open = Some(gap).filter(|gap| gap.lasted > TimeDelta::ZERO),
        }
    }

    /// Adds a frame to the extremes of half a minute.
    fn remember(&mut self, frame: &Frame) {
        let is_new = self
            .pieces
            .back()
            .is_none_or(|piece| frame.at.since(piece.begun) >= PIECE);
        if is_new {
            self.pieces.push_back(Piece {
                begun: frame.at,
                ..Piece::default()
            });
            if self.pieces.len() > PIECES {
                self.pieces.pop_front();
            }
        }
        if let Some(piece) = self.pieces.back_mut() {
            piece.way = least(piece.way, frame.way);
            piece.report = least(piece.report, frame.report);
            piece.link = piece.link.max(frame.link);
        }
    }

    /// Number of frames and pieces that are remembered.
    pub(crate) fn held(&self) -> usize {
        self.frames.len() + self.pieces.len()
    }

    /// Takes the longest pause in arrivals since the last call.
    pub(crate) fn take_pause(&mut self) -> TimeDelta {
        std::mem::take(&mut self.pause)
    }

    /// What the newest frames measured at `now`; `None` if they are too few.
    pub(crate) fn measured(&self, now: Time) -> Option<Measured> {
        let recent = || {
            let all = self.frames.iter();
            all.filter(|frame| now.since(frame.at) <= WINDOW + PIECE && self.is_recent(frame))
        };
        if recent().count() < FEWEST {
            return None;
        }
        let median = |of: &dyn Fn(&Frame) -> Option<TimeDelta>| {
            let mut values: Vec<_> = recent().filter_map(of).collect();
            values.sort_unstable();
            nearest_rank(&values, 0.5)
        };
        let least_way = self
            .pieces
            .iter()
            .fold(None, |way, piece| least(way, piece.way));
        let least_report = self
            .pieces
            .iter()
            .fold(None, |report, piece| least(report, piece.report));
        let queue = median(&|frame| Some(frame.way? - least_way?));
        let back =
            median(&|frame| Some((frame.report? - least_report?) - (frame.way? - least_way?)));
        let captured: Vec<_> = recent().map(|frame| frame.captured).collect();
        let mut apart: Vec<_> = captured
            .windows(2)
            .map(|two| two[1].since(two[0]))
            .collect();
        apart.sort_unstable();
        let (packets, lost) = self.frames.iter().fold((0, 0), |(packets, lost), frame| {
            (packets + frame.packets, lost + frame.lost)
        });
        let size: Bytes = recent().map(|frame| frame.size).sum();
        let span = recent().next_back()?.at.since(recent().next()?.at);
        let links: Vec<_> = recent().filter_map(|frame| frame.link).collect();
        Some(Measured {
            interval: median(&|frame| Some(frame.interval))?,
            wait: median(&|frame| Some(frame.wait))?,
            encode: median(&|frame| Some(frame.encode))?,
            late: median(&|frame| Some(frame.late))?,
            decode: median(&|frame| frame.decode),
            present: median(&|frame| frame.present),
            apart: nearest_rank(&apart, 0.5)?,
            queue,
            back,
            round_trip: least_report,
            loss: f64::from(lost) / f64::from(packets.max(1)),
            rate: Rate::of(size, span.max(TimeDelta::from_millis(1))),
            link: middle(links),
            link_before: self.pieces.iter().filter_map(|piece| piece.link).max(),
        })
    }

    fn is_recent(&self, frame: &Frame) -> bool {
        let newest = self.frames.back();
        newest.is_some_and(|newest| newest.at.since(frame.at) <= WINDOW)
    }
}

fn middle(mut rates: Vec<Rate>) -> Option<Rate> {
    rates.sort_unstable();
    nearest_rank(&rates, 0.5)
}

/// The smaller of two, of which any may be missing.
fn least(one: Option<TimeDelta>, other: Option<TimeDelta>) -> Option<TimeDelta> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
