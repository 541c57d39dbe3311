//! Fixed weights over a table.

mod support;

use idlest_core::fewest::Candidates;
use idlest_core::generator::Generator;
use idlest_core::member::Member;
use support::Algorithm;
use support::Pool;

use support::{NOW, assert_rewinds, assert_takes_no_reading, chi_square, fill_from, shares, table};

fn weighted(algorithm: Algorithm, weights: &[f64]) -> Pool {
    let mut pool = algorithm.pool(Generator::new(1, 2));
    pool.set_members((0..).zip(weights).map(|(slot, &weight)| Member {
        slot,
        generation: 0,
        up: true,
        weight,
    }));
    pool.refresh(&table(&[None; 4]), NOW);
    pool
}

#[test]
fn equal_weights_are_as_none() {
    let candidates = Candidates::Drawn(2);
    for algorithm in [
        Algorithm::RandomByWeight,
        Algorithm::LeastConnectionsByWeight(candidates),
    ] {
        assert_takes_no_reading(algorithm, &table(&[Some(90_000), Some(1), None]));
    }
    let table = table(&[None; 4]);
    for slot in [0, 0, 1, 3] {
        table.enter(slot, 0);
    }
    for candidates in [Candidates::All, candidates, Candidates::Drawn(3)] {
        let [with, without] = [
            Algorithm::LeastConnectionsByWeight(candidates),
            Algorithm::LeastConnections(candidates),
        ]
        .map(|algorithm| fill_from(&mut weighted(algorithm, &[3.0; 4]), &table, 500));
        assert_eq!(with, without, "{candidates:?}");
    }
}

#[test]
fn random_draws_follow_the_weights() {
    let table = table(&[]);
    let weights = [5.0, 1.0, 0.5, 3.5];
    let expected = weights.map(|weight| weight / 10.0);
    let mut pool = weighted(Algorithm::RandomByWeight, &weights);
    assert_eq!(shares(&pool), expected);
    // 16.27: three degrees of freedom, p = 0.001.
    assert!(chi_square(&fill_from(&mut pool, &table, 50_000), &expected) < 16.27);
    let without: Vec<_> = (0..50_000)
        .filter_map(|_| pool.pick_excluding(&table, [0]))
        .collect();
    let rest = [0.0, 0.2, 0.1, 0.7];
    assert!(chi_square(&without, &rest) < 13.82);
}

#[test]
fn a_rewound_fill_goes_on_where_it_was_left() {
    assert_rewinds(|| weighted(Algorithm::RandomByWeight, &[1.0, 2.0, 3.0]));
}

#[test]
fn the_heavier_takes_as_much_more() {
    let table = table(&[None; 3]);
    let mut pool = weighted(
        Algorithm::LeastConnectionsByWeight(Candidates::All),
        &[1.0, 2.0, 4.0],
    );
    for _ in 0..700 {
        let index = pool.pick(&table).unwrap();
        table.enter(index, 0);
    }
    // One off at most: each comes to its turn before any other is ahead by one.
    for (slot, expected) in [(0, 100), (1, 200), (2, 400)] {
        assert!(table.in_flight(slot, 0).abs_diff(expected) <= 1, "{slot}");
    }
    assert_eq!(shares(&pool), [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
}

#[test]
fn weights_count_from_the_next_refresh() {
    let table = table(&[]);
    let mut pool = weighted(Algorithm::RandomByWeight, &[1.0, 1e12]);
    pool.set_members([]);
    assert!((0..50).all(|_| pool.pick_excluding(&table, []) == Some(1)));
    assert_eq!(fill_from(&mut pool, &table, 50), [1; 50]);
    pool.refresh(&table, NOW);
    assert_eq!(pool.pick_excluding(&table, []), None);
}

#[test]
fn weights_that_are_no_numbers_do_no_harm() {
    let table = table(&[None; 4]);
    let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0];
    for algorithm in [
        Algorithm::RandomByWeight,
        Algorithm::LeastConnectionsByWeight(Candidates::Drawn(2)),
        Algorithm::LeastConnectionsByWeight(Candidates::All),
    ] {
        let mut pool = weighted(algorithm, &odd);
        assert!(
            fill_from(&mut pool, &table, 100)
                .iter()
                .all(|&index| index < 4)
        );
        assert!(pool.pick_excluding(&table, [0]).is_some());
    }
}
