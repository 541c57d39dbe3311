//! What is learned of few members, in memory that JavaScript has too: it picks among these by itself, since that takes less
//! than a call, and learns from leases. Here it is taken before each call that needs it, and given back after.

use std::sync::atomic::Ordering::Relaxed;

use super::constants::{GENERATOR_WORD, KNOWN, MOST_SHARED, NUMBERS_WORD, TURN_WORD};
use super::{COMMON, EACH, Learned};
use crate::generator::Generator;
use crate::memory::{AtomicWord, Words};

// 32-bit words of each member.
const MEMBER: usize = 2 * KNOWN;
// Where those of the first member begin, after those of all.
const MEMBERS_WORD: usize = NUMBERS_WORD + MEMBER;

/// The memory: 32 bytes, then 128 for all members together, and as many for each.
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
        adaptive.set_common(self.numbers::<COMMON>(NUMBERS_WORD));
        for index in 0..count {
            adaptive.set_known(index, self.numbers::<EACH>(MEMBERS_WORD + index * MEMBER));
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
        self.put(NUMBERS_WORD, &adaptive.common());
        for index in 0..count {
            self.put(MEMBERS_WORD + index * MEMBER, &adaptive.known(index));
        }
    }

    fn numbers<const COUNT: usize>(&self, at: usize) -> [f64; COUNT] {
        std::array::from_fn(|i| {
            let pair = self.0.pair(at + 2 * i);
            pair.map_or(0.0, |pair| f64::from_bits(pair.load(Relaxed)))
        })
    }

    fn put(&self, at: usize, numbers: &[f64]) {
        for (i, value) in numbers.iter().enumerate() {
            if let Some(pair) = self.0.pair(at + 2 * i) {
                pair.store(value.to_bits(), Relaxed);
            }
        }
    }
}
