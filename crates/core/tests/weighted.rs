//! Weighted round robin over a table, with the known right answers of `test/vectors/wrr-weights.json`.

mod support;

use idlest_core::algorithms::weighted_round_robin::report_weights::{Weighing, weight_of};
use idlest_core::algorithms::weighted_round_robin::stride::Clamp;
use idlest_core::layout::{APPLICATION, CPU, EPS, QPS, TIME_BIAS};
use idlest_core::member::Member;
use serde_json::Value;
use support::Algorithm;

use support::{NOW, assert_rewinds, fill, members, shares, table, write_report};

const CORE: Clamp = Clamp {
    max: 10.0,
    min: 0.01,
    round_up: false,
};
const WEIGHING: Weighing = Weighing {
    blackout: 0.0,
    expiration: 180_000.0,
    update: 1_000.0,
    error_penalty: 1.0,
    utilizations: 0,
};

fn algorithm(weighing: Weighing) -> Algorithm {
    Algorithm::WeightedRoundRobin {
        weighing: Some(weighing),
        clamp: CORE,
    }
}

const FIXED: Algorithm = Algorithm::WeightedRoundRobin {
    weighing: None,
    clamp: CORE,
};

#[test]
fn weights_are_the_known_ones() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../test/vectors/wrr-weights.json")).unwrap();
    let cases = vectors["weights"].as_array().unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let number = |name: &str| case.get(name).map_or(0.0, |value| value.as_f64().unwrap());
        let table = table(&[None]);
        let metrics = vec![
            (CPU, number("cpu") as f32 * 100.0),
            (APPLICATION, number("app") as f32 * 100.0),
            (QPS, number("qps") as f32),
            (EPS, number("eps") as f32),
        ];
        write_report(&table, 0, 0, TIME_BIAS, &metrics);
        let mut pool = support::pool(
            algorithm(Weighing {
                error_penalty: number("penalty"),
                ..WEIGHING
            }),
            1,
        );
        pool.refresh(&table, NOW);
        let (found, expected) = (pool.values()[0], case["weight"].as_f64());
        let expected_ignored = u64::from(expected.is_none());
        assert_eq!(pool.ignored(), expected_ignored, "{case}");
        assert!(
            (found - expected.unwrap_or(0.0)).abs() <= 1e-6 * found,
            "{case}: {found}"
        );
        if let Some(expected) = expected {
            let utilization = [number("app"), number("cpu")];
            let utilization = utilization.into_iter().find(|&it| it > 0.0).unwrap();
            let exact = weight_of(number("qps"), utilization, number("eps"), number("penalty"));
            assert!((exact / expected - 1.0).abs() < 1e-9, "{case}: {exact}");
        }
    }
}

#[test]
fn fixed_weights_look_at_no_table() {
    let table = table(&[Some(1), Some(2), None]);
    write_report(&table, 0, 0, TIME_BIAS, &[(QPS, 1.0), (CPU, 1.0)]);
    let mut pool = support::pool(FIXED, 0);
    let weights = [1.0, 2.0, 3.0];
    pool.set_members(
        members(3, |_| true)
            .zip(weights)
            .map(|(member, weight)| Member { weight, ..member }),
    );
    let facts = pool.refresh(&table, NOW);
    assert_eq!(
        (facts.next_expiry, facts.band, facts.fresh),
        (f64::INFINITY, 3, 0)
    );
    assert_eq!(pool.values(), weights);
    let total = 21_845.0 + 43_690.0 + 65_535.0;
    assert_eq!(
        shares(&pool),
        [21_845.0 / total, 43_690.0 / total, 65_535.0 / total]
    );
    let mut counts = [0; 3];
    for pick in fill(&mut pool, 600) {
        counts[pick as usize] += 1;
    }
    assert_eq!(counts, [100, 200, 300]);
}

#[test]
fn a_rewound_fill_is_as_though_only_what_was_kept_had_been_drawn() {
    assert_rewinds(|| {
        let mut pool = support::pool(FIXED, 0);
        pool.set_members(members(7, |slot| slot != 3).map(|member| Member {
            weight: f64::from(member.slot + 1),
            ..member
        }));
        pool.refresh(&table(&[]), NOW);
        pool
    });
}

fn by_slot(count: u32) -> support::Pool {
    let mut pool = support::pool(FIXED, 0);
    pool.set_members(members(count, |_| true).map(|member| Member {
        weight: f64::from(member.slot + 1),
        ..member
    }));
    pool.refresh(&table(&[]), NOW);
    pool
}

#[test]
fn excluding_is_as_though_they_were_not_up() {
    let mut pool = by_slot(5);
    let none = table(&[]);
    let mut counts = [0; 5];
    for _ in 0..600 {
        counts[pool.pick_excluding(&none, [0, 4, 99, 2, 2]).unwrap() as usize] += 1;
    }
    assert_eq!(counts, [0, 200, 0, 400, 0]);
    assert_eq!(pool.pick_excluding(&none, 0..5), None);
}

#[test]
fn turns_of_others_do_not_depend_on_who_is_passed_over_and_when() {
    let none = table(&[]);
    // The excluded change from pick to pick, in a pattern of their own length.
    for patterns in [&[&[][..], &[1]][..], &[&[1], &[2], &[0]], &[&[], &[], &[4]]] {
        let (mut whole, mut pool) = (by_slot(5), by_slot(5));
        let mut turns = std::iter::repeat_with(|| fill(&mut whole, 1)[0]);
        for excluded in patterns.iter().cycle().take(500) {
            let wanted = turns.find(|index| !excluded.contains(index));
            let picked = pool.pick_excluding(&none, excluded.iter().copied());
            assert_eq!(picked, wanted, "{excluded:?}");
        }
    }
}
