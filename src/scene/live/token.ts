const KEY = 'idlest-token'

/**
 * The token to look with: of the link's `#token=…`, which no server sees and which is taken out of it at once, or the one
 * that was given in this tab before.
 */
export function knownToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null) {
    history.replaceState(null, '', location.pathname)
    keepToken(given)
    return given
  }
  return sessionStorage.getItem(KEY) ?? undefined
}

/** Keeps a token for as long as the tab is open. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}
