//! What happens to a pool and its table, and by what algorithm it picks.

use crate::support::Algorithm;
use idlest_core::algorithms::spare_capacity::SpareCapacity;
use idlest_core::fewest::Candidates;
use idlest_core::layout::NO_SLOT;
use proptest::prelude::*;

use crate::{SLOTS, TTL};

#[derive(Clone, Debug)]
pub enum Step {
    Write { slot: u32, age: u64, cpu: u32 },
    GiveBack(u32),
    Enter(u32),
    Leave(u32),
    Members(Vec<(u32, bool, f64)>),
    Wait(u64),
    Fill { count: usize, kept: usize },
    Pick,
    Exclude(Vec<u32>),
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cpu = prop_oneof![3 => 0_u32..=100_000, 1 => Just(100_000), 1 => Just(0)];
    let node = prop_oneof![8 => 0..SLOTS, 1 => Just(NO_SLOT)];
    let write = (0..SLOTS, 0_u64..150, cpu);
    // Few, so that loads are equal now and then, and some that can't be told exactly.
    let weight = prop_oneof![
        4 => (1_u32..5).prop_map(f64::from),
        2 => 0.0001_f64..10.0,
        1 => prop_oneof![Just(1e12), Just(f64::MIN_POSITIVE)],
    ];
    let member = (prop::bool::weighted(0.8), weight);
    let members = prop::collection::btree_map(node, member, 0..24);
    let step = prop_oneof![
        12 => write.prop_map(|(slot, age, cpu)| Step::Write { slot, age, cpu }),
        1 => (0..SLOTS).prop_map(Step::GiveBack),
        8 => (0..SLOTS).prop_map(Step::Enter),
        4 => (0..SLOTS).prop_map(Step::Leave),
        2 => members.prop_map(|members| {
            let listed = members.into_iter().map(|(slot, (up, weight))| (slot, up, weight));
            Step::Members(listed.collect())
        }),
        3 => (0_u64..80).prop_map(Step::Wait),
        4 => (0_usize..40, 0_usize..40).prop_map(|(count, kept)| Step::Fill { count, kept }),
        2 => Just(Step::Pick),
        2 => prop::collection::vec(0..SLOTS + 2, 0..12).prop_map(Step::Exclude),
    ];
    prop::collection::vec(step, 1..60)
}

pub fn algorithms() -> impl Strategy<Value = Algorithm> {
    let spare = (
        prop_oneof![Just(0.0), Just(0.01), Just(1.0), 0.0..1.0],
        any::<bool>(),
        prop_oneof![Just(0.0), 0.0..1_000.0],
    );
    let spare = spare.prop_map(|(min_share, exclude_missing, smoothing)| {
        let spare = SpareCapacity {
            min_share,
            exclude_missing,
        };
        Algorithm::SpareCapacity {
            spare,
            ttl: TTL,
            smoothing,
        }
    });
    prop_oneof![
        1 => Just(Algorithm::RoundRobin),
        2 => Just(Algorithm::RandomByWeight),
        3 => spare,
        1 => Just(Algorithm::LeastConnections(Candidates::All)),
        3 => prop_oneof![3 => 1_u32..6, 1 => 6_u32..=64]
            .prop_map(|choices| Algorithm::LeastConnections(Candidates::Drawn(choices))),
        1 => Just(Algorithm::LeastConnectionsByWeight(Candidates::All)),
        3 => prop_oneof![3 => 1_u32..6, 1 => 6_u32..=64]
            .prop_map(|choices| Algorithm::LeastConnectionsByWeight(Candidates::Drawn(choices))),
    ]
}
