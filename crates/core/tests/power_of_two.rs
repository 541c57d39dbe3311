//! The best of some by one metric, over a table; and against a model that follows the contract of `EngineCore` word by
//! word, bit for bit, with no thought of speed.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use idlest_core::algorithms::power_of_two::{Otherwise, PowerOfTwo};
use idlest_core::band::NOT_ELIGIBLE;
use idlest_core::codes::unknown_draw;
use idlest_core::generator::Generator;
use idlest_core::layout::{IN_FLIGHT_METRIC, METRIC_COUNT, NO_SLOT, TIME_BIAS};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::pool::Facts;
use idlest_core::table::Table;
use proptest::prelude::*;
use support::Algorithm;
use support::Pool;

use support::{NOW, assert_rewinds, chi_square, fill_from, members, pool, shares, table};

const LATENCY: usize = 6;
const TTL: f64 = 100.0;

const TWO: PowerOfTwo = PowerOfTwo {
    metric: LATENCY,
    choices: 2,
    choice_rate: 1.0,
    otherwise: Otherwise::Random,
    fail_unknown: false,
    ttl: TTL,
};

// A table whose slots have said as much, now.
fn telling(metric: usize, values: &[Option<f32>]) -> Table<Arc<Owned>> {
    let table = table(&vec![None; values.len()]);
    for (slot, value) in (0..).zip(values) {
        if let Some(value) = *value {
            table.write_reported(slot, 0, TIME_BIAS);
            table.write_metric(slot, 0, metric, TIME_BIAS, value);
        }
    }
    table
}

fn over(table: &Table<Arc<Owned>>, two: PowerOfTwo) -> Pool {
    let mut pool = pool(Algorithm::PowerOfTwo(two), table.capacity());
    pool.refresh(table, NOW);
    pool
}

#[test]
fn the_better_of_every_pair_is_picked_as_often() {
    for n in 2..=20_u32 {
        let values: Vec<_> = (0..n).map(|slot| Some(slot as f32)).collect();
        let table = telling(LATENCY, &values);
        let mut pool = over(&table, TWO);
        let pairs = f64::from(n * (n - 1) / 2);
        let expected: Vec<_> = (0..n).map(|i| f64::from(n - 1 - i) / pairs).collect();
        for (share, expected) in shares(&pool).iter().zip(&expected) {
            assert!((share - expected).abs() < 1e-12);
        }
        let drawn = fill_from(&mut pool, &table, 50_000);
        // Far beyond p = 0.001 for 18 degrees of freedom.
        let chi = chi_square(&drawn, &expected);
        assert!(chi < 50.0, "{n}: {chi}");
    }
}

#[test]
fn a_view_tells_values_and_when_the_first_of_them_expires() {
    let table = telling(LATENCY, &[Some(2.5), None, Some(7.0)]);
    table.write_metric(2, 0, LATENCY, TIME_BIAS + 5, 8.0);
    let mut pool = over(&table, TWO);
    assert_eq!(pool.values(), [2.5, NOT_ELIGIBLE, 8.0]);
    let facts = |next_expiry, fresh| Facts {
        generation: 1,
        next_expiry,
        band: 3,
        fresh,
    };
    let mut refresh = |after: f64| pool.refresh(&table, NOW + after);
    assert_eq!(refresh(TTL), facts(NOW + TTL + 1.0, 2));
    assert_eq!(refresh(TTL + 1.0), facts(NOW + TTL + 6.0, 1));
    assert_eq!(refresh(TTL + 6.0), facts(f64::INFINITY, 0));
    assert_eq!(pool.values(), [NOT_ELIGIBLE; 3]);
    assert_eq!(shares(&pool), [1.0 / 3.0; 3]);
}

#[test]
fn a_draw_fails_where_both_are_unknown_and_one_alone_never_does() {
    let fail = PowerOfTwo {
        fail_unknown: true,
        ..TWO
    };
    let table = telling(LATENCY, &[None, None, Some(1e30)]);
    let mut pool = over(&table, fail);
    let drawn = fill_from(&mut pool, &table, 3_000);
    let count = |draw| drawn.iter().filter(|&&drawn| drawn == draw).count();
    let (first, second, known) = (count(unknown_draw(0)), count(unknown_draw(1)), count(2));
    assert_eq!(first + second + known, 3_000);
    assert!(known.abs_diff(2_000) < 130 && first.abs_diff(second) < 150);
    assert_eq!(pool.pick_excluding(&table, [1, 2]), Some(0));
    pool.set_members(members(3, |slot| slot == 1));
    pool.refresh(&table, NOW);
    assert_eq!(fill_from(&mut pool, &table, 5), [1; 5]);
    assert_eq!(shares(&pool), [0.0, 1.0, 0.0]);
}

#[test]
fn in_flight_is_what_was_reported_or_what_is_counted_here() {
    let by_flights = PowerOfTwo {
        metric: IN_FLIGHT_METRIC,
        fail_unknown: true,
        ..TWO
    };
    let table = telling(IN_FLIGHT_METRIC, &[Some(2.0), None]);
    let mut pool = over(&table, by_flights);
    assert_eq!(pool.values(), [2.0, 0.0]);
    assert_eq!(pool.pick(&table), Some(1));
    for _ in 0..3 {
        table.enter(1, 0);
    }
    assert_eq!(pool.pick(&table), Some(0), "without a refresh");
    for _ in 0..4 {
        table.enter(0, 0);
    }
    assert_eq!(pool.pick(&table), Some(1));
    pool.rewind(0);
    assert_eq!(shares(&pool), [0.5, 0.5]);
    pool.refresh(&table, NOW + TTL + 1.0);
    assert_eq!(pool.values(), [0.0, 0.0]);
}

#[test]
fn each_worker_keeps_to_the_member_of_its_number() {
    let table = telling(LATENCY, &[Some(9.0), Some(1.0), Some(5.0)]);
    for thread in [0, 1, 5, u32::MAX] {
        let own = PowerOfTwo {
            choice_rate: 0.0,
            otherwise: Otherwise::Worker(thread),
            ..TWO
        };
        let mut pool = over(&table, own);
        assert_eq!(fill_from(&mut pool, &table, 5), [thread % 3; 5]);
        assert_eq!(shares(&pool)[(thread % 3) as usize], 1.0);
        assert_eq!(
            pool.pick_excluding(&table, [0]),
            Some(1 + thread % 2),
            "among those that are left"
        );
    }
}

#[test]
fn a_rewound_fill_is_as_though_less_had_been_drawn() {
    for choice_rate in [0.0, 0.5, 1.0] {
        // Nothing is known, so that ties take numbers too.
        assert_rewinds(|| {
            let table = telling(LATENCY, &[None; 9]);
            over(
                &table,
                PowerOfTwo {
                    choice_rate,
                    choices: 3,
                    ..TWO
                },
            )
        });
    }
}

struct Model {
    two: PowerOfTwo,
    generator: Generator,
}

impl Model {
    fn below(&mut self, bound: usize) -> usize {
        let u = f64::from(self.generator.next_u32());
        (u * bound as f64 / 4_294_967_296.0).floor() as usize
    }

    // One draw from those that are up, by their loads.
    fn draw(&mut self, loads: &BTreeMap<u32, f64>) -> Option<u32> {
        let band: Vec<u32> = loads.keys().copied().collect();
        let n = band.len();
        if n < 2 {
            return band.first().copied();
        }
        let c = (self.two.choice_rate * 4_294_967_296.0).floor();
        let compares = match c {
            0.0 => false,
            4_294_967_296.0 => true,
            c => f64::from(self.generator.next_u32()) < c,
        };
        if !compares {
            return Some(match self.two.otherwise {
                Otherwise::Random => band[self.below(n)],
                Otherwise::Worker(thread) => band[thread as usize % n],
            });
        }
        let d = n.min(self.two.choices as usize);
        let mut drawn: Vec<usize> = vec![];
        if d == n {
            drawn.extend(0..n);
        } else {
            for k in n - d..n {
                let t = self.below(k + 1);
                drawn.push(if drawn.contains(&t) { k } else { t });
            }
        }
        let load = |entry: usize| loads[&band[entry]];
        // Of a pair, the number for a tie is taken in any case.
        let tie = (d == 2 && d < n).then(|| self.below(2));
        let (mut best, mut equals) = (drawn[0], 1);
        for &candidate in &drawn[1..] {
            if load(candidate) < load(best) {
                (best, equals) = (candidate, 1);
            } else if load(candidate) == load(best) {
                equals += 1;
                if tie.unwrap_or_else(|| self.below(equals)) == 0 {
                    best = candidate;
                }
            }
        }
        let fails = self.two.fail_unknown && load(best) == f64::INFINITY;
        Some(if fails {
            unknown_draw(band[best])
        } else {
            band[best]
        })
    }
}

#[derive(Clone, Debug)]
struct Node {
    up: bool,
    known: bool,
    // Age, value.
    sample: Option<(u64, f32)>,
    flights: u32,
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let value = prop_oneof![(0_u8..4).prop_map(f32::from), any::<f32>()]
        .prop_filter("finite", |value| value.is_finite());
    let sample = prop::option::weighted(0.7, (90_u64..110, value));
    let node = (
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.9),
        sample,
        0_u32..4,
    );
    let node = node.prop_map(|(up, known, sample, flights)| Node {
        up,
        known,
        sample,
        flights,
    });
    prop::collection::vec(node, 0..24)
}

fn algorithms() -> impl Strategy<Value = PowerOfTwo> {
    let otherwise = prop_oneof![
        Just(Otherwise::Random),
        any::<u32>().prop_map(Otherwise::Worker)
    ];
    let rate = prop_oneof![3 => Just(1.0), 1 => Just(0.0), 2 => 0.0..1.0];
    let choices = prop_oneof![2 => Just(2), 2 => 2_u32..6, 1 => 6_u32..=64];
    let metric = prop_oneof![1 => Just(IN_FLIGHT_METRIC), 2 => 0..METRIC_COUNT];
    (metric, choices, rate, otherwise, any::<bool>()).prop_map(
        |(metric, choices, choice_rate, otherwise, fail_unknown)| PowerOfTwo {
            metric,
            choices,
            choice_rate,
            otherwise,
            fail_unknown,
            ttl: TTL,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pools_do_as_the_model(
        two in algorithms(),
        nodes in nodes(),
        excluded in prop::collection::vec(0_u32..26, 0..12),
        seed in any::<(u32, u32)>(),
        kept in 0_usize..40,
    ) {
        let table = table(&vec![None; nodes.len()]);
        for (slot, node) in (0..).zip(&nodes) {
            if let Some((age, value)) = node.sample {
                table.write_reported(slot, 0, TIME_BIAS);
                table.write_metric(slot, 0, two.metric, TIME_BIAS - age, value);
            }
            for _ in 0..node.flights {
                table.enter(slot, 0);
            }
        }
        let load = |node: &Node| {
            let fresh = node.sample.filter(|&(age, _)| node.known && age as f64 <= TTL);
            let value = fresh.map(|(_, value)| f64::from(value));
            match two.metric {
                IN_FLIGHT_METRIC => value.unwrap_or(0.0).max(if node.known { node.flights.into() } else { 0.0 }),
                _ => value.unwrap_or(f64::INFINITY),
            }
        };
        let mut loads: BTreeMap<u32, f64> = (0..)
            .zip(&nodes)
            .filter(|(_, node)| node.up)
            .map(|(index, node)| (index, load(node)))
            .collect();
        let generator = Generator::new(seed.0, seed.1);
        let mut pool = Algorithm::PowerOfTwo(two).pool(generator);
        pool.set_members((0..).zip(&nodes).map(|(slot, node)| Member {
            slot: if node.known { slot } else { NO_SLOT },
            generation: 0,
            up: node.up,
            weight: 1.0,
        }));
        pool.refresh(&table, NOW);
        let mut model = Model { two, generator };
        let expected: Vec<_> = (0..40).filter_map(|_| model.draw(&loads)).collect();
        prop_assert_eq!(&fill_from(&mut pool, &table, 40), &expected);
        pool.rewind(kept);
        if two.metric != IN_FLIGHT_METRIC && !expected.is_empty() {
            prop_assert_eq!(fill_from(&mut pool, &table, 40 - kept), &expected[kept..]);
        }
        let shares = shares(&pool);
        let sum: f64 = shares.iter().sum();
        let fails = two.fail_unknown && two.metric != IN_FLIGHT_METRIC && loads.values().any(|load| *load == f64::INFINITY);
        prop_assert!(fails || loads.is_empty() || (sum - 1.0).abs() < 1e-9, "{}", sum);
        for index in &excluded {
            loads.remove(index);
        }
        prop_assert_eq!(pool.pick_excluding(&table, excluded), model.draw(&loads));
    }
}
