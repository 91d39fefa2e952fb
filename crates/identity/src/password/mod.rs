//! Passwords: what is accepted, and Argon2id in threads of its own.
//!
//! Hashing takes some 20 ms of a core and 19 MiB, so it runs on half of the cores behind a bounded line, and
//! in the background: a storm of sign-ins waits here, before it has looked an account up, and holds nothing
//! up. Every check costs one hash, also when there is no such account.

mod background;
mod fingerprint;
mod foreign;

pub use fingerprint::Fingerprint;
pub use foreign::can_import;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use background::Background;
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use parking_lot::Mutex;
use std::{
    collections::HashSet,
    sync::{
        Arc, LazyLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};
use stoa_kernel::{Code, Fault, Result, Secret, Violation, World};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

/// Most hashes at the same time, whatever the machine: each fills 19 MiB.
const THREADS: usize = 8;
/// Who may wait for a hash: about five seconds of work for one thread.
const WAITING: usize = 256;
/// Turns at the same time for each thread: while one's password is hashed, the next one's is looked up.
const TURNS: usize = 2;
/// Fewest characters and most bytes.
pub const MIN_CHARS: usize = 8;
pub const MAX_BYTES: usize = 1_000;

/// The price of one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
}

impl Default for Cost {
    fn default() -> Self {
        Self { memory_kib: 19_456, passes: 2, lanes: 1 }
    }
}

/// Whether a password matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    Wrong,
    Right,
    /// Right, but its hash is cheaper than the present cost: hash it again.
    RightButCheap,
}

/// Hashes and checks passwords, for whoever has a [`Turn`].
pub(crate) struct Passwords {
    jobs: SyncSender<Job>,
    /// Everybody who waits or has a turn, and those who have one.
    line: Semaphore,
    turns: Semaphore,
    cost: Cost,
    /// The hash of nobody's password: checked when there is no account.
    nobody: String,
}

type Job = Box<dyn FnOnce(&mut Background, &mut Vec<Block>) + Send>;

/// A place among the few whose passwords are looked at now. Whoever signs in takes it before looking up an
/// account: two hundred at once would otherwise all be looked up before the next reader is answered. It is
/// not kept while anything outside the process and its database is waited for.
pub(crate) struct Turn<'a> {
    passwords: &'a Passwords,
    _turn: SemaphorePermit<'a>,
    _place: SemaphorePermit<'a>,
}

impl Passwords {
    pub(crate) async fn start(cost: &Cost, world: &World) -> Result<Self> {
        let (jobs, waiting) = sync_channel::<Job>(WAITING);
        let (waiting, threads) = (Arc::new(Mutex::new(waiting)), threads());
        for n in 0..threads {
            let waiting = waiting.clone();
            std::thread::Builder::new()
                .name(format!("stoa-password-{n}"))
                .spawn(move || run(&waiting))
                .map_err(|it| Fault::new(Code::Unavailable).logged(it))?;
        }
        let (line, turns) = (Semaphore::new(WAITING), Semaphore::new(TURNS * threads));
        let mut passwords = Self { jobs, line, turns, cost: *cost, nobody: String::new() };
        let nobody = passwords.turn().await?.hash(&Secret::new(world.token::<32>()), world).await?;
        passwords.nobody = nobody;
        Ok(passwords)
    }

    /// Waits in line. Whoever came first goes first.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many wait.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>> {
        let too_many = |_| Fault::new(Code::Throttled).logged("too many wait for a password to be looked at");
        let place = self.line.try_acquire().map_err(too_many)?;
        let turn = self.turns.acquire().await.map_err(Fault::internal)?;
        Ok(Turn { passwords: self, _turn: turn, _place: place })
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vec<Block>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        tracing::trace!(target: "stoa::password", work = "hash");
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |background, memory| {
            // Nobody waits any more: the work is not done.
            if !answer.is_closed() {
                let done = background.run(|| work(memory));
                let _ = answer.send(done);
            }
        });
        // Those who have gone left their turn to others, and their work behind.
        let too_many = |_| Fault::new(Code::Throttled).logged("the password queue is full");
        self.jobs.try_send(job).map_err(too_many)?;
        answered.await.unwrap_or_else(|_| Err(Fault::internal("a password thread gave up its work")))
    }
}

impl Turn<'_> {
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
    /// a password of more than [`MAX_BYTES`], which nobody has.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many have gone and left their work behind.
    pub(crate) async fn check(&self, password: &Secret, stored: Option<&str>) -> Result<Match> {
        let is_possible = password.expose().len() <= MAX_BYTES;
        let (password, stored) = if is_possible { (password.clone(), stored) } else { (Secret::new(""), None) };
        let is_known = stored.is_some();
        let (stored, cost) = (stored.unwrap_or(&self.passwords.nobody).to_owned(), self.passwords.cost);
        let work = move |memory: &mut Vec<Block>| {
            let Some((its_cost, salt, expected)) = parse(&stored) else {
                let foreign = foreign::Foreign::parse(&stored);
                let foreign = foreign.ok_or_else(|| Fault::internal("a stored password hash can't be read"))?;
                return Ok(if foreign.fits(password.expose().as_bytes()) {
                    Match::RightButCheap
                } else {
                    Match::Wrong
                });
            };
            let hash = argon2id(password.expose(), &salt, its_cost, memory)?;
            let is_equal = is_same(&hash, &expected);
            Ok(match is_known && is_equal {
                false => Match::Wrong,
                true if its_cost != cost => Match::RightButCheap,
                true => Match::Right,
            })
        };
        self.passwords.run(work).await
    }
}

/// Half of the cores: a thread that hashes hardly ever sleeps, and who answers requests must find a core that
/// is free at some moment. On two cores a second one hashed no faster beside readers.
fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).clamp(1, THREADS)
}

fn run(waiting: &Mutex<Receiver<Job>>) {
    let mut background = Background::enter();
    let mut memory = Vec::new();
    loop {
        let Ok(job) = waiting.lock().recv() else { break };
        let work = std::panic::AssertUnwindSafe(|| job(&mut background, &mut memory));
        let done = std::panic::catch_unwind(work);
        if done.is_err() {
            memory = Vec::new();
        }
    }
}

fn argon2id(password: &str, salt: &[u8], cost: Cost, memory: &mut Vec<Block>) -> Result<[u8; 32]> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).map_err(Fault::internal)?;
    let blocks = params.block_count();
    if memory.len() < blocks {
        memory.resize(blocks, Block::default());
    }
    let mut hash = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(password.as_bytes(), salt, &mut hash, &mut memory[..blocks])
        .map_err(Fault::internal)?;
    Ok(hash)
}

/// Reads `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.
fn parse(stored: &str) -> Option<(Cost, Vec<u8>, Vec<u8>)> {
    let mut parts = stored.strip_prefix("$argon2id$v=19$")?.split('$');
    let mut numbers = parts.next()?.split(',');
    let mut number = |name: &str| numbers.next()?.strip_prefix(name)?.parse::<u32>().ok();
    let cost = Cost { memory_kib: number("m=")?, passes: number("t=")?, lanes: number("p=")? };
    let salt = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    let hash = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    (hash.len() == 32 && parts.next().is_none()).then_some((cost, salt, hash))
}

/// Compares without telling by its time where the first difference is.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// What is wrong with a new password, if anything: it has at least [`MIN_CHARS`] characters and at most
/// [`MAX_BYTES`] bytes, and isn't one that everybody tries first. `field` is the JSON path it came from.
pub fn violation(password: &Secret, field: &str) -> Option<Violation> {
    let text = password.expose();
    if text.chars().count() < MIN_CHARS {
        let why = format!("a password has at least {MIN_CHARS} characters");
        return Some(Violation::new(field, "MIN_LENGTH", why).with("threshold", MIN_CHARS));
    }
    if text.len() > MAX_BYTES {
        let why = format!("a password has at most {MAX_BYTES} bytes");
        return Some(Violation::new(field, "MAX_LENGTH", why).with("threshold", MAX_BYTES));
    }
    if is_common(text) {
        let mut violation = Violation::new(field, "OTHER", "this password is too common");
        violation.rule_name = Some("COMMON_PASSWORD");
        return Some(violation);
    }
    None
}

fn is_common(password: &str) -> bool {
    static LIST: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("common.txt").lines().collect());
    let folded = stoa_kernel::fold::fold(password.trim());
    let mut chars = folded.chars();
    let first = chars.next();
    LIST.contains(folded.as_ref()) || chars.all(|it| Some(it) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };

    #[test]
    fn accepts_long_and_strange_ones() {
        let check = |text: &str| violation(&Secret::new(text), "password").map(|it| it.violated_rule);
        assert_eq!(check("1234567"), Some("MIN_LENGTH"));
        assert_eq!(check("пароль12"), None, "characters are counted, not bytes");
        assert_eq!(check(&"ab".repeat(500)), None);
        assert_eq!(check(&"ab".repeat(501)), Some("MAX_LENGTH"));
        assert_eq!(check("Password1"), Some("OTHER"));
        assert_eq!(check("zzzzzzzzzzzz"), Some("OTHER"));
        assert_eq!(check("a\0b\0c\0d\0"), None);
    }

    #[test]
    fn the_list_holds_nothing_that_length_refuses_anyway() {
        let list: Vec<&str> = include_str!("common.txt").lines().collect();
        assert!(list.len() >= 300);
        assert!(list.iter().all(|it| it.chars().count() >= MIN_CHARS && stoa_kernel::fold::fold(it) == *it));
    }

    #[tokio::test]
    async fn checks_what_it_hashed() -> Result<()> {
        let (world, _) = World::fixed(0, 3);
        let passwords = Passwords::start(&CHEAP, &world).await?;
        let turn = passwords.turn().await?;
        let (right, wrong) = (Secret::new("correct horse\0battery"), Secret::new("correct horse"));
        let hash = turn.hash(&right, &world).await?;
        assert!(hash.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_eq!(turn.check(&right, Some(&hash)).await?, Match::Right);
        assert_eq!(turn.check(&wrong, Some(&hash)).await?, Match::Wrong);
        assert_eq!(turn.check(&right, None).await?, Match::Wrong);
        assert_eq!(turn.check(&Secret::new("x".repeat(MAX_BYTES + 1)), Some(&hash)).await?, Match::Wrong);
        let dearer = Passwords::start(&Cost { passes: 2, ..CHEAP }, &world).await?;
        let dearer = dearer.turn().await?;
        assert_eq!(dearer.check(&right, Some(&hash)).await?, Match::RightButCheap);
        assert!(dearer.check(&right, Some("$argon2id$v=19$m=x")).await.is_err());
        Ok(())
    }

    #[tokio::test]
    async fn the_line_is_in_order_and_ends_somewhere() -> Result<()> {
        let (world, _) = World::fixed(0, 3);
        let passwords = Arc::new(Passwords::start(&CHEAP, &world).await?);
        let mut at_work = Vec::new();
        for _ in 0..TURNS * threads() {
            at_work.push(passwords.turn().await?);
        }
        let (went, order) = std::sync::mpsc::channel();
        let mut waiting = Vec::new();
        for n in 0..WAITING - at_work.len() {
            let (passwords, went) = (passwords.clone(), went.clone());
            waiting.push(tokio::spawn(async move {
                let _turn = passwords.turn().await?;
                went.send(n).map_err(Fault::internal)
            }));
            tokio::task::yield_now().await;
        }
        assert_eq!(passwords.turn().await.err().map(|it| it.code()), Some(Code::Throttled));
        // Who goes leaves the place to another.
        waiting.pop().unwrap().abort();
        tokio::task::yield_now().await;
        let last = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.turn().await.map(drop) }
        });
        drop(at_work);
        for it in waiting {
            it.await.map_err(Fault::internal)??;
        }
        last.await.map_err(Fault::internal)??;
        let order: Vec<usize> = order.try_iter().collect();
        assert!(order.len() > 200 && order.is_sorted(), "{order:?}");
        Ok(())
    }
}
