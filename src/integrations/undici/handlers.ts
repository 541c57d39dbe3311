import { type Dispatcher, errors } from '../../undici.js'

type Handler = Dispatcher.DispatchHandler

/** Whether a handler is of the interface with controllers. */
export function hasController(handler: Handler): boolean {
  return typeof handler.onRequestStart === 'function'
}

/**
 * Checks what undici checks of a handler, since it sees none but idlest's. Throws InvalidArgumentError of undici's, with its
 * words.
 */
export function checkHandler(handler: Handler, { method, upgrade }: Dispatcher.DispatchOptions): void {
  if (hasController(handler)) return
  // Name by name: looked up by a list of names it takes as long as the pick.
  check('onConnect', handler.onConnect)
  check('onError', handler.onError)
  if (upgrade || method === 'CONNECT') {
    check('onUpgrade', handler.onUpgrade)
  } else {
    check('onHeaders', handler.onHeaders)
    check('onData', handler.onData)
    check('onComplete', handler.onComplete)
  }
}

function check(name: string, method: unknown): void {
  if (typeof method !== 'function') throw new errors.InvalidArgumentError(`invalid ${name} method`)
}

/** Tells a handler that its request has failed before it began. Throws the error where it can't be told. */
export function refuse(handler: Handler, error: unknown): void {
  if (hasController(handler) && typeof handler.onResponseError === 'function') {
    // undici itself has no controller to give then.
    handler.onResponseError(undefined as never, error as Error)
  } else if (typeof handler.onError === 'function') {
    handler.onError(error as Error)
  } else {
    throw error
  }
}
