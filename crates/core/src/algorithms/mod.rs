//! How pools pick: one module for each algorithm, and the trait through which other code uses them.
//!
//! The exact meaning of each, which the TypeScript engine follows too, is next to its definition in
//! `src/algorithms/NAME/index.ts`.

use std::fmt::Debug;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::generator::Generator;
use crate::member::Member;
use crate::memory::Words;
use crate::options::{BadOption, Options};
use crate::selection::Cursor;
use crate::table::Table;

pub mod adaptive;
pub mod hash_ring;
pub mod least_connections;
pub mod least_cpu;
pub mod maglev;
pub mod peak_ewma;
pub mod power_of_two;
pub mod prequal;
pub mod random;
pub mod round_robin;
pub mod spare_capacity;
pub mod weighted_round_robin;

/// What a refresh reads.
#[derive(Debug)]
pub struct Look<'a, W> {
    /// The members as they were set.
    pub members: &'a [Member],
    /// What is known of them.
    pub table: &'a Table<W>,
    /// Table time, ms.
    pub now: f64,
}

/// A member's answer to a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Its index.
    pub member: u32,
    /// Requests in flight there.
    pub in_flight: f64,
    /// Latency, ms; not a number: unknown.
    pub latency: f64,
    /// Table time of the sample, ms.
    pub time: f64,
}

/// What a refresh found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Table time, ms, from which it is out of date though nothing is published; infinite: never.
    pub next_expiry: f64,
    /// Members with a fresh reading.
    pub fresh: u32,
}

/// How one pool picks among its members.
pub trait Algorithm<W: Words>: Debug {
    /// Replaces the members; what is known of those that stay is kept. Draws are made among the old ones until the next
    /// refresh.
    fn set_members(&mut self, before: &[Member], after: &[Member]);

    /// Reads the table, and computes anew what draws are made from.
    fn refresh(&mut self, look: &Look<'_, W>, cursor: &mut Cursor) -> Found;

    /// What each member counts as, or [`NOT_ELIGIBLE`](crate::band::NOT_ELIGIBLE).
    fn values(&self) -> &[f64];

    /// The members that may be picked: indices, in order.
    fn band(&self) -> &[u32];

    /// The probability of each entry of the band at the next draw; for round robin, its share of many draws.
    fn shares(&self) -> Vec<f64> {
        let count = self.band().len();
        vec![1.0 / count as f64; count]
    }

    /// Whether it draws by turns. The first turn is random.
    fn takes_turns(&self) -> bool {
        false
    }

    /// Whether draws depend on what changes without a refresh, so that they can't be made ahead.
    fn live(&self) -> bool {
        true
    }

    /// One draw: a member, or an [`unknown_draw`](crate::codes::unknown_draw). None where the band is empty.
    fn draw(&mut self, table: &Table<W>, cursor: &mut Cursor) -> Option<u32>;

    /// As many draws as there are places, from a band that is not empty.
    fn fill(&mut self, table: &Table<W>, cursor: &mut Cursor, into: &[AtomicU32]) {
        for place in into {
            let drawn = self.draw(table, cursor).unwrap_or(0);
            self.sent(drawn);
            place.store(drawn, Relaxed);
        }
    }

    /// One draw as though some members were not up; none where no one is left.
    ///
    /// `excluded`: their indices, in order
    fn draw_without(
        &mut self,
        table: &Table<W>,
        cursor: &mut Cursor,
        excluded: &[u32],
    ) -> Option<u32>;

    /// Steps the cursor on as so many draws or pairs do, where these can be made again.
    fn replay(&mut self, _cursor: &mut Cursor, _count: usize) {}

    /// Draws pairs in place of members, where draws compare such; see [`pairs`](crate::pairs). Returns how many.
    fn fill_pairs(
        &mut self,
        _table: &Table<W>,
        _generator: &mut Generator,
        _into: &[AtomicU32],
    ) -> usize {
        0
    }

    /// A draw of this member is not a lease: its outcome will never be reported.
    fn sent(&mut self, _index: u32) {}

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now; `latency`: how long it took, ms; `alone`: whether none of this balancer was in
    /// flight there as it began
    fn ended(&mut self, _index: u32, _left: f64, _ok: bool, _latency: f64, _alone: bool) {}

    /// So many of the requests in flight at this member have been overtaken by later ones, and say nothing of it any more.
    fn set_aside(&mut self, _index: u32, _count: f64) {}

    /// Takes over what JavaScript has learned and drawn in its place, in memory that both have.
    fn take_shared(&mut self, _memory: &W, _generator: &mut Generator) {}

    /// Puts there what JavaScript needs to go on in its place.
    fn give_shared(&self, _memory: &W, _generator: &Generator) {}

    /// Takes a member's answer to a probe. Returns the table time, ms, from which an entry is too old.
    fn probed(&mut self, _probe: Probe, _generator: &mut Generator) -> f64 {
        f64::INFINITY
    }

    /// Draws made at random because too few members had answered.
    fn at_random(&self) -> u64 {
        0
    }

    /// Reports skipped so far because the algorithm can't use them.
    fn ignored(&self) -> u64 {
        0
    }
}

/// The algorithm of this kind, with the options that `native` of its TypeScript definition gives.
pub fn make<W: Words + Debug>(
    kind: &str,
    options: &Options,
) -> Result<Box<dyn Algorithm<W>>, BadOption> {
    match kind {
        "adaptive" => adaptive::make(options),
        "leastConnections" => least_connections::make(options),
        "leastCpu" => least_cpu::make(options),
        "peakEwma" => peak_ewma::make(options),
        "powerOfTwo" => power_of_two::make(options),
        "prequal" => prequal::make(options),
        "random" => random::make(options),
        "roundRobin" => round_robin::make(options),
        "spareCapacity" => spare_capacity::make(options),
        "weightedRoundRobin" => weighted_round_robin::make(options),
        _ => Err(BadOption::new(
            "kind",
            "the kind of an algorithm that engines know",
        )),
    }
}
