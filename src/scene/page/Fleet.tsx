import { percent, rounded } from '../../estimate/formats.js'
import { count } from '../../format.js'
import { fleetOf } from '../model/fleet.js'
import type { Player } from '../model/player.js'
import { Jump } from './Jump.js'
import { useInputs } from './player.js'

/** Which servers of the estimate's fleet are drawn. */
export function Fleet({ player }: { readonly player: Player }) {
  const inputs = useInputs(player)
  const { estimate, drawn, scale } = fleetOf(inputs)
  const { servers, load, perServer } = estimate
  return (
    <p class="fleet small soft">
      {nameOf(drawn, servers)} of <Jump to="estimate">the estimate</Jump>, at {percent(load)} load:{' '}
      {rounded(perServer)} requests/s {servers === 1 ? 'for' : 'each, for'} a capacity of{' '}
      {rounded(inputs.capacity)}.
      {scale < 1 &&
        ` That is too much to simulate in a page: the scene has ${rounded(100 * scale)} % of the requests and of the capacity.`}
    </p>
  )
}

function nameOf(drawn: number, servers: number): string {
  if (servers === 1) return 'The one server'
  return drawn === servers ? `All ${count(servers)} servers` : `${drawn} of the ${count(servers)} servers`
}
