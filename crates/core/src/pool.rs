//! What a balancer picks with: its members, its algorithm and its generator.
//!
//! What draws are made from is computed once, by [`Pool::refresh`]; a draw costs the same at any number of members, but
//! for one that compares them all. The exact meaning of each call is the contract of `EngineCore` in
//! `src/engine/engine.ts`, which the TypeScript engine keeps too.

use std::sync::atomic::AtomicU32;

use crate::algorithms::{Algorithm, Look, Probe};
use crate::generator::Generator;
use crate::member::Member;
use crate::memory::Words;
use crate::selection::{Cursor, Turn};
use crate::table::Table;

/// What a refresh found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// The table's generation, read before any slot.
    pub generation: u32,
    /// Table time, ms, from which this is out of date though nothing is published; infinite: never.
    pub next_expiry: f64,
    /// Members in the band.
    pub band: u32,
    /// Members with a fresh reading.
    pub fresh: u32,
}

/// Members, algorithm and generator of one balancer.
#[derive(Debug)]
pub struct Pool<W> {
    algorithm: Box<dyn Algorithm<W>>,
    members: Vec<Member>,
    cursor: Cursor,
    // Where that stood before the last fill, and how many draws that made; 0 where these can't be made again, and then the
    // first says nothing.
    before: Cursor,
    drawn: usize,
    // Kept between calls.
    excluded: Vec<u32>,
}

impl<W: Words> Pool<W> {
    /// A pool without members.
    #[must_use]
    pub fn new(algorithm: Box<dyn Algorithm<W>>, mut generator: Generator) -> Self {
        let turn = match algorithm.takes_turns() {
            // So that the balancers of many processes do not all begin with the same member.
            true => Turn(generator.next_u32()),
            false => Turn::default(),
        };
        let cursor = Cursor { generator, turn };
        Self {
            algorithm,
            members: Vec::new(),
            cursor,
            before: cursor,
            drawn: 0,
            excluded: Vec::new(),
        }
    }

    /// Replaces the members. Picks are made among the old ones until the next refresh.
    pub fn set_members(&mut self, members: impl IntoIterator<Item = Member>) {
        let before = std::mem::take(&mut self.members);
        self.members.extend(members);
        self.algorithm.set_members(&before, &self.members);
    }

    /// How many members were set.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// Reads the table at `now` (table time, ms) and computes anew what draws are made from.
    pub fn refresh(&mut self, table: &Table<W>, now: f64) -> Facts {
        // Before any slot: whatever is published while they are read makes this view out of date.
        let generation = table.generation();
        let look = Look {
            members: &self.members,
            table,
            now,
        };
        let found = self.algorithm.refresh(&look, &mut self.cursor);
        Facts {
            generation,
            next_expiry: found.next_expiry,
            band: self.algorithm.band().len() as u32,
            fresh: found.fresh,
        }
    }

    /// A pick of this member is no lease: nobody will tell how it ended.
    pub fn sent(&mut self, index: u32) {
        self.algorithm.sent(index);
    }

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now
    /// `latency`: how long it took, ms
    /// `alone`: whether none of this balancer was in flight there as it began
    pub fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64, alone: bool) {
        self.algorithm.ended(index, left, ok, latency, alone);
    }

    /// So many of the requests in flight at this member have been overtaken by later ones.
    pub fn set_aside(&mut self, index: u32, count: f64) {
        self.algorithm.set_aside(index, count);
    }

    /// Takes over what JavaScript has learned and drawn in place of this, in memory that both have. The last fill can't be
    /// undone after this.
    pub fn take_shared(&mut self, memory: &W) {
        self.drawn = 0;
        self.algorithm
            .take_shared(memory, &mut self.cursor.generator);
    }

    /// Puts there what JavaScript needs to go on in place of this.
    pub fn give_shared(&self, memory: &W) {
        self.algorithm.give_shared(memory, &self.cursor.generator);
    }

    /// What each member counted as at the last refresh.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        self.algorithm.values()
    }

    /// Reports that were passed over so far because the algorithm can't go by them.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.algorithm.ignored()
    }

    /// The members in the band of the last refresh: indices, in order.
    #[must_use]
    pub fn band(&self) -> &[u32] {
        self.algorithm.band()
    }

    /// The members in the band of the last refresh, each with its probability at the next draw: in turn, its share of
    /// many.
    pub fn shares(&self) -> impl Iterator<Item = (u32, f64)> {
        let shares = self.algorithm.shares();
        self.algorithm.band().iter().copied().zip(shares)
    }

    /// Draws `into.len()` members from the band. Returns how many: all, or none where the band is empty. Live draws look
    /// at the table, one after the other.
    ///
    /// Atomics, because the memory may be JavaScript's, and shared.
    pub fn fill(&mut self, table: &Table<W>, into: &[AtomicU32]) -> usize {
        self.before = self.cursor;
        self.drawn = 0;
        if self.algorithm.band().is_empty() {
            return 0;
        }
        self.algorithm.fill(table, &mut self.cursor, into);
        if !self.algorithm.live() {
            self.drawn = into.len();
        }
        into.len()
    }

    /// Draws pairs in place of picks, where draws compare such; [`PAIR_WORDS`](crate::pairs::PAIR_WORDS) words each. Returns
    /// how many: as many as there is room for, or none. `rewind` undoes them as picks.
    pub fn fill_pairs(&mut self, table: &Table<W>, into: &[AtomicU32]) -> usize {
        self.before = self.cursor;
        let generator = &mut self.cursor.generator;
        self.drawn = self.algorithm.fill_pairs(table, generator, into);
        self.drawn
    }

    /// One draw from the band; none where that is empty. As a fill of one that can't be undone.
    #[inline]
    pub fn pick(&mut self, table: &Table<W>) -> Option<u32> {
        self.drawn = 0;
        self.algorithm.draw(table, &mut self.cursor)
    }

    /// Takes what a member said, where members are asked. Returns the table time, ms, from which the last refresh is out
    /// of date because of what is too old then.
    pub fn probed(&mut self, probe: Probe) -> f64 {
        self.algorithm.probed(probe, &mut self.cursor.generator)
    }

    /// Draws that were made at random because too few members had said something.
    #[must_use]
    pub fn at_random(&self) -> u64 {
        self.algorithm.at_random()
    }

    /// Undoes the last fill beyond its first `kept` draws, as though only these had been made. Right after the fill:
    /// the draws that are kept are made again, from the same band. Live draws stay made, since that can't be done with
    /// them; but pairs can be, since these take as many numbers whatever comes of them.
    pub fn rewind(&mut self, kept: usize) {
        if kept >= self.drawn {
            return;
        }
        self.cursor = self.before;
        self.algorithm.replay(&mut self.cursor, kept);
        self.drawn = kept;
    }

    /// One draw as though the members at `excluded` were not up. Indices in any order, repeats allowed, those out of
    /// range ignored. None where no member is left. The last fill can't be undone after this.
    pub fn pick_excluding(
        &mut self,
        table: &Table<W>,
        excluded: impl IntoIterator<Item = u32>,
    ) -> Option<u32> {
        self.excluded.clear();
        self.excluded.extend(excluded);
        self.excluded.sort_unstable();
        self.drawn = 0;
        self.algorithm
            .draw_without(table, &mut self.cursor, &self.excluded)
    }
}
