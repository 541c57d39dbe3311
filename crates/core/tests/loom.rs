//! The table's protocol under every interleaving that loom can make of it:
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p idlest-core --test loom` (a target folder of its own, since
//! the flag is in every crate's fingerprint).
//!
//! Real memory can't be modelled, so the words are loom's atomics: a 64-bit word is one object, as the layout has it.
#![cfg(loom)]

use std::sync::atomic::Ordering;

use idlest_core::layout::{self, Reading, TIME_BIAS};
use idlest_core::memory::{AtomicWord, Words};
use idlest_core::table::{Table, WriteResult};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64};
use loom::thread;

struct Word(AtomicU32);
struct Pair(AtomicU64);

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

// Words 4 to 31 of a slot are unused: leaving them out keeps loom's state small.
const USED: usize = 4;

struct Memory {
    header: Vec<Word>,
    epoch: Pair,
    slots: Vec<(Word, Word, Pair)>,
}

impl Memory {
    fn new(slots: usize) -> Self {
        let word = || Word(AtomicU32::new(0));
        let pair = || Pair(AtomicU64::new(0));
        Self {
            header: (0..=layout::GENERATION_WORD).map(|_| word()).collect(),
            epoch: pair(),
            slots: (0..slots).map(|_| (word(), word(), pair())).collect(),
        }
    }

    fn slot(&self, index: usize) -> Option<(&(Word, Word, Pair), usize)> {
        let index = index.checked_sub(layout::HEADER_WORDS)?;
        let slot = self.slots.get(index / layout::SLOT_WORDS)?;
        Some((slot, index % layout::SLOT_WORDS)).filter(|(_, part)| *part < USED)
    }
}

// The memory as far as one thread has a view of it.
#[derive(Clone)]
struct View {
    memory: Arc<Memory>,
    slots: u32,
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
            layout::SLOT_GENERATION_WORD => Some(&slot.0),
            layout::IN_FLIGHT_WORD => Some(&slot.1),
            _ => None,
        }
    }
    fn pair(&self, index: usize) -> Option<&Pair> {
        if index == layout::EPOCH_WORD {
            return Some(&self.memory.epoch);
        }
        let (slot, part) = self.memory.slot(index).filter(|_| index < self.words())?;
        (part == layout::CPU_WORD).then_some(&slot.2)
    }
}

const NOW: f64 = TIME_BIAS as f64;

fn table(slots: u32, most: u32) -> (View, Arc<Table<View>>) {
    let view = View {
        memory: Arc::new(Memory::new(most as usize)),
        slots,
    };
    let table = Table::create(view.clone(), 0.0, slots, most).unwrap();
    (view, Arc::new(table))
}

fn cpu(table: &Table<View>, slot: u32) -> Option<u32> {
    table.read(slot, 0, NOW, 1_000.0).map(|fresh| fresh.cpu)
}

#[test]
fn a_reader_of_a_generation_sees_what_was_written_before_it() {
    loom::model(|| {
        let (_, table) = table(2, 2);
        let writer = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                table.write(0, 0, TIME_BIAS, 1);
                table.write(1, 0, TIME_BIAS, 2);
                table.publish();
                table.write(0, 0, TIME_BIAS + 1, 3);
                table.publish();
            })
        };
        let generation = table.generation();
        let seen = (cpu(&table, 0), cpu(&table, 1));
        match generation {
            0 => {}
            1 => assert!(matches!(seen, (Some(1 | 3), Some(2)))),
            _ => assert_eq!(seen, (Some(3), Some(2))),
        }
        writer.join().unwrap();
    });
}

// Two pollers, one reader: the step of one carries nothing of the other, but each carries its own.
#[test]
fn each_writers_publication_carries_its_own_slots() {
    loom::model(|| {
        let (_, table) = table(2, 2);
        let writers = [0, 1].map(|slot| {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                table.write(slot, 0, TIME_BIAS, slot + 1);
                table.publish();
            })
        });
        let generation = table.generation();
        let seen = [0, 1]
            .iter()
            .filter(|slot| cpu(&table, **slot).is_some())
            .count();
        assert!(
            seen >= generation as usize,
            "generation {generation}, {seen} readings"
        );
        for writer in writers {
            writer.join().unwrap();
        }
    });
}

#[test]
fn a_reading_is_never_half_of_one() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        let writers = [1, 2].map(|step| {
            let table = Arc::clone(&table);
            thread::spawn(move || table.write(0, 0, TIME_BIAS + u64::from(step), 10 * step))
        });
        if let Some(fresh) = table.read(0, 0, NOW, 1_000.0) {
            assert!(matches!(
                (fresh.time - TIME_BIAS, fresh.cpu),
                (1, 10) | (2, 20)
            ));
        }
        for writer in writers {
            writer.join().unwrap();
        }
    });
}

#[test]
fn the_newest_of_concurrent_samples_stays() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        let writers = [5, 7].map(|age| {
            let table = Arc::clone(&table);
            thread::spawn(move || table.write(0, 0, TIME_BIAS - age, age as u32))
        });
        let here = table.write(0, 0, TIME_BIAS - 6, 6);
        let results = writers.map(|writer| writer.join().unwrap());
        assert_eq!(cpu(&table, 0), Some(5));
        assert_eq!(results[0], WriteResult::Stored, "nothing was newer");
        assert_ne!(here, WriteResult::Left);
    });
}

#[test]
fn growth_comes_with_the_publication_that_needs_it() {
    loom::model(|| {
        let (view, table) = table(1, 2);
        let owner = {
            let view = view.clone();
            thread::spawn(move || {
                let table = Table::attach(View { slots: 2, ..view }).unwrap();
                assert!(table.grow(2));
                table.write(1, 0, TIME_BIAS, 9);
                table.publish();
            })
        };
        // Bound before the table grew: the slot is not there, and picks go on.
        assert_eq!(cpu(&table, 1), None);
        let generation = table.generation();
        let grown = View {
            slots: table.capacity(),
            ..view
        };
        let rebound = Table::attach(grown).unwrap();
        let seen = cpu(&rebound, 1);
        assert!(matches!(seen, None | Some(9)));
        if generation == 1 {
            assert_eq!(seen, Some(9));
        }
        owner.join().unwrap();
        assert_eq!(table.capacity(), 2);
    });
}

// The capacity carries what the owner did to the new slots before it.
#[test]
fn who_sees_the_capacity_sees_the_slots_prepared_before_it() {
    loom::model(|| {
        let (view, table) = table(1, 2);
        let owner = {
            let view = view.clone();
            thread::spawn(move || {
                let table = Table::attach(View { slots: 2, ..view }).unwrap();
                table.write(1, 0, TIME_BIAS, 9);
                assert!(table.grow(2));
            })
        };
        let capacity = table.capacity();
        let rebound = Table::attach(View {
            slots: capacity,
            ..view
        })
        .unwrap();
        if capacity == 2 {
            assert_eq!(cpu(&rebound, 1), Some(9));
        }
        owner.join().unwrap();
    });
}

#[test]
fn a_late_report_for_the_last_owner_changes_nothing() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        table.write(0, 0, TIME_BIAS, 1);
        let late = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.write(0, 0, TIME_BIAS + 9, 2))
        };
        let generation = table.give_back(0).unwrap();
        assert_eq!(table.reading(0), Some(Reading::none(generation)));
        assert_eq!(
            table.write(0, generation, TIME_BIAS, 3),
            WriteResult::Stored
        );
        let result = late.join().unwrap();
        assert!(matches!(result, WriteResult::Stored | WriteResult::Left));
        assert_eq!(
            table.reading(0),
            Some(Reading::new(TIME_BIAS, generation, 3))
        );
    });
}

// A reader that still has the old generation never takes the new owner's reading for the old one's, nor the reverse.
#[test]
fn a_reading_is_taken_by_its_owner_alone() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        table.write(0, 0, TIME_BIAS, 1);
        let owner = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let generation = table.give_back(0).unwrap();
                table.write(0, generation, TIME_BIAS, 3);
                table.publish();
            })
        };
        let published = table.generation();
        let generation = table.slot_generation(0).unwrap();
        let read = |generation| {
            table
                .read(0, generation, NOW, 1_000.0)
                .map(|fresh| fresh.cpu)
        };
        assert!(matches!(read(0), None | Some(1)));
        assert!(matches!(read(1), None | Some(3)));
        if published == 1 {
            assert_eq!((generation, read(0), read(1)), (1, None, Some(3)));
        }
        owner.join().unwrap();
    });
}

#[test]
fn a_late_release_for_the_last_owner_does_not_count() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        assert!(table.enter(0, 0));
        let late = {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                table.leave(0, 0);
                table.enter(0, 0);
            })
        };
        let generation = table.give_back(0).unwrap();
        assert!(table.enter(0, generation));
        late.join().unwrap();
        assert_eq!(table.in_flight(0, generation), 1);
        assert_eq!(table.in_flight(0, 0), 0);
    });
}

#[test]
fn counts_lose_no_step_and_never_go_below_zero() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        let threads = [0, 1].map(|_| {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                assert!(table.enter(0, 0));
                assert!(table.leave(0, 0), "this thread's own");
            })
        });
        assert!(table.in_flight(0, 0) <= 2);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(table.in_flight(0, 0), 0);
    });
}

#[test]
fn releases_of_one_request_count_once() {
    loom::model(|| {
        let (_, table) = table(1, 1);
        assert!(table.enter(0, 0));
        let threads = [0, 1].map(|_| {
            let table = Arc::clone(&table);
            thread::spawn(move || table.leave(0, 0))
        });
        let released = threads.map(|thread| thread.join().unwrap());
        assert_eq!(released.iter().filter(|released| **released).count(), 1);
        assert_eq!(table.in_flight(0, 0), 0);
    });
}
