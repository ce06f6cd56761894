//! Text that another program copies and pastes.

use mimosa_protocol::control::Clipboard as Told;
use mimosa_x11::{Clipboard, Display, PrivateServer};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{Desk, size, start, wait_until};

/// The other program.
struct Program {
    desk: Desk,
    window: Window,
}

struct Play {
    clipboard: Clipboard,
    program: Program,
    _server: PrivateServer,
}

impl Play {
    fn start() -> Self {
        let server = start(size(64, 64));
        let desk = Desk::new(&server);
        let window = desk.window("a program", (0, 0), (8, 8));
        Self {
            clipboard: Clipboard::open(Display::Private(&server)).unwrap(),
            program: Program { desk, window },
            _server: server,
        }
    }

    /// The text that the clipboard reports, with the program answering in between.
    fn told(&mut self, mut answer: impl FnMut(&Program, &Event)) -> String {
        let mut told = None;
        wait_until("the text", || {
            for event in self.program.desk.events() {
                answer(&self.program, &event);
            }
            told = self.clipboard.copied().unwrap();
            told.is_some()
        });
        told.unwrap()
    }

    /// The value that the program pastes as `target`, with its type.
    fn pasted(&mut self, target: Atom) -> Option<(Atom, Vec<u8>)> {
        let Program { desk, window } = &self.program;
        let (place, now) = (self.program.atom("PLACE"), x11rb::CURRENT_TIME);
        let selection = self.program.atom("CLIPBOARD");
        let connection = &desk.connection;
        connection
            .convert_selection(*window, selection, target, place, now)
            .unwrap();
        let mut answer = None;
        wait_until("an answer", || {
            assert_eq!(self.clipboard.copied().unwrap(), None);
            answer = desk.events().into_iter().find_map(|event| match event {
                Event::SelectionNotify(answer) => Some(answer.property),
                _ => None,
            });
            answer.is_some()
        });
        let property = answer.filter(|property| *property != x11rb::NONE)?;
        let reply = connection
            .get_property(true, *window, property, AtomEnum::ANY, 0, 1 << 20)
            .unwrap()
            .reply()
            .unwrap();
        Some((reply.type_, reply.value))
    }
}

impl Program {
    fn atom(&self, name: &str) -> Atom {
        let request = self.desk.connection.intern_atom(false, name.as_bytes());
        request.unwrap().reply().unwrap().atom
    }

    /// Makes the program copy something.
    fn copy(&self) {
        let connection = &self.desk.connection;
        let selection = self.atom("CLIPBOARD");
        connection
            .set_selection_owner(self.window, selection, x11rb::CURRENT_TIME)
            .unwrap();
        connection.sync().unwrap();
    }

    /// Reports that the answer is in this property, or that there is none.
    fn notify(&self, request: &SelectionRequestEvent, property: Atom) {
        let event = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property,
        };
        let connection = &self.desk.connection;
        connection
            .send_event(false, request.requestor, EventMask::NO_EVENT, event)
            .unwrap();
        connection.sync().unwrap();
    }

    fn put(&self, request: &SelectionRequestEvent, kind: Atom, bytes: &[u8]) {
        let connection = &self.desk.connection;
        connection
            .change_property8(
                PropMode::REPLACE,
                request.requestor,
                request.property,
                kind,
                bytes,
            )
            .unwrap();
        connection.sync().unwrap();
    }

    /// Answers one target with text, and others with nothing.
    fn give(&self, event: &Event, target: Atom, text: &[u8]) {
        if let Event::SelectionRequest(request) = event {
            if request.target == target {
                self.put(request, target, text);
                self.notify(request, request.property);
            } else {
                self.notify(request, x11rb::NONE);
            }
        }
    }
}

#[test]
fn what_a_program_copies_is_told_once() {
    let mut play = Play::start();
    let utf8 = play.program.atom("UTF8_STRING");
    play.program.copy();
    let text = "a caf\u{e9}\n\u{1f600}";
    let told = play.told(|program, event| program.give(event, utf8, text.as_bytes()));
    assert_eq!(told, text);
    assert_eq!(play.clipboard.copied().unwrap(), None);
    // The page sends back the program's own text, which the program keeps.
    play.clipboard.offer(told).unwrap();
    let selection = play.program.atom("CLIPBOARD");
    let owner = play.program.desk.connection.get_selection_owner(selection);
    assert_eq!(owner.unwrap().reply().unwrap().owner, play.program.window);
}

#[test]
fn a_program_that_knows_latin_only_is_read() {
    let mut play = Play::start();
    play.program.copy();
    let latin = AtomEnum::STRING.into();
    let told = play.told(|program, event| program.give(event, latin, b"caf\xe9\0"));
    assert_eq!(told, "caf\u{e9}");
}

#[test]
fn what_a_password_manager_copies_is_not_told() {
    let mut play = Play::start();
    let utf8 = play.program.atom("UTF8_STRING");
    let hint = play.program.atom("x-kde-passwordManagerHint");
    play.program.copy();
    let mut was_asked = false;
    wait_until("the question whether it is a password", || {
        for event in play.program.desk.events() {
            if let Event::SelectionRequest(request) = event {
                assert_eq!(request.target, hint);
                was_asked = true;
            }
            play.program.give(&event, hint, b"secret");
        }
        assert_eq!(play.clipboard.copied().unwrap(), None);
        was_asked
    });
    // The next text is told, also by a program that has another hint.
    play.program.copy();
    let told = play.told(|program, event| match event {
        Event::SelectionRequest(request) if request.target == hint => {
            program.give(event, hint, b"public");
        }
        _ => program.give(event, utf8, b"no password"),
    });
    assert_eq!(told, "no password");
}

/// Gives text in pieces, as in ICCCM, section 2.7.2.
struct Pieces<'a> {
    rest: &'a [u8],
    each: usize,
    request: Option<SelectionRequestEvent>,
    is_ended: bool,
}

impl<'a> Pieces<'a> {
    fn new(text: &'a [u8], each: usize) -> Self {
        Self {
            rest: text,
            each,
            request: None,
            is_ended: false,
        }
    }

    fn answer(&mut self, program: &Program, event: &Event) {
        match event {
            Event::SelectionRequest(request) if request.target != program.atom("UTF8_STRING") => {
                program.notify(request, x11rb::NONE);
            }
            Event::SelectionRequest(request) => {
                let events =
                    ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
                let connection = &program.desk.connection;
                connection
                    .change_window_attributes(request.requestor, &events)
                    .unwrap();
                program.put(request, program.atom("INCR"), &[0; 4]);
                program.notify(request, request.property);
                self.request = Some(*request);
            }
            Event::PropertyNotify(change) if change.state == Property::DELETE => {
                let Some(request) = self.request else { return };
                if self.is_ended {
                    return;
                }
                let (piece, rest) = self.rest.split_at(self.each.min(self.rest.len()));
                self.is_ended = piece.is_empty();
                self.rest = rest;
                program.put(&request, request.target, piece);
            }
            _ => {}
        }
    }
}

#[test]
fn long_text_comes_in_pieces() {
    let mut play = Play::start();
    let text = "0123456789".repeat(6_000);
    let mut pieces = Pieces::new(text.as_bytes(), 4_096);
    play.program.copy();
    let told = play.told(|program, event| pieces.answer(program, event));
    assert!(told == text, "{} bytes", told.len());
}

#[test]
fn text_that_is_too_long_is_passed_over() {
    let mut play = Play::start();
    let utf8 = play.program.atom("UTF8_STRING");
    let long = "x".repeat(Told::LONGEST + 1);
    let mut pieces = Pieces::new(long.as_bytes(), 4_096);
    play.program.copy();
    wait_until("all pieces", || {
        for event in play.program.desk.events() {
            pieces.answer(&play.program, &event);
        }
        assert!(play.clipboard.copied().unwrap().is_none());
        pieces.is_ended
    });
    play.program.copy();
    let mut is_asked = false;
    wait_until("a question", || {
        for event in play.program.desk.events() {
            is_asked |= matches!(event, Event::SelectionRequest(_));
            play.program.give(&event, utf8, long.as_bytes());
        }
        assert!(play.clipboard.copied().unwrap().is_none());
        is_asked
    });
    // The next text is reported as ever.
    play.program.copy();
    let told = play.told(|program, event| program.give(event, utf8, b"short"));
    assert_eq!(told, "short");
}

#[test]
fn a_program_pastes_what_it_is_offered() {
    let mut play = Play::start();
    let text = "price: 3 \u{20ac}, caf\u{e9}";
    play.clipboard.offer(text.to_owned()).unwrap();
    let utf8 = play.program.atom("UTF8_STRING");
    let latin = Atom::from(AtomEnum::STRING);
    assert_eq!(play.pasted(utf8), Some((utf8, text.as_bytes().to_vec())));
    assert_eq!(
        play.pasted(latin),
        Some((latin, b"price: 3 ?, caf\xe9".to_vec()))
    );
    let targets = play.program.atom("TARGETS");
    let (kind, bytes) = play.pasted(targets).unwrap();
    assert_eq!(kind, Atom::from(AtomEnum::ATOM));
    let known = [targets, utf8, latin].map(u32::to_ne_bytes);
    assert_eq!(bytes, known.concat());
    let picture = play.program.atom("image/png");
    assert_eq!(play.pasted(picture), None);
    let longest = "y".repeat(Told::LONGEST);
    play.clipboard.offer(longest.clone()).unwrap();
    assert!(play.pasted(utf8) == Some((utf8, longest.into_bytes())));
}
