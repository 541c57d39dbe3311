//! MurmurHash3_x86_32 (Appleby, 2011), as far as points of a ring need it.

fn taken(hash: u32, block: u32) -> u32 {
    let scrambled = block
        .wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593);
    (hash ^ scrambled)
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xe654_6b64)
}

/// The hash of these words as bytes, little-endian, with the seed 0.
#[must_use]
pub fn of_words<const N: usize>(words: [u32; N]) -> u32 {
    let mut hash = words.into_iter().fold(0, taken) ^ (4 * N as u32);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values that are published for this function.
    #[test]
    fn hashes_are_those_that_are_known() {
        assert_eq!(of_words([]), 0);
        assert_eq!(of_words([0xffff_ffff]), 0x7629_3b50);
        assert_eq!(of_words([0x8765_4321]), 0xf55b_516b);
        assert_eq!(of_words([0]), 0x2362_f9de);
        assert_eq!(of_words([u32::from_le_bytes(*b"test")]), 0xba6b_d213);
    }
}
