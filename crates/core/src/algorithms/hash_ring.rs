//! A ring of points, by which keys find their nodes: `src/algorithms/hash-ring/table.ts` has the exact meaning, which the
//! TypeScript engine keeps too.

use crate::murmur3;

const HASH_BITS: u32 = 32;
const MOST_INDEX_BITS: u32 = 24;

/// A node of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What its points depend on.
    pub hashes: [u32; 2],
    /// How many points it has.
    pub points: u32,
}

/// The points of all nodes, and where to begin to look for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Two words a point: its hash and its node's number, by hash, then by number.
    pub points: Vec<u32>,
    /// By the upper bits of a hash: how many points are below all such hashes.
    pub index: Vec<u32>,
}

impl Ring {
    /// The ring of these nodes.
    #[must_use]
    pub fn new(nodes: &[Node]) -> Self {
        let mut made = Vec::with_capacity(nodes.iter().map(|node| node.points as usize).sum());
        for (number, node) in (0_u32..).zip(nodes) {
            let [first, second] = node.hashes;
            made.extend(
                (0..node.points).map(|copy| [murmur3::of_words([first, copy, second]), number]),
            );
        }
        let shift = HASH_BITS - index_bits(made.len());
        let index = index(&made, shift);
        let points = in_order(&made, &index, shift).into_flattened();
        Self { points, index }
    }
}

// One or two points a bucket.
fn index_bits(points: usize) -> u32 {
    let bits = points.next_power_of_two().trailing_zeros();
    bits.saturating_sub(1).clamp(1, MOST_INDEX_BITS)
}

fn index(points: &[[u32; 2]], shift: u32) -> Vec<u32> {
    // How many points there are in each bucket, then below it.
    let mut index = vec![0_u32; 1 << (HASH_BITS - shift)];
    for [hash, _] in points {
        if let Some(count) = index.get_mut((hash >> shift) as usize) {
            *count += 1;
        }
    }
    let mut below = 0;
    for entry in &mut index {
        (*entry, below) = (below, below + *entry);
    }
    index
}

// Puts points into their buckets, and these in order: hashes are spread evenly, so that there is little to do in one.
fn in_order(points: &[[u32; 2]], index: &[u32], shift: u32) -> Vec<[u32; 2]> {
    let mut places = index.to_vec();
    let mut sorted = vec![[0; 2]; points.len()];
    for point in points {
        if let Some(place) = places.get_mut((point[0] >> shift) as usize)
            && let Some(entry) = sorted.get_mut(*place as usize)
        {
            *entry = *point;
            *place += 1;
        }
    }
    // Now each bucket's place is its end.
    for (&from, &to) in index.iter().zip(&places) {
        if let Some(bucket) = sorted.get_mut(from as usize..to as usize)
            && bucket.len() > 1
        {
            bucket.sort_unstable();
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(first: u32, second: u32, points: u32) -> Node {
        Node {
            hashes: [first, second],
            points,
        }
    }

    #[test]
    fn points_are_in_order_and_those_of_one_hash_in_that_of_their_nodes() {
        let ring = Ring::new(&[node(7, 9, 3), node(7, 9, 2), node(1, 2, 40)]);
        let points: Vec<_> = ring.points.chunks(2).collect();
        assert_eq!(points.len(), 45);
        assert!(points.is_sorted());
        let shared: Vec<_> = points
            .chunk_by(|left, right| left[0] == right[0])
            .filter(|same| same.len() > 1)
            .map(|same| same.iter().map(|point| point[1]).collect::<Vec<_>>())
            .collect();
        assert_eq!(shared, [[0, 1], [0, 1]]);
    }

    #[test]
    fn points_depend_on_their_node_alone() {
        let of_number = |ring: &Ring, number: u32| -> Vec<u32> {
            let own = ring.points.chunks(2).filter(|point| point[1] == number);
            own.map(|point| point[0]).collect()
        };
        let alone = Ring::new(&[node(3, 4, 50)]);
        let among = Ring::new(&[node(1, 4, 50), node(3, 5, 7), node(3, 4, 50)]);
        assert_eq!(of_number(&alone, 0), of_number(&among, 2));
        assert_ne!(of_number(&among, 0), of_number(&among, 2));
        let more = Ring::new(&[node(3, 4, 60)]);
        let all = of_number(&more, 0);
        assert!(of_number(&alone, 0).iter().all(|point| all.contains(point)));
    }

    #[test]
    fn who_has_no_points_is_not_on_the_ring() {
        assert_eq!(Ring::new(&[]), Ring::new(&[node(1, 2, 0)]));
        assert_eq!(Ring::new(&[]).points, []);
        assert_eq!(Ring::new(&[]).index, [0, 0]);
        assert_eq!(Ring::new(&[node(1, 2, 1)]).index.len(), 2);
    }
}
