//! Draws of whoever has the least response time to expect, learned from how leases end.
//!
//! What it does and why is told by `src/algorithms/adaptive/options.ts`; the exact meaning is in `index.ts` beside it.

use super::calm::Pairs;
use super::constants::{
    ALL, BAND, CALM_ERRORS, CHEAPEST, CLIP, DRAWN, EMPTIED, ERROR_GAIN, FAILING_MEMORY, FAR_FEW,
    FAR_LEAST, FAR_SHARE, FIRST_CLIP, FIRST_REFRESH, FORGIVING, LATENCY_MEMORY, LEAST_FALL,
    LEAST_RISE, LEAST_THIN, MEMORY, OWN_SHARE, OWN_TIME, PRIOR, REFRESH, RETRY, SMOOTHING, WITHIN,
};
use super::reported::{Reported, Spare};
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

/// What is known of a member; `constants.ts` says what each is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    loads: f64,
    times: f64,
    errors: f64,
    ahead: f64,
    cost: f64,
    thin: f64,
    aside: f64,
    picked: f64,
    far: f64,
    least: f64,
    latency: f64,
    difference: f64,
    busy: f64,
    up: bool,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            loads: 0.0,
            times: 0.0,
            errors: 0.0,
            ahead: 0.0,
            cost: 0.0,
            thin: 1.0,
            aside: 0.0,
            picked: 0.0,
            far: 0.0,
            least: -1.0,
            latency: -1.0,
            difference: -2.0,
            busy: 1.0,
            up: false,
        }
    }
}

impl Known {
    fn waiting(&self, left: f64) -> f64 {
        (left - self.aside).max(0.0)
    }
}

/// What is known of all members together; `constants.ts` says what each is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Common {
    mean: f64,
    scatter: f64,
    calm: f64,
    failing: f64,
    is_known: bool,
    picks: f64,
    // Below 0: none.
    retried: f64,
    pairs: Pairs,
}

/// How many numbers there are of all members together.
pub const COMMON: usize = 10;
/// How many numbers there are of each member.
pub const EACH: usize = 13;

/// What is known of a pool's members, and how they are drawn.
#[derive(Debug)]
pub struct Adaptive {
    rules: Rules,
    known: Vec<Known>,
    common: Common,
    refreshed: Option<f64>,
    own: f64,
    all: f64,
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
            common: Common {
                mean: 1.0,
                scatter: BAND * OWN_SHARE,
                calm: 0.0,
                failing: 0.0,
                is_known: false,
                picks: 0.0,
                retried: -1.0,
                pairs: Pairs::default(),
            },
            refreshed: None,
            own: 0.0,
            all: 0.0,
            cheapest: Vec::with_capacity(CHEAPEST + 1),
            emptied: Vec::with_capacity(EMPTIED),
            oldest: 0,
            length: 0,
        }
    }

    /// Replaces the members; those that stay keep what is known of them.
    pub fn set_members(&mut self, members: &[Member], kept: &Kept) {
        let mut newcomer = Known {
            picked: self.common.picks,
            ..Known::default()
        };
        self.rules.learn(&mut newcomer, &self.common);
        self.common.retried = -1.0;
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
        let all = Spare::of(reported);
        self.fade(elapsed);
        self.measure(band);
        let own_share = self.share(elapsed, reported, &in_flight);
        let cpu = (all.fresh * 2 > self.length).then_some(1.0 - all.mean);
        self.common.calm = self.common.pairs.calm(cpu, own_share, self.length <= ALL);
        self.set_costs(reported, &all);
        self.order(band);
        self.find_retried(band, &in_flight);
    }

    /// Until the next refresh, at most, ms.
    #[must_use]
    pub fn longest_wait(&self) -> f64 {
        if self.common.is_known {
            REFRESH
        } else {
            FIRST_REFRESH
        }
    }

    fn fade(&mut self, elapsed: f64) {
        let keep = self.rules.fading / (self.rules.fading + elapsed);
        let keep_errors = FORGIVING / (FORGIVING + elapsed);
        self.common.pairs.fade(elapsed);
        self.common.failing *= keep_errors;
        let (mut loads, mut times) = (0.0, 0.0);
        for known in &mut self.known {
            known.loads *= keep;
            known.times *= keep;
            known.errors *= keep_errors;
            loads += known.loads;
            times += known.times;
        }
        // One of them fades to nothing before the other: then nothing is known any more, and a cost of 0 would divide by it.
        let common = &mut self.common;
        common.is_known = loads > 0.0 && times > 0.0;
        if common.is_known {
            common.mean = times / loads;
        }
    }

    // How far away each member is: by its least response time, beyond that of the nearest.
    fn measure(&mut self, band: &[u32]) {
        let mut nearest = f64::INFINITY;
        for &index in band {
            if let Some(known) = self.known.get(index as usize)
                && known.least >= 0.0
            {
                nearest = nearest.min(known.least);
            }
        }
        for &index in band {
            let Some(known) = self.known.get_mut(index as usize) else {
                continue;
            };
            let few = FAR_FEW / (known.loads + 1.0);
            let within = (FAR_LEAST + few) * self.common.mean;
            known.far = if known.least < 0.0 {
                0.0
            } else {
                FAR_SHARE * (known.least - nearest - within).max(0.0)
            };
            known.thin = if known.far > 0.0 {
                (1.0 - known.far / known.latency).max(LEAST_THIN)
            } else {
                1.0
            };
        }
    }

    fn set_costs(&mut self, reported: &[Reported], all: &Spare) {
        let mut least = f64::INFINITY;
        for known in self.known.iter().filter(|known| known.up) {
            least = least.min(known.ahead * known.cost);
        }
        for (known, reported) in self.known.iter_mut().zip(reported) {
            let ahead = (known.ahead * known.cost - least).max(0.0);
            known.busy = all.busy_cost(reported);
            if self.common.is_known {
                known.times = known.times.min(WITHIN * self.common.mean * known.loads);
                self.rules.learn(known, &self.common);
            } else {
                known.cost = 1.0 / reported.spare.unwrap_or(all.mean);
            }
            known.ahead = ahead / known.cost;
        }
    }

    // The part of what the nodes have in flight that is this process's; 0 where no report says.
    fn share(
        &mut self,
        elapsed: f64,
        reported: &[Reported],
        in_flight: impl Fn(u32) -> u32,
    ) -> f64 {
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
        let is_known = self.all > 0.0;
        let own_share = if is_known {
            (self.own / self.all).min(1.0)
        } else {
            0.0
        };
        self.common.scatter = BAND * if is_known { own_share } else { OWN_SHARE };
        own_share
    }

    // The member that was picked longest ago, where that is long ago and nothing is in flight there.
    fn find_retried(&mut self, band: &[u32], in_flight: impl Fn(u32) -> u32) {
        let mut last = self.common.picks - RETRY * self.length as f64;
        self.common.retried = -1.0;
        if !self.common.is_known {
            return;
        }
        for &index in band {
            let Some(known) = self.known.get(index as usize) else {
                continue;
            };
            if known.picked >= last || known.waiting(f64::from(in_flight(index))) > 0.0 {
                continue;
            }
            last = known.picked;
            self.common.retried = f64::from(index);
        }
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

    /// What is known of a member, in the order of the constants; zeros of none.
    #[must_use]
    pub fn known(&self, index: usize) -> [f64; EACH] {
        self.known.get(index).map_or([0.0; EACH], |it| {
            [
                it.loads,
                it.times,
                it.errors,
                it.ahead,
                it.cost,
                it.thin,
                it.aside,
                it.picked,
                it.far,
                it.least,
                it.latency,
                it.difference,
                it.busy,
            ]
        })
    }

    /// How many members there are.
    #[must_use]
    pub fn members(&self) -> usize {
        self.known.len()
    }

    /// Puts that in place of what was known.
    pub fn set_known(&mut self, index: usize, known: [f64; EACH]) {
        if let Some(it) = self.known.get_mut(index) {
            [
                it.loads,
                it.times,
                it.errors,
                it.ahead,
                it.cost,
                it.thin,
                it.aside,
                it.picked,
                it.far,
                it.least,
                it.latency,
                it.difference,
                it.busy,
            ] = known;
        }
    }

    /// What is known of all members together, in the order of the constants.
    #[must_use]
    pub fn common(&self) -> [f64; COMMON] {
        let it = &self.common;
        [
            it.mean,
            it.scatter,
            it.calm,
            it.failing,
            f64::from(u8::from(it.is_known)),
            it.picks,
            it.retried,
            it.pairs.count,
            it.pairs.products,
            it.pairs.squares,
        ]
    }

    /// Puts that in place of what was known.
    pub fn set_common(&mut self, common: [f64; COMMON]) {
        let it = &mut self.common;
        let is_known;
        [
            it.mean,
            it.scatter,
            it.calm,
            it.failing,
            is_known,
            it.picks,
            it.retried,
            it.pairs.count,
            it.pairs.products,
            it.pairs.squares,
        ] = common;
        it.is_known = is_known == 1.0;
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

    /// The member that is to be tried again, or else one draw from a band.
    #[inline]
    pub fn next(
        &mut self,
        band: &[u32],
        generator: &mut Generator,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let retried = std::mem::replace(&mut self.common.retried, -1.0);
        if retried < 0.0 {
            return self.draw(band, generator, |_| true, in_flight);
        }
        self.note(retried as u32);
        Some(retried as u32)
    }

    /// One draw from a band: one of the members that are up, or of some of them; none where it is empty.
    ///
    /// `left`: whether a member is in the band
    /// `in_flight`: requests in flight at a member
    #[inline]
    pub fn draw(
        &mut self,
        band: &[u32],
        generator: &mut Generator,
        left: impl Fn(u32) -> bool,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let mut scored = Scored::new();
        let mut add = |index: u32| {
            if let Some(known) = self.known.get(index as usize) {
                let waiting = known.waiting(f64::from(in_flight(index))) * known.thin;
                scored.push(index, (waiting + known.ahead + 1.0) * known.cost);
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
        let alike = scored.alike(self.common.scatter)?;
        let index = match *alike {
            [] => return None,
            [one] => one,
            _ if self.common.calm > 0.0 => self.longest_ago(alike)?,
            _ => *alike.get(generator.below(alike.len() as u32) as usize)?,
        };
        self.note(index);
        Some(index)
    }

    fn longest_ago(&self, alike: &[u32]) -> Option<u32> {
        let mut found = *alike.first()?;
        let mut last = f64::INFINITY;
        for &index in alike {
            let picked = self.known.get(index as usize)?.picked;
            if picked < last {
                found = index;
                last = picked;
            }
        }
        Some(found)
    }

    fn note(&mut self, index: u32) {
        self.common.picks += 1.0;
        if let Some(known) = self.known.get_mut(index as usize) {
            known.picked = self.common.picks;
        }
    }

    /// A pick of this member is no lease.
    pub fn sent(&mut self, index: u32) {
        if let Some(known) = self.known.get_mut(index as usize) {
            known.ahead += 1.0;
        }
    }

    /// So many requests in flight at this member count no more.
    pub fn set_aside(&mut self, index: u32, count: f64) {
        if let Some(known) = self.known.get_mut(index as usize) {
            known.aside = count;
        }
    }

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now
    /// `latency`: how long it took, ms
    /// `alone`: whether none of this balancer was in flight there as it began
    pub fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64, alone: bool) {
        let Some(known) = self.known.get_mut(index as usize) else {
            return;
        };
        if self.length > ALL && known.up && known.waiting(left) == 0.0 {
            match self.emptied.get_mut(self.oldest) {
                Some(place) => *place = index,
                None => self.emptied.push(index),
            }
            self.oldest = (self.oldest + 1) % EMPTIED;
        }
        let failing = self.common.failing;
        let blame = if ok { 0.0 } else { 1.0 - failing };
        known.errors += ERROR_GAIN * (blame - known.errors);
        if ok {
            self.common.responded(known, left, latency, alone);
        }
        self.rules.learn(known, &self.common);
        // Last: an error does not excuse itself.
        let error = if ok { 0.0 } else { 1.0 };
        self.common.failing = failing + (error - failing) / FAILING_MEMORY;
    }
}

impl Common {
    fn responded(&mut self, known: &mut Known, left: f64, latency: f64, alone: bool) {
        let load = known.waiting(left) * known.thin + 1.0;
        let expected = (load * (known.times + PRIOR * self.mean)) / (known.loads + PRIOR);
        let clip = if known.latency < 0.0 {
            FIRST_CLIP
        } else {
            CLIP
        };
        let most = if self.is_known {
            known.far + clip * expected
        } else {
            f64::INFINITY
        };
        let took = latency.max(0.0).min(most);
        known.measured(took);
        let time = (took - known.far).max(0.0) + OWN_TIME * load;
        if alone && self.is_known {
            let difference = time / expected - 1.0;
            let before = std::mem::replace(&mut known.difference, difference);
            if before >= -1.0 {
                self.pairs.add(difference, before);
            }
        }
        let keep = 1.0 - 1.0 / MEMORY;
        known.loads = known.loads * keep + load;
        known.times = known.times * keep + time;
    }
}

impl Known {
    // Its least and its mean response time. The first sets the mean alone, so that the least is not that of a connection.
    fn measured(&mut self, took: f64) {
        if self.latency < 0.0 {
            self.latency = took;
            return;
        }
        self.latency += (took - self.latency) / LATENCY_MEMORY;
        let memory = if took <= self.least {
            LEAST_FALL
        } else {
            LEAST_RISE
        };
        self.least = if self.least < 0.0 {
            took
        } else {
            self.least + (took - self.least) / memory
        };
    }
}

impl Rules {
    fn learn(&self, known: &mut Known, common: &Common) {
        let loads = known.loads + PRIOR;
        let mean = common.mean;
        let mut cost = (known.times + PRIOR * mean) / loads;
        if common.calm > 0.0 {
            let within = 1.0 + (CALM_ERRORS * common.calm) / loads.sqrt();
            cost = if cost > mean {
                mean.max(cost / within)
            } else {
                mean.min(cost * within)
            };
            // Where nothing waits a long way is what a request costs; but not so much that nearer nodes are overloaded.
            cost += common.calm * known.far.min(mean);
        }
        let errors = (known.errors - common.failing).max(0.0);
        known.cost = cost * (1.0 + self.error_cost * errors) * known.busy;
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

    // The least, and those that are so little above it that they count as equals.
    #[inline]
    fn alike(&mut self, scatter: f64) -> Option<&[u32]> {
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
        self.indices.get(..alike)
    }
}
