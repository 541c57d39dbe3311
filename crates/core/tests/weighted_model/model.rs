//! The contract of `EngineCore` for weighted round robin, word by word, with no thought of speed.

use std::collections::BTreeMap;
use std::sync::Arc;

use idlest_core::algorithms::weighted_round_robin::report_weights::Weighing;
use idlest_core::algorithms::weighted_round_robin::stride::Clamp;
use idlest_core::generator::Generator;
use idlest_core::layout::{APPLICATION, CPU, EPS, NAMED, QPS};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::table::Table;

#[derive(Clone, Copy, Default)]
struct Known {
    weight: f64,
    since: Option<f64>,
    updated: Option<f64>,
    from: Option<f64>,
    ignored: Option<f64>,
}

pub struct Model {
    weighing: Option<Weighing>,
    clamp: Clamp,
    generator: Generator,
    pub sequence: u32,
    started: Vec<f64>,
    pub members: Vec<Member>,
    known: BTreeMap<(u32, u32), Known>,
    pub weights: Vec<Option<f64>>,
    changed: bool,
    looked: Option<f64>,
    at: f64,
    taken_since: bool,
    pub ignored: u64,
}

pub struct Plan {
    pub band: Vec<u32>,
    pub scaled: Vec<f64>,
}

impl Model {
    pub fn new(weighing: Option<Weighing>, clamp: Clamp, generator: Generator) -> Self {
        Self {
            weighing,
            clamp,
            generator,
            sequence: 0,
            started: vec![],
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

    pub fn set_members(&mut self, members: &[Member]) {
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
    pub fn weighed(
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

    pub fn refresh(&mut self, table: &Table<Arc<Owned>>, now: f64) -> f64 {
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

    pub fn plan(&self) -> Plan {
        let band: Vec<u32> = (0..)
            .zip(&self.members)
            .filter(|(_, member)| member.up)
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
        let m = half(mean * 65_535.0 / cap).max(1.0);
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

    // After each refresh.
    pub fn start(&mut self) {
        let plan = self.plan();
        if plan.scaled == std::mem::replace(&mut self.started, plan.scaled.clone())
            || plan.scaled.is_empty()
        {
            return;
        }
        let n = plan.scaled.len() as u64;
        let total: f64 = plan.scaled.iter().sum();
        let mut left = (f64::from(self.generator.next_u32()) / 4_294_967_296.0 * total).floor();
        let mut i = 0;
        while left >= plan.scaled[i] {
            left -= plan.scaled[i];
            i += 1;
        }
        let i = i as u64;
        let mut g = u64::from(self.generator.below(65_535.min(u32::MAX / n as u32)));
        while !is_pick(&plan, i, g) {
            g += 1;
        }
        self.sequence = (g * n + i).try_into().unwrap();
    }

    pub fn draw(&mut self, plan: &Plan, excluded: &[u32]) -> Option<u32> {
        let n = plan.band.len() as u64;
        if plan.band.iter().all(|index| excluded.contains(index)) {
            return None;
        }
        loop {
            let s = u64::from(self.sequence);
            self.sequence = ((s + 1) % (1 << 32)) as u32;
            let (i, g) = (s % n, s / n);
            let index = plan.band[i as usize];
            if is_pick(plan, i, g) && !excluded.contains(&index) {
                return Some(index);
            }
        }
    }
}

fn is_pick(plan: &Plan, i: u64, g: u64) -> bool {
    let weight = plan.scaled[i as usize] as u64;
    (weight * g + i * 32_767) % 65_535 >= 65_535 - weight
}
