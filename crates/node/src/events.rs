//! What becomes of picks, told by JavaScript in memory that is read at the next call: a call for each would cost more than a
//! pick.

use std::sync::atomic::Ordering::Relaxed;

use idlest_core::memory::{Foreign, Words};
use idlest_core::pool::Pool;

// 32-bit words: of the count, and of an event, which is four doubles.
const HEADER: usize = 2;
const EVENT: usize = 8;

// What an event tells.
const SENT: f64 = 0.0;
const ENDED: f64 = 1.0;

/// Events in the order in which they were told: how many, in the first 32-bit word; from the eighth byte on, for each a
/// member's index, what happened, how many requests are left there, and the latency in ms, all doubles.
pub struct Events(Foreign);

impl Events {
    /// Over memory of any size: what does not fit is not read.
    pub fn new(memory: Foreign) -> Result<Self, String> {
        Ok(Self(memory))
    }

    /// Tells a pool of all events, and forgets them.
    pub fn take(&self, pool: &mut Pool) {
        let Some(count) = self.0.word(0) else {
            return;
        };
        let told = count.load(Relaxed) as usize;
        if told == 0 {
            return;
        }
        count.store(0, Relaxed);
        for event in 0..told {
            let at = |part: usize| {
                let place = self.0.pair(HEADER + event * EVENT + 2 * part)?;
                Some(f64::from_bits(place.load(Relaxed)))
            };
            let (Some(index), Some(kind), Some(left), Some(latency)) = (at(0), at(1), at(2), at(3))
            else {
                return;
            };
            let index = index as u32;
            if kind == SENT {
                pool.sent(index);
            } else {
                pool.ended(index, left, kind == ENDED, latency);
            }
        }
    }
}
