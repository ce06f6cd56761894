//! The text that programs copy and paste: the selection `CLIPBOARD`.

use std::os::fd::{AsFd, BorrowedFd};

use mimosa_protocol::control::Clipboard as Told;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xfixes::{self, ConnectionExt as _, SelectionEventMask};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::display::{Display, DisplayError};

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        CLIPBOARD,
        INCR,
        TARGETS,
        UTF8_STRING,
        MIMOSA_CLIPBOARD,
        SECRET_HINT: b"x-kde-passwordManagerHint",
    }
}

/// What a password manager answers to the target `x-kde-passwordManagerHint`, of which KDE's clipboard
/// keeps no history.
const SECRET: &[u8] = b"secret";

/// The clipboard of an X display, as text (ICCCM, section 2).
///
/// A program may copy a text in one piece or in many (`INCR`); a text of more than
/// [`Told::LONGEST`] bytes is ignored. A text that is offered here can be pasted until a
/// program copies something: [`Told::LONGEST`] bytes fit into one request, so that no
/// program needs to be given them in pieces.
///
/// What a password manager has copied is not told. A program is first asked whether it is one.
#[derive(Debug)]
pub struct Clipboard {
    connection: RustConnection,
    window: Window,
    atoms: Atoms,
    /// The text that was copied last, by either side.
    text: String,
    is_ours: bool,
    incoming: Option<Incoming>,
}

/// A text that comes in pieces.
#[derive(Debug)]
struct Incoming {
    bytes: Vec<u8>,
    is_too_long: bool,
}

/// The reason why the clipboard cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClipboardError {
    /// The X server did not answer as expected.
    #[error("the clipboard: {0}")]
    Display(#[from] DisplayError),
}

impl From<ReplyError> for ClipboardError {
    fn from(error: ReplyError) -> Self {
        Self::Display(error.into())
    }
}

impl From<ConnectionError> for ClipboardError {
    fn from(error: ConnectionError) -> Self {
        Self::Display(error.into())
    }
}

impl Clipboard {
    /// Begins to listen on a display.
    ///
    /// # Errors
    ///
    /// [`ClipboardError`] says what is missing.
    pub fn open(display: Display<'_>) -> Result<Self, ClipboardError> {
        let (connection, screen) = display.connect()?;
        let extension = xfixes::X11_EXTENSION_NAME;
        if connection.extension_information(extension)?.is_none() {
            return Err(DisplayError::NoExtension { extension }.into());
        }
        connection.xfixes_query_version(5, 0)?.reply()?;
        let atoms = Atoms::new(&connection)?.reply()?;
        let window = connection.generate_id().map_err(DisplayError::from)?;
        let events = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        connection.create_window(
            0,
            window,
            screen.root,
            -1,
            -1,
            1,
            1,
            0,
            WindowClass::INPUT_ONLY,
            screen.root_visual,
            &events,
        )?;
        let events = SelectionEventMask::SET_SELECTION_OWNER;
        // The server is known to watch before this returns: it may serve another program,
        // which copies something right then, first.
        connection
            .xfixes_select_selection_input(window, atoms.CLIPBOARD, events)?
            .check()?;
        Ok(Self {
            connection,
            window,
            atoms,
            text: String::new(),
            is_ours: false,
            incoming: None,
        })
    }

    /// Offers this text to programs that paste. A program that copied the same text last
    /// remains its owner.
    ///
    /// # Errors
    ///
    /// [`ClipboardError`] when the server has gone.
    pub fn offer(&mut self, text: String) -> Result<(), ClipboardError> {
        if text == self.text {
            return Ok(());
        }
        self.text = text;
        self.is_ours = true;
        self.incoming = None;
        let now = x11rb::CURRENT_TIME;
        self.connection
            .set_selection_owner(self.window, self.atoms.CLIPBOARD, now)?;
        self.connection.flush()?;
        Ok(())
    }

    /// Answers the requests of programs; returns the text that a program has copied, if
    /// any. Call this until it returns none, and again when [`Self::as_fd`] is readable.
    ///
    /// # Errors
    ///
    /// [`ClipboardError`] when the server has gone.
    pub fn copied(&mut self) -> Result<Option<String>, ClipboardError> {
        while let Some(event) = self.connection.poll_for_event()? {
            let copied = self.event(&event)?;
            self.connection.flush()?;
            if let Some(text) = copied.filter(|text| *text != self.text && !text.is_empty()) {
                self.text.clone_from(&text);
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    fn event(&mut self, event: &Event) -> Result<Option<String>, ClipboardError> {
        match event {
            Event::XfixesSelectionNotify(change) if change.owner == self.window => {}
            Event::XfixesSelectionNotify(change) => {
                self.is_ours = false;
                self.incoming = None;
                if change.owner != x11rb::NONE {
                    self.ask(self.atoms.SECRET_HINT, change.selection_timestamp)?;
                }
            }
            Event::SelectionNotify(answer) if answer.requestor == self.window => {
                return self.answered(answer);
            }
            Event::PropertyNotify(change)
                if change.state == Property::NEW_VALUE
                    && change.atom == self.atoms.MIMOSA_CLIPBOARD
                    && self.incoming.is_some() =>
            {
                return self.piece();
            }
            Event::SelectionRequest(request) => self.answer(request)?,
            Event::Error(error) => tracing::debug!("the X server: {error:?}"),
            _ => {}
        }
        Ok(None)
    }

    /// Asks the owner for its text, as `target`.
    fn ask(&self, target: Atom, time: Timestamp) -> Result<(), ClipboardError> {
        let (
            window,
            Atoms {
                CLIPBOARD,
                MIMOSA_CLIPBOARD,
                ..
            },
        ) = (self.window, self.atoms);
        self.connection
            .convert_selection(window, CLIPBOARD, target, MIMOSA_CLIPBOARD, time)?;
        Ok(())
    }

    /// Handles the owner's answer.
    fn answered(
        &mut self,
        answer: &SelectionNotifyEvent,
    ) -> Result<Option<String>, ClipboardError> {
        if answer.target == self.atoms.SECRET_HINT {
            // Programs that are no password managers do not know the target.
            let is_secret =
                answer.property != x11rb::NONE && self.take()?.1.is_some_and(|hint| hint == SECRET);
            if is_secret {
                tracing::info!("a password was copied, and is not told");
            } else {
                self.ask(self.atoms.UTF8_STRING, answer.time)?;
            }
            return Ok(None);
        }
        if answer.property == x11rb::NONE {
            // Old programs know only Latin-1, and others have copied something that is no
            // text.
            if answer.target == self.atoms.UTF8_STRING {
                self.ask(AtomEnum::STRING.into(), answer.time)?;
            }
            return Ok(None);
        }
        let (kind, bytes) = self.take()?;
        if kind == self.atoms.INCR {
            // Deleting the property lets the owner begin.
            self.incoming = Some(Incoming {
                bytes: Vec::new(),
                is_too_long: false,
            });
            return Ok(None);
        }
        Ok(bytes.and_then(|bytes| self.read(kind, &bytes)))
    }

    /// Handles a piece of text; an empty one is the end.
    fn piece(&mut self) -> Result<Option<String>, ClipboardError> {
        let (kind, piece) = self.take()?;
        let Some(incoming) = &mut self.incoming else {
            return Ok(None);
        };
        match piece {
            Some(piece) if piece.is_empty() => {}
            Some(piece) if incoming.bytes.len() + piece.len() <= Told::LONGEST => {
                incoming.bytes.extend(piece);
                return Ok(None);
            }
            _ => {
                incoming.is_too_long = true;
                return Ok(None);
            }
        }
        let Some(incoming) = self.incoming.take() else {
            return Ok(None);
        };
        if incoming.is_too_long {
            too_long();
            return Ok(None);
        }
        Ok(self.read(kind, &incoming.bytes))
    }

    /// Takes the property with its type; its value only if that is not too long.
    fn take(&self) -> Result<(Atom, Option<Vec<u8>>), ClipboardError> {
        let words = u32::try_from(Told::LONGEST.div_ceil(4)).unwrap_or(u32::MAX);
        let (window, property) = (self.window, self.atoms.MIMOSA_CLIPBOARD);
        let any = AtomEnum::ANY;
        let reply = self
            .connection
            .get_property(true, window, property, any, 0, words)?
            .reply()?;
        if reply.bytes_after > 0 {
            // The server deletes a property only when all of it is read.
            self.connection.delete_property(window, property)?;
            return Ok((reply.type_, None));
        }
        // The value that was read may be up to three bytes longer than allowed.
        let value = Some(reply.value).filter(|value| value.len() <= Told::LONGEST);
        Ok((reply.type_, value))
    }

    /// The text of a value of this type, if it is text.
    fn read(&self, kind: Atom, bytes: &[u8]) -> Option<String> {
        let text = if kind == self.atoms.UTF8_STRING {
            String::from_utf8_lossy(bytes).into_owned()
        } else if kind == Atom::from(AtomEnum::STRING) {
            bytes.iter().copied().map(char::from).collect()
        } else {
            return None;
        };
        // Some programs end their text with a zero, as in C.
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// Gives a program the text that it asks for.
    fn answer(&self, request: &SelectionRequestEvent) -> Result<(), ClipboardError> {
        // Programs older than the ICCCM name no property.
        let property = match request.property {
            x11rb::NONE => request.target,
            property => property,
        };
        let is_given = self.is_ours && self.give(request, property)?;
        let event = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if is_given { property } else { x11rb::NONE },
        };
        self.connection
            .send_event(false, request.requestor, EventMask::NO_EVENT, event)?;
        Ok(())
    }

    /// Puts the text into the property as `target`; returns `false` for an unknown target.
    fn give(
        &self,
        request: &SelectionRequestEvent,
        property: Atom,
    ) -> Result<bool, ClipboardError> {
        let (connection, requestor) = (&self.connection, request.requestor);
        let (replace, target) = (PropMode::REPLACE, request.target);
        let latin = Atom::from(AtomEnum::STRING);
        if target == self.atoms.TARGETS {
            let known = [self.atoms.TARGETS, self.atoms.UTF8_STRING, latin];
            connection.change_property32(replace, requestor, property, AtomEnum::ATOM, &known)?;
        } else if target == self.atoms.UTF8_STRING {
            let text = self.text.as_bytes();
            connection.change_property8(replace, requestor, property, target, text)?;
        } else if target == latin {
            let characters = self.text.chars();
            let text: Vec<u8> = characters
                .map(|character| u8::try_from(character).unwrap_or(b'?'))
                .collect();
            connection.change_property8(replace, requestor, property, target, &text)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

impl AsFd for Clipboard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.stream().as_fd()
    }
}

fn too_long() {
    tracing::info!(
        "text of more than {} bytes was copied, and is not told",
        Told::LONGEST
    );
}
