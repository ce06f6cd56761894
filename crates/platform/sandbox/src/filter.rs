//! The system calls that a decoder needs once it is open, as a filter of the kernel (seccomp).

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// Calls that take nothing from outside the process, and reach nothing there: memory, threads and locks, the
/// time, random bits, and the process's own signals and end.
///
/// `strace -f` of the decoder's process over the tests of this crate shows which are made, with glibc 2.36 and FFmpeg
/// 5.1: `read`, `write`, `futex`, `mmap`, `munmap`, `mprotect`, `madvise`, `brk`, `clone3`, `clone`, `exit`,
/// `set_robust_list`, `rseq`, `rt_sigprocmask`, and `prctl` with a thread's name. The others are what other versions of
/// a C library or of libavcodec call for the same, and what is called when a program crashes.
const ALLOWED: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
];

/// The flags of `clone` that make something other than a thread.
const NO_THREAD: i32 = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS
    | libc::CLONE_PTRACE
    | libc::CLONE_VFORK;

/// The filters for the process `pid`, to be installed one after the other.
///
/// The second one allows a call or ends the process. The first one answers `clone3` with an error, as a
/// kernel without it does, because no filter can read its flags; the C library then takes `clone`.
///
/// # Errors
///
/// [`BackendError`] on processors that the filter's compiler does not know.
pub(crate) fn filters(pid: i32) -> Result<[BpfProgram; 2], BackendError> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    let absent = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let clone3 = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    let first = SeccompFilter::new(clone3, SeccompAction::Allow, absent, processor)?;
    let (kill, allow) = (SeccompAction::KillProcess, SeccompAction::Allow);
    let second = SeccompFilter::new(rules(pid)?, kill, allow, processor)?;
    Ok([first.try_into()?, second.try_into()?])
}

/// The allowed calls, each with the arguments that it may have; with none stated, all.
fn rules(pid: i32) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<_, _> = ALLOWED.iter().map(|call| (*call, vec![])).collect();
    let no = libc::PROT_EXEC;
    let some = libc::MAP_ANONYMOUS;
    let thread = libc::CLONE_THREAD;
    for (call, alternatives) in [
        // The socket. `2` is closed: what is written there is an error that nobody sees.
        (libc::SYS_read, vec![vec![is(0, 0)?]]),
        (libc::SYS_write, vec![vec![is(0, 0)?], vec![is(0, 2)?]]),
        // Memory that is nobody else's, and no code.
        (
            libc::SYS_mmap,
            vec![vec![of_bits(2, no, 0)?, of_bits(3, some, some)?]],
        ),
        (libc::SYS_mprotect, vec![vec![of_bits(2, no, 0)?]]),
        (
            libc::SYS_clone,
            vec![vec![of_bits(0, thread | NO_THREAD, thread)?]],
        ),
        // A thread's name.
        (libc::SYS_prctl, vec![vec![is(0, libc::PR_SET_NAME)?]]),
        // `abort` raises a signal in the process itself.
        (libc::SYS_tgkill, vec![vec![is(0, pid)?]]),
        // Refused by the first filter.
        (libc::SYS_clone3, vec![]),
    ] {
        let alternatives = alternatives.into_iter().map(SeccompRule::new);
        rules.insert(call, alternatives.collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

/// Argument number `argument` is `value`.
fn is(argument: u8, value: i32) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

/// Of argument number `argument`, the bits of `mask` are those of `value`.
fn of_bits(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, BackendError> {
    let mask = u64::from(mask.cast_unsigned());
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: i32,
) -> Result<SeccompCondition, BackendError> {
    let value = u64::from(value.cast_unsigned());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
