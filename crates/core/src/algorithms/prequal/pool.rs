//! A pool of what members said when they were asked just now: requests in flight and latency. The rules are those of
//! Prequal (Wydrowski et al., "Load is not what you should balance", NSDI 2024); the exact meaning of each is in
//! `src/algorithms/prequal/index.ts`.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::super::Probe;
use super::constants::{FEWEST, SURPLUS};
use super::recent::Recent;
use crate::generator::Generator;
use crate::kept::Kept;
use crate::layout::{IN_FLIGHT_METRIC, LATENCY_METRIC};
use crate::member::Member;
use crate::memory::Words;
use crate::table::Table;

// Of one 32-bit number.
const WHOLE: f64 = 4_294_967_296.0;

/// How a pool is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Members with more in flight than this quantile of recent probes are hot, 0-1.
    pub quantile: f64,
    /// Most entries.
    pub pool: u32,
    /// Oldest age of an entry that may be used, ms, inclusive.
    pub max_age: f64,
    /// Probes a pick.
    pub probes: f64,
    /// Entries removed a pick.
    pub removals: f64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    // Own picks since then are in it.
    probe: Probe,
    // Picks that may still be made of it.
    uses: f64,
}

/// The pool of one balancer.
#[derive(Debug)]
pub struct ProbePool {
    rules: Rules,
    recent: Recent,
    // One a member, oldest first.
    entries: Vec<Entry>,
    // Of each member: whether it is up, and the time of its last sample that was looked at.
    up: Vec<bool>,
    seen: Vec<f64>,
    budget: f64,
    removes: bool,
    threshold: f64,
    to_remove: f64,
    removes_worst: bool,
    at_random: u64,
    found: Vec<Probe>,
}

impl ProbePool {
    /// An empty one, without members.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            recent: Recent::default(),
            entries: Vec::new(),
            up: Vec::new(),
            seen: Vec::new(),
            budget: f64::INFINITY,
            removes: false,
            threshold: f64::INFINITY,
            to_remove: 0.0,
            removes_worst: false,
            at_random: 0,
            found: Vec::new(),
        }
    }

    /// Replaces the members; entries of those that left, or are not up, go.
    pub fn set_members(&mut self, members: &[Member], kept: &Kept) {
        let now: HashMap<u32, u32> = (0_u32..)
            .zip(members)
            .zip(kept.places())
            .filter(|((_, member), _)| member.up)
            .filter_map(|((index, _), before)| Some((before? as u32, index)))
            .collect();
        kept.carry(&mut self.seen, || f64::NEG_INFINITY);
        self.up.clear();
        self.up.extend(members.iter().map(|member| member.up));
        self.entries
            .retain_mut(|entry| match now.get(&entry.probe.member) {
                Some(&member) => {
                    entry.probe.member = member;
                    true
                }
                None => false,
            });
        let up = self.up.iter().filter(|&&up| up).count() as f64;
        let Rules {
            pool,
            probes,
            removals,
            ..
        } = self.rules;
        let pool = f64::from(pool);
        let net = (1.0 - pool / up) * probes - removals;
        self.budget = if net > 0.0 {
            ((1.0 + SURPLUS) / net).max(1.0)
        } else {
            f64::INFINITY
        };
        self.removes = up > pool;
    }

    /// Takes what the table has heard of the members since the last look, and drops what is too old at `now` (table
    /// time, ms).
    pub fn refresh<W: Words>(
        &mut self,
        table: &Table<W>,
        members: &[Member],
        now: f64,
        generator: &mut Generator,
    ) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let mut count = 0_u32;
        for (index, member) in (0_u32..).zip(members) {
            let Some(probe) = self.read(table, index, member, now) else {
                continue;
            };
            // Of many that come at once, such as those of a poll, each has the same chance.
            if count < self.rules.pool {
                found.push(probe);
            } else {
                let place = generator.below(count + 1) as usize;
                if let Some(place) = found.get_mut(place) {
                    *place = probe;
                }
            }
            count += 1;
        }
        for &probe in &found {
            self.add(probe, generator);
        }
        self.found = found;
        let max_age = self.rules.max_age;
        self.entries
            .retain(|entry| now - entry.probe.time <= max_age);
    }

    fn read<W: Words>(
        &mut self,
        table: &Table<W>,
        index: u32,
        member: &Member,
        now: f64,
    ) -> Option<Probe> {
        let seen = self.seen.get_mut(index as usize)?;
        if !member.up {
            return None;
        }
        let (slot, generation) = (member.slot, member.generation);
        let reported = table.reported(slot, generation)?;
        if reported as f64 <= *seen {
            return None;
        }
        let max_age = self.rules.max_age;
        let in_flight = table.metric(slot, generation, IN_FLIGHT_METRIC, reported)?;
        let time = in_flight.time as f64;
        if time <= *seen || now - time > max_age {
            return None;
        }
        *seen = time;
        let latency = table
            .metric(slot, generation, LATENCY_METRIC, reported)
            .filter(|latency| now - latency.time as f64 <= max_age)
            .map_or(f64::NAN, |latency| latency.value);
        Some(Probe {
            member: index,
            in_flight: in_flight.value,
            latency,
            time,
        })
    }

    /// Table time, ms, from which the oldest entry is too old; infinite where there is none.
    #[must_use]
    pub fn next_expiry(&self) -> f64 {
        self.entries.first().map_or(f64::INFINITY, |oldest| {
            oldest.probe.time + self.rules.max_age + 1.0
        })
    }

    /// Takes what a member said; nothing happens where it is not up.
    pub fn probed(&mut self, probe: Probe, generator: &mut Generator) {
        let index = probe.member as usize;
        if !self.up.get(index).copied().unwrap_or(false) {
            return;
        }
        if let Some(seen) = self.seen.get_mut(index)
            && probe.time > *seen
        {
            *seen = probe.time;
        }
        self.add(probe, generator);
    }

    fn add(&mut self, probe: Probe, generator: &mut Generator) {
        let known = self
            .entries
            .iter()
            .position(|entry| entry.probe.member == probe.member);
        if let Some(known) = known {
            if self
                .entries
                .get(known)
                .is_some_and(|entry| entry.probe.time > probe.time)
            {
                return;
            }
            self.entries.remove(known);
        }
        self.recent.add(probe.in_flight);
        self.threshold = self.recent.quantile(self.rules.quantile);
        let place = self
            .entries
            .partition_point(|entry| entry.probe.time <= probe.time);
        let uses = self.draw_uses(generator);
        self.entries.insert(place, Entry { probe, uses });
        if self.entries.len() > self.rules.pool as usize {
            self.entries.remove(0);
        }
    }

    // A whole number, whose mean is the budget.
    fn draw_uses(&self, generator: &mut Generator) -> f64 {
        let whole = self.budget.floor();
        let rest = self.budget - whole;
        if rest > 0.0 && f64::from(generator.next_u32()) / WHOLE < rest {
            return whole + 1.0;
        }
        whole
    }

    /// The member to pick, of those that are `allowed`; none where there is too little to go by.
    pub fn pick(&mut self, allowed: impl Fn(u32) -> bool) -> Option<u32> {
        let mean = self.mean_latency();
        let mut best: Option<(usize, &Entry)> = None;
        let mut count = 0;
        for (place, entry) in self.entries.iter().enumerate() {
            if !allowed(entry.probe.member) {
                continue;
            }
            count += 1;
            // Of equal ones the newest.
            if best.is_none_or(|(_, best)| self.compare(entry, best, mean).is_le()) {
                best = Some((place, entry));
            }
        }
        let best = best.map(|(place, _)| place);
        if count < FEWEST {
            self.at_random += 1;
            return None;
        }
        let place = best?;
        let entry = self.entries.get_mut(place)?;
        entry.probe.in_flight += 1.0;
        entry.uses -= 1.0;
        let (member, used_up) = (entry.probe.member, entry.uses <= 0.0);
        if used_up {
            self.entries.remove(place);
        }
        self.remove_some();
        Some(member)
    }

    /// Picks that could not be made for want of entries.
    #[must_use]
    pub fn at_random(&self) -> u64 {
        self.at_random
    }

    fn remove_some(&mut self) {
        if !self.removes {
            return;
        }
        self.to_remove += self.rules.removals;
        while self.to_remove >= 1.0 {
            self.to_remove -= 1.0;
            let place = if self.removes_worst { self.worst() } else { 0 };
            if place < self.entries.len() {
                self.entries.remove(place);
            }
            self.removes_worst = !self.removes_worst;
        }
    }

    fn worst(&self) -> usize {
        let mean = self.mean_latency();
        let mut worst: Option<(usize, &Entry)> = None;
        for (place, entry) in self.entries.iter().enumerate() {
            if worst.is_none_or(|(_, worst)| self.compare(entry, worst, mean).is_gt()) {
                worst = Some((place, entry));
            }
        }
        worst.map_or(0, |(place, _)| place)
    }

    // Less where `a` is to be picked rather than `b`: cold before hot, the cold by latency, the hot by requests in flight.
    fn compare(&self, a: &Entry, b: &Entry, mean: f64) -> Ordering {
        let is_hot = |entry: &Entry| entry.probe.in_flight > self.threshold;
        let hot = is_hot(a);
        let latency = |entry: &Entry| {
            if entry.probe.latency.is_nan() {
                mean
            } else {
                entry.probe.latency
            }
        };
        let by_flights = || order(a.probe.in_flight, b.probe.in_flight);
        let by_latency = || order(latency(a), latency(b));
        hot.cmp(&is_hot(b)).then_with(|| {
            if hot {
                by_flights().then_with(by_latency)
            } else {
                by_latency().then_with(by_flights)
            }
        })
    }

    // What an unknown latency counts as.
    fn mean_latency(&self) -> f64 {
        let (mut sum, mut known) = (0.0, 0_u32);
        if self
            .entries
            .iter()
            .all(|entry| !entry.probe.latency.is_nan())
        {
            return 0.0;
        }
        for entry in &self.entries {
            if !entry.probe.latency.is_nan() {
                sum += entry.probe.latency;
                known += 1;
            }
        }
        if known == 0 {
            0.0
        } else {
            sum / f64::from(known)
        }
    }
}

// Neither is ever not a number.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}
