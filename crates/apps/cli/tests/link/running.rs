//! `mimosa link run`.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use mimosa_units::TimeDelta;

use crate::{done, folder, link, soon, text, unique, with_network};

const NETWORK: &str = r#"
[link]
rate = "8Mbit/s"
one_way_delay = "20ms"
queue = { kind = "dualpi2" }
[link.reverse]
rate = "4Mbit/s"
one_way_delay = "5ms"
"#;

/// Sends a datagram from an end to the other, which sends it back, and prints what came
/// and how many milliseconds it took.
const ECHO: &str = "import os, socket, sys, time
own, peer = os.environ['MIMOSA_LINK_ADDRESS'], os.environ['MIMOSA_LINK_PEER']
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind((own, 7007))
here.settimeout(5)
if sys.argv[1] == 'serve':
    data, address = here.recvfrom(2000)
    here.sendto(data, address)
else:
    time.sleep(0.5)
    begun = time.monotonic()
    here.sendto(b'x' * 972, (peer, 7007))
    data, _ = here.recvfrom(2000)
    print(len(data), (time.monotonic() - begun) * 1000)
";

#[test]
fn a_command_and_its_peer_talk_across_the_link() {
    let Some(folder) = with_network("talk", NETWORK) else {
        return;
    };
    std::fs::write(folder.join("echo.py"), ECHO).unwrap();
    let output = link(&folder, "run path.toml --log log.parquet --peer")
        .arg("python3 echo.py serve")
        .args(["--", "python3", "echo.py", "ask"])
        .output()
        .unwrap();
    let (said, printed) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{said}");
    let mut words = printed.split_whitespace();
    assert_eq!(words.next(), Some("972"));
    // Propagation, and a packet of 1000 bytes at 4 and at 8 Mbit/s.
    let millis: f64 = words.next().unwrap().parse().unwrap();
    assert!(millis >= 28.0, "{millis}");
    assert!(said.contains("classic"), "{said}");
    // The log, which is called so once it is whole.
    assert!(!folder.join("log.parquet.part").exists());
    let log = std::fs::File::open(folder.join("log.parquet")).unwrap();
    let recording = mimosa_record::read_link(log).unwrap();
    let ours: Vec<_> = recording
        .packets
        .iter()
        .filter(|packet| packet.packet.header.destination_port == 7_007)
        .map(|packet| (packet.packet.is_forward, packet.size.get()))
        .collect();
    assert_eq!(ours, [(false, 1_000), (true, 1_000)]);
}

/// What a medium serves takes its airtime, in both directions, whatever the machine does.
#[test]
fn a_medium_serves_both_directions() {
    let wifi = "[link]\none_way_delay = \"5ms\"\nmedium = { kind = \"wifi\", standard = \"n\" }\n";
    let Some(folder) = with_network("air", wifi) else {
        return;
    };
    std::fs::write(folder.join("echo.py"), ECHO).unwrap();
    let output = link(&folder, "run path.toml --log log.parquet --peer")
        .arg("python3 echo.py serve")
        .args(["--", "python3", "echo.py", "ask"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = std::fs::File::open(folder.join("log.parquet")).unwrap();
    let recording = mimosa_record::read_link(log).unwrap();
    let ours = recording
        .packets
        .iter()
        .filter(|packet| packet.packet.header.destination_port == 7_007);
    let took: Vec<_> = ours
        .map(|packet| {
            let (started, finished) = packet.started.zip(packet.finished).unwrap();
            (packet.packet.is_forward, finished.since(started))
        })
        .collect();
    // 1044 bytes at 144.4 Mbit/s are 17 symbols of 3.6 us, after 46 us.
    let airtime = TimeDelta::from_nanos(46_000 + 17 * 3_600);
    assert_eq!(took, [(false, airtime), (true, airtime)]);
    let name = unique("air");
    assert!(
        done(&folder, &format!("up {name} path.toml"))
            .status
            .success()
    );
    let set = done(&folder, &format!("set {name} --rate 1Mbit/s"));
    let delayed = done(&folder, &format!("set {name} --delay 9ms"));
    done(&folder, &format!("down {name}"));
    let said = text(&set.stderr);
    assert_eq!(set.status.code(), Some(2), "{said}");
    assert!(
        said.contains("a medium serves this link, which has no rate"),
        "{said}"
    );
    assert!(delayed.status.success(), "{}", text(&delayed.stderr));
}

#[test]
fn without_rights_both_ends_are_in_a_user_namespace() {
    let Some(folder) = with_network("user", NETWORK) else {
        return;
    };
    std::fs::write(folder.join("echo.py"), ECHO).unwrap();
    // The same user without a single right; what such a user owns it may still open.
    let mut command = Command::new("setpriv");
    command
        .args(["--inh-caps=-all", "--bounding-set=-all", "--"])
        .arg(env!("CARGO_BIN_EXE_mimosa"))
        .args(["link", "run", "path.toml"])
        .current_dir(&folder);
    let output = command
        .args(["--peer", "python3 echo.py serve", "--"])
        .args(["python3", "echo.py", "ask"])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    if said.starts_with("error: cannot make a network namespace") {
        // So this kernel has it; the message has the remedy.
        assert!(said.contains("user.max_user_namespaces"), "{said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(text(&output.stdout).starts_with("972 "), "{said}");
}

#[test]
fn the_commands_end_is_its_own() {
    let Some(folder) = with_network("end", NETWORK) else {
        return;
    };
    let code = |words: &[&str]| {
        let mut command = link(&folder, "run path.toml --isolated --");
        command.args(words).output().unwrap().status.code()
    };
    assert_eq!(code(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["sh", "-c", "kill -TERM $$"]), Some(143));
    let output = done(&folder, "run path.toml --isolated -- no-such-program");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: cannot start `no-such-program`: "),
        "{said}"
    );
}

/// Whether a process with this argument is running.
fn is_running(argument: &str) -> bool {
    let output = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    let list = text(&output.stdout);
    // Not `ps`, the shell or `mimosa` that has it among its own.
    list.lines().any(|line| line == format!("sleep {argument}"))
}

/// A program that ignores hang-ups, as `nohup` makes it, ends all the same.
#[test]
fn nothing_is_left_when_it_is_killed_where_hang_ups_are_ignored() {
    let Some(folder) = with_network("nohup", NETWORK) else {
        return;
    };
    let long = format!("{}", 300_000 + std::process::id());
    let run = link(
        &folder,
        &format!("run path.toml --isolated -- sleep {long}"),
    );
    let words: Vec<_> = std::iter::once(run.get_program())
        .chain(run.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut child = Command::new("sh")
        .current_dir(&folder)
        .args(["-c", &format!("trap '' HUP; exec {}", words.join(" "))])
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    assert!(soon(|| is_running(&long)));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(soon(|| !is_running(&long)));
}

#[test]
fn nothing_is_left_when_it_is_killed() {
    let Some(folder) = with_network("kill", NETWORK) else {
        return;
    };
    let name = unique("killed");
    // So long that no other test sleeps as long.
    let long = format!("{}", 100_000 + std::process::id());
    let mut child = link(
        &folder,
        &format!("run path.toml --name {name} -- sleep {long}"),
    )
    .stderr(Stdio::null())
    .process_group(0)
    .spawn()
    .unwrap();
    assert!(soon(|| is_running(&long)));
    let names = || text(&done(&folder, "status --json").stdout);
    assert!(soon(|| names().contains(&name)));
    child.kill().unwrap();
    child.wait().unwrap();
    // The command hears of it; with it goes the namespace, which has no name.
    assert!(soon(|| !is_running(&long)));
    assert!(!names().contains(&name));
    // Its name is free.
    let again = done(
        &folder,
        &format!("run path.toml --name {name} --isolated -- true"),
    );
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn mistakes_are_named_with_their_mend() {
    let folder = folder("mistakes");
    std::fs::write(
        folder.join("two.toml"),
        "[link]\nrate = '1Mbit/s'\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n",
    )
    .unwrap();
    std::fs::write(folder.join("bad.toml"), "[link]\nrate = '1'\n").unwrap();
    for (arguments, message) in [
        ("run none.toml -- true", "error: cannot read none.toml: "),
        (
            "run bad.toml -- true",
            "error: bad.toml:2: `1` has no unit; write the rate as e.g. \"20Mbit/s\"",
        ),
        (
            "run two.toml -- true",
            "error: two.toml has the variants a, b; choose one with --variant",
        ),
        (
            "run two.toml --variant c -- true",
            "error: two.toml has no variant `c`; there is a, b",
        ),
        (
            "run two.toml --variant a --name 1/2 --isolated -- true",
            "error: `1/2` cannot be a link's name; write 1 to 40 letters",
        ),
        (
            "down no-such-link-here",
            "error: there is no link `no-such-link-here`; ",
        ),
        (
            "set x",
            "error: the following required arguments were not provided:",
        ),
        (
            "set x --loss 2",
            "error: invalid value '2' for '--loss <LOSS>': a share is between 0 and 1",
        ),
    ] {
        let output = done(&folder, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.starts_with(message), "{arguments}: {said}");
    }
}

#[test]
fn outputs_are_there_before_the_command_runs_and_gone_when_it_does_not() {
    let Some(folder) = with_network("outputs", NETWORK) else {
        return;
    };
    let run = |options: &str| done(&folder, &format!("run path.toml --isolated {options}"));
    for option in ["--log", "--summary"] {
        let refused = run(&format!("{option} none/out -- touch ran"));
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: cannot write none/out: "), "{said}");
        assert!(!folder.join("ran").exists(), "{option}");
    }
    let missing = run("--log log --summary summary -- no-such-program");
    assert_eq!(missing.status.code(), Some(2));
    let mut left = std::fs::read_dir(&folder).unwrap().map(Result::unwrap);
    assert_eq!(left.next().unwrap().file_name(), "path.toml");
    assert!(left.next().is_none(), "nothing of the log is left");
    let full = run("--summary /dev/full -- true");
    assert_eq!(full.status.code(), Some(2));
    assert!(text(&full.stderr).contains("error: cannot write /dev/full: "));
}

#[test]
fn a_command_has_only_the_files_that_it_was_given() {
    let Some(folder) = with_network("files", NETWORK) else {
        return;
    };
    // Those that the test itself was given, and the folder that is listed.
    let given = Command::new("ls").arg("/proc/self/fd").output().unwrap();
    let output = done(
        &folder,
        "run path.toml --isolated --log log -- ls /proc/self/fd",
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), text(&given.stdout));
}

#[test]
fn a_command_runs_as_the_user_that_is_named() {
    let Some(folder) = with_network("as-user", NETWORK) else {
        return;
    };
    let nobody = done(
        &folder,
        "run path.toml --isolated --user no-such-user -- true",
    );
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).starts_with("error: there is no user `no-such-user`"));
    if text(&Command::new("id").arg("-u").output().unwrap().stdout) != "0\n" {
        eprintln!("skipped: only root may run a command as another user");
        return;
    }
    let script = "id -u; id -g; echo $USER $HOME; grep -E 'CapEff|CapPrm' /proc/self/status";
    let output = link(&folder, "run path.toml --isolated --user nobody --peer")
        .args(["id -u > peer", "--", "sh", "-c", script])
        .output()
        .unwrap();
    let printed = text(&output.stdout);
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("65534"), "{}", text(&output.stderr));
    assert_eq!(lines.next(), Some("65534"));
    assert!(lines.next().unwrap().starts_with("nobody /"), "{printed}");
    let rights: Vec<_> = lines
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(rights, ["0000000000000000"; 2], "{printed}");
}
