//! Turns in a sequence of scaled weights, one by one.

use std::cell::Cell;

use super::{LARGEST_WEIGHT, OFFSET};

// Where the mean weight is less than this part of the largest, blocks of so many entries are passed over together in
// rounds in which none of them is picked: else one large weight among thousands of small ones makes turns slow.
pub(super) const SPARSE: u64 = 24;
pub(super) const BLOCK: usize = 16;

// Rounds in which no entry of a block is picked: from one up to another, in which one is. That is so whatever turns
// have been made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    from: u32,
    until: u32,
}

/// Turns, one after the other.
#[derive(Debug)]
pub struct Turns<'a> {
    pub(super) weights: &'a [u16],
    pub(super) quiet: &'a [Cell<Quiet>],
    /// The number of the sequence that comes next.
    pub sequence: u32,
    // Where that is in its round, and the round: so that no turn has to divide.
    pub(super) position: u32,
    pub(super) round: u32,
}

impl Turns<'_> {
    /// The position whose turn it is; 0 where there are none.
    #[inline]
    pub fn pass(&mut self) -> u32 {
        loop {
            if !self.quiet.is_empty() && self.pass_over() {
                continue;
            }
            let (position, round) = (self.position, self.round);
            let Some(&weight) = self.weights.get(position as usize) else {
                return 0;
            };
            self.sequence = self.sequence.wrapping_add(1);
            self.step(1);
            let at = u64::from(weight) * u64::from(round) + u64::from(position) * OFFSET;
            if at % u64::from(LARGEST_WEIGHT) >= u64::from(LARGEST_WEIGHT - weight) {
                return position;
            }
        }
    }

    #[inline]
    fn step(&mut self, length: u32) {
        self.position += length;
        if self.sequence == 0 {
            (self.position, self.round) = (0, 0);
        } else if self.position as usize == self.weights.len() {
            self.position = 0;
            self.round += 1;
        }
    }

    // Passes over the block that begins here, where none of it is picked in this round. False where it is not passed.
    fn pass_over(&mut self) -> bool {
        let start = self.position as usize;
        if !start.is_multiple_of(BLOCK) {
            return false;
        }
        let end = self.weights.len().min(start + BLOCK);
        let (Some(quiet), Some(block)) =
            (self.quiet.get(start / BLOCK), self.weights.get(start..end))
        else {
            return false;
        };
        // Not beyond the end of the sequence, where rounds begin anew.
        let length = block.len() as u32;
        let Some(sequence) = self.sequence.checked_add(length) else {
            return false;
        };
        let known = quiet.get();
        if !(known.from..known.until).contains(&self.round) {
            if self.round == known.until && known.from < known.until {
                return false;
            }
            let until = next_round(block, self.position, self.round);
            if until == self.round {
                return false;
            }
            quiet.set(Quiet {
                from: self.round,
                until,
            });
        }
        self.sequence = sequence;
        self.step(length);
        true
    }
}

// The first round from this one on in which an entry is picked. Each round adds the weight to what decides it.
pub(super) fn round_from(weight: u16, round: u64, position: u64) -> u64 {
    let (largest, weight) = (u64::from(LARGEST_WEIGHT), u64::from(weight));
    let at = (weight * round + position * OFFSET) % largest;
    round + (largest - weight).saturating_sub(at).div_ceil(weight)
}

// The first round from this one on in which an entry of a block is picked.
fn next_round(block: &[u16], start: u32, round: u32) -> u32 {
    let largest = u32::from(LARGEST_WEIGHT);
    let mut wait = u32::MAX;
    for (position, &weight) in (start..).zip(block) {
        let at = u64::from(weight) * u64::from(round) + u64::from(position) * OFFSET;
        let at = (at % u64::from(LARGEST_WEIGHT)) as u32;
        let weight = u32::from(weight);
        // Each round adds the weight; it is picked where the next one would go beyond the largest.
        wait = wait.min((largest - weight).saturating_sub(at).div_ceil(weight));
        if wait == 0 {
            break;
        }
    }
    round.saturating_add(wait)
}
