//! Algorithms as JavaScript writes them down, in the table's units.

use std::collections::HashMap;

use idlest_core::adaptive::Rules;
use idlest_core::algorithm::Algorithm;
use idlest_core::band::{LeastCpu, Missing};
use idlest_core::fewest::{Candidates, MOST_DRAWN};
use idlest_core::layout::{CPU_MAX, METRIC_COUNT};
use idlest_core::power_of_two::{Otherwise, PowerOfTwo};
use idlest_core::probe_pool;
use idlest_core::report_weights::Weighing;
use idlest_core::spare::SpareCapacity;
use idlest_core::stride::Clamp;
use napi::bindgen_prelude::Either;
use napi::{Error, Result, Status};
use napi_derive::napi;

/// How far weights may be from their mean.
#[napi(object)]
pub struct ClampSpec {
    /// Largest multiple of the mean, at least 1.
    pub max: f64,
    /// Smallest part of the mean, 0-1.
    pub min: f64,
    /// Whether the smallest weight is rounded up; else to the nearest.
    pub round_up: bool,
}

/// A checked algorithm of `src/algorithms/algorithm.ts`, as `AlgorithmSpec` of `src/engine/native.ts` has it.
#[napi(object)]
pub struct AlgorithmSpec {
    /// Its kind there.
    pub kind: String,
    /// `leastCpu`: width of the band, inclusive, 1/1000 percentage points.
    pub threshold: Option<f64>,
    /// `leastCpu`, `spareCapacity`, `powerOfTwo`, `adaptive`: oldest age of a fresh reading, ms, inclusive.
    pub ttl: Option<f64>,
    /// What a missing reading counts as: `mean` or `exclude`; for `leastCpu` also 1/1000 percentage points.
    pub missing: Option<Either<f64, String>>,
    /// `leastCpu`, `spareCapacity`, `adaptive`: time constant of the smoothing, ms; 0: none.
    pub smoothing: Option<f64>,
    /// `spareCapacity`: what a full member keeps of an equal share, 0-1.
    pub min_share: Option<f64>,
    /// `adaptive`: what is known fades with this time constant, ms.
    pub fading: Option<f64>,
    /// `adaptive`: a member that gives errors alone counts as so many times as slow, less one.
    pub error_cost: Option<f64>,
    /// `leastConnections`, `powerOfTwo`: members that are compared, 1 to 64, or 2 to 64.
    pub choices: Option<f64>,
    /// `leastConnections`: whether all are compared.
    pub exact: Option<bool>,
    /// `prequal`: members with more in flight than this quantile of recent probes are hot, 0-1.
    pub quantile: Option<f64>,
    /// `prequal`: most entries in the pool, 2 to 1,024.
    pub pool: Option<f64>,
    /// `prequal`: oldest age of an entry, ms, inclusive.
    pub max_age: Option<f64>,
    /// `prequal`: probes a pick, 0 to 64.
    pub probes: Option<f64>,
    /// `prequal`: entries removed a pick, 0 to 64.
    pub removals: Option<f64>,
    /// `weightedRoundRobin`: a weight counts from so many ms after the first of its member's reports on.
    pub blackout_period: Option<f64>,
    /// `weightedRoundRobin`: age of a report from which it counts no more, ms.
    pub weight_expiration_period: Option<f64>,
    /// `weightedRoundRobin`: time between two updates, ms, at least 1.
    pub weight_update_period: Option<f64>,
    /// `weightedRoundRobin`: what an error rate of 1 adds to the utilization, at least 0.
    pub error_utilization_penalty: Option<f64>,
    /// `weightedRoundRobin`: how far weights may be from their mean.
    pub clamp: Option<ClampSpec>,
    /// `weightedRoundRobin`: places of the metrics that stand for the utilization.
    pub utilization_places: Option<Vec<u32>>,
    /// `random`, `leastConnections`, `weightedRoundRobin`: whether there are fixed weights. Theirs that count come with the members.
    pub weights: Option<HashMap<String, f64>>,
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
            "random" => Ok(match spec.weights {
                Some(_) => Self::RandomByWeight,
                None => Self::Random,
            }),
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
                Ok(Self::LeastCpu {
                    band,
                    ttl,
                    smoothing: milliseconds("smoothing", spec.smoothing)?,
                })
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
            "adaptive" => {
                let fading = match spec.fading {
                    Some(fading) if fading >= 1.0 && fading.is_finite() => fading,
                    _ => return Err(invalid("fading", "milliseconds, 1 or more")),
                };
                let error_cost = match spec.error_cost {
                    Some(cost) if (0.0..=1e6).contains(&cost) => cost,
                    _ => return Err(invalid("errorCost", "a number from 0 to 1,000,000")),
                };
                Ok(Self::Adaptive {
                    rules: Rules { fading, error_cost },
                    ttl: milliseconds("ttl", spec.ttl)?,
                    smoothing: milliseconds("smoothing", spec.smoothing)?,
                })
            }
            "leastConnections" => {
                let choices = choices(spec.choices, 1)?;
                let candidates = match spec.exact {
                    Some(true) => Candidates::All,
                    Some(false) => Candidates::Drawn(choices),
                    None => return Err(invalid("exact", "true or false")),
                };
                Ok(match spec.weights {
                    Some(_) => Self::LeastConnectionsByWeight(candidates),
                    None => Self::LeastConnections(candidates),
                })
            }
            "prequal" => Ok(Self::Prequal(probe_pool::Rules {
                quantile: within("quantile", spec.quantile, 1.0)?,
                pool: match spec.pool {
                    Some(pool) if pool.fract() == 0.0 && (2.0..=1_024.0).contains(&pool) => {
                        pool as u32
                    }
                    _ => return Err(invalid("pool", "a whole number from 2 to 1,024")),
                },
                max_age: milliseconds("maxAge", spec.max_age)?,
                probes: within("probes", spec.probes, 64.0)?,
                removals: within("removals", spec.removals, 64.0)?,
            })),
            "weightedRoundRobin" => Ok(Self::WeightedRoundRobin {
                clamp: clamp(spec.clamp.as_ref())?,
                weighing: match spec.weights {
                    Some(_) => None,
                    None => Some(weighing(&spec)?),
                },
            }),
            "powerOfTwo" => Ok(Self::PowerOfTwo(power_of_two(&spec)?)),
            _ => Err(invalid(
                "kind",
                "the kind of an algorithm that engines know",
            )),
        }
    }
}

fn within(what: &str, value: Option<f64>, most: f64) -> Result<f64> {
    match value {
        Some(value) if (0.0..=most).contains(&value) => Ok(value),
        _ => Err(invalid(what, &format!("a number from 0 to {most}"))),
    }
}

fn weighing(spec: &AlgorithmSpec) -> Result<Weighing> {
    let mut utilizations = 0;
    for &place in spec.utilization_places.iter().flatten() {
        if place as usize >= METRIC_COUNT {
            return Err(invalid("utilizationPlaces", "places of metrics"));
        }
        utilizations |= 1 << place;
    }
    let update = milliseconds("weightUpdatePeriod", spec.weight_update_period)?;
    if update < 1.0 {
        return Err(invalid("weightUpdatePeriod", "milliseconds, 1 or more"));
    }
    let error_penalty = match spec.error_utilization_penalty {
        Some(penalty) if penalty >= 0.0 => penalty,
        _ => return Err(invalid("errorUtilizationPenalty", "a number, 0 or more")),
    };
    Ok(Weighing {
        blackout: milliseconds("blackoutPeriod", spec.blackout_period)?,
        expiration: milliseconds("weightExpirationPeriod", spec.weight_expiration_period)?,
        update,
        error_penalty,
        utilizations,
    })
}

fn clamp(spec: Option<&ClampSpec>) -> Result<Clamp> {
    match spec {
        Some(&ClampSpec { max, min, round_up }) if max >= 1.0 && (0.0..=1.0).contains(&min) => {
            Ok(Clamp { max, min, round_up })
        }
        _ => Err(invalid("clamp", "max of at least 1, min from 0 to 1")),
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
