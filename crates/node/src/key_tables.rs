//! Tables in which keys are looked up: built here, looked up in TypeScript, since a key that crosses costs more than its
//! look-up.

use std::sync::atomic::Ordering::Relaxed;

use idlest_core::algorithms::hash_ring::{self, Ring};
use idlest_core::algorithms::maglev;
use napi::bindgen_prelude::{AsyncTask, Uint32Array};
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

use crate::raw::arrays::{Doubles, Words};

// A gibibyte and a half: beyond that memory might run out, which ends the process.
const MOST_POINTS: u64 = 1 << 27;
const MOST_CELLS: u32 = 1 << 24;

/// `RingArrays` of `src/engine/key-tables.ts`.
#[napi(object, object_from_js = false)]
pub struct RingArrays {
    /// Two words a point: its hash and its node's number.
    pub points: Uint32Array,
    /// By the upper bits of a hash: the first point to look at.
    pub index: Uint32Array,
}

impl From<Ring> for RingArrays {
    fn from(Ring { points, index }: Ring) -> Self {
        Self {
            points: points.into(),
            index: index.into(),
        }
    }
}

/// A ring that is built on another thread.
pub struct RingTask(Vec<hash_ring::Node>);

impl Task for RingTask {
    type Output = Ring;
    type JsValue = RingArrays;

    fn compute(&mut self) -> Result<Ring> {
        Ok(Ring::new(&self.0))
    }

    fn resolve(&mut self, _: Env, ring: Ring) -> Result<RingArrays> {
        Ok(ring.into())
    }
}

/// A Maglev table that is built on another thread.
pub struct MaglevTask(Vec<maglev::Node>, u32);

impl Task for MaglevTask {
    type Output = Vec<u32>;
    type JsValue = Uint32Array;

    fn compute(&mut self) -> Result<Vec<u32>> {
        Ok(maglev::table(&self.0, self.1))
    }

    fn resolve(&mut self, _: Env, cells: Vec<u32>) -> Result<Uint32Array> {
        Ok(cells.into())
    }
}

/// A ring of nodes with these hashes, two a node, and numbers of points.
#[napi(
    catch_unwind,
    ts_args_type = "hashes: Uint32Array, counts: Uint32Array"
)]
pub fn build_ring(hashes: Words, counts: Words) -> Result<RingArrays> {
    Ok(Ring::new(&ring_nodes(&hashes, &counts)?).into())
}

/// The same, built on another thread.
#[napi(
    catch_unwind,
    ts_args_type = "hashes: Uint32Array, counts: Uint32Array",
    ts_return_type = "Promise<RingArrays>"
)]
pub fn build_ring_later(hashes: Words, counts: Words) -> Result<AsyncTask<RingTask>> {
    Ok(AsyncTask::new(RingTask(ring_nodes(&hashes, &counts)?)))
}

/// A Maglev table of so many cells, of nodes with these hashes, two a node, and weights.
#[napi(
    catch_unwind,
    ts_args_type = "hashes: Uint32Array, weights: Float64Array, size: number"
)]
pub fn build_maglev(hashes: Words, weights: Doubles, size: u32) -> Result<Uint32Array> {
    let nodes = maglev_nodes(&hashes, &weights, size)?;
    Ok(maglev::table(&nodes, size).into())
}

/// The same, built on another thread.
#[napi(
    catch_unwind,
    ts_args_type = "hashes: Uint32Array, weights: Float64Array, size: number",
    ts_return_type = "Promise<Uint32Array>"
)]
pub fn build_maglev_later(
    hashes: Words,
    weights: Doubles,
    size: u32,
) -> Result<AsyncTask<MaglevTask>> {
    let nodes = maglev_nodes(&hashes, &weights, size)?;
    Ok(AsyncTask::new(MaglevTask(nodes, size)))
}

fn ring_nodes(hashes: &Words, counts: &Words) -> Result<Vec<hash_ring::Node>> {
    let counts = counts.as_slice();
    let nodes: Vec<_> = pairs(hashes, counts.len())?
        .zip(counts)
        .map(|(hashes, points)| hash_ring::Node {
            hashes,
            points: points.load(Relaxed),
        })
        .collect();
    let points: u64 = nodes.iter().map(|node| u64::from(node.points)).sum();
    if points > MOST_POINTS {
        return Err(invalid("a ring has at most 2^27 points"));
    }
    Ok(nodes)
}

fn maglev_nodes(hashes: &Words, weights: &Doubles, size: u32) -> Result<Vec<maglev::Node>> {
    let weights = weights.as_slice();
    if !(3..=MOST_CELLS).contains(&size) {
        return Err(invalid("size must be a prime number from 3 to 2^24"));
    }
    let nodes = pairs(hashes, weights.len())?
        .zip(weights)
        .map(|(hashes, weight)| maglev::Node {
            hashes,
            weight: f64::from_bits(weight.load(Relaxed)),
        });
    Ok(nodes.collect())
}

fn pairs(hashes: &Words, nodes: usize) -> Result<impl Iterator<Item = [u32; 2]>> {
    let hashes = hashes.as_slice();
    if hashes.len() != 2 * nodes {
        return Err(invalid("there must be two hashes for each node"));
    }
    let pairs = hashes.chunks_exact(2);
    Ok(pairs.filter_map(|pair| match pair {
        [first, second] => Some([first.load(Relaxed), second.load(Relaxed)]),
        _ => None,
    }))
}

fn invalid(message: &str) -> Error {
    Error::new(Status::InvalidArg, message)
}
