//! Encoders with real GStreamer, in which elements of software stand in for those of hardware.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mimosa_conformance::{BUDGET, Stream, plain_request, stream_size};
use mimosa_facts::FrameId;
use mimosa_units::Bytes;
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};

use crate::elements::{ELEMENTS, Element};
use crate::library::{self, Object, Passing};
use crate::opening::{Config, Delivery, Plan};
use crate::pipeline::{Finish, Output};
use crate::{ChangeCost, GStreamer};

/// The number of slices of the stand-in's frames.
const SLICES: u8 = 4;
/// The frame with which the stand-in of some tests begins to do something wrong.
const TURN: u64 = 10;

fn config(parts: u8) -> Config {
    Config {
        element: "x264enc".to_owned(),
        parts,
        ..Config::new(stream_size(), 60)
    }
}

fn plan(config: &Config, finish: Finish) -> Plan {
    let plan = Plan::of_named(library::start().unwrap(), config).unwrap();
    Plan { finish, ..plan }
}

/// What an element that hands out pieces does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Habit {
    /// What GStreamer's base class of encoders does.
    Proper,
    NoMarker,
    MarkerOnEach,
    /// Each slice has a time of its own.
    OtherTimes,
    NoParameterSets,
}

/// Something that happens to the slice of a frame that has this number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Event {
    /// The slice leaves the element.
    Made(usize),
    /// The part with the slice leaves the encoder.
    Left(usize),
    /// The slice was to leave the element, and the part before it had not left the encoder.
    Late(usize),
}

/// `x264enc` with a parser behind it that cuts frames into their units. A tap on the parser gives the units the times
/// and markers that the pieces of an element of hardware have, or wrong ones.
#[derive(Clone)]
struct StandIn {
    habit: Arc<Mutex<Habit>>,
    /// The number of slices of its frames; `None` for as many as asked for.
    slices: Option<u8>,
    events: Arc<Mutex<Vec<Event>>>,
    /// Says that a part has left. The next slice waits for that.
    gate: Arc<Mutex<Option<Receiver<()>>>>,
    made: Arc<Mutex<Vec<Output>>>,
}

impl StandIn {
    fn new(habit: Habit) -> Self {
        Self {
            habit: Arc::new(Mutex::new(habit)),
            slices: Some(SLICES),
            events: Arc::default(),
            gate: Arc::default(),
            made: Arc::default(),
        }
    }

    fn open(&self, parts: u8) -> GStreamer {
        GStreamer::of(plan(&config(parts), self.clone().finish())).unwrap()
    }

    fn finish(self) -> Finish {
        Finish::new(move |encoder, output| {
            self.made.lock().unwrap().push(output);
            if output == Output::Whole {
                return Ok(Vec::new());
            }
            if let Some(slices) = self.slices {
                encoder.set("option-string", &format!("scenecut=0:slices={slices}"));
            }
            let parser = Object::make(library::start().unwrap(), "h264parse")?;
            let (tap, place) = (self.clone(), Mutex::new((0, 0)));
            parser.tap(move |passing| tap.passes(passing, &mut place.lock().unwrap()));
            Ok(vec![parser])
        })
    }

    /// Changes a unit on its way. The place is the time of its frame and the number of slices before it.
    fn passes(&self, passing: &mut Passing, (time, slices): &mut (u64, usize)) {
        let kind = passing.data[4] & 31;
        let is_slice = (1..=5).contains(&kind);
        let is_last = passing.has_marker;
        // The parser says the time with the first unit of a frame alone.
        if passing.time != u64::MAX {
            *time = passing.time;
        }
        passing.time = *time;
        let habit = *self.habit.lock().unwrap();
        let first = match habit {
            Habit::NoParameterSets => 5,
            _ => 7,
        };
        passing.is_delta = kind != first;
        passing.is_header = matches!(kind, 7 | 8);
        match habit {
            Habit::Proper => {}
            Habit::NoMarker => passing.has_marker = false,
            Habit::MarkerOnEach => passing.has_marker = is_slice,
            Habit::OtherTimes => passing.time += *slices as u64,
            Habit::NoParameterSets => passing.is_dropped = passing.is_header,
        }
        if is_slice {
            self.wait(*slices);
            *slices = if is_last { 0 } else { *slices + 1 };
        }
    }

    fn wait(&self, slice: usize) {
        let gate = self.gate.lock().unwrap();
        let Some(gate) = &*gate else {
            return;
        };
        let may_leave = slice == 0 || gate.recv_timeout(Duration::from_secs(5)).is_ok();
        let event = if may_leave {
            Event::Made(slice)
        } else {
            Event::Late(slice)
        };
        self.events.lock().unwrap().push(event);
    }

    fn shut(&self) -> Sender<()> {
        let (sender, gate) = mpsc::channel();
        *self.gate.lock().unwrap() = Some(gate);
        sender
    }
}

/// An encoder that codes each frame in parts, and looks at them. The stand-in turns to another habit once.
struct InParts {
    encoder: GStreamer,
    parts: u8,
    counts: Vec<usize>,
    turns: Option<(StandIn, Habit)>,
}

impl InParts {
    fn new(encoder: GStreamer, parts: u8) -> Self {
        Self {
            encoder,
            parts,
            counts: Vec::new(),
            turns: None,
        }
    }
}

impl Encoder for InParts {
    fn capabilities(&self) -> &Capabilities {
        self.encoder.capabilities()
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        if let Some((stand_in, habit)) = &self.turns
            && request.frame == Stream::id(TURN)
        {
            *stand_in.habit.lock().unwrap() = *habit;
        }
        let (mut joined, mut says) = (Vec::new(), Vec::new());
        let frame = self
            .encoder
            .encode_in_parts(picture, request, self.parts, &mut |part| {
                assert!(part.data.starts_with(&[0, 0, 0, 1]));
                joined.extend_from_slice(part.data);
                says.push((part.is_keyframe, part.is_last));
            })?;
        assert_eq!(joined, frame.data, "{:?}", frame.frame);
        let last = says.len() - 1;
        for (number, (is_keyframe, is_last)) in says.into_iter().enumerate() {
            assert_eq!((is_keyframe, is_last), (frame.is_keyframe, number == last));
        }
        self.counts.push(last + 1);
        Ok(frame)
    }
}

/// The decoded frames with a quality below that of a good picture.
fn bad(stream: &Stream) -> Vec<u64> {
    let qualities = stream.qualities(|_| true).into_iter();
    qualities
        .filter(|(_, psnr)| *psnr < 28.0)
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn a_part_leaves_before_the_next_slice_is_made() {
    let stand_in = StandIn::new(Habit::Proper);
    let mut encoder = stand_in.open(SLICES);
    assert_eq!(encoder.delivery(), &Delivery::InParts(u32::from(SLICES)));
    let (picture, left) = (Picture::new(stream_size()), stand_in.shut());
    let events = &stand_in.events;
    for frame in 0..3 {
        let mut number = 0;
        let request = plain_request(frame, BUDGET);
        let coded = encoder.encode_in_parts(&picture, &request, SLICES, &mut |part| {
            assert_eq!(part.is_last, number == 3);
            events.lock().unwrap().push(Event::Left(number));
            if !part.is_last {
                left.send(()).unwrap();
            }
            number += 1;
        });
        assert_eq!(coded.unwrap().is_keyframe, frame == 0);
        let order = (0..4).flat_map(|slice| [Event::Made(slice), Event::Left(slice)]);
        assert_eq!(
            std::mem::take(&mut *events.lock().unwrap()),
            order.collect::<Vec<_>>()
        );
    }
}

#[test]
fn the_parts_of_a_frame_are_the_frame() {
    for (parts, count) in [(8, 4), (4, 4), (3, 3), (2, 2), (1, 1)] {
        let mut encoder = InParts::new(StandIn::new(Habit::Proper).open(8), parts);
        let again = |number| match number {
            50 => Recovery::Keyframe,
            _ => Recovery::None,
        };
        let stream = Stream::encode(&mut encoder, again);
        assert!(
            encoder.counts.iter().all(|parts| *parts == count),
            "{:?}",
            encoder.counts
        );
        assert_eq!(stream.keyframes(), [0, 50]);
        assert_eq!(stream.complaints(|_| true), "");
        assert_eq!(bad(&stream), [], "{parts} parts");
        let sizes = stream.frames().iter().map(|frame| frame.data.len() as f64);
        let used = sizes.sum::<f64>() / stream.frames().len() as f64 / BUDGET.get() as f64;
        assert!((0.6..1.1).contains(&used), "{used} of the budgets");
    }
}

#[test]
fn whole_frames_are_whole_for_viewers_that_take_no_parts() {
    let stand_in = StandIn::new(Habit::Proper);
    let mut encoder = InParts::new(stand_in.open(1), 1);
    assert_eq!(encoder.encoder.delivery(), &Delivery::Whole);
    let stream = Stream::encode(&mut encoder, |_| Recovery::None);
    assert!(encoder.counts.iter().all(|parts| *parts == 1));
    let slices = |data: &[u8]| {
        data.windows(4)
            .filter(|unit| matches!(unit, [0, 0, 1, kind] if kind & 31 == 1))
            .count()
    };
    assert!(
        stream.frames()[1..]
            .iter()
            .all(|frame| slices(&frame.data) == 1)
    );
    assert_eq!(*stand_in.made.lock().unwrap(), [Output::Whole]);
    // The same encoder without parts gives the same.
    let mut encoder = StandIn::new(Habit::Proper).open(8);
    let frame = encoder.encode(&Picture::new(stream_size()), &plain_request(0, BUDGET));
    assert!(frame.unwrap().is_keyframe);
    assert_eq!(encoder.delivery(), &Delivery::InParts(4));
}

#[test]
fn an_element_whose_pieces_are_wrong_gives_whole_frames() {
    for (habit, slices, reason) in [
        (
            Habit::NoMarker,
            SLICES,
            "gives no piece of a frame the marker",
        ),
        (
            Habit::MarkerOnEach,
            SLICES,
            "gives the marker to a piece of a frame that is not the last",
        ),
        (
            Habit::OtherTimes,
            SLICES,
            "begins another frame before a piece has the marker",
        ),
        (
            Habit::NoParameterSets,
            SLICES,
            "its keyframes have no parameter sets",
        ),
        (Habit::Proper, 1, "hands out each frame in one piece"),
    ] {
        let stand_in = StandIn {
            slices: Some(slices),
            ..StandIn::new(habit)
        };
        let mut encoder = InParts::new(stand_in.open(8), 8);
        let delivery = encoder.encoder.delivery();
        assert!(
            matches!(delivery, Delivery::Refused(why) if why.contains(reason)),
            "{delivery:?}"
        );
        let stream = Stream::encode(&mut encoder, |_| Recovery::None);
        assert!(encoder.counts.iter().all(|parts| *parts == 1), "{habit:?}");
        assert_eq!(stream.complaints(|_| true), "");
        assert_eq!(bad(&stream), [], "{habit:?}");
    }
}

#[test]
fn an_element_that_turns_wrong_loses_no_picture() {
    // Which frames have parts, how many, which frame is the keyframe that makes up for it, and which are damaged.
    for (habit, turned, next, damaged) in [
        // The last part of the frame is filler.
        (Habit::NoMarker, 5, TURN + 1, &[][..]),
        // Three slices are not known to be the frame's.
        (Habit::OtherTimes, 2, TURN + 1, &[TURN]),
        // The frame seems whole with its first slice; of the next one nothing has left.
        (Habit::MarkerOnEach, 1, TURN + 1, &[TURN]),
    ] {
        let stand_in = StandIn::new(Habit::Proper);
        let mut encoder = InParts::new(stand_in.open(8), 8);
        encoder.turns = Some((stand_in.clone(), habit));
        let stream = Stream::encode(&mut encoder, |_| Recovery::None);
        assert_eq!(stream.keyframes(), [0, next], "{habit:?}");
        let delivery = encoder.encoder.delivery();
        assert!(matches!(delivery, Delivery::Refused(_)), "{delivery:?}");
        for (frame, parts) in (0..).zip(&encoder.counts) {
            let expected = match frame {
                _ if frame < TURN => 4,
                TURN => turned,
                _ => 1,
            };
            assert_eq!(*parts, expected, "{habit:?} {frame}");
        }
        assert_eq!(bad(&stream), damaged, "{habit:?}");
        if damaged.is_empty() {
            assert_eq!(stream.complaints(|_| true), "", "{habit:?}");
        }
        let made = stand_in.made.lock().unwrap();
        assert_eq!(
            *made,
            [Output::Pieces, Output::Pieces, Output::Whole],
            "{habit:?}"
        );
    }
}

/// x264's sliced threads make as many slices.
#[test]
fn an_element_is_asked_for_as_many_slices_as_there_may_be_parts() {
    let opened = |slices, parts| {
        let stand_in = StandIn {
            slices: None,
            ..StandIn::new(Habit::Proper)
        };
        let x264enc = Element::named("x264enc").unwrap();
        let element = Box::leak(Box::new(Element {
            threads: None,
            slices,
            ..*x264enc
        }));
        GStreamer::of(Plan {
            element,
            ..plan(&config(parts), stand_in.finish())
        })
    };
    for parts in [2, 3] {
        let encoder = opened(Some("threads"), parts).unwrap();
        assert_eq!(encoder.delivery(), &Delivery::InParts(u32::from(parts)));
    }
    for parts in [1, 2] {
        let error = opened(Some("num-slices"), parts).unwrap_err().to_string();
        assert!(error.contains("it has no property `num-slices`"), "{error}");
    }
}

#[test]
fn pieces_are_promised_by_a_template_that_names_them() {
    let library = library::start().unwrap();
    for element in ELEMENTS.iter().filter(|element| !element.is_hardware) {
        assert!(!Finish::plain().has_pieces(library, element), "{element:?}");
    }
    let x264enc = Element::named("x264enc").unwrap();
    let finish = StandIn::new(Habit::Proper).finish();
    assert!(finish.has_pieces(library, x264enc));
    let finish = Finish::new(move |_, _| Ok(vec![Object::make(library, "identity")?]));
    assert!(
        !finish.has_pieces(library, x264enc),
        "no alignment is named"
    );
}

/// The frames that are keyframes when budgets walk about 2 kB and are cut for single frames, then
/// double.
fn keyframes(mut encoder: GStreamer) -> Vec<u64> {
    let picture = Picture::new(Size::new(64, 48).unwrap());
    let budget = |number| match number {
        10 | 20 | 21 => 400,
        number if number < 40 => 2_000 + number * 97 % 300,
        _ => 4_000,
    };
    let mut keyframe = |number| {
        let request = FrameRequest {
            frame: FrameId(number),
            ..plain_request(number, Bytes::new(budget(number)))
        };
        encoder.encode(&picture, &request).unwrap().is_keyframe
    };
    (0..60).filter(|number| keyframe(*number)).collect()
}

/// An element of software that begins anew at changes stands in for one of hardware.
#[test]
fn an_element_that_begins_anew_is_found_out_and_left_alone() {
    let config = Config {
        size: Size::new(64, 48).unwrap(),
        ..config(1)
    };
    let free = GStreamer::of(plan(&config, Finish::plain())).unwrap();
    assert_eq!(free.change_cost(), ChangeCost::Nothing);
    assert_eq!(keyframes(free), [0]);
    let finish = Finish::new(|encoder, _| {
        encoder.begin_anew_at_changes();
        Ok(Vec::new())
    });
    let costly = GStreamer::of(plan(&config, finish)).unwrap();
    assert_eq!(costly.change_cost(), ChangeCost::Keyframe);
    assert_eq!(keyframes(costly), [0, 43]);
}
