//! What a balancer picks with: its members, its algorithm and its generator.
//!
//! The band is computed once, by [`Pool::refresh`]; a draw from it costs the same at any number of members. The exact
//! meaning of each call is the contract of `EngineCore` in `src/engine/engine.ts`, which the TypeScript engine keeps
//! too.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::band::{self, LeastCpu, Seen};
use crate::generator::Generator;
use crate::memory::Words;
use crate::table::Table;

/// How a pool picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// Every member that is up, with equal chances.
    Random,
    /// The least busy ones, with equal chances.
    LeastCpu {
        /// Who is in the band.
        band: LeastCpu,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
    },
}

/// A node that the pool may pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The node's slot, or [`NO_SLOT`](crate::layout::NO_SLOT).
    pub slot: u32,
    /// The slot generation that the node was given its slot with.
    pub generation: u32,
    /// Whether it may be picked.
    pub up: bool,
}

/// What a refresh found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// The table's generation, read before any slot.
    pub generation: u32,
    /// Table time, ms, from which this is out of date because a reading expires; infinite where none does.
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
    generator: Generator,
    members: Vec<Member>,
    // What the last refresh saw. Members that were set since then are not in it.
    seen: Vec<Seen>,
    values: Vec<u32>,
    band: Vec<u32>,
    // Where the generator stood before the last fill, and how many draws that made.
    before: Generator,
    drawn: usize,
    scratch: Scratch,
}

// Kept between calls, so that these allocate only when the pool has grown.
#[derive(Debug, Default)]
struct Scratch {
    seen: Vec<Seen>,
    values: Vec<u32>,
    band: Vec<u32>,
}

impl Pool {
    /// A pool without members.
    #[must_use]
    pub fn new(algorithm: Algorithm, generator: Generator) -> Self {
        Self {
            algorithm,
            generator,
            members: Vec::new(),
            seen: Vec::new(),
            values: Vec::new(),
            band: Vec::new(),
            before: generator,
            drawn: 0,
            scratch: Scratch::default(),
        }
    }

    /// Replaces the members. Picks are made among the old ones until the next refresh.
    pub fn set_members(&mut self, members: impl IntoIterator<Item = Member>) {
        self.members.clear();
        self.members.extend(members);
    }

    /// How many members were set.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members.len()
    }

    /// Reads the table at `now` (table time, ms) and computes the band anew.
    pub fn refresh<W: Words>(&mut self, table: &Table<W>, now: f64) -> Facts {
        // Before any slot: whatever is published while they are read makes this view out of date.
        let generation = table.generation();
        let mut oldest = u64::MAX;
        self.seen.clear();
        match self.algorithm {
            Algorithm::Random => self.seen.extend(
                self.members
                    .iter()
                    .map(|member| if member.up { Seen::MISSING } else { Seen::OUT }),
            ),
            Algorithm::LeastCpu { ttl, .. } => {
                self.seen.extend(self.members.iter().map(|member| {
                    if !member.up {
                        return Seen::OUT;
                    }
                    match table.read(member.slot, member.generation, now, ttl) {
                        None => Seen::MISSING,
                        Some(fresh) => {
                            oldest = oldest.min(fresh.time);
                            Seen::fresh(fresh.cpu)
                        }
                    }
                }));
            }
        }
        let fresh = select(self.algorithm, &self.seen, &mut self.values, &mut self.band);
        let band = self.band.len() as u32;
        let next_expiry = match self.algorithm {
            Algorithm::LeastCpu { ttl, .. } if fresh > 0 => oldest as f64 + ttl + 1.0,
            _ => f64::INFINITY,
        };
        Facts {
            generation,
            next_expiry,
            band,
            fresh,
        }
    }

    /// What each member counted as at the last refresh: 1/1000 percentage points, or
    /// [`NOT_ELIGIBLE`](band::NOT_ELIGIBLE).
    #[must_use]
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The members in the band of the last refresh: indices, in order.
    #[must_use]
    pub fn band(&self) -> &[u32] {
        &self.band
    }

    /// Draws `into.len()` members from the band. Returns how many: all, or none where the band is empty.
    ///
    /// Atomics, because the memory may be JavaScript's, and shared.
    pub fn fill(&mut self, into: &[AtomicU32]) -> usize {
        self.before = self.generator;
        self.drawn = 0;
        let length = self.band.len() as u32;
        if length == 0 {
            return 0;
        }
        let mut generator = self.generator;
        for place in into {
            let drawn = generator.below(length) as usize;
            // Below the length by construction; without the check a fault there would be a panic.
            place.store(self.band.get(drawn).copied().unwrap_or(0), Relaxed);
        }
        self.generator = generator;
        self.drawn = into.len();
        into.len()
    }

    /// Undoes the last fill beyond its first `kept` draws, as though only these had been made.
    pub fn rewind(&mut self, kept: usize) {
        if kept >= self.drawn {
            return;
        }
        self.generator = self.before;
        for _ in 0..kept {
            self.generator.next_u32();
        }
        self.drawn = kept;
    }

    /// One draw as though the members at `excluded` were not up. Indices in any order, repeats allowed, those out of
    /// range ignored. None where no member is left. The last fill can't be undone after this.
    pub fn pick_excluding(&mut self, excluded: impl IntoIterator<Item = u32>) -> Option<u32> {
        let Scratch { seen, values, band } = &mut self.scratch;
        seen.clone_from(&self.seen);
        for index in excluded {
            if let Some(member) = seen.get_mut(index as usize) {
                *member = Seen::OUT;
            }
        }
        select(self.algorithm, seen, values, band);
        let picked = match band.len() as u32 {
            0 => None,
            length => band.get(self.generator.below(length) as usize).copied(),
        };
        self.before = self.generator;
        self.drawn = 0;
        picked
    }
}

fn select(algorithm: Algorithm, seen: &[Seen], values: &mut Vec<u32>, band: &mut Vec<u32>) -> u32 {
    match algorithm {
        Algorithm::Random => {
            band::select_random(seen, values, band);
            0
        }
        Algorithm::LeastCpu { band: least, .. } => least.select(seen, values, band),
    }
}
