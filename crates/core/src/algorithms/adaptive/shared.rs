//! What is learned of few members, in memory that JavaScript has too: it picks among these by itself, since that takes less
//! than a call, and learns from leases. Here it is taken before each call that needs it, and given back after.

use std::sync::atomic::Ordering::Relaxed;

use super::Learned;
use super::constants::{
    AHEAD, COST, ERRORS, GENERATOR_WORD, KNOWN, LOADS, MEAN_WORD, MEMBERS_WORD, MOST_SHARED,
    SCATTER_WORD, TIMES, TURN_WORD,
};
use crate::generator::Generator;
use crate::memory::{AtomicWord, Words};

// 32-bit words of each member.
const MEMBER: usize = 2 * KNOWN;
// Of a member's numbers those that are used, as the pool tells them.
const FIELDS: [usize; 5] = [LOADS, TIMES, ERRORS, AHEAD, COST];

/// The memory: 64 bytes, and 128 for each member.
///
/// Of any size: what does not fit is not shared.
pub struct Shared<'a, W>(pub &'a W);

impl<W: Words> Shared<'_, W> {
    /// Takes it back, where JavaScript has it.
    pub fn take(&self, adaptive: &mut Learned, generator: &mut Generator) {
        let Some(turn) = self.0.word(TURN_WORD) else {
            return;
        };
        if turn.load(Relaxed) == 0 {
            return;
        }
        turn.store(0, Relaxed);
        let count = adaptive.members().min(MOST_SHARED);
        let word = |at| self.0.word(at).map_or(0, |word| word.load(Relaxed));
        *generator = Generator::from_state([0, 1, 2, 3].map(|i| word(GENERATOR_WORD + i)));
        for index in 0..count {
            let at = MEMBERS_WORD + index * MEMBER;
            adaptive.set_known(index, FIELDS.map(|field| self.double(at + 2 * field)));
        }
    }

    /// Gives it to JavaScript, where there are few members.
    pub fn give(&self, adaptive: &Learned, generator: &Generator) {
        let count = adaptive.members();
        if count > MOST_SHARED {
            return;
        }
        for (i, state) in generator.state().into_iter().enumerate() {
            if let Some(word) = self.0.word(GENERATOR_WORD + i) {
                word.store(state, Relaxed);
            }
        }
        self.put(MEAN_WORD, adaptive.mean());
        self.put(SCATTER_WORD, adaptive.scatter());
        for index in 0..count {
            let at = MEMBERS_WORD + index * MEMBER;
            for (field, value) in FIELDS.into_iter().zip(adaptive.known(index)) {
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
