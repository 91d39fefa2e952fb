//! Argon2id, as passwords are hashed here.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use stoa_kernel::{Fault, Result};

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

/// The hash of a password with this salt, at this cost, in memory that is kept for the next one.
pub(super) fn argon2id(password: &str, salt: &[u8], cost: Cost, memory: &mut Vec<Block>) -> Result<[u8; 32]> {
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

/// A hash as it is stored.
pub(super) struct Stored {
    pub cost: Cost,
    pub salt: Vec<u8>,
    pub hash: Vec<u8>,
}

/// Reads `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.
pub(super) fn parse(stored: &str) -> Option<Stored> {
    let mut parts = stored.strip_prefix("$argon2id$v=19$")?.split('$');
    let mut numbers = parts.next()?.split(',');
    let mut number = |name: &str| numbers.next()?.strip_prefix(name)?.parse::<u32>().ok();
    let cost = Cost { memory_kib: number("m=")?, passes: number("t=")?, lanes: number("p=")? };
    let salt = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    let hash = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    (hash.len() == 32 && parts.next().is_none()).then_some(Stored { cost, salt, hash })
}

/// Compares without telling by its time where the first difference is.
pub(super) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
