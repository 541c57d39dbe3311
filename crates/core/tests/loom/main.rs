//! The table's protocol under every interleaving that loom can make of it. The flag is in every crate's fingerprint, so
//! they have a target folder of their own:
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p idlest-core --test loom`
//!
//! Real memory can't be modelled, so the words are loom's atomics: a 64-bit word is one object, as the layout has it.
#![cfg(loom)]

mod words;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

use idlest_core::layout::{Reading, TIME_BIAS};
use idlest_core::table::{Table, WriteResult};
use loom::sync::Arc;
use loom::thread;

use crate::words::{METRIC, Memory, View};

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

/// Runs the model, and checks that the outcomes it had in all its interleavings are these, all of them: a model that
/// explores too little fails too.
///
/// Loom goes back to where an access could have come before another thread's *last* access of the same word, so what is
/// found out depends on who runs first: that is the thread of the model, which therefore writes.
fn outcomes<T: Ord + Debug + Send + 'static>(
    expected: impl IntoIterator<Item = T>,
    run: impl Fn() -> T + Sync + Send + 'static,
) {
    let seen = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let all = std::sync::Arc::clone(&seen);
    loom::model(move || {
        let outcome = run();
        all.lock().unwrap().insert(outcome);
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(seen, expected.into_iter().collect());
}

#[test]
fn a_reader_of_a_generation_sees_what_was_written_before_it() {
    // The generation, and what the reader found after it: never less than was written before that publication.
    let expected = [
        (0, None, None),
        (0, None, Some(2)),
        (0, Some(1), None),
        (0, Some(1), Some(2)),
        (0, Some(3), None),
        (0, Some(3), Some(2)),
        (1, Some(1), Some(2)),
        (1, Some(3), Some(2)),
        (2, Some(3), Some(2)),
    ];
    outcomes(expected, || {
        let (_, table) = table(2, 2);
        let reader = thread::spawn({
            let table = Arc::clone(&table);
            move || (table.generation(), cpu(&table, 0), cpu(&table, 1))
        });
        table.write(0, 0, TIME_BIAS, 1);
        table.write(1, 0, TIME_BIAS, 2);
        table.publish();
        table.write(0, 0, TIME_BIAS + 1, 3);
        table.publish();
        reader.join().unwrap()
    });
}

// Two pollers, one reader: whoever's steps it sees, it sees what they wrote.
#[test]
fn each_publication_carries_its_own_writers_slot() {
    let expected = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    outcomes(expected, || {
        let (_, table) = table(2, 2);
        let other = thread::spawn({
            let table = Arc::clone(&table);
            move || {
                table.write(1, 0, TIME_BIAS, 2);
                table.publish();
            }
        });
        let reader = thread::spawn({
            let table = Arc::clone(&table);
            move || {
                let generation = table.generation();
                (
                    generation,
                    [0, 1]
                        .iter()
                        .filter(|slot| cpu(&table, **slot).is_some())
                        .count(),
                )
            }
        });
        table.write(0, 0, TIME_BIAS, 1);
        table.publish();
        other.join().unwrap();
        reader.join().unwrap()
    });
}

#[test]
fn a_reading_is_never_half_of_one() {
    outcomes([None, Some((1, 10)), Some((2, 20))], || {
        let (_, table) = table(1, 1);
        let reader = thread::spawn({
            let table = Arc::clone(&table);
            move || {
                table
                    .read(0, 0, NOW, 1_000.0)
                    .map(|fresh| (fresh.time - TIME_BIAS, fresh.cpu))
            }
        });
        table.write(0, 0, TIME_BIAS + 1, 10);
        table.write(0, 0, TIME_BIAS + 2, 20);
        reader.join().unwrap()
    });
}

#[test]
fn the_newest_of_concurrent_samples_stays() {
    use WriteResult::{Older, Stored};
    // Results of the samples that are 5, 6 and 7 ms old; whatever their order, the first of these stays.
    let expected = [
        (Stored, Stored, Stored),
        (Stored, Stored, Older),
        (Stored, Older, Stored),
        (Stored, Older, Older),
    ];
    outcomes(expected, || {
        let (_, table) = table(1, 1);
        let [six, seven] = [6, 7].map(|age| {
            let table = Arc::clone(&table);
            thread::spawn(move || table.write(0, 0, TIME_BIAS - age, age as u32))
        });
        let five = table.write(0, 0, TIME_BIAS - 5, 5);
        let results = (five, six.join().unwrap(), seven.join().unwrap());
        assert_eq!(cpu(&table, 0), Some(5));
        results
    });
}

#[test]
fn growth_comes_with_the_publication_that_needs_it() {
    // Generation, capacity, and what a reader that binds itself to so much finds in the new slot.
    let expected = [(0, 1, None), (0, 2, None), (0, 2, Some(9)), (1, 2, Some(9))];
    outcomes(expected, || {
        let (view, table) = table(1, 2);
        let reader = thread::spawn({
            let (view, table) = (view.clone(), Arc::clone(&table));
            move || {
                assert_eq!(cpu(&table, 1), None, "not in this view, and picks go on");
                let generation = table.generation();
                let capacity = table.capacity();
                let rebound = Table::attach(View {
                    slots: capacity,
                    ..view
                })
                .unwrap();
                (generation, capacity, cpu(&rebound, 1))
            }
        });
        let table = Table::attach(View { slots: 2, ..view }).unwrap();
        assert!(table.grow(2));
        table.write(1, 0, TIME_BIAS, 9);
        table.publish();
        reader.join().unwrap()
    });
}

// The capacity carries what the owner did to the new slots before it.
#[test]
fn who_sees_the_capacity_sees_the_slots_prepared_before_it() {
    outcomes([(1, None), (2, Some(9))], || {
        let (view, table) = table(1, 2);
        let reader = thread::spawn({
            let (view, table) = (view.clone(), table);
            move || {
                let capacity = table.capacity();
                let rebound = Table::attach(View {
                    slots: capacity,
                    ..view
                })
                .unwrap();
                (capacity, cpu(&rebound, 1))
            }
        });
        let table = Table::attach(View { slots: 2, ..view }).unwrap();
        table.write(1, 0, TIME_BIAS, 9);
        assert!(table.grow(2));
        reader.join().unwrap()
    });
}

#[test]
fn a_late_report_for_the_last_owner_changes_nothing() {
    outcomes([WriteResult::Stored, WriteResult::Left], || {
        let (_, table) = table(1, 1);
        table.write(0, 0, TIME_BIAS, 1);
        let late = thread::spawn({
            let table = Arc::clone(&table);
            move || table.write(0, 0, TIME_BIAS + 9, 2)
        });
        let generation = table.give_back(0).unwrap();
        let emptied = table.reading(0);
        table.write(0, generation, TIME_BIAS, 3);
        let result = late.join().unwrap();
        assert_eq!(emptied, Some(Reading::none(generation)));
        assert_eq!(
            table.reading(0),
            Some(Reading::new(TIME_BIAS, generation, 3))
        );
        result
    });
}

#[test]
fn a_reading_is_taken_by_its_owner_alone() {
    // Publications seen, then what a reader takes for the old owner's reading and for the new one's.
    let expected = [
        (0, Some(1), None),
        (0, Some(1), Some(3)),
        (0, None, None),
        (0, None, Some(3)),
        (1, None, Some(3)),
    ];
    outcomes(expected, || {
        let (_, table) = table(1, 1);
        table.write(0, 0, TIME_BIAS, 1);
        let reader = thread::spawn({
            let table = Arc::clone(&table);
            move || {
                let read = |owner| table.read(0, owner, NOW, 1_000.0).map(|fresh| fresh.cpu);
                let published = table.generation();
                let owner = table.slot_generation(0).unwrap();
                let taken = (published, read(0), read(1));
                if published == 1 {
                    assert_eq!(owner, 1);
                }
                taken
            }
        });
        let generation = table.give_back(0).unwrap();
        table.write(0, generation, TIME_BIAS, 3);
        table.publish();
        reader.join().unwrap()
    });
}

#[test]
fn a_metric_is_never_half_of_one_and_the_newest_stays() {
    // What a reader sees of two writers' reports.
    outcomes([None, Some((1, 10)), Some((2, 20))], || {
        let (_, table) = table(1, 1);
        let write = |table: &Table<View>, at: u64| {
            table.write_reported(0, 0, TIME_BIAS + at);
            table.write_metric(0, 0, METRIC, TIME_BIAS + at, 10.0 * at as f32);
        };
        let read = |table: &Table<View>| {
            let sample = table.metric(0, 0, METRIC, table.reported(0, 0)?)?;
            Some((sample.time - TIME_BIAS, sample.value as u64))
        };
        let other = thread::spawn({
            let table = Arc::clone(&table);
            move || write(&table, 1)
        });
        let reader = thread::spawn({
            let table = Arc::clone(&table);
            move || read(&table)
        });
        write(&table, 2);
        other.join().unwrap();
        let seen = reader.join().unwrap();
        assert_eq!(read(&table), Some((2, 20)));
        seen
    });
}

#[test]
fn a_late_metric_for_the_last_owner_changes_nothing() {
    outcomes([WriteResult::Stored, WriteResult::Left], || {
        let (_, table) = table(1, 1);
        let late = thread::spawn({
            let table = Arc::clone(&table);
            move || table.write_metric(0, 0, METRIC, TIME_BIAS + 9, 2.0)
        });
        let generation = table.give_back(0).unwrap();
        table.write_reported(0, generation, TIME_BIAS);
        table.write_metric(0, generation, METRIC, TIME_BIAS, 3.0);
        let result = late.join().unwrap();
        let sample = table.metric(0, generation, METRIC, TIME_BIAS).unwrap();
        assert_eq!((sample.time, sample.value), (TIME_BIAS, 3.0));
        assert_eq!(table.metric(0, 0, METRIC, TIME_BIAS), None);
        result
    });
}

#[test]
fn a_late_release_for_the_last_owner_does_not_count() {
    // Whether the old owner's release and next request still counted, for the old owner.
    let expected = [(false, false), (true, false), (true, true)];
    outcomes(expected, || {
        let (_, table) = table(1, 1);
        table.enter(0, 0);
        let late = thread::spawn({
            let table = Arc::clone(&table);
            move || (table.leave(0, 0), table.enter(0, 0))
        });
        let generation = table.give_back(0).unwrap();
        let entered = table.enter(0, generation);
        let counted = late.join().unwrap();
        assert!(entered);
        assert_eq!(table.in_flight(0, generation), 1);
        assert_eq!(table.in_flight(0, 0), 0);
        counted
    });
}

#[test]
fn counts_lose_no_step() {
    outcomes([1, 2], || {
        let (_, table) = table(1, 1);
        let other = thread::spawn({
            let table = Arc::clone(&table);
            move || {
                let entered = table.enter(0, 0);
                let most = table.in_flight(0, 0);
                (entered, most, table.leave(0, 0))
            }
        });
        let here = (table.enter(0, 0), table.leave(0, 0));
        let (entered, most, left) = other.join().unwrap();
        assert_eq!((here, entered, left), ((true, true), true, true));
        assert_eq!(table.in_flight(0, 0), 0);
        most
    });
}

#[test]
fn a_request_is_released_once() {
    outcomes([(true, false), (false, true)], || {
        let (_, table) = table(1, 1);
        table.enter(0, 0);
        let other = thread::spawn({
            let table = Arc::clone(&table);
            move || table.leave(0, 0)
        });
        let released = (table.leave(0, 0), other.join().unwrap());
        assert_eq!(table.in_flight(0, 0), 0);
        released
    });
}
