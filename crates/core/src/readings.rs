//! What a refresh reads of the members.

use crate::band::Seen;
use crate::member::Member;
use crate::memory::Words;
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
    /// Where draws look at requests in flight; else empty.
    pub places: Places,
}

impl Readings {
    /// Lists who is up.
    pub fn see_states(&mut self, members: &[Member]) {
        self.seen.clear();
        self.seen
            .extend(members.iter().map(Member::seen_without_reading));
    }

    /// Lists the fixed weights.
    pub fn take_weights(&mut self, members: &[Member]) {
        self.weights.clear();
        self.weights
            .extend(members.iter().map(|member| member.weight));
    }

    /// Looks at the members that are up, and returns when the first fresh reading expires.
    ///
    /// `look`: takes a member's reading, and gives its time and what it counts as, where it is fresh
    pub fn see(
        &mut self,
        members: &[Member],
        ttl: f64,
        look: impl FnMut(usize, &Member) -> Option<(u64, Seen)>,
    ) -> f64 {
        see(members, ttl, &mut self.seen, look)
    }

    /// The same where readings count as figures: 0 for who has none.
    pub fn see_figures(
        &mut self,
        members: &[Member],
        ttl: f64,
        look: impl FnMut(usize, &Member) -> Option<(u64, f64)>,
    ) -> f64 {
        see_figures(members, ttl, &mut self.seen, &mut self.figures, look)
    }
}

/// Where requests in flight are counted: slot and slot generation of each member. No more than that, since thousands of
/// them fit into the cache and of whole members do not.
#[derive(Debug, Default)]
pub struct Places(Vec<(u32, u32)>);

impl Places {
    /// Takes those of these members.
    pub fn take(&mut self, members: &[Member]) {
        self.0.clear();
        self.0
            .extend(members.iter().map(|it| (it.slot, it.generation)));
    }

    /// Where a member's requests in flight are counted.
    #[inline]
    pub fn flights<W: Words>(&self, table: &Table<W>, index: u32) -> Flights {
        self.0
            .get(index as usize)
            .map_or(Flights::NONE, |&(slot, generation)| {
                table.flights(slot, generation)
            })
    }

    /// What members have in flight now, by their index.
    #[inline]
    pub fn in_flight<W: Words>(&self, table: &Table<W>) -> impl Fn(u32) -> u32 {
        let places = self.0.as_slice();
        move |index| {
            places
                .get(index as usize)
                .map_or(0, |&(slot, generation)| table.in_flight(slot, generation))
        }
    }
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
