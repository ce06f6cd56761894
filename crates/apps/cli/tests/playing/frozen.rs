//! A disk that answers nobody, under a host that records: no stream stops.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Running, mimosa, served_with};
use crate::{alone, folder, place, text};

/// A disk of its own in a file, which can be frozen. It thaws and goes when this is dropped.
struct Disk(PathBuf);

impl Disk {
    /// A disk at `place`; `None` if this user may not mount one, which is said.
    fn mounted(home: &Path, place: &str) -> Option<Self> {
        let uid = Command::new("id").arg("-u").output().unwrap();
        if text(&uid.stdout) != "0\n" {
            println!("skipped: only root can mount a disk");
            return None;
        }
        let (image, place) = (home.join("disk.img"), home.join(place));
        std::fs::create_dir(&place).unwrap();
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(32 << 20).unwrap();
        run(Command::new("mkfs.ext4").arg("-q").arg(&image));
        run(Command::new("mount")
            .args(["-o", "loop"])
            .arg(&image)
            .arg(&place));
        Some(Self(place))
    }

    /// From now on, whoever writes to the disk waits.
    fn freeze(&self) {
        run(Command::new("fsfreeze").arg("-f").arg(&self.0));
    }

    fn thaw(&self) {
        let _ = Command::new("fsfreeze").arg("-u").arg(&self.0).output();
    }

    /// Names of the files on the disk that end so.
    fn files(&self, end: &str) -> usize {
        let names = std::fs::read_dir(&self.0).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().ends_with(end))
            .count()
    }
}

impl Drop for Disk {
    /// Nobody could empty a folder with a frozen disk in it.
    fn drop(&mut self) {
        self.thaw();
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", text(&done.stderr));
}

/// The session of a viewer ends while the disk is frozen, two more come and go, and a player who was there
/// before and after goes on.
#[test]
fn a_frozen_disk_stops_no_stream() {
    let _alone = alone();
    // Of a run that was killed.
    drop(Disk(place("frozen").join("disk")));
    let home = folder("frozen");
    let Some(disk) = Disk::mounted(&home, "disk") else {
        return;
    };
    let (host, url) = served_with(&home, "320x180", &["--record", "disk"]);
    let play = |pictures: &str, more: &[&str]| {
        let mut client = mimosa(&home);
        let flags = ["play", &url, "--headless", "--seconds", "150", "--pictures"];
        client.args(flags).arg(pictures).args(more);
        client
    };
    let player = play("1000000", &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let player = Running(player.unwrap());
    let viewed = |pictures| {
        let done = play(pictures, &["--watch"]).output().unwrap();
        assert!(done.status.success(), "{}", text(&done.stderr));
    };
    viewed("30");
    let before = text(&sessions(&home));
    assert!(before.contains("player"), "{before}");
    disk.freeze();
    for _ in 0..3 {
        viewed("60");
    }
    let during = text(&sessions(&home));
    assert!(during.contains("player"), "{during}");
    disk.thaw();
    drop(player);
    ended(host);
    // Of the player, of the viewer from before, and of the three.
    assert_eq!(disk.files(".parquet"), 5);
}

/// Ends a host as its owner would, so that it writes what it has recorded.
fn ended(mut host: Running) {
    let process = host.0.id().to_string();
    run(Command::new("kill").args(["-TERM", &process]));
    host.0.wait().unwrap();
}

fn sessions(home: &Path) -> Vec<u8> {
    mimosa(home).arg("sessions").output().unwrap().stdout
}
