//! How a pool picks.

use crate::adaptive::Rules;
use crate::band::{self, LeastCpu, Seen};
use crate::fewest::Candidates;
use crate::own_sends::{Cost, Rule};
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
        /// What an own pick adds to a reading; none where they do not count.
        own_sends: Option<Cost>,
    },
    /// Every member that is up, with a share by its idle CPU.
    SpareCapacity {
        /// Who gets which share.
        spare: SpareCapacity,
        /// Oldest age of a fresh reading, ms, inclusive.
        ttl: f64,
        /// Time constant of the smoothing, ms; 0: none.
        smoothing: f64,
        /// What an own pick adds to a reading; none where they do not count.
        own_sends: Option<Cost>,
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
            Self::Random
            | Self::LeastCpu {
                own_sends: None, ..
            } => Draws::Equal,
            Self::RoundRobin => Draws::InTurn,
            Self::WeightedRoundRobin { .. } => Draws::InStride,
            Self::RandomByWeight
            | Self::SpareCapacity {
                own_sends: None, ..
            } => Draws::Weighted,
            Self::LeastCpu { .. } => Draws::SendingEqual,
            Self::SpareCapacity { .. } => Draws::SendingWeighted,
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

    /// What an own pick adds, and what it changes, where own picks count.
    #[must_use]
    pub fn sending(&self) -> Option<(Cost, Rule)> {
        match *self {
            Self::LeastCpu {
                band, own_sends, ..
            } => Some((own_sends?, Rule::Band(f64::from(band.threshold)))),
            Self::SpareCapacity {
                spare, own_sends, ..
            } => Some((own_sends?, Rule::Spare(spare))),
            _ => None,
        }
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
            // The shares are made by whoever counts the picks.
            Self::SpareCapacity {
                spare,
                own_sends: Some(_),
                ..
            } => spare.weigh(seen, figures, into),
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
