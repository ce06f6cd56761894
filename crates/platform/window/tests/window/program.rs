//! A program with a window: this test's own executable, run again in another process,
//! because SDL takes its display from the environment and is bound to one thread.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mimosa_units::TimeDelta;
use mimosa_video::{Colours, Matrix, Picture, Size, View};
use mimosa_window::{Speaker, Window, WindowConfig, WindowEvent};
use mimosa_x11::PrivateServer;

/// The environment variable that says what kind of window the process opens.
const ROLE: &str = "MIMOSA_WINDOW_TEST";
/// The longest wait, which is reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(30);
/// The beginning of each line that is for the test.
const MARK: &str = "told: ";
/// The beginning of each line that answers a question.
const ANSWER: &str = "answer: ";

/// Runs in the process with the window and does what is written to it; does nothing in the
/// test's own process.
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
    let mut hands = ProgramState::default();
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

/// The objects that the program holds.
#[derive(Default)]
struct ProgramState {
    speaker: Option<Speaker>,
}

impl ProgramState {
    /// Carries out a command, and answers.
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
            ["refreshes"] => {
                let refreshes = match window.refreshes() {
                    Ok(refreshes) => refreshes,
                    Err(error) => return format!("{ANSWER}{error}"),
                };
                mimosa_system::clock::wait(Duration::from_secs(1));
                let times = refreshes.take();
                let span = times[times.len() - 1] - times[0];
                return format!("{ANSWER}{} {}", times.len(), span.as_micros());
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
                // There is one device for all speakers, with the block size of the first.
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

/// Red and green above, blue and white below, in the limited range of a standard.
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

/// The program, as the test sees it.
pub(crate) struct Program {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Program {
    /// Starts the program on a display, with these further environment variables.
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

    /// Starts the program on a server, and waits until its window is open.
    pub(crate) fn open(server: &PrivateServer, role: &str) -> Self {
        let program = Self::spawn(role, environment(server));
        assert_eq!(program.next(), "open");
        program
    }

    /// The next line that the program reports.
    pub(crate) fn next(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        line.unwrap_or_else(|_| panic!("the program with the window tells nothing"))
    }

    /// The lines that the program reports before `last`.
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

    /// Waits until the program reports an event, and returns the lines before it.
    pub(crate) fn until_event(&self, event: &WindowEvent) -> Vec<String> {
        self.until(&format!("{event:?}"))
    }

    /// Makes the program do something; returns the lines before that is done.
    pub(crate) fn order(&mut self, command: &str) -> Vec<String> {
        self.write(command);
        self.until(&format!("done {command}"))
    }

    /// Asks the program something.
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

/// The environment variables by which a program finds a server.
pub(crate) fn environment(server: &PrivateServer) -> [(&'static str, OsString); 2] {
    [
        ("DISPLAY", server.display().into()),
        ("XAUTHORITY", server.authority().into()),
    ]
}
