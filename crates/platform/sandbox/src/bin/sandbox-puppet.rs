//! A decoder's process that does what it is told, for tests.
//!
//! | | |
//! | --- | --- |
//! | `decoder-process THREADS` | decodes, as the program does |
//! | `call NUMBER ARGUMENTS` | makes a system call once it is confined |
//! | `attempt WHAT` | attempts something by the standard library once it is confined |
//! | `old-kernel THREADS` | decodes as if the kernel had no filters of system calls |
//! | `lie HOW THREADS` | is asked for pictures, and answers as no decoder does |
//!
//! A call that returns makes the exit code its error, and 0 without one. An attempt that succeeds makes it 0,
//! and one that is refused 1.

#![allow(clippy::unwrap_used, reason = "it runs in tests alone")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write, stdin};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use mimosa_facts::Codec;
use mimosa_sandbox::{Answer, confine, serve};
use mimosa_video::{Colours, Size};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, rest) = arguments.split_first().unwrap();
    match (what.as_str(), rest) {
        ("decoder-process", [threads]) => serve(threads.parse().unwrap()),
        ("call", numbers) => {
            let numbers: Vec<_> = numbers.iter().map(|text| text.parse().unwrap()).collect();
            return call(&numbers);
        }
        ("attempt", [what]) => return attempt(what),
        ("old-kernel", [threads]) => old_kernel(threads),
        ("lie", [how, _]) => lie(how),
        other => panic!("{other:?}"),
    }
    ExitCode::SUCCESS
}

/// Makes a system call by its number, with up to six arguments. `-1` stands for the process's own number.
#[expect(unsafe_code, reason = "any system call")]
fn call(numbers: &[i64]) -> ExitCode {
    let own = i64::from(std::process::id());
    let mut words = [0; 7];
    for (word, number) in words.iter_mut().zip(numbers) {
        *word = if *number == -1 { own } else { *number };
    }
    confine().unwrap();
    // SAFETY: the filter ends the process, except for calls that the tests choose, which touch no memory of
    // Rust's: their addresses are null, or the numbers of nothing.
    let result = unsafe {
        libc::syscall(
            words[0], words[1], words[2], words[3], words[4], words[5], words[6],
        )
    };
    if result >= 0 {
        return ExitCode::SUCCESS;
    }
    let error = std::io::Error::last_os_error().raw_os_error().unwrap();
    ExitCode::from(u8::try_from(error).unwrap())
}

fn attempt(what: &str) -> ExitCode {
    confine().unwrap();
    let is_done = match what {
        "open" => File::open("/etc/passwd").is_ok(),
        "create" => File::create("/tmp/mimosa-sandbox-puppet").is_ok(),
        "connect" => TcpStream::connect("127.0.0.1:9").is_ok(),
        "datagram" => UdpSocket::bind("127.0.0.1:0").is_ok(),
        "fork" => Command::new("/bin/true").spawn().is_ok(),
        "execute" => {
            let _ = Command::new("/bin/true").exec();
            false
        }
        "thread" => std::thread::Builder::new()
            .spawn(|| Vec::<u8>::with_capacity(1 << 20).capacity())
            .is_ok_and(|thread| thread.join().is_ok()),
        "crash" => crash(),
        "abort" => std::process::abort(),
        // Half as much is there, and then more than the whole.
        "half" => Vec::<u8>::new().try_reserve_exact(1 << 29).is_ok(),
        "memory" => Vec::<u8>::new().try_reserve_exact((1 << 30) + 1).is_ok(),
        other => panic!("{other}"),
    };
    if is_done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Reads where no memory is.
#[expect(unsafe_code, reason = "a crash")]
fn crash() -> bool {
    let nowhere = std::ptr::without_provenance::<u8>(16);
    // SAFETY: there is none; the first page is never mapped, so that the kernel ends the process.
    unsafe { nowhere.read_volatile() == 0 }
}

/// Decodes in a program whose system calls for filters are answered as by a kernel that has none.
fn old_kernel(threads: &str) {
    let absent = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let calls = BTreeMap::from([(libc::SYS_seccomp, vec![])]);
    let processor = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, absent, processor).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    let mut program = Command::new("/proc/self/exe");
    panic!("{}", program.args(["decoder-process", threads]).exec());
}

/// Says that it is ready, and then answers each frame in a wrong way.
fn lie(how: &str) {
    let say = |bytes: &[u8]| {
        // The socket takes writes as well.
        let mut socket = File::from(stdin().as_fd().try_clone_to_owned().unwrap());
        socket.write_all(bytes).unwrap();
    };
    let codecs = Codec::ALL.to_vec();
    match how {
        "never" => return,
        "unable" => {
            let reason = "it has \u{1b}[1mno filter".to_owned();
            return say(&Answer::Failed { reason }.bytes());
        }
        "early" => say(&Answer::Nothing { number: 0 }.bytes()),
        _ => say(&Answer::Ready {
            codecs: codecs.clone(),
        }
        .bytes()),
    }
    let mut head = [0; 24];
    while stdin().read_exact(&mut head).is_ok() {
        let length = u32::from_le_bytes(head[4..8].try_into().unwrap());
        let number = u64::from_le_bytes(head[8..16].try_into().unwrap());
        let mut frame = vec![0; length as usize];
        stdin().read_exact(&mut frame).unwrap();
        match how {
            "silence" => std::thread::park(),
            "other" => say(&Answer::Nothing { number: number + 1 }.bytes()),
            "again" => say(&Answer::Ready {
                codecs: codecs.clone(),
            }
            .bytes()),
            "noise" => say(&[0xa5; 184]),
            "short" => say(&[4]),
            "end" => return,
            // A picture in memory that goes on changing.
            "restless" => {
                let size = Size::new(640, 480).unwrap();
                let memory = std::io::stdout().as_fd().try_clone_to_owned().unwrap();
                std::thread::spawn(move || {
                    for round in 0_u8.. {
                        rustix::io::pwrite(&memory, &vec![round; 640 * 480], 0).unwrap();
                        if round == u8::MAX {
                            break;
                        }
                    }
                });
                say(&Answer::Picture {
                    number,
                    size,
                    colours: Colours::default(),
                    is_damaged: false,
                }
                .bytes());
            }
            // The largest picture that there is, of which nothing was written.
            "largest" => say(&Answer::Picture {
                number,
                size: Size::new(8_192, 8_192).unwrap(),
                colours: Colours::default(),
                is_damaged: false,
            }
            .bytes()),
            other => panic!("{other}"),
        }
    }
}
