//! Spare capacity over a table.

mod support;

use idlest_core::algorithms::spare_capacity::SpareCapacity;
use idlest_core::band::{NEUTRAL, NOT_ELIGIBLE};
use idlest_core::layout::{NO_SLOT, TIME_BIAS};
use idlest_core::member::Member;
use idlest_core::pool::Facts;
use support::Algorithm;

use support::{
    NOW, assert_draws_keep_to_shares, assert_excludes, assert_expires, assert_rewinds, members,
    pool, shares, table,
};

fn spare(min_share: f64, exclude_missing: bool, smoothing: f64) -> Algorithm {
    Algorithm::SpareCapacity {
        spare: SpareCapacity {
            min_share,
            exclude_missing,
        },
        ttl: 1_000.0,
        smoothing,
    }
}

#[test]
fn a_refresh_tells_what_it_saw() {
    let table = table(&[Some(40_000), None, Some(80_000), Some(1)]);
    table.write(2, 0, TIME_BIAS + 7, 80_000);
    let mut pool = pool(spare(0.0, false, 0.0), 0);
    pool.set_members(members(4, |slot| slot != 3));
    let facts = pool.refresh(&table, NOW);
    assert_eq!(
        facts,
        Facts {
            generation: 1,
            next_expiry: NOW + 1_001.0,
            band: 3,
            fresh: 2
        }
    );
    assert_eq!(pool.values(), [40_000.0, 60_000.0, 80_000.0, NOT_ELIGIBLE]);
    assert_eq!(pool.band(), [0, 1, 2]);
    assert_eq!(shares(&pool), [0.5, 40_000.0 / 120_000.0, 1.0 / 6.0, 0.0]);
}

#[test]
fn a_view_is_out_of_date_from_its_next_expiry_and_not_before() {
    let table = table(&[Some(10_000), Some(60_000)]);
    let mut pool = pool(spare(0.01, true, 500.0), 2);
    assert_expires(&mut pool, &table);
    assert_eq!(pool.values(), [NEUTRAL, NEUTRAL]);
    assert_eq!(shares(&pool), [0.5, 0.5]);
}

#[test]
fn full_members_keep_their_part_of_an_equal_share() {
    let mut pool = pool(spare(0.01, false, 10_000.0), 4);
    pool.refresh(
        &table(&[Some(100_000), Some(0), Some(100_000), Some(50_000)]),
        NOW,
    );
    let found = shares(&pool);
    assert_eq!([found[0], found[2]], [0.01 / 4.0; 2]);
    pool.refresh(&table(&[Some(100_000); 4]), NOW);
    // Samples of one time are one sample: what was seen first stays.
    assert_eq!(shares(&pool), found);
    let mut full = support::pool(spare(0.01, false, 10_000.0), 4);
    full.refresh(&table(&[Some(100_000); 4]), NOW);
    assert_eq!(shares(&full), [0.25; 4]);
}

#[test]
fn readings_are_smoothed() {
    let table = table(&[Some(20_000), Some(50_000)]);
    let mut pool = pool(spare(0.0, false, 1_000.0), 2);
    pool.refresh(&table, NOW);
    table.write(0, 0, TIME_BIAS + 1_000, 80_000);
    // As often as it is looked at.
    for _ in 0..3 {
        pool.refresh(&table, NOW + 1_000.0);
        assert_eq!(pool.values(), [50_000.0, 50_000.0]);
        assert_eq!(shares(&pool), [0.5, 0.5]);
    }
}

#[test]
fn an_estimate_outlasts_stale_readings_drains_and_other_members() {
    let table = table(&[Some(20_000), Some(50_000)]);
    let mut pool = pool(spare(0.0, false, 3_000.0), 2);
    pool.refresh(&table, NOW);
    pool.set_members(members(1, |_| false));
    pool.refresh(&table, NOW + 1.0);
    pool.set_members([1, 0].map(|slot| Member {
        slot,
        generation: 0,
        up: true,
        weight: 1.0,
    }));
    assert_eq!(pool.refresh(&table, NOW + 2_000.0).fresh, 0);
    for slot in [0, 1] {
        table.write(slot, 0, TIME_BIAS + 3_000, 80_000);
    }
    pool.refresh(&table, NOW + 3_000.0);
    // One was there all the time; the other begins anew.
    assert_eq!(pool.values(), [80_000.0, 50_000.0]);
}

#[test]
fn the_next_owner_of_a_slot_begins_anew() {
    let table = table(&[Some(20_000)]);
    let mut pool = pool(spare(0.0, false, 3_000.0), 1);
    pool.refresh(&table, NOW);
    let generation = table.give_back(0).unwrap();
    let next = |slot| Member {
        slot,
        generation,
        up: true,
        weight: 1.0,
    };
    pool.set_members([next(0), next(NO_SLOT)]);
    assert_eq!(pool.refresh(&table, NOW).fresh, 0);
    table.write(0, generation, TIME_BIAS + 10, 90_000);
    pool.refresh(&table, NOW + 10.0);
    assert_eq!(pool.values(), [90_000.0, 90_000.0]);
}

#[test]
fn a_rewound_fill_is_as_though_only_what_was_kept_had_been_drawn() {
    let table = table(&[Some(10_000), Some(99_000), Some(70_000), None]);
    assert_rewinds(|| {
        let mut fresh = pool(spare(0.01, false, 0.0), 4);
        fresh.refresh(&table, NOW);
        fresh
    });
}

#[test]
fn excluding_is_as_though_they_were_not_up() {
    let cpus = [Some(10_000), Some(90_000), None, Some(20_000), Some(44_000)];
    let table = table(&cpus);
    for exclude_missing in [false, true] {
        let algorithm = spare(0.1, exclude_missing, 0.0);
        assert_excludes(algorithm, &table, 5, &[99, 3, 0, 3, u32::MAX]);
    }
}

// 99.9 % quantiles of chi-square with n - 1 degrees of freedom.
#[test]
fn draws_keep_to_the_shares() {
    for (n, limit) in [(2, 10.83), (3, 13.82), (10, 27.88), (100, 148.23)] {
        let cpus: Vec<_> = (0..n).map(|i| Some(100_000 - i * 90_000 / n)).collect();
        let mut pool = pool(spare(0.05, false, 0.0), n);
        let table = table(&cpus);
        pool.refresh(&table, NOW);
        let shares = shares(&pool);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_draws_keep_to_shares(&mut pool, &table, limit);
    }
}
