//! What is learned from responses, as others take it over.

mod support;

use idlest_core::algorithms::adaptive::Rules;
use idlest_core::generator::Generator;
use support::{Algorithm, Pool};

use support::{NOW, members, pool, table};

const ADAPTIVE: Algorithm = Algorithm::Adaptive {
    rules: Rules {
        fading: 60_000.0,
        error_cost: 10.0,
    },
    ttl: 10_000.0,
    smoothing: 10_000.0,
};

fn hand_over(from: &mut Pool, to: &mut Pool) {
    let count = from.members();
    let (adaptive, generator) = from.learned().unwrap();
    let known: Vec<_> = (0..count).map(|index| adaptive.known(index)).collect();
    let state = generator.state();
    let (adaptive, generator) = to.learned().unwrap();
    *generator = Generator::from_state(state);
    for (index, known) in known.into_iter().enumerate() {
        adaptive.set_known(index, known);
    }
}

#[test]
fn whoever_takes_over_what_is_known_goes_on_with_the_same_picks() {
    let table = table(&[None; 5]);
    let [mut one, mut other] = [1, 2].map(|seed| {
        let mut pool = ADAPTIVE.pool(Generator::new(seed, seed));
        pool.set_members(members(5, |_| true));
        pool.refresh(&table, NOW);
        pool
    });
    for i in 0..40 {
        one.ended(i % 5, f64::from(i % 3), i % 7 != 0, f64::from(10 + i));
        one.sent(i % 2);
    }
    hand_over(&mut one, &mut other);
    for i in 0..200 {
        let picked = one.pick(&table);
        assert_eq!(picked, other.pick(&table));
        for pool in [&mut one, &mut other] {
            pool.sent(picked.unwrap());
            pool.ended(i % 5, 0.0, true, 20.0);
        }
    }
    assert_eq!(one.refresh(&table, NOW), other.refresh(&table, NOW));
}

#[test]
fn of_no_member_nothing_is_known() {
    let mut few = pool(ADAPTIVE, 1);
    let (adaptive, _) = few.learned().unwrap();
    adaptive.set_known(7, [1.0; 5]);
    assert_eq!(adaptive.known(7), [0.0; 5]);
    assert!(pool(Algorithm::Random, 1).learned().is_none());
}
