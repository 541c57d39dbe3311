//! A table with a cell for each hash, by which keys find their nodes (Maglev: Eisenbud et al. 2016).
//! `src/algorithms/maglev/table.ts` has the exact meaning, which the TypeScript engine keeps too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cell that no node has: where there are no nodes.
pub const NO_NODE: u32 = u32::MAX;

// A share of the heaviest's turns below which rounds are not gone through node by node.
const SELDOM: f64 = 0.125;

/// A node of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What the cells that it asks for depend on.
    pub hashes: [u32; 2],
    /// Its weight, above 0 and finite.
    pub weight: f64,
}

// A node's turns, and the cells that it asks for.
struct Asker {
    share: f64,
    place: u32,
    skip: u32,
}

impl Asker {
    // Turns before a round, but for the first.
    fn turns(&self, round: u32) -> f64 {
        (f64::from(round) * self.share).floor()
    }

    fn has_turn(&self, round: u32) -> bool {
        round == 0 || self.turns(round) > self.turns(round - 1)
    }

    // The first round after this one in which it has a turn; none where that is not below `size`.
    fn next_turn(&self, round: u32, size: u32) -> Option<u32> {
        let turns = self.turns(round) + 1.0;
        let near = (turns / self.share).ceil().max(f64::from(round) + 1.0);
        if near >= f64::from(size) {
            return None;
        }
        let mut next = near as u32;
        // The quotient may be a hair off.
        while next > round + 1 && self.turns(next - 1) >= turns {
            next -= 1;
        }
        while self.turns(next) < turns {
            next += 1;
        }
        (next < size).then_some(next)
    }

    // Takes the next cell that it asks for and is free, where one is left.
    fn take(&mut self, number: u32, cells: &mut [u32], left: &mut u32) {
        let size = cells.len() as u32;
        // It asks for every cell once in so many.
        for _ in 0..size {
            let place = self.next(size);
            if let Some(cell) = cells.get_mut(place as usize)
                && *cell == NO_NODE
            {
                *cell = number;
                *left -= 1;
                return;
            }
        }
    }

    // The next cell that it asks for.
    fn next(&mut self, size: u32) -> u32 {
        let place = self.place;
        // Below 2^25, as sizes are below 2^24.
        let next = place + self.skip;
        self.place = if next < size { next } else { next - size };
        place
    }
}

/// The table of these nodes: each cell's node, by number. `size`: a prime number from 3 to 2^24; with another, or with
/// nodes of no weight, some cells may be left to no one.
#[must_use]
pub fn table(nodes: &[Node], size: u32) -> Vec<u32> {
    let mut cells = vec![NO_NODE; size as usize];
    let greatest = nodes.iter().map(|node| node.weight).fold(0.0, f64::max);
    let mut askers: Vec<_> = nodes
        .iter()
        .map(|node| Asker {
            share: node.weight / greatest,
            place: node.hashes[0] % size,
            skip: node.hashes[1] % (size - 1) + 1,
        })
        .collect();
    let mut left = size;
    if askers.iter().any(|asker| asker.share < SELDOM) {
        // Many would have no turn in a round: so by the round of each one's next turn.
        let mut queue: BinaryHeap<_> = (0_u32..)
            .zip(&askers)
            .map(|(number, _)| Reverse((0_u32, number)))
            .collect();
        while let Some(Reverse((round, number))) = queue.pop() {
            let Some(asker) = askers.get_mut(number as usize) else {
                continue;
            };
            asker.take(number, &mut cells, &mut left);
            if left == 0 {
                break;
            }
            if let Some(next) = asker.next_turn(round, size) {
                queue.push(Reverse((next, number)));
            }
        }
        return cells;
    }
    // The heaviest has a turn in each round, so there are enough of them.
    for round in 0..size {
        for (number, asker) in (0_u32..).zip(&mut askers) {
            if !asker.has_turn(round) {
                continue;
            }
            asker.take(number, &mut cells, &mut left);
            if left == 0 {
                return cells;
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(first: u32, second: u32, weight: f64) -> Node {
        Node {
            hashes: [first, second],
            weight,
        }
    }

    fn cells_of(cells: &[u32], number: u32) -> usize {
        cells.iter().filter(|&&cell| cell == number).count()
    }

    // The example of the paper's table 1: offsets and skips 3 and 4, 0 and 2, 3 and 1 in a table of 7.
    #[test]
    fn the_papers_example_comes_out() {
        let nodes = [node(3, 3, 1.0), node(0, 1, 1.0), node(3, 0, 1.0)];
        assert_eq!(table(&nodes, 7), [1, 0, 1, 0, 2, 2, 0]);
        let without = [node(3, 3, 1.0), node(3, 0, 1.0)];
        assert_eq!(table(&without, 7), [0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn cells_are_in_proportion_to_weights_and_at_least_one() {
        let nodes = [node(5, 8, 3.0), node(90, 1, 1.0), node(7, 7, 1e-9)];
        let cells = table(&nodes, 4093);
        assert_eq!(cells_of(&cells, NO_NODE), 0);
        assert_eq!(
            [0, 1, 2].map(|number| cells_of(&cells, number)),
            [3069, 1023, 1]
        );
    }

    // Round by round, as the paper has it.
    fn naive(nodes: &[Node], size: u32) -> Vec<u32> {
        let greatest = nodes.iter().map(|node| node.weight).fold(0.0, f64::max);
        let mut cells = vec![NO_NODE; size as usize];
        let mut places: Vec<_> = nodes.iter().map(|node| node.hashes[0] % size).collect();
        for round in 0.. {
            for (number, node) in (0_u32..).zip(nodes) {
                let turns = |round: u32| (f64::from(round) * (node.weight / greatest)).floor();
                if round > 0 && turns(round) == turns(round - 1) {
                    continue;
                }
                let place = &mut places[number as usize];
                while cells[*place as usize] != NO_NODE {
                    *place = (*place + node.hashes[1] % (size - 1) + 1) % size;
                }
                cells[*place as usize] = number;
                if !cells.contains(&NO_NODE) {
                    return cells;
                }
            }
        }
        cells
    }

    #[test]
    fn turns_that_come_seldom_come_when_their_round_does() {
        let lightest = [1e-3, 0.01, 0.05, 1.0 / 3.0, 0.1, 0.7, 1e-12];
        for (seed, light) in (1_u32..).zip(lightest) {
            let nodes: Vec<_> = (0..30_u32)
                .map(|i| {
                    let hash = (i * 977 + seed).wrapping_mul(2_654_435_761);
                    let weight = match i % 5 {
                        0 => 1.0,
                        1 => light,
                        2 => light * 1.7,
                        3 => (f64::from(i) / 31.0).max(light),
                        _ => 0.5,
                    };
                    node(hash, hash.rotate_left(9), weight)
                })
                .collect();
            assert_eq!(table(&nodes, 509), naive(&nodes, 509), "{light}");
        }
    }

    #[test]
    fn equal_weights_differ_by_one_cell_at_most() {
        let nodes: Vec<_> = (0..10).map(|i| node(i * 77, i * 13, 5.0)).collect();
        let cells = table(&nodes, 251);
        assert!((0..10).all(|number| [25, 26].contains(&cells_of(&cells, number))));
    }

    #[test]
    fn no_one_has_no_cell_and_who_is_too_much_has_none_either() {
        assert_eq!(table(&[], 3), [NO_NODE; 3]);
        let nodes = [node(1, 1, 1.0); 5];
        let mut cells = table(&nodes, 3);
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2]);
    }
}
