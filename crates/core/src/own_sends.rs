//! Own picks of members since their readings, and what they add to these.

use crate::band::NOT_ELIGIBLE;
use crate::kept::Kept;
use crate::layout::CPU_MAX;
use crate::selection::{Cursor, Selection};
use crate::spare::{SpareCapacity, even_out};

// What a pick costs before it is known, and the least that it is taken to cost: 1/1000 percentage points.
const FIRST_COST: f64 = 1_000.0;
const LEAST_COST: f64 = 0.001;
// Samples a member over which the cost is learned: then what came before counts half.
const SAMPLES: f64 = 8.0;
// Draws between two makings of alias tables, at least.
const LEAST_DRAWS: u32 = 32;

/// What one own pick adds to a member's CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// So many 1/1000 percentage points.
    Fixed(f64),
    /// The CPU of all members over the picks that were made between their readings.
    Learned,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sent {
    picks: f64,
    // Of the reading that they came after: table time, ms.
    time: Option<u64>,
}

/// Own picks of a pool's members.
#[derive(Debug)]
pub struct OwnSends {
    learns: bool,
    cost: f64,
    // Kept as long as the member stays.
    sent: Vec<Sent>,
    cpu_sum: f64,
    sent_sum: f64,
    samples: f64,
}

impl OwnSends {
    /// Without members.
    #[must_use]
    pub fn new(cost: Cost) -> Self {
        Self {
            learns: cost == Cost::Learned,
            cost: match cost {
                Cost::Fixed(cost) => cost,
                Cost::Learned => FIRST_COST,
            },
            sent: Vec::new(),
            cpu_sum: 0.0,
            sent_sum: 0.0,
            samples: 0.0,
        }
    }

    /// Replaces the members; those that stay keep their counts.
    pub fn set_members(&mut self, kept: &Kept) {
        kept.carry(&mut self.sent, Sent::default);
    }

    /// Takes a fresh reading of a member: a later one than before has its picks in it.
    ///
    /// `time`: table time, ms
    /// `cpu`: 1/1000 percentage points
    pub fn take(&mut self, index: usize, time: u64, cpu: u32) {
        let Some(sent) = self.sent.get_mut(index) else {
            return;
        };
        if sent.time.is_some_and(|last| time <= last) {
            return;
        }
        if sent.time.is_some() {
            self.cpu_sum += f64::from(cpu);
            self.sent_sum += sent.picks;
            self.samples += 1.0;
        }
        *sent = Sent {
            picks: 0.0,
            time: Some(time),
        };
    }

    /// Learns what a pick costs, once all readings were taken.
    pub fn learn(&mut self) {
        if self.learns && self.sent_sum > 0.0 {
            self.cost = (self.cpu_sum / self.sent_sum)
                .max(LEAST_COST)
                .min(f64::from(CPU_MAX));
        }
        if self.samples >= SAMPLES * self.sent.len() as f64 {
            self.cpu_sum /= 2.0;
            self.sent_sum /= 2.0;
            self.samples /= 2.0;
        }
    }

    fn count(&mut self, index: u32) {
        if let Some(sent) = self.sent.get_mut(index as usize) {
            sent.picks += 1.0;
        }
    }

    // What the picks since its reading add to a member's CPU, 1/1000 percentage points.
    fn load(&self, index: u32) -> f64 {
        self.sent
            .get(index as usize)
            .map_or(0.0, |sent| sent.picks * self.cost)
    }
}

/// What is drawn from, and how it changes by each draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// With equal chances from a band of estimates, of this width in 1/1000 percentage points.
    Band(f64),
    /// By what members have to spare, less what was sent to them.
    Spare(SpareCapacity),
}

/// Draws that each change what the next is made from.
#[derive(Debug)]
pub struct Sending {
    rule: Rule,
    // What members count as by their readings; `NOT_ELIGIBLE` where they may not be picked. Weights where these are drawn by.
    values: Vec<f64>,
    // Bounds of the band: below the first, or no more than the second.
    limit: f64,
    most: f64,
    // Draws until tables are made anew.
    left: u32,
}

impl Sending {
    /// Nothing to draw from yet.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            values: Vec::new(),
            limit: 0.0,
            most: 0.0,
            left: 0,
        }
    }

    /// What is drawn from.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Takes a selection that was made of the readings (for [`Rule::Spare`] with weights in place of shares), and makes
    /// it one that counts own sends.
    pub fn start(&mut self, selection: &mut Selection, sends: &OwnSends) {
        self.values.clear();
        match self.rule {
            Rule::Band(_) => self.values.extend_from_slice(&selection.values),
            Rule::Spare(_) => {
                self.values.resize(selection.values.len(), NOT_ELIGIBLE);
                for (&index, &weight) in selection.band.iter().zip(&selection.shares) {
                    if let Some(value) = self.values.get_mut(index as usize) {
                        *value = weight;
                    }
                }
            }
        }
        self.rebuild(selection, sends);
    }

    /// Makes the selection anew, from what has been sent by now.
    pub fn rebuild(&mut self, selection: &mut Selection, sends: &OwnSends) {
        match self.rule {
            Rule::Band(threshold) => self.rebuild_band(threshold, selection, sends),
            Rule::Spare(spare) => self.rebuild_shares(spare, selection, sends),
        }
    }

    fn rebuild_band(&mut self, threshold: f64, selection: &mut Selection, sends: &OwnSends) {
        let estimates = (0_u32..)
            .zip(&self.values)
            .map(|(index, value)| value + sends.load(index));
        let least = estimates.clone().fold(NOT_ELIGIBLE, f64::min);
        (self.limit, self.most) = (least + sends.cost, least + threshold);
        let within = |&(_, estimate): &(u32, f64)| self.is_within(estimate);
        selection.band.clear();
        selection.band.extend(
            (0_u32..)
                .zip(estimates)
                .filter(within)
                .map(|(index, _)| index),
        );
    }

    fn rebuild_shares(
        &mut self,
        spare: SpareCapacity,
        selection: &mut Selection,
        sends: &OwnSends,
    ) {
        let Selection { band, shares, .. } = selection;
        band.clear();
        shares.clear();
        for (index, &weight) in (0_u32..).zip(&self.values) {
            if weight == NOT_ELIGIBLE {
                continue;
            }
            band.push(index);
            shares.push((weight - sends.load(index)).max(0.0));
        }
        even_out(shares);
        spare.share_out(shares);
        self.left = (band.len() as u32).max(LEAST_DRAWS);
        selection.prepare();
    }

    // No estimate of who is not eligible is below either.
    fn is_within(&self, estimate: f64) -> bool {
        estimate < self.limit || estimate <= self.most && estimate < NOT_ELIGIBLE
    }

    /// One draw, which is counted; none where nobody may be picked.
    pub fn draw(
        &mut self,
        selection: &mut Selection,
        sends: &mut OwnSends,
        cursor: &mut Cursor,
    ) -> Option<u32> {
        match self.rule {
            Rule::Band(_) => {
                let length = selection.length();
                if length == 0 {
                    return None;
                }
                let position = cursor.generator.below(length) as usize;
                let index = *selection.band.get(position)?;
                sends.count(index);
                let value = self.values.get(index as usize).copied().unwrap_or(0.0);
                if !self.is_within(value + sends.load(index)) {
                    selection.band.swap_remove(position);
                    if selection.band.is_empty() {
                        self.rebuild(selection, sends);
                    }
                }
                Some(index)
            }
            Rule::Spare(_) => {
                if self.left == 0 {
                    self.rebuild(selection, sends);
                }
                self.left = self.left.saturating_sub(1);
                let index = selection.draw(cursor, |_| 0)?;
                sends.count(index);
                Some(index)
            }
        }
    }
}
