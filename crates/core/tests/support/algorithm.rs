//! The algorithms as plain data, for tests that compare, choose and print them.

use std::sync::Arc;

use idlest_core::algorithms::adaptive::{self, Adaptive};
use idlest_core::algorithms::least_connections::LeastConnections;
use idlest_core::algorithms::least_cpu::{LeastBusy, LeastCpu};
use idlest_core::algorithms::power_of_two::{Compared, PowerOfTwo};
use idlest_core::algorithms::random::Random;
use idlest_core::algorithms::round_robin::RoundRobin;
use idlest_core::algorithms::spare_capacity::{BySpare, SpareCapacity};
use idlest_core::algorithms::weighted_round_robin::WeightedRoundRobin;
use idlest_core::algorithms::weighted_round_robin::report_weights::Weighing;
use idlest_core::algorithms::weighted_round_robin::stride::Clamp;
use idlest_core::fewest::Candidates;
use idlest_core::generator::Generator;
use idlest_core::memory::Owned;
use idlest_core::pool;
use idlest_core::selected::boxed;

/// A pool over memory of its own.
pub type Pool = pool::Pool<Arc<Owned>>;

/// How a pool picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    Random,
    RandomByWeight,
    RoundRobin,
    LeastCpu {
        band: LeastCpu,
        ttl: f64,
        smoothing: f64,
    },
    SpareCapacity {
        spare: SpareCapacity,
        ttl: f64,
        smoothing: f64,
    },
    LeastConnections(Candidates),
    LeastConnectionsByWeight(Candidates),
    Adaptive {
        rules: adaptive::Rules,
        ttl: f64,
        smoothing: f64,
    },
    WeightedRoundRobin {
        weighing: Option<Weighing>,
        clamp: Clamp,
    },
    PowerOfTwo(PowerOfTwo),
}

impl Algorithm {
    /// A pool without members.
    pub fn pool(self, generator: Generator) -> Pool {
        let connections = |candidates, by_weight| {
            boxed(LeastConnections {
                candidates,
                by_weight,
            })
        };
        let algorithm = match self {
            Self::Random => boxed(Random { by_weight: false }),
            Self::RandomByWeight => boxed(Random { by_weight: true }),
            Self::RoundRobin => boxed(RoundRobin),
            Self::LeastCpu {
                band,
                ttl,
                smoothing,
            } => boxed(LeastBusy::new(band, ttl, smoothing)),
            Self::SpareCapacity {
                spare,
                ttl,
                smoothing,
            } => boxed(BySpare::new(spare, ttl, smoothing)),
            Self::LeastConnections(candidates) => connections(candidates, false),
            Self::LeastConnectionsByWeight(candidates) => connections(candidates, true),
            Self::Adaptive {
                rules,
                ttl,
                smoothing,
            } => Box::new(Adaptive::new(rules, ttl, smoothing)),
            Self::WeightedRoundRobin { weighing, clamp } => {
                boxed(WeightedRoundRobin::new(weighing, clamp))
            }
            Self::PowerOfTwo(two) => boxed(Compared::new(two)),
        };
        Pool::new(algorithm, generator)
    }
}
