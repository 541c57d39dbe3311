//! What becomes of picks, told by JavaScript in memory that is read at the next call: a call for each would cost more than a
//! pick.

use std::sync::atomic::Ordering::Relaxed;

use idlest_core::memory::{Foreign, Words};
use idlest_core::pool::Pool;

// 32-bit words before the events, and of each.
const EVENTS_HEADER: usize = 2;
const EVENT_WORDS: usize = 4;
// Events that wait for a call, at most.
const MOST_EVENTS: usize = 64;

// What an event tells, in the low two bits of its second word.
const SENT: u32 = 0;
const ENDED: u32 = 1;
const FAILED: u32 = 2;
const SET_ASIDE: u32 = 3;
// Whether a lease was alone at its member as it began, and what a request counts as, in the same word.
const ALONE: u32 = 4;
const COUNT_UNIT: u32 = 8;

/// Events in the order in which they were told: how many, in the first 32-bit word; then for each a member's index; what
/// happened, and above it how many requests are in flight there; and the latency in ms, a double.
pub struct Events(Foreign);

impl Events {
    /// Over memory of any size: what does not fit is not read.
    pub fn new(memory: Foreign) -> Result<Self, String> {
        Ok(Self(memory))
    }

    /// Tells a pool of all events, and forgets them.
    pub fn take(&self, pool: &mut Pool<Foreign>) {
        let Some(count) = self.0.word(0) else {
            return;
        };
        let told = count.load(Relaxed) as usize;
        if told == 0 {
            return;
        }
        count.store(0, Relaxed);
        for event in 0..told.min(MOST_EVENTS) {
            let at = EVENTS_HEADER + event * EVENT_WORDS;
            let (Some(index), Some(what), Some(latency)) =
                (self.0.word(at), self.0.word(at + 1), self.0.pair(at + 2))
            else {
                return;
            };
            let (index, what) = (index.load(Relaxed), what.load(Relaxed));
            let count = f64::from(what / COUNT_UNIT);
            match what & 3 {
                SENT => pool.sent(index),
                how @ (ENDED | FAILED) => {
                    let latency = f64::from_bits(latency.load(Relaxed));
                    pool.ended(index, count, how == ENDED, latency, what & ALONE != 0);
                }
                SET_ASIDE => pool.set_aside(index, count),
                _ => {}
            }
        }
    }
}
