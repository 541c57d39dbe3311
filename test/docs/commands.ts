// The commands of the documentation: which are run, which are not, and what those need that go on for ever.

/** A command that the tests don't run, and why. */
export interface LeftOut {
  readonly command: RegExp
  readonly because: string
}

export const leftOut: readonly LeftOut[] = [
  {
    command: /^npm (start|test|run [\w:-]+)( |$)/,
    because: 'builds and runs everything, these tests among it: only its script is looked up',
  },
  {
    command: /^npm (install|i) \S+$/,
    because: 'asks a registry: only that it is this package or a peer dependency of it is looked up',
  },
]

/** A command of `idlest` that goes on until it is ended. */
export interface GoesOn {
  /** What it says once it does what it should. */
  readonly until: RegExp
  /** Its exit code after SIGTERM. */
  readonly exit: number
  /** What it says at the first signal, where a second one ends it at once. */
  readonly ending?: RegExp
}

/** By their first word; others are run to their end. */
export const goesOn: Readonly<Record<string, GoesOn>> = {
  agent: { until: /listening on http:/, ending: /draining/, exit: 0 },
  scene: { until: /http:/, exit: 0 },
  top: { until: /picks\/s/, exit: 143 },
}

/** What is added to a command by its first word, so that it is in nobody's way and takes no longer than it must. */
export const more: Readonly<Record<string, readonly string[]>> = {
  agent: ['--port', '0'],
  scene: ['--port', '0'],
  simulate: ['--requests', '3000'],
}

/** A command's words, with what it names on the loopback. Throws where only a shell could read it. */
export function wordsOf(command: string, token: string, live: string): string[] {
  if (/['"|<>&;$`\\]/.test(command)) throw new Error(`only a shell can read ${command}`)
  return command
    .replaceAll('http://127.0.0.1:9090', live)
    .replace(/10\.0\.0\.\d+/g, '127.0.0.1')
    .replace(/(-port )\d+/g, '$10')
    .replaceAll('…', token)
    .split(/\s+/)
}

/** A log of requests, as nginx writes it. */
export function accessLog(requests = 300): string {
  const rows = Array.from({ length: requests }, (_, i) => {
    const time = new Date(Date.UTC(2000, 9, 10, 13, 0, i)).toISOString().slice(11, 19)
    return `10.0.0.1 - - [10/Oct/2000:${time} +0000] "GET / HTTP/1.1" 200 2326\n`
  })
  return rows.join('')
}

/** An example of HAProxy's, in a configuration that is whole: without something to listen on it is taken for empty. */
export function aroundHaproxy(text: string): string {
  if (/^defaults$/m.test(text)) return text
  const backend = /^backend (\S+)/m.exec(text)?.[1]
  const front =
    backend === undefined ? '' : `frontend front\n  bind 127.0.0.1:1\n  default_backend ${backend}\n`
  return `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
${front}${text}`
}
