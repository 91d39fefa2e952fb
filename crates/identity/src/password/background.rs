//! A thread whose long work is preempted by all other work.
//!
//! A low priority alone doesn't do that. Linux lets a thread that is at work finish its slice before one that has
//! just become ready, up to the next tick (4 ms), and a core that is never idle pulls over no thread that waits for the
//! other one. So a timer interrupts the work, which makes no system calls of its own, and hands the core over
//! (decision 17). One thread keeps its priority and has a share of a core, no more and no less, so that there is an
//! end to waiting (decision 22). On other systems the work goes through as it is.

pub(super) use system::Background;

/// How a thread stands to all other work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// It gives way.
    Background,
    /// It gives way, and rests for as long again as others had its core.
    Spare,
    /// It has three tenths of a core.
    Floor,
}

#[cfg(target_os = "linux")]
mod system {
    use super::Duty;
    use nix::{
        sys::{
            signal::{SaFlags, SigAction, SigEvent, SigHandler, SigSet, SigevNotify, Signal, sigaction},
            timer::{Expiration, Timer, TimerSetTimeFlags},
        },
        time::ClockId,
    };
    use rustix::thread::{Timespec, gettid, nanosleep, sched_yield};
    use std::{
        ffi::c_int,
        sync::{
            LazyLock,
            atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
        },
        time::Duration,
    };

    /// Work goes on for so long at a time: reads beside it waited as little with half and with double.
    const STRETCH: Duration = Duration::from_micros(250);
    /// Every so many stretches the core is left idle for a moment, in which it pulls over a thread that waits for
    /// another; less often once nothing was met for [`QUIET`] stretches.
    const REST_EVERY: u32 = 4;
    const REST_SELDOM: u32 = 16;
    const QUIET: u32 = 8;
    /// The shortest sleep: it takes as long as the timer's slack, some 50 µs.
    const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 1 };
    /// A thread that waited for the core works on for this part of that time. Beside a thread that is always ready one who
    /// yields at this priority comes back after the timer's next signal (seen on Linux 6.18), and would yield again
    /// at once, for ever.
    const SHARE: u32 = 10;
    /// Nanoseconds that a yield takes at most, and a rest, when nothing else ran.
    const YIELDED: u64 = 20_000;
    const RESTED: u64 = 120_000;
    /// A spare thread rests no longer than this at once.
    const LONGEST: u64 = 20_000_000;
    /// The share of a core that the thread has which doesn't give way: fifteen hashes a second of 20 ms each.
    const FLOOR: (u64, u64) = (3, 10);
    /// A thirtieth of the share that other threads have where both want the processor: sign-ins must not wait
    /// for ever, and 10 still made reads wait for more than twice as long.
    const NICE: i32 = 15;
    /// A signal without other use: by default it does nothing, and Go's runtime uses it for the same.
    const SIGNAL: Signal = Signal::SIGURG;

    thread_local! {
        /// How often this thread was preempted.
        pub(super) static PREEMPTIONS: AtomicU32 = const { AtomicU32::new(0) };
        /// The processor time, in nanoseconds, that it works up to before it does so again.
        static WORKS_UNTIL: AtomicU64 = const { AtomicU64::new(0) };
        /// Stretches since it last met others on its core.
        static QUIET_FOR: AtomicU32 = const { AtomicU32::new(0) };
        static IS_SPARE: AtomicBool = const { AtomicBool::new(false) };
        static IS_FLOOR: AtomicBool = const { AtomicBool::new(false) };
        /// When its present work began, on the clock and in its processor time.
        static BEGAN: [AtomicU64; 2] = const { [AtomicU64::new(0), AtomicU64::new(0)] };
    }

    /// The thread that entered it.
    pub(in super::super) struct Background {
        /// `None` where the system lends no timer: then only the priority is lower.
        timer: Option<Timer>,
    }

    impl Background {
        /// Gives the present thread this duty.
        pub(in super::super) fn enter(duty: Duty) -> Self {
            let thread = gettid();
            IS_SPARE.with(|it| it.store(duty == Duty::Spare, Relaxed));
            IS_FLOOR.with(|it| it.store(duty == Duty::Floor, Relaxed));
            if duty != Duty::Floor
                && let Err(error) = rustix::process::setpriority_process(Some(thread), NICE)
            {
                tracing::debug!("the priority of hashing stays as it is: {error}");
            }
            let (signal, thread_id) = (SIGNAL, thread.as_raw_nonzero().get());
            let event = SigEvent::new(SigevNotify::SigevThreadId { signal, thread_id, si_value: 0 });
            let timer = (*LISTENING).and_then(|()| Timer::new(ClockId::CLOCK_MONOTONIC, event));
            Self { timer: timer.inspect_err(|it| tracing::debug!("hashing goes on without a break: {it}")).ok() }
        }

        /// Work that is preempted while it lasts.
        pub(in super::super) fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
            let _ticking = self.timer.as_mut().map(Ticking::start);
            work()
        }
    }

    /// A timer that goes until this is dropped.
    struct Ticking<'t>(&'t mut Timer);

    impl<'t> Ticking<'t> {
        fn start(timer: &'t mut Timer) -> Self {
            BEGAN.with(|[clock, worked]| {
                clock.store(nanoseconds(ClockId::CLOCK_MONOTONIC), Relaxed);
                worked.store(nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID), Relaxed);
            });
            set(timer, Expiration::Interval(STRETCH.into()));
            Self(timer)
        }
    }

    impl Drop for Ticking<'_> {
        fn drop(&mut self) {
            set(self.0, Expiration::OneShot(Duration::ZERO.into()));
        }
    }

    fn set(timer: &mut Timer, when: Expiration) {
        if let Err(error) = timer.set(when, TimerSetTimeFlags::empty()) {
            tracing::debug!("the timer of hashing stays as it is: {error}");
        }
    }

    /// The handler is there, for the whole process.
    static LISTENING: LazyLock<nix::Result<()>> = LazyLock::new(|| {
        let flags = SaFlags::SA_RESTART | SaFlags::SA_ONSTACK;
        let action = SigAction::new(SigHandler::Handler(preempt), flags, SigSet::empty());
        #[expect(
            unsafe_code,
            reason = "a handler may do only what is safe at any moment, and the compiler can't see that"
        )]
        // SAFETY: it reads clocks, changes numbers of its own thread and sleeps or yields, without locks or memory,
        // and leaves `errno` alone.
        unsafe { sigaction(SIGNAL, &action) }.map(drop)
    });

    extern "C" fn preempt(_: c_int) {
        if IS_FLOOR.with(|it| it.load(Relaxed)) { keep_to_the_share() } else { give_way() }
    }

    /// Sleeps until the work so far is the thread's share of the time that has passed. Who had to wait for the core
    /// catches up.
    fn keep_to_the_share() {
        let (clock, worked) = BEGAN.with(|[clock, worked]| (clock.load(Relaxed), worked.load(Relaxed)));
        let work = nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID).saturating_sub(worked);
        let due = clock.saturating_add(work.saturating_mul(FLOOR.1) / FLOOR.0);
        sleep(due.saturating_sub(nanoseconds(ClockId::CLOCK_MONOTONIC)));
    }

    fn give_way() {
        if nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID) < WORKS_UNTIL.with(|it| it.load(Relaxed)) {
            return;
        }
        let before = nanoseconds(ClockId::CLOCK_MONOTONIC);
        let count = PREEMPTIONS.with(|it| it.fetch_add(1, Relaxed));
        let is_quiet = QUIET_FOR.with(|it| it.fetch_add(1, Relaxed)) >= QUIET;
        let rests = count.is_multiple_of(if is_quiet { REST_SELDOM } else { REST_EVERY });
        if rests {
            // Whether it was cut short doesn't matter.
            let _ = nanosleep(&REST);
        } else {
            sched_yield();
        }
        // The timer went on meanwhile: its next signal is here already, before any work.
        let waited = nanoseconds(ClockId::CLOCK_MONOTONIC).saturating_sub(before);
        if waited > if rests { RESTED } else { YIELDED } {
            QUIET_FOR.with(|it| it.store(0, Relaxed));
            if IS_SPARE.with(|it| it.load(Relaxed)) {
                sleep(waited.min(LONGEST));
            }
        }
        let work = (waited / u64::from(SHARE)).max(STRETCH.as_nanos() as u64 / 2);
        WORKS_UNTIL.with(|it| it.store(nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID) + work, Relaxed));
    }

    fn sleep(nanoseconds: u64) {
        if nanoseconds > 0 {
            let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
            let _ = nanosleep(&Timespec { tv_sec: seconds as _, tv_nsec: rest as _ });
        }
    }

    fn nanoseconds(clock: ClockId) -> u64 {
        clock.now().map_or(0, |it| Duration::from(it).as_nanos() as u64)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Duty;

    /// The thread that entered it.
    pub(in super::super) struct Background;

    impl Background {
        pub(in super::super) fn enter(_: Duty) -> Self {
            Self
        }

        pub(in super::super) fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
            work()
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Background, Duty, system::PREEMPTIONS};
    use crate::password::{Cost, argon2id};
    use nix::time::ClockId;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use std::{
        hint::spin_loop,
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        },
        time::Duration,
    };

    #[test]
    fn background_is_preempted_while_it_works_only() {
        let cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };
        let mut memory = Vec::new();
        let mut hash = move || argon2id("correct horse", &[7; 16], cost, &mut memory).unwrap();
        let alone = hash();
        let preemptions = || PREEMPTIONS.with(|it| it.load(Relaxed));
        let thread = std::thread::spawn(move || {
            let mut background = Background::enter(Duty::Background);
            for _ in 0..2 {
                let before = preemptions();
                let hashes = background.run(|| {
                    let is_done = || preemptions() >= before + 10;
                    (0..200_000).take_while(|_| hash() == alone && !is_done()).count()
                });
                let after = preemptions();
                assert!(after >= before + 10, "interrupted {} times in {hashes} hashes", after - before);
                assert!((0..100).all(|_| hash() == alone));
                assert_eq!(preemptions(), after, "the timer is off");
            }
        });
        thread.join().unwrap();
    }
    /// Another thread that is always ready leaves it little of their core, but not nothing.
    #[test]
    fn background_gets_done_on_a_busy_core() {
        let allowed = sched_getaffinity(None).unwrap();
        let mut core = CpuSet::new();
        core.set((0..CpuSet::MAX_CPU).find(|it| allowed.is_set(*it)).unwrap());
        let is_done = Arc::new(AtomicBool::new(false));
        let busy = std::thread::spawn({
            let is_done = is_done.clone();
            move || {
                sched_setaffinity(None, &core).unwrap();
                // Until the hash is done, or so many turns, which take minutes.
                (0..10_000_000_000_u64).any(|_| {
                    spin_loop();
                    is_done.load(Relaxed)
                })
            }
        });
        let hash = std::thread::spawn(move || {
            sched_setaffinity(None, &core).unwrap();
            let (cost, mut memory) = (Cost::default(), Vec::new());
            let hash =
                Background::enter(Duty::Background).run(|| argon2id("correct horse", &[7; 16], cost, &mut memory));
            is_done.store(true, Relaxed);
            hash.unwrap()
        });
        assert!(busy.join().unwrap(), "the hash got nothing done");
        assert_eq!(hash.join().unwrap().len(), 32);
    }

    /// One thread has its share of a core that another wants wholly, and not more. What is left of the core by other programs is shared
    /// by both, so they are compared with each other.
    #[test]
    fn floor_is_kept_on_a_busy_core_and_kept_to() {
        let at = |clock: ClockId| Duration::from(clock.now().unwrap()).as_micros() as u64;
        let worked = move || at(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let allowed = sched_getaffinity(None).unwrap();
        let mut core = CpuSet::new();
        core.set((0..CpuSet::MAX_CPU).find(|it| allowed.is_set(*it)).unwrap());
        let (of_busy, is_done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let busy = std::thread::spawn({
            let (of_busy, is_done) = (of_busy.clone(), is_done.clone());
            move || {
                sched_setaffinity(None, &core).unwrap();
                while !is_done.load(Relaxed) {
                    of_busy.store(worked(), Relaxed);
                }
            }
        });
        let floor = std::thread::spawn(move || {
            sched_setaffinity(None, &core).unwrap();
            let cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };
            let (mut memory, began) = (Vec::new(), at(ClockId::CLOCK_MONOTONIC));
            Background::enter(Duty::Floor).run(|| {
                while worked() + of_busy.load(Relaxed) < 300_000 {
                    argon2id("correct horse", &[7; 16], cost, &mut memory).unwrap();
                }
            });
            let own = worked() as f64;
            [own / (own + of_busy.load(Relaxed) as f64), own / (at(ClockId::CLOCK_MONOTONIC) - began) as f64]
        });
        let [of_both, of_core] = floor.join().unwrap();
        is_done.store(true, Relaxed);
        busy.join().unwrap();
        assert!(of_both > 0.1, "{of_both} of what both had");
        assert!(of_core < 0.45, "{of_core} of the core");
    }
}
