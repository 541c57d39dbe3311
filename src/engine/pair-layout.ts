// 32-bit words of a pair, as `EngineCore.fillPairs` draws them: npm run lint compares them with crates/core/src/pairs.rs.

/** Words of a pair. */
export const PAIR_WORDS = 12
/** The member drawn first: its index, where its requests in flight are counted, and what that word is where there are none. */
export const FIRST = 0
/** 1 where the first is the decision in a tie, else 0. */
export const FIRST_WINS = 3
/** The same three of the other member. */
export const SECOND = 4
/** What the members count as in the view: doubles. */
export const FIRST_VALUE = 8
export const SECOND_VALUE = 10
