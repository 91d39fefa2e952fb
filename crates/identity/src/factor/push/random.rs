//! The randomness that `ring` draws by itself, for key pairs and signatures: it takes no other source.

use ring::rand::SystemRandom;

pub(super) fn source() -> SystemRandom {
    #[expect(
        clippy::disallowed_methods,
        reason = "ring makes key pairs and signatures of P-256 with a source of its own kind only"
    )]
    let source = SystemRandom::new();
    source
}
