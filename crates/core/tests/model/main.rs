//! Pools that draw in turn, by shares or by requests in flight against a model that follows the contract of
//! `EngineCore`, bit for bit.

mod model;
mod steps;
#[path = "../support/mod.rs"]
mod support;

use idlest_core::generator::Generator;
use idlest_core::layout::TIME_BIAS;
use idlest_core::member::Member;
use proptest::prelude::*;

use model::{Model, Seen};
use steps::{Step, algorithms, steps};
use support::{NOW, fill_from, shares, table};

const SLOTS: u32 = 24;
const TTL: f64 = 100.0;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pools_do_as_the_model(
        algorithm in algorithms(),
        steps in steps(),
        seed in any::<(u32, u32)>(),
    ) {
        let table = table(&[None; SLOTS as usize]);
        let mut generations = [0; SLOTS as usize];
        let generator = Generator::new(seed.0, seed.1);
        let (mut pool, mut model) = (algorithm.pool(generator), Model::new(algorithm, generator));
        let mut elapsed = 0;
        for step in [Step::Members((0..SLOTS).map(|slot| (slot, true, f64::from(slot % 3 + 1))).collect())]
            .into_iter()
            .chain(steps)
        {
            match step {
                Step::Write { slot, age, cpu } => {
                    let time = TIME_BIAS + elapsed - age;
                    table.write(slot, generations[slot as usize], time, cpu);
                }
                Step::GiveBack(slot) => {
                    generations[slot as usize] = table.give_back(slot).unwrap();
                }
                Step::Wait(ms) => elapsed += ms,
                Step::Members(nodes) => {
                    let members: Vec<_> = nodes
                        .into_iter()
                        .map(|(slot, up, weight)| Member {
                            slot,
                            generation: generations.get(slot as usize).copied().unwrap_or(0),
                            up,
                            weight,
                        })
                        .collect();
                    pool.set_members(members.iter().copied());
                    model.set_members(&members);
                }
                Step::Fill { count, kept } => {
                    let drawn = fill_from(&mut pool, &table, count);
                    prop_assert_eq!(drawn, model.fill(&table, count, kept));
                    pool.rewind(kept);
                    continue;
                }
                Step::Pick => {
                    let drawn = pool.pick(&table);
                    prop_assert_eq!(drawn, model.fill(&table, 1, 1).first().copied());
                    continue;
                }
                Step::Enter(slot) => {
                    table.enter(slot, generations[slot as usize]);
                    continue;
                }
                Step::Leave(slot) => {
                    table.leave(slot, generations[slot as usize]);
                    continue;
                }
                Step::Exclude(excluded) => {
                    prop_assert_eq!(
                        pool.pick_excluding(&table, excluded.iter().copied()),
                        model.pick_excluding(&table, &excluded)
                    );
                    continue;
                }
            }
            let now = NOW + elapsed as f64;
            let facts = pool.refresh(&table, now);
            model.refresh(&table, now);
            let plan = model.current();
            let fresh = model.seen.iter().filter(|seen| matches!(seen, Seen::Fresh(_))).count();
            prop_assert_eq!((facts.band as usize, facts.fresh as usize), (plan.band.len(), fresh));
            prop_assert_eq!(pool.values(), &plan.values[..]);
            prop_assert_eq!(pool.band(), &plan.band[..]);
            let mut expected = vec![0.0; plan.values.len()];
            for (&index, &share) in plan.band.iter().zip(&plan.shares) {
                expected[index as usize] = share;
            }
            // Bit for bit.
            prop_assert_eq!(shares(&pool), expected);
        }
    }
}
