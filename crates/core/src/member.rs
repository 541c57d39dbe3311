//! The nodes that a pool may pick.

use crate::band::Seen;

/// A node that the pool may pick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The node's slot, or [`NO_SLOT`](crate::layout::NO_SLOT).
    pub slot: u32,
    /// The slot generation that the node was given its slot with.
    pub generation: u32,
    /// Whether it may be picked.
    pub up: bool,
    /// Its fixed weight, above 0 and finite; 1 where the algorithm gives none.
    pub weight: f64,
}

impl Member {
    /// What is to be seen of it where no reading counts.
    #[must_use]
    pub fn seen_without_reading(&self) -> Seen {
        if self.up { Seen::MISSING } else { Seen::OUT }
    }
}

/// A member for tests, that is up.
#[cfg(test)]
pub(crate) fn member(slot: u32, generation: u32) -> Member {
    Member {
        slot,
        generation,
        up: true,
        weight: 1.0,
    }
}
