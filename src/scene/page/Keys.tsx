import { useLayoutEffect, useState } from 'preact/hooks'
import type { Player } from '../model/player.js'
import { policyNames } from './Policies.js'

/** Inputs that take no text: keys mean nothing to them but arrows and space. */
const TEXTLESS = ['radio', 'checkbox', 'range', 'button']

/** What the keys do, and a switch for those who press them by mistake or by voice. */
export function Keys({ player }: { player: Player }) {
  const [on, setOn] = useState(true)
  // At once: an effect would come after the next frame, and a key pressed before that would still count.
  useLayoutEffect(() => {
    if (!on) return
    const listener = (event: KeyboardEvent) => {
      if (onKey(player, event)) event.preventDefault()
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [player, on])
  return (
    <div class="keys">
      <label>
        <input type="checkbox" checked={on} onChange={({ currentTarget }) => setOn(currentTarget.checked)} />{' '}
        Keys
      </label>
      <p>
        <kbd>space</kbd> play or pause, <kbd>.</kbd> step, <kbd>r</kbd> restart, <kbd>1</kbd>–
        <kbd>{policyNames.length}</kbd> policy
      </p>
    </div>
  )
}

// Whether the key was one of ours.
function onKey(player: Player, { key, target, altKey, ctrlKey, metaKey, repeat }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || takesText(target)) return false
  if (key === ' ') {
    // It presses what has the focus.
    if (repeat || (target instanceof HTMLElement && target !== document.body && target.tabIndex >= 0))
      return false
    player.toggle()
    return true
  }
  if (key === '.') {
    player.step()
    return true
  }
  if (key === 'r' && !repeat) {
    player.restart()
    return true
  }
  const policy = /^[1-9]$/.test(key) ? policyNames[Number(key) - 1] : undefined
  if (policy === undefined) return false
  player.set({ policy })
  return true
}

function takesText(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !TEXTLESS.includes(target.type)
  return (
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  )
}
