import { useEffect, useRef, useState } from 'preact/hooks'
import { type FeedLost, follow } from '../../live/follow.js'
import type { LiveView } from '../../live/live-view.js'
import { History } from './history.js'

/** What is known of the balancer. */
interface Following {
  /** The last view; undefined before the first. */
  readonly view: LiveView | undefined
  /** Where the connection is lost. */
  readonly lost: FeedLost | undefined
  readonly history: History
}

/** Follows the balancer that serves this page. */
export function useLive(token: string | undefined): Following {
  const history = useRef(new History())
  const [view, setView] = useState<LiveView>()
  const [lost, setLost] = useState<FeedLost>()
  useEffect(
    () =>
      follow(new URL('.', location.href), {
        token,
        onView(next) {
          history.current.add(next)
          setView(next)
          setLost(undefined)
        },
        onLost: setLost,
      }),
    [token],
  )
  return { view, lost, history: history.current }
}
