import { VERSION } from '../version.js'

/** Says of a report that its state is one of a later version. */
export function unknownStateReason(state: number): string {
  return `its state ${state} is unknown to idlest ${VERSION}, and is left out: the agent may run a later version`
}
