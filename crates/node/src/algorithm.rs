//! Algorithms as JavaScript writes them down, in the table's units.

use idlest_core::band::{LeastCpu, Missing};
use idlest_core::layout::CPU_MAX;
use idlest_core::pool::Algorithm;
use napi::bindgen_prelude::Either;
use napi::{Error, Result, Status};
use napi_derive::napi;

/// A checked algorithm of `src/algorithms/algorithm.ts`.
#[napi(object)]
pub struct AlgorithmSpec {
    /// `random` or `leastCpu`.
    pub kind: String,
    /// `leastCpu`: width of the band, inclusive, 1/1000 percentage points.
    pub threshold: Option<f64>,
    /// `leastCpu`: oldest age of a fresh reading, ms, inclusive.
    pub ttl: Option<f64>,
    /// `leastCpu`: what a missing reading counts as: 1/1000 percentage points, `mean` or `exclude`.
    pub missing: Option<Either<f64, String>>,
}

impl TryFrom<AlgorithmSpec> for Algorithm {
    type Error = Error;

    fn try_from(spec: AlgorithmSpec) -> Result<Self> {
        match spec.kind.as_str() {
            "random" => Ok(Self::Random),
            "leastCpu" => {
                let missing = match spec.missing {
                    Some(Either::A(value)) => Missing::As(milli("missing", Some(value))?),
                    Some(Either::B(policy)) if policy == "mean" => Missing::Mean,
                    Some(Either::B(policy)) if policy == "exclude" => Missing::Exclude,
                    _ => return Err(invalid("missing", "a number, 'mean' or 'exclude'")),
                };
                let band = LeastCpu {
                    threshold: milli("threshold", spec.threshold)?,
                    missing,
                };
                match spec.ttl {
                    Some(ttl) if ttl >= 0.0 => Ok(Self::LeastCpu { band, ttl }),
                    _ => Err(invalid("ttl", "milliseconds, 0 or more")),
                }
            }
            _ => Err(invalid("kind", "'random' or 'leastCpu'")),
        }
    }
}

fn milli(what: &str, value: Option<f64>) -> Result<u32> {
    match value {
        Some(value) if value.fract() == 0.0 && (0.0..=f64::from(CPU_MAX)).contains(&value) => {
            Ok(value as u32)
        }
        _ => Err(invalid(what, "a whole number from 0 to 100,000")),
    }
}

fn invalid(what: &str, expected: &str) -> Error {
    Error::new(
        Status::InvalidArg,
        format!("algorithm.{what}: expected {expected}"),
    )
}
