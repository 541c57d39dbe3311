//! Requests in flight.

use loom::sync::Arc;
use loom::thread;

use crate::{depth, join, others, outcomes, table};

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
        [counted]
    });
}

#[test]
fn counts_lose_no_step() {
    outcomes(1..=depth() as u32 + 1, || {
        let (_, table) = table(1, 1);
        let others = others({
            let table = Arc::clone(&table);
            move |_| {
                let entered = table.enter(0, 0);
                let most = table.in_flight(0, 0);
                (entered, most, table.leave(0, 0))
            }
        });
        let here = (table.enter(0, 0), table.leave(0, 0));
        let counted = join(others);
        assert_eq!(here, (true, true));
        assert!(counted.iter().all(|&(entered, _, left)| entered && left));
        assert_eq!(table.in_flight(0, 0), 0);
        counted.into_iter().map(|(_, most, _)| most)
    });
}

#[test]
fn a_request_is_released_once() {
    // Whose release counted.
    outcomes(0..=depth(), || {
        let (_, table) = table(1, 1);
        table.enter(0, 0);
        let others = others({
            let table = Arc::clone(&table);
            move |_| table.leave(0, 0)
        });
        let mut released = vec![table.leave(0, 0)];
        released.extend(join(others));
        assert_eq!(table.in_flight(0, 0), 0);
        let counted: Vec<usize> = (0..released.len()).filter(|&who| released[who]).collect();
        assert_eq!(counted.len(), 1);
        counted
    });
}
