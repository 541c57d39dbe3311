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
use napi::{Error, Result, Status};

/// What is told of an algorithm: numbers by name, as `native` of its definition in `src/algorithms` gives them.
pub struct Options(pub HashMap<String, f64>);

/// The algorithm of this kind.
pub fn algorithm(kind: &str, options: &Options) -> Result<Algorithm> {
    match kind {
        "random" => Ok(match options.flag("weighted")? {
            true => Algorithm::RandomByWeight,
            false => Algorithm::Random,
        }),
        "roundRobin" => Ok(Algorithm::RoundRobin),
        "leastCpu" => Ok(Algorithm::LeastCpu {
            band: LeastCpu {
                threshold: options.whole("threshold", 0, CPU_MAX)?,
                missing: match options.number("missing", -2.0, f64::from(CPU_MAX))? {
                    -1.0 => Missing::Mean,
                    -2.0 => Missing::Exclude,
                    _ => Missing::As(options.whole("missing", 0, CPU_MAX)?),
                },
            },
            ttl: options.milliseconds("ttl")?,
            smoothing: options.milliseconds("smoothing")?,
        }),
        "spareCapacity" => Ok(Algorithm::SpareCapacity {
            spare: SpareCapacity {
                min_share: options.number("minShare", 0.0, 1.0)?,
                exclude_missing: options.flag("excludesMissing")?,
            },
            ttl: options.milliseconds("ttl")?,
            smoothing: options.milliseconds("smoothing")?,
        }),
        "adaptive" => Ok(Algorithm::Adaptive {
            rules: Rules {
                fading: options.number("fading", 1.0, f64::MAX)?,
                error_cost: options.number("errorCost", 0.0, 1e6)?,
            },
            ttl: options.milliseconds("ttl")?,
            smoothing: options.milliseconds("smoothing")?,
        }),
        "leastConnections" => {
            let candidates = match options.flag("exact")? {
                true => Candidates::All,
                false => Candidates::Drawn(options.whole("choices", 1, MOST_DRAWN)?),
            };
            Ok(match options.flag("weighted")? {
                true => Algorithm::LeastConnectionsByWeight(candidates),
                false => Algorithm::LeastConnections(candidates),
            })
        }
        "prequal" => Ok(Algorithm::Prequal(probe_pool::Rules {
            quantile: options.number("quantile", 0.0, 1.0)?,
            pool: options.whole("pool", 2, 1_024)?,
            max_age: options.milliseconds("maxAge")?,
            probes: options.number("probes", 0.0, 64.0)?,
            removals: options.number("removals", 0.0, 64.0)?,
        })),
        "weightedRoundRobin" => Ok(Algorithm::WeightedRoundRobin {
            clamp: Clamp {
                max: options.number("clampMax", 1.0, f64::MAX)?,
                min: options.number("clampMin", 0.0, 1.0)?,
                round_up: options.flag("roundsUp")?,
            },
            weighing: match options.flag("weighted")? {
                true => None,
                false => Some(Weighing {
                    blackout: options.milliseconds("blackoutPeriod")?,
                    expiration: options.milliseconds("weightExpirationPeriod")?,
                    update: options.number("weightUpdatePeriod", 1.0, f64::INFINITY)?,
                    error_penalty: options.number("errorUtilizationPenalty", 0.0, f64::INFINITY)?,
                    utilizations: options.whole("utilizations", 0, (1 << METRIC_COUNT) - 1)? as u16,
                }),
            },
        }),
        "powerOfTwo" => Ok(Algorithm::PowerOfTwo(PowerOfTwo {
            metric: options.whole("place", 0, METRIC_COUNT as u32 - 1)? as usize,
            choices: options.whole("choices", 2, MOST_DRAWN)?,
            choice_rate: options.number("choiceRate", 0.0, 1.0)?,
            otherwise: match options.number("worker", -1.0, f64::from(u32::MAX))? {
                -1.0 => Otherwise::Random,
                _ => Otherwise::Worker(options.whole("worker", 0, u32::MAX)?),
            },
            fail_unknown: options.flag("failsUnknown")?,
            ttl: options.milliseconds("ttl")?,
        })),
        _ => Err(invalid(
            "kind",
            "the kind of an algorithm that engines know",
        )),
    }
}

impl Options {
    fn number(&self, name: &str, least: f64, most: f64) -> Result<f64> {
        match self.0.get(name) {
            Some(&value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(invalid(name, &format!("a number from {least} to {most}"))),
        }
    }

    fn milliseconds(&self, name: &str) -> Result<f64> {
        self.number(name, 0.0, f64::INFINITY)
    }

    fn whole(&self, name: &str, least: u32, most: u32) -> Result<u32> {
        let value = self.number(name, f64::from(least), f64::from(most))?;
        match value.fract() {
            0.0 => Ok(value as u32),
            _ => Err(invalid(name, "a whole number")),
        }
    }

    fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.whole(name, 0, 1)? == 1)
    }
}

fn invalid(what: &str, expected: &str) -> Error {
    Error::new(
        Status::InvalidArg,
        format!("algorithm.{what}: expected {expected}"),
    )
}
