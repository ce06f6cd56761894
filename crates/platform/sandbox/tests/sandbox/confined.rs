//! What a confined process cannot do any more.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use crate::PUPPET;

fn puppet(words: &str) -> ExitStatus {
    Command::new(PUPPET)
        .args(words.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

/// Whether the filter has ended the process.
fn is_killed(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGSYS)
}

#[test]
fn files_network_and_programs_are_out_of_reach() {
    for what in ["open", "create", "connect", "datagram", "fork", "execute"] {
        let status = puppet(&format!("attempt {what}"));
        assert!(is_killed(status), "{what}: {status}");
    }
}

#[test]
fn threads_are_there_and_memory_up_to_a_limit() {
    for what in ["thread", "half"] {
        let status = puppet(&format!("attempt {what}"));
        assert!(status.success(), "{what}: {status}");
    }
    assert_eq!(puppet("attempt memory").code(), Some(1));
}

/// Every call that is not allowed, by its number, ends the process: also those that no library has a
/// function for, and those that the kernel does not know.
#[cfg(target_arch = "x86_64")]
#[test]
fn no_other_system_call_is_left() {
    // What may be called with zeros for arguments. What waits or ends is left out of the attempts.
    let allowed = [
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_madvise,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_read,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
        libc::SYS_write,
        libc::SYS_clone3,
    ];
    // Linux 6.18 has calls up to 470; its x32 calls for 64 bits have another bit.
    let numbers = (0..480).chain([libc::SYS_read | 0x4000_0000, libc::SYS_open | 0x4000_0000]);
    for number in numbers.filter(|number| !allowed.contains(number)) {
        let status = puppet(&format!("call {number}"));
        // The kernel's own calls for probes (Linux 6.11) pass all filters, and do nothing for a caller
        // that is elsewhere.
        let is_refused =
            status.signal() == Some(libc::SIGILL) || status.code() == Some(libc::ENXIO);
        let is_probe = [335, 336].contains(&number) && is_refused;
        assert!(is_killed(status) || is_probe, "call {number}: {status}");
    }
}

/// A crash is a crash, also where a handler of Rust's comes first.
#[test]
fn a_crash_has_its_own_signal() {
    assert_eq!(puppet("attempt crash").signal(), Some(libc::SIGSEGV));
    assert_eq!(puppet("attempt abort").signal(), Some(libc::SIGABRT));
}

/// Calls that are allowed with some arguments.
#[test]
fn arguments_decide() {
    let (read, write, exec) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    let (private, anonymous) = (libc::MAP_PRIVATE, libc::MAP_ANONYMOUS);
    let both = read | write;
    for (call, arguments, is_allowed) in [
        (libc::SYS_read, "0 0 0".to_owned(), true),
        (libc::SYS_read, "3 0 0".to_owned(), false),
        (libc::SYS_write, "0 0 0".to_owned(), true),
        (libc::SYS_write, "1 0 0".to_owned(), false),
        (libc::SYS_write, "3 0 0".to_owned(), false),
        (
            libc::SYS_mmap,
            format!("0 4096 {both} {} -2 0", private | anonymous),
            true,
        ),
        (
            libc::SYS_mmap,
            format!("0 4096 {} {} -2 0", both | exec, private | anonymous),
            false,
        ),
        (
            libc::SYS_mmap,
            format!("0 4096 {read} {private} 0 0"),
            false,
        ),
        (libc::SYS_mprotect, format!("0 0 {both}"), true),
        (libc::SYS_mprotect, format!("0 0 {}", read | exec), false),
        // A process, and a thread in another network.
        (libc::SYS_clone, format!("{} 0", libc::SIGCHLD), false),
        (
            libc::SYS_clone,
            format!("{} 0", libc::CLONE_THREAD | libc::CLONE_NEWNET),
            false,
        ),
        (
            libc::SYS_prctl,
            format!("{} 0", libc::PR_SET_DUMPABLE),
            false,
        ),
        (
            libc::SYS_prctl,
            format!("{} 0", libc::PR_SET_SECCOMP),
            false,
        ),
        // Signal 0 asks whether there is such a thread: the process's own, and the first process's.
        (libc::SYS_tgkill, "-1 -1 0".to_owned(), true),
        (libc::SYS_tgkill, "1 1 0".to_owned(), false),
    ] {
        let status = puppet(&format!("call {call} {arguments}"));
        assert_eq!(
            !is_killed(status),
            is_allowed,
            "call {call} {arguments}: {status}"
        );
    }
    // The C library asks for a thread in another way when it is told that this one is not there.
    let status = puppet(&format!("call {}", libc::SYS_clone3));
    assert_eq!(status.code(), Some(libc::ENOSYS));
}
