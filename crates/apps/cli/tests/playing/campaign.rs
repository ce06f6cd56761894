//! `mimosa campaign` over six emulated paths, with hosts and clients as programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::program::Running;
use crate::standstill::unless_still;
use crate::{alone, folder, text};

/// Number of paths: with one block they make six pairs, the fewest from which arms are told apart.
const PATHS: usize = 6;

fn mimosa(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("XDG_STATE_HOME", folder);
    command
}

fn done(folder: &Path, arguments: &[&str]) -> Output {
    mimosa(folder, arguments).output().unwrap()
}

/// Links that end with the test.
struct Links<'a> {
    folder: &'a Path,
    names: Vec<String>,
}

impl<'a> Links<'a> {
    /// `None` without the rights to emulate links, which under CI is a failure.
    fn up(folder: &'a Path) -> Option<Self> {
        let network = "[link]\nrate = \"8Mbit/s\"\none_way_delay = \"10ms\"\n";
        std::fs::write(folder.join("path.toml"), network).unwrap();
        let names = Vec::new();
        let mut links = Self { folder, names };
        for number in 0..PATHS {
            let name = format!("campaign-{}-{number}", std::process::id());
            let up = done(
                folder,
                &["link", "up", &name, "path.toml", "--wait", "sleep"],
            );
            if !up.status.success() {
                let said = text(&up.stderr);
                assert!(std::env::var_os("CI").is_none(), "{said}");
                eprintln!("skipped: {said}");
                return None;
            }
            links.names.push(name);
        }
        Some(links)
    }

    /// The campaign file: two arms, of which one may send little, over all links at once.
    fn campaign(&self) -> String {
        let program = env!("CARGO_BIN_EXE_mimosa");
        let mut file = r#"
title = "Two bounds of the bitrate"
seed = 3
[plan]
blocks = 1
session = "2s"
warm_up = "500ms"
pause = "0s"
paths_at_once = true
record = true
[[arm]]
name = "free"
controller = "mimosa"
[[arm]]
name = "low"
controller = "mimosa"
serve = ["--start-bitrate", "600kbit/s", "--max-bitrate", "600kbit/s"]
"#
        .to_owned();
        for (number, name) in self.names.iter().enumerate() {
            let output = done(
                self.folder,
                &["link", "exec", "sender", "--name", name, "--", "env"],
            );
            let environment = text(&output.stdout);
            let address = environment
                .lines()
                .find_map(|line| line.strip_prefix("MIMOSA_LINK_ADDRESS="));
            let address = address.unwrap_or_else(|| panic!("{output:?}"));
            for side in ["sender", "receiver"] {
                write!(
                    file,
                    "[[machine]]\nname = \"{side}-{number}\"\nmimosa = {program:?}\ncommand = \
                     [{program:?}, \"link\", \"exec\", \"{side}\", \"--name\", {name:?}, \"--\"]\n"
                )
                .unwrap();
            }
            write!(
                file,
                "[[path]]\nname = \"p{number}\"\nhost = \"sender-{number}\"\n\
                 client = \"receiver-{number}\"\naddress = {address:?}\n\
                 serve = [\"--size\", \"320x180\", \"--frames-per-second\", \"30\"]\n"
            )
            .unwrap();
        }
        file
    }
}

impl Drop for Links<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = done(self.folder, &["link", "down", name]);
        }
    }
}

/// The sessions that a data set has, with the times at which their rows were written.
fn kept(folder: &Path) -> BTreeMap<String, SystemTime> {
    let entries = std::fs::read_dir(folder.join("data/sessions"));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let row = std::fs::metadata(entry.path().join("row.json")).ok()?;
            let is_whole = entry.path().extension().is_none();
            is_whole.then(|| (name, row.modified().unwrap()))
        })
        .collect()
}

/// Numbers of the processes whose command line has all of `words`.
fn processes(words: &[&str]) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let is_meant = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = text(&line);
        words.iter().all(|word| line.contains(word))
    };
    entries
        .filter(is_meant)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn soon(mut what: impl FnMut() -> bool) -> bool {
    for _ in 0..1_000 {
        if what() {
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_killed_campaign_goes_on_repeats_nothing_and_tells_a_low_arm_apart() {
    unless_still(killed);
}

fn killed() {
    let _alone = alone();
    let folder = folder("campaign");
    let Some(links) = Links::up(&folder) else {
        return;
    };
    std::fs::write(folder.join("c.toml"), links.campaign()).unwrap();
    let plan = done(&folder, &["campaign", "plan", "c.toml"]);
    assert_eq!(text(&plan.stdout).lines().count(), 13, "{plan:?}");

    let arguments = ["campaign", "run", "c.toml", "--out", "data"];
    let mut driver = mimosa(&folder, &arguments);
    let driver = driver.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut driver = Running(driver.unwrap());
    assert!(soon(|| !kept(&folder).is_empty()), "no session was kept");
    // Sessions of other paths are under way. Nothing that they have started stays.
    driver.0.kill().unwrap();
    driver.0.wait().unwrap();
    let before = kept(&folder);
    assert!((1..12).contains(&before.len()), "{before:?}");
    let program = env!("CARGO_BIN_EXE_mimosa");
    assert!(
        soon(|| processes(&[program, "--config\0/dev/null"]).is_empty()),
        "hosts that nobody drives stay"
    );
    assert!(
        soon(|| processes(&[program, "--token-file"]).is_empty()),
        "clients stay"
    );

    let run = done(&folder, &arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let after = kept(&folder);
    assert_eq!(after.len(), 12, "{after:?}");
    for (id, time) in &before {
        assert_eq!(after.get(id), Some(time), "{id} ran twice");
    }
    let said = text(&run.stderr);
    assert_eq!(said.matches(" done\n").count(), 12 - before.len(), "{said}");

    rows_and_raw_files_are_there(&folder.join("data"));
    let analysis = std::fs::read(folder.join("data/analysis.json")).unwrap();
    let analysis: Vec<Value> = serde_json::from_slice(&analysis).unwrap();
    let of = |metric: &str| {
        let is_meant = |one: &&Value| one["metric"] == metric && one["path"].is_null();
        let mut found = analysis.iter().filter(is_meant);
        found.next().unwrap_or_else(|| panic!("{metric}")).clone()
    };
    let bitrate = of("bitrate_mbps");
    assert_eq!(bitrate["pairs"], 6, "{bitrate}");
    assert_eq!(bitrate["differs"], true, "{bitrate}");
    assert!(bitrate["interval"][1].as_f64().unwrap() < 0.0, "{bitrate}");
    assert!(
        (0.2..0.9).contains(&bitrate["arm_mean"].as_f64().unwrap()),
        "{bitrate}"
    );
    // The link loses nothing of either arm.
    let lost = of("lost_percent");
    assert_eq!(lost["differs"], false, "{lost}");
    let table = text(&run.stdout);
    assert!(
        table.contains("lower") && table.contains("12 of 12 sessions"),
        "{table}"
    );

    // Another campaign is kept out.
    let other = links.campaign().replace("seed = 3", "seed = 4");
    std::fs::write(folder.join("c.toml"), other).unwrap();
    let refused = done(&folder, &arguments);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("another campaign file"), "{said}");
}

fn rows_and_raw_files_are_there(data: &Path) {
    let table = std::fs::read_to_string(data.join("sessions.csv")).unwrap();
    assert_eq!(table.lines().count(), 13, "{table}");
    assert_eq!(table.matches(",done,").count(), 12, "{table}");
    let sheet = std::fs::read_to_string(data.join("DATASHEET.md")).unwrap();
    assert!(
        sheet.contains("Of 12 planned sessions 12 are there, 0 of them failed"),
        "{sheet}"
    );
    assert!(sheet.contains("commit: "), "{sheet}");
    for id in table
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
    {
        let session = data.join("sessions").join(id);
        let row = std::fs::read(session.join("row.json")).unwrap();
        let row: Value = serde_json::from_slice(&row).unwrap();
        let round_trip = row["figures"]["round_trip_p50_ms"].as_f64().unwrap();
        // Twice the link's delay, and no queue of seconds.
        assert!((20.0..500.0).contains(&round_trip), "{row}");
        assert!(
            row["figures"]["pictures_per_s"].as_f64().unwrap() > 5.0,
            "{row}"
        );
        let recording = std::fs::read(session.join("host-1.parquet")).unwrap();
        assert!(
            recording.starts_with(b"PAR1") && recording.ends_with(b"PAR1"),
            "{id}"
        );
    }
}

#[test]
fn what_fails_is_kept_with_its_cause_and_mistakes_are_named() {
    let folder = folder("campaign-fails");
    let program = env!("CARGO_BIN_EXE_mimosa");
    let campaign = format!(
        "title = \"t\"\n[plan]\nblocks = 1\nsession = \"1s\"\npause = \"0s\"\n\
         [[machine]]\nname = \"m\"\nmimosa = {program:?}\n\
         [[path]]\nname = \"p\"\nhost = \"m\"\nclient = \"m\"\naddress = \"127.0.0.1\"\n\
         [[arm]]\nname = \"a\"\ncontroller = \"pudica\"\nserve = [\"--size\", \"none\"]\n"
    );
    let write = |text: &str| std::fs::write(folder.join("c.toml"), text).unwrap();
    write(&campaign);
    let run = done(&folder, &["campaign", "run", "c.toml", "--out", "data"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let row = std::fs::read(folder.join("data/sessions/b1-p-efficiency-a/row.json")).unwrap();
    let row: Value = serde_json::from_slice(&row).unwrap();
    assert_eq!(row["outcome"], "failed");
    let cause = row["cause"].as_str().unwrap();
    assert!(
        cause.starts_with("host 1: ") && cause.contains("16x16"),
        "{cause}"
    );

    for (old, new, message) in [
        (
            "blocks = 1",
            "blocks = 0",
            "c.toml:3: `blocks` is `0`; write 1 to 1000",
        ),
        (
            "\"1s\"",
            "\"1500ms\"",
            "c.toml:4: `session` is `1500ms`; write whole seconds, from `1s` to `24h`",
        ),
        (
            "\"pudica\"",
            "\"best\"",
            "c.toml:16: there is no controller `best`; there is ",
        ),
        (
            "host = \"m\"",
            "host = \"n\"",
            "c.toml:11: there is no machine `n`; there is m",
        ),
        ("pause", "rest", "c.toml:5: unknown field `rest`"),
        (
            "name = \"a\"",
            "name = \"../a\"",
            "c.toml:15: `../a` cannot be a name",
        ),
    ] {
        assert!(campaign.contains(old), "{old}");
        write(&campaign.replacen(old, new, 1));
        let refused = done(&folder, &["campaign", "plan", "c.toml"]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{said}");
    }
    write(&campaign.replace(&format!("{program:?}"), "\"/none/mimosa\""));
    let refused = done(&folder, &["campaign", "run", "c.toml", "--out", "other"]);
    let said = text(&refused.stderr);
    assert!(said.contains("does not run on the machine `m`"), "{said}");
}
