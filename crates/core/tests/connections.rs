//! The fewest requests in flight over a table.

mod support;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use idlest_core::fewest::Candidates;
use idlest_core::generator::Generator;
use idlest_core::layout::{IN_FLIGHT_WORD, MAGIC, NO_SLOT, flights_of, slot_word};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::pairs::PAIR_WORDS;
use idlest_core::table::Table;
use support::Algorithm;
use support::Pool;

use support::{NOW, assert_takes_no_reading, chi_square, fill_from, members, pool, shares, table};

const EXACT: Algorithm = Algorithm::LeastConnections(Candidates::All);

fn sampled(choices: u32) -> Algorithm {
    Algorithm::LeastConnections(Candidates::Drawn(choices))
}

// A table whose slots have as many requests in flight.
fn busy(counts: &[u32]) -> Table<Arc<Owned>> {
    let table = table(&vec![None; counts.len()]);
    for (slot, &count) in (0..).zip(counts) {
        for _ in 0..count {
            assert!(table.enter(slot, 0));
        }
    }
    table
}

// A pool of all slots of a table, after a refresh.
fn over(table: &Table<Arc<Owned>>, algorithm: Algorithm) -> Pool {
    let mut pool = pool(algorithm, table.capacity());
    pool.refresh(table, NOW);
    pool
}

// Each way to draw, as many times, and its name.
fn draws(
    pool: &mut Pool,
    table: &Table<Arc<Owned>>,
    count: usize,
) -> [(&'static str, Vec<u32>); 3] {
    let filled = fill_from(pool, table, count);
    let picked = (0..count).map(|_| pool.pick(table).unwrap()).collect();
    let excluding = (0..count)
        .map(|_| pool.pick_excluding(table, [u32::MAX]).unwrap())
        .collect();
    [
        ("fill", filled),
        ("pick", picked),
        ("pick_excluding", excluding),
    ]
}

fn shares_of(picked: &[u32], length: u32) -> Vec<f64> {
    (0..length)
        .map(|index| match picked.contains(&index) {
            true => 1.0 / picked.len() as f64,
            false => 0.0,
        })
        .collect()
}

// 99.9 % quantiles of chi-square with 1 to 15 degrees of freedom, then by Wilson and Hilferty, good to 0.5 %.
fn limit(degrees: usize) -> f64 {
    const EXACTLY: [f64; 15] = [
        10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59, 31.26, 32.91, 34.53,
        36.12, 37.70,
    ];
    EXACTLY.get(degrees - 1).copied().unwrap_or_else(|| {
        let k = degrees as f64;
        let part = 2.0 / (9.0 * k);
        k * (1.0 - part + 3.09 * part.sqrt()).powi(3)
    })
}

fn assert_chances(drawn: &[u32], expected: &[f64], what: &str) {
    let possible = expected.iter().filter(|&&share| share > 0.0).count();
    assert!(
        drawn.iter().all(|&draw| expected[draw as usize] > 0.0),
        "{what}"
    );
    if possible > 1 {
        let (chi, limit) = (chi_square(drawn, expected), limit(possible - 1));
        assert!(chi < limit, "{what}: {chi} >= {limit}");
    }
}

#[test]
fn everyone_up_is_in_the_band_with_an_equal_share() {
    for algorithm in [EXACT, sampled(2)] {
        assert_takes_no_reading(algorithm, &busy(&[0, 3, 1]));
    }
}

#[test]
fn exact_draws_are_always_of_the_least_with_equal_chances() {
    for (counts, least) in [
        (vec![3, 1, 2, 1, 5, 1], vec![1, 3, 5]),
        (vec![2, 0, 1], vec![1]),
        (vec![4], vec![0]),
        (vec![7; 10], (0..10).collect()),
        (
            (0..300).map(|i| i % 3).collect(),
            (0..300).step_by(3).collect(),
        ),
    ] {
        let table = busy(&counts);
        let mut pool = over(&table, EXACT);
        let expected = shares_of(&least, table.capacity());
        for (way, drawn) in draws(&mut pool, &table, 30_000) {
            assert_chances(&drawn, &expected, &format!("{way} of {counts:?}"));
        }
    }
}

#[test]
fn the_better_of_two_is_picked_of_every_pair() {
    for n in 2..=12 {
        // All differ: whoever has fewer is picked of a pair, so member i in n - 1 - i of them.
        let counts: Vec<u32> = (0..n).collect();
        let table = busy(&counts);
        let mut pool = over(&table, sampled(2));
        let pairs = f64::from(n * (n - 1) / 2);
        let expected: Vec<_> = (0..n).map(|i| f64::from(n - 1 - i) / pairs).collect();
        for (way, drawn) in draws(&mut pool, &table, 100_000) {
            assert_chances(&drawn, &expected, &format!("{way} of {n}"));
        }
    }
}

#[test]
fn every_pair_is_drawn_as_often() {
    for n in 2..=12_u32 {
        let pairs: Vec<_> = (0..n)
            .flat_map(|one| (one + 1..n).map(move |other| (one, other)))
            .collect();
        let mut generator = Generator::new(n, 7);
        let drawn: Vec<u32> = (0..50_000)
            .map(|_| {
                let seen = RefCell::new(Vec::new());
                Candidates::Drawn(2).draw(n, &mut generator, |position| {
                    seen.borrow_mut().push(position);
                    0
                });
                let mut seen = seen.into_inner();
                seen.sort_unstable();
                let pair = (seen[0], seen[1]);
                assert_eq!(seen.len(), 2);
                pairs.iter().position(|&other| other == pair).unwrap() as u32
            })
            .collect();
        let expected = vec![1.0 / pairs.len() as f64; pairs.len()];
        assert_chances(&drawn, &expected, &format!("pairs of {n}"));
    }
}

#[test]
fn every_set_of_more_is_drawn_as_often() {
    for (n, choices) in [(5, 3), (7, 4), (6, 5), (8, 1)] {
        let mut generator = Generator::new(n, 8);
        let drawn: Vec<u32> = (0..50_000)
            .map(|_| {
                let set = Cell::new(0_u32);
                Candidates::Drawn(choices).draw(n, &mut generator, |position| {
                    set.set(set.get() | 1 << position);
                    0
                });
                set.get()
            })
            .collect();
        let sets: Vec<_> = (0..1_u32 << n)
            .map(|set| set.count_ones() == choices)
            .collect();
        let count = sets.iter().filter(|&&is| is).count() as f64;
        let expected: Vec<_> = sets.iter().map(|&is| f64::from(is) / count).collect();
        assert_chances(&drawn, &expected, &format!("{choices} of {n}"));
    }
}

#[test]
fn ties_go_by_chance() {
    for n in 2..=12 {
        for choices in [1, 2, 3, 64] {
            let table = busy(&vec![2; n]);
            let mut pool = over(&table, sampled(choices));
            let expected = vec![1.0 / n as f64; n];
            assert_eq!(shares(&pool), expected);
            for (way, drawn) in draws(&mut pool, &table, 20_000) {
                assert_chances(&drawn, &expected, &format!("{way}, {choices} of {n}"));
            }
        }
    }
}

#[test]
fn as_many_choices_as_members_are_exact() {
    let counts: Vec<u32> = (0..12).map(|i| i % 4 + 1).collect();
    for n in 0..=12 {
        let table = busy(&counts[..n]);
        for choices in [n as u32, n as u32 + 1, 64] {
            let choices = choices.max(1);
            let [all, some] = [EXACT, sampled(choices)]
                .map(|algorithm| fill_from(&mut over(&table, algorithm), &table, 200));
            assert_eq!(all, some, "{choices} of {n}");
        }
    }
}

#[test]
fn a_band_of_one_takes_no_number() {
    let table = busy(&[1, 0]);
    for algorithm in [EXACT, sampled(2), sampled(1)] {
        let mut one = pool(algorithm, 1);
        one.refresh(&table, NOW);
        assert_eq!(fill_from(&mut one, &table, 5), [0; 5]);
        assert_eq!(one.pick_excluding(&table, []), Some(0));
        one.set_members(members(2, |_| true));
        one.refresh(&table, NOW);
        let mut both = over(&table, algorithm);
        let expected = fill_from(&mut both, &table, 100);
        assert_eq!(fill_from(&mut one, &table, 100), expected);
    }
}

#[test]
fn draws_follow_the_counts_without_a_refresh() {
    let table = busy(&[0, 1, 2]);
    let mut pool = over(&table, EXACT);
    assert_eq!(fill_from(&mut pool, &table, 3), [0; 3]);
    for _ in 0..3 {
        table.enter(0, 0);
    }
    assert_eq!(pool.pick(&table), Some(1));
    table.leave(2, 0);
    table.leave(2, 0);
    assert_eq!(pool.pick(&table), Some(2));
    assert_eq!(pool.pick_excluding(&table, [2]), Some(1));
}

#[test]
fn the_excluded_are_as_though_not_up() {
    let counts = [0, 0, 3, 1, 1, 9, 2, 1];
    let table = busy(&counts);
    let excluded = [99, 1, 0, 1, u32::MAX];
    for algorithm in [EXACT, sampled(1), sampled(2), sampled(5), sampled(7)] {
        let mut all = over(&table, algorithm);
        let mut fewer = pool(algorithm, 0);
        fewer.set_members(members(8, |slot| !excluded.contains(&slot)));
        fewer.refresh(&table, NOW);
        let picks: Vec<_> = (0..200)
            .map(|_| all.pick_excluding(&table, excluded).unwrap())
            .collect();
        assert_eq!(picks, fill_from(&mut fewer, &table, 200), "{algorithm:?}");
        assert_eq!(all.pick_excluding(&table, 0..8), None);
        assert_eq!(all.pick(&table), {
            let mut same = over(&table, algorithm);
            for _ in 0..200 {
                same.pick_excluding(&table, excluded);
            }
            same.pick(&table)
        });
    }
}

#[test]
fn who_has_no_slot_or_another_generation_has_nothing_in_flight() {
    let table = busy(&[5, 1, 4]);
    let mut pool = pool(EXACT, 0);
    let member = |slot, generation| Member {
        slot,
        generation,
        up: true,
        weight: 1.0,
    };
    for stranger in [member(NO_SLOT, 0), member(0, 1), member(77, 0)] {
        pool.set_members([member(1, 0), stranger, member(2, 0)]);
        pool.refresh(&table, NOW);
        assert_eq!(fill_from(&mut pool, &table, 5), [1; 5], "{stranger:?}");
        assert_eq!(pool.pick_excluding(&table, [1]), Some(0));
    }
    // Its slot is given to another node while it is a member.
    pool.set_members([member(0, 0), member(1, 0)]);
    pool.refresh(&table, NOW);
    assert_eq!(pool.pick(&table), Some(1));
    let generation = table.give_back(0).unwrap();
    for _ in 0..3 {
        table.enter(0, generation);
    }
    assert_eq!(pool.pick(&table), Some(0));
}

#[test]
fn draws_are_never_taken_back() {
    let table = busy(&[1, 1, 1, 1, 1]);
    for algorithm in [EXACT, sampled(2)] {
        let all = fill_from(&mut over(&table, algorithm), &table, 60);
        let mut pool = over(&table, algorithm);
        for (made, kept) in [(0, 0), (20, 5), (40, 100)] {
            assert_eq!(fill_from(&mut pool, &table, 20), all[made..made + 20]);
            pool.rewind(kept);
        }
    }
}

#[test]
fn pairs_are_the_picks_to_come() {
    let table = busy(&[2, 1, 1, 1, 2, 3]);
    let mut pool = over(&table, sampled(2));
    let mut same = over(&table, sampled(2));
    let room: Vec<AtomicU32> = (0..20 * PAIR_WORDS + 5)
        .map(|_| AtomicU32::new(7))
        .collect();
    for (kept, change) in [(20, 0), (5, 3), (0, 1), (20, 3)] {
        assert_eq!(pool.fill_pairs(&table, &room), 20);
        for _ in 0..change {
            table.enter(change, 0);
        }
        for pair in room.chunks_exact(PAIR_WORDS).take(kept) {
            let word = |at: usize| pair[at].load(Relaxed);
            let [first, second] = [0, 4].map(|at| {
                let index = word(at);
                assert_eq!(
                    word(at + 1) as usize,
                    slot_word(index) + IN_FLIGHT_WORD,
                    "where its count is"
                );
                assert_eq!(word(at + 2), 0, "the tag of the first generation");
                (index, table.in_flight(index, 0))
            });
            let first_wins = first.1 < second.1 || first.1 == second.1 && word(3) == 1;
            let expected = if first_wins { first.0 } else { second.0 };
            assert_eq!(same.pick(&table), Some(expected));
            assert_eq!([8, 9, 10, 11].map(word), [0; 4]);
        }
        pool.rewind(kept);
        assert_eq!(pool.pick(&table), same.pick(&table));
    }
    assert!(room.iter().rev().take(5).all(|it| it.load(Relaxed) == 7));
}

#[test]
fn who_has_no_slot_has_a_word_in_a_pair_that_counts_nothing() {
    let table = busy(&[1]);
    let mut pool = pool(sampled(2), 0);
    pool.set_members(members(3, |_| true).map(|member| Member {
        slot: NO_SLOT,
        ..member
    }));
    pool.refresh(&table, NOW);
    let room: Vec<AtomicU32> = (0..PAIR_WORDS).map(|_| AtomicU32::new(7)).collect();
    assert_eq!(pool.fill_pairs(&table, &room), 1);
    for at in [1, 2, 5, 6] {
        assert_eq!(room[at].load(Relaxed), 0);
    }
    assert!(!flights_of(MAGIC, 0));
}

#[test]
fn there_are_pairs_only_of_more_than_two_without_weights() {
    let table = busy(&[1, 2, 3, 4]);
    let room: Vec<AtomicU32> = (0..PAIR_WORDS).map(|_| AtomicU32::new(0)).collect();
    let two = Candidates::Drawn(2);
    for (algorithm, count, pairs) in [
        (sampled(2), 4, 1),
        (sampled(2), 2, 0),
        (sampled(2), 0, 0),
        (sampled(3), 4, 0),
        (EXACT, 4, 0),
        (Algorithm::LeastConnectionsByWeight(two), 4, 0),
        (Algorithm::Random, 4, 0),
    ] {
        let [mut pool, mut same] = [(); 2].map(|()| {
            let mut pool = pool(algorithm, count);
            pool.refresh(&table, NOW);
            pool
        });
        assert_eq!(pool.fill_pairs(&table, &room), pairs, "{algorithm:?}");
        pool.rewind(0);
        assert_eq!(pool.pick(&table), same.pick(&table), "{algorithm:?}");
    }
}

#[test]
fn one_pick_is_a_fill_of_one() {
    let table = busy(&[2, 1, 1, 1, 2, 3]);
    for algorithm in [
        EXACT,
        sampled(2),
        sampled(4),
        Algorithm::Random,
        Algorithm::RoundRobin,
    ] {
        let mut pool = over(&table, algorithm);
        let picks: Vec<_> = (0..100).map(|_| pool.pick(&table).unwrap()).collect();
        pool.rewind(0);
        let mut same = over(&table, algorithm);
        assert_eq!(picks, fill_from(&mut same, &table, 100), "{algorithm:?}");
        assert_eq!(pool.pick(&table), same.pick(&table));
    }
}

#[test]
fn no_one_is_picked_of_no_one() {
    let table = busy(&[1, 1, 1]);
    for algorithm in [EXACT, sampled(2)] {
        let mut nobody = pool(algorithm, 0);
        assert_eq!(nobody.pick(&table), None, "before the first refresh");
        nobody.refresh(&table, NOW);
        assert_eq!(nobody.pick(&table), None);
        assert_eq!(nobody.pick_excluding(&table, [0]), None);
        assert_eq!(fill_from(&mut nobody, &table, 3), []);
        nobody.set_members(members(3, |_| true));
        assert_eq!(
            nobody.pick(&table),
            None,
            "members come with the next refresh"
        );
        nobody.refresh(&table, NOW);
        let expected = fill_from(&mut over(&table, algorithm), &table, 20);
        assert_eq!(fill_from(&mut nobody, &table, 20), expected);
    }
}

#[test]
fn members_that_were_set_count_from_the_next_refresh() {
    let table = busy(&[2, 1, 0]);
    let mut pool = pool(EXACT, 2);
    pool.refresh(&table, NOW);
    pool.set_members([Member {
        slot: 2,
        generation: 0,
        up: true,
        weight: 1.0,
    }]);
    assert_eq!(pool.pick(&table), Some(1));
    assert_eq!(pool.pick_excluding(&table, [1]), Some(0));
    pool.refresh(&table, NOW);
    assert_eq!(pool.pick(&table), Some(0));
}
