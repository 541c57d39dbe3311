//! What a balancer picks with: its members, its algorithm and its generator.
//!
//! What draws are made from is computed once, by [`Pool::refresh`]; a draw costs the same at any number of members, but
//! for one that compares them all. The exact meaning of each call is the contract of `EngineCore` in `src/engine/engine.ts`, which the TypeScript engine
//! keeps too.

use std::sync::atomic::AtomicU32;

use crate::band::{self, LeastCpu, Seen};
use crate::fewest::Candidates;
use crate::generator::Generator;
use crate::memory::Words;
use crate::power_of_two::PowerOfTwo;
use crate::selection::{Cursor, Draws, Selection, Turn};
use crate::smoothing::Estimates;
use crate::spare::{FULL, SpareCapacity};
use crate::table::Table;

/// How a pool picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// Every member that is up, with equal chances.
    Random,
    /// Every member that is up, in turn.
    RoundRobin,
    /// The least busy ones, with equal chances.
    LeastCpu {
        /// Who is in the band.
        band: LeastCpu,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
    },
    /// Every member that is up, with a share by its idle CPU.
    SpareCapacity {
        /// Who gets which share.
        spare: SpareCapacity,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
    },
    /// The fewest requests in flight among these of the members that are up.
    LeastConnections(Candidates),
    /// The best by one metric among some of the members that are up.
    PowerOfTwo(PowerOfTwo),
}

impl Algorithm {
    // How it draws from the band.
    fn draws(&self) -> Draws {
        match self {
            Self::Random | Self::LeastCpu { .. } => Draws::Equal,
            Self::RoundRobin => Draws::InTurn,
            Self::SpareCapacity { .. } => Draws::Weighted,
            Self::LeastConnections(candidates) => Draws::Fewest(*candidates),
            Self::PowerOfTwo(two) => Draws::Best(two.comparison()),
        }
    }

    // Makes a selection of what was seen, and says how many have a fresh reading.
    fn select(&self, seen: &[Seen], figures: &[f64], into: &mut Selection) -> u32 {
        let fresh = match self {
            Self::Random | Self::RoundRobin | Self::LeastConnections(_) => {
                band::select_up(seen, &mut into.values, &mut into.band);
                0
            }
            Self::LeastCpu { band, .. } => band.select(seen, &mut into.values, &mut into.band),
            Self::SpareCapacity { spare, .. } => spare.select(seen, figures, into),
            Self::PowerOfTwo(two) => two.select(seen, figures, into),
        };
        into.prepare();
        fresh
    }
}

/// A node that the pool may pick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The node's slot, or [`NO_SLOT`](crate::layout::NO_SLOT).
    pub slot: u32,
    /// The slot generation that the node was given its slot with.
    pub generation: u32,
    /// Whether it may be picked.
    pub up: bool,
    /// Its fixed weight, above 0 and finite; 1 where the algorithm gives none.
    pub weight: f64,
}

impl Member {
    fn seen_without_reading(&self) -> Seen {
        if self.up { Seen::MISSING } else { Seen::OUT }
    }
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
    members: Vec<Member>,
    // Where the algorithm smoothes readings.
    estimates: Option<Estimates>,
    // What the last refresh saw. Members that were set since then are not in it.
    seen: Vec<Seen>,
    // What those with a fresh reading count as: the idle CPU, 1/1000 percentage points, or the value of a metric; empty
    // where the algorithm does not ask.
    figures: Vec<f64>,
    // The members of the last refresh, where draws look at their requests in flight; else empty.
    watched: Vec<Member>,
    selection: Selection,
    cursor: Cursor,
    // Where that stood before the last fill, and how many draws that made; 0 where these can't be made again.
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
            Draws::Equal | Draws::Weighted | Draws::Fewest(_) | Draws::Best(_) => Turn::default(),
        };
        let estimates = match algorithm {
            Algorithm::SpareCapacity { smoothing, .. } => Some(Estimates::new(smoothing)),
            _ => None,
        };
        let cursor = Cursor { generator, turn };
        Self {
            algorithm,
            members: Vec::new(),
            estimates,
            seen: Vec::new(),
            figures: Vec::new(),
            watched: Vec::new(),
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
        let known = self
            .estimates
            .as_ref()
            .map(|estimates| estimates.known(&self.members));
        self.members.clear();
        self.members.extend(members);
        if let (Some(estimates), Some(known)) = (&mut self.estimates, known) {
            estimates.set_members(&self.members, &known);
        }
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
            members,
            seen,
            figures,
            estimates,
            ..
        } = self;
        let next_expiry = match self.algorithm {
            Algorithm::Random | Algorithm::RoundRobin | Algorithm::LeastConnections(_) => {
                seen.clear();
                seen.extend(members.iter().map(Member::seen_without_reading));
                f64::INFINITY
            }
            Algorithm::LeastCpu { ttl, .. } => read(members, ttl, seen, |_, member| {
                let fresh = table.read(member.slot, member.generation, now, ttl)?;
                Some((fresh.time, Seen::fresh(fresh.cpu)))
            }),
            Algorithm::SpareCapacity { ttl, .. } => {
                figures.clear();
                figures.resize(members.len(), 0.0);
                read(members, ttl, seen, |index, member| {
                    let fresh = table.read(member.slot, member.generation, now, ttl)?;
                    if let (Some(idle), Some(estimates)) = (figures.get_mut(index), &mut *estimates)
                    {
                        *idle = FULL - estimates.update(index, fresh.time, fresh.cpu);
                    }
                    Some((fresh.time, Seen::fresh(fresh.cpu)))
                })
            }
            Algorithm::PowerOfTwo(two) => {
                figures.clear();
                figures.resize(members.len(), 0.0);
                read(members, two.ttl, seen, |index, member| {
                    let (time, value) = two.read(table, member.slot, member.generation, now)?;
                    if let Some(figure) = figures.get_mut(index) {
                        *figure = value;
                    }
                    Some((time, Seen::fresh(0)))
                })
            }
        };
        let fresh = self
            .algorithm
            .select(&self.seen, &self.figures, &mut self.selection);
        if self.selection.draws().live() {
            self.watched.clone_from(&self.members);
        }
        Facts {
            generation,
            next_expiry,
            band: self.selection.length(),
            fresh,
        }
    }

    /// What each member counted as at the last refresh: 1/1000 percentage points or the value of a metric, or
    /// [`NOT_ELIGIBLE`](band::NOT_ELIGIBLE).
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.selection.values
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
        self.selection
            .fill(into, &mut self.cursor, in_flight(&self.watched, table));
        if !self.selection.draws().live() {
            self.drawn = into.len();
        }
        into.len()
    }

    /// One draw from the band; none where that is empty. As a fill of one that can't be undone.
    pub fn pick<W: Words>(&mut self, table: &Table<W>) -> Option<u32> {
        let picked = self
            .selection
            .draw(&mut self.cursor, in_flight(&self.watched, table));
        self.before = self.cursor;
        self.drawn = 0;
        picked
    }

    /// Undoes the last fill beyond its first `kept` draws, as though only these had been made. Right after the fill:
    /// the draws that are kept are made again, from the same band. Live draws stay made, since that can't be done with
    /// them.
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
        seen.clone_from(&self.seen);
        for index in excluded {
            if let Some(member) = seen.get_mut(index as usize) {
                *member = Seen::OUT;
            }
        }
        let picked = match self.selection.draws() {
            // Turns count in the whole band: whoever is left out keeps its place there.
            Draws::InTurn => {
                let left = |position: u32| {
                    let index = self.selection.band.get(position as usize).copied()?;
                    (*seen.get(index as usize)? != Seen::OUT).then_some(index)
                };
                let length = self.selection.length();
                let turn = &mut self.cursor.turn;
                turn.pass_to(length, |position| left(position).is_some())
                    .and_then(left)
            }
            Draws::Equal | Draws::Weighted | Draws::Fewest(_) | Draws::Best(_) => {
                self.algorithm.select(seen, &self.figures, selection);
                selection.draw(&mut self.cursor, in_flight(&self.watched, table))
            }
        };
        self.before = self.cursor;
        self.drawn = 0;
        picked
    }
}

// What members have in flight now, by their index.
fn in_flight<W: Words>(members: &[Member], table: &Table<W>) -> impl Fn(u32) -> u32 {
    move |index| {
        members
            .get(index as usize)
            .map_or(0, |member| table.in_flight(member.slot, member.generation))
    }
}

// Looks at the members that are up, and returns when the first fresh reading expires.
//
// `look`: takes a member's reading, and gives its time and what it counts as, where it is fresh
fn read(
    members: &[Member],
    ttl: f64,
    seen: &mut Vec<Seen>,
    mut look: impl FnMut(usize, &Member) -> Option<(u64, Seen)>,
) -> f64 {
    let mut oldest = None;
    seen.clear();
    seen.extend(members.iter().enumerate().map(|(index, member)| {
        if !member.up {
            return Seen::OUT;
        }
        match look(index, member) {
            None => Seen::MISSING,
            Some((time, reading)) => {
                oldest = Some(oldest.map_or(time, |oldest: u64| oldest.min(time)));
                reading
            }
        }
    }));
    oldest.map_or(f64::INFINITY, |time| time as f64 + ttl + 1.0)
}
