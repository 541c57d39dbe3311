//! What readers see of writers.

use idlest_core::layout::TIME_BIAS;
use idlest_core::table::{Table, WriteResult};
use loom::sync::Arc;
use loom::thread;

use crate::words::{METRIC, View};
use crate::{NOW, cpu, depth, join, others, outcomes, table};

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
        let readers = others({
            let table = Arc::clone(&table);
            move |_| (table.generation(), cpu(&table, 0), cpu(&table, 1))
        });
        table.write(0, 0, TIME_BIAS, 1);
        table.write(1, 0, TIME_BIAS, 2);
        table.publish();
        table.write(0, 0, TIME_BIAS + 1, 3);
        table.publish();
        join(readers)
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
        [reader.join().unwrap()]
    });
}

#[test]
fn a_reading_is_never_half_of_one() {
    outcomes([None, Some((1, 10)), Some((2, 20))], || {
        let (_, table) = table(1, 1);
        let readers = others({
            let table = Arc::clone(&table);
            move |_| {
                table
                    .read(0, 0, NOW, 1_000.0)
                    .map(|fresh| (fresh.time - TIME_BIAS, fresh.cpu))
            }
        });
        table.write(0, 0, TIME_BIAS + 1, 10);
        table.write(0, 0, TIME_BIAS + 2, 20);
        join(readers)
    });
}

#[test]
fn the_newest_of_concurrent_samples_stays() {
    use WriteResult::{Older, Stored};
    // Results of the samples that are 5, 6, 7 and more ms old; whatever their order, the first of these stays.
    let mut expected = vec![vec![Stored]];
    for _ in 0..=depth() {
        expected = [Stored, Older]
            .iter()
            .flat_map(|&last| {
                expected
                    .iter()
                    .map(move |results| [results.as_slice(), &[last]].concat())
            })
            .collect();
    }
    outcomes(expected, || {
        let (_, table) = table(1, 1);
        let write = |table: &Table<View>, age: u64| table.write(0, 0, TIME_BIAS - age, age as u32);
        let six = thread::spawn({
            let table = Arc::clone(&table);
            move || write(&table, 6)
        });
        let older = others({
            let table = Arc::clone(&table);
            move |index| write(&table, 7 + index as u64)
        });
        let mut results = vec![write(&table, 5), six.join().unwrap()];
        results.extend(join(older));
        assert_eq!(cpu(&table, 0), Some(5));
        [results]
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
        [seen]
    });
}
