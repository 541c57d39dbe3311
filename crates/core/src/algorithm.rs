//! How a pool picks.

use crate::adaptive::Rules;
use crate::band::{self, LeastCpu, Seen};
use crate::fewest::Candidates;
use crate::power_of_two::PowerOfTwo;
use crate::probe_pool;
use crate::readings::Readings;
use crate::report_weights::Weighing;
use crate::selection::{Draws, Selection};
use crate::spare::SpareCapacity;
use crate::stride::{self, Clamp};
use crate::weights;

/// How a pool picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// Every member that is up, with equal chances.
    Random,
    /// Every member that is up, with chances by its weight.
    RandomByWeight,
    /// Every member that is up, in turn.
    RoundRobin,
    /// The least busy ones, with equal chances.
    LeastCpu {
        /// Who is in the band.
        band: LeastCpu,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
    },
    /// Every member that is up, with a share by its idle CPU.
    SpareCapacity {
        /// Who gets which share.
        spare: SpareCapacity,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
    },
    /// The fewest requests in flight among these of the members that are up.
    LeastConnections(Candidates),
    /// By what some of them said of their requests in flight and latency.
    Prequal(probe_pool::Rules),
    /// The least response time to expect.
    Adaptive {
        /// What is learned.
        rules: Rules,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant over which CPU is smoothed, ms.
        smoothing: f64,
    },
    /// The least (in flight + 1) / weight among these of the members that are up.
    LeastConnectionsByWeight(Candidates),
    /// Every member that is up, in turn, some more often.
    WeightedRoundRobin {
        /// How reports become weights; none where these are fixed.
        weighing: Option<Weighing>,
        /// How far weights may be from their mean.
        clamp: Clamp,
    },
    /// The best by one metric among some of the members that are up.
    PowerOfTwo(PowerOfTwo),
}

impl Algorithm {
    /// How it draws from the band.
    #[must_use]
    pub fn draws(&self) -> Draws {
        match self {
            Self::Random | Self::LeastCpu { .. } => Draws::Equal,
            Self::RoundRobin => Draws::InTurn,
            Self::WeightedRoundRobin { .. } => Draws::InStride,
            Self::RandomByWeight | Self::SpareCapacity { .. } => Draws::Weighted,
            Self::LeastConnections(candidates) => Draws::Fewest(*candidates),
            Self::Prequal(_) => Draws::Probed,
            Self::Adaptive { .. } => Draws::Learned,
            Self::PowerOfTwo(two) => Draws::Best(two.comparison()),
            Self::LeastConnectionsByWeight(candidates) => Draws::LeastLoaded(*candidates),
        }
    }

    /// Whether it goes by the members' weights.
    #[must_use]
    pub fn weighs(&self) -> bool {
        matches!(
            self,
            Self::RandomByWeight | Self::LeastConnectionsByWeight(_)
        )
    }

    /// Makes a selection of what was read, and says how many members have a fresh reading.
    ///
    /// `seen`: as it was read, or without some members
    pub fn select(&self, seen: &[Seen], readings: &Readings, into: &mut Selection) -> u32 {
        let Readings {
            figures,
            weights,
            reported,
            ..
        } = readings;
        let fresh = match self {
            Self::Random | Self::RoundRobin | Self::LeastConnections(_) | Self::Prequal(_) => {
                band::select_up(seen, &mut into.values, &mut into.band);
                0
            }
            Self::Adaptive { .. } => {
                band::select_up(seen, &mut into.values, &mut into.band);
                reported.iter().filter(|it| it.spare.is_some()).count() as u32
            }
            Self::RandomByWeight | Self::LeastConnectionsByWeight(_) => {
                weights::select(seen, weights, into);
                0
            }
            Self::LeastCpu { band, .. } => band.select(seen, &mut into.values, &mut into.band),
            Self::SpareCapacity { spare, .. } => spare.select(seen, figures, into),
            Self::PowerOfTwo(two) => two.select(seen, figures, into),
            Self::WeightedRoundRobin { weighing, clamp } => {
                let known = stride::select(seen, figures, *clamp, into);
                weighing.map_or(0, |_| known)
            }
        };
        into.prepare();
        fresh
    }
}
