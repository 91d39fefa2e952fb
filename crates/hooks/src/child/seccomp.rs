//! Which calls of the system a process of hooks may make: those that memory, clocks and its socket need. Whoever takes the
//! engine over finds no file, no socket, no other process and no memory of one.

use libc::c_long;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

const ALLOWED: &[c_long] = &[
    // The socket.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    // Clocks and randomness.
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_setitimer,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
    // Threads that wait for each other, signals, and the end.
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Has the system refuse all other calls to this thread, for good.
///
/// # Errors
/// Why it can't: a system without filters, or another processor than those that the filter is made for.
pub fn refuse_calls() -> Result<(), String> {
    let rules = ALLOWED.iter().map(|it| (*it, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let processor = std::env::consts::ARCH.try_into().map_err(|it| format!("{it}"))?;
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, processor).map_err(|it| it.to_string())?;
    let program: BpfProgram = filter.try_into().map_err(|it: seccompiler::BackendError| it.to_string())?;
    apply_filter(&program).map_err(|it| it.to_string())
}
