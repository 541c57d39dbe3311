//! Weighted round robin over a table: the known right answers of `test/vectors/wrr-weights.json`, and pools against a
//! model that follows the contract of `EngineCore` word by word, bit for bit, with no thought of speed.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use idlest_core::band::NOT_ELIGIBLE;
use idlest_core::generator::Generator;
use idlest_core::layout::{APPLICATION, CPU, EPS, NAMED, NO_SLOT, QPS, TIME_BIAS};
use idlest_core::memory::Owned;
use idlest_core::pool::{Algorithm, Member, Pool};
use idlest_core::report_weights::{Weighing, weight_of};
use idlest_core::stride::Clamp;
use idlest_core::table::Table;
use proptest::prelude::*;
use serde_json::Value;

use support::{NOW, assert_rewinds, fill, fill_from, members, shares, table};

const SLOTS: u32 = 12;
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

type Metrics = Vec<(usize, f32)>;

fn write(table: &Table<Arc<Owned>>, slot: u32, generation: u32, time: u64, metrics: &Metrics) {
    table.write_reported(slot, generation, time);
    for &(metric, value) in metrics {
        table.write_metric(slot, generation, metric, time, value);
    }
}

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
        write(&table, 0, 0, TIME_BIAS, &metrics);
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
    write(&table, 0, 0, TIME_BIAS, &vec![(QPS, 1.0), (CPU, 1.0)]);
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

#[test]
fn excluding_is_as_though_they_were_not_up() {
    let pool = |up: fn(u32) -> bool| {
        let mut pool = support::pool(FIXED, 0);
        pool.set_members(members(5, up).map(|member| Member {
            weight: f64::from(member.slot + 1),
            ..member
        }));
        pool.refresh(&table(&[]), NOW);
        pool
    };
    let (mut all, mut fewer) = (pool(|_| true), pool(|slot| slot % 2 == 1));
    let none = table(&[]);
    let picks: Vec<_> = (0..50)
        .map(|_| all.pick_excluding(&none, [0, 4, 99, 2, 2]).unwrap())
        .collect();
    assert_eq!(picks, fill(&mut fewer, 50));
    assert_eq!(all.pick_excluding(&none, 0..5), None);
}

#[derive(Clone, Copy, Default)]
struct Known {
    weight: f64,
    since: Option<f64>,
    updated: Option<f64>,
    from: Option<f64>,
    ignored: Option<f64>,
}

struct Model {
    weighing: Option<Weighing>,
    clamp: Clamp,
    sequence: u32,
    members: Vec<Member>,
    known: BTreeMap<(u32, u32), Known>,
    weights: Vec<Option<f64>>,
    changed: bool,
    looked: Option<f64>,
    at: f64,
    taken_since: bool,
    ignored: u64,
}

struct Plan {
    band: Vec<u32>,
    scaled: Vec<f64>,
}

impl Model {
    fn new(weighing: Option<Weighing>, clamp: Clamp, mut generator: Generator) -> Self {
        Self {
            weighing,
            clamp,
            sequence: generator.next_u32(),
            members: vec![],
            known: BTreeMap::new(),
            weights: vec![],
            changed: true,
            looked: None,
            at: 0.0,
            taken_since: false,
            ignored: 0,
        }
    }

    fn set_members(&mut self, members: &[Member]) {
        let before = std::mem::take(&mut self.known);
        for member in members {
            let key = (member.slot, member.generation);
            let newcomer = Known {
                from: self.looked,
                ..Known::default()
            };
            self.known
                .insert(key, before.get(&key).copied().unwrap_or(newcomer));
        }
        self.members = members.to_vec();
        self.changed = true;
    }

    // The time and the weight of the slot's report, where it gives one.
    fn weighed(
        &self,
        table: &Table<Arc<Owned>>,
        member: &Member,
        reported: u64,
    ) -> Option<(f64, f64)> {
        let weighing = self.weighing?;
        let metric = |place| table.metric(member.slot, member.generation, place, reported);
        let qps = metric(QPS)?;
        let part = |place| match metric(place) {
            Some(sample) if sample.time == qps.time => sample.value,
            _ => 0.0,
        };
        let utilization = |place| {
            if place < NAMED {
                part(place) / 100.0
            } else {
                part(place)
            }
        };
        let own = (0..12)
            .filter(|place| weighing.utilizations >> place & 1 == 1)
            .map(utilization)
            .fold(0.0, f64::max);
        let utilization = [utilization(APPLICATION), own, utilization(CPU)]
            .into_iter()
            .find(|&utilization| utilization > 0.0)?;
        if qps.value <= 0.0 || part(EPS) < 0.0 {
            return None;
        }
        let weight = qps.value / (utilization + (part(EPS) / qps.value) * weighing.error_penalty);
        (weight > 0.0 && weight.is_finite()).then_some((qps.time as f64, weight))
    }

    fn refresh(&mut self, table: &Table<Arc<Owned>>, now: f64) -> f64 {
        let Some(weighing) = self.weighing else {
            self.weights = self
                .members
                .iter()
                .map(|member| Some(member.weight))
                .collect();
            return f64::INFINITY;
        };
        let is_update = self.changed || now >= self.at + weighing.update;
        if is_update {
            if self.changed {
                self.at = now;
            } else {
                while self.at + weighing.update <= now {
                    self.at += weighing.update;
                }
            }
            self.taken_since = false;
            self.changed = false;
            self.weights = vec![None; self.members.len()];
        }
        let mut change = f64::INFINITY;
        for (i, member) in self.members.clone().iter().enumerate() {
            if !member.up {
                continue;
            }
            let key = (member.slot, member.generation);
            let mut known = self.known[&key];
            let reported = table.reported(member.slot, member.generation);
            let weighed = reported.and_then(|reported| self.weighed(table, member, reported));
            if let (Some(reported), None) = (reported, weighed) {
                let reported = Some(reported as f64);
                if reported > known.updated && reported > known.ignored {
                    known.ignored = reported;
                    self.ignored += 1;
                }
            }
            let mut news = weighed.filter(|&(time, weight)| {
                Some(time) > known.updated
                    || Some(time) == known.updated
                        && known.since.is_some()
                        && weight != known.weight
            });
            for round in [0, 1] {
                if round == 1 && is_update {
                    if known
                        .updated
                        .is_none_or(|updated| self.at - updated >= weighing.expiration)
                    {
                        known.since = None;
                    }
                    self.weights[i] = known
                        .since
                        .filter(|since| self.at - since >= weighing.blackout)
                        .map(|_| known.weight);
                }
                if let Some((time, weight)) = news
                    && (round == 1 || is_update && time <= self.at)
                {
                    let from = known.from.unwrap_or(0.0);
                    known.since = known.since.or(Some(time.max(from)));
                    (known.updated, known.weight) = (Some(time), weight);
                    self.taken_since |= round == 1;
                    news = None;
                }
            }
            if let (Some(since), Some(updated)) = (known.since, known.updated) {
                change = change.min(updated + weighing.expiration);
                if self.at - since < weighing.blackout {
                    change = change.min(since + weighing.blackout);
                }
            }
            self.known.insert(key, known);
        }
        self.looked = Some(now);
        if self.taken_since {
            return self.at + weighing.update;
        }
        let mut next = self.at + weighing.update;
        while next < change && change.is_finite() {
            next += weighing.update;
        }
        if change.is_finite() { next } else { change }
    }

    fn plan(&self, excluded: &[u32]) -> Plan {
        let band: Vec<u32> = (0..)
            .zip(&self.members)
            .filter(|(index, member)| member.up && !excluded.contains(index))
            .map(|(index, _)| index)
            .collect();
        let weights: Vec<_> = band
            .iter()
            .map(|&index| self.weights[index as usize])
            .collect();
        let known: Vec<f64> = weights.iter().flatten().copied().collect();
        if known.len() < 2 {
            let scaled = vec![65_535.0; band.len()];
            return Plan { band, scaled };
        }
        let mean = known.iter().fold(0.0, |sum, weight| sum + weight) / known.len() as f64;
        let largest = known.iter().copied().fold(0.0, f64::max);
        let cap = f64::min(largest, self.clamp.max * mean);
        let half = |x: f64| (x + 0.5).floor();
        let m = half(mean * 65_535.0 / cap);
        let floor = match self.clamp.round_up {
            true => (self.clamp.min * m).ceil(),
            false => half(self.clamp.min * m),
        };
        let scaled = |weight: f64| half(weight.min(cap) * 65_535.0 / cap).max(floor.max(1.0));
        Plan {
            band,
            scaled: weights
                .iter()
                .map(|weight| weight.map_or(m, scaled))
                .collect(),
        }
    }

    fn draw(&mut self, plan: &Plan) -> Option<u32> {
        let n = plan.band.len() as u64;
        if n == 0 {
            return None;
        }
        loop {
            let s = u64::from(self.sequence);
            self.sequence = ((s + 1) % (1 << 32)) as u32;
            let (i, g) = (s % n, s / n);
            let weight = plan.scaled[i as usize] as u64;
            if (weight * g + i * 32_767) % 65_535 >= 65_535 - weight {
                return Some(plan.band[i as usize]);
            }
        }
    }
}

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
        Just(CORE),
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
        let mut pool = Pool::new(Algorithm::WeightedRoundRobin { weighing, clamp }, generator);
        let mut model = Model::new(weighing, clamp, generator);
        let mut elapsed = 0;
        for step in [Step::Members((0..SLOTS).map(|slot| (slot, true)).collect())]
            .into_iter()
            .chain(steps)
        {
            match step {
                Step::Write { slot, age, metrics } => {
                    let time = TIME_BIAS + elapsed - age;
                    write(&table, slot, generations[slot as usize], time, &metrics);
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
                    let plan = model.plan(&[]);
                    let kept = kept.min(count);
                    let mut expected: Vec<_> = (0..kept).filter_map(|_| model.draw(&plan)).collect();
                    let left = model.sequence;
                    expected.extend((kept..count).filter_map(|_| model.draw(&plan)));
                    model.sequence = left;
                    prop_assert_eq!(fill_from(&mut pool, &table, count), expected);
                    pool.rewind(kept);
                    continue;
                }
                Step::Exclude(excluded) => {
                    let plan = model.plan(&excluded);
                    let expected = model.draw(&plan);
                    prop_assert_eq!(pool.pick_excluding(&table, excluded), expected);
                    continue;
                }
            }
            let now = NOW + elapsed as f64;
            let facts = pool.refresh(&table, now);
            let next = model.refresh(&table, now);
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
            let plan = model.plan(&[]);
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
