//! What is learned from responses, as JavaScript takes it over in memory that both have.

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use idlest_core::algorithms::adaptive::constants::{KNOWN, MOST_SHARED, NUMBERS_WORD, TURN_WORD};
use idlest_core::algorithms::adaptive::{EACH, Learned, Rules};
use idlest_core::generator::Generator;
use idlest_core::memory::{Owned, Words};
use support::{Algorithm, Pool};

use support::{NOW, members, pool, table};

const RULES: Rules = Rules {
    fading: 60_000.0,
    error_cost: 10.0,
};
const ADAPTIVE: Algorithm = Algorithm::Adaptive {
    rules: RULES,
    ttl: 10_000.0,
    smoothing: 10_000.0,
};

// What JavaScript has: room for all members that are shared.
fn memory() -> Arc<Owned> {
    Arc::new(Owned::zeroed(
        4 * (NUMBERS_WORD + 2 * KNOWN * (MOST_SHARED + 1)),
    ))
}

// Says that JavaScript has been at it.
fn turn(memory: &Owned) {
    memory.word(TURN_WORD).unwrap().store(1, Relaxed);
}

fn pool_of(seed: u32, count: u32) -> Pool {
    let mut pool = ADAPTIVE.pool(Generator::new(seed, seed));
    pool.set_members(members(count, |_| true));
    pool
}

#[test]
fn whoever_takes_over_what_is_known_goes_on_with_the_same_picks() {
    let table = table(&[None; 5]);
    let [mut one, mut other] = [1, 2].map(|seed| {
        let mut pool = pool_of(seed, 5);
        pool.refresh(&table, NOW);
        pool
    });
    for i in 0..40 {
        one.ended(
            i % 5,
            f64::from(i % 3),
            i % 7 != 0,
            f64::from(10 + i),
            i % 2 == 0,
        );
        one.sent(i % 2);
    }
    let memory = memory();
    one.give_shared(&memory);
    turn(&memory);
    other.take_shared(&memory);
    for i in 0..200 {
        let picked = one.pick(&table);
        assert_eq!(picked, other.pick(&table));
        for pool in [&mut one, &mut other] {
            pool.sent(picked.unwrap());
            pool.ended(i % 5, 0.0, true, 20.0, true);
        }
    }
    assert_eq!(one.refresh(&table, NOW), other.refresh(&table, NOW));
}

#[test]
fn what_javascript_has_not_been_at_is_not_taken() {
    let table = table(&[None; 3]);
    let [mut one, mut other] = [7, 7].map(|seed| pool_of(seed, 3));
    for pool in [&mut one, &mut other] {
        pool.refresh(&table, NOW);
    }
    // Else its zeros would be the generator's state.
    one.take_shared(&memory());
    for _ in 0..100 {
        assert_eq!(one.pick(&table), other.pick(&table));
    }
}

#[test]
fn of_no_member_nothing_is_known() {
    let mut learned = Learned::new(RULES);
    learned.set_known(7, [1.0; EACH]);
    assert_eq!(learned.known(7), [0.0; EACH]);
}

#[test]
fn of_more_members_than_are_shared_nothing_is_given() {
    let memory = memory();
    pool_of(1, MOST_SHARED as u32 + 1).give_shared(&memory);
    pool(Algorithm::Random, 1).give_shared(&memory);
    assert!((0..memory.words()).all(|at| memory.word(at).unwrap().load(Relaxed) == 0));
    pool_of(1, MOST_SHARED as u32).give_shared(&memory);
    assert!((0..memory.words()).any(|at| memory.word(at).unwrap().load(Relaxed) != 0));
}

#[test]
fn memory_that_is_too_short_shares_what_fits() {
    let memory = Arc::new(Owned::zeroed(4 * (NUMBERS_WORD + 2 * KNOWN + 2)));
    let table = table(&[None; 5]);
    let mut pool = pool_of(1, 5);
    pool.give_shared(&memory);
    turn(&memory);
    pool.take_shared(&memory);
    pool.refresh(&table, NOW);
    assert!(pool.pick(&table).is_some());
}
