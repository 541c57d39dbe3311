//! What a pool picks from, and how draws are made from it.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::alias::Alias;
use crate::fewest::Candidates;
use crate::generator::Generator;
use crate::weights::Load;

/// How entries of the band are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// With equal chances; one number a draw.
    Equal,
    /// One after the other; no number.
    InTurn,
    /// Each with its own share; two numbers a draw.
    Weighted,
    /// The fewest requests in flight of some. Live: what is drawn depends on the moment.
    Fewest(Candidates),
    /// The least (in flight + 1) / weight of some. Live too.
    LeastLoaded(Candidates),
    /// In a way that only the algorithm knows: it draws by itself.
    Own,
}

impl Draws {
    /// Whether what is drawn depends on more than the selection and the cursor, so that the same draws can't be made
    /// again.
    #[must_use]
    pub fn live(self) -> bool {
        matches!(self, Self::Fewest(_) | Self::LeastLoaded(_))
    }
}

/// Where the draws of a pool stand. Copy it to remember: from the same place, the same draws follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Where random numbers come from.
    pub generator: Generator,
    /// Whose turn it is; the sequence, where some have theirs more often.
    pub turn: Turn,
}

/// Whose turn it is, in a band of any length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn(pub u32);

impl Turn {
    // The position whose turn it is; none where there are none.
    #[inline]
    fn position(self, length: u32) -> Option<u32> {
        // Mostly so; a division takes longer than the rest of a draw.
        if self.0 < length {
            return Some(self.0);
        }
        self.0.checked_rem(length)
    }

    /// The position whose turn it is among `length`; then it is the next one's turn. 0 where `length` is 0.
    #[inline]
    pub fn pass(&mut self, length: u32) -> u32 {
        let Some(position) = self.position(length) else {
            return 0;
        };
        self.0 = position + 1;
        position
    }

    /// The same, without those that are not `wanted`. The turn stays where it is if none is.
    pub fn pass_to(&mut self, length: u32, mut wanted: impl FnMut(u32) -> bool) -> Option<u32> {
        let first = self.position(length)?;
        let position = (first..length)
            .chain(0..first)
            .find(|&position| wanted(position))?;
        self.0 = position + 1;
        Some(position)
    }
}

/// What a pool picks from: made by each refresh, and by each pick that leaves members out.
#[derive(Debug)]
pub struct Selection {
    draws: Draws,
    /// What each member counts as: 1/1000 percentage points, the value of a metric, a weight or a cost in ms, 0 where
    /// the algorithm asks for none; or [`NOT_ELIGIBLE`](crate::band::NOT_ELIGIBLE).
    pub values: Vec<f64>,
    /// The members that may be picked: indices, in order.
    pub band: Vec<u32>,
    /// The share of each entry of the band, 0-1, where draws are by shares.
    pub shares: Vec<f64>,
    /// The fixed weight of each entry of the band, where there are such.
    pub weights: Vec<f64>,
    alias: Alias,
}

impl Selection {
    /// An empty one.
    #[must_use]
    pub fn new(draws: Draws) -> Self {
        Self {
            draws,
            values: Vec::new(),
            band: Vec::new(),
            shares: Vec::new(),
            weights: Vec::new(),
            alias: Alias::default(),
        }
    }

    /// How entries are drawn.
    #[must_use]
    pub fn draws(&self) -> Draws {
        self.draws
    }

    /// How many entries there are in the band.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.band.len() as u32
    }

    /// Gets ready to draw, after the band and its shares have been made.
    pub fn prepare(&mut self) {
        if self.draws == Draws::Weighted {
            self.alias.build(&self.shares);
        }
    }

    /// Whether draws compare pairs by requests in flight, or by what was reported of them where that is more.
    #[must_use]
    pub fn draws_pairs(&self) -> bool {
        match self.draws {
            Draws::Fewest(candidates) => candidates.are_pairs(self.length()),
            _ => false,
        }
    }

    /// One draw: a member. None where the band is empty.
    ///
    /// `in_flight`: requests in flight at a member
    pub fn draw(&self, cursor: &mut Cursor, in_flight: impl Fn(u32) -> u32) -> Option<u32> {
        if self.band.is_empty() {
            return None;
        }
        let length = self.length();
        let position = match self.draws {
            Draws::Equal => cursor.generator.below(length),
            Draws::InTurn => cursor.turn.pass(length),
            Draws::Weighted => self.alias.draw(&mut cursor.generator),
            Draws::Fewest(candidates) => {
                candidates.draw(length, &mut cursor.generator, self.at_position(in_flight))
            }
            Draws::LeastLoaded(candidates) => {
                candidates.draw(length, &mut cursor.generator, self.load_at(in_flight))
            }
            Draws::Own => return None,
        };
        self.band.get(position as usize).copied()
    }

    /// As many draws as there are places; nothing where the band is empty.
    ///
    /// `in_flight`: requests in flight at a member
    pub fn fill(&self, into: &[AtomicU32], cursor: &mut Cursor, in_flight: impl Fn(u32) -> u32) {
        let length = self.length();
        // Decided once, not for each draw.
        match self.draws {
            Draws::Equal => self.fill_with(into, cursor, |from| from.generator.below(length)),
            Draws::InTurn => self.fill_with(into, cursor, |from| from.turn.pass(length)),
            Draws::Weighted => {
                self.fill_with(into, cursor, |from| self.alias.draw(&mut from.generator));
            }
            Draws::Fewest(candidates) => {
                let in_flight = self.at_position(in_flight);
                self.fill_with(into, cursor, |from| {
                    candidates.draw(length, &mut from.generator, &in_flight)
                });
            }
            Draws::LeastLoaded(candidates) => {
                let load = self.load_at(in_flight);
                self.fill_with(into, cursor, |from| {
                    candidates.draw(length, &mut from.generator, &load)
                });
            }
            Draws::Own => {}
        }
    }

    // What a member has, by its position in the band.
    fn at_position(&self, in_flight: impl Fn(u32) -> u32) -> impl Fn(u32) -> u32 {
        move |position| {
            self.band
                .get(position as usize)
                .map_or(0, |&index| in_flight(index))
        }
    }

    // The same for its weight.
    fn load_at(&self, in_flight: impl Fn(u32) -> u32) -> impl Fn(u32) -> Load {
        let in_flight = self.at_position(in_flight);
        move |position| Load {
            in_flight: in_flight(position),
            weight: self.weights.get(position as usize).copied().unwrap_or(1.0),
        }
    }

    /// As many draws as there are places, each an entry of the band by its position; nothing where the band is empty.
    #[inline]
    pub fn fill_with(
        &self,
        into: &[AtomicU32],
        cursor: &mut Cursor,
        mut draw: impl FnMut(&mut Cursor) -> u32,
    ) {
        if self.band.is_empty() {
            return;
        }
        // A copy, so that it is kept in registers while places are written.
        let mut from = *cursor;
        for place in into {
            let position = draw(&mut from) as usize;
            // Below the length by construction; without the check a fault there would be a panic.
            place.store(self.band.get(position).copied().unwrap_or(0), Relaxed);
        }
        *cursor = from;
    }

    /// The probability of each entry of the band at the next draw, where that is random; in turn, its share of many
    /// draws; by requests in flight, what it would be where all have as many for their weights.
    #[must_use]
    pub fn chances(&self) -> Vec<f64> {
        match self.draws {
            Draws::Equal | Draws::InTurn | Draws::Fewest(_) => {
                vec![1.0 / f64::from(self.length()); self.band.len()]
            }
            Draws::Weighted | Draws::LeastLoaded(_) | Draws::Own => self.shares.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_round() {
        let mut turn = Turn(7);
        assert_eq!([0; 7].map(|_: u32| turn.pass(3)), [1, 2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_turn_goes_on_in_a_band_of_another_length() {
        let mut turn = Turn(u32::MAX);
        // 4,294,967,295 is 3 modulo 4.
        assert_eq!([0; 2].map(|_: u32| turn.pass(4)), [3, 0]);
        assert_eq!([0; 3].map(|_: u32| turn.pass(2)), [1, 0, 1]);
        assert_eq!([0; 3].map(|_: u32| turn.pass(5)), [2, 3, 4]);
        assert_eq!(turn.pass(5), 0);
    }

    #[test]
    fn a_turn_passes_over_the_unwanted() {
        let mut turn = Turn(3);
        assert_eq!(turn.pass_to(5, |position| position < 2), Some(0));
        assert_eq!(turn, Turn(1));
        assert_eq!(turn.pass_to(5, |position| position == 0), Some(0));
        assert_eq!(turn.pass_to(5, |_| true), Some(1));
        assert_eq!(turn.pass_to(5, |_| false), None);
        assert_eq!(turn, Turn(2));
    }

    #[test]
    fn no_one_has_no_turn() {
        for mut turn in [Turn(0), Turn(u32::MAX)] {
            let before = turn;
            assert_eq!(turn.pass(0), 0);
            assert_eq!(turn.pass_to(0, |_| true), None);
            assert_eq!(turn, before);
        }
    }
}
