//! Pairs of members that are drawn ahead of their picks: which of them has less in flight is seen at the pick, by whoever
//! makes it. `fillPairs` in `src/engine/engine.ts` says how they are laid out.

use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::fewest::Pair;
use crate::generator::Generator;
use crate::memory::Words;
use crate::readings::Places;
use crate::selection::Selection;
use crate::table::Table;

/// 32-bit words of a pair.
pub const PAIR_WORDS: usize = 12;

// Words of a pair: of each member its index, where its count is, and the tag of that; then, of each, what was reported.
const FIRST: usize = 0;
const FIRST_WINS: usize = 3;
const SECOND: usize = 4;
const FIRST_VALUE: usize = 8;
const SECOND_VALUE: usize = 10;

/// Draws as many pairs as there are places for. Returns how many.
///
/// Looks at all counts too, so that they are in the cache when it comes to the picks: here the processor waits for many of
/// them at a time.
pub fn fill<W: Words>(
    selection: &Selection,
    places: &Places,
    table: &Table<W>,
    generator: &mut Generator,
    into: &[AtomicU32],
) -> usize {
    let length = selection.length();
    let mut drawn = 0;
    // A copy, so that it is kept in registers.
    let mut from = *generator;
    for place in into.chunks_exact(PAIR_WORDS) {
        let pair = Pair::draw(length, &mut from);
        let put = |at: usize, word: u32| {
            if let Some(place) = place.get(at) {
                place.store(word, Relaxed);
            }
        };
        let put_member = |position: u32, at: usize, value_at: usize| {
            let index = selection.band.get(position as usize).copied().unwrap_or(0);
            let flights = places.flights(table, index);
            black_box(flights.count);
            put(at, index);
            put(at + 1, flights.word);
            put(at + 2, flights.tag);
            let value = selection.values.get(index as usize).copied();
            let value = value.unwrap_or(0.0).to_bits();
            put(value_at, value as u32);
            put(value_at + 1, (value >> 32) as u32);
        };
        put_member(pair.first, FIRST, FIRST_VALUE);
        put_member(pair.second, SECOND, SECOND_VALUE);
        put(FIRST_WINS, u32::from(pair.first_wins));
        drawn += 1;
    }
    *generator = from;
    drawn
}
