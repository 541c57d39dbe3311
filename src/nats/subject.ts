/** Longest subject of a node, in bytes: a server takes command lines of 4,096, with more in them than the subject. */
const LONGEST_SUBJECT = 3_500

/** What a subject may begin with, for option errors. */
export const SUBJECT =
  'a NATS subject of at most 256 letters, digits, -, _ and $, with dots between its parts'

/** Whether reports may be published below this subject. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 256 && /^[\w$-]+(\.[\w$-]+)*$/.test(value)
}

/** What to subscribe to, to hear all nodes. */
export function wildcard(subject: string): string {
  return `${subject}.*`
}

/**
 * Where a node's reports are published: below `subject`, its id as one part, as in a URL but with dots and `!~*'()`
 * escaped too: `10.0.0.1:80` at `idlest.report.10%2E0%2E0%2E1%3A80`. So whoever reads subjects can read it, a server can
 * be told who may publish for which node, and no part of an id is taken for a wildcard.
 * @throws RangeError for an id that no subject has room for, or that has half a surrogate pair
 */
export function subjectOf(subject: string, id: string): string {
  const whole = `${subject}.${encode(id)}`
  if (whole.length > LONGEST_SUBJECT) {
    throw new RangeError(
      `its id takes ${whole.length} bytes in a NATS subject: at most ${LONGEST_SUBJECT} are taken`,
    )
  }
  return whole
}

/** Whose reports a subject is for; undefined where it is for no node. Takes other spellings of the same id, as of `%2e`. */
export function idOf(subject: string, whole: string): string | undefined {
  try {
    return decodeURIComponent(whole.slice(subject.length + 1))
  } catch {
    return undefined
  }
}

function encode(id: string): string {
  let escaped: string
  try {
    escaped = encodeURIComponent(id)
  } catch {
    throw new RangeError('its id has half a surrogate pair, which no NATS subject can have')
  }
  return escaped.replace(/[.!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
