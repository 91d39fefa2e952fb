//! Time, chance and ids come in as parameters: a [`World`] is passed to the code that needs one of them.
//!
//! This is the only file that asks the operating system; clippy refuses it everywhere else.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
}

pub trait Rng: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// The clock and the source of randomness of one running program or one test.
#[derive(Clone)]
pub struct World {
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
}

impl World {
    /// The machine's clock and its cryptographic randomness.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system for randomness")]
    pub fn real() -> Self {
        Self { clock: Arc::new(SystemClock), rng: Arc::new(SystemRng::new(ring::rand::SystemRandom::new())) }
    }

    /// A clock that stands still until it is moved and a fixed sequence of "random" bytes: tests only.
    pub fn fixed(start: Millis, seed: u64) -> (Self, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock(AtomicI64::new(start)));
        (Self { clock: clock.clone(), rng: Arc::new(SeededRng(Mutex::new(seed))) }, clock)
    }

    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.rng.fill(&mut bytes);
        bytes
    }

    /// A new UUIDv7 as text: sorts by time of making.
    pub fn uuid(&self) -> String {
        let now = self.now().max(0) as u64;
        uuid::Builder::from_unix_timestamp_millis(now, &self.bytes::<10>()).into_uuid().to_string()
    }

    /// `N` random bytes as unpadded base64url: tokens, codes of links, secrets.
    pub fn token<const N: usize>(&self) -> String {
        use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
        URL_SAFE_NO_PAD.encode(self.bytes::<N>())
    }

    /// A decimal code of six digits, each equally likely.
    pub fn six_digits(&self) -> String {
        loop {
            let n = u32::from_le_bytes(self.bytes::<4>());
            // The largest multiple of a million below 2^32: what lies above would favour small codes.
            if n < 4_294_000_000 {
                return format!("{:06}", n % 1_000_000);
            }
        }
    }
}

struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Millis {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |it| it.as_millis() as Millis)
    }
}

/// The operating system's randomness, fetched a piece at a time: an id needs ten bytes, and a system
/// call for each would cost more than everything else about it. Bytes are wiped as they are given out.
struct SystemRng {
    system: ring::rand::SystemRandom,
    rest: Mutex<Vec<u8>>,
}

impl SystemRng {
    const PIECE: usize = 4096;

    fn new(system: ring::rand::SystemRandom) -> Self {
        Self { system, rest: Mutex::new(Vec::new()) }
    }

    fn fetch(&self, bytes: &mut [u8]) {
        use ring::rand::SecureRandom;
        // Without randomness no token can be made safely; there is nothing sensible to go on with.
        self.system.fill(bytes).expect("the operating system gives random bytes");
    }
}

impl Rng for SystemRng {
    fn fill(&self, bytes: &mut [u8]) {
        if bytes.len() > Self::PIECE {
            return self.fetch(bytes);
        }
        let mut rest = self.rest.lock().unwrap_or_else(|it| it.into_inner());
        if rest.len() < bytes.len() {
            rest.resize(Self::PIECE, 0);
            self.fetch(&mut rest);
        }
        let left = rest.len() - bytes.len();
        bytes.copy_from_slice(&rest[left..]);
        rest[left..].fill(0);
        rest.truncate(left);
    }
}

/// Milliseconds since some moment, on a clock that only goes forward and doesn't stand still while the machine sleeps:
/// for leases that others count on. It is the machine's own in tests too.
pub fn elapsing() -> Millis {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

/// A clock for tests.
pub struct FixedClock(AtomicI64);

impl FixedClock {
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

struct SeededRng(Mutex<u64>);

impl Rng for SeededRng {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(|it| it.into_inner());
        for byte in bytes {
            // splitmix64: small, and good enough for tests that must repeat.
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }
}

/// Counts what a process did; handed around like the clock. Never a global.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let (world, clock) = World::fixed(1_000, 7);
        let first = world.uuid();
        clock.advance(1);
        assert!(first < world.uuid());
    }
}
