//! The random numbers that picks are made of: xoshiro128++, in 32-bit steps that TypeScript does exactly too.

/// A xoshiro128++ generator. Copy it to remember where it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    state: [u32; 4],
}

impl Generator {
    /// A generator seeded with two numbers.
    #[must_use]
    pub fn new(low: u32, high: u32) -> Self {
        let [s0, s1] = splitmix(low);
        let [s2, s3] = splitmix(high ^ 0x6a09_e667);
        Self::from_state([s0, s1, s2, s3])
    }

    /// One that stands where [`state`](Self::state) was; not all zeros, which would give zeros for ever.
    #[must_use]
    pub fn from_state(mut state: [u32; 4]) -> Self {
        if state == [0; 4] {
            state[0] = 1;
        }
        Self { state }
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> [u32; 4] {
        self.state
    }

    /// The next number, 0 to 2^32 - 1.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        let [mut s0, mut s1, mut s2, mut s3] = self.state;
        let result = s0.wrapping_add(s3).rotate_left(7).wrapping_add(s0);
        let t = s1 << 9;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = s3.rotate_left(11);
        self.state = [s0, s1, s2, s3];
        result
    }

    /// The next number below `bound`, of `bound` equally likely ones (to within bound / 2^32). 0 where `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

// The first two numbers of splitmix32.
fn splitmix(seed: u32) -> [u32; 2] {
    let mut a = seed;
    [0; 2].map(|_: u32| {
        a = a.wrapping_add(0x9e37_79b9);
        let mut t = a ^ (a >> 16);
        t = t.wrapping_mul(0x21f0_aaad);
        t ^= t >> 15;
        t = t.wrapping_mul(0x735a_2d97);
        t ^ (t >> 15)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The outputs that the algorithm's authors' C code gives from the state 1, 2, 3, 4.
    #[test]
    fn steps_as_published() {
        let mut generator = Generator::from_state([1, 2, 3, 4]);
        let expected = [641, 1_573_767, 3_222_811_527, 3_517_856_514, 836_907_274];
        assert_eq!([0; 5].map(|_: u32| generator.next_u32()), expected);
    }

    #[test]
    fn a_state_of_zeros_is_left() {
        let mut generator = Generator::from_state([0; 4]);
        assert_ne!([0; 4].map(|_: u32| generator.next_u32()), [0; 4]);
    }

    #[test]
    fn both_halves_of_the_seed_count() {
        let first = |low, high| Generator::new(low, high).next_u32();
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 2), first(1, 3));
        assert_eq!(first(1, 2), first(1, 2));
    }

    #[test]
    fn bounded_numbers_stay_below() {
        let mut generator = Generator::new(3, 4);
        for bound in [1, 2, 3, 7, 1_000, u32::MAX] {
            for _ in 0..1_000 {
                assert!(generator.below(bound) < bound);
            }
        }
        assert_eq!(generator.below(0), 0);
    }
}
