//! Passwords: what is accepted, and Argon2id in threads of its own.
//!
//! Hashing takes some 20 ms of a core and 19 MiB, so it runs in a few threads behind a bounded line in which networks
//! and accounts have their share, and in the background: a storm of sign-ins waits here, before it has looked an
//! account up, and holds nothing up. Where nothing else wants the cores they all hash; where everything does, some
//! fifteen hashes a second are made all the same (decision 22). Every check costs one hash, also when there is no such
//! account.

mod argon;
mod background;
mod common;
mod context;
mod fingerprint;
mod foreign;
mod line;
mod queue;

pub use argon::Cost;
pub use common::PasswordList;
pub(crate) use context::ContextWords;
pub use fingerprint::Fingerprint;
pub use foreign::can_import;
pub use line::LineLimits;
pub(crate) use line::Share;

use argon::{argon2id, parse};
use argon2::Block;
use background::{Background, Duty};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use line::{Line, Turn};
use queue::Queue;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};
use stoa_kernel::{Code, Fault, Result, Secret, Violation, World};
use tokio::sync::oneshot;

/// Most hashes at the same time, whatever the machine: each fills 19 MiB.
const THREADS: usize = 8;
/// Hashes that threads have before them, those counted whose requests have gone.
const BEGUN: usize = 256;
/// Permits at the same time for each core: while one's password is hashed, the next one's is read.
const PERMITS: usize = 2;
/// What has waited for so long is hashed by the thread that doesn't give way. The others, where they have what they
/// need, take what waits much sooner.
const LATE: Duration = Duration::from_millis(60);
/// Fewest characters and most bytes.
pub const MIN_CHARS: usize = 8;
pub const MAX_BYTES: usize = 1_000;

/// Whether a password matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    Wrong,
    Right,
    /// Right, but its hash is cheaper than the present cost: hash it again.
    RightButCheap,
}

/// Hashes and checks passwords, for those who have a [`HashPermit`].
pub(crate) struct Passwords {
    jobs: Arc<Queue<Job>>,
    line: Arc<Line>,
    cost: Cost,
    /// The hash of a password that no account has: checked when there is none.
    unknown: String,
}

type Job = Box<dyn FnOnce(&mut Background, &mut Vec<Block>) + Send>;

/// A permit for one of the few whose passwords are checked now. A sign-in takes it before it looks up an
/// account: two hundred at once would otherwise all be looked up before the next reader is answered. It is
/// not kept while anything outside the process and its database is waited for.
pub(crate) struct HashPermit<'a> {
    passwords: &'a Passwords,
    _turn: Turn,
}

impl Passwords {
    pub(crate) async fn start(cost: &Cost, limits: LineLimits, world: &World) -> Result<Self> {
        let (jobs, cores) = (Arc::new(Queue::new(BEGUN)), cores());
        // A thread that hashes hardly ever sleeps, and what answers requests must find a core that is free at some
        // moment: beyond half of the cores, threads leave theirs alone for a while when they have met others there.
        let duties = (0..cores).map(|n| if n < cores.div_ceil(2) { Duty::Background } else { Duty::Spare });
        for (n, duty) in duties.chain([Duty::Floor]).enumerate() {
            let jobs = jobs.clone();
            std::thread::Builder::new()
                .name(format!("stoa-password-{n}"))
                .spawn(move || run(&jobs, duty))
                .map_err(|it| Fault::new(Code::Unavailable).logged(it))?;
        }
        let line = Arc::new(Line::new(limits, PERMITS * cores));
        let mut passwords = Self { jobs, line, cost: *cost, unknown: String::new() };
        let share = passwords.share(Ipv4Addr::UNSPECIFIED.into(), "", "");
        let unknown = passwords.permit(share).await?.hash(&Secret::new(world.token::<32>()), world).await?;
        passwords.unknown = unknown;
        Ok(passwords)
    }

    /// The share of an account of a site in what is hashed, as it is asked for from an address.
    pub(crate) fn share(&self, from: IpAddr, site: &str, account: &str) -> Share {
        self.line.share(from, site, account)
    }

    /// Waits in line for a turn: networks take turns there, and accounts of a network.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many wait, or for too long.
    pub(crate) async fn permit(&self, share: Share) -> Result<HashPermit<'_>> {
        Ok(HashPermit { passwords: self, _turn: self.line.turn(share).await? })
    }

    /// How many wait for a turn.
    pub(crate) fn waiting(&self) -> usize {
        self.line.waiting()
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vec<Block>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        tracing::trace!(target: "stoa::password", work = "hash");
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |background, memory| {
            // The caller is gone: the work is not done.
            if !answer.is_closed() {
                let done = background.run(|| work(memory));
                let _ = answer.send(done);
            }
        });
        // Those who have gone left their permit to others, and their work behind.
        if !self.jobs.push(job) {
            return Err(Fault::new(Code::Throttled).logged("the password queue is full"));
        }
        answered.await.unwrap_or_else(|_| Err(Fault::internal("a password thread gave up its work")))
    }
}

impl HashPermit<'_> {
    /// A new hash of the password, as text with its cost and salt.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many have gone and left their work behind.
    pub(crate) async fn hash(&self, password: &Secret, world: &World) -> Result<String> {
        let (password, salt, cost) = (password.clone(), world.bytes::<16>(), self.passwords.cost);
        let work = move |memory: &mut Vec<Block>| {
            let hash = argon2id(password.expose(), &salt, cost, memory)?;
            let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
            let Cost { memory_kib, passes, lanes } = cost;
            Ok(format!("$argon2id$v=19$m={memory_kib},t={passes},p={lanes}${salt}${hash}"))
        };
        self.passwords.run(work).await
    }

    /// Compares a password with a stored hash. Without one it takes as long and is wrong, and so it is with
    /// a password of more than [`MAX_BYTES`], which no account has.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many have gone and left their work behind.
    pub(crate) async fn check(&self, password: &Secret, stored: Option<&str>) -> Result<Match> {
        let is_possible = password.expose().len() <= MAX_BYTES;
        let (password, stored) = if is_possible { (password.clone(), stored) } else { (Secret::new(""), None) };
        let is_known = stored.is_some();
        let (stored, cost) = (stored.unwrap_or(&self.passwords.unknown).to_owned(), self.passwords.cost);
        let work = move |memory: &mut Vec<Block>| {
            let Some(known) = parse(&stored) else {
                let foreign = foreign::Foreign::parse(&stored);
                let foreign = foreign.ok_or_else(|| Fault::internal("a stored password hash can't be read"))?;
                return Ok(if foreign.fits(password.expose().as_bytes()) {
                    Match::RightButCheap
                } else {
                    Match::Wrong
                });
            };
            let hash = argon2id(password.expose(), &known.salt, known.cost, memory)?;
            let is_equal = argon::is_same(&hash, &known.hash);
            Ok(match is_known && is_equal {
                false => Match::Wrong,
                true if known.cost != cost => Match::RightButCheap,
                true => Match::Right,
            })
        };
        self.passwords.run(work).await
    }
}

impl Drop for Passwords {
    fn drop(&mut self) {
        self.jobs.close();
    }
}

/// Cores that hash where nothing else wants them.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(1, THREADS)
}

fn run(jobs: &Queue<Job>, duty: Duty) {
    let mut background = Background::enter(duty);
    let mut memory = Vec::new();
    let after = if duty == Duty::Floor { LATE } else { Duration::ZERO };
    while let Some(job) = jobs.next(after) {
        let work = std::panic::AssertUnwindSafe(|| job(&mut background, &mut memory));
        let done = std::panic::catch_unwind(work);
        if done.is_err() {
            memory = Vec::new();
        }
    }
}

/// What is wrong with a new password, if anything: it has at least [`MIN_CHARS`] characters and at most
/// [`MAX_BYTES`] bytes, and isn't one that is guessed first: in a list of ours or in `own`. `field` is the JSON path it
/// came from.
pub(crate) fn violation(password: &Secret, field: &str, own: &PasswordList) -> Option<Violation> {
    let text = password.expose();
    if text.chars().count() < MIN_CHARS {
        let why = format!("a password has at least {MIN_CHARS} characters");
        return Some(Violation::new(field, "MIN_LENGTH", why).with("threshold", MIN_CHARS));
    }
    if text.len() > MAX_BYTES {
        let why = format!("a password has at most {MAX_BYTES} bytes");
        return Some(Violation::new(field, "MAX_LENGTH", why).with("threshold", MAX_BYTES));
    }
    if common::is_common(text, own) {
        let mut violation = Violation::new(field, "OTHER", "this password is too common");
        violation.rule_name = Some("COMMON_PASSWORD");
        return Some(violation);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };

    #[test]
    fn password_may_be_long_and_strange() {
        let own = PasswordList::default();
        let check = |text: &str| violation(&Secret::new(text), "password", &own).map(|it| it.violated_rule);
        assert_eq!(check("1234567"), Some("MIN_LENGTH"));
        assert_eq!(check("пароль12"), None, "characters are counted, not bytes");
        assert_eq!(check(&"ab".repeat(500)), None);
        assert_eq!(check(&"ab".repeat(501)), Some("MAX_LENGTH"));
        assert_eq!(check("Password1"), Some("OTHER"));
        assert_eq!(check("zzzzzzzzzzzz"), Some("OTHER"));
        assert_eq!(check("a\0b\0c\0d\0"), None);
    }

    #[tokio::test]
    async fn password_fits_its_own_hash_only() -> Result<()> {
        let (world, _) = World::fixed(0, 3);
        let limits = LineLimits { all: 8, network: 8, account: 8, wait: 10_000 };
        let passwords = Passwords::start(&CHEAP, limits, &world).await?;
        let share = passwords.share(Ipv4Addr::LOCALHOST.into(), "s", "a");
        let permit = passwords.permit(share).await?;
        let (right, wrong) = (Secret::new("correct horse\0battery"), Secret::new("correct horse"));
        let hash = permit.hash(&right, &world).await?;
        assert!(hash.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_eq!(permit.check(&right, Some(&hash)).await?, Match::Right);
        assert_eq!(permit.check(&wrong, Some(&hash)).await?, Match::Wrong);
        assert_eq!(permit.check(&right, None).await?, Match::Wrong);
        assert_eq!(permit.check(&Secret::new("x".repeat(MAX_BYTES + 1)), Some(&hash)).await?, Match::Wrong);
        let dearer = Passwords::start(&Cost { passes: 2, ..CHEAP }, limits, &world).await?;
        let dearer = dearer.permit(share).await?;
        assert_eq!(dearer.check(&right, Some(&hash)).await?, Match::RightButCheap);
        assert!(dearer.check(&right, Some("$argon2id$v=19$m=x")).await.is_err());
        Ok(())
    }
}
