//! What a balancer picks with: its members, its algorithm and its generator.
//!
//! What draws are made from is computed once, by [`Pool::refresh`]; a draw costs the same at any number of members, but
//! for one that compares them all. The exact meaning of each call is the contract of `EngineCore` in
//! `src/engine/engine.ts`, which the TypeScript engine keeps too.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::adaptive::Adaptive;
use crate::algorithm::Algorithm;
use crate::band::Seen;
use crate::generator::Generator;
use crate::member::Member;
use crate::memory::Words;
use crate::pairs;
use crate::probe_pool::Probe;
use crate::readings::Readings;
use crate::selection::{Cursor, Draws, Selection, Turn};
use crate::state::State;
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
pub struct Pool {
    algorithm: Algorithm,
    members: Vec<Member>,
    state: State,
    // Of the last refresh, as is the selection.
    readings: Readings,
    selection: Selection,
    cursor: Cursor,
    // Where that stood before the last fill, and how many draws that made; 0 where these can't be made again, and then the
    // first says nothing.
    before: Cursor,
    drawn: usize,
    scratch: Scratch,
}

// Kept between calls, so that these allocate only when the pool has grown.
#[derive(Debug)]
struct Scratch {
    seen: Vec<Seen>,
    selection: Selection,
}

impl Pool {
    /// A pool without members.
    #[must_use]
    pub fn new(algorithm: Algorithm, mut generator: Generator) -> Self {
        let draws = algorithm.draws();
        let turn = match draws {
            // So that the balancers of many processes do not all begin with the same member.
            Draws::InTurn => Turn(generator.next_u32()),
            _ => Turn::default(),
        };
        let cursor = Cursor { generator, turn };
        Self {
            algorithm,
            members: Vec::new(),
            state: State::new(&algorithm),
            readings: Readings::default(),
            selection: Selection::new(draws),
            cursor,
            before: cursor,
            drawn: 0,
            scratch: Scratch {
                seen: Vec::new(),
                selection: Selection::new(draws),
            },
        }
    }

    /// Replaces the members. Picks are made among the old ones until the next refresh.
    pub fn set_members(&mut self, members: impl IntoIterator<Item = Member>) {
        let before = std::mem::take(&mut self.members);
        self.members.extend(members);
        self.state.set_members(&before, &self.members);
    }

    /// How many members were set.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// Reads the table at `now` (table time, ms) and computes anew what draws are made from.
    pub fn refresh<W: Words>(&mut self, table: &Table<W>, now: f64) -> Facts {
        // Before any slot: whatever is published while they are read makes this view out of date.
        let generation = table.generation();
        let Self {
            algorithm,
            members,
            state,
            readings,
            selection,
            cursor,
            ..
        } = self;
        let generator = &mut cursor.generator;
        let next_expiry = readings.read(algorithm, state, members, table, now, generator);
        let fresh = algorithm.select(&readings.seen, readings, selection);
        if selection.draws() == Draws::InStride
            && let Some(sequence) = selection.stride.start(generator)
        {
            cursor.turn = Turn(sequence);
        }
        state.refresh(readings, selection, now, readings.in_flight(table));
        Facts {
            generation,
            next_expiry,
            band: selection.length(),
            fresh,
        }
    }

    /// A pick of this member is no lease: nobody will tell how it ended.
    pub fn sent(&mut self, index: u32) {
        if let State::Learned { adaptive, .. } = &mut self.state {
            adaptive.sent(index);
        }
    }

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now
    /// `latency`: how long it took, ms
    pub fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64) {
        if let State::Learned { adaptive, .. } = &mut self.state {
            adaptive.ended(index, left, ok, latency);
        }
    }

    /// What is learned from responses, where such are learned from, and the generator: for whoever makes draws in its
    /// place. The last fill can't be undone after this.
    pub fn learned(&mut self) -> Option<(&mut Adaptive, &mut Generator)> {
        self.drawn = 0;
        match &mut self.state {
            State::Learned { adaptive, .. } => Some((adaptive, &mut self.cursor.generator)),
            _ => None,
        }
    }

    /// What each member counted as at the last refresh, as [`Selection`] has it.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.selection.values
    }

    /// Reports that were passed over so far because the algorithm can't go by them.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        match &self.state {
            State::Weighed(weights) => weights.ignored(),
            _ => 0,
        }
    }

    /// The members in the band of the last refresh: indices, in order.
    #[must_use]
    pub fn band(&self) -> &[u32] {
        &self.selection.band
    }

    /// The members in the band of the last refresh, each with its probability at the next draw: in turn, its share of
    /// many.
    pub fn shares(&self) -> impl Iterator<Item = (u32, f64)> {
        self.selection.chances()
    }

    /// Draws `into.len()` members from the band. Returns how many: all, or none where the band is empty. Live draws look
    /// at the table, one after the other.
    ///
    /// Atomics, because the memory may be JavaScript's, and shared.
    pub fn fill<W: Words>(&mut self, table: &Table<W>, into: &[AtomicU32]) -> usize {
        self.before = self.cursor;
        self.drawn = 0;
        if self.selection.length() == 0 {
            return 0;
        }
        if self.state.draws() {
            for place in into {
                let picked = self.pick(table).unwrap_or(0);
                self.sent(picked);
                place.store(picked, Relaxed);
            }
            return into.len();
        }
        let in_flight = self.readings.in_flight(table);
        self.selection.fill(into, &mut self.cursor, in_flight);
        if !self.selection.draws().live() {
            self.drawn = into.len();
        }
        into.len()
    }

    /// Draws pairs in place of picks, where [draws compare such](Selection::draws_pairs); [`PAIR_WORDS`](crate::pairs::PAIR_WORDS)
    /// words each. Returns how many: as many as there is room for, or none. `rewind` undoes them as picks.
    pub fn fill_pairs<W: Words>(&mut self, table: &Table<W>, into: &[AtomicU32]) -> usize {
        self.before = self.cursor;
        self.drawn = 0;
        if self.selection.draws_pairs() {
            let generator = &mut self.cursor.generator;
            self.drawn = pairs::fill(&self.selection, &self.readings, table, generator, into);
        }
        self.drawn
    }

    /// One draw from the band; none where that is empty. As a fill of one that can't be undone.
    pub fn pick<W: Words>(&mut self, table: &Table<W>) -> Option<u32> {
        let in_flight = self.readings.in_flight(table);
        let picked = self
            .state
            .draw(&self.selection, &mut self.cursor, in_flight);
        self.drawn = 0;
        picked
    }

    /// Takes what a member said, where members are asked. Returns the table time, ms, from which the last refresh is out
    /// of date because of what is too old then.
    pub fn probed(&mut self, probe: Probe) -> f64 {
        let State::Probed(probes) = &mut self.state else {
            return f64::INFINITY;
        };
        probes.probed(probe, &mut self.cursor.generator);
        probes.next_expiry()
    }

    /// Draws that were made at random because too few members had said something.
    #[must_use]
    pub fn at_random(&self) -> u64 {
        match &self.state {
            State::Probed(probes) => probes.at_random(),
            _ => 0,
        }
    }

    /// Undoes the last fill beyond its first `kept` draws, as though only these had been made. Right after the fill:
    /// the draws that are kept are made again, from the same band. Live draws stay made, since that can't be done with
    /// them; but pairs can be, since these take as many numbers whatever comes of them.
    pub fn rewind(&mut self, kept: usize) {
        if kept >= self.drawn {
            return;
        }
        self.cursor = self.before;
        for _ in 0..kept {
            self.selection.draw(&mut self.cursor, |_| 0);
        }
        self.drawn = kept;
    }

    /// One draw as though the members at `excluded` were not up. Indices in any order, repeats allowed, those out of
    /// range ignored. None where no member is left. The last fill can't be undone after this.
    pub fn pick_excluding<W: Words>(
        &mut self,
        table: &Table<W>,
        excluded: impl IntoIterator<Item = u32>,
    ) -> Option<u32> {
        let Scratch { seen, selection } = &mut self.scratch;
        seen.clone_from(&self.readings.seen);
        for index in excluded {
            if let Some(member) = seen.get_mut(index as usize) {
                *member = Seen::OUT;
            }
        }
        let is_left = |index: u32| seen.get(index as usize).is_some_and(|it| *it != Seen::OUT);
        let picked = if self.selection.draws() == Draws::InTurn {
            // Turns count in the whole band: whoever is left out keeps its place there.
            let band = &self.selection.band;
            let member = |position: u32| band.get(position as usize).copied();
            let turn = &mut self.cursor.turn;
            let wanted = |position| member(position).is_some_and(is_left);
            turn.pass_to(self.selection.length(), wanted)
                .and_then(member)
        } else if self.selection.draws() == Draws::InStride {
            let band = &self.selection.band;
            let member = |position: u32| band.get(position as usize).copied();
            let wanted = |position| member(position).is_some_and(is_left);
            let sequence = &mut self.cursor.turn.0;
            self.selection
                .stride
                .pass_to(sequence, wanted)
                .and_then(member)
        } else {
            self.algorithm.select(seen, &self.readings, selection);
            let in_flight = self.readings.in_flight(table);
            let cursor = &mut self.cursor;
            self.state.draw_left(selection, cursor, is_left, in_flight)
        };
        self.drawn = 0;
        picked
    }
}
