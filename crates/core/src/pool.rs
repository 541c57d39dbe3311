//! What a balancer picks with: its members, its algorithm and its generator.
//!
//! What draws are made from is computed once, by [`Pool::refresh`]; a draw costs the same at any number of members, but
//! for one that compares them all. The exact meaning of each call is the contract of `EngineCore` in `src/engine/engine.ts`, which the TypeScript engine
//! keeps too.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::adaptive::{self, Adaptive, Rules};
use crate::band::{self, LeastCpu, Seen};
use crate::fewest::Candidates;
use crate::generator::Generator;
use crate::memory::Words;
use crate::own_sends::{Cost, OwnSends, Rule, Sending};
use crate::power_of_two::PowerOfTwo;
use crate::probe_pool::{self, Probe, ProbePool};
use crate::report_weights::{self, ReportWeights, Weighing};
use crate::selection::{Cursor, Draws, Selection, Turn};
use crate::smoothing::Estimates;
use crate::spare::{FULL, SpareCapacity};
use crate::stride::{self, Clamp};
use crate::table::{Fresh, Table};
use crate::weights;

/// How a pool picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// Every member that is up, with equal chances.
    Random,
    /// Every member that is up, with chances by its weight.
    RandomByWeight,
    /// Every member that is up, in turn.
    RoundRobin,
    /// The least busy ones, with equal chances.
    LeastCpu {
        /// Who is in the band.
        band: LeastCpu,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
        /// What an own pick adds to a reading; none where they do not count.
        own_sends: Option<Cost>,
    },
    /// Every member that is up, with a share by its idle CPU.
    SpareCapacity {
        /// Who gets which share.
        spare: SpareCapacity,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
        /// What an own pick adds to a reading; none where they do not count.
        own_sends: Option<Cost>,
    },
    /// The fewest requests in flight among these of the members that are up.
    LeastConnections(Candidates),
    /// By what some of them said of their requests in flight and latency.
    Prequal(probe_pool::Rules),
    /// The least response time to expect.
    Adaptive {
        /// What is learned.
        rules: Rules,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant over which CPU is smoothed, ms.
        smoothing: f64,
    },
    /// The least (in flight + 1) / weight among these of the members that are up.
    LeastConnectionsByWeight(Candidates),
    /// Every member that is up, in turn, some more often.
    WeightedRoundRobin {
        /// How reports become weights; none where these are fixed.
        weighing: Option<Weighing>,
        /// How far weights may be from their mean.
        clamp: Clamp,
    },
    /// The best by one metric among some of the members that are up.
    PowerOfTwo(PowerOfTwo),
}

impl Algorithm {
    // How it draws from the band.
    fn draws(&self) -> Draws {
        match self {
            Self::Random
            | Self::LeastCpu {
                own_sends: None, ..
            } => Draws::Equal,
            Self::RoundRobin => Draws::InTurn,
            Self::WeightedRoundRobin { .. } => Draws::InStride,
            Self::RandomByWeight
            | Self::SpareCapacity {
                own_sends: None, ..
            } => Draws::Weighted,
            Self::LeastCpu { .. } => Draws::SendingEqual,
            Self::SpareCapacity { .. } => Draws::SendingWeighted,
            Self::LeastConnections(candidates) => Draws::Fewest(*candidates),
            Self::Prequal(_) => Draws::Probed,
            Self::Adaptive { .. } => Draws::Learned,
            Self::PowerOfTwo(two) => Draws::Best(two.comparison()),
            Self::LeastConnectionsByWeight(candidates) => Draws::LeastLoaded(*candidates),
        }
    }

    // Whether it goes by the members' weights.
    fn weighs(&self) -> bool {
        matches!(
            self,
            Self::RandomByWeight | Self::LeastConnectionsByWeight(_)
        )
    }

    // What an own pick adds, and what it changes, where own picks count.
    fn sending(&self) -> Option<(Cost, Rule)> {
        match *self {
            Self::LeastCpu {
                band, own_sends, ..
            } => Some((own_sends?, Rule::Band(f64::from(band.threshold)))),
            Self::SpareCapacity {
                spare, own_sends, ..
            } => Some((own_sends?, Rule::Spare(spare))),
            _ => None,
        }
    }

    // Makes a selection of what was seen, and says how many have a fresh reading.
    fn select(&self, seen: &[Seen], figures: &[f64], weights: &[f64], into: &mut Selection) -> u32 {
        let fresh = match self {
            Self::Random
            | Self::RoundRobin
            | Self::LeastConnections(_)
            | Self::Prequal(_)
            | Self::Adaptive { .. } => {
                band::select_up(seen, &mut into.values, &mut into.band);
                0
            }
            Self::RandomByWeight | Self::LeastConnectionsByWeight(_) => {
                weights::select(seen, weights, into);
                0
            }
            Self::LeastCpu { band, .. } => band.select(seen, &mut into.values, &mut into.band),
            // The shares are made by whoever counts the picks.
            Self::SpareCapacity {
                spare,
                own_sends: Some(_),
                ..
            } => spare.weigh(seen, figures, into),
            Self::SpareCapacity { spare, .. } => spare.select(seen, figures, into),
            Self::PowerOfTwo(two) => two.select(seen, figures, into),
            Self::WeightedRoundRobin { weighing, clamp } => {
                let known = stride::select(seen, figures, *clamp, into);
                weighing.map_or(0, |_| known)
            }
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
    // Where own picks count.
    sending: Option<(OwnSends, Sending)>,
    // Where members are asked.
    probes: Option<ProbePool>,
    // Where it learns from how leases end.
    adaptive: Option<Adaptive>,
    // Where it takes weights from reports.
    report_weights: Option<ReportWeights>,
    // What the last refresh saw. Members that were set since then are not in it.
    seen: Vec<Seen>,
    // What those with a fresh reading count as: the idle CPU, 1/1000 percentage points, the value of a metric, or the
    // weight, 0 where not known; empty where the algorithm does not ask.
    figures: Vec<f64>,
    // The weights of the members of the last refresh, where the algorithm goes by them; else empty.
    weights: Vec<f64>,
    // Where draws look at requests in flight: slot and slot generation of the members of the last refresh; else empty.
    // No more than that, since thousands of them fit into the cache and of whole members do not.
    places: Vec<(u32, u32)>,
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
            Draws::InTurn | Draws::InStride => Turn(generator.next_u32()),
            _ => Turn::default(),
        };
        let estimates = match algorithm {
            Algorithm::SpareCapacity { smoothing, .. }
            | Algorithm::LeastCpu { smoothing, .. }
            | Algorithm::Adaptive { smoothing, .. } => Some(Estimates::new(smoothing)),
            _ => None,
        };
        let adaptive = match algorithm {
            Algorithm::Adaptive { rules, .. } => Some(Adaptive::new(rules)),
            _ => None,
        };
        let sending = algorithm
            .sending()
            .map(|(cost, rule)| (OwnSends::new(cost), Sending::new(rule)));
        let probes = match algorithm {
            Algorithm::Prequal(rules) => Some(ProbePool::new(rules)),
            _ => None,
        };
        let report_weights = match algorithm {
            Algorithm::WeightedRoundRobin { weighing, .. } => weighing.map(ReportWeights::new),
            _ => None,
        };
        let cursor = Cursor { generator, turn };
        Self {
            algorithm,
            members: Vec::new(),
            estimates,
            sending,
            probes,
            adaptive,
            report_weights,
            seen: Vec::new(),
            figures: Vec::new(),
            weights: Vec::new(),
            places: Vec::new(),
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
        let before = std::mem::take(&mut self.members);
        self.members.extend(members);
        if let Some((sends, _)) = &mut self.sending {
            sends.set_members(&before, &self.members);
        }
        if let Some(probes) = &mut self.probes {
            probes.set_members(&before, &self.members);
        }
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.set_members(&before, &self.members);
        }
        if let Some(weights) = &mut self.report_weights {
            weights.set_members(&before, &self.members);
        }
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
            sending,
            probes,
            cursor,
            report_weights,
            ..
        } = self;
        let mut take = |index, fresh: Fresh| {
            if let Some((sends, _)) = &mut *sending {
                sends.take(index, fresh.time, fresh.cpu);
            }
        };
        let next_expiry = match self.algorithm {
            Algorithm::Random
            | Algorithm::RandomByWeight
            | Algorithm::RoundRobin
            | Algorithm::LeastConnections(_)
            | Algorithm::LeastConnectionsByWeight(_) => {
                seen.clear();
                seen.extend(members.iter().map(Member::seen_without_reading));
                f64::INFINITY
            }
            Algorithm::Prequal(_) => {
                seen.clear();
                seen.extend(members.iter().map(Member::seen_without_reading));
                probes.as_mut().map_or(f64::INFINITY, |probes| {
                    probes.refresh(table, members, now, &mut cursor.generator);
                    probes.next_expiry()
                })
            }
            Algorithm::Adaptive { .. } => {
                seen.clear();
                seen.extend(members.iter().map(Member::seen_without_reading));
                now + adaptive::REFRESH
            }
            Algorithm::LeastCpu { ttl, .. } => read(members, ttl, seen, |index, member| {
                let fresh = table.read(member.slot, member.generation, now, ttl)?;
                take(index, fresh);
                let estimate = estimates
                    .as_mut()
                    .map(|estimates| estimates.update(index, fresh.time, fresh.cpu));
                let cpu = estimate.map_or(fresh.cpu, |estimate| (estimate + 0.5).floor() as u32);
                Some((fresh.time, Seen::fresh(cpu)))
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
                    take(index, fresh);
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
            Algorithm::WeightedRoundRobin { .. } => {
                let next = match report_weights {
                    Some(weights) => weights.refresh(members, table, now, figures),
                    None => report_weights::take_fixed(members, figures),
                };
                report_weights::see(members, figures, seen);
                next
            }
        };
        if self.algorithm.weighs() {
            self.weights.clear();
            self.weights
                .extend(self.members.iter().map(|member| member.weight));
        }
        let fresh = self.algorithm.select(
            &self.seen,
            &self.figures,
            &self.weights,
            &mut self.selection,
        );
        if let Some((sends, sending)) = &mut self.sending {
            sends.learn();
            sending.start(&mut self.selection, sends);
        }
        if matches!(
            self.selection.draws(),
            Draws::Fewest(_) | Draws::LeastLoaded(_) | Draws::Learned | Draws::Best(_)
        ) {
            self.places.clear();
            let places = self.members.iter().map(|it| (it.slot, it.generation));
            self.places.extend(places);
        }
        let fresh = self.learn_reports(table, now).unwrap_or(fresh);
        Facts {
            generation,
            next_expiry,
            band: self.selection.length(),
            fresh,
        }
    }

    // What reports say, where responses are learned from too. Returns how many members have a fresh reading.
    fn learn_reports<W: Words>(&mut self, table: &Table<W>, now: f64) -> Option<u32> {
        let Algorithm::Adaptive { ttl, .. } = self.algorithm else {
            return None;
        };
        let (adaptive, estimates) = (self.adaptive.as_mut()?, self.estimates.as_mut()?);
        let reported = Adaptive::read(&self.members, table, estimates, now, ttl);
        let band = &self.selection.band;
        adaptive.refresh(now, &reported, band, in_flight(&self.places, table));
        self.selection.values.clear();
        self.selection.values.extend(adaptive.costs());
        Some(reported.iter().filter(|it| it.spare.is_some()).count() as u32)
    }

    /// A pick of this member is no lease: nobody will tell how it ended.
    pub fn sent(&mut self, index: u32) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.sent(index);
        }
    }

    /// A lease on this member has ended.
    ///
    /// `left`: requests in flight there now
    /// `latency`: how long it took, ms
    pub fn ended(&mut self, index: u32, left: f64, ok: bool, latency: f64) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.ended(index, left, ok, latency);
        }
    }

    /// What each member counted as at the last refresh: 1/1000 percentage points or the value of a metric, or
    /// [`NOT_ELIGIBLE`](band::NOT_ELIGIBLE).
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.selection.values
    }

    /// Reports that were passed over so far because the algorithm can't go by them.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.report_weights
            .as_ref()
            .map_or(0, ReportWeights::ignored)
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
        if self.sending.is_some() || self.adaptive.is_some() || self.probes.is_some() {
            for place in into {
                let picked = self.pick(table).unwrap_or(0);
                self.sent(picked);
                place.store(picked, Relaxed);
            }
            return into.len();
        }
        self.selection
            .fill(into, &mut self.cursor, in_flight(&self.places, table));
        if !self.selection.draws().live() {
            self.drawn = into.len();
        }
        into.len()
    }

    /// One draw from the band; none where that is empty. As a fill of one that can't be undone.
    pub fn pick<W: Words>(&mut self, table: &Table<W>) -> Option<u32> {
        let in_flight = in_flight(&self.places, table);
        let picked = match (&mut self.sending, &self.adaptive, &mut self.probes) {
            (_, _, Some(probes)) => {
                draw_probed(probes, &self.selection, &mut self.cursor, |_| true)
            }
            (_, Some(adaptive), _) => {
                let generator = &mut self.cursor.generator;
                adaptive.draw(&self.selection.band, generator, |_| true, in_flight)
            }
            (Some((sends, sending)), _, _) => {
                sending.draw(&mut self.selection, sends, &mut self.cursor)
            }
            (None, None, _) => self.selection.draw(&mut self.cursor, in_flight),
        };
        self.before = self.cursor;
        self.drawn = 0;
        picked
    }

    /// Takes what a member said, where members are asked. Returns the table time, ms, from which the last refresh is out
    /// of date because of what is too old then.
    pub fn probed(&mut self, probe: Probe) -> f64 {
        let Some(probes) = &mut self.probes else {
            return f64::INFINITY;
        };
        probes.probed(probe, &mut self.cursor.generator);
        probes.next_expiry()
    }

    /// Draws that were made at random because too few members had said something.
    #[must_use]
    pub fn at_random(&self) -> u64 {
        self.probes.as_ref().map_or(0, ProbePool::at_random)
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
            Draws::Learned => {
                self.algorithm
                    .select(seen, &self.figures, &self.weights, selection);
                self.adaptive.as_ref().and_then(|adaptive| {
                    adaptive.draw(
                        &selection.band,
                        &mut self.cursor.generator,
                        |index| seen.get(index as usize).is_some_and(|&it| it != Seen::OUT),
                        in_flight(&self.places, table),
                    )
                })
            }
            Draws::SendingEqual | Draws::SendingWeighted => {
                self.algorithm
                    .select(seen, &self.figures, &self.weights, selection);
                self.sending.as_mut().and_then(|(sends, sending)| {
                    let mut left = Sending::new(sending.rule());
                    left.start(selection, sends);
                    let picked = left.draw(selection, sends, &mut self.cursor);
                    sending.rebuild(&mut self.selection, sends);
                    picked
                })
            }
            Draws::Probed => {
                self.algorithm
                    .select(seen, &self.figures, &self.weights, selection);
                let is_left = |index: u32| {
                    seen.get(index as usize)
                        .is_some_and(|member| *member != Seen::OUT)
                };
                self.probes
                    .as_mut()
                    .and_then(|probes| draw_probed(probes, selection, &mut self.cursor, is_left))
            }
            Draws::Equal
            | Draws::InStride
            | Draws::Weighted
            | Draws::Fewest(_)
            | Draws::LeastLoaded(_)
            | Draws::Best(_) => {
                self.algorithm
                    .select(seen, &self.figures, &self.weights, selection);
                selection.draw(&mut self.cursor, in_flight(&self.places, table))
            }
        };
        self.before = self.cursor;
        self.drawn = 0;
        picked
    }
}

// By what members said; from the band where that is too little to go by.
fn draw_probed(
    probes: &mut ProbePool,
    selection: &Selection,
    cursor: &mut Cursor,
    allowed: impl Fn(u32) -> bool,
) -> Option<u32> {
    if selection.length() == 0 {
        return None;
    }
    probes
        .pick(allowed)
        .or_else(|| selection.draw(cursor, |_| 0))
}

// What members have in flight now, by their index.
fn in_flight<W: Words>(places: &[(u32, u32)], table: &Table<W>) -> impl Fn(u32) -> u32 {
    move |index| {
        places
            .get(index as usize)
            .map_or(0, |&(slot, generation)| table.in_flight(slot, generation))
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
