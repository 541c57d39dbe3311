// `instanceof` says no of those of another realm, such as a context of node:vm, in which test runners run tests.
const tag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)

/** Whether a value is a `Uint8Array`, of whatever realm. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || tag?.get?.call(value) === 'Uint8Array'
}

/** Whether a value is a `Uint32Array`, of whatever realm. */
export function isUint32Array(value: unknown): value is Uint32Array {
  return value instanceof Uint32Array || tag?.get?.call(value) === 'Uint32Array'
}
