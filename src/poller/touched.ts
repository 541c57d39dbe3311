// Which member of this thread was worked for last. Where an exception gets past everyone, that is the one whose node most
// likely caused it: what comes of one read of a socket is done before the next is read.
let touched: object | undefined
let forgetting = false

function forget(): void {
  forgetting = false
  touched = undefined
}

/** What happens next in this turn of the event loop concerns this member. Called before what its node sent is handled. */
export function touch(member: object): void {
  touched = member
  if (forgetting) return
  forgetting = true
  setImmediate(forget)
}

/** The member that was touched last in this turn; once. */
export function takeTouched(): object | undefined {
  const last = touched
  touched = undefined
  return last
}
