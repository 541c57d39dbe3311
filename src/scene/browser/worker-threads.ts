/** Stands in for `node:worker_threads`: a page is one thread. */
export const threadId = 0
