//! Algorithms whose draws follow from what a refresh reads: they say how it is read and selected, and the rest is here.

use std::fmt::Debug;
use std::sync::atomic::AtomicU32;

use crate::algorithms::{Algorithm, Found, Look};
use crate::band::Seen;
use crate::generator::Generator;
use crate::member::Member;
use crate::memory::Words;
use crate::pairs;
use crate::readings::Readings;
use crate::selection::{Cursor, Draws, Selection};
use crate::table::Table;

/// How an algorithm reads, and what it makes of it.
pub trait Select<W: Words>: Debug {
    /// How it draws.
    fn draws(&self) -> Draws;

    /// Replaces the members; what is known of those that stay is kept.
    fn set_members(&mut self, _before: &[Member], _after: &[Member]) {}

    /// Reads the table. Returns the table time, ms, from which that is out of date though nothing is published.
    fn read(&mut self, look: &Look<'_, W>, into: &mut Readings) -> f64;

    /// Makes a selection of what was read, and says how many members have a fresh reading.
    ///
    /// `seen`: as it was read, or without some members
    fn select(&mut self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32;

    /// Called with the selection of a refresh, before anything is drawn from it.
    fn start(&self, _selection: &Selection, _cursor: &mut Cursor) {}

    /// One draw without some members, where that is not one from a selection of the others.
    fn draw_without(
        &self,
        _whole: &Selection,
        _cursor: &mut Cursor,
        _is_left: &dyn Fn(u32) -> bool,
    ) -> Option<Option<u32>> {
        None
    }

    /// Whether draws depend on requests in flight.
    fn live(&self) -> bool {
        self.draws().live()
    }

    /// Whether draws compare pairs by requests in flight, or by what was reported of them where that is more.
    fn draws_pairs(&self, selection: &Selection) -> bool {
        selection.draws_pairs()
    }

    /// One draw from a selection: a member, or an [`unknown_draw`](crate::codes::unknown_draw). None where its band is
    /// empty. This and the next two are for those whose draws are [`Draws::Own`].
    ///
    /// `in_flight`: requests in flight at a member
    #[inline]
    fn draw(
        &self,
        selection: &Selection,
        cursor: &mut Cursor,
        in_flight: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        selection.draw(cursor, in_flight)
    }

    /// As many draws as there are places; nothing where the band is empty.
    #[inline]
    fn fill(
        &self,
        selection: &Selection,
        into: &[AtomicU32],
        cursor: &mut Cursor,
        in_flight: impl Fn(u32) -> u32,
    ) {
        selection.fill(into, cursor, in_flight);
    }

    /// The probability of each entry of the band at the next draw.
    fn chances(&self, selection: &Selection) -> Vec<f64> {
        selection.chances()
    }

    /// As of [`Algorithm`].
    fn ignored(&self) -> u64 {
        0
    }
}

/// Such an algorithm, with what its last refresh came to.
#[derive(Debug)]
pub struct Selected<S> {
    source: S,
    readings: Readings,
    selection: Selection,
    // Kept between calls, so that these allocate only when the pool has grown.
    seen: Vec<Seen>,
    left: Selection,
}

impl<S> Selected<S> {
    /// Without members.
    #[must_use]
    pub fn new<W: Words>(source: S) -> Self
    where
        S: Select<W>,
    {
        let draws = source.draws();
        Self {
            source,
            readings: Readings::default(),
            selection: Selection::new(draws),
            seen: Vec::new(),
            left: Selection::new(draws),
        }
    }
}

/// The same in a box.
pub fn boxed<W: Words, S: Select<W> + 'static>(source: S) -> Box<dyn Algorithm<W>> {
    Box::new(Selected::new(source))
}

impl<W: Words, S: Select<W>> Algorithm<W> for Selected<S> {
    fn set_members(&mut self, before: &[Member], after: &[Member]) {
        self.source.set_members(before, after);
    }

    fn refresh(&mut self, look: &Look<'_, W>, cursor: &mut Cursor) -> Found {
        let Self {
            source,
            readings,
            selection,
            ..
        } = self;
        if source.live() {
            readings.places.take(look.members);
        }
        let next_expiry = source.read(look, readings);
        let fresh = source.select(&readings.seen, readings, selection);
        selection.prepare();
        source.start(selection, cursor);
        Found { next_expiry, fresh }
    }

    fn values(&self) -> &[f64] {
        &self.selection.values
    }

    fn band(&self) -> &[u32] {
        &self.selection.band
    }

    fn shares(&self) -> Vec<f64> {
        self.source.chances(&self.selection)
    }

    fn takes_turns(&self) -> bool {
        self.selection.draws() == Draws::InTurn
    }

    fn live(&self) -> bool {
        self.source.live()
    }

    #[inline]
    fn draw(&mut self, table: &Table<W>, cursor: &mut Cursor) -> Option<u32> {
        let in_flight = self.readings.places.in_flight(table);
        self.source.draw(&self.selection, cursor, in_flight)
    }

    fn fill(&mut self, table: &Table<W>, cursor: &mut Cursor, into: &[AtomicU32]) {
        let in_flight = self.readings.places.in_flight(table);
        self.source.fill(&self.selection, into, cursor, in_flight);
    }

    fn draw_without(
        &mut self,
        table: &Table<W>,
        cursor: &mut Cursor,
        excluded: &[u32],
    ) -> Option<u32> {
        let Self {
            source,
            readings,
            selection,
            seen,
            left,
        } = self;
        seen.clone_from(&readings.seen);
        for &index in excluded {
            if let Some(member) = seen.get_mut(index as usize) {
                *member = Seen::OUT;
            }
        }
        let is_left = |index: u32| seen.get(index as usize).is_some_and(|it| *it != Seen::OUT);
        if let Some(drawn) = source.draw_without(selection, cursor, &is_left) {
            return drawn;
        }
        source.select(seen, readings, left);
        left.prepare();
        source.draw(left, cursor, readings.places.in_flight(table))
    }

    // Only where draws take as many numbers whatever comes of them: those that are not live, and pairs.
    fn replay(&mut self, cursor: &mut Cursor, count: usize) {
        for _ in 0..count {
            self.source.draw(&self.selection, cursor, |_| 0);
        }
    }

    fn fill_pairs(
        &mut self,
        table: &Table<W>,
        generator: &mut Generator,
        into: &[AtomicU32],
    ) -> usize {
        if !self.source.draws_pairs(&self.selection) {
            return 0;
        }
        pairs::fill(
            &self.selection,
            &self.readings.places,
            table,
            generator,
            into,
        )
    }

    fn ignored(&self) -> u64 {
        self.source.ignored()
    }
}
