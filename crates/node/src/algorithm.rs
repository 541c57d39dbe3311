//! Algorithms as JavaScript writes them down, in the table's units.

use idlest_core::band::{LeastCpu, Missing};
use idlest_core::fewest::{Candidates, MOST_DRAWN};
use idlest_core::layout::{CPU_MAX, METRIC_COUNT};
use idlest_core::pool::Algorithm;
use idlest_core::power_of_two::{Otherwise, PowerOfTwo};
use idlest_core::spare::SpareCapacity;
use napi::bindgen_prelude::Either;
use napi::{Error, Result, Status};
use napi_derive::napi;

/// A checked algorithm of `src/algorithms/algorithm.ts`, as `AlgorithmSpec` of `src/engine/native.ts` has it.
#[napi(object)]
pub struct AlgorithmSpec {
    /// `random`, `roundRobin`, `leastCpu`, `spareCapacity`, `leastConnections` or `powerOfTwo`.
    pub kind: String,
    /// `leastCpu`: width of the band, inclusive, 1/1000 percentage points.
    pub threshold: Option<f64>,
    /// `leastCpu`, `spareCapacity`, `powerOfTwo`: oldest age of a fresh reading, ms, inclusive.
    pub ttl: Option<f64>,
    /// What a missing reading counts as: `mean` or `exclude`; for `leastCpu` also 1/1000 percentage points.
    pub missing: Option<Either<f64, String>>,
    /// `spareCapacity`: time constant of the smoothing, ms; 0: none.
    pub smoothing: Option<f64>,
    /// `spareCapacity`: what a full member keeps of an equal share, 0-1.
    pub min_share: Option<f64>,
    /// `leastConnections`, `powerOfTwo`: members that are compared, 1 to 64, or 2 to 64.
    pub choices: Option<f64>,
    /// `leastConnections`: whether all are compared.
    pub exact: Option<bool>,
    /// `powerOfTwo`: share of the picks that compare, 0-1.
    pub choice_rate: Option<f64>,
    /// `powerOfTwo`: what the other picks are: `random` or `worker`.
    pub otherwise: Option<String>,
    /// `powerOfTwo`: what becomes of a pick that knows of no load: `random` or `fail`.
    pub unknown: Option<String>,
    /// `powerOfTwo`: the place of the metric among a slot's.
    pub place: Option<f64>,
    /// `powerOfTwo`: the id of the picking thread.
    pub thread: Option<f64>,
}

impl TryFrom<AlgorithmSpec> for Algorithm {
    type Error = Error;

    fn try_from(spec: AlgorithmSpec) -> Result<Self> {
        match spec.kind.as_str() {
            "random" => Ok(Self::Random),
            "roundRobin" => Ok(Self::RoundRobin),
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
                let ttl = milliseconds("ttl", spec.ttl)?;
                Ok(Self::LeastCpu { band, ttl })
            }
            "spareCapacity" => {
                let exclude_missing = match spec.missing {
                    Some(Either::B(policy)) if policy == "mean" => false,
                    Some(Either::B(policy)) if policy == "exclude" => true,
                    _ => return Err(invalid("missing", "'mean' or 'exclude'")),
                };
                let min_share = match spec.min_share {
                    Some(share) if (0.0..=1.0).contains(&share) => share,
                    _ => return Err(invalid("minShare", "a number from 0 to 1")),
                };
                Ok(Self::SpareCapacity {
                    spare: SpareCapacity {
                        min_share,
                        exclude_missing,
                    },
                    ttl: milliseconds("ttl", spec.ttl)?,
                    smoothing: milliseconds("smoothing", spec.smoothing)?,
                })
            }
            "leastConnections" => {
                let choices = choices(spec.choices, 1)?;
                match spec.exact {
                    Some(true) => Ok(Self::LeastConnections(Candidates::All)),
                    Some(false) => Ok(Self::LeastConnections(Candidates::Drawn(choices))),
                    None => Err(invalid("exact", "true or false")),
                }
            }
            "powerOfTwo" => Ok(Self::PowerOfTwo(power_of_two(&spec)?)),
            _ => Err(invalid(
                "kind",
                "'random', 'roundRobin', 'leastCpu', 'spareCapacity', 'leastConnections' or 'powerOfTwo'",
            )),
        }
    }
}

fn power_of_two(spec: &AlgorithmSpec) -> Result<PowerOfTwo> {
    let choice_rate = match spec.choice_rate {
        Some(rate) if (0.0..=1.0).contains(&rate) => rate,
        _ => return Err(invalid("choiceRate", "a number from 0 to 1")),
    };
    let otherwise = match spec.otherwise.as_deref() {
        Some("random") => Otherwise::Random,
        Some("worker") => Otherwise::Worker(whole("thread", spec.thread, 0, u32::MAX)?),
        _ => return Err(invalid("otherwise", "'random' or 'worker'")),
    };
    let fail_unknown = match spec.unknown.as_deref() {
        Some("random") => false,
        Some("fail") => true,
        _ => return Err(invalid("unknown", "'random' or 'fail'")),
    };
    Ok(PowerOfTwo {
        metric: whole("place", spec.place, 0, METRIC_COUNT as u32 - 1)? as usize,
        choices: choices(spec.choices, 2)?,
        choice_rate,
        otherwise,
        fail_unknown,
        ttl: milliseconds("ttl", spec.ttl)?,
    })
}

fn milliseconds(what: &str, value: Option<f64>) -> Result<f64> {
    match value {
        Some(value) if value >= 0.0 => Ok(value),
        _ => Err(invalid(what, "milliseconds, 0 or more")),
    }
}

fn choices(value: Option<f64>, least: u32) -> Result<u32> {
    whole("choices", value, least, MOST_DRAWN)
}

fn milli(what: &str, value: Option<f64>) -> Result<u32> {
    whole(what, value, 0, CPU_MAX)
}

fn whole(what: &str, value: Option<f64>, least: u32, most: u32) -> Result<u32> {
    match value {
        Some(value)
            if value.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&value) =>
        {
            Ok(value as u32)
        }
        _ => Err(invalid(
            what,
            &format!("a whole number from {least} to {most}"),
        )),
    }
}

fn invalid(what: &str, expected: &str) -> Error {
    Error::new(
        Status::InvalidArg,
        format!("algorithm.{what}: expected {expected}"),
    )
}
