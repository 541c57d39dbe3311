//! A table's words as loom's atomics.

use std::sync::atomic::Ordering;

use idlest_core::layout;
use idlest_core::memory::{AtomicWord, Words};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64};

pub struct Word(AtomicU32);
pub struct Pair(AtomicU64);

macro_rules! atomic_word {
    ($name:ident, $value:ty) => {
        impl AtomicWord for $name {
            type Value = $value;
            fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }
            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }
            // The strong one: loom does not model failures without a reason.
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
            ) -> Result<$value, $value> {
                self.0
                    .compare_exchange(current, new, success, Ordering::Relaxed)
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }
        }
    };
}

atomic_word!(Word, u32);
atomic_word!(Pair, u64);

/// The one metric that a slot has here: leaving the others out keeps loom's state small.
pub const METRIC: usize = 5;
const METRIC_WORD: usize = layout::METRICS_WORD + 2 * METRIC;

struct Slot {
    generation: Word,
    in_flight: Word,
    cpu: Pair,
    report: Pair,
    metric: Pair,
}

impl Slot {
    fn new() -> Self {
        let word = || Word(AtomicU32::new(0));
        let pair = || Pair(AtomicU64::new(0));
        Self {
            generation: word(),
            in_flight: word(),
            cpu: pair(),
            report: pair(),
            metric: pair(),
        }
    }
}

pub struct Memory {
    header: Vec<Word>,
    epoch: Pair,
    slots: Vec<Slot>,
}

impl Memory {
    pub fn new(slots: usize) -> Self {
        let word = || Word(AtomicU32::new(0));
        Self {
            header: (0..=layout::GENERATION_WORD).map(|_| word()).collect(),
            epoch: Pair(AtomicU64::new(0)),
            slots: (0..slots).map(|_| Slot::new()).collect(),
        }
    }

    fn slot(&self, index: usize) -> Option<(&Slot, usize)> {
        let index = index.checked_sub(layout::HEADER_WORDS)?;
        let slot = self.slots.get(index / layout::SLOT_WORDS)?;
        Some((slot, index % layout::SLOT_WORDS))
    }
}

// The memory as far as one thread has a view of it.
#[derive(Clone)]
pub struct View {
    pub memory: Arc<Memory>,
    pub slots: u32,
}

impl Words for View {
    type Word = Word;
    type Pair = Pair;
    fn words(&self) -> usize {
        layout::slot_word(self.slots)
    }
    fn word(&self, index: usize) -> Option<&Word> {
        if index < layout::HEADER_WORDS {
            return self.memory.header.get(index);
        }
        let (slot, part) = self.memory.slot(index).filter(|_| index < self.words())?;
        match part {
            layout::SLOT_GENERATION_WORD => Some(&slot.generation),
            layout::IN_FLIGHT_WORD => Some(&slot.in_flight),
            _ => None,
        }
    }
    fn pair(&self, index: usize) -> Option<&Pair> {
        if index == layout::EPOCH_WORD {
            return Some(&self.memory.epoch);
        }
        let (slot, part) = self.memory.slot(index).filter(|_| index < self.words())?;
        match part {
            layout::CPU_WORD => Some(&slot.cpu),
            layout::REPORT_WORD => Some(&slot.report),
            METRIC_WORD => Some(&slot.metric),
            _ => None,
        }
    }
}
