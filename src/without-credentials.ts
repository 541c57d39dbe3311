// Credentials come in a user's own texts, which are short. What a peer wrote may be long and hostile.
const MOST_READ = 1_024

// Up to the last @ of a URL, since a password may hold an @ or a / that is not escaped. Not in paths of files.
const IN_URLS = /\b(?!file:)([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s"']*@/gi
const WITHOUT_SCHEME = /(^|[\s,"'])[^\s,"'/:]+:(?!\/\/)[^\s"']*@/g
const PARAMETERS =
  /([?&#;][\w.-]*(?:token|secret|key|passw(?:or)?d|passphrase|auth|signature|sig)=)[^&#\s"']+/gi

/** The start of a message, without the credentials of the URLs in it. */
export function withoutUrlCredentials(text: string): string {
  return text.slice(0, MOST_READ).replace(IN_URLS, '$1(hidden)@').replace(PARAMETERS, '$1(hidden)')
}

/** The start of a value, such as a URL or an address, without the credentials in it, whether or not a scheme stands before. */
export function withoutCredentials(text: string): string {
  return withoutUrlCredentials(text).replace(WITHOUT_SCHEME, '$1(hidden)@')
}
