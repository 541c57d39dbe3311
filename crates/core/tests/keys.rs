//! Tables in which keys are looked up.

use idlest_core::algorithms::hash_ring::{self, Ring};
use idlest_core::algorithms::maglev;
use proptest::prelude::*;

fn ring_nodes() -> impl Strategy<Value = Vec<hash_ring::Node>> {
    // Few hashes, so that points meet.
    let hash = prop_oneof![any::<u32>(), 0..3_u32];
    let node =
        (hash.clone(), hash, 0..60_u32).prop_map(|(first, second, points)| hash_ring::Node {
            hashes: [first, second],
            points,
        });
    prop::collection::vec(node, 0..20)
}

// The node that comes next for a hash: the definition, without an index.
fn next(points: &[[u32; 2]], hash: u32) -> Option<u32> {
    let first = points.iter().find(|[point, _]| *point >= hash);
    first.or(points.first()).map(|[_, node]| *node)
}

fn pairs(ring: &Ring) -> Vec<[u32; 2]> {
    ring.points
        .chunks(2)
        .map(|point| [point[0], point[1]])
        .collect()
}

proptest! {
    #[test]
    fn an_index_leads_to_the_first_point_that_is_not_below(nodes in ring_nodes(), hashes: Vec<u32>) {
        let ring = Ring::new(&nodes);
        let points = pairs(&ring);
        prop_assert!(points.is_sorted());
        prop_assert_eq!(points.len() as u32, nodes.iter().map(|node| node.points).sum::<u32>());
        let shift = 32 - ring.index.len().trailing_zeros();
        for hash in hashes.into_iter().chain([0, u32::MAX]) {
            let from = ring.index[(hash >> shift) as usize] as usize;
            let found = points[from..].iter().find(|[point, _]| *point >= hash);
            prop_assert_eq!(found.or(points.first()).map(|[_, node]| *node), next(&points, hash));
        }
    }

    #[test]
    fn only_the_hashes_of_who_leaves_move(nodes in ring_nodes(), gone: prop::sample::Index, hashes: Vec<u32>) {
        prop_assume!(!nodes.is_empty());
        let gone = gone.index(nodes.len());
        let mut left = nodes.clone();
        left[gone].points = 0;
        let (before, after) = (pairs(&Ring::new(&nodes)), pairs(&Ring::new(&left)));
        for hash in hashes {
            let owner = next(&before, hash);
            if owner != Some(gone as u32) {
                prop_assert_eq!(next(&after, hash), owner);
            }
        }
    }

    #[test]
    fn cells_are_in_proportion_to_weights(
        nodes in prop::collection::vec((any::<u32>(), any::<u32>(), 1..50_u32), 1..20),
    ) {
        let size = 4_093;
        let total: u32 = nodes.iter().map(|(_, _, weight)| weight).sum();
        let nodes: Vec<_> = nodes
            .into_iter()
            .map(|(first, second, weight)| maglev::Node {
                hashes: [first, second],
                weight: f64::from(weight),
            })
            .collect();
        let cells = maglev::table(&nodes, size);
        prop_assert_eq!(cells.len(), 4_093);
        for (number, node) in (0_u32..).zip(&nodes) {
            let count = cells.iter().filter(|&&cell| cell == number).count() as f64;
            let fair = f64::from(size) * node.weight / f64::from(total);
            // Every node has a turn in the first round, so there is one more or less for each of the others.
            prop_assert!((count - fair).abs() <= nodes.len() as f64, "{count} of {fair}");
        }
    }
}
