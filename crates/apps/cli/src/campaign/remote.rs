//! Commands on the machines of a campaign. Each runs under a guard, a script for the shell there,
//! that ends it when the driver is gone.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use mimosa_campaign::Machine;
use mimosa_units::one_line;

/// The script; what it is told is in its arguments, and none of that is secret.
const GUARD: &str = include_str!("guard.sh");
/// Most bytes that a command may write: a recording of a day has fewer.
const MOST: usize = 1 << 28;
/// Most bytes that are kept of a command's complaints.
const MOST_SAID: usize = 1 << 20;
/// Time for a command to end, and its guard after it: the guard kills after two seconds.
const GRACE: Duration = Duration::from_secs(4);
/// Longest cause of a failure, in characters.
const LONGEST: usize = 500;

/// What the guard adds to a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mode {
    Plain,
    /// A client, with the token in a file.
    Client,
    /// A host, with a folder for its recording.
    Record,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Client => "client",
            Self::Record => "record",
        }
    }
}

/// A command on a machine. It is ended when it is dropped.
pub(super) struct Remote {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
    written: Vec<u8>,
    said: Vec<u8>,
}

impl Remote {
    /// Starts the command `words` on a machine, for at most `limit`. The `secret` goes to its guard's
    /// standard input.
    pub(super) fn start(
        machine: &Machine,
        mode: Mode,
        limit: Duration,
        words: &[String],
        secret: Option<&str>,
    ) -> Result<Self, String> {
        let limit = limit.as_secs().to_string();
        let guard = ["sh", "-c", GUARD, "guard", mode.name(), &limit];
        let all: Vec<String> = guard.iter().map(|word| (*word).to_owned()).collect();
        let all = machine.command(&[&all, words].concat());
        let mut words = all.iter();
        let program = words.next().cloned().unwrap_or_default();
        let mut child = Command::new(&program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start `{program}`: {error}"))?;
        let mut stdin = child.stdin.take();
        let out = child.stdout.take().map(chunks);
        let err = child.stderr.take().map(chunks);
        let (Some(out), Some(err)) = (out, err) else {
            return Err("the command has no output".to_owned());
        };
        if let (Some(secret), Some(stdin)) = (secret, &mut stdin) {
            // If the guard is gone already, its end says why.
            let _ = stdin.write_all(format!("{secret}\n").as_bytes());
        }
        Ok(Self {
            child,
            stdin,
            out,
            err,
            written: Vec::new(),
            said: Vec::new(),
        })
    }

    /// Waits until the command's output has what `find` looks for.
    pub(super) fn until<T>(
        &mut self,
        deadline: Instant,
        find: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, String> {
        loop {
            if let Some(found) = find(&self.written) {
                return Ok(found);
            }
            if !self.reads(deadline)? {
                return Err(format!("it ended: {}", self.last_words()));
            }
        }
    }

    /// Waits until the command has ended, which it has to do by itself and well.
    pub(super) fn ended(&mut self, deadline: Instant) -> Result<(), String> {
        while self.reads(deadline)? {}
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() {
            return Ok(());
        }
        Err(format!("{status}: {}", self.last_words()))
    }

    /// Ends the command, and waits until it has ended and its output is there.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.stdin = None;
        let deadline = super::session::now() + GRACE;
        while self.reads(deadline)? {}
        Ok(())
    }

    /// What the command wrote on standard output so far.
    pub(super) fn written(&self) -> &[u8] {
        &self.written
    }

    /// What the command wrote on standard error so far.
    pub(super) fn said(&mut self) -> String {
        while let Ok(chunk) = self.err.try_recv() {
            let room = MOST_SAID.saturating_sub(self.said.len());
            self.said.extend(chunk.iter().take(room));
        }
        String::from_utf8_lossy(&self.said).into_owned()
    }

    fn last_words(&mut self) -> String {
        let said = self.said();
        let mut lines = said.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        one_line(last.unwrap_or("it says nothing about it"), LONGEST)
    }

    /// Reads more output. `false` after its end.
    fn reads(&mut self, deadline: Instant) -> Result<bool, String> {
        let left = deadline.saturating_duration_since(super::session::now());
        match self.out.recv_timeout(left) {
            Ok(chunk) => {
                self.written.extend(chunk);
                if self.written.len() > MOST {
                    return Err(format!("it wrote more than {MOST} bytes"));
                }
                // A full channel would hold up the command.
                self.said();
                Ok(true)
            }
            Err(RecvTimeoutError::Disconnected) => Ok(false),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("it took too long: {}", self.last_words()))
            }
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.stdin = None;
        let deadline = super::session::now() + GRACE;
        while super::session::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        // Its guard's watcher ends the command nevertheless, since standard input has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes of a pipe, read in a thread that ends with the pipe or its reader.
fn chunks(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    // 64 chunks of 64 KiB: what waits for the driver is bounded.
    let (sender, receiver) = sync_channel(64);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use mimosa_campaign::Reach;

    use super::*;

    fn here() -> Machine {
        Machine {
            name: "here".to_owned(),
            reach: Reach::Here,
            mimosa: "mimosa".to_owned(),
        }
    }

    fn shell(text: &str) -> Vec<String> {
        ["sh", "-c", text, "sh"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_shell_behind_ssh_gets_the_words_as_they_are() {
        let reach = Reach::Ssh {
            destination: "nobody".to_owned(),
            options: Vec::new(),
        };
        let machine = Machine { reach, ..here() };
        let words = ["printf", "%s|", "a b", "it's", "$HOME `id` \"\\\n"].map(str::to_owned);
        let command = machine.command(&words);
        let output = Command::new("sh").arg("-c").args(command.last()).output();
        let printed = String::from_utf8(output.unwrap().stdout).unwrap();
        assert_eq!(printed, "a b|it's|$HOME `id` \"\\\n|");
    }

    #[test]
    fn a_secret_is_in_a_file_that_goes_and_in_no_argument() {
        let text = "test $1 = --token-file && cat $2 && stat -c ' %a' $2 && echo $2";
        let limit = Duration::from_secs(20);
        let mut remote =
            Remote::start(&here(), Mode::Client, limit, &shell(text), Some("s3cret")).unwrap();
        remote.ended(super::super::session::now() + limit).unwrap();
        let written = String::from_utf8(remote.written().to_vec()).unwrap();
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines[0], "s3cret 600", "{written}");
        assert!(lines[1].starts_with('/'), "{written}");
        assert!(!std::path::Path::new(lines[1]).exists(), "{written}");
    }

    #[test]
    fn what_fails_says_its_last_words() {
        let limit = Duration::from_secs(20);
        let words = shell("echo one >&2; echo two >&2; exit 3");
        let mut remote = Remote::start(&here(), Mode::Plain, limit, &words, None).unwrap();
        let error = remote
            .ended(super::super::session::now() + limit)
            .unwrap_err();
        assert_eq!(error, "exit status: 3: two");
    }

    #[test]
    fn a_command_ends_when_nobody_drives_it() {
        let limit = Duration::from_mins(1);
        // It ignores the signal that asks it to end.
        let words = shell("trap '' TERM; echo $$; while :; do sleep 0.1; done");
        let mut remote = Remote::start(&here(), Mode::Plain, limit, &words, None).unwrap();
        let deadline = super::super::session::now() + limit;
        let number = remote
            .until(deadline, |written| {
                let text = String::from_utf8_lossy(written);
                text.strip_suffix('\n').map(str::to_owned)
            })
            .unwrap();
        let process = std::path::Path::new("/proc").join(number);
        assert!(process.exists());
        drop(remote);
        let is_gone = (0..250).any(|_| {
            std::thread::park_timeout(Duration::from_millis(20));
            !process.exists()
        });
        assert!(is_gone, "{}", process.display());
    }
}
