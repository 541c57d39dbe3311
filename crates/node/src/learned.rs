//! What is learned of few members, in memory that JavaScript has too: it picks among these by itself, since that takes less
//! than a call, and learns from leases. Here it is taken before each call that needs it, and given back after.

use std::sync::atomic::Ordering::Relaxed;

use idlest_core::generator::Generator;
use idlest_core::memory::{Foreign, Words};
use idlest_core::pool::Pool;

// Most members that are shared.
const MOST: usize = 16;

// 32-bit words: whether JavaScript has it; the generator; two doubles; and of each member eight, of which five are used.
const TURN: usize = 0;
const GENERATOR: usize = 2;
const MEAN: usize = 6;
const SCATTER: usize = 8;
const MEMBERS: usize = 16;
const MEMBER: usize = 16;

/// The memory: 64 bytes, and 128 for each member.
pub struct Learned(Foreign);

impl Learned {
    /// Over memory of any size: what does not fit is not shared.
    pub fn new(memory: Foreign) -> Result<Self, String> {
        Ok(Self(memory))
    }

    /// Takes it back, where JavaScript has it.
    pub fn take(&self, pool: &mut Pool<Foreign>) {
        let Some(turn) = self.0.word(TURN) else {
            return;
        };
        if turn.load(Relaxed) == 0 {
            return;
        }
        turn.store(0, Relaxed);
        let count = pool.members().min(MOST);
        let Some((adaptive, generator)) = pool.learned() else {
            return;
        };
        let word = |at| self.0.word(at).map_or(0, |word| word.load(Relaxed));
        *generator = Generator::from_state([0, 1, 2, 3].map(|i| word(GENERATOR + i)));
        for index in 0..count {
            let at = MEMBERS + index * MEMBER;
            adaptive.set_known(index, [0, 2, 4, 6, 8].map(|field| self.double(at + field)));
        }
    }

    /// Gives it to JavaScript, where there are few members.
    pub fn give(&self, pool: &mut Pool<Foreign>) {
        let count = pool.members();
        if count > MOST {
            return;
        }
        let Some((adaptive, generator)) = pool.learned() else {
            return;
        };
        for (i, state) in generator.state().into_iter().enumerate() {
            if let Some(word) = self.0.word(GENERATOR + i) {
                word.store(state, Relaxed);
            }
        }
        self.put(MEAN, adaptive.mean());
        self.put(SCATTER, adaptive.scatter());
        for index in 0..count {
            let at = MEMBERS + index * MEMBER;
            for (field, value) in adaptive.known(index).into_iter().enumerate() {
                self.put(at + 2 * field, value);
            }
        }
    }

    fn double(&self, at: usize) -> f64 {
        let pair = self.0.pair(at);
        pair.map_or(0.0, |pair| f64::from_bits(pair.load(Relaxed)))
    }

    fn put(&self, at: usize, value: f64) {
        if let Some(pair) = self.0.pair(at) {
            pair.store(value.to_bits(), Relaxed);
        }
    }
}
