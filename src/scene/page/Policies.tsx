import { isScenePolicy, type ScenePolicy, scenePolicies } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { useInputs } from './player.js'

/** The policies in the order of their keys. */
export const policyNames = Object.keys(scenePolicies).filter(isScenePolicy)

/** Which policy runs, and which beside it. */
export function Policies({ player }: { player: Player }) {
  const { policy, second } = useInputs(player)
  return (
    <div class="policies">
      <fieldset>
        <legend>Policy</legend>
        {policyNames.map((name, i) => (
          <label key={name} class="chip">
            <input
              type="radio"
              name="policy"
              value={name}
              checked={name === policy}
              onChange={() => player.set({ policy: name })}
            />
            <span>
              {scenePolicies[name].title}{' '}
              <span class="key" aria-hidden="true">
                {i + 1}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <label class="beside">
        <span class="beside-label">Beside it</span>
        <select
          value={second ?? ''}
          onChange={({ currentTarget }) => player.set({ second: readPolicy(currentTarget.value) })}
        >
          <option value="">nothing</option>
          {policyNames.map((name) => (
            <option key={name} value={name}>
              {scenePolicies[name].title}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

function readPolicy(text: string): ScenePolicy | undefined {
  return isScenePolicy(text) ? text : undefined
}
