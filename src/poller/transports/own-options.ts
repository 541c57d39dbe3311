import type * as v from 'valibot'
import { checkOptions } from '../../options.js'
import { ignoreRejection } from '../../rejections.js'

/**
 * What one node has of its own: what the transport's option `node` gives for it; nothing where there is none.
 * @param transport its name, for messages
 * @throws OptionError
 */
export function ownOptions<S extends v.GenericSchema>(
  transport: string,
  id: string,
  settings: { readonly node?: ((id: string) => unknown) | undefined },
  schema: S,
): v.InferOutput<S> {
  const own = settings.node?.(id) ?? {}
  if ('then' in Object(own)) ignoreRejection(own)
  return checkOptions(`${transport}.node(${JSON.stringify(id)})`, own, schema)
}
