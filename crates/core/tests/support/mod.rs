//! Tables and pools for tests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

mod algorithm;
pub use algorithm::{Algorithm, Pool};
use idlest_core::band::NOT_ELIGIBLE;
use idlest_core::generator::Generator;
use idlest_core::layout::{self, TIME_BIAS};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::pool::Facts;
use idlest_core::table::Table;

/// The time of the tables' creation.
pub const NOW: f64 = TIME_BIAS as f64;

/// A table with as many slots, and what they read now.
pub fn table(cpus: &[Option<u32>]) -> Table<Arc<Owned>> {
    let slots = cpus.len() as u32;
    let memory = Owned::zeroed(layout::HEADER_BYTES + cpus.len() * layout::SLOT_BYTES);
    let table = Table::create(Arc::new(memory), 0.0, slots, slots).unwrap();
    for (slot, cpu) in (0..).zip(cpus) {
        if let Some(cpu) = cpu {
            table.write(slot, 0, TIME_BIAS, *cpu);
        }
    }
    table.publish();
    table
}

/// Writes a report: the values of some metrics, by their places.
pub fn write_report(
    table: &Table<Arc<Owned>>,
    slot: u32,
    generation: u32,
    time: u64,
    metrics: &[(usize, f32)],
) {
    table.write_reported(slot, generation, time);
    for &(metric, value) in metrics {
        table.write_metric(slot, generation, metric, time, value);
    }
}

/// Members for the slots 0 to `count - 1`; those that are `up`.
pub fn members(count: u32, up: impl Fn(u32) -> bool) -> impl Iterator<Item = Member> {
    (0..count).map(move |slot| Member {
        slot,
        generation: 0,
        up: up(slot),
        weight: 1.0,
    })
}

/// A pool of as many members, all up, seeded with 1, 2.
pub fn pool(algorithm: Algorithm, count: u32) -> Pool {
    let mut pool = algorithm.pool(Generator::new(1, 2));
    pool.set_members(members(count, |_| true));
    pool
}

/// The draws that a pool makes, where these look at no table.
pub fn fill(pool: &mut Pool, count: usize) -> Vec<u32> {
    fill_from(pool, &table(&[]), count)
}

/// The draws that a pool makes over a table.
pub fn fill_from(pool: &mut Pool, table: &Table<Arc<Owned>>, count: usize) -> Vec<u32> {
    let into: Vec<_> = (0..count).map(|_| AtomicU32::new(77)).collect();
    let drawn = pool.fill(table, &into);
    into.iter()
        .take(drawn)
        .map(|place| place.load(Relaxed))
        .collect()
}

/// The shares of all members of a pool.
pub fn shares(pool: &Pool) -> Vec<f64> {
    let mut shares = vec![0.0; pool.values().len()];
    for (index, share) in pool.shares() {
        shares[index as usize] = share;
    }
    shares
}

/// Chi-square of what was drawn against what was to be expected.
pub fn chi_square(draws: &[u32], shares: &[f64]) -> f64 {
    let mut counts = vec![0_u32; shares.len()];
    for &draw in draws {
        counts[draw as usize] += 1;
    }
    counts
        .iter()
        .zip(shares)
        .filter(|&(&count, &share)| share > 0.0 || count > 0)
        .map(|(&count, share)| {
            let expected = draws.len() as f64 * share;
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum()
}

/// Checks that an algorithm takes no reading: of three members the two that are up are in the band, and nothing expires.
pub fn assert_takes_no_reading(algorithm: Algorithm, table: &Table<Arc<Owned>>) {
    let mut pool = pool(algorithm, 0);
    pool.set_members(members(3, |slot| slot != 1));
    let facts = pool.refresh(table, NOW);
    assert_eq!(
        facts,
        Facts {
            generation: 1,
            next_expiry: f64::INFINITY,
            band: 2,
            fresh: 0
        }
    );
    assert_eq!(pool.values(), [0.0, NOT_ELIGIBLE, 0.0]);
    assert_eq!(shares(&pool), [0.5, 0.0, 0.5]);
}

/// Checks that a rewound fill is as though only what was kept had been drawn, of pools that draw the same.
pub fn assert_rewinds(fresh: impl Fn() -> Pool) {
    let all = fill(&mut fresh(), 300);
    for kept in [0, 1, 50, 99, 100, 101] {
        let mut pool = fresh();
        fill(&mut pool, 100);
        pool.rewind(kept);
        let kept = kept.min(100);
        assert_eq!(fill(&mut pool, 100), all[kept..kept + 100]);
        pool.rewind(10);
        pool.rewind(5);
        assert_eq!(fill(&mut pool, 100), all[kept + 5..kept + 105]);
    }
}

/// Checks that the readings of two members, of now, are fresh until their view is out of date, and not from then on.
pub fn assert_expires(pool: &mut Pool, table: &Table<Arc<Owned>>) {
    let next = pool.refresh(table, NOW).next_expiry;
    assert_eq!(pool.refresh(table, next - 1.0).fresh, 2);
    let after = pool.refresh(table, next);
    assert_eq!((after.fresh, after.next_expiry), (0, f64::INFINITY));
}

/// Checks that picks without some of as many members are as though these were not up, and that without all there is none.
pub fn assert_excludes(
    algorithm: Algorithm,
    table: &Table<Arc<Owned>>,
    count: u32,
    excluded: &[u32],
) {
    let mut all = pool(algorithm, count);
    all.refresh(table, NOW);
    let mut fewer = pool(algorithm, 0);
    fewer.set_members(members(count, |slot| !excluded.contains(&slot)));
    fewer.refresh(table, NOW);
    let mut without = || all.pick_excluding(table, excluded.iter().copied());
    let picks: Vec<_> = (0..50).map(|_| without().unwrap()).collect();
    assert_eq!(picks, fill_from(&mut fewer, table, 50), "{algorithm:?}");
    assert_eq!(all.pick_excluding(table, 0..count), None);
    let one_more = all.pick_excluding(table, excluded.iter().copied());
    assert_eq!(one_more, fewer.pick(table), "{algorithm:?}");
}

/// Checks that a fill, and picks that leave nobody out, keep to the pool's shares.
///
/// `limit`: of chi-square
pub fn assert_draws_keep_to_shares(pool: &mut Pool, table: &Table<Arc<Owned>>, limit: f64) {
    let shares = shares(pool);
    let excluding: Vec<_> = (0..100_000)
        .map(|_| pool.pick_excluding(table, []).unwrap())
        .collect();
    for draws in [fill_from(pool, table, 100_000), excluding] {
        let chi = chi_square(&draws, &shares);
        assert!(chi < limit, "{} members: {chi} >= {limit}", shares.len());
    }
}
