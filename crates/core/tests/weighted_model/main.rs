//! Weighted round robin against a model, bit for bit.

mod model;
#[path = "../support/mod.rs"]
mod support;

use crate::support::Algorithm;
use idlest_core::algorithms::weighted_round_robin::report_weights::Weighing;
use idlest_core::algorithms::weighted_round_robin::stride::Clamp;
use idlest_core::band::NOT_ELIGIBLE;
use idlest_core::generator::Generator;
use idlest_core::layout::{APPLICATION, CPU, EPS, NAMED, NO_SLOT, QPS, TIME_BIAS};
use idlest_core::member::Member;
use proptest::prelude::*;

use model::Model;
use support::{NOW, fill_from, shares, table, write_report};

const SLOTS: u32 = 12;

type Metrics = Vec<(usize, f32)>;

#[derive(Clone, Debug)]
enum Step {
    Write {
        slot: u32,
        age: u64,
        metrics: Metrics,
    },
    GiveBack(u32),
    Members(Vec<(u32, bool)>),
    Wait(u64),
    Fill {
        count: usize,
        kept: usize,
    },
    Exclude(Vec<u32>),
}

fn metrics() -> impl Strategy<Value = Metrics> {
    let value = prop_oneof![
        Just(0.0_f32),
        1.0_f32..10.0,
        0.0_f32..1e12,
        Just(f32::MAX),
        Just(f32::MIN_POSITIVE),
        Just(-1.0_f32)
    ];
    let place = prop_oneof![
        Just(QPS),
        Just(QPS),
        Just(CPU),
        Just(APPLICATION),
        Just(EPS),
        Just(NAMED),
        Just(NAMED + 3)
    ];
    let some =
        prop::collection::btree_map(place, value, 0..6).prop_map(|it| it.into_iter().collect());
    let usual =
        (1.0_f32..100.0, 1.0_f32..100.0).prop_map(|(cpu, qps)| vec![(CPU, cpu), (QPS, qps)]);
    prop_oneof![some, usual]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let node = prop_oneof![8 => 0..SLOTS, 1 => Just(NO_SLOT)];
    let members = prop::collection::btree_map(node, prop::bool::weighted(0.8), 0..12);
    let step = prop_oneof![
        12 => (0..SLOTS, 0_u64..150, metrics()).prop_map(|(slot, age, metrics)| Step::Write { slot, age, metrics }),
        1 => (0..SLOTS).prop_map(Step::GiveBack),
        2 => members.prop_map(|members| Step::Members(members.into_iter().collect())),
        6 => (0_u64..250).prop_map(Step::Wait),
        4 => (0_usize..40, 0_usize..40).prop_map(|(count, kept)| Step::Fill { count, kept }),
        2 => prop::collection::vec(0..SLOTS + 2, 0..8).prop_map(Step::Exclude),
    ];
    prop::collection::vec(step, 1..60)
}

fn weighings() -> impl Strategy<Value = Option<Weighing>> {
    let weighing = (
        prop_oneof![Just(0.0), Just(50.0), Just(300.0)],
        prop_oneof![Just(0.0), Just(200.0), Just(500.0), Just(5_000.0)],
        prop_oneof![Just(1.0), Just(100.0), Just(170.0)],
        prop_oneof![Just(0.0), Just(1.0), 0.0..10.0],
        prop_oneof![
            Just(0),
            Just(1),
            Just(1 << NAMED),
            Just(1 << CPU | 1 << (NAMED + 3))
        ],
    );
    let weighing = weighing.prop_map(
        |(blackout, expiration, update, error_penalty, utilizations)| Weighing {
            blackout,
            expiration,
            update,
            error_penalty,
            utilizations,
        },
    );
    prop_oneof![1 => Just(None), 6 => weighing.prop_map(Some)]
}

fn clamps() -> impl Strategy<Value = Clamp> {
    let own = (1.0..1e6, 0.0..=1.0, any::<bool>());
    prop_oneof![
        Just(Clamp {
            max: 10.0,
            min: 0.01,
            round_up: false
        }),
        own.prop_map(|(max, min, round_up)| Clamp { max, min, round_up })
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pools_do_as_the_model(
        weighing in weighings(),
        clamp in clamps(),
        steps in steps(),
        seed in any::<(u32, u32)>(),
    ) {
        let table = table(&[None; SLOTS as usize]);
        let mut generations = [0; SLOTS as usize];
        let generator = Generator::new(seed.0, seed.1);
        let mut pool = Algorithm::WeightedRoundRobin { weighing, clamp }.pool(generator);
        let mut model = Model::new(weighing, clamp, generator);
        let mut elapsed = 0;
        for step in [Step::Members((0..SLOTS).map(|slot| (slot, true)).collect())]
            .into_iter()
            .chain(steps)
        {
            match step {
                Step::Write { slot, age, metrics } => {
                    let time = TIME_BIAS + elapsed - age;
                    write_report(&table, slot, generations[slot as usize], time, &metrics);
                }
                Step::GiveBack(slot) => {
                    generations[slot as usize] = table.give_back(slot).unwrap();
                }
                Step::Wait(ms) => elapsed += ms,
                Step::Members(nodes) => {
                    let member = |(slot, up)| Member {
                        slot,
                        generation: generations.get(slot as usize).copied().unwrap_or(0),
                        up,
                        weight: f64::from(slot % 5 + 1),
                    };
                    let members: Vec<_> = nodes.into_iter().map(member).collect();
                    pool.set_members(members.iter().copied());
                    model.set_members(&members);
                }
                Step::Fill { count, kept } => {
                    let plan = model.plan();
                    let kept = kept.min(count);
                    let mut expected: Vec<_> = (0..kept).filter_map(|_| model.draw(&plan, &[])).collect();
                    let left = model.sequence;
                    expected.extend((kept..count).filter_map(|_| model.draw(&plan, &[])));
                    model.sequence = left;
                    prop_assert_eq!(fill_from(&mut pool, &table, count), expected);
                    pool.rewind(kept);
                    continue;
                }
                Step::Exclude(excluded) => {
                    let plan = model.plan();
                    let expected = model.draw(&plan, &excluded);
                    prop_assert_eq!(pool.pick_excluding(&table, excluded), expected);
                    continue;
                }
            }
            let now = NOW + elapsed as f64;
            let facts = pool.refresh(&table, now);
            let next = model.refresh(&table, now);
            model.start();
            prop_assert_eq!(facts.next_expiry, next);
            prop_assert_eq!(pool.ignored(), model.ignored);
            let ups = model.members.iter().map(|member| member.up);
            let values: Vec<_> = ups
                .clone()
                .zip(&model.weights)
                .map(|(up, weight)| if up { weight.unwrap_or(0.0) } else { NOT_ELIGIBLE })
                .collect();
            prop_assert_eq!(pool.values(), &values[..]);
            let known = ups.zip(&model.weights).filter(|(up, weight)| *up && weight.is_some()).count();
            prop_assert_eq!(facts.fresh as usize, weighing.map_or(0, |_| known));
            let plan = model.plan();
            prop_assert_eq!(pool.band(), &plan.band[..]);
            let total: f64 = plan.scaled.iter().sum();
            let mut expected = vec![0.0; values.len()];
            for (&index, scaled) in plan.band.iter().zip(&plan.scaled) {
                expected[index as usize] = scaled / total;
            }
            // Bit for bit.
            prop_assert_eq!(shares(&pool), expected);
        }
    }
}
