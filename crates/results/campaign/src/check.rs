//! Reads campaign files, and checks everything in them.

use std::collections::BTreeSet;
use std::ops::Range;

use mimosa_units::{Rate, TimeDelta, Where, shortened};
use toml::Spanned;

use crate::error::{CampaignError, Problem};
use crate::file::{
    Arm, Campaign, Kind, Path, RawArm, RawFile, RawKind, RawMachine, RawPath, RawPlan, RawTest,
    Test,
};
use crate::reach::{Machine, Reach};

/// Longest name, in characters: names are parts of the names of files, of which the system takes
/// 255 (`NAME_MAX`), and a session's has three.
const LONGEST_NAME: usize = 40;
/// Most blocks, machines, paths, arms and tests: far more than anybody has time for.
const MOST: usize = 1_000;
/// Longest session and pause: a day.
const LONGEST: TimeDelta = TimeDelta::from_millis(24 * 3_600 * 1_000);
/// Most streams of a session: what a few people share at home, and more.
const MOST_STREAMS: u32 = 8;
/// Last port that may be the first of a path's: each of the eight streams has a host with two.
const LAST_PORT: u16 = u16::MAX - 16;
/// The port that iperf3 uses when it is told none.
const IPERF3_PORT: u16 = 5201;
const SECOND: TimeDelta = TimeDelta::from_millis(1_000);

type Read<T> = Result<T, CampaignError>;

impl Campaign {
    /// Reads the campaign `text` in the file called `file`.
    ///
    /// # Errors
    ///
    /// [`CampaignError`] with the place of the first mistake.
    pub fn parse(text: &str, file: &str) -> Read<Self> {
        let reader = Reader { text, file };
        let raw: RawFile = toml::from_str(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let line = reader.line(&at);
            let message = error.message().trim_end();
            let message = if line.is_empty() {
                message.to_owned()
            } else {
                format!("{message}; the line is `{}`", shortened(line))
            };
            reader.error(&at, Problem::Toml(message))
        })?;
        reader.campaign(raw)
    }
}

/// A reader of a campaign file, for the places of mistakes.
struct Reader<'a> {
    text: &'a str,
    file: &'a str,
}

impl Reader<'_> {
    fn error(&self, at: &Range<usize>, problem: Problem) -> CampaignError {
        CampaignError {
            place: Where::in_text(self.file, self.text, at.start),
            problem,
        }
    }

    /// The line that has the byte where `at` begins.
    fn line(&self, at: &Range<usize>) -> &str {
        let (before, after) = self
            .text
            .split_at_checked(at.start)
            .unwrap_or((self.text, ""));
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let end = after
            .find('\n')
            .map_or(self.text.len(), |end| at.start + end);
        self.text.get(begin..end).unwrap_or_default().trim()
    }

    fn campaign(&self, raw: RawFile) -> Read<Campaign> {
        for (what, count) in [
            ("machine", raw.machine.len()),
            ("path", raw.path.len()),
            ("arm", raw.arm.len()),
        ] {
            if count == 0 {
                return Err(self.error(&(0..0), Problem::None(what)));
            }
        }
        self.names("machine", raw.machine.iter().map(|one| &one.name))?;
        self.names("path", raw.path.iter().map(|one| &one.name))?;
        self.names("arm", raw.arm.iter().map(|one| &one.name))?;
        self.names("test", raw.test.iter().map(|one| &one.name))?;
        let machines: Vec<Machine> = collect(raw.machine, |one| self.machine(one))?;
        let arms: Vec<Arm> = collect(raw.arm, |one| self.arm(one))?;
        let paths = collect(raw.path, |one| self.path(one, &machines))?;
        let plan = raw.plan;
        let (session, warm_up, pause) = self.times(&plan)?;
        let mut tests = collect(raw.test, |one| self.test(&one, &arms, session - warm_up))?;
        if tests.is_empty() {
            tests.push(Test {
                name: "efficiency".to_owned(),
                kind: Kind::Efficiency,
            });
        }
        let blocks = *plan.blocks.as_ref();
        if blocks == 0 || blocks as usize > MOST {
            return Err(self.bounds(&plan.blocks, "blocks", "1 to 1000"));
        }
        let names = arms.iter().map(|arm| arm.name.as_str());
        let baseline = plan.baseline.as_ref();
        let baseline = baseline.map_or(Ok(0), |name| self.find("arm", name, names))?;
        Ok(Campaign {
            title: raw.title,
            seed: raw.seed,
            order: plan.order,
            blocks,
            session,
            warm_up,
            pause,
            paths_at_once: plan.paths_at_once,
            record: plan.record,
            baseline,
            machines,
            paths,
            arms,
            tests,
        })
    }

    /// Length of a session, of its warm-up, and of the pause after it.
    fn times(&self, plan: &RawPlan) -> Read<(TimeDelta, TimeDelta, TimeDelta)> {
        let session = *plan.session.as_ref();
        if session < SECOND || session > LONGEST || session.as_nanos() % SECOND.as_nanos() != 0 {
            return Err(self.bounds(
                &plan.session,
                "session",
                "whole seconds, from `1s` to `24h`",
            ));
        }
        let warm_up = plan.warm_up.as_ref();
        if let Some(warm_up) = warm_up.filter(|warm_up| *warm_up.as_ref() >= session) {
            return Err(self.bounds(warm_up, "warm_up", "less than the session's length"));
        }
        let pause = plan.pause.as_ref();
        if let Some(pause) = pause.filter(|pause| *pause.as_ref() > LONGEST) {
            return Err(self.bounds(pause, "pause", "at most `24h`"));
        }
        // A quarter and a second are our choices: a controller looks for the rate first, and a
        // queue empties in between.
        let warm_up = warm_up.map_or(session / 4, |warm_up| *warm_up.as_ref());
        Ok((
            session,
            warm_up,
            pause.map_or(SECOND, |pause| *pause.as_ref()),
        ))
    }

    fn machine(&self, raw: RawMachine) -> Read<Machine> {
        let name = raw.name.into_inner();
        let ways = [
            raw.ssh.as_ref().map(Spanned::span),
            raw.netns.as_ref().map(Spanned::span),
            raw.command.as_ref().map(Spanned::span),
        ];
        let ways: Vec<_> = ways.into_iter().flatten().collect();
        if let [_, second, ..] = &ways[..] {
            return Err(self.error(second, Problem::SeveralWays(name)));
        }
        if let Some(options) = raw.options.as_ref().filter(|_| raw.ssh.is_none()) {
            let (key, when) = ("options", "without `ssh`");
            return Err(self.error(&options.span(), Problem::Meaningless { key, when }));
        }
        let options = raw.options.map(Spanned::into_inner).unwrap_or_default();
        let reach = if let Some(ssh) = raw.ssh {
            if ssh.as_ref().is_empty() || ssh.as_ref().starts_with('-') {
                return Err(self.bounds(&ssh, "ssh", "a destination, e.g. `me@far.example`"));
            }
            Reach::Ssh {
                destination: ssh.into_inner(),
                options,
            }
        } else if let Some(netns) = raw.netns {
            if netns.as_ref().is_empty() || netns.as_ref().starts_with('-') {
                return Err(self.bounds(&netns, "netns", "a name that `ip netns` shows"));
            }
            let words = ["ip", "netns", "exec", netns.as_ref()];
            Reach::Prefix(words.map(str::to_owned).to_vec())
        } else if let Some(command) = raw.command {
            if command.as_ref().first().is_none_or(String::is_empty) {
                let expected = "a list of words, e.g. `[\"ip\", \"netns\", \"exec\", \"far\"]`";
                let (key, found) = ("command", "empty".to_owned());
                let problem = Problem::Bounds {
                    key,
                    found,
                    expected,
                };
                return Err(self.error(&command.span(), problem));
            }
            Reach::Prefix(command.into_inner())
        } else {
            Reach::Here
        };
        let mimosa = raw.mimosa.unwrap_or_else(|| "mimosa".to_owned());
        Ok(Machine {
            name,
            reach,
            mimosa,
        })
    }

    fn path(&self, raw: RawPath, machines: &[Machine]) -> Read<Path> {
        let names = || machines.iter().map(|machine| machine.name.as_str());
        let host = self.find("machine", &raw.host, names())?;
        let client = self.find("machine", &raw.client, names())?;
        let address = raw.address.as_ref();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:-_%".contains(c);
        if address.is_empty() || !address.chars().all(is_plain) {
            let expected = "an address or a name without a port, e.g. `192.0.2.7`";
            return Err(self.bounds(&raw.address, "address", expected));
        }
        let every = if address.contains(':') {
            "::"
        } else {
            "0.0.0.0"
        };
        let port = raw.port.as_ref();
        if let Some(port) = port.filter(|port| !(1..=LAST_PORT).contains(port.as_ref())) {
            let expected = "1 to 65519, or leave it out for free ports";
            return Err(self.bounds(port, "port", expected));
        }
        let capacity = raw.capacity.as_ref();
        if let Some(rate) = capacity.filter(|rate| *rate.as_ref() == Rate::ZERO) {
            return Err(self.bounds(rate, "capacity", "a rate above zero, e.g. `20Mbit/s`"));
        }
        Ok(Path {
            host,
            client,
            bind: raw.bind.unwrap_or_else(|| every.to_owned()),
            port: port.map(|port| *port.as_ref()),
            tcp_port: raw.tcp_port.unwrap_or(IPERF3_PORT),
            capacity: capacity.map(|rate| *rate.as_ref()),
            address: raw.address.into_inner(),
            name: raw.name.into_inner(),
            serve: raw.serve,
        })
    }

    fn arm(&self, raw: RawArm) -> Read<Arm> {
        let controller = raw.controller.as_ref().as_str();
        // One from outside the program, as in `wasm:FILE`, is for the host to find.
        if !controller.contains(':') {
            self.find(
                "controller",
                &raw.controller,
                mimosa_cc::NAMES.iter().copied(),
            )?;
        }
        Ok(Arm {
            name: raw.name.into_inner(),
            controller: raw.controller.into_inner(),
            serve: raw.serve,
        })
    }

    fn test(&self, raw: &RawTest, arms: &[Arm], room: TimeDelta) -> Read<Test> {
        let name = raw.name.as_ref().clone();
        if raw.kind == RawKind::Efficiency {
            for (key, span) in [
                ("streams", raw.streams.as_ref().map(Spanned::span)),
                ("beside", raw.beside.as_ref().map(Spanned::span)),
                ("stagger", raw.stagger.as_ref().map(Spanned::span)),
                ("tcp", raw.tcp.as_ref().map(Spanned::span)),
            ] {
                if let Some(span) = span {
                    let when = "in a test of efficiency, which has one stream alone";
                    return Err(self.error(&span, Problem::Meaningless { key, when }));
                }
            }
            let kind = Kind::Efficiency;
            return Ok(Test { name, kind });
        }
        let tcp = raw.tcp.as_ref().is_some_and(|tcp| *tcp.as_ref());
        let least = if tcp { 1 } else { 2 };
        let streams = raw.streams.as_ref().map_or(least, |count| *count.as_ref());
        if let Some(count) = raw.streams.as_ref()
            && !(least..=MOST_STREAMS).contains(&streams)
        {
            let expected = "2 to 8, or 1 with `tcp = true`";
            return Err(self.bounds(count, "streams", expected));
        }
        let names = arms.iter().map(|arm| arm.name.as_str());
        let beside = raw.beside.as_ref();
        let beside = beside
            .map(|name| self.find("arm", name, names))
            .transpose()?;
        let stagger = raw.stagger.as_ref();
        if let Some(stagger) = stagger {
            let time = *stagger.as_ref();
            let is_whole = time.as_nanos() % SECOND.as_nanos() == 0;
            if !is_whole || time > LONGEST || time * (streams - 1) >= room {
                let expected = "whole seconds, so that the last stream outlasts its warm-up";
                return Err(self.bounds(stagger, "stagger", expected));
            }
        }
        Ok(Test {
            name,
            kind: Kind::Fairness {
                streams,
                beside,
                stagger: stagger.map_or(TimeDelta::ZERO, |time| *time.as_ref()),
                tcp,
            },
        })
    }

    /// Checks that the names of one kind of thing are names, and differ.
    fn names<'a>(
        &self,
        what: &'static str,
        names: impl Iterator<Item = &'a Spanned<String>>,
    ) -> Read<()> {
        let mut known = BTreeSet::new();
        for spanned in names {
            let name = spanned.as_ref();
            let fail = |problem| Err(self.error(&spanned.span(), problem));
            let is_letter = |c: char| c.is_ascii_alphanumeric();
            let is_name = name.starts_with(is_letter)
                && name.len() <= LONGEST_NAME
                && name.chars().all(|c| is_letter(c) || c == '-' || c == '_');
            if !is_name {
                return fail(Problem::BadName(shortened(name)));
            }
            if !known.insert(name) {
                let name = name.clone();
                return fail(Problem::Twice { what, name });
            }
            if known.len() > MOST {
                let (key, found) = (what, "there more than 1000 times".to_owned());
                let expected = "fewer";
                return fail(Problem::Bounds {
                    key,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// The place of `name` among `known`.
    fn find<'a>(
        &self,
        what: &'static str,
        name: &Spanned<String>,
        mut known: impl Iterator<Item = &'a str> + Clone,
    ) -> Read<usize> {
        let all: Vec<_> = known.clone().collect();
        known.position(|one| one == name.as_ref()).ok_or_else(|| {
            let problem = Problem::Unknown {
                what,
                name: shortened(name.as_ref()),
                known: all.join(", "),
            };
            self.error(&name.span(), problem)
        })
    }

    fn bounds<T: std::fmt::Display>(
        &self,
        value: &Spanned<T>,
        key: &'static str,
        expected: &'static str,
    ) -> CampaignError {
        let found = format!("`{}`", shortened(&value.as_ref().to_string()));
        let problem = Problem::Bounds {
            key,
            found,
            expected,
        };
        self.error(&value.span(), problem)
    }
}

fn collect<A, B>(all: Vec<A>, one: impl FnMut(A) -> Read<B>) -> Read<Vec<B>> {
    all.into_iter().map(one).collect()
}
