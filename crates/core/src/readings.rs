//! What a refresh reads of the members.

use crate::adaptive;
use crate::algorithm::Algorithm;
use crate::band::Seen;
use crate::generator::Generator;
use crate::member::Member;
use crate::memory::Words;
use crate::report_weights;
use crate::reported::{self, Reported};
use crate::selection::Draws;
use crate::spare::FULL;
use crate::state::State;
use crate::table::{Flights, Table};

/// What the last refresh read. Members that were set since then are not in it.
#[derive(Debug, Default)]
pub struct Readings {
    /// Who is up, and who of these has a fresh reading.
    pub seen: Vec<Seen>,
    /// What those with a fresh reading count as: the idle CPU, 1/1000 percentage points, the value of a metric, or the
    /// weight, 0 where not known; empty where the algorithm does not ask.
    pub figures: Vec<f64>,
    /// The fixed weights, where the algorithm goes by them; else empty.
    pub weights: Vec<f64>,
    /// What reports say, where responses are learned from too; else empty.
    pub reported: Vec<Reported>,
    // Where draws look at requests in flight: slot and slot generation; else empty. No more than that, since thousands of
    // them fit into the cache and of whole members do not.
    places: Vec<(u32, u32)>,
}

impl Readings {
    /// Reads the table at `now` (table time, ms). Returns the table time, ms, from which this is out of date though nothing
    /// is published; infinite: never.
    pub fn read<W: Words>(
        &mut self,
        algorithm: &Algorithm,
        state: &mut State,
        members: &[Member],
        table: &Table<W>,
        now: f64,
        generator: &mut Generator,
    ) -> f64 {
        self.list(algorithm, members);
        let Self {
            seen,
            figures,
            reported,
            ..
        } = self;
        match *algorithm {
            Algorithm::Random
            | Algorithm::RandomByWeight
            | Algorithm::RoundRobin
            | Algorithm::LeastConnections(_)
            | Algorithm::LeastConnectionsByWeight(_) => {
                see_without_reading(members, seen);
                f64::INFINITY
            }
            Algorithm::Prequal(_) => {
                see_without_reading(members, seen);
                let State::Probed(probes) = state else {
                    return f64::INFINITY;
                };
                probes.refresh(table, members, now, generator);
                probes.next_expiry()
            }
            Algorithm::Adaptive { ttl, .. } => {
                see_without_reading(members, seen);
                if let State::Learned { estimates, .. } = state {
                    reported::read(members, table, estimates, now, ttl, reported);
                }
                now + adaptive::REFRESH
            }
            Algorithm::LeastCpu { ttl, .. } => see(members, ttl, seen, |index, member| {
                let fresh = table.read(member.slot, member.generation, now, ttl)?;
                let cpu = (state.take(index, fresh) + 0.5).floor() as u32;
                Some((fresh.time, Seen::fresh(cpu)))
            }),
            Algorithm::SpareCapacity { ttl, .. } => {
                see_figures(members, ttl, seen, figures, |index, member| {
                    let fresh = table.read(member.slot, member.generation, now, ttl)?;
                    Some((fresh.time, FULL - state.take(index, fresh)))
                })
            }
            Algorithm::PowerOfTwo(two) => {
                see_figures(members, two.ttl, seen, figures, |_, member| {
                    two.read(table, member.slot, member.generation, now)
                })
            }
            Algorithm::WeightedRoundRobin { .. } => {
                let next = match state {
                    State::Weighed(weights) => weights.refresh(members, table, now, figures),
                    _ => report_weights::take_fixed(members, figures),
                };
                report_weights::see(members, figures, seen);
                next
            }
        }
    }

    // What is known of the members without the table.
    fn list(&mut self, algorithm: &Algorithm, members: &[Member]) {
        if algorithm.weighs() {
            self.weights.clear();
            self.weights
                .extend(members.iter().map(|member| member.weight));
        }
        if matches!(
            algorithm.draws(),
            Draws::Fewest(_) | Draws::LeastLoaded(_) | Draws::Learned | Draws::Best(_)
        ) {
            self.places.clear();
            let places = members.iter().map(|it| (it.slot, it.generation));
            self.places.extend(places);
        }
    }

    /// Where a member's requests in flight are counted.
    #[inline]
    pub fn flights<W: Words>(&self, table: &Table<W>, index: u32) -> Flights {
        self.places
            .get(index as usize)
            .map_or(Flights::NONE, |&(slot, generation)| {
                table.flights(slot, generation)
            })
    }

    /// What members have in flight now, by their index.
    #[inline]
    pub fn in_flight<W: Words>(&self, table: &Table<W>) -> impl Fn(u32) -> u32 {
        let places = self.places.as_slice();
        move |index| {
            places
                .get(index as usize)
                .map_or(0, |&(slot, generation)| table.in_flight(slot, generation))
        }
    }
}

fn see_without_reading(members: &[Member], seen: &mut Vec<Seen>) {
    seen.clear();
    seen.extend(members.iter().map(Member::seen_without_reading));
}

// Looks at the members that are up, and returns when the first fresh reading expires.
//
// `look`: takes a member's reading, and gives its time and what it counts as, where it is fresh
fn see(
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

// The same where readings count as figures: 0 for who has none.
fn see_figures(
    members: &[Member],
    ttl: f64,
    seen: &mut Vec<Seen>,
    figures: &mut Vec<f64>,
    mut look: impl FnMut(usize, &Member) -> Option<(u64, f64)>,
) -> f64 {
    figures.clear();
    figures.resize(members.len(), 0.0);
    see(members, ttl, seen, |index, member| {
        let (time, value) = look(index, member)?;
        if let Some(figure) = figures.get_mut(index) {
            *figure = value;
        }
        Some((time, Seen::fresh(0)))
    })
}
