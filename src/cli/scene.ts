import type { IncomingMessage, ServerResponse } from 'node:http'
import { Command } from 'commander'
import { ListenError, reasonOf } from '../errors.js'
import { authority } from '../host.js'
import { type Listening, listen } from '../web/listening.js'
import { answerPage, answerPlainly, isOwnHost, pageFile } from '../web/pages.js'
import { createWebServer, hasBody } from '../web/web-server.js'
import { numberFrom } from './arguments.js'
import { exitWithReader } from './ending.js'
import { exitAsUsual, FAILED } from './exit.js'
import { openInBrowser } from './open.js'

/** A port of its own, so that a link that was kept works the next time too. */
const PORT = 8463

interface SceneFlags {
  readonly host: string
  /** 0: any; undefined: the usual one, or any where that is taken. */
  readonly port?: number
  /** Open it in the browser. */
  readonly open: boolean
}

async function serve(host: string, port: number): Promise<Listening> {
  const counters = { requests: 0, refused: 0, badConnections: 0, dropped: 0, acceptErrors: 0 }
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    if (hasBody(request)) {
      response.setHeader('connection', 'close')
      answerPlainly(response, 413, 'a request has no body')
    } else if (!isOwnHost(request, host)) answerPlainly(response, 421, 'not the name of this server')
    else if (!answerPage('scene', request, response)) answerPlainly(response, 404, 'not found')
  }
  // Short with connections that send nothing: else some hundred of them would keep the page from all others.
  const server = createWebServer(undefined, handle, answerPlainly, counters)
  return listen(server, { host, port, maxConnections: 256, unref: false }, counters)
}

async function serveSomewhere({ host, port }: SceneFlags): Promise<Listening> {
  if (port !== undefined) return serve(host, port)
  try {
    return await serve(host, PORT)
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    return serve(host, 0)
  }
}

/** Serves the scene until SIGINT or SIGTERM; `open` opens it in the browser. */
export async function showScene(flags: SceneFlags, command: Command): Promise<void> {
  exitWithReader()
  let listening: Listening
  try {
    pageFile('scene.html')
    listening = await serveSomewhere(flags)
  } catch (error) {
    const message = reasonOf(error)
    command.error(`error: ${message}`, { exitCode: FAILED })
  }
  // Who reads that it listens may send a signal at once.
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const url = `http://${authority(listening)}/`
  process.stdout.write(`idlest scene on ${url} (Ctrl-C ends it)\n`)
  // Not awaited: where no desktop runs, some openers end when the browser does.
  if (flags.open) {
    void openInBrowser(url).then((opened) => {
      if (!opened) process.stdout.write('no browser could be opened from here: open that address yourself\n')
    })
  }
  await ended
  await listening.close()
}

/**
 * `idlest scene`: serves the page that shows policies at work. Exits with 0 at SIGINT or SIGTERM, with 2 for a wrong
 * option, and with 1 where it can't listen.
 */
export function sceneCommand(): Command {
  return new Command('scene')
    .description('serve a page that shows policies at work, on the same simulated requests')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <number>',
      `port to listen on, 0 for any (default: ${PORT}, or any where that is taken)`,
      numberFrom(0, 65_535, 'a port', true),
    )
    .option('--open', 'open it in the browser', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(showScene)
}
