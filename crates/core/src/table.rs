//! The table: one slot a node, read and written by many threads without a lock.
//!
//! Writers write slots, then publish: one step of the table's generation. A reader that sees that step sees every slot
//! written before it. A reading is one word, so there is no half of one; it carries a tag of the slot's generation, so
//! that whoever still writes for the slot's last owner changes nothing.

use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::layout::{self, Reading};
use crate::memory::{AtomicWord, Words};

/// Why memory can't be used as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The memory is shorter than a header; its bytes.
    TooShort(usize),
    /// A header word is not what this version expects.
    Mismatch {
        /// What the word means.
        what: &'static str,
        /// What it should be.
        expected: u32,
        /// What it is.
        found: u32,
    },
    /// The table says that it has more slots than it can ever have.
    Capacity {
        /// Slots that it says it has.
        capacity: u32,
        /// Most slots it says it can have.
        most: u32,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort(bytes) => write!(
                f,
                "a table's memory has at least {} bytes, this has {bytes}",
                layout::HEADER_BYTES
            ),
            Self::Mismatch {
                what,
                expected,
                found,
            } => write!(
                f,
                "this memory is not a table of this version: {what} is {found}, expected {expected}"
            ),
            Self::Capacity { capacity, most } => {
                write!(
                    f,
                    "the table says that it has {capacity} slots of at most {most}"
                )
            }
        }
    }
}

impl std::error::Error for AttachError {}

/// What became of a reading that was offered to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteResult {
    /// It is the slot's reading now.
    Stored,
    /// The slot has a sample that was taken later.
    Older,
    /// The slot belongs to another node now, or to none.
    Left,
}

/// A reading that may be used: of the right node, and not too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fresh {
    /// When the sample was taken: table time, ms.
    pub time: u64,
    /// CPU in 1/1000 percentage points.
    pub cpu: u32,
}

/// Where a node's requests in flight are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flights {
    /// The 32-bit word of the table.
    pub word: u32,
    /// What that word is where none are in flight: with any other tag it counts those of another node.
    pub tag: u32,
    /// What the word is now.
    pub count: u32,
}

impl Flights {
    /// Of a node without a slot: a word that has never this tag.
    pub const NONE: Self = Self {
        word: layout::MAGIC_WORD as u32,
        tag: 0,
        count: layout::MAGIC,
    };
}

/// A table over memory that was found to be one.
#[derive(Debug)]
pub struct Table<W> {
    pub(crate) memory: W,
}

impl<W: Words> Table<W> {
    /// Attaches to memory that holds a table. The memory may be longer or shorter than the table's slots: those beyond
    /// its end read as missing.
    pub fn attach(memory: W) -> Result<Self, AttachError> {
        if memory.words() < layout::HEADER_WORDS {
            return Err(AttachError::TooShort(memory.words() * 4));
        }
        let table = Self { memory };
        for (index, expected, what) in [
            (layout::MAGIC_WORD, layout::MAGIC, "magic"),
            (layout::VERSION_WORD, layout::VERSION, "version"),
            (
                layout::HEADER_BYTES_WORD,
                layout::HEADER_BYTES as u32,
                "header size",
            ),
            (
                layout::SLOT_BYTES_WORD,
                layout::SLOT_BYTES as u32,
                "slot size",
            ),
        ] {
            let found = table.load(index);
            if found != expected {
                return Err(AttachError::Mismatch {
                    what,
                    expected,
                    found,
                });
            }
        }
        let (capacity, most) = (table.capacity(), table.load(layout::MOST_SLOTS_WORD));
        if capacity > most {
            return Err(AttachError::Capacity { capacity, most });
        }
        Ok(table)
    }

    /// Makes an empty table of zeroed memory, before anyone else attaches.
    ///
    /// `epoch`: the clock's time now, ms
    pub fn create(memory: W, epoch: f64, capacity: u32, most: u32) -> Result<Self, AttachError> {
        for (index, value) in [
            (layout::MAGIC_WORD, layout::MAGIC),
            (layout::VERSION_WORD, layout::VERSION),
            (layout::HEADER_BYTES_WORD, layout::HEADER_BYTES as u32),
            (layout::SLOT_BYTES_WORD, layout::SLOT_BYTES as u32),
            (layout::MOST_SLOTS_WORD, most),
            (layout::CAPACITY_WORD, capacity),
        ] {
            if let Some(word) = memory.word(index) {
                word.store(value, Release);
            }
        }
        if let Some(pair) = memory.pair(layout::EPOCH_WORD) {
            pair.store(epoch.to_bits(), Release);
        }
        Self::attach(memory)
    }

    fn load(&self, index: usize) -> u32 {
        self.memory.word(index).map_or(0, |word| word.load(Acquire))
    }

    fn slot_part(&self, slot: u32, part: usize) -> Option<&W::Word> {
        // `NO_SLOT` needs no case of its own: it lies beyond any memory that has 32-bit slot numbers.
        self.memory.word(layout::slot_word(slot).checked_add(part)?)
    }

    #[inline]
    fn reading_word(&self, slot: u32) -> Option<&W::Pair> {
        if slot == layout::NO_SLOT {
            return None;
        }
        self.memory.pair(layout::slot_word(slot) + layout::CPU_WORD)
    }

    /// Slots that the table has; only grows.
    pub fn capacity(&self) -> u32 {
        self.load(layout::CAPACITY_WORD)
    }

    /// Tells everyone that the memory has room for `capacity` slots now. False, and nothing happens, where that is not
    /// more than before or more than the table can have. For the thread that owns the table, after the memory grew.
    pub fn grow(&self, capacity: u32) -> bool {
        if capacity <= self.capacity() || capacity > self.load(layout::MOST_SLOTS_WORD) {
            return false;
        }
        if let Some(word) = self.memory.word(layout::CAPACITY_WORD) {
            word.store(capacity, Release);
        }
        true
    }

    /// How many publications there were, modulo 2^32. Whatever was written before the last of them is seen by reads
    /// that come after this.
    pub fn generation(&self) -> u32 {
        self.load(layout::GENERATION_WORD)
    }

    /// Makes everything that this thread wrote so far visible to the picks of every thread.
    pub fn publish(&self) {
        if let Some(word) = self.memory.word(layout::GENERATION_WORD) {
            word.fetch_add(1, Release);
        }
    }

    /// The slot's reading, whoever it belongs to; none where the table has no such slot.
    #[inline]
    pub fn reading(&self, slot: u32) -> Option<Reading> {
        // Relaxed is enough: a reading is one word, and what was published comes with the generation.
        self.reading_word(slot)
            .map(|word| Reading(word.load(Relaxed)))
    }

    /// The slot's reading where it was written for this slot generation and is at most `ttl` ms old at `now` (table
    /// time, ms). A sample from the future is fresh.
    #[inline]
    pub fn read(&self, slot: u32, slot_generation: u32, now: f64, ttl: f64) -> Option<Fresh> {
        let reading = self.reading(slot)?;
        let cpu = reading.cpu()?;
        let fresh = reading.tag() == layout::reading_tag(slot_generation)
            && now - reading.time() as f64 <= ttl;
        fresh.then_some(Fresh {
            time: reading.time(),
            cpu,
        })
    }

    /// Offers a reading to a slot. The sample taken last stays, and of two taken at once the one that came last.
    ///
    /// `time`: table time of the sample, ms
    /// `cpu`: 1/1000 percentage points
    pub fn write(&self, slot: u32, slot_generation: u32, time: u64, cpu: u32) -> WriteResult {
        let Some(word) = self.reading_word(slot) else {
            return WriteResult::Left;
        };
        // The tag alone comes round after 512 nodes.
        if !self.is_of(slot, slot_generation) {
            return WriteResult::Left;
        }
        let new = Reading::new(time, slot_generation, cpu);
        let mut before = Reading(word.load(Relaxed));
        loop {
            if before.tag() != new.tag() {
                return WriteResult::Left;
            }
            if before.cpu().is_some() && before.time() > new.time() {
                return WriteResult::Older;
            }
            match word.compare_exchange(before.0, new.0, Release) {
                Ok(_) => return WriteResult::Stored,
                Err(now) => before = Reading(now),
            }
        }
    }

    /// The slot's generation, which its next owner is given; none where the table has no such slot.
    pub fn slot_generation(&self, slot: u32) -> Option<u32> {
        Some(
            self.slot_part(slot, layout::SLOT_GENERATION_WORD)?
                .load(Acquire),
        )
    }

    /// Empties a slot, so that it may serve another node: from here on nothing that is written for the last owner is
    /// taken. For the thread that owns the table. Returns the new generation; none where the table has no such slot.
    pub fn give_back(&self, slot: u32) -> Option<u32> {
        let step = self.slot_part(slot, layout::SLOT_GENERATION_WORD)?;
        let flights = self.slot_part(slot, layout::IN_FLIGHT_WORD)?;
        let reading = self.reading_word(slot)?;
        let generation = step.load(Relaxed).wrapping_add(1);
        step.store(generation, Release);
        // A late compare-and-exchange comes before these and is lost, or after them and finds the new tag. Stores would
        // do as well, but loom takes a store and a concurrent exchange for unordered.
        reading.swap(Reading::none(generation).0, Release);
        flights.swap(layout::no_flights(generation), Release);
        self.clear_report(slot, generation);
        self.clear_registration(slot, generation);
        Some(generation)
    }

    // Whoever measured the last owner is no longer registered.
    fn clear_registration(&self, slot: u32, slot_generation: u32) {
        let index = layout::slot_word(slot) + layout::REGISTRATION_WORD;
        if let Some(word) = self.memory.pair(index) {
            word.swap(Reading::none(slot_generation).0, Release);
        }
    }

    /// Counts one more request in flight. False, and nothing is counted, where the slot belongs to another node now or
    /// the count is at its most (1,048,575).
    pub fn enter(&self, slot: u32, slot_generation: u32) -> bool {
        self.count(slot, slot_generation, |count| {
            (count < layout::COUNT_MASK).then(|| count + 1)
        })
    }

    /// Counts one request less; never below zero, and never for a node that the slot no longer belongs to (false).
    pub fn leave(&self, slot: u32, slot_generation: u32) -> bool {
        self.count(slot, slot_generation, |count| count.checked_sub(1))
    }

    // Whether the slot is the one of this generation: the tag of the in-flight word comes round after 4,096 nodes.
    pub(crate) fn is_of(&self, slot: u32, slot_generation: u32) -> bool {
        self.slot_part(slot, layout::SLOT_GENERATION_WORD)
            .is_some_and(|word| word.load(Relaxed) == slot_generation)
    }

    fn count(&self, slot: u32, slot_generation: u32, step: impl Fn(u32) -> Option<u32>) -> bool {
        let Some(word) = self.slot_part(slot, layout::IN_FLIGHT_WORD) else {
            return false;
        };
        if !self.is_of(slot, slot_generation) {
            return false;
        }
        let mut before = word.load(Relaxed);
        loop {
            if !layout::flights_of(before, slot_generation) {
                return false;
            }
            let Some(count) = step(before & layout::COUNT_MASK) else {
                return false;
            };
            match word.compare_exchange(before, before & !layout::COUNT_MASK | count, Relaxed) {
                Ok(_) => return true,
                Err(now) => before = now,
            }
        }
    }

    /// Takes back the requests in flight that one thread counted, which is at it no more. Of what a slot's owner before counted
    /// nothing is taken; and never below zero.
    ///
    /// `ledger`: two words a slot, the count of this thread's requests and the slot generation that they are of; emptied
    pub fn take_back<L: Words>(&self, ledger: &L) {
        for (index, slot) in (0..ledger.words()).step_by(2).zip(0..self.capacity()) {
            let (Some(cell), Some(of), Some(word)) = (
                ledger.word(index),
                ledger.word(index + 1),
                self.slot_part(slot, layout::IN_FLIGHT_WORD),
            ) else {
                return;
            };
            let counted = cell.load(Relaxed);
            if counted == 0 {
                continue;
            }
            // First: what is taken back twice would be another thread's.
            cell.store(0, Relaxed);
            let generation = of.load(Relaxed);
            if !self.is_of(slot, generation) {
                continue;
            }
            let mut before = word.load(Relaxed);
            while layout::flights_of(before, generation) {
                let left = (before & layout::COUNT_MASK).saturating_sub(counted);
                match word.compare_exchange(before, before & !layout::COUNT_MASK | left, Relaxed) {
                    Ok(_) => break,
                    Err(now) => before = now,
                }
            }
        }
    }

    /// Where requests in flight at the slot's node are counted, and how many that are now.
    #[inline]
    pub fn flights(&self, slot: u32, slot_generation: u32) -> Flights {
        let part = self.slot_part(slot, layout::IN_FLIGHT_WORD);
        part.map_or(Flights::NONE, |part| Flights {
            word: (layout::slot_word(slot) + layout::IN_FLIGHT_WORD) as u32,
            tag: layout::no_flights(slot_generation),
            count: part.load(Relaxed),
        })
    }

    /// Requests in flight at the slot's node; 0 where the slot belongs to another node now.
    pub fn in_flight(&self, slot: u32, slot_generation: u32) -> u32 {
        match self
            .slot_part(slot, layout::IN_FLIGHT_WORD)
            .map(|word| word.load(Relaxed))
        {
            Some(word) if layout::flights_of(word, slot_generation) => word & layout::COUNT_MASK,
            _ => 0,
        }
    }
}
