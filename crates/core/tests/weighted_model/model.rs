//! The contract of `EngineCore` for weighted round robin, word by word, with no thought of speed.

use std::collections::BTreeMap;
use std::sync::Arc;

use idlest_core::generator::Generator;
use idlest_core::layout::{APPLICATION, CPU, EPS, NAMED, QPS};
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::report_weights::Weighing;
use idlest_core::stride::Clamp;
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
    pub sequence: u32,
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
    pub fn new(weighing: Option<Weighing>, clamp: Clamp, mut generator: Generator) -> Self {
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

    pub fn plan(&self, excluded: &[u32]) -> Plan {
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

    pub fn draw(&mut self, plan: &Plan) -> Option<u32> {
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
