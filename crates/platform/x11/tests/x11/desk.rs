//! A private server, and a client of the test that draws on it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mimosa_video::{Picture, Plane, Size};
use mimosa_x11::{Capture, CaptureError, Captured, Display, PrivateServer, Target};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeGCAux, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask,
    Gcontext, PropMode, Rectangle, Screen, Window, WindowClass,
};
use x11rb::reexports::x11rb_protocol::parse_display::ConnectAddress;
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

/// A colour of X and its samples by ITU-R BT.709 in limited range.
pub(crate) const RED: (u32, [u8; 3]) = (0xff_0000, [63, 102, 240]);
pub(crate) const GREEN: (u32, [u8; 3]) = (0x00_ff00, [173, 42, 26]);
pub(crate) const BLUE: (u32, [u8; 3]) = (0x00_00ff, [32, 240, 118]);
pub(crate) const WHITE: (u32, [u8; 3]) = (0xff_ffff, [235, 128, 128]);
pub(crate) const BLACK: (u32, [u8; 3]) = (0, [16, 128, 128]);

/// The longest wait, which is reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests of a driver read the clock"
)]
pub(crate) fn after(time: Duration) -> Instant {
    Instant::now() + time
}

#[expect(clippy::disallowed_methods, reason = "tests of a driver wait")]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let patience = after(PATIENCE);
    while !done() {
        assert!(after(Duration::ZERO) < patience, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a server; panics with what to install otherwise.
pub(crate) fn start(size: Size) -> PrivateServer {
    PrivateServer::start(size).unwrap_or_else(|error| panic!("{error}"))
}

/// A client that draws.
pub(crate) struct Desk {
    pub(crate) connection: RustConnection,
    pub(crate) screen: Screen,
    context: Gcontext,
}

impl Desk {
    pub(crate) fn new(server: &PrivateServer) -> Self {
        let number = server.display().trim_start_matches(':');
        let socket = ConnectAddress::Socket(format!("/tmp/.X11-unix/X{number}"));
        let (stream, _) = DefaultStream::connect(&socket).unwrap();
        let entry = std::fs::read(server.authority()).unwrap();
        let cookie = entry.last_chunk::<16>().unwrap().to_vec();
        let name = b"MIT-MAGIC-COOKIE-1".to_vec();
        let connection =
            RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie).unwrap();
        Self::with(connection)
    }

    pub(crate) fn with(connection: RustConnection) -> Self {
        let screen = connection.setup().roots[0].clone();
        let context = connection.generate_id().unwrap();
        let values = CreateGCAux::new();
        connection.create_gc(context, screen.root, &values).unwrap();
        Self {
            connection,
            screen,
            context,
        }
    }

    /// Opens a black window.
    pub(crate) fn window(&self, title: &str, place: (i16, i16), size: (u16, u16)) -> Window {
        let window = self.connection.generate_id().unwrap();
        let events = EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::FOCUS_CHANGE;
        let values = CreateWindowAux::new()
            .background_pixel(0)
            .event_mask(events);
        self.connection
            .create_window(
                self.screen.root_depth,
                window,
                self.screen.root,
                place.0,
                place.1,
                size.0,
                size.1,
                0,
                WindowClass::INPUT_OUTPUT,
                self.screen.root_visual,
                &values,
            )
            .unwrap();
        let names = (
            u32::from(x11rb::protocol::xproto::AtomEnum::WM_NAME),
            u32::from(x11rb::protocol::xproto::AtomEnum::STRING),
        );
        self.connection
            .change_property8(
                PropMode::REPLACE,
                window,
                names.0,
                names.1,
                title.as_bytes(),
            )
            .unwrap();
        self.connection.map_window(window).unwrap();
        self.connection.sync().unwrap();
        window
    }

    /// Fills a rectangle: left, top, width, height.
    pub(crate) fn fill(&self, window: Window, colour: (u32, [u8; 3]), place: (i16, i16, u16, u16)) {
        let values = ChangeGCAux::new().foreground(colour.0);
        self.connection.change_gc(self.context, &values).unwrap();
        let (x, y, width, height) = place;
        let rectangle = Rectangle {
            x,
            y,
            width,
            height,
        };
        self.connection
            .poly_fill_rectangle(window, self.context, &[rectangle])
            .unwrap();
        self.connection.sync().unwrap();
    }

    pub(crate) fn configure(&self, window: Window, values: &ConfigureWindowAux) {
        self.connection.configure_window(window, values).unwrap();
        self.connection.sync().unwrap();
    }

    pub(crate) fn destroy(&self, window: Window) {
        self.connection.destroy_window(window).unwrap();
        self.connection.sync().unwrap();
    }

    /// The events until this point.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.connection.sync().unwrap();
        std::iter::from_fn(|| self.connection.poll_for_event().unwrap()).collect()
    }

    /// Waits for `count` events of those that `pick` picks.
    pub(crate) fn wait_for<T>(&self, count: usize, pick: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        let mut picked = Vec::new();
        wait_until("an event", || {
            picked.extend(self.events().iter().filter_map(&pick));
            picked.len() >= count
        });
        picked
    }
}

/// A capture and its last picture.
pub(crate) struct Eye {
    pub(crate) capture: Capture,
    pub(crate) picture: Picture,
}

impl Eye {
    pub(crate) fn open(display: Display<'_>, target: &Target) -> Self {
        let capture = Capture::open(display, target).unwrap_or_else(|error| panic!("{error}"));
        let picture = Picture::new(capture.size());
        Self { capture, picture }
    }

    /// Waits for the next result.
    pub(crate) fn next(&mut self) -> Result<Captured, CaptureError> {
        self.capture.next(after(PATIENCE), &mut self.picture)
    }

    /// Waits for a picture.
    pub(crate) fn look(&mut self) {
        let result = self.next();
        assert!(matches!(result, Ok(Captured::Picture { .. })), "{result:?}");
    }

    /// The result within a moment.
    pub(crate) fn glance(&mut self) -> Captured {
        let moment = after(Duration::from_millis(40));
        self.capture.next(moment, &mut self.picture).unwrap()
    }

    /// Waits for pictures until no more come.
    pub(crate) fn settle(&mut self) {
        wait_until("rest", || self.glance() == Captured::Nothing);
    }

    /// Checks a colour, which must fill a square of two pixels.
    pub(crate) fn expect(&self, colour: (u32, [u8; 3]), x: usize, y: usize) {
        let seen = [Plane::Y, Plane::U, Plane::V].map(|plane| {
            let step = if plane == Plane::Y { 1 } else { 2 };
            let at = y / step * self.picture.stride(plane) + x / step;
            self.picture.plane(plane)[at]
        });
        let fits = seen
            .iter()
            .zip(colour.1)
            .all(|(seen, expected)| seen.abs_diff(expected) <= 1);
        assert!(
            fits,
            "{seen:?} at {x}, {y} instead of {:?} ({:06x})",
            colour.1, colour.0
        );
    }
}

/// An X server with its own arguments, open to all of this user's programs.
pub(crate) struct OpenServer {
    server: Child,
    pub(crate) display: String,
}

impl OpenServer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        use std::io::{BufRead, BufReader};
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("install Xvfb (apt-get install xvfb): {error}"));
        let mut number = String::new();
        let output = server.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut number).unwrap();
        Self {
            server,
            display: format!(":{}", number.trim()),
        }
    }
}

impl Drop for OpenServer {
    fn drop(&mut self) {
        let process = rustix::process::Pid::from_child(&self.server);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.server.wait().unwrap();
    }
}
