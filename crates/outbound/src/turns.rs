//! Turns: how many may do something at the same time, in all and in each lane, so that one lane that is slow
//! holds up itself only.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnLimits {
    pub in_all: usize,
    pub of_lane: usize,
    /// Further ones of a lane that may wait for their turn.
    pub waiting_of_lane: usize,
    /// The longest that one waits.
    pub wait: Duration,
}

pub(crate) struct Turns {
    limits: TurnLimits,
    all: Arc<Semaphore>,
    lanes: Mutex<HashMap<String, Lane>>,
}

#[derive(Clone)]
struct Lane {
    places: Arc<Semaphore>,
    /// Places and those who wait for one.
    room: Arc<Semaphore>,
}

/// One turn; it ends when this is dropped.
pub(crate) struct Turn {
    _room: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
    _one: OwnedSemaphorePermit,
}

impl Turns {
    pub(crate) fn new(limits: TurnLimits) -> Self {
        Self { limits, all: Arc::new(Semaphore::new(limits.in_all)), lanes: Mutex::default() }
    }

    /// A turn in a lane; none when too many wait there already, and when it doesn't begin in time.
    pub(crate) async fn take(&self, lane: &str) -> Option<Turn> {
        let lane = self.lane(lane);
        let room = lane.room.try_acquire_owned().ok()?;
        // The lane first: who waits there must not hold what others could use.
        let turn = tokio::time::timeout(self.limits.wait, async {
            let place = lane.places.acquire_owned().await.ok()?;
            let one = self.all.clone().acquire_owned().await.ok()?;
            Some(Turn { _room: room, _place: place, _one: one })
        });
        turn.await.ok().flatten()
    }

    fn lane(&self, name: &str) -> Lane {
        let mut lanes = self.lanes.lock().unwrap_or_else(|it| it.into_inner());
        // Who has a turn or waits holds permits, and with them the semaphore.
        lanes.retain(|_, it| Arc::strong_count(&it.room) > 1);
        let TurnLimits { of_lane, waiting_of_lane, .. } = self.limits;
        let fresh =
            || Lane { places: Semaphore::new(of_lane).into(), room: Semaphore::new(of_lane + waiting_of_lane).into() };
        lanes.entry(name.to_owned()).or_insert_with(fresh).clone()
    }
}
