//! The table's protocol on one thread, over memory that Rust allocated.

use idlest_core::layout::{self, CPU_MAX, NO_SLOT, Reading, TIME_MAX};
use idlest_core::memory::{Owned, Words};
use idlest_core::table::{AttachError, Fresh, Table, WriteResult};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

const NOW: u64 = layout::TIME_BIAS;

fn bytes_for(slots: u32) -> usize {
    layout::HEADER_BYTES + slots as usize * layout::SLOT_BYTES
}

fn memory(slots: u32) -> (Arc<Owned>, Table<Arc<Owned>>) {
    let memory = Arc::new(Owned::zeroed(bytes_for(slots)));
    let table = Table::create(Arc::clone(&memory), 12.5, slots, 8).unwrap();
    (memory, table)
}

fn table(slots: u32) -> Table<Arc<Owned>> {
    memory(slots).1
}

fn cpu(table: &Table<Arc<Owned>>, slot: u32, generation: u32) -> Option<u32> {
    table
        .read(slot, generation, NOW as f64, 1_000.0)
        .map(|fresh| fresh.cpu)
}

#[test]
fn a_created_table_can_be_attached_to() {
    let (memory, _) = memory(2);
    let table = Table::attach(Arc::clone(&memory)).unwrap();
    assert_eq!(table.capacity(), 2);
    assert_eq!(
        memory.pair(layout::EPOCH_WORD).unwrap().load(Relaxed),
        12.5_f64.to_bits()
    );
}

#[test]
fn memory_that_is_no_table_is_refused() {
    let short = Owned::zeroed(layout::HEADER_BYTES - 8);
    assert_eq!(
        Table::attach(short).unwrap_err(),
        AttachError::TooShort(120)
    );
    for (word, value, what) in [
        (layout::MAGIC_WORD, 0, "magic"),
        (layout::VERSION_WORD, 1, "version"),
        (layout::HEADER_BYTES_WORD, 64, "header size"),
        (layout::SLOT_BYTES_WORD, 64, "slot size"),
    ] {
        let (memory, _) = memory(1);
        memory.word(word).unwrap().store(value, Relaxed);
        match Table::attach(memory).unwrap_err() {
            AttachError::Mismatch {
                what: found,
                found: now,
                ..
            } => {
                assert_eq!((found, now), (what, value));
            }
            other => panic!("{other}"),
        }
    }
    let (memory, _) = memory(1);
    memory
        .word(layout::CAPACITY_WORD)
        .unwrap()
        .store(9, Relaxed);
    let error = Table::attach(memory).unwrap_err();
    assert_eq!(
        error,
        AttachError::Capacity {
            capacity: 9,
            most: 8
        }
    );
    assert!(error.to_string().contains("9 slots of at most 8"));
}

#[test]
fn a_reading_is_fresh_up_to_its_ttl() {
    let table = table(1);
    assert_eq!(table.write(0, 0, NOW, 42_000), WriteResult::Stored);
    let read = |now: f64, ttl: f64| table.read(0, 0, now, ttl);
    let fresh = Some(Fresh {
        time: NOW,
        cpu: 42_000,
    });
    assert_eq!(read(NOW as f64 + 1_000.0, 1_000.0), fresh);
    assert_eq!(read(NOW as f64 + 1_000.5, 1_000.0), None);
    assert_eq!(read(NOW as f64 - 5_000.0, 0.0), fresh, "from the future");
}

#[test]
fn an_empty_slot_has_no_reading() {
    let table = table(1);
    assert_eq!(cpu(&table, 0, 0), None);
    assert_eq!(table.reading(0), Some(Reading::none(0)));
}

#[test]
fn the_newest_sample_wins() {
    let table = table(1);
    assert_eq!(table.write(0, 0, NOW, 10), WriteResult::Stored);
    assert_eq!(table.write(0, 0, NOW - 1, 20), WriteResult::Older);
    assert_eq!(cpu(&table, 0, 0), Some(10));
    assert_eq!(
        table.write(0, 0, NOW, 30),
        WriteResult::Stored,
        "of two at once, the later one"
    );
    assert_eq!(table.write(0, 0, NOW + 1, 40), WriteResult::Stored);
    assert_eq!(cpu(&table, 0, 0), Some(40));
}

#[test]
fn times_and_values_beyond_the_range_are_clamped() {
    let table = table(1);
    table.write(0, 0, u64::MAX, u32::MAX);
    let reading = table.reading(0).unwrap();
    assert_eq!((reading.time(), reading.cpu()), (TIME_MAX, Some(CPU_MAX)));
    assert_eq!(
        table.write(0, 0, u64::MAX, 1),
        WriteResult::Stored,
        "as late as the last one"
    );
}

#[test]
fn the_last_owner_of_a_slot_changes_nothing() {
    let table = table(1);
    table.write(0, 0, NOW, 10);
    assert!(table.enter(0, 0));
    assert_eq!(table.give_back(0), Some(1));
    assert_eq!(table.slot_generation(0), Some(1));
    assert_eq!(table.reading(0), Some(Reading::none(1)));
    assert_eq!(table.in_flight(0, 1), 0);
    assert_eq!(table.write(0, 0, NOW + 5, 20), WriteResult::Left);
    assert!(!table.leave(0, 0));
    assert!(!table.enter(0, 0));
    assert_eq!(
        table.write(0, 1, NOW - 5, 30),
        WriteResult::Stored,
        "its time counts anew"
    );
    assert_eq!(cpu(&table, 0, 0), None);
    assert_eq!(cpu(&table, 0, 1), Some(30));
}

#[test]
fn slot_generations_wrap_and_all_of_their_bits_tell_owners_apart() {
    let (memory, table) = memory(1);
    memory
        .word(layout::slot_word(0))
        .unwrap()
        .store(u32::MAX, Relaxed);
    assert_eq!(table.give_back(0), Some(0));
    assert!(!table.enter(0, 4_096), "the count's tag has 12 bits");
    assert_eq!(
        table.write(0, 512, NOW, 1),
        WriteResult::Left,
        "the reading's has 9"
    );
}

#[test]
fn counts_stay_between_zero_and_the_most() {
    let (memory, table) = memory(1);
    assert!(!table.leave(0, 0));
    assert!(table.enter(0, 0));
    assert_eq!(table.in_flight(0, 0), 1);
    assert!(table.leave(0, 0));
    assert!(!table.leave(0, 0));
    assert_eq!(table.in_flight(0, 0), 0);
    let word = memory
        .word(layout::slot_word(0) + layout::IN_FLIGHT_WORD)
        .unwrap();
    word.store(layout::COUNT_MASK - 1, Relaxed);
    assert!(table.enter(0, 0));
    assert!(!table.enter(0, 0), "a carry would change the tag");
    assert_eq!(table.in_flight(0, 0), layout::COUNT_MASK);
    assert!(table.leave(0, 0));
}

#[test]
fn what_a_thread_counted_is_taken_back_and_nothing_else() {
    let table = table(3);
    table.give_back(1);
    for (slot, generation) in [(0, 0), (0, 0), (0, 0), (1, 1), (2, 0)] {
        assert!(table.enter(slot, generation));
    }
    let ledger = Owned::zeroed(8 * 3);
    let store = |slot: usize, count: u32| ledger.word(2 * slot).unwrap().store(count, Relaxed);
    store(0, 2);
    // Of the slot's owner before.
    store(1, 1);
    // More than there are: others have taken some back.
    store(2, 9);
    table.take_back(&ledger);
    let left = [(0, 0), (1, 1), (2, 0)].map(|(slot, generation)| table.in_flight(slot, generation));
    assert_eq!(left, [1, 1, 0]);
    table.take_back(&ledger);
    assert_eq!(table.in_flight(0, 0), 1, "once");
}

#[test]
fn a_ledger_of_another_length_than_the_table_is_taken_as_far_as_it_goes() {
    let table = table(2);
    assert!(table.enter(1, 0));
    let long = Owned::zeroed(4 * 64);
    long.word(2).unwrap().store(1, Relaxed);
    long.word(62).unwrap().store(1, Relaxed);
    table.take_back(&long);
    assert_eq!(table.in_flight(1, 0), 0);
    table.take_back(&Owned::zeroed(0));
}

#[test]
fn what_is_written_for_a_node_counts_for_no_other_also_when_the_tags_have_come_round() {
    let table = table(1);
    assert!(table.enter(0, 0));
    let ledger = Owned::zeroed(8);
    ledger.word(0).unwrap().store(1, Relaxed);
    for _ in 0..4096 {
        table.give_back(0);
    }
    assert!(table.enter(0, 4096));
    assert!(!table.leave(0, 0));
    assert!(!table.enter(0, 0));
    table.take_back(&ledger);
    assert_eq!(table.in_flight(0, 4096), 1);
    assert_eq!(table.write(0, 0, NOW, 1), WriteResult::Left);
    assert_eq!(table.write_reported(0, 0, NOW), WriteResult::Left);
    assert_eq!(table.write_metric(0, 0, 0, NOW, 1.0), WriteResult::Left);
    assert_eq!(table.write(0, 4096, NOW, 1), WriteResult::Stored);
}

#[test]
fn slots_that_are_not_there_read_as_missing() {
    let table = table(2);
    for slot in [2, 3, 1 << 24, NO_SLOT - 1, NO_SLOT] {
        assert_eq!(table.reading(slot), None);
        assert_eq!(cpu(&table, slot, 0), None);
        assert_eq!(table.write(slot, 0, NOW, 1), WriteResult::Left);
        assert_eq!(table.slot_generation(slot), None);
        assert_eq!(table.give_back(slot), None);
        assert!(!table.enter(slot, 0));
        assert!(!table.leave(slot, 0));
        assert_eq!(table.in_flight(slot, 0), 0);
    }
}

#[test]
fn a_table_only_grows_and_never_beyond_its_most() {
    let table = table(2);
    assert!(!table.grow(2));
    assert!(!table.grow(1));
    assert!(!table.grow(9));
    assert!(table.grow(8));
    assert_eq!(table.capacity(), 8);
}

#[test]
fn each_publication_is_one_step() {
    let (memory, table) = memory(1);
    assert_eq!(table.generation(), 0);
    table.publish();
    assert_eq!(table.generation(), 1);
    memory
        .word(layout::GENERATION_WORD)
        .unwrap()
        .store(u32::MAX, Relaxed);
    table.publish();
    assert_eq!(table.generation(), 0);
}

#[test]
fn a_slot_given_back_is_registered_by_nobody() {
    let (memory, table) = memory(2);
    let word = memory
        .pair(layout::slot_word(0) + layout::REGISTRATION_WORD)
        .unwrap();
    word.store(Reading::new(NOW, 0, 7).0, Relaxed);
    assert_eq!(table.give_back(0), Some(1));
    assert_eq!(Reading(word.load(Relaxed)), Reading::none(1));
}

#[test]
fn the_other_slots_stay_zero() {
    let (memory, table) = memory(2);
    table.write(0, 0, TIME_MAX, CPU_MAX);
    table.enter(0, 0);
    table.give_back(0);
    table.write(0, 1, NOW, 5);
    table.publish();
    for index in layout::slot_word(1)..layout::slot_word(2) {
        assert_eq!(memory.word(index).unwrap().load(Relaxed), 0, "word {index}");
    }
}

// Real threads on real memory: loom has no half of a 64-bit word.
#[test]
fn threads_never_see_half_a_reading_or_an_unpublished_one() {
    let table = Arc::new(table(4));
    let steps = 20_000_u64;
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let table = &table;
            scope.spawn(move || {
                for step in 1..=steps {
                    for slot in 0..4 {
                        table.write(slot, 0, NOW + step, step as u32 * 2 + writer);
                    }
                    table.publish();
                }
            });
        }
        let mut last = 0;
        while last < 2 * steps as u32 {
            let generation = table.generation();
            assert!(generation >= last);
            last = generation;
            // Of so many steps by two writers, the one that is ahead made at least half.
            let least = u64::from(generation).div_ceil(2);
            for slot in 0..4 {
                let Some(Fresh { time, cpu }) = table.read(slot, 0, NOW as f64, 1.0) else {
                    assert_eq!(generation, 0);
                    continue;
                };
                assert_eq!(u64::from(cpu / 2), time - NOW);
                assert!(time - NOW >= least);
            }
        }
    });
}
