//! A program with a window: this test's own, run again in a process of its own, for SDL
//! takes its display from the environment and keeps to one thread.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mimosa_units::TimeDelta;
use mimosa_video::{Colours, Matrix, Picture, Size, View};
use mimosa_window::{Speaker, Window, WindowConfig, WindowEvent};
use mimosa_x11::PrivateServer;

/// What the window is to be, in the environment of its process.
const ROLE: &str = "MIMOSA_WINDOW_TEST";
/// So long nothing is waited for unless something is broken.
const PATIENCE: Duration = Duration::from_secs(30);
/// Begins each line that is for the test.
const MARK: &str = "told: ";
/// Begins each of those that answers a question.
const ANSWER: &str = "answer: ";

/// Runs in the process with the window, which does what is written to it; nothing in the
/// test's own.
#[test]
fn a_program_with_a_window() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let mut words = role.split(' ');
    let size: Size = words.next().unwrap().parse().unwrap();
    let mut config = WindowConfig::new("mimosa", size);
    config.locks_pointer = false;
    for word in words {
        match word {
            "locks" => config.locks_pointer = true,
            "shares" => config.shares_clipboard = true,
            other => panic!("{other}"),
        }
    }
    let mut window = match Window::open(&config) {
        Ok(window) => window,
        Err(error) => return tell(&error.to_string()),
    };
    tell("open");
    let waker = window.waker();
    let (sender, commands) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            sender.send(line.unwrap()).unwrap();
            waker.wake();
        }
        // The test has ended.
        std::process::exit(0);
    });
    let mut hands = Hands::default();
    loop {
        for event in window.wait(None) {
            tell(&format!("{event:?}"));
        }
        for command in commands.try_iter() {
            let words: Vec<&str> = command.split(' ').collect();
            tell(&hands.obey(&mut window, &words));
            if command == "end" {
                return;
            }
        }
    }
}

fn tell(what: &str) {
    println!("\n{MARK}{what}");
}

/// What the program holds.
#[derive(Default)]
struct Hands {
    speaker: Option<Speaker>,
}

impl Hands {
    /// Does what it is told to, and answers.
    fn obey(&mut self, window: &mut Window, words: &[&str]) -> String {
        match words {
            ["show", size, standard, overlay @ ..] => {
                let picture = quarters(size.parse().unwrap(), standard);
                let view = picture.view();
                let colours = Colours {
                    matrix: if *standard == "bt601" {
                        Matrix::Bt601
                    } else {
                        Matrix::Bt709
                    },
                    is_full_range: false,
                };
                let view = View::new(view.size(), view.planes(), colours).unwrap();
                let overlay: Vec<String> = overlay.iter().map(|&line| line.to_owned()).collect();
                window.show(&view, &overlay).unwrap();
            }
            ["scene", size, overlay @ ..] => {
                let mut picture = Picture::new(size.parse().unwrap());
                let mut scene = mimosa_scene::Scene::new(picture.size(), 1);
                scene.draw(TimeDelta::from_millis(16), &mut picture);
                let overlay: Vec<String> =
                    overlay.iter().map(|&line| line.replace('_', " ")).collect();
                window.show(&picture.view(), &overlay).unwrap();
            }
            ["lock", on] => window.set_pointer_lock(*on == "on"),
            ["clipboard", text] => window.set_clipboard(text),
            ["state"] => {
                return format!(
                    "{ANSWER}{:?} locked {} played {}",
                    window.pixels(),
                    window.is_pointer_locked(),
                    window.is_played()
                );
            }
            ["second"] => {
                let size = Size::new(64, 64).unwrap();
                let second = Window::open(&WindowConfig::new("second", size));
                return format!("{ANSWER}{}", second.unwrap_err());
            }
            ["sound", seconds, at_once] => {
                // There is one device for all, with the lumps of the first.
                self.speaker = None;
                let mut speaker = Speaker::open(48_000, 2, at_once.parse().unwrap()).unwrap();
                speaker.queue(&crate::sound::tone(seconds.parse().unwrap()));
                self.speaker = Some(speaker);
            }
            ["queued"] => {
                let speaker = self.speaker.as_ref().unwrap();
                return format!("{ANSWER}{}", speaker.queued().as_millis());
            }
            ["lump"] => {
                let speaker = self.speaker.as_ref().unwrap();
                return format!("{ANSWER}{}", speaker.at_once().as_millis());
            }
            ["silence"] => {
                let speaker = self.speaker.as_mut().unwrap();
                return format!("{ANSWER}{}", speaker.take_silence().as_millis());
            }
            ["clear"] => self.speaker.as_mut().unwrap().clear(),
            ["end"] => {}
            other => panic!("{other:?}"),
        }
        format!("done {}", words.join(" "))
    }
}

/// Red and green above, blue and white below, as a standard has them in limited range.
fn quarters(size: Size, standard: &str) -> Picture {
    let colours = match standard {
        "bt601" => [
            [81, 90, 240],
            [145, 54, 34],
            [41, 240, 110],
            [235, 128, 128],
        ],
        _ => [
            crate::desk::RED,
            crate::desk::GREEN,
            crate::desk::BLUE,
            crate::desk::WHITE,
        ]
        .map(|(_, samples)| samples),
    };
    let mut picture = Picture::new(size);
    let (width, height) = (size.width() as usize, size.height() as usize);
    for (plane, samples) in picture.planes_mut().into_iter().enumerate() {
        let (width, height) = match plane {
            0 => (width, height),
            _ => (width / 2, height / 2),
        };
        for (index, sample) in samples.iter_mut().enumerate() {
            let quarter = index / width / (height / 2) * 2 + index % width / (width / 2);
            *sample = colours[quarter][plane];
        }
    }
    picture
}

/// The program, from outside.
pub(crate) struct Program {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Program {
    /// Starts it on a display, with what else its environment has.
    pub(crate) fn spawn(
        role: &str,
        environment: impl IntoIterator<Item = (&'static str, OsString)>,
    ) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "program::a_program_with_a_window", "--nocapture"])
            .env(ROLE, role)
            .env("SDL_VIDEO_DRIVER", "x11")
            .env("SDL_RENDER_DRIVER", "software")
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(told) = line.strip_prefix(MARK) {
                    let _ = sender.send(told.to_owned());
                }
            }
        });
        Self {
            input: child.stdin.take().unwrap(),
            child,
            lines,
        }
    }

    /// Starts it on a server, and waits until its window is open.
    pub(crate) fn open(server: &PrivateServer, role: &str) -> Self {
        let program = Self::spawn(role, environment(server));
        assert_eq!(program.next(), "open");
        program
    }

    /// The next that it tells.
    pub(crate) fn next(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        line.unwrap_or_else(|_| panic!("the program with the window tells nothing"))
    }

    /// What it tells up to `last`, without that.
    pub(crate) fn until(&self, last: &str) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let next = self.next();
            if next == last {
                return told;
            }
            assert!(told.len() < 10_000, "no {last} in {told:?}");
            told.push(next);
        }
    }

    /// Waits until it tells of an event, and gives those before.
    pub(crate) fn until_event(&self, event: &WindowEvent) -> Vec<String> {
        self.until(&format!("{event:?}"))
    }

    /// Has it do something; gives what it tells before that is done.
    pub(crate) fn order(&mut self, command: &str) -> Vec<String> {
        self.write(command);
        self.until(&format!("done {command}"))
    }

    /// Asks it something.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        self.write(question);
        loop {
            if let Some(answer) = self.next().strip_prefix(ANSWER) {
                return answer.to_owned();
            }
        }
    }

    fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a program finds a server.
pub(crate) fn environment(server: &PrivateServer) -> [(&'static str, OsString); 2] {
    [
        ("DISPLAY", server.display().into()),
        ("XAUTHORITY", server.authority().into()),
    ]
}
