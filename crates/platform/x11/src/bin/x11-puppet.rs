//! A game that follows orders: a window in which something moves, for tests of what games
//! do.
//!
//! `x11-puppet FILE` reads FILE again and again, and carries out its contents whenever they
//! change:
//!
//! | | |
//! | --- | --- |
//! | `size WIDTH HEIGHT` | changes the size of the window |
//! | `screen WIDTH HEIGHT` | changes the size of the screen and of the window |
//! | `hide`, `show` | hides the window, or shows it again |
//! | `close`, `open` | closes the window, or opens another one |
//! | `exit STATUS` | ends the program |
//!
//! The window is red at the pointer, and the rest of it green and blue in turn.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::randr::{ConnectionExt as _, Rotation};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux,
    EventMask, Gcontext, PropMode, Rectangle, Screen, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

const TITLE: &str = "as it is told";
/// The time between pictures.
const INTERVAL: Duration = Duration::from_millis(20);
/// The side of the square at the pointer.
const SIDE: u16 = 32;
const RED: u32 = 0xff_0000;
/// The colours of the window, in turn: so similar that an encoder has little work.
const GROUNDS: [u32; 2] = [0x00_8040, 0x00_4080];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: x11-puppet FILE")?;
    let mut game = Game::start()?;
    let mut told = String::new();
    for picture in 0_usize.. {
        let now = std::fs::read_to_string(&file).unwrap_or_default();
        if now != told && now.ends_with('\n') {
            told = now;
            if let Some(status) = game.obey(told.trim())? {
                return Ok(ExitCode::from(status));
            }
        }
        game.draw(GROUNDS[picture / 25 % GROUNDS.len()])?;
        #[expect(clippy::disallowed_methods, reason = "a game has a clock")]
        std::thread::sleep(INTERVAL);
    }
    Ok(ExitCode::SUCCESS)
}

/// A window and its state.
struct Game {
    connection: RustConnection,
    screen: Screen,
    context: Gcontext,
    window: Option<Window>,
    size: (u16, u16),
    pointer: Option<(i16, i16)>,
}

impl Game {
    /// Opens a window of the screen's size.
    fn start() -> Result<Self, Box<dyn Error>> {
        let (connection, number) = RustConnection::connect(None)?;
        let screen = connection.setup().roots[number].clone();
        let context = connection.generate_id()?;
        connection.create_gc(context, screen.root, &CreateGCAux::new())?;
        let size = (screen.width_in_pixels, screen.height_in_pixels);
        let mut game = Self {
            connection,
            screen,
            context,
            window: None,
            size,
            pointer: None,
        };
        game.open()?;
        Ok(game)
    }

    /// Carries out a command; returns a status if it is the end.
    fn obey(&mut self, command: &str) -> Result<Option<u8>, Box<dyn Error>> {
        let words: Vec<&str> = command.split(' ').collect();
        match (words[..].split_first(), self.window) {
            (Some((&"exit", [status])), _) => return Ok(Some(status.parse()?)),
            (Some((&"size", [width, height])), Some(window)) => {
                self.size = (width.parse()?, height.parse()?);
                self.configure(window)?;
            }
            (Some((&"screen", [width, height])), Some(window)) => {
                self.size = (width.parse()?, height.parse()?);
                self.resize_screen()?;
                self.configure(window)?;
            }
            (Some((&"hide", [])), Some(window)) => {
                self.connection.unmap_window(window)?;
            }
            (Some((&"show", [])), Some(window)) => {
                self.connection.map_window(window)?;
            }
            (Some((&"close", [])), Some(window)) => {
                self.connection.destroy_window(window)?;
                self.window = None;
            }
            (Some((&"open", [])), None) => self.open()?,
            _ => return Err(format!("`{command}` cannot be done").into()),
        }
        self.connection.flush()?;
        Ok(None)
    }

    fn open(&mut self) -> Result<(), Box<dyn Error>> {
        let window = self.connection.generate_id()?;
        let values = CreateWindowAux::new().event_mask(EventMask::POINTER_MOTION);
        self.connection.create_window(
            self.screen.root_depth,
            window,
            self.screen.root,
            0,
            0,
            self.size.0,
            self.size.1,
            0,
            WindowClass::INPUT_OUTPUT,
            self.screen.root_visual,
            &values,
        )?;
        let (property, kind) = (AtomEnum::WM_NAME, AtomEnum::STRING);
        let title = TITLE.as_bytes();
        self.connection
            .change_property8(PropMode::REPLACE, window, property, kind, title)?;
        self.connection.map_window(window)?;
        self.window = Some(window);
        Ok(())
    }

    fn configure(&self, window: Window) -> Result<(), Box<dyn Error>> {
        let (width, height) = (u32::from(self.size.0), u32::from(self.size.1));
        let values = ConfigureWindowAux::new().width(width).height(height);
        self.connection.configure_window(window, &values)?;
        Ok(())
    }

    fn resize_screen(&self) -> Result<(), Box<dyn Error>> {
        let root = self.screen.root;
        let resources = self.connection.randr_get_screen_resources(root)?.reply()?;
        // No window may extend beyond the new size.
        for monitor in resources.crtcs {
            let rotation = Rotation::ROTATE0;
            self.connection
                .randr_set_crtc_config(monitor, 0, 0, 0, 0, 0, rotation, &[])?
                .reply()?;
        }
        let (width, height) = self.size;
        // The screen has 96 dots per inch of 25.4 mm.
        let millimetres = |pixels: u16| u32::from(pixels) * 254 / 960;
        let (wide, high) = (millimetres(width), millimetres(height));
        self.connection
            .randr_set_screen_size(root, width, height, wide, high)?
            .check()?;
        Ok(())
    }

    fn draw(&mut self, ground: u32) -> Result<(), Box<dyn Error>> {
        while let Some(event) = self.connection.poll_for_event()? {
            if let Event::MotionNotify(motion) = event {
                self.pointer = Some((motion.event_x, motion.event_y));
            }
        }
        let Some(window) = self.window else {
            return Ok(());
        };
        let (width, height) = self.size;
        let whole = Rectangle {
            x: 0,
            y: 0,
            width,
            height,
        };
        self.fill(window, ground, whole)?;
        if let Some((x, y)) = self.pointer {
            let half = SIDE.cast_signed() / 2;
            let square = Rectangle {
                x: x - half,
                y: y - half,
                width: SIDE,
                height: SIDE,
            };
            self.fill(window, RED, square)?;
        }
        self.connection.flush()?;
        Ok(())
    }

    fn fill(&self, window: Window, colour: u32, place: Rectangle) -> Result<(), Box<dyn Error>> {
        let values = ChangeGCAux::new().foreground(colour);
        self.connection.change_gc(self.context, &values)?;
        self.connection
            .poly_fill_rectangle(window, self.context, &[place])?;
        Ok(())
    }
}
