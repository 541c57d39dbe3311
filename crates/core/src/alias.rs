//! Draws with given shares, each at the same cost: Walker's alias method, with the tables of Vose (1991).

use crate::generator::Generator;

// 2^32: acceptances count in its parts.
const WHOLE: f64 = 4_294_967_296.0;

/// Tables to draw positions from, each with its own share.
#[derive(Debug, Default)]
pub struct Alias {
    entries: Vec<Entry>,
    // Kept between builds, so that these allocate only when there are more shares than ever.
    scaled: Vec<f64>,
    small: Vec<u32>,
    large: Vec<u32>,
}

// In one place, so that a draw touches one cache line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    // The entry stands for itself with the chance `accept / 2^32`.
    accept: u32,
    // Else for this one. One that always accepts is its own alias, whatever `accept` is: 2^32 does not fit there.
    alias: u32,
}

impl Alias {
    /// Makes the tables anew.
    ///
    /// `shares`: 0-1, that add up to 1
    pub fn build(&mut self, shares: &[f64]) {
        let Self {
            entries,
            scaled,
            small,
            large,
        } = self;
        entries.clear();
        scaled.clear();
        small.clear();
        large.clear();
        let count = shares.len() as f64;
        for (index, share) in (0_u32..).zip(shares) {
            let own = share * count;
            entries.push(Entry {
                accept: u32::MAX,
                alias: index,
            });
            scaled.push(own);
            stack_of(own, small, large).push(index);
        }
        while let Some((less, more)) = pop_both(small, large) {
            let Some(part) = scaled.get(less as usize).copied() else {
                break;
            };
            let Some(rest) = scaled.get_mut(more as usize) else {
                break;
            };
            // In this order, as the other engine does it.
            *rest = *rest + part - 1.0;
            stack_of(*rest, small, large).push(more);
            if let Some(entry) = entries.get_mut(less as usize) {
                // Below 1, so that this stays below 2^32; the cast cuts off what comes after the point.
                entry.accept = (part * WHOLE) as u32;
                entry.alias = more;
            }
        }
    }

    /// Draws a position among the shares; takes two numbers from the generator. 0 where there are no shares.
    #[inline]
    pub fn draw(&self, generator: &mut Generator) -> u32 {
        let drawn = generator.below(self.entries.len() as u32);
        let second = generator.next_u32();
        // Below the length by construction; without the check a fault there would be a panic.
        match self.entries.get(drawn as usize) {
            Some(entry) if second >= entry.accept => entry.alias,
            _ => drawn,
        }
    }
}

fn stack_of<'a>(scaled: f64, small: &'a mut Vec<u32>, large: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
    if scaled < 1.0 { small } else { large }
}

// The top of each stack, or nothing from either.
fn pop_both(small: &mut Vec<u32>, large: &mut Vec<u32>) -> Option<(u32, u32)> {
    let (&less, &more) = (small.last()?, large.last()?);
    small.pop();
    large.pop();
    Some((less, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(shares: &[f64]) -> Alias {
        let mut alias = Alias::default();
        alias.build(shares);
        alias
    }

    // Acceptance (1: always) and alias of each entry.
    fn tables(shares: &[f64]) -> Vec<(f64, u32)> {
        (0..)
            .zip(&built(shares).entries)
            .map(|(index, entry)| {
                let always = entry.alias == index;
                let accept = if always {
                    1.0
                } else {
                    f64::from(entry.accept) / WHOLE
                };
                (accept, entry.alias)
            })
            .collect()
    }

    fn reconstructed(shares: &[f64]) -> Vec<f64> {
        let tables = tables(shares);
        let each = 1.0 / shares.len() as f64;
        let mut sums = vec![0.0; shares.len()];
        for (index, &(accept, alias)) in tables.iter().enumerate() {
            sums[index] += each * accept;
            sums[alias as usize] += each * (1.0 - accept);
        }
        sums
    }

    #[test]
    fn small_tables_are_as_worked_out_by_hand() {
        assert_eq!(tables(&[1.0]), [(1.0, 0)]);
        assert_eq!(tables(&[0.25, 0.75]), [(0.5, 1), (1.0, 1)]);
        assert_eq!(tables(&[0.75, 0.25]), [(1.0, 0), (0.5, 0)]);
        // Scaled: 2, 1/2, 1/2, 1. The last small entry goes with the last large one, 3, which turns small with 1/2;
        // it goes with 0, which keeps 1 1/2; then 1 takes 1/2 of that, and 0 is left over with 1.
        assert_eq!(
            tables(&[0.5, 0.125, 0.125, 0.25]),
            [(1.0, 0), (0.5, 0), (0.5, 3), (0.5, 0)]
        );
    }

    // Shares of 1, 2, 2, 1: scaled 2/3, 4/3, 4/3, 2/3, none of them exact. Entry 2 gives up 1/3 and comes out at 1 only
    // where the sum is made before 1 is taken away; else it comes out just below, and has entry 1 as its alias too early.
    #[test]
    fn sums_are_made_in_the_order_of_the_contract() {
        let two_thirds = f64::from(2_863_311_530_u32) / WHOLE;
        assert_eq!(
            tables(&[1.0 / 6.0, 2.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0]),
            [(two_thirds, 2), (1.0, 1), (two_thirds, 1), (two_thirds, 2)]
        );
    }

    #[test]
    fn an_entry_accepts_what_is_below_its_acceptance() {
        let mut generator = Generator::new(1, 2);
        let before = generator;
        generator.next_u32();
        let second = generator.next_u32();
        for (accept, expected) in [(second, 7), (second + 1, 0)] {
            let alias = Alias {
                entries: vec![Entry { accept, alias: 7 }],
                ..Alias::default()
            };
            assert_eq!(alias.draw(&mut before.clone()), expected);
        }
    }

    #[test]
    fn equal_shares_always_accept() {
        assert_eq!(tables(&[0.25; 4]), [(1.0, 0), (1.0, 1), (1.0, 2), (1.0, 3)]);
    }

    #[test]
    fn a_share_of_nothing_is_never_drawn() {
        let alias = built(&[0.0, 0.5, 0.0, 0.5]);
        let mut generator = Generator::new(1, 2);
        for _ in 0..10_000 {
            assert!([1, 3].contains(&alias.draw(&mut generator)));
        }
    }

    #[test]
    fn the_tables_give_back_the_shares() {
        let mut generator = Generator::new(3, 4);
        for count in [1, 2, 3, 7, 100, 1_000, 10_000] {
            // From even to very uneven.
            for power in [0, 1, 4, 20] {
                let weights: Vec<f64> = (0..count)
                    .map(|_| (f64::from(generator.next_u32()) / WHOLE).powi(power))
                    .collect();
                let total: f64 = weights.iter().sum();
                let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
                for (share, found) in shares.iter().zip(reconstructed(&shares)) {
                    assert!((share - found).abs() < 1e-9, "{share}, found {found}");
                }
            }
        }
    }

    #[test]
    fn tables_are_built_anew_as_though_for_the_first_time() {
        let mut alias = built(&[0.1, 0.2, 0.7]);
        for shares in [&[0.5, 0.5][..], &[], &[0.4, 0.3, 0.2, 0.1]] {
            alias.build(shares);
            let (mut one, mut other) = (Generator::new(1, 2), Generator::new(1, 2));
            let fresh = built(shares);
            for _ in 0..100 {
                assert_eq!(alias.draw(&mut one), fresh.draw(&mut other));
            }
        }
    }

    #[test]
    fn a_draw_takes_two_numbers_always() {
        for shares in [&[][..], &[1.0], &[0.5, 0.5], &[0.9, 0.1]] {
            let alias = built(shares);
            let mut generator = Generator::new(1, 2);
            let mut stepped = generator;
            alias.draw(&mut generator);
            stepped.next_u32();
            stepped.next_u32();
            assert_eq!(generator, stepped);
        }
    }
}
