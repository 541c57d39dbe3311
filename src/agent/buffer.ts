/** The same bytes as a Buffer, which @grpc/grpc-js insists on. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
