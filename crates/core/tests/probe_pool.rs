//! What a pool of probes picks, and how long entries stay.

use idlest_core::algorithms::Probe;
use idlest_core::algorithms::prequal::{ProbePool, Rules};
use idlest_core::generator::Generator;
use idlest_core::kept::Kept;
use idlest_core::member::Member;

const RULES: Rules = Rules {
    quantile: 0.84,
    pool: 16,
    max_age: 1_000.0,
    probes: 3.0,
    removals: 1.0,
};

fn member(slot: u32) -> Member {
    Member {
        slot,
        generation: 0,
        up: true,
        weight: 1.0,
    }
}

fn pool_of(count: u32, rules: Rules) -> ProbePool {
    let mut pool = ProbePool::new(rules);
    let members: Vec<_> = (0..count).map(member).collect();
    pool.set_members(&members, &Kept::between(&[], &members));
    pool
}

fn say(pool: &mut ProbePool, member: u32, in_flight: f64, latency: f64, time: f64) {
    let probe = Probe {
        member,
        in_flight,
        latency,
        time,
    };
    pool.probed(probe, &mut Generator::new(1, 2));
}

#[test]
fn the_fastest_of_the_cold_is_picked_and_counted() {
    let mut pool = pool_of(3, RULES);
    say(&mut pool, 0, 1.0, 30.0, 1.0);
    say(&mut pool, 1, 1.0, 20.0, 2.0);
    say(&mut pool, 2, 5.0, 1.0, 3.0);
    // The quantile of 1, 1 and 5 is 5: nobody is hot before it has 6.
    assert_eq!(
        [0; 3].map(|_: u32| pool.pick(|_| true)),
        [Some(2), Some(1), Some(1)]
    );
    assert_eq!(pool.pick(|member| member != 1), Some(0));
}

#[test]
fn one_entry_is_too_little_to_go_by() {
    let mut pool = pool_of(3, RULES);
    say(&mut pool, 0, 1.0, 30.0, 1.0);
    assert_eq!(pool.pick(|_| true), None);
    say(&mut pool, 1, 1.0, 30.0, 1.0);
    assert_eq!(pool.pick(|member| member == 0), None);
    assert_eq!(pool.at_random(), 2);
    assert_eq!(pool.pick(|_| true), Some(1));
}

#[test]
fn entries_are_used_up_among_many_and_never_among_few() {
    let rules = Rules {
        removals: 0.0,
        probes: 2.0,
        ..RULES
    };
    // (1 - 16 / 32) * 2 = 1 comes a pick: two uses each.
    let mut many = pool_of(32, rules);
    for index in 0..4 {
        say(&mut many, index, 0.0, 1.0, 1.0);
    }
    // The last entry is left alone with one of its uses.
    assert_eq!((0..9).filter(|_| many.pick(|_| true).is_some()).count(), 7);
    let mut few = pool_of(16, RULES);
    say(&mut few, 0, 0.0, 1.0, 1.0);
    say(&mut few, 1, 0.0, 1.0, 1.0);
    assert!((0..100).all(|_| few.pick(|_| true).is_some()));
}

#[test]
fn the_oldest_and_the_worst_are_removed_in_turn() {
    let mut pool = pool_of(
        100,
        Rules {
            probes: 1.5,
            ..RULES
        },
    );
    for (index, latency) in [(0, 40.0), (1, 10.0), (2, 90.0), (3, 20.0), (4, 30.0)] {
        say(&mut pool, index, 1.0, latency, f64::from(index));
    }
    // The oldest is member 0.
    assert_eq!(pool.pick(|_| true), Some(1));
    assert_eq!(pool.next_expiry(), 1_002.0);
    // Members 1 and 3 are hot by their picks: the slower of them is the worst.
    assert_eq!(pool.pick(|_| true), Some(3));
    assert_eq!(pool.next_expiry(), 1_002.0);
    // The oldest is member 1 now.
    assert_eq!(pool.pick(|_| true), Some(4));
    assert_eq!(pool.next_expiry(), 1_003.0);
    // Members 2 and 4 are left, and the worst is 4, which is hot.
    assert_eq!(pool.pick(|_| true), Some(2));
    assert_eq!(pool.pick(|_| true), None);
}
