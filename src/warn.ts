import { printable } from './printable.js'

/**
 * Emits a process warning of the type `IdlestWarning`.
 * @param code stable, for those who filter warnings
 */
export function warn(message: string, code: string): void {
  process.emitWarning(printable(message), { type: 'IdlestWarning', code })
}
