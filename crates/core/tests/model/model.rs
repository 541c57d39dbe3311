//! What the contract of `EngineCore` says, word by word, with no thought of speed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::Algorithm;
use idlest_core::band::NOT_ELIGIBLE;
use idlest_core::fewest::Candidates;
use idlest_core::generator::Generator;
use idlest_core::member::Member;
use idlest_core::memory::Owned;
use idlest_core::table::Table;

use crate::TTL;

const FULL: f64 = 100_000.0;

#[derive(Clone, Copy, PartialEq)]
pub enum Seen {
    Out,
    Missing,
    Fresh(f64),
}

pub struct Model {
    algorithm: Algorithm,
    generator: Generator,
    turn: u64,
    members: Vec<Member>,
    estimates: BTreeMap<(u32, u32), (f64, u64)>,
    pub seen: Vec<Seen>,
}

/// The band, its shares, and the value of each member.
pub struct Plan {
    pub band: Vec<u32>,
    pub shares: Vec<f64>,
    pub values: Vec<f64>,
}

impl Model {
    pub fn new(algorithm: Algorithm, mut generator: Generator) -> Self {
        let turn = match algorithm {
            Algorithm::RoundRobin => generator.next_u32().into(),
            _ => 0,
        };
        Self {
            algorithm,
            generator,
            turn,
            members: vec![],
            estimates: BTreeMap::new(),
            seen: vec![],
        }
    }

    pub fn set_members(&mut self, members: &[Member]) {
        self.members = members.to_vec();
        self.estimates.retain(|key, _| {
            members
                .iter()
                .any(|member| (member.slot, member.generation) == *key)
        });
    }

    pub fn refresh(&mut self, table: &Table<Arc<Owned>>, now: f64) {
        let members = self.members.clone();
        self.seen = members
            .iter()
            .map(|member| self.see(member, table, now))
            .collect();
    }

    fn see(&mut self, member: &Member, table: &Table<Arc<Owned>>, now: f64) -> Seen {
        let smoothing = match self.algorithm {
            _ if !member.up => return Seen::Out,
            Algorithm::SpareCapacity { smoothing, .. } => smoothing,
            _ => return Seen::Missing,
        };
        let Some(fresh) = table.read(member.slot, member.generation, now, TTL) else {
            return Seen::Missing;
        };
        let cpu = f64::from(fresh.cpu);
        if smoothing == 0.0 {
            return Seen::Fresh(cpu);
        }
        let (value, time) = self
            .estimates
            .entry((member.slot, member.generation))
            .or_insert((cpu, fresh.time));
        if fresh.time > *time {
            let dt = fresh.time as f64 - *time as f64;
            *value = *value + (cpu - *value) * (dt / (smoothing + dt));
            *time = fresh.time;
        }
        Seen::Fresh(*value)
    }

    fn plan(&self, seen: &[Seen]) -> Plan {
        let Algorithm::SpareCapacity { spare, .. } = self.algorithm else {
            let band: Vec<u32> = indices(seen.iter().map(|&seen| seen != Seen::Out));
            let mut shares = vec![1.0 / band.len() as f64; band.len()];
            if self.is_weighted() {
                let weight = |&index: &u32| self.members[index as usize].weight;
                let total = band
                    .iter()
                    .map(weight)
                    .fold(0.0, |sum, weight| sum + weight);
                shares = band.iter().map(|index| weight(index) / total).collect();
            }
            let value = |&seen| if seen == Seen::Out { NOT_ELIGIBLE } else { 0.0 };
            let values = seen.iter().map(value).collect();
            return Plan {
                band,
                shares,
                values,
            };
        };
        let idle: Vec<f64> = seen
            .iter()
            .filter_map(|seen| match seen {
                Seen::Fresh(value) => Some(FULL - value),
                _ => None,
            })
            .collect();
        let mean = idle.iter().fold(0.0, |sum, idle| sum + idle) / idle.len() as f64;
        let mut weights: Vec<Option<f64>> = seen
            .iter()
            .map(|&seen| match seen {
                Seen::Out => None,
                Seen::Fresh(value) => Some(FULL - value),
                Seen::Missing if idle.is_empty() => Some(1.0),
                Seen::Missing => (!spare.exclude_missing).then_some(mean),
            })
            .collect();
        if weights.iter().flatten().all(|&weight| weight == 0.0) {
            for weight in weights.iter_mut().flatten() {
                *weight = 1.0;
            }
        }
        let total = weights
            .iter()
            .flatten()
            .fold(0.0, |sum, weight| sum + weight);
        let n = weights.iter().flatten().count() as f64;
        let share = |weight| (1.0 - spare.min_share) * (weight / total) + spare.min_share / n;
        let value = |weight: &Option<f64>| match weight {
            None => NOT_ELIGIBLE,
            Some(_) if idle.is_empty() => 50_000.0,
            Some(weight) => (FULL - weight + 0.5).floor(),
        };
        Plan {
            band: indices(weights.iter().map(Option::is_some)),
            shares: weights
                .iter()
                .flatten()
                .map(|&weight| share(weight))
                .collect(),
            values: weights.iter().map(value).collect(),
        }
    }

    fn is_weighted(&self) -> bool {
        matches!(
            self.algorithm,
            Algorithm::RandomByWeight | Algorithm::LeastConnectionsByWeight(_)
        )
    }

    pub fn current(&self) -> Plan {
        self.plan(&self.seen)
    }

    fn draw(&mut self, plan: &Plan, table: &Table<Arc<Owned>>) -> Option<u32> {
        let n = plan.band.len();
        if n == 0 {
            return None;
        }
        let position = match self.algorithm {
            Algorithm::RoundRobin => {
                let position = self.turn % n as u64;
                self.turn = position + 1;
                position as usize
            }
            Algorithm::LeastConnections(candidates)
            | Algorithm::LeastConnectionsByWeight(candidates) => {
                self.least(plan, candidates, table)
            }
            _ => {
                let (accept, alias) = vose(&plan.shares);
                let u1 = self.generator.next_u32();
                let u2 = self.generator.next_u32();
                let i = (f64::from(u1) * n as f64 / 4_294_967_296.0).floor() as usize;
                if f64::from(u2) < accept[i] {
                    i
                } else {
                    alias[i]
                }
            }
        };
        Some(plan.band[position])
    }

    fn least(&mut self, plan: &Plan, candidates: Candidates, table: &Table<Arc<Owned>>) -> usize {
        let below = |generator: &mut Generator, bound: usize| {
            let u = f64::from(generator.next_u32());
            (u * bound as f64 / 4_294_967_296.0).floor() as usize
        };
        let n = plan.band.len();
        let d = match candidates {
            Candidates::All => n,
            Candidates::Drawn(choices) => n.min(choices as usize),
        };
        let mut drawn: Vec<usize> = vec![];
        if d == n {
            drawn.extend(0..n);
        } else {
            for k in n - d..n {
                let t = below(&mut self.generator, k + 1);
                drawn.push(if drawn.contains(&t) { k } else { t });
            }
        }
        let in_flight = |position: usize| {
            let member = self.members[plan.band[position] as usize];
            table.in_flight(member.slot, member.generation)
        };
        // Of a pair, the number for a tie is taken in any case.
        let tie = (d == 2 && d < n).then(|| below(&mut self.generator, 2));
        let weighted = self.is_weighted();
        let weight = |position: usize| match weighted {
            true => self.members[plan.band[position] as usize].weight,
            false => 1.0,
        };
        let (mut best, mut equals) = (drawn[0], 1);
        for &candidate in &drawn[1..] {
            let one = (f64::from(in_flight(candidate)) + 1.0) * weight(best);
            let other = (f64::from(in_flight(best)) + 1.0) * weight(candidate);
            if one < other {
                (best, equals) = (candidate, 1);
            } else if one == other {
                equals += 1;
                if tie.unwrap_or_else(|| below(&mut self.generator, equals)) == 0 {
                    best = candidate;
                }
            }
        }
        best
    }

    pub fn fill(&mut self, table: &Table<Arc<Owned>>, count: usize, kept: usize) -> Vec<u32> {
        let plan = self.current();
        let mut drawn = vec![];
        let mut left = (self.generator, self.turn);
        for made in 0..count {
            drawn.extend(self.draw(&plan, table));
            if made + 1 == kept {
                left = (self.generator, self.turn);
            }
        }
        // Draws by requests in flight are not taken back.
        let live = matches!(
            self.algorithm,
            Algorithm::LeastConnections(_) | Algorithm::LeastConnectionsByWeight(_)
        );
        if kept < drawn.len() && !live {
            (self.generator, self.turn) = left;
        }
        drawn
    }

    pub fn pick_excluding(&mut self, table: &Table<Arc<Owned>>, excluded: &[u32]) -> Option<u32> {
        if self.algorithm == Algorithm::RoundRobin {
            let band = self.current().band;
            let length = band.len() as u64;
            let i = (0..length).find(|i| {
                let index = band[((self.turn + i) % length) as usize];
                !excluded.contains(&index)
            })?;
            let position = (self.turn + i) % length;
            self.turn = position + 1;
            return Some(band[position as usize]);
        }
        let seen: Vec<_> = (0..)
            .zip(&self.seen)
            .map(|(index, &seen)| match excluded.contains(&index) {
                true => Seen::Out,
                false => seen,
            })
            .collect();
        let plan = self.plan(&seen);
        self.draw(&plan, table)
    }
}

fn indices(are: impl Iterator<Item = bool>) -> Vec<u32> {
    (0..)
        .zip(are)
        .filter_map(|(index, is)| is.then_some(index))
        .collect()
}

fn vose(shares: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let n = shares.len();
    let (mut accept, mut alias) = (vec![4_294_967_296.0; n], vec![0; n]);
    let mut s: Vec<f64> = shares.iter().map(|share| share * n as f64).collect();
    let (mut small, mut large): (Vec<_>, Vec<_>) = (0..n).partition(|&i| s[i] < 1.0);
    while !small.is_empty() && !large.is_empty() {
        let (l, g) = (small.pop().unwrap(), large.pop().unwrap());
        accept[l] = (s[l] * 4_294_967_296.0).floor();
        alias[l] = g;
        s[g] = s[g] + s[l] - 1.0;
        if s[g] < 1.0 {
            small.push(g);
        } else {
            large.push(g);
        }
    }
    (accept, alias)
}
