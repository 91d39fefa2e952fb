//! When something is tried again.

use stoa_kernel::{Millis, World};

/// A wait, up to a fifth shorter or longer: what failed together must not come back together.
pub(super) fn spread(wait: Millis, world: &World) -> Millis {
    spread_by(wait, u16::from_le_bytes(world.bytes::<2>()))
}

fn spread_by(wait: Millis, chance: u16) -> Millis {
    let per_mille = 800 + Millis::from(chance) * 400 / Millis::from(u16::MAX);
    wait.saturating_mul(per_mille) / 1_000
}

/// The wait after so many failures; nothing when there is none more.
pub(super) fn after(failures: usize, waits: &[Millis]) -> Option<Millis> {
    waits.get(failures.checked_sub(1)?).copied()
}

/// The same where the last wait goes on for ever.
pub(super) fn after_always(failures: usize, waits: &[Millis]) -> Millis {
    after(failures, waits).or(waits.last().copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Times;
    use stoa_kernel::limit::HOUR;

    #[test]
    fn waits_are_those_of_the_product() {
        let times = Times::default();
        let all: Millis = times.parked.iter().sum();
        assert_eq!(all / HOUR, 47, "forty-eight hours in all");
        assert_eq!(
            (after(1, &times.early), after(2, &times.early), after(3, &times.early)),
            (Some(2_000), Some(10_000), None)
        );
        assert_eq!(times.parked.len() + times.early.len(), 14);
        assert_eq!((after_always(1, &times.probes), after_always(99, &times.probes)), (10_000, HOUR));
        assert_eq!(after(0, &times.early), None);
    }

    #[test]
    fn waits_differ_by_a_fifth_at_most() {
        assert_eq!((spread_by(1_000, 0), spread_by(1_000, u16::MAX)), (800, 1_200));
        assert!((950..1_050).contains(&spread_by(1_000, u16::MAX / 2)));
        assert_eq!(spread_by(Millis::MAX, 0), Millis::MAX / 1_000);
    }
}
