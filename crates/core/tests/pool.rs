//! Pools over a table: what `EngineCore` in `src/engine/engine.ts` promises.

mod support;

use idlest_core::algorithms::least_cpu::{LeastCpu, Missing};
use idlest_core::band::{NEUTRAL, NOT_ELIGIBLE};
use idlest_core::generator::Generator;
use idlest_core::layout::{NO_SLOT, TIME_BIAS};
use idlest_core::member::Member;
use idlest_core::pool::Facts;
use support::Algorithm;

use support::{
    NOW, assert_draws_keep_to_shares, assert_excludes, assert_expires, assert_rewinds,
    assert_takes_no_reading, fill, members, pool, shares, table,
};

fn least_cpu(missing: Missing) -> Algorithm {
    Algorithm::LeastCpu {
        band: LeastCpu {
            threshold: 5_000,
            missing,
        },
        ttl: 1_000.0,
        smoothing: 0.0,
    }
}

#[test]
fn a_refresh_tells_what_it_saw() {
    let table = table(&[Some(10_000), None, Some(15_000), Some(90_000)]);
    table.write(2, 0, TIME_BIAS + 7, 15_000);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 4);
    let facts = pool.refresh(&table, NOW);
    assert_eq!(
        facts,
        Facts {
            generation: 1,
            next_expiry: NOW + 1_001.0,
            band: 2,
            fresh: 3
        }
    );
    assert_eq!(pool.values(), [10_000.0, 50_000.0, 15_000.0, 90_000.0]);
    assert_eq!(pool.band(), [0, 2]);
}

#[test]
fn a_view_is_out_of_date_from_its_next_expiry_and_not_before() {
    let table = table(&[Some(10_000), Some(60_000)]);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 2);
    assert_expires(&mut pool, &table);
    assert_eq!(pool.values(), [NEUTRAL, NEUTRAL]);
}

#[test]
fn who_is_out_counts_for_nothing() {
    let table = table(&[Some(10_000), Some(40_000), None]);
    table.write(0, 0, TIME_BIAS + 1, 10_000);
    let mut pool = pool(least_cpu(Missing::Mean), 0);
    pool.set_members(members(3, |slot| slot != 0));
    let facts = pool.refresh(&table, NOW);
    assert_eq!((facts.fresh, facts.band), (1, 2));
    assert_eq!(pool.values(), [NOT_ELIGIBLE, 40_000.0, 40_000.0]);
}

#[test]
fn readings_of_other_generations_and_unknown_slots_are_missing() {
    let table = table(&[Some(1_000)]);
    let mut pool = pool(least_cpu(Missing::As(2_000)), 0);
    pool.set_members(
        [(0, 1), (NO_SLOT, 0), (1, 0)].map(|(slot, generation)| Member {
            slot,
            generation,
            up: true,
            weight: 1.0,
        }),
    );
    assert_eq!(pool.refresh(&table, NOW).fresh, 0);
    assert_eq!(pool.values(), [2_000.0; 3]);
}

#[test]
fn random_takes_all_who_are_up_and_never_expires() {
    let table = table(&[Some(1_000), Some(90_000), None]);
    assert_takes_no_reading(Algorithm::Random, &table);
}

#[test]
fn draws_are_the_generators_in_band_order() {
    let table = table(&[Some(90_000), Some(10_000), Some(12_000), Some(14_000)]);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 4);
    pool.refresh(&table, NOW);
    let mut generator = Generator::new(1, 2);
    let expected: Vec<_> = (0..100).map(|_| generator.below(3) + 1).collect();
    assert_eq!(fill(&mut pool, 100), expected);
}

#[test]
fn a_band_of_one_draws_too() {
    let table = table(&[Some(10_000), Some(90_000)]);
    let mut one = pool(least_cpu(Missing::As(50_000)), 2);
    one.refresh(&table, NOW);
    assert_eq!(fill(&mut one, 3), [0, 0, 0]);
    table.write(1, 0, TIME_BIAS, 10_000);
    one.refresh(&table, NOW);
    let mut generator = Generator::new(1, 2);
    for _ in 0..3 {
        generator.next_u32();
    }
    let expected: Vec<_> = (0..20).map(|_| generator.below(2)).collect();
    assert_eq!(fill(&mut one, 20), expected);
}

#[test]
fn an_empty_band_draws_nothing_and_keeps_the_generator() {
    let table = table(&[Some(10_000), Some(11_000)]);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 0);
    pool.refresh(&table, NOW);
    assert_eq!(fill(&mut pool, 5), []);
    assert_eq!(pool.pick_excluding(&table, [0]), None);
    pool.set_members(members(2, |_| true));
    assert_eq!(fill(&mut pool, 5), [], "members come with the next refresh");
    pool.refresh(&table, NOW);
    assert_eq!(pool.pick_excluding(&table, [0, 1]), None);
    let mut generator = Generator::new(1, 2);
    let expected: Vec<_> = (0..20).map(|_| generator.below(2)).collect();
    assert_eq!(fill(&mut pool, 20), expected);
}

#[test]
fn a_rewound_fill_is_as_though_only_what_was_kept_had_been_drawn() {
    let table = table(&[Some(10_000), Some(11_000), Some(12_000)]);
    assert_rewinds(|| {
        let mut fresh = pool(least_cpu(Missing::As(50_000)), 3);
        fresh.refresh(&table, NOW);
        fresh
    });
}

#[test]
fn picking_otherwise_ends_what_can_be_rewound() {
    let table = table(&[Some(10_000), Some(11_000), Some(12_000)]);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 3);
    pool.refresh(&table, NOW);
    let mut generator = Generator::new(1, 2);
    for _ in 0..11 {
        generator.next_u32();
    }
    fill(&mut pool, 10);
    pool.pick_excluding(&table, []);
    pool.rewind(0);
    let expected: Vec<_> = (0..20).map(|_| generator.below(3)).collect();
    assert_eq!(fill(&mut pool, 20), expected);
}

#[test]
fn excluding_is_as_though_they_were_not_up() {
    let cpus = [Some(10_000), Some(40_000), None, Some(20_000), Some(44_000)];
    let table = table(&cpus);
    for missing in [Missing::As(41_000), Missing::Mean, Missing::Exclude] {
        assert_excludes(least_cpu(missing), &table, 5, &[99, 3, 0, 3, u32::MAX]);
    }
}

#[test]
fn excluding_uses_the_last_refresh() {
    let table = table(&[Some(10_000), Some(90_000)]);
    let mut pool = pool(least_cpu(Missing::As(50_000)), 2);
    pool.refresh(&table, NOW);
    table.write(0, 0, TIME_BIAS, 100_000);
    table.publish();
    pool.set_members([Member {
        slot: 1,
        generation: 0,
        up: true,
        weight: 1.0,
    }]);
    assert_eq!(pool.pick_excluding(&table, []), Some(0));
    assert_eq!(pool.pick_excluding(&table, [0]), Some(1));
    assert_eq!(fill(&mut pool, 1), [0]);
}

// 99.9 % quantiles of chi-square with n - 1 degrees of freedom.
#[test]
fn picks_are_uniform_in_the_band() {
    for (n, limit) in [(2, 10.83), (3, 13.82), (10, 27.88), (100, 148.23)] {
        let table = table(&vec![Some(0); n as usize]);
        let mut pool = pool(least_cpu(Missing::As(0)), n);
        pool.refresh(&table, NOW);
        let shares = shares(&pool);
        assert_eq!(shares, vec![1.0 / f64::from(n); n as usize]);
        assert_draws_keep_to_shares(&mut pool, &table, limit);
    }
}
