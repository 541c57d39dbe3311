//! The words of a table's memory. JavaScript owns that memory and writes to it from any thread, so nothing here forms a
//! slice or a plain reference to it: only references to single atomics, each word always with the same size.
//!
//! All `unsafe` code of this crate is in this module.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// One atomic word. A trait, so that the model checker can put its own atomics in place of the real ones.
pub trait AtomicWord {
    /// What the word holds.
    type Value: Copy;
    /// Reads the word.
    fn load(&self, order: Ordering) -> Self::Value;
    /// Replaces the word.
    fn store(&self, value: Self::Value, order: Ordering);
    /// Replaces the word where it is `current`; else gives what it is. May fail without a reason.
    fn compare_exchange(
        &self,
        current: Self::Value,
        new: Self::Value,
        success: Ordering,
    ) -> Result<Self::Value, Self::Value>;
    /// Replaces the word; gives what was there.
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Adds, wrapping; gives what was there.
    fn fetch_add(&self, value: Self::Value, order: Ordering) -> Self::Value;
}

macro_rules! atomic_word {
    ($atomic:ty, $value:ty) => {
        impl AtomicWord for $atomic {
            type Value = $value;
            #[inline]
            fn load(&self, order: Ordering) -> $value {
                self.load(order)
            }
            #[inline]
            fn store(&self, value: $value, order: Ordering) {
                self.store(value, order);
            }
            #[inline]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange_weak(current, new, success, Ordering::Relaxed)
            }
            #[inline]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.swap(value, order)
            }
            #[inline]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value, order)
            }
        }
    };
}

atomic_word!(AtomicU32, u32);
atomic_word!(AtomicU64, u64);

/// A table's memory as 32-bit and 64-bit atomic words.
pub trait Words {
    /// A 32-bit word.
    type Word: AtomicWord<Value = u32>;
    /// A 64-bit word.
    type Pair: AtomicWord<Value = u64>;
    /// How many 32-bit words there are.
    fn words(&self) -> usize;
    /// The 32-bit word at `index`; none beyond the end.
    fn word(&self, index: usize) -> Option<&Self::Word>;
    /// The 64-bit word that starts at the 32-bit word `index`; none beyond the end or where `index` is odd.
    fn pair(&self, index: usize) -> Option<&Self::Pair>;
}

impl<W: Words> Words for Arc<W> {
    type Word = W::Word;
    type Pair = W::Pair;
    fn words(&self) -> usize {
        (**self).words()
    }
    fn word(&self, index: usize) -> Option<&W::Word> {
        (**self).word(index)
    }
    fn pair(&self, index: usize) -> Option<&W::Pair> {
        (**self).pair(index)
    }
}

/// Memory that someone else owns, such as a SharedArrayBuffer.
#[derive(Debug)]
pub struct Foreign {
    // Not a slice: other threads write while this exists. `NonNull` also keeps it on one thread.
    base: NonNull<u8>,
    words: usize,
}

impl Foreign {
    /// Takes the memory at `base`, `bytes` long; an odd end is left out. None where the address is null or not
    /// aligned to 8 bytes.
    ///
    /// # Safety
    /// For as long as the value lives, the memory must stay allocated at this address, readable and writable, and all
    /// that write to it meanwhile must do so by atomic operations, each word always with the same size.
    #[must_use]
    pub unsafe fn new(base: *mut u8, bytes: usize) -> Option<Self> {
        let base = NonNull::new(base)?;
        (base.as_ptr().addr().is_multiple_of(align_of::<AtomicU64>())).then_some(Self {
            base,
            words: bytes / 4,
        })
    }
}

impl Words for Foreign {
    type Word = AtomicU32;
    type Pair = AtomicU64;

    #[inline]
    fn words(&self) -> usize {
        self.words
    }

    #[inline]
    fn word(&self, index: usize) -> Option<&AtomicU32> {
        if index >= self.words {
            return None;
        }
        // SAFETY: the word ends at or before `words * 4` bytes, which `new` was promised; a multiple of 4 from an
        // address that is a multiple of 8 is aligned; and by the same promise the memory lives as long as `self`, is
        // written atomically, and this word with this size only (`crate::table` alone decides on sizes).
        Some(unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(index * 4).cast()) })
    }

    #[inline]
    fn pair(&self, index: usize) -> Option<&AtomicU64> {
        if !index.is_multiple_of(2) || index >= self.words.saturating_sub(1) {
            return None;
        }
        // SAFETY: `index + 1 < words`, so both halves are inside the memory; `index` is even and the base a multiple
        // of 8, so the address is aligned; the rest as for `word`.
        Some(unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(index * 4).cast()) })
    }
}

/// Memory that Rust allocated: for tests, benchmarks and programs without JavaScript. It can be used by many threads.
#[derive(Debug)]
pub struct Owned {
    // 64-bit, for the alignment; which size each word is used with is up to the layout.
    pairs: Box<[AtomicU64]>,
}

impl Owned {
    /// Allocates zeroed memory of at least `bytes` bytes.
    #[must_use]
    pub fn zeroed(bytes: usize) -> Self {
        Self {
            pairs: (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The same memory as JavaScript's would be seen, its first `bytes` bytes at most.
    ///
    /// # Safety
    /// `self` must outlive what is returned.
    #[must_use]
    pub unsafe fn foreign(&self, bytes: usize) -> Foreign {
        let base = NonNull::from(&*self.pairs).cast();
        Foreign {
            base,
            words: bytes.min(self.pairs.len() * 8) / 4,
        }
    }
}

impl Words for Owned {
    type Word = AtomicU32;
    type Pair = AtomicU64;

    fn words(&self) -> usize {
        self.pairs.len() * 2
    }

    fn word(&self, index: usize) -> Option<&AtomicU32> {
        let pair = self.pairs.get(index / 2)?;
        // SAFETY: a half of an `AtomicU64` that lives as long as `self`, aligned to 4 bytes. The pointer may be written
        // through, since atomics are cells. The layout uses no word with both sizes.
        Some(unsafe { AtomicU32::from_ptr(pair.as_ptr().cast::<u32>().add(index % 2)) })
    }

    fn pair(&self, index: usize) -> Option<&AtomicU64> {
        if !index.is_multiple_of(2) {
            return None;
        }
        self.pairs.get(index / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_the_memory_ends() {
        let owned = Owned::zeroed(64);
        // SAFETY: `owned` lives to the end of the test.
        let memory = unsafe { owned.foreign(20) };
        assert_eq!(memory.words(), 5);
        assert!(memory.word(4).is_some());
        assert!(memory.word(5).is_none());
        assert!(memory.word(usize::MAX).is_none());
        assert!(memory.pair(2).is_some());
        assert!(memory.pair(4).is_none(), "its second half is outside");
        assert!(memory.pair(usize::MAX - 1).is_none());
        // SAFETY: as above.
        let nothing = unsafe { owned.foreign(0) };
        assert!(nothing.word(0).is_none());
        assert!(nothing.pair(0).is_none());
    }

    #[test]
    fn pairs_start_at_even_words() {
        let owned = Owned::zeroed(64);
        // SAFETY: `owned` lives to the end of the test.
        let memory = unsafe { owned.foreign(64) };
        assert!(memory.pair(1).is_none());
        assert!(owned.pair(1).is_none());
        assert!(owned.pair(16).is_none());
        assert!(owned.word(16).is_none());
    }

    #[test]
    fn null_and_unaligned_addresses_are_refused() {
        let owned = Owned::zeroed(64);
        let base = owned.pairs.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: nothing is read from what would come back; the last one is inside `owned`.
        unsafe {
            assert!(Foreign::new(std::ptr::null_mut(), 64).is_none());
            assert!(Foreign::new(base.add(4), 32).is_none());
            assert!(Foreign::new(base, 64).is_some());
        }
    }

    #[test]
    fn both_ways_see_the_same_words() {
        let owned = Owned::zeroed(64);
        // SAFETY: `owned` lives to the end of the test.
        let memory = unsafe { owned.foreign(64) };
        for index in 0..16 {
            memory
                .word(index)
                .unwrap()
                .store(index as u32 + 1, Ordering::Relaxed);
        }
        for index in 0..16 {
            assert_eq!(
                owned.word(index).unwrap().load(Ordering::Relaxed),
                index as u32 + 1
            );
        }
    }
}
