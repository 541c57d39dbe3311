//! Slots that are new or change hands.

use idlest_core::layout::{Reading, TIME_BIAS};
use idlest_core::table::{Table, WriteResult};
use loom::sync::Arc;

use crate::words::{METRIC, View};
use crate::{NOW, cpu, depth, join, others, outcomes, table};

/// Binds itself anew to as much as there is, as a reader does that hears of growth.
fn rebound(view: &View, table: &Table<View>) -> (u32, Table<View>) {
    let capacity = table.capacity();
    let view = View {
        slots: capacity,
        ..view.clone()
    };
    (capacity, Table::attach(view).unwrap())
}

#[test]
fn growth_comes_with_the_publication_that_needs_it() {
    // Generation, capacity, and what a reader that binds itself to so much finds in the new slot.
    let expected = [(0, 1, None), (0, 2, None), (0, 2, Some(9)), (1, 2, Some(9))];
    outcomes(expected, || {
        let (view, table) = table(1, 2);
        let readers = others({
            let (view, table) = (view.clone(), Arc::clone(&table));
            move |_| {
                assert_eq!(cpu(&table, 1), None, "not in this view, and picks go on");
                let generation = table.generation();
                let (capacity, rebound) = rebound(&view, &table);
                (generation, capacity, cpu(&rebound, 1))
            }
        });
        let table = Table::attach(View { slots: 2, ..view }).unwrap();
        assert!(table.grow(2));
        table.write(1, 0, TIME_BIAS, 9);
        table.publish();
        join(readers)
    });
}

// The capacity carries what the owner did to the new slots before it.
#[test]
fn who_sees_the_capacity_sees_the_slots_prepared_before_it() {
    outcomes([(1, None), (2, Some(9))], || {
        let (view, table) = table(1, 2);
        let readers = others({
            let (view, table) = (view.clone(), table);
            move |_| {
                let (capacity, rebound) = rebound(&view, &table);
                (capacity, cpu(&rebound, 1))
            }
        });
        let table = Table::attach(View { slots: 2, ..view }).unwrap();
        table.write(1, 0, TIME_BIAS, 9);
        assert!(table.grow(2));
        join(readers)
    });
}

#[test]
fn a_late_report_for_the_last_owner_changes_nothing() {
    outcomes(late_results(), || {
        let (_, table) = table(1, 1);
        table.write(0, 0, TIME_BIAS, 1);
        let late = others({
            let table = Arc::clone(&table);
            move |index| table.write(0, 0, TIME_BIAS + 9 + index as u64, 2)
        });
        let generation = table.give_back(0).unwrap();
        let emptied = table.reading(0);
        table.write(0, generation, TIME_BIAS, 3);
        let results = join(late);
        assert_eq!(emptied, Some(Reading::none(generation)));
        assert_eq!(
            table.reading(0),
            Some(Reading::new(TIME_BIAS, generation, 3))
        );
        results
    });
}

/// Of several late reports one may also meet a newer one.
fn late_results() -> Vec<WriteResult> {
    let mut results = vec![WriteResult::Stored, WriteResult::Left];
    if depth() > 1 {
        results.push(WriteResult::Older);
    }
    results
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
        let readers = others({
            let table = Arc::clone(&table);
            move |_| {
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
        join(readers)
    });
}

#[test]
fn a_late_metric_for_the_last_owner_changes_nothing() {
    outcomes(late_results(), || {
        let (_, table) = table(1, 1);
        let late = others({
            let table = Arc::clone(&table);
            move |index| table.write_metric(0, 0, METRIC, TIME_BIAS + 9 + index as u64, 2.0)
        });
        let generation = table.give_back(0).unwrap();
        table.write_reported(0, generation, TIME_BIAS);
        table.write_metric(0, generation, METRIC, TIME_BIAS, 3.0);
        let results = join(late);
        let sample = table.metric(0, generation, METRIC, TIME_BIAS).unwrap();
        assert_eq!((sample.time, sample.value), (TIME_BIAS, 3.0));
        assert_eq!(table.metric(0, 0, METRIC, TIME_BIAS), None);
        results
    });
}
