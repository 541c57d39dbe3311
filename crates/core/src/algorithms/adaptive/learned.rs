//! Draws of whoever has the least response time to expect, learned from how leases end.
//!
//! What it does and why is told by `src/algorithms/adaptive/options.ts`; the exact meaning is in `index.ts` beside it.

use super::constants::{
    ALL, BAND, CHEAPEST, DRAWN, EMPTIED, ERROR_GAIN, FORGIVING, MEMORY, OWN_SHARE, OWN_TIME, PRIOR,
    SMOOTHING, WITHIN,
};
use super::reported::Reported;
use crate::band::NOT_ELIGIBLE;
use crate::generator::Generator;
use crate::kept::Kept;
use crate::member::Member;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What is known of a member fades with this time constant, ms.
    pub fading: f64,
    /// A member that gives errors alone counts as so many times as slow, less one.
    pub error_cost: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    // Sums over responses: requests in flight as it left, itself included; response times, ms.
    loads: f64,
    times: f64,
    // Share of errors, 0-1.
    errors: f64,
    // Picks without lease that are ahead of the others'.
    ahead: f64,
    // Response time to expect for each request there, ms.
    cost: f64,
    up: bool,
}

/// What is known of a pool's members, and how they are drawn.
#[derive(Debug)]
pub struct Adaptive {
    rules: Rules,
    known: Vec<Known>,
    mean: f64,
    refreshed: Option<f64>,
    own: f64,
    all: f64,
    scatter: f64,
    cheapest: Vec<u32>,
    emptied: Vec<u32>,
    oldest: usize,
    // Length of the band.
    length: usize,
}

impl Adaptive {
    /// Without members.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            known: Vec::new(),
            mean: 1.0,
            refreshed: None,
            own: 0.0,
            all: 0.0,
            scatter: BAND * OWN_SHARE,
            cheapest: Vec::with_capacity(CHEAPEST + 1),
            emptied: Vec::with_capacity(EMPTIED),
            oldest: 0,
            length: 0,
        }
    }

    /// Replaces the members; those that stay keep what is known of them.
    pub fn set_members(&mut self, members: &[Member], kept: &Kept) {
        let mut newcomer = Known::default();
        self.rules.learn(&mut newcomer, self.mean);
        kept.carry(&mut self.known, || newcomer);
        for (known, member) in self.known.iter_mut().zip(members) {
            known.up = member.up;
        }
        self.length = members.iter().filter(|member| member.up).count();
        self.cheapest.clear();
        self.emptied.clear();
        self.oldest = 0;
    }

    /// Fades what is known, and takes what reports say, of each member.
    ///
    /// `now`: table time, ms
    pub fn refresh(
        &mut self,
        now: f64,
        reported: &[Reported],
        band: &[u32],
        in_flight: impl Fn(u32) -> u32,
    ) {
        let elapsed = (now - self.refreshed.unwrap_or(now)).max(0.0);
        self.refreshed = Some(now);
        self.fade(elapsed, reported);
        self.share(elapsed, reported, in_flight);
        self.order(band);
    }

    fn fade(&mut self, elapsed: f64, reported: &[Reported]) {
        let keep = self.rules.fading / (self.rules.fading + elapsed);
        let keep_errors = FORGIVING / (FORGIVING + elapsed);
        let (mut loads, mut times) = (0.0, 0.0);
        let mut least = f64::INFINITY;
        for known in &mut self.known {
            known.loads *= keep;
            known.times *= keep;
            known.errors *= keep_errors;
            loads += known.loads;
            times += known.times;
            if known.up {
                least = least.min(known.ahead * known.cost);
            }
        }
        // One of them fades to nothing before the other: then nothing is known any more, and a cost of 0 would divide by it.
        let any = loads > 0.0 && times > 0.0;
        let mean_spare = mean(reported.iter().filter_map(|it| it.spare));
        if any {
            self.mean = times / loads;
        }
        for (known, reported) in self.known.iter_mut().zip(reported) {
            let ahead = (known.ahead * known.cost - least).max(0.0);
            if any {
                known.times = known.times.min(WITHIN * self.mean * known.loads);
                self.rules.learn(known, self.mean);
            } else {
                known.cost = 1.0 / reported.spare.unwrap_or(mean_spare);
            }
            known.ahead = ahead / known.cost;
        }
    }

    // What this process has in flight, of what the nodes have.
    fn share(&mut self, elapsed: f64, reported: &[Reported], in_flight: impl Fn(u32) -> u32) {
        let (mut own, mut all) = (0.0, 0.0);
        for (index, reported) in (0_u32..).zip(reported) {
            if let Some(there) = reported.in_flight {
                own += f64::from(in_flight(index));
                all += there;
            }
        }
        let gain = elapsed / (SMOOTHING + elapsed);
        self.own += gain * (own - self.own);
        self.all += gain * (all - self.all);
        let own_share = if self.all > 0.0 {
            (self.own / self.all).min(1.0)
        } else {
            OWN_SHARE
        };
        self.scatter = BAND * own_share;
    }

    // The members of the least cost, the first of equals first.
    fn order(&mut self, band: &[u32]) {
        self.cheapest.clear();
        if self.length <= ALL {
            return;
        }
        for &index in band {
            let cost = self.cost(index);
            let place = self
                .cheapest
                .iter()
                .rposition(|&other| cost >= self.cost(other))
                .map_or(0, |place| place + 1);
            if place < CHEAPEST {
                self.cheapest.insert(place, index);
                self.cheapest.truncate(CHEAPEST);
            }
        }
    }

    /// What is known of a member: loads, times, errors, ahead and cost; zeros of none.
    #[must_use]
    pub fn known(&self, index: usize) -> [f64; 5] {
        self.known.get(index).map_or([0.0; 5], |it| {
            [it.loads, it.times, it.errors, it.ahead, it.cost]
        })
    }

    /// How many members there are.
    #[must_use]
    pub fn members(&self) -> usize {
        self.known.len()
    }

    /// Puts that in place of what was known.
    pub fn set_known(&mut self, index: usize, known: [f64; 5]) {
        if let Some(it) = self.known.get_mut(index) {
            [it.loads, it.times, it.errors, it.ahead, it.cost] = known;
        }
    }

    /// Cost of all members, ms.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Difference of two scores that counts as none, as a share.
    #[must_use]
    pub fn scatter(&self) -> f64 {
        self.scatter
    }

    fn cost(&self, index: u32) -> f64 {
        self.known
            .get(index as usize)
            .map_or(f64::INFINITY, |known| known.cost)
    }

    /// Response time to expect for each request at each member, ms; [`NOT_ELIGIBLE`] where it is not up.
    pub fn costs(&self) -> impl Iterator<Item = f64> {
        self.known
            .iter()
            .map(|known| if known.up { known.cost } else { NOT_ELIGIBLE })
    }

    /// One draw from a band: one of the members that are up, or of some of them; none where it is empty.
    ///
    /// `left`: whether a member is in the band
    /// `in_flight`: requests in flight at a member
    #[inline]
    pub fn draw(
        &self,
        band: &[u32],
        generator: &mut Generator,
        left: impl Fn(u32) -> bool,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let mut scored = Scored::new();
        let mut add = |index: u32| {
            if let Some(known) = self.known.get(index as usize) {
                let ahead = f64::from(in_flight(index)) + known.ahead;
                scored.push(index, (ahead + 1.0) * known.cost);
            }
        };
        if band.len() <= ALL {
            for &index in band {
                add(index);
            }
        } else {
            for &index in self.cheapest.iter().chain(&self.emptied) {
                if left(index) {
                    add(index);
                }
            }
            for _ in 0..DRAWN {
                let place = generator.below(band.len() as u32) as usize;
                if let Some(&index) = band.get(place) {
                    add(index);
                }
            }
        }
        scored.draw(self.scatter, generator)
    }

    /// A pick of this member is no lease.
    pub fn sent(&mut self, index: u32) {
        if let Some(known) = self.known.get_mut(index as usize) {
            known.ahead += 1.0;
        }
    }

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now
    /// `latency`: how long it took, ms
    pub fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64) {
        let Some(known) = self.known.get_mut(index as usize) else {
            return;
        };
        if left == 0.0 && self.length > ALL && known.up {
            match self.emptied.get_mut(self.oldest) {
                Some(place) => *place = index,
                None => self.emptied.push(index),
            }
            self.oldest = (self.oldest + 1) % EMPTIED;
        }
        let error = if ok { 0.0 } else { 1.0 };
        known.errors += ERROR_GAIN * (error - known.errors);
        if ok {
            let keep = 1.0 - 1.0 / MEMORY;
            let load = left + 1.0;
            known.loads = known.loads * keep + load;
            known.times = known.times * keep + (latency.max(0.0) + OWN_TIME * load);
        }
        self.rules.learn(known, self.mean);
    }
}

// 1 where there is none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 {
        1.0
    } else {
        sum / f64::from(count)
    }
}

impl Rules {
    fn learn(&self, known: &mut Known, mean: f64) {
        let cost = (known.times + PRIOR * mean) / (known.loads + PRIOR);
        known.cost = cost * (1.0 + self.error_cost * known.errors);
    }
}

// Candidates and their scores: all of a short band, or some of a long one.
struct Scored {
    indices: [u32; ALL],
    scores: [f64; ALL],
    count: usize,
}

impl Scored {
    #[inline]
    fn new() -> Self {
        Self {
            indices: [0; ALL],
            scores: [0.0; ALL],
            count: 0,
        }
    }

    #[inline]
    fn push(&mut self, index: u32, score: f64) {
        if let (Some(place), Some(kept)) = (
            self.indices.get_mut(self.count),
            self.scores.get_mut(self.count),
        ) {
            (*place, *kept) = (index, score);
            self.count += 1;
        }
    }

    // The least, or at random among those that are so little above it that they count as equals.
    #[inline]
    fn draw(mut self, scatter: f64, generator: &mut Generator) -> Option<u32> {
        let scores = self.scores.get(..self.count)?;
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let most = least * (1.0 + scatter);
        // Equals move to the front; written each time, since a branch would be guessed wrong too often.
        let mut alike = 0;
        for (place, &score) in scores.iter().enumerate() {
            let index = *self.indices.get(place)?;
            *self.indices.get_mut(alike)? = index;
            alike += usize::from(score <= most);
        }
        let chosen = match alike {
            0 => return None,
            1 => 0,
            _ => generator.below(alike as u32) as usize,
        };
        self.indices.get(chosen).copied()
    }
}
