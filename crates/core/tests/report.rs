//! The metrics of a slot, on one thread.

use std::sync::Arc;

use idlest_core::layout::{self, METRIC_COUNT, NO_SLOT};
use idlest_core::memory::Owned;
use idlest_core::report::Sample;
use idlest_core::table::{Table, WriteResult};

const NOW: u64 = layout::TIME_BIAS;

fn table() -> Table<Arc<Owned>> {
    let bytes = layout::HEADER_BYTES + 2 * layout::SLOT_BYTES;
    Table::create(Arc::new(Owned::zeroed(bytes)), 0.0, 2, 2).unwrap()
}

#[test]
fn each_metric_has_a_place_of_its_own() {
    let table = table();
    assert_eq!(table.reported(1, 0), None);
    assert_eq!(table.write_reported(1, 0, NOW), WriteResult::Stored);
    for metric in 0..METRIC_COUNT {
        let value = metric as f32 + 0.5;
        assert_eq!(
            table.write_metric(1, 0, metric, NOW - metric as u64, value),
            WriteResult::Stored
        );
    }
    for metric in 0..METRIC_COUNT {
        let time = NOW - metric as u64;
        let value = metric as f64 + 0.5;
        assert_eq!(
            table.metric(1, 0, metric, NOW),
            Some(Sample { time, value })
        );
        assert_eq!(table.metric(0, 0, metric, NOW), None);
    }
    assert_eq!(table.reading(1).and_then(|reading| reading.cpu()), None);
    assert_eq!(table.in_flight(1, 0), 0);
}

#[test]
fn the_sample_taken_last_stays() {
    let table = table();
    table.write_reported(0, 0, NOW);
    let write = |time, value| table.write_metric(0, 0, 3, time, value);
    assert_eq!(write(NOW, 1.0), WriteResult::Stored);
    assert_eq!(write(NOW - 1, 2.0), WriteResult::Older);
    assert_eq!(write(NOW, 3.0), WriteResult::Stored);
    assert_eq!(table.write_reported(0, 0, NOW - 1), WriteResult::Older);
    assert_eq!(table.reported(0, 0), Some(NOW));
    let sample = table.metric(0, 0, 3, NOW);
    assert_eq!(
        sample,
        Some(Sample {
            time: NOW,
            value: 3.0
        })
    );
}

#[test]
fn who_got_the_slot_starts_with_no_metrics() {
    let table = table();
    table.write_reported(0, 0, NOW);
    table.write_metric(0, 0, 3, NOW, 1.0);
    let generation = table.give_back(0).unwrap();
    assert_eq!(table.reported(0, generation), None);
    assert_eq!(table.metric(0, generation, 3, NOW), None);
    assert_eq!(table.write_metric(0, 0, 3, NOW, 1.0), WriteResult::Left);
    assert_eq!(table.write_reported(0, 0, NOW), WriteResult::Left);
    // A tag that has come round again is the same tag; that of no metric too.
    assert_eq!(table.metric(0, 513, 3, NOW), None);
}

#[test]
fn what_the_table_does_not_have_is_none() {
    let table = table();
    for (slot, metric) in [(2, 0), (NO_SLOT, 0), (0, METRIC_COUNT), (0, usize::MAX)] {
        assert_eq!(
            table.write_metric(slot, 0, metric, NOW, 1.0),
            WriteResult::Left
        );
        assert_eq!(table.metric(slot, 0, metric, NOW), None);
    }
    assert_eq!(table.write_reported(2, 0, NOW), WriteResult::Left);
    assert_eq!(table.reported(NO_SLOT, 0), None);
}
