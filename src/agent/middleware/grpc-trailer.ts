import { BINARY_HEADER } from '../../reports/orca-headers.js'
import type { GrpcMetadataLike } from './grpc-call.js'

type MetadataClass<M> = new () => M

/** What grpc-js does with metadata that it sends. */
interface Sent {
  clone(): Sent
  toHttp2Headers(): Readonly<Record<string, unknown>>
  get(key: string): unknown[]
  set(key: string, value: Buffer | string): void
}

/** Metadata that have a report alone. */
export type TrailerMaker<M> = (bytes: Buffer) => M

const makers = new WeakMap<object, TrailerMaker<never>>()

/**
 * Makes metadata that have nothing but a report, and are sent with many calls: one maker for each module of gRPC.
 *
 * grpc-js copies metadata for each call, their bytes too, and writes them in base64: half a microsecond, and as much again for
 * the garbage. What is made here is written once, and its copies are no more than a reference, until one of them is changed.
 * @param base the module's `Metadata`
 */
export function trailerMaker<M extends GrpcMetadataLike<M>>(base: MetadataClass<M>): TrailerMaker<M> {
  let maker = makers.get(base) as TrailerMaker<M> | undefined
  if (maker === undefined) {
    const plain: TrailerMaker<M> = (bytes) => {
      const metadata = new base()
      metadata.set(BINARY_HEADER, bytes)
      return metadata
    }
    const written = writtenMaker(base, plain)
    maker = isAlike(written, plain) ? written : plain
    makers.set(base, maker as TrailerMaker<never>)
  }
  return maker
}

function writtenMaker<M>(base: MetadataClass<M>, plain: TrailerMaker<M>): TrailerMaker<M> {
  const usual: Sent = base.prototype

  // It is one of `base` by its prototype alone: that one's constructor makes a map for each.
  class WrittenTrailer implements Pick<Sent, 'clone' | 'toHttp2Headers'> {
    // What metadata have.
    readonly options = NO_OPTIONS
    readonly #bytes: Buffer
    readonly #headers: Readonly<Record<string, unknown>>
    #changed: { readonly internalRepr: unknown } | undefined

    constructor(bytes: Buffer, headers: Readonly<Record<string, unknown>>) {
      this.#bytes = bytes
      this.#headers = headers
    }

    // What all methods of metadata work on, except those two below where nothing has asked for it yet.
    get internalRepr(): unknown {
      this.#changed ??= plain(this.#bytes) as { internalRepr: unknown }
      return this.#changed.internalRepr
    }

    clone(): Sent {
      if (this.#changed === undefined)
        return new WrittenTrailer(this.#bytes, this.#headers) as unknown as Sent
      return usual.clone.call(this)
    }

    toHttp2Headers(): Readonly<Record<string, unknown>> {
      return this.#changed === undefined ? this.#headers : usual.toHttp2Headers.call(this)
    }
  }
  Object.setPrototypeOf(WrittenTrailer.prototype, usual)

  return (bytes) => {
    const headers = (plain(bytes) as unknown as Sent).toHttp2Headers()
    return new WrittenTrailer(bytes, headers) as unknown as M
  }
}

const NO_OPTIONS = {}

// Whether metadata of this version of the module are what is taken for granted above.
function isAlike<M>(written: TrailerMaker<M>, plain: TrailerMaker<M>): boolean {
  try {
    return JSON.stringify(deeds(written)) === JSON.stringify(deeds(plain))
  } catch {
    return false
  }
}

function deeds<M>(maker: TrailerMaker<M>): unknown[] {
  const bytes = Buffer.from('report')
  const metadata = maker(bytes) as unknown as Sent
  const sent = [metadata.clone().toHttp2Headers(), metadata.toHttp2Headers()]
  const changed = metadata.clone()
  changed.set('other', 'value')
  const replaced = changed.clone()
  replaced.set(BINARY_HEADER, bytes.subarray(1))
  const all = [metadata, changed, replaced]
  return [sent, all.map((one) => [one.get('other'), one.get(BINARY_HEADER), one.toHttp2Headers()])]
}
