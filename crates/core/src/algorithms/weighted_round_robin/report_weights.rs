//! Weights of members by what they report: gRFC A58.
//!
//! The exact rule is in `src/algorithms/weighted-round-robin/index.ts`.

use crate::band::Seen;
use crate::kept::Kept;
use crate::layout::{APPLICATION, CPU, EPS, NAMED, QPS};
use crate::member::Member;
use crate::memory::Words;
use crate::table::Table;

/// How reports become weights. Times are whole ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighing {
    /// A weight counts from so long after the first of its member's reports on.
    pub blackout: f64,
    /// A weight of a report this old counts no more.
    pub expiration: f64,
    /// Time between two updates, above 0.
    pub update: f64,
    /// What an error rate of 1 adds to the utilization.
    pub error_penalty: f64,
    /// Places of the metrics that stand for the utilization where `application` is not reported: one bit each.
    pub utilizations: u16,
}

impl Weighing {
    // What the slot's last report with a qps says. All parts are of one sample: what is of another time was not in
    // the report, or has not been written yet.
    fn weigh<W: Words>(&self, table: &Table<W>, member: &Member, reported: u64) -> Option<Weighed> {
        let metric = |place| table.metric(member.slot, member.generation, place, reported);
        let qps = metric(QPS).filter(|qps| qps.value > 0.0)?;
        let of = |place: usize| match metric(place) {
            Some(sample) if sample.time != qps.time => 0.0,
            // Those of the user's own are as they are reported; the others are in percent.
            Some(sample) if place < NAMED => sample.value / 100.0,
            Some(sample) => sample.value,
            None => 0.0,
        };
        let mut utilization = of(APPLICATION);
        if utilization <= 0.0 {
            utilization = 0.0;
            let mut places = self.utilizations;
            while places != 0 {
                utilization = utilization.max(of(places.trailing_zeros() as usize));
                places &= places - 1;
            }
            if utilization == 0.0 {
                utilization = of(CPU);
            }
        }
        let eps = metric(EPS)
            .filter(|eps| eps.time == qps.time)
            .map_or(0.0, |eps| eps.value);
        if utilization <= 0.0 || eps < 0.0 {
            return None;
        }
        let weight = weight_of(qps.value, utilization, eps, self.error_penalty);
        (weight > 0.0 && weight.is_finite()).then_some(Weighed {
            time: qps.time as f64,
            weight,
        })
    }
}

/// What a node would serve if it were full, requests per second.
///
/// `utilization`: 0-1, or above; `penalty`: what an error rate of 1 adds to it
#[must_use]
pub fn weight_of(qps: f64, utilization: f64, eps: f64, penalty: f64) -> f64 {
    qps / (utilization + (eps / qps) * penalty)
}

#[derive(Clone, Copy, Debug)]
struct Weighed {
    // Table time of the sample, ms.
    time: f64,
    weight: f64,
}

// What is known of one member by its reports. Times are table time, ms.
#[derive(Clone, Copy, Debug)]
struct Known {
    weight: f64,
    // Since when it has reported without a break; none while it does not.
    since: Option<f64>,
    // The sample of the weight; infinitely long ago where there was none.
    updated: f64,
    // When the member was surely none yet: no report of before counts for `since`.
    from: f64,
    // The report that was passed over last.
    ignored: f64,
}

impl Known {
    fn newcomer(from: f64) -> Self {
        Self {
            weight: 0.0,
            since: None,
            updated: f64::NEG_INFINITY,
            from,
            ignored: f64::NEG_INFINITY,
        }
    }

    // Whether this says something else than what is known.
    fn is_news(&self, weighed: &Weighed) -> bool {
        weighed.time > self.updated
            || weighed.time == self.updated && self.since.is_some() && weighed.weight != self.weight
    }

    fn take(&mut self, weighed: Weighed) {
        self.since
            .get_or_insert_with(|| weighed.time.max(self.from));
        self.updated = weighed.time;
        self.weight = weighed.weight;
    }

    // The weight at an update; 0 where it is not known.
    fn evaluate(&mut self, at: f64, weighing: &Weighing) -> f64 {
        if at - self.updated >= weighing.expiration {
            self.since = None;
        }
        match self.since {
            Some(since) if at - since >= weighing.blackout => self.weight,
            _ => 0.0,
        }
    }

    // When the weight becomes another though nothing is reported; infinite where it does not.
    fn change(&self, at: f64, weighing: &Weighing) -> f64 {
        let Some(since) = self.since else {
            return f64::INFINITY;
        };
        let expiry = self.updated + weighing.expiration;
        let end = since + weighing.blackout;
        if at < end { end.min(expiry) } else { expiry }
    }
}

/// The weights of a pool's members.
#[derive(Debug)]
pub struct ReportWeights {
    weighing: Weighing,
    // As many as the members.
    known: Vec<Known>,
    changed: bool,
    // When it was last looked, when the last update was and when the next one is due: table time, ms.
    looked: f64,
    at: f64,
    due: f64,
    // Whether something was heard of since the last update.
    pending: bool,
    ignored: u64,
}

impl ReportWeights {
    /// Without members.
    #[must_use]
    pub fn new(weighing: Weighing) -> Self {
        Self {
            weighing,
            known: Vec::new(),
            changed: true,
            looked: f64::NEG_INFINITY,
            at: f64::NEG_INFINITY,
            due: f64::NEG_INFINITY,
            pending: false,
            ignored: 0,
        }
    }

    /// Replaces the members; what is known of those that stay is kept.
    pub fn set_members(&mut self, kept: &Kept) {
        let newcomer = Known::newcomer(self.looked);
        kept.carry(&mut self.known, || newcomer);
        self.changed = true;
    }

    /// Reads the reports of members that are up, and updates the weights where that is due: a weight above 0, or 0 where
    /// none is known. Returns the table time from which they are out of date, ms.
    pub fn refresh<W: Words>(
        &mut self,
        members: &[Member],
        table: &Table<W>,
        now: f64,
        weights: &mut Vec<f64>,
    ) -> f64 {
        let weighing = self.weighing;
        let due = self.changed || now >= self.due;
        if due {
            // Updates are whole periods apart: one that nobody has waited for is made up for, as of its time.
            self.at = match self.changed {
                true => now,
                false => self.due + ((now - self.due) / weighing.update).floor() * weighing.update,
            };
            self.due = self.at + weighing.update;
            self.pending = false;
            self.changed = false;
        }
        weights.resize(members.len(), 0.0);
        let mut change = f64::INFINITY;
        for ((member, known), weight) in members.iter().zip(&mut self.known).zip(weights) {
            if !member.up {
                *weight = 0.0;
                continue;
            }
            let mut news = None;
            if let Some(reported) = table.reported(member.slot, member.generation) {
                news = weighing.weigh(table, member, reported);
                let reported = reported as f64;
                if news.is_none() && reported > known.updated && reported > known.ignored {
                    known.ignored = reported;
                    self.ignored += 1;
                }
            }
            news = news.filter(|news| known.is_news(news));
            if due {
                if let Some(in_time) = news.take_if(|news| news.time <= self.at) {
                    known.take(in_time);
                }
                *weight = known.evaluate(self.at, &weighing);
            }
            if let Some(news) = news {
                known.take(news);
                self.pending = true;
            }
            change = change.min(known.change(self.at, &weighing));
        }
        self.looked = now;
        let after = ((change - self.due).max(0.0) / weighing.update).ceil();
        if self.pending {
            self.due
        } else {
            self.due + after * weighing.update
        }
    }

    /// Reports that were passed over so far, because they give no weight.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

/// Takes the members' fixed weights, which are never out of date.
pub fn take_fixed(members: &[Member], weights: &mut Vec<f64>) -> f64 {
    weights.clear();
    weights.extend(members.iter().map(|member| member.weight));
    f64::INFINITY
}

/// What is to be seen of members by their weights: who is up, and whether its weight is known.
pub fn see(members: &[Member], weights: &[f64], seen: &mut Vec<Seen>) {
    seen.clear();
    let see = |(member, &weight): (&Member, &f64)| match member.up {
        false => Seen::OUT,
        true if weight > 0.0 => Seen::fresh(0),
        true => Seen::MISSING,
    };
    seen.extend(members.iter().zip(weights).map(see));
}
